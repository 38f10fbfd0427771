/* The constraints that close loops, and their components.
 *
 * A body on which only constraints act that are independent by their parts on this body alone, the
 * rows of one joint, is set aside together with them: a combination of constraints that vanishes
 * has no share of these.
 * What is left are the vectors; components of them have no body in common.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"
#include "dae/independence_parts.h"

/* Squared distance from each other of the rows of a joint on a body that is set aside. */
static const double certain = 1e-6;

/* Whether the constraints on a block that are left are those of one joint, and independent by their
 * parts in this block alone. */
static int can_be_set_aside(const poli_independence *s, int b, const unsigned char *removed)
{
  enum { MOST = 6 };
  const int n = poli_block_dim(s, b);
  double a[MOST][MOST], length[MOST];
  const poli_part *own[MOST];
  int count = 0;
  for (int k = s->list_start[b] + s->num_internal[b]; k < s->list_start[b + 1]; k++) {
    const poli_part *p = &s->parts[s->list[k]];
    if (removed[p->row]) continue;
    if (count == MOST) return 0;
    own[count++] = p;
  }
  for (int i = 0; i < count; i++) {
    /* the same bodies as those of the first one */
    const int *other = s->row_list + s->row_start[own[i]->row];
    const int *first = s->row_list + s->row_start[own[0]->row];
    const int bodies = s->row_start[own[0]->row + 1] - s->row_start[own[0]->row];
    if (s->row_start[own[i]->row + 1] - s->row_start[own[i]->row] != bodies) return 0;
    for (int k = 0; k < bodies; k++)
      if (s->parts[other[k]].block != s->parts[first[k]].block) return 0;
    /* a row of the Cholesky factor of their products */
    const double *x = s->A + own[i]->at;
    length[i] = sqrt(poli_dot(n, x, x));
    if (!(length[i] > 0.0)) return 0;
    double pivot = 1.0;
    for (int j = 0; j < i; j++) {
      const double product = poli_dot(n, x, s->A + own[j]->at) / (length[i] * length[j]);
      a[i][j] = (product - poli_dot(j, a[i], a[j])) / a[j][j];
      pivot -= a[i][j] * a[i][j];
    }
    if (!(pivot > certain)) return 0;
    a[i][i] = sqrt(pivot);
  }
  return 1;
}

/* Sets aside bodies and their constraints as long as there are any that can be. */
static void set_aside(poli_independence *s, unsigned char *removed, int *left, int *queue,
                      unsigned char *waiting)
{
  int depth = 0;
  for (int b = s->num_blocks - 1; b >= 0; b--) {
    left[b] = s->list_start[b + 1] - s->list_start[b] - s->num_internal[b];
    waiting[b] = 1;
    queue[depth++] = b;
  }
  while (depth > 0) {
    const int b = queue[--depth];
    waiting[b] = 0;
    if (left[b] == 0 || left[b] > 6 || !can_be_set_aside(s, b, removed)) continue;
    for (int k = s->list_start[b] + s->num_internal[b]; k < s->list_start[b + 1]; k++) {
      const int row = s->parts[s->list[k]].row;
      if (removed[row]) continue;
      removed[row] = 1;
      for (int i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
        const int other = s->parts[s->row_list[i]].block;
        left[other]--;
        if (waiting[other]) continue;
        waiting[other] = 1;
        queue[depth++] = other;
      }
    }
  }
}

/* The neighbours of all vectors: those that share a block.  Without `neighbour` they are counted.
 * mark has room for each vector. */
static double find_neighbours(const poli_independence *s, int *start, int *neighbour, int *mark)
{
  double total = 0.0;
  int count = 0;
  for (int v = 0; v < s->num_vectors; v++) mark[v] = -1;
  for (int v = 0; v < s->num_vectors; v++) {
    const int row = s->row_of[v];
    if (neighbour) start[v] = count;
    mark[v] = v;
    for (int i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
      const int b = s->parts[s->row_list[i]].block;
      for (int k = s->list_start[b] + s->num_internal[b]; k < s->list_start[b] + s->num_active[b];
           k++) {
        const int other = s->vector_of[s->parts[s->list[k]].row];
        if (mark[other] == v) continue;
        mark[other] = v;
        total += 1.0;
        if (neighbour) neighbour[count++] = other;
      }
    }
  }
  if (neighbour) start[s->num_vectors] = count;
  return total;
}

