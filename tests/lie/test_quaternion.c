/* Unit quaternions: product, matrix and back, for rotations in every branch of the conversion. */
#include <polhode/lie.h>

#include "lie/small.h"
#include "wide.h"

static void sample_quaternion(uint64_t *seed, double q[4])
{
  sample_vector(seed, 4, q);
  pol_quat_normalize(q);
}

static void test_product_rules(void **state)
{
  /* i j = k, j k = i, k i = j, i i = -1 */
  const double i[4] = {0, 1, 0, 0}, j[4] = {0, 0, 1, 0}, k[4] = {0, 0, 0, 1};
  const double *left[4] = {i, j, k, i}, *right[4] = {j, k, i, i};
  const double minus_one[4] = {-1, 0, 0, 0}, *expected[4] = {k, i, j, minus_one};

  (void)state;
  for (int n = 0; n < 4; n++) {
    double out[4];

    pol_quat_multiply(left[n], right[n], out);
    for (int l = 0; l < 4; l++) assert_true(out[l] == expected[n][l]);
  }
}

static void test_product_in_place(void **state)
{
  uint64_t seed = 1;
  double a[4], b[4], ab[4], x[4];

  (void)state;
  sample_quaternion(&seed, a);
  sample_quaternion(&seed, b);
  pol_quat_multiply(a, b, ab);
  for (int i = 0; i < 4; i++) x[i] = a[i];
  pol_quat_multiply(x, b, x);
  for (int i = 0; i < 4; i++) assert_true(x[i] == ab[i]);
  for (int i = 0; i < 4; i++) x[i] = b[i];
  pol_quat_multiply(a, x, x);
  for (int i = 0; i < 4; i++) assert_true(x[i] == ab[i]);

  /* q q* = 1, with the conjugate in place */
  for (int i = 0; i < 4; i++) x[i] = a[i];
  pol_quat_conjugate(x, x);
  pol_quat_multiply(a, x, ab);
  assert_true(fabs(ab[0] - 1.0) < 4e-16);
  for (int i = 1; i < 4; i++) assert_true(fabs(ab[i]) < 2e-16);
}

static void test_normalize(void **state)
{
  double q[4] = {1, 2, 4, -10};

  (void)state;
  pol_quat_normalize(q);
  assert_true(fabs(q[0] - 1.0 / 11.0) < 2e-17 && fabs(q[1] - 2.0 / 11.0) < 4e-17);
  assert_true(fabs(q[2] - 4.0 / 11.0) < 8e-17 && fabs(q[3] + 10.0 / 11.0) < 2e-16);
}

/* R(a b) = R(a) R(b), R^T R = I, det R = 1 */
static void test_matrix(void **state)
{
  uint64_t seed = 2;

  (void)state;
  for (int n = 0; n < 1000; n++) {
    double a[4], b[4], ab[4], R[9], S[9], RS[9], Rab[9], cross[3];

    sample_quaternion(&seed, a);
    sample_quaternion(&seed, b);
    pol_quat_multiply(a, b, ab);
    pol_quat_to_matrix(a, R);
    pol_quat_to_matrix(b, S);
    pol_quat_to_matrix(ab, Rab);
    poli_m3_multiply(R, S, RS);
    for (int i = 0; i < 9; i++) assert_true(fabs(RS[i] - Rab[i]) < 3e-15);
    poli_m3_multiply_transposed(R, R, RS);
    for (int i = 0; i < 9; i++) assert_true(fabs(RS[i] - (i % 4 == 0)) < 3e-15);
    poli_v3_cross(R, R + 3, cross);
    assert_true(fabs(poli_v3_dot(cross, R + 6) - 1.0) < 3e-15);
  }
}

/* A quarter turn about z takes x to y. */
static void test_orientation(void **state)
{
  const double q[4] = {sqrt(0.5), 0, 0, sqrt(0.5)}, x[3] = {1, 0, 0};
  double R[9], y[3];

  (void)state;
  pol_quat_to_matrix(q, R);
  poli_m3_apply(R, x, y);
  assert_true(fabs(y[0]) < 3e-16 && fabs(y[1] - 1.0) < 3e-16 && y[2] == 0.0);
}

static void assert_round_trip(const double q[4])
{
  double R[9], back[4];
  const double sign = q[0] < 0.0 ? -1.0 : 1.0;

  pol_quat_to_matrix(q, R);
  pol_quat_from_matrix(R, back);
  assert_true(back[0] >= 0.0);
  for (int i = 0; i < 4; i++) assert_true(fabs(back[i] - sign * q[i]) < 8e-16);
}

static void test_from_matrix(void **state)
{
  uint64_t seed = 3;

  (void)state;
  for (int n = 0; n < 4000; n++) {
    double q[4];

    /* small, then large against one of the four components */
    sample_vector(&seed, 4, q);
    for (int i = 0; i < 4; i++)
      if (i != n % 4) q[i] *= n % 8 < 4 ? 1e-3 : 1.0;
    pol_quat_normalize(q);
    if (fabs(q[0]) > 1e-12) assert_round_trip(q);
  }

  /* half turns about the axes: w = 0 */
  for (int axis = 1; axis < 4; axis++) {
    double q[4] = {0, 0, 0, 0};

    q[axis] = 1.0;
    assert_round_trip(q);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_product_rules), cmocka_unit_test(test_product_in_place),
      cmocka_unit_test(test_normalize),     cmocka_unit_test(test_matrix),
      cmocka_unit_test(test_orientation),   cmocka_unit_test(test_from_matrix),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
