/* The mechanism as plain data: growing arrays of bodies, markers, joints, forces, drives, variables
 * and states, and the rules that each must keep.  What is stored here is checked once; every other
 * room may trust it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/mechanism.h>

#include "lie/small.h"
#include "mechanism/function.h"

/* An array that owns `count` items of `size` bytes, each of which starts with its name.  The table
 * of 2 capacity places finds the last item of a name: place h(name), or the next ones, hold its
 * number + 1; 0 is a free place. */
typedef struct array {
  int count, capacity;
  void *items;
  int *table;
} array;

struct pol_mechanism {
  double gravity[3];
  array bodies;    /* pol_body */
  array markers;   /* pol_marker */
  array joints;    /* pol_joint */
  array forces;    /* pol_force */
  array drives;    /* pol_drive */
  array variables; /* pol_variable */
  array states;    /* pol_state_variable */
  array couplings; /* pol_coupling */
};

static const char *name_of(const array *a, size_t size, int index)
{
  const char *name;
  memcpy(&name, (const char *)a->items + (size_t)index * size, sizeof name);
  return name;
}

/* The place of a name in the table, a free one if it has none (FNV-1a, linear probing). */
static int *place_of(const array *a, size_t size, const char *name)
{
  const size_t places = 2 * (size_t)a->capacity;
  size_t h = 14695981039346656037u;
  for (const char *c = name; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
  for (h %= places; a->table[h] != 0; h = (h + 1) % places)
    if (strcmp(name_of(a, size, a->table[h] - 1), name) == 0) break;
  return &a->table[h];
}

/* The number of the item with this name, -1 if there is none. */
static int find_name(const array *a, size_t size, const char *name)
{
  return a->count > 0 ? *place_of(a, size, name) - 1 : -1;
}

static pol_status make_room(array *a, size_t size)
{
  const int capacity = a->capacity ? 2 * a->capacity : 8;
  int *table = calloc(2 * (size_t)capacity, sizeof *table);
  void *items = table ? realloc(a->items, (size_t)capacity * size) : NULL;
  if (items) a->items = items;
  if (!table || !items) {
    free(table);
    return POL_NO_MEMORY;
  }
  free(a->table);
  a->table = table;
  a->capacity = capacity;
  for (int i = 0; i < a->count; i++) *place_of(a, size, name_of(a, size, i)) = i + 1;
  return POL_OK;
}

/* Appends a copy of item, whose first member is its name, and a copy of that name. */
static pol_status append(array *a, const void *item, size_t size, const char *name, int *index)
{
  if (a->count == a->capacity && make_room(a, size) != POL_OK) return POL_NO_MEMORY;
  char *copy = malloc(strlen(name) + 1);
  if (!copy) return POL_NO_MEMORY;
  strcpy(copy, name);
  char *slot = (char *)a->items + (size_t)a->count * size;
  memcpy(slot, item, size);
  memcpy(slot, &copy, sizeof copy);
  *place_of(a, size, name) = a->count + 1;
  if (index) *index = a->count;
  a->count++;
  return POL_OK;
}

static void release(array *a, size_t size)
{
  for (int i = 0; i < a->count; i++) {
    char *name;
    memcpy(&name, (char *)a->items + (size_t)i * size, sizeof name);
    free(name);
  }
  free(a->items);
  free(a->table);
}

/* Frees texts that copy_texts() has made. */
static void release_texts(const char **texts, int count)
{
  for (int i = 0; i < count; i++) {
    char *text;
    memcpy(&text, &texts[i], sizeof text);
    free(text);
  }
}

/* Replaces texts, of which some may be NULL, by copies. */
static pol_status copy_texts(const char **texts, int count)
{
  for (int i = 0; i < count; i++) {
    if (!texts[i]) continue;
    char *copy = malloc(strlen(texts[i]) + 1);
    if (!copy) {
      release_texts(texts, i);
      return POL_NO_MEMORY;
    }
    texts[i] = strcpy(copy, texts[i]);
  }
  return POL_OK;
}

static int finite_numbers(const double *x, int n)
{
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

static int unit_quaternion(const double q[4])
{
  double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  return fabs(square - 1.0) < 1e-6;
}

/* Symmetric to round-off and positive definite (leading minors). */
static int positive_definite(const double J[9])
{
  double size = fabs(J[0]) + fabs(J[4]) + fabs(J[8]);
  if (fabs(J[1] - J[3]) + fabs(J[2] - J[6]) + fabs(J[5] - J[7]) > 1e-9 * size) return 0;
  double minor = J[0] * J[4] - J[1] * J[3];
  double determinant = J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) +
                       J[2] * (J[3] * J[7] - J[4] * J[6]);
  return J[0] > 0.0 && minor > 0.0 && determinant > 0.0;
}

pol_status pol_mechanism_create(pol_mechanism **mechanism)
{
  *mechanism = calloc(1, sizeof **mechanism);
  return *mechanism ? POL_OK : POL_NO_MEMORY;
}

static void release_scale(pol_function *scale)
{
  if (scale) poli_function_release(scale);
  free(scale);
}

void pol_mechanism_free(pol_mechanism **mechanism)
{
  pol_mechanism *m = *mechanism;
  if (!m) return;
  release(&m->bodies, sizeof(pol_body));
  release(&m->markers, sizeof(pol_marker));
  release(&m->joints, sizeof(pol_joint));
  for (int i = 0; i < m->forces.count; i++) {
    pol_force *force = &((pol_force *)m->forces.items)[i];
    release_texts(force->expressions, 3);
    release_scale((pol_function *)force->scale);
  }
  release(&m->forces, sizeof(pol_force));
  for (int i = 0; i < m->variables.count; i++)
    release_texts(&((pol_variable *)m->variables.items)[i].expression, 1);
  release(&m->variables, sizeof(pol_variable));
  for (int i = 0; i < m->states.count; i++)
    release_texts(&((pol_state_variable *)m->states.items)[i].rate, 1);
  release(&m->states, sizeof(pol_state_variable));
  for (int i = 0; i < m->drives.count; i++)
    poli_function_release(&((pol_drive *)m->drives.items)[i].function);
  release(&m->drives, sizeof(pol_drive));
  release(&m->couplings, sizeof(pol_coupling));
  free(m);
  *mechanism = NULL;
}

void pol_mechanism_set_gravity(pol_mechanism *mechanism, const double gravity[3])
{
  poli_v3_copy(gravity, mechanism->gravity);
}

void pol_mechanism_gravity(const pol_mechanism *mechanism, double gravity[3])
{
  poli_v3_copy(mechanism->gravity, gravity);
}

/* No inertia and no rotation, so that all that is computed with them vanishes. */
static void make_point(pol_body *body)
{
  body->point = 1;
  memset(body->inertia, 0, sizeof body->inertia);
  memset(body->rotation, 0, sizeof body->rotation);
  memset(body->angular_velocity, 0, sizeof body->angular_velocity);
  body->rotation[0] = 1.0;
  body->given &= (unsigned)POL_GIVEN_VELOCITY;
}

pol_status pol_mechanism_add_body(pol_mechanism *mechanism, const pol_body *body, int *index)
{
  if (!body->name || !*body->name || strcmp(body->name, "ground") == 0 ||
      pol_mechanism_find_body(mechanism, body->name) >= 0)
    return POL_BAD_ARGUMENT;
  if (!(body->mass > 0.0) || !isfinite(body->mass) || !finite_numbers(body->position, 3) ||
      !finite_numbers(body->velocity, 3))
    return POL_BAD_ARGUMENT;
  pol_body copy = *body;
  if (body->point)
    make_point(&copy);
  else if (!finite_numbers(body->inertia, 9) || !positive_definite(body->inertia) ||
           !unit_quaternion(body->rotation) || !finite_numbers(body->angular_velocity, 3))
    return POL_BAD_ARGUMENT;
  pol_quat_normalize(copy.rotation);
  return append(&mechanism->bodies, &copy, sizeof copy, body->name, index);
}

static int body_exists(const pol_mechanism *mechanism, int body)
{
  return body >= POL_GROUND && body < mechanism->bodies.count;
}

/* Whether it exists and is a point mass. */
static int is_point(const pol_mechanism *mechanism, int body)
{
  return body != POL_GROUND && pol_mechanism_body(mechanism, body)->point;
}

static int is_zero(const double x[3])
{
  return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0;
}

pol_status pol_mechanism_add_marker(pol_mechanism *mechanism, const pol_marker *marker, int *index)
{
  if (!body_exists(mechanism, marker->body) || !finite_numbers(marker->position, 3) ||
      !unit_quaternion(marker->rotation) ||
      (is_point(mechanism, marker->body) && !is_zero(marker->position)))
    return POL_BAD_ARGUMENT;
  pol_marker copy = *marker;
  pol_quat_normalize(copy.rotation);
  return append(&mechanism->markers, &copy, sizeof copy, marker->name ? marker->name : "", index);
}

pol_status pol_mechanism_add_marker_at(pol_mechanism *mechanism, const char *name, int body,
                                       const double point[3], const double rotation[4], int *index)
{
  static const double identity[4] = {1.0, 0.0, 0.0, 0.0};
  if (!body_exists(mechanism, body)) return POL_BAD_ARGUMENT;
  pol_marker marker = {.name = name, .body = body};
  if (body == POL_GROUND) {
    poli_v3_copy(point, marker.position);
    memcpy(marker.rotation, rotation ? rotation : identity, sizeof identity);
    return pol_mechanism_add_marker(mechanism, &marker, index);
  }
  /* position = R^T (point - x), rotation = R^T rotation, with R, x of the body */
  const pol_body *b = pol_mechanism_body(mechanism, body);
  double R[9], arm[3], inverse[4];
  pol_quat_to_matrix(b->rotation, R);
  poli_v3_subtract(point, b->position, arm);
  poli_m3_apply_transposed(R, arm, marker.position);
  if (b->point && poli_v3_dot(arm, arm) <=
                      1e-18 * (poli_v3_dot(point, point) + poli_v3_dot(b->position, b->position)))
    memset(marker.position, 0, sizeof marker.position);
  pol_quat_conjugate(b->rotation, inverse);
  if (rotation)
    pol_quat_multiply(inverse, rotation, marker.rotation);
  else
    memcpy(marker.rotation, identity, sizeof identity);
  return pol_mechanism_add_marker(mechanism, &marker, index);
}

pol_status pol_mechanism_add_joint(pol_mechanism *mechanism, const pol_joint *joint, int *index)
{
  if (!joint->name || !*joint->name || !pol_joint_type_name(joint->type)) return POL_BAD_ARGUMENT;
  for (int i = 0; i < 2; i++)
    if (joint->marker[i] < 0 || joint->marker[i] >= mechanism->markers.count)
      return POL_BAD_ARGUMENT;
  const int body[2] = {pol_mechanism_marker(mechanism, joint->marker[0])->body,
                       pol_mechanism_marker(mechanism, joint->marker[1])->body};
  if (body[0] == body[1]) return POL_BAD_ARGUMENT;
  for (int i = 0; i < 2; i++)
    if (is_point(mechanism, body[i]) && !pol_joint_fits_point(joint)) return POL_BAD_ARGUMENT;
  if (find_name(&mechanism->joints, sizeof *joint, joint->name) >= 0) return POL_BAD_ARGUMENT;
  if (joint->global_axes && !pol_joint_locks_point(joint)) return POL_BAD_ARGUMENT;
  if (joint->type == POL_DISTANCE && !(joint->length > 0.0 && isfinite(joint->length)))
    return POL_BAD_ARGUMENT;
  const int rolls = joint->type == POL_ROLLING_SPHERE || joint->type == POL_ROLLING_DISK;
  if (rolls && !(joint->radius > 0.0 && isfinite(joint->radius))) return POL_BAD_ARGUMENT;
  if (joint->type == POL_GENERIC && (joint->locked == 0 || joint->locked >= 1u << 6))
    return POL_BAD_ARGUMENT;
  return append(&mechanism->joints, joint, sizeof *joint, joint->name, index);
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

/* Two markers that exist, on two bodies. */
static int different_bodies(const pol_mechanism *mechanism, const int marker[2])
{
  for (int i = 0; i < 2; i++)
    if (marker[i] < 0 || marker[i] >= mechanism->markers.count) return 0;
  return pol_mechanism_marker(mechanism, marker[0])->body !=
         pol_mechanism_marker(mechanism, marker[1])->body;
}

static int on_rigid_bodies(const pol_mechanism *mechanism, const int marker[2])
{
  return !is_point(mechanism, pol_mechanism_marker(mechanism, marker[0])->body) &&
         !is_point(mechanism, pol_mechanism_marker(mechanism, marker[1])->body);
}

/* And further from each other than round-off. */
static int markers_apart(const pol_mechanism *mechanism, const int marker[2])
{
  double point[2][3], d[3];
  if (!different_bodies(mechanism, marker)) return 0;
  for (int i = 0; i < 2; i++) pol_mechanism_marker_point(mechanism, marker[i], point[i]);
  poli_v3_subtract(point[1], point[0], d);
  double size = poli_v3_dot(point[0], point[0]) + poli_v3_dot(point[1], point[1]);
  return poli_v3_dot(d, d) > 1e-24 * size;
}

/* The coordinate of a joint-spring exists. */
static int has_coordinate(const pol_mechanism *mechanism, const pol_force *force)
{
  return force->joint >= 0 && force->joint < mechanism->joints.count &&
         pol_joint_coordinate(pol_mechanism_joint(mechanism, force->joint), force->coordinate);
}

/* No expression stands where its type has none. */
static int good_expressions(const pol_force *force)
{
  for (int i = pol_force_num_expressions(force->type); i < 3; i++)
    if (force->expressions[i]) return 0;
  return 1;
}

/* Numbers that are finite and not negative. */
static int good_rates(const double *x, int n)
{
  for (int i = 0; i < n; i++)
    if (x[i] < 0.0) return 0;
  return finite_numbers(x, n);
}

/* The bodies or markers that its type needs. */
static int good_ends(const pol_mechanism *mechanism, const pol_force *force)
{
  switch (force->type) {
  case POL_SPRING_DAMPER:
    return pol_spring_law_name(force->law) && markers_apart(mechanism, force->marker);
  case POL_BUSHING:
    return different_bodies(mechanism, force->marker) && on_rigid_bodies(mechanism, force->marker);
  case POL_JOINT_SPRING:
    return has_coordinate(mechanism, force);
  case POL_CALLBACK_FORCE:
    return body_exists(mechanism, force->bodies[0]) && body_exists(mechanism, force->bodies[1]) &&
           force->bodies[0] != force->bodies[1] && force->callback.wrench != NULL;
  default:
    if (force->body == POL_GROUND || !body_exists(mechanism, force->body)) return 0;
    return !is_point(mechanism, force->body) ||
           (force->type != POL_APPLIED_TORQUE && force->frame == POL_GLOBAL_AXES &&
            is_zero(force->point));
  }
}

static int good_force(const pol_mechanism *mechanism, const pol_force *force)
{
  const double *const vectors[] = {force->vector, force->point, force->anchor, force->preload,
                                   force->preload_torque};
  const double *const rates[] = {force->stiffness, force->damping, force->rotational_stiffness,
                                 force->rotational_damping};
  const double single[] = {force->length, force->coefficient, force->callback.length};
  for (int i = 0; i < 5; i++)
    if (!finite_numbers(vectors[i], 3)) return 0;
  for (int i = 0; i < 4; i++)
    if (!good_rates(rates[i], 3)) return 0;
  return good_rates(single, 3) && finite_numbers(&force->actuator, 1) &&
         finite_numbers(&force->rest, 1) && good_expressions(force) && good_ends(mechanism, force);
}

/* A copy of a function that the caller frees with release_scale; NULL of NULL. */
static pol_status copy_scale(const pol_function *from, pol_function **to)
{
  *to = NULL;
  if (!from) return POL_OK;
  pol_function *copy = malloc(sizeof *copy);
  if (!copy) return POL_NO_MEMORY;
  pol_status status = poli_function_copy(from, copy);
  if (status)
    free(copy);
  else
    *to = copy;
  return status;
}

pol_status pol_mechanism_add_force(pol_mechanism *mechanism, const pol_force *force, int *index)
{
  if (!force->name || !*force->name || !pol_force_type_name(force->type) ||
      !pol_force_frame_name(force->frame) || !good_force(mechanism, force))
    return POL_BAD_ARGUMENT;
  if (find_name(&mechanism->forces, sizeof *force, force->name) >= 0) return POL_BAD_ARGUMENT;
  pol_force copy = *force;
  pol_function *scale;
  pol_status status = copy_scale(force->scale, &scale);
  if (status) return status;
  copy.scale = scale;
  status = copy_texts(copy.expressions, 3);
  if (!status) {
    status = append(&mechanism->forces, &copy, sizeof copy, force->name, index);
    if (status) release_texts(copy.expressions, 3);
  }
  if (status) release_scale(scale);
  return status;
}

/* A name for a variable or state: there, not that of another or of what expressions know anyway. */
static int good_quantity_name(const pol_mechanism *mechanism, const char *name)
{
  if (!name || !*name || strcmp(name, "t") == 0 || strcmp(name, "pi") == 0) return 0;
  return find_name(&mechanism->variables, sizeof(pol_variable), name) < 0 &&
         find_name(&mechanism->states, sizeof(pol_state_variable), name) < 0;
}

pol_status pol_mechanism_add_variable(pol_mechanism *mechanism, const pol_variable *variable,
                                      int *index)
{
  if (!good_quantity_name(mechanism, variable->name) || !variable->expression)
    return POL_BAD_ARGUMENT;
  pol_variable copy = *variable;
  pol_status status = copy_texts(&copy.expression, 1);
  if (status) return status;
  status = append(&mechanism->variables, &copy, sizeof copy, variable->name, index);
  if (status) release_texts(&copy.expression, 1);
  return status;
}

pol_status pol_mechanism_add_state(pol_mechanism *mechanism, const pol_state_variable *state,
                                   int *index)
{
  if (!good_quantity_name(mechanism, state->name) || !state->rate || !isfinite(state->initial))
    return POL_BAD_ARGUMENT;
  pol_state_variable copy = *state;
  pol_status status = copy_texts(&copy.rate, 1);
  if (status) return status;
  status = append(&mechanism->states, &copy, sizeof copy, state->name, index);
  if (status) release_texts(&copy.rate, 1);
  return status;
}

/* What it prescribes: a free coordinate of a joint, or a translation between two markers. */
static int good_drive(const pol_mechanism *mechanism, const pol_drive *drive)
{
  if (drive->joint == POL_NO_JOINT)
    return drive->coordinate >= POL_DRIVE_X && drive->coordinate <= POL_DRIVE_Z &&
           different_bodies(mechanism, drive->marker);
  return drive->joint >= 0 && drive->joint < mechanism->joints.count &&
         pol_joint_has_coordinate(pol_mechanism_joint(mechanism, drive->joint), drive->coordinate);
}

static int same_coordinate(const pol_drive *a, const pol_drive *b)
{
  return a->joint == b->joint && a->coordinate == b->coordinate &&
         (a->joint != POL_NO_JOINT ||
          (a->marker[0] == b->marker[0] && a->marker[1] == b->marker[1]));
}

pol_status pol_mechanism_add_drive(pol_mechanism *mechanism, const pol_drive *drive, int *index)
{
  if (!drive->name || !*drive->name || !pol_coordinate_name(drive->coordinate) ||
      !good_drive(mechanism, drive))
    return POL_BAD_ARGUMENT;
  for (int i = 0; i < mechanism->drives.count; i++) {
    const pol_drive *other = pol_mechanism_drive(mechanism, i);
    if (strcmp(other->name, drive->name) == 0 || same_coordinate(other, drive))
      return POL_BAD_ARGUMENT;
  }
  pol_drive copy = *drive;
  pol_status status = poli_function_copy(&drive->function, &copy.function);
  if (status) return status;
  status = append(&mechanism->drives, &copy, sizeof copy, drive->name, index);
  if (status) poli_function_release(&copy.function);
  return status;
}

/* Two different coordinates that joints leave free, and numbers that tie them. */
static int good_coupling(const pol_mechanism *mechanism, const pol_coupling *coupling)
{
  for (int i = 0; i < 2; i++) {
    if (coupling->joint[i] < 0 || coupling->joint[i] >= mechanism->joints.count ||
        !pol_coordinate_name(coupling->coordinate[i]) ||
        !pol_joint_has_coordinate(pol_mechanism_joint(mechanism, coupling->joint[i]),
                                  coupling->coordinate[i]))
      return 0;
    if (coupling->factor[i] == 0.0) return 0;
  }
  return finite_numbers(coupling->factor, 2) && finite_numbers(coupling->reference, 2) &&
         (coupling->joint[0] != coupling->joint[1] ||
          coupling->coordinate[0] != coupling->coordinate[1]);
}

pol_status pol_mechanism_add_coupling(pol_mechanism *mechanism, const pol_coupling *coupling,
                                      int *index)
{
  if (!coupling->name || !*coupling->name || !good_coupling(mechanism, coupling))
    return POL_BAD_ARGUMENT;
  if (find_name(&mechanism->couplings, sizeof *coupling, coupling->name) >= 0)
    return POL_BAD_ARGUMENT;
  return append(&mechanism->couplings, coupling, sizeof *coupling, coupling->name, index);
}

int pol_mechanism_num_bodies(const pol_mechanism *mechanism)
{
  return mechanism->bodies.count;
}

int pol_mechanism_num_markers(const pol_mechanism *mechanism)
{
  return mechanism->markers.count;
}

int pol_mechanism_num_joints(const pol_mechanism *mechanism)
{
  return mechanism->joints.count;
}

int pol_mechanism_num_forces(const pol_mechanism *mechanism)
{
  return mechanism->forces.count;
}

int pol_mechanism_num_drives(const pol_mechanism *mechanism)
{
  return mechanism->drives.count;
}

int pol_mechanism_num_variables(const pol_mechanism *mechanism)
{
  return mechanism->variables.count;
}

int pol_mechanism_num_states(const pol_mechanism *mechanism)
{
  return mechanism->states.count;
}

const pol_variable *pol_mechanism_variable(const pol_mechanism *mechanism, int index)
{
  return (const pol_variable *)mechanism->variables.items + index;
}

const pol_state_variable *pol_mechanism_state(const pol_mechanism *mechanism, int index)
{
  return (const pol_state_variable *)mechanism->states.items + index;
}

int pol_mechanism_num_couplings(const pol_mechanism *mechanism)
{
  return mechanism->couplings.count;
}

const pol_body *pol_mechanism_body(const pol_mechanism *mechanism, int index)
{
  return (const pol_body *)mechanism->bodies.items + index;
}

const pol_marker *pol_mechanism_marker(const pol_mechanism *mechanism, int index)
{
  return (const pol_marker *)mechanism->markers.items + index;
}

const pol_joint *pol_mechanism_joint(const pol_mechanism *mechanism, int index)
{
  return (const pol_joint *)mechanism->joints.items + index;
}

const pol_force *pol_mechanism_force(const pol_mechanism *mechanism, int index)
{
  return (const pol_force *)mechanism->forces.items + index;
}

const pol_drive *pol_mechanism_drive(const pol_mechanism *mechanism, int index)
{
  return (const pol_drive *)mechanism->drives.items + index;
}

const pol_coupling *pol_mechanism_coupling(const pol_mechanism *mechanism, int index)
{
  return (const pol_coupling *)mechanism->couplings.items + index;
}

int pol_mechanism_find_body(const pol_mechanism *mechanism, const char *name)
{
  if (strcmp(name, "ground") == 0) return POL_GROUND;
  const int index = find_name(&mechanism->bodies, sizeof(pol_body), name);
  return index >= 0 ? index : -2;
}
