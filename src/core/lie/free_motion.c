/* The exact motion of a free rigid body: R' = w~ R with R J R^T w = L constant.
 *
 * Sphere:     R1 = exp(h L/J) R0.
 * Symmetric:  R1 = exp(h L/Jt) R0 exp(h (1/Ja - 1/Jt) (L.a) e), with a = R0 e the axis of symmetry,
 *             Ja the moment about it and Jt the other one.
 * Asymmetric: the direction n = R^T L/|L| moves on its polhode by Jacobi's elliptic functions
 *             (addition theorem: no inverse functions); the remaining angle psi about L is an
 *             integral of a smooth function between 1/2 and 1, by Gauss-Legendre with 10 nodes.
 *
 * Elliptic functions by descending Landen transformations (Bulirsch 1965).
 */
#include "lie/free_motion.h"

#include <math.h>
#include <stddef.h>

#include <polhode/lie.h>

#include "lie/coefficients.h"
#include "lie/small.h"

void poli_free_body_set(poli_free_body *body, const double moment[3])
{
  int *p = body->order;
  const double *J = body->moment;
  poli_v3_copy(moment, body->moment);
  body->axis = -1;
  for (int i = 0; i < 3; i++) {
    const double a = J[(i + 1) % 3], b = J[(i + 2) % 3];
    p[i] = i;
    if (fabs(a - b) <= 1e-14 * fmax(a, b)) body->axis = i;
  }
  body->is_sphere =
      body->axis >= 0 && fabs(J[0] - J[1]) <= 1e-14 * J[0] && fabs(J[1] - J[2]) <= 1e-14 * J[1];
  body->parity = 1.0;
  for (int i = 0; i < 3; i++) { /* bubble sort of three */
    const int k = i % 2;
    if (J[p[k]] <= J[p[k + 1]]) continue;
    const int swapped = p[k];
    p[k] = p[k + 1];
    p[k + 1] = swapped;
    body->parity = -body->parity;
  }
  body->inverse_smallest = 1.0 / J[p[0]];
  if (body->axis >= 0) {
    const double Jt = J[(body->axis + 1) % 3], Ja = J[body->axis];
    body->inverse = 1.0 / Jt;
    body->excess = (Jt - Ja) / (Ja * Jt);
  }
  body->A = (J[p[1]] - J[p[0]]) / (J[p[0]] * J[p[1]]);
  body->B = (J[p[2]] - J[p[1]]) / (J[p[1]] * J[p[2]]);
}

/* --- Jacobi's elliptic functions of complementary parameter mc = 1 - k^2 -----------------------
 */

enum { MAX_LEVELS = 10 };

typedef struct landen {
  int last;
  double em[MAX_LEVELS], en[MAX_LEVELS], c;
} landen;

static void landen_set(landen *chain, double mc)
{
  double a = 1.0, b = fmax(mc, 1e-32);
  for (int i = 0; i < MAX_LEVELS; i++) {
    chain->last = i;
    chain->em[i] = a;
    chain->en[i] = b = sqrt(b);
    chain->c = 0.5 * (a + b);
    if (fabs(a - b) < 1e-8 * a) break;
    b *= a;
    a = chain->c;
  }
}

/* sn, cn and dn of u. */
static void elliptic(const landen *chain, double u, double f[3])
{
  const double S = sin(u * chain->c), K = cos(u * chain->c);
  if (fabs(S) < 1e-150) {
    f[0] = S;
    f[1] = K < 0.0 ? -1.0 : 1.0;
    f[2] = 1.0;
    return;
  }
  double a = K / S, c = chain->c * a, d = 1.0;
  for (int i = chain->last; i >= 0; i--) {
    a *= c;
    c *= d;
    d = (chain->en[i] + a) / (chain->em[i] + a);
    a = c / chain->em[i];
  }
  a = 1.0 / sqrt(c * c + 1.0);
  f[0] = S < 0.0 ? -a : a;
  f[1] = c * f[0];
  f[2] = d;
}

/* --- the polhode ------------------------------------------------------------------------------ */

/* In axes such that the polhode circles the third one, with n3 >= 0. */
typedef struct polhode {
  double r, A3, kA, AC;
  landen chain;
} polhode;

