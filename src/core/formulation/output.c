/* What a mechanism does, read from coordinates: initial values, states of bodies and markers,
 * reactions, energies, power, momenta. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/attached.h"
#include "formulation/directors.h"
#include "formulation/expressions.h"
#include "formulation/formulation.h"
#include "formulation/output.h"
#include "lie/small.h"

void poli_placed_set(const poli_placed_body *placed, const pol_body *body, const double *amplitudes,
                     const double *rates, double *q, double *v)
{
  const poli_chart *base = placed->place.base;
  const size_t size = (size_t)placed->chart->num_modes * sizeof *q;
  if (placed->place.interface) return;
  (base ? base : placed->chart)->coordinates(body, q + placed->q, v + placed->v);
  if (!base) return;
  memcpy(q + placed->q + base->nq, amplitudes, size);
  memcpy(v + placed->v + base->dim, rates, size);
}

void pol_formulation_initial(const pol_formulation *formulation, double *q, double *v,
                             unsigned char *keep)
{
  memset(keep, 0, (size_t)formulation->dae.group.nv);
  for (int b = 0; b < formulation->num_bodies; b++) {
    const poli_placed_body *placed = &formulation->bodies[b];
    const pol_flexible_body *flexible = placed->body->flexible;
    unsigned given = placed->body->given;
    if (placed->reference != b) continue;
    poli_placed_set(placed, placed->body, flexible ? flexible->amplitudes : NULL,
                    flexible ? flexible->rates : NULL, q, v);
    if (formulation->kind == POL_SO3_PIVOT && !placed->body->point && given == POL_GIVEN_VELOCITY) {
      /* the least Omega with R (arm x Omega) nearest to the given velocity of the centre of mass */
      double R[9], local[3], *omega = v + placed->v;
      const double square = poli_v3_dot(placed->place.arm, placed->place.arm);
      pol_quat_to_matrix(placed->body->rotation, R);
      poli_m3_apply_transposed(R, placed->body->velocity, local);
      poli_v3_cross(local, placed->place.arm, omega);
      for (int i = 0; i < 3; i++) omega[i] = square > 0.0 ? omega[i] / square : 0.0;
    }
    if (given & POL_GIVEN_ANGULAR_VELOCITY)
      memset(keep + placed->v, 1, (size_t)placed->chart->num_rotations);
    /* joints rather move bodies than deform them */
    memset(keep + placed->v + placed->chart->dim - placed->chart->num_modes, 1,
           (size_t)placed->chart->num_modes);
  }
  for (int i = 0; i < formulation->network.num_states; i++) {
    q[formulation->state_q + i] = 0.0;
    v[formulation->state_v + i] = pol_mechanism_state(formulation->mechanism, i)->initial;
    keep[formulation->state_v + i] = 1;
  }
}

poli_instant poli_instant_at(const pol_formulation *formulation, const pol_point *at,
                             poli_frame *frames)
{
  for (int b = 0; b < formulation->num_bodies; b++)
    poli_formulation_frame(formulation, at->q, at->v, b, &frames[b]);
  return (poli_instant){formulation, *at, frames};
}

const poli_frame *poli_instant_frame(const poli_instant *now, int body, poli_frame *own)
{
  if (body == POL_GROUND) return poli_ground_frame();
  if (now->frames) return &now->frames[body];
  poli_formulation_frame(now->formulation, now->at.q, now->at.v, body, own);
  return own;
}

/* The point with nothing but q and v. */
static poli_instant instant_of(const pol_formulation *f, const double *q, const double *v)
{
  return (poli_instant){.formulation = f, .at = {.q = q, .v = v}};
}

void poli_instant_body(const poli_instant *now, int body, pol_body_state *state)
{
  poli_frame own;
  const poli_frame *frame = poli_instant_frame(now, body, &own);
  poli_v3_copy(frame->x, state->position);
  poli_m3_copy(frame->R, state->rotation);
  pol_quat_from_matrix(frame->R, state->quaternion);
  poli_v3_copy(frame->u, state->velocity);
  poli_m3_apply_transposed(frame->R, frame->u, state->velocity_body);
  poli_v3_copy(frame->w, state->angular_velocity);
  poli_m3_apply(frame->R, frame->w, state->angular_velocity_global);
}

