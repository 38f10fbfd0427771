/* Values and derivatives of signals.  With dR = R dphi~, s fixed in a body and w its angular
 * velocity in body axes,
 *
 *     d(R s) = -R s~ dphi,      d(R (w x s)) = -R (w x s)~ dphi - R s~ dw.
 *
 * A joint exerts on its second body the force F = -f and, at the point p of its second marker, the
 * torque T = -R2 tau - (R2 p) x F, where (tau, f) = B2^T lambda.  So with K = d(B^T lambda)/dq
 *
 *     dF = -K_f dq - B_f^T dlambda,
 *     dT = -R2 (K_tau dq + B_tau^T dlambda) + (R2 tau~ - F~ R2 p~) dphi2 - (R2 p)~ dF,
 *
 * and in the axes A = R1 A1 of the first marker d(A^T F) = A^T dF + A1^T (R1^T F)~ dphi1.
 */
#include <string.h>

#include <polhode/lie.h>

#include "formulation/expressions.h"
#include "lie/small.h"

static const poli_placed_coordinate *coordinate_of(const pol_formulation *f, const poli_signal *s)
{
  return &f->coordinates[f->joints[s->object].coordinate + s->component];
}

poli_signal_reads poli_signal_dependence(const pol_formulation *formulation,
                                         const poli_signal *signal)
{
  const pol_formulation *f = formulation;
  poli_signal_reads reads = {.body = {POL_GROUND, POL_GROUND}, .column = -1};
  const int *ends = NULL;
  switch (signal->kind) {
  case POLI_SIGNAL_TIME:
  case POLI_SIGNAL_VARIABLE:
    break;
  case POLI_SIGNAL_STATE:
    reads.column = f->state_v + signal->object;
    reads.owner = (poli_target){reads.column, 1};
    break;
  case POLI_SIGNAL_MODE:
  case POLI_SIGNAL_MODE_RATE:
    reads.column =
        f->bodies[signal->object].v + f->bodies[signal->object].place.base->dim + signal->component;
    reads.owner = (poli_target){f->bodies[signal->object].v, f->bodies[signal->object].chart->dim};
    reads.of_position = signal->kind == POLI_SIGNAL_MODE;
    break;
  case POLI_SIGNAL_POSITION:
  case POLI_SIGNAL_VELOCITY:
  case POLI_SIGNAL_ANGULAR_VELOCITY:
  case POLI_SIGNAL_ANGULAR_VELOCITY_GLOBAL:
    reads.body[0] = signal->object;
    break;
  case POLI_SIGNAL_MARKER_POSITION:
  case POLI_SIGNAL_MARKER_VELOCITY:
    reads.body[0] = pol_mechanism_marker(f->mechanism, signal->object)->body;
    break;
  case POLI_SIGNAL_COORDINATE:
  case POLI_SIGNAL_RATE:
    ends = coordinate_of(f, signal)->kernel.body;
    break;
  case POLI_SIGNAL_FORCE:
  case POLI_SIGNAL_TORQUE:
  case POLI_SIGNAL_FORCE_LOCAL:
  case POLI_SIGNAL_TORQUE_LOCAL:
    ends = f->joints[signal->object].kernel.body;
    reads.row = f->joints[signal->object].row;
    reads.num_rows = f->joints[signal->object].kernel.num_rows;
    break;
  case POLI_SIGNAL_MULTIPLIER:
    reads.row = f->joints[signal->object].row;
    reads.num_rows = f->joints[signal->object].kernel.num_rows;
    break;
  case POLI_SIGNAL_DRIVE:
    reads.row = f->drives[signal->object].placed.row;
    reads.num_rows = 1;
    break;
  }
  for (int i = 0; i < 2 && ends; i++) reads.body[i] = ends[i];
  return reads;
}

static pol_status evaluate_coordinate(const poli_placed_coordinate *placed, const pol_point *at,
                                      const poli_frame frames[2], int is_rate, double *value,
                                      poli_signal_gradient *g)
{
  const poli_coordinate_kernel *kernel = &placed->kernel;
  const poli_frame *first = &frames[0], *second = &frames[1];
  if (!g && is_rate) return poli_coordinate_rate(kernel, first, second, value);
  if (!g) {
    *value = poli_coordinate_value(kernel, first, second);
    if (placed->history >= 0)
      *value = poli_angle_unwrap(*value, at->history ? at->history[placed->history] : 0.0);
    return POL_OK;
  }
  if (!is_rate) return poli_coordinate_gradient(kernel, first, second, g->position);
  double H[12][12];
  pol_status status = poli_coordinate_gradient(kernel, first, second, g->velocity);
  if (!status) status = poli_coordinate_second(kernel, first, second, H);
  for (int i = 0; i < 12 && !status; i++) {
    const double *y = i % 6 < 3 ? frames[i / 6].w : frames[i / 6].u;
    for (int j = 0; j < 12; j++) g->position[j] += H[i][j] * y[i % 3];
  }
  return status;
}

