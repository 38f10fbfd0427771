/* The terms of the equations of motion.  Elements give wrenches and blocks in the velocities of
 * their frames (mechanism/joint.h); the chart maps them to coordinates (formulation/chart.h):
 *
 *     balance   = L^T ( mass y' + w x J w, ... )        M = L^T M_c L
 *     damping   = L^T ( D_c L + M_c N3 )                B = B_c L
 *     stiffness = L^T ( K_c L + D_c N1 + M_c N2 ) + G   Z = Z_c L + B_c N1
 *
 * with the subscript c for a frame's own velocities.  Each body has its own chart; where it is
 * direct, L picks the last dim of the frame's six, and its products are left out.  The frames of a
 * flexible body share coordinates: each adds what acts on it, the reference frame the inertia of
 * the whole body (floating_frame.h).  This file has the frames, the balance and the constraints,
 * and calls evaluate_matrices.c.
 */
#include <stdio.h>
#include <string.h>

#include "formulation/attached.h"
#include "formulation/evaluate.h"
#include "formulation/expressions.h"
#include "formulation/formulation.h"
#include "lie/small.h"
#include "mechanism/rolling.h"

enum {
  FRAME_SIZE = (int)(sizeof(poli_frame) / sizeof(double)),
  MAPS_SIZE = (int)(sizeof(poli_chart_maps) / sizeof(double)),
  WRENCH_SIZE = 6
};

static const unsigned matrix_terms = POL_MASS | POL_DAMPING | POL_STIFFNESS |
                                     POL_GEOMETRIC_STIFFNESS | POL_JACOBIAN | POL_CURVATURE |
                                     POL_FEEDBACK;

static const unsigned vector_terms = POL_INERTIA | POL_FORCE | POL_REACTION;

/* Workspace of a flexible body: three matrices of its frame and modes, and that of its maps. */
static size_t wide_scratch(const pol_formulation *f)
{
  const size_t n = (size_t)f->widest;
  return f->num_flexible ? 3 * n * n + 24 * n : 0;
}

/* First what failed, then the frames, wrenches and maps of all bodies, and workspace. */
static size_t body_scratch(const pol_formulation *f)
{
  return 1 +
         (size_t)f->num_bodies *
             (size_t)(FRAME_SIZE + WRENCH_SIZE + (f->chart->direct ? 0 : MAPS_SIZE)) +
         f->num_attached + (f->mapped ? 6 * (size_t)f->widest : 0) + wide_scratch(f);
}

size_t poli_formulation_scratch(const pol_formulation *formulation)
{
  return body_scratch(formulation) + (size_t)formulation->network.num_inputs +
         poli_expressions_scratch(formulation);
}

void poli_formulation_share_scratch(const pol_formulation *formulation, double *scratch,
                                    poli_scratch *parts)
{
  parts->frames = (poli_frame *)(scratch + 1);
  parts->inputs = scratch + body_scratch(formulation);
  parts->derivatives = parts->inputs + formulation->network.num_inputs;
  parts->end = scratch + poli_formulation_scratch(formulation);
}

void poli_formulation_blame(const double *scratch, char *text, size_t size, void *user)
{
  const pol_formulation *f = user;
  int failed = (int)scratch[0];
  if (failed < 0) poli_expressions_blame(f, -failed, text, size);
  if (failed > f->num_forces) poli_functions_blame(f, failed, text, size);
  if (failed < 1 || failed > f->num_forces) return;
  const pol_force *force = f->forces[failed - 1].kernel.force;
  snprintf(text, size, "force '%s': %s", force->name, poli_force_failure(force));
}

