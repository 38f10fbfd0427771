/* Every term of the equations of motion against finite differences along the group, for each
 * formulation and each joint type, with the ground first, second and not at all, at random
 * configurations. */
#include <polhode/polhode.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dae/dae.h"
#include "mechanism/coordinate.h"

enum { MAX_NV = 30, MAX_NQ = 30, MAX_M = 30, MAX_HISTORY = 4 };
static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
static const double s = 2.5e-4; /* fine enough for the force of a short spring */

typedef struct system {
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  const pol_dae *dae;
  pol_dae_patterns patterns;
  int nv, m;
  double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], lambda[MAX_M], history[MAX_HISTORY];
  double *scratch;
  int global_axes; /* before create(): of the joints that can have them */
  void (*add_forces)(pol_mechanism *mechanism, uint64_t *seed); /* before create(); NULL for none */
} system_t;

static int add_random_marker(pol_mechanism *mechanism, int body, uint64_t *seed)
{
  pol_marker marker = {.name = "", .body = body};
  int index;
  if (body == POL_GROUND || !pol_mechanism_body(mechanism, body)->point)
    random_numbers(seed, marker.position, 3);
  random_quaternion(seed, marker.rotation);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

static void add_random_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type,
                             int global_axes, int first_body, int second_body, uint64_t *seed)
{
  pol_joint joint = {.name = name, .type = type, .length = 0.8, .radius = 0.6};
  joint.locked = 1u + (unsigned)(*seed >> 40) % 63u; /* of a generic joint */
  joint.global_axes = global_axes && pol_joint_locks_point(&joint);
  joint.marker[0] = add_random_marker(mechanism, first_body, seed);
  joint.marker[1] = add_random_marker(mechanism, second_body, seed);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

/* 1.7 at t = 0, where the terms are evaluated */
static const pol_function scale = {
    .type = POL_HARMONIC, .offset = 1.7, .amplitude = 2.0, .frequency = 3.0};

/* A force and a torque in each frame, on both bodies, the forces off the centre of mass; two are
 * scaled by a function of time. */
static void add_random_forces(pol_mechanism *mechanism, uint64_t *seed)
{
  static const char *const names[] = {"f global", "f body", "t global", "t body"};
  for (int i = 0; i < 4; i++) {
    pol_force force = {.name = names[i],
                       .type = i < 2 ? POL_APPLIED_FORCE : POL_APPLIED_TORQUE,
                       .body = i == 0 || i == 3,
                       .frame = i % 2 ? POL_BODY_AXES : POL_GLOBAL_AXES,
                       .scale = i == 1 || i == 2 ? &scale : NULL};
    random_numbers(seed, force.vector, 3);
    random_numbers(seed, force.point, 3);
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
}

/* A linear spring and damper between the centres of mass, and a damper of the second spin, as a
 * program may write it. */
static pol_status own_wrench(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  const double *k = user;
  (void)t;
  for (int i = 0; i < 3; i++) {
    wrench[9 + i] = -k[0] * (motion[1].position[i] - motion[0].position[i]) -
                    k[1] * (motion[1].velocity[i] - motion[0].velocity[i]);
    wrench[3 + i] = -wrench[9 + i];
    wrench[6 + i] = -k[1] * motion[1].angular_velocity[i];
  }
  return POL_OK;
}

static pol_status own_derivatives(double t, const pol_motion motion[2], double by_position[12][12],
                                  double by_velocity[12][12], void *user)
{
  const double *k = user;
  (void)t;
  (void)motion;
  for (int i = 0; i < 3; i++) {
    by_velocity[6 + i][6 + i] = -k[1];
    for (int row = 0; row < 2; row++)
      for (int col = 0; col < 2; col++) {
        by_position[3 + 6 * row + i][3 + 6 * col + i] = row == col ? -k[0] : k[0];
        by_velocity[3 + 6 * row + i][3 + 6 * col + i] = row == col ? -k[1] : k[1];
      }
  }
  return POL_OK;
}

static double own_potential(const pol_motion motion[2], void *user)
{
  const double *k = user;
  double square = 0.0;
  for (int i = 0; i < 3; i++) {
    double d = motion[1].position[i] - motion[0].position[i];
    square += d * d;
  }
  return 0.5 * k[0] * square;
}

/* Markers turned by at most 0.52 rad: with bodies turned by at most 0.87 rad, two of them are never
 * further than 2.8 rad from each other, and a bushing ends at 3. */
static void add_bushing_markers(pol_mechanism *mechanism, int first, int second, uint64_t *seed,
                                int marker[2])
{
  for (int i = 0; i < 2; i++) {
    pol_marker end = {.name = "", .body = i == 0 ? first : second};
    double w[3];
    random_numbers(seed, end.position, 3);
    random_numbers(seed, w, 3);
    for (int j = 0; j < 3; j++) w[j] *= 0.3;
    pol_so3_exp(w, end.rotation);
    assert_int_equal(pol_mechanism_add_marker(mechanism, &end, &marker[i]), POL_OK);
  }
}

/* Laws of position and velocity: supports and drag on both bodies, spring-dampers, bushings and a
 * program's own force between them and to the ground, the ground first and second.  Actuators push
 * with the given force, one of them scaled by a function of time. */
static void add_laws(pol_mechanism *mechanism, double actuator, uint64_t *seed)
{
  static const struct {
    const char *name;
    pol_force_type type;
    int first, second;
    pol_spring_law law;
  } laws[] = {
      {"support a", POL_SUPPORT, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"support b", POL_SUPPORT, POL_GROUND, 1, POL_LINEAR_SPRING},
      {"drag a", POL_DRAG, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"drag b", POL_DRAG, POL_GROUND, 1, POL_LINEAR_SPRING},
      {"a to b", POL_SPRING_DAMPER, 0, 1, POL_LINEAR_SPRING},
      {"b to a", POL_SPRING_DAMPER, 1, 0, POL_SQUARED_SPRING},
      {"ground to a", POL_SPRING_DAMPER, POL_GROUND, 0, POL_SQUARED_SPRING},
      {"b to ground", POL_SPRING_DAMPER, 1, POL_GROUND, POL_LINEAR_SPRING},
      {"bushing a to b", POL_BUSHING, 0, 1, POL_LINEAR_SPRING},
      {"bushing b to a", POL_BUSHING, 1, 0, POL_LINEAR_SPRING},
      {"bushing of a", POL_BUSHING, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"bushing of b", POL_BUSHING, 1, POL_GROUND, POL_LINEAR_SPRING},
      {"own a to b", POL_CALLBACK_FORCE, 0, 1, POL_LINEAR_SPRING},
      {"own b to ground", POL_CALLBACK_FORCE, 1, POL_GROUND, POL_LINEAR_SPRING},
  };
  static double own[2] = {3.0, 0.7};
  for (int i = 0; i < 14; i++) {
    pol_force force = {.name = laws[i].name,
                       .type = laws[i].type,
                       .body = laws[i].second,
                       .law = laws[i].law,
                       .length = 0.7,
                       .actuator = actuator,
                       .scale = i == 4 ? &scale : NULL,
                       .coefficient = 0.4,
                       .bodies = {laws[i].first, laws[i].second},
                       .callback = {.wrench = own_wrench,
                                    .derivatives = own_derivatives,
                                    .potential = own_potential,
                                    .user = own}};
    random_numbers(seed, force.point, 3);
    random_numbers(seed, force.anchor, 3);
    for (int k = 0; k < 3; k++) {
      force.stiffness[k] = 2.0 + random_number(seed);
      force.damping[k] = 2.0 + random_number(seed);
      force.rotational_stiffness[k] = 2.0 + random_number(seed);
      force.rotational_damping[k] = 2.0 + random_number(seed);
      force.preload[k] = random_number(seed);
      force.preload_torque[k] = random_number(seed);
    }
    if (force.type == POL_SPRING_DAMPER) {
      force.marker[0] = add_random_marker(mechanism, laws[i].first, seed);
      force.marker[1] = add_random_marker(mechanism, laws[i].second, seed);
    }
    if (force.type == POL_BUSHING)
      add_bushing_markers(mechanism, laws[i].first, laws[i].second, seed, force.marker);
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
}

static void add_passive_laws(pol_mechanism *mechanism, uint64_t *seed)
{
  add_laws(mechanism, 0.0, seed);
}

static void add_active_laws(pol_mechanism *mechanism, uint64_t *seed)
{
  add_laws(mechanism, 3.0, seed);
}

/* A spring on each coordinate of each joint, with the actuator's effort given. */
static void add_joint_springs(pol_mechanism *mechanism, double actuator, uint64_t *seed)
{
  for (int joint = 0; joint < pol_mechanism_num_joints(mechanism); joint++) {
    int count = pol_joint_num_coordinates(pol_mechanism_joint(mechanism, joint));
    for (int i = 0; i < count; i++) {
      const char name[] = {(char)('a' + joint), (char)('a' + i), '\0'};
      pol_force force = {.name = name,
                         .type = POL_JOINT_SPRING,
                         .joint = joint,
                         .coordinate = i,
                         .stiffness = {2.0 + random_number(seed)},
                         .damping = {2.0 + random_number(seed)},
                         .rest = random_number(seed),
                         .actuator = actuator};
      assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
    }
  }
}

static void add_passive_joint_springs(pol_mechanism *mechanism, uint64_t *seed)
{
  add_joint_springs(mechanism, 0.0, seed);
}

static void add_active_joint_springs(pol_mechanism *mechanism, uint64_t *seed)
{
  add_joint_springs(mechanism, 3.0, seed);
}

/* Turned by less than 0.9 rad from the global axes: far from gimbal lock. */
static void random_rotation(uint64_t *seed, double q[4])
{
  double w[3];
  random_numbers(seed, w, 3);
  for (int i = 0; i < 3; i++) w[i] *= 0.5;
  pol_so3_exp(w, q);
}

static void random_body(const char *name, uint64_t *seed, pol_body *body)
{
  *body = (pol_body){.name = name,
                     .mass = 2.0 + random_number(seed),
                     .inertia = {1.0, 0.1, -0.2, 0.1, 1.3, 0.3, -0.2, 0.3, 0.9}};
  random_rotation(seed, body->rotation);
  random_numbers(seed, body->position, 3);
}

/* The equations of the mechanism, at its position and with random velocities and multipliers. */
static void finish(system_t *sys, pol_formulation_kind kind, uint64_t *seed)
{
  unsigned char keep[MAX_NV];
  assert_int_equal(pol_formulation_create(&sys->formulation, sys->mechanism, kind), POL_OK);
  sys->dae = pol_formulation_dae(sys->formulation);
  assert_int_equal(pol_dae_validate(sys->dae, NULL, 0), POL_OK);
  assert_int_equal(pol_dae_patterns_create(&sys->patterns, sys->dae), POL_OK);
  sys->nv = sys->dae->group.nv;
  sys->m = pol_dae_num_constraints(sys->dae);
  assert_true(sys->nv <= MAX_NV && sys->m <= MAX_M && sys->dae->group.nq <= MAX_NQ);
  sys->scratch = calloc(sys->dae->scratch_size, sizeof *sys->scratch);
  pol_formulation_initial(sys->formulation, sys->q, sys->v, keep);
  random_numbers(seed, sys->v, sys->nv);
  random_numbers(seed, sys->vd, sys->nv);
  random_numbers(seed, sys->lambda, sys->m);
}

/* Directors move as those of a rigid body: d_i' = w x d_i. */
static void make_rigid(system_t *sys)
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

/* Two bodies, joints ground-a and a-b of the given type, with random markers (not assembled: the
 * terms must be right off the constraints too).  so3 has a pivot for each body instead of the first
 * joint. */
static void create(system_t *sys, pol_joint_type type, pol_formulation_kind kind, int swapped,
                   uint64_t *seed)
{
  static const double gravity[3] = {0.3, -2.0, -9.81};
  int global = sys->global_axes;
  pol_body body;
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
  if (sys->add_forces) sys->add_forces(sys->mechanism, &own_seed);
  finish(sys, kind, seed);
}

static void destroy(system_t *sys)
{
  free(sys->scratch);
  pol_dae_patterns_free(&sys->patterns);
  pol_formulation_free(&sys->formulation);
  pol_mechanism_free(&sys->mechanism);
}

static pol_point point_of(const system_t *sys)
{
  return (pol_point){
      .q = sys->q, .v = sys->v, .vd = sys->vd, .lambda = sys->lambda, .history = sys->history};
}

static void evaluate(const system_t *sys, const pol_point *at, unsigned want, const pol_terms *out)
{
  assert_int_equal(pol_dae_evaluate(sys->dae, at, want, out, sys->scratch), POL_OK);
}

/* Sparse values to a dense row-major matrix. */
static void expand(const pol_pattern *pattern, const double *values, double *dense)
{
  memset(dense, 0, (size_t)(pattern->rows * pattern->cols) * sizeof *dense);
  for (int j = 0; j < pattern->cols; j++)
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
      dense[pattern->row[k] * pattern->cols + j] = values[k];
}

enum { POSITION_VARIED, VELOCITY_VARIED };

/* Derivative of `rows` numbers that `want` puts where `vector` points, by q or by v: rows x nv. */
static void numeric_derivative(system_t *sys, int varied, unsigned want, const pol_terms *out,
                               const double *vector, int rows, double *derivative)
{
  for (int j = 0; j < sys->nv; j++) {
    double samples[4][MAX_NV], q[MAX_NQ], v[MAX_NV], step[MAX_NV] = {0.0};
    for (int k = 0; k < 4; k++) {
      pol_point at = point_of(sys);
      memcpy(v, sys->v, (size_t)sys->nv * sizeof *v);
      step[j] = offset[k] * s;
      if (varied == POSITION_VARIED) {
        pol_group_move(&sys->dae->group, sys->q, step, q);
        at.q = q;
      } else {
        v[j] += step[j];
        at.v = v;
      }
      evaluate(sys, &at, want, out);
      memcpy(samples[k], vector, (size_t)rows * sizeof *vector);
    }
    for (int i = 0; i < rows; i++) {
      double f[4] = {samples[0][i], samples[1][i], samples[2][i], samples[3][i]};
      derivative[i * sys->nv + j] = difference(f, s);
    }
  }
}

/* The matrix of one `want` bit against the derivative of a vector. */
static void check_matrix(system_t *sys, unsigned matrix, const pol_pattern *pattern, int varied,
                         unsigned vector_want, int rows)
{
  double values[MAX_NV * MAX_NV], vector[MAX_NV], dense[MAX_NV * MAX_NV], numeric[MAX_NV * MAX_NV];
  pol_terms out = {.balance = vector,
                   .position = vector,
                   .velocity = vector,
                   .damping = values,
                   .stiffness = values,
                   .jacobian = values,
                   .curvature = values};
  pol_point at = point_of(sys);
  evaluate(sys, &at, matrix, &out);
  expand(pattern, values, dense);
  numeric_derivative(sys, varied, vector_want, &out, vector, rows, numeric);
  assert_near(dense, numeric, rows * sys->nv, 1e-9);
}

/* M vd = inertia, symmetric; velocity = B v; acceleration = Z v; energy = v M v / 2. */
static void check_products(system_t *sys)
{
  double mass[MAX_NV * MAX_NV], M[MAX_NV * MAX_NV], inertia[MAX_NV], product[MAX_NV],
      B[MAX_M * MAX_NV], Z[MAX_M * MAX_NV];
  double velocity[MAX_M], acceleration[MAX_M], Bv[MAX_M] = {0.0}, Zv[MAX_M] = {0.0};
  pol_terms out = {.balance = inertia,
                   .velocity = velocity,
                   .acceleration = acceleration,
                   .mass = mass,
                   .jacobian = B,
                   .curvature = Z};
  pol_point at = point_of(sys);
  evaluate(sys, &at,
           POL_INERTIA | POL_MASS | POL_VELOCITY | POL_ACCELERATION | POL_JACOBIAN | POL_CURVATURE,
           &out);
  expand(sys->patterns.coupling, mass, M);
  for (int i = 0; i < sys->nv; i++) {
    product[i] = 0.0;
    for (int j = 0; j < sys->nv; j++) {
      product[i] += M[i * sys->nv + j] * sys->vd[j];
      assert_near(&M[i * sys->nv + j], &M[j * sys->nv + i], 1, 1e-15);
    }
  }
  assert_near(product, inertia, sys->nv, 1e-14);
  pol_matrix_multiply(sys->patterns.constraint, B, 1.0, sys->v, Bv);
  pol_matrix_multiply(sys->patterns.constraint, Z, 1.0, sys->v, Zv);
  assert_near(Bv, velocity, sys->m, 1e-13);
  assert_near(Zv, acceleration, sys->m, 1e-13);

  pol_energy energy;
  double twice = 0.0, Mv[MAX_NV] = {0.0};
  pol_formulation_energy(sys->formulation, &(pol_point){.q = sys->q, .v = sys->v}, &energy);
  pol_matrix_multiply(sys->patterns.coupling, mass, 1.0, sys->v, Mv);
  for (int i = 0; i < sys->nv; i++) twice += Mv[i] * sys->v[i];
  assert_near(&energy.kinetic, &(double){0.5 * twice}, 1, 1e-13);
}

/* B^T lambda = reaction, and the force does the work that the potential loses: gradient at rest. */
static void check_forces(system_t *sys)
{
  double B[MAX_M * MAX_NV], reaction[MAX_NV], product[MAX_NV] = {0.0}, force[MAX_NV],
                                              rest[MAX_NV] = {0.0};
  pol_terms out = {.balance = reaction, .jacobian = B};
  pol_point at = point_of(sys);
  evaluate(sys, &at, POL_REACTION | POL_JACOBIAN, &out);
  pol_matrix_multiply_transposed(sys->patterns.constraint, B, 1.0, sys->lambda, product);
  assert_near(product, reaction, sys->nv, 1e-13);

  out.balance = force;
  at.v = rest;
  evaluate(sys, &at, POL_FORCE, &out);
  for (int j = 0; j < sys->nv; j++) {
    double f[4], q[MAX_NQ], step[MAX_NV] = {0.0};
    for (int k = 0; k < 4; k++) {
      pol_energy energy;
      step[j] = offset[k] * s;
      pol_group_move(&sys->dae->group, sys->q, step, q);
      pol_formulation_energy(sys->formulation,
                             &(pol_point){.q = q, .v = rest, .history = sys->history}, &energy);
      f[k] = energy.potential;
    }
    assert_near(&force[j], &(double){difference(f, s)}, 1, 1e-9);
  }
}

static void check_all(system_t *sys)
{
  const pol_pattern *W = sys->patterns.coupling, *B = sys->patterns.constraint;
  check_matrix(sys, POL_JACOBIAN, B, POSITION_VARIED, POL_POSITION, sys->dae->num_holonomic);
  check_matrix(sys, POL_JACOBIAN, B, VELOCITY_VARIED, POL_VELOCITY, sys->m);
  check_matrix(sys, POL_CURVATURE, B, POSITION_VARIED, POL_VELOCITY, sys->m);
  check_matrix(sys, POL_DAMPING, W, VELOCITY_VARIED, POL_FORCE, sys->nv);
  check_matrix(sys, POL_STIFFNESS, W, POSITION_VARIED, POL_INERTIA | POL_FORCE, sys->nv);
  check_matrix(sys, POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED, POL_REACTION, sys->nv);
  check_matrix(sys, POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED,
               POL_INERTIA | POL_FORCE | POL_REACTION, sys->nv);
  check_products(sys);
  check_forces(sys);
}

/* The frame of a body, or of the ground, turned as it starts. */
static void initial_rotation(const pol_mechanism *mechanism, int body, pol_frame *frame)
{
  static const double upright[4] = {1.0, 0.0, 0.0, 0.0};
  memset(frame, 0, sizeof *frame);
  pol_quat_to_matrix(body == POL_GROUND ? upright : pol_mechanism_body(mechanism, body)->rotation,
                     frame->R);
}

/* The sine of the angle between the axis of a disk and the normal of its plane, as it starts. */
static double upright_disk(const pol_mechanism *mechanism, const pol_joint *joint)
{
  double axis[2][3] = {{0.0}}, cosine = 0.0;
  for (int end = 0; end < 2; end++) {
    const pol_marker *marker = pol_mechanism_marker(mechanism, joint->marker[end]);
    double A[9];
    pol_frame frame;
    initial_rotation(mechanism, marker->body, &frame);
    pol_quat_to_matrix(marker->rotation, A);
    for (int i = 0; i < 9; i++) axis[end][i / 3] += frame.R[i] * A[3 * (i % 3) + 2];
  }
  for (int i = 0; i < 3; i++) cosine += axis[0][i] * axis[1][i];
  return sqrt(fmax(0.0, 1.0 - cosine * cosine));
}

/* The least distance of the angles of a mechanism, as it starts, from where they are not defined,
 * and of its disks from lying flat: finite differences need room. */
static double room(const pol_mechanism *mechanism)
{
  double least = 1.0;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    if (joint->type == POL_ROLLING_DISK) least = fmin(least, upright_disk(mechanism, joint));
    for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
      pol_coordinate_kernel kernel;
      pol_frame frames[2];
      double row[2];
      pol_coordinate_kernel_setup(&kernel, mechanism, k, i);
      for (int end = 0; end < 2; end++) initial_rotation(mechanism, kernel.body[end], &frames[end]);
      pol_joint_position(&kernel.rows, &frames[0], &frames[1], row);
      if (kernel.angular) least = fmin(least, hypot(row[0], row[1]));
    }
  }
  return least;
}

/* The same as create(), tried again until there is room. */
static void create_with_room(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                             int swapped, uint64_t *seed)
{
  const system_t wanted = *sys;
  create(sys, type, kind, swapped, seed);
  while (room(sys->mechanism) <= 0.5) {
    destroy(sys);
    *sys = wanted;
    create(sys, type, kind, swapped, seed);
  }
}

/* Types that lock a point, and the generic one, which may. */
static int can_be_global(pol_joint_type type)
{
  return type == POL_GENERIC || pol_joint_locks_point(&(pol_joint){.type = type});
}

static void all_terms_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 20260101, global_seed = 20260102;
  int cases = 0;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++)
      for (int variant = 0; variant < 4; variant++) {
        system_t sys = {.global_axes = variant / 2};
        int swapped = variant % 2;
        if (sys.global_axes && !can_be_global((pol_joint_type)type)) continue;
        if (kind == POL_DIRECTORS && type >= POL_ROLLING_SPHERE) continue; /* not quadratic */
        cases++;
        create_with_room(&sys, (pol_joint_type)type, (pol_formulation_kind)kind, swapped,
                         sys.global_axes ? &global_seed : &seed);
        check_all(&sys);
        destroy(&sys);
      }
  assert_int_equal(cases, 2 * (15 + 6) * pol_formulation_count() - 2 * 2);
}

