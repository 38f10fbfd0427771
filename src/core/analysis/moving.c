/* The inverse of the linearised equations less a shift about a motion that is not steady, for a few
 * modes of a large model (modes_large.c).
 *
 * The equations are those of linear.c without its bases.  (A - sigma)^-1 applied to (a, b) is the
 * (w, v) with
 *
 *     v - (G + sigma) w - B_h^T mu = a                       N_h^T w' = sigma N_h^T w + ...
 *     y - sigma v + B'^T eta - B^T nu = b                    N_v^T v' and the change of N_v
 *     z - B^T eta = 0,   B z - C w = 0                       B B^T eta = C w = -B v
 *     M y + (M T + D) v + K w + (B^T + F) lambda = 0         balance, y = v'
 *     B y + C (v - G w) + B' v + C' w = 0                    its constraints
 *     B_h w = 0,   B v + C w = 0,
 *
 * where mu and nu leave the parts of w' and v' open that the constraints determine.  B' and C' are
 * their rates of change along the motion in the axes of observation.  All of it is one sparse
 * system, with the unknowns in the order w, v, y, z, lambda, nu, eta, mu.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"

struct poli_moving {
  const pol_analysis *a;
  const poli_terms *terms;
  const poli_axes *axes;
  const unsigned char *dropped;
  int nv, m, nh, first_state;
  pol_pattern *pattern;
  pol_solver *solver;
  int num_blocks, room; /* of blocks: while entries are counted */
  pol_block *blocks;
  void *memory;
  double *jacobian_rate, *curvature_rate; /* B', C' */
  double *turned, *slip;                  /* M T + D: pattern coupling; C - C G: constraint */
  double *values, *x;
  int is_counting;
  pol_status status;
};

static void enter(poli_moving *k, int row, int col, double value)
{
  if (!k->is_counting) {
    k->values[pol_pattern_address(k->pattern, row, col)] += value;
    return;
  }
  if (k->num_blocks == k->room) {
    k->room = 2 * k->room + 1000;
    pol_block *more = realloc(k->blocks, (size_t)k->room * sizeof *more);
    if (!more) {
      k->status = POL_NO_MEMORY;
      k->num_blocks = 0;
      k->room /= 4;
    } else {
      k->blocks = more;
    }
  }
  if (!k->status) k->blocks[k->num_blocks++] = (pol_block){row, col, 1, 1};
}

/* A sparse matrix at (row, col), times `scale`; is_transposed: its transpose.  Rows of constraints
 * above `rows`, and dropped ones, are left out. */
static void enter_matrix(poli_moving *k, int row, int col, const pol_pattern *pattern,
                         const double *values, double scale, int is_transposed, int rows)
{
  const int is_constraint = pattern == k->terms->patterns.constraint;
  for (int j = 0; j < pattern->cols; j++)
    for (int e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
      const int i = pattern->row[e];
      if (is_constraint && (i >= rows || k->dropped[i])) continue;
      enter(k, row + (is_transposed ? j : i), col + (is_transposed ? i : j), scale * values[e]);
    }
}

/* v - (G + sigma) w of the first rows; the coordinates of states are zero. */
static void enter_kinematics(poli_moving *k, double sigma)
{
  const pol_group *group = &k->a->dae->group;
  for (int i = 0; i < k->nv; i++) {
    enter(k, i, i, i < k->first_state ? -sigma : 1.0);
    if (i < k->first_state) enter(k, i, k->nv + i, 1.0);
  }
  for (int f = 0; f < group->num_factors; f++)
    for (int v = group->factors[f].v; v + 3 <= group->factors[f].v + group->factors[f].dim; v += 3)
      for (int i = 0; i < 3 && v < k->first_state; i++) {
        /* row i of G~: G_(i+1) w_(i+2) - G_(i+2) w_(i+1) */
        const int p = (i + 1) % 3, q = (i + 2) % 3;
        enter(k, v + i, v + q, -k->axes->G[v + p]);
        enter(k, v + i, v + p, k->axes->G[v + q]);
      }
}

static void enter_all(poli_moving *k, double sigma)
{
  const poli_terms *t = k->terms;
  const pol_pattern *coupling = t->patterns.coupling, *constraint = t->patterns.constraint;
  const int nv = k->nv, m = k->m, nh = k->nh;
  const int w = 0, v = nv, y = 2 * nv, z = 3 * nv;
  const int lambda = 4 * nv, nu = lambda + m, eta = nu + m, mu = eta + m;
  const int kinematics = 0, balance = nv, rate = 2 * nv, normal = 3 * nv;
  enter_kinematics(k, sigma);
  enter_matrix(k, kinematics, mu, constraint, t->jacobian, -1.0, 1, nh);
  enter_matrix(k, balance, y, coupling, t->mass, 1.0, 0, 0);
  enter_matrix(k, balance, v, coupling, k->turned, 1.0, 0, 0);
  enter_matrix(k, balance, w, coupling, t->stiffness, 1.0, 0, 0);
  enter_matrix(k, balance, lambda, constraint, t->jacobian, 1.0, 1, m);
  if (t->feedback) enter_matrix(k, balance, lambda, t->patterns.feedback, t->feedback, 1.0, 0, 0);
  for (int i = 0; i < nv; i++) {
    enter(k, rate + i, y + i, 1.0);
    enter(k, rate + i, v + i, -sigma);
    enter(k, normal + i, z + i, 1.0);
  }
  enter_matrix(k, rate, eta, constraint, k->jacobian_rate, 1.0, 1, m);
  enter_matrix(k, rate, nu, constraint, t->jacobian, -1.0, 1, m);
  enter_matrix(k, normal, eta, constraint, t->jacobian, -1.0, 1, m);
  /* rows of the constraints, each with the multiplier that it determines: B y + ..., B v + ..., B z
   * + ..., B_h w */
  enter_matrix(k, lambda, y, constraint, t->jacobian, 1.0, 0, m);
  enter_matrix(k, lambda, v, constraint, t->curvature, 1.0, 0, m);
  enter_matrix(k, lambda, v, constraint, k->jacobian_rate, 1.0, 0, m);
  enter_matrix(k, lambda, w, constraint, k->slip, 1.0, 0, m);
  enter_matrix(k, nu, v, constraint, t->jacobian, 1.0, 0, m);
  enter_matrix(k, nu, w, constraint, t->curvature, 1.0, 0, m);
  enter_matrix(k, eta, z, constraint, t->jacobian, 1.0, 0, m);
  enter_matrix(k, eta, w, constraint, t->curvature, -1.0, 0, m);
  enter_matrix(k, mu, w, constraint, t->jacobian, 1.0, 0, nh);
  for (int i = 0; i < m; i++)
    for (int block = 0; block < (i < nh ? 4 : 3) && k->dropped[i]; block++)
      enter(k, lambda + block * m + i, lambda + block * m + i, 1.0);
}

