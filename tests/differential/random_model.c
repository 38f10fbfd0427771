/* The generator of random mechanisms. */
#include "differential/random_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lie/small.h"

enum { MAX_BODIES = 6, MAX_JOINTS = 12, MAX_NAMES = 24 };

/* A frame in global axes. */
typedef struct placing {
  double position[3];
  double rotation[4];
} placing;

/* A model on its way. */
typedef struct maker {
  uint64_t random;
  random_model *model;
  pol_mechanism *mechanism;
  pol_status status; /* the first that was not POL_OK, and of what */
  char failed[320];

  int num_bodies, num_joints, num_forces, num_drives, num_couplings, num_variables, num_states;
  int num_markers;
  placing body[MAX_BODIES];
  int point[MAX_BODIES];
  int parent[MAX_BODIES], tree_joint[MAX_BODIES]; /* POL_GROUND, POL_NO_JOINT */
  int freedom[MAX_JOINTS];                        /* that neither loops nor drives have taken yet */
  int invariant;           /* expressions read nothing that belongs to global axes */
  int reads_reactions;     /* they may read reactions */
  int prefers_coordinates; /* many joints have coordinates that couplings can tie */
} maker;

/* --- random numbers --------------------------------------------------------------------------- */

/* splitmix64 (Steele/Lea/Flood 2014). */
static uint64_t next_random(maker *m)
{
  uint64_t z = m->random += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Of 0 .. count-1. */
static int pick(maker *m, int count)
{
  return (int)(next_random(m) % (uint64_t)count);
}

static double between(maker *m, double low, double high)
{
  return low + (high - low) * (double)(next_random(m) >> 11) * 0x1p-53;
}

/* 1 in so many percent of the cases. */
static int chance(maker *m, int percent)
{
  return pick(m, 100) < percent;
}

static void random_vector(maker *m, double size, double v[3])
{
  for (int i = 0; i < 3; i++) v[i] = between(m, -size, size);
}

/* Normalised until that changes nothing, so that reading it from a file gives the same numbers. */
static void settle(double q[4])
{
  for (int i = 0; i < 4; i++) pol_quat_normalize(q);
}

static void random_rotation(maker *m, double size, double q[4])
{
  double w[3];
  random_vector(m, size, w);
  pol_so3_exp(w, q);
  settle(q);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void rotate(const double q[4], const double v[3], double out[3])
{
  double R[9];
  pol_quat_to_matrix(q, R);
  poli_m3_apply(R, v, out);
}

static void rotate_back(const double q[4], const double v[3], double out[3])
{
  double R[9];
  pol_quat_to_matrix(q, R);
  poli_m3_apply_transposed(R, v, out);
}

static void turn_about(int axis, double angle, double q[4])
{
  q[0] = cos(0.5 * angle);
  for (int i = 0; i < 3; i++) q[1 + i] = i == axis ? sin(0.5 * angle) : 0.0;
}

/* out = frame times (d, Q) */
static placing behind(const placing *frame, const double d[3], const double Q[4])
{
  placing out;
  rotate(frame->rotation, d, out.position);
  poli_v3_add(frame->position, out.position, out.position);
  pol_quat_multiply(frame->rotation, Q, out.rotation);
  return out;
}

/* The frame f with f times (d, Q) = frame. */
static placing before(const placing *frame, const double d[3], const double Q[4])
{
  placing out;
  double inverse[4], way[3];
  pol_quat_conjugate(Q, inverse);
  pol_quat_multiply(frame->rotation, inverse, out.rotation);
  rotate(out.rotation, d, way);
  poli_v3_subtract(frame->position, way, out.position);
  return out;
}

static const placing origin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};

static const placing *place_of(const maker *m, int body)
{
  return body == POL_GROUND ? &origin : &m->body[body];
}

static int is_point(const maker *m, int body)
{
  return body != POL_GROUND && m->point[body];
}

/* --- parts ------------------------------------------------------------------------------------ */

/* Remembers the first part that the library refused. */
static void keep_status(maker *m, pol_status status, const char *kind, const char *name)
{
  if (m->status || !status) return;
  m->status = status;
  snprintf(m->failed, sizeof m->failed, "%s %s", kind, name);
}

static void say(maker *m, const char *word)
{
  char *words = m->model->words;
  size_t length = strlen(words), size = sizeof m->model->words;
  if (strstr(words, word) || length + strlen(word) + 2 > size) return;
  snprintf(words + length, size - length, "%s%s", length ? " " : "", word);
}

/* A marker on a body where a global frame is; on a point mass the frame is at the mass. */
static int add_marker(maker *m, int body, const placing *frame)
{
  const placing *base = place_of(m, body);
  char name[16];
  int index = -1;
  pol_marker marker = {.name = name, .body = body};
  double way[3], inverse[4];
  snprintf(name, sizeof name, "m%d", m->num_markers++);
  poli_v3_subtract(frame->position, base->position, way);
  if (!is_point(m, body)) rotate_back(base->rotation, way, marker.position);
  pol_quat_conjugate(base->rotation, inverse);
  pol_quat_multiply(inverse, frame->rotation, marker.rotation);
  settle(marker.rotation);
  keep_status(m, pol_mechanism_add_marker(m->mechanism, &marker, &index), "marker", name);
  return index;
}

/* Mass and inertia of a box of random edges in a random attitude. */
static void add_body(maker *m, const placing *frame, int point)
{
  char name[16];
  int b = m->num_bodies++;
  double edge[3], principal[3], q[4], R[9];
  pol_body body = {.name = name, .mass = between(m, 0.5, 3.0), .point = point};
  snprintf(name, sizeof name, "b%d", b);
  for (int i = 0; i < 3; i++) edge[i] = between(m, 0.4, 1.0);
  for (int i = 0; i < 3; i++)
    principal[i] = body.mass / 12.0 *
                   (edge[(i + 1) % 3] * edge[(i + 1) % 3] + edge[(i + 2) % 3] * edge[(i + 2) % 3]);
  random_rotation(m, 2.0, q);
  pol_quat_to_matrix(q, R);
  if (chance(m, 30)) poli_m3_diagonal(1.0, R);
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      double sum = 0.0;
      for (int k = 0; k < 3; k++) sum += R[3 * i + k] * principal[k] * R[3 * j + k];
      body.inertia[3 * i + j] = body.inertia[3 * j + i] = sum;
    }
  m->body[b] = *frame;
  if (point) memcpy(m->body[b].rotation, origin.rotation, sizeof origin.rotation);
  settle(m->body[b].rotation);
  m->point[b] = point;
  m->tree_joint[b] = POL_NO_JOINT;
  m->parent[b] = POL_GROUND;
  memcpy(body.position, frame->position, sizeof body.position);
  memcpy(body.rotation, m->body[b].rotation, sizeof body.rotation);
  keep_status(m, pol_mechanism_add_body(m->mechanism, &body, NULL), "body", name);
}

