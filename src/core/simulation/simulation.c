/* The simulation driver: formulation, integrator and time span in one object; its life cycle and
 * its steps to the next stop.
 *
 * A call steps the integrator until an output time or an event lies within the last step, and shows
 * the state there.  parts.h says which file has the rest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/analysis.h>

#include "base/arena.h"
#include "base/monitor.h"
#include "base/rule.h"
#include "formulation/expressions.h"
#include "integrators/family.h"
#include "lie/small.h"
#include "simulation/parts.h"

/* --- initial values --------------------------------------------------------------------------- */

static double distance(const double a[3], const double b[3])
{
  double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Compares the mechanism's values with the assembled ones. */
static void measure_moves(pol_simulation *sim)
{
  static const double zero[3] = {0.0, 0.0, 0.0};
  pol_moves *moves = &sim->summary.moves;
  for (int i = 0; i < pol_mechanism_num_bodies(sim->mechanism); i++) {
    pol_body_state found;
    double inverse[4], relative[4], turn[3], R[9], global[3];
    const pol_body *given = pol_mechanism_body(sim->mechanism, i);
    pol_formulation_body_state(sim->formulation, sim->q, sim->v, i, &found);
    moves->position = fmax(moves->position, distance(given->position, found.position));
    /* angle of the rotation between the two orientations */
    pol_quat_conjugate(given->rotation, inverse);
    pol_quat_multiply(inverse, found.quaternion, relative);
    pol_so3_log(relative, turn);
    moves->rotation = fmax(moves->rotation, distance(zero, turn));
    if (given->given & POL_GIVEN_VELOCITY)
      moves->velocity = fmax(moves->velocity, distance(given->velocity, found.velocity));
    if (!(given->given & POL_GIVEN_ANGULAR_VELOCITY)) continue;
    pol_quat_to_matrix(given->rotation, R);
    poli_m3_apply(R, given->angular_velocity, global);
    moves->angular_velocity = fmax(moves->angular_velocity,
                                   given->given & POL_GIVEN_IN_GLOBAL_AXES
                                       ? distance(global, found.angular_velocity_global)
                                       : distance(given->angular_velocity, found.angular_velocity));
  }
}

/* Where redundant constraints share a reaction that forces, states or events depend on, the motion
 * depends on which of them are dropped. */
static pol_status check_open_reactions(pol_simulation *sim)
{
  const pol_point at = pol_state_point(&sim->state);
  char name[96] = "";
  int dropped = 0;
  pol_simulation_dropped(sim, &dropped);
  if (dropped == 0) return POL_OK;
  poli_signal *signals = calloc(POLI_MAX_INPUTS, sizeof *signals);
  if (signals == NULL) return POL_NO_MEMORY;
  int count = poli_expressions_read(sim->formulation, signals);
  pol_status status = poli_expressions_find_open(sim->formulation, sim->solver, &at, count, signals,
                                                 name, sizeof name);
  if (status == POL_OK && name[0] != '\0')
    poli_simulation_warn(
        sim, sim->state.t,
        "forces or states depend on the reaction of %s, which is not unique because "
        "constraints are redundant: the motion depends on which of them are "
        "dropped; use joints with fewer constraints",
        name);
  count = poli_event_rules_read(sim->rules, signals, POLI_MAX_INPUTS);
  if (status == POL_OK)
    status = poli_expressions_find_open(sim->formulation, sim->solver, &at, count, signals, name,
                                        sizeof name);
  if (status == POL_OK && name[0] != '\0')
    poli_simulation_warn(sim, sim->state.t,
                         "events depend on the reaction of %s, which is not unique because "
                         "constraints are redundant: their times depend on which of them are "
                         "dropped; use joints with fewer constraints",
                         name);
  free(signals);
  return status;
}

/* Replaces initial values q, v by those of the static equilibrium. */
static pol_status find_equilibrium(pol_simulation *sim, double *q, double *v)
{
  const pol_formulation *f = sim->formulation;
  pol_analysis *analysis;
  pol_status status = pol_analysis_create(&analysis, sim->mechanism, 0.0, &sim->diagnostics);
  if (status == POL_OK) status = pol_analysis_equilibrium(analysis, NULL, NULL, &sim->diagnostics);
  if (status != POL_OK) {
    pol_analysis_free(&analysis);
    return status;
  }
  const pol_state *state = pol_analysis_state(analysis);
  const pol_formulation *own = pol_analysis_formulation(analysis);
  const pol_point at = pol_state_point(state);
  const pol_point unturned = {.t = at.t, .q = at.q, .v = at.v};
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *placed = &f->bodies[i];
    pol_body body = *placed->body;
    pol_body_state found;
    pol_formulation_body_state(own, state->q, state->v, i, &found);
    memcpy(body.position, found.position, sizeof body.position);
    memcpy(body.rotation, found.quaternion, sizeof body.rotation);
    memset(body.velocity, 0, sizeof body.velocity);
    memset(body.angular_velocity, 0, sizeof body.angular_velocity);
    const poli_placed_body *from = &own->bodies[i];
    const int modes = placed->chart->num_modes;
    poli_placed_set(placed, &body, state->q + from->q + from->chart->nq - modes,
                    state->v + from->v + from->chart->dim - modes, q, v);
  }
  for (int i = 0; i < sim->dae->num_states; i++)
    v[f->state_v + i] = pol_formulation_state_variable(own, &at, i);
  /* a run counts turns from its start */
  for (int k = 0; k < f->num_joints && status == POL_OK; k++) {
    const pol_joint *joint = pol_mechanism_joint(sim->mechanism, k);
    for (int i = 0; i < pol_joint_num_coordinates(joint) && status == POL_OK; i++) {
      double value, wrapped, rate;
      pol_formulation_joint_coordinate(own, &at, k, i, &value, &rate);
      pol_formulation_joint_coordinate(own, &unturned, k, i, &wrapped, &rate);
      if (fabs(value - wrapped) < 1.0 || !poli_formulation_needs_turns(f, k, i)) continue;
      status = poli_simulation_fail(sim, POL_INCONSISTENT, -1,
                                    "the joint turns by more than half a turn to the equilibrium",
                                    "initial values closer to the equilibrium");
      snprintf(sim->diagnostics.where, sizeof sim->diagnostics.where, "joint '%s'", joint->name);
    }
  }
  pol_analysis_free(&analysis);
  return status;
}

