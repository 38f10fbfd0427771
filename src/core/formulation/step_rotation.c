/* The rotation of one body in a step with Euler parameters (step_equations.h): what
 * step_equations.c needs of it, and the derivatives.  o is the product of quaternions, conj() the
 * conjugate.  Rotations are normalised, R = R(p/|p|), so that a variation of p turns the directors
 * by
 *
 *     dtheta = 2 Im(dp o conj(p)) / |p|^2.
 */
#include <string.h>

#include "formulation/step_equations.h"
#include "lie/small.h"

/* --- quaternions and directors ---------------------------------------------------------------- */

static double dot(const double a[4], const double b[4])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* conj(a) o b */
static void multiply_conjugate(const double a[4], const double b[4], double out[4])
{
  double left[4];
  pol_quat_conjugate(a, left);
  pol_quat_multiply(left, b, out);
}

/* a o conj(b) */
static void multiply_by_conjugate(const double a[4], const double b[4], double out[4])
{
  double right[4];
  pol_quat_conjugate(b, right);
  pol_quat_multiply(a, right, out);
}

/* The inertia of y = conj(p) o p': 4 (tr(J)/2, J) */
static void apply_inertia(const pol_body *body, const double y[4], double out[4])
{
  const double *J = body->inertia;
  double turned[3];
  poli_m3_apply(J, y + 1, turned);
  out[0] = 2.0 * (J[0] + J[4] + J[8]) * y[0];
  poli_v3_scale(4.0, turned, out + 1);
}

void poli_body_momenta(const pol_body *body, const double *q, const double *v, double *p)
{
  double y[4], eta[4];
  multiply_conjugate(q, v, y);
  apply_inertia(body, y, eta);
  pol_quat_multiply(q, eta, p);
}

/* The columns of R(p/|p|), one after the other, and the matrix. */
static void set_directors(const double p[4], double R[9], double d[9])
{
  double unit[4];
  memcpy(unit, p, sizeof unit);
  pol_quat_normalize(unit);
  pol_quat_to_matrix(unit, R);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) d[3 * k + i] = R[3 * i + k];
}

/* The angular velocity 2 R y in global axes, and what it does to the directors. */
static void set_rates(const double R[9], const double d[9], const double y[4], double spin[3],
                      double rate[9])
{
  poli_m3_apply(R, y + 1, spin);
  poli_v3_scale(2.0, spin, spin);
  for (int k = 0; k < 3; k++) poli_v3_cross(spin, d + 3 * k, rate + 3 * k);
}

/* --- values ----------------------------------------------------------------------------------- */

/* (tr(J) Re(y), R J Omega), half of p o Jh y o conj(p) with |p| = 1.  It has to be the same number
 * at the end of a step and at the start of the next one: a length that misses 1 by round-off would
 * add up. */
static void find_momentum(const pol_body *body, const double R[9], const double y[4],
                          double momentum[4])
{
  double eta[4];
  apply_inertia(body, y, eta);
  momentum[0] = 0.5 * eta[0];
  poli_m3_apply(R, eta + 1, momentum + 1);
  poli_v3_scale(0.5, momentum + 1, momentum + 1);
}

