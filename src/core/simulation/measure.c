/* The solution that a simulation shows, and what it measures of it.
 *
 * After each step the solution is copied, so that a step that goes wrong leaves the last good one,
 * and the running summary is kept: counts, energy drift, invariants, constraint residuals |Phi_i|,
 * |(B v)_i| and |(B v')_i + ...|, and the work of what is not conservative: with the power P at the
 * ends of each accepted step,
 *
 *     W += (t_n+1 - t_n) (P_n + P_n+1) / 2,
 *
 * or by Simpson's rule with the middle of a variable step of a method of high order, whose steps
 * are large.
 *
 * With linear momentum p and angular momentum L about the origin, that about an axis a through the
 * point P is a . (L - P x p).
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/output.h"
#include "integrators/family.h"
#include "lie/small.h"
#include "simulation/parts.h"

/* --- invariants ------------------------------------------------------------------------------- */

/* Names of momenta along and about global axes, and of others by number. */
static const char *const linear_names[2][3] = {{"momentum.x", "momentum.y", "momentum.z"},
                                               {"momentum.1", "momentum.2", "momentum.3"}};
static const char *const angular_names[2][3] = {{"angular.x", "angular.y", "angular.z"},
                                                {"angular.1", "angular.2", "angular.3"}};

/* x, y, z if the vector is that axis, else its number. */
static const char *name_of(const char *const names[2][3], const double vector[3], int number)
{
  for (int k = 0; k < 3; k++)
    if (fabs(vector[k] - 1.0) < 1e-9) return names[0][k];
  return names[1][number];
}

int poli_invariants_find(const pol_mechanism *mechanism,
                         pol_invariant invariants[POL_MAX_INVARIANTS])
{
  pol_symmetries s;
  int count = 0;
  memset(invariants, 0, POL_MAX_INVARIANTS * sizeof *invariants);
  pol_mechanism_symmetries(mechanism, &s);
  if (s.energy)
    invariants[count++] =
        (pol_invariant){.kind = POL_CONSTANT_ENERGY, .name = "energy", .unit = "J"};
  for (int i = 0; i < s.num_translations; i++) {
    pol_invariant *own = &invariants[count++];
    own->kind = POL_CONSTANT_MOMENTUM;
    own->name = name_of(linear_names, s.translation[i], i);
    own->unit = "kg m/s";
    poli_v3_copy(s.translation[i], own->axis);
  }
  for (int i = 0; i < s.num_rotations; i++) {
    pol_invariant *own = &invariants[count++];
    own->kind = POL_CONSTANT_ANGULAR_MOMENTUM;
    own->name = name_of(angular_names, s.axis[i], i);
    own->unit = "kg m^2/s";
    poli_v3_copy(s.axis[i], own->axis);
    poli_v3_copy(s.point[i], own->point);
  }
  return count;
}

void poli_invariants_set(int count, pol_invariant *invariants, double energy,
                         const pol_momentum *momentum)
{
  for (int i = 0; i < count; i++) {
    pol_invariant *own = &invariants[i];
    double about[3];
    switch (own->kind) {
    case POL_CONSTANT_ENERGY:
      own->value = energy;
      break;
    case POL_CONSTANT_MOMENTUM:
      own->value = poli_v3_dot(own->axis, momentum->linear);
      break;
    case POL_CONSTANT_ANGULAR_MOMENTUM:
      poli_v3_copy(momentum->angular, about);
      poli_v3_add_scaled_cross(-1.0, own->point, momentum->linear, about);
      own->value = poli_v3_dot(own->axis, about);
      break;
    }
  }
}

void poli_invariants_measure(int count, pol_invariant *invariants, int first,
                             double last[POL_MAX_INVARIANTS])
{
  for (int i = 0; i < count; i++) {
    pol_invariant *own = &invariants[i];
    if (first) own->initial = last[i] = own->value;
    own->increment = own->value - last[i];
    own->max_increment = fmax(own->max_increment, fabs(own->increment));
    own->max_drift = fmax(own->max_drift, fabs(own->value - own->initial));
    last[i] = own->value;
  }
}

/* --- residuals -------------------------------------------------------------------------------- */

double poli_largest(int count, const double *x)
{
  double largest[8] = {0.0}; /* none waits for the one before */
  const int even = count - count % 8;
  for (int i = 0; i < even; i += 8)
    for (int k = 0; k < 8; k++)
      largest[k] = fabs(x[i + k]) > largest[k] ? fabs(x[i + k]) : largest[k];
  for (int i = even; i < count; i++) largest[0] = fabs(x[i]) > largest[0] ? fabs(x[i]) : largest[0];
  for (int k = 1; k < 8; k++) largest[0] = largest[k] > largest[0] ? largest[k] : largest[0];
  return largest[0];
}

