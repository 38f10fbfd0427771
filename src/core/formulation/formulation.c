/* Builds the equations of a mechanism in the coordinates of a chart: group, sparsity patterns, and
 * the addresses that every element adds into.  evaluate.c computes the terms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formulation/attached.h"
#include "formulation/expressions.h"
#include "formulation/formulation.h"
#include "formulation/step_equations.h"
#include "lie/small.h"
#include "mechanism/builder.h"
#include "mechanism/flexible.h"
#include "mechanism/inertia.h"
#include "mechanism/rolling.h"

poli_slot poli_slot_at(const pol_pattern *pattern, int row, int col)
{
  return (poli_slot){.address = pol_pattern_address(pattern, row, col),
                     .stride = pattern->start[col + 1] - pattern->start[col]};
}

/* --- what a formulation can express ----------------------------------------------------------- */

/* The marker of `body` in a spherical joint to the ground, or NULL for any other joint. */
static const pol_marker *fixed_point(const pol_mechanism *mechanism, int joint, int body)
{
  const pol_joint *j = pol_mechanism_joint(mechanism, joint);
  const pol_marker *first = pol_mechanism_marker(mechanism, j->marker[0]);
  const pol_marker *second = pol_mechanism_marker(mechanism, j->marker[1]);
  if (j->type != POL_SPHERICAL) return NULL;
  if (first->body == POL_GROUND && second->body == body) return second;
  if (second->body == POL_GROUND && first->body == body) return first;
  return NULL;
}

/* The first joint that holds a point of the rigid body fixed, or -1. */
static int pivot_joint(const pol_mechanism *mechanism, int body)
{
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++)
    if (fixed_point(mechanism, k, body)) return k;
  return -1;
}

/* Whether a marker's point cannot move in so3: on the ground, or where its body turns. */
static int is_still(const pol_mechanism *mechanism, int marker)
{
  const pol_marker *m = pol_mechanism_marker(mechanism, marker);
  if (m->body == POL_GROUND) return 1;
  if (pol_mechanism_body(mechanism, m->body)->point) return 0;
  const double *pivot = fixed_point(mechanism, pivot_joint(mechanism, m->body), m->body)->position;
  double apart = 0.0, size = 0.0;
  for (int i = 0; i < 3; i++) {
    apart = fmax(apart, fabs(m->position[i] - pivot[i]));
    size = fmax(size, fabs(pivot[i]));
  }
  return apart <= 1e-9 * size;
}

/* Whether a joint locks translations between points that cannot move in so3, such as another joint
 * at the place of a pivot.  Its rows of B would be round-off. */
static int locks_nothing(const pol_mechanism *mechanism, int joint)
{
  const pol_joint *j = pol_mechanism_joint(mechanism, joint);
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int translations = 0;
  for (int k = pol_joint_rows(j, rows); k > 0; k--)
    translations += rows[k - 1].kind == POL_ROW_TRANSLATION || rows[k - 1].kind == POL_ROW_DISTANCE;
  if (translations == 0 || !is_still(mechanism, j->marker[0]) || !is_still(mechanism, j->marker[1]))
    return 0;
  for (int end = 0; end < 2; end++) {
    const int body = pol_mechanism_marker(mechanism, j->marker[end])->body;
    if (body != POL_GROUND && pivot_joint(mechanism, body) == joint)
      return 0; /* the pivot itself */
  }
  return 1;
}

/* Whether the expressions are right, and the formulation has all that they read. */
static pol_status support_expressions(const pol_mechanism *mechanism, pol_formulation_kind kind,
                                      char *message, size_t size)
{
  poli_network network;
  pol_status status = poli_network_create(&network, mechanism, message, size);
  for (int i = 0; i < network.num_inputs && !status && kind == POL_SO3_PIVOT; i++) {
    const poli_signal *signal = &network.inputs[i];
    int eliminated = 0; /* into the coordinates of a body */
    for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++)
      eliminated |=
          !pol_mechanism_body(mechanism, b)->point && pivot_joint(mechanism, b) == signal->object;
    if (!poli_signal_is_reaction(signal) || !eliminated) continue;
    snprintf(message, size,
             "so3 has no multipliers for joint '%s', whose reaction an expression reads",
             pol_mechanism_joint(mechanism, signal->object)->name);
    status = POL_BAD_ARGUMENT;
  }
  poli_network_free(&network);
  return status;
}

/* How many coordinates of a joint have a reflected inertia. */
static int has_armature(const pol_joint *joint)
{
  int count = 0;
  for (int i = 0; joint->axes && i < pol_joint_num_coordinates(joint); i++)
    count += joint->axes[i].armature > 0.0;
  return count;
}

