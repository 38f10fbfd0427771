/* The readers of rotations, which can be written in four ways, and of inertias.
 *
 * The principal moments J1 <= J2 <= J3 of a rigid body satisfy J1 + J2 >= J3, since J1 + J2 - J3 is
 * twice an integral of a square over the mass. */
#include "io/model/parts.h"
#include "io/model/rules.h"

#include <math.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/inertia.h"

static const double unit_tolerance = 1e-6;     /* of quaternions and rotation matrices */
static const double symmetry_tolerance = 1e-9; /* of inertias, relative */
static const double triangle_tolerance = 1e-9; /* of principal moments, relative */
static const double definite_tolerance = 1e-12;

/* --- rotations -------------------------------------------------------------------------------- */

typedef struct rotation_keys {
  double axis[3], angle;
  double quaternion[4];
  double matrix[9];
  double rotation_vector[3];
  double result[4];
} rotation_keys;

static const poli_field rotation_fields[] = {
    {"axis", poli_read_direction, offsetof(rotation_keys, axis), POLI_OPTIONAL, "", NULL},
    {"angle", poli_read_number, offsetof(rotation_keys, angle), POLI_OPTIONAL,
     "must be a number, the angle in radians", NULL},
    {"quaternion", poli_read_vector4, offsetof(rotation_keys, quaternion), POLI_OPTIONAL,
     "must be a list of 4 numbers: w, x, y, z", NULL},
    {"matrix", poli_read_matrix, offsetof(rotation_keys, matrix), POLI_OPTIONAL,
     "must be a list of 3 rows of 3 numbers", NULL},
    {"rotation_vector", poli_read_vector, offsetof(rotation_keys, rotation_vector), POLI_OPTIONAL,
     "must be a list of 3 numbers", NULL},
    {NULL, NULL, 0, 0, NULL, NULL},
};

static int is_unit_quaternion(const double q[4])
{
  return fabs(hypot(hypot(q[0], q[1]), hypot(q[2], q[3])) - 1.0) <= unit_tolerance;
}

/* Rows of length 1 that are perpendicular and right-handed. */
static int is_rotation_matrix(const double R[9])
{
  double product[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (!(fabs(poli_v3_dot(R + 3 * i, R + 3 * j) - (i == j)) <= unit_tolerance)) return 0;
  poli_v3_cross(R, R + 3, product);
  return poli_v3_dot(product, R + 6) > 0.0;
}

/* The rotation in the way that is given, when its numbers are well. */
static void compute_rotation(poli_reader *reader, const poli_place *place, rotation_keys *keys)
{
  double *q = keys->result;
  if (poli_given(place, "axis")) {
    q[0] = cos(0.5 * keys->angle);
    poli_v3_scale(sin(0.5 * keys->angle), keys->axis, q + 1);
  } else if (poli_given(place, "rotation_vector")) {
    pol_so3_exp(keys->rotation_vector, q);
  } else if (poli_given(place, "quaternion")) {
    const poli_place at = poli_place_key(place, "quaternion");
    memcpy(q, keys->quaternion, sizeof keys->quaternion);
    if (is_unit_quaternion(q))
      pol_quat_normalize(q);
    else
      poli_report(reader, &at, "", "must have length 1");
  } else {
    const poli_place at = poli_place_key(place, "matrix");
    if (is_rotation_matrix(keys->matrix)) {
      pol_quat_from_matrix(keys->matrix, q);
      pol_quat_normalize(q);
    } else {
      poli_report(reader, &at, "", "must be a rotation: orthogonal with determinant 1");
    }
  }
}

static void check_rotation(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const int axis = poli_given(place, "axis");
  const int angle = poli_given(place, "angle");
  const int ways = (axis || angle) + poli_given(place, "quaternion") + poli_given(place, "matrix") +
                   poli_given(place, "rotation_vector");
  if (ways > 1 || (ways == 0 && sound))
    poli_report(reader, place, "",
                "must have exactly one of: \"axis\" with \"angle\", \"quaternion\", \"matrix\", "
                "\"rotation_vector\"");
  else if (axis && !angle)
    poli_report_missing(reader, place, rotation_fields, "angle", "\"axis\" needs it, in radians");
  else if (angle && !axis)
    poli_report_missing(reader, place, rotation_fields, "axis", "\"angle\" needs it");
  else if (sound)
    compute_rotation(reader, place, object);
}

static const poli_kind rotation_kind = {
    .rule = "must be an object such as {\"axis\": [0, 0, 1], \"angle\": 0.5}",
    .fields = rotation_fields,
    .size = sizeof(rotation_keys),
    .check = check_rotation,
};

void poli_read_rotation(poli_reader *reader, const poli_place *place, const poli_field *field,
                        void *target)
{
  const poli_field all = {field->key, NULL, 0, 0, NULL, &rotation_kind};
  rotation_keys keys;
  memset(&keys, 0, sizeof keys);
  poli_read_object(reader, place, &all, &keys);
  memcpy(target, keys.result, sizeof keys.result);
}

/* --- kept initial values ---------------------------------------------------------------------- */

/* For each key the three bits of x, y and z. */
typedef struct keep_keys {
  unsigned position, rotation, velocity, angular_velocity;
} keep_keys;

static const char keep_rule[] = "must be true, false or a list of \"x\", \"y\", \"z\"";

/* unsigned, the lowest three bits */
static void read_axes(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  unsigned *bits = target;
  *bits = json_is_true(place->value) ? 7u : 0u;
  if (json_is_boolean(place->value)) return;
  if (!json_is_array(place->value)) poli_report(reader, place, "", "%s", field->rule);
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    const char *name = json_string_value(item.value);
    if (!name || strlen(name) != 1 || name[0] < 'x' || name[0] > 'z') {
      poli_report(reader, &item, "", "must be \"x\", \"y\" or \"z\"");
      continue;
    }
    const unsigned bit = 1u << (name[0] - 'x');
    if (*bits & bit) poli_report(reader, &item, "", "must not be kept twice");
    *bits |= bit;
  }
}

