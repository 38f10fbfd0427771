/* The rules of the elements of a mechanism.
 *
 * Rules of one number are lines of a table; those between numbers, and between elements, are
 * functions.  A check goes on after an error, so that all are reported.  What an element refers to
 * may itself be wrong, if the errors of a whole file are collected: then the rules that need it
 * are skipped.
 *
 * The principal moments J1 <= J2 <= J3 of a rigid body satisfy J1 + J2 >= J3, since J1 + J2 - J3 is
 * twice an integral of a square over the mass. */
#include "mechanism/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression/expression_units.h"
#include "lie/small.h"
#include "mechanism/function.h"
#include "mechanism/inertia.h"
#include "mechanism/joint_axis.h"

static const double unit_tolerance = 1e-6;     /* of quaternions, and of perpendicular axes */
static const double symmetry_tolerance = 1e-9; /* of inertias, relative */
static const double triangle_tolerance = 1e-9; /* of principal moments, relative */
static const double definite_tolerance = 1e-12;

/* --- words ------------------------------------------------------------------------------------ */

static const struct {
  const char *name, *list;
} elements[] = {
    [POLI_BODIES] = {"body", "bodies"},           [POLI_MARKERS] = {"marker", "markers"},
    [POLI_JOINTS] = {"joint", "joints"},          [POLI_FORCES] = {"force", "forces"},
    [POLI_DRIVES] = {"drive", "drives"},          [POLI_COUPLINGS] = {"coupling", "couplings"},
    [POLI_VARIABLES] = {"variable", "variables"}, [POLI_STATES] = {"state", "states"},
};

const char *poli_element_list(poli_element element)
{
  return elements[element].list;
}

void poli_refuse(poli_rules *check, const char *field, const char *value, const char *suggestion,
                 const char *rule, ...)
{
  va_list arguments;
  va_start(arguments, rule);
  char *words = poli_format_list(rule, arguments);
  va_end(arguments);
  char *path;
  if (check->relative)
    path = poli_format("%s%s", check->inside, field);
  else if (check->name && *check->name)
    path = poli_format("%s '%s'%s%s%s", elements[check->element].name, check->name,
                       *field ? ": " : "", check->inside, field);
  else
    path = poli_format("%s without name%s%s%s", elements[check->element].name, *field ? ": " : "",
                       check->inside, field);
  pol_status status = POL_NO_MEMORY;
  if (words && path) status = pol_errors_add(check->errors, path, value, words, suggestion);
  if (status) check->status = status;
  check->broken++;
  free(words);
  free(path);
}

/* The same for a field that is an index or another whole number. */
static void refuse_int(poli_rules *check, const char *field, int number, const char *rule)
{
  char value[16];
  snprintf(value, sizeof value, "%d", number);
  poli_refuse(check, field, value, "", "%s", rule);
}

/* "marker[1]" */
static const char *item(const char *field, int index, char path[48])
{
  snprintf(path, 48, "%s[%d]", field, index);
  return path;
}

/* --- numbers ---------------------------------------------------------------------------------- */

const char *poli_number_words(poli_number_kind rule)
{
  static const char *const words[] = {
      [POLI_ANY_NUMBER] = "must be a finite number",
      [POLI_POSITIVE_NUMBER] = "must be a positive number",
      [POLI_NOT_NEGATIVE_NUMBER] = "must be a non-negative number",
      [POLI_NOT_ZERO_NUMBER] = "must not be zero",
  };
  return words[rule];
}