/* --- reactions -------------------------------------------------------------------------------- */

/* What a joint exerts on its second body, and how that depends on frames and multipliers: three
 * rows for the force, three for the torque. */
typedef struct reaction {
  double value[6];
  double by_position[6][12];
  double by_lambda[6][POL_MAX_JOINT_ROWS];
} reaction;

/* (tau, f) = B2^T lambda to the wrench (F, T) at the marker's point arm = R2 p. */
static void turn_wrench(const poli_frame *second, const double arm[3], const double tau[3],
                        const double f[3], double F[3], double T[3])
{
  double turned[3];
  poli_m3_apply(second->R, tau, turned);
  poli_v3_scale(-1.0, f, F);
  poli_v3_scale(-1.0, turned, T);
  poli_v3_add_scaled_cross(-1.0, arm, F, T);
}

static void evaluate_reaction(const pol_formulation *f, const poli_signal *signal,
                              const pol_point *at, const poli_frame frames[2], int derivatives,
                              reaction *r)
{
  const poli_placed_joint *placed = &f->joints[signal->object];
  const pol_joint *joint = pol_mechanism_joint(f->mechanism, signal->object);
  const double *p = pol_mechanism_marker(f->mechanism, joint->marker[1])->position;
  const double *lambda = at->lambda + placed->row;
  double first[6] = {0.0}, wrench[6] = {0.0}, arm[3], B[POL_MAX_JOINT_ROWS][12], K[12][12];
  poli_joint_reaction(&placed->kernel, &frames[0], &frames[1], lambda, first, wrench);
  poli_m3_apply(frames[1].R, p, arm);
  turn_wrench(&frames[1], arm, wrench, wrench + 3, r->value, r->value + 3);
  if (!derivatives) return;

  double change[6], column[6], skew[9], block[9], product[9], force[9];
  poli_joint_stiffness(&placed->kernel, &frames[0], &frames[1], lambda, K);
  for (int j = 0; j < 12; j++) {
    for (int i = 0; i < 6; i++) change[i] = K[6 + i][j];
    turn_wrench(&frames[1], arm, change, change + 3, column, column + 3);
    for (int i = 0; i < 6; i++) r->by_position[i][j] = column[i];
  }
  /* by_position += (R2 tau~ - F~ R2 p~) dphi2 in the rows of the torque */
  poli_m3_skew(wrench, skew);
  poli_m3_multiply(frames[1].R, skew, block);
  poli_m3_skew(p, skew);
  poli_m3_multiply(frames[1].R, skew, product);
  poli_m3_skew(r->value, force);
  poli_m3_multiply(force, product, skew);
  for (int i = 0; i < 9; i++) block[i] -= skew[i];
  poli_add_block(block, 1.0, 3, 6, r->by_position);
  poli_joint_jacobian(&placed->kernel, &frames[0], &frames[1], B);
  for (int j = 0; j < placed->kernel.num_rows; j++) {
    turn_wrench(&frames[1], arm, B[j] + 6, B[j] + 9, column, column + 3);
    for (int i = 0; i < 6; i++) r->by_lambda[i][j] = column[i];
  }
}

/* A component of the force or torque of a reaction, or its gradient: along a global axis, or one of
 * the first marker, `local` in the axes of the first body. */
static void evaluate_component(const pol_formulation *f, const poli_signal *signal,
                               const pol_point *at, const poli_frame frames[2], double *value,
                               poli_signal_gradient *g)
{
  const int first_row = (signal->kind - POLI_SIGNAL_FORCE) % 2 ? 3 : 0;
  const int turns = signal->kind >= POLI_SIGNAL_FORCE_LOCAL;
  reaction r;
  double axis[3] = {0.0}, local[3] = {0.0}, A[9];
  evaluate_reaction(f, signal, at, frames, g != NULL, &r);
  axis[signal->component] = 1.0;
  if (turns) {
    const pol_joint *joint = pol_mechanism_joint(f->mechanism, signal->object);
    pol_quat_to_matrix(pol_mechanism_marker(f->mechanism, joint->marker[0])->rotation, A);
    for (int i = 0; i < 3; i++) local[i] = A[3 * i + signal->component];
    poli_m3_apply(frames[0].R, local, axis);
  }
  if (!g) {
    *value = poli_v3_dot(axis, r.value + first_row);
    return;
  }
  for (int i = 0; i < 3; i++) {
    const int row = first_row + i;
    for (int j = 0; j < 12; j++) g->position[j] += axis[i] * r.by_position[row][j];
    for (int j = 0; j < g->reads.num_rows; j++) g->lambda[j] += axis[i] * r.by_lambda[row][j];
  }
  if (!turns) return;
  double seen[3]; /* a . R1^T F changes by a^T (R1^T F)~ dphi1 = (a x R1^T F) . dphi1 */
  poli_m3_apply_transposed(frames[0].R, r.value + first_row, seen);
  poli_v3_add_scaled_cross(1.0, local, seen, g->position);
}