const poli_frame *poli_ground_frame(void)
{
  static const poli_frame ground = {.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
  return &ground;
}

poli_chart_point poli_formulation_point(const pol_formulation *formulation, const double *q,
                                        const double *v, const double *vd, int body)
{
  const poli_placed_body *b = &formulation->bodies[body];
  return (poli_chart_point){&b->place, q + b->q, v ? v + b->v : NULL, vd ? vd + b->v : NULL};
}

void poli_formulation_frame(const pol_formulation *formulation, const double *q, const double *v,
                            int body, poli_frame *frame)
{
  poli_chart_point at = poli_formulation_point(formulation, q, v, NULL, body);
  formulation->bodies[body].chart->frame(&at, frame);
}

void poli_formulation_frames(const pol_formulation *formulation, const double *q, const double *v,
                             const int body[2], poli_frame frames[2])
{
  for (int i = 0; i < 2; i++) {
    frames[i] = *poli_ground_frame();
    if (body[i] != POL_GROUND) poli_formulation_frame(formulation, q, v, body[i], &frames[i]);
  }
}

/* --- vectors ---------------------------------------------------------------------------------- */

/* Inertia of a body: (J w', m u') for INERTIA; bias, gyroscopic torque and weight for FORCE. */
static void add_body_wrench(const pol_body *body, const double gravity[3], const poli_frame *frame,
                            unsigned parts, double wrench[6])
{
  double momentum[3];
  if (parts & POL_INERTIA) {
    poli_m3_apply(body->inertia, frame->wd, momentum);
    poli_v3_add(momentum, wrench, wrench);
    poli_v3_add_scaled(body->mass, frame->ud, wrench + 3);
  }
  if (parts & POL_FORCE) {
    double bias[3];
    poli_m3_apply(body->inertia, frame->w, momentum);
    poli_v3_add_scaled_cross(1.0, frame->w, momentum, wrench);
    poli_m3_apply(body->inertia, frame->wb, bias);
    poli_v3_add(bias, wrench, wrench);
    for (int i = 0; i < 3; i++) wrench[3 + i] += body->mass * (frame->ub[i] - gravity[i]);
  }
}

/* The forces on the modes of a flexible body, behind the maps of its reference frame. */
static double *modal_forces(const poli_evaluation *e, const poli_placed_body *body)
{
  return e->attached + body->maps + poli_attached_size(body->chart);
}

/* The same of a flexible body, on its reference frame and its modes. */
static void add_floating_wrench(const poli_evaluation *e, int b, unsigned parts)
{
  const poli_placed_body *body = &e->f->bodies[b];
  const poli_chart_point at = poli_formulation_point(e->f, e->at->q, e->at->v, e->at->vd, b);
  double *modal = modal_forces(e, body);
  memset(modal, 0, (size_t)body->chart->num_modes * sizeof *modal);
  if (parts & (POL_INERTIA | POL_FORCE))
    poli_floating_wrench(body->place.flexible, e->f->gravity, &e->frames[b],
                         poli_attached_modes(&at), parts, e->wrench[b], modal);
}

const poli_placed_force *poli_evaluation_force(const poli_evaluation *e, int k,
                                               poli_changed_force *changed, pol_status *status)
{
  const unsigned only = e->want / POLI_ONLY_FORCE(0);
  if (only && only != (unsigned)k + 1u) return NULL;
  const poli_placed_force *force = poli_expressions_force(e->f, k, e->inputs, changed, status);
  if (!(e->want & POLI_WITHOUT_COMPLIANT) || !e->f->forces[k].is_compliant) return force;
  if (force->contact >= 0) /* a hard stop without a simulation is a force */
    return poli_placed_memory(force, e->at).contact == POLI_STOP_ALONE ? force : NULL;
  if (force->kernel.force->actuator == 0.0) return NULL;
  return poli_expressions_actuator(force, changed);
}

/* Forces stand on the other side of the balance. */
static pol_status subtract_forces(poli_evaluation *e)
{
  for (int k = 0; k < e->f->num_forces; k++) {
    pol_status status = POL_OK;
    poli_changed_force changed;
    const poli_placed_force *force = poli_evaluation_force(e, k, &changed, &status);
    if (!force) continue;
    const int *body = force->kernel.body;
    double wrench[2][WRENCH_SIZE];
    *e->failed = status ? -(k + 1) : k + 1;
    if (!status)
      status = poli_placed_wrenches(force, e->at, poli_frame_of(e->frames, body[0]),
                                    poli_frame_of(e->frames, body[1]), wrench);
    if (status) return status;
    *e->failed = 0.0;
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < WRENCH_SIZE && body[j] != POL_GROUND; i++)
        e->wrench[body[j]][i] -= wrench[j][i];
  }
  return POL_OK;
}

