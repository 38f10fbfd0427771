/* What a mechanism does, read from coordinates: initial values, states of bodies, reactions,
 * energies. */
#include <string.h>

#include "formulation/formulation.h"
#include "lie/small.h"

void pol_formulation_initial(const pol_formulation *formulation, double *q, double *v,
                             unsigned char *keep)
{
  const pol_chart *chart = formulation->chart;
  memset(keep, 0, (size_t)formulation->dae.group.nv);
  for (int b = 0; b < formulation->num_bodies; b++) {
    const pol_body *body = pol_mechanism_body(formulation->mechanism, b);
    chart->coordinates(body, q + chart->nq * b, v + POL_CHART_DIM * b);
    if (body->given & POL_GIVEN_ANGULAR_VELOCITY) memset(keep + POL_CHART_DIM * b, 1, 3);
  }
}

void pol_formulation_body_state(const pol_formulation *formulation, const double *q,
                                const double *v, int body, pol_body_state *state)
{
  pol_frame frame;
  pol_formulation_frame(formulation, q, v, body, &frame);
  pol_v3_copy(frame.x, state->position);
  pol_m3_copy(frame.R, state->rotation);
  pol_quat_from_matrix(frame.R, state->quaternion);
  pol_v3_copy(frame.u, state->velocity);
  pol_m3_apply_transposed(frame.R, frame.u, state->velocity_body);
  pol_v3_copy(frame.w, state->angular_velocity);
  pol_m3_apply(frame.R, frame.w, state->angular_velocity_global);
}

int pol_formulation_joint_rows(const pol_formulation *formulation, int joint, int *num_rows)
{
  *num_rows = formulation->joints[joint].kernel.num_rows;
  return formulation->joints[joint].row;
}

void pol_formulation_reaction(const pol_formulation *formulation, const double *q,
                              const double *lambda, int joint, double force[3], double torque[3])
{
  const pol_placed_joint *placed = &formulation->joints[joint];
  const pol_frame *frame[2];
  pol_frame frames[2];
  double wrench[2][6] = {{0.0}}, local[3];
  for (int i = 0; i < 2; i++) {
    int body = placed->kernel.body[i];
    frame[i] = body == POL_GROUND ? pol_ground_frame() : &frames[i];
    if (body != POL_GROUND) pol_formulation_frame(formulation, q, NULL, body, &frames[i]);
  }
  /* The balance holds +B^T lambda, so the joint exerts -B^T lambda; about the marker, not the
   * centre. */
  pol_joint_reaction(&placed->kernel, frame[0], frame[1], lambda + placed->row, wrench[0],
                     wrench[1]);
  const pol_joint *j = pol_mechanism_joint(formulation->mechanism, joint);
  const pol_marker *marker = pol_mechanism_marker(formulation->mechanism, j->marker[1]);
  double arm[3];
  pol_v3_scale(-1.0, wrench[1] + 3, force);
  pol_v3_scale(-1.0, wrench[1], local);
  pol_m3_apply(frame[1]->R, local, torque);
  pol_m3_apply(frame[1]->R, marker->position, arm);
  pol_v3_add_scaled_cross(-1.0, arm, force, torque);
}

void pol_formulation_energy(const pol_formulation *formulation, const double *q, const double *v,
                            pol_energy *energy)
{
  energy->kinetic = energy->potential = 0.0;
  for (int b = 0; b < formulation->num_bodies; b++) {
    const pol_body *body = pol_mechanism_body(formulation->mechanism, b);
    pol_frame frame;
    double momentum[3];
    pol_formulation_frame(formulation, q, v, b, &frame);
    pol_m3_apply(body->inertia, frame.w, momentum);
    energy->kinetic +=
        0.5 * (body->mass * pol_v3_dot(frame.u, frame.u) + pol_v3_dot(momentum, frame.w));
    energy->potential -= body->mass * pol_v3_dot(formulation->gravity, frame.x);
  }
}
