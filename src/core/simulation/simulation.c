/* The simulation driver: formulation, integrator and time span in one object; its life cycle and
 * its steps to the next stop.
 *
 * A call steps the integrator until an output time or an event lies within the last step, and shows
 * the state there.  simulation_parts.h says which file has the rest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/monitor.h"
#include "integrators/family.h"
#include "simulation/simulation_parts.h"

/* --- life ------------------------------------------------------------------------------------- */

/* One block of memory for the copy of the solution and the workspace. */
static pol_status allocate(pol_simulation *sim)
{
  const pol_dae *dae = sim->dae;
  size_t nq = (size_t)dae->group.nq, nv = (size_t)dae->group.nv;
  size_t m = (size_t)pol_dae_num_constraints(dae);
  sim->solution_size = nq + 4 * nv + 2 * m + dae->history_size;
  sim->memory =
      calloc(2 * sim->solution_size + nq + 4 * nv + 5 * m + dae->scratch_size + 1, sizeof(double));
  sim->keep = malloc(nv + 1);
  if (sim->memory == NULL || sim->keep == NULL) return POL_NO_MEMORY;
  sim->q = sim->memory;
  sim->v = sim->q + nq;
  sim->vd = sim->v + nv;
  sim->lambda = sim->vd + nv;
  sim->eta = sim->lambda + m;
  sim->p = sim->eta + m;
  sim->p_between = sim->p + nv;
  sim->history = sim->p_between + nv;
  sim->good = sim->q + sim->solution_size;
  sim->position = sim->good + sim->solution_size;
  sim->velocity = sim->position + m;
  sim->acceleration = sim->velocity + m;
  sim->drift = sim->acceleration + m;
  sim->ahead = sim->drift + m;
  sim->p_before = sim->ahead + nv;
  sim->between = sim->p_before + nv;
  sim->scratch = sim->between + nq + 2 * nv + m;
  sim->event = -1;
  sim->state = (pol_state){.q = sim->q, .v = sim->v, .vd = sim->vd, .lambda = sim->lambda};
  if (dae->history_size > 0) sim->state.history = sim->history;
  return POL_OK;
}

/* The events of the settings. */
static pol_status add_rules(pol_simulation *sim, const pol_settings *settings)
{
  pol_diagnostics *d = &sim->diagnostics;
  pol_status status = poli_event_rules_create(&sim->rules, sim->formulation,
                                              poli_integrator_assembler(sim->integrator), settings,
                                              d->message, sizeof d->message);
  for (int i = 0; i < settings->num_events && status == POL_OK; i++) {
    pol_simulation_event event = poli_event_rules_event(sim->rules, i);
    status = pol_simulation_add_event(sim, &event, NULL);
  }
  return status;
}

static pol_status build(pol_simulation *sim, const pol_mechanism *mechanism,
                        const pol_settings *settings)
{
  pol_diagnostics *d = &sim->diagnostics;
  pol_status status = pol_settings_validate(settings, d->message, sizeof d->message);
  if (status != POL_OK) return status;
  poli_simulation_plan_steps(sim, settings);
  if ((status = poli_simulation_plan_output(sim, &settings->output)) != POL_OK) return status;
  sim->mechanism = mechanism;
  sim->options = settings->options;
  sim->method_adapts = pol_method_adapts(settings->options.method);
  sim->solver = settings->options.solver;
  sim->index = settings->options.index;
  sim->dropped_tolerance = 1e-6;
  if (settings->variable) {
    const pol_control *control = &settings->options.control;
    sim->dropped_tolerance = fmax(1e-6, fmax(control->atol_translation, control->atol_rotation));
  }
  sim->summary.num_invariants = poli_invariants_find(mechanism, sim->summary.invariants);
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
  sim->lags = poli_integrator_lags(sim->integrator);
  if ((status = allocate(sim)) != POL_OK) return status;
  if ((status = add_rules(sim, settings)) != POL_OK) return status;
  poli_monitor_stage("initial values");
  if (poli_monitor_poll(-1.0)) return POL_CANCELLED;
  status = poli_simulation_start(sim);
  char doubt[sizeof sim->summary.warnings[0].message];
  if (status == POL_OK && pol_integrator_warning(sim->dae, &settings->options, doubt, sizeof doubt))
    poli_simulation_warn(sim, 0.0, "%s", doubt);
  return status;
}

