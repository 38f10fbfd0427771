/* A few modes of a large model, without full matrices: Arnoldi's method for the inverse of the
 * linearised equations less a shift.
 *
 * With y = (w, v), (A - sigma)^-1 applied to (a, b) is the (w, v) with
 *
 *     v = a + (G + sigma) w
 *     M (sigma v + b + T v) + D v + K w + (B^T + F) lambda = 0,    B_h w = 0,    A v + C w = 0,
 *
 * A here the non-holonomic rows of B.  Without v:
 *
 *     [ (M (sigma + T) + D) (G + sigma) + K   B^T + F ] [ w      ]   [ -(M (sigma + T) + D) a - M b
 * ] [ B_h ;  A (G + sigma) + C              0       ] [ lambda ] = [ 0 ;  -A a ].
 *
 * The coordinates of first-order states are not part of w: there the unknown is v, and its column
 * is that of M sigma + D.  An eigenvalue x of the operator gives s = sigma + 1/x.  If the motion is
 * not steady, constraints change along it, and the equations are those of moving.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"
#include "linalg/arnoldi.h"
#include "linalg/eigen.h"

typedef struct inverse {
  const pol_analysis *a;
  poli_terms *terms;
  poli_saddle *saddle;
  poli_moving *moving_system; /* if the motion is not steady */
  poli_axes axes;
  int nv, m, nh, moving;
  double sigma;
  double roundoff; /* eigenvalues of this size, rad/s, are round-off: of the stiffness, or of two
                      equal ones at the distance sigma */
  void *memory;
  double *left;   /* M (sigma + T) + D: pattern coupling */
  double *matrix; /* with (G + sigma) and K */
  double *slip;   /* A (G + sigma) + C: pattern constraint, holonomic rows B */
  double *x, *y;  /* nv + m */
} inverse;

static void set_matrix(inverse *k)
{
  const poli_terms *t = k->terms;
  const pol_pattern *coupling = t->patterns.coupling, *constraint = t->patterns.constraint;
  const int nonzeros = pol_pattern_nonzeros(coupling);
  for (int e = 0; e < nonzeros; e++) k->left[e] = k->sigma * t->mass[e] + t->damping[e];
  poli_axes_add_columns(&k->axes, k->axes.T, coupling, t->mass, k->left);
  for (int j = 0; j < k->nv; j++)
    for (int e = coupling->start[j]; e < coupling->start[j + 1]; e++)
      k->matrix[e] = j < k->moving ? k->sigma * k->left[e] + t->stiffness[e] : k->left[e];
  poli_axes_add_columns(&k->axes, k->axes.G, coupling, k->left, k->matrix);
  const int entries = pol_pattern_nonzeros(constraint);
  for (int e = 0; e < entries; e++) k->slip[e] = k->sigma * t->jacobian[e] + t->curvature[e];
  poli_axes_add_columns(&k->axes, k->axes.G, constraint, t->jacobian, k->slip);

  poli_saddle_set_kkt(k->saddle, k->matrix, t->jacobian);
  if (t->feedback) poli_saddle_add_feedback(k->saddle, t->feedback);
  /* the non-holonomic rows differ from B */
  for (int j = 0; j < k->nv; j++) {
    const int rows = k->saddle->pattern->start[j] + coupling->start[j + 1] - coupling->start[j];
    for (int e = constraint->start[j]; e < constraint->start[j + 1]; e++)
      if (constraint->row[e] >= k->nh)
        k->saddle->values[rows + e - constraint->start[j]] = k->slip[e];
  }
  poli_saddle_drop(k->saddle, pol_assembler_dropped(k->a->assembler));
}

