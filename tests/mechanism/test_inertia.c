/* Principal axes, and the ellipsoid that stands for a body in pictures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <polhode/lie.h>

#include "mechanism/inertia.h"

/* J = R diag(m) R^T of a rotation by any angle about any axis comes back. */
static void the_matrix_is_that_of_its_axes(void **state)
{
  (void)state;
  static const double m[][3] = {
      {1.0, 2.0, 2.5}, {3.0, 3.0, 1.0}, {2.0, 2.0, 2.0}, {1e-6, 5.0, 5.0}};
  for (int k = 0; k < 4; k++) {
    const double w[3] = {0.7 - k, 0.4 * k, 1.1};
    double q[4], R[9], J[9], moments[3], axes[9];
    pol_so3_exp(w, q);
    pol_quat_to_matrix(q, R);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        J[3 * i + j] = 0.0;
        for (int l = 0; l < 3; l++) J[3 * i + j] += R[3 * i + l] * m[k][l] * R[3 * j + l];
      }
    poli_principal_axes(J, moments, axes);
    double product = 0.0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        double again = 0.0, dot = 0.0;
        for (int l = 0; l < 3; l++) {
          again += axes[3 * i + l] * moments[l] * axes[3 * j + l];
          dot += axes[3 * l + i] * axes[3 * l + j];
        }
        assert_true(fabs(again - J[3 * i + j]) < 1e-14 * 5.0);
        assert_true(fabs(dot - (i == j)) < 1e-14);
      }
    product = axes[0] * (axes[4] * axes[8] - axes[5] * axes[7]) -
              axes[1] * (axes[3] * axes[8] - axes[5] * axes[6]) +
              axes[2] * (axes[3] * axes[7] - axes[4] * axes[6]);
    assert_true(fabs(product - 1.0) < 1e-14); /* right-handed */
  }
}

/* A solid ellipsoid of half axes a has the moments m (a_j^2 + a_k^2) / 5. */
static void an_ellipsoid_is_its_own(void **state)
{
  (void)state;
  const double a[3] = {0.3, 0.5, 0.2}, mass = 7.0;
  double moments[3], half_axes[3];
  for (int i = 0; i < 3; i++) {
    const double b = a[(i + 1) % 3], c = a[(i + 2) % 3];
    moments[i] = mass * (b * b + c * c) / 5.0;
  }
  poli_inertia_ellipsoid(mass, moments, half_axes);
  for (int i = 0; i < 3; i++) assert_true(fabs(half_axes[i] - a[i]) < 1e-15 * 4.0);

  /* a thin disc has no thickness, and round-off gives no square root of a negative number */
  poli_inertia_ellipsoid(1.0, (double[3]){1.0, 1.0, 2.0 + 1e-15}, half_axes);
  assert_true(half_axes[2] == 0.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_matrix_is_that_of_its_axes),
      cmocka_unit_test(an_ellipsoid_is_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
