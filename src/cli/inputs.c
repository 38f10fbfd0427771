/* What a command line refers to: models, results and their quantities, and the files that a command
 * must not overwrite; and the report of what is wrong with them. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

int cli_read_count(const char *text, long *count)
{
  char *rest;
  errno = 0;
  *count = strtol(text, &rest, 10);
  return errno == 0 && rest != text && *rest == '\0' && *count > 0;
}

static int out_of_memory(void)
{
  cli_complain("polhode", "%s", pol_status_text(POL_NO_MEMORY));
  return CLI_FAILED;
}

int cli_refuse(const char *source, int json, pol_errors *errors)
{
  cli_print_errors(source, errors);
  if (json) cli_json_print(cli_json_errors("invalid", source, errors));
  pol_errors_clear(errors);
  return CLI_INVALID;
}

int cli_refuse_one(const char *source, int json, const char *path, const char *value,
                   const char *rule)
{
  pol_errors errors = {0};
  if (pol_errors_add(&errors, path, value, rule, "") != POL_OK) {
    pol_errors_clear(&errors);
    return out_of_memory();
  }
  return cli_refuse(source, json, &errors);
}

int cli_cannot_write(const char *source, int json, const char *option, const char *path, int reason)
{
  pol_errors errors = {0};
  const int is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO;
  const char *why = reason == ETXTBSY ? "another run is writing this file"
                    : reason == EEXIST
                        ? "is written under this name with .new appended first, and there is a "
                          "link or another file that is not a regular one; remove that"
                    : reason != 0 ? strerror(reason)
                                  : "cannot be written";
  char *rule = cli_format("%s%s", why, is_full ? "; nothing was written" : "");
  pol_status status = POL_NO_MEMORY;
  if (rule != NULL) status = pol_errors_add(&errors, option, path, rule, "");
  free(rule);
  if (status != POL_OK) {
    pol_errors_clear(&errors);
    return out_of_memory();
  }
  if (!is_full) return cli_refuse(source, json, &errors);
  cli_print_errors(source, &errors);
  if (json) cli_json_print(cli_json_errors("failed", source, &errors));
  pol_errors_clear(&errors);
  return CLI_FAILED;
}

int cli_start_status(pol_status status)
{
  switch (status) {
  case POL_OK:
    return CLI_DONE;
  case POL_BAD_ARGUMENT:
  case POL_INCONSISTENT: /* joints that contradict each other */
  case POL_NOT_FINITE:   /* values of absurd size, functions without a value */
  case POL_SINGULAR:     /* what the equations leave open */
  case POL_RETRY:        /* forces that are not defined there */
    return CLI_INVALID;
  default:
    return CLI_FAILED;
  }
}