pol_status pol_formulation_supports(const pol_mechanism *mechanism, pol_formulation_kind kind,
                                    char *message, size_t size)
{
  if (size) message[0] = '\0';
  const pol_status complete = poli_mechanism_status(mechanism);
  if (complete == POL_BAD_ARGUMENT)
    pol_error_text(&pol_mechanism_errors(mechanism)->items[0], message, size);
  if (complete) return complete;
  if (!poli_chart_of(kind) || pol_mechanism_num_bodies(mechanism) == 0) {
    snprintf(message, size, "%s",
             poli_chart_of(kind) ? "the mechanism has no body" : "the formulation is unknown");
    return POL_BAD_ARGUMENT;
  }
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    const poli_chart *chart = poli_chart_of_body(kind, body);
    if (body->flexible && (kind == POL_SO3_PIVOT || kind == POL_DIRECTORS)) {
      snprintf(message, size, "%s does not support flexible bodies, such as '%s'",
               pol_formulation_name(kind), body->flexible->name);
      return POL_BAD_ARGUMENT;
    }
    if (kind == POL_SO3_PIVOT && !body->point && pivot_joint(mechanism, b) < 0) {
      snprintf(message, size, "so3 needs a spherical joint to the ground for body '%s'",
               body->name);
      return POL_BAD_ARGUMENT;
    }
    double q[POLI_MAX_COORDINATES], v[POLI_MAX_COORDINATES];
    char text[128];
    chart->coordinates(body, q, v);
    if (chart->singular && chart->singular(q, text, sizeof text)) {
      snprintf(message, size, "body '%s' starts in %s", body->name, text);
      return POL_BAD_ARGUMENT;
    }
  }
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const char *name = pol_mechanism_joint(mechanism, k)->name;
    poli_joint_kernel kernel;
    poli_frame frames[2];
    poli_joint_kernel_setup(&kernel, mechanism, k);
    for (int i = 0; i < 2; i++) poli_initial_frame(mechanism, kernel.body[i], &frames[i]);
    if (kind == POL_DIRECTORS && kernel.radius > 0.0) /* constraints must be quadratic in them */
      snprintf(message, size, "directors do not support rolling, as in joint '%s'", name);
    else if (kind == POL_SO3_PIVOT && locks_nothing(mechanism, k))
      snprintf(
          message, size,
          "joint '%s' locks points that are already fixed by the coordinates of so3: remove it",
          name);
    else if (kernel.disk && poli_rolling_tilt(&kernel, &frames[0], &frames[1]) < POLI_ROLLING_FLAT)
      snprintf(message, size, "joint '%s': the disk starts flat on its plane", name);
    else
      continue;
    return POL_BAD_ARGUMENT;
  }
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    /* directors have a constant mass, and so3 computes the reactions of its pivots without them */
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    if ((kind != POL_DIRECTORS && kind != POL_SO3_PIVOT) || !has_armature(joint)) continue;
    snprintf(message, size, "%s does not support an armature, as of joint '%s'",
             pol_formulation_name(kind), joint->name);
    return POL_BAD_ARGUMENT;
  }
  if (kind == POL_DIRECTORS && pol_mechanism_num_couplings(mechanism) > 0) {
    snprintf(message, size, "directors do not support couplings, such as '%s'",
             pol_mechanism_coupling(mechanism, 0)->name);
    return POL_BAD_ARGUMENT;
  }
  return support_expressions(mechanism, kind, message, size);
}

/* --- construction ----------------------------------------------------------------------------- */

/* Joints first, then drives: their blocks are alike. */
static poli_placed_joint *element(const pol_formulation *f, int k)
{
  return k < f->num_joints ? &f->joints[k] : &f->drives[k - f->num_joints].placed;
}

/* Rows that hold for positions. */
static int held_rows(const poli_placed_joint *joint)
{
  return joint->kernel.num_rows - joint->kernel.num_slip;
}

/* so3: the joints that hold a point fixed become the bodies' pivots and have no rows. */
static void eliminate_pivots(pol_formulation *f)
{
  for (int b = 0; b < f->num_bodies; b++) {
    if (f->bodies[b].body->point) continue;
    int k = pivot_joint(f->mechanism, b);
    const pol_joint *joint = pol_mechanism_joint(f->mechanism, k);
    const pol_marker *on_body = fixed_point(f->mechanism, k, b);
    int other = pol_mechanism_marker(f->mechanism, joint->marker[0]) == on_body;
    poli_v3_copy(on_body->position, f->bodies[b].place.arm);
    poli_v3_copy(pol_mechanism_marker(f->mechanism, joint->marker[other])->position,
                 f->bodies[b].place.pivot);
    f->joints[k].row = -1;
  }
}

