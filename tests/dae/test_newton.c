/* Newton's method on systems small enough to know what it should do. */
#include "toys.h"

#include "dae/newton.h"

enum { MAX_X = 3, MAX_TRACE = 200 };

/* A system of equations, its matrix, and a record of what Newton did with it. */
typedef struct problem problem;
struct problem {
  int nv, m;
  void (*residual)(const problem *p, const double *x, double *r);
  void (*matrix)(const problem *p, const double *x, double *W, double *B); /* by columns */
  double number;                                                           /* of the problem */
  double row_scale[MAX_X], multiplier_scale;                               /* units */
  double tolerance, tolerance_growth; /* of a correction: constant and share of |x| */
  pol_status residual_answer, matrix_answer;
  double allowed; /* |x_0| above which the residual asks for a smaller step; 0: none */

  double x[MAX_X]; /* of the last residual, in its own units */
  double trace[MAX_TRACE][MAX_X];
  int evaluations;

  pol_factor factor;
  pol_dae dae;
  poli_saddle *saddle;
  pol_counts counts;
  poli_newton *newton;
  poli_newton_system system;
  pol_diagnostics diagnostics;
};

static pol_status never(const pol_point *at, unsigned want, const pol_terms *out, double *scratch,
                        void *user)
{
  (void)at, (void)want, (void)out, (void)scratch, (void)user;
  return POL_CALLBACK;
}

static pol_status evaluate_residual(const double *x, double *r, void *user)
{
  problem *p = user;
  for (int i = 0; i < p->nv + p->m; i++) p->x[i] = i < p->nv ? x[i] : x[i] * p->multiplier_scale;
  assert_true(p->evaluations < MAX_TRACE);
  memcpy(p->trace[p->evaluations++], p->x, sizeof p->x);
  if (p->residual_answer) return p->residual_answer;
  if (p->allowed > 0.0 && fabs(p->x[0]) > p->allowed) return POL_RETRY;
  p->residual(p, p->x, r);
  for (int i = 0; i < p->nv + p->m; i++) r[i] *= p->row_scale[i];
  return POL_OK;
}

static pol_status evaluate_matrix(void *user)
{
  problem *p = user;
  double W[MAX_X * MAX_X] = {0.0}, B[MAX_X * MAX_X] = {0.0};
  if (p->matrix_answer) return p->matrix_answer;
  p->matrix(p, p->x, W, B);
  for (int j = 0; j < p->nv; j++) {
    for (int i = 0; i < p->nv; i++)
      p->saddle->values[pol_pattern_address(p->saddle->pattern, i, j)] =
          p->row_scale[i] * W[i + j * p->nv];
    for (int i = 0; i < p->m; i++) {
      const pol_pattern *S = p->saddle->pattern;
      double b = B[i + j * p->m];
      p->saddle->values[pol_pattern_address(S, p->nv + i, j)] = p->row_scale[p->nv + i] * b;
      p->saddle->values[pol_pattern_address(S, j, p->nv + i)] =
          p->row_scale[j] * b * p->multiplier_scale;
    }
  }
  return POL_OK;
}

static void give_tolerances(double tolerance[POLI_KINDS], void *user)
{
  const problem *p = user;
  tolerance[POLI_ROTATIONS] = 0.0;
  tolerance[POLI_TRANSLATIONS] =
      p->tolerance * (1.0 + p->tolerance_growth * toy_largest(p->x, p->nv));
}

static void give_no_round_off(double *round_off, void *user)
{
  (void)user;
  round_off[POLI_ROTATIONS] = round_off[POLI_TRANSLATIONS] = 0.0;
}

static pol_newton_options newton_options(pol_newton_kind kind, int max_iterations, int line_search)
{
  return (pol_newton_options){.kind = kind,
                              .tolerance = 1e-9,
                              .max_iterations = max_iterations,
                              .refresh = 0.5,
                              .line_search = line_search};
}

