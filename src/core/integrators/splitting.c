/* Explicit-cost methods of order 2 to 8 for rigid bodies with hard constraints.
 *
 * The base step from node t0 to t1 = t0 + h, with momenta P in inertial axes,
 *
 *     P+ = P + h/2 f(q0, V(q0, P+), t0) - B(q0)^T U        kick
 *     q1 = free motion of each body for the time h         drift, exact
 *     Phi(q1, t1) = 0                                      determines the impulses U
 *     P1 = P+ + h/2 f(q1, V(q1, P+), t1)                   kick without constraints
 *
 * is symmetric, of order 2 and, without dissipation, symplectic: U holds the impulses of both kicks
 * at a node, so that momenta need no projection between steps.  Symmetric compositions of it have
 * order 4 (Suzuki 1990), 6 and 8 (Kahan/Li 1997).  Non-holonomic rows demand
 * B(q0) V(q0, P+) + B(q1) V(q1, P+) = 0 instead.
 *
 * Newton's method has U as its only unknowns; its matrix B(q1) D B(q0)^T, with the derivative D of
 * the free motion, couples joints that share a body and is factored by blocks.  Velocities shown
 * are projected onto the constraints, accelerations and reactions follow from them.
 *
 * Linear springs and dampers are rows too, with a compliance (splitting_compliant.h): then stiff
 * ones do not limit h.
 *
 * Forces that depend on reactions, such as friction, get those of the equations of motion at a
 * node, lambda(q, V, t); they depend on positions and velocities like others then.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/monitor.h"
#include "base/rule.h"
#include "dae/dae.h"
#include "dae/extension.h"
#include "dae/saddle.h"
#include "integrators/family.h"
#include "integrators/splitting.h"
#include "integrators/splitting_compliant.h"
#include "lie/small.h"
#include "linalg/block_lu.h"

enum { MAX_STAGES = 17, MAX_KNOWN = 3, AXES = 6, MAX_ROWS = 6, NUM_INSTANTS = 3 };

static const double dependent = 1e-9; /* pivots below belong to redundant constraints */

/* A node of the graph as one of its bodies sees it: `joined` rows of a point with the arm r,
 * sign (I, -r~), then others with 6 numbers each. */
typedef struct side {
  int node, row, block;
  int joined, others; /* 0 or 3; num_rows - joined */
  double sign;
} side;

/* Everything at the end of a base step. */
typedef struct instant {
  double *q, *P, *force;
  double *R;          /* 9 numbers for each body */
  double *B;          /* the blocks of all nodes */
  double *w;          /* angular velocities within the step before it, 3 for each body */
  double *elongation; /* of compliant rows */
} instant;

typedef struct poli_splitting_state splitting;

struct poli_splitting_state {
  const pol_dae *dae;
  const poli_rigid_bodies *bodies;
  int num_stages;
  double stage[MAX_STAGES];
  int degree;    /* of the extrapolation of multipliers */
  double stable; /* largest h c/m at which a damper is stable */
  int nq, nv;
  int m, held; /* rows: all, and those of the dae; compliant ones follow */
  poli_compliant compliant;
  poli_dae_patterns patterns;

  /* the graph: nodes are the constraints of a joint, edges the bodies they share */
  int *first_side; /* of each body, count + 1 */
  side *sides;     /* of one body after the other */
  int has_others;  /* some node has rows beyond those of joined points */
  long *pairs;     /* for two sides of a body, all with all: the block of the matrix they add to */
  poli_block_lu *lu;
  poli_saddle *saddle;          /* only if forces read velocities */
  const unsigned char *dropped; /* held: redundant constraints there */
  unsigned char *left_out;      /* m: those of the matrix */
  pol_assembler *assembler;     /* finds the reactions that forces depend on; NULL: they do not */
  pol_diagnostics reason;       /* why it could not */

  void *memory;
  instant instants[NUM_INSTANTS];
  int at, kept; /* where the solution is, and was at the start of the step, or -1 */
  double *plus; /* momenta within a step */
  double *U, *residual, *dU, *slip, *v;
  double *D;      /* 9 numbers for each body: derivative of its turn by angular momentum */
  double *out[2]; /* q, v, v', lambda as shown */
  double *force, *mass, *damping, *upper, *lower, *rhs; /* of the matrix with the momenta */
  double *lambda, *vd;                                  /* that forces depend on */
  double *scratch;
  int turned;        /* the matrix at a node has joined points in the axes of the dae */
  int shown, unseen; /* which is shown; the solution is not */

  double last_h; /* of the substep before; 0 at the start */
  int num_known; /* nodes with known impulses */
  double known_t[MAX_KNOWN], known_weight[MAX_KNOWN], *known[MAX_KNOWN];
  pol_counts *counts;
  const double *history;
  poli_splitting_steps steps;
};

/* Momenta, forces and velocities v here are those of pol_dae, but with angular parts in inertial
 * axes; as an argument of pol_dae these are in body axes. */

/* The instant that the next base step writes. */
static instant *next_instant(splitting *s)
{
  int next = (s->at + 1) % NUM_INSTANTS;
  if (next == s->kept) next = (next + 1) % NUM_INSTANTS;
  return &s->instants[next];
}

/* --- momenta, velocities, forces, drift ------------------------------------------------------- */

/* Velocities for momenta, or accelerations for forces. */
static void velocities(const splitting *s, const double *R, const double *P, double *v)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->v + (body->is_point ? 0 : 3);
    for (int i = first; i < first + body->num_axes; i++) v[i] = P[i] * body->inverse_mass;
    if (body->is_point) continue;
    double local[3], w[3];
    poli_m3_apply_transposed(R + 9 * b, P + body->v, local);
    poli_m3_apply(body->inverse, local, w);
    poli_m3_apply(R + 9 * b, w, v + body->v);
  }
}

/* To body axes (or from them, if `back`); to may be from. */
static void turn(const splitting *s, const double *R, int back, const double *from, double *to)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->v + (body->is_point ? 0 : 3);
    for (int i = first; i < first + body->num_axes; i++) to[i] = from[i];
    if (body->is_point) continue;
    const double x[3] = {from[body->v], from[body->v + 1], from[body->v + 2]};
    if (back)
      poli_m3_apply(R + 9 * b, x, to + body->v);
    else
      poli_m3_apply_transposed(R + 9 * b, x, to + body->v);
  }
}

/* P = M v, v in body axes */
static void momenta(const splitting *s, const double *R, const double *v, double *P)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->v + (body->is_point ? 0 : 3);
    for (int i = first; i < first + body->num_axes; i++) P[i] = v[i] * body->mass;
    if (body->is_point) continue;
    double local[3];
    poli_m3_apply(body->inertia, v + body->v, local);
    poli_m3_apply(R + 9 * b, local, P + body->v);
  }
}

static void rotations(const splitting *s, const double *q, double *R)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    if (body->is_point)
      poli_m3_diagonal(1.0, R + 9 * b);
    else
      poli_quat_to_matrix(q + body->q, R + 9 * b);
  }
}

static pol_status evaluate(splitting *s, double t, const double *q, const double *v, unsigned want,
                           const pol_terms *out)
{
  pol_point at = {.t = t,
                  .q = q,
                  .v = v,
                  .vd = s->plus,
                  .lambda = s->assembler ? s->lambda : s->U,
                  .history = s->history};
  s->counts->residuals++;
  return poli_dae_evaluate(s->dae, &at, want, out, s->scratch);
}

