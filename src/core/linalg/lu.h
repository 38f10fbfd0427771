/* LU factorisation of a small full matrix with partial pivoting, in LAPACK's layout: the matrix by
 * columns, overwritten with L below the diagonal and U on and above it; pivot[k] is the row that
 * was exchanged with row k, counted from 0.  solver_dense.c says for which sizes it is meant.
 */
#ifndef POLI_LINALG_LU_H
#define POLI_LINALG_LU_H

/* lu (n x n) becomes its factors.  A column is not divided by a pivot too small for its
 * reciprocal, so that no number becomes infinite. */
void poli_lu_factor(int n, double *lu, int *pivot);

/* x <- U^-1 L^-1 P x, where inverse_pivot holds the reciprocals of the diagonal of U. */
void poli_lu_solve(int n, const double *lu, const int *pivot, const double *inverse_pivot,
                   double *x);

#endif
