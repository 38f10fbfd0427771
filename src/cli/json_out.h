/* Parts of the JSON objects that several commands print.  Each function gives a new reference, or
 * NULL when memory is out; json_pack hands a NULL on, so that one check at the end is enough. */
#ifndef POLHODE_CLI_JSON_OUT_H
#define POLHODE_CLI_JSON_OUT_H

#include <jansson.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

/* Appends to the list and takes the item's reference; *list becomes NULL when memory is out. */
void cli_json_append(json_t **list, json_t *item);
/* The same for a key of an object. */
void cli_json_set(json_t **object, const char *key, json_t *value);
/* A real; null where it is not finite, since JSON has no such number. */
json_t *cli_json_number(double x);
/* A string; a note where the text is no UTF-8, as names from the command line may be. */
json_t *cli_json_text(const char *text);
json_t *cli_json_numbers(const double *x, int count);
/* 3 or 2, or "stabilized-2". */
json_t *cli_json_index(pol_index index);
json_t *cli_json_moves(const pol_moves *moves);
/* The size of the steps, null if it is variable. */
json_t *cli_json_step(const pol_settings *settings);
/* {"rtol", "atol_translation", "atol_rotation", "first_step", "min_step", "max_step", "span",
 * "controller"} of steps of variable size, null of others. */
json_t *cli_json_control(const pol_settings *settings);
/* Null unless a published run is repeated. */
json_t *cli_json_published(const pol_published *published);
/* A list of sentences, usually empty. */
json_t *cli_json_warnings(const pol_settings *settings);
/* Appends the warnings of a run. */
void cli_json_append_warnings(json_t **list, const pol_summary *summary);
json_t *cli_json_failure(const pol_diagnostics *diagnostics);
/* {name: value} of the parameters of a model. */
json_t *cli_json_parameters(const pol_model *model);
/* {"status": status, "errors": [{"file", "line", "path", "value", "rule", "suggestion"}, ...]}; an
 * error in a line of no included file is in the source. */
json_t *cli_json_errors(const char *status, const char *source, const pol_errors *errors);
/* The "errors" of the same for a model that could not start. */
json_t *cli_json_start_errors(const pol_diagnostics *failure);

/* Adds "schema_version", prints the object on stdout, numbers with 17 digits, and drops the
 * reference.  NULL gives a
 * message on stderr and -1. */
int cli_json_print(json_t *object);

#endif
