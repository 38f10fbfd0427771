/* Equations of the variational and energy-momentum methods for a constant mass matrix: what
 * Newton's unknowns mean, and what they leave of the equations.  Where the mass matrix varies the
 * model gives those of vi-a, em, em-g and midpoint (ggl_step_equations.c), with the same unknowns.
 *
 * Kinon/Betsch/Schneider 2023: vi-s (55), vi-a (79), vi-b (82), em (84); em-g: Gonzalez 1999;
 * rattle: Andersen 1983.  All equations with momenta are multiplied by M where the papers have
 * M^-1, so that no inverse is needed.  With G = B(q), the residual of the velocity constraints
 * e(q, v, t) = G v + Phi_t, and Z(q, v) = de/dq, the papers' term H(q, gamma) v is Z^T gamma.
 * Unknowns are scaled: (a, b, c, h lambda, gamma) with q_{n+1} = q_n + h a.
 *
 *   vi-s     b = M^-1 p_{n+1}, c = v,  qb = q_n + h c
 *            0 = M (a - c) - G(qb)^T gamma                  0 = Phi(q_{n+1})
 *            0 = M c - p_n + h g(q_n, c) + h G(q_n)^T lambda
 *            0 = M (b - c) + h Z(qb, b)^T gamma             0 = e(qb, b)
 *
 *   vi-b     b = v,  qt = q_n + theta h a
 *            0 = M (a - b) - G(qt)^T gamma                  0 = Phi(q_{n+1})
 *            0 = M b - p_n + h (1-theta) (g(qt, b) + Z(qt, b)^T gamma)
 *                + h (1-vartheta) G(q_n)^T lambda           0 = e(qt, b)
 *            p_{n+1} = p_n - h (g + Z^T gamma) - h ((1-vartheta) G(q_n) + vartheta G(q_{n+1}))^T
 *                      lambda, which has been eliminated from (82c)
 *
 *   vi-a, em, em-g, midpoint     qm = (q_n + q_{n+1})/2,  w = (1-k) v_n + k b
 *            0 = M (a - w) - G(qm)^T gamma                  0 = Phi(qs)
 *            0 = 2k (M b - p_n) + h f + h G(qm)^T lambda + h Z(qm, w)^T gamma
 *                                                           0 = e(qs, b)
 *            vi-a: k = 1, qs = qm, b is the mean velocity and p_{n+1} = 2 M b - p_n
 *            else: k = 1/2, qs = q_{n+1}, b = v_{n+1} and p_{n+1} = M b
 *            f: g(qm, w), or the discrete force between q_n and q_{n+1} for em and em-g;
 *            em-g and midpoint have no gamma and no e
 *
 *   rattle   b = v_{n+1},  h mu in place of gamma
 *            0 = M a - p_n + (h/2) (g(q_n, v_n) + G(q_n)^T lambda)            0 = Phi(q_{n+1})
 *            0 = M (b - a) + (h/2) (g(q_{n+1}, b) + G(q_{n+1})^T mu)          0 = e(q_{n+1}, b)
 *
 * Errata of the paper that matter here: docs/methods.md.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "dae/dae.h"
#include "integrators/ggl.h"

/* --- what the equations are made of ----------------------------------------------------------- */

pol_status poli_ggl_evaluate(poli_ggl *s, double t, const double *q, const double *v,
                             const double *lambda, unsigned want, const pol_terms *out)
{
  const pol_point at = {
      .t = t, .q = q, .v = v, .vd = s->zero, .lambda = lambda, .history = s->history};
  return poli_dae_evaluate(s->dae, &at, want, out, s->scratch);
}

void poli_ggl_add_mass(const poli_ggl *s, double scale, const double *x, double *y)
{
  pol_matrix_multiply(s->blocks->saddle->patterns.coupling, s->mass, scale, x, y);
}

void poli_ggl_momenta(const poli_ggl *s, const double *q, const double *v, double *p)
{
  if (s->equations) {
    s->equations->momenta(q, v, p, s->dae->user);
    return;
  }
  memset(p, 0, (size_t)s->nv * sizeof *p);
  poli_ggl_add_mass(s, 1.0, v, p);
}

/* y += scale A^T x for a matrix in the pattern constraint */
static void add_transposed(const poli_ggl *s, const double *A, double scale, const double *x,
                           double *y)
{
  pol_matrix_multiply_transposed(s->blocks->saddle->patterns.constraint, A, scale, x, y);
}

