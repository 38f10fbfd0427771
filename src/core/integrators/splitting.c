/* Explicit-cost methods of order 2 to 8 for rigid bodies with hard constraints.
 *
 * The base step from node t0 to t1 = t0 + h, with momenta P in the axes of the velocities,
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
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rule.h"
#include "dae/dae.h"
#include "dae/extension.h"
#include "dae/saddle.h"
#include "integrators/family.h"
#include "integrators/splitting.h"
#include "lie/small.h"
#include "linalg/block_lu.h"

enum { MAX_STAGES = 17, MAX_KNOWN = 3, AXES = 6, MAX_ROWS = 6 };

static const double dependent = 1e-9; /* pivots below belong to redundant constraints */

/* One side of a node of the constraint graph: a body and where its columns are. */
typedef struct side {
  int body, dim;
  int address; /* of its entries in `addresses`: rows x dim */
} side;

typedef struct poli_splitting_state splitting;

struct poli_splitting_state {
  const pol_dae *dae;
  const poli_rigid_bodies *bodies;
  int num_stages;
  double stage[MAX_STAGES];
  int degree; /* of the extrapolation of multipliers */
  int nq, nv, m;
  poli_dae_patterns patterns;

  /* the graph: nodes are constraints with the same bodies, one behind the other */
  int num_nodes;
  int *first_row, *first_side; /* num_nodes + 1 */
  side *sides;
  int *addresses;
  int num_pairs;
  struct pair {
    int row_side, col_side, rows, cols;
    long block;
  } * pairs; /* sides of the same body: contributions to blocks of the matrix */
  poli_block_lu *lu;
  poli_saddle *saddle;          /* only if forces read velocities */
  const unsigned char *dropped; /* m: redundant constraints there */

  /* memory */
  double *memory;
  double *q, *P, *q1, *P1, *force, *force1, *v; /* at the nodes */
  double *U, *residual, *dU, *trial;
  double *jacobian, *jacobian1;         /* B at both nodes */
  double *D;                            /* 36 numbers for each body: derivative of the drift */
  double *B0, *B1;                      /* the blocks of all sides: rows x dim each */
  double *w_half, *w_last;              /* angular velocities within a step, 3 for each body */
  double *out[2];                       /* q, v, v', lambda as shown */
  double *mass, *damping, *lower, *rhs; /* of the matrix with the momenta */
  double *saved;                        /* the running state at the start of a step */
  double *scratch;
  int shown;

  double last_h; /* of the substep before; 0 at the start */
  int num_known; /* nodes with known multipliers */
  double known_t[MAX_KNOWN], *known[MAX_KNOWN];
  pol_counts *counts;
  const double *history;
  poli_splitting_steps steps;
};

/* Velocities of a body. */
static int dimension(const poli_rigid_body *body)
{
  return (body->is_point ? 0 : 3) + body->num_axes;
}

/* --- momenta, velocities, forces, drift ------------------------------------------------------- */

static void velocities(const splitting *s, const double *P, double *v)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->is_point ? 0 : 3;
    if (first) poli_m3_apply(body->inverse, P + body->v, v + body->v);
    for (int i = 0; i < body->num_axes; i++)
      v[body->v + first + i] = P[body->v + first + i] / body->mass;
  }
}

/* P = M v */
static void momenta(const splitting *s, const double *v, double *P)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->is_point ? 0 : 3;
    if (first) poli_m3_apply(body->inertia, v + body->v, P + body->v);
    for (int i = 0; i < body->num_axes; i++)
      P[body->v + first + i] = v[body->v + first + i] * body->mass;
  }
}

static pol_status evaluate(splitting *s, double t, const double *q, const double *v, unsigned want,
                           const pol_terms *out)
{
  pol_point at = {.t = t, .q = q, .v = v, .vd = s->trial, .lambda = s->U, .history = s->history};
  s->counts->residuals++;
  return poli_dae_evaluate(s->dae, &at, want, out, s->scratch);
}

/* Forces for velocities that belong to P, and B, if it is asked for.  The dae's g has the
 * gyroscopic torque w x J w, which the drift takes care of. */
static pol_status find_forces(splitting *s, double t, const double *q, const double *P,
                              double *force, double *jacobian)
{
  pol_terms out = {.balance = force, .jacobian = jacobian};
  velocities(s, P, s->v);
  pol_status status = evaluate(s, t, q, s->v, POL_FORCE | (jacobian ? POL_JACOBIAN : 0), &out);
  for (int b = 0; b < s->bodies->count && !status; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int v = body->v;
    if (!body->is_point) poli_v3_add_scaled_cross(-1.0, s->v + v, P + v, force + v);
    for (int i = 0; i < (body->is_point ? 0 : 3) + body->num_axes; i++)
      force[v + i] = -force[v + i];
  }
  return status;
}

