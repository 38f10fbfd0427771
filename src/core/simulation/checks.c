/* What can be wrong with a solution although the integrator has converged, and the diagnostics of
 * it: numbers that are not finite, dropped constraints that no longer follow from the others, turns
 * that cannot be counted, singular positions.
 *
 * Turns.  An angle of a joint is known up to whole turns; the one nearest to that of the step
 * before is taken, which is right while it changes by less than half a turn per step: |theta'| h <
 * pi. Beyond that the angle in the results has an unreliable number of turns; and if the motion
 * depends on it, by a spring, a coupling or an expression, the motion itself is wrong.  The
 * rotation vector rho of a bushing has no turns and ends at 3 rad.  A step may jump across that
 * place to the other side; then rho - h omega, where it came from about, is longer than pi.
 *
 * Singular positions, where constraints that are independent elsewhere depend on each other: all
 * links of a loop in one line, a dead centre of a driven crank.  There the continuation is not
 * unique, and a step can jump across without noticing.  The distance d of the most dependent
 * constraint from the others (dae/independence.h) goes to zero there like the distance to that
 * position.  So a step is about to reach or cross one, or to pass it too fast to resolve how, if d
 * would vanish within two steps at the rate at which d has just fallen.  Columns of length one turn
 * about as fast as the bodies do, so d needs not be measured again before half the time in which it
 * could vanish; nor, if the distances of all constraints fall more slowly, before a quarter of the
 * time in which one of them would vanish at its own rate.  Where constraints are redundant, d may
 * also vanish because of which of them were dropped.  So when it has fallen far, they are chosen
 * anew, and only what remains small is a singular position; on the way into one they are not chosen
 * again and again.  All this is done for each component of
 * the constraints by itself.
 */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/independence.h"
#include "formulation/formulation.h"
#include "integrators/family.h"
#include "lie/small.h"
#include "simulation/parts.h"

/* With index 2, where a dropped constraint may be off by more than sim->dropped_tolerance as the
 * positions drift, the limit as a fraction of the largest velocity. */
static const double most_of_speed = 0.02;

/* --- diagnostics ------------------------------------------------------------------------------ */

pol_status poli_simulation_fail(pol_simulation *sim, pol_status status, int equation,
                                const char *message, const char *advice)
{
  pol_diagnostics *d = &sim->diagnostics;
  const pol_dae *dae = sim->dae;
  memset(d, 0, sizeof *d);
  d->status = status;
  d->step = sim->summary.counts.steps;
  d->t = pol_integrator_state(sim->integrator)->t;
  if (d->step > 0) d->h = poli_simulation_step_size(sim, d->step);
  if (sim->variable) d->h = d->t - sim->t;
  d->equation = equation;
  if (equation >= 0 && dae->describe != NULL)
    dae->describe(equation, d->where, sizeof d->where, dae->user);
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "%s", advice);
  return status;
}

void poli_simulation_blame_position(pol_simulation *sim)
{
  pol_diagnostics *d = &sim->diagnostics;
  char where[sizeof d->where];
  size_t used = strlen(d->message);
  if (d->status < 0 || !poli_watch_is_near(sim->watch, &sim->state, d->h, where, sizeof where))
    return;
  snprintf(d->message + used, sizeof d->message - used,
           "; the mechanism is near a singular position, where others imply %s", where);
  snprintf(
      d->advice, sizeof d->advice,
      "avoid this position, or use another step size or tolerance (rtol), so that no step ends so "
      "close to it");
}

void poli_simulation_warn(pol_simulation *sim, double t, const char *format, ...)
{
  pol_summary *summary = &sim->summary;
  const int count = summary->num_warnings, has_words = strcmp(format, "%s") != 0;
  const uint64_t kind = poli_hash(0, format, strlen(format));
  if (count == POL_MAX_WARNINGS) return;
  pol_warning *warning = &summary->warnings[count];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(warning->message, sizeof warning->message, format, arguments);
  va_end(arguments);
  for (int i = 0; i < count; i++)
    if (sim->warned[i] == kind &&
        (has_words || strcmp(summary->warnings[i].message, warning->message) == 0))
      return;
  warning->t = t;
  sim->warned[count] = kind;
  summary->num_warnings++;
}