/* --- all -------------------------------------------------------------------------------------- */

/* The value at a point, or with g, which is zero, the gradient instead. */
static pol_status evaluate(const pol_formulation *f, const poli_signal *signal, const pol_point *at,
                           const poli_frame *frames, const poli_signal_reads *reads, double *value,
                           poli_signal_gradient *g)
{
  static const double centre[3] = {0.0, 0.0, 0.0};
  const poli_signal_kind kind = signal->kind;
  const int i = signal->component;
  poli_frame taken[2];
  if (!frames) poli_formulation_frames(f, at->q, at->v, reads->body, taken);
  for (int k = 0; k < 2 && frames; k++) taken[k] = *poli_frame_of(frames, reads->body[k]);
  const double *row = taken[0].R + 3 * (i % 3); /* of a vector, global component i: row . vector */
  switch (kind) {
  case POLI_SIGNAL_TIME:
    if (!g) *value = at->t;
    break;
  case POLI_SIGNAL_STATE:
    if (!g) *value = at->v[f->state_v + signal->object];
    break;
  case POLI_SIGNAL_VARIABLE:
    break;
  case POLI_SIGNAL_MODE: {
    const poli_placed_body *body = &f->bodies[signal->object];
    if (!g) *value = at->q[body->q + body->place.base->nq + i];
    break;
  }
  case POLI_SIGNAL_MODE_RATE:
    if (!g) *value = at->v[reads->column];
    break;
  case POLI_SIGNAL_POSITION:
  case POLI_SIGNAL_VELOCITY:
  case POLI_SIGNAL_MARKER_POSITION:
  case POLI_SIGNAL_MARKER_VELOCITY: {
    const int moving = kind == POLI_SIGNAL_VELOCITY || kind == POLI_SIGNAL_MARKER_VELOCITY;
    const int marked = kind == POLI_SIGNAL_MARKER_POSITION || kind == POLI_SIGNAL_MARKER_VELOCITY;
    const double *s =
        marked ? pol_mechanism_marker(f->mechanism, signal->object)->position : centre;
    double spin[3];
    poli_v3_cross(taken[0].w, s, spin);
    if (!g) {
      *value =
          moving ? taken[0].u[i] + poli_v3_dot(row, spin) : taken[0].x[i] + poli_v3_dot(row, s);
      break;
    }
    poli_v3_add_scaled_cross(-1.0, row, moving ? spin : s, g->position); /* a^T s~ = (a x s)^T */
    if (moving) poli_v3_add_scaled_cross(-1.0, row, s, g->velocity);
    (moving ? g->velocity : g->position)[3 + i] = 1.0;
    break;
  }
  case POLI_SIGNAL_ANGULAR_VELOCITY:
    if (g)
      g->velocity[i] = 1.0;
    else
      *value = taken[0].w[i];
    break;
  case POLI_SIGNAL_ANGULAR_VELOCITY_GLOBAL:
    if (!g) {
      *value = poli_v3_dot(row, taken[0].w);
      break;
    }
    poli_v3_copy(row, g->velocity);
    poli_v3_add_scaled_cross(-1.0, row, taken[0].w, g->position);
    break;
  case POLI_SIGNAL_COORDINATE:
  case POLI_SIGNAL_RATE:
    return evaluate_coordinate(coordinate_of(f, signal), at, taken, kind == POLI_SIGNAL_RATE, value,
                               g);
  case POLI_SIGNAL_FORCE:
  case POLI_SIGNAL_TORQUE:
  case POLI_SIGNAL_FORCE_LOCAL:
  case POLI_SIGNAL_TORQUE_LOCAL:
    evaluate_component(f, signal, at, taken, value, g);
    break;
  case POLI_SIGNAL_MULTIPLIER:
    if (g)
      g->lambda[i] = 1.0;
    else
      *value = at->lambda[reads->row + i];
    break;
  case POLI_SIGNAL_DRIVE:
    if (g)
      g->lambda[0] = -1.0;
    else
      *value = -at->lambda[reads->row];
    break;
  }
  return POL_OK;
}

pol_status poli_signal_value(const pol_formulation *formulation, const poli_signal *signal,
                             const pol_point *at, const poli_frame *frames, double *value)
{
  const poli_signal_reads reads = poli_signal_dependence(formulation, signal);
  return evaluate(formulation, signal, at, frames, &reads, value, NULL);
}

pol_status poli_signal_derivatives(const pol_formulation *formulation, const poli_signal *signal,
                                   const pol_point *at, const poli_frame *frames,
                                   poli_signal_gradient *gradient)
{
  memset(gradient, 0, sizeof *gradient);
  gradient->reads = poli_signal_dependence(formulation, signal);
  return evaluate(formulation, signal, at, frames, &gradient->reads, NULL, gradient);
}