/* Completes a problem whose functions, sizes and numbers are set. */
static void problem_start(problem *p, const pol_newton_options *options)
{
  p->factor = (pol_factor){.kind = POL_REAL, .dim = p->nv};
  p->dae = (pol_dae){.num_holonomic = p->m, .evaluate = never};
  assert_int_equal(pol_group_layout(&p->dae.group, &p->factor, 1), POL_OK);
  for (int i = 0; i < MAX_X; i++)
    if (p->row_scale[i] == 0.0) p->row_scale[i] = 1.0;
  if (p->multiplier_scale == 0.0) p->multiplier_scale = 1.0;
  p->system = (poli_newton_system){.residual = evaluate_residual,
                                   .matrix = evaluate_matrix,
                                   .tolerances = give_tolerances,
                                   .round_off = give_no_round_off,
                                   .user = p};
  p->diagnostics = (pol_diagnostics){.equation = -1};
  assert_int_equal(poli_saddle_create(&p->saddle, &p->dae, 0, POL_SOLVER_DENSE), POL_OK);
  assert_int_equal(poli_newton_create(&p->newton, &p->dae, p->saddle, options, &p->counts), POL_OK);
}

static pol_status problem_solve(problem *p, double *x)
{
  p->evaluations = 0;
  return poli_newton_solve(p->newton, &p->system, x, &p->diagnostics);
}

static void problem_end(problem *p)
{
  poli_newton_free(&p->newton);
  assert_null(p->newton);
  poli_newton_free(&p->newton);
  poli_saddle_free(&p->saddle);
}

/* --- the problems ----------------------------------------------------------------------------- */

/* Equilibrium of a particle with springs on the unit circle: W = second derivatives, B = (x, y). */
static void circle_residual(const problem *p, const double *x, double *r)
{
  (void)p;
  r[0] = x[0] + 0.3 * x[0] * x[0] * x[0] - 1.0 + x[0] * x[2];
  r[1] = 2.0 * x[1] + sin(x[1]) - 0.5 + x[1] * x[2];
  r[2] = 0.5 * (x[0] * x[0] + x[1] * x[1] - 1.0);
}

static void circle_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p;
  W[0] = 1.0 + 0.9 * x[0] * x[0] + x[2];
  W[3] = 2.0 + cos(x[1]) + x[2];
  B[0] = x[0];
  B[1] = x[1];
}

static problem circle(void)
{
  return (problem){
      .nv = 2, .m = 1, .residual = circle_residual, .matrix = circle_matrix, .tolerance = 1e-10};
}

/* number * x = 1, with the matrix of the number at hand when it is asked for. */
static void line_residual(const problem *p, const double *x, double *r)
{
  r[0] = p->number * x[0] - 1.0;
}

static void line_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)x, (void)B;
  W[0] = p->number;
}

static problem line(void)
{
  return (problem){
      .nv = 1, .residual = line_residual, .matrix = line_matrix, .number = 1.0, .tolerance = 1e-10};
}

/* atan(x) = 0: plain Newton runs away from |x| > 1.39. */
static void atan_residual(const problem *p, const double *x, double *r)
{
  (void)p;
  r[0] = atan(x[0]);
}

static void atan_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p, (void)B;
  W[0] = 1.0 / (1.0 + x[0] * x[0]);
}

static problem arctangent(void)
{
  return (problem){.nv = 1, .residual = atan_residual, .matrix = atan_matrix, .tolerance = 1e-12};
}

/* x_0 = 1 at once, x_1^3 = 0 slowly. */
static void cube_residual(const problem *p, const double *x, double *r)
{
  (void)p;
  r[0] = x[0] - 1.0;
  r[1] = x[1] * x[1] * x[1];
}

static void cube_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p, (void)B;
  W[0] = 1.0;
  W[3] = 3.0 * x[1] * x[1];
}

static problem cube(void)
{
  return (problem){.nv = 2, .residual = cube_residual, .matrix = cube_matrix, .tolerance = 1e-12};
}

/* --- convergence ------------------------------------------------------------------------------ */

