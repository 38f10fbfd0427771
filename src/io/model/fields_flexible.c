/* The keys of flexible bodies. */
#include <math.h>
#include <stdint.h>

#include "io/model/fields.h"

static const poli_number_range up_to_10000 = {0.0, 1e4, 0, "must be a whole number from 0 to 10000",
                                              "0 to 10000"};
static const poli_number_range one_or_more = {
    1.0, 1e6, 0, "must be a whole number from 1 to 1000000", "1 to 1000000"};

WORDS(mesh_types, "beam", "plate", "block");
WORDS(unit_systems, "m", "mm");

/* --- values ----------------------------------------------------------------------------------- */

/* As a name, but one that an include does not change: it is part of that of the body. */
static void read_label(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  poli_name.read(reader, place, field, target);
}

/* int[3], two or three whole numbers; the third is 1 then. */
static void read_divisions(poli_reader *reader, const poli_place *place, const poli_field *field,
                           void *target)
{
  const size_t count = json_array_size(place->value);
  int *divisions = target;
  int valid = count == 2 || count == 3;
  divisions[2] = 1;
  for (size_t i = 0; i < count && valid; i++) {
    const json_t *item = json_array_get(place->value, i);
    const double number = json_number_value(item);
    valid = json_is_number(item) && number >= 1.0 && number <= 1e5 && floor(number) == number;
    if (valid) divisions[i] = (int)number;
  }
  if (!valid) poli_report_wrong(reader, place, field);
}

static const poli_value label =
    POLI_VALUE(read_label, sizeof(char *), POLI_NO_DETAIL,
               "must be a name of ASCII letters, digits, _, - and spaces between them", "name",
               "{'type': 'string', 'maxLength': 200}");
static const poli_value divisions = POLI_VALUE(
    read_divisions, 3 * sizeof(int), POLI_NO_DETAIL,
    "must be a list of 2 or 3 whole numbers from 1 to 100000", "2 or 3 whole numbers",
    "{'type': 'array', 'minItems': 2, 'maxItems': 3, 'items': {'type': 'integer', 'minimum': 1, "
    "'maximum': 100000}}",
    .texts = POLI_NUMBERS);

