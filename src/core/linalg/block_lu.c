/* Block-sparse LU.  With the nodes in the order of elimination, node k has later neighbours N(k);
 * U_kj = A_kk^-1 A_kj, then A_ij -= A_ik U_kj for all i, j in N(k).  The inverse of a diagonal
 * block takes the place of the block (exchange steps with diagonal pivots).  The blocks of N(k)
 * that an elimination changes, fill included, are looked up once.
 *
 * The order is AMD's (Amestoy, Davis, Duff 1996), the later neighbours follow from the elimination
 * tree: N(k) is the union of k's own and those of its children, less k.
 */
#include "linalg/block_lu.h"

#include <amd.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_UNROLLED = 5 };

struct poli_block_lu {
  int num_nodes, num_rows;
  int *node;  /* in the order of elimination */
  int *place; /* of each node in that order */
  int *size;  /* of the nodes, in the order of elimination, like all that follows */
  int *row;   /* where their unknowns start in x */
  int *first; /* later neighbours of k are next[first[k]] .. next[first[k + 1] - 1], ascending */
  int *next;
  long *diagonal; /* addresses of the diagonal blocks */
  long *lower;    /* of block (next[e], k), for each e */
  long *upper;    /* of block (k, next[e]) */
  size_t *update; /* where the addresses that node k changes start in target: |N(k)|^2 of them */
  long *target;
  double *values;
  size_t num_values;
  double *inverse_scale, *work; /* 1 / diagonal entries before the factorisation; one block */
  unsigned char *alike;         /* whether a node's later neighbours have its size */
  unsigned char *dropped;
  double smallest;
  int smallest_row;
};

/* --- analysis --------------------------------------------------------------------------------- */

/* The graph in compressed columns, both directions.  Of nodes that are alike AMD takes the last
 * one: here the given order runs backwards, number n - 1 - k for the node that is k-th in it. */
typedef struct graph {
  int *start, *end;
  int *number, *node; /* of the nodes here, and back */
} graph;

static pol_status set_graph(graph *g, int num_nodes, int num_edges, const int (*edges)[2],
                            const int *order)
{
  g->number = malloc(((size_t)num_nodes + 1) * sizeof *g->number);
  g->node = malloc(((size_t)num_nodes + 1) * sizeof *g->node);
  g->start = calloc((size_t)num_nodes + 2, sizeof *g->start);
  g->end = malloc((2 * (size_t)num_edges + 1) * sizeof *g->end);
  if (!g->start || !g->end || !g->number || !g->node) return POL_NO_MEMORY;
  for (int k = 0; k < num_nodes; k++) {
    const int node = order ? order[k] : k;
    g->number[node] = num_nodes - 1 - k;
    g->node[num_nodes - 1 - k] = node;
  }
  for (int e = 0; e < 2 * num_edges; e++) g->start[g->number[edges[e / 2][e % 2]] + 2]++;
  for (int i = 0; i < num_nodes; i++) g->start[i + 2] += g->start[i + 1];
  for (int e = 0; e < 2 * num_edges; e++)
    g->end[g->start[g->number[edges[e / 2][e % 2]] + 1]++] = g->number[edges[e / 2][1 - e % 2]];
  return POL_OK;
}

