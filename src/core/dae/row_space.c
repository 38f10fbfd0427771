/* Constraints of rigid bodies by blocks; see row_space.h. */
#include "dae/row_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/wide.h"

enum { MAX_ROWS = 6 }; /* of a node */

/* Bodies from which on threads save more time than they cost, and matrices do not fit in the cache.
 */
enum { MANY_BODIES = 1000 };

/* --- life cycle ------------------------------------------------------------------------------- */

/* The nodes from the ground outwards.  Elimination in this order takes nothing away from the
 * mobility of the bodies still to come; the other way, that of a long chain of hinges, which weighs
 * all of it, would be lost in round-off. */
static void order_nodes(const poli_row_space *s, int *order, int *reached)
{
  const int count = s->num_nodes;
  const poli_row_node *nodes = s->nodes;
  int last = 0;
  for (int n = 0; n < count; n++)
    if (nodes[n].num_sides < 2 && n < s->num_held) reached[order[last++] = n] = 1;
  for (int k = 0, root = 0; k < count; k++) {
    while (k == last && reached[root]) root++;
    if (k == last) reached[order[last++] = root] = 1; /* of what is not tied to the ground */
    for (int i = 0; i < nodes[order[k]].num_sides; i++) {
      const int b = nodes[order[k]].body[i];
      for (int e = s->first_side[b]; e < s->first_side[b + 1]; e++)
        if (!reached[s->sides[e].node]) reached[order[last++] = s->sides[e].node] = 1;
    }
  }
}

/* Sides by bodies. */
static pol_status set_sides(poli_row_space *s)
{
  size_t num_sides = 0, num_pairs = 0;
  const int count = s->bodies->count;
  s->first_side = calloc((size_t)count + 2, sizeof *s->first_side);
  if (!s->first_side) return POL_NO_MEMORY;
  for (int n = 0; n < s->num_nodes; n++) {
    num_sides += (size_t)s->nodes[n].num_sides;
    for (int i = 0; i < s->nodes[n].num_sides; i++) s->first_side[s->nodes[n].body[i] + 2]++;
  }
  for (int b = 0; b < count; b++) {
    num_pairs += (size_t)s->first_side[b + 2] * (size_t)s->first_side[b + 2];
    s->first_side[b + 2] += s->first_side[b + 1];
  }
  s->sides = calloc(num_sides + 1, sizeof *s->sides);
  s->pairs = calloc(num_pairs + 1, sizeof *s->pairs);
  s->first_of_node = calloc((size_t)s->num_nodes + 2, sizeof *s->first_of_node);
  s->side_of_node = calloc(num_sides + 1, sizeof *s->side_of_node);
  s->body = calloc(num_sides + 1, sizeof *s->body);
  s->first_pair = calloc(num_sides + 1, sizeof *s->first_pair);
  if (!s->sides || !s->pairs || !s->first_of_node || !s->side_of_node || !s->body || !s->first_pair)
    return POL_NO_MEMORY;
  for (int n = 0; n < s->num_nodes; n++) {
    const poli_row_node *node = &s->nodes[n];
    for (int i = 0; i < node->num_sides; i++)
      s->sides[s->first_side[node->body[i] + 1]++] =
          (poli_row_side){.node = n,
                          .row = node->row,
                          .block = node->block + i * poli_row_block_size(node),
                          .joined = node->joins ? 3 : 0,
                          .others = (signed char)(node->num_rows - (node->joins ? 3 : 0)),
                          .sign = node->joins ? node->sign[i] : 0};
  }
  /* the sides of each node, in the order of bodies */
  long pair = 0;
  for (int n = 0; n < s->num_nodes; n++) s->first_of_node[n + 2] = s->nodes[n].num_sides;
  for (int n = 0; n < s->num_nodes; n++) s->first_of_node[n + 2] += s->first_of_node[n + 1];
  for (int b = 0; b < count; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++) {
      s->side_of_node[s->first_of_node[s->sides[i].node + 1]++] = i;
      s->body[i] = b;
      s->first_pair[i] = pair;
      pair += s->first_side[b + 1] - s->first_side[b];
    }
  return POL_OK;
}

