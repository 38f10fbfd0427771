/* Soft stops of joint coordinates, which act from their limits on: how far away a joint is from
 * them, and what methods need to know of their stiffness before they are touched.
 *
 * With the gradient g of the coordinate theta, g . v = theta', and the mobility m of the mechanism
 * in its direction,
 *
 *     [ M  B^T ] [ y      ]   [ g ]
 *     [ B   0  ] [ lambda ] = [ 0 ],      m = g . y = 1/(the mass that theta moves),
 *
 * a stop vibrates with w = sqrt(k m) while it is touched, and its damper has the rate c m.
 */
#include <string.h>

#include "formulation/expressions.h"

void poli_formulation_find_soft_stops(pol_formulation *f)
{
  f->num_soft_stops = 0;
  for (int k = 0; k < f->num_forces; k++) {
    const pol_force *force = pol_mechanism_force(f->mechanism, k);
    if (force->type == POL_JOINT_STOP && force->rest_speed == 0.0)
      f->soft_stops[f->num_soft_stops++] = k;
  }
  f->extension.num_margins = poli_expressions_num_margins(f) + 2 * f->num_soft_stops;
  f->extension.margins = poli_formulation_margins;
}

void poli_formulation_margins(const pol_point *at, double *margins, const void *formulation)
{
  const pol_formulation *f = formulation;
  const int count = f->extension.num_margins - 2 * f->num_soft_stops;
  if (count > 0) poli_expressions_margins(at, margins, f);
  for (int i = 0; i < f->num_soft_stops; i++) {
    const pol_force *force = pol_mechanism_force(f->mechanism, f->soft_stops[i]);
    double value, rate;
    pol_formulation_joint_coordinate(f, at, force->joint, force->coordinate, &value, &rate);
    margins[count + 2 * i] = value - force->limits[0];
    margins[count + 2 * i + 1] = force->limits[1] - value;
  }
}

pol_status poli_formulation_soft_stop(int index, const pol_point *at, poli_soft_stop *stop,
                                      double *gradient, void *user)
{
  const pol_formulation *f = user;
  const poli_placed_force *placed = &f->forces[f->soft_stops[index]];
  const pol_force *force = placed->kernel.force;
  const int *body = placed->spring.coordinate.body;
  double value, g[12];
  *stop = (poli_soft_stop){
      .force = force->name, .stiffness = force->stiffness[0], .damping = force->damping[0]};
  pol_formulation_joint_coordinate(f, at, force->joint, force->coordinate, &value, &stop->rate);
  stop->below = value - force->limits[0];
  stop->above = force->limits[1] - value;
  if (!gradient) return POL_OK;
  poli_frame frames[2];
  poli_formulation_frames(f, at->q, at->v, body, frames);
  const pol_status status =
      poli_coordinate_gradient(&placed->spring.coordinate, &frames[0], &frames[1], g);
  memset(gradient, 0, (size_t)f->dae.group.nv * sizeof *gradient);
  for (int i = 0; i < 2 && !status; i++)
    if (body[i] != POL_GROUND) poli_formulation_pull_back(f, at->q, body[i], g + 6 * i, gradient);
  return status;
}
