/* The mechanism as plain data: growing arrays of its elements.  What is stored here was checked
 * (rules.c) when it was added; every other room may rely on it.
 *
 * A joint that is given by a point gets two markers there, which coincide at the initial position.
 * Their axes are those of the first body, or follow from the joint's axis: z is turned into it by
 * the smallest rotation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/mechanism.h>

#include "base/number.h"
#include "lie/small.h"
#include "mechanism/builder.h"
#include "mechanism/flexible.h"
#include "mechanism/function.h"
#include "mechanism/joint_axis.h"

/* --- arrays of elements ----------------------------------------------------------------------- */

/* An array that owns `count` items of `size` bytes, each of which starts with its name.  The table
 * of 2 capacity places finds the first item of a name: place h(name), or the next ones, hold its
 * number + 1; 0 is a free place. */
typedef struct array {
  size_t size;
  int count, capacity;
  void *items;
  int *table;
} array;

struct pol_mechanism {
  double gravity[3];
  array lists[POLI_NUM_ELEMENTS];
  pol_errors errors;
  pol_errors *collected; /* not NULL: errors go there, and what has some is added all the same */
  pol_status status;     /* POL_NO_MEMORY if an element is missing for that reason */
};

static const size_t sizes[] = {
    [POLI_BODIES] = sizeof(pol_body),        [POLI_MARKERS] = sizeof(pol_marker),
    [POLI_JOINTS] = sizeof(pol_joint),       [POLI_FORCES] = sizeof(pol_force),
    [POLI_DRIVES] = sizeof(pol_drive),       [POLI_COUPLINGS] = sizeof(pol_coupling),
    [POLI_VARIABLES] = sizeof(pol_variable), [POLI_STATES] = sizeof(pol_state_variable),
};

static char *name_of(const array *a, int index)
{
  char *name;
  memcpy(&name, (const char *)a->items + (size_t)index * a->size, sizeof name);
  return name;
}

