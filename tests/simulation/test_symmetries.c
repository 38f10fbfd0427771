/* Symmetries that are found in a mechanism, against what its equations say: a rigid motion (w, u)
 * of all bodies belongs to a constant momentum where no force from outside does work on it.  For
 * every type of joint with the ground, and every force, the constraints and forces are evaluated at
 * many random states; what they leave of the six motions must be what pol_mechanism_symmetries()
 * names, no more and no less.  Then runs: what is named stays constant, with each family of methods
 * as well as it promises.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lie/small.h"
#include "simulation/parts.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* --- what the equations allow ----------------------------------------------------------------- */

/* Sum of the squares of conditions c . (w, u) = 0. */
typedef struct conditions {
  double square[6][6];
} conditions;

static void add_condition(conditions *c, const double row[6])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) c->square[i][j] += row[i] * row[j];
}

/* The number of motions that satisfy all of them, by elimination with diagonal pivots. */
static int motions_left(const conditions *c)
{
  double A[6][6], largest = 0.0;
  int left = 6;
  memcpy(A, c->square, sizeof A);
  for (int i = 0; i < 6; i++) largest = fmax(largest, A[i][i]);
  for (int done = 0; done < 6; done++) {
    int p = 0;
    for (int i = 1; i < 6; i++)
      if (A[i][i] > A[p][p]) p = i;
    if (!(A[p][p] > 1e-9 * largest)) break;
    left--;
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++)
        if (i != p && j != p) A[i][j] -= A[i][p] * A[p][j] / A[p][p];
    for (int i = 0; i < 6; i++) A[i][p] = A[p][i] = 0.0;
  }
  return left;
}

/* How much a motion violates them, relatively. */
static double violation(const conditions *c, const double motion[6])
{
  double sum = 0.0, trace = 0.0;
  for (int i = 0; i < 6; i++) {
    trace += c->square[i][i];
    for (int j = 0; j < 6; j++) sum += motion[i] * c->square[i][j] * motion[j];
  }
  return sqrt(fabs(sum) / (trace + 1e-300));
}

static void check_symmetries(const char *what, const pol_mechanism *mechanism, const conditions *c)
{
  pol_symmetries s;
  pol_mechanism_symmetries(mechanism, &s);
  if (s.num_translations + s.num_rotations != motions_left(c))
    fail_msg("%s: found %d translations and %d rotations of %d motions", what, s.num_translations,
             s.num_rotations, motions_left(c));
  for (int i = 0; i < s.num_translations; i++) {
    double motion[6] = {0.0};
    poli_v3_copy(s.translation[i], motion + 3);
    assert_near(&(double){poli_v3_dot(motion + 3, motion + 3)}, &(double){1.0}, 1, 1e-12);
    if (violation(c, motion) > 1e-7) fail_msg("%s: translation %d", what, i);
  }
  for (int i = 0; i < s.num_rotations; i++) {
    double motion[6];
    poli_v3_copy(s.axis[i], motion);
    poli_v3_cross(s.point[i], s.axis[i], motion + 3);
    assert_near(&(double){poli_v3_dot(motion, motion)}, &(double){1.0}, 1, 1e-12);
    if (violation(c, motion) > 1e-7) fail_msg("%s: rotation %d", what, i);
  }
}

/* The velocities of all bodies in so3xr3 (angular velocity in body axes, then x') that a rigid
 * motion gives them. */
static void rigid_velocity(const pol_formulation *f, const double *q, int motion, double *v)
{
  double w[3] = {motion == 0, motion == 1, motion == 2};
  double u[3] = {motion == 3, motion == 4, motion == 5};
  for (int b = 0; b < pol_mechanism_num_bodies(pol_formulation_mechanism(f)); b++, v += 6) {
    static const double rest[12] = {0.0};
    pol_body_state body;
    pol_formulation_body_state(f, q, rest, b, &body);
    poli_m3_apply_transposed(body.rotation, w, v);
    poli_v3_cross(w, body.position, v + 3);
    poli_v3_add(u, v + 3, v + 3);
  }
}

/* --- joints ----------------------------------------------------------------------------------- */