/* Forces for velocities that belong to P.  The dae's g has the gyroscopic torque w x J w, which the
 * drift takes care of. */
static pol_status find_forces(splitting *s, double t, const double *q, const double *R,
                              const double *P, double *force)
{
  if (s->bodies->has_weight_only) return POL_OK; /* set by start */
  pol_terms out = {.balance = force};
  velocities(s, R, P, s->v);
  turn(s, R, 0, s->v, s->v);
  pol_status status = POL_OK;
  s->reason.message[0] = '\0';
  if (s->assembler)
    status = pol_assembler_acceleration(s->assembler, t, q, s->v, s->vd, s->lambda, &s->reason);
  if (!status) status = evaluate(s, t, q, s->v, POL_FORCE | POLI_WITHOUT_COMPLIANT, &out);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) force[i] = -force[i];
  turn(s, R, 1, force, force);
  velocities(s, R, P, s->v);
  for (int b = 0; b < s->bodies->count; b++) {
    const int v = s->bodies->items[b].v;
    if (!s->bodies->items[b].is_point) poli_v3_add_scaled_cross(1.0, s->v + v, P + v, force + v);
  }
  return POL_OK;
}

/* The free motion of a body with its momenta `plus` for the time h; its derivative, if D is not
 * NULL. */
static inline void drift(const splitting *s, int b, double h, const instant *from, instant *to,
                         double *D)
{
  const poli_rigid_body *body = &s->bodies->items[b];
  const int q = body->q;
  const double *P = s->plus + body->v, scale = h * body->inverse_mass;
  if (body->is_point) {
    for (int i = 0; i < body->num_axes; i++) to->q[q + i] = from->q[q + i] + scale * P[i];
    return;
  }
  for (int i = 0; i < 3; i++) to->q[q + 4 + i] = from->q[q + 4 + i] + scale * P[3 + i];
  if (body->is_principal) {
    poli_free_motion(&body->free, from->q + q, P, h, to->q + q, D);
  } else {
    double principal[4], back[4];
    poli_quat_multiply(from->q + q, body->principal, principal);
    poli_free_motion(&body->free, principal, P, h, principal, D);
    pol_quat_conjugate(body->principal, back);
    poli_quat_multiply(principal, back, to->q + q);
  }
  poli_quat_to_matrix(to->q + q, to->R + 9 * b);
}

/* impulse += B^T U of a side */
static inline void add_impulse(const side *own, const double *blocks, const double *impulses,
                               double impulse[AXES])
{
  const double *B = blocks + own->block, *U = impulses + own->row;
  if (own->joined) {
    poli_v3_add_scaled_cross(own->sign, B, U, impulse);
    poli_v3_add_scaled(own->sign, U, impulse + 3);
    B += 3;
    U += 3;
  }
  for (int r = 0; r < own->others; r++, B += AXES)
    for (int i = 0; i < AXES; i++) impulse[i] += B[i] * U[r];
}

/* y += B v of a side; v has 6 numbers */
static inline void add_rates(const side *own, const double *blocks, const double v[AXES],
                             double *rates)
{
  const double *B = blocks + own->block;
  double *y = rates + own->row;
  if (own->joined) {
    poli_v3_add_scaled_cross(own->sign, v, B, y);
    poli_v3_add_scaled(own->sign, v + 3, y);
    B += 3;
    y += 3;
  }
  for (int r = 0; r < own->others; r++, B += AXES)
    y[r] += poli_v3_dot(B, v) + poli_v3_dot(B + 3, v + 3);
}

/* P+ = P + h/2 f - B^T U of a body */
static inline void kick(const splitting *s, int b, double h, const instant *at, double *P)
{
  const poli_rigid_body *body = &s->bodies->items[b];
  const double *from = at->P + body->v, *force = at->force + body->v;
  double impulse[AXES] = {0.0};
  for (int e = s->first_side[b]; e < s->first_side[b + 1]; e++)
    add_impulse(&s->sides[e], at->B, s->U, impulse);
  if (body->is_point)
    for (int i = 0; i < body->num_axes; i++)
      P[i] = from[i] + 0.5 * h * force[i] - (i < 3 ? impulse[3 + i] : 0.0);
  else
    for (int i = 0; i < AXES; i++) P[i] = from[i] + 0.5 * h * force[i] - impulse[i];
}

/* Kicks and drifts all bodies with the impulses U; D is the derivative of their turns, or NULL.
 * Returns by how much the largest turn differs from that with the momenta before. */
static double move(splitting *s, double h, const instant *at, instant *next, double *D)
{
  double largest = 0.0;
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double *P = s->plus + body->v;
    const double L[3] = {P[0], P[1], P[2]};
    kick(s, b, h, at, P);
    drift(s, b, h, at, next, D ? D + 9 * b : NULL);
    if (D || body->is_point) continue;
    double dL[3], local[3], change[3];
    poli_v3_subtract(P, L, dL);
    const double size = fabs(dL[0]) + fabs(dL[1]) + fabs(dL[2]);
    if (fabs(h) * size * body->free.inverse_smallest < 0.5) continue;
    poli_m3_apply_transposed(at->R + 9 * b, dL, local);
    poli_m3_apply(body->inverse, local, change);
    largest = fmax(largest, fabs(h) * sqrt(poli_v3_dot(change, change)));
  }
  return largest;
}

/* --- the matrix in row space ------------------------------------------------------------------ */

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

/* y = B v */
static void apply_rows(const splitting *s, const double *B, const double *v, double *y)
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

/* P -= B^T mu, then v = diag(D, 1/m) P, then y = B v; mu and y may be NULL. */
static void respond(const splitting *s, const double *B, const double *mu, double *P, double *v,
                    double *y)
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

/* Multipliers of points that are joined, from the rows of the dae to inertial axes, or back. */
static void turn_multipliers(const splitting *s, const double *R, int back, double *lambda)
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

/* --- the base step ---------------------------------------------------------------------------- */

/* `scale` times the multipliers at time t, by extrapolation of those of the last nodes. */
static void extrapolate(const splitting *s, double t, double scale, double *lambda)
{
  const int n = s->num_known < s->degree + 1 ? s->num_known : s->degree + 1;
  double weight[MAX_KNOWN] = {0.0};
  for (int k = 0; k < n; k++) {
    weight[k] = scale / s->known_weight[k];
    for (int l = 0; l < n; l++)
      if (l != k) weight[k] *= (t - s->known_t[l]) / (s->known_t[k] - s->known_t[l]);
  }
  const double *a = s->known[0], *b = s->known[n > 1], *c = s->known[n > 2 ? 2 : 0];
  for (int i = 0; i < s->m; i++) lambda[i] = weight[0] * a[i] + weight[1] * b[i] + weight[2] * c[i];
}

/* Adds the impulses of a node to those that are known; U is then anything. */
static void note_impulses(splitting *s, double t, double weight)
{
  double *oldest = s->known[MAX_KNOWN - 1];
  for (int k = 0; k < s->num_known; k++)
    if (s->known_t[k] == t) return;
  for (int k = MAX_KNOWN - 1; k > 0; k--) {
    s->known[k] = s->known[k - 1];
    s->known_t[k] = s->known_t[k - 1];
    s->known_weight[k] = s->known_weight[k - 1];
  }
  s->known[0] = s->U;
  s->U = oldest;
  s->known_t[0] = t;
  s->known_weight[0] = weight;
  if (s->num_known < MAX_KNOWN) s->num_known++;
}

