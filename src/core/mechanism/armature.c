/* Reflected inertias; see armature.h.  With w, A the angular velocity and acceleration of the first
 * body, v, B those of the second, all in body axes,
 *
 *     U'  = R1 (w x a),      U'' = R1 (w x (w x a) + A x a),
 *     y'' = x2'' - x1'' + R2 (v x (v x s) + B x s),
 *     c'' = U'' . y + 2 U' . y' + U . y'',
 *
 * and the derivatives follow from d(R p) = R (dphi x p). */
#include "mechanism/armature.h"

#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"

void poli_armature_setup(poli_armature *armature, const pol_mechanism *mechanism, int joint,
                         int index)
{
  const pol_joint *j = pol_mechanism_joint(mechanism, joint);
  const int axis = poli_joint_turning_axis(j);
  memset(armature, 0, sizeof *armature);
  armature->inertia = j->axes[index].armature;
  poli_coordinate_kernel_setup(&armature->coordinate, mechanism, joint, index);
  for (int i = 0; i < 2; i++) {
    double A[9];
    pol_quat_to_matrix(pol_mechanism_marker(mechanism, j->marker[i])->rotation, A);
    for (int k = 0; k < 3; k++) armature->constant[6 * i + k] = (i ? 1.0 : -1.0) * A[3 * k + axis];
  }
}

/* U and y with their derivatives by time, in global axes, and what turns with the bodies. */
typedef struct motion {
  double a[3][3];          /* of the axis, in axes of the first body: a, w x a, ... */
  double s[3][3];          /* of the point, in axes of the second body */
  double U[3][3], y[3][3]; /* U, U', U'' and y, y', y'' */
} motion;

static void set_motion(const poli_armature *armature, const poli_frame *first,
                       const poli_frame *second, motion *m)
{
  const poli_view *view = &armature->coordinate.rows.view[0];
  const poli_frame *const frames[2] = {first, second};
  for (int b = 0; b < 2; b++) {
    double(*p)[3] = b ? m->s : m->a, spin[3];
    poli_v3_add(frames[b]->wd, frames[b]->wb, spin);
    poli_v3_copy(b ? view->s : view->axis[0], p[0]);
    poli_v3_cross(frames[b]->w, p[0], p[1]);
    poli_v3_cross(frames[b]->w, p[1], p[2]);
    poli_v3_add_scaled_cross(1.0, spin, p[0], p[2]);
    for (int k = 0; k < 3; k++) poli_m3_apply(frames[b]->R, p[k], b ? m->y[k] : m->U[k]);
  }
  for (int i = 0; i < 3; i++) {
    m->y[0][i] += second->x[i] - first->x[i];
    m->y[1][i] += second->u[i] - first->u[i];
    m->y[2][i] += second->ud[i] + second->ub[i] - first->ud[i] - first->ub[i];
  }
}

double poli_armature_rate(const poli_armature *armature, const poli_frame *first,
                          const poli_frame *second, double g[12])
{
  double y[12], rate = 0.0;
  memcpy(g, armature->constant, sizeof armature->constant);
  if (!armature->coordinate.angular)
    poli_coordinate_gradient(&armature->coordinate, first, second, g);
  poli_stack_velocities(first, second, y);
  for (int i = 0; i < 12; i++) rate += g[i] * y[i];
  return rate;
}

void poli_armature_acceleration(const poli_armature *armature, const poli_frame *first,
                                const poli_frame *second, double *linear, double *rest)
{
  double g[12], both = 0.0;
  motion m;
  *linear = 0.0;
  poli_armature_rate(armature, first, second, g);
  for (int k = 0; k < 12; k++) {
    const poli_frame *frame = k < 6 ? first : second;
    *linear += g[k] * (k % 6 < 3 ? frame->wd : frame->ud)[k % 3];
    both += g[k] * (k % 6 < 3 ? frame->wb : frame->ub)[k % 3];
  }
  *rest = both;
  if (armature->coordinate.angular) return;
  set_motion(armature, first, second, &m);
  *rest = poli_v3_dot(m.U[2], m.y[0]) + 2.0 * poli_v3_dot(m.U[1], m.y[1]) +
          poli_v3_dot(m.U[0], m.y[2]) - *linear;
}

void poli_armature_derivatives(const poli_armature *armature, const poli_frame *first,
                               const poli_frame *second, double by_position[12],
                               double by_velocity[12], double (*H)[12])
{
  static const double share[3] = {1.0, 2.0, 1.0};
  memset(by_position, 0, 12 * sizeof *by_position);
  memset(by_velocity, 0, 12 * sizeof *by_velocity);
  memset(H, 0, 12 * sizeof *H);
  if (armature->coordinate.angular) return;
  motion m;
  set_motion(armature, first, second, &m);
  poli_coordinate_second(&armature->coordinate, first, second, H);
  double y[3][3], U[3][3], across[3]; /* in axes of the first and the second body */
  for (int k = 0; k < 3; k++) {
    poli_m3_apply_transposed(first->R, m.y[k], y[k]);
    poli_m3_apply_transposed(second->R, m.U[k], U[k]);
  }
  /* (R1 (dphi1 x p)) . V = dphi1 . (p x R1^T V), likewise for the second body */
  for (int k = 0; k < 3; k++) {
    poli_v3_add_scaled_cross(share[k], m.a[k], y[2 - k], by_position);
    poli_v3_add_scaled_cross(share[k], m.s[k], U[2 - k], by_position + 6);
  }
  poli_v3_add_scaled(-1.0, m.U[2], by_position + 3);
  poli_v3_add_scaled(1.0, m.U[2], by_position + 9);
  /* d(w x (w x a)) . V = dw . ((w x a) x V + a x (V x w)) */
  poli_v3_add_scaled_cross(2.0, m.a[0], y[1], by_velocity);
  poli_v3_add_scaled_cross(1.0, m.a[1], y[0], by_velocity);
  poli_v3_cross(y[0], first->w, across);
  poli_v3_add_scaled_cross(1.0, m.a[0], across, by_velocity);
  poli_v3_add_scaled_cross(2.0, m.s[0], U[1], by_velocity + 6);
  poli_v3_add_scaled_cross(1.0, m.s[1], U[0], by_velocity + 6);
  poli_v3_cross(U[0], second->w, across);
  poli_v3_add_scaled_cross(1.0, m.s[0], across, by_velocity + 6);
  poli_v3_add_scaled(-2.0, m.U[1], by_velocity + 3);
  poli_v3_add_scaled(2.0, m.U[1], by_velocity + 9);
}