/* --- checks ----------------------------------------------------------------------------------- */

int poli_first_not_finite(int count, const double *x)
{
  double sum[8] = {0.0}; /* not zero if one is not finite; none waits for the one before */
  const int even = count - count % 8;
  for (int i = 0; i < even; i += 8)
    for (int k = 0; k < 8; k++) sum[k] += 0.0 * x[i + k];
  for (int i = even; i < count; i++) sum[0] += 0.0 * x[i];
  for (int k = 1; k < 8; k++) sum[0] += sum[k];
  for (int i = 0; i < count && !(sum[0] == 0.0); i++)
    if (!isfinite(x[i])) return i;
  return -1;
}

pol_status poli_simulation_check_finite(pol_simulation *sim, const pol_state *state)
{
  static const char *const advice = "a smaller step, or initial values and masses of usual size";
  const pol_group *group = &sim->dae->group;
  int m = pol_dae_num_constraints(sim->dae);
  int i;
  if ((i = poli_first_not_finite(group->nq, state->q)) >= 0) {
    int equation = 0; /* the first of the factor */
    for (int f = 0; f < group->num_factors && group->factors[f].q <= i; f++)
      equation = group->factors[f].v;
    return poli_simulation_fail(sim, POL_NOT_FINITE, equation,
                                "a position or rotation is not finite", advice);
  }
  if ((i = poli_first_not_finite(group->nv, state->v)) >= 0)
    return poli_simulation_fail(sim, POL_NOT_FINITE, i, "a velocity is not finite", advice);
  if ((i = poli_first_not_finite(group->nv, state->vd)) >= 0)
    return poli_simulation_fail(sim, POL_NOT_FINITE, i, "an acceleration is not finite", advice);
  if ((i = poli_first_not_finite(m, state->lambda)) >= 0)
    return poli_simulation_fail(sim, POL_NOT_FINITE, group->nv + i, "a multiplier is not finite",
                                advice);
  if ((i = poli_first_not_finite(sim->dae->num_holonomic, sim->position)) >= 0 ||
      (i = poli_first_not_finite(m, sim->velocity)) >= 0 ||
      (i = poli_first_not_finite(m, sim->acceleration)) >= 0)
    return poli_simulation_fail(sim, POL_NOT_FINITE, group->nv + i, "a constraint is not finite",
                                advice);
  return POL_OK;
}

/* The largest |x_i| of the rows that are dropped or of the others; *worst is its index. */
static double largest_of(int count, const double *x, const unsigned char *dropped, int of_dropped,
                         int *worst)
{
  double result = 0.0;
  for (int i = 0; i < count; i++) {
    if ((dropped[i] != 0) != of_dropped || !(fabs(x[i]) > result)) continue;
    result = fabs(x[i]);
    *worst = i;
  }
  return result;
}

/* POL_INCONSISTENT if a dropped constraint does not follow from the others any more: it must hold
 * about as well as they do, on positions or, with index 2, whose positions drift, on velocities.
 * A drift of positions causes an error of the dropped velocity constraints of about drift times
 * velocity / d, with d the distance of the kept constraints from dependence. */
pol_status poli_simulation_check_dropped(pol_simulation *sim, const pol_state *state)
{
  const unsigned char *dropped = pol_integrator_dropped(sim->integrator);
  int nh = sim->dae->num_holonomic, m = pol_dae_num_constraints(sim->dae), worst = 0, row = 0;
  double drift = largest_of(nh, sim->position, dropped, 0, &row), off, limit;
  if (sim->index == POL_INDEX_2) {
    double speed = fmax(1.0, poli_largest(sim->dae->group.nv, state->v));
    limit = (sim->dropped_tolerance + 30.0 * drift / poli_watch_distance(sim->watch)) * speed +
            100.0 * largest_of(m, sim->velocity, dropped, 0, &row);
    limit = fmin(limit, most_of_speed * speed);
    off = largest_of(m, sim->velocity, dropped, 1, &worst);
  } else {
    limit = sim->dropped_tolerance + 100.0 * drift;
    off = largest_of(nh, sim->position, dropped, 1, &worst);
  }
  if (!(off > limit)) return POL_OK;
  char message[160];
  snprintf(message, sizeof message,
           "a constraint that was redundant at the start no longer follows from the others; "
           "it is off by %.3g",
           off);
  return poli_simulation_fail(
      sim, POL_INCONSISTENT, sim->dae->group.nv + worst, message,
      sim->index == POL_INDEX_2
          ? "positions drift with index 2: use stabilized-2 or index 3; otherwise start from a "
            "position that is not singular, or use joints with fewer constraints"
          : "start from a position that is not singular, or use joints with fewer constraints");
}

