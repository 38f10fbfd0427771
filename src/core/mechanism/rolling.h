/* Rolling without slipping: what the turning of the contact point adds to the joint kernel.
 *
 * A sphere about the second marker, or the rim of a thin disk whose axis is z of the second marker,
 * touches the xy plane of the first marker.  With z the centre as the first body sees it, omega the
 * angular velocity of the second body relative to the first and e the direction from the centre to
 * the contact point, both in axes of the first body, the contact point is z + r e and its material
 * point of the second body moves, seen from the first, with z' + r omega x e.  The rows are
 *
 *     phi   = n . (z + r e) - offset = 0             height above the plane, n its normal
 *     A_k v = t_k . (z' + r omega x e) = 0           no slip along t = x, y of the first marker
 *
 * and phi' has the form of the other two with t = n, since the contact point of a rim moves along
 * it.  For a sphere e = -n.  For a disk with the axis a, as the first body sees it,
 *
 *     e = (c a - n) / s,     c = n . a,   s = |n - c a|,
 *
 * the direction to the lowest point of the rim; there is none where the disk lies flat, s = 0.
 *
 * joint.c has the terms with z (three locked translations along n, x, y); the functions here add
 * those with e to its rows.
 */
#ifndef POLHODE_MECHANISM_ROLLING_H
#define POLHODE_MECHANISM_ROLLING_H

#include "mechanism/joint.h"

/* s, the sine of the angle between a disk and its plane; 1 for a sphere.  Below
 * POLI_ROLLING_FLAT the disk counts as lying flat and nothing else here may be called. */
double poli_rolling_tilt(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second);
#define POLI_ROLLING_FLAT 0.01 /* half a degree */

/* r n . e */
double poli_rolling_height(const poli_joint_kernel *kernel, const poli_frame *first,
                           const poli_frame *second);

/* Each adds to what the functions of the same name in joint.h have of the three rows. */
void poli_rolling_add_velocity(const poli_joint_kernel *kernel, const poli_frame *first,
                               const poli_frame *second, double phi_dot[3]);
void poli_rolling_add_acceleration(const poli_joint_kernel *kernel, const poli_frame *first,
                                   const poli_frame *second, double phi_ddot[3]);
void poli_rolling_add_reaction(const poli_joint_kernel *kernel, const poli_frame *first,
                               const poli_frame *second, const double lambda[3], double wrench1[6],
                               double wrench2[6]);
void poli_rolling_add_jacobian(const poli_joint_kernel *kernel, const poli_frame *first,
                               const poli_frame *second, double (*B)[12]);
void poli_rolling_add_curvature(const poli_joint_kernel *kernel, const poli_frame *first,
                                const poli_frame *second, double (*Z)[12]);
void poli_rolling_add_stiffness(const poli_joint_kernel *kernel, const poli_frame *first,
                                const poli_frame *second, const double lambda[3], double (*K)[12]);

#endif
