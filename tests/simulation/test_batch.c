/* Batches: the same bits as single simulations for any number of threads, inputs, failures of one
 * copy, resets, mechanisms that differ, rules of the settings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

#include "chain.h"
#include "heavy_top.h"

enum { COPIES = 13, NQ = 7, NV = 6 };

/* A rod on a hinge about y with a motor and a spring whose numbers are inputs, and two outputs. */
static pol_mechanism *create_arm(double mass, const char *torque)
{
  pol_mechanism *mechanism;
  pol_body rod = pol_body_default();
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE};
  pol_force motor = pol_force_default();
  const pol_variable variables[] = {
      {.name = "torque", .expression = torque, .input = 1},
      {.name = "height", .expression = "rod.position.z"},
      {.name = "gain", .expression = "2*0.5", .input = 1},
      {.name = "pull", .expression = "torque - gain*hinge.angle"},
  };
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  rod.name = "rod";
  rod.mass = mass;
  rod.position[0] = 0.5;
  rod.inertia[0] = 1e-3;
  rod.inertia[4] = rod.inertia[8] = 1.0 / 12.0;
  assert_int_equal(pol_mechanism_add_body(mechanism, &rod, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &hinge, POL_GROUND, 0, (double[]){0, 0, 0},
                                              (double[]){0, 1, 0}, NULL),
                   POL_OK);
  for (int k = 0; k < 4; k++)
    assert_int_equal(pol_mechanism_add_variable(mechanism, &variables[k], NULL), POL_OK);
  motor.name = "motor";
  motor.type = POL_JOINT_SPRING;
  motor.joint = 0;
  motor.expressions[0] = "pull";
  assert_int_equal(pol_mechanism_add_force(mechanism, &motor, NULL), POL_OK);
  return mechanism;
}

static const char *const input_names[] = {"torque", "gain"};
static const char *const output_names[] = {"height", "pull"};

static pol_batch_settings arm_settings(const char *method, int threads)
{
  pol_batch_settings s = pol_batch_settings_default();
  s.count = COPIES;
  s.threads = threads;
  s.num_inputs = s.num_outputs = 2;
  s.inputs = input_names;
  s.outputs = output_names;
  assert_int_equal(pol_options_set_method(&s.simulation.options, method), POL_OK);
  s.simulation.options.order = 2;
  return s;
}

static pol_batch *create(const pol_mechanism *mechanism, const pol_batch_settings *s)
{
  pol_batch *batch;
  pol_diagnostics d;
  const pol_status status = pol_batch_create(&batch, mechanism, s, &d);
  if (status) print_error("%s\n", d.message);
  assert_int_equal(status, POL_OK);
  return batch;
}

static double torque_of(int copy, int round)
{
  return 0.3 * copy - 0.5 * round;
}

