/* What Newton's unknowns mean, and what they leave of the equations; see generalized_alpha.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/wide.h"
#include "dae/dae.h"
#include "integrators/alpha.h"

/* q*, what c is made of and the constraint matrix at the old configuration. */
pol_status poli_alpha_prepare(poli_alpha *s)
{
  const pol_options *o = s->options;
  const pol_group *group = &s->dae->group;
  double h = s->h, *w = s->theta;
  double in_velocity = s->update->base_velocity ? 0.0 : 1.0;
  double in_acceleration = s->update->base_acceleration ? 0.0 : 1.0;
  s->c_v = h * (in_velocity - o->beta / o->gamma);
  s->c_a = h * h * (in_acceleration * (0.5 - o->beta) - o->beta / o->gamma * (1.0 - o->gamma));

  if (s->update->base_velocity) {
    for (int i = 0; i < group->nv; i++) w[i] = h * s->now.v[i];
    pol_group_move(group, s->now.q, w, s->base);
  }
  if (s->update->base_acceleration) {
    for (int i = 0; i < group->nv; i++) w[i] = h * h * (0.5 - o->beta) * s->now.a[i];
    pol_group_move(group, s->base, w, s->base);
  }

  /* translations are the last numbers of a factor; rotations have none */
  s->length = poli_dae_length(s->dae);
  int num_factors = group->num_factors - (s->dae->num_states > 0);
  for (int f = 0; f < num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    int end = factor->q + (factor->kind == POL_SE3 ? 7 : factor->dim);
    int first = factor->kind == POL_SE3 ? factor->q + 4 : factor->q;
    if (factor->kind != POL_REAL && factor->kind != POL_SE3) continue;
    for (int i = first; i < end; i++)
      if (factor->kind == POL_SE3 || poli_dae_is_length(s->dae, factor->v + i - first))
        s->length = fmax(s->length, fabs(s->now.q[i]));
  }
  if (!s->saddle->num_extra) return POL_OK;
  if (s->by_rows) return poli_alpha_rows_prepare(s);
  pol_point at = {
      .t = s->t - h, .q = s->now.q, .v = s->now.v, .vd = s->now.vd, .history = s->history};
  pol_terms out = {.jacobian = s->old_jacobian};
  return poli_dae_evaluate(s->dae, &at, POL_JACOBIAN, &out, s->scratch);
}

/* First guess: from the polynomial through the last accepted steps (eta grows with h^2); or
 * accelerations and multipliers go on along a line where the step before had the same size (s->next
 * still holds the values of its start), or stay as they are. */
void poli_alpha_predict(poli_alpha *s)
{
  const pol_options *o = s->options;
  int nv = s->saddle->nv, m = s->saddle->m;
  if (s->polynomial) {
    poli_predictor_at(&s->predictor, s->t, s->sample);
    for (int i = 0; i < nv; i++) {
      double a_old = s->now.a[i];
      double a =
          ((1.0 - o->alpha_f) * s->sample[i] + o->alpha_f * s->now.vd[i] - o->alpha_m * a_old) /
          (1.0 - o->alpha_m);
      double v = s->now.v[i] + s->h * ((1.0 - o->gamma) * a_old + o->gamma * a);
      s->x[i] = poli_alpha_c(s, i) / s->h + o->beta / o->gamma * v;
    }
    for (int i = 0; i < m; i++) s->x[nv + i] = s->h * s->sample[nv + i];
    for (int i = 0; i < s->saddle->num_extra; i++)
      s->x[nv + m + i] = s->h * s->h * s->sample[nv + m + i];
    poli_alpha_add_transposed(s, -1.0, s->x + nv + m, s->x);
    return;
  }
  /* after a failure s->next may hold anything, also numbers that are not finite */
  const poli_alpha_values *before = s->same_step ? &s->next : &s->now;
  for (int i = 0; i < nv; i++) {
    double a = s->now.a[i] + o->gamma * (s->now.a[i] - before->a[i]);
    s->x[i] = poli_alpha_c(s, i) / s->h + o->beta / o->gamma * (s->now.v[i] + s->h * a);
  }
  for (int i = 0; i < m; i++) s->x[nv + i] = s->h * (2.0 * s->now.lambda[i] - before->lambda[i]);
  for (int i = 0; i < s->saddle->num_extra; i++) s->x[nv + m + i] = 0.0;
}

