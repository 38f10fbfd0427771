/* Point masses in motion: the spherical pendulum and the four particles of Kinon, Betsch, Schneider
 * (2023) against independent high-precision integrations (2026; accurate to 1e-11), and chains of
 * points and rigid bodies against the same with rigid bodies only. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/kinon-betsch-schneider-2023/"

enum { MAX_NUMBERS = 128 };

static pol_simulation *run(const pol_mechanism *mechanism, const pol_settings *settings)
{
  pol_simulation *simulation = start_with(mechanism, settings);
  step_to_end(simulation);
  return simulation;
}

static double largest_difference(const double *a, const double *b, int n)
{
  double largest = 0.0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

/* A reference solution at one time. */
typedef struct reference {
  double t;
  int nv, m;
  double q[12], v[12], lambda[2];
} reference;

static const reference pendulum = {
    .t = 2.0,
    .nv = 3,
    .m = 1,
    .q = {0.5792511572016823, 0.588246716732551, -0.5642994746886496},
    .v = {0.4262503402333293, 2.159236710360009, 2.688412760250174},
    .lambda = {17.60733354008696}};

static const reference particles = {
    .t = 1.0,
    .nv = 12,
    .m = 2,
    .q = {0.007984327723433432, 0.01139214942694989, 0.0004151028604670607, 0.985729920652311,
          0.2068880725808038, 0.07653934038295478, 0.2427320208083556, 0.9799405709726926,
          0.08876545776986926, 0.6920836838002447, 0.6553413644667326, 0.9210625430117467},
    .v = {0.02664123699022393, 0.04115813625321098, 0.002380071313526484, -0.05164297129971315,
          0.3532168541471862, 0.2064653012500773, 0.4041282330507815, -0.06872699026866717,
          0.2242114272390566, -0.4712983877105188, -0.5545509535746088, 0.5073751425214184},
    .lambda = {0.0581535661438331, 0.9160175289690331}};

/* Errors of q, v and lambda. */
static void measure(pol_model *model, const reference *exact, double step, double error[3])
{
  model->settings.step = step;
  model->settings.end = exact->t;
  pol_simulation *simulation = run(model->mechanism, &model->settings);
  const pol_state *state = pol_simulation_state(simulation);
  assert_int_equal(pol_formulation_dae(pol_simulation_formulation(simulation))->group.nq,
                   exact->nv);
  error[0] = largest_difference(state->q, exact->q, exact->nv);
  error[1] = largest_difference(state->v, exact->v, exact->nv);
  error[2] = largest_difference(state->lambda, exact->lambda, exact->m);
  pol_simulation_free(&simulation);
}

/* Second order, and errors below the bounds at the smaller step.  At still smaller ones Newton's
 * tolerance shows in the multipliers, which it enters divided by the square of the step. */
static void check_order(const char *path, const reference *exact, double step, const double most[3])
{
  pol_model *model = read_model(path);
  double coarse[3], fine[3];
  measure(model, exact, step, coarse);
  measure(model, exact, 0.5 * step, fine);
  for (int i = 0; i < 3; i++) {
    double order = log2(coarse[i] / fine[i]);
    if (!(order > 1.9 && order < 2.1) || fine[i] > most[i])
      fail_msg("%s, quantity %d: errors %g and %g, order %g", path, i, coarse[i], fine[i], order);
  }
  pol_model_free(&model);
}

static void models_converge_to_the_reference(void **state)
{
  static const double pendulum_most[3] = {1.8e-5, 6e-5, 4.8e-4};
  static const double particles_most[3] = {2e-6, 2.4e-5, 2.4e-3};
  (void)state;
  check_order(MODELS "pendulum.json", &pendulum, 2e-3, pendulum_most);
  check_order(MODELS "four_particles.json", &particles, 2e-3, particles_most);
}

/* Point masses are R^n in every formulation: the same numbers, to the last bit, and
 * to round-off in directors, which add up in another order: eps/h in the velocities of each of the
 * 500 steps. */
static void formulations_do_not_matter_to_points(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "four_particles.json");
  model->settings.options.newton.stop = POL_STOP_TIGHT;
  double first[12];
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    model->settings.formulation = (pol_formulation_kind)kind;
    pol_simulation *simulation = run(model->mechanism, &model->settings);
    const pol_state *now = pol_simulation_state(simulation);
    if (kind == 0)
      memcpy(first, now->q, sizeof first);
    else
      assert_near(now->q, first, 12, kind == POL_DIRECTORS ? 1e-12 : 0.0);
    pol_simulation_free(&simulation);
  }
  pol_model_free(&model);
}

/* Nothing acts from outside: linear momentum is kept by the equations themselves, energy and
 * angular momentum as well as the method solves them. */
