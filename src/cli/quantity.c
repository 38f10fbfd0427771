/* Finding quantities of results by the words of a command line. */
#include "cli/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/terminal.h"
#include "cli/text_out.h"

/* Whether the pattern fits the name, or its start up to a dot.  After a star the rest of the
 * pattern is tried from each place of the name on; only the last star that was passed needs to be
 * tried again, so that the work is at most the product of both lengths. */
static int fits(const char *pattern, const char *name)
{
  const char *star = NULL, *again = NULL;
  for (;;) {
    if (*pattern == '*') {
      star = ++pattern;
      again = name;
    } else if (*pattern == '\0' && (*name == '\0' || *name == '.')) {
      return 1;
    } else if (*pattern != '\0' && *name != '\0' && (*pattern == '?' || *pattern == *name)) {
      pattern++;
      name++;
    } else if (star != NULL && *again != '\0') {
      pattern = star;
      name = ++again;
    } else {
      return 0;
    }
  }
}

int cli_quantity_matches(const char *word, const char *channel)
{
  return word[0] != '\0' && fits(word, channel);
}

int cli_quantity_exists(const pol_result *result, const char *word)
{
  for (int i = 0; i < pol_result_count(result); i++)
    if (cli_quantity_matches(word, pol_result_channel(result, i)->name)) return 1;
  return 0;
}

/* The names of one result, and their starts up to each dot, as candidates.  The best is kept in
 * `best`, which has room for any name. */
static void try_names(pol_near *near, const pol_result *result, char *start, char *best)
{
  for (int i = 0; i < pol_result_count(result); i++) {
    const char *name = pol_result_channel(result, i)->name;
    for (size_t end = strlen(name); end > 0; end--) {
      if (name[end] != '.' && name[end] != '\0') continue;
      memcpy(start, name, end);
      start[end] = '\0';
      pol_near_try(near, start);
      if (near->best == start) near->best = strcpy(best, start);
    }
  }
}

static size_t longest_name(pol_result *const *results, int num_results)
{
  size_t longest = 0;
  for (int r = 0; r < num_results; r++)
    for (int i = 0; i < pol_result_count(results[r]); i++) {
      const size_t length = strlen(pol_result_channel(results[r], i)->name);
      if (length > longest) longest = length;
    }
  return longest;
}

pol_status cli_quantity_refuse(pol_errors *errors, const char *path, const char *value,
                               const char *word, pol_result *const *results, int num_results)
{
  const size_t size = longest_name(results, num_results) + 1;
  char *room = malloc(2 * size);
  if (room == NULL) return POL_NO_MEMORY;
  pol_near near = pol_near_start(word);
  for (int r = 0; r < num_results; r++) try_names(&near, results[r], room, room + size);
  pol_status status = pol_errors_add(errors, path, value,
                                     num_results == 1 ? "there is no such quantity in the result"
                                                      : "there is no such quantity in the results",
                                     near.best);
  free(room);
  return status;
}

/* --- what there is ---------------------------------------------------------------------------- */

/* The length of the name up to its last dot, or 0. */
static size_t stem_length(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot != NULL ? (size_t)(dot - name) : 0;
}

static int share_stem(const char *a, const char *b)
{
  const size_t length = stem_length(a);
  return length > 0 && length == stem_length(b) && strncmp(a, b, length) == 0;
}

/* The first characters of a name. */
static void put_part(FILE *to, const char *name, size_t length)
{
  char *part = cli_format("%.*s", (int)length, name);
  if (part != NULL) cli_put_text(to, part);
  free(part);
}

void cli_quantity_print_all(const char *path, const pol_result *result)
{
  const int count = pol_result_count(result);
  cli_put_text(stderr, path);
  fputs(" has:\n", stderr);
  for (int i = 0, end; i < count; i = end) {
    const char *name = pol_result_channel(result, i)->name;
    const size_t stem = stem_length(name);
    for (end = i + 1; end < count && share_stem(name, pol_result_channel(result, end)->name); end++)
      ;
    /* "  a.{x,y}", or "  a" */
    fputs("  ", stderr);
    put_part(stderr, name, end == i + 1 ? strlen(name) : stem);
    if (end > i + 1) fputs(".{", stderr);
    for (int k = i; end > i + 1 && k < end; k++) {
      fputs(k > i ? "," : "", stderr);
      cli_put_text(stderr, pol_result_channel(result, k)->name + stem + 1);
    }
    fputs(end > i + 1 ? "}\n" : "\n", stderr);
  }
}

json_t *cli_quantity_json_all(const pol_result *result)
{
  json_t *names = json_array();
  for (int i = 0; i < pol_result_count(result); i++)
    cli_json_append(&names, cli_json_text(pol_result_channel(result, i)->name));
  return names;
}