static pol_status apply(const double *in, double *out, void *user)
{
  inverse *k = user;
  const double *a = in, *b = in + k->nv;
  const poli_terms *t = k->terms;
  const unsigned char *dropped = pol_assembler_dropped(k->a->assembler);
  if (k->moving_system) {
    poli_moving_apply(k->moving_system, a, b, out, out + k->nv);
    return POL_OK;
  }
  memset(k->x, 0, (size_t)(k->nv + k->m) * sizeof *k->x);
  memcpy(k->y, a, (size_t)k->nv * sizeof *k->y);
  for (int i = k->moving; i < k->nv; i++) k->y[i] = 0.0;
  pol_matrix_multiply(t->patterns.coupling, k->left, -1.0, k->y, k->x);
  pol_matrix_multiply(t->patterns.coupling, t->mass, -1.0, b, k->x);
  pol_matrix_multiply(t->patterns.constraint, t->jacobian, -1.0, k->y, k->x + k->nv);
  for (int i = 0; i < k->m; i++)
    if (i < k->nh || dropped[i]) k->x[k->nv + i] = 0.0;
  pol_solver_solve(k->saddle->solver, k->x);
  double *w = out, *v = out + k->nv;
  memcpy(w, k->x, (size_t)k->nv * sizeof *w);
  for (int i = 0; i < k->nv; i++) v[i] = i < k->moving ? a[i] + k->sigma * w[i] : k->x[i];
  for (int i = k->moving; i < k->nv; i++) w[i] = 0.0;
  poli_axes_add(&k->axes, k->axes.G, 1.0, w, v);
  return POL_OK;
}

static pol_status create(inverse *k, const pol_modes_options *options, pol_diagnostics *diagnostics)
{
  const pol_dae *dae = k->a->dae;
  const pol_point at = pol_state_point(&k->a->state);
  k->nv = dae->group.nv;
  k->m = pol_dae_num_constraints(dae);
  k->nh = dae->num_holonomic;
  k->moving = poli_analysis_first_state(k->a);
  pol_status status = poli_terms_create(&k->terms, dae);
  if (!status) status = poli_saddle_create(&k->saddle, dae, 0, POL_SOLVER_AUTO);
  if (!status) status = poli_terms_evaluate(k->terms, &at, diagnostics);
  if (status) return status;
  const pol_pattern *coupling = k->terms->patterns.coupling;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, k->nv, &k->axes.T, &k->axes.G);
    POLI_TAKE_EACH(&arena, pol_pattern_nonzeros(coupling), &k->left, &k->matrix);
    POLI_TAKE(&arena, k->slip, pol_pattern_nonzeros(k->terms->patterns.constraint));
    POLI_TAKE_EACH(&arena, k->nv + k->m, &k->x, &k->y);
  } while (poli_arena_again(&arena));
  k->memory = arena.memory;
  if (!k->memory) return POL_NO_MEMORY;
  poli_axes_set(&k->axes, k->a, options->frame);

  /* a shift of a thousandth of the fastest motion of a body by itself, or of 1/s */
  const double fastest = poli_terms_fastest(k->terms, k->a);
  k->sigma = options->shift != 0.0 ? options->shift : 1e-3 * (fastest > 0.0 ? fastest : 1.0);
  k->roundoff = fmax(1e-8 * fastest, 1e-7 * fabs(k->sigma));
  return POL_OK;
}

static pol_status factor(inverse *k)
{
  if (k->moving_system) return poli_moving_factor(k->moving_system, k->sigma);
  set_matrix(k);
  return pol_solver_factor(k->saddle->solver, k->saddle->values);
}

/* Whether holonomic constraints stay satisfied, C w + B G w = 0, for an increment that they allow:
 * relative to the velocities. */
static double drift(inverse *k, const double *w)
{
  const pol_pattern *constraint = k->terms->patterns.constraint;
  const unsigned char *dropped = pol_assembler_dropped(k->a->assembler);
  double speed = 0.0, size = 0.0, most = 0.0, *rows = k->x + k->nv;
  memset(k->y, 0, (size_t)k->nv * sizeof *k->y);
  poli_axes_add(&k->axes, k->axes.G, 1.0, w, k->y);
  memset(rows, 0, (size_t)k->m * sizeof *rows);
  pol_matrix_multiply(constraint, k->terms->jacobian, 1.0, k->y, rows);
  pol_matrix_multiply(constraint, k->terms->curvature, 1.0, w, rows);
  for (int i = 0; i < k->nv; i++) {
    speed = fmax(speed, fabs(k->a->v[i]));
    size = fmax(size, fabs(w[i]));
  }
  for (int i = 0; i < k->nh; i++)
    if (!dropped[i]) most = fmax(most, fabs(rows[i]));
  return speed * size > 0.0 ? most / (speed * size) : 0.0;
}

