/* The presets of the joint kernel and the kernel itself; see joint.h for the equation.
 *
 * With Q = R1^T R2, n = a x z and the body velocities w1, u1, w2, u2:
 *
 *     dz       = z~ dphi1 - tau R1^T dx1 - Q s~ dphi2 + tau R1^T dx2
 *     z'       = R1^T D - w1 x z,   D = tau (u2 - u1) + R2 (w2 x s)
 *     z''      = R1^T R2 (w2 x (w2 x s)) - w1 x (R1^T D) - w1 x z'      (w', u' = 0)
 *
 * and with mu = sum lambda_k a_k over the rows of a view the reaction is
 *
 *     torque1 = mu x z,  force1 = -tau R1 mu,  torque2 = s x Q^T mu,  force2 = tau R1 mu.
 *
 * For a distance a is d = z - point, and as it moves,
 *
 *     phi' = d . z',   phi'' = d . z'' + z' . z',   d(phi')/dq = d^T dz'/dq + z'^T dz/dq,
 *
 * and lambda (dz/dq)^T dz/dq joins the stiffness.
 *
 * A global view has z = x2 + R2 s - x1 - R1 p with p the point of the first body:
 *
 *     dz       = R1 p~ dphi1 - dx1 - R2 s~ dphi2 + dx2
 *     z^(n)    = x2^(n) - x1^(n) + R2 (w2~)^n s - R1 (w1~)^n p          (w', u' = 0)
 *     torque1 = -p x R1^T mu,  force1 = -mu,  torque2 = s x R2^T mu,  force2 = mu.
 *
 * The constant-velocity joint forbids its rotation axis a component along z: with Q_ij = i1 . j2
 * the row x1.y2 - y1.x2 = Q_01 - Q_10 is -2 sin(angle) times that component.  Then the second shaft
 * is the first, bent about an axis in their xy planes, so that both turn by the same angle about
 * their own axes, whatever the bend.
 */
#include <stddef.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/joint.h"
#include "mechanism/rolling.h"

/* --- presets ---------------------------------------------------------------------------------- */

#define T(axis)                                                                                    \
  {                                                                                                \
    POL_ROW_TRANSLATION, axis, 0                                                                   \
  }
#define R(axis, other)                                                                             \
  {                                                                                                \
    POL_ROW_ROTATION, axis, other                                                                  \
  }

#define ROLLING                                                                                    \
  {                                                                                                \
    {POL_ROW_HEIGHT, 2, 0}, {POL_ROW_SLIP, 0, 0},                                                  \
    {                                                                                              \
      POL_ROW_SLIP, 1, 0                                                                           \
    }                                                                                              \
  }

static const struct {
  const char *name;
  int num_rows;
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
} presets[] = {
    [POL_FIXED] = {"fixed", 6, {T(0), T(1), T(2), R(1, 2), R(2, 0), R(0, 1)}},
    [POL_REVOLUTE] = {"revolute", 5, {T(0), T(1), T(2), R(0, 2), R(1, 2)}},
    [POL_PRISMATIC] = {"prismatic", 5, {T(0), T(1), R(1, 2), R(2, 0), R(0, 1)}},
    [POL_CYLINDRICAL] = {"cylindrical", 4, {T(0), T(1), R(0, 2), R(1, 2)}},
    [POL_SPHERICAL] = {"spherical", 3, {T(0), T(1), T(2)}},
    [POL_UNIVERSAL] = {"universal", 4, {T(0), T(1), T(2), R(0, 1)}},
    [POL_PLANAR] = {"planar", 3, {T(2), R(0, 2), R(1, 2)}},
    [POL_DISTANCE] = {"distance", 1, {{POL_ROW_DISTANCE, 0, 0}}},
    [POL_POINT_ON_LINE] = {"point-on-line", 2, {T(0), T(1)}},
    [POL_POINT_IN_PLANE] = {"point-in-plane", 1, {T(2)}},
    [POL_PARALLEL] = {"parallel", 2, {R(0, 2), R(1, 2)}},
    [POL_CONSTANT_VELOCITY] = {"constant-velocity", 4, {T(0), T(1), T(2), {POL_ROW_TWIST, 0, 0}}},
    [POL_GENERIC] = {"generic", 0, {{POL_ROW_TRANSLATION, 0, 0}}}, /* its rows are its own */
    [POL_ROLLING_SPHERE] = {"rolling-sphere", 3, ROLLING},
    [POL_ROLLING_DISK] = {"rolling-disk", 3, ROLLING},
};