/* The free motion from q and P for the time h; P1 are the same momenta in the axes at the end. */
static void drift(splitting *s, const double *q, const double *P, double h, double *q1, double *P1)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int shift = body->is_point ? 0 : 4, turn = body->is_point ? 0 : 3;
    for (int i = 0; i < body->num_axes; i++) {
      q1[body->q + shift + i] = q[body->q + shift + i] + h * P[body->v + turn + i] / body->mass;
      P1[body->v + turn + i] = P[body->v + turn + i];
    }
    if (body->is_point) continue;
    double R[9], L[3], principal[4], back[4];
    pol_quat_to_matrix(q + body->q, R);
    poli_m3_apply(R, P + body->v, L);
    pol_quat_multiply(q + body->q, body->principal, principal);
    poli_free_motion(&body->free, principal, L, h, principal);
    pol_quat_conjugate(body->principal, back);
    pol_quat_multiply(principal, back, q1 + body->q);
    pol_quat_to_matrix(q1 + body->q, R);
    poli_m3_apply_transposed(R, L, P1 + body->v);
  }
}

/* Its derivative by P, in the axes at both ends. */
static void drift_derivative(splitting *s, const double *q, const double *P, double h,
                             const double *q1)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double *D = s->D + 36 * b;
    const int turn = body->is_point ? 0 : 3;
    memset(D, 0, 36 * sizeof *D);
    for (int i = 0; i < body->num_axes && i < 3; i++) D[7 * (turn + i)] = h / body->mass;
    if (body->is_point) continue;
    double R0[9], R1[9], L[3], from[4], to[4], d[9], dR[9], out[9];
    pol_quat_to_matrix(q + body->q, R0);
    pol_quat_to_matrix(q1 + body->q, R1);
    poli_m3_apply(R0, P + body->v, L);
    pol_quat_multiply(q + body->q, body->principal, from);
    pol_quat_multiply(q1 + body->q, body->principal, to);
    poli_free_motion_derivative(&body->free, from, L, h, to, d);
    poli_m3_multiply(d, R0, dR);
    poli_m3_multiply_transposed(R1, dR, out);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) D[6 * i + j] = out[3 * i + j];
  }
}

/* --- the matrix in row space ------------------------------------------------------------------ */

/* The blocks of all sides from the values of B. */
static void gather(const splitting *s, const double *jacobian, double *B)
{
  const int total = s->first_side[s->num_nodes];
  for (int node = 0, k = 0; node < s->num_nodes; node++)
    for (int e = s->first_side[node]; e < s->first_side[node + 1] && e < total; e++) {
      const int rows = s->first_row[node + 1] - s->first_row[node];
      for (int i = 0; i < rows * s->sides[e].dim; i++, k++) {
        const int address = s->addresses[s->sides[e].address + i];
        B[k] = address >= 0 ? jacobian[address] : 0.0;
      }
    }
}

/* B1 D B0^T, factored; D has 36 numbers for each body.  Returns -1 if it is not finite. */
static int factor(splitting *s)
{
  double *values = poli_block_lu_values(s->lu);
  poli_block_lu_clear(s->lu);
  for (int p = 0; p < s->num_pairs; p++) {
    const struct pair *pair = &s->pairs[p];
    const side *row = &s->sides[pair->row_side], *col = &s->sides[pair->col_side];
    const double *D = s->D + 36 * row->body, *B1 = s->B1 + row->address, *B0 = s->B0 + col->address;
    double *to = values + pair->block, X[MAX_ROWS][AXES];
    for (int i = 0; i < pair->rows; i++)
      for (int k = 0; k < row->dim; k++) {
        X[i][k] = 0.0;
        for (int l = 0; l < row->dim; l++) X[i][k] += B1[i * row->dim + l] * D[6 * l + k];
      }
    for (int i = 0; i < pair->rows; i++)
      for (int j = 0; j < pair->cols; j++)
        for (int k = 0; k < row->dim; k++) to[i * pair->cols + j] += X[i][k] * B0[j * row->dim + k];
  }
  s->counts->jacobians++;
  s->counts->factorizations++;
  return poli_block_lu_factor(s->lu, dependent);
}

/* --- the base step ---------------------------------------------------------------------------- */

/* Multipliers at time t by extrapolation of those of the last nodes. */
static void extrapolate(const splitting *s, double t, double *lambda)
{
  const int n = s->num_known < s->degree + 1 ? s->num_known : s->degree + 1;
  memset(lambda, 0, (size_t)s->m * sizeof *lambda);
  for (int k = 0; k < n; k++) {
    double weight = 1.0;
    for (int l = 0; l < n; l++)
      if (l != k) weight *= (t - s->known_t[l]) / (s->known_t[k] - s->known_t[l]);
    for (int i = 0; i < s->m; i++) lambda[i] += weight * s->known[k][i];
  }
}

