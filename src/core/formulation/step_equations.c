/* Steps in Euler parameters that conserve energy and momentum, or the symplectic form
 * (dae/step_equations.h): the principle of Kinon/Betsch/Schneider 2023 for a mass matrix that
 * depends on q (their remark 3), with a discrete derivative of
 *
 *     H(q, p) + lambda . Phi(q) + gamma . e(q, p),      e = G(q) M(q)^-1 p.
 *
 * The derivation is our own; the regular mass matrix is that of Betsch/Siebert 2009.
 *
 * Of a rigid body with Euler parameters p and momenta pi, eta = conj(p) o pi are four invariants
 * of a rotation in space, bilinear in both, and
 *
 *     T = eta . Jh^-1 eta / 2,   Jh = 4 diag(tr(J)/2, J),   y = Jh^-1 eta,   p' = p o y,
 *
 * where 2 Im(y) is the angular velocity and Re(y) = 0 the velocity of |p|.  The midpoint rule moves
 * p by a turn of 4 tan(angle/4), the mean directors need 2 tan(angle/2), so that neither can turn a
 * body and the points on it at once.  The remedy: in the rotational half of the equations both
 * Hamilton's equations have the factor 2 - 1/|pm|^2, pm = (p0 + p1)/2, of second order, which keeps
 * them skew.  Then, where |p0| = |p1| = 1, a turn omega moves the mean directors by omega x d_k,
 * and everything that directors express has the discrete derivative that it has there.  With the
 * forces phi_k on directors, phi = h f + G^T h lambda + h Z^T gamma, psi = G^T gamma, all at the
 * means d_k, d_k' of the directors and of their rates at both ends, and Q = (d1 d2 d3)^-T:
 *
 *     kinematic   J (2 Im(zeta) - Omega_m) = sum e_k x (Q^T psi_k),
 *                 zeta = conj(pm) o a / (p0 . p1),  2 Im(zeta) = 2 tan(angle/2)/h about its axis
 *                 m (a - w) = psi_x
 *     balance     R1 J Omega1 - R0 J Omega0 + sum d_k x phi_k + h sum d_k' x psi_k = 0
 *                 m (v1 - v0) + phi_x = 0
 *     radial      2 tr(J) Re(zeta - y_m) = 2 gamma_0,   tr(J) (Re(y1) - Re(y0)) + h lambda_0 = 0
 *
 * and Phi(q1) = 0, e(q1, v1) = 0.  Forces without a potential are taken at the mean directors and
 * the velocities (d_k1 - d_k0)/h, so that what a damper takes out is what the energy loses.
 *
 * Midway (vi-a) it is the midpoint rule itself: all at pm with |pm| = 1, d_k = R(pm) e_k, zeta =
 * conj(pm) o a, y = conj(pm) o b, and the momenta pi1 = 2 pi_m - pi0 need not be those of p1:
 * the balance has Im(pi o conj(p))/2 in place of R J Omega.
 *
 * Directors are evaluated by a formulation of their own, the director model, whose terms are mapped
 * back body by body.  The second derivatives of moving constraints by time and position are left
 * out of the matrix: they stand beside gamma, which vanishes with the step size.
 */
#include "formulation/step_equations.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/dae.h"
#include "lie/small.h"

/* A block of the matrices: a pair of bodies, in the pattern coupling and in that of the director
 * model. */
struct poli_body_pair {
  int row, col;
  poli_slot own, directors;
};

/* Everything one evaluation shares; the arrays of the director model have its sizes. */
typedef struct step_evaluation {
  const pol_formulation *f, *directors;
  const poli_step_data *at;
  double *scratch;              /* of the director model */
  double *before, *after;       /* directors at q0 and where the constraints hold */
  double *after_rate;           /* and their rates there */
  double *mean, *rate, *pace;   /* over the step */
  double *force, *phi, *psi;    /* on directors */
  double *lambda, *gamma;       /* with zeros for the directors' own constraints */
  double *position, *velocity;  /* of the director model */
  double *jacobian, *curvature; /* constraint */
  double *stiffness, *damping;  /* coupling: of forces */
  double *by_lambda, *by_gamma; /* coupling: H(lambda), H(gamma) */
  poli_body_step *steps;        /* one a body */
  poli_body_maps *maps;
} step_evaluation;

