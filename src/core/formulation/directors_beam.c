/* Beam elements in directors (mechanism/beam.h, the deformation `directors`).
 *
 * With the directors a_i, b_i and the points x, y of the markers, all of them combinations of the
 * vectors of two bodies with constant coefficients, the deformation is quadratic,
 *
 *     rho_i = (a_k . b_j - a_j . b_k)/2,  i, j, k cyclic,      u_i = (a_i + b_i) . (y - x)/2,
 *
 * and invariant under rotations and translations of both bodies.  Between q0 and q1, with the mean
 * q_m, the force on the vectors is
 *
 *     f = sum F_i grad d_i(q_m),     F = K (e(q0) + e(q1))/2 + C grad d(q_m) v/L.
 *
 * As grad d(q_m) . (q1 - q0) = d(q1) - d(q0), the work of its elastic part is the change of the
 * potential (L/2) e . K e, and every rotation or translation leaves it without work at the mean:
 * energy and both momenta are conserved (Romero, Armero 2002).  If v = (q1 - q0)/h, damping takes
 * h L e' . C e' out, e' = (e(q1) - e(q0))/h, and cannot add energy.  A point is q0 = q1 = q_m.
 */
#include <math.h>
#include <string.h>

#include "formulation/directors.h"
#include "lie/small.h"

enum { BOTH = 2 * POLI_VECTORS, SECOND = POLI_VECTORS, DEFORMATIONS = 6 };

/* The vectors of the markers: directors and point of the first, then of the second. */
typedef struct marker_vectors {
  double v[BOTH][3];
} marker_vectors;

/* Coefficient of vector l of the body in vector k of marker b. */
static double share_of(const poli_beam_kernel *kernel, int b, int k, int l)
{
  if (k == POLI_CENTRE) return l == POLI_CENTRE ? 1.0 : kernel->point[b][l];
  return l == POLI_CENTRE ? 0.0 : kernel->axes[b][3 * l + k];
}

static marker_vectors place_markers(const poli_beam_kernel *kernel,
                                    const double *const vectors[2][POLI_VECTORS])
{
  marker_vectors x;
  memset(&x, 0, sizeof x);
  for (int n = 0; n < BOTH; n++)
    for (int l = 0; l < POLI_VECTORS; l++)
      poli_v3_add_scaled(share_of(kernel, n / SECOND, n % SECOND, l), vectors[n / SECOND][l],
                         x.v[n]);
  return x;
}

static void set_deformation(const marker_vectors *x, double d[DEFORMATIONS])
{
  const double(*a)[3] = x->v, (*b)[3] = x->v + SECOND;
  double apart[3];
  poli_v3_subtract(b[POLI_CENTRE], a[POLI_CENTRE], apart);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    d[i] = 0.5 * (poli_v3_dot(a[k], b[j]) - poli_v3_dot(a[j], b[k]));
    d[3 + i] = 0.5 * (poli_v3_dot(a[i], apart) + poli_v3_dot(b[i], apart));
  }
}

/* W with sum f_i d_i = sum W_kl x_k . x_l / 2 */
static void set_products(const double f[DEFORMATIONS], double W[BOTH][BOTH])
{
  memset(W, 0, BOTH * sizeof *W);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    W[k][SECOND + j] = W[SECOND + j][k] = 0.5 * f[i];
    W[j][SECOND + k] = W[SECOND + k][j] = -0.5 * f[i];
    for (int b = 0; b < BOTH; b += SECOND) {
      W[b + i][SECOND + POLI_CENTRE] = W[SECOND + POLI_CENTRE][b + i] = 0.5 * f[3 + i];
      W[b + i][POLI_CENTRE] = W[POLI_CENTRE][b + i] = -0.5 * f[3 + i];
    }
  }
}

/* out += what x acts with on the vectors of the markers, as it acts on those of the bodies */
static void add_on_bodies(const poli_beam_kernel *kernel, double (*const x)[3], double *out)
{
  for (int n = 0; n < BOTH; n++)
    for (int l = 0; l < POLI_VECTORS; l++)
      poli_v3_add_scaled(share_of(kernel, n / SECOND, n % SECOND, l), x[n],
                         out + 3 * (n / SECOND * SECOND + l));
}

/* The gradients of all deformations; linear in x, so that those of the rates are their rates. */
static void set_gradients(const poli_beam_kernel *kernel, const marker_vectors *x,
                          double g[DEFORMATIONS][POLI_PAIR])
{
  const double(*a)[3] = x->v, (*b)[3] = x->v + SECOND;
  double apart[3];
  poli_v3_subtract(b[POLI_CENTRE], a[POLI_CENTRE], apart);
  memset(g, 0, DEFORMATIONS * sizeof *g);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    double by[BOTH][3] = {{0.0}};
    poli_v3_scale(0.5, b[j], by[k]);
    poli_v3_scale(-0.5, b[k], by[j]);
    poli_v3_scale(0.5, a[k], by[SECOND + j]);
    poli_v3_scale(-0.5, a[j], by[SECOND + k]);
    add_on_bodies(kernel, by, g[i]);
    memset(by, 0, sizeof by);
    poli_v3_scale(0.5, apart, by[i]);
    poli_v3_scale(0.5, apart, by[SECOND + i]);
    for (int s = 0; s < 2; s++) {
      poli_v3_add_scaled(s ? 0.5 : -0.5, a[i], by[SECOND * s + POLI_CENTRE]);
      poli_v3_add_scaled(s ? 0.5 : -0.5, b[i], by[SECOND * s + POLI_CENTRE]);
    }
    add_on_bodies(kernel, by, g[3 + i]);
  }
}

