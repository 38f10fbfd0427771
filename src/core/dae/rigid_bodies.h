/* What splitting methods know of a model beyond its pol_dae: which coordinates are rigid bodies and
 * their inertia, so that their free motion can be calculated exactly. */
#ifndef POLHODE_DAE_RIGID_BODIES_H
#define POLHODE_DAE_RIGID_BODIES_H

#include "lie/free_motion.h"

/* A rigid body has a quaternion at q and a position behind it, its angular velocity in body axes at
 * v and its velocity behind that; a point mass has only the latter.  First-order states count as
 * points of mass 1 with num_axes numbers. */
typedef struct poli_rigid_body {
  int q, v, num_axes;
  int is_point;
  double mass;
  double inertia[9], inverse[9]; /* body axes */
  double principal[4];           /* principal axes to body axes */
  poli_free_body free;
} poli_rigid_body;

typedef struct poli_rigid_bodies {
  int count;
  poli_rigid_body *items;
  int forces_read_velocities;
} poli_rigid_bodies;

#endif
