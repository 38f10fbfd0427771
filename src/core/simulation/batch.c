/* Many copies of one simulation; see polhode/batch.h.
 *
 * A copy is a pol_simulation with a formulation that it shares.  Threads take blocks of copies,
 * which do not depend on each other.  Where nothing has to be looked at in between (can_leap), the
 * steps of one call are taken by the integrator alone and the simulation takes over the last state.
 */
#include <polhode/batch.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/parallel.h"
#include "base/rule.h"
#include "dae/extension.h"
#include "formulation/formulation.h"
#include "integrators/family.h"
#include "simulation/parts.h"

/* Time span of a copy in steps, a power of two so that the step stays what it is. */
static const double span = 1073741824.0;

/* Blocks of copies per thread: few enough to cost nothing, enough to share the work well. */
enum { BLOCKS = 16 };

typedef struct copy {
  pol_simulation *simulation;
  pol_diagnostics reason; /* why it could not be created */
} copy;

struct pol_batch {
  int count, threads, num_blocks;
  int nq, nv, m;
  int can_leap;
  int num_formulations;
  pol_formulation **formulations; /* owned */
  copy *copies;
  int num_inputs, num_outputs, num_variables;
  int *input_of, *output_of; /* of the columns: number among the inputs of the model, variable */
  double *inputs, *outputs, *values;
  pol_status *status;
  double *t, *q, *v, *vd, *lambda;
  double *first_q, *first_v; /* consistent initial states */
  void *memory;              /* holds the arrays of numbers */

  /* what the threads are doing */
  pol_settings settings;
  const pol_formulation *const *formulation_of;
  long steps;
  const unsigned char *which;
  const double *given_q, *given_v;
  void (*task)(pol_batch *batch, int i);
};

pol_batch_settings pol_batch_settings_default(void)
{
  return (pol_batch_settings){.simulation = pol_settings_default(), .count = 1};
}

/* --- threads ---------------------------------------------------------------------------------- */

static void run_block(int block, void *user)
{
  pol_batch *b = user;
  const long first = (long)block * b->count / b->num_blocks;
  const long end = (long)(block + 1) * b->count / b->num_blocks;
  for (long i = first; i < end; i++) b->task(b, (int)i);
}

static void run_all(pol_batch *b, void (*task)(pol_batch *batch, int i))
{
  b->task = task;
  poli_parallel(b->threads, b->num_blocks, run_block, b);
}

/* --- one copy --------------------------------------------------------------------------------- */

/* Copies the solution and the outputs to the rows of the copy. */
static void show(pol_batch *b, int i)
{
  const pol_simulation *sim = b->copies[i].simulation;
  const pol_state *state = &sim->state;
  const size_t row = (size_t)i, nq = (size_t)b->nq, nv = (size_t)b->nv, m = (size_t)b->m;
  b->t[i] = state->t;
  memcpy(b->q + row * nq, state->q, nq * sizeof *b->q);
  memcpy(b->v + row * nv, state->v, nv * sizeof *b->v);
  memcpy(b->vd + row * nv, state->vd, nv * sizeof *b->vd);
  memcpy(b->lambda + row * m, state->lambda, m * sizeof *b->lambda);
  if (b->num_outputs == 0) return;
  double *values = b->values + row * (size_t)b->num_variables;
  double *outputs = b->outputs + row * (size_t)b->num_outputs;
  const pol_point at = pol_state_point(state);
  pol_formulation_variables(sim->formulation, &at, values);
  for (int k = 0; k < b->num_outputs; k++) outputs[k] = values[b->output_of[k]];
}

/* Hands the inputs in the row of the copy to its model. */
static pol_status set_inputs(pol_batch *b, int i)
{
  pol_simulation *sim = b->copies[i].simulation;
  const double *row = b->inputs + (size_t)i * (size_t)b->num_inputs;
  pol_status status = POL_OK;
  for (int k = 0; k < b->num_inputs && status == POL_OK; k++) {
    if (!isfinite(row[k]))
      return poli_simulation_fail(sim, POL_BAD_ARGUMENT, -1, "an input is not finite", "");
    status = poli_simulation_set_input(sim, b->input_of[k], row[k]);
  }
  if (status == POL_OK) return POL_OK;
  return poli_simulation_fail(sim, status, -1, "the forces cannot be evaluated with these inputs",
                              "");
}

/* Up to so many steps, of which only the last state is looked at.  Where one fails, those before it
 * have been taken: pol_simulation_step tries it again by all means, and has the reason. */
