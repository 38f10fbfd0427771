/* bs99, the integrator of Bobenko and Suris (1999) for the Lagrange top: a symmetric top on a fixed
 * point under gravity, reduced by its symmetry about its own axis to the unit vector d along that
 * axis and the angular momentum m about the fixed point,
 *
 *     m' = M g l e3 x d,    d' = (m x d)/A,    e3 up,
 *
 * with the mass M, the distance l of the centre of mass and the moment of inertia A across the axis
 * about the fixed point.  A step (Kinon/Betsch/Schneider 2023, (166)) is
 *
 *     m_{n+1} = m_n + h M g l e3 x d_n
 *     d_{n+1} = cay(h m_{n+1}/A) d_n,    cay(w) = I + (w~ + w~ w~/2)/(1 + w.w/4)
 *
 * It is explicit, of first order, and keeps |d|, m.d and m.e3.
 *
 * It is no method of the table: its unknowns are not the coordinates of any model, and a pol_dae
 * does not say that it is a Lagrange top.
 */
#ifndef POLHODE_PAPERS_LAGRANGE_TOP_H
#define POLHODE_PAPERS_LAGRANGE_TOP_H

typedef struct paper_lagrange_top {
  double mass, length, gravity; /* M, l, g > 0 */
  double inertia;               /* A */
  double axis[3];               /* d, global axes */
  double momentum[3];           /* m, global axes */
} paper_lagrange_top;

/* Sets axis (a unit vector) and momentum from the angular velocity omega (global axes) and the
 * moment of inertia about the axis; the other data are there. */
void paper_lagrange_top_start(paper_lagrange_top *top, const double axis[3], const double omega[3],
                              double axial_inertia);

/* One step of size h. */
void paper_lagrange_top_step(paper_lagrange_top *top, double h);

/* M l d', the linear momentum of the centre of mass. */
void paper_lagrange_top_linear_momentum(const paper_lagrange_top *top, double p[3]);

#endif
