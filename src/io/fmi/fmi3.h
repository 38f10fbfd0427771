/* The C interface of FMI 3.0 for co-simulation: types, status codes and functions, as the standard
 * defines them (Functional Mock-up Interface 3.0, sections 2.2 and 4.2; https://fmi-standard.org).
 *
 * For both sides: a shared object that implements the functions includes this header, and a program
 * that loads one has the type fmi3XxxTYPE for the function fmi3Xxx. Of model exchange and scheduled
 * execution only the functions that create an instance are declared, since an FMU for co-simulation
 * has them too.
 */
#ifndef POLHODE_IO_FMI_FMI3_H
#define POLHODE_IO_FMI_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

#define fmi3True true
#define fmi3False false
#define fmi3ClockActive true
#define fmi3ClockInactive false

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
  fmi3Independent,
  fmi3Constant,
  fmi3Fixed,
  fmi3Tunable,
  fmi3Discrete,
  fmi3Dependent
} fmi3DependencyKind;
typedef enum {
  fmi3IntervalNotYetKnown,
  fmi3IntervalUnchanged,
  fmi3IntervalChanged
} fmi3IntervalQualifier;

/* --- callbacks of the importer
 * ----------------------------------------------------------------------- */

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status,
                                       fmi3String category, fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment,
                                               fmi3Float64 time, fmi3Boolean set_requested,
                                               fmi3Boolean get_allowed, fmi3Boolean step_finished,
                                               fmi3Boolean can_return_early,
                                               fmi3Boolean *early_return_requested,
                                               fmi3Float64 *early_return_time);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

/* --- types of the functions
 * --------------------------------------------------------------------------- */

typedef const char *fmi3GetVersionTYPE(void);
typedef fmi3Status fmi3SetDebugLoggingTYPE(fmi3Instance c, fmi3Boolean on, size_t num_categories,
                                           const fmi3String categories[]);

/* From an instance to the first step, and its end. */
typedef fmi3Instance fmi3InstantiateCoSimulationTYPE(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference required_intermediate[], size_t num_required_intermediate,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback intermediate);
typedef fmi3Instance fmi3InstantiateModelExchangeTYPE(fmi3String name, fmi3String token,
                                                      fmi3String resources, fmi3Boolean visible,
                                                      fmi3Boolean logging,
                                                      fmi3InstanceEnvironment environment,
                                                      fmi3LogMessageCallback log);
typedef fmi3Instance fmi3InstantiateScheduledExecutionTYPE(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock,
    fmi3UnlockPreemptionCallback unlock);
typedef void fmi3FreeInstanceTYPE(fmi3Instance c);
typedef fmi3Status fmi3EnterInitializationModeTYPE(fmi3Instance c, fmi3Boolean tolerance_given,
                                                   fmi3Float64 tolerance, fmi3Float64 start,
                                                   fmi3Boolean stop_given, fmi3Float64 stop);
typedef fmi3Status fmi3ExitInitializationModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3EnterConfigurationModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3ExitConfigurationModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3EnterEventModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3EnterStepModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3TerminateTYPE(fmi3Instance c);
typedef fmi3Status fmi3ResetTYPE(fmi3Instance c);

/* Values of variables: one pair of functions for each numeric type, as fmi3GetFloat64 and
 * fmi3SetFloat64. */
#define FMI3_ACCESS_TYPES(NAME)                                                                    \
  typedef fmi3Status fmi3Get##NAME##TYPE(fmi3Instance c, const fmi3ValueReference refs[],          \
                                         size_t num_refs, fmi3##NAME values[], size_t num_values); \
  typedef fmi3Status fmi3Set##NAME##TYPE(fmi3Instance c, const fmi3ValueReference refs[],          \
                                         size_t num_refs, const fmi3##NAME values[],               \
                                         size_t num_values)
