/* Rank by a QR decomposition with column pivoting: each step takes the column that is farthest from
 * what those before span, and subtracts its direction from all that are still to come (modified
 * Gram-Schmidt; the column that is taken is made perpendicular to the others once more, so that
 * round-off does not add up).  Where the distances drop below round-off, the columns still to come
 * depend on those before.
 *
 * In mechanisms many columns are equally far away, such as those of the two hinges of a door. Their
 * order must not depend on round-off, the processor or the coordinates, so the first of all columns
 * that are nearly as far away as the farthest is taken.  The order of summation is fixed for the
 * same reason; libraries choose it by the processor.
 *
 * For each column the range of rows with nonzeros is known, so that independent parts of a
 * mechanism cost next to nothing.
 */
#include "linalg/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"

struct poli_rank {
  int rows, cols;
  int *order;       /* cols: columns in the order in which they were taken */
  int *begin, *end; /* a column: its rows */
  double *size;     /* a column: its length, what is left of it */
};

/* Far above round-off, and below what data with ten digits leave. */
static const double independent_from = 1e-10;
/* Columns whose distances differ by less, relatively, are equally far away. */
static const double as_far = 1e-3;

pol_status poli_rank_create(poli_rank **rank, int rows, int cols)
{
  poli_rank *r = *rank = calloc(1, sizeof *r);
  if (!r) return POL_NO_MEMORY;
  r->rows = rows;
  r->cols = cols;
  r->order = calloc(3 * (size_t)cols + 1, sizeof *r->order);
  r->size = calloc((size_t)cols + 1, sizeof *r->size);
  if (r->order && r->size) {
    r->begin = r->order + cols;
    r->end = r->begin + cols;
    return POL_OK;
  }
  poli_rank_free(rank);
  return POL_NO_MEMORY;
}

void poli_rank_free(poli_rank **rank)
{
  if (!*rank) return;
  free((*rank)->order);
  free((*rank)->size);
  free(*rank);
  *rank = NULL;
}

void poli_rank_resize(poli_rank *rank, int rows, int cols)
{
  rank->rows = rows;
  rank->cols = cols;
}

static double *column_of(const poli_rank *r, double *A, int j)
{
  return A + (size_t)j * (size_t)r->rows;
}

/* Its length, over its rows. */
static void measure_column(poli_rank *r, double *A, int j)
{
  const double *a = column_of(r, A, j);
  double square = 0.0;
  for (int i = r->begin[j]; i < r->end[j]; i++) square += a[i] * a[i];
  r->size[j] = sqrt(square);
}

/* To length one, so that its unit does not matter; a zero column stays. */
static void normalise_column(poli_rank *r, double *A, int j)
{
  double *a = column_of(r, A, j);
  measure_column(r, A, j);
  for (int i = r->begin[j]; i < r->end[j] && r->size[j] > 0.0; i++) a[i] /= r->size[j];
}

/* a_j -= q (q . a_j), with column q of length one; 0 if they have nothing in common. */
static int subtract_direction(poli_rank *r, double *A, int q, int j)
{
  const double *unit = column_of(r, A, q);
  double *a = column_of(r, A, j), dot = 0.0;
  int begin = r->begin[q] > r->begin[j] ? r->begin[q] : r->begin[j];
  int end = r->end[q] < r->end[j] ? r->end[q] : r->end[j];
  for (int i = begin; i < end; i++) dot += unit[i] * a[i];
  if (dot == 0.0) return 0;
  for (int i = r->begin[q]; i < r->end[q]; i++) a[i] -= dot * unit[i];
  if (r->begin[q] < r->begin[j]) r->begin[j] = r->begin[q];
  if (r->end[q] > r->end[j]) r->end[j] = r->end[q];
  return 1;
}