static int compare(const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

/* The later neighbours of all nodes: first and next. */
static pol_status find_neighbours(poli_block_lu *lu, const graph *g)
{
  const int n = lu->num_nodes;
  int *mark = malloc(((size_t)n + 1) * sizeof *mark),
      *child = malloc(((size_t)n + 1) * sizeof *child);
  int *sibling = malloc(((size_t)n + 1) * sizeof *sibling), count = 0, room = 4 * n + 16;
  lu->next = malloc((size_t)room * sizeof *lu->next);
  pol_status status = mark && child && sibling && lu->next ? POL_OK : POL_NO_MEMORY;
  for (int k = 0; k < n && !status; k++) mark[k] = child[k] = -1;
  for (int k = 0; k < n && !status; k++) {
    lu->first[k] = count;
    mark[k] = k;
    if (count > INT_MAX / 2 - n) status = POL_NO_MEMORY;
    if (!status && count + n > room) {
      room = 2 * count + n;
      int *more = realloc(lu->next, (size_t)room * sizeof *more);
      if (more) lu->next = more;
      if (!more) status = POL_NO_MEMORY;
    }
    if (status) break;
    const int own = g->number[lu->node[k]];
    for (int e = g->start[own]; e < g->start[own + 1]; e++) {
      const int i = lu->place[g->node[g->end[e]]];
      if (i > k && mark[i] != k) mark[lu->next[count++] = i] = k;
    }
    for (int c = child[k]; c >= 0; c = sibling[c])
      for (int e = lu->first[c]; e < lu->first[c + 1]; e++)
        if (mark[lu->next[e]] != k) mark[lu->next[count++] = lu->next[e]] = k;
    qsort(lu->next + lu->first[k], (size_t)(count - lu->first[k]), sizeof *lu->next, compare);
    lu->first[k + 1] = count;
    if (count > lu->first[k]) {
      const int parent = lu->next[lu->first[k]];
      sibling[k] = child[parent];
      child[parent] = k;
    }
  }
  free(mark);
  free(child);
  free(sibling);
  return status;
}

/* The address of block (i, j), places in the order of elimination. */
static long find_block(const poli_block_lu *lu, int i, int j)
{
  if (i == j) return lu->diagonal[i];
  const int k = i < j ? i : j, other = i < j ? j : i;
  int low = lu->first[k], high = lu->first[k + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (lu->next[middle] < other)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == lu->first[k + 1] || lu->next[low] != other) return -1;
  return i > j ? lu->lower[low] : lu->upper[low];
}

/* Addresses of all blocks, and of those that each elimination changes. */
static pol_status place_blocks(poli_block_lu *lu)
{
  const int n = lu->num_nodes;
  const size_t edges = (size_t)lu->first[n];
  long next = 0;
  lu->lower = malloc((edges + 1) * sizeof *lu->lower);
  lu->upper = malloc((edges + 1) * sizeof *lu->upper);
  if (!lu->lower || !lu->upper) return POL_NO_MEMORY;
  lu->update[0] = 0;
  for (int k = 0; k < n; k++) {
    const size_t degree = (size_t)(lu->first[k + 1] - lu->first[k]);
    lu->diagonal[k] = next;
    next += (long)lu->size[k] * lu->size[k];
    for (int e = lu->first[k]; e < lu->first[k + 1]; e++) {
      const long block = (long)lu->size[k] * lu->size[lu->next[e]];
      lu->lower[e] = next;
      lu->upper[e] = next + block;
      next += 2 * block;
    }
    lu->update[k + 1] = lu->update[k] + degree * degree;
  }
  lu->num_values = (size_t)next;
  lu->target = malloc((lu->update[n] + 1) * sizeof *lu->target);
  lu->values = calloc(lu->num_values + 1, sizeof *lu->values);
  if (!lu->target || !lu->values) return POL_NO_MEMORY;
  for (int k = 0; k < n; k++) {
    long *to = lu->target + lu->update[k];
    for (int a = lu->first[k]; a < lu->first[k + 1]; a++)
      for (int b = lu->first[k]; b < lu->first[k + 1]; b++)
        *to++ = find_block(lu, lu->next[a], lu->next[b]);
  }
  return POL_OK;
}

pol_status poli_block_lu_create(poli_block_lu **made, int num_nodes, const int *size, int num_edges,
                                const int (*edges)[2], const int *order)
{
  const size_t n = (size_t)num_nodes;
  graph g = {0};
  int largest = 0;
  poli_block_lu *lu = *made = calloc(1, sizeof *lu);
  if (!lu) return POL_NO_MEMORY;
  lu->num_nodes = num_nodes;
  pol_status status = set_graph(&g, num_nodes, num_edges, edges, order);
  lu->node = malloc((n + 1) * sizeof *lu->node);
  lu->place = malloc((n + 1) * sizeof *lu->place);
  lu->size = malloc((n + 1) * sizeof *lu->size);
  lu->row = malloc((n + 1) * sizeof *lu->row);
  lu->first = calloc(n + 1, sizeof *lu->first);
  lu->diagonal = malloc((n + 1) * sizeof *lu->diagonal);
  lu->update = malloc((n + 1) * sizeof *lu->update);
  if (!status &&
      !(lu->node && lu->place && lu->size && lu->row && lu->first && lu->diagonal && lu->update))
    status = POL_NO_MEMORY;
  if (!status && num_nodes > 0 && amd_order(num_nodes, g.start, g.end, lu->node, NULL, NULL) < 0)
    status = POL_NO_MEMORY;
  if (!status) {
    for (int k = 0; k < num_nodes; k++) lu->node[k] = g.node[lu->node[k]];
    /* rows of the nodes, then in the order of elimination */
    for (int i = 0; i < num_nodes; i++) {
      lu->place[i] = lu->num_rows;
      lu->num_rows += size[i];
      if (size[i] > largest) largest = size[i];
    }
    for (int k = 0; k < num_nodes; k++) {
      lu->size[k] = size[lu->node[k]];
      lu->row[k] = lu->place[lu->node[k]];
    }
    for (int k = 0; k < num_nodes; k++) lu->place[lu->node[k]] = k;
    status = find_neighbours(lu, &g);
  }
  if (!status) status = place_blocks(lu);
  if (!status) {
    lu->inverse_scale = malloc(((size_t)lu->num_rows + 1) * sizeof *lu->inverse_scale);
    lu->dropped = calloc((size_t)lu->num_rows + 1, 1);
    lu->alike = calloc(n + 1, 1);
    lu->work = malloc(((size_t)largest * (size_t)largest + 1) * sizeof *lu->work);
    if (!lu->inverse_scale || !lu->dropped || !lu->work || !lu->alike) status = POL_NO_MEMORY;
  }
  for (int k = 0; k < num_nodes && !status; k++) {
    lu->alike[k] = 1;
    for (int e = lu->first[k]; e < lu->first[k + 1]; e++)
      if (lu->size[lu->next[e]] != lu->size[k]) lu->alike[k] = 0;
  }
  free(g.start);
  free(g.end);
  free(g.number);
  free(g.node);
  if (status) poli_block_lu_free(made);
  return status;
}

void poli_block_lu_free(poli_block_lu **made)
{
  if (!made || !*made) return;
  poli_block_lu *lu = *made;
  void *const parts[] = {lu->node,   lu->place,    lu->size,    lu->row,
                         lu->first,  lu->next,     lu->lower,   lu->upper,
                         lu->update, lu->diagonal, lu->target,  lu->inverse_scale,
                         lu->values, lu->work,     lu->dropped, lu->alike};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) free(parts[i]);
  free(lu);
  *made = NULL;
}