/* The place of a name in the table, a free one if it has none (FNV-1a, linear probing). */
static int *place_of(const array *a, const char *name)
{
  const size_t places = 2 * (size_t)a->capacity;
  size_t h = 14695981039346656037u;
  for (const char *c = name; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
  for (h %= places; a->table[h] != 0; h = (h + 1) % places)
    if (strcmp(name_of(a, a->table[h] - 1), name) == 0) break;
  return &a->table[h];
}

/* Enters an item into the table unless an earlier one has its name. */
static void enter(array *a, int index)
{
  int *place = place_of(a, name_of(a, index));
  if (*place == 0) *place = index + 1;
}

static pol_status make_room(array *a)
{
  const int capacity = a->capacity ? 2 * a->capacity : 8;
  int *table = calloc(2 * (size_t)capacity, sizeof *table);
  void *items = table ? realloc(a->items, (size_t)capacity * a->size) : NULL;
  if (items) a->items = items;
  if (!table || !items) {
    free(table);
    return POL_NO_MEMORY;
  }
  free(a->table);
  a->table = table;
  a->capacity = capacity;
  for (int i = 0; i < a->count; i++) enter(a, i);
  return POL_OK;
}

/* Replaces texts, of which some may be NULL, by copies; all by NULL if there is no memory. */
static pol_status copy_texts(const char **texts, int count)
{
  char *copies[3];
  for (int i = 0; i < count; i++) {
    copies[i] = texts[i] ? malloc(strlen(texts[i]) + 1) : NULL;
    if (copies[i]) strcpy(copies[i], texts[i]);
    if (!texts[i] || copies[i]) continue;
    while (i-- > 0) free(copies[i]);
    memset(texts, 0, (size_t)count * sizeof *texts);
    return POL_NO_MEMORY;
  }
  for (int i = 0; i < count; i++) texts[i] = copies[i];
  return POL_OK;
}

/* Frees what an element owns beside its name: the texts of expressions, its function, or the data
 * of a flexible body, which its reference frame owns. */
static void release_body(void *item)
{
  const pol_body *body = item;
  if (body->interface == 0) free((void *)body->flexible);
}

static void release_joint(void *item)
{
  free((void *)((pol_joint *)item)->axes);
}

static void release_force(void *item)
{
  pol_force *force = item;
  pol_function *scale = (pol_function *)force->scale;
  for (int i = 0; i < 3; i++) free((void *)force->expressions[i]);
  if (scale) poli_function_release(scale);
  free(scale);
  free((void *)force->section);
}

static void release_drive(void *item)
{
  poli_function_release(&((pol_drive *)item)->function);
}

static void release_variable(void *item)
{
  free((void *)((pol_variable *)item)->expression);
  free((void *)((pol_variable *)item)->unit);
}

static void release_state(void *item)
{
  free((void *)((pol_state_variable *)item)->rate);
  free((void *)((pol_state_variable *)item)->unit);
}

static void release(poli_element element, void *item)
{
  static void (*const functions[POLI_NUM_ELEMENTS])(void *) = {
      [POLI_BODIES] = release_body,        [POLI_JOINTS] = release_joint,
      [POLI_FORCES] = release_force,       [POLI_DRIVES] = release_drive,
      [POLI_VARIABLES] = release_variable, [POLI_STATES] = release_state,
  };
  if (functions[element]) functions[element](item);
}

/* Ends an addition: the checked element is appended with a copy of its name, or refused and what it
 * owns is released. */
static pol_status append(pol_mechanism *m, const poli_rules *check, void *item, int *index)
{
  array *a = &m->lists[check->element];
  pol_status status = check->status;
  const char *name = check->name ? check->name : "";
  if (index) *index = POL_NOT_FOUND;
  if (!status && check->broken && !m->collected) status = POL_BAD_ARGUMENT;
  if (!status && a->count == a->capacity) status = make_room(a);
  if (!status) status = copy_texts(&name, 1);
  if (status) {
    release(check->element, item);
    if (status == POL_NO_MEMORY) m->status = status;
    return status;
  }
  char *slot = (char *)a->items + (size_t)a->count * a->size;
  memcpy(slot, item, a->size);
  memcpy(slot, &name, sizeof name);
  enter(a, a->count);
  if (index) *index = a->count;
  a->count++;
  return check->broken ? POL_BAD_ARGUMENT : POL_OK;
}

static poli_rules start_check(pol_mechanism *mechanism, poli_element element, const char *name)
{
  return (poli_rules){.mechanism = mechanism,
                      .element = element,
                      .name = name,
                      .inside = "",
                      .errors = mechanism->collected ? mechanism->collected : &mechanism->errors,
                      .relative = mechanism->collected != NULL};
}

pol_status poli_mechanism_refuse_force(pol_mechanism *mechanism, const char *name,
                                       const char *field, const char *rule)
{
  poli_rules check = start_check(mechanism, POLI_FORCES, name);
  poli_refuse(&check, field, "", "", "%s", rule);
  if (check.status) mechanism->status = check.status;
  return check.status ? check.status : POL_BAD_ARGUMENT;
}

/* An argument that is NULL: the element itself, or the point of the one with this name. */
static pol_status refuse_null(pol_mechanism *mechanism, poli_element element, const char *name,
                              const char *part, int *index)
{
  poli_rules check = start_check(mechanism, element, name);
  if (index) *index = POL_NOT_FOUND;
  poli_refuse(&check, part, "", "", "must not be NULL");
  if (check.status) mechanism->status = check.status;
  return check.status ? check.status : POL_BAD_ARGUMENT;
}

/* --- life cycle ------------------------------------------------------------------------------- */

pol_status pol_mechanism_create(pol_mechanism **mechanism)
{
  *mechanism = calloc(1, sizeof **mechanism);
  for (int k = 0; *mechanism && k < POLI_NUM_ELEMENTS; k++) (*mechanism)->lists[k].size = sizes[k];
  return *mechanism ? POL_OK : POL_NO_MEMORY;
}

void pol_mechanism_free(pol_mechanism **mechanism)
{
  pol_mechanism *m = *mechanism;
  if (!m) return;
  for (int k = 0; k < POLI_NUM_ELEMENTS; k++) {
    array *a = &m->lists[k];
    for (int i = 0; i < a->count; i++) {
      release((poli_element)k, (char *)a->items + (size_t)i * a->size);
      free(name_of(a, i));
    }
    free(a->items);
    free(a->table);
  }
  pol_errors_clear(&m->errors);
  free(m);
  *mechanism = NULL;
}

const pol_errors *pol_mechanism_errors(const pol_mechanism *mechanism)
{
  return &mechanism->errors;
}

void pol_mechanism_clear_errors(pol_mechanism *mechanism)
{
  pol_errors_clear(&mechanism->errors);
  mechanism->status = POL_OK;
}

pol_status poli_mechanism_status(const pol_mechanism *mechanism)
{
  return mechanism->errors.count > 0 ? POL_BAD_ARGUMENT : mechanism->status;
}

void poli_mechanism_collect(pol_mechanism *mechanism, pol_errors *errors)
{
  mechanism->collected = errors;
}

void pol_mechanism_set_gravity(pol_mechanism *mechanism, const double gravity[3])
{
  const int valid = gravity && isfinite(gravity[0]) && isfinite(gravity[1]) && isfinite(gravity[2]);
  if (!valid &&
      pol_errors_add(&mechanism->errors, "gravity", "", "must be three finite numbers", ""))
    mechanism->status = POL_NO_MEMORY;
  if (gravity) poli_v3_copy(gravity, mechanism->gravity);
}

void pol_mechanism_gravity(const pol_mechanism *mechanism, double gravity[3])
{
  poli_v3_copy(mechanism->gravity, gravity);
}

/* --- defaults --------------------------------------------------------------------------------- */

pol_body pol_body_default(void)
{
  return (pol_body){
      .mass = 1.0, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .rotation = {1.0, 0.0, 0.0, 0.0}};
}

pol_marker pol_marker_default(void)
{
  return (pol_marker){.name = "", .body = POL_GROUND, .rotation = {1.0, 0.0, 0.0, 0.0}};
}

pol_joint pol_joint_default(void)
{
  return (pol_joint){.type = POL_FIXED, .marker = {POL_NOT_FOUND, POL_NOT_FOUND}};
}

pol_force pol_force_default(void)
{
  return (pol_force){.type = POL_APPLIED_FORCE,
                     .body = POL_NOT_FOUND,
                     .marker = {POL_NOT_FOUND, POL_NOT_FOUND},
                     .joint = POL_NOT_FOUND,
                     .bodies = {POL_NOT_FOUND, POL_NOT_FOUND}};
}

pol_function pol_function_default(void)
{
  return (pol_function){.type = POL_CONSTANT, .t1 = 1.0};
}

pol_drive pol_drive_default(void)
{
  return (pol_drive){.joint = POL_NOT_FOUND,
                     .marker = {POL_NOT_FOUND, POL_NOT_FOUND},
                     .function = {.type = POL_CONSTANT, .t1 = 1.0}};
}

pol_coupling pol_coupling_default(void)
{
  return (pol_coupling){.joint = {POL_NOT_FOUND, POL_NOT_FOUND}, .factor = {1.0, -1.0}};
}

/* --- adding elements -------------------------------------------------------------------------- */

pol_status pol_mechanism_add_body(pol_mechanism *mechanism, const pol_body *body, int *index)
{
  if (!body) return refuse_null(mechanism, POLI_BODIES, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_BODIES, body->name);
  pol_body copy = *body;
  poli_body_rules(&check, body);
  copy.flexible = NULL;
  copy.interface = 0;
  if (body->point) {
    /* no inertia and no rotation, so that all that is computed with them vanishes */
    const pol_body plain = pol_body_default();
    copy.point = 1;
    memset(copy.inertia, 0, sizeof copy.inertia);
    memcpy(copy.rotation, plain.rotation, sizeof copy.rotation);
    memset(copy.angular_velocity, 0, sizeof copy.angular_velocity);
    copy.given &= (unsigned)POL_GIVEN_VELOCITY;
  }
  for (int i = 1; i < 3; i++)
    for (int j = 0; j < i; j++)
      copy.inertia[3 * i + j] = copy.inertia[3 * j + i] =
          0.5 * copy.inertia[3 * i + j] + 0.5 * copy.inertia[3 * j + i];
  pol_quat_normalize(copy.rotation);
  return append(mechanism, &check, &copy, index);
}

/* The frames of its interfaces follow that of the body, which owns the copy. */
pol_status pol_mechanism_add_flexible_body(pol_mechanism *mechanism, const pol_flexible_body *body,
                                           int *index)
{
  if (!body) return refuse_null(mechanism, POLI_BODIES, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_BODIES, body->name);
  poli_flexible_rules(&check, body);
  pol_body frame = pol_body_default();
  const pol_flexible_body *copy = NULL;
  if (!check.broken && !check.status) {
    copy = poli_flexible_copy(body);
    if (!copy) check.status = POL_NO_MEMORY;
    if (copy) frame = poli_flexible_frame(copy, 0);
  }
  pol_status status = append(mechanism, &check, &frame, index);
  /* while errors are collected, an invalid body has its frames too, so that others find them */
  const int added = status == POL_OK || (status == POL_BAD_ARGUMENT && mechanism->collected);
  pol_status of_frames = POL_OK;
  for (int k = 0; added && body->interfaces && k < body->num_interfaces && !of_frames; k++) {
    if (!body->name || !body->interfaces[k].name) continue;
    char *name = poli_interface_name(body, k);
    poli_rules made = start_check(mechanism, POLI_BODIES, name);
    if (!name) made.status = POL_NO_MEMORY;
    if (copy) frame = poli_flexible_frame(copy, k + 1);
    of_frames = append(mechanism, &made, &frame, NULL);
    free(name);
  }
  return of_frames ? of_frames : status;
}

pol_status pol_mechanism_add_marker(pol_mechanism *mechanism, const pol_marker *marker, int *index)
{
  if (!marker) return refuse_null(mechanism, POLI_MARKERS, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_MARKERS, marker->name);
  pol_marker copy = *marker;
  poli_marker_rules(&check, marker);
  pol_quat_normalize(copy.rotation);
  return append(mechanism, &check, &copy, index);
}

/* The marker of a body, which exists, at a global point; q: its global orientation, or NULL for
 * that of the body.  position = R^T (point - x), rotation = R^T q, with R, x of the body. */
static void place_marker(const pol_mechanism *mechanism, const double point[3], const double *q,
                         pol_marker *marker)
{
  static const pol_body ground = {.rotation = {1.0, 0.0, 0.0, 0.0}};
  const pol_body *b =
      marker->body == POL_GROUND ? &ground : pol_mechanism_body(mechanism, marker->body);
  double R[9], arm[3], inverse[4];
  pol_quat_to_matrix(b->rotation, R);
  poli_v3_subtract(point, b->position, arm);
  poli_m3_apply_transposed(R, arm, marker->position);
  if (b->point && poli_v3_dot(arm, arm) <=
                      1e-18 * (poli_v3_dot(point, point) + poli_v3_dot(b->position, b->position)))
    memset(marker->position, 0, sizeof marker->position);
  pol_quat_conjugate(b->rotation, inverse);
  if (marker->body == POL_GROUND) poli_v3_copy(point, marker->position);
  if (q && marker->body == POL_GROUND)
    memcpy(marker->rotation, q, sizeof marker->rotation);
  else if (q)
    pol_quat_multiply(inverse, q, marker->rotation);
}

/* Whether a body has a position and a rotation; one that has errors of its own may have none. */
static int is_placed(const pol_mechanism *mechanism, int index)
{
  if (index == POL_GROUND) return 1;
  const pol_body *body = pol_mechanism_body(mechanism, index);
  int finite = 1;
  for (int i = 0; i < 3; i++) finite = finite && isfinite(body->position[i]);
  const double *q = body->rotation;
  return finite && fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) < 0.5;
}

