/* Discrete step equations: an extension of pol_dae, private to polhode's own models.
 *
 * For the methods vi-a, em, em-g and midpoint where the group is R^n and the mass matrix depends on
 * q, the model itself gives the equations of a step, with a discrete derivative of the Hamiltonian.
 * Euler parameters do (formulation/step_equations.c); integrators/ggl_equations.c solves them.
 */
#ifndef POLHODE_DAE_STEP_EQUATIONS_H
#define POLHODE_DAE_STEP_EQUATIONS_H

#include <polhode/dae.h>

/* A step of size h from t, q0, v0, with q1 = q0 + h a.  h may be 0 for the matrix.  The momenta at
 * its end are
 *
 *     p1 = momenta(q1, b),   midway   p1 = 2 momenta((q0 + q1)/2, b) - p0,
 *
 * which is also what the integrator takes as p0 of the next step; the first has momenta(q0, v0). */
typedef struct poli_step_data {
  double t, h;
  const double *q0, *v0; /* nq, nv */
  const double *p0;      /* nv: momenta at the start */
  const double *a, *b;   /* nv: (q1 - q0)/h and a velocity */
  const double *lambda;  /* m: multipliers of Phi, times h */
  const double *gamma;   /* m: of the constraints of velocities; NULL: these need not hold */
  const double *history; /* as in pol_point */
  /* 0: b is v1, and the constraints hold at q1 and t + h; 1: b and the constraints belong to
   * (q0 + q1)/2 and t + h/2 */
  int midway;
  int discrete; /* 1: forces are differences of potentials, so that energy is conserved */
} poli_step_data;

enum { POLI_STEP_RESIDUAL = 1 << 0, POLI_STEP_MATRIX = 1 << 1 }; /* what to evaluate */

/* Where the terms of the equations go; what is asked for arrives set to zero.  With the Hamiltonian
 * H, e(q, p) = B M^-1 p + Phi_t and D a derivative by q or p, the equations are equivalent to
 *
 *     kinematic   a - D_p (H + gamma . e) = 0
 *     balance     p1 - p0 + h D_q (H + gamma . e) + (D_q Phi)^T h lambda = 0
 *     position    Phi = 0,    velocity   e = 0, at the point that poli_step_data.midway selects
 *
 * but the first two may be multiplied by any regular matrix.  Midway D is the derivative at
 * (q0 + q1)/2 and the momenta (p0 + p1)/2.  Else it is a discrete one, for any function F of the
 * sum H + lambda . Phi + gamma . e
 *
 *     D_q F . (q1 - q0) + D_p F . (p1 - p0) = F(q1, p1) - F(q0, p0),
 *
 * of second order; without `discrete` that need not hold for the potential, whose derivative is
 * then taken halfway.  Forces without a potential, signed as g, are added to D_q H, halfway.
 *
 * RESIDUAL asks for the four vectors, MATRIX for the derivatives of the equations, of Phi/h in
 * place of Phi, by a, b, h lambda and gamma.  Only what is asked for may be written: all other
 * pointers may be NULL.  Without gamma there are no e, no velocity and no matrices with gamma or
 * velocity in their name; these may be NULL as well.  Matrices are values in the patterns of the
 * pol_dae, as in pol_terms; those by multipliers are transposed. */
typedef struct poli_step_terms {
  double *kinematic, *balance; /* nv */
  double *position, *velocity; /* m: Phi and e where they hold */

  double *kinematic_a, *kinematic_b, *balance_a, *balance_b; /* pattern coupling */
  double *kinematic_gamma, *balance_lambda, *balance_gamma;  /* pattern constraint, transposed */
  double *position_a;                                        /* of Phi/h; pattern constraint */
  double *velocity_a, *velocity_b;                           /* pattern constraint */
} poli_step_terms;

/* The callbacks; user is that of the dae. */
typedef struct poli_step_equations {
  /* Adds the terms asked for; returns what pol_dae.evaluate does.  pol_dae.blame is called with its
   * scratch, too. */
  pol_status (*evaluate)(const poli_step_data *at, unsigned want, const poli_step_terms *out,
                         double *scratch, void *user);
  /* p = M(q) v with an M that is regular: where that of pol_dae.evaluate is not, as with
   * quaternions, it may be completed in directions that the constraints leave no velocity. */
  void (*momenta)(const double *q, const double *v, double *p, void *user);
  size_t scratch_size;
  const char *missing; /* evaluate and momenta NULL: why there are none, for messages */
} poli_step_equations;

#endif
