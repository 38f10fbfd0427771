/* The dense backend: LU with partial pivoting of a full copy of the matrix, stored by columns in
 * LAPACK's layout (dgetrf): L below the diagonal, U on and above it, pivot[k] the row that was
 * exchanged with row k.
 *
 * Up to SMALL_SIZE rows the library's own LU does the work, beyond that LAPACK.  Measured with
 * bench/bench_linalg.c (gcc -O3 against OpenBLAS 0.3.21 on a Zen processor), time of LAPACK / own:
 *
 *     n           3     9    15    30    40    50    60    90   120
 *     factor    1.5   1.7   2.0   2.3   1.5   1.4   1.2   0.8   0.65
 *     solve     5.7   2.7   2.7   2.5   2.3   2.1   2.4   1.8   1.5
 *
 * Threads: the own LU has none.  OpenBLAS splits factorisations from about n = 130 on among its
 * threads.  With two threads on two cores that gained nothing up to n = 300, and with another
 * program on one of the cores the mean time at n = 160 rose from 0.15 ms to 6 ms, as the threads
 * wait for each other.  The number of threads is a setting of the whole process, so it is left to
 * the program (OPENBLAS_NUM_THREADS or openblas_set_num_threads); one thread is the better choice
 * unless there are very large and nearly full matrices.
 */
#include "base/arena.h"
#include "linalg/lu.h"
#include "linalg/solver.h"

#include <lapacke.h>
#include <stdlib.h>

/* See above. */
#define SMALL_SIZE 64

_Static_assert(sizeof(lapack_int) == sizeof(int), "LAPACK with 32-bit integers is needed");

typedef struct dense {
  const pol_pattern *pattern;
  int n;
  void *memory;          /* holds the arrays below, */
  size_t memory_size;    /* so many bytes */
  double *lu;            /* n x n by columns */
  double *inverse_pivot; /* 1 / u_kk */
  double *work;          /* 3 n */
  lapack_int *pivot;
} dense;

static void dense_free(void *state)
{
  dense *work = state;
  if (!work) return;
  free(work->memory);
  free(work);
}

static pol_status dense_create(void **state, const pol_pattern *pattern)
{
  dense *work = calloc(1, sizeof *work);
  *state = NULL;
  if (!work) return POL_NO_MEMORY;
  const size_t n = (size_t)pattern->rows;
  work->pattern = pattern;
  work->n = pattern->rows;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, work->lu, n * n);
    POLI_TAKE(&arena, work->inverse_pivot, n);
    POLI_TAKE(&arena, work->work, 3 * n);
    POLI_TAKE(&arena, work->pivot, n);
  } while (poli_arena_again(&arena));
  work->memory = arena.memory;
  work->memory_size = arena.used;
  if (!work->memory) {
    dense_free(work);
    return POL_NO_MEMORY;
  }
  *state = work;
  return POL_OK;
}

/* |y|^T |L| |U| |z| of pivot k, see solver.h.  The pivots before k are not zero. */
static double find_spread(const dense *work, int k)
{
  size_t n = (size_t)work->n;
  double *y = work->work;
  double *z = y + n;
  double *uz = z + n; /* |U| |z| */
  const double *column = work->lu + (size_t)k * n;
  for (int i = 0; i <= k; i++) {
    y[i] = i == k ? 1.0 : 0.0;
    z[i] = i == k ? 1.0 : -column[i];
    uz[i] = fabs(column[i]);
  }

  /* From the last column to the first: y_p and z_p are known when column p is reached. */
  double spread = uz[k];
  for (int p = k - 1; p >= 0; p--) {
    const double *lu = work->lu + (size_t)p * n;
    double ly = 0.0; /* entry p of |L|^T |y| */
    for (int i = p + 1; i <= k; i++) {
      y[p] -= lu[i] * y[i];
      ly += fabs(lu[i] * y[i]);
    }
    ly += fabs(y[p]);
    z[p] /= lu[p];
    uz[p] += fabs(lu[p] * z[p]);
    for (int i = 0; i < p; i++) {
      z[i] -= lu[i] * z[p];
      uz[i] += fabs(lu[i] * z[p]);
    }
    spread += ly * uz[p];
  }
  return spread;
}

static pol_status dense_factor(void *state, const double *values, int *column)
{
  dense *work = state;
  const pol_pattern *pattern = work->pattern;
  const size_t n = (size_t)work->n;
  for (int j = 0; j < work->n; j++) {
    double *full = work->lu + (size_t)j * n;
    for (int i = 0; i < work->n; i++) full[i] = 0.0;
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      full[pattern->row[a]] = values[a];
  }
  if (work->n <= SMALL_SIZE)
    poli_lu_factor(work->n, work->lu, work->pivot);
  else
    LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, work->n, work->n, work->lu, work->n, work->pivot);

  /* A pivot that is round-off: the matrix is singular. */
  for (int k = 0; k < work->n; k++) {
    const double pivot = work->lu[(size_t)k * (n + 1)];
    if (fabs(pivot) <= POLI_SMALL_PIVOT && poli_pivot_is_noise(pivot, find_spread(work, k))) {
      *column = k;
      return POL_SINGULAR;
    }
  }
  for (int k = 0; k < work->n; k++) work->inverse_pivot[k] = 1.0 / work->lu[(size_t)k * (n + 1)];
  return POL_OK;
}

static void dense_solve(void *state, double *x)
{
  const dense *work = state;
  if (work->n <= SMALL_SIZE)
    poli_lu_solve(work->n, work->lu, work->pivot, work->inverse_pivot, x);
  else
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', work->n, 1, work->lu, work->n, work->pivot, x,
                        work->n);
}

static void dense_archive(void *state, const double *values, poli_archive *archive)
{
  dense *work = state;
  (void)values;
  poli_archive_bytes(archive, work->memory, work->memory_size);
}

/* Fresh pivots cost nothing here, so a refactorisation is a factorisation. */
const poli_backend poli_dense_backend = {POL_SOLVER_DENSE, dense_create, dense_free,   dense_factor,
                                         dense_factor,     dense_solve,  dense_archive};
