/* What a simulation tells of the whole: the balance of energy with all kinds of forces and a drive,
 * momenta, states of markers, joint coordinates, residuals at three levels.
 */
#include <stdio.h>
#include <string.h>

#include <polhode/polhode.h>

#include "check.h"
#include "lie/small.h"

static const double upright[4] = {1.0, 0.0, 0.0, 0.0};

static void add_body(pol_mechanism *mechanism, const char *name, double x, double y, double z)
{
  pol_body body = {.name = name,
                   .mass = 2.0,
                   .inertia = {0.3, 0.02, 0.0, 0.02, 0.2, -0.01, 0.0, -0.01, 0.25},
                   .position = {x, y, z},
                   .rotation = {1.0, 0.0, 0.0, 0.0}};
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
}

static int add_marker(pol_mechanism *mechanism, const char *name, int body, double x, double y,
                      double z)
{
  int index;
  const double point[3] = {x, y, z};
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, name, body, point, upright, &index),
                   POL_OK);
  return index;
}

static void add_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type, int first,
                      int second)
{
  pol_joint joint = {.name = name, .type = type, .marker = {first, second}};
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

/* An arm driven about z, a bushing that turns and slides on it, and a body on a universal joint,
 * with one force of each type. */
static pol_mechanism *everything(void)
{
  static const double gravity[3] = {1.0, 2.0, -9.81};
  pol_mechanism *m;
  assert_int_equal(pol_mechanism_create(&m), POL_OK);
  pol_mechanism_set_gravity(m, gravity);
  add_body(m, "arm", 0.5, 0.0, 0.0);
  add_body(m, "bushing", 1.0, 0.1, 0.2);
  add_body(m, "rod", 1.0, 0.6, 0.2);
  add_joint(m, "motor", POL_REVOLUTE, add_marker(m, "", POL_GROUND, 0.0, 0.0, 0.0),
            add_marker(m, "", 0, 0.0, 0.0, 0.0));
  add_joint(m, "slide", POL_CYLINDRICAL, add_marker(m, "", 0, 1.0, 0.0, 0.0),
            add_marker(m, "", 1, 1.0, 0.0, 0.0));
  add_joint(m, "cross", POL_UNIVERSAL, add_marker(m, "", 1, 1.0, 0.3, 0.2),
            add_marker(m, "", 2, 1.0, 0.3, 0.2));
  int post = add_marker(m, "post", POL_GROUND, 2.0, -1.0, 1.0);
  int tip = add_marker(m, "tip", 2, 1.1, 0.9, 0.3);
  const pol_force forces[] = {
      {.name = "push", .type = POL_APPLIED_FORCE, .body = 1, .vector = {3, 1, 2}, .point = {0.1}},
      {.name = "jet",
       .type = POL_APPLIED_FORCE,
       .body = 2,
       .frame = POL_BODY_AXES,
       .vector = {0, 4, 1},
       .point = {0.1, 0.2, 0.0}},
      {.name = "twist", .type = POL_APPLIED_TORQUE, .body = 2, .vector = {0, 1, 1}},
      {.name = "spin",
       .type = POL_APPLIED_TORQUE,
       .body = 1,
       .frame = POL_BODY_AXES,
       .vector = {1, 0, 1}},
      {.name = "hold",
       .type = POL_SUPPORT,
       .body = 1,
       .anchor = {1, 0, 0},
       .stiffness = {20, 10, 30},
       .damping = {1, 2, 3}},
      {.name = "rope",
       .type = POL_SPRING_DAMPER,
       .marker = {post, tip},
       .stiffness = {15},
       .damping = {2},
       .length = 1.0,
       .actuator = 4.0},
      {.name = "air", .type = POL_DRAG, .body = 2, .coefficient = 0.7},
      {.name = "torsion",
       .type = POL_JOINT_SPRING,
       .joint = 1,
       .coordinate = 0,
       .stiffness = {5},
       .damping = {0.6},
       .rest = 0.4,
       .actuator = 1.5},
      {.name = "stroke",
       .type = POL_JOINT_SPRING,
       .joint = 1,
       .coordinate = 1,
       .stiffness = {80},
       .damping = {3},
       .rest = 0.2,
       .actuator = -2.0},
      {.name = "bend", .type = POL_JOINT_SPRING, .joint = 2, .stiffness = {9}, .damping = {0.4}},
  };
  for (size_t i = 0; i < sizeof forces / sizeof *forces; i++)
    assert_int_equal(pol_mechanism_add_force(m, &forces[i], NULL), POL_OK);
  pol_drive drive = {.name = "drive",
                     .joint = 0,
                     .coordinate = POL_DRIVE_ROTATION,
                     .function = {.type = POL_HARMONIC, .amplitude = 0.8, .frequency = 0.9}};
  assert_int_equal(pol_mechanism_add_drive(m, &drive, NULL), POL_OK);
  return m;
}

/* Runs to the end; the caller frees. */
static pol_simulation *run_method(const pol_mechanism *mechanism, const char *method,
                                  pol_formulation_kind kind, pol_index index, double step,
                                  double end)
{
  pol_simulation *simulation;
  pol_diagnostics d;
  pol_settings settings = pol_settings_default();
  settings.formulation = kind;
  settings.options.method = method;
  settings.options.index = index;
  settings.step = step;
  settings.end = end;
  if (pol_simulation_create(&simulation, mechanism, &settings, &d)) fail_msg("%s", d.message);
  while (!pol_simulation_finished(simulation))
    if (pol_simulation_step(simulation))
      fail_msg("%s", pol_simulation_diagnostics(simulation)->message);
  return simulation;
}

static pol_simulation *run(const pol_mechanism *mechanism, pol_formulation_kind kind,
                           pol_index index, double step, double end)
{
  return run_method(mechanism, "geom1", kind, index, step, end);
}

static void energy_is_balanced_at_second_order(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY, POL_EULER_PARAMETERS,
                                               POL_DIRECTORS};
  static const pol_index indices[] = {POL_INDEX_3, POL_INDEX_2, POL_INDEX_2_STABILIZED};
  pol_mechanism *mechanism = everything();
  for (int k = 0; k < 12; k++) {
    double balance[3];
    for (int n = 0; n < 3; n++) {
      pol_simulation *simulation =
          run(mechanism, kinds[k / 3], indices[k % 3], 4e-3 / (1 << n), 2.0);
      const pol_summary *summary = pol_simulation_summary(simulation);
      balance[n] = fabs(summary->energy_balance);
      /* all of it is there */
      assert_true(summary->work.dissipated > 1.0);
      assert_true(fabs(summary->work.applied) > 1.0);
      assert_true(fabs(summary->work.drives) > 1.0);
      double total = summary->energy.kinetic + summary->energy.potential -
                     summary->initial_energy.kinetic - summary->initial_energy.potential;
      double sum = summary->work.applied + summary->work.drives - summary->work.dissipated;
      assert_near(&(double){total - sum}, &summary->energy_balance, 1, 1e-12);
      pol_simulation_free(&simulation);
    }
    assert_near(&(double){log2(balance[0] / balance[1])}, &(double){2.0}, 1, 0.1);
    assert_near(&(double){log2(balance[1] / balance[2])}, &(double){2.0}, 1, 0.06);
    assert_true(balance[2] < 1e-3);
  }
  pol_mechanism_free(&mechanism);
}

