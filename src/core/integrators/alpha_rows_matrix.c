/* The Newton matrix of generalized-alpha in the space of the constraints: blocks of the bodies,
 * factors of the matrices of mu and eta, solution, and the sizes of its rows; see alpha_rows.c. */
#include <limits.h>
#include <math.h>

#include "base/wide.h"
#include "dae/dae.h"
#include "integrators/alpha_rows.h"

static const double dependent = 1e-12; /* pivots below belong to dependent constraints */

/* --- matrix ----------------------------------------------------------------------------------- */

/* A <- A^-1, 3 x 3; 0 if it is singular. */
POLI_INLINE int invert(double A[9])
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
POLI_INLINE void set_stiffness(const poli_alpha *s, int b, const double J[9], double K[9])
{
  const poli_alpha_rows *r = s->rows;
  const int spatial = r->bodies->spatial, first = r->bodies->places[b].v;
  double X[9] = {0.0}, Y[9];
  for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
    const poli_row_side *own = &r->space->sides[e];
    const double *arm = r->B + own->block, *lambda = poli_alpha_rows_lambda(s) + own->row;
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
POLI_INLINE pol_status set_body(const poli_alpha *s, int b)
{
  poli_alpha_rows *r = s->rows;
  const pol_options *o = s->options;
  const poli_body_place *body = &r->bodies->places[b];
  const double mass = r->inertia[10 * b], *own = poli_alpha_rows_inertia(r, b);
  const double inertia = (1.0 - o->alpha_m) / (o->gamma * (1.0 - o->alpha_f)), h = s->h;
  const double ratio = o->gamma / o->beta, moved = o->index == POL_INDEX_3 ? 1.0 : ratio;
  const double *R = poli_alpha_rows_axes(r, r->R, b), *w = s->next.v + body->v;
  r->d[b] = moved / (inertia * ratio * mass);
  if (body->is_point) return POL_OK;

  /* A = (inertia J + h d(w x J w)/dw) V + h^2 K T */
  poli_alpha_derivatives d;
  const pol_status status = poli_alpha_differentiate(s, r->factor[b], inertia, &d);
  if (status) return status;
  double A[9], X[9], Y[9], K[9], J[9], momentum[3], *A_inverse_R = r->A_inverse_R + 9 * b;
  poli_m3_copy(own, J);
  if (r->bodies->spatial) {
    poli_m3_multiply(r->R + 9 * b, own, X);
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
  if (!invert(A)) return POL_SINGULAR;

  /* D = R (T or V) A^-1 R^T, and R T R_n^T for eta */
  poli_m3_multiply_by_transposed(A, R, A_inverse_R);
  poli_m3_multiply(R, o->index == POL_INDEX_3 ? d.T : d.V, X);
  poli_m3_multiply(X, A_inverse_R, r->D + 9 * b);
  if (!s->saddle->num_extra) return POL_OK;
  poli_m3_multiply(R, d.T, r->RT + 9 * b);
  poli_m3_multiply_by_transposed(r->RT + 9 * b, poli_alpha_rows_axes(r, r->old_R, b),
                                 r->eta_D + 9 * b);
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
    poli_m3_apply(poli_alpha_rows_axes(r, r->R, b), s->next.v + r->bodies->places[b].v, w);
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
      const poli_row_side *own = &r->space->sides[e];
      if (own->joined)
        poli_v3_add_scaled_cross(scale, w, r->B + own->block, r->velocity_B + own->block);
    }
  }
}

/* Until one fails; the first of all that do is noted. */
static POLI_WIDE void set_bodies(int first, int end, void *user)
{
  const poli_body_loop *loop = user;
  for (int b = first; b < end; b++) {
    if (set_body(loop->s, b) == POL_OK) continue;
    int noted = atomic_load(loop->failed);
    while (b < noted && !atomic_compare_exchange_weak(loop->failed, &noted, b)) continue;
    return;
  }
}

