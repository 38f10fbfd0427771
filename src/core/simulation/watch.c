/* Singular positions, where constraints that are independent elsewhere depend on each other: all
 * links of a loop in one line, a dead centre of a driven crank.  There the continuation is not
 * unique, and a step can jump across without noticing.  The distance d of the most dependent
 * constraint from the others (dae/independence.h) goes to zero there like the distance to that
 * position.  So a step is about to reach or cross one, or to pass it too fast to resolve how, if d
 * would vanish within two steps at the rate at which d has just fallen.  Columns of length one turn
 * about as fast as the bodies do, so d needs not be measured again before half the time in which it
 * could vanish; nor, if the distances of all constraints fall more slowly, before a quarter of the
 * time in which one of them would vanish at its own rate, as long as no body turns far meanwhile.
 *
 * In coarse steps, in which a body turns far, rates say little: d may vanish and rise again within
 * one.  Where a step could contain such a position, the smallest d within it is searched for on the
 * interpolated solution, and the position is singular if d falls to almost nothing there.
 *
 * Where positions drift (index 2), the mechanism has other lengths, and one that should pass a
 * singular position turns back shortly before it, however small the steps are.  With the relative
 * error e of the positions its d is about sqrt(e) there, as cos(d) differs from 1 by e.  So a
 * position is also singular if d falls far below its largest value and below twice that.
 *
 * Where constraints are redundant, d may also vanish because of which of them were dropped.  So
 * when it has fallen far, they are chosen anew, and only what remains small is a singular position;
 * on the way into one they are not chosen again and again.  All this is done for each component of
 * the constraints by itself.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/independence.h"
#include "integrators/family.h"
#include "lie/small.h"
#include "simulation/parts.h"

enum { MAX_PAUSE = 50 };                      /* steps without a look */
static const double choose_again_below = 0.3; /* of the largest distance since the last choice */
static const double futile_down_to = 0.1;     /* of the distance of a choice that did not help */
static const double left_behind = 2.0;        /* the same, of a distance that rises */
static const double steps_ahead = 2.0;        /* within which d would vanish */
static const double steps_of_look = 10.0;     /* the same, for a closer look at its rate */
static const double near_distance = 1e-3;     /* of all distances up to 1 */
static const double singular_distance = 1e-7; /* at a singular position, to round-off */
static const double roots_of_drift = 2.0;     /* the same, where positions drift: of sqrt(drift), */
static const double hidden_below = 0.3;       /* and of the largest distance so far */
static const double coarse_turn = 0.1;        /* rotation of a body in a coarse step */
static const double almost_nothing = 0.1;     /* of the distances aside in a coarse step */

/* What is known of a component of the constraints. */
typedef struct loop {
  double due;         /* the time of the next look */
  double h;           /* size of the step before the last look */
  int constraint;     /* the most dependent one at the last look; -1 if there was none */
  double t, distance; /* of the last look */
  double rate;        /* at which the distance has fallen since the one before */
  double closing;     /* the same of all constraints, relative to their distances; the largest */
  double largest;     /* distance so far */
  double chosen;      /* the largest distance since the redundant constraints were chosen */
  double futile;      /* the distance at which no better choice was found, 0 if it is left behind */
  int inside;         /* a position has been reported, */
  double leave_at;    /* and is left behind where d exceeds this */
  double fastest;     /* angular velocity of a body */
} loop;

struct poli_watch {
  const pol_formulation *formulation;
  pol_integrator *integrator;
  const pol_dae *dae;
  poli_independence *independence; /* that of the integrator */
  int num_loops, num_bodies;
  void *memory;       /* holds the arrays, */
  size_t memory_size; /* so many bytes */
  loop *loops;
  double *distance; /* a component: of a measurement, */
  int *constraint;  /* its constraint, */
  double *fall;     /* and the largest fall of all distances since the one before */
  unsigned char *wanted;
  double *ahead;        /* nq + nv: a configuration, an increment */
  unsigned char *trial; /* m: another choice */
  double due;           /* the time of the next look at one of them */
  double hidden;        /* smallest distance that the drift of positions leaves at a position */
};