/* B', C', C' - C G and M T + D. */
static pol_status find_rates(poli_moving *k)
{
  const poli_terms *t = k->terms;
  const pol_pattern *coupling = t->patterns.coupling, *constraint = t->patterns.constraint;
  const pol_status status =
      poli_terms_rates((poli_terms *)t, k->a, k->jacobian_rate, k->curvature_rate);
  poli_axes_add_columns(k->axes, k->axes->T, constraint, t->jacobian, k->jacobian_rate);
  poli_axes_add_columns(k->axes, k->axes->T, constraint, t->curvature, k->curvature_rate);
  poli_axes_add_columns(k->axes, k->axes->G, constraint, t->curvature, k->slip);
  const int entries = pol_pattern_nonzeros(constraint);
  for (int e = 0; e < entries; e++) k->slip[e] = k->curvature_rate[e] - k->slip[e];
  memcpy(k->turned, t->damping, (size_t)pol_pattern_nonzeros(coupling) * sizeof *k->turned);
  poli_axes_add_columns(k->axes, k->axes->T, coupling, t->mass, k->turned);
  return status;
}

pol_status poli_moving_create(poli_moving **moving, const pol_analysis *analysis, poli_terms *terms,
                              const poli_axes *axes)
{
  poli_moving *k = *moving = calloc(1, sizeof *k);
  if (!k) return POL_NO_MEMORY;
  k->a = analysis;
  k->terms = terms;
  k->axes = axes;
  k->dropped = pol_assembler_dropped(analysis->assembler);
  k->nv = analysis->dae->group.nv;
  k->m = pol_dae_num_constraints(analysis->dae);
  k->nh = analysis->dae->num_holonomic;
  k->first_state = poli_analysis_first_state(analysis);
  const int n = 4 * k->nv + 3 * k->m + k->nh;
  const int entries = pol_pattern_nonzeros(terms->patterns.constraint);
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, entries, &k->jacobian_rate, &k->curvature_rate, &k->slip);
    POLI_TAKE(&arena, k->turned, pol_pattern_nonzeros(terms->patterns.coupling));
    POLI_TAKE(&arena, k->x, n);
  } while (poli_arena_again(&arena));
  k->memory = arena.memory;
  if (!k->memory) return POL_NO_MEMORY;
  pol_status status = find_rates(k);
  k->is_counting = 1;
  if (!status) enter_all(k, 1.0);
  k->is_counting = 0;
  if (!status) status = k->status;
  if (!status) status = pol_pattern_create(&k->pattern, n, n, k->num_blocks, k->blocks);
  free(k->blocks);
  k->blocks = NULL;
  if (!status) status = pol_solver_create(&k->solver, k->pattern, POL_SOLVER_SPARSE);
  if (!status) {
    k->values = calloc((size_t)pol_pattern_nonzeros(k->pattern) + 1, sizeof *k->values);
    if (!k->values) status = POL_NO_MEMORY;
  }
  return status;
}

void poli_moving_free(poli_moving **moving)
{
  if (!moving || !*moving) return;
  pol_solver_free(&(*moving)->solver);
  pol_pattern_free(&(*moving)->pattern);
  free((*moving)->blocks);
  free((*moving)->values);
  free((*moving)->memory);
  free(*moving);
  *moving = NULL;
}

pol_status poli_moving_factor(poli_moving *moving, double sigma)
{
  const size_t entries = (size_t)pol_pattern_nonzeros(moving->pattern);
  memset(moving->values, 0, entries * sizeof *moving->values);
  enter_all(moving, sigma);
  return pol_solver_factor(moving->solver, moving->values);
}

void poli_moving_apply(poli_moving *moving, const double *a, const double *b, double *w, double *v)
{
  const size_t nv = (size_t)moving->nv;
  memset(moving->x, 0, (size_t)moving->pattern->rows * sizeof *moving->x);
  memcpy(moving->x, a, (size_t)moving->first_state * sizeof *a);
  memcpy(moving->x + 2 * nv, b, nv * sizeof *b);
  pol_solver_solve(moving->solver, moving->x);
  memcpy(w, moving->x, nv * sizeof *w);
  memcpy(v, moving->x + nv, nv * sizeof *v);
}
