/* The sparse Cholesky factorisation and Lanczos' method, against full matrices. */
#include "matrices.h"

#include <string.h>

#include "linalg/arnoldi.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"

/* A grid of nx x ny x nz nodes with `dofs` unknowns each; neighbours, diagonal ones too, are
 * coupled. */
static pol_pattern *grid_pattern(const int size[3], int dofs)
{
  const int n = size[0] * size[1] * size[2];
  pol_block *blocks = make_array((size_t)n * 27, sizeof *blocks);
  pol_pattern *pattern;
  int count = 0;
  for (int i = 0; i < n; i++)
    for (int d = 0; d < 27; d++) {
      const int at[3] = {i % size[0] + d % 3 - 1, i / size[0] % size[1] + d / 3 % 3 - 1,
                         i / size[0] / size[1] + d / 9 - 1};
      int inside = 1;
      for (int k = 0; k < 3; k++) inside &= at[k] >= 0 && at[k] < size[k];
      const int j = at[0] + size[0] * (at[1] + size[1] * at[2]);
      if (inside) blocks[count++] = (pol_block){dofs * i, dofs * j, dofs, dofs};
    }
  assert_int_equal(pol_pattern_create(&pattern, dofs * n, dofs * n, count, blocks), POL_OK);
  free(blocks);
  return pattern;
}

/* Random symmetric numbers with a diagonal that makes the matrix positive definite. */
static double *definite_values(const pol_pattern *pattern, uint64_t *seed)
{
  double *values = make_array((size_t)pol_pattern_nonzeros(pattern), sizeof *values);
  for (int j = 0; j < pattern->cols; j++)
    for (int e = pattern->start[j]; e < pattern->start[j + 1]; e++)
      if (pattern->row[e] < j) {
        const double number = random_number(seed);
        values[e] = number;
        values[pol_pattern_address(pattern, j, pattern->row[e])] = number;
        values[pol_pattern_address(pattern, j, j)] += fabs(number);
        values[pol_pattern_address(pattern, pattern->row[e], pattern->row[e])] += fabs(number);
      }
  for (int j = 0; j < pattern->cols; j++) values[pol_pattern_address(pattern, j, j)] += 0.1;
  return values;
}

static void test_solutions(void **state)
{
  (void)state;
  static const int sizes[][4] = {{1, 1, 1, 1}, {1, 1, 1, 6},   {40, 1, 1, 6},  {7, 9, 1, 3},
                                 {6, 5, 7, 3}, {20, 20, 2, 1}, {12, 12, 12, 1}};
  uint64_t seed = 5;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    pol_pattern *pattern = grid_pattern(sizes[s], sizes[s][3]);
    double *values = definite_values(pattern, &seed);
    const int n = pattern->rows;
    double *x = make_array((size_t)n, sizeof *x), *y = make_array((size_t)n, sizeof *y);
    double *z = make_array((size_t)n, sizeof *z);
    poli_cholesky *c;
    int column;
    assert_int_equal(poli_cholesky_create(&c, pattern), POL_OK);
    assert_true(poli_cholesky_size(c) >= (size_t)n);
    for (int again = 0; again < 2; again++) {
      assert_int_equal(poli_cholesky_factor(c, values, &column), POL_OK);
      for (int i = 0; i < n; i++) x[i] = random_number(&seed);
      memset(y, 0, (size_t)n * sizeof *y);
      pol_matrix_multiply(pattern, values, 1.0, x, y);
      memcpy(z, y, (size_t)n * sizeof *z);
      poli_cholesky_solve(c, y);
      for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) < 1e-12);

      /* |L^-1 P b|^2 = b^T A^-1 b = b . x, and the transposed factor leads to x */
      double square = 0.0, product = 0.0;
      for (int i = 0; i < n; i++) product += z[i] * x[i];
      poli_cholesky_forward(c, z);
      for (int i = 0; i < n; i++) square += z[i] * z[i];
      assert_true(fabs(square - product) < 1e-12 * (1.0 + fabs(product)));
      poli_cholesky_backward(c, z);
      for (int i = 0; i < n; i++) assert_true(fabs(x[i] - z[i]) < 1e-12);
      for (int e = 0; e < pol_pattern_nonzeros(pattern); e++) values[e] *= 3.0;
    }
    poli_cholesky_free(&c);
    assert_null(c);
    free(x);
    free(y);
    free(z);
    free(values);
    pol_pattern_free(&pattern);
  }
}

