/* The watch of turns.h. */
#include "analysis/turns.h"

#include <math.h>
#include <stdio.h>

#include "formulation/elements.h"

static const double pi = 3.14159265358979323846;

/* Whether an angle of a joint changes by half a turn or more in a time h, at its present rate. */
static int too_fast(const pol_formulation *formulation, const pol_point *at, int joint, int index,
                    double h)
{
  double angle, rate;
  pol_formulation_joint_coordinate(formulation, at, joint, index, &angle, &rate);
  return fabs(rate) * h >= pi;
}

int pol_turns_look(const pol_formulation *formulation, const pol_state *state, double h,
                   pol_lost_turns *lost, char *where, size_t size)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_point at = pol_state_point(state);
  int found = 0;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
      const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
      if (!info->angular || !too_fast(formulation, &at, k, i, h)) continue;
      if (pol_formulation_needs_turns(formulation, k, i)) {
        snprintf(where, size, "joint '%s', %s", joint->name, info->name);
        return 1;
      }
      if (!found++ && lost->count++ == 0) {
        lost->t = state->t;
        snprintf(lost->where, sizeof lost->where, "joint '%s', %s", joint->name, info->name);
      }
    }
  }
  return 0;
}
