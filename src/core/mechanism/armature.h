/* The reflected inertia J of a rotor on a joint coordinate c (pol_joint_axis.armature): the kinetic
 * energy J c'^2 / 2, so that the balance has the wrenches J c'' g with the gradient g of c.
 *
 *   angle         c' = z2 . w2 - z1 . w1 where the joint keeps both axes parallel, with the axes z
 *                 in body axes: g is constant, and c'' is linear in the accelerations
 *   displacement  c = U . y - offset,  U = R1 a,  y = x2 + R2 s - x1, all of them moving
 *
 * The rotor spins with the coordinate alone: it has no gyroscopic terms and no weight. */
#ifndef POLHODE_MECHANISM_ARMATURE_H
#define POLHODE_MECHANISM_ARMATURE_H

#include "mechanism/coordinate.h"

typedef struct poli_armature {
  double inertia;
  poli_coordinate_kernel coordinate;
  double constant[12]; /* g of an angle */
} poli_armature;

void poli_armature_setup(poli_armature *armature, const pol_mechanism *mechanism, int joint,
                         int index);

/* g, and c' */
double poli_armature_rate(const poli_armature *armature, const poli_frame *first,
                          const poli_frame *second, double g[12]);

/* c'': the part with the coordinates' accelerations (wd, ud) and the rest. */
void poli_armature_acceleration(const poli_armature *armature, const poli_frame *first,
                                const poli_frame *second, double *linear, double *rest);

/* Derivatives of c'' by the variations and by the velocities of the frames, and of g (H). */
void poli_armature_derivatives(const poli_armature *armature, const poli_frame *first,
                               const poli_frame *second, double by_position[12],
                               double by_velocity[12], double (*H)[12]);

#endif