/* --- joints ----------------------------------------------------------------------------------- */

/* How many velocities of a second body, rigid or a point mass, a joint leaves free. */
static int freedom_of(const pol_joint *joint, int point)
{
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  return (point ? 3 : 6) - pol_joint_rows(joint, rows);
}

/* A random type, and what goes with it, that fits the bodies. */
static void random_joint(maker *m, int with_point, int rolling, pol_joint *joint)
{
  static const pol_joint_type of_points[] = {POL_SPHERICAL, POL_DISTANCE, POL_POINT_ON_LINE,
                                             POL_POINT_IN_PLANE, POL_GENERIC};
  memset(joint, 0, sizeof *joint);
  if (with_point) {
    joint->type = of_points[pick(m, 5)];
    joint->locked = 1u + (unsigned)pick(m, 7);
  } else if (rolling) {
    joint->type = chance(m, 50) ? POL_ROLLING_SPHERE : POL_ROLLING_DISK;
  } else {
    joint->type = m->prefers_coordinates && chance(m, 70)
                      ? (pol_joint_type)(POL_REVOLUTE + pick(m, 3))
                      : (pol_joint_type)pick(m, POL_GENERIC + 1);
    joint->locked = 1u + (unsigned)pick(m, 63);
  }
  if (joint->type != POL_GENERIC) joint->locked = 0;
  joint->length = joint->type == POL_DISTANCE ? between(m, 0.3, 0.8) : 0.0;
  joint->radius = rolling ? between(m, 0.2, 0.5) : 0.0;
  joint->global_axes = pol_joint_locks_point(joint) && chance(m, 20);
}

/* The rotations that a generic joint leaves free. */
static void generic_rotation(maker *m, unsigned locked, double Q[4])
{
  const unsigned bits = locked / POL_LOCK_ROTATION_X;
  const int count = (int)(bits & 1u) + (int)(bits >> 1 & 1u) + (int)(bits >> 2 & 1u);
  double other[4];
  for (int axis = 0; axis < 3; axis++) {
    const int is_locked = (int)(bits >> axis & 1u);
    if (count == 2 && !is_locked) turn_about(axis, between(m, -1.2, 1.2), Q);
    if (count != 1 || !is_locked) continue;
    /* turns about the next axis of the first and the one after it of the second marker */
    turn_about((axis + 1) % 3, between(m, -0.6, 0.6), Q);
    turn_about((axis + 2) % 3, between(m, -0.6, 0.6), other);
    pol_quat_multiply(Q, other, Q);
  }
  if (count == 0) random_rotation(m, 1.0, Q);
}

/* A place (d, Q) of the second marker seen from the first that the joint allows. */
static void random_coordinates(maker *m, const pol_joint *joint, double d[3], double Q[4])
{
  double free[3], other[4], axis[3], R[9];
  random_vector(m, 0.4, free);
  memset(d, 0, 3 * sizeof *d);
  memcpy(Q, origin.rotation, 4 * sizeof *Q);
  switch (joint->type) {
  case POL_FIXED:
    break;
  case POL_CYLINDRICAL:
    d[2] = free[2]; /* fall through */
  case POL_REVOLUTE:
    turn_about(2, between(m, -1.2, 1.2), Q);
    break;
  case POL_PRISMATIC:
    d[2] = free[2];
    break;
  case POL_POINT_ON_LINE:
    d[2] = free[2]; /* fall through */
  case POL_SPHERICAL:
    random_rotation(m, 1.0, Q);
    break;
  case POL_UNIVERSAL:
    turn_about(0, between(m, -0.8, 0.8), Q);
    turn_about(1, between(m, -0.8, 0.8), other);
    pol_quat_multiply(Q, other, Q);
    break;
  case POL_PARALLEL:
    d[2] = free[2]; /* fall through */
  case POL_PLANAR:
    d[0] = free[0];
    d[1] = free[1];
    turn_about(2, between(m, -1.2, 1.2), Q);
    break;
  case POL_DISTANCE:
    for (int i = 0; i < 3; i++) d[i] = free[i] + (free[i] < 0.0 ? -0.05 : 0.05);
    poli_v3_scale(joint->length / sqrt(poli_v3_dot(d, d)), d, d);
    random_rotation(m, 1.0, Q);
    break;
  case POL_POINT_IN_PLANE:
    d[0] = free[0];
    d[1] = free[1];
    random_rotation(m, 1.0, Q);
    break;
  case POL_CONSTANT_VELOCITY:
    random_vector(m, 0.6, axis);
    axis[2] = 0.0;
    pol_so3_exp(axis, Q);
    break;
  case POL_GENERIC:
    for (int i = 0; i < 3; i++) d[i] = joint->locked >> i & 1u ? 0.0 : free[i];
    generic_rotation(m, joint->locked, Q);
    break;
  case POL_ROLLING_SPHERE:
  case POL_ROLLING_DISK:
    d[0] = free[0];
    d[1] = free[1];
    d[2] = joint->radius;
    random_rotation(m, 1.0, Q);
    if (joint->type == POL_ROLLING_SPHERE) break;
    turn_about(0, between(m, 0.8, 2.2), other); /* its axis away from the normal */
    pol_quat_multiply(Q, other, Q);
    pol_quat_to_matrix(Q, R);
    if (fabs(R[8]) > 0.8) memcpy(Q, other, 4 * sizeof *Q), pol_quat_to_matrix(Q, R);
    d[2] = joint->radius * sqrt(1.0 - R[8] * R[8]);
    break;
  }
}

