/* The size of a mechanism: what the round-off of its positions is judged by.  It is the largest
 * coordinate of a body's centre of mass or of a marker in its body's axes, or the largest radius of
 * gyration: a free body at the origin has nothing else.  It is not told where rotations are angles
 * in R^n: nothing says which of the coordinates it would belong to. */
#include <math.h>

#include "formulation/formulation.h"

static double largest_of(double length, const double position[3])
{
  for (int i = 0; i < 3; i++) length = fmax(length, fabs(position[i]));
  return length;
}

/* Whether the rotation of a rigid body is neither a factor of its own kind nor pure numbers. */
static int hides_rotations(const pol_mechanism *mechanism, const pol_dae *dae)
{
  const pol_group *group = &dae->group;
  int rigid = 0, rotations = 0;
  if (dae->pure) return 0;
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++)
    rigid += !pol_mechanism_body(mechanism, b)->point;
  for (int f = 0; f < group->num_factors; f++) rotations += group->factors[f].kind != POL_REAL;
  return rotations < rigid;
}

double poli_formulation_length(const pol_mechanism *mechanism, const pol_dae *dae)
{
  double length = 0.0;
  if (hides_rotations(mechanism, dae)) return 0.0;
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    const double *J = body->inertia;
    length = largest_of(length, body->position);
    if (body->mass > 0.0) length = fmax(length, sqrt(0.5 * (J[0] + J[4] + J[8]) / body->mass));
  }
  for (int k = 0; k < pol_mechanism_num_markers(mechanism); k++)
    length = largest_of(length, pol_mechanism_marker(mechanism, k)->position);
  return length;
}
