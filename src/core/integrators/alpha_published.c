/* Steps of the generalized-alpha methods as in published runs (pol_published), off the main path:
 * other first guesses, Newton's method without its refinements, and the incremental sigma update.
 *
 * The incremental update is that of the algorithms printed in Holzinger/Arnold/Gerstmayr (Alg. 1 to
 * 3).  They start from v' = 0 and add up the linearised increments of each Newton correction D,
 * Deta:
 *
 *     v  += P^-1 ( gamma' D + (gamma/beta) B(q_n)^T Deta )
 *     v' += P^-1 ( beta' D + eps' (gamma/beta) B(q_n)^T Deta )
 *     q  := q o exp(D)                                            for sigma = 1
 *     theta += T(theta)^-1 D,  q := q_n o exp(theta)              otherwise
 *
 *     gamma' = gamma/(h beta),  beta' = (1-alpha_m)/(h^2 beta (1-alpha_f)),
 *     eps' = (1-alpha_m)/(h gamma (1-alpha_f))
 *
 * Their residual does not contain the relation between theta and v, so what the linearisation
 * leaves out stays in the solution: another method of second order, with other error constants and
 * less stability than the exact form.  The predictor, which the result depends on, is
 *
 *     theta := ( I - f sigma h beta/gamma v^ ) theta
 *
 * with f = 1/2 as it follows from the equations (POL_SIGMA_INCREMENTAL), or f = 1 as it is printed
 * (POL_SIGMA_PRINTED).
 */
#include <math.h>
#include <string.h>

#include "integrators/alpha.h"

int poli_alpha_is_published(const poli_alpha *s)
{
  const pol_published *published = &s->options->published;
  return poli_is_published_newton(published) || published->sigma_update != POL_SIGMA_EXACT ||
         (published->estimate && s->polynomial);
}

/* The incremental forms act as if they had more. */
double poli_alpha_effective_sigma(const pol_options *o)
{
  double kappa = (1.0 - o->alpha_f) / (1.0 - o->alpha_m);
  if (o->published.sigma_update == POL_SIGMA_INCREMENTAL)
    return o->sigma * (1.0 + 2.0 * o->beta * kappa);
  if (o->published.sigma_update == POL_SIGMA_PRINTED)
    return o->sigma * (2.0 - 2.0 * kappa * o->gamma + 4.0 * kappa * o->beta);
  return o->sigma;
}

/* --- first guesses ---------------------------------------------------------------------------- */

/* First guess of the published algorithms: v' = 0, lambda = 0, eta = 0.  With sigma, theta is
 * turned as in the incremental update. */
static void predict_from_zero(poli_alpha *s)
{
  const pol_options *o = s->options;
  const int nv = s->saddle->nv;
  double *turn = s->column;
  for (int i = 0; i < nv; i++) {
    const double a_old = s->now.a[i];
    const double a = (o->alpha_f * s->now.vd[i] - o->alpha_m * a_old) / (1.0 - o->alpha_m);
    s->next.v[i] = s->now.v[i] + s->h * ((1.0 - o->gamma) * a_old + o->gamma * a);
    s->x[i] = poli_alpha_c(s, i) / s->h + o->beta / o->gamma * s->next.v[i];
  }
  pol_group_bracket(&s->dae->group, s->next.v, s->x, turn);
  for (int i = 0; i < nv; i++) s->x[i] -= 0.5 * o->sigma * s->h * o->beta / o->gamma * turn[i];
  memset(s->x + nv, 0, (size_t)(s->saddle->n - nv) * sizeof *s->x);
}

/* First guess with a fixed number of iterations: v', lambda and eta as after the last step. */
static void predict_as_before(poli_alpha *s)
{
  const pol_options *o = s->options;
  const int nv = s->saddle->nv, m = s->saddle->m;
  for (int i = 0; i < nv; i++) {
    const double a_old = s->now.a[i];
    const double a = (s->now.vd[i] - o->alpha_m * a_old) / (1.0 - o->alpha_m);
    const double v = s->now.v[i] + s->h * ((1.0 - o->gamma) * a_old + o->gamma * a);
    s->x[i] = poli_alpha_c(s, i) / s->h + o->beta / o->gamma * v;
  }
  for (int i = 0; i < m; i++) s->x[nv + i] = s->h * s->now.lambda[i];
  for (int i = 0; i < s->saddle->num_extra; i++) s->x[nv + m + i] = s->same_step ? s->eta[i] : 0.0;
  poli_alpha_add_transposed(s, -1.0, s->x + nv + m, s->x);
}

/* --- the incremental sigma update ------------------------------------------------------------- */

static void predict_incremental(poli_alpha *s)
{
  const pol_options *o = s->options;
  const pol_group *group = &s->dae->group;
  const double share = o->published.sigma_update == POL_SIGMA_PRINTED ? 1.0 : 0.5;
  double h = s->h, *turn = s->stabilizing;
  for (int i = 0; i < group->nv; i++) {
    double a_old = s->now.a[i];
    double a = (o->alpha_f * s->now.vd[i] - o->alpha_m * a_old) / (1.0 - o->alpha_m);
    s->next.vd[i] = 0.0;
    s->next.a[i] = a;
    s->next.v[i] = s->now.v[i] + h * ((1.0 - o->gamma) * a_old + o->gamma * a);
    s->theta[i] = h * s->now.v[i] + h * h * ((0.5 - o->beta) * a_old + o->beta * a);
  }
  pol_group_bracket(group, s->next.v, s->theta, turn);
  for (int i = 0; i < group->nv; i++)
    s->theta[i] -= share * o->sigma * h * o->beta / o->gamma * turn[i];
  pol_group_move(group, s->now.q, s->theta, s->next.q);
  memset(s->next.lambda, 0, (size_t)s->saddle->m * sizeof *s->next.lambda);
  memset(s->x, 0, (size_t)s->saddle->n * sizeof *s->x);
  memset(s->x_done, 0, (size_t)s->saddle->n * sizeof *s->x_done);
}

