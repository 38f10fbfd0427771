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
 * balance.  They are small with the step, but not for springs under a large tension: after a step
 * with many iterations the next ones use the general matrix, and a step that fails is repeated with
 * it.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/monitor.h"
#include "base/parallel.h"
#include "dae/dae.h"
#include "dae/extension.h"
#include "dae/row_space.h"
#include "integrators/alpha.h"

struct poli_alpha_rows {
  const poli_rigid_bodies *bodies;
  poli_row_space *space;
  poli_block_lu *lu, *eta_lu; /* of mu and of eta */
  poli_newton *newton;
  poli_newton_operator operator;
  pol_counts *counts;
  int own_axes;            /* rows are those of the dae */
  int velocities;          /* rates of the rows are needed */
  int pause, pause_length; /* steps with the general matrix, to come and at the last time */
  int held, m;             /* rows of the dae, and with those of springs */
  void *memory;
  size_t memory_size;
  int *factor;                   /* of the group: rotation of each body, -1 for points */
  double *R, *B;                 /* at the last residual */
  double *matrix_B;              /* where the matrix was evaluated */
  double *velocity_B;            /* there, of B v: with arms r + h (beta/gamma) w x r */
  double *old_R, *old_B;         /* at q_n, for eta */
  double *A_inverse, *D;         /* 9 numbers per body; D of mu */
  double *RT, *RV, *A_inverse_R; /* R T, R V (not in index 3) and A^-1 R^T, at the matrix */
  double *eta_D, *d, *eta_d;     /* D of eta, and numbers d of translations */
  double *mobility;              /* A^-1 of translations */
  double *sums;                  /* nv: sums of the rows of |A| */
  double *position, *rates;      /* m: Phi and elongations, B v */
  double *tensions;              /* m: lambda and tensions of springs; none without springs */
  double *compliance;            /* m: 0 for constraints */
  double *moved;                 /* 6 numbers per body: velocities in inertial axes */
  double *mu;                    /* m: multipliers in a solution, and other temporary numbers */
  double *now, *before;          /* held: multipliers of the last steps; behind them eta */
  double *guess;                 /* n: of a step that is repeated with the general matrix */
  unsigned char *left_out, *eta_left_out; /* m */
};

static const double dependent = 1e-12; /* pivots below belong to dependent constraints */

/* --- life cycle ------------------------------------------------------------------------------- */

static int is_applicable(const poli_alpha *s)
{
  const pol_options *o = s->options;
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(s->dae);
  return bodies && bodies->has_weight_only && !s->dae->num_nonholonomic && !s->dae->feedback &&
         !s->dae->num_states && !s->update->coordinates_only && o->solver == POL_SOLVER_AUTO &&
         o->newton.kind == POL_NEWTON_MODIFIED && o->published.sigma_update == POL_SIGMA_EXACT &&
         !poli_is_published_newton(&o->published) &&
         (o->index == POL_INDEX_3 || (!bodies->constraints_move && !bodies->spatial));
}

static pol_status factor_matrix(int *row, void *alpha);
static void solve(double *x, void *alpha);
static void add_row_sizes(const int *kind, double *size, void *alpha);
static void add_multipliers(const double *x, double *sum, void *alpha);

