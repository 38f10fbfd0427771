/* Tables 1, 2 and 3 of Gavrea/Negrut/Potra 2005: errors of Newmark's method in index 3 at the end
 * of a run with fixed steps, and the same with Newton's iteration converged.
 *
 * The published figures come from exactly one iteration a step (three for Table 3) with the full
 * matrix, from the accelerations and multipliers of the step before; the paper does not say so.
 * Newton's converged values are from an independent integration (2026).  In Table 3 the paper's
 * reference solution is off by about 5e-7 in the angles and 3e-6 in the rates, which shows in the
 * last printed digit of four of the twelve entries.
 *
 * With gamma = 1/2 the velocity normal to the constraint keeps every round-off error, so that the
 * digits below 1e-7 of the velocities in Table 1 are chance: starting one unit in the last place
 * aside gives 1.4336e-5 to 1.4397e-5 at h = 2^-11, which is printed as 1.44e-5.
 */
#include "integrators/gavrea.h"

typedef struct row {
  int exponent;                    /* h = 2^-exponent */
  double published_q, published_v; /* three digits */
  double q, v;                     /* with converged iterations; 0: not computed */
  int differs_q, differs_v;        /* the last digit does, see above */
} row;

static const row table_1[] = {
    {4, 7.72e-2, 7.46e-1, 4.1670e-02, 8.5690e-01, 0, 0},
    {5, 1.49e-2, 2.94e-2, 1.8051e-02, 1.3774e-02, 0, 0},
    {6, 4.48e-3, 1.10e-2, 4.5191e-03, 1.0275e-02, 0, 0},
    {7, 1.13e-3, 3.42e-3, 1.1283e-03, 3.3969e-03, 0, 0},
    {8, 2.82e-4, 9.02e-4, 2.8198e-04, 9.0139e-04, 0, 0},
    {9, 7.05e-5, 2.29e-4, 7.0490e-05, 2.2861e-04, 0, 0},
    {10, 1.76e-5, 5.73e-5, 1.7622e-05, 5.7356e-05, 0, 0},
    {11, 4.41e-6, 1.44e-5, 4.4055e-06, 1.4319e-05, 0, 0},
};

static const row table_2[] = {
    {4, 1.56e-1, 1.13e+0, 1.5537e-01, 1.1333e+00, 0, 0},
    {5, 6.21e-2, 7.38e-1, 6.1969e-02, 7.3864e-01, 0, 0},
    {6, 2.26e-2, 4.27e-1, 2.2576e-02, 4.2746e-01, 0, 0},
    {7, 8.19e-3, 2.31e-1, 8.1913e-03, 2.3082e-01, 0, 0},
    {8, 3.15e-3, 1.20e-1, 3.1512e-03, 1.2006e-01, 0, 0},
    {9, 1.31e-3, 6.12e-2, 1.3143e-03, 6.1242e-02, 0, 0},
    {10, 5.88e-4, 3.09e-2, 5.8842e-04, 3.0932e-02, 0, 0},
    {11, 2.77e-4, 1.55e-2, 2.7658e-04, 1.5544e-02, 0, 0},
};

static const row table_3[] = {
    {9, 7.76e-2, 1.59e-1, 3.0118e-02, 1.7047e-01, 0, 0},
    {10, 1.26e-2, 9.39e-2, 1.2579e-02, 9.3905e-02, 0, 0},
    {11, 5.85e-3, 4.82e-2, 5.8550e-03, 4.8208e-02, 1, 0},
    {12, 2.82e-3, 2.44e-2, 2.8251e-03, 2.4387e-02, 1, 0},
    {13, 1.39e-3, 1.23e-2, 0.0, 0.0, 0, 0},
    {14, 6.85e-4, 6.16e-3, 0.0, 0.0, 1, 1},
};

typedef struct problem {
  const pol_dae *dae;
  const double *q0, *v0, *q, *v;
  double end;
} problem;

/* Errors at the end with steps of 2^-exponent. */
static void run(const problem *p, const pol_options *options, int exponent, double *q, double *v)
{
  pol_integrator *integrator;
  double h = ldexp(1.0, -exponent);
  long steps = lround(p->end / h);
  assert_int_equal(pol_integrator_create(&integrator, p->dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, p->q0, p->v0, NULL), POL_OK);
  for (long n = 0; n < steps; n++) assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
  const pol_state *state = pol_integrator_state(integrator);
  *q = gavrea_distance(state->q, p->q, p->dae->group.nv);
  *v = gavrea_distance(state->v, p->v, p->dae->group.nv);
  if (options->published.exact_iterations)
    assert_int_equal(pol_integrator_counts(integrator)->newton_iterations,
                     steps * options->published.exact_iterations);
  pol_integrator_free(&integrator);
}