FMI3_ACCESS_TYPES(Float32);
FMI3_ACCESS_TYPES(Float64);
FMI3_ACCESS_TYPES(Int8);
FMI3_ACCESS_TYPES(UInt8);
FMI3_ACCESS_TYPES(Int16);
FMI3_ACCESS_TYPES(UInt16);
FMI3_ACCESS_TYPES(Int32);
FMI3_ACCESS_TYPES(UInt32);
FMI3_ACCESS_TYPES(Int64);
FMI3_ACCESS_TYPES(UInt64);
FMI3_ACCESS_TYPES(Boolean);
FMI3_ACCESS_TYPES(String);
typedef fmi3Status fmi3GetBinaryTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                     size_t num_refs, size_t sizes[], fmi3Binary values[],
                                     size_t num_values);
typedef fmi3Status fmi3SetBinaryTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                     size_t num_refs, const size_t sizes[],
                                     const fmi3Binary values[], size_t num_values);
typedef fmi3Status fmi3GetClockTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                    size_t num_refs, fmi3Clock values[]);
typedef fmi3Status fmi3SetClockTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                    size_t num_refs, const fmi3Clock values[]);

/* What a variable depends on. */
typedef fmi3Status fmi3GetNumberOfVariableDependenciesTYPE(fmi3Instance c, fmi3ValueReference ref,
                                                           size_t *count);
typedef fmi3Status fmi3GetVariableDependenciesTYPE(fmi3Instance c, fmi3ValueReference dependent,
                                                   size_t elements_of_dependent[],
                                                   fmi3ValueReference independents[],
                                                   size_t elements_of_independents[],
                                                   fmi3DependencyKind kinds[], size_t count);

/* The complete state, in memory of the FMU and as bytes. */
typedef fmi3Status fmi3GetFMUStateTYPE(fmi3Instance c, fmi3FMUState *state);
typedef fmi3Status fmi3SetFMUStateTYPE(fmi3Instance c, fmi3FMUState state);
typedef fmi3Status fmi3FreeFMUStateTYPE(fmi3Instance c, fmi3FMUState *state);
typedef fmi3Status fmi3SerializedFMUStateSizeTYPE(fmi3Instance c, fmi3FMUState state, size_t *size);
typedef fmi3Status fmi3SerializeFMUStateTYPE(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[],
                                             size_t size);
typedef fmi3Status fmi3DeserializeFMUStateTYPE(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                               fmi3FMUState *state);

/* Derivatives. */
typedef fmi3Status
fmi3GetDirectionalDerivativeTYPE(fmi3Instance c, const fmi3ValueReference unknowns[],
                                 size_t num_unknowns, const fmi3ValueReference knowns[],
                                 size_t num_knowns, const fmi3Float64 seed[], size_t num_seed,
                                 fmi3Float64 sensitivity[], size_t num_sensitivity);
typedef fmi3GetDirectionalDerivativeTYPE fmi3GetAdjointDerivativeTYPE;
typedef fmi3Status fmi3GetOutputDerivativesTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                                size_t num_refs, const fmi3Int32 orders[],
                                                fmi3Float64 values[], size_t num_values);

/* Clocks and discrete states. */
typedef fmi3Status fmi3GetIntervalDecimalTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                              size_t num_refs, fmi3Float64 intervals[],
                                              fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetIntervalFractionTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                               size_t num_refs, fmi3UInt64 counters[],
                                               fmi3UInt64 resolutions[],
                                               fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetShiftDecimalTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                           size_t num_refs, fmi3Float64 shifts[]);
typedef fmi3Status fmi3GetShiftFractionTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                            size_t num_refs, fmi3UInt64 counters[],
                                            fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetIntervalDecimalTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                              size_t num_refs, const fmi3Float64 intervals[]);
typedef fmi3Status fmi3SetIntervalFractionTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                               size_t num_refs, const fmi3UInt64 counters[],
                                               const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetShiftDecimalTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                           size_t num_refs, const fmi3Float64 shifts[]);