static const pol_body some_body = {.name = "body",
                                   .mass = 2.0,
                                   .inertia = {1.0, 0.1, 0.0, 0.1, 1.2, 0.2, 0.0, 0.2, 1.5},
                                   .position = {0.3, -0.4, 0.7},
                                   .rotation = {1.0, 0.0, 0.0, 0.0}};

/* A body on one joint with the ground, whose marker is the joint's first or second. */
static pol_mechanism *one_joint(pol_joint joint, int end, uint64_t seed)
{
  const double point[3] = {0.5, 0.2, -0.3};
  double rotation[4], apart[3] = {0.5, 0.2, -0.3};
  pol_mechanism *mechanism;
  random_quaternion(&seed, rotation);
  if (joint.type == POL_DISTANCE) apart[1] += joint.length;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &some_body, NULL), POL_OK);
  assert_int_equal(
      pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, point, rotation, &joint.marker[end]),
      POL_OK);
  assert_int_equal(
      pol_mechanism_add_marker_at(mechanism, "", 0, apart, rotation, &joint.marker[1 - end]),
      POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  return mechanism;
}

/* The rows of B times the six motions, at positions that the joint allows. */
static void add_joint_conditions(const pol_mechanism *mechanism, uint64_t seed, conditions *c)
{
  pol_formulation *f;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  assert_int_equal(pol_formulation_create(&f, mechanism, POL_SO3XR3), POL_OK);
  const pol_dae *dae = pol_formulation_dae(f);
  double *scratch = calloc(dae->scratch_size + 1, sizeof *scratch);
  options.redundant = POL_REDUNDANT_DROP;
  assert_int_equal(pol_integrator_create(&integrator, dae, &options), POL_OK);
  int good = 0;
  for (int trial = 0; trial < 40; trial++) {
    double q[7], v[6], moved[7], w[6], rows[POL_MAX_JOINT_ROWS][6];
    unsigned char keep[6];
    pol_formulation_initial(f, q, v, keep);
    for (int i = 0; i < 6; i++) w[i] = 0.7 * random_number(&seed);
    pol_group_move(&dae->group, q, w, moved);
    if (pol_integrator_start(integrator, 0.0, moved, v, NULL) != POL_OK) continue;
    good++;
    const pol_state *now = pol_integrator_state(integrator);
    for (int k = 0; k < 6; k++) {
      double velocity[POL_MAX_JOINT_ROWS] = {0.0}, rigid[6];
      rigid_velocity(f, now->q, k, rigid);
      const pol_point at = {.q = now->q, .v = rigid};
      const pol_terms out = {.velocity = velocity};
      assert_int_equal(dae->evaluate(&at, POL_VELOCITY, &out, scratch, dae->user), POL_OK);
      for (int r = 0; r < pol_dae_num_constraints(dae); r++) rows[r][k] = velocity[r];
    }
    for (int r = 0; r < pol_dae_num_constraints(dae); r++) add_condition(c, rows[r]);
  }
  assert_true(good > 20);
  free(scratch);
  pol_integrator_free(&integrator);
  pol_formulation_free(&f);
}

static void joints_leave_what_their_rows_leave(void **state)
{
  (void)state;
  static const unsigned locks[] = {POL_LOCK_X, POL_LOCK_X | POL_LOCK_Z | POL_LOCK_ROTATION_Y,
                                   POL_LOCK_ROTATION_X, POL_LOCK_ROTATION_X | POL_LOCK_ROTATION_Y,
                                   POL_LOCK_X | POL_LOCK_Y | POL_LOCK_Z | POL_LOCK_ROTATION_Z};
  enum { NUM_LOCKS = sizeof locks / sizeof locks[0], NUM_TYPES = POL_GENERIC + NUM_LOCKS };
  for (int type = 0; type < NUM_TYPES; type++)
    for (int end = 0; end < 2; end++) {
      pol_joint joint = {.name = "joint", .length = 0.8};
      joint.type = type < POL_GENERIC ? (pol_joint_type)type : POL_GENERIC;
      if (type >= POL_GENERIC) joint.locked = locks[type - POL_GENERIC];
      uint64_t seed = 12345u + (unsigned)type;
      pol_mechanism *mechanism = one_joint(joint, end, seed);
      conditions c = {{{0.0}}};
      char what[64];
      add_joint_conditions(mechanism, seed, &c);
      snprintf(what, sizeof what, "%s %x, ground is marker %d", pol_joint_type_name(joint.type),
               joint.locked, end + 1);
      check_symmetries(what, mechanism, &c);
      pol_mechanism_free(&mechanism);
    }
}