/* The largest of |x_i|; not finite if one is not.  Four at a time: none waits for the one before.
 */
static double largest_of(int n, const double *x)
{
  double largest[4] = {0.0}, sum[4] = {0.0};
  for (int i = 0; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) {
      const double size = fabs(x[i + k]);
      largest[k] = size > largest[k] ? size : largest[k];
      sum[k] += size;
    }
  for (int i = n - n % 4; i < n; i++) {
    largest[0] = fabs(x[i]) > largest[0] ? fabs(x[i]) : largest[0];
    sum[0] += fabs(x[i]);
  }
  for (int k = 1; k < 4; k++) {
    largest[0] = largest[k] > largest[0] ? largest[k] : largest[0];
    sum[0] += sum[k];
  }
  return isfinite(sum[0]) ? largest[0] : sum[0];
}

/* The row of the largest residual. */
static int worst_of(const splitting *s, double largest)
{
  for (int i = 0; i < s->held; i++)
    if (fabs(s->residual[i]) == largest) return i;
  for (int i = 0; i < s->compliant.count; i++)
    if (poli_compliant_size(&s->compliant, i, s->residual + s->held) == largest) return s->held + i;
  return -1;
}

/* Residuals of all rows at the end of a base step, and B there; their largest. */
static pol_status find_residual(splitting *s, double t1, double h, const instant *at,
                                const instant *next, double *largest)
{
  const int holonomic = s->dae->num_holonomic, held = s->held;
  if (poli_monitor_poll(-1.0)) return POL_CANCELLED;
  s->counts->residuals++;
  pol_status status =
      s->bodies->constraints(t1, next->q, next->R, s->history, s->residual, next->B, s->dae->user);
  if (status) return status;
  if (held > holonomic) {
    velocities(s, at->R, s->plus, s->v);
    apply_rows(s, at->B, s->v, s->dU);
    velocities(s, next->R, s->plus, s->v);
    apply_rows(s, next->B, s->v, s->slip);
    for (int i = holonomic; i < held; i++) s->residual[i] = 0.5 * h * (s->dU[i] + s->slip[i]);
  }
  memcpy(next->elongation, s->residual + held, (size_t)s->compliant.count * sizeof *s->residual);
  const double others =
      poli_compliant_residual(&s->compliant, at->elongation, s->U + held, s->residual + held);
  *largest = largest_of(held, s->residual);
  if (!(others <= *largest)) *largest = others;
  return isfinite(*largest) ? POL_OK : POL_NOT_FINITE;
}

static pol_status fail(splitting *s, pol_diagnostics *d, pol_status status, int row, int iteration,
                       double residual, const char *message)
{
  d->iteration = iteration;
  d->residual = residual;
  if (row >= s->held) {
    snprintf(d->where, sizeof d->where, "force '%s'", s->compliant.rows[row - s->held].force);
  } else if (row != -1) {
    d->equation = s->nv + row;
    poli_dae_describe(s->dae, d->equation, d->where, sizeof d->where);
  }
  double turn = 0.0; /* of the fastest body in the whole step */
  for (int i = 0; i < 3 * s->bodies->count; i += 3) {
    const double *w = s->instants[s->at].w + i;
    turn = fmax(turn, fabs(d->h) * sqrt(poli_v3_dot(w, w)));
  }
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "take a smaller step%s",
           s->num_stages > 1 ? ", or a lower order" : "");
  if (turn > 0.5)
    snprintf(d->advice, sizeof d->advice,
             "take a smaller step: in this one a body turns by %.2g rad", turn);
  return status;
}

/* A force, or a reaction that forces depend on, could not be found. */
static pol_status fail_force(splitting *s, pol_diagnostics *d, pol_status status, int iteration)
{
  if (s->assembler && s->reason.message[0]) {
    memcpy(d->where, s->reason.where, sizeof d->where);
    memcpy(d->advice, s->reason.advice, sizeof d->advice);
    memcpy(d->message, s->reason.message, sizeof d->message);
    d->equation = s->reason.equation;
    d->iteration = iteration;
    return status;
  }
  fail(s, d, status, -1, iteration, 0.0, "a force could not be evaluated");
  poli_dae_blame(s->dae, s->scratch, d);
  return status;
}

/* The blocks B1 D M and B0^T of all sides in the pattern of the dae, with columns in body axes;
 * those of compliant rows apart. */
static void set_rows(splitting *s, double h, const instant *at, const instant *next)
{
  const pol_pattern *B = s->patterns.constraint;
  const size_t size = (size_t)pol_pattern_nonzeros(B) * sizeof *s->lower;
  memset(s->lower, 0, size);
  memset(s->upper, 0, size);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->is_point ? 3 : 0;
    double X[9], DM[9];
    poli_m3_multiply(s->D + 9 * b, at->R + 9 * b, X);
    poli_m3_multiply(X, body->inertia, DM);
    for (int e = s->first_side[b]; e < s->first_side[b + 1]; e++)
      for (int r = 0; r < s->sides[e].others; r++) { /* joined rows there are none */
        const int from = s->sides[e].block + AXES * r;
        double lower[AXES], upper[AXES];
        poli_m3_apply_transposed(DM, next->B + from, lower);
        poli_m3_apply_transposed(at->R + 9 * b, at->B + from, upper);
        poli_v3_scale(h, next->B + from + 3, lower + 3);
        poli_v3_copy(at->B + from + 3, upper + 3);
        if (s->sides[e].row >= s->held) {
          const int own = s->sides[e].row - s->held;
          const int second = s->bodies->nodes[s->sides[e].node].body[0] != b;
          memcpy(s->compliant.lower[own] + AXES * second, lower, sizeof lower);
          memcpy(s->compliant.upper[own] + AXES * second, upper, sizeof upper);
          continue;
        }
        for (int i = first; i < AXES; i++) {
          const int to = pol_pattern_address(B, s->sides[e].row + r, body->v + i - first);
          if (to < 0) continue;
          s->lower[to] += lower[i];
          s->upper[to] += upper[i];
        }
      }
  }
}

/* The velocities of a compliant row: where those of its two bodies start in v, less what a point
 * lacks, and their number in lower and upper. */
typedef struct span {
  int v[2], first[2];
} span;

static span span_of(const splitting *s, int compliant)
{
  const poli_row_node *node =
      &s->bodies->nodes[s->bodies->num_nodes - s->compliant.count + compliant];
  span own = {{0, 0}, {AXES, AXES}};
  for (int i = 0; i < node->num_sides; i++) {
    const poli_rigid_body *body = &s->bodies->items[node->body[i]];
    own.first[i] = body->is_point ? 3 : 0;
    own.v[i] = body->v - own.first[i];
  }
  return own;
}

/* mass += W0^T W1 D M / g */
static void add_compliant(splitting *s, const pol_pattern *W)
{
  for (int c = 0; c < s->compliant.count; c++) {
    const span own = span_of(s, c);
    for (int i = 0; i < 2 * AXES; i++)
      for (int j = 0; j < 2 * AXES; j++) {
        if (i % AXES < own.first[i / AXES] || j % AXES < own.first[j / AXES]) continue;
        s->mass[pol_pattern_address(W, own.v[i / AXES] + i % AXES, own.v[j / AXES] + j % AXES)] +=
            s->compliant.upper[c][i] * s->compliant.lower[c][j] / s->compliant.g[c];
      }
  }
}

