/* FMUs as sampled controllers (pol_sampled_controller) of the simulations of a model.
 *
 * With inputs u of the model at the sample times t_k, x and f of the FMU, and its outputs y:
 *
 *     t_0:  the FMU is initialized with u_0;  y_0
 *     t_k:  inputs at the end:    u_k is set, then the step from t_k-1 to t_k is made;  y_k
 *           inputs at the start:  the step is made with u_k-1, then u_k is set;  y_k
 *
 * The first suits controllers that compute their outputs in each step, and all without a state; the
 * second has inputs that are held as in a sampled system, but no direct effect of u_k on y_k unless
 * the FMU computes outputs when they are asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/fmu.h>

#include "base/archive.h"
#include "base/errors.h"
#include "io/fmi/import.h"

typedef struct controller {
  poli_fmu_import *fmu;
  double t; /* of the FMU; negative before its start */
  int inputs_at_start;
  int num_inputs, num_outputs, num_parameters;
  poli_fmu_value *values; /* inputs, outputs, parameters */
  double *starts;         /* of the parameters */
} controller;

/* --- the calls of a simulation ---------------------------------------------------------------- */

static pol_status set_inputs(controller *c, const double *inputs, poli_fmu_reason reason)
{
  pol_status status = POL_OK;
  for (int i = 0; i < c->num_inputs && !status; i++)
    status = poli_fmu_set(c->fmu, &c->values[i], inputs[i], reason);
  return status;
}

/* Parameters, initialization with the first inputs. */
static pol_status start(controller *c, const double *inputs, poli_fmu_reason reason)
{
  const poli_fmu_value *parameters = c->values + c->num_inputs + c->num_outputs;
  pol_status status = POL_OK;
  for (int i = 0; i < c->num_parameters && !status; i++)
    status = poli_fmu_set(c->fmu, &parameters[i], c->starts[i], reason);
  if (!status) status = poli_fmu_begin(c->fmu, reason);
  if (!status) status = set_inputs(c, inputs, reason);
  if (!status) status = poli_fmu_end_start(c->fmu, reason);
  return status;
}

static pol_status sample(double t, const double *inputs, double *outputs, char *message,
                         size_t size, void *user)
{
  controller *c = user;
  const poli_fmu_reason reason = {message, size};
  pol_status status = POL_OK;
  if (c->t < 0.0) {
    status = start(c, inputs, reason);
  } else {
    if (!c->inputs_at_start) status = set_inputs(c, inputs, reason);
    if (!status) status = poli_fmu_step(c->fmu, c->t, t - c->t, reason);
    if (!status && c->inputs_at_start) status = set_inputs(c, inputs, reason);
  }
  c->t = t;
  for (int i = 0; i < c->num_outputs && !status; i++)
    status = poli_fmu_get(c->fmu, &c->values[c->num_inputs + i], &outputs[i], reason);
  return status;
}

/* The time of the FMU, and its state. */
static pol_status save(void *bytes, size_t *size, void *user)
{
  controller *c = user;
  const size_t room = *size;
  *size = room > sizeof c->t ? room - sizeof c->t : 0;
  if (bytes && room < sizeof c->t) return POL_BAD_ARGUMENT;
  if (bytes) memcpy(bytes, &c->t, sizeof c->t);
  const pol_status status = poli_fmu_save(c->fmu, bytes ? (char *)bytes + sizeof c->t : NULL, size);
  *size += sizeof c->t;
  return status;
}

static pol_status load(const void *bytes, size_t size, void *user)
{
  controller *c = user;
  if (size < sizeof c->t) return POL_BAD_ARGUMENT;
  memcpy(&c->t, bytes, sizeof c->t);
  return poli_fmu_restore(c->fmu, (const char *)bytes + sizeof c->t, size - sizeof c->t);
}

static void release(void *user)
{
  controller *c = user;
  if (!c) return;
  const int count = c->num_inputs + c->num_outputs + c->num_parameters;
  poli_fmu_unload(&c->fmu);
  for (int i = 0; c->values && i < count; i++) free(c->values[i].name);
  free(c->values);
  free(c->starts);
  free(c);
}

/* --- from a model ----------------------------------------------------------------------------- */

/* Copies variables of one list of the archive. */
static pol_status copy_values(const poli_fmu_description *d, const int *indices, int count,
                              poli_fmu_value *to)
{
  for (int i = 0; i < count; i++) {
    const poli_fmu_variable *v = &d->variables[indices[i]];
    to[i] = (poli_fmu_value){poli_format("%s", v->name), v->reference, v->type};
    if (!to[i].name) return POL_NO_MEMORY;
  }
  return POL_OK;
}