/* Copies with torques of their own, the bits of single simulations with 1, 2 and 3 threads. */
static void copies_are_simulations(void **state)
{
  static const char *const methods[] = {"geom1", "rattle"};
  pol_mechanism *mechanism = create_arm(1.0, "0");
  (void)state;
  for (int k = 0; k < 4; k++) {
    const int variable = k >= 2;
    for (int threads = 1; threads <= 3; threads++) {
      pol_batch_settings s = arm_settings(methods[k % 2], threads);
      s.simulation.variable = variable;
      if (variable) s.simulation.step = 0.01;
      pol_batch *batch = create(mechanism, &s);
      assert_in_range(pol_batch_threads(batch), 1, threads);
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COPIES; i++) pol_batch_inputs(batch)[2 * i] = torque_of(i, round);
        assert_int_equal(pol_batch_step(batch, 5), POL_OK);
      }
      for (int i = 0; i < COPIES; i++) {
        pol_simulation *sim;
        double values[4];
        pol_settings own = s.simulation;
        own.end = own.step * 1073741824.0;
        own.output.step = variable ? own.step : 0.0;
        assert_int_equal(pol_simulation_create(&sim, mechanism, &own, NULL), POL_OK);
        for (int n = 0; n < 20; n++) {
          assert_int_equal(pol_simulation_set_input(sim, 0, torque_of(i, n / 5)), POL_OK);
          assert_int_equal(pol_simulation_step(sim), POL_OK);
        }
        const pol_state *end = pol_simulation_state(sim);
        const pol_point at = pol_state_point(end);
        assert_true(pol_batch_t(batch)[i] == end->t);
        assert_memory_equal(pol_batch_q(batch) + NQ * i, end->q, NQ * sizeof(double));
        assert_memory_equal(pol_batch_v(batch) + NV * i, end->v, NV * sizeof(double));
        assert_memory_equal(pol_batch_vd(batch) + NV * i, end->vd, NV * sizeof(double));
        assert_memory_equal(pol_batch_lambda(batch) + 5 * i, end->lambda, 5 * sizeof(double));
        pol_formulation_variables(pol_simulation_formulation(sim), &at, values);
        assert_true(pol_batch_outputs(batch)[2 * i] == values[1]);
        assert_true(pol_batch_outputs(batch)[2 * i + 1] == values[3]);
        pol_simulation_free(&sim);
      }
      pol_batch_free(&batch);
    }
  }
  pol_mechanism_free(&mechanism);
}

/* An input that is set at the start acts like the number in the expression. */
static void inputs_replace_numbers(void **state)
{
  static const char *const methods[] = {"geom1", "rattle", "geom2"};
  pol_mechanism *varied = create_arm(1.0, "0"), *fixed = create_arm(1.0, "1.75");
  (void)state;
  for (int k = 0; k < 3; k++) {
    pol_batch_settings s = arm_settings(methods[k], 1);
    s.count = 1;
    pol_batch *one = create(varied, &s), *other = create(fixed, &s);
    assert_true(pol_batch_inputs(one)[0] == 0.0 && pol_batch_inputs(one)[1] == 1.0);
    assert_true(pol_batch_inputs(other)[0] == 1.75);
    pol_batch_inputs(one)[0] = 1.75;
    assert_int_equal(pol_batch_reset(one, NULL, NULL, NULL), POL_OK);
    assert_int_equal(pol_batch_step(one, 50), POL_OK);
    assert_int_equal(pol_batch_step(other, 50), POL_OK);
    assert_memory_equal(pol_batch_q(one), pol_batch_q(other), NQ * sizeof(double));
    assert_memory_equal(pol_batch_v(one), pol_batch_v(other), NV * sizeof(double));
    /* the torque acts: a batch at torque 0 is elsewhere */
    pol_batch_inputs(one)[0] = 0.0;
    assert_int_equal(pol_batch_reset(one, NULL, NULL, NULL), POL_OK);
    assert_int_equal(pol_batch_step(one, 50), POL_OK);
    assert_true(fabs(pol_batch_outputs(one)[0] - pol_batch_outputs(other)[0]) > 1e-4);
    pol_batch_free(&one);
    pol_batch_free(&other);
  }
  pol_mechanism_free(&varied);
  pol_mechanism_free(&fixed);
}

/* A jump of an input in rattle: second order although forces jump, since the next kick has the new
 * force; without the change of forces at the jump it would be first order. */
static void rattle_follows_jumps(void **state)
{
  pol_mechanism *mechanism = create_arm(1.0, "0");
  double height[3];
  (void)state;
  for (int k = 0; k < 3; k++) {
    const int per = 5 << k;
    pol_batch_settings s = arm_settings("rattle", 1);
    s.count = 1;
    s.simulation.step = 0.05 / per;
    pol_batch *batch = create(mechanism, &s);
    for (int n = 0; n < 8; n++) {
      pol_batch_inputs(batch)[0] = n % 2 ? 3.0 : -3.0;
      assert_int_equal(pol_batch_step(batch, per), POL_OK);
    }
    height[k] = pol_batch_outputs(batch)[0];
    pol_batch_free(&batch);
  }
  const double ratio = (height[0] - height[1]) / (height[1] - height[2]);
  assert_true(ratio > 3.6 && ratio < 4.4);
  pol_mechanism_free(&mechanism);
}

