/* The matrices of the equations of motion: mass, damping, stiffness, B, curvature and feedback, by
 * the formulas of evaluate.c. */
#include <string.h>

#include "formulation/attached.h"
#include "formulation/evaluate.h"
#include "formulation/expressions.h"
#include "lie/small.h"

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
static void add_flexible(const poli_evaluation *e, int b)
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
static void add_body(const poli_evaluation *e, int b)
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
static void add_unit_constraint(const poli_evaluation *e, const poli_placed_body *body)
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
static void add_rows(const poli_evaluation *e, const int bodies[2], const poli_slot slots[2],
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
static void add_joint_rows(const poli_evaluation *e, const poli_placed_joint *joint, double *values,
                           double (*rows)[12], int turned)
{
  int slip = joint->kernel.num_slip, held = joint->kernel.num_rows - slip;
  add_rows(e, joint->kernel.body, joint->jacobian, held, values, rows, turned);
  if (slip > 0) add_rows(e, joint->kernel.body, joint->slip, slip, values, rows + held, turned);
}

/* Adds a 12 x 12 block of two frames into the mass, stiffness or damping: L^T K L, or with another
 * map at the right; all but L are zero for direct charts. */
static void add_square(const poli_evaluation *e, const int body[2], const poli_slot coupling[2][2],
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

static void add_joint(const poli_evaluation *e, const poli_placed_joint *joint)
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
static void add_drive(const poli_evaluation *e, const poli_placed_drive *drive)
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
static pol_status add_coupling_end(const poli_evaluation *e, const poli_placed_coupling *coupling,
                                   int i)
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
static pol_status add_force(const poli_evaluation *e, int k)
{
  pol_status status = POL_OK;
  poli_changed_force changed;
  const poli_placed_force *force = poli_evaluation_force(e, k, &changed, &status);
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
static void add_armature(const poli_evaluation *e, const poli_placed_armature *placed)
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
static pol_status add_feedback(const poli_evaluation *e, const poli_placed_force *force)
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

pol_status poli_evaluate_matrices(poli_evaluation *e)
{
  const pol_formulation *f = e->f;
  pol_status status = POL_OK;
  if (f->mapped) {
    /* the chart's stiffness needs the wrenches that it turns */
    unsigned parts = 0;
    if (e->want & POL_STIFFNESS) parts |= POL_INERTIA | POL_FORCE;
    if (e->want & POL_GEOMETRIC_STIFFNESS) parts |= POL_REACTION;
    if (parts) status = poli_evaluate_wrenches(e, parts);
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
