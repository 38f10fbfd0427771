/* Soft stops that are stiff for the step: the method that is chosen counts them before they are
 * touched, with the mass that their joint moves; fixed steps of rattle are refused at one that they
 * would not be stable at; variable steps see each contact. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

static void assert_in_interval(double x, double low, double high)
{
  if (!(x >= low && x <= high)) fail_msg("%.17g is not in %g .. %g", x, low, high);
}

/* A body of 1 kg falls 0.3 m along a slide onto a stop with 100 N s/m. */
static pol_model *read_drop(double stiffness, double damping, double end, const char *simulation)
{
  char text[1000];
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  snprintf(text, sizeof text,
           "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": "
           "[1, 1, 1]}], \"joints\": [{\"name\": \"slide\", \"type\": \"prismatic\", \"bodies\": "
           "[\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1], \"limits\": {\"min\": "
           "-0.3, \"stiffness\": %.17g, \"damping\": %.17g}}], \"simulation\": {\"end\": %g, %s}}",
           stiffness, damping, end, simulation);
  if (pol_model_read_text(&model, text, 0, NULL, &errors) != POL_OK)
    fail_msg("%s: %s", errors.items[0].path, errors.items[0].rule);
  return model;
}

/* Runs to the end, or until a step fails; the largest speed. */
static pol_status run(pol_simulation *simulation, double *speed)
{
  pol_status status = POL_OK;
  *speed = 0.0;
  while (status == POL_OK && !pol_simulation_finished(simulation)) {
    status = pol_simulation_step(simulation);
    *speed = fmax(*speed, fabs(pol_simulation_state(simulation)->v[5]));
  }
  return status;
}

/* --- choice ----------------------------------------------------------------------------------- */

/* Stops that a step of 1 ms cannot resolve: none of them throws the body away.  It meets them with
 * 2.43 m/s; what a step within the stop gains is of that order, and is warned of. */
