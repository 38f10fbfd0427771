/* Sampled controllers: at t = 0 and at the multiples of its period each controller reads variables
 * of the model and sets inputs of the model, which keep their values until its next sample.
 *
 *     u_k = inputs(t_k),     y_k = sample(t_k, u_k),     outputs = y_k for t_k <= t < t_k+1
 *
 * Steps of the integrator end at the samples.  Steps of fixed size h stay h where a sample is a
 * whole number of them away; otherwise the time up to it is divided into equal steps of at most h.
 * A sample belongs to the end of a step: events of the step come first, since a reset may end it
 * earlier, and a row at this time has the new values.  Controllers with a sample at the same time
 * are called in the order in which they were added; each reads what those before it have set.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "integrators/family.h"
#include "integrators/root.h"
#include "simulation/parts.h"

/* Times closer than this share of a period, or of a step, are the same. */
static const double same_time = 1e-9;

/* --- sample times ----------------------------------------------------------------------------- */

static double next_sample(const poli_sampled *c)
{
  return (double)c->samples * c->controller.period;
}

double poli_controllers_next(const pol_simulation *sim)
{
  double next = (double)INFINITY;
  for (int i = 0; i < sim->num_controllers; i++)
    next = fmin(next, next_sample(&sim->controllers[i]));
  return next < sim->end * (1.0 - same_time) ? next : sim->end;
}

static int is_due(const pol_simulation *sim, const poli_sampled *c)
{
  return next_sample(c) - sim->t <= same_time * c->controller.period;
}

int poli_controllers_due(const pol_simulation *sim)
{
  for (int i = 0; i < sim->num_controllers; i++)
    if (is_due(sim, &sim->controllers[i])) return 1;
  return 0;
}

