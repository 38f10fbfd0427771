/* Shared by the files of finite elements. */
#ifndef POLHODE_FEM_FEM_H
#define POLHODE_FEM_FEM_H

#include <polhode/reduction.h>

/* Number of freedoms. */
static inline int poli_fe_size(const pol_finite_elements *elements)
{
  return elements->freedoms * elements->num_nodes;
}

/* The displacement of a rigid motion about `center` at node `node`: a translation for direction 0
 * to 2, a rotation about an axis for 3 to 5. */
void poli_fe_rigid(const pol_finite_elements *elements, int node, const double center[3],
                   int direction, double *u);

/* Integrals over the mass (integrals.c): those of body->first and body->second, whose first field
 * is X from `center`, the others the num_modes columns of modes, `rows` numbers each, of which the
 * first are the freedoms.  J is the inertia matrix of all freedoms about the centre.  Returns the
 * anisotropy of the mass matrix (pol_reduced_body), or -1 without memory. */
double poli_fe_integrals(const pol_finite_elements *elements, const double center[3],
                         const double J[9], int num_modes, const double *modes, int rows,
                         double *first, double *second);

#endif
