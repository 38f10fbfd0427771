/* The vectors of independence.h, and the decisions about them.
 *
 * Constraints are compared in the metric of M^-1: A = L^-1 B^T with M = L L^T, so that A^T A = B
 * M^-1 B^T.  The mass matrix has one block for each body, and so has L; a constraint has numbers in
 * the blocks of the bodies it acts on.  Where coordinates have internal constraints C, what is
 * perpendicular to their columns has the products
 *
 *     B (M^-1 - M^-1 C^T (C M^-1 C^T)^-1 C M^-1) B^T,
 *
 * which is B M^-1 B^T in coordinates without such constraints: the same numbers in all formulations
 * of a mechanism, and so the same decisions.  M + C^T C instead of M gives the same result, and is
 * regular where M is not.
 *
 * A body on which only constraints act that are independent by their parts on this body alone, the
 * rows of one joint, is set aside together with them: a combination of constraints that vanishes
 * has no share of these.
 */
#include "dae/independence.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/monitor.h"
#include "dae/extension.h"
#include "linalg/gram.h"
#include "linalg/rank.h"

enum { MOST_DENSE_ROWS = 200 };

/* Squared distance from each other of the rows of a joint on a body that is set aside. */
static const double certain = 1e-6;
/* Of a choice in a large component, enough not to look for a better one. */
static const double fair_distance = 0.01;
/* What is left of a constraint that depends on the internal ones, relatively. */
static const double nothing_left = 1e-10;

/* A constraint and a body it acts on: as many numbers of A as the body has velocities. */
typedef struct part {
  int row, block, at;
} part;

struct poli_independence {
  const pol_dae *dae;
  poli_dae_patterns patterns;
  int nv, m, num_blocks, num_parts;
  void *memory;              /* holds the arrays up to the numbers */
  int *block_start;          /* num_blocks + 1: velocities of a block */
  int *block_of;             /* a velocity: its block */
  size_t *factor_at;         /* a block: where its part of L starts, row by row */
  part *parts;               /* by blocks */
  int *row_start, *row_list; /* a constraint: its parts, ascending */
  int *list_start, *list;    /* a block: its parts, internal constraints first, ascending */
  int *num_internal;         /* a block: how many of these are internal */
  int *num_active;           /* a block: how many of the list are looked at, the first ones */
  int *jacobian_at;          /* an entry of B: where it is in A */
  double *mass, *jacobian, *A, *L, *scratch;
  double *size; /* a constraint: its length, before and after what the internal ones take away */

  /* the components, NULL as long as they have not been found */
  poli_gram *gram;
  int num_vectors;
  int *vector_of;             /* a constraint: its vector, -1 if it cannot depend on others */
  int *row_of;                /* a vector: its constraint */
  int *component;             /* a block: its component or -1 */
  int *member_start, *member; /* a component: its blocks */
  int *offset;                /* a block: its first velocity among those of its component */
  int *dim;                   /* a component: its velocities */
  int *pair_start, *pair;     /* an entry of the Gram matrix: numbers of A to multiply, by pairs */
  int *pair_size;
  unsigned char *found, *chosen, *trial; /* a vector */
  double *matrix;                        /* of a small component */
  double *coordinate;                    /* of all vectors in a block, */
  int *numbers;                          /* and which these are */
  poli_rank *rank;
  int most_dense;
};

/* --- layout ----------------------------------------------------------------------------------- */

static int is_internal(const poli_independence *s, int row)
{
  return poli_dae_is_internal(s->dae, row);
}

/* Blocks of velocities that the mass matrix and internal constraints do not connect with others:
 * those that the model gives, else intervals by the pattern. */