/* The balance's force without and with forces, all else the same; the loaded system stays. */
static void load(system_t *sys, pol_formulation_kind kind,
                 void (*add_forces)(pol_mechanism *mechanism, uint64_t *seed), uint64_t seed,
                 double bare[MAX_NV], double loaded[MAX_NV])
{
  uint64_t again = seed;
  pol_point at;
  *sys = (system_t){.add_forces = NULL};
  create(sys, POL_SPHERICAL, kind, 0, &seed);
  at = point_of(sys);
  evaluate(sys, &at, POL_FORCE, &(pol_terms){.balance = bare});
  destroy(sys);
  *sys = (system_t){.add_forces = add_forces};
  create(sys, POL_SPHERICAL, kind, 0, &again);
  at = point_of(sys);
  evaluate(sys, &at, POL_FORCE, &(pol_terms){.balance = loaded});
}

/* Forces have a stiffness and a damping of their own; they do not touch the other terms. */
static void forces_match_finite_differences(void **state)
{
  (void)state;
  void (*const all[])(pol_mechanism *, uint64_t *) = {add_random_forces, add_active_laws};
  for (uint64_t seed = 1; seed <= 6; seed++)
    for (int kind = 0; kind < pol_formulation_count(); kind++)
      for (int i = 0; i < 2; i++) {
        system_t sys;
        double bare[MAX_NV], loaded[MAX_NV], change = 0.0;
        load(&sys, (pol_formulation_kind)kind, all[i], seed, bare, loaded);
        for (int k = 0; k < sys.nv; k++) change = fmax(change, fabs(loaded[k] - bare[k]));
        assert_true(change > 0.1);
        check_matrix(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                     POL_INERTIA | POL_FORCE, sys.nv);
        check_matrix(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE, sys.nv);
        destroy(&sys);
      }
}