pol_status poli_watch_create(poli_watch **watch, const pol_formulation *formulation,
                             pol_integrator *integrator)
{
  const pol_dae *dae = pol_formulation_dae(formulation);
  const pol_point at = pol_state_point(pol_integrator_state(integrator));
  *watch = NULL;
  if (pol_dae_num_constraints(dae) == 0) return POL_OK;
  poli_watch *w = calloc(1, sizeof *w);
  if (!w) return POL_NO_MEMORY;
  w->formulation = formulation;
  w->integrator = integrator;
  w->dae = dae;
  w->num_bodies = pol_mechanism_num_bodies(pol_formulation_mechanism(formulation));
  w->independence = poli_integrator_independence(integrator);
  pol_status status =
      w->independence ? poli_independence_analyse(w->independence, &at) : POL_NO_MEMORY;
  if (!status) {
    w->num_loops = poli_independence_num_components(w->independence);
    poli_arena arena = {0};
    do {
      POLI_TAKE(&arena, w->loops, w->num_loops);
      POLI_TAKE(&arena, w->distance, w->num_loops);
      POLI_TAKE(&arena, w->fall, w->num_loops);
      POLI_TAKE(&arena, w->constraint, w->num_loops);
      POLI_TAKE(&arena, w->wanted, w->num_loops);
      POLI_TAKE(&arena, w->ahead, dae->group.nq + dae->group.nv);
      POLI_TAKE(&arena, w->trial, pol_dae_num_constraints(dae));
    } while (poli_arena_again(&arena));
    w->memory = arena.memory;
    w->memory_size = arena.used;
    if (!w->memory) status = POL_NO_MEMORY;
  }
  for (int c = 0; c < w->num_loops && !status; c++) w->loops[c].constraint = -1;
  if (status || w->num_loops == 0)
    poli_watch_free(&w);
  else
    *watch = w;
  return status;
}

void poli_watch_free(poli_watch **watch)
{
  if (!*watch) return;
  free((*watch)->memory);
  free(*watch);
  *watch = NULL;
}

void poli_watch_reset(poli_watch *watch)
{
  if (!watch) return;
  memset(watch->loops, 0, (size_t)watch->num_loops * sizeof *watch->loops);
  for (int c = 0; c < watch->num_loops; c++) watch->loops[c].constraint = -1;
  watch->due = 0.0;
}

void poli_watch_archive(poli_watch *watch, poli_archive *archive)
{
  if (!watch) return;
  poli_archive_bytes(archive, watch->memory, watch->memory_size);
  POLI_ARCHIVE(archive, watch->due);
}

/* Measures d of the loops that are wanted and the rate at which it falls; 0 if that is not
 * possible. */
static int measure(poli_watch *w, const pol_state *state)
{
  pol_point at = pol_state_point(state);
  if (poli_independence_measure(w->independence, &at, pol_integrator_dropped(w->integrator),
                                w->wanted, w->distance, w->constraint, w->fall))
    return 0;
  for (int c = 0; c < w->num_loops; c++) {
    loop *l = &w->loops[c];
    if (!w->wanted[c]) continue;
    if (l->constraint < 0)
      l->rate = 0.0;
    else if (state->t > l->t)
      l->rate = (l->distance - w->distance[c]) / (state->t - l->t);
    l->closing = state->t > l->t ? w->fall[c] / (state->t - l->t) : HUGE_VAL;
    l->constraint = w->constraint[c];
    l->distance = w->distance[c];
    l->t = state->t;
  }
  return 1;
}

/* Whether d would vanish within the next steps, so that they cannot resolve how the motion passes
 * there, or has. */
static int is_reached(const loop *l, double h)
{
  return l->distance <= steps_ahead * l->rate * h || l->distance <= singular_distance;
}

/* The d of the loops that are wanted half a step ahead of a state, by its velocity, into distance;
 * 0 if that is not possible. */
static int measure_ahead(poli_watch *w, const pol_state *state, double h)
{
  const pol_group *group = &w->dae->group;
  double *ahead = w->ahead, *step = ahead + group->nq;
  for (int i = 0; i < group->nv; i++) step[i] = 0.5 * h * state->v[i];
  pol_group_move(group, state->q, step, ahead);
  pol_point at = pol_state_point(state);
  at.q = ahead;
  at.t += 0.5 * h;
  return h > 0.0 &&
         !poli_independence_measure(w->independence, &at, pol_integrator_dropped(w->integrator),
                                    w->wanted, w->distance, w->constraint, NULL);
}

/* Lets the integrator drop other redundant constraints of a loop if what it keeps has become
 * dependent.  Other loops are no longer wanted then. */
static void choose_again(poli_watch *w, const pol_state *state, int c, double h)
{
  loop *l = &w->loops[c];
  const double rate = l->rate, before = l->distance, hardly = 1.1;
  l->chosen = fmax(l->chosen, l->distance);
  if (l->distance > left_behind * l->futile) l->futile = 0.0;
  if (l->distance > choose_again_below * l->chosen && !is_reached(l, h)) return;
  if (l->distance > futile_down_to * l->futile && l->futile > 0.0) return;
  if (poli_integrator_choose_in(w->integrator, c)) return;
  memset(w->wanted, 0, (size_t)w->num_loops);
  w->wanted[c] = 1;
  if (!measure(w, state)) return;
  /* the last look had other constraints: its rate holds only where they make no difference */
  l->rate = rate;
  if (l->distance > hardly * before)
    l->rate = measure_ahead(w, state, h) ? (l->distance - w->distance[c]) / (0.5 * h) : 0.0;
  l->chosen = l->distance;
  l->futile = l->distance > hardly * before ? 0.0 : l->distance;
  l->closing = HUGE_VAL;
}

