/* Iterations of Newton's method that do not choose their own end: a fixed number of corrections for
 * real time, and plain iterations as in published runs (polhode/published.h). */
#include <math.h>
#include <stdio.h>

#include "dae/newton_parts.h"

/* The same work in every step, for real time: a matrix after every matrix_interval steps, then a
 * fixed number of corrections.  What they leave is measured and counted, not corrected; but the
 * step fails if they have increased the residual, or if what they leave is more than a hundredth of
 * what the step changes. */
pol_status poli_newton_solve_fixed(poli_newton *s, const poli_newton_system *system, double *x,
                                   pol_diagnostics *d)
{
  const int n = s->matrix.n;
  pol_status status = poli_newton_evaluate_or_fail(s, system, x, d);
  if (status) return status;
  if (!s->has_matrix || s->uses >= s->options.matrix_interval)
    status = poli_newton_refresh(s, system, d);
  if (status) return status;
  s->uses++;
  poli_newton_measure(s, x);
  const double before = poli_newton_residual_norm(s, s->r);
  for (int k = 0; k < s->options.fixed_iterations; k++) {
    poli_newton_solve_correction(s);
    s->counts->newton_iterations++;
    d->iteration++;
    for (int i = 0; i < n; i++) x[i] += s->dx[i];
    if ((status = poli_newton_evaluate_or_fail(s, system, x, d))) return status;
  }
  const double after = poli_newton_residual_norm(s, s->r);
  s->has_accepted = 0; /* in the tolerances of the end */
  poli_newton_measure(s, x);
  d->residual = poli_newton_residual_norm(s, s->r);
  d->correction = poli_newton_correction_norm(s);
  if (!isfinite(d->residual) || !isfinite(d->correction))
    return poli_newton_fail(s, POL_NOT_FINITE, poli_newton_worst_residual(s, s->r),
                            "a residual is not finite", poli_smaller_step, d);
  if (d->residual <= 1.0) return POL_OK;
  s->counts->inexact++;
  s->counts->worst_residual = fmax(s->counts->worst_residual, d->residual);
  const double most = 0.01 / s->options.tolerance;
  if (after <= before && d->residual <= most) return POL_OK;
  return poli_newton_fail(s, POL_NOT_CONVERGED, poli_newton_worst_residual(s, s->r),
                          after <= before
                              ? "the fixed number of Newton iterations is not enough"
                              : "the fixed number of Newton iterations has increased the residual",
                          "take a smaller step, more iterations, or a new matrix more often", d);
}

/* --- as published ----------------------------------------------------------------------------- */

/* To repeat published counts and tables: a fixed number of corrections, or plain iterations without
 * line search (polhode/published.h). */

/* x + dx, with dx from the last residual. */
static void correct(poli_newton *s, double *x, pol_diagnostics *d)
{
  poli_newton_solve_correction(s);
  for (int i = 0; i < s->matrix.n; i++) x[i] += s->dx[i];
  s->counts->newton_iterations++;
  d->iteration++;
}

/* A fixed number of corrections, whatever they leave; or, without a number, Newton's method as it
 * stands in a textbook: the stopping rule looks at the residual before a correction and at the
 * correction. */
static pol_status solve_plain(poli_newton *s, const poli_newton_system *system,
                              const poli_published_rule *rule, int exactly, double *x,
                              pol_diagnostics *d)
{
  int done = 0;
  for (int k = 0; k < (exactly ? exactly : s->options.max_iterations) && !done; k++) {
    pol_status status = poli_newton_evaluate_or_fail(s, system, x, d);
    if (!status) status = poli_newton_refresh(s, system, d);
    if (status) return status;
    correct(s, x, d);
    for (int i = 0; i < s->matrix.num_increments && exactly; i++)
      if (!isfinite(s->dx[i]))
        return poli_newton_fail(s, POL_NOT_FINITE, -1, "a correction is not finite",
                                poli_smaller_step, d);
    if (exactly) continue;
    d->residual = d->correction = rule->size(s->r, s->dx, system->user) / s->options.tolerance;
    if (!isfinite(d->residual))
      return poli_newton_fail(s, POL_NOT_FINITE, -1, "a residual is not finite", poli_smaller_step,
                              d);
    done = d->residual <= 1.0;
  }
  if (exactly || done) return poli_newton_evaluate_or_fail(s, system, x, d);
  return poli_newton_fail(s, POL_NOT_CONVERGED, -1, "the Newton iteration did not converge",
                          poli_smaller_step, d);
}

/* Until the residual is a share of the first one, as multibody programs have it (Gerstmayr 2024;
 * Holzinger/Arnold/Gerstmayr, section 7): at least one correction, no second trial.  A first
 * residual that is smaller than the second is not the measure. */
static pol_status solve_by_residual(poli_newton *s, const poli_newton_system *system,
                                    const poli_published_rule *rule, int modified, double *x,
                                    pol_diagnostics *d)
{
  enum { JUDGED = 3, PATIENCE = 8 };
  const double absolute = 1e-10;
  pol_status status = poli_newton_evaluate_or_fail(s, system, x, d);
  if (status) return status;
  double first = fmax(rule->norm(s->r, system->user), 2.0 * absolute), last = first;
  while (d->iteration < s->options.max_iterations) {
    if (!modified || !s->has_matrix) status = poli_newton_refresh(s, system, d);
    if (status) return status;
    correct(s, x, d);
    status = poli_newton_evaluate_or_fail(s, system, x, d);
    if (status) return status;
    const double now = rule->norm(s->r, system->user);
    if (d->iteration == 1 && now > first) first = last = now;
    d->residual = d->correction = now / fmax(s->options.tolerance * first, absolute);
    if (!isfinite(now))
      return poli_newton_fail(s, POL_NOT_FINITE, -1, "a residual is not finite", poli_smaller_step,
                              d);
    if (d->residual <= 1.0) return POL_OK;
    if (d->iteration > PATIENCE || (d->iteration >= JUDGED && now > s->options.refresh * last))
      s->has_matrix = 0;
    last = now;
  }
  return poli_newton_fail(s, POL_NOT_CONVERGED, -1, "the Newton iteration did not converge",
                          "take a smaller step, or do without simulation.published.newton", d);
}

pol_status poli_newton_solve_published(poli_newton *newton, const pol_published *published,
                                       const poli_newton_system *system,
                                       const poli_published_rule *rule, double *x,
                                       pol_diagnostics *diagnostics)
{
  pol_diagnostics *d = diagnostics;
  d->iteration = 0;
  d->correction = 0.0;
  if (published->newton == POL_PUBLISHED_NEWTON_DEFAULT)
    return solve_plain(newton, system, rule, published->exact_iterations, x, d);
  if (published->newton == POL_PUBLISHED_NEWTON_PLAIN && rule->size)
    return solve_plain(newton, system, rule, 0, x, d);
  return solve_by_residual(newton, system, rule,
                           published->newton == POL_PUBLISHED_NEWTON_PLAIN_MODIFIED, x, d);
}