/* v_{n+1} of theta and eta, for sigma that is not 0. */
static pol_status new_velocity(poli_alpha *s)
{
  const pol_options *o = s->options;
  const pol_group *group = &s->dae->group;
  double scale = o->gamma / (s->h * o->beta), *v = s->next.v, *c = s->column;
  for (int i = 0; i < group->nv; i++) c[i] = poli_alpha_c(s, i);
  pol_group_tangent(group, s->theta, c, v);
  for (int i = 0; i < group->nv; i++) v[i] = scale * (s->theta[i] - v[i] + s->stabilizing[i]);
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    double T[POLI_DIM * POLI_DIM], y[POLI_DIM];
    if (factor->kind == POL_REAL || o->sigma == 1.0) continue;
    pol_factor_tangent(factor, s->theta + factor->v, T);
    if (!pol_alpha_invert_P(o->sigma, T, factor->dim, s->P_inverse[f])) return POL_SINGULAR;
    poli_alpha_copy(y, v + factor->v, factor->dim);
    poli_alpha_apply(s->P_inverse[f], y, factor->dim, v + factor->v);
  }
  return POL_OK;
}

/* v = T psi' and v' = T psi'' + (dT/dpsi . psi') psi' of the vector factors among some; the others
 * as they are. */
static void map_to_model(poli_alpha *s, poli_alpha_range range)
{
  const pol_group *group = &s->dae->group;
  const int count = range.end_v - range.v;
  poli_alpha_copy(s->model_v + range.v, s->next.v + range.v, count);
  poli_alpha_copy(s->model_vd + range.v, s->next.vd + range.v, count);
  for (int f = range.first; f < range.end; f++) {
    const pol_factor *factor = &group->factors[f];
    int k = factor->v, n = factor->dim;
    double T[POLI_DIM * POLI_DIM], D[POLI_DIM * POLI_DIM], turn[POLI_DIM];
    if (!poli_alpha_is_vector(s, factor)) continue;
    pol_factor_tangent(factor, s->theta + k, T);
    pol_factor_tangent_derivative(factor, s->theta + k, s->next.v + k, D);
    poli_alpha_apply(T, s->next.v + k, n, s->model_v + k);
    poli_alpha_apply(T, s->next.vd + k, n, s->model_vd + k);
    poli_alpha_apply(D, s->next.v + k, n, turn);
    for (int i = 0; i < n; i++) s->model_vd[k + i] += turn[i];
  }
}

/* After a step the coordinates start again from zero: a := T a + (dT/dpsi . psi') psi', the same
 * for v', and v := T psi'. */
void poli_alpha_recentre(poli_alpha *s)
{
  const pol_group *group = &s->dae->group;
  if (s->by_rows) return;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    int k = factor->v, n = factor->dim;
    double T[POLI_DIM * POLI_DIM], D[POLI_DIM * POLI_DIM], a[POLI_DIM], turn[POLI_DIM];
    if (!poli_alpha_is_vector(s, factor)) continue;
    pol_factor_tangent(factor, s->theta + k, T);
    pol_factor_tangent_derivative(factor, s->theta + k, s->next.v + k, D);
    poli_alpha_apply(D, s->next.v + k, n, turn);
    poli_alpha_apply(T, s->next.a + k, n, a);
    for (int i = 0; i < n; i++) s->next.a[k + i] = a[i] + turn[i];
  }
  poli_alpha_copy(s->next.v, s->model_v, group->nv);
  poli_alpha_copy(s->next.vd, s->model_vd, group->nv);
}