/* g, G and, if asked for, Z at a point, into the arrays of s */
static pol_status evaluate_balance(poli_ggl *s, double t, const double *q, const double *v,
                                   int curvature)
{
  const pol_terms out = {.balance = s->force, .jacobian = s->jacobian, .curvature = s->curvature};
  unsigned want = POL_FORCE | POL_JACOBIAN | (curvature ? POL_CURVATURE : 0u);
  return poli_ggl_evaluate(s, t, q, v, NULL, want, &out);
}

void poli_ggl_put_constraints(const poli_ggl *s, double *r)
{
  double *position = r + s->blocks->start[s->scheme->num_vectors], *velocity = position + s->m;
  for (int i = 0; i < s->m; i++) {
    int dropped = s->dropped && s->dropped[i];
    position[i] = dropped ? 0.0 : s->position[i] / s->h;
    if (s->scheme->has_velocity) velocity[i] = dropped ? 0.0 : s->velocity[i];
  }
}

/* The rows of the constraints: Phi/h at (t_p, q_p), and e at (t_v, q_v, v) if there are any. */
static pol_status evaluate_constraints(poli_ggl *s, double t_p, const double *q_p, double t_v,
                                       const double *q_v, const double *v, double *r)
{
  const pol_terms out = {.position = s->position, .velocity = s->velocity};
  pol_status status = poli_ggl_evaluate(s, t_p, q_p, v, NULL, POL_POSITION, &out);
  if (!status && s->scheme->has_velocity)
    status = poli_ggl_evaluate(s, t_v, q_v, v, NULL, POL_VELOCITY, &out);
  if (!status) poli_ggl_put_constraints(s, r);
  return status;
}

/* --- unknowns --------------------------------------------------------------------------------- */

pol_status poli_ggl_prepare(poli_ggl *s)
{
  const pol_terms out = {.balance = s->start_force, .jacobian = s->old_jacobian};
  if (s->equations) return POL_OK; /* they need nothing at q_n alone */
  return poli_ggl_evaluate(s, s->t, s->now.q, s->now.v, NULL, POL_FORCE | POL_JACOBIAN, &out);
}

void poli_ggl_unpack(poli_ggl *s, const double *x)
{
  memcpy(s->z, x, (size_t)s->blocks->n * sizeof *x);
  for (int i = s->blocks->start[s->scheme->num_vectors]; i < s->blocks->n && s->dropped; i++)
    if (s->dropped[(i - s->blocks->start[s->scheme->num_vectors]) % s->m]) s->z[i] = 0.0;
  for (int i = 0; i < s->nv; i++) s->next.q[i] = s->now.q[i] + s->h * s->a[i];
  s->scheme->configure(s);
}

pol_status poli_ggl_residual(const double *x, double *r, void *ggl)
{
  poli_ggl *s = ggl;
  poli_ggl_unpack(s, x);
  memset(r, 0, (size_t)s->blocks->n * sizeof *r);
  return s->equations ? poli_ggl_step_residual(s, r) : s->scheme->residual(s, r);
}

/* q = q_n + share h velocity */
static void move(const poli_ggl *s, double share, const double *velocity, double *q)
{
  for (int i = 0; i < s->nv; i++) q[i] = s->now.q[i] + share * s->h * velocity[i];
}

/* The round-off of a velocity: that of the coordinates over h, of pure numbers and of lengths each
 * for themselves.  Near a singular position round-off of one coordinate moves others by far more,
 * and knowing it lets the iteration end there (newton.h). */
void poli_ggl_round_off(double *round_off, void *ggl)
{
  const poli_ggl *s = ggl;
  round_off[POLI_ROTATIONS] = 1.0;
  round_off[POLI_TRANSLATIONS] = poli_dae_length(s->dae);
  for (int i = 0; i < s->nv; i++) {
    int k = s->newton->kind[i];
    round_off[k] = fmax(round_off[k], fabs(s->now.q[i]));
  }
  for (int k = 0; k < POLI_KINDS; k++) round_off[k] *= DBL_EPSILON / s->h;
}

/* What a correction of a velocity may be: a share of its change in the step, and a few times its
 * round-off.  What Newton's method leaves of the equations adds up in the invariants, so the share
 * is a ten thousandth of the tolerance: round-off with the default. */
void poli_ggl_tolerances(double tolerance[POLI_KINDS], void *ggl)
{
  const poli_ggl *s = ggl;
  double change[POLI_KINDS] = {0.0}, share = 1e-4 * s->options->newton.tolerance;
  poli_ggl_round_off(tolerance, ggl);
  for (int i = 0; i < s->nv; i++) {
    int k = s->newton->kind[i];
    change[k] = fmax(change[k], fabs(s->b[i] - s->now.v[i]));
  }
  for (int k = 0; k < POLI_KINDS; k++) tolerance[k] = share * change[k] + 7.0 * tolerance[k];
}

