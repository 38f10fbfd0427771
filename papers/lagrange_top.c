/* bs99 for the Lagrange top; see lagrange_top.h. */
#include "papers/lagrange_top.h"

#include "lie/small.h"

void paper_lagrange_top_start(paper_lagrange_top *top, const double axis[3], const double omega[3],
                              double axial_inertia)
{
  double along = poli_v3_dot(omega, axis);
  poli_v3_copy(axis, top->axis);
  for (int i = 0; i < 3; i++)
    top->momentum[i] =
        top->inertia * (omega[i] - along * axis[i]) + axial_inertia * along * axis[i];
}

void paper_lagrange_top_step(paper_lagrange_top *top, double h)
{
  static const double up[3] = {0.0, 0.0, 1.0};
  double half[3], once[3], twice[3];
  poli_v3_add_scaled_cross(h * top->mass * top->gravity * top->length, up, top->axis,
                           top->momentum);
  poli_v3_scale(0.5 * h / top->inertia, top->momentum, half);
  poli_v3_cross(half, top->axis, once);
  poli_v3_cross(half, once, twice);
  double factor = 2.0 / (1.0 + poli_v3_dot(half, half));
  poli_v3_add_scaled(factor, once, top->axis);
  poli_v3_add_scaled(factor, twice, top->axis);
}

void paper_lagrange_top_linear_momentum(const paper_lagrange_top *top, double p[3])
{
  poli_v3_cross(top->momentum, top->axis, p);
  poli_v3_scale(top->mass * top->length / top->inertia, p, p);
}