/* --- forces ----------------------------------------------------------------------------------- */

/* Two bodies, in weightlessness or not, with one force element. */
static pol_mechanism *one_force(const pol_force *force, const double gravity[3])
{
  pol_body second = some_body;
  pol_mechanism *mechanism;
  second.name = "second";
  second.position[0] += 1.0;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &some_body, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &second, NULL), POL_OK);
  for (int i = 0; i < 3; i++) { /* of the ground, the first body and the second */
    pol_marker marker = {
        .name = "", .body = i - 1, .position = {0.1, 0.2, 0.4}, .rotation = {1.0, 0.0, 0.0, 0.0}};
    assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, NULL), POL_OK);
  }
  pol_mechanism_set_gravity(mechanism, gravity);
  if (force) assert_int_equal(pol_mechanism_add_force(mechanism, force, NULL), POL_OK);
  return mechanism;
}

/* The balance of forces at a random state, the same for the same seed. */
static void forces_at(const pol_formulation *f, uint64_t *seed, double *q, double *balance)
{
  const pol_dae *dae = pol_formulation_dae(f);
  double *scratch = calloc(dae->scratch_size + 1, sizeof *scratch), v[12], t;
  for (int b = 0; b < 2; b++) {
    double turn[3];
    random_numbers(seed, turn, 3); /* bushings end before half a turn */
    pol_so3_exp(turn, q + 7 * b);
    for (int i = 0; i < 3; i++) q[7 * b + 4 + i] = 2.0 * random_number(seed);
  }
  for (int i = 0; i < 12; i++) v[i] = random_number(seed);
  t = random_number(seed) + 1.0;
  const pol_point at = {.t = t, .q = q, .v = v};
  const pol_terms out = {.balance = balance};
  memset(balance, 0, 12 * sizeof *balance);
  assert_int_equal(dae->evaluate(&at, POL_FORCE, &out, scratch, dae->user), POL_OK);
  free(scratch);
}

/* The power of a force, and of gravity, on the six motions: without them the balance is that of the
 * gyroscopic terms alone. */
static void add_force_conditions(const pol_mechanism *mechanism, conditions *c)
{
  static const double weightless[3] = {0.0};
  pol_mechanism *bare = one_force(NULL, weightless);
  pol_formulation *with, *without;
  uint64_t seed = 4711u;
  assert_int_equal(pol_formulation_create(&with, mechanism, POL_SO3XR3), POL_OK);
  assert_int_equal(pol_formulation_create(&without, bare, POL_SO3XR3), POL_OK);
  for (int trial = 0; trial < 40; trial++) {
    double q[14], power[6], all[12], inertia[12], rigid[12];
    uint64_t same = seed;
    forces_at(with, &seed, q, all);
    forces_at(without, &same, q, inertia);
    for (int k = 0; k < 6; k++) {
      rigid_velocity(with, q, k, rigid);
      power[k] = 0.0;
      for (int i = 0; i < 12; i++) power[k] += rigid[i] * (all[i] - inertia[i]);
      if (fabs(power[k]) < 1e-12) power[k] = 0.0;
    }
    add_condition(c, power);
  }
  pol_formulation_free(&with);
  pol_formulation_free(&without);
  pol_mechanism_free(&bare);
}

static pol_status pull(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  (void)motion;
  (void)user;
  for (int i = 0; i < 12; i++) wrench[i] = sin((i + 1) * t); /* not opposite at all */
  return POL_OK;
}

