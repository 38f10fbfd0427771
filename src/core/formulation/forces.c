/* Force elements in a formulation: springs on joint coordinates, which remember turns, and all the
 * others; and the split of their power.
 *
 * A damper's wrench is the part that vanishes with the velocities, so that the power which it takes
 * out is (W(q, 0) - W(q, v)) . y with the wrench W and the velocities y.  The constant part of an
 * element is what is left of it without stiffness and damping.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formulation/elements.h"
#include "formulation/expressions.h"
#include "formulation/output.h"
#include "lie/small.h"
#include "mechanism/function.h"

/* The angle that a joint-spring starts to count from. */
static double remembered(const poli_placed_force *force, const double *history)
{
  return history && force->history >= 0 ? history[force->history] : 0.0;
}

pol_status poli_placed_wrenches(const poli_placed_force *force, const pol_point *at,
                                const poli_frame *first, const poli_frame *second,
                                double wrench[2][6])
{
  if (force->kernel.force->type == POL_JOINT_SPRING)
    return poli_joint_spring_wrenches(&force->spring, first, second, remembered(force, at->history),
                                      wrench);
  return poli_force_wrenches(&force->kernel, at->t, first, second, wrench);
}

pol_status poli_placed_derivatives(const poli_placed_force *force, const pol_point *at,
                                   const poli_frame *first, const poli_frame *second,
                                   poli_force_blocks *blocks)
{
  if (force->kernel.force->type == POL_JOINT_SPRING)
    return poli_joint_spring_derivatives(&force->spring, first, second,
                                         remembered(force, at->history), blocks);
  return poli_force_derivatives(&force->kernel, at->t, first, second, blocks);
}

double poli_placed_potential(const poli_placed_force *force, const pol_point *at,
                             const poli_frame *first, const poli_frame *second)
{
  if (force->kernel.force->type == POL_JOINT_SPRING)
    return poli_joint_spring_potential(&force->spring, first, second,
                                       remembered(force, at->history));
  return poli_force_potential(&force->kernel, first, second);
}

double poli_instant_joint_spring(const poli_instant *now, int force)
{
  const pol_formulation *f = now->formulation;
  double T, x[POLI_MAX_INPUTS];
  pol_status status = POL_OK;
  poli_changed_force changed;
  poli_frame own[2];
  memset(x, 0, (size_t)f->network.num_inputs * sizeof *x);
  poli_expressions_inputs(f, &now->at, now->frames, 0, x);
  const poli_placed_force *placed = poli_expressions_force(f, force, x, &changed, &status);
  const int *body = placed->kernel.body;
  poli_joint_spring_effort(&placed->spring, poli_instant_frame(now, body[0], &own[0]),
                           poli_instant_frame(now, body[1], &own[1]),
                           remembered(placed, now->at.history), &T);
  return T;
}

double pol_formulation_joint_spring_effort(const pol_formulation *formulation, const pol_point *at,
                                           int force)
{
  return poli_instant_joint_spring(&(poli_instant){formulation, *at, NULL}, force);
}

/* --- functions of time ------------------------------------------------------------------------ */

/* The highest derivative of a drive's function that these terms need; -1 for none. */
static int order_of(unsigned want)
{
  if (want & POL_ACCELERATION) return 2;
  if (want & (POL_VELOCITY | POL_CURVATURE)) return 1;
  return want & (POL_POSITION | POL_JACOBIAN | POL_REACTION | POL_GEOMETRIC_STIFFNESS) ? 0 : -1;
}

pol_status poli_functions_check(const pol_formulation *formulation, double t, unsigned want,
                                double *failed)
{
  const pol_formulation *f = formulation;
  const int order = order_of(want), forces = want & (POL_FORCE | POL_STIFFNESS | POL_DAMPING);
  for (int k = 0; k < f->num_drives && order >= 0; k++) {
    double value[3];
    poli_function_value(&f->drives[k].kernel.drive->function, t, value);
    for (int i = 0; i <= order; i++) {
      if (isfinite(value[i])) continue;
      *failed = f->num_forces + 1 + 3 * k + i;
      return POL_NOT_FINITE;
    }
  }
  for (int k = 0; k < f->num_forces && forces; k++) {
    const pol_force *force = f->forces[k].kernel.force;
    if (!force->scale || isfinite(poli_force_scale(force, t))) continue;
    *failed = f->num_forces + 1 + 3 * f->num_drives + k;
    return POL_NOT_FINITE;
  }
  return POL_OK;
}

void poli_functions_blame(const pol_formulation *formulation, int number, char *text, size_t size)
{
  static const char *const what[] = {"function", "rate", "acceleration"};
  const pol_formulation *f = formulation;
  const int own = number - f->num_forces - 1, force = own - 3 * f->num_drives;
  if (force < 0)
    snprintf(text, size, "drive '%s': its %s is not finite", f->drives[own / 3].kernel.drive->name,
             what[own % 3]);
  else
    snprintf(text, size, "force '%s': its scale is not finite",
             f->forces[force].kernel.force->name);
}

/* --- power ------------------------------------------------------------------------------------ */

/* W . y of the element on the two frames. */
static double power(double wrench[2][6], const poli_frame *first, const poli_frame *second)
{
  return poli_v3_dot(wrench[0], first->w) + poli_v3_dot(wrench[0] + 3, first->u) +
         poli_v3_dot(wrench[1], second->w) + poli_v3_dot(wrench[1] + 3, second->u);
}

static poli_frame at_rest(const poli_frame *frame)
{
  poli_frame rest = *frame;
  for (int i = 0; i < 3; i++) rest.w[i] = rest.u[i] = 0.0;
  return rest;
}

void poli_placed_power(const poli_placed_force *force, const pol_point *at, const poli_frame *first,
                       const poli_frame *second, double *dissipated, double *applied)
{
  poli_frame still[2] = {at_rest(first), at_rest(second)};
  double moving[2][6], resting[2][6], constant[2][6];
  *dissipated = *applied = 0.0;
  if (poli_placed_wrenches(force, at, first, second, moving) ||
      poli_placed_wrenches(force, at, &still[0], &still[1], resting))
    return;
  switch (force->kernel.force->type) {
  case POL_APPLIED_FORCE:
  case POL_APPLIED_TORQUE:
    *applied = power(moving, first, second);
    break;
  case POL_SPRING_DAMPER:
  case POL_JOINT_SPRING: {
    poli_changed_force part;
    poli_placed_wrenches(poli_expressions_actuator(force, &part), at, first, second, constant);
    *applied = power(constant, first, second);
    *dissipated = power(resting, first, second) - power(moving, first, second);
    break;
  }
  case POL_CALLBACK_FORCE:
    if (!force->kernel.force->callback.potential) *applied = power(resting, first, second);
    *dissipated = power(resting, first, second) - power(moving, first, second);
    break;
  case POL_SUPPORT:
  case POL_DRAG:
  case POL_BUSHING:
    *dissipated = power(resting, first, second) - power(moving, first, second);
    break;
  }
}
