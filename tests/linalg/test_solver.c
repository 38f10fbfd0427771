/* Both backends: known solutions, refactorisation, scaling, values that are not finite, and the
 * automatic choice. */
#include "matrices.h"

static const pol_solver_kind kinds[2] = {POL_SOLVER_DENSE, POL_SOLVER_SPARSE};

static pol_solver *make_solver(const pol_pattern *pattern, pol_solver_kind kind)
{
  pol_solver *solver;
  assert_int_equal(pol_solver_create(&solver, pattern, kind), POL_OK);
  return solver;
}

static double *random_vector(int n, uint64_t *seed)
{
  double *x = make_array((size_t)n, sizeof *x);
  for (int i = 0; i < n; i++) x[i] = random_number(seed);
  return x;
}

/* Solves with the solver's last factorisation for a known solution: the residual must be that of a
 * stable method, and the solution near the known one. */
static void check_solution_within(pol_solver *solver, const pol_pattern *pattern,
                                  const double *values, uint64_t *seed, double backward,
                                  double tolerance)
{
  int n = pattern->rows;
  double *known = random_vector(n, seed);
  double *b = make_array((size_t)n, sizeof *b);
  double *x = make_array((size_t)n, sizeof *x);
  pol_matrix_multiply(pattern, values, 1.0, known, b);
  for (int i = 0; i < n; i++) x[i] = b[i];
  pol_solver_solve(solver, x);
  assert_true(backward_error(pattern, values, x, b) < backward);
  for (int i = 0; i < n; i++) assert_true(fabs(x[i] - known[i]) <= tolerance);
  free(known);
  free(b);
  free(x);
}

static void check_solution(pol_solver *solver, const pol_pattern *pattern, const double *values,
                           uint64_t *seed)
{
  check_solution_within(solver, pattern, values, seed, 1e-13, 1e-10);
}

static void test_known_solutions(void **state)
{
  (void)state;
  static const int bodies[] = {1, 2, 3, 5, 6, 8, 15};
  uint64_t seed = 1;
  for (int k = 0; k < 2; k++) {
    for (size_t s = 0; s < sizeof bodies / sizeof *bodies; s++) {
      for (int rows = 1; rows <= 5; rows += 2) {
        pol_pattern *pattern = chain_pattern(bodies[s], rows);
        pol_solver *solver = make_solver(pattern, kinds[k]);
        double *values = random_values(pattern, &seed);
        assert_int_equal(pol_solver_backend(solver), kinds[k]);
        assert_int_equal(pol_solver_factor(solver, values), POL_OK);
        assert_int_equal(pol_solver_singular_column(solver), -1);
        check_solution(solver, pattern, values, &seed);
        check_solution(solver, pattern, values, &seed);
        free(values);
        pol_solver_free(&solver);
        assert_null(solver);
        pol_pattern_free(&pattern);
      }
    }
  }
}

/* Every size around the change from the own LU to LAPACK, full matrices. */
static void test_full_matrices(void **state)
{
  (void)state;
  uint64_t seed = 2;
  for (int k = 0; k < 2; k++) {
    for (int n = 1; n <= 80; n++) {
      pol_pattern *pattern = full_pattern(n);
      pol_solver *solver = make_solver(pattern, kinds[k]);
      double *values = random_values(pattern, &seed);
      assert_int_equal(pol_solver_factor(solver, values), POL_OK);
      check_solution(solver, pattern, values, &seed);
      free(values);
      pol_solver_free(&solver);
      pol_pattern_free(&pattern);
    }
  }
}

static void test_large_chain(void **state)
{
  (void)state;
  uint64_t seed = 3;
  pol_pattern *pattern = chain_pattern(2000, 5);
  pol_solver *solver = make_solver(pattern, POL_SOLVER_AUTO);
  double *values = random_values(pattern, &seed);
  assert_int_equal(pol_solver_backend(solver), POL_SOLVER_SPARSE);
  assert_int_equal(pol_solver_factor(solver, values), POL_OK);
  check_solution_within(solver, pattern, values, &seed, 1e-12, 1e-8);
  assert_int_equal(pol_solver_refactor(solver, values), POL_OK);
  check_solution_within(solver, pattern, values, &seed, 1e-12, 1e-8);
  free(values);
  pol_solver_free(&solver);
  pol_pattern_free(&pattern);
}