/* Room for the maps of a frame of a flexible body, and for the forces on its modes. */
static void place_attached(pol_formulation *f, int b)
{
  poli_placed_body *body = &f->bodies[b];
  body->maps = f->num_attached;
  f->num_attached += poli_attached_size(body->chart);
  if (body->reference == b) f->num_attached += (size_t)body->chart->num_modes;
}

/* Sets the kernels up and numbers coordinates, constraints and histories: those of couplings follow
 * the angles of all joints, non-holonomic rows stand below all others. */
static void number(pol_formulation *f)
{
  int row = 0, q = 0, v = 0;
  for (int k = 0; k < f->num_joints; k++) {
    poli_joint_kernel_setup(&f->joints[k].kernel, f->mechanism, k);
    f->has_disks |= f->joints[k].kernel.disk != 0;
  }
  for (int k = 0; k < f->num_forces; k++)
    poli_force_kernel_setup(&f->forces[k].kernel, f->mechanism, k);
  for (int k = 0; k < f->num_drives; k++) {
    poli_drive_kernel_setup(&f->drives[k].kernel, f->mechanism, k);
    f->drives[k].placed.kernel = f->drives[k].kernel.row;
  }
  if (f->kind == POL_SO3_PIVOT) eliminate_pivots(f);
  for (int k = 0; k < f->num_joints + f->num_drives; k++) {
    poli_placed_joint *placed = element(f, k);
    if (placed->row < 0) continue;
    placed->row = row;
    row += held_rows(placed);
  }
  poli_formulation_place_coordinates(f);
  for (int k = 0; k < f->num_joints; k++) {
    const pol_joint *joint = pol_mechanism_joint(f->mechanism, k);
    for (int i = 0; joint->axes && i < pol_joint_num_coordinates(joint); i++) {
      if (!(joint->axes[i].armature > 0.0)) continue;
      poli_placed_armature *placed = &f->armatures[f->num_armatures++];
      placed->joint = &f->joints[k];
      poli_armature_setup(&placed->kernel, f->mechanism, k, i);
      snprintf(f->not_rigid_bodies, sizeof f->not_rigid_bodies,
               "the method needs bodies with masses of their own; joint '%.100s' has an armature",
               joint->name);
    }
  }
  for (int k = 0; k < f->num_couplings; k++) {
    poli_coupling_kernel_setup(&f->couplings[k].kernel, f->mechanism, k);
    f->couplings[k].row = row++;
    f->couplings[k].history = (int)f->dae.history_size;
    f->dae.history_size += 2;
  }
  for (int b = 0; b < f->num_bodies; b++) {
    poli_placed_body *body = &f->bodies[b];
    if (body->chart->num_modes > 0) place_attached(f, b);
    if (body->reference != b) {
      body->q = f->bodies[body->reference].q;
      body->v = f->bodies[body->reference].v;
      body->internal_row = -1;
      continue;
    }
    body->q = q;
    body->v = v;
    q += body->chart->nq;
    v += body->chart->dim;
    body->internal_row = body->chart->num_internal ? row : -1;
    row += body->chart->num_internal;
    f->dae.num_internal += body->chart->num_internal;
    /* directors and Euler parameters are numbers */
    if (body->chart->num_internal) memset(f->pure + body->v, 1, (size_t)body->chart->num_rotations);
  }
  f->dae.num_holonomic = row;
  f->state_q = q;
  f->state_v = v;
  for (int k = 0; k < f->num_joints; k++) {
    f->joints[k].slip_row = row;
    row += f->joints[k].kernel.num_slip;
  }
  f->dae.num_nonholonomic = row - f->dae.num_holonomic;
}

int poli_placed_multipliers(const poli_placed_joint *joint, const double *lambda,
                            double own[POL_MAX_JOINT_ROWS])
{
  int held = held_rows(joint), slip = joint->kernel.num_slip;
  if (joint->row < 0) return 0;
  for (int i = 0; i < held; i++) own[i] = lambda[joint->row + i];
  for (int i = 0; i < slip; i++) own[held + i] = lambda[joint->slip_row + i];
  return held + slip;
}

/* A walk over the blocks of all elements: lists them, or looks up where they are. */
enum { COUPLING, CONSTRAINT };
typedef struct block_walk {
  const pol_pattern *pattern[2];
  pol_block *blocks[2]; /* NULL: looks up */
  int count[2];
} block_walk;