/* n moves on by an argument, of which f are the elliptic functions; its length becomes 1. */
static void shift(const polhode *path, const double f[3], const double n[3], double to[3])
{
  const double s = f[0], c = f[1], D = f[2], e = n[2] / path->A3;
  to[0] = n[0] * c - path->r * n[1] * e * s * D;
  to[1] = n[1] * c * D + n[0] * e * s / path->r;
  to[2] = n[2] * D - path->kA * n[0] * n[1] * s * c;
  poli_v3_scale(1.0 / sqrt(poli_v3_dot(to, to)), to, to);
}

/* The mean over the path of 1/(1 + n3), where the argument runs from 0 to delta. */
static double mean_of_angle_rate(const polhode *path, const double start[3], double delta)
{
  static const double node[5] = {0.14887433898163121, 0.43339539412924719, 0.67940956829902441,
                                 0.86506336668898451, 0.97390652851717172};
  static const double weight[5] = {0.29552422471475287, 0.26926671930999636, 0.21908636251598204,
                                   0.14945134915058059, 0.066671344308688138};
  const int panels = fabs(delta) < 1e6 ? 1 + (int)fabs(delta) : 1000000;
  const double half = 0.5 * delta / panels;
  double f[5][3], f_middle[3], middle[3], sum = 0.0;
  for (int j = 0; j < 5; j++) elliptic(&path->chain, node[j] * half, f[j]);
  for (int k = 0; k < panels; k++) {
    elliptic(&path->chain, (2 * k + 1) * half, f_middle);
    shift(path, f_middle, start, middle);
    for (int j = 0; j < 5; j++) { /* the nodes on both sides of the middle */
      const double N = 1.0 - path->AC * middle[1] * middle[1] * f[j][0] * f[j][0];
      const double e = middle[2] * f[j][2];
      const double o = path->kA * middle[0] * middle[1] * f[j][0] * f[j][1];
      sum += weight[j] * N * (1.0 / (N + e - o) + 1.0 / (N + e + o));
    }
  }
  return 0.5 * sum / panels;
}

/* The smallest rotation that takes n to the third axis. */
static void lift(const double n[3], double q[4])
{
  const double scale = 1.0 / sqrt(2.0 * (1.0 + n[2]));
  q[0] = (1.0 + n[2]) * scale;
  q[1] = n[1] * scale;
  q[2] = -n[0] * scale;
  q[3] = 0.0;
}

/* (a, b, c) -> (c, -b, a), its own inverse: a half turn */
static void exchange(double v[3])
{
  const double first = v[0];
  v[0] = v[2];
  v[1] = -v[1];
  v[2] = first;
}

static void move_asymmetric(const poli_free_body *body, const double q0[4], const double L[3],
                            double G, double h, double q1[4])
{
  const int *p = body->order;
  double R[9], given[3], n[3], to[3], f[3], A = body->A, B = body->B, I3 = body->moment[p[2]];
  polhode path;
  pol_quat_to_matrix(q0, R);
  poli_m3_apply_transposed(R, L, given);
  poli_v3_scale(1.0 / sqrt(poli_v3_dot(given, given)), given, given);

  /* axes in which the polhode circles the third one, on its positive side */
  for (int i = 0; i < 3; i++) n[i] = given[p[i]];
  n[1] *= body->parity;
  const int about_first = A * n[0] * n[0] > B * n[2] * n[2] || B == 0.0;
  if (about_first) {
    exchange(n);
    const double old = A;
    A = -B;
    B = -old;
    I3 = body->moment[p[0]];
  }
  const double flip = n[2] < 0.0 ? -1.0 : 1.0;
  n[1] *= flip;
  n[2] *= flip;

  const double C = A + B, sign = C < 0.0 ? -1.0 : 1.0;
  const double a3 = n[2] * n[2] + n[1] * n[1] * A / C;
  const double above = (B * n[2] * n[2] - A * n[0] * n[0]) * C, below = B * (C * a3);
  path.r = sqrt(B / C);
  path.A3 = fmax(sqrt(fmax(a3, 0.0)), 1e-150);
  path.kA = sign * A / (path.A3 * sqrt(B * C));
  path.AC = A / (C * path.A3 * path.A3);
  landen_set(&path.chain, below == 0.0 ? 0.0 : fmin(fmax(above / below, 0.0), 1.0));
  const double delta = G * path.A3 * sign * sqrt(B * C) * h;

  elliptic(&path.chain, delta, f);
  shift(&path, f, n, to);
  const double mean = mean_of_angle_rate(&path, n, delta);
  const double psi = h * (G / I3 + G * (n[0] * n[0] * C + n[1] * n[1] * B) * mean);

  /* the increment in body axes, then back to the given axes */
  double before[4], after[4], turn[4] = {cos(0.5 * psi), 0.0, 0.0, sin(0.5 * psi)}, dq[4];
  lift(n, before);
  lift(to, after);
  pol_quat_conjugate(before, before);
  pol_quat_multiply(before, turn, dq);
  pol_quat_multiply(dq, after, dq);
  dq[2] *= flip;
  dq[3] *= flip;
  if (about_first) exchange(dq + 1);
  dq[2] *= body->parity;
  double increment[4] = {dq[0]};
  for (int i = 0; i < 3; i++) increment[1 + p[i]] = dq[1 + i];
  pol_quat_multiply(q0, increment, q1);
}

