/* The keys of beams. */
#include <math.h>
#include <stdint.h>

#include "io/model/fields.h"

static const poli_number_range one_or_more = {
    1.0, 1e6, 0, "must be a whole number from 1 to 1000000", "1 to 1000000"};
static const poli_number_range grading_range = {0.0, 0.9, 0, "must be a number from 0 to 0.9",
                                                "0 to 0.9"};
static const poli_number_range fraction_range = {0.0, 1.0, 0, "must be a number from 0 to 1",
                                                 "0 to 1"};
static const poli_number_range poisson_range = {
    -1.0, 0.5, 1, "must be a number above -1, at most 0.5", "above -1, at most 0.5"};

WORDS(section_types, "rectangle", "circle", "general", "stiffness");
WORDS(load_axes, "global", "section");
WORDS(line_types, "line", "arc", "spline");
NAMES(strains, pol_beam_strain_name((pol_beam_strain)number));

#define AT(member) offsetof(poli_model_section, member)

static const poli_field section_fields[] = {
    {"type", &poli_choice, AT(type), &section_types,
     "must be a type of section, such as \"rectangle\"", .required = POLI_ALWAYS},
    {"width", &poli_number, AT(width), &poli_positive, ONLY(T(POLI_RECTANGLE)), .unit = "m",
     .help = "along y"},
    {"height", &poli_number, AT(height), &poli_positive, ONLY(T(POLI_RECTANGLE)), .unit = "m",
     .help = "along z"},
    {"radius", &poli_number, AT(radius), &poli_positive, ONLY(T(POLI_CIRCLE)), .unit = "m",
     .help = "outside"},
    {"thickness", &poli_number, AT(thickness), &poli_positive, .types = T(POLI_CIRCLE), .unit = "m",
     .standard = "solid", .help = "of the wall of a tube, below `radius`"},
    {"area", &poli_number, AT(area), &poli_positive, ONLY(T(POLI_GENERAL)), .unit = "m^2"},
    {"moments", &poli_pair, AT(moments), &poli_positive, "must be a list of 2 positive numbers",
     ONLY(T(POLI_GENERAL)), .unit = "m^4",
     .help = "second moments of area, of bending about y and z"},
    {"torsion", &poli_number, AT(torsion), &poli_positive, ONLY(T(POLI_GENERAL)), .unit = "m^4",
     .help = "torsion constant"},
    {"shear", &poli_pair, AT(shear), &poli_positive, "must be a list of 2 positive numbers",
     .types = T(POLI_RECTANGLE) | T(POLI_CIRCLE) | T(POLI_GENERAL),
     .standard = "Cowper's; `general` 5/6", .help = "shear coefficients along y and z"},
    {"stiffness", &poli_section_matrix, AT(stiffness), ONLY(T(POLI_STIFFNESS)),
     .unit = "N m^2, N m, N",
     .help =
         "torsion, bending about y and z, axial, shear along y and z: 6 numbers, or a symmetric "
         "matrix of 6 rows"},
    {"mass", &poli_number, AT(mass), &poli_positive, ONLY(T(POLI_STIFFNESS)), .unit = "kg/m"},
    {"inertia", &poli_vector, AT(inertia), &poli_positive, "must be a list of 3 positive numbers",
     ONLY(T(POLI_STIFFNESS)), .unit = "kg m",
     .help = "moments of inertia by length about the mass centre, about x, y, z"},
    {"center", &poli_pair, AT(center), .types = T(POLI_STIFFNESS), .unit = "m",
     .standard = "[0, 0]", .help = "mass centre of the section, along y and z from the line"},
    {.key = NULL},
};

#undef AT

const poli_kind poli_section_kind =
    KIND("section", "must be an object that describes the section of a beam", section_fields,
         sizeof(poli_model_section), .link = "beams", .type_key = "type", .standard_type = -1);

#define AT(member) offsetof(poli_model_beam, member)

