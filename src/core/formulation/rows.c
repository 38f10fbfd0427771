/* Bodies and constraints for splitting methods (dae/rigid_bodies.h): inertia in principal axes, and
 * all constraints with their derivatives in inertial axes, by blocks.  Linear springs and dampers
 * are compliant rows: their elongations are evaluated like constraints.
 *
 *     spring-damper                 |d| - length
 *     spring of length 0, support   the components of d, or those with a spring or damper
 *     joint-spring                  the coordinate less its rest
 *     beam                          the deformations of an element without coupled stiffnesses
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/wide.h"
#include "formulation/formulation.h"
#include "lie/small.h"
#include "mechanism/inertia.h"
#include "mechanism/rolling.h"

/* --- evaluation ------------------------------------------------------------------------------- */

typedef struct places {
  const pol_formulation *f;
  const double *q, *R;
} places;

static poli_pose place_of(const places *p, int body)
{
  const poli_frame *ground = poli_ground_frame();
  if (body == POL_GROUND) return (poli_pose){ground->R, ground->x};
  const poli_body_place *item = &p->f->extension.rigid_bodies.places[body];
  return (poli_pose){p->R + 9 * body, p->q + item->q + (item->is_point ? 0 : 4)};
}

static void set_frames(const places *p, const int body[2], poli_frame frames[2])
{
  for (int i = 0; i < 2; i++) {
    const poli_pose place = place_of(p, body[i]);
    frames[i] = *poli_ground_frame();
    poli_m3_copy(place.R, frames[i].R);
    poli_v3_copy(place.x, frames[i].x);
  }
}

/* Rows for variations in body axes, with 12 numbers, to the blocks of a node in inertial axes. */
static void set_blocks(double (*rows)[12], double scale, const int body[2],
                       const poli_frame frames[2], int num_rows, double *block)
{
  for (int i = 0; i < 2; i++) {
    if (body[i] == POL_GROUND) continue;
    for (int r = 0; r < num_rows; r++, block += 6) {
      poli_m3_apply(frames[i].R, rows[r] + 6 * i, block);
      poli_v3_copy(rows[r] + 6 * i + 3, block + 3);
      for (int k = 0; k < 6; k++) block[k] *= scale;
    }
  }
}

/* The blocks of a node on two bodies, each of which may be the ground. */
static inline void find_blocks(const poli_row_node *node, const int body[2], double *blocks,
                               double *unused, double *B[2])
{
  double *block = blocks + node->block;
  B[0] = body[0] == POL_GROUND ? unused : block;
  B[1] = body[1] == POL_GROUND   ? unused
         : body[0] == POL_GROUND ? block
                                 : block + poli_row_block_size(node);
}

/* Two points that are joined. */
POLI_INLINE void set_points(const places *p, const poli_row_node *node, double *position,
                            double *blocks)
{
  const poli_pose first = place_of(p, node->joined[0]), second = place_of(p, node->joined[1]);
  double unused[3], *r[2], *z = position + node->row;
  find_blocks(node, node->joined, blocks, unused, r);
  double r1[3], r2[3];
  poli_m3_apply(first.R, node->arm[0], r1);
  poli_m3_apply(second.R, node->arm[1], r2);
  for (int i = 0; i < 3; i++) z[i] = (second.x[i] - first.x[i]) + (r2[i] - r1[i]);
  poli_v3_copy(r1, r[0]);
  poli_v3_copy(r2, r[1]);
}

/* Plain rows of a joint, but for points that are joined, with d(phi) = r x U . dphi2 + tau U . dx2
 * + U x y . dphi1 - tau U . dx1, y = tau (x2 - x1) + r. */
