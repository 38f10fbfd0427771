/* What the files of the library share about a pol_dae: evaluation into zeroed arrays, and patterns
 * that are always there. */
#ifndef POLHODE_DAE_DAE_H
#define POLHODE_DAE_DAE_H

#include <polhode/dae.h>

/* Sets what `want` asks for to zero, then calls dae->evaluate.  coupling and constraint are the
 * patterns of the matrices (poli_dae_patterns). */
pol_status poli_dae_evaluate(const pol_dae *dae, const pol_point *at, unsigned want,
                             const pol_terms *out, double *scratch);

/* Puts what made the last evaluation with this scratch fail into diagnostics->where; leaves that as
 * it is if it did not fail, or the model does not say. */
void poli_dae_blame(const pol_dae *dae, const double *scratch, pol_diagnostics *diagnostics);

/* The patterns of a dae, full ones where it has none. */
typedef struct poli_dae_patterns {
  const pol_pattern *coupling, *constraint;
  const pol_pattern *feedback; /* NULL if the dae has none */
  pol_pattern *owned[2];
} poli_dae_patterns;

pol_status poli_dae_patterns_create(poli_dae_patterns *patterns, const pol_dae *dae);
void poli_dae_patterns_free(poli_dae_patterns *patterns);

/* The length of the dae, 1 if it is not known. */
double poli_dae_length(const pol_dae *dae);

/* Whether coordinate i of the factors of R^n is a length; else it counts as a rotation does. */
int poli_dae_is_length(const pol_dae *dae, int i);

/* Whether a constraint belongs to the coordinates themselves. */
int poli_dae_is_internal(const pol_dae *dae, int constraint);

/* Writes the name of an equation (balance and constraint numbering of pol_dae.describe). */
void poli_dae_describe(const pol_dae *dae, int equation, char *text, size_t size);

#endif