static void test_quadratic(void **state)
{
  (void)state;
  problem p = circle();
  pol_newton_options options = newton_options(POL_NEWTON_FULL, 20, 0);
  double x[3] = {0.9, 0.6, 0.0}, error[MAX_TRACE] = {0.0};
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_OK);
  int count = p.evaluations;
  assert_memory_equal(p.trace[count - 1], x, sizeof x); /* the last residual was at the solution */
  assert_int_equal(p.counts.newton_iterations, count - 1);
  assert_int_equal(p.counts.residuals, count);
  assert_int_equal(p.counts.jacobians, count - 1);
  assert_int_equal(p.counts.factorizations, count - 1);
  assert_in_range(count - 1, 3, 5);

  double r[3];
  circle_residual(&p, x, r);
  assert_true(toy_largest(r, 3) <= 1e-15);
  for (int k = 0; k < count; k++) {
    double d[3] = {p.trace[k][0] - x[0], p.trace[k][1] - x[1], p.trace[k][2] - x[2]};
    error[k] = toy_largest(d, 3);
  }
  assert_true(error[0] > 0.1);
  for (int k = 0; k + 1 < count; k++)
    assert_true(error[k + 1] <= 2.0 * error[k] * error[k] + 4.0 * DBL_EPSILON);
  problem_end(&p);
}

/* The same in other units takes the same iterations to the same solution. */
static void test_units(void **state)
{
  (void)state;
  static const pol_newton_kind kinds[2] = {POL_NEWTON_FULL, POL_NEWTON_MODIFIED};
  for (int k = 0; k < 2; k++) {
    pol_newton_options options = newton_options(kinds[k], 30, 8);
    problem p = circle(), other = circle();
    double x[3] = {0.8, 0.9, 0.3}, y[3] = {0.8, 0.9, 0.3 * 1e6};
    other.multiplier_scale = 1e-6;
    other.row_scale[0] = other.row_scale[1] = other.row_scale[2] = 1e6;
    if (k) other.row_scale[2] = 1e-6;
    problem_start(&p, &options);
    problem_start(&other, &options);
    assert_int_equal(problem_solve(&p, x), POL_OK);
    assert_int_equal(problem_solve(&other, y), POL_OK);
    assert_true(p.counts.newton_iterations > 2);
    assert_int_equal(p.counts.newton_iterations, other.counts.newton_iterations);
    assert_int_equal(p.counts.residuals, other.counts.residuals);
    assert_int_equal(p.counts.jacobians, other.counts.jacobians);
    assert_true(fabs(p.diagnostics.residual - other.diagnostics.residual) <=
                1e-3 + 1e-6 * p.diagnostics.residual);
    for (int i = 0; i < 3; i++) assert_true(fabs(p.x[i] - other.x[i]) <= 1e-10);
    problem_end(&p);
    problem_end(&other);
  }
}

/* An already solved system costs one iteration and stays. */
static void test_solved(void **state)
{
  (void)state;
  problem p = line();
  pol_newton_options options = newton_options(POL_NEWTON_FULL, 1, 0);
  double x[1] = {1.0};
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_OK);
  assert_true(x[0] == 1.0);
  assert_int_equal(p.counts.newton_iterations, 1);
  problem_end(&p);
}

/* --- the kept matrix -------------------------------------------------------------------------- */

/* With matrix 1 the iteration for `number` contracts by |1 - number|: the matrix is kept up to 0.5,
 * unless the solution is still so far away that keeping it costs more than a new one. */