/* One copy fails, the others go on; a reset brings it back, and repeats the first run. */
static void one_failure_stops_no_other(void **state)
{
  pol_mechanism *mechanism = create_arm(1.0, "0.5");
  pol_batch_settings s = arm_settings("geom1", 2);
  pol_batch *batch = create(mechanism, &s);
  unsigned char which[COPIES] = {0};
  double first[COPIES * NQ];
  (void)state;
  assert_int_equal(pol_batch_step(batch, 20), POL_OK);
  memcpy(first, pol_batch_q(batch), sizeof first);

  pol_batch_inputs(batch)[2 * 4] = (double)NAN;
  assert_int_equal(pol_batch_step(batch, 10), POL_BAD_ARGUMENT);
  for (int i = 0; i < COPIES; i++) {
    assert_int_equal(pol_batch_status(batch)[i], i == 4 ? POL_BAD_ARGUMENT : POL_OK);
    assert_true(fabs(pol_batch_t(batch)[i] - (i == 4 ? 0.02 : 0.03)) < 1e-12);
  }
  assert_memory_equal(pol_batch_q(batch) + 4 * NQ, first + 4 * NQ, NQ * sizeof(double));
  assert_string_equal(pol_simulation_diagnostics(pol_batch_simulation(batch, 4))->message,
                      "an input is not finite");

  /* a torque that a step cannot follow: the failure is that of the step */
  pol_batch_inputs(batch)[2 * 4] = 0.5;
  pol_batch_inputs(batch)[2 * 7] = 1e200;
  assert_int_equal(pol_batch_step(batch, 1), POL_BAD_ARGUMENT);
  assert_int_not_equal(pol_batch_status(batch)[7], POL_OK);
  assert_true(isfinite(pol_batch_q(batch)[7 * NQ]));

  pol_batch_inputs(batch)[2 * 7] = 0.5;
  which[4] = which[7] = 1;
  assert_int_equal(pol_batch_reset(batch, which, NULL, NULL), POL_OK);
  for (int i = 0; i < COPIES; i++)
    assert_true((pol_batch_t(batch)[i] == 0.0) == (i == 4 || i == 7));
  assert_int_equal(pol_batch_step(batch, 20), POL_OK);
  assert_memory_equal(pol_batch_q(batch) + 4 * NQ, first + 4 * NQ, NQ * sizeof(double));
  assert_memory_equal(pol_batch_q(batch) + 7 * NQ, first + 7 * NQ, NQ * sizeof(double));

  /* a fresh start of all is the first run again */
  assert_int_equal(pol_batch_reset(batch, NULL, NULL, NULL), POL_OK);
  assert_int_equal(pol_batch_step(batch, 20), POL_OK);
  assert_memory_equal(pol_batch_q(batch), first, sizeof first);
  const pol_summary *summary = pol_simulation_summary(pol_batch_simulation(batch, 3));
  assert_int_equal(summary->counts.steps, 20);
  pol_batch_free(&batch);
  pol_mechanism_free(&mechanism);
}

/* What the steps of a run have shown of matrices and rates does not outlast a reset: a long chain,
 * whose guesses become bad when it whips, does the same again. */
