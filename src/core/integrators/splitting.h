/* The composed steps of splitting.c, for those who choose their size. */
#ifndef POLHODE_INTEGRATORS_SPLITTING_H
#define POLHODE_INTEGRATORS_SPLITTING_H

#include <stddef.h>

#include <polhode/integrator.h>

typedef struct poli_splitting_state poli_splitting_state;

/* All substeps of one composed step from t0 to t1, which may lie before t0.  After a failure the
 * running state is somewhere in between: restore it. */
pol_status poli_splitting_advance(poli_splitting_state *s, double t0, double t1,
                                  pol_diagnostics *diagnostics);

/* Everything that a later step depends on, as poli_splitting_size numbers, to the last bit. */
size_t poli_splitting_size(const poli_splitting_state *s);
void poli_splitting_save(const poli_splitting_state *s, double *to);
void poli_splitting_restore(poli_splitting_state *s, const double *from);

/* q, v, v', lambda at time t that belong to the running state, which stays as it is; velocities are
 * on the constraints.  shown has nq + 2 nv + m numbers. */
pol_status poli_splitting_show(poli_splitting_state *s, double t, double *shown);

/* q of the running state. */
const double *poli_splitting_position(const poli_splitting_state *s);

#endif