pol_status pol_mechanism_add_marker_at(pol_mechanism *mechanism, const char *name, int body,
                                       const double point[3], const double rotation[4], int *index)
{
  if (!point) return refuse_null(mechanism, POLI_MARKERS, name, "point", index);
  pol_marker marker = pol_marker_default();
  marker.name = name;
  marker.body = body;
  if (body >= POL_GROUND && body < pol_mechanism_num_bodies(mechanism) &&
      is_placed(mechanism, body))
    place_marker(mechanism, point, rotation, &marker);
  return pol_mechanism_add_marker(mechanism, &marker, index);
}

/* Adds a checked joint with a copy of its axes, and the force elements that these make. */
static pol_status append_joint(pol_mechanism *m, poli_rules *check, pol_joint *joint, int *index)
{
  const int count = joint->axes && !check->broken ? pol_joint_num_coordinates(joint) : 0;
  pol_joint_axis *axes = count > 0 ? malloc((size_t)count * sizeof *axes) : NULL;
  if (axes) memcpy(axes, joint->axes, (size_t)count * sizeof *axes);
  if (count > 0 && !axes) check->status = POL_NO_MEMORY;
  joint->axes = axes;
  int number;
  pol_status status = append(m, check, joint, &number);
  if (index) *index = number;
  for (int i = 0; i < count * POLI_AXIS_ELEMENTS && !status; i++) {
    const int coordinate = i / POLI_AXIS_ELEMENTS, element = i % POLI_AXIS_ELEMENTS;
    const pol_coordinate_info *info = pol_joint_coordinate(joint, coordinate);
    pol_force force;
    if (!poli_joint_axis_force(m, number, coordinate, element, &force)) continue;
    char *name = poli_format("%s.%s%s%s", check->name, poli_joint_axis_name(element),
                             count > 1 ? "." : "", count > 1 ? info->key : "");
    poli_rules made = start_check(m, POLI_FORCES, name);
    if (!name) made.status = POL_NO_MEMORY;
    status = append(m, &made, &force, NULL);
    free(name);
  }
  return status;
}