long poli_block_lu_address(const poli_block_lu *lu, int i, int j)
{
  return find_block(lu, lu->place[i], lu->place[j]);
}

double *poli_block_lu_values(poli_block_lu *lu)
{
  return lu->values;
}

void poli_block_lu_clear(poli_block_lu *lu)
{
  memset(lu->values, 0, lu->num_values * sizeof *lu->values);
}

/* For loops whose bounds are constants at each call. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* --- small blocks ----------------------------------------------------------------------------- */

/* C -= A B; A is rows x inner, B inner x cols */
ALWAYS_INLINE void subtract_blocks(int rows, int inner, int cols, const double *restrict A,
                                   const double *restrict B, double *restrict C)
{
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < inner; k++)
      for (int j = 0; j < cols; j++) C[i * cols + j] -= A[i * inner + k] * B[k * cols + j];
}

/* B = A B, A inner x inner; work has room for B */
ALWAYS_INLINE void replace_block(int inner, int cols, const double *restrict A, double *restrict B,
                                 double *restrict work)
{
  for (int i = 0; i < inner; i++)
    for (int j = 0; j < cols; j++) work[i * cols + j] = A[i * inner] * B[j];
  for (int i = 0; i < inner; i++)
    for (int k = 1; k < inner; k++)
      for (int j = 0; j < cols; j++) work[i * cols + j] += A[i * inner + k] * B[k * cols + j];
  for (int i = 0; i < inner * cols; i++) B[i] = work[i];
}

/* y -= A x */
ALWAYS_INLINE void subtract_product(int rows, int cols, const double *restrict A,
                                    const double *restrict x, double *restrict y)
{
  for (int i = 0; i < rows; i++) {
    double sum = 0.0;
    for (int j = 0; j < cols; j++) sum += A[i * cols + j] * x[j];
    y[i] -= sum;
  }
}

/* y = A x */
ALWAYS_INLINE void set_product(int n, const double *restrict A, const double *restrict x,
                               double *restrict y)
{
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j];
  }
}

static inline void note_pivot(poli_block_lu *lu, double size, int row)
{
  if (!(size < lu->smallest)) return;
  lu->smallest = size;
  lu->smallest_row = row;
}

