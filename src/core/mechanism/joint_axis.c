/* Springs, stops and friction of joint coordinates; see joint_axis.h.
 *
 * A stop without a stiffness gets one by the inertia that moves: with the reduced inertia m of both
 * bodies, 1/m = 1/m1 + 1/m2, where m1 is the mass of a body, or its moment of inertia about the
 * axis, and the ground has none,
 *
 *     k = m w^2,   d = 2 zeta m w,   w = 2 pi 20 Hz, of a hard stop 2 pi 100 Hz,  zeta = 0.3. */
#include "mechanism/joint_axis.h"

#include <math.h>
#include <stdio.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/coordinate.h"
#include "mechanism/flexible.h"

static const double stop_frequency = 20.0, hard_stop_frequency = 100.0, stop_damping = 0.3;
/* A coordinate beyond a limit by less than this is at the limit. */
static const double limit_tolerance = 1e-9;

pol_joint_axis pol_joint_axis_default(void)
{
  return (pol_joint_axis){.limits = {.min = -(double)INFINITY,
                                     .max = (double)INFINITY,
                                     .damping = -1.0,
                                     .restitution = -1.0,
                                     .rest_speed = 0.05},
                          .friction = {.stribeck_speed = 0.01, .creep_speed = 0.001}};
}

int poli_joint_axis_has_limits(const pol_joint_axis *axis)
{
  return axis->limits.min > -(double)INFINITY || axis->limits.max < (double)INFINITY;
}

static int has_friction(const pol_joint_friction *f)
{
  return f->coefficient > 0.0 || f->static_coefficient > 0.0 || f->level > 0.0 ||
         f->static_level > 0.0 || f->viscous > 0.0;
}

/* --- rules ------------------------------------------------------------------------------------ */

static void check_limits(poli_rules *check, const pol_joint_limits *l, double start)
{
  char value[32];
  if (isnan(l->min) || isnan(l->max) || !(l->min < l->max)) {
    snprintf(value, sizeof value, "%.10g", l->min);
    poli_refuse(check, "limits.min", value, "", "must be below \"max\"%s",
                l->min == 0.0 && l->max == 0.0 ? "; pol_joint_axis_default() sets no limits" : "");
    return;
  }
  poli_number_rules(check, "limits.stiffness", &l->stiffness, 1, POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "limits.damping", &l->damping, 1, POLI_ANY_NUMBER);
  poli_number_rules(check, "limits.rest_speed", &l->rest_speed, 1, POLI_POSITIVE_NUMBER);
  if (!(l->restitution <= 1.0)) {
    snprintf(value, sizeof value, "%.10g", l->restitution);
    poli_refuse(check, "limits.restitution", value, "", "must be a number from 0 to 1");
  }
  const int above = start > l->max, below = start < l->min;
  const double limit = above ? l->max : l->min;
  if ((!above && !below) || fabs(start - limit) <= limit_tolerance * (1.0 + fabs(limit))) return;
  snprintf(value, sizeof value, "%.10g", limit);
  poli_refuse(check, above ? "limits.max" : "limits.min", value, "",
              "must not be violated at the start, where the coordinate is %.10g", start);
}

static void check_friction(poli_rules *check, const pol_joint *joint, int angular,
                           const pol_joint_friction *f)
{
  poli_number_rules(check, "friction.coefficient", &f->coefficient, 1, POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "friction.static_coefficient", &f->static_coefficient, 1,
                    POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "friction.level", &f->level, 1, POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "friction.static_level", &f->static_level, 1, POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "friction.viscous", &f->viscous, 1, POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "friction.radius", &f->radius, 1, POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "friction.thrust_radius", &f->thrust_radius, 1,
                    POLI_NOT_NEGATIVE_NUMBER);
  poli_number_rules(check, "friction.length", &f->length, 1, POLI_NOT_NEGATIVE_NUMBER);
  if (!has_friction(f)) return;
  poli_number_rules(check, "friction.stribeck_speed", &f->stribeck_speed, 1, POLI_POSITIVE_NUMBER);
  poli_number_rules(check, "friction.creep_speed", &f->creep_speed, 1, POLI_POSITIVE_NUMBER);
  const char *key = f->coefficient > 0.0 ? "friction.coefficient" : "friction.static_coefficient";
  char value[32];
  const struct {
    const char *name;
    double kinetic, at_rest;
  } pairs[] = {{"friction.static_coefficient", f->coefficient, f->static_coefficient},
               {"friction.static_level", f->level, f->static_level}};
  for (int i = 0; i < 2; i++) {
    snprintf(value, sizeof value, "%.10g", pairs[i].at_rest);
    if (pairs[i].at_rest > 0.0 && pairs[i].at_rest < pairs[i].kinetic)
      poli_refuse(check, pairs[i].name, value, "", "must not be below that of motion, %.10g",
                  pairs[i].kinetic);
  }
  snprintf(value, sizeof value, "%.10g", fmax(f->coefficient, f->static_coefficient));
  if (!(f->coefficient > 0.0 || f->static_coefficient > 0.0)) return;
  if (joint->type != POL_REVOLUTE && joint->type != POL_PRISMATIC && joint->type != POL_CYLINDRICAL)
    poli_refuse(check, key, value, "",
                "must be zero: friction by the reaction needs a revolute, prismatic or cylindrical "
                "joint; use \"level\"");
  else if (joint->global_axes)
    poli_refuse(check, key, value, "",
                "must be zero: friction by the reaction needs constraints in the axes of the body");
  else if (angular && !(f->radius > 0.0))
    poli_refuse(check, "friction.radius", "", "",
                "is required: the radius of the journal, where the reaction acts");
}