/* --- its derivative --------------------------------------------------------------------------- */

/* dD = J^-1(t) (I + L~ D), with J^-1 = R diag(1/J) R^T */
static void derivative_rate(const poli_free_body *body, const double q[4], const double L[3],
                            const double D[9], double dD[9])
{
  double R[9], X[9], Y[9], skew[9];
  pol_quat_to_matrix(q, R);
  poli_m3_skew(L, skew);
  poli_m3_multiply(skew, D, X);
  X[0] += 1.0;
  X[4] += 1.0;
  X[8] += 1.0;
  poli_m3_multiply_transposed(R, X, Y);
  for (int i = 0; i < 9; i++) Y[i] /= body->moment[i / 3];
  poli_m3_multiply(R, Y, dD);
}

/* One step of the classical Runge-Kutta method with the rotations at its ends. */
static void derivative_step(const poli_free_body *body, const double q0[4], const double q1[4],
                            const double L[3], double h, double D[9])
{
  const double side =
      q0[0] * q1[0] + q0[1] * q1[1] + q0[2] * q1[2] + q0[3] * q1[3] < 0.0 ? -1.0 : 1.0;
  double middle[4], k[4][9], at[9];
  for (int i = 0; i < 4; i++) middle[i] = q0[i] + side * q1[i];
  pol_quat_normalize(middle);
  derivative_rate(body, q0, L, D, k[0]);
  for (int i = 0; i < 9; i++) at[i] = D[i] + 0.5 * h * k[0][i];
  derivative_rate(body, middle, L, at, k[1]);
  for (int i = 0; i < 9; i++) at[i] = D[i] + 0.5 * h * k[1][i];
  derivative_rate(body, middle, L, at, k[2]);
  for (int i = 0; i < 9; i++) at[i] = D[i] + h * k[2][i];
  derivative_rate(body, q1, L, at, k[3]);
  for (int i = 0; i < 9; i++) D[i] += h / 6.0 * (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]);
}

/* The derivative of the motion of an asymmetric body, in steps of at most half a radian. */
static void derive_asymmetric(const poli_free_body *body, const double q0[4], const double L[3],
                              double h, const double q1[4], double D[9])
{
  const double turn = fabs(h) * sqrt(poli_v3_dot(L, L)) * body->inverse_smallest;
  const int panels = turn <= 0.6 ? 1 : (int)ceil(turn / 0.5);
  double from[4], to[4];
  for (int i = 0; i < 9; i++) D[i] = 0.0;
  for (int i = 0; i < 4; i++) from[i] = q0[i];
  for (int k = 1; k <= panels; k++) {
    if (k < panels) poli_free_motion(body, from, L, h / panels, to, NULL);
    for (int i = 0; i < 4; i++) to[i] = k < panels ? to[i] : q1[i];
    derivative_step(body, from, to, L, h / panels, D);
    for (int i = 0; i < 4; i++) from[i] = to[i];
  }
}

/* --- the motion ------------------------------------------------------------------------------- */

/* Column i of the rotation matrix; i, j, k are 0, 1, 2 in turn. */
static inline void axis_of(const double q[4], int i, int j, int k, double a[3])
{
  const double *v = q + 1;
  a[i] = 1.0 - 2.0 * (v[j] * v[j] + v[k] * v[k]);
  a[j] = 2.0 * (v[i] * v[j] + q[0] * v[k]);
  a[k] = 2.0 * (v[i] * v[k] - q[0] * v[j]);
}