/* `count` numbers of an element; types: the bits 1 << type of those that have them, 0 for all. */
static const struct number_field {
  poli_element element;
  const char *name;
  size_t offset;
  int count;
  poli_number_kind rule;
  unsigned types;
} number_fields[] = {
#define FIELD(element, type, member) element, #member, offsetof(type, member)
    {FIELD(POLI_BODIES, pol_body, mass), 1, POLI_POSITIVE_NUMBER, 0},
    {FIELD(POLI_BODIES, pol_body, position), 3, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_BODIES, pol_body, velocity), 3, POLI_ANY_NUMBER, 0},
    /* not of a point mass */
    {FIELD(POLI_BODIES, pol_body, angular_velocity), 3, POLI_ANY_NUMBER, 1u << 0},
    {FIELD(POLI_MARKERS, pol_marker, position), 3, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_JOINTS, pol_joint, length), 1, POLI_POSITIVE_NUMBER, 1u << POL_DISTANCE},
    {FIELD(POLI_JOINTS, pol_joint, radius), 1, POLI_POSITIVE_NUMBER,
     1u << POL_ROLLING_SPHERE | 1u << POL_ROLLING_DISK},
    {FIELD(POLI_FORCES, pol_force, vector), 3, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, point), 3, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, anchor), 3, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, stiffness), 3, POLI_NOT_NEGATIVE_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, damping), 3, POLI_NOT_NEGATIVE_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, rotational_stiffness), 3, POLI_NOT_NEGATIVE_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, rotational_damping), 3, POLI_NOT_NEGATIVE_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, preload), 3, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, preload_torque), 3, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, length), 1, POLI_NOT_NEGATIVE_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, actuator), 1, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, rest), 1, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, coefficient), 1, POLI_NOT_NEGATIVE_NUMBER, 0},
    {FIELD(POLI_FORCES, pol_force, callback.length), 1, POLI_NOT_NEGATIVE_NUMBER, 0},
    {FIELD(POLI_COUPLINGS, pol_coupling, factor), 2, POLI_NOT_ZERO_NUMBER, 0},
    {FIELD(POLI_COUPLINGS, pol_coupling, reference), 2, POLI_ANY_NUMBER, 0},
    {FIELD(POLI_STATES, pol_state_variable, initial), 1, POLI_ANY_NUMBER, 0},
#undef FIELD
};
enum { NUM_FIELDS = sizeof number_fields / sizeof number_fields[0] };

poli_number_kind poli_number_kind_of(poli_element element, size_t offset)
{
  for (const struct number_field *f = number_fields; f < number_fields + NUM_FIELDS; f++)
    if (f->element == element && f->offset == offset) return f->rule;
  return POLI_ANY_NUMBER;
}

void poli_number_rules(poli_rules *check, const char *field, const double *x, int count,
                       poli_number_kind rule)
{
  for (int i = 0; i < count; i++) {
    char path[64], value[32];
    if (isfinite(x[i]) && (rule != POLI_POSITIVE_NUMBER || x[i] > 0.0) &&
        (rule != POLI_NOT_NEGATIVE_NUMBER || x[i] >= 0.0) &&
        (rule != POLI_NOT_ZERO_NUMBER || x[i] != 0.0))
      continue;
    snprintf(path, sizeof path, count > 1 ? "%s[%d]" : "%s", field, i);
    snprintf(value, sizeof value, "%.10g", x[i]);
    poli_refuse(
        check, path, value, "", "%s",
        poli_number_words(rule == POLI_NOT_ZERO_NUMBER && x[i] != 0.0 ? POLI_ANY_NUMBER : rule));
  }
}

void poli_vector_rules(poli_rules *check, const char *field, const double *x, int count)
{
  poli_number_rules(check, field, x, count, POLI_ANY_NUMBER);
}

/* All numbers of the table that elements of this type have. */
static void check_table(poli_rules *check, const void *element, int type)
{
  for (const struct number_field *f = number_fields; f < number_fields + NUM_FIELDS; f++)
    if (f->element == check->element && (f->types == 0 || (type >= 0 && (f->types >> type & 1u))))
      poli_number_rules(check, f->name, (const double *)((const char *)element + f->offset),
                        f->count, f->rule);
}

/* --- names, rotations ------------------------------------------------------------------------- */

/* Bodies and what acts on them share their names, and so do quantities in expressions. */
void poli_name_rules(poli_rules *check, const char *name)
{
  const poli_element own = check->element;
  if (!name || !*name) {
    if (check->element != POLI_MARKERS) poli_refuse(check, "name", "", "", "is required");
    return;
  }
  if (strcmp(name, "ground") == 0) {
    poli_refuse(check, "name", "", "", "must not be \"ground\", the name of the inertial frame");
    return;
  }
  /* the own list first */
  for (int k = -1; k < POLI_NUM_ELEMENTS; k++) {
    const poli_element other = k < 0 ? own : (poli_element)k;
    const int quantities = (own >= POLI_VARIABLES) + (other >= POLI_VARIABLES);
    if (other != own && (quantities == 1 || own == POLI_MARKERS || other == POLI_MARKERS)) continue;
    const int found = poli_mechanism_find(check->mechanism, other, name);
    int index = found;
    if (found < 0) continue;
    /* forces that joints have made are not in the user's list */
    for (int i = 0; i < found && other == POLI_FORCES; i++)
      index -= pol_mechanism_force(check->mechanism, i)->made_by_joint;
    poli_refuse(check, "name", "", "", "must be unique: %s[%d] has the same name",
                elements[other].list, index);
    return;
  }
}

