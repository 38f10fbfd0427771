/* A command must not write to a file that it reads: a result with the name of its model would
 * destroy the model.
 */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>

#include "cli/cli.h"
#include "cli/terminal.h"
#include "cli/text_out.h"

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
  if (cli_inputs_add_model(&inputs, args->operand, model) == POL_OK)
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
