/* The matrix T_inf of Arnold/Cardona/Bruels 2015, section 3.2, from the equations of a step, and
 * the norms of its powers, which grow before they decay because it has one threefold eigenvalue and
 * one eigenvector. */
#include "papers/overshoot.h"

#include <math.h>
#include <string.h>

/* C = A B, 3 x 3 */
static void multiply(double A[3][3], double B[3][3], double C[3][3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}

/* Spectral norm by power iteration on A^T A. */
static double spectral_norm(double A[3][3])
{
  double x[3] = {0.6, 0.5, 0.7}, norm = 0.0;
  for (int k = 0; k < 2000; k++) {
    double y[3] = {0.0}, z[3] = {0.0};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) y[i] += A[i][j] * x[j];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) z[i] += A[j][i] * y[j];
    double size = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    for (int i = 0; i < 3; i++) x[i] = z[i] / size;
    norm = sqrt(size);
  }
  return norm;
}

static void limit_matrix(const pol_options *o, double T[3][3])
{
  /* 0 = v_n/h + (1/2-beta) a_n + beta a, so a is known; then v/h, then lambda from the alpha
   * average */
  double a[3] = {0.0, -1.0 / o->beta, -(0.5 - o->beta) / o->beta};
  double v[3] = {0.0, 1.0 + o->gamma * a[1], 1.0 - o->gamma + o->gamma * a[2]};
  for (int j = 0; j < 3; j++) {
    /* (1-alpha_m) a + alpha_m a_n = -((1-alpha_f) lambda + alpha_f lambda_n) */
    double known = j == 0 ? o->alpha_f : j == 2 ? o->alpha_m : 0.0;
    T[0][j] = -((1.0 - o->alpha_m) * a[j] + known) / (1.0 - o->alpha_f);
    T[1][j] = v[j];
    T[2][j] = a[j];
  }
}

void paper_overshoot(const pol_options *options, int count, double *norms)
{
  double T[3][3], power[3][3], next[3][3];
  limit_matrix(options, T);
  memcpy(power, T, sizeof power);
  for (int n = 0; n < count; n++) {
    norms[n] = spectral_norm(power);
    multiply(T, power, next);
    memcpy(power, next, sizeof power);
  }
}
