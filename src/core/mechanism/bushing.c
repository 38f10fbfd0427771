/* The bushing; see bushing.h for the law.  The displacement d is three rows of the joint kernel:
 * with B = dd/dq = dd'/dv and Z = dd'/dq its wrenches are -B^T lam, and
 *
 *     d(B^T lam)/dv = B^T C B,      d(B^T lam)/dq = B^T (K B + C Z) + (dB^T/dq) lam.
 *
 * The rotation has the same form.  With P = R1^T R2, A1 the first marker's axes in its body, eps
 * the variation of Q in axes of the first marker (dQ = eps~ Q) and m = Kr rho - t0,
 *
 *     E = deps/dq = domega/dv = (-A1^T, 0, A1^T P, 0),
 *     W = domega/dq           = A1^T ((P w2)~, 0, -P w2~, 0),
 *     dtau/dq                 = (T^-1 Kr + G) T^-T E + Cr W,       since drho = T^-T eps,
 *
 * where G = d(T(rho)^-1 m)/drho with m constant, by the product rule from T^-1 = I + rho~/2 +
 * e rho~ rho~ (lie/coefficients.h).  With g = A1 tau, E^T tau = (-g, 0, P^T g, 0).
 */
#include <math.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/coefficients.h"
#include "lie/small.h"
#include "mechanism/bushing.h"

static const double largest_angle = 3.0; /* rad */

void poli_bushing_setup(poli_bushing_kernel *kernel, const pol_mechanism *mechanism,
                        const pol_force *force)
{
  const pol_marker *first = pol_mechanism_marker(mechanism, force->marker[0]);
  const pol_marker *second = pol_mechanism_marker(mechanism, force->marker[1]);
  poli_view *view = &kernel->translation.view[0];
  memset(kernel, 0, sizeof *kernel);
  kernel->force = force;
  pol_quat_to_matrix(first->rotation, kernel->A1);
  pol_quat_to_matrix(second->rotation, kernel->A2);
  kernel->translation.body[0] = first->body;
  kernel->translation.body[1] = second->body;
  kernel->translation.num_views = 1;
  kernel->translation.num_rows = view->num_rows = 3;
  view->tau = 1.0;
  poli_v3_copy(second->position, view->s);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) view->axis[k][i] = kernel->A1[3 * i + k];
    view->offset[k] = poli_v3_dot(view->axis[k], first->position);
  }
}

/* --- values ----------------------------------------------------------------------------------- */

/* lam = K d + C d' - f0 */
static void spring_force(const poli_bushing_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, double lam[3])
{
  const pol_force *force = kernel->force;
  double d[3], rate[3];
  poli_joint_position(&kernel->translation, first, second, d);
  poli_joint_velocity(&kernel->translation, first, second, rate);
  for (int i = 0; i < 3; i++)
    lam[i] = force->stiffness[i] * d[i] + force->damping[i] * rate[i] - force->preload[i];
}

/* What the rotation is made of. */
typedef struct twist {
  double P[9];      /* R1^T R2 */
  double rho[3];    /* log(Q) */
  double m[3];      /* Kr rho - t0 */
  double spin[3];   /* P w2 */
  double tau[3];    /* in axes of the first marker */
  double inner[9];  /* T(rho)^-1 */
  double global[3]; /* g, tau in axes of the first body */
} twist;

static void set_rotation(const poli_bushing_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, twist *turn)
{
  const pol_force *force = kernel->force;
  double Q[9], product[9], q[4];
  poli_m3_multiply_transposed(first->R, second->R, turn->P);
  poli_m3_multiply(turn->P, kernel->A2, product);
  poli_m3_multiply_transposed(kernel->A1, product, Q);
  pol_quat_from_matrix(Q, q);
  pol_quat_normalize(q);
  pol_so3_log(q, turn->rho);
  for (int i = 0; i < 3; i++)
    turn->m[i] = force->rotational_stiffness[i] * turn->rho[i] - force->preload_torque[i];
}

