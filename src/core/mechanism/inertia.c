/* Principal axes of an inertia by the cyclic Jacobi method (Jacobi 1846; Golub/Van Loan, Matrix
 * Computations, 8.5), which is accurate for equal moments too; the ellipsoid that has them. */
#include "mechanism/inertia.h"

#include <math.h>
#include <string.h>

/* Makes A[p][q] zero by a rotation G in the plane of p and q: A <- G^T A G, R <- R G. */
static void rotate_away(double A[9], double R[9], int p, int q)
{
  const double apq = A[3 * p + q];
  if (apq == 0.0) return;
  /* tan of the smaller of the two angles */
  const double theta = (A[4 * q] - A[4 * p]) / (2.0 * apq);
  const double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
  const double c = 1.0 / sqrt(1.0 + t * t);
  const double s = t * c;
  const int r = 3 - p - q;
  const double arp = A[3 * r + p];
  const double arq = A[3 * r + q];
  A[4 * p] -= t * apq;
  A[4 * q] += t * apq;
  A[3 * p + q] = A[3 * q + p] = 0.0;
  A[3 * r + p] = A[3 * p + r] = c * arp - s * arq;
  A[3 * r + q] = A[3 * q + r] = s * arp + c * arq;
  for (int i = 0; i < 3; i++) {
    const double rip = R[3 * i + p];
    const double riq = R[3 * i + q];
    R[3 * i + p] = c * rip - s * riq;
    R[3 * i + q] = s * rip + c * riq;
  }
}

void poli_principal_axes(const double J[9], double moments[3], double R[9])
{
  static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  enum { SWEEPS = 12 }; /* it converges quadratically: 4 or 5 are enough */
  double A[9];
  memcpy(A, J, sizeof A);
  memcpy(R, identity, sizeof identity);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    rotate_away(A, R, 0, 1);
    rotate_away(A, R, 0, 2);
    rotate_away(A, R, 1, 2);
  }
  for (int i = 0; i < 3; i++) moments[i] = A[4 * i];
}

void poli_inertia_ellipsoid(double mass, const double moments[3], double half_axes[3])
{
  const double sum = moments[0] + moments[1] + moments[2];
  for (int i = 0; i < 3; i++) half_axes[i] = sqrt(fmax(2.5 / mass * (sum - 2.0 * moments[i]), 0.0));
}
