/* rattle on rigid bodies: final states of an independent program, order 2, 4, 6 and 8 on mechanisms
 * of all kinds, positions on the constraints, energy without drift, reactions, failures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* Runs a model with rattle of an order; the caller frees the simulation. */
static pol_simulation *run_rattle(const pol_model *model, int order, double h, double end)
{
  pol_simulation *simulation = start_rattle(model, order, h, end);
  step_to_end(simulation);
  return simulation;
}

static void final_states(void **state)
{
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/rattle_states.csv", "r");
  char line[2000], name[40];
  int order, steps, body, used, count = 0;
  double h;
  (void)state;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    double x[13], R[9], w[3], plus = 0.0, minus = 0.0;
    if (line[0] == '#') continue;
    assert_int_equal(sscanf(line, "%39[^,],%d,%d,%lf,%d%n", name, &order, &steps, &h, &body, &used),
                     5);
    const char *next = line + used;
    for (int i = 0; i < 13; i++) x[i] = strtod(next + 1, (char **)&next);
    const int top = strcmp(name, "heavy_top") == 0;
    pol_model *model = read_model(top ? MODELS "bruels-cardona-2010/heavy_top.json"
                                      : MODELS "holzinger-arnold-gerstmayr/slider_crank.json");
    pol_simulation *simulation = run_rattle(model, order, h, steps * h);
    const pol_state *end = pol_simulation_state(simulation);
    const double *q = end->q + 7 * body, *v = end->v + 6 * body;
    assert_near(q + 4, x, 3, 1e-11);
    for (int i = 0; i < 4; i++) {
      plus = fmax(plus, fabs(q[i] - x[3 + i]));
      minus = fmax(minus, fabs(q[i] + x[3 + i]));
    }
    assert_true(fmin(plus, minus) < 2e-11);
    assert_near(v + 3, x + 7, 3, 1e-10);
    pol_quat_to_matrix(q, R);
    poli_m3_apply(R, v, w);
    assert_near(w, x + 10, 3, 5e-9);
    assert_true(pol_simulation_summary(simulation)->max_position_residual < 1e-13);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
    count++;
  }
  fclose(file);
  assert_int_equal(count, 16);
}

/* Errors of positions against a run with a fine step fall with the order: a spring, a damper, a
 * motor, states, gears, redundant constraints. */
static void orders(void **state)
{
  static const struct {
    const char *model;
    int order;
    double h, end;
  } cases[] = {
      {"examples/double_pendulum.json", 2, 4e-3, 0.4},
      {"examples/double_pendulum.json", 4, 2e-2, 0.4},
      {"examples/double_pendulum.json", 6, 4e-2, 0.4},
      {"examples/governor.json", 4, 2e-3, 0.1},
      {"examples/pid_pendulum.json", 4, 1e-2, 0.4},
      {"examples/lag_actuator.json", 4, 2e-2, 0.4},
      {"examples/lag_actuator.json", 6, 4e-2, 0.4},
      {"examples/planetary_gear.json", 4, 2e-2, 0.4},
      {"examples/gyroscope.json", 4, 4e-3, 0.1},
      {"examples/suspension.json", 4, 4e-3, 0.1},
  };
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    char path[400];
    double q[3][200], error[2] = {0.0, 0.0};
    snprintf(path, sizeof path, "%s%s", MODELS, cases[c].model);
    pol_model *model = read_model(path);
    int nq = 0;
    for (int k = 0; k < 3; k++) {
      const double h = k < 2 ? cases[c].h / (k + 1) : cases[c].h / 8.0;
      pol_simulation *simulation = run_rattle(model, k < 2 ? cases[c].order : 8, h, cases[c].end);
      nq = pol_formulation_dae(pol_simulation_formulation(simulation))->group.nq;
      memcpy(q[k], pol_simulation_state(simulation)->q, (size_t)nq * sizeof q[k][0]);
      pol_simulation_free(&simulation);
    }
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < nq; i++) error[k] = fmax(error[k], fabs(q[k][i] - q[2][i]));
    const double order = log2(error[0] / error[1]);
    if (!(fabs(order - cases[c].order) < 0.35))
      fail_msg("%s: order %g instead of %d (errors %g, %g)", cases[c].model, order, cases[c].order,
               error[0], error[1]);
    pol_model_free(&model);
  }
}

