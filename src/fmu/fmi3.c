/* The functions of FMI 3.0 for co-simulation.
 *
 * The FMU has neither event mode nor clocks, binary variables, or derivatives, and its description
 * says so: their functions report an error.
 */
#include "io/fmi/fmi3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmu/instance.h"

/* What messages need. */
typedef struct outer {
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
} outer;

static void log_message(void *user, poli_fmu_result result, const char *message)
{
  const outer *o = user;
  const char *category = result == POLI_FMU_DISCARD ? "logStatusDiscard" : "logStatusError";
  if (o->log != NULL) o->log(o->environment, (fmi3Status)result, category, message);
}

static fmi3Status refuse(fmi3Instance c, const char *message)
{
  return (fmi3Status)poli_fmu_report(c, POLI_FMU_ERROR, "%s", message);
}

const char *fmi3GetVersion(void)
{
  return "3.0";
}

/* There are messages about errors and the end of the run only, which are always reported. */
fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t num_categories,
                               const fmi3String categories[])
{
  (void)c;
  (void)on;
  (void)num_categories;
  (void)categories;
  return fmi3OK;
}

/* --- life ------------------------------------------------------------------------------------- */

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
  (void)early_return;
  (void)required_intermediate;
  (void)intermediate;
  poli_fmu_instance *instance = NULL;
  outer *o = malloc(sizeof *o);
  if (o == NULL) return NULL;
  *o = (outer){environment, log};
  if (event_mode || num_required_intermediate > 0 || resources == NULL)
    log_message(o, POLI_FMU_ERROR,
                event_mode          ? "this FMU has no event mode"
                : resources == NULL ? "the path of the resources is missing"
                                    : "this FMU has no intermediate updates");
  else
    instance = poli_fmu_create(resources, token, log_message, o);
  if (instance == NULL) free(o);
  if (instance != NULL) instance->outer = o;
  return instance;
}

/* An FMU of another kind: reports that it is none. */
static fmi3Instance other_kind(fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
  outer o = {environment, log};
  log_message(&o, POLI_FMU_ERROR, "this FMU is for co-simulation");
  return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log)
{
  (void)name;
  (void)token;
  (void)resources;
  (void)visible;
  (void)logging;
  return other_kind(environment, log);
}

fmi3Instance
fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                  fmi3Boolean visible, fmi3Boolean logging,
                                  fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                  fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock,
                                  fmi3UnlockPreemptionCallback unlock)
{
  (void)name;
  (void)token;
  (void)resources;
  (void)visible;
  (void)logging;
  (void)clock;
  (void)lock;
  (void)unlock;
  return other_kind(environment, log);
}

void fmi3FreeInstance(fmi3Instance c)
{
  poli_fmu_instance *instance = c;
  if (instance == NULL) return;
  outer *o = instance->outer;
  poli_fmu_free(instance);
  free(o);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_given,
                                       fmi3Float64 tolerance, fmi3Float64 start,
                                       fmi3Boolean stop_given, fmi3Float64 stop)
{
  (void)tolerance_given;
  (void)tolerance;
  const poli_fmu_result result = poli_fmu_span(c, start, stop_given ? stop : (double)NAN);
  return (fmi3Status)(result == POLI_FMU_OK ? poli_fmu_enter_initialization(c) : result);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
  return (fmi3Status)poli_fmu_exit_initialization(c);
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
  return (fmi3Status)poli_fmu_terminate(c);
}

fmi3Status fmi3Reset(fmi3Instance c)
{
  return (fmi3Status)poli_fmu_reset(c);
}

/* --- values: all are of type Float64 ---------------------------------------------------------- */

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                          fmi3Float64 values[], size_t num_values)
{
  if (num_refs != num_values) return refuse(c, "all variables are scalars: one value each");
  return (fmi3Status)poli_fmu_get(c, refs, num_refs, values);
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                          const fmi3Float64 values[], size_t num_values)
{
  if (num_refs != num_values) return refuse(c, "all variables are scalars: one value each");
  return (fmi3Status)poli_fmu_set(c, refs, num_refs, values);
}

/* Variables of other types: there are none. */
static fmi3Status no_variables(fmi3Instance c, size_t num_refs)
{
  return num_refs == 0 ? fmi3OK : refuse(c, "all variables are of type Float64");
}

