/* The deformations of beam elements; see beam.h.
 *
 * se3: with T the tangent operator of SE(3), dd = T(d)^-1 h2 - T(-d)^-1 h1.  Transposed operators
 * are T(d)^T = X T(-d) X, where X exchanges rotation and translation, so that derivatives of T^-1
 * alone are needed: d(T^-1 c)/dd = -T^-1 d(T y)/dd at y = T^-1 c.
 *
 * so3xr3: with T of SO(3), E = exp(rho/2) and a the Cayley vector of rho/2, increments (t, s) of
 * the frames give
 *
 *     drho = T(rho)^-1 t2 - T(-rho)^-1 t1,
 *     du   = u x m + E s2 - E^T s1,     m = ((I - a~/2) t1 + (I + a~/2) t2)/2,
 *
 * m the rotation of the middle: (I + exp(-rho/2))^-1 = (I + a~/2)/2.
 *
 * Of these two G and D follow from derivatives by d, times B.
 *
 * directors: with w = R2^T (x2 - x1),
 *
 *     drho = ((tr(Q) I - Q^T) t2 - (tr(Q) I - Q) t1)/2,
 *     du   = (r x t1 + w x t2 + (I + Q) s2 - (I + Q^T) s1)/2,
 *
 * where dQ = Q t2~ - t1~ Q, dtr(Q) = 2 rho . (t1 - t2), dr = r x t1 + Q s2 - s1 and
 * dw = w x t2 + s2 - Q^T s1.
 */
#include <math.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/beam.h"

/* --- se3 -------------------------------------------------------------------------------------- */

/* y = A x, A 6 x 6; y must not be x */
static void apply6(const double A[36], const double x[6], double y[6])
{
  for (int i = 0; i < 6; i++) {
    y[i] = 0.0;
    for (int k = 0; k < 6; k++) y[i] += A[6 * i + k] * x[k];
  }
}

/* D = d(T(w)^-1 c)/dw */
static void se3_inverse_derivative(const double w[6], const double c[6], double D[36])
{
  double inverse[36], slope[36], y[6];
  pol_se3_tangent_inverse(w, inverse);
  apply6(inverse, c, y);
  pol_se3_tangent_derivative(w, y, slope);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double sum = 0.0;
      for (int k = 0; k < 6; k++) sum += inverse[6 * i + k] * slope[6 * k + j];
      D[6 * i + j] = -sum;
    }
}

static void se3_set(const double Q[9], const double r[3], poli_deformation *deformation)
{
  double pose[7], back[6], forward[36], backward[36];
  pol_quat_from_matrix(Q, pose);
  pol_quat_normalize(pose);
  poli_v3_copy(r, pose + 4);
  pol_se3_log(pose, deformation->d);
  for (int i = 0; i < 6; i++) back[i] = -deformation->d[i];
  pol_se3_tangent_inverse(deformation->d, forward);
  pol_se3_tangent_inverse(back, backward);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      deformation->B[i][j] = -backward[6 * i + j];
      deformation->B[i][6 + j] = forward[6 * i + j];
    }
}

/* B^T f = (-X T(d)^-1 X f, X T(-d)^-1 X f) */
static void se3_turn(const double d[6], const double f[6], double G[12][6])
{
  double swapped[6], w[6], D[36];
  for (int i = 0; i < 6; i++) swapped[i] = f[(i + 3) % 6];
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < 6; i++) w[i] = side == 0 ? d[i] : -d[i];
    se3_inverse_derivative(w, swapped, D);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) G[6 * side + i][j] = -D[6 * ((i + 3) % 6) + j];
  }
}

static void se3_rate(const double d[6], const double y[12], double D[6][6])
{
  double back[6], first[36], second[36];
  for (int i = 0; i < 6; i++) back[i] = -d[i];
  se3_inverse_derivative(back, y, first);
  se3_inverse_derivative(d, y + 6, second);
  for (int i = 0; i < 36; i++) D[i / 6][i % 6] = first[i] + second[i];
}

/* --- so3xr3 ----------------------------------------------------------------------------------- */

