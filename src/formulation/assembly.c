/* Initial values with components that must stay as they are.
 *
 * Each kept component is one constraint more: on positions while the bodies are assembled,
 *
 *     x_i - x_i(given) = 0,      log(R(given)^T R)_i = 0,
 *
 * on velocities while these are completed,
 *
 *     x'_i - x'_i(given) = 0,    Omega_i - Omega_i(given) = 0.
 *
 * In terms of frames these are the same for all coordinates; a chart's L makes them rows of B.  So
 * the assembler (dae.h) works with a dae that has the equations of the formulation and these rows,
 * behind the holonomic constraints or behind all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  int first; /* constraint of the first of them */
} assembly;

/* --- the rows --------------------------------------------------------------------------------- */

/* L of a body: y = L v, 6 x dim, column by column from the frame's velocities. */
static void frame_map(const pol_formulation *f, const double *q, int body,
                      double L[6][POL_MAX_COORDINATES])
{
  const pol_chart *chart = f->bodies[body].chart;
  for (int j = 0; j < chart->dim; j++) {
    double unit[POL_MAX_COORDINATES] = {0.0};
    pol_chart_point point = pol_formulation_point(f, q, NULL, NULL, body);
    pol_frame frame;
    unit[j] = 1.0;
    point.v = unit;
    chart->frame(&point, &frame);
    for (int i = 0; i < 3; i++) {
      L[i][j] = frame.w[i];
      L[3 + i][j] = frame.u[i];
    }
  }
}

/* log(R(given)^T R) */
static void turned_away(const pol_body *body, const pol_frame *frame, double w[3])
{
  double q[4], inverse[4], relative[4];
  pol_quat_from_matrix(frame->R, q);
  pol_quat_conjugate(body->rotation, inverse);
  pol_quat_multiply(inverse, q, relative);
  pol_so3_log(relative, w);
}

/* The residual of a row, at q and, for the kinds of velocities, v. */
static double residual(const pol_formulation *f, const kept_row *row, const double *q,
                       const double *v)
{
  const pol_body *body = f->bodies[row->body].body;
  pol_frame frame;
  double away[3];
  pol_formulation_frame(f, q, v, row->body, &frame);
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
  return frame.w[row->axis] - body->angular_velocity[row->axis];
}

/* The row of B, dim numbers for the columns of its body: a row of L, of T^-1 L for rotations. */
static void gradient(const pol_formulation *f, const kept_row *row, const double *q,
                     double out[POL_MAX_COORDINATES])
{
  double L[6][POL_MAX_COORDINATES] = {{0.0}}, away[3], inverse[9];
  int moves = row->kind == KEPT_POSITION || row->kind == KEPT_VELOCITY;
  frame_map(f, q, row->body, L);
  memcpy(out, L[row->axis + (moves ? 3 : 0)], sizeof L[0]);
  if (row->kind != KEPT_ROTATION) return;
  pol_frame frame;
  pol_formulation_frame(f, q, NULL, row->body, &frame);
  turned_away(f->bodies[row->body].body, &frame, away);
  pol_so3_tangent_inverse(away, inverse);
  for (int j = 0; j < POL_MAX_COORDINATES; j++) {
    out[j] = 0.0;
    for (int i = 0; i < 3; i++) out[j] += inverse[3 * row->axis + i] * L[i][j];
  }
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
    const pol_placed_body *body = &s->f->bodies[s->rows[r].body];
    double row[POL_MAX_COORDINATES];
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
  pol_status status = pol_dae_evaluate(&f->dae, at, want, &inner, scratch);
  if (status) return status;
  if (want & POL_POSITION)
    for (int r = 0; r < s->dae.num_holonomic - nh; r++)
      out->position[nh + r] = residual(f, &s->rows[r], at->q, NULL);
  if (want & POL_VELOCITY) {
    for (int i = 0; i < m; i++) out->velocity[i < s->first ? i : i + s->num_rows] = velocity[i];
    for (int r = 0; r < s->num_rows; r++)
      out->velocity[s->first + r] = residual(f, &s->rows[r], at->q, at->v);
  }
  if (want & POL_JACOBIAN) insert_rows(s, at->q, jacobian, out->jacobian);
  return POL_OK;
}

