/* Events: zeros of a function of the solution within the last accepted step, found on the
 * interpolant of dense.c by a bracketing root finder: inverse quadratic interpolation where three
 * values lie so that it is safe, bisection elsewhere (T. R. Chandrupatla, Advances in Engineering
 * Software 28, 1997). */
#include "integrators/root.h"

#include <float.h>
#include <math.h>

#include "integrators/family.h"

double poli_find_root(double (*f)(double x, void *user), void *user, double a, double fa, double b,
                      double fb)
{
  const int most_trials = 200;
  double x1 = b, f1 = fb, x2 = a, f2 = fa, share = 0.5;
  int positive = fb > 0.0;
  for (int k = 0; k < most_trials && f1 != 0.0; k++) {
    double x3, f3, x = x1 + share * (x2 - x1), fx = f(x, user);
    if ((fx > 0.0) == (f1 > 0.0)) {
      x3 = x1;
      f3 = f1;
    } else {
      x3 = x2;
      f3 = f2;
      x2 = x1;
      f2 = f1;
    }
    x1 = x;
    f1 = fx;
    double least = 2.0 * DBL_EPSILON * fmax(fabs(x1), fabs(x2)) + DBL_MIN;
    double least_share = least / fabs(x2 - x1);
    if (least_share >= 0.5) break;
    /* where to look next, as a share of the way from x1 to x2; x3 is the end that was left last */
    const double xi = (x1 - x2) / (x3 - x2), phi = (f1 - f2) / (f3 - f2);
    share = 0.5;
    if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
      share =
          f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2);
    share = fmin(fmax(share, least_share), 1.0 - least_share);
  }
  return f1 == 0.0 || (f1 > 0.0) == positive ? x1 : x2;
}

int poli_changes_sign(double first, double last, int direction)
{
  if (first == 0.0 || isnan(first) || isnan(last)) return 0;
  if (first > 0.0 ? last > 0.0 : last < 0.0) return 0;
  return direction == 0 || (direction > 0) == (first < 0.0);
}

typedef struct event_search {
  pol_integrator *integrator;
  pol_event event;
  void *user;
} event_search;

/* The event function at a time within the step. */
static double event_at(double t, void *user)
{
  const event_search *s = user;
  double *to = s->integrator->interpolated;
  pol_state at = poli_integrator_layout(s->integrator, t, to);
  pol_integrator_interpolate(s->integrator, t, to, to + (at.v - at.q), to + (at.vd - at.q),
                             to + (at.lambda - at.q));
  return s->event(&at, s->user);
}

int pol_integrator_find_event(pol_integrator *integrator, pol_event event, void *user,
                              int direction, double *t)
{
  event_search s = {integrator, event, user};
  double from = integrator->before.t, to = integrator->state.t;
  if (!integrator->before.q || !integrator->state.q) return 0;
  double first = event_at(from, &s), last = event_at(to, &s);
  if (!poli_changes_sign(first, last, direction)) return 0;
  *t = poli_find_root(event_at, &s, from, first, to, last);
  return 1;
}