/* Makes the mechanism's initial values consistent, starts the integrator and takes over the
 * solution at t = 0. */
static pol_status start(pol_simulation *sim)
{
  double *q = sim->between, *v = q + sim->dae->group.nq;
  pol_formulation_initial(sim->formulation, q, v, sim->keep);
  const pol_point given = {.q = q, .v = v};
  if (poli_simulation_residuals(sim, &given, 0) == POL_OK) {
    sim->summary.moves.position_residual = poli_largest(sim->dae->num_holonomic, sim->position);
    sim->summary.moves.velocity_residual =
        poli_largest(pol_dae_num_constraints(sim->dae), sim->velocity);
  }
  pol_status status = sim->equilibrium ? find_equilibrium(sim, q, v)
                                       : pol_formulation_assemble(sim->formulation, sim->solver,
                                                                  0.0, q, v, &sim->diagnostics);
  if (status != POL_OK) return status;
  memcpy(sim->given, q, (size_t)(sim->dae->group.nq + sim->dae->group.nv) * sizeof *q);
  status = pol_integrator_start(sim->integrator, 0.0, q, v, sim->keep);
  if (status != POL_OK) {
    sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
    return status;
  }
  if ((status = poli_hard_stops_settle(sim->hard_stops, &sim->diagnostics)) != POL_OK)
    return status;

  /* Positions can be singular where joints form a closed loop: without one, each joint locks what
   * nothing else does. */
  int has_loop;
  if (!poli_mechanism_has_loop(sim->mechanism, &has_loop)) return POL_NO_MEMORY;
  if (has_loop) status = poli_watch_create(&sim->watch, sim->formulation, sim->integrator);
  if (status == POL_OK) status = poli_simulation_accept(sim, 0);
  if (status == POL_OK) status = check_open_reactions(sim);
  if (status == POL_OK)
    status = pol_formulation_check_branches(sim->formulation, 0.0, sim->q, &sim->diagnostics);
  if (status != POL_OK) return status;
  if (sim->equilibrium)
    memset(&sim->summary.moves, 0, sizeof sim->summary.moves);
  else
    measure_moves(sim);
  poli_doubts_note(sim, 1);
  poli_simulation_keep_good(sim);
  sim->first_values = poli_simulation_hash_solution(sim);
  poli_simulation_find_impacts(sim);
  sim->shown = 1;
  return POL_OK;
}