int cli_ends_in(const char *path, const char *ending)
{
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

int cli_read_model(const cli_args *args, pol_model **model)
{
  pol_errors errors = {0};
  pol_status status = pol_model_read_file(model, args->operand, args->num_overrides,
                                          (const char *const *)args->overrides, &errors);
  if (status == POL_OK) {
    if (!args->quiet) cli_print_notes((*model)->notes);
    return CLI_DONE;
  }
  if (status == POL_BAD_ARGUMENT || status == POL_IO)
    return cli_refuse(args->operand, args->json, &errors);
  pol_errors_clear(&errors);
  return out_of_memory();
}

int cli_check_controllers(const cli_args *args, const pol_model *model)
{
  pol_errors errors = {0};
  const pol_status status = pol_model_check_controllers(model, &errors);
  if (status == POL_BAD_ARGUMENT) return cli_refuse(args->operand, args->json, &errors);
  pol_errors_clear(&errors);
  return status == POL_OK ? CLI_DONE : out_of_memory();
}

int cli_refuse_result(const char *path, int json, const char *rule)
{
  return cli_refuse_one(path, json, json ? path : "", "", rule);
}

int cli_open_result(const char *path, int json, pol_result **result)
{
  char message[300];
  pol_status status = pol_result_open(result, path, message, sizeof message);
  if (status == POL_OK) return CLI_DONE;
  if (status == POL_BAD_ARGUMENT || status == POL_IO) return cli_refuse_result(path, json, message);
  fprintf(stderr, "polhode: %s\n", message);
  return CLI_FAILED;
}

pol_status cli_inputs_add(cli_list *inputs, const char *path)
{
  const char **longer = realloc(inputs->items, ((size_t)inputs->count + 1) * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  inputs->items = longer;
  char *item = cli_format("%s", path);
  if (item == NULL) return POL_NO_MEMORY;
  inputs->items[inputs->count++] = item;
  return POL_OK;
}

pol_status cli_inputs_add_model(cli_list *inputs, const char *path, const pol_model *model)
{
  const char *slash = strrchr(path, '/');
  const int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
  pol_status status = cli_inputs_add(inputs, path);
  for (int i = 0; status == POL_OK && i < model->num_included; i++)
    status = cli_inputs_add(inputs, model->included[i]);
  for (int i = 0; status == POL_OK && i < model->num_controllers; i++)
    if (model->controllers[i].path != NULL)
      status = cli_inputs_add(inputs, model->controllers[i].path);
  for (int i = 0; status == POL_OK && i < model->num_shapes; i++) {
    const pol_shape *shape = &model->shapes[i];
    if (shape->type != POL_MESH) continue;
    char *mesh = cli_format("%.*s%s", shape->file[0] == '/' ? 0 : folder, path, shape->file);
    status = mesh != NULL ? cli_inputs_add(inputs, mesh) : POL_NO_MEMORY;
    free(mesh);
  }
  return status;
}

void cli_inputs_free(cli_list *inputs)
{
  for (int i = 0; i < inputs->count; i++) free((char *)inputs->items[i]);
  free(inputs->items);
  *inputs = (cli_list){0};
}

const char *cli_find_input(const cli_list *inputs, const char *out)
{
  for (int i = 0; i < inputs->count; i++)
    if (pol_output_overwrites(out, inputs->items[i])) return inputs->items[i];
  return NULL;
}

int cli_check_output(const char *command, int json, const char *option, const char *out,
                     const cli_list *inputs)
{
  const char *found = cli_find_input(inputs, out);
  if (found == NULL) return CLI_DONE;
  char *rule = cli_format("must not be an input file: it would overwrite %s", found);
  const int result =
      cli_refuse_one(command, json, option, out, rule != NULL ? rule : "must not be an input file");
  free(rule);
  return result;
}

int cli_check_model_output(const char *command, const cli_args *args, const char *option,
                           const char *out, const pol_model *model)
{
  cli_list inputs = {0};
  int result = CLI_FAILED;
  if (out == NULL) return CLI_DONE;
  pol_status status = cli_inputs_add_model(&inputs, args->operand, model);
  /* a checkpoint may take the place of the one before, a result has rows that would be lost */
  if (status == POL_OK && args->from != NULL && strcmp(option, "--out") == 0)
    status = cli_inputs_add(&inputs, args->from);
  if (status == POL_OK)
    result = cli_check_output(command, args->json, option, out, &inputs);
  else
    cli_complain(command, "%s", pol_status_text(POL_NO_MEMORY));
  cli_inputs_free(&inputs);
  return result;
}

const char *cli_find_input_in(const cli_list *inputs, const char *folder,
                              int (*is_written)(const char *name))
{
  const char *found = NULL;
  DIR *entries = opendir(folder);
  for (const struct dirent *entry; entries != NULL && found == NULL;) {
    if ((entry = readdir(entries)) == NULL) break;
    if (is_written != NULL && !is_written(entry->d_name)) continue;
    char *path = cli_format("%s/%s", folder, entry->d_name);
    if (path != NULL) found = cli_find_input(inputs, path);
    free(path);
  }
  if (entries != NULL) closedir(entries);
  return found;
}

/* Whether a quantity belongs to the whole system, not to a body, joint or other object. */
static int is_of_system(const char *name)
{
  static const char *const groups[] = {"energy.", "momentum.", "residual.", "invariant.",
                                       "increment."};
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    if (strncmp(name, groups[i], strlen(groups[i])) == 0) return 1;
  return 0;
}

/* Whether the pattern fits the name, or its start up to a dot.  After a star the rest of the
 * pattern is tried from each place of the name on; only the last star that was passed needs to be
 * tried again, so that the work is at most the product of both lengths. */
int cli_quantity_matches(const char *pattern, const char *name)
{
  const char *star = NULL, *again = NULL;
  if (pattern[0] == '\0') return 0;
  if (strncmp(pattern, "*.", 2) == 0 && is_of_system(name)) return 0;
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

int cli_quantity_exists(const pol_result *result, const char *word)
{
  for (int i = 0; i < pol_result_count(result); i++)
    if (cli_quantity_matches(word, pol_result_channel(result, i)->name)) return 1;
  return 0;
}

pol_status cli_quantity_refuse(pol_errors *errors, const char *path, const char *value,
                               const char *word, pol_result *const *results, int num_results)
{
  size_t size = 1; /* of the longest name, with its end */
  for (int r = 0; r < num_results; r++)
    for (int i = 0; i < pol_result_count(results[r]); i++) {
      const size_t length = strlen(pol_result_channel(results[r], i)->name);
      if (length + 1 > size) size = length + 1;
    }
  char *room = malloc(2 * size);
  if (room == NULL) return POL_NO_MEMORY;
  pol_near near = pol_near_start(word);
  for (int r = 0; r < num_results; r++) {
    /* names and their starts up to each dot, as candidates; the best is kept behind the first */
    const pol_result *result = results[r];
    for (int i = 0; i < pol_result_count(result); i++) {
      const char *name = pol_result_channel(result, i)->name;
      for (size_t end = strlen(name); end > 0; end--) {
        if (name[end] != '.' && name[end] != '\0') continue;
        memcpy(room, name, end);
        room[end] = '\0';
        pol_near_try(&near, room);
        if (near.best == room) near.best = strcpy(room + size, room);
      }
    }
  }
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

void cli_quantity_print_all(const char *path, const pol_result *result)
{
  const int count = pol_result_count(result);
  cli_put_text(stderr, path);
  fputs(" has:\n", stderr);
  for (int i = 0, end; i < count; i = end) {
    const char *name = pol_result_channel(result, i)->name;
    const size_t stem = stem_length(name);
    /* those that differ in the last word alone */
    for (end = i + 1; end < count && stem > 0; end++) {
      const char *next = pol_result_channel(result, end)->name;
      if (stem_length(next) != stem || strncmp(name, next, stem) != 0) break;
    }
    /* "  a.{x,y}", or "  a" */
    fputs("  ", stderr);
    char *part = cli_format("%.*s", (int)(end == i + 1 ? strlen(name) : stem), name);
    if (part != NULL) cli_put_text(stderr, part);
    free(part);
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