/* Whether rho matters, so that it must not be near its jump. */
static int has_turning_spring(const pol_force *force)
{
  for (int i = 0; i < 3; i++)
    if (force->rotational_stiffness[i] != 0.0 || force->preload_torque[i] != 0.0) return 1;
  return 0;
}

/* The angular velocity of the second marker against the first, in axes of the first. */
static void set_spin(const poli_bushing_kernel *kernel, const poli_frame *first,
                     const poli_frame *second, twist *turn, double omega[3])
{
  double relative[3];
  poli_m3_apply(turn->P, second->w, turn->spin);
  poli_v3_subtract(turn->spin, first->w, relative);
  poli_m3_apply_transposed(kernel->A1, relative, omega);
}

static pol_status set_torque(const poli_bushing_kernel *kernel, const poli_frame *first,
                             const poli_frame *second, twist *turn)
{
  const pol_force *force = kernel->force;
  double omega[3];
  set_rotation(kernel, first, second, turn);
  if (has_turning_spring(force) &&
      poli_v3_dot(turn->rho, turn->rho) > largest_angle * largest_angle)
    return POL_RETRY;
  pol_so3_tangent_inverse(turn->rho, turn->inner);
  poli_m3_apply(turn->inner, turn->m, turn->tau);
  set_spin(kernel, first, second, turn, omega);
  for (int i = 0; i < 3; i++) turn->tau[i] += force->rotational_damping[i] * omega[i];
  poli_m3_apply(kernel->A1, turn->tau, turn->global);
  return POL_OK;
}

pol_status poli_bushing_wrenches(const poli_bushing_kernel *kernel, const poli_frame *first,
                                 const poli_frame *second, double wrench[2][6])
{
  double lam[3], opposite[3], torque[3];
  twist turn;
  pol_status status = set_torque(kernel, first, second, &turn);
  if (status) return status;
  spring_force(kernel, first, second, lam);
  poli_v3_scale(-1.0, lam, opposite);
  poli_joint_reaction(&kernel->translation, first, second, opposite, wrench[0], wrench[1]);
  poli_m3_apply_transposed(turn.P, turn.global, torque);
  poli_v3_add(wrench[0], turn.global, wrench[0]);
  poli_v3_subtract(wrench[1], torque, wrench[1]);
  return POL_OK;
}

int poli_bushing_rotation(const poli_bushing_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, double rho[3], double omega[3])
{
  twist turn;
  set_rotation(kernel, first, second, &turn);
  set_spin(kernel, first, second, &turn, omega);
  poli_v3_copy(turn.rho, rho);
  return has_turning_spring(kernel->force);
}

double poli_bushing_potential(const poli_bushing_kernel *kernel, const poli_frame *first,
                              const poli_frame *second)
{
  const pol_force *force = kernel->force;
  double d[3], energy = 0.0;
  twist turn;
  set_rotation(kernel, first, second, &turn);
  poli_joint_position(&kernel->translation, first, second, d);
  for (int i = 0; i < 3; i++)
    energy += d[i] * (0.5 * force->stiffness[i] * d[i] - force->preload[i]) +
              turn.rho[i] *
                  (0.5 * force->rotational_stiffness[i] * turn.rho[i] - force->preload_torque[i]);
  return energy;
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* K -= U^T diag(k) V */
static void subtract_product(double U[3][12], const double k[3], double V[3][12], double (*K)[12])
{
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++)
      for (int r = 0; r < 3; r++) K[i][j] -= U[r][i] * k[r] * V[r][j];
}

/* A1^T (X, 0, Y, 0), X and Y 3 x 3 */
static void place(const double A1[9], const double X[9], const double Y[9], double out[3][12])
{
  double left[9], right[9];
  memset(out, 0, 3 * sizeof *out);
  poli_m3_multiply_transposed(A1, X, left);
  poli_m3_multiply_transposed(A1, Y, right);
  poli_add_block(left, 1.0, 0, 0, out);
  poli_add_block(right, 1.0, 0, 6, out);
}