/* The eigenvalues x of the operator at the present shift. */
static pol_status iterate(inverse *k, int count, double *start, double *re, double *im,
                          double *vectors, int *found, double *unsteady)
{
  const int n = 2 * k->nv;
  double *any = start + n;
  pol_status status = factor(k);
  if (status) return status;
  /* any vector with a part of all motions, moved to the constraints */
  for (int i = 0; i < n; i++) any[i] = 1.0 + 0.5 * sin(1.0 + 7.0 * i);
  apply(any, start, k);
  if (!k->moving_system) *unsteady = fmax(*unsteady, drift(k, start));
  if (!k->moving_system && *unsteady > POLI_STEADY) {
    status = poli_moving_create(&k->moving_system, k->a, k->terms, &k->axes);
    if (!status) status = factor(k);
    if (status) return status;
    apply(any, start, k);
  }
  memcpy(any, start, (size_t)n * sizeof *any);
  apply(any, start, k);
  const poli_operator operator= {.n = n, .apply = apply, .user = k};
  return poli_arnoldi(&operator, "LM", count, start, re, im, vectors, found);
}

pol_status poli_modes_large(pol_analysis *analysis, const pol_modes_options *options, int count,
                            double *re, double *im, double *w, int *found, double *roundoff,
                            double *unsteady, pol_diagnostics *diagnostics)
{
  inverse k = {.a = analysis};
  pol_status status = create(&k, options, diagnostics);
  const int n = 2 * k.nv;
  double *start = calloc(2 * (size_t)n + 1, sizeof *start);
  double *vectors = calloc((size_t)n * (size_t)(count + 1) + 1, sizeof *vectors);
  if (!status && (!start || !vectors)) status = POL_NO_MEMORY;
  *found = 0;
  if (!status)
    *unsteady = poli_axes_unsteady(&k.axes, analysis, poli_terms_fastest(k.terms, analysis), k.y);
  if (!status) status = iterate(&k, count, start, re, im, vectors, found, unsteady);
  /* too many eigenvalues at about the same distance, as of overdamped motions: go nearer to zero */
  for (int i = 0; i < 4 && status == POL_NOT_CONVERGED && options->shift == 0.0; i++) {
    k.sigma *= 0.1;
    status = iterate(&k, count, start, re, im, vectors, found, unsteady);
  }
  for (int j = 0; j < *found && !status; j++) {
    const double square = re[j] * re[j] + im[j] * im[j];
    re[j] = k.sigma + re[j] / square;
    im[j] = im[j] != 0.0 ? -im[j] / square : 0.0;
    memcpy(w + (size_t)j * (size_t)k.nv, vectors + poli_at(0, j, n), (size_t)k.nv * sizeof *w);
  }
  /* 1/x has the conjugate eigenvector's sign: the second of a pair has the positive part now */
  for (int j = 0; j + 1 < *found && !status; j++) {
    if (!(im[j] < 0.0 && im[j + 1] > 0.0)) continue;
    im[j] = -im[j];
    im[j + 1] = -im[j + 1];
    double *imaginary = w + (size_t)(j + 1) * (size_t)k.nv;
    for (int i = 0; i < k.nv; i++) imaginary[i] = -imaginary[i];
    j++;
  }
  *roundoff = k.roundoff;
  free(start);
  free(vectors);
  poli_moving_free(&k.moving_system);
  poli_terms_free(&k.terms);
  poli_saddle_free(&k.saddle);
  free(k.memory);
  return status;
}
