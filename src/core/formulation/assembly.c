/* Initial values that satisfy the constraints, with components that must stay as they are.
 *
 * The nearest values depend on the coordinates: steps along other coordinates lead elsewhere, and a
 * velocity that is kept in body axes changes in others.  So positions and velocities are found in
 * one set of coordinates, SO(3)xR3 with angular velocities in body axes, and then expressed in
 * those of the formulation.
 *
 * Each kept component is one constraint more: on positions while the bodies are assembled,
 *
 *     x_i - x_i(given) = 0,      log(R(given)^T R)_i = 0,
 *
 * on velocities while these are completed,
 *
 *     x'_i - x'_i(given) = 0,    Omega_i - Omega_i(given) = 0.
 *
 * In these coordinates the rows of B are unit vectors, and those of T^-1 for rotations.  So the
 * assembler (dae.h) works with a dae that has the equations of the formulation and these rows,
 * behind the holonomic constraints or behind all.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/assembler.h"
#include "dae/dae.h"
#include "formulation/formulation.h"
#include "lie/small.h"

typedef enum kept_kind { KEPT_POSITION, KEPT_ROTATION, KEPT_VELOCITY, KEPT_SPIN } kept_kind;

static const struct {
  const char *name;
  unsigned bit; /* of x */
} kinds[] = {
    [KEPT_POSITION] = {"position", POL_KEEP_POSITION},
    [KEPT_ROTATION] = {"rotation", POL_KEEP_ROTATION},
    [KEPT_VELOCITY] = {"velocity", POL_KEEP_VELOCITY},
    [KEPT_SPIN] = {"angular velocity", POL_KEEP_ANGULAR_VELOCITY},
};

typedef struct kept_row {
  int body;
  kept_kind kind;
  int axis;
} kept_row;

/* The equations of a formulation with rows for what is kept. */
typedef struct assembly {
  const pol_formulation *f;
  pol_dae dae;
  pol_pattern *constraint;
  kept_row *rows;
  int num_rows;
  int first;           /* constraint of the first of them */
  const double *given; /* velocities that are to be kept */
} assembly;

/* --- the rows --------------------------------------------------------------------------------- */

/* log(R(given)^T R) */
static void turned_away(const pol_body *body, const poli_frame *frame, double w[3])
{
  double q[4], inverse[4], relative[4];
  pol_quat_from_matrix(frame->R, q);
  pol_quat_conjugate(body->rotation, inverse);
  pol_quat_multiply(inverse, q, relative);
  pol_so3_log(relative, w);
}

/* The residual of a row, at q and, for the kinds of velocities, v. */
static double residual(const assembly *s, const kept_row *row, const double *q, const double *v)
{
  const pol_formulation *f = s->f;
  const poli_placed_body *placed = &f->bodies[row->body];
  const pol_body *body = placed->body;
  poli_frame frame;
  double away[3];
  poli_formulation_frame(f, q, v, row->body, &frame);
  switch (row->kind) {
  case KEPT_POSITION:
    return frame.x[row->axis] - body->position[row->axis];
  case KEPT_ROTATION:
    turned_away(body, &frame, away);
    return away[row->axis];
  case KEPT_VELOCITY:
    return frame.u[row->axis] - body->velocity[row->axis];
  case KEPT_SPIN:
    break;
  }
  return frame.w[row->axis] - s->given[placed->v + row->axis];
}

/* The row of B, for the velocities (Omega, x') of its body or x' of a point mass. */
static void gradient(const pol_formulation *f, const kept_row *row, const double *q, double out[6])
{
  const poli_placed_body *placed = &f->bodies[row->body];
  const int moves = row->kind == KEPT_POSITION || row->kind == KEPT_VELOCITY;
  poli_frame frame;
  double away[3], inverse[9];
  memset(out, 0, 6 * sizeof *out);
  if (moves) out[placed->chart->num_rotations + row->axis] = 1.0;
  if (moves || placed->body->point) return;
  out[row->axis] = 1.0;
  if (row->kind != KEPT_ROTATION) return;
  poli_formulation_frame(f, q, NULL, row->body, &frame);
  turned_away(placed->body, &frame, away);
  pol_so3_tangent_inverse(away, inverse);
  poli_v3_copy(inverse + 3 * row->axis, out);
}

