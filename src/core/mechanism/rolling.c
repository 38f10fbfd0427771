/* Rolling; see rolling.h for the equations.  With Q = R1^T R2, omega = Q w2 - w1 and y = r e x t
 * the terms of a row are
 *
 *     velocity      r t . (omega x e) = y . omega
 *     B             y^T (-I, 0, Q, 0)
 *     Z             y^T ((Q w2)~, 0, -Q w2~, 0) + r (t x omega)^T de/dq
 *     reaction      torque1 = -y, torque2 = Q^T y        with t = mu = sum lambda_k t_k
 *     d(torque2)    Q^T dy + (Q^T y)~ dphi2 - Q^T y~ dphi1,   dy = -r mu~ de/dq
 *
 * and for a disk, with da/dq = (a~, 0, -Q a2~, 0) and a2 its axis in the second body,
 *
 *     de/dq = ( a n^T + c I + c e n^T / s ) / s  da/dq.
 *
 * The acceleration at constant velocities is Z times the velocities.
 */
#include "mechanism/rolling.h"

#include <math.h>
#include <string.h>

#include "lie/small.h"

/* The contact at one instant, in axes of the first body. */
typedef struct contact {
  double Q[9];       /* R1^T R2 */
  double a[3], c, s; /* of a disk */
  double e[3];
  double omega[3];
} contact;

/* The rows' directions: n, x, y. */
static const double *direction(const poli_joint_kernel *kernel, int k)
{
  return kernel->view[0].axis[k];
}

static void find_contact(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, contact *at)
{
  const double *n = direction(kernel, 0);
  poli_m3_multiply_transposed(first->R, second->R, at->Q);
  poli_m3_apply(at->Q, second->w, at->omega);
  poli_v3_subtract(at->omega, first->w, at->omega);
  at->s = 1.0;
  poli_v3_scale(-1.0, n, at->e);
  if (!kernel->disk) return;
  poli_m3_apply(at->Q, kernel->disk_axis, at->a);
  at->c = poli_v3_dot(n, at->a);
  poli_v3_add_scaled(at->c, at->a, at->e);
  at->s = sqrt(poli_v3_dot(at->e, at->e));
  poli_v3_scale(1.0 / at->s, at->e, at->e);
}

/* de/dq, 3 x 12 */
static void contact_gradient(const poli_joint_kernel *kernel, const contact *at, double E[3][12])
{
  const double *n = direction(kernel, 0);
  double by_a[9], skew[9], turned[9], da1[9], da2[9];
  memset(E, 0, 3 * sizeof *E);
  if (!kernel->disk) return;
  poli_m3_diagonal(at->c / at->s, by_a);
  poli_m3_add_outer(1.0 / at->s, at->a, n, by_a);
  poli_m3_add_outer(at->c / (at->s * at->s), at->e, n, by_a);
  poli_m3_skew(at->a, skew);
  poli_m3_multiply(by_a, skew, da1);
  poli_m3_skew(kernel->disk_axis, skew);
  poli_m3_multiply(at->Q, skew, turned);
  poli_m3_multiply(by_a, turned, da2);
  poli_add_block(da1, 1.0, 0, 0, E);
  poli_add_block(da2, -1.0, 0, 6, E);
}

/* y = r e x t */
static void arm_cross(const poli_joint_kernel *kernel, const contact *at, const double t[3],
                      double y[3])
{
  poli_v3_cross(at->e, t, y);
  poli_v3_scale(kernel->radius, y, y);
}

/* mu = sum lambda_k t_k */
static void contact_force(const poli_joint_kernel *kernel, const double lambda[3], double mu[3])
{
  mu[0] = mu[1] = mu[2] = 0.0;
  for (int k = 0; k < 3; k++) poli_v3_add_scaled(lambda[k], direction(kernel, k), mu);
}

double poli_rolling_tilt(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second)
{
  const double *n = direction(kernel, 0);
  double global[3], a[3], across[3];
  if (!kernel->disk) return 1.0;
  poli_m3_apply(second->R, kernel->disk_axis, global);
  poli_m3_apply_transposed(first->R, global, a);
  poli_v3_cross(n, a, across);
  return sqrt(poli_v3_dot(across, across));
}

double poli_rolling_height(const poli_joint_kernel *kernel, const poli_frame *first,
                           const poli_frame *second)
{
  contact at;
  find_contact(kernel, first, second, &at);
  return kernel->radius * poli_v3_dot(direction(kernel, 0), at.e);
}

