/* Equations of the variational and energy-momentum methods for a constant mass matrix: what
 * Newton's unknowns mean, what they leave of the equations, and the derivatives of that.  Where the
 * mass matrix varies the model gives those of vi-a, em, em-g and midpoint (dae/step_equations.h),
 * with the same unknowns.
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
 * The Newton matrices are the derivatives by the scaled unknowns.  H(q, l) = d(G^T l)/dq is the
 * geometric stiffness, so that d(Z^T gamma)/dv = H(q, gamma); with it the matrices are exact for
 * constraints that are at most quadratic.  Third derivatives of other constraints are left out.
 *
 * Errata of the paper that matter here: docs/methods.md.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "dae/dae.h"
#include "integrators/ggl.h"

enum { A = 0, B = 1, C = 2 }; /* block columns of the vectors */

/* --- what the equations are made of ------------------------------------------------------------
 */

pol_status poli_ggl_evaluate(poli_ggl *s, double t, const double *q, const double *v,
                             const double *lambda, unsigned want, const pol_terms *out)
{
  const pol_point at = {
      .t = t, .q = q, .v = v, .vd = s->zero, .lambda = lambda, .history = s->history};
  return poli_dae_evaluate(s->dae, &at, want, out, s->scratch);
}

/* y += scale M x */
static void add_mass(const poli_ggl *s, double scale, const double *x, double *y)
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
  add_mass(s, 1.0, v, p);
}

/* y += scale (matrix)^T x for values in the pattern constraint */
static void add_transposed(const poli_ggl *s, const double *values, double scale, const double *x,
                           double *y)
{
  pol_matrix_multiply_transposed(s->blocks->saddle->patterns.constraint, values, scale, x, y);
}

/* g, G and, if asked for, Z at a point, into the arrays of s */
static pol_status evaluate_balance(poli_ggl *s, double t, const double *q, const double *v,
                                   int curvature)
{
  const pol_terms out = {.balance = s->force, .jacobian = s->jacobian, .curvature = s->curvature};
  unsigned want = POL_FORCE | POL_JACOBIAN | (curvature ? POL_CURVATURE : 0u);
  return poli_ggl_evaluate(s, t, q, v, NULL, want, &out);
}

/* position/h and velocity into r, with zeros for what is dropped */
static void put_constraints(const poli_ggl *s, double *r)
{
  double *position = r + s->blocks->start[s->scheme->num_vectors], *velocity = position + s->m;
  for (int i = 0; i < s->m; i++) {
    int dropped = s->dropped && s->dropped[i];
    position[i] = dropped ? 0.0 : s->position[i] / s->h;
    if (s->has_velocity) velocity[i] = dropped ? 0.0 : s->velocity[i];
  }
}

/* The rows of the constraints: Phi/h at (t_p, q_p), and e at (t_v, q_v, v) if there are any. */
static pol_status evaluate_constraints(poli_ggl *s, double t_p, const double *q_p, double t_v,
                                       const double *q_v, const double *v, double *r)
{
  const pol_terms out = {.position = s->position, .velocity = s->velocity};
  pol_status status = poli_ggl_evaluate(s, t_p, q_p, v, NULL, POL_POSITION, &out);
  if (!status && s->has_velocity)
    status = poli_ggl_evaluate(s, t_v, q_v, v, NULL, POL_VELOCITY, &out);
  if (!status) put_constraints(s, r);
  return status;
}

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

/* --- unknowns ----------------------------------------------------------------------------------
 */

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
  if (s->scheme->configure) s->scheme->configure(s);
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

/* --- vi-s --------------------------------------------------------------------------------------
 */

static void configure_vi_s(poli_ggl *s)
{
  move(s, 1.0, s->c, s->q_between);
}

static pol_status residual_vi_s(poli_ggl *s, double *r)
{
  double *kinematic = r, *balance = r + s->nv, *momentum = r + 2 * s->nv, h = s->h;
  const pol_terms out = {.balance = s->force};
  pol_status status = poli_ggl_evaluate(s, s->t, s->now.q, s->c, NULL, POL_FORCE, &out);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) balance[i] = h * s->force[i] - s->now.p[i];
  add_mass(s, 1.0, s->c, balance);
  add_transposed(s, s->old_jacobian, 1.0, s->lambda, balance);

  status = evaluate_balance(s, poli_ggl_time(s, 1.0), s->q_between, s->b, 1);
  if (status) return status;
  add_mass(s, 1.0, s->a, kinematic);
  add_mass(s, -1.0, s->c, kinematic);
  add_transposed(s, s->jacobian, -1.0, s->gamma, kinematic);
  add_mass(s, 1.0, s->b, momentum);
  add_mass(s, -1.0, s->c, momentum);
  add_transposed(s, s->curvature, h, s->gamma, momentum);
  return evaluate_constraints(s, poli_ggl_time(s, 1.0), s->next.q, poli_ggl_time(s, 1.0),
                              s->q_between, s->b, r);
}