/* Lays the arrays out in the scratch; returns how many numbers they take.  The scratch of the
 * directors has to be the first: pol_dae.blame looks there for what failed. */
static size_t lay_out(const pol_formulation *f, double *scratch, step_evaluation *e)
{
  const pol_formulation *directors = f->directors;
  const int nv = directors->dae.group.nv, m = pol_dae_num_constraints(&directors->dae);
  const int coupling = pol_pattern_nonzeros(directors->coupling);
  const int constraint = pol_pattern_nonzeros(directors->constraint);
  poli_arena arena = {.memory = scratch};
  POLI_TAKE(&arena, e->scratch, directors->dae.scratch_size);
  POLI_TAKE_EACH(&arena, nv, &e->before, &e->after, &e->after_rate, &e->mean, &e->rate, &e->pace,
                 &e->force, &e->phi, &e->psi);
  POLI_TAKE_EACH(&arena, m, &e->lambda, &e->gamma, &e->position, &e->velocity);
  POLI_TAKE_EACH(&arena, constraint, &e->jacobian, &e->curvature);
  POLI_TAKE_EACH(&arena, coupling, &e->stiffness, &e->damping, &e->by_lambda, &e->by_gamma);
  POLI_TAKE(&arena, e->steps, f->num_bodies);
  POLI_TAKE(&arena, e->maps, f->num_bodies);
  return arena.used / sizeof(double);
}

static double *copy(const double *from, int n, double *to)
{
  memcpy(to, from, (size_t)n * sizeof *to);
  return to;
}

static int is_rigid(const step_evaluation *e, int body)
{
  return !e->f->bodies[body].body->point;
}

/* --- where the bodies are --------------------------------------------------------------------- */

/* The centre of mass of a body, whose first coordinate among its own is `at` and among its vectors
 * `to`. */
static void place_centre(step_evaluation *e, int at, int to)
{
  const poli_step_data *step = e->at;
  for (int i = 0; i < 3; i++) {
    double x = step->q0[at + i], a = step->a[at + i], b = step->b[at + i], v = step->v0[at + i];
    double mean = x + 0.5 * step->h * a;
    e->before[to + i] = x;
    e->mean[to + i] = mean;
    e->after[to + i] = step->midway ? mean : x + step->h * a;
    e->rate[to + i] = step->midway ? b : 0.5 * (v + b);
    e->after_rate[to + i] = b;
    e->pace[to + i] = step->midway ? b : a;
  }
}

static void place_bodies(step_evaluation *e)
{
  const poli_step_data *at = e->at;
  for (int b = 0; b < e->f->num_bodies; b++) {
    const poli_placed_body *own = &e->f->bodies[b];
    int v = own->v, to = e->directors->bodies[b].v;
    if (!is_rigid(e, b)) {
      place_centre(e, v, to);
      continue;
    }
    poli_body_step *step = &e->steps[b];
    poli_chart_point start = {.q = at->q0 + own->q};
    poli_frame frame;
    poli_body_step_set(step, own->body, at, at->q0 + v, at->v0 + v, at->p0 + v, at->a + v,
                       at->b + v);
    own->chart->frame(&start, &frame);
    for (int i = 0; i < POLI_TURN; i++) e->before[to + i] = frame.R[3 * (i % 3) + i / 3];
    copy(step->d, POLI_TURN, e->mean + to);
    copy(step->rate, POLI_TURN, e->rate + to);
    copy(step->d_end, POLI_TURN, e->after + to);
    copy(step->rate_end, POLI_TURN, e->after_rate + to);
    poli_body_step_pace(step, e->pace + to);
    place_centre(e, v + POLI_QUATERNION, to + POLI_TURN);
  }
}

