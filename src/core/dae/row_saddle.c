/* The saddle-point system of rigid bodies by rows; see row_saddle.h.
 *
 * Blocks of B are for variations in inertial axes; the velocities of the dae have angular parts in
 * the axes Q of a body (its own, or inertial ones), so that the block of M^-1 for a rotation is
 * Q A Q^T, with A the inverse of the inertia in these axes.  Components that are kept have zeros in
 * A.
 */
#include "dae/row_saddle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/dae.h"
#include "dae/extension.h"

/* Pivots below this share of their diagonal entry belong to dependent rows. */
static const double dependent = 1e-12;

struct poli_row_saddle {
  const pol_dae *dae;
  const poli_rigid_bodies *bodies;
  poli_row_space *space;
  poli_block_lu *lu;
  void *memory;
  int is_tree;
  double *R, *B;      /* at the last q */
  double *A;          /* 9 per body: inverse of the rotational part in the axes Q */
  double *D, *d;      /* the same in inertial axes, and of the translation */
  double *position;   /* m: not used */
  double *mu, *force; /* m: solution; E or reactions in inertial axes */
};

/* --- life cycle ------------------------------------------------------------------------------- */

int poli_row_saddle_applies(const pol_dae *dae)
{
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(dae);
  if (!bodies || dae->num_nonholonomic || dae->num_states || dae->feedback) return 0;
  for (int b = 0; b < bodies->count; b++) {
    const poli_rigid_body *body = &bodies->items[b];
    const double *inverse = body->inverse;
    if (!isfinite(body->inverse_mass + inverse[0] + inverse[4] + inverse[8])) return 0;
  }
  return 1;
}

/* Joins the bodies of each node to one group, the ground to that of nodes with less than two sides;
 * a node within a group closes a loop. */
static pol_status find_loops(poli_row_saddle *s)
{
  const int ground = s->bodies->count;
  int *parent = malloc(((size_t)ground + 1) * sizeof *parent);
  if (!parent) return POL_NO_MEMORY;
  for (int b = 0; b <= ground; b++) parent[b] = b;
  s->is_tree = 1;
  for (int n = 0; n < s->space->num_nodes && s->is_tree; n++) {
    const poli_row_node *node = &s->space->nodes[n];
    int group[2];
    for (int i = 0; i < 2; i++) {
      int body = i < node->num_sides ? node->body[i] : ground;
      while (parent[body] != body) body = parent[body] = parent[parent[body]];
      group[i] = body;
    }
    s->is_tree = node->num_sides <= 2 && group[0] != group[1];
    parent[group[0]] = group[1];
  }
  free(parent);
  return POL_OK;
}

pol_status poli_row_saddle_create(poli_row_saddle **saddle, const pol_dae *dae)
{
  poli_row_saddle *s = *saddle = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->dae = dae;
  s->bodies = poli_dae_rigid_bodies(dae);
  pol_status status = poli_row_space_create(&s->space, s->bodies, 1, 0, 1);
  if (!status) status = poli_row_space_create_lu(s->space, &s->lu);
  if (!status) status = find_loops(s);
  if (!status) {
    const size_t bodies = (size_t)s->bodies->count, m = (size_t)s->space->m;
    poli_arena arena = {0};
    do {
      POLI_TAKE_EACH(&arena, 9 * bodies, &s->R, &s->A, &s->D);
      POLI_TAKE(&arena, s->d, bodies);
      POLI_TAKE(&arena, s->B, s->space->num_blocks);
      POLI_TAKE_EACH(&arena, m, &s->position, &s->mu, &s->force);
    } while (poli_arena_again(&arena));
    s->memory = arena.memory;
    if (!s->memory) status = POL_NO_MEMORY;
  }
  if (status) poli_row_saddle_free(saddle);
  return status;
}

void poli_row_saddle_free(poli_row_saddle **saddle)
{
  if (!*saddle) return;
  poli_block_lu_free(&(*saddle)->lu);
  poli_row_space_free(&(*saddle)->space);
  free((*saddle)->memory);
  free(*saddle);
  *saddle = NULL;
}

int poli_row_saddle_is_tree(const poli_row_saddle *saddle)
{
  return saddle->is_tree;
}

/* --- B and M ---------------------------------------------------------------------------------- */

pol_status poli_row_saddle_set(poli_row_saddle *saddle, double t, const double *q,
                               const double *history)
{
  const poli_row_saddle *s = saddle;
  for (int b = 0; b < s->bodies->count; b++) {
    if (s->bodies->items[b].is_point)
      poli_m3_diagonal(1.0, s->R + 9 * b);
    else
      poli_quat_to_matrix(q + s->bodies->items[b].q, s->R + 9 * b);
  }
  return s->bodies->constraints(s->space->nodes, s->space->num_nodes, s->space->threads, t, q, s->R,
                                history, s->position, s->B, s->dae->user);
}

/* Q, the axes of the angular velocity of a body in the dae. */
static const double *axes_of(const poli_row_saddle *s, int b)
{
  static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  return s->bodies->spatial ? identity : s->R + 9 * b;
}

