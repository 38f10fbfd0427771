/* Singular matrices: both backends must find them and name a column that depends on the others,
 * which is checked by the rank of the matrix with and without that column. */
#include "matrices.h"

#include <string.h>

static const pol_solver_kind kinds[2] = {POL_SOLVER_DENSE, POL_SOLVER_SPARSE};

/* Both calls must report the matrix, whatever the solver did before: nothing, the same, another
 * matrix that lends its pivots. */
static void check_singular(const pol_pattern *pattern, const double *values)
{
  uint64_t seed = 19;
  double *other = random_values(pattern, &seed);
  int rank = rank_without(pattern, values, -1);
  assert_true(rank < pattern->cols);
  for (int k = 0; k < 2; k++) {
    pol_solver *solver;
    assert_int_equal(pol_solver_create(&solver, pattern, kinds[k]), POL_OK);
    for (int call = 0; call < 3; call++) {
      if (call == 2) pol_solver_factor(solver, other);
      pol_status status =
          call ? pol_solver_refactor(solver, values) : pol_solver_factor(solver, values);
      assert_int_equal(status, POL_SINGULAR);
      int column = pol_solver_singular_column(solver);
      assert_in_range(column, 0, pattern->cols - 1);
      assert_int_equal(rank_without(pattern, values, column), rank);
    }
    pol_solver_free(&solver);
  }
  free(other);
}

/* The same matrix with its rows and columns in another order. */
static void check_singular_permuted(const pol_pattern *pattern, const double *values,
                                    uint64_t *seed)
{
  int n = pattern->cols;
  int nonzeros = pol_pattern_nonzeros(pattern);
  int *order = make_array((size_t)n * 2, sizeof *order);
  pol_block *blocks = make_array((size_t)nonzeros, sizeof *blocks);
  double *permuted = make_array((size_t)nonzeros, sizeof *permuted);
  for (int half = 0; half < 2; half++) {
    for (int i = 0; i < n; i++) order[half * n + i] = i;
    for (int i = n - 1; i > 0; i--) {
      int other = random_index(seed, i + 1);
      int kept = order[half * n + i];
      order[half * n + i] = order[half * n + other];
      order[half * n + other] = kept;
    }
  }

  int count = 0;
  for (int j = 0; j < n; j++)
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      blocks[count++] = (pol_block){order[pattern->row[a]], order[n + j], 1, 1};
  pol_pattern *moved;
  assert_int_equal(pol_pattern_create(&moved, n, n, count, blocks), POL_OK);
  for (int a = 0; a < nonzeros; a++)
    permuted[pol_pattern_address(moved, blocks[a].row, blocks[a].col)] = values[a];
  check_singular(moved, permuted);
  pol_pattern_free(&moved);
  free(order);
  free(blocks);
  free(permuted);
}

static void check_all_orders(const pol_pattern *pattern, const double *values, uint64_t *seed)
{
  check_singular(pattern, values);
  for (int round = 0; round < 5; round++) check_singular_permuted(pattern, values, seed);
}

/* A pattern that no values can make regular, with random values. */
static void check_structure(int n, int num_blocks, const pol_block *blocks)
{
  uint64_t seed = 20;
  pol_pattern *pattern;
  assert_int_equal(pol_pattern_create(&pattern, n, n, num_blocks, blocks), POL_OK);
  double *values = random_values(pattern, &seed);
  check_all_orders(pattern, values, &seed);
  free(values);
  pol_pattern_free(&pattern);
}

static void test_structurally_singular(void **state)
{
  (void)state;
  /* an empty column, an empty row, nothing at all */
  const pol_block empty_column[] = {{0, 0, 4, 2}, {0, 3, 4, 1}};
  const pol_block empty_row[] = {{0, 0, 2, 4}, {3, 0, 1, 4}};
  check_structure(4, 2, empty_column);
  check_structure(4, 2, empty_row);
  check_structure(4, 0, NULL);
  check_structure(1, 0, NULL);

  /* three columns with entries in the same two rows */
  const pol_block three_in_two[] = {{1, 2, 2, 3}, {0, 0, 6, 2}, {0, 5, 6, 1}};
  check_structure(6, 3, three_in_two);

  /* more constraints than velocities: a zero block larger than half the matrix */
  const pol_block too_many_constraints[] = {{0, 0, 3, 3}, {3, 0, 4, 3}, {0, 3, 3, 4}};
  check_structure(7, 3, too_many_constraints);
}

/* Doubles the row (and column) of one constraint of a chain: the constraints become redundant. */
static void test_redundant_constraints(void **state)
{
  (void)state;
  uint64_t seed = 21;
  for (int bodies = 1; bodies <= 7; bodies += 2) {
    pol_pattern *pattern = chain_pattern(bodies, 4);
    int n = pattern->cols;
    double *values = random_values(pattern, &seed);
    /* the last joint's rows: row n-1 = 0.3 row n-2 - 0.7 row n-3 + 1.1 row n-4, columns alike */
    static const double weight[3] = {0.3, -0.7, 1.1};
    for (int i = 0; i < n; i++) {
      int row = pol_pattern_address(pattern, n - 1, i);
      int col = pol_pattern_address(pattern, i, n - 1);
      if (row < 0) continue;
      values[row] = values[col] = 0.0;
      for (int w = 0; w < 3; w++) {
        values[row] += weight[w] * values[pol_pattern_address(pattern, n - 2 - w, i)];
        values[col] += weight[w] * values[pol_pattern_address(pattern, i, n - 2 - w)];
      }
    }
    check_all_orders(pattern, values, &seed);
    free(values);
    pol_pattern_free(&pattern);
  }
}

