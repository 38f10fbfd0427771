/* Events of a simulation: zeros of functions of the state, found on the interpolation within the
 * last step, in the order of time and number.  Each is told once at a time.
 *
 * A reset ends the step at its zero, changes velocities there and restarts the integrator.  What
 * else has a zero at that time, or is taken through zero by the change, is due right after it; so
 * is what else has a zero at the end of the run.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/simulation_parts.h"
#include "integrators/root.h"

/* --- list ------------------------------------------------------------------------------------- */

pol_status pol_simulation_add_event(pol_simulation *sim, const pol_simulation_event *event,
                                    int *index)
{
  const int action = (int)event->action;
  if (event->function == NULL || action < POL_EVENT_RECORD || action > POL_EVENT_STOP ||
      (action == POL_EVENT_RESET && event->reset == NULL))
    return POL_BAD_ARGUMENT;
  size_t count = (size_t)sim->num_events + 1;
  pol_watched_event *longer = realloc(sim->events, count * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  sim->events = longer;
  sim->events[count - 1] = (pol_watched_event){.event = *event, .told = -1.0};
  if (index != NULL) *index = sim->num_events;
  sim->num_events++;
  return POL_OK;
}

int pol_simulation_event_index(const pol_simulation *sim)
{
  return sim->event;
}

const pol_simulation_event *pol_simulation_get_event(const pol_simulation *sim, int index)
{
  return index >= 0 && index < sim->num_events ? &sim->events[index].event : NULL;
}

const char *pol_event_action_name(pol_event_action action)
{
  static const char *const names[] = {"record", "reset", "stop"};
  return action >= POL_EVENT_RECORD && action <= POL_EVENT_STOP ? names[action] : NULL;
}

/* --- zeros ------------------------------------------------------------------------------------ */

/* The value of an event within the last step; the state is left there. */
static double value_within(pol_simulation *sim, const pol_simulation_event *event, double t)
{
  pol_integrator_interpolate(sim->integrator, t, sim->q, sim->v, sim->vd, sim->lambda);
  sim->state.t = t;
  return event->function(&sim->state, event->user);
}

/* Whether a zero at t is that of the event's own reset, at the start of the last step, once more:
 * where making the state consistent has moved it back before the zero, and the motion goes on in
 * the same direction, so that the value only becomes smaller. */
static int is_repeated(pol_simulation *sim, const pol_watched_event *w, double t)
{
  const double start = sim->t_before;
  if (w->told != start || w->event.action != POL_EVENT_RESET) return 0;
  const double first = value_within(sim, &w->event, start);
  return fabs(value_within(sim, &w->event, 0.5 * (start + t))) < fabs(first);
}

/* Whether an event has a zero in the last step that has not been told, and when. */
static int find_event(pol_simulation *sim, int i, double *t)
{
  const pol_watched_event *w = &sim->events[i];
  const pol_simulation_event *e = &w->event;
  return pol_integrator_find_event(sim->integrator, e->function, e->user, e->direction, t) &&
         *t >= sim->seen && *t != w->told && !is_repeated(sim, w, *t);
}

int pol_simulation_has_due_event(const pol_simulation *sim)
{
  for (int i = 0; i < sim->num_events; i++)
    if (sim->events[i].due) return 1;
  return 0;
}

int pol_simulation_next_event(pol_simulation *sim, double *when)
{
  int found = -1;
  for (int i = 0; i < sim->num_events; i++)
    if (sim->events[i].due) {
      *when = sim->seen;
      return i;
    }
  for (int i = 0; i < sim->num_events && sim->in_step; i++) {
    double t;
    if (!find_event(sim, i, &t) || (found >= 0 && t >= *when)) continue;
    found = i;
    *when = t;
  }
  return found;
}

/* --- resets ----------------------------------------------------------------------------------- */

/* Marks the other events at this time, by the step that it ends: their zeros may differ by
 * round-off. */
static void mark_simultaneous(pol_simulation *sim)
{
  const double round_off = 8.0 * DBL_EPSILON * sim->seen;
  for (int i = 0; i < sim->num_events; i++) {
    double t;
    if (find_event(sim, i, &t) && t <= sim->seen + round_off) sim->events[i].due = 1;
  }
}

/* Marks the events whose functions a reset has taken through zero.  Each is told once at a time, so
 * that resets that undo each other come to an end. */
static void mark_crossed(pol_simulation *sim)
{
  for (int i = 0; i < sim->num_events; i++) {
    pol_watched_event *w = &sim->events[i];
    const double after = w->event.function(&sim->state, w->event.user);
    if (w->told != sim->seen && pol_changes_sign(w->before, after, w->event.direction)) w->due = 1;
  }
}

/* Starts the integrator from the present state. */
static pol_status restart(pol_simulation *sim, const unsigned char *keep)
{
  const double t = sim->state.t;
  pol_status status = pol_integrator_restart(sim->integrator, t, sim->q, sim->v, keep);
  if (status == POL_OK) return POL_OK;
  sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
  sim->diagnostics.t = t;
  pol_simulation_blame_position(sim);
  return status;
}

/* Lets an event change the velocities of the present state, which has been made consistent first:
 * else what is kept might contradict the error of the interpolation. */
static pol_status change_velocities(pol_simulation *sim, const pol_simulation_event *event)
{
  pol_status status = restart(sim, NULL);
  if (status != POL_OK) return status;
  pol_simulation_copy_solution(sim, pol_integrator_state(sim->integrator));
  for (int i = 0; i < sim->num_events; i++) {
    pol_watched_event *w = &sim->events[i];
    w->before = w->event.function(&sim->state, w->event.user);
  }
  memset(sim->keep, 0, (size_t)sim->dae->group.nv);
  event->reset(&sim->state, sim->v, sim->keep, event->user);
  const int bad = pol_first_not_finite(sim->dae->group.nv, sim->v);
  if (bad >= 0)
    return pol_simulation_fail(sim, POL_NOT_FINITE, bad,
                               "the reset of an event sets what is not finite",
                               "look at what the event sets, at this time");
  return restart(sim, sim->keep);
}

/* Goes on from the present state with the velocities that the event wants.  The energy that the
 * change costs counts as dissipated. */
static pol_status reset(pol_simulation *sim, const pol_simulation_event *event)
{
  const double t = sim->state.t;
  pol_energy before = sim->summary.energy;
  sim->work = sim->summary.work;
  sim->t = t;
  pol_status status = change_velocities(sim, event);
  if (status != POL_OK) return status;
  if (!sim->variable) pol_simulation_plan_rest(sim, t);
  sim->fresh = 1;
  if ((status = pol_simulation_accept(sim, sim->done)) != POL_OK) return status;
  const pol_energy *after = &sim->summary.energy;
  sim->work.dissipated += (before.kinetic + before.potential) - (after->kinetic + after->potential);
  sim->power_before = sim->power;
  sim->work_before = sim->work;
  before = *after;
  pol_simulation_measure_now(sim, t, &before);
  mark_crossed(sim);
  sim->in_step = 0;
  return POL_OK;
}

/* --- stops ------------------------------------------------------------------------------------ */

pol_status pol_simulation_stop_at(pol_simulation *sim, int event, double t)
{
  pol_watched_event *w = &sim->events[event];
  sim->event = event;
  sim->seen = w->told = t;
  w->due = 0;
  /* after a reset, and at the end, no step looks for them any more */
  if (w->event.action == POL_EVENT_RESET || t >= sim->end) mark_simultaneous(sim);
  pol_status status = pol_simulation_show(sim, t);
  if (w->event.action == POL_EVENT_STOP) sim->stopped = 1;
  if (status == POL_OK && w->event.action == POL_EVENT_RESET) status = reset(sim, &w->event);
  return status;
}
