/* Couplings of joint coordinates in a model file: their table, the rules between their keys, and
 * their way to the mechanism. */
#include <string.h>

#include "io/model_parts.h"
#include "io/model_rules.h"

static const char *const not_couplings_or_others[] = {"couplings", "drives", "forces",
                                                      "joints",    "bodies", NULL};

static const char *coordinate_choice(int number)
{
  return number < POL_DRIVE_X ? pol_coordinate_name((pol_coordinate)number) : NULL;
}

static const pol_choices coordinates = {coordinate_choice};

/* int[2]: pol_coordinate, -1 where there is none */
static void read_coordinates(pol_reader *reader, const pol_place *place, const pol_field *field,
                             void *target)
{
  int *numbers = target;
  if (!json_is_array(place->value) || json_array_size(place->value) != 2) {
    pol_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 2; i++) {
    const pol_place item = pol_place_item(place, i);
    pol_read_choice(reader, &item, field, &numbers[i]);
  }
}

static const pol_field coupling_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_coupling, name), POL_REQUIRED, pol_name_rule,
     not_couplings_or_others},
    {"joints", pol_read_reference_pair, offsetof(pol_model_coupling, joints), POL_REQUIRED,
     "must be a list of 2 names of joints", "joints"},
    {"coordinates", read_coordinates, offsetof(pol_model_coupling, coordinates), POL_OPTIONAL,
     "must be a list of 2 coordinates, \"rotation\" or \"translation\"", &coordinates},
    {"factors", pol_read_number_pair, offsetof(pol_model_coupling, factors), POL_REQUIRED,
     "must be a list of 2 numbers", NULL},
    {"reference", pol_read_number_pair, offsetof(pol_model_coupling, reference), POL_OPTIONAL,
     "must be a list of 2 numbers", NULL},
    {.key = NULL},
};

/* Each joint must have its coordinate. */
static void check_free(pol_reader *reader, const pol_place *place,
                       const pol_model_coupling *coupling)
{
  const pol_place joints = pol_place_key(place, "joints");
  for (size_t i = 0; i < 2; i++) {
    const pol_place at = pol_place_item(&joints, i);
    const pol_coordinate coordinate = (pol_coordinate)coupling->coordinates[i];
    pol_joint joint;
    if (coupling->joints[i] < 0 || coupling->coordinates[i] < 0 ||
        !pol_find_joint(place->parent->parent, coupling->joints[i], &joint) ||
        pol_joint_has_coordinate(&joint, coordinate))
      continue;
    pol_report(reader, &at, "", "must be a joint with a %s to couple: a %s one has none",
               pol_coordinate_name(coordinate), pol_joint_type_name(joint.type));
  }
}

static void check_coupling(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  pol_model_coupling *coupling = object;
  const pol_place joints = pol_place_key(place, "joints"),
                  factors = pol_place_key(place, "factors");
  coupling->given_reference = pol_given(place, "reference");
  if (joints.value) check_free(reader, place, coupling);
  for (size_t i = 0; i < 2 && json_array_size(factors.value) == 2; i++) {
    const pol_place item = pol_place_item(&factors, i);
    if (json_is_number(item.value) && coupling->factors[i] == 0.0)
      pol_report(reader, &item, "", "must not be zero");
  }
  if (sound && coupling->joints[0] == coupling->joints[1] &&
      coupling->coordinates[0] == coupling->coordinates[1])
    pol_report(reader, &joints, "", "must not be the same coordinate twice");
}

const pol_kind pol_coupling_kind = {
    .rule = "must be an object that describes a coupling",
    .fields = coupling_fields,
    .size = sizeof(pol_model_coupling),
    .check = check_coupling,
};

pol_status pol_add_model_coupling(pol_mechanism *mechanism, const pol_model_coupling *from)
{
  pol_coupling coupling = {.name = from->name};
  for (int i = 0; i < 2; i++) {
    coupling.joint[i] = from->joints[i];
    coupling.coordinate[i] = (pol_coordinate)from->coordinates[i];
    coupling.factor[i] = from->factors[i];
    coupling.reference[i] =
        from->given_reference
            ? from->reference[i]
            : pol_mechanism_coordinate(mechanism, coupling.joint[i], coupling.coordinate[i]);
  }
  return pol_mechanism_add_coupling(mechanism, &coupling, NULL);
}