static void test_modified(void **state)
{
  (void)state;
  static const struct {
    double number, tolerance;
    int jacobians; /* new ones */
  } cases[] = {{1.0, 0.1, 0},    {1.1, 0.1, 0},  {0.9, 0.1, 0}, {1.45, 0.1, 0}, {0.55, 0.1, 0},
               {1.55, 0.1, 1},   {0.45, 0.1, 1}, {1.9, 0.1, 1}, {1.0, 1e-9, 0}, {1.001, 1e-9, 0},
               {0.999, 1e-9, 0}, {1.4, 1e-9, 1}, {0.6, 1e-9, 1}};
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 60, 0);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    problem p = line();
    double x[1] = {0.0};
    p.tolerance = cases[k].tolerance;
    problem_start(&p, &options);
    assert_int_equal(problem_solve(&p, x), POL_OK);
    assert_int_equal(p.counts.jacobians, 1);

    p.number = cases[k].number;
    x[0] = 0.0;
    assert_int_equal(problem_solve(&p, x), POL_OK);
    assert_int_equal(p.counts.jacobians, 1 + cases[k].jacobians);
    assert_int_equal(p.counts.factorizations, p.counts.jacobians);
    assert_true(fabs(x[0] - 1.0 / p.number) <= 2.0 * p.tolerance);
    problem_end(&p);
  }
}

/* The other kinds evaluate it each time; a reset makes the modified one do so once. */
static void test_matrix_each_time(void **state)
{
  (void)state;
  static const pol_newton_kind kinds[2] = {POL_NEWTON_FULL, POL_NEWTON_SIMPLIFIED};
  for (int k = 0; k < 2; k++) {
    problem p = circle();
    pol_newton_options options = newton_options(kinds[k], 20, 0);
    double x[3] = {0.9, 0.6, 0.0};
    problem_start(&p, &options);
    assert_int_equal(problem_solve(&p, x), POL_OK);
    assert_int_equal(p.counts.jacobians, p.counts.newton_iterations);
    problem_end(&p);
  }
  problem p = line();
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 20, 0);
  double x[1] = {0.0};
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_OK);
  poli_newton_reset(p.newton);
  x[0] = 0.0;
  assert_int_equal(problem_solve(&p, x), POL_OK);
  assert_int_equal(p.counts.jacobians, 2);
  problem_end(&p);
}

/* Round-off does not contract: a solution good enough at once keeps the matrix. */
static void test_round_off_keeps_matrix(void **state)
{
  (void)state;
  problem p = circle();
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 60, 8);
  double x[3] = {0.9, 0.6, 0.0};
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_OK);
  poli_newton_reset(p.newton);
  assert_int_equal(problem_solve(&p, x), POL_OK);
  long jacobians = p.counts.jacobians;
  for (int k = 0; k < 20; k++) {
    x[k % 3] *= 1.0 + DBL_EPSILON;
    assert_int_equal(problem_solve(&p, x), POL_OK);
  }
  assert_int_equal(p.counts.jacobians, jacobians);
  problem_end(&p);
}

/* An old matrix that leads uphill, or out of the model's domain, is replaced, not blamed. */
static void test_old_matrix(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    problem p = line();
    pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 20, 8);
    double x[1] = {0.0};
    problem_start(&p, &options);
    p.number = 0.1;
    assert_int_equal(problem_solve(&p, x), POL_OK);
    p.number = 5.0; /* the old matrix overshoots fifty times, to 10 */
    p.allowed = k ? 2.0 : 0.0;
    x[0] = 0.0;
    assert_int_equal(problem_solve(&p, x), POL_OK);
    assert_true(fabs(x[0] - 0.2) <= 1e-10);
    assert_int_equal(p.counts.jacobians, 2);
    problem_end(&p);
  }
}

/* --- the last correction ---------------------------------------------------------------------- */

static pol_status place(const double *x, void *user)
{
  problem *p = user;
  for (int i = 0; i < p->nv; i++) p->x[i] = x[i];
  return POL_OK;
}

/* An old matrix leaves up to what is accepted, always on the same side.  A last correction without
 * an evaluation leaves a hundredth of it at most; the system is placed at the solution. */