/* J of a body in the axes Q. */
static void set_inertia(const poli_row_saddle *s, int b, double J[9])
{
  const double *own = s->bodies->items[b].inertia, *R = s->R + 9 * b;
  double X[9];
  if (!s->bodies->spatial) {
    poli_m3_copy(own, J);
    return;
  }
  poli_m3_multiply(R, own, X);
  poli_m3_multiply_by_transposed(X, R, J);
}

/* The six numbers of row k of a side, in the velocities of the dae. */
static void set_row(const poli_row_saddle *s, int b, const poli_row_side *side, int k,
                    double row[6])
{
  const double *B = s->B + side->block + 6 * k;
  poli_m3_apply_transposed(axes_of(s, b), B, row);
  poli_v3_copy(B + 3, row + 3);
}

/* Number of the first component of a body's velocity, behind those of its angular velocity. */
static int linear_of(const poli_rigid_body *body)
{
  return body->v + (body->is_point ? 0 : 3);
}

void poli_row_saddle_sizes(const poli_row_saddle *saddle, const double *unit, double *size)
{
  const poli_row_saddle *s = saddle;
  for (int i = 0; i < s->space->m; i++) size[i] = 0.0;
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = linear_of(body) - 3;
    for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++) {
      const poli_row_side *side = &s->space->sides[e];
      for (int k = 0; k < side->others; k++) {
        double row[6], *to = &size[side->row + k];
        set_row(s, b, side, k, row);
        for (int i = body->is_point ? 3 : 0; i < 6; i++)
          *to = fmax(*to, fabs(row[i]) / unit[first + i]);
      }
    }
  }
}

void poli_row_saddle_mobility(const poli_row_saddle *saddle, const unsigned char *keep,
                              double *mobility)
{
  const poli_row_saddle *s = saddle;
  for (int i = 0; i < s->space->m; i++) mobility[i] = 0.0;
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = linear_of(body) - 3;
    double J[9];
    set_inertia(s, b, J);
    for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++) {
      const poli_row_side *side = &s->space->sides[e];
      for (int k = 0; k < side->others; k++) {
        double row[6];
        set_row(s, b, side, k, row);
        for (int i = body->is_point ? 3 : 0; i < 6; i++)
          if (!keep || !keep[first + i])
            mobility[side->row + k] += row[i] * row[i] / (i < 3 ? J[4 * i] : body->mass);
      }
    }
  }
}

void poli_row_saddle_add_rates(const poli_row_saddle *saddle, const double *x, double *y)
{
  const poli_row_saddle *s = saddle;
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double v[6] = {0.0};
    if (!body->is_point) poli_m3_apply(axes_of(s, b), x + body->v, v);
    poli_v3_copy(x + linear_of(body), v + 3);
    for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++)
      poli_row_side_add_rates(&s->space->sides[e], s->B, v, y);
  }
}

void poli_row_saddle_add_momenta(const poli_row_saddle *saddle, const double *x, double *y)
{
  const poli_row_saddle *s = saddle;
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int linear = linear_of(body);
    double J[9], product[3];
    poli_v3_add_scaled(body->mass, x + linear, y + linear);
    if (body->is_point) continue;
    set_inertia(s, b, J);
    poli_m3_apply(J, x + body->v, product);
    poli_v3_add(y + body->v, product, y + body->v);
  }
}

/* --- factorisation ---------------------------------------------------------------------------- */

/* The reactions of points that are joined, as forces in inertial axes: force[row] .. of each such
 * node. */
static void set_forces(const poli_row_saddle *s, const double *lambda)
{
  for (int n = 0; n < s->space->num_nodes; n++) {
    const poli_row_node *node = &s->bodies->nodes[n];
    double *to = s->force + node->row;
    if (!node->joins) continue;
    poli_v3_copy(lambda + node->row, to);
    if (!node->axes) continue;
    to[0] = to[1] = to[2] = 0.0;
    for (int k = 0; k < 3; k++) {
      double axis[3];
      poli_v3_copy(node->axes[k], axis);
      if (node->joined[0] >= 0) poli_m3_apply(s->R + 9 * node->joined[0], node->axes[k], axis);
      poli_v3_add_scaled(lambda[node->row + k], axis, to);
    }
  }
}

/* A += h D + h_square K of a body, in its own axes: D = w~ J - (J w)~, and for the torque
 * sign arm x R^T force of a point that is joined K = sign arm~ (R^T force)~. */
static void add_implicit(const poli_row_saddle *s, int b, const poli_row_saddle_terms *terms,
                         double A[9])
{
  const poli_rigid_body *body = &s->bodies->items[b];
  const double *w = terms->v + body->v;
  double skew[9], product[9], momentum[3];
  poli_m3_apply(body->inertia, w, momentum);
  poli_m3_skew(w, skew);
  poli_m3_multiply(skew, body->inertia, product);
  poli_m3_add_skew(-1.0, momentum, product);
  for (int i = 0; i < 9; i++) A[i] += terms->h * product[i];
  for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++) {
    const poli_row_node *node = &s->bodies->nodes[s->space->sides[e].node];
    double force[3];
    if (!node->joins) continue;
    const int second = node->joined[1] == b;
    poli_m3_apply_transposed(s->R + 9 * b, s->force + node->row, force);
    poli_m3_add_skew_product(terms->h_square * (second ? 1.0 : -1.0), node->arm[second], force, A);
  }
}

