/* Steady rotation: equilibrium in axes that rotate with a constant angular velocity f about a fixed
 * line.
 *
 * All bodies move as one rigid body, Omega = R^T f and x' = f x (x - c), except those that joints
 * hold at rest, such as a housing fixed to the ground.  With an increment w of the configuration
 * the velocities change by v = G w, and v' stays T v (polhode/analysis.h): the equilibrium of
 * statics.c with the balance
 *
 *     M T v + g(q, v, lambda) + B^T lambda = 0
 *
 * and the stiffness K + (M T + D) G, which has the softening by the rotation; the stiffening by
 * centrifugal forces is in K.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"
#include "lie/small.h"

/* Velocities, T and G of the configuration q at `factor` times the angular velocity. */
static void set_velocities(poli_rotation *r, const double *q, double *v, double *vd)
{
  const pol_formulation *f = r->analysis->formulation;
  double rate[3];
  poli_v3_scale(r->factor, r->rate, rate);
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const int rotations = body->chart->num_rotations;
    double *u = v + body->v, *G = r->axes.G + body->v, *T = r->axes.T + body->v, R[9], arm[3];
    if (body->reference != i) continue; /* an interface has the coordinates of its body */
    memset(u, 0, (size_t)body->chart->dim * sizeof *u);
    memset(vd + body->v, 0, (size_t)body->chart->dim * sizeof *u);
    memset(G, 0, (size_t)body->chart->dim * sizeof *u);
    memset(T, 0, (size_t)body->chart->dim * sizeof *u);
    if (r->rests[i]) continue;
    if (rotations) {
      pol_quat_to_matrix(q + body->q, R);
      poli_m3_apply_transposed(R, rate, G);
      poli_v3_copy(G, u);
    }
    poli_v3_subtract(q + body->q + (rotations ? 4 : 0), r->centre, arm);
    poli_v3_cross(rate, arm, u + rotations);
    poli_v3_cross(rate, u + rotations, vd + body->v + rotations);
    poli_v3_copy(rate, G + rotations);
    poli_v3_copy(rate, T + rotations);
  }
}

void poli_rotation_apply(poli_rotation *r)
{
  set_velocities(r, r->analysis->q, r->analysis->v, r->analysis->vd);
}

void poli_rotation_add_stiffness(const poli_rotation *r, poli_terms *terms)
{
  const pol_pattern *coupling = terms->patterns.coupling;
  memcpy(r->left, terms->damping, (size_t)pol_pattern_nonzeros(coupling) * sizeof *r->left);
  poli_axes_add_columns(&r->axes, r->axes.T, coupling, terms->mass, r->left);
  poli_axes_add_columns(&r->axes, r->axes.G, coupling, r->left, terms->stiffness);
}

/* Turns vectors of the bodies, velocities or forces, about the axis by the rotation E: rotations
 * are in body axes and stay; so do bodies at rest.  q (may be NULL): a configuration, likewise. */
static void turn(const poli_rotation *r, const double E[4], double *vectors, double *q)
{
  const pol_formulation *f = r->analysis->formulation;
  double R[9], arm[3], turned[3];
  pol_quat_to_matrix(E, R);
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const int rotations = body->chart->num_rotations;
    double *u = vectors + body->v + rotations;
    if (r->rests[i] || body->reference != i) continue;
    poli_m3_apply(R, u, turned);
    poli_v3_copy(turned, u);
    if (!q) continue;
    double *x = q + body->q + (rotations ? 4 : 0);
    if (rotations) pol_quat_multiply(E, q + body->q, q + body->q);
    poli_v3_subtract(x, r->centre, arm);
    poli_m3_apply(R, arm, turned);
    poli_v3_add(r->centre, turned, x);
  }
}

