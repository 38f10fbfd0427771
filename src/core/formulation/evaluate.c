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
 * the whole body (floating_frame.h).
 */
#include <stdio.h>
#include <string.h>

#include "formulation/attached.h"
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

/* Everything one evaluation shares. */
typedef struct evaluation {
  const pol_formulation *f;
  const pol_point *at;
  unsigned want;
  const pol_terms *out;
  poli_frame *frames;     /* one a body */
  poli_chart_maps *rigid; /* one a body; set for charts that are not direct */
  double *attached;       /* maps and forces on modes of flexible bodies */
  poli_frame_maps maps;   /* both */
  double (*wrench)[WRENCH_SIZE];
  double *inner;       /* workspace of products, 6 x widest */
  double *wide;        /* workspace of flexible bodies */
  double *inputs;      /* of the expressions */
  double *derivatives; /* what their derivatives need */
  /* number of the force that could not be evaluated, counted from 1, or 0; that of an expression is
   * below, that of a function of time above */
  double *failed;
} evaluation;

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
static double *modal_forces(const evaluation *e, const poli_placed_body *body)
{
  return e->attached + body->maps + poli_attached_size(body->chart);
}

/* The same of a flexible body, on its reference frame and its modes. */
static void add_floating_wrench(const evaluation *e, int b, unsigned parts)
{
  const poli_placed_body *body = &e->f->bodies[b];
  const poli_chart_point at = poli_formulation_point(e->f, e->at->q, e->at->v, e->at->vd, b);
  double *modal = modal_forces(e, body);
  memset(modal, 0, (size_t)body->chart->num_modes * sizeof *modal);
  if (parts & (POL_INERTIA | POL_FORCE))
    poli_floating_wrench(body->place.flexible, e->f->gravity, &e->frames[b],
                         poli_attached_modes(&at), parts, e->wrench[b], modal);
}

/* Force k with the numbers of this evaluation, which go to *changed if they are not its own; NULL
 * if it is left out. */