static pol_status create(controller **made, const pol_fmu_controller *from,
                         const poli_fmu_archive *archive)
{
  const size_t count =
      (size_t)from->num_inputs + (size_t)from->num_outputs + (size_t)from->num_parameters;
  controller *c = *made = calloc(1, sizeof *c);
  if (!c) return POL_NO_MEMORY;
  *c = (controller){.t = -1.0,
                    .inputs_at_start = from->inputs_at_start,
                    .num_inputs = from->num_inputs,
                    .num_outputs = from->num_outputs,
                    .num_parameters = from->num_parameters,
                    .values = calloc(count + 1, sizeof *c->values),
                    .starts = calloc((size_t)from->num_parameters + 1, sizeof *c->starts)};
  if (!c->values || !c->starts) return POL_NO_MEMORY;
  const poli_fmu_description *d = &archive->description;
  poli_fmu_value *outputs = c->values + c->num_inputs, *parameters = outputs + c->num_outputs;
  for (int i = 0; i < c->num_parameters; i++) c->starts[i] = from->parameters[i].value;
  pol_status status = copy_values(d, archive->inputs, c->num_inputs, c->values);
  if (!status) status = copy_values(d, archive->outputs, c->num_outputs, outputs);
  if (!status) status = copy_values(d, archive->parameters, c->num_parameters, parameters);
  return status;
}

/* What a saved state belongs to: the code, its variables and start values. */
static unsigned long long identify(const controller *c, const poli_fmu_archive *archive)
{
  const int count = c->num_inputs + c->num_outputs + c->num_parameters;
  const char *token = archive->description.token;
  uint64_t hash = poli_hash(0, token, strlen(token));
  hash = poli_hash(hash, &archive->object->crc, sizeof archive->object->crc);
  hash = poli_hash(hash, &c->inputs_at_start, sizeof c->inputs_at_start);
  for (int i = 0; i < count; i++)
    hash = poli_hash(hash, &c->values[i].reference, sizeof c->values[i].reference);
  return poli_hash(hash, c->starts, (size_t)c->num_parameters * sizeof *c->starts);
}

/* A failure at the start of a controller. */
static pol_status fail(const pol_fmu_controller *from, pol_status status, pol_diagnostics *d)
{
  d->status = status;
  d->equation = -1;
  snprintf(d->where, sizeof d->where, "controller '%.100s'", from->name);
  if (!d->message[0]) snprintf(d->message, sizeof d->message, "%s", pol_status_text(status));
  return status;
}

/* Starts the FMU of a controller and adds it to the simulation. */
static pol_status add(pol_simulation *simulation, const pol_model *model, int index,
                      pol_diagnostics *d)
{
  const pol_fmu_controller *from = &model->controllers[index];
  const poli_fmu_reason reason = {d->message, sizeof d->message};
  poli_fmu_archive archive = {.object = NULL};
  pol_errors errors = {0};
  controller *c = NULL;
  int *variables = NULL;
  d->message[0] = '\0';
  pol_status status = poli_fmu_open(&archive, from, index, &errors);
  if (errors.count > 0) pol_error_text(&errors.items[0], d->message, sizeof d->message);
  if (!status) status = create(&c, from, &archive);
  if (!status) status = poli_fmu_load(&c->fmu, &archive, from, reason);
  const int count = from->num_inputs + from->num_outputs;
  if (!status && !(variables = malloc(((size_t)count + 1) * sizeof *variables)))
    status = POL_NO_MEMORY;
  if (status) {
    release(c);
    fail(from, status, d);
  } else {
    for (int i = 0; i < from->num_inputs; i++) variables[i] = from->inputs[i].variable;
    for (int i = 0; i < from->num_outputs; i++)
      variables[from->num_inputs + i] = from->outputs[i].variable;
    const int saves = archive.description.get_state && archive.description.serialize_state;
    const pol_sampled_controller sampled = {.name = from->name,
                                            .period = from->period,
                                            .num_inputs = from->num_inputs,
                                            .inputs = variables,
                                            .num_outputs = from->num_outputs,
                                            .outputs = variables + from->num_inputs,
                                            .sample = sample,
                                            .save = saves ? save : NULL,
                                            .load = saves ? load : NULL,
                                            .cannot_save = !saves,
                                            .user = c,
                                            .release = release,
                                            .identity = identify(c, &archive)};
    status = pol_simulation_add_controller(simulation, &sampled);
    if (status == POL_NO_MEMORY)
      fail(from, status, d);
    else if (status)
      *d = *pol_simulation_diagnostics(simulation);
  }
  free(variables);
  pol_errors_clear(&errors);
  poli_fmu_close(&archive);
  return status;
}

pol_status pol_model_create_simulation(pol_simulation **simulation, const pol_model *model,
                                       const pol_settings *settings, pol_diagnostics *diagnostics)
{
  pol_diagnostics own, *d = diagnostics ? diagnostics : &own;
  pol_status status = pol_simulation_create(simulation, model->mechanism, settings, d);
  for (int i = 0; i < model->num_controllers && !status; i++)
    status = add(*simulation, model, i, d);
  if (status) pol_simulation_free(simulation);
  return status;
}

pol_status pol_model_check_controllers(const pol_model *model, pol_errors *errors)
{
  pol_status all = POL_OK;
  for (int i = 0; i < model->num_controllers && all != POL_NO_MEMORY; i++) {
    poli_fmu_archive archive = {.object = NULL};
    const pol_status status = poli_fmu_open(&archive, &model->controllers[i], i, errors);
    if (status) all = status;
    poli_fmu_close(&archive);
  }
  return all;
}