void pol_formulation_body_state(const pol_formulation *formulation, const double *q,
                                const double *v, int body, pol_body_state *state)
{
  const poli_instant now = instant_of(formulation, q, v);
  poli_instant_body(&now, body, state);
}

int pol_formulation_modes(const pol_formulation *formulation, const double *q, const double *v,
                          int body, double *amplitudes, double *rates)
{
  const poli_placed_body *placed = &formulation->bodies[body];
  const int count = placed->body->interface > 0 ? 0 : placed->chart->num_modes;
  if (!count) return 0;
  const size_t size = (size_t)count * sizeof *q;
  if (amplitudes) memcpy(amplitudes, q + placed->q + placed->place.base->nq, size);
  if (rates) memcpy(rates, v + placed->v + placed->place.base->dim, size);
  return count;
}

void poli_instant_marker(const poli_instant *now, int marker, pol_marker_state *state)
{
  const pol_marker *m = pol_mechanism_marker(now->formulation->mechanism, marker);
  poli_frame own;
  const poli_frame *frame = poli_instant_frame(now, m->body, &own);
  double A[9], arm[3], spin[3];
  pol_quat_to_matrix(m->rotation, A);
  poli_m3_apply(frame->R, m->position, arm);
  poli_v3_add(frame->x, arm, state->position);
  poli_m3_multiply(frame->R, A, state->rotation);
  pol_quat_from_matrix(state->rotation, state->quaternion);
  poli_v3_cross(frame->w, m->position, spin);
  poli_m3_apply(frame->R, spin, arm);
  poli_v3_add(frame->u, arm, state->velocity);
  poli_m3_apply_transposed(A, frame->w, state->angular_velocity);
}

void pol_formulation_marker_state(const pol_formulation *formulation, const double *q,
                                  const double *v, int marker, pol_marker_state *state)
{
  const poli_instant now = instant_of(formulation, q, v);
  poli_instant_marker(&now, marker, state);
}

int pol_formulation_joint_rows(const pol_formulation *formulation, int joint, int *num_rows)
{
  const poli_placed_joint *placed = &formulation->joints[joint];
  *num_rows = placed->row < 0 ? 0 : placed->kernel.num_rows - placed->kernel.num_slip;
  return placed->row < 0 ? 0 : placed->row;
}

int pol_formulation_multipliers(const pol_formulation *formulation, const double *lambda, int joint,
                                double multipliers[POL_MAX_JOINT_ROWS])
{
  return poli_placed_multipliers(&formulation->joints[joint], lambda, multipliers);
}

/* Axis `axis` of a marker in global axes. */
static void global_axis(const pol_formulation *f, const double *q, const pol_marker *marker,
                        int axis, double out[3])
{
  poli_frame frame = *poli_ground_frame();
  double A[9], local[3];
  if (marker->body != POL_GROUND) poli_formulation_frame(f, q, NULL, marker->body, &frame);
  pol_quat_to_matrix(marker->rotation, A);
  for (int i = 0; i < 3; i++) local[i] = A[3 * i + axis];
  poli_m3_apply(frame.R, local, out);
}

/* Reports a joint or drive that was assembled on the wrong branch. */
static pol_status wrong_branch(pol_diagnostics *d, const char *kind, const char *name,
                               const char *part, const char *advice, const char *message)
{
  *d = (pol_diagnostics){.status = POL_INCONSISTENT, .equation = -1};
  snprintf(d->where, sizeof d->where, "%s '%s'%s", kind, name, part);
  snprintf(d->message, sizeof d->message, "the joint was assembled %s", message);
  snprintf(d->advice, sizeof d->advice, "give initial rotations within a quarter turn of %s",
           advice);
  return POL_INCONSISTENT;
}

/* x1.x2 + y1.y2 = (1 + cos(bend)) cos(twist): below 0 where the twist is nearer to half a turn than
 * to none; 0 where the bend is half a turn and the twist is not determined. */
static double straightness(const pol_formulation *f, const double *q, const pol_marker *first,
                           const pol_marker *second)
{
  double sum = 0.0;
  for (int axis = 0; axis < 2; axis++) {
    double a[3], b[3];
    global_axis(f, q, first, axis, a);
    global_axis(f, q, second, axis, b);
    sum += poli_v3_dot(a, b);
  }
  return sum;
}