POLI_INLINE void set_plain(const places *p, const poli_row_node *node, double *position,
                           double *blocks)
{
  const poli_pose first = place_of(p, node->joined[0]), second = place_of(p, node->joined[1]);
  const int before = node->joins ? 3 : 0, count = node->num_rows - before;
  double unused[6 * POL_MAX_JOINT_ROWS], *B[2], *phi = position + node->row + before;
  const poli_plain_row *rows = node->joins ? node->plain : node->own;
  find_blocks(node, node->joined, blocks, unused, B);
  double *B1 = B[0] + before, *B2 = B[1] + before, r[3] = {0.0}, y[3] = {0.0};
  for (int k = 0; k < count; k++, B1 += 6, B2 += 6) {
    const poli_plain_row *row = &rows[k];
    const double tau = row->tau;
    double U[3];
    poli_m3_apply(first.R, row->U, U);
    if (!row->shares) {
      poli_m3_apply(second.R, row->r, r);
      for (int i = 0; i < 3; i++) y[i] = tau * (second.x[i] - first.x[i]) + r[i];
    }
    phi[k] = poli_v3_dot(U, y) - row->offset;
    poli_v3_cross(U, y, B1);
    poli_v3_cross(r, U, B2);
    poli_v3_scale(-tau, U, B1 + 3);
    poli_v3_scale(tau, U, B2 + 3);
  }
}

/* A joint that does not roll, or a drive at an instant, but for points that are joined. */
static inline void set_joint(const places *p, const poli_joint_kernel *kernel,
                             const poli_row_node *node, double *position, double *blocks)
{
  const poli_pose first = place_of(p, kernel->body[0]), second = place_of(p, kernel->body[1]);
  const int before = node->joins ? 3 : 0;
  double unused[6 * POL_MAX_JOINT_ROWS], *B[2];
  find_blocks(node, kernel->body, blocks, unused, B);
  poli_joint_rows(kernel, node->joins, &first, &second, position + node->row + before,
                  B[0] + before, B[1] + before);
}

static pol_status set_rolling(const places *p, const poli_joint_kernel *kernel, double *position,
                              double *block, double *slip_block)
{
  const int held = kernel->num_rows - kernel->num_slip;
  double rows[POL_MAX_JOINT_ROWS][12];
  poli_frame frames[2];
  set_frames(p, kernel->body, frames);
  if (kernel->disk && !(poli_rolling_tilt(kernel, &frames[0], &frames[1]) >= POLI_ROLLING_FLAT))
    return POL_RETRY;
  poli_joint_position(kernel, &frames[0], &frames[1], position);
  poli_joint_jacobian(kernel, &frames[0], &frames[1], rows);
  set_blocks(rows, 1.0, kernel->body, frames, held, block);
  set_blocks(rows + held, 1.0, kernel->body, frames, kernel->num_slip, slip_block);
  return POL_OK;
}

static pol_status set_coupling(const places *p, const poli_placed_coupling *coupling,
                               const double *history, double *position, double *block)
{
  *position = 0.0;
  for (int i = 0; i < 2; i++) {
    const poli_coordinate_kernel *end = &coupling->kernel.end[i];
    const double factor = coupling->kernel.coupling->factor[i];
    double row[1][12];
    poli_frame frames[2];
    set_frames(p, end->body, frames);
    *position += factor * poli_coupling_deviation(&coupling->kernel, i, &frames[0], &frames[1],
                                                  history ? history[coupling->history + i] : 0.0);
    const pol_status status = poli_coordinate_gradient(end, &frames[0], &frames[1], row[0]);
    if (status) return status;
    set_blocks(row, factor, end->body, frames, 1, block);
    block += 6 * ((end->body[0] != POL_GROUND) + (end->body[1] != POL_GROUND));
  }
  return POL_OK;
}

enum { MOST_AXES = 6 }; /* of a force */

/* Whether the section of a beam has no coupled stiffness and damping, so that each deformation has
 * a spring and a damper of its own. */
static int is_uncoupled(const pol_section *section)
{
  for (int i = 0; i < 36; i++)
    if (i % 7 != 0 && (section->stiffness[i] != 0.0 || section->damping[i] != 0.0)) return 0;
  return 1;
}

/* Whether the spring and damper of a force have a compliant row for this axis; those with one row
 * have that of axis 0.  A damper along d is not smooth where d = 0. */
