/* The matrix of splitting.c in the space of rows, B1 diag(D, 1/m) B0^T: assembled by blocks of the
 * graph of joints, factored, and products with B and its transpose. */
#include <string.h>

#include "integrators/splitting_parts.h"
#include "lie/small.h"

static const double dependent = 1e-9; /* pivots below belong to redundant constraints */

/* --- assembly --------------------------------------------------------------------------------- */

/* The compliances of a base step, or those at a node, on the diagonal. */
static void add_compliances(splitting *s)
{
  double *values = poli_block_lu_values(s->lu);
  for (int i = 0; i < s->compliant.count; i++) {
    const int n = s->compliant.rows[i].node, size = s->bodies->nodes[n].num_rows;
    const int row = s->held + i - s->bodies->nodes[n].row;
    values[poli_block_lu_address(s->lu, n, n) + row * (size + 1)] += s->compliant.g[i];
  }
}

/* B1 diag(D, scale/m) B0^T, with the compliances, factored.  Returns how many rows are dropped, -1
 * if it is not finite. */
static int factor(splitting *s, const double *B1, const double *B0, double scale,
                  const unsigned char *left_out)
{
  for (int b = 0; b < s->bodies->count; b++) s->d[b] = scale * s->bodies->items[b].inverse_mass;
  poli_row_space_assemble(s->space, B1, B0, s->D, s->d, NULL, s->lu);
  add_compliances(s);
  s->counts->jacobians++;
  s->counts->factorizations++;
  return poli_block_lu_factor(s->lu, dependent, left_out);
}

/* --- in the axes of the dae ------------------------------------------------------------------- */

/* The rows of a side in the axes of the dae, with 6 numbers each; returns how many. */
static int expand(const splitting *s, const poli_row_side *own, const instant *at, double *rows)
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
  const int *first = s->space->first_side;
  const long *pair = s->space->pairs;
  poli_block_lu_clear(s->lu);
  for (int b = 0; b < s->bodies->count; b++)
    for (int i = first[b]; i < first[b + 1]; i++) {
      const int rows = expand(s, &s->space->sides[i], at, row);
      double X[MAX_ROWS * AXES];
      for (int k = 0; k < rows; k++) {
        poli_m3_apply_transposed(s->D + 9 * b, row + AXES * k, X + AXES * k);
        poli_v3_scale(s->bodies->items[b].inverse_mass, row + AXES * k + 3, X + AXES * k + 3);
      }
      for (int j = first[b]; j < first[b + 1]; j++) {
        const int cols = expand(s, &s->space->sides[j], at, col);
        double *to = values + *pair++;
        for (int k = 0; k < rows * cols; k++) {
          const double *x = X + AXES * (k / cols), *y = col + AXES * (k % cols);
          to[k] += poli_v3_dot(x, y) + poli_v3_dot(x + 3, y + 3);
        }
      }
    }
  add_compliances(s);
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
  if (s->turned) poli_row_space_turn(s->space, at->R, 1, x);
  poli_block_lu_solve(s->lu, x);
  if (s->turned) poli_row_space_turn(s->space, at->R, 0, x);
}

/* --- products --------------------------------------------------------------------------------- */

void poli_splitting_apply_rows(const splitting *s, const double *B, const double *v, double *y)
{
  memset(y, 0, (size_t)s->m * sizeof *y);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const double *own = v + body->v;
    const double point[AXES] = {0.0, 0.0, 0.0, own[0], own[1], own[2]};
    for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++)
      poli_row_side_add_rates(&s->space->sides[e], B, body->is_point ? point : own, y);
  }
}

void poli_splitting_respond(const splitting *s, const double *B, const double *mu, double *P,
                            double *v, double *y)
{
  if (y) memset(y, 0, (size_t)s->m * sizeof *y);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int start = s->space->first_side[b], end = s->space->first_side[b + 1];
    const double scale = body->inverse_mass;
    double *own_P = P + body->v, *own_v = v + body->v, rates[AXES] = {0.0}, impulse[AXES] = {0.0};
    for (int e = start; e < end && mu; e++)
      poli_row_side_add_wrench(&s->space->sides[e], B, mu, impulse);
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
    for (int e = start; e < end && y; e++)
      poli_row_side_add_rates(&s->space->sides[e], B, rates, y);
  }
}