/* --- life ------------------------------------------------------------------------------------- */

/* One block of memory for the copy of the solution and the workspace. */
static pol_status allocate(pol_simulation *sim)
{
  const pol_dae *dae = sim->dae;
  const int nq = dae->group.nq, nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, sim->q, nq);
    POLI_TAKE(&arena, sim->v, nv);
    POLI_TAKE(&arena, sim->vd, nv);
    POLI_TAKE(&arena, sim->lambda, m);
    POLI_TAKE(&arena, sim->history, dae->history_size);
    POLI_TAKE(&arena, sim->eta, m);
    POLI_TAKE(&arena, sim->p, nv);
    POLI_TAKE(&arena, sim->p_between, nv);
    sim->solution_size = (size_t)(nq + 4 * nv + 2 * m) + dae->history_size;
    POLI_TAKE(&arena, sim->good, sim->solution_size);
    POLI_TAKE(&arena, sim->position, m);
    POLI_TAKE(&arena, sim->velocity, m);
    POLI_TAKE(&arena, sim->acceleration, m);
    POLI_TAKE(&arena, sim->drift, m);
    POLI_TAKE(&arena, sim->ahead, nv);
    POLI_TAKE(&arena, sim->p_before, nv);
    POLI_TAKE(&arena, sim->between, nq + 2 * nv + m);
    POLI_TAKE(&arena, sim->scratch, dae->scratch_size);
    POLI_TAKE(&arena, sim->given, nq + nv);
    POLI_TAKE(&arena, sim->keep, nv);
  } while (poli_arena_again(&arena));
  sim->memory = arena.memory;
  sim->memory_size = arena.used;
  if (sim->memory == NULL) return POL_NO_MEMORY;
  sim->event = -1;
  sim->state = (pol_state){.q = sim->q, .v = sim->v, .vd = sim->vd, .lambda = sim->lambda};
  if (dae->history_size > 0) sim->state.history = sim->history;
  return POL_OK;
}

/* Variable steps need an error estimate in this formulation, and reversible ones a motion whose
 * energy is constant. */
static pol_status check_steps(const pol_mechanism *mechanism, const pol_dae *dae,
                              const pol_options *options, char *message, size_t size)
{
  const poli_family *family = poli_method_family(poli_method_entry_find(options->method), dae);
  const int reversible = options->control.controller == POL_CONTROLLER_REVERSIBLE;
  pol_symmetries symmetries;
  if (!family->adaptive)
    return poli_broken_rule("steps must be fixed: this method has no error estimate in this "
                            "formulation; rattle has one in so3xr3",
                            message, size);
  if (!reversible) return POL_OK;
  if (!family->adaptive->energies)
    return poli_broken_rule("control.controller must not be reversible: this needs the method "
                            "rattle in so3xr3",
                            message, size);
  pol_mechanism_symmetries(mechanism, &symmetries);
  if (symmetries.energy) return POL_OK;
  return poli_broken_rule("control.controller must not be reversible: drives, dampers or forces "
                          "change the energy of this mechanism, so that nothing is gained; use "
                          "rtol",
                          message, size);
}