pol_status pol_mechanism_add_joint(pol_mechanism *mechanism, const pol_joint *joint, int *index)
{
  if (!joint) return refuse_null(mechanism, POLI_JOINTS, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_JOINTS, joint->name);
  pol_joint copy = *joint;
  poli_joint_rules(&check, joint);
  return append_joint(mechanism, &check, &copy, index);
}

/* Divides by the largest component first, so that no square overflows or underflows. */
int poli_normalize(double v[3])
{
  const double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
  if (largest == 0.0) return 0;
  for (int i = 0; i < 3; i++) v[i] /= largest;
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int i = 0; i < 3; i++) v[i] /= length;
  return 1;
}

/* (1 + z.a, z x a), normalised. */
void poli_turn_z_to(const double a[3], double q[4])
{
  /* 1 + a_z without cancellation; straight down, any half turn about a horizontal axis does */
  const double across = a[0] * a[0] + a[1] * a[1];
  const double w = a[2] < 0.0 ? across / (1.0 - a[2]) : 1.0 + a[2];
  const double half_turn[4] = {0.0, 1.0, 0.0, 0.0};
  const double turn[4] = {w, -a[1], a[0], 0.0};
  memcpy(q, w == 0.0 ? half_turn : turn, sizeof turn);
  pol_quat_normalize(q);
}