static void test_not_definite(void **state)
{
  (void)state;
  /* springs in a row without a support; then one that pushes */
  enum { N = 30 };
  pol_block blocks[N];
  pol_pattern *pattern;
  poli_cholesky *c;
  int column;
  for (int i = 0; i + 1 < N; i++) blocks[i] = (pol_block){i, i, 2, 2};
  assert_int_equal(pol_pattern_create(&pattern, N, N, N - 1, blocks), POL_OK);
  double *values = make_array((size_t)pol_pattern_nonzeros(pattern), sizeof *values);
  for (int i = 0; i + 1 < N; i++)
    for (int k = 0; k < 4; k++)
      values[pol_pattern_address(pattern, i + k / 2, i + k % 2)] += k % 3 == 0 ? 7.1 : -7.1;
  assert_int_equal(poli_cholesky_create(&c, pattern), POL_OK);
  assert_int_equal(poli_cholesky_factor(c, values, &column), POL_SINGULAR);
  assert_in_range(column, 0, N - 1);
  values[pol_pattern_address(pattern, 4, 4)] += 1e-6;
  assert_int_equal(poli_cholesky_factor(c, values, &column), POL_OK);
  values[pol_pattern_address(pattern, 4, 4)] -= 2e-6;
  assert_int_equal(poli_cholesky_factor(c, values, &column), POL_SINGULAR);
  values[pol_pattern_address(pattern, 4, 4)] = NAN;
  assert_int_equal(poli_cholesky_factor(c, values, &column), POL_SINGULAR);
  poli_cholesky_free(&c);
  free(values);
  pol_pattern_free(&pattern);
}

typedef struct product {
  const pol_pattern *pattern;
  const double *values;
} product;

static pol_status apply(const double *x, double *y, void *user)
{
  const product *p = user;
  memset(y, 0, (size_t)p->pattern->rows * sizeof *y);
  pol_matrix_multiply(p->pattern, p->values, 1.0, x, y);
  return POL_OK;
}

static void test_lanczos(void **state)
{
  (void)state;
  enum { COUNT = 6 };
  uint64_t seed = 8;
  pol_pattern *pattern = grid_pattern((const int[]){9, 8, 1}, 2);
  double *values = definite_values(pattern, &seed);
  const int n = pattern->rows;
  const size_t all = (size_t)n * (size_t)n;
  double *A = make_array(all, sizeof *A), *B = make_array(all, sizeof *B);
  double *every = make_array((size_t)n, sizeof *every),
         *start = make_array((size_t)n, sizeof *start);
  double found[COUNT], *vectors = make_array((size_t)n * COUNT, sizeof *vectors);
  for (int j = 0; j < n; j++) {
    B[poli_at(j, j, n)] = 1.0;
    start[j] = 1.0 + 0.1 * j;
    for (int e = pattern->start[j]; e < pattern->start[j + 1]; e++)
      A[poli_at(pattern->row[e], j, n)] = values[e];
  }
  assert_int_equal(poli_full_symmetric_eigen(n, A, B, every), POL_OK);
  product p = {pattern, values};
  const poli_operator operator= {.n = n, .apply = apply, .user = &p};
  assert_int_equal(poli_lanczos(&operator, COUNT, start, found, vectors), POL_OK);
  for (int k = 0; k < COUNT; k++) {
    assert_true(fabs(found[k] - every[n - COUNT + k]) < 1e-11 * every[n - 1]);
    for (int l = 0; l <= k; l++) {
      double dot = 0.0;
      for (int i = 0; i < n; i++) dot += vectors[poli_at(i, k, n)] * vectors[poli_at(i, l, n)];
      assert_true(fabs(dot - (k == l)) < 1e-11);
    }
  }
  memset(B, 0, all * sizeof *B);
  assert_int_equal(poli_full_symmetric_eigen(n, A, B, every), POL_SINGULAR);
  free(A);
  free(B);
  free(every);
  free(start);
  free(vectors);
  free(values);
  pol_pattern_free(&pattern);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_solutions),
                                     cmocka_unit_test(test_not_definite),
                                     cmocka_unit_test(test_lanczos)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