/* Adds a joint between frames on two bodies. */
static int add_joint(maker *m, pol_joint *joint, const int body[2], const placing frame[2])
{
  char name[16];
  int j = m->num_joints++;
  snprintf(name, sizeof name, "j%d", j);
  joint->name = name;
  for (int end = 0; end < 2; end++) joint->marker[end] = add_marker(m, body[end], &frame[end]);
  m->freedom[j] = freedom_of(joint, is_point(m, body[0]) || is_point(m, body[1]));
  keep_status(m, pol_mechanism_add_joint(m->mechanism, joint, NULL), "joint", name);
  return j;
}

/* A frame near a body: that of a marker on it. */
static placing frame_near(maker *m, int body)
{
  double d[3], Q[4];
  random_vector(m, body == POL_GROUND ? 0.6 : 0.4, d);
  random_rotation(m, 1.5, Q);
  if (is_point(m, body)) memset(d, 0, sizeof d);
  return behind(place_of(m, body), d, Q);
}

/* A new body, hung on another one (or the ground) by a joint in a random position; on a spherical
 * one if it is a pivot. */
static void add_tree_body(maker *m, int parent, int point, int rolling, int pivot)
{
  double d[3], Q[4], offset[3], attitude[4];
  pol_joint joint;
  placing frame[2];
  const int swapped = chance(m, 40), child = m->num_bodies;
  random_joint(m, point || is_point(m, parent), rolling, &joint);
  if (pivot) joint = (pol_joint){.type = POL_SPHERICAL};
  random_coordinates(m, &joint, d, Q);
  placing base = frame_near(m, parent);
  placing there = swapped ? before(&base, d, Q) : behind(&base, d, Q);
  random_vector(m, 0.4, offset);
  random_rotation(m, 1.5, attitude);
  if (point) memset(offset, 0, sizeof offset);
  placing body = behind(&there, offset, attitude);
  add_body(m, &body, point);
  frame[swapped] = base;
  frame[1 - swapped] = there;
  const int bodies[2] = {swapped ? child : parent, swapped ? parent : child};
  m->parent[child] = parent;
  m->tree_joint[child] = add_joint(m, &joint, bodies, frame);
}

/* The freedom of the joints on the way from a body to another one; marked as taken if asked. */
static int path_freedom(maker *m, int a, int b, int take)
{
  int on_a[MAX_BODIES + 1] = {0}, sum = 0;
  for (int k = a; k != POL_GROUND; k = m->parent[k]) on_a[k] = 1;
  int meeting = b;
  while (meeting != POL_GROUND && !on_a[meeting]) meeting = m->parent[meeting];
  const int from[2] = {a, b};
  for (int side = 0; side < 2; side++)
    for (int k = from[side]; k != meeting; k = m->parent[k]) {
      const int joint = m->tree_joint[k];
      sum += joint == POL_NO_JOINT ? (m->point[k] ? 3 : 6) : m->freedom[joint];
      if (take && joint != POL_NO_JOINT) m->freedom[joint] = 0;
    }
  return sum;
}

/* Closes a loop by a joint whose markers are placed where the bodies are. */
static void close_loop(maker *m)
{
  for (int attempt = 0; attempt < 20; attempt++) {
    const int a = pick(m, m->num_bodies + 1) - 1, b = pick(m, m->num_bodies);
    double d[3], Q[4];
    pol_joint joint;
    placing frame[2];
    if (a == b) continue;
    const int with_point = is_point(m, a) || is_point(m, b);
    random_joint(m, with_point, 0, &joint);
    const int locked = (with_point ? 3 : 6) - freedom_of(&joint, with_point);
    if (path_freedom(m, a, b, 0) < locked + 1) continue;
    random_coordinates(m, &joint, d, Q);
    /* of two point masses, or one and a frame, the distance is what it is */
    if (is_point(m, a) && joint.type != POL_DISTANCE) continue;
    if (is_point(m, b) && joint.type != POL_DISTANCE) {
      frame[1] = m->body[b];
      random_rotation(m, 1.5, frame[1].rotation);
      frame[0] = before(&frame[1], d, Q);
    } else {
      frame[0] = frame_near(m, a);
      frame[1] = joint.type == POL_DISTANCE ? frame_near(m, b) : behind(&frame[0], d, Q);
    }
    if (joint.type == POL_DISTANCE) {
      poli_v3_subtract(frame[1].position, frame[0].position, d);
      joint.length = sqrt(poli_v3_dot(d, d));
      if (joint.length < 0.1) continue;
    }
    const int bodies[2] = {a, b};
    path_freedom(m, a, b, 1);
    const int j = add_joint(m, &joint, bodies, frame);
    m->freedom[j] = 0;
    say(m, "loop");
    return;
  }
}

/* A closed chain of links with parallel hinges: three of its rows are redundant. */
static void add_planar_loop(maker *m)
{
  placing base = frame_near(m, POL_GROUND);
  const int links = 3 + pick(m, 2), first = m->num_bodies, count = links + 1;
  double corner[6][3] = {{0.0}}, identity[4] = {1.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < count; i++) {
    const double angle = 6.283185307179586 * (i + between(m, -0.25, 0.25)) / count;
    const double radius = between(m, 0.4, 0.7);
    corner[i][0] = radius * cos(angle);
    corner[i][1] = radius * sin(angle);
  }
  for (int i = 0; i < links; i++) {
    double middle[3], attitude[4];
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (corner[i][k] + corner[i + 1][k]);
    random_rotation(m, 1.5, attitude);
    placing body = behind(&base, middle, attitude);
    add_body(m, &body, 0);
  }
  for (int i = 0; i < count; i++) {
    const int bodies[2] = {i == 0 ? POL_GROUND : first + i - 1,
                           i == links ? POL_GROUND : first + i};
    pol_joint joint = {.type = POL_REVOLUTE};
    placing frame[2] = {behind(&base, corner[i], identity), behind(&base, corner[i], identity)};
    const int j = add_joint(m, &joint, bodies, frame);
    m->freedom[j] = 0;
    if (i < links) m->parent[first + i] = bodies[0], m->tree_joint[first + i] = j;
  }
  m->freedom[m->tree_joint[first]] = links - 2; /* of the loop as a whole */
  say(m, "planar-loop");
  say(m, "redundant");
}