static pol_status leap(pol_simulation *sim, long count)
{
  const pol_counts *counts = pol_integrator_counts(sim->integrator);
  const long before = counts->steps;
  pol_integrator_steps(sim->integrator, sim->step, count);
  const long done = counts->steps - before;
  if (done == 0) return POL_OK;
  const pol_status status = poli_simulation_accept(sim, sim->done + done);
  if (status != POL_OK) {
    poli_simulation_return_to_good(sim);
    return sim->failed = status;
  }
  poli_doubts_note(sim, 0);
  poli_simulation_keep_good(sim);
  return POL_OK;
}

static void step_copy(pol_batch *b, int i)
{
  pol_simulation *sim = b->copies[i].simulation;
  if (b->status[i] != POL_OK) return;
  pol_status status = set_inputs(b, i);
  const long end = sim->done + b->steps;
  if (status == POL_OK && b->can_leap && b->steps > 1) status = leap(sim, b->steps);
  for (long n = 0; status == POL_OK && (sim->variable ? n < b->steps : sim->done < end); n++)
    status = pol_simulation_step(sim);
  b->status[i] = status;
  show(b, i);
}

/* A new start at t = 0. */
static pol_status restart(pol_simulation *sim, const double *q, const double *v,
                          const unsigned char *keep)
{
  pol_summary *summary = &sim->summary;
  const pol_moves moves = summary->moves;
  const int num_invariants = summary->num_invariants;
  pol_invariant invariants[POL_MAX_INVARIANTS];
  for (int k = 0; k < num_invariants; k++) {
    invariants[k] = summary->invariants[k];
    invariants[k].max_increment = invariants[k].max_drift = 0.0;
  }
  *summary = (pol_summary){.moves = moves, .num_invariants = num_invariants};
  memcpy(summary->invariants, invariants, (size_t)num_invariants * sizeof *invariants);
  sim->failed = POL_OK;
  sim->stopped = sim->in_step = sim->doubted = 0;
  sim->event = -1;
  sim->next_output = 1;
  sim->done = 0;
  sim->t = sim->t_before = sim->seen = 0.0;
  sim->work = sim->work_before = (pol_work){0};
  sim->extremes = (poli_extremes){0};
  poli_watch_reset(sim->watch);
  pol_status status = pol_integrator_start(sim->integrator, 0.0, q, v, keep);
  if (status != POL_OK) {
    sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
    return sim->failed = status;
  }
  sim->lambda_t = sim->lambda_t_before = sim->integrator->state.lambda_t;
  status = poli_simulation_accept(sim, 0);
  if (status != POL_OK) return sim->failed = status;
  poli_doubts_note(sim, 1);
  poli_simulation_keep_good(sim);
  return POL_OK;
}

static void reset_copy(pol_batch *b, int i)
{
  pol_simulation *sim = b->copies[i].simulation;
  const size_t row = (size_t)i, nq = (size_t)b->nq, nv = (size_t)b->nv;
  if (b->which && !b->which[i]) return;
  sim->integrator->state.q = NULL; /* inputs do not act on the state that is left */
  b->status[i] = set_inputs(b, i);
  if (b->status[i] == POL_OK && !b->given_q && !b->given_v) /* as at creation, to the last bit */
    b->status[i] = restart(sim, sim->given, sim->given + nq, sim->keep);
  else if (b->status[i] == POL_OK)
    b->status[i] = restart(sim, (b->given_q ? b->given_q : b->first_q) + row * nq,
                           (b->given_v ? b->given_v : b->first_v) + row * nv, NULL);
  show(b, i);
}

/* --- creating --------------------------------------------------------------------------------- */

static void create_copy(pol_batch *b, int i)
{
  copy *own = &b->copies[i];
  const pol_formulation *formulation = b->formulation_of[i];
  b->status[i] = poli_simulation_create(&own->simulation, pol_formulation_mechanism(formulation),
                                        formulation, &b->settings, &own->reason);
}

static pol_status refuse(pol_diagnostics *d, const char *format, const char *name)
{
  d->status = POL_BAD_ARGUMENT;
  snprintf(d->message, sizeof d->message, format, name);
  return POL_BAD_ARGUMENT;
}

