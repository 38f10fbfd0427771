/* Integrals over the mass of a finite element body from its mass matrix alone: "nodal-based", after
 * Zwoelfer and Gerstmayr (2020, 2021).
 *
 * If the mass matrix has the blocks m_ij 1, as that of solid elements, which interpolate all three
 * displacements alike, and lumped ones,
 *
 *     integral of phi_a phi_b^T = sum over i, j of m_ij phi_a(i) phi_b(j)^T
 *
 * is exact within the finite element model.  Other matrices, with rotations or other functions in
 * each direction, do not have this information.  Their m_ij is the mean of the three directions,
 * and what the matrix does have is taken from it: mass, centre and inertia of the undeformed body,
 * the momenta of the modes, which are zero, and the mass matrix of the modes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fem/fem.h"

/* W = m phi, 3 numbers per node each. */
static void multiply(const pol_finite_elements *e, const double *phi, double *W)
{
  const pol_pattern *pattern = e->mass_pattern;
  const int f = e->freedoms;
  memset(W, 0, 3 * (size_t)e->num_nodes * sizeof *W);
  for (int j = 0; j < pattern->cols; j++) {
    if (j % f >= 3) continue;
    const double *from = phi + 3 * (size_t)(j / f);
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++) {
      if (pattern->row[k] % f != j % f) continue;
      double *to = W + 3 * (size_t)(pattern->row[k] / f);
      for (int i = 0; i < 3; i++) to[i] += e->mass[k] / 3.0 * from[i];
    }
  }
}

/* Largest deviation of the blocks from m_ij 1, by the largest m_ij. */
static double find_anisotropy(const pol_finite_elements *e)
{
  const pol_pattern *pattern = e->mass_pattern;
  const int f = e->freedoms;
  double largest = 0.0, worst = 0.0;
  for (int j = 0; j < pattern->cols; j++)
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++) {
      const int i = pattern->row[k];
      if (i % f >= 3 || j % f >= 3 || i % f != j % f) {
        worst = fmax(worst, fabs(e->mass[k]));
        continue;
      }
      const int first = pol_pattern_address(pattern, i - i % f, j - j % f);
      largest = fmax(largest, fabs(e->mass[k]));
      worst = fmax(worst, fabs(e->mass[k] - (first < 0 ? 0.0 : e->mass[first])));
    }
  return worst > 1e-9 * largest ? worst / largest : 0.0;
}

double poli_fe_integrals(const pol_finite_elements *e, const double center[3], const double J[9],
                         int num_modes, const double *modes, int rows, double *first,
                         double *second)
{
  const int fields = num_modes + 1, nodes = e->num_nodes;
  const size_t size = 3 * (size_t)nodes;
  const double anisotropy = find_anisotropy(e);
  double *phi = malloc(((size_t)fields + 1) * size * sizeof *phi);
  if (!phi) return -1.0;
  double *W = phi + (size_t)fields * size;
  for (int n = 0; n < nodes; n++)
    for (int i = 0; i < 3; i++) {
      phi[3 * n + i] = e->positions[3 * n + i] - center[i];
      for (int a = 0; a < num_modes; a++)
        phi[(size_t)(a + 1) * size + 3 * (size_t)n + (size_t)i] =
            modes[(size_t)a * (size_t)rows + (size_t)(e->freedoms * n + i)];
    }
  for (int b = 0; b < fields; b++) {
    multiply(e, phi + (size_t)b * size, W);
    memset(first + 3 * b, 0, 3 * sizeof *first);
    for (size_t n = 0; n < size; n++) first[3 * b + (int)(n % 3)] += W[n];
    for (int a = 0; a < fields; a++) {
      const double *own = phi + (size_t)a * size;
      double S[9] = {0.0};
      for (size_t n = 0; n < size; n += 3)
        for (size_t i = 0; i < 9; i++) S[i] += own[n + i / 3] * W[n + i % 3];
      memcpy(second + 9 * ((size_t)a * (size_t)fields + (size_t)b), S, sizeof S);
    }
  }
  free(phi);

  /* the centre of mass is the origin, and the modes have no momentum */
  memset(first, 0, 3 * (size_t)fields * sizeof *first);
  const double half = 0.5 * (J[0] + J[4] + J[8]);
  for (int i = 0; i < 9; i++) second[i] = (i % 4 == 0 ? half : 0.0) - J[i];
  for (int a = 1; a < fields; a++) {
    double *S = second + 9 * (size_t)a, *T = second + 9 * (size_t)a * (size_t)fields;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j <= i; j++) {
        const double mean = 0.5 * (S[3 * i + j] + S[3 * j + i]);
        S[3 * i + j] = S[3 * j + i] = T[3 * i + j] = T[3 * j + i] = mean;
      }
  }
  return anisotropy;
}
