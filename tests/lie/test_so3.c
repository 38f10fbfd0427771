/* SO(3) against the power series of exp and T in a wider type, at special angles from the smallest
 * numbers to 20 and at a dense set between, each with several axes.
 */
#include <polhode/lie.h>

#include "lie/coefficients.h"
#include "lie/small.h"
#include "wide.h"

/* --- exp and log ------------------------------------------------------------------------------ */

static void visit_exp(const double w[3], double angle, void *seen)
{
  const double v[6] = {w[0], w[1], w[2], 0, 0, 0};
  wide x = 0, E[16];
  double q[4], R[9];

  pol_so3_exp(w, q);
  for (int i = 0; i < 3; i++) x += (wide)w[i] * (wide)w[i];
  compare(seen, angle, q[0], stumpff(0, x / 4), fmax(1.0, angle));
  for (int i = 0; i < 3; i++)
    compare(seen, angle, q[1 + i], (wide)w[i] * stumpff(1, x / 4) / 2, angle);

  wide_exp(v, E);
  pol_quat_to_matrix(q, R);
  for (int i = 0; i < 9; i++)
    compare((worst *)seen + 1, angle, R[i], E[4 * (i / 3) + i % 3], fmax(1.0, angle));
}

static void test_exp(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_rotation(20.5, visit_exp, seen);
  expect_below("exp as quaternion", &seen[0], 2.5e-16);
  expect_below("exp as matrix", &seen[1], 8e-16);
}

static void visit_log(const double w[3], double angle, void *seen)
{
  double q[4], minus_q[4], back[3], again[3];

  pol_so3_exp(w, q);
  pol_so3_log(q, back);
  for (int i = 0; i < 3; i++) compare(seen, angle, back[i], (wide)w[i], angle);

  /* -q is the same rotation */
  for (int i = 0; i < 4; i++) minus_q[i] = -q[i];
  pol_so3_log(minus_q, again);
  for (int i = 0; i < 3; i++) assert_true(again[i] == back[i]);
}

static void test_log(void **state)
{
  worst seen = {0, 0};

  (void)state;
  for_each_rotation(pi - 0.9e-9, visit_log, &seen);
  expect_below("log(exp(w))", &seen, 5e-16);
}

/* Half turns: either sign of the axis is right, the angle is pi. */
static void test_log_of_half_turn(void **state)
{
  static const double scalar[] = {0.0, -0.0, 1e-17, -1e-17, 1e-300, 6.123e-17};
  const double axis[3] = {2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0};

  (void)state;
  for (int i = 0; i < 6; i++) {
    const double q[4] = {scalar[i], axis[0], axis[1], axis[2]};
    double w[3];

    pol_so3_log(q, w);
    assert_true(fabs(sqrt(poli_v3_dot(w, w)) - pi) < 1e-15);
    for (int k = 0; k < 3; k++) assert_true(fabs(fabs(w[k]) - pi * fabs(axis[k])) < 1e-15);
    assert_true(scalar[i] < 0.0 ? w[0] < 0.0 : w[0] > 0.0);
  }
}

/* Angles above pi come back as the shorter way round. */
static void test_log_beyond_pi(void **state)
{
  const double w[3] = {0.0, 4.0, 0.0};
  double q[4], back[3];

  (void)state;
  pol_so3_exp(w, q);
  pol_so3_log(q, back);
  assert_true(fabs(back[1] - (4.0 - 2.0 * pi)) < 1e-15 && back[0] == 0.0 && back[2] == 0.0);
}

/* --- tangent operator ------------------------------------------------------------------------- */

static void visit_tangent(const double w[3], double angle, void *seen)
{
  const double v[6] = {w[0], w[1], w[2], 0, 0, 0};
  double T[9];

  pol_so3_tangent(w, T);
  for (int j = 0; j < 3; j++) {
    double c[6] = {0}, y[3];
    wide expected[6];

    /* off the diagonal T is of the size of the angle */
    c[j] = 1.0;
    wide_tangent(v, c, NULL, expected, NULL);
    poli_so3_apply_tangent(w, c, y);
    for (int i = 0; i < 3; i++) {
      const double scale = i == j ? 1.0 : fmin(1.0, angle);

      compare(seen, angle, T[3 * i + j], expected[i], scale);
      compare((worst *)seen + 1, angle, y[i], expected[i], scale);
    }
  }
}

static void test_tangent(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_rotation(20.5, visit_tangent, seen);
  expect_below("T", &seen[0], 8e-16);
  expect_below("T c", &seen[1], 8e-16);
}

