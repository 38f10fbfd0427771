/* Controllers of a model file: what is said about them, and the variables that they read.  The FMU
 * itself is not opened here; io/fmi does that.
 *
 * A controller reads variables of the mechanism.  An input that is the name of a variable is that
 * one; any other expression becomes a variable of its own, CONTROLLER_INPUT, which results
 * contain. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/model/expand.h"
#include "mechanism/builder.h"

static int find_variable(const pol_mechanism *mechanism, const char *name)
{
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++)
    if (strcmp(pol_mechanism_variable(mechanism, i)->name, name) == 0) return i;
  return POL_NOT_FOUND;
}

/* The name of the variable for an input, without what names cannot have; NULL without memory. */
static char *input_name(const poli_model_controller *from, const char *input)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";
  char *name = poli_format("%s_%s", from->name, input);
  for (char *c = name; c && *c; c++)
    if (!strchr(plain, *c)) *c = '_';
  return name;
}

/* Adds the variable of an input, unless it is one already. */
static void add_input(poli_reader *reader, const poli_place *place,
                      const poli_model_controller *from, pol_mechanism *mechanism)
{
  const char *expression = json_string_value(place->value);
  if (find_variable(mechanism, expression) != POL_NOT_FOUND) return;
  pol_errors found = {0};
  char *name = input_name(from, place->key);
  const pol_variable variable = {.name = name, .expression = expression};
  poli_mechanism_collect(mechanism, &found);
  const pol_status status =
      name ? pol_mechanism_add_variable(mechanism, &variable, NULL) : POL_NO_MEMORY;
  poli_mechanism_collect(mechanism, NULL);
  if (status != POL_OK && status != POL_BAD_ARGUMENT)
    reader->status = status;
  else if (found.count > 0)
    poli_report(reader, place, "", "becomes the variable \"%s\", whose name %s", name,
                found.items[0].rule);
  pol_errors_clear(&found);
  free(name);
}

/* An output must be an input of the model that nothing else sets. */
static void check_output(poli_reader *reader, const poli_place *place, const pol_mechanism *m,
                         json_t *setters)
{
  const char *name = json_string_value(place->value);
  const int index = find_variable(m, name);
  const char *other = json_string_value(json_object_get(setters, name));
  pol_near near = pol_near_start(name);
  for (int i = 0; i < pol_mechanism_num_variables(m) && index == POL_NOT_FOUND; i++)
    if (pol_mechanism_variable(m, i)->input)
      pol_near_try(&near, pol_mechanism_variable(m, i)->name);
  if (index == POL_NOT_FOUND || !pol_mechanism_variable(m, index)->input)
    poli_report(reader, place, near.best,
                "must be the name of a variable of the model with \"input\": true");
  else if (other)
    poli_report(reader, place, "", "must not be set twice: %s sets it too", other);
  char *path = poli_path(place);
  if (!path || json_object_set_new(setters, name, json_string(path)) != 0)
    reader->status = POL_NO_MEMORY;
  free(path);
}

void poli_add_controllers(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism)
{
  const poli_place list = poli_place_key(top, "controllers");
  const poli_model_controller *from = data->controllers.items;
  if (data->controllers.count == 0) return;
  json_t *setters = json_object(), *value;
  const char *key;
  if (!setters) reader->status = POL_NO_MEMORY;
  for (size_t i = 0; i < data->controllers.count && reader->status == POL_OK; i++, from++) {
    const poli_place object = poli_place_item(&list, i);
    const poli_place inputs = poli_place_key(&object, "inputs");
    const poli_place outputs = poli_place_key(&object, "outputs");
    json_object_foreach(outputs.value, key, value)
    {
      const poli_place at = {&outputs, key, 0, value};
      if (json_is_string(value)) check_output(reader, &at, mechanism, setters);
    }
    json_object_foreach(inputs.value, key, value)
    {
      const poli_place at = {&inputs, key, 0, value};
      if (json_is_string(value) && from->name) add_input(reader, &at, from, mechanism);
    }
  }
  json_decref(setters);
}

/* --- what the model keeps --------------------------------------------------------------------- */

/* A list of what an object binds: inputs, outputs, or parameters, whose values are numbers. */
static pol_status copy_bindings(const json_t *object, const poli_model_controller *from,
                                const pol_mechanism *mechanism, int is_input, int *count,
                                pol_binding **bindings)
{
  const char *key;
  json_t *value;
  pol_status status = POL_OK;
  *bindings = calloc(json_object_size(object) + 1, sizeof **bindings);
  if (!*bindings) return POL_NO_MEMORY;
  json_object_foreach((json_t *)(uintptr_t)object, key, value)
  {
    pol_binding *binding = &(*bindings)[(*count)++];
    binding->name = poli_format("%s", key);
    binding->value = json_number_value(value);
    binding->variable = POL_NOT_FOUND;
    if (json_is_string(value)) {
      binding->variable = find_variable(mechanism, json_string_value(value));
      char *own = is_input && binding->variable == POL_NOT_FOUND ? input_name(from, key) : NULL;
      if (own) binding->variable = find_variable(mechanism, own);
      free(own);
      if (binding->variable == POL_NOT_FOUND) status = POL_NO_MEMORY;
    }
    if (!binding->name) status = POL_NO_MEMORY;
  }
  return status;
}

pol_status poli_build_controllers(const poli_expansion *x, const poli_model_data *data,
                                  pol_model *model)
{
  const poli_model_controller *from = data->controllers.items;
  const size_t count = data->controllers.count;
  if (count == 0) return POL_OK;
  model->controllers = calloc(count, sizeof *model->controllers);
  if (!model->controllers) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++, from++) {
    pol_fmu_controller *to = &model->controllers[model->num_controllers++];
    to->name = poli_format("%s", from->name);
    to->file = poli_format("%s", from->fmu);
    to->period = from->period;
    to->inputs_at_start = from->inputs_at;
    const int is_absolute = from->fmu[0] == '/', known = x->folder || is_absolute;
    if (known) to->path = poli_format("%s%s", is_absolute ? "" : x->folder, from->fmu);
    pol_status status = to->name && to->file && (to->path || !known) ? POL_OK : POL_NO_MEMORY;
    if (!status)
      status = copy_bindings(from->inputs, from, model->mechanism, 1, &to->num_inputs, &to->inputs);
    if (!status)
      status =
          copy_bindings(from->outputs, from, model->mechanism, 0, &to->num_outputs, &to->outputs);
    if (!status)
      status = copy_bindings(from->parameters, from, model->mechanism, 0, &to->num_parameters,
                             &to->parameters);
    if (status) return status;
  }
  return POL_OK;
}

static void free_bindings(pol_binding *bindings, int count)
{
  for (int i = 0; i < count; i++) free(bindings[i].name);
  free(bindings);
}

void poli_free_controllers(pol_model *model)
{
  for (int i = 0; i < model->num_controllers; i++) {
    pol_fmu_controller *c = &model->controllers[i];
    free(c->name);
    free(c->file);
    free(c->path);
    free_bindings(c->inputs, c->num_inputs);
    free_bindings(c->outputs, c->num_outputs);
    free_bindings(c->parameters, c->num_parameters);
  }
  free(model->controllers);
}
