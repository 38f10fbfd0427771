/* The Cayley map of SO(3) against its definition in a wider type,
 *
 *     (I - W) R = I + W,   W = w~/2,        and with R' = R v~,   (I - W) R v~ = W' (I + R),
 *
 * for increments from the smallest numbers to 20.
 */
#include <polhode/lie.h>

#include "lie/coefficients.h"
#include "lie/small.h"
#include "wide.h"

/* C = A B */
static void multiply(const wide A[9], const wide B[9], wide C[9])
{
  for (int i = 0; i < 9; i++) {
    C[i] = 0;
    for (int k = 0; k < 3; k++) C[i] += A[i / 3 * 3 + k] * B[3 * k + i % 3];
  }
}

/* k = 1 + w . w/4 */
static wide stretch(const wide w[3])
{
  return 1 + (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / 4;
}

/* y = T(w) c = (c - w x c/2)/k, which test_tangent compares with the definition */
static void wide_cayley_tangent(const wide w[3], const double c[3], wide y[3])
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;

    y[i] = ((wide)c[i] - (w[j] * (wide)c[k] - w[k] * (wide)c[j]) / 2) / stretch(w);
  }
}

/* M = I + s w~/2 */
static void set_factor(int s, const double w[3], wide M[9])
{
  for (int i = 0; i < 9; i++) M[i] = 0;
  wide_skew(w, 3, M);
  for (int i = 0; i < 9; i++) M[i] = s * M[i] / 2 + (i % 4 == 0);
}

/* --- map and inverse -------------------------------------------------------------------------- */

static void visit_map(const double w[3], double angle, void *seen)
{
  const wide wx[3] = {(wide)w[0], (wide)w[1], (wide)w[2]};
  double q[4], R[9];
  wide minus[9], plus[9], RW[9], product[9];

  pol_so3_cayley(w, q);
  compare(seen, angle, (double)((wide)q[0] * (wide)q[0] * stretch(wx)), 1, 1.0);
  for (int i = 0; i < 3; i++)
    compare(seen, angle, q[1 + i], (wide)q[0] * wx[i] / 2, fmin(angle, 1.0));

  pol_quat_to_matrix(q, R);
  for (int i = 0; i < 9; i++) RW[i] = (wide)R[i];
  set_factor(-1, w, minus);
  set_factor(1, w, plus);
  multiply(minus, RW, product);
  for (int i = 0; i < 9; i++)
    compare((worst *)seen + 1, angle, (double)(product[i] - plus[i]), 0, fmax(1.0, angle));
}

static void test_map(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_rotation(20.5, visit_map, seen);
  expect_below("cay as quaternion", &seen[0], 5e-16);
  expect_below("(I - W) R - (I + W)", &seen[1], 5e-16);
}

static void visit_inverse_map(const double w[3], double angle, void *seen)
{
  double q[4], back[3], again[3];

  pol_so3_cayley(w, q);
  pol_so3_cayley_inverse(q, back);
  for (int i = 0; i < 3; i++) compare(seen, angle, back[i], (wide)w[i], angle);

  /* -q is the same rotation */
  for (int i = 0; i < 4; i++) q[i] = -q[i];
  pol_so3_cayley_inverse(q, again);
  for (int i = 0; i < 3; i++) assert_true(again[i] == back[i]);
}

static void test_inverse_map(void **state)
{
  worst seen = {0, 0};

  (void)state;
  for_each_rotation(20.5, visit_inverse_map, &seen);
  expect_below("cay^-1(cay(w))", &seen, 4e-16);
}

/* cay(2 tan(phi/2) axis) = exp(phi axis) */
static void test_angle(void **state)
{
  const double axis[3] = {2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0};

  (void)state;
  for (int n = 0; n < 314; n++) {
    const double angle = 0.01 * n;
    double w[3], q[4], expected[4];

    poli_v3_scale(angle, axis, w);
    pol_so3_exp(w, expected);
    poli_v3_scale(2.0 * tan(0.5 * angle), axis, w);
    pol_so3_cayley(w, q);
    for (int i = 0; i < 4; i++) assert_true(fabs(q[i] - expected[i]) < 4e-16);
  }
}

/* Far out the map comes close to half turns, which the inverse does not reach. */
static void test_half_turn(void **state)
{
  const double w[3] = {2e149, -3e149, 6e149}, exact[4] = {0.0, 2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0};
  const double about_x[4] = {0.0, 1.0, 0.0, 0.0};
  double q[4], back[3];

  (void)state;
  pol_so3_cayley(w, q);
  for (int i = 0; i < 4; i++) assert_true(fabs(q[i] - exact[i]) < 3e-16);
  pol_so3_cayley_inverse(q, back);
  for (int i = 0; i < 3; i++) assert_true(fabs(back[i] - w[i]) < 4e-16 * fabs(w[i]));
  pol_so3_cayley_inverse(exact, back);
  for (int i = 0; i < 3; i++) assert_true(isinf(back[i]) && back[i] * exact[1 + i] > 0.0);
  pol_so3_cayley_inverse(about_x, back);
  assert_true(isinf(back[0]) && isnan(back[1]) && isnan(back[2]));
}

/* --- tangent operator ------------------------------------------------------------------------- */

