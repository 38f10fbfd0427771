/* The watch of turns.h. */
#include "simulation/turns.h"

#include <math.h>
#include <stdio.h>

#include "formulation/elements.h"
#include "lie/small.h"

static const double pi = 3.14159265358979323846;

/* Whether an angle of a joint changes by half a turn or more in a time h, at its present rate. */
static int too_fast(const pol_formulation *formulation, const pol_point *at, int joint, int index,
                    double h)
{
  double angle, rate;
  pol_formulation_joint_coordinate(formulation, at, joint, index, &angle, &rate);
  return fabs(rate) * h >= pi;
}

/* The first angle that is too fast, of those that the motion depends on or of the others. */
static int find_angle(const pol_formulation *formulation, const pol_state *state, double h,
                      int needed, char *where, size_t size)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_point at = pol_state_point(state);
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
      const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
      if (!info->angular || !too_fast(formulation, &at, k, i, h)) continue;
      if (poli_formulation_needs_turns(formulation, k, i) != needed) continue;
      snprintf(where, size, "joint '%s', %s", joint->name, info->name);
      return 1;
    }
  }
  return 0;
}

/* Whether a bushing has turned across the place where its rotation vector jumps. */
static int has_jumped(const pol_formulation *f, const poli_force_kernel *kernel,
                      const pol_state *state, double h)
{
  poli_frame frames[2];
  double rho[3], omega[3];
  poli_formulation_frames(f, state->q, state->v, kernel->body, frames);
  if (!poli_bushing_rotation(&kernel->bushing, &frames[0], &frames[1], rho, omega)) return 0;
  poli_v3_add_scaled(-h, omega, rho);
  return poli_v3_dot(rho, rho) >= pi * pi;
}

static int find_bushing(const pol_formulation *f, const pol_state *state, double h, char *where,
                        size_t size)
{
  for (int k = 0; k < f->num_forces; k++) {
    const pol_force *force = pol_mechanism_force(f->mechanism, k);
    if (force->type != POL_BUSHING || !has_jumped(f, &f->forces[k].kernel, state, h)) continue;
    snprintf(where, size, "force '%s': its markers are turned by more than 3 rad", force->name);
    return 1;
  }
  return 0;
}

int poli_turns_look(const pol_formulation *formulation, const pol_state *state, double h,
                    pol_lost_turns *lost, char *where, size_t size)
{
  if (find_angle(formulation, state, h, 1, where, size)) return 1;
  if (find_bushing(formulation, state, h, where, size)) return 1;
  if (!find_angle(formulation, state, h, 0, where, size)) return 0;
  if (lost->count++ > 0) return 0;
  lost->t = state->t;
  snprintf(lost->where, sizeof lost->where, "%s", where);
  return 0;
}