static pol_status build(poli_alpha *s, poli_alpha_rows *r)
{
  const pol_group *group = &s->dae->group;
  const int stabilized = s->saddle->num_extra > 0, index3 = s->options->index == POL_INDEX_3;
  pol_status status =
      poli_row_space_create(&r->space, r->bodies, r->own_axes, 1, s->options->threads);
  if (!status) status = poli_row_space_create_lu(r->space, &r->lu);
  if (!status && stabilized) status = poli_row_space_create_lu(r->space, &r->eta_lu);
  if (status) return status;
  const size_t bodies = (size_t)r->bodies->count, nv = (size_t)group->nv, m = (size_t)r->m;
  const size_t blocks = (size_t)r->space->num_blocks, held = (size_t)r->held;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, 9 * bodies, &r->R, &r->A_inverse, &r->D, &r->RT, &r->A_inverse_R);
    POLI_TAKE_EACH(&arena, stabilized ? 9 * bodies : 0, &r->old_R, &r->eta_D);
    POLI_TAKE(&arena, r->RV, index3 ? 0 : 9 * bodies);
    POLI_TAKE_EACH(&arena, blocks, &r->B, &r->matrix_B);
    POLI_TAKE(&arena, r->old_B, stabilized ? blocks : 0);
    POLI_TAKE(&arena, r->velocity_B, index3 ? 0 : blocks);
    POLI_TAKE(&arena, r->moved, 6 * bodies);
    POLI_TAKE_EACH(&arena, bodies, &r->d, &r->eta_d, &r->mobility);
    POLI_TAKE(&arena, r->sums, nv);
    POLI_TAKE_EACH(&arena, m, &r->position, &r->rates, &r->compliance, &r->mu);
    POLI_TAKE(&arena, r->tensions, m > held ? m : 0);
    POLI_TAKE_EACH(&arena, held + (stabilized ? held : 0), &r->now, &r->before);
    POLI_TAKE(&arena, r->guess, s->saddle->n);
    POLI_TAKE(&arena, r->left_out, m);
    POLI_TAKE(&arena, r->eta_left_out, m);
    POLI_TAKE(&arena, r->factor, bodies);
  } while (poli_arena_again(&arena));
  r->memory = arena.memory;
  r->memory_size = arena.used;
  if (!r->memory) return POL_NO_MEMORY;
  for (int b = 0; b < r->bodies->count; b++)
    r->factor[b] = r->bodies->places[b].is_point ? -1 : s->factor_of[r->bodies->places[b].v];
  const poli_newton_matrix matrix = {
      .n = s->saddle->n, .num_increments = s->saddle->nv, .operator= & r->operator, .cost = 1.2 };
  r->operator=(poli_newton_operator){factor_matrix, solve, add_row_sizes, add_multipliers, s};
  return poli_newton_create_for(&r->newton, s->dae, &matrix, &s->options->newton, r->counts);
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
  r->memory = NULL;
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

/* The general matrix for some steps where that of the rows, which leaves out derivatives, has been
 * slow or has failed; for more steps each time. */
static void note_iterations(poli_alpha_rows *r, int iterations)
{
  const int slow = 8, fast = 4, shortest = 20, longest = 1000;
  if (iterations > slow) {
    r->pause_length = r->pause_length == 0 ? shortest : 2 * r->pause_length;
    if (r->pause_length > longest) r->pause_length = longest;
    r->pause = r->pause_length;
  } else if (iterations <= fast) {
    r->pause_length = 0;
  }
}

/* The axes of the angular velocity of a body in the dae, for the rotations R of all bodies. */
static inline const double *axes_of(const poli_alpha_rows *r, const double *R, int b)
{
  static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  return r->bodies->spatial ? identity : R + 9 * b;
}

/* lambda and tensions at the last residual. */
static inline const double *multipliers_of(const poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  return r->m > r->held ? r->tensions : s->next.lambda;
}

/* A loop over bodies. */
typedef struct body_loop {
  const poli_alpha *s;
  const double *from;
  double *to;
  int kind;           /* by velocities, or of eta */
  atomic_int *failed; /* the first body that failed */
} body_loop;

static inline void run_bodies(const poli_alpha *s, body_loop *loop, void (*task)(int, int, void *))
{
  loop->s = s;
  poli_parallel_ranges(s->rows->space->threads, s->rows->bodies->count, task, loop);
}

static void set_rotations_of(int first, int end, void *user)
{
  const body_loop *loop = user;
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
  run_bodies(s, &(body_loop){.from = q, .to = R}, set_rotations_of);
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
  if (!status) poli_alpha_rows_adopt(s);
  return status;
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
  poli_archive_bytes(archive, r->memory, r->memory_size);
  r->now = poli_archive_place(archive, r->now, r->memory, r->memory_size);
  r->before = poli_archive_place(archive, r->before, r->memory, r->memory_size);
  poli_block_lu_archive(r->lu, archive);
  if (r->eta_lu) poli_block_lu_archive(r->eta_lu, archive);
  poli_newton_archive(r->newton, archive);
}

/* --- residual --------------------------------------------------------------------------------- */

static pol_status set_rows(const poli_alpha *s, double t, const double *q, double *R, double *B,
                           double *position)
{
  const poli_alpha_rows *r = s->rows;
  set_rotations(s, q, R);
  return r->bodies->constraints(r->space->nodes, r->space->num_nodes, r->space->threads, t, q, R,
                                s->history, position, B, s->dae->user);
}