/* The velocity T w' of the library in the derivative of the definition. */
static void visit_tangent(const double w[3], double angle, void *seen)
{
  const wide wx[3] = {(wide)w[0], (wide)w[1], (wide)w[2]};
  double T[9];
  wide minus[9], plus[9], R[9], left[9], right[9], V[9], W[9];

  /* R = ((I + W) (I + W) + w w^T/4)/k, as (I - W)^-1 = (I + W + w w^T/4)/k and w^T W = 0 */
  set_factor(-1, w, minus);
  set_factor(1, w, plus);
  multiply(plus, plus, R);
  for (int i = 0; i < 9; i++) R[i] = (R[i] + wx[i / 3] * wx[i % 3] / 4) / stretch(wx);

  pol_so3_cayley_tangent(w, T);
  for (int j = 0; j < 3; j++) {
    const double rate[3] = {j == 0, j == 1, j == 2}, v[3] = {T[j], T[3 + j], T[6 + j]};
    wide expected[3];
    double y[3];

    /* (I - W) R v~ = W' (I + R) */
    for (int i = 0; i < 9; i++) V[i] = W[i] = 0;
    wide_skew(v, 3, V);
    wide_skew(rate, 3, W);
    multiply(minus, R, right);
    multiply(right, V, left);
    for (int i = 0; i < 9; i++) V[i] = (R[i] + (i % 4 == 0)) / 2;
    multiply(W, V, right);
    for (int i = 0; i < 9; i++) compare(seen, angle, (double)(left[i] - right[i]), 0, 1.0);

    /* the same to the last digits of each entry, and without the matrix */
    wide_cayley_tangent(wx, rate, expected);
    poli_so3_cayley_apply_tangent(w, rate, y);
    for (int i = 0; i < 3; i++) {
      const double scale = (double)wide_abs(expected[i]);

      compare((worst *)seen + 1, angle, v[i], expected[i], scale);
      compare((worst *)seen + 2, angle, y[i], expected[i], scale);
    }
  }
}

static void test_tangent(void **state)
{
  worst seen[3] = {{0, 0}};

  (void)state;
  for_each_rotation(20.5, visit_tangent, seen);
  expect_below("(I - W) R v~ - W' (I + R)", &seen[0], 5e-16);
  expect_below("T", &seen[1], 5e-16);
  expect_below("T c", &seen[2], 5e-16);
}

/* T in the wider type, times T^-1 of the library, is I. */
static void visit_inverse(const double w[3], double angle, void *seen)
{
  const wide wx[3] = {(wide)w[0], (wide)w[1], (wide)w[2]};
  double Ti[9], size = 0.0;

  pol_so3_cayley_tangent_inverse(w, Ti);
  for (int i = 0; i < 9; i++) size = fmax(size, fabs(Ti[i]));
  for (int j = 0; j < 3; j++) {
    const double unit[3] = {j == 0, j == 1, j == 2}, column[3] = {Ti[j], Ti[3 + j], Ti[6 + j]};
    double y[3];
    wide product[3];

    wide_cayley_tangent(wx, column, product);
    for (int i = 0; i < 3; i++)
      compare(seen, angle, (double)product[i], (wide)unit[i], fmax(1.0, angle));
    poli_so3_cayley_apply_tangent_inverse(w, unit, y);
    for (int i = 0; i < 3; i++) compare((worst *)seen + 1, angle, y[i], (wide)column[i], size);
  }
}

static void test_tangent_inverse(void **state)
{
  worst seen[2] = {{0, 0}};

  (void)state;
  for_each_rotation(20.5, visit_inverse, seen);
  expect_below("T T^-1", &seen[0], 2.5e-16);
  expect_below("T^-1 c", &seen[1], 2.5e-16);
}

/* d(T(w) c)/dw against differences of fourth order in the wider type. */
static void visit_derivative(const double w[3], double angle, void *seen)
{
  const double c[3] = {0.6, -0.48, 0.64}, h = ldexp(1.0, -20);
  double D[9];

  pol_so3_cayley_tangent_derivative(w, c, D);
  for (int j = 0; j < 3; j++) {
    static const int shift[4] = {-2, -1, 1, 2};
    wide y[4][3];

    for (int k = 0; k < 4; k++) {
      wide moved[3] = {(wide)w[0], (wide)w[1], (wide)w[2]};

      moved[j] += shift[k] * (wide)h;
      wide_cayley_tangent(moved, c, y[k]);
    }
    for (int i = 0; i < 3; i++) {
      const wide slope = (y[0][i] - 8 * y[1][i] + 8 * y[2][i] - y[3][i]) / (12 * (wide)h);

      compare(seen, angle, D[3 * i + j], slope, 1.0);
    }
  }
}

static void test_derivative(void **state)
{
  worst seen = {0, 0};

  (void)state;
  for_each_rotation(20.5, visit_derivative, &seen);
  expect_below("d(T c)/dw", &seen, 3e-16);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_map),        cmocka_unit_test(test_inverse_map),
      cmocka_unit_test(test_angle),      cmocka_unit_test(test_half_turn),
      cmocka_unit_test(test_tangent),    cmocka_unit_test(test_tangent_inverse),
      cmocka_unit_test(test_derivative),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
