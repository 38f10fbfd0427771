/* The C interface of FMI 2.0 for co-simulation: types, status codes and functions, as the standard
 * defines them (Functional Mock-up Interface 2.0, sections 2.1 and 4.2; https://fmi-standard.org).
 *
 * For both sides: a shared object that implements the functions includes this header, and a program
 * that loads one has the type fmi2XxxTYPE for the function fmi2Xxx. The functions of model exchange
 * are not declared.
 */
#ifndef POLHODE_IO_FMI_FMI2_H
#define POLHODE_IO_FMI_FMI2_H

#include <stddef.h>

/* Returned by fmi2GetTypesPlatform: the types below. */
#define fmi2TypesPlatform "default"

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;

#define fmi2True 1
#define fmi2False 0

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum {
  fmi2DoStepStatus,
  fmi2PendingStatus,
  fmi2LastSuccessfulTime,
  fmi2Terminated
} fmi2StatusKind;

/* --- callbacks of the importer
 * ----------------------------------------------------------------------- */

typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment environment, fmi2String instance,
                                   fmi2Status status, fmi2String category, fmi2String message, ...);
typedef void *(*fmi2CallbackAllocateMemory)(size_t count, size_t size);
typedef void (*fmi2CallbackFreeMemory)(void *memory);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);