/* Two bodies and two joints with room, springs on all joint coordinates, a turn made. */
static void create_with_joint_springs(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                                      void (*add)(pol_mechanism *, uint64_t *), uint64_t *seed)
{
  const double turn = 2.0 * 3.14159265358979323846;
  *sys = (system_t){.add_forces = add};
  create_with_room(sys, type, kind, 0, seed);
  assert_true(sys->dae->history_size <= MAX_HISTORY);
  if (sys->dae->remember) sys->dae->remember(0.0, sys->q, sys->history, sys->dae->user);
  for (size_t i = 0; i < sys->dae->history_size; i++) {
    assert_true(fabs(sys->history[i]) <= turn / 2.0);
    sys->history[i] += turn;
  }
}

static void joint_springs_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 5;
  static const pol_joint_type types[] = {POL_REVOLUTE,       POL_PRISMATIC, POL_CYLINDRICAL,
                                         POL_UNIVERSAL,      POL_PLANAR,    POL_POINT_ON_LINE,
                                         POL_POINT_IN_PLANE, POL_PARALLEL,  POL_GENERIC};
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (size_t n = 0; n < sizeof types / sizeof types[0]; n++) {
      system_t sys;
      create_with_joint_springs(&sys, types[n], (pol_formulation_kind)kind,
                                add_active_joint_springs, &seed);
      check_matrix(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                   POL_INERTIA | POL_FORCE, sys.nv);
      check_matrix(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE, sys.nv);
      destroy(&sys);
      create_with_joint_springs(&sys, types[n], (pol_formulation_kind)kind,
                                add_passive_joint_springs, &seed);
      check_forces(&sys);
      destroy(&sys);
    }
}

