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

#include "formulation/signals.h"
#include "lie/small.h"

static const poli_placed_coordinate *coordinate_of(const pol_formulation *f, const poli_signal *s)
{
  return &f->coordinates[f->joints[s->object].coordinate + s->component];
}

poli_signal_reads poli_signal_dependence(const pol_formulation *formulation,
                                         const poli_signal *signal)
{
  const pol_formulation *f = formulation;
  poli_signal_reads reads = {.body = {POL_GROUND, POL_GROUND}, .state = -1};
  const int *ends = NULL;
  switch (signal->kind) {
  case POLI_SIGNAL_TIME:
  case POLI_SIGNAL_VARIABLE:
    break;
  case POLI_SIGNAL_STATE:
    reads.state = signal->object;
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

/* The frames of the bodies that a signal reads. */
static void take_frames(const pol_formulation *f, const pol_point *at, const poli_frame *frames,
                        const int body[2], poli_frame taken[2])
{
  if (!frames) {
    poli_formulation_frames(f, at->q, at->v, body, taken);
    return;
  }
  for (int i = 0; i < 2; i++)
    taken[i] = body[i] == POL_GROUND ? *poli_ground_frame() : frames[body[i]];
}

static double row_times(const double A[9], int row, const double x[3])
{
  return poli_v3_dot(A + 3 * row, x);
}

/* out += scale (row `row` of A s~) */
static void add_row_skew(const double A[9], int row, const double s[3], double scale, double out[3])
{
  poli_v3_add_scaled_cross(scale, A + 3 * row, s, out); /* a^T s~ = (a x s)^T */
}

/* --- points ----------------------------------------------------------------------------------- */

/* Component of x + R s or, `moving`, of u + R (w x s). */
static double point_value(const poli_frame *frame, const double s[3], int i, int moving)
{
  double spin[3];
  poli_v3_cross(frame->w, s, spin);
  return moving ? frame->u[i] + row_times(frame->R, i, spin)
                : frame->x[i] + row_times(frame->R, i, s);
}

static void point_gradient(const poli_frame *frame, const double s[3], int i, int moving,
                           poli_signal_gradient *g)
{
  double spin[3];
  poli_v3_cross(frame->w, s, spin);
  add_row_skew(frame->R, i, moving ? spin : s, -1.0, g->position);
  if (moving) add_row_skew(frame->R, i, s, -1.0, g->velocity);
  *(moving ? &g->velocity[3 + i] : &g->position[3 + i]) = 1.0;
}

/* --- joint coordinates ------------------------------------------------------------------------ */

static pol_status coordinate_value(const poli_placed_coordinate *placed, const pol_point *at,
                                   const poli_frame frames[2], int is_rate, double *value)
{
  if (is_rate) return poli_coordinate_rate(&placed->kernel, &frames[0], &frames[1], value);
  *value = poli_coordinate_value(&placed->kernel, &frames[0], &frames[1]);
  if (placed->history >= 0)
    *value = poli_angle_unwrap(*value, at->history ? at->history[placed->history] : 0.0);
  return POL_OK;
}

static pol_status coordinate_gradient(const poli_placed_coordinate *placed,
                                      const poli_frame frames[2], int is_rate,
                                      poli_signal_gradient *g)
{
  const poli_coordinate_kernel *kernel = &placed->kernel;
  double y[12], H[12][12];
  if (!is_rate) return poli_coordinate_gradient(kernel, &frames[0], &frames[1], g->position);
  pol_status status = poli_coordinate_gradient(kernel, &frames[0], &frames[1], g->velocity);
  if (!status) status = poli_coordinate_second(kernel, &frames[0], &frames[1], H);
  for (int k = 0; k < 2; k++) {
    poli_v3_copy(frames[k].w, y + 6 * k);
    poli_v3_copy(frames[k].u, y + 6 * k + 3);
  }
  for (int j = 0; j < 12 && !status; j++)
    for (int i = 0; i < 12; i++) g->position[j] += H[i][j] * y[i];
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

/* Column j of a derivative, with the wrench's own change in (tau, f). */
static void set_column(const poli_frame *second, const double arm[3], const double change[6],
                       double *const column[6])
{
  double F[3], T[3];
  turn_wrench(second, arm, change, change + 3, F, T);
  for (int i = 0; i < 3; i++) {
    *column[i] = F[i];
    *column[3 + i] = T[i];
  }
}

/* by_position += (R2 tau~ - F~ R2 p~) dphi2 in the rows of the torque */
static void add_turning(const poli_frame *second, const double p[3], const double tau[3],
                        reaction *r)
{
  double skew[9], block[9], product[9], force[9];
  poli_m3_skew(tau, skew);
  poli_m3_multiply(second->R, skew, block);
  poli_m3_skew(p, skew);
  poli_m3_multiply(second->R, skew, product);
  poli_m3_skew(r->value, force);
  poli_m3_multiply(force, product, skew);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r->by_position[3 + i][6 + j] += block[3 * i + j] - skew[3 * i + j];
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

  double change[6], *column[6];
  poli_joint_stiffness(&placed->kernel, &frames[0], &frames[1], lambda, K);
  for (int j = 0; j < 12; j++) {
    for (int i = 0; i < 6; i++) {
      change[i] = K[6 + i][j];
      column[i] = &r->by_position[i][j];
    }
    set_column(&frames[1], arm, change, column);
  }
  add_turning(&frames[1], p, wrench, r);
  poli_joint_jacobian(&placed->kernel, &frames[0], &frames[1], B);
  for (int j = 0; j < placed->kernel.num_rows; j++) {
    for (int i = 0; i < 6; i++) {
      change[i] = B[j][6 + i];
      column[i] = &r->by_lambda[i][j];
    }
    set_column(&frames[1], arm, change, column);
  }
}

/* The direction that a reaction is measured along: a global axis, or one of the first marker, then
 * also in the axes of the first body. */
static int reaction_axis(const pol_formulation *f, const poli_signal *signal,
                         const poli_frame *first, double axis[3], double local[3])
{
  memset(axis, 0, 3 * sizeof *axis);
  axis[signal->component] = 1.0;
  if (signal->kind < POLI_SIGNAL_FORCE_LOCAL) return 0;
  const pol_joint *joint = pol_mechanism_joint(f->mechanism, signal->object);
  double A[9];
  pol_quat_to_matrix(pol_mechanism_marker(f->mechanism, joint->marker[0])->rotation, A);
  for (int i = 0; i < 3; i++) local[i] = A[3 * i + signal->component];
  poli_m3_apply(first->R, local, axis);
  return 1;
}

/* The signal's vector in a reaction: rows of the force or of the torque. */
static int first_row(const poli_signal *signal)
{
  return (signal->kind - POLI_SIGNAL_FORCE) % 2 ? 3 : 0;
}

static double reaction_value(const pol_formulation *f, const poli_signal *signal,
                             const pol_point *at, const poli_frame frames[2])
{
  reaction r;
  double axis[3], local[3];
  evaluate_reaction(f, signal, at, frames, 0, &r);
  reaction_axis(f, signal, &frames[0], axis, local);
  return poli_v3_dot(axis, r.value + first_row(signal));
}

static void reaction_gradient(const pol_formulation *f, const poli_signal *signal,
                              const pol_point *at, const poli_frame frames[2],
                              poli_signal_gradient *g)
{
  reaction r;
  double axis[3], local[3] = {0.0, 0.0, 0.0};
  int row = first_row(signal);
  evaluate_reaction(f, signal, at, frames, 1, &r);
  int turns = reaction_axis(f, signal, &frames[0], axis, local);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 12; j++) g->position[j] += axis[i] * r.by_position[row + i][j];
    for (int j = 0; j < g->reads.num_rows; j++) g->lambda[j] += axis[i] * r.by_lambda[row + i][j];
  }
  if (!turns) return;
  double seen[3]; /* a . R1^T F changes by a^T (R1^T F)~ dphi1 = (a x R1^T F) . dphi1 */
  poli_m3_apply_transposed(frames[0].R, r.value + row, seen);
  poli_v3_add_scaled_cross(1.0, local, seen, g->position);
}

/* --- all -------------------------------------------------------------------------------------- */

pol_status poli_signal_value(const pol_formulation *formulation, const poli_signal *signal,
                             const pol_point *at, const poli_frame *frames, double *value)
{
  static const double centre[3] = {0.0, 0.0, 0.0};
  const pol_formulation *f = formulation;
  const poli_signal_reads reads = poli_signal_dependence(f, signal);
  const double *s = centre;
  poli_frame taken[2];
  take_frames(f, at, frames, reads.body, taken);
  switch (signal->kind) {
  case POLI_SIGNAL_TIME:
    *value = at->t;
    break;
  case POLI_SIGNAL_STATE:
    *value = at->v[f->state_v + signal->object];
    break;
  case POLI_SIGNAL_VARIABLE:
    break;
  case POLI_SIGNAL_MARKER_POSITION:
  case POLI_SIGNAL_MARKER_VELOCITY:
    s = pol_mechanism_marker(f->mechanism, signal->object)->position;
    *value =
        point_value(&taken[0], s, signal->component, signal->kind == POLI_SIGNAL_MARKER_VELOCITY);
    break;
  case POLI_SIGNAL_POSITION:
  case POLI_SIGNAL_VELOCITY:
    *value = point_value(&taken[0], s, signal->component, signal->kind == POLI_SIGNAL_VELOCITY);
    break;
  case POLI_SIGNAL_ANGULAR_VELOCITY:
    *value = taken[0].w[signal->component];
    break;
  case POLI_SIGNAL_ANGULAR_VELOCITY_GLOBAL:
    *value = row_times(taken[0].R, signal->component, taken[0].w);
    break;
  case POLI_SIGNAL_COORDINATE:
  case POLI_SIGNAL_RATE:
    return coordinate_value(coordinate_of(f, signal), at, taken, signal->kind == POLI_SIGNAL_RATE,
                            value);
  case POLI_SIGNAL_FORCE:
  case POLI_SIGNAL_TORQUE:
  case POLI_SIGNAL_FORCE_LOCAL:
  case POLI_SIGNAL_TORQUE_LOCAL:
    *value = reaction_value(f, signal, at, taken);
    break;
  case POLI_SIGNAL_MULTIPLIER:
    *value = at->lambda[reads.row + signal->component];
    break;
  case POLI_SIGNAL_DRIVE:
    *value = -at->lambda[reads.row];
    break;
  }
  return POL_OK;
}

pol_status poli_signal_derivatives(const pol_formulation *formulation, const poli_signal *signal,
                                   const pol_point *at, const poli_frame *frames,
                                   poli_signal_gradient *gradient)
{
  static const double centre[3] = {0.0, 0.0, 0.0};
  const pol_formulation *f = formulation;
  poli_signal_gradient *g = gradient;
  const int i = signal->component;
  const double *s = centre;
  poli_frame taken[2];
  memset(g, 0, sizeof *g);
  g->reads = poli_signal_dependence(f, signal);
  take_frames(f, at, frames, g->reads.body, taken);
  switch (signal->kind) {
  case POLI_SIGNAL_TIME:
  case POLI_SIGNAL_STATE:
  case POLI_SIGNAL_VARIABLE:
    break;
  case POLI_SIGNAL_MARKER_POSITION:
  case POLI_SIGNAL_MARKER_VELOCITY:
    s = pol_mechanism_marker(f->mechanism, signal->object)->position;
    point_gradient(&taken[0], s, i, signal->kind == POLI_SIGNAL_MARKER_VELOCITY, g);
    break;
  case POLI_SIGNAL_POSITION:
  case POLI_SIGNAL_VELOCITY:
    point_gradient(&taken[0], s, i, signal->kind == POLI_SIGNAL_VELOCITY, g);
    break;
  case POLI_SIGNAL_ANGULAR_VELOCITY:
    g->velocity[i] = 1.0;
    break;
  case POLI_SIGNAL_ANGULAR_VELOCITY_GLOBAL:
    poli_v3_copy(taken[0].R + 3 * i, g->velocity);
    add_row_skew(taken[0].R, i, taken[0].w, -1.0, g->position);
    break;
  case POLI_SIGNAL_COORDINATE:
  case POLI_SIGNAL_RATE:
    return coordinate_gradient(coordinate_of(f, signal), taken, signal->kind == POLI_SIGNAL_RATE,
                               g);
  case POLI_SIGNAL_FORCE:
  case POLI_SIGNAL_TORQUE:
  case POLI_SIGNAL_FORCE_LOCAL:
  case POLI_SIGNAL_TORQUE_LOCAL:
    reaction_gradient(f, signal, at, taken, g);
    break;
  case POLI_SIGNAL_MULTIPLIER:
    g->lambda[i] = 1.0;
    break;
  case POLI_SIGNAL_DRIVE:
    g->lambda[0] = -1.0;
    break;
  }
  return POL_OK;
}
