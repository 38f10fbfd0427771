/* Vectors with 3 entries, 3x3 matrices (row-major, 9 numbers) and quaternions as inline functions:
 * a call to a library would cost more than the product itself.
 *
 * The output is the last argument and must not overlap an input, except where the comment allows
 * it.  w~ is the skew matrix of w: w~ x = w x x (cross product).
 */
#ifndef POLHODE_LIE_SMALL_H
#define POLHODE_LIE_SMALL_H

#include <math.h>

/* --- vectors ---------------------------------------------------------------------------------- */

static inline double poli_v3_dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = a x b */
static inline void poli_v3_cross(const double a[3], const double b[3], double out[3])
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = a + b; out may be a or b */
static inline void poli_v3_add(const double a[3], const double b[3], double out[3])
{
  for (int i = 0; i < 3; i++) out[i] = a[i] + b[i];
}

/* out = a - b; out may be a or b */
static inline void poli_v3_subtract(const double a[3], const double b[3], double out[3])
{
  for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

/* out = s a; out may be a */
static inline void poli_v3_scale(double s, const double a[3], double out[3])
{
  for (int i = 0; i < 3; i++) out[i] = s * a[i];
}

/* out += s a; out may be a */
static inline void poli_v3_add_scaled(double s, const double a[3], double out[3])
{
  for (int i = 0; i < 3; i++) out[i] += s * a[i];
}

/* out += s (a x b) */
static inline void poli_v3_add_scaled_cross(double s, const double a[3], const double b[3],
                                            double out[3])
{
  out[0] += s * (a[1] * b[2] - a[2] * b[1]);
  out[1] += s * (a[2] * b[0] - a[0] * b[2]);
  out[2] += s * (a[0] * b[1] - a[1] * b[0]);
}

static inline void poli_v3_copy(const double a[3], double out[3])
{
  for (int i = 0; i < 3; i++) out[i] = a[i];
}

/* --- matrices --------------------------------------------------------------------------------- */

static inline void poli_m3_copy(const double A[9], double out[9])
{
  for (int i = 0; i < 9; i++) out[i] = A[i];
}

/* out = s I */
static inline void poli_m3_diagonal(double s, double out[9])
{
  for (int i = 0; i < 9; i++) out[i] = 0.0;
  out[0] = out[4] = out[8] = s;
}

/* y = A x */
static inline void poli_m3_apply(const double A[9], const double x[3], double y[3])
{
  for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

/* y = A^T x */
static inline void poli_m3_apply_transposed(const double A[9], const double x[3], double y[3])
{
  for (int i = 0; i < 3; i++) y[i] = A[i] * x[0] + A[i + 3] * x[1] + A[i + 6] * x[2];
}

/* C = A B */
static inline void poli_m3_multiply(const double A[9], const double B[9], double C[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[j + 3] + A[3 * i + 2] * B[j + 6];
}

/* C = A^T B */
static inline void poli_m3_multiply_transposed(const double A[9], const double B[9], double C[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] = A[i] * B[j] + A[i + 3] * B[j + 3] + A[i + 6] * B[j + 6];
}

/* C = A B^T */
static inline void poli_m3_multiply_by_transposed(const double A[9], const double B[9], double C[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] =
          A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

/* W = w~ */
static inline void poli_m3_skew(const double w[3], double W[9])
{
  W[0] = W[4] = W[8] = 0.0;
  W[1] = -w[2];
  W[2] = w[1];
  W[3] = w[2];
  W[5] = -w[0];
  W[6] = -w[1];
  W[7] = w[0];
}

/* out += s w~ */
static inline void poli_m3_add_skew(double s, const double w[3], double out[9])
{
  out[1] -= s * w[2];
  out[2] += s * w[1];
  out[3] += s * w[2];
  out[5] -= s * w[0];
  out[6] -= s * w[1];
  out[7] += s * w[0];
}

/* out += s a b^T */
static inline void poli_m3_add_outer(double s, const double a[3], const double b[3], double out[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] += s * a[i] * b[j];
}

/* out += s a~ b~, with a~ b~ = b a^T - (a . b) I */
static inline void poli_m3_add_skew_product(double s, const double a[3], const double b[3],
                                            double out[9])
{
  const double ab = s * poli_v3_dot(a, b);

  poli_m3_add_outer(s, b, a, out);
  out[0] -= ab;
  out[4] -= ab;
  out[8] -= ab;
}

/* --- quaternions (w, x, y, z) ----------------------------------------------------------------- */

/* ab may be a or b */
static inline void poli_quat_multiply(const double a[4], const double b[4], double ab[4])
{
  const double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  const double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  const double y = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
  const double z = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
  ab[0] = w;
  ab[1] = x;
  ab[2] = y;
  ab[3] = z;
}

/* To length one; q != 0 */
static inline void poli_quat_normalize(double q[4])
{
  const double scale = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; i++) q[i] *= scale;
}

static inline void poli_quat_to_matrix(const double q[4], double R[9])
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = 1.0 - 2.0 * (y * y + z * z);
  R[1] = 2.0 * (x * y - w * z);
  R[2] = 2.0 * (x * z + w * y);
  R[3] = 2.0 * (x * y + w * z);
  R[4] = 1.0 - 2.0 * (x * x + z * z);
  R[5] = 2.0 * (y * z - w * x);
  R[6] = 2.0 * (x * z - w * y);
  R[7] = 2.0 * (y * z + w * x);
  R[8] = 1.0 - 2.0 * (x * x + y * y);
}

#endif
