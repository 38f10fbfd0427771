/* Sampled controllers: a PD controller on a pendulum.  The run is the same, to the last bit, as one
 * whose program sets the input itself; it converges to that of the continuous controller with the
 * order 1 in the period; samples are taken at their times and in their order; saved states contain
 * the controller's; failures stop the run where they happen; and wrong controllers are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/simulation.h>

#include "check.h"

/* A PD controller with an integral part, whose state can be saved, and what it has seen. */
typedef struct pd {
  double kp, kd, ki, integral, last;
  int calls, fail_at, bad_at;
  double times[4000];
} pd;

static pol_status pd_sample(double t, const double *inputs, double *outputs, char *message,
                            size_t size, void *user)
{
  pd *own = user;
  own->integral += (t - own->last) * inputs[0];
  own->last = t;
  if (own->calls < 4000) own->times[own->calls] = t;
  own->calls++;
  if (own->calls == own->fail_at) {
    snprintf(message, size, "the valve is stuck");
    return POL_CALLBACK;
  }
  outputs[0] = -own->kp * inputs[0] - own->kd * inputs[1] - own->ki * own->integral;
  if (own->calls == own->bad_at) outputs[0] = (double)NAN;
  return POL_OK;
}

static pol_status pd_save(void *bytes, size_t *size, void *user)
{
  const pd *own = user;
  const double state[2] = {own->integral, own->last};
  if (bytes && *size < sizeof state) return POL_BAD_ARGUMENT;
  *size = sizeof state;
  if (bytes) memcpy(bytes, state, sizeof state);
  return POL_OK;
}

static pol_status pd_load(const void *bytes, size_t size, void *user)
{
  pd *own = user;
  double state[2];
  if (size != sizeof state) return POL_BAD_ARGUMENT;
  memcpy(state, bytes, size);
  own->integral = state[0];
  own->last = state[1];
  return POL_OK;
}

static const char continuous[] = "-3*hinge.angle - 0.5*hinge.rate";

/* A rod on a hinge about y with a motor; variables: torque (input), angle, rate, doubled. */
static pol_mechanism *create_pendulum(int with_input)
{
  pol_mechanism *m;
  int rod, hinge;
  const double point[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 1.0, 0.0};
  const double gravity[3] = {0.0, 0.0, -9.81};
  assert_int_equal(pol_mechanism_create(&m), POL_OK);
  pol_mechanism_set_gravity(m, gravity);
  const pol_variable variables[] = {
      {.name = "torque", .expression = with_input ? "0" : continuous, .input = with_input},
      {.name = "angle", .expression = "hinge.angle"},
      {.name = "rate", .expression = "hinge.rate"},
      {.name = "doubled", .expression = "2*torque"},
      {.name = "other", .expression = "1", .input = 1}};
  for (int i = 0; i < 5; i++)
    assert_int_equal(pol_mechanism_add_variable(m, &variables[i], NULL), POL_OK);
  pol_body body = pol_body_default();
  body.name = "rod";
  body.mass = 1.0;
  body.inertia[0] = body.inertia[4] = body.inertia[8] = 0.02;
  body.position[0] = 0.4;
  body.position[2] = -0.3;
  assert_int_equal(pol_mechanism_add_body(m, &body, &rod), POL_OK);
  pol_joint joint = pol_joint_default();
  joint.name = "hinge";
  joint.type = POL_REVOLUTE;
  assert_int_equal(pol_mechanism_add_joint_at(m, &joint, POL_GROUND, rod, point, axis, &hinge),
                   POL_OK);
  pol_force motor = pol_force_default();
  motor.name = "motor";
  motor.type = POL_APPLIED_TORQUE;
  motor.body = rod;
  motor.expressions[1] = "torque";
  assert_int_equal(pol_mechanism_add_force(m, &motor, NULL), POL_OK);
  return m;
}

static pol_settings settings_of(const char *method, double step, double end)
{
  pol_settings s = pol_settings_default();
  s.options.method = method;
  s.step = step;
  s.end = end;
  return s;
}

static pol_simulation *simulate(const pol_mechanism *m, const pol_settings *settings)
{
  pol_simulation *sim;
  pol_diagnostics d;
  if (pol_simulation_create(&sim, m, settings, &d) != POL_OK) fail_msg("%s", d.message);
  return sim;
}

