/* Right-looking elimination, a column of L at a time (Golub/Van Loan, Matrix Computations, 2013,
 * algorithm 3.4.1), and substitution by columns.  All inner loops run down a column, so that the
 * compiler turns them into vector instructions.  Zero entries of U, of which the matrix of a
 * constrained mechanism has many, cost nothing.
 */
#include "linalg/lu.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* The row of the largest entry of column[from .. n-1]. */
static int find_pivot(const double *column, int from, int n)
{
  int pivot = from;
  double largest = fabs(column[from]);
  for (int i = from + 1; i < n; i++) {
    if (fabs(column[i]) > largest) {
      largest = fabs(column[i]);
      pivot = i;
    }
  }
  return pivot;
}

static void exchange_rows(int n, double *lu, int i, int k)
{
  for (int j = 0; j < n; j++) {
    double *column = lu + (size_t)j * (size_t)n;
    double entry = column[i];
    column[i] = column[k];
    column[k] = entry;
  }
}

void pol_lu_factor(int n, double *lu, int *pivot)
{
  for (int k = 0; k < n; k++) {
    double *restrict l = lu + (size_t)k * (size_t)n;
    pivot[k] = find_pivot(l, k, n);
    if (pivot[k] != k) exchange_rows(n, lu, k, pivot[k]);
    if (fabs(l[k]) < DBL_MIN) continue;

    /* l = column of L; subtract l u^T from what is left of the matrix */
    double inverse = 1.0 / l[k];
    for (int i = k + 1; i < n; i++) l[i] *= inverse;
    for (int j = k + 1; j < n; j++) {
      double *restrict column = lu + (size_t)j * (size_t)n;
      double u = column[k];
      if (u == 0.0) continue;
      for (int i = k + 1; i < n; i++) column[i] -= l[i] * u;
    }
  }
}

void pol_lu_solve(int n, const double *lu, const int *pivot, const double *inverse_pivot,
                  double *restrict x)
{
  /* x <- P x */
  for (int k = 0; k < n; k++) {
    double entry = x[pivot[k]];
    x[pivot[k]] = x[k];
    x[k] = entry;
  }
  /* x <- L^-1 x */
  for (int k = 0; k < n; k++) {
    const double *restrict l = lu + (size_t)k * (size_t)n;
    double entry = x[k];
    for (int i = k + 1; i < n; i++) x[i] -= l[i] * entry;
  }
  /* x <- U^-1 x */
  for (int k = n - 1; k >= 0; k--) {
    const double *restrict u = lu + (size_t)k * (size_t)n;
    double entry = x[k] * inverse_pivot[k];
    x[k] = entry;
    for (int i = 0; i < k; i++) x[i] -= u[i] * entry;
  }
}
