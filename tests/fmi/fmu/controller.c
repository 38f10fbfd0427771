/* A small FMU for tests, FMI 2.0 and 3.0: torque = -k angle - d rate - ki sum, where sum grows by
 * angle times the length of each step.
 *
 * Parameters make it fail in several ways: "fail" is 0, or the number of what happens in the step
 * that ends at "fail_at" or later: 1 discard, 2 error, 3 fatal, 4 an output that is not finite, 5
 * the end of the run, 6 a message that is a warning.  Compiled with WITHOUT_STEP it lacks
 * fmiXDoStep. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/fmi/fmi2.h"
#include "io/fmi/fmi3.h"

enum { ANGLE, RATE, TORQUE, K, D, KI, FAIL_AT, FAIL, CALLS, ENABLED, SUM, SMALL, NUM_VALUES };
#define TOKEN "{5f0c2c1e-test-controller}"

typedef struct controller {
  double values[NUM_VALUES];
  double t;
  int has_ended;
  fmi2CallbackLogger log2;
  fmi3LogMessageCallback log3;
  void *environment;
} controller;

static void report(controller *c, int status, const char *message, double number)
{
  char text[200];
  snprintf(text, sizeof text, "%s %g", message, number);
  if (c->log2)
    c->log2(c->environment, "test", (fmi2Status)status, "test", "%s %g", message, number);
  else if (c->log3)
    c->log3(c->environment, (fmi3Status)status, "test", text);
}

static controller *create(const char *token, controller from)
{
  if (strcmp(token, TOKEN) != 0) {
    report(&from, fmi2Error, "the token is another one, of length", (double)strlen(token));
    return NULL;
  }
  controller *c = malloc(sizeof *c);
  if (!c) return NULL;
  *c = from;
  c->values[K] = 1.0;
  c->values[FAIL_AT] = 0.5;
  c->values[ENABLED] = 1.0;
  return c;
}

static void update(controller *c)
{
  double *v = c->values;
  v[TORQUE] = v[ENABLED] * (-v[K] * v[ANGLE] - v[D] * v[RATE] - v[KI] * v[SUM]);
}

#ifndef WITHOUT_STEP
static int step(controller *c, double t, double h)
{
  if (fabs(t - c->t) > 1e-9) {
    report(c, fmi2Error, "the step begins at another time than", c->t);
    return fmi2Error;
  }
  c->t = t + h;
  c->values[SUM] += c->values[ANGLE] * h;
  c->values[CALLS] += 1.0;
  update(c);
  if (c->t < c->values[FAIL_AT] - 1e-9) return fmi2OK;
  switch ((int)c->values[FAIL]) {
  case 1:
    return fmi2Discard;
  case 2:
    report(c, fmi2Error, "the gain has burnt through at", c->t);
    return fmi2Error;
  case 3:
    return fmi2Fatal;
  case 4:
    c->values[TORQUE] = (double)NAN;
    return fmi2OK;
  case 5:
    c->has_ended = 1;
    return fmi2Discard;
  case 6:
    report(c, fmi2Warning, "warm at", c->t);
    return fmi2Warning;
  default:
    return fmi2OK;
  }
}

#endif

static int get(const controller *c, const unsigned int *refs, size_t count, double *values)
{
  for (size_t i = 0; i < count; i++) {
    if (refs[i] >= NUM_VALUES) return fmi2Error;
    values[i] = c->values[refs[i]];
  }
  return fmi2OK;
}

static int set(controller *c, const unsigned int *refs, size_t count, const double *values)
{
  for (size_t i = 0; i < count; i++) {
    if (refs[i] >= NUM_VALUES) return fmi2Error;
    c->values[refs[i]] = values[i];
  }
  update(c);
  return fmi2OK;
}

/* States are copies of the values and the time. */
static int get_state(const controller *c, void **state)
{
  if (!*state) *state = malloc(sizeof *c);
  if (!*state) return fmi2Error;
  memcpy(*state, c, sizeof *c);
  return fmi2OK;
}

static int set_state(controller *c, const void *state)
{
  const controller *from = state;
  memcpy(c->values, from->values, sizeof c->values);
  c->t = from->t;
  return fmi2OK;
}

static int load_state(const void *bytes, size_t size, void **state)
{
  if (size != sizeof(controller)) return fmi2Error;
  *state = malloc(size);
  if (!*state) return fmi2Error;
  memcpy(*state, bytes, size);
  return fmi2OK;
}

/* --- FMI 2.0 ---------------------------------------------------------------------------------- */

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean logging)
{
  (void)name;
  (void)visible;
  (void)logging;
  if (type != fmi2CoSimulation || strncmp(resources, "file:///", 8) != 0) return NULL;
  return create(guid, (controller){.log2 = functions->logger,
                                   .environment = functions->componentEnvironment});
}