static int has_compliant_row(const pol_force *force, int axis)
{
  if (force->type == POL_BEAM)
    return is_uncoupled(force->section) &&
           (force->section->stiffness[7 * axis] != 0.0 || force->section->damping[7 * axis] != 0.0);
  if (axis >= 3) return 0;
  const int single = force->stiffness[0] != 0.0 || force->damping[0] != 0.0;
  if (force->type == POL_JOINT_SPRING) return axis == 0 && single;
  if (force->type == POL_JOINT_STOP) return axis == 0 && force->rest_speed > 0.0;
  if (force->type == POL_SUPPORT)
    return force->stiffness[axis] != 0.0 || force->damping[axis] != 0.0;
  if (force->type != POL_SPRING_DAMPER || force->law != POL_LINEAR_SPRING || !single) return 0;
  return force->length > 0.0 ? axis == 0 : force->damping[0] == 0.0;
}

/* A spring on a joint coordinate; a hard stop while the joint rests on it, else its row is zero. */
static pol_status set_joint_spring(const places *p, const poli_placed_force *force,
                                   const double *history, double *elongation, double *block)
{
  const poli_coordinate_kernel *coordinate = &force->spring.coordinate;
  const pol_force *element = force->kernel.force;
  const poli_joint_memory memory = poli_placed_memory(force, &(pol_point){.history = history});
  const int side = poli_joint_law_rests(element, &memory);
  if (element->type == POL_JOINT_STOP && side == 0) {
    const int sides = (coordinate->body[0] != POL_GROUND) + (coordinate->body[1] != POL_GROUND);
    memset(block, 0, 6 * (size_t)sides * sizeof *block);
    *elongation = 0.0;
    return POL_OK;
  }
  double row[1][12];
  poli_frame frames[2];
  set_frames(p, coordinate->body, frames);
  *elongation = poli_coordinate_value(coordinate, &frames[0], &frames[1]);
  if (coordinate->angular) *elongation = poli_angle_unwrap(*elongation, memory.angle);
  *elongation -= side == 0
                     ? element->rest
                     : element->limits[side > 0] - side * memory.preload / element->stiffness[0];
  const pol_status status = poli_coordinate_gradient(coordinate, &frames[0], &frames[1], row[0]);
  set_blocks(row, 1.0, coordinate->body, frames, 1, block);
  return status;
}

static pol_status set_spring(const places *p, const poli_placed_force *force, int axis,
                             double *elongation, double *block)
{
  const poli_force_kernel *kernel = &force->kernel;
  double d[3] = {0.0}, arm[2][3], n[3] = {0.0};
  for (int i = 0; i < 2; i++) {
    const poli_pose place = place_of(p, kernel->body[i]);
    poli_m3_apply(place.R, kernel->point[i], arm[i]);
    for (int k = 0; k < 3; k++) d[k] += (i ? 1.0 : -1.0) * (place.x[k] + arm[i][k]);
  }
  *elongation = d[axis];
  n[axis] = 1.0;
  if (kernel->force->type == POL_SPRING_DAMPER && kernel->force->length > 0.0) {
    const double length = sqrt(poli_v3_dot(d, d));
    if (length == 0.0) return POL_RETRY;
    poli_v3_scale(1.0 / length, d, n);
    *elongation = length - kernel->force->length;
  }
  for (int i = 0; i < 2; i++) {
    if (kernel->body[i] == POL_GROUND) continue;
    poli_v3_cross(arm[i], n, block);
    poli_v3_copy(n, block + 3);
    for (int k = 0; k < 6 && i == 0; k++) block[k] = -block[k];
    block += 6;
  }
  return POL_OK;
}

