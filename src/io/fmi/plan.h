/* What an FMU of polhode contains beside the model, and the model that it simulates.
 *
 * In resources/ of the archive, model.json is the text of the model with all that it includes, and
 * fmu.json the plan: the values of the command line, and the names of inputs, parameters and
 * outputs in the order of their value references,
 *
 *     0                time
 *     1 ..             inputs, then parameters, then outputs
 */
#ifndef POLHODE_IO_FMI_PLAN_H
#define POLHODE_IO_FMI_PLAN_H

#include <polhode/model.h>

/* Names, all owned. */
typedef struct poli_fmu_names {
  int count;
  char **items;
} poli_fmu_names;

typedef struct poli_fmu_plan {
  char *token;              /* guid or instantiationToken */
  poli_fmu_names overrides; /* "key.path=value", as for pol_model_read_text */
  poli_fmu_names inputs;    /* variables that are inputs, components of forces, actuators */
  poli_fmu_names parameters;
  poli_fmu_names outputs; /* channels of the record */
} poli_fmu_plan;

/* Appends a copy of a name.  POL_OK or POL_NO_MEMORY. */
pol_status poli_fmu_names_add(poli_fmu_names *names, const char *name);
void poli_fmu_names_clear(poli_fmu_names *names);
int poli_fmu_names_find(const poli_fmu_names *names, const char *name); /* -1: it has none */

void poli_fmu_plan_clear(poli_fmu_plan *plan);
/* The plan as JSON, which the caller frees; NULL without memory. */
char *poli_fmu_plan_text(const poli_fmu_plan *plan);
/* Reads a plan that is empty.  POL_BAD_ARGUMENT: this is no plan. */
pol_status poli_fmu_plan_parse(poli_fmu_plan *plan, const char *text);

/* Reads the model of a plan.  parameters: values in the order of the plan; NaN, or NULL for all:
 * that of the model.  Inputs that are components of forces become forces of their own, on the same
 * place, which are added to those of the model; variables[i] is the index of the variable of input
 * i. errors (an empty list) has what is wrong, with paths as in the model, or "inputs". */
pol_status poli_fmu_read_model(const poli_fmu_plan *plan, const char *text,
                               const double *parameters, pol_model **model, int *variables,
                               pol_errors *errors);

/* The unit of an input: that of its variable, or "" if it has none. */
const char *poli_fmu_input_unit(const pol_model *model, int variable);

#endif
