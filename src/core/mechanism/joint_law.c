/* Laws of elements on joint coordinates; see joint_law.h. */
#include "mechanism/joint_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mechanism/coordinate.h"

/* The depth in a stop, and on which side: 1 above max, -1 below min; 0 inside. */
static double depth_of(const pol_force *force, double value, int *side)
{
  *side = value > force->limits[1] ? 1 : value < force->limits[0] ? -1 : 0;
  return *side > 0 ? value - force->limits[1] : *side < 0 ? force->limits[0] - value : 0.0;
}

int poli_joint_law_rests(const pol_force *force, const poli_joint_memory *memory)
{
  return force->rest_speed > 0.0 && abs(memory->contact) == 1 ? memory->contact : 0;
}

/* Whether it is a hard stop that a simulation takes care of. */
static int is_managed(const pol_force *force, const poli_joint_memory *memory)
{
  return force->rest_speed > 0.0 && memory->contact != POLI_STOP_ALONE;
}

/* A hard stop in a simulation. */
static poli_joint_law rest_law(const pol_force *force, double value, double rate,
                               const poli_joint_memory *memory)
{
  const double k = force->stiffness[0], d = force->damping[0];
  const int side = poli_joint_law_rests(force, memory);
  if (side == 0) return (poli_joint_law){0};
  return (poli_joint_law){.T = -side * memory->preload - k * (value - force->limits[side > 0]) -
                               d * rate,
                          .by_value = -k,
                          .by_rate = -d};
}

/* With x = d u / (k p):  dT/dp = -k (1 + tanh x - x (1 - tanh^2 x)),  dT/du = -d (1 - tanh^2 x). */
static poli_joint_law stop_law(const pol_force *force, double value, double rate)
{
  const double k = force->stiffness[0], d = force->damping[0];
  poli_joint_law law = {0};
  int side;
  const double p = depth_of(force, value, &side);
  if (side == 0 || !(k * p > 0.0)) return law;
  const double x = d * side * rate / (k * p), th = tanh(x);
  /* 1 - tanh^2 x decays faster than x grows */
  const double slope = fabs(x) < 350.0 ? 1.0 / (cosh(x) * cosh(x)) : 0.0;
  law.T = -side * k * p * (1.0 + th);
  law.by_value = -k * (1.0 + th - (slope > 0.0 ? x * slope : 0.0));
  law.by_rate = -d * slope;
  return law;
}

static poli_joint_law friction_law(const pol_joint_friction *f, double rate, double load)
{
  const double y = rate / f->stribeck_speed, bell = exp(-y * y);
  const double more = fmax(f->static_coefficient - f->coefficient, 0.0);
  const double higher = fmax(f->static_level - f->level, 0.0);
  const double mu = f->coefficient + more * bell, level = f->level + higher * bell;
  const double bell_u = -2.0 * y / f->stribeck_speed * bell;
  const double x = rate / f->creep_speed, sign = tanh(x);
  const double sign_u = fabs(x) < 350.0 ? 1.0 / (cosh(x) * cosh(x) * f->creep_speed) : 0.0;
  const double limit = mu * load + level;
  return (poli_joint_law){.T = -limit * sign - f->viscous * rate,
                          .by_rate =
                              -limit * sign_u - (more * load + higher) * bell_u * sign - f->viscous,
                          .by_load = -mu * sign};
}

poli_joint_law poli_joint_law_at(const pol_force *force, double value, double rate,
                                 const poli_joint_memory *memory)
{
  const double k = force->stiffness[0], c = force->damping[0];
  if (is_managed(force, memory)) return rest_law(force, value, rate, memory);
  if (force->type == POL_JOINT_STOP) return stop_law(force, value, rate);
  if (force->type == POL_JOINT_FRICTION) return friction_law(&force->friction, rate, memory->load);
  return (poli_joint_law){
      .T = force->actuator - c * rate - k * (value - force->rest), .by_value = -k, .by_rate = -c};
}

double poli_joint_law_energy(const pol_force *force, double value, const poli_joint_memory *memory)
{
  const double k = force->stiffness[0];
  int side = poli_joint_law_rests(force, memory);
  if (side != 0) {
    const double p = side * (value - force->limits[side > 0]);
    return (memory->preload + 0.5 * k * p) * p;
  }
  if (is_managed(force, memory) || force->type == POL_JOINT_FRICTION) return 0.0;
  const double p =
      force->type == POL_JOINT_STOP ? depth_of(force, value, &side) : value - force->rest;
  return 0.5 * k * p * p;
}