pol_status poli_alpha_rows_prepare(poli_alpha *s)
{
  poli_alpha_rows *r = s->rows;
  if (!s->saddle->num_extra) return POL_OK;
  return set_rows(s, s->t - s->h, s->now.q, r->old_R, r->old_B, r->position);
}

/* out += scale B(q_n)^T eta, in the velocities of the dae. */
void poli_alpha_rows_add_transposed(poli_alpha *s, double scale, const double *eta, double *out)
{
  const poli_alpha_rows *r = s->rows;
  poli_alpha_copy(r->mu, eta, r->held);
  memset(r->mu + r->held, 0, (size_t)(r->m - r->held) * sizeof *r->mu);
  for (int b = 0; b < r->bodies->count; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    double wrench[6] = {0.0}, turned[3], *to = out + body->v;
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++)
      poli_row_side_add_wrench(&r->space->sides[e], r->old_B, r->mu, wrench);
    if (!body->is_point) {
      poli_m3_apply_transposed(axes_of(r, r->old_R, b), wrench, turned);
      poli_v3_add_scaled(scale, turned, to);
      to += 3;
    }
    poli_v3_add_scaled(scale, wrench + 3, to);
  }
}

static void turn_velocities(int first, int end, void *user)
{
  const body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    const double *own = loop->from + body->v;
    double *y = r->moved + 6 * b;
    if (!body->is_point) poli_m3_apply(axes_of(r, r->R, b), own, y);
    poli_v3_copy(own + (body->is_point ? 0 : 3), y + 3);
  }
}

/* rates = B v for velocities of the dae at the last residual. */
static void set_rates(const poli_alpha *s, const double *v, double *rates)
{
  const poli_alpha_rows *r = s->rows;
  memset(rates, 0, (size_t)r->m * sizeof *rates);
  run_bodies(s, &(body_loop){.from = v}, turn_velocities);
  poli_row_space_add_rates(r->space, r->B, r->moved, rates);
}

/* J w in the axes of w */
static inline void apply_inertia(const poli_alpha_rows *r, int b, const double w[3], double out[3])
{
  const double *J = r->bodies->items[b].inertia, *R = r->R + 9 * b;
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
static inline void set_balance(const poli_alpha *s, int b, double *balance)
{
  const poli_alpha_rows *r = s->rows;
  const poli_rigid_body *body = &r->bodies->items[b];
  const double *vd = s->next.vd + body->v, *v = s->next.v + body->v;
  double wrench[6] = {0.0}, *out = balance + body->v;
  for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++)
    poli_row_side_add_wrench(&r->space->sides[e], r->B, multipliers_of(s), wrench);
  if (!body->is_point) {
    double turned[3], momentum[3], rate[3];
    poli_m3_apply_transposed(axes_of(r, r->R, b), wrench, turned);
    apply_inertia(r, b, v, momentum);
    apply_inertia(r, b, vd, rate);
    poli_v3_add_scaled_cross(1.0, v, momentum, turned);
    for (int i = 0; i < 3; i++) out[i] = s->h * (rate[i] + turned[i]);
    vd += 3;
    out += 3;
  }
  for (int i = 0; i < 3; i++)
    out[i] = s->h * (body->mass * (vd[i] - r->bodies->gravity[i]) + wrench[3 + i]);
}

static void set_balances(int first, int end, void *user)
{
  const body_loop *loop = user;
  for (int b = first; b < end; b++) set_balance(loop->s, b, loop->to);
}

static pol_status evaluate(const double *x, double *out, void *alpha)
{
  poli_alpha *s = alpha;
  poli_alpha_rows *r = s->rows;
  const int nv = s->saddle->nv, index3 = s->options->index == POL_INDEX_3;
  pol_status status = poli_alpha_place(x, s);
  if (status) return status;
  if (poli_monitor_poll(-1.0)) return POL_CANCELLED;
  status = set_rows(s, s->t, s->next.q, r->R, r->B, r->position);
  if (status) return status;
  if (r->velocities) set_rates(s, s->next.v, r->rates);
  if (r->m > r->held) poli_alpha_copy(r->tensions, s->next.lambda, r->held);
  for (int i = r->held; i < r->m; i++) {
    const poli_compliant_row *spring = &r->bodies->compliant[i - r->held];
    r->tensions[i] = spring->stiffness * r->position[i] + spring->damping * r->rates[i];
  }
  run_bodies(s, &(body_loop){.to = out}, set_balances);
  for (int i = 0; i < r->held; i++) {
    const int dropped = s->dropped && s->dropped[i];
    const double position = dropped ? 0.0 : r->position[i] / s->h;
    out[nv + i] = dropped ? 0.0 : index3 ? position : r->rates[i];
    if (s->saddle->num_extra) out[nv + r->held + i] = position;
  }
  return POL_OK;
}

