/* The structure of a block-sparse LU factorisation: graph, order of elimination, later neighbours,
 * places of the blocks and fronts of the parts; its memory.  See block_lu.c. */
#include <amd.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/block_lu_parts.h"

/* Nodes from which on a graph has parts. */
enum { LARGE = 1000 };

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

/* The fronts of all parts: places of the unknowns and blocks of the later neighbours of their
 * roots, and where the blocks are added. */
static pol_status place_fronts(poli_block_lu *lu, long *next)
{
  const size_t edges = (size_t)lu->first[lu->num_nodes];
  size_t merged = 0;
  lu->outside = malloc((edges + 1) * sizeof *lu->outside);
  if (!lu->outside) return POL_NO_MEMORY;
  for (size_t e = 0; e < edges; e++) lu->outside[e] = -1;
  for (int p = 0; p < lu->num_parts; p++) {
    poli_lu_part *own = &lu->parts[p];
    const int root = own->range.root, first = lu->first[root], end = lu->first[root + 1];
    own->front_rows = 0;
    for (int e = first; e < end; e++) {
      lu->outside[e] = own->front_rows;
      own->front_rows += lu->size[lu->next[e]];
    }
    own->front = *next;
    *next += (long)own->front_rows * own->front_rows;
    own->merge = merged;
    merged += (size_t)(end - first) * (size_t)(end - first);
    /* later neighbours above the part are among those of the root, both ascending */
    for (int k = own->range.first; k < root; k++)
      for (int e = lu->first[k], r = first; e < lu->first[k + 1]; e++) {
        if (lu->next[e] <= root) continue;
        while (lu->next[r] < lu->next[e]) r++;
        lu->outside[e] = lu->outside[r];
      }
  }
  lu->merge = malloc((merged + 1) * sizeof *lu->merge);
  if (!lu->merge) return POL_NO_MEMORY;
  for (int p = 0; p < lu->num_parts; p++) {
    const int root = lu->parts[p].range.root;
    long *to = lu->merge + lu->parts[p].merge;
    for (int a = lu->first[root]; a < lu->first[root + 1]; a++)
      for (int b = lu->first[root]; b < lu->first[root + 1]; b++)
        *to++ = find_block(lu, lu->next[a], lu->next[b]);
  }
  return POL_OK;
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
  if (lu->num_parts > 0 && place_fronts(lu, &next)) return POL_NO_MEMORY;
  lu->num_values = (size_t)next;
  lu->target = malloc((lu->update[n] + 1) * sizeof *lu->target);
  lu->values = calloc(lu->num_values + 1, sizeof *lu->values);
  if (!lu->target || !lu->values) return POL_NO_MEMORY;
  for (int k = 0, p = 0; k < n; k++) {
    long *to = lu->target + lu->update[k];
    while (p < lu->num_parts && lu->parts[p].range.root < k) p++;
    const poli_lu_part *own =
        p < lu->num_parts && k >= lu->parts[p].range.first ? &lu->parts[p] : NULL;
    for (int a = lu->first[k]; a < lu->first[k + 1]; a++)
      for (int b = lu->first[k]; b < lu->first[k + 1]; b++)
        *to++ = own && lu->outside[a] >= 0 && lu->outside[b] >= 0
                    ? own->front + (long)lu->outside[a] * own->front_rows +
                          (long)lu->size[lu->next[a]] * lu->outside[b]
                    : find_block(lu, lu->next[a], lu->next[b]);
  }
  return POL_OK;
}

/* Sizes, rows and neighbours for the order lu->node. */
static pol_status follow_order(poli_block_lu *lu, const int *size, const graph *g)
{
  lu->num_rows = 0;
  for (int i = 0; i < lu->num_nodes; i++) { /* rows of the nodes */
    lu->place[i] = lu->num_rows;
    lu->num_rows += size[i];
  }
  for (int k = 0; k < lu->num_nodes; k++) {
    lu->size[k] = size[lu->node[k]];
    lu->row[k] = lu->place[lu->node[k]];
  }
  for (int k = 0; k < lu->num_nodes; k++) lu->place[lu->node[k]] = k;
  free(lu->next);
  return find_neighbours(lu, g);
}

/* The same with the nodes in another order, given by places in the present one. */
static pol_status change_order(poli_block_lu *lu, const int *size, const graph *g, const int *order,
                               int *nodes)
{
  for (int k = 0; k < lu->num_nodes; k++) nodes[k] = lu->node[order[k]];
  memcpy(lu->node, nodes, (size_t)lu->num_nodes * sizeof *nodes);
  return follow_order(lu, size, g);
}

/* Operations for the elimination of each node, about. */
static void set_work(const poli_block_lu *lu, double *work)
{
  for (int k = 0; k < lu->num_nodes; k++) {
    double rows = lu->size[k];
    for (int i = lu->first[k]; i < lu->first[k + 1]; i++) rows += lu->size[lu->next[i]];
    work[k] = lu->size[k] * rows * rows;
  }
}

/* An order with contiguous subtrees, and its parts: of the present order, or where it has none, of
 * one from the middle. */