static pol_status build(pol_simulation *sim, const pol_mechanism *mechanism,
                        const pol_formulation *shared, const pol_settings *settings)
{
  pol_diagnostics *d = &sim->diagnostics;
  pol_status status = pol_settings_validate(settings, d->message, sizeof d->message);
  if (status != POL_OK) return status;
  poli_simulation_plan_steps(sim, settings);
  if ((status = poli_simulation_plan_output(sim, &settings->output)) != POL_OK) return status;
  sim->mechanism = mechanism;
  sim->equilibrium = settings->equilibrium;
  sim->options = settings->options;
  sim->solver = settings->options.solver;
  sim->index = settings->options.index;
  sim->dropped_tolerance = 1e-6;
  if (settings->variable) {
    const pol_control *control = &settings->options.control;
    sim->dropped_tolerance = fmax(1e-6, fmax(control->atol_translation, control->atol_rotation));
  }
  sim->summary.num_invariants = poli_invariants_find(mechanism, sim->summary.invariants);
  const pol_formulation_kind kind = pol_settings_formulation(settings);
  if (shared != NULL) {
    sim->formulation = shared;
  } else {
    status = pol_formulation_supports(mechanism, kind, d->message, sizeof d->message);
    if (status != POL_OK) return status;
    status = pol_formulation_create(&sim->owned, mechanism, kind);
    if (status != POL_OK) return status;
    sim->formulation = sim->owned;
  }
  sim->dae = pol_formulation_dae(sim->formulation);
  status = pol_integrator_supports(sim->dae, &settings->options, d->message, sizeof d->message);
  if (status == POL_OK && settings->variable)
    status = check_steps(mechanism, sim->dae, &settings->options, d->message, sizeof d->message);
  if (status != POL_OK) return status;
  status = pol_integrator_create(&sim->integrator, sim->dae, &settings->options);
  if (status != POL_OK) return status;
  sim->lags = poli_integrator_lags(sim->integrator);
  if ((status = allocate(sim)) != POL_OK) return status;
  status = poli_event_rules_create(&sim->rules, sim->formulation,
                                   poli_integrator_assembler(sim->integrator), settings, d->message,
                                   sizeof d->message);
  for (int i = 0; i < settings->num_events && status == POL_OK; i++) {
    const pol_simulation_event event = poli_event_rules_event(sim->rules, i);
    status = pol_simulation_add_event(sim, &event, NULL);
  }
  if (status == POL_OK)
    status = poli_hard_stops_create(&sim->hard_stops, sim->formulation, sim->integrator);
  for (int i = 0; i < poli_hard_stops_count(mechanism) && status == POL_OK; i++) {
    const pol_simulation_event event = poli_hard_stops_event(sim->hard_stops, i);
    status = pol_simulation_add_event(sim, &event, NULL);
  }
  if (status != POL_OK) return status;
  poli_monitor_stage("initial values");
  if (poli_monitor_poll(-1.0)) return POL_CANCELLED;
  status = start(sim);
  char doubt[sizeof sim->summary.warnings[0].message];
  if (status == POL_OK && pol_integrator_warning(sim->dae, &settings->options, doubt, sizeof doubt))
    poli_simulation_warn(sim, 0.0, "%s", doubt);
  if (status == POL_OK) poli_simulation_doubt_step(sim, 0);
  return status;
}

pol_status pol_simulation_create(pol_simulation **simulation, const pol_mechanism *mechanism,
                                 const pol_settings *settings, pol_diagnostics *diagnostics)
{
  return poli_simulation_create(simulation, mechanism, NULL, settings, diagnostics);
}

