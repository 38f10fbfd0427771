/* SE(3) against the power series of exp and T in a wider type and against the closed form of the
 * paper, for rotations from the smallest numbers to 20 radians and translations of any direction.
 */
#include <polhode/lie.h>

#include "lie/coefficients.h"
#include "wide.h"

enum { AXES = 3, DENSE = 100 };

/* Calls visit with increments (w, U), |U_i| <= 1, for every special angle and DENSE others below
 * limit. */
static void for_each_increment(double limit, void (*visit)(const double v[6], double angle, void *),
                               void *seen)
{
  uint64_t seed = 21;
  double v[6];

  for (int i = 0; i < NUM_SPECIAL_ANGLES + DENSE; i++) {
    const double angle = i < NUM_SPECIAL_ANGLES
                             ? special_angles[i]
                             : fmin(limit, 20.0) * (i - NUM_SPECIAL_ANGLES) / DENSE;

    if (!(angle < limit)) continue;
    for (int axis = 0; axis < AXES; axis++) {
      sample_rotation(&seed, angle, v);
      sample_vector(&seed, 3, v + 3);
      visit(v, angle, seen);
    }
  }
}

static double largest(const double *x, int n)
{
  double size = 0.0;

  for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
  return size;
}

/* --- exp and log ------------------------------------------------------------------------------ */

static void visit_exp(const double v[6], double angle, void *seen)
{
  wide E[16];
  double q[7], rotation[4];

  pol_se3_exp(v, q);
  pol_so3_exp(v, rotation);
  for (int i = 0; i < 4; i++) assert_true(q[i] == rotation[i]);
  wide_exp(v, E);
  for (int i = 0; i < 3; i++) compare(seen, angle, q[4 + i], E[4 * i + 3], 1.0);
}

static void test_exp(void **state)
{
  worst seen = {0, 0};

  (void)state;
  for_each_increment(20.5, visit_exp, &seen);
  expect_below("position of exp", &seen, 1e-15);
}

static void visit_log(const double v[6], double angle, void *seen)
{
  double q[7], back[6];

  pol_se3_exp(v, q);
  pol_se3_log(q, back);
  for (int i = 0; i < 3; i++) compare(seen, angle, back[i], (wide)v[i], angle);
  for (int i = 3; i < 6; i++) compare((worst *)seen + 1, angle, back[i], (wide)v[i], 1.0);
}

static void test_log(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_increment(pi - 0.9e-9, visit_log, seen);
  expect_below("log(exp(w, U)), rotation", &seen[0], 5e-16);
  expect_below("log(exp(w, U)), translation", &seen[1], 1.5e-15);
}

/* --- tangent operator ------------------------------------------------------------------------- */

static void visit_tangent(const double v[6], double angle, void *seen)
{
  double T[36];

  pol_se3_tangent(v, T);
  for (int j = 0; j < 6; j++) {
    double c[6] = {0}, y[6];
    wide expected[6];

    c[j] = 1.0;
    wide_tangent(v, c, NULL, expected, NULL);
    poli_se3_apply_tangent(v, c, y);
    for (int i = 0; i < 6; i++) {
      compare(seen, angle, T[6 * i + j], expected[i], 1.0);
      compare((worst *)seen + 1, angle, y[i], expected[i], 1.0);
    }
  }
}

static void test_tangent(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_increment(20.5, visit_tangent, seen);
  expect_below("T", &seen[0], 1e-15);
  expect_below("T c", &seen[1], 1e-15);
}

/* Lower left block as printed in Arnold/Cardona/Bruels 2015, (35), sine and cosine by series. */
static void closed_form(const double v[6], double S[9])
{
  wide W[9] = {0}, U[9] = {0};
  wide x = 0, wu = 0, cosine, sinc;

  for (int i = 0; i < 3; i++) {
    x += (wide)v[i] * (wide)v[i];
    wu += (wide)v[i] * (wide)v[3 + i];
  }
  wide_skew(v, 3, W);
  wide_skew(v + 3, 3, U);
  cosine = stumpff(0, x);
  sinc = stumpff(1, x);
  for (int i = 0; i < 9; i++) {
    wide UW = 0, WU = 0, WW = 0;

    for (int k = 0; k < 3; k++) {
      UW += U[i / 3 * 3 + k] * W[3 * k + i % 3];
      WU += W[i / 3 * 3 + k] * U[3 * k + i % 3];
      WW += W[i / 3 * 3 + k] * W[3 * k + i % 3];
    }
    S[i] = (double)((-(1 - cosine) * U[i] + (1 - sinc) * (UW + WU) +
                     (2 * (1 - cosine) / x - sinc) * wu * W[i] +
                     (1 - cosine - 3 * (1 - sinc)) / x * wu * WW) /
                    x);
  }
}

