/* How independent the constraints of a dae are at a point, by a rank-revealing QR decomposition of
 * L^-1 B^T, M = L L^T, one column for each constraint.  The internal constraints of the coordinates
 * (pol_dae) come first; of the others the part perpendicular to these counts, scaled to length one.
 * The result is the same in all coordinates. */
#ifndef POLHODE_DAE_INDEPENDENCE_H
#define POLHODE_DAE_INDEPENDENCE_H

#include "dae/dae.h"

typedef struct poli_independence poli_independence;

/* Of all constraints but those with dropped[i] != 0 (m flags; may be NULL).  Holds a full matrix of
 * nv x m numbers; the dae must outlive it. */
pol_status poli_independence_create(poli_independence **independence, const pol_dae *dae,
                                    const unsigned char *dropped);
void poli_independence_free(poli_independence **independence);
/* Takes other constraints for dropped, as many as before. */
void poli_independence_drop(poli_independence *independence, const unsigned char *dropped);

/* *distance: of the most dependent constraint from the others, 0 (dependent) to 1; *constraint: its
 * index, -1 if there is none.  Allocates nothing. */
pol_status poli_independence_measure(poli_independence *independence, const pol_point *at,
                                     double *distance, int *constraint);

/* dependent[i] = 1 for each of the m constraints that others imply, to round-off; with count >= 0
 * for that many, the least independent ones, since at positions that satisfy the constraints only
 * up to the error of a method no constraint is implied exactly. */
pol_status poli_independence_find(poli_independence *independence, const pol_point *at, int count,
                                  unsigned char *dependent);
/* The same for all whose distance from others is at most a given one. */
pol_status poli_independence_find_near(poli_independence *independence, const pol_point *at,
                                       double distance, unsigned char *dependent);

#endif