pol_status poli_simulation_create(pol_simulation **simulation, const pol_mechanism *mechanism,
                                  const pol_formulation *shared, const pol_settings *settings,
                                  pol_diagnostics *diagnostics)
{
  pol_diagnostics unknown = {.equation = -1};
  *simulation = NULL;
  if (mechanism == NULL || settings == NULL) {
    unknown.status = POL_BAD_ARGUMENT;
    snprintf(unknown.message, sizeof unknown.message, "the %s must not be NULL",
             mechanism == NULL ? "mechanism" : "settings");
    if (diagnostics != NULL) *diagnostics = unknown;
    return POL_BAD_ARGUMENT;
  }
  pol_simulation *sim = calloc(1, sizeof *sim);
  pol_status status = POL_NO_MEMORY;
  if (sim != NULL) {
    poli_monitor monitor;
    sim->diagnostics = unknown;
    sim->progress = settings->progress;
    poli_monitor_begin(&monitor, &sim->progress, "equations");
    status = build(sim, mechanism, shared, settings);
    poli_monitor_end(&monitor);
    if (monitor.cancelled) status = POL_CANCELLED; /* an inner call may have ignored it */
  }
  if (status == POL_OK) {
    *simulation = sim;
    return POL_OK;
  }

  /* Say why, then clear away what there is. */
  if (diagnostics != NULL) {
    *diagnostics = sim != NULL ? sim->diagnostics : unknown;
    diagnostics->status = status;
    if (status == POL_CANCELLED) diagnostics->message[0] = '\0';
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
  poli_watch_free(&sim->watch);
  pol_integrator_free(&sim->integrator);
  pol_formulation_free(&sim->owned);
  free(sim->held);
  free(sim->memory);
  free(sim->before_end);
  free(sim->times);
  free(sim->events);
  poli_event_rules_free(&sim->rules);
  poli_hard_stops_free(&sim->hard_stops);
  poli_controllers_free(sim);
  free(sim);
  *simulation = NULL;
}

/* --- stepping --------------------------------------------------------------------------------- */

/* One step of the integrator, of variable size at most to the time `limit`, and the search for
 * events in it.  The solution is accepted, or stays the last good one. */
static pol_status advance(pol_simulation *sim, double limit)
{
  double h = poli_simulation_step_size(sim, sim->done + 1);
  poli_monitor monitor;
  const int fitted = !sim->variable && poli_controllers_fit_step(sim, &h);
  poli_simulation_keep_before_end(sim);
  if (sim->variable && sim->num_controllers > 0)
    poli_integrator_expect_span(sim->integrator, sim->end - sim->t);
  poli_monitor_begin(&monitor, &sim->progress, "step");
  limit = fmin(limit, poli_controllers_next(sim));
  pol_status status = sim->variable ? pol_integrator_adapt(sim->integrator, limit)
                                    : pol_integrator_step(sim->integrator, h);
  /* if the kept constraints have become dependent, another choice may help; in real time there is
   * no second attempt */
  const int tries_again = !sim->variable && sim->options.newton.fixed_iterations == 0;
  if (status > 0 && tries_again && pol_integrator_choose_constraints(sim->integrator) == POL_OK)
    status = pol_integrator_step(sim->integrator, h);
  /* a singular position right at the end of the step: the next one leaves it behind */
  int crossed = -1;
  if (status > 0 && tries_again &&
      poli_integrator_drop_near(sim->integrator, h, &crossed) == POL_OK)
    status = pol_integrator_step(sim->integrator, h);
  poli_monitor_end(&monitor);
  if (status == POL_CANCELLED)
    return poli_simulation_fail(sim, status, -1, pol_status_text(status), "");
  if (status != POL_OK) {
    poli_integrator_keep_constraints(sim->integrator);
    poli_simulation_return_to_good(sim); /* where singular positions are searched for */
    sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
    poli_simulation_blame_position(sim);
    /* the root of a negative number stays one, however small the steps are */
    if (strstr(sim->diagnostics.where, POLI_NO_VALUE))
      snprintf(
          sim->diagnostics.advice, sizeof sim->diagnostics.advice,
          "give the expression a value there too, such as sqrt(max(x, 0)) for sqrt(x), or stop "
          "before with an event; a smaller step helps only if the motion itself stays away");
    return status;
  }

  if (fitted) { /* steps are counted anew from its end */
    sim->done++;
    poli_simulation_plan_rest(sim, pol_integrator_state(sim->integrator)->t);
    sim->done--;
  }
  status = poli_simulation_accept(sim, sim->done + 1);
  sim->shown = 0;
  pol_singular *singular = &sim->summary.singular;
  if (crossed >= 0 && singular->count == 0) {
    singular->count = 1;
    singular->t = sim->t;
    poli_dae_describe(sim->dae, sim->dae->group.nv + crossed, singular->where,
                      sizeof singular->where);
  }
  if (status == POL_OK) status = poli_simulation_scan_events(sim);
  if (status != POL_OK) return status;
  poli_doubts_note(sim, 0);
  poli_simulation_doubt_step(sim, sim->done);
  sim->in_step = 1;
  sim->seen = sim->t_before;
  sim->event = -1;
  poli_simulation_keep_good(sim);
  return POL_OK;
}

/* The end of a call that has stepped. */
static pol_status end_call(pol_simulation *sim, pol_status status)
{
  sim->shown = status == POL_OK;
  /* A failed step leaves the last good state; a cancelled one can be repeated. */
  if (status != POL_OK) {
    poli_simulation_return_to_good(sim);
    if (status == POL_CANCELLED) return status;
    sim->failed = status;
  }
  if (status != POL_OK || pol_simulation_finished(sim)) pol_simulation_review(sim);
  return status;
}

pol_status pol_simulation_step(pol_simulation *sim)
{
  const int every_step = sim->output.count == 0 && sim->output.step == 0.0;
  pol_status status = POL_OK;
  if (sim->failed != POL_OK) return sim->failed;
  if (pol_simulation_finished(sim))
    return poli_simulation_fail(sim, POL_BAD_ARGUMENT, -1, "the end of the time span is reached",
                                "");

  /* Step until an output time or an event lies within the last step, and show the state there. */
  for (int shown = 0; status == POL_OK && !shown;) {
    double due = every_step ? sim->t : poli_simulation_next_output_time(sim), when = 0.0;
    const int event = poli_simulation_next_event(sim, &when);
    shown = 1;
    if (event >= 0 && when <= due) {
      status = poli_simulation_stop_at(sim, event, when);
      shown = sim->event >= 0 || pol_simulation_finished(sim);
    } else if (sim->in_step && due <= sim->t) {
      sim->event = -1;
      sim->seen = due;
      sim->in_step = due < sim->t;
      if (!every_step) sim->next_output++;
      if (sim->state.t != due) status = poli_simulation_show(sim, due);
      if (status == POL_OK && due == sim->t) status = poli_controllers_sample(sim);
    } else {
      shown = 0;
      /* a sample may make an event due */
      if (poli_controllers_due(sim))
        status = poli_controllers_sample(sim);
      else
        status = advance(sim, sim->end);
    }
  }

  return end_call(sim, status);
}

/* Reports a call that changes nothing. */
static pol_status refuse_time(pol_simulation *sim, const char *rule)
{
  return poli_simulation_fail(sim, POL_BAD_ARGUMENT, -1, rule, "");
}

pol_status pol_simulation_step_to(pol_simulation *sim, double t)
{
  const double near = 1e-6; /* of a step: importers add up times with round-off */
  const int meets = sim->variable && sim->formulation->network.num_held > 0;
  pol_status status = POL_OK;
  if (sim->failed != POL_OK) return sim->failed;
  if (!isfinite(t) || t < sim->state.t) return refuse_time(sim, "the time has passed already");
  if (pol_simulation_finished(sim)) return refuse_time(sim, "the end of the time span is reached");
  if (t > sim->end * (1.0 + 1e-9)) return refuse_time(sim, "the time is after the end of the run");
  t = fmin(t, sim->end);

  /* as pol_simulation_step with one output time, but events are no stops */
  for (int shown = 0; status == POL_OK && !shown && !pol_simulation_finished(sim);) {
    const double size = sim->t - sim->t_before;
    const double due = fabs(t - sim->t) <= near * size ? sim->t : t;
    double when = 0.0;
    const int event = poli_simulation_next_event(sim, &when);
    if (event >= 0 && when <= due) {
      status = poli_simulation_stop_at(sim, event, when);
    } else if (due <= sim->t) {
      shown = 1;
      sim->event = -1;
      sim->seen = due;
      sim->in_step = sim->in_step && due < sim->t;
      if (sim->state.t != due) status = poli_simulation_show(sim, due);
      if (status == POL_OK && due == sim->t) status = poli_controllers_sample(sim);
    } else if (poli_controllers_due(sim)) {
      /* a sample may make an event due */
      status = poli_controllers_sample(sim);
    } else {
      status = advance(sim, meets ? t : sim->end);
    }
  }
  return end_call(sim, status);
}

/* --- results ---------------------------------------------------------------------------------- */

int pol_simulation_finished(const pol_simulation *sim)
{
  if (sim->failed != POL_OK) return 0;
  return sim->stopped || (sim->state.t >= sim->end && !poli_simulation_has_due_event(sim));
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

pol_status pol_simulation_body(const pol_simulation *sim, int index, pol_body_state *state)
{
  if (index < 0 || index >= pol_mechanism_num_bodies(pol_formulation_mechanism(sim->formulation)))
    return POL_BAD_ARGUMENT;
  const pol_state *now = pol_simulation_state(sim);
  pol_formulation_body_state(sim->formulation, now->q, now->v, index, state);
  return POL_OK;
}

int pol_simulation_modes(const pol_simulation *sim, int index, double *amplitudes, double *rates)
{
  if (index < 0 || index >= pol_mechanism_num_bodies(pol_formulation_mechanism(sim->formulation)))
    return 0;
  const pol_state *now = pol_simulation_state(sim);
  return pol_formulation_modes(sim->formulation, now->q, now->v, index, amplitudes, rates);
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