/* dV and dU of compliant rows: before the solution rhs -= W0^T r / g, after it U += (r + W1 D M dV)
 * / g. */
static void eliminate_compliant(splitting *s, int after)
{
  for (int c = 0; c < s->compliant.count; c++) {
    const span own = span_of(s, c);
    double r = s->residual[s->held + c];
    for (int i = 0; i < 2 * AXES; i++) {
      if (i % AXES < own.first[i / AXES]) continue;
      double *at = s->rhs + own.v[i / AXES] + i % AXES;
      if (after)
        r += s->compliant.lower[c][i] * *at;
      else
        *at -= s->compliant.upper[c][i] * r / s->compliant.g[c];
    }
    if (after) s->U[s->held + c] += r / s->compliant.g[c];
  }
}

/* Forces that depend on velocities make the first kick implicit: Newton's method for P+ and U
 * together, in velocities V = M^-1 P+ in body axes,
 *
 *     [ M + h/2 (C - G)   B0^T ] [ dV ]      [ P+ - P - h/2 f + B0^T U ]
 *     [ B1 D M            0    ] [ dU ]  = - [ residual                ]
 *
 * with C = dg/dv, of which G = d(w x J w)/dw belongs to the drift.  Compliant rows with the
 * residual r, W1 D M dV - g dU = -r, are eliminated: they add W0^T W1 D M / g to M, and -W0^T r / g
 * to the right-hand side. */
static pol_status factor_implicit(splitting *s, double t0, double h, const instant *at,
                                  const instant *next)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  pol_terms out = {.mass = s->mass, .damping = s->damping};
  velocities(s, at->R, s->plus, s->v);
  turn(s, at->R, 0, s->v, s->v);
  pol_status status =
      evaluate(s, t0, at->q, s->v, POL_MASS | POL_DAMPING | POLI_WITHOUT_COMPLIANT, &out);
  if (status) return status;
  for (int k = 0; k < pol_pattern_nonzeros(W); k++) s->mass[k] += 0.5 * h * s->damping[k];
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double J_w[3], gyro[9], skew[9];
    if (body->is_point) continue;
    poli_m3_apply(body->inertia, s->v + body->v, J_w);
    poli_m3_skew(s->v + body->v, skew);
    poli_m3_multiply(skew, body->inertia, gyro);
    poli_m3_add_skew(-1.0, J_w, gyro);
    for (int i = 0; i < 9; i++)
      s->mass[pol_pattern_address(W, body->v + i / 3, body->v + i % 3)] -= 0.5 * h * gyro[i];
  }
  set_rows(s, h, at, next);
  add_compliant(s, W);
  double *to = s->saddle->values;
  for (int j = 0; j < s->nv; j++) {
    for (int k = W->start[j]; k < W->start[j + 1]; k++) *to++ = s->mass[k];
    for (int k = B->start[j]; k < B->start[j + 1]; k++) *to++ = s->lower[k];
  }
  poli_saddle_set_transposed(s->saddle, s->upper);
  poli_saddle_drop(s->saddle, s->dropped);
  s->counts->jacobians++;
  s->counts->factorizations++;
  return pol_solver_refactor(s->saddle->solver, s->saddle->values);
}

/* What the implicit kick lacks, into rhs in body axes; *open is its size relative to the momenta.
 */
static pol_status find_lack(splitting *s, double t0, double h, instant *at, double *open)
{
  double size = 0.0, largest = 0.0;
  const pol_status status = find_forces(s, t0, at->q, at->R, s->plus, at->force);
  if (status) return status;
  for (int b = 0; b < s->bodies->count; b++) kick(s, b, h, at, s->rhs + s->bodies->items[b].v);
  for (int i = 0; i < s->nv; i++) {
    s->rhs[i] -= s->plus[i];
    largest = fmax(largest, fabs(s->rhs[i]));
    size = fmax(size, fmax(fabs(s->plus[i]), fabs(0.5 * h * at->force[i])));
  }
  turn(s, at->R, 0, s->rhs, s->rhs);
  *open = size > 0.0 ? largest / size : 0.0;
  return POL_OK;
}

/* The second kick of a base step whose impulses are known; the solution is then at its end. */
static pol_status complete(splitting *s, double t0, double t1, int iteration, instant *next,
                           pol_diagnostics *d)
{
  const instant *at = &s->instants[s->at];
  const double h = t1 - t0, weight = 0.5 * (s->last_h + h);
  /* several solutions exist: a body must not turn much faster than before */
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double *w = next->w + 3 * b, local[3], own[3], change = 0.0;
    if (body->is_point) continue;
    poli_m3_apply_transposed(at->R + 9 * b, s->plus + body->v, local);
    poli_m3_apply(body->inverse, local, own);
    poli_m3_apply(at->R + 9 * b, own, w);
    for (int i = 0; i < 3; i++) change = fmax(change, fabs(w[i] - at->w[3 * b + i]));
    if (fabs(h) * change > 1.0) {
      fail(s, d, POL_NOT_CONVERGED, body->v - s->nv, iteration, 0.0,
           "the angular velocity of a body would change by more than 1 rad per step");
      char *axis = strstr(d->where, "', torque");
      if (axis) axis[1] = '\0';
      return POL_NOT_CONVERGED;
    }
  }
  poli_compliant_end(&s->compliant, 0.5 * (t0 + t1), h, s->U + s->held);
  if (fabs(weight) >= 0.2 * fmax(fabs(h), fabs(s->last_h))) note_impulses(s, t0, weight);
  const pol_status status = find_forces(s, t1, next->q, next->R, s->plus, next->force);
  if (status) return fail_force(s, d, status, iteration);
  for (int i = 0; i < s->nv; i++) next->P[i] = s->plus[i] + 0.5 * h * next->force[i];
  for (int c = 0; c < s->compliant.count; c++) {
    const poli_row_node *node = &s->bodies->nodes[s->bodies->num_nodes - s->compliant.count + c];
    const double impulse = 0.5 * h * s->compliant.tension[0][c];
    for (int i = 0; i < node->num_sides; i++) {
      const poli_rigid_body *body = &s->bodies->items[node->body[i]];
      const int first = body->is_point ? 3 : 0;
      for (int k = first; k < AXES; k++)
        next->P[body->v + k - first] -= impulse * next->B[node->block + AXES * i + k];
    }
  }
  s->at = (int)(next - s->instants);
  s->last_h = h;
  return POL_OK;
}

/* The matrix of a base step.  Redundant constraints depend on others where all are satisfied, at
 * the start of the step, but hardly so in the first iterate: those are left out that depend on
 * others at the start.  They have no impulse: what these add up to is open, and extrapolated from
 * step to step it would grow without bound.  Sets *changed if the impulses were others before. */
static int factor_step(splitting *s, double h, const instant *at, const instant *next, int *changed)
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