/* Adds the multipliers of a node to those that are known. */
static void note_multipliers(splitting *s, double t, double weight)
{
  double *oldest = s->known[MAX_KNOWN - 1];
  for (int k = 0; k < s->num_known; k++)
    if (s->known_t[k] == t) return;
  for (int k = MAX_KNOWN - 1; k > 0; k--) {
    s->known[k] = s->known[k - 1];
    s->known_t[k] = s->known_t[k - 1];
  }
  s->known[0] = oldest;
  s->known_t[0] = t;
  for (int i = 0; i < s->m; i++) oldest[i] = s->U[i] / weight;
  if (s->num_known < MAX_KNOWN) s->num_known++;
}

/* P1 = P + h/2 f - B^T U */
static void kick(const splitting *s, double h, double *P1)
{
  for (int i = 0; i < s->nv; i++) P1[i] = s->P[i] + 0.5 * h * s->force[i];
  pol_matrix_multiply_transposed(s->patterns.constraint, s->jacobian, -1.0, s->U, P1);
}

/* Residuals of all rows at q1; their largest. */
static pol_status find_residual(splitting *s, double t1, double h, const double *Pplus,
                                double *largest, int *worst)
{
  const int holonomic = s->dae->num_holonomic;
  pol_terms out = {.position = s->residual, .velocity = s->dU};
  unsigned want = POL_POSITION;
  if (s->m > holonomic) {
    want |= POL_VELOCITY;
    velocities(s, s->P1, s->v);
  }
  pol_status status = evaluate(s, t1, s->q1, s->v, want, &out);
  if (!status && s->m > holonomic) {
    for (int i = holonomic; i < s->m; i++) s->residual[i] = 0.5 * h * s->dU[i];
    pol_terms start = {.velocity = s->dU};
    velocities(s, Pplus, s->v);
    status = evaluate(s, t1 - h, s->q, s->v, POL_VELOCITY, &start);
    for (int i = holonomic; i < s->m; i++) s->residual[i] += 0.5 * h * s->dU[i];
  }
  *largest = 0.0;
  for (int i = 0; i < s->m && !status; i++)
    if (!(fabs(s->residual[i]) <= *largest)) {
      *largest = fabs(s->residual[i]);
      *worst = i;
    }
  return status ? status : isfinite(*largest) ? POL_OK : POL_NOT_FINITE;
}

static pol_status fail(splitting *s, pol_diagnostics *d, pol_status status, int row, int iteration,
                       double residual, const char *message)
{
  d->iteration = iteration;
  d->residual = residual;
  if (row != -1) {
    d->equation = s->nv + row;
    poli_dae_describe(s->dae, d->equation, d->where, sizeof d->where);
  }
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "take a smaller step, or a lower order");
  return status;
}

static void limit_turn(splitting *s, const double *dU, double *scale);

/* Forces that depend on velocities make the first kick implicit: Newton's method for P+ and U
 * together, in velocities V = M^-1 P+,
 *
 *     [ M + h/2 (C - G)   B0^T ] [ dV ]      [ P+ - P - h/2 f + B0^T U ]
 *     [ B1 D M            0    ] [ dU ]  = - [ residual                ]
 *
 * with C = dg/dv, of which G = d(w x J w)/dw belongs to the drift. */
static pol_status factor_implicit(splitting *s, double t0, double h)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  pol_terms out = {.mass = s->mass, .damping = s->damping};
  pol_status status = evaluate(s, t0, s->q, s->v, POL_MASS | POL_DAMPING, &out);
  if (status) return status;
  for (int k = 0; k < pol_pattern_nonzeros(W); k++) s->mass[k] += 0.5 * h * s->damping[k];
  memset(s->lower, 0, (size_t)pol_pattern_nonzeros(B) * sizeof *s->lower);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const double *D = s->D + 36 * b;
    const int turn = body->is_point ? 0 : 3, dim = turn + body->num_axes;
    double J_w[3], gyro[9], skew[9];
    if (turn) {
      poli_m3_apply(body->inertia, s->v + body->v, J_w);
      poli_m3_skew(s->v + body->v, skew);
      poli_m3_multiply(skew, body->inertia, gyro);
      poli_m3_add_skew(-1.0, J_w, gyro);
      for (int i = 0; i < 9; i++)
        s->mass[pol_pattern_address(W, body->v + i / 3, body->v + i % 3)] -= 0.5 * h * gyro[i];
    }
    if (B->start[body->v + dim] == B->start[body->v]) continue; /* without constraints */
    for (int j = 0; j < dim; j++) {
      double DM[AXES] = {0.0};
      for (int k = 0; k < dim; k++)
        for (int l = 0; l < 3 && turn && j < 3; l++)
          DM[k] += D[6 * k + l] * body->inertia[3 * l + j];
      if (j >= turn) DM[j] = D[7 * j] * body->mass;
      const int first = B->start[body->v + j];
      for (int e = first; e < B->start[body->v + j + 1]; e++)
        for (int k = 0; k < dim; k++) {
          const int from = pol_pattern_address(B, B->row[e], body->v + k);
          if (from >= 0) s->lower[e] += s->jacobian1[from] * DM[k];
        }
    }
  }
  double *to = s->saddle->values;
  for (int j = 0; j < s->nv; j++) {
    for (int k = W->start[j]; k < W->start[j + 1]; k++) *to++ = s->mass[k];
    for (int k = B->start[j]; k < B->start[j + 1]; k++) *to++ = s->lower[k];
  }
  poli_saddle_set_transposed(s->saddle, s->jacobian);
  poli_saddle_drop(s->saddle, s->dropped);
  s->counts->jacobians++;
  s->counts->factorizations++;
  return pol_solver_refactor(s->saddle->solver, s->saddle->values);
}