pol_status poli_simulation_residuals(pol_simulation *sim, const pol_point *at, unsigned more)
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

/* Fills the workspace with all residuals at a step; between steps, where v' is only interpolated,
 * that of the accelerations stays as it is.  With B the Jacobian of the velocity constraints
 * V(v) = B v + Phi_t, it is
 *
 *     B v' + (the part without v'),   B v' = V(v + v') - V(v),
 *
 * so that two evaluations are enough for directors, whose equations do not give it at once.
 * Otherwise the evaluation leaves the frames of all bodies for what else is measured: *now is the
 * instant with them. */
static pol_status measure_residuals(pol_simulation *sim, const pol_state *state, int between,
                                    poli_instant *now)
{
  const pol_dae *dae = sim->dae;
  const int m = pol_dae_num_constraints(dae), shares = !sim->formulation->chart->polynomial;
  poli_scratch parts;
  pol_point at = pol_state_point(state);
  pol_status status = POL_OK;
  poli_formulation_share_scratch(sim->formulation, sim->scratch, &parts);
  *now = (poli_instant){sim->formulation, at, shares ? parts.frames : NULL};
  if (between) {
    status = poli_simulation_residuals(sim, &at, 0);
  } else if (shares) {
    status = poli_simulation_residuals(sim, &at, POL_ACCELERATION | POLI_TOTAL_ACCELERATION);
  } else if (m > 0) {
    pol_terms out = {.velocity = sim->drift};
    status = poli_simulation_residuals(sim, &at, POL_ACCELERATION);
    for (int i = 0; i < dae->group.nv; i++) sim->ahead[i] = state->v[i] + state->vd[i];
    memset(sim->drift, 0, (size_t)m * sizeof(double));
    at.v = sim->ahead;
    if (status == POL_OK) status = dae->evaluate(&at, POL_VELOCITY, &out, sim->scratch, dae->user);
    for (int i = 0; i < m; i++) sim->acceleration[i] += sim->drift[i] - sim->velocity[i];
  }
  if (status == POL_OK) return POL_OK;
  poli_simulation_fail(sim, status, -1, "the constraints cannot be evaluated", "a smaller step");
  poli_dae_blame(dae, sim->scratch, &sim->diagnostics);
  return status;
}

/* --- energy, work and invariants -------------------------------------------------------------- */

/* Work up to a time x h after the start of the last step, with power quadratic in between. */
static double work_at(double before, double P0, double middle, double P1, double h, double x)
{
  const double slope = 4.0 * middle - 3.0 * P0 - P1, curvature = 2.0 * (P0 - 2.0 * middle + P1);
  return before + h * x * (P0 + x * (slope / 2.0 + x * curvature / 3.0));
}

/* Power in the middle of the last step, from both ends or, where that would be too coarse, there.
 */
static pol_power middle_power(pol_simulation *sim, const pol_power *before, const pol_power *after)
{
  const pol_state *last = pol_integrator_state(sim->integrator);
  const pol_group *group = &sim->dae->group;
  pol_power power = {.dissipated = 0.5 * (before->dissipated + after->dissipated),
                     .applied = 0.5 * (before->applied + after->applied),
                     .drives = 0.5 * (before->drives + after->drives)};
  if (!sim->variable || !poli_integrator_is_dense(sim->integrator)) return power;
  double *q = sim->between, *v = q + group->nq, *vd = v + group->nv, *lambda = vd + group->nv;
  const double t = 0.5 * (sim->t_before + last->t);
  pol_point at = {.t = t, .q = q, .v = v, .vd = vd, .lambda = lambda, .history = last->history};
  if (pol_integrator_interpolate(sim->integrator, t, q, v, vd, lambda) == POL_OK)
    pol_formulation_power(sim->formulation, &at, &power);
  return power;
}

/* p . v - T(v), the kinetic part of the energy that belongs to a method with its own momenta. */
static double kinetic_by_momenta(const pol_simulation *sim, const pol_state *state, double T)
{
  double product = 0.0;
  for (int i = 0; i < sim->dae->group.nv; i++) product += state->p[i] * state->v[i];
  return product - T;
}

/* The energy at a state, and the values of the invariants there. */
static void measure_invariants(pol_simulation *sim, const poli_instant *now, const pol_state *state,
                               pol_energy *energy)
{
  const pol_summary *summary = &sim->summary;
  pol_momentum momentum;
  int momenta = 0;
  for (int i = 0; i < summary->num_invariants; i++)
    momenta |= summary->invariants[i].kind != POL_CONSTANT_ENERGY;
  poli_instant_energy(now, energy, momenta && !state->p ? &momentum : NULL);
  if (state->p) energy->kinetic = kinetic_by_momenta(sim, state, energy->kinetic);
  if (momenta && state->p)
    pol_formulation_momentum_by_p(sim->formulation, now->at.q, state->p, &momentum);
  poli_invariants_set(sim->summary.num_invariants, sim->summary.invariants,
                      energy->kinetic + energy->potential, &momentum);
}

