/* The state of an instance as bytes: what its run starts with, where it is, and the state of the
 * simulation (pol_simulation_save), from which an equal run continues with the same bits. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fmu/instance.h"

static const char magic[8] = "polfmu1";

/* In front of the parameters, the inputs and the bytes of the simulation. */
typedef struct header {
  char magic[8];
  char token[40]; /* the start of that of the FMU */
  int32_t phase, ended, num_parameters, num_inputs;
  double t, stop;
  uint64_t simulation; /* bytes */
} header;

static header make_header(const poli_fmu_instance *instance, size_t simulation)
{
  header h;
  memset(&h, 0, sizeof h); /* the gaps too */
  memcpy(h.magic, magic, sizeof magic);
  strncpy(h.token, instance->plan.token, sizeof h.token - 1);
  h.phase = (int32_t)instance->phase;
  h.ended = instance->ended;
  h.num_parameters = instance->plan.parameters.count;
  h.num_inputs = instance->plan.inputs.count;
  h.t = instance->t;
  h.stop = instance->stop;
  h.simulation = simulation;
  return h;
}

poli_fmu_result poli_fmu_take_state(poli_fmu_instance *instance, poli_fmu_state **state)
{
  const size_t parameters = (size_t)instance->plan.parameters.count * sizeof(double),
               inputs = (size_t)instance->plan.inputs.count * sizeof(double);
  const int runs = instance->phase == POLI_FMU_STEPPING || instance->phase == POLI_FMU_TERMINATED;
  size_t simulation = 0;
  if (instance->phase == POLI_FMU_FAILED)
    return poli_fmu_report(instance, POLI_FMU_ERROR, "an instance that has failed has no state");
  if (runs && pol_simulation_save(instance->simulation, NULL, &simulation) != POL_OK)
    return poli_fmu_report(instance, POLI_FMU_ERROR, "the state cannot be saved");

  const header h = make_header(instance, simulation);
  const size_t size = sizeof h + parameters + inputs + simulation;
  poli_fmu_state *taken = malloc(sizeof *taken + size);
  if (taken == NULL)
    return poli_fmu_report(instance, POLI_FMU_ERROR, "%s", pol_status_text(POL_NO_MEMORY));
  taken->size = size;
  unsigned char *to = taken->bytes;
  memcpy(to, &h, sizeof h);
  memcpy(to += sizeof h, instance->parameters, parameters);
  memcpy(to += parameters, instance->inputs, inputs);
  to += inputs;
  if (runs && pol_simulation_save(instance->simulation, to, &simulation) != POL_OK) {
    free(taken);
    return poli_fmu_report(instance, POLI_FMU_ERROR, "the state cannot be saved");
  }
  free(*state);
  *state = taken;
  return POLI_FMU_OK;
}

/* Whether the bytes are a state of this FMU. */
static int read_header(const poli_fmu_instance *instance, const poli_fmu_state *state, header *h)
{
  const header own = make_header(instance, 0);
  if (state->size < sizeof *h) return 0;
  memcpy(h, state->bytes, sizeof *h);
  return memcmp(h->magic, own.magic, sizeof h->magic) == 0 &&
         memcmp(h->token, own.token, sizeof h->token) == 0 &&
         h->num_parameters == own.num_parameters && h->num_inputs == own.num_inputs &&
         h->phase >= POLI_FMU_INSTANTIATED && h->phase < POLI_FMU_FAILED &&
         h->simulation == state->size - sizeof *h -
                              (size_t)(own.num_parameters + own.num_inputs) * sizeof(double);
}

poli_fmu_result poli_fmu_restore_state(poli_fmu_instance *instance, const poli_fmu_state *state)
{
  header h;
  if (state == NULL || !read_header(instance, state, &h))
    return poli_fmu_report(instance, POLI_FMU_ERROR, "this is no state of this FMU");
  const unsigned char *from = state->bytes + sizeof h;
  const size_t parameters = (size_t)h.num_parameters * sizeof(double),
               inputs = (size_t)h.num_inputs * sizeof(double);
  /* a new simulation; the model is read again only if parameters differ, or an input is to have the
   * value of the model again */
  int stale = memcmp(instance->parameters, from, parameters) == 0 ? 1 : 2;
  if (memcmp(instance->inputs, from + parameters, inputs) != 0) stale = 2;
  if (stale > instance->stale) instance->stale = stale;
  memcpy(instance->parameters, from, parameters);
  memcpy(instance->inputs, from + parameters, inputs);
  instance->stop = h.stop;
  instance->t = h.t;
  instance->ended = h.ended;
  instance->phase = (poli_fmu_phase)h.phase;
  poli_fmu_result result = poli_fmu_prepare(instance);
  char why[300] = "";
  if (result == POLI_FMU_OK && h.simulation > 0 &&
      pol_simulation_load(instance->simulation, from + parameters + inputs, (size_t)h.simulation,
                          why, sizeof why) != POL_OK)
    result = poli_fmu_report(instance, POLI_FMU_ERROR, "the state cannot be restored: %s", why);
  if (result != POLI_FMU_OK) instance->phase = POLI_FMU_FAILED;
  instance->row_valid = 0;
  return result;
}

poli_fmu_result poli_fmu_copy_state(const poli_fmu_instance *instance, const void *bytes,
                                    size_t size, poli_fmu_state **state)
{
  header h;
  poli_fmu_state *copy = malloc(sizeof *copy + size);
  if (copy == NULL)
    return poli_fmu_report(instance, POLI_FMU_ERROR, "%s", pol_status_text(POL_NO_MEMORY));
  copy->size = size;
  memcpy(copy->bytes, bytes, size);
  if (!read_header(instance, copy, &h)) {
    free(copy);
    return poli_fmu_report(instance, POLI_FMU_ERROR, "these bytes are no state of this FMU");
  }
  free(*state);
  *state = copy;
  return POLI_FMU_OK;
}
