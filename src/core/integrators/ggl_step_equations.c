/* The midpoint and energy-momentum methods for a mass matrix that depends on q: the model gives the
 * equations of a step and their derivatives (dae/step_equations.h), with the unknowns and the
 * layout that vi-a, em, em-g and midpoint have for a constant one (ggl_equations.c).  The matrix is
 * exact with every kind of Newton iteration. */
#include <string.h>

#include "integrators/ggl.h"

static poli_step_data step_data(const poli_ggl *s)
{
  return (poli_step_data){.t = s->t,
                          .h = s->h,
                          .q0 = s->now.q,
                          .v0 = s->now.v,
                          .p0 = s->now.p,
                          .a = s->a,
                          .b = s->b,
                          .lambda = s->lambda,
                          .gamma = s->scheme->has_velocity ? s->gamma : NULL,
                          .history = s->history,
                          .midway = s->scheme->midway,
                          .discrete = s->scheme->discrete};
}

pol_status poli_ggl_step_residual(poli_ggl *s, double *r)
{
  const poli_step_data at = step_data(s);
  const poli_step_terms out = {
      .kinematic = r, .balance = r + s->nv, .position = s->position, .velocity = s->velocity};
  memset(s->position, 0, (size_t)s->m * sizeof *s->position);
  memset(s->velocity, 0, (size_t)s->m * sizeof *s->velocity);
  pol_status status =
      s->equations->evaluate(&at, POLI_STEP_RESIDUAL, &out, s->scratch, s->dae->user);
  if (!status) poli_ggl_put_constraints(s, r);
  return status;
}

pol_status poli_ggl_step_matrix(poli_ggl *s)
{
  enum { KINEMATIC, BALANCE, POSITION, VELOCITY, A = 0, B, LAMBDA, GAMMA };
  const poli_step_data at = step_data(s);
  const poli_step_terms *found = &s->step_terms;
  poli_blocks *m = s->blocks;
  memset(s->step_values, 0, s->num_step_values * sizeof *s->step_values);
  pol_status status =
      s->equations->evaluate(&at, POLI_STEP_MATRIX, found, s->scratch, s->dae->user);
  if (status) return status;
  poli_blocks_add(m, KINEMATIC, A, 1.0, found->kinematic_a);
  poli_blocks_add(m, KINEMATIC, B, 1.0, found->kinematic_b);
  poli_blocks_add(m, BALANCE, A, 1.0, found->balance_a);
  poli_blocks_add(m, BALANCE, B, 1.0, found->balance_b);
  poli_blocks_add(m, BALANCE, LAMBDA, 1.0, found->balance_lambda);
  poli_blocks_add(m, POSITION, A, 1.0, found->position_a);
  if (!s->scheme->has_velocity) return POL_OK;
  poli_blocks_add(m, KINEMATIC, GAMMA, 1.0, found->kinematic_gamma);
  poli_blocks_add(m, BALANCE, GAMMA, 1.0, found->balance_gamma);
  poli_blocks_add(m, VELOCITY, A, 1.0, found->velocity_a);
  poli_blocks_add(m, VELOCITY, B, 1.0, found->velocity_b);
  return POL_OK;
}

/* v_{n+1} = b, p_{n+1} = M b; vi-a: p_{n+1} = 2 M b - p_n with M halfway */
pol_status poli_ggl_step_finish(poli_ggl *s)
{
  int midway = s->scheme->midway;
  memcpy(s->next.v, s->b, (size_t)s->nv * sizeof *s->b);
  poli_ggl_momenta(s, midway ? s->q_between : s->next.q, s->b, s->next.p);
  for (int i = 0; i < s->nv && midway; i++) s->next.p[i] = 2.0 * s->next.p[i] - s->now.p[i];
  return POL_OK;
}