/* D = d(T(w)^-1 c)/dw */
static void so3_inverse_derivative(const double w[3], const double c[3], double D[9])
{
  double inverse[9], slope[9], y[3];
  pol_so3_tangent_inverse(w, inverse);
  poli_m3_apply(inverse, c, y);
  pol_so3_tangent_derivative(w, y, slope);
  poli_m3_multiply(inverse, slope, D);
  for (int i = 0; i < 9; i++) D[i] = -D[i];
}

/* What both derivatives need of rho. */
typedef struct middle {
  double E[9];       /* exp(rho/2) */
  double half[9];    /* T(rho/2)/2: E^T dE = (half drho)~ */
  double a[3];       /* Cayley vector of rho/2 */
  double a_slope[9]; /* da/drho */
} middle;

/* a = k rho, k = 2 tan(phi/4)/phi = 1/2 + phi^2/96 + ..., dk/drho = k1 rho */
static void set_middle(const double rho[3], middle *m)
{
  const double x = poli_v3_dot(rho, rho), phi = sqrt(x);
  double w[3], q[4], k, k1;
  poli_v3_scale(0.5, rho, w);
  pol_so3_exp(w, q);
  pol_quat_to_matrix(q, m->E);
  pol_so3_tangent(w, m->half);
  for (int i = 0; i < 9; i++) m->half[i] *= 0.5;
  if (phi < 0.02) {
    k = 0.5 + x / 96.0 * (1.0 + x / 40.0);
    k1 = (1.0 + x / 20.0) / 48.0;
  } else {
    const double t = tan(phi / 4.0);
    k = 2.0 * t / phi;
    k1 = (0.5 * (1.0 + t * t) - k) / x;
  }
  poli_v3_scale(k, rho, m->a);
  poli_m3_diagonal(k, m->a_slope);
  poli_m3_add_outer(k1, rho, rho, m->a_slope);
}

/* B[row ..][col ..] += s A */
static void add3(const double A[9], double s, int row, int col, double (*B)[12])
{
  for (int i = 0; i < 9; i++) B[row + i / 3][col + i % 3] += s * A[i];
}

/* out = (I + s a~)/2 */
static void middle_share(const double a[3], double s, double out[9])
{
  poli_m3_diagonal(0.5, out);
  poli_m3_add_skew(0.5 * s, a, out);
}

static void so3xr3_set(const double Q[9], const double r[3], poli_deformation *deformation)
{
  double q[4], *rho = deformation->d, *u = rho + 3, back[3], block[9], share[9], skew[9];
  middle m;
  pol_quat_from_matrix(Q, q);
  pol_quat_normalize(q);
  pol_so3_log(q, rho);
  set_middle(rho, &m);
  poli_m3_apply_transposed(m.E, r, u);
  memset(deformation->B, 0, sizeof deformation->B);
  poli_v3_scale(-1.0, rho, back);
  pol_so3_tangent_inverse(back, block);
  add3(block, -1.0, 0, 0, deformation->B);
  pol_so3_tangent_inverse(rho, block);
  add3(block, 1.0, 0, 6, deformation->B);
  poli_m3_skew(u, skew);
  for (int side = 0; side < 2; side++) {
    middle_share(m.a, side == 0 ? -0.5 : 0.5, share);
    poli_m3_multiply(skew, share, block);
    add3(block, 1.0, 3, 6 * side, deformation->B);
  }
  add3(m.E, 1.0, 3, 9, deformation->B);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) deformation->B[3 + i][3 + j] = -m.E[3 * j + i];
}

/* G[row ..][col ..] += s A B */
static void add_product3(const double A[9], const double B[9], double s, int row, int col,
                         double (*G)[6])
{
  double C[9];
  poli_m3_multiply(A, B, C);
  for (int i = 0; i < 9; i++) G[row + i / 3][col + i % 3] += s * C[i];
}

/* With f = (p, n) and c = n x u, B^T f is
 *     t1: -T(rho)^-1 p + (I + a~/2) c/2     s1: -E n
 *     t2: T(-rho)^-1 p + (I - a~/2) c/2     s2: E^T n */