static void find_blocks(poli_independence *s)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  const struct pol_dae_extension *known = s->dae->extension;
  int *joined = s->block_of; /* a velocity: 1 if it belongs to the block of the one before */
  if (known && known->mass_blocks) {
    s->num_blocks = known->num_mass_blocks;
    memcpy(s->block_start, known->mass_blocks, ((size_t)s->num_blocks + 1) * sizeof(int));
  } else {
    for (int j = 0; j < s->nv; j++)
      if (W->start[j] < W->start[j + 1])
        for (int i = W->row[W->start[j]] + 1; i <= j; i++) joined[i] = 1;
    for (int j = 0; j < s->nv; j++)
      for (int k = B->start[j]; k < B->start[j + 1]; k++) {
        if (!is_internal(s, B->row[k])) continue;
        /* from its first velocity on, remembered in row_start */
        int *first = &s->row_start[B->row[k]];
        if (*first == 0) *first = j + 1;
        for (int i = *first; i <= j; i++) joined[i] = 1;
      }
    memset(s->row_start, 0, (size_t)s->m * sizeof *s->row_start);
    s->num_blocks = 0;
    for (int j = 0; j < s->nv; j++)
      if (j == 0 || !joined[j]) s->block_start[s->num_blocks++] = j;
    s->block_start[s->num_blocks] = s->nv;
  }
  for (int b = 0; b < s->num_blocks; b++)
    for (int j = s->block_start[b]; j < s->block_start[b + 1]; j++) s->block_of[j] = b;
}

/* Visits the parts by blocks; last[row] is the last part of a row. Without parts it counts. */
static int list_parts(const poli_independence *s, part *parts, int *last)
{
  const pol_pattern *B = s->patterns.constraint;
  int count = 0, at = 0;
  for (int i = 0; i < s->m; i++) last[i] = -1;
  for (int b = 0; b < s->num_blocks; b++) {
    const int first = count, size = s->block_start[b + 1] - s->block_start[b];
    for (int j = s->block_start[b]; j < s->block_start[b + 1]; j++)
      for (int k = B->start[j]; k < B->start[j + 1]; k++) {
        const int row = B->row[k];
        if (last[row] < first) {
          last[row] = count;
          if (parts) parts[count] = (part){.row = row, .block = b, .at = at};
          at += size;
          count++;
        }
        if (parts) s->jacobian_at[k] = parts[last[row]].at + j - s->block_start[b];
      }
  }
  return count;
}

/* The lists of parts, by blocks with internal ones first and by rows. */
static void sort_parts(poli_independence *s)
{
  int at = 0;
  for (int p = 0; p < s->num_parts; p++) s->row_start[s->parts[p].row + 1]++;
  for (int i = 0; i < s->m; i++) s->row_start[i + 1] += s->row_start[i];
  for (int p = s->num_parts - 1; p >= 0; p--) s->row_list[--s->row_start[s->parts[p].row + 1]] = p;
  for (int i = 0; i < s->m; i++) s->row_start[i] = s->row_start[i + 1];
  s->row_start[s->m] = s->num_parts;
  for (int b = 0, p = 0; b < s->num_blocks; b++) {
    const int first = p;
    s->list_start[b] = at;
    for (int internal = 1; internal >= 0; internal--) {
      for (p = first; p < s->num_parts && s->parts[p].block == b; p++)
        if (is_internal(s, s->parts[p].row) == internal) s->list[at++] = p;
      if (internal) s->num_internal[b] = at - s->list_start[b];
    }
    s->list_start[b + 1] = at;
    s->num_active[b] = at - s->list_start[b];
  }
}

