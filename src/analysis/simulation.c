/* The simulation driver: formulation, integrator and time span in one object.
 *
 * After each step it copies the solution, so that a step that goes wrong leaves the last good one,
 * and keeps the running summary: counts, energy drift, constraint residuals |Phi_i|, |(B v)_i| and
 * |(B v')_i + ...|, and the work of what is not conservative: with the power P at the ends of each
 * accepted step,
 *
 *     W += (t_n+1 - t_n) (P_n + P_n+1) / 2.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/simulation.h>

#include "analysis/event_rules.h"
#include "analysis/invariants.h"
#include "analysis/turns.h"
#include "analysis/watch.h"
#include "base/rule.h"
#include "dae/dae.h"
#include "integrators/root.h"

/* End times this near to a multiple of the step are one. */
static const double multiple_tolerance = 1e-9;
/* What a dropped constraint may be off, in m or rad, beside the errors of the others. */
static const double dropped_tolerance = 1e-6;
/* More steps than this cannot be counted exactly in a double. */
static const double max_steps = 9e15;

/* An event and what is known of it. */
typedef struct watched {
  pol_simulation_event event;
  double told;   /* the time where it was stopped at last, -1 if nowhere */
  int due;       /* it is to be stopped at now, after a reset */
  double before; /* value before a reset */
} watched;

struct pol_simulation {
  const pol_mechanism *mechanism;
  pol_formulation *formulation;
  pol_integrator *integrator;
  const pol_dae *dae;
  pol_solver_kind solver;
  pol_index index;
  pol_watch *watch; /* NULL if nothing can become singular */

  /* Time span: num_steps - 1 steps of size step, then one of size last_step; or steps of variable
   * size. */
  double step, last_step, end;
  int variable;
  long num_steps;
  long done;

  /* Times to stop at; the number of the next, from 1. */
  pol_output output;
  double *times; /* of output, owned */
  long next_output;

  /* Events, the first of them by rules of the settings; the one that the state is at, or -1.
   * stopped: one has ended the run. */
  pol_event_rules *rules;
  unsigned char *keep; /* of a reset */
  watched *events;
  int num_events, event, stopped;
  int in_step; /* the last step may hold more stops, */
  double seen; /* not before this time */

  /* Copy of the solution; state points into it. */
  pol_state state;
  double *q, *v, *vd, *lambda, *eta, *history, *p;

  /* The last step of the integrator: its times, and power and work at both ends. */
  double t_before, t;
  pol_power power_before, power;
  pol_work work_before, work;
  double lambda_t_before, lambda_t; /* times that the multipliers belong to */
  int lags;                         /* not those of the state */

  /* Invariants after the last step; fresh: a reset has changed them, they start anew. */
  double last_invariants[POL_MAX_INVARIANTS];
  int fresh;

  /* Workspace of the residuals; ahead is v + v'. */
  double *position, *velocity, *acceleration, *drift, *ahead, *scratch;
  double *memory; /* holds all of the arrays above */

  pol_summary summary;
  pol_diagnostics diagnostics;
};

/* --- settings --------------------------------------------------------------------------------- */

pol_settings pol_settings_default(void)
{
  pol_settings settings = {
      .formulation = POL_SO3XR3, .options = pol_options_default(), .step = 1e-3, .end = 1.0};
  return settings;
}

static pol_status validate_output(const pol_settings *settings, char *message, size_t size)
{
  const pol_output *output = &settings->output;
  if (!(isfinite(output->step) && output->step >= 0.0))
    return pol_broken_rule("output.step must not be negative", message, size);
  if (output->step > 0.0 && settings->end / output->step > max_steps)
    return pol_broken_rule("output.step must not be so small that the rows cannot be counted",
                           message, size);
  if (output->count < 0 || (output->count > 0 && output->step > 0.0))
    return pol_broken_rule("output must have a step or a list of times", message, size);
  double last = 0.0;
  for (int i = 0; i < output->count; i++) {
    if (!(output->times[i] > last && output->times[i] <= settings->end))
      return pol_broken_rule("output.times must ascend from above 0 to end at most", message, size);
    last = output->times[i];
  }
  return POL_OK;
}

pol_status pol_settings_validate(const pol_settings *settings, char *message, size_t size)
{
  if ((int)settings->formulation < 0 || (int)settings->formulation >= pol_formulation_count())
    return pol_broken_rule("formulation must be one of the formulations", message, size);
  if (!settings->variable && !(isfinite(settings->step) && settings->step > 0.0))
    return pol_broken_rule("step must be a positive number", message, size);
  if (!(isfinite(settings->end) && settings->end > 0.0))
    return pol_broken_rule("end must be a positive number", message, size);
  if (!settings->variable && settings->end / settings->step > max_steps)
    return pol_broken_rule("step must not be so small that the steps cannot be counted", message,
                           size);
  if (validate_output(settings, message, size) != POL_OK) return POL_BAD_ARGUMENT;
  pol_status status = pol_options_validate(&settings->options, message, size);
  if (status == POL_OK && settings->variable && !pol_method_adapts(settings->options.method))
    return pol_broken_rule("steps must be fixed: this method has no error estimate", message, size);
  return status;
}

