/* What solver.c and the backends of the linear solver share: the table of functions that makes a
 * backend, and the rule that detects a singular matrix.
 *
 * A backend sees the equilibrated matrix only (see solver.c): all entries are finite, and the
 * largest of each row and of each column lies between 1/2 and 1 unless it is zero.
 */
#ifndef POLI_LINALG_SOLVER_H
#define POLI_LINALG_SOLVER_H

#include <polhode/linalg.h>

#include <float.h>
#include <math.h>

#include "base/archive.h"

typedef struct poli_backend {
  pol_solver_kind kind;
  /* Allocates *state for a square pattern with at least one row; NULL on a failure. */
  pol_status (*create)(void **state, const pol_pattern *pattern);
  void (*free)(void *state); /* accepts NULL */
  /* POL_SINGULAR sets *column; after any failure there is no factorisation to solve with. */
  pol_status (*factor)(void *state, const double *values, int *column);
  pol_status (*refactor)(void *state, const double *values, int *column);
  void (*solve)(void *state, double *x);
  /* Its factorisation; values are those of the last one. */
  void (*archive)(void *state, const double *values, poli_archive *archive);
} poli_backend;

extern const poli_backend poli_dense_backend;
extern const poli_backend poli_sparse_backend;

/* Lists what factorisations leave behind, pivots included. */
void poli_solver_archive(pol_solver *solver, poli_archive *archive);

/* Operations that the analysis expects of a factorisation, from the state of the sparse backend. */
double poli_sparse_operations(const void *state);

/* A pivot of the equilibrated matrix above this size is taken as it is; only the few below it need
 * a closer look. */
#define POLI_SMALL_PIVOT 1e-10

/* The rule that detects a singular matrix.
 *
 * The computed factors are those of A + E with |E| <= gamma |L| |U|, gamma a few eps (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2002, theorem 9.3).  In the leading k rows and
 * columns, take y with y^T L = e_k^T (row k of the inverse of L) and z with U z = u_kk e_k,
 * z_k = 1 (the null vector of U, were its pivot zero).  Then the pivot is u_kk = y^T (A + E) z, and
 * E contributes to it at most
 *
 *     gamma * spread,   spread = |y|^T |L| |U| |z|.
 *
 * A pivot that is not larger could as well be zero: column k depends on those before it as far as
 * the arithmetic can tell.  Both sides of the comparison are multiplied by the same number when a
 * row or a column of A is scaled, so the rule finds nothing wrong with rows or columns that are
 * merely small.
 *
 * A pivot whose reciprocal would overflow is singular as well, and so is one that is not a number.
 */
static inline int poli_pivot_is_noise(double pivot, double spread)
{
  const double gamma = 4.0 * DBL_EPSILON;
  return !(fabs(pivot) > fmax(gamma * spread, DBL_MIN));
}

#endif
