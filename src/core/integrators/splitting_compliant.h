/* Linear springs and dampers in the steps of splitting.c: compliant rows, one for each element.
 *
 * An element with the elongation s has one tension in a base step of size h,
 *
 *     T = k (s0 + s1)/2 + c (s1 - s0)/h,
 *
 * which acts on both kicks, in the directions of s0 and of s1.  Its impulse U = h/2 T is an unknown
 * like those of joints, and
 *
 *     s1 + b s0 - g U = 0,     b = (h k/2 - c)/(h k/2 + c),     g = 2/(h k/2 + c)
 *
 * a row with the term g on the diagonal.  That is the midpoint rule: symmetric, symplectic without
 * damping, and stable for every h > 0.  Steps backward in time, of which compositions consist too,
 * amplify what dampers damp; they have a pole at |h| c/m = 2. */
#ifndef POLHODE_INTEGRATORS_SPLITTING_COMPLIANT_H
#define POLHODE_INTEGRATORS_SPLITTING_COMPLIANT_H

#include "dae/rigid_bodies.h"

enum { POLI_TENSIONS = 3 };

typedef struct poli_compliant {
  int count;
  const poli_compliant_row *rows;
  double *g, *b; /* of the step */
  /* tensions of the last steps, the newest first, and guesses: an extrapolation, and the mean of
   * the last two, which is better where a stiff element rings; by how much these were wrong */
  double *tension[POLI_TENSIONS], *guess[2], *miss[2];
  double *clock; /* POLI_TENSIONS + 1: the middles of those steps, and how many there are */
  /* of an iteration that includes momenta: W1 D M and W0^T, in the velocities from v[] on */
  double (*lower)[12], (*upper)[12];
} poli_compliant;

/* No tensions are known. */
void poli_compliant_start(poli_compliant *c);

/* Sets b and g for a step of size h with the middle t, and U (count) to a first guess. */
void poli_compliant_begin(poli_compliant *c, double t, double h, double *U);

/* No tension: rows so compliant that they carry no impulse. */
void poli_compliant_release(poli_compliant *c);

/* residual (count) is s1 on entry; returns the largest of them, or what is not finite, as
 * poli_compliant_size of a row: relative to the numbers that it consists of. */
double poli_compliant_residual(const poli_compliant *c, const double *s0, const double *U,
                               double *residual);
double poli_compliant_size(const poli_compliant *c, int i, const double *residual);

/* Takes over the tensions of that step. */
void poli_compliant_end(poli_compliant *c, double t, double h, const double *U);

#endif