static void so3xr3_turn(const double d[6], const double f[6], double G[12][6])
{
  const double *rho = d, *u = d + 3, *p = f, *n = f + 3;
  double back[3], c[3], turned[3], slope[9], share[9], skew[9], product[9];
  middle m;
  set_middle(rho, &m);
  poli_v3_scale(-1.0, rho, back);
  poli_v3_cross(n, u, c);
  memset(G, 0, 12 * sizeof *G);
  for (int side = 0; side < 2; side++) {
    /* T(-rho)^-1 has the derivative of T^-1 at -rho with the opposite sign */
    so3_inverse_derivative(side == 0 ? rho : back, p, slope);
    for (int i = 0; i < 9; i++) G[6 * side + i / 3][i % 3] -= slope[i];
    poli_m3_skew(c, skew);
    add_product3(skew, m.a_slope, side == 0 ? -0.25 : 0.25, 6 * side, 0, G);
    poli_m3_skew(n, skew);
    middle_share(m.a, side == 0 ? 0.5 : -0.5, share);
    add_product3(share, skew, 1.0, 6 * side, 3, G);
  }
  poli_m3_skew(n, skew);
  poli_m3_multiply(m.E, skew, product);
  add_product3(product, m.half, 1.0, 3, 0, G);
  poli_m3_apply_transposed(m.E, n, turned);
  poli_m3_skew(turned, skew);
  add_product3(skew, m.half, 1.0, 9, 0, G);
}

static void so3xr3_rate(const double d[6], const double y[12], double D[6][6])
{
  const double *rho = d, *u = d + 3, *t1 = y, *s1 = y + 3, *t2 = y + 6, *s2 = y + 9;
  double back[3], apart[3], moved[3], share[9], skew[9], product[9], slope[9];
  middle m;
  set_middle(rho, &m);
  poli_v3_scale(-1.0, rho, back);
  memset(D, 0, 6 * sizeof *D);
  so3_inverse_derivative(back, t1, slope);
  for (int i = 0; i < 9; i++) D[i / 3][i % 3] += slope[i];
  so3_inverse_derivative(rho, t2, slope);
  for (int i = 0; i < 9; i++) D[i / 3][i % 3] += slope[i];
  for (int side = 0; side < 2; side++) {
    middle_share(m.a, side == 0 ? -0.5 : 0.5, share);
    poli_m3_apply(share, side == 0 ? t1 : t2, moved);
    poli_m3_skew(moved, skew);
    for (int i = 0; i < 9; i++) D[3 + i / 3][3 + i % 3] -= skew[i];
  }
  poli_v3_subtract(t1, t2, apart);
  poli_m3_skew(u, skew);
  poli_m3_skew(apart, slope);
  poli_m3_multiply(skew, slope, product);
  add_product3(product, m.a_slope, 0.25, 3, 0, D);
  poli_m3_apply_transposed(m.E, s1, moved);
  poli_m3_skew(moved, skew);
  add_product3(skew, m.half, -1.0, 3, 0, D);
  poli_m3_skew(s2, skew);
  poli_m3_multiply(m.E, skew, product);
  add_product3(product, m.half, -1.0, 3, 0, D);
}

/* --- directors -------------------------------------------------------------------------------- */

/* B[row ..][col ..] += s x~ */
static void add_skew(const double x[3], double s, int row, int col, double (*B)[12])
{
  double skew[9];
  poli_m3_skew(x, skew);
  add3(skew, s, row, col, B);
}

/* += s A x~, or s x~ A if `before` */
static void add_with_skew(const double A[9], const double x[3], int before, double s, int row,
                          int col, double (*B)[12])
{
  double skew[9], product[9];
  poli_m3_skew(x, skew);
  poli_m3_multiply(before ? skew : A, before ? A : skew, product);
  add3(product, s, row, col, B);
}

/* What its terms need of Q and r. */
typedef struct relative {
  double Q[9], Qt[9], r[3], w[3], rho[3];
} relative;

