/* A spring, damper and actuator on a coordinate theta that a joint leaves free (coordinate.h), an
 * angle or a displacement: the torque about or force along the joint's axis on the second body is
 *
 *     T = -(k (theta - rest) + c theta' - a),
 *
 * and the opposite acts on the first.  With the gradient g of theta the wrenches on both bodies are
 * T g, by the power T theta' = T g . (w1, u1, w2, u2).
 *
 * An angle counts full turns: it is the one nearest to a remembered angle.
 */
#ifndef POLHODE_MECHANISM_JOINT_SPRING_H
#define POLHODE_MECHANISM_JOINT_SPRING_H

#include "mechanism/coordinate.h"
#include "mechanism/force.h"

typedef struct poli_joint_spring {
  const pol_force *force; /* of the mechanism, of type POL_JOINT_SPRING */
  poli_coordinate_kernel coordinate;
} poli_joint_spring;

void poli_joint_spring_setup(poli_joint_spring *spring, const pol_mechanism *mechanism, int force);

/* T, the wrenches on both bodies and their derivatives, as in force.h; `remembered` is an angle
 * less than half a turn from the present one, and not read for a displacement.  POL_RETRY, with
 * zeros, where an angle is not defined. */
pol_status poli_joint_spring_effort(const poli_joint_spring *spring, const poli_frame *first,
                                    const poli_frame *second, double remembered, double *T);
pol_status poli_joint_spring_wrenches(const poli_joint_spring *spring, const poli_frame *first,
                                      const poli_frame *second, double remembered,
                                      double wrench[2][6]);
pol_status poli_joint_spring_derivatives(const poli_joint_spring *spring, const poli_frame *first,
                                         const poli_frame *second, double remembered,
                                         poli_force_blocks *blocks);

/* The energy stored in the spring. */
double poli_joint_spring_potential(const poli_joint_spring *spring, const poli_frame *first,
                                   const poli_frame *second, double remembered);

#endif
