/* Mechanisms with random bodies, markers and joints. */
#ifndef POLHODE_TESTS_RANDOM_MECHANISM_H
#define POLHODE_TESTS_RANDOM_MECHANISM_H

#include "formulation/equations.h"
#include "mechanism/coordinate.h"

/* Adds forces to a mechanism that is otherwise complete. */
typedef void add_forces_t(pol_mechanism *mechanism, uint64_t *seed);

/* What a mechanism of two bodies has beside its joint type. */
typedef struct variant {
  int swapped;              /* the ends of the joints */
  int global_axes;          /* of the joints that can have them */
  add_forces_t *add_forces; /* NULL for none */
} variant;

static inline int add_random_marker(pol_mechanism *mechanism, int body, uint64_t *seed)
{
  pol_marker marker = {.name = "", .body = body};
  int index;
  if (body == POL_GROUND || !pol_mechanism_body(mechanism, body)->point)
    random_numbers(seed, marker.position, 3);
  random_quaternion(seed, marker.rotation);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

static inline void add_random_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type,
                                    int global_axes, int first_body, int second_body,
                                    uint64_t *seed)
{
  pol_joint joint = {.name = name, .type = type, .length = 0.8, .radius = 0.6};
  joint.locked = 1u + (unsigned)(*seed >> 40) % 63u; /* of a generic joint */
  joint.global_axes = global_axes && pol_joint_locks_point(&joint);
  joint.marker[0] = add_random_marker(mechanism, first_body, seed);
  joint.marker[1] = add_random_marker(mechanism, second_body, seed);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

static inline void random_body(const char *name, uint64_t *seed, pol_body *body)
{
  *body = (pol_body){.name = name,
                     .mass = 2.0 + random_number(seed),
                     .inertia = {1.0, 0.1, -0.2, 0.1, 1.3, 0.3, -0.2, 0.3, 0.9}};
  random_rotation(seed, body->rotation);
  random_numbers(seed, body->position, 3);
}

/* Directors move as those of a rigid body: d_i' = w x d_i. */
static inline void make_rigid(system_t *sys)
{
  for (int b = 0; b < 2 && pol_formulation_get_kind(sys->formulation) == POL_DIRECTORS; b++) {
    pol_body_state body;
    pol_formulation_body_state(sys->formulation, sys->q, sys->v, b, &body);
    const double *w = body.angular_velocity_global;
    for (int k = 0; k < 3; k++) {
      const double *d = sys->q + 12 * b + 3 * k;
      double *rate = sys->v + 12 * b + 3 * k;
      for (int i = 0; i < 3; i++)
        rate[i] = w[(i + 1) % 3] * d[(i + 2) % 3] - w[(i + 2) % 3] * d[(i + 1) % 3];
    }
  }
}

/* Two bodies, joints ground-a and a-b of the given type, with random markers.  so3 has a pivot for
 * each body instead of the first joint. */
static inline void create(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                          const variant *with, uint64_t *seed)
{
  static const double gravity[3] = {0.3, -2.0, -9.81};
  const int swapped = with->swapped, global = with->global_axes;
  pol_body body;
  *sys = (system_t){0};
  assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
  pol_mechanism_set_gravity(sys->mechanism, gravity);
  for (int i = 0; i < 2; i++) {
    random_body(i == 0 ? "a" : "b", seed, &body);
    assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
  }
  if (kind == POL_SO3_PIVOT) {
    add_random_joint(sys->mechanism, "pivot a", POL_SPHERICAL, 0, POL_GROUND, 0, seed);
    add_random_joint(sys->mechanism, "pivot b", POL_SPHERICAL, 0, 1, POL_GROUND, seed);
  } else {
    add_random_joint(sys->mechanism, "first", type, global, swapped ? 0 : POL_GROUND,
                     swapped ? POL_GROUND : 0, seed);
  }
  add_random_joint(sys->mechanism, "second", type, global, swapped, 1 - swapped, seed);
  uint64_t own_seed = *seed; /* so that all else is the same with and without forces */
  if (with->add_forces) with->add_forces(sys->mechanism, &own_seed);
  create_equations(sys, kind, seed);
}

/* The frame of a body, or of the ground, turned as it starts. */
static inline void initial_rotation(const pol_mechanism *mechanism, int body, poli_frame *frame)
{
  static const double upright[4] = {1.0, 0.0, 0.0, 0.0};
  memset(frame, 0, sizeof *frame);
  pol_quat_to_matrix(body == POL_GROUND ? upright : pol_mechanism_body(mechanism, body)->rotation,
                     frame->R);
}

/* The sine of the angle between the axis of a disk and the normal of its plane, as it starts. */
static inline double upright_disk(const pol_mechanism *mechanism, const pol_joint *joint)
{
  double axis[2][3] = {{0.0}}, cosine = 0.0;
  for (int end = 0; end < 2; end++) {
    const pol_marker *marker = pol_mechanism_marker(mechanism, joint->marker[end]);
    double A[9];
    poli_frame frame;
    initial_rotation(mechanism, marker->body, &frame);
    pol_quat_to_matrix(marker->rotation, A);
    for (int i = 0; i < 9; i++) axis[end][i / 3] += frame.R[i] * A[3 * (i % 3) + 2];
  }
  for (int i = 0; i < 3; i++) cosine += axis[0][i] * axis[1][i];
  return sqrt(fmax(0.0, 1.0 - cosine * cosine));
}

/* The least distance of the angles of a mechanism, as it starts, from where they are not defined,
 * and of its disks from lying flat: finite differences need room. */
static inline double room(const pol_mechanism *mechanism)
{
  double least = 1.0;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    if (joint->type == POL_ROLLING_DISK) least = fmin(least, upright_disk(mechanism, joint));
    for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
      poli_coordinate_kernel kernel;
      poli_frame frames[2];
      double row[2];
      poli_coordinate_kernel_setup(&kernel, mechanism, k, i);
      for (int end = 0; end < 2; end++) initial_rotation(mechanism, kernel.body[end], &frames[end]);
      poli_joint_position(&kernel.rows, &frames[0], &frames[1], row);
      if (kernel.angular) least = fmin(least, hypot(row[0], row[1]));
    }
  }
  return least;
}

/* The same as create(), tried again until there is room. */
static inline void create_with_room(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                                    const variant *with, uint64_t *seed)
{
  create(sys, type, kind, with, seed);
  while (room(sys->mechanism) <= 0.5) {
    destroy(sys);
    create(sys, type, kind, with, seed);
  }
}

#endif
