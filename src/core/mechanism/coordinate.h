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

#include "mechanism/joint.h"

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

/* The value, angles in (-pi, pi]; 0 where an angle is not defined. */
double poli_coordinate_value(const poli_coordinate_kernel *kernel, const poli_frame *first,
                             const poli_frame *second);

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

#endif