typedef fmi3Status fmi3SetShiftFractionTYPE(fmi3Instance c, const fmi3ValueReference refs[],
                                            size_t num_refs, const fmi3UInt64 counters[],
                                            const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3EvaluateDiscreteStatesTYPE(fmi3Instance c);
typedef fmi3Status
fmi3UpdateDiscreteStatesTYPE(fmi3Instance c, fmi3Boolean *need_update, fmi3Boolean *terminate,
                             fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                             fmi3Boolean *next_event_given, fmi3Float64 *next_event);

/* Steps. */
typedef fmi3Status fmi3DoStepTYPE(fmi3Instance c, fmi3Float64 time, fmi3Float64 step,
                                  fmi3Boolean no_earlier_state_set_again,
                                  fmi3Boolean *event_handling_needed, fmi3Boolean *terminate,
                                  fmi3Boolean *early_return, fmi3Float64 *last_successful_time);
typedef fmi3Status fmi3ActivateModelPartitionTYPE(fmi3Instance c, fmi3ValueReference clock,
                                                  fmi3Float64 time);
typedef fmi3Status fmi3CompletedIntegratorStepTYPE(fmi3Instance c,
                                                   fmi3Boolean no_earlier_state_set_again,
                                                   fmi3Boolean *enter_event_mode,
                                                   fmi3Boolean *terminate);
typedef fmi3Status fmi3EnterContinuousTimeModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3GetContinuousStateDerivativesTYPE(fmi3Instance c, fmi3Float64 rates[],
                                                         size_t count);
typedef fmi3Status fmi3GetContinuousStatesTYPE(fmi3Instance c, fmi3Float64 states[], size_t count);
typedef fmi3Status fmi3GetEventIndicatorsTYPE(fmi3Instance c, fmi3Float64 indicators[],
                                              size_t count);
typedef fmi3Status fmi3GetNominalsOfContinuousStatesTYPE(fmi3Instance c, fmi3Float64 nominals[],
                                                         size_t count);
typedef fmi3Status fmi3GetNumberOfContinuousStatesTYPE(fmi3Instance c, size_t *count);
typedef fmi3Status fmi3GetNumberOfEventIndicatorsTYPE(fmi3Instance c, size_t *count);
typedef fmi3Status fmi3SetContinuousStatesTYPE(fmi3Instance c, const fmi3Float64 states[],
                                               size_t count);
typedef fmi3Status fmi3SetTimeTYPE(fmi3Instance c, fmi3Float64 time);

/* --- the functions, for the side that implements them
 * --------------------------------------------------- */

fmi3GetVersionTYPE fmi3GetVersion;
fmi3SetDebugLoggingTYPE fmi3SetDebugLogging;
fmi3InstantiateCoSimulationTYPE fmi3InstantiateCoSimulation;
fmi3InstantiateModelExchangeTYPE fmi3InstantiateModelExchange;
fmi3InstantiateScheduledExecutionTYPE fmi3InstantiateScheduledExecution;
fmi3FreeInstanceTYPE fmi3FreeInstance;
fmi3EnterInitializationModeTYPE fmi3EnterInitializationMode;
fmi3ExitInitializationModeTYPE fmi3ExitInitializationMode;
fmi3EnterConfigurationModeTYPE fmi3EnterConfigurationMode;
fmi3ExitConfigurationModeTYPE fmi3ExitConfigurationMode;
fmi3EnterEventModeTYPE fmi3EnterEventMode;
fmi3EnterStepModeTYPE fmi3EnterStepMode;
fmi3TerminateTYPE fmi3Terminate;
fmi3ResetTYPE fmi3Reset;
fmi3GetFloat32TYPE fmi3GetFloat32;
fmi3GetFloat64TYPE fmi3GetFloat64;
fmi3GetInt8TYPE fmi3GetInt8;
fmi3GetUInt8TYPE fmi3GetUInt8;
fmi3GetInt16TYPE fmi3GetInt16;
fmi3GetUInt16TYPE fmi3GetUInt16;
fmi3GetInt32TYPE fmi3GetInt32;
fmi3GetUInt32TYPE fmi3GetUInt32;
fmi3GetInt64TYPE fmi3GetInt64;
fmi3GetUInt64TYPE fmi3GetUInt64;
fmi3GetBooleanTYPE fmi3GetBoolean;
fmi3GetStringTYPE fmi3GetString;
fmi3GetBinaryTYPE fmi3GetBinary;
fmi3GetClockTYPE fmi3GetClock;
fmi3SetFloat32TYPE fmi3SetFloat32;
fmi3SetFloat64TYPE fmi3SetFloat64;
fmi3SetInt8TYPE fmi3SetInt8;
fmi3SetUInt8TYPE fmi3SetUInt8;
fmi3SetInt16TYPE fmi3SetInt16;
fmi3SetUInt16TYPE fmi3SetUInt16;
fmi3SetInt32TYPE fmi3SetInt32;
fmi3SetUInt32TYPE fmi3SetUInt32;
fmi3SetInt64TYPE fmi3SetInt64;
fmi3SetUInt64TYPE fmi3SetUInt64;
fmi3SetBooleanTYPE fmi3SetBoolean;
fmi3SetStringTYPE fmi3SetString;
fmi3SetBinaryTYPE fmi3SetBinary;
fmi3SetClockTYPE fmi3SetClock;
fmi3GetNumberOfVariableDependenciesTYPE fmi3GetNumberOfVariableDependencies;
fmi3GetVariableDependenciesTYPE fmi3GetVariableDependencies;
fmi3GetFMUStateTYPE fmi3GetFMUState;
fmi3SetFMUStateTYPE fmi3SetFMUState;
fmi3FreeFMUStateTYPE fmi3FreeFMUState;
fmi3SerializedFMUStateSizeTYPE fmi3SerializedFMUStateSize;
fmi3SerializeFMUStateTYPE fmi3SerializeFMUState;
fmi3DeserializeFMUStateTYPE fmi3DeserializeFMUState;
fmi3GetDirectionalDerivativeTYPE fmi3GetDirectionalDerivative;
fmi3GetAdjointDerivativeTYPE fmi3GetAdjointDerivative;
fmi3GetOutputDerivativesTYPE fmi3GetOutputDerivatives;
fmi3GetIntervalDecimalTYPE fmi3GetIntervalDecimal;
fmi3GetIntervalFractionTYPE fmi3GetIntervalFraction;
fmi3GetShiftDecimalTYPE fmi3GetShiftDecimal;
fmi3GetShiftFractionTYPE fmi3GetShiftFraction;
fmi3SetIntervalDecimalTYPE fmi3SetIntervalDecimal;
fmi3SetIntervalFractionTYPE fmi3SetIntervalFraction;
fmi3SetShiftDecimalTYPE fmi3SetShiftDecimal;
fmi3SetShiftFractionTYPE fmi3SetShiftFraction;
fmi3EvaluateDiscreteStatesTYPE fmi3EvaluateDiscreteStates;
fmi3UpdateDiscreteStatesTYPE fmi3UpdateDiscreteStates;
fmi3DoStepTYPE fmi3DoStep;
fmi3ActivateModelPartitionTYPE fmi3ActivateModelPartition;
fmi3CompletedIntegratorStepTYPE fmi3CompletedIntegratorStep;
fmi3EnterContinuousTimeModeTYPE fmi3EnterContinuousTimeMode;
fmi3GetContinuousStateDerivativesTYPE fmi3GetContinuousStateDerivatives;
fmi3GetContinuousStatesTYPE fmi3GetContinuousStates;
fmi3GetEventIndicatorsTYPE fmi3GetEventIndicators;
fmi3GetNominalsOfContinuousStatesTYPE fmi3GetNominalsOfContinuousStates;
fmi3GetNumberOfContinuousStatesTYPE fmi3GetNumberOfContinuousStates;
fmi3GetNumberOfEventIndicatorsTYPE fmi3GetNumberOfEventIndicators;
fmi3SetContinuousStatesTYPE fmi3SetContinuousStates;
fmi3SetTimeTYPE fmi3SetTime;

#endif