/* These rows, and the columns of a body. */
static void visit(block_walk *w, int matrix, int row, int rows, const poli_placed_body *body,
                  poli_slot *slot)
{
  if (w->blocks[matrix])
    w->blocks[matrix][w->count[matrix]++] = (pol_block){row, body->v, rows, body->chart->dim};
  else
    *slot = poli_slot_at(w->pattern[matrix], row, body->v);
}

/* What couples two bodies, without the ground; blocks on the diagonal are listed with the bodies.
 */
static void visit_pair(const pol_formulation *f, block_walk *w, const int body[2],
                       poli_slot coupling[2][2])
{
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      if (body[i] == POL_GROUND || body[j] == POL_GROUND || (i == j && w->blocks[COUPLING]))
        continue;
      const poli_placed_body *row = &f->bodies[body[i]];
      visit(w, COUPLING, row->v, row->chart->dim, &f->bodies[body[j]], &coupling[i][j]);
    }
}

static void visit_blocks(pol_formulation *f, block_walk *w)
{
  for (int b = 0; b < f->num_bodies; b++) {
    poli_placed_body *body = &f->bodies[b];
    if (w->blocks[COUPLING] && body->reference != b) continue;
    visit(w, COUPLING, body->v, body->chart->dim, body, &body->diagonal);
    if (body->internal_row >= 0)
      visit(w, CONSTRAINT, body->internal_row, body->chart->num_internal, body, &body->internal);
  }
  for (int k = 0; k < f->num_joints + f->num_drives; k++) {
    poli_placed_joint *joint = element(f, k);
    if (joint->row < 0) continue;
    for (int i = 0; i < 2; i++) {
      if (joint->kernel.body[i] == POL_GROUND) continue;
      const poli_placed_body *body = &f->bodies[joint->kernel.body[i]];
      visit(w, CONSTRAINT, joint->row, held_rows(joint), body, &joint->jacobian[i]);
      if (joint->kernel.num_slip > 0)
        visit(w, CONSTRAINT, joint->slip_row, joint->kernel.num_slip, body, &joint->slip[i]);
    }
    visit_pair(f, w, joint->kernel.body, joint->coupling);
  }
  for (int k = 0; k < f->num_forces; k++)
    visit_pair(f, w, f->forces[k].kernel.body, f->forces[k].coupling);
  for (int k = 0; k < 2 * f->num_couplings; k++) {
    poli_placed_coupling *coupling = &f->couplings[k / 2];
    const int *body = coupling->kernel.end[k % 2].body;
    visit_pair(f, w, body, coupling->end[k % 2].coupling);
    for (int i = 0; i < 2; i++)
      if (body[i] != POL_GROUND)
        visit(w, CONSTRAINT, coupling->row, 1, &f->bodies[body[i]],
              &coupling->end[k % 2].jacobian[i]);
  }
}

/* The patterns, of the blocks of each body, of each pair of bodies that share a joint, a drive or a
 * force, and of what expressions read; and where each element's blocks are. */
static pol_status build_patterns(pol_formulation *f)
{
  int nv = f->dae.group.nv, m = pol_dae_num_constraints(&f->dae);
  size_t bodies = (size_t)f->num_bodies, joints = (size_t)(f->num_joints + f->num_drives);
  size_t ends = 2 * (size_t)f->num_couplings, pairs = joints + (size_t)f->num_forces + ends;
  pol_block *coupling =
      calloc(bodies + 2 * pairs + poli_expressions_max_blocks(f) + 1, sizeof *coupling);
  pol_block *constraint = calloc(bodies + 4 * joints + 2 * ends + 1, sizeof *constraint);
  pol_status status = coupling && constraint ? POL_OK : POL_NO_MEMORY;
  if (!status) {
    block_walk list = {.blocks = {coupling, constraint}};
    visit_blocks(f, &list);
    int count = poli_expressions_coupling(f, list.count[COUPLING], coupling);
    status = pol_pattern_create(&f->coupling, nv, nv, count, coupling);
    if (!status)
      status = pol_pattern_create(&f->constraint, m, nv, list.count[CONSTRAINT], constraint);
    if (!status) status = poli_expressions_feedback(f);
  }
  free(coupling);
  free(constraint);
  if (status) return status;
  block_walk places = {.pattern = {f->coupling, f->constraint}};
  visit_blocks(f, &places);
  poli_formulation_place_expressions(f);
  return POL_OK;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char axes[] = "xyz";

/* "body 'top', torque x"; coordinates that are not the frame's own carry numbers. */
static void describe_balance(const pol_formulation *f, int equation, char *text, size_t size)
{
  const poli_placed_body *body = f->bodies;
  if (equation >= f->state_v) {
    snprintf(text, size, "state '%s'",
             pol_mechanism_state(f->mechanism, equation - f->state_v)->name);
    return;
  }
  int low = 0, high = f->num_bodies;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    *(f->bodies[middle].v <= equation ? &low : &high) = middle;
  }
  body = &f->bodies[f->bodies[low].reference];
  const char *name = body->body->name;
  int component = equation - body->v, rotations = body->chart->num_rotations;
  const int mode = component - (body->chart->dim - body->chart->num_modes);
  if (body->chart->num_modes && mode >= 0)
    snprintf(text, size, "body '%s', mode %d", name, mode + 1);
  else if (component >= rotations)
    snprintf(text, size, "body '%s', force %c", name, axes[component - rotations]);
  else if (rotations == 3)
    snprintf(text, size, "body '%s', torque %c", name, axes[component]);
  else if (body->chart->polynomial)
    snprintf(text, size, "body '%s', force %c on director %d", name, axes[component % 3],
             component / 3 + 1);
  else
    snprintf(text, size, "body '%s', torque on Euler parameter %d", name, component);
}

