/* The bushing: springs and dampers against all six relative motions of two markers, for small to
 * moderate rotations.  With d the second marker's point seen from the first marker and Q its
 * rotation, both in the axes of the first, and omega its angular velocity in them,
 *
 *     V   = d^T K d / 2 - f0 . d + rho^T Kr rho / 2 - t0 . rho,     rho = log(Q),
 *     lam = K d + C d' - f0,       tau = T(rho)^-1 (Kr rho - t0) + Cr omega,
 *
 * K, C, Kr, Cr diagonal: the second body gets the force -lam at its marker and the torque -tau, the
 * first the opposite at the same point.  T is the tangent operator of SO(3), so that at rest the
 * wrench is the gradient of V.  Dampers act on d' and on omega and take the power
 * d'^T C d' + omega^T Cr omega, which is never negative.
 *
 * rho jumps at half a turn: with a spring or preload against rotation the bushing ends at 3 rad.
 */
#ifndef POLHODE_MECHANISM_BUSHING_H
#define POLHODE_MECHANISM_BUSHING_H

#include "mechanism/joint.h"

typedef struct poli_bushing_kernel {
  const pol_force *force;        /* of the mechanism */
  poli_joint_kernel translation; /* its three rows are d */
  double A1[9], A2[9];           /* of the markers: to axes of their bodies */
} poli_bushing_kernel;

void poli_bushing_setup(poli_bushing_kernel *kernel, const pol_mechanism *mechanism,
                        const pol_force *force);

/* Wrenches and derivatives as those of force.h; they arrive set to zero.  POL_RETRY beyond 3 rad.
 */
pol_status poli_bushing_wrenches(const poli_bushing_kernel *kernel, const poli_frame *first,
                                 const poli_frame *second, double wrench[2][6]);
pol_status poli_bushing_derivatives(const poli_bushing_kernel *kernel, const poli_frame *first,
                                    const poli_frame *second, double (*by_position)[12],
                                    double (*by_velocity)[12]);
double poli_bushing_potential(const poli_bushing_kernel *kernel, const poli_frame *first,
                              const poli_frame *second);

/* rho and omega, in axes of the first marker.  1 if a spring or preload acts on rho, so that it
 * must not jump. */
int poli_bushing_rotation(const poli_bushing_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, double rho[3], double omega[3]);

#endif