void poli_rolling_add_velocity(const poli_joint_kernel *kernel, const poli_frame *first,
                               const poli_frame *second, double phi_dot[3])
{
  contact at;
  find_contact(kernel, first, second, &at);
  for (int k = 0; k < 3; k++) {
    double y[3];
    arm_cross(kernel, &at, direction(kernel, k), y);
    phi_dot[k] += poli_v3_dot(y, at.omega);
  }
}

void poli_rolling_add_jacobian(const poli_joint_kernel *kernel, const poli_frame *first,
                               const poli_frame *second, double (*B)[12])
{
  contact at;
  find_contact(kernel, first, second, &at);
  for (int k = 0; k < 3; k++) {
    double y[3], y2[3];
    arm_cross(kernel, &at, direction(kernel, k), y);
    poli_m3_apply_transposed(at.Q, y, y2);
    for (int j = 0; j < 3; j++) {
      B[k][j] -= y[j];
      B[k][6 + j] += y2[j];
    }
  }
}

void poli_rolling_add_curvature(const poli_joint_kernel *kernel, const poli_frame *first,
                                const poli_frame *second, double (*Z)[12])
{
  contact at;
  double E[3][12], turning[3];
  find_contact(kernel, first, second, &at);
  contact_gradient(kernel, &at, E);
  poli_v3_add(at.omega, first->w, turning); /* Q w2 */
  for (int k = 0; k < 3; k++) {
    double y[3], y2[3], across[3];
    arm_cross(kernel, &at, direction(kernel, k), y);
    poli_m3_apply_transposed(at.Q, y, y2);
    poli_v3_add_scaled_cross(1.0, y, turning, Z[k]);
    poli_v3_add_scaled_cross(-1.0, y2, second->w, Z[k] + 6);
    poli_v3_cross(direction(kernel, k), at.omega, across);
    for (int j = 0; j < 12; j++)
      Z[k][j] += kernel->radius * (across[0] * E[0][j] + across[1] * E[1][j] + across[2] * E[2][j]);
  }
}

void poli_rolling_add_acceleration(const poli_joint_kernel *kernel, const poli_frame *first,
                                   const poli_frame *second, double phi_ddot[3])
{
  double Z[3][12] = {{0.0}};
  poli_rolling_add_curvature(kernel, first, second, Z);
  for (int k = 0; k < 3; k++) /* e does not depend on the positions of the bodies */
    phi_ddot[k] += poli_v3_dot(Z[k], first->w) + poli_v3_dot(Z[k] + 6, second->w);
}

void poli_rolling_add_reaction(const poli_joint_kernel *kernel, const poli_frame *first,
                               const poli_frame *second, const double lambda[3], double wrench1[6],
                               double wrench2[6])
{
  contact at;
  double mu[3], y[3], y2[3];
  find_contact(kernel, first, second, &at);
  contact_force(kernel, lambda, mu);
  arm_cross(kernel, &at, mu, y);
  poli_m3_apply_transposed(at.Q, y, y2);
  poli_v3_subtract(wrench1, y, wrench1);
  poli_v3_add(wrench2, y2, wrench2);
}

void poli_rolling_add_stiffness(const poli_joint_kernel *kernel, const poli_frame *first,
                                const poli_frame *second, const double lambda[3], double (*K)[12])
{
  contact at;
  double mu[3], y[3], y2[3], E[3][12], skew[9], turned[9];
  find_contact(kernel, first, second, &at);
  contact_gradient(kernel, &at, E);
  contact_force(kernel, lambda, mu);
  arm_cross(kernel, &at, mu, y);
  poli_m3_apply_transposed(at.Q, y, y2);
  for (int j = 0; j < 12; j++) {
    double column[3] = {E[0][j], E[1][j], E[2][j]}, dy[3], dy2[3];
    poli_v3_cross(column, mu, dy);
    poli_v3_scale(kernel->radius, dy, dy);
    poli_m3_apply_transposed(at.Q, dy, dy2);
    for (int i = 0; i < 3; i++) {
      K[i][j] -= dy[i];
      K[6 + i][j] += dy2[i];
    }
  }
  /* the turning of y from the first body's axes to the second's */
  poli_m3_skew(y, skew);
  poli_m3_multiply_transposed(at.Q, skew, turned);
  poli_m3_skew(y2, skew);
  poli_add_block(turned, -1.0, 6, 0, K);
  poli_add_block(skew, 1.0, 6, 6, K);
}
