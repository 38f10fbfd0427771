/* Steps in Euler parameters that conserve energy and momentum, or the symplectic form
 * (pol_dae.passage): the principle of Kinon/Betsch/Schneider 2023 for a mass matrix that depends on
 * q (their remark 3), with a discrete derivative of
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
 * body and the points on it at once.  The way out: in the rotational half of the equations both
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
 * Directors are evaluated by a formulation of their own, the shadow, whose terms are mapped back
 * body by body.  The second derivatives of moving constraints by time and position are left out of
 * the matrix: they stand beside gamma, which vanishes with the step size.
 */
#include "formulation/passage.h"

#include <stdlib.h>
#include <string.h>

#include "dae/dae.h"
#include "lie/small.h"

/* A block of the matrices: a pair of bodies, in the pattern coupling and in that of the shadow. */
struct poli_body_pair {
  int row, col;
  poli_slot own, shadow;
};

/* Everything one evaluation shares; the arrays of the shadow have its sizes. */
typedef struct journey {
  const pol_formulation *f, *shadow;
  const pol_passage *at;
  double *scratch;              /* of the shadow */
  double *before, *after;       /* directors at q0 and where the constraints hold */
  double *after_rate;           /* and their rates there */
  double *mean, *rate, *pace;   /* over the step */
  double *force, *phi, *psi;    /* on directors */
  double *lambda, *gamma;       /* with zeros for the directors' own constraints */
  double *position, *velocity;  /* of the shadow */
  double *jacobian, *curvature; /* constraint */
  double *stiffness, *damping;  /* coupling: of forces */
  double *by_lambda, *by_gamma; /* coupling: H(lambda), H(gamma) */
  poli_body_passage *ways;      /* one a body */
  poli_body_maps *maps;
} journey;

/* Lays the arrays out in the scratch; returns how many numbers they take.  The scratch of the
 * shadow has to be the first: pol_dae.blame looks there for what failed. */
static size_t lay_out(const pol_formulation *f, double *scratch, journey *j)
{
  const pol_formulation *shadow = f->shadow;
  size_t nv = (size_t)shadow->dae.group.nv, m = (size_t)pol_dae_num_constraints(&shadow->dae);
  size_t coupling = (size_t)pol_pattern_nonzeros(shadow->coupling);
  size_t constraint = (size_t)pol_pattern_nonzeros(shadow->constraint);
  size_t bodies = (size_t)f->num_bodies;
  double *ways, *maps;
  const struct {
    double **array;
    size_t size;
  } arrays[] = {{&j->scratch, shadow->dae.scratch_size},
                {&j->before, nv},
                {&j->after, nv},
                {&j->after_rate, nv},
                {&j->mean, nv},
                {&j->rate, nv},
                {&j->pace, nv},
                {&j->force, nv},
                {&j->phi, nv},
                {&j->psi, nv},
                {&j->lambda, m},
                {&j->gamma, m},
                {&j->position, m},
                {&j->velocity, m},
                {&j->jacobian, constraint},
                {&j->curvature, constraint},
                {&j->stiffness, coupling},
                {&j->damping, coupling},
                {&j->by_lambda, coupling},
                {&j->by_gamma, coupling},
                {&ways, bodies * (sizeof(poli_body_passage) / sizeof(double))},
                {&maps, bodies * (sizeof(poli_body_maps) / sizeof(double))}};
  size_t total = 0;
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    *arrays[i].array = scratch ? scratch + total : NULL;
    total += arrays[i].size;
  }
  j->ways = (poli_body_passage *)ways;
  j->maps = (poli_body_maps *)maps;
  return total;
}

static double *copy(const double *from, int n, double *to)
{
  memcpy(to, from, (size_t)n * sizeof *to);
  return to;
}

static int is_rigid(const journey *j, int body)
{
  return !j->f->bodies[body].body->point;
}

/* --- where the bodies are --------------------------------------------------------------------- */

/* The centre of mass of a body, whose first coordinate among its own is `at` and among its vectors
 * `to`. */
