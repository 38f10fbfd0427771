/* A flexible body as plain data: its rules, its copy, and the frames that it consists of. */
#ifndef POLHODE_MECHANISM_FLEXIBLE_H
#define POLHODE_MECHANISM_FLEXIBLE_H

#include "mechanism/rules.h"

void poli_flexible_rules(poli_rules *check, const pol_flexible_body *body);

/* A valid body with all that it points to, in one block of memory, which free() releases; NULL
 * without memory.  Its damping, inertia, amplitudes and rates are not NULL. */
pol_flexible_body *poli_flexible_copy(const pol_flexible_body *body);

/* The name of interface k: NAME.INTERFACE, to be freed; NULL without memory. */
char *poli_interface_name(const pol_flexible_body *body, int k);

/* The reference frame (0) or interface number - 1 of a copy as a body at the initial position; the
 * name is left to the caller. */
pol_body poli_flexible_frame(const pol_flexible_body *body, int number);

/* Mass and inertia about the centre of mass of a frame's whole body without deformation; a point
 * given from the frame becomes one from the centre of mass. */
pol_body poli_flexible_rigid(const pol_body *frame, double point[3]);

/* The integral of phi_a phi_b^T, 9 numbers. */
static inline const double *poli_flexible_second(const pol_flexible_body *body, int a, int b)
{
  return body->second + 9 * ((size_t)a * ((size_t)body->num_modes + 1) + (size_t)b);
}

/* The index of the body whose coordinates determine the frame of body `index`: its own, or of an
 * interface that of the reference frame. */
static inline int poli_flexible_parent(const pol_body *body, int index)
{
  return index - body->interface;
}

#endif
