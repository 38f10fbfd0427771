/* Newton's method; see newton.h.  The modified variant keeps its factorised matrix from step to
 * step while the residual falls by at least the factor `refresh` an iteration
 * (Holzinger/Arnold/Gerstmayr use 0.5). The line search is Armijo's rule on the weighted residual
 * (Kelley 1995). */
#include "dae/newton.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step that keeps this share of the predicted decrease is taken. */
static const double armijo = 1e-4;

/* Marks each increment as rotation or translation. */
static void classify(unsigned char *kind, const pol_group *group)
{
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    for (int i = 0; i < factor->dim; i++)
      kind[factor->v + i] = factor->kind == POL_REAL || i >= 3 ? POL_TRANSLATIONS : POL_ROTATIONS;
  }
}

pol_status pol_newton_create(pol_newton **newton, const pol_dae *dae, pol_saddle *saddle,
                             const pol_newton_options *options, pol_counts *counts)
{
  pol_newton *s = *newton = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  size_t n = (size_t)saddle->n;
  *s = (pol_newton){.options = *options, .dae = dae, .saddle = saddle, .counts = counts};
  s->kind = calloc((size_t)dae->group.nv + 1, sizeof *s->kind);
  s->memory = calloc((4 + POL_KINDS) * n + 1, sizeof *s->memory);
  if (!s->kind || !s->memory) {
    pol_newton_free(newton);
    return POL_NO_MEMORY;
  }
  classify(s->kind, &dae->group);
  s->trial = s->memory;
  s->dx = s->trial + n;
  s->r = s->dx + n;
  s->trial_r = s->r + n;
  for (int k = 0; k < POL_KINDS; k++) s->row_size[k] = s->trial_r + (size_t)(k + 1) * n;
  return POL_OK;
}

void pol_newton_free(pol_newton **newton)
{
  if (!*newton) return;
  free((*newton)->kind);
  free((*newton)->memory);
  free(*newton);
  *newton = NULL;
}

void pol_newton_reset(pol_newton *newton)
{
  newton->has_matrix = 0;
}

/* --- norms --------------------------------------------------------------------------------------
 */

/* Sums of |matrix| over the increments of each kind, a row. */
static void measure_rows(pol_newton *s)
{
  const pol_pattern *S = s->saddle->pattern;
  for (int k = 0; k < POL_KINDS; k++)
    memset(s->row_size[k], 0, (size_t)s->saddle->n * sizeof *s->row_size[k]);
  for (int j = 0; j < s->saddle->nv; j++) {
    double *size = s->row_size[s->kind[j]];
    for (int k = S->start[j]; k < S->start[j + 1]; k++)
      size[S->row[k]] += fabs(s->saddle->values[k]);
  }
}

/* Largest residual over what is accepted; the row in *worst. */
static double residual_norm(const pol_newton *s, const double *r, int *worst)
{
  double max = -1.0;
  for (int i = 0; i < s->saddle->n; i++) {
    double accepted = DBL_MIN;
    for (int k = 0; k < POL_KINDS; k++) accepted += s->row_size[k][i] * s->tolerance[k];
    double size = fabs(r[i]) / accepted;
    if (!(size <= max)) {
      max = size;
      *worst = i;
    }
  }
  return max;
}

static double correction_norm(const pol_newton *s, double share)
{
  double max = 0.0;
  for (int i = 0; i < s->saddle->nv; i++) {
    double size = share * fabs(s->dx[i]) / (s->tolerance[s->kind[i]] + DBL_MIN);
    if (!(size <= max)) max = size;
  }
  return max;
}

/* --- iteration ----------------------------------------------------------------------------------
 */

/* Reports a failure; the matrix is not to be trusted for the next attempt. */
static pol_status fail(pol_newton *s, pol_status status, int row, const char *message,
                       const char *advice, pol_diagnostics *d)
{
  s->has_matrix = 0;
  d->status = status;
  d->equation = row < 0 ? -1 : pol_saddle_equation(s->saddle, row);
  d->where[0] = '\0';
  if (row >= 0) pol_dae_describe(s->dae, d->equation, d->where, sizeof d->where);
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "%s", advice);
  return status;
}

static pol_status evaluate(pol_newton *s, const pol_newton_system *system, const double *x,
                           double *r, pol_diagnostics *d)
{
  s->counts->residuals++;
  pol_status status = system->residual(x, r, system->user);
  if (status)
    return fail(s, status, -1, "the model could not be evaluated", "take a smaller step", d);
  system->tolerances(s->tolerance, system->user);
  return POL_OK;
}

