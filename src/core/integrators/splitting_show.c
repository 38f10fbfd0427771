/* What splitting.c shows at a node: velocities on the constraints, accelerations and reactions; and
 * the bound of dampers for its steps. */
#include <stdio.h>
#include <string.h>

#include "integrators/splitting_parts.h"
#include "lie/small.h"

/* The accelerations w x (w x r) of points that are joined, for v' = 0. */
static void set_joined_bends(const splitting *s, const double *B, const double *v, double *bend)
{
  for (int n = 0; n < s->bodies->num_nodes; n++) {
    const poli_row_node *node = &s->bodies->nodes[n];
    if (node->joins) memset(bend + node->row, 0, 3 * sizeof *bend);
  }
  for (int b = 0; b < s->bodies->count; b++) {
    const double *w = v + s->bodies->items[b].v;
    for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++) {
      const poli_row_side *own = &s->space->sides[e];
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
    const pol_status status = poli_splitting_evaluate(s, t, at->q, v, want, &out);
    if (status) return status;
  }
  set_joined_bends(s, at->B, s->v, acceleration);
  if (!weight_only) {
    for (int i = 0; i < s->nv; i++) s->force[i] = -s->force[i];
    poli_splitting_turn(s, at->R, 1, s->force, s->force);
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
  if (poli_splitting_factor_node(s, at) < 0) return POL_NOT_FINITE;
  if (s->m > 0) {
    if (s->bodies->constraints_move) { /* Phi_t: the velocities of constraints at rest */
      pol_terms out = {.velocity = lambda};
      memset(vd, 0, (size_t)s->nv * sizeof *vd);
      status = poli_splitting_evaluate(s, t, at->q, vd, POL_VELOCITY, &out);
    }
    if (status) return status;
  }
  for (int pass = 0; pass < 3; pass++) { /* once is enough, up to round-off */
    poli_splitting_respond(s, at->B, pass ? s->dU : NULL, P, s->v, s->slip);
    for (int i = 0; i < s->held && s->bodies->constraints_move; i++) s->slip[i] += lambda[i];
    for (int i = s->held; i < s->m; i++) s->slip[i] = 0.0;
    if (poli_splitting_largest(s->held, s->slip) <= 1e-15 * poli_splitting_largest(s->nv, s->v) ||
        pass == 2)
      break;
    memcpy(s->dU, s->slip, (size_t)s->m * sizeof *s->dU);
    poli_splitting_solve_node(s, at, s->dU);
  }
  poli_splitting_turn(s, at->R, 0, s->v, v);
  if (s->assembler)
    return pol_assembler_acceleration(s->assembler, t, at->q, v, vd, vd + s->nv, &s->reason);
  status = find_acceleration_terms(s, t, at, P, v, lambda);
  if (status) return status;
  if (s->m > 0) {
    poli_splitting_respond(s, at->B, NULL, s->force, vd, s->dU);
    for (int i = 0; i < s->m; i++) lambda[i] = i < s->held ? lambda[i] + s->dU[i] : 0.0;
    poli_splitting_solve_node(s, at, lambda);
  }
  poli_splitting_respond(s, at->B, s->m > 0 ? lambda : NULL, s->force, vd, NULL);
  poli_splitting_turn(s, at->R, 0, vd, vd);
  if (s->m > 0) poli_row_space_turn(s->space, at->R, 1, lambda);
  for (int i = 0; i < s->held && s->turned; i++) lambda[i] = s->dropped[i] ? 0.0 : lambda[i];
  memcpy(vd + s->nv, lambda, (size_t)s->held * sizeof *lambda);
  return POL_OK;
}