/* The constraint on velocities that is violated the most, relative to the speed; -1 if all hold. */
static int violated(poli_rotation *r, const pol_point *at, pol_status *status)
{
  const pol_analysis *a = r->analysis;
  const int m = pol_dae_num_constraints(a->dae);
  const pol_terms out = {.velocity = r->rows};
  const double speed = sqrt(poli_v3_dot(r->rate, r->rate)) * (1.0 + a->length);
  int worst = -1;
  double most = 1e-8 * speed;
  *status = poli_dae_evaluate(a->dae, at, POL_VELOCITY, &out, r->scratch);
  for (int i = 0; i < m && !*status; i++)
    if (!(fabs(r->rows[i]) <= most)) {
      most = fabs(r->rows[i]);
      worst = i;
    }
  return worst;
}

static pol_status fail_at(const poli_rotation *r, int equation, const char *message,
                          const char *advice, pol_diagnostics *diagnostics)
{
  const pol_dae *dae = r->analysis->dae;
  if (diagnostics) {
    diagnostics->equation = equation;
    if (equation >= dae->group.nv && dae->describe)
      dae->describe(equation, diagnostics->where, sizeof diagnostics->where, dae->user);
    else if (equation >= 0)
      poli_analysis_name_motion(r->analysis, equation, diagnostics->where,
                                sizeof diagnostics->where);
  }
  return poli_analysis_fail(r->analysis, POL_NOT_CONVERGED, message, advice, diagnostics);
}

/* Bodies that are held by the ground, or by one that is, do not rotate. */
static pol_status find_resting(poli_rotation *r, pol_diagnostics *diagnostics)
{
  pol_analysis *a = r->analysis;
  const pol_formulation *f = a->formulation;
  const pol_pattern *constraint = r->constraint;
  for (;;) {
    pol_status status;
    poli_rotation_apply(r);
    const pol_point at = pol_state_point(&a->state);
    const int row = violated(r, &at, &status);
    if (status || row < 0) return status;
    int moving = -1, count = 0;
    for (int i = 0; i < f->num_bodies; i++) {
      const poli_placed_body *body = &f->bodies[i];
      int is_in = 0;
      for (int k = 0; k < body->chart->dim && !is_in; k++)
        is_in = pol_pattern_address(constraint, row, body->v + k) >= 0;
      if (!is_in || r->rests[i] || body->reference != i) continue;
      moving = i;
      count++;
    }
    if (count != 1)
      return fail_at(r, a->dae->group.nv + row,
                     "there is no steady rotation: this constraint does not allow it",
                     "use the angular velocity and the axis that joints and drives allow",
                     diagnostics);
    r->rests[moving] = 1;
  }
}

pol_status poli_rotation_create(poli_rotation **rotation, pol_analysis *analysis,
                                const double rate[3], const double centre[3],
                                const pol_pattern *coupling, const pol_pattern *constraint,
                                pol_diagnostics *diagnostics)
{
  const pol_dae *dae = analysis->dae;
  const int nv = dae->group.nv;
  poli_rotation *r = *rotation = calloc(1, sizeof *r);
  if (!r) return POL_NO_MEMORY;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, nv, &r->axes.T, &r->axes.G, &r->v, &r->vd);
    POLI_TAKE_EACH(&arena, nv, &r->balance, &r->turned, &r->w);
    POLI_TAKE(&arena, r->q, dae->group.nq);
    POLI_TAKE(&arena, r->rows, pol_dae_num_constraints(dae));
    POLI_TAKE(&arena, r->left, pol_pattern_nonzeros(coupling));
    POLI_TAKE(&arena, r->scratch, dae->scratch_size);
    POLI_TAKE(&arena, r->rests, analysis->formulation->num_bodies);
  } while (poli_arena_again(&arena));
  r->memory = arena.memory;
  if (!r->memory) return POL_NO_MEMORY;
  r->analysis = analysis;
  r->axes.group = &dae->group;
  r->constraint = constraint;
  r->factor = 1.0;
  poli_v3_copy(rate, r->rate);
  poli_v3_copy(centre, r->centre);
  return find_resting(r, diagnostics);
}