/* One base step. */
static pol_status substep(splitting *s, double t0, double t1, pol_diagnostics *d)
{
  enum { MAX_ITERATIONS = 30 };
  const double h = t1 - t0, length = poli_dae_length(s->dae);
  const int implicit = s->saddle != NULL, bodies = s->bodies->count;
  instant *at = &s->instants[s->at], *next = next_instant(s);
  double largest = 0.0, best = HUGE_VAL, open = 0.0;
  int since_factor = 0, iteration = 0, changed = 0;
  pol_status status = POL_OK;
  extrapolate(s, t0, 0.5 * (s->last_h + h), s->U);
  for (int i = 0; i < s->held; i++)
    if (s->known[0][i] == 0.0) s->U[i] = 0.0; /* redundant */
  poli_compliant_begin(&s->compliant, 0.5 * (t0 + t1), h, s->U + s->held);
  for (int b = 0; b < bodies && implicit; b++) kick(s, b, h, at, s->plus + s->bodies->items[b].v);
  for (;; iteration++) {
    const int renew = iteration == 0 || since_factor == 4; /* the matrix, if another is needed */
    if (implicit) {
      status = find_lack(s, t0, h, at, &open);
      if (status) return fail_force(s, d, status, iteration);
      for (int b = 0; b < bodies; b++) drift(s, b, h, at, next, renew ? s->D + 9 * b : NULL);
    } else {
      const double change = move(s, h, at, next, renew ? s->D : NULL);
      if (change > 0.5) { /* no body may turn by more than half a radian */
        for (int i = 0; i < s->m; i++) s->U[i] -= (1.0 - 0.5 / change) * s->dU[i];
        move(s, h, at, next, NULL);
      }
    }
    status = find_residual(s, t1, h, at, next, &largest);
    if (status) return fail(s, d, status, -1, iteration, largest, pol_status_text(status));
    const double error = fmax(largest / length, open);
    if (error <= 1e-14 || (iteration > 2 && error >= best && best <= 1e-9)) break;
    if (iteration == MAX_ITERATIONS || (iteration > 6 && error > 10.0 * best)) {
      const int row = worst_of(s, largest), feedback = s->assembler && open > largest / length;
      fail(s, d, POL_NOT_CONVERGED, row, iteration, largest,
           feedback        ? "the iteration of forces that depend on reactions does not contract"
           : row < s->held ? "the impulses of the joints could not be determined"
                           : "the tension of a spring or damper could not be determined");
      if (feedback)
        snprintf(d->advice, sizeof d->advice, "take a smaller step, less friction, or geom1");
      return POL_NOT_CONVERGED;
    }
    best = fmin(best, error);
    if (renew) {
      if (implicit)
        status = factor_implicit(s, t0, h, at, next);
      else
        status = factor_step(s, h, at, next, &changed) < 0 ? POL_NOT_FINITE : POL_OK;
      if (status)
        return fail(s, d, status, worst_of(s, largest), iteration, largest,
                    "the matrix is singular or not finite");
      since_factor = 0;
    }
    since_factor++;
    s->counts->newton_iterations++;
    if (changed) { /* impulses that others take over */
      changed = 0;
      best = HUGE_VAL;
      continue;
    }
    if (implicit) {
      for (int i = 0; i < s->held; i++) s->rhs[s->nv + i] = s->dropped[i] ? 0.0 : -s->residual[i];
      eliminate_compliant(s, 0);
      pol_solver_solve(s->saddle->solver, s->rhs);
      eliminate_compliant(s, 1);
      momenta(s, at->R, s->rhs, s->v);
      for (int i = 0; i < s->nv; i++) s->plus[i] += s->v[i];
      for (int i = 0; i < s->held; i++) s->U[i] += s->rhs[s->nv + i];
      continue;
    }
    memcpy(s->dU, s->residual, (size_t)s->m * sizeof *s->dU);
    poli_block_lu_solve(s->lu, s->dU);
    for (int i = 0; i < s->m; i++) s->U[i] += s->dU[i];
  }
  return complete(s, t0, t1, iteration, next, d);
}

/* --- what is shown ---------------------------------------------------------------------------- */

/* x <- A^-1 x with the matrix at a node, for multipliers of joined points in inertial axes. */
static void solve_shown(const splitting *s, const instant *at, double *x)
{
  if (s->turned) turn_multipliers(s, at->R, 1, x);
  poli_block_lu_solve(s->lu, x);
  if (s->turned) turn_multipliers(s, at->R, 0, x);
}

/* The accelerations w x (w x r) of points that are joined, for v' = 0. */
static void set_joined_bends(const splitting *s, const double *B, const double *v, double *bend)
{
  for (int n = 0; n < s->bodies->num_nodes; n++) {
    const poli_row_node *node = &s->bodies->nodes[n];
    if (node->joins) memset(bend + node->row, 0, 3 * sizeof *bend);
  }
  for (int b = 0; b < s->bodies->count; b++) {
    const double *w = v + s->bodies->items[b].v;
    for (int e = s->first_side[b]; e < s->first_side[b + 1]; e++) {
      const side *own = &s->sides[e];
      double spin[3];
      if (!own->joined || s->bodies->items[b].is_point) continue;
      poli_v3_cross(w, B + own->block, spin);
      poli_v3_add_scaled_cross(own->sign, w, spin, bend + own->row);
    }
  }
}

/* f - w x L at a node for projected momenta and velocities, into s->force, and the accelerations of
 * the constraints with v' = 0. */
static pol_status find_acceleration_terms(splitting *s, double t, const instant *at,
                                          const double *P, const double *v, double *acceleration)
{
  pol_terms out = {.balance = s->force, .acceleration = acceleration};
  const int weight_only = s->bodies->has_weight_only && s->compliant.count == 0;
  const unsigned want = (s->has_others ? POL_ACCELERATION : 0) | (weight_only ? 0 : POL_FORCE);
  if (want) {
    const pol_status status = evaluate(s, t, at->q, v, want, &out);
    if (status) return status;
  }
  set_joined_bends(s, at->B, s->v, acceleration);
  if (!weight_only) {
    for (int i = 0; i < s->nv; i++) s->force[i] = -s->force[i];
    turn(s, at->R, 1, s->force, s->force);
    return POL_OK;
  }
  memcpy(s->force, at->force, (size_t)s->nv * sizeof *s->force);
  for (int b = 0; b < s->bodies->count; b++) {
    const int own = s->bodies->items[b].v;
    if (s->bodies->items[b].is_point) continue;
    poli_v3_add_scaled_cross(-1.0, s->v + own, P + own, s->force + own);
  }
  return POL_OK;
}

/* B M^-1 B^T of the constraints at a node; compliant rows do not join in.  -1: not finite. */
static int factor_node(splitting *s, const instant *at)
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

/* Velocities on the constraints, accelerations and multipliers at a node, from the running momenta,
 * which stay as they are: with A = B M^-1 B^T
 *
 *     A mu = B v + Phi_t,  v -= M^-1 B^T mu,   A lambda = B M^-1 (f - w x J w) + gamma
 *
 * Of redundant constraints those have no reaction that all methods leave out. */
