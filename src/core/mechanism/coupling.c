/* Couplings of two joint coordinates; see coupling.h for the equation. */
#include <string.h>

#include "mechanism/coupling.h"

/* Which of a joint's coordinates (coordinate.h) it is; the joint has it. */
static int coordinate_index(const pol_mechanism *mechanism, int joint, pol_coordinate coordinate)
{
  const pol_joint *j = pol_mechanism_joint(mechanism, joint);
  int index = 0;
  while (strcmp(pol_joint_coordinate(j, index)->key, pol_coordinate_name(coordinate)) != 0) index++;
  return index;
}

void poli_coupling_kernel_setup(poli_coupling_kernel *kernel, const pol_mechanism *mechanism,
                                int coupling)
{
  const pol_coupling *c = pol_mechanism_coupling(mechanism, coupling);
  kernel->coupling = c;
  for (int i = 0; i < 2; i++)
    poli_coordinate_kernel_setup(&kernel->end[i], mechanism, c->joint[i],
                                 coordinate_index(mechanism, c->joint[i], c->coordinate[i]));
}

double poli_coupling_deviation(const poli_coupling_kernel *kernel, int end, const poli_frame *first,
                               const poli_frame *second, double remembered)
{
  double deviation =
      poli_coordinate_value(&kernel->end[end], first, second) - kernel->coupling->reference[end];
  return kernel->end[end].angular ? poli_angle_unwrap(deviation, remembered) : deviation;
}

double pol_mechanism_coordinate(const pol_mechanism *mechanism, int joint,
                                pol_coordinate coordinate)
{
  poli_coordinate_kernel kernel;
  poli_frame first, second;
  poli_coordinate_kernel_setup(&kernel, mechanism, joint,
                               coordinate_index(mechanism, joint, coordinate));
  poli_initial_frame(mechanism, kernel.body[0], &first);
  poli_initial_frame(mechanism, kernel.body[1], &second);
  return poli_coordinate_value(&kernel, &first, &second);
}