int poli_is_unit_quaternion(const double q[4])
{
  return fabs(hypot(hypot(q[0], q[1]), hypot(q[2], q[3])) - 1.0) <= unit_tolerance;
}

void poli_rotation_rules(poli_rules *check, const double q[4])
{
  char value[96];
  if (poli_is_unit_quaternion(q)) return;
  snprintf(value, sizeof value, "[%.6g, %.6g, %.6g, %.6g]", q[0], q[1], q[2], q[3]);
  if (q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0)
    poli_refuse(check, "rotation", value, "",
                "must be a unit quaternion; pol_%s_default() sets the identity",
                elements[check->element].name);
  else
    poli_refuse(check, "rotation", value, "", "must be a unit quaternion (w, x, y, z)");
}

/* --- bodies and markers ----------------------------------------------------------------------- */

/* Finite, symmetric, positive definite, and that of a rigid body. */
static void check_inertia(poli_rules *check, const double J[9])
{
  const int before = check->broken;
  int finite = 1;
  double largest = 0.0, m[3], axes[9];
  char path[48], value[32];
  for (int i = 0; i < 9; i++) {
    largest = fmax(largest, fabs(J[i]));
    finite &= isfinite(J[i]) != 0;
    if (isfinite(J[i]) && (i % 4 != 0 || J[i] > 0.0)) continue;
    snprintf(path, sizeof path, "inertia[%d][%d]", i / 3, i % 3);
    snprintf(value, sizeof value, "%.10g", J[i]);
    poli_refuse(check, path, value, "", "%s",
                poli_number_words(i % 4 ? POLI_ANY_NUMBER : POLI_POSITIVE_NUMBER));
  }
  if (!finite) return;
  for (int i = 1; i < 3; i++)
    for (int j = 0; j < i; j++) {
      if (fabs(J[3 * i + j] - J[3 * j + i]) <= symmetry_tolerance * largest) continue;
      snprintf(path, sizeof path, "inertia[%d][%d]", i, j);
      snprintf(value, sizeof value, "%.10g", J[3 * i + j]);
      poli_refuse(check, path, value, "", "must equal [%d][%d]: the matrix must be symmetric", j,
                  i);
    }
  if (check->broken > before) return;
  /* the principal moments, smallest first */
  poli_principal_axes(J, m, axes);
  const double low = fmin(m[0], fmin(m[1], m[2])), high = fmax(m[0], fmax(m[1], m[2]));
  const double middle = fmax(fmin(m[0], m[1]), fmin(fmax(m[0], m[1]), m[2]));
  if (!(low > 0.0 && low > definite_tolerance * high))
    poli_refuse(check, "inertia", "", "",
                "must be positive definite, with principal moments above zero");
  else if (high > (low + middle) * (1.0 + triangle_tolerance))
    poli_refuse(check, "inertia", "", "",
                "must have no principal moment above the sum of the other two (%g > %g + %g): no "
                "rigid body has one",
                high, low, middle);
}

void poli_body_rules(poli_rules *check, const pol_body *body)
{
  poli_name_rules(check, body->name);
  check_table(check, body, body->point ? 1 : 0);
  if (body->point) return;
  check_inertia(check, body->inertia);
  poli_rotation_rules(check, body->rotation);
}

static int body_exists(const pol_mechanism *mechanism, int body)
{
  return body >= POL_GROUND && body < pol_mechanism_num_bodies(mechanism);
}

/* The body, if it exists and is a point mass; else NULL. */
static const pol_body *point_mass(const pol_mechanism *mechanism, int index)
{
  const pol_body *body =
      index >= 0 && body_exists(mechanism, index) ? pol_mechanism_body(mechanism, index) : NULL;
  return body && body->point ? body : NULL;
}

static int check_body_index(poli_rules *check, const char *field, int body)
{
  if (body_exists(check->mechanism, body)) return 1;
  refuse_int(check, field, body, "must be the index of a body or POL_GROUND");
  return 0;
}