/* Refactorisations of changing values, small and large changes, against fresh factorisations. */
static void test_refactor(void **state)
{
  (void)state;
  uint64_t seed = 4;
  for (int k = 0; k < 2; k++) {
    pol_pattern *pattern = chain_pattern(8, 3);
    int n = pattern->rows;
    pol_solver *solver = make_solver(pattern, kinds[k]);
    pol_solver *fresh = make_solver(pattern, kinds[k]);
    double *values = random_values(pattern, &seed);
    for (int round = 0; round < 20; round++) {
      double change = round % 2 ? 0.01 : 1.0;
      for (int a = 0; a < pol_pattern_nonzeros(pattern); a++)
        values[a] += change * random_number(&seed);
      double *x = random_vector(n, &seed);
      double *y = make_array((size_t)n, sizeof *y);
      double size = 0.0;
      for (int i = 0; i < n; i++) y[i] = x[i];
      assert_int_equal(pol_solver_refactor(solver, values), POL_OK);
      assert_int_equal(pol_solver_factor(fresh, values), POL_OK);
      pol_solver_solve(solver, x);
      pol_solver_solve(fresh, y);
      for (int i = 0; i < n; i++) size = fmax(size, fabs(y[i]));
      for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) <= 1e-9 * size);
      free(x);
      free(y);
    }
    free(values);
    pol_solver_free(&solver);
    pol_solver_free(&fresh);
    pol_pattern_free(&pattern);
  }
}

/* Factors `first`, refactors `second` (3 x 3 by columns, patterns full) and checks the solution. */
static void check_change(const double first[9], const double second[9])
{
  static const double ones[3] = {1.0, 1.0, 1.0};
  pol_pattern *pattern = full_pattern(3);
  for (int k = 0; k < 2; k++) {
    pol_solver *solver = make_solver(pattern, kinds[k]);
    double x[3] = {1.0, 1.0, 1.0};
    assert_int_equal(pol_solver_factor(solver, first), POL_OK);
    assert_int_equal(pol_solver_refactor(solver, second), POL_OK);
    pol_solver_solve(solver, x);
    assert_true(backward_error(pattern, second, x, ones) < 1e-15);
    pol_solver_free(&solver);
  }
  pol_pattern_free(&pattern);
}