/* --- matrix ----------------------------------------------------------------------------------- */

/* A <- A^-1, 3 x 3; 0 if it is singular. */
static int invert(double A[9])
{
  double C[9];
  poli_v3_cross(A + 3, A + 6, C);
  poli_v3_cross(A + 6, A, C + 3);
  poli_v3_cross(A, A + 3, C + 6);
  const double determinant = poli_v3_dot(A, C);
  if (!(fabs(determinant) > 0.0)) return 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A[3 * i + j] = C[3 * j + i] / determinant;
  return 1;
}

/* K = d(M v' + g + B^T lambda)/dphi of a body by its own rotation, of reactions those of joined
 * points: with the angular velocity in body axes d(R^T (r x lambda)), in inertial axes d(r x
 * lambda) and the derivative of the inertia R J R^T. */
static void set_stiffness(const poli_alpha *s, int b, const double J[9], double K[9])
{
  const poli_alpha_rows *r = s->rows;
  const int spatial = r->bodies->spatial, first = r->bodies->places[b].v;
  double X[9] = {0.0}, Y[9];
  for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
    const poli_row_side *own = &r->space->sides[e];
    const double *arm = r->B + own->block, *lambda = multipliers_of(s) + own->row;
    if (own->joined)
      poli_m3_add_skew_product(own->sign, spatial ? lambda : arm, spatial ? arm : lambda, X);
  }
  if (!spatial) {
    poli_m3_multiply_transposed(r->R + 9 * b, X, Y);
    poli_m3_multiply(Y, r->R + 9 * b, K);
    return;
  }
  /* d(J x)/dphi = J x~ - (J x)~ */
  const double *vectors[2] = {s->next.v + first, s->next.vd + first};
  double turn[9];
  poli_m3_skew(vectors[0], turn);
  for (int k = 0; k < 2; k++) {
    double product[3], skew[9], change[9];
    poli_m3_apply(J, vectors[k], product);
    poli_m3_skew(vectors[k], skew);
    poli_m3_multiply(J, skew, change);
    poli_m3_add_skew(-1.0, product, change);
    if (k == 0) {
      poli_m3_multiply(turn, change, Y);
      poli_m3_copy(Y, change);
    }
    for (int i = 0; i < 9; i++) X[i] += change[i];
  }
  poli_m3_copy(X, K);
}

/* The blocks of a body at the last residual. */
static pol_status set_body(const poli_alpha *s, int b)
{
  poli_alpha_rows *r = s->rows;
  const pol_options *o = s->options;
  const poli_rigid_body *body = &r->bodies->items[b];
  const double inertia = (1.0 - o->alpha_m) / (o->gamma * (1.0 - o->alpha_f)), h = s->h;
  const double ratio = o->gamma / o->beta, moved = o->index == POL_INDEX_3 ? 1.0 : ratio;
  const int linear = body->v + (body->is_point ? 0 : 3);
  double *A = r->A_inverse + 9 * b, *RT = r->RT + 9 * b, *A_inverse_R = r->A_inverse_R + 9 * b;
  const double *R = axes_of(r, r->R, b), *w = s->next.v + body->v;
  for (int i = 0; i < 3; i++) r->sums[linear + i] = inertia * ratio * body->mass;
  r->mobility[b] = 1.0 / (inertia * ratio * body->mass);
  r->d[b] = moved * r->mobility[b];
  r->eta_d[b] = 1.0;
  if (body->is_point) return POL_OK;

  /* A = (inertia J + h d(w x J w)/dw) V + h^2 K T */
  poli_alpha_derivatives d;
  const pol_status status = poli_alpha_differentiate(s, r->factor[b], inertia, &d);
  if (status) return status;
  double X[9], Y[9], K[9], J[9], momentum[3];
  poli_m3_copy(body->inertia, J);
  if (r->bodies->spatial) {
    poli_m3_multiply(r->R + 9 * b, body->inertia, X);
    poli_m3_multiply_by_transposed(X, r->R + 9 * b, J);
  }
  poli_m3_skew(w, X);
  poli_m3_multiply(X, J, Y);
  poli_m3_apply(J, w, momentum);
  poli_m3_add_skew(-1.0, momentum, Y);
  for (int i = 0; i < 9; i++) Y[i] = inertia * J[i] + h * Y[i];
  poli_m3_multiply(Y, d.V, A);
  set_stiffness(s, b, J, K);
  poli_m3_multiply(K, d.T, X);
  for (int i = 0; i < 9; i++) A[i] += h * h * X[i];
  for (int i = 0; i < 3; i++)
    r->sums[body->v + i] = fabs(A[3 * i]) + fabs(A[3 * i + 1]) + fabs(A[3 * i + 2]);
  if (!invert(A)) return POL_SINGULAR;

  /* D = R (T or V) A^-1 R^T, and R T R_n^T for eta */
  poli_m3_multiply(R, d.T, RT);
  poli_m3_multiply_by_transposed(A, R, A_inverse_R);
  if (o->index != POL_INDEX_3) poli_m3_multiply(R, d.V, r->RV + 9 * b);
  poli_m3_multiply(o->index == POL_INDEX_3 ? RT : r->RV + 9 * b, A_inverse_R, r->D + 9 * b);
  if (s->saddle->num_extra)
    poli_m3_multiply_by_transposed(RT, axes_of(r, r->old_R, b), r->eta_D + 9 * b);
  return POL_OK;
}

