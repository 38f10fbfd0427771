/* Couplings of joint coordinates in a model file: their table, the rules between their keys, and
 * their way to the mechanism. */
#include <string.h>

#include "io/model/parts.h"
#include "io/model/rules.h"

static const char *const not_couplings_or_others[] = {"couplings", "drives", "forces",
                                                      "joints",    "bodies", NULL};

static const char *coordinate_choice(int number)
{
  return number < POL_DRIVE_X ? pol_coordinate_name((pol_coordinate)number) : NULL;
}

static const poli_choices coordinates = {coordinate_choice};

/* int[2]: pol_coordinate, -1 where there is none */
static void read_coordinates(poli_reader *reader, const poli_place *place, const poli_field *field,
                             void *target)
{
  int *numbers = target;
  if (!json_is_array(place->value) || json_array_size(place->value) != 2) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 2; i++) {
    const poli_place item = poli_place_item(place, i);
    poli_read_choice(reader, &item, field, &numbers[i]);
  }
}

static const poli_field coupling_fields[] = {
    {"name", poli_read_name, offsetof(poli_model_coupling, name), POLI_REQUIRED, poli_name_rule,
     not_couplings_or_others},
    {"joints", poli_read_reference_pair, offsetof(poli_model_coupling, joints), POLI_REQUIRED,
     "must be a list of 2 names of joints", "joints"},
    {"coordinates", read_coordinates, offsetof(poli_model_coupling, coordinates), POLI_OPTIONAL,
     "must be a list of 2 coordinates, \"rotation\" or \"translation\"", &coordinates},
    {"factors", poli_read_number_pair, offsetof(poli_model_coupling, factors), POLI_REQUIRED,
     "must be a list of 2 numbers", NULL},
    {"reference", poli_read_number_pair, offsetof(poli_model_coupling, reference), POLI_OPTIONAL,
     "must be a list of 2 numbers", NULL},
    {.key = NULL},
};

/* Each joint must have its coordinate. */
static void check_free(poli_reader *reader, const poli_place *place,
                       const poli_model_coupling *coupling)
{
  const poli_place joints = poli_place_key(place, "joints");
  for (size_t i = 0; i < 2; i++) {
    const poli_place at = poli_place_item(&joints, i);
    const pol_coordinate coordinate = (pol_coordinate)coupling->coordinates[i];
    pol_joint joint;
    if (coupling->joints[i] < 0 || coupling->coordinates[i] < 0 ||
        !poli_find_joint(place->parent->parent, coupling->joints[i], &joint) ||
        pol_joint_has_coordinate(&joint, coordinate))
      continue;
    poli_report(reader, &at, "", "must be a joint with a %s to couple: a %s one has none",
                pol_coordinate_name(coordinate), pol_joint_type_name(joint.type));
  }
}

static void check_coupling(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_coupling *coupling = object;
  const poli_place joints = poli_place_key(place, "joints"),
                   factors = poli_place_key(place, "factors");
  coupling->given_reference = poli_given(place, "reference");
  if (joints.value) check_free(reader, place, coupling);
  for (size_t i = 0; i < 2 && json_array_size(factors.value) == 2; i++) {
    const poli_place item = poli_place_item(&factors, i);
    if (json_is_number(item.value) && coupling->factors[i] == 0.0)
      poli_report(reader, &item, "", "must not be zero");
  }
  if (sound && coupling->joints[0] == coupling->joints[1] &&
      coupling->coordinates[0] == coupling->coordinates[1])
    poli_report(reader, &joints, "", "must not be the same coordinate twice");
}

const poli_kind poli_coupling_kind = {
    .rule = "must be an object that describes a coupling",
    .fields = coupling_fields,
    .size = sizeof(poli_model_coupling),
    .check = check_coupling,
};

pol_status poli_add_model_coupling(pol_mechanism *mechanism, const poli_model_coupling *from)
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