/* B^T lambda of a joint or drive with these multipliers. */
static void add_reaction(poli_evaluation *e, const poli_joint_kernel *kernel, const double *lambda)
{
  const int *body = kernel->body;
  double unused[WRENCH_SIZE] = {0.0};
  poli_joint_reaction(kernel, poli_frame_of(e->frames, body[0]), poli_frame_of(e->frames, body[1]),
                      lambda, body[0] < 0 ? unused : e->wrench[body[0]],
                      body[1] < 0 ? unused : e->wrench[body[1]]);
}

/* J c'' g of a reflected inertia */
static void add_armature_wrench(poli_evaluation *e, const poli_armature *armature, unsigned parts)
{
  const int *body = armature->coordinate.body;
  const poli_frame *first = poli_frame_of(e->frames, body[0]),
                   *second = poli_frame_of(e->frames, body[1]);
  double g[12], linear, rest;
  poli_armature_rate(armature, first, second, g);
  poli_armature_acceleration(armature, first, second, &linear, &rest);
  const double effort =
      armature->inertia * ((parts & POL_INERTIA ? linear : 0.0) + (parts & POL_FORCE ? rest : 0.0));
  for (int i = 0; i < 12; i++)
    if (body[i / 6] != POL_GROUND) e->wrench[body[i / 6]][i % 6] += effort * g[i];
}

pol_status poli_evaluate_wrenches(poli_evaluation *e, unsigned parts)
{
  const pol_formulation *f = e->f;
  pol_status status = POL_OK;
  memset(e->wrench, 0, (size_t)f->num_bodies * sizeof *e->wrench);
  for (int i = 0; i < f->num_bodies; i++)
    if (!f->bodies[i].chart->num_modes)
      add_body_wrench(f->bodies[i].body, f->gravity, &e->frames[i], parts, e->wrench[i]);
    else if (f->bodies[i].reference == i)
      add_floating_wrench(e, i, parts);
  for (int k = 0; k < f->num_armatures; k++) add_armature_wrench(e, &f->armatures[k].kernel, parts);
  if (parts & POL_FORCE) status = subtract_forces(e);
  if (status || !(parts & POL_REACTION)) return status;
  for (int k = 0; k < f->num_joints; k++) {
    double own[POL_MAX_JOINT_ROWS];
    if (poli_placed_multipliers(&f->joints[k], e->at->lambda, own) > 0)
      add_reaction(e, &f->joints[k].kernel, own);
  }
  for (int k = 0; k < f->num_drives; k++) {
    poli_joint_kernel now;
    poli_drive_kernels_at(&f->drives[k].kernel, e->at->t, 1, &now);
    add_reaction(e, &now, e->at->lambda + f->drives[k].placed.row);
  }
  for (int k = 0; k < 2 * f->num_couplings && !status; k++) {
    const poli_placed_coupling *coupling = &f->couplings[k / 2];
    const poli_coordinate_kernel *end = &coupling->kernel.end[k % 2];
    const double factor = coupling->kernel.coupling->factor[k % 2];
    double gradient[12], effort = e->at->lambda[coupling->row] * factor;
    status = poli_coordinate_gradient(end, poli_frame_of(e->frames, end->body[0]),
                                      poli_frame_of(e->frames, end->body[1]), gradient);
    for (int i = 0; i < 12 && !status; i++)
      if (end->body[i / 6] != POL_GROUND)
        e->wrench[end->body[i / 6]][i % 6] += effort * gradient[i];
  }
  return status;
}