/* A second joint like one that is there, shifted along its axis: what it locks is locked already.
 */
static void double_joint(maker *m)
{
  for (int attempt = 0; attempt < 10; attempt++) {
    const int k = pick(m, m->num_joints);
    pol_joint joint = *pol_mechanism_joint(m->mechanism, k);
    const pol_joint_type type = joint.type;
    if (type != POL_REVOLUTE && type != POL_PRISMATIC && type != POL_CYLINDRICAL &&
        type != POL_FIXED && type != POL_SPHERICAL && type != POL_PARALLEL)
      continue;
    const double shift[3] = {0.0, 0.0, type == POL_SPHERICAL ? 0.0 : between(m, 0.2, 0.6)};
    placing frame[2];
    int bodies[2];
    for (int end = 0; end < 2; end++) {
      const pol_marker *marker = pol_mechanism_marker(m->mechanism, joint.marker[end]);
      bodies[end] = marker->body;
      placing at = behind(place_of(m, marker->body), marker->position, marker->rotation);
      frame[end] = behind(&at, shift, origin.rotation);
    }
    if (is_point(m, bodies[0]) || is_point(m, bodies[1])) continue;
    const int j = add_joint(m, &joint, bodies, frame);
    m->freedom[j] = 0;
    say(m, "redundant");
    return;
  }
}

/* --- functions and expressions ------------------------------------------------------------------
 */

/* What a function points to. */
typedef struct function_data {
  double values[4], times[4];
  char text[TEXT_SIZE];
} function_data;

/* A function of time that starts at a value and moves by about `size` in the run. */
static void random_function(maker *m, double start, double size, pol_function *function,
                            function_data *data)
{
  const double end = m->model->end;
  memset(function, 0, sizeof *function);
  function->type = (pol_function_type)pick(m, POL_EXPRESSION + 1);
  function->offset = start;
  function->values = data->values;
  switch (function->type) {
  case POL_CONSTANT:
    break;
  case POL_HARMONIC:
    function->amplitude = size * between(m, 0.3, 1.0);
    function->frequency = between(m, 0.5, 3.0);
    break;
  case POL_POLYNOMIAL:
    function->count = 2 + pick(m, 3);
    data->values[0] = start;
    for (int i = 1; i < 4; i++) data->values[i] = size * between(m, -1.0, 1.0) / pow(end, i) / 3.0;
    function->offset = 0.0;
    break;
  case POL_STEP:
    function->from = start;
    function->to = start + size * between(m, -1.0, 1.0);
    function->t1 = end * between(m, 1.5, 3.0);
    function->t0 = -0.2 * end;
    function->offset = 0.0;
    function->from = start;
    break;
  case POL_SPEED:
    function->from = size * between(m, -1.0, 1.0);
    function->to = size / end * between(m, -1.0, 1.0);
    function->t1 = end * between(m, 1.5, 3.0);
    break;
  case POL_TABLE:
    function->count = 4;
    function->offset = 0.0;
    for (int i = 0; i < 4; i++) {
      data->times[i] = end * (2.0 * i - 1.0 + between(m, 0.0, 0.3));
      data->values[i] = start + size * between(m, -0.5, 0.5);
    }
    data->times[0] = 0.0;
    data->values[0] = start;
    data->times[1] = 1.5 * end;
    function->times = data->times;
    break;
  case POL_EXPRESSION:
    snprintf(data->text, sizeof data->text, "%.17g + %.3g*sin(%.3g*t)*exp(-%.3g*t)", start,
             size * between(m, 0.3, 1.0), between(m, 2.0, 12.0), between(m, 0.1, 3.0));
    function->expression = data->text;
    function->offset = 0.0;
    break;
  }
  if (function->type == POL_STEP) { /* it must start at the value: t0 = 0 */
    function->t0 = 0.0;
  }
}

/* A quantity that expressions may read, divided by its usual size. */
static void random_signal(maker *m, char *text, size_t size)
{
  static const char axes[] = "xyz";
  for (;;) {
    const int b = pick(m, m->num_bodies), j = m->num_joints ? pick(m, m->num_joints) : -1;
    const char axis = axes[pick(m, 3)];
    const pol_joint *joint = j < 0 ? NULL : pol_mechanism_joint(m->mechanism, j);
    const int coordinates = joint ? pol_joint_num_coordinates(joint) : 0;
    const int rolls = joint && joint->type >= POL_ROLLING_SPHERE;
    switch (pick(m, 9)) {
    case 0:
      if (m->invariant) continue;
      snprintf(text, size, "b%d.position.%c/0.5", b, axis);
      return;
    case 1:
      if (m->invariant) continue;
      snprintf(text, size, "b%d.velocity.%c", b, axis);
      return;
    case 2:
      if (m->point[b]) continue;
      snprintf(text, size, "b%d.angular_velocity.%c/3", b, axis);
      return;
    case 3:
      if (m->invariant || m->num_markers == 0) continue;
      snprintf(text, size, "marker.m%d.%s.%c", pick(m, m->num_markers),
               chance(m, 50) ? "position" : "velocity", axis);
      return;
    case 4:
      if (m->num_states == 0) continue;
      snprintf(text, size, "s%d", pick(m, m->num_states));
      return;
    case 5:
      snprintf(text, size, "sin(%.3g*t)", between(m, 2.0, 12.0));
      return;
    case 6:
    case 7: {
      if (coordinates == 0) continue;
      const pol_coordinate_info *info = pol_joint_coordinate(joint, pick(m, coordinates));
      snprintf(text, size, "j%d.%s", j, chance(m, 50) ? info->name : info->rate_name);
      return;
    }
    default:
      if (!m->reads_reactions || !joint || rolls) continue;
      snprintf(text, size, "j%d.%s%s.%c/20", j, chance(m, 70) ? "force" : "torque",
               m->invariant || chance(m, 50) ? "_local" : "", axis);
      say(m, "reads-reactions");
      return;
    }
  }
}

