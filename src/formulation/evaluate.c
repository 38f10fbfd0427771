/* The terms of the equations of motion.  Elements give wrenches and blocks in the velocities of
 * their frames (mechanism/joint.h); the chart maps them to coordinates (formulation/chart.h):
 *
 *     balance   = L^T ( mass y' + w x J w, ... )        M = L^T M_c L
 *     damping   = L^T ( D_c L + M_c N3 )                B = B_c L
 *     stiffness = L^T ( K_c L + D_c N1 + M_c N2 ) + G   Z = Z_c L + B_c N1
 *
 * with the subscript c for a frame's own velocities.
 */
#include <string.h>

#include "formulation/formulation.h"
#include "lie/small.h"

enum { FRAME_SIZE = (int)(sizeof(pol_frame) / sizeof(double)), WRENCH_SIZE = 6 };

/* Everything one evaluation shares. */
typedef struct evaluation {
  const pol_formulation *f;
  const pol_point *at;
  unsigned want;
  const pol_terms *out;
  pol_frame *frames; /* one a body */
  double (*wrench)[WRENCH_SIZE];
} evaluation;

size_t pol_formulation_scratch(int num_bodies)
{
  return (size_t)num_bodies * (FRAME_SIZE + WRENCH_SIZE);
}

const pol_frame *pol_ground_frame(void)
{
  static const pol_frame ground = {.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
  return &ground;
}

void pol_formulation_frame(const pol_formulation *formulation, const double *q, const double *v,
                           int body, pol_frame *frame)
{
  const pol_chart *chart = formulation->chart;
  chart->frame(q + chart->nq * body, v ? v + POL_CHART_DIM * body : NULL, NULL, frame);
}

static const pol_frame *frame_of(const evaluation *e, int body)
{
  return body == POL_GROUND ? pol_ground_frame() : &e->frames[body];
}

/* --- vectors ------------------------------------------------------------------------------------
 */

/* Inertia of a body: (J w', m u') for INERTIA; bias, gyroscopic torque and weight for FORCE. */
static void add_body_wrench(const pol_body *body, const double gravity[3], const pol_frame *frame,
                            unsigned parts, double wrench[6])
{
  double momentum[3];
  if (parts & POL_INERTIA) {
    pol_m3_apply(body->inertia, frame->wd, momentum);
    pol_v3_add(momentum, wrench, wrench);
    pol_v3_add_scaled(body->mass, frame->ud, wrench + 3);
  }
  if (parts & POL_FORCE) {
    double bias[3];
    pol_m3_apply(body->inertia, frame->w, momentum);
    pol_v3_add_scaled_cross(1.0, frame->w, momentum, wrench);
    pol_m3_apply(body->inertia, frame->wb, bias);
    pol_v3_add(bias, wrench, wrench);
    for (int i = 0; i < 3; i++) wrench[3 + i] += body->mass * (frame->ub[i] - gravity[i]);
  }
}

/* The wrench on every frame that these parts of the balance need. */
static void collect_wrenches(evaluation *e, unsigned parts)
{
  const pol_formulation *f = e->f;
  memset(e->wrench, 0, (size_t)f->num_bodies * sizeof *e->wrench);
  for (int i = 0; i < f->num_bodies; i++)
    add_body_wrench(pol_mechanism_body(f->mechanism, i), f->gravity, &e->frames[i], parts,
                    e->wrench[i]);
  if (!(parts & POL_REACTION)) return;
  for (int k = 0; k < f->num_joints; k++) {
    const pol_placed_joint *joint = &f->joints[k];
    const int *body = joint->kernel.body;
    double unused[WRENCH_SIZE] = {0.0};
    pol_joint_reaction(&joint->kernel, frame_of(e, body[0]), frame_of(e, body[1]),
                       e->at->lambda + joint->row, body[0] < 0 ? unused : e->wrench[body[0]],
                       body[1] < 0 ? unused : e->wrench[body[1]]);
  }
}

/* balance = L^T wrench */
static void write_balance(const evaluation *e)
{
  const pol_formulation *f = e->f;
  for (int b = 0; b < f->num_bodies; b++) {
    double *balance = e->out->balance + POL_CHART_DIM * b;
    if (f->chart->identity) {
      memcpy(balance, e->wrench[b], sizeof e->wrench[b]);
      continue;
    }
    pol_chart_maps maps;
    f->chart->maps(&e->frames[b], &maps);
    for (int j = 0; j < POL_CHART_DIM; j++)
      for (int i = 0; i < 6; i++) balance[j] += maps.L[i][j] * e->wrench[b][i];
  }
}

/* Position, velocity and acceleration of each joint's rows. */
static void write_constraints(const evaluation *e)
{
  const pol_formulation *f = e->f;
  for (int k = 0; k < f->num_joints; k++) {
    const pol_placed_joint *joint = &f->joints[k];
    const pol_frame *first = frame_of(e, joint->kernel.body[0]);
    const pol_frame *second = frame_of(e, joint->kernel.body[1]);
    if (e->want & POL_POSITION)
      pol_joint_position(&joint->kernel, first, second, e->out->position + joint->row);
    if (e->want & POL_VELOCITY)
      pol_joint_velocity(&joint->kernel, first, second, e->out->velocity + joint->row);
    if (!(e->want & POL_ACCELERATION)) continue;
    double *acceleration = e->out->acceleration + joint->row;
    pol_joint_acceleration(&joint->kernel, first, second, acceleration);
    if (f->chart->identity) continue;
    /* + B_c bias: the velocity map applied to the bias accelerations */
    pol_frame bias[2] = {*first, *second};
    double extra[POL_MAX_JOINT_ROWS];
    for (int i = 0; i < 2; i++) {
      pol_v3_copy(bias[i].wb, bias[i].w);
      pol_v3_copy(bias[i].ub, bias[i].u);
    }
    pol_joint_velocity(&joint->kernel, &bias[0], &bias[1], extra);
    for (int i = 0; i < joint->kernel.num_rows; i++) acceleration[i] += extra[i];
  }
}

/* --- matrices -----------------------------------------------------------------------------------
 */

/* values[slot] += block, rows x POL_CHART_DIM, row-major with `width` numbers a row */
static void add_block(double *values, pol_slot slot, const double *block, int width, int rows)
{
  for (int j = 0; j < POL_CHART_DIM; j++)
    for (int i = 0; i < rows; i++)
      values[slot.address + j * slot.stride + i] += block[i * width + j];
}

/* C += A B */
static void add_product(pol_m6 A, pol_m6 B, pol_m6 C)
{
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) C[i][j] += A[i][k] * B[k][j];
}

