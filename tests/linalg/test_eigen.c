/* Full matrices and large eigenvalue problems against what they are made of. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "linalg/arnoldi.h"
#include "linalg/eigen.h"

static void bases_are_orthogonal_and_span_the_columns(void **state)
{
  (void)state;
  enum { N = 7, R = 3 };
  uint64_t seed = 5;
  double A[N * R], copy[N * R], Q[N * N], triangle[R * R], product[N * R], identity[N * N];
  random_numbers(&seed, A, N * R);
  memcpy(copy, A, sizeof A);
  assert_int_equal(poli_full_basis(N, R, copy, Q, triangle), POL_OK);
  poli_full_multiply(N, R, R, 0, Q, triangle, product);
  assert_near(product, A, N * R, 1e-13);
  poli_full_multiply(N, N, N, 1, Q, Q, identity);
  for (int i = 0; i < N * N; i++) identity[i] -= i % (N + 1) == 0;
  assert_near(identity, (const double[N * N]){0.0}, N * N, 1e-13);
  /* R^T x = b */
  double b[R] = {1.0, 2.0, 3.0}, x[R], back[R];
  memcpy(x, b, sizeof b);
  poli_full_solve_triangle(R, 1, triangle, x);
  poli_full_multiply(R, 1, R, 1, triangle, x, back);
  assert_near(back, b, R, 1e-13);
  /* no columns: the axes */
  assert_int_equal(poli_full_basis(2, 0, copy, Q, NULL), POL_OK);
  static const double axes[4] = {1.0, 0.0, 0.0, 1.0};
  assert_near(Q, axes, 4, 0.0);
}

static void systems_are_solved_or_singular(void **state)
{
  (void)state;
  double A[4] = {2.0, 1.0, 1.0, 3.0}, x[4] = {3.0, 4.0, 1.0, 0.0};
  int column;
  assert_int_equal(poli_full_solve(2, A, 2, x, &column), POL_OK);
  static const double expected[4] = {1.0, 1.0, 0.6, -0.2};
  assert_near(x, expected, 4, 1e-15);
  assert_int_equal(column, -1);
  double singular[4] = {1.0, 2.0, 2.0, 4.0};
  assert_int_equal(poli_full_solve(2, singular, 1, x, &column), POL_SINGULAR);
  assert_int_equal(column, 1);
  double wrong[4] = {NAN, 2.0, 2.0, 4.0};
  assert_int_equal(poli_full_solve(2, wrong, 1, x, &column), POL_NOT_FINITE);
}

static void null_spaces_are_found(void **state)
{
  (void)state;
  /* rank one: (1, 2)^T (3, -1, 0) padded */
  double A[9] = {3.0, 6.0, 0.0, -1.0, -2.0, 0.0, 0.0, 0.0, 0.0}, V[9];
  int zeros;
  assert_int_equal(poli_full_null_space(3, A, 1e-12, V, &zeros), POL_OK);
  assert_int_equal(zeros, 2);
  for (int k = 0; k < 2; k++)
    assert_near((const double[]){3.0 * V[3 * k] - V[3 * k + 1]}, (const double[]){0.0}, 1, 1e-14);
}

/* A tridiagonal matrix with known eigenvalues 2 - 2 cos(k pi/(n + 1)), and a part that turns. */
enum { SIZE = 60 };

static pol_status apply(const double *x, double *y, void *user)
{
  int *calls = user;
  ++*calls;
  for (int i = 0; i < SIZE; i++)
    y[i] = 2.0 * x[i] - (i > 0 ? x[i - 1] : 0.0) - (i + 1 < SIZE ? x[i + 1] : 0.0);
  return *calls > 5000 ? POL_RETRY : POL_OK;
}

static void arnoldi_finds_the_ends_of_the_spectrum(void **state)
{
  (void)state;
  double start[SIZE], re[8], im[8], vectors[8 * SIZE], y[SIZE];
  int found, calls = 0;
  const poli_operator operator= {.n = SIZE, .apply = apply, .user = &calls};
  for (int small = 0; small < 2; small++) {
    for (int i = 0; i < SIZE; i++) start[i] = 1.0 + 0.3 * sin(3.0 * i);
    assert_int_equal(
        poli_arnoldi(&operator, small ? "SR" : "LM", 6, start, re, im, vectors, &found), POL_OK);
    assert_int_equal(found, 6);
    for (int k = 0; k < 6; k++) {
      double nearest = INFINITY;
      for (int j = 1; j <= SIZE; j++)
        nearest = fmin(nearest, fabs(re[k] - 2.0 + 2.0 * cos(j * 4.0 * atan(1.0) / (SIZE + 1))));
      assert_true(nearest < 1e-10);
      assert_true(small ? re[k] < 0.2 : re[k] > 3.8);
      apply(vectors + SIZE * k, y, &calls);
      for (int i = 0; i < SIZE; i++)
        assert_near(&y[i], (const double[]){re[k] * vectors[SIZE * k + i]}, 1, 1e-9);
    }
  }
  /* a failure of the product is passed on */
  calls = 6000;
  assert_int_equal(poli_arnoldi(&operator, "LM", 6, start, re, im, vectors, &found), POL_RETRY);
  assert_int_equal(found, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bases_are_orthogonal_and_span_the_columns),
      cmocka_unit_test(systems_are_solved_or_singular),
      cmocka_unit_test(null_spaces_are_found),
      cmocka_unit_test(arnoldi_finds_the_ends_of_the_spectrum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