/* The rows that both formulations share. */
static int num_shared(const pol_formulation *f)
{
  return f->dae.num_holonomic - f->dae.num_internal;
}

/* --- what directors say ----------------------------------------------------------------------- */

static pol_status evaluate(const step_evaluation *e, double t, const double *q, const double *v,
                           const double *lambda, unsigned want, const pol_terms *out)
{
  const pol_point at = {.t = t, .q = q, .v = v, .lambda = lambda, .history = e->at->history};
  return poli_dae_evaluate(&e->directors->dae, &at, want, out, e->scratch);
}

static double half_time(const step_evaluation *e)
{
  return e->at->t + 0.5 * e->at->h;
}

static double end_time(const step_evaluation *e)
{
  return e->at->midway ? half_time(e) : e->at->t + e->at->h;
}

/* Forces, or their derivatives: between q0 and q1, or at the means. */
static pol_status evaluate_forces(const step_evaluation *e, unsigned want, const pol_terms *out)
{
  const pol_dae *dae = &e->directors->dae;
  const pol_point at = {.t = half_time(e), .q = e->after, .v = e->pace, .history = e->at->history};
  if (!e->at->discrete) return evaluate(e, at.t, e->mean, e->pace, NULL, want, out);
  size_t coupling = (size_t)pol_pattern_nonzeros(e->directors->coupling);
  if (want & POL_FORCE) memset(out->balance, 0, (size_t)dae->group.nv * sizeof *out->balance);
  if (want & POL_STIFFNESS) memset(out->stiffness, 0, coupling * sizeof *out->stiffness);
  if (want & POL_DAMPING) memset(out->damping, 0, coupling * sizeof *out->damping);
  return dae->discrete_force(e->before, &at, want, out, e->scratch, dae->user);
}

/* phi = h f + G^T h lambda + h Z^T gamma,  psi = G^T gamma; the multipliers of the rows that both
 * formulations share. */
static pol_status find_actions(step_evaluation *e)
{
  const pol_pattern *constraint = e->directors->constraint;
  const int nv = e->directors->dae.group.nv;
  size_t own = (size_t)num_shared(e->f), m = (size_t)pol_dae_num_constraints(&e->directors->dae);
  memset(e->lambda, 0, m * sizeof *e->lambda);
  memset(e->gamma, 0, m * sizeof *e->gamma);
  memcpy(e->lambda, e->at->lambda, own * sizeof *e->lambda);
  if (e->at->gamma) memcpy(e->gamma, e->at->gamma, own * sizeof *e->gamma);
  const pol_terms rows = {.jacobian = e->jacobian, .curvature = e->curvature};
  pol_status status = evaluate_forces(e, POL_FORCE, &(pol_terms){.balance = e->force});
  if (!status)
    status = evaluate(e, half_time(e), e->mean, e->rate, NULL, POL_JACOBIAN | POL_CURVATURE, &rows);
  if (status) return status;
  memset(e->psi, 0, (size_t)nv * sizeof *e->psi);
  for (int i = 0; i < nv; i++) e->phi[i] = e->at->h * e->force[i];
  pol_matrix_multiply_transposed(constraint, e->jacobian, 1.0, e->lambda, e->phi);
  pol_matrix_multiply_transposed(constraint, e->curvature, e->at->h, e->gamma, e->phi);
  pol_matrix_multiply_transposed(constraint, e->jacobian, 1.0, e->gamma, e->psi);
  return POL_OK;
}

/* --- the residual ----------------------------------------------------------------------------- */

/* The equations of a centre of mass. */
static void add_centre(const step_evaluation *e, double mass, int at, int to,
                       const poli_step_terms *out)
{
  double twice = e->at->midway ? 2.0 : 1.0;
  for (int i = 0; i < 3; i++) {
    out->kinematic[at + i] += mass * (e->at->a[at + i] - e->rate[to + i]) - e->psi[to + i];
    out->balance[at + i] += twice * (mass * e->at->b[at + i] - e->at->p0[at + i]) + e->phi[to + i];
  }
}

