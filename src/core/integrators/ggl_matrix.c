/* Newton matrices of the variational and energy-momentum methods: the derivatives of the residuals
 * in ggl_equations.c by the scaled unknowns (a, b, c, h lambda, gamma).
 *
 * H(q, l) = d(G^T l)/dq is the geometric stiffness, so that d(Z^T gamma)/dv = H(q, gamma); with it
 * the matrices are exact for constraints that are at most quadratic.  Third derivatives of other
 * constraints are left out.
 */
#include <string.h>

#include "dae/dae.h"
#include "integrators/ggl.h"

enum { A = 0, B = 1, C = 2 }; /* block columns of the vectors */

/* Block columns of lambda and gamma, and block rows of position and velocity. */
static int at_lambda(const poli_ggl *s)
{
  return s->scheme->num_vectors;
}

static int at_gamma(const poli_ggl *s)
{
  return s->scheme->num_vectors + 1;
}

static int is_exact(const poli_ggl *s)
{
  return s->options->newton.kind != POL_NEWTON_SIMPLIFIED;
}

/* G and, if v is given, Z at a point. */
static pol_status evaluate_jacobian(poli_ggl *s, double t, const double *q, const double *v)
{
  const pol_terms out = {.jacobian = s->jacobian, .curvature = s->curvature};
  return poli_ggl_evaluate(s, t, q, v, NULL, POL_JACOBIAN | (v ? POL_CURVATURE : 0u), &out);
}

/* K and D into the arrays of s */
static pol_status evaluate_stiffness(poli_ggl *s, double t, const double *q, const double *v)
{
  const pol_terms out = {.stiffness = s->stiffness, .damping = s->damping};
  return poli_ggl_evaluate(s, t, q, v, NULL, POL_STIFFNESS | POL_DAMPING, &out);
}

/* H(q, multipliers) into s->stiffness */
static pol_status evaluate_geometric(poli_ggl *s, double t, const double *q, const double *v,
                                     const double *multipliers)
{
  const pol_terms out = {.stiffness = s->stiffness};
  return poli_ggl_evaluate(s, t, q, v, multipliers, POL_GEOMETRIC_STIFFNESS, &out);
}

pol_status poli_ggl_matrix(void *ggl)
{
  poli_ggl *s = ggl;
  poli_blocks_clear(s->blocks);
  pol_status status = s->equations ? poli_ggl_step_matrix(s) : s->scheme->matrix(s);
  if (!status && s->dropped) poli_blocks_drop(s->blocks, s->dropped);
  return status;
}

/* --- vi-s ------------------------------------------------------------------------------------- */

pol_status poli_ggl_matrix_vi_s(poli_ggl *s)
{
  enum { KINEMATIC, BALANCE, MOMENTUM, POSITION, VELOCITY };
  poli_blocks *m = s->blocks;
  double h = s->h, t_end = poli_ggl_time(s, 1.0);
  poli_blocks_add(m, KINEMATIC, A, 1.0, s->mass);
  poli_blocks_add(m, KINEMATIC, C, -1.0, s->mass);
  poli_blocks_add(m, BALANCE, C, 1.0, s->mass);
  poli_blocks_add(m, BALANCE, at_lambda(s), 1.0, s->old_jacobian);
  poli_blocks_add(m, MOMENTUM, B, 1.0, s->mass);
  poli_blocks_add(m, MOMENTUM, C, -1.0, s->mass);

  pol_status status = evaluate_jacobian(s, t_end, s->next.q, NULL);
  if (status) return status;
  poli_blocks_add(m, POSITION, A, 1.0, s->jacobian);
  status = evaluate_jacobian(s, t_end, s->q_between, s->b);
  if (status) return status;
  poli_blocks_add(m, KINEMATIC, at_gamma(s), -1.0, s->jacobian);
  poli_blocks_add(m, VELOCITY, B, 1.0, s->jacobian);
  if (!is_exact(s)) return POL_OK;

  poli_blocks_add(m, MOMENTUM, at_gamma(s), h, s->curvature);
  poli_blocks_add(m, VELOCITY, C, h, s->curvature);
  status = evaluate_stiffness(s, s->t, s->now.q, s->c);
  if (status) return status;
  poli_blocks_add(m, BALANCE, C, h, s->damping);
  status = evaluate_geometric(s, t_end, s->q_between, s->b, s->gamma);
  poli_blocks_add(m, KINEMATIC, C, -h, s->stiffness);
  poli_blocks_add(m, MOMENTUM, B, h, s->stiffness);
  return status;
}

