/* Newton's method with a cheap matrix that has no pattern, as the integrators by rows have: when
 * the matrix is renewed within a step, and what a residual that is not a number does. */
#include "toys.h"

#include "dae/newton.h"

/* f(x) = 0 for one number, with the slope where the matrix was asked for last. */
typedef struct scalar {
  double (*f)(double x, double number);
  double (*slope)(double x, double number);
  double number;
  double x, matrix; /* of the last residual */
  pol_factor factor;
  pol_dae dae;
  pol_counts counts;
  poli_newton_operations operations;
  poli_newton_system system;
  poli_newton *newton;
  pol_diagnostics diagnostics;
} scalar;

static const double tolerance = 1e-8;

static pol_status never(const pol_point *at, unsigned want, const pol_terms *out, double *scratch,
                        void *user)
{
  (void)at, (void)want, (void)out, (void)scratch, (void)user;
  return POL_CALLBACK;
}

static pol_status place(const double *x, void *user)
{
  ((scalar *)user)->x = x[0];
  return POL_OK;
}

static pol_status evaluate(const double *x, double *r, void *user)
{
  const scalar *p = user;
  r[0] = p->f(x[0], p->number);
  return place(x, user);
}

static pol_status set_matrix(void *user)
{
  scalar *p = user;
  p->matrix = p->slope(p->x, p->number);
  return POL_OK;
}

static void give_tolerances(double *to, void *user)
{
  (void)user;
  to[POLI_ROTATIONS] = to[POLI_TRANSLATIONS] = tolerance;
}

static void give_round_off(double *to, void *user)
{
  (void)user;
  to[POLI_ROTATIONS] = to[POLI_TRANSLATIONS] = 1e-16;
}

static pol_status factorise(int *row, void *user)
{
  const scalar *p = user;
  *row = 0;
  return p->matrix == 0.0 ? POL_SINGULAR : POL_OK;
}

static void solve(const double *r, double *x, void *user)
{
  x[0] = -r[0] / ((const scalar *)user)->matrix;
}

static void add_row_sizes(double *size, void *user)
{
  size[POLI_TRANSLATIONS] += fabs(((const scalar *)user)->matrix);
}

static void add_multipliers(const double *x, double *sum, void *user)
{
  (void)x, (void)sum, (void)user;
}

/* Completes a problem whose functions are set; the matrix costs so many iterations. */
static void start(scalar *p, double cost)
{
  const pol_newton_options options = {.kind = POL_NEWTON_MODIFIED,
                                      .tolerance = tolerance,
                                      .max_iterations = 30,
                                      .refresh = 0.5,
                                      .line_search = 8};
  p->factor = (pol_factor){.kind = POL_REAL, .dim = 1};
  p->dae = (pol_dae){.evaluate = never};
  assert_int_equal(pol_group_layout(&p->dae.group, &p->factor, 1), POL_OK);
  p->operations = (poli_newton_operations){factorise, solve, add_row_sizes, add_multipliers, p};
  p->system = (poli_newton_system){.residual = evaluate,
                                   .place = place,
                                   .matrix = set_matrix,
                                   .tolerances = give_tolerances,
                                   .round_off = give_round_off,
                                   .user = p};
  p->diagnostics = (pol_diagnostics){.equation = -1};
  const poli_newton_matrix matrix = {
      .n = 1, .num_increments = 1, .operations = &p->operations, .cost = cost};
  assert_int_equal(poli_newton_create_for(&p->newton, &p->dae, &matrix, &options, &p->counts),
                   POL_OK);
}

static double line(double x, double number)
{
  return number * x - 1.0;
}

static double line_slope(double x, double number)
{
  (void)x;
  return number;
}

/* With the matrix of the step before, the error falls to 0.3 of itself per correction: six would be
 * needed from 20 tolerances.  A matrix that costs as much as one or two is renewed after the first,
 * an expensive one is kept. */
static void slow_matrices_are_renewed_where_they_are_cheap(void **state)
{
  (void)state;
  for (int cheap = 0; cheap < 2; cheap++) {
    scalar p = {.f = line, .slope = line_slope, .number = 1.0};
    double x[1] = {1.0 + 20.0 * tolerance};
    start(&p, cheap ? 1.2 : 0.0);
    assert_int_equal(poli_newton_solve(p.newton, &p.system, x, &p.diagnostics), POL_OK);
    assert_true(p.newton->has_matrix);
    const pol_counts before = p.counts;
    p.number = 0.7;
    x[0] = 1.0 / 0.7 + 20.0 * tolerance;
    assert_int_equal(poli_newton_solve(p.newton, &p.system, x, &p.diagnostics), POL_OK);
    const long corrections = p.counts.newton_iterations - before.newton_iterations;
    assert_int_equal(p.counts.jacobians - before.jacobians, cheap);
    if (cheap ? corrections != 2 : corrections < 5) fail_msg("%ld corrections", corrections);
    assert_true(fabs(x[0] - 1.0 / 0.7) <= 0.01 * tolerance);
    poli_newton_free(&p.newton);
  }
}

static double parabola(double x, double number)
{
  (void)number;
  return x + x * x;
}

static double parabola_slope(double x, double number)
{
  (void)number;
  return 1.0 + 2.0 * x;
}

/* First guesses so bad that their matrix is renewed in every step tell nothing about the rate that
 * it has near the solution, which a later step relies on. */
static void bad_guesses_promise_no_fast_matrix(void **state)
{
  (void)state;
  scalar p = {.f = parabola, .slope = parabola_slope};
  start(&p, 1.2);
  const double assumed = p.newton->fresh_rate;
  for (int n = 0; n < 50; n++) {
    double x[1] = {0.5}; /* the first correction leaves 0.19 of the residual */
    p.newton->has_matrix = 0;
    assert_int_equal(poli_newton_solve(p.newton, &p.system, x, &p.diagnostics), POL_OK);
    assert_true(fabs(x[0]) <= 0.03 * tolerance);
  }
  assert_true(p.counts.jacobians >= 100);
  if (!(p.newton->fresh_rate >= assumed)) fail_msg("%g is expected", p.newton->fresh_rate);
  poli_newton_free(&p.newton);
}

static double logarithm(double x, double number)
{
  (void)number;
  return log(x);
}

static double logarithm_slope(double x, double number)
{
  (void)number;
  return 1.0 / x;
}

/* From 3 the full correction leads to log(-0.3): a share of it is tried. */
static void search_goes_round_what_is_not_a_number(void **state)
{
  (void)state;
  scalar p = {.f = logarithm, .slope = logarithm_slope};
  double x[1] = {3.0};
  start(&p, 1.2);
  assert_int_equal(poli_newton_solve(p.newton, &p.system, x, &p.diagnostics), POL_OK);
  assert_true(fabs(x[0] - 1.0) <= 0.03 * tolerance);
  poli_newton_free(&p.newton);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slow_matrices_are_renewed_where_they_are_cheap),
      cmocka_unit_test(bad_guesses_promise_no_fast_matrix),
      cmocka_unit_test(search_goes_round_what_is_not_a_number)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