int poli_controllers_fit_step(const pol_simulation *sim, double *h)
{
  const double next = poli_controllers_next(sim), rest = next - sim->t;
  if (sim->num_controllers == 0 || next >= sim->end) return 0;
  const double count = fmax(ceil(rest / sim->step * (1.0 - same_time)), 1.0);
  const int fits = fabs(rest - count * sim->step) <= same_time * count * sim->step;
  if (fits && *h <= rest * (1.0 + same_time)) return 0;
  *h = rest / count;
  return 1;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Ends the run: the controller has failed at the current time. */
static pol_status fail(pol_simulation *sim, const poli_sampled *c, pol_status status,
                       const char *message)
{
  poli_simulation_fail(sim, status, -1, message, "");
  sim->diagnostics.t = sim->t;
  sim->diagnostics.h = 0.0;
  snprintf(sim->diagnostics.where, sizeof sim->diagnostics.where, "controller '%.100s'", c->name);
  return status;
}

/* Calls one controller at the shown state, which is that of sim->t, and sets what it returns. */
static pol_status sample_one(pol_simulation *sim, poli_sampled *c)
{
  const pol_sampled_controller *own = &c->controller;
  const pol_point at = pol_state_point(&sim->state);
  char message[sizeof sim->diagnostics.message] = "";
  double *inputs = sim->sampled, *outputs = inputs + own->num_inputs;
  double *values = outputs + own->num_outputs;
  pol_formulation_variables(sim->formulation, &at, values);
  for (int i = 0; i < own->num_inputs; i++) {
    inputs[i] = values[own->inputs[i]];
    if (isfinite(inputs[i])) continue;
    snprintf(message, sizeof message, "the input '%.100s' of the controller is not a finite number",
             pol_mechanism_variable(sim->mechanism, own->inputs[i])->name);
    return fail(sim, c, POL_NOT_FINITE, message);
  }
  for (int i = 0; i < own->num_outputs; i++) outputs[i] = values[own->outputs[i]];
  c->samples++;
  pol_status status = own->sample(sim->t, inputs, outputs, message, sizeof message, own->user);
  if (status != POL_OK)
    return fail(sim, c, status, message[0] ? message : "the controller has failed");
  for (int i = 0; i < own->num_outputs; i++) {
    if (!isfinite(outputs[i])) {
      snprintf(message, sizeof message,
               "the output '%.100s' of the controller is not a finite number",
               pol_mechanism_variable(sim->mechanism, own->outputs[i])->name);
      return fail(sim, c, POL_NOT_FINITE, message);
    }
    status = pol_simulation_set_input(sim, own->outputs[i], outputs[i]);
    if (status == POL_OK) continue;
    snprintf(message, sizeof message,
             "forces cannot be evaluated with the controller's output '%.60s' = %.6g",
             pol_mechanism_variable(sim->mechanism, own->outputs[i])->name, outputs[i]);
    return fail(sim, c, status, message);
  }
  return POL_OK;
}

/* Events whose functions have jumped through zero are due now. */
static void find_jumps(pol_simulation *sim)
{
  for (int i = 0; i < sim->num_events; i++) {
    poli_watched_event *w = &sim->events[i];
    const double now = w->event.function(&sim->state, w->event.user);
    if (w->reported == sim->t || !poli_changes_sign(w->before, now, w->event.direction)) continue;
    w->due = 1;
    w->next_side = w->before > 0.0 ? 1 : -1;
  }
}

pol_status poli_controllers_sample(pol_simulation *sim)
{
  pol_status status = POL_OK;
  if (!poli_controllers_due(sim)) return POL_OK;
  if (sim->state.t != sim->t) status = poli_simulation_show(sim, sim->t);
  for (int i = 0; i < sim->num_events && status == POL_OK; i++) {
    poli_watched_event *w = &sim->events[i];
    w->before = w->event.function(&sim->state, w->event.user);
  }
  for (int i = 0; i < sim->num_controllers && status == POL_OK; i++)
    if (is_due(sim, &sim->controllers[i])) status = sample_one(sim, &sim->controllers[i]);
  if (status == POL_OK) status = poli_simulation_forces_jump(sim);
  if (status != POL_OK) return status;
  /* the step has no more stops but those */
  sim->in_step = 0;
  sim->seen = sim->t;
  find_jumps(sim);
  poli_simulation_keep_good(sim);
  return POL_OK;
}

/* --- adding ----------------------------------------------------------------------------------- */

static pol_status refuse(pol_simulation *sim, const char *format, const char *name)
{
  pol_diagnostics *d = &sim->diagnostics;
  *d = (pol_diagnostics){.status = POL_BAD_ARGUMENT, .equation = -1};
  snprintf(d->message, sizeof d->message, format, name);
  return POL_BAD_ARGUMENT;
}

static pol_status check(pol_simulation *sim, const pol_sampled_controller *c)
{
  const int count = pol_mechanism_num_variables(sim->mechanism);
  if (!c->name || !c->sample)
    return refuse(sim, "a controller must have a %s", c->name ? "function sample" : "name");
  if (!(isfinite(c->period) && c->period > 0.0))
    return refuse(sim, "the period of controller '%.80s' must be positive", c->name);
  if (sim->end / c->period > 9e15)
    return refuse(sim, "controller '%.80s' must not have more samples than can be counted",
                  c->name);
  if (c->num_inputs < 0 || c->num_outputs < 0 || (c->num_inputs > 0 && !c->inputs) ||
      (c->num_outputs > 0 && !c->outputs) || !c->save != !c->load)
    return refuse(sim, "the lists of controller '%.80s' are not complete", c->name);
  if (sim->summary.counts.steps > 0 || sim->failed)
    return refuse(sim, "controller '%.80s' must be added before the first step", c->name);
  if (sim->options.control.controller == POL_CONTROLLER_REVERSIBLE && sim->variable)
    return refuse(sim, "controller '%.80s' changes the energy: steps must not be reversible",
                  c->name);
  for (int i = 0; i < c->num_inputs; i++)
    if (c->inputs[i] < 0 || c->inputs[i] >= count)
      return refuse(sim, "an input of controller '%.80s' is no variable", c->name);
  for (int i = 0; i < c->num_outputs; i++)
    if (poli_simulation_find_input(sim->formulation, c->outputs[i]) < 0)
      return refuse(sim, "an output of controller '%.80s' is no input of the model", c->name);
  return POL_OK;
}

/* Appends a copy of the controller, and makes room for the numbers of a sample. */
static pol_status append(pol_simulation *sim, const pol_sampled_controller *from)
{
  const size_t count = (size_t)sim->num_controllers + 1;
  poli_sampled *longer = realloc(sim->controllers, count * sizeof *longer);
  if (!longer) return POL_NO_MEMORY;
  sim->controllers = longer;
  const size_t room = (size_t)(from->num_inputs + from->num_outputs) +
                      (size_t)pol_mechanism_num_variables(sim->mechanism);
  double *sampled =
      room > sim->sampled_room ? realloc(sim->sampled, room * sizeof *sampled) : sim->sampled;
  if (!sampled) return POL_NO_MEMORY;
  sim->sampled = sampled;
  if (room > sim->sampled_room) sim->sampled_room = room;

  poli_sampled *c = &sim->controllers[count - 1];
  int *inputs, *outputs;
  char *name;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, inputs, from->num_inputs);
    POLI_TAKE(&arena, outputs, from->num_outputs);
    POLI_TAKE(&arena, name, strlen(from->name) + 1);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  if (from->num_inputs > 0) memcpy(inputs, from->inputs, (size_t)from->num_inputs * sizeof *inputs);
  if (from->num_outputs > 0)
    memcpy(outputs, from->outputs, (size_t)from->num_outputs * sizeof *outputs);
  strcpy(name, from->name);
  *c = (poli_sampled){.controller = *from, .name = name, .memory = arena.memory};
  c->controller.name = name;
  c->controller.inputs = inputs;
  c->controller.outputs = outputs;
  sim->num_controllers++;
  return POL_OK;
}