static void resets_repeat_long_runs(void **state)
{
  enum { LINKS = 10, STEPS = 1000 };
  static const pol_index forms[] = {POL_INDEX_3, POL_INDEX_2, POL_INDEX_2_STABILIZED};
  (void)state;
  for (size_t k = 0; k < 2 * sizeof forms / sizeof *forms; k++) {
    pol_mechanism *mechanism = make_chain(LINKS, 0.0);
    assert_non_null(mechanism);
    pol_batch_settings s = pol_batch_settings_default();
    pol_options_set_method(&s.simulation.options, "geom1");
    s.simulation.options.index = forms[k / 2];
    s.simulation.options.solver = k % 2 ? POL_SOLVER_SPARSE : POL_SOLVER_AUTO;
    s.simulation.step = 1e-3;
    pol_batch *batch = create(mechanism, &s);
    double first[LINKS * NQ];
    assert_int_equal(pol_batch_step(batch, STEPS), POL_OK);
    memcpy(first, pol_batch_q(batch), sizeof first);
    assert_int_equal(pol_batch_reset(batch, NULL, NULL, NULL), POL_OK);
    assert_int_equal(pol_batch_step(batch, STEPS), POL_OK);
    assert_memory_equal(pol_batch_q(batch), first, sizeof first);
    pol_batch_free(&batch);
    pol_mechanism_free(&mechanism);
  }
}

/* A reset starts like the creation, also where velocities are completed: made consistent once more,
 * those of a closed loop would change by round-off. */
static void resets_of_loops_repeat_the_start(void **state)
{
  static const char *const methods[] = {"geom1", "rattle"};
  (void)state;
  for (int k = 0; k < 2; k++) {
    pol_model *model;
    pol_errors errors = {0};
    assert_int_equal(pol_model_read_file(&model,
                                         POLHODE_SOURCE_DIR
                                         "/models/holzinger-arnold-gerstmayr/slider_crank.json",
                                         0, NULL, &errors),
                     POL_OK);
    pol_batch_settings s = pol_batch_settings_default();
    s.simulation = model->settings;
    assert_int_equal(pol_options_set_method(&s.simulation.options, methods[k]), POL_OK);
    pol_batch *batch;
    assert_int_equal(pol_batch_create(&batch, model->mechanism, &s, NULL), POL_OK);
    double first[3 * NV], later[3 * NQ];
    memcpy(first, pol_batch_v(batch), sizeof first);
    assert_int_equal(pol_batch_step(batch, 20), POL_OK);
    memcpy(later, pol_batch_q(batch), sizeof later);
    assert_int_equal(pol_batch_reset(batch, NULL, NULL, NULL), POL_OK);
    assert_memory_equal(pol_batch_v(batch), first, sizeof first);
    assert_int_equal(pol_batch_step(batch, 20), POL_OK);
    assert_memory_equal(pol_batch_q(batch), later, sizeof later);
    pol_batch_free(&batch);
    pol_model_free(&model);
  }
}

/* States that are given: a rod that starts at another angle, off its hinge, is put on it. */
static void states_are_made_consistent(void **state)
{
  pol_mechanism *mechanism = create_arm(1.0, "0");
  pol_batch_settings s = arm_settings("geom1", 2);
  pol_batch *batch = create(mechanism, &s);
  double q[COPIES * NQ], v[COPIES * NV] = {0.0};
  (void)state;
  for (int i = 0; i < COPIES; i++) {
    const double angle = 0.1 * i, half = 0.5 * angle;
    const double own[NQ] = {cos(half), 0, sin(half), 0, 0.5 * cos(angle), 1e-9, -0.5 * sin(angle)};
    memcpy(q + NQ * i, own, sizeof own);
  }
  assert_int_equal(pol_batch_reset(batch, NULL, q, v), POL_OK);
  for (int i = 0; i < COPIES; i++) {
    assert_true(fabs(pol_batch_outputs(batch)[2 * i] + 0.5 * sin(0.1 * i)) < 1e-8);
    assert_true(fabs(pol_batch_q(batch)[NQ * i + 5]) < 1e-15);
  }
  q[NQ * 2] = (double)INFINITY;
  assert_int_equal(pol_batch_reset(batch, NULL, q, v), POL_NOT_FINITE);
  assert_int_equal(pol_batch_status(batch)[2], POL_NOT_FINITE);
  assert_int_equal(pol_batch_step(batch, 1), POL_NOT_FINITE);
  assert_true(fabs(pol_batch_t(batch)[3] - 1e-3) < 1e-15);
  pol_batch_free(&batch);
  pol_mechanism_free(&mechanism);
}

