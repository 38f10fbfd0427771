/* The controller of the step size by itself: the sizes that it proposes, to the last digits. */
#include "integrators/step_control.h"

#include <math.h>

#include "check.h"

static const pol_factor factor = {.kind = POL_REAL, .dim = 2};
static const pol_group group = {.num_factors = 1, .factors = &factor, .nq = 2, .nv = 2};

static poli_step_control *create(pol_control options)
{
  poli_step_control *control;
  assert_int_equal(poli_step_control_create(&control, &group, &options), POL_OK);
  poli_step_control_reset(control, 1);
  return control;
}

static void assert_size(double found, double expected)
{
  if (!(fabs(found - expected) <= 1e-12 * expected))
    fail_msg("%.15g instead of %.15g", found, expected);
}

/* h_new = 0.9 h error^(-1/3), between 0.2 h and 5 h, and smaller after a rejection. */
static void sizes_follow_the_error(void **state)
{
  (void)state;
  poli_step_control *control = create((pol_control){.rtol = 1e-6});
  assert_size(poli_step_control_propose(control, 0.1, 0.125), 0.18);
  assert_size(poli_step_control_propose(control, 0.1, 1.0), 0.09);
  assert_size(poli_step_control_propose(control, 0.1, 1e-6), 0.5);
  assert_size(poli_step_control_propose(control, 0.1, 0.0), 0.5);
  assert_size(poli_step_control_propose(control, 0.1, 8.0), 0.045);
  assert_size(poli_step_control_propose(control, 0.2, 1e9), 0.04);
  assert_size(poli_step_control_propose(control, 0.3, 1.331), 0.27 / 1.1);
  poli_step_control_free(&control);
}

/* h_new = 0.9 h error^(-0.7/3) last^(0.4/3); the first step has no last. */
static void the_last_error_counts_too(void **state)
{
  (void)state;
  poli_step_control *control = create((pol_control){.rtol = 1e-6, .controller = POL_CONTROLLER_PI});
  assert_size(poli_step_control_propose(control, 0.1, 0.125), 0.18);
  assert_size(poli_step_control_propose(control, 0.1, 0.5),
              0.09 * pow(0.5, -0.7 / 3.0) * pow(0.125, 0.4 / 3.0));
  assert_size(poli_step_control_propose(control, 0.1, 0.2),
              0.09 * pow(0.2, -0.7 / 3.0) * pow(0.5, 0.4 / 3.0));
  /* that of a rejected step does not */
  assert_size(poli_step_control_propose(control, 0.1, 4.0),
              0.09 * pow(4.0, -0.7 / 3.0) * pow(0.2, 0.4 / 3.0));
  poli_step_control_reset(control, 0);
  assert_size(poli_step_control_propose(control, 0.1, 0.125), 0.18);
  poli_step_control_free(&control);
}

/* The mean over all components; of more than 100 at least half of the largest one, but as published
 * the mean alone.  What is not finite stays so. */
static void single_components_count(void **state)
{
  (void)state;
  enum { SIZE = 225 };
  const pol_factor many = {.kind = POL_REAL, .dim = SIZE};
  const pol_group line = {.num_factors = 1, .factors = &many, .nq = SIZE, .nv = SIZE};
  const pol_control options = {.atol_translation = 1e-3};
  double q[SIZE] = {0.0}, e[SIZE] = {0.0};
  poli_step_control *control;
  int worst = -1;
  const pol_factor few = {.kind = POL_REAL, .dim = 100};
  const pol_group short_line = {.num_factors = 1, .factors = &few, .nq = 100, .nv = 100};
  assert_int_equal(poli_step_control_create(&control, &short_line, &options), POL_OK);
  poli_step_control_weigh(control, q);
  e[7] = 3e-3;
  assert_size(poli_step_control_norm(control, e, NULL), 0.3);
  poli_step_control_free(&control);
  assert_int_equal(poli_step_control_create(&control, &line, &options), POL_OK);
  poli_step_control_weigh(control, q);
  assert_size(poli_step_control_norm(control, e, &worst), 1.5);
  assert_int_equal(worst, 7);
  control->published = 1;
  assert_size(poli_step_control_norm(control, e, NULL), 0.2);
  control->published = 0;
  for (int i = 0; i < SIZE; i++) e[i] = i % 2 ? -3e-3 : 3e-3;
  assert_size(poli_step_control_norm(control, e, NULL), 3.0);
  e[7] = NAN;
  assert_true(!isfinite(poli_step_control_norm(control, e, NULL)));
  poli_step_control_free(&control);
}

/* Two attempts of one step show that the error falls as h^5; the steps that follow use that, less
 * and less.  As published it is h^3. */
static void the_power_is_learnt(void **state)
{
  (void)state;
  for (int published = 0; published <= 1; published++) {
    poli_step_control *control = create((pol_control){.rtol = 1e-6});
    control->published = published;
    const double power = published ? 3.0 : 5.0, next = published ? 3.0 : 3.0 + 0.9 * 2.0;
    assert_size(poli_step_control_propose(control, 0.2, 8.0), 0.09);
    assert_size(poli_step_control_propose(control, 0.1, 0.25), 0.09 * pow(0.25, -1.0 / power));
    assert_size(poli_step_control_propose(control, 0.1, 0.25), 0.09 * pow(0.25, -1.0 / next));
    for (int k = 0; k < 400; k++) poli_step_control_propose(control, 0.1, 0.25);
    assert_size(poli_step_control_propose(control, 0.1, 0.25), 0.09 * pow(0.25, -1.0 / 3.0));
    /* a power below 3 is not believed, nor one above 8 */
    poli_step_control_propose(control, 0.2, 1.5);
    assert_size(poli_step_control_propose(control, 0.1, 1.0), 0.09);
    assert_size(poli_step_control_propose(control, 0.1, 0.25), 0.09 * pow(0.25, -1.0 / 3.0));
    poli_step_control_propose(control, 0.2, 1e6);
    assert_size(poli_step_control_propose(control, 0.1, 0.25),
                0.09 * pow(0.25, published ? -1.0 / 3.0 : -1.0 / 8.0));
    poli_step_control_free(&control);
  }
}

/* Where the equations could not be solved the size is a quarter; the next ones stay below what
 * failed for some steps.  As published they do not. */
static void sizes_grow_slowly_after_a_failure(void **state)
{
  (void)state;
  for (int published = 0; published <= 1; published++) {
    poli_step_control *control = create((pol_control){.rtol = 1e-6});
    control->published = published;
    assert_size(poli_step_control_retreat(control, 0.1), 0.025);
    double h = 0.025;
    int steps = 0;
    for (; h < 0.1 && steps < 20; steps++) h = poli_step_control_propose(control, h, 1e-3);
    if (steps != (published ? 1 : 5)) fail_msg("%d steps", steps);
    /* forgotten at a restart */
    poli_step_control_retreat(control, 0.1);
    poli_step_control_reset(control, 0);
    assert_size(poli_step_control_propose(control, 0.025, 1e-3), 0.125);
    poli_step_control_free(&control);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_follow_the_error),
      cmocka_unit_test(the_last_error_counts_too),
      cmocka_unit_test(single_components_count),
      cmocka_unit_test(the_power_is_learnt),
      cmocka_unit_test(sizes_grow_slowly_after_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
