/* Rank by a QR decomposition with column pivoting (LAPACK dgeqp3): the diagonal of R falls, and
 * where it drops below round-off the columns still to come depend on those before. */
#include "linalg/rank.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
  r->work_size = (lapack_int)best_size;
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
static void normalise_columns(int rows, int cols, double *A)
{
  for (int j = 0; j < cols; j++) {
    double *column = A + (size_t)j * (size_t)rows, square = 0.0;
    for (int i = 0; i < rows; i++) square += column[i] * column[i];
    double length = sqrt(square);
    for (int i = 0; i < rows && square > 0.0; i++) column[i] /= length;
  }
}

/* R in the upper triangle of A; r->order counts from 1. */
static void decompose(pol_rank *r, double *A, const unsigned char *first)
{
  normalise_columns(r->rows, r->cols, A);
  for (int j = 0; j < r->cols; j++) r->order[j] = first && first[j];
  if (r->rows > 0 && r->cols > 0)
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, r->rows, r->cols, A, r->rows, r->order, r->tau, r->work,
                        r->work_size);
}

static double diagonal(const pol_rank *r, const double *A, int k)
{
  return fabs(A[(size_t)k * (size_t)(r->rows + 1)]);
}

double pol_rank_measure(pol_rank *rank, double *A, const unsigned char *first, int *last)
{
  *last = -1;
  if (rank->cols == 0 || rank->cols > rank->rows) return 0.0;
  decompose(rank, A, first);
  *last = rank->order[rank->cols - 1] - 1;
  return diagonal(rank, A, rank->cols - 1);
}

void pol_rank_dependent(pol_rank *rank, double *A, const unsigned char *first,
                        unsigned char *dependent)
{
  int steps = smaller(rank->rows, rank->cols), found = 0;
  decompose(rank, A, first);
  while (found < steps && diagonal(rank, A, found) > independent_from) found++;
  memset(dependent, 0, (size_t)rank->cols);
  for (int j = found; j < rank->cols; j++) dependent[steps > 0 ? rank->order[j] - 1 : j] = 1;
}

void pol_rank_most_dependent(pol_rank *rank, double *A, const unsigned char *first, int count,
                             unsigned char *dependent)
{
  decompose(rank, A, first);
  memset(dependent, 0, (size_t)rank->cols);
  for (int j = rank->cols - count; j < rank->cols; j++)
    dependent[rank->rows > 0 ? rank->order[j] - 1 : j] = 1;
}
