/* The drive kernel: one row on two markers, those of a joint or others, in the form of the joint
 * kernel (joint.h) with an axis and an offset that move,
 *
 *     phi = a(t) . z - c(t).
 *
 *   translation  z the second marker as the first body sees it, a = an axis of the first marker,
 *                c = a . (first marker) + f(t): phi = distance along the axis - f
 *   rotation     z an axis of the second marker in the plane of two axes X, Y of the first,
 *                a = -sin f X + cos f Y, c = 0: phi = sin(theta - f) for any number of turns.
 *                About z:  X, Y = x1, y1 and z = x2; about x or y of a generic joint in turn.
 *                Universal joint, about x1:  X, Y = y1, z1 and z = y2; about y2, with the bodies
 *                in each other's place:  X, Y = x2, z2 and z = x1.
 *
 * Derivatives of a and c by time give kernels of the same form, so that all terms follow from those
 * of a joint: with the subscripts 0, 1, 2 for these kernels
 *
 *     velocity     = velocity_0 + position_1
 *     acceleration = acceleration_0 + 2 velocity_1 + position_2
 *     curvature    = curvature_0 + jacobian_1
 *
 * and B, reaction and stiffness are those of kernel 0.
 */
#ifndef POLHODE_MECHANISM_DRIVE_H
#define POLHODE_MECHANISM_DRIVE_H

#include "mechanism/joint.h"

typedef struct poli_drive_kernel {
  const pol_drive *drive;
  poli_joint_kernel row; /* one view of one row, its axis and offset those of f = 0 */
  double x[3], y[3];     /* rotation: X and Y, in axes of the first body of the row */
} poli_drive_kernel;

/* The mechanism must outlive the kernel. */
void poli_drive_kernel_setup(poli_drive_kernel *kernel, const pol_mechanism *mechanism, int drive);

/* kernels[k]: with the k-th derivatives of a and c by time, k = 0 .. count - 1, count <= 3. */
void poli_drive_kernels_at(const poli_drive_kernel *kernel, double t, int count,
                           poli_joint_kernel *kernels);

/* cos(theta - f) of a rotation: 1 where it should be, -1 on the wrong branch; 1 of a translation.
 */
double poli_drive_branch(const poli_drive_kernel *kernel, double t, const poli_frame *first,
                         const poli_frame *second);

#endif