/* The quotient of a stop is -k (p1 + p0) / 2 as long as both ends are beyond the same limit; else,
 * with E1 and E0 the energies and w the way, T = -(E1 - E0)/w and dT/d(after) = (T1 - T) / w. */
static poli_joint_law stop_between(const pol_force *force, double before, double after)
{
  const double way = after - before, k = force->stiffness[0];
  int from, to;
  const double p0 = depth_of(force, before, &from), p1 = depth_of(force, after, &to);
  poli_joint_law law = {.T = -to * 0.5 * k * (p0 + p1), .by_value = to ? -0.5 * k : 0.0};
  if (from != to) {
    law.T = -0.5 * k * (p1 * p1 - p0 * p0) / way;
    law.by_value = (-to * k * p1 - law.T) / way;
  }
  return law;
}

poli_joint_law poli_joint_law_between(const pol_force *force, double before, double after,
                                      double rate, const poli_joint_memory *memory)
{
  const double mean = 0.5 * (before + after);
  const poli_joint_law moving = poli_joint_law_at(force, mean, rate, memory);
  if (force->type != POL_JOINT_STOP || is_managed(force, memory))
    return (poli_joint_law){
        .T = moving.T, .by_value = 0.5 * moving.by_value, .by_rate = moving.by_rate};
  /* the spring between both ends, and at their mean what the damper adds to it */
  pol_force spring = *force;
  spring.damping[0] = 0.0;
  const poli_joint_law resting = poli_joint_law_at(&spring, mean, rate, memory);
  poli_joint_law law = stop_between(force, before, after);
  law.T += moving.T - resting.T;
  law.by_value += 0.5 * (moving.by_value - resting.by_value);
  law.by_rate += moving.by_rate - resting.by_rate;
  return law;
}

/* --- loads ------------------------------------------------------------------------------------ */

enum { FORCE_ACROSS, FORCE_ALONG, TORQUE_ACROSS, TORQUE_ALONG };

int poli_friction_reads_reactions(const pol_force *force)
{
  return force->type == POL_JOINT_FRICTION &&
         (force->friction.coefficient > 0.0 || force->friction.static_coefficient > 0.0);
}

void poli_joint_load_setup(poli_joint_load *load, const pol_mechanism *mechanism,
                           const pol_force *force)
{
  const pol_joint_friction *f = &force->friction;
  memset(load, 0, sizeof *load);
  if (!poli_friction_reads_reactions(force)) return;
  const pol_joint *joint = pol_mechanism_joint(mechanism, force->joint);
  const int angular = pol_joint_coordinate(joint, force->coordinate)->angular, axis = 2;
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  load->num_rows = pol_joint_rows(joint, rows);
  for (int i = 0; i < load->num_rows; i++) {
    /* a row of axes i and j has a torque about the third */
    const int turns = rows[i].kind == POL_ROW_ROTATION;
    const int along = (turns ? 3 - rows[i].axis - rows[i].other : rows[i].axis) == axis;
    load->part[i] =
        turns ? (along ? TORQUE_ALONG : TORQUE_ACROSS) : (along ? FORCE_ALONG : FORCE_ACROSS);
  }
  const double arm = f->length > 0.0 ? 2.0 / f->length : 0.0;
  load->weight[FORCE_ACROSS] = angular ? f->radius : 1.0;
  load->weight[FORCE_ALONG] = angular ? f->thrust_radius : 0.0;
  load->weight[TORQUE_ACROSS] = (angular ? f->radius : 1.0) * arm;
  load->weight[TORQUE_ALONG] = !angular && f->radius > 0.0 ? 1.0 / f->radius : 0.0;
}

double poli_joint_load_value(const poli_joint_load *load, const double *lambda,
                             double by_lambda[POL_MAX_JOINT_ROWS])
{
  double norm[POLI_LOAD_PARTS] = {0.0}, sum = 0.0;
  for (int i = 0; i < load->num_rows; i++)
    norm[load->part[i]] = hypot(norm[load->part[i]], lambda[i]);
  for (int k = 0; k < POLI_LOAD_PARTS; k++) sum += load->weight[k] * norm[k];
  for (int i = 0; by_lambda && i < load->num_rows; i++) {
    const int k = load->part[i];
    by_lambda[i] = norm[k] > 0.0 ? load->weight[k] * lambda[i] / norm[k] : 0.0;
  }
  return sum;
}
