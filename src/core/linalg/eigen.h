/* Full matrices: orthogonal bases, linear systems and eigenvalues (LAPACK).  All matrices are
 * stored by columns.  Every function allocates its workspace: POL_NO_MEMORY. */
#ifndef POLHODE_LINALG_EIGEN_H
#define POLHODE_LINALG_EIGEN_H

#include <stddef.h>

#include <polhode/status.h>

/* Index of an entry of a matrix with `rows` rows. */
static inline size_t poli_at(int row, int col, int rows)
{
  return (size_t)row + (size_t)col * (size_t)rows;
}

/* C = A B or A^T B, A with `rows` rows, or columns of C; C is m x n, k the inner size. */
void poli_full_multiply(int m, int n, int k, int transposed, const double *A, const double *B,
                        double *C);

/* An orthogonal basis Q (n x n) whose first r columns span the r <= n independent columns of A (n x
 * r, overwritten); the others are perpendicular to all of them.  R (r x r, upper triangle, may be
 * NULL) is the triangular factor: A = Q R. */
pol_status poli_full_basis(int n, int r, double *A, double *Q, double *R);

/* X (n x count) <- R^-T X with the upper triangle of R (n x n). */
void poli_full_solve_triangle(int n, int count, const double *R, double *X);

/* X (n x count) <- A^-1 X; A (n x n) is overwritten.  POL_SINGULAR, with the column that depends
 * on others in *column. */
pol_status poli_full_solve(int n, double *A, int count, double *X, int *column);

/* Eigenvalues of A (n x n, overwritten) and, if V is not NULL, eigenvectors: column k of V (n x n)
 * for a real one, columns k and k + 1 as real and imaginary part for a conjugate pair, whose first
 * eigenvalue has the positive imaginary part.  POL_NOT_CONVERGED if the iteration fails. */
pol_status poli_full_eigen(int n, double *A, double *re, double *im, double *V);

/* An orthogonal basis V (n x n) whose first *zeros columns span the null space of A (n x n,
 * overwritten): singular values of at most `share` of the largest. */
pol_status poli_full_null_space(int n, double *A, double share, double *V, int *zeros);

/* A V = B V diag(values) of symmetric matrices, B positive definite: values ascending, V with V^T B
 * V = 1 in the place of A; B is overwritten.  POL_SINGULAR if B is not positive definite. */
pol_status poli_full_symmetric_eigen(int n, double *A, double *B, double *values);

#endif
