/* The coordinates that joints leave free, and the history of the equations: the angle of each of
 * those that is an angle, with all the turns that it has made. */
#include <stdlib.h>

#include "formulation/elements.h"
#include "formulation/output.h"

/* The number in the history of a joint's coordinate. */
static int history_of(const pol_formulation *f, const pol_force *force)
{
  return f->coordinates[f->joints[force->joint].coordinate + force->coordinate].history;
}

pol_status poli_formulation_place_coordinates(pol_formulation *f)
{
  int count = 0, angles = 0;
  for (int k = 0; k < f->num_joints; k++) {
    f->joints[k].coordinate = count;
    count += pol_joint_num_coordinates(pol_mechanism_joint(f->mechanism, k));
  }
  f->num_coordinates = count;
  f->coordinates = calloc((size_t)count + 1, sizeof *f->coordinates);
  if (!f->coordinates) return POL_NO_MEMORY;
  for (int k = 0; k < f->num_joints; k++) {
    int num = pol_joint_num_coordinates(pol_mechanism_joint(f->mechanism, k));
    for (int i = 0; i < num; i++) {
      poli_placed_coordinate *placed = &f->coordinates[f->joints[k].coordinate + i];
      poli_coordinate_kernel_setup(&placed->kernel, f->mechanism, k, i);
      placed->history = placed->kernel.angular ? angles++ : -1;
    }
  }
  for (int k = 0; k < f->num_forces; k++) {
    const pol_force *force = pol_mechanism_force(f->mechanism, k);
    if (force->type != POL_JOINT_SPRING) continue;
    poli_joint_spring_setup(&f->forces[k].spring, f->mechanism, k);
    f->forces[k].history = history_of(f, force);
  }
  f->dae.history_size = (size_t)angles;
  return POL_OK;
}

void poli_formulation_update_joint_history(double t, const double *q, double *history, void *user)
{
  const pol_formulation *f = user;
  (void)t;
  for (int i = 0; i < f->num_coordinates; i++) {
    const poli_placed_coordinate *placed = &f->coordinates[i];
    poli_frame frames[2];
    if (placed->history < 0) continue;
    poli_formulation_frames(f, q, NULL, placed->kernel.body, frames);
    double *angle = &history[placed->history];
    *angle =
        poli_angle_unwrap(poli_coordinate_value(&placed->kernel, &frames[0], &frames[1]), *angle);
  }
}

int poli_formulation_needs_turns(const pol_formulation *formulation, int joint, int index)
{
  const pol_mechanism *mechanism = formulation->mechanism;
  const poli_network *network = &formulation->network;
  for (int k = 0; k < formulation->num_forces; k++) {
    const pol_force *force = pol_mechanism_force(mechanism, k);
    if (force->type == POL_JOINT_SPRING && force->joint == joint && force->coordinate == index)
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