/* Of each block: internal constraints first, then those of vectors, then the others. */
static void sort_lists(poli_independence *s, int *room)
{
  for (int b = 0; b < s->num_blocks; b++) {
    int *list = s->list + s->list_start[b], count = s->num_internal[b];
    const int end = s->list_start[b + 1] - s->list_start[b];
    int others = 0;
    for (int k = count; k < end; k++) {
      if (s->vector_of[s->parts[list[k]].row] >= 0)
        list[count++] = list[k];
      else
        room[others++] = list[k];
    }
    s->num_active[b] = count;
    for (int k = 0; k < others; k++) list[count + k] = room[k];
  }
}

/* The numbers of A that make up each entry of the Gram matrix; counts them without `pair`. */
static int find_pairs(poli_independence *s)
{
  const int entries = poli_gram_num_entries(s->gram);
  int count = 0;
  for (int e = 0; e < entries; e++) {
    int i, j;
    poli_gram_entry(s->gram, e, &i, &j);
    int a = s->row_start[s->row_of[i]], b = s->row_start[s->row_of[j]];
    const int end_a = s->row_start[s->row_of[i] + 1], end_b = s->row_start[s->row_of[j] + 1];
    s->pair_start[e] = count;
    while (a < end_a && b < end_b) {
      const poli_part *p = &s->parts[s->row_list[a]], *q = &s->parts[s->row_list[b]];
      if (p->block == q->block) {
        if (s->pair) {
          s->pair[2 * count] = p->at;
          s->pair[2 * count + 1] = q->at;
          s->pair_size[count] = poli_block_dim(s, p->block);
        }
        count++;
      }
      a += p->block <= q->block;
      b += q->block <= p->block;
    }
  }
  s->pair_start[entries] = count;
  return count;
}

/* The graph of the vectors, and all that is needed for their components. */
static pol_status find_components(poli_independence *s)
{
  const size_t room = (size_t)s->num_vectors + 2;
  int *start = malloc(2 * room * sizeof *start), *neighbour = NULL;
  unsigned char *early = calloc(room, 1); /* constraints of one body */
  pol_status status = POL_NO_MEMORY;
  const double total = start && early ? find_neighbours(s, start, NULL, start + room) : 0.0;
  if (start && early && total < 1e9) neighbour = malloc(((size_t)total + 1) * sizeof *neighbour);
  if (neighbour) {
    find_neighbours(s, start, neighbour, start + room);
    for (int v = 0; v < s->num_vectors; v++)
      early[v] = s->row_start[s->row_of[v] + 1] - s->row_start[s->row_of[v]] <= 1;
    status = poli_gram_create(&s->gram, s->num_vectors, start, neighbour, early);
  }
  free(start);
  free(neighbour);
  free(early);
  if (status) return status;

  const int components = poli_gram_num_components(s->gram);
  const int entries = poli_gram_num_entries(s->gram);
  int *component = malloc(((size_t)s->num_blocks + 1) * sizeof *component);
  if (!component) return POL_NO_MEMORY;
  for (int b = 0; b < s->num_blocks; b++) component[b] = -1;
  for (int c = 0; c < components; c++) {
    int count;
    const int *members = poli_gram_members(s->gram, c, &count);
    for (int k = 0; k < count; k++)
      for (int i = s->row_start[s->row_of[members[k]]]; i < s->row_start[s->row_of[members[k]] + 1];
           i++)
        component[s->parts[s->row_list[i]].block] = c;
  }
  s->component = component;
  s->member_start = calloc((size_t)components + (size_t)s->num_blocks + 3, sizeof(int));
  if (!s->member_start) return POL_NO_MEMORY;
  s->member = s->member_start + components + 2;
  for (int b = 0; b < s->num_blocks; b++)
    if (component[b] >= 0) s->member_start[component[b] + 2]++;
  for (int c = 0; c < components; c++) s->member_start[c + 2] += s->member_start[c + 1];
  for (int b = 0; b < s->num_blocks; b++)
    if (component[b] >= 0) s->member[s->member_start[component[b] + 1]++] = b;
  s->dim = calloc((size_t)components + 1, sizeof *s->dim);
  s->offset = calloc((size_t)s->num_blocks + 1, sizeof *s->offset);
  s->pair_start = malloc(((size_t)entries + 1) * sizeof *s->pair_start);
  s->found = calloc(3 * room, 1);
  s->last = malloc(room * sizeof *s->last);
  if (!s->dim || !s->offset || !s->pair_start || !s->found || !s->last) return POL_NO_MEMORY;
  for (int v = 0; v < s->num_vectors; v++) s->last[v] = -1.0;
  s->chosen = s->found + room;
  s->trial = s->chosen + room;
  const int pairs = find_pairs(s);
  s->pair = malloc(3 * ((size_t)pairs + 1) * sizeof *s->pair);
  if (!s->pair) return POL_NO_MEMORY;
  s->pair_size = s->pair + 2 * ((size_t)pairs + 1);
  find_pairs(s);

  /* the full matrices of small components */
  size_t largest = 0;
  int rows = 0, cols = 0;
  for (int b = 0; b < s->num_blocks; b++) {
    if (component[b] < 0) continue;
    s->offset[b] = s->dim[component[b]];
    s->dim[component[b]] += poli_block_dim(s, b);
  }
  for (int c = 0; c < components; c++) {
    int count;
    poli_gram_members(s->gram, c, &count);
    if (count > s->most_dense) continue;
    const size_t numbers = (size_t)count * (size_t)s->dim[c];
    if (numbers > largest) largest = numbers;
    if (count > cols) cols = count;
    if (s->dim[c] > rows) rows = s->dim[c];
  }
  size_t most = 0;
  for (int b = 0; b < s->num_blocks; b++)
    if ((size_t)s->num_active[b] > most) most = (size_t)s->num_active[b];
  s->coordinate = malloc((most + 1) * sizeof *s->coordinate);
  s->numbers = malloc((most + 1) * sizeof *s->numbers);
  s->matrix = malloc((largest + 1) * sizeof *s->matrix);
  if (!s->matrix || !s->coordinate || !s->numbers) return POL_NO_MEMORY;
  return poli_rank_create(&s->rank, rows, cols);
}