void poli_body_step_set(poli_body_step *step, const pol_body *body, const poli_step_data *at,
                        const double *q, const double *v, const double *p, const double *a,
                        const double *b)
{
  step->body = body;
  step->midway = at->midway;
  step->h = at->h;
  for (int i = 0; i < 4; i++) {
    step->q0[i] = q[i];
    step->a[i] = a[i];
    step->b[i] = b[i];
    step->middle[i] = q[i] + 0.5 * at->h * a[i];
    step->q1[i] = q[i] + at->h * a[i];
    step->end[i] = at->midway ? step->middle[i] : step->q1[i];
  }
  set_directors(step->end, step->R_end, step->d_end);
  multiply_conjugate(step->end, b, step->y_end);
  set_rates(step->R_end, step->d_end, step->y_end, step->spin_end, step->rate_end);
  double was[4];
  if (step->midway) {
    /* all in the middle; the momenta at the end are twice those there less those of the start */
    memcpy(step->d, step->d_end, sizeof step->d);
    memcpy(step->rate, step->rate_end, sizeof step->rate);
    memcpy(step->y_mean, step->y_end, sizeof step->y_mean);
    step->mu = dot(step->middle, step->middle);
    poli_body_momenta(body, step->middle, step->b, step->p1);
    for (int i = 0; i < 4; i++) step->p1[i] = 2.0 * step->p1[i] - p[i];
    multiply_by_conjugate(step->p1, step->q1, step->momentum);
    multiply_by_conjugate(p, step->q0, was);
    for (int i = 0; i < 4; i++) step->momentum[i] = 0.5 * (step->momentum[i] - was[i]);
  } else {
    /* means of the directors, of their rates and of y at both ends, and the change of momentum */
    double R0[9], d0[9], y0[4], spin0[3], rate0[9];
    set_directors(step->q0, R0, d0);
    multiply_conjugate(step->q0, v, y0);
    set_rates(R0, d0, y0, spin0, rate0);
    for (int i = 0; i < 9; i++) {
      step->d[i] = 0.5 * (d0[i] + step->d_end[i]);
      step->rate[i] = 0.5 * (rate0[i] + step->rate_end[i]);
    }
    for (int i = 0; i < 4; i++) step->y_mean[i] = 0.5 * (y0[i] + step->y_end[i]);
    step->mu = dot(step->q0, step->q1);
    find_momentum(body, R0, y0, was);
    find_momentum(body, step->R_end, step->y_end, step->momentum);
    for (int i = 0; i < 4; i++) step->momentum[i] -= was[i];
  }
  /* Q = (d1 d2 d3)^-T */
  for (int k = 0; k < 3; k++)
    poli_v3_cross(step->d + 3 * ((k + 1) % 3), step->d + 3 * ((k + 2) % 3), step->Q + 3 * k);
  const double determinant = poli_v3_dot(step->d, step->Q);
  for (int i = 0; i < 9; i++) step->Q[i] /= determinant;
  multiply_conjugate(step->middle, a, step->zeta);
  double turn[4];
  multiply_by_conjugate(a, step->q0, turn);
  for (int i = 0; i < 4; i++) step->zeta[i] /= step->mu;
  for (int i = 0; i < 3; i++) step->step_spin[i] = 2.0 * turn[1 + i] / step->mu;
}

void poli_body_step_pace(const poli_body_step *step, double pace[POLI_TURN])
{
  if (step->midway) {
    memcpy(pace, step->rate, sizeof step->rate);
    return;
  }
  for (int k = 0; k < 3; k++) poli_v3_cross(step->step_spin, step->d + 3 * k, pace + 3 * k);
}

/* sum e_k x (Q^T psi_k) */
static void add_spin(const poli_body_step *step, double scale, const double *psi, double out[3])
{
  for (int k = 0; k < 3; k++) {
    double unit[3] = {k == 0, k == 1, k == 2}, local[3];
    for (int j = 0; j < 3; j++) local[j] = poli_v3_dot(step->Q + 3 * j, psi + 3 * k);
    poli_v3_add_scaled_cross(scale, unit, local, out);
  }
}