/* Mechanisms with masses of their own. */
static void mechanisms_may_differ(void **state)
{
  pol_mechanism *list[3];
  const pol_mechanism *of[COPIES];
  (void)state;
  for (int k = 0; k < 3; k++) list[k] = create_arm(1.0 + k, "2");
  for (int i = 0; i < COPIES; i++) of[i] = list[i / 5];
  pol_batch_settings s = arm_settings("rattle", 2);
  s.mechanisms = of;
  pol_batch *batch = create(list[0], &s);
  assert_int_equal(pol_batch_step(batch, 30), POL_OK);
  for (int k = 0; k < 3; k++) {
    s.count = 1;
    s.mechanisms = NULL;
    pol_batch *one = create(list[k], &s);
    assert_int_equal(pol_batch_step(one, 30), POL_OK);
    for (int i = 5 * k; i < COPIES && i < 5 * k + 5; i++)
      assert_memory_equal(pol_batch_q(batch) + NQ * i, pol_batch_q(one), NQ * sizeof(double));
    pol_batch_free(&one);
  }
  pol_batch_free(&batch);
  for (int k = 0; k < 3; k++) pol_mechanism_free(&list[k]);
}

/* Without turns to count the states between are skipped; the last one is the same. */
static void skipped_states_change_nothing(void **state)
{
  static const char *const methods[] = {"geom1", "rattle"};
  const pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  (void)state;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  for (int k = 0; k < 2; k++) {
    pol_batch_settings s = pol_batch_settings_default();
    assert_int_equal(pol_options_set_method(&s.simulation.options, methods[k]), POL_OK);
    s.simulation.options.order = 2;
    s.count = 3;
    pol_batch *one = create(mechanism, &s), *many = create(mechanism, &s);
    for (int n = 0; n < 40; n++) assert_int_equal(pol_batch_step(one, 1), POL_OK);
    assert_int_equal(pol_batch_step(many, 40), POL_OK);
    assert_memory_equal(pol_batch_q(one), pol_batch_q(many), 3 * NQ * sizeof(double));
    assert_memory_equal(pol_batch_lambda(one), pol_batch_lambda(many), 9 * sizeof(double));
    assert_memory_equal(pol_batch_t(one), pol_batch_t(many), 3 * sizeof(double));
    assert_int_equal(pol_simulation_summary(pol_batch_simulation(many, 1))->counts.steps, 40);
    pol_batch_free(&one);
    pol_batch_free(&many);
  }
  /* steps that fail in the middle: the last good state is kept, with the reason */
  pol_batch_settings s = pol_batch_settings_default();
  s.simulation.step = 0.5;
  pol_batch *batch = create(mechanism, &s);
  assert_int_not_equal(pol_batch_step(batch, 1000), POL_OK);
  assert_true(strlen(pol_simulation_diagnostics(pol_batch_simulation(batch, 0))->message) > 0);
  for (int i = 0; i < NQ; i++) assert_true(isfinite(pol_batch_q(batch)[i]));
  pol_batch_free(&batch);
  pol_mechanism_free(&mechanism);
}

static void expect_refusal(const pol_mechanism *mechanism, const pol_batch_settings *s,
                           const char *rule)
{
  pol_batch *batch;
  pol_diagnostics d;
  assert_int_equal(pol_batch_create(&batch, mechanism, s, &d), POL_BAD_ARGUMENT);
  assert_null(batch);
  if (!strstr(d.message, rule)) print_error("%s\n", d.message);
  assert_non_null(strstr(d.message, rule));
}

