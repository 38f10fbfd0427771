/* The frames of a flexible body as functions of its coordinates.
 *
 * The reference frame (x, R) has the chart of a rigid body, with velocities y = (w, u).  The frame
 * of an interface at `position` with the shapes Psi (translation) and Theta (rotation) is
 *
 *     x + R p,   p = position + Psi q,          R E,   E = exp(theta),  theta = Theta q
 *
 * and has, with the tangent operator T(theta) of SO(3), the velocities
 *
 *     E^T w + T theta',      u + R (w x p + Psi q').
 *
 * In terms of z = (w, u, q') these are A z, and their derivatives A z' + c(z).  The coordinates
 * give z = Z(q) v with Z = diag(L, I) of the chart of the reference frame.  So, with the subscript
 * f for maps of z, L of the frame is A Z, and likewise (chart.h)
 *
 *     N1 = d(A z)/dzeta Z + A N1_f,       N3 = dc/dz Z + A N3_f,
 *     N2 = d(A z' + c)/dzeta Z + dc/dz N1_f + A N2_f,
 *
 * where zeta = (dphi, dx, dq) is a variation of the reference frame and the modes.
 */
#ifndef POLHODE_FORMULATION_ATTACHED_H
#define POLHODE_FORMULATION_ATTACHED_H

#include "formulation/chart.h"
#include "formulation/floating_frame.h"

/* The chart of all frames of a flexible body whose reference frame has the chart `base`. */
poli_chart poli_attached_chart(const poli_chart *base, const pol_flexible_body *body);

/* The coordinates of the modes; at->v and at->vd may be NULL. */
poli_modes poli_attached_modes(const poli_chart_point *at);

/* The frame of an interface from the reference frame at the same point. */
void poli_attached_frame(const poli_chart_point *at, const poli_frame *reference,
                         poli_frame *frame);

/* Numbers of the maps of a frame: L, N1, N2 and N3 one behind the other, with 6 rows of chart->dim
 * numbers each.  The functions below need as many numbers of workspace. */
static inline size_t poli_attached_size(const poli_chart *chart)
{
  return 24 * (size_t)chart->dim;
}

/* The maps of a frame, overwritten: all of them, or L alone.  reference: the reference frame at
 * this point, base: the maps of its chart there; NULL if that is direct. */
void poli_attached_maps(const poli_chart_point *at, const poli_frame *reference,
                        const poli_chart_maps *base, int all, double *maps, double *workspace);

/* out += L^T r, chart->dim numbers. */
void poli_attached_pull_back(const poli_chart_point *at, const poli_frame *reference,
                             const poli_chart_maps *base, const double r[6], double *out);

/* values[i + stride j] += G = d(L^T r)/dq of a frame for a wrench r, for all coordinates i and j of
 * the body.  square: (6 + num_modes)^2 numbers of workspace. */
void poli_attached_add_gradient(const poli_chart_point *at, const poli_frame *reference,
                                const poli_frame *frame, const poli_chart_maps *base,
                                const double r[6], double *values, int stride, double *square,
                                double *workspace);

/* The same of Z^T X Z for a matrix X of z (6 + num_modes rows and columns, row by row), or of Z^T X
 * N1_f and so on. */
void poli_attached_add_square(const poli_chart_place *place, const poli_chart_maps *base,
                              const double *X, poli_map_name right, double *values, int stride,
                              double *workspace);

#endif