static pol_status check_settings(const pol_mechanism *mechanism, const pol_batch_settings *s,
                                 pol_diagnostics *d)
{
  if (!mechanism) return refuse(d, "the %s must not be NULL", "mechanism");
  if (!(isfinite(s->simulation.step) && s->simulation.step > 0.0))
    return refuse(d, "%s must be a positive number", "step");
  if (s->count < 1) return refuse(d, "%s must be at least 1", "count");
  if (s->threads < 0 || s->threads > POLI_MAX_THREADS)
    return refuse(d, "%s must be from 0 to 256", "threads");
  if (s->num_inputs < 0 || (s->num_inputs > 0 && !s->inputs))
    return refuse(d, "%s must not be NULL where their number is positive", "inputs");
  if (s->num_outputs < 0 || (s->num_outputs > 0 && !s->outputs))
    return refuse(d, "%s must not be NULL where their number is positive", "outputs");
  if (s->simulation.num_events != 0)
    return refuse(d, "there must be no %s: a batch does not look for them", "events");
  if (poli_hard_stops_count(mechanism) > 0)
    return refuse(d, "there must be no %s of a joint: a batch does not look for impacts",
                  "restitution");
  for (int i = 0; i < s->count && s->mechanisms; i++)
    if (!s->mechanisms[i]) return refuse(d, "the %s must not be NULL", "mechanisms");
  return POL_OK;
}

/* Whether two mechanisms differ in numbers only, as far as a batch relies on it: types of joints
 * and forces, and variables in the same order. */
static int are_alike(const pol_mechanism *a, const pol_mechanism *b)
{
  const int joints = pol_mechanism_num_joints(a), forces = pol_mechanism_num_forces(a);
  const int variables = pol_mechanism_num_variables(a);
  if (joints != pol_mechanism_num_joints(b) || forces != pol_mechanism_num_forces(b) ||
      variables != pol_mechanism_num_variables(b))
    return 0;
  for (int i = 0; i < joints; i++)
    if (pol_mechanism_joint(a, i)->type != pol_mechanism_joint(b, i)->type) return 0;
  for (int i = 0; i < forces; i++)
    if (pol_mechanism_force(a, i)->type != pol_mechanism_force(b, i)->type) return 0;
  for (int i = 0; i < variables; i++) {
    const pol_variable *one = pol_mechanism_variable(a, i), *other = pol_mechanism_variable(b, i);
    if (strcmp(one->name, other->name) != 0 || !one->input != !other->input) return 0;
  }
  return 1;
}

/* One formulation for each different mechanism; of[i] is that of copy i.  Mechanisms of a list are
 * usually the same as the one before, or all different. */
static pol_status create_formulations(pol_batch *b, const pol_mechanism *mechanism,
                                      const pol_batch_settings *s, const pol_formulation **of,
                                      pol_diagnostics *d)
{
  const pol_formulation_kind kind = pol_settings_formulation(&s->simulation);
  for (int i = 0; i < b->count; i++) {
    const pol_mechanism *own = s->mechanisms ? s->mechanisms[i] : mechanism;
    if (i > 0 && pol_formulation_mechanism(of[i - 1]) == own) {
      of[i] = of[i - 1];
      continue;
    }
    pol_status status = pol_formulation_supports(own, kind, d->message, sizeof d->message);
    if (status == POL_OK)
      status = pol_formulation_create(&b->formulations[b->num_formulations], own, kind);
    if (status != POL_OK) return status;
    of[i] = b->formulations[b->num_formulations++];
    const pol_dae *dae = pol_formulation_dae(of[i]), *first = pol_formulation_dae(of[0]);
    if (dae->group.nq != first->group.nq || dae->group.nv != first->group.nv ||
        pol_dae_num_constraints(dae) != pol_dae_num_constraints(first) ||
        !are_alike(own, pol_formulation_mechanism(of[0])))
      return refuse(d, "the %s must have the same bodies, joints, forces and variables",
                    "mechanisms");
  }
  return POL_OK;
}