/* The deformations of a beam element that have a stiffness or damping. */
static pol_status set_beam(const places *p, const poli_placed_force *force,
                           const poli_row_node *node, double *position, double *blocks)
{
  double elongation[MOST_AXES], rows[MOST_AXES][12];
  poli_frame frames[2];
  int count = 0;
  set_frames(p, force->kernel.body, frames);
  const pol_status status =
      poli_beam_rows(&force->kernel.beam, &frames[0], &frames[1], elongation, rows);
  for (int axis = 0; axis < MOST_AXES; axis++) {
    if (!has_compliant_row(force->kernel.force, axis)) continue;
    position[node->row + count] = elongation[axis];
    memmove(rows[count++], rows[axis], sizeof rows[axis]);
  }
  set_blocks(rows, 1.0, force->kernel.body, frames, count, blocks + node->block);
  if (status) position[node->row] = (double)NAN;
  return status;
}

/* The compliant rows, from this node on. */
static pol_status set_compliant(const places *p, const poli_row_node *node, const double *history,
                                double *position, double *blocks)
{
  const pol_formulation *f = p->f;
  pol_status status = POL_OK;
  for (int k = 0; k < f->num_forces && !status; k++) {
    const poli_placed_force *force = &f->forces[k];
    if (force->is_compliant && force->kernel.force->type == POL_BEAM) {
      status = set_beam(p, force, node++, position, blocks);
      continue;
    }
    for (int axis = 0; axis < 3 && force->is_compliant && !status; axis++) {
      if (!has_compliant_row(force->kernel.force, axis)) continue;
      double *elongation = position + node->row, *block = blocks + node->block;
      if (poli_force_is_on_joint(force->kernel.force->type))
        status = set_joint_spring(p, force, history, elongation, block);
      else
        status = set_spring(p, force, axis, elongation, block);
      node++;
    }
  }
  return status;
}

/* Joints of which none rolls. */
typedef struct joint_rows {
  const places *places;
  const poli_row_node *nodes;
  double *position, *blocks;
} joint_rows;

/* Those of joint k behind the points that it joins; not inline, so that it does not slow down
 * joints without. */
static POLI_WIDE __attribute__((noinline)) void set_others(const joint_rows *j, int k)
{
  const poli_row_node *node = &j->nodes[k];
  if (node->joins ? node->plain : node->own)
    set_plain(j->places, node, j->position, j->blocks);
  else
    set_joint(j->places, &j->places->f->joints[k].kernel, node, j->position, j->blocks);
}

static POLI_WIDE void set_joints(int first, int end, void *user)
{
  const joint_rows *j = user;
  for (int k = first; k < end; k++) {
    const poli_row_node *node = &j->nodes[k];
    if (node->joins) set_points(j->places, node, j->position, j->blocks);
    if (!node->joins || node->num_rows > 3) set_others(j, k);
  }
}

/* Rows of all kinds. */
static pol_status evaluate_all(const poli_row_node *nodes, int num_nodes, int threads, double t,
                               const double *q, const double *R, const double *history,
                               double *position, double *blocks, const pol_formulation *f)
{
  const poli_rigid_bodies *bodies = &f->extension.rigid_bodies;
  const poli_row_node *node = nodes;
  const poli_row_node *slip = node + f->num_joints + f->num_drives + f->num_couplings;
  const places p = {f, q, R};
  double failed;
  pol_status status = f->num_drives ? poli_functions_check(f, t, POL_POSITION, &failed) : POL_OK;
  const int others = f->num_drives + f->num_couplings + bodies->num_compliant_nodes;
  const int rolls = bodies->num_nodes > f->num_joints + others; /* there are nodes of slips */
  if (!rolls && !status) {
    joint_rows j = {&p, nodes, position, blocks};
    poli_parallel_ranges(threads, f->num_joints, set_joints, &j);
    node += f->num_joints;
  }
  for (int k = 0; rolls && k < f->num_joints && !status; k++, node++) {
    const poli_joint_kernel *kernel = &f->joints[k].kernel; /* large: hardly ever read */
    if (node->joins) set_points(&p, node, position, blocks);
    if (node->joins && node->num_rows == 3) continue;
    if (node->joins ? node->plain : node->own)
      set_plain(&p, node, position, blocks);
    else if (kernel->radius > 0.0)
      status = set_rolling(&p, kernel, position + node->row, blocks + node->block,
                           blocks + slip++->block);
    else
      set_joint(&p, kernel, node, position, blocks);
  }
  for (int k = 0; k < f->num_drives && !status; k++, node++) {
    poli_joint_kernel now;
    poli_drive_kernels_at(&f->drives[k].kernel, t, 1, &now);
    set_joint(&p, &now, node, position, blocks);
  }
  for (int k = 0; k < f->num_couplings && !status; k++, node++)
    status =
        set_coupling(&p, &f->couplings[k], history, position + node->row, blocks + node->block);
  if (status || !bodies->num_compliant || num_nodes < bodies->num_nodes) return status;
  return set_compliant(&p, nodes + num_nodes - bodies->num_compliant_nodes, history, position,
                       blocks);
}

