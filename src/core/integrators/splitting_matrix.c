/* The matrix of splitting.c in the space of rows, B1 diag(D, 1/m) B0^T: assembled by blocks of the
 * graph of joints, factored, and products with B and its transpose. */
#include <string.h>

#include "integrators/splitting_parts.h"
#include "lie/small.h"

static const double dependent = 1e-9; /* pivots below belong to redundant constraints */

/* --- assembly --------------------------------------------------------------------------------- */

/* What treats other rows than joined ones is not inline, so that it does not slow those down.
 *
 * B diag(D, d I) of a side: of joined rows the angular part alone, sign (-r~ D), as the linear part
 * is sign d I; of others both. */
typedef struct scaled_rows {
  double joined[9];
  double others[MAX_ROWS * AXES];
} scaled_rows;

static inline void scale_joined(const side *own, const double r[3], const double D[9], double X[9])
{
  const double x = own->sign * r[0], y = own->sign * r[1], z = own->sign * r[2];
  for (int j = 0; j < 3; j++) {
    X[j] = z * D[3 + j] - y * D[6 + j];
    X[3 + j] = x * D[6 + j] - z * D[j];
    X[6 + j] = y * D[j] - x * D[3 + j];
  }
}

__attribute__((noinline)) static void scale_others(const side *own, const double *B,
                                                   const double D[9], double d, double *X)
{
  for (int i = 0; i < own->others; i++, B += AXES, X += AXES) {
    poli_m3_apply_transposed(D, B, X);
    poli_v3_scale(d, B + 3, X + 3);
  }
}

/* to += X B^T of two sides' joined rows, where `to` has cols numbers per row: with B = sign (I,
 * -r~) the angular part of a row x of X gives x x r */
static inline void add_joined(const side *row, const double X[9], double d, const side *col,
                              const double r[3], int cols, double *to)
{
  const double x = col->sign * r[0], y = col->sign * r[1], z = col->sign * r[2];
  for (int i = 0; i < 3; i++, X += 3, to += cols) {
    to[0] += X[1] * z - X[2] * y;
    to[1] += X[2] * x - X[0] * z;
    to[2] += X[0] * y - X[1] * x;
    to[i] += row->sign * col->sign * d;
  }
}

/* to += X B^T of all rows of two sides: `above` and `left` joined ones, n and m others. */
static inline void add_product(const side *row, int above, int n, const scaled_rows *X, double d,
                               const side *col, int left, int m, const double *B, double *to)
{
  const int cols = left + m;
  if (above && left) add_joined(row, X->joined, d, col, B, cols, to);
  for (int i = 0; i < n && left; i++) {
    const double *x = X->others + AXES * i;
    double *y = to + cols * (above + i);
    poli_v3_add_scaled_cross(col->sign, x, B, y);
    poli_v3_add_scaled(col->sign, x + 3, y);
  }
  for (int j = 0; j < m; j++) {
    const double *y = B + left + AXES * j;
    double *column = to + left + j;
    for (int i = 0; i < above; i++)
      column[cols * i] += poli_v3_dot(X->joined + 3 * i, y) + row->sign * d * y[3 + i];
    for (int i = 0; i < n; i++) {
      const double *x = X->others + AXES * i;
      column[cols * (above + i)] += poli_v3_dot(x, y) + poli_v3_dot(x + 3, y + 3);
    }
  }
}

/* The same for the rows that the sides have; hinges have loops that the compiler can unroll. */
__attribute__((noinline)) static void add_others(const side *row, const scaled_rows *X, double d,
                                                 const side *col, const double *B, double *to)
{
  if (row->joined && row->others == 2 && col->joined && col->others == 2)
    add_product(row, 3, 2, X, d, col, 3, 2, B, to);
  else
    add_product(row, row->joined, row->others, X, d, col, col->joined, col->others, B, to);
}