static pol_status matrix_vi_s(poli_ggl *s)
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

/* --- the midpoint methods ----------------------------------------------------------------------
 */

static void configure_midpoint(poli_ggl *s)
{
  double k = s->scheme->mean;
  for (int i = 0; i < s->nv; i++) s->mean_v[i] = (1.0 - k) * s->now.v[i] + k * s->b[i];
  move(s, 0.5, s->a, s->q_between);
  move(s, s->scheme->share, s->a, s->q_constraint);
}

static pol_status residual_midpoint(poli_ggl *s, double *r)
{
  double *kinematic = r, *balance = r + s->nv, h = s->h, k2 = 2.0 * s->scheme->mean;
  double t_constraint = poli_ggl_time(s, s->scheme->share);
  pol_status status =
      evaluate_balance(s, poli_ggl_time(s, 0.5), s->q_between, s->mean_v, s->has_velocity);
  if (!status && s->scheme->discrete && s->dae->discrete_force) {
    /* the force between q_n and q_{n+1}, with the velocities of that way: what dampers take out is
     * what the energy loses */
    const pol_point at = {.t = poli_ggl_time(s, 0.5),
                          .q = s->next.q,
                          .v = s->a,
                          .vd = s->zero,
                          .history = s->history};
    const pol_terms out = {.balance = s->force};
    memset(s->force, 0, (size_t)s->nv * sizeof *s->force);
    status = s->dae->discrete_force(s->now.q, &at, POL_FORCE, &out, s->scratch, s->dae->user);
  }
  if (status) return status;
  add_mass(s, 1.0, s->a, kinematic);
  add_mass(s, -1.0, s->mean_v, kinematic);
  for (int i = 0; i < s->nv; i++) balance[i] = h * s->force[i] - k2 * s->now.p[i];
  add_mass(s, k2, s->b, balance);
  add_transposed(s, s->jacobian, 1.0, s->lambda, balance);
  if (s->has_velocity) {
    add_transposed(s, s->jacobian, -1.0, s->gamma, kinematic);
    add_transposed(s, s->curvature, h, s->gamma, balance);
  }
  return evaluate_constraints(s, t_constraint, s->q_constraint, t_constraint, s->q_constraint, s->b,
                              r);
}

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
        .t = t_mid, .q = s->next.q, .v = s->a, .vd = s->zero, .history = s->history};
    const pol_terms out = {.stiffness = s->stiffness, .damping = s->damping};
    memset(s->stiffness, 0, (size_t)nonzeros * sizeof *s->stiffness);
    memset(s->damping, 0, (size_t)nonzeros * sizeof *s->damping);
    status = s->dae->discrete_force(s->now.q, &at, POL_STIFFNESS | POL_DAMPING, &out, s->scratch,
                                    s->dae->user);
    poli_blocks_add(m, BALANCE, A, h * h, s->stiffness);
    poli_blocks_add(m, BALANCE, A, h, s->damping);
  } else {
    status = evaluate_stiffness(s, t_mid, s->q_between, s->mean_v);
    poli_blocks_add(m, BALANCE, A, 0.5 * h * h, s->stiffness);
    poli_blocks_add(m, BALANCE, B, k * h, s->damping);
  }
  if (status) return status;
  status = evaluate_geometric(s, t_mid, s->q_between, s->mean_v, s->lambda);
  if (status) return status;
  poli_blocks_add(m, BALANCE, A, 0.5 * h, s->stiffness);
  if (!s->has_velocity) return POL_OK;
  status = evaluate_geometric(s, t_mid, s->q_between, s->mean_v, s->gamma);
  poli_blocks_add(m, KINEMATIC, A, -0.5 * h, s->stiffness);
  poli_blocks_add(m, BALANCE, B, k * h, s->stiffness);
  return status;
}

static pol_status matrix_midpoint(poli_ggl *s)
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
  if (s->has_velocity) {
    poli_blocks_add(m, KINEMATIC, at_gamma(s), -1.0, s->jacobian);
    if (is_exact(s)) poli_blocks_add(m, BALANCE, at_gamma(s), h, s->curvature);
  }
  status = evaluate_jacobian(s, poli_ggl_time(s, share), s->q_constraint, s->b);
  if (status) return status;
  poli_blocks_add(m, POSITION, A, share, s->jacobian);
  if (s->has_velocity) {
    poli_blocks_add(m, VELOCITY, B, 1.0, s->jacobian);
    if (is_exact(s)) poli_blocks_add(m, VELOCITY, A, share * h, s->curvature);
  }
  return is_exact(s) ? add_midpoint_stiffness(s) : POL_OK;
}

