/* Sparse Cholesky factorisation P A P^T = L L^T of large symmetric positive definite matrices, such
 * as stiffness matrices of finite elements: multifrontal (Duff and Reid 1983), with dense blocks of
 * columns of the same structure, in the order of AMD. */
#ifndef POLHODE_LINALG_CHOLESKY_H
#define POLHODE_LINALG_CHOLESKY_H

#include <polhode/linalg.h>
#include <stddef.h>

typedef struct poli_cholesky poli_cholesky;

/* Analyses the pattern, which is symmetric, has all of both triangles and the diagonal, and must
 * outlive the factorisation. */
pol_status poli_cholesky_create(poli_cholesky **cholesky, const pol_pattern *pattern);
void poli_cholesky_free(poli_cholesky **cholesky);

/* Numbers in L, zeros in its dense blocks included. */
size_t poli_cholesky_size(const poli_cholesky *cholesky);

/* POL_SINGULAR: the matrix is not positive definite, beyond round-off; *column depends on those
 * that were eliminated before it. */
pol_status poli_cholesky_factor(poli_cholesky *cholesky, const double *values, int *column);

/* With the last factorisation: x <- L^-1 P x,  x <- P^T L^-T x,  x <- A^-1 x. */
void poli_cholesky_forward(poli_cholesky *cholesky, double *x);
void poli_cholesky_backward(poli_cholesky *cholesky, double *x);
void poli_cholesky_solve(poli_cholesky *cholesky, double *x);

#endif
