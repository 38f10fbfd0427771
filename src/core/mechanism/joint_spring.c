/* Springs on joint coordinates; see joint_spring.h for the law.  With g and H the first and second
 * derivatives of the coordinate and y = (w1, u1, w2, u2),
 *
 *     d(T g)/dq = T H - g (k g + c H^T y)^T,      d(T g)/dy = -c g g^T.
 */
#include <string.h>

#include "lie/small.h"
#include "mechanism/joint_spring.h"

void poli_joint_spring_setup(poli_joint_spring *spring, const pol_mechanism *mechanism, int force)
{
  spring->force = pol_mechanism_force(mechanism, force);
  poli_coordinate_kernel_setup(&spring->coordinate, mechanism, spring->force->joint,
                               spring->force->coordinate);
}

static double stretch(const poli_joint_spring *spring, const poli_frame *first,
                      const poli_frame *second, double remembered)
{
  double value = poli_coordinate_value(&spring->coordinate, first, second);
  if (spring->coordinate.angular) value = poli_angle_unwrap(value, remembered);
  return value - spring->force->rest;
}

pol_status poli_joint_spring_effort(const poli_joint_spring *spring, const poli_frame *first,
                                    const poli_frame *second, double remembered, double *T)
{
  const pol_force *force = spring->force;
  double rate;
  pol_status status = poli_coordinate_rate(&spring->coordinate, first, second, &rate);
  *T = force->actuator - force->damping[0] * rate -
       force->stiffness[0] * stretch(spring, first, second, remembered);
  if (status) *T = 0.0;
  return status;
}

pol_status poli_joint_spring_wrenches(const poli_joint_spring *spring, const poli_frame *first,
                                      const poli_frame *second, double remembered,
                                      double wrench[2][6])
{
  double T, g[12];
  pol_status status = poli_joint_spring_effort(spring, first, second, remembered, &T);
  if (!status) status = poli_coordinate_gradient(&spring->coordinate, first, second, g);
  for (int i = 0; i < 12; i++) wrench[i / 6][i % 6] = status ? 0.0 : T * g[i];
  return status;
}

pol_status poli_joint_spring_derivatives(const poli_joint_spring *spring, const poli_frame *first,
                                         const poli_frame *second, double remembered,
                                         poli_force_blocks *blocks)
{
  double T, g[12], H[12][12], y[12], k = spring->force->stiffness[0], c = spring->force->damping[0];
  memset(blocks, 0, sizeof *blocks);
  pol_status status = poli_joint_spring_effort(spring, first, second, remembered, &T);
  if (!status) status = poli_coordinate_gradient(&spring->coordinate, first, second, g);
  if (!status) status = poli_coordinate_second(&spring->coordinate, first, second, H);
  if (status) return status;
  poli_v3_copy(first->w, y);
  poli_v3_copy(first->u, y + 3);
  poli_v3_copy(second->w, y + 6);
  poli_v3_copy(second->u, y + 9);
  for (int j = 0; j < 12; j++) {
    double slope = k * g[j]; /* -dT/dq */
    for (int i = 0; i < 12; i++) slope += c * H[i][j] * y[i];
    for (int i = 0; i < 12; i++) {
      blocks->by_position[i][j] = T * H[i][j] - g[i] * slope;
      blocks->by_velocity[i][j] = -c * g[i] * g[j];
    }
  }
  return POL_OK;
}

double poli_joint_spring_potential(const poli_joint_spring *spring, const poli_frame *first,
                                   const poli_frame *second, double remembered)
{
  double s = stretch(spring, first, second, remembered);
  return 0.5 * spring->force->stiffness[0] * s * s;
}
