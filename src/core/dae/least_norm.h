/* The multipliers of least norm among all that exert the same reaction: what constraints that
 * others imply leave open. */
#ifndef POLHODE_DAE_LEAST_NORM_H
#define POLHODE_DAE_LEAST_NORM_H

#include "base/archive.h"
#include "dae/dae.h"

typedef struct poli_least_norm poli_least_norm;

/* Analyses the pattern and allocates all workspace; the dae must outlive it. */
pol_status poli_least_norm_create(poli_least_norm **least, const pol_dae *dae,
                                  pol_solver_kind solver);
void poli_least_norm_free(poli_least_norm **least);

/* Replaces lambda (m) by the vector with the same B^T lambda at a point and the least Euclidean
 * norm of all multipliers but those of the coordinates' internal constraints, which are not forces
 * of the model; so it is the same in all coordinates. */
pol_status poli_least_norm_apply(poli_least_norm *least, const pol_point *at, double *lambda);

/* Lists the pivots of its matrix. */
void poli_least_norm_archive(poli_least_norm *least, poli_archive *archive);

#endif