/* The second kick of a base step whose impulses are known; q, P, force and B are then those of its
 * end. */
static pol_status complete(splitting *s, double t0, double t1, int iteration, pol_diagnostics *d)
{
  const double h = t1 - t0, weight = 0.5 * (s->last_h + h), *Pplus = s->trial;
  /* several solutions exist: a body must not turn much faster than before */
  velocities(s, Pplus, s->v);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double *w = s->w_half + 3 * b, change = 0.0, R[9];
    if (body->is_point) continue;
    pol_quat_to_matrix(s->q + body->q, R);
    poli_m3_apply(R, s->v + body->v, w);
    for (int i = 0; i < 3; i++) change = fmax(change, fabs(w[i] - s->w_last[3 * b + i]));
    if (fabs(h) * change > 1.0)
      return fail(s, d, POL_NOT_CONVERGED, body->v - s->nv, iteration, 0.0,
                  "the angular velocity of a body would change by more than 1 rad per step");
  }
  double *swap = s->w_half;
  s->w_half = s->w_last;
  s->w_last = swap;

  if (fabs(weight) >= 0.2 * fmax(fabs(h), fabs(s->last_h))) note_multipliers(s, t0, weight);
  const pol_status status = find_forces(s, t1, s->q1, s->P1, s->force1, s->jacobian1);
  if (status) return fail(s, d, status, -1, iteration, 0.0, "a force could not be evaluated");
  for (int i = 0; i < s->nv; i++) s->P[i] = s->P1[i] + 0.5 * h * s->force1[i];
  double *q = s->q, *force = s->force, *jacobian = s->jacobian;
  s->q = s->q1;
  s->q1 = q;
  s->force = s->force1;
  s->force1 = force;
  s->jacobian = s->jacobian1;
  s->jacobian1 = jacobian;
  s->last_h = h;
  return POL_OK;
}

/* One base step; leaves q, P, force and B at its end. */
static pol_status substep(splitting *s, double t0, double t1, pol_diagnostics *d)
{
  enum { MAX_ITERATIONS = 30 };
  const double h = t1 - t0, length = poli_dae_length(s->dae), weight = 0.5 * (s->last_h + h);
  const int implicit = s->saddle != NULL;
  double largest = 0.0, best = HUGE_VAL, *Pplus = s->trial;
  int worst = -1, since_factor = 0, iteration = 0;
  pol_status status = POL_OK;
  extrapolate(s, t0, s->U);
  for (int i = 0; i < s->m; i++) s->U[i] *= weight;
  if (s->m > 0) gather(s, s->jacobian, s->B0);
  if (implicit) kick(s, h, Pplus);
  for (;; iteration++) {
    double open = 0.0, size = 0.0; /* what the kick lacks, relative to the momenta */
    if (implicit) {
      status = find_forces(s, t0, s->q, Pplus, s->force, NULL);
      if (status) return fail(s, d, status, -1, iteration, 0.0, "a force could not be evaluated");
      kick(s, h, s->rhs);
      for (int i = 0; i < s->nv; i++) {
        s->rhs[i] -= Pplus[i];
        open = fmax(open, fabs(s->rhs[i]));
        size = fmax(size, fmax(fabs(Pplus[i]), fabs(0.5 * h * s->force[i])));
      }
      if (size > 0.0) open /= size;
    } else {
      kick(s, h, Pplus);
    }
    drift(s, s->q, Pplus, h, s->q1, s->P1);
    status = find_residual(s, t1, h, Pplus, &largest, &worst);
    if (status) return fail(s, d, status, worst, iteration, largest, pol_status_text(status));
    const double error = fmax(largest / length, open);
    if (error <= 1e-14 || (iteration > 2 && error >= best && best <= 1e-9)) break;
    if (iteration == MAX_ITERATIONS || (iteration > 6 && error > 10.0 * best))
      return fail(s, d, POL_NOT_CONVERGED, worst, iteration, largest,
                  "the impulses of the joints could not be determined");
    best = fmin(best, error);
    if (iteration == 0 || since_factor == 4) {
      pol_terms out = {.jacobian = s->jacobian1};
      status = evaluate(s, t1, s->q1, s->v, POL_JACOBIAN, &out);
      if (status) return fail(s, d, status, worst, iteration, largest, pol_status_text(status));
      drift_derivative(s, s->q, Pplus, h, s->q1);
      if (implicit) {
        velocities(s, Pplus, s->v);
        status = factor_implicit(s, t0, h);
      } else {
        gather(s, s->jacobian1, s->B1);
        status = factor(s) < 0 ? POL_NOT_FINITE : POL_OK;
      }
      if (status)
        return fail(s, d, status, worst, iteration, largest,
                    "the matrix is singular or not finite");
      since_factor = 0;
    }
    since_factor++;
    s->counts->newton_iterations++;
    if (implicit) {
      for (int i = 0; i < s->m; i++) s->rhs[s->nv + i] = s->dropped[i] ? 0.0 : -s->residual[i];
      pol_solver_solve(s->saddle->solver, s->rhs);
      momenta(s, s->rhs, s->v);
      for (int i = 0; i < s->nv; i++) Pplus[i] += s->v[i];
      for (int i = 0; i < s->m; i++) s->U[i] += s->rhs[s->nv + i];
      continue;
    }
    memcpy(s->dU, s->residual, (size_t)s->m * sizeof *s->dU);
    poli_block_lu_solve(s->lu, s->dU);
    double scale = 1.0;
    limit_turn(s, s->dU, &scale);
    for (int i = 0; i < s->m; i++) s->U[i] += scale * s->dU[i];
  }

  return complete(s, t0, t1, iteration, d);
}

