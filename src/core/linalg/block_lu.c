/* Block-sparse LU.  With the nodes in the order of elimination, node k has later neighbours N(k);
 * U_kj = A_kk^-1 A_kj, then A_ij -= A_ik U_kj for all i, j in N(k).  The inverse of a diagonal
 * block takes the place of the block (exchange steps with diagonal pivots).  The blocks of N(k)
 * that an elimination changes, fill included, are looked up once.  Blocks that are done are
 * transposed: solutions add up their columns, in which no number waits for the one before.
 *
 * The order is AMD's (Amestoy, Davis, Duff 1996), the later neighbours follow from the elimination
 * tree: N(k) is the union of k's own and those of its children, less k.
 *
 * Large graphs are eliminated in parts, subtrees that do not depend on each other (block_order.h),
 * each by one thread; then what is above them.  The parts of a graph are always the same.  What a
 * part adds to blocks and unknowns above it, whose nodes are later neighbours of its root, goes to
 * a place of its own and is added part after part: so results do not depend on the number of
 * threads.
 *
 * Here are the numbers: kernels of small blocks, factorisation, solution.  The graph, its order and
 * the places of the blocks are in block_lu_structure.c.
 */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/wide.h"
#include "linalg/block_lu_parts.h"

typedef poli_lu_part part;

enum { MAX_UNROLLED = 5, MAX_SUMS = 6 };

/* --- small blocks ----------------------------------------------------------------------------- */

/* C -= A B; A is rows x inner, B inner x cols */
POLI_INLINE void subtract_blocks(int rows, int inner, int cols, const double *restrict A,
                                 const double *restrict B, double *restrict C)
{
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < inner; k++)
      for (int j = 0; j < cols; j++) C[i * cols + j] -= A[i * inner + k] * B[k * cols + j];
}

/* B = A B, A inner x inner; work has room for B */
POLI_INLINE void replace_block(int inner, int cols, const double *restrict A, double *restrict B,
                               double *restrict work)
{
  for (int i = 0; i < inner; i++)
    for (int j = 0; j < cols; j++) work[i * cols + j] = A[i * inner] * B[j];
  for (int i = 0; i < inner; i++)
    for (int k = 1; k < inner; k++)
      for (int j = 0; j < cols; j++) work[i * cols + j] += A[i * inner + k] * B[k * cols + j];
  for (int i = 0; i < inner * cols; i++) B[i] = work[i];
}

/* A becomes A^T, A rows x cols; work has room for it */
POLI_INLINE void transpose_block(int rows, int cols, double *restrict A, double *restrict work)
{
  if (rows == cols) {
    for (int i = 1; i < rows; i++)
      for (int j = 0; j < i; j++) {
        const double above = A[j * rows + i];
        A[j * rows + i] = A[i * rows + j];
        A[i * rows + j] = above;
      }
    return;
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) work[j * rows + i] = A[i * cols + j];
  for (int i = 0; i < rows * cols; i++) A[i] = work[i];
}

/* y -= A x, with A^T as it is after a factorisation: several rows of y at a time */
POLI_INLINE void subtract_product(int rows, int cols, const double *restrict A,
                                  const double *restrict x, double *restrict y)
{
  double sum[MAX_SUMS] = {0.0};
  for (int first = 0; first < rows; first += MAX_SUMS) {
    const int count = rows - first < MAX_SUMS ? rows - first : MAX_SUMS;
    for (int i = 0; i < count; i++) sum[i] = 0.0;
    for (int j = 0; j < cols; j++)
      for (int i = 0; i < count; i++) sum[i] += A[j * rows + first + i] * x[j];
    for (int i = 0; i < count; i++) y[first + i] -= sum[i];
  }
}

/* y = A x, with A^T */
POLI_INLINE void set_product(int n, const double *restrict A, const double *restrict x,
                             double *restrict y)
{
  for (int i = 0; i < n; i++) y[i] = A[i] * x[0];
  for (int j = 1; j < n; j++)
    for (int i = 0; i < n; i++) y[i] += A[j * n + i] * x[j];
}

static inline void note_pivot(part *own, double size, int row)
{
  if (!(size < own->smallest)) return;
  own->smallest = size;
  own->smallest_row = row;
}

/* Exchange step with the diagonal entry r. */
POLI_INLINE void exchange(int n, int r, double *D)
{
  const double pivot = 1.0 / D[r * n + r];
  for (int i = 0; i < n; i++) {
    if (i == r) continue;
    const double factor = D[i * n + r] * pivot;
    for (int j = 0; j < n; j++) D[i * n + j] -= factor * D[r * n + j];
    D[i * n + r] = -factor;
  }
  for (int j = 0; j < n; j++) D[r * n + j] *= pivot;
  D[r * n + r] = pivot;
}

