/* Constraints of joints and their derivatives in inertial axes, without velocities: the innermost
 * loop of splitting methods.
 *
 * With U = R1 a, r = R2 s and y = tau (x2 - x1) + r, a row of the joint kernel (joint.h) is
 *
 *     phi = U . y - offset,     dphi = r x U . dphi2 + tau U . dx2 + U x y . dphi1 - tau U . dx1
 *
 * for variations dR = dphi~ R.  For a distance, U is the way d = y - R1 point itself; in a global
 * view U stands still. */
#include <string.h>

#include "lie/small.h"
#include "mechanism/joint.h"

/* The six numbers of a row on one side. */
static inline void set_row(const double angular[3], double scale, const double linear[3], int adds,
                           double *row)
{
  for (int i = 0; i < 3; i++) {
    row[i] = adds ? row[i] + angular[i] : angular[i];
    row[3 + i] = adds ? row[3 + i] + scale * linear[i] : scale * linear[i];
  }
}

void poli_joint_rows(const poli_joint_kernel *kernel, int skipped, const poli_pose *first,
                     const poli_pose *second, double *phi, double *B1, double *B2)
{
  for (int i = skipped; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double r[3], y[3], U[3], angular[3];
    poli_m3_apply(second->R, view->s, r);
    for (int k = 0; k < 3; k++) y[k] = view->tau * (second->x[k] - first->x[k]) + r[k];
    for (int k = 0; k < view->num_rows; k++) {
      const int adds = view->adds;
      double value, arm[3];
      if (view->global || view->distance) poli_m3_apply(first->R, view->point, arm);
      if (view->global)
        poli_v3_copy(view->axis[k], U);
      else if (view->distance)
        poli_v3_subtract(y, arm, U);
      else
        poli_m3_apply(first->R, view->axis[k], U);
      value = view->distance ? 0.5 * poli_v3_dot(U, U) : poli_v3_dot(U, y);
      if (view->global) value -= poli_v3_dot(U, arm);
      if (adds) phi--, B1 -= 6, B2 -= 6;
      poli_v3_cross(U, view->global ? arm : y, angular);
      set_row(angular, -view->tau, U, adds, B1);
      poli_v3_cross(r, U, angular);
      set_row(angular, view->tau, U, adds, B2);
      *phi = (adds ? *phi : 0.0) + value - view->offset[k];
      phi++, B1 += 6, B2 += 6;
    }
  }
}