#define NO_VARIABLES(NAME)                                                                         \
  fmi3Status fmi3Get##NAME(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,       \
                           fmi3##NAME values[], size_t num_values)                                 \
  {                                                                                                \
    (void)refs;                                                                                    \
    (void)values;                                                                                  \
    (void)num_values;                                                                              \
    return no_variables(c, num_refs);                                                              \
  }                                                                                                \
  fmi3Status fmi3Set##NAME(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,       \
                           const fmi3##NAME values[], size_t num_values)                           \
  {                                                                                                \
    (void)refs;                                                                                    \
    (void)values;                                                                                  \
    (void)num_values;                                                                              \
    return no_variables(c, num_refs);                                                              \
  }

NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(Int32)
NO_VARIABLES(UInt32)
NO_VARIABLES(Int64)
NO_VARIABLES(UInt64)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                         size_t sizes[], fmi3Binary values[], size_t num_values)
{
  (void)refs;
  (void)num_refs;
  (void)sizes;
  (void)values;
  (void)num_values;
  return refuse(c, "all variables are of type Float64");
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                         const size_t sizes[], const fmi3Binary values[], size_t num_values)
{
  (void)refs;
  (void)num_refs;
  (void)sizes;
  (void)values;
  (void)num_values;
  return refuse(c, "all variables are of type Float64");
}

fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                        fmi3Clock values[])
{
  (void)refs;
  (void)num_refs;
  (void)values;
  return refuse(c, "all variables are of type Float64");
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                        const fmi3Clock values[])
{
  (void)refs;
  (void)num_refs;
  (void)values;
  return refuse(c, "all variables are of type Float64");
}

/* --- states ----------------------------------------------------------------------------------- */

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
  poli_fmu_state *taken = *state;
  const poli_fmu_result result = poli_fmu_take_state(c, &taken);
  *state = taken;
  return (fmi3Status)result;
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
  return (fmi3Status)poli_fmu_restore_state(c, state);
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
  (void)c;
  if (state == NULL) return fmi3OK;
  free(*state);
  *state = NULL;
  return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
  if (state == NULL) return refuse(c, "there is no state");
  *size = ((const poli_fmu_state *)state)->size;
  return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
  const poli_fmu_state *s = state;
  if (s == NULL) return refuse(c, "there is no state");
  if (size < s->size) return refuse(c, "there is too little room for the state");
  memcpy(bytes, s->bytes, s->size);
  return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState *state)
{
  poli_fmu_state *copy = *state;
  const poli_fmu_result result = poli_fmu_copy_state(c, bytes, size, &copy);
  *state = copy;
  return (fmi3Status)result;
}

/* --- steps ------------------------------------------------------------------------------------ */

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step,
                      fmi3Boolean no_earlier_state_set_again, fmi3Boolean *event_handling_needed,
                      fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_successful_time)
{
  (void)no_earlier_state_set_again;
  const poli_fmu_instance *instance = c;
  const poli_fmu_result result = poli_fmu_step(c, time, step);
  *event_handling_needed = fmi3False;
  *terminate = instance->ended != 0;
  *early_return = fmi3False;
  *last_successful_time = instance->t;
  /* a run that an event ends is no step to discard: terminate says it */
  return (fmi3Status)(result == POLI_FMU_DISCARD ? POLI_FMU_OK : result);
}