/* The d of the loop that is wanted at a time within the last step; negative if that is not
 * possible. */
static double measure_within(poli_watch *w, const pol_state *state, int c, double t,
                             const unsigned char *dropped)
{
  pol_point at = pol_state_point(state);
  at.q = w->ahead;
  at.t = t;
  if (pol_integrator_interpolate(w->integrator, t, w->ahead, NULL, NULL, NULL) != POL_OK ||
      poli_independence_measure(w->independence, &at, dropped, w->wanted, w->distance,
                                w->constraint, NULL))
    return -1.0;
  return w->distance[c];
}

/* The smallest d between the times a and b, by golden sections; *t is where. */
static double find_smallest(poli_watch *w, const pol_state *state, int c, double a, double b,
                            double *t)
{
  enum { SECTIONS = 6 };
  const unsigned char *dropped = pol_integrator_dropped(w->integrator);
  const double golden = 0.38196601125010515;
  double x = a + golden * (b - a), y = b - golden * (b - a);
  double at_x = measure_within(w, state, c, x, dropped);
  double at_y = measure_within(w, state, c, y, dropped);
  for (int i = 0; i < SECTIONS; i++) {
    if (at_x < at_y) {
      b = y, y = x, at_y = at_x;
      x = a + golden * (b - a);
      at_x = measure_within(w, state, c, x, dropped);
    } else {
      a = x, x = y, at_x = at_y;
      y = b - golden * (b - a);
      at_y = measure_within(w, state, c, y, dropped);
    }
  }
  *t = at_x < at_y ? x : y;
  return fmin(at_x, at_y);
}

/* The time within the last step where d may vanish, around the lowest of some samples; negative if
 * that is hardly lower than those beside it.  *d is the distance there, and *beside the larger one
 * of the samples beside it. */
static double find_lowest(poli_watch *w, const pol_state *state, int c, double h, double *d,
                          double *beside)
{
  enum { PARTS = 4 };
  const unsigned char *dropped = pol_integrator_dropped(w->integrator);
  const double start = state->t - h, part = h / PARTS, hardly = 0.6;
  double sample[PARTS + 1], t;
  int lowest = PARTS;
  sample[PARTS] = w->loops[c].distance;
  for (int i = PARTS - 1; i >= 0; i--) {
    sample[i] = measure_within(w, state, c, start + i * part, dropped);
    if (sample[i] < sample[lowest]) lowest = i;
  }
  const int low = lowest > 0 ? lowest - 1 : 0, high = lowest < PARTS ? lowest + 1 : PARTS;
  *beside = fmax(sample[low], sample[high]);
  if (sample[lowest] < 0.0 || sample[lowest] > hardly * *beside) return -1.0;
  *d = find_smallest(w, state, c, start + low * part, fmin(start + high * part, state->t), &t);
  return *d <= almost_nothing * *beside ? t : -1.0;
}

/* Whether a loop has passed a singular position within the last, coarse step: d falls to almost
 * nothing there, whichever constraints are dropped. */
static int has_passed(poli_watch *w, const pol_state *state, int c, double h, double *t,
                      int *constraint)
{
  double d, beside;
  memset(w->wanted, 0, (size_t)w->num_loops);
  w->wanted[c] = 1;
  const double lowest = find_lowest(w, state, c, h, &d, &beside);
  if (lowest < 0.0) return 0;
  *t = lowest;
  const unsigned char *dropped = pol_integrator_dropped(w->integrator);
  d = measure_within(w, state, c, *t, dropped);
  *constraint = w->constraint[c];
  pol_point at = pol_state_point(state);
  at.q = w->ahead;
  at.t = *t;
  memcpy(w->trial, dropped, (size_t)pol_dae_num_constraints(w->dae));
  if (poli_independence_find(w->independence, &at, dropped, c, w->trial)) return 1;
  return measure_within(w, state, c, *t, w->trial) <= almost_nothing * beside;
}

