/* Events: zeros of a function of the solution within the last accepted step, found on the
 * interpolant of dense.c. */
#include "integrators/family.h"
#include "integrators/root.h"

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