/* The compliances of a base step, or those at a node, on the diagonal. */
static void add_compliances(splitting *s, double *values)
{
  const int first = s->bodies->num_nodes - s->compliant.count;
  for (int i = 0; i < s->compliant.count; i++)
    values[poli_block_lu_address(s->lu, first + i, first + i)] += s->compliant.g[i];
}

/* B1 diag(D, scale/m) B0^T, with the compliances, factored.  Returns how many rows are dropped, -1
 * if it is not finite. */
static int factor(splitting *s, const double *B1, const double *B0, double scale,
                  const unsigned char *left_out)
{
  double *values = poli_block_lu_values(s->lu);
  const long *pair = s->pairs;
  poli_block_lu_clear(s->lu);
  for (int b = 0; b < s->bodies->count; b++) {
    const double *D = s->D + 9 * b, d = scale * s->bodies->items[b].inverse_mass;
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++) {
      const side *row = &s->sides[i];
      const double *own = B1 + row->block;
      scaled_rows X;
      if (row->joined) scale_joined(row, own, D, X.joined);
      if (row->others) scale_others(row, own + row->joined, D, d, X.others);
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++, pair++) {
        const side *col = &s->sides[j];
        if (row->others || col->others)
          add_others(row, &X, d, col, B0 + col->block, values + *pair);
        else
          add_joined(row, X.joined, d, col, B0 + col->block, 3, values + *pair);
      }
    }
  }
  add_compliances(s, values);
  s->counts->jacobians++;
  s->counts->factorizations++;
  return poli_block_lu_factor(s->lu, dependent, left_out);
}

/* --- in the axes of the dae ------------------------------------------------------------------- */

void poli_splitting_turn_multipliers(const splitting *s, const double *R, int back, double *lambda)
{
  for (int n = 0; n < s->bodies->num_nodes; n++) {
    const poli_row_node *node = &s->bodies->nodes[n];
    double *own = lambda + node->row, x[3], sum[3] = {0.0};
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

/* The rows of a side in the axes of the dae, with 6 numbers each; returns how many. */
static int expand(const splitting *s, const side *own, const instant *at, double *rows)
{
  const poli_row_node *node = &s->bodies->nodes[own->node];
  const double *B = at->B + own->block;
  for (int k = 0; k < own->joined; k++, rows += AXES) {
    double axis[3] = {0.0};
    axis[k] = 1.0;
    if (node->axes) poli_v3_copy(node->axes[k], axis);
    if (node->axes && node->joined[0] >= 0)
      poli_m3_apply(at->R + 9 * node->joined[0], node->axes[k], axis);
    poli_v3_scale(own->sign, axis, rows + 3);
    poli_v3_cross(B, rows + 3, rows);
  }
  memcpy(rows, B + own->joined, (size_t)own->others * AXES * sizeof *rows);
  return own->joined + own->others;
}

/* The matrix B diag(D, 1/m) B^T in the axes of the dae, factored without these rows.  Returns how
 * many are dropped in all, -1 if it is not finite. */
static int factor_without(splitting *s, const instant *at, const unsigned char *left_out)
{
  double *values = poli_block_lu_values(s->lu), row[MAX_ROWS * AXES], col[MAX_ROWS * AXES];
  const long *pair = s->pairs;
  poli_block_lu_clear(s->lu);
  for (int b = 0; b < s->bodies->count; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++) {
      double X[MAX_ROWS * AXES];
      const side above = {.others = expand(s, &s->sides[i], at, row)};
      scale_others(&above, row, s->D + 9 * b, s->bodies->items[b].inverse_mass, X);
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++) {
        const int cols = expand(s, &s->sides[j], at, col);
        double *to = values + *pair++;
        for (int k = 0; k < above.others * cols; k++) {
          const double *x = X + AXES * (k / cols), *y = col + AXES * (k % cols);
          to[k] += poli_v3_dot(x, y) + poli_v3_dot(x + 3, y + 3);
        }
      }
    }
  add_compliances(s, values);
  s->counts->jacobians++;
  s->counts->factorizations++;
  return poli_block_lu_factor(s->lu, dependent, left_out);
}

/* --- matrices of a step, at a node ------------------------------------------------------------ */

int poli_splitting_factor_step(splitting *s, double h, const instant *at, const instant *next,
                               int *changed)
{
  int redundant = 0;
  for (int i = 0; i < s->held; i++) redundant |= s->dropped[i];
  *changed = 0;
  if (!redundant) return factor(s, next->B, at->B, h, NULL);
  const int count = factor(s, at->B, at->B, h, NULL);
  if (count < 0) return count;
  memcpy(s->left_out, poli_block_lu_dropped(s->lu), (size_t)s->m);
  for (int i = 0; i < s->m; i++)
    if (s->left_out[i] && s->U[i] != 0.0) {
      s->U[i] = 0.0;
      *changed = 1;
    }
  return factor(s, next->B, at->B, h, s->left_out);
}

int poli_splitting_factor_node(splitting *s, const instant *at)
{
  int left_out = 0, count = 0;
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const double *R = at->R + 9 * b;
    double X[9], *D = s->D + 9 * b;
    if (body->is_principal && body->free.axis >= 0) {
      const double a[3] = {R[body->free.axis], R[3 + body->free.axis], R[6 + body->free.axis]};
      poli_m3_diagonal(body->free.inverse, D);
      poli_m3_add_outer(body->free.excess, a, a, D);
    } else {
      poli_m3_multiply(R, body->inverse, X);
      poli_m3_multiply_by_transposed(X, R, D);
    }
  }
  poli_compliant_release(&s->compliant);
  if (s->m == 0) return 0;
  for (int i = 0; i < s->held; i++) left_out += s->left_out[i] = s->dropped[i];
  if (left_out > 0) count = factor_without(s, at, s->left_out);
  s->turned = left_out > 0 && count <= left_out; /* else the choice is out of date */
  return s->turned || count < 0 ? count : factor(s, at->B, at->B, 1.0, NULL);
}