pol_status pol_simulation_create(pol_simulation **simulation, const pol_mechanism *mechanism,
                                 const pol_settings *settings, pol_diagnostics *diagnostics)
{
  pol_diagnostics unknown = {.equation = -1};
  *simulation = NULL;
  pol_simulation *sim = calloc(1, sizeof *sim);
  pol_status status = POL_NO_MEMORY;
  if (sim != NULL) {
    poli_monitor monitor;
    sim->diagnostics = unknown;
    sim->progress = settings->progress;
    poli_monitor_begin(&monitor, &sim->progress, "equations");
    status = build(sim, mechanism, settings);
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
  pol_formulation_free(&sim->formulation);
  free(sim->memory);
  free(sim->times);
  free(sim->events);
  free(sim->keep);
  poli_event_rules_free(&sim->rules);
  free(sim);
  *simulation = NULL;
}

/* --- stepping --------------------------------------------------------------------------------- */

/* A singular position that a step ended at is reported, if that has not been done on the way. */
static void note_crossing(pol_simulation *sim, int constraint)
{
  pol_singular *singular = &sim->summary.singular;
  if (singular->count > 0) return;
  singular->count = 1;
  singular->t = sim->t;
  poli_dae_describe(sim->dae, sim->dae->group.nv + constraint, singular->where,
                    sizeof singular->where);
}

/* One step of the integrator, and the search for events in it. */
static pol_status advance(pol_simulation *sim)
{
  double h = poli_simulation_step_size(sim, sim->done + 1);
  poli_monitor monitor;
  poli_monitor_begin(&monitor, &sim->progress, "step");
  pol_status status = sim->variable ? pol_integrator_adapt(sim->integrator, sim->end)
                                    : pol_integrator_step(sim->integrator, h);
  /* if the kept constraints have become dependent, another choice may help */
  if (status > 0 && !sim->variable &&
      pol_integrator_choose_constraints(sim->integrator) == POL_OK) {
    poli_watch_others(sim->watch);
    status = pol_integrator_step(sim->integrator, h);
  }
  /* a singular position right at the end of the step: the next one leaves it behind */
  int crossed = -1;
  if (status > 0 && !sim->variable &&
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
    return status;
  }
  status = poli_simulation_accept(sim, sim->done + 1);
  if (crossed >= 0) note_crossing(sim, crossed);
  if (status == POL_OK) status = poli_simulation_scan_events(sim);
  if (status != POL_OK) return status;
  poli_doubts_note(sim, 0);
  sim->in_step = 1;
  sim->seen = sim->t_before;
  sim->event = -1;
  poli_simulation_keep_good(sim);
  return POL_OK;
}

/* Steps until an output time or an event lies within the last step, and shows the state there. */
static pol_status go_to_next_stop(pol_simulation *sim)
{
  const int every_step = sim->output.count == 0 && sim->output.step == 0.0;
  for (;;) {
    double due = every_step ? sim->t : poli_simulation_next_output_time(sim), when = 0.0;
    int event = poli_simulation_next_event(sim, &when);
    if (event >= 0 && when <= due) return poli_simulation_stop_at(sim, event, when);
    if (sim->in_step && due <= sim->t) {
      sim->event = -1;
      sim->seen = due;
      sim->in_step = due < sim->t;
      if (!every_step) sim->next_output++;
      return sim->state.t == due ? POL_OK : poli_simulation_show(sim, due);
    }
    pol_status status = advance(sim);
    if (status != POL_OK) return status;
  }
}

pol_status pol_simulation_step(pol_simulation *sim)
{
  if (sim->failed != POL_OK) return sim->failed;
  if (pol_simulation_finished(sim))
    return poli_simulation_fail(sim, POL_BAD_ARGUMENT, -1, "the end of the time span is reached",
                                "");
  pol_status status = go_to_next_stop(sim);
  if (status != POL_OK) {
    poli_simulation_return_to_good(sim);
    if (status == POL_CANCELLED) return status;
    sim->failed = status;
  }
  if (status != POL_OK || pol_simulation_finished(sim)) pol_simulation_review(sim);
  return status;
}

/* --- what it tells ---------------------------------------------------------------------------- */

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
