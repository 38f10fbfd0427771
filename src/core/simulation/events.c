/* Events of a simulation: zeros of functions of the state, found on the interpolation within the
 * last step, in the order of time and number.  Each is reported once at a time.
 *
 * The functions are evaluated at five points of each step and, where |f| has a minimum between
 * them, at some more near it, so that a function that only dips through zero is found.
 *
 * A reset ends the step at its zero, changes velocities there and restarts the integrator.  What
 * else has a zero at that time, or is taken through zero by the change, is due right after it; so
 * is what else has a zero at the end of the run.
 *
 * A hard stop is due wherever its rate leads into it at the limit: at the start and after each
 * reset.  So impacts at the same time follow each other until no rate leads into a stop that is
 * touched.  Where the joint comes to rest, and where it leaves the stop again, the integrator is
 * restarted too, but nothing is reported (hard_stops.c).
 *
 * Resets accumulate where a body comes to rest: the bounces of a ball become shorter in geometric
 * progression, infinitely many in a finite time.  Events cannot continue beyond that, and the
 * ball would fall through the floor.  The run fails where an interval and the rate of the function
 * have become very small compared with the largest before, or where the function passes zero,
 * without having been on its side, after a reset that has reversed or stopped it.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/formulation.h"
#include "integrators/root.h"
#include "simulation/parts.h"

/* Resets accumulate if the interval and the rate are below these shares of the largest. */
static const double short_interval = 1e-6, slow_rate = 1e-4;
enum { LEAST_RESETS = 3 };
/* More resets than this within this fraction of the time span count as accumulation. */
static const double crowded_share = 1e-9;
enum { MOST_CROWDED = 1000 };
/* After a reset a function stands still if its rate is below this share of that before. */
static const double standing_share = 1e-2;
/* A change to the wrong side is more than round-off above this, in units of rate times time. */
static const double round_off_share = 1e-6;
/* A hop shorter than a step is searched for at points down to 2^-HALVINGS of the step. */
enum { HALVINGS = 24 };

/* --- list ------------------------------------------------------------------------------------- */