/* The start at t = 0 with other forces. */
static pol_status start_again(pol_simulation *sim)
{
  pol_status status = pol_integrator_restart(sim->integrator, 0.0, sim->q, sim->v, NULL);
  if (status != POL_OK) {
    sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
    return status;
  }
  status = poli_hard_stops_settle(sim->hard_stops, &sim->diagnostics);
  if (status == POL_OK) status = poli_simulation_accept(sim, 0);
  if (status != POL_OK) return status;
  poli_doubts_note(sim, 1);
  poli_simulation_keep_good(sim);
  sim->first_values = poli_simulation_hash_solution(sim);
  poli_simulation_find_impacts(sim);
  return POL_OK;
}

pol_status pol_simulation_add_controller(pol_simulation *simulation,
                                         const pol_sampled_controller *controller)
{
  pol_simulation *sim = simulation;
  pol_status status = check(sim, controller);
  if (status == POL_OK) status = append(sim, controller);
  if (status != POL_OK && controller->release) controller->release(controller->user);
  if (status != POL_OK) return status;
  status = sample_one(sim, &sim->controllers[sim->num_controllers - 1]);
  if (status == POL_OK) status = start_again(sim);
  sim->failed = status; /* forces and states do not fit each other then */
  return status;
}

void poli_controllers_free(pol_simulation *sim)
{
  for (int i = 0; i < sim->num_controllers; i++) {
    const pol_sampled_controller *c = &sim->controllers[i].controller;
    if (c->release) c->release(c->user);
    free(sim->controllers[i].memory);
  }
  free(sim->controllers);
  free(sim->sampled);
}

/* --- saved states ----------------------------------------------------------------------------- */

const char *pol_simulation_unsaved(const pol_simulation *simulation)
{
  for (int i = 0; i < simulation->num_controllers; i++)
    if (simulation->controllers[i].controller.cannot_save) return simulation->controllers[i].name;
  return NULL;
}

/* The bytes of a controller's state, behind their number. */
static void archive_state(const pol_sampled_controller *c, poli_archive *archive)
{
  size_t size = 0;
  if (!c->save) return;
  if (archive->mode != POLI_ARCHIVE_LOAD) archive->status = c->save(NULL, &size, c->user);
  uint64_t saved = size;
  POLI_ARCHIVE(archive, saved);
  if (archive->status) return;
  if (archive->mode != POLI_ARCHIVE_MEASURE && saved > archive->size - archive->used) {
    archive->status = POL_BAD_ARGUMENT;
    return;
  }
  if (archive->mode == POLI_ARCHIVE_SAVE)
    archive->status = c->save(archive->to + archive->used, &size, c->user);
  if (archive->mode == POLI_ARCHIVE_LOAD)
    archive->status = c->load(archive->from + archive->used, (size_t)saved, c->user);
  archive->used += (size_t)saved;
}

void poli_controllers_archive(pol_simulation *sim, poli_archive *archive)
{
  for (int i = 0; i < sim->num_controllers && !archive->status; i++) {
    poli_sampled *c = &sim->controllers[i];
    POLI_ARCHIVE(archive, c->samples);
    if (!archive->status) archive_state(&c->controller, archive);
  }
}