static pol_status build(poli_independence *s)
{
  pol_status status = poli_dae_patterns_create(&s->patterns, s->dae);
  if (status) return status;
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  const int nv = s->nv = s->dae->group.nv, m = s->m = pol_dae_num_constraints(s->dae);
  const int entries = pol_pattern_nonzeros(B);
  poli_arena arena = {0};
  int *last = malloc(((size_t)m + 1) * sizeof *last);
  do {
    POLI_TAKE(&arena, s->block_start, nv + 2);
    POLI_TAKE(&arena, s->block_of, nv);
    POLI_TAKE(&arena, s->factor_at, nv + 1);
    POLI_TAKE(&arena, s->row_start, m + 2);
    POLI_TAKE(&arena, s->list_start, nv + 2);
    POLI_TAKE(&arena, s->num_internal, nv + 1);
    POLI_TAKE(&arena, s->num_active, nv + 1);
    POLI_TAKE(&arena, s->jacobian_at, entries);
    POLI_TAKE(&arena, s->mass, pol_pattern_nonzeros(W));
    POLI_TAKE(&arena, s->jacobian, entries);
    POLI_TAKE(&arena, s->size, 2 * (size_t)m);
    POLI_TAKE(&arena, s->scratch, s->dae->scratch_size);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  if (!s->memory || !last) {
    free(last);
    return POL_NO_MEMORY;
  }
  find_blocks(s);
  s->num_parts = list_parts(s, NULL, last);
  s->parts = malloc(((size_t)s->num_parts + 1) * sizeof *s->parts);
  s->list = malloc((2 * (size_t)s->num_parts + 1) * sizeof *s->list);
  s->row_list = s->list + s->num_parts;
  size_t size = 0;
  for (int b = 0; b < s->num_blocks; b++) {
    const size_t dim = (size_t)(s->block_start[b + 1] - s->block_start[b]);
    s->factor_at[b] = size;
    size += dim * dim;
  }
  s->L = malloc((size + 1) * sizeof *s->L);
  if (s->parts && s->list) {
    list_parts(s, s->parts, last);
    sort_parts(s);
    size_t numbers = 0;
    for (int p = 0; p < s->num_parts; p++)
      numbers +=
          (size_t)(s->block_start[s->parts[p].block + 1] - s->block_start[s->parts[p].block]);
    s->A = malloc((numbers + 1) * sizeof *s->A);
  }
  free(last);
  return s->parts && s->list && s->L && s->A ? POL_OK : POL_NO_MEMORY;
}

pol_status poli_independence_create(poli_independence **independence, const pol_dae *dae)
{
  poli_independence *s = *independence = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->dae = dae;
  s->most_dense = MOST_DENSE_ROWS;
  pol_status status = build(s);
  if (status) poli_independence_free(independence);
  return status;
}

/* Frees what is known of the components. */
static void forget(poli_independence *s)
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
  free(s->matrix);
  free(s->coordinate);
  free(s->numbers);
  s->numbers = NULL;
  s->coordinate = NULL;
  s->vector_of = s->component = s->member_start = s->offset = s->dim = s->pair_start = s->pair =
      NULL;
  s->found = NULL;
  s->matrix = NULL;
}

void poli_independence_free(poli_independence **independence)
{
  poli_independence *s = *independence;
  if (!s) return;
  forget(s);
  poli_dae_patterns_free(&s->patterns);
  free(s->memory);
  free(s->parts);
  free(s->list);
  free(s->A);
  free(s->L);
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

/* --- vectors ---------------------------------------------------------------------------------- */

static int dim_of(const poli_independence *s, int block)
{
  return s->block_start[block + 1] - s->block_start[block];
}

static double dot(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* L of a block is set to M + C^T C, with each row of C scaled to the largest inertia of its
 * coordinates, without those that are lengths; then factored.  A pivot without mass becomes 1. */
static void factor_mass(poli_independence *s, int b)
{
  const pol_pattern *W = s->patterns.coupling;
  const int first = s->block_start[b], n = dim_of(s, b);
  double *L = s->L + s->factor_at[b];
  memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
  for (int j = 0; j < n; j++)
    for (int k = W->start[first + j]; k < W->start[first + j + 1]; k++) {
      const int i = W->row[k] - first;
      if (i >= 0 && i <= j) L[j * n + i] = s->mass[k];
    }
  for (int c = 0; c < s->num_internal[b]; c++) {
    const double *C = s->A + s->parts[s->list[s->list_start[b] + c]].at;
    double largest = 0.0, square = dot(n, C, C);
    for (int j = 0; j < n; j++)
      if (C[j] != 0.0 && (!s->dae->pure || s->dae->pure[first + j]))
        largest = fmax(largest, L[j * n + j]);
    for (int j = 0; j < n && square > 0.0; j++)
      for (int i = 0; i <= j; i++) L[j * n + i] += C[j] * C[i] * (largest / square);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      const double mass = L[i * n + j], left = mass - dot(j, L + i * n, L + j * n);
      L[i * n + j] = j < i ? left / L[j * n + j] : left > 1e-14 * mass ? sqrt(left) : 1.0;
    }
}

/* a -= q (q . a), twice, for the internal constraints q before part number `count` of a block */
static void make_perpendicular(poli_independence *s, int b, int count, double *a)
{
  const int n = dim_of(s, b);
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < count; c++) {
      const double *q = s->A + s->parts[s->list[s->list_start[b] + c]].at;
      const double share = dot(n, q, a);
      for (int i = 0; i < n; i++) a[i] -= share * q[i];
    }
}

/* The parts of all constraints in a block: L^-1 B^T, perpendicular to the internal ones.  Adds to
 * their sizes. */
static void fill_block(poli_independence *s, int b)
{
  const pol_pattern *B = s->patterns.constraint;
  const int n = dim_of(s, b), count = s->num_active[b];
  const int *list = s->list + s->list_start[b];
  for (int c = 0; c < count; c++) memset(s->A + s->parts[list[c]].at, 0, (size_t)n * sizeof *s->A);
  for (int j = s->block_start[b]; j < s->block_start[b + 1]; j++)
    for (int k = B->start[j]; k < B->start[j + 1]; k++) s->A[s->jacobian_at[k]] = s->jacobian[k];
  factor_mass(s, b);
  const double *L = s->L + s->factor_at[b];
  for (int c = 0; c < count; c++) {
    const part *p = &s->parts[list[c]];
    double *a = s->A + p->at;
    for (int i = 0; i < n; i++) a[i] = (a[i] - dot(i, L + i * n, a)) / L[i * n + i];
    if (c < s->num_internal[b]) {
      make_perpendicular(s, b, c, a);
      const double length = sqrt(dot(n, a, a));
      for (int i = 0; i < n && length > 0.0; i++) a[i] /= length;
      continue;
    }
    s->size[2 * p->row] += dot(n, a, a);
    if (s->num_internal[b] == 0) {
      s->size[2 * p->row + 1] += dot(n, a, a);
      continue;
    }
    make_perpendicular(s, b, s->num_internal[b], a);
    s->size[2 * p->row + 1] += dot(n, a, a);
  }
}

/* To length one; zeros if nothing is left. */
static void normalise(poli_independence *s, int row)
{
  const double *size = s->size + 2 * row;
  const int something = size[1] > nothing_left * nothing_left * size[0];
  const double factor = something ? 1.0 / sqrt(size[1]) : 0.0;
  for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++) {
    const part *p = &s->parts[s->row_list[k]];
    for (int i = 0; i < dim_of(s, p->block); i++) s->A[p->at + i] *= factor;
  }
}