static void check_bodies(poli_rules *check, const int bodies[2])
{
  int known = 0;
  for (int i = 0; i < 2; i++) {
    char field[48];
    known += check_body_index(check, item("bodies", i, field), bodies[i]);
  }
  if (known == 2 && bodies[0] == bodies[1])
    poli_refuse(check, "bodies", "", "", "must be two different bodies");
}

void poli_marker_rules(poli_rules *check, const pol_marker *marker)
{
  const double *x = marker->position;
  poli_name_rules(check, marker->name);
  check_table(check, marker, 0);
  poli_rotation_rules(check, marker->rotation);
  if (check_body_index(check, "body", marker->body) && point_mass(check->mechanism, marker->body) &&
      (x[0] != 0.0 || x[1] != 0.0 || x[2] != 0.0))
    poli_refuse(check, "position", "", "", "must be zero: a marker on a point mass is at the mass");
}

/* --- joints ----------------------------------------------------------------------------------- */

/* The body of a marker; POL_NOT_FOUND if there is no such marker or body. */
static int body_of(const pol_mechanism *mechanism, int marker)
{
  if (marker < 0 || marker >= pol_mechanism_num_markers(mechanism)) return POL_NOT_FOUND;
  const int body = pol_mechanism_marker(mechanism, marker)->body;
  return body_exists(mechanism, body) ? body : POL_NOT_FOUND;
}

/* Two markers that exist; their bodies, or POL_NOT_FOUND. */
static void find_markers(poli_rules *check, const int marker[2], int body[2])
{
  for (int i = 0; i < 2; i++) {
    char field[48];
    body[i] = body_of(check->mechanism, marker[i]);
    if (marker[i] < 0 || marker[i] >= pol_mechanism_num_markers(check->mechanism))
      refuse_int(check, item("marker", i, field), marker[i], "must be the index of a marker");
  }
}

/* The same on different bodies; 1 if all is well. */
static int check_markers(poli_rules *check, const int marker[2], int body[2])
{
  find_markers(check, marker, body);
  if (body[0] == POL_NOT_FOUND || body[1] == POL_NOT_FOUND) return 0;
  if (body[0] == body[1]) poli_refuse(check, "marker", "", "", "must be on two different bodies");
  return body[0] != body[1];
}

/* What depends on the type; bodies are those of its markers, or POL_NOT_FOUND. */
static void check_joint_type(poli_rules *check, const pol_joint *joint, const int bodies[2],
                             int placed)
{
  char value[16];
  const char *type = pol_joint_type_name(joint->type);
  if (!type) {
    refuse_int(check, "type", (int)joint->type, "must be a type of joint");
    return;
  }
  check_table(check, joint, (int)joint->type);
  if (joint->type == POL_GENERIC && (joint->locked == 0 || joint->locked >= 1u << 6)) {
    snprintf(value, sizeof value, "%u", joint->locked);
    poli_refuse(check, "locked", value, "", "must be one or more of the POL_LOCK_... bits");
    return;
  }
  if (joint->global_axes && !pol_joint_locks_point(joint))
    poli_refuse(check, "global_axes", "", "",
                "must not be used: this type of joint leaves a translation free");
  for (int i = 0; i < 2; i++) {
    const pol_body *point = point_mass(check->mechanism, bodies[i]);
    if (point && !pol_joint_fits_point(joint))
      poli_refuse(check, "type", type, "", "must lock no rotation: body \"%s\" is a point mass",
                  point->name);
  }
  if (joint->axes) poli_joint_axes_rules(check, joint, placed);
}

void poli_joint_rules(poli_rules *check, const pol_joint *joint)
{
  int bodies[2];
  poli_name_rules(check, joint->name);
  const int placed = check_markers(check, joint->marker, bodies);
  check_joint_type(check, joint, bodies, placed);
}

/* What a type of joint needs to know beside its point. */
typedef enum axis_use { NO_POINT, AXIS_REQUIRED, AXIS_OPTIONAL, AXIS_FORBIDDEN, TWO_AXES } axis_use;

