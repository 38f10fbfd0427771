/* Rank by a QR decomposition with column pivoting (LAPACK dgeqp3): the diagonal of R falls, and
 * where it drops below round-off the columns still to come depend on those before. */
#include "linalg/rank.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns to length one, so that their units do not matter; a zero column stays. */
static void normalise_columns(int rows, int cols, double *A)
{
  for (int j = 0; j < cols; j++) {
    double *column = A + (size_t)j * (size_t)rows, square = 0.0;
    for (int i = 0; i < rows; i++) square += column[i] * column[i];
    for (int i = 0; i < rows && square > 0.0; i++) column[i] /= sqrt(square);
  }
}

pol_status pol_dependent_columns(int rows, int cols, double *A, unsigned char *dependent)
{
  int steps = rows < cols ? rows : cols;
  lapack_int *order = calloc((size_t)cols + 1, sizeof *order);
  double *tau = calloc((size_t)steps + 1, sizeof *tau), best_size = 0.0;
  double *work = NULL;
  pol_status status = POL_NO_MEMORY;
  if (!order || !tau) goto done;
  normalise_columns(rows, cols, A);
  if (LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, cols, A, rows, order, tau, &best_size, -1))
    goto done;
  work = malloc(((size_t)best_size + 1) * sizeof *work);
  if (!work) goto done;
  if (LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, cols, A, rows, order, tau, work,
                          (lapack_int)best_size))
    goto done;
  int rank = 0;
  double limit = 100.0 * DBL_EPSILON * sqrt((double)(rows + cols));
  while (rank < steps && fabs(A[(size_t)rank * (size_t)(rows + 1)]) > limit) rank++;
  memset(dependent, 0, (size_t)cols);
  for (int j = rank; j < cols; j++) dependent[order[j] - 1] = 1;
  status = POL_OK;
done:
  free(order);
  free(tau);
  free(work);
  return status;
}