static void test_last_correction(void **state)
{
  (void)state;
  for (int k = 1; k <= 4; k++) {
    double error[2];
    int evaluations[2];
    for (int placed = 0; placed < 2; placed++) {
      problem p = line();
      pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 30, 8);
      double x[1] = {0.0};
      problem_start(&p, &options);
      if (placed) p.system.place = place;
      assert_int_equal(problem_solve(&p, x), POL_OK);
      p.number = 1.0 + 0.1 * k; /* the error falls to k/10 in an iteration */
      x[0] = 1.0 / p.number + 3e-9;
      assert_int_equal(problem_solve(&p, x), POL_OK);
      assert_true(p.x[0] == x[0]);
      assert_int_equal(p.counts.jacobians, 1);
      error[placed] = fabs(x[0] - 1.0 / p.number);
      evaluations[placed] = p.evaluations;
      problem_end(&p);
    }
    if (!(error[1] <= 1.01e-12 && error[0] > 5.0 * error[1] &&
          evaluations[1] <= evaluations[0] + 4))
      fail_msg("rate 0.%d: errors %.3g, %.3g, evaluations %d, %d", k, error[0], error[1],
               evaluations[0], evaluations[1]);
  }
}

/* e_{k+1} = N e_k with N = (0 5; 0 0.45): the second correction is small by luck. */
static void lucky_residual(const problem *p, const double *x, double *r)
{
  (void)p;
  r[0] = x[0] - 5.0 * x[1];
  r[1] = 0.55 * x[1];
}

static void lucky_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p, (void)x, (void)B;
  W[0] = W[3] = 1.0;
}

static void test_lucky_correction(void **state)
{
  (void)state;
  static const double weight[2] = {1.0, 1.0};
  problem p = {.nv = 2, .residual = lucky_residual, .matrix = lucky_matrix, .tolerance = 1e-12};
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 30, 8);
  double x[2] = {1.0, 1e-3};
  problem_start(&p, &options);
  p.system.place = place;
  p.newton->goal = (poli_newton_goal){.weight = weight, .scale = 1.0, .share = 2e-4};
  assert_int_equal(problem_solve(&p, x), POL_OK);
  const double left = sqrt(0.5 * (x[0] * x[0] + x[1] * x[1])); /* the norm of the goal */
  if (!(left <= 2e-4)) fail_msg("%.3g is left", left);
  assert_true(p.x[0] == x[0] && p.x[1] == x[1]);
  problem_end(&p);
}

/* Where x_0 is small the slope of x_1 has another sign: the matrix of the first iterate leads away
 * from the solution, and no share of its correction helps.  That of the second iterate does. */
static void turning_residual(const problem *p, const double *x, double *r)
{
  (void)p;
  r[0] = x[0];
  r[1] = x[0] > 0.5 ? x[1] : 0.4 - x[1];
}

static void turning_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p, (void)B;
  W[0] = 1.0;
  W[3] = x[0] > 0.5 ? 1.0 : -1.0;
}

static void test_matrix_of_this_step(void **state)
{
  (void)state;
  problem p = {.nv = 2, .residual = turning_residual, .matrix = turning_matrix, .tolerance = 1e-12};
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 30, 8);
  static const double weight[2] = {1.0, 1.0};
  double x[2] = {1.0, 0.3};
  problem_start(&p, &options);
  p.newton->goal = (poli_newton_goal){.weight = weight, .scale = 1.0, .share = 1e-6};
  assert_int_equal(problem_solve(&p, x), POL_OK);
  assert_true(fabs(x[0]) <= 1e-12 && fabs(x[1] - 0.4) <= 1e-12);
  assert_int_equal(p.counts.jacobians, 2);
  problem_end(&p);
}

/* A matrix whose steps need more and more iterations is given up where that costs more than a new
 * one, also if each step by itself converges. */
static void test_costly_matrix(void **state)
{
  (void)state;
  problem p = line();
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 30, 8);
  double x[1] = {0.0};
  problem_start(&p, &options);
  for (int n = 0; n < 200; n++) {
    p.number = 1.0 + 0.002 * n;
    x[0] = 1.0 / p.number + 3e-9;
    assert_int_equal(problem_solve(&p, x), POL_OK);
  }
  const pol_counts *counts = &p.counts;
  if (!(counts->jacobians >= 4 && counts->jacobians <= 40 && counts->newton_iterations < 580))
    fail_msg("%ld matrices, %ld iterations", counts->jacobians, counts->newton_iterations);
  problem_end(&p);
}