/* Applies what x has more than x_done, which is one Newton correction, and evaluates. */
static pol_status incremental_residual(const double *x, double *r, void *alpha)
{
  poli_alpha *s = alpha;
  const pol_options *o = s->options;
  int nv = s->saddle->nv, m = s->saddle->m;
  const pol_group *group = &s->dae->group;
  double h = s->h, *change = s->stabilizing; /* of v, times h beta/gamma */
  for (int i = 0; i < nv; i++) change[i] = h * (x[i] - s->x_done[i]);
  if (o->sigma == 1.0) {
    pol_group_move(group, s->next.q, change, s->next.q);
  } else {
    pol_group_tangent_inverse(group, s->theta, change, s->column);
    for (int i = 0; i < nv; i++) s->theta[i] += s->column[i];
    pol_group_move(group, s->now.q, s->theta, s->next.q);
  }
  for (int i = 0; i < s->saddle->num_extra; i++) s->eta[i] = x[nv + m + i] - s->x_done[nv + m + i];
  poli_alpha_add_transposed(s, h, s->eta, change);
  for (int f = 0; f < group->num_factors && o->sigma != 1.0; f++) { /* P(theta)^-1 */
    const pol_factor *factor = &group->factors[f];
    double T[POLI_DIM * POLI_DIM], P[POLI_DIM * POLI_DIM], y[POLI_DIM];
    if (factor->kind == POL_REAL) continue;
    pol_factor_tangent(factor, s->theta + factor->v, T);
    if (!pol_alpha_invert_P(o->sigma, T, factor->dim, P)) return POL_SINGULAR;
    poli_alpha_copy(y, change + factor->v, factor->dim);
    poli_alpha_apply(P, y, factor->dim, change + factor->v);
  }
  for (int i = 0; i < nv; i++) {
    double dv = o->gamma / (h * o->beta) * change[i];
    s->next.v[i] += dv;
    s->next.vd[i] += (1.0 - o->alpha_m) / (h * o->gamma * (1.0 - o->alpha_f)) * dv;
  }
  for (int i = 0; i < m; i++) s->next.lambda[i] += (x[nv + i] - s->x_done[nv + i]) / h;
  for (int i = 0; i < s->saddle->num_extra; i++) s->eta[i] = x[nv + m + i];
  poli_alpha_copy(s->x_done, x, s->saddle->n);
  poli_alpha_copy(s->model_v, s->next.v, nv);
  poli_alpha_copy(s->model_vd, s->next.vd, nv);
  return poli_alpha_evaluate(s, r);
}

/* --- the step --------------------------------------------------------------------------------- */

/* The Euclidean norm of the residual without its scales. */
static double norm(const double *r, void *alpha)
{
  const poli_alpha *s = alpha;
  const int nv = s->saddle->nv, m = s->saddle->m, n = s->saddle->n;
  const int positions = s->options->index == POL_INDEX_3 ? s->dae->num_holonomic : 0;
  double square = 0.0;
  for (int i = 0; i < n; i++) {
    /* balances over h; positions, which come first or, stabilized, last, times h */
    const int position = (i >= nv && i < nv + positions) || i >= nv + m;
    const double x = i < nv ? r[i] / s->h : position ? r[i] * s->h : r[i];
    square += x * x;
  }
  return sqrt(square);
}

pol_status poli_alpha_solve_published(poli_alpha *s, pol_diagnostics *diagnostics)
{
  const pol_options *o = s->options;
  const pol_published *published = &o->published;
  const int incremental = published->sigma_update != POL_SIGMA_EXACT;
  /* without `place`: the iteration ends where its stopping rule says */
  const poli_newton_system system = {.residual =
                                         incremental ? incremental_residual : poli_alpha_residual,
                                     .matrix = poli_alpha_matrix,
                                     .tolerances = poli_alpha_tolerances,
                                     .round_off = poli_alpha_round_off,
                                     .user = s};
  if (incremental)
    predict_incremental(s);
  else if (published->newton != POL_PUBLISHED_NEWTON_DEFAULT)
    predict_from_zero(s);
  else if (published->exact_iterations > 0)
    predict_as_before(s);
  else
    poli_alpha_predict(s);
  pol_status status;
  if (poli_is_published_newton(published))
    status = poli_newton_solve_published(s->newton, published, &system,
                                         &(poli_published_rule){.norm = norm}, s->x, diagnostics);
  else
    status = poli_newton_solve(s->newton, &system, s->x, diagnostics);
  /* a_{n+1} has not followed the increments */
  for (int i = 0; i < s->saddle->nv && incremental && !status; i++)
    s->next.a[i] += (1.0 - o->alpha_f) / (1.0 - o->alpha_m) * s->next.vd[i];
  return status;
}