static const axis_use axis_uses[] = {
    [POL_FIXED] = AXIS_OPTIONAL,         [POL_REVOLUTE] = AXIS_REQUIRED,
    [POL_PRISMATIC] = AXIS_REQUIRED,     [POL_CYLINDRICAL] = AXIS_REQUIRED,
    [POL_SPHERICAL] = AXIS_FORBIDDEN,    [POL_UNIVERSAL] = TWO_AXES,
    [POL_PLANAR] = AXIS_REQUIRED,        [POL_DISTANCE] = NO_POINT,
    [POL_POINT_ON_LINE] = AXIS_REQUIRED, [POL_POINT_IN_PLANE] = AXIS_REQUIRED,
    [POL_PARALLEL] = AXIS_REQUIRED,      [POL_CONSTANT_VELOCITY] = AXIS_REQUIRED,
    [POL_GENERIC] = AXIS_OPTIONAL,       [POL_ROLLING_SPHERE] = NO_POINT,
    [POL_ROLLING_DISK] = NO_POINT,
};

/* The axes of a universal joint, or the one of another type. */
static void check_axis(poli_rules *check, pol_joint_type type, const double *axis)
{
  const axis_use use = axis_uses[type];
  const int before = check->broken, count = use == TWO_AXES ? 2 : 1;
  double size[2] = {0.0, 0.0};
  if (!axis && use == AXIS_REQUIRED)
    poli_refuse(check, "axis", "", "", "is required: this type of joint needs it");
  if (!axis && use == TWO_AXES)
    poli_refuse(check, "axes", "", "", "is required: a universal joint needs two");
  if (!axis) return;
  if (use == AXIS_FORBIDDEN) {
    poli_refuse(check, "axis", "", "", "must not be given: a spherical joint has no axis");
    return;
  }
  for (int i = 0; i < count; i++) {
    const int so_far = check->broken;
    char field[48];
    snprintf(field, sizeof field, count == 2 ? "axes[%d]" : "axis", i);
    poli_vector_rules(check, field, axis + 3 * i, 3);
    for (int j = 0; j < 3; j++) size[i] = fmax(size[i], fabs(axis[3 * i + j]));
    if (size[i] == 0.0 && check->broken == so_far)
      poli_refuse(check, field, "[0, 0, 0]", "", "must not be all zero");
  }
  if (use != TWO_AXES || check->broken > before) return;
  double cosine = 0.0, square[2] = {0.0, 0.0};
  for (int j = 0; j < 3; j++) {
    const double a = axis[j] / size[0], b = axis[3 + j] / size[1];
    cosine += a * b;
    square[0] += a * a;
    square[1] += b * b;
  }
  if (fabs(cosine) > unit_tolerance * sqrt(square[0] * square[1]))
    poli_refuse(check, "axes", "", "", "must be perpendicular to each other");
}

void poli_joint_at_rules(poli_rules *check, const pol_joint *joint, const int bodies[2],
                         const double point[3], const double *axis)
{
  const pol_mechanism *mechanism = check->mechanism;
  const char *type = pol_joint_type_name(joint->type);
  poli_name_rules(check, joint->name);
  if (type && axis_uses[joint->type] == NO_POINT) {
    poli_refuse(check, "marker", "", "", "is required: a %s joint connects two markers", type);
    return;
  }
  check_bodies(check, bodies);
  const int before = check->broken;
  check_joint_type(check, joint, bodies, 0);
  if (type) check_axis(check, joint->type, axis);
  const int fits = check->broken == before;
  poli_vector_rules(check, "point", point, 3);
  for (int i = 0; i < 2 && fits; i++) {
    const pol_body *mass = point_mass(mechanism, bodies[i]);
    double apart = 0.0, size = 0.0;
    for (int j = 0; j < 3 && mass; j++) {
      apart += (point[j] - mass->position[j]) * (point[j] - mass->position[j]);
      size += point[j] * point[j] + mass->position[j] * mass->position[j];
    }
    if (mass && !(apart <= 1e-18 * size))
      poli_refuse(check, "point", "", "", "must be the position of the point mass \"%s\"",
                  mass->name);
  }
}

/* --- coordinates of joints -------------------------------------------------------------------- */

/* A joint that exists and has a type; else what is wrong with it is reported at the field. */
static const pol_joint *check_joint_index(poli_rules *check, const char *field, int index)
{
  if (index < 0 || index >= pol_mechanism_num_joints(check->mechanism)) {
    refuse_int(check, field, index, "must be the index of a joint");
    return NULL;
  }
  const pol_joint *joint = pol_mechanism_joint(check->mechanism, index);
  return pol_joint_type_name(joint->type) && (joint->type != POL_GENERIC || joint->locked) ? joint
                                                                                           : NULL;
}