static void describe(int equation, char *text, size_t size, void *user)
{
  const assembly *s = user;
  int row = equation - s->dae.group.nv - s->first;
  if (row < 0 || row >= s->num_rows) {
    pol_dae_describe(&s->f->dae, row < 0 ? equation : equation - s->num_rows, text, size);
    return;
  }
  const kept_row *kept = &s->rows[row];
  snprintf(text, size, "body '%s', kept %s %c", s->f->bodies[kept->body].body->name,
           kinds[kept->kind].name, "xyz"[kept->axis]);
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
  int most = pol_pattern_nonzeros(from) + s->num_rows * POL_MAX_COORDINATES, count = 0;
  if (!to) return POL_NO_MEMORY;
  to->rows = from->rows + s->num_rows;
  to->cols = from->cols;
  to->start = calloc((size_t)to->cols + 1, sizeof *to->start);
  to->row = calloc((size_t)most + 1, sizeof *to->row);
  if (!to->start || !to->row) return POL_NO_MEMORY;
  for (int j = 0; j < to->cols; j++) {
    int k = from->start[j], end = from->start[j + 1];
    for (; k < end && from->row[k] < s->first; k++) to->row[count++] = from->row[k];
    for (int r = 0; r < s->num_rows; r++) {
      const pol_placed_body *body = &s->f->bodies[s->rows[r].body];
      if (j >= body->v && j < body->v + body->chart->dim) to->row[count++] = s->first + r;
    }
    for (; k < end; k++) to->row[count++] = from->row[k] + s->num_rows;
    to->start[j + 1] = count;
  }
  return POL_OK;
}

static void clear(assembly *s)
{
  pol_pattern_free(&s->constraint);
  free(s->rows);
}

/* With rows for positions and rotations, or for velocities. */
static pol_status create(assembly *s, const pol_formulation *f, int velocities)
{
  const pol_dae *inner = &f->dae;
  kept_kind from = velocities ? KEPT_VELOCITY : KEPT_POSITION;
  kept_kind to = velocities ? KEPT_SPIN : KEPT_ROTATION;
  *s = (assembly){.f = f, .dae = {.group = inner->group}};
  s->num_rows = list_rows(f, from, to, NULL);
  s->rows = calloc((size_t)s->num_rows + 1, sizeof *s->rows);
  if (!s->rows) return POL_NO_MEMORY;
  list_rows(f, from, to, s->rows);
  s->first = velocities ? pol_dae_num_constraints(inner) : inner->num_holonomic;
  s->dae.num_holonomic = inner->num_holonomic + (velocities ? 0 : s->num_rows);
  s->dae.num_nonholonomic = inner->num_nonholonomic + (velocities ? s->num_rows : 0);
  pol_status status = build_pattern(s);
  s->dae.coupling = inner->coupling;
  s->dae.constraint = s->constraint;
  s->dae.scratch_size = inner->scratch_size + (size_t)pol_dae_num_constraints(inner) +
                        (size_t)pol_pattern_nonzeros(f->constraint);
  s->dae.evaluate = evaluate;
  s->dae.describe = describe;
  s->dae.user = s;
  return status;
}

pol_status pol_formulation_assemble(const pol_formulation *formulation, pol_solver_kind solver,
                                    double t, double *q, double *v, const unsigned char *keep,
                                    pol_diagnostics *diagnostics)
{
  pol_status status = POL_OK;
  if (list_rows(formulation, KEPT_POSITION, KEPT_SPIN, NULL) == 0) return POL_OK;
  for (int velocities = 0; velocities < 2 && !status; velocities++) {
    assembly s;
    pol_assembler *assembler = NULL;
    status = create(&s, formulation, velocities);
    if (!status) status = pol_assembler_create(&assembler, &s.dae, solver);
    if (!status && velocities)
      status = pol_assembler_velocity(assembler, t, q, v, keep, NULL, diagnostics);
    else if (!status)
      status = pol_assembler_position(assembler, t, q, diagnostics);
    pol_assembler_free(&assembler);
    clear(&s);
  }
  return status;
}