static const poli_placed_force *force_of(const evaluation *e, int k, poli_changed_force *changed,
                                         pol_status *status)
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
static pol_status subtract_forces(evaluation *e)
{
  for (int k = 0; k < e->f->num_forces; k++) {
    pol_status status = POL_OK;
    poli_changed_force changed;
    const poli_placed_force *force = force_of(e, k, &changed, &status);
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
static void add_reaction(evaluation *e, const poli_joint_kernel *kernel, const double *lambda)
{
  const int *body = kernel->body;
  double unused[WRENCH_SIZE] = {0.0};
  poli_joint_reaction(kernel, poli_frame_of(e->frames, body[0]), poli_frame_of(e->frames, body[1]),
                      lambda, body[0] < 0 ? unused : e->wrench[body[0]],
                      body[1] < 0 ? unused : e->wrench[body[1]]);
}

/* J c'' g of a reflected inertia */
static void add_armature_wrench(evaluation *e, const poli_armature *armature, unsigned parts)
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

/* The wrench on every frame that these parts of the balance need. */
static pol_status collect_wrenches(evaluation *e, unsigned parts)
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
static void write_balance(const evaluation *e)
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
static void write_joint_rows(const evaluation *e, const poli_joint_kernel *kernel, int row,
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
static void write_drive_row(const evaluation *e, const poli_placed_drive *drive)
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
static pol_status write_coupling_row(const evaluation *e, const poli_placed_coupling *coupling)
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
static pol_status write_constraints(const evaluation *e)
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

/* --- matrices --------------------------------------------------------------------------------- */

/* values[slot] += block, rows x cols, row-major with `width` numbers a row */
static void add_block(double *values, poli_slot slot, const double *block, int width, int rows,
                      int cols)
{
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      values[slot.address + j * slot.stride + i] += block[i * width + j];
}

/* The same for what direct charts of `rows` and `cols` velocities pick of a frame's 6 x 6 block;
 * rigid bodies pick all, with sizes that the compiler can see. */
static void add_picked(double *values, poli_slot slot, const double *block, int width, int rows,
                       int cols)
{
  if (rows == 6 && cols == 6)
    add_block(values, slot, block, width, 6, 6);
  else
    add_block(values, slot, block + (6 - rows) * width + 6 - cols, width, rows, cols);
}

/* C += A B, A 6 x 6 with `width` numbers a row, B and C 6 x dim */
static void add_product(const double *A, int width, poli_map_view B, int dim, double *C)
{
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) {
      double a = A[i * width + k];
      if (a == 0.0) continue;
      for (int j = 0; j < dim; j++) C[i * dim + j] += a * B.entries[k * B.width + j];
    }
}

/* values[slot] += L^T inner, inner 6 x cols, L 6 x rows */
static void add_pulled_back(double *values, poli_slot slot, poli_map_view L, const double *inner,
                            int rows, int cols)
{
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) {
      double sum = 0.0;
      for (int k = 0; k < 6; k++) sum += L.entries[k * L.width + i] * inner[k * cols + j];
      values[slot.address + j * slot.stride + i] += sum;
    }
}

/* values[slot] += G of a frame of a flexible body for what acts on it, and what the inertia of the
 * body adds to mass, damping and stiffness */
static void add_flexible(const evaluation *e, int b)
{
  const poli_placed_body *body = &e->f->bodies[b];
  const int reference = body->reference, stride = body->diagonal.stride;
  const size_t n = (size_t)body->chart->num_modes + 6, at_slot = (size_t)body->diagonal.address;
  const poli_chart_maps *base = e->rigid ? &e->rigid[reference] : NULL;
  const poli_chart_point at = poli_formulation_point(e->f, e->at->q, e->at->v, e->at->vd, b);
  double *M = e->wide, *D = M + n * n, *K = D + n * n, *workspace = K + n * n;
  double *stiffness = e->out->stiffness + at_slot;
  if (e->want & (POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS))
    poli_attached_add_gradient(&at, &e->frames[reference], &e->frames[b], base, e->wrench[b],
                               stiffness, stride, K, workspace);
  if (reference != b || !(e->want & (POL_MASS | POL_DAMPING | POL_STIFFNESS))) return;
  poli_floating_matrices(body->place.flexible, e->f->gravity, &e->frames[b],
                         poli_attached_modes(&at), M, D, e->want & POL_STIFFNESS ? K : NULL);
  if (e->want & POL_MASS)
    poli_attached_add_square(&body->place, base, M, POLI_L, e->out->mass + at_slot, stride,
                             workspace);
  if (e->want & POL_DAMPING) {
    double *damping = e->out->damping + at_slot;
    poli_attached_add_square(&body->place, base, D, POLI_L, damping, stride, workspace);
    poli_attached_add_square(&body->place, base, M, POLI_N3, damping, stride, workspace);
  }
  if (e->want & POL_STIFFNESS) {
    poli_attached_add_square(&body->place, base, K, POLI_L, stiffness, stride, workspace);
    poli_attached_add_square(&body->place, base, D, POLI_N1, stiffness, stride, workspace);
    poli_attached_add_square(&body->place, base, M, POLI_N2, stiffness, stride, workspace);
  }
}

/* M_c = diag(J, m I) and D_c = d(w x J w)/dw = w~ J - (J w)~ of a body */
static void add_body(const evaluation *e, int b)
{
  const poli_placed_body *body = &e->f->bodies[b];
  const double *J = body->body->inertia, *w = e->frames[b].w;
  int dim = body->chart->dim;
  double mass[36] = {0.0}, damping[36] = {0.0}, skew[9], product[9], momentum[3];
  poli_m3_skew(w, skew);
  poli_m3_multiply(skew, J, product);
  poli_m3_apply(J, w, momentum);
  poli_m3_skew(momentum, skew);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      mass[6 * i + j] = J[3 * i + j];
      damping[6 * i + j] = product[3 * i + j] - skew[3 * i + j];
    }
    mass[7 * (3 + i)] = body->body->mass;
  }
  if (body->chart->direct) {
    if (e->want & POL_MASS) add_picked(e->out->mass, body->diagonal, mass, 6, dim, dim);
    if (e->want & POL_DAMPING) add_picked(e->out->damping, body->diagonal, damping, 6, dim, dim);
    return;
  }
  /* through the chart; e->wrench holds what the stiffness asked for acts on */
  poli_map_view maps[4];
  for (int m = POLI_L; m <= POLI_N3; m++)
    maps[m] = poli_map_of(e->f->bodies, b, &e->maps, (poli_map_name)m);
  double by_acceleration[6 * POLI_CHART_MAX_DIM] = {0.0},
                             by_velocity[6 * POLI_CHART_MAX_DIM] = {0.0},
                             by_position[6 * POLI_CHART_MAX_DIM] = {0.0};
  if (e->want & POL_MASS) {
    add_product(mass, 6, maps[POLI_L], dim, by_acceleration);
    add_pulled_back(e->out->mass, body->diagonal, maps[POLI_L], by_acceleration, dim, dim);
  }
  if (e->want & POL_DAMPING) {
    add_product(damping, 6, maps[POLI_L], dim, by_velocity);
    add_product(mass, 6, maps[POLI_N3], dim, by_velocity);
    add_pulled_back(e->out->damping, body->diagonal, maps[POLI_L], by_velocity, dim, dim);
  }
  if (e->want & POL_STIFFNESS) {
    add_product(damping, 6, maps[POLI_N1], dim, by_position);
    add_product(mass, 6, maps[POLI_N2], dim, by_position);
    add_pulled_back(e->out->stiffness, body->diagonal, maps[POLI_L], by_position, dim, dim);
  }
  if (e->want & (POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS)) {
    poli_map gradient = {{0.0}};
    poli_chart_point at = poli_formulation_point(e->f, e->at->q, e->at->v, e->at->vd, b);
    body->chart->add_wrench_gradient(&at, &e->frames[b], e->wrench[b], gradient);
    add_block(e->out->stiffness, body->diagonal, gradient[0], POLI_CHART_MAX_DIM, dim, dim);
  }
}