/* The largest number of a residual and a correction in the units of the paper's equations:
 * positions, momenta, velocities, multipliers. */
double poli_ggl_size(const double *r, const double *dx, void *ggl)
{
  poli_ggl *s = ggl;
  const poli_blocks *blocks = s->blocks;
  int vectors = s->scheme->num_vectors, below = blocks->start[vectors];
  double size = 0.0;
  poli_ggl_momenta(s, s->now.q, dx + s->nv, s->momentum);
  for (int i = 0; i < blocks->n; i++) {
    int first = i < s->nv, is_position = i >= below && i < below + s->m;
    double residual = first || is_position ? s->h * r[i] : r[i];
    double correction = first ? s->h * dx[i] : is_position ? dx[i] / s->h : dx[i];
    size = fmax(size, fmax(fabs(residual), fabs(correction)));
    if (!isfinite(residual + correction)) return HUGE_VAL;
  }
  for (int i = 0; i < s->nv; i++) size = fmax(size, fabs(s->momentum[i]));
  return size;
}

/* --- vi-s ------------------------------------------------------------------------------------- */

void poli_ggl_configure_vi_s(poli_ggl *s)
{
  move(s, 1.0, s->c, s->q_between);
}

pol_status poli_ggl_residual_vi_s(poli_ggl *s, double *r)
{
  double *kinematic = r, *balance = r + s->nv, *momentum = r + 2 * s->nv, h = s->h;
  const pol_terms out = {.balance = s->force};
  pol_status status = poli_ggl_evaluate(s, s->t, s->now.q, s->c, NULL, POL_FORCE, &out);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) balance[i] = h * s->force[i] - s->now.p[i];
  poli_ggl_add_mass(s, 1.0, s->c, balance);
  add_transposed(s, s->old_jacobian, 1.0, s->lambda, balance);

  status = evaluate_balance(s, poli_ggl_time(s, 1.0), s->q_between, s->b, 1);
  if (status) return status;
  poli_ggl_add_mass(s, 1.0, s->a, kinematic);
  poli_ggl_add_mass(s, -1.0, s->c, kinematic);
  add_transposed(s, s->jacobian, -1.0, s->gamma, kinematic);
  poli_ggl_add_mass(s, 1.0, s->b, momentum);
  poli_ggl_add_mass(s, -1.0, s->c, momentum);
  add_transposed(s, s->curvature, h, s->gamma, momentum);
  return evaluate_constraints(s, poli_ggl_time(s, 1.0), s->next.q, poli_ggl_time(s, 1.0),
                              s->q_between, s->b, r);
}

/* v_{n+1} = b, p_{n+1} = M b */
pol_status poli_ggl_finish_direct(poli_ggl *s)
{
  memcpy(s->next.v, s->b, (size_t)s->nv * sizeof *s->b);
  poli_ggl_momenta(s, s->next.q, s->b, s->next.p);
  return POL_OK;
}

/* --- the midpoint methods --------------------------------------------------------------------- */

void poli_ggl_configure_midpoint(poli_ggl *s)
{
  double k = s->scheme->mean;
  for (int i = 0; i < s->nv; i++) s->mean_v[i] = (1.0 - k) * s->now.v[i] + k * s->b[i];
  move(s, 0.5, s->a, s->q_between);
  move(s, s->scheme->share, s->a, s->q_constraint);
}

/* Replaces s->force at the midpoint by that between q_n and q_{n+1}. */
static pol_status evaluate_discrete(poli_ggl *s)
{
  const pol_point at = {.t = poli_ggl_time(s, 0.5),
                        .q = s->next.q,
                        .v = s->mean_v,
                        .vd = s->zero,
                        .history = s->history};
  const pol_terms out = {.balance = s->force};
  memset(s->force, 0, (size_t)s->nv * sizeof *s->force);
  return s->dae->discrete_force(s->now.q, &at, POL_FORCE, &out, s->scratch, s->dae->user);
}