/* Reduces a correction of U so that no body turns by more than half a radian. */
static void limit_turn(splitting *s, const double *dU, double *scale)
{
  double *dP = s->v, largest = 0.0;
  memset(dP, 0, (size_t)s->nv * sizeof *dP);
  pol_matrix_multiply_transposed(s->patterns.constraint, s->jacobian, -1.0, dU, dP);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const double *D = s->D + 36 * b;
    for (int i = 0; i < 3 && !body->is_point; i++) {
      double turn = 0.0;
      for (int j = 0; j < 3; j++) turn += D[6 * i + j] * dP[body->v + j];
      largest = fmax(largest, fabs(turn));
    }
  }
  if (largest > 0.5) *scale = 0.5 / largest;
}

/* --- what is shown ---------------------------------------------------------------------------- */

/* Velocities on the constraints, accelerations and multipliers at a node, from the running momenta,
 * which stay as they are: with A = B M^-1 B^T
 *
 *     A mu = B v + Phi_t,  v -= M^-1 B^T mu (twice),   A lambda = B M^-1 (f - w x J w) + gamma */
pol_status poli_splitting_show(splitting *s, double t, double *shown)
{
  double *q = shown, *v = q + s->nq, *vd = v + s->nv, *lambda = vd + s->nv, *P = s->trial;
  memcpy(q, s->q, (size_t)s->nq * sizeof *q);
  memcpy(P, s->P, (size_t)s->nv * sizeof *P);
  memset(s->D, 0, 36 * (size_t)s->bodies->count * sizeof *s->D);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int turn = body->is_point ? 0 : 3;
    for (int i = 0; i < 3 && turn; i++)
      for (int j = 0; j < 3; j++) s->D[36 * b + 6 * i + j] = body->inverse[3 * i + j];
    for (int i = 0; i < body->num_axes && i < 3; i++)
      s->D[36 * b + 7 * (turn + i)] = 1.0 / body->mass;
  }
  pol_status status = POL_OK;
  if (s->m > 0) {
    gather(s, s->jacobian, s->B0);
    memcpy(s->B1, s->B0, sizeof *s->B1 * (size_t)s->sides[s->first_side[s->num_nodes]].address);
    if (factor(s) < 0) return POL_NOT_FINITE;
    for (int pass = 0; pass < 2 && !status; pass++) {
      pol_terms out = {.velocity = s->dU};
      velocities(s, P, v);
      status = evaluate(s, t, q, v, POL_VELOCITY, &out);
      if (status) return status;
      poli_block_lu_solve(s->lu, s->dU);
      pol_matrix_multiply_transposed(s->patterns.constraint, s->jacobian, -1.0, s->dU, P);
    }
  }
  velocities(s, P, v);
  pol_terms out = {.balance = s->force1, .acceleration = lambda};
  extrapolate(s, t, s->U); /* for forces that read reactions */
  status = evaluate(s, t, q, v, POL_FORCE | (s->m > 0 ? POL_ACCELERATION : 0), &out);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) s->force1[i] = -s->force1[i];
  velocities(s, s->force1, vd); /* M^-1 applies to forces as to momenta */
  if (s->m == 0) return POL_OK;
  pol_matrix_multiply(s->patterns.constraint, s->jacobian, 1.0, vd, lambda);
  poli_block_lu_solve(s->lu, lambda);
  pol_matrix_multiply_transposed(s->patterns.constraint, s->jacobian, -1.0, lambda, s->force1);
  velocities(s, s->force1, vd);
  return POL_OK;
}