/* --- the dae ---------------------------------------------------------------------------------- */

/* B of the formulation, column by column, with the rows of the column's body between. */
static void insert_rows(const assembly *s, const double *q, const double *inner, double *jacobian)
{
  const pol_pattern *from = s->f->constraint, *to = s->constraint;
  for (int j = 0; j < from->cols; j++) {
    double *column = jacobian + to->start[j];
    int kept = to->start[j + 1] - to->start[j] - (from->start[j + 1] - from->start[j]);
    for (int k = from->start[j]; k < from->start[j + 1]; k++)
      *(column++ + (from->row[k] < s->first ? 0 : kept)) = inner[k];
  }
  for (int r = 0; r < s->num_rows; r++) {
    const poli_placed_body *body = &s->f->bodies[s->rows[r].body];
    double row[6];
    gradient(s->f, &s->rows[r], q, row);
    for (int j = 0; j < body->chart->dim; j++)
      jacobian[pol_pattern_address(to, s->first + r, body->v + j)] = row[j];
  }
}

/* The terms that assembling asks for; the formulation's own go to the end of scratch first. */
static pol_status evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                           double *scratch, void *user)
{
  const assembly *s = user;
  const pol_formulation *f = s->f;
  int nh = f->dae.num_holonomic, m = pol_dae_num_constraints(&f->dae);
  double *velocity = scratch + f->dae.scratch_size, *jacobian = velocity + m;
  pol_terms inner = *out;
  inner.velocity = velocity;
  inner.jacobian = jacobian;
  pol_status status = poli_dae_evaluate(&f->dae, at, want, &inner, scratch);
  if (status) return status;
  if (want & POL_POSITION)
    for (int r = 0; r < s->dae.num_holonomic - nh; r++)
      out->position[nh + r] = residual(s, &s->rows[r], at->q, NULL);
  if (want & POL_VELOCITY) {
    for (int i = 0; i < m; i++) out->velocity[i < s->first ? i : i + s->num_rows] = velocity[i];
    for (int r = 0; r < s->num_rows; r++)
      out->velocity[s->first + r] = residual(s, &s->rows[r], at->q, at->v);
  }
  if (want & POL_JACOBIAN) insert_rows(s, at->q, jacobian, out->jacobian);
  return POL_OK;
}

static void describe(int equation, char *text, size_t size, void *user)
{
  const assembly *s = user;
  int row = equation - s->dae.group.nv - s->first;
  if (row < 0 || row >= s->num_rows) {
    poli_dae_describe(&s->f->dae, row < 0 ? equation : equation - s->num_rows, text, size);
    return;
  }
  const kept_row *kept = &s->rows[row];
  snprintf(text, size, "body '%s', kept %s %c", s->f->bodies[kept->body].body->name,
           kinds[kept->kind].name, "xyz"[kept->axis]);
}

static void blame(const double *scratch, char *text, size_t size, void *user)
{
  const assembly *s = user;
  if (s->f->dae.blame) s->f->dae.blame(scratch, text, size, s->f->dae.user);
}

/* --- life cycle ------------------------------------------------------------------------------- */

/* The rows of two kinds, into rows unless that is NULL; how many. */
static int list_rows(const pol_formulation *f, kept_kind from, kept_kind to, kept_row *rows)
{
  int count = 0;
  for (int b = 0; b < f->num_bodies; b++)
    for (int kind = (int)from; kind <= (int)to; kind++)
      for (int axis = 0; axis < 3; axis++) {
        if (!(f->bodies[b].body->keep & kinds[kind].bit << axis)) continue;
        if (rows) rows[count] = (kept_row){b, (kept_kind)kind, axis};
        count++;
      }
  return count;
}