/* The equations of the bodies, the constraints where they hold, and those of lengths. */
static pol_status add_residual(const step_evaluation *e, const poli_step_terms *out)
{
  for (int b = 0; b < e->f->num_bodies; b++) {
    const poli_placed_body *own = &e->f->bodies[b];
    int v = own->v, to = e->directors->bodies[b].v, row = own->internal_row;
    if (!is_rigid(e, b)) {
      add_centre(e, own->body->mass, v, to, out);
      continue;
    }
    poli_body_step_residual(&e->steps[b], e->phi + to, e->psi + to, out->kinematic + v,
                            out->balance + v);
    if (e->at->gamma) out->kinematic[v] -= 2.0 * e->at->gamma[row];
    out->balance[v] += e->at->lambda[row];
    add_centre(e, own->body->mass, v + POLI_QUATERNION, to + POLI_TURN, out);
  }
  const pol_terms found = {.position = e->position, .velocity = e->velocity};
  pol_status status =
      evaluate(e, end_time(e), e->after, e->after_rate, NULL, POL_POSITION | POL_VELOCITY, &found);
  if (status) return status;
  for (int i = 0; i < num_shared(e->f); i++) {
    out->position[i] += e->position[i];
    if (e->at->gamma) out->velocity[i] += e->velocity[i];
  }
  for (int b = 0; b < e->f->num_bodies; b++) {
    const poli_body_step *step = &e->steps[b];
    int row = e->f->bodies[b].internal_row;
    if (!is_rigid(e, b)) continue;
    out->position[row] -= 1.0;
    for (int i = 0; i < POLI_QUATERNION; i++) {
      out->position[row] += step->end[i] * step->end[i];
      if (e->at->gamma) out->velocity[row] += 2.0 * step->end[i] * step->b[i];
    }
  }
  return POL_OK;
}

/* --- the matrix ------------------------------------------------------------------------------- */

/* A block of at most 12 x 7 numbers: vectors of one body, coordinates of another. */
typedef double body_block[POLI_TURN + 3][POLI_QUATERNION + 3];

/* out += scale K map, for the block of a pair in the pattern of the director model */
static void add_mapped(const step_evaluation *e, const struct poli_body_pair *pair, double scale,
                       const double *K, const poli_body_map *map, body_block out)
{
  int rows = is_rigid(e, pair->row) ? POLI_TURN + 3 : 3;
  int turn = is_rigid(e, pair->col) ? POLI_TURN : 0, quaternion = turn ? POLI_QUATERNION : 0;
  for (int k = 0; k < turn + 3; k++) {
    const double *column = K + pair->directors.address + k * pair->directors.stride;
    for (int r = 0; r < rows; r++) {
      double entry = scale * column[r];
      if (entry == 0.0) continue;
      if (k >= turn)
        out[r][quaternion + k - turn] += entry * map->move;
      else
        for (int c = 0; c < quaternion; c++) out[r][c] += entry * map->turn[k][c];
    }
  }
}

/* values += scale map^T block, in the pattern coupling */
static void add_block(const step_evaluation *e, const struct poli_body_pair *pair, double scale,
                      const poli_body_map *map, body_block block, double *values)
{
  int turn = is_rigid(e, pair->row) ? POLI_TURN : 0, quaternion = turn ? POLI_QUATERNION : 0;
  int cols = is_rigid(e, pair->col) ? POLI_QUATERNION + 3 : 3;
  for (int c = 0; c < cols; c++) {
    double *column = values + pair->own.address + c * pair->own.stride;
    for (int k = 0; k < turn; k++)
      for (int r = 0; r < quaternion; r++) column[r] += scale * map->turn[k][r] * block[k][c];
    for (int r = 0; r < 3; r++) column[quaternion + r] += scale * map->move * block[turn + r][c];
  }
}