static void set_state(pol_integrator *integrator, splitting *s, int which, double t)
{
  const double *x = s->out[which];
  s->shown = which;
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
enum { NUM_SAVED = 8 };

static void list_saved(const splitting *s, double *array[NUM_SAVED], size_t size[NUM_SAVED])
{
  const size_t nv = (size_t)s->nv, m = (size_t)s->m;
  double *const arrays[NUM_SAVED] = {s->q,      s->P,        s->force,    s->jacobian,
                                     s->w_last, s->known[0], s->known[1], s->known[2]};
  const size_t sizes[NUM_SAVED] = {(size_t)s->nq,
                                   nv,
                                   nv,
                                   (size_t)pol_pattern_nonzeros(s->patterns.constraint),
                                   3 * (size_t)s->bodies->count,
                                   m,
                                   m,
                                   m};
  memcpy(array, arrays, sizeof arrays);
  memcpy(size, sizes, sizeof sizes);
}

size_t poli_splitting_size(const splitting *s)
{
  double *array[NUM_SAVED];
  size_t size[NUM_SAVED], total = 2 + MAX_KNOWN;
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
  to += MAX_KNOWN;
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
  from += MAX_KNOWN;
  for (int i = 0; i < NUM_SAVED; from += size[i++]) memcpy(array[i], from, size[i] * sizeof *from);
}

const double *poli_splitting_position(const splitting *s)
{
  return s->q;
}

double *poli_splitting_saved(splitting *s)
{
  return s->saved;
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
  return s->force;
}

int poli_splitting_num_stages(const splitting *s)
{
  return s->num_stages;
}

void poli_splitting_momenta(const splitting *s, const double *v, double *P)
{
  momenta(s, v, P);
}

pol_status poli_splitting_place(splitting *s, double t, const double *q, const double *v)
{
  memcpy(s->q, q, (size_t)s->nq * sizeof *q);
  momenta(s, v, s->P);
  return find_forces(s, t, s->q, s->P, s->force, s->jacobian);
}

static pol_status step(pol_integrator *integrator, double t, double h)
{
  splitting *s = integrator->data;
  (void)h;
  s->history = integrator->history;
  s->steps.has_middle = 0;
  integrator->num_substeps = s->num_stages;
  poli_splitting_save(s, s->saved);
  pol_status status = poli_splitting_advance(s, integrator->state.t, t, &integrator->diagnostics);
  if (!status) status = poli_splitting_show(s, t, s->out[1 - s->shown]);
  if (status)
    poli_splitting_restore(s, s->saved);
  else
    set_state(integrator, s, 1 - s->shown, t);
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
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double R[9];
    if (body->is_point) continue;
    pol_quat_to_matrix(q + body->q, R);
    poli_m3_apply(R, v + body->v, s->w_last + 3 * b);
  }
  memcpy(s->known[0], lambda, (size_t)s->m * sizeof *lambda);
  memcpy(s->U, lambda, (size_t)s->m * sizeof *lambda);
  s->known_t[0] = t;
  s->num_known = 1;
  s->last_h = 0.0;
  pol_status status = poli_splitting_place(s, t, q, v);
  if (status) return status;
  memcpy(x, q, (size_t)s->nq * sizeof *x);
  memcpy(x + s->nq, v, (size_t)s->nv * sizeof *x);
  memcpy(x + s->nq + s->nv, vd, (size_t)s->nv * sizeof *x);
  memcpy(x + s->nq + 2 * s->nv, lambda, (size_t)s->m * sizeof *x);
  set_state(integrator, s, 0, t);
  return POL_OK;
}

/* --- life cycle ------------------------------------------------------------------------------- */

