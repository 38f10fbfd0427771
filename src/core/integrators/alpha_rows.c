/* Generalized-alpha for rigid bodies in the space of their constraints.
 *
 * Where nothing but joints, linear springs and dampers acts between bodies, the Newton matrix of a
 * step (alpha_matrix.c) has a block A for each body, with a 3 x 3 matrix for its rotation and a
 * multiple of its mass for its translation, and B.  The bodies are eliminated; what is left couples
 * joints that share a body (row_space.h).  With y = theta/h, the scaled multipliers mu = h lambda
 * and the right-hand side (a, b, c):
 *
 *     A y + B^T mu = a,   B T y = b        index 3:         B T A^-1 B^T mu = B T A^-1 a - b
 *                         B V y = b        index 2:         B V A^-1 B^T mu = B V A^-1 a - b
 *     y = A^-1 (a - B^T mu)
 *
 * In the stabilized form this y is that without eta; then, with B_0 = B(q_n),
 *
 *     B T B_0^T eta = B T y - c,   y := y - B_0^T eta
 *
 * A spring and damper with the elongation s has the tension k s + c s', and in the matrix a row
 * with a compliance: W T y - nu/(h^2 kappa) = 0, kappa = k + c gamma/(h beta).
 *
 * Of joined points, the derivatives of their reactions and of B v by the rotation of their own body
 * are part of A and of B V: with d(w x r) = phi x (w x r), the arm r of the latter becomes r + h
 * (beta/gamma) w x r.  Left out are those of all other constraints, and what eta adds to the
 * balance.  They are small with the step, but not for springs under a large tension: then the next
 * steps use the general matrix (note_iterations).
 */
#include "integrators/alpha_rows.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/monitor.h"
#include "base/wide.h"
#include "dae/dae.h"
#include "dae/extension.h"

/* --- life cycle ------------------------------------------------------------------------------- */

static int is_applicable(const poli_alpha *s)
{
  const pol_options *o = s->options;
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(s->dae);
  return bodies && bodies->has_weight_only && !s->dae->num_nonholonomic && !s->dae->feedback &&
         !s->dae->num_states && !s->update->coordinates_only && o->solver == POL_SOLVER_AUTO &&
         o->newton.kind == POL_NEWTON_MODIFIED && o->published.sigma_update == POL_SIGMA_EXACT &&
         !poli_is_published_newton(&o->published) &&
         /* beam elements: what is left out is not small for them */
         bodies->num_compliant == bodies->num_compliant_nodes &&
         (o->index == POL_INDEX_3 || (!bodies->constraints_move && !bodies->spatial));
}

/* Bodies in a stretch. */
enum { STRETCH = 1024 };

/* How many stretches there are, if evaluations can be divided. */
static int count_stretches(const poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  const poli_body_place *places = r->bodies->places;
  const int count = r->bodies->count;
  int ascending = 1;
  for (int b = 1; b < count; b++) ascending = ascending && places[b].v > places[b - 1].v;
  if (!r->bodies->joints || r->m > r->held || r->space->threads > 1 || s->options->sigma != 0.0 ||
      !ascending)
    return 0;
  return (count + STRETCH - 1) / STRETCH;
}

static void set_stretches(const poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  const poli_row_space *space = r->space;
  poli_stretch end = {0};
  for (int k = 0; k < r->num_stretches; k++) {
    const int last = k == r->num_stretches - 1;
    end.placed = last ? r->bodies->count : (k + 1) * STRETCH;
    for (int ready = 1; ready && end.nodes < space->num_nodes; end.nodes += ready)
      for (int i = 0; i < space->nodes[end.nodes].num_sides; i++)
        ready = ready && space->nodes[end.nodes].body[i] < end.placed;
    for (int ready = 1; ready && end.balanced < end.placed; end.balanced += ready)
      for (int e = space->first_side[end.balanced]; e < space->first_side[end.balanced + 1]; e++)
        ready = ready && space->sides[e].node < end.nodes;
    end.row = end.nodes < space->num_nodes ? space->nodes[end.nodes].row : r->held;
    end.factors = poli_alpha_factors(s, end.factors.end,
                                     last ? s->dae->group.num_factors
                                          : s->factor_of[r->bodies->places[end.placed].v]);
    r->stretches[k] = end;
  }
}