/* So it is with methods whose multipliers belong to an earlier time than the state: the middle or
 * the start of the step. */
static void multipliers_of_another_time_balance_energy(void **state)
{
  (void)state;
  static const char *const methods[] = {"em", "em-g", "midpoint", "rattle"};
  pol_mechanism *mechanism = everything();
  for (int k = 0; k < 4; k++) {
    double balance[2];
    for (int n = 0; n < 2; n++) {
      pol_simulation *simulation =
          run_method(mechanism, methods[k], POL_DIRECTORS, POL_INDEX_3, 2e-3 / (1 << n), 2.0);
      balance[n] = fabs(pol_simulation_summary(simulation)->energy_balance);
      pol_simulation_free(&simulation);
    }
    /* of first order it would fall to one half */
    if (!(log2(balance[0] / balance[1]) > 1.8))
      fail_msg("%s: %g J, then %g J", methods[k], balance[0], balance[1]);
  }
  pol_mechanism_free(&mechanism);
}

/* --- momenta ---------------------------------------------------------------------------------- */

/* Two bodies that spin, linked by a ball joint and a spring, away from everything else. */
static pol_mechanism *free_pair(void)
{
  pol_mechanism *m;
  assert_int_equal(pol_mechanism_create(&m), POL_OK);
  for (int i = 0; i < 2; i++) {
    pol_body body = {.name = i ? "b" : "a",
                     .mass = 1.0 + i,
                     .inertia = {0.3, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.1},
                     .position = {i ? 1.0 : 0.0, 0.2, 0.0},
                     .rotation = {1.0, 0.0, 0.0, 0.0},
                     .velocity = {0.3, 0.5, -0.2},
                     .given = POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY};
    body.angular_velocity[i] = 4.0;
    body.angular_velocity[2] = 1.0;
    assert_int_equal(pol_mechanism_add_body(m, &body, NULL), POL_OK);
  }
  add_joint(m, "ball", POL_SPHERICAL, add_marker(m, "", 0, 0.5, 0.2, 0.0),
            add_marker(m, "", 1, 0.5, 0.2, 0.0));
  pol_force spring = {
      .name = "spring",
      .type = POL_SPRING_DAMPER,
      .marker = {add_marker(m, "", 0, 0.0, 0.7, 0.0), add_marker(m, "", 1, 1.0, 0.8, 0.3)},
      .stiffness = {30.0},
      .damping = {0.5},
      .length = 0.8};
  assert_int_equal(pol_mechanism_add_force(m, &spring, NULL), POL_OK);
  return m;
}