static void particles_keep_their_momentum(void **state)
{
  (void)state;
  static const double masses[4] = {1.0, 3.0, 2.3, 1.7};
  /* at the start only p4 at (1, 1, 0) moves, with the momentum (0, 0, 2) */
  static const double linear_momentum[3] = {0, 0, 2}, angular_momentum[3] = {2, -2, 0};
  pol_model *model = read_model(MODELS "four_particles.json");
  pol_simulation *simulation = run(model->mechanism, &model->settings);
  const pol_state *now = pol_simulation_state(simulation);
  double linear[3] = {0.0}, angular[3] = {0.0};
  for (int b = 0; b < 4; b++) {
    const double *x = now->q + 3 * b, *u = now->v + 3 * b;
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      linear[i] += masses[b] * u[i];
      angular[i] += masses[b] * (x[j] * u[k] - x[k] * u[j]);
    }
  }
  assert_near(linear, linear_momentum, 3, 1e-12);
  assert_near(angular, angular_momentum, 3, 1e-5);
  assert_true(pol_simulation_summary(simulation)->max_energy_drift < 1e-5);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* --- points and rigid bodies ------------------------------------------------------------------ */

static int add_marker(pol_mechanism *mechanism, int body, double x, double y, double z)
{
  int index;
  const pol_marker marker = {
      .name = "", .body = body, .position = {x, y, z}, .rotation = {1.0, 0.0, 0.0, 0.0}};
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

static void add_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type, int first,
                      int second)
{
  const pol_joint joint = {.name = name, .type = type, .marker = {first, second}, .length = 1.0};
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

/* ground - rod of length 1 - p - spherical - bar - spherical - q, and a spring from q to the
 * ground.  p and q are points, or rigid bodies held at their centres, which never turn. */
static pol_mechanism *create_chain(int points)
{
  static const double gravity[3] = {0.0, 0.0, -9.81};
  const pol_body bodies[3] = {{.name = "p",
                               .point = points,
                               .mass = 0.8,
                               .inertia = {0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.02},
                               .rotation = {1, 0, 0, 0},
                               .position = {1, 0, 0},
                               .velocity = {0, 0.5, 0},
                               .given = POL_GIVEN_VELOCITY},
                              {.name = "bar",
                               .mass = 1.5,
                               .inertia = {0.02, 0, 0, 0, 0.1, 0, 0, 0, 0.11},
                               .rotation = {1, 0, 0, 0},
                               .position = {1.5, 0, 0},
                               .velocity = {0, 0.5, 0},
                               .angular_velocity = {1, 0, 0},
                               .given = POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY},
                              {.name = "q",
                               .point = points,
                               .mass = 0.6,
                               .inertia = {0.03, 0, 0, 0, 0.03, 0, 0, 0, 0.03},
                               .rotation = {1, 0, 0, 0},
                               .position = {2, 0, 0},
                               .velocity = {0, 0.5, 0},
                               .given = POL_GIVEN_VELOCITY}};
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, gravity);
  for (int i = 0; i < 3; i++)
    assert_int_equal(pol_mechanism_add_body(mechanism, &bodies[i], NULL), POL_OK);
  int ground = add_marker(mechanism, POL_GROUND, 0, 0, 0), p = add_marker(mechanism, 0, 0, 0, 0);
  int left = add_marker(mechanism, 1, -0.5, 0, 0), right = add_marker(mechanism, 1, 0.5, 0, 0);
  int q = add_marker(mechanism, 2, 0, 0, 0);
  add_joint(mechanism, "rod", POL_DISTANCE, ground, p);
  add_joint(mechanism, "inner", POL_SPHERICAL, p, left);
  add_joint(mechanism, "outer", POL_SPHERICAL, right, q);
  const pol_force spring = {.name = "spring",
                            .type = POL_SPRING_DAMPER,
                            .marker = {q, ground},
                            .stiffness = {20},
                            .damping = {0.3},
                            .length = 1.5};
  assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  return mechanism;
}

static void final_positions(const pol_simulation *simulation, double x[9])
{
  const pol_state *now = pol_simulation_state(simulation);
  for (int b = 0; b < 3; b++) {
    pol_body_state body;
    pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, b, &body);
    memcpy(x + 3 * b, body.position, sizeof body.position);
  }
}