/* Stages of the compositions up to the middle one; the rest is symmetric. */
static const struct composition {
  int order, num_stages, degree;
  double first[(MAX_STAGES + 1) / 2];
} compositions[] = {
    {2, 1, 2, {1.0}},
    {4, 5, 2, {0.41449077179437573714, 0.41449077179437573714, -0.65796308717750294857}},
    {6,
     9,
     1,
     {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
      0.08221359629355080023, 0.79854399093482996340}},
    {8,
     17,
     1,
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
  if (dae->feedback)
    return poli_broken_rule("the method does not treat forces that depend on reactions, such as "
                            "friction; geom1 does",
                            message, size);
  return POL_OK;
}

/* B by rows: columns and addresses of the entries start[i] .. start[i + 1] - 1 of row i. */
typedef struct row_list {
  int *start, *column, *address;
} row_list;

static pol_status set_rows(row_list *rows, const pol_pattern *B)
{
  const size_t nonzeros = (size_t)pol_pattern_nonzeros(B);
  rows->start = calloc((size_t)B->rows + 2, sizeof *rows->start);
  rows->column = malloc((nonzeros + 1) * sizeof *rows->column);
  rows->address = malloc((nonzeros + 1) * sizeof *rows->address);
  if (!rows->start || !rows->column || !rows->address) return POL_NO_MEMORY;
  for (size_t k = 0; k < nonzeros; k++) rows->start[B->row[k] + 2]++;
  for (int i = 0; i < B->rows; i++) rows->start[i + 2] += rows->start[i + 1];
  for (int j = 0; j < B->cols; j++)
    for (int k = B->start[j]; k < B->start[j + 1]; k++) {
      const int to = rows->start[B->row[k] + 1]++;
      rows->column[to] = j;
      rows->address[to] = k;
    }
  return POL_OK;
}

/* Rows one behind the other that have the same columns make a node, its bodies are its sides. */
static pol_status find_nodes(splitting *s, const row_list *rows)
{
  const size_t nonzeros = (size_t)rows->start[s->m];
  int num_sides = 0, num_addresses = 0;
  int *of_body = malloc(((size_t)s->nv + 1) * sizeof *of_body);
  s->first_row = calloc((size_t)s->m + 2, sizeof *s->first_row);
  s->first_side = calloc((size_t)s->m + 2, sizeof *s->first_side);
  s->sides = calloc(nonzeros + 1, sizeof *s->sides);
  s->addresses = malloc((nonzeros * AXES + 1) * sizeof *s->addresses);
  if (!of_body || !s->first_row || !s->first_side || !s->sides || !s->addresses) {
    free(of_body);
    return POL_NO_MEMORY;
  }
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    for (int k = 0; k < dimension(body); k++) of_body[body->v + k] = b;
  }
  for (int i = 0, end; i < s->m; i = end) {
    const int first = num_sides, count = rows->start[i + 1] - rows->start[i];
    const int *column = rows->column + rows->start[i];
    for (end = i + 1; end < s->m && end - i < MAX_ROWS; end++)
      if (rows->start[end + 1] - rows->start[end] != count ||
          memcmp(rows->column + rows->start[end], column, (size_t)count * sizeof *column) != 0)
        break;
    for (int k = 0; k < count; k++)
      if (num_sides == first || s->sides[num_sides - 1].body != of_body[column[k]])
        s->sides[num_sides++].body = of_body[column[k]];
    s->first_row[s->num_nodes] = i;
    s->first_side[s->num_nodes++] = first;
    for (int e = first; e < num_sides; e++) {
      const poli_rigid_body *body = &s->bodies->items[s->sides[e].body];
      s->sides[e].dim = dimension(body);
      s->sides[e].address = num_addresses;
      for (int row = i; row < end; row++)
        for (int k = 0; k < s->sides[e].dim; k++, num_addresses++) {
          s->addresses[num_addresses] = -1;
          for (int c = rows->start[row]; c < rows->start[row + 1]; c++)
            if (rows->column[c] == body->v + k) s->addresses[num_addresses] = rows->address[c];
        }
    }
  }
  s->first_row[s->num_nodes] = s->m;
  s->first_side[s->num_nodes] = num_sides;
  s->sides[num_sides].address = num_addresses;
  free(of_body);
  return POL_OK;
}

/* Two sides of one body add to a block of the matrix; those of different nodes make an edge. */
static pol_status pair_sides(splitting *s)
{
  const int num_sides = s->first_side[s->num_nodes], bodies = s->bodies->count;
  size_t num_pairs = 0;
  int num_edges = 0;
  int *size = malloc(((size_t)s->num_nodes + 1) * sizeof *size);
  int *node_of = malloc(((size_t)num_sides + 1) * sizeof *node_of);
  int *first = calloc((size_t)bodies + 2, sizeof *first); /* sides by bodies: */
  int *sorted = malloc(((size_t)num_sides + 1) * sizeof *sorted), (*edges)[2] = NULL;
  pol_status status = POL_NO_MEMORY;
  if (!size || !node_of || !first || !sorted) goto done;
  for (int n = 0; n < s->num_nodes; n++) {
    size[n] = s->first_row[n + 1] - s->first_row[n];
    for (int e = s->first_side[n]; e < s->first_side[n + 1]; e++) {
      node_of[e] = n;
      first[s->sides[e].body + 2]++;
    }
  }
  for (int b = 0; b < bodies; b++) {
    num_pairs += (size_t)first[b + 2] * (size_t)first[b + 2];
    first[b + 2] += first[b + 1];
  }
  for (int e = 0; e < num_sides; e++) sorted[first[s->sides[e].body + 1]++] = e;
  s->pairs = calloc(num_pairs + 1, sizeof *s->pairs);
  edges = malloc((num_pairs + 1) * sizeof *edges);
  if (!s->pairs || !edges) goto done;
  for (int b = 0; b < bodies; b++)
    for (int i = first[b]; i < first[b + 1]; i++)
      for (int j = first[b]; j < first[b + 1]; j++) {
        const int row = node_of[sorted[i]], col = node_of[sorted[j]];
        s->pairs[s->num_pairs++] = (struct pair){
            .row_side = sorted[i], .col_side = sorted[j], .rows = size[row], .cols = size[col]};
        if (row >= col) continue;
        edges[num_edges][0] = row;
        edges[num_edges++][1] = col;
      }
  status = poli_block_lu_create(&s->lu, s->num_nodes, size, num_edges, (const int(*)[2])edges);
  for (int p = 0; p < s->num_pairs && !status; p++)
    s->pairs[p].block =
        poli_block_lu_address(s->lu, node_of[s->pairs[p].row_side], node_of[s->pairs[p].col_side]);
done:
  free(size);
  free(node_of);
  free(first);
  free(sorted);
  free(edges);
  return status;
}