/* Splits the time span into steps. */
static void plan_steps(pol_simulation *sim, const pol_settings *settings)
{
  sim->end = settings->end;
  sim->variable = settings->variable;
  if (sim->variable) return;
  double ratio = settings->end / settings->step;
  double nearest = floor(ratio + 0.5);
  if (nearest >= 1.0 && fabs(ratio - nearest) <= multiple_tolerance * ratio) {
    sim->num_steps = (long)nearest;
    sim->step = sim->end / nearest;
    sim->last_step = sim->step;
  } else {
    double whole = floor(ratio);
    sim->num_steps = (long)whole + 1;
    sim->step = settings->step;
    sim->last_step = sim->end - whole * sim->step;
  }
}

/* The same from a time within: whole steps, then a shorter one. */
static void plan_rest(pol_simulation *sim, double t)
{
  double whole = ceil((sim->end - t) / sim->step * (1.0 - multiple_tolerance));
  if (whole < 1.0) whole = 1.0;
  sim->num_steps = sim->done + (long)whole;
  sim->last_step = sim->end - t - (whole - 1.0) * sim->step;
}

/* Copies the output times. */
static pol_status plan_output(pol_simulation *sim, const pol_output *output)
{
  size_t count = (size_t)output->count;
  sim->output = *output;
  sim->next_output = 1;
  if (count == 0) return POL_OK;
  sim->output.times = sim->times = malloc(count * sizeof *sim->times);
  if (sim->times == NULL) return POL_NO_MEMORY;
  memcpy(sim->times, output->times, count * sizeof *sim->times);
  return POL_OK;
}

/* --- summary ---------------------------------------------------------------------------------- */

static double largest(int count, const double *x)
{
  double result = 0.0;
  for (int i = 0; i < count; i++)
    if (fabs(x[i]) > result) result = fabs(x[i]);
  return result;
}

/* Index of the first number that is not finite, -1 if there is none. */
static int first_not_finite(int count, const double *x)
{
  for (int i = 0; i < count; i++)
    if (!isfinite(x[i])) return i;
  return -1;
}

/* Phi and B v at a point into the workspace; more asks for further terms. */
static pol_status evaluate_residuals(pol_simulation *sim, const pol_point *at, unsigned more)
{
  const pol_dae *dae = sim->dae;
  const size_t size = (size_t)pol_dae_num_constraints(dae) * sizeof(double);
  pol_terms out = {
      .position = sim->position, .velocity = sim->velocity, .acceleration = sim->acceleration};
  memset(sim->position, 0, (size_t)dae->num_holonomic * sizeof(double));
  memset(sim->velocity, 0, size);
  if (more & POL_ACCELERATION) memset(sim->acceleration, 0, size);
  return dae->evaluate(at, POL_POSITION | POL_VELOCITY | more, &out, sim->scratch, dae->user);
}

/* All three residuals into the workspace: with B the Jacobian of the velocity constraints
 * V(v) = B v + Phi_t, that of the acceleration is
 *
 *     B v' + (the part without v'),   B v' = V(v + v') - V(v),
 *
 * so that two evaluations are enough. */
static pol_status evaluate_all_residuals(pol_simulation *sim, const pol_state *state)
{
  const pol_dae *dae = sim->dae;
  const int m = pol_dae_num_constraints(dae);
  pol_point at = pol_state_point(state);
  pol_terms out = {.velocity = sim->drift};
  if (m == 0) return POL_OK;
  pol_status status = evaluate_residuals(sim, &at, POL_ACCELERATION);
  for (int i = 0; i < dae->group.nv; i++) sim->ahead[i] = state->v[i] + state->vd[i];
  memset(sim->drift, 0, (size_t)m * sizeof(double));
  at.v = sim->ahead;
  if (status == POL_OK) status = dae->evaluate(&at, POL_VELOCITY, &out, sim->scratch, dae->user);
  for (int i = 0; i < m; i++) sim->acceleration[i] += sim->drift[i] - sim->velocity[i];
  return status;
}

/* The equation that a number of the configuration belongs to: the first of its factor. */
static int equation_of_configuration(const pol_group *group, int index)
{
  int equation = 0;
  for (int f = 0; f < group->num_factors && group->factors[f].q <= index; f++)
    equation = group->factors[f].v;
  return equation;
}

/* Size of the n-th step, n = 1, 2, ... */
static double step_size(const pol_simulation *sim, long n)
{
  return n == sim->num_steps ? sim->last_step : sim->step;
}