static void forces_leave_what_does_no_work(void **state)
{
  (void)state;
  static const double none[3] = {0.0}, down[3] = {0.0, 0.0, -9.81}, tilted[3] = {1.0, 2.0, -2.0};
  static const pol_function wave = {.type = POL_HARMONIC, .amplitude = 2.0, .frequency = 0.3};
  static const struct {
    const char *what;
    pol_force force; /* without a name: none */
    const double *gravity;
    int energy;
  } cases[] = {
      {"nothing", {.name = NULL}, none, 1},
      {"gravity", {.name = NULL}, down, 1},
      {"tilted gravity", {.name = NULL}, tilted, 1},
      {"force", {.name = "f", .type = POL_APPLIED_FORCE, .vector = {1, 2, 3}}, none, 0},
      {"force and gravity", {.name = "f", .type = POL_APPLIED_FORCE, .vector = {1, 0, 0}}, down, 0},
      {"scaled force",
       {.name = "f",
        .type = POL_APPLIED_FORCE,
        .vector = {0, 0, 3},
        .scale = &wave,
        .point = {0.1, 0.2, 0.3}},
       down,
       0},
      {"follower",
       {.name = "f", .type = POL_APPLIED_FORCE, .vector = {1, 2, 3}, .frame = POL_BODY_AXES},
       none,
       0},
      {"expression",
       {.name = "f", .type = POL_APPLIED_FORCE, .expressions = {"sin(t)", NULL, NULL}},
       none,
       0},
      {"two expressions",
       {.name = "f", .type = POL_APPLIED_FORCE, .expressions = {"sin(t)", "cos(3*t)", NULL}},
       none,
       0},
      {"torque", {.name = "f", .type = POL_APPLIED_TORQUE, .vector = {1, 2, 3}}, none, 0},
      {"torque and gravity",
       {.name = "f", .type = POL_APPLIED_TORQUE, .vector = {1, 0, 0}},
       down,
       0},
      {"torque about gravity",
       {.name = "f", .type = POL_APPLIED_TORQUE, .vector = {0, 0, 1}},
       down,
       0},
      {"turning torque",
       {.name = "f", .type = POL_APPLIED_TORQUE, .vector = {1, 2, 3}, .frame = POL_BODY_AXES},
       none,
       0},
      {"even support",
       {.name = "f", .type = POL_SUPPORT, .stiffness = {5, 5, 5}, .anchor = {0.1, 0.4, 0.3}},
       none,
       1},
      {"round support",
       {.name = "f", .type = POL_SUPPORT, .stiffness = {5, 5, 0}, .anchor = {0.1, 0.4, 0.3}},
       down,
       1},
      {"support along x",
       {.name = "f", .type = POL_SUPPORT, .stiffness = {5, 0, 0}, .anchor = {0.1, 0.4, 0.3}},
       down,
       1},
      {"uneven support",
       {.name = "f", .type = POL_SUPPORT, .stiffness = {5, 6, 7}, .anchor = {0.1, 0.4, 0.3}},
       none,
       1},
      {"damper along y", {.name = "f", .type = POL_SUPPORT, .damping = {0, 2, 0}}, none, 0},
      {"spring to the ground",
       {.name = "f",
        .type = POL_SPRING_DAMPER,
        .marker = {0, 1},
        .stiffness = {4},
        .damping = {2},
        .length = 0.5},
       none,
       0},
      {"spring between bodies",
       {.name = "f",
        .type = POL_SPRING_DAMPER,
        .marker = {1, 2},
        .stiffness = {4},
        .damping = {2},
        .actuator = 3.0},
       down,
       0},
      {"spring to the ground under gravity",
       {.name = "f", .type = POL_SPRING_DAMPER, .marker = {1, 0}, .stiffness = {4}},
       down,
       1},
      {"drag", {.name = "f", .type = POL_DRAG, .coefficient = 0.4}, none, 0},
      {"bushing to the ground",
       {.name = "f",
        .type = POL_BUSHING,
        .marker = {0, 1},
        .stiffness = {1, 2, 3},
        .rotational_stiffness = {1, 2, 3}},
       none,
       1},
      {"bushing between bodies",
       {.name = "f",
        .type = POL_BUSHING,
        .marker = {1, 2},
        .stiffness = {1, 2, 3},
        .damping = {0, 0, 1},
        .rotational_damping = {1, 2, 3}},
       down,
       0},
      {"callback",
       {.name = "f", .type = POL_CALLBACK_FORCE, .bodies = {0, 1}, .callback = {.wrench = pull}},
       none,
       0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    pol_symmetries s;
    conditions c = {{{0.0}}};
    const pol_force *force = cases[i].force.name ? &cases[i].force : NULL;
    pol_mechanism *mechanism = one_force(force, cases[i].gravity);
    pol_mechanism *alone = one_force(force, none), *weight = one_force(NULL, cases[i].gravity);
    add_force_conditions(alone, &c); /* each by itself: what they balance is not looked for */
    add_force_conditions(weight, &c);
    pol_mechanism_free(&alone);
    pol_mechanism_free(&weight);
    check_symmetries(cases[i].what, mechanism, &c);
    pol_mechanism_symmetries(mechanism, &s);
    if (s.energy != cases[i].energy) fail_msg("%s: energy", cases[i].what);
    pol_mechanism_free(&mechanism);
  }
}

/* --- random mechanisms ------------------------------------------------------------------------ */

static int random_below(uint64_t *seed, int n)
{
  int k = (int)((random_number(seed) + 1.0) * 0.5 * n);
  return k < n ? k : n - 1;
}

/* A marker of a body or of the ground, at the centre of a point mass. */
static int random_marker(pol_mechanism *mechanism, int body, uint64_t *seed)
{
  pol_marker marker = {.name = "", .body = body};
  int index;
  if (body == POL_GROUND || !pol_mechanism_body(mechanism, body)->point)
    for (int i = 0; i < 3; i++) marker.position[i] = 0.4 * random_number(seed);
  random_quaternion(seed, marker.rotation);
  if (random_below(seed, 2)) memcpy(marker.rotation, (const double[]){1, 0, 0, 0}, 4 * 8);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

/* Two markers on different bodies, of which one may be the ground. */
static void random_markers(pol_mechanism *mechanism, uint64_t *seed, int marker[2])
{
  int count = pol_mechanism_num_bodies(mechanism), first = random_below(seed, count), second;
  do second = random_below(seed, count + 1) - 1;
  while (second == first);
  int swap = random_below(seed, 2);
  marker[swap] = random_marker(mechanism, first, seed);
  marker[1 - swap] = random_marker(mechanism, second, seed);
}

/* Rigid bodies and point masses, and a few of everything else; what does not fit is left out. */
static pol_mechanism *random_mechanism(uint64_t *seed)
{
  static const char *const names[] = {"a", "b", "c", "d"};
  static const pol_coordinate along[] = {POL_DRIVE_X, POL_DRIVE_Y, POL_DRIVE_Z};
  const double down[3] = {0.0, 0.0, random_below(seed, 2) ? -9.81 : 0.0};
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, down);
  for (int b = 0; b < 3; b++) {
    pol_body body = some_body;
    body.name = names[b];
    body.point = random_below(seed, 2);
    random_numbers(seed, body.position, 3);
    random_numbers(seed, body.velocity, 3);
    random_quaternion(seed, body.rotation);
    random_numbers(seed, body.angular_velocity, 3);
    body.given = POL_GIVEN_VELOCITY;
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  }
  for (int k = random_below(seed, 3); k > 0; k--) {
    pol_joint joint = {.name = names[k], .length = 0.8, .radius = 0.3};
    joint.type = (pol_joint_type)random_below(seed, POL_ROLLING_DISK + 1);
    joint.locked = 1u + (unsigned)random_below(seed, 7);
    random_markers(mechanism, seed, joint.marker);
    pol_mechanism_add_joint(mechanism, &joint, NULL);
  }
  int joints = pol_mechanism_num_joints(mechanism), what = random_below(seed, 8);
  pol_force force = {.name = "f", .stiffness = {3, 3, 3}, .length = 0.5};
  pol_drive drive = {.name = "d",
                     .joint = POL_NO_JOINT,
                     .coordinate = along[random_below(seed, 3)],
                     .function = {.type = POL_HARMONIC, .amplitude = 0.3, .frequency = 0.4}};
  force.body = random_below(seed, 3);
  random_markers(mechanism, seed, force.marker);
  memcpy(drive.marker, force.marker, sizeof drive.marker);
  if (what == 0 || what == 1) {
    pol_mechanism_add_drive(mechanism, &drive, NULL);
  } else if (what == 2 && joints > 0) {
    force.type = POL_JOINT_SPRING;
    force.joint = random_below(seed, joints);
    force.damping[0] = random_below(seed, 2);
    pol_mechanism_add_force(mechanism, &force, NULL);
  } else if (what == 3 && joints == 2) {
    pol_coupling rope = {.name = "c", .joint = {0, 1}, .factor = {1.0, -0.5}};
    for (int i = 0; i < 2; i++)
      rope.coordinate[i] = (pol_coordinate)random_below(seed, POL_DRIVE_TRANSLATION_Z + 1);
    pol_mechanism_add_coupling(mechanism, &rope, NULL);
  } else if (what == 4) {
    force.type = random_below(seed, 2) ? POL_BUSHING : POL_SPRING_DAMPER;
    force.rotational_stiffness[1] = 2.0;
    force.actuator = random_below(seed, 2);
    pol_mechanism_add_force(mechanism, &force, NULL);
  } else if (what == 5) {
    force.type = POL_SUPPORT;
    force.stiffness[random_below(seed, 3)] = 1.0;
    pol_mechanism_add_force(mechanism, &force, NULL);
  } else if (what == 6) {
    force.type = random_below(seed, 2) ? POL_APPLIED_FORCE : POL_APPLIED_TORQUE;
    force.frame = random_below(seed, 2) ? POL_BODY_AXES : POL_GLOBAL_AXES;
    force.vector[2] = 1.5;
    if (random_below(seed, 2)) force.expressions[random_below(seed, 3)] = "a.velocity.x + t";
    pol_mechanism_add_force(mechanism, &force, NULL);
  }
  return mechanism;
}

/* The value of an invariant s seconds after a state, to first order. */
static double invariant_after(const pol_formulation *f, const pol_state *now, double s,
                              pol_invariant *invariant)
{
  const pol_group *group = &pol_formulation_dae(f)->group;
  double step[32], q[32], v[32];
  pol_energy energy;
  pol_momentum momentum;
  assert_true(group->nv <= 32 && group->nq <= 32);
  for (int i = 0; i < group->nv; i++) {
    step[i] = s * now->v[i];
    v[i] = now->v[i] + s * now->vd[i];
  }
  pol_group_move(group, now->q, step, q);
  const pol_point at = {.t = now->t + s, .q = q, .v = v, .history = now->history};
  pol_formulation_energy(f, &at, &energy);
  pol_formulation_momentum(f, q, v, &momentum);
  poli_invariants_set(1, invariant, energy.kinetic + energy.potential, &momentum);
  return invariant->value;
}

/* Whatever is claimed of a random mechanism in a random state has no rate there. */
static void claims_hold_for_random_mechanisms(void **state)
{
  (void)state;
  int started = 0, claims = 0;
  for (uint64_t k = 1; k <= 2000; k++) {
    uint64_t seed = 7919 * k;
    pol_settings settings = pol_settings_default();
    pol_mechanism *mechanism = random_mechanism(&seed);
    pol_invariant invariants[POL_MAX_INVARIANTS];
    pol_simulation *simulation;
    settings.step = 1e-3;
    settings.end = 1.0;
    int count = poli_invariants_find(mechanism, invariants);
    if (pol_simulation_create(&simulation, mechanism, &settings, NULL) == POL_OK) {
      const pol_state *now = pol_simulation_state(simulation);
      started++;
      for (int i = 0; i < count; i++, claims++) {
        double f[4], size = 1.0, h = 1e-3;
        for (int j = 0; j < 4; j++) {
          f[j] = invariant_after(pol_simulation_formulation(simulation), now,
                                 h * (j < 2 ? 2 - j : 1 - j), &invariants[i]);
          size = fmax(size, fabs(f[j]));
        }
        for (int j = 0; j < pol_formulation_dae(pol_simulation_formulation(simulation))->group.nv;
             j++)
          size = fmax(size, fabs(now->vd[j]));
        if (!(fabs(difference(f, h)) <= 1e-7 * size))
          fail_msg("mechanism %d: %s is claimed, but changes by %g a second", (int)k,
                   invariants[i].name, difference(f, h));
      }
      pol_simulation_free(&simulation);
    }
    pol_mechanism_free(&mechanism);
  }
  print_message("%d random mechanisms, %d claims\n", started, claims);
  assert_true(started > 500 && claims > 1000);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Runs a model file with nothing said about the iteration; gives the summary at the end. */
static pol_summary run(const char *path, pol_formulation_kind kind, const char *method, double step,
                       double end)
{
  pol_model *model = read_model(path);
  pol_settings settings = pol_settings_default();
  settings.formulation = kind;
  settings.options.method = method;
  settings.options.redundant = model->settings.options.redundant;
  settings.step = step;
  settings.end = end;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  step_to_end(simulation);
  pol_summary summary = *pol_simulation_summary(simulation);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return summary;
}

static const pol_invariant *find(const pol_summary *summary, const char *name)
{
  for (int i = 0; i < summary->num_invariants; i++)
    if (strcmp(summary->invariants[i].name, name) == 0) return &summary->invariants[i];
  fail_msg("there is no %s", name);
  return NULL;
}

/* em keeps all invariants to 1e-13 of their scale over a whole run, with default settings. */
static void em_keeps_all_invariants(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    double step, end, scale[2]; /* of energy and momenta: those of the start, or in between */
    int count;
  } cases[] = {
      {MODELS "kinon-betsch-schneider-2023/pendulum.json", 0.05, 10.0, {0.5, 1.0}, 2},
      {MODELS "kinon-betsch-schneider-2023/four_particles.json", 0.01, 10.0, {1.18, 2.0}, 7},
      {MODELS "bruels-cardona-2010/heavy_top.json", 1e-3, 1.0, {5500.0, 100.0}, 2},
      {MODELS "holzinger-arnold-gerstmayr/slider_crank.json", 2e-3, 2.0, {0.77, 1.0}, 1},
      {MODELS "examples/chain_20.json", 5e-3, 0.5, {1.0, 1.0}, 2},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    pol_summary summary = run(cases[c].path, POL_DIRECTORS, "em", cases[c].step, cases[c].end);
    assert_int_equal(summary.num_invariants, cases[c].count);
    for (int i = 0; i < summary.num_invariants; i++) {
      const pol_invariant *own = &summary.invariants[i];
      double scale = cases[c].scale[own->kind != POL_CONSTANT_ENERGY];
      if (!(own->max_drift < 1e-13 * scale) || !(own->max_increment < 5e-14 * scale))
        fail_msg("%s, %s: drift %.2e, increment %.2e", cases[c].path, own->name, own->max_drift,
                 own->max_increment);
    }
  }
}

/* All variational and energy-momentum methods keep the momenta, by their own p; the Lie group
 * methods approximate them, and the energy, at second order. */
static void methods_keep_what_they_promise(void **state)
{
  (void)state;
  static const char *const path = MODELS "kinon-betsch-schneider-2023/four_particles.json";
  static const char *const methods[] = {"vi-s", "vi-a", "vi-b", "em", "em-g", "midpoint", "rattle"};
  for (int k = 0; k < 7; k++) {
    pol_summary summary = run(path, POL_SO3XR3, methods[k], 0.01, 2.0);
    assert_int_equal(summary.num_invariants, 7);
    for (int i = 1; i < 7; i++)
      if (!(summary.invariants[i].max_drift < 2e-14))
        fail_msg("%s, %s: %.2e", methods[k], summary.invariants[i].name,
                 summary.invariants[i].max_drift);
    double energy = find(&summary, "energy")->max_drift;
    int keeps = strncmp(methods[k], "em", 2) == 0;
    if (keeps ? !(energy < 1e-13) : !(energy > 1e-7)) fail_msg("%s: %.2e", methods[k], energy);
  }
  const char *const top = MODELS "bruels-cardona-2010/heavy_top.json";
  pol_summary coarse = run(top, POL_SO3XR3, "geom1", 1e-3, 0.2);
  pol_summary fine = run(top, POL_SO3XR3, "geom1", 5e-4, 0.2);
  for (int i = 0; i < 2; i++) {
    double ratio = coarse.invariants[i].max_drift / fine.invariants[i].max_drift;
    if (!(ratio > 3.0 && ratio < 5.0)) fail_msg("%s: %g", coarse.invariants[i].name, ratio);
    /* an increment is what a step changes: no less than the drift over the number of steps */
    assert_true(fine.invariants[i].max_increment > fine.invariants[i].max_drift / 400.0);
    assert_true(fine.invariants[i].max_increment < fine.invariants[i].max_drift);
  }
}

/* The largest change of the energy in rows between the steps of vi-a, whose velocities lag. */
static double change_between_steps(pol_formulation_kind kind, double h)
{
  double first = 0.0, change = 0.0;
  pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
  pol_settings settings = pol_settings_default();
  settings.formulation = kind;
  settings.options.method = "vi-a";
  settings.step = h;
  settings.end = 0.05;
  settings.output.step = 0.3 * h;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  const pol_summary *summary = pol_simulation_summary(simulation);
  first = summary->energy.kinetic + summary->energy.potential;
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    change = fmax(change, fabs(summary->energy.kinetic + summary->energy.potential - first));
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return change / first;
}

static void momenta_between_steps_have_second_order(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_DIRECTORS, POL_EULER_PARAMETERS};
  for (int k = 0; k < 2; k++) {
    double ratio = change_between_steps(kinds[k], 1e-3) / change_between_steps(kinds[k], 5e-4);
    if (!(ratio > 3.5 && ratio < 4.5)) fail_msg("%s: %g", pol_formulation_name(kinds[k]), ratio);
  }
}