static void stiff_stops_are_survived(void **state)
{
  (void)state;
  for (double k = 1e4; k < 2e12; k *= 100.0) {
    pol_model *model = read_drop(k, 100.0, 1.0, "\"step\": 1e-3");
    assert_string_equal(model->settings.options.method, k > 1e6 ? "geom1" : "rattle");
    assert_non_null(strstr(model->settings.choice, "'slide.stop' has a rate of "));
    pol_simulation *simulation = start(model);
    double speed;
    assert_int_equal(run(simulation, &speed), POL_OK);
    assert_in_interval(speed, 2.4, 6.0);
    if (k > 1e6) assert_in_range(pol_simulation_summary(simulation)->num_warnings, 1, 8);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* The rate of a stop belongs to the mass that its coordinate moves: of a slide to the ground that
 * of the body; of a slide between free bodies the reduced mass; of a hinge the moment of inertia
 * about its axis.  The limit is w h = 1, or d/m h = 1. */
static void mobilities_are_those_of_the_coordinate(void **state)
{
  (void)state;
  static const struct {
    const char *type, *first, *point, *axis;
    double mass;
  } cases[] = {{"prismatic", "ground", "[0, 0, 0]", "[0, 0.6, 0.8]", 2.0},
               {"prismatic", "b", "[0, 0, 0]", "[1, 0, 0]", 2.0 * 6.0 / 8.0},
               {"revolute", "ground", "[0.5, 0, 0]", "[0, 0, 1]", 0.3 + 2.0 * 0.25}};
  for (int i = 0; i < 12; i++) {
    const int damps = i / 3 % 2, above = i / 6;
    const double h = 1e-3, share = above ? 1.02 : 0.98, mass = cases[i % 3].mass;
    const double k = damps ? 1.0 : mass * pow(share / h, 2.0), d = damps ? share * mass / h : 0.0;
    char text[1500], words[80];
    pol_errors errors = {0, NULL};
    pol_model *model = NULL;
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": [0.1, 0.2, 0.3]}, {\"name\": "
        "\"b\", \"mass\": 6, \"inertia\": [1, 2, 3]}], \"joints\": [{\"name\": \"j\", \"type\": "
        "\"%s\", \"bodies\": [\"%s\", \"a\"], \"point\": %s, \"axis\": %s, \"limits\": {\"max\": "
        "0.7, \"stiffness\": %.17g, \"damping\": %.17g}}], \"simulation\": {\"step\": %g, "
        "\"end\": 1}}",
        cases[i % 3].type, cases[i % 3].first, cases[i % 3].point, cases[i % 3].axis, k, d, h);
    if (pol_model_read_text(&model, text, 0, NULL, &errors) != POL_OK)
      fail_msg("%s: %s", errors.items[0].path, errors.items[0].rule);
    snprintf(words, sizeof words, "%s: 'j.stop' has a rate of %s/s", above ? "geom1" : "rattle",
             above ? "1.02e+03" : "980");
    if (!strstr(model->settings.choice, words))
      fail_msg("case %d: %s, not %s", i, model->settings.choice, words);
    pol_model_free(&model);
  }
}

/* --- rattle ----------------------------------------------------------------------------------- */

/* A step above the limit of the order fails just before the stop, and names it; one below does not,
 * and the body bounces without gaining energy beyond the error of such steps. */
static void fixed_steps_of_rattle_are_refused(void **state)
{
  (void)state;
  static const struct {
    int order;
    double spring, damper; /* limits of docs/methods.md */
  } cases[] = {{2, 2.0, 0.0}, {4, 2.72, 3.02}, {6, 2.53, 2.73}, {8, 3.09, 3.30}};
  for (int i = 0; i < 16; i++) {
    const int damps = i / 4 % 2, above = i / 8;
    const double h = 1e-3, limit = damps ? cases[i % 4].damper : cases[i % 4].spring;
    const double rate = (above ? 1.02 : 0.98) * limit / h;
    char settings[100];
    double speed;
    if (limit == 0.0) continue;
    snprintf(settings, sizeof settings, "\"method\": \"rattle\", \"order\": %d, \"step\": %g",
             cases[i % 4].order, h);
    pol_model *model = read_drop(damps ? 1e4 : rate * rate, damps ? rate : 0.0, 1.0, settings);
    pol_simulation *simulation = start(model);
    const pol_status status = run(simulation, &speed);
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    if (above) {
      char step[40];
      snprintf(step, sizeof step, "a step below %.3g s", h / 1.02);
      assert_int_equal(status, POL_NOT_CONVERGED);
      assert_string_equal(d->where, "force 'slide.stop'");
      assert_non_null(strstr(d->message, "'slide.stop' is about to be touched"));
      assert_non_null(strstr(d->advice, step));
      assert_in_interval(pol_simulation_state(simulation)->q[6], -0.3, -0.29);
      assert_in_interval(speed, 2.3, 2.43);
    } else {
      assert_int_equal(status, POL_OK);
      assert_in_interval(speed, 2.4, 10.0);
    }
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A stop that is not reached stops nothing. */
static void stops_out_of_reach_do_no_harm(void **state)
{
  (void)state;
  pol_model *model =
      read_drop(1e12, 1e5, 0.2, "\"method\": \"rattle\", \"order\": 4, \"step\": 1e-3");
  pol_simulation *simulation = start(model);
  double speed;
  assert_int_equal(run(simulation, &speed), POL_OK);
  assert_in_interval(speed - 9.81 * 0.2, -1e-12, 1e-12);
  assert_int_equal(pol_simulation_summary(simulation)->num_warnings, 0);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* --- variable steps --------------------------------------------------------------------------- */

static double height_at_end(pol_model *model, double *balance)
{
  pol_simulation *simulation = start(model);
  double speed;
  assert_int_equal(run(simulation, &speed), POL_OK);
  const double height = pol_simulation_state(simulation)->q[6];
  *balance = fabs(pol_simulation_summary(simulation)->energy_balance);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return height;
}

/* Two contacts of 3 ms, against fixed steps of 5 microseconds.  The tolerance is one of positions:
 * an error of that size in a contact, which takes steps of 0.03 to 0.5 ms, is one of some thousand
 * times as much per second in the velocity afterwards, of which 0.5 s remain. */
static void bounces_agree_with_small_steps(void **state)
{
  (void)state;
  const double amplified = 4e3;
  double balance;
  const double exact = height_at_end(
      read_drop(1e6, 100.0, 1.0, "\"method\": \"rattle\", \"order\": 4, \"step\": 5e-6"), &balance);
  assert_in_interval(balance, 0.0, 1e-4);
  for (int i = 0; i < 8; i++) {
    const int order = i % 2 ? 4 : 2, digits = 5 + i / 2;
    const double tolerance = pow(10.0, -digits);
    char settings[120];
    snprintf(settings, sizeof settings,
             "\"method\": \"rattle\", \"order\": %d, \"rtol\": %g, \"atol\": %g", order, tolerance,
             tolerance);
    const double height = height_at_end(read_drop(1e6, 100.0, 1.0, settings), &balance);
    assert_in_interval(fabs(height - exact), 0.0, amplified * tolerance);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stiff_stops_are_survived),
      cmocka_unit_test(mobilities_are_those_of_the_coordinate),
      cmocka_unit_test(fixed_steps_of_rattle_are_refused),
      cmocka_unit_test(stops_out_of_reach_do_no_harm),
      cmocka_unit_test(bounces_agree_with_small_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
