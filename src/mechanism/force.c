/* Constant forces and torques on a body; see force.h for the wrenches.  Their derivatives follow
 * from d(R^T f) = (R^T f)~ dphi and d(R f) = -R f~ dphi. */
#include <stddef.h>
#include <string.h>

#include "lie/small.h"
#include "mechanism/force.h"

const char *pol_force_type_name(pol_force_type type)
{
  static const char *const names[] = {
      [POL_APPLIED_FORCE] = "force", [POL_APPLIED_TORQUE] = "torque"};
  return type == POL_APPLIED_FORCE || type == POL_APPLIED_TORQUE ? names[type] : NULL;
}

const char *pol_force_frame_name(pol_force_frame frame)
{
  static const char *const names[] = {[POL_GLOBAL_AXES] = "global", [POL_BODY_AXES] = "body"};
  return frame == POL_GLOBAL_AXES || frame == POL_BODY_AXES ? names[frame] : NULL;
}

/* The vector in body axes. */
static void local_vector(const pol_force *force, const pol_frame *frame, double local[3])
{
  if (force->frame == POL_BODY_AXES)
    pol_v3_copy(force->vector, local);
  else
    pol_m3_apply_transposed(frame->R, force->vector, local);
}

void pol_force_add_wrench(const pol_force *force, const pol_frame *frame, double wrench[6])
{
  double local[3], global[3];
  local_vector(force, frame, local);
  if (force->type == POL_APPLIED_TORQUE) {
    pol_v3_add(local, wrench, wrench);
    return;
  }
  pol_v3_copy(force->vector, global);
  if (force->frame == POL_BODY_AXES) pol_m3_apply(frame->R, force->vector, global);
  pol_v3_add_scaled_cross(1.0, force->point, local, wrench);
  pol_v3_add(global, wrench + 3, wrench + 3);
}

/* gradient[row + i][j] = scale * block */
static void set_block(const double block[9], double scale, int row, double gradient[36])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) gradient[6 * (row + i) + j] = scale * block[3 * i + j];
}

void pol_force_gradient(const pol_force *force, const pol_frame *frame, double gradient[36])
{
  double local[3], skew[9], arm[9], block[9];
  memset(gradient, 0, 36 * sizeof *gradient);
  local_vector(force, frame, local);
  pol_m3_skew(local, skew);
  if (force->frame == POL_GLOBAL_AXES && force->type == POL_APPLIED_TORQUE) {
    set_block(skew, 1.0, 0, gradient);
  } else if (force->frame == POL_GLOBAL_AXES) {
    pol_m3_skew(force->point, arm);
    pol_m3_multiply(arm, skew, block);
    set_block(block, 1.0, 0, gradient);
  } else if (force->type == POL_APPLIED_FORCE) {
    pol_m3_multiply(frame->R, skew, block);
    set_block(block, -1.0, 3, gradient);
  }
}