static const poli_field keep_fields[] = {
    {"position", read_axes, offsetof(keep_keys, position), POLI_OPTIONAL, keep_rule, NULL},
    {"rotation", read_axes, offsetof(keep_keys, rotation), POLI_OPTIONAL, keep_rule, NULL},
    {"velocity", read_axes, offsetof(keep_keys, velocity), POLI_OPTIONAL, keep_rule, NULL},
    {"angular_velocity", read_axes, offsetof(keep_keys, angular_velocity), POLI_OPTIONAL, keep_rule,
     NULL},
    {.key = NULL},
};

static const poli_kind keep_kind = {
    .rule = "must be an object such as {\"position\": [\"x\"], \"rotation\": true}",
    .fields = keep_fields,
    .size = sizeof(keep_keys),
};

void poli_read_keep(poli_reader *reader, const poli_place *place, const poli_field *field,
                    void *target)
{
  const poli_field all = {field->key, NULL, 0, 0, NULL, &keep_kind};
  keep_keys keys = {0};
  poli_read_object(reader, place, &all, &keys);
  *(unsigned *)target = keys.position * POL_KEEP_POSITION + keys.rotation * POL_KEEP_ROTATION +
                        keys.velocity * POL_KEEP_VELOCITY +
                        keys.angular_velocity * POL_KEEP_ANGULAR_VELOCITY;
}

/* --- inertia ---------------------------------------------------------------------------------- */

/* The principal moments of a symmetric matrix, smallest first. */
static void principal_moments(const double J[9], double moments[3])
{
  double m[3], axes[9];
  poli_principal_axes(J, m, axes);
  moments[0] = fmin(m[0], fmin(m[1], m[2]));
  moments[2] = fmax(m[0], fmax(m[1], m[2]));
  moments[1] = fmax(fmin(m[0], m[1]), fmin(fmax(m[0], m[1]), m[2]));
}