/* B = 2 p, Z = 2 p', K = 2 mu I of p.p = 1 */
static void add_unit_constraint(const evaluation *e, const poli_placed_body *body)
{
  for (int i = 0; i < 4; i++) {
    int entry = body->internal.address + i * body->internal.stride;
    int diagonal = body->diagonal.address + i * body->diagonal.stride + i;
    if (e->want & POL_JACOBIAN) e->out->jacobian[entry] += 2.0 * e->at->q[body->q + i];
    if (e->want & POL_CURVATURE) e->out->curvature[entry] += 2.0 * e->at->v[body->v + i];
    if (e->want & POL_GEOMETRIC_STIFFNESS)
      e->out->stiffness[diagonal] += 2.0 * e->at->lambda[body->internal_row];
  }
}

/* Adds rows, num_rows x 12 for the frames of two bodies, into B or Z: times L, or N1 if `turned`.
 */
static void add_rows(const evaluation *e, const int bodies[2], const poli_slot slots[2],
                     int num_rows, double *values, double (*rows)[12], int turned)
{
  for (int j = 0; j < 2; j++) {
    int body = bodies[j];
    const double *block = rows[0] + 6 * j;
    if (body == POL_GROUND) continue;
    const poli_chart *chart = e->f->bodies[body].chart;
    if (chart->direct) {
      if (!turned) add_block(values, slots[j], block + 6 - chart->dim, 12, num_rows, chart->dim);
      continue;
    }
    const poli_map_view map = poli_map_of(e->f->bodies, body, &e->maps, turned ? POLI_N1 : POLI_L);
    for (int c = 0; c < chart->dim; c++)
      for (int r = 0; r < num_rows; r++) {
        double sum = 0.0;
        for (int i = 0; i < 6; i++) sum += block[12 * r + i] * map.entries[i * map.width + c];
        values[slots[j].address + c * slots[j].stride + r] += sum;
      }
  }
}

/* The same for all of a joint's rows. */
static void add_joint_rows(const evaluation *e, const poli_placed_joint *joint, double *values,
                           double (*rows)[12], int turned)
{
  int slip = joint->kernel.num_slip, held = joint->kernel.num_rows - slip;
  add_rows(e, joint->kernel.body, joint->jacobian, held, values, rows, turned);
  if (slip > 0) add_rows(e, joint->kernel.body, joint->slip, slip, values, rows + held, turned);
}