/* The pattern of insert_rows. */
static pol_status build_pattern(assembly *s)
{
  const pol_pattern *from = s->f->constraint;
  pol_pattern *to = s->constraint = calloc(1, sizeof *to);
  int most = pol_pattern_nonzeros(from) + s->num_rows * 6, count = 0;
  if (!to) return POL_NO_MEMORY;
  to->rows = from->rows + s->num_rows;
  to->cols = from->cols;
  to->start = calloc((size_t)to->cols + 1, sizeof *to->start);
  to->row = calloc((size_t)most + 1, sizeof *to->row);
  if (!to->start || !to->row) return POL_NO_MEMORY;
  for (int j = 0, next = 0; j < to->cols; j++) { /* the rows ascend with their bodies */
    int k = from->start[j], end = from->start[j + 1];
    for (; k < end && from->row[k] < s->first; k++) to->row[count++] = from->row[k];
    for (int r = next; r < s->num_rows; r++) {
      const poli_placed_body *body = &s->f->bodies[s->rows[r].body];
      if (j < body->v) break;
      if (j >= body->v + body->chart->dim)
        next = r + 1;
      else
        to->row[count++] = s->first + r;
    }
    for (; k < end; k++) to->row[count++] = from->row[k] + s->num_rows;
    to->start[j + 1] = count;
  }
  return POL_OK;
}

/* With rows for positions and rotations, or for velocities, which `given` has. */
static pol_status create(assembly *s, const pol_formulation *f, int velocities, const double *given)
{
  const pol_dae *inner = &f->dae;
  kept_kind from = velocities ? KEPT_VELOCITY : KEPT_POSITION;
  kept_kind to = velocities ? KEPT_SPIN : KEPT_ROTATION;
  *s = (assembly){.f = f, .dae = {.group = inner->group}, .given = given};
  s->num_rows = list_rows(f, from, to, NULL);
  s->rows = calloc((size_t)s->num_rows + 1, sizeof *s->rows);
  if (!s->rows) return POL_NO_MEMORY;
  list_rows(f, from, to, s->rows);
  s->first = velocities ? pol_dae_num_constraints(inner) : inner->num_holonomic;
  s->dae.num_holonomic = inner->num_holonomic + (velocities ? 0 : s->num_rows);
  s->dae.num_nonholonomic = inner->num_nonholonomic + (velocities ? s->num_rows : 0);
  pol_status status = build_pattern(s);
  s->dae.num_states = inner->num_states;
  s->dae.length = inner->length;
  s->dae.coupling = inner->coupling;
  s->dae.constraint = s->constraint;
  s->dae.scratch_size = inner->scratch_size + (size_t)pol_dae_num_constraints(inner) +
                        (size_t)pol_pattern_nonzeros(f->constraint);
  s->dae.evaluate = evaluate;
  s->dae.describe = describe;
  s->dae.blame = blame;
  s->dae.user = s;
  return status;
}

/* --- assembling ------------------------------------------------------------------------------- */

/* What is assembled, in the coordinates of `base`. */
typedef struct values {
  const pol_formulation *base;
  double *q, *v, *given, *history;
  unsigned char *keep;
} values;

/* An angular velocity that was given in global axes keeps them when its body has been rotated. */
static void turn_given_velocities(const values *x)
{
  const pol_formulation *f = x->base;
  for (int b = 0; b < f->num_bodies; b++) {
    const poli_placed_body *placed = &f->bodies[b];
    double from[9], global[3];
    poli_frame frame;
    if (!(placed->body->given & POL_GIVEN_IN_GLOBAL_AXES) || placed->body->point) continue;
    poli_formulation_frame(f, x->q, NULL, b, &frame);
    pol_quat_to_matrix(placed->body->rotation, from);
    poli_m3_apply(from, placed->body->angular_velocity, global);
    poli_m3_apply_transposed(frame.R, global, x->v + placed->v);
  }
}

/* *fits: whether the initial values satisfy all constraints to round-off. */
static pol_status is_assembled(const values *x, double t, int *fits)
{
  const pol_dae *dae = &x->base->dae;
  int nh = dae->num_holonomic, m = pol_dae_num_constraints(dae);
  double length = poli_dae_length(dae), speed = length;
  double *memory = calloc(dae->scratch_size + (size_t)(nh + m) + 1, sizeof *memory);
  if (!memory) return POL_NO_MEMORY;
  pol_terms out = {.position = memory, .velocity = memory + nh};
  pol_point at = {.t = t, .q = x->q, .v = x->v, .history = x->history};
  *fits = !poli_dae_evaluate(dae, &at, POL_POSITION | POL_VELOCITY, &out, memory + nh + m);
  for (int i = 0; i < dae->group.nv - dae->num_states; i++) speed = fmax(speed, fabs(x->v[i]));
  for (int i = 0; i < nh; i++) *fits = *fits && fabs(out.position[i]) <= 8.0 * DBL_EPSILON * length;
  for (int i = 0; i < m; i++) *fits = *fits && fabs(out.velocity[i]) <= 8.0 * DBL_EPSILON * speed;
  free(memory);
  return POL_OK;
}

