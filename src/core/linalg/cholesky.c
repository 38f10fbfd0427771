/* Sparse Cholesky factorisation; see cholesky.h.
 *
 * The elimination tree of the matrix in the order of AMD has a parent for each column: its first
 * row below the diagonal in L (Liu 1990).  Columns that follow each other and have the same rows
 * below are one block, a supernode; blocks are merged with the block above them where that adds few
 * zeros.  Each block has its rows, its own first, and its part of L, a dense matrix by columns.
 *
 * Numerically a block adds its entries of A and the updates of the blocks below it in the tree,
 * factors its own columns, and leaves its update, a dense matrix over the rows below, to the block
 * above.  All arithmetic that counts is that of dense matrices (BLAS). */
#include "linalg/cholesky.h"

#include <amd.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* The BLAS of Fortran, which every LAPACK comes with. */
void dtrsm_(const char *side, const char *triangle, const char *transposed, const char *diagonal,
            const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            double *b, const int *ldb, size_t, size_t, size_t, size_t);
void dsyrk_(const char *triangle, const char *transposed, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *beta, double *c,
            const int *ldc, size_t, size_t);

/* A pivot of at most this share of its entry in A is round-off. */
#define SMALLEST_PIVOT 1e-14

typedef struct block {
  int first, columns; /* its own columns, in the order of elimination */
  int rows;           /* of its part of L: its own, then those below, ascending */
  int parent;         /* the block above; -1 for a root */
  int child, next;    /* the first block below it, the next one of its parent; -1: none */
  size_t index;       /* where its rows start */
  size_t value;       /* where its part of L starts */
} block;

struct poli_cholesky {
  const pol_pattern *pattern;
  int n, num_blocks;
  int *order, *place; /* column order[k] is eliminated k-th; place[order[k]] = k */
  block *blocks;
  int *rows;   /* of all blocks */
  double *L;   /* of all blocks; NULL before the first factorisation */
  size_t size; /* of L */
  double *work, *gathered;
  int *local;   /* n: the row of a block for each row of L */
  void *memory; /* order, place, work, gathered, local */
};

/* --- analysis --------------------------------------------------------------------------------- */

/* The parent of each column in the elimination tree, in the present order. */
static void find_parents(const poli_cholesky *c, int *parent, int *ancestor)
{
  for (int k = 0; k < c->n; k++) {
    const int column = c->order[k];
    parent[k] = ancestor[k] = -1;
    for (int e = c->pattern->start[column]; e < c->pattern->start[column + 1]; e++)
      for (int i = c->place[c->pattern->row[e]], up; i >= 0 && i < k; i = up) {
        up = ancestor[i];
        ancestor[i] = k; /* the path is shorter next time */
        if (up < 0) parent[i] = k;
      }
  }
}

/* Changes the order so that each subtree is contiguous: children before their parent. */
static void order_subtrees(poli_cholesky *c, int *parent, int *head, int *next, int *stack,
                           int *changed)
{
  int count = 0;
  for (int k = 0; k < c->n; k++) head[k] = -1;
  for (int k = c->n; k-- > 0;) {
    if (parent[k] < 0) continue;
    next[k] = head[parent[k]];
    head[parent[k]] = k;
  }
  for (int root = 0; root < c->n; root++) {
    if (parent[root] >= 0) continue;
    int depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
      const int k = stack[depth - 1], child = head[k];
      if (child >= 0) {
        head[k] = next[child];
        stack[depth++] = child;
      } else {
        changed[count++] = k; /* the count-th is k */
        depth--;
      }
    }
  }
  for (int k = 0; k < c->n; k++) stack[changed[k]] = k; /* where k has gone */
  for (int k = 0; k < c->n; k++) {
    head[k] = c->order[changed[k]];
    next[k] = parent[changed[k]] < 0 ? -1 : stack[parent[changed[k]]];
  }
  memcpy(c->order, head, (size_t)c->n * sizeof *head);
  memcpy(parent, next, (size_t)c->n * sizeof *next);
  for (int k = 0; k < c->n; k++) c->place[c->order[k]] = k;
}