static pol_status build(poli_alpha *s, poli_alpha_rows *r)
{
  const int stabilized = s->saddle->num_extra > 0, index3 = s->options->index == POL_INDEX_3;
  pol_status status =
      poli_row_space_create(&r->space, r->bodies, r->own_axes, 1, s->options->threads);
  if (!status) status = poli_row_space_create_lu(r->space, &r->lu);
  if (!status && stabilized) status = poli_row_space_create_lu(r->space, &r->eta_lu);
  if (status) return status;
  r->complete = r->m == r->held;
  for (int k = 0; k < r->space->num_nodes; k++)
    r->complete = r->complete && r->space->nodes[k].joins && r->space->nodes[k].num_rows == 3;
  const size_t bodies = (size_t)r->bodies->count, m = (size_t)r->m;
  const size_t blocks = (size_t)r->space->num_blocks, held = (size_t)r->held;
  r->num_stretches = count_stretches(s);
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, 9 * bodies, &r->R, &r->matrix_R, &r->D, &r->A_inverse_R);
    POLI_TAKE_EACH(&arena, stabilized ? 9 * bodies : 0, &r->old_R, &r->RT, &r->eta_D);
    POLI_TAKE_EACH(&arena, blocks, &r->B, &r->matrix_B);
    POLI_TAKE(&arena, r->old_B, stabilized ? blocks : 0);
    POLI_TAKE(&arena, r->velocity_B, index3 ? 0 : blocks);
    POLI_TAKE(&arena, r->moved, 6 * bodies);
    POLI_TAKE(&arena, r->inertia, 10 * bodies);
    POLI_TAKE_EACH(&arena, bodies, &r->d, &r->eta_d);
    POLI_TAKE_EACH(&arena, m, &r->position, &r->rates, &r->compliance, &r->mu);
    POLI_TAKE(&arena, r->tensions, m > held ? m : 0);
    POLI_TAKE_EACH(&arena, held + (stabilized ? held : 0), &r->now, &r->before);
    POLI_TAKE(&arena, r->left_out, m);
    POLI_TAKE(&arena, r->eta_left_out, m);
    POLI_TAKE(&arena, r->factor, bodies);
  } while (poli_arena_again(&arena));
  r->memory = arena.memory;
  r->memory_size = arena.used;
  /* not in the block that is archived: their number depends on the threads */
  r->stretches = calloc((size_t)r->num_stretches + 1, sizeof *r->stretches);
  if (!r->memory || !r->stretches) return POL_NO_MEMORY;
  set_stretches(s);
  for (int b = 0; b < r->bodies->count; b++) {
    const poli_rigid_body *body = &r->bodies->items[b];
    r->factor[b] = body->is_point ? -1 : s->factor_of[body->v];
    r->inertia[10 * b] = body->mass;
    r->eta_d[b] = 1.0;
    poli_m3_copy(body->inertia, r->inertia + 10 * b + 1);
  }
  const poli_newton_matrix matrix = {.n = s->saddle->n,
                                     .num_increments = s->saddle->nv,
                                     .operations = &r->operations,
                                     .cost = stabilized ? 2.0 : 1.2};
  r->operations =
      (poli_newton_operations){poli_alpha_rows_factor, poli_alpha_rows_apply_inverse,
                               poli_alpha_rows_add_sizes, poli_alpha_rows_add_multipliers, s};
  status = poli_newton_create_for(&r->newton, s->dae, &matrix, &s->options->newton, r->counts);
  if (!status) r->newton->advice = poli_alpha_advice(s);
  return status;
}

pol_status poli_alpha_rows_create(poli_alpha *s, pol_counts *counts)
{
  if (!is_applicable(s)) return POL_OK;
  poli_alpha_rows *r = s->rows = calloc(1, sizeof *r);
  if (!r) return POL_NO_MEMORY;
  r->bodies = poli_dae_rigid_bodies(s->dae);
  r->counts = counts;
  r->held = s->saddle->m;
  r->m = r->held + r->bodies->num_compliant;
  r->velocities = s->options->index != POL_INDEX_3 || r->bodies->num_compliant > 0;
  /* where positions drift, velocities depend on the axes in which the constraints are written */
  r->own_axes = s->options->index == POL_INDEX_2;
  const pol_status status = build(s, r);
  if (!status) s->threads = r->space->threads;
  return status;
}