int pol_formulation_bent_joint(const pol_formulation *formulation, const double *q, double *left)
{
  for (int k = 0; k < formulation->num_joints; k++) {
    const pol_joint *joint = pol_mechanism_joint(formulation->mechanism, k);
    if (joint->type != POL_CONSTANT_VELOCITY) continue;
    *left =
        straightness(formulation, q, pol_mechanism_marker(formulation->mechanism, joint->marker[0]),
                     pol_mechanism_marker(formulation->mechanism, joint->marker[1]));
    if (*left < 5e-3) return k;
  }
  return -1;
}

pol_status pol_formulation_check_branches(const pol_formulation *formulation, double t,
                                          const double *q, pol_diagnostics *diagnostics)
{
  static const char *const position = "the assembled position";
  const pol_formulation *f = formulation;
  for (int k = 0; k < f->num_joints; k++) {
    const pol_joint *joint = pol_mechanism_joint(f->mechanism, k);
    const pol_marker *first = pol_mechanism_marker(f->mechanism, joint->marker[0]);
    const pol_marker *second = pol_mechanism_marker(f->mechanism, joint->marker[1]);
    for (int axis = 0; axis < 3; axis++) {
      double a[3], b[3];
      if (!poli_joint_aligns(joint, axis)) continue;
      global_axis(f, q, first, axis, a);
      global_axis(f, q, second, axis, b);
      if (poli_v3_dot(a, b) > 0.5) continue; /* 1 where they should be */
      char part[16], message[64];
      snprintf(part, sizeof part, ", axis %c", "xyz"[axis]);
      snprintf(message, sizeof message, "with the %c axes of its markers in opposite directions",
               "xyz"[axis]);
      return wrong_branch(diagnostics, "joint", joint->name, part, position, message);
    }
    if (joint->type == POL_CONSTANT_VELOCITY && straightness(f, q, first, second) < 0.0)
      return wrong_branch(diagnostics, "joint", joint->name, ", twist", position,
                          "with its shafts twisted by half a turn");
  }
  for (int k = 0; k < f->num_drives; k++) {
    const poli_drive_kernel *kernel = &f->drives[k].kernel;
    poli_frame frames[2];
    poli_formulation_frames(f, q, NULL, kernel->row.body, frames);
    if (!(poli_drive_branch(kernel, t, &frames[0], &frames[1]) > 0.5)) /* 1 if all is well */
      return wrong_branch(diagnostics, "drive", kernel->drive->name, "",
                          "the function at the start",
                          "half a turn away from the drive's function");
  }
  return POL_OK;
}

/* Wrench (torque in body axes, force) of a joint or drive with these multipliers on the body of its
 * second marker. */
static void second_wrench(const poli_instant *now, const poli_joint_kernel *kernel,
                          const double *lambda, double wrench[6])
{
  poli_frame own[2];
  double first[6] = {0.0};
  memset(wrench, 0, 6 * sizeof *wrench);
  poli_joint_reaction(kernel, poli_instant_frame(now, kernel->body[0], &own[0]),
                      poli_instant_frame(now, kernel->body[1], &own[1]), lambda, first, wrench);
  /* the balance holds +B^T lambda: the joint exerts -B^T lambda */
  for (int i = 0; i < 6; i++) wrench[i] = -wrench[i];
}

/* The frames that a force sees. */
static void force_frames(const poli_instant *now, const poli_force_kernel *kernel,
                         poli_frame frames[2])
{
  for (int i = 0; i < 2; i++) {
    const int body = kernel->body[i];
    const poli_frame *frame = poli_instant_frame(now, body, &frames[i]);
    if (frame != &frames[i]) frames[i] = *frame;
    if (body != POL_GROUND && now->formulation->bodies[body].chart->polynomial &&
        poli_force_sees_frames(kernel->force))
      poli_directors_make_rigid(&frames[i]);
  }
}

/* Inputs of the expressions, if there are any, for force_wrenches(). */
static void find_inputs(const poli_instant *now, double x[POLI_MAX_INPUTS])
{
  memset(x, 0, (size_t)now->formulation->network.num_inputs * sizeof *x);
  poli_expressions_inputs(now->formulation, &now->at, now->frames, 0, x);
}