static double total(const pol_energy *energy)
{
  return energy->kinetic + energy->potential;
}

/* No drift: the energy error of the last tenth of a long run is that of the first. */
static void energy_stays(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
  pol_settings settings = model->settings;
  settings.options.method = "rattle";
  settings.options.order = 4;
  settings.step = 2.5e-3;
  settings.end = 25.0;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  const double initial = total(&pol_simulation_summary(simulation)->initial_energy);
  double first = 0.0, last = 0.0;
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    const double error = fabs(total(&summary->energy) - initial);
    if (summary->t < 2.5) first = fmax(first, error);
    if (summary->t > 22.5) last = fmax(last, error);
  }
  assert_true(first < 1e-2 && last < 2.0 * first);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* 1e5 steps of order 8: energy and angular momentum about the vertical axis stay to round-off, as
 * do quaternion and constraints. */
static void long_runs_do_not_drift(void **state)
{
  const long count = 100000, block = 500;
  const double h = 2e-3;
  (void)state;
  pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
  const pol_body *top = pol_mechanism_body(model->mechanism, 0);
  pol_simulation *simulation = start_rattle(model, 8, h, 1.0);
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  options.method = "rattle";
  options.order = 8;
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                   POL_OK);
  const pol_state *now = pol_simulation_state(simulation);
  assert_int_equal(pol_integrator_start(integrator, 0.0, now->q, now->v, NULL), POL_OK);
  double energy[2] = {0.0}, momentum[2] = {0.0}, start[2] = {0.0};
  for (long k = 0; k <= count; k += block) {
    if (k > 0) assert_int_equal(pol_integrator_steps(integrator, h, block), POL_OK);
    now = pol_integrator_state(integrator);
    const pol_point point = pol_state_point(now);
    pol_energy e;
    pol_formulation_energy(formulation, &point, &e);
    double R[9], L[3], spatial[3];
    poli_quat_to_matrix(now->q, R);
    poli_m3_apply(top->inertia, now->v, L);
    poli_m3_apply(R, L, spatial);
    const double *x = now->q + 4, *v = now->v + 3;
    const double value[2] = {total(&e), spatial[2] + top->mass * (x[0] * v[1] - x[1] * v[0])};
    if (k == 0) memcpy(start, value, sizeof start);
    if (k <= count / 10) {
      energy[0] = fmax(energy[0], fabs(value[0] - start[0]));
      momentum[0] = fmax(momentum[0], fabs(value[1] - start[1]));
    }
    energy[1] = fmax(energy[1], fabs(value[0] - start[0]));
    momentum[1] = fmax(momentum[1], fabs(value[1] - start[1]));
    double norm = 0.0;
    for (int i = 0; i < 4; i++) norm += now->q[i] * now->q[i];
    assert_true(fabs(sqrt(norm) - 1.0) < 1e-15);
    /* the point at the origin of the body's axes less (0, 1, 0) */
    for (int i = 0; i < 3; i++) assert_true(fabs(x[i] - R[3 * i + 1]) < 1e-14);
  }
  /* 1.7e6 base steps, of 5436 J and 70 J s */
  if (!(energy[1] < 2e-9 && momentum[1] < 2e-11))
    fail_msg("energy %g, %g; momentum %g, %g", energy[0], energy[1], momentum[0], momentum[1]);
  pol_integrator_free(&integrator);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* A step that is far too large fails, names a joint, and leaves the state. */
