/* The functions of FMI 2.0 for co-simulation. */
#include "io/fmi/fmi2.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "fmu/instance.h"

/* What messages need. */
typedef struct outer {
  const fmi2CallbackFunctions *functions;
  char *name;
} outer;

static void log_message(void *user, poli_fmu_result result, const char *message)
{
  const outer *o = user;
  const fmi2CallbackFunctions *f = o->functions;
  const char *category = result == POLI_FMU_DISCARD ? "logStatusDiscard" : "logStatusError";
  if (f->logger != NULL)
    f->logger(f->componentEnvironment, o->name, (fmi2Status)result, category, "%s", message);
}

static fmi2Status refuse(fmi2Component c, const char *message)
{
  return (fmi2Status)poli_fmu_report(c, POLI_FMU_ERROR, "%s", message);
}

const char *fmi2GetTypesPlatform(void)
{
  return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
  return "2.0";
}

/* There are messages about errors and the end of the run only, which are always reported. */
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t num_categories,
                               const fmi2String categories[])
{
  (void)c;
  (void)on;
  (void)num_categories;
  (void)categories;
  return fmi2OK;
}

/* --- life ------------------------------------------------------------------------------------- */

/* The path of a "file:" address, or a copy of what is none; the caller frees it. */
static char *path_of(const char *address)
{
  const char *from = address;
  if (strncmp(from, "file:", 5) == 0) {
    from += 5;
    if (strncmp(from, "//", 2) == 0) from = strchr(from + 2, '/');
  }
  char *path = poli_format("%s", from != NULL ? from : "");
  if (path == NULL || from == address) return path;
  char *to = path;
  for (const char *c = path; *c != '\0'; to++) {
    const int coded = c[0] == '%' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2]);
    if (coded) {
      const char digits[3] = {c[1], c[2], '\0'};
      *to = (char)strtol(digits, NULL, 16);
      c += 3;
    } else {
      *to = *c++;
    }
  }
  *to = '\0';
  return path;
}

static void free_outer(outer *o)
{
  if (o != NULL) free(o->name);
  free(o);
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                              fmi2Boolean logging)
{
  (void)visible;
  (void)logging;
  if (functions == NULL) return NULL;
  poli_fmu_instance *instance = NULL;
  outer *o = calloc(1, sizeof *o);
  if (o == NULL) return NULL;
  o->functions = functions;
  o->name = poli_format("%s", name != NULL ? name : "");
  char *path = resources != NULL ? path_of(resources) : NULL;
  if (o->name == NULL || type != fmi2CoSimulation || path == NULL)
    log_message(o, POLI_FMU_ERROR,
                type != fmi2CoSimulation ? "this FMU is for co-simulation"
                : resources == NULL      ? "the location of the resources is missing"
                                         : pol_status_text(POL_NO_MEMORY));
  else
    instance = poli_fmu_create(path, guid, log_message, o);
  free(path);
  if (instance == NULL) free_outer(o);
  if (instance != NULL) instance->outer = o;
  return instance;
}

void fmi2FreeInstance(fmi2Component c)
{
  poli_fmu_instance *instance = c;
  if (instance == NULL) return;
  outer *o = instance->outer;
  poli_fmu_free(instance);
  free_outer(o);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_given, fmi2Real tolerance,
                               fmi2Real start, fmi2Boolean stop_given, fmi2Real stop)
{
  (void)tolerance_given;
  (void)tolerance;
  return (fmi2Status)poli_fmu_span(c, start, stop_given ? stop : (double)NAN);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
  return (fmi2Status)poli_fmu_enter_initialization(c);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
  return (fmi2Status)poli_fmu_exit_initialization(c);
}

fmi2Status fmi2Terminate(fmi2Component c)
{
  return (fmi2Status)poli_fmu_terminate(c);
}

fmi2Status fmi2Reset(fmi2Component c)
{
  return (fmi2Status)poli_fmu_reset(c);
}