static void test_closed_form(void **state)
{
  uint64_t seed = 22;
  worst seen = {0, 0};

  (void)state;
  for (int n = 1; n <= 400; n++) {
    const double angle = 0.05 * n;
    double v[6], T[36], S[9];

    sample_rotation(&seed, angle, v);
    sample_vector(&seed, 3, v + 3);
    pol_se3_tangent(v, T);
    closed_form(v, S);
    for (int i = 0; i < 9; i++) compare(&seen, angle, T[6 * (3 + i / 3) + i % 3], (wide)S[i], 1.0);
  }
  expect_below("S", &seen, 6e-16);
}

/* T with the series, times T^-1 of the library, is I. */
static void visit_inverse(const double v[6], double angle, void *seen)
{
  double Ti[36];

  pol_se3_tangent_inverse(v, Ti);
  for (int j = 0; j < 6; j++) {
    double unit[6] = {0}, column[6], y[6];
    wide product[6];

    unit[j] = 1.0;
    for (int i = 0; i < 6; i++) column[i] = Ti[6 * i + j];
    wide_tangent(v, column, NULL, product, NULL);
    for (int i = 0; i < 6; i++)
      compare(seen, angle, (double)product[i], (wide)unit[i], largest(Ti, 36));
    poli_se3_apply_tangent_inverse(v, unit, y);
    wide_tangent(v, y, NULL, product, NULL);
    for (int i = 0; i < 6; i++)
      compare((worst *)seen + 1, angle, (double)product[i], (wide)unit[i], largest(Ti, 36));
  }
}

static void test_tangent_inverse(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_increment(2.0 * pi - 1e-9, visit_inverse, seen);
  expect_below("T T^-1", &seen[0], 8e-16);
  expect_below("T (T^-1 c)", &seen[1], 8e-16);
}

/* --- derivative of T(v) c --------------------------------------------------------------------- */

static void visit_derivative(const double v[6], double angle, void *seen)
{
  const double c[6] = {0.6, -0.48, 0.64, -0.36, 0.8, 0.48};
  double D[36];

  pol_se3_tangent_derivative(v, c, D);
  for (int j = 0; j < 6; j++) {
    double along[6] = {0};
    wide value[6], expected[6];

    along[j] = 1.0;
    wide_tangent(v, c, along, value, expected);
    for (int i = 0; i < 6; i++) compare(seen, angle, D[6 * i + j], expected[i], 1.0);
  }
}

static void test_derivative(void **state)
{
  worst seen = {0, 0};

  (void)state;
  for_each_increment(20.5, visit_derivative, &seen);
  expect_below("d(T c)/dv", &seen, 8e-16);
}

/* The same against differences of fourth order of the library's own T. */
static void test_derivative_by_differences(void **state)
{
  const double h = 1e-3;
  uint64_t seed = 23;

  (void)state;
  for (int n = 0; n < 60; n++) {
    double v[6], c[6], D[36];

    sample_rotation(&seed, 0.1 * n, v);
    sample_vector(&seed, 3, v + 3);
    sample_vector(&seed, 6, c);
    pol_se3_tangent_derivative(v, c, D);
    for (int j = 0; j < 6; j++) {
      double y[4][6];

      for (int k = 0; k < 4; k++) {
        static const double shift[4] = {-2.0, -1.0, 1.0, 2.0};
        double moved[6];

        for (int i = 0; i < 6; i++) moved[i] = v[i] + (i == j ? shift[k] * h : 0.0);
        poli_se3_apply_tangent(moved, c, y[k]);
      }
      for (int i = 0; i < 6; i++) {
        const double slope = (y[0][i] - 8.0 * y[1][i] + 8.0 * y[2][i] - y[3][i]) / (12.0 * h);

        assert_true(fabs(D[6 * i + j] - slope) < 3e-12);
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exp),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_tangent),
      cmocka_unit_test(test_closed_form),
      cmocka_unit_test(test_tangent_inverse),
      cmocka_unit_test(test_derivative),
      cmocka_unit_test(test_derivative_by_differences),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
