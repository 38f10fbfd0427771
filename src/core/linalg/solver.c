/* The linear solver: equilibrates the matrix, hands it to a backend, undoes the scaling of the
 * solution.
 *
 *     A x = b   <=>   (R A C) (C^-1 x) = R b
 *
 * C makes the largest entry of each column about 1, then R does the same for the rows (LAPACK's
 * dgeequ, with columns first: for the matrix [[M, B^T], [B, 0]] of a constrained mechanism with
 * heavy bodies this brings M and both B to the size of 1).  The scale factors are powers of two and
 * add no rounding error.  Partial pivoting compares the entries of a column, so it is only sensible
 * once the rows are comparable; and the size of pivots of columns with a largest entry of 1 has a
 * meaning (see solver.h).
 *
 * Nothing here is global: solvers are independent of each other, and several threads can use one
 * each with the same pattern.  The number of threads that the BLAS starts belongs to the program,
 * not to this library, which neither reads nor sets it; solver_dense.c says when it matters.
 */
#include "linalg/solver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct pol_solver {
  const pol_pattern *pattern;
  const poli_backend *backend;
  void *state;         /* of the backend; NULL if the matrix has no rows */
  void *memory;        /* holds the arrays below, */
  size_t memory_size;  /* so many bytes */
  double *values;      /* R A C in the pattern */
  double *row_scale;   /* diagonal of R */
  double *col_scale;   /* diagonal of C */
  int singular_column; /* -1: none */
  int factored;        /* there is a factorisation to solve with */
};

/* --- choice of the backend -------------------------------------------------------------------- */

/* The rule of POL_SOLVER_AUTO: dense up to DENSE_SIZE rows; beyond that sparse, unless the analysis
 * of the pattern expects more than DENSE_SHARE of the operations of a full factorisation.
 *
 * Measured with bench/bench_linalg.c (OpenBLAS on one thread of a Zen processor), time dense /
 * sparse for saddle-point matrices of chains of bodies with 3 or 5 rows per joint:
 *
 *     n                 9    18    27    36    45    54    66    90   180   360
 *     refactorisation  0.5   0.7   0.75  0.9   1.0   1.2   2.4   3.3   7     20
 *     solution         0.6   0.7   0.7   0.8   0.8   0.9   2.1   2.2   2.6   4
 *
 * For graphs of 10 to 60 bodies with more and more loops the share of operations separates the two
 * where the share of entries (2 to 13 % in all of them) does not: refactorisations have the
 * ratio 4 to 15 for shares below 0.02, 2 at 0.05, between 1.3 and 0.6 around 0.1. */
#define DENSE_SIZE 48
#define DENSE_SHARE 0.1

static pol_status take_backend(pol_solver *solver, const poli_backend *backend)
{
  solver->backend = backend;
  return solver->pattern->rows > 0 ? backend->create(&solver->state, solver->pattern) : POL_OK;
}

/* --- scaling ---------------------------------------------------------------------------------- */

/* The power of two s with 1/2 <= s * size < 1, for a finite size > 0 (nearly so at the ends of the
 * range of numbers); 1 for a size of 0.  The exponent of an IEEE double is that of its bits 52 to
 * 62, biased by 1023: s has the exponent -(e + 1), which is 2045 - bits in biased form. */
static double inverse_scale(double size)
{
  uint64_t bits;
  if (size == 0.0) return 1.0;
  memcpy(&bits, &size, sizeof bits);
  bits >>= 52;
  bits = bits < 2044 ? 2045 - bits : 1;
  bits <<= 52;
  memcpy(&size, &bits, sizeof size);
  return size;
}

/* --- public functions ------------------------------------------------------------------------- */