/* Entries of each column of L: row k has those on the paths from its entries of A up to k. */
static void count_entries(const poli_cholesky *c, const int *parent, int *mark, int *count)
{
  for (int k = 0; k < c->n; k++) {
    const int column = c->order[k];
    mark[k] = k;
    count[k] = 1;
    for (int e = c->pattern->start[column]; e < c->pattern->start[column + 1]; e++)
      for (int i = c->place[c->pattern->row[e]]; i < k && mark[i] != k; i = parent[i]) {
        mark[i] = k;
        count[i]++;
      }
  }
}

/* Blocks of columns; returns their number.  A block is merged with the last one below it if few of
 * its numbers are zeros then. */
static int find_blocks(const poli_cholesky *c, const int *parent, const int *count, block *blocks,
                       double *zeros)
{
  int made = 0;
  for (int first = 0, end; first < c->n; first = end) {
    for (end = first + 1; end < c->n && parent[end - 1] == end && count[end - 1] == count[end] + 1;)
      end++;
    block new = {.first = first, .columns = end - first, .rows = count[first]};
    double empty = 0.0;
    while (made > 0) {
      const block *last = &blocks[made - 1];
      if (parent[new.first - 1] != new.first) break;
      const double columns = last->columns + new.columns, rows = last->columns + new.rows;
      const double more = zeros[made - 1] + empty +
                          (double)last->columns * (new.rows - (last->rows - last->columns));
      const double share = more / (columns * (rows - 0.5 * columns));
      if (!(share < (columns < 8 ? 0.5 : columns < 32 ? 0.2 : columns < 128 ? 0.1 : 0.02))) break;
      new.first = last->first;
      new.columns += last->columns;
      new.rows += last->columns;
      empty = more;
      made--;
    }
    zeros[made] = empty;
    blocks[made++] = new;
  }
  return made;
}

static int compare_rows(const void *first, const void *second)
{
  const int a = *(const int *)first, b = *(const int *)second;
  return a < b ? -1 : a > b;
}

/* The rows of each block below its own, and the tree of the blocks; block_of: of each column. */
static void find_rows(poli_cholesky *c, const int *block_of, int *mark)
{
  for (int k = 0; k < c->n; k++) mark[k] = -1;
  for (int b = 0; b < c->num_blocks; b++) c->blocks[b].child = c->blocks[b].parent = -1;
  for (int b = 0; b < c->num_blocks; b++) {
    block *own = &c->blocks[b];
    const int end = own->first + own->columns;
    int *rows = c->rows + own->index, count = 0;
    for (int k = own->first; k < end; k++) rows[count++] = k;
    for (int k = own->first; k < end; k++) {
      const int column = c->order[k];
      for (int e = c->pattern->start[column]; e < c->pattern->start[column + 1]; e++) {
        const int row = c->place[c->pattern->row[e]];
        if (row < end || mark[row] == b) continue;
        mark[row] = b;
        rows[count++] = row;
      }
    }
    for (int below = own->child; below >= 0; below = c->blocks[below].next) {
      const block *child = &c->blocks[below];
      for (int i = child->columns; i < child->rows; i++) {
        const int row = c->rows[child->index + (size_t)i];
        if (row < end || mark[row] == b) continue;
        mark[row] = b;
        rows[count++] = row;
      }
    }
    qsort(rows + own->columns, (size_t)(count - own->columns), sizeof *rows, compare_rows);
    if (count == own->columns) continue;
    own->parent = block_of[rows[own->columns]];
    own->next = c->blocks[own->parent].child;
    c->blocks[own->parent].child = b;
  }
}

