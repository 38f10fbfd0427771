/* Driven mechanisms from model file to motion: the prescribed coordinate, constraints at tolerance,
 * and the work of the drive against the change of energy. */
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"
#define SLIDER_CRANK MODELS "holzinger-arnold-gerstmayr/slider_crank.json"

static const double pi = 3.14159265358979323846;

static int find_channel(const pol_record *record, const char *name)
{
  for (int i = 0; i < pol_record_count(record); i++)
    if (strcmp(pol_record_channel(record, i)->name, name) == 0) return i;
  fail_msg("no channel %s", name);
  return -1;
}

typedef struct outcome {
  double imbalance;          /* work of the drive minus change of energy, J */
  double torque;             /* of the motor at the end, N m */
  double exchange;           /* largest |change of energy|, J */
  double position, velocity; /* largest residuals */
  pol_body_state crank;
} outcome;

/* Runs, with the work of the motor (torque times `rate`) by Simpson's rule. */
static outcome run(const pol_model *model, double (*rate)(double t))
{
  pol_simulation *simulation;
  pol_record *record;
  pol_diagnostics d;
  if (pol_simulation_create(&simulation, model->mechanism, &model->settings, &d))
    fail_msg("%s: %s", d.where, d.message);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  int channel = find_channel(record, "motor.torque");
  int last = find_channel(record, "energy.kinetic");
  assert_string_equal(pol_record_channel(record, channel)->unit, "N m");
  assert_int_equal(channel, last - 1); /* after the joints, before the energies */
  double row[200], power[3], work = 0.0, start = 0.0;
  outcome out = {0};
  assert_true(pol_record_count(record) <= 200);
  for (long step = 0;; step++) {
    pol_record_row(record, row);
    if (step == 0) start = row[last + 2];
    power[step % 3] = row[channel] * rate(row[0]);
    if (step > 0 && step % 2 == 0)
      work += model->settings.step / 3.0 *
              (power[step % 3] + 4.0 * power[(step - 1) % 3] + power[(step - 2) % 3]);
    out.exchange = fmax(out.exchange, fabs(row[last + 2] - start));
    if (pol_simulation_finished(simulation)) break;
    if (pol_simulation_step(simulation))
      fail_msg("%s", pol_simulation_diagnostics(simulation)->message);
  }
  out.imbalance = fabs(work - (row[last + 2] - start));
  out.torque = row[channel];
  out.position = pol_simulation_summary(simulation)->max_position_residual;
  out.velocity = pol_simulation_summary(simulation)->max_velocity_residual;
  const pol_state *state = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0,
                             &out.crank);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return out;
}

/* --- the slider-crank ------------------------------------------------------------------------- */

static double constant_rate(double t)
{
  (void)t;
  return 6.0;
}

static double harmonic_rate(double t)
{
  return 2.0 * pi * 1.5 * 0.8 * cos(2.0 * pi * 1.5 * t);
}

#define MOTOR(function)                                                                            \
  "drives=[{\"name\": \"motor\", \"joint\": \"bearing\", \"coordinate\": \"rotation\", "           \
  "\"function\": " function "}]"

static const char *const uniform[] = {MOTOR("{\"type\": \"polynomial\", \"coefficients\": [0, 6]}"),
                                      "simulation.start=default", "simulation.end=1.5"};
static const char *const swinging[] = {
    MOTOR("{\"type\": \"harmonic\", \"amplitude\": 0.8, \"frequency\": 1.5}"),
    "simulation.start=default", "simulation.end=1.5"};

