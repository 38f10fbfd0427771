/* What can be wrong with a solution although the integrator has converged, and the diagnostics of
 * it: numbers that are not finite, dropped constraints that no longer follow from the others, turns
 * that cannot be counted.  Singular positions: watch.c.
 *
 * Turns.  An angle of a joint is known up to whole turns; the one nearest to that of the step
 * before is taken, which is right while it changes by less than half a turn per step: |theta'| h <
 * pi. Beyond that the angle in the results has an unreliable number of turns; and if the motion
 * depends on it, by a spring, a coupling or an expression, the motion itself is wrong.  The
 * rotation vector rho of a bushing has no turns and ends at 3 rad.  A step may jump across that
 * place to the other side; then rho - h omega, where it came from about, is longer than pi.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
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

/* The largest |x_i| of the rows that are dropped, or of the others. */
static POLI_WIDE double largest_of(int count, const double *x, const unsigned char *dropped,
                                   int of_dropped)
{
  double largest[8] = {0.0}; /* none waits for the one before */
  const int even = count - count % 8;
  for (int i = 0; i < count; i += 8)
    for (int k = 0; k < (i < even ? 8 : count - even); k++) {
      const double size = (dropped[i + k] != 0) == of_dropped ? fabs(x[i + k]) : 0.0;
      largest[k] = size > largest[k] ? size : largest[k];
    }
  for (int k = 1; k < 8; k++) largest[0] = largest[k] > largest[0] ? largest[k] : largest[0];
  return largest[0];
}

/* The row of the largest |x_i| of those that are dropped. */
static int worst_dropped(int count, const double *x, const unsigned char *dropped)
{
  int worst = 0;
  double largest = 0.0;
  for (int i = 0; i < count; i++) {
    if (!dropped[i] || !(fabs(x[i]) > largest)) continue;
    largest = fabs(x[i]);
    worst = i;
  }
  return worst;
}

/* POL_INCONSISTENT if a dropped constraint does not follow from the others any more: it must hold
 * about as well as they do, on positions or, with index 2, whose positions drift, on velocities.
 * A drift of positions causes an error of the dropped velocity constraints of about drift times
 * velocity / d, with d the distance of the kept constraints from dependence. */
pol_status poli_simulation_check_dropped(pol_simulation *sim, const pol_state *state)
{
  const unsigned char *dropped = pol_integrator_dropped(sim->integrator);
  int nh = sim->dae->num_holonomic, m = pol_dae_num_constraints(sim->dae), worst;
  double drift = largest_of(nh, sim->position, dropped, 0), off, limit;
  if (sim->index == POL_INDEX_2) {
    double speed = fmax(1.0, poli_largest(sim->dae->group.nv, state->v));
    limit = (sim->dropped_tolerance + 30.0 * drift / poli_watch_distance(sim->watch)) * speed +
            100.0 * largest_of(m, sim->velocity, dropped, 0);
    limit = fmin(limit, most_of_speed * speed);
    off = largest_of(m, sim->velocity, dropped, 1);
  } else {
    limit = sim->dropped_tolerance + 100.0 * drift;
    off = largest_of(nh, sim->position, dropped, 1);
  }
  if (!(off > limit)) return POL_OK;
  if (sim->index == POL_INDEX_2)
    worst = worst_dropped(m, sim->velocity, dropped);
  else
    worst = worst_dropped(nh, sim->position, dropped);
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

/* A beam that is turned inside out: the law of its element goes on there, the beam does not. */
static pol_status check_beams(pol_simulation *sim, const poli_instant *now)
{
  const int found = poli_instant_inverted(now);
  if (found < 0) return POL_OK;
  poli_simulation_fail(sim, POL_RETRY, -1,
                       "a beam is compressed to nothing and an element turned inside out",
                       "check loads and stiffness, or take more elements or a smaller step");
  snprintf(sim->diagnostics.where, sizeof sim->diagnostics.where, "force '%s'",
           pol_mechanism_force(sim->formulation->mechanism, found)->name);
  return POL_RETRY;
}

pol_status poli_simulation_check_turns(pol_simulation *sim, const pol_state *state,
                                       const poli_instant *now)
{
  const pol_formulation *f = sim->formulation;
  const double h = state->t - sim->t;
  pol_lost_turns *lost = &sim->summary.lost_turns;
  angle_text where[2];
  where[0][0] = where[1][0] = '\0';
  if (f->num_coordinates > 0) find_angles(now, h, turns_slowly(now, h), where);
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
  return check_beams(sim, now);
}