static const int reads[] = {1, 2}, sets[] = {0};

static pol_sampled_controller controller_of(pd *own, double period)
{
  return (pol_sampled_controller){.name = "pd",
                                  .period = period,
                                  .num_inputs = 2,
                                  .inputs = reads,
                                  .num_outputs = 1,
                                  .outputs = sets,
                                  .sample = pd_sample,
                                  .save = pd_save,
                                  .load = pd_load,
                                  .user = own};
}

static double angle_of(const pol_simulation *sim)
{
  double values[5];
  const pol_point at = pol_state_point(pol_simulation_state(sim));
  pol_formulation_variables(pol_simulation_formulation(sim), &at, values);
  return values[1];
}

static void step_to_end(pol_simulation *sim)
{
  while (!pol_simulation_finished(sim)) {
    const pol_status status = pol_simulation_step(sim);
    if (status != POL_OK) fail_msg("%s", pol_simulation_diagnostics(sim)->message);
  }
}

/* The same as a program that sets the input between steps. */
static void test_same_as_inputs(void **state)
{
  static const char *const methods[] = {"geom1", "rattle", "vi-a"};
  (void)state;
  for (int k = 0; k < 3; k++) {
    pol_mechanism *m = create_pendulum(1);
    pol_settings settings = settings_of(methods[k], 1e-3, 0.5);
    if (k == 2) settings.formulation = POL_DIRECTORS;
    pd own = {.kp = 3.0, .kd = 0.5}, by_hand = own;
    const pol_sampled_controller c = controller_of(&own, 5e-3), none = controller_of(&by_hand, 1.0);
    pol_simulation *sim = simulate(m, &settings), *other = simulate(m, &settings);
    assert_int_equal(pol_simulation_add_controller(sim, &c), POL_OK);
    /* the start is the same; the period is longer than the run */
    assert_int_equal(pol_simulation_add_controller(other, &none), POL_OK);
    for (int n = 1; n <= 500; n++) {
      double values[5], torque = 0.0;
      char message[64];
      assert_int_equal(pol_simulation_step(sim), POL_OK);
      assert_int_equal(pol_simulation_step(other), POL_OK);
      const pol_state *a = pol_simulation_state(sim), *b = pol_simulation_state(other);
      const pol_point at = pol_state_point(b);
      pol_formulation_variables(pol_simulation_formulation(other), &at, values);
      if (n % 5 == 0) {
        pd_sample(b->t, &values[1], &torque, message, sizeof message, &by_hand);
        assert_int_equal(pol_simulation_set_input(other, 0, torque), POL_OK);
      }
      assert_memory_equal(&a->t, &b->t, sizeof(double));
      const int nq = pol_formulation_dae(pol_simulation_formulation(sim))->group.nq;
      assert_memory_equal(a->q, b->q, (size_t)nq * sizeof(double));
      /* a row has what was set at its time */
      const pol_point here = pol_state_point(a);
      pol_formulation_variables(pol_simulation_formulation(sim), &here, values);
      assert_true(n % 5 != 0 || values[0] == -3.0 * values[1] - 0.5 * values[2]);
      assert_true(values[3] == 2.0 * values[0]);
    }
    assert_int_equal(own.calls, 101);
    /* work is that of the forces after each jump */
    if (strcmp(methods[k], "rattle") == 0)
      assert_true(fabs(pol_simulation_summary(sim)->energy_balance) < 2e-5);
    pol_simulation_free(&sim);
    pol_simulation_free(&other);
    pol_mechanism_free(&m);
  }
}

