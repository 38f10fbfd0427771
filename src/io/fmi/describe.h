/* The file modelDescription.xml of an FMU. */
#ifndef POLHODE_IO_FMI_DESCRIBE_H
#define POLHODE_IO_FMI_DESCRIBE_H

#include "io/fmi/plan.h"

/* The base name of the shared object. */
#define POLI_FMU_IDENTIFIER "polhode_fmu"

/* What the description is made from. */
typedef struct poli_fmu_subject {
  const poli_fmu_plan *plan;
  const pol_model *model;
  const pol_record *record; /* of a simulation at its start */
  const int *variables;     /* of the inputs */
  const int *channels;      /* of the outputs */
} poli_fmu_subject;

/* The description by FMI `version`, 2 or 3; the caller frees it.  NULL without memory. */
char *poli_fmu_describe(const poli_fmu_subject *subject, int version);

#endif