static void wrong_settings_are_refused(void **state)
{
  static const char *const unknown[] = {"torqe"}, *const no_input[] = {"height"};
  const pol_body body = heavy_top_body();
  const pol_event_rule event = {.name = "e", .expression = "height", .action = POL_EVENT_STOP};
  pol_mechanism *arm = create_arm(1.0, "0"), *moving = create_arm(1.0, "2*t"), *top;
  (void)state;
  assert_int_equal(heavy_top_create(&top, &body), POL_OK);
  const pol_mechanism *mixed[COPIES];
  for (int i = 0; i < COPIES; i++) mixed[i] = i == 5 ? top : arm;
  pol_batch_settings s = arm_settings("geom1", 1), bad;
  expect_refusal(NULL, &s, "the mechanism must not be NULL");
  expect_refusal(arm, NULL, "the settings must not be NULL");
  expect_refusal(moving, &s, "variable 'torque': the expression of an input must be constant");
  bad = s, bad.count = 0;
  expect_refusal(arm, &bad, "count must be at least 1");
  bad = s, bad.threads = -1;
  expect_refusal(arm, &bad, "threads must be from 0 to 256");
  bad = s, bad.num_inputs = 1, bad.inputs = unknown;
  expect_refusal(arm, &bad, "inputs: \"torqe\" must be a variable that is an input");
  bad = s, bad.num_inputs = 1, bad.inputs = no_input;
  expect_refusal(arm, &bad, "inputs: \"height\" must be a variable that is an input");
  bad = s, bad.num_outputs = 1, bad.outputs = unknown;
  expect_refusal(arm, &bad, "outputs: \"torqe\" must be a variable");
  bad = s, bad.inputs = NULL;
  expect_refusal(arm, &bad, "inputs must not be NULL");
  bad = s, bad.simulation.num_events = 1, bad.simulation.events = &event;
  expect_refusal(arm, &bad, "there must be no events");
  bad = s, bad.simulation.step = 0.0;
  expect_refusal(arm, &bad, "step must be a positive number");
  bad = s, bad.mechanisms = mixed;
  expect_refusal(arm, &bad, "mechanisms must have the same bodies");
  bad = s, bad.simulation.options.method = "nonsense";
  expect_refusal(arm, &bad, "method");

  pol_batch *batch = create(arm, &s);
  assert_int_equal(pol_batch_step(batch, 0), POL_BAD_ARGUMENT);
  assert_null(pol_batch_simulation(batch, COPIES));
  assert_null(pol_batch_simulation(batch, -1));
  assert_int_equal(pol_batch_count(batch), COPIES);
  pol_batch_free(&batch);
  pol_batch_free(&batch);

  /* inputs of a simulation by the index of the variable */
  pol_simulation *sim;
  assert_int_equal(pol_simulation_create(&sim, arm, &s.simulation, NULL), POL_OK);
  assert_int_equal(pol_simulation_set_input(sim, 1, 1.0), POL_BAD_ARGUMENT);
  assert_int_equal(pol_simulation_set_input(sim, 9, 1.0), POL_BAD_ARGUMENT);
  assert_int_equal(pol_simulation_set_input(sim, 0, (double)NAN), POL_BAD_ARGUMENT);
  assert_int_equal(pol_simulation_set_input(sim, 0, 0.25), POL_OK);
  assert_true(pol_simulation_input(sim, 0) == 0.25);
  assert_true(pol_simulation_input(sim, 2) == 1.0);
  assert_true(isnan(pol_simulation_input(sim, 1)));
  pol_simulation_free(&sim);
  pol_mechanism_free(&arm);
  pol_mechanism_free(&moving);
  pol_mechanism_free(&top);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_are_simulations),
      cmocka_unit_test(inputs_replace_numbers),
      cmocka_unit_test(rattle_follows_jumps),
      cmocka_unit_test(one_failure_stops_no_other),
      cmocka_unit_test(states_are_made_consistent),
      cmocka_unit_test(mechanisms_may_differ),
      cmocka_unit_test(skipped_states_change_nothing),
      cmocka_unit_test(wrong_settings_are_refused),
      cmocka_unit_test(resets_repeat_long_runs),
      cmocka_unit_test(resets_of_loops_repeat_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
