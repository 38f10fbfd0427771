/* SE(3), increments (w, U) in the body frame, configurations (quaternion, position); T3 and its
 * scalars are those of SO(3):
 *
 *     exp(w, U)      = (exp(w), T3(w)^T U)
 *     T(w, U)        = [T3, 0; S, T3],          S  = dT3(w)[U]
 *     T(w, U)^-1     = [T3^-1, 0; Si, T3^-1],   Si = dT3^-1(w)[U]
 *     d(T(w, U)(c1, c2))/d(w, U) = [P(c1), 0; Q + P(c2), P(c1)]
 *
 * Arnold/Cardona/Bruels 2015, (11b) and (35), with df(w)[U] the derivative of f along U:
 *
 *     S  = -b U~ + s (U~ w~ + w~ U~) + (w . U) (d1 w~ + d2 w~ w~)
 *     Si = U~/2 + e (U~ w~ + w~ U~) + e1 (w . U) w~ w~
 *
 * P(c) = d(T3(w)c)/dw.  As S c = P(c) U, the derivative of S c is P(c) with respect to U and the
 * second derivative Q = d(P(c1) U)/dw with respect to w, by the product rule, see add_curvature.
 */
#include <polhode/lie.h>

#include "lie/coefficients.h"
#include "lie/small.h"

void pol_se3_exp(const double w[6], double q[7])
{
  const double *U = w + 3;
  poli_half_angle half;
  poli_tangent_coefficients k;
  double wU[3], wwU[3];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 0, &k);
  poli_v3_cross(w, U, wU);
  poli_v3_cross(w, wU, wwU);
  q[0] = half.cosine;
  for (int i = 0; i < 3; i++) {
    q[1 + i] = 0.5 * half.sinc * w[i];
    q[4 + i] = U[i] + k.b * wU[i] + k.s * wwU[i];
  }
}

void pol_se3_log(const double q[7], double w[6])
{
  double back[3];

  /* U = T3(w)^-T x = T3(-w)^-1 x */
  pol_so3_log(q, w);
  poli_v3_scale(-1.0, w, back);
  poli_so3_apply_tangent_inverse(back, q + 4, w + 3);
}

/* out = [A, 0; B, A] */
static void set_blocks(const double A[9], const double B[9], double out[36])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[6 * i + j] = out[6 * (i + 3) + j + 3] = A[3 * i + j];
      out[6 * i + j + 3] = 0.0;
      out[6 * (i + 3) + j] = B[3 * i + j];
    }
}

/* out = [A, 0; B, A] with A = I + a w~ + b w~ w~ and its derivative along U,
 * B = a U~ + b (U~ w~ + w~ U~) + da w~ + db w~ w~ */
static void set_map(const double w[6], double a, double b, double da, double db, double out[36])
{
  const double *U = w + 3;
  double A[9], B[9];

  poli_m3_diagonal(1.0, A);
  poli_m3_add_skew(a, w, A);
  poli_m3_add_skew_product(b, w, w, A);
  poli_m3_diagonal(0.0, B);
  poli_m3_add_skew(a, U, B);
  poli_m3_add_skew_product(b, U, w, B);
  poli_m3_add_skew_product(b, w, U, B);
  poli_m3_add_skew(da, w, B);
  poli_m3_add_skew_product(db, w, w, B);
  set_blocks(A, B, out);
}

void pol_se3_tangent(const double w[6], double T[36])
{
  const double wU = poli_v3_dot(w, w + 3);
  poli_half_angle half;
  poli_tangent_coefficients k;

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 1, &k);
  set_map(w, -k.b, k.s, k.d1 * wU, k.d2 * wU, T);
}

void pol_se3_tangent_inverse(const double w[6], double Ti[36])
{
  const double wU = poli_v3_dot(w, w + 3);
  poli_half_angle half;
  poli_inverse_coefficients k;

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_inverse_coefficients_set(&half, 1, &k);
  set_map(w, 0.5, k.e, 0.0, k.e1 * wU, Ti);
}

/* --- derivative of T(w, U) c ------------------------------------------------------------------ */