/* Blocks of B v, whose arms of joined points turn with the body. */
static void set_velocity_blocks(const poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  const double scale = s->h * s->options->beta / s->options->gamma;
  poli_alpha_copy(r->velocity_B, r->B, r->space->num_blocks);
  for (int b = 0; b < r->bodies->count; b++) {
    double w[3];
    if (r->bodies->places[b].is_point) continue;
    poli_m3_apply(axes_of(r, r->R, b), s->next.v + r->bodies->places[b].v, w);
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
      const poli_row_side *own = &r->space->sides[e];
      if (own->joined)
        poli_v3_add_scaled_cross(scale, w, r->B + own->block, r->velocity_B + own->block);
    }
  }
}

/* Until one fails; the first of all that do is noted. */
static void set_bodies(int first, int end, void *user)
{
  const body_loop *loop = user;
  for (int b = first; b < end; b++) {
    if (set_body(loop->s, b) == POL_OK) continue;
    int noted = atomic_load(loop->failed);
    while (b < noted && !atomic_compare_exchange_weak(loop->failed, &noted, b)) continue;
    return;
  }
}

static pol_status set_matrix(void *alpha)
{
  poli_alpha *s = alpha;
  poli_alpha_rows *r = s->rows;
  const pol_options *o = s->options;
  const double ratio = o->gamma / o->beta, moved = o->index == POL_INDEX_3 ? 1.0 : ratio;
  atomic_int failed = INT_MAX;
  run_bodies(s, &(body_loop){.failed = &failed}, set_bodies);
  if (atomic_load(&failed) < INT_MAX) return set_body(s, atomic_load(&failed));
  for (int i = 0; i < r->m; i++) {
    const poli_compliant_row *spring = i < r->held ? NULL : &r->bodies->compliant[i - r->held];
    r->left_out[i] = r->eta_left_out[i] = i < r->held && s->dropped && s->dropped[i];
    r->compliance[i] = 0.0;
    if (!spring) continue;
    r->compliance[i] =
        moved / (s->h * (s->h * spring->stiffness + ratio * spring->damping) + 1e-290);
    r->eta_left_out[i] = 1;
  }
  poli_alpha_copy(r->matrix_B, r->B, r->space->num_blocks);
  if (o->index != POL_INDEX_3) set_velocity_blocks(s);
  s->matrix_h = s->h;
  return POL_OK;
}

/* Factors a matrix of rows; a row that depends on others, beside those left out, makes it singular.
 */
static pol_status factor_rows(poli_alpha_rows *r, const double *B1, const double *B0,
                              const double *D, const double *d, const double *more,
                              const unsigned char *left_out, poli_block_lu *lu, int *row)
{
  int expected = 0;
  for (int i = 0; i < r->m; i++) expected += left_out[i];
  poli_row_space_assemble(r->space, B1, B0, D, d, more, lu);
  const int dropped = poli_block_lu_factor(lu, dependent, left_out);
  if (dropped < 0) return POL_NOT_FINITE;
  if (dropped == expected) return POL_OK;
  for (int i = 0; i < r->held; i++)
    if (poli_block_lu_dropped(lu)[i] && !left_out[i]) *row = i;
  return POL_SINGULAR;
}