/* The angle at the end with a period; 0: the continuous controller. */
static double end_angle(const char *method, double period, double step, int variable)
{
  pol_mechanism *m = create_pendulum(period > 0.0);
  pol_settings settings = settings_of(method, step, 0.8);
  settings.variable = variable;
  settings.options.control.rtol = settings.options.control.atol_translation =
      settings.options.control.atol_rotation = 1e-9;
  if (variable && strcmp(method, "rattle") != 0) settings.options.index = POL_INDEX_2_STABILIZED;
  pd own = {.kp = 3.0, .kd = 0.5};
  const pol_sampled_controller c = controller_of(&own, period);
  pol_simulation *sim = simulate(m, &settings);
  if (period > 0.0) assert_int_equal(pol_simulation_add_controller(sim, &c), POL_OK);
  step_to_end(sim);
  for (int i = 0; i < own.calls; i++) assert_true(fabs(own.times[i] - i * period) <= 1e-9 * period);
  if (period > 0.0) assert_int_equal(own.calls, (int)floor(0.8 / period + 1e-6) + 1);
  const double angle = angle_of(sim);
  pol_simulation_free(&sim);
  pol_mechanism_free(&m);
  return angle;
}

static void test_order(void **state)
{
  (void)state;
  for (int variable = 0; variable < 2; variable++) {
    const char *method = "rattle";
    const double exact = end_angle(method, 0.0, 1.25e-4, variable);
    double errors[4];
    for (int k = 0; k < 4; k++)
      errors[k] = fabs(end_angle(method, 0.008 / (1 << k), 1.25e-4, variable) - exact);
    for (int k = 0; k < 3; k++) {
      const double order = log2(errors[k] / errors[k + 1]);
      if (!(order > 0.98 && order < 1.02)) fail_msg("order %g of error %g", order, errors[k]);
    }
  }
}

/* A period that is no multiple of the step, with rows at other times and the end between samples:
 * the same motion as with small steps. */
static void test_odd_period(void **state)
{
  (void)state;
  const double coarse = end_angle("rattle", 0.0137, 1e-3, 0);
  const double fine = end_angle("rattle", 0.0137, 1e-4, 0);
  const double equal = end_angle("rattle", 0.0137, 0.0137 / 16.0, 0);
  assert_true(fabs(coarse - fine) < 2e-6);
  assert_true(fabs(equal - fine) < 2e-6);
  assert_true(fabs(coarse - fine) > 0.0);
  /* steps longer than the period end at the samples */
  assert_true(fabs(end_angle("rattle", 0.002, 0.1, 0) - end_angle("rattle", 0.002, 0.001, 0)) <
              1e-5);
}

/* An event resets the velocity between samples: samples stay at their times. */
static double away(const pol_state *at, void *user)
{
  (void)user;
  return at->t - 0.10037;
}

static void stop_rod(const pol_state *at, double *v, unsigned char *keep, void *user)
{
  (void)at;
  (void)keep;
  (void)user;
  for (int i = 0; i < 6; i++) v[i] = 0.0;
}

static double above(const pol_state *at, void *user)
{
  double values[5];
  const pol_simulation *sim = *(pol_simulation **)user;
  const pol_point point = pol_state_point(at);
  pol_formulation_variables(pol_simulation_formulation(sim), &point, values);
  return values[0] + 1.0;
}

static void test_events(void **state)
{
  (void)state;
  pol_mechanism *m = create_pendulum(1);
  const pol_settings settings = settings_of("rattle", 1e-3, 0.5);
  pd own = {.kp = 3.0, .kd = 0.5};
  const pol_sampled_controller c = controller_of(&own, 5e-3);
  pol_simulation *sim = simulate(m, &settings);
  const pol_simulation_event stop = {
      .function = away, .direction = 1, .action = POL_EVENT_RESET, .reset = stop_rod};
  const pol_simulation_event passes = {.function = above, .user = &sim};
  assert_int_equal(pol_simulation_add_event(sim, &stop, NULL), POL_OK);
  assert_int_equal(pol_simulation_add_event(sim, &passes, NULL), POL_OK);
  assert_int_equal(pol_simulation_add_controller(sim, &c), POL_OK);
  int resets = 0, jumps = 0;
  while (!pol_simulation_finished(sim)) {
    assert_int_equal(pol_simulation_step(sim), POL_OK);
    const double t = pol_simulation_state(sim)->t;
    resets += pol_simulation_event_index(sim) == 0;
    if (pol_simulation_event_index(sim) != 1) continue;
    jumps++;
    /* the torque jumps at samples only */
    const double samples = t / 5e-3;
    assert_true(fabs(samples - floor(samples + 0.5)) < 1e-6);
  }
  assert_int_equal(resets, 1);
  assert_true(jumps >= 1);
  assert_int_equal(own.calls, 101);
  for (int i = 0; i < own.calls; i++) assert_true(fabs(own.times[i] - i * 5e-3) < 1e-11);
  pol_simulation_free(&sim);
  pol_mechanism_free(&m);
}