/* After a residual, whose R and B become those of the matrix. */
pol_status poli_alpha_rows_set_matrix(void *alpha)
{
  poli_alpha *s = alpha;
  poli_alpha_rows *r = s->rows;
  const pol_options *o = s->options;
  const double ratio = o->gamma / o->beta, moved = o->index == POL_INDEX_3 ? 1.0 : ratio;
  atomic_int failed = INT_MAX;
  poli_alpha_rows_run(s, &(poli_body_loop){.failed = &failed}, set_bodies);
  if (atomic_load(&failed) < INT_MAX) return set_body(s, atomic_load(&failed));
  for (int i = 0; i < r->held; i++)
    r->left_out[i] = r->eta_left_out[i] = s->dropped && s->dropped[i];
  for (int i = r->held; i < r->m; i++) {
    const poli_compliant_row *spring = &r->bodies->compliant[i - r->held];
    r->compliance[i] =
        moved / (s->h * (s->h * spring->stiffness + ratio * spring->damping) + 1e-290);
    r->left_out[i] = 0;
    r->eta_left_out[i] = 1;
  }
  if (o->index != POL_INDEX_3) set_velocity_blocks(s);
  /* the next residual has others */
  double *const R = r->R, *const B = r->B;
  r->R = r->matrix_R;
  r->B = r->matrix_B;
  r->matrix_R = R;
  r->matrix_B = B;
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

pol_status poli_alpha_rows_factor(int *row, void *alpha)
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
  pol_status status = poli_alpha_rows_set_rows(s, s->t - s->h, s->now.q, r->R, r->B, r->position);
  if (status) return status;
  for (int b = 0; b < r->bodies->count; b++) {
    const double *R = r->R + 9 * b;
    double X[9];
    r->d[b] = r->bodies->items[b].inverse_mass;
    if (r->bodies->places[b].is_point) continue;
    poli_m3_multiply(R, r->bodies->items[b].inverse, X);
    poli_m3_multiply_by_transposed(X, R, r->D + 9 * b);
  }
  poli_alpha_rows_set_rates(s, v, r->mu);
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
      poli_m3_apply_transposed(poli_alpha_rows_axes(r, r->R, b), turned, to);
      to += 3;
    }
    poli_v3_scale(body->inverse_mass, wrench + 3, to);
  }
  return POL_OK;
}

/* --- solution --------------------------------------------------------------------------------- */

/* Displacements in inertial axes, R T y. */
static POLI_WIDE void move_bodies(int first, int end, void *user)
{
  const poli_body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    const double *own = loop->from + body->v;
    double *moved = r->moved + 6 * b;
    if (!body->is_point) {
      poli_m3_apply(r->RT + 9 * b, own, moved);
      own += 3;
    }
    poli_v3_copy(own, moved + 3);
  }
}

/* y = A^-1 (a - B^T mu) for a in inertial axes, which is in the place of y; or y -= B_0^T eta */
static POLI_WIDE void respond(int first, int end, void *user)
{
  const poli_body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  const int of_eta = loop->of_eta;
  const double *B = of_eta ? r->old_B : r->matrix_B, *mu = loop->from;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    double wrench[6] = {0.0}, turned[3], *to = loop->to + body->v;
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++)
      poli_row_side_add_wrench(&r->space->sides[e], B, mu, wrench);
    if (!body->is_point) {
      if (of_eta) {
        poli_m3_apply_transposed(poli_alpha_rows_axes(r, r->old_R, b), wrench, turned);
        poli_v3_subtract(to, turned, to);
      } else {
        poli_v3_subtract(to, wrench, turned);
        poli_m3_apply(r->A_inverse_R + 9 * b, turned, to);
      }
      to += 3;
    }
    poli_v3_subtract(to, wrench + 3, to);
    if (!of_eta) poli_v3_scale(r->d[b] / loop->scale, to, to);
  }
}

/* a in inertial axes, for the residual -a, and what it moves without reactions. */
static POLI_WIDE void turn_bodies(int first, int end, void *user)
{
  const poli_body_loop *loop = user;
  const poli_alpha_rows *r = loop->s->rows;
  for (int b = first; b < end; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    const double *residual = loop->from + body->v;
    double *a = loop->to + body->v, *moved = r->moved + 6 * b;
    if (!body->is_point) {
      double turned[3];
      poli_m3_apply(poli_alpha_rows_axes(r, r->matrix_R, b), residual, turned);
      poli_v3_scale(-1.0, turned, a);
      poli_m3_apply(r->D + 9 * b, a, moved);
      residual += 3;
      a += 3;
    }
    poli_v3_scale(-1.0, residual, a);
    poli_v3_scale(r->d[b], a, moved + 3);
  }
}

/* a in the place of y, and the right-hand side of mu, B T y - b or B V y - b with y = A^-1 a, for
 * the residual (-a, -b). */
static void set_right_side(const poli_alpha *s, const double *residual, double *y, double *mu)
{
  const poli_alpha_rows *r = s->rows;
  const double *b = residual + s->saddle->nv;
  const double *B = s->options->index == POL_INDEX_3 ? r->matrix_B : r->velocity_B;
  poli_body_loop loop = {.s = s, .from = residual, .to = y};
  if (r->num_stretches == 0) {
    poli_alpha_rows_run(s, &loop, turn_bodies);
    for (int i = 0; i < r->m; i++) mu[i] = i < r->held ? b[i] : 0.0;
    poli_row_space_add_rates(r->space, B, r->moved, mu);
    return;
  }
  /* one stretch after the other, while its bodies are in the cache; there are no springs */
  poli_stretch done = {0};
  for (int k = 0; k < r->num_stretches; k++) {
    const poli_stretch *end = &r->stretches[k];
    turn_bodies(done.placed, end->placed, &loop);
    poli_alpha_copy(mu + done.row, b + done.row, end->row - done.row);
    poli_row_space_add_rates_of(r->space, done.nodes, end->nodes, B, r->moved, mu);
    done = *end;
  }
}