/* C = A^T B */
static void transposed_product(pol_m6 A, pol_m6 B, pol_m6 C)
{
  memset(C, 0, sizeof(pol_m6));
  for (int k = 0; k < 6; k++)
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) C[i][j] += A[k][i] * B[k][j];
}

/* M_c = diag(J, m I) */
static void body_mass(const pol_body *body, pol_m6 M)
{
  memset(M, 0, sizeof(pol_m6));
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) M[i][j] = body->inertia[3 * i + j];
    M[3 + i][3 + i] = body->mass;
  }
}

/* D_c: d(w x J w)/dw = w~ J - (J w)~ */
static void body_damping(const pol_body *body, const pol_frame *frame, pol_m6 D)
{
  double skew[9], product[9], momentum[3];
  memset(D, 0, sizeof(pol_m6));
  pol_m3_skew(frame->w, skew);
  pol_m3_multiply(skew, body->inertia, product);
  pol_m3_apply(body->inertia, frame->w, momentum);
  pol_m3_skew(momentum, skew);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) D[i][j] = product[3 * i + j] - skew[3 * i + j];
}

/* The blocks of one body, when frame velocities are the coordinates' own. */
static void add_body_blocks_identity(const evaluation *e, int b)
{
  const pol_body *body = pol_mechanism_body(e->f->mechanism, b);
  pol_m6 block;
  if (e->want & POL_MASS) {
    body_mass(body, block);
    add_block(e->out->mass, e->f->diagonal[b], block[0], 6, 6);
  }
  if (e->want & POL_DAMPING) {
    body_damping(body, &e->frames[b], block);
    add_block(e->out->damping, e->f->diagonal[b], block[0], 6, 6);
  }
}