static void clear(poli_alpha_rows *r)
{
  poli_newton_free(&r->newton);
  poli_block_lu_free(&r->lu);
  poli_block_lu_free(&r->eta_lu);
  poli_row_space_free(&r->space);
  free(r->memory);
  free(r->stretches);
  r->memory = NULL;
  r->stretches = NULL;
}

void poli_alpha_rows_free(poli_alpha_rows **rows)
{
  if (!*rows) return;
  clear(*rows);
  free(*rows);
  *rows = NULL;
}

poli_newton *poli_alpha_rows_newton(poli_alpha_rows *rows)
{
  return rows->newton;
}

const double *poli_alpha_rows_multipliers(const poli_alpha_rows *rows)
{
  return rows->now;
}

int poli_alpha_rows_serve(poli_alpha *s)
{
  poli_alpha_rows *r = s->rows;
  if (!r || !(r->own_axes || !s->dropped)) return 0;
  return r->pause == 0 || --r->pause == 0;
}

int poli_alpha_rows_know_velocities(const poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  return r && (r->own_axes || !s->dropped) && !r->bodies->constraints_move;
}

int poli_alpha_rows_pause(const poli_alpha_rows *rows)
{
  return rows->pause > 0;
}

/* The general matrix for some steps where that of the rows, which leaves out derivatives, has been
 * slow or has failed; for more steps each time.  It would be no faster where the residual has
 * fallen steeply as soon as the matrix was that of the solution.  A failed step is tried smaller
 * first where that is likely to help: if nothing is left out, or near positions in which other
 * constraints of loops are redundant. */
static void note_iterations(const poli_alpha *s, pol_status status, int iterations)
{
  const int slow = 8, fast = 4, shortest = 20, longest = 1000;
  const double steep = 0.01;
  poli_alpha_rows *r = s->rows;
  const int near_others = s->dropped && s->options->index != POL_INDEX_2 && !r->failed;
  r->failed = status > 0;
  if (r->complete && !status) return;
  if (status && s->goal.can_shrink && (r->complete || near_others)) return;
  if (status || (iterations > slow && r->newton->new_fall > steep)) {
    r->pause_length = r->pause_length == 0 ? shortest : 2 * r->pause_length;
    if (r->pause_length > longest) r->pause_length = longest;
    r->pause = r->pause_length;
  } else if (iterations <= fast) {
    r->pause_length = 0;
  }
}

static POLI_WIDE void set_rotations_of(int first, int end, void *user)
{
  const poli_body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  for (int b = first; b < end; b++) {
    if (r->bodies->places[b].is_point)
      poli_m3_diagonal(1.0, loop->to + 9 * b);
    else
      poli_quat_to_matrix(loop->from + r->bodies->places[b].q, loop->to + 9 * b);
  }
}

/* Rotations of all bodies at q. */
static void set_rotations(const poli_alpha *s, const double *q, double *R)
{
  poli_alpha_rows_run(s, &(poli_body_loop){.from = q, .to = R}, set_rotations_of);
}

void poli_alpha_rows_adopt(poli_alpha *s)
{
  poli_alpha_rows *r = s->rows;
  set_rotations(s, s->now.q, r->R);
  poli_alpha_copy(r->now, s->now.lambda, r->held);
  poli_row_space_turn(r->space, r->R, 0, r->now);
  memset(r->now + r->held, 0, (size_t)s->saddle->num_extra * sizeof *r->now);
  poli_alpha_copy(r->before, r->now, r->held);
}

pol_status poli_alpha_rows_start(poli_alpha *s)
{
  poli_alpha_rows *r = s->rows;
  pol_status status = POL_OK;
  if (s->dropped && !r->own_axes) { /* single rows can be dropped in the axes of the dae only */
    clear(r);
    r->own_axes = 1;
    status = build(s, r);
  }
  if (status) return status;
  r->pause = r->pause_length = r->failed = 0;
  poli_newton_restart(r->newton);
  poli_alpha_rows_adopt(s);
  return POL_OK;
}