/* Names a constraint if it is a row of the joint. */
static void describe_joint(const pol_formulation *f, int k, int constraint, char *text, size_t size)
{
  static const char *const kinds[] = {
      [POL_ROW_TRANSLATION] = "translation", [POL_ROW_ROTATION] = "rotation",
      [POL_ROW_DISTANCE] = "distance",       [POL_ROW_TWIST] = "twist",
      [POL_ROW_HEIGHT] = "height",           [POL_ROW_SLIP] = "slip"};
  const poli_placed_joint *placed = &f->joints[k];
  const pol_joint *joint = pol_mechanism_joint(f->mechanism, k);
  const int held = held_rows(placed), slip = constraint - placed->slip_row;
  int row = constraint - placed->row;
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  if (slip >= 0 && slip < placed->kernel.num_slip)
    row = held + slip;
  else if (row < 0 || row >= held)
    return;
  if (placed->row < 0) return;
  pol_joint_rows(joint, rows);
  const pol_row_kind kind = rows[row].kind;
  const char axis = axes[rows[row].axis];
  if (kind == POL_ROW_ROTATION)
    snprintf(text, size, "joint '%s', rotation (axis %c against %c)", joint->name, axis,
             axes[rows[row].other]);
  else if (kind == POL_ROW_TRANSLATION || kind == POL_ROW_SLIP)
    snprintf(text, size, "joint '%s', %s %c", joint->name, kinds[kind], axis);
  else
    snprintf(text, size, "joint '%s', %s", joint->name, kinds[kind]);
}

static void describe(int equation, char *text, size_t size, void *user)
{
  static const char *const directors[] = {"length of director 1", "length of director 2",
                                          "length of director 3", "directors 1 and 2",
                                          "directors 1 and 3",    "directors 2 and 3"};
  const pol_formulation *f = user;
  int nv = f->dae.group.nv;
  if (equation < nv) {
    describe_balance(f, equation, text, size);
    return;
  }
  for (int b = 0; b < f->num_bodies; b++) {
    const poli_placed_body *body = &f->bodies[b];
    const int own = equation - nv - body->internal_row;
    if (body->internal_row < 0 || own < 0 || own >= body->chart->num_internal) continue;
    snprintf(text, size, "body '%s', %s", body->body->name,
             body->chart->polynomial ? directors[own] : "unit length of the Euler parameters");
  }
  for (int k = 0; k < f->num_drives; k++)
    if (f->drives[k].placed.row == equation - nv)
      snprintf(text, size, "drive '%s'", f->drives[k].kernel.drive->name);
  for (int k = 0; k < f->num_couplings; k++)
    if (f->couplings[k].row == equation - nv)
      snprintf(text, size, "coupling '%s'", f->couplings[k].kernel.coupling->name);
  /* the rows of joints ascend, unless some have none: the last joint that starts at or before it */
  int low = 0, high = f->num_joints;
  const int ascend = equation - nv < f->dae.num_holonomic && f->kind != POL_SO3_PIVOT;
  while (ascend && high - low > 1) {
    const int middle = low + (high - low) / 2;
    *(f->joints[middle].row <= equation - nv ? &low : &high) = middle;
  }
  /* a joint without rows of this kind starts where the next one does */
  while (ascend && low > 0 && f->joints[low - 1].row == f->joints[low].row) low--;
  for (int k = low; k < (ascend ? high : f->num_joints); k++)
    describe_joint(f, k, equation - nv, text, size);
}