static pol_status evaluate(poli_independence *s, const pol_point *at)
{
  pol_terms out = {.mass = s->mass, .jacobian = s->jacobian};
  return poli_dae_evaluate(s->dae, at, POL_MASS | POL_JACOBIAN, &out, s->scratch);
}

/* The vectors of all components that are wanted (NULL: all), and their Gram matrices. */
static pol_status fill(poli_independence *s, const pol_point *at, const unsigned char *wanted)
{
  pol_status status = evaluate(s, at);
  if (status) return status;
  const int components = poli_gram_num_components(s->gram);
  double *values = poli_gram_values(s->gram), *diagonal = poli_gram_diagonal(s->gram);
  for (int v = 0; v < s->num_vectors; v++)
    s->size[2 * s->row_of[v]] = s->size[2 * s->row_of[v] + 1] = 0.0;
  for (int b = 0; b < s->num_blocks; b++) {
    if (b % 1024 == 1023 && poli_monitor_poll(-1.0)) return POL_CANCELLED;
    if (s->component[b] >= 0 && (!wanted || wanted[s->component[b]])) fill_block(s, b);
  }
  for (int c = 0; c < components; c++) {
    int count, first, end;
    const int *members = poli_gram_members(s->gram, c, &count);
    if (wanted && !wanted[c]) continue;
    for (int k = 0; k < count; k++) {
      const int row = s->row_of[members[k]];
      normalise(s, row);
      diagonal[members[k]] = s->size[2 * row + 1] > 0.0 ? 1.0 : 0.0;
    }
    poli_gram_entries_of(s->gram, c, &first, &end);
    for (int e = first; e < end; e++) {
      double sum = 0.0;
      for (int k = s->pair_start[e]; k < s->pair_start[e + 1]; k++)
        sum += dot(s->pair_size[k], s->A + s->pair[2 * k], s->A + s->pair[2 * k + 1]);
      values[e] = sum;
    }
  }
  return POL_OK;
}

/* --- loops ------------------------------------------------------------------------------------ */

/* Whether the constraints on a block that are left are those of one joint, and independent by their
 * parts in this block alone. */