void poli_alpha_rows_archive(poli_alpha *s, poli_archive *archive)
{
  poli_alpha_rows *r = s->rows;
  const int own_axes = r->own_axes;
  POLI_ARCHIVE(archive, r->own_axes);
  if (r->own_axes != own_axes) {
    clear(r);
    archive->status = build(s, r);
    if (archive->status) return;
  }
  POLI_ARCHIVE(archive, r->pause);
  POLI_ARCHIVE(archive, r->pause_length);
  POLI_ARCHIVE(archive, r->failed);
  poli_archive_bytes(archive, r->memory, r->memory_size);
  r->now = poli_archive_place(archive, r->now, r->memory, r->memory_size);
  r->before = poli_archive_place(archive, r->before, r->memory, r->memory_size);
  r->R = poli_archive_place(archive, r->R, r->memory, r->memory_size);
  r->B = poli_archive_place(archive, r->B, r->memory, r->memory_size);
  r->matrix_R = poli_archive_place(archive, r->matrix_R, r->memory, r->memory_size);
  r->matrix_B = poli_archive_place(archive, r->matrix_B, r->memory, r->memory_size);
  poli_block_lu_archive(r->lu, archive);
  if (r->eta_lu) poli_block_lu_archive(r->eta_lu, archive);
  poli_newton_archive(r->newton, archive);
}

/* --- residual --------------------------------------------------------------------------------- */

pol_status poli_alpha_rows_set_rows(const poli_alpha *s, double t, const double *q, double *R,
                                    double *B, double *position)
{
  const poli_alpha_rows *r = s->rows;
  poli_stretch done = {0};
  if (r->num_stretches == 0) {
    set_rotations(s, q, R);
    return r->bodies->constraints(r->space->nodes, r->space->num_nodes, r->space->threads, t, q, R,
                                  s->history, position, B, s->dae->user);
  }
  for (int k = 0; k < r->num_stretches; k++) {
    const poli_stretch *end = &r->stretches[k];
    set_rotations_of(done.placed, end->placed, &(poli_body_loop){.s = s, .from = q, .to = R});
    r->bodies->joints(r->space->nodes, done.nodes, end->nodes, q, R, position, B, s->dae->user);
    done = *end;
  }
  return POL_OK;
}

pol_status poli_alpha_rows_prepare(poli_alpha *s)
{
  poli_alpha_rows *r = s->rows;
  if (!s->saddle->num_extra) return POL_OK;
  return poli_alpha_rows_set_rows(s, s->t - s->h, s->now.q, r->old_R, r->old_B, r->position);
}

/* out += scale B(q_n)^T eta of some bodies, in the velocities of the dae. */
static void add_transposed(const poli_alpha *s, int first, int end, double scale, const double *eta,
                           double *out)
{
  const poli_alpha_rows *r = s->rows;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    double wrench[6] = {0.0}, turned[3], *to = out + body->v;
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++)
      poli_row_side_add_wrench(&r->space->sides[e], r->old_B, eta, wrench);
    if (!body->is_point) {
      poli_m3_apply_transposed(poli_alpha_rows_axes(r, r->old_R, b), wrench, turned);
      poli_v3_add_scaled(scale, turned, to);
      to += 3;
    }
    poli_v3_add_scaled(scale, wrench + 3, to);
  }
}

void poli_alpha_rows_add_transposed(poli_alpha *s, double scale, const double *eta, double *out)
{
  const poli_alpha_rows *r = s->rows;
  if (r->m > r->held) { /* springs have none */
    poli_alpha_copy(r->mu, eta, r->held);
    memset(r->mu + r->held, 0, (size_t)(r->m - r->held) * sizeof *r->mu);
  }
  add_transposed(s, 0, r->bodies->count, scale, r->m > r->held ? r->mu : eta, out);
}

static POLI_WIDE void turn_velocities(int first, int end, void *user)
{
  const poli_body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    const double *own = loop->from + body->v;
    double *y = r->moved + 6 * b;
    if (!body->is_point) poli_m3_apply(poli_alpha_rows_axes(r, r->R, b), own, y);
    poli_v3_copy(own + (body->is_point ? 0 : 3), y + 3);
  }
}

/* rates = B v for velocities of the dae at the last residual. */
void poli_alpha_rows_set_rates(const poli_alpha *s, const double *v, double *rates)
{
  const poli_alpha_rows *r = s->rows;
  memset(rates, 0, (size_t)r->m * sizeof *rates);
  poli_alpha_rows_run(s, &(poli_body_loop){.from = v}, turn_velocities);
  poli_row_space_add_rates(r->space, r->B, r->moved, rates);
}