static void set_relative(const double Q[9], const double r[3], const double w[3], relative *x)
{
  memcpy(x->Q, Q, sizeof x->Q);
  for (int i = 0; i < 9; i++) x->Qt[i] = Q[3 * (i % 3) + i / 3];
  poli_v3_copy(r, x->r);
  poli_v3_copy(w, x->w);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    x->rho[i] = 0.5 * (Q[3 * k + j] - Q[3 * j + k]);
  }
}

static void directors_set(const double Q[9], const double r[3], const double w[3],
                          poli_deformation *deformation)
{
  const double trace = Q[0] + Q[4] + Q[8];
  double(*B)[12] = deformation->B, unit[9];
  relative x;
  set_relative(Q, r, w, &x);
  poli_v3_copy(x.rho, deformation->d);
  for (int i = 0; i < 3; i++) deformation->d[3 + i] = 0.5 * (r[i] + x.w[i]);
  memset(B, 0, 6 * sizeof *B);
  poli_m3_diagonal(1.0, unit);
  add3(unit, -0.5 * trace, 0, 0, B);
  add3(x.Q, 0.5, 0, 0, B);
  add3(unit, 0.5 * trace, 0, 6, B);
  add3(x.Qt, -0.5, 0, 6, B);
  add_skew(x.r, 0.5, 3, 0, B);
  add_skew(x.w, 0.5, 3, 6, B);
  add3(unit, -0.5, 3, 3, B);
  add3(x.Qt, -0.5, 3, 3, B);
  add3(unit, 0.5, 3, 9, B);
  add3(x.Q, 0.5, 3, 9, B);
}

/* With f = (p, n), B^T f is
 *     t1: -(tr(Q) p - Q^T p)/2 + n x r/2     s1: -(n + Q n)/2
 *     t2: (tr(Q) p - Q p)/2 + n x w/2        s2: (n + Q^T n)/2 */
static void directors_turn(const poli_deformation *deformation, const double f[6], double G[12][12])
{
  enum { T1 = 0, S1 = 3, T2 = 6, S2 = 9 };
  const double *p = f, *n = f + 3;
  double turned[3], skew[9], outer[9] = {0.0};
  relative x;
  set_relative(deformation->Q, deformation->r, deformation->w, &x);
  memset(G, 0, 12 * sizeof *G);
  poli_m3_add_outer(1.0, p, x.rho, outer);
  for (int side = 0; side < 2; side++) {
    add3(outer, side ? 1.0 : -1.0, 6 * side, T1, G);
    add3(outer, side ? -1.0 : 1.0, 6 * side, T2, G);
  }
  /* those of Q^T p and Q p, of Q n and Q^T n */
  add_with_skew(x.Qt, p, 0, -0.5, T1, T1, G);
  poli_m3_apply(x.Qt, p, turned);
  add_skew(turned, 0.5, T1, T2, G);
  add_with_skew(x.Q, p, 0, 0.5, T2, T2, G);
  poli_m3_apply(x.Q, p, turned);
  add_skew(turned, -0.5, T2, T1, G);
  poli_m3_apply(x.Q, n, turned);
  add_skew(turned, -0.5, S1, T1, G);
  add_with_skew(x.Q, n, 0, 0.5, S1, T2, G);
  add_with_skew(x.Qt, n, 0, -0.5, S2, T1, G);
  poli_m3_apply(x.Qt, n, turned);
  add_skew(turned, 0.5, S2, T2, G);
  /* n x dr and n x dw */
  poli_m3_skew(x.r, skew);
  add_with_skew(skew, n, 1, 0.5, T1, T1, G);
  add_skew(n, -0.5, T1, S1, G);
  add_with_skew(x.Q, n, 1, 0.5, T1, S2, G);
  poli_m3_skew(x.w, skew);
  add_with_skew(skew, n, 1, 0.5, T2, T2, G);
  add_skew(n, 0.5, T2, S2, G);
  add_with_skew(x.Qt, n, 1, -0.5, T2, S1, G);
}