/* In every formulation but so3, for which this chain lacks pivots. */
static void a_mixed_chain_moves_like_a_rigid_one(void **state)
{
  (void)state;
  pol_settings settings = pol_settings_default();
  settings.step = 1e-3;
  settings.end = 0.5;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    if (kind == POL_SO3_PIVOT) continue;
    double x[2][9];
    settings.formulation = (pol_formulation_kind)kind;
    for (int points = 0; points < 2; points++) {
      pol_mechanism *mechanism = create_chain(points);
      pol_simulation *simulation = run(mechanism, &settings);
      final_positions(simulation, x[points]);
      pol_simulation_free(&simulation);
      pol_mechanism_free(&mechanism);
    }
    assert_near(x[0], x[1], 9, 1e-9);
    assert_true(fabs(x[0][8]) > 0.1); /* it moves */
  }
}

/* The bob's final position, with the coordinates counted. */
static void hang(const pol_mechanism *mechanism, pol_formulation_kind kind, double step, int nv,
                 int m, double x[3])
{
  pol_settings settings = pol_settings_default();
  settings.step = step;
  settings.end = 0.5;
  settings.formulation = kind;
  pol_simulation *simulation = run(mechanism, &settings);
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_state *now = pol_simulation_state(simulation);
  pol_body_state body;
  assert_int_equal(pol_formulation_dae(formulation)->group.nv, nv);
  assert_int_equal(pol_dae_num_constraints(pol_formulation_dae(formulation)), m);
  pol_formulation_body_state(formulation, now->q, now->v, 1, &body);
  memcpy(x, body.position, sizeof body.position);
  pol_simulation_free(&simulation);
}

/* A top on its tip from which a point hangs: so3 has 3 + 3 coordinates and one row, and converges
 * to what so3xr3 says. */
static void a_point_hangs_from_a_top(void **state)
{
  (void)state;
  const pol_body top = {.name = "top",
                        .mass = 2.0,
                        .inertia = {0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.03},
                        .rotation = {1, 0, 0, 0},
                        .position = {0, 0, 0.5},
                        .angular_velocity = {0.5, 0, 20},
                        .given = POL_GIVEN_ANGULAR_VELOCITY};
  const pol_body bob = {.name = "bob", .point = 1, .mass = 0.3, .position = {0.2, 0, -0.4}};
  const double gravity[3] = {0.0, 0.0, -9.81};
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, gravity);
  assert_int_equal(pol_mechanism_add_body(mechanism, &top, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &bob, NULL), POL_OK);
  add_joint(mechanism, "tip", POL_SPHERICAL, add_marker(mechanism, POL_GROUND, 0, 0, 0),
            add_marker(mechanism, 0, 0, 0, -0.5));
  add_joint(mechanism, "thread", POL_DISTANCE, add_marker(mechanism, 0, 0.2, 0, 0.1),
            add_marker(mechanism, 1, 0, 0, 0));
  double apart[2], x[2][3];
  for (int k = 0; k < 2; k++) {
    double step = k == 0 ? 1e-3 : 5e-4;
    hang(mechanism, POL_SO3_PIVOT, step, 6, 1, x[0]);
    hang(mechanism, POL_SO3XR3, step, 9, 4, x[1]);
    apart[k] = largest_difference(x[0], x[1], 3);
  }
  double order = log2(apart[0] / apart[1]);
  if (!(order > 1.8 && order < 2.2) || apart[1] > 1e-4)
    fail_msg("apart by %g and %g, order %g", apart[0], apart[1], order);
  pol_mechanism_free(&mechanism);
}

/* Position and velocity, and nothing that turns. */
static void points_are_recorded_without_rotation(void **state)
{
  (void)state;
  static const char *const names[] = {"t",
                                      "bob.position.x",
                                      "bob.position.y",
                                      "bob.position.z",
                                      "bob.velocity.x",
                                      "bob.velocity.y",
                                      "bob.velocity.z"};
  const double expected[7] = {0, 1, 0, 0, 0, 1, 0};
  pol_model *model = read_model(MODELS "pendulum.json");
  pol_simulation *simulation;
  pol_record *record;
  double row[MAX_NUMBERS];
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL),
                   POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_true(pol_record_count(record) <= MAX_NUMBERS);
  for (int i = 0; i < 7; i++) assert_string_equal(pol_record_channel(record, i)->name, names[i]);
  int pull = 7;
  while (strcmp(pol_record_channel(record, pull)->name, "rod.force.x")) pull++;
  pol_record_row(record, row);
  assert_near(row, expected, 7, 0.0);
  /* the rod pulls with m v^2 / l towards the pivot */
  assert_near(&row[pull], &(double){-1.0}, 1, 1e-12);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(models_converge_to_the_reference),
      cmocka_unit_test(formulations_do_not_matter_to_points),
      cmocka_unit_test(particles_keep_their_momentum),
      cmocka_unit_test(a_mixed_chain_moves_like_a_rigid_one),
      cmocka_unit_test(a_point_hangs_from_a_top),
      cmocka_unit_test(points_are_recorded_without_rotation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