#undef T
#undef R
#undef ROLLING

enum { NUM_PRESETS = (int)(sizeof presets / sizeof presets[0]) };

const char *pol_joint_type_name(pol_joint_type type)
{
  return (int)type >= 0 && (int)type < NUM_PRESETS ? presets[type].name : NULL;
}

const char *pol_lock_name(int number)
{
  static const char *const names[] = {"x", "y", "z", "rotation-x", "rotation-y", "rotation-z"};
  return number >= 0 && number < POL_MAX_JOINT_ROWS ? names[number] : NULL;
}

/* Of a generic joint the rows of its lock mask; which axes realise a locked rotation depends on how
 * many there are. */
int pol_joint_rows(const pol_joint *joint, pol_joint_row rows[POL_MAX_JOINT_ROWS])
{
  const unsigned locked = joint->locked;
  int count = 0, num_rotations = 0, free_axis = 0;
  if (joint->type != POL_GENERIC) {
    memcpy(rows, presets[joint->type].rows, sizeof presets[joint->type].rows);
    return presets[joint->type].num_rows;
  }
  for (int k = 0; k < 3; k++) {
    if (locked & ((unsigned)POL_LOCK_X << k))
      rows[count++] = (pol_joint_row){POL_ROW_TRANSLATION, k, 0};
    if (locked & ((unsigned)POL_LOCK_ROTATION_X << k))
      num_rotations++;
    else
      free_axis = k;
  }
  for (int k = 0; k < 3; k++) {
    if (!(locked & ((unsigned)POL_LOCK_ROTATION_X << k))) continue;
    rows[count++] = num_rotations == 2
                        ? (pol_joint_row){POL_ROW_ROTATION, 3 - k - free_axis, free_axis}
                        : (pol_joint_row){POL_ROW_ROTATION, (k + 1) % 3, (k + 2) % 3};
  }
  return count;
}

pol_status pol_joint_type_find(const char *name, pol_joint_type *type)
{
  for (int i = 0; i < NUM_PRESETS; i++)
    if (strcmp(presets[i].name, name) == 0) {
      *type = (pol_joint_type)i;
      return POL_OK;
    }
  return POL_BAD_ARGUMENT;
}

int pol_joint_locks_point(const pol_joint *joint)
{
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int num_rows = pol_joint_rows(joint, rows), translations = 0;
  for (int i = 0; i < num_rows; i++) translations += rows[i].kind == POL_ROW_TRANSLATION;
  return translations == 3;
}

int pol_joint_fits_point(const pol_joint *joint)
{
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int num_rows = pol_joint_rows(joint, rows);
  for (int i = 0; i < num_rows; i++)
    if (rows[i].kind != POL_ROW_TRANSLATION && rows[i].kind != POL_ROW_DISTANCE) return 0;
  return 1;
}

/* An axis is aligned when two rows keep it perpendicular to two axes of the other marker: both rows
 * of the last axis of a revolute joint, or three rows in a cycle. */
int poli_joint_aligns(const pol_joint *joint, int axis)
{
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int num_rows = pol_joint_rows(joint, rows), perpendicular = 0;
  for (int i = 0; i < num_rows; i++)
    if (rows[i].kind == POL_ROW_ROTATION && (rows[i].axis == axis || rows[i].other == axis))
      perpendicular++;
  return perpendicular >= 2;
}

