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

#include "lie/apply.h"
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

/* out += s (U~ w~ + w~ U~), with U~ w~ + w~ U~ = w U^T + U w^T - 2 (w . U) I */
static void add_symmetric_product(double s, const double w[3], const double U[3], double out[9])
{
  poli_m3_add_skew_product(s, U, w, out);
  poli_m3_add_skew_product(s, w, U, out);
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

void pol_se3_tangent(const double w[6], double T[36])
{
  const double *U = w + 3;
  const double wU = poli_v3_dot(w, U);
  poli_half_angle half;
  poli_tangent_coefficients k;
  double T3[9], S[9];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 1, &k);

  poli_m3_diagonal(1.0, T3);
  poli_m3_add_skew(-k.b, w, T3);
  poli_m3_add_skew_product(k.s, w, w, T3);

  poli_m3_diagonal(0.0, S);
  poli_m3_add_skew(-k.b, U, S);
  add_symmetric_product(k.s, w, U, S);
  poli_m3_add_skew(k.d1 * wU, w, S);
  poli_m3_add_skew_product(k.d2 * wU, w, w, S);
  set_blocks(T3, S, T);
}

void pol_se3_tangent_inverse(const double w[6], double Ti[36])
{
  const double *U = w + 3;
  const double wU = poli_v3_dot(w, U);
  poli_half_angle half;
  poli_inverse_coefficients k;
  double Ti3[9], Si[9];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_inverse_coefficients_set(&half, 1, &k);

  poli_m3_diagonal(1.0, Ti3);
  poli_m3_add_skew(0.5, w, Ti3);
  poli_m3_add_skew_product(k.e, w, w, Ti3);

  poli_m3_diagonal(0.0, Si);
  poli_m3_add_skew(0.5, U, Si);
  add_symmetric_product(k.e, w, U, Si);
  poli_m3_add_skew_product(k.e1 * wU, w, w, Si);
  set_blocks(Ti3, Si, Ti);
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

void poli_se3_apply_tangent(const double w[6], const double c[6], double y[6])
{
  const double *U = w + 3;
  const double g = poli_v3_dot(w, U);
  poli_half_angle half;
  poli_tangent_coefficients k;
  double wc[3], wwc[3], lower[3], w_lower[3];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_tangent_coefficients_set(&half, 1, &k);
  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);

  /* T3 c2 + S c1, the terms that begin with w x collected in w_lower */
  for (int i = 0; i < 3; i++) {
    lower[i] = c[3 + i] + g * (k.d1 * wc[i] + k.d2 * wwc[i]);
    w_lower[i] = -k.b * c[3 + i];
  }
  poli_v3_add_scaled_cross(-k.b, U, c, lower);
  poli_v3_add_scaled_cross(k.s, U, wc, lower);
  poli_v3_add_scaled_cross(k.s, w, c + 3, w_lower);
  poli_v3_add_scaled_cross(k.s, U, c, w_lower);
  poli_v3_add_scaled_cross(1.0, w, w_lower, lower);

  for (int i = 0; i < 3; i++) y[i] = c[i] - k.b * wc[i] + k.s * wwc[i];
  poli_v3_copy(lower, y + 3);
}

void poli_se3_apply_tangent_inverse(const double w[6], const double c[6], double y[6])
{
  const double *U = w + 3;
  const double g = poli_v3_dot(w, U);
  poli_half_angle half;
  poli_inverse_coefficients k;
  double wc[3], wwc[3], lower[3], w_lower[3];

  poli_half_angle_set(poli_v3_dot(w, w), &half);
  poli_inverse_coefficients_set(&half, 1, &k);
  poli_v3_cross(w, c, wc);
  poli_v3_cross(w, wc, wwc);

  /* T3^-1 c2 + Si c1, the terms that begin with w x collected in w_lower */
  for (int i = 0; i < 3; i++) {
    lower[i] = c[3 + i] + g * k.e1 * wwc[i];
    w_lower[i] = 0.5 * c[3 + i];
  }
  poli_v3_add_scaled_cross(0.5, U, c, lower);
  poli_v3_add_scaled_cross(k.e, U, wc, lower);
  poli_v3_add_scaled_cross(k.e, w, c + 3, w_lower);
  poli_v3_add_scaled_cross(k.e, U, c, w_lower);
  poli_v3_add_scaled_cross(1.0, w, w_lower, lower);

  for (int i = 0; i < 3; i++) y[i] = c[i] + 0.5 * wc[i] + k.e * wwc[i];
  poli_v3_copy(lower, y + 3);
}