/* --- summary ---------------------------------------------------------------------------------- */

void poli_simulation_measure_now(pol_simulation *sim, double t, const pol_energy *energy)
{
  pol_summary *summary = &sim->summary;
  const pol_energy *initial = &summary->initial_energy;
  const int m = pol_dae_num_constraints(sim->dae);
  const pol_work *W = &sim->work_before;
  const pol_power *P0 = &sim->power_before, *P1 = &sim->power, *Pm = &sim->power_middle;
  const double h = sim->t - sim->t_before, x = h > 0.0 ? (t - sim->t_before) / h : 1.0;
  summary->t = sim->state.t = t;
  summary->energy = *energy;
  summary->work =
      (pol_work){work_at(W->dissipated, P0->dissipated, Pm->dissipated, P1->dissipated, h, x),
                 work_at(W->applied, P0->applied, Pm->applied, P1->applied, h, x),
                 work_at(W->drives, P0->drives, Pm->drives, P1->drives, h, x)};
  summary->energy_balance = (energy->kinetic + energy->potential) -
                            (initial->kinetic + initial->potential) - summary->work.applied -
                            summary->work.drives + summary->work.dissipated;
  summary->position_residual = poli_largest(sim->dae->num_holonomic, sim->position);
  summary->velocity_residual = poli_largest(m, sim->velocity);
  summary->acceleration_residual = poli_largest(m, sim->acceleration);
}

/* --- solution --------------------------------------------------------------------------------- */

void poli_simulation_copy_solution(pol_simulation *sim, const pol_state *from)
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

pol_status poli_simulation_accept(pol_simulation *sim, long done)
{
  const pol_state *state = pol_integrator_state(sim->integrator);
  pol_summary *summary = &sim->summary;
  poli_instant now;
  pol_energy energy;
  pol_power power;
  summary->counts = *pol_integrator_counts(sim->integrator);

  pol_status status = measure_residuals(sim, state, 0, &now);
  if (status != POL_OK) return status;
  if ((status = poli_simulation_check_finite(sim, state)) != POL_OK) return status;
  status = poli_simulation_check_dropped(sim, state);
  poli_integrator_keep_constraints(sim->integrator);
  if (status != POL_OK) return status;
  if (done > 0 && (status = poli_simulation_check_turns(sim, state, &now)) != POL_OK) return status;
  poli_simulation_check_rotation(sim, state->t, &now);
  if (done > 0 && (status = poli_simulation_check_bends(sim, state)) != POL_OK) return status;
  measure_invariants(sim, &now, state, &energy);
  now.at.lambda = multipliers_now(sim, state);
  poli_instant_power(&now, &power);
  if (!isfinite(energy.kinetic) || !isfinite(energy.potential))
    return poli_simulation_fail(sim, POL_NOT_FINITE, -1, "the energy is not finite",
                                "initial values and masses of usual size");

  if (state->p != NULL) memcpy(sim->p_before, sim->p, (size_t)sim->dae->group.nv * sizeof *sim->p);
  poli_simulation_copy_solution(sim, state);
  poli_invariants_measure(summary->num_invariants, summary->invariants, done == 0 || sim->fresh,
                          sim->last_invariants);
  if (done == 0 && !sim->fresh) summary->initial_energy = energy;
  sim->fresh = 0;
  sim->done = done;
  sim->t_before = sim->t;
  sim->t = !sim->variable && done == sim->num_steps ? sim->end : state->t;
  sim->lambda_t_before = sim->lambda_t;
  sim->lambda_t = state->lambda_t;
  sim->power_before = done == 0 ? power : sim->power;
  sim->work_before = sim->work;
  sim->power_middle = middle_power(sim, &sim->power_before, &power);
  sim->power = power;
  poli_simulation_measure_now(sim, sim->t, &energy);
  sim->work = summary->work;

  const pol_energy *initial = &summary->initial_energy;
  const double drift =
      (energy.kinetic + energy.potential) - (initial->kinetic + initial->potential);
  summary->max_energy_drift = fmax(summary->max_energy_drift, fabs(drift));
  summary->max_position_residual = fmax(summary->max_position_residual, summary->position_residual);
  summary->max_velocity_residual = fmax(summary->max_velocity_residual, summary->velocity_residual);
  summary->max_acceleration_residual =
      fmax(summary->max_acceleration_residual, summary->acceleration_residual);
  const double violated = sim->index == POL_INDEX_2 ? summary->position_residual : 0.0;
  poli_watch_look(sim->watch, state, sim->t - sim->t_before, violated / poli_dae_length(sim->dae),
                  &summary->singular);
  return POL_OK;
}

