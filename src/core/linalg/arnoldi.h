/* A few eigenvalues of a large matrix that is known by its products only: the implicitly restarted
 * Arnoldi method (Lehoucq, Sorensen and Yang 1998), by ARPACK. */
#ifndef POLHODE_LINALG_ARNOLDI_H
#define POLHODE_LINALG_ARNOLDI_H

#include <polhode/status.h>

typedef struct poli_operator {
  int n;
  pol_status (*apply)(const double *x, double *y, void *user); /* y = A x */
  void *user;
  double tolerance; /* relative error of the eigenvalues; 0: round-off */
  int restarts;     /* at most so many; 0: 1000 */
} poli_operator;

/* `count` eigenvalues, 0 < count < n - 2, of largest magnitude ("LM") or smallest real part ("SR"),
 * and one more where that would split a pair: re, im (count + 1), and vectors (n x (count + 1), by
 * columns) as of poli_full_eigen. *found is their number, fewer if restarts are limited; the order
 * is that of ARPACK.  start (n, not zero) is overwritten: the eigenvectors are in the invariant
 * subspace that it generates.  POL_NOT_CONVERGED, POL_NO_MEMORY, or the status of apply.  One
 * thread at a time; others wait. */
pol_status poli_arnoldi(const poli_operator *operator, const char * which, int count, double *start,
                        double *re, double *im, double *vectors, int *found);

/* The same for a symmetric operator, 0 < count < n: the eigenvalues of largest magnitude,
 * ascending, with orthonormal vectors (n x count, by columns).  All are found, or
 * POL_NOT_CONVERGED. */
pol_status poli_lanczos(const poli_operator *operator, int count, double *start, double *values,
                        double *vectors);

#endif