/* --- line search ------------------------------------------------------------------------------ */

/* From 10 plain Newton runs away; half steps find the way back.  Also with tolerances that grow
 * with the iterate, as those of an integrator do. */
static void test_line_search(void **state)
{
  (void)state;
  static const pol_newton_kind kinds[2] = {POL_NEWTON_FULL, POL_NEWTON_MODIFIED};
  for (int k = 0; k < 2; k++)
    for (int growing = 0; growing < 2; growing++) {
      problem p = arctangent();
      pol_newton_options without = newton_options(kinds[k], 40, 0);
      double x[1] = {10.0};
      p.tolerance_growth = growing ? 1.0 : 0.0;
      problem_start(&p, &without);
      assert_in_range(problem_solve(&p, x), POL_NOT_CONVERGED, POL_NOT_FINITE);
      problem_end(&p);

      p = arctangent();
      pol_newton_options with = newton_options(kinds[k], 40, 8);
      p.tolerance_growth = growing ? 1.0 : 0.0;
      x[0] = 10.0;
      problem_start(&p, &with);
      assert_int_equal(problem_solve(&p, x), POL_OK);
      assert_true(fabs(x[0]) <= 1e-11);
      problem_end(&p);
    }
}

/* Where the model requested a smaller step, a share of the step is tried. */
static void test_domain(void **state)
{
  (void)state;
  problem p = arctangent();
  pol_newton_options options = newton_options(POL_NEWTON_FULL, 40, 8);
  double x[1] = {2.0}; /* the full step would go to -3.54 */
  p.allowed = 2.0;
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_OK);
  assert_int_equal(p.diagnostics.status, POL_OK); /* nothing failed in the end */
  assert_string_equal(p.diagnostics.message, "");
  assert_true(p.counts.residuals > p.counts.newton_iterations + 1);
  assert_true(fabs(x[0]) <= 1e-11);
  problem_end(&p);
}

/* --- failures --------------------------------------------------------------------------------- */

static void zero_row_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p, (void)x;
  W[0] = W[3] = 1.0;
  B[0] = B[1] = 0.0;
}

static void zero_column_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p, (void)x;
  W[0] = B[0] = 1.0;
}

static void test_singular(void **state)
{
  (void)state;
  static const char *names[2] = {"constraint 1", "balance equation 2"};
  for (int k = 0; k < 2; k++) {
    problem p = circle();
    pol_newton_options options = newton_options(POL_NEWTON_FULL, 20, 8);
    double x[3] = {0.9, 0.6, 0.0};
    p.matrix = k ? zero_column_matrix : zero_row_matrix;
    problem_start(&p, &options);
    assert_int_equal(problem_solve(&p, x), POL_SINGULAR);
    assert_int_equal(p.diagnostics.status, POL_SINGULAR);
    assert_int_equal(p.diagnostics.equation, k ? 1 : 2);
    assert_string_equal(p.diagnostics.where, names[k]);
    assert_string_equal(p.diagnostics.message, "the Newton matrix is singular");
    assert_true(p.diagnostics.advice[0] != '\0');
    problem_end(&p);
  }
}

static void test_answers_are_passed_on(void **state)
{
  (void)state;
  static const pol_status answers[2] = {POL_RETRY, POL_CALLBACK};
  for (int k = 0; k < 4; k++) {
    problem p = circle();
    pol_newton_options options = newton_options(POL_NEWTON_FULL, 20, k % 2 ? 8 : 0);
    double x[3] = {0.9, 0.6, 0.0};
    pol_status answer = answers[k % 2];
    if (k < 2)
      p.residual_answer = answer;
    else
      p.matrix_answer = answer;
    problem_start(&p, &options);
    assert_int_equal(problem_solve(&p, x), answer);
    assert_int_equal(p.diagnostics.status, answer);
    assert_int_equal(p.diagnostics.equation, -1);
    assert_string_equal(p.diagnostics.where, "");
    assert_string_equal(p.diagnostics.message, k < 2 ? "the model could not be evaluated"
                                                     : "the matrix could not be evaluated");
    assert_true(x[0] == 0.9 && x[1] == 0.6 && x[2] == 0.0);
    problem_end(&p);
  }
}

