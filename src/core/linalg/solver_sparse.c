/* The sparse backend: KLU (Davis/Palamadai Natarajan 2010, ACM TOMS 37, algorithm 907).  The matrix
 * is brought to block upper triangular form and each block ordered by approximate minimum degree
 * once; a factorisation then pivots within the columns; a refactorisation keeps those pivots.
 *
 * Singular matrices.  klu_analyze accepts a matrix without a full matching of rows and columns; its
 * permutations then pair some column with a row where the pattern has no entry, and that column is
 * reported.  Numerically, KLU itself only stops at a pivot of exactly zero, and klu_refactor does
 * not even look at blocks of one row.  So KLU continues after one (halt_if_singular = 0), and the
 * pivots are examined afterwards, in the order of elimination, by the rule in solver.h.  Pivot k
 * belongs to column Q[k] of the matrix.  It depends on columns that come before it: in its own
 * block by that rule, and, as the blocks before are regular, in the whole matrix.
 *
 * Accuracy of a refactorisation.  The old pivots may have become small beside the rest of their
 * columns.  klu_rgrowth compares the columns of U with those of A and misses the growth that stays
 * in L: [[d, 1, 0], [0, 1, 0], [1, 0, 1]] with pivots on the diagonal and d -> 0 has U without
 * growth, but L = [[1, 0, 0], [0, 1, 0], [1/d, -1/d, 1]].  Instead the factors are tried: a known
 * vector is multiplied by the matrix, the system solved, and the residual compared with what a
 * stable factorisation leaves.
 */
#include "linalg/solver.h"

#include <klu.h>
#include <stdlib.h>
#include <string.h>

/* The largest residual of the trial solution, relative to its numbers.  Fresh pivots left 7e-15 in
 * the median and 1.2e-13 at most, for 480 random saddle-point matrices of 45 to 660 rows.  The
 * trial is a solution and two products with the matrix, 40 % on top of the refactorisation of a
 * chain of bodies. */
#define TRIAL_TOLERANCE 1e-12

/* KLU takes the diagonal entry as pivot where it is not smaller than this share of the largest in
 * its column, which keeps the ordering's promise of little fill.  For the same matrices as above
 * the residual was 8e-12 at most with 0.01, and 4e-11 with KLU's own 0.001.  The price of 0.1 is
 * nothing for chains of bodies and up to twice the time for systems with many loops. */
#define DIAGONAL_PREFERENCE 0.1

/* From this many rows on the columns are ordered by COLAMD, which allows for any pivots, instead of
 * AMD, which counts on diagonal ones: the constraints of a saddle-point matrix have none, and in
 * large closed loops the pivots that are taken instead fill the factors. */
enum { COLAMD_FROM = 1000, COLAMD = 1 };

typedef struct sparse {
  const pol_pattern *pattern;
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric; /* NULL: no factorisation */
  double flops;         /* estimated for a factorisation */
  int unmatched_column; /* -1: the pattern can be regular */
  double *trial;        /* the known vector */
  double *product;      /* the matrix times trial */
  double *solution;     /* should be trial */
  double *chosen;       /* nonzeros: the matrix whose factorisation has chosen the pivots */
  int refactored;       /* the present factors are those of another matrix with these pivots */
} sparse;

static void sparse_free(void *state)
{
  sparse *work = state;
  if (!work) return;
  klu_free_numeric(&work->numeric, &work->common);
  klu_free_symbolic(&work->symbolic, &work->common);
  free(work->trial);
  free(work);
}