/* Adds a 12 x 12 block of two frames into the mass, stiffness or damping: L^T K L, or with another
 * map at the right; all but L are zero for direct charts. */
static void add_square(const evaluation *e, const int body[2], const poli_slot coupling[2][2],
                       double *values, double (*K)[12], poli_map_name right)
{
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      int row = body[i], col = body[j];
      const double *block = K[6 * i] + 6 * j;
      if (row == POL_GROUND || col == POL_GROUND) continue;
      const poli_chart *above = e->f->bodies[row].chart, *beside = e->f->bodies[col].chart;
      if (right != POLI_L && beside->direct) continue;
      const poli_slot slot = coupling[i][j];
      if (above->direct && beside->direct) {
        add_picked(values, slot, block, 12, above->dim, beside->dim);
        continue;
      }
      double *inner = e->inner;
      if (!beside->direct) {
        memset(inner, 0, 6 * (size_t)beside->dim * sizeof *inner);
        add_product(block, 12, poli_map_of(e->f->bodies, col, &e->maps, right), beside->dim, inner);
      }
      for (int r = 0; r < 6 && beside->direct; r++)
        memcpy(inner + r * beside->dim, block + 12 * r + 6 - beside->dim,
               (size_t)beside->dim * sizeof *inner);
      if (!above->direct)
        add_pulled_back(values, slot, poli_map_of(e->f->bodies, row, &e->maps, POLI_L), inner,
                        above->dim, beside->dim);
      else
        add_block(values, slot, inner + (6 - above->dim) * beside->dim, beside->dim, above->dim,
                  beside->dim);
    }
}

static void add_joint(const evaluation *e, const poli_placed_joint *joint)
{
  const poli_joint_kernel *kernel = &joint->kernel;
  const poli_frame *first = poli_frame_of(e->frames, kernel->body[0]),
                   *second = poli_frame_of(e->frames, kernel->body[1]);
  int mapped = e->f->mapped;
  double rows[POL_MAX_JOINT_ROWS][12], K[12][12];
  if (joint->row < 0) return;
  if (e->want & POL_JACOBIAN || (mapped && e->want & POL_CURVATURE))
    poli_joint_jacobian(kernel, first, second, rows);
  if (e->want & POL_JACOBIAN) add_joint_rows(e, joint, e->out->jacobian, rows, 0);
  if (mapped && e->want & POL_CURVATURE) add_joint_rows(e, joint, e->out->curvature, rows, 1);
  if (e->want & POL_CURVATURE) {
    poli_joint_curvature(kernel, first, second, rows);
    add_joint_rows(e, joint, e->out->curvature, rows, 0);
  }
  if (e->want & POL_GEOMETRIC_STIFFNESS) {
    double own[POL_MAX_JOINT_ROWS];
    poli_placed_multipliers(joint, e->at->lambda, own);
    poli_joint_stiffness(kernel, first, second, own, K);
    add_square(e, kernel->body, joint->coupling, e->out->stiffness, K, POLI_L);
  }
}

/* A drive is the joint of this instant, and its axis moves. */
static void add_drive(const evaluation *e, const poli_placed_drive *drive)
{
  poli_joint_kernel kernels[2];
  poli_placed_joint now = drive->placed;
  poli_drive_kernels_at(&drive->kernel, e->at->t, 2, kernels);
  now.kernel = kernels[0];
  add_joint(e, &now);
  if (!(e->want & POL_CURVATURE)) return;
  double row[1][12];
  poli_joint_jacobian(&kernels[1], poli_frame_of(e->frames, now.kernel.body[0]),
                      poli_frame_of(e->frames, now.kernel.body[1]), row);
  add_joint_rows(e, &now, e->out->curvature, row, 0);
}

