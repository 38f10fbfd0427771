/* A family of methods: how integrator.c drives the file that implements it. */
#ifndef POLHODE_INTEGRATORS_FAMILY_H
#define POLHODE_INTEGRATORS_FAMILY_H

#include <polhode/integrator.h>

#include "dae/independence.h"
#include "dae/least_norm.h"

typedef struct pol_family pol_family;

/* One row of the method table: what a user reads, who implements it, and the data that sets it
 * apart. */
typedef struct pol_method_entry {
  pol_method method;
  const pol_family *family;
  const void *variant;
} pol_method_entry;

struct pol_integrator {
  const pol_dae *dae;
  pol_options options;
  const pol_method_entry *method;
  pol_assembler *assembler;
  void *data;                     /* of the family */
  pol_independence *independence; /* of all constraints, where some are redundant, else NULL */
  unsigned char *chosen;          /* m: which of them may be dropped instead */
  pol_least_norm *least_norm;     /* where redundant constraints share reactions, else NULL */
  double *shared;                 /* m: the multipliers then */
  pol_state state;
  double *history; /* what state.history points to; NULL if the dae keeps none */
  pol_counts counts;
  pol_diagnostics diagnostics;
  /* time is counted from the last change of step size, so that equal steps do not add up round-off
   */
  double t_reference, h;
  long steps_since;
};

struct pol_family {
  /* Options that only this family can judge; the rule goes to message. */
  pol_status (*validate)(const pol_options *options, const void *variant, char *message,
                         size_t size);
  /* Writes to message, which is empty, why options are unwise though allowed. */
  void (*warn)(const pol_options *options, const void *variant, char *message, size_t size);
  /* Whether the options fit the group of the dae; the reason goes to message. */
  pol_status (*supports)(const pol_dae *dae, const pol_options *options, const void *variant,
                         char *message, size_t size);
  pol_status (*create)(pol_integrator *integrator);
  void (*destroy)(void *data);
  /* Takes over consistent values at integrator->state.t; sets the rest of integrator->state only on
   * success. */
  pol_status (*start)(pol_integrator *integrator, const double *q, const double *v,
                      const double *vd, const double *lambda);
  /* Optional: other constraints are dropped from now on; what was kept for them is of no use. */
  void (*forget)(void *data);
  /* One step to time t; sets integrator->state only on success. */
  pol_status (*step)(pol_integrator *integrator, double t, double h);
};

const pol_method_entry *pol_method_entry_find(const char *name);

extern const pol_family pol_generalized_alpha, pol_ggl_family;

#endif