static void place_centre(journey *j, int at, int to)
{
  const pol_passage *way = j->at;
  for (int i = 0; i < 3; i++) {
    double x = way->q0[at + i], a = way->a[at + i], b = way->b[at + i], v = way->v0[at + i];
    double mean = x + 0.5 * way->h * a;
    j->before[to + i] = x;
    j->mean[to + i] = mean;
    j->after[to + i] = way->midway ? mean : x + way->h * a;
    j->rate[to + i] = way->midway ? b : 0.5 * (v + b);
    j->after_rate[to + i] = b;
    j->pace[to + i] = way->midway ? b : a;
  }
}

static void place_bodies(journey *j)
{
  const pol_passage *at = j->at;
  for (int b = 0; b < j->f->num_bodies; b++) {
    const poli_placed_body *own = &j->f->bodies[b];
    int v = own->v, to = j->shadow->bodies[b].v;
    if (!is_rigid(j, b)) {
      place_centre(j, v, to);
      continue;
    }
    poli_body_passage *way = &j->ways[b];
    poli_chart_point start = {.q = at->q0 + own->q};
    poli_frame frame;
    poli_body_passage_set(way, own->body, at, at->q0 + v, at->v0 + v, at->p0 + v, at->a + v,
                          at->b + v);
    own->chart->frame(&start, &frame);
    for (int i = 0; i < POLI_TURN; i++) j->before[to + i] = frame.R[3 * (i % 3) + i / 3];
    copy(way->d, POLI_TURN, j->mean + to);
    copy(way->rate, POLI_TURN, j->rate + to);
    copy(way->d_end, POLI_TURN, j->after + to);
    copy(way->rate_end, POLI_TURN, j->after_rate + to);
    poli_body_passage_pace(way, j->pace + to);
    place_centre(j, v + POLI_QUATERNION, to + POLI_TURN);
  }
}

/* The rows that both formulations share. */
static int num_shared(const pol_formulation *f)
{
  return f->dae.num_holonomic - f->dae.num_internal;
}

static void place_multipliers(journey *j)
{
  size_t own = (size_t)num_shared(j->f), m = (size_t)pol_dae_num_constraints(&j->shadow->dae);
  memset(j->lambda, 0, m * sizeof *j->lambda);
  memset(j->gamma, 0, m * sizeof *j->gamma);
  memcpy(j->lambda, j->at->lambda, own * sizeof *j->lambda);
  if (j->at->gamma) memcpy(j->gamma, j->at->gamma, own * sizeof *j->gamma);
}

/* --- what directors say ----------------------------------------------------------------------- */

static pol_status evaluate(const journey *j, double t, const double *q, const double *v,
                           const double *lambda, unsigned want, const pol_terms *out)
{
  const pol_point at = {.t = t, .q = q, .v = v, .lambda = lambda, .history = j->at->history};
  return poli_dae_evaluate(&j->shadow->dae, &at, want, out, j->scratch);
}

static double half_time(const journey *j)
{
  return j->at->t + 0.5 * j->at->h;
}

static double end_time(const journey *j)
{
  return j->at->midway ? half_time(j) : j->at->t + j->at->h;
}

/* Forces, or their derivatives: between q0 and q1, or at the means. */
static pol_status evaluate_forces(const journey *j, unsigned want, const pol_terms *out)
{
  const pol_dae *dae = &j->shadow->dae;
  const pol_point at = {.t = half_time(j), .q = j->after, .v = j->pace, .history = j->at->history};
  if (!j->at->discrete) return evaluate(j, at.t, j->mean, j->pace, NULL, want, out);
  size_t coupling = (size_t)pol_pattern_nonzeros(j->shadow->coupling);
  if (want & POL_FORCE) memset(out->balance, 0, (size_t)dae->group.nv * sizeof *out->balance);
  if (want & POL_STIFFNESS) memset(out->stiffness, 0, coupling * sizeof *out->stiffness);
  if (want & POL_DAMPING) memset(out->damping, 0, coupling * sizeof *out->damping);
  return dae->discrete_force(j->before, &at, want, out, j->scratch, dae->user);
}

