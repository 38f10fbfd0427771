/* Unit quaternions q = (w, x, y, z) as rotations: R x is the vector part of q (0, x) q*.
 *
 * Product and matrix: Hamilton's rules; from a matrix: Shepperd 1978 (divide by the largest of the
 * four components, so that nothing cancels).
 */
#include <polhode/lie.h>

#include <math.h>

#include "lie/small.h"

void pol_quat_multiply(const double a[4], const double b[4], double ab[4])
{
  poli_quat_multiply(a, b, ab);
}

void pol_quat_normalize(double q[4])
{
  poli_quat_normalize(q);
}

void pol_quat_conjugate(const double q[4], double inverse[4])
{
  inverse[0] = q[0];
  for (int i = 1; i < 4; i++) inverse[i] = -q[i];
}

void pol_quat_to_matrix(const double q[4], double R[9])
{
  poli_quat_to_matrix(q, R);
}

void pol_quat_from_matrix(const double R[9], double q[4])
{
  /* The column of 4 q q^T that holds the largest component of q; its scale does not matter. */
  const double trace = R[0] + R[4] + R[8];
  const double square[4] = {trace, R[0], R[4], R[8]}; /* 4 q_i^2 = 1 - trace + 2 square[i] */
  int largest = 0;

  for (int i = 1; i < 4; i++)
    if (square[i] > square[largest]) largest = i;
  if (largest == 0) {
    q[0] = 1.0 + trace;
    q[1] = R[7] - R[5];
    q[2] = R[2] - R[6];
    q[3] = R[3] - R[1];
  } else {
    const int i = largest - 1, j = (i + 1) % 3, k = (i + 2) % 3;

    q[0] = R[3 * k + j] - R[3 * j + k];
    q[1 + i] = 1.0 + R[4 * i] - R[4 * j] - R[4 * k];
    q[1 + j] = R[3 * i + j] + R[3 * j + i];
    q[1 + k] = R[3 * i + k] + R[3 * k + i];
  }
  pol_quat_normalize(q);
  if (q[0] < 0.0)
    for (int i = 0; i < 4; i++) q[i] = -q[i];
}