/* Moves positions, then velocities. */
static pol_status assemble(values *x, pol_solver_kind solver, double t, pol_diagnostics *d)
{
  const pol_dae *dae = &x->base->dae;
  pol_status status = POL_OK;
  for (int velocities = 0; velocities < 2 && !status; velocities++) {
    assembly s;
    pol_assembler *assembler = NULL;
    if (dae->update_history) dae->update_history(t, x->q, x->history, dae->user);
    if (velocities) turn_given_velocities(x);
    memcpy(x->given, x->v, (size_t)dae->group.nv * sizeof *x->given);
    status = create(&s, x->base, velocities, x->given);
    /* without kept components the equations are those of the formulation, perhaps by rows */
    if (!status) status = pol_assembler_create(&assembler, s.num_rows ? &s.dae : dae, solver);
    if (!status) poli_assembler_set_history(assembler, x->history);
    if (!status && velocities)
      status = pol_assembler_velocity(assembler, t, x->q, x->v, x->keep, NULL, d);
    else if (!status)
      status = pol_assembler_position(assembler, t, x->q, d);
    pol_assembler_free(&assembler);
    pol_pattern_free(&s.constraint);
    free(s.rows);
  }
  return status;
}

pol_status pol_formulation_assemble(const pol_formulation *formulation, pol_solver_kind solver,
                                    double t, double *q, double *v, pol_diagnostics *diagnostics)
{
  pol_formulation *own = NULL;
  values x = {.base = formulation};
  pol_status status = POL_OK;
  if (formulation->kind != POL_SO3XR3) {
    status = pol_formulation_create(&own, formulation->mechanism, POL_SO3XR3);
    x.base = own;
    if (status) return status;
  }
  const pol_dae *dae = &x.base->dae;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, x.q, dae->group.nq);
    POLI_TAKE_EACH(&arena, dae->group.nv, &x.v, &x.given);
    POLI_TAKE(&arena, x.history, dae->history_size);
    POLI_TAKE(&arena, x.keep, dae->group.nv);
  } while (poli_arena_again(&arena));
  if (!arena.memory) {
    status = POL_NO_MEMORY;
  } else {
    if (!dae->history_size) x.history = NULL;
    pol_formulation_initial(x.base, x.q, x.v, x.keep);
    if (dae->update_history) dae->update_history(t, x.q, x.history, dae->user);
    int kept = list_rows(x.base, KEPT_POSITION, KEPT_SPIN, NULL), fits;
    status = is_assembled(&x, t, &fits);
    if (!status && (kept || !fits)) {
      status = assemble(&x, solver, t, diagnostics);
      /* in the coordinates of the formulation; its states stay */
      for (int b = 0; b < formulation->num_bodies && !status; b++) {
        const poli_placed_body *placed = &formulation->bodies[b];
        pol_body body = *placed->body;
        poli_frame frame;
        poli_formulation_frame(x.base, x.q, x.v, b, &frame);
        if (!body.point) memcpy(body.rotation, x.q + x.base->bodies[b].q, sizeof body.rotation);
        poli_v3_copy(frame.x, body.position);
        poli_v3_copy(frame.u, body.velocity);
        poli_v3_copy(frame.w, body.angular_velocity);
        if (placed->reference != b) continue;
        const poli_placed_body *from = &x.base->bodies[b];
        const int modes = placed->chart->num_modes;
        poli_placed_set(placed, &body, x.q + from->q + from->chart->nq - modes,
                        x.v + from->v + from->chart->dim - modes, q, v);
      }
    }
  }
  free(arena.memory);
  pol_formulation_free(&own);
  return status;
}