/* Turns count: one more stretches a spring by 2 pi k. */
static void turns_stretch_joint_springs(void **state)
{
  (void)state;
  uint64_t seed = 6;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    create_with_joint_springs(&sys, POL_REVOLUTE, (pol_formulation_kind)kind,
                              add_active_joint_springs, &seed);
    for (int k = 0; k < pol_mechanism_num_forces(sys.mechanism); k++) {
      const pol_force *force = pol_mechanism_force(sys.mechanism, k);
      pol_point at = point_of(&sys), before = at;
      double angle[2], rate;
      before.history = NULL;
      double change = pol_formulation_joint_spring_effort(sys.formulation, &at, k) -
                      pol_formulation_joint_spring_effort(sys.formulation, &before, k);
      assert_near(&change, &(double){-2.0 * 3.14159265358979323846 * force->stiffness[0]}, 1,
                  1e-12);
      pol_formulation_joint_coordinate(sys.formulation, &at, force->joint, 0, &angle[0], &rate);
      pol_formulation_joint_coordinate(sys.formulation, &before, force->joint, 0, &angle[1], &rate);
      double effort = force->actuator - force->damping[0] * rate -
                      force->stiffness[0] * (angle[0] - force->rest);
      double told = pol_formulation_joint_spring_effort(sys.formulation, &at, k);
      assert_near(&told, &effort, 1, 1e-13);
      assert_near(&(double){angle[0] - angle[1]}, &(double){2.0 * 3.14159265358979323846}, 1,
                  1e-14);
    }
    destroy(&sys);
  }
}

