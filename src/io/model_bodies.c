/* Bodies and markers in a model file: their tables and the rules between their keys. */
#include "io/model_parts.h"
#include "io/model_rules.h"

static const char *const not_bodies[] = {"bodies", NULL};
static const char *const not_markers[] = {"markers", NULL};

static void set_identity(double q[4])
{
  q[0] = 1.0;
  q[1] = q[2] = q[3] = 0.0;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* By pol_body.point. */
static const char *body_type_choice(int number)
{
  static const char *const names[] = {"rigid", "point"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const pol_choices body_types = {body_type_choice};

static const char inertia_rule[] = "must be 3 principal moments or a symmetric 3x3 matrix";

static const pol_field body_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_body, name), POL_REQUIRED, pol_name_rule,
     not_bodies},
    {"type", pol_read_choice, offsetof(pol_model_body, point), POL_OPTIONAL, "", &body_types},
    {"mass", pol_read_number, offsetof(pol_model_body, mass), POL_REQUIRED, pol_positive_rule,
     &pol_positive},
    {"inertia", pol_read_inertia, offsetof(pol_model_body, inertia), POL_OPTIONAL, inertia_rule,
     NULL},
    {"position", pol_read_vector, offsetof(pol_model_body, position), POL_OPTIONAL, pol_vector_rule,
     NULL},
    {"rotation", pol_read_rotation, offsetof(pol_model_body, rotation), POL_OPTIONAL, "", NULL},
    {"velocity", pol_read_vector, offsetof(pol_model_body, velocity), POL_OPTIONAL, pol_vector_rule,
     NULL},
    {"angular_velocity", pol_read_vector, offsetof(pol_model_body, angular_velocity), POL_OPTIONAL,
     pol_vector_rule, NULL},
    {"angular_velocity_global", pol_read_vector, offsetof(pol_model_body, angular_velocity_global),
     POL_OPTIONAL, pol_vector_rule, NULL},
    {"keep", pol_read_keep, offsetof(pol_model_body, keep), POL_OPTIONAL, "", NULL},
    {"shapes", pol_read_list, offsetof(pol_model_body, shapes), POL_OPTIONAL, pol_shapes_rule,
     &pol_shape_kind},
    {.key = NULL},
};

static void check_body(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  static const char *const global[] = {"angular_velocity_global", NULL};
  static const char *const turning[] = {"inertia", "rotation", "angular_velocity",
                                        "angular_velocity_global", NULL};
  (void)sound;
  pol_model_body *body = object;
  if (!pol_given(place, "rotation")) set_identity(body->rotation);
  body->given_velocity = pol_given(place, "velocity");
  body->given_body = pol_given(place, "angular_velocity");
  body->given_global = pol_given(place, "angular_velocity_global");
  if (body->point == 1)
    pol_forbid(reader, place, turning, "must not be given for a point mass");
  else if (body->given_body)
    pol_forbid(reader, place, global, "must not stand beside \"angular_velocity\"");
  if (body->point == 0 && !pol_given(place, "inertia"))
    pol_report_missing(reader, place, body_fields, "inertia", inertia_rule);
}

const pol_kind pol_body_kind = {
    .rule = "must be an object that describes a body",
    .fields = body_fields,
    .size = sizeof(pol_model_body),
    .at_least = 1,
    .check = check_body,
};

/* --- markers ---------------------------------------------------------------------------------- */

static const pol_field marker_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_marker, name), POL_REQUIRED, pol_name_rule,
     not_markers},
    {"body", pol_read_reference, offsetof(pol_model_marker, body), POL_REQUIRED,
     "must be the name of a body or \"ground\"", "bodies"},
    {"position", pol_read_vector, offsetof(pol_model_marker, position), POL_OPTIONAL,
     pol_vector_rule, NULL},
    {"rotation", pol_read_rotation, offsetof(pol_model_marker, rotation), POL_OPTIONAL, "", NULL},
    {.key = NULL},
};

static void check_marker(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  static const char *const position[] = {"position", NULL};
  (void)sound;
  pol_model_marker *marker = object;
  if (!pol_given(place, "rotation")) set_identity(marker->rotation);
  if (pol_point_mass(place, marker->body))
    pol_forbid(reader, place, position,
               "must not be given: a marker on a point mass is at the mass");
}

const pol_kind pol_marker_kind = {
    .rule = "must be an object that describes a marker",
    .fields = marker_fields,
    .size = sizeof(pol_model_marker),
    .check = check_marker,
};