static void work_of_the_drive_is_the_change_of_energy(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    pol_model *model = read_model_with(SLIDER_CRANK, 3, k == 0 ? uniform : swinging);
    double (*rate)(double) = k == 0 ? constant_rate : harmonic_rate;
    double angle = k == 0 ? 6.0 * 1.5 : 0.8 * sin(2.0 * pi * 1.5 * 1.5);
    for (int stabilized = 0; stabilized < 2; stabilized++) {
      double imbalance[2];
      model->settings.options.index = stabilized ? POL_INDEX_2_STABILIZED : POL_INDEX_3;
      for (int fine = 0; fine < 2; fine++) {
        model->settings.step = fine ? 5e-4 : 1e-3;
        outcome out = run(model, rate);
        imbalance[fine] = out.imbalance;
        assert_true(out.exchange > 0.05);
        assert_true(out.position < 1e-10);
        if (stabilized) assert_true(out.velocity < 1e-9);
        /* the crank turns about x: its z axis is (0, -sin, cos) of the angle */
        assert_near(&out.crank.rotation[5], &(double){-sin(angle)}, 1, 1e-9);
        assert_near(&out.crank.rotation[8], &(double){cos(angle)}, 1, 1e-9);
      }
      print_message("%s, index %s: imbalance %.3g and %.3g J\n", k == 0 ? "uniform" : "harmonic",
                    stabilized ? "stabilized-2" : "3", imbalance[0], imbalance[1]);
      assert_true(imbalance[0] < 1e-5);
      assert_true(imbalance[0] / imbalance[1] > 3.5);
    }
    pol_model_free(&model);
  }
}

static const char *const written[] = {MOTOR("{\"expression\": \"0.8*sin(2*pi*1.5*t)\"}"),
                                      "simulation.start=default", "simulation.end=1.5"};

/* The same function as an expression gives the same motion and torque to round-off. */
static void an_expression_is_the_function_it_says(void **state)
{
  (void)state;
  outcome out[2];
  for (int k = 0; k < 2; k++) {
    pol_model *model = read_model_with(SLIDER_CRANK, 3, k == 0 ? swinging : written);
    model->settings.end = 0.5;
    out[k] = run(model, harmonic_rate);
    pol_model_free(&model);
  }
  print_message("expression: torque %.17g and %.17g N m\n", out[0].torque, out[1].torque);
  assert_near(&out[1].torque, &out[0].torque, 1, 1e-12);
  assert_near(out[1].crank.rotation, out[0].crank.rotation, 9, 1e-14);
  assert_near(out[1].crank.angular_velocity, out[0].crank.angular_velocity, 3, 1e-12);
}

/* Where it has no value the run stops, and says where. */
static void expressions_without_value_stop_the_run(void **state)
{
  (void)state;
  static const char *const from_start[] = {MOTOR("{\"expression\": \"0.1*log(t)\"}"),
                                           "simulation.start=default", "simulation.end=1.5"};
  static const char *const later[] = {MOTOR("{\"expression\": \"0.1*(0.05 - t)^1.5\"}"),
                                      "simulation.start=default", "simulation.end=1.5"};
  pol_simulation *simulation;
  pol_diagnostics d;
  pol_model *model = read_model_with(SLIDER_CRANK, 3, from_start);
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                   POL_NOT_FINITE);
  assert_string_equal(d.where, "drive 'motor': its function is not finite");
  pol_model_free(&model);

  model = read_model_with(SLIDER_CRANK, 3, later);
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                   POL_OK);
  pol_status status = POL_OK;
  while (!status && !pol_simulation_finished(simulation)) status = pol_simulation_step(simulation);
  assert_int_equal(status, POL_NOT_FINITE);
  assert_string_equal(pol_simulation_diagnostics(simulation)->where,
                      "drive 'motor': its acceleration is not finite");
  assert_near(&pol_simulation_diagnostics(simulation)->t, &(double){0.05}, 1, 1e-9);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* A value is not enough: a drive needs a rate and an acceleration, and says so at the start. */
static void drives_without_rate_are_named(void **state)
{
  (void)state;
  static const struct {
    const char *drive, *where;
  } cases[] = {
      {MOTOR("{\"expression\": \"sqrt(t)\"}"), "drive 'motor': its rate is not finite"},
      {MOTOR("{\"expression\": \"t^0.5\"}"), "drive 'motor': its rate is not finite"},
      {MOTOR("{\"expression\": \"t^1.5\"}"), "drive 'motor': its acceleration is not finite"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int directors = 0; directors < 2; directors++) {
      const char *const overrides[] = {cases[i].drive, "simulation.start=default"};
      pol_model *model = read_model_with(SLIDER_CRANK, 2, overrides);
      pol_simulation *simulation;
      pol_diagnostics d;
      if (directors) model->settings.formulation = POL_DIRECTORS;
      assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                       POL_NOT_FINITE);
      assert_string_equal(d.where, cases[i].where);
      assert_true(d.t == 0.0);
      pol_model_free(&model);
    }
}