/* The row of one end of a coupling, and its stiffness. */
static pol_status add_coupling_end(const evaluation *e, const poli_placed_coupling *coupling, int i)
{
  const poli_coordinate_kernel *end = &coupling->kernel.end[i];
  const poli_slot *slots = coupling->end[i].jacobian;
  const poli_frame *first = poli_frame_of(e->frames, end->body[0]),
                   *second = poli_frame_of(e->frames, end->body[1]);
  double row[1][12], turned[1][12] = {{0.0}}, H[12][12], y[12];
  double factor = coupling->kernel.coupling->factor[i];
  pol_status status = poli_coordinate_gradient(end, first, second, row[0]);
  if (!status) status = poli_coordinate_second(end, first, second, H);
  if (status) return status;
  poli_stack_velocities(first, second, y);
  for (int k = 0; k < 12; k++) {
    row[0][k] *= factor;
    for (int j = 0; j < 12; j++) turned[0][j] += factor * y[k] * H[k][j];
  }
  if (e->want & POL_JACOBIAN) add_rows(e, end->body, slots, 1, e->out->jacobian, row, 0);
  if (e->want & POL_CURVATURE) {
    add_rows(e, end->body, slots, 1, e->out->curvature, row, 1);
    add_rows(e, end->body, slots, 1, e->out->curvature, turned, 0);
  }
  if (!(e->want & POL_GEOMETRIC_STIFFNESS)) return POL_OK;
  for (int k = 0; k < 144; k++) H[k / 12][k % 12] *= factor * e->at->lambda[coupling->row];
  add_square(e, end->body, coupling->end[i].coupling, e->out->stiffness, H, POLI_L);
  return POL_OK;
}

/* K_c and D_c of a force: minus the derivatives of its wrenches */
static pol_status add_force(const evaluation *e, int k)
{
  pol_status status = POL_OK;
  poli_changed_force changed;
  const poli_placed_force *force = force_of(e, k, &changed, &status);
  if (!force) return POL_OK;
  const int *body = force->kernel.body;
  poli_force_blocks blocks;
  *e->failed = status ? -(k + 1) : k + 1;
  if (!status)
    status = poli_placed_derivatives(force, e->at, poli_frame_of(e->frames, body[0]),
                                     poli_frame_of(e->frames, body[1]), &blocks);
  if (status) return status;
  *e->failed = 0.0;
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      blocks.by_position[i][j] = -blocks.by_position[i][j];
      blocks.by_velocity[i][j] = -blocks.by_velocity[i][j];
    }
  if (e->want & POL_DAMPING)
    add_square(e, body, force->coupling, e->out->damping, blocks.by_velocity, POLI_L);
  if (e->want & POL_STIFFNESS) {
    add_square(e, body, force->coupling, e->out->stiffness, blocks.by_position, POLI_L);
    if (e->f->mapped)
      add_square(e, body, force->coupling, e->out->stiffness, blocks.by_velocity, POLI_N1);
  }
  return POL_OK;
}

/* M_c = J g g^T, D_c = J g (dc''/dy)^T and K_c = J (c'' H + g (dc''/dq)^T) of a reflected inertia
 */
static void add_armature(const evaluation *e, const poli_placed_armature *placed)
{
  const poli_armature *armature = &placed->kernel;
  const int *body = armature->coordinate.body;
  const poli_frame *first = poli_frame_of(e->frames, body[0]),
                   *second = poli_frame_of(e->frames, body[1]);
  const double J = armature->inertia;
  double g[12], by_q[12], by_y[12], M[12][12], D[12][12], H[12][12], linear, rest;
  poli_armature_rate(armature, first, second, g);
  poli_armature_acceleration(armature, first, second, &linear, &rest);
  poli_armature_derivatives(armature, first, second, by_q, by_y, H);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      M[i][j] = J * g[i] * g[j];
      D[i][j] = J * g[i] * by_y[j];
      H[i][j] = J * ((linear + rest) * H[i][j] + g[i] * by_q[j]);
    }
  poli_slot const(*slots)[2] = placed->joint->coupling;
  if (e->want & POL_MASS) add_square(e, body, slots, e->out->mass, M, POLI_L);
  if (e->want & POL_DAMPING) {
    add_square(e, body, slots, e->out->damping, D, POLI_L);
    add_square(e, body, slots, e->out->damping, M, POLI_N3);
  }
  if (!(e->want & POL_STIFFNESS)) return;
  add_square(e, body, slots, e->out->stiffness, H, POLI_L);
  add_square(e, body, slots, e->out->stiffness, D, POLI_N1);
  add_square(e, body, slots, e->out->stiffness, M, POLI_N2);
}