pol_status poli_simulation_show(pol_simulation *sim, double t)
{
  const pol_state *last = pol_integrator_state(sim->integrator);
  poli_instant now;
  pol_energy energy;
  poli_simulation_copy_solution(sim, last);
  if (t < sim->t)
    pol_integrator_interpolate(sim->integrator, fmin(t, last->t), sim->q, sim->v, sim->vd,
                               sim->lambda);
  sim->state.t = t;
  if (t < sim->t) {
    double x = (t - sim->t_before) / (sim->t - sim->t_before);
    sim->state.lambda_t = sim->lambda_t_before + x * (sim->lambda_t - sim->lambda_t_before);
    /* Momenta by the straight line, with an error of second order.  The velocities of some methods
     * lag behind them, so that these do not give them. */
    for (int i = 0; i < sim->dae->group.nv && sim->state.p != NULL; i++)
      sim->p_between[i] = sim->p_before[i] + x * (sim->p[i] - sim->p_before[i]);
    if (sim->state.p != NULL) sim->state.p = sim->p_between;
  }
  pol_status status = measure_residuals(sim, &sim->state, t < sim->t, &now);
  if (status != POL_OK) return status;
  measure_invariants(sim, &now, &sim->state, &energy);
  poli_simulation_measure_now(sim, t, &energy);
  return POL_OK;
}

pol_status poli_simulation_forces_jump(pol_simulation *sim)
{
  poli_instant now;
  pol_power power;
  const pol_status status = measure_residuals(sim, &sim->state, 1, &now);
  if (status != POL_OK) return status;
  poli_instant_power(&now, &power);
  power.drives = sim->power.drives; /* the reactions after the jump are those of the next step */
  /* the work up to here is known: a step without length follows */
  sim->t_before = sim->t;
  sim->work_before = sim->work;
  sim->power = sim->power_before = sim->power_middle = power;
  return POL_OK;
}

pol_status pol_simulation_hold_loads(pol_simulation *simulation, double t, double factor)
{
  pol_simulation *sim = simulation;
  const int count = pol_mechanism_num_forces(sim->mechanism);
  if (!sim->owned) return POL_BAD_ARGUMENT;
  if (!sim->held) sim->held = malloc(((size_t)count + 1) * sizeof *sim->held);
  if (!sim->held) return POL_NO_MEMORY;
  poli_formulation_scale_loads(sim->owned, factor, sim->held);
  for (int k = 0; k < count; k++) {
    const double value = poli_force_scale(&sim->held[k], t);
    for (int i = 0; i < 3; i++) sim->held[k].vector[i] *= value;
    sim->held[k].actuator *= value;
    sim->held[k].scale = NULL;
  }
  return POL_OK;
}

pol_status pol_simulation_pose(pol_simulation *simulation, const pol_state *state)
{
  pol_simulation *sim = simulation;
  pol_energy energy;
  poli_instant now;
  poli_simulation_copy_solution(sim, state);
  sim->state.t = state->t;
  sim->event = -1;
  const pol_status status = measure_residuals(sim, &sim->state, 0, &now);
  if (status != POL_OK) return status;
  measure_invariants(sim, &now, &sim->state, &energy);
  poli_simulation_measure_now(sim, state->t, &energy);
  return POL_OK;
}

/* --- after a failure -------------------------------------------------------------------------- */

/* What the summary says but for its warnings, which stand at its end. */
static const size_t without_warnings = offsetof(pol_summary, num_warnings);

void poli_simulation_keep_good(pol_simulation *sim)
{
  /* eta and the momenta stand behind the rest; most methods have none */
  const int all = sim->state.eta != NULL || sim->state.p != NULL;
  const size_t size = all ? sim->solution_size : (size_t)(sim->eta - sim->q);
  memcpy(sim->good, sim->q, size * sizeof *sim->good);
  sim->good_state = sim->state;
  memcpy(&sim->good_summary, &sim->summary, without_warnings);
}

void poli_simulation_return_to_good(pol_simulation *sim)
{
  memcpy(sim->q, sim->good, sim->solution_size * sizeof *sim->good);
  sim->state = sim->good_state;
  /* the cost and the warnings of the failed step are still reported */
  memcpy(&sim->summary, &sim->good_summary, without_warnings);
  sim->summary.counts = *pol_integrator_counts(sim->integrator);
}