/* The blocks of one body through the chart; e->wrench holds what the stiffness asked for acts on.
 */
static void add_body_blocks(const evaluation *e, int b)
{
  const pol_body *body = pol_mechanism_body(e->f->mechanism, b);
  const pol_frame *frame = &e->frames[b];
  pol_chart_maps maps;
  pol_m6 mass, damping, inner, block;
  e->f->chart->maps(frame, &maps);
  body_mass(body, mass);
  body_damping(body, frame, damping);
  if (e->want & POL_MASS) {
    memset(inner, 0, sizeof inner);
    add_product(mass, maps.L, inner);
    transposed_product(maps.L, inner, block);
    add_block(e->out->mass, e->f->diagonal[b], block[0], 6, 6);
  }
  if (e->want & POL_DAMPING) {
    memset(inner, 0, sizeof inner);
    add_product(damping, maps.L, inner);
    add_product(mass, maps.N3, inner);
    transposed_product(maps.L, inner, block);
    add_block(e->out->damping, e->f->diagonal[b], block[0], 6, 6);
  }
  if (e->want & (POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS)) {
    memset(inner, 0, sizeof inner);
    if (e->want & POL_STIFFNESS) {
      add_product(damping, maps.N1, inner);
      add_product(mass, maps.N2, inner);
    }
    transposed_product(maps.L, inner, block);
    e->f->chart->add_wrench_gradient(frame, e->wrench[b], block);
    add_block(e->out->stiffness, e->f->diagonal[b], block[0], 6, 6);
  }
}

/* out = block L, for `rows` rows of a 12-wide block at column `first` */
static void map_columns(double (*block)[12], int first, int rows, pol_m6 L, double (*out)[6])
{
  for (int r = 0; r < rows; r++)
    for (int j = 0; j < POL_CHART_DIM; j++) {
      out[r][j] = 0.0;
      for (int i = 0; i < 6; i++) out[r][j] += block[r][first + i] * L[i][j];
    }
}

static void add_joint_blocks_identity(const evaluation *e, const pol_placed_joint *joint,
                                      const pol_frame *first, const pol_frame *second)
{
  const pol_joint_kernel *kernel = &joint->kernel;
  double rows[POL_MAX_JOINT_ROWS][12], K[12][12];
  if (e->want & POL_JACOBIAN) {
    pol_joint_jacobian(kernel, first, second, rows);
    for (int j = 0; j < 2; j++)
      if (kernel->body[j] != POL_GROUND)
        add_block(e->out->jacobian, joint->jacobian[j], rows[0] + 6 * j, 12, kernel->num_rows);
  }
  if (e->want & POL_CURVATURE) {
    pol_joint_curvature(kernel, first, second, rows);
    for (int j = 0; j < 2; j++)
      if (kernel->body[j] != POL_GROUND)
        add_block(e->out->curvature, joint->jacobian[j], rows[0] + 6 * j, 12, kernel->num_rows);
  }
  if (e->want & POL_GEOMETRIC_STIFFNESS) {
    pol_joint_stiffness(kernel, first, second, e->at->lambda + joint->row, K);
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++)
        if (kernel->body[i] != POL_GROUND && kernel->body[j] != POL_GROUND)
          add_block(e->out->stiffness, joint->coupling[i][j], K[6 * i] + 6 * j, 12, 6);
  }
}