/* The same as below for a block of 3 rows, by its minors: one division to wait for. */
static int invert_three(poli_block_lu *lu, part *own, int k)
{
  const int row = lu->row[k];
  const double *scale = lu->inverse_scale + row;
  double *D = lu->values + lu->diagonal[k];
  const double a = D[0], b = D[1], c = D[2], d = D[3], e = D[4], f = D[5], g = D[6], h = D[7],
               i = D[8];
  const double A = e * i - f * h, B = f * g - d * i, C = d * h - e * g, minor = a * e - b * d;
  const double det = a * A + b * B + c * C;
  const double second = fabs(minor / a) * scale[1], third = fabs(det / minor) * scale[2];
  const double least = second < third ? second : third, first = fabs(a) * scale[0];
  if (!(first > 0.01 && least > 0.01)) return 0;
  const double r = 1.0 / det;
  const double inverse[9] = {A * r, (c * h - b * i) * r, (b * f - c * e) * r,
                             B * r, (a * i - c * g) * r, (c * d - a * f) * r,
                             C * r, (b * g - a * h) * r, minor * r};
  memcpy(D, inverse, sizeof inverse);
  memset(lu->dropped + row, 0, 3);
  note_pivot(own, first < least ? first : least,
             first < least ? row : row + (second < third ? 1 : 2));
  return 1;
}

/* The inverse of a block in its place, if all pivots are large in the order they have, which is
 * usual; else the block stays as it is.  Returns whether they are. */
POLI_INLINE int invert_in_order(poli_block_lu *lu, part *own, int k, int n)
{
  if (n == 3) return invert_three(lu, own, k);
  const double *inverse_scale = lu->inverse_scale + lu->row[k];
  double *D = lu->values + lu->diagonal[k], W[MAX_UNROLLED * MAX_UNROLLED], least = HUGE_VAL;
  int least_row = 0;
  for (int i = 0; i < n * n; i++) W[i] = D[i];
  for (int r = 0; r < n; r++) {
    const double size = fabs(W[r * n + r]) * inverse_scale[r];
    if (!(size > 0.01)) return 0;
    if (size < least) least_row = r;
    least = size < least ? size : least;
    exchange(n, r, W);
  }
  for (int i = 0; i < n * n; i++) D[i] = W[i];
  for (int i = 0; i < n; i++) lu->dropped[lu->row[k] + i] = 0;
  note_pivot(own, least, lu->row[k] + least_row);
  return 1;
}

/* The same by exchange steps with the largest diagonal entry relative to its scale; rows that are
 * left with less than the threshold, or left out, are dropped: zero rows and columns.  Returns how
 * many. */
POLI_INLINE int invert(poli_block_lu *lu, part *own, int k, int n, double threshold,
                       const unsigned char *left_out)
{
  const int row = lu->row[k];
  const double *inverse_scale = lu->inverse_scale + row;
  double *D = lu->values + lu->diagonal[k];
  unsigned char *left = lu->dropped + row;
  memset(left, 1, (size_t)n);
  for (int step = 0; step < n; step++) {
    int r = -1;
    double largest = threshold;
    for (int i = 0; i < n; i++) {
      const double size = fabs(D[i * n + i]) * inverse_scale[i];
      if (left[i] && !(size <= largest) && !(left_out && left_out[row + i])) {
        largest = size;
        r = i;
      }
    }
    if (r < 0) break;
    note_pivot(own, largest, row + r);
    left[r] = 0;
    exchange(n, r, D);
  }
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (!left[i]) continue;
    for (int j = 0; j < n; j++) D[i * n + j] = D[j * n + i] = 0.0;
    count++;
  }
  return count;
}

/* --- factorisation, solution ------------------------------------------------------------------ */

/* Nodes of the usual sizes have loops that the compiler can unroll, most of all if their neighbours
 * have the same size: the functions for one node are inline, and called with constants. */
#define FOR_EACH_SIZE(lu, k, function)                                                             \
  switch (2 * (lu)->size[k] + (lu)->alike[k]) {                                                    \
  case 2 * 1 + 1:                                                                                  \
    function(1, 1);                                                                                \
    break;                                                                                         \
  case 2 * 3 + 1:                                                                                  \
    function(3, 1);                                                                                \
    break;                                                                                         \
  case 2 * 5 + 1:                                                                                  \
    function(5, 1);                                                                                \
    break;                                                                                         \
  case 2 * 3:                                                                                      \
    function(3, 0);                                                                                \
    break;                                                                                         \
  case 2 * 4:                                                                                      \
    function(4, 0);                                                                                \
    break;                                                                                         \
  case 2 * 5:                                                                                      \
    function(5, 0);                                                                                \
    break;                                                                                         \
  default:                                                                                         \
    function((lu)->size[k], 0);                                                                    \
  }

