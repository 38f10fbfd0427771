/* Full matrices by LAPACK; see eigen.h. */
#include "linalg/eigen.h"

#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

enum { BY_COLUMNS = LAPACK_COL_MAJOR };

/* What LAPACKE returns where the iteration of an algorithm can fail. */
static pol_status status_of(lapack_int info)
{
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
    return POL_NO_MEMORY;
  if (info < 0) return POL_NOT_FINITE; /* LAPACKE checks for numbers that are not finite */
  return info > 0 ? POL_NOT_CONVERGED : POL_OK;
}

void poli_full_multiply(int m, int n, int k, int transposed, const double *A, const double *B,
                        double *C)
{
  for (int j = 0; j < n; j++) {
    double *c = C + (size_t)j * (size_t)m;
    const double *b = B + (size_t)j * (size_t)k;
    memset(c, 0, (size_t)m * sizeof *c);
    if (transposed) {
      for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) c[i] += A[(size_t)i * (size_t)k + (size_t)l] * b[l];
    } else {
      for (int l = 0; l < k; l++) {
        const double factor = b[l], *a = A + (size_t)l * (size_t)m;
        if (factor == 0.0) continue;
        for (int i = 0; i < m; i++) c[i] += factor * a[i];
      }
    }
  }
}

pol_status poli_full_basis(int n, int r, double *A, double *Q, double *R)
{
  double *tau = calloc((size_t)r + 1, sizeof *tau);
  if (!tau) return POL_NO_MEMORY;
  memset(Q, 0, (size_t)n * (size_t)n * sizeof *Q);
  lapack_int info = r > 0 ? LAPACKE_dgeqrf(BY_COLUMNS, n, r, A, n, tau) : 0;
  for (int j = 0; j < r && info == 0; j++) {
    memcpy(Q + poli_at(0, j, n), A + poli_at(0, j, n), (size_t)n * sizeof *Q);
    for (int i = 0; i < r && R; i++) R[poli_at(i, j, r)] = i <= j ? A[poli_at(i, j, n)] : 0.0;
  }
  if (r == 0)
    for (int i = 0; i < n; i++) Q[poli_at(i, i, n)] = 1.0;
  else if (info == 0)
    info = LAPACKE_dorgqr(BY_COLUMNS, n, n, r, Q, n, tau);
  free(tau);
  return status_of(info);
}

void poli_full_solve_triangle(int n, int count, const double *R, double *X)
{
  if (n > 0 && count > 0) LAPACKE_dtrtrs(BY_COLUMNS, 'U', 'T', 'N', n, count, R, n, X, n);
}

pol_status poli_full_solve(int n, double *A, int count, double *X, int *column)
{
  lapack_int *pivots = calloc((size_t)n + 1, sizeof *pivots);
  if (!pivots) return POL_NO_MEMORY;
  const lapack_int info =
      n > 0 && count > 0 ? LAPACKE_dgesv(BY_COLUMNS, n, count, A, n, pivots, X, n) : 0;
  free(pivots);
  *column = info > 0 ? (int)info - 1 : -1;
  return info > 0 ? POL_SINGULAR : status_of(info);
}

pol_status poli_full_eigen(int n, double *A, double *re, double *im, double *V)
{
  if (n == 0) return POL_OK;
  return status_of(LAPACKE_dgeev(BY_COLUMNS, 'N', V ? 'V' : 'N', n, A, n, re, im, NULL, n, V, n));
}

pol_status poli_full_null_space(int n, double *A, double share, double *V, int *zeros)
{
  const size_t size = (size_t)n * (size_t)n;
  *zeros = 0;
  if (n == 0) return POL_OK;
  double *work = calloc(size + 2 * (size_t)n, sizeof *work); /* V^T, singular values, rest */
  if (!work) return POL_NO_MEMORY;
  double *sizes = work + size;
  const lapack_int info =
      LAPACKE_dgesvd(BY_COLUMNS, 'N', 'A', n, n, A, n, sizes, NULL, n, work, n, sizes + n);
  while (*zeros < n && info == 0 && !(sizes[n - 1 - *zeros] > share * sizes[0])) ++*zeros;
  /* singular values descend: the null space comes last, and goes to the front */
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) V[poli_at(i, k, n)] = work[poli_at(n - 1 - k, i, n)];
  free(work);
  return status_of(info);
}

pol_status poli_full_symmetric_eigen(int n, double *A, double *B, double *values)
{
  if (n == 0) return POL_OK;
  const lapack_int info = LAPACKE_dsygv(BY_COLUMNS, 1, 'V', 'L', n, A, n, B, n, values);
  return info > n ? POL_SINGULAR : status_of(info);
}