void poli_initial_frame(const pol_mechanism *mechanism, int body, poli_frame *frame)
{
  memset(frame, 0, sizeof *frame);
  poli_m3_diagonal(1.0, frame->R);
  if (body == POL_GROUND) return;
  pol_quat_to_matrix(pol_mechanism_body(mechanism, body)->rotation, frame->R);
  poli_v3_copy(pol_mechanism_body(mechanism, body)->position, frame->x);
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* Column `axis` of the marker's rotation: one of its axes, in body axes. */
static void marker_axis(const pol_marker *marker, int axis, double a[3])
{
  double A[9];
  pol_quat_to_matrix(marker->rotation, A);
  for (int i = 0; i < 3; i++) a[i] = A[3 * i + axis];
}

/* The view of these rows' z: the last one if it has the same tau and s, else a new one. */
static poli_view *view_for(poli_joint_kernel *kernel, double tau, const double s[3])
{
  poli_view *last = kernel->num_views ? &kernel->view[kernel->num_views - 1] : NULL;
  if (last && last->tau == tau && memcmp(last->s, s, sizeof last->s) == 0) return last;
  poli_view *view = &kernel->view[kernel->num_views++];
  view->tau = tau;
  poli_v3_copy(s, view->s);
  view->num_rows = 0;
  return view;
}

/* One row a . z - offset, with the axis of the first marker times a sign. */
static poli_view *add_row(poli_joint_kernel *kernel, const pol_marker *first,
                          const pol_marker *second, const pol_joint_row *row, double sign)
{
  int rotation = row->kind == POL_ROW_ROTATION;
  double s[3], a[3];
  marker_axis(first, row->axis, a);
  poli_v3_scale(sign, a, a);
  if (rotation)
    marker_axis(second, row->other, s);
  else
    poli_v3_copy(second->position, s);
  poli_view *view = view_for(kernel, rotation ? 0.0 : 1.0, s);
  poli_v3_copy(first->position, view->point);
  poli_v3_copy(a, view->axis[view->num_rows]);
  view->offset[view->num_rows++] = rotation ? 0.0 : poli_v3_dot(a, first->position);
  return view;
}

void poli_joint_kernel_setup(poli_joint_kernel *kernel, const pol_mechanism *mechanism, int joint)
{
  const pol_joint *j = pol_mechanism_joint(mechanism, joint);
  const pol_marker *first = pol_mechanism_marker(mechanism, j->marker[0]);
  const pol_marker *second = pol_mechanism_marker(mechanism, j->marker[1]);
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  memset(kernel, 0, sizeof *kernel);
  kernel->body[0] = first->body;
  kernel->body[1] = second->body;
  kernel->num_rows = pol_joint_rows(j, rows);
  for (int i = 0; i < kernel->num_rows; i++) {
    const pol_row_kind kind = rows[i].kind;
    kernel->num_slip += kind == POL_ROW_SLIP;
    if (kind == POL_ROW_TWIST) { /* x1.y2 - y1.x2: two views of one row */
      add_row(kernel, first, second, &(pol_joint_row){POL_ROW_ROTATION, 0, 1}, 1.0);
      add_row(kernel, first, second, &(pol_joint_row){POL_ROW_ROTATION, 1, 0}, -1.0)->adds = 1;
    } else if (kind == POL_ROW_DISTANCE || (kind == POL_ROW_TRANSLATION && j->global_axes)) {
      poli_view *view = view_for(kernel, 1.0, second->position);
      poli_v3_copy(first->position, view->point);
      view->distance = kind == POL_ROW_DISTANCE;
      view->global = !view->distance;
      if (view->global) view->axis[view->num_rows][rows[i].axis] = 1.0;
      if (view->distance) view->offset[0] = 0.5 * j->length * j->length;
      view->num_rows++;
    } else {
      add_row(kernel, first, second, &rows[i], 1.0);
    }
  }
  kernel->joins = kernel->num_slip == 0 && kernel->view[0].tau == 1.0 &&
                  kernel->view[0].num_rows == 3 && !kernel->view[0].distance;
  if (kernel->num_slip == 0) return;
  kernel->radius = j->radius;
  kernel->disk = j->type == POL_ROLLING_DISK;
  marker_axis(second, 2, kernel->disk_axis);
}

/* --- values ----------------------------------------------------------------------------------- */

/* out = R (w~)^order s: a vector of a body, or its derivative at constant w */
static void turned_vector(const poli_frame *frame, const double s[3], int order, double out[3])
{
  double local[3], next[3];
  poli_v3_copy(s, local);
  for (int i = 0; i < order; i++) {
    poli_v3_cross(frame->w, local, next);
    poli_v3_copy(next, local);
  }
  poli_m3_apply(frame->R, local, out);
}

/* z of a global view, or its first or second derivative */
static void global_vector(const poli_view *view, const poli_frame *first, const poli_frame *second,
                          int order, double z[3])
{
  double arm1[3], arm2[3];
  turned_vector(first, view->point, order, arm1);
  turned_vector(second, view->s, order, arm2);
  poli_v3_subtract(arm2, arm1, z);
  if (order == 0) poli_v3_add_scaled(1.0, second->x, z);
  if (order == 0) poli_v3_add_scaled(-1.0, first->x, z);
  if (order == 1) poli_v3_add_scaled(1.0, second->u, z);
  if (order == 1) poli_v3_add_scaled(-1.0, first->u, z);
}

/* z as the first body sees it, or in global axes */
static void view_vector(const poli_view *view, const poli_frame *first, const poli_frame *second,
                        double z[3])
{
  double global[3];
  if (view->global) {
    global_vector(view, first, second, 0, z);
    return;
  }
  poli_m3_apply(second->R, view->s, global);
  if (view->tau != 0.0)
    for (int i = 0; i < 3; i++) global[i] += second->x[i] - first->x[i];
  poli_m3_apply_transposed(first->R, global, z);
}

/* R1^T D, D = tau (u2 - u1) + R2 (w2 x s) */
static void view_drift(const poli_view *view, const poli_frame *first, const poli_frame *second,
                       double drift[3])
{
  double spin[3], D[3];
  poli_v3_cross(second->w, view->s, spin);
  poli_m3_apply(second->R, spin, D);
  if (view->tau != 0.0)
    for (int i = 0; i < 3; i++) D[i] += second->u[i] - first->u[i];
  poli_m3_apply_transposed(first->R, D, drift);
}

/* z' */
static void view_rate(const poli_view *view, const poli_frame *first, const poli_frame *second,
                      const double z[3], double rate[3])
{
  if (view->global) {
    global_vector(view, first, second, 1, rate);
    return;
  }
  view_drift(view, first, second, rate);
  poli_v3_add_scaled_cross(-1.0, first->w, z, rate);
}

/* The axis of row k: fixed, or that of the distance. */
static void row_axis(const poli_view *view, int k, const double z[3], double a[3])
{
  if (view->distance)
    poli_v3_subtract(z, view->point, a);
  else
    poli_v3_copy(view->axis[k], a);
}

/* Writes a . y of each row of a view and returns where the next view's rows go. */
static double *project(const poli_view *view, const double z[3], const double y[3], double *out)
{
  for (int k = 0; k < view->num_rows; k++) {
    double a[3];
    row_axis(view, k, z, a);
    if (view->adds)
      out[-1] += poli_v3_dot(a, y);
    else
      *out++ = poli_v3_dot(a, y);
  }
  return out;
}

void poli_joint_position(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, double *phi)
{
  double row[POL_MAX_JOINT_ROWS], *next = row;
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double z[3], *start = next;
    view_vector(view, first, second, z);
    next = project(view, z, z, next);
    for (int k = 0; start + k < next; k++) start[k] -= view->offset[k];
    if (view->distance) {
      double d[3];
      row_axis(view, 0, z, d);
      *start = 0.5 * poli_v3_dot(d, d) - view->offset[0];
    }
  }
  if (kernel->radius > 0.0) row[0] += poli_rolling_height(kernel, first, second);
  memcpy(phi, row, (size_t)(kernel->num_rows - kernel->num_slip) * sizeof *phi);
}