/* Whether a node has rows to be left out. */
static inline int has_left_out(const poli_block_lu *lu, int k, int n, const unsigned char *left_out)
{
  int some = 0;
  for (int i = 0; left_out && i < n; i++) some |= left_out[lu->row[k] + i];
  return some;
}

/* Eliminates node k of size n; `alike`: its later neighbours have that size too. */
POLI_INLINE int eliminate(poli_block_lu *lu, part *own, int k, int n, int alike, double threshold,
                          const unsigned char *left_out)
{
  const long *to = lu->target + lu->update[k];
  int num_dropped = 0;
  if (has_left_out(lu, k, n, left_out) || n > MAX_UNROLLED || !invert_in_order(lu, own, k, n))
    num_dropped = invert(lu, own, k, n, threshold, left_out);
  for (int b = lu->first[k]; b < lu->first[k + 1]; b++)
    replace_block(n, alike ? n : lu->size[lu->next[b]], lu->values + lu->diagonal[k],
                  lu->values + lu->upper[b], own->work);
  for (int a = lu->first[k]; a < lu->first[k + 1]; a++)
    for (int b = lu->first[k]; b < lu->first[k + 1]; b++, to++)
      subtract_blocks(alike ? n : lu->size[lu->next[a]], n, alike ? n : lu->size[lu->next[b]],
                      lu->values + lu->lower[a], lu->values + lu->upper[b], lu->values + *to);
  /* for solutions, which take their columns one after the other */
  transpose_block(n, n, lu->values + lu->diagonal[k], own->work);
  for (int e = lu->first[k]; e < lu->first[k + 1]; e++) {
    const int m = alike ? n : lu->size[lu->next[e]];
    transpose_block(m, n, lu->values + lu->lower[e], own->work);
    transpose_block(n, m, lu->values + lu->upper[e], own->work);
  }
  return num_dropped;
}

/* A factorisation or a solution under way. */
typedef struct job {
  poli_block_lu *lu;
  double threshold;
  const unsigned char *left_out;
  double *x;
} job;

static void start_part(part *own)
{
  own->smallest = HUGE_VAL;
  own->smallest_row = -1;
  own->num_dropped = 0;
  own->finite = 1;
}

/* The scales of a node's rows. */
static inline void set_scale(poli_block_lu *lu, part *own, int k)
{
  for (int i = 0; i < lu->size[k]; i++) {
    const double entry = fabs(lu->values[lu->diagonal[k] + i * (lu->size[k] + 1)]);
    own->finite = own->finite && entry <= 1e300;
    lu->inverse_scale[lu->row[k] + i] = entry > 0.0 ? 1.0 / entry : 1.0;
  }
}

POLI_INLINE void factor_node(const job *j, part *own, int k)
{
  poli_block_lu *lu = j->lu;
#define ELIMINATE(n, alike)                                                                        \
  own->num_dropped += eliminate(lu, own, k, n, alike, j->threshold, j->left_out)
  FOR_EACH_SIZE(lu, k, ELIMINATE)
  own->finite = lu->size[k] == 0 || isfinite(lu->values[lu->diagonal[k]]);
}

static POLI_WIDE void factor_part(int p, void *user)
{
  const job *j = user;
  part *own = &j->lu->parts[p];
  start_part(own);
  for (int k = own->range.first; k <= own->range.root; k++) set_scale(j->lu, own, k);
  for (int k = own->range.first; k <= own->range.root && own->finite; k++) factor_node(j, own, k);
}

/* The nodes above the parts, in their order or backwards. */
static inline int top_node(const poli_block_lu *lu, int i)
{
  return lu->top ? lu->top[i] : i;
}

static POLI_WIDE void factor_top(const job *j, part *last)
{
  for (int i = 0; i < j->lu->num_top && last->finite; i++) factor_node(j, last, top_node(j->lu, i));
}

/* Adds what a part has subtracted from blocks above it. */
static void merge_front(poli_block_lu *lu, const part *own)
{
  const int root = own->range.root;
  const long *to = lu->merge + own->merge;
  const double *from = lu->values + own->front;
  for (int a = lu->first[root]; a < lu->first[root + 1]; a++)
    for (int b = lu->first[root]; b < lu->first[root + 1]; b++, to++) {
      const int count = lu->size[lu->next[a]] * lu->size[lu->next[b]];
      for (int i = 0; i < count; i++) lu->values[*to + i] += *from++;
    }
}

