/* The Cayley map as a coordinate map of SO(3): rational functions in the place of sine and cosine.
 *
 *     cay(w)      = (1, w/2) / sqrt(k)         as a quaternion,  k = 1 + w . w/4
 *                 = I + (w~ + w~ w~/2) / k     as a matrix
 *     T(w)        = (I - w~/2) / k
 *     T(w)^-1     = I + w~/2 + w w^T/4
 *     d(T(w)c)/dw = (c~ - (T(w) c) w^T) / (2 k)
 *
 * w = 2 tan(phi/2) times the axis: half turns are out of reach.  Bruels/Cardona 2010, remark 7,
 * name the map; T is twice the vector part of cay(w)* cay(w)', and the rest follows from it.
 */
#include <polhode/lie.h>

#include <math.h>

#include "lie/apply.h"
#include "lie/small.h"

/* k = 1 + w . w/4 */
static inline double stretch(const double w[3])
{
  return 1.0 + 0.25 * poli_v3_dot(w, w);
}

void pol_so3_cayley(const double w[3], double q[4])
{
  q[0] = 1.0 / sqrt(stretch(w));
  poli_v3_scale(0.5 * q[0], w, q + 1);
}

void pol_so3_cayley_inverse(const double q[4], double w[3])
{
  for (int i = 0; i < 3; i++) w[i] = 2.0 * q[1 + i] / q[0];
}

void pol_so3_cayley_tangent(const double w[3], double T[9])
{
  const double scale = 1.0 / stretch(w);

  poli_m3_diagonal(scale, T);
  poli_m3_add_skew(-0.5 * scale, w, T);
}

void pol_so3_cayley_tangent_inverse(const double w[3], double Ti[9])
{
  poli_m3_diagonal(1.0, Ti);
  poli_m3_add_skew(0.5, w, Ti);
  poli_m3_add_outer(0.25, w, w, Ti);
}

void pol_so3_cayley_tangent_derivative(const double w[3], const double c[3], double D[9])
{
  const double scale = 0.5 / stretch(w);
  double Tc[3];

  poli_so3_cayley_apply_tangent(w, c, Tc);
  poli_m3_diagonal(0.0, D);
  poli_m3_add_skew(scale, c, D);
  poli_m3_add_outer(-scale, Tc, w, D);
}

/* --- products with a vector ------------------------------------------------------------------- */

void poli_so3_cayley_apply_tangent(const double w[3], const double c[3], double y[3])
{
  const double k = stretch(w);
  double wc[3];

  poli_v3_cross(w, c, wc);
  for (int i = 0; i < 3; i++) y[i] = (c[i] - 0.5 * wc[i]) / k;
}

void poli_so3_cayley_apply_tangent_inverse(const double w[3], const double c[3], double y[3])
{
  const double along = 0.25 * poli_v3_dot(w, c);
  double wc[3];

  poli_v3_cross(w, c, wc);
  for (int i = 0; i < 3; i++) y[i] = c[i] + 0.5 * wc[i] + along * w[i];
}
