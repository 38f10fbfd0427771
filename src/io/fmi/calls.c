/* Calls of the functions of an FMU, version 2.0 or 3.0 of FMI.  Both have the same life cycle for
 * co-simulation: instantiated, initialization mode, steps. */
#include "io/fmi/calls.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/fmi/fmi2.h"
#include "io/fmi/fmi3.h"

/* A function of a loaded FMU as what it is. */
#define CALL(fmu, type, call) ((type *)(fmu)->functions[call])

void poli_fmu_function_name(int version, int call, char name[64])
{
  static const char *const names[2][POLI_CALL_TYPES] = {
      {"Instantiate", "FreeInstance", "SetupExperiment", "EnterInitializationMode",
       "ExitInitializationMode", "Terminate", "DoStep", "GetBooleanStatus", "GetFMUstate",
       "SetFMUstate", "FreeFMUstate", "SerializedFMUstateSize", "SerializeFMUstate",
       "DeSerializeFMUstate"},
      {"InstantiateCoSimulation", "FreeInstance", "", "EnterInitializationMode",
       "ExitInitializationMode", "Terminate", "DoStep", "", "GetFMUState", "SetFMUState",
       "FreeFMUState", "SerializedFMUStateSize", "SerializeFMUState", "DeserializeFMUState"}};
  static const char *const types[2][POLI_FMU_NUM_TYPES] = {
      {"Real", "Integer", "Boolean", "", "", "", "", "", "", "", ""},
      {"Float64", "Int32", "Boolean", "Float32", "Int8", "UInt8", "Int16", "UInt16", "UInt32",
       "Int64", "UInt64"}};
  const int of_type = call - POLI_CALL_TYPES;
  const char *word = of_type < 0 ? names[version - 2][call] : types[version - 2][of_type / 2];
  const char *verb = of_type < 0 ? "" : of_type % 2 ? "Set" : "Get";
  name[0] = '\0';
  if (word[0]) snprintf(name, 64, "fmi%d%s%s", version, verb, word);
}

/* --- messages --------------------------------------------------------------------------------- */

/* Appends a message to the log, on one line. */
static void note(poli_fmu_import *fmu, const char *text)
{
  const size_t used = strlen(fmu->log), room = sizeof fmu->log - used;
  if (!text || !text[0] || room < 4) return;
  snprintf(fmu->log + used, room, "%s%s", used ? "; " : "", text);
  for (char *c = fmu->log + used; *c; c++)
    if ((unsigned char)*c < ' ' || (*c & 0x7f) == 0x7f) *c = ' ';
  for (size_t end = strlen(fmu->log); end > 0 && fmu->log[end - 1] == ' ';) fmu->log[--end] = '\0';
}

static void log_message2(fmi2ComponentEnvironment environment, fmi2String instance,
                         fmi2Status status, fmi2String category, fmi2String message, ...)
{
  char text[sizeof((poli_fmu_import *)0)->log];
  va_list arguments;
  (void)instance;
  (void)category;
  if (!environment || !message || status == fmi2OK || status == fmi2Pending) return;
  va_start(arguments, message);
  vsnprintf(text, sizeof text, message, arguments);
  va_end(arguments);
  note(environment, text);
}

static void log_message3(fmi3InstanceEnvironment environment, fmi3Status status,
                         fmi3String category, fmi3String message)
{
  (void)category;
  if (environment && status != fmi3OK) note(environment, message);
}

/* POL_OK, or POL_CALLBACK with the reason.  Status codes of both versions are the same. */
static pol_status judge(poli_fmu_import *fmu, int call, int status, const char *about,
                        poli_fmu_reason reason)
{
  static const char *const words[] = {"OK", "Warning", "Discard", "Error", "Fatal", "Pending"};
  char name[64];
  if (status == fmi2OK || status == fmi2Warning) {
    fmu->log[0] = '\0';
    return POL_OK;
  }
  if (status == fmi2Fatal) fmu->is_dead = 1;
  poli_fmu_function_name(fmu->version, call, name);
  const int known = status >= 0 && status < 6;
  char word[32];
  if (known)
    snprintf(word, sizeof word, "fmi%d%s", fmu->version, words[status]);
  else
    snprintf(word, sizeof word, "the invalid status %d", status);
  snprintf(reason.message, reason.size, "%s of FMU '%.40s'%s returned %s%s%s", name, fmu->file,
           about, word, fmu->log[0] ? ": " : "", fmu->log);
  fmu->log[0] = '\0';
  return POL_CALLBACK;
}

/* --- life cycle ------------------------------------------------------------------------------- */