/* --- values: all are real --------------------------------------------------------------------- */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                       fmi2Real values[])
{
  return (fmi2Status)poli_fmu_get(c, refs, count, values);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                       const fmi2Real values[])
{
  return (fmi2Status)poli_fmu_set(c, refs, count, values);
}

/* Variables of other types: there are none. */
#define NO_VARIABLES(NAME)                                                                         \
  fmi2Status fmi2Get##NAME(fmi2Component c, const fmi2ValueReference refs[], size_t count,         \
                           fmi2##NAME values[])                                                    \
  {                                                                                                \
    (void)refs;                                                                                    \
    (void)values;                                                                                  \
    return count == 0 ? fmi2OK : refuse(c, "fmi2Get" #NAME ": all variables are real");            \
  }                                                                                                \
  fmi2Status fmi2Set##NAME(fmi2Component c, const fmi2ValueReference refs[], size_t count,         \
                           const fmi2##NAME values[])                                              \
  {                                                                                                \
    (void)refs;                                                                                    \
    (void)values;                                                                                  \
    return count == 0 ? fmi2OK : refuse(c, "fmi2Set" #NAME ": all variables are real");            \
  }

NO_VARIABLES(Integer)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

/* --- states ----------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
  poli_fmu_state *taken = *state;
  const poli_fmu_result result = poli_fmu_take_state(c, &taken);
  *state = taken;
  return (fmi2Status)result;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
  return (fmi2Status)poli_fmu_restore_state(c, state);
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
  (void)c;
  if (state == NULL) return fmi2OK;
  free(*state);
  *state = NULL;
  return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
  if (state == NULL) return refuse(c, "there is no state");
  *size = ((const poli_fmu_state *)state)->size;
  return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
  const poli_fmu_state *s = state;
  if (s == NULL) return refuse(c, "there is no state");
  if (size < s->size) return refuse(c, "there is too little room for the state");
  memcpy(bytes, s->bytes, s->size);
  return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate *state)
{
  poli_fmu_state *copy = *state;
  const poli_fmu_result result = poli_fmu_copy_state(c, bytes, size, &copy);
  *state = copy;
  return (fmi2Status)result;
}

/* --- derivatives, which the description of the FMU does not offer ------------------------------
 */

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[],
                                        size_t num_unknowns, const fmi2ValueReference knowns[],
                                        size_t num_knowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
  (void)unknowns;
  (void)num_unknowns;
  (void)knowns;
  (void)num_knowns;
  (void)seed;
  (void)sensitivity;
  return refuse(c, "this FMU has no directional derivatives");
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference refs[],
                                       size_t count, const fmi2Integer orders[],
                                       const fmi2Real values[])
{
  (void)refs;
  (void)count;
  (void)orders;
  (void)values;
  return refuse(c, "inputs are constant during a step");
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference refs[],
                                        size_t count, const fmi2Integer orders[], fmi2Real values[])
{
  (void)refs;
  (void)count;
  (void)orders;
  (void)values;
  return refuse(c, "this FMU has no derivatives of outputs");
}

/* --- steps ------------------------------------------------------------------------------------ */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step,
                      fmi2Boolean no_earlier_state_set_again)
{
  (void)no_earlier_state_set_again;
  return (fmi2Status)poli_fmu_step(c, time, step);
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
  return refuse(c, "steps are not asynchronous: there is none to cancel");
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
  (void)kind;
  (void)value;
  return refuse(c, "steps are not asynchronous: none is pending");
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
  if (kind != fmi2LastSuccessfulTime) return refuse(c, "this status is not a real number");
  *value = ((const poli_fmu_instance *)c)->t;
  return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
  (void)kind;
  (void)value;
  return refuse(c, "there is no status that is an integer");
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
  if (kind != fmi2Terminated) return refuse(c, "this status is not a truth value");
  *value = ((const poli_fmu_instance *)c)->ended;
  return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
  (void)kind;
  (void)value;
  return refuse(c, "steps are not asynchronous: none is pending");
}