/* The wrenches of a force on its bodies, zero where it cannot be evaluated, and their frames. */
static void force_wrenches(const poli_instant *now, const double *x, int force, double wrench[2][6],
                           poli_frame frames[2])
{
  pol_status status = POL_OK;
  poli_changed_force changed;
  const poli_placed_force *placed =
      poli_expressions_force(now->formulation, force, x, &changed, &status);
  force_frames(now, &placed->kernel, frames);
  poli_placed_wrenches(placed, &now->at, &frames[0], &frames[1], wrench);
}

/* force -= that of a joint or drive on the body, if it acts there. */
static void subtract_reaction(const poli_instant *now, const poli_joint_kernel *kernel,
                              const double *lambda, int body, double force[3])
{
  double wrench[6];
  if (kernel->body[0] != body && kernel->body[1] != body) return;
  second_wrench(now, kernel, lambda, wrench);
  for (int i = 0; i < 3; i++) force[i] -= kernel->body[1] == body ? wrench[3 + i] : -wrench[3 + i];
}

/* so3: the force that the pivot must exert on its body, from Newton's law, the applied forces and
 * the other joints and drives. */
static void pivot_force(const poli_instant *now, int body, double force[3])
{
  const pol_formulation *f = now->formulation;
  const pol_point *at = &now->at;
  poli_chart_point point = poli_formulation_point(f, at->q, at->v, at->vd, body);
  poli_frame frame;
  double x[POLI_MAX_INPUTS];
  find_inputs(now, x);
  f->bodies[body].chart->frame(&point, &frame);
  for (int i = 0; i < 3; i++)
    force[i] = f->bodies[body].body->mass * (frame.ud[i] + frame.ub[i] - f->gravity[i]);
  for (int k = 0; k < f->num_forces; k++) {
    double wrench[2][6];
    poli_frame frames[2];
    force_wrenches(now, x, k, wrench, frames);
    for (int i = 0; i < 2; i++)
      if (f->forces[k].kernel.body[i] == body) poli_v3_subtract(force, wrench[i] + 3, force);
  }
  for (int k = 0; k < f->num_joints; k++) {
    double own[POL_MAX_JOINT_ROWS];
    if (poli_placed_multipliers(&f->joints[k], at->lambda, own) > 0)
      subtract_reaction(now, &f->joints[k].kernel, own, body, force);
  }
  for (int k = 0; k < f->num_drives; k++) {
    poli_joint_kernel moved;
    poli_drive_kernels_at(&f->drives[k].kernel, at->t, 1, &moved);
    subtract_reaction(now, &moved, at->lambda + f->drives[k].placed.row, body, force);
  }
  for (int k = 0; k < 2 * f->num_couplings; k++) {
    const poli_coordinate_kernel *end = &f->couplings[k / 2].kernel.end[k % 2];
    double effort[2], gradient[12];
    poli_frame frames[2];
    if (end->body[0] != body && end->body[1] != body) continue;
    pol_formulation_coupling_effort(f, at, k / 2, effort);
    poli_formulation_frames(f, at->q, NULL, end->body, frames);
    poli_coordinate_gradient(end, &frames[0], &frames[1], gradient);
    poli_v3_add_scaled(-effort[k % 2], gradient + (end->body[0] == body ? 3 : 9), force);
  }
}

void poli_instant_force(const poli_instant *now, int force, double vector[3], double torque[3])
{
  poli_frame frames[2];
  double wrench[2][6], arm[3], x[POLI_MAX_INPUTS];
  find_inputs(now, x);
  force_wrenches(now, x, force, wrench, frames);
  poli_v3_copy(wrench[1] + 3, vector);
  /* about the point where it acts instead of the centre of mass */
  poli_m3_apply(frames[1].R, wrench[1], torque);
  poli_m3_apply(frames[1].R, now->formulation->forces[force].kernel.point[1], arm);
  poli_v3_add_scaled_cross(-1.0, arm, vector, torque);
}

void poli_instant_beam(const poli_instant *now, int force, double strain[3], double curvature[3],
                       double section_force[3], double moment[3])
{
  const poli_force_kernel *kernel = &now->formulation->forces[force].kernel;
  double e[6], f[6];
  poli_frame frames[2];
  force_frames(now, kernel, frames);
  poli_beam_strain(&kernel->beam, &frames[0], &frames[1], e, f);
  poli_v3_copy(e, curvature);
  poli_v3_copy(e + 3, strain);
  poli_v3_copy(f, moment);
  poli_v3_copy(f + 3, section_force);
}

