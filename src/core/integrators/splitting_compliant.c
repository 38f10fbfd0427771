/* Compliant rows; see the header for their equations. */
#include "integrators/splitting_compliant.h"

#include <float.h>
#include <math.h>

static const double no_stiffness = 1e100; /* as g: next to it everything else is nothing */

void poli_compliant_begin(poli_compliant *c, double h, double *U)
{
  for (int i = 0; i < c->count; i++) {
    const double spring = 0.5 * h * c->rows[i].stiffness, damper = c->rows[i].damping;
    const double least = DBL_EPSILON * (fabs(spring) + damper);
    double sum = spring + damper;
    if (fabs(sum) < least) sum = copysign(least, sum); /* backward in time they can cancel */
    c->g[i] = 2.0 / sum;
    c->b[i] = (spring - damper) / sum;
    U[i] = 0.25 * h * (c->tension[0][i] + c->tension[1][i]);
  }
}

void poli_compliant_release(poli_compliant *c)
{
  for (int i = 0; i < c->count; i++) c->g[i] = no_stiffness;
}

double poli_compliant_residual(const poli_compliant *c, const double *s0, const double *U,
                               double *residual, int *worst)
{
  double largest = 0.0;
  for (int i = 0; i < c->count; i++) {
    residual[i] += c->b[i] * s0[i] - c->g[i] * U[i];
    const double size = fabs(residual[i]) / fmax(1.0, fabs(c->b[i]));
    if (size <= largest) continue;
    largest = size;
    *worst = i;
  }
  return largest;
}

void poli_compliant_end(poli_compliant *c, double h, const double *U)
{
  double *oldest = c->tension[1];
  c->tension[1] = c->tension[0];
  c->tension[0] = oldest;
  for (int i = 0; i < c->count; i++) oldest[i] = 2.0 * U[i] / h;
}