/* A run that is saved in the middle and continued in a new simulation has the same bits. */
static void test_save(void **state)
{
  (void)state;
  for (int variable = 0; variable < 2; variable++) {
    pol_mechanism *m = create_pendulum(1);
    pol_settings settings = settings_of(variable ? "geom1" : "rattle", 1e-3, 0.3);
    settings.variable = variable;
    settings.options.control.rtol = settings.options.control.atol_translation =
        settings.options.control.atol_rotation = 1e-6;
    if (variable) settings.options.index = POL_INDEX_2_STABILIZED;
    pd own = {.kp = 3.0, .kd = 0.5, .ki = 4.0}, again = own, wrong = own;
    pol_sampled_controller c = controller_of(&own, 4e-3);
    pol_simulation *sim = simulate(m, &settings);
    assert_int_equal(pol_simulation_add_controller(sim, &c), POL_OK);
    assert_null(pol_simulation_unsaved(sim));
    for (int i = 0; i < 37; i++) assert_int_equal(pol_simulation_step(sim), POL_OK);
    size_t size = 0;
    assert_int_equal(pol_simulation_save(sim, NULL, &size), POL_OK);
    void *bytes = malloc(size);
    assert_int_equal(pol_simulation_save(sim, bytes, &size), POL_OK);
    step_to_end(sim);

    c.user = &again;
    pol_simulation *other = simulate(m, &settings);
    assert_int_equal(pol_simulation_add_controller(other, &c), POL_OK);
    char message[256] = "";
    if (pol_simulation_load(other, bytes, size, message, sizeof message)) fail_msg("%s", message);
    step_to_end(other);
    assert_true(angle_of(other) == angle_of(sim));
    assert_true(own.integral == again.integral && own.integral != 0.0);
    pol_simulation_free(&other);

    /* another period, and no controller */
    c.user = &wrong;
    c.period = 3e-3;
    other = simulate(m, &settings);
    assert_int_equal(pol_simulation_load(other, bytes, size, message, sizeof message),
                     POL_BAD_ARGUMENT);
    assert_non_null(strstr(message, "number of controllers 1, here 0"));
    assert_int_equal(pol_simulation_add_controller(other, &c), POL_OK);
    assert_int_equal(pol_simulation_load(other, bytes, size, message, sizeof message),
                     POL_BAD_ARGUMENT);
    assert_string_equal(message, "controller 'pd' is not the same");
    pol_simulation_free(&other);

    /* one that cannot be saved */
    c.cannot_save = 1;
    c.save = NULL;
    c.load = NULL;
    other = simulate(m, &settings);
    assert_int_equal(pol_simulation_add_controller(other, &c), POL_OK);
    assert_string_equal(pol_simulation_unsaved(other), "pd");
    assert_int_equal(pol_simulation_save(other, NULL, &size), POL_BAD_ARGUMENT);
    pol_simulation_free(&other);
    free(bytes);
    pol_simulation_free(&sim);
    pol_mechanism_free(&m);
  }
}

/* Two controllers: the second reads what the first has set at the same time. */
static pol_status copy_input(double t, const double *inputs, double *outputs, char *message,
                             size_t size, void *user)
{
  (void)t;
  (void)message;
  (void)size;
  *(double *)user = inputs[0];
  outputs[0] = inputs[0];
  return POL_OK;
}