void poli_alpha_add_transposed(poli_alpha *s, double scale, const double *eta, double *out)
{
  const poli_saddle *saddle = s->saddle;
  if (saddle->num_extra == 0) return; /* B(q_n) is not evaluated either */
  if (s->by_rows) {
    poli_alpha_rows_add_transposed(s, scale, eta, out);
    return;
  }
  for (int i = 0; i < saddle->num_extra; i++)
    for (int k = saddle->row_start[i]; k < saddle->row_start[i + 1]; k++)
      out[saddle->row_col[k]] += scale * eta[i] * s->old_jacobian[saddle->row_address[k]];
}

poli_alpha_range poli_alpha_factors(const poli_alpha *s, int first, int end)
{
  const pol_group *group = &s->dae->group;
  const int count = group->num_factors;
  return (poli_alpha_range){.first = first,
                            .end = end,
                            .v = first < count ? group->factors[first].v : group->nv,
                            .end_v = end < count ? group->factors[end].v : group->nv};
}

void poli_alpha_measure_factors(poli_alpha *s, poli_alpha_range range)
{
  const double *next = s->next.vd, *now = s->now.vd;
  const int *kind = (s->newton ? s->newton : poli_alpha_rows_newton(s->rows))->kind;
  const int known = s->saddle->nv - s->dae->num_states;
  const int last = range.end_v < known ? range.end_v : known;
  for (int i = range.v; i < last;) {
    const int k = kind[i];
    double size = s->acceleration[k], change = s->change[k];
    for (; i < last && kind[i] == k; i++) {
      const double after = fabs(next[i]), before = fabs(now[i]), step = fabs(next[i] - now[i]);
      size = after > size ? after : size;
      size = before > size ? before : size;
      change = step > change ? step : change;
    }
    s->acceleration[k] = size;
    s->change[k] = change;
  }
}

/* Sets s->acceleration and s->change from s->next, unless the residual has done so. */
static void measure_accelerations(poli_alpha *s)
{
  if (!s->has_accelerations) {
    for (int k = 0; k < POLI_KINDS; k++) s->acceleration[k] = s->change[k] = 0.0;
    poli_alpha_measure_factors(s, poli_alpha_factors(s, 0, s->dae->group.num_factors));
  }
  s->has_accelerations = 0;
}

/* What some components are placed from and to. */
typedef struct components {
  const double *x, *stabilizing, *old_v, *old_a, *old_vd; /* stabilizing may be NULL */
  double c_v, c_a;
  double *theta, *v, *a, *vd;
} components;

/* theta and v, unless sigma is not 0 (x is NULL), then a and v'. */
static POLI_WIDE void place_components(const pol_options *o, double h, int n, const components *p)
{
  const double *restrict x = p->x, *restrict stabilizing = p->stabilizing;
  const double *restrict old_v = p->old_v, *restrict old_a = p->old_a, *restrict old_vd = p->old_vd;
  double *restrict theta = p->theta, *restrict v = p->v, *restrict a = p->a, *restrict vd = p->vd;
  const double scale = o->gamma / (h * o->beta), c_v = p->c_v, c_a = p->c_a;
  const double by_v = 1.0 / (h * o->gamma), by_old = (1.0 - o->gamma) / o->gamma;
  const double share = 1.0 / (1.0 - o->alpha_f), of_a = share * (1.0 - o->alpha_m);
  const double of_old = share * o->alpha_m, of_vd = share * o->alpha_f;
  for (int i = 0; i < n && x; i++) {
    theta[i] = h * x[i];
    v[i] = scale * (theta[i] - (c_v * old_v[i] + c_a * old_a[i]));
  }
  for (int i = 0; i < n && x && stabilizing; i++) v[i] += scale * stabilizing[i];
  for (int i = 0; i < n; i++) {
    a[i] = by_v * (v[i] - old_v[i]) - by_old * old_a[i];
    vd[i] = of_a * a[i] + (of_old * old_a[i] - of_vd * old_vd[i]);
  }
}