static pol_status factor_matrix(int *row, void *alpha)
{
  poli_alpha *s = alpha;
  poli_alpha_rows *r = s->rows;
  int own = -1;
  const double *B = s->options->index == POL_INDEX_3 ? r->matrix_B : r->velocity_B;
  const double *more = r->m > r->held ? r->compliance : NULL;
  pol_status status = factor_rows(r, B, r->matrix_B, r->D, r->d, more, r->left_out, r->lu, &own);
  if (!status && s->saddle->num_extra)
    status = factor_rows(r, r->matrix_B, r->old_B, r->eta_D, r->eta_d, NULL, r->eta_left_out,
                         r->eta_lu, &own);
  *row = own < 0 ? -1 : s->saddle->nv + own;
  return status;
}

/* w of M w = B^T mu, B w = B v at q_n: the part of v that violates the constraints. */
pol_status poli_alpha_rows_velocity_defect(poli_alpha *s, const double *v, double *w)
{
  poli_alpha_rows *r = s->rows;
  int row;
  pol_status status = set_rows(s, s->t - s->h, s->now.q, r->R, r->B, r->position);
  if (status) return status;
  for (int b = 0; b < r->bodies->count; b++) {
    const double *R = r->R + 9 * b;
    double X[9];
    r->d[b] = r->bodies->items[b].inverse_mass;
    if (r->bodies->places[b].is_point) continue;
    poli_m3_multiply(R, r->bodies->items[b].inverse, X);
    poli_m3_multiply_by_transposed(X, R, r->D + 9 * b);
  }
  set_rates(s, v, r->mu);
  for (int i = 0; i < r->m; i++) {
    r->left_out[i] = i >= r->held || (s->dropped && s->dropped[i]);
    if (r->left_out[i]) r->mu[i] = 0.0;
  }
  r->newton->has_matrix = 0; /* its factors are overwritten */
  status = factor_rows(r, r->B, r->B, r->D, r->d, NULL, r->left_out, r->lu, &row);
  if (status) return status;
  poli_block_lu_solve(r->lu, r->mu);
  for (int b = 0; b < r->bodies->count; b++) {
    const poli_rigid_body *body = &r->bodies->items[b];
    double wrench[6] = {0.0}, turned[3], *to = w + body->v;
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++)
      poli_row_side_add_wrench(&r->space->sides[e], r->B, r->mu, wrench);
    if (!body->is_point) {
      poli_m3_apply(r->D + 9 * b, wrench, turned);
      poli_m3_apply_transposed(axes_of(r, r->R, b), turned, to);
      to += 3;
    }
    poli_v3_scale(body->inverse_mass, wrench + 3, to);
  }
  return POL_OK;
}

/* --- solution --------------------------------------------------------------------------------- */

/* Velocities in inertial axes, R T y or R V y with the derivative of velocities. */
static inline void move_body(const poli_alpha *s, int b, int by_velocity, const double *y)
{
  const poli_alpha_rows *r = s->rows;
  const poli_body_place *body = &r->bodies->places[b];
  const double *own = y + body->v;
  double *moved = r->moved + 6 * b;
  if (!body->is_point) {
    poli_m3_apply((by_velocity ? r->RV : r->RT) + 9 * b, own, moved);
    own += 3;
  }
  poli_v3_scale(by_velocity ? s->options->gamma / s->options->beta : 1.0, own, moved + 3);
}

static void move_bodies(int first, int end, void *user)
{
  const body_loop *loop = user;
  for (int b = first; b < end; b++) move_body(loop->s, b, 0, loop->from);
}

static void respond(int first, int end, void *user)
{
  const body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  const int of_eta = loop->kind;
  const double *B = of_eta ? r->old_B : r->matrix_B, *mu = loop->from;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    double wrench[6] = {0.0}, turned[3], *to = loop->to + body->v;
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++)
      poli_row_side_add_wrench(&r->space->sides[e], B, mu, wrench);
    if (!body->is_point) {
      if (of_eta)
        poli_m3_apply_transposed(axes_of(r, r->old_R, b), wrench, turned);
      else
        poli_m3_apply(r->A_inverse_R + 9 * b, wrench, turned);
      poli_v3_subtract(to, turned, to);
      to += 3;
    }
    poli_v3_add_scaled(of_eta ? -1.0 : -r->mobility[b], wrench + 3, to);
  }
}