/* --- the midpoint methods --------------------------------------------------------------------- */

/* What the forces and multipliers between q_n and q_{n+1} add to the balance. */
static pol_status add_midpoint_stiffness(poli_ggl *s)
{
  enum { KINEMATIC, BALANCE };
  poli_blocks *m = s->blocks;
  double h = s->h, k = s->scheme->mean, t_mid = poli_ggl_time(s, 0.5);
  pol_status status;
  int nonzeros = pol_pattern_nonzeros(m->saddle->patterns.coupling);
  if (s->scheme->discrete && s->dae->discrete_force) {
    const pol_point at = {
        .t = t_mid, .q = s->next.q, .v = s->mean_v, .vd = s->zero, .history = s->history};
    const pol_terms out = {.stiffness = s->stiffness, .damping = s->damping};
    memset(s->stiffness, 0, (size_t)nonzeros * sizeof *s->stiffness);
    memset(s->damping, 0, (size_t)nonzeros * sizeof *s->damping);
    status = s->dae->discrete_force(s->now.q, &at, POL_STIFFNESS | POL_DAMPING, &out, s->scratch,
                                    s->dae->user);
    poli_blocks_add(m, BALANCE, A, h * h, s->stiffness);
  } else {
    status = evaluate_stiffness(s, t_mid, s->q_between, s->mean_v);
    poli_blocks_add(m, BALANCE, A, 0.5 * h * h, s->stiffness);
  }
  if (status) return status;
  poli_blocks_add(m, BALANCE, B, k * h, s->damping);
  status = evaluate_geometric(s, t_mid, s->q_between, s->mean_v, s->lambda);
  if (status) return status;
  poli_blocks_add(m, BALANCE, A, 0.5 * h, s->stiffness);
  if (!s->scheme->has_velocity) return POL_OK;
  status = evaluate_geometric(s, t_mid, s->q_between, s->mean_v, s->gamma);
  poli_blocks_add(m, KINEMATIC, A, -0.5 * h, s->stiffness);
  poli_blocks_add(m, BALANCE, B, k * h, s->stiffness);
  return status;
}

pol_status poli_ggl_matrix_midpoint(poli_ggl *s)
{
  enum { KINEMATIC, BALANCE, POSITION, VELOCITY };
  poli_blocks *m = s->blocks;
  double h = s->h, k = s->scheme->mean, share = s->scheme->share;
  poli_blocks_add(m, KINEMATIC, A, 1.0, s->mass);
  poli_blocks_add(m, KINEMATIC, B, -k, s->mass);
  poli_blocks_add(m, BALANCE, B, 2.0 * k, s->mass);

  pol_status status = evaluate_jacobian(s, poli_ggl_time(s, 0.5), s->q_between, s->mean_v);
  if (status) return status;
  poli_blocks_add(m, BALANCE, at_lambda(s), 1.0, s->jacobian);
  if (s->scheme->has_velocity) {
    poli_blocks_add(m, KINEMATIC, at_gamma(s), -1.0, s->jacobian);
    if (is_exact(s)) poli_blocks_add(m, BALANCE, at_gamma(s), h, s->curvature);
  }
  status = evaluate_jacobian(s, poli_ggl_time(s, share), s->q_constraint, s->b);
  if (status) return status;
  poli_blocks_add(m, POSITION, A, share, s->jacobian);
  if (s->scheme->has_velocity) {
    poli_blocks_add(m, VELOCITY, B, 1.0, s->jacobian);
    if (is_exact(s)) poli_blocks_add(m, VELOCITY, A, share * h, s->curvature);
  }
  return is_exact(s) ? add_midpoint_stiffness(s) : POL_OK;
}