/* t^2.5 has all that a drive needs from t = 0 on, and no value before, where the starting values of
 * the method look too. */
static void drives_may_start_at_zero(void **state)
{
  (void)state;
  static const char *const overrides[] = {MOTOR("{\"expression\": \"2*t^2.5\"}"),
                                          "simulation.start=default", "simulation.end=0.5"};
  pol_model *model = read_model_with(SLIDER_CRANK, 3, overrides);
  pol_simulation *simulation;
  pol_diagnostics d;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                   POL_OK);
  step_to_end(simulation);
  assert_true(pol_simulation_summary(simulation)->max_position_residual < 1e-10);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Every formulation gives the same torque, to the order of the method. */
static void formulations_agree(void **state)
{
  (void)state;
  pol_model *model = read_model_with(SLIDER_CRANK, 3, uniform);
  double torque = 0.0;
  model->settings.end = 0.2;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    char message[256];
    model->settings.formulation = (pol_formulation_kind)kind;
    model->settings.options.method = kind == POL_ROTATION_VECTOR ? "linear" : "geom1";
    model->settings.options.start = POL_START_CLASSICAL;
    if (pol_formulation_supports(model->mechanism, (pol_formulation_kind)kind, message,
                                 sizeof message))
      continue;
    outcome out = run(model, constant_rate);
    assert_true(out.position < 1e-10);
    if (kind == 0) torque = out.torque;
    assert_near(&out.torque, &torque, 1, 1e-6);
  }
  pol_model_free(&model);
}

/* --- the four-bar ----------------------------------------------------------------------------- */

static double motor_rate(double t)
{
  double s = fmin(t / 0.5, 1.0);
  return 2.0 * pi * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
}

static void four_bar_comes_to_speed(void **state)
{
  (void)state;
  pol_model *model = read_model_with(MODELS "examples/four_bar_motor.json", 0, NULL);
  double rate[3] = {0.0, 2.0 * pi, 0.0}, imbalance[2];
  for (int fine = 0; fine < 2; fine++) {
    model->settings.step = fine ? 5e-4 : 1e-3;
    outcome out = run(model, motor_rate);
    imbalance[fine] = out.imbalance;
    assert_true(out.position < 1e-10 && out.velocity < 1e-9);
    /* 0.25 turns to come to speed, then 1.5 s at one turn a second: -90 degrees from 2 turns */
    assert_near(&out.crank.rotation[2], &(double){-1.0}, 1, 1e-9);
    assert_near(out.crank.angular_velocity, rate, 3, 1e-8);
  }
  print_message("four-bar: imbalance %.3g and %.3g J\n", imbalance[0], imbalance[1]);
  assert_true(imbalance[0] < 1e-6);
  assert_true(imbalance[0] / imbalance[1] > 3.5);
  pol_model_free(&model);
}

/* A start more than a quarter turn from the function is refused by name. */
static void wrong_starts_are_refused(void **state)
{
  (void)state;
  static const char *const half_turn[] = {
      "drives[0].function={\"type\": \"constant\", \"value\": 3.141592653589793}"};
  pol_model *model = read_model_with(MODELS "examples/four_bar_motor.json", 1, half_turn);
  pol_simulation *simulation;
  pol_diagnostics d;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                   POL_INCONSISTENT);
  assert_string_equal(d.where, "drive 'motor'");
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_of_the_drive_is_the_change_of_energy),
      cmocka_unit_test(an_expression_is_the_function_it_says),
      cmocka_unit_test(expressions_without_value_stop_the_run),
      cmocka_unit_test(drives_without_rate_are_named),
      cmocka_unit_test(drives_may_start_at_zero),
      cmocka_unit_test(formulations_agree),
      cmocka_unit_test(four_bar_comes_to_speed),
      cmocka_unit_test(wrong_starts_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