void poli_alpha_place_factors(poli_alpha *s, const double *x, poli_alpha_range range)
{
  const pol_group *group = &s->dae->group;
  const int begin = range.v;
  const components part = {.x = s->options->sigma == 0.0 ? x + begin : NULL,
                           .stabilizing = s->saddle->num_extra ? s->stabilizing + begin : NULL,
                           .c_v = s->c_v,
                           .c_a = s->c_a,
                           .old_v = s->now.v + begin,
                           .old_a = s->now.a + begin,
                           .old_vd = s->now.vd + begin,
                           .theta = s->theta + begin,
                           .v = s->next.v + begin,
                           .a = s->next.a + begin,
                           .vd = s->next.vd + begin};
  place_components(s->options, s->h, range.end_v - begin, &part);
  pol_group moved = *group;
  moved.factors = group->factors + range.first;
  moved.num_factors = range.end - range.first;
  pol_group_move(&moved, s->update->base_velocity ? s->base : s->now.q, s->theta, s->next.q);
  if (!s->by_rows) map_to_model(s, range); /* rows see next.v itself */
}

/* Many factors at a time would leave the cache between the loops over them. */
typedef struct placing {
  poli_alpha *s;
  const double *x;
} placing;

static void place_all(int first, int end, void *user)
{
  enum { FEW = 2048 };
  const placing *p = user;
  for (int f = first; f < end; f += FEW)
    poli_alpha_place_factors(p->s, p->x,
                             poli_alpha_factors(p->s, f, f + FEW < end ? f + FEW : end));
}

void poli_alpha_place_multipliers(poli_alpha *s, const double *x, int first, int end)
{
  const double rate = 1.0 / s->h, *mu = x + s->saddle->nv;
  for (int i = first; i < end; i++) s->next.lambda[i] = rate * mu[i];
  for (int i = first; i < end && s->dropped; i++)
    if (s->dropped[i]) s->next.lambda[i] = 0.0;
}

pol_status poli_alpha_place(const double *x, void *alpha)
{
  poli_alpha *s = alpha;
  const int nv = s->saddle->nv, m = s->saddle->m;
  pol_status status = POL_OK;
  poli_alpha_place_multipliers(s, x, 0, m);
  if (s->saddle->num_extra) {
    poli_alpha_copy(s->eta, x + nv + m, s->saddle->num_extra);
    memset(s->stabilizing, 0, (size_t)nv * sizeof *s->stabilizing);
    poli_alpha_add_transposed(s, s->h, s->eta, s->stabilizing);
  }
  if (s->options->sigma != 0.0) {
    for (int i = 0; i < nv; i++) s->theta[i] = s->h * x[i];
    status = new_velocity(s);
  }
  placing p = {s, x};
  if (!status) poli_parallel_ranges(s->threads, s->dae->group.num_factors, place_all, &p);
  return status;
}

pol_status poli_alpha_evaluate(poli_alpha *s, double *r)
{
  int nv = s->saddle->nv, m = s->saddle->m, nh = s->dae->num_holonomic;
  int index3 = s->options->index == POL_INDEX_3, stabilized = s->saddle->num_extra > 0;
  for (int i = 0; i < m && s->dropped; i++)
    if (s->dropped[i]) s->next.lambda[i] = 0.0;
  unsigned want = POL_INERTIA | POL_FORCE | POL_REACTION;
  if (index3 || stabilized) want |= POL_POSITION;
  if (!index3 || nh < m) want |= POL_VELOCITY;
  pol_point at = {s->t, s->next.q, s->model_v, s->model_vd, s->next.lambda, s->history};
  pol_terms out = {.balance = r, .position = s->position, .velocity = s->velocity};
  pol_status status = poli_dae_evaluate(s->dae, &at, want, &out, s->scratch);
  if (status) return status;
  for (int i = 0; i < nv; i++) r[i] *= s->h;
  for (int i = 0; i < m; i++) r[nv + i] = index3 && i < nh ? s->position[i] / s->h : s->velocity[i];
  if (stabilized)
    for (int i = 0; i < nh; i++) r[nv + m + i] = s->position[i] / s->h;
  /* dropped constraints hold by lambda_i = 0, eta_i = 0 */
  for (int i = 0; i < m && s->dropped; i++)
    if (s->dropped[i]) r[nv + i] = 0.0;
  for (int i = 0; i < s->saddle->num_extra && s->dropped; i++)
    if (s->dropped[i]) r[nv + m + i] = 0.0;
  return POL_OK;
}