/* --- what this FMU does not have
 * ------------------------------------------------------------------ */

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c)
{
  return refuse(c, "this FMU has no structural parameters");
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c)
{
  return refuse(c, "this FMU has no structural parameters");
}

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
  return refuse(c, "this FMU has no event mode");
}

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
  return refuse(c, "this FMU has no event mode");
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c)
{
  return refuse(c, "this FMU has no event mode");
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *need_update,
                                    fmi3Boolean *terminate, fmi3Boolean *nominals_changed,
                                    fmi3Boolean *values_changed, fmi3Boolean *next_event_given,
                                    fmi3Float64 *next_event)
{
  (void)need_update;
  (void)terminate;
  (void)nominals_changed;
  (void)values_changed;
  (void)next_event_given;
  (void)next_event;
  return refuse(c, "this FMU has no event mode");
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference ref,
                                               size_t *count)
{
  (void)ref;
  (void)count;
  return refuse(c, "this FMU has no dependencies of elements");
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent,
                                       size_t elements_of_dependent[],
                                       fmi3ValueReference independents[],
                                       size_t elements_of_independents[],
                                       fmi3DependencyKind kinds[], size_t count)
{
  (void)dependent;
  (void)elements_of_dependent;
  (void)independents;
  (void)elements_of_independents;
  (void)kinds;
  (void)count;
  return refuse(c, "this FMU has no dependencies of elements");
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[],
                                        size_t num_unknowns, const fmi3ValueReference knowns[],
                                        size_t num_knowns, const fmi3Float64 seed[],
                                        size_t num_seed, fmi3Float64 sensitivity[],
                                        size_t num_sensitivity)
{
  (void)unknowns;
  (void)num_unknowns;
  (void)knowns;
  (void)num_knowns;
  (void)seed;
  (void)num_seed;
  (void)sensitivity;
  (void)num_sensitivity;
  return refuse(c, "this FMU has no directional derivatives");
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[],
                                    size_t num_unknowns, const fmi3ValueReference knowns[],
                                    size_t num_knowns, const fmi3Float64 seed[], size_t num_seed,
                                    fmi3Float64 sensitivity[], size_t num_sensitivity)
{
  (void)unknowns;
  (void)num_unknowns;
  (void)knowns;
  (void)num_knowns;
  (void)seed;
  (void)num_seed;
  (void)sensitivity;
  (void)num_sensitivity;
  return refuse(c, "this FMU has no adjoint derivatives");
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference refs[],
                                    size_t num_refs, const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t num_values)
{
  (void)refs;
  (void)num_refs;
  (void)orders;
  (void)values;
  (void)num_values;
  return refuse(c, "this FMU has no derivatives of outputs");
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
  (void)refs;
  (void)num_refs;
  (void)intervals;
  (void)qualifiers;
  return refuse(c, "this FMU has no clocks");
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[])
{
  (void)refs;
  (void)num_refs;
  (void)counters;
  (void)resolutions;
  (void)qualifiers;
  return refuse(c, "this FMU has no clocks");
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                               fmi3Float64 shifts[])
{
  (void)refs;
  (void)num_refs;
  (void)shifts;
  return refuse(c, "this FMU has no clocks");
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
  (void)refs;
  (void)num_refs;
  (void)counters;
  (void)resolutions;
  return refuse(c, "this FMU has no clocks");
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                                  const fmi3Float64 intervals[])
{
  (void)refs;
  (void)num_refs;
  (void)intervals;
  return refuse(c, "this FMU has no clocks");
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
  (void)refs;
  (void)num_refs;
  (void)counters;
  (void)resolutions;
  return refuse(c, "this FMU has no clocks");
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                               const fmi3Float64 shifts[])
{
  (void)refs;
  (void)num_refs;
  (void)shifts;
  return refuse(c, "this FMU has no clocks");
}

fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference refs[], size_t num_refs,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
  (void)refs;
  (void)num_refs;
  (void)counters;
  (void)resolutions;
  return refuse(c, "this FMU has no clocks");
}

/* --- other interfaces: importers load all functions, whatever an FMU supports ------------------
 */

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time)
{
  (void)clock;
  (void)time;
  return refuse(c, "this FMU has no scheduled execution");
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_earlier_state_set_again,
                                       fmi3Boolean *enter_event_mode, fmi3Boolean *terminate)
{
  (void)no_earlier_state_set_again;
  (void)enter_event_mode;
  (void)terminate;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 rates[], size_t count)
{
  (void)rates;
  (void)count;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 states[], size_t count)
{
  (void)states;
  (void)count;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t count)
{
  (void)indicators;
  (void)count;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t count)
{
  (void)nominals;
  (void)count;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *count)
{
  (void)count;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *count)
{
  (void)count;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 states[], size_t count)
{
  (void)states;
  (void)count;
  return refuse(c, "this FMU has no model exchange");
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time)
{
  (void)time;
  return refuse(c, "this FMU has no model exchange");
}