static int first_beam(const poli_instant *now,
                      int (*is_meant)(const poli_beam_kernel *, const poli_frame *,
                                      const poli_frame *))
{
  for (int k = 0; k < now->formulation->num_forces; k++) {
    const poli_force_kernel *kernel = &now->formulation->forces[k].kernel;
    poli_frame own[2];
    if (kernel->force->type != POL_BEAM) continue;
    if (is_meant(&kernel->beam, poli_instant_frame(now, kernel->body[0], &own[0]),
                 poli_instant_frame(now, kernel->body[1], &own[1])))
      return k;
  }
  return -1;
}

static int is_turned(const poli_beam_kernel *kernel, const poli_frame *first,
                     const poli_frame *second)
{
  return poli_beam_turned(kernel, first, second) >= 0.9;
}

int poli_instant_inverted(const poli_instant *now)
{
  return first_beam(now, poli_beam_is_inverted);
}

int poli_instant_turned(const poli_instant *now)
{
  return first_beam(now, is_turned);
}

void poli_instant_reaction(const poli_instant *now, int joint, double force[3], double torque[3])
{
  const pol_formulation *formulation = now->formulation;
  const poli_placed_joint *placed = &formulation->joints[joint];
  const int *ends = placed->kernel.body;
  if (placed->row < 0) {
    pivot_force(now, ends[0] == POL_GROUND ? ends[1] : ends[0], force);
    for (int i = 0; i < 3; i++) {
      torque[i] = 0.0;
      if (ends[1] == POL_GROUND) force[i] = -force[i];
    }
    return;
  }
  /* about the marker instead of the centre of mass */
  const pol_joint *j = pol_mechanism_joint(formulation->mechanism, joint);
  const pol_marker *marker = pol_mechanism_marker(formulation->mechanism, j->marker[1]);
  poli_frame own;
  const double *R = poli_instant_frame(now, marker->body, &own)->R;
  double wrench[6], arm[3], multipliers[POL_MAX_JOINT_ROWS];
  poli_placed_multipliers(placed, now->at.lambda, multipliers);
  second_wrench(now, &placed->kernel, multipliers, wrench);
  poli_v3_copy(wrench + 3, force);
  poli_m3_apply(R, wrench, torque);
  poli_m3_apply(R, marker->position, arm);
  poli_v3_add_scaled_cross(-1.0, arm, force, torque);
}

void pol_formulation_reaction(const pol_formulation *formulation, const pol_point *at, int joint,
                              double force[3], double torque[3])
{
  poli_instant_reaction(&(poli_instant){formulation, *at, NULL}, joint, force, torque);
}

void poli_instant_reaction_local(const poli_instant *now, int joint, const double force[3],
                                 const double torque[3], double force_local[3],
                                 double torque_local[3])
{
  const pol_mechanism *mechanism = now->formulation->mechanism;
  const pol_marker *first =
      pol_mechanism_marker(mechanism, pol_mechanism_joint(mechanism, joint)->marker[0]);
  poli_frame own;
  double A[9], axes[9];
  pol_quat_to_matrix(first->rotation, A);
  poli_m3_multiply(poli_instant_frame(now, first->body, &own)->R, A, axes);
  poli_m3_apply_transposed(axes, force, force_local);
  poli_m3_apply_transposed(axes, torque, torque_local);
}

double pol_formulation_drive_effort(const pol_formulation *formulation, const pol_point *at,
                                    int drive)
{
  /* the balance holds +B^T lambda, and the row grows with the coordinate at rate 1 */
  return -at->lambda[formulation->drives[drive].placed.row];
}

void pol_formulation_coupling_effort(const pol_formulation *formulation, const pol_point *at,
                                     int coupling, double effort[2])
{
  const poli_placed_coupling *placed = &formulation->couplings[coupling];
  for (int i = 0; i < 2; i++)
    effort[i] = -at->lambda[placed->row] * placed->kernel.coupling->factor[i];
}

/* --- energy, power, momentum ------------------------------------------------------------------ */

/* Adds what a body has of the momentum; `spin` is its inertia times its angular velocity. */
static inline void add_momentum(const pol_body *body, const poli_frame *frame, const double spin[3],
                                pol_momentum *momentum)
{
  double global[3];
  poli_m3_apply(frame->R, spin, global);
  poli_v3_add_scaled(body->mass, frame->u, momentum->linear);
  poli_v3_add(global, momentum->angular, momentum->angular);
  poli_v3_add_scaled_cross(body->mass, frame->x, frame->u, momentum->angular);
}