static void check_moments(poli_reader *reader, const poli_place *place, const double J[9])
{
  double m[3];
  principal_moments(J, m);
  if (!(m[0] > 0.0 && m[0] > definite_tolerance * m[2]))
    poli_report(reader, place, "", "must be positive definite, with principal moments above zero");
  else if (m[2] > (m[0] + m[1]) * (1.0 + triangle_tolerance))
    poli_report(reader, place, "",
                "must have no principal moment above the sum of the other two (%g > %g + %g): no "
                "rigid body has one",
                m[2], m[0], m[1]);
}

static void make_symmetric(poli_reader *reader, const poli_place *place, double J[9])
{
  double largest = 0.0;
  for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(J[i]));
  for (size_t i = 1; i < 3; i++)
    for (size_t j = 0; j < i; j++) {
      double *lower = &J[3 * i + j];
      double *upper = &J[3 * j + i];
      const poli_place row = poli_place_item(place, i);
      const poli_place entry = poli_place_item(&row, j);
      if (fabs(*lower - *upper) > symmetry_tolerance * largest)
        poli_report(reader, &entry, "", "must equal [%zu][%zu]: the matrix must be symmetric", j,
                    i);
      *lower = *upper = 0.5 * *lower + 0.5 * *upper;
    }
}

static const char inertia_rule[] =
    "must be 3 principal moments or a symmetric 3x3 matrix, in kg m^2";

/* Three principal moments on the diagonal of J. */
static void read_moments(poli_reader *reader, const poli_place *place, double J[9])
{
  static const poli_field moment = {NULL,          NULL, 0, POLI_REQUIRED, poli_positive_rule,
                                    &poli_positive};
  for (size_t i = 0; i < 3; i++) {
    const poli_place item = poli_place_item(place, i);
    poli_read_number(reader, &item, &moment, &J[4 * i]);
  }
}

void poli_read_inertia(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  (void)field;
  double *J = target;
  const int before = reader->errors->count;
  const json_t *first = json_array_get(place->value, 0);
  if (json_array_size(place->value) != 3) {
    poli_report(reader, place, "", "%s", inertia_rule);
    return;
  }
  if (json_is_array(first)) {
    const poli_field matrix = {NULL, NULL, 0, 0, inertia_rule, NULL};
    poli_read_matrix(reader, place, &matrix, J);
    if (reader->errors->count == before) make_symmetric(reader, place, J);
  } else {
    read_moments(reader, place, J);
  }
  if (reader->status == POL_OK && reader->errors->count == before) check_moments(reader, place, J);
}

/* --- stiffness and damping -------------------------------------------------------------------- */

void poli_read_rates(poli_reader *reader, const poli_place *place, const poli_field *field,
                     void *target)
{
  static const poli_field rate = {NULL, NULL, 0, 0, poli_not_negative_rule, &poli_not_negative};
  poli_model_rates *rates = target;
  rates->by_axis = json_is_array(place->value);
  if (json_is_number(place->value)) {
    poli_read_number(reader, place, &rate, &rates->value[0]);
    rates->value[1] = rates->value[2] = rates->value[0];
  } else if (json_array_size(place->value) != 3) { /* 0 for what is no list */
    poli_report(reader, place, "", "%s", field->rule);
  } else {
    for (size_t i = 0; i < 3; i++) {
      const poli_place item = poli_place_item(place, i);
      poli_read_number(reader, &item, &rate, &rates->value[i]);
    }
  }
}

/* --- what a generic joint locks --------------------------------------------------------------- */

static const char *lock_choice(int number)
{
  return pol_lock_name(number);
}

void poli_read_locks(poli_reader *reader, const poli_place *place, const poli_field *field,
                     void *target)
{
  static const poli_choices locks = {lock_choice};
  static const poli_field lock = {NULL, NULL, 0, POLI_REQUIRED, "", &locks};
  unsigned *locked = target;
  if (json_array_size(place->value) == 0) { /* 0 for what is no list */
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    int number = -1;
    poli_read_choice(reader, &item, &lock, &number);
    if (number < 0) continue;
    if (*locked & (1u << number)) poli_report(reader, &item, "", "must not be locked twice");
    *locked |= 1u << number;
  }
}
