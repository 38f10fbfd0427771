/* Newton matrices against finite differences of their residuals. */
#ifndef POLHODE_TESTS_COLUMNS_H
#define POLHODE_TESTS_COLUMNS_H

#include <polhode/linalg.h>

#include "check.h"

enum { MAX_N = 64 };

/* Largest deviation of a column of a matrix from the finite difference of the residual at x,
 * relative to the column.  The differences take steps of `fine` times the size of an unknown. */
static inline double worst_column(const pol_pattern *pattern, const double *values,
                                  pol_status (*residual)(const double *x, double *r, void *user),
                                  void *user, double fine, double x[MAX_N])
{
  static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
  const int n = pattern->cols;
  double r[4][MAX_N], worst = 0.0;
  assert_true(n <= MAX_N);
  for (int j = 0; j < n; j++) {
    double column[MAX_N] = {0.0}, step = fine * fmax(1.0, fabs(x[j])), at = x[j], size = 1e-3;
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
      column[pattern->row[k]] = values[k];
    for (int k = 0; k < 4; k++) {
      x[j] = at + offset[k] * step;
      assert_int_equal(residual(x, r[k], user), POL_OK);
    }
    x[j] = at;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(column[i]));
    for (int i = 0; i < n; i++) {
      double f[4] = {r[0][i], r[1][i], r[2][i], r[3][i]};
      worst = fmax(worst, fabs(difference(f, step) - column[i]) / size);
    }
  }
  return worst;
}

#endif