/* The increments of all rows add up to what has become of the invariant, also where rows are
 * interpolated; reactions say the time they belong to. */
static void channels_tell_increments_and_times(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    double lag;
  } cases[] = {{"em", 0.5}, {"vi-b", 1.0}, {"geom1", 0.0}};
  for (int c = 0; c < 3; c++)
    for (int between = 0; between < 2; between++) {
      pol_simulation *simulation;
      pol_record *record;
      double row[400], sum = 0.0, h = 0.01;
      int energy = -1, increment = -1, reactions = -1;
      pol_model *model = read_model(MODELS "kinon-betsch-schneider-2023/four_particles.json");
      pol_settings settings = pol_settings_default();
      settings.options.method = cases[c].method;
      settings.step = h;
      settings.end = 0.2;
      if (between) settings.output.step = 0.25 * h;
      assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &settings, NULL),
                       POL_OK);
      assert_int_equal(pol_record_create(&record, simulation), POL_OK);
      assert_true(pol_record_count(record) <= 400);
      for (int i = 0; i < pol_record_count(record); i++) {
        const char *name = pol_record_channel(record, i)->name;
        if (!strcmp(name, "invariant.energy")) energy = i;
        if (!strcmp(name, "increment.energy")) increment = i;
        if (!strcmp(name, "t_reactions")) reactions = i;
      }
      assert_true(energy > 0 && increment > 0 && (reactions > 0) == (cases[c].lag > 0.0));
      assert_true(pol_method_lag(cases[c].method) == cases[c].lag);
      pol_record_row(record, row);
      double first = row[energy];
      assert_true(row[increment] == 0.0);
      while (!pol_simulation_finished(simulation)) {
        assert_int_equal(pol_simulation_step(simulation), POL_OK);
        pol_record_row(record, row);
        if (!between) {
          sum += row[increment];
          assert_near(&(double){row[energy] - first}, &sum, 1, 1e-14);
        }
        /* of the first step the interpolated times lie between two that are nearer than a step */
        if (reactions > 0 && row[0] > 1.5 * h)
          assert_near(&row[reactions], &(double){row[0] - cases[c].lag * h}, 1, 1e-12);
      }
      pol_record_free(&record);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* A bounce takes energy out: the invariants start anew there, and free flight keeps them. */
static void resets_start_invariants_anew(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/bouncing_ball.json");
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  const pol_invariant *energy = find(summary, "energy");
  double first = summary->initial_energy.kinetic + summary->initial_energy.potential;
  assert_true(summary->max_energy_drift > 1.0); /* J */
  assert_true(energy->initial < first - 1.0);
  assert_true(energy->max_drift < 1e-6 && energy->max_increment <= energy->max_drift * 2.0);
  assert_true(find(summary, "momentum.x")->max_drift < 1e-12);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(claims_hold_for_random_mechanisms),
      cmocka_unit_test(joints_leave_what_their_rows_leave),
      cmocka_unit_test(forces_leave_what_does_no_work),
      cmocka_unit_test(em_keeps_all_invariants),
      cmocka_unit_test(methods_keep_what_they_promise),
      cmocka_unit_test(channels_tell_increments_and_times),
      cmocka_unit_test(momenta_between_steps_have_second_order),
      cmocka_unit_test(resets_start_invariants_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