/* --- vi-b --------------------------------------------------------------------------------------
 */

static void configure_vi_b(poli_ggl *s)
{
  move(s, s->theta, s->a, s->q_between);
}

static pol_status residual_vi_b(poli_ggl *s, double *r)
{
  double *kinematic = r, *balance = r + s->nv, h = s->h, rest = 1.0 - s->theta;
  double t_between = poli_ggl_time(s, s->theta);
  pol_status status = evaluate_balance(s, t_between, s->q_between, s->b, 1);
  if (status) return status;
  add_mass(s, 1.0, s->a, kinematic);
  add_mass(s, -1.0, s->b, kinematic);
  add_transposed(s, s->jacobian, -1.0, s->gamma, kinematic);
  for (int i = 0; i < s->nv; i++) balance[i] = h * rest * s->force[i] - s->now.p[i];
  add_mass(s, 1.0, s->b, balance);
  add_transposed(s, s->curvature, h * rest, s->gamma, balance);
  add_transposed(s, s->old_jacobian, 1.0 - s->vartheta, s->lambda, balance);
  return evaluate_constraints(s, poli_ggl_time(s, 1.0), s->next.q, t_between, s->q_between, s->b,
                              r);
}

static pol_status matrix_vi_b(poli_ggl *s)
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

static pol_status finish_vi_b(poli_ggl *s)
{
  double h = s->h, *p = s->next.p;
  const pol_terms out = {.jacobian = s->jacobian};
  pol_status status = evaluate_balance(s, poli_ggl_time(s, s->theta), s->q_between, s->b, 1);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) p[i] = s->now.p[i] - h * s->force[i];
  add_transposed(s, s->curvature, -h, s->gamma, p);
  add_transposed(s, s->old_jacobian, s->vartheta - 1.0, s->lambda, p);
  status = poli_ggl_evaluate(s, poli_ggl_time(s, 1.0), s->next.q, s->b, NULL, POL_JACOBIAN, &out);
  if (!status) add_transposed(s, s->jacobian, -s->vartheta, s->lambda, p);
  return status;
}

/* --- rattle ------------------------------------------------------------------------------------
 */

static pol_status residual_rattle(poli_ggl *s, double *r)
{
  double *first = r, *second = r + s->nv, half = 0.5 * s->h, t_end = poli_ggl_time(s, 1.0);
  pol_status status = evaluate_balance(s, t_end, s->next.q, s->b, 0);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) {
    first[i] = half * s->start_force[i] - s->now.p[i];
    second[i] = half * s->force[i];
  }
  add_mass(s, 1.0, s->a, first);
  add_transposed(s, s->old_jacobian, 0.5, s->lambda, first);
  add_mass(s, 1.0, s->b, second);
  add_mass(s, -1.0, s->a, second);
  add_transposed(s, s->jacobian, 0.5, s->gamma, second);
  return evaluate_constraints(s, t_end, s->next.q, t_end, s->next.q, s->b, r);
}

static pol_status matrix_rattle(poli_ggl *s)
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

/* --- the methods ------------------------------------------------------------------------------ */

const poli_scheme poli_vi_s = {.num_vectors = 3,
                               .num_blocks = 5,
                               .layout = {"W.W.T", "..WT.", ".WW.T", "B..D.", ".BB.D"},
                               .configure = configure_vi_s,
                               .residual = residual_vi_s,
                               .matrix = matrix_vi_s,
                               .lag = 1.0};

const poli_scheme poli_vi_b = {.num_vectors = 2,
                               .num_blocks = 4,
                               .layout = {"WW.T", "WWTT", "B.D.", "BB.D"},
                               .configure = configure_vi_b,
                               .residual = residual_vi_b,
                               .matrix = matrix_vi_b,
                               .finish = finish_vi_b,
                               .lag = 1.0,
                               .before_block = 2,
                               .theta = 1.0,
                               .vartheta = 0.5};

const poli_scheme poli_rattle = {.num_vectors = 2,
                                 .num_blocks = 4,
                                 .layout = {"W.T.", "WW.T", "B.D.", "BB.D"},
                                 .residual = residual_rattle,
                                 .matrix = matrix_rattle,
                                 .lag = 1.0,
                                 .before_block = 3};

#define MIDPOINT_METHOD                                                                            \
  .num_vectors = 2, .configure = configure_midpoint, .residual = residual_midpoint,                \
  .matrix = matrix_midpoint, .varying_mass = 1

