/* The inline helpers for vectors with 3 entries and 3x3 matrices, against the definitions written
 * out with loops on small whole numbers, where every result is exact.
 */
#include "lie/small.h"

#include "wide.h"

static const double a[3] = {1, -2, 3}, b[3] = {4, 5, -7};
static const double A[9] = {1, 2, -3, 4, -5, 6, 7, 8, 9}, B[9] = {2, 0, 1, -3, 5, 4, 6, -1, 8};
static const double base[9] = {10, 20, 30, 40, 50, 60, 70, 80, 90};

/* C = X Y */
static void product(const double X[9], const double Y[9], double C[9])
{
  for (int i = 0; i < 9; i++) {
    C[i] = 0;
    for (int k = 0; k < 3; k++) C[i] += X[i / 3 * 3 + k] * Y[3 * k + i % 3];
  }
}

static void assert_same(const double *got, const double *expected, int n)
{
  for (int i = 0; i < n; i++) assert_true(got[i] == expected[i]);
}

static void test_vectors(void **state)
{
  const double sum[3] = {5, 3, -4}, difference[3] = {-3, -7, 10}, twice[3] = {2, -4, 6};
  const double cross[3] = {-1, 19, 13}, moved[3] = {6, 1, -1}, turned[3] = {6, -36, -29};
  double out[3];

  (void)state;
  assert_true(poli_v3_dot(a, b) == -27);
  poli_v3_cross(a, b, out);
  assert_same(out, cross, 3);
  poli_v3_add(a, b, out);
  assert_same(out, sum, 3);
  poli_v3_subtract(a, b, out);
  assert_same(out, difference, 3);
  poli_v3_scale(2, a, out);
  assert_same(out, twice, 3);
  poli_v3_copy(b, out);
  assert_same(out, b, 3);
  poli_v3_add_scaled(2, a, out);
  assert_same(out, moved, 3);
  out[0] = 4, out[1] = 2, out[2] = -3;
  poli_v3_add_scaled_cross(-2, a, b, out);
  assert_same(out, turned, 3);
}

static void test_products(void **state)
{
  double At[9], expected[9], out[9], y[3], column[9] = {0}, Ax[9];

  (void)state;
  for (int i = 0; i < 9; i++) At[i] = A[i % 3 * 3 + i / 3];
  poli_m3_multiply(A, B, out);
  product(A, B, expected);
  assert_same(out, expected, 9);
  poli_m3_multiply_transposed(A, B, out);
  product(At, B, expected);
  assert_same(out, expected, 9);
  poli_m3_copy(A, out);
  assert_same(out, A, 9);

  /* A b and A^T b as the first column of a product */
  for (int i = 0; i < 3; i++) column[3 * i] = b[i];
  product(A, column, Ax);
  poli_m3_apply(A, b, y);
  for (int i = 0; i < 3; i++) assert_true(y[i] == Ax[3 * i]);
  product(At, column, Ax);
  poli_m3_apply_transposed(A, b, y);
  for (int i = 0; i < 3; i++) assert_true(y[i] == Ax[3 * i]);
}

static void test_skew(void **state)
{
  double a_skew[9], b_skew[9], expected[9], out[9], y[3], cross[3];

  (void)state;
  poli_m3_skew(a, a_skew);
  poli_m3_skew(b, b_skew);
  poli_m3_apply(a_skew, b, y);
  poli_v3_cross(a, b, cross);
  assert_same(y, cross, 3);

  poli_m3_copy(base, out);
  poli_m3_add_skew(3, a, out);
  for (int i = 0; i < 9; i++) assert_true(out[i] == base[i] + 3 * a_skew[i]);
  poli_m3_copy(base, out);
  product(a_skew, b_skew, expected);
  poli_m3_add_skew_product(3, a, b, out);
  for (int i = 0; i < 9; i++) assert_true(out[i] == base[i] + 3 * expected[i]);
}

static void test_sums(void **state)
{
  double out[9];

  (void)state;
  poli_m3_diagonal(4, out);
  for (int i = 0; i < 9; i++) assert_true(out[i] == (i % 4 == 0 ? 4 : 0));
  poli_m3_copy(base, out);
  poli_m3_add_outer(-2, a, b, out);
  for (int i = 0; i < 9; i++) assert_true(out[i] == base[i] - 2 * a[i / 3] * b[i % 3]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_skew),
      cmocka_unit_test(test_sums),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