/* Exchange step with the diagonal entry r. */
ALWAYS_INLINE void exchange(int n, int r, double *D)
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
static int invert_three(poli_block_lu *lu, int k)
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
  note_pivot(lu, first < least ? first : least,
             first < least ? row : row + (second < third ? 1 : 2));
  return 1;
}

/* The inverse of a block in its place, if all pivots are large in the order they have, which is
 * usual; else the block stays as it is.  Returns whether they are. */
ALWAYS_INLINE int invert_in_order(poli_block_lu *lu, int k, int n)
{
  if (n == 3) return invert_three(lu, k);
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
  note_pivot(lu, least, lu->row[k] + least_row);
  return 1;
}

/* The same by exchange steps with the largest diagonal entry relative to its scale; rows that are
 * left with less than the threshold, or left out, are dropped: zero rows and columns.  Returns how
 * many. */
ALWAYS_INLINE int invert(poli_block_lu *lu, int k, int n, double threshold,
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
    note_pivot(lu, largest, row + r);
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
ALWAYS_INLINE int eliminate(poli_block_lu *lu, int k, int n, int alike, double threshold,
                            const unsigned char *left_out)
{
  const long *to = lu->target + lu->update[k];
  int num_dropped = 0;
  if (has_left_out(lu, k, n, left_out) || n > MAX_UNROLLED || !invert_in_order(lu, k, n))
    num_dropped = invert(lu, k, n, threshold, left_out);
  for (int b = lu->first[k]; b < lu->first[k + 1]; b++)
    replace_block(n, alike ? n : lu->size[lu->next[b]], lu->values + lu->diagonal[k],
                  lu->values + lu->upper[b], lu->work);
  for (int a = lu->first[k]; a < lu->first[k + 1]; a++)
    for (int b = lu->first[k]; b < lu->first[k + 1]; b++, to++)
      subtract_blocks(alike ? n : lu->size[lu->next[a]], n, alike ? n : lu->size[lu->next[b]],
                      lu->values + lu->lower[a], lu->values + lu->upper[b], lu->values + *to);
  return num_dropped;
}

int poli_block_lu_factor(poli_block_lu *lu, double threshold, const unsigned char *left_out)
{
  int num_dropped = 0, finite = 1;
  lu->smallest = HUGE_VAL;
  lu->smallest_row = -1;
  for (int k = 0; k < lu->num_nodes; k++)
    for (int i = 0; i < lu->size[k]; i++) {
      const double entry = fabs(lu->values[lu->diagonal[k] + i * (lu->size[k] + 1)]);
      finite = finite && entry <= 1e300;
      lu->inverse_scale[lu->row[k] + i] = entry > 0.0 ? 1.0 / entry : 1.0;
    }
  for (int k = 0; k < lu->num_nodes && finite; k++) {
#define ELIMINATE(n, alike) num_dropped += eliminate(lu, k, n, alike, threshold, left_out)
    FOR_EACH_SIZE(lu, k, ELIMINATE)
    finite = lu->size[k] == 0 || isfinite(lu->values[lu->diagonal[k]]);
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

ALWAYS_INLINE void solve_forward(const poli_block_lu *lu, int k, int n, int alike, double *x)
{
  double *own = x + lu->row[k], *y = lu->work;
  for (int i = 0; i < n; i++) y[i] = own[i];
  set_product(n, lu->values + lu->diagonal[k], y, own);
  for (int e = lu->first[k]; e < lu->first[k + 1]; e++)
    subtract_product(alike ? n : lu->size[lu->next[e]], n, lu->values + lu->lower[e], own,
                     x + lu->row[lu->next[e]]);
}

ALWAYS_INLINE void solve_backward(const poli_block_lu *lu, int k, int n, int alike, double *x)
{
  for (int e = lu->first[k]; e < lu->first[k + 1]; e++)
    subtract_product(n, alike ? n : lu->size[lu->next[e]], lu->values + lu->upper[e],
                     x + lu->row[lu->next[e]], x + lu->row[k]);
}

void poli_block_lu_solve(const poli_block_lu *lu, double *x)
{
  for (int k = 0; k < lu->num_nodes; k++) {
#define FORWARD(n, alike) solve_forward(lu, k, n, alike, x)
    FOR_EACH_SIZE(lu, k, FORWARD)
  }
  for (int k = lu->num_nodes - 1; k >= 0; k--) {
#define BACKWARD(n, alike) solve_backward(lu, k, n, alike, x)
    FOR_EACH_SIZE(lu, k, BACKWARD)
  }
}
