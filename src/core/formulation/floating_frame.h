/* The inertia of a flexible body, in terms of its reference frame (x, R) and its modes.
 *
 * A point of the body is at x + R rho with rho = sum q_a phi_a, q_0 = 1.  With w the angular
 * velocity of the frame in its axes, u = x', and the integrals over the mass
 *
 *     s = int rho = sum q_a first_a,            Q_k = int phi_k rho^T = sum q_a second_ka,
 *     J = int (rho . rho I - rho rho^T),        H_k = int rho x phi_k,     F_k = first_k,
 *
 * its acceleration x'' + R (w' x rho + w x (w x rho) + 2 w x rho' + rho'') and the variation
 * dx + R (dphi x rho + drho) give, without approximation of second order,
 *
 *     force   m (x'' - g) + R (w' x s + w x (w x s) + 2 w x s' + s'')
 *     torque  s x a + J w' + w x J w + 2 (tr(P) I - P^T) w + sum H_k q_k''
 *     mode k  F_k . a + H_k . w' + w^T (Q_k - tr(Q_k) I) w + 2 w . int rho' x phi_k
 *             + sum m_kl q_l'' + stiffness_kl q_l + damping_kl q_l'
 *
 * with a = R^T (x'' - g) and P = int rho rho'^T.  The mass matrix of (w, u, q') is
 *
 *         J       s~ R^T   H
 *      -R s~       m I    R F
 *        H^T    F^T R^T    m
 */
#ifndef POLHODE_FORMULATION_FLOATING_FRAME_H
#define POLHODE_FORMULATION_FLOATING_FRAME_H

#include <polhode/formulation.h>

#include "mechanism/joint.h"

/* The modes at one instant: amplitudes, and their rates and accelerations, NULL for zero. */
typedef struct poli_modes {
  const double *q, *v, *vd;
} poli_modes;

/* wrench and modal (num_modes) += the terms above: with accelerations for POL_INERTIA, all others
 * for POL_FORCE. */
void poli_floating_wrench(const pol_flexible_body *body, const double gravity[3],
                          const poli_frame *frame, poli_modes modes, unsigned parts,
                          double wrench[6], double *modal);

/* The mass matrix, and the derivatives of all terms by (w, u, q') and by variations (dphi, dx, dq):
 * n x n with n = 6 + num_modes, row by row, overwritten.  M or K may be NULL; D may not. */
void poli_floating_matrices(const pol_flexible_body *body, const double gravity[3],
                            const poli_frame *frame, poli_modes modes, double *M, double *D,
                            double *K);

/* q' . damping q', the power that the damping of the modes takes out */
double poli_floating_dissipation(const pol_flexible_body *body, poli_modes modes);

/* Energy, and linear and angular momentum about the origin. */
double poli_floating_kinetic(const pol_flexible_body *body, const poli_frame *frame,
                             poli_modes modes);
double poli_floating_potential(const pol_flexible_body *body, const double gravity[3],
                               const poli_frame *frame, poli_modes modes);
void poli_floating_momentum(const pol_flexible_body *body, const poli_frame *frame,
                            poli_modes modes, double linear[3], double angular[3]);

#endif