static int can_be_set_aside(const poli_independence *s, int b, const unsigned char *removed)
{
  enum { MOST = 6 };
  const int n = dim_of(s, b);
  double a[MOST][MOST], length[MOST];
  const part *own[MOST];
  int count = 0;
  for (int k = s->list_start[b] + s->num_internal[b]; k < s->list_start[b + 1]; k++) {
    const part *p = &s->parts[s->list[k]];
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
    length[i] = sqrt(dot(n, x, x));
    if (!(length[i] > 0.0)) return 0;
    double pivot = 1.0;
    for (int j = 0; j < i; j++) {
      const double product = dot(n, x, s->A + own[j]->at) / (length[i] * length[j]);
      a[i][j] = (product - dot(j, a[i], a[j])) / a[j][j];
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
      const part *p = &s->parts[s->row_list[a]], *q = &s->parts[s->row_list[b]];
      if (p->block == q->block) {
        if (s->pair) {
          s->pair[2 * count] = p->at;
          s->pair[2 * count + 1] = q->at;
          s->pair_size[count] = dim_of(s, p->block);
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
  if (!s->dim || !s->offset || !s->pair_start || !s->found) return POL_NO_MEMORY;
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
    s->dim[component[b]] += dim_of(s, b);
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

pol_status poli_independence_analyse(poli_independence *independence, const pol_point *at)
{
  poli_independence *s = independence;
  if (s->gram) return POL_OK;
  pol_status status = evaluate(s, at);
  if (status) return status;
  const size_t m = (size_t)s->m, blocks = (size_t)s->num_blocks;
  int *left = malloc(2 * (blocks + (size_t)s->num_parts + 1) * sizeof *left),
      *queue = left + blocks;
  unsigned char *removed = calloc(m + blocks + 1, 1);
  s->vector_of = malloc((2 * m + 1) * sizeof *s->vector_of);
  if (!left || !removed || !s->vector_of) {
    free(left);
    free(removed);
    forget(s);
    return POL_NO_MEMORY;
  }
  s->row_of = s->vector_of + m;
  memset(s->size, 0, 2 * m * sizeof *s->size);
  for (int b = 0; b < s->num_blocks && !status; b++) {
    if (b % 1024 == 1023 && poli_monitor_poll(-1.0)) status = POL_CANCELLED;
    fill_block(s, b);
  }
  if (poli_independence_is_sparse(s->dae)) set_aside(s, removed, left, queue, removed + m);
  s->num_vectors = 0;
  for (int i = 0; i < s->m; i++) {
    s->vector_of[i] = removed[i] || is_internal(s, i) ? -1 : s->num_vectors;
    if (s->vector_of[i] >= 0) s->row_of[s->num_vectors++] = i;
  }
  sort_lists(s, left);
  if (!status) status = find_components(s);
  free(left);
  free(removed);
  if (status) forget(s);
  return status;
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
  int cols, sorted[MOST_DENSE_ROWS];
  const int *members = poli_gram_members(s->gram, c, &cols), rows = s->dim[c];
  unsigned char dependent[MOST_DENSE_ROWS];
  memcpy(sorted, members, (size_t)cols * sizeof *sorted);
  qsort(sorted, (size_t)cols, sizeof *sorted, compare);
  memset(s->matrix, 0, (size_t)rows * (size_t)cols * sizeof *s->matrix);
  for (int k = 0; k < cols; k++) {
    const int row = s->row_of[sorted[k]];
    for (int i = s->row_start[row]; i < s->row_start[row + 1]; i++) {
      const part *p = &s->parts[s->row_list[i]];
      memcpy(s->matrix + (size_t)k * (size_t)rows + s->offset[p->block], s->A + p->at,
             (size_t)dim_of(s, p->block) * sizeof *s->A);
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
  for (int i = 0; i < dim_of(s, b); i++) {
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
    const double distance = poli_gram_measure(s->gram, c, s->trial, &which);
    int dropped = 0;
    for (int k = 0; k < size; k++) dropped += s->trial[members[k]];
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
  status = fill(s, at, wanted);
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

pol_status poli_independence_measure(poli_independence *independence, const pol_point *at,
                                     const unsigned char *dropped, const unsigned char *wanted,
                                     double *distance, int *constraint)
{
  poli_independence *s = independence;
  pol_status status = poli_independence_analyse(s, at);
  if (!status) status = fill(s, at, wanted);
  if (status) return status;
  for (int v = 0; v < s->num_vectors; v++) s->found[v] = dropped[s->row_of[v]];
  for (int c = 0; c < poli_gram_num_components(s->gram); c++) {
    int vector;
    if (wanted && !wanted[c]) continue;
    distance[c] = poli_gram_measure(s->gram, c, s->found, &vector);
    constraint[c] = vector >= 0 ? s->row_of[vector] : -1;
  }
  return POL_OK;
}