pol_status poli_row_space_create(poli_row_space **space, const poli_rigid_bodies *bodies,
                                 int own_axes, int compliant, int threads)
{
  poli_row_space *s = *space = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->bodies = bodies;
  s->threads = bodies->count < MANY_BODIES ? 1 : poli_threads(threads);
  s->num_held = bodies->num_nodes - bodies->num_compliant_nodes;
  s->num_nodes = compliant ? bodies->num_nodes : s->num_held;
  s->nodes = calloc((size_t)s->num_nodes + 1, sizeof *s->nodes);
  if (!s->nodes) {
    poli_row_space_free(space);
    return POL_NO_MEMORY;
  }
  memcpy(s->nodes, bodies->nodes, (size_t)s->num_nodes * sizeof *s->nodes);
  for (int n = 0; n < s->num_nodes; n++) {
    poli_row_node *node = &s->nodes[n];
    if (own_axes) node->joins = 0;
    node->block = s->num_blocks;
    s->num_blocks += poli_row_block_size(node) * node->num_sides;
    s->m += node->num_rows;
  }
  const pol_status status = set_sides(s);
  if (status) poli_row_space_free(space);
  return status;
}

void poli_row_space_free(poli_row_space **space)
{
  poli_row_space *s = *space;
  if (!s) return;
  free(s->nodes);
  free(s->first_side);
  free(s->sides);
  free(s->pairs);
  free(s->first_of_node);
  free(s->side_of_node);
  free(s->body);
  free(s->first_pair);
  free(s);
  *space = NULL;
}

/* Two sides of a body add to a block of the matrix, and those of different nodes make an edge of
 * its graph. */
pol_status poli_row_space_create_lu(poli_row_space *space, poli_block_lu **lu)
{
  poli_row_space *s = space;
  const int count = s->bodies->count;
  size_t num_pairs = 0;
  for (int b = 0; b < count; b++) {
    const size_t own = (size_t)(s->first_side[b + 1] - s->first_side[b]);
    num_pairs += own * own;
  }
  int num_edges = 0, *size = calloc((size_t)s->num_nodes + 1, sizeof *size);
  int *order = calloc(2 * (size_t)s->num_nodes + 1, sizeof *order);
  int(*edges)[2] = malloc((num_pairs + 1) * sizeof *edges);
  pol_status status = POL_NO_MEMORY;
  if (!size || !order || !edges) goto done;
  for (int n = 0; n < s->num_nodes; n++) size[n] = s->nodes[n].num_rows;
  for (int b = 0; b < count; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++)
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++) {
        if (s->sides[i].node >= s->sides[j].node) continue;
        edges[num_edges][0] = s->sides[i].node;
        edges[num_edges++][1] = s->sides[j].node;
      }
  order_nodes(s, order, order + s->num_nodes);
  status = poli_block_lu_create(lu, s->num_nodes, size, num_edges, (const int(*)[2])edges, order);
  if (!status) poli_block_lu_set_threads(*lu, s->threads);
  long *pair = s->pairs;
  for (int b = 0; b < count && !status; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++)
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++)
        *pair++ = poli_block_lu_address(*lu, s->sides[i].node, s->sides[j].node);
done:
  free(size);
  free(order);
  free(edges);
  return status;
}

/* --- assembly --------------------------------------------------------------------------------- */

/* What treats other rows than joined ones is not inline, so that it does not slow those down.
 *
 * B diag(D, d I) of a side: of joined rows the angular part alone, sign (-r~ D), as the linear part
 * is sign d I; of others both. */
typedef struct scaled_rows {
  double joined[9];
  double others[6 * MAX_ROWS];
} scaled_rows;

static inline void scale_joined(const poli_row_side *own, const double r[3], const double D[9],
                                double X[9])
{
  const double x = own->sign * r[0], y = own->sign * r[1], z = own->sign * r[2];
  for (int j = 0; j < 3; j++) {
    X[j] = z * D[3 + j] - y * D[6 + j];
    X[3 + j] = x * D[6 + j] - z * D[j];
    X[6 + j] = y * D[j] - x * D[3 + j];
  }
}

__attribute__((noinline)) static POLI_WIDE void
scale_others(const poli_row_side *own, const double *B, const double D[9], double d, double *X)
{
  for (int i = 0; i < own->others; i++, B += 6, X += 6) {
    poli_m3_apply_transposed(D, B, X);
    poli_v3_scale(d, B + 3, X + 3);
  }
}