void poli_joint_velocity(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, double *phi_dot)
{
  double *next = phi_dot;
  for (int i = 0; i < kernel->num_views; i++) {
    double z[3], zd[3];
    view_vector(&kernel->view[i], first, second, z);
    view_rate(&kernel->view[i], first, second, z, zd);
    next = project(&kernel->view[i], z, zd, next);
  }
  if (kernel->radius > 0.0) poli_rolling_add_velocity(kernel, first, second, phi_dot);
}

void poli_joint_acceleration(const poli_joint_kernel *kernel, const poli_frame *first,
                             const poli_frame *second, double *phi_ddot)
{
  double *next = phi_ddot;
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double z[3], zd[3], zdd[3];
    view_vector(view, first, second, z);
    if (view->global) {
      global_vector(view, first, second, 2, zdd);
    } else {
      /* R1^T R2 (w2 x (w2 x s)) - w1 x (R1^T D + z') with z' = R1^T D - w1 x z */
      double drift[3], sum[3], turn[3];
      view_drift(view, first, second, drift);
      poli_v3_scale(2.0, drift, sum);
      poli_v3_add_scaled_cross(-1.0, first->w, z, sum);
      turned_vector(second, view->s, 2, turn);
      poli_m3_apply_transposed(first->R, turn, zdd);
      poli_v3_add_scaled_cross(-1.0, first->w, sum, zdd);
    }
    next = project(view, z, zdd, next);
    if (!view->distance) continue;
    view_rate(view, first, second, z, zd);
    next[-1] += poli_v3_dot(zd, zd);
  }
  if (kernel->radius > 0.0) poli_rolling_add_acceleration(kernel, first, second, phi_ddot);
}

