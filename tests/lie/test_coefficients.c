/* The scalar functions of the rotation angle against their power series in a wider type, over a
 * dense set of angles up to 20 and special angles down to the smallest numbers.
 *
 * The error is measured against |f|, or where that is larger against the relative change of f with
 * x = phi^2, |x df/dx|: where f has a zero or a pole (2 pi for most of them) one rounding of x does
 * as much to f, and nothing better is possible.
 */
#include "lie/coefficients.h"

#include "wide.h"

enum { SINC, COSINE, B, S, D1, D2, D11, D22, E, E1, NUM_FUNCTIONS };

static const char *const names[NUM_FUNCTIONS] = {"sinc", "cosine", "b",   "s", "d1",
                                                 "d2",   "d11",    "d22", "e", "e1"};

/* All functions at x = phi^2 from Stumpff's: b = c2, s = c3 and 2 dcn/dx = n c(n+2) - c(n+1).  The
 * first term of the series of cn is 1/n!, the rest -x c(n+2): that needs no sum of its own. */
static void reference(wide x, wide f[NUM_FUNCTIONS])
{
  static const int factorial[6] = {1, 1, 2, 6, 24, 120};
  wide c[8];

  for (int n = 7; n >= 2; n--)
    c[n] = n >= 6 ? stumpff(n, x) : (wide)1 / factorial[n] - x * c[n + 2];
  f[SINC] = stumpff(1, x / 4);
  f[COSINE] = stumpff(0, x / 4);
  f[B] = c[2];
  f[S] = c[3];
  f[D1] = c[3] - 2 * c[4];
  f[D2] = 3 * c[5] - c[4];
  f[D11] = 5 * c[5] - c[4] - 8 * c[6];
  f[D22] = 15 * c[7] - 7 * c[6] + c[5];
  f[E] = f[D1] / (2 * c[2]);
  f[E1] = (f[D11] * c[2] + f[D1] * f[D1]) / (2 * c[2] * c[2]);
}

static void library(double x, double f[NUM_FUNCTIONS])
{
  poli_half_angle half;
  poli_tangent_coefficients t;
  poli_inverse_coefficients i;

  poli_half_angle_set(x, &half);
  poli_tangent_coefficients_set(&half, 2, &t);
  poli_inverse_coefficients_set(&half, 1, &i);
  f[SINC] = half.sinc;
  f[COSINE] = half.cosine;
  f[B] = t.b;
  f[S] = t.s;
  f[D1] = t.d1;
  f[D2] = t.d2;
  f[D11] = t.d11;
  f[D22] = t.d22;
  f[E] = i.e;
  f[E1] = i.e1;
}

/* Adds the errors at one angle to those seen. */
static void measure(double angle, worst seen[NUM_FUNCTIONS])
{
  const double x = angle * angle, rounding = ldexp(1.0, -53);
  const int num = angle < 2.0 * pi ? NUM_FUNCTIONS : E; /* T^-1 ends at 2 pi */
  wide expected[NUM_FUNCTIONS], above[NUM_FUNCTIONS], below[NUM_FUNCTIONS];
  double got[NUM_FUNCTIONS];

  library(x, got);
  reference((wide)x, expected);
  reference((wide)x * (1 + (wide)rounding), above);
  reference((wide)x * (1 - (wide)rounding), below);
  for (int i = 0; i < num; i++) {
    const double value = (double)wide_abs(expected[i]);
    const double up = (double)wide_abs(above[i] - expected[i]);
    const double down = (double)wide_abs(below[i] - expected[i]);

    compare(&seen[i], angle, got[i], expected[i], fmax(value, fmax(up, down) / rounding));
  }
}