/* to += X B^T of two sides' joined rows, where `to` has cols numbers per row: with B = sign (I,
 * -r~) the angular part of a row x of X gives x x r */
static inline void add_joined(const poli_row_side *row, const double X[9], double d,
                              const poli_row_side *col, const double r[3], int cols, double *to)
{
  const double x = col->sign * r[0], y = col->sign * r[1], z = col->sign * r[2];
  for (int i = 0; i < 3; i++, X += 3, to += cols) {
    to[0] += X[1] * z - X[2] * y;
    to[1] += X[2] * x - X[0] * z;
    to[2] += X[0] * y - X[1] * x;
    to[i] += (double)(row->sign * col->sign) * d;
  }
}

/* to += X B^T of all rows of two sides: `above` and `left` joined ones, n and m others. */
POLI_INLINE void add_product(const poli_row_side *row, int above, int n, const scaled_rows *X,
                             double d, const poli_row_side *col, int left, int m, const double *B,
                             double *to)
{
  const int cols = left + m;
  if (above && left) add_joined(row, X->joined, d, col, B, cols, to);
  for (int i = 0; i < n && left; i++) {
    const double *x = X->others + 6 * i;
    double *y = to + cols * (above + i);
    poli_v3_add_scaled_cross(col->sign, x, B, y);
    poli_v3_add_scaled(col->sign, x + 3, y);
  }
  for (int j = 0; j < m; j++) {
    const double *y = B + left + 6 * j;
    double *column = to + left + j;
    for (int i = 0; i < above; i++)
      column[cols * i] += poli_v3_dot(X->joined + 3 * i, y) + row->sign * d * y[3 + i];
    for (int i = 0; i < n; i++) {
      const double *x = X->others + 6 * i;
      column[cols * (above + i)] += poli_v3_dot(x, y) + poli_v3_dot(x + 3, y + 3);
    }
  }
}

/* The same for five rows that are not joined, those of a hinge in its own axes. */
POLI_INLINE void add_five(const double *X, const double *B, double *to)
{
  double turned[6][6]; /* six columns, which are two, four or eight at a time to a processor */
  for (int k = 0; k < 6; k++) {
    for (int j = 0; j < 5; j++) turned[k][j] = B[6 * j + k];
    turned[k][5] = 0.0;
  }
  for (int i = 0; i < 5; i++, X += 6, to += 5) {
    double sum[6];
    for (int j = 0; j < 6; j++) sum[j] = X[0] * turned[0][j];
    for (int k = 1; k < 6; k++)
      for (int j = 0; j < 6; j++) sum[j] += X[k] * turned[k][j];
    for (int j = 0; j < 5; j++) to[j] += sum[j];
  }
}

/* The same for the rows that the sides have; hinges have loops that the compiler can unroll. */
__attribute__((noinline)) static POLI_WIDE void add_others(const poli_row_side *row,
                                                           const scaled_rows *X, double d,
                                                           const poli_row_side *col,
                                                           const double *B, double *to)
{
  if (row->joined && row->others == 2 && col->joined && col->others == 2)
    add_product(row, 3, 2, X, d, col, 3, 2, B, to);
  else if (!row->joined && row->others == 5 && !col->joined && col->others == 5)
    add_five(X->others, B, to);
  else
    add_product(row, row->joined, row->others, X, d, col, col->joined, col->others, B, to);
}

/* An assembly or a product under way. */
typedef struct job {
  const poli_row_space *space;
  const double *B1, *B0, *D, *d, *more, *v;
  poli_block_lu *lu;
  double *values, *rows;
} job;