/* T with the series, times T^-1 of the library, is I. */
static void visit_inverse(const double w[3], double angle, void *seen)
{
  const double v[6] = {w[0], w[1], w[2], 0, 0, 0};
  double Ti[9], size = 0.0;

  pol_so3_tangent_inverse(w, Ti);
  for (int i = 0; i < 9; i++) size = fmax(size, fabs(Ti[i]));
  for (int j = 0; j < 3; j++) {
    const double unit[3] = {j == 0, j == 1, j == 2};
    const double column[6] = {Ti[j], Ti[3 + j], Ti[6 + j], 0, 0, 0};
    double y[6] = {0};
    wide product[6];

    wide_tangent(v, column, NULL, product, NULL);
    for (int i = 0; i < 3; i++) compare(seen, angle, (double)product[i], (wide)unit[i], size);
    poli_so3_apply_tangent_inverse(w, unit, y);
    wide_tangent(v, y, NULL, product, NULL);
    for (int i = 0; i < 3; i++)
      compare((worst *)seen + 1, angle, (double)product[i], (wide)unit[i], size);
  }
}

static void test_tangent_inverse(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_rotation(2.0 * pi - 1e-9, visit_inverse, seen);
  expect_below("T T^-1", &seen[0], 8e-16);
  expect_below("T (T^-1 c)", &seen[1], 8e-16);
}

/* Off the diagonal T^-1 is w~/2 for small w, with all digits. */
static void test_small_inverse(void **state)
{
  const double w[3] = {3e-170, -1e-170, 2e-170};
  double Ti[9];

  (void)state;
  pol_so3_tangent_inverse(w, Ti);
  assert_true(Ti[0] == 1.0 && Ti[4] == 1.0 && Ti[8] == 1.0);
  assert_true(Ti[1] == -1e-170 && Ti[2] == -0.5e-170 && Ti[5] == -1.5e-170);
  assert_true(Ti[3] == 1e-170 && Ti[6] == 0.5e-170 && Ti[7] == 1.5e-170);
}

/* --- derivative of T(w) c --------------------------------------------------------------------- */

static void visit_derivative(const double w[3], double angle, void *seen)
{
  const double v[6] = {w[0], w[1], w[2], 0, 0, 0}, c[6] = {0.6, -0.48, 0.64, 0, 0, 0};
  double D[9];

  pol_so3_tangent_derivative(w, c, D);
  for (int j = 0; j < 3; j++) {
    double along[6] = {0};
    wide value[6], expected[6];

    along[j] = 1.0;
    wide_tangent(v, c, along, value, expected);
    for (int i = 0; i < 3; i++) compare(seen, angle, D[3 * i + j], expected[i], 1.0);
  }
}

static void test_derivative(void **state)
{
  worst seen = {0, 0};

  (void)state;
  for_each_rotation(20.5, visit_derivative, &seen);
  expect_below("d(T c)/dw", &seen, 5e-16);
}

/* The same against differences of fourth order of the library's own T. */
static void test_derivative_by_differences(void **state)
{
  const double h = 1e-3;
  uint64_t seed = 12;

  (void)state;
  for (int n = 0; n < 60; n++) {
    double w[3], c[3], D[9];

    sample_rotation(&seed, 0.1 * n, w);
    sample_vector(&seed, 3, c);
    pol_so3_tangent_derivative(w, c, D);
    for (int j = 0; j < 3; j++) {
      double y[4][3];

      for (int k = 0; k < 4; k++) {
        static const double shift[4] = {-2.0, -1.0, 1.0, 2.0};
        double moved[3] = {w[0], w[1], w[2]}, T[9];

        moved[j] += shift[k] * h;
        pol_so3_tangent(moved, T);
        poli_m3_apply(T, c, y[k]);
      }
      for (int i = 0; i < 3; i++) {
        const double slope = (y[0][i] - 8.0 * y[1][i] + 8.0 * y[2][i] - y[3][i]) / (12.0 * h);

        assert_true(fabs(D[3 * i + j] - slope) < 2e-12);
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exp),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_log_of_half_turn),
      cmocka_unit_test(test_log_beyond_pi),
      cmocka_unit_test(test_tangent),
      cmocka_unit_test(test_tangent_inverse),
      cmocka_unit_test(test_small_inverse),
      cmocka_unit_test(test_derivative),
      cmocka_unit_test(test_derivative_by_differences),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