static pol_status allocate(pol_batch *b, const pol_batch_settings *s, const pol_dae *dae)
{
  const size_t count = (size_t)b->count;
  const size_t nq = (size_t)dae->group.nq, nv = (size_t)dae->group.nv;
  b->nq = dae->group.nq;
  b->nv = dae->group.nv;
  b->m = pol_dae_num_constraints(dae);
  b->num_inputs = s->num_inputs;
  b->num_outputs = s->num_outputs;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, count * nq, &b->q, &b->first_q);
    POLI_TAKE_EACH(&arena, count * nv, &b->v, &b->vd, &b->first_v);
    POLI_TAKE(&arena, b->lambda, count * (size_t)b->m);
    POLI_TAKE(&arena, b->t, count);
    POLI_TAKE(&arena, b->inputs, count * (size_t)b->num_inputs);
    POLI_TAKE(&arena, b->outputs, count * (size_t)b->num_outputs);
    POLI_TAKE(&arena, b->values, b->num_outputs ? count * (size_t)b->num_variables : 0);
    POLI_TAKE(&arena, b->input_of, b->num_inputs);
    POLI_TAKE(&arena, b->output_of, b->num_outputs);
  } while (poli_arena_again(&arena));
  b->memory = arena.memory;
  return b->memory ? POL_OK : POL_NO_MEMORY;
}

/* Finds the columns of inputs and outputs by name. */
static pol_status find_columns(pol_batch *b, const pol_formulation *formulation,
                               const pol_batch_settings *s, pol_diagnostics *d)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  for (int k = 0; k < b->num_inputs; k++) {
    const char *name = s->inputs[k] ? s->inputs[k] : "";
    b->input_of[k] =
        poli_simulation_find_input(formulation, pol_mechanism_find_variable(mechanism, name));
    if (b->input_of[k] < 0)
      return refuse(d, "inputs: \"%s\" must be a variable that is an input (pol_variable.input)",
                    name);
  }
  for (int k = 0; k < b->num_outputs; k++) {
    const char *name = s->outputs[k] ? s->outputs[k] : "";
    b->output_of[k] = pol_mechanism_find_variable(mechanism, name);
    if (b->output_of[k] < 0) return refuse(d, "outputs: \"%s\" must be a variable", name);
  }
  return POL_OK;
}

/* Whether steps need no look at the states between them: turns are counted, loops watched and
 * joints checked by the simulation. */
static int find_can_leap(const pol_batch *b)
{
  int can = 1;
  for (int i = 0; i < b->count; i++) {
    const pol_simulation *sim = b->copies[i].simulation;
    int dropped;
    pol_simulation_dropped(sim, &dropped);
    can =
        can && !sim->variable && !sim->watch && dropped == 0 && poli_dae_remembered(sim->dae) == 0;
  }
  const pol_mechanism *mechanism = pol_formulation_mechanism(b->formulations[0]);
  for (int k = 0; k < pol_mechanism_num_forces(mechanism); k++)
    can = can && !poli_force_sees_frames(pol_mechanism_force(mechanism, k));
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++)
    can = can && pol_mechanism_joint(mechanism, k)->type != POL_CONSTANT_VELOCITY;
  return can;
}

/* Creates the copies in threads and shows their first states. */
static pol_status create_copies(pol_batch *b, const pol_formulation *const *of, pol_diagnostics *d)
{
  b->formulation_of = of;
  run_all(b, create_copy);
  b->formulation_of = NULL;
  for (int i = 0; i < b->count; i++) {
    if (b->status[i] == POL_OK) continue;
    const pol_diagnostics *reason = &b->copies[i].reason;
    *d = *reason;
    snprintf(d->message, sizeof d->message, "copy %d: %.200s", i, reason->message);
    return b->status[i];
  }
  for (int i = 0; i < b->count; i++) {
    const pol_simulation *sim = b->copies[i].simulation;
    const int *held = sim->formulation->network.held;
    for (int k = 0; k < b->num_inputs; k++)
      b->inputs[(size_t)i * (size_t)b->num_inputs + (size_t)k] =
          pol_simulation_input(sim, held[b->input_of[k]]);
    memcpy(b->first_q + (size_t)i * (size_t)b->nq, sim->q, (size_t)b->nq * sizeof *b->q);
    memcpy(b->first_v + (size_t)i * (size_t)b->nv, sim->v, (size_t)b->nv * sizeof *b->v);
    show(b, i);
  }
  b->can_leap = find_can_leap(b);
  return POL_OK;
}