static pol_status refresh(pol_newton *s, const pol_newton_system *system, pol_diagnostics *d)
{
  pol_status status = system->matrix(system->user);
  if (status)
    return fail(s, status, -1, "the matrix could not be evaluated", "take a smaller step", d);
  s->counts->jacobians++;
  s->counts->factorizations++;
  status = pol_solver_refactor(s->saddle->solver, s->saddle->values);
  if (status == POL_SINGULAR)
    return fail(s, status, pol_solver_singular_column(s->saddle->solver),
                "the Newton matrix is singular",
                "the mechanism may be in a singular position or have redundant constraints", d);
  if (status)
    return fail(s, status, -1, "the Newton matrix could not be factorised", "take a smaller step",
                d);
  measure_rows(s);
  s->has_matrix = 1;
  return POL_OK;
}

/* x + share dx for the largest share in 1, 1/2, ... that reduces the residual; its norm in *norm.
 * With share 0 none did. */
static pol_status search(pol_newton *s, const pol_newton_system *system, const double *x,
                         double before, int halvings, double *share, double *norm, int *worst,
                         pol_diagnostics *d)
{
  *share = 1.0;
  for (int k = 0;; k++, *share *= 0.5) {
    for (int i = 0; i < s->saddle->n; i++) s->trial[i] = x[i] + *share * s->dx[i];
    pol_status status = evaluate(s, system, s->trial, s->trial_r, d);
    if (status < 0 || (status && k == halvings)) return status;
    *norm = status ? HUGE_VAL : residual_norm(s, s->trial_r, worst);
    if (s->options.line_search == 0 || *norm <= 1.0 || *norm <= (1.0 - armijo * *share) * before)
      return POL_OK;
    if (k == halvings) break;
  }
  *share = 0.0;
  return POL_OK;
}

pol_status pol_newton_solve(pol_newton *newton, const pol_newton_system *system, double *x,
                            pol_diagnostics *diagnostics)
{
  static const char *smaller = "take a smaller step, or try the full Newton matrix";
  pol_newton *s = newton;
  pol_diagnostics *d = diagnostics;
  int n = s->saddle->n, worst = 0;
  int modified = s->options.kind == POL_NEWTON_MODIFIED;
  int fresh = 0; /* the matrix belongs to this step */
  d->iteration = 0;
  d->correction = 0.0;
  pol_status status = evaluate(s, system, x, s->r, d);
  if (status) return status;
  double before = 0.0;

  for (int k = 0; k < s->options.max_iterations; k++) {
    if (!modified || !s->has_matrix) {
      status = refresh(s, system, d);
      if (status) return status;
      fresh = 1;
    }
    before = residual_norm(s, s->r, &worst);
    for (int i = 0; i < n; i++) s->dx[i] = -s->r[i];
    pol_solver_solve(s->saddle->solver, s->dx);
    s->counts->newton_iterations++;
    d->iteration++;

    double share, norm;
    status =
        search(s, system, x, before, fresh ? s->options.line_search : 0, &share, &norm, &worst, d);
    if (status) return status;
    d->residual = norm;
    d->correction = correction_norm(s, share);
    if (!isfinite(norm) || !isfinite(d->correction))
      return fail(s, POL_NOT_FINITE, worst, "a residual is not finite", smaller, d);
    if (share == 0.0) {
      if (fresh) break;
      /* an old matrix led uphill: a new one from where we stand */
      status = evaluate(s, system, x, s->r, d);
      if (status) return status;
      s->has_matrix = 0;
      continue;
    }
    memcpy(x, s->trial, (size_t)n * sizeof *x);
    double *swap = s->r;
    s->r = s->trial_r;
    s->trial_r = swap;

    /* what the next correction would be, from how fast the residual falls */
    double contraction = before > 0.0 ? norm / before : 0.0;
    double ahead = contraction < 0.5 ? contraction / (1.0 - contraction) : 1.0;
    if (contraction > s->options.refresh) s->has_matrix = 0;
    if (norm <= 1.0 && ahead * d->correction <= 1.0) return POL_OK;
  }
  return fail(s, POL_NOT_CONVERGED, worst, "the Newton iteration did not converge", smaller, d);
}