pol_status poli_simulation_check_bends(pol_simulation *sim, const pol_state *state)
{
  double left;
  int joint = pol_formulation_bent_joint(sim->formulation, state->q, &left);
  if (joint < 0) return POL_OK;
  const char *name = pol_mechanism_joint(sim->mechanism, joint)->name;
  poli_simulation_warn(
      sim, state->t,
      "constant-velocity joint '%s' is bent by nearly 180 degrees: this position is singular, and "
      "the twist between its shafts is not determined",
      name);
  if (left >= 0.0) return POL_OK;
  poli_simulation_fail(
      sim, POL_INCONSISTENT, -1,
      "a constant-velocity joint was bent by 180 degrees, and its shafts are twisted "
      "by 180 degrees since",
      "keep its bend below 180 degrees");
  snprintf(sim->diagnostics.where, sizeof sim->diagnostics.where, "joint '%s', twist", name);
  return POL_INCONSISTENT;
}

/* --- turns ------------------------------------------------------------------------------------ */

static const double pi = 3.14159265358979323846;

/* Whether no two bodies turn by half a turn against each other in a time h. */
static int turns_slowly(const poli_instant *now, double h)
{
  double square = 0.0;
  for (int b = 0; b < now->formulation->num_bodies; b++) {
    poli_frame own;
    const double *w = poli_instant_frame(now, b, &own)->w;
    square = fmax(square, poli_v3_dot(w, w));
  }
  return 2.0 * sqrt(square) * h < 0.99 * pi;
}

static int has_one_angle(const pol_joint *joint)
{
  int count = 0;
  for (int i = 0; i < pol_joint_num_coordinates(joint); i++)
    count += pol_joint_coordinate(joint, i)->angular;
  return count == 1;
}

/* An angle in words; "" if there is none. */
typedef char angle_text[sizeof((pol_lost_turns *)NULL)->where];

/* The first angle of a joint that changes by half a turn or more in a time h, at its present rate:
 * where[1] of those that the motion depends on, where[0] of the others.  slow: no two bodies turn
 * so far against each other; then neither does the angle of a joint that has only one, where
 * several can be faster. */
static void find_angles(const poli_instant *now, double h, int slow, angle_text where[2])
{
  const pol_formulation *formulation = now->formulation;
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  where[0][0] = where[1][0] = '\0';
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    if (slow && has_one_angle(joint)) continue;
    for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
      const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
      double angle, rate;
      if (!info->angular) continue;
      poli_instant_coordinate(now, k, i, &angle, &rate);
      if (!(fabs(rate) * h >= pi)) continue;
      char *own = where[poli_formulation_needs_turns(formulation, k, i)];
      if (own[0] == '\0') snprintf(own, sizeof *where, "joint '%s', %s", joint->name, info->name);
    }
  }
}