static pol_status evaluate_rows(const poli_row_node *nodes, int num_nodes, int threads, double t,
                                const double *q, const double *R, const double *history,
                                double *position, double *blocks, void *user)
{
  const pol_formulation *f = user;
  if (f->extension.rigid_bodies.num_nodes > f->num_joints)
    return evaluate_all(nodes, num_nodes, threads, t, q, R, history, position, blocks, f);
  const places p = {f, q, R};
  joint_rows j = {&p, nodes, position, blocks};
  poli_parallel_ranges(threads, num_nodes, set_joints, &j);
  return POL_OK;
}

static void evaluate_joints(const poli_row_node *nodes, int first, int end, const double *q,
                            const double *R, double *position, double *blocks, void *user)
{
  const places p = {user, q, R};
  joint_rows j = {&p, nodes, position, blocks};
  set_joints(first, end, &j);
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* Whether a force, or the rate of a state, may depend on velocities or states. */
static int forces_read_velocities(const pol_formulation *f)
{
  if (f->feedback) return 1; /* reactions depend on velocities */
  for (int k = 0; k < f->num_forces; k++)
    if (!f->forces[k].is_compliant &&
        poli_force_reads_velocities(pol_mechanism_force(f->mechanism, k)))
      return 1;
  for (int i = 0; i < f->network.num_inputs; i++) {
    const poli_signal_kind kind = f->network.inputs[i].kind;
    if (f->network.active[i] &&
        (kind == POLI_SIGNAL_STATE || kind == POLI_SIGNAL_VELOCITY ||
         kind == POLI_SIGNAL_ANGULAR_VELOCITY || kind == POLI_SIGNAL_ANGULAR_VELOCITY_GLOBAL ||
         kind == POLI_SIGNAL_MARKER_VELOCITY || kind == POLI_SIGNAL_RATE))
      return 1;
  }
  return 0;
}

static void set_body(const poli_placed_body *placed, poli_rigid_body *item)
{
  const pol_body *body = placed->body;
  double moments[3], own[9];
  *item = (poli_rigid_body){.q = placed->q,
                            .v = placed->v,
                            .num_axes = 3,
                            .is_point = body->point,
                            .mass = body->mass,
                            .inverse_mass = 1.0 / body->mass};
  if (body->point) return;
  poli_principal_axes(body->inertia, moments, own);
  pol_quat_from_matrix(own, item->principal);
  item->is_principal = item->principal[0] == 1.0;
  poli_free_body_set(&item->free, moments);
  memcpy(item->inertia, body->inertia, sizeof item->inertia);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        item->inverse[3 * i + j] += own[3 * i + k] * own[3 * j + k] / moments[k];
}

static void add_sides(poli_row_node *node, const int body[2])
{
  for (int i = 0; i < 2; i++) {
    if (body[i] == POL_GROUND) continue;
    if (node->joins) node->sign[node->num_sides] = i ? 1 : -1;
    node->body[node->num_sides++] = body[i];
  }
}

/* The axes of its first three rows; those of the body are the same memory for all. */
typedef const double (*row_axes)[3];
static row_axes first_axes(const poli_joint_kernel *kernel)
{
  static const double of_body[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const row_axes axes = kernel->view[0].axis;
  if (kernel->view[0].global) return NULL;
  for (int i = 0; i < 9; i++)
    if (axes[i / 3][i % 3] != of_body[i / 3][i % 3]) return axes;
  return of_body;
}

/* The rows of a joint, and where its plain rows behind those of joined points are: NULL if one is
 * not plain; the same of all rows. */
static void set_plain_rows(const poli_joint_kernel *kernel, poli_plain_row *to, poli_row_node *node)
{
  int others = kernel->radius > 0.0, all = others;
  node->plain = to + (node->joins ? 3 : 0);
  node->own = to;
  for (int i = 0; i < kernel->num_views; i++) {
    const poli_view *view = &kernel->view[i];
    const int special = view->adds || view->distance || view->global;
    all |= special;
    if (i > 0 || !node->joins) others |= special;
    for (int k = 0; k < view->num_rows && !view->adds; k++, to++) {
      poli_v3_copy(view->axis[k], to->U);
      poli_v3_copy(view->s, to->r);
      to->tau = view->tau != 0.0;
      to->shares = k > 0;
      to->offset = view->offset[k];
    }
  }
  if (others) node->plain = NULL;
  if (all) node->own = NULL;
}

/* Joints, drives, couplings and the rows of rolling without slip, in the order of their rows, then
 * compliant rows. */
static pol_status set_nodes(pol_formulation *f, poli_rigid_bodies *to)
{
  size_t most = (size_t)(f->num_joints + f->num_drives + f->num_couplings + to->num_compliant);
  size_t most_plain = 0;
  for (int k = 0; k < f->num_joints; k++) {
    const poli_joint_kernel *kernel = &f->joints[k].kernel;
    most += kernel->num_slip > 0;
    most_plain += (size_t)kernel->num_rows;
  }
  poli_row_node *node = to->nodes = calloc(most + 1, sizeof *to->nodes);
  poli_plain_row *plain = to->plain = calloc(most_plain + 1, sizeof *to->plain);
  if (!node || !plain) return POL_NO_MEMORY;
  for (int k = 0; k < f->num_joints; k++, node++) {
    const poli_joint_kernel *kernel = &f->joints[k].kernel;
    *node = (poli_row_node){.row = f->joints[k].row,
                            .num_rows = kernel->num_rows - kernel->num_slip,
                            .joins = kernel->joins && !to->forces_read_velocities,
                            .joined = {kernel->body[0], kernel->body[1]},
                            .axes = first_axes(kernel)};
    poli_v3_copy(kernel->view[0].point, node->arm[0]);
    poli_v3_copy(kernel->view[0].s, node->arm[1]);
    add_sides(node, kernel->body);
    set_plain_rows(kernel, plain, node);
    plain += kernel->num_rows;
  }
  for (int k = 0; k < f->num_drives; k++, node++) {
    *node = (poli_row_node){.row = f->drives[k].placed.row, .num_rows = 1};
    add_sides(node, f->drives[k].kernel.row.body);
  }
  for (int k = 0; k < f->num_couplings; k++, node++) {
    *node = (poli_row_node){.row = f->couplings[k].row, .num_rows = 1};
    for (int i = 0; i < 2; i++) add_sides(node, f->couplings[k].kernel.end[i].body);
  }
  for (int k = 0; k < f->num_joints; k++) {
    const poli_joint_kernel *kernel = &f->joints[k].kernel;
    if (kernel->num_slip == 0) continue;
    *node = (poli_row_node){.row = f->joints[k].slip_row, .num_rows = kernel->num_slip};
    add_sides(node++, kernel->body);
  }
  poli_compliant_row *compliant = to->compliant;
  const pol_force *last = NULL;
  const int held = pol_dae_num_constraints(&f->dae);
  for (int k = 0; k < MOST_AXES * f->num_forces; k++) {
    const poli_placed_force *placed = &f->forces[k / MOST_AXES];
    const pol_force *force = placed->kernel.force;
    const int axis = k % MOST_AXES, entry = force->type == POL_SUPPORT ? axis : 0;
    const int row = held + (int)(compliant - to->compliant), is_beam = force->type == POL_BEAM;
    if (!placed->is_compliant || !has_compliant_row(force, axis)) continue;
    if (!is_beam || last != force) { /* all rows of a beam element are one node */
      *node = (poli_row_node){.row = row};
      add_sides(node++, placed->kernel.body);
      to->num_compliant_nodes++;
    }
    last = force;
    node[-1].num_rows++;
    *compliant = (poli_compliant_row){force->name, force->stiffness[entry], force->damping[entry],
                                      (int)(node - 1 - to->nodes)};
    if (is_beam) {
      compliant->stiffness = force->section->stiffness[7 * axis] / force->length;
      compliant->damping = force->section->damping[7 * axis] / force->length;
    }
    compliant++;
  }
  to->num_nodes = (int)(node - to->nodes);
  for (int n = 0; n < to->num_nodes; n++) {
    to->nodes[n].block = to->num_blocks;
    to->num_blocks += poli_row_block_size(&to->nodes[n]) * to->nodes[n].num_sides;
  }
  return POL_OK;
}

/* Decides which forces are compliant rows; the rest of them may be weights alone. */
static pol_status find_compliant(pol_formulation *f, poli_rigid_bodies *to)
{
  to->has_weight_only = f->dae.num_states == 0;
  for (int k = 0; k < f->num_forces; k++) {
    const pol_force *force = f->forces[k].kernel.force;
    int count = 0;
    for (int axis = 0; axis < MOST_AXES; axis++) count += has_compliant_row(force, axis);
    f->forces[k].is_compliant = count > 0;
    to->num_compliant += count;
    if (count == 0 || force->actuator != 0.0 || force->expressions[0] || force->rest_speed > 0.0)
      to->has_weight_only = 0;
  }
  to->compliant = calloc((size_t)to->num_compliant + 1, sizeof *to->compliant);
  return to->compliant ? POL_OK : POL_NO_MEMORY;
}

static const char *force_name(int k, void *user)
{
  const pol_formulation *f = user;
  return f->forces[k].kernel.force->name;
}

pol_status poli_formulation_set_rigid_bodies(pol_formulation *f)
{
  poli_rigid_bodies *to = &f->extension.rigid_bodies;
  to->spatial = f->kind == POL_SO3XR3_SPATIAL;
  to->items = calloc((size_t)f->num_bodies + 1, sizeof *to->items);
  to->places = calloc((size_t)f->num_bodies + 1, sizeof *to->places);
  if (!to->items || !to->places || find_compliant(f, to)) return POL_NO_MEMORY;
  for (int b = 0; b < f->num_bodies; b++) set_body(&f->bodies[b], &to->items[to->count++]);
  if (f->dae.num_states)
    to->items[to->count++] = (poli_rigid_body){.q = f->state_q,
                                               .v = f->state_v,
                                               .num_axes = f->dae.num_states,
                                               .is_point = 1,
                                               .mass = 1.0,
                                               .inverse_mass = 1.0};
  for (int b = 0; b < to->count; b++)
    to->places[b] = (poli_body_place){to->items[b].q, to->items[b].v, to->items[b].is_point};
  for (int k = 0; k < 2 * f->num_turns; k++) {
    const int body = f->turns[k / 2].body[k % 2];
    if (body != POL_GROUND && !to->items[body].is_point)
      f->turns[k / 2].q[k % 2] = to->items[body].q;
  }
  to->forces_read_velocities = forces_read_velocities(f);
  to->num_forces = f->num_forces;
  to->force_name = force_name;
  to->num_soft_stops = f->num_soft_stops;
  to->soft_stop = poli_formulation_soft_stop;
  poli_v3_copy(f->gravity, to->gravity);
  to->constraints_move = f->num_drives > 0;
  to->constraints = evaluate_rows;
  f->dae.extension = &f->extension;
  const pol_status status = set_nodes(f, to);
  if (to->num_nodes == f->num_joints) to->joints = evaluate_joints;
  return status;
}