/* "file:///tmp/a%20b" of an absolute path; NULL without memory. */
static char *uri_of(const char *path)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~";
  char *uri = malloc(3 * strlen(path) + 8), *to = uri;
  if (!uri) return NULL;
  to += sprintf(to, "file://");
  for (; *path; path++)
    if (strchr(plain, *path))
      *to++ = *path;
    else
      to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*path);
  *to = '\0';
  return uri;
}

pol_status poli_fmu_instantiate(poli_fmu_import *fmu, const char *resources)
{
  char *text = fmu->version == 2 ? uri_of(resources) : poli_format("%s/", resources);
  fmi2CallbackFunctions *callbacks = malloc(sizeof *callbacks); /* FMI 2.0 keeps its address */
  fmu->callbacks = callbacks;
  if (!text || !callbacks) {
    free(text);
    return POL_NO_MEMORY;
  }
  *callbacks = (fmi2CallbackFunctions){log_message2, calloc, free, NULL, fmu};
  fmu->log[0] = '\0';
  if (fmu->version == 2)
    fmu->instance = CALL(fmu, fmi2InstantiateTYPE, POLI_CALL_INSTANTIATE)(
        fmu->name, fmi2CoSimulation, fmu->token, text, callbacks, fmi2False, fmi2True);
  else
    fmu->instance = CALL(fmu, fmi3InstantiateCoSimulationTYPE, POLI_CALL_INSTANTIATE)(
        fmu->name, fmu->token, text, false, true, false, false, NULL, 0, fmu, log_message3, NULL);
  free(text);
  return fmu->instance ? POL_OK : POL_BAD_ARGUMENT;
}

pol_status poli_fmu_begin(poli_fmu_import *fmu, poli_fmu_reason reason)
{
  int status = fmi2OK;
  if (fmu->version == 2) {
    status = CALL(fmu, fmi2SetupExperimentTYPE, POLI_CALL_SETUP)(fmu->instance, fmi2False, 0.0, 0.0,
                                                                 fmi2False, 0.0);
    if (judge(fmu, POLI_CALL_SETUP, status, "", reason)) return POL_CALLBACK;
    status = CALL(fmu, fmi2EnterInitializationModeTYPE, POLI_CALL_ENTER)(fmu->instance);
  } else {
    status = CALL(fmu, fmi3EnterInitializationModeTYPE, POLI_CALL_ENTER)(fmu->instance, false, 0.0,
                                                                         0.0, false, 0.0);
  }
  return judge(fmu, POLI_CALL_ENTER, status, "", reason);
}

pol_status poli_fmu_end_start(poli_fmu_import *fmu, poli_fmu_reason reason)
{
  /* both have the same type */
  const int status =
      fmu->version == 2
          ? (int)CALL(fmu, fmi2ExitInitializationModeTYPE, POLI_CALL_EXIT)(fmu->instance)
          : (int)CALL(fmu, fmi3ExitInitializationModeTYPE, POLI_CALL_EXIT)(fmu->instance);
  const pol_status result = judge(fmu, POLI_CALL_EXIT, status, "", reason);
  if (!result) fmu->is_started = 1;
  return result;
}

pol_status poli_fmu_step(poli_fmu_import *fmu, double t, double h, poli_fmu_reason reason)
{
  if (fmu->version == 2) {
    const fmi2Status status =
        CALL(fmu, fmi2DoStepTYPE, POLI_CALL_STEP)(fmu->instance, t, h, fmi2True);
    fmi2Boolean ended = fmi2False;
    if (status == fmi2Discard && fmu->functions[POLI_CALL_BOOLEAN_STATUS])
      CALL(fmu, fmi2GetBooleanStatusTYPE, POLI_CALL_BOOLEAN_STATUS)
    (fmu->instance, fmi2Terminated, &ended);
    return judge(fmu, POLI_CALL_STEP, (int)status, ended ? ", which has ended its run," : "",
                 reason);
  }
  fmi3Boolean event = false, ended = false, early = false;
  fmi3Float64 last = t;
  const fmi3Status status = CALL(fmu, fmi3DoStepTYPE, POLI_CALL_STEP)(
      fmu->instance, t, h, true, &event, &ended, &early, &last);
  const pol_status result = judge(fmu, POLI_CALL_STEP, (int)status, "", reason);
  if (result || !(ended || early)) return result;
  snprintf(reason.message, reason.size, "FMU '%.60s' %s at t = %.10g s", fmu->file,
           ended ? "has ended its run" : "returned early from its step", last);
  return POL_CALLBACK;
}