static const poli_field material_fields[] = {
    {"young", &poli_number, AT(young), &poli_positive, NULL, POLI_ALWAYS, .unit = "Pa"},
    {"poisson", &poli_number, AT(poisson), &poisson_range, .not_beside = "shear",
     .standard = "0.3"},
    {"shear", &poli_number, AT(shear), &poli_positive, .unit = "Pa",
     .standard = "young/(2 + 2 poisson)"},
    {"density", &poli_number, AT(density), &poli_positive, NULL, POLI_ALWAYS, .unit = "kg/m^3"},
    {.key = NULL},
};

const poli_kind poli_material_kind =
    KIND("material", "must be an object with \"young\" and \"density\"", material_fields,
         sizeof(poli_model_beam), .link = "beams");

#undef AT
#define AT(member) offsetof(poli_beam_marker, member)

static const poli_field marker_fields[] = {
    {"name", &poli_name, AT(name), .required = POLI_ALWAYS, .help = "unique among all markers"},
    {"at", &poli_number, AT(at), &poli_not_negative, NULL, POLI_ALWAYS, .instead = "fraction",
     .unit = "m", .help = "length along the beam from its start"},
    {"fraction", &poli_number, AT(fraction), &fraction_range, .not_beside = "at",
     .help = "the same as a fraction of the length of the beam"},
    {.key = NULL},
};

#undef AT

static const poli_beam_marker new_marker = {.at = (double)NAN, .fraction = (double)NAN};
static const poli_kind marker_kind =
    KIND("beam-marker", "must be an object with \"name\" and \"at\" or \"fraction\"", marker_fields,
         sizeof(poli_beam_marker), &new_marker, .link = "beams");

#define AT(member) offsetof(poli_beam_load, member)

static const poli_field load_fields[] = {
    {"name", &poli_name, AT(name), .required = POLI_ALWAYS,
     .help = "unique; the forces on the nodes are NAME_0, NAME_1, ..., moments NAME_0_moment, ..."},
    {"force", &poli_vector, AT(force), .unit = "N/m", .standard = "[0, 0, 0]",
     .help = "by length of the relaxed beam"},
    {"moment", &poli_vector, AT(moment), .unit = "N m/m", .standard = "[0, 0, 0]",
     .help = "by length of the relaxed beam"},
    {"axes", &poli_choice, AT(axes), &load_axes, .standard = "\"global\"",
     .help = "`global`: the directions stay, `section`: they turn with the section (follower "
             "loads)"},
    {"from", &poli_number, AT(from), &poli_not_negative, .unit = "m", .standard = "the start",
     .help = "length along the beam where the load begins"},
    {"to", &poli_number, AT(to), &poli_positive, .unit = "m", .standard = "the end",
     .help = "where it ends"},
    {"scale", &poli_function, AT(scale), &poli_function_kind, .standard = "`1`",
     .help = "multiplies `force` and `moment`"},
    {.key = NULL},
};

#undef AT

static const poli_beam_load new_load = {.from = (double)NAN, .to = (double)NAN};
static const poli_kind load_kind =
    KIND("beam-load", "must be an object that describes a load by length", load_fields,
         sizeof(poli_beam_load), &new_load, .link = "beams");

#define AT(member) offsetof(poli_model_beam, member)

