/* Right-looking elimination (Golub/Van Loan, Matrix Computations, 2013, algorithm 3.4.1) and
 * substitution by columns.  All inner loops run down columns, so that the compiler turns them into
 * vector instructions, and take two columns of L or U at a time, which halves the loads and stores.
 * Zero entries of U, of which the matrix of a constrained mechanism has many, cost little.
 */
#include "linalg/lu.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* Column k becomes that of L: brings its largest entry to the diagonal and divides by it. */
static void take_pivot(int n, double *lu, int *pivot, int k)
{
  double *l = lu + (size_t)k * (size_t)n;
  double largest = fabs(l[k]);
  int row = k;
  for (int i = k + 1; i < n; i++) {
    if (fabs(l[i]) > largest) {
      largest = fabs(l[i]);
      row = i;
    }
  }
  pivot[k] = row;
  for (int j = 0; j < n && row != k; j++) {
    double *column = lu + (size_t)j * (size_t)n;
    double entry = column[k];
    column[k] = column[row];
    column[row] = entry;
  }
  if (fabs(l[k]) < DBL_MIN) return;
  double inverse = 1.0 / l[k];
  for (int i = k + 1; i < n; i++) l[i] *= inverse;
}

void poli_lu_factor(int n, double *lu, int *pivot)
{
  for (int k = 0; k < n; k += 2) {
    double *restrict l = lu + (size_t)k * (size_t)n;
    take_pivot(n, lu, pivot, k);
    if (k + 1 == n) break;

    /* bring the next column up to date and take it too */
    double *restrict m = l + n;
    for (int i = k + 1; i < n; i++) m[i] -= l[i] * m[k];
    take_pivot(n, lu, pivot, k + 1);

    /* subtract l u^T + m v^T from what is left of the matrix */
    for (int j = k + 2; j < n; j++) {
      double *restrict column = lu + (size_t)j * (size_t)n;
      double u = column[k];
      double v = column[k + 1] - l[k + 1] * u;
      column[k + 1] = v;
      if (u == 0.0 && v == 0.0) continue;
      for (int i = k + 2; i < n; i++) column[i] -= l[i] * u + m[i] * v;
    }
  }
}

void poli_lu_solve(int n, const double *lu, const int *pivot, const double *inverse_pivot,
                   double *restrict x)
{
  /* x <- P x */
  for (int k = 0; k < n; k++) {
    double entry = x[pivot[k]];
    x[pivot[k]] = x[k];
    x[k] = entry;
  }
  /* x <- L^-1 x; the last column has nothing below the diagonal */
  for (int k = 0; k + 1 < n; k += 2) {
    const double *restrict l = lu + (size_t)k * (size_t)n;
    const double *restrict m = l + n;
    double first = x[k];
    double second = x[k + 1] - l[k + 1] * first;
    x[k + 1] = second;
    for (int i = k + 2; i < n; i++) x[i] -= l[i] * first + m[i] * second;
  }
  /* x <- U^-1 x; an odd first column is left over */
  int k = n - 1;
  for (; k > 0; k -= 2) {
    const double *restrict u = lu + (size_t)k * (size_t)n;
    const double *restrict v = u - n;
    double last = x[k] * inverse_pivot[k];
    double previous = (x[k - 1] - u[k - 1] * last) * inverse_pivot[k - 1];
    x[k] = last;
    x[k - 1] = previous;
    for (int i = 0; i < k - 1; i++) x[i] -= u[i] * last + v[i] * previous;
  }
  if (k == 0) x[0] *= inverse_pivot[0];
}