static void not_finite_residual(const problem *p, const double *x, double *r)
{
  (void)x;
  r[0] = r[1] = r[2] = 0.0;
  r[(int)p->number % 3] = p->number < 3.0 ? (double)NAN : (double)INFINITY;
}

static void not_finite_matrix(const problem *p, const double *x, double *W, double *B)
{
  (void)p, (void)x;
  W[0] = W[3] = B[0] = B[1] = 1.0;
  W[0] = (double)NAN;
}

/* A single row that is not finite, in any place, is never taken for solved. */
static void test_not_finite(void **state)
{
  (void)state;
  static const char *names[3] = {"balance equation 1", "balance equation 2", "constraint 1"};
  for (int line_search = 0; line_search < 9; line_search += 8)
    for (int k = 0; k < 6; k++) {
      problem p = circle();
      pol_newton_options options = newton_options(POL_NEWTON_FULL, 20, line_search);
      double x[3] = {0.9, 0.6, 0.0};
      p.residual = not_finite_residual;
      p.number = k;
      problem_start(&p, &options);
      assert_int_equal(problem_solve(&p, x), POL_NOT_FINITE);
      assert_string_equal(p.diagnostics.where, names[k % 3]);
      problem_end(&p);
    }
  problem p = circle();
  pol_newton_options options = newton_options(POL_NEWTON_FULL, 20, 8);
  double x[3] = {0.9, 0.6, 0.0};
  p.matrix = not_finite_matrix;
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_NOT_FINITE);
  problem_end(&p);
}

static void test_iteration_limit(void **state)
{
  (void)state;
  problem p = cube();
  pol_newton_options options = newton_options(POL_NEWTON_FULL, 5, 8);
  double x[2] = {0.0, 1.0};
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_NOT_CONVERGED);
  assert_int_equal(p.diagnostics.iteration, 5);
  assert_int_equal(p.counts.newton_iterations, 5);
  assert_int_equal(p.diagnostics.equation, 1);
  assert_string_equal(p.diagnostics.where, "balance equation 2");
  assert_string_equal(p.diagnostics.message, "the Newton iteration did not converge");
  assert_string_equal(p.diagnostics.advice, "take a smaller step");
  assert_true(p.diagnostics.residual > 1.0);
  problem_end(&p);
}

/* Tries many starts: success always means a residual that a correction at the tolerance explains,
 * and a next correction within it. */
static void test_success_is_success(void **state)
{
  (void)state;
  static const pol_newton_kind kinds[2] = {POL_NEWTON_FULL, POL_NEWTON_MODIFIED};
  int solved = 0, failed = 0;
  uint64_t seed = 1;
  for (int k = 0; k < 400; k++) {
    problem p = circle();
    pol_newton_options options = newton_options(kinds[k % 2], 2 + k % 13, k % 3 ? 8 : 0);
    double x[3], r[3], W[4] = {0.0}, B[2], next[3];
    for (int i = 0; i < 3; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      x[i] = 3.0 * ((double)(seed >> 11) * 0x1p-53 - 0.5);
    }
    p.tolerance = pow(10.0, -2 - k % 10);
    problem_start(&p, &options);
    pol_status status = problem_solve(&p, x);
    if (status == POL_OK) {
      circle_residual(&p, x, r);
      circle_matrix(&p, x, W, B);
      double accepted[3] = {fabs(W[0]), fabs(W[3]), fabs(B[0]) + fabs(B[1])};
      /* the norm is that of the last matrix: allow for its age */
      for (int i = 0; i < 3; i++)
        assert_true(fabs(r[i]) <= 1.5 * p.tolerance * accepted[i] + p.tolerance * p.tolerance);
      p.newton->has_matrix = 0;
      p.newton->options = newton_options(POL_NEWTON_FULL, 1, 0);
      memcpy(next, x, sizeof next);
      problem_solve(&p, next);
      for (int i = 0; i < 2; i++) assert_true(fabs(next[i] - x[i]) <= 2.0 * p.tolerance);
      solved++;
    } else {
      failed++;
    }
    problem_end(&p);
  }
  assert_true(solved > 100 && failed > 50);
}

