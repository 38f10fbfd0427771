/* Life cycle and decisions of independence.h.  Small components are decided by full matrices, large
 * ones by a sparse decomposition. */
#include "dae/independence.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"
#include "dae/independence_parts.h"

/* Of a choice in a large component, enough not to look for a better one. */
static const double fair_distance = 0.01;

pol_status poli_independence_create(poli_independence **independence, const pol_dae *dae)
{
  poli_independence *s = *independence = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->dae = dae;
  s->most_dense = POLI_MOST_DENSE_ROWS;
  pol_status status = poli_vectors_create(s);
  if (status) poli_independence_free(independence);
  return status;
}

void poli_independence_free(poli_independence **independence)
{
  poli_independence *s = *independence;
  if (!s) return;
  poli_loops_free(s);
  poli_vectors_free(s);
  free(s);
  *independence = NULL;
}

int poli_independence_is_sparse(const pol_dae *dae)
{
  return dae->extension && dae->extension->mass_blocks;
}

void poli_independence_set_dense(poli_independence *independence, int most_rows)
{
  independence->most_dense = most_rows;
}

void poli_independence_archive(poli_independence *independence, poli_archive *archive)
{
  poli_independence *s = independence;
  int num_vectors = s->gram ? s->num_vectors : 0;
  POLI_ARCHIVE(archive, num_vectors);
  if (num_vectors != (s->gram ? s->num_vectors : 0)) archive->status = POL_BAD_ARGUMENT;
  if (s->gram) poli_archive_bytes(archive, s->last, (size_t)num_vectors * sizeof *s->last);
}

int poli_independence_num_components(const poli_independence *independence)
{
  return independence->gram ? poli_gram_num_components(independence->gram) : 0;
}

int poli_independence_component(const poli_independence *independence, int block)
{
  return independence->component ? independence->component[block] : -1;
}

void poli_independence_cost(const poli_independence *independence, double *size, double *operations)
{
  *size = independence->gram ? (double)poli_gram_size(independence->gram) : 0.0;
  *operations = independence->gram ? poli_gram_operations(independence->gram) : 0.0;
}

/* --- decisions -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

/* Decides a small component by the decomposition of its full matrix, with its constraints in the
 * order of their indices.  near < 0: by round-off, or as many as count. */
static pol_status decide_dense(poli_independence *s, int c, int count, double near)
{
  int cols, sorted[POLI_MOST_DENSE_ROWS];
  const int *members = poli_gram_members(s->gram, c, &cols), rows = s->dim[c];
  unsigned char dependent[POLI_MOST_DENSE_ROWS];
  memcpy(sorted, members, (size_t)cols * sizeof *sorted);
  qsort(sorted, (size_t)cols, sizeof *sorted, compare);
  memset(s->matrix, 0, (size_t)rows * (size_t)cols * sizeof *s->matrix);
  for (int k = 0; k < cols; k++) {
    const int row = s->row_of[sorted[k]];
    for (int i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
      const poli_part *p = &s->parts[s->row_list[i]];
      memcpy(s->matrix + (size_t)k * (size_t)rows + s->offset[p->block], s->A + p->at,
             (size_t)poli_block_dim(s, p->block) * sizeof *s->A);
    }
  }
  poli_rank_resize(s->rank, rows, cols);
  const pol_status status = near < 0.0
                                ? poli_rank_dependent(s->rank, s->matrix, NULL, count, dependent)
                                : poli_rank_near(s->rank, s->matrix, NULL, near, dependent);
  for (int k = 0; k < cols && !status; k++) s->chosen[sorted[k]] = dependent[k];
  return status;
}

/* Adds the coordinates of a block to the decomposition of its component. */
static void add_block(poli_independence *s, int b)
{
  const int *list = s->list + s->list_start[b] + s->num_internal[b];
  const int count = s->num_active[b] - s->num_internal[b];
  for (int i = 0; i < poli_block_dim(s, b); i++) {
    for (int k = 0; k < count; k++) {
      s->numbers[k] = s->vector_of[s->parts[list[k]].row];
      s->coordinate[k] = s->A[s->parts[list[k]].at + i];
    }
    poli_gram_add(s->gram, count, s->numbers, s->coordinate);
  }
}

/* All coordinates of a component. */
static void decompose(poli_independence *s, int c)
{
  poli_gram_begin(s->gram, c);
  for (int k = s->member_start[c]; k < s->member_start[c + 1]; k++) add_block(s, s->member[k]);
}

static pol_status decide_near(poli_independence *s, int c, double near)
{
  decompose(s, c);
  return poli_gram_choose_near(s->gram, c, near, s->chosen);
}

/* Decides a large component.  Vectors that are close to those before them are best compared with
 * each other at the end in some mechanisms, in others not, where distances add up along many loops:
 * the first way that leaves a fair distance is taken, else the one that drops fewest constraints
 * and leaves the largest. */