int poli_block_lu_factor(poli_block_lu *lu, double threshold, const unsigned char *left_out)
{
  job j = {.lu = lu, .threshold = threshold, .left_out = left_out};
  part *last = &lu->parts[lu->num_parts];
  int num_dropped = 0, finite = 1;
  start_part(last);
  for (int i = 0; i < lu->num_top; i++) set_scale(lu, last, top_node(lu, i));
  poli_parallel(lu->threads, lu->num_parts, factor_part, &j);
  for (int p = 0; p < lu->num_parts; p++) {
    last->finite = last->finite && lu->parts[p].finite;
    merge_front(lu, &lu->parts[p]);
  }
  factor_top(&j, last);
  lu->smallest = HUGE_VAL;
  lu->smallest_row = -1;
  for (int p = 0; p <= lu->num_parts; p++) {
    const part *own = &lu->parts[p];
    num_dropped += own->num_dropped;
    finite = finite && own->finite;
    if (!(own->smallest < lu->smallest)) continue;
    lu->smallest = own->smallest;
    lu->smallest_row = own->smallest_row;
  }
  return finite ? num_dropped : -1;
}

const unsigned char *poli_block_lu_dropped(const poli_block_lu *lu)
{
  return lu->dropped;
}

double poli_block_lu_smallest_pivot(const poli_block_lu *lu, int *row)
{
  if (row) *row = lu->smallest_row;
  return lu->smallest;
}

/* `front`: the unknowns above the part, or NULL. */
POLI_INLINE void solve_forward(const poli_block_lu *lu, const part *in, double *front, int k, int n,
                               int alike, double *x)
{
  double *own = x + lu->row[k], *y = in->work;
  if (n == 0) return;
  for (int i = 0; i < n; i++) y[i] = own[i];
  set_product(n, lu->values + lu->diagonal[k], y, own);
  for (int e = lu->first[k]; e < lu->first[k + 1]; e++)
    subtract_product(alike ? n : lu->size[lu->next[e]], n, lu->values + lu->lower[e], own,
                     front && lu->outside[e] >= 0 ? front + lu->outside[e]
                                                  : x + lu->row[lu->next[e]]);
}

POLI_INLINE void solve_backward(const poli_block_lu *lu, int k, int n, int alike, double *x)
{
  for (int e = lu->first[k]; e < lu->first[k + 1]; e++)
    subtract_product(n, alike ? n : lu->size[lu->next[e]], lu->values + lu->upper[e],
                     x + lu->row[lu->next[e]], x + lu->row[k]);
}

static POLI_WIDE void forward_part(int p, void *user)
{
  const job *j = user;
  const poli_block_lu *lu = j->lu;
  const part *own = &lu->parts[p];
  double *front = own->work + own->block_size, *x = j->x;
  for (int i = 0; i < own->front_rows; i++) front[i] = 0.0;
  for (int k = own->range.first; k <= own->range.root; k++) {
#define FORWARD_PART(n, alike) solve_forward(lu, own, front, k, n, alike, x)
    FOR_EACH_SIZE(lu, k, FORWARD_PART)
  }
}

static POLI_WIDE void backward_part(int p, void *user)
{
  const job *j = user;
  const poli_block_lu *lu = j->lu;
  double *x = j->x;
  for (int k = lu->parts[p].range.root; k >= lu->parts[p].range.first; k--) {
#define BACKWARD(n, alike) solve_backward(lu, k, n, alike, x)
    FOR_EACH_SIZE(lu, k, BACKWARD)
  }
}

static POLI_WIDE void solve_top(const poli_block_lu *lu, double *x)
{
  const part *last = &lu->parts[lu->num_parts];
  for (int i = 0; i < lu->num_top; i++) {
    const int k = top_node(lu, i);
#define FORWARD(n, alike) solve_forward(lu, last, NULL, k, n, alike, x)
    FOR_EACH_SIZE(lu, k, FORWARD)
  }
  for (int i = lu->num_top - 1; i >= 0; i--) {
    const int k = top_node(lu, i);
    FOR_EACH_SIZE(lu, k, BACKWARD)
  }
}

void poli_block_lu_solve(poli_block_lu *lu, double *x)
{
  job j = {.lu = lu, .x = x};
  poli_parallel(lu->threads, lu->num_parts, forward_part, &j);
  for (int p = 0; p < lu->num_parts; p++) {
    const part *own = &lu->parts[p];
    const double *from = own->work + own->block_size;
    for (int e = lu->first[own->range.root]; e < lu->first[own->range.root + 1]; e++)
      for (int i = 0; i < lu->size[lu->next[e]]; i++) x[lu->row[lu->next[e]] + i] += *from++;
  }
  solve_top(lu, x);
  poli_parallel(lu->threads, lu->num_parts, backward_part, &j);
}

void poli_block_lu_set_threads(poli_block_lu *lu, int threads)
{
  lu->threads = threads;
}

int poli_block_lu_num_parts(const poli_block_lu *lu)
{
  return lu->num_parts;
}
