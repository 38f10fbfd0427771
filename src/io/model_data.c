/* The model format: the table of the whole file.
 *
 * A new key is a line in a table.  A new kind of object is a file with its table and its pol_kind,
 * and a line in the table of the object that holds it; if others refer to it by name, also a line
 * in named_lists.  docs/model-format.md and schema/polhode-model.schema.json describe the same for
 * people. */
#include <stdlib.h>
#include <string.h>

#include "io/model_parts.h"
#include "io/model_rules.h"

/* The lists whose objects are found by name. */
static const char *const named_lists[] = {"bodies",    "markers",   "joints", "forces", "drives",
                                          "couplings", "variables", "states", "events", NULL};

static const pol_field model_fields[] = {
    {"$schema", pol_read_text, offsetof(pol_model_data, schema), POL_OPTIONAL, "must be a text",
     NULL},
    {"name", pol_read_text, offsetof(pol_model_data, name), POL_OPTIONAL, "must be a text", NULL},
    {"gravity", pol_read_vector, offsetof(pol_model_data, gravity), POL_OPTIONAL, pol_vector_rule,
     NULL},
    {"bodies", pol_read_list, offsetof(pol_model_data, bodies), POL_REQUIRED,
     "must be a list of one or more bodies", &pol_body_kind},
    {"markers", pol_read_list, offsetof(pol_model_data, markers), POL_OPTIONAL,
     "must be a list of markers", &pol_marker_kind},
    {"joints", pol_read_list, offsetof(pol_model_data, joints), POL_OPTIONAL,
     "must be a list of joints", &pol_joint_kind},
    {"forces", pol_read_list, offsetof(pol_model_data, forces), POL_OPTIONAL,
     "must be a list of forces", &pol_force_kind},
    {"drives", pol_read_list, offsetof(pol_model_data, drives), POL_OPTIONAL,
     "must be a list of drives", &pol_drive_kind},
    {"couplings", pol_read_list, offsetof(pol_model_data, couplings), POL_OPTIONAL,
     "must be a list of couplings", &pol_coupling_kind},
    {"variables", pol_read_list, offsetof(pol_model_data, variables), POL_OPTIONAL,
     "must be a list of variables", &pol_variable_kind},
    {"states", pol_read_list, offsetof(pol_model_data, states), POL_OPTIONAL,
     "must be a list of states", &pol_state_kind},
    {"events", pol_read_list, offsetof(pol_model_data, events), POL_OPTIONAL,
     "must be a list of events", &pol_event_kind},
    {"shapes", pol_read_list, offsetof(pol_model_data, shapes), POL_OPTIONAL, pol_shapes_rule,
     &pol_shape_kind},
    {"simulation", pol_read_object, offsetof(pol_model_data, simulation), POL_REQUIRED,
     "must be an object with at least \"step\" or \"rtol\", and \"end\"", &pol_simulation_kind},
    {.key = NULL},
};

static const pol_kind model_kind = {
    .rule = "must be an object with \"bodies\" and \"simulation\"",
    .fields = model_fields,
    .size = sizeof(pol_model_data),
};

void pol_read_model_data(pol_reader *reader, const pol_place *top, pol_model_data *data)
{
  static const pol_field all = {.key = NULL, .detail = &model_kind};
  memset(data, 0, sizeof *data);
  data->name = "";
  data->simulation.settings = pol_settings_default();
  pol_collect_names(reader, top->value, named_lists);
  if (reader->status == POL_OK) pol_read_object(reader, top, &all, data);
}

void pol_free_model_data(pol_model_data *data)
{
  pol_model_body *bodies = data->bodies.items;
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