/* phi = h f + G^T h lambda + h Z^T gamma,  psi = G^T gamma */
static pol_status find_actions(journey *j)
{
  const pol_pattern *constraint = j->shadow->constraint;
  int nv = j->shadow->dae.group.nv;
  const pol_terms rows = {.jacobian = j->jacobian, .curvature = j->curvature};
  pol_status status = evaluate_forces(j, POL_FORCE, &(pol_terms){.balance = j->force});
  if (!status)
    status = evaluate(j, half_time(j), j->mean, j->rate, NULL, POL_JACOBIAN | POL_CURVATURE, &rows);
  if (status) return status;
  memset(j->psi, 0, (size_t)nv * sizeof *j->psi);
  for (int i = 0; i < nv; i++) j->phi[i] = j->at->h * j->force[i];
  pol_matrix_multiply_transposed(constraint, j->jacobian, 1.0, j->lambda, j->phi);
  pol_matrix_multiply_transposed(constraint, j->curvature, j->at->h, j->gamma, j->phi);
  pol_matrix_multiply_transposed(constraint, j->jacobian, 1.0, j->gamma, j->psi);
  return POL_OK;
}

/* --- the residual ----------------------------------------------------------------------------- */

/* The equations of a centre of mass. */
static void add_centre(const journey *j, double mass, int at, int to, const pol_passage_terms *out)
{
  double twice = j->at->midway ? 2.0 : 1.0;
  for (int i = 0; i < 3; i++) {
    out->kinematic[at + i] += mass * (j->at->a[at + i] - j->rate[to + i]) - j->psi[to + i];
    out->balance[at + i] += twice * (mass * j->at->b[at + i] - j->at->p0[at + i]) + j->phi[to + i];
  }
}

static void add_bodies(const journey *j, const pol_passage_terms *out)
{
  for (int b = 0; b < j->f->num_bodies; b++) {
    const poli_placed_body *own = &j->f->bodies[b];
    int v = own->v, to = j->shadow->bodies[b].v, row = own->internal_row;
    if (!is_rigid(j, b)) {
      add_centre(j, own->body->mass, v, to, out);
      continue;
    }
    poli_body_passage_residual(&j->ways[b], j->phi + to, j->psi + to, out->kinematic + v,
                               out->balance + v);
    if (j->at->gamma) out->kinematic[v] -= 2.0 * j->at->gamma[row];
    out->balance[v] += j->at->lambda[row];
    add_centre(j, own->body->mass, v + POLI_QUATERNION, to + POLI_TURN, out);
  }
}

/* The constraints where they hold, and those of lengths. */
static pol_status add_constraints(const journey *j, const pol_passage_terms *out)
{
  const pol_terms found = {.position = j->position, .velocity = j->velocity};
  pol_status status =
      evaluate(j, end_time(j), j->after, j->after_rate, NULL, POL_POSITION | POL_VELOCITY, &found);
  if (status) return status;
  for (int i = 0; i < num_shared(j->f); i++) {
    out->position[i] += j->position[i];
    if (j->at->gamma) out->velocity[i] += j->velocity[i];
  }
  for (int b = 0; b < j->f->num_bodies; b++) {
    const poli_body_passage *way = &j->ways[b];
    int row = j->f->bodies[b].internal_row;
    if (!is_rigid(j, b)) continue;
    out->position[row] -= 1.0;
    for (int i = 0; i < POLI_QUATERNION; i++) {
      out->position[row] += way->end[i] * way->end[i];
      if (j->at->gamma) out->velocity[row] += 2.0 * way->end[i] * way->b[i];
    }
  }
  return POL_OK;
}

/* --- the matrix ------------------------------------------------------------------------------- */

/* The factors of translations in the maps, and the rotations of rigid bodies. */
static void place_maps(journey *j)
{
  double share = j->at->midway ? 0.5 : 1.0, weight = j->at->midway ? 1.0 : 0.5;
  for (int b = 0; b < j->f->num_bodies; b++) {
    poli_body_maps *maps = &j->maps[b];
    memset(maps, 0, sizeof *maps);
    maps->mean_q.move = 0.5;
    maps->end_q.move = share;
    maps->rate_b.move = weight;
    maps->end_rate_b.move = 1.0;
    maps->pace_a.move = j->at->midway ? 0.0 : 1.0;
    maps->pace_b.move = j->at->midway ? 1.0 : 0.0;
    maps->torque.move = maps->spin.move = 1.0;
    if (is_rigid(j, b)) poli_body_passage_maps(&j->ways[b], maps);
  }
}