/* x = R s, x' = R (w x s) and x'' = R (w' x s + w x (w x s)), a vector of a body */
static inline void vector_motion(const poli_frame *frame, const double s[3], double x[3],
                                 double xd[3], double xdd[3])
{
  double turn[3], bend[3];
  const double wd[3] = {frame->wd[0] + frame->wb[0], frame->wd[1] + frame->wb[1],
                        frame->wd[2] + frame->wb[2]};
  poli_v3_cross(frame->w, s, turn);
  poli_v3_cross(frame->w, turn, bend);
  poli_v3_add_scaled_cross(1.0, wd, s, bend);
  poli_m3_apply(frame->R, s, x);
  poli_m3_apply(frame->R, turn, xd);
  poli_m3_apply(frame->R, bend, xdd);
}

/* z, z' and z'' of a view.  With y_n = R1^T (tau (x2 - x1) + R2 s)^(n) it is
 *
 *     z = y0,   z' = y1 - w1 x z,   z'' = y2 - w1 x (y1 + z') - w1' x z */
static void view_motion(const poli_view *view, const poli_frame *first, const poli_frame *second,
                        double z[3], double zd[3], double zdd[3])
{
  double a[3], ad[3], add[3], b[3], bd[3], bdd[3], sum[3];
  vector_motion(second, view->s, a, ad, add);
  for (int i = 0; i < 3 && view->tau != 0.0; i++) {
    a[i] += second->x[i] - first->x[i];
    ad[i] += second->u[i] - first->u[i];
    add[i] += (second->ud[i] + second->ub[i]) - (first->ud[i] + first->ub[i]);
  }
  if (view->global) {
    vector_motion(first, view->point, b, bd, bdd);
    poli_v3_subtract(a, b, z);
    poli_v3_subtract(ad, bd, zd);
    poli_v3_subtract(add, bdd, zdd);
    return;
  }
  const double wd[3] = {first->wd[0] + first->wb[0], first->wd[1] + first->wb[1],
                        first->wd[2] + first->wb[2]};
  poli_m3_apply_transposed(first->R, a, z);
  poli_m3_apply_transposed(first->R, ad, zd);
  poli_m3_apply_transposed(first->R, add, zdd);
  poli_v3_copy(zd, sum);
  poli_v3_add_scaled_cross(-1.0, first->w, z, zd);
  poli_v3_add(sum, zd, sum);
  poli_v3_add_scaled_cross(-1.0, first->w, sum, zdd);
  poli_v3_add_scaled_cross(-1.0, wd, z, zdd);
}

void poli_joint_motion(const poli_joint_kernel *kernel, const poli_frame *first,
                       const poli_frame *second, double *phi, double *phi_dot, double *phi_ddot)
{
  double *value = phi, *rate = phi_dot, *second_rate = phi_ddot;
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double z[3], zd[3], zdd[3];
    view_motion(view, first, second, z, zd, zdd);
    if (!view->adds && !view->distance) {
      for (int k = 0; k < view->num_rows; k++) {
        *value++ = poli_v3_dot(view->axis[k], z) - view->offset[k];
        *rate++ = poli_v3_dot(view->axis[k], zd);
        *second_rate++ = poli_v3_dot(view->axis[k], zdd);
      }
      continue;
    }
    double *next = project(view, z, z, value);
    rate = project(view, z, zd, rate);
    second_rate = project(view, z, zdd, second_rate);
    for (int k = 0; value + k < next; k++) value[k] -= view->offset[k];
    if (view->distance) {
      double d[3];
      row_axis(view, 0, z, d);
      *value = 0.5 * poli_v3_dot(d, d) - view->offset[0];
      second_rate[-1] += poli_v3_dot(zd, zd);
    }
    value = next;
  }
}

/* mu = sum lambda_k a_k; returns the multipliers of the next view. */
static const double *view_force(const poli_view *view, const double z[3], const double *lambda,
                                double mu[3])
{
  mu[0] = mu[1] = mu[2] = 0.0;
  for (int k = 0; k < view->num_rows; k++) {
    double a[3];
    row_axis(view, k, z, a);
    poli_v3_add_scaled(view->adds ? lambda[-1] : *lambda++, a, mu);
  }
  return lambda;
}