/* With an acceleration that needs r = M v' + g, the power r . v and that of what acts are the
 * change of energy along the motion, by finite differences. */
static void check_power(system_t *sys)
{
  double needed[MAX_NV], rest[MAX_NV] = {0.0}, total[4], given = 0.0;
  pol_power power;
  pol_point at = point_of(sys);
  evaluate(sys, &at, POL_INERTIA | POL_FORCE, &(pol_terms){.balance = needed});
  for (int i = 0; i < sys->nv; i++) given += needed[i] * sys->v[i];
  for (int k = 0; k < 4; k++) {
    double q[MAX_NQ], v[MAX_NV], step[MAX_NV];
    pol_energy energy;
    for (int i = 0; i < sys->nv; i++) {
      step[i] = offset[k] * s * sys->v[i];
      v[i] = sys->v[i] + offset[k] * s * sys->vd[i];
    }
    pol_group_move(&sys->dae->group, sys->q, step, q);
    pol_formulation_energy(sys->formulation, &(pol_point){.q = q, .v = v, .history = sys->history},
                           &energy);
    total[k] = energy.kinetic + energy.potential;
  }
  pol_formulation_power(sys->formulation, &at, &power);
  given += power.applied - power.dissipated;
  assert_near(&given, &(double){difference(total, s)}, 1, 1e-8);
  assert_true(power.dissipated > 0.1 && fabs(power.applied) > 0.1 && power.drives == 0.0);

  at.v = rest;
  pol_formulation_power(sys->formulation, &at, &power);
  assert_true(power.dissipated == 0.0 && power.applied == 0.0);
}