/* y -= A^-1 B^T mu, or y -= B_0^T eta */
static void subtract_response(const poli_alpha *s, const double *mu, int of_eta, double *y)
{
  run_bodies(s, &(body_loop){.from = mu, .to = y, .kind = of_eta}, respond);
}

/* y = A^-1 a, and what it moves. */
static void solve_bodies(int first, int end, void *user)
{
  const body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    double *own = loop->to + body->v, z[3];
    if (!body->is_point) {
      poli_m3_apply(r->A_inverse + 9 * b, own, z);
      poli_v3_copy(z, own);
      own += 3;
    }
    poli_v3_scale(r->mobility[b], own, own);
    move_body(loop->s, b, loop->kind, loop->to);
  }
}

static void solve(double *x, void *alpha)
{
  const poli_alpha *s = alpha;
  const poli_alpha_rows *r = s->rows;
  const int nv = s->saddle->nv, by_velocity = s->options->index != POL_INDEX_3;
  double *b = x + nv, *c = b + r->held;

  /* mu from B T y - b, or B V y - b */
  run_bodies(s, &(body_loop){.to = x, .kind = by_velocity}, solve_bodies);
  for (int i = 0; i < r->m; i++) r->mu[i] = i < r->held ? -b[i] : 0.0;
  poli_row_space_add_rates(r->space, by_velocity ? r->velocity_B : r->matrix_B, r->moved, r->mu);
  poli_block_lu_solve(r->lu, r->mu);
  subtract_response(s, r->mu, 0, x);
  poli_alpha_copy(b, r->mu, r->held);
  if (!s->saddle->num_extra) return;

  /* eta from B T y - c */
  run_bodies(s, &(body_loop){.from = x}, move_bodies);
  for (int i = 0; i < r->m; i++) r->mu[i] = i < r->held ? -c[i] : 0.0;
  poli_row_space_add_rates(r->space, r->matrix_B, r->moved, r->mu);
  for (int i = r->held; i < r->m; i++) r->mu[i] = 0.0;
  poli_block_lu_solve(r->eta_lu, r->mu);
  subtract_response(s, r->mu, 1, x);
  poli_alpha_copy(c, r->mu, r->held);
}

/* --- norms ------------------------------------------------------------------------------------ */

static double size_of(const double x[3])
{
  return fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
}

/* Those of a spring and damper, h (h k + c gamma/beta) |W^T| |W|: without them a stiff one would
 * have a tiny share of what is accepted, and its fall would hide what other rows still lack. */
static void add_spring_sizes(const poli_alpha *s, double *rotation, double *translation)
{
  const poli_alpha_rows *r = s->rows;
  const int num_sides = r->space->first_side[r->bodies->count];
  double *angular = r->mu, *linear = r->rates;
  for (int i = r->held; i < r->m; i++) angular[i] = linear[i] = 0.0;
  for (int e = 0; e < num_sides; e++) {
    const poli_row_side *own = &r->space->sides[e];
    if (own->row < r->held) continue;
    angular[own->row] += size_of(r->B + own->block);
    linear[own->row] += size_of(r->B + own->block + 3);
  }
  for (int b = 0; b < r->bodies->count; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    const int first = body->v, position = first + (body->is_point ? 0 : 3);
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
      const poli_row_side *own = &r->space->sides[e];
      const double *W = r->B + own->block;
      if (own->row < r->held) continue;
      const poli_compliant_row *spring = &r->bodies->compliant[own->row - r->held];
      const double ratio = s->options->gamma / s->options->beta;
      const double stiffness = s->h * (s->h * spring->stiffness + ratio * spring->damping);
      for (int i = 0; i < 3; i++) {
        rotation[position + i] += stiffness * fabs(W[3 + i]) * angular[own->row];
        translation[position + i] += stiffness * fabs(W[3 + i]) * linear[own->row];
        if (body->is_point) continue;
        rotation[first + i] += stiffness * sqrt(poli_v3_dot(W, W)) * angular[own->row];
        translation[first + i] += stiffness * sqrt(poli_v3_dot(W, W)) * linear[own->row];
      }
    }
  }
}