/* The same of a flexible body. */
static void add_floating_momentum(const pol_body *body, const poli_frame *frame, poli_modes modes,
                                  pol_momentum *momentum)
{
  double linear[3], angular[3];
  poli_floating_momentum(body->flexible, frame, modes, linear, angular);
  poli_v3_add(linear, momentum->linear, momentum->linear);
  poli_v3_add(angular, momentum->angular, momentum->angular);
}

void poli_instant_energy(const poli_instant *now, pol_energy *energy, pol_momentum *momentum)
{
  const pol_formulation *formulation = now->formulation;
  const pol_point *at = &now->at;
  energy->kinetic = energy->potential = 0.0;
  if (momentum) *momentum = (pol_momentum){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int b = 0; b < formulation->num_bodies; b++) {
    const pol_body *body = pol_mechanism_body(formulation->mechanism, b);
    const double *rates = at->v + formulation->bodies[b].v;
    poli_frame own;
    if (body->interface > 0) continue;
    const poli_frame *frame = poli_instant_frame(now, b, &own);
    if (body->flexible) {
      const poli_chart_point point = poli_formulation_point(formulation, at->q, at->v, NULL, b);
      const poli_modes modes = poli_attached_modes(&point);
      energy->kinetic += poli_floating_kinetic(body->flexible, frame, modes);
      energy->potential +=
          poli_floating_potential(body->flexible, formulation->gravity, frame, modes);
      if (momentum) add_floating_momentum(body, frame, modes, momentum);
      continue;
    }
    double spin[3], twice = 0.0;
    poli_m3_apply(body->inertia, frame->w, spin);
    if (momentum) add_momentum(body, frame, spin, momentum);
    energy->kinetic += 0.5 * body->mass * poli_v3_dot(frame->u, frame->u);
    if (!formulation->bodies[b].chart->polynomial) {
      twice = poli_v3_dot(spin, frame->w);
    } else { /* directors need not be rigid */
      for (int i = 0; i < 9; i++)
        twice += poli_director_inertia(body, i / 3, i % 3) *
                 poli_v3_dot(rates + 3 * (i / 3), rates + 3 * (i % 3));
    }
    energy->kinetic += 0.5 * twice;
    energy->potential -= body->mass * poli_v3_dot(formulation->gravity, frame->x);
  }
  for (int k = 0; k < formulation->num_armatures; k++) {
    const poli_armature *armature = &formulation->armatures[k].kernel;
    const int *body = armature->coordinate.body;
    poli_frame own[2];
    double g[12];
    const double rate = poli_armature_rate(armature, poli_instant_frame(now, body[0], &own[0]),
                                           poli_instant_frame(now, body[1], &own[1]), g);
    energy->kinetic += 0.5 * armature->inertia * rate * rate;
  }
  for (int k = 0; k < formulation->num_forces; k++) {
    const poli_placed_force *force = &formulation->forces[k];
    poli_frame frames[2];
    force_frames(now, &force->kernel, frames);
    energy->potential += poli_placed_potential(force, at, &frames[0], &frames[1]);
  }
}

void pol_formulation_energy(const pol_formulation *formulation, const pol_point *at,
                            pol_energy *energy)
{
  poli_instant_energy(&(poli_instant){formulation, *at, NULL}, energy, NULL);
}