/* --- meshes ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_mesh, member)
#define SOLID (T(POLI_PLATE) | T(POLI_BLOCK))

static const poli_field mesh_fields[] = {
    {"type", &poli_choice, AT(type), &mesh_types, "must be \"beam\", \"plate\" or \"block\"",
     .required = POLI_ALWAYS},
    {"points", &poli_line, AT(beam.points), ONLY(T(POLI_BEAM_MESH)), .unit = "m",
     .help = "of a line of straight pieces, axes of the mesh"},
    {"elements", &poli_integer, AT(beam.elements), &one_or_more, ONLY(T(POLI_BEAM_MESH)),
     .help = "their number, of about the same length; nodes 1, 2, ... along the line, with "
             "rotations"},
    {"up", &poli_direction, AT(beam.up), .types = T(POLI_BEAM_MESH),
     .standard = "z, of a vertical beam x", .help = "direction of z of the section"},
    {"section", &poli_object, AT(beam.section), &poli_section_kind, ONLY(T(POLI_BEAM_MESH)),
     .help = "as of a [beam](#beams), without couplings: `stiffness` diagonal, `center` zero"},
    {"size", &poli_vector, AT(size), &poli_positive, "must be a list of 3 positive numbers",
     ONLY(SOLID), .unit = "m", .help = "x from 0 to the first, y and z about 0"},
    {"divisions", &divisions, AT(divisions), ONLY(SOLID),
     .help = "elements along x, y and z; z: 1 if it is not given"},
    {"material", &poli_object, AT(beam), &poli_material_kind,
     .standard = "required unless the section is of type `stiffness`"},
    {.key = NULL},
};

#undef AT

const poli_kind poli_mesh_kind =
    KIND("mesh", "must be an object that describes a mesh", mesh_fields, sizeof(poli_model_mesh),
         .link = "flexible-bodies", .type_key = "type", .standard_type = -1, .noun = " mesh",
         .check = poli_check_mesh);

#define AT(member) offsetof(poli_model_interface, member)

static const poli_field interface_fields[] = {
    {"name", &label, AT(name), .required = POLI_ALWAYS,
     .help = "unique in the body; joints, forces and markers refer to the body `BODY.NAME`"},
    {"nodes", &poli_numbers, AT(nodes), NULL, "must be a list of numbers of nodes",
     .not_beside = "near", .help = "that move together as a rigid body"},
    {"near", &poli_vector, AT(near), .unit = "m", .not_beside = "box",
     .help = "instead: the node nearest to this point, axes of the mesh"},
    {"box", &poli_points, AT(box), .unit = "m", .not_beside = "nodes",
     .help = "instead: all nodes between these two corners"},
    {"position", &poli_vector, AT(position), .unit = "m", .standard = "the mean of its nodes",
     .help = "of its frame, axes of the mesh"},
    {.key = NULL},
};

#undef AT

static const poli_model_interface new_interface = {
    .near = {(double)NAN}, .box = {(double)NAN}, .position = {(double)NAN}};

static const poli_kind interface_kind =
    KIND("interface", "must be an object that describes an interface", interface_fields,
         sizeof(poli_model_interface), &new_interface, .link = "flexible-bodies",
         .check = poli_check_interface);

/* --- flexible bodies -------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_flexible, member)

static const poli_field flexible_fields[] = {
    {"name", &poli_name, AT(name), .required = POLI_ALWAYS, .help = "unique among bodies"},
    {"mass_matrix", &poli_data_file, AT(files[0]), NULL, "must be the name of a file",
     .required = POLI_ALWAYS, .instead = "mesh", .not_beside = "mesh",
     .missing = "a file in Matrix Market form, or \"mesh\"",
     .help = "[file](flexible.md#files) in Matrix Market form, relative to the folder of the model "
             "file; at most 16 GB"},
    {"stiffness_matrix", &poli_data_file, AT(files[1]), NULL, "must be the name of a file",
     .required = POLI_ALWAYS, .instead = "mesh", .not_beside = "mesh",
     .missing = "a file in Matrix Market form, or \"mesh\"", .help = "the same"},
    {"nodes", &poli_data_file, AT(files[2]), NULL, "must be the name of a file",
     .required = POLI_ALWAYS, .instead = "mesh", .not_beside = "mesh",
     .missing = "a file with the numbers and coordinates of the nodes, or \"mesh\"",
     .help = "file with a line `number, x, y, z` for each node, in the order of the matrices"},
    {"units", &poli_choice, AT(units), &unit_systems, .standard = "\"m\"", .not_beside = "mesh",
     .help = "of the files: `m` (m, kg, N) or `mm` (mm, t, N)"},
    {"mesh", &poli_object, AT(mesh), &poli_mesh_kind, .standard = "required without files",
     .help = "a mesh of polhode's own instead of files"},
    {"interfaces", &poli_objects, AT(interfaces), &interface_kind, "must be a list of interfaces",
     .standard = "none", .help = "where joints and forces act"},
    {"modes", &poli_integer, AT(modes), &up_to_10000, .standard = "10",
     .help = "normal modes with fixed interfaces; each interface but the first adds six"},
    {"frequency", &poli_number, AT(frequency), &poli_positive, .unit = "Hz", .not_beside = "modes",
     .standard = "by `modes`", .help = "instead: all normal modes up to this frequency"},
    {"damping", &poli_number, AT(damping), &poli_not_negative, .standard = "0",
     .help = "damping ratio of all modes"},
    {"rayleigh", &poli_pair, AT(rayleigh), &poli_not_negative,
     "must be a list of 2 numbers that are not negative", .unit = "1/s, s", .standard = "[0, 0]",
     .help = "damping of the modes by their mass and stiffness, added to `damping`"},
    {"position", &poli_vector, AT(position), .unit = "m", .standard = "[0, 0, 0]",
     .help = "of the origin of the mesh, global axes"},
    {"rotation", &poli_rotation, AT(rotation), .standard = "none",
     .help = "rotates global axes into those of the mesh"},
    {"velocity", &poli_vector, AT(velocity), .unit = "m/s", .standard = "from the joints",
     .help = "of the centre of mass, global axes"},
    {"angular_velocity", &poli_vector, AT(angular_velocity), .unit = "rad/s",
     .standard = "from the joints", .help = "in axes of the mesh"},
    {"angular_velocity_global", &poli_vector, AT(angular_velocity_global),
     .not_beside = "angular_velocity", .unit = "rad/s", .standard = "from the joints",
     .help = "in global axes"},
    {.key = NULL},
};

#undef AT

const poli_model_flexible poli_new_flexible = {
    .mesh = {.type = -1,
             .beam = {.section = {.type = -1,
                                  .thickness = (double)NAN,
                                  .shear = {(double)NAN, (double)NAN}},
                      .young = (double)NAN,
                      .shear = (double)NAN,
                      .poisson = 0.3,
                      .density = (double)NAN,
                      .bending = 1.0,
                      .twisting = 1.0,
                      .rotation = {1.0, 0.0, 0.0, 0.0}}},
    .modes = 10,
    .rotation = {1.0, 0.0, 0.0, 0.0}};

const poli_kind poli_flexible_kind =
    KIND("flexible-body", "must be an object that describes a flexible body", flexible_fields,
         sizeof(poli_model_flexible), &poli_new_flexible, .link = "flexible-bodies",
         .check = poli_check_flexible);