/* Names the body whose coordinates, or the disk whose attitude, are nearest to a singularity. */
static int singular(const double *q, char *text, size_t size, void *user)
{
  const pol_formulation *f = user;
  int worst = 0;
  for (int b = 0; b < f->num_bodies; b++) {
    const poli_placed_body *body = &f->bodies[b];
    char what[96];
    if (!body->chart->singular) continue;
    int found = body->chart->singular(q + body->q, what, sizeof what);
    if (found <= worst) continue;
    worst = found;
    snprintf(text, size, "body '%s' is in %s, which does not occur in formulations such as so3xr3",
             body->body->name, what);
  }
  for (int k = 0; k < f->num_joints; k++) {
    const poli_joint_kernel *kernel = &f->joints[k].kernel;
    poli_frame frames[2];
    if (!kernel->disk) continue;
    poli_formulation_frames(f, q, NULL, kernel->body, frames);
    double tilt = poli_rolling_tilt(kernel, &frames[0], &frames[1]);
    int found = tilt < POLI_ROLLING_FLAT          ? POL_AT_SINGULARITY
                : tilt < 10.0 * POLI_ROLLING_FLAT ? POL_NEAR_SINGULARITY
                                                  : 0;
    if (found <= worst) continue;
    worst = found;
    snprintf(
        text, size,
        "joint '%s': the disk lies flat on its plane (%.2f degrees), where it has no lowest point",
        pol_mechanism_joint(f->mechanism, k)->name, tilt * 57.29577951308232);
  }
  return worst;
}

/* --- history ---------------------------------------------------------------------------------- */

/* The angles of joints, and the deviations of couplings with all turns; the numbers of translations
 * are not used. */
static void update_history(double t, const double *q, double *history, void *user)
{
  const pol_formulation *f = user;
  poli_formulation_update_joint_history(t, q, history, user);
  for (int k = 0; k < 2 * f->num_couplings; k++) {
    const poli_coupling_kernel *kernel = &f->couplings[k / 2].kernel;
    double *own = &history[f->couplings[k / 2].history + k % 2];
    poli_frame frames[2];
    poli_formulation_frames(f, q, NULL, kernel->end[k % 2].body, frames);
    *own = poli_coupling_deviation(kernel, k % 2, &frames[0], &frames[1], *own);
  }
}

/* --- life cycle ------------------------------------------------------------------------------- */

/* The chart that all frames of a flexible body share. */
static void choose_attached_chart(pol_formulation *f, int b)
{
  poli_placed_body *placed = &f->bodies[b];
  const pol_flexible_body *body = placed->body->flexible;
  placed->place.base = placed->chart;
  placed->place.flexible = body;
  if (placed->reference != b) {
    placed->chart = f->bodies[placed->reference].chart;
    placed->place.interface = &body->interfaces[placed->body->interface - 1];
    return;
  }
  poli_chart *chart = &f->charts[f->num_flexible++];
  *chart = poli_attached_chart(placed->chart, body);
  placed->chart = chart;
  snprintf(f->not_rigid_bodies, sizeof f->not_rigid_bodies,
           "the method needs rigid bodies and point masses; body '%.100s' is flexible", body->name);
}

/* The bodies' charts and the group that their factors make, with one for all states. */
static pol_status choose_charts(pol_formulation *f)
{
  int num_factors = 0;
  f->dae.constant_mass = 1;
  f->widest = 6;
  for (int b = 0; b < f->num_bodies; b++) {
    poli_placed_body *placed = &f->bodies[b];
    placed->body = pol_mechanism_body(f->mechanism, b);
    placed->chart = poli_chart_of_body(f->kind, placed->body);
    placed->reference = poli_flexible_parent(placed->body, b);
    if (placed->body->flexible) choose_attached_chart(f, b);
    const poli_chart *chart = placed->chart;
    f->mapped |= !chart->direct;
    if (chart->dim > f->widest) f->widest = chart->dim;
    if (placed->reference != b) continue;
    const int reals = chart->dim - chart->factor_dim;
    f->factors[num_factors++] = (pol_factor){.kind = chart->kind, .dim = chart->factor_dim};
    if (reals) f->factors[num_factors++] = (pol_factor){.kind = POL_REAL, .dim = reals};
    f->dae.constant_mass = f->dae.constant_mass && (chart->polynomial || !chart->num_rotations);
  }
  f->dae.num_states = pol_mechanism_num_states(f->mechanism);
  if (f->dae.num_states)
    f->factors[num_factors++] = (pol_factor){.kind = POL_REAL, .dim = f->dae.num_states};
  return pol_group_layout(&f->dae.group, f->factors, num_factors);
}

