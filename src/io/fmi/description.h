/* The description of an FMU that is to be imported: modelDescription.xml. */
#ifndef POLHODE_IO_FMI_DESCRIPTION_H
#define POLHODE_IO_FMI_DESCRIPTION_H

#include <stddef.h>

#include <polhode/status.h>

/* Types of variables; those of FMI 2.0 are the first of them, Real is POLI_FMU_FLOAT64, Integer and
 * Enumeration are POLI_FMU_INT32. */
typedef enum poli_fmu_type {
  POLI_FMU_FLOAT64,
  POLI_FMU_INT32,
  POLI_FMU_BOOLEAN,
  POLI_FMU_FLOAT32,
  POLI_FMU_INT8,
  POLI_FMU_UINT8,
  POLI_FMU_INT16,
  POLI_FMU_UINT16,
  POLI_FMU_UINT32,
  POLI_FMU_INT64, /* Enumeration of FMI 3.0, too */
  POLI_FMU_UINT64,
  POLI_FMU_NUM_TYPES,
  POLI_FMU_NO_NUMBER = POLI_FMU_NUM_TYPES /* String, Binary, Clock */
} poli_fmu_type;

typedef struct poli_fmu_variable {
  char *name, *type_name; /* "Real" */
  char *causality;        /* "input"; "local" if it is not given */
  unsigned int reference;
  poli_fmu_type type;
  int can_start; /* its start value may be set */
  int is_array;
} poli_fmu_variable;

/* Initialise it with zeros. */
typedef struct poli_fmu_description {
  int version; /* 2 or 3 */
  char *token; /* guid or instantiationToken */
  char *identifier;
  int once;                       /* canBeInstantiatedOnlyOncePerProcess */
  int get_state, serialize_state; /* canGetAndSetFMUstate, canSerializeFMUstate */
  int needs_tool;                 /* needsExecutionTool */
  int count;
  poli_fmu_variable *variables;
  char reason[240]; /* why it cannot be used, a phrase */
} poli_fmu_description;

/* Reads a description of FMI 2.0 or 3.0 for co-simulation.  No entity is expanded and no other file
 * read.  POL_BAD_ARGUMENT: it cannot be used, see reason. */
pol_status poli_fmu_read_description(poli_fmu_description *description, const char *text,
                                     size_t size);
void poli_fmu_description_free(poli_fmu_description *description);
/* The index of a variable, or -1. */
int poli_fmu_find(const poli_fmu_description *description, const char *name);

#endif