/* K += scale x the second derivatives of sum f_i d_i */
static void add_products(const poli_beam_kernel *kernel, double scale, const double f[DEFORMATIONS],
                         double (*K)[POLI_PAIR])
{
  double W[BOTH][BOTH], half[BOTH][BOTH] = {{0.0}}, full[BOTH][BOTH] = {{0.0}};
  set_products(f, W);
  for (int m = 0; m < BOTH; m++)
    for (int n = 0; n < BOTH; n++)
      for (int l = 0; l < POLI_VECTORS; l++)
        half[m][n / SECOND * SECOND + l] += W[m][n] * share_of(kernel, n / SECOND, n % SECOND, l);
  for (int m = 0; m < BOTH; m++)
    for (int n = 0; n < BOTH; n++)
      for (int l = 0; l < POLI_VECTORS; l++)
        full[m / SECOND * SECOND + l][n] +=
            share_of(kernel, m / SECOND, m % SECOND, l) * half[m][n];
  for (int m = 0; m < BOTH; m++)
    for (int n = 0; n < BOTH; n++)
      for (int i = 0; i < 3; i++) K[3 * m + i][3 * n + i] += scale * full[m][n];
}

/* K += scale x sum g_i X_ij h_j^T */
static void add_sandwich(double scale, double (*const g)[POLI_PAIR], const double X[36],
                         double (*const h)[POLI_PAIR], double (*K)[POLI_PAIR])
{
  for (int i = 0; i < DEFORMATIONS; i++) {
    double row[POLI_PAIR] = {0.0};
    for (int j = 0; j < DEFORMATIONS; j++)
      for (int n = 0; n < POLI_PAIR && X[6 * i + j] != 0.0; n++) row[n] += X[6 * i + j] * h[j][n];
    for (int m = 0; m < POLI_PAIR; m++) {
      const double factor = scale * g[i][m];
      for (int n = 0; n < POLI_PAIR; n++) K[m][n] += factor * row[n];
    }
  }
}

pol_status poli_directors_beam(const poli_placed_force *force, const poli_pair *before,
                               const poli_pair *after, const poli_pair *mean, double share,
                               unsigned want, const pol_terms *out)
{
  const poli_beam_kernel *kernel = &force->kernel.beam;
  const pol_section *section = kernel->force->section;
  const double length = kernel->force->length;
  const marker_vectors x0 = place_markers(kernel, before->vector),
                       x1 = place_markers(kernel, after->vector),
                       x = place_markers(kernel, mean->vector),
                       rate = place_markers(kernel, mean->rate);
  double d0[DEFORMATIONS], d1[DEFORMATIONS], strain[DEFORMATIONS], speed[DEFORMATIONS] = {0.0},
                                                                   f[DEFORMATIONS];
  double g[DEFORMATIONS][POLI_PAIR], slope[DEFORMATIONS][POLI_PAIR], trace = 0.0;
  for (int i = 0; i < 3; i++) trace += poli_v3_dot(x1.v[i], x1.v[SECOND + i]);
  if (trace < 1.0 + 2.0 * cos(poli_deformation_most(POL_BEAM_DIRECTORS))) return POL_RETRY;
  set_deformation(&x0, d0);
  set_deformation(&x1, d1);
  set_gradients(kernel, &x, g);
  for (int i = 0; i < DEFORMATIONS; i++) {
    strain[i] = 0.5 * (d0[i] + d1[i]) / length - section->strain[i];
    for (int n = 0; n < POLI_PAIR; n++)
      speed[i] += g[i][n] * mean->rate[n / 3 / SECOND][n / 3 % SECOND][n % 3] / length;
  }
  for (int i = 0; i < DEFORMATIONS; i++) {
    f[i] = 0.0;
    for (int j = 0; j < DEFORMATIONS; j++)
      f[i] += section->stiffness[6 * i + j] * strain[j] + section->damping[6 * i + j] * speed[j];
  }
  for (int n = 0; n < BOTH && want & POL_FORCE; n++) {
    const int offset = poli_vector_offset(mean->body[n / SECOND], n % SECOND);
    for (int i = 0; i < DEFORMATIONS && offset >= 0; i++)
      poli_v3_add_scaled(f[i], g[i] + 3 * n, out->balance + mean->body[n / SECOND]->v + offset);
  }
  if (want & POL_STIFFNESS) {
    double K[POLI_PAIR][POLI_PAIR] = {{0.0}};
    set_gradients(kernel, &x1, slope);
    add_sandwich(share / length, g, section->stiffness, slope, K);
    set_gradients(kernel, &rate, slope);
    add_sandwich(share / length, g, section->damping, slope, K);
    add_products(kernel, share, f, K);
    poli_pair_add_square(mean, force->coupling, K, out->stiffness);
  }
  if (want & POL_DAMPING) {
    double D[POLI_PAIR][POLI_PAIR] = {{0.0}};
    add_sandwich(1.0 / length, g, section->damping, g, D);
    poli_pair_add_square(mean, force->coupling, D, out->damping);
  }
  return POL_OK;
}