void poli_joint_axes_rules(poli_rules *check, const pol_joint *joint, int placed)
{
  const int count = pol_joint_num_coordinates(joint);
  const char *before = check->inside;
  if (count == 0)
    poli_refuse(check, "axes", "", "",
                "must be NULL: this joint has no angle or displacement of its own");
  for (int i = 0; i < count; i++) {
    const pol_joint_axis *axis = &joint->axes[i];
    const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
    char inside[64] = "";
    if (!check->relative)
      snprintf(inside, sizeof inside, "axes[%d].", i);
    else if (count > 1)
      snprintf(inside, sizeof inside, "coordinates.%s.", info->key);
    check->inside = inside;
    poli_number_rules(check, "stiffness", &axis->stiffness, 1, POLI_NOT_NEGATIVE_NUMBER);
    poli_number_rules(check, "damping", &axis->damping, 1, POLI_NOT_NEGATIVE_NUMBER);
    poli_number_rules(check, "rest", &axis->rest, 1, POLI_ANY_NUMBER);
    poli_number_rules(check, "armature", &axis->armature, 1, POLI_NOT_NEGATIVE_NUMBER);
    if (axis->armature > 0.0 && joint->type == POL_UNIVERSAL)
      poli_refuse(check, "armature", "", "",
                  "must be zero: the axes of a universal joint turn; use two revolute joints");
    double start = 0.0;
    if (placed) {
      poli_coordinate_kernel kernel;
      poli_frame first, second;
      poli_coordinate_kernel_place(&kernel, check->mechanism, joint, i);
      poli_initial_frame(check->mechanism, kernel.body[0], &first);
      poli_initial_frame(check->mechanism, kernel.body[1], &second);
      start = poli_coordinate_value(&kernel, &first, &second);
    }
    check_limits(check, &axis->limits, start);
    check_friction(check, joint, info->angular, &axis->friction);
  }
  check->inside = before;
}

/* --- elements --------------------------------------------------------------------------------- */

double poli_joint_reduced_inertia(const pol_mechanism *mechanism, int index, int coordinate)
{
  const pol_joint *joint = pol_mechanism_joint(mechanism, index);
  const int angular = pol_joint_coordinate(joint, coordinate)->angular;
  double inverse = 0.0;
  for (int i = 0; i < 2; i++) {
    const pol_marker *marker = pol_mechanism_marker(mechanism, joint->marker[i]);
    if (marker->body == POL_GROUND) continue;
    const pol_body *body = pol_mechanism_body(mechanism, marker->body);
    double A[9], z[3], Jz[3], arm[3], point[3];
    pol_quat_to_matrix(marker->rotation, A);
    for (int k = 0; k < 3; k++) z[k] = A[3 * k + 2];
    poli_v3_copy(marker->position, point);
    pol_body rigid;
    if (body->flexible) { /* without deformation */
      rigid = poli_flexible_rigid(body, point);
      body = &rigid;
    }
    poli_m3_apply(body->inertia, z, Jz);
    poli_v3_cross(point, z, arm);
    const double turning = poli_v3_dot(z, Jz) + body->mass * poli_v3_dot(arm, arm);
    inverse += 1.0 / (angular ? turning : body->mass);
  }
  return 1.0 / inverse;
}

const char *poli_joint_axis_name(int element)
{
  static const char *const names[] = {"spring", "stop", "friction"};
  return names[element];
}

int poli_joint_axis_force(const pol_mechanism *mechanism, int joint, int index, int element,
                          pol_force *force)
{
  static const double pi = 3.14159265358979323846;
  const pol_joint *j = pol_mechanism_joint(mechanism, joint);
  const pol_joint_axis *axis = &j->axes[index];
  *force = pol_force_default();
  force->joint = joint;
  force->coordinate = index;
  force->made_by_joint = 1;
  if (element == POLI_AXIS_SPRING) {
    force->type = POL_JOINT_SPRING;
    force->stiffness[0] = axis->stiffness;
    force->damping[0] = axis->damping;
    force->rest = axis->rest;
    return axis->stiffness > 0.0 || axis->damping > 0.0;
  }
  if (element == POLI_AXIS_STOP) {
    const int hard = axis->limits.restitution >= 0.0;
    const double w = 2.0 * pi * (hard ? hard_stop_frequency : stop_frequency);
    const double m = poli_joint_reduced_inertia(mechanism, joint, index);
    force->type = POL_JOINT_STOP;
    force->limits[0] = axis->limits.min;
    force->limits[1] = axis->limits.max;
    force->rest_speed = hard ? axis->limits.rest_speed : 0.0;
    force->stiffness[0] = axis->limits.stiffness > 0.0 ? axis->limits.stiffness : m * w * w;
    force->damping[0] = axis->limits.damping >= 0.0
                            ? axis->limits.damping
                            : 2.0 * stop_damping * sqrt(m * force->stiffness[0]);
    return poli_joint_axis_has_limits(axis);
  }
  force->type = POL_JOINT_FRICTION;
  force->friction = axis->friction;
  return has_friction(&axis->friction);
}
