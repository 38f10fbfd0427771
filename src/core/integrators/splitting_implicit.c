/* The implicit first kick of splitting.c: forces that depend on velocities.
 *
 * Forces that depend on velocities make the first kick implicit: Newton's method for P+ and U
 * together, in velocities V = M^-1 P+ in body axes,
 *
 *     [ M + h/2 (C - G)   B0^T ] [ dV ]      [ P+ - P - h/2 f + B0^T U ]
 *     [ B1 D M            0    ] [ dU ]  = - [ residual                ]
 *
 * with C = dg/dv, of which G = d(w x J w)/dw belongs to the drift.  Compliant rows with the
 * residual r, W1 D M dV - g dU = -r, are eliminated: they add W0^T W1 D M / g to M, and -W0^T r / g
 * to the right-hand side. */
#include <math.h>
#include <string.h>

#include "integrators/splitting_parts.h"
#include "lie/small.h"

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

pol_status poli_splitting_factor_implicit(splitting *s, double t0, double h, const instant *at,
                                          const instant *next)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  pol_terms out = {.mass = s->mass, .damping = s->damping};
  poli_splitting_velocities(s, at->R, s->plus, s->v);
  poli_splitting_turn(s, at->R, 0, s->v, s->v);
  pol_status status = poli_splitting_evaluate(
      s, t0, at->q, s->v, POL_MASS | POL_DAMPING | POLI_WITHOUT_COMPLIANT, &out);
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

pol_status poli_splitting_find_lack(splitting *s, double t0, double h, instant *at, double *open)
{
  double size = 0.0, largest = 0.0;
  const pol_status status = poli_splitting_find_forces(s, t0, at->q, at->R, s->plus, at->force);
  if (status) return status;
  for (int b = 0; b < s->bodies->count; b++) kick(s, b, h, at, s->rhs + s->bodies->items[b].v);
  for (int i = 0; i < s->nv; i++) {
    s->rhs[i] -= s->plus[i];
    largest = fmax(largest, fabs(s->rhs[i]));
    size = fmax(size, fmax(fabs(s->plus[i]), fabs(0.5 * h * at->force[i])));
  }
  poli_splitting_turn(s, at->R, 0, s->rhs, s->rhs);
  *open = size > 0.0 ? largest / size : 0.0;
  return POL_OK;
}

void poli_splitting_solve_implicit(splitting *s, const instant *at)
{
  for (int i = 0; i < s->held; i++) s->rhs[s->nv + i] = s->dropped[i] ? 0.0 : -s->residual[i];
  eliminate_compliant(s, 0);
  pol_solver_solve(s->saddle->solver, s->rhs);
  eliminate_compliant(s, 1);
  poli_splitting_momenta(s, at->R, s->rhs, s->v);
  for (int i = 0; i < s->nv; i++) s->plus[i] += s->v[i];
  for (int i = 0; i < s->held; i++) s->U[i] += s->rhs[s->nv + i];
}