/* A smooth expression of about the size; what comes from reactions is weak, so that the forces
 * that they depend on exist. */
static void random_expression(maker *m, double size, char *text, size_t length)
{
  char one[80], two[80];
  random_signal(m, one, sizeof one);
  random_signal(m, two, sizeof two);
  switch (pick(m, 5)) {
  case 0:
    snprintf(text, length, "%.3g*tanh(%s)", size, one);
    break;
  case 1:
    snprintf(text, length, "%.3g*sin(%s)*cos(%s)", 0.7 * size, one, two);
    break;
  case 2:
    snprintf(text, length, "-%.3g*(%s)/(1 + (%s)^2)", size, one, two);
    break;
  case 3:
    snprintf(text, length, "%.3g*atan2(%s, 1 + exp(%s)/4)", 0.5 * size, one, two);
    break;
  default:
    snprintf(text, length, "%.3g*sqrt(1 + (%s)^2)", 0.5 * size, one);
    break;
  }
}

/* Friction of a joint: against the velocity of a body, with the force that the joint exerts. */
static void friction_expression(maker *m, int joint, int body, char *text, size_t length)
{
  static const char axes[] = "xyz";
  snprintf(text, length,
           "-%.3g*sqrt(j%d.force_local.x^2 + j%d.force_local.y^2 + 0.01)*tanh(b%d.%s.%c/0.5)",
           between(m, 0.05, 0.2), joint, joint, body,
           m->point[body] || (!m->invariant && chance(m, 50)) ? "velocity" : "angular_velocity",
           axes[pick(m, 3)]);
  say(m, "friction");
}

static void add_variables_and_states(maker *m, int states)
{
  char name[16], text[TEXT_SIZE], signal[160];
  for (int i = 0; i < states; i++) {
    random_expression(m, 1.0, signal, sizeof signal);
    snprintf(name, sizeof name, "s%d", i);
    snprintf(text, sizeof text, "(%s - s%d)/%.3g", signal, i, between(m, 0.03, 0.2));
    const pol_state_variable state = {.name = name, .initial = between(m, -0.5, 0.5), .rate = text};
    keep_status(m, pol_mechanism_add_state(m->mechanism, &state, NULL), "state", name);
    m->num_states++;
    say(m, "state");
  }
  for (int i = pick(m, 2); i > 0; i--) {
    random_expression(m, 1.0, text, sizeof text);
    snprintf(name, sizeof name, "v%d", m->num_variables++);
    const pol_variable variable = {.name = name, .expression = text};
    keep_status(m, pol_mechanism_add_variable(m->mechanism, &variable, NULL), "variable", name);
  }
}

/* --- drives and couplings ----------------------------------------------------------------------
 */

static void add_drive(maker *m)
{
  static const pol_coordinate coordinates[] = {POL_DRIVE_ROTATION,      POL_DRIVE_TRANSLATION,
                                               POL_DRIVE_TRANSLATION_X, POL_DRIVE_TRANSLATION_Y,
                                               POL_DRIVE_TRANSLATION_Z, POL_DRIVE_ROTATION_1,
                                               POL_DRIVE_ROTATION_2};
  char name[16];
  function_data data;
  snprintf(name, sizeof name, "d%d", m->num_drives);
  for (int attempt = 0; attempt < 30; attempt++) {
    pol_drive drive = {.name = name, .joint = pick(m, m->num_joints)};
    drive.coordinate = coordinates[pick(m, 7)];
    const pol_joint *joint = pol_mechanism_joint(m->mechanism, drive.joint);
    if (m->freedom[drive.joint] < 1 || !pol_joint_has_coordinate(joint, drive.coordinate)) continue;
    const double start = pol_mechanism_coordinate(m->mechanism, drive.joint, drive.coordinate);
    random_function(m, start, pol_coordinate_turns(drive.coordinate) ? 0.4 : 0.15, &drive.function,
                    &data);
    pol_status status = pol_mechanism_add_drive(m->mechanism, &drive, NULL);
    if (status == POL_BAD_ARGUMENT && m->num_drives > 0) continue; /* it is driven already */
    keep_status(m, status, "drive", name);
    m->freedom[drive.joint]--;
    m->num_drives++;
    say(m, "drive");
    return;
  }
}

/* A component of the place of a marker, seen from one on the ground. */
static void add_marker_drive(maker *m)
{
  const int body = pick(m, m->num_bodies);
  char name[16];
  function_data data;
  if (m->parent[body] != POL_GROUND || path_freedom(m, body, POL_GROUND, 0) < 3) return;
  placing frame[2] = {frame_near(m, POL_GROUND), frame_near(m, body)};
  pol_drive drive = {.name = name, .joint = POL_NO_JOINT};
  double way[3], local[3];
  const int axis = pick(m, 3);
  snprintf(name, sizeof name, "d%d", m->num_drives++);
  drive.marker[0] = add_marker(m, POL_GROUND, &frame[0]);
  drive.marker[1] = add_marker(m, body, &frame[1]);
  drive.coordinate = (pol_coordinate)(POL_DRIVE_X + axis);
  poli_v3_subtract(frame[1].position, frame[0].position, way);
  rotate_back(frame[0].rotation, way, local);
  random_function(m, local[axis], 0.1, &drive.function, &data);
  keep_status(m, pol_mechanism_add_drive(m->mechanism, &drive, NULL), "drive", name);
  path_freedom(m, body, POL_GROUND, 1);
  say(m, "marker-drive");
}