/* Records a failure of this driver itself (the integrator records its own). */
static pol_status fail(pol_simulation *sim, pol_status status, int equation, const char *message,
                       const char *advice)
{
  pol_diagnostics *d = &sim->diagnostics;
  const pol_dae *dae = sim->dae;
  memset(d, 0, sizeof *d);
  d->status = status;
  d->step = sim->summary.counts.steps;
  d->t = pol_integrator_state(sim->integrator)->t;
  if (d->step > 0) d->h = step_size(sim, d->step);
  if (sim->variable) d->h = d->t - sim->t;
  d->equation = equation;
  if (equation >= 0 && dae->describe != NULL)
    dae->describe(equation, d->where, sizeof d->where, dae->user);
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "%s", advice);
  return status;
}

/* POL_NOT_FINITE, with the place, if the integrator's solution holds a number that is not finite.
 */
static pol_status check_finite(pol_simulation *sim, const pol_state *state)
{
  static const char *const advice = "a smaller step, or initial values and masses of usual size";
  const pol_group *group = &sim->dae->group;
  int m = pol_dae_num_constraints(sim->dae);
  int i;
  if ((i = first_not_finite(group->nq, state->q)) >= 0)
    return fail(sim, POL_NOT_FINITE, equation_of_configuration(group, i),
                "a position or rotation is not finite", advice);
  if ((i = first_not_finite(group->nv, state->v)) >= 0)
    return fail(sim, POL_NOT_FINITE, i, "a velocity is not finite", advice);
  if ((i = first_not_finite(group->nv, state->vd)) >= 0)
    return fail(sim, POL_NOT_FINITE, i, "an acceleration is not finite", advice);
  if ((i = first_not_finite(m, state->lambda)) >= 0)
    return fail(sim, POL_NOT_FINITE, group->nv + i, "a multiplier is not finite", advice);
  if ((i = first_not_finite(sim->dae->num_holonomic, sim->position)) >= 0 ||
      (i = first_not_finite(m, sim->velocity)) >= 0 ||
      (i = first_not_finite(m, sim->acceleration)) >= 0)
    return fail(sim, POL_NOT_FINITE, group->nv + i, "a constraint is not finite", advice);
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
 * about as well as they do, on positions or, with index 2, whose positions drift, on velocities. */
static pol_status check_dropped(pol_simulation *sim, const pol_state *state)
{
  const unsigned char *dropped = pol_integrator_dropped(sim->integrator);
  int nh = sim->dae->num_holonomic, m = pol_dae_num_constraints(sim->dae), worst = 0, row = 0;
  double drift = largest_of(nh, sim->position, dropped, 0, &row), off, limit;
  if (sim->index == POL_INDEX_2) {
    double speed = fmax(1.0, largest(sim->dae->group.nv, state->v));
    limit = (dropped_tolerance + 10.0 * drift) * speed +
            100.0 * largest_of(m, sim->velocity, dropped, 0, &row);
    off = largest_of(m, sim->velocity, dropped, 1, &worst);
  } else {
    limit = dropped_tolerance + 100.0 * drift;
    off = largest_of(nh, sim->position, dropped, 1, &worst);
  }
  if (!(off > limit)) return POL_OK;
  char message[160];
  snprintf(message, sizeof message,
           "a constraint that was redundant at the start no longer follows from the others; "
           "it is off by %.3g",
           off);
  return fail(sim, POL_INCONSISTENT, sim->dae->group.nv + worst, message,
              "start from a position that is not singular, or take joints that lock less");
}

/* POL_RETRY if a joint or bushing turns so fast that what depends on its turns is wrong. */
static pol_status check_turns(pol_simulation *sim, const pol_state *state)
{
  char where[sizeof sim->summary.lost_turns.where];
  if (!pol_turns_look(sim->formulation, state, state->t - sim->t, &sim->summary.lost_turns, where,
                      sizeof where))
    return POL_OK;
  fail(sim, POL_RETRY, -1, "the step is too large to follow how far this has turned",
       "take a smaller step");
  snprintf(sim->diagnostics.where, sizeof sim->diagnostics.where, "%s", where);
  return POL_RETRY;
}

static void copy_solution(pol_simulation *sim, const pol_state *from)
{
  size_t nq = (size_t)sim->dae->group.nq, nv = (size_t)sim->dae->group.nv;
  size_t m = (size_t)pol_dae_num_constraints(sim->dae);
  memcpy(sim->q, from->q, nq * sizeof(double));
  memcpy(sim->v, from->v, nv * sizeof(double));
  memcpy(sim->vd, from->vd, nv * sizeof(double));
  memcpy(sim->lambda, from->lambda, m * sizeof(double));
  sim->state.eta = from->eta != NULL ? sim->eta : NULL;
  if (from->eta != NULL)
    memcpy(sim->eta, from->eta, (size_t)sim->dae->num_holonomic * sizeof(double));
  if (from->history != NULL)
    memcpy(sim->history, from->history, sim->dae->history_size * sizeof(double));
  sim->state.p = from->p != NULL ? sim->p : NULL;
  if (from->p != NULL) memcpy(sim->p, from->p, nv * sizeof(double));
  sim->state.lambda_t = from->lambda_t;
}

/* Work up to a time x h after the start of the last step, with power linear in between. */
static double work_at(double before, double P0, double P1, double h, double x)
{
  return before + h * x * (P0 + 0.5 * x * (P1 - P0));
}

static pol_work work_within(const pol_simulation *sim, double t)
{
  const pol_work *W = &sim->work_before;
  const pol_power *P0 = &sim->power_before, *P1 = &sim->power;
  double h = sim->t - sim->t_before, x = h > 0.0 ? (t - sim->t_before) / h : 1.0;
  return (pol_work){work_at(W->dissipated, P0->dissipated, P1->dissipated, h, x),
                    work_at(W->applied, P0->applied, P1->applied, h, x),
                    work_at(W->drives, P0->drives, P1->drives, h, x)};
}

/* Sets what the summary says about now; the residuals are in the workspace. */
static void measure_now(pol_simulation *sim, double t, const pol_energy *energy)
{
  pol_summary *summary = &sim->summary;
  const pol_energy *initial = &summary->initial_energy;
  int m = pol_dae_num_constraints(sim->dae);
  summary->t = sim->state.t = t;
  summary->energy = *energy;
  summary->work = work_within(sim, t);
  summary->energy_balance = (energy->kinetic + energy->potential) -
                            (initial->kinetic + initial->potential) - summary->work.applied -
                            summary->work.drives + summary->work.dissipated;
  summary->position_residual = largest(sim->dae->num_holonomic, sim->position);
  summary->velocity_residual = largest(m, sim->velocity);
  summary->acceleration_residual = largest(m, sim->acceleration);
}

/* Keeps the largest values. */
static void measure_extremes(pol_summary *summary)
{
  const pol_energy *now = &summary->energy, *initial = &summary->initial_energy;
  double drift = (now->kinetic + now->potential) - (initial->kinetic + initial->potential);
  summary->max_energy_drift = fmax(summary->max_energy_drift, fabs(drift));
  summary->max_position_residual = fmax(summary->max_position_residual, summary->position_residual);
  summary->max_velocity_residual = fmax(summary->max_velocity_residual, summary->velocity_residual);
  summary->max_acceleration_residual =
      fmax(summary->max_acceleration_residual, summary->acceleration_residual);
}

/* Fills the workspace at a step, or between steps, where v' is only interpolated and the residual
 * of the accelerations stays that of the step. */
static pol_status measure_residuals(pol_simulation *sim, const pol_state *state, int between)
{
  const pol_point at = pol_state_point(state);
  pol_status status =
      between ? evaluate_residuals(sim, &at, 0) : evaluate_all_residuals(sim, state);
  if (status == POL_OK) return POL_OK;
  fail(sim, status, -1, "the constraints cannot be evaluated", "a smaller step");
  pol_dae_blame(sim->dae, sim->scratch, &sim->diagnostics);
  return status;
}

/* p . v - T(v), the kinetic part of the energy that belongs to a method with its own momenta. */
static double kinetic_by_momenta(const pol_simulation *sim, const pol_state *state, double T)
{
  double product = 0.0;
  for (int i = 0; i < sim->dae->group.nv; i++) product += state->p[i] * state->v[i];
  return product - T;
}

/* The values of the invariants at a state with this energy. */
static void set_invariants(pol_simulation *sim, const pol_state *state, const pol_energy *energy)
{
  pol_momentum momentum;
  if (state->p != NULL)
    pol_formulation_momentum_by_p(sim->formulation, state->q, state->p, &momentum);
  else
    pol_formulation_momentum(sim->formulation, state->q, state->v, &momentum);
  pol_invariants_set(sim->summary.num_invariants, sim->summary.invariants,
                     energy->kinetic + energy->potential, &momentum);
}

/* Increments of the invariants in the step that led to their present values. */
static void measure_invariants(pol_simulation *sim, int first)
{
  pol_summary *summary = &sim->summary;
  pol_invariants_measure(summary->num_invariants, summary->invariants, first || sim->fresh,
                         sim->last_invariants);
  sim->fresh = 0;
}

/* Multipliers at the time of the state: those of some methods belong to an earlier one (lambda_t),
 * and are continued by the straight line through the last two. */
static const double *multipliers_now(pol_simulation *sim, const pol_state *state)
{
  const double span = state->lambda_t - sim->lambda_t, ahead = state->t - state->lambda_t;
  double *lambda = sim->drift;
  if (!(ahead > 0.0 && span > 0.0) ||
      pol_integrator_interpolate(sim->integrator, sim->t, NULL, NULL, NULL, lambda) != POL_OK)
    return state->lambda;
  for (int i = 0; i < pol_dae_num_constraints(sim->dae); i++)
    lambda[i] = state->lambda[i] + ahead / span * (state->lambda[i] - lambda[i]);
  return lambda;
}

/* Takes over the integrator's solution, the one after `done` steps, if all of it is finite. */
static pol_status accept(pol_simulation *sim, long done)
{
  const pol_state *state = pol_integrator_state(sim->integrator);
  pol_summary *summary = &sim->summary;
  pol_point at = pol_state_point(state);
  pol_energy energy;
  pol_power power;
  summary->counts = *pol_integrator_counts(sim->integrator);

  pol_status status = measure_residuals(sim, state, 0);
  if (status != POL_OK) return status;
  if ((status = check_finite(sim, state)) != POL_OK) return status;
  if ((status = check_dropped(sim, state)) != POL_OK) return status;
  if (done > 0 && (status = check_turns(sim, state)) != POL_OK) return status;
  pol_formulation_energy(sim->formulation, &at, &energy);
  if (state->p != NULL) energy.kinetic = kinetic_by_momenta(sim, state, energy.kinetic);
  at.lambda = multipliers_now(sim, state);
  pol_formulation_power(sim->formulation, &at, &power);
  if (!isfinite(energy.kinetic) || !isfinite(energy.potential))
    return fail(sim, POL_NOT_FINITE, -1, "the energy is not finite",
                "initial values and masses of usual size");

  copy_solution(sim, state);
  set_invariants(sim, state, &energy);
  measure_invariants(sim, done == 0);
  if (done == 0) summary->initial_energy = energy;
  sim->done = done;
  sim->t_before = sim->t;
  sim->t = !sim->variable && done == sim->num_steps ? sim->end : state->t;
  sim->lambda_t_before = sim->lambda_t;
  sim->lambda_t = state->lambda_t;
  sim->power_before = done == 0 ? power : sim->power;
  sim->work_before = sim->work;
  sim->power = power;
  measure_now(sim, sim->t, &energy);
  sim->work = summary->work;
  measure_extremes(summary);
  pol_watch_look(sim->watch, state, sim->t - sim->t_before, &summary->singular);
  return POL_OK;
}

/* Goes back to the solution at a time within the last step, or to its end. */
static pol_status show(pol_simulation *sim, double t)
{
  const pol_state *last = pol_integrator_state(sim->integrator);
  pol_energy energy;
  copy_solution(sim, last);
  if (t < sim->t)
    pol_integrator_interpolate(sim->integrator, fmin(t, last->t), sim->q, sim->v, sim->vd,
                               sim->lambda);
  sim->state.t = t;
  if (t < sim->t) {
    double x = (t - sim->t_before) / (sim->t - sim->t_before);
    sim->state.lambda_t = sim->lambda_t_before + x * (sim->lambda_t - sim->lambda_t_before);
    sim->state.p = NULL; /* momenta are known at the steps only */
  }
  pol_status status = measure_residuals(sim, &sim->state, t < sim->t);
  if (status != POL_OK) return status;
  pol_point at = pol_state_point(&sim->state);
  pol_formulation_energy(sim->formulation, &at, &energy);
  if (sim->state.p != NULL) energy.kinetic = kinetic_by_momenta(sim, &sim->state, energy.kinetic);
  set_invariants(sim, &sim->state, &energy);
  measure_now(sim, t, &energy);
  return POL_OK;
}

/* --- start ------------------------------------------------------------------------------------ */

static double distance(const double a[3], const double b[3])
{
  double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Angle of the rotation between two orientations. */
static double angle_between(const double a[4], const double b[4])
{
  static const double zero[3] = {0.0, 0.0, 0.0};
  double inverse[4], relative[4], w[3];
  pol_quat_conjugate(a, inverse);
  pol_quat_multiply(inverse, b, relative);
  pol_so3_log(relative, w);
  return distance(zero, w);
}

/* Compares the mechanism's values with the assembled ones. */
static void measure_moves(pol_simulation *sim)
{
  pol_moves *moves = &sim->summary.moves;
  for (int i = 0; i < pol_mechanism_num_bodies(sim->mechanism); i++) {
    pol_body_state found;
    const pol_body *given = pol_mechanism_body(sim->mechanism, i);
    pol_formulation_body_state(sim->formulation, sim->q, sim->v, i, &found);
    moves->position = fmax(moves->position, distance(given->position, found.position));
    moves->rotation = fmax(moves->rotation, angle_between(given->rotation, found.quaternion));
    if (given->given & POL_GIVEN_VELOCITY)
      moves->velocity = fmax(moves->velocity, distance(given->velocity, found.velocity));
    if (given->given & POL_GIVEN_ANGULAR_VELOCITY)
      moves->angular_velocity =
          fmax(moves->angular_velocity, distance(given->angular_velocity, found.angular_velocity));
  }
}

/* The body that stands for all that are connected with this one; 0 is the ground. */
static int root_of(const int *parent, int body)
{
  while (parent[body] != body) body = parent[body];
  return body;
}

/* Watches for singular positions if joints form a closed loop: without one, each joint locks what
 * nothing else does. */
static pol_status start_watch(pol_simulation *sim)
{
  const pol_mechanism *mechanism = sim->mechanism;
  int num_bodies = pol_mechanism_num_bodies(mechanism), loop = 0;
  int *parent = malloc(((size_t)num_bodies + 1) * sizeof *parent);
  if (parent == NULL) return POL_NO_MEMORY;
  for (int i = 0; i <= num_bodies; i++) parent[i] = i;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    int first = pol_mechanism_marker(mechanism, joint->marker[0])->body + 1;
    int second = pol_mechanism_marker(mechanism, joint->marker[1])->body + 1;
    first = root_of(parent, first);
    second = root_of(parent, second);
    loop |= first == second;
    parent[first] = second;
  }
  free(parent);
  if (!loop) return POL_OK;
  return pol_watch_create(&sim->watch, sim->formulation, sim->integrator);
}

/* Makes the given values q, v (workspace, filled here) consistent and starts the integrator. */
static pol_status start_from(pol_simulation *sim, double *q, double *v, unsigned char *keep)
{
  pol_formulation_initial(sim->formulation, q, v, keep);
  pol_point given = {.q = q, .v = v};
  if (evaluate_residuals(sim, &given, 0) == POL_OK) {
    sim->summary.moves.position_residual = largest(sim->dae->num_holonomic, sim->position);
    sim->summary.moves.velocity_residual =
        largest(pol_dae_num_constraints(sim->dae), sim->velocity);
  }
  pol_status status =
      pol_formulation_assemble(sim->formulation, sim->solver, 0.0, q, v, keep, &sim->diagnostics);
  if (status != POL_OK) return status;
  status = pol_integrator_start(sim->integrator, 0.0, q, v, keep);
  if (status != POL_OK) {
    sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
    return status;
  }
  if ((status = start_watch(sim)) != POL_OK) return status;
  if ((status = accept(sim, 0)) != POL_OK) return status;
  status = pol_formulation_check_branches(sim->formulation, 0.0, sim->q, &sim->diagnostics);
  if (status != POL_OK) return status;
  measure_moves(sim);
  return POL_OK;
}

static pol_status start(pol_simulation *sim)
{
  size_t nq = (size_t)sim->dae->group.nq, nv = (size_t)sim->dae->group.nv;
  double *values = malloc((nq + nv + 1) * sizeof *values);
  unsigned char *keep = malloc(nv + 1);
  pol_status status = POL_NO_MEMORY;
  if (values != NULL && keep != NULL) status = start_from(sim, values, values + nq, keep);
  free(values);
  free(keep);
  return status;
}

/* One block of memory for the copy of the solution and the workspace. */
static pol_status allocate(pol_simulation *sim)
{
  const pol_dae *dae = sim->dae;
  size_t nq = (size_t)dae->group.nq, nv = (size_t)dae->group.nv;
  size_t m = (size_t)pol_dae_num_constraints(dae);
  sim->memory =
      calloc(nq + 4 * nv + 6 * m + dae->history_size + dae->scratch_size + 1, sizeof(double));
  sim->keep = malloc(nv + 1);
  if (sim->memory == NULL || sim->keep == NULL) return POL_NO_MEMORY;
  sim->q = sim->memory;
  sim->v = sim->q + nq;
  sim->vd = sim->v + nv;
  sim->lambda = sim->vd + nv;
  sim->eta = sim->lambda + m;
  sim->p = sim->eta + m;
  sim->position = sim->p + nv;
  sim->velocity = sim->position + m;
  sim->acceleration = sim->velocity + m;
  sim->drift = sim->acceleration + m;
  sim->ahead = sim->drift + m;
  sim->history = sim->ahead + nv;
  sim->scratch = sim->history + dae->history_size;
  sim->event = -1;
  sim->state = (pol_state){.q = sim->q, .v = sim->v, .vd = sim->vd, .lambda = sim->lambda};
  if (dae->history_size > 0) sim->state.history = sim->history;
  return POL_OK;
}

/* The events of the settings. */
static pol_status add_rules(pol_simulation *sim, const pol_settings *settings)
{
  pol_diagnostics *d = &sim->diagnostics;
  pol_status status = pol_event_rules_create(&sim->rules, sim->formulation, settings, d->message,
                                             sizeof d->message);
  for (int i = 0; i < settings->num_events && status == POL_OK; i++) {
    pol_simulation_event event = pol_event_rules_event(sim->rules, i);
    status = pol_simulation_add_event(sim, &event, NULL);
  }
  return status;
}

/* --- life ------------------------------------------------------------------------------------- */

static pol_status build(pol_simulation *sim, const pol_mechanism *mechanism,
                        const pol_settings *settings)
{
  pol_diagnostics *d = &sim->diagnostics;
  pol_status status = pol_settings_validate(settings, d->message, sizeof d->message);
  if (status != POL_OK) return status;
  plan_steps(sim, settings);
  if ((status = plan_output(sim, &settings->output)) != POL_OK) return status;
  sim->mechanism = mechanism;
  sim->solver = settings->options.solver;
  sim->index = settings->options.index;
  sim->lags = pol_method_lag(settings->options.method) > 0.0;
  sim->summary.num_invariants = pol_invariants_find(mechanism, sim->summary.invariants);
  status =
      pol_formulation_supports(mechanism, settings->formulation, d->message, sizeof d->message);
  if (status != POL_OK) return status;
  status = pol_formulation_create(&sim->formulation, mechanism, settings->formulation);
  if (status != POL_OK) return status;
  sim->dae = pol_formulation_dae(sim->formulation);
  status = pol_integrator_supports(sim->dae, &settings->options, d->message, sizeof d->message);
  if (status != POL_OK) return status;
  status = pol_integrator_create(&sim->integrator, sim->dae, &settings->options);
  if (status != POL_OK) return status;
  if ((status = allocate(sim)) != POL_OK) return status;
  if ((status = add_rules(sim, settings)) != POL_OK) return status;
  return start(sim);
}

pol_status pol_simulation_create(pol_simulation **simulation, const pol_mechanism *mechanism,
                                 const pol_settings *settings, pol_diagnostics *diagnostics)
{
  pol_diagnostics unknown = {.equation = -1};
  *simulation = NULL;
  pol_simulation *sim = calloc(1, sizeof *sim);
  pol_status status = POL_NO_MEMORY;
  if (sim != NULL) {
    sim->diagnostics = unknown;
    status = build(sim, mechanism, settings);
  }
  if (status == POL_OK) {
    *simulation = sim;
    return POL_OK;
  }

  /* Say why, then clear away what there is. */
  if (diagnostics != NULL) {
    *diagnostics = sim != NULL ? sim->diagnostics : unknown;
    diagnostics->status = status;
    if (diagnostics->message[0] == '\0')
      snprintf(diagnostics->message, sizeof diagnostics->message, "%s", pol_status_text(status));
  }
  pol_simulation_free(&sim);
  return status;
}

void pol_simulation_free(pol_simulation **simulation)
{
  if (simulation == NULL || *simulation == NULL) return;
  pol_simulation *sim = *simulation;
  pol_watch_free(&sim->watch);
  pol_integrator_free(&sim->integrator);
  pol_formulation_free(&sim->formulation);
  free(sim->memory);
  free(sim->times);
  free(sim->events);
  free(sim->keep);
  pol_event_rules_free(&sim->rules);
  free(sim);
  *simulation = NULL;
}

/* --- stepping --------------------------------------------------------------------------------- */

/* Adds to the integrator's diagnostics that the mechanism was near a singular position. */
static void blame_position(pol_simulation *sim)
{
  pol_diagnostics *d = &sim->diagnostics;
  char where[sizeof d->where];
  size_t used = strlen(d->message);
  if (d->status < 0 || !pol_watch_is_near(sim->watch, &sim->state, d->h, where, sizeof where))
    return;
  snprintf(d->message + used, sizeof d->message - used,
           "; the mechanism is near a singular position, where others imply %s", where);
  snprintf(d->advice, sizeof d->advice,
           "keep the motion away from there, or take a step that does not end so near to it");
}

/* One step of the integrator; after a failure the last good one is shown again. */
static pol_status advance(pol_simulation *sim)
{
  double h = step_size(sim, sim->done + 1);
  pol_status status = sim->variable ? pol_integrator_adapt(sim->integrator, sim->end)
                                    : pol_integrator_step(sim->integrator, h);
  if (status == POL_OK) {
    sim->in_step = 1;
    sim->seen = sim->t;
    sim->event = -1;
    return accept(sim, sim->done + 1);
  }
  if (sim->state.t < sim->t) show(sim, sim->t);
  sim->summary.counts = *pol_integrator_counts(sim->integrator);
  sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
  blame_position(sim);
  return status;
}

/* The next time to stop at. */
static double next_output_time(const pol_simulation *sim)
{
  const pol_output *output = &sim->output;
  if (output->count > 0)
    return sim->next_output <= output->count ? output->times[sim->next_output - 1] : sim->end;
  double t = (double)sim->next_output * output->step;
  return t < sim->end * (1.0 - multiple_tolerance) ? t : sim->end;
}

/* --- events ----------------------------------------------------------------------------------- */

pol_status pol_simulation_add_event(pol_simulation *sim, const pol_simulation_event *event,
                                    int *index)
{
  const int action = (int)event->action;
  if (event->function == NULL || action < POL_EVENT_RECORD || action > POL_EVENT_STOP ||
      (action == POL_EVENT_RESET && event->reset == NULL))
    return POL_BAD_ARGUMENT;
  size_t count = (size_t)sim->num_events + 1;
  watched *longer = realloc(sim->events, count * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  sim->events = longer;
  sim->events[count - 1] = (watched){.event = *event, .told = -1.0};
  if (index != NULL) *index = sim->num_events;
  sim->num_events++;
  return POL_OK;
}

int pol_simulation_event_index(const pol_simulation *sim)
{
  return sim->event;
}

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
static int is_repeated(pol_simulation *sim, const watched *w, double t)
{
  const double start = sim->t_before;
  if (w->told != start || w->event.action != POL_EVENT_RESET) return 0;
  const double first = value_within(sim, &w->event, start);
  return fabs(value_within(sim, &w->event, 0.5 * (start + t))) < fabs(first);
}

/* Whether an event has a zero in the last step that has not been told, and when. */
static int find_event(pol_simulation *sim, int i, double *t)
{
  const watched *w = &sim->events[i];
  const pol_simulation_event *e = &w->event;
  return pol_integrator_find_event(sim->integrator, e->function, e->user, e->direction, t) &&
         *t >= sim->seen && *t != w->told && !is_repeated(sim, w, *t);
}

/* The next event, by time and number: one that a reset has made due now, or one of the last step;
 * -1 if none is left. */
static int next_event(pol_simulation *sim, double *when)
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

/* Marks the other events at the time of a reset, by the step that it ends: their zeros may differ
 * by round-off. */
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
    watched *w = &sim->events[i];
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
  blame_position(sim);
  return status;
}

/* Lets an event change the velocities of the present state, which has been made consistent first:
 * else what is kept might contradict the error of the interpolation. */
static pol_status change_velocities(pol_simulation *sim, const pol_simulation_event *event)
{
  pol_status status = restart(sim, NULL);
  if (status != POL_OK) return status;
  copy_solution(sim, pol_integrator_state(sim->integrator));
  for (int i = 0; i < sim->num_events; i++) {
    watched *w = &sim->events[i];
    w->before = w->event.function(&sim->state, w->event.user);
  }
  memset(sim->keep, 0, (size_t)sim->dae->group.nv);
  event->reset(&sim->state, sim->v, sim->keep, event->user);
  const int bad = first_not_finite(sim->dae->group.nv, sim->v);
  if (bad >= 0)
    return fail(sim, POL_NOT_FINITE, bad, "the reset of an event sets what is not finite",
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
  if (!sim->variable) plan_rest(sim, t);
  sim->fresh = 1;
  if ((status = accept(sim, sim->done)) != POL_OK) return status;
  const pol_energy *after = &sim->summary.energy;
  sim->work.dissipated += (before.kinetic + before.potential) - (after->kinetic + after->potential);
  sim->power_before = sim->power;
  sim->work_before = sim->work;
  before = *after;
  measure_now(sim, t, &before);
  mark_crossed(sim);
  sim->in_step = 0;
  return POL_OK;
}

/* Stops at an event of the last step, or at one that is due. */
static pol_status stop_at(pol_simulation *sim, int event, double t)
{
  watched *w = &sim->events[event];
  sim->event = event;
  sim->seen = w->told = t;
  w->due = 0;
  if (w->event.action == POL_EVENT_RESET) mark_simultaneous(sim);
  pol_status status = show(sim, t);
  if (w->event.action == POL_EVENT_STOP) sim->stopped = 1;
  if (status == POL_OK && w->event.action == POL_EVENT_RESET) status = reset(sim, &w->event);
  return status;
}

/* --- steps to the next stop ------------------------------------------------------------------- */

pol_status pol_simulation_step(pol_simulation *sim)
{
  if (pol_simulation_finished(sim))
    return fail(sim, POL_BAD_ARGUMENT, -1, "the end of the time span is reached", "");
  const int every_step = sim->output.count == 0 && sim->output.step == 0.0;
  for (;;) {
    double due = every_step ? sim->t : next_output_time(sim), when = 0.0;
    int event = next_event(sim, &when);
    if (event >= 0 && when <= due) return stop_at(sim, event, when);
    if (sim->in_step && due <= sim->t) {
      sim->event = -1;
      sim->seen = due;
      sim->in_step = due < sim->t;
      if (!every_step) sim->next_output++;
      return sim->state.t == due ? POL_OK : show(sim, due);
    }
    pol_status status = advance(sim);
    if (status != POL_OK) return status;
  }
}

int pol_simulation_finished(const pol_simulation *sim)
{
  return sim->stopped || sim->state.t >= sim->end;
}

double pol_simulation_progress(const pol_simulation *sim)
{
  return sim->state.t / sim->end;
}

const pol_state *pol_simulation_state(const pol_simulation *sim)
{
  return &sim->state;
}

int pol_simulation_reactions_lag(const pol_simulation *sim)
{
  return sim->lags;
}

const pol_formulation *pol_simulation_formulation(const pol_simulation *sim)
{
  return sim->formulation;
}

const unsigned char *pol_simulation_dropped(const pol_simulation *simulation, int *count)
{
  const unsigned char *dropped = pol_integrator_dropped(simulation->integrator);
  *count = 0;
  for (int i = 0; i < pol_dae_num_constraints(simulation->dae); i++) *count += dropped[i];
  return dropped;
}

const pol_summary *pol_simulation_summary(const pol_simulation *sim)
{
  return &sim->summary;
}

const pol_diagnostics *pol_simulation_diagnostics(const pol_simulation *sim)
{
  return &sim->diagnostics;
}