pol_status poli_splitting_show(splitting *s, double t, double *shown)
{
  const instant *at = &s->instants[s->at];
  double *v = shown + s->nq, *vd = v + s->nv, *lambda = s->residual, *P = s->plus;
  pol_status status = POL_OK;
  memcpy(shown, at->q, (size_t)s->nq * sizeof *shown);
  memcpy(P, at->P, (size_t)s->nv * sizeof *P);
  if (factor_node(s, at) < 0) return POL_NOT_FINITE;
  if (s->m > 0) {
    if (s->bodies->constraints_move) { /* Phi_t: the velocities of constraints at rest */
      pol_terms out = {.velocity = lambda};
      memset(vd, 0, (size_t)s->nv * sizeof *vd);
      status = evaluate(s, t, at->q, vd, POL_VELOCITY, &out);
    }
    if (status) return status;
  }
  for (int pass = 0; pass < 3; pass++) { /* once is enough, up to round-off */
    respond(s, at->B, pass ? s->dU : NULL, P, s->v, s->slip);
    for (int i = 0; i < s->held && s->bodies->constraints_move; i++) s->slip[i] += lambda[i];
    for (int i = s->held; i < s->m; i++) s->slip[i] = 0.0;
    if (largest_of(s->held, s->slip) <= 1e-15 * largest_of(s->nv, s->v) || pass == 2) break;
    memcpy(s->dU, s->slip, (size_t)s->m * sizeof *s->dU);
    solve_shown(s, at, s->dU);
  }
  turn(s, at->R, 0, s->v, v);
  if (s->assembler)
    return pol_assembler_acceleration(s->assembler, t, at->q, v, vd, vd + s->nv, &s->reason);
  status = find_acceleration_terms(s, t, at, P, v, lambda);
  if (status) return status;
  if (s->m > 0) {
    respond(s, at->B, NULL, s->force, vd, s->dU);
    for (int i = 0; i < s->m; i++) lambda[i] = i < s->held ? lambda[i] + s->dU[i] : 0.0;
    solve_shown(s, at, lambda);
  }
  respond(s, at->B, s->m > 0 ? lambda : NULL, s->force, vd, NULL);
  turn(s, at->R, 0, vd, vd);
  if (s->m > 0) turn_multipliers(s, at->R, 1, lambda);
  for (int i = 0; i < s->held && s->turned; i++) lambda[i] = s->dropped[i] ? 0.0 : lambda[i];
  memcpy(vd + s->nv, lambda, (size_t)s->held * sizeof *lambda);
  return POL_OK;
}

static void set_state(pol_integrator *integrator, splitting *s, int which, double t)
{
  const double *x = s->out[which];
  s->shown = which;
  s->unseen = 0;
  integrator->state.q = x;
  integrator->state.v = x + s->nq;
  integrator->state.vd = x + s->nq + s->nv;
  integrator->state.lambda = x + s->nq + 2 * s->nv;
  integrator->state.lambda_t = t;
}

/* --- steps ------------------------------------------------------------------------------------ */

pol_status poli_splitting_advance(splitting *s, double t0, double t1, pol_diagnostics *d)
{
  const double h = t1 - t0;
  pol_status status = POL_OK;
  double t = t0;
  for (int i = 0; i < s->num_stages && !status; i++) {
    const double end = i + 1 < s->num_stages ? t + s->stage[i] * h : t1;
    status = substep(s, t, end, d);
    t = end;
  }
  return status;
}

/* The arrays of the running state. */
enum { NUM_SAVED = 13 + MAX_KNOWN };

static void list_saved(const splitting *s, double *array[NUM_SAVED], size_t size[NUM_SAVED])
{
  const size_t nv = (size_t)s->nv, m = (size_t)s->m, bodies = (size_t)s->bodies->count;
  const size_t compliant = (size_t)s->compliant.count;
  const instant *at = &s->instants[s->at];
  double *const arrays[NUM_SAVED] = {at->q,
                                     at->P,
                                     at->force,
                                     at->R,
                                     at->B,
                                     at->w,
                                     s->known[0],
                                     s->known[1],
                                     s->known[2],
                                     at->elongation,
                                     s->compliant.tension[0],
                                     s->compliant.tension[1],
                                     s->compliant.tension[2],
                                     s->compliant.miss[0],
                                     s->compliant.miss[1],
                                     s->compliant.clock};
  const size_t sizes[NUM_SAVED] = {
      (size_t)s->nq,    nv,        nv,        9 * bodies, (size_t)s->bodies->num_blocks,
      3 * bodies,       m,         m,         m,          compliant,
      compliant,        compliant, compliant, compliant,  compliant,
      POLI_TENSIONS + 1};
  memcpy(array, arrays, sizeof arrays);
  memcpy(size, sizes, sizeof sizes);
}

size_t poli_splitting_size(const splitting *s)
{
  double *array[NUM_SAVED];
  size_t size[NUM_SAVED], total = 2 + 2 * MAX_KNOWN;
  list_saved(s, array, size);
  for (int i = 0; i < NUM_SAVED; i++) total += size[i];
  return total;
}

void poli_splitting_save(const splitting *s, double *to)
{
  double *array[NUM_SAVED];
  size_t size[NUM_SAVED];
  list_saved(s, array, size);
  *to++ = s->last_h;
  *to++ = s->num_known;
  memcpy(to, s->known_t, sizeof s->known_t);
  memcpy(to + MAX_KNOWN, s->known_weight, sizeof s->known_weight);
  to += 2 * MAX_KNOWN;
  for (int i = 0; i < NUM_SAVED; to += size[i++]) memcpy(to, array[i], size[i] * sizeof *to);
}

void poli_splitting_restore(splitting *s, const double *from)
{
  double *array[NUM_SAVED];
  size_t size[NUM_SAVED];
  list_saved(s, array, size);
  s->last_h = *from++;
  s->num_known = (int)*from++;
  memcpy(s->known_t, from, sizeof s->known_t);
  memcpy(s->known_weight, from + MAX_KNOWN, sizeof s->known_weight);
  from += 2 * MAX_KNOWN;
  for (int i = 0; i < NUM_SAVED; from += size[i++]) memcpy(array[i], from, size[i] * sizeof *from);
}

const double *poli_splitting_position(const splitting *s)
{
  return s->instants[s->at].q;
}

double *poli_splitting_spare(splitting *s)
{
  return s->out[1 - s->shown];
}

void poli_splitting_publish(pol_integrator *integrator, double t)
{
  splitting *s = integrator->data;
  set_state(integrator, s, 1 - s->shown, t);
}

poli_splitting_steps *poli_splitting_get_steps(splitting *s)
{
  return &s->steps;
}

const double *poli_splitting_force(const splitting *s)
{
  return s->instants[s->at].force;
}

int poli_splitting_num_stages(const splitting *s)
{
  return s->num_stages;
}

pol_status poli_splitting_place(splitting *s, double t, const double *q, const double *v,
                                const double *lambda)
{
  instant *at = &s->instants[s->at];
  memcpy(at->q, q, (size_t)s->nq * sizeof *q);
  rotations(s, q, at->R);
  momenta(s, at->R, v, at->P);
  for (int b = 0; b < s->bodies->count; b++)
    if (!s->bodies->items[b].is_point)
      poli_m3_apply(at->R + 9 * b, v + s->bodies->items[b].v, at->w + 3 * b);
  memcpy(s->known[0], lambda, (size_t)s->held * sizeof *lambda);
  turn_multipliers(s, at->R, 0, s->known[0]);
  s->known_t[0] = t;
  s->known_weight[0] = 1.0;
  s->num_known = 1;
  s->last_h = 0.0;
  const pol_status status =
      s->bodies->constraints(t, at->q, at->R, s->history, s->residual, at->B, s->dae->user);
  memcpy(at->elongation, s->residual + s->held, (size_t)s->compliant.count * sizeof *q);
  poli_compliant_start(&s->compliant);
  return status ? status : find_forces(s, t, at->q, at->R, at->P, at->force);
}