void poli_joint_reaction(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, const double *lambda, double wrench1[6],
                         double wrench2[6])
{
  const double *next = lambda;
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double z[3], mu[3], force[3], mu1[3], mu2[3];
    view_vector(view, first, second, z);
    next = view_force(view, z, next, mu);
    if (view->global) {
      poli_v3_copy(mu, force);
      poli_m3_apply_transposed(first->R, mu, mu1);
      poli_v3_add_scaled_cross(-1.0, view->point, mu1, wrench1);
    } else {
      poli_m3_apply(first->R, mu, force);
      poli_v3_add_scaled_cross(1.0, mu, z, wrench1);
    }
    poli_m3_apply_transposed(second->R, force, mu2);
    poli_v3_add_scaled_cross(1.0, view->s, mu2, wrench2);
    poli_v3_add_scaled(-view->tau, force, wrench1 + 3);
    poli_v3_add_scaled(view->tau, force, wrench2 + 3);
  }
  if (kernel->radius > 0.0)
    poli_rolling_add_reaction(kernel, first, second, lambda, wrench1, wrench2);
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* The rotation columns of R1 p~ and -R2 s~, and of their rates with w x p and w x s for p and s */
static void set_arms(const double R1[9], const double p[3], const double R2[9], const double s[3],
                     double V[3][12])
{
  double skew[9], arm1[9], arm2[9];
  poli_m3_skew(p, skew);
  poli_m3_multiply(R1, skew, arm1);
  poli_m3_skew(s, skew);
  poli_m3_multiply(R2, skew, arm2);
  memset(V, 0, 3 * sizeof *V);
  poli_add_block(arm1, 1.0, 0, 0, V);
  poli_add_block(arm2, -1.0, 0, 6, V);
}

/* V = dz/dq, 3 x 12 */
static void view_gradient(const poli_view *view, const poli_frame *first, const poli_frame *second,
                          const double Q[9], const double z[3], double V[3][12])
{
  double skew_z[9], skew_s[9], Qs[9];
  if (view->global) {
    set_arms(first->R, view->point, second->R, view->s, V);
    for (int i = 0; i < 3; i++) {
      V[i][3 + i] = -1.0;
      V[i][9 + i] = 1.0;
    }
    return;
  }
  poli_m3_skew(z, skew_z);
  poli_m3_skew(view->s, skew_s);
  poli_m3_multiply(Q, skew_s, Qs);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double turned = view->tau * first->R[3 * j + i];
      V[i][j] = skew_z[3 * i + j];
      V[i][3 + j] = -turned;
      V[i][6 + j] = -Qs[3 * i + j];
      V[i][9 + j] = turned;
    }
}

/* out += a^T V */
static void add_gradient(const double a[3], double V[3][12], double out[12])
{
  for (int j = 0; j < 12; j++) out[j] += a[0] * V[0][j] + a[1] * V[1][j] + a[2] * V[2][j];
}

/* Writes a^T V of each row of a view and returns where the next view's rows go. */
static double (*project_rows(const poli_view *view, const double z[3], double V[3][12],
                             double (*out)[12]))[12]
{
  for (int k = 0; k < view->num_rows; k++) {
    double a[3];
    row_axis(view, k, z, a);
    if (!view->adds) memset(*out++, 0, sizeof *out);
    add_gradient(a, V, out[-1]);
  }
  return out;
}

void poli_joint_jacobian(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, double (*B)[12])
{
  double Q[9], (*next)[12] = B;
  poli_m3_multiply_transposed(first->R, second->R, Q);
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double z[3], V[3][12];
    view_vector(view, first, second, z);
    view_gradient(view, first, second, Q, z, V);
    next = project_rows(view, z, V, next);
  }
  if (kernel->radius > 0.0) poli_rolling_add_jacobian(kernel, first, second, B);
}