void poli_instant_power(const poli_instant *now, pol_power *power)
{
  const pol_formulation *formulation = now->formulation;
  const pol_point *at = &now->at;
  double x[POLI_MAX_INPUTS];
  *power = (pol_power){0.0, 0.0, 0.0};
  for (int b = 0; b < formulation->num_bodies && formulation->num_flexible > 0; b++) {
    const poli_placed_body *body = &formulation->bodies[b];
    if (body->chart->num_modes == 0 || body->reference != b) continue;
    const poli_chart_point point = poli_formulation_point(formulation, at->q, at->v, NULL, b);
    power->dissipated +=
        poli_floating_dissipation(body->body->flexible, poli_attached_modes(&point));
  }
  if (formulation->num_forces == 0 && formulation->num_drives == 0) return;
  find_inputs(now, x);
  for (int k = 0; k < formulation->num_forces; k++) {
    pol_status status = POL_OK;
    poli_changed_force changed;
    const poli_placed_force *force = poli_expressions_force(formulation, k, x, &changed, &status);
    poli_frame frames[2];
    double dissipated, applied;
    force_frames(now, &force->kernel, frames);
    poli_placed_power(force, at, &frames[0], &frames[1], &dissipated, &applied);
    power->dissipated += dissipated;
    power->applied += applied;
  }
  for (int k = 0; k < formulation->num_drives; k++) {
    const poli_placed_drive *drive = &formulation->drives[k];
    poli_joint_kernel moved;
    poli_frame own[2];
    double rate;
    poli_drive_kernels_at(&drive->kernel, at->t, 1, &moved);
    poli_joint_velocity(&moved, poli_instant_frame(now, moved.body[0], &own[0]),
                        poli_instant_frame(now, moved.body[1], &own[1]), &rate);
    power->drives -= at->lambda[drive->placed.row] * rate; /* the drive exerts -B^T lambda */
  }
}

void pol_formulation_power(const pol_formulation *formulation, const pol_point *at,
                           pol_power *power)
{
  poli_instant_power(&(poli_instant){formulation, *at, NULL}, power);
}

void poli_instant_momentum(const poli_instant *now, pol_momentum *momentum)
{
  *momentum = (pol_momentum){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int b = 0; b < now->formulation->num_bodies; b++) {
    const pol_body *body = pol_mechanism_body(now->formulation->mechanism, b);
    poli_frame own;
    if (body->interface > 0) continue;
    const poli_frame *frame = poli_instant_frame(now, b, &own);
    if (body->flexible) {
      const poli_chart_point point =
          poli_formulation_point(now->formulation, now->at.q, now->at.v, NULL, b);
      add_floating_momentum(body, frame, poli_attached_modes(&point), momentum);
      continue;
    }
    double spin[3];
    poli_m3_apply(body->inertia, frame->w, spin);
    add_momentum(body, frame, spin, momentum);
  }
}

void pol_formulation_momentum(const pol_formulation *formulation, const double *q, const double *v,
                              pol_momentum *momentum)
{
  const poli_instant now = instant_of(formulation, q, v);
  poli_instant_momentum(&now, momentum);
}

void pol_formulation_momentum_by_p(const pol_formulation *formulation, const double *q,
                                   const double *p, pol_momentum *momentum)
{
  *momentum = (pol_momentum){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int b = 0; b < formulation->num_bodies; b++) {
    const poli_placed_body *body = &formulation->bodies[b];
    if (body->chart->num_rotations == 4) {
      /* Im(pi o conj(p))/2 is the angular momentum about the centre of mass */
      const double *parameters = q + body->q, *pi = p + body->v;
      double right[4], spin[4];
      pol_quat_conjugate(parameters, right);
      pol_quat_multiply(pi, right, spin);
      poli_v3_add_scaled(0.5, spin + 1, momentum->angular);
      poli_v3_add_scaled_cross(1.0, parameters + 4, pi + 4, momentum->angular);
      poli_v3_add(pi + 4, momentum->linear, momentum->linear);
      continue;
    }
    for (int k = 0; k < POLI_VECTORS; k++) {
      int offset = poli_vector_offset(body, k);
      if (offset < 0) continue;
      const double *own = p + body->v + offset;
      poli_v3_add_scaled_cross(1.0, q + body->q + offset, own, momentum->angular);
      if (k == POLI_CENTRE) poli_v3_add(own, momentum->linear, momentum->linear);
    }
  }
}

/* --- velocities of a body in coordinates ------------------------------------------------------ */

/* A frame of a flexible body: its reference frame at a point, and the maps of that frame's chart,
 * NULL if it is direct. */
static const poli_chart_maps *reference_at(const poli_chart_point *at, poli_frame *reference,
                                           poli_chart_maps *maps)
{
  const poli_chart *base = at->place->base;
  base->frame(at, reference);
  if (base->direct) return NULL;
  memset(maps, 0, sizeof *maps);
  base->maps(at, reference, maps);
  return maps;
}