/* Takes column j as number `taken` of the order, and its direction from all that come after. */
static void take_column(poli_rank *r, double *A, int taken, int j)
{
  int place = taken;
  while (r->order[place] != j) place++;
  for (; place > taken; place--)
    r->order[place] = r->order[place - 1]; /* the others stay in order */
  r->order[taken] = j;
  for (int k = 0; k < taken; k++) subtract_direction(r, A, r->order[k], j);
  normalise_column(r, A, j);
  for (int k = taken + 1; k < r->cols; k++)
    if (subtract_direction(r, A, j, r->order[k])) measure_column(r, A, r->order[k]);
}

/* The rows of all columns; those that come first are taken, and the others are left with what is
 * perpendicular to them, at length one.  Returns how many are taken. */
static int begin_decomposition(poli_rank *r, double *A, const unsigned char *first)
{
  int taken = 0;
  for (int j = 0; j < r->cols; j++) {
    const double *a = column_of(r, A, j);
    if (j % 256 == 255) poli_monitor_poll(-1.0); /* the next poll ends what is cancelled */
    r->order[j] = j;
    r->begin[j] = 0;
    r->end[j] = r->rows;
    while (r->begin[j] < r->rows && a[r->begin[j]] == 0.0) r->begin[j]++;
    while (r->end[j] > r->begin[j] && a[r->end[j] - 1] == 0.0) r->end[j]--;
    normalise_column(r, A, j);
    r->size[j] = r->size[j] > 0.0 ? 1.0 : 0.0;
  }
  for (int j = 0; j < r->cols && first; j++)
    if (first[j]) take_column(r, A, taken++, j);
  for (int k = taken; k < r->cols && taken > 0; k++) {
    int j = r->order[k];
    if (r->size[j] <= independent_from) continue; /* depends on those that come first */
    normalise_column(r, A, j);
    r->size[j] = 1.0;
  }
  return taken;
}

/* The first of the columns to come that are as far away as the farthest. */
static int farthest(const poli_rank *r, int taken)
{
  double most = 0.0;
  for (int k = taken; k < r->cols; k++) most = fmax(most, r->size[r->order[k]]);
  for (int k = taken; k < r->cols; k++)
    if (r->size[r->order[k]] >= (1.0 - as_far) * most) return r->order[k];
  return r->order[taken]; /* numbers that are not finite */
}

double poli_rank_measure(poli_rank *rank, double *A, const unsigned char *first, int *last)
{
  poli_rank *r = rank;
  double distance = 1.0;
  *last = -1;
  if (r->cols == 0 || r->cols > r->rows) return 0.0;
  for (int taken = begin_decomposition(r, A, first); taken < r->cols; taken++) {
    *last = farthest(r, taken);
    distance = r->size[*last];
    take_column(r, A, taken, *last);
  }
  return distance;
}

/* Marks as many columns as count says or, if that is negative, those within a distance. */
static pol_status find_dependent(poli_rank *r, double *A, const unsigned char *first, int count,
                                 double distance, unsigned char *dependent)
{
  int taken = begin_decomposition(r, A, first);
  int most = count < 0 ? r->cols : r->cols - count;
  for (; taken < most; taken++) {
    int next = farthest(r, taken);
    if (count < 0 && !(r->size[next] > distance)) break;
    take_column(r, A, taken, next);
    /* the work left falls with the square of the columns left */
    double left = 1.0 - (taken + 1.0) / r->cols;
    if (poli_monitor_poll(1.0 - left * left)) return POL_CANCELLED;
  }
  memset(dependent, 0, (size_t)r->cols);
  for (int k = taken; k < r->cols; k++) dependent[r->order[k]] = 1;
  return POL_OK;
}

pol_status poli_rank_dependent(poli_rank *rank, double *A, const unsigned char *first, int count,
                               unsigned char *dependent)
{
  return find_dependent(rank, A, first, count, independent_from, dependent);
}

pol_status poli_rank_near(poli_rank *rank, double *A, const unsigned char *first, double distance,
                          unsigned char *dependent)
{
  return find_dependent(rank, A, first, -1, distance, dependent);
}