/* balance = L^T wrench, and 2 p mu of the unit constraints */
static void write_balance(const poli_evaluation *e)
{
  const pol_formulation *f = e->f;
  for (int b = 0; b < f->num_bodies; b++) {
    const poli_placed_body *body = &f->bodies[b];
    double *balance = e->out->balance + body->v;
    int dim = body->chart->dim;
    if (body->chart->direct) {
      for (int i = 0; i < dim; i++) balance[i] = e->wrench[b][6 - dim + i];
      continue;
    }
    const poli_map_view L = poli_map_of(f->bodies, b, &e->maps, POLI_L);
    for (int j = 0; j < dim; j++)
      for (int i = 0; i < 6; i++) balance[j] += L.entries[i * L.width + j] * e->wrench[b][i];
    for (int k = 0; k < body->chart->num_modes && body->reference == b; k++)
      balance[body->place.base->dim + k] += modal_forces(e, body)[k];
    if (body->internal_row >= 0 && (e->want & POL_REACTION))
      for (int i = 0; i < 4; i++)
        balance[i] += 2.0 * e->at->q[body->q + i] * e->at->lambda[body->internal_row];
  }
}

/* Puts numbers of all of a joint's rows where these are among the constraints. */
static void scatter(const poli_joint_kernel *kernel, const double *rows, int row, int slip_row,
                    double *out)
{
  int held = kernel->num_rows - kernel->num_slip;
  memcpy(out + row, rows, (size_t)held * sizeof *out);
  memcpy(out + slip_row, rows + held, (size_t)kernel->num_slip * sizeof *out);
}

/* Position, velocity and acceleration of a joint, or of a drive as if its axis stood still. */
static void write_joint_rows(const poli_evaluation *e, const poli_joint_kernel *kernel, int row,
                             int slip_row)
{
  const poli_frame *first = poli_frame_of(e->frames, kernel->body[0]),
                   *second = poli_frame_of(e->frames, kernel->body[1]);
  const int total = (e->want & POLI_TOTAL_ACCELERATION) != 0;
  double rows[POL_MAX_JOINT_ROWS];
  if (total && kernel->radius == 0.0) {
    poli_joint_motion(kernel, first, second, e->out->position + row, e->out->velocity + row,
                      e->out->acceleration + row);
    return;
  }
  if (e->want & POL_POSITION) poli_joint_position(kernel, first, second, e->out->position + row);
  if (e->want & POL_VELOCITY) {
    poli_joint_velocity(kernel, first, second, rows);
    scatter(kernel, rows, row, slip_row, e->out->velocity);
  }
  if (!(e->want & POL_ACCELERATION)) return;
  poli_joint_acceleration(kernel, first, second, rows);
  if (e->f->mapped || total) {
    /* B_c bias: the velocity map applied to the bias accelerations, or to all of them */
    poli_frame bias[2] = {*first, *second};
    double extra[POL_MAX_JOINT_ROWS];
    for (int i = 0; i < 2; i++) {
      poli_v3_copy(bias[i].wb, bias[i].w);
      poli_v3_copy(bias[i].ub, bias[i].u);
      poli_v3_add_scaled(total, bias[i].wd, bias[i].w);
      poli_v3_add_scaled(total, bias[i].ud, bias[i].u);
    }
    poli_joint_velocity(kernel, &bias[0], &bias[1], extra);
    for (int i = 0; i < kernel->num_rows; i++) rows[i] += extra[i];
  }
  scatter(kernel, rows, row, slip_row, e->out->acceleration);
}

/* The same of a drive, with what its function adds (mechanism/drive.h). */
static void write_drive_row(const poli_evaluation *e, const poli_placed_drive *drive)
{
  poli_joint_kernel kernels[3];
  int row = drive->placed.row;
  const int *body = drive->placed.kernel.body;
  const poli_frame *first = poli_frame_of(e->frames, body[0]),
                   *second = poli_frame_of(e->frames, body[1]);
  double rate, twist, bend;
  poli_drive_kernels_at(&drive->kernel, e->at->t, 3, kernels);
  write_joint_rows(e, &kernels[0], row, row);
  if (e->want & POL_VELOCITY) {
    poli_joint_position(&kernels[1], first, second, &rate);
    e->out->velocity[row] += rate;
  }
  if (e->want & POL_ACCELERATION) {
    poli_joint_velocity(&kernels[1], first, second, &twist);
    poli_joint_position(&kernels[2], first, second, &bend);
    e->out->acceleration[row] += 2.0 * twist + bend;
  }
}