pol_status pol_simulation_add_event(pol_simulation *sim, const pol_simulation_event *event,
                                    int *index)
{
  const int action = (int)event->action;
  if (event->function == NULL || action < POL_EVENT_RECORD || action > POL_EVENT_STOP ||
      (action == POL_EVENT_RESET && event->reset == NULL))
    return POL_BAD_ARGUMENT;
  size_t count = (size_t)sim->num_events + 1;
  poli_watched_event *longer = realloc(sim->events, count * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  sim->events = longer;
  sim->events[count - 1] = (poli_watched_event){.event = *event, .reported = -1.0};
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

/* The solution at a time within the last step. */
static pol_state state_within(pol_simulation *sim, double t)
{
  const pol_group *group = &sim->dae->group;
  double *q = sim->between, *v = q + group->nq, *vd = v + group->nv, *lambda = vd + group->nv;
  pol_integrator_interpolate(sim->integrator, t, q, v, vd, lambda);
  pol_state state = sim->state;
  state.t = t;
  state.q = q;
  state.v = v;
  state.vd = vd;
  state.lambda = lambda;
  state.eta = state.p = NULL;
  return state;
}

static double value_within(pol_simulation *sim, const poli_watched_event *w, double t)
{
  const pol_state state = state_within(sim, t);
  return w->event.function(&state, w->event.user);
}

/* For the root finder. */
typedef struct watched_function {
  pol_simulation *sim;
  const poli_watched_event *event;
} watched_function;

static double value_at(double t, void *user)
{
  const watched_function *s = user;
  return value_within(s->sim, s->event, t);
}

/* Whether an event has a zero in the last step that has not been reported, and when. */
static int find_event(pol_simulation *sim, int i, double *t)
{
  poli_watched_event *w = &sim->events[i];
  if (!w->crosses) return 0;
  *t = w->next;
  if (*t >= sim->seen && *t != w->reported) return 1;
  watched_function s = {sim, w};
  for (int k = 0; k + 1 < w->num_points; k++) {
    if (!poli_changes_sign(w->value[k], w->value[k + 1], w->event.direction)) continue;
    *t = poli_find_root(value_at, &s, w->t[k], w->value[k], w->t[k + 1], w->value[k + 1]);
    if (*t < sim->seen || *t == w->reported) continue;
    w->next = *t;
    w->next_side = w->value[k] > 0.0 ? 1 : -1;
    return 1;
  }
  w->crosses = 0;
  return 0;
}

/* --- points of a step ------------------------------------------------------------------------- */

/* A guess at the smallest |f| between points j and j + 1, and where it is.  Inside, the secants of
 * both neighbouring intervals are continued until they meet, which gives a bound from below where
 * |f| is convex; at the ends of the step it is the vertex of a parabola through three points.
 * INFINITY if |f| has no minimum there. */
static double guess_minimum(const poli_watched_event *w, int j, double *t)
{
  const double *x = w->t, *f = w->value, sign = f[0] > 0.0 ? 1.0 : -1.0;
  const int n = w->num_points, first = j == 0;
  double value;
  if (j > 0 && j + 2 < n) {
    const double left = (f[j] - f[j - 1]) / (x[j] - x[j - 1]);
    const double right = (f[j + 2] - f[j + 1]) / (x[j + 2] - x[j + 1]);
    *t = x[j] + (f[j + 1] - f[j] - right * (x[j + 1] - x[j])) / (left - right);
    value = f[j] + left * (*t - x[j]);
  } else {
    const int k = first ? 1 : n - 2;
    const double a = x[k - 1] - x[k], b = x[k + 1] - x[k];
    const double sa = (f[k - 1] - f[k]) / a, sb = (f[k + 1] - f[k]) / b;
    const double curvature = (sb - sa) / (b - a), slope = sa - curvature * a;
    *t = x[k] - 0.5 * slope / curvature;
    value = f[k] - 0.25 * slope * slope / curvature;
  }
  const double margin = 1e-3 * (x[j + 1] - x[j]);
  const int inside = *t > x[j] + margin && *t < x[j + 1] - margin;
  return inside && sign * value < fmin(sign * f[j], sign * f[j + 1]) ? sign * value
                                                                     : (double)INFINITY;
}

/* Where a function keeps its sign at all points, looks for a minimum of |f| between them that goes
 * through zero. */
static void look_for_dip(pol_simulation *sim, poli_watched_event *w)
{
  const int positive = w->value[0] > 0.0;
  for (int k = 0; k < w->num_points; k++)
    if (!(positive ? w->value[k] > 0.0 : w->value[k] < 0.0)) return;
  while (w->num_points < POLI_MAX_EVENT_POINTS) {
    double least = (double)INFINITY, where = 0.0, t;
    for (int j = 0; j + 1 < w->num_points; j++) {
      const double guess = guess_minimum(w, j, &t);
      if (!(guess < least)) continue;
      least = guess;
      where = t;
    }
    if (!(least <= 0.0)) return;
    const double value = value_within(sim, w, where);
    if (isnan(value)) return;
    /* into the list, which is ordered by time */
    int k = w->num_points++;
    for (; k > 0 && w->t[k - 1] > where; k--) {
      w->t[k] = w->t[k - 1];
      w->value[k] = w->value[k - 1];
    }
    w->t[k] = where;
    w->value[k] = value;
    if ((value > 0.0) != positive) return;
  }
}

/* In the step after its own reset a function starts at zero, up to the error of making the state
 * consistent.  It is zero again only if it has been on its side in between, farther than at the
 * start: at one of the points, or, where the hop is shorter, at one much nearer to the start. */
static void look_for_hop(pol_simulation *sim, poli_watched_event *w)
{
  const double h = w->t[w->num_points - 1] - w->t[0];
  const double start = w->t[0], least = fmax(w->side * w->value[0], 0.0);
  w->start = w->value[0];
  const double early = value_within(sim, w, start + ldexp(h, -20));
  w->moves_away =
      w->side * (early - w->start) >= -standing_share * w->rate * ldexp(h, -20) && w->rate > 0.0;
  int first = 1;
  while (first < w->num_points && !(w->side * w->value[first] > least)) first++;
  const pol_state outside = first < w->num_points ? state_within(sim, w->t[first]) : sim->state;
  if (first < w->num_points && poli_hard_stop_leave(&w->event, &outside))
    for (int k = first; k < w->num_points; k++) w->value[k] = value_within(sim, w, w->t[k]);
  if (first == w->num_points) {
    for (int k = 3; k <= HALVINGS; k++) {
      const double t = start + ldexp(h, -k), value = value_within(sim, w, t);
      if (!(w->side * value > least)) continue;
      w->t[0] = t;
      w->value[0] = value;
      return;
    }
    w->num_points = 0;
    return;
  }
  for (int k = first; k < w->num_points; k++) {
    w->t[k - first] = w->t[k];
    w->value[k - first] = w->value[k];
  }
  w->num_points -= first;
}

/* POL_ACCUMULATING if the function has passed zero although its last reset had reversed or stopped
 * it, until t: the hop was too small to be found, or there was none.  A function that was stopped
 * stays at zero, up to round-off, for any number of steps before it leaves to one side or the
 * other. */
static pol_status check_settled(pol_simulation *sim, poli_watched_event *w, double t)
{
  const double value = value_within(sim, w, t), way = w->side * (value - w->start);
  const int hops = w->reported == sim->t_before && w->num_points > 0;
  if (w->side * value > 0.0 || hops) w->unsettled = 0;
  if (!w->unsettled || !(w->side * value < 0.0)) return POL_OK;
  if (!(way < -round_off_share * w->rate * (t - w->reported))) return POL_OK;
  w->unsettled = 0;
  const int faded = !poli_is_hard_stop(&w->event) && w->resets >= LEAST_RESETS &&
                    w->rate <= slow_rate * w->fastest;
  if (!faded && (!w->moves_away || w->sets_states)) return POL_OK;
  char message[240];
  snprintf(message, sizeof message,
           "the resets of event '%.60s' no longer take effect: after %ld reset%s, the last at "
           "t = %.10g s, its function still passes through zero",
           w->event.name != NULL ? w->event.name : "", w->resets, w->resets == 1 ? "" : "s",
           w->reported);
  poli_simulation_fail(sim, POL_ACCUMULATING, -1, message,
                       "let the event stop the run, or hold the body with a spring and damper "
                       "instead of a reset");
  sim->diagnostics.t = sim->t_before;
  if (sim->variable) sim->diagnostics.h = sim->t - sim->t_before;
  return POL_ACCUMULATING;
}

pol_status poli_simulation_scan_events(pol_simulation *sim)
{
  const double from = sim->t_before, to = pol_integrator_state(sim->integrator)->t;
  for (int k = 0; k < POLI_EVENT_POINTS && sim->num_events > 0; k++) {
    const double x = (double)k / (POLI_EVENT_POINTS - 1);
    const double t = k == POLI_EVENT_POINTS - 1 ? to : from + x * (to - from);
    const pol_state state = state_within(sim, t);
    for (int i = 0; i < sim->num_events; i++) {
      poli_watched_event *w = &sim->events[i];
      w->t[k] = t;
      w->value[k] = w->event.function(&state, w->event.user);
    }
  }
  double until = to; /* the first reset or stop of the step, if it has one */
  for (int i = 0; i < sim->num_events; i++) {
    poli_watched_event *w = &sim->events[i];
    double t;
    w->num_points = POLI_EVENT_POINTS;
    if (w->event.action == POL_EVENT_RESET && w->reported == from)
      look_for_hop(sim, w);
    else
      look_for_dip(sim, w);
    w->next = -1.0;
    w->crosses = 0;
    for (int k = 0; k + 1 < w->num_points && !w->crosses; k++)
      w->crosses = poli_changes_sign(w->value[k], w->value[k + 1], w->event.direction);
    if (w->event.action != POL_EVENT_RECORD && find_event(sim, i, &t)) until = fmin(until, t);
  }
  for (int i = 0; i < sim->num_events; i++) {
    poli_watched_event *w = &sim->events[i];
    pol_status status = w->unsettled ? check_settled(sim, w, until) : POL_OK;
    if (status != POL_OK) return status;
    if (!w->crosses) poli_hard_stop_leave(&w->event, pol_integrator_state(sim->integrator));
  }
  return POL_OK;
}

int poli_simulation_has_due_event(const pol_simulation *sim)
{
  for (int i = 0; i < sim->num_events; i++)
    if (sim->events[i].due) return 1;
  return 0;
}

int poli_simulation_next_event(pol_simulation *sim, double *when)
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

/* Starts the integrator from the present state. */
static pol_status restart(pol_simulation *sim, const unsigned char *keep)
{
  const double t = sim->state.t;
  pol_status status = pol_integrator_restart(sim->integrator, t, sim->q, sim->v, keep);
  if (status == POL_OK) return POL_OK;
  sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
  sim->diagnostics.t = t;
  poli_simulation_blame_position(sim);
  return status;
}

/* Lets an event change the velocities of the present state, which has been made consistent first:
 * else what is kept might contradict the error of the interpolation. */
static pol_status change_velocities(pol_simulation *sim, const pol_simulation_event *event,
                                    int *sets_states)
{
  pol_status status = restart(sim, NULL);
  if (status != POL_OK) return status;
  poli_simulation_copy_solution(sim, pol_integrator_state(sim->integrator));
  for (int i = 0; i < sim->num_events; i++) {
    poli_watched_event *w = &sim->events[i];
    w->before = w->event.function(&sim->state, w->event.user);
  }
  memset(sim->keep, 0, (size_t)sim->dae->group.nv);
  const double *states = sim->v + sim->formulation->state_v;
  const int num_states = pol_mechanism_num_states(sim->mechanism);
  memcpy(sim->ahead, states, (size_t)num_states * sizeof *states);
  event->reset(&sim->state, sim->v, sim->keep, event->user);
  *sets_states = memcmp(sim->ahead, states, (size_t)num_states * sizeof *states) != 0;
  char message[sizeof sim->diagnostics.message];
  const char *name = event->name != NULL ? event->name : "";
  pol_diagnostics failure;
  status = poli_event_rules_failure(sim->rules, &failure);
  if (status == POL_OK) status = poli_hard_stops_failure(sim->hard_stops, &failure);
  if (status != POL_OK) {
    snprintf(message, sizeof message, "the reset of event '%.60s' failed: %.150s", name,
             failure.message);
    poli_simulation_fail(sim, status, failure.equation, message, failure.advice);
  } else if (poli_first_not_finite(sim->dae->group.nv, sim->v) >= 0) {
    status = POL_NOT_FINITE;
    snprintf(message, sizeof message, "event '%.60s' sets a value that is not finite", name);
    poli_simulation_fail(sim, status, -1, message, "look at what the event sets, at this time");
  } else {
    status = restart(sim, sim->keep);
    if (status == POL_OK) status = poli_hard_stops_settle(sim->hard_stops, &sim->diagnostics);
  }
  sim->diagnostics.t = sim->state.t;
  return status;
}

void poli_simulation_find_impacts(pol_simulation *sim)
{
  for (int i = 0; i < sim->num_events; i++) {
    poli_watched_event *w = &sim->events[i];
    if (!poli_is_hard_stop(&w->event)) continue;
    const int touched = w->due || w->reported == sim->seen;
    w->due = poli_hard_stop_acts(&w->event, &sim->state, touched);
    if (w->due) w->next_side = -1;
  }
}

/* Goes on from the present state with the velocities that the event wants.  The energy that the
 * change costs counts as dissipated. */
static pol_status reset(pol_simulation *sim, poli_watched_event *w)
{
  const double t = sim->state.t;
  pol_energy before = sim->summary.energy;
  sim->work = sim->summary.work;
  sim->t = t;
  pol_status status = change_velocities(sim, &w->event, &w->sets_states);
  if (status != POL_OK) return status;
  if (!sim->variable) poli_simulation_plan_rest(sim, t);
  sim->fresh = 1;
  if ((status = poli_simulation_accept(sim, sim->done)) != POL_OK) return status;
  const pol_energy *after = &sim->summary.energy;
  sim->work.dissipated += (before.kinetic + before.potential) - (after->kinetic + after->potential);
  sim->power_before = sim->power;
  sim->work_before = sim->work;
  before = *after;
  poli_simulation_measure_now(sim, t, &before);
  /* What the reset has taken through zero is due now; once per event and time, so that resets that
   * undo each other come to an end. */
  for (int i = 0; i < sim->num_events; i++) {
    poli_watched_event *other = &sim->events[i];
    const double now = other->event.function(&sim->state, other->event.user);
    if (other->reported == sim->seen ||
        !poli_changes_sign(other->before, now, other->event.direction))
      continue;
    other->due = 1;
    other->next_side = other->before > 0.0 ? 1 : -1;
  }
  poli_simulation_find_impacts(sim);
  poli_doubts_note(sim, 0);
  sim->in_step = 0;
  poli_simulation_keep_good(sim);
  return POL_OK;
}

/* The rate of a function at its zero t in the last step, positive.  Where the zero is right at the
 * start of the step, a difference backwards would be round-off: it is taken forwards. */
static double rate_at_zero(pol_simulation *sim, const poli_watched_event *w, double t)
{
  const double way = t - sim->t_before, interval = t - w->reported;
  const int at_start = way < ldexp(sim->t - sim->t_before, -HALVINGS) && interval > way;
  const double part = at_start ? sim->t - t : -fmin(way, interval > 0.0 ? interval : t);
  const double other = t + part * (1.0 / 128.0);
  if (other == t) return 0.0;
  return fabs((value_within(sim, w, other) - value_within(sim, w, t)) / (other - t));
}

/* Records a reset at time t, and from which side and at which rate its function has come to zero.
 * POL_ACCUMULATING if the resets accumulate there. */
static pol_status count_reset(pol_simulation *sim, poli_watched_event *w, double t, int in_step)
{
  const double before = w->reported, interval = t - before;
  const char *name = w->event.name != NULL ? w->event.name : "";
  char message[200];
  if (w->resets > 0) w->longest = fmax(w->longest, interval);
  w->resets++;
  w->unsettled = 1;
  w->rate = in_step ? rate_at_zero(sim, w, t) : 0.0;
  w->side = w->next_side;
  w->fastest = fmax(w->fastest, w->rate);
  if (t - sim->crowd_start > crowded_share * sim->end) {
    sim->crowd_start = t;
    sim->crowd = 0;
  }
  /* hard stops end in rest */
  const int faded = in_step && !poli_is_hard_stop(&w->event) && w->resets > LEAST_RESETS &&
                    interval <= short_interval * w->longest && w->rate <= slow_rate * w->fastest;
  if (!faded && ++sim->crowd <= MOST_CROWDED) return POL_OK;
  if (faded)
    snprintf(message, sizeof message,
             "the resets of event '%.60s' accumulate: %ld so far, the last two %.3g s apart after "
             "intervals of up to %.3g s",
             name, w->resets, interval, w->longest);
  else
    snprintf(message, sizeof message,
             "too many resets, of event '%.60s' and others: %d within %.3g s", name, MOST_CROWDED,
             t - sim->crowd_start);
  poli_simulation_fail(
      sim, POL_ACCUMULATING, -1, message,
      "let the event stop the run, end the run earlier, or use a spring and damper "
      "instead of a reset");
  sim->diagnostics.t = t;
  if (sim->variable) sim->diagnostics.h = sim->t - sim->t_before;
  return POL_ACCUMULATING;
}

/* --- stops ------------------------------------------------------------------------------------ */

pol_status poli_simulation_stop_at(pol_simulation *sim, int event, double t)
{
  poli_watched_event *w = &sim->events[event];
  const int resets = w->event.action == POL_EVENT_RESET;
  pol_status status = poli_simulation_show(sim, t);
  if (status != POL_OK) return status;
  if (resets) {
    /* the state before the reset is valid, even if the reset fails */
    poli_simulation_keep_good(sim);
    if ((status = count_reset(sim, w, t, !w->due && sim->in_step)) != POL_OK) return status;
  }
  /* the beginning and the end of rest on a hard stop are not shown */
  const int shown =
      !poli_is_hard_stop(&w->event) || poli_hard_stop_is_impact(&w->event, &sim->state);
  sim->event = shown ? event : -1;
  sim->seen = w->reported = t;
  w->due = 0;
  /* Other events at this time are due now if no step looks for them any more, after a reset and at
   * the end; their zeros may differ by round-off. */
  for (int i = 0; i < sim->num_events && (resets || t >= sim->end); i++) {
    double zero;
    if (find_event(sim, i, &zero) && zero <= t + 8.0 * DBL_EPSILON * t) sim->events[i].due = 1;
  }
  if (w->event.action == POL_EVENT_STOP) sim->stopped = 1;
  return resets ? reset(sim, w) : POL_OK;
}