void poli_loops_free(poli_independence *s)
{
  poli_gram_free(&s->gram);
  poli_rank_free(&s->rank);
  free(s->vector_of);
  free(s->component);
  free(s->member_start);
  free(s->offset);
  free(s->dim);
  free(s->pair_start);
  free(s->pair);
  free(s->found);
  free(s->last);
  free(s->matrix);
  free(s->coordinate);
  free(s->numbers);
  s->numbers = NULL;
  s->coordinate = NULL;
  s->vector_of = s->component = s->member_start = s->offset = s->dim = s->pair_start = s->pair =
      NULL;
  s->found = NULL;
  s->last = s->matrix = NULL;
}

pol_status poli_independence_analyse(poli_independence *independence, const pol_point *at)
{
  poli_independence *s = independence;
  if (s->gram) return POL_OK;
  pol_status status = poli_vectors_evaluate(s, at);
  if (status) return status;
  const size_t m = (size_t)s->m, blocks = (size_t)s->num_blocks;
  int *left = malloc(2 * (blocks + (size_t)s->num_parts + 1) * sizeof *left),
      *queue = left + blocks;
  unsigned char *removed = calloc(m + blocks + 1, 1);
  s->vector_of = malloc((2 * m + 1) * sizeof *s->vector_of);
  if (!left || !removed || !s->vector_of) {
    free(left);
    free(removed);
    poli_loops_free(s);
    return POL_NO_MEMORY;
  }
  s->row_of = s->vector_of + m;
  memset(s->size, 0, 2 * m * sizeof *s->size);
  for (int b = 0; b < s->num_blocks && !status; b++) {
    if (b % 1024 == 1023 && poli_monitor_poll(-1.0)) status = POL_CANCELLED;
    poli_vectors_fill_block(s, b);
  }
  if (poli_independence_is_sparse(s->dae)) set_aside(s, removed, left, queue, removed + m);
  s->num_vectors = 0;
  for (int i = 0; i < s->m; i++) {
    s->vector_of[i] = removed[i] || poli_is_internal_row(s, i) ? -1 : s->num_vectors;
    if (s->vector_of[i] >= 0) s->row_of[s->num_vectors++] = i;
  }
  sort_lists(s, left);
  if (!status) status = find_components(s);
  free(left);
  free(removed);
  if (status) poli_loops_free(s);
  return status;
}