/* Position, velocity and acceleration of a coupling: a sum over its ends. */
static pol_status write_coupling_row(const poli_evaluation *e, const poli_placed_coupling *coupling)
{
  const poli_coupling_kernel *kernel = &coupling->kernel;
  pol_status status = POL_OK;
  for (int i = 0; i < 2 && !status; i++) {
    const poli_coordinate_kernel *end = &kernel->end[i];
    const poli_frame *first = poli_frame_of(e->frames, end->body[0]),
                     *second = poli_frame_of(e->frames, end->body[1]);
    double factor = kernel->coupling->factor[i], rate;
    double before = e->at->history ? e->at->history[coupling->history + i] : 0.0;
    if (e->want & POL_POSITION)
      e->out->position[coupling->row] +=
          factor * poli_coupling_deviation(kernel, i, first, second, before);
    if (e->want & POL_VELOCITY) {
      status = poli_coordinate_rate(end, first, second, &rate);
      e->out->velocity[coupling->row] += factor * rate;
    }
    if (status || !(e->want & POL_ACCELERATION)) continue;
    /* y^T H y + gradient . (bias accelerations) */
    double gradient[12], H[12][12], y[12], acceleration = 0.0;
    status = poli_coordinate_gradient(end, first, second, gradient);
    if (!status) status = poli_coordinate_second(end, first, second, H);
    poli_stack_velocities(first, second, y);
    for (int k = 0; k < 12 && !status; k++) {
      const poli_frame *frame = k < 6 ? first : second;
      acceleration += gradient[k] * (k % 6 < 3 ? frame->wb : frame->ub)[k % 3];
      if (e->want & POLI_TOTAL_ACCELERATION)
        acceleration += gradient[k] * (k % 6 < 3 ? frame->wd : frame->ud)[k % 3];
      for (int j = 0; j < 12; j++) acceleration += y[k] * H[k][j] * y[j];
    }
    e->out->acceleration[coupling->row] += factor * acceleration;
  }
  return status;
}

/* Position, velocity and acceleration of all constraints. */
static pol_status write_constraints(const poli_evaluation *e)
{
  pol_status status = POL_OK;
  const pol_formulation *f = e->f;
  for (int k = 0; k < f->num_joints; k++)
    if (f->joints[k].row >= 0)
      write_joint_rows(e, &f->joints[k].kernel, f->joints[k].row, f->joints[k].slip_row);
  for (int k = 0; k < f->num_drives; k++) write_drive_row(e, &f->drives[k]);
  for (int b = 0; b < f->num_bodies && f->chart->num_internal; b++) {
    /* p.p - 1 and its time derivatives */
    const poli_placed_body *body = &f->bodies[b];
    const double *p = e->at->q + body->q, *pd = e->at->v ? e->at->v + body->v : NULL;
    const double *pdd = e->want & POLI_TOTAL_ACCELERATION ? e->at->vd + body->v : NULL;
    const int row = body->internal_row;
    double square = -1.0, rate = 0.0, acceleration = 0.0;
    for (int i = 0; i < 4 && row >= 0; i++) {
      square += p[i] * p[i];
      rate += pd ? 2.0 * p[i] * pd[i] : 0.0;
      acceleration += pd ? 2.0 * pd[i] * pd[i] : 0.0;
      acceleration += pdd ? 2.0 * p[i] * pdd[i] : 0.0;
    }
    if (row < 0) continue;
    if (e->want & POL_POSITION) e->out->position[row] = square;
    if (e->want & POL_VELOCITY) e->out->velocity[row] = rate;
    if (e->want & POL_ACCELERATION) e->out->acceleration[row] = acceleration;
  }
  for (int k = 0; k < f->num_couplings && !status; k++)
    status = write_coupling_row(e, &f->couplings[k]);
  return status;
}