/* Largest changes of the momenta, which nothing from outside changes. */
static void momentum_changes(const pol_mechanism *mechanism, pol_formulation_kind kind, double step,
                             double *linear, double *angular)
{
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  pol_momentum first, now;
  settings.formulation = kind;
  settings.step = step;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  pol_formulation_momentum(formulation, state->q, state->v, &first);
  *linear = *angular = 0.0;
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    pol_formulation_momentum(formulation, state->q, state->v, &now);
    for (int i = 0; i < 3; i++) {
      *linear = fmax(*linear, fabs(now.linear[i] - first.linear[i]));
      *angular = fmax(*angular, fabs(now.angular[i] - first.angular[i]));
    }
  }
  assert_true(sqrt(poli_v3_dot(first.angular, first.angular)) > 1.0);
  pol_simulation_free(&simulation);
}

static void free_systems_keep_their_momenta(void **state)
{
  (void)state;
  pol_mechanism *mechanism = free_pair();
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SO3XR3_SPATIAL, POL_SE3_BODY};
  for (int k = 0; k < 3; k++) {
    double linear, coarse, fine;
    momentum_changes(mechanism, kinds[k], 2e-3, &linear, &coarse);
    momentum_changes(mechanism, kinds[k], 1e-3, &linear, &fine);
    assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.05);
    assert_true(fine < 1e-4);
    if (kinds[k] != POL_SE3_BODY) assert_true(linear < 1e-11); /* v itself is global */
  }
  pol_mechanism_free(&mechanism);
}

/* One body: p = m u, L = x x p + R J w. */
static void momenta_are_those_of_mechanics(void **state)
{
  (void)state;
  pol_mechanism *m;
  pol_body body = {.name = "body",
                   .mass = 2.0,
                   .inertia = {0.3, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.1},
                   .position = {1.0, 2.0, 3.0},
                   .rotation = {0.5, 0.5, 0.5, 0.5}, /* x to y to z to x */
                   .velocity = {0.5, -1.0, 2.0},
                   .angular_velocity = {10.0, 20.0, 40.0},
                   .given = POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY};
  const double linear[3] = {1.0, -2.0, 4.0};
  /* (1, 2, 3) x p + (J w turned: 4, 3, 4) */
  const double angular[3] = {14.0 + 4.0, -1.0 + 3.0, -4.0 + 4.0};
  assert_int_equal(pol_mechanism_create(&m), POL_OK);
  assert_int_equal(pol_mechanism_add_body(m, &body, NULL), POL_OK);
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    pol_formulation *formulation;
    pol_momentum momentum;
    double q[12], v[12];
    unsigned char keep[12];
    if (kind == POL_SO3_PIVOT || kind == POL_TAIT_BRYAN) continue; /* no pivot; gimbal lock */
    assert_int_equal(pol_formulation_create(&formulation, m, (pol_formulation_kind)kind), POL_OK);
    pol_formulation_initial(formulation, q, v, keep);
    pol_formulation_momentum(formulation, q, v, &momentum);
    assert_near(momentum.linear, linear, 3, 1e-14);
    assert_near(momentum.angular, angular, 3, 1e-14);
    pol_formulation_free(&formulation);
  }
  pol_mechanism_free(&m);
}

/* --- records of joints and markers ------------------------------------------------------------ */

static double channel(const pol_record *record, const double *row, const char *owner,
                      const char *quantity)
{
  char name[128];
  snprintf(name, sizeof name, "%s.%s", owner, quantity);
  for (int i = 0; i < pol_record_count(record); i++)
    if (strcmp(pol_record_channel(record, i)->name, name) == 0) return row[i];
  fail_msg("there is no channel %s", name);
  return 0.0;
}