/* J w in the axes of w */
static inline void apply_inertia(const poli_alpha_rows *r, int b, const double w[3], double out[3])
{
  const double *J = poli_alpha_rows_inertia(r, b), *R = r->R + 9 * b;
  double own[3], product[3];
  if (!r->bodies->spatial) {
    poli_m3_apply(J, w, out);
    return;
  }
  poli_m3_apply_transposed(R, w, own);
  poli_m3_apply(J, own, product);
  poli_m3_apply(R, product, out);
}

/* h (M v' + g + B^T lambda) of a body, in the velocities of the dae. */
POLI_INLINE void set_balance(const poli_alpha *s, int b, double *balance)
{
  const poli_alpha_rows *r = s->rows;
  const poli_body_place *body = &r->bodies->places[b];
  const double mass = r->inertia[10 * b];
  const double *vd = s->next.vd + body->v, *v = s->next.v + body->v;
  double wrench[6] = {0.0}, *out = balance + body->v;
  for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++)
    poli_row_side_add_wrench(&r->space->sides[e], r->B, poli_alpha_rows_lambda(s), wrench);
  if (!body->is_point) {
    double turned[3], momentum[3], rate[3];
    poli_m3_apply_transposed(poli_alpha_rows_axes(r, r->R, b), wrench, turned);
    apply_inertia(r, b, v, momentum);
    apply_inertia(r, b, vd, rate);
    poli_v3_add_scaled_cross(1.0, v, momentum, turned);
    for (int i = 0; i < 3; i++) out[i] = s->h * (rate[i] + turned[i]);
    vd += 3;
    out += 3;
  }
  for (int i = 0; i < 3; i++)
    out[i] = s->h * (mass * (vd[i] - r->bodies->gravity[i]) + wrench[3 + i]);
}

static POLI_WIDE void set_balances(int first, int end, void *user)
{
  const poli_body_loop *loop = user;
  for (int b = first; b < end; b++) set_balance(loop->s, b, loop->to);
}

/* The residuals of some constraints. */
static POLI_WIDE void set_constraints(const poli_alpha *s, int first, int end, double *out)
{
  const poli_alpha_rows *r = s->rows;
  const int index3 = s->options->index == POL_INDEX_3, extra = s->saddle->num_extra > 0;
  const double h = s->h, *position = r->position, *from = index3 ? position : r->rates;
  const double scale = index3 ? h : 1.0;
  const unsigned char *dropped = s->dropped;
  double *residual = out + s->saddle->nv, *more = residual + r->held;
  for (int i = first; i < end; i++) residual[i] = from[i] / scale;
  for (int i = first; i < end && extra; i++) more[i] = position[i] / h;
  if (!dropped) return;
  for (int i = first; i < end; i++) residual[i] = dropped[i] ? 0.0 : residual[i];
  for (int i = first; i < end && extra; i++) more[i] = dropped[i] ? 0.0 : more[i];
}

/* All of the step at x and its residual, one stretch of the mechanism after the other. */
static void evaluate_stretches(poli_alpha *s, const double *x, double *out)
{
  const poli_alpha_rows *r = s->rows;
  const poli_row_space *space = r->space;
  poli_body_loop from_q = {.s = s, .from = s->next.q, .to = r->R};
  poli_body_loop from_v = {.s = s, .from = s->next.v}, to_out = {.s = s, .to = out};
  poli_stretch done = {0};
  const int stabilized = s->saddle->num_extra > 0;
  for (int k = 0; k < POLI_KINDS; k++) s->acceleration[k] = s->change[k] = 0.0;
  s->has_accelerations = 1;
  if (stabilized) poli_alpha_copy(s->eta, x + s->saddle->nv + s->saddle->m, s->saddle->num_extra);
  for (int k = 0; k < r->num_stretches; k++) {
    const poli_stretch *end = &r->stretches[k];
    const int v = end->factors.v, count = end->factors.end_v - v;
    if (stabilized) {
      memset(s->stabilizing + v, 0, (size_t)count * sizeof *s->stabilizing);
      add_transposed(s, done.placed, end->placed, s->h, s->eta, s->stabilizing);
    }
    poli_alpha_place_factors(s, x, end->factors);
    poli_alpha_measure_factors(s, end->factors);
    set_rotations_of(done.placed, end->placed, &from_q);

    poli_alpha_place_multipliers(s, x, done.row, end->row);
    r->bodies->joints(space->nodes, done.nodes, end->nodes, s->next.q, r->R, r->position, r->B,
                      s->dae->user);
    if (r->velocities) {
      memset(r->rates + done.row, 0, (size_t)(end->row - done.row) * sizeof *r->rates);
      turn_velocities(done.placed, end->placed, &from_v);
      poli_row_space_add_rates_of(space, done.nodes, end->nodes, r->B, r->moved, r->rates);
    }
    set_constraints(s, done.row, end->row, out);
    set_balances(done.balanced, end->balanced, &to_out);
    done = *end;
  }
}