static void test_up_to_two_pi(void **state)
{
  static const double tolerance[NUM_FUNCTIONS] = {2.5e-16, 2.5e-16, 4.5e-16, 3e-16, 5e-16,
                                                  5e-16,   5.5e-16, 6e-16,   5e-16, 6.5e-16};
  worst seen[NUM_FUNCTIONS] = {{0, 0}};

  (void)state;
  for (int i = 0; i < NUM_SPECIAL_ANGLES; i++)
    if (special_angles[i] < 2.0 * pi) measure(special_angles[i], seen);
  for (int i = 0; i < 6283; i++) measure(0.001 * i, seen);
  for (int i = 0; i < NUM_FUNCTIONS; i++) expect_below(names[i], &seen[i], tolerance[i]);
}

/* Those without zero and pole, so that the error is a plain relative one. */
static void test_relative_error(void **state)
{
  static const int functions[] = {S, D2, D11, D22};
  static const double tolerance[] = {3e-16, 5e-16, 8e-16, 7e-16};

  worst seen[4] = {{0, 0}};

  (void)state;
  for (int i = 0; i < 6283; i++) {
    const double angle = 0.001 * i + 0.0001;
    double got[NUM_FUNCTIONS];
    wide expected[NUM_FUNCTIONS];

    library(angle * angle, got);
    reference((wide)(angle * angle), expected);
    for (int k = 0; k < 4; k++) {
      const int f = functions[k];

      compare(&seen[k], angle, got[f], expected[f], (double)wide_abs(expected[f]));
    }
  }
  for (int k = 0; k < 4; k++) expect_below(names[functions[k]], &seen[k], tolerance[k]);
}

static void test_beyond_two_pi(void **state)
{
  static const double tolerance[E] = {2.5e-16, 2.5e-16, 5e-16, 3e-16, 6e-16, 7e-16, 9e-16, 9e-16};
  worst seen[NUM_FUNCTIONS] = {{0, 0}};

  (void)state;
  for (int i = 0; i < NUM_SPECIAL_ANGLES; i++)
    if (special_angles[i] > 2.0 * pi) measure(special_angles[i], seen);
  for (int i = 0; i <= 3400; i++) measure(6.5 + 13.5 * i / 3400.0, seen);
  for (int i = 0; i < E; i++) expect_below(names[i], &seen[i], tolerance[i]);
}

/* At zero the functions are the first terms of their series, correctly rounded. */
static void test_at_zero(void **state)
{
  static const double expected[NUM_FUNCTIONS] = {1.0,        1.0,         0.5,         1.0 / 6.0,
                                                 1.0 / 12.0, -1.0 / 60.0, -1.0 / 90.0, 1.0 / 630.0,
                                                 1.0 / 12.0, 1.0 / 360.0};
  double got[NUM_FUNCTIONS];

  (void)state;
  library(0.0, got);
  for (int i = 0; i < NUM_FUNCTIONS; i++)
    assert_true(fabs(got[i] - expected[i]) <= 2.3e-16 * fabs(expected[i]));
}

/* Lower orders give the same numbers and leave the rest alone. */
static void test_orders(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    poli_half_angle half;
    poli_tangent_coefficients all, some = {0.0, 0.0, -7.0, -7.0, -7.0, -7.0};
    poli_inverse_coefficients both, one = {0.0, -7.0};

    poli_half_angle_set(i ? 30.0 : 0.3, &half);
    poli_tangent_coefficients_set(&half, 2, &all);
    poli_tangent_coefficients_set(&half, 0, &some);
    assert_true(some.b == all.b && some.s == all.s && some.d1 == -7.0 && some.d2 == -7.0);
    poli_tangent_coefficients_set(&half, 1, &some);
    assert_true(some.d1 == all.d1 && some.d2 == all.d2 && some.d11 == -7.0 && some.d22 == -7.0);
    poli_inverse_coefficients_set(&half, 1, &both);
    poli_inverse_coefficients_set(&half, 0, &one);
    assert_true(one.e == both.e && one.e1 == -7.0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_up_to_two_pi),  cmocka_unit_test(test_relative_error),
      cmocka_unit_test(test_beyond_two_pi), cmocka_unit_test(test_at_zero),
      cmocka_unit_test(test_orders),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