/* The blocks in the rows of a node: no others add to these. */
static inline void assemble_node(const job *j, int n)
{
  const poli_row_space *s = j->space;
  for (int k = s->first_of_node[n]; k < s->first_of_node[n + 1]; k++) {
    const int side = s->side_of_node[k], b = s->body[side];
    const poli_row_side *row = &s->sides[side];
    const double *own = j->B1 + row->block, *D = j->D + 9 * b, d = j->d[b];
    const long *pair = s->pairs + s->first_pair[side];
    scaled_rows X;
    if (row->joined) scale_joined(row, own, D, X.joined);
    if (row->others) scale_others(row, own + row->joined, D, d, X.others);
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++, pair++) {
      const poli_row_side *col = &s->sides[i];
      if (row->others || col->others)
        add_others(row, &X, d, col, j->B0 + col->block, j->values + *pair);
      else
        add_joined(row, X.joined, d, col, j->B0 + col->block, 3, j->values + *pair);
    }
  }
  if (!j->more) return;
  double *block = j->values + poli_block_lu_address(j->lu, n, n);
  for (int i = 0; i < s->nodes[n].num_rows; i++)
    block[i * (s->nodes[n].num_rows + 1)] += j->more[s->nodes[n].row + i];
}

static POLI_WIDE void assemble_nodes(int first, int end, void *user)
{
  for (int n = first; n < end; n++) assemble_node(user, n);
}

/* All of them in the order of elimination: blocks are cleared shortly before they are filled, while
 * they are in the cache. */
static POLI_WIDE void assemble_all(const job *j)
{
  for (int k = 0; k < j->space->num_nodes; k++)
    assemble_node(j, poli_block_lu_clear_next(j->lu, k));
}

void poli_row_space_assemble(const poli_row_space *space, const double *B1, const double *B0,
                             const double *D, const double *d, const double *more,
                             poli_block_lu *lu)
{
  job j = {.space = space, .B1 = B1, .B0 = B0, .D = D, .d = d, .more = more, .lu = lu};
  j.values = poli_block_lu_values(lu);
  if (space->threads <= 1 && space->num_nodes >= MANY_BODIES) {
    assemble_all(&j);
    return;
  }
  poli_block_lu_clear(lu);
  poli_parallel_ranges(space->threads, space->num_nodes, assemble_nodes, &j);
}

static POLI_WIDE void add_rates_of_nodes(int first, int end, void *user)
{
  const job *j = user;
  const poli_row_space *s = j->space;
  for (int n = first; n < end; n++)
    for (int k = s->first_of_node[n]; k < s->first_of_node[n + 1]; k++) {
      const int side = s->side_of_node[k];
      poli_row_side_add_rates(&s->sides[side], j->B0, j->v + 6 * s->body[side], j->rows);
    }
}

void poli_row_space_add_rates(const poli_row_space *space, const double *blocks, const double *v,
                              double *rows)
{
  job j = {.space = space, .B0 = blocks, .v = v, .rows = rows};
  poli_parallel_ranges(space->threads, space->num_nodes, add_rates_of_nodes, &j);
}

void poli_row_space_add_rates_of(const poli_row_space *space, int first, int end,
                                 const double *blocks, const double *v, double *rows)
{
  job j = {.space = space, .B0 = blocks, .v = v, .rows = rows};
  add_rates_of_nodes(first, end, &j);
}

/* --- axes ------------------------------------------------------------------------------------- */

typedef struct turn {
  const poli_row_space *space;
  const double *R;
  int back;
  double *lambda;
} turn;

static void turn_nodes(int first, int end, void *user)
{
  const turn *t = user;
  const double *R = t->R;
  const int back = t->back;
  for (int n = first; n < end; n++) {
    const poli_row_node *node = &t->space->nodes[n];
    double *own = t->lambda + node->row, x[3], sum[3] = {0.0};
    if (!node->joins || !node->axes) continue;
    poli_v3_copy(own, x);
    for (int k = 0; k < 3; k++) {
      double axis[3];
      poli_v3_copy(node->axes[k], axis);
      if (node->joined[0] >= 0) poli_m3_apply(R + 9 * node->joined[0], node->axes[k], axis);
      if (back)
        own[k] = poli_v3_dot(axis, x);
      else
        poli_v3_add_scaled(x[k], axis, sum);
    }
    if (!back) poli_v3_copy(sum, own);
  }
}

void poli_row_space_turn(const poli_row_space *space, const double *R, int back, double *lambda)
{
  turn t = {space, R, back, lambda};
  poli_parallel_ranges(space->threads, space->num_nodes, turn_nodes, &t);
}

void poli_row_space_turn_of(const poli_row_space *space, int first, int end, const double *R,
                            int back, double *lambda)
{
  turn t = {space, R, back, lambda};
  turn_nodes(first, end, &t);
}
