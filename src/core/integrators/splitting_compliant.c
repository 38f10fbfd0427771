/* Compliant rows; see the header for their equations. */
#include "integrators/splitting_compliant.h"

#include <float.h>
#include <math.h>

static const double no_stiffness = 1e100; /* as g: next to it everything else is nothing */

void poli_compliant_start(poli_compliant *c)
{
  c->clock[POLI_TENSIONS] = 0.0;
  for (int i = 0; i < c->count; i++) c->miss[0][i] = c->miss[1][i] = 0.0;
}

/* Guesses of the tensions for a step with the middle t. */
static void guess(poli_compliant *c, double t)
{
  const int known = (int)c->clock[POLI_TENSIONS], second = known > 1;
  double weight[POLI_TENSIONS] = {0.0}, sum = 0.0;
  for (int k = 0; k < known; k++) {
    weight[k] = 1.0;
    for (int l = 0; l < known; l++)
      if (l != k) weight[k] *= (t - c->clock[l]) / (c->clock[k] - c->clock[l]);
    sum += fabs(weight[k]);
  }
  const int far = !(sum < 10.0); /* compositions go back and forth: not from steps side by side */
  for (int i = 0; i < c->count; i++) {
    c->guess[1][i] = known ? 0.5 * (c->tension[0][i] + c->tension[second][i]) : 0.0;
    c->guess[0][i] = far ? c->guess[1][i] : 0.0;
    for (int k = 0; k < known && !far; k++) c->guess[0][i] += weight[k] * c->tension[k][i];
  }
}

void poli_compliant_begin(poli_compliant *c, double t, double h, double *U)
{
  if (c->count) guess(c, t);
  for (int i = 0; i < c->count; i++) {
    const double spring = 0.5 * h * c->rows[i].stiffness, damper = c->rows[i].damping;
    const double least = DBL_EPSILON * (fabs(spring) + damper);
    double sum = spring + damper;
    if (fabs(sum) < least) sum = copysign(least, sum); /* backward in time they can cancel */
    c->g[i] = 2.0 / sum;
    c->b[i] = (spring - damper) / sum;
    U[i] = 0.5 * h * c->guess[c->miss[1][i] < c->miss[0][i]][i];
  }
}

void poli_compliant_release(poli_compliant *c)
{
  for (int i = 0; i < c->count; i++) c->g[i] = no_stiffness;
}

double poli_compliant_size(const poli_compliant *c, int i, const double *residual)
{
  return fabs(residual[i]) / fmax(1.0, fabs(c->b[i]));
}

double poli_compliant_residual(const poli_compliant *c, const double *s0, const double *U,
                               double *residual)
{
  double largest = 0.0, sum = 0.0;
  for (int i = 0; i < c->count; i++) {
    residual[i] += c->b[i] * s0[i] - c->g[i] * U[i];
    const double size = poli_compliant_size(c, i, residual);
    largest = fmax(largest, size);
    sum += size;
  }
  return isfinite(sum) ? largest : sum;
}

void poli_compliant_end(poli_compliant *c, double t, double h, const double *U)
{
  const int known = (int)c->clock[POLI_TENSIONS];
  double *oldest = c->tension[POLI_TENSIONS - 1];
  if (c->count == 0) return;
  for (int k = POLI_TENSIONS - 1; k > 0; k--) {
    c->tension[k] = c->tension[k - 1];
    c->clock[k] = c->clock[k - 1];
  }
  c->tension[0] = oldest;
  c->clock[0] = t;
  c->clock[POLI_TENSIONS] = known < POLI_TENSIONS ? known + 1 : known;
  for (int i = 0; i < c->count; i++) {
    oldest[i] = 2.0 * U[i] / h;
    for (int k = 0; k < 2; k++)
      c->miss[k][i] = 0.5 * c->miss[k][i] + fabs(c->guess[k][i] - oldest[i]);
  }
}