static void vector(const pol_record *record, const double *row, const char *owner,
                   const char *quantity, double out[3])
{
  static const char *const axes[] = {"x", "y", "z"};
  for (int i = 0; i < 3; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", quantity, axes[i]);
    out[i] = channel(record, row, owner, name);
  }
}

/* "tip" of the rod against rigid-body kinematics, "post" at rest. */
static void check_markers(const pol_record *record, const double *row, const pol_simulation *sim)
{
  const pol_formulation *formulation = pol_simulation_formulation(sim);
  const pol_state *state = pol_simulation_state(sim);
  static const double arm[3] = {0.1, 0.3, 0.1}, post[3] = {2.0, -1.0, 1.0}, zero[3];
  pol_body_state rod;
  double turned[3], position[3], velocity[3], got[3], size = 0.0;
  pol_formulation_body_state(formulation, state->q, state->v, 2, &rod);
  poli_m3_apply(rod.rotation, arm, turned);
  poli_v3_add(rod.position, turned, position);
  poli_v3_cross(rod.angular_velocity_global, turned, velocity);
  poli_v3_add(rod.velocity, velocity, velocity);
  vector(record, row, "marker.tip", "position", got);
  assert_near(got, position, 3, 1e-14);
  vector(record, row, "marker.tip", "velocity", got);
  assert_near(got, velocity, 3, 1e-13);
  static const char *const parts[] = {"quaternion.w", "quaternion.x", "quaternion.y",
                                      "quaternion.z"};
  for (int i = 0; i < 4; i++) { /* its axes are those of the body */
    double part = channel(record, row, "marker.tip", parts[i]);
    assert_near(&part, &rod.quaternion[i], 1, 1e-14);
    size += part * part;
  }
  assert_near(&size, &(double){1.0}, 1, 1e-14);
  vector(record, row, "marker.post", "position", got);
  assert_near(got, post, 3, 0.0);
  vector(record, row, "marker.post", "velocity", got);
  assert_near(got, zero, 3, 0.0);
}

/* Angle and rate of the motor are those of its function; reactions in the joint's axes. */
static void check_joints(const pol_record *record, const double *row, const pol_simulation *sim)
{
  const double omega = 2.0 * 3.14159265358979323846 * 0.9, t = row[0];
  double angle = 0.8 * sin(omega * t), rate = 0.8 * omega * cos(omega * t), got[2];
  got[0] = channel(record, row, "motor", "angle");
  got[1] = channel(record, row, "motor", "rate");
  assert_near(&got[0], &angle, 1, 1e-10);
  assert_near(&got[1], &rate, 1, 1e-10);

  pol_body_state arm;
  const pol_state *state = pol_simulation_state(sim);
  static const char *const pairs[][2] = {{"force", "force_local"}, {"torque", "torque_local"}};
  pol_formulation_body_state(pol_simulation_formulation(sim), state->q, state->v, 0, &arm);
  for (int k = 0; k < 2; k++) {
    double global[3], local[3], turned[3];
    vector(record, row, "slide", pairs[k][0], global);
    vector(record, row, "slide", pairs[k][1], local);
    poli_m3_apply(arm.rotation, local, turned); /* the first marker has the axes of the arm */
    assert_near(turned, global, 3, 1e-11);
  }
  /* a cylindrical joint carries no force along and no torque about its axis */
  double free_force = channel(record, row, "slide", "force_local.z");
  double free_torque = channel(record, row, "slide", "torque_local.z");
  assert_near(&free_force, &(double){0.0}, 1, 1e-11);
  assert_near(&free_torque, &(double){0.0}, 1, 1e-11);

  /* the springs on it act by its coordinates */
  double torque = 1.5 - 0.6 * channel(record, row, "slide", "rate") -
                  5.0 * (channel(record, row, "slide", "angle") - 0.4);
  double force = -2.0 - 3.0 * channel(record, row, "slide", "speed") -
                 80.0 * (channel(record, row, "slide", "displacement") - 0.2);
  double told[2] = {channel(record, row, "torsion", "torque"),
                    channel(record, row, "stroke", "force")};
  assert_near(&told[0], &torque, 1, 1e-12);
  assert_near(&told[1], &force, 1, 1e-12);
}