/* S = (T^-1 Kr + G) T^-T */
static void torque_slope(const pol_force *force, const twist *turn, double S[9])
{
  const double *rho = turn->rho, *m = turn->m;
  double slope[9], cross[3], twice[3];
  poli_half_angle half;
  poli_inverse_coefficients c;
  poli_half_angle_set(poli_v3_dot(rho, rho), &half);
  poli_inverse_coefficients_set(&half, 1, &c);
  poli_v3_cross(rho, m, cross);
  poli_v3_cross(rho, cross, twice);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      slope[3 * i + j] = turn->inner[3 * i + j] * force->rotational_stiffness[j];
  /* G = -m~/2 - e ((rho x m)~ + rho~ m~) + e1 (rho x (rho x m)) rho^T */
  poli_m3_add_skew(-0.5, m, slope);
  poli_m3_add_skew(-c.e, cross, slope);
  poli_m3_add_skew_product(-c.e, rho, m, slope);
  poli_m3_add_outer(c.e1, twice, rho, slope);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      S[3 * i + j] = poli_v3_dot(slope + 3 * i, turn->inner + 3 * j); /* times T^-T */
}

static void subtract_rotation(const poli_bushing_kernel *kernel, const poli_frame *second,
                              const twist *turn, double (*by_position)[12],
                              double (*by_velocity)[12])
{
  static const double ones[3] = {1.0, 1.0, 1.0};
  double E[3][12], W[3][12], SE[3][12] = {{0.0}}, S[9], minus[9], spin[9], skew[9], back[9],
                             torque[3];
  poli_m3_diagonal(-1.0, minus);
  place(kernel->A1, minus, turn->P, E);
  poli_m3_skew(turn->spin, spin);
  poli_m3_skew(second->w, skew);
  poli_m3_multiply(turn->P, skew, back);
  for (int i = 0; i < 9; i++) back[i] = -back[i];
  place(kernel->A1, spin, back, W);
  torque_slope(kernel->force, turn, S);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 12; j++)
      for (int k = 0; k < 3; k++) SE[i][j] += S[3 * i + k] * E[k][j];
  subtract_product(E, kernel->force->rotational_damping, E, by_velocity);
  subtract_product(E, ones, SE, by_position);
  subtract_product(E, kernel->force->rotational_damping, W, by_position);

  /* the derivative of E^T at constant tau */
  poli_m3_apply_transposed(turn->P, turn->global, torque);
  poli_m3_skew(turn->global, skew);
  poli_m3_multiply_transposed(turn->P, skew, back);
  poli_add_block(back, 1.0, 6, 0, by_position);
  poli_m3_skew(torque, skew);
  poli_add_block(skew, -1.0, 6, 6, by_position);
}

pol_status poli_bushing_derivatives(const poli_bushing_kernel *kernel, const poli_frame *first,
                                    const poli_frame *second, double (*by_position)[12],
                                    double (*by_velocity)[12])
{
  const pol_force *force = kernel->force;
  double B[3][12], Z[3][12], turning[12][12], lam[3];
  twist turn;
  pol_status status = set_torque(kernel, first, second, &turn);
  if (status) return status;
  spring_force(kernel, first, second, lam);
  poli_joint_jacobian(&kernel->translation, first, second, B);
  poli_joint_curvature(&kernel->translation, first, second, Z);
  poli_joint_stiffness(&kernel->translation, first, second, lam, turning);
  subtract_product(B, force->damping, B, by_velocity);
  subtract_product(B, force->stiffness, B, by_position);
  subtract_product(B, force->damping, Z, by_position);
  for (int i = 0; i < 144; i++) by_position[i / 12][i % 12] -= turning[i / 12][i % 12];
  subtract_rotation(kernel, second, &turn, by_position, by_velocity);
  return POL_OK;
}