static void add_coupling(maker *m)
{
  int found[2] = {-1, -1};
  pol_coordinate coordinate[2];
  for (int attempt = 0; attempt < 40 && found[1] < 0; attempt++) {
    const int j = pick(m, m->num_joints), k = found[0] >= 0;
    const pol_joint_type type = pol_mechanism_joint(m->mechanism, j)->type;
    const int turns = type == POL_REVOLUTE || (type == POL_CYLINDRICAL && chance(m, 50));
    if (m->freedom[j] < 1 ||
        (type != POL_REVOLUTE && type != POL_PRISMATIC && type != POL_CYLINDRICAL))
      continue;
    coordinate[k] = turns ? POL_DRIVE_ROTATION : POL_DRIVE_TRANSLATION;
    if (k && found[0] == j && coordinate[0] == coordinate[1]) continue;
    found[k] = j;
  }
  if (found[1] < 0) return;
  char name[16];
  pol_coupling coupling = {.name = name};
  snprintf(name, sizeof name, "c%d", m->num_couplings++);
  for (int k = 0; k < 2; k++) {
    coupling.joint[k] = found[k];
    coupling.coordinate[k] = coordinate[k];
    coupling.factor[k] = (chance(m, 50) ? 1.0 : -1.0) * between(m, 0.4, 1.5);
    coupling.reference[k] = pol_mechanism_coordinate(m->mechanism, found[k], coordinate[k]);
  }
  keep_status(m, pol_mechanism_add_coupling(m->mechanism, &coupling, NULL), "coupling", name);
  m->freedom[found[1]]--;
  if (m->freedom[found[0]] > 0 && found[0] != found[1]) m->freedom[found[0]]--;
  say(m, "coupling");
}

/* --- forces ----------------------------------------------------------------------------------- */

/* A spring and damper between the centres of two bodies, with the energy k (d^2 + d^4)/2. */
static pol_status callback_wrench(double t, const pol_motion motion[2], double wrench[12],
                                  void *user)
{
  double d[3], speed[3];
  (void)t;
  (void)user;
  poli_v3_subtract(motion[1].position, motion[0].position, d);
  poli_v3_subtract(motion[1].velocity, motion[0].velocity, speed);
  const double square = poli_v3_dot(d, d), tension = 20.0 * (1.0 + 2.0 * square);
  for (int i = 0; i < 3; i++) {
    wrench[3 + i] = tension * d[i] + 0.5 * speed[i];
    wrench[9 + i] = -wrench[3 + i];
  }
  return POL_OK;
}

static double callback_potential(const pol_motion motion[2], void *user)
{
  double d[3];
  (void)user;
  poli_v3_subtract(motion[1].position, motion[0].position, d);
  const double square = poli_v3_dot(d, d);
  return 10.0 * square * (1.0 + square);
}

/* Two frames on different bodies, the second near the first if asked. */
static int random_frames(maker *m, int near, int bodies[2], placing frame[2])
{
  for (int attempt = 0; attempt < 20; attempt++) {
    double d[3], Q[4];
    bodies[0] = pick(m, m->num_bodies + 1) - 1;
    bodies[1] = pick(m, m->num_bodies);
    if (bodies[0] == bodies[1]) continue;
    if (near && (is_point(m, bodies[0]) || is_point(m, bodies[1]))) continue;
    frame[0] = frame_near(m, bodies[0]);
    random_vector(m, 0.1, d);
    random_rotation(m, 0.4, Q);
    frame[1] = near ? behind(&frame[0], d, Q) : frame_near(m, bodies[1]);
    poli_v3_subtract(frame[1].position, frame[0].position, d);
    if (near || poli_v3_dot(d, d) > 0.09) return 1;
  }
  return 0;
}

/* One or three expressions in place of numbers, or a function of time. */
static void make_variable(maker *m, pol_force *force, int num_expressions, int body, double size,
                          pol_function *function, function_data *data, char texts[3][TEXT_SIZE])
{
  const int which = pick(m, 10);
  if (which < 4) {
    for (int i = 0; i < num_expressions; i++) {
      const int j = m->num_joints ? pick(m, m->num_joints) : -1;
      const int rubs = m->reads_reactions && j >= 0 && chance(m, 50) &&
                       pol_mechanism_joint(m->mechanism, j)->type < POL_ROLLING_SPHERE &&
                       (!m->invariant || !m->point[body]);
      if (rubs)
        friction_expression(m, j, body, texts[i], TEXT_SIZE);
      else
        random_expression(m, size, texts[i], TEXT_SIZE);
      force->expressions[i] = texts[i];
    }
    say(m, "expression");
  } else if (which < 6 && force->type != POL_JOINT_SPRING) {
    random_function(m, between(m, 0.5, 1.0), 0.5, function, data);
    force->scale = function;
    say(m, "scale");
  }
}

