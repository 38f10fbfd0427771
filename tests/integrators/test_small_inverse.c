/* The inverse of the small blocks of Newton's matrix: permutations, whose pivots are zero on the
 * diagonal, matrices with small leading entries, and singular ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "integrators/alpha_matrix.c"

#include "check.h"

enum { MOST = 6 };

/* Largest entry of A A^-1 - 1. */
static double deviation(const double *A, int n)
{
  double inverse[MOST * MOST], worst = 0.0;
  memcpy(inverse, A, (size_t)(n * n) * sizeof *A);
  if (!invert(inverse, n)) return HUGE_VAL;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = i == j ? -1.0 : 0.0;
      for (int k = 0; k < n; k++) sum += A[i * n + k] * inverse[k * n + j];
      worst = fmax(worst, fabs(sum));
    }
  return worst;
}

/* All orders of n rows. */
static void check_permutations(int *rows, int n, int chosen)
{
  double A[MOST * MOST] = {0.0};
  for (int i = chosen; i < n; i++) {
    const int row = rows[i];
    rows[i] = rows[chosen], rows[chosen] = row;
    check_permutations(rows, n, chosen + 1);
    rows[chosen] = rows[i], rows[i] = row;
  }
  if (chosen < n) return;
  for (int i = 0; i < n; i++) A[i * n + rows[i]] = i + 1.0;
  assert_true(deviation(A, n) == 0.0);
}

static void permutations_are_inverted(void **state)
{
  (void)state;
  for (int n = 1; n <= MOST; n++) {
    int rows[MOST] = {0, 1, 2, 3, 4, 5};
    check_permutations(rows, n, 0);
  }
}

/* Without pivots round-off would be magnified by the reciprocal of the small ones. */
static void small_pivots_are_avoided(void **state)
{
  (void)state;
  uint64_t seed = 7;
  for (int trial = 0; trial < 300; trial++) {
    double A[MOST * MOST];
    random_numbers(&seed, A, MOST * MOST);
    for (int i = 0; i < MOST; i++) A[i * MOST + i] *= 1e-14;
    assert_true(deviation(A, MOST) < 1e-10);
  }
}

static void singular_ones_are_refused(void **state)
{
  (void)state;
  double A[9] = {1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0};
  assert_false(invert(A, 3));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(permutations_are_inverted),
      cmocka_unit_test(small_pivots_are_avoided),
      cmocka_unit_test(singular_ones_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