/* The inverse of a 3 x 3 matrix without the rows and columns in keep (may be NULL), whose places
 * are set to 0; 0 if a pivot of the elimination is not positive. */
static int invert(double A[9], const unsigned char *keep)
{
  for (int r = 0; r < 3; r++) {
    if (keep && keep[r]) continue;
    if (!(A[4 * r] > 0.0)) return 0;
    const double pivot = 1.0 / A[4 * r];
    for (int i = 0; i < 3; i++) {
      if (i == r || (keep && keep[i])) continue;
      const double factor = A[3 * i + r] * pivot;
      for (int j = 0; j < 3; j++)
        if (j != r) A[3 * i + j] -= factor * A[3 * r + j];
      A[3 * i + r] = -factor;
    }
    for (int j = 0; j < 3; j++) A[3 * r + j] *= pivot;
    A[4 * r] = pivot;
  }
  for (int i = 0; i < 9 && keep; i++)
    if (keep[i / 3] || keep[i % 3]) A[i] = 0.0;
  return 1;
}

/* A, D and d of a body. */
static int set_body(const poli_row_saddle *s, int b, const poli_row_saddle_terms *terms)
{
  const poli_rigid_body *body = &s->bodies->items[b];
  const unsigned char *keep = terms->keep ? terms->keep + body->v : NULL;
  const unsigned char *linear = terms->keep ? terms->keep + linear_of(body) : NULL;
  double *A = s->A + 9 * b, *D = s->D + 9 * b, X[9];
  const double *Q = axes_of(s, b);
  if (linear && (linear[0] != linear[1] || linear[0] != linear[2])) return 0;
  s->d[b] = linear && linear[0] ? 0.0 : body->inverse_mass;
  memset(D, 0, 9 * sizeof *D);
  if (body->is_point) return 1;
  set_inertia(s, b, A);
  if (terms->v) add_implicit(s, b, terms, A);
  if (!invert(A, keep)) return 0;
  poli_m3_multiply(Q, A, X);
  poli_m3_multiply_by_transposed(X, Q, D);
  return 1;
}

pol_status poli_row_saddle_factor(poli_row_saddle *saddle, const poli_row_saddle_terms *terms)
{
  const poli_row_saddle *s = saddle;
  int expected = 0;
  if (terms->v && s->bodies->spatial) return POL_SINGULAR;
  if (terms->v) set_forces(s, terms->lambda);
  for (int b = 0; b < s->bodies->count; b++)
    if (!set_body(s, b, terms)) return POL_SINGULAR;
  for (int i = 0; i < s->space->m && terms->dropped; i++) expected += terms->dropped[i];
  poli_row_space_assemble(s->space, s->B, s->B, s->D, s->d, terms->diagonal, s->lu);
  const int dropped = poli_block_lu_factor(s->lu, dependent, expected ? terms->dropped : NULL);
  if (dropped < 0) return POL_NOT_FINITE;
  return dropped == expected ? POL_OK : POL_SINGULAR;
}

/* --- solution --------------------------------------------------------------------------------- */

void poli_row_saddle_solve(poli_row_saddle *saddle, double *rhs)
{
  const poli_row_saddle *s = saddle;
  double *x = rhs, *b = rhs + s->dae->group.nv;
  for (int k = 0; k < s->bodies->count; k++) { /* x = M^-1 f */
    const poli_rigid_body *body = &s->bodies->items[k];
    double *linear = x + linear_of(body), turned[3];
    poli_v3_scale(s->d[k], linear, linear);
    if (body->is_point) continue;
    poli_m3_apply(s->A + 9 * k, x + body->v, turned);
    poli_v3_copy(turned, x + body->v);
  }
  for (int i = 0; i < s->space->m; i++) s->mu[i] = -b[i];
  poli_row_saddle_add_rates(s, x, s->mu);
  poli_block_lu_solve(s->lu, s->mu);
  for (int k = 0; k < s->bodies->count; k++) { /* x -= M^-1 B^T mu */
    const poli_rigid_body *body = &s->bodies->items[k];
    double wrench[6] = {0.0}, turned[3], moved[3];
    for (int e = s->space->first_side[k]; e < s->space->first_side[k + 1]; e++)
      poli_row_side_add_wrench(&s->space->sides[e], s->B, s->mu, wrench);
    poli_v3_add_scaled(-s->d[k], wrench + 3, x + linear_of(body));
    if (body->is_point) continue;
    poli_m3_apply_transposed(axes_of(s, k), wrench, turned);
    poli_m3_apply(s->A + 9 * k, turned, moved);
    poli_v3_subtract(x + body->v, moved, x + body->v);
  }
  for (int i = 0; i < s->space->m; i++) b[i] = s->mu[i];
}