/* --- vi-b ------------------------------------------------------------------------------------- */

pol_status poli_ggl_matrix_vi_b(poli_ggl *s)
{
  enum { KINEMATIC, BALANCE, POSITION, VELOCITY };
  poli_blocks *m = s->blocks;
  double h = s->h, theta = s->theta, rest = h * (1.0 - theta);
  double t_between = poli_ggl_time(s, theta);
  poli_blocks_add(m, KINEMATIC, A, 1.0, s->mass);
  poli_blocks_add(m, KINEMATIC, B, -1.0, s->mass);
  poli_blocks_add(m, BALANCE, B, 1.0, s->mass);
  poli_blocks_add(m, BALANCE, at_lambda(s), 1.0 - s->vartheta, s->old_jacobian);

  pol_status status = evaluate_jacobian(s, poli_ggl_time(s, 1.0), s->next.q, NULL);
  if (status) return status;
  poli_blocks_add(m, POSITION, A, 1.0, s->jacobian);
  status = evaluate_jacobian(s, t_between, s->q_between, s->b);
  if (status) return status;
  poli_blocks_add(m, KINEMATIC, at_gamma(s), -1.0, s->jacobian);
  poli_blocks_add(m, VELOCITY, B, 1.0, s->jacobian);
  if (!is_exact(s)) return POL_OK;

  poli_blocks_add(m, BALANCE, at_gamma(s), rest, s->curvature);
  poli_blocks_add(m, VELOCITY, A, theta * h, s->curvature);
  status = evaluate_stiffness(s, t_between, s->q_between, s->b);
  if (status) return status;
  poli_blocks_add(m, BALANCE, A, rest * theta * h, s->stiffness);
  poli_blocks_add(m, BALANCE, B, rest, s->damping);
  status = evaluate_geometric(s, t_between, s->q_between, s->b, s->gamma);
  poli_blocks_add(m, KINEMATIC, A, -theta * h, s->stiffness);
  poli_blocks_add(m, BALANCE, B, rest, s->stiffness);
  return status;
}

/* --- rattle ----------------------------------------------------------------------------------- */

pol_status poli_ggl_matrix_rattle(poli_ggl *s)
{
  enum { FIRST, SECOND, POSITION, VELOCITY };
  poli_blocks *m = s->blocks;
  double h = s->h, t_end = poli_ggl_time(s, 1.0);
  poli_blocks_add(m, FIRST, A, 1.0, s->mass);
  poli_blocks_add(m, FIRST, at_lambda(s), 0.5, s->old_jacobian);
  poli_blocks_add(m, SECOND, A, -1.0, s->mass);
  poli_blocks_add(m, SECOND, B, 1.0, s->mass);

  pol_status status = evaluate_jacobian(s, t_end, s->next.q, s->b);
  if (status) return status;
  poli_blocks_add(m, POSITION, A, 1.0, s->jacobian);
  poli_blocks_add(m, SECOND, at_gamma(s), 0.5, s->jacobian);
  poli_blocks_add(m, VELOCITY, B, 1.0, s->jacobian);
  if (!is_exact(s)) return POL_OK;

  poli_blocks_add(m, VELOCITY, A, h, s->curvature);
  status = evaluate_stiffness(s, t_end, s->next.q, s->b);
  if (status) return status;
  poli_blocks_add(m, SECOND, A, 0.5 * h * h, s->stiffness);
  poli_blocks_add(m, SECOND, B, 0.5 * h, s->damping);
  status = evaluate_geometric(s, t_end, s->next.q, s->b, s->gamma);
  poli_blocks_add(m, SECOND, A, 0.5 * h, s->stiffness);
  return status;
}