static double largest_of(double length, const double position[3])
{
  for (int i = 0; i < 3; i++) length = fmax(length, fabs(position[i]));
  return length;
}

/* The size of a mechanism, for the round-off of its positions: the largest coordinate of a body's
 * centre of mass or of a marker in its body's axes, or the largest radius of gyration, since a free
 * body at the origin has nothing else.  0, unknown, where rotations are angles in R^n: it would not
 * be known which of the coordinates are lengths. */
static double find_length(const pol_mechanism *mechanism, const pol_dae *dae)
{
  double length = 0.0;
  int rigid = 0, rotations = 0;
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++)
    rigid += !pol_mechanism_body(mechanism, b)->point &&
             pol_mechanism_body(mechanism, b)->interface == 0;
  for (int i = 0; i < dae->group.num_factors; i++)
    rotations += dae->group.factors[i].kind != POL_REAL;
  if (!dae->pure && rotations < rigid) return 0.0;
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    const double *J = body->inertia;
    length = largest_of(length, body->position);
    if (body->mass > 0.0) length = fmax(length, sqrt(0.5 * (J[0] + J[4] + J[8]) / body->mass));
  }
  for (int k = 0; k < pol_mechanism_num_markers(mechanism); k++)
    length = largest_of(length, pol_mechanism_marker(mechanism, k)->position);
  return length;
}

