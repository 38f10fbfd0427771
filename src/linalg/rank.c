/* Rank by a QR decomposition with column pivoting (LAPACK dgeqp3): the diagonal of R falls, and
 * where it drops below round-off the columns still to come depend on those before.
 *
 * A large matrix takes minutes, so there the loop of dgeqp3 over panels of columns (dlaqps) is done
 * here, and the monitor is polled between them. */
#include "linalg/rank.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"

/* LAPACK: up to nb steps of the decomposition, whose number goes to kb (not in LAPACKE). */
extern void dlaqps_(const lapack_int *m, const lapack_int *n, const lapack_int *offset,
                    const lapack_int *nb, lapack_int *kb, double *a, const lapack_int *lda,
                    lapack_int *jpvt, double *tau, double *vn1, double *vn2, double *auxv,
                    double *f, const lapack_int *ldf);

/* Numbers of a matrix that is large, and of those that a panel may touch. */
static const double large_size = 1e6, panel_work = 8e8;
enum { LEAST_PANEL = 2, LARGEST_PANEL = 32 };

struct pol_rank {
  int rows, cols;
  lapack_int *order; /* cols */
  double *tau;       /* the smaller of rows and cols */
  double *work;
  lapack_int work_size;
};

/* Far above round-off, and below what data with ten digits leave. */
static const double independent_from = 1e-10;

static int smaller(int a, int b)
{
  return a < b ? a : b;
}

pol_status pol_rank_create(pol_rank **rank, int rows, int cols)
{
  pol_rank *r = *rank = calloc(1, sizeof *r);
  double best_size = 1.0, none = 0.0;
  if (!r) return POL_NO_MEMORY;
  r->rows = rows;
  r->cols = cols;
  r->order = calloc((size_t)cols + 1, sizeof *r->order);
  r->tau = calloc((size_t)smaller(rows, cols) + 1, sizeof *r->tau);
  if (r->order && r->tau && rows > 0 && cols > 0)
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, cols, &none, rows, r->order, r->tau, &best_size,
                        -1);
  /* at least what the panels of decompose_large take */
  const double panels = 2.0 * cols + (cols + 1.0) * LARGEST_PANEL;
  r->work_size = (lapack_int)fmax(best_size, panels);
  r->work = calloc((size_t)r->work_size + 1, sizeof *r->work);
  if (r->order && r->tau && r->work) return POL_OK;
  pol_rank_free(rank);
  return POL_NO_MEMORY;
}

void pol_rank_free(pol_rank **rank)
{
  if (!*rank) return;
  free((*rank)->order);
  free((*rank)->tau);
  free((*rank)->work);
  free(*rank);
  *rank = NULL;
}

/* Columns to length one, so that their units do not matter; a zero column stays. */
static pol_status normalise_columns(int rows, int cols, double *A)
{
  for (int j = 0; j < cols; j++) {
    double *column = A + (size_t)j * (size_t)rows, square = 0.0;
    if (j % 256 == 255 && pol_monitor_poll(-1.0)) return POL_CANCELLED;
    for (int i = 0; i < rows; i++) square += column[i] * column[i];
    double length = sqrt(square);
    for (int i = 0; i < rows && square > 0.0; i++) column[i] /= length;
  }
  return POL_OK;
}

static void swap_columns(int rows, double *A, int i, int j)
{
  double *a = A + (size_t)i * (size_t)rows, *b = A + (size_t)j * (size_t)rows;
  for (int k = 0; k < rows; k++) {
    const double x = a[k];
    a[k] = b[k];
    b[k] = x;
  }
}

/* As dgeqp3: the columns that come first without pivoting, then panels of the others. */
static pol_status decompose_large(pol_rank *r, double *A, const unsigned char *first)
{
  const lapack_int m = r->rows, n = r->cols, steps = smaller(r->rows, r->cols);
  lapack_int fixed = 0;
  for (lapack_int j = 0; j < n; j++) {
    r->order[j] = j + 1;
    if (!first || !first[j]) continue;
    swap_columns(m, A, j, fixed);
    r->order[j] = r->order[fixed];
    r->order[fixed++] = j + 1;
  }
  double *rest = A + (size_t)fixed * (size_t)m;
  if (fixed > 0) {
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, fixed, A, m, r->tau, r->work, r->work_size);
    if (pol_monitor_poll(0.0)) return POL_CANCELLED;
    if (fixed < n)
      LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', m, n - fixed, smaller(fixed, m), A, m, r->tau,
                          rest, m, r->work, r->work_size);
  }

  /* lengths of what the columns have left, twice: dlaqps updates one and compares with the other */
  double *left = r->work, *compare = left + n, *auxiliary = compare + n;
  double *F = auxiliary + LARGEST_PANEL;
  for (lapack_int j = fixed; j < n; j++) {
    const double *column = A + (size_t)j * (size_t)m;
    double square = 0.0;
    for (lapack_int i = fixed; i < m; i++) square += column[i] * column[i];
    left[j] = compare[j] = sqrt(square);
  }
  for (lapack_int j = fixed; j < steps;) {
    const lapack_int columns = n - j;
    const double size = (double)(m - j) * (double)columns;
    lapack_int panel = (lapack_int)fmin(fmax(panel_work / size, LEAST_PANEL), LARGEST_PANEL), done;
    panel = smaller(panel, steps - j);
    /* what is left to do falls as the cube of the columns left */
    const double open = (double)(steps - j) / (double)steps;
    if (pol_monitor_poll(1.0 - open * open * open)) return POL_CANCELLED;
    dlaqps_(&m, &columns, &j, &panel, &done, A + (size_t)j * (size_t)m, &m, r->order + j,
            r->tau + j, left + j, compare + j, auxiliary, F, &columns);
    j += done;
  }
  return POL_OK;
}

/* R in the upper triangle of A; r->order counts from 1. */
static pol_status decompose(pol_rank *r, double *A, const unsigned char *first)
{
  if (normalise_columns(r->rows, r->cols, A) != POL_OK) return POL_CANCELLED;
  if (!(r->rows > 0 && r->cols > 0)) return POL_OK;
  if ((double)r->rows * (double)r->cols > large_size) return decompose_large(r, A, first);
  for (int j = 0; j < r->cols; j++) r->order[j] = first && first[j];
  LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, r->rows, r->cols, A, r->rows, r->order, r->tau, r->work,
                      r->work_size);
  return POL_OK;
}

static double diagonal(const pol_rank *r, const double *A, int k)
{
  return fabs(A[(size_t)k * (size_t)(r->rows + 1)]);
}

double pol_rank_measure(pol_rank *rank, double *A, const unsigned char *first, int *last)
{
  *last = -1;
  if (rank->cols == 0 || rank->cols > rank->rows) return 0.0;
  if (decompose(rank, A, first) != POL_OK) return 0.0;
  *last = rank->order[rank->cols - 1] - 1;
  return diagonal(rank, A, rank->cols - 1);
}

pol_status pol_rank_dependent(pol_rank *rank, double *A, const unsigned char *first,
                              unsigned char *dependent)
{
  int steps = smaller(rank->rows, rank->cols), found = 0;
  pol_status status = decompose(rank, A, first);
  if (status) return status;
  while (found < steps && diagonal(rank, A, found) > independent_from) found++;
  memset(dependent, 0, (size_t)rank->cols);
  for (int j = found; j < rank->cols; j++) dependent[steps > 0 ? rank->order[j] - 1 : j] = 1;
  return POL_OK;
}