/* What forces and multipliers of one body do with the coordinates of another. */
static void add_pair(const step_evaluation *e, const struct poli_body_pair *pair,
                     const poli_step_terms *out)
{
  const poli_body_maps *left = &e->maps[pair->row], *right = &e->maps[pair->col];
  const poli_body_map *force_q = e->at->discrete ? &right->end_q : &right->mean_q;
  double h = e->at->h;
  body_block phi_a = {{0.0}}, phi_b = {{0.0}}, psi_a = {{0.0}};
  add_mapped(e, pair, h * h, e->stiffness, force_q, phi_a);
  add_mapped(e, pair, h, e->damping, &right->pace_a, phi_a);
  add_mapped(e, pair, h, e->by_lambda, &right->mean_q, phi_a);
  if (e->at->midway) add_mapped(e, pair, h, e->damping, &right->rate_b, phi_b);
  if (e->at->gamma) {
    add_mapped(e, pair, h * h, e->by_gamma, &right->rate_q, phi_a);
    add_mapped(e, pair, h, e->by_gamma, &right->rate_b, phi_b);
    add_mapped(e, pair, h, e->by_gamma, &right->mean_q, psi_a);
    add_block(e, pair, 1.0, &left->drag, psi_a, out->balance_a);
    add_block(e, pair, -1.0, &left->spin, psi_a, out->kinematic_a);
  }
  add_block(e, pair, 1.0, &left->torque, phi_a, out->balance_a);
  add_block(e, pair, 1.0, &left->torque, phi_b, out->balance_b);
}

/* What the equations of a body have of its own. */
static void add_own_blocks(const step_evaluation *e, int b, const poli_step_terms *out)
{
  const poli_placed_body *own = &e->f->bodies[b];
  int centre = is_rigid(e, b) ? POLI_QUATERNION : 0, to = e->directors->bodies[b].v;
  double mass = own->body->mass, weight = e->at->midway ? 1.0 : 0.5;
  for (int i = centre; i < centre + 3; i++) {
    int diagonal = own->diagonal.address + i * own->diagonal.stride + i;
    out->kinematic_a[diagonal] += mass;
    out->kinematic_b[diagonal] -= weight * mass;
    out->balance_b[diagonal] += 2.0 * weight * mass;
  }
  if (!is_rigid(e, b)) return;
  poli_body_blocks blocks;
  poli_body_step_blocks(&e->steps[b], &e->maps[b], e->phi + to, e->psi + to, &blocks);
  for (int c = 0; c < POLI_QUATERNION; c++)
    for (int r = 0; r < POLI_QUATERNION; r++) {
      int entry = own->diagonal.address + c * own->diagonal.stride + r;
      out->kinematic_a[entry] += blocks.kinematic_a[r][c];
      out->kinematic_b[entry] += blocks.kinematic_b[r][c];
      out->balance_a[entry] += blocks.balance_a[r][c];
      out->balance_b[entry] += blocks.balance_b[r][c];
    }
}

/* values[shared rows, coordinates of a body] += scale (rows of the director model) map */
static void add_rows(const step_evaluation *e, int b, double scale, const double *rows,
                     const poli_body_map *map, double *values)
{
  const pol_pattern *own = e->f->constraint, *directors = e->directors->constraint;
  int turn = is_rigid(e, b) ? POLI_TURN : 0, quaternion = turn ? POLI_QUATERNION : 0;
  int v = e->f->bodies[b].v, to = e->directors->bodies[b].v;
  for (int c = 0; c < quaternion + 3; c++) {
    int first = own->start[v + c];
    int count = own->start[v + c + 1] - first - (turn ? 1 : 0); /* the last is the body's own */
    for (int k = 0; k < count; k++) {
      double sum = 0.0;
      for (int n = 0; n < turn && c < quaternion; n++)
        sum += rows[directors->start[to + n] + k] * map->turn[n][c];
      if (c >= quaternion) sum = map->move * rows[directors->start[to + turn + c - quaternion] + k];
      values[first + k] += scale * sum;
    }
  }
}