static pol_status decide_sparse(poli_independence *s, int c, int count)
{
  static const double enough[] = {0.0, 0.1, 0.01, 0.3};
  int size, which, fewest = INT_MAX;
  const int *members = poli_gram_members(s->gram, c, &size);
  double best = -1.0;
  for (size_t i = 0; i < sizeof enough / sizeof enough[0] && best < fair_distance; i++) {
    decompose(s, c);
    const pol_status status = poli_gram_choose(s->gram, c, count, enough[i], s->trial);
    if (status) return status;
    int dropped = 0, differ = i == 0;
    for (int k = 0; k < size; k++) {
      dropped += s->trial[members[k]];
      differ = differ || s->trial[members[k]] != s->chosen[members[k]];
    }
    if (!differ) continue;
    const double distance = poli_gram_measure(s->gram, c, s->trial, &which);
    const int better =
        dropped < fewest ? distance > 0.0 || best <= 0.0 : dropped == fewest && distance > best;
    if (!better) continue;
    for (int k = 0; k < size; k++) s->chosen[members[k]] = s->trial[members[k]];
    best = distance;
    fewest = dropped;
  }
  return POL_OK;
}

/* Decides a component; the result is in chosen. */
static pol_status decide(poli_independence *s, int c, const unsigned char *like, double near)
{
  int size, count = -1;
  const int *members = poli_gram_members(s->gram, c, &size);
  if (like) {
    count = 0;
    for (int k = 0; k < size; k++) count += like[s->row_of[members[k]]] != 0;
    if (count == 0) {
      for (int k = 0; k < size; k++) s->chosen[members[k]] = 0;
      return POL_OK;
    }
  }
  if (size <= s->most_dense) return decide_dense(s, c, count, near);
  return near < 0.0 ? decide_sparse(s, c, count) : decide_near(s, c, near);
}

static pol_status find(poli_independence *s, const pol_point *at, const unsigned char *like,
                       int only, double near, unsigned char *dependent)
{
  pol_status status = poli_independence_analyse(s, at);
  if (status) return status;
  const int components = poli_gram_num_components(s->gram);
  if (only < 0) memset(dependent, 0, (size_t)s->m);
  if (components == 0) return POL_OK;
  unsigned char *wanted = s->found; /* a component has at least one vector */
  for (int c = 0; c < components; c++) wanted[c] = only < 0 || c == only;
  status = poli_vectors_fill(s, at, wanted);
  for (int c = 0; c < components && !status; c++) {
    int size;
    const int *members = poli_gram_members(s->gram, c, &size);
    if (!wanted[c]) continue;
    status = decide(s, c, like, near);
    for (int k = 0; k < size && !status; k++)
      dependent[s->row_of[members[k]]] = s->chosen[members[k]];
    if (poli_monitor_poll((c + 1.0) / components)) return POL_CANCELLED;
  }
  return status;
}

pol_status poli_independence_find(poli_independence *independence, const pol_point *at,
                                  const unsigned char *like, int component,
                                  unsigned char *dependent)
{
  poli_monitor_stage("rank of the constraints");
  const pol_status status = find(independence, at, like, component, -1.0, dependent);
  poli_monitor_stage("initial values");
  return status;
}

pol_status poli_independence_find_near(poli_independence *independence, const pol_point *at,
                                       double distance, unsigned char *dependent)
{
  return find(independence, at, NULL, -1, distance, dependent);
}

/* The largest relative fall of a distance in a component since the last time. */
static double note_fall(poli_independence *s, int c, double distance)
{
  int count;
  const int *members = poli_gram_members(s->gram, c, &count);
  double fall = distance > 0.0 ? -1.0 : HUGE_VAL;
  for (int k = 0; k < count; k++) {
    const int v = members[k];
    const double now = s->found[v] || !(distance > 0.0) ? -1.0 : poli_gram_distance(s->gram, v);
    if (now > 0.0) fall = fmax(fall, s->last[v] < 0.0 ? HUGE_VAL : (s->last[v] - now) / now);
    s->last[v] = now;
  }
  return fall;
}

pol_status poli_independence_measure(poli_independence *independence, const pol_point *at,
                                     const unsigned char *dropped, const unsigned char *wanted,
                                     double *distance, int *constraint, double *fall)
{
  poli_independence *s = independence;
  pol_status status = poli_independence_analyse(s, at);
  if (!status) status = poli_vectors_fill(s, at, wanted);
  if (status) return status;
  for (int v = 0; v < s->num_vectors; v++) s->found[v] = dropped[s->row_of[v]];
  for (int c = 0; c < poli_gram_num_components(s->gram); c++) {
    int vector;
    if (wanted && !wanted[c]) continue;
    distance[c] = poli_gram_measure(s->gram, c, s->found, &vector);
    constraint[c] = vector >= 0 ? s->row_of[vector] : -1;
    if (fall) fall[c] = note_fall(s, c, distance[c]);
  }
  return POL_OK;
}