/* poli_half_angle_set with as many terms as a small angle needs. */
static inline void set_half_angle(double x, poli_half_angle *half)
{
  if (x > 0.04) {
    poli_half_angle_set(x, half);
    return;
  }
  const double y = 0.25 * x, z = y * y;
  half->x = x;
  half->sinc = (1.0 - y * (1.0 / 6.0)) + z * ((1.0 / 120.0 - y * (1.0 / 5040.0)) +
                                              z * (1.0 / 362880.0 - y * (1.0 / 39916800.0)));
  half->cosine = (1.0 - y * 0.5) + z * ((1.0 / 24.0 - y * (1.0 / 720.0)) +
                                        z * (1.0 / 40320.0 - y * (1.0 / 3628800.0)));
}

/* poli_tangent_coefficients_set likewise. */
static inline void set_tangent(const poli_half_angle *half, poli_tangent_coefficients *c)
{
  const double x = half->x;
  if (x > 0.04) {
    poli_tangent_coefficients_set(half, 0, c);
    return;
  }
  c->b = 0.5 * half->sinc * half->sinc;
  c->s = (1.0 / 6.0 - x * (1.0 / 120.0)) +
         x * x * ((1.0 / 5040.0 - x * (1.0 / 362880.0)) + x * x * (1.0 / 39916800.0));
}

/* The derivative is h (dexp(theta)/Jt + (1/Ja - 1/Jt) (exp(theta) a) a^T), theta = h L/Jt. */
static void move_symmetric(const poli_free_body *body, const double q0[4], const double L[3],
                           double h, double q1[4], double *D)
{
  double theta[3], before[3], after[3];
  poli_half_angle half;
  poli_tangent_coefficients c;
  poli_v3_scale(h * body->inverse, L, theta);
  set_half_angle(poli_v3_dot(theta, theta), &half);
  const double outer[4] = {half.cosine, 0.5 * half.sinc * theta[0], 0.5 * half.sinc * theta[1],
                           0.5 * half.sinc * theta[2]};
  if (D) {
    set_tangent(&half, &c);
    poli_m3_diagonal(1.0, D);
    poli_m3_add_skew(c.b, theta, D);
    poli_m3_add_skew_product(c.s, theta, theta, D);
    for (int i = 0; i < 9; i++) D[i] *= h * body->inverse;
  }
  if (body->is_sphere) {
    poli_quat_multiply(outer, q0, q1);
    return;
  }
  const int i = body->axis, j = i < 2 ? i + 1 : 0, k = j < 2 ? j + 1 : 0;
  axis_of(q0, i, j, k, before);
  const double angle = h * body->excess * poli_v3_dot(L, before), *v = q0 + 1;
  set_half_angle(angle * angle, &half);
  const double cosine = half.cosine, sine = 0.5 * half.sinc * angle;
  double turned[4] = {q0[0] * cosine - v[i] * sine};
  turned[1 + i] = v[i] * cosine + q0[0] * sine;
  turned[1 + j] = v[j] * cosine + v[k] * sine;
  turned[1 + k] = v[k] * cosine - v[j] * sine;
  poli_quat_multiply(outer, turned, q1);
  if (!D) return;
  axis_of(q1, i, j, k, after);
  poli_m3_add_outer(h * body->excess, after, before, D);
}

/* To length 1, of which it is short by round-off: one step of Newton's method for 1/sqrt. */
static inline void renormalize(double q[4])
{
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  const double scale = fabs(square - 1.0) < 1e-9 ? 1.5 - 0.5 * square : 1.0 / sqrt(square);
  for (int i = 0; i < 4; i++) q[i] *= scale;
}

void poli_free_motion(const poli_free_body *body, const double q0[4], const double L[3], double h,
                      double q1[4], double *D)
{
  if (body->axis >= 0) {
    move_symmetric(body, q0, L, h, q1, D);
    renormalize(q1);
    return;
  }
  /* of iterations that diverge: so many turns would take forever, and the result is refused */
  const double most_turn = D ? 1e3 : 1e5;
  const double G = sqrt(poli_v3_dot(L, L)), from[4] = {q0[0], q0[1], q0[2], q0[3]};
  if (!(fabs(h) * G <= most_turn * fmin(body->moment[0], fmin(body->moment[1], body->moment[2])))) {
    for (int i = 0; i < 4; i++) q1[i] = (double)NAN;
    for (int i = 0; i < 9 && D; i++) D[i] = (double)NAN;
    return;
  }
  /* far below round-off, where squares of L underflow */
  if (fabs(h) * G * body->inverse_smallest < 1e-40) {
    for (int i = 0; i < 4; i++) q1[i] = from[i];
  } else {
    move_asymmetric(body, from, L, G, h, q1);
    renormalize(q1);
  }
  if (D) derive_asymmetric(body, from, L, h, q1, D);
}