/* The derivatives by multipliers, at the means, and those of the constraints, where they hold. */
static pol_status add_constraint_blocks(step_evaluation *e, const poli_step_terms *out)
{
  for (int b = 0; b < e->f->num_bodies; b++) {
    const poli_body_maps *maps = &e->maps[b];
    add_rows(e, b, 1.0, e->jacobian, &maps->torque, out->balance_lambda);
    if (!e->at->gamma) continue;
    add_rows(e, b, -1.0, e->jacobian, &maps->spin, out->kinematic_gamma);
    add_rows(e, b, 1.0, e->jacobian, &maps->drag, out->balance_gamma);
    add_rows(e, b, e->at->h, e->curvature, &maps->torque, out->balance_gamma);
  }
  const pol_terms rows = {.jacobian = e->jacobian, .curvature = e->curvature};
  pol_status status =
      evaluate(e, end_time(e), e->after, e->after_rate, NULL, POL_JACOBIAN | POL_CURVATURE, &rows);
  for (int b = 0; b < e->f->num_bodies && !status; b++) {
    const poli_body_maps *maps = &e->maps[b];
    add_rows(e, b, 1.0, e->jacobian, &maps->end_q, out->position_a);
    /* the constraint of the length of p */
    const poli_body_step *step = &e->steps[b];
    const poli_slot *slot = &e->f->bodies[b].internal;
    const double share = e->at->midway ? 0.5 : 1.0;
    for (int i = 0; i < POLI_QUATERNION && is_rigid(e, b); i++) {
      int entry = slot->address + i * slot->stride;
      out->position_a[entry] += 2.0 * share * step->end[i];
      if (i == 0) out->balance_lambda[entry] += 1.0;
      if (!e->at->gamma) continue;
      out->velocity_a[entry] += 2.0 * share * e->at->h * step->b[i];
      out->velocity_b[entry] += 2.0 * step->end[i];
      if (i == 0) out->kinematic_gamma[entry] -= 2.0;
    }
    if (!e->at->gamma) continue;
    add_rows(e, b, e->at->h, e->curvature, &maps->end_q, out->velocity_a);
    add_rows(e, b, e->at->h, e->jacobian, &maps->end_rate_q, out->velocity_a);
    add_rows(e, b, 1.0, e->jacobian, &maps->end_rate_b, out->velocity_b);
  }
  return status;
}

static pol_status add_matrix(step_evaluation *e, const poli_step_terms *out)
{
  double t = half_time(e);
  const pol_terms forces = {.stiffness = e->stiffness, .damping = e->damping};
  const pol_terms of_lambda = {.stiffness = e->by_lambda}, of_gamma = {.stiffness = e->by_gamma};

  /* the factors of translations in the maps, and the rotations of rigid bodies */
  const int midway = e->at->midway;
  memset(e->maps, 0, (size_t)e->f->num_bodies * sizeof *e->maps);
  for (int b = 0; b < e->f->num_bodies; b++) {
    poli_body_maps *maps = &e->maps[b];
    maps->mean_q.move = 0.5;
    maps->end_q.move = midway ? 0.5 : 1.0;
    maps->rate_b.move = midway ? 1.0 : 0.5;
    maps->end_rate_b.move = 1.0;
    maps->pace_a.move = midway ? 0.0 : 1.0;
    maps->torque.move = maps->spin.move = 1.0;
    if (is_rigid(e, b)) poli_body_step_maps(&e->steps[b], maps);
  }
  pol_status status = evaluate_forces(e, POL_STIFFNESS | POL_DAMPING, &forces);
  if (!status)
    status = evaluate(e, t, e->mean, e->rate, e->lambda, POL_GEOMETRIC_STIFFNESS, &of_lambda);
  if (!status && e->at->gamma)
    status = evaluate(e, t, e->mean, e->rate, e->gamma, POL_GEOMETRIC_STIFFNESS, &of_gamma);
  if (status) return status;
  for (int b = 0; b < e->f->num_bodies; b++) add_own_blocks(e, b, out);
  for (int k = 0; k < e->f->num_pairs; k++) add_pair(e, &e->f->pairs[k], out);
  return add_constraint_blocks(e, out);
}

