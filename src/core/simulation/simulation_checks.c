/* What can be wrong with a solution that the integrator is content with, and the diagnostics of it:
 * numbers that are not finite, dropped constraints that no longer follow from the others, turns
 * that cannot be followed; and whether a failed step was near a singular position.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simulation/simulation_parts.h"
#include "simulation/turns.h"

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
  if (count == POL_MAX_WARNINGS) return;
  pol_warning *warning = &summary->warnings[count];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(warning->message, sizeof warning->message, format, arguments);
  va_end(arguments);
  for (int i = 0; i < count; i++)
    if (strcmp(sim->warned[i], format) == 0 &&
        (has_words || strcmp(summary->warnings[i].message, warning->message) == 0))
      return;
  warning->t = t;
  sim->warned[count] = format;
  summary->num_warnings++;
}

/* --- checks ----------------------------------------------------------------------------------- */

int poli_first_not_finite(int count, const double *x)
{
  for (int i = 0; i < count; i++)
    if (!isfinite(x[i])) return i;
  return -1;
}

/* The equation that a number of the configuration belongs to: the first of its factor. */
static int equation_of_configuration(const pol_group *group, int index)
{
  int equation = 0;
  for (int f = 0; f < group->num_factors && group->factors[f].q <= index; f++)
    equation = group->factors[f].v;
  return equation;
}

pol_status poli_simulation_check_finite(pol_simulation *sim, const pol_state *state)
{
  static const char *const advice = "a smaller step, or initial values and masses of usual size";
  const pol_group *group = &sim->dae->group;
  int m = pol_dae_num_constraints(sim->dae);
  int i;
  if ((i = poli_first_not_finite(group->nq, state->q)) >= 0)
    return poli_simulation_fail(sim, POL_NOT_FINITE, equation_of_configuration(group, i),
                                "a position or rotation is not finite", advice);
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

pol_status poli_simulation_check_turns(pol_simulation *sim, const pol_state *state)
{
  char where[sizeof sim->summary.lost_turns.where];
  if (!poli_turns_look(sim->formulation, state, state->t - sim->t, &sim->summary.lost_turns, where,
                       sizeof where))
    return POL_OK;
  poli_simulation_fail(sim, POL_RETRY, -1,
                       "the step is too large to follow how far this has turned",
                       "take a smaller step");
  snprintf(sim->diagnostics.where, sizeof sim->diagnostics.where, "%s", where);
  return POL_RETRY;
}