static pol_status step(pol_integrator *integrator, double t, double h)
{
  splitting *s = integrator->data;
  const double last_h = s->last_h;
  (void)h;
  s->history = integrator->history;
  s->steps.has_middle = 0;
  integrator->num_substeps = s->num_stages;
  s->kept = s->at; /* the start of the step stays as it is */
  pol_status status = poli_splitting_advance(s, integrator->state.t, t, &integrator->diagnostics);
  if (!status && integrator->hidden) {
    integrator->state.q = s->instants[s->at].q;
    s->unseen = 1;
    return POL_OK;
  }
  if (!status) {
    status = poli_splitting_show(s, t, s->out[1 - s->shown]);
    if (status) fail_force(s, &integrator->diagnostics, status, 0);
  }
  if (!status) {
    set_state(integrator, s, 1 - s->shown, t);
    return POL_OK;
  }
  s->at = s->kept;
  s->last_h = last_h;
  s->num_known = s->num_known > 0; /* the newest may be of times that are gone: keep one */
  poli_compliant_start(&s->compliant);
  if (s->unseen && poli_splitting_show(s, integrator->state.t, s->out[1 - s->shown]) == POL_OK)
    set_state(integrator, s, 1 - s->shown, integrator->state.t);
  else if (s->unseen)
    integrator->state.q = NULL; /* it cannot be shown: a new start is needed */
  return status;
}

static pol_status start(pol_integrator *integrator, const double *q, const double *v,
                        const double *vd, const double *lambda)
{
  splitting *s = integrator->data;
  const double t = integrator->state.t;
  double *x = s->out[0];
  s->history = integrator->history;
  s->steps.has_middle = 0;
  s->kept = -1;
  for (int k = 0; k < NUM_INSTANTS; k++) {
    memcpy(s->instants[k].q, q, (size_t)s->nq * sizeof *q);
    rotations(s, q, s->instants[k].R);
    for (int b = 0; b < s->bodies->count && s->bodies->has_weight_only; b++) {
      const poli_rigid_body *body = &s->bodies->items[b];
      double *force = s->instants[k].force + body->v + (body->is_point ? 0 : 3);
      poli_v3_scale(body->mass, s->bodies->gravity, force);
    }
  }
  s->at = 0;
  const pol_status status = poli_splitting_place(s, t, q, v, lambda);
  if (status) return status;
  memcpy(x, q, (size_t)s->nq * sizeof *x);
  memcpy(x + s->nq, v, (size_t)s->nv * sizeof *x);
  memcpy(x + s->nq + s->nv, vd, (size_t)s->nv * sizeof *x);
  memcpy(x + s->nq + 2 * s->nv, lambda, (size_t)s->held * sizeof *x);
  set_state(integrator, s, 0, t);
  return POL_OK;
}

/* --- life cycle ------------------------------------------------------------------------------- */

/* Stages of the compositions up to the middle one; the rest is symmetric. */
static const struct composition {
  int order, num_stages, degree;
  double stable; /* largest h c/m at which a damper is stable */
  double first[(MAX_STAGES + 1) / 2];
} compositions[] = {
    {2, 1, 2, HUGE_VAL, {1.0}},
    {4, 5, 2, 3.02, {0.41449077179437573714, 0.41449077179437573714, -0.65796308717750294857}},
    {6,
     9,
     1,
     2.73,
     {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
      0.08221359629355080023, 0.79854399093482996340}},
    {8,
     17,
     1,
     3.30,
     {0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641,
      0.15884190655515560090, -0.39590389413323757734, 0.18453964097831570709,
      0.25837438768632204729, 0.29501172360931029887, -0.60550853383003451170}}};

static const struct composition *find_composition(int order)
{
  for (size_t i = 0; i < sizeof compositions / sizeof compositions[0]; i++)
    if (compositions[i].order == order) return &compositions[i];
  return NULL;
}

static pol_status supports(const pol_dae *dae, const pol_options *options, const void *variant,
                           char *message, size_t size)
{
  (void)variant, (void)options;
  if (!poli_dae_rigid_bodies(dae))
    return poli_broken_rule("the method needs rigid bodies in so3xr3", message, size);
  return POL_OK;
}

/* The mass that a compliant row moves, with and without the constraints; factor_node has been
 * called. */
static double find_mass(splitting *s, const instant *at, int row, int constrained)
{
  memset(s->U, 0, (size_t)s->m * sizeof *s->U);
  memset(s->rhs, 0, (size_t)s->nv * sizeof *s->rhs);
  s->U[row] = 1.0;
  respond(s, at->B, s->U, s->rhs, s->v, s->dU);
  if (constrained) {
    for (int i = s->held; i < s->m; i++) s->dU[i] = 0.0;
    solve_shown(s, at, s->dU);
    respond(s, at->B, s->dU, s->rhs, s->v, s->slip);
    return -1.0 / s->slip[row];
  }
  return -1.0 / s->dU[row];
}

/* Compositions go backward in time too, and there dampers amplify: h c/m is bounded. */
static void doubt_step(pol_integrator *integrator, double h, char *message, size_t size)
{
  enum { MAX_SOLUTIONS = 100 };
  splitting *s = integrator->data;
  const instant *at = &s->instants[s->at];
  const double limit = s->stable;
  int worst = -1, solutions = 0;
  double largest = limit;
  if (s->compliant.count == 0 || factor_node(s, at) < 0) return;
  for (int i = 0; i < s->compliant.count && solutions < MAX_SOLUTIONS; i++) {
    const double c = h * s->compliant.rows[i].damping;
    if (c == 0.0 || !(c > largest * find_mass(s, at, s->held + i, 0))) continue;
    const double value = c / find_mass(s, at, s->held + i, 1);
    solutions++;
    if (!(value > largest)) continue;
    largest = value;
    worst = i;
  }
  if (worst < 0) return;
  snprintf(
      message, size,
      "the damper of force '%s' is too stiff for this step: h c/m = %.3g with the mass that it "
      "moves, and base steps backward in time amplify from %.3g on; use order 2, a "
      "step below %.3g s, or geom1",
      s->compliant.rows[worst].force, largest, limit, h * limit / largest);
}

/* The nodes from the ground outwards.  Elimination in this order takes nothing away from the
 * mobility of the bodies still to come; the other way, that of a long chain of hinges, which weighs
 * all of it, would be lost in round-off. */