void poli_fmu_finish(poli_fmu_import *fmu)
{
  if (fmu->instance && !fmu->is_dead) {
    if (fmu->version == 2) {
      if (fmu->is_started) CALL(fmu, fmi2TerminateTYPE, POLI_CALL_TERMINATE)(fmu->instance);
      CALL(fmu, fmi2FreeInstanceTYPE, POLI_CALL_FREE)(fmu->instance);
    } else {
      if (fmu->is_started) CALL(fmu, fmi3TerminateTYPE, POLI_CALL_TERMINATE)(fmu->instance);
      CALL(fmu, fmi3FreeInstanceTYPE, POLI_CALL_FREE)(fmu->instance);
    }
  }
  free(fmu->callbacks);
}

/* --- values ----------------------------------------------------------------------------------- */

/* A number as one of the types. */
typedef union typed {
  double float64;
  float float32;
  int8_t int8;
  uint8_t uint8;
  int16_t int16;
  uint16_t uint16;
  int32_t int32;
  uint32_t uint32;
  int64_t int64;
  uint64_t uint64;
  fmi3Boolean boolean;
} typed;

/* The first and last whole number of a type that are sure to be exact. */
static void range_of(poli_fmu_type type, double range[2])
{
  static const double ranges[POLI_FMU_NUM_TYPES][2] = {
      [POLI_FMU_INT32] = {-2147483648.0, 2147483647.0},
      [POLI_FMU_BOOLEAN] = {0.0, 1.0},
      [POLI_FMU_INT8] = {-128.0, 127.0},
      [POLI_FMU_UINT8] = {0.0, 255.0},
      [POLI_FMU_INT16] = {-32768.0, 32767.0},
      [POLI_FMU_UINT16] = {0.0, 65535.0},
      [POLI_FMU_UINT32] = {0.0, 4294967295.0},
      [POLI_FMU_INT64] = {-9007199254740992.0, 9007199254740992.0},
      [POLI_FMU_UINT64] = {0.0, 9007199254740992.0}};
  memcpy(range, ranges[type], sizeof ranges[type]);
}