/* dg/dlambda of friction: L^T of minus the derivatives of its wrenches */
static pol_status add_feedback(const evaluation *e, const poli_placed_force *force)
{
  const int *body = force->kernel.body, cols = force->spring.load.num_rows;
  double by_lambda[12][POL_MAX_JOINT_ROWS];
  const pol_status status = poli_placed_feedback(force, e->at, poli_frame_of(e->frames, body[0]),
                                                 poli_frame_of(e->frames, body[1]), by_lambda);
  for (int a = 0; a < 2 && !status; a++) {
    if (body[a] == POL_GROUND) continue;
    const poli_chart *chart = e->f->bodies[body[a]].chart;
    const poli_slot slot = force->feedback[a];
    poli_map_view L = {NULL, 0};
    if (!chart->direct) L = poli_map_of(e->f->bodies, body[a], &e->maps, POLI_L);
    for (int j = 0; j < cols; j++)
      for (int i = 0; i < chart->dim; i++) {
        double sum = 0.0;
        if (chart->direct)
          sum = by_lambda[6 * a + 6 - chart->dim + i][j];
        else
          for (int k = 0; k < 6; k++) sum += L.entries[k * L.width + i] * by_lambda[6 * a + k][j];
        e->out->feedback[slot.address + j * slot.stride + i] += sum;
      }
  }
  return status;
}

static pol_status add_matrices(evaluation *e)
{
  const pol_formulation *f = e->f;
  pol_status status = POL_OK;
  if (f->mapped) {
    /* the chart's stiffness needs the wrenches that it turns */
    unsigned parts = 0;
    if (e->want & POL_STIFFNESS) parts |= POL_INERTIA | POL_FORCE;
    if (e->want & POL_GEOMETRIC_STIFFNESS) parts |= POL_REACTION;
    if (parts) status = collect_wrenches(e, parts);
  }
  for (int b = 0; b < f->num_bodies; b++) {
    if (f->bodies[b].chart->num_modes)
      add_flexible(e, b);
    else
      add_body(e, b);
    if (f->bodies[b].internal_row >= 0) add_unit_constraint(e, &f->bodies[b]);
  }
  for (int k = 0; k < f->num_armatures && e->want & (POL_MASS | POL_DAMPING | POL_STIFFNESS); k++)
    add_armature(e, &f->armatures[k]);
  if (e->want & (POL_STIFFNESS | POL_DAMPING))
    for (int k = 0; k < f->num_forces && !status; k++) status = add_force(e, k);
  for (int k = 0; k < f->num_forces && !status && e->want & POL_FEEDBACK; k++)
    if (f->forces[k].spring.load.num_rows > 0) status = add_feedback(e, &f->forces[k]);
  if (!status)
    status = poli_expressions_add(f, e->at, NULL, e->want, e->out, e->frames, &e->maps, e->inputs,
                                  e->derivatives);
  if (!(e->want & (POL_JACOBIAN | POL_CURVATURE | POL_GEOMETRIC_STIFFNESS))) return status;
  for (int k = 0; k < f->num_joints; k++) add_joint(e, &f->joints[k]);
  for (int k = 0; k < f->num_drives; k++) add_drive(e, &f->drives[k]);
  for (int k = 0; k < 2 * f->num_couplings && !status; k++)
    status = add_coupling_end(e, &f->couplings[k / 2], k % 2);
  return status;
}

/* A frame of a flexible body and its maps; the reference frame first, then the interfaces. */
static void place_flexible(const evaluation *e, int b, const poli_chart_point *at, int needs_maps)
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
  evaluation e = {.f = f,
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
    status = collect_wrenches(&e, parts);
    if (status) return status;
    write_balance(&e);
    status = poli_expressions_balance(f, at, parts, e.inputs, out->balance, e.failed);
    if (status) return status;
  }
  if (want & (POL_POSITION | POL_VELOCITY | POL_ACCELERATION)) {
    status = write_constraints(&e);
    if (status) return status;
  }
  return want & matrix_terms ? add_matrices(&e) : POL_OK;
}