static void order_nodes(const splitting *s, int *order, int *reached)
{
  const int count = s->bodies->num_nodes;
  const poli_row_node *nodes = s->bodies->nodes;
  int last = 0;
  for (int n = 0; n < count; n++)
    if (nodes[n].num_sides < 2 && nodes[n].row < s->held) reached[order[last++] = n] = 1;
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

/* Sides by bodies; two of the same body add to a block of the matrix, and those of different nodes
 * make an edge of its graph. */
static pol_status set_graph(splitting *s)
{
  const poli_rigid_bodies *bodies = s->bodies;
  const int count = bodies->count;
  size_t num_sides = 0, num_pairs = 0;
  int num_edges = 0, *size = malloc(((size_t)bodies->num_nodes + 1) * sizeof *size);
  int *order = calloc(2 * (size_t)bodies->num_nodes + 1, sizeof *order);
  int(*edges)[2] = NULL;
  pol_status status = POL_NO_MEMORY;
  s->first_side = calloc((size_t)count + 2, sizeof *s->first_side);
  if (!size || !s->first_side || !order) goto done;
  for (int n = 0; n < bodies->num_nodes; n++) {
    const poli_row_node *node = &bodies->nodes[n];
    size[n] = node->num_rows;
    num_sides += (size_t)node->num_sides;
    s->has_others |= node->row < s->held && node->num_rows > (node->joins ? 3 : 0);
    for (int i = 0; i < node->num_sides; i++) s->first_side[node->body[i] + 2]++;
  }
  for (int b = 0; b < count; b++) {
    num_pairs += (size_t)s->first_side[b + 2] * (size_t)s->first_side[b + 2];
    s->first_side[b + 2] += s->first_side[b + 1];
  }
  s->sides = calloc(num_sides + 1, sizeof *s->sides);
  s->pairs = calloc(num_pairs + 1, sizeof *s->pairs);
  edges = malloc((num_pairs + 1) * sizeof *edges);
  if (!s->sides || !s->pairs || !edges) goto done;
  for (int n = 0; n < bodies->num_nodes; n++) {
    const poli_row_node *node = &bodies->nodes[n];
    for (int i = 0; i < node->num_sides; i++)
      s->sides[s->first_side[node->body[i] + 1]++] =
          (side){.node = n,
                 .row = node->row,
                 .block = node->block + i * poli_row_block_size(node),
                 .joined = node->joins ? 3 : 0,
                 .others = node->num_rows - (node->joins ? 3 : 0),
                 .sign = node->joins ? node->sign[i] : 0.0};
  }
  for (int b = 0; b < count; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++)
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++) {
        if (s->sides[i].node >= s->sides[j].node) continue;
        edges[num_edges][0] = s->sides[i].node;
        edges[num_edges++][1] = s->sides[j].node;
      }
  order_nodes(s, order, order + bodies->num_nodes);
  status = poli_block_lu_create(&s->lu, bodies->num_nodes, size, num_edges, (const int(*)[2])edges,
                                order);
  long *pair = s->pairs;
  for (int b = 0; b < count && !status; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++)
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++)
        *pair++ = poli_block_lu_address(s->lu, s->sides[i].node, s->sides[j].node);
done:
  free(size);
  free(edges);
  free(order);
  return status;
}

static pol_status allocate(splitting *s)
{
  const size_t nq = (size_t)s->nq, nv = (size_t)s->nv, m = (size_t)s->m;
  const size_t bodies = (size_t)s->bodies->count, blocks = (size_t)s->bodies->num_blocks;
  const size_t entries = s->saddle ? (size_t)pol_pattern_nonzeros(s->patterns.constraint) : 0;
  const size_t coupling = s->saddle ? (size_t)pol_pattern_nonzeros(s->patterns.coupling) : 0;
  const size_t compliant = (size_t)s->compliant.count, eliminated = s->saddle ? compliant : 0;
  poli_arena arena = {0};
  do {
    for (int k = 0; k < NUM_INSTANTS; k++) {
      instant *own = &s->instants[k];
      POLI_TAKE(&arena, own->q, nq);
      POLI_TAKE(&arena, own->P, nv);
      POLI_TAKE(&arena, own->force, nv);
      POLI_TAKE(&arena, own->R, 9 * bodies);
      POLI_TAKE(&arena, own->B, blocks);
      POLI_TAKE(&arena, own->w, 3 * bodies);
      POLI_TAKE(&arena, own->elongation, compliant);
    }
    for (int k = 0; k < MAX_KNOWN; k++) POLI_TAKE(&arena, s->known[k], m);
    for (int k = 0; k < 2; k++) POLI_TAKE(&arena, s->out[k], nq + 2 * nv + m);
    POLI_TAKE(&arena, s->plus, nv);
    POLI_TAKE(&arena, s->v, nv);
    POLI_TAKE(&arena, s->force, nv);
    POLI_TAKE(&arena, s->U, m);
    POLI_TAKE(&arena, s->dU, m);
    POLI_TAKE(&arena, s->residual, m);
    POLI_TAKE(&arena, s->slip, m);
    POLI_TAKE(&arena, s->D, 9 * bodies);
    POLI_TAKE(&arena, s->rhs, nv + m);
    POLI_TAKE(&arena, s->mass, coupling);
    POLI_TAKE(&arena, s->damping, coupling);
    POLI_TAKE(&arena, s->upper, entries);
    POLI_TAKE(&arena, s->lower, entries);
    POLI_TAKE(&arena, s->left_out, m);
    POLI_TAKE(&arena, s->compliant.g, compliant);
    POLI_TAKE(&arena, s->compliant.b, compliant);
    for (int k = 0; k < POLI_TENSIONS; k++) POLI_TAKE(&arena, s->compliant.tension[k], compliant);
    for (int k = 0; k < 2; k++) {
      POLI_TAKE(&arena, s->compliant.guess[k], compliant);
      POLI_TAKE(&arena, s->compliant.miss[k], compliant);
    }
    POLI_TAKE(&arena, s->compliant.clock, POLI_TENSIONS + 1);
    POLI_TAKE(&arena, s->compliant.lower, eliminated);
    POLI_TAKE(&arena, s->compliant.upper, eliminated);
    POLI_TAKE(&arena, s->lambda, s->assembler ? m : 0);
    POLI_TAKE(&arena, s->vd, s->assembler ? nv : 0);
    POLI_TAKE(&arena, s->scratch, s->dae->scratch_size);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  for (int k = 1; k < NUM_INSTANTS && s->bodies->has_weight_only; k++)
    s->instants[k].force = s->instants[0].force; /* they do not change */
  return s->memory ? POL_OK : POL_NO_MEMORY;
}

static void destroy(void *data)
{
  splitting *s = data;
  poli_block_lu_free(&s->lu);
  poli_saddle_free(&s->saddle);
  poli_dae_patterns_free(&s->patterns);
  free(s->steps.memory);
  free(s->first_side);
  free(s->sides);
  free(s->pairs);
  free(s->memory);
  free(s);
}

static pol_status create(pol_integrator *integrator)
{
  splitting *s = integrator->data = calloc(1, sizeof *s);
  const struct composition *composition = find_composition(pol_options_order(&integrator->options));
  if (!s) return POL_NO_MEMORY;
  s->dae = integrator->dae;
  s->bodies = poli_dae_rigid_bodies(s->dae);
  s->counts = &integrator->counts;
  s->num_stages = integrator->num_substeps = composition->num_stages;
  s->degree = composition->degree;
  s->stable = composition->stable;
  for (int i = 0; i < s->num_stages; i++) {
    const int mirrored = i < s->num_stages / 2 + 1 ? i : s->num_stages - 1 - i;
    s->stage[i] = composition->first[mirrored];
  }
  s->nq = s->dae->group.nq;
  s->nv = s->dae->group.nv;
  s->held = pol_dae_num_constraints(s->dae);
  s->compliant.count = s->bodies->num_compliant;
  s->compliant.rows = s->bodies->compliant;
  s->m = s->held + s->compliant.count;
  s->dropped = pol_assembler_dropped(integrator->assembler);
  if (s->dae->feedback) s->assembler = integrator->assembler;
  pol_status status = set_graph(s);
  if (!status && s->bodies->forces_read_velocities) {
    status = poli_dae_patterns_create(&s->patterns, s->dae);
    if (!status) status = poli_saddle_create(&s->saddle, s->dae, 0, integrator->options.solver);
  }
  if (!status) status = allocate(s);
  return status ? status : poli_splitting_steps_create(integrator);
}

const poli_family poli_splitting = {.supports = supports,
                                    .create = create,
                                    .destroy = destroy,
                                    .start = start,
                                    .step = step,
                                    .adaptive = &poli_splitting_adaptive,
                                    .interpolate = poli_splitting_interpolate,
                                    .doubt_step = doubt_step,
                                    .hides = 1};