pol_status poli_simulation_check_turns(pol_simulation *sim, const pol_state *state,
                                       const poli_instant *now)
{
  const pol_formulation *f = sim->formulation;
  const double h = state->t - sim->t;
  pol_lost_turns *lost = &sim->summary.lost_turns;
  angle_text where[2];
  find_angles(now, h, turns_slowly(now, h), where);
  int wrong = where[1][0] != '\0';
  /* a bushing that has turned across the place where its rotation vector jumps */
  for (int k = 0; k < f->num_forces && !wrong; k++) {
    const pol_force *force = pol_mechanism_force(f->mechanism, k);
    const poli_force_kernel *kernel = &f->forces[k].kernel;
    poli_frame own[2];
    double rho[3], omega[3];
    if (force->type != POL_BUSHING) continue;
    if (!poli_bushing_rotation(&kernel->bushing, poli_instant_frame(now, kernel->body[0], &own[0]),
                               poli_instant_frame(now, kernel->body[1], &own[1]), rho, omega))
      continue;
    poli_v3_add_scaled(-h, omega, rho);
    wrong = poli_v3_dot(rho, rho) >= pi * pi;
    if (wrong)
      snprintf(where[1], sizeof *where, "force '%s': its markers are turned by more than 3 rad",
               force->name);
  }
  if (wrong) {
    poli_simulation_fail(sim, POL_RETRY, -1,
                         "the step is too large to follow how far this has turned",
                         "take a smaller step");
    snprintf(sim->diagnostics.where, sizeof sim->diagnostics.where, "%s", where[1]);
    return POL_RETRY;
  }
  /* only results are affected */
  if (where[0][0] != '\0' && lost->count++ == 0) {
    lost->t = state->t;
    snprintf(lost->where, sizeof lost->where, "%s", where[0]);
  }
  return POL_OK;
}

/* --- singular positions ----------------------------------------------------------------------- */

enum { MAX_PAUSE = 20 };                      /* steps without a look */
static const double choose_again_below = 0.3; /* of the largest distance since the last choice */
static const double futile_down_to = 0.1;     /* of the distance of a choice that did not help */
static const double left_behind = 2.0;        /* the same, of a distance that rises */
static const double steps_ahead = 2.0;        /* within which d would vanish */
static const double steps_of_look = 10.0;     /* the same, for a closer look at its rate */
static const double near_distance = 1e-3;     /* of all distances up to 1 */
static const double singular_distance = 1e-7; /* at a singular position, to round-off */

/* What is known of a component of the constraints. */
typedef struct loop {
  double due;         /* the time of the next look */
  double h;           /* size of the step before the last look */
  int constraint;     /* the most dependent one at the last look; -1 if there was none */
  double t, distance; /* of the last look */
  double rate;        /* at which the distance has fallen since the one before */
  double closing;     /* the same of all constraints, relative to their distances; the largest */
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
  double *ahead; /* nq + nv: a configuration, an increment */
  double due;    /* the time of the next look at one of them */
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
  /* d may fall the faster the closer it is, and variable steps may become larger */
  const int varies = fabs(h - l->h) > 1e-6 * h;
  l->h = h;
  if (varies && l->rate > 0.0 && l->distance <= steps_of_look * l->rate * h) {
    memset(w->wanted, 0, (size_t)w->num_loops);
    w->wanted[c] = 1;
    if (measure_ahead(w, state, h))
      l->rate = fmax(l->rate, (l->distance - w->distance[c]) / (0.5 * h));
  }
  if (is_reached(l, h) && !l->inside) {
    /* the first is reported, with the time at which d would vanish */
    if (singular->count++ == 0) {
      singular->t = l->t;
      if (l->distance > singular_distance) singular->t += l->distance / l->rate;
      poli_dae_describe(w->dae, w->dae->group.nv + l->constraint, singular->where,
                        sizeof singular->where);
    }
    l->inside = 1;
    l->leave_at = 2.0 * fmax(l->distance, singular_distance);
  }
  /* the next look, by the fastest rotation of a body; later if no distance falls that fast */
  const double fastest = fmax(l->fastest, fabs(l->rate));
  const double wait = 0.5 * l->distance / (fastest * h + DBL_MIN); /* in steps */
  const double later = fmin(10.0 * wait, 0.125 / (fmax(l->closing, 0.0) * h + DBL_MIN));
  l->due = state->t + h * fmin(fmax(wait, later), MAX_PAUSE);
}

void poli_watch_look(poli_watch *watch, const pol_state *state, double h, pol_singular *singular)
{
  poli_watch *w = watch;
  if (!w || state->t < w->due) return;
  for (int c = 0; c < w->num_loops; c++) {
    w->wanted[c] = w->loops[c].due <= state->t;
    if (w->wanted[c]) w->loops[c].fastest = 0.0;
  }
  if (measure(w, state)) {
    for (int b = 0; b < w->num_bodies; b++) {
      const int c = poli_independence_component(w->independence, b);
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