static void large_steps_fail(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/squeezer.json");
  pol_settings settings = model->settings;
  settings.options.method = "rattle";
  settings.formulation = POL_SO3XR3;
  settings.step = 4e-3;
  settings.end = 0.4;
  settings.variable = 0;
  settings.output = (pol_output){0};
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  pol_status status = POL_OK;
  while (status == POL_OK && !pol_simulation_finished(simulation))
    status = pol_simulation_step(simulation);
  assert_int_equal(status, POL_NOT_CONVERGED);
  assert_non_null(strstr(pol_simulation_diagnostics(simulation)->where, "joint '"));
  assert_non_null(strstr(pol_simulation_diagnostics(simulation)->advice, "smaller step"));
  for (int i = 0; i < 7; i++) assert_true(isfinite(pol_simulation_state(simulation)->q[i]));
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* The integrator of a model, started. */
static pol_integrator *start_integrator(const pol_model *model, int order, pol_formulation **f)
{
  pol_options options = pol_options_default();
  pol_integrator *integrator;
  double q[100], v[100];
  unsigned char keep[100];
  options.method = "rattle";
  options.order = order;
  assert_int_equal(pol_formulation_create(f, model->mechanism, POL_SO3XR3), POL_OK);
  pol_formulation_initial(*f, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(*f), &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  return integrator;
}

static void assert_same_state(const pol_integrator *a, const pol_integrator *b, const pol_dae *dae)
{
  const pol_state *x = pol_integrator_state(a), *y = pol_integrator_state(b);
  const size_t nv = (size_t)dae->group.nv * sizeof(double);
  assert_true(x->t == y->t && x->lambda_t == y->lambda_t);
  assert_memory_equal(x->q, y->q, (size_t)dae->group.nq * sizeof(double));
  assert_memory_equal(x->v, y->v, nv);
  assert_memory_equal(x->vd, y->vd, nv);
  assert_memory_equal(x->lambda, y->lambda, (size_t)pol_dae_num_constraints(dae) * sizeof(double));
}

/* Many steps at once are as many single ones, to the last bit, also up to a failure. */
static void many_steps_at_once(void **state)
{
  static const char *const models[] = {"holzinger-arnold-gerstmayr/slider_crank.json",
                                       "examples/pid_pendulum.json",
                                       "examples/four_bar_motor.json"};
  (void)state;
  for (int k = 0; k < 3; k++)
    for (long count = 1; count < 7; count += 1 + count / 3) {
      char path[400];
      snprintf(path, sizeof path, "%s%s", MODELS, models[k]);
      pol_model *model = read_model(path);
      pol_formulation *f[2];
      pol_integrator *one = start_integrator(model, 4, &f[0]),
                     *many = start_integrator(model, 4, &f[1]);
      const pol_dae *dae = pol_formulation_dae(f[0]);
      double q[2][100];
      for (long n = 0; n < count; n++) assert_int_equal(pol_integrator_step(one, 1e-3), POL_OK);
      assert_int_equal(pol_integrator_steps(many, 1e-3, count), POL_OK);
      assert_same_state(one, many, dae);
      for (int i = 0; i < 2; i++)
        assert_int_equal(pol_integrator_interpolate(i ? many : one, ((double)count - 0.5) * 1e-3,
                                                    q[i], NULL, NULL, NULL),
                         POL_OK);
      assert_memory_equal(q[0], q[1], (size_t)dae->group.nq * sizeof(double));
      pol_integrator_free(&one);
      pol_integrator_free(&many);
      pol_formulation_free(&f[0]);
      pol_formulation_free(&f[1]);
      pol_model_free(&model);
    }

  pol_model *model = read_model(MODELS "examples/squeezer.json");
  pol_formulation *f[2];
  pol_integrator *one = start_integrator(model, 2, &f[0]),
                 *many = start_integrator(model, 2, &f[1]);
  pol_status status = POL_OK;
  int taken = -1;
  for (; status == POL_OK && taken < 100; taken++) status = pol_integrator_step(one, 1e-3);
  assert_int_equal(status, POL_NOT_CONVERGED);
  assert_true(taken > 2);
  assert_int_equal(pol_integrator_steps(many, 1e-3, 1000), POL_NOT_CONVERGED);
  assert_same_state(one, many, pol_formulation_dae(f[0]));
  assert_int_equal(pol_integrator_interpolate(many, 0.0, NULL, NULL, NULL, NULL), POL_BAD_ARGUMENT);
  pol_integrator_free(&one);
  pol_integrator_free(&many);
  pol_formulation_free(&f[0]);
  pol_formulation_free(&f[1]);
  pol_model_free(&model);
}

/* A chain of rods along x with parallel hinges along y; the ground is before the first link or, if
 * `backwards`, behind the last one. */
static pol_mechanism *make_hinged_chain(int links, int backwards)
{
  static const double gravity[3] = {0.0, 0.0, -9.81};
  const double half = 0.05, turn[4] = {sqrt(0.5), sqrt(0.5), 0.0, 0.0};
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, gravity);
  for (int i = 0; i < links; i++) {
    char name[32];
    snprintf(name, sizeof name, "link %d", i + 1);
    const pol_body body = {.name = name,
                           .mass = 0.05,
                           .inertia = {1e-6, 0.0, 0.0, 0.0, 4.2e-5, 0.0, 0.0, 0.0, 4.2e-5},
                           .position = {(2 * i + 1) * half, 0.0, 0.0},
                           .rotation = {1.0, 0.0, 0.0, 0.0}};
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  }
  for (int i = 0; i < links; i++) {
    char name[32];
    snprintf(name, sizeof name, "hinge %d", i + 1);
    pol_marker before = {.name = "", .body = i - 1, .position = {half, 0.0, 0.0}};
    pol_marker behind = {.name = "", .body = i, .position = {-half, 0.0, 0.0}};
    pol_joint joint = {.name = name, .type = POL_REVOLUTE};
    if (backwards) before.body = i, behind.body = i + 1;
    if (before.body < 0) before.body = POL_GROUND, before.position[0] = 0.0;
    if (behind.body == links) behind.body = POL_GROUND, behind.position[0] = 2 * links * half;
    memcpy(before.rotation, turn, sizeof turn);
    memcpy(behind.rotation, turn, sizeof turn);
    assert_int_equal(pol_mechanism_add_marker(mechanism, &before, &joint.marker[0]), POL_OK);
    assert_int_equal(pol_mechanism_add_marker(mechanism, &behind, &joint.marker[1]), POL_OK);
    assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  }
  return mechanism;
}

/* A long chain of hinges has none that is redundant, though sideways it weighs as much as all its
 * links; the ground may be at either end. */
static void long_chains(void **state)
{
  (void)state;
  double height[2];
  for (int backwards = 0; backwards < 2; backwards++) {
    pol_mechanism *mechanism = make_hinged_chain(500, backwards);
    pol_settings settings = pol_settings_default();
    settings.options.method = "rattle";
    settings.formulation = POL_SO3XR3;
    settings.step = 1e-3;
    settings.end = 0.1;
    pol_simulation *simulation = start_with(mechanism, &settings);
    step_to_end(simulation);
    height[backwards] = pol_simulation_state(simulation)->q[7 * (backwards ? 495 : 4) + 6];
    assert_true(pol_simulation_summary(simulation)->max_position_residual < 1e-11);
    pol_simulation_free(&simulation);
    pol_mechanism_free(&mechanism);
  }
  assert_true(height[0] < -1e-3 && fabs(height[0] - height[1]) < 1e-9);
}

/* Two loops with six redundant constraints turn about an axis that is not theirs, so that others
 * become redundant: their impulses must not grow, and the energy stays. */
static void redundant_loops_turn(void **state)
{
  static const char *const change[] = {"simulation.method=rattle", "simulation.order=4",
                                       "simulation.steps=fixed",   "simulation.step=0.002",
                                       "simulation.end=3",         "forces[0].damping=0"};
  (void)state;
  pol_model *model = read_model_with(MODELS "examples/governor.json", 6, change);
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  assert_true(summary->max_energy_drift < 1e-8 * summary->initial_energy.kinetic);
  assert_true(summary->max_position_residual < 1e-13);
  assert_true(summary->counts.newton_iterations < 3 * 5 * summary->counts.steps);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(final_states),     cmocka_unit_test(orders),
      cmocka_unit_test(energy_stays),     cmocka_unit_test(long_runs_do_not_drift),
      cmocka_unit_test(large_steps_fail), cmocka_unit_test(many_steps_at_once),
      cmocka_unit_test(long_chains),      cmocka_unit_test(redundant_loops_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