static void add_all_forces(pol_mechanism *mechanism, uint64_t *seed)
{
  add_random_forces(mechanism, seed);
  add_active_laws(mechanism, seed);
  add_active_joint_springs(mechanism, seed);
}

static void power_is_split(void **state)
{
  (void)state;
  uint64_t seed = 7;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    create_with_joint_springs(&sys, POL_CYLINDRICAL, (pol_formulation_kind)kind, add_all_forces,
                              &seed);
    make_rigid(&sys);
    check_power(&sys);
    destroy(&sys);
  }
}

/* Springs have a potential, of which their force is the gradient; dampers and drag take energy. */
static void springs_store_energy_and_dampers_take_it(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    double bare[MAX_NV], loaded[MAX_NV], at_rest[2][MAX_NV], rest[MAX_NV] = {0.0}, power = 0.0;
    pol_energy energy;
    load(&sys, (pol_formulation_kind)kind, add_passive_laws, 8, bare, loaded);
    check_forces(&sys);
    pol_formulation_energy(sys.formulation, &(pol_point){.q = sys.q, .v = sys.v}, &energy);
    assert_true(energy.kinetic > 0.0);
    /* the part of the force that velocities make works against them */
    pol_point at = point_of(&sys);
    at.v = rest;
    evaluate(&sys, &at, POL_FORCE, &(pol_terms){.balance = at_rest[1]});
    destroy(&sys);
    uint64_t seed = 8;
    sys = (system_t){.add_forces = NULL};
    create(&sys, POL_SPHERICAL, (pol_formulation_kind)kind, 0, &seed);
    at = point_of(&sys);
    at.v = rest;
    evaluate(&sys, &at, POL_FORCE, &(pol_terms){.balance = at_rest[0]});
    for (int i = 0; i < sys.nv; i++)
      power += ((loaded[i] - bare[i]) - (at_rest[1][i] - at_rest[0][i])) * sys.v[i];
    assert_true(power > 0.1);
    destroy(&sys);
  }
}

/* Two bodies that only a force connects still share blocks. */
static void a_force_couples_bodies_that_no_joint_connects(void **state)
{
  (void)state;
  pol_body body;
  uint64_t seed = 9;
  pol_force spring = {
      .name = "spring", .type = POL_SPRING_DAMPER, .stiffness = {3.0}, .damping = {2.0}};
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys = {0};
    if (kind == POL_SO3_PIVOT) continue; /* which needs joints */
    assert_int_equal(pol_mechanism_create(&sys.mechanism), POL_OK);
    for (int i = 0; i < 2; i++) {
      random_body(i == 0 ? "a" : "b", &seed, &body);
      assert_int_equal(pol_mechanism_add_body(sys.mechanism, &body, NULL), POL_OK);
      spring.marker[i] = add_random_marker(sys.mechanism, i, &seed);
    }
    assert_int_equal(pol_mechanism_add_force(sys.mechanism, &spring, NULL), POL_OK);
    finish(&sys, (pol_formulation_kind)kind, &seed);
    check_matrix(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                 POL_INERTIA | POL_FORCE, sys.nv);
    check_matrix(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE, sys.nv);
    destroy(&sys);
  }
}