pol_status poli_alpha_residual(const double *x, double *r, void *alpha)
{
  pol_status status = poli_alpha_place(x, alpha);
  return status ? status : poli_alpha_evaluate(alpha, r);
}

/* The tolerance of Newton's method by the error of the step.  If accelerations a change by d in a
 * step, the method has the error C h d in theta/h, with C about 1/10, and what Newton's method
 * leaves accumulates like a force.  So with the share k (d/a)^2 of the increment h a its part of
 * the global error is about k/C times the number of time constants h a/d in the run, for any h. The
 * last correction leaves a hundredth of it (newton.h).
 *
 * A motion that returns to a calm state, an unstable equilibrium or rotation, and leaves it again
 * magnifies errors by the square of a over the accelerations a_c of that state: on the hyperbola
 * x y = D about a saddle the one that leaves is x = D/y.  Where a_c is below 1/100 of a, the
 * tolerance falls with (100 a_c/a)^2. */
static double step_tolerance(const poli_alpha *s)
{
  const double share = 1e-5, most = 1000.0, tight = s->options->newton.tolerance;
  const double usual = 0.01, least_part = 0.01;
  double least = most * tight, calm = 1.0;
  if (s->options->newton.stop == POL_STOP_TIGHT) return tight;
  for (int k = 0; k < POLI_KINDS; k++) {
    if (!(s->acceleration[k] > 0.0)) continue;
    const double relative = s->change[k] / s->acceleration[k];
    least = fmin(least, share * relative * relative);
    calm = fmin(calm, s->calm[k] / (usual * s->acceleration[k]));
  }
  return fmax(fmax(least, tight) * calm * calm, least_part * tight);
}

/* What a correction of theta/h may be: a share of the increment that accelerations make.  Pure
 * numbers are related to lengths by constraints of their own, so both have one tolerance. */
void poli_alpha_tolerances(double *tolerance, void *alpha)
{
  poli_alpha *s = alpha;
  measure_accelerations(s);
  const double share = step_tolerance(s) * s->h;
  for (int k = 0; k < POLI_KINDS; k++) tolerance[k] = share * s->acceleration[k];
  for (int k = 0; k < POLI_KINDS && s->dae->pure; k++)
    tolerance[k] =
        share * fmax(s->acceleration[POLI_ROTATIONS], s->acceleration[POLI_TRANSLATIONS]);
  for (int i = 0; i < s->dae->num_states; i++) {
    int k = s->saddle->nv - s->dae->num_states + i;
    tolerance[POLI_KINDS + i] = share * fmax(fabs(s->next.vd[k]), fabs(s->now.vd[k]));
  }
}

/* The round-off of theta/h: that of the coordinates over h.  A state follows velocities, which have
 * the round-off of coordinates over h: relative to itself it is allowed as much. */
void poli_alpha_round_off(double *round_off, void *alpha)
{
  const poli_alpha *s = alpha;
  const double eps = DBL_EPSILON / s->h;
  round_off[POLI_ROTATIONS] = eps;
  round_off[POLI_TRANSLATIONS] = eps * s->length;
  for (int i = 0; i < s->dae->num_states; i++) {
    int k = s->saddle->nv - s->dae->num_states + i;
    round_off[POLI_KINDS + i] = eps * fmax(1.0, fabs(s->now.v[k]));
  }
}
