/* Block-sparse LU.  With the nodes in the order of elimination, node k has later neighbours
 * N(k); L_ik = A_ik A_kk^-1, then A_ij -= L_ik A_kj for all i, j in N(k).  The inverse of a
 * diagonal block takes the place of the block (exchange steps with diagonal pivots).  The blocks of
 * N(k) that an elimination changes, fill included, are looked up once.
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
  double *scale, *work; /* diagonal entries before the factorisation; one block */
  unsigned char *dropped;
  double smallest;
  int smallest_row;
};

/* --- analysis --------------------------------------------------------------------------------- */

/* The graph in compressed columns, both directions. */
typedef struct graph {
  int *start, *end;
} graph;

static pol_status set_graph(graph *g, int num_nodes, int num_edges, const int (*edges)[2])
{
  g->start = calloc((size_t)num_nodes + 2, sizeof *g->start);
  g->end = malloc((2 * (size_t)num_edges + 1) * sizeof *g->end);
  if (!g->start || !g->end) return POL_NO_MEMORY;
  for (int e = 0; e < 2 * num_edges; e++) g->start[edges[e / 2][e % 2] + 2]++;
  for (int i = 0; i < num_nodes; i++) g->start[i + 2] += g->start[i + 1];
  for (int e = 0; e < 2 * num_edges; e++)
    g->end[g->start[edges[e / 2][e % 2] + 1]++] = edges[e / 2][1 - e % 2];
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
    for (int e = g->start[lu->node[k]]; e < g->start[lu->node[k] + 1]; e++) {
      const int i = lu->place[g->end[e]];
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
                                const int (*edges)[2])
{
  const size_t n = (size_t)num_nodes;
  graph g = {0};
  int largest = 0;
  poli_block_lu *lu = *made = calloc(1, sizeof *lu);
  if (!lu) return POL_NO_MEMORY;
  lu->num_nodes = num_nodes;
  pol_status status = set_graph(&g, num_nodes, num_edges, edges);
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
    lu->scale = malloc(((size_t)lu->num_rows + 1) * sizeof *lu->scale);
    lu->dropped = calloc((size_t)lu->num_rows + 1, 1);
    lu->work = malloc(((size_t)largest * (size_t)largest + 1) * sizeof *lu->work);
    if (!lu->scale || !lu->dropped || !lu->work) status = POL_NO_MEMORY;
  }
  free(g.start);
  free(g.end);
  if (status) poli_block_lu_free(made);
  return status;
}

void poli_block_lu_free(poli_block_lu **made)
{
  if (!made || !*made) return;
  poli_block_lu *lu = *made;
  void *const parts[] = {lu->node,   lu->place, lu->size,   lu->row,    lu->first,
                         lu->next,   lu->lower, lu->upper,  lu->update, lu->diagonal,
                         lu->target, lu->scale, lu->values, lu->work,   lu->dropped};
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

/* --- small blocks ----------------------------------------------------------------------------- */

/* C = A B, or C -= A B; A is rows x inner, B inner x cols */
static inline void multiply(int rows, int inner, int cols, int subtract, const double *restrict A,
                            const double *restrict B, double *restrict C)
{
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      double sum = 0.0;
      for (int k = 0; k < inner; k++) sum += A[i * inner + k] * B[k * cols + j];
      C[i * cols + j] = subtract ? C[i * cols + j] - sum : sum;
    }
}

/* The same; blocks of joints of one type have sizes that the compiler can unroll. */
static void multiply_blocks(int rows, int inner, int cols, int subtract, const double *A,
                            const double *B, double *C)
{
  if (rows == inner && inner == cols && rows == 3)
    multiply(3, 3, 3, subtract, A, B, C);
  else if (rows == inner && inner == cols && rows == 5)
    multiply(5, 5, 5, subtract, A, B, C);
  else
    multiply(rows, inner, cols, subtract, A, B, C);
}

/* y -= A x */
static inline void subtract_product(int rows, int cols, const double *restrict A,
                                    const double *restrict x, double *restrict y)
{
  for (int i = 0; i < rows; i++) {
    double sum = 0.0;
    for (int j = 0; j < cols; j++) sum += A[i * cols + j] * x[j];
    y[i] -= sum;
  }
}

