/* The watch of watch.h: when to look, and what counts as a singular position. */
#include "simulation/watch.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dae/independence.h"

enum {
  MAX_PAUSE = 20,    /* steps without a look */
  MAX_SIZE = 250000, /* numbers in the full matrix, for looks on the way */
  MAX_SIZE_AFTER_FAILURE = 4000000
};
static const double choose_again_below = 0.3; /* of the largest distance since the last choice */
static const double steps_ahead = 2.0;        /* within which d would vanish */
static const double near_distance = 1e-3;     /* of all distances up to 1 */
static const double singular_distance = 1e-8; /* at a singular position, to round-off */

struct poli_watch {
  const pol_formulation *formulation;
  pol_integrator *integrator;
  const pol_dae *dae;
  poli_independence *independence; /* NULL if the matrix is too large for looks on the way */
  int pause;                       /* steps until the next look */
  int constraint;     /* the most dependent one at the last look; -1 if there was none */
  double t, distance; /* of the last look */
  double rate;        /* at which the distance has fallen since the one before */
  double chosen;      /* the largest distance since the redundant constraints were chosen */
  int inside;         /* a position has been told, */
  double leave_at;    /* and is left behind where d exceeds this */
  double *ahead;      /* nq + nv: a configuration, an increment */
};

pol_status poli_watch_create(poli_watch **watch, const pol_formulation *formulation,
                             pol_integrator *integrator)
{
  const pol_dae *dae = pol_formulation_dae(formulation);
  double size = (double)dae->group.nv * (double)pol_dae_num_constraints(dae);
  *watch = NULL;
  if (size == 0.0 || size > MAX_SIZE_AFTER_FAILURE) return POL_OK;
  poli_watch *w = calloc(1, sizeof *w);
  if (!w) return POL_NO_MEMORY;
  w->formulation = formulation;
  w->integrator = integrator;
  w->dae = dae;
  w->constraint = -1;
  w->ahead = calloc((size_t)(dae->group.nq + dae->group.nv), sizeof *w->ahead);
  pol_status status = w->ahead ? POL_OK : POL_NO_MEMORY;
  if (!status && size <= MAX_SIZE)
    status = poli_independence_create(&w->independence, dae, pol_integrator_dropped(integrator));
  if (status)
    poli_watch_free(&w);
  else
    *watch = w;
  return status;
}

void poli_watch_free(poli_watch **watch)
{
  if (!*watch) return;
  poli_independence_free(&(*watch)->independence);
  free((*watch)->ahead);
  free(*watch);
  *watch = NULL;
}

/* Counts a singular position; the first is reported, with the time at which d would vanish. */
static void tell(const poli_watch *w, pol_singular *singular)
{
  if (singular->count++ > 0) return;
  singular->t = w->t;
  if (w->distance > singular_distance) singular->t += w->distance / w->rate;
  poli_dae_describe(w->dae, w->dae->group.nv + w->constraint, singular->where,
                    sizeof singular->where);
}

/* The fastest rotation of a body. */
static double fastest_turn(const poli_watch *w, const pol_state *state)
{
  double result = 0.0;
  int count = pol_mechanism_num_bodies(pol_formulation_mechanism(w->formulation));
  for (int b = 0; b < count; b++) {
    pol_body_state body;
    pol_formulation_body_state(w->formulation, state->q, state->v, b, &body);
    const double *omega = body.angular_velocity;
    result = fmax(result, sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]));
  }
  return result;
}

/* Measures d and the rate at which it falls; 0 if that is not possible. */
static int measure(poli_watch *w, const pol_state *state)
{
  pol_point at = pol_state_point(state);
  double distance;
  int constraint;
  if (poli_independence_measure(w->independence, &at, &distance, &constraint) || constraint < 0)
    return 0;
  if (w->constraint < 0)
    w->rate = 0.0;
  else if (state->t > w->t)
    w->rate = (w->distance - distance) / (state->t - w->t);
  w->constraint = constraint;
  w->distance = distance;
  w->t = state->t;
  return 1;
}

/* Whether d would vanish within the next steps, so that they cannot resolve how the motion passes
 * there, or has. */
static int is_reached(const poli_watch *w, double h)
{
  return w->distance <= steps_ahead * w->rate * h || w->distance <= singular_distance;
}

/* The rate at which d falls at a state, by a difference along its velocity over half a step. */
static double rate_ahead(poli_watch *w, const pol_state *state, double h)
{
  const pol_group *group = &w->dae->group;
  double *ahead = w->ahead, *step = ahead + group->nq, distance;
  int constraint;
  for (int i = 0; i < group->nv; i++) step[i] = 0.5 * h * state->v[i];
  pol_group_move(group, state->q, step, ahead);
  pol_point at = pol_state_point(state);
  at.q = ahead;
  at.t += 0.5 * h;
  if (!(h > 0.0) || poli_independence_measure(w->independence, &at, &distance, &constraint) ||
      constraint < 0)
    return 0.0;
  return (w->distance - distance) / (0.5 * h);
}

/* Lets the integrator drop other redundant constraints if what it keeps has become dependent. */
static int choose_again(poli_watch *w, const pol_state *state, double h)
{
  const double rate = w->rate, before = w->distance, hardly = 1.1;
  w->chosen = fmax(w->chosen, w->distance);
  if (w->distance > choose_again_below * w->chosen && !is_reached(w, h)) return 1;
  if (pol_integrator_choose_constraints(w->integrator)) return 1;
  poli_independence_drop(w->independence, pol_integrator_dropped(w->integrator));
  if (!measure(w, state)) return 0;
  /* the last look had other constraints: its rate holds only where they make no difference */
  w->rate = w->distance > hardly * before ? rate_ahead(w, state, h) : rate;
  w->chosen = w->distance;
  return 1;
}

void poli_watch_look(poli_watch *watch, const pol_state *state, double h, pol_singular *singular)
{
  poli_watch *w = watch;
  if (!w || !w->independence || w->pause-- > 0) return;
  w->pause = 0;
  if (!measure(w, state)) return;
  if (!choose_again(w, state, h)) return;

  if (w->inside && w->distance > w->leave_at) w->inside = 0;
  if (is_reached(w, h) && !w->inside) {
    tell(w, singular);
    w->inside = 1;
    w->leave_at = 2.0 * fmax(w->distance, singular_distance);
  }
  double fastest = fmax(fabs(w->rate), fastest_turn(w, state));
  if (h > 0.0) w->pause = (int)fmin(0.5 * w->distance / (fastest * h + DBL_MIN), MAX_PAUSE);
}

void poli_watch_others(poli_watch *watch)
{
  if (watch && watch->independence)
    poli_independence_drop(watch->independence, pol_integrator_dropped(watch->integrator));
}

int poli_watch_is_near(poli_watch *watch, const pol_state *state, double h, char *where,
                       size_t size)
{
  poli_watch *w = watch;
  if (!w) return 0;
  if (!w->independence &&
      poli_independence_create(&w->independence, w->dae, pol_integrator_dropped(w->integrator)))
    return 0;
  if (!measure(w, state)) return 0;
  if (w->distance > near_distance && w->distance > 4.0 * fmax(w->rate, rate_ahead(w, state, h)) * h)
    return 0;
  poli_dae_describe(w->dae, w->dae->group.nv + w->constraint, where, size);
  return 1;
}

double poli_watch_distance(const poli_watch *watch)
{
  return watch && watch->constraint >= 0 ? watch->distance : 1.0;
}