pol_status pol_mechanism_add_joint_at(pol_mechanism *mechanism, const pol_joint *joint, int body_a,
                                      int body_b, const double point[3], const double *axis,
                                      int *index)
{
  if (!joint) return refuse_null(mechanism, POLI_JOINTS, NULL, "the pointer", index);
  if (!point) return refuse_null(mechanism, POLI_JOINTS, joint->name, "point", index);
  poli_rules check = start_check(mechanism, POLI_JOINTS, joint->name);
  const int bodies[2] = {body_a, body_b};
  pol_joint copy = *joint;
  pol_marker marker[2];
  double q[4] = {1.0, 0.0, 0.0, 0.0};
  poli_joint_at_rules(&check, joint, bodies, point, axis);
  copy.marker[0] = copy.marker[1] = POL_NOT_FOUND;
  if (check.broken || check.status) return append_joint(mechanism, &check, &copy, index);

  /* the global orientation of both markers */
  if (axis) {
    double x[3], y[3], z[3];
    poli_v3_copy(axis, x);
    poli_normalize(x);
    if (joint->type == POL_UNIVERSAL) {
      /* x along the first direction, y along the second, made exactly perpendicular */
      poli_v3_copy(axis + 3, y);
      poli_normalize(y);
      poli_v3_add_scaled(-poli_v3_dot(x, y), x, y);
      poli_v3_scale(1.0 / sqrt(poli_v3_dot(y, y)), y, y);
      poli_v3_cross(x, y, z);
      const double R[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
      pol_quat_from_matrix(R, q);
    } else {
      poli_turn_z_to(x, q);
    }
  } else if (body_a != POL_GROUND && is_placed(mechanism, body_a)) {
    memcpy(q, pol_mechanism_body(mechanism, body_a)->rotation, sizeof q);
  }
  for (int i = 0; i < 2; i++) {
    marker[i] = pol_marker_default();
    marker[i].body = bodies[i];
    /* the first body's own axes need no rounding */
    if (!is_placed(mechanism, bodies[i])) continue; /* that body's errors are reported */
    place_marker(mechanism, point, i == 0 && !axis ? NULL : q, &marker[i]);
    for (int j = 0; j < 3; j++) {
      if (isfinite(marker[i].position[j])) continue;
      poli_refuse(&check, "point", "", "", "must be closer to the body: numbers overflow");
      return append_joint(mechanism, &check, &copy, index);
    }
  }
  pol_status status = POL_OK;
  for (int i = 0; i < 2 && !status; i++)
    status = pol_mechanism_add_marker(mechanism, &marker[i], &copy.marker[i]);
  if (status && !check.status) check.status = status;
  return append_joint(mechanism, &check, &copy, index);
}

double pol_mechanism_force_scale(const pol_mechanism *mechanism, int force, double t)
{
  const pol_function *scale = pol_mechanism_force(mechanism, force)->scale;
  double value[3] = {1.0};
  if (scale != NULL) poli_function_value(scale, t, value);
  return value[0];
}

void pol_mechanism_marker_point(const pol_mechanism *mechanism, int index, double point[3])
{
  const pol_marker *marker = pol_mechanism_marker(mechanism, index);
  double R[9], arm[3];
  if (marker->body == POL_GROUND) {
    poli_v3_copy(marker->position, point);
    return;
  }
  const pol_body *body = pol_mechanism_body(mechanism, marker->body);
  pol_quat_to_matrix(body->rotation, R);
  poli_m3_apply(R, marker->position, arm);
  poli_v3_add(body->position, arm, point);
}

pol_status pol_mechanism_add_force(pol_mechanism *mechanism, const pol_force *force, int *index)
{
  if (!force) return refuse_null(mechanism, POLI_FORCES, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_FORCES, force->name);
  pol_force copy = *force;
  pol_function *scale = NULL;
  if (force->scale) {
    scale = malloc(sizeof *scale);
    if (!scale) check.status = POL_NO_MEMORY;
  }
  if (force->type == POL_BEAM && force->section) {
    pol_section *section = malloc(sizeof *section);
    if (section)
      *section = *force->section;
    else
      check.status = POL_NO_MEMORY;
    copy.section = section;
  } else {
    copy.section = NULL;
  }
  if (!check.status) poli_force_rules(&check, force, scale);
  copy.scale = scale;
  if (copy_texts(copy.expressions, 3)) check.status = POL_NO_MEMORY;
  return append(mechanism, &check, &copy, index);
}

pol_status pol_mechanism_add_variable(pol_mechanism *mechanism, const pol_variable *variable,
                                      int *index)
{
  if (!variable) return refuse_null(mechanism, POLI_VARIABLES, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_VARIABLES, variable->name);
  pol_variable copy = *variable;
  poli_variable_rules(&check, variable);
  const char *texts[] = {variable->expression, variable->unit};
  if (copy_texts(texts, 2)) check.status = POL_NO_MEMORY;
  copy.expression = texts[0];
  copy.unit = texts[1];
  return append(mechanism, &check, &copy, index);
}

pol_status pol_mechanism_set_input(pol_mechanism *mechanism, int variable, double value)
{
  const array *a = &mechanism->lists[POLI_VARIABLES];
  pol_variable *own = (pol_variable *)a->items + variable;
  if (variable < 0 || variable >= a->count || !own->input || !isfinite(value))
    return POL_BAD_ARGUMENT;
  char text[32];
  poli_number_text(value, text);
  const char *expression = text;
  if (copy_texts(&expression, 1)) return POL_NO_MEMORY;
  free((void *)own->expression);
  own->expression = expression;
  return POL_OK;
}

pol_status pol_mechanism_add_state(pol_mechanism *mechanism, const pol_state_variable *state,
                                   int *index)
{
  if (!state) return refuse_null(mechanism, POLI_STATES, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_STATES, state->name);
  pol_state_variable copy = *state;
  poli_state_rules(&check, state);
  const char *texts[] = {state->rate, state->unit};
  if (copy_texts(texts, 2)) check.status = POL_NO_MEMORY;
  copy.rate = texts[0];
  copy.unit = texts[1];
  return append(mechanism, &check, &copy, index);
}

pol_status pol_mechanism_add_drive(pol_mechanism *mechanism, const pol_drive *drive, int *index)
{
  if (!drive) return refuse_null(mechanism, POLI_DRIVES, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_DRIVES, drive->name);
  pol_drive copy = *drive;
  poli_drive_rules(&check, drive, &copy.function);
  return append(mechanism, &check, &copy, index);
}

pol_status pol_mechanism_add_coupling(pol_mechanism *mechanism, const pol_coupling *coupling,
                                      int *index)
{
  if (!coupling) return refuse_null(mechanism, POLI_COUPLINGS, NULL, "the pointer", index);
  poli_rules check = start_check(mechanism, POLI_COUPLINGS, coupling->name);
  pol_coupling copy = *coupling;
  poli_coupling_rules(&check, coupling);
  return append(mechanism, &check, &copy, index);
}

/* --- reading elements ------------------------------------------------------------------------- */

int poli_mechanism_find(const pol_mechanism *mechanism, poli_element element, const char *name)
{
  const array *a = &mechanism->lists[element];
  if (!name) return POL_NOT_FOUND;
  if (element == POLI_BODIES && strcmp(name, "ground") == 0) return POL_GROUND;
  const int number = a->count > 0 ? *place_of(a, name) : 0;
  return number > 0 ? number - 1 : POL_NOT_FOUND;
}

/* For each kind: how many there are, each by its index, and the index of a name. */
#define READERS(kind, plural, type, element)                                                       \
  int pol_mechanism_num_##plural(const pol_mechanism *mechanism)                                   \
  {                                                                                                \
    return mechanism->lists[element].count;                                                        \
  }                                                                                                \
  const type *pol_mechanism_##kind(const pol_mechanism *mechanism, int index)                      \
  {                                                                                                \
    const array *list = &mechanism->lists[element];                                                \
    return index >= 0 && index < list->count ? (const type *)list->items + index : NULL;           \
  }                                                                                                \
  int pol_mechanism_find_##kind(const pol_mechanism *mechanism, const char *name)                  \
  {                                                                                                \
    return poli_mechanism_find(mechanism, element, name);                                          \
  }

READERS(body, bodies, pol_body, POLI_BODIES)
READERS(marker, markers, pol_marker, POLI_MARKERS)
READERS(joint, joints, pol_joint, POLI_JOINTS)
READERS(force, forces, pol_force, POLI_FORCES)
READERS(drive, drives, pol_drive, POLI_DRIVES)
READERS(coupling, couplings, pol_coupling, POLI_COUPLINGS)
READERS(variable, variables, pol_variable, POLI_VARIABLES)
READERS(state, states, pol_state_variable, POLI_STATES)