/* Pivots on the diagonal at first; then these become zero or small. */
static void test_refactor_with_bad_pivots(void **state)
{
  (void)state;
  static const double good[9] = {2, 1, 0.5, 1, 3, 1, 0.5, 1, 2};
  static const double zero_first[9] = {0, 1, 0.5, 1, 3, 1, 0.5, 1, 2};
  static const double zero_second[9] = {2, 2, 0.5, 1, 1, 1, 0.5, 1, 2};
  static const double small[9] = {1e-9, 1, 0.5, 1, 3, 1, 0.5, 1, 2};
  static const double cyclic[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
  check_change(good, zero_first);
  check_change(good, zero_second);
  check_change(good, small);
  check_change(good, cyclic);

  /* growth that shows in L only */
  static const double before[9] = {1, 0, 0.5, 1, 1, 0, 0, 0, 1};
  static const double after[9] = {1e-9, 0, 1, 1, 1, 0, 0, 0, 1};
  check_change(before, after);
}

static void test_refactor_without_factor(void **state)
{
  (void)state;
  uint64_t seed = 6;
  pol_pattern *pattern = chain_pattern(3, 3);
  double *values = random_values(pattern, &seed);
  for (int k = 0; k < 2; k++) {
    pol_solver *solver = make_solver(pattern, kinds[k]);
    assert_int_equal(pol_solver_refactor(solver, values), POL_OK);
    check_solution(solver, pattern, values, &seed);
    pol_solver_free(&solver);
  }
  free(values);
  pol_pattern_free(&pattern);
}

/* Two solvers of one pattern do not disturb each other. */
static void test_independent_solvers(void **state)
{
  (void)state;
  uint64_t seed = 7;
  pol_pattern *pattern = chain_pattern(4, 5);
  double *values[2] = {random_values(pattern, &seed), random_values(pattern, &seed)};
  for (int k = 0; k < 2; k++) {
    pol_solver *solver[2] = {make_solver(pattern, kinds[k]), make_solver(pattern, kinds[k])};
    for (int s = 0; s < 2; s++) assert_int_equal(pol_solver_factor(solver[s], values[s]), POL_OK);
    for (int s = 0; s < 2; s++) check_solution(solver[s], pattern, values[s], &seed);
    pol_solver_free(&solver[0]);
    check_solution(solver[1], pattern, values[1], &seed);
    pol_solver_free(&solver[1]);
  }
  free(values[0]);
  free(values[1]);
  pol_pattern_free(&pattern);
}

static void test_nothing_to_solve(void **state)
{
  (void)state;
  pol_pattern *pattern = full_pattern(0);
  static const pol_solver_kind all[3] = {POL_SOLVER_AUTO, POL_SOLVER_DENSE, POL_SOLVER_SPARSE};
  for (int k = 0; k < 3; k++) {
    pol_solver *solver = make_solver(pattern, all[k]);
    double x = 1.0;
    assert_int_equal(pol_solver_backend(solver), k == 2 ? POL_SOLVER_SPARSE : POL_SOLVER_DENSE);
    assert_int_equal(pol_solver_factor(solver, &x), POL_OK);
    assert_int_equal(pol_solver_refactor(solver, &x), POL_OK);
    pol_solver_solve(solver, &x);
    assert_true(x == 1.0);
    assert_int_equal(pol_solver_singular_column(solver), -1);
    pol_solver_free(&solver);
  }
  pol_pattern_free(&pattern);
  pol_solver_free(NULL);
}

static pol_solver_kind automatic(pol_pattern *pattern)
{
  pol_solver *solver = make_solver(pattern, POL_SOLVER_AUTO);
  pol_solver_kind kind = pol_solver_backend(solver);
  pol_solver_free(&solver);
  pol_pattern_free(&pattern);
  return kind;
}

static void test_automatic_choice(void **state)
{
  (void)state;
  assert_int_equal(automatic(chain_pattern(1, 3)), POL_SOLVER_DENSE);
  assert_int_equal(automatic(chain_pattern(4, 3)), POL_SOLVER_DENSE);
  assert_int_equal(automatic(chain_pattern(7, 3)), POL_SOLVER_SPARSE);
  assert_int_equal(automatic(chain_pattern(8, 5)), POL_SOLVER_SPARSE);
  assert_int_equal(automatic(chain_pattern(50, 5)), POL_SOLVER_SPARSE);
  assert_int_equal(automatic(full_pattern(49)), POL_SOLVER_DENSE);
  assert_int_equal(automatic(full_pattern(150)), POL_SOLVER_DENSE);

  /* one entry in ten, at random: the factors fill in */
  uint64_t seed = 8;
  pol_block blocks[1000];
  for (int b = 0; b < 100; b++) blocks[b] = (pol_block){b, b, 1, 1};
  for (int b = 100; b < 1000; b++)
    blocks[b] = (pol_block){random_index(&seed, 100), random_index(&seed, 100), 1, 1};
  pol_pattern *pattern;
  assert_int_equal(pol_pattern_create(&pattern, 100, 100, 1000, blocks), POL_OK);
  assert_int_equal(automatic(pattern), POL_SOLVER_DENSE);
}

static void test_bad_arguments(void **state)
{
  (void)state;
  pol_pattern *pattern;
  pol_solver *solver;
  assert_int_equal(pol_pattern_create(&pattern, 3, 4, 0, NULL), POL_OK);
  assert_int_equal(pol_solver_create(&solver, pattern, POL_SOLVER_AUTO), POL_BAD_ARGUMENT);
  assert_null(solver);
  pol_pattern_free(&pattern);
  pattern = full_pattern(2);
  assert_int_equal(pol_solver_create(&solver, pattern, (pol_solver_kind)3), POL_BAD_ARGUMENT);
  assert_null(solver);
  assert_int_equal(pol_solver_create(&solver, NULL, POL_SOLVER_AUTO), POL_BAD_ARGUMENT);
  pol_pattern_free(&pattern);
}

/* One bad value anywhere is rejected, the solver then gives no numbers, and recovers. */
static void test_not_finite(void **state)
{
  (void)state;
  const double bad[3] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  uint64_t seed = 9;
  pol_pattern *pattern = chain_pattern(2, 3);
  double *values = random_values(pattern, &seed);
  for (int k = 0; k < 2; k++) {
    pol_solver *solver = make_solver(pattern, kinds[k]);
    for (int a = 0; a < pol_pattern_nonzeros(pattern); a++) {
      double value = values[a];
      double x[18] = {0};
      values[a] = bad[a % 3];
      assert_int_equal(pol_solver_factor(solver, values), POL_NOT_FINITE);
      assert_int_equal(pol_solver_refactor(solver, values), POL_NOT_FINITE);
      assert_int_equal(pol_solver_singular_column(solver), -1);
      pol_solver_solve(solver, x);
      for (int i = 0; i < 18; i++) assert_true(isnan(x[i]));
      values[a] = value;
      assert_int_equal(pol_solver_refactor(solver, values), POL_OK);
    }
    check_solution(solver, pattern, values, &seed);
    pol_solver_free(&solver);
  }
  free(values);
  pol_pattern_free(&pattern);
}

static void test_solve_before_factor(void **state)
{
  (void)state;
  pol_pattern *pattern = full_pattern(2);
  for (int k = 0; k < 2; k++) {
    pol_solver *solver = make_solver(pattern, kinds[k]);
    double x[2] = {1.0, 2.0};
    pol_solver_solve(solver, x);
    assert_true(isnan(x[0]) && isnan(x[1]));
    pol_solver_free(&solver);
  }
  pol_pattern_free(&pattern);
}

/* Rows and columns multiplied by powers of ten from 1e-range to 1e+range: the same matrix in other
 * units, to be solved with the same accuracy in each unknown. */
static void check_units(int bodies, int range, uint64_t *seed)
{
  pol_pattern *pattern = chain_pattern(bodies, 3);
  int n = pattern->rows;
  double *values = random_values(pattern, seed);
  double *row = random_vector(n, seed);
  double *col = random_vector(n, seed);
  for (int i = 0; i < n; i++) {
    row[i] = pow(10.0, range * row[i]);
    col[i] = pow(10.0, range * col[i]);
  }
  for (int j = 0; j < n; j++)
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      values[a] *= row[pattern->row[a]] * col[j];

  double *known = random_vector(n, seed);
  double *b = make_array((size_t)n, sizeof *b);
  for (int j = 0; j < n; j++) known[j] /= col[j];
  for (int k = 0; k < 2; k++) {
    pol_solver *solver = make_solver(pattern, kinds[k]);
    assert_int_equal(pol_solver_factor(solver, values), POL_OK);
    for (int i = 0; i < n; i++) b[i] = 0.0;
    pol_matrix_multiply(pattern, values, 1.0, known, b);
    pol_solver_solve(solver, b);
    for (int j = 0; j < n; j++) assert_true(fabs(b[j] - known[j]) * col[j] < 1e-8);
    pol_solver_free(&solver);
  }
  free(known);
  free(b);
  free(row);
  free(col);
  free(values);
  pol_pattern_free(&pattern);
}

static void test_units(void **state)
{
  (void)state;
  uint64_t seed = 10;
  for (int round = 0; round < 10; round++) {
    check_units(1, 6, &seed);
    check_units(3, 6, &seed);
    check_units(10, 6, &seed);
    check_units(10, 12, &seed);
  }
}

/* Masses far smaller than the constraint gradients are no reason to call a matrix singular. */
static void test_tiny_masses(void **state)
{
  (void)state;
  uint64_t seed = 12;
  for (int bodies = 1; bodies <= 10; bodies += 3) {
    pol_pattern *pattern = chain_pattern(bodies, 3);
    int nv = 6 * bodies;
    double *values = random_values(pattern, &seed);
    for (int j = 0; j < nv; j++)
      for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
        if (pattern->row[a] < nv) values[a] *= 1e-15;
    for (int k = 0; k < 2; k++) {
      pol_solver *solver = make_solver(pattern, kinds[k]);
      assert_int_equal(pol_solver_factor(solver, values), POL_OK);
      assert_int_equal(pol_solver_refactor(solver, values), POL_OK);
      pol_solver_free(&solver);
    }
    free(values);
    pol_pattern_free(&pattern);
  }
}

/* Values at both ends of the range of numbers. */
static void test_extreme_values(void **state)
{
  (void)state;
  static const double scale[] = {1e-310, 1e-300, 1e300, 1.5e308};
  static const double matrix[4] = {1.0, 0.5, 0.25, 1.0};
  pol_pattern *pattern = full_pattern(2);
  for (int k = 0; k < 2; k++) {
    for (size_t s = 0; s < sizeof scale / sizeof *scale; s++) {
      pol_solver *solver = make_solver(pattern, kinds[k]);
      double values[4];
      for (int a = 0; a < 4; a++) values[a] = matrix[a] * scale[s];
      assert_int_equal(pol_solver_factor(solver, values), POL_OK);
      double x[2] = {values[0] - values[2], values[1] - values[3]};
      pol_solver_solve(solver, x);
      assert_true(fabs(x[0] - 1.0) < 1e-12 && fabs(x[1] + 1.0) < 1e-12);
      pol_solver_free(&solver);
    }
  }
  pol_pattern_free(&pattern);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_solutions),
      cmocka_unit_test(test_full_matrices),
      cmocka_unit_test(test_large_chain),
      cmocka_unit_test(test_refactor),
      cmocka_unit_test(test_refactor_with_bad_pivots),
      cmocka_unit_test(test_refactor_without_factor),
      cmocka_unit_test(test_independent_solvers),
      cmocka_unit_test(test_nothing_to_solve),
      cmocka_unit_test(test_automatic_choice),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_solve_before_factor),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_tiny_masses),
      cmocka_unit_test(test_extreme_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