void fmi2FreeInstance(fmi2Component c)
{
  free(c);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_given, fmi2Real tolerance,
                               fmi2Real start, fmi2Boolean stop_given, fmi2Real stop)
{
  (void)tolerance_given;
  (void)tolerance;
  (void)stop_given;
  (void)stop;
  ((controller *)c)->t = start;
  return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
  (void)c;
  return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
  update(c);
  return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
  (void)c;
  return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                       fmi2Real values[])
{
  return (fmi2Status)get(c, refs, count, values);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                       const fmi2Real values[])
{
  return (fmi2Status)set(c, refs, count, values);
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                          fmi2Integer values[])
{
  for (size_t i = 0; i < count; i++) values[i] = (int)((controller *)c)->values[refs[i]];
  return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                          const fmi2Integer values[])
{
  for (size_t i = 0; i < count; i++) ((controller *)c)->values[refs[i]] = values[i];
  return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                          const fmi2Boolean values[])
{
  for (size_t i = 0; i < count; i++) ((controller *)c)->values[refs[i]] = values[i] ? 1.0 : 0.0;
  return fmi2OK;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
  return (fmi2Status)get_state(c, state);
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
  return (fmi2Status)set_state(c, state);
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
  (void)c;
  free(*state);
  *state = NULL;
  return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
  (void)c;
  (void)state;
  *size = sizeof(controller);
  return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
  (void)c;
  memcpy(bytes, state, size);
  return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate *state)
{
  (void)c;
  return (fmi2Status)load_state(bytes, size, state);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
  *value = kind == fmi2Terminated && ((controller *)c)->has_ended;
  return fmi2OK;
}

/* --- FMI 3.0 ---------------------------------------------------------------------------------- */

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging,
                                         fmi3Boolean event_mode, fmi3Boolean early_return,
                                         const fmi3ValueReference required_intermediate[],
                                         size_t num_required_intermediate,
                                         fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback intermediate)
{
  (void)name;
  (void)visible;
  (void)logging;
  (void)required_intermediate;
  (void)num_required_intermediate;
  (void)intermediate;
  if (event_mode || early_return || resources[0] != '/') return NULL;
  return create(token, (controller){.log3 = log, .environment = environment});
}

void fmi3FreeInstance(fmi3Instance c)
{
  free(c);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_given,
                                       fmi3Float64 tolerance, fmi3Float64 start,
                                       fmi3Boolean stop_given, fmi3Float64 stop)
{
  (void)tolerance_given;
  (void)tolerance;
  (void)stop_given;
  (void)stop;
  ((controller *)c)->t = start;
  return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
  update(c);
  return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
  (void)c;
  return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                          fmi3Float64 values[], size_t num_values)
{
  (void)num_values;
  return (fmi3Status)get(c, refs, num_refs, values);
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                          const fmi3Float64 values[], size_t num_values)
{
  (void)num_values;
  return (fmi3Status)set(c, refs, num_refs, values);
}

/* All other types: one number each. */
#define ACCESS(TYPE)                                                                               \
  fmi3Status fmi3Get##TYPE(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,       \
                           fmi3##TYPE values[], size_t num_values)                                 \
  {                                                                                                \
    (void)num_values;                                                                              \
    for (size_t i = 0; i < num_refs; i++)                                                          \
      values[i] = (fmi3##TYPE)((controller *)c)->values[refs[i]];                                  \
    return fmi3OK;                                                                                 \
  }                                                                                                \
  fmi3Status fmi3Set##TYPE(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,       \
                           const fmi3##TYPE values[], size_t num_values)                           \
  {                                                                                                \
    (void)num_values;                                                                              \
    for (size_t i = 0; i < num_refs; i++) ((controller *)c)->values[refs[i]] = (double)values[i];  \
    return fmi3OK;                                                                                 \
  }

ACCESS(Float32)
ACCESS(Int8)
ACCESS(UInt8)
ACCESS(Int16)
ACCESS(UInt16)
ACCESS(Int32)
ACCESS(UInt32)
ACCESS(Int64)
ACCESS(UInt64)
ACCESS(Boolean)

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
  return (fmi3Status)get_state(c, state);
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
  return (fmi3Status)set_state(c, state);
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
  (void)c;
  free(*state);
  *state = NULL;
  return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
  (void)c;
  (void)state;
  *size = sizeof(controller);
  return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
  (void)c;
  memcpy(bytes, state, size);
  return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState *state)
{
  (void)c;
  return (fmi3Status)load_state(bytes, size, state);
}

#ifndef WITHOUT_STEP
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real h,
                      fmi2Boolean no_earlier_state_set_again)
{
  (void)no_earlier_state_set_again;
  return (fmi2Status)step(c, time, h);
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 h,
                      fmi3Boolean no_earlier_state_set_again, fmi3Boolean *event_handling_needed,
                      fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_successful_time)
{
  (void)no_earlier_state_set_again;
  const int status = step(c, time, h);
  *event_handling_needed = *early_return = false;
  *terminate = ((controller *)c)->has_ended;
  *last_successful_time = time + h;
  return *terminate ? fmi3OK : (fmi3Status)status;
}
#endif