void poli_rotation_free(poli_rotation **rotation)
{
  if (!rotation || !*rotation) return;
  free((*rotation)->memory);
  free(*rotation);
  *rotation = NULL;
}

/* Forces and inertia, without reactions, at a configuration that is disturbed by `size`, turned by
 * an angle, which takes the time angle/|f|; in axes that turn too.  *row is a constraint on
 * velocities that is violated there, if nothing is disturbed, or -1. */
static pol_status turned_balance(poli_rotation *r, double size, double angle, double *balance,
                                 int *row)
{
  pol_analysis *a = r->analysis;
  const int nv = a->dae->group.nv, moving = poli_analysis_first_state(a);
  const double speed = sqrt(poli_v3_dot(r->rate, r->rate));
  double axis[3], E[4], back[4];
  poli_v3_scale(angle / speed, r->rate, axis);
  pol_so3_exp(axis, E);
  pol_quat_conjugate(E, back);
  memset(r->w, 0, (size_t)nv * sizeof *r->w);
  for (int i = 0; i < a->formulation->num_bodies; i++) {
    const poli_placed_body *body = &a->formulation->bodies[i];
    for (int k = 0; k < body->chart->dim; k++)
      r->w[body->v + k] = size * (k < body->chart->num_rotations ? 1.0 : a->length) *
                          sin(1.0 + 7.0 * (body->v + k));
  }
  pol_group_move(&a->dae->group, a->q, r->w, r->q);
  memcpy(r->v, a->v, (size_t)nv * sizeof *r->v);
  set_velocities(r, r->q, r->v, r->vd);
  for (int i = 0; i < moving; i++) r->v[i] += speed * r->w[i];
  turn(r, E, r->vd, NULL);
  turn(r, E, r->v, r->q);
  pol_point at = pol_state_point(&a->state);
  at.t += angle / speed;
  at.q = r->q;
  at.v = r->v;
  at.vd = r->vd;
  pol_status status = POL_OK;
  *row = size > 0.0 ? -1 : violated(r, &at, &status);
  if (status) return status;
  status = poli_dae_evaluate(a->dae, &at, POL_INERTIA | POL_FORCE, &(pol_terms){.balance = balance},
                             r->scratch);
  turn(r, back, balance, NULL);
  return status;
}

/* What holds at this instant must hold along the whole turn: forces of the equilibrium, and of
 * configurations near it, which have its stiffness. */
pol_status poli_rotation_check(poli_rotation *r, pol_diagnostics *diagnostics)
{
  static const double sizes[] = {0.0, 1e-3}, angles[] = {1.0, 2.4};
  const pol_analysis *a = r->analysis;
  for (int k = 0; k < 4; k++) {
    int row, worst = -1;
    pol_status status = turned_balance(r, sizes[k / 2], 0.0, r->balance, &row);
    if (!status) status = turned_balance(r, sizes[k / 2], angles[k % 2], r->turned, &row);
    if (status) return status;
    if (row >= 0)
      return fail_at(r, a->dae->group.nv + row,
                     "the rotation is not steady: this constraint changes along the turn",
                     "use a drive with a constant speed, about the axis of the rotation",
                     diagnostics);
    for (int i = 0; i < a->dae->group.nv; i++) {
      r->w[i] = r->turned[i] - r->balance[i];
      r->turned[i] = fabs(r->turned[i]) + fabs(r->balance[i]);
    }
    double change, size;
    worst = poli_analysis_largest(a, r->w, &change);
    poli_analysis_largest(a, r->turned, &size);
    if (worst >= 0 && change > 1e-7 * size)
      return fail_at(r, worst,
                     "the rotation is not steady: forces on this body change along the turn",
                     "gravity and other forces of the ground must be along the axis of the "
                     "rotation, or the same all around it",
                     diagnostics);
  }
  poli_rotation_apply(r); /* T and G of the equilibrium */
  return POL_OK;
}