static void directors_rate(const poli_deformation *deformation, const double y[12], double D[6][12])
{
  enum { T1 = 0, S1 = 3, T2 = 6, S2 = 9 };
  const double *t1 = y, *s1 = y + 3, *t2 = y + 6, *s2 = y + 9;
  double apart[3], turned[3], skew[9], outer[9] = {0.0};
  relative x;
  set_relative(deformation->Q, deformation->r, deformation->w, &x);
  memset(D, 0, 6 * sizeof *D);
  poli_v3_subtract(t2, t1, apart);
  poli_m3_add_outer(1.0, apart, x.rho, outer);
  add3(outer, 1.0, 0, T1, D);
  add3(outer, -1.0, 0, T2, D);
  /* -Q^T t2 + Q t1 and Q s2 - Q^T s1, halves */
  for (int row = 0; row < 6; row += 3) {
    const double *forward = row ? s2 : t1, *back = row ? s1 : t2;
    poli_m3_apply(x.Q, forward, turned);
    add_skew(turned, 0.5, row, T1, D);
    add_with_skew(x.Q, forward, 0, -0.5, row, T2, D);
    add_with_skew(x.Qt, back, 0, 0.5, row, T1, D);
    poli_m3_apply(x.Qt, back, turned);
    add_skew(turned, -0.5, row, T2, D);
  }
  /* dr x t1 and dw x t2 */
  poli_m3_skew(x.r, skew);
  add_with_skew(skew, t1, 1, -0.5, 3, T1, D);
  add_with_skew(x.Q, t1, 1, -0.5, 3, S2, D);
  add_skew(t1, 0.5, 3, S1, D);
  poli_m3_skew(x.w, skew);
  add_with_skew(skew, t2, 1, -0.5, 3, T2, D);
  add_skew(t2, -0.5, 3, S2, D);
  add_with_skew(x.Qt, t2, 1, 0.5, 3, S1, D);
}

/* --- all of them ------------------------------------------------------------------------------ */

double poli_deformation_most(pol_beam_strain kind)
{
  return kind == POL_BEAM_DIRECTORS ? 1.5 : 3.0;
}

pol_status poli_deformation_set(pol_beam_strain kind, const double Q[9], const double r[3],
                                const double w[3], poli_deformation *deformation)
{
  memcpy(deformation->Q, Q, sizeof deformation->Q);
  poli_v3_copy(r, deformation->r);
  poli_v3_copy(w, deformation->w);
  if (kind == POL_BEAM_SE3)
    se3_set(Q, r, deformation);
  else if (kind == POL_BEAM_SO3XR3)
    so3xr3_set(Q, r, deformation);
  else
    directors_set(Q, r, w, deformation);
  /* tr(Q) = 1 + 2 cos(angle) */
  const double least = 1.0 + 2.0 * cos(poli_deformation_most(kind));
  return Q[0] + Q[4] + Q[8] < least ? POL_RETRY : POL_OK;
}

void poli_deformation_turn(pol_beam_strain kind, const poli_deformation *deformation,
                           const double f[6], double G[12][12])
{
  double by_d[12][6];
  if (kind == POL_BEAM_DIRECTORS) {
    directors_turn(deformation, f, G);
    return;
  }
  if (kind == POL_BEAM_SE3)
    se3_turn(deformation->d, f, by_d);
  else
    so3xr3_turn(deformation->d, f, by_d);
  memset(G, 0, 12 * sizeof *G);
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 12; j++) G[i][j] += by_d[i][k] * deformation->B[k][j];
}

void poli_deformation_rate(pol_beam_strain kind, const poli_deformation *deformation,
                           const double y[12], double D[6][12])
{
  double by_d[6][6];
  if (kind == POL_BEAM_DIRECTORS) {
    directors_rate(deformation, y, D);
    return;
  }
  if (kind == POL_BEAM_SE3)
    se3_rate(deformation->d, y, by_d);
  else
    so3xr3_rate(deformation->d, y, by_d);
  memset(D, 0, 6 * sizeof *D);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 12; j++) D[i][j] += by_d[i][k] * deformation->B[k][j];
}