static void add_force(maker *m)
{
  char name[16], texts[3][TEXT_SIZE];
  int bodies[2];
  placing frame[2];
  pol_function function;
  function_data data;
  const int body = pick(m, m->num_bodies);
  pol_force force = {.name = name, .body = body};
  force.type = (pol_force_type)pick(m, chance(m, 15) ? POL_CALLBACK_FORCE + 1 : POL_CALLBACK_FORCE);
  snprintf(name, sizeof name, "f%d", m->num_forces);
  switch (force.type) {
  case POL_APPLIED_TORQUE:
    if (m->point[body]) return; /* fall through */
  case POL_APPLIED_FORCE:
    force.frame =
        !m->point[body] && (m->invariant || chance(m, 50)) ? POL_BODY_AXES : POL_GLOBAL_AXES;
    random_vector(m, force.type == POL_APPLIED_FORCE ? 10.0 : 2.0, force.vector);
    if (force.type == POL_APPLIED_FORCE && !m->point[body]) random_vector(m, 0.3, force.point);
    make_variable(m, &force, 3, body, force.type == POL_APPLIED_FORCE ? 5.0 : 1.0, &function, &data,
                  texts);
    /* expressions along global axes do not turn with the mechanism */
    if (force.expressions[0] && force.frame == POL_GLOBAL_AXES) m->model->turnable = 0;
    break;
  case POL_SUPPORT:
    for (int i = 0; i < 3; i++) {
      force.stiffness[i] = m->invariant && i ? force.stiffness[0] : between(m, 0.0, 200.0);
      force.damping[i] = m->invariant && i ? force.damping[0] : between(m, 0.0, 4.0);
    }
    frame[0] = frame_near(m, body);
    poli_v3_subtract(frame[0].position, m->body[body].position, force.anchor);
    if (!m->point[body]) rotate_back(m->body[body].rotation, force.anchor, force.point);
    random_vector(m, 0.1, force.anchor);
    poli_v3_add(frame[0].position, force.anchor, force.anchor);
    break;
  case POL_SPRING_DAMPER:
    if (!random_frames(m, 0, bodies, frame)) return;
    force.law = chance(m, 40) ? POL_SQUARED_SPRING : POL_LINEAR_SPRING;
    force.stiffness[0] = between(m, 0.0, force.law == POL_SQUARED_SPRING ? 60.0 : 200.0);
    force.damping[0] = chance(m, 60) ? between(m, 0.0, 4.0) : 0.0;
    force.length = between(m, 0.2, 1.0);
    force.actuator = chance(m, 50) ? between(m, -5.0, 5.0) : 0.0;
    for (int k = 0; k < 2; k++) force.marker[k] = add_marker(m, bodies[k], &frame[k]);
    if (chance(m, 50)) make_variable(m, &force, 1, bodies[1], 4.0, &function, &data, texts);
    break;
  case POL_DRAG:
    force.coefficient = between(m, 0.0, 2.0);
    break;
  case POL_JOINT_SPRING: {
    if (m->num_joints == 0) return;
    force.joint = pick(m, m->num_joints);
    const pol_joint *joint = pol_mechanism_joint(m->mechanism, force.joint);
    if (pol_joint_num_coordinates(joint) == 0) return;
    force.coordinate = pick(m, pol_joint_num_coordinates(joint));
    const int angular = pol_joint_coordinate(joint, force.coordinate)->angular;
    force.stiffness[0] = between(m, 0.0, angular ? 15.0 : 200.0);
    force.damping[0] = chance(m, 60) ? between(m, 0.0, angular ? 0.5 : 4.0) : 0.0;
    force.rest = between(m, -1.0, 1.0);
    force.actuator = chance(m, 50) ? between(m, -2.0, 2.0) : 0.0;
    make_variable(m, &force, 1, body, 1.5, &function, &data, texts);
    break;
  }
  case POL_BUSHING:
    if (!random_frames(m, 1, bodies, frame)) return;
    for (int i = 0; i < 3; i++) {
      force.stiffness[i] = between(m, 0.0, 200.0);
      force.damping[i] = between(m, 0.0, 4.0);
      force.rotational_stiffness[i] = between(m, 0.0, 15.0);
      force.rotational_damping[i] = between(m, 0.0, 0.5);
      force.preload[i] = between(m, -5.0, 5.0);
      force.preload_torque[i] = between(m, -1.0, 1.0);
    }
    for (int k = 0; k < 2; k++) force.marker[k] = add_marker(m, bodies[k], &frame[k]);
    break;
  case POL_JOINT_STOP: /* made by joints */
  case POL_JOINT_FRICTION:
  case POL_BEAM: /* not among them */
    return;
  case POL_CALLBACK_FORCE:
    force.bodies[0] = pick(m, m->num_bodies + 1) - 1;
    force.bodies[1] = body;
    if (force.bodies[0] == body) return;
    force.callback.wrench = callback_wrench;
    force.callback.potential = chance(m, 50) ? callback_potential : NULL;
    m->model->in_files = 0;
    break;
  }
  if (force.expressions[0] && pol_force_num_expressions(force.type) == 1) force.actuator = 0.0;
  if (force.expressions[0] && pol_force_num_expressions(force.type) == 3)
    memset(force.vector, 0, sizeof force.vector);
  keep_status(m, pol_mechanism_add_force(m->mechanism, &force, NULL), "force", name);
  m->num_forces++;
  say(m, pol_force_type_name(force.type));
}

/* --- events ----------------------------------------------------------------------------------- */

static char *new_text(maker *m)
{
  return m->model->texts[m->model->num_texts++];
}

/* Zeros that surely come, at a time or of a state, and such that may come. */
static void add_event(maker *m)
{
  static const char axes[] = "xyz";
  random_model *model = m->model;
  pol_event_rule *event = &model->events[model->num_events];
  pol_change *change = &model->changes[model->num_events];
  char *name = new_text(m), *expression = new_text(m), *quantity = new_text(m);
  char *value = new_text(m), what[64];
  const int b = pick(m, m->num_bodies);
  snprintf(name, TEXT_SIZE, "e%d", model->num_events);
  *event = (pol_event_rule){.name = name, .expression = expression, .direction = 1};
  if (chance(m, 25)) {
    snprintf(expression, TEXT_SIZE, "t - %.17g", model->end * (3 + pick(m, 10)) / 16.0);
  } else if (chance(m, 50)) {
    snprintf(expression, TEXT_SIZE, "t - %.6g", model->end * between(m, 0.2, 0.8));
  } else {
    char signal[80];
    random_signal(m, signal, sizeof signal);
    snprintf(expression, TEXT_SIZE, "sin(%.3g*t) + 0.3*(%s) - %.3g", 1.2 / model->end, signal,
             between(m, 0.2, 0.6));
  }
  event->action = chance(m, 60) ? POL_EVENT_RESET : POL_EVENT_RECORD;
  if (event->action == POL_EVENT_RESET) {
    if (m->num_states && chance(m, 40)) {
      snprintf(what, sizeof what, "s%d", pick(m, m->num_states));
      snprintf(value, TEXT_SIZE, "%s + 0.5", what);
    } else {
      const char axis = axes[pick(m, 3)];
      snprintf(what, sizeof what, "b%d.%s.%c", b,
               m->point[b] || (!m->invariant && chance(m, 50)) ? "velocity" : "angular_velocity",
               axis);
      snprintf(value, TEXT_SIZE, "0.4 - 0.5*%s", what);
    }
    snprintf(quantity, TEXT_SIZE, "%s", what);
    if (strstr(what, "velocity") && !strstr(what, "angular")) model->turnable = 0;
    *change = (pol_change){quantity, value};
    event->num_changes = 1;
    event->changes = change;
    say(m, "reset");
  }
  model->num_events++;
  say(m, "event");
}