void poli_formulation_pull_back(const pol_formulation *formulation, const double *q, int body,
                                const double wrench[6], double *out)
{
  const poli_placed_body *placed = &formulation->bodies[body];
  const poli_chart *chart = placed->chart;
  const poli_chart_point point = poli_formulation_point(formulation, q, NULL, NULL, body);
  poli_chart_maps maps;
  poli_frame frame;
  double *own = out + placed->v;
  if (chart->num_modes > 0) {
    const poli_chart_maps *base = reference_at(&point, &frame, &maps);
    poli_attached_pull_back(&point, &frame, base, wrench, own);
    return;
  }
  memset(&maps, 0, sizeof maps);
  chart->frame(&point, &frame);
  if (!chart->direct) chart->maps(&point, &frame, &maps);
  for (int i = 0; i < chart->dim && chart->direct; i++) maps.L[6 - chart->dim + i][i] = 1.0;
  for (int j = 0; j < chart->dim; j++)
    for (int i = 0; i < 6; i++) own[j] += maps.L[i][j] * wrench[i];
}

pol_status poli_formulation_add_rows(const pol_formulation *formulation, const pol_point *at,
                                     int body, double weight, const double position[6],
                                     const double velocity[6], double *by_q, double *by_v)
{
  const poli_placed_body *placed = &formulation->bodies[body];
  const int dim = placed->chart->dim;
  by_q += placed->v;
  by_v += placed->v;
  if (placed->chart->num_modes == 0) {
    for (int i = 0; i < dim; i++) {
      by_q[i] += weight * position[6 - dim + i];
      by_v[i] += weight * velocity[6 - dim + i];
    }
    return POL_OK;
  }
  const poli_chart_point point = poli_formulation_point(formulation, at->q, at->v, NULL, body);
  const size_t size = poli_attached_size(placed->chart);
  double *wide = calloc(2 * size, sizeof *wide);
  poli_frame reference;
  poli_chart_maps maps;
  if (!wide) return POL_NO_MEMORY;
  const poli_chart_maps *base = reference_at(&point, &reference, &maps);
  poli_attached_maps(&point, &reference, base, 1, wide, wide + size);
  const double *L = wide, *N1 = wide + 6 * dim;
  for (int j = 0; j < dim; j++)
    for (int i = 0; i < 6; i++) {
      by_q[j] += weight * (position[i] * L[i * dim + j] + velocity[i] * N1[i * dim + j]);
      by_v[j] += weight * velocity[i] * L[i * dim + j];
    }
  free(wide);
  return POL_OK;
}

/* A frame has the velocities y = L(q) v, chart.h, and a rigid body the kinetic energy y . N y/2
 * with N = diag(J, m I).  Component i of y is row i of L times v; a change of it by one, the others
 * staying, is the impulse N e_i on the frame, L^T N e_i in the coordinates.  The velocities of the
 * modes of a flexible body stay too. */
double poli_formulation_velocity_row(const pol_formulation *formulation, const double *q, int body,
                                     int component, double *row, double *impulse)
{
  const poli_placed_body *placed = &formulation->bodies[body];
  const pol_body *heavy = formulation->bodies[placed->reference].body;
  const size_t nv = (size_t)formulation->dae.group.nv;
  double N[6] = {0.0}, unit[6] = {0.0};
  unit[component] = 1.0;
  for (int i = 0; i < 3 && component < 3; i++) N[i] = heavy->inertia[3 * component + i];
  if (component >= 3) N[component] = heavy->mass;
  memset(row, 0, nv * sizeof *row);
  memset(impulse, 0, nv * sizeof *impulse);
  poli_formulation_pull_back(formulation, q, body, unit, row);
  if (placed->chart->num_modes == 0) {
    poli_formulation_pull_back(formulation, q, body, N, impulse);
  } else if (placed->reference == body) {
    static const double none[3] = {0.0, 0.0, 0.0};
    const poli_chart_point point = poli_formulation_point(formulation, q, NULL, NULL, body);
    double wrench[6] = {0.0}, *modal = impulse + placed->v + placed->place.base->dim;
    poli_frame frame;
    poli_formulation_frame(formulation, q, NULL, body, &frame);
    (component < 3 ? frame.wd : frame.ud)[component % 3] = 1.0;
    poli_floating_wrench(placed->place.flexible, none, &frame, poli_attached_modes(&point),
                         POL_INERTIA, wrench, modal);
    poli_formulation_pull_back(formulation, q, body, wrench, impulse);
  }
  return N[component];
}