static void add_joint_blocks(const evaluation *e, const pol_placed_joint *joint,
                             const pol_frame *first, const pol_frame *second)
{
  const pol_joint_kernel *kernel = &joint->kernel;
  const pol_frame *frame[2] = {first, second};
  pol_chart_maps maps[2];
  double B[POL_MAX_JOINT_ROWS][12], Z[POL_MAX_JOINT_ROWS][12], K[12][12];
  double out[12][6], extra[POL_MAX_JOINT_ROWS][6];
  int rows = kernel->num_rows;
  pol_joint_jacobian(kernel, first, second, B);
  if (e->want & POL_CURVATURE) pol_joint_curvature(kernel, first, second, Z);
  if (e->want & POL_GEOMETRIC_STIFFNESS)
    pol_joint_stiffness(kernel, first, second, e->at->lambda + joint->row, K);
  for (int j = 0; j < 2; j++)
    if (kernel->body[j] != POL_GROUND) e->f->chart->maps(frame[j], &maps[j]);

  for (int j = 0; j < 2; j++) {
    if (kernel->body[j] == POL_GROUND) continue;
    if (e->want & POL_JACOBIAN) {
      map_columns(B, 6 * j, rows, maps[j].L, out);
      add_block(e->out->jacobian, joint->jacobian[j], out[0], 6, rows);
    }
    if (e->want & POL_CURVATURE) {
      map_columns(Z, 6 * j, rows, maps[j].L, out);
      map_columns(B, 6 * j, rows, maps[j].N1, extra);
      add_block(e->out->curvature, joint->jacobian[j], out[0], 6, rows);
      add_block(e->out->curvature, joint->jacobian[j], extra[0], 6, rows);
    }
    if (!(e->want & POL_GEOMETRIC_STIFFNESS)) continue;
    map_columns(K, 6 * j, 12, maps[j].L, out);
    for (int i = 0; i < 2; i++) {
      pol_m6 block;
      if (kernel->body[i] == POL_GROUND) continue;
      transposed_product(maps[i].L, out + 6 * i, block);
      add_block(e->out->stiffness, joint->coupling[i][j], block[0], 6, 6);
    }
  }
}

static void add_matrices(evaluation *e)
{
  const pol_formulation *f = e->f;
  int identity = f->chart->identity;
  if (!identity) {
    /* the chart's stiffness needs the wrenches that it turns */
    unsigned parts = 0;
    if (e->want & POL_STIFFNESS) parts |= POL_INERTIA | POL_FORCE;
    if (e->want & POL_GEOMETRIC_STIFFNESS) parts |= POL_REACTION;
    if (parts) collect_wrenches(e, parts);
  }
  for (int b = 0; b < f->num_bodies; b++)
    if (identity)
      add_body_blocks_identity(e, b);
    else
      add_body_blocks(e, b);
  if (!(e->want & (POL_JACOBIAN | POL_CURVATURE | POL_GEOMETRIC_STIFFNESS))) return;
  for (int k = 0; k < f->num_joints; k++) {
    const pol_placed_joint *joint = &f->joints[k];
    const pol_frame *first = frame_of(e, joint->kernel.body[0]);
    const pol_frame *second = frame_of(e, joint->kernel.body[1]);
    if (identity)
      add_joint_blocks_identity(e, joint, first, second);
    else
      add_joint_blocks(e, joint, first, second);
  }
}

pol_status pol_formulation_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                    double *scratch, void *user)
{
  const pol_formulation *f = user;
  const pol_chart *chart = f->chart;
  evaluation e = {.f = f,
                  .at = at,
                  .want = want,
                  .out = out,
                  .frames = (pol_frame *)scratch,
                  .wrench = (double(*)[WRENCH_SIZE])(scratch + f->num_bodies * FRAME_SIZE)};
  for (int b = 0; b < f->num_bodies; b++)
    chart->frame(at->q + chart->nq * b, at->v ? at->v + POL_CHART_DIM * b : NULL,
                 at->vd ? at->vd + POL_CHART_DIM * b : NULL, &e.frames[b]);

  unsigned parts = want & (POL_INERTIA | POL_FORCE | POL_REACTION);
  if (parts) {
    collect_wrenches(&e, parts);
    write_balance(&e);
  }
  if (want & (POL_POSITION | POL_VELOCITY | POL_ACCELERATION)) write_constraints(&e);
  if (want & (POL_MASS | POL_DAMPING | POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS | POL_JACOBIAN |
              POL_CURVATURE))
    add_matrices(&e);
  return POL_OK;
}