static void add_row_sizes(const int *kind, double *size, void *alpha)
{
  const poli_alpha *s = alpha;
  const poli_alpha_rows *r = s->rows;
  const int nv = s->saddle->nv, n = s->saddle->n;
  const double ratio =
      s->options->index == POL_INDEX_3 ? 1.0 : s->options->gamma / s->options->beta;
  double *rotation = size + (size_t)POLI_ROTATIONS * (size_t)n,
         *translation = size + (size_t)POLI_TRANSLATIONS * (size_t)n;
  for (int i = 0; i < nv; i++) size[(size_t)kind[i] * (size_t)n + (size_t)i] += r->sums[i];
  if (r->m > r->held) add_spring_sizes(s, rotation, translation);
  for (int e = 0; e < r->space->first_side[r->bodies->count]; e++) {
    const poli_row_side *own = &r->space->sides[e];
    const double *B = r->B + own->block;
    for (int i = 0; i < own->joined + own->others && own->row < r->held; i++) {
      const int row = own->row + i;
      const double *other = B + own->joined + 6 * (i - own->joined);
      const int joined = i < own->joined;
      const double angular = joined ? size_of(B) - fabs(B[i]) : size_of(other);
      const double linear = joined ? 1.0 : size_of(other + 3);
      rotation[nv + row] += ratio * angular;
      translation[nv + row] += ratio * linear;
      if (!s->saddle->num_extra) continue;
      rotation[nv + r->held + row] += angular;
      translation[nv + r->held + row] += linear;
    }
  }
}

static void add_multipliers(const double *x, double *sum, void *alpha)
{
  const poli_alpha *s = alpha;
  const poli_alpha_rows *r = s->rows;
  for (int b = 0; b < r->bodies->count; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    double *to = sum + body->v, moment = 0.0;
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
      const poli_row_side *own = &r->space->sides[e];
      const double *B = r->B + own->block, *mu = x + s->saddle->nv + own->row;
      if (own->row >= r->held) continue;
      double *force = to + (body->is_point ? 0 : 3);
      if (own->joined) {
        for (int i = 0; i < 3; i++) force[i] += fabs(mu[i]);
        moment += sqrt(poli_v3_dot(B, B) * poli_v3_dot(mu, mu));
        B += 3;
        mu += 3;
      }
      for (int i = 0; i < own->others; i++, B += 6) {
        for (int k = 0; k < 3; k++) force[k] += fabs(B[3 + k] * mu[i]);
        moment += sqrt(poli_v3_dot(B, B)) * fabs(mu[i]);
      }
    }
    for (int i = 0; i < 3 && !body->is_point; i++) to[i] += moment;
  }
}

/* --- step ------------------------------------------------------------------------------------- */

/* The guess in the axes of the rows: s->x but for the multipliers, which go on along a line.  Those
 * of a polynomial are in these axes already; r->guess has others for the general matrix. */
static void set_guess(poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  const int nv = s->saddle->nv;
  const double *before = s->same_step ? r->before : r->now;
  poli_alpha_copy(r->guess, s->x, s->saddle->n);
  for (int i = 0; i < r->held; i++) {
    if (s->polynomial)
      r->guess[nv + i] = s->h * s->now.lambda[i];
    else
      s->x[nv + i] = s->h * (2.0 * r->now[i] - before[i]);
  }
}

pol_status poli_alpha_rows_solve(poli_alpha *s, pol_diagnostics *diagnostics)
{
  set_guess(s);
  const poli_newton_system system = {.residual = evaluate,
                                     .place = poli_alpha_place,
                                     .matrix = set_matrix,
                                     .tolerances = poli_alpha_tolerances,
                                     .round_off = poli_alpha_round_off,
                                     .user = s};
  const pol_status status = poli_newton_solve(s->rows->newton, &system, s->x, diagnostics);
  note_iterations(s->rows, status ? INT_MAX : diagnostics->iteration);
  if (status) poli_alpha_copy(s->x, s->rows->guess, s->saddle->n);
  return status;
}

void poli_alpha_rows_accept(poli_alpha *s)
{
  poli_alpha_rows *r = s->rows;
  double *oldest = r->before;
  r->before = r->now;
  r->now = oldest;
  poli_alpha_copy(r->now, s->next.lambda, r->held);
  poli_alpha_copy(r->now + r->held, s->eta, s->saddle->num_extra);
  if (r->own_axes) return;
  set_rotations(s, s->next.q, r->R);
  poli_row_space_turn(r->space, r->R, 1, s->next.lambda);
  if (s->saddle->num_extra) poli_row_space_turn(r->space, r->old_R, 1, s->eta);
}