static pol_status build(pol_batch *b, const pol_mechanism *mechanism, const pol_batch_settings *s,
                        pol_diagnostics *d)
{
  pol_status status = check_settings(mechanism, s, d);
  if (status != POL_OK) return status;
  const size_t count = (size_t)s->count;
  b->count = s->count;
  b->threads = poli_threads(s->threads);
  if (b->threads > b->count) b->threads = b->count;
  b->num_blocks = b->threads * BLOCKS < b->count ? b->threads * BLOCKS : b->count;
  b->settings = s->simulation;
  b->settings.end = span * b->settings.step;
  b->settings.output = (pol_output){.step = b->settings.variable ? b->settings.step : 0.0};
  b->settings.progress = (pol_progress){0};
  b->settings.options.threads = 1; /* threads are for copies */

  const pol_formulation **of = calloc(count, sizeof *of);
  b->formulations = calloc(count, sizeof *b->formulations);
  b->copies = calloc(count, sizeof *b->copies);
  b->status = calloc(count, sizeof *b->status);
  status = of && b->formulations && b->copies && b->status ? POL_OK : POL_NO_MEMORY;
  if (status == POL_OK) status = create_formulations(b, mechanism, s, of, d);
  if (status == POL_OK) {
    b->num_variables = pol_mechanism_num_variables(pol_formulation_mechanism(of[0]));
    status = allocate(b, s, pol_formulation_dae(of[0]));
  }
  if (status == POL_OK) status = find_columns(b, of[0], s, d);
  if (status == POL_OK) status = create_copies(b, of, d);
  free(of);
  return status;
}

pol_status pol_batch_create(pol_batch **batch, const pol_mechanism *mechanism,
                            const pol_batch_settings *settings, pol_diagnostics *diagnostics)
{
  pol_diagnostics unused;
  pol_diagnostics *d = diagnostics ? diagnostics : &unused;
  *d = (pol_diagnostics){.equation = -1};
  *batch = NULL;
  if (!settings) return refuse(d, "the %s must not be NULL", "settings");
  pol_batch *b = calloc(1, sizeof *b);
  pol_status status = b ? build(b, mechanism, settings, d) : POL_NO_MEMORY;
  if (status != POL_OK) {
    d->status = status;
    if (d->message[0] == '\0')
      snprintf(d->message, sizeof d->message, "%s", pol_status_text(status));
    pol_batch_free(&b);
  }
  *batch = b;
  return status;
}

void pol_batch_free(pol_batch **batch)
{
  if (batch == NULL || *batch == NULL) return;
  pol_batch *b = *batch;
  for (int i = 0; i < b->count && b->copies; i++) pol_simulation_free(&b->copies[i].simulation);
  for (int i = 0; i < b->num_formulations; i++) pol_formulation_free(&b->formulations[i]);
  free(b->copies);
  free(b->formulations);
  free(b->status);
  free(b->memory);
  free(b);
  *batch = NULL;
}

/* --- stepping --------------------------------------------------------------------------------- */

/* That of the first copy that is not well. */
static pol_status first_failure(const pol_batch *b)
{
  for (int i = 0; i < b->count; i++)
    if (b->status[i] != POL_OK) return b->status[i];
  return POL_OK;
}

pol_status pol_batch_step(pol_batch *batch, long count)
{
  if (count < 1) return POL_BAD_ARGUMENT;
  batch->steps = count;
  run_all(batch, step_copy);
  return first_failure(batch);
}

pol_status pol_batch_reset(pol_batch *batch, const unsigned char *which, const double *q,
                           const double *v)
{
  pol_status status = POL_OK;
  batch->which = which;
  batch->given_q = q;
  batch->given_v = v;
  run_all(batch, reset_copy);
  for (int i = batch->count - 1; i >= 0; i--)
    if ((!which || which[i]) && batch->status[i] != POL_OK) status = batch->status[i];
  return status;
}

/* --- results ---------------------------------------------------------------------------------- */

int pol_batch_count(const pol_batch *batch)
{
  return batch->count;
}

int pol_batch_threads(const pol_batch *batch)
{
  return batch->threads;
}

double *pol_batch_inputs(pol_batch *batch)
{
  return batch->inputs;
}

const pol_status *pol_batch_status(const pol_batch *batch)
{
  return batch->status;
}

const double *pol_batch_t(const pol_batch *batch)
{
  return batch->t;
}

const double *pol_batch_q(const pol_batch *batch)
{
  return batch->q;
}

const double *pol_batch_v(const pol_batch *batch)
{
  return batch->v;
}

const double *pol_batch_vd(const pol_batch *batch)
{
  return batch->vd;
}

const double *pol_batch_lambda(const pol_batch *batch)
{
  return batch->lambda;
}

const double *pol_batch_outputs(const pol_batch *batch)
{
  return batch->outputs;
}

const pol_simulation *pol_batch_simulation(const pol_batch *batch, int copy_index)
{
  if (copy_index < 0 || copy_index >= batch->count) return NULL;
  return batch->copies[copy_index].simulation;
}
