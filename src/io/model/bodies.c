/* Bodies and markers in a model file: their tables and the rules between their keys. */
#include "io/model/parts.h"
#include "io/model/rules.h"

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

static const poli_choices body_types = {body_type_choice};

static const char inertia_rule[] = "must be 3 principal moments or a symmetric 3x3 matrix";

static const poli_field body_fields[] = {
    {"name", poli_read_name, offsetof(poli_model_body, name), POLI_REQUIRED, poli_name_rule,
     not_bodies},
    {"type", poli_read_choice, offsetof(poli_model_body, point), POLI_OPTIONAL, "", &body_types},
    {"mass", poli_read_number, offsetof(poli_model_body, mass), POLI_REQUIRED, poli_positive_rule,
     &poli_positive},
    {"inertia", poli_read_inertia, offsetof(poli_model_body, inertia), POLI_OPTIONAL, inertia_rule,
     NULL},
    {"position", poli_read_vector, offsetof(poli_model_body, position), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"rotation", poli_read_rotation, offsetof(poli_model_body, rotation), POLI_OPTIONAL, "", NULL},
    {"velocity", poli_read_vector, offsetof(poli_model_body, velocity), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"angular_velocity", poli_read_vector, offsetof(poli_model_body, angular_velocity),
     POLI_OPTIONAL, poli_vector_rule, NULL},
    {"angular_velocity_global", poli_read_vector,
     offsetof(poli_model_body, angular_velocity_global), POLI_OPTIONAL, poli_vector_rule, NULL},
    {"keep", poli_read_keep, offsetof(poli_model_body, keep), POLI_OPTIONAL, "", NULL},
    {"shapes", poli_read_list, offsetof(poli_model_body, shapes), POLI_OPTIONAL, poli_shapes_rule,
     &poli_shape_kind},
    {.key = NULL},
};

static void check_body(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  static const char *const global[] = {"angular_velocity_global", NULL};
  static const char *const turning[] = {"inertia", "rotation", "angular_velocity",
                                        "angular_velocity_global", NULL};
  (void)sound;
  poli_model_body *body = object;
  if (!poli_given(place, "rotation")) set_identity(body->rotation);
  body->given_velocity = poli_given(place, "velocity");
  body->given_body = poli_given(place, "angular_velocity");
  body->given_global = poli_given(place, "angular_velocity_global");
  if (body->point == 1)
    poli_forbid(reader, place, turning, "must not be given for a point mass");
  else if (body->given_body)
    poli_forbid(reader, place, global, "must not stand beside \"angular_velocity\"");
  if (body->point == 0 && !poli_given(place, "inertia"))
    poli_report_missing(reader, place, body_fields, "inertia", inertia_rule);
}

const poli_kind poli_body_kind = {
    .rule = "must be an object that describes a body",
    .fields = body_fields,
    .size = sizeof(poli_model_body),
    .at_least = 1,
    .check = check_body,
};

/* --- markers ---------------------------------------------------------------------------------- */

static const poli_field marker_fields[] = {
    {"name", poli_read_name, offsetof(poli_model_marker, name), POLI_REQUIRED, poli_name_rule,
     not_markers},
    {"body", poli_read_reference, offsetof(poli_model_marker, body), POLI_REQUIRED,
     "must be the name of a body or \"ground\"", "bodies"},
    {"position", poli_read_vector, offsetof(poli_model_marker, position), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"rotation", poli_read_rotation, offsetof(poli_model_marker, rotation), POLI_OPTIONAL, "",
     NULL},
    {.key = NULL},
};

static void check_marker(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  static const char *const position[] = {"position", NULL};
  (void)sound;
  poli_model_marker *marker = object;
  if (!poli_given(place, "rotation")) set_identity(marker->rotation);
  if (poli_point_mass(place, marker->body))
    poli_forbid(reader, place, position,
                "must not be given: a marker on a point mass is at the mass");
}

const poli_kind poli_marker_kind = {
    .rule = "must be an object that describes a marker",
    .fields = marker_fields,
    .size = sizeof(poli_model_marker),
    .check = check_marker,
};