/* Draws the conclusions of a look at a loop. */
static void judge(poli_watch *w, const pol_state *state, int c, double h, pol_singular *singular)
{
  loop *l = &w->loops[c];
  if (l->constraint < 0) {
    l->due = state->t + MAX_PAUSE * h;
    return;
  }
  choose_again(w, state, c, h);
  if (l->inside && l->distance > l->leave_at) l->inside = 0;
  const double turn = l->fastest * h;
  const int is_coarse = turn > coarse_turn;
  /* d may fall the faster the closer it is, and variable steps may become larger */
  const int varies = fabs(h - l->h) > 1e-6 * h;
  l->h = h;
  if (varies && l->rate > 0.0 && l->distance <= steps_of_look * l->rate * h) {
    memset(w->wanted, 0, (size_t)w->num_loops);
    w->wanted[c] = 1;
    if (measure_ahead(w, state, h))
      l->rate = fmax(l->rate, (l->distance - w->distance[c]) / (0.5 * h));
  }
  /* the time at which d would vanish, or was smallest */
  double t = l->t;
  int constraint = l->constraint;
  l->largest = fmax(l->largest, l->distance);
  const double hidden = fmin(w->hidden, hidden_below * l->largest);
  int found = l->distance <= fmax(singular_distance, hidden);
  if (!found && is_coarse && l->distance < 2.0 * turn)
    found = has_passed(w, state, c, h, &t, &constraint);
  else if (!found && !is_coarse && is_reached(l, h)) {
    found = 1;
    t += l->distance / l->rate;
  }
  if (found && !l->inside) {
    if (singular->count++ == 0) { /* the first is reported */
      singular->t = t;
      poli_dae_describe(w->dae, w->dae->group.nv + constraint, singular->where,
                        sizeof singular->where);
    }
    l->inside = 1;
    l->leave_at = 2.0 * fmax(l->distance, singular_distance);
  }
  /* the next look, by the fastest rotation of a body; later if no distance falls that fast, which
   * coarse steps do not show */
  const double fastest = fmax(l->fastest, fabs(l->rate));
  const double wait = 0.5 * l->distance / (fastest * h + DBL_MIN); /* in steps */
  double later = fmin(10.0 * wait, 0.25 / (fmax(l->closing, 0.0) * h + DBL_MIN));
  later = is_coarse ? 0.0 : fmin(later, coarse_turn / (turn + DBL_MIN));
  l->due = state->t + h * fmin(fmax(wait, later), MAX_PAUSE);
}

void poli_watch_look(poli_watch *watch, const pol_state *state, double h, double drift,
                     pol_singular *singular)
{
  poli_watch *w = watch;
  if (!w || state->t < w->due) return;
  w->hidden = roots_of_drift * sqrt(drift);
  for (int c = 0; c < w->num_loops; c++) {
    w->wanted[c] = w->loops[c].due <= state->t;
    if (w->wanted[c]) w->loops[c].fastest = 0.0;
  }
  if (measure(w, state)) {
    for (int b = 0, block = 0; b < w->num_bodies; b++) {
      if (w->formulation->bodies[b].reference != b) continue;
      const int c = poli_independence_component(w->independence, block++);
      pol_body_state body;
      if (c < 0 || !w->wanted[c]) continue;
      pol_formulation_body_state(w->formulation, state->q, state->v, b, &body);
      const double *omega = body.angular_velocity;
      w->loops[c].fastest = fmax(w->loops[c].fastest, sqrt(poli_v3_dot(omega, omega)));
    }
    for (int c = 0; c < w->num_loops; c++)
      if (w->loops[c].due <= state->t) judge(w, state, c, h, singular);
  }
  w->due = HUGE_VAL;
  for (int c = 0; c < w->num_loops; c++) w->due = fmin(w->due, w->loops[c].due);
}

int poli_watch_is_near(poli_watch *watch, const pol_state *state, double h, char *where,
                       size_t size)
{
  poli_watch *w = watch;
  int nearest = -1;
  if (!w) return 0;
  memset(w->wanted, 1, (size_t)w->num_loops);
  if (!measure(w, state)) return 0;
  const int is_ahead = measure_ahead(w, state, h);
  for (int c = 0; c < w->num_loops; c++) {
    const loop *l = &w->loops[c];
    const double ahead = is_ahead ? (l->distance - w->distance[c]) / (0.5 * h) : 0.0;
    if (l->constraint < 0) continue;
    if (l->distance > near_distance && l->distance > 4.0 * fmax(l->rate, ahead) * h) continue;
    if (nearest < 0 || l->distance < w->loops[nearest].distance) nearest = c;
  }
  if (nearest < 0) return 0;
  poli_dae_describe(w->dae, w->dae->group.nv + w->loops[nearest].constraint, where, size);
  return 1;
}

double poli_watch_distance(const poli_watch *watch)
{
  double least = 1.0;
  for (int c = 0; watch && c < watch->num_loops; c++)
    if (watch->loops[c].constraint >= 0) least = fmin(least, watch->loops[c].distance);
  return least;
}

int poli_watch_is_inside(const poli_watch *watch)
{
  for (int c = 0; watch && c < watch->num_loops; c++)
    if (watch->loops[c].inside) return 1;
  return 0;
}