void poli_body_step_residual(const poli_body_step *step, const double *phi, const double *psi,
                             double *kinematic, double *balance)
{
  double excess[4], eta[4];
  for (int i = 0; i < 4; i++) excess[i] = step->zeta[i] - step->y_mean[i];
  apply_inertia(step->body, excess, eta);
  kinematic[0] += eta[0];
  poli_v3_add_scaled(0.5, eta + 1, kinematic + 1);
  add_spin(step, -1.0, psi, kinematic + 1);
  for (int i = 0; i < 4; i++) balance[i] += step->momentum[i];
  for (int k = 0; k < 3; k++) {
    poli_v3_add_scaled_cross(1.0, step->d + 3 * k, phi + 3 * k, balance + 1);
    poli_v3_add_scaled_cross(step->h, step->rate + 3 * k, psi + 3 * k, balance + 1);
  }
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* Column c of a map: what it gives for the unit quaternion c. */
static void set_column(poli_body_map *map, int c, double scale, const double column[9])
{
  for (int i = 0; i < 9; i++) map->turn[i][c] = scale * column[i];
}

/* The directors and rates at the end for a variation of y there and a turn dtheta of them: d(d_k) =
 * dtheta x d_k, d(rate_k) = dspin x d_k + spin x d(d_k), dspin = dtheta x spin + 2 R dy. */
static void vary_end(const poli_body_step *step, const double dtheta[3], const double dy[4],
                     double d[9], double rate[9])
{
  double dspin[3];
  poli_m3_apply(step->R_end, dy + 1, dspin);
  poli_v3_scale(2.0, dspin, dspin);
  poli_v3_add_scaled_cross(1.0, dtheta, step->spin_end, dspin);
  for (int k = 0; k < 3; k++) {
    poli_v3_cross(dtheta, step->d_end + 3 * k, d + 3 * k);
    poli_v3_cross(dspin, step->d_end + 3 * k, rate + 3 * k);
    poli_v3_add_scaled_cross(1.0, step->spin_end, d + 3 * k, rate + 3 * k);
  }
}

/* dtheta and dy of the end for a variation of q1. */
static void vary_parameters(const poli_body_step *step, const double dp[4], double dtheta[3],
                            double dy[4])
{
  double share = step->midway ? 0.5 : 1.0, turn[4];
  multiply_by_conjugate(dp, step->end, turn);
  poli_v3_scale(2.0 * share / dot(step->end, step->end), turn + 1, dtheta);
  multiply_conjugate(dp, step->b, dy);
  for (int i = 0; i < 4; i++) dy[i] *= share;
}

void poli_body_step_maps(const poli_body_step *step, poli_body_maps *maps)
{
  static const double still[3] = {0.0, 0.0, 0.0};
  double weight = step->midway ? 1.0 : 0.5; /* of the end in the means */
  for (int c = 0; c < 4; c++) {
    double unit[4] = {c == 0, c == 1, c == 2, c == 3};
    double dtheta[3], dy[4], d[9], rate[9];
    vary_parameters(step, unit, dtheta, dy);
    vary_end(step, dtheta, dy, d, rate);
    set_column(&maps->end_q, c, 1.0, d);
    set_column(&maps->end_rate_q, c, 1.0, rate);
    set_column(&maps->mean_q, c, weight, d);
    set_column(&maps->rate_q, c, weight, rate);
    multiply_conjugate(step->end, unit, dy);
    vary_end(step, still, dy, d, rate);
    set_column(&maps->end_rate_b, c, 1.0, rate);
    set_column(&maps->rate_b, c, weight, rate);
    /* the velocities that forces see, by a */
    if (step->midway) {
      for (int i = 0; i < 9; i++) maps->pace_a.turn[i][c] = step->h * maps->rate_q.turn[i][c];
      continue;
    }
    double turn[4], spin[3], column[9];
    multiply_by_conjugate(unit, step->q0, turn);
    for (int i = 0; i < 3; i++)
      spin[i] = (2.0 * turn[1 + i] - step->h * step->q0[c] * step->step_spin[i]) / step->mu;
    for (int k = 0; k < 3; k++) {
      double moved[3] = {maps->mean_q.turn[3 * k][c], maps->mean_q.turn[3 * k + 1][c],
                         maps->mean_q.turn[3 * k + 2][c]};
      poli_v3_cross(spin, step->d + 3 * k, column + 3 * k);
      poli_v3_add_scaled_cross(step->h, step->step_spin, moved, column + 3 * k);
    }
    set_column(&maps->pace_a, c, 1.0, column);
  }
  /* how a unit force on each number of the directors enters the equations */
  for (int n = 0; n < POLI_TURN; n++) {
    double psi[POLI_TURN] = {0.0}, torque[3], drag[3], spin[3] = {0.0};
    const double unit[3] = {n % 3 == 0, n % 3 == 1, n % 3 == 2};
    psi[n] = 1.0;
    poli_v3_cross(step->d + 3 * (n / 3), unit, torque);
    poli_v3_cross(step->rate + 3 * (n / 3), unit, drag);
    add_spin(step, 1.0, psi, spin);
    for (int i = 0; i < 3; i++) {
      maps->torque.turn[n][1 + i] = torque[i];
      maps->drag.turn[n][1 + i] = step->h * drag[i];
      maps->spin.turn[n][1 + i] = spin[i];
    }
  }
}

/* The momentum at the end for variations dp of q1, dtheta and dy of the end. */
static void vary_momentum(const poli_body_step *step, const double dp[4], const double dtheta[3],
                          const double dy[4], double out[4])
{
  double eta[4], turned[4], first[4], second[4];
  if (!step->midway) {
    double now[4];
    find_momentum(step->body, step->R_end, step->y_end, now);
    find_momentum(step->body, step->R_end, dy, out);
    poli_v3_add_scaled_cross(1.0, dtheta, now + 1, out + 1);
    return;
  }
  /* p1 = 2 middle o eta - p0, d(middle) = dp/2 */
  apply_inertia(step->body, dy, eta);
  pol_quat_multiply(step->middle, eta, first);
  apply_inertia(step->body, step->y_end, eta);
  pol_quat_multiply(dp, eta, turned);
  for (int i = 0; i < 4; i++) first[i] = 2.0 * first[i] + turned[i];
  multiply_by_conjugate(first, step->q1, second);
  multiply_by_conjugate(step->p1, dp, first);
  for (int i = 0; i < 4; i++) out[i] = 0.5 * (second[i] + first[i]);
}

/* out[.][c] of the kinematic equations: inertia times a variation of zeta - y_mean */
static void add_excess(const poli_body_step *step, int c, const double excess[4], double out[4][4])
{
  double eta[4];
  apply_inertia(step->body, excess, eta);
  out[0][c] += eta[0];
  for (int i = 1; i < 4; i++) out[i][c] += 0.5 * eta[i];
}

/* Column c of what varying directors and rates do at constant phi and psi. */
static void add_turned_forces(const poli_body_step *step, const poli_body_maps *maps, int c,
                              const double *phi, const double *psi, poli_body_blocks *blocks)
{
  double h = step->h, by_a[3] = {0.0}, by_b[3] = {0.0}, turned[POLI_TURN] = {0.0}, spin[3] = {0.0};
  double d[3][3], rate[3][3], rate_b[3][3];
  for (int n = 0; n < POLI_TURN; n++) {
    d[n / 3][n % 3] = h * maps->mean_q.turn[n][c];
    rate[n / 3][n % 3] = h * maps->rate_q.turn[n][c];
    rate_b[n / 3][n % 3] = maps->rate_b.turn[n][c];
  }
  for (int k = 0; k < 3; k++) {
    poli_v3_add_scaled_cross(1.0, d[k], phi + 3 * k, by_a);
    poli_v3_add_scaled_cross(h, rate[k], psi + 3 * k, by_a);
    poli_v3_add_scaled_cross(h, rate_b[k], psi + 3 * k, by_b);
    /* d(Q^T psi_k) = -Q^T sum_j (Q_j . psi_k) d(d_j) */
    for (int j = 0; j < 3; j++)
      poli_v3_add_scaled(-poli_v3_dot(step->Q + 3 * j, psi + 3 * k), d[j], turned + 3 * k);
  }
  add_spin(step, -1.0, turned, spin);
  for (int i = 0; i < 3; i++) {
    blocks->balance_a[1 + i][c] += by_a[i];
    blocks->balance_b[1 + i][c] += by_b[i];
    blocks->kinematic_a[1 + i][c] += spin[i];
  }
}

void poli_body_step_blocks(const poli_body_step *step, const poli_body_maps *maps,
                           const double *phi, const double *psi, poli_body_blocks *blocks)
{
  static const double still[4] = {0.0, 0.0, 0.0, 0.0};
  double weight = step->midway ? 1.0 : 0.5, h = step->h;
  memset(blocks, 0, sizeof *blocks);
  for (int c = 0; c < 4; c++) {
    double unit[4] = {c == 0, c == 1, c == 2, c == 3}, dp[4], dtheta[3], dy[4], excess[4], l[4];
    for (int i = 0; i < 4; i++) dp[i] = h * unit[i];
    vary_parameters(step, dp, dtheta, dy);
    /* d(zeta) by a: (conj(q0) o da + h (a . da)) / mu - zeta dmu/mu; less dy of the means */
    const double slope = h * (step->midway ? step->middle[c] : step->q0[c]) / step->mu;
    multiply_conjugate(step->q0, unit, excess);
    excess[0] += h * step->a[c];
    for (int i = 0; i < 4; i++)
      excess[i] = excess[i] / step->mu - slope * step->zeta[i] - weight * dy[i];
    add_excess(step, c, excess, blocks->kinematic_a);
    vary_momentum(step, dp, dtheta, dy, l);
    for (int i = 0; i < 4; i++) blocks->balance_a[i][c] += l[i];
    multiply_conjugate(step->end, unit, dy);
    for (int i = 0; i < 4; i++) excess[i] = -weight * dy[i];
    add_excess(step, c, excess, blocks->kinematic_b);
    vary_momentum(step, still, still, dy, l);
    for (int i = 0; i < 4; i++) blocks->balance_b[i][c] += l[i];
    add_turned_forces(step, maps, c, phi, psi, blocks);
  }
}
