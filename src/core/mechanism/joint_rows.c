/* Constraints of joints and their derivatives in inertial axes, without velocities: the innermost
 * loop of splitting methods.
 *
 * With U = R1 a, r = R2 s and y = tau (x2 - x1) + r, a row of the joint kernel (joint.h) is
 *
 *     phi = U . y - offset,     dphi = r x U . dphi2 + tau U . dx2 + U x y . dphi1 - tau U . dx1
 *
 * for variations dR = dphi~ R.  For a distance, U is the way d = y - R1 point itself. */
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

/* Rows e_k . z with z from one point to the other: e_k and the arms, with a sign. */
static inline void set_point_rows(double sign, const double r[3], double *B)
{
  const double x = sign * r[0], y = sign * r[1], z = sign * r[2];
  const double rows[18] = {0.0, z,    -y,  sign, 0.0, 0.0, -z,  0.0, x,
                           0.0, sign, 0.0, y,    -x,  0.0, 0.0, 0.0, sign};
  memcpy(B, rows, sizeof rows);
}

void poli_joint_rows(const poli_joint_kernel *kernel, const poli_place *first,
                     const poli_place *second, double *phi, double *B1, double *B2)
{
  double *p = phi;
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double r[3], y[3], U[3], angular[3];
    poli_m3_apply(second->R, view->s, r);
    if (view->global) {
      poli_m3_apply(first->R, view->point, U);
      for (int k = 0; k < 3; k++) p[k] = second->x[k] + r[k] - first->x[k] - U[k];
      set_point_rows(-1.0, U, B1);
      set_point_rows(1.0, r, B2);
      p += 3, B1 += 18, B2 += 18;
      continue;
    }
    for (int k = 0; k < 3; k++) y[k] = view->tau * (second->x[k] - first->x[k]) + r[k];
    for (int k = 0; k < view->num_rows; k++) {
      const int adds = view->adds;
      double value;
      poli_m3_apply(first->R, view->distance ? view->point : view->axis[k], U);
      if (view->distance) {
        poli_v3_subtract(y, U, U);
        value = 0.5 * poli_v3_dot(U, U) - view->offset[0];
      } else {
        value = poli_v3_dot(U, y) - view->offset[k];
      }
      if (adds) p--, B1 -= 6, B2 -= 6;
      *p = adds ? *p + value : value;
      poli_v3_cross(U, y, angular);
      set_row(angular, -view->tau, U, adds, B1);
      poli_v3_cross(r, U, angular);
      set_row(angular, view->tau, U, adds, B2);
      p++, B1 += 6, B2 += 6;
    }
  }
}
