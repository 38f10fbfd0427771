/* The estimated error of a run against its distance from a fine one. */
#include "check.h"

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

static void finish(pol_simulation *simulation)
{
  while (!pol_simulation_finished(simulation))
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
}

/* The largest distance between the bodies of two simulations. */
static double distance(const pol_simulation *a, const pol_simulation *b, int num_bodies)
{
  double largest = 0.0;
  for (int i = 0; i < num_bodies; i++) {
    pol_body_state one, other;
    assert_int_equal(pol_simulation_body(a, i, &one), POL_OK);
    assert_int_equal(pol_simulation_body(b, i, &other), POL_OK);
    double squares = 0.0;
    for (int k = 0; k < 3; k++)
      squares += (one.position[k] - other.position[k]) * (one.position[k] - other.position[k]);
    largest = fmax(largest, sqrt(squares));
  }
  return largest;
}

static void estimates_are_errors(void **state)
{
  (void)state;
  static const struct {
    const char *model, *method;
    int order;
    double step, rtol, factor;
  } cases[] = {
      {MODELS "examples/double_pendulum.json", "geom1", 2, 2e-3, 0.0, 1.2},
      {MODELS "examples/double_pendulum.json", "rattle", 2, 2e-3, 0.0, 1.2},
      {MODELS "examples/double_pendulum.json", "rattle", 4, 5e-3, 0.0, 1.5},
      {MODELS "examples/double_pendulum.json", "geom1", 2, 0.0, 1e-4, 3.0},
      {MODELS "bruels-cardona-2010/heavy_top.json", "geom1", 2, 1e-3, 0.0, 1.3},
      /* an odd number of steps */
      {MODELS "examples/double_pendulum.json", "geom1", 2, 2.0 / 1001.0, 0.0, 1.2},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    pol_model *model = read_model(cases[c].model);
    pol_settings settings = model->settings;
    pol_options_set_method(&settings.options, cases[c].method);
    settings.options.order = cases[c].order;
    settings.formulation = POL_SO3XR3;
    settings.step = cases[c].step;
    settings.variable = cases[c].rtol > 0.0;
    if (settings.variable) settings.options.control.rtol = cases[c].rtol;
    pol_simulation *run = start_with(model->mechanism, &settings), *fine;
    pol_accuracy accuracy;
    assert_int_equal(pol_accuracy_estimate(run, &settings, &accuracy), POL_BAD_ARGUMENT);
    finish(run);
    assert_int_equal(pol_accuracy_estimate(run, &settings, &accuracy), POL_OK);
    assert_true(accuracy.known);
    assert_string_equal(accuracy.reason, "");
    settings.variable = 0;
    settings.step = 1e-4;
    pol_options_set_method(&settings.options, "rattle");
    settings.options.order = 8;
    fine = start_with(model->mechanism, &settings);
    finish(fine);
    const double error = distance(run, fine, pol_mechanism_num_bodies(model->mechanism));
    if (!(accuracy.position > error / cases[c].factor &&
          accuracy.position < error * cases[c].factor))
      fail_msg("case %d: estimated %g m, error %g m", (int)c, accuracy.position, error);
    pol_simulation_free(&run);
    pol_simulation_free(&fine);
    pol_model_free(&model);
  }
}

/* The estimates of examples as they are, against runs of much higher accuracy: errors are at most
 * three times as large, and not below a tenth, unless they are round-off. */
static void estimates_of_examples_are_honest(void **state)
{
  (void)state;
  static const char *const models[] = {
      MODELS "examples/governor.json",       MODELS "examples/squeezer.json",
      MODELS "examples/friction_block.json", MODELS "examples/gyroscope.json",
      MODELS "examples/lag_actuator.json",   MODELS "examples/planetary_gear.json",
      MODELS "examples/chain_stop.json",     MODELS "examples/double_pendulum.json"};
  for (size_t c = 0; c < sizeof models / sizeof models[0]; c++) {
    pol_model *model = read_model(models[c]);
    pol_settings settings = model->settings;
    pol_simulation *run = start_with(model->mechanism, &settings);
    pol_accuracy accuracy;
    finish(run);
    assert_int_equal(pol_accuracy_estimate(run, &settings, &accuracy), POL_OK);
    assert_true(accuracy.known);
    pol_control *control = &settings.options.control;
    control->rtol *= 1e-4;
    control->atol_translation *= 1e-4;
    control->atol_rotation *= 1e-4;
    if (settings.variable) settings.options.order = 8;
    settings.step /= 16.0;
    pol_simulation *fine = start_with(model->mechanism, &settings);
    finish(fine);
    const double error = distance(run, fine, pol_mechanism_num_bodies(model->mechanism));
    if (!(error < 3.0 * accuracy.position + 1e-13 && error > 0.08 * accuracy.position - 1e-13))
      fail_msg("%s: estimated %g m, error %g m", models[c], accuracy.position, error);
    pol_simulation_free(&run);
    pol_simulation_free(&fine);
    pol_model_free(&model);
  }
}

/* Where the second run cannot tell, the reason is given. */
static void unknown_errors_have_reasons(void **state)
{
  (void)state;
  static const struct {
    const char *overrides[3], *reason;
  } cases[] = {
      {{"simulation.step=0.1", "simulation.end=0.1", "simulation.method=geom1"},
       "there is only one step"},
      /* steps of 0.01 s are too long for a top that spins at 150 rad/s */
      {{"simulation.step=0.005", "simulation.end=0.48", "simulation.method=geom1"},
       "with steps twice as long the simulation fails"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    pol_model *model =
        read_model_with(MODELS "bruels-cardona-2010/heavy_top.json", 3, cases[c].overrides);
    pol_simulation *run = start(model);
    pol_accuracy accuracy;
    finish(run);
    assert_int_equal(pol_accuracy_estimate(run, &model->settings, &accuracy), POL_OK);
    assert_false(accuracy.known);
    assert_string_equal(accuracy.reason, cases[c].reason);
    pol_simulation_free(&run);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_are_errors),
      cmocka_unit_test(estimates_of_examples_are_honest),
      cmocka_unit_test(unknown_errors_have_reasons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