pol_status poli_ggl_residual_midpoint(poli_ggl *s, double *r)
{
  double *kinematic = r, *balance = r + s->nv, h = s->h, k2 = 2.0 * s->scheme->mean;
  double t_constraint = poli_ggl_time(s, s->scheme->share);
  pol_status status =
      evaluate_balance(s, poli_ggl_time(s, 0.5), s->q_between, s->mean_v, s->scheme->has_velocity);
  if (!status && s->scheme->discrete && s->dae->discrete_force) status = evaluate_discrete(s);
  if (status) return status;
  poli_ggl_add_mass(s, 1.0, s->a, kinematic);
  poli_ggl_add_mass(s, -1.0, s->mean_v, kinematic);
  for (int i = 0; i < s->nv; i++) balance[i] = h * s->force[i] - k2 * s->now.p[i];
  poli_ggl_add_mass(s, k2, s->b, balance);
  add_transposed(s, s->jacobian, 1.0, s->lambda, balance);
  if (s->scheme->has_velocity) {
    add_transposed(s, s->jacobian, -1.0, s->gamma, kinematic);
    add_transposed(s, s->curvature, h, s->gamma, balance);
  }
  return evaluate_constraints(s, t_constraint, s->q_constraint, t_constraint, s->q_constraint, s->b,
                              r);
}

/* vi-a: b is the mean velocity, p_{n+1} = 2 M b - p_n */
pol_status poli_ggl_finish_midpoint(poli_ggl *s)
{
  memcpy(s->next.v, s->b, (size_t)s->nv * sizeof *s->b);
  for (int i = 0; i < s->nv; i++) s->next.p[i] = -s->now.p[i];
  poli_ggl_add_mass(s, 2.0, s->b, s->next.p);
  return POL_OK;
}

/* --- vi-b ------------------------------------------------------------------------------------- */

void poli_ggl_configure_vi_b(poli_ggl *s)
{
  move(s, s->theta, s->a, s->q_between);
}

pol_status poli_ggl_residual_vi_b(poli_ggl *s, double *r)
{
  double *kinematic = r, *balance = r + s->nv, h = s->h, rest = 1.0 - s->theta;
  double t_between = poli_ggl_time(s, s->theta);
  pol_status status = evaluate_balance(s, t_between, s->q_between, s->b, 1);
  if (status) return status;
  poli_ggl_add_mass(s, 1.0, s->a, kinematic);
  poli_ggl_add_mass(s, -1.0, s->b, kinematic);
  add_transposed(s, s->jacobian, -1.0, s->gamma, kinematic);
  for (int i = 0; i < s->nv; i++) balance[i] = h * rest * s->force[i] - s->now.p[i];
  poli_ggl_add_mass(s, 1.0, s->b, balance);
  add_transposed(s, s->curvature, h * rest, s->gamma, balance);
  add_transposed(s, s->old_jacobian, 1.0 - s->vartheta, s->lambda, balance);
  return evaluate_constraints(s, poli_ggl_time(s, 1.0), s->next.q, t_between, s->q_between, s->b,
                              r);
}

pol_status poli_ggl_finish_vi_b(poli_ggl *s)
{
  double h = s->h, *p = s->next.p;
  const pol_terms out = {.jacobian = s->jacobian};
  memcpy(s->next.v, s->b, (size_t)s->nv * sizeof *s->b);
  pol_status status = evaluate_balance(s, poli_ggl_time(s, s->theta), s->q_between, s->b, 1);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) p[i] = s->now.p[i] - h * s->force[i];
  add_transposed(s, s->curvature, -h, s->gamma, p);
  add_transposed(s, s->old_jacobian, s->vartheta - 1.0, s->lambda, p);
  status = poli_ggl_evaluate(s, poli_ggl_time(s, 1.0), s->next.q, s->b, NULL, POL_JACOBIAN, &out);
  if (!status) add_transposed(s, s->jacobian, -s->vartheta, s->lambda, p);
  return status;
}

/* --- rattle ----------------------------------------------------------------------------------- */

/* Nothing between q_n and q_{n+1}. */
void poli_ggl_configure_rattle(poli_ggl *s)
{
  (void)s;
}

pol_status poli_ggl_residual_rattle(poli_ggl *s, double *r)
{
  double *first = r, *second = r + s->nv, half = 0.5 * s->h, t_end = poli_ggl_time(s, 1.0);
  pol_status status = evaluate_balance(s, t_end, s->next.q, s->b, 0);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) {
    first[i] = half * s->start_force[i] - s->now.p[i];
    second[i] = half * s->force[i];
  }
  poli_ggl_add_mass(s, 1.0, s->a, first);
  add_transposed(s, s->old_jacobian, 0.5, s->lambda, first);
  poli_ggl_add_mass(s, 1.0, s->b, second);
  poli_ggl_add_mass(s, -1.0, s->a, second);
  add_transposed(s, s->jacobian, 0.5, s->gamma, second);
  return evaluate_constraints(s, t_end, s->next.q, t_end, s->next.q, s->b, r);
}
