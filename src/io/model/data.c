/* The model format: the table of the whole file.
 *
 * A new key is a line in a table.  A new kind of object is a file with its table and its poli_kind,
 * and a line in the table of the object that holds it; if others refer to it by name, also a line
 * in named_lists.  docs/model-format.md and schema/polhode-model.schema.json describe the same for
 * people. */
#include <stdlib.h>
#include <string.h>

#include "io/model/parts.h"
#include "io/model/rules.h"

/* The lists whose objects are found by name. */
static const char *const named_lists[] = {"bodies",    "markers",   "joints", "forces", "drives",
                                          "couplings", "variables", "states", "events", NULL};

static const poli_field model_fields[] = {
    {"$schema", poli_read_text, offsetof(poli_model_data, schema), POLI_OPTIONAL, "must be a text",
     NULL},
    {"name", poli_read_text, offsetof(poli_model_data, name), POLI_OPTIONAL, "must be a text",
     NULL},
    {"gravity", poli_read_vector, offsetof(poli_model_data, gravity), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"bodies", poli_read_list, offsetof(poli_model_data, bodies), POLI_REQUIRED,
     "must be a list of one or more bodies", &poli_body_kind},
    {"markers", poli_read_list, offsetof(poli_model_data, markers), POLI_OPTIONAL,
     "must be a list of markers", &poli_marker_kind},
    {"joints", poli_read_list, offsetof(poli_model_data, joints), POLI_OPTIONAL,
     "must be a list of joints", &poli_joint_kind},
    {"forces", poli_read_list, offsetof(poli_model_data, forces), POLI_OPTIONAL,
     "must be a list of forces", &poli_force_kind},
    {"drives", poli_read_list, offsetof(poli_model_data, drives), POLI_OPTIONAL,
     "must be a list of drives", &poli_drive_kind},
    {"couplings", poli_read_list, offsetof(poli_model_data, couplings), POLI_OPTIONAL,
     "must be a list of couplings", &poli_coupling_kind},
    {"variables", poli_read_list, offsetof(poli_model_data, variables), POLI_OPTIONAL,
     "must be a list of variables", &poli_variable_kind},
    {"states", poli_read_list, offsetof(poli_model_data, states), POLI_OPTIONAL,
     "must be a list of states", &poli_state_kind},
    {"events", poli_read_list, offsetof(poli_model_data, events), POLI_OPTIONAL,
     "must be a list of events", &poli_event_kind},
    {"shapes", poli_read_list, offsetof(poli_model_data, shapes), POLI_OPTIONAL, poli_shapes_rule,
     &poli_shape_kind},
    {"simulation", poli_read_object, offsetof(poli_model_data, simulation), POLI_REQUIRED,
     "must be an object with at least \"step\" or \"rtol\", and \"end\"", &poli_simulation_kind},
    {.key = NULL},
};

static const poli_kind model_kind = {
    .rule = "must be an object with \"bodies\" and \"simulation\"",
    .fields = model_fields,
    .size = sizeof(poli_model_data),
};

void poli_read_model_data(poli_reader *reader, const poli_place *top, poli_model_data *data)
{
  static const poli_field all = {.key = NULL, .detail = &model_kind};
  memset(data, 0, sizeof *data);
  data->name = "";
  data->simulation.settings = pol_settings_default();
  poli_collect_names(reader, top->value, named_lists);
  if (reader->status == POL_OK) poli_read_object(reader, top, &all, data);
}

void poli_free_model_data(poli_model_data *data)
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
