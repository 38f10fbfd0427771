/* The coordinates that a joint leaves free, as functions of the frames of its two bodies.
 *
 * They are made of rows c, s of the joint kernel (joint.h).  With x1, y1, z1 the axes of the first
 * marker, x2, y2, z2 those of the second and p from the first to the second marker:
 *
 *   displacement  d = a . p                     a an axis of the first marker
 *   angle         theta = atan2(s, c)           in (-pi, pi], defined where c, s are not both zero
 *
 *   revolute, cylindrical,         about z:       c = x1 . x2,  s = y1 . x2
 *   planar, parallel
 *   universal, first               about x of 1:  c = y1 . y2,  s = z1 . y2
 *   universal, second              about y of 2:  c = x1 . x2,  s = x1 . z2
 *   prismatic, cylindrical,        along z:       a = z1
 *   point-on-line
 *   planar, point-in-plane         along x and y: a = x1, a = y1
 *   parallel                       all three:     a = x1, a = y1, a = z1
 *
 * so that the axes of a universal joint's second marker, seen from the first, are those of the
 * rotation about x by the first angle, then about the new y by the second.  A generic joint has the
 * displacements that it does not lock, and if it locks all but one rotation the angle about that
 * axis, with x, y, z in turn: about x  c = y1 . y2, s = z1 . y2; about y  c = z1 . z2, s = x1 . z2.
 *
 * Two or three rotations that are free together have no coordinate of their own: which angles
 * describe them is a choice of an order of axes (as the universal joint's two axes make it), and
 * each choice is singular somewhere.  So a spherical or constant-velocity joint has none; nor has a
 * distance, or a body that rolls, for whose contact point turns of the body and ways in the plane
 * are one motion.
 *
 * Variations and velocities are those of joint.h: (dphi1, dx1, dphi2, dx2), (w1, u1, w2, u2).
 */
#ifndef POLHODE_MECHANISM_COORDINATE_H
#define POLHODE_MECHANISM_COORDINATE_H

#include "mechanism/force.h"
#include "mechanism/joint_law.h"

/* The axis 0, 1 or 2 about which a joint with the coordinate POL_DRIVE_ROTATION turns. */
int poli_joint_turning_axis(const pol_joint *joint);

/* A coordinate ready for evaluation. */
typedef struct poli_coordinate_kernel {
  int body[2]; /* POL_GROUND or an index */
  int angular;
  poli_joint_kernel rows; /* d, or c and s */
} poli_coordinate_kernel;

/* `index` is one of the joint's coordinates. */
void poli_coordinate_kernel_setup(poli_coordinate_kernel *kernel, const pol_mechanism *mechanism,
                                  int joint, int index);

/* The same of a joint that is not in the mechanism yet, but its markers are. */
void poli_coordinate_kernel_place(poli_coordinate_kernel *kernel, const pol_mechanism *mechanism,
                                  const pol_joint *joint, int index);

/* The value, angles in (-pi, pi]; 0 where an angle is not defined. */
double poli_coordinate_value(const poli_coordinate_kernel *kernel, const poli_frame *first,
                             const poli_frame *second);

/* An angle from its rows (c, s). */
double poli_angle_of_rows(const double row[2]);
/* The same from its rows d, or (c, s). */
double poli_coordinate_of_rows(const poli_coordinate_kernel *kernel, const double row[2]);

/* The angle that differs from this one by whole turns and is nearest to the remembered one. */
double poli_angle_unwrap(double angle, double remembered);

/* Each gives POL_RETRY, with zeros, where an angle is not defined. */

/* First and second derivatives of the coordinate by its rows d, or (c, s). */
pol_status poli_coordinate_chain(const poli_coordinate_kernel *kernel, const double row[2],
                                 double slope[2], double bend[2][2]);