pol_status pol_solver_create(pol_solver **solver, const pol_pattern *pattern, pol_solver_kind kind)
{
  *solver = NULL;
  if (!pattern || pattern->rows != pattern->cols) return POL_BAD_ARGUMENT;
  if (kind != POL_SOLVER_AUTO && kind != POL_SOLVER_DENSE && kind != POL_SOLVER_SPARSE)
    return POL_BAD_ARGUMENT;

  pol_solver *made = calloc(1, sizeof *made);
  if (!made) return POL_NO_MEMORY;
  const double n = pattern->rows;
  made->pattern = pattern;
  made->singular_column = -1;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, made->row_scale, pattern->rows);
    POLI_TAKE(&arena, made->col_scale, pattern->rows);
    POLI_TAKE(&arena, made->values, pol_pattern_nonzeros(pattern));
  } while (poli_arena_again(&arena));
  made->memory = arena.memory;
  made->memory_size = arena.used;

  pol_status status = made->memory ? POL_OK : POL_NO_MEMORY;
  if (!status && (kind == POL_SOLVER_DENSE || (kind == POL_SOLVER_AUTO && n <= DENSE_SIZE))) {
    status = take_backend(made, &poli_dense_backend);
  } else if (!status) {
    status = take_backend(made, &poli_sparse_backend);
    if (!status && kind == POL_SOLVER_AUTO &&
        poli_sparse_operations(made->state) > DENSE_SHARE * (2.0 / 3.0) * n * n * n) {
      made->backend->free(made->state);
      status = take_backend(made, &poli_dense_backend);
    }
  }
  if (status) pol_solver_free(&made);
  *solver = made;
  return status;
}

void pol_solver_free(pol_solver **solver)
{
  if (!solver || !*solver) return;
  if ((*solver)->backend) (*solver)->backend->free((*solver)->state);
  free((*solver)->memory);
  free(*solver);
  *solver = NULL;
}

pol_solver_kind pol_solver_backend(const pol_solver *solver)
{
  return solver->backend->kind;
}

/* Scales the matrix and factorises it; factor and refactor differ in the function of the backend.
 */
static pol_status run(pol_solver *solver, const double *values,
                      pol_status (*factor)(void *state, const double *values, int *column))
{
  const pol_pattern *pattern = solver->pattern;
  double *row_scale = solver->row_scale; /* first the largest entry of each row */
  int finite = 1;
  solver->factored = 0;
  solver->singular_column = -1;
  for (int i = 0; i < pattern->rows; i++) row_scale[i] = 0.0;
  for (int j = 0; j < pattern->cols; j++) {
    double largest = 0.0;
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++) {
      double size = fabs(values[a]);
      finite &= size <= DBL_MAX;
      largest = size > largest ? size : largest;
    }
    double scale = inverse_scale(largest);
    solver->col_scale[j] = scale;
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++) {
      double value = values[a] * scale;
      double *row = &row_scale[pattern->row[a]];
      solver->values[a] = value;
      *row = fabs(value) > *row ? fabs(value) : *row;
    }
  }
  if (!finite) return POL_NOT_FINITE;
  for (int i = 0; i < pattern->rows; i++) row_scale[i] = inverse_scale(row_scale[i]);
  for (int a = 0; a < pattern->start[pattern->cols]; a++)
    solver->values[a] *= row_scale[pattern->row[a]];

  pol_status status =
      solver->state ? factor(solver->state, solver->values, &solver->singular_column) : POL_OK;
  solver->factored = status == POL_OK;
  return status;
}

pol_status pol_solver_factor(pol_solver *solver, const double *values)
{
  return run(solver, values, solver->backend->factor);
}

pol_status pol_solver_refactor(pol_solver *solver, const double *values)
{
  return run(solver, values, solver->backend->refactor);
}

void pol_solver_solve(pol_solver *solver, double *x)
{
  int n = solver->pattern->rows;
  if (!solver->factored) {
    for (int i = 0; i < n; i++) x[i] = (double)NAN;
    return;
  }
  if (!solver->state) return;
  for (int i = 0; i < n; i++) x[i] *= solver->row_scale[i];
  solver->backend->solve(solver->state, x);
  for (int i = 0; i < n; i++) x[i] *= solver->col_scale[i];
}

int pol_solver_singular_column(const pol_solver *solver)
{
  return solver->singular_column;
}

void poli_solver_archive(pol_solver *solver, poli_archive *archive)
{
  poli_archive_bytes(archive, solver->memory, solver->memory_size);
  POLI_ARCHIVE(archive, solver->singular_column);
  POLI_ARCHIVE(archive, solver->factored);
  if (solver->state) solver->backend->archive(solver->state, solver->values, archive);
}