/* The power of the wrenches is that of their definition: F . d(x + R p)/dt and T . omega. */
static void forces_do_the_work_of_their_definition(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    double bare[MAX_NV], loaded[MAX_NV], power = 0.0, expected = 0.0;
    load(&sys, (pol_formulation_kind)kind, add_random_forces, 6, bare, loaded);
    make_rigid(&sys);
    for (int i = 0; i < sys.nv; i++) power += (bare[i] - loaded[i]) * sys.v[i];
    for (int k = 0; k < pol_mechanism_num_forces(sys.mechanism); k++) {
      const pol_force *force = pol_mechanism_force(sys.mechanism, k);
      pol_body_state body;
      double global[3], arm[3];
      pol_formulation_body_state(sys.formulation, sys.q, sys.v, force->body, &body);
      const double *R = body.rotation, *w = body.angular_velocity_global, *u = body.velocity;
      for (int i = 0; i < 3; i++) {
        const double *f = force->vector, *p = force->point;
        const double factor = force->scale ? 1.7 : 1.0;
        int turns = force->frame == POL_BODY_AXES;
        global[i] = turns ? R[3 * i] * f[0] + R[3 * i + 1] * f[1] + R[3 * i + 2] * f[2] : f[i];
        global[i] *= factor;
        arm[i] = R[3 * i] * p[0] + R[3 * i + 1] * p[1] + R[3 * i + 2] * p[2];
      }
      double at_point[3] = {u[0] + w[1] * arm[2] - w[2] * arm[1],
                            u[1] + w[2] * arm[0] - w[0] * arm[2],
                            u[2] + w[0] * arm[1] - w[1] * arm[0]};
      const double *rate = force->type == POL_APPLIED_TORQUE ? w : at_point;
      for (int i = 0; i < 3; i++) expected += global[i] * rate[i];
    }
    assert_near(&power, &expected, 1, 1e-13);
    destroy(&sys);
  }
}

/* The same physics in both coordinates: residual wrenches and accelerations agree after conversion.
 */
static void formulations_agree(void **state)
{
  (void)state;
  uint64_t seed = 7, again = 7;
  system_t product = {0}, se3 = {0};
  create(&product, POL_REVOLUTE, POL_SO3XR3, 0, &seed);
  create(&se3, POL_REVOLUTE, POL_SE3_BODY, 0, &again);
  double R[9], residual[2][MAX_NV];
  for (int b = 0; b < 2; b++) {
    double *v = se3.v + 6 * b, *vd = se3.vd + 6 * b, *y = product.v + 6 * b;
    pol_quat_to_matrix(se3.q + 7 * b, R);
    /* u = R U, u' = R (U' + Omega x U) */
    double convected[3] = {v[1] * v[5] - v[2] * v[4], v[2] * v[3] - v[0] * v[5],
                           v[0] * v[4] - v[1] * v[3]};
    for (int i = 0; i < 3; i++) {
      y[3 + i] = product.vd[6 * b + 3 + i] = 0.0;
      for (int j = 0; j < 3; j++) {
        y[3 + i] += R[3 * i + j] * v[3 + j];
        product.vd[6 * b + 3 + i] += R[3 * i + j] * (vd[3 + j] + convected[j]);
      }
    }
  }
  system_t *both[2] = {&product, &se3};
  for (int k = 0; k < 2; k++) {
    pol_point at = point_of(both[k]);
    pol_terms out = {.balance = residual[k]};
    evaluate(both[k], &at, POL_INERTIA | POL_FORCE | POL_REACTION, &out);
  }
  for (int b = 0; b < 2; b++) {
    double turned[3] = {0.0};
    pol_quat_to_matrix(se3.q + 7 * b, R);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) turned[i] += R[3 * i + j] * residual[1][6 * b + 3 + j];
    assert_near(residual[0] + 6 * b, residual[1] + 6 * b, 3, 1e-13);
    assert_near(residual[0] + 6 * b + 3, turned, 3, 1e-13);
  }
  destroy(&product);
  destroy(&se3);
}

static void equations_have_names(void **state)
{
  (void)state;
  uint64_t seed = 3;
  system_t sys = {0};
  char text[64];
  create(&sys, POL_REVOLUTE, POL_SO3XR3, 0, &seed);
  pol_dae_describe(sys.dae, 1, text, sizeof text);
  assert_string_equal(text, "body 'a', torque y");
  pol_dae_describe(sys.dae, 11, text, sizeof text);
  assert_string_equal(text, "body 'b', force z");
  pol_dae_describe(sys.dae, sys.nv + 2, text, sizeof text);
  assert_string_equal(text, "joint 'first', translation z");
  pol_dae_describe(sys.dae, sys.nv + 8, text, sizeof text);
  assert_string_equal(text, "joint 'second', rotation (axis x against z)");
  destroy(&sys);
}

/* --- rigid bodies and point masses together --------------------------------------------------- */

enum { P, A, Q, B, NUM_MIXED }; /* points p, q; rigid a, b */

/* Support and drag on p, spring-dampers of both laws between points, bodies and the
 * ground. */
