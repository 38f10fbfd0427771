/* Coordinates that joints leave free with the turns that their angles have made (the history of the
 * equations), and force elements: springs on joint coordinates, which remember turns, and all the
 * others; and the split of their power.
 *
 * A damper's wrench is the part that vanishes with the velocities, so that the power which it takes
 * out is (W(q, 0) - W(q, v)) . y with the wrench W and the velocities y.  The constant part of an
 * element is what is left of it without stiffness and damping.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formulation/expressions.h"
#include "formulation/output.h"
#include "lie/small.h"
#include "mechanism/function.h"

/* --- joint coordinates ------------------------------------------------------------------------ */

/* The rows c and s of an angle have one view or two. */
static void set_turn(const poli_placed_coordinate *placed, poli_turn *to)
{
  const poli_view *view = placed->kernel.rows.view;
  const int apart = placed->kernel.rows.num_views - 1;
  to->history = placed->history;
  for (int i = 0; i < 2; i++) {
    to->body[i] = placed->kernel.body[i];
    to->q[i] = -1;
    poli_v3_copy(view[i * apart].axis[i * !apart], to->axis[i]);
    poli_v3_copy(view[i * apart].s, to->other[i]);
  }
}

void poli_formulation_place_coordinates(pol_formulation *f)
{
  int count = 0, numbers = 0;
  for (int k = 0; k < f->num_joints; k++) {
    int num = pol_joint_num_coordinates(pol_mechanism_joint(f->mechanism, k));
    f->joints[k].coordinate = count;
    for (int i = 0; i < num; i++) {
      poli_placed_coordinate *placed = &f->coordinates[count++];
      poli_coordinate_kernel_setup(&placed->kernel, f->mechanism, k, i);
      placed->history = placed->kernel.angular ? numbers++ : -1;
      if (placed->kernel.angular) set_turn(placed, &f->turns[f->num_turns++]);
    }
  }
  for (int k = 0; k < f->num_forces; k++) {
    const pol_force *force = pol_mechanism_force(f->mechanism, k);
    f->forces[k].contact = -1;
    if (!poli_force_is_on_joint(force->type)) continue;
    if (force->rest_speed > 0.0) {
      f->forces[k].contact = numbers;
      numbers += 2;
    }
    poli_joint_spring_setup(&f->forces[k].spring, f->mechanism, k);
    f->forces[k].load_row = f->joints[force->joint].row;
    f->forces[k].history =
        f->coordinates[f->joints[force->joint].coordinate + force->coordinate].history;
  }
  f->dae.history_size = (size_t)numbers;
}

void poli_formulation_update_joint_history(double t, const double *q, double *history, void *user)
{
  const pol_formulation *f = user;
  (void)t;
  for (int k = 0; k < f->num_turns; k++) {
    const poli_turn *turn = &f->turns[k];
    double R[2][9], y[3], z[3], row[2];
    for (int i = 0; i < 2; i++) {
      if (turn->q[i] >= 0) {
        poli_quat_to_matrix(q + turn->q[i], R[i]);
        continue;
      }
      poli_frame frame = *poli_ground_frame();
      if (turn->body[i] != POL_GROUND) poli_formulation_frame(f, q, NULL, turn->body[i], &frame);
      poli_m3_copy(frame.R, R[i]);
    }
    for (int i = 0; i < 2; i++) {
      poli_m3_apply(R[1], turn->other[i], y);
      poli_m3_apply_transposed(R[0], y, z);
      row[i] = poli_v3_dot(turn->axis[i], z);
    }
    double *angle = &history[turn->history];
    *angle = poli_angle_unwrap(poli_angle_of_rows(row), *angle);
  }
}

int poli_formulation_needs_turns(const pol_formulation *formulation, int joint, int index)
{
  const pol_mechanism *mechanism = formulation->mechanism;
  const poli_network *network = &formulation->network;
  for (int k = 0; k < formulation->num_forces; k++) {
    const pol_force *force = pol_mechanism_force(mechanism, k);
    if ((force->type == POL_JOINT_SPRING || force->type == POL_JOINT_STOP) &&
        force->joint == joint && force->coordinate == index)
      return 1;
  }
  /* the joints of couplings have one angle at most */
  for (int k = 0; k < 2 * formulation->num_couplings; k++) {
    const pol_coupling *coupling = pol_mechanism_coupling(mechanism, k / 2);
    if (coupling->joint[k % 2] == joint && pol_coordinate_turns(coupling->coordinate[k % 2]))
      return 1;
  }
  for (int i = network->num_variables; i < network->num_inputs; i++) {
    const poli_signal *signal = &network->inputs[i];
    if (signal->kind == POLI_SIGNAL_COORDINATE && signal->object == joint &&
        signal->component == index && network->active[i])
      return 1;
  }
  return 0;
}

void poli_instant_coordinate(const poli_instant *now, int joint, int index, double *value,
                             double *rate)
{
  const pol_formulation *f = now->formulation;
  const poli_placed_coordinate *placed = &f->coordinates[f->joints[joint].coordinate + index];
  const int *body = placed->kernel.body;
  const double *history = now->at.history;
  poli_frame own[2];
  poli_coordinate_motion(&placed->kernel, poli_instant_frame(now, body[0], &own[0]),
                         poli_instant_frame(now, body[1], &own[1]), value, rate);
  if (placed->history >= 0 && history) *value = poli_angle_unwrap(*value, history[placed->history]);
}

void pol_formulation_joint_coordinate(const pol_formulation *formulation, const pol_point *at,
                                      int joint, int index, double *value, double *rate)
{
  poli_instant_coordinate(&(poli_instant){formulation, *at, NULL}, joint, index, value, rate);
}

/* --- forces ----------------------------------------------------------------------------------- */