static pol_status analyse(poli_cholesky *c)
{
  const int n = c->n;
  int *parent, *count, *a, *b, *d, *e;
  double *zeros;
  block *blocks;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, parent, n);
    POLI_TAKE(&arena, count, n);
    POLI_TAKE(&arena, a, n);
    POLI_TAKE(&arena, b, n);
    POLI_TAKE(&arena, d, n);
    POLI_TAKE(&arena, e, n);
    POLI_TAKE(&arena, zeros, n);
    POLI_TAKE(&arena, blocks, n);
  } while (poli_arena_again(&arena));
  pol_status status = arena.memory ? POL_OK : POL_NO_MEMORY;
  if (!status && amd_order(n, c->pattern->start, c->pattern->row, c->order, NULL, NULL) < 0)
    status = POL_NO_MEMORY;
  if (!status) {
    for (int k = 0; k < n; k++) c->place[c->order[k]] = k;
    find_parents(c, parent, a);
    order_subtrees(c, parent, a, b, d, e);
    count_entries(c, parent, a, count);
    c->num_blocks = find_blocks(c, parent, count, blocks, zeros);
    size_t rows = 0;
    for (int i = 0; i < c->num_blocks; i++) {
      blocks[i].index = rows;
      blocks[i].value = c->size;
      rows += (size_t)blocks[i].rows;
      c->size += (size_t)blocks[i].rows * (size_t)blocks[i].columns;
      for (int k = 0; k < blocks[i].columns; k++) b[blocks[i].first + k] = i;
    }
    c->blocks = malloc((size_t)c->num_blocks * sizeof *blocks + 1);
    c->rows = malloc(rows * sizeof *c->rows + 1);
    status = c->blocks && c->rows ? POL_OK : POL_NO_MEMORY;
  }
  if (!status) {
    memcpy(c->blocks, blocks, (size_t)c->num_blocks * sizeof *blocks);
    find_rows(c, b, a);
  }
  free(arena.memory);
  return status;
}

pol_status poli_cholesky_create(poli_cholesky **cholesky, const pol_pattern *pattern)
{
  poli_cholesky *c = calloc(1, sizeof *c);
  *cholesky = NULL;
  if (!c) return POL_NO_MEMORY;
  c->pattern = pattern;
  c->n = pattern->rows;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, c->n, &c->work, &c->gathered);
    POLI_TAKE(&arena, c->order, c->n);
    POLI_TAKE(&arena, c->place, c->n);
    POLI_TAKE(&arena, c->local, c->n);
  } while (poli_arena_again(&arena));
  c->memory = arena.memory;
  const pol_status status = c->memory ? analyse(c) : POL_NO_MEMORY;
  if (status)
    poli_cholesky_free(&c);
  else
    *cholesky = c;
  return status;
}

void poli_cholesky_free(poli_cholesky **cholesky)
{
  poli_cholesky *c = *cholesky;
  if (!c) return;
  free(c->blocks);
  free(c->rows);
  free(c->L);
  free(c->memory);
  free(c);
  *cholesky = NULL;
}

size_t poli_cholesky_size(const poli_cholesky *cholesky)
{
  return cholesky->size;
}

/* --- factorisation ---------------------------------------------------------------------------- */

/* Adds the update of a block below: to the columns of this one and to its update, lower triangles.
 */
static void add_update(const poli_cholesky *c, const block *child, const double *update,
                       const block *own, double *panel, double *rest)
{
  const int count = child->rows - child->columns, below = own->rows - own->columns;
  const int *rows = c->rows + child->index + child->columns;
  for (int j = 0; j < count; j++) {
    const int column = c->local[rows[j]];
    const double *from = update + (size_t)j * (size_t)count;
    if (column < own->columns) {
      double *to = panel + (size_t)column * (size_t)own->rows;
      for (int i = j; i < count; i++) to[c->local[rows[i]]] += from[i];
    } else {
      double *to = rest + (size_t)(column - own->columns) * (size_t)below;
      for (int i = j; i < count; i++) to[c->local[rows[i]] - own->columns] += from[i];
    }
  }
}