void poli_splitting_solve_node(const splitting *s, const instant *at, double *x)
{
  if (s->turned) poli_splitting_turn_multipliers(s, at->R, 1, x);
  poli_block_lu_solve(s->lu, x);
  if (s->turned) poli_splitting_turn_multipliers(s, at->R, 0, x);
}

/* --- products --------------------------------------------------------------------------------- */

void poli_splitting_apply_rows(const splitting *s, const double *B, const double *v, double *y)
{
  memset(y, 0, (size_t)s->m * sizeof *y);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const double *own = v + body->v;
    const double point[AXES] = {0.0, 0.0, 0.0, own[0], own[1], own[2]};
    for (int e = s->first_side[b]; e < s->first_side[b + 1]; e++)
      add_rates(&s->sides[e], B, body->is_point ? point : own, y);
  }
}

void poli_splitting_respond(const splitting *s, const double *B, const double *mu, double *P,
                            double *v, double *y)
{
  if (y) memset(y, 0, (size_t)s->m * sizeof *y);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int start = s->first_side[b], end = s->first_side[b + 1];
    const double scale = body->inverse_mass;
    double *own_P = P + body->v, *own_v = v + body->v, rates[AXES] = {0.0}, impulse[AXES] = {0.0};
    for (int e = start; e < end && mu; e++) add_impulse(&s->sides[e], B, mu, impulse);
    if (body->is_point) {
      for (int i = 0; i < 3 && start < end; i++) own_P[i] -= impulse[3 + i];
      for (int i = 0; i < body->num_axes; i++) own_v[i] = own_P[i] * scale;
      for (int i = 0; i < 3 && start < end; i++) rates[3 + i] = own_v[i];
    } else {
      for (int i = 0; i < AXES; i++) own_P[i] -= impulse[i];
      poli_m3_apply(s->D + 9 * b, own_P, rates);
      poli_v3_scale(scale, own_P + 3, rates + 3);
      for (int i = 0; i < AXES; i++) own_v[i] = rates[i];
    }
    for (int e = start; e < end && y; e++) add_rates(&s->sides[e], B, rates, y);
  }
}
