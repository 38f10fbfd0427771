/* Quantities of results by the words of a command line: a channel's name, the start of one, or a
 * pattern.
 */
#ifndef POLHODE_CLI_QUANTITY_H
#define POLHODE_CLI_QUANTITY_H

#include <jansson.h>

#include <polhode/polhode.h>
#include <polhode/result.h>

/* Whether the word means the channel: "top.position.x" itself, "top.position" or "top" as its start
 * up to a dot, or a pattern with * (any characters) and ? (one character), "*.position.z", of the
 * whole name or of its start up to a dot. */
int cli_quantity_matches(const char *word, const char *channel);

/* Whether the word means any channel of the result. */
int cli_quantity_exists(const pol_result *result, const char *word);

/* Adds the error (path and value as in pol_error) that the results have no such quantity, with a
 * near name. */
pol_status cli_quantity_refuse(pol_errors *errors, const char *path, const char *value,
                               const char *word, pol_result *const *results, int num_results);

/* Prints on stderr what a result has, components in one word: "top.position.{x,y,z}". */
void cli_quantity_print_all(const char *path, const pol_result *result);
/* The names of all channels as a list. */
json_t *cli_quantity_json_all(const pol_result *result);

#endif