static void joints_and_markers_are_recorded(void **state)
{
  (void)state;
  pol_mechanism *mechanism = everything();
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    pol_simulation *simulation;
    pol_record *record;
    pol_settings settings = pol_settings_default();
    if (kind == POL_SO3_PIVOT) continue; /* no pivots */
    settings.formulation = (pol_formulation_kind)kind;
    settings.options.index = POL_INDEX_2_STABILIZED; /* q and v satisfy the constraints, */
    settings.options.newton.stop = POL_STOP_TIGHT;   /* to round-off */
    settings.step = 0.01;
    settings.end = 0.5;
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
    assert_int_equal(pol_record_create(&record, simulation), POL_OK);
    double row[300], before[2] = {0.0, 0.0}, rate_before[2] = {0.0, 0.0};
    assert_true(pol_record_count(record) <= 300);
    for (int n = 0; !pol_simulation_finished(simulation); n++) {
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
      pol_record_row(record, row);
      check_markers(record, row, simulation);
      if (kind == POL_SO3XR3) check_joints(record, row, simulation);
      /* both angles of the universal joint change as their rates say */
      double now[2] = {channel(record, row, "cross", "angle.1"),
                       channel(record, row, "cross", "angle.2")};
      double rate[2] = {channel(record, row, "cross", "rate.1"),
                        channel(record, row, "cross", "rate.2")};
      for (int i = 0; i < 2; i++) {
        double mean = n > 0 ? 0.5 * (rate[i] + rate_before[i]) : 0.0;
        if (n > 0) assert_near(&(double){(now[i] - before[i]) / 0.01}, &mean, 1, 2e-2);
        before[i] = now[i];
        rate_before[i] = rate[i];
      }
    }
    pol_record_free(&record);
    pol_simulation_free(&simulation);
  }
  pol_mechanism_free(&mechanism);
}

/* --- residuals -------------------------------------------------------------------------------- */

/* At the start all three levels hold, in every formulation, with a drive. */
static void the_start_satisfies_all_levels(void **state)
{
  (void)state;
  pol_mechanism *mechanism = everything();
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    pol_simulation *simulation;
    pol_settings settings = pol_settings_default();
    if (kind == POL_SO3_PIVOT) continue;
    settings.formulation = (pol_formulation_kind)kind;
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_true(summary->position_residual < 1e-13);
    assert_true(summary->velocity_residual < 1e-12);
    assert_true(summary->acceleration_residual < 1e-10);
    /* the velocities are not zero, so that the part without v' counts */
    assert_true(summary->energy.kinetic > 1.0);
    pol_simulation_free(&simulation);
  }
  pol_mechanism_free(&mechanism);
}

/* A mass on a rod of length 1: Phi = (x.x - 1)/2, x.u, x.u' + u.u. */
static void residuals_are_derivatives_of_the_constraint(void **state)
{
  (void)state;
  static const double gravity[3] = {0.0, 0.0, -9.81};
  pol_mechanism *m;
  pol_joint rod = {.name = "rod", .type = POL_DISTANCE, .length = 1.0};
  double largest = 0.0;
  assert_int_equal(pol_mechanism_create(&m), POL_OK);
  pol_mechanism_set_gravity(m, gravity);
  add_body(m, "mass", 0.6, 0.0, 0.8);
  rod.marker[0] = add_marker(m, "", POL_GROUND, 0.0, 0.0, 0.0);
  rod.marker[1] = add_marker(m, "", 0, 0.6, 0.0, 0.8);
  assert_int_equal(pol_mechanism_add_joint(m, &rod, NULL), POL_OK);
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  settings.step = 0.02;
  assert_int_equal(pol_simulation_create(&simulation, m, &settings, NULL), POL_OK);
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    const pol_state *now = pol_simulation_state(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    const double *x = now->q + 4, *u = now->v + 3, *a = now->vd + 3;
    double position = fabs(0.5 * (poli_v3_dot(x, x) - 1.0)), velocity = fabs(poli_v3_dot(x, u));
    double acceleration = fabs(poli_v3_dot(x, a) + poli_v3_dot(u, u));
    assert_near(&summary->position_residual, &position, 1, 1e-15);
    assert_near(&summary->velocity_residual, &velocity, 1, 1e-14);
    assert_near(&summary->acceleration_residual, &acceleration, 1, 1e-13);
    largest = fmax(largest, acceleration);
  }
  assert_true(largest > 1e-4); /* index 3 leaves something */
  assert_near(&pol_simulation_summary(simulation)->max_acceleration_residual, &largest, 1, 1e-13);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_balanced_at_second_order),
      cmocka_unit_test(multipliers_of_another_time_balance_energy),
      cmocka_unit_test(free_systems_keep_their_momenta),
      cmocka_unit_test(momenta_are_those_of_mechanics),
      cmocka_unit_test(joints_and_markers_are_recorded),
      cmocka_unit_test(the_start_satisfies_all_levels),
      cmocka_unit_test(residuals_are_derivatives_of_the_constraint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