/* One unit of the third digit of x. */
static double last_digit(double x)
{
  return pow(10.0, floor(log10(x)) - 2.0);
}

/* The figure rounds to the printed one, or misses it by two more units. */
static void assert_printed(double found, double printed, int differs, double round_off,
                           int exponent)
{
  double units = (fabs(found - printed) - round_off) / last_digit(printed);
  if (differs ? units > 2.5 : units > 0.5 + 1e-9)
    fail_msg("h = 2^-%d: %.5e, printed %.2e", exponent, found, printed);
}

static void assert_value(double found, double value, double round_off, int exponent)
{
  if (!(fabs(found - value) <= 1e-4 * value + round_off))
    fail_msg("h = 2^-%d: %.5e instead of %.4e", exponent, found, value);
}

static void check_table(const problem *p, double gamma, double beta, int iterations,
                        const row *rows, int count)
{
  const double round_off = gamma == 0.5 ? 1e-7 : 0.0;
  pol_options options = pol_options_default();
  pol_options_set_newmark(&options, gamma, beta);
  options.start = POL_START_CLASSICAL;
  options.newton.kind = POL_NEWTON_FULL;
  for (int i = 0; i < count; i++) {
    const row *r = &rows[i];
    double q, v;
    options.published.exact_iterations = iterations;
    run(p, &options, r->exponent, &q, &v);
    assert_printed(q, r->published_q, r->differs_q, 0.0, r->exponent);
    assert_printed(v, r->published_v, r->differs_v, round_off, r->exponent);
    if (r->q == 0.0) continue;
    options.published.exact_iterations = 8; /* as many as any row needs */
    run(p, &options, r->exponent, &q, &v);
    assert_value(q, r->q, 0.0, r->exponent);
    assert_value(v, r->v, round_off, r->exponent);
  }
}

static void tables_1_and_2_to_all_digits(void **state)
{
  (void)state;
  truss pendulum;
  planar_init(&pendulum);
  const problem p = {&pendulum.dae, planar_q0, planar_v0, planar_q4, planar_v4, 4.0};
  check_table(&p, 0.5, 0.25, 1, table_1, sizeof table_1 / sizeof table_1[0]);
  check_table(&p, 0.75, 0.390625, 1, table_2, sizeof table_2 / sizeof table_2[0]);
}

static void table_3_but_for_the_reference(void **state)
{
  (void)state;
  double_pendulum pendulum;
  double_init(&pendulum);
  const problem p = {&pendulum.dae, double_q0, double_v0, double_q2, double_v2, 2.0};
  check_table(&p, 0.75, 0.390625, 3, table_3, sizeof table_3 / sizeof table_3[0]);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* Fixed steps over [0, 1] of the planar pendulum; the multiplier's order is irregular after a
 * classical start, so that only q and v are asked. */
static void the_orders_are_2_2_2_and_1(void **state)
{
  (void)state;
  truss pendulum;
  planar_init(&pendulum);
  const problem p = {&pendulum.dae, planar_q0, planar_v0, planar_q1, planar_v1, 1.0};
  for (int k = 0; k < 4; k++) {
    pol_options options = pol_options_default();
    options.start = POL_START_CLASSICAL;
    if (k == 0) pol_options_set_newmark(&options, 0.5, 0.25);
    if (k == 1) pol_options_set_hht(&options, -0.3);
    if (k == 2) pol_options_set_rho_inf(&options, 0.8);
    if (k == 3) pol_options_set_newmark(&options, 0.75, 0.390625);
    double q[2], v[2], order = k < 3 ? 2.0 : 1.0;
    for (int i = 0; i < 2; i++) run(&p, &options, 9 + i, &q[i], &v[i]);
    double in_q = log2(q[0] / q[1]), in_v = log2(v[0] / v[1]);
    if (!(fabs(in_q - order) <= 0.05 && fabs(in_v - order) <= 0.07))
      fail_msg("method %d: orders %.3f and %.3f instead of %g", k, in_q, in_v, order);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_1_and_2_to_all_digits),
      cmocka_unit_test(table_3_but_for_the_reference),
      cmocka_unit_test(the_orders_are_2_2_2_and_1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
