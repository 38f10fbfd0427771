/* An instance of the FMU of a model, for the functions of FMI 2.0 (fmi2.c) and 3.0 (fmi3.c).
 *
 * Value references: 0 is the time, then inputs, parameters and outputs, see io/fmi/plan.h.
 */
#ifndef POLHODE_FMU_INSTANCE_H
#define POLHODE_FMU_INSTANCE_H

#include "io/fmi/plan.h"

/* As fmi2Status and fmi3Status. */
typedef enum poli_fmu_result {
  POLI_FMU_OK = 0,
  POLI_FMU_DISCARD = 2,
  POLI_FMU_ERROR = 3
} poli_fmu_result;

typedef enum poli_fmu_phase {
  POLI_FMU_INSTANTIATED,
  POLI_FMU_INITIALIZING,
  POLI_FMU_STEPPING,
  POLI_FMU_TERMINATED,
  POLI_FMU_FAILED
} poli_fmu_phase;

/* Receives each message, of an error or of the end of the run. */
typedef void poli_fmu_logger(void *user, poli_fmu_result result, const char *message);

typedef struct poli_fmu_instance {
  poli_fmu_logger *logger;
  void *user;
  poli_fmu_plan plan;
  char *text; /* of the model */
  poli_fmu_phase phase;
  double t;  /* of the last communication point */
  int ended; /* the run has ended before the point that the last step was to reach */

  /* What a run starts with; NaN: the value of the model. */
  double stop;
  double *parameters, *inputs;
  int stale; /* 1: the simulation does not start with these, 2: neither does the model */

  pol_model *model;
  int *variables; /* of the inputs */
  pol_simulation *simulation;
  pol_record *record;
  int *channels; /* of the outputs */
  double *row;
  int row_valid;

  /* members for one version of the interface only */
  void *outer;
} poli_fmu_instance;

/* Creates an instance from the files in the folder of resources.  NULL, after a message: the token
 * is another one, a file is missing or not valid, or there is no memory. */
poli_fmu_instance *poli_fmu_create(const char *resources, const char *token,
                                   poli_fmu_logger *logger, void *user);
void poli_fmu_free(poli_fmu_instance *instance);
/* Back to where it was created. */
poli_fmu_result poli_fmu_reset(poli_fmu_instance *instance);

/* Reports a message, as printf would print it, and returns the result. */
poli_fmu_result poli_fmu_report(const poli_fmu_instance *instance, poli_fmu_result result,
                                const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Sets the time span of the run; stop NaN: it has no end that is known. */
poli_fmu_result poli_fmu_span(poli_fmu_instance *instance, double start, double stop);
poli_fmu_result poli_fmu_enter_initialization(poli_fmu_instance *instance);
poli_fmu_result poli_fmu_exit_initialization(poli_fmu_instance *instance);
poli_fmu_result poli_fmu_terminate(poli_fmu_instance *instance);
/* Advances from the communication point t by h.  POLI_FMU_DISCARD: an event or the end has ended
 * the run before, at instance->t. */
poli_fmu_result poli_fmu_step(poli_fmu_instance *instance, double t, double h);

poli_fmu_result poli_fmu_get(poli_fmu_instance *instance, const unsigned int *references,
                             size_t count, double *values);
poli_fmu_result poli_fmu_set(poli_fmu_instance *instance, const unsigned int *references,
                             size_t count, const double *values);

/* Makes model, simulation and record those that start with the present values, where they are not;
 * a message after a failure. */
poli_fmu_result poli_fmu_prepare(poli_fmu_instance *instance);

/* --- state.c ---------------------------------------------------------------------------------- */

/* All of an instance as bytes, which depend on nothing else. */
typedef struct poli_fmu_state {
  size_t size;
  unsigned char bytes[];
} poli_fmu_state;

/* Takes a state: into *state if it is not NULL, after what was there is freed. */
poli_fmu_result poli_fmu_take_state(poli_fmu_instance *instance, poli_fmu_state **state);
poli_fmu_result poli_fmu_restore_state(poli_fmu_instance *instance, const poli_fmu_state *state);
poli_fmu_result poli_fmu_copy_state(const poli_fmu_instance *instance, const void *bytes,
                                    size_t size, poli_fmu_state **state);

#endif