static const poli_field beam_fields[] = {
    {"name", &poli_name, AT(name), .required = POLI_ALWAYS,
     .help = "unique; its nodes are the bodies NAME_0, NAME_1, ..."},
    {"type", &poli_choice, AT(type), &line_types, .standard = "\"line\"",
     .help = "what leads through the points: `line` (straight pieces), `arc` (of a circle, three "
             "points), `spline`"},
    {"points", &poli_line, AT(points), NULL, NULL, POLI_ALWAYS, .unit = "m",
     .help = "of the relaxed beam, global axes"},
    {"elements", &poli_integer, AT(elements), &one_or_more, NULL, POLI_ALWAYS,
     .help = "their number, of about the same length"},
    {"grading", &poli_pair, AT(grading), &grading_range,
     "must be a list of 2 numbers from 0 to 0.9: for the start and the end", .standard = "[0, 0]",
     .help = "by how much elements at the start and at the end are shorter than the mean, as a "
             "fraction of it; the lengths between change smoothly. Clamped ends gain by 0.4, see "
             "[vibrations](beams.md#vibrations-and-rotation)"},
    {"up", &poli_direction, AT(up), .standard = "global z, of a vertical beam x",
     .help = "direction of z of the section at the start, as far as it is perpendicular to the "
             "beam; global axes"},
    {"twist", &poli_number, AT(twist), .unit = "rad", .standard = "0",
     .help = "of the relaxed beam: rotation of the section about the line from the start to the "
             "end, uniform by length"},
    {"section", &poli_object, AT(section), &poli_section_kind, NULL, POLI_ALWAYS,
     .help = "x points along the beam"},
    {"material", &poli_object, 0, &poli_material_kind,
     .standard = "required unless the section is of type `stiffness`"},
    {"damping", &poli_number, AT(damping), &poli_not_negative, .unit = "s", .standard = "0",
     .help = "of the strain rates, by the stiffness: a mode of angular frequency w has the damping "
             "ratio damping w/2"},
    {"bending", &poli_number, AT(bending), &poli_not_negative, .standard = "1",
     .help = "factor of the bending stiffness: 0, or small, for a cable"},
    {"twisting", &poli_number, AT(twisting), &poli_not_negative, .standard = "1",
     .help = "factor of the torsional stiffness"},
    {"strains", &poli_choice, AT(strain), &strains, .standard = "\"se3\"",
     .help =
         "`se3`: of helices, `so3xr3`: at the middle of straight lines, `directors`: with means "
         "of directors, for the methods that conserve energy, see [conserving "
         "methods](beams.md#conserving-methods)"},
    {"start", &poli_reference, AT(ends[0]), poli_list_of_bodies,
     "must be the name of a body or \"ground\"", .standard = "free",
     .help = "body that the first node is clamped to, by a joint NAME_start"},
    {"end", &poli_reference, AT(ends[1]), poli_list_of_bodies,
     "must be the name of a body or \"ground\"", .standard = "free",
     .help = "the same of the last node, NAME_end"},
    {"markers", &poli_objects, AT(markers), &marker_kind, "must be a list of markers on the beam",
     .standard = "none",
     .help = "places along the beam for joints, forces and results: a node is put there"},
    {"loads", &poli_objects, AT(loads), &load_kind, "must be a list of loads by length",
     .standard = "none", .help = "distributed forces and moments"},
    {"velocity", &poli_vector, AT(velocity), .unit = "m/s", .standard = "from the joints",
     .help = "of the first node at the start, global axes"},
    {"angular_velocity_global", &poli_vector, AT(angular_velocity), .unit = "rad/s",
     .standard = "from the joints", .help = "of the whole beam at the start, global axes"},
    {"color", &poli_color, AT(color), .standard = "by the number of the beam",
     .help = "red, green and blue, such as `\"#d55e00\"`"},
    {.key = NULL},
};

#undef AT

static const poli_model_beam new_beam = {
    .section = {.type = -1, .thickness = (double)NAN, .shear = {(double)NAN, (double)NAN}},
    .young = (double)NAN,
    .shear = (double)NAN,
    .poisson = 0.3,
    .density = (double)NAN,
    .bending = 1.0,
    .twisting = 1.0,
    .ends = {POL_NOT_FOUND, POL_NOT_FOUND},
    .color = POL_NO_COLOR,
    .rotation = {1.0, 0.0, 0.0, 0.0}};

const poli_kind poli_beam_kind =
    KIND("beam", "must be an object that describes a beam", beam_fields, sizeof(poli_model_beam),
         &new_beam, .link = "beams", .check = poli_check_beam);
