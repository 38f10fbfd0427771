/* The drive kernel: one row on the markers of a joint, in the form of the joint kernel (joint.h)
 * with an axis and an offset that move,
 *
 *     phi = a(t) . z - c(t).
 *
 *   translation  z the second marker as the first body sees it, a = z axis of the first marker,
 *                c = a . (first marker) + f(t): phi = distance along z - f
 *   rotation     z the x axis of the second marker, a = -sin f x + cos f y with the axes of the
 *                first marker, c = 0: phi = sin(theta - f) for any number of turns
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

typedef struct pol_drive_kernel {
  const pol_drive *drive;
  pol_joint_kernel row; /* one view of one row, its axis and offset those of f = 0 */
  double x[3], y[3];    /* rotation: of the first marker, in axes of the first body */
} pol_drive_kernel;

/* The mechanism must outlive the kernel. */
void pol_drive_kernel_setup(pol_drive_kernel *kernel, const pol_mechanism *mechanism, int drive);

/* kernels[k]: with the k-th derivatives of a and c by time, k = 0 .. count - 1, count <= 3. */
void pol_drive_kernels_at(const pol_drive_kernel *kernel, double t, int count,
                          pol_joint_kernel *kernels);

/* cos(theta - f) of a rotation: 1 where it should be, -1 on the wrong branch; 1 of a translation.
 */
double pol_drive_branch(const pol_drive_kernel *kernel, double t, const pol_frame *first,
                        const pol_frame *second);

#endif
