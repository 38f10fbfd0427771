/* Sparse matrices with a fixed pattern, and linear solvers that analyse that pattern once.
 *
 * A pattern (compressed columns) is immutable and can be shared by many value arrays and threads.
 * Elements look up the addresses of their entries once and then add to values[address].
 */
#ifndef POLHODE_LINALG_H
#define POLHODE_LINALG_H

#include <stddef.h>

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rectangle of entries that may be non-zero. */
typedef struct pol_block {
  int row, col;   /* its upper left entry */
  int rows, cols; /* its size */
} pol_block;

/* A sparsity pattern in compressed columns. */
typedef struct pol_pattern {
  int rows, cols;
  int *start; /* column j is at start[j] .. start[j+1]-1; cols + 1 numbers */
  int *row;   /* row indices, ascending in each column; start[cols] numbers */
} pol_pattern;

/* The union of num_blocks rectangles.  They may overlap.  POL_BAD_ARGUMENT: a block exceeds the
 * matrix. */
pol_status pol_pattern_create(pol_pattern **pattern, int rows, int cols, int num_blocks,
                              const pol_block *blocks);
void pol_pattern_free(pol_pattern **pattern);
int pol_pattern_nonzeros(const pol_pattern *pattern);

/* The matrix of `count` entries (row, col, value) in any order; several of the same place are
 * added. The caller frees the pattern and the values.  POL_BAD_ARGUMENT: an entry exceeds the
 * matrix. */
pol_status pol_matrix_from_entries(pol_pattern **pattern, double **values, int rows, int cols,
                                   size_t count, const int *row, const int *col,
                                   const double *value);

/* Address of entry (row, col), or -1 if it is not in the pattern. */
int pol_pattern_address(const pol_pattern *pattern, int row, int col);

/* y += scale * A x  and  y += scale * A^T x */
void pol_matrix_multiply(const pol_pattern *pattern, const double *values, double scale,
                         const double *x, double *y);
void pol_matrix_multiply_transposed(const pol_pattern *pattern, const double *values, double scale,
                                    const double *x, double *y);

/* Backends of the linear solver. */
typedef enum pol_solver_kind {
  POL_SOLVER_AUTO,  /* by size and fill */
  POL_SOLVER_DENSE, /* LAPACK */
  POL_SOLVER_SPARSE /* KLU */
} pol_solver_kind;

/* A factorised matrix, and the workspace for it. */
typedef struct pol_solver pol_solver;

/* Analyses the pattern (only this call does) and allocates all workspace.  The pattern must be
 * square and outlive the solver. */
pol_status pol_solver_create(pol_solver **solver, const pol_pattern *pattern, pol_solver_kind kind);
void pol_solver_free(pol_solver **solver);
/* The backend in use; never POL_SOLVER_AUTO. */
pol_solver_kind pol_solver_backend(const pol_solver *solver);

/* Factorises with new pivots.  POL_SINGULAR: see pol_solver_singular_column.  POL_NOT_FINITE: a
 * value is infinite or not a number. */
pol_status pol_solver_factor(pol_solver *solver, const double *values);
/* Factorises with the pivots of the last factorisation if the backend can reuse them; falls back to
 * new pivots if the old ones have become unstable or there are none.  Allocates nothing, except in
 * this fallback of the sparse backend. */
pol_status pol_solver_refactor(pol_solver *solver, const double *values);
/* x <- A^-1 x, with the last factorisation; x becomes NaN if it failed or there is none. */
void pol_solver_solve(pol_solver *solver, double *x);
/* After POL_SINGULAR: the column (in the numbering of the pattern) that depends on the others; -1
 * after success. */
int pol_solver_singular_column(const pol_solver *solver);

#ifdef __cplusplus
}
#endif
#endif
