/* The coupling kernel: one row that ties two joint coordinates (coordinate.h) to each other,
 *
 *     phi = f1 (c1 - r1) + f2 (c2 - r2),
 *
 * a gear between two rotations, a rack and pinion between a rotation and a translation, a screw
 * between those of one joint.  An angle counts its turns: its deviation c - r is known up to whole
 * turns only, and the one that is meant is next to the deviation of the last accepted step, which
 * the model remembers.  So phi is smooth and single-valued around the solution after any number of
 * turns, as long as no joint turns by half a turn in a step.
 *
 * The row is a sum of one term for each joint, so that its terms in the equations are those of the
 * two coordinates, each on the two bodies of its joint.
 */
#ifndef POLHODE_MECHANISM_COUPLING_H
#define POLHODE_MECHANISM_COUPLING_H

#include "mechanism/coordinate.h"

typedef struct poli_coupling_kernel {
  const pol_coupling *coupling;
  poli_coordinate_kernel end[2];
} poli_coupling_kernel;

/* The mechanism must outlive the kernel. */
void poli_coupling_kernel_setup(poli_coupling_kernel *kernel, const pol_mechanism *mechanism,
                                int coupling);

/* c - r of one end, `first` and `second` being the frames of its joint's bodies; of an angle the
 * value next to the one remembered. */
double poli_coupling_deviation(const poli_coupling_kernel *kernel, int end, const poli_frame *first,
                               const poli_frame *second, double remembered);

#endif
