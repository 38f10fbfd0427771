/* Constant forces and torques on a body.
 *
 * A force f at the point p of a body and a torque t give the wrench (torque in body axes about the
 * centre of mass, force in global axes)
 *
 *     f in global axes: (p x R^T f, f)        t in global axes: (R^T t, 0)
 *     f in body axes:   (p x f, R f)          t in body axes:   (t, 0)
 */
#ifndef POLHODE_MECHANISM_FORCE_H
#define POLHODE_MECHANISM_FORCE_H

#include "mechanism/joint.h"

/* wrench += the wrench on the body of this frame. */
void pol_force_add_wrench(const pol_force *force, const pol_frame *frame, double wrench[6]);

/* Derivative of the wrench by (dphi, dx) with dR = R dphi~: 6 x 6, row-major, overwritten. */
void pol_force_gradient(const pol_force *force, const pol_frame *frame, double gradient[36]);

#endif
