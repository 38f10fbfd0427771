/* A loaded FMU and its functions; shared by instance.c and calls.c. */
#ifndef POLHODE_IO_FMI_CALLS_H
#define POLHODE_IO_FMI_CALLS_H

#include "io/fmi/import.h"

/* The functions that are called; those of types come behind them, in pairs: get and set. */
enum {
  POLI_CALL_INSTANTIATE,
  POLI_CALL_FREE,
  POLI_CALL_SETUP, /* FMI 2.0 only */
  POLI_CALL_ENTER,
  POLI_CALL_EXIT,
  POLI_CALL_TERMINATE,
  POLI_CALL_STEP,
  POLI_CALL_BOOLEAN_STATUS, /* FMI 2.0 only; may be missing */
  POLI_CALL_GET_STATE,
  POLI_CALL_SET_STATE,
  POLI_CALL_FREE_STATE,
  POLI_CALL_STATE_SIZE,
  POLI_CALL_SERIALIZE,
  POLI_CALL_DESERIALIZE,
  POLI_CALL_TYPES,
  POLI_NUM_CALLS = POLI_CALL_TYPES + 2 * POLI_FMU_NUM_TYPES
};

typedef void poli_fmu_function(void);

struct poli_fmu_import {
  int version;
  char *file, *name, *token; /* of the archive and the instance */
  int once;                  /* it is in the list of those that may exist once */
  char *folder;              /* unpacked; NULL: there is none */
  void *library;
  poli_fmu_function *functions[POLI_NUM_CALLS];
  void *instance;
  int can_save;
  int is_started;  /* it can be terminated */
  int is_dead;     /* no function may be called any more */
  void *callbacks; /* of FMI 2.0 */
  char log[200];   /* warnings and errors since the last call began */
};

/* The name of a function, "fmi2DoStep"; "" if this version has none. */
void poli_fmu_function_name(int version, int call, char name[64]);
/* Creates the instance, with this folder of resources.  POL_BAD_ARGUMENT: it refuses. */
pol_status poli_fmu_instantiate(poli_fmu_import *fmu, const char *resources);
/* Ends an instance that exists. */
void poli_fmu_finish(poli_fmu_import *fmu);

#endif