static pol_status sparse_create(void **state, const pol_pattern *pattern)
{
  sparse *work = calloc(1, sizeof *work);
  *state = NULL;
  if (!work) return POL_NO_MEMORY;
  size_t n = (size_t)pattern->rows;
  work->pattern = pattern;
  klu_defaults(&work->common);
  work->common.scale = -1; /* the matrix is equilibrated and its pattern valid */
  work->common.halt_if_singular = 0;
  work->common.tol = DIAGONAL_PREFERENCE;

  const size_t nonzeros = (size_t)pol_pattern_nonzeros(pattern);
  work->trial = malloc((3 * n + nonzeros) * sizeof *work->trial);
  if (work->trial)
    work->symbolic = klu_analyze(pattern->rows, pattern->start, pattern->row, &work->common);
  if (work->symbolic) work->flops = work->symbolic->est_flops;
  if (work->symbolic && n >= COLAMD_FROM) {
    klu_free_symbolic(&work->symbolic, &work->common);
    work->common.ordering = COLAMD;
    work->symbolic = klu_analyze(pattern->rows, pattern->start, pattern->row, &work->common);
  }
  if (!work->symbolic) {
    sparse_free(work);
    return POL_NO_MEMORY;
  }
  work->product = work->trial + n;
  work->solution = work->product + n;
  work->chosen = work->solution + n;

  /* A column that a largest matching of rows and columns leaves over, if there is one. */
  const klu_symbolic *symbolic = work->symbolic;
  work->unmatched_column = -1;
  for (int k = 0; symbolic->structural_rank < symbolic->n && work->unmatched_column < 0; k++)
    if (pol_pattern_address(pattern, symbolic->P[k], symbolic->Q[k]) < 0)
      work->unmatched_column = symbolic->Q[k];

  /* The numbers 1/2 + j/golden mod 1 fill the interval from 1/2 to 3/2 evenly. */
  double number = 0.0;
  for (int j = 0; j < pattern->rows; j++) {
    number += 0.61803398874989485;
    if (number >= 1.0) number -= 1.0;
    work->trial[j] = 0.5 + number;
  }
  *state = work;
  return POL_OK;
}

double poli_sparse_operations(const void *state)
{
  const sparse *work = state;
  return work->flops;
}

/* The first pivot from k on that needs a closer look, or n. */
static int next_small_pivot(const sparse *work, int k)
{
  const double *pivot = work->numeric->Udiag;
  while (k < work->numeric->n && fabs(pivot[k]) > POLI_SMALL_PIVOT) k++;
  return k;
}

/* L and U as KLU extracts them: compressed columns in the order of elimination, the diagonal first
 * in the columns of L and last in those of U. */
typedef struct factors {
  int *l_start, *l_row, *u_start, *u_row;
  double *l, *u;
} factors;

/* |y|^T |L| |U| |z| of pivot k, see solver.h, in the diagonal block that starts at `first`; work
 * has 3 n numbers.  L and U have no entries outside the diagonal blocks. */
static double find_spread(const factors *lu, int n, int first, int k, double *work)
{
  double *y = work;
  double *z = y + n;
  double *uz = z + n; /* |U| |z| */
  for (int i = first; i < n; i++) y[i] = z[i] = uz[i] = 0.0;
  y[k] = z[k] = 1.0;

  /* From the last column to the first: y_p and z_p are known when column p is reached. */
  double spread = 0.0;
  for (int p = k; p >= first; p--) {
    double ly = 0.0; /* entry p of |L|^T |y|; y is zero below k */
    for (int a = lu->l_start[p] + 1; a < lu->l_start[p + 1]; a++) {
      double product = lu->l[a] * y[lu->l_row[a]];
      y[p] -= product;
      ly += fabs(product);
    }
    ly += fabs(y[p]);

    int diagonal = lu->u_start[p + 1] - 1;
    if (p < k) z[p] /= lu->u[diagonal];
    if (z[p] != 0.0) {
      uz[p] += fabs(lu->u[diagonal] * z[p]);
      for (int a = lu->u_start[p]; a < diagonal; a++) {
        double product = lu->u[a] * z[p];
        z[lu->u_row[a]] -= product;
        uz[lu->u_row[a]] += fabs(product);
      }
    }
    spread += ly * uz[p];
  }
  return spread;
}

/* Looks for a pivot that is round-off.  POL_SINGULAR sets *column. */
static pol_status examine_pivots(sparse *work, int *column)
{
  int n = work->numeric->n;
  int k = next_small_pivot(work, 0);
  if (k == n) return POL_OK;

  size_t starts = (size_t)n + 1;
  size_t lnz = (size_t)work->numeric->lnz;
  size_t unz = (size_t)work->numeric->unz;
  int *indices = malloc((2 * starts + lnz + unz) * sizeof *indices);
  double *numbers = malloc((lnz + unz + 3 * starts) * sizeof *numbers);
  pol_status status = POL_NO_MEMORY;
  if (indices && numbers) {
    factors lu = {.l_start = indices, .u_start = indices + starts, .l = numbers};
    lu.l_row = lu.u_start + starts;
    lu.u_row = lu.l_row + lnz;
    lu.u = lu.l + lnz;
    klu_extract(work->numeric, work->symbolic, lu.l_start, lu.l_row, lu.l, lu.u_start, lu.u_row,
                lu.u, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &work->common);
    const int *block = work->symbolic->R; /* starts of the diagonal blocks */
    for (; k < n; k = next_small_pivot(work, k + 1)) {
      while (block[1] <= k) block++;
      const double spread = find_spread(&lu, n, block[0], k, lu.u + unz);
      if (poli_pivot_is_noise(lu.u[lu.u_start[k + 1] - 1], spread)) break;
    }
    if (k < n) *column = work->symbolic->Q[k];
    status = k < n ? POL_SINGULAR : POL_OK;
  }
  free(indices);
  free(numbers);
  return status;
}