/* out += Q = (d1 U x c + d2 (U x (w x c) + w x (U x c)) + g (d11 w x c + d22 w x (w x c))) w^T
 *          + (d1 w x c + d2 w x (w x c)) U^T
 *          - s ((U x c)~ + U~ c~) - g d1 c~ - g d2 ((w x c)~ + w~ c~),   g = w . U */
static void add_curvature(const poli_tangent_coefficients *k, const double w[3], const double U[3],
                          const double c[3], double out[9])
{
  const double g = poli_v3_dot(w, U);
  double wc[3], wwc[3], Uc[3], Uwc[3], wUc[3], along_w[3], along_U[3];

  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);
  poli_v3_cross(U, c, Uc);
  poli_v3_cross(U, wc, Uwc);
  poli_v3_cross(w, Uc, wUc);
  for (int i = 0; i < 3; i++) {
    along_w[i] = k->d1 * Uc[i] + k->d2 * (Uwc[i] + wUc[i]) + g * (k->d11 * wc[i] + k->d22 * wwc[i]);
    along_U[i] = k->d1 * wc[i] + k->d2 * wwc[i];
  }
  poli_m3_add_outer(1.0, along_w, w, out);
  poli_m3_add_outer(1.0, along_U, U, out);
  poli_m3_add_skew(-k->s, Uc, out);
  poli_m3_add_skew_product(-k->s, U, c, out);
  poli_m3_add_skew(-g * k->d1, c, out);
  poli_m3_add_skew(-g * k->d2, wc, out);
  poli_m3_add_skew_product(-g * k->d2, w, c, out);
}

void pol_se3_tangent_derivative(const double w[6], const double c[6], double D[36])
{
  poli_half_angle half;
  poli_tangent_coefficients k;
  double P[9], Q[9];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 2, &k);
  poli_so3_set_derivative(&k, w, c, P);
  poli_so3_set_derivative(&k, w, c + 3, Q);
  add_curvature(&k, w, w + 3, c, Q);
  set_blocks(P, Q, D);
}

/* --- products with a vector ------------------------------------------------------------------- */

/* y = [A, 0; B, A] c with the A and B of set_map, given wc = w x c, wwc = w x wc and
 * along = (da w~ + db w~ w~) c1; the terms of the lower half that begin with w x are collected */
static void apply_map(const double w[6], double a, double b, const double along[3],
                      const double wc[3], const double wwc[3], const double c[6], double y[6])
{
  const double *U = w + 3;
  double lower[3], w_lower[3];

  for (int i = 0; i < 3; i++) {
    lower[i] = c[3 + i] + along[i];
    w_lower[i] = a * c[3 + i];
  }
  poli_v3_add_scaled_cross(a, U, c, lower);
  poli_v3_add_scaled_cross(b, U, wc, lower);
  poli_v3_add_scaled_cross(b, w, c + 3, w_lower);
  poli_v3_add_scaled_cross(b, U, c, w_lower);
  poli_v3_add_scaled_cross(1.0, w, w_lower, lower);

  for (int i = 0; i < 3; i++) y[i] = c[i] + a * wc[i] + b * wwc[i];
  poli_v3_copy(lower, y + 3);
}

void poli_se3_apply_tangent(const double w[6], const double c[6], double y[6])
{
  const double g = poli_v3_dot(w, w + 3);
  poli_half_angle half;
  poli_tangent_coefficients k;
  double wc[3], wwc[3], along[3];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 1, &k);
  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);
  for (int i = 0; i < 3; i++) along[i] = g * (k.d1 * wc[i] + k.d2 * wwc[i]);
  apply_map(w, -k.b, k.s, along, wc, wwc, c, y);
}

void poli_se3_apply_tangent_inverse(const double w[6], const double c[6], double y[6])
{
  const double g = poli_v3_dot(w, w + 3);
  poli_half_angle half;
  poli_inverse_coefficients k;
  double wc[3], wwc[3], along[3];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_inverse_coefficients_set(&half, 1, &k);
  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);
  for (int i = 0; i < 3; i++) along[i] = g * k.e1 * wwc[i];
  apply_map(w, 0.5, k.e, along, wc, wwc, c, y);
}