/* After a failure the old matrix is not used again. */
static void test_failure_forgets_matrix(void **state)
{
  (void)state;
  problem p = line();
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 20, 8);
  double x[1] = {0.0};
  problem_start(&p, &options);
  assert_int_equal(problem_solve(&p, x), POL_OK);
  p.residual_answer = POL_RETRY;
  assert_int_equal(problem_solve(&p, x), POL_RETRY);
  p.residual_answer = POL_OK;
  assert_int_equal(problem_solve(&p, x), POL_OK);
  assert_int_equal(p.counts.jacobians, 2);
  problem_end(&p);
}

/* Largest number of residual and correction. */
static double plain_size(const double *r, const double *dx, void *user)
{
  const problem *p = user;
  return fmax(toy_largest(r, p->nv + p->m), toy_largest(dx, p->nv + p->m));
}

static pol_status problem_solve_plain(problem *p, double *x)
{
  const pol_published published = {.newton = POL_PUBLISHED_NEWTON_PLAIN};
  p->evaluations = 0;
  return poli_newton_solve_published(p->newton, &published, &p->system,
                                     &(poli_published_rule){.size = plain_size}, x,
                                     &p->diagnostics);
}

/* The plain iteration tests the residual before a correction: one correction more than needed for
 * the residual alone, and no line search. */
static void test_plain(void **state)
{
  (void)state;
  problem p = circle();
  pol_newton_options options = newton_options(POL_NEWTON_MODIFIED, 20, 8);
  double x[3] = {0.9, 0.6, 0.0}, r[3], last[3];
  options.tolerance = 1e-6;
  problem_start(&p, &options);
  assert_int_equal(problem_solve_plain(&p, x), POL_OK);
  int count = p.evaluations;
  assert_memory_equal(p.trace[count - 1], x, sizeof x); /* the last residual was at the solution */
  assert_int_equal(p.counts.newton_iterations, count - 1);
  assert_int_equal(p.counts.jacobians, count - 1);
  circle_residual(&p, p.trace[count - 2], r);
  assert_true(toy_largest(r, 3) <= 1e-6);
  circle_residual(&p, x, last);
  assert_true(toy_largest(last, 3) <= 1e-12);
  problem_end(&p);

  p = circle();
  options.max_iterations = 2;
  problem_start(&p, &options);
  memcpy(x, (double[3]){0.9, 0.6, 0.0}, sizeof x);
  assert_int_equal(problem_solve_plain(&p, x), POL_NOT_CONVERGED);
  assert_int_equal(p.diagnostics.iteration, 2);
  assert_string_equal(p.diagnostics.message, "the Newton iteration did not converge");
  problem_end(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quadratic),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_solved),
      cmocka_unit_test(test_modified),
      cmocka_unit_test(test_matrix_each_time),
      cmocka_unit_test(test_round_off_keeps_matrix),
      cmocka_unit_test(test_old_matrix),
      cmocka_unit_test(test_last_correction),
      cmocka_unit_test(test_lucky_correction),
      cmocka_unit_test(test_matrix_of_this_step),
      cmocka_unit_test(test_costly_matrix),
      cmocka_unit_test(test_line_search),
      cmocka_unit_test(test_domain),
      cmocka_unit_test(test_singular),
      cmocka_unit_test(test_answers_are_passed_on),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_iteration_limit),
      cmocka_unit_test(test_success_is_success),
      cmocka_unit_test(test_failure_forgets_matrix),
      cmocka_unit_test(test_plain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