static pol_status sparse_factor(void *state, const double *values, int *column)
{
  sparse *work = state;
  const pol_pattern *pattern = work->pattern;
  klu_free_numeric(&work->numeric, &work->common);
  if (work->unmatched_column >= 0) {
    *column = work->unmatched_column;
    return POL_SINGULAR;
  }

  /* KLU does not write to the matrix. */
  work->numeric =
      klu_factor(pattern->start, pattern->row, (double *)values, work->symbolic, &work->common);
  if (!work->numeric) return POL_NO_MEMORY;
  work->refactored = 0;
  if (values != work->chosen)
    memcpy(work->chosen, values, (size_t)pol_pattern_nonzeros(pattern) * sizeof *values);
  pol_status status = examine_pivots(work, column);
  if (status) klu_free_numeric(&work->numeric, &work->common);
  return status;
}

static void sparse_solve(void *state, double *x)
{
  sparse *work = state;
  klu_solve(work->symbolic, work->numeric, work->numeric->n, 1, x, &work->common);
}

/* Whether the factors solve a system with a known solution. */
static int passes_trial(sparse *work, const double *values)
{
  int n = work->numeric->n;
  for (int i = 0; i < n; i++) work->product[i] = 0.0;
  pol_matrix_multiply(work->pattern, values, 1.0, work->trial, work->product);
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    work->solution[i] = work->product[i];
    largest = fmax(largest, fabs(work->product[i]));
  }

  sparse_solve(work, work->solution);
  pol_matrix_multiply(work->pattern, values, -1.0, work->solution, work->product);
  double residual = 0.0;
  for (int i = 0; i < n; i++) {
    if (!(fabs(work->product[i]) <= DBL_MAX)) return 0;
    residual = fmax(residual, fabs(work->product[i]));
    largest = fmax(largest, fabs(work->solution[i]));
  }
  return residual <= TRIAL_TOLERANCE * largest;
}

static pol_status sparse_refactor(void *state, const double *values, int *column)
{
  sparse *work = state;
  const pol_pattern *pattern = work->pattern;
  if (work->numeric) {
    work->refactored = 1;
    klu_refactor(pattern->start, pattern->row, (double *)values, work->symbolic, work->numeric,
                 &work->common);
    if (next_small_pivot(work, 0) == work->numeric->n && passes_trial(work, values)) return POL_OK;
  }
  return sparse_factor(state, values, column);
}

/* The factors are made again: those that have chosen the pivots, then the present ones. */
static void sparse_archive(void *state, const double *values, poli_archive *archive)
{
  sparse *work = state;
  const pol_pattern *pattern = work->pattern;
  int factored = work->numeric != NULL, column;
  POLI_ARCHIVE(archive, factored);
  POLI_ARCHIVE(archive, work->refactored);
  if (factored)
    poli_archive_bytes(archive, work->chosen,
                       (size_t)pol_pattern_nonzeros(pattern) * sizeof *work->chosen);
  if (archive->mode != POLI_ARCHIVE_LOAD || archive->status) return;
  const int refactored = work->refactored;
  klu_free_numeric(&work->numeric, &work->common);
  if (!factored) return;
  const pol_status status = sparse_factor(work, work->chosen, &column);
  if (status) archive->status = status < 0 ? status : POL_BAD_ARGUMENT;
  work->refactored = refactored;
  if (!status && refactored)
    klu_refactor(pattern->start, pattern->row, (double *)values, work->symbolic, work->numeric,
                 &work->common);
}

const poli_backend poli_sparse_backend = {POL_SOLVER_SPARSE, sparse_create,   sparse_free,
                                          sparse_factor,     sparse_refactor, sparse_solve,
                                          sparse_archive};