/* A block of at most 12 x 7 numbers: vectors of one body, coordinates of another. */
typedef double body_block[POLI_TURN + 3][POLI_QUATERNION + 3];

/* out += scale K map, for the block of a pair in the pattern of the shadow */
static void add_mapped(const journey *j, const struct poli_body_pair *pair, double scale,
                       const double *K, const poli_body_map *map, body_block out)
{
  int rows = is_rigid(j, pair->row) ? POLI_TURN + 3 : 3;
  int turn = is_rigid(j, pair->col) ? POLI_TURN : 0, quaternion = turn ? POLI_QUATERNION : 0;
  for (int k = 0; k < turn + 3; k++) {
    const double *column = K + pair->shadow.address + k * pair->shadow.stride;
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
static void add_block(const journey *j, const struct poli_body_pair *pair, double scale,
                      const poli_body_map *map, body_block block, double *values)
{
  int turn = is_rigid(j, pair->row) ? POLI_TURN : 0, quaternion = turn ? POLI_QUATERNION : 0;
  int cols = is_rigid(j, pair->col) ? POLI_QUATERNION + 3 : 3;
  for (int c = 0; c < cols; c++) {
    double *column = values + pair->own.address + c * pair->own.stride;
    for (int k = 0; k < turn; k++)
      for (int r = 0; r < quaternion; r++) column[r] += scale * map->turn[k][r] * block[k][c];
    for (int r = 0; r < 3; r++) column[quaternion + r] += scale * map->move * block[turn + r][c];
  }
}

/* What forces and multipliers of one body do with the coordinates of another. */
static void add_pair(const journey *j, const struct poli_body_pair *pair,
                     const pol_passage_terms *out)
{
  const poli_body_maps *left = &j->maps[pair->row], *right = &j->maps[pair->col];
  const poli_body_map *force_q = j->at->discrete ? &right->end_q : &right->mean_q;
  double h = j->at->h;
  body_block phi_a = {{0.0}}, phi_b = {{0.0}}, psi_a = {{0.0}};
  add_mapped(j, pair, h * h, j->stiffness, force_q, phi_a);
  add_mapped(j, pair, h, j->damping, &right->pace_a, phi_a);
  add_mapped(j, pair, h, j->by_lambda, &right->mean_q, phi_a);
  if (j->at->midway) add_mapped(j, pair, h, j->damping, &right->pace_b, phi_b);
  if (j->at->gamma) {
    add_mapped(j, pair, h * h, j->by_gamma, &right->rate_q, phi_a);
    add_mapped(j, pair, h, j->by_gamma, &right->rate_b, phi_b);
    add_mapped(j, pair, h, j->by_gamma, &right->mean_q, psi_a);
    add_block(j, pair, 1.0, &left->drag, psi_a, out->balance_a);
    add_block(j, pair, -1.0, &left->spin, psi_a, out->kinematic_a);
  }
  add_block(j, pair, 1.0, &left->torque, phi_a, out->balance_a);
  add_block(j, pair, 1.0, &left->torque, phi_b, out->balance_b);
}

/* Puts a block of four rotations on the diagonal. */
static void add_square(const poli_slot *slot, double block[4][4], double *values)
{
  for (int c = 0; c < POLI_QUATERNION; c++)
    for (int r = 0; r < POLI_QUATERNION; r++)
      values[slot->address + c * slot->stride + r] += block[r][c];
}

/* What the equations of a body have of its own. */
static void add_own_blocks(const journey *j, int b, const pol_passage_terms *out)
{
  const poli_placed_body *own = &j->f->bodies[b];
  int centre = is_rigid(j, b) ? POLI_QUATERNION : 0, to = j->shadow->bodies[b].v;
  double mass = own->body->mass, weight = j->at->midway ? 1.0 : 0.5;
  for (int i = centre; i < centre + 3; i++) {
    int diagonal = own->diagonal.address + i * own->diagonal.stride + i;
    out->kinematic_a[diagonal] += mass;
    out->kinematic_b[diagonal] -= weight * mass;
    out->balance_b[diagonal] += 2.0 * weight * mass;
  }
  if (!is_rigid(j, b)) return;
  poli_body_blocks blocks;
  poli_body_passage_blocks(&j->ways[b], &j->maps[b], j->phi + to, j->psi + to, &blocks);
  add_square(&own->diagonal, blocks.kinematic_a, out->kinematic_a);
  add_square(&own->diagonal, blocks.kinematic_b, out->kinematic_b);
  add_square(&own->diagonal, blocks.balance_a, out->balance_a);
  add_square(&own->diagonal, blocks.balance_b, out->balance_b);
}

/* values[shared rows, coordinates of a body] += scale (rows of the shadow) map */
static void add_rows(const journey *j, int b, double scale, const double *rows,
                     const poli_body_map *map, double *values)
{
  const pol_pattern *own = j->f->constraint, *shadow = j->shadow->constraint;
  int turn = is_rigid(j, b) ? POLI_TURN : 0, quaternion = turn ? POLI_QUATERNION : 0;
  int v = j->f->bodies[b].v, to = j->shadow->bodies[b].v;
  for (int c = 0; c < quaternion + 3; c++) {
    int first = own->start[v + c];
    int count = own->start[v + c + 1] - first - (turn ? 1 : 0); /* the last is the body's own */
    for (int k = 0; k < count; k++) {
      double sum = 0.0;
      for (int n = 0; n < turn && c < quaternion; n++)
        sum += rows[shadow->start[to + n] + k] * map->turn[n][c];
      if (c >= quaternion) sum = map->move * rows[shadow->start[to + turn + c - quaternion] + k];
      values[first + k] += scale * sum;
    }
  }
}

/* The constraint of the length of p. */
static void add_length(const journey *j, int b, const pol_passage_terms *out)
{
  const poli_body_passage *way = &j->ways[b];
  const poli_slot *slot = &j->f->bodies[b].internal;
  double share = j->at->midway ? 0.5 : 1.0;
  for (int i = 0; i < POLI_QUATERNION; i++) {
    int entry = slot->address + i * slot->stride;
    out->position_a[entry] += 2.0 * share * way->end[i];
    if (!j->at->gamma) continue;
    out->velocity_a[entry] += 2.0 * share * j->at->h * way->b[i];
    out->velocity_b[entry] += 2.0 * way->end[i];
  }
  out->balance_lambda[slot->address] += 1.0;
  if (j->at->gamma) out->kinematic_gamma[slot->address] -= 2.0;
}

/* The derivatives by multipliers, at the means. */
static void add_multiplier_blocks(const journey *j, const pol_passage_terms *out)
{
  for (int b = 0; b < j->f->num_bodies; b++) {
    const poli_body_maps *maps = &j->maps[b];
    add_rows(j, b, 1.0, j->jacobian, &maps->torque, out->balance_lambda);
    if (!j->at->gamma) continue;
    add_rows(j, b, -1.0, j->jacobian, &maps->spin, out->kinematic_gamma);
    add_rows(j, b, 1.0, j->jacobian, &maps->drag, out->balance_gamma);
    add_rows(j, b, j->at->h, j->curvature, &maps->torque, out->balance_gamma);
  }
}

/* Those of the constraints, where they hold. */
static pol_status add_constraint_blocks(journey *j, const pol_passage_terms *out)
{
  const pol_terms rows = {.jacobian = j->jacobian, .curvature = j->curvature};
  pol_status status =
      evaluate(j, end_time(j), j->after, j->after_rate, NULL, POL_JACOBIAN | POL_CURVATURE, &rows);
  for (int b = 0; b < j->f->num_bodies && !status; b++) {
    const poli_body_maps *maps = &j->maps[b];
    add_rows(j, b, 1.0, j->jacobian, &maps->end_q, out->position_a);
    if (is_rigid(j, b)) add_length(j, b, out);
    if (!j->at->gamma) continue;
    add_rows(j, b, j->at->h, j->curvature, &maps->end_q, out->velocity_a);
    add_rows(j, b, j->at->h, j->jacobian, &maps->end_rate_q, out->velocity_a);
    add_rows(j, b, 1.0, j->jacobian, &maps->end_rate_b, out->velocity_b);
  }
  return status;
}

static pol_status add_matrix(journey *j, const pol_passage_terms *out)
{
  double t = half_time(j);
  const pol_terms forces = {.stiffness = j->stiffness, .damping = j->damping};
  const pol_terms of_lambda = {.stiffness = j->by_lambda}, of_gamma = {.stiffness = j->by_gamma};
  place_maps(j);
  pol_status status = evaluate_forces(j, POL_STIFFNESS | POL_DAMPING, &forces);
  if (!status)
    status = evaluate(j, t, j->mean, j->rate, j->lambda, POL_GEOMETRIC_STIFFNESS, &of_lambda);
  if (!status && j->at->gamma)
    status = evaluate(j, t, j->mean, j->rate, j->gamma, POL_GEOMETRIC_STIFFNESS, &of_gamma);
  if (status) return status;
  for (int b = 0; b < j->f->num_bodies; b++) add_own_blocks(j, b, out);
  for (int k = 0; k < j->f->num_pairs; k++) add_pair(j, &j->f->pairs[k], out);
  add_multiplier_blocks(j, out);
  return add_constraint_blocks(j, out);
}

/* --- the callbacks ---------------------------------------------------------------------------- */

static pol_status passage(const pol_passage *at, unsigned want, const pol_passage_terms *out,
                          double *scratch, void *user)
{
  const pol_formulation *f = user;
  journey j = {.f = f, .shadow = f->shadow, .at = at};
  lay_out(f, scratch, &j);
  place_bodies(&j);
  place_multipliers(&j);
  pol_status status = find_actions(&j);
  if (!status && want & POL_PASSAGE_RESIDUAL) {
    add_bodies(&j, out);
    status = add_constraints(&j, out);
  }
  if (!status && want & POL_PASSAGE_MATRIX) status = add_matrix(&j, out);
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
 * another; body_at has the body that starts at a row, or -1.  pairs NULL: counts only. */
static int find_pairs(const pol_formulation *f, const int *body_at, struct poli_body_pair *pairs)
{
  const poli_placed_body *own = f->bodies, *shadow = f->shadow->bodies;
  int count = 0;
  for (int col = 0; col < f->num_bodies; col++)
    for (int k = f->coupling->start[own[col].v]; k < f->coupling->start[own[col].v + 1]; k++) {
      int row = body_at[f->coupling->row[k]];
      if (row < 0) continue;
      if (pairs)
        pairs[count] = (struct poli_body_pair){
            .row = row,
            .col = col,
            .own = poli_slot_at(f->coupling, own[row].v, own[col].v),
            .shadow = poli_slot_at(f->shadow->coupling, shadow[row].v, shadow[col].v)};
      count++;
    }
  return count;
}

static pol_status place_pairs(pol_formulation *f)
{
  int *body_at = malloc((size_t)f->dae.group.nv * sizeof *body_at);
  if (!body_at) return POL_NO_MEMORY;
  for (int i = 0; i < f->dae.group.nv; i++) body_at[i] = -1;
  for (int b = 0; b < f->num_bodies; b++) body_at[f->bodies[b].v] = b;
  f->num_pairs = find_pairs(f, body_at, NULL);
  f->pairs = calloc((size_t)f->num_pairs + 1, sizeof *f->pairs);
  if (f->pairs) find_pairs(f, body_at, f->pairs);
  free(body_at);
  return f->pairs ? POL_OK : POL_NO_MEMORY;
}

pol_status poli_formulation_add_passage(pol_formulation *formulation)
{
  pol_formulation *f = formulation;
  journey sizes;
  if (pol_formulation_supports(f->mechanism, POL_DIRECTORS, f->no_shadow, sizeof f->no_shadow)) {
    f->dae.no_passage = f->no_shadow;
    return POL_OK;
  }
  pol_status status = pol_formulation_create(&f->shadow, f->mechanism, POL_DIRECTORS);
  if (!status) status = place_pairs(f);
  if (status) return status;
  f->dae.passage_size = lay_out(f, NULL, &sizes);
  f->dae.passage = passage;
  f->dae.momenta = momenta;
  return POL_OK;
}