static pol_status divide(poli_block_lu *lu, const int *size, const graph *g)
{
  const int n = lu->num_nodes;
  poli_part found[POLI_MAX_PARTS];
  int *order = malloc(2 * (size_t)n * sizeof *order), count = 0;
  double *work = malloc((size_t)n * sizeof *work);
  lu->top = malloc((size_t)n * sizeof *lu->top);
  pol_status status = order && work && lu->top ? POL_OK : POL_NO_MEMORY;
  for (int round = 0; round < 2 && !status && count == 0; round++)
    for (int pass = 1 - round; pass < 2 && !status; pass++) {
      poli_elimination e = {n, lu->first, lu->next, work};
      set_work(lu, work);
      status = pass ? poli_order_subtrees(&e, order) : poli_order_from_middle(&e, order);
      if (!status) status = change_order(lu, size, g, order, order + n);
      if (status || pass == 0) continue;
      e = (poli_elimination){n, lu->first, lu->next, work};
      set_work(lu, work);
      count = poli_order_find_parts(&e, POLI_MAX_PARTS, found);
      if (count < 0) status = POL_NO_MEMORY;
    }
  free(order);
  free(work);
  lu->num_parts = count > 0 ? count : 0;
  for (int p = 0; p < lu->num_parts; p++) lu->parts[p].range = found[p];
  for (int k = 0, p = 0; k < n && !status; k++) {
    while (p < lu->num_parts && lu->parts[p].range.root < k) p++;
    if (p == lu->num_parts || k < lu->parts[p].range.first) lu->top[lu->num_top++] = k;
  }
  return status;
}

/* Scales, flags, and what each part needs while it works. */
static pol_status allocate_work(poli_block_lu *lu)
{
  size_t block = 0, rows = 0;
  for (int k = 0; k < lu->num_nodes; k++)
    if ((size_t)lu->size[k] > block) block = (size_t)lu->size[k];
  block = block * block + 8; /* parts do not share a line of the cache */
  for (int p = 0; p < lu->num_parts; p++) rows += (size_t)lu->parts[p].front_rows;
  lu->inverse_scale = calloc((size_t)lu->num_rows + 1, sizeof *lu->inverse_scale);
  lu->dropped = calloc((size_t)lu->num_rows + 1, 1);
  lu->alike = calloc((size_t)lu->num_nodes + 1, 1);
  lu->work = malloc(((size_t)(lu->num_parts + 1) * block + rows) * sizeof *lu->work);
  if (!lu->inverse_scale || !lu->dropped || !lu->work || !lu->alike) return POL_NO_MEMORY;
  double *next = lu->work;
  for (int p = 0; p <= lu->num_parts; p++) {
    lu->parts[p].work = next;
    lu->parts[p].block_size = block;
    next += block + (size_t)(p < lu->num_parts ? lu->parts[p].front_rows : 0);
  }
  if (!lu->top) lu->num_top = lu->num_nodes;
  return POL_OK;
}

pol_status poli_block_lu_create(poli_block_lu **made, int num_nodes, const int *size, int num_edges,
                                const int (*edges)[2], const int *order)
{
  const size_t n = (size_t)num_nodes;
  graph g = {0};
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
    status = follow_order(lu, size, &g);
  }
  if (!status && num_nodes >= LARGE) status = divide(lu, size, &g);
  if (!status) status = place_blocks(lu);
  if (!status) status = allocate_work(lu);
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
  void *const parts[] = {lu->node,   lu->place,         lu->size,    lu->row,    lu->first,
                         lu->next,   lu->lower,         lu->upper,   lu->update, lu->diagonal,
                         lu->target, lu->inverse_scale, lu->values,  lu->work,   lu->dropped,
                         lu->alike,  lu->top,           lu->outside, lu->merge};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) free(parts[i]);
  free(lu);
  *made = NULL;
}

long poli_block_lu_address(const poli_block_lu *lu, int i, int j)
{
  return find_block(lu, lu->place[i], lu->place[j]);
}

void poli_block_lu_archive(poli_block_lu *lu, poli_archive *archive)
{
  const size_t rows = (size_t)lu->num_rows;
  poli_archive_bytes(archive, lu->values, lu->num_values * sizeof *lu->values);
  poli_archive_bytes(archive, lu->inverse_scale, rows * sizeof *lu->inverse_scale);
  poli_archive_bytes(archive, lu->dropped, rows);
  POLI_ARCHIVE(archive, lu->smallest);
  POLI_ARCHIVE(archive, lu->smallest_row);
}

double *poli_block_lu_values(poli_block_lu *lu)
{
  return lu->values;
}

void poli_block_lu_clear(poli_block_lu *lu)
{
  memset(lu->values, 0, lu->num_values * sizeof *lu->values);
}

int poli_block_lu_clear_next(poli_block_lu *lu, int place)
{
  /* behind the last one are the fronts of the parts */
  const size_t start = (size_t)lu->diagonal[place],
               end = place + 1 < lu->num_nodes ? (size_t)lu->diagonal[place + 1] : lu->num_values;
  memset(lu->values + start, 0, (end - start) * sizeof *lu->values);
  return lu->node[place];
}