/* Factors one block; updates[b] is set, those of the blocks below are freed. */
static pol_status factor_block(poli_cholesky *c, int b, const double *values, double **updates,
                               int *bad)
{
  const block *own = &c->blocks[b];
  const int rows = own->rows, columns = own->columns, below = rows - columns;
  const double one = 1.0, minus = -1.0;
  double *panel = c->L + own->value;
  for (int i = 0; i < rows; i++) c->local[c->rows[own->index + (size_t)i]] = i;
  memset(panel, 0, (size_t)rows * (size_t)columns * sizeof *panel);
  updates[b] = calloc((size_t)below * (size_t)below + 1, sizeof **updates);
  if (!updates[b]) return POL_NO_MEMORY;
  for (int k = 0; k < columns; k++) {
    const int column = c->order[own->first + k];
    for (int e = c->pattern->start[column]; e < c->pattern->start[column + 1]; e++) {
      const int row = c->place[c->pattern->row[e]];
      if (row >= own->first + k)
        panel[(size_t)c->local[row] + (size_t)k * (size_t)rows] += values[e];
    }
    c->work[k] = panel[(size_t)k * (size_t)rows + (size_t)k];
  }
  for (int child = own->child; child >= 0; child = c->blocks[child].next) {
    add_update(c, &c->blocks[child], updates[child], own, panel, updates[b]);
    free(updates[child]);
    updates[child] = NULL;
  }
  const lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', columns, panel, rows);
  *bad = info > 0 ? (int)info - 1 : -1;
  for (int k = 0; k < columns && *bad < 0; k++) {
    const double pivot = panel[(size_t)k * (size_t)rows + (size_t)k];
    if (!(pivot * pivot > SMALLEST_PIVOT * fabs(c->work[k])) || !isfinite(pivot)) *bad = k;
  }
  if (*bad >= 0) {
    *bad = c->order[own->first + *bad];
    return POL_SINGULAR;
  }
  if (below == 0) return POL_OK;
  dtrsm_("R", "L", "T", "N", &below, &columns, &one, panel, &rows, panel + columns, &rows, 1, 1, 1,
         1);
  dsyrk_("L", "N", &below, &columns, &minus, panel + columns, &rows, &one, updates[b], &below, 1,
         1);
  return POL_OK;
}

pol_status poli_cholesky_factor(poli_cholesky *c, const double *values, int *column)
{
  double **updates = calloc((size_t)c->num_blocks + 1, sizeof *updates);
  if (!c->L) c->L = malloc(c->size * sizeof *c->L + 1);
  pol_status status = updates && c->L ? POL_OK : POL_NO_MEMORY;
  *column = -1;
  for (int b = 0; b < c->num_blocks && !status; b++)
    status = factor_block(c, b, values, updates, column);
  for (int b = 0; b < c->num_blocks && updates; b++) free(updates[b]);
  free(updates);
  return status;
}

/* --- solution --------------------------------------------------------------------------------- */

void poli_cholesky_forward(poli_cholesky *c, double *x)
{
  double *y = c->work, *sum = c->gathered;
  for (int k = 0; k < c->n; k++) y[k] = x[c->order[k]];
  for (int b = 0; b < c->num_blocks; b++) {
    const block *own = &c->blocks[b];
    const int rows = own->rows, columns = own->columns;
    const int *row = c->rows + own->index;
    double *part = y + own->first;
    memset(sum + columns, 0, (size_t)(rows - columns) * sizeof *sum);
    for (int k = 0; k < columns; k++) {
      const double *L = c->L + own->value + (size_t)k * (size_t)rows;
      const double value = part[k] /= L[k];
      for (int i = k + 1; i < columns; i++) part[i] -= L[i] * value;
      for (int i = columns; i < rows; i++) sum[i] += L[i] * value;
    }
    for (int i = columns; i < rows; i++) y[row[i]] -= sum[i];
  }
  memcpy(x, y, (size_t)c->n * sizeof *x);
}

void poli_cholesky_backward(poli_cholesky *c, double *x)
{
  double *gathered = c->gathered;
  for (int b = c->num_blocks; b-- > 0;) {
    const block *own = &c->blocks[b];
    const int rows = own->rows, columns = own->columns;
    const int *row = c->rows + own->index;
    double *part = x + own->first;
    for (int i = columns; i < rows; i++) gathered[i] = x[row[i]];
    for (int k = columns; k-- > 0;) {
      const double *L = c->L + own->value + (size_t)k * (size_t)rows;
      double value = part[k];
      for (int i = k + 1; i < columns; i++) value -= L[i] * part[i];
      for (int i = columns; i < rows; i++) value -= L[i] * gathered[i];
      part[k] = value / L[k];
    }
  }
  memcpy(c->work, x, (size_t)c->n * sizeof *x);
  for (int k = 0; k < c->n; k++) x[c->order[k]] = c->work[k];
}

void poli_cholesky_solve(poli_cholesky *c, double *x)
{
  poli_cholesky_forward(c, x);
  poli_cholesky_backward(c, x);
}