static pol_status allocate(splitting *s)
{
  const size_t nq = (size_t)s->nq, nv = (size_t)s->nv, m = (size_t)s->m;
  const size_t entries = (size_t)pol_pattern_nonzeros(s->patterns.constraint);
  const size_t coupling = s->saddle ? (size_t)pol_pattern_nonzeros(s->patterns.coupling) : 0;
  const size_t bodies = (size_t)s->bodies->count;
  const size_t blocks = (size_t)s->sides[s->first_side[s->num_nodes]].address;
  const struct {
    double **array;
    size_t size;
  } arrays[] = {{&s->q, nq},
                {&s->q1, nq},
                {&s->P, nv},
                {&s->P1, nv},
                {&s->force, nv},
                {&s->force1, nv},
                {&s->v, nv},
                {&s->trial, nv},
                {&s->U, m},
                {&s->dU, m},
                {&s->residual, m},
                {&s->jacobian, entries},
                {&s->jacobian1, entries},
                {&s->D, 36 * bodies},
                {&s->B0, blocks},
                {&s->B1, blocks},
                {&s->w_half, 3 * bodies},
                {&s->w_last, 3 * bodies},
                {&s->known[0], m},
                {&s->known[1], m},
                {&s->known[2], m},
                {&s->out[0], nq + 2 * nv + m},
                {&s->out[1], nq + 2 * nv + m},
                {&s->mass, coupling},
                {&s->damping, coupling},
                {&s->lower, s->saddle ? entries : 0},
                {&s->rhs, nv + m},
                {&s->saved, poli_splitting_size(s)},
                {&s->scratch, s->dae->scratch_size}};
  for (int pass = 0; pass < 2; pass++) {
    size_t total = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
      if (pass) *arrays[i].array = s->memory + total;
      total += arrays[i].size;
    }
    if (!pass) s->memory = calloc(total + 1, sizeof *s->memory);
    if (!s->memory) return POL_NO_MEMORY;
  }
  return POL_OK;
}

static void destroy(void *data)
{
  splitting *s = data;
  poli_block_lu_free(&s->lu);
  poli_saddle_free(&s->saddle);
  poli_dae_patterns_free(&s->patterns);
  free(s->steps.memory);
  free(s->first_row);
  free(s->first_side);
  free(s->sides);
  free(s->addresses);
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
  for (int i = 0; i < s->num_stages; i++) {
    const int mirrored = i < s->num_stages / 2 + 1 ? i : s->num_stages - 1 - i;
    s->stage[i] = composition->first[mirrored];
  }
  s->nq = s->dae->group.nq;
  s->nv = s->dae->group.nv;
  s->m = pol_dae_num_constraints(s->dae);
  pol_status status = poli_dae_patterns_create(&s->patterns, s->dae);
  row_list rows = {0};
  if (!status) status = set_rows(&rows, s->patterns.constraint);
  if (!status) status = find_nodes(s, &rows);
  if (!status) status = pair_sides(s);
  free(rows.start);
  free(rows.column);
  free(rows.address);
  s->dropped = pol_assembler_dropped(integrator->assembler);
  if (!status && s->bodies->forces_read_velocities)
    status = poli_saddle_create(&s->saddle, s->dae, 0, integrator->options.solver);
  if (!status) status = allocate(s);
  return status ? status : poli_splitting_steps_create(integrator);
}

const poli_family poli_splitting = {.supports = supports,
                                    .create = create,
                                    .destroy = destroy,
                                    .start = start,
                                    .step = step,
                                    .adaptive = &poli_splitting_adaptive,
                                    .interpolate = poli_splitting_interpolate};