#define SET3(KIND, Name, member, value)                                                            \
  case POLI_FMU_##KIND:                                                                            \
    x.member = (value);                                                                            \
    return (int)((fmi3Set##Name##TYPE *)f)(c, &ref, 1, &x.member, 1)

static int set3(void *c, poli_fmu_function *f, poli_fmu_type type, fmi3ValueReference ref, double v)
{
  typed x = {.uint64 = 0};
  switch (type) {
    SET3(FLOAT64, Float64, float64, v);
    SET3(FLOAT32, Float32, float32, (float)v);
    SET3(INT8, Int8, int8, (int8_t)v);
    SET3(UINT8, UInt8, uint8, (uint8_t)v);
    SET3(INT16, Int16, int16, (int16_t)v);
    SET3(UINT16, UInt16, uint16, (uint16_t)v);
    SET3(INT32, Int32, int32, (int32_t)v);
    SET3(UINT32, UInt32, uint32, (uint32_t)v);
    SET3(INT64, Int64, int64, (int64_t)v);
    SET3(UINT64, UInt64, uint64, (uint64_t)v);
    SET3(BOOLEAN, Boolean, boolean, v != 0.0);
  default:
    return fmi3Error;
  }
}

#define GET3(KIND, Name, member)                                                                   \
  case POLI_FMU_##KIND:                                                                            \
    status = (int)((fmi3Get##Name##TYPE *)f)(c, &ref, 1, &x.member, 1);                            \
    *v = (double)x.member;                                                                         \
    return status

static int get3(void *c, poli_fmu_function *f, poli_fmu_type type, fmi3ValueReference ref,
                double *v)
{
  typed x = {.uint64 = 0};
  int status;
  switch (type) {
    GET3(FLOAT64, Float64, float64);
    GET3(FLOAT32, Float32, float32);
    GET3(INT8, Int8, int8);
    GET3(UINT8, UInt8, uint8);
    GET3(INT16, Int16, int16);
    GET3(UINT16, UInt16, uint16);
    GET3(INT32, Int32, int32);
    GET3(UINT32, UInt32, uint32);
    GET3(INT64, Int64, int64);
    GET3(UINT64, UInt64, uint64);
    GET3(BOOLEAN, Boolean, boolean);
  default:
    return fmi3Error;
  }
}

pol_status poli_fmu_set(poli_fmu_import *fmu, const poli_fmu_value *to, double value,
                        poli_fmu_reason reason)
{
  const int call = POLI_CALL_TYPES + 2 * (int)to->type + 1;
  poli_fmu_function *f = fmu->functions[call];
  char about[120];
  double range[2];
  range_of(to->type, range);
  const int is_float = to->type == POLI_FMU_FLOAT64 || to->type == POLI_FMU_FLOAT32;
  if (!is_float && !(floor(value) == value && value >= range[0] && value <= range[1])) {
    snprintf(reason.message, reason.size,
             "the variable '%.60s' of FMU '%.40s' must be a whole number from %.10g to %.10g, but "
             "is to be set to %.10g",
             to->name, fmu->file, range[0], range[1], value);
    return POL_CALLBACK;
  }
  int status;
  if (fmu->version == 3) {
    status = set3(fmu->instance, f, to->type, to->reference, value);
  } else if (to->type == POLI_FMU_FLOAT64) {
    status = (int)((fmi2SetRealTYPE *)f)(fmu->instance, &to->reference, 1, &value);
  } else {
    const int number = (int)value; /* of both types */
    status = to->type == POLI_FMU_INT32
                 ? (int)((fmi2SetIntegerTYPE *)f)(fmu->instance, &to->reference, 1, &number)
                 : (int)((fmi2SetBooleanTYPE *)f)(fmu->instance, &to->reference, 1, &number);
  }
  snprintf(about, sizeof about, " for '%.60s' = %.10g", to->name, value);
  return judge(fmu, call, status, about, reason);
}

pol_status poli_fmu_get(poli_fmu_import *fmu, const poli_fmu_value *from, double *value,
                        poli_fmu_reason reason)
{
  const int call = POLI_CALL_TYPES + 2 * (int)from->type;
  poli_fmu_function *f = fmu->functions[call];
  char about[120];
  int status;
  if (fmu->version == 3) {
    status = get3(fmu->instance, f, from->type, from->reference, value);
  } else if (from->type == POLI_FMU_FLOAT64) {
    status = (int)((fmi2GetRealTYPE *)f)(fmu->instance, &from->reference, 1, value);
  } else {
    int number = 0;
    status = from->type == POLI_FMU_INT32
                 ? (int)((fmi2GetIntegerTYPE *)f)(fmu->instance, &from->reference, 1, &number)
                 : (int)((fmi2GetBooleanTYPE *)f)(fmu->instance, &from->reference, 1, &number);
    *value = from->type == POLI_FMU_INT32 ? (double)number : number != 0;
  }
  snprintf(about, sizeof about, " for '%.60s'", from->name);
  return judge(fmu, call, status, about, reason);
}

/* --- states ----------------------------------------------------------------------------------- */

/* The functions of both versions have the same types but for the names, and for the sign of a byte.
 */
#define STATE(fmu, call, name2, name3, ...)                                                        \
  ((fmu)->version == 2 ? (int)CALL(fmu, name2, call)(__VA_ARGS__)                                  \
                       : (int)CALL(fmu, name3, call)(__VA_ARGS__))

pol_status poli_fmu_save(poli_fmu_import *fmu, void *bytes, size_t *size)
{
  void *state = NULL, *c = fmu->instance;
  size_t needed = 0;
  int status = STATE(fmu, POLI_CALL_GET_STATE, fmi2GetFMUstateTYPE, fmi3GetFMUStateTYPE, c, &state);
  if (status > fmi2Warning) return POL_CALLBACK;
  status = STATE(fmu, POLI_CALL_STATE_SIZE, fmi2SerializedFMUstateSizeTYPE,
                 fmi3SerializedFMUStateSizeTYPE, c, state, &needed);
  if (status <= fmi2Warning && bytes && needed > *size) status = fmi2Error;
  if (status <= fmi2Warning && bytes)
    status = STATE(fmu, POLI_CALL_SERIALIZE, fmi2SerializeFMUstateTYPE, fmi3SerializeFMUStateTYPE,
                   c, state, bytes, needed);
  STATE(fmu, POLI_CALL_FREE_STATE, fmi2FreeFMUstateTYPE, fmi3FreeFMUStateTYPE, c, &state);
  *size = needed;
  return status <= fmi2Warning ? POL_OK : POL_CALLBACK;
}

pol_status poli_fmu_restore(poli_fmu_import *fmu, const void *bytes, size_t size)
{
  void *state = NULL, *c = fmu->instance;
  int status = STATE(fmu, POLI_CALL_DESERIALIZE, fmi2DeSerializeFMUstateTYPE,
                     fmi3DeserializeFMUStateTYPE, c, bytes, size, &state);
  if (status <= fmi2Warning)
    status = STATE(fmu, POLI_CALL_SET_STATE, fmi2SetFMUstateTYPE, fmi3SetFMUStateTYPE, c, state);
  if (state)
    STATE(fmu, POLI_CALL_FREE_STATE, fmi2FreeFMUstateTYPE, fmi3FreeFMUStateTYPE, c, &state);
  return status <= fmi2Warning ? POL_OK : POL_BAD_ARGUMENT;
}