static void add_mixed_forces(pol_mechanism *mechanism, uint64_t *seed)
{
  static const struct {
    const char *name;
    pol_force_type type;
    int first, second;
    pol_spring_law law;
  } forces[] = {
      {"support p", POL_SUPPORT, POL_GROUND, P, POL_LINEAR_SPRING},
      {"drag p", POL_DRAG, POL_GROUND, P, POL_LINEAR_SPRING},
      {"p to a", POL_SPRING_DAMPER, P, A, POL_LINEAR_SPRING},
      {"b to p", POL_SPRING_DAMPER, B, P, POL_SQUARED_SPRING},
      {"p to q", POL_SPRING_DAMPER, P, Q, POL_SQUARED_SPRING},
      {"ground to q", POL_SPRING_DAMPER, POL_GROUND, Q, POL_LINEAR_SPRING},
  };
  for (size_t i = 0; i < sizeof forces / sizeof forces[0]; i++) {
    pol_force force = {.name = forces[i].name,
                       .type = forces[i].type,
                       .body = forces[i].second,
                       .law = forces[i].law,
                       .length = 0.7,
                       .coefficient = 0.4,
                       .stiffness = {1.5, 2.0, 2.5},
                       .damping = {0.5, 0.7, 0.9}};
    random_numbers(seed, force.anchor, 3);
    if (force.type == POL_SPRING_DAMPER) {
      force.marker[0] = add_random_marker(mechanism, forces[i].first, seed);
      force.marker[1] = add_random_marker(mechanism, forces[i].second, seed);
    }
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
}

/* Points and rigid bodies in turn, so that no body starts at a multiple of its size, and joints of
 * the type with a point as first, second and both. */
static void create_mixed(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                         uint64_t *seed)
{
  static const double gravity[3] = {0.3, -2.0, -9.81};
  static const char *const names[NUM_MIXED] = {"p", "a", "q", "b"};
  assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
  pol_mechanism_set_gravity(sys->mechanism, gravity);
  for (int i = 0; i < NUM_MIXED; i++) {
    pol_body body;
    random_body(names[i], seed, &body);
    body.point = i == P || i == Q;
    assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
  }
  if (kind == POL_SO3_PIVOT) {
    add_random_joint(sys->mechanism, "pivot a", POL_SPHERICAL, 0, POL_GROUND, A, seed);
    add_random_joint(sys->mechanism, "pivot b", POL_SPHERICAL, 0, B, POL_GROUND, seed);
  }
  add_random_joint(sys->mechanism, "p-a", type, 0, P, A, seed);
  add_random_joint(sys->mechanism, "b-p", type, 0, B, P, seed);
  add_random_joint(sys->mechanism, "p-q", type, 0, P, Q, seed);
  add_random_joint(sys->mechanism, "ground-q", type, 0, POL_GROUND, Q, seed);
  add_mixed_forces(sys->mechanism, seed);
  add_passive_joint_springs(sys->mechanism, seed);
  finish(sys, kind, seed);
}

static void points_and_bodies_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 20260102;
  int cases = 0;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++) {
      const pol_joint joint = {.type = (pol_joint_type)type, .locked = POL_LOCK_ROTATION_X};
      if (!pol_joint_fits_point(&joint)) continue;
      system_t sys = {0};
      create_mixed(&sys, (pol_joint_type)type, (pol_formulation_kind)kind, &seed);
      check_all(&sys);
      destroy(&sys);
      cases++;
    }
  /* spherical, distance, point-on-line and point-in-plane */
  assert_int_equal(cases, 4 * pol_formulation_count());
}

/* A point has three coordinates in every formulation, and equations to which its name belongs. */
static void points_have_three_coordinates(void **state)
{
  static const double rest[3] = {0.0, 0.0, 0.0};
  (void)state;
  uint64_t seed = 11;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys = {0};
    char text[64];
    create_mixed(&sys, POL_DISTANCE, (pol_formulation_kind)kind, &seed);
    int rigid = kind == POL_SO3_PIVOT          ? 3
                : kind == POL_EULER_PARAMETERS ? 7
                : kind == POL_DIRECTORS        ? 12
                                               : 6;
    assert_int_equal(sys.nv, 2 * 3 + 2 * rigid);
    pol_dae_describe(sys.dae, 2, text, sizeof text);
    assert_string_equal(text, "body 'p', force z");
    pol_dae_describe(sys.dae, 3 + rigid + 1, text, sizeof text);
    assert_string_equal(text, "body 'q', force y");
    pol_dae_describe(sys.dae, 3 + rigid + 3, text, sizeof text);
    if (kind == POL_DIRECTORS)
      assert_string_equal(text, "body 'b', force x on director 1");
    else
      assert_memory_equal(text, "body 'b', torque", 16);
    pol_body_state p;
    pol_formulation_body_state(sys.formulation, sys.q, sys.v, P, &p);
    assert_near(p.position, sys.q, 3, 0.0);
    assert_near(p.velocity, sys.v, 3, 0.0);
    assert_near(p.angular_velocity, rest, 3, 0.0);
    destroy(&sys);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_terms_match_finite_differences),
      cmocka_unit_test(forces_match_finite_differences),
      cmocka_unit_test(joint_springs_match_finite_differences),
      cmocka_unit_test(turns_stretch_joint_springs),
      cmocka_unit_test(power_is_split),
      cmocka_unit_test(springs_store_energy_and_dampers_take_it),
      cmocka_unit_test(a_force_couples_bodies_that_no_joint_connects),
      cmocka_unit_test(forces_do_the_work_of_their_definition),
      cmocka_unit_test(formulations_agree),
      cmocka_unit_test(equations_have_names),
      cmocka_unit_test(points_and_bodies_match_finite_differences),
      cmocka_unit_test(points_have_three_coordinates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