/* --- the callbacks ---------------------------------------------------------------------------- */

static pol_status evaluate_step(const poli_step_data *at, unsigned want, const poli_step_terms *out,
                                double *scratch, void *user)
{
  const pol_formulation *f = user;
  step_evaluation e = {.f = f, .directors = f->directors, .at = at};
  lay_out(f, scratch, &e);
  place_bodies(&e);
  pol_status status = find_actions(&e);
  if (!status && want & POLI_STEP_RESIDUAL) status = add_residual(&e, out);
  if (!status && want & POLI_STEP_MATRIX) status = add_matrix(&e, out);
  return status;
}

static void momenta(const double *q, const double *v, double *p, void *user)
{
  const pol_formulation *f = user;
  for (int b = 0; b < f->num_bodies; b++) {
    const poli_placed_body *own = &f->bodies[b];
    int centre = own->v + own->chart->num_rotations;
    if (!own->body->point) poli_body_momenta(own->body, q + own->q, v + own->v, p + own->v);
    poli_v3_scale(own->body->mass, v + centre, p + centre);
  }
}

/* --- construction ----------------------------------------------------------------------------- */

/* Finds the blocks of the pattern coupling, each by the first row of a body in the first column of
 * another; body_at is the body that starts at a row, or -1. */
static pol_status place_pairs(pol_formulation *f)
{
  const poli_placed_body *own = f->bodies, *directors = f->directors->bodies;
  const pol_pattern *coupling = f->coupling;
  int *body_at = malloc((size_t)f->dae.group.nv * sizeof *body_at);
  if (!body_at) return POL_NO_MEMORY;
  for (int i = 0; i < f->dae.group.nv; i++) body_at[i] = -1;
  for (int b = 0; b < f->num_bodies; b++) body_at[own[b].v] = b;
  for (int pass = 0; pass < 2; pass++) {
    f->num_pairs = 0;
    for (int col = 0; col < f->num_bodies; col++)
      for (int k = coupling->start[own[col].v]; k < coupling->start[own[col].v + 1]; k++) {
        int row = body_at[coupling->row[k]];
        if (row < 0) continue;
        if (pass == 1)
          f->pairs[f->num_pairs] = (struct poli_body_pair){
              .row = row,
              .col = col,
              .own = poli_slot_at(coupling, own[row].v, own[col].v),
              .directors =
                  poli_slot_at(f->directors->coupling, directors[row].v, directors[col].v)};
        f->num_pairs++;
      }
    if (pass == 0) f->pairs = calloc((size_t)f->num_pairs + 1, sizeof *f->pairs);
    if (!f->pairs) break;
  }
  free(body_at);
  return f->pairs ? POL_OK : POL_NO_MEMORY;
}

pol_status poli_formulation_add_step_equations(pol_formulation *formulation)
{
  pol_formulation *f = formulation;
  step_evaluation sizes;
  if (pol_formulation_supports(f->mechanism, POL_DIRECTORS, f->no_directors,
                               sizeof f->no_directors)) {
    f->extension.step_equations.missing = f->no_directors;
    f->dae.extension = &f->extension;
    return POL_OK;
  }
  pol_status status = pol_formulation_create(&f->directors, f->mechanism, POL_DIRECTORS);
  if (!status) status = place_pairs(f);
  if (status) return status;
  f->extension.step_equations = (poli_step_equations){
      .evaluate = evaluate_step, .momenta = momenta, .scratch_size = lay_out(f, NULL, &sizes)};
  f->dae.extension = &f->extension;
  return POL_OK;
}