/* W = dz'/dq = -w1~ dz/dq + ((R1^T D)~, 0, -Q (w2 x s)~, 0), 3 x 12 */
static void view_rate_gradient(const poli_view *view, const poli_frame *first,
                               const poli_frame *second, const double Q[9], double V[3][12],
                               double W[3][12])
{
  double drift[3], spin[3], skew[9], Qspin[9];
  poli_v3_cross(second->w, view->s, spin);
  if (view->global) {
    double spin1[3];
    poli_v3_cross(first->w, view->point, spin1);
    set_arms(first->R, spin1, second->R, spin, W);
    return;
  }
  for (int j = 0; j < 12; j++) {
    double column[3] = {V[0][j], V[1][j], V[2][j]}, turned[3];
    poli_v3_cross(column, first->w, turned);
    for (int r = 0; r < 3; r++) W[r][j] = turned[r];
  }
  view_drift(view, first, second, drift);
  poli_m3_skew(spin, skew);
  poli_m3_multiply(Q, skew, Qspin);
  poli_m3_skew(drift, skew);
  poli_add_block(skew, 1.0, 0, 0, W);
  poli_add_block(Qspin, -1.0, 0, 6, W);
}

void poli_joint_curvature(const poli_joint_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, double (*Z)[12])
{
  double Q[9], (*next)[12] = Z;
  poli_m3_multiply_transposed(first->R, second->R, Q);
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double z[3], V[3][12], W[3][12], rate[3];
    view_vector(view, first, second, z);
    view_gradient(view, first, second, Q, z, V);
    view_rate_gradient(view, first, second, Q, V, W);
    next = project_rows(view, z, W, next);
    if (!view->distance) continue;
    view_rate(view, first, second, z, rate);
    add_gradient(rate, V, next[-1]);
  }
  if (kernel->radius > 0.0) poli_rolling_add_curvature(kernel, first, second, Z);
}

/* Rows of K by the reaction: mu~ dz, tau R1 mu~ dphi1, s~((Q^T mu)~ dphi2 - Q^T mu~ dphi1),
 * -(second). */
static void add_view_stiffness(const poli_view *view, const poli_frame *first,
                               const poli_frame *second, const double Q[9], const double z[3],
                               const double mu[3], double (*K)[12])
{
  double V[3][12], M[9], RM[9], QM[9], mu2[3], M2[9], S[9], S1[9], S2[9];
  view_gradient(view, first, second, Q, z, V);
  poli_m3_skew(mu, M);
  poli_m3_multiply(first->R, M, RM);
  poli_m3_multiply_transposed(Q, M, QM);
  poli_m3_apply_transposed(Q, mu, mu2);
  poli_m3_skew(mu2, M2);
  poli_m3_skew(view->s, S);
  poli_m3_multiply(S, QM, S1);
  poli_m3_multiply(S, M2, S2);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 12; j++)
      K[i][j] += M[3 * i] * V[0][j] + M[3 * i + 1] * V[1][j] + M[3 * i + 2] * V[2][j];
  poli_add_block(RM, view->tau, 3, 0, K);
  poli_add_block(S1, -1.0, 6, 0, K);
  poli_add_block(S2, 1.0, 6, 6, K);
  poli_add_block(RM, -view->tau, 9, 0, K);
}

void poli_joint_stiffness(const poli_joint_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, const double *lambda, double (*K)[12])
{
  double Q[9];
  const double *next = lambda;
  memset(K, 0, 12 * sizeof *K);
  poli_m3_multiply_transposed(first->R, second->R, Q);
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    double z[3], mu[3], V[3][12];
    view_vector(view, first, second, z);
    if (view->distance) { /* K += lambda V^T V: its axis moves */
      view_gradient(view, first, second, Q, z, V);
      for (int r = 0; r < 12; r++)
        for (int j = 0; j < 12; j++)
          K[r][j] += next[0] * (V[0][r] * V[0][j] + V[1][r] * V[1][j] + V[2][r] * V[2][j]);
    }
    next = view_force(view, z, next, mu);
    if (!view->global) add_view_stiffness(view, first, second, Q, z, mu, K);
    for (int b = 0; b < 2 && view->global; b++) {
      /* -p~ (R1^T mu)~ dphi1 and s~ (R2^T mu)~ dphi2 */
      double local[3], skew_arm[9], skew_mu[9], product[9];
      poli_m3_apply_transposed(b ? second->R : first->R, mu, local);
      poli_m3_skew(b ? view->s : view->point, skew_arm);
      poli_m3_skew(local, skew_mu);
      poli_m3_multiply(skew_arm, skew_mu, product);
      poli_add_block(product, b ? 1.0 : -1.0, 6 * b, 6 * b, K);
    }
  }
  if (kernel->radius > 0.0) poli_rolling_add_stiffness(kernel, first, second, lambda, K);
}
