/* SO(3), increments w with phi = |w|, configurations as unit quaternions:
 *
 *     exp(w)      = (cos(phi/2), sin(phi/2)/phi w)         = I + a w~ + b w~ w~ as a matrix
 *     T(w)        = I - b w~ + s w~ w~
 *     T(w)^-1     = I + w~/2 + e w~ w~
 *     d(T(w)c)/dw = b c~ - s ((w x c)~ + w~ c~) + (d1 w x c + d2 w x (w x c)) w^T
 *
 * Arnold/Cardona/Bruels 2015, (10) and (33); the derivative by the product rule.  The scalars are
 * those of coefficients.h.
 *
 * With the Cayley map as coordinate map, rational functions in the place of sine and cosine:
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

#include "lie/coefficients.h"
#include "lie/small.h"

void pol_so3_exp(const double w[3], double q[4])
{
  poli_half_angle half;

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  q[0] = half.cosine;
  poli_v3_scale(0.5 * half.sinc, w, q + 1);
}

void pol_so3_log(const double q[4], double w[3])
{
  const double *vector = q + 1;
  const double cosine = fabs(q[0]), square = poli_v3_dot(vector, vector);
  double scale; /* phi / sin(phi/2) */

  /* Below this the next term of the arc tangent is lost in rounding, and square may underflow. */
  if (square < 1e-20 * cosine * cosine) {
    scale = 2.0 / cosine;
  } else {
    const double sine = sqrt(square);

    scale = 2.0 * atan2(sine, cosine) / sine;
  }
  poli_v3_scale(q[0] < 0.0 ? -scale : scale, vector, w);
}

void pol_so3_tangent(const double w[3], double T[9])
{
  poli_half_angle half;
  poli_tangent_coefficients c;

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 0, &c);
  poli_m3_diagonal(1.0, T);
  poli_m3_add_skew(-c.b, w, T);
  poli_m3_add_skew_product(c.s, w, w, T);
}

void pol_so3_tangent_inverse(const double w[3], double Ti[9])
{
  poli_half_angle half;
  poli_inverse_coefficients c;

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_inverse_coefficients_set(&half, 0, &c);
  poli_m3_diagonal(1.0, Ti);
  poli_m3_add_skew(0.5, w, Ti);
  poli_m3_add_skew_product(c.e, w, w, Ti);
}

void poli_so3_set_derivative(const poli_tangent_coefficients *k, const double w[3],
                             const double c[3], double D[9])
{
  double wc[3], wwc[3], slope[3];

  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);

  /* b c~ - s ((w x c)~ + w~ c~) */
  poli_m3_diagonal(0.0, D);
  poli_m3_add_skew(k->b, c, D);
  poli_m3_add_skew(-k->s, wc, D);
  poli_m3_add_skew_product(-k->s, w, c, D);

  /* (d1 w x c + d2 w x (w x c)) w^T */
  for (int i = 0; i < 3; i++) slope[i] = k->d1 * wc[i] + k->d2 * wwc[i];
  poli_m3_add_outer(1.0, slope, w, D);
}

void pol_so3_tangent_derivative(const double w[3], const double c[3], double D[9])
{
  poli_half_angle half;
  poli_tangent_coefficients k;

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 1, &k);
  poli_so3_set_derivative(&k, w, c, D);
}

/* --- products with a vector ------------------------------------------------------------------- */

void poli_so3_apply_tangent(const double w[3], const double c[3], double y[3])
{
  poli_half_angle half;
  poli_tangent_coefficients k;
  double wc[3], wwc[3];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 0, &k);
  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);
  for (int i = 0; i < 3; i++) y[i] = c[i] - k.b * wc[i] + k.s * wwc[i];
}

void poli_so3_apply_tangent_inverse(const double w[3], const double c[3], double y[3])
{
  poli_half_angle half;
  poli_inverse_coefficients k;
  double wc[3], wwc[3];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_inverse_coefficients_set(&half, 0, &k);
  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);
  for (int i = 0; i < 3; i++) y[i] = c[i] + 0.5 * wc[i] + k.e * wwc[i];
}

/* --- the Cayley map --------------------------------------------------------------------------- */

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