/* Full matrices with one column that is a sum of others, of all sizes, in units that differ by
 * twelve powers of ten. */
static void test_dependent_columns(void **state)
{
  (void)state;
  uint64_t seed = 22;
  for (int n = 2; n <= 60; n += n < 12 ? 1 : 16) {
    pol_pattern *pattern = full_pattern(n);
    double *values = random_values(pattern, &seed);
    int column = random_index(&seed, n);
    for (int i = 0; i < n; i++) {
      values[i + column * n] = 0.0;
      for (int j = 0; j < n; j++)
        if (j != column) values[i + column * n] += (j % 3 - 1.5) * values[i + j * n];
    }
    check_singular(pattern, values);
    for (int j = 0; j < n; j++) {
      double unit = pow(10.0, 6.0 * random_number(&seed));
      for (int i = 0; i < n; i++) values[i + j * n] *= unit;
    }
    check_singular(pattern, values);
    free(values);
    pol_pattern_free(&pattern);
  }
}

static void test_small_exact(void **state)
{
  (void)state;
  pol_pattern *pattern = full_pattern(2);
  static const double proportional[4] = {1, 2, 2, 4};
  static const double zero[4] = {0, 0, 0, 0};
  static const double zero_column[4] = {1, 2, 0, 0};
  check_singular(pattern, proportional);
  check_singular(pattern, zero);
  check_singular(pattern, zero_column);
  pol_pattern_free(&pattern);

  /* A has the columns 1, 2, 3; 4, 5, 6; 7, 8, 9 */
  static const double arithmetic[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  pattern = full_pattern(3);
  check_singular(pattern, arithmetic);
  pol_pattern_free(&pattern);

  pattern = full_pattern(1);
  check_singular(pattern, zero);
  pol_pattern_free(&pattern);
}

/* Block triangular: only the middle or the last block is singular, and its columns are named. */
static void test_blocks(void **state)
{
  (void)state;
  const pol_block blocks[] = {{0, 0, 4, 12}, {4, 4, 4, 8}, {8, 8, 4, 4}};
  uint64_t seed = 23;
  pol_pattern *pattern;
  assert_int_equal(pol_pattern_create(&pattern, 12, 12, 3, blocks), POL_OK);
  for (int block = 0; block < 3; block++) {
    double *values = random_values(pattern, &seed);
    int first = 4 * block;
    for (int i = first; i < first + 4; i++)
      values[pol_pattern_address(pattern, i, first + 2)] =
          values[pol_pattern_address(pattern, i, first)] -
          0.3 * values[pol_pattern_address(pattern, i, first + 3)];
    check_all_orders(pattern, values, &seed);
    free(values);
  }
  pol_pattern_free(&pattern);
}

/* A regular matrix, a singular one, a regular one again; factor and refactor. */
static void test_recovery(void **state)
{
  (void)state;
  uint64_t seed = 24;
  pol_pattern *pattern = chain_pattern(3, 3);
  int nonzeros = pol_pattern_nonzeros(pattern);
  double *values = random_values(pattern, &seed);
  double *singular = make_array((size_t)nonzeros, sizeof *singular);
  memcpy(singular, values, (size_t)nonzeros * sizeof *singular);
  for (int a = pattern->start[20]; a < pattern->start[21]; a++) singular[a] = 0.0;
  for (int k = 0; k < 2; k++) {
    pol_solver *solver;
    assert_int_equal(pol_solver_create(&solver, pattern, kinds[k]), POL_OK);
    for (int call = 0; call < 2; call++) {
      pol_status (*factor)(pol_solver *, const double *) =
          call ? pol_solver_refactor : pol_solver_factor;
      double x[27] = {1.0}, b[27] = {1.0};
      assert_int_equal(factor(solver, values), POL_OK);
      assert_int_equal(factor(solver, singular), POL_SINGULAR);
      assert_int_equal(pol_solver_singular_column(solver), 20);
      pol_solver_solve(solver, x);
      assert_true(isnan(x[0]));
      assert_int_equal(factor(solver, values), POL_OK);
      assert_int_equal(pol_solver_singular_column(solver), -1);
      memcpy(x, b, sizeof x);
      pol_solver_solve(solver, x);
      assert_true(backward_error(pattern, values, x, b) < 1e-14);
    }
    pol_solver_free(&solver);
  }
  free(values);
  free(singular);
  pol_pattern_free(&pattern);
}

/* Nearly singular is not singular: the last pivot of [[1, 1], [1, 1 + d]] is d. */
static void test_nearly_singular(void **state)
{
  (void)state;
  pol_pattern *pattern = full_pattern(2);
  for (int k = 0; k < 2; k++) {
    pol_solver *solver;
    assert_int_equal(pol_solver_create(&solver, pattern, kinds[k]), POL_OK);
    double values[4] = {1.0, 1.0, 1.0, 1.0 + 1e-12};
    assert_int_equal(pol_solver_factor(solver, values), POL_OK);
    values[3] = 1.0 + 1e-15;
    assert_int_equal(pol_solver_factor(solver, values), POL_SINGULAR);
    assert_int_equal(pol_solver_refactor(solver, values), POL_SINGULAR);
    pol_solver_free(&solver);
  }
  pol_pattern_free(&pattern);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_structurally_singular),
      cmocka_unit_test(test_redundant_constraints),
      cmocka_unit_test(test_dependent_columns),
      cmocka_unit_test(test_small_exact),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_nearly_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