void poli_alpha_rows_apply_inverse(const double *residual, double *x, void *alpha)
{
  const poli_alpha *s = alpha;
  const poli_alpha_rows *r = s->rows;
  const pol_options *o = s->options;
  const int nv = s->saddle->nv;
  const double moved = o->index == POL_INDEX_3 ? 1.0 : o->gamma / o->beta;
  double *b = x + nv, *c = b + r->held;
  double *mu = r->m > r->held ? r->mu : b; /* tensions are no unknowns */
  set_right_side(s, residual, x, mu);
  poli_block_lu_solve(r->lu, mu);
  poli_alpha_rows_run(s, &(poli_body_loop){.from = mu, .to = x, .scale = moved}, respond);
  if (mu != b) poli_alpha_copy(b, mu, r->held);
  if (!s->saddle->num_extra) return;

  /* eta from B T y - c */
  double *eta = r->m > r->held ? r->mu : c;
  poli_alpha_rows_run(s, &(poli_body_loop){.from = x}, move_bodies);
  for (int i = 0; i < r->m; i++) eta[i] = i < r->held ? residual[nv + r->held + i] : 0.0;
  poli_row_space_add_rates(r->space, r->matrix_B, r->moved, eta);
  for (int i = r->held; i < r->m; i++) eta[i] = 0.0;
  poli_block_lu_solve(r->eta_lu, eta);
  poli_alpha_rows_run(s, &(poli_body_loop){.from = eta, .to = x, .of_eta = 1}, respond);
  if (eta != c) poli_alpha_copy(c, eta, r->held);
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
    angular[own->row] += size_of(r->matrix_B + own->block);
    linear[own->row] += size_of(r->matrix_B + own->block + 3);
  }
  for (int b = 0; b < r->bodies->count; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    const int first = body->v, position = first + (body->is_point ? 0 : 3);
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
      const poli_row_side *own = &r->space->sides[e];
      const double *W = r->matrix_B + own->block;
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

void poli_alpha_rows_add_sizes(double *size, void *alpha)
{
  const poli_alpha *s = alpha;
  const poli_alpha_rows *r = s->rows;
  const int nv = s->saddle->nv, n = s->saddle->n;
  const double moved =
      s->options->index == POL_INDEX_3 ? 1.0 : s->options->gamma / s->options->beta;
  double *rotation = size + (size_t)POLI_ROTATIONS * (size_t)n,
         *translation = size + (size_t)POLI_TRANSLATIONS * (size_t)n;
  for (int b = 0; b < r->bodies->count; b++) {
    int i = r->bodies->places[b].v;
    if (!r->bodies->places[b].is_point) {
      double A[9]; /* = (A^-1 R^T R)^-1 */
      poli_m3_multiply(r->A_inverse_R + 9 * b, poli_alpha_rows_axes(r, r->matrix_R, b), A);
      invert(A);
      for (int k = 0; k < 3; k++) rotation[i + k] += size_of(A + 3 * k);
      i += 3;
    }
    for (int k = 0; k < 3; k++) translation[i + k] += moved / r->d[b];
  }
  if (r->m > r->held) add_spring_sizes(s, rotation, translation);
  for (int e = 0; e < r->space->first_side[r->bodies->count]; e++) {
    const poli_row_side *own = &r->space->sides[e];
    const double *B = r->matrix_B + own->block;
    for (int i = 0; i < own->joined + own->others && own->row < r->held; i++) {
      const int row = own->row + i;
      const double *other = B + own->joined + 6 * (i - own->joined);
      const int joined = i < own->joined;
      const double angular = joined ? size_of(B) - fabs(B[i]) : size_of(other);
      const double linear = joined ? 1.0 : size_of(other + 3);
      rotation[nv + row] += moved * angular;
      translation[nv + row] += moved * linear;
      if (!s->saddle->num_extra) continue;
      rotation[nv + r->held + row] += angular;
      translation[nv + r->held + row] += linear;
    }
  }
}

void poli_alpha_rows_add_multipliers(const double *x, double *sum, void *alpha)
{
  const poli_alpha *s = alpha;
  const poli_alpha_rows *r = s->rows;
  for (int b = 0; b < r->bodies->count; b++) {
    const poli_body_place *body = &r->bodies->places[b];
    double *to = sum + body->v, moment = 0.0;
    for (int e = r->space->first_side[b]; e < r->space->first_side[b + 1]; e++) {
      const poli_row_side *own = &r->space->sides[e];
      const double *B = r->matrix_B + own->block, *mu = x + s->saddle->nv + own->row;
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