static pol_status build(pol_formulation *f)
{
  f->num_bodies = pol_mechanism_num_bodies(f->mechanism);
  f->num_joints = pol_mechanism_num_joints(f->mechanism);
  f->num_forces = pol_mechanism_num_forces(f->mechanism);
  f->num_drives = pol_mechanism_num_drives(f->mechanism);
  f->num_couplings = pol_mechanism_num_couplings(f->mechanism);
  pol_mechanism_gravity(f->mechanism, f->gravity);
  f->num_coordinates = 0;
  int armatures = 0;
  for (int k = 0; k < f->num_joints; k++) {
    f->num_coordinates += pol_joint_num_coordinates(pol_mechanism_joint(f->mechanism, k));
    armatures += has_armature(pol_mechanism_joint(f->mechanism, k));
  }
  const int states = pol_mechanism_num_states(f->mechanism);
  int flexible = 0;
  for (int b = 0; b < f->num_bodies; b++) {
    const pol_body *body = pol_mechanism_body(f->mechanism, b);
    if (!body->flexible || body->interface > 0) continue;
    flexible++;
    f->num_modes += body->flexible->num_modes;
  }
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, f->charts, flexible);
    POLI_TAKE(&arena, f->factors, 2 * f->num_bodies + 1);
    POLI_TAKE(&arena, f->bodies, f->num_bodies);
    POLI_TAKE(&arena, f->joints, f->num_joints);
    POLI_TAKE(&arena, f->coordinates, f->num_coordinates);
    POLI_TAKE(&arena, f->turns, f->num_coordinates);
    POLI_TAKE(&arena, f->armatures, armatures);
    POLI_TAKE(&arena, f->forces, f->num_forces);
    POLI_TAKE(&arena, f->soft_stops, f->num_forces);
    POLI_TAKE(&arena, f->drives, f->num_drives);
    POLI_TAKE(&arena, f->couplings, f->num_couplings);
    POLI_TAKE(&arena, f->mass_blocks, f->num_bodies + 2);
    POLI_TAKE(&arena, f->pure, POLI_MAX_COORDINATES * f->num_bodies + f->num_modes + states);
  } while (poli_arena_again(&arena));
  f->memory = arena.memory;
  if (!f->memory) return POL_NO_MEMORY;

  pol_status status = choose_charts(f);
  if (status) return status;
  number(f);
  if (f->num_armatures > 0) f->dae.constant_mass = 0;
  status = poli_network_create(&f->network, f->mechanism, NULL, 0);
  f->held = (int)f->dae.history_size;
  f->extension.num_inputs = f->network.num_held;
  if (!status) poli_formulation_find_soft_stops(f);
  f->dae.history_size += 2 * (size_t)f->network.num_held;
  if (!status) status = poli_formulation_link_expressions(f);
  if (!status) status = build_patterns(f);
  if (status) return status;

  f->dae.coupling = f->coupling;
  f->dae.constraint = f->constraint;
  f->dae.feedback = f->feedback;
  f->dae.pure = f->dae.num_internal ? f->pure : NULL;
  f->dae.length = find_length(f->mechanism, &f->dae);
  f->dae.scratch_size = poli_formulation_scratch(f);
  if (f->dae.constant_mass) { /* of a balance and a mean configuration */
    f->dae.scratch_size += (size_t)(f->dae.group.nv + f->dae.group.nq);
    f->dae.discrete_force = poli_directors_discrete_force;
  }
  f->dae.evaluate = f->chart->polynomial ? poli_directors_evaluate : poli_formulation_evaluate;
  if (f->dae.history_size) f->dae.update_history = update_history;
  f->dae.describe = describe;
  int may_be_singular = f->chart->singular != NULL;
  for (int k = 0; k < f->num_joints; k++) may_be_singular |= f->joints[k].kernel.disk;
  f->dae.singular = may_be_singular ? singular : NULL;
  f->dae.blame = poli_formulation_blame;
  f->dae.user = f;
  int num_blocks = 0;
  for (int b = 0; b < f->num_bodies; b++)
    if (f->bodies[b].reference == b) f->mass_blocks[num_blocks++] = f->bodies[b].v;
  f->mass_blocks[num_blocks++] = f->state_v;
  f->mass_blocks[num_blocks] = f->dae.group.nv;
  f->dae.extension = &f->extension;
  for (int k = 0; k < f->num_forces && !f->extension.not_conserved; k++) {
    const pol_force *force = f->forces[k].kernel.force;
    if (force->type != POL_BEAM || !poli_force_sees_frames(force)) continue;
    snprintf(
        f->not_conserved, sizeof f->not_conserved,
        "the method conserves the energy of beams with the strains directors only, and '%.60s' "
        "has %s: set strains of the beam to directors, or use vi-a or midpoint",
        force->name, pol_beam_strain_name(force->strain));
    f->extension.not_conserved = f->not_conserved;
  }
  if (f->num_armatures > 0 || f->num_flexible > 0)
    f->extension.not_rigid_bodies = f->not_rigid_bodies;
  if (f->num_armatures == 0) { /* they couple the masses of two bodies */
    f->extension.num_mass_blocks = num_blocks;
    f->extension.mass_blocks = f->mass_blocks;
  }
  if ((f->kind == POL_SO3XR3 || f->kind == POL_SO3XR3_SPATIAL) && f->num_armatures == 0 &&
      f->num_flexible == 0 && (status = poli_formulation_set_rigid_bodies(f)))
    return status;
  int varies = f->kind == POL_EULER_PARAMETERS && !f->dae.constant_mass && !f->dae.num_states;
  return varies ? poli_formulation_add_step_equations(f) : POL_OK;
}

pol_status pol_formulation_create(pol_formulation **formulation, const pol_mechanism *mechanism,
                                  pol_formulation_kind kind)
{
  *formulation = NULL;
  pol_status status = pol_formulation_supports(mechanism, kind, NULL, 0);
  if (status) return status;
  pol_formulation *f = calloc(1, sizeof *f);
  if (!f) return POL_NO_MEMORY;
  f->mechanism = mechanism;
  f->kind = kind;
  f->chart = poli_chart_of(kind);
  status = build(f);
  if (status)
    pol_formulation_free(&f);
  else
    *formulation = f;
  return status;
}

void pol_formulation_free(pol_formulation **formulation)
{
  pol_formulation *f = *formulation;
  if (!f) return;
  pol_pattern_free(&f->coupling);
  pol_pattern_free(&f->constraint);
  pol_pattern_free(&f->feedback);
  poli_network_free(&f->network);
  free(f->memory);
  free(f->links_memory);
  free(f->pairs);
  free(f->extension.rigid_bodies.items);
  free(f->extension.rigid_bodies.places);
  free(f->extension.rigid_bodies.nodes);
  free(f->extension.rigid_bodies.plain);
  free(f->extension.rigid_bodies.compliant);
  pol_formulation_free(&f->directors);
  free(f);
  *formulation = NULL;
}

const pol_dae *pol_formulation_dae(const pol_formulation *formulation)
{
  return &formulation->dae;
}

const pol_mechanism *pol_formulation_mechanism(const pol_formulation *formulation)
{
  return formulation->mechanism;
}

pol_formulation_kind pol_formulation_get_kind(const pol_formulation *formulation)
{
  return formulation->kind;
}
