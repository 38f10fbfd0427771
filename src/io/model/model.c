/* Reading a model: the public functions, which lead through the steps of parts.h. */
#include "io/model/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/file/file.h"

/* Reads the tree; every error is reported. */
static void read_data(poli_reader *reader, const poli_place *top, poli_model_data *data)
{
  memset(data, 0, sizeof *data);
  data->name = "";
  data->simulation.settings = pol_settings_default();
  data->simulation.method = data->simulation.steps = -1;
  poli_collect_names(reader, top->value, &poli_model_kind);
  if (reader->status == POL_OK) poli_read_kind(reader, top, &poli_model_kind, data);
}

static void free_data(poli_model_data *data)
{
  poli_model_body *bodies = data->bodies.items;
  for (size_t i = 0; i < data->bodies.count; i++) free(bodies[i].shapes.items);
  free(data->shapes.items);
  free(data->bodies.items);
  free(data->markers.items);
  free(data->joints.items);
  free(data->forces.items);
  free(data->drives.items);
  free(data->couplings.items);
  free(data->variables.items);
  free(data->states.items);
  free(data->events.items);
}

/* The steps from a JSON tree to a model; 1 if the model is complete. */
static int fill_model(poli_reader *reader, const poli_place *top, pol_model *model)
{
  poli_model_data data;
  read_data(reader, top, &data);
  if (reader->status == POL_OK) reader->status = pol_mechanism_create(&model->mechanism);
  if (reader->status == POL_OK) poli_build_mechanism(reader, top, &data, model->mechanism);
  if (reader->status == POL_OK && reader->errors->count == 0) {
    model->settings = data.simulation.settings;
    model->name = poli_format("%s", data.name);
    if (!model->name) reader->status = POL_NO_MEMORY;
    if (reader->status == POL_OK) reader->status = poli_build_output_times(&data, model);
    if (reader->status == POL_OK) reader->status = poli_build_events(&data, model);
    if (data.simulation.automatic) model->settings.options.method = "auto";
    if (reader->status == POL_OK)
      reader->status = pol_settings_choose(model->mechanism, data.simulation.keeps_formulation,
                                           &model->settings);
  }
  if (reader->status == POL_OK && reader->errors->count == 0)
    reader->status = poli_build_shapes(&data, model);
  free_data(&data);
  return reader->status == POL_OK && reader->errors->count == 0;
}

static pol_status read_bytes(pol_model **model, const char *text, size_t size, int num_overrides,
                             const char *const *overrides, pol_errors *errors)
{
  poli_reader reader = {.errors = errors, .status = POL_OK};
  pol_model *result = calloc(1, sizeof *result);
  int good = 0;
  *model = NULL;
  if (!result) return POL_NO_MEMORY;

  json_t *tree = poli_load_json(&reader, text, size);
  if (json_is_object(tree))
    for (int i = 0; i < num_overrides; i++) poli_apply_override(&reader, tree, overrides[i]);
  const poli_place top = {.value = tree};
  if (tree && reader.status == POL_OK) good = fill_model(&reader, &top, result);
  if (good) {
    result->text = calloc(size + 1, 1);
    if (result->text)
      memcpy(result->text, text, size);
    else
      good = 0, reader.status = POL_NO_MEMORY;
  }
  json_decref(reader.names);
  json_decref(tree);

  if (good) {
    *model = result;
    return POL_OK;
  }
  pol_model_free(&result);
  if (reader.status == POL_OK) return POL_BAD_ARGUMENT;
  pol_errors_clear(errors);
  return reader.status;
}

pol_status pol_model_read_text(pol_model **model, const char *text, int num_overrides,
                               const char *const *overrides, pol_errors *errors)
{
  return read_bytes(model, text, strlen(text), num_overrides, overrides, errors);
}

/* Bytes of a model file; what has more is something else, perhaps without an end. */
static const size_t largest_model = (size_t)1 << 28;

pol_status pol_model_read_file(pol_model **model, const char *path, int num_overrides,
                               const char *const *overrides, pol_errors *errors)
{
  char *bytes;
  size_t size;
  *model = NULL;
  pol_status status = poli_read_small_file(path, largest_model, &bytes, &size);
  if (status == POL_OK) {
    status = read_bytes(model, bytes, size, num_overrides, overrides, errors);
  } else if (status == POL_IO) {
    char *rule = poli_format("cannot be read: %s", strerror(errno));
    if (!rule || pol_errors_add(errors, "", "", rule, "") != POL_OK) status = POL_NO_MEMORY;
    free(rule);
  }
  free(bytes);
  return status;
}

void pol_model_free(pol_model **model)
{
  if (!*model) return;
  pol_mechanism_free(&(*model)->mechanism);
  poli_free_shapes(*model);
  free((*model)->name);
  free((*model)->text);
  free((*model)->output_times);
  free((*model)->events);
  free(*model);
  *model = NULL;
}