/* The inverse of the block in its place, by exchange steps with the largest diagonal entry relative
 * to scale; rows that are left with less than the threshold, or left out, are dropped: zero rows
 * and columns.  Returns how many. */
static int invert(poli_block_lu *lu, int k, double threshold, const unsigned char *left_out)
{
  const int n = lu->size[k], row = lu->row[k];
  const double *scale = lu->scale + row;
  double *D = lu->values + lu->diagonal[k];
  unsigned char *left = lu->dropped + row;
  memset(left, 1, (size_t)n);
  for (int step = 0; step < n; step++) {
    int r = -1;
    double largest = threshold;
    for (int i = 0; i < n; i++) {
      const double size = fabs(D[i * n + i]) / scale[i];
      if (left[i] && !(size <= largest) && !(left_out && left_out[row + i])) {
        largest = size;
        r = i;
      }
    }
    if (r < 0) break;
    if (largest < lu->smallest) {
      lu->smallest = largest;
      lu->smallest_row = row + r;
    }
    left[r] = 0;
    const double pivot = 1.0 / D[r * n + r];
    for (int i = 0; i < n; i++) {
      if (i == r) continue;
      const double factor = D[i * n + r] * pivot;
      for (int j = 0; j < n; j++)
        if (j != r) D[i * n + j] -= factor * D[r * n + j];
      D[i * n + r] = -factor;
    }
    for (int j = 0; j < n; j++) D[r * n + j] *= pivot;
    D[r * n + r] = pivot;
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

int poli_block_lu_factor(poli_block_lu *lu, double threshold, const unsigned char *left_out)
{
  int num_dropped = 0, finite = 1;
  lu->smallest = HUGE_VAL;
  lu->smallest_row = -1;
  for (int k = 0; k < lu->num_nodes; k++)
    for (int i = 0; i < lu->size[k]; i++) {
      const double entry = fabs(lu->values[lu->diagonal[k] + i * (lu->size[k] + 1)]);
      finite = finite && entry <= 1e300;
      lu->scale[lu->row[k] + i] = entry > 0.0 ? entry : 1.0;
    }
  for (int k = 0; k < lu->num_nodes && finite; k++) {
    const int n = lu->size[k];
    const long *to = lu->target + lu->update[k];
    num_dropped += invert(lu, k, threshold, left_out);
    finite = isfinite(lu->values[lu->diagonal[k]]) || n == 0;
    for (int a = lu->first[k]; a < lu->first[k + 1]; a++) {
      const int rows = lu->size[lu->next[a]];
      double *L = lu->values + lu->lower[a];
      multiply_blocks(rows, n, n, 0, L, lu->values + lu->diagonal[k], lu->work);
      memcpy(L, lu->work, (size_t)(rows * n) * sizeof *L);
      for (int b = lu->first[k]; b < lu->first[k + 1]; b++, to++)
        multiply_blocks(rows, n, lu->size[lu->next[b]], 1, L, lu->values + lu->upper[b],
                        lu->values + *to);
    }
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

void poli_block_lu_solve(const poli_block_lu *lu, double *x)
{
  for (int k = 0; k < lu->num_nodes; k++)
    for (int e = lu->first[k]; e < lu->first[k + 1]; e++)
      subtract_product(lu->size[lu->next[e]], lu->size[k], lu->values + lu->lower[e],
                       x + lu->row[k], x + lu->row[lu->next[e]]);
  for (int k = lu->num_nodes - 1; k >= 0; k--) {
    const int n = lu->size[k];
    double *y = lu->work, *own = x + lu->row[k];
    for (int e = lu->first[k]; e < lu->first[k + 1]; e++)
      subtract_product(n, lu->size[lu->next[e]], lu->values + lu->upper[e],
                       x + lu->row[lu->next[e]], own);
    for (int i = 0; i < n; i++) y[i] = -own[i], own[i] = 0.0;
    subtract_product(n, n, lu->values + lu->diagonal[k], y, own);
  }
}