/* --- a model ---------------------------------------------------------------------------------- */

/* Random velocities, which the assembler of one formulation makes consistent: they are then part
 * of the mechanism; or they stay as they are, for the assembler of each formulation. */
static void set_velocities(maker *m)
{
  pol_mechanism *with = NULL;
  random_model *model = m->model;
  if (m->status || chance(m, 20)) return;
  double given[MAX_BODIES][6];
  for (int b = 0; b < m->num_bodies; b++) {
    random_vector(m, 1.0, given[b]);
    random_vector(m, 3.0, given[b] + 3);
  }
  model->raw_velocities = chance(m, 15);
  for (int pass = model->raw_velocities; pass < 2; pass++) {
    const random_change change = {.velocities = (const double(*)[6])given};
    pol_status status = random_model_copy(model, &change, &with);
    if (status) {
      keep_status(m, status, "velocities", "");
      return;
    }
    pol_mechanism_free(&model->mechanism);
    m->mechanism = model->mechanism = with;
    if (pass == 1) break;
    pol_simulation *simulation;
    pol_settings settings = pol_settings_default();
    pol_diagnostics d;
    settings.options.index = POL_INDEX_2_STABILIZED;
    status = pol_simulation_create(&simulation, with, &settings, &d);
    keep_status(m, status, "velocities:", d.message);
    if (status) return;
    const pol_state *state = pol_simulation_state(simulation);
    for (int b = 0; b < m->num_bodies; b++) {
      pol_body_state body;
      pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, b,
                                 &body);
      memcpy(given[b], body.velocity, sizeof body.velocity);
      memcpy(given[b] + 3, body.angular_velocity, sizeof body.angular_velocity);
    }
    pol_simulation_free(&simulation);
  }
  say(m, model->raw_velocities ? "raw-velocities" : "moving");
}

/* Moves the bodies a little off their joints: the assembler has to bring them back. */
static void displace(maker *m)
{
  double moves[MAX_BODIES][6];
  const random_change change = {.moves = (const double(*)[6])moves};
  pol_mechanism *displaced;
  if (m->status || m->num_joints == 0) return;
  for (int b = 0; b < m->num_bodies; b++) {
    random_vector(m, 0.03, moves[b]);
    random_vector(m, 0.06, moves[b] + 3);
  }
  pol_status status = random_model_copy(m->model, &change, &displaced);
  keep_status(m, status, "displaced bodies", "");
  if (status) return;
  pol_mechanism_free(&m->model->mechanism);
  m->mechanism = m->model->mechanism = displaced;
  say(m, "displaced");
}

static void make(maker *m)
{
  double gravity[3];
  const int family = pick(m, 10), planar = family == 0 || family == 1;
  const int tops = family == 8; /* which the formulation so3 takes */
  const int points = family == 2 ? 60 : !tops && chance(m, 20) ? 30 : 0;
  const int rolling = family == 3 ? 50 : !tops && chance(m, 10) ? 20 : 0;
  random_vector(m, 9.0, gravity);
  if (chance(m, 85)) pol_mechanism_set_gravity(m->mechanism, gravity);
  m->invariant = chance(m, 40);
  m->prefers_coordinates = family == 9;
  m->reads_reactions = chance(m, family == 4 ? 90 : 35);
  m->model->turnable = m->invariant;

  if (planar) add_planar_loop(m);
  for (int i = planar ? pick(m, 2) : 1 + pick(m, 4); i > 0; i--) {
    const int point = chance(m, points), roll = !point && chance(m, rolling);
    int parent = pick(m, m->num_bodies + 1) - 1;
    if (tops || (roll && is_point(m, parent))) parent = POL_GROUND;
    if (!tops && chance(m, 12)) {
      placing frame = frame_near(m, POL_GROUND);
      add_body(m, &frame, point);
      say(m, "free");
      continue;
    }
    add_tree_body(m, parent, point, roll, tops);
    if (tops) say(m, "top");
    if (roll) say(m, "rolling");
    if (point) say(m, "point");
  }
  for (int i = family == 5 ? 1 + pick(m, 2) : chance(m, 15); i > 0; i--) close_loop(m);
  if (m->num_joints && chance(m, family == 1 ? 40 : 8)) double_joint(m);
  for (int i = family == 6 ? 1 + pick(m, 2) : chance(m, 15); i > 0 && m->num_joints; i--)
    add_drive(m);
  if (chance(m, 15)) add_marker_drive(m);
  if (m->num_joints && chance(m, family == 9 ? 100 : 30)) add_coupling(m);
  add_variables_and_states(m, family == 4 || chance(m, 15) ? 1 + pick(m, 2) : 0);
  for (int i = pick(m, 5); i > 0; i--) add_force(m);
  for (int i = family == 7 ? 1 + pick(m, 2) : chance(m, 10); i > 0; i--) add_event(m);
  if (chance(m, 10)) displace(m);
  set_velocities(m);
}

pol_status random_model_create(random_model *model, uint64_t seed, char *message, size_t size)
{
  maker m = {.random = seed * 0x2545f4914f6cdd1du + 7u};
  /* drives in loops that are stiffer than their count of freedoms: another one */
  for (int attempt = 0; attempt < 10 && (attempt == 0 || m.status == POL_INCONSISTENT); attempt++) {
    if (attempt) random_model_free(model);
    memset(model, 0, sizeof *model);
    m = (maker){.random = m.random, .model = model};
    model->seed = seed;
    model->end = 0.1;
    model->in_files = 1;
    m.status = pol_mechanism_create(&model->mechanism);
    m.mechanism = model->mechanism;
    if (!m.status) make(&m);
  }
  if (m.status) {
    snprintf(message, size, "%s: %s", m.failed, pol_status_text(m.status));
    random_model_free(model);
  }
  return m.status;
}

void random_model_free(random_model *model)
{
  pol_mechanism_free(&model->mechanism);
}

pol_settings random_model_settings(const random_model *model)
{
  pol_settings settings = pol_settings_default();
  settings.end = model->end;
  settings.num_events = model->num_events;
  settings.events = model->events;
  return settings;
}