/* The rate of the coordinate. */
pol_status poli_coordinate_rate(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                const poli_frame *second, double *rate);
/* Both at once: poli_coordinate_value() and poli_coordinate_rate(). */
pol_status poli_coordinate_motion(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                  const poli_frame *second, double *value, double *rate);
/* Its gradient g: the rate is g . (w1, u1, w2, u2). */
pol_status poli_coordinate_gradient(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                    const poli_frame *second, double gradient[12]);
/* Second derivatives H, overwritten: row i is the derivative of gradient[i] by the variations.  Not
 * symmetric, as variations of a rotation do not commute.  The rate's derivative at constant
 * velocities is H^T (w1, u1, w2, u2). */
pol_status poli_coordinate_second(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                  const poli_frame *second, double (*H)[12]);

/* The velocities of two frames, (w1, u1, w2, u2). */
void poli_stack_velocities(const poli_frame *first, const poli_frame *second, double y[12]);

/* The coupling kernel: one row that ties two joint coordinates to each other,
 *
 *     phi = f1 (c1 - r1) + f2 (c2 - r2),
 *
 * a gear between two rotations, a rack and pinion between a rotation and a translation, a screw
 * between those of one joint.  An angle counts its turns: its deviation c - r is known up to whole
 * turns only, and the one that is meant is next to the deviation of the last accepted step, which
 * the model remembers.  So phi is smooth and single-valued around the solution after any number of
 * turns, as long as no joint turns by half a turn in a step.
 *
 * The row is a sum of one term for each joint, so that its terms in the equations are those of the
 * two coordinates, each on the two bodies of its joint. */
typedef struct poli_coupling_kernel {
  const pol_coupling *coupling;
  poli_coordinate_kernel end[2];
} poli_coupling_kernel;

/* The mechanism must outlive the kernel. */
void poli_coupling_kernel_setup(poli_coupling_kernel *kernel, const pol_mechanism *mechanism,
                                int coupling);

/* c - r of one end, `first` and `second` being the frames of its joint's bodies; of an angle the
 * value next to the one remembered. */
double poli_coupling_deviation(const poli_coupling_kernel *kernel, int end, const poli_frame *first,
                               const poli_frame *second, double remembered);

/* An element on a coordinate theta that a joint leaves free, an angle or a displacement: a spring
 * with damper and actuator, a stop, or friction.  T of its law (joint_law.h) is the torque about or
 * force along the joint's axis on the second body, and the opposite acts on the first.  With the
 * gradient g of theta the wrenches on both bodies are T g, by the power T theta' = T g . (w1, u1,
 * w2, u2).
 *
 * An angle counts full turns: it is the one nearest to a remembered angle. */
typedef struct poli_joint_spring {
  const pol_force *force; /* of the mechanism, of a type on joints */
  poli_coordinate_kernel coordinate;
  poli_joint_load load; /* of friction */
} poli_joint_spring;

void poli_joint_spring_setup(poli_joint_spring *spring, const pol_mechanism *mechanism, int force);

/* Its law, the wrenches on both bodies and their derivatives, as in force.h; by_load are the
 * derivatives of the wrenches by the load.  POL_RETRY, with zeros, where an angle is not defined.
 */
pol_status poli_joint_spring_law(const poli_joint_spring *spring, const poli_frame *first,
                                 const poli_frame *second, poli_joint_memory memory,
                                 poli_joint_law *law);
pol_status poli_joint_spring_wrenches(const poli_joint_spring *spring, const poli_frame *first,
                                      const poli_frame *second, poli_joint_memory memory,
                                      double wrench[2][6]);
pol_status poli_joint_spring_derivatives(const poli_joint_spring *spring, const poli_frame *first,
                                         const poli_frame *second, poli_joint_memory memory,
                                         poli_force_blocks *blocks);
pol_status poli_joint_spring_by_load(const poli_joint_spring *spring, const poli_frame *first,
                                     const poli_frame *second, poli_joint_memory memory,
                                     double by_load[12]);

/* The energy stored in the spring. */
double poli_joint_spring_potential(const poli_joint_spring *spring, const poli_frame *first,
                                   const poli_frame *second, poli_joint_memory memory);

#endif
