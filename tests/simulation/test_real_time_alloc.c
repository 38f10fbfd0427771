/* Real time: a fixed number of iterations and matrices per step, nothing allocated, and what the
 * iterations leave is counted or fails, never hidden. */
#include <math.h>
#include <string.h>

#include <polhode/polhode.h>

#include "failing_alloc.h"
#include "heavy_top.h"

enum { STEPS = 60 };

/* Slow enough that a matrix serves several steps. */
static pol_mechanism *create_mechanism(void)
{
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  body.angular_velocity[1] = 15.0;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  return mechanism;
}

static pol_simulation *create_top(const pol_mechanism *mechanism, pol_formulation_kind kind,
                                  double step, int iterations, int interval)
{
  pol_simulation *sim;
  pol_settings s = pol_settings_default();
  s.formulation = kind;
  s.step = step;
  s.end = STEPS * step;
  s.options.newton.fixed_iterations = iterations;
  s.options.newton.matrix_interval = interval;
  assert_int_equal(pol_simulation_create(&sim, mechanism, &s, NULL), POL_OK);
  return sim;
}

static double distance(const pol_simulation *a, const pol_simulation *b)
{
  double most = 0.0;
  for (int i = 0; i < 7; i++)
    most = fmax(most, fabs(pol_simulation_state(a)->q[i] - pol_simulation_state(b)->q[i]));
  return most;
}

/* In the space of the constraints (so3xr3) and with the general matrix (se3). */
static void every_step_does_the_same_work(void **state)
{
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY};
  pol_mechanism *mechanism = create_mechanism();
  (void)state;
  for (int k = 0; k < 2; k++) {
    pol_simulation *exact = create_top(mechanism, kinds[k], 1e-3, 0, 1);
    pol_simulation *fixed = create_top(mechanism, kinds[k], 1e-3, 3, 4);
    pol_counts last = pol_simulation_summary(fixed)->counts;
    for (int n = 0; n < STEPS; n++) {
      const long before = alloc_count();
      assert_int_equal(pol_simulation_step(exact), POL_OK);
      assert_int_equal(pol_simulation_step(fixed), POL_OK);
      assert_int_equal(alloc_count(), before);
      const pol_counts now = pol_simulation_summary(fixed)->counts;
      assert_int_equal(now.newton_iterations - last.newton_iterations, 3);
      assert_int_equal(now.residuals - last.residuals, 4);
      assert_int_equal(now.factorizations - last.factorizations, n % 4 == 0);
      last = now;
    }
    assert_true(distance(exact, fixed) < 1e-8);
    assert_int_equal(pol_simulation_summary(exact)->counts.inexact, 0);
    pol_simulation_free(&exact);
    pol_simulation_free(&fixed);
  }
  pol_mechanism_free(&mechanism);
}

/* One iteration with an old matrix is not enough for the tolerance: counted, with a warning. */
static void what_is_left_is_counted(void **state)
{
  pol_mechanism *mechanism = create_mechanism();
  int told = 0;
  (void)state;
  pol_simulation *exact = create_top(mechanism, POL_SO3XR3, 1e-3, 0, 1);
  pol_simulation *fixed = create_top(mechanism, POL_SO3XR3, 1e-3, 1, 2);
  for (int n = 0; n < STEPS; n++) {
    assert_int_equal(pol_simulation_step(exact), POL_OK);
    assert_int_equal(pol_simulation_step(fixed), POL_OK);
  }
  const pol_summary *summary = pol_simulation_summary(fixed);
  assert_true(summary->counts.inexact > STEPS / 2);
  assert_true(summary->counts.worst_residual > 1.0);
  for (int i = 0; i < summary->num_warnings; i++)
    told += strstr(summary->warnings[i].message, "fixed number of Newton iterations") != NULL;
  assert_int_equal(told, 1);
  assert_true(distance(exact, fixed) > 0.0 && distance(exact, fixed) < 1e-2);
  pol_simulation_free(&exact);
  pol_simulation_free(&fixed);
  pol_mechanism_free(&mechanism);
}

/* Corrections that lead away fail at once. */
static void what_diverges_fails(void **state)
{
  pol_mechanism *mechanism = create_mechanism();
  pol_status status = POL_OK;
  (void)state;
  pol_simulation *sim = create_top(mechanism, POL_SO3XR3, 0.05, 1, 50);
  for (int n = 0; n < STEPS && status == POL_OK; n++) {
    const long iterations = pol_simulation_summary(sim)->counts.newton_iterations;
    status = pol_simulation_step(sim);
    assert_true(pol_simulation_summary(sim)->counts.newton_iterations <= iterations + 1);
  }
  assert_int_equal(status, POL_NOT_CONVERGED);
  const pol_diagnostics *d = pol_simulation_diagnostics(sim);
  assert_string_equal(d->message,
                      "the fixed number of Newton iterations has increased the residual");
  assert_true(d->residual > 1.0);
  assert_true(d->equation >= 0);
  for (int i = 0; i < 7; i++) assert_true(isfinite(pol_simulation_state(sim)->q[i]));
  pol_simulation_free(&sim);
  pol_mechanism_free(&mechanism);
}

static void expect_rule(const pol_settings *settings, const char *rule)
{
  char message[256] = "";
  assert_int_equal(pol_settings_validate(settings, message, sizeof message), POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, rule));
}

static void settings_have_rules(void **state)
{
  pol_settings s = pol_settings_default();
  (void)state;
  s.options.newton.fixed_iterations = -1;
  expect_rule(&s, "newton.fixed_iterations must not be negative");
  s.options.newton.fixed_iterations = 2;
  s.options.newton.matrix_interval = 0;
  expect_rule(&s, "newton.matrix_interval must be at least 1");
  s.options.newton.matrix_interval = 3;
  assert_int_equal(pol_settings_validate(&s, NULL, 0), POL_OK);
  s.variable = 1;
  expect_rule(&s, "newton.fixed_iterations must be 0 with steps of variable size");
  s.variable = 0;
  s.options.published.exact_iterations = 2;
  expect_rule(&s, "newton.fixed_iterations must be 0 with an iteration of published");
  s.options.published.exact_iterations = 0;
  s.options.method = "rattle";
  expect_rule(&s, "newton.fixed_iterations must be 0: this method iterates");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_does_the_same_work),
      cmocka_unit_test(what_is_left_is_counted),
      cmocka_unit_test(what_diverges_fails),
      cmocka_unit_test(settings_have_rules),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
