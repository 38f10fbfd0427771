/* Newton's method as published, to repeat published counts and tables: a fixed number of
 * corrections, or plain iterations without line search.  See polhode/published.h. */
#include "dae/newton_published.h"

#include <math.h>

/* x + dx, with dx from the last residual. */
static void correct(poli_newton *s, double *x, pol_diagnostics *d)
{
  for (int i = 0; i < s->matrix.n; i++) s->dx[i] = -s->r[i];
  pol_solver_solve(s->matrix.solver, s->dx);
  for (int i = 0; i < s->matrix.n; i++) x[i] += s->dx[i];
  s->counts->newton_iterations++;
  d->iteration++;
}

static pol_status not_finite(poli_newton *s, const char *message, pol_diagnostics *d)
{
  return poli_newton_fail(s, POL_NOT_FINITE, -1, message, "take a smaller step", d);
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
    pol_status status = poli_newton_evaluate(s, system, x, d);
    if (!status) status = poli_newton_refresh(s, system, d);
    if (status) return status;
    correct(s, x, d);
    for (int i = 0; i < s->matrix.num_increments && exactly; i++)
      if (!isfinite(s->dx[i])) return not_finite(s, "a correction is not finite", d);
    if (exactly) continue;
    d->residual = d->correction = rule->size(s->r, s->dx, system->user) / s->options.tolerance;
    if (!isfinite(d->residual)) return not_finite(s, "a residual is not finite", d);
    done = d->residual <= 1.0;
  }
  if (exactly || done) return poli_newton_evaluate(s, system, x, d);
  return poli_newton_fail(s, POL_NOT_CONVERGED, -1, "the Newton iteration did not converge",
                          "take a smaller step", d);
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
  pol_status status = poli_newton_evaluate(s, system, x, d);
  if (status) return status;
  double first = fmax(rule->norm(s->r, system->user), 2.0 * absolute), last = first;
  while (d->iteration < s->options.max_iterations) {
    if (!modified || !s->has_matrix) status = poli_newton_refresh(s, system, d);
    if (status) return status;
    correct(s, x, d);
    status = poli_newton_evaluate(s, system, x, d);
    if (status) return status;
    const double now = rule->norm(s->r, system->user);
    if (d->iteration == 1 && now > first) first = last = now;
    d->residual = d->correction = now / fmax(s->options.tolerance * first, absolute);
    if (!isfinite(now)) return not_finite(s, "a residual is not finite", d);
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
