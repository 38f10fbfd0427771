/* What the files of this room share: T(w) c and T(w)^-1 c of SO(3), with the exponential and with
 * the Cayley map, and of SE(3), without forming the matrices, and the derivative of T(w) c on SO(3)
 * from coefficients that are known already.
 */
#ifndef POLHODE_LIE_APPLY_H
#define POLHODE_LIE_APPLY_H

#include "lie/coefficients.h"

/* y = T(w) c and y = T(w)^-1 c; y may be c. */
void poli_so3_apply_tangent(const double w[3], const double c[3], double y[3]);
void poli_so3_apply_tangent_inverse(const double w[3], const double c[3], double y[3]);
void poli_so3_cayley_apply_tangent(const double w[3], const double c[3], double y[3]);
void poli_so3_cayley_apply_tangent_inverse(const double w[3], const double c[3], double y[3]);
void poli_se3_apply_tangent(const double w[6], const double c[6], double y[6]);
void poli_se3_apply_tangent_inverse(const double w[6], const double c[6], double y[6]);

/* D = d(T(w) c)/dw; k of order 1 or above, for x = w . w */
void poli_so3_set_derivative(const poli_tangent_coefficients *k, const double w[3],
                             const double c[3], double D[9]);

#endif