static pol_status evaluate(const double *x, double *out, void *alpha)
{
  poli_alpha *s = alpha;
  poli_alpha_rows *r = s->rows;
  if (poli_monitor_poll(-1.0)) return POL_CANCELLED;
  if (r->num_stretches > 0) {
    evaluate_stretches(s, x, out);
    return POL_OK;
  }
  pol_status status = poli_alpha_place(x, s);
  if (status) return status;
  status = poli_alpha_rows_set_rows(s, s->t, s->next.q, r->R, r->B, r->position);
  if (status) return status;
  if (r->velocities) poli_alpha_rows_set_rates(s, s->next.v, r->rates);
  if (r->m > r->held) poli_alpha_copy(r->tensions, s->next.lambda, r->held);
  for (int i = r->held; i < r->m; i++) {
    const poli_compliant_row *spring = &r->bodies->compliant[i - r->held];
    r->tensions[i] = spring->stiffness * r->position[i] + spring->damping * r->rates[i];
  }
  poli_alpha_rows_run(s, &(poli_body_loop){.to = out}, set_balances);
  set_constraints(s, 0, r->held, out);
  return POL_OK;
}

/* --- step ------------------------------------------------------------------------------------- */

/* The multipliers of the guess, in the axes of the rows: they go on along a line; those of a
 * polynomial are in these axes already. */
static void set_guess(poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  const double *before = s->same_step ? r->before : r->now;
  double *mu = s->x + s->saddle->nv;
  for (int i = 0; i < r->held && !s->polynomial; i++) mu[i] = s->h * (2.0 * r->now[i] - before[i]);
}

pol_status poli_alpha_rows_solve(poli_alpha *s, pol_diagnostics *diagnostics)
{
  set_guess(s);
  const poli_newton_system system = {.residual = evaluate,
                                     .place = poli_alpha_place,
                                     .matrix = poli_alpha_rows_set_matrix,
                                     .tolerances = poli_alpha_tolerances,
                                     .round_off = poli_alpha_round_off,
                                     .user = s};
  const pol_status status = poli_newton_solve(s->rows->newton, &system, s->x, diagnostics);
  note_iterations(s, status, diagnostics->iteration);
  return status;
}

void poli_alpha_rows_accept(poli_alpha *s)
{
  poli_alpha_rows *r = s->rows;
  poli_body_loop from_q = {.s = s, .from = s->next.q, .to = r->R};
  poli_stretch done = {0};
  double *oldest = r->before;
  r->before = r->now;
  r->now = oldest;
  poli_alpha_copy(r->now + r->held, s->eta, s->saddle->num_extra);
  if (r->own_axes || r->num_stretches == 0) {
    poli_alpha_copy(r->now, s->next.lambda, r->held);
    if (r->own_axes) return;
    set_rotations(s, s->next.q, r->R);
    poli_row_space_turn(r->space, r->R, 1, s->next.lambda);
  }
  for (int k = 0; k < r->num_stretches; k++) {
    const poli_stretch *end = &r->stretches[k];
    poli_alpha_copy(r->now + done.row, s->next.lambda + done.row, end->row - done.row);
    set_rotations_of(done.placed, end->placed, &from_q);
    poli_row_space_turn_of(r->space, done.nodes, end->nodes, r->R, 1, s->next.lambda);
    done = *end;
  }
  if (s->saddle->num_extra) poli_row_space_turn(r->space, r->old_R, 1, s->eta);
}