typedef struct {
  fmi2CallbackLogger logger;
  fmi2CallbackAllocateMemory allocateMemory;
  fmi2CallbackFreeMemory freeMemory;
  fmi2StepFinished stepFinished;
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

/* --- types of the functions
 * --------------------------------------------------------------------------- */

typedef const char *fmi2GetTypesPlatformTYPE(void);
typedef const char *fmi2GetVersionTYPE(void);
typedef fmi2Status fmi2SetDebugLoggingTYPE(fmi2Component c, fmi2Boolean on, size_t num_categories,
                                           const fmi2String categories[]);

/* From an instance to the first step, and its end. */
typedef fmi2Component fmi2InstantiateTYPE(fmi2String name, fmi2Type type, fmi2String guid,
                                          fmi2String resources,
                                          const fmi2CallbackFunctions *functions,
                                          fmi2Boolean visible, fmi2Boolean logging);
typedef void fmi2FreeInstanceTYPE(fmi2Component c);
typedef fmi2Status fmi2SetupExperimentTYPE(fmi2Component c, fmi2Boolean tolerance_given,
                                           fmi2Real tolerance, fmi2Real start,
                                           fmi2Boolean stop_given, fmi2Real stop);
typedef fmi2Status fmi2EnterInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2ExitInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2TerminateTYPE(fmi2Component c);
typedef fmi2Status fmi2ResetTYPE(fmi2Component c);

/* Values of variables. */
typedef fmi2Status fmi2GetRealTYPE(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                                   fmi2Real values[]);
typedef fmi2Status fmi2GetIntegerTYPE(fmi2Component c, const fmi2ValueReference refs[],
                                      size_t count, fmi2Integer values[]);
typedef fmi2Status fmi2GetBooleanTYPE(fmi2Component c, const fmi2ValueReference refs[],
                                      size_t count, fmi2Boolean values[]);
typedef fmi2Status fmi2GetStringTYPE(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                                     fmi2String values[]);
typedef fmi2Status fmi2SetRealTYPE(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                                   const fmi2Real values[]);
typedef fmi2Status fmi2SetIntegerTYPE(fmi2Component c, const fmi2ValueReference refs[],
                                      size_t count, const fmi2Integer values[]);
typedef fmi2Status fmi2SetBooleanTYPE(fmi2Component c, const fmi2ValueReference refs[],
                                      size_t count, const fmi2Boolean values[]);
typedef fmi2Status fmi2SetStringTYPE(fmi2Component c, const fmi2ValueReference refs[], size_t count,
                                     const fmi2String values[]);

/* The complete state, in memory of the FMU and as bytes. */
typedef fmi2Status fmi2GetFMUstateTYPE(fmi2Component c, fmi2FMUstate *state);
typedef fmi2Status fmi2SetFMUstateTYPE(fmi2Component c, fmi2FMUstate state);
typedef fmi2Status fmi2FreeFMUstateTYPE(fmi2Component c, fmi2FMUstate *state);
typedef fmi2Status fmi2SerializedFMUstateSizeTYPE(fmi2Component c, fmi2FMUstate state,
                                                  size_t *size);
typedef fmi2Status fmi2SerializeFMUstateTYPE(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[],
                                             size_t size);
typedef fmi2Status fmi2DeSerializeFMUstateTYPE(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                               fmi2FMUstate *state);

/* Derivatives. */
typedef fmi2Status
fmi2GetDirectionalDerivativeTYPE(fmi2Component c, const fmi2ValueReference unknowns[],
                                 size_t num_unknowns, const fmi2ValueReference knowns[],
                                 size_t num_knowns, const fmi2Real seed[], fmi2Real sensitivity[]);
typedef fmi2Status fmi2SetRealInputDerivativesTYPE(fmi2Component c, const fmi2ValueReference refs[],
                                                   size_t count, const fmi2Integer orders[],
                                                   const fmi2Real values[]);
typedef fmi2Status fmi2GetRealOutputDerivativesTYPE(fmi2Component c,
                                                    const fmi2ValueReference refs[], size_t count,
                                                    const fmi2Integer orders[], fmi2Real values[]);

/* Steps, and what became of them. */
typedef fmi2Status fmi2DoStepTYPE(fmi2Component c, fmi2Real time, fmi2Real step,
                                  fmi2Boolean no_earlier_state_set_again);
typedef fmi2Status fmi2CancelStepTYPE(fmi2Component c);
typedef fmi2Status fmi2GetStatusTYPE(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value);
typedef fmi2Status fmi2GetRealStatusTYPE(fmi2Component c, const fmi2StatusKind kind,
                                         fmi2Real *value);
typedef fmi2Status fmi2GetIntegerStatusTYPE(fmi2Component c, const fmi2StatusKind kind,
                                            fmi2Integer *value);
typedef fmi2Status fmi2GetBooleanStatusTYPE(fmi2Component c, const fmi2StatusKind kind,
                                            fmi2Boolean *value);
typedef fmi2Status fmi2GetStringStatusTYPE(fmi2Component c, const fmi2StatusKind kind,
                                           fmi2String *value);

/* --- the functions, for the side that implements them
 * --------------------------------------------------- */

fmi2GetTypesPlatformTYPE fmi2GetTypesPlatform;
fmi2GetVersionTYPE fmi2GetVersion;
fmi2SetDebugLoggingTYPE fmi2SetDebugLogging;
fmi2InstantiateTYPE fmi2Instantiate;
fmi2FreeInstanceTYPE fmi2FreeInstance;
fmi2SetupExperimentTYPE fmi2SetupExperiment;
fmi2EnterInitializationModeTYPE fmi2EnterInitializationMode;
fmi2ExitInitializationModeTYPE fmi2ExitInitializationMode;
fmi2TerminateTYPE fmi2Terminate;
fmi2ResetTYPE fmi2Reset;
fmi2GetRealTYPE fmi2GetReal;
fmi2GetIntegerTYPE fmi2GetInteger;
fmi2GetBooleanTYPE fmi2GetBoolean;
fmi2GetStringTYPE fmi2GetString;
fmi2SetRealTYPE fmi2SetReal;
fmi2SetIntegerTYPE fmi2SetInteger;
fmi2SetBooleanTYPE fmi2SetBoolean;
fmi2SetStringTYPE fmi2SetString;
fmi2GetFMUstateTYPE fmi2GetFMUstate;
fmi2SetFMUstateTYPE fmi2SetFMUstate;
fmi2FreeFMUstateTYPE fmi2FreeFMUstate;
fmi2SerializedFMUstateSizeTYPE fmi2SerializedFMUstateSize;
fmi2SerializeFMUstateTYPE fmi2SerializeFMUstate;
fmi2DeSerializeFMUstateTYPE fmi2DeSerializeFMUstate;
fmi2GetDirectionalDerivativeTYPE fmi2GetDirectionalDerivative;
fmi2SetRealInputDerivativesTYPE fmi2SetRealInputDerivatives;
fmi2GetRealOutputDerivativesTYPE fmi2GetRealOutputDerivatives;
fmi2DoStepTYPE fmi2DoStep;
fmi2CancelStepTYPE fmi2CancelStep;
fmi2GetStatusTYPE fmi2GetStatus;
fmi2GetRealStatusTYPE fmi2GetRealStatus;
fmi2GetIntegerStatusTYPE fmi2GetIntegerStatus;
fmi2GetBooleanStatusTYPE fmi2GetBooleanStatus;
fmi2GetStringStatusTYPE fmi2GetStringStatus;

#endif