const poli_scheme poli_vi_a = {
    MIDPOINT_METHOD, .num_blocks = 4,   .layout = {"WW.T", "WWTT", "B.D.", "BB.D"},
    .mean = 1.0,     .share = 0.5,      .midway = 1,
    .lag = 1.0,      .before_block = 2, .theta = 0.5,
    .only_theta = 1};

const poli_scheme poli_em = {
    MIDPOINT_METHOD, .num_blocks = 4, .layout = {"WW.T", "WWTT", "B.D.", "BB.D"},
    .mean = 0.5,     .share = 1.0,    .discrete = 1,
    .lag = 0.5};

const poli_scheme poli_em_g = {MIDPOINT_METHOD, .num_blocks = 3, .layout = {"WW.", "WWT", "B.D"},
                               .mean = 0.5,     .share = 1.0,    .discrete = 1,
                               .lag = 0.5};

const poli_scheme poli_midpoint = {
    MIDPOINT_METHOD, .num_blocks = 3, .layout = {"WW.", "WWT", "B.D"},
    .mean = 0.5,     .share = 1.0,    .lag = 0.5};

/* --- a mass matrix that varies -----------------------------------------------------------------
 */

/* The model gives the equations of a step and their derivatives, with the unknowns and the layout
 * that vi-a, em, em-g and midpoint have for a constant one.  The matrix is exact with every kind of
 * Newton iteration. */
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
                          .gamma = s->has_velocity ? s->gamma : NULL,
                          .history = s->history,
                          .midway = s->scheme->midway,
                          .discrete = s->scheme->discrete};
}

static pol_status step_residual(poli_ggl *s, double *r)
{
  const poli_step_data at = step_data(s);
  const poli_step_terms out = {
      .kinematic = r, .balance = r + s->nv, .position = s->position, .velocity = s->velocity};
  memset(s->position, 0, (size_t)s->m * sizeof *s->position);
  memset(s->velocity, 0, (size_t)s->m * sizeof *s->velocity);
  pol_status status =
      s->equations->evaluate(&at, POLI_STEP_RESIDUAL, &out, s->scratch, s->dae->user);
  if (!status) put_constraints(s, r);
  return status;
}

static pol_status step_matrix(poli_ggl *s)
{
  enum { KINEMATIC, BALANCE, POSITION, VELOCITY };
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
  poli_blocks_add(m, BALANCE, at_lambda(s), 1.0, found->balance_lambda);
  poli_blocks_add(m, POSITION, A, 1.0, found->position_a);
  if (!s->has_velocity) return POL_OK;
  poli_blocks_add(m, KINEMATIC, at_gamma(s), 1.0, found->kinematic_gamma);
  poli_blocks_add(m, BALANCE, at_gamma(s), 1.0, found->balance_gamma);
  poli_blocks_add(m, VELOCITY, A, 1.0, found->velocity_a);
  poli_blocks_add(m, VELOCITY, B, 1.0, found->velocity_b);
  return POL_OK;
}

/* --- all methods -------------------------------------------------------------------------------
 */

pol_status poli_ggl_residual(const double *x, double *r, void *ggl)
{
  poli_ggl *s = ggl;
  poli_ggl_unpack(s, x);
  memset(r, 0, (size_t)s->blocks->n * sizeof *r);
  return s->equations ? step_residual(s, r) : s->scheme->residual(s, r);
}

pol_status poli_ggl_matrix(void *ggl)
{
  poli_ggl *s = ggl;
  poli_blocks_clear(s->blocks);
  pol_status status = s->equations ? step_matrix(s) : s->scheme->matrix(s);
  if (!status && s->dropped) poli_blocks_drop(s->blocks, s->dropped);
  return status;
}

pol_status poli_ggl_finish(poli_ggl *s)
{
  memcpy(s->next.v, s->b, (size_t)s->nv * sizeof *s->b);
  if (s->scheme->finish) return s->scheme->finish(s);
  /* p_{n+1} = M b; vi-a: b is the mean velocity, p_{n+1} = 2 M b - p_n with M halfway */
  const int midway = s->scheme->midway;
  if (midway && !s->equations) {
    for (int i = 0; i < s->nv; i++) s->next.p[i] = -s->now.p[i];
    add_mass(s, 2.0, s->b, s->next.p);
    return POL_OK;
  }
  poli_ggl_momenta(s, midway ? s->q_between : s->next.q, s->b, s->next.p);
  for (int i = 0; i < s->nv && midway; i++) s->next.p[i] = 2.0 * s->next.p[i] - s->now.p[i];
  return POL_OK;
}
