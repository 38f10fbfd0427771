/* The beam element: the elastic and the damping forces of a straight or curved piece of a slender
 * body between two markers, whose x axes point along it.  With H1 and H2 the frames of the markers,
 * L the length and K the stiffness of its section, all of it follows from one deformation d of six
 * numbers, rotation first,
 *
 *     V = (L/2) e^T K e,     e = d/L - e0,      f = K e + C d'/L,      wrench = -(dd/dq)^T f,
 *
 * constant in the element.  All deformations are those of the pair H1^-1 H2 alone: a rigid motion
 * of the element changes no strain.
 *
 *     se3       d = log(H1^-1 H2), as of a helix from H1 to H2: pieces of any helix, such as a
 *               circle, are exact (Sonneville, Cardona, Bruels 2014)
 *     so3xr3    d = (rho, u): rho = log(R1^T R2), u = Rm^T (x2 - x1) with Rm = R1 exp(rho/2), the
 *               strains at the middle of a line between the points: one-point integration, which
 *               does not lock in shear
 *     directors d = (rho, u): rho the axial vector of R1^T R2, of length sin(angle), and
 *               u = (R1 + R2)^T (x2 - x1)/2; quadratic in points and directors (Betsch, Steinmann
 *               2002; Romero, Armero 2002), so that energy and momentum can be conserved exactly
 *               (formulation/directors_beam.c)
 *
 * e has the curvatures (torsion, bending about y, about z) and the strains (1 + axial, shear along
 * y, along z); e0 is what the relaxed element has.  The logarithm jumps at half a turn: an element
 * ends at 3 rad; that of directors, where the sine falls again, at 1.5 rad.
 */
#ifndef POLHODE_MECHANISM_BEAM_H
#define POLHODE_MECHANISM_BEAM_H

#include "mechanism/joint.h"

typedef struct poli_beam_kernel {
  const pol_force *force; /* of the mechanism */
  double point[2][3];     /* of the markers, in axes of their bodies */
  double axes[2][9];      /* of the markers: to axes of their bodies */
  int is_damped;
  /* the moments and forces that the derivatives have as f, or NULL: those of the frames */
  const double *resultant;
} poli_beam_kernel;

void poli_beam_setup(poli_beam_kernel *kernel, const pol_mechanism *mechanism,
                     const pol_force *force);

/* Wrenches and derivatives as those of force.h; they arrive set to zero.  POL_RETRY beyond
 * the largest rotation. */
pol_status poli_beam_wrenches(const poli_beam_kernel *kernel, const poli_frame *first,
                              const poli_frame *second, double wrench[2][6]);
pol_status poli_beam_derivatives(const poli_beam_kernel *kernel, const poli_frame *first,
                                 const poli_frame *second, double (*by_position)[12],
                                 double (*by_velocity)[12]);
double poli_beam_potential(const poli_beam_kernel *kernel, const poli_frame *first,
                           const poli_frame *second);

/* Its six deformations less those of the relaxed element, L e, and their derivatives by the motions
 * of both frames; the status as above.  With the stiffness K/L and the damping C/L they have the
 * forces f. */
pol_status poli_beam_rows(const poli_beam_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, double elongation[6], double rows[6][12]);

/* Whether the element is turned inside out: its ends have passed each other along the beam,
 * (x2 - x1) . (t1 + t2) <= 0 with the tangents t.  The law goes on there, no beam does. */
int poli_beam_is_inverted(const poli_beam_kernel *kernel, const poli_frame *first,
                          const poli_frame *second);

/* The angle between its ends, as a fraction of the largest one. */
double poli_beam_turned(const poli_beam_kernel *kernel, const poli_frame *first,
                        const poli_frame *second);

/* The strains e, and the moments and forces f of the section in its own axes.  Returns the power
 * that damping takes out. */
double poli_beam_strain(const poli_beam_kernel *kernel, const poli_frame *first,
                        const poli_frame *second, double strain[6], double resultant[6]);

/* The moments and forces K e of the section to first order behind increments of both frames
 * (rotation in body axes, displacement): Newton's method that has them as unknowns of their own
 * finds these. */
void poli_beam_extrapolate(const poli_beam_kernel *kernel, const poli_frame *first,
                           const poli_frame *second, const double *first_increment,
                           const double *second_increment, double resultant[6]);

/* --- the deformations (beam_strain.c) ----------------------------------------------------------
 */

/* A deformation and its derivative by the increments h = (h1, h2) of the markers' frames H exp(h),
 * rotation first, in their own axes. */
typedef struct poli_deformation {
  double Q[9], r[3], w[3]; /* where it is, as poli_deformation_set has them */
  double d[6];
  double B[6][12];
} poli_deformation;

/* The largest rotation between the ends of an element, rad. */
double poli_deformation_most(pol_beam_strain kind);

/* Of the rotation Q = R1^T R2 and the line r = R1^T (x2 - x1), w = R2^T (x2 - x1); d of `directors`
 * is their polynomial where directors are not quite orthonormal, too.  POL_RETRY beyond the largest
 * rotation. */
pol_status poli_deformation_set(pol_beam_strain kind, const double Q[9], const double r[3],
                                const double w[3], poli_deformation *deformation);

/* d(B^T f)/dh with f constant, and d(B y)/dh with y of 12 numbers constant. */
void poli_deformation_turn(pol_beam_strain kind, const poli_deformation *deformation,
                           const double f[6], double G[12][12]);
void poli_deformation_rate(pol_beam_strain kind, const poli_deformation *deformation,
                           const double y[12], double D[6][12]);

#endif
