/* How independent the constraints of a dae are at a point.  They are compared in the metric of
 * M^-1, as vectors of length one; of those that act on coordinates with internal constraints
 * (pol_dae) the part perpendicular to these counts.  The result is the same in all coordinates.
 *
 * Only constraints that close loops can depend on others.  So bodies that hang on the rest by a
 * single joint are set aside, with its rows, as long as there are any.  What is left falls into
 * components that have no body in common; the ground does not connect.  Small components are
 * decided by a rank-revealing QR decomposition (linalg/rank.h), large ones and all distances by a
 * sparse factorisation (linalg/gram.h).  Memory and time are linear in the size of mechanisms
 * whose loops are small, and those of a sparse factorisation for others. */
#ifndef POLHODE_DAE_INDEPENDENCE_H
#define POLHODE_DAE_INDEPENDENCE_H

#include "base/archive.h"
#include "dae/dae.h"

typedef struct poli_independence poli_independence;

/* The dae must outlive it. */
pol_status poli_independence_create(poli_independence **independence, const pol_dae *dae);
void poli_independence_free(poli_independence **independence);
/* Whether memory and time are as above: the model says which velocities are a body.  Else
 * velocities that are coupled with each other count as one body, for which a full matrix is kept.
 */
int poli_independence_is_sparse(const pol_dae *dae);

/* Components with more rows are decided by the sparse factorisation; 200 unless fewer are set
 * before the first use.  For tests. */
void poli_independence_set_dense(poli_independence *independence, int most_rows);

/* Finds the components at a point, unless they have been found before; so does the first of the
 * calls below.  Nothing is allocated after that, except where constraints of a large component are
 * chosen close to a singular position. */
pol_status poli_independence_analyse(poli_independence *independence, const pol_point *at);
int poli_independence_num_components(const poli_independence *independence);
/* The component of a mass block (dae/extension.h; a body); -1 if it is in none. */
int poli_independence_component(const poli_independence *independence, int block);
/* Numbers in the sparse factors, and multiplications of a factorisation. */
void poli_independence_cost(const poli_independence *independence, double *size,
                            double *operations);

/* Lists what measurements leave behind. */
void poli_independence_archive(poli_independence *independence, poli_archive *archive);

/* dependent[i] = 1 for each of the m constraints that others imply, to round-off.  With `like` (m
 * flags; may be NULL) for as many in each component as it has, the least independent ones, since
 * at positions that satisfy the constraints only up to the error of a method no constraint is
 * implied exactly.  With component >= 0 only there; dependent[i] of the others stay. */
pol_status poli_independence_find(poli_independence *independence, const pol_point *at,
                                  const unsigned char *like, int component,
                                  unsigned char *dependent);
/* The same for all whose distance from others is at most a given one. */
pol_status poli_independence_find_near(poli_independence *independence, const pol_point *at,
                                       double distance, unsigned char *dependent);

/* For each component with wanted[c] != 0 (NULL: all): distance[c] of the most dependent constraint
 * from others, 0 (dependent) to 1, without those with dropped[i] != 0 (m flags), and constraint[c],
 * its index, -1 if there is none.  fall[c] (NULL: not needed): the largest fall of a distance since
 * the last call that asked for it, relative to what it is now; negative if none has fallen, and
 * HUGE_VAL at first or where d is zero. */
pol_status poli_independence_measure(poli_independence *independence, const pol_point *at,
                                     const unsigned char *dropped, const unsigned char *wanted,
                                     double *distance, int *constraint, double *fall);

#endif