static void test_order_of_calls(void **state)
{
  static const int doubled[] = {3}, other[] = {4};
  (void)state;
  pol_mechanism *m = create_pendulum(1);
  const pol_settings settings = settings_of("rattle", 1e-3, 0.02);
  pd own = {.kp = 3.0, .kd = 0.5};
  double seen = 0.0;
  const pol_sampled_controller first = controller_of(&own, 1e-3), second = {.name = "copy",
                                                                            .period = 2e-3,
                                                                            .num_inputs = 1,
                                                                            .inputs = doubled,
                                                                            .num_outputs = 1,
                                                                            .outputs = other,
                                                                            .sample = copy_input,
                                                                            .user = &seen};
  pol_simulation *sim = simulate(m, &settings);
  assert_int_equal(pol_simulation_add_controller(sim, &first), POL_OK);
  assert_int_equal(pol_simulation_add_controller(sim, &second), POL_OK);
  for (int n = 1; n <= 20; n++) {
    assert_int_equal(pol_simulation_step(sim), POL_OK);
    if (n % 2 == 0) assert_true(seen == 2.0 * pol_simulation_input(sim, 0));
    if (n % 2 == 0) assert_true(seen == pol_simulation_input(sim, 4));
  }
  pol_simulation_free(&sim);
  pol_mechanism_free(&m);
}

/* A failure stops the run at its time, with the last good state. */
static void test_failures(void **state)
{
  (void)state;
  for (int bad = 0; bad < 2; bad++) {
    pol_mechanism *m = create_pendulum(1);
    const pol_settings settings = settings_of("rattle", 1e-3, 0.5);
    pd own = {.kp = 3.0, .kd = 0.5, .fail_at = bad ? 0 : 12, .bad_at = bad ? 12 : 0};
    const pol_sampled_controller c = controller_of(&own, 5e-3);
    pol_simulation *sim = simulate(m, &settings);
    assert_int_equal(pol_simulation_add_controller(sim, &c), POL_OK);
    pol_status status = POL_OK;
    while (status == POL_OK) status = pol_simulation_step(sim);
    const pol_diagnostics *d = pol_simulation_diagnostics(sim);
    assert_int_equal(status, bad ? POL_NOT_FINITE : POL_CALLBACK);
    assert_true(fabs(d->t - 0.055) < 1e-12);
    assert_string_equal(d->where, "controller 'pd'");
    assert_string_equal(d->message,
                        bad ? "the output 'torque' of the controller is not a finite number"
                            : "the valve is stuck");
    assert_true(fabs(pol_simulation_state(sim)->t - 0.055) < 1e-12);
    assert_int_equal(pol_simulation_step(sim), status);
    pol_simulation_free(&sim);

    /* at the start */
    own = (pd){.fail_at = bad ? 0 : 1, .bad_at = bad ? 1 : 0};
    sim = simulate(m, &settings);
    assert_int_equal(pol_simulation_add_controller(sim, &c), status);
    assert_int_equal(pol_simulation_step(sim), status);
    pol_simulation_free(&sim);
    pol_mechanism_free(&m);
  }
}

static void test_wrong(void **state)
{
  static const int none[] = {7}, plain[] = {1};
  (void)state;
  pol_mechanism *m = create_pendulum(1);
  const pol_settings settings = settings_of("rattle", 1e-3, 0.5);
  pd own = {.kp = 3.0};
  const pol_sampled_controller good = controller_of(&own, 5e-3);
  pol_sampled_controller bad[8];
  for (int i = 0; i < 8; i++) bad[i] = good;
  bad[0].name = NULL;
  bad[1].sample = NULL;
  bad[2].period = 0.0;
  bad[3].period = 1e-30;
  bad[4].inputs = NULL;
  bad[5].inputs = none;
  bad[6].outputs = plain;
  bad[7].load = NULL;
  pol_simulation *sim = simulate(m, &settings);
  for (int i = 0; i < 8; i++) {
    assert_int_equal(pol_simulation_add_controller(sim, &bad[i]), POL_BAD_ARGUMENT);
    assert_true(pol_simulation_diagnostics(sim)->message[0] != '\0');
  }
  assert_int_equal(own.calls, 0);
  assert_int_equal(pol_simulation_step(sim), POL_OK);
  assert_int_equal(pol_simulation_add_controller(sim, &good), POL_BAD_ARGUMENT);
  assert_non_null(strstr(pol_simulation_diagnostics(sim)->message, "before the first step"));
  pol_simulation_free(&sim);
  pol_mechanism_free(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_as_inputs), cmocka_unit_test(test_order),
      cmocka_unit_test(test_odd_period),     cmocka_unit_test(test_events),
      cmocka_unit_test(test_save),           cmocka_unit_test(test_order_of_calls),
      cmocka_unit_test(test_failures),       cmocka_unit_test(test_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