/* A coordinate that a joint does not have: which does it have? */
static void refuse_coordinate(poli_rules *check, const pol_joint *joint, const char *value)
{
  const int count = pol_joint_num_coordinates(joint), generic = joint->type == POL_GENERIC;
  const char *type = pol_joint_type_name(joint->type);
  char known[128] = "";
  if (count == 0) {
    poli_refuse(check, "joint", "", "",
                "must be a joint with an angle or a displacement: %s %s joint has none",
                generic ? "this" : "a", type);
    return;
  }
  for (int i = 0, used = 0; i < count; i++)
    used += snprintf(known + used, sizeof known - (size_t)used, "%s\"%s\"",
                     i == 0           ? ""
                     : i == count - 1 ? " or "
                                      : ", ",
                     pol_joint_coordinate(joint, i)->key);
  poli_refuse(check, "coordinate", value, "", "must be %s: %s of %s %s joint", known,
              count == 1 ? "the only coordinate" : "the coordinates", generic ? "this" : "a", type);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* A body that a force acts on: it moves, and a point mass takes no torque. */
static void check_acting(poli_rules *check, const pol_force *force)
{
  const double *p = force->point;
  if (force->body == POL_GROUND) {
    poli_refuse(check, "body", "ground", "", "must not be the ground, which does not move");
    return;
  }
  if (force->body < 0 || !body_exists(check->mechanism, force->body)) {
    refuse_int(check, "body", force->body, "must be the index of a body");
    return;
  }
  const pol_body *mass = point_mass(check->mechanism, force->body);
  if (!mass) return;
  if (force->type == POL_APPLIED_TORQUE) {
    poli_refuse(check, "body", mass->name, "",
                "must be a rigid body: no torque can act on a point mass");
    return;
  }
  if (p[0] != 0.0 || p[1] != 0.0 || p[2] != 0.0)
    poli_refuse(check, "point", "", "", "must be zero: the body is a point mass");
  if (force->frame == POL_BODY_AXES)
    poli_refuse(check, "frame", pol_force_frame_name(force->frame), "",
                "must be \"global\": the body is a point mass");
}

/* A matrix of a section: symmetric without a negative eigenvalue, to round-off; by elimination
 * without pivoting, where a pivot of zero needs a row of zeros. */
static void check_section_matrix(poli_rules *check, const char *field, const double matrix[36])
{
  double A[36], largest = 0.0;
  int broken = 0, asymmetric = 0;
  poli_number_rules(check, field, matrix, 36, POLI_ANY_NUMBER);
  for (int i = 0; i < 36; i++) {
    A[i] = matrix[i];
    largest = fmax(largest, fabs(A[i]));
  }
  if (!isfinite(largest)) return;
  for (int k = 0; k < 6; k++)
    for (int i = 0; i < k; i++) {
      const double scale = sqrt(fabs(matrix[7 * i]) * fabs(matrix[7 * k]));
      asymmetric |= fabs(matrix[6 * i + k] - matrix[6 * k + i]) > 1e-9 * scale;
    }
  for (int k = 0; k < 6 && !asymmetric; k++) {
    const double pivot = A[7 * k], floor = 1e-12 * fabs(matrix[7 * k]);
    broken |= matrix[7 * k] < 0.0 || pivot < -floor;
    for (int i = k + 1; i < 6; i++) {
      const double entry = A[6 * i + k];
      if (pivot <= floor) {
        broken |= fabs(entry) > 1e-9 * sqrt(fabs(matrix[7 * i] * matrix[7 * k]));
        continue;
      }
      for (int j = k + 1; j < 6; j++) A[6 * i + j] -= entry / pivot * A[6 * k + j];
    }
  }
  if (asymmetric) poli_refuse(check, field, "", "", "must be symmetric");
  if (broken) poli_refuse(check, field, "", "", "must not have negative eigenvalues");
}

/* The markers, bodies or joint that its type needs. */
static void check_ends(poli_rules *check, const pol_force *force)
{
  int bodies[2];
  char value[16], field[48];
  if (force->type == POL_SPRING_DAMPER) {
    double point[2][3], d[3];
    if (!check_markers(check, force->marker, bodies)) return;
    for (int i = 0; i < 2; i++)
      pol_mechanism_marker_point(check->mechanism, force->marker[i], point[i]);
    poli_v3_subtract(point[1], point[0], d);
    const double size = poli_v3_dot(point[0], point[0]) + poli_v3_dot(point[1], point[1]);
    if (!(poli_v3_dot(d, d) > 1e-24 * size)) /* further from each other than round-off */
      poli_refuse(check, "", "", "",
                  "must have distinct end points, which define the direction of a spring-damper");
  } else if (force->type == POL_BUSHING || force->type == POL_BEAM) {
    check_markers(check, force->marker, bodies);
    for (int i = 0; i < 2; i++)
      if (point_mass(check->mechanism, bodies[i]))
        poli_refuse(check, item("marker", i, field), "", "",
                    "must be on a rigid body: a point mass does not rotate");
  } else if (force->type == POL_JOINT_SPRING) {
    const pol_joint *joint = check_joint_index(check, "joint", force->joint);
    snprintf(value, sizeof value, "%d", force->coordinate);
    if (joint && !pol_joint_coordinate(joint, force->coordinate))
      refuse_coordinate(check, joint, value);
  } else if (force->type == POL_CALLBACK_FORCE) {
    check_bodies(check, force->bodies);
    if (!force->callback.wrench) poli_refuse(check, "callback.wrench", "", "", "is required");
  } else {
    check_acting(check, force);
  }
}

void poli_force_rules(poli_rules *check, const pol_force *force, pol_function *scale)
{
  const char *type = pol_force_type_name(force->type);
  poli_name_rules(check, force->name);
  check_table(check, force, (int)force->type);
  if (!pol_force_frame_name(force->frame))
    refuse_int(check, "frame", (int)force->frame, "must be POL_GLOBAL_AXES or POL_BODY_AXES");
  if (!pol_spring_law_name(force->law))
    refuse_int(check, "law", (int)force->law, "must be POL_LINEAR_SPRING or POL_SQUARED_SPRING");
  if (force->scale) poli_function_copy(check, "scale", force->scale, scale);
  if (!type) {
    refuse_int(check, "type", (int)force->type, "must be a type of force");
    return;
  }
  if (force->type == POL_JOINT_STOP || force->type == POL_JOINT_FRICTION) {
    poli_refuse(check, "type", type, "", "must not be added: set the axes of the joint");
    return;
  }
  for (int i = pol_force_num_expressions(force->type); i < 3; i++) {
    char field[48];
    if (force->expressions[i])
      poli_refuse(check, item("expressions", i, field), force->expressions[i], "",
                  "must not be given: a force of type %s has %s", type,
                  pol_force_num_expressions(force->type) ? "one expression" : "no expressions");
  }
  if (force->type == POL_BEAM) {
    if (!(force->length > 0.0)) poli_refuse(check, "length", "", "", "must be a positive number");
    if (!pol_beam_strain_name(force->strain))
      refuse_int(check, "strain", (int)force->strain,
                 "must be POL_BEAM_SE3, POL_BEAM_SO3XR3 or POL_BEAM_DIRECTORS");
    if (!force->section) {
      poli_refuse(check, "section", "", "", "is required");
    } else {
      const int before = check->broken;
      check_section_matrix(check, "section.stiffness", force->section->stiffness);
      /* damping is most often a multiple of the stiffness, with the same errors */
      if (check->broken == before)
        check_section_matrix(check, "section.damping", force->section->damping);
      poli_number_rules(check, "section.strain", force->section->strain, 6, POLI_ANY_NUMBER);
    }
  }
  check_ends(check, force);
}

/* --- drives and couplings --------------------------------------------------------------------- */

/* Two markers that exist and are the same one or stand in the same place of a body. */
static int same_marker(const pol_mechanism *mechanism, int a, int b)
{
  if (a == b) return 1;
  if (body_of(mechanism, a) == POL_NOT_FOUND || body_of(mechanism, b) == POL_NOT_FOUND) return 0;
  const pol_marker *first = pol_mechanism_marker(mechanism, a);
  const pol_marker *second = pol_mechanism_marker(mechanism, b);
  return first->body == second->body &&
         memcmp(first->position, second->position, sizeof first->position) == 0 &&
         memcmp(first->rotation, second->rotation, sizeof first->rotation) == 0;
}

void poli_drive_rules(poli_rules *check, const pol_drive *drive, pol_function *function)
{
  const pol_mechanism *mechanism = check->mechanism;
  const int by_marker = drive->joint == POL_NO_JOINT;
  const char *coordinate = pol_coordinate_name(drive->coordinate);
  poli_name_rules(check, drive->name);
  poli_function_copy(check, "function", &drive->function, function);
  const pol_joint *joint = by_marker ? NULL : check_joint_index(check, "joint", drive->joint);
  if (!coordinate) {
    refuse_int(check, "coordinate", (int)drive->coordinate,
               "must be a coordinate, such as POL_DRIVE_ROTATION");
    return;
  }
  if (by_marker) { /* x, y or z of a marker, seen from one of another body */
    int body[2];
    if (drive->coordinate < POL_DRIVE_X || drive->coordinate > POL_DRIVE_Z)
      poli_refuse(check, "coordinate", coordinate, "",
                  "must be \"x\", \"y\" or \"z\": those of a marker");
    find_markers(check, drive->marker, body);
    if (body[0] == POL_GROUND && body[1] == POL_GROUND)
      poli_refuse(check, "marker[1]", "", "", "must be on a body: the ground does not move");
    else if (body[0] != POL_NOT_FOUND && body[0] == body[1])
      poli_refuse(check, "marker[1]", "", "", "must not be on the same body as its reference");
  } else if (joint && !pol_joint_has_coordinate(joint, drive->coordinate)) {
    refuse_coordinate(check, joint, coordinate);
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *other = pol_mechanism_drive(mechanism, i);
    if (other->coordinate != drive->coordinate || other->joint != drive->joint ||
        (by_marker ? !same_marker(mechanism, other->marker[0], drive->marker[0]) ||
                         !same_marker(mechanism, other->marker[1], drive->marker[1])
                   : drive->joint < 0))
      continue;
    poli_refuse(check, "coordinate", coordinate, "",
                "must not be driven twice: drives[%d] already drives it", i);
    break;
  }
}

void poli_coupling_rules(poli_rules *check, const pol_coupling *coupling)
{
  int known = 0;
  poli_name_rules(check, coupling->name);
  check_table(check, coupling, 0);
  for (int i = 0; i < 2; i++) {
    char field[48];
    const char *coordinate = pol_coordinate_name(coupling->coordinate[i]);
    const pol_joint *joint = check_joint_index(check, item("joint", i, field), coupling->joint[i]);
    if (!coordinate) {
      refuse_int(check, item("coordinate", i, field), (int)coupling->coordinate[i],
                 "must be a coordinate, such as POL_DRIVE_ROTATION");
    } else if (joint && !pol_joint_has_coordinate(joint, coupling->coordinate[i])) {
      poli_refuse(check, field, joint->name, "",
                  "must be a joint with a %s to couple: %s %s joint has none", coordinate,
                  joint->type == POL_GENERIC ? "this" : "a", pol_joint_type_name(joint->type));
    } else if (joint) {
      known++;
    }
  }
  if (known == 2 && coupling->joint[0] == coupling->joint[1] &&
      coupling->coordinate[0] == coupling->coordinate[1])
    poli_refuse(check, "joint", "", "", "must not be the same coordinate twice");
}

/* --- variables and states --------------------------------------------------------------------- */

/* What expressions or results call something of their own is no name for a quantity; theirs have
 * dots. */
static void check_quantity(poli_rules *check, const char *name, const char *field,
                           const char *expression, const char *unit)
{
  poli_unit parsed;
  poli_name_rules(check, name);
  if (name && (strcmp(name, "t") == 0 || strcmp(name, "pi") == 0))
    poli_refuse(check, "name", "", "", "must not be \"%s\", a predefined name of expressions",
                name);
  else if (name && strcmp(name, "t_reactions") == 0)
    poli_refuse(check, "name", "", "", "must not be \"%s\", which is the name of a result column",
                name);
  else if (name && strchr(name, '.'))
    poli_refuse(check, "name", name, "", "must not have a dot, as the names of result columns do");
  if (!expression) poli_refuse(check, field, "", "", "is required");
  if (unit && !poli_unit_parse(unit, &parsed)) poli_refuse(check, "unit", unit, "", POLI_UNIT_RULE);
}

void poli_variable_rules(poli_rules *check, const pol_variable *variable)
{
  check_quantity(check, variable->name, "expression", variable->expression, variable->unit);
}

void poli_state_rules(poli_rules *check, const pol_state_variable *state)
{
  check_quantity(check, state->name, "rate", state->rate, state->unit);
  check_table(check, state, 0);
}