/* A frame of a flexible body and its maps; the reference frame first, then the interfaces. */
static void place_flexible(const poli_evaluation *e, int b, const poli_chart_point *at,
                           int needs_maps)
{
  const poli_placed_body *body = &e->f->bodies[b];
  const poli_frame *reference = &e->frames[body->reference];
  poli_chart_maps *base = e->rigid ? &e->rigid[body->reference] : NULL;
  if (body->reference != b) {
    poli_attached_frame(at, reference, &e->frames[b]);
  } else {
    body->place.base->frame(at, &e->frames[b]);
    if (needs_maps && base) {
      memset(base, 0, sizeof *base);
      body->place.base->maps(at, reference, base);
    }
  }
  if (needs_maps)
    poli_attached_maps(at, reference, base, (e->want & matrix_terms) != 0, e->attached + body->maps,
                       e->wide);
}

pol_status poli_formulation_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                     double *scratch, void *user)
{
  const pol_formulation *f = user;
  double *frames = scratch + 1, *wrench = frames + f->num_bodies * FRAME_SIZE;
  poli_evaluation e = {.f = f,
                       .at = at,
                       .want = want,
                       .out = out,
                       .failed = scratch,
                       .frames = (poli_frame *)frames,
                       .wrench = (double(*)[WRENCH_SIZE])wrench,
                       .attached = wrench + f->num_bodies * WRENCH_SIZE,
                       .inputs = scratch + body_scratch(f)};
  pol_status status = POL_OK;
  if (!f->chart->direct) {
    e.maps.rigid = e.rigid = (poli_chart_maps *)e.attached;
    e.attached += f->num_bodies * MAPS_SIZE;
  }
  e.maps.attached = e.attached;
  if (f->mapped) {
    e.inner = e.attached + f->num_attached;
    e.wide = e.inner + 6 * f->widest;
  }
  e.derivatives = e.inputs + f->network.num_inputs;
  *e.failed = 0.0;
  status = poli_functions_check(f, at->t, want, e.failed);
  if (status) return status;
  /* frames of all bodies, and their maps where they are needed */
  for (int b = 0; b < f->num_bodies; b++) {
    const poli_chart *chart = f->bodies[b].chart;
    poli_chart_point point = poli_formulation_point(f, at->q, at->v, at->vd, b);
    const int needs_maps = !chart->direct && want & (matrix_terms | vector_terms);
    if (chart->num_modes) {
      place_flexible(&e, b, &point, needs_maps);
      continue;
    }
    chart->frame(&point, &e.frames[b]);
    if (!needs_maps) continue;
    memset(&e.rigid[b], 0, sizeof e.rigid[b]);
    chart->maps(&point, &e.frames[b], &e.rigid[b]);
  }
  for (int k = 0; k < f->num_joints && f->has_disks; k++) {
    /* a disk that lies flat has no rows: another step may find it tilted */
    const poli_joint_kernel *kernel = &f->joints[k].kernel;
    if (kernel->disk &&
        !(poli_rolling_tilt(kernel, poli_frame_of(e.frames, kernel->body[0]),
                            poli_frame_of(e.frames, kernel->body[1])) >= POLI_ROLLING_FLAT))
      return POL_RETRY;
  }
  if (want & (POL_FORCE | POL_DAMPING | POL_STIFFNESS | POL_FEEDBACK))
    status = poli_expressions_inputs(f, at, e.frames, 0, e.inputs);
  if (status) {
    *e.failed = -(f->num_forces + 1);
    return status;
  }
  unsigned parts = want & vector_terms;
  if (parts) {
    status = poli_evaluate_wrenches(&e, parts);
    if (status) return status;
    write_balance(&e);
    status = poli_expressions_balance(f, at, parts, e.inputs, out->balance, e.failed);
    if (status) return status;
  }
  if (want & (POL_POSITION | POL_VELOCITY | POL_ACCELERATION)) {
    status = write_constraints(&e);
    if (status) return status;
  }
  return want & matrix_terms ? poli_evaluate_matrices(&e) : POL_OK;
}