double *poli_placed_contact(const poli_placed_force *force, double *history)
{
  return force->contact >= 0 ? history + force->contact : NULL;
}

poli_joint_memory poli_placed_memory(const poli_placed_force *force, const pol_point *at)
{
  const double *history = at->history;
  poli_joint_memory memory = {.contact = POLI_STOP_ALONE};
  if (history && force->history >= 0) memory.angle = history[force->history];
  if (history && force->contact >= 0) {
    memory.contact = (int)history[force->contact];
    memory.preload = history[force->contact + 1];
  }
  if (force->spring.load.num_rows > 0 && at->lambda)
    memory.load = poli_joint_load_value(&force->spring.load, at->lambda + force->load_row, NULL);
  return memory;
}

pol_status poli_placed_feedback(const poli_placed_force *force, const pol_point *at,
                                const poli_frame *first, const poli_frame *second,
                                double by_lambda[12][POL_MAX_JOINT_ROWS])
{
  const poli_joint_load *load = &force->spring.load;
  double by_load[12], slope[POL_MAX_JOINT_ROWS];
  const pol_status status = poli_joint_spring_by_load(&force->spring, first, second,
                                                      poli_placed_memory(force, at), by_load);
  poli_joint_load_value(load, at->lambda + force->load_row, slope);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < load->num_rows; j++) by_lambda[i][j] = -by_load[i] * slope[j];
  return status;
}

pol_status poli_placed_wrenches(const poli_placed_force *force, const pol_point *at,
                                const poli_frame *first, const poli_frame *second,
                                double wrench[2][6])
{
  if (poli_force_is_on_joint(force->kernel.force->type))
    return poli_joint_spring_wrenches(&force->spring, first, second, poli_placed_memory(force, at),
                                      wrench);
  return poli_force_wrenches(&force->kernel, at->t, first, second, wrench);
}

pol_status poli_placed_derivatives(const poli_placed_force *force, const pol_point *at,
                                   const poli_frame *first, const poli_frame *second,
                                   poli_force_blocks *blocks)
{
  if (poli_force_is_on_joint(force->kernel.force->type))
    return poli_joint_spring_derivatives(&force->spring, first, second,
                                         poli_placed_memory(force, at), blocks);
  return poli_force_derivatives(&force->kernel, at->t, first, second, blocks);
}

double poli_placed_potential(const poli_placed_force *force, const pol_point *at,
                             const poli_frame *first, const poli_frame *second)
{
  if (poli_force_is_on_joint(force->kernel.force->type))
    return poli_joint_spring_potential(&force->spring, first, second,
                                       poli_placed_memory(force, at));
  return poli_force_potential(&force->kernel, first, second);
}

double poli_instant_joint_spring(const poli_instant *now, int force)
{
  const pol_formulation *f = now->formulation;
  double x[POLI_MAX_INPUTS];
  poli_joint_law law;
  pol_status status = POL_OK;
  poli_changed_force changed;
  poli_frame own[2];
  memset(x, 0, (size_t)f->network.num_inputs * sizeof *x);
  poli_expressions_inputs(f, &now->at, now->frames, 0, x);
  const poli_placed_force *placed = poli_expressions_force(f, force, x, &changed, &status);
  const int *body = placed->kernel.body;
  poli_joint_spring_law(&placed->spring, poli_instant_frame(now, body[0], &own[0]),
                        poli_instant_frame(now, body[1], &own[1]),
                        poli_placed_memory(placed, &now->at), &law);
  return law.T;
}

double pol_formulation_joint_spring_effort(const pol_formulation *formulation, const pol_point *at,
                                           int force)
{
  return poli_instant_joint_spring(&(poli_instant){formulation, *at, NULL}, force);
}

/* --- functions of time ------------------------------------------------------------------------ */

void poli_formulation_scale_loads(pol_formulation *formulation, double factor, pol_force *scaled)
{
  pol_formulation *f = formulation;
  pol_mechanism_gravity(f->mechanism, f->gravity);
  for (int i = 0; i < 3; i++) f->gravity[i] *= factor;
  for (int k = 0; k < f->num_forces; k++) {
    poli_placed_force *force = &f->forces[k];
    scaled[k] = *pol_mechanism_force(f->mechanism, k);
    for (int i = 0; i < 3; i++) scaled[k].vector[i] *= factor;
    scaled[k].actuator *= factor;
    force->kernel.force = &scaled[k];
    if (force->spring.force) force->spring.force = &scaled[k];
  }
}

pol_status poli_functions_check(const pol_formulation *formulation, double t, unsigned want,
                                double *failed)
{
  const pol_formulation *f = formulation;
  const unsigned forces = want & (POL_FORCE | POL_STIFFNESS | POL_DAMPING);
  /* the highest derivative of a drive's function that these terms need; -1 for none */
  const unsigned held = POL_POSITION | POL_JACOBIAN | POL_REACTION | POL_GEOMETRIC_STIFFNESS;
  const int order = want & POL_ACCELERATION                 ? 2
                    : want & (POL_VELOCITY | POL_CURVATURE) ? 1
                    : want & held                           ? 0
                                                            : -1;
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
  const pol_force_type type = force->kernel.force->type;
  if (type == POL_APPLIED_FORCE || type == POL_APPLIED_TORQUE) {
    *applied = power(moving, first, second);
    return;
  }
  *dissipated = power(resting, first, second) - power(moving, first, second);
  if (type == POL_SPRING_DAMPER || type == POL_JOINT_SPRING) {
    poli_changed_force part;
    poli_placed_wrenches(poli_expressions_actuator(force, &part), at, first, second, constant);
    *applied = power(constant, first, second);
  } else if (type == POL_CALLBACK_FORCE && !force->kernel.force->callback.potential) {
    *applied = power(resting, first, second);
  }
}
