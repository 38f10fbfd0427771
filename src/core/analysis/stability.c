/* Stability of an equilibrium: eigenvalues of the tangent stiffness on the motions that the
 * constraints allow,
 *
 *     K w + B^T mu = x M w,     B w = 0.
 *
 * Small models: full matrices in a basis of these motions.  Large ones: with a shift sigma slightly
 * below zero the operator (K - sigma M)^-1 M on them has the eigenvalues 1/(x - sigma), of which
 * the largest belong to the x nearest to zero.  Strongly negative x, which may be far from it, are
 * searched for with M^-1 K: a few steps of Arnoldi's method find them if they are there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"
#include "linalg/arnoldi.h"
#include "linalg/eigen.h"

enum { SEARCHED = 10 }; /* eigenvalues of a large model */

/* Frequency in Hz of a motion with the complex eigenvalue x, Re(sqrt(x))/(2 pi). */
static double flutter_frequency(double re, double im)
{
  const double pi = 3.14159265358979324;
  return sqrt(0.5 * (hypot(re, im) + re)) / (2.0 * pi);
}

/* Counts unstable and zero eigenvalues, and names the motion of the least one or of a flutter.
 * vectors: nv rows, a column per eigenvalue. */
static void classify(const pol_analysis *a, int count, const double *re, const double *im,
                     const double *vectors, double zero, pol_static_report *report,
                     double *smallest)
{
  int least = -1, is_any_complex = 0, flutter = -1;
  for (int k = 0; k < count; k++) {
    const double size = hypot(re[k], im[k]);
    const int is_complex = size > zero && fabs(im[k]) > 1e-6 * size;
    if (size <= zero)
      report->neutral++;
    else if (re[k] < 0.0 || is_complex)
      report->unstable++;
    is_any_complex |= is_complex;
    /* two equal negative eigenvalues are complex by round-off: no flutter */
    if (is_complex && re[k] > -1e3 * fabs(im[k]) &&
        (flutter < 0 || fabs(im[k]) > (1.0 + 1e-9) * fabs(im[flutter])))
      flutter = k;
    if (least < 0 || re[k] < re[least]) least = k;
  }
  if (least < 0) return;
  *smallest = is_any_complex ? -fabs(re[least]) : re[least];
  report->least = hypot(re[least], im[least]) <= zero ? 0.0 : re[least];
  report->flutter = flutter < 0 ? 0.0 : flutter_frequency(re[flutter], im[flutter]);
  const size_t named = (size_t)(flutter < 0 ? least : flutter);
  const int part = poli_analysis_largest(a, vectors + named * (size_t)a->dae->group.nv, NULL);
  if (part >= 0) poli_analysis_name_motion(a, part, report->softest, sizeof report->softest);
}

/* --- small models ------------------------------------------------------------------------------
 */

static pol_status full_stability(pol_analysis *a, poli_terms *terms, pol_static_report *report,
                                 double *smallest)
{
  const int nv = a->dae->group.nv, moving = poli_analysis_first_state(a);
  const int m = pol_dae_num_constraints(a->dae);
  const unsigned char *dropped = pol_assembler_dropped(a->assembler);
  const pol_pattern *constraint = terms->patterns.constraint;
  int rows = 0;
  for (int i = 0; i < m; i++) rows += !dropped[i];
  const int n = report->freedoms = moving - rows;
  if (n <= 0) return POL_OK;
  const size_t size = (size_t)nv, free_size = (size_t)n;
  int *place;
  double *Bt, *Q, *product, *K, *M, *re, *im, *V, *shapes;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, place, m);
    POLI_TAKE(&arena, Bt, size * (size_t)(rows + 1));
    POLI_TAKE(&arena, Q, size * size);
    POLI_TAKE(&arena, product, size);
    POLI_TAKE_EACH(&arena, free_size * free_size, &K, &M, &V);
    POLI_TAKE_EACH(&arena, free_size, &re, &im);
    POLI_TAKE(&arena, shapes, size * free_size);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  for (int i = 0, row = 0; i < m; i++) place[i] = dropped[i] ? -1 : row++;
  for (int j = 0; j < moving; j++)
    for (int e = constraint->start[j]; e < constraint->start[j + 1]; e++)
      if (place[constraint->row[e]] >= 0)
        Bt[poli_at(j, place[constraint->row[e]], moving)] = terms->jacobian[e];
  pol_status status = poli_full_basis(moving, rows, Bt, Q, NULL);

  /* K and M in this basis; states stay as they are */
  const double *N = Q + (size_t)rows * (size_t)moving;
  for (int pass = 0; pass < 2 && !status; pass++)
    for (int j = 0; j < n; j++) {
      double *column = shapes;
      memset(column, 0, size * sizeof *column);
      memcpy(column, N + poli_at(0, j, moving), (size_t)moving * sizeof *column);
      memset(product, 0, size * sizeof *product);
      pol_matrix_multiply(terms->patterns.coupling, pass ? terms->mass : terms->stiffness, 1.0,
                          column, product);
      poli_full_multiply(n, 1, moving, 1, N, product, (pass ? M : K) + (size_t)j * free_size);
    }
  int column;
  if (!status) status = poli_full_solve(n, M, n, K, &column);
  if (!status) status = poli_full_eigen(n, K, re, im, V);
  double largest = 0.0;
  for (int j = 0; j < n && !status; j++) {
    largest = fmax(largest, hypot(re[j], im[j]));
    memset(shapes + (size_t)j * size, 0, size * sizeof *shapes);
    poli_full_multiply(moving, 1, n, 0, N, V + (size_t)j * free_size, shapes + (size_t)j * size);
  }
  if (!status) classify(a, n, re, im, shapes, 1e-12 * n * largest, report, smallest);
  free(arena.memory);
  return status;
}

/* --- large models ------------------------------------------------------------------------------
 */

typedef struct large {
  const pol_analysis *a;
  const poli_terms *terms;
  poli_saddle *saddle;   /* with K - sigma M, or with M */
  const double *product; /* matrix of the right-hand side: M, or K */
  double *x;             /* nv + m */
} large;

/* y = (K - sigma M)^-1 M x, or M^-1 K x, on the motions that the constraints allow. */
static pol_status apply(const double *x, double *y, void *user)
{
  large *s = user;
  const int nv = s->saddle->nv, moving = poli_analysis_first_state(s->a);
  memset(s->x, 0, (size_t)s->saddle->n * sizeof *s->x);
  pol_matrix_multiply(s->terms->patterns.coupling, s->product, 1.0, x, s->x);
  for (int i = moving; i < nv; i++) s->x[i] = 0.0;
  pol_solver_solve(s->saddle->solver, s->x);
  memcpy(y, s->x, (size_t)nv * sizeof *y);
  return POL_OK;
}

/* Factors the saddle-point matrix of scale K + mass M, without states. */
static pol_status factor(large *s, double scale, double mass, double *matrix)
{
  const pol_pattern *coupling = s->terms->patterns.coupling;
  const int moving = poli_analysis_first_state(s->a);
  for (int j = 0; j < coupling->cols; j++)
    for (int e = coupling->start[j]; e < coupling->start[j + 1]; e++)
      matrix[e] = j < moving && coupling->row[e] < moving
                      ? scale * s->terms->stiffness[e] + mass * s->terms->mass[e]
                      : (j == coupling->row[e] ? 1.0 : 0.0);
  poli_saddle_set_kkt(s->saddle, matrix, s->terms->jacobian);
  poli_saddle_drop(s->saddle, pol_assembler_dropped(s->a->assembler));
  return pol_solver_factor(s->saddle->solver, s->saddle->values);
}

/* The eigenvalues of the operator of this kind, from a start with a part of all motions. */
static pol_status search(large *s, const char *which, int restarts, int count, double *start,
                         double *re, double *im, double *vectors, int *found)
{
  const poli_operator operator= {.n = s->saddle->nv,
                                 .apply = apply,
                                 .user = s,
                                 .tolerance = restarts > 0 ? 1e-6 : 0.0,
                                 .restarts = restarts};
  for (int i = 0; i < operator.n; i++) vectors[i] = 1.0 + 0.5 * sin(1.0 + 7.0 * i);
  apply(vectors, start, s);
  return poli_arnoldi(&operator, which, count, start, re, im, vectors, found);
}

static pol_status large_stability(pol_analysis *a, poli_terms *terms, pol_static_report *report,
                                  double *smallest)
{
  const int nv = a->dae->group.nv, m = pol_dae_num_constraints(a->dae);
  const int moving = poli_analysis_first_state(a);
  const unsigned char *dropped = pol_assembler_dropped(a->assembler);
  large s = {.a = a, .terms = terms};
  double *matrix, *start, *re, *im, *vectors, fastest = 0.0;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, matrix, pol_pattern_nonzeros(terms->patterns.coupling));
    POLI_TAKE(&arena, start, nv);
    POLI_TAKE_EACH(&arena, SEARCHED + 1, &re, &im);
    POLI_TAKE(&arena, vectors, (size_t)nv * (SEARCHED + 1));
    POLI_TAKE(&arena, s.x, nv + m);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  report->freedoms = moving;
  for (int i = 0; i < m; i++) report->freedoms -= !dropped[i];
  for (int j = 0; j < moving; j++) {
    const int e = pol_pattern_address(terms->patterns.coupling, j, j);
    if (e >= 0 && terms->mass[e] > 0.0)
      fastest = fmax(fastest, fabs(terms->stiffness[e]) / terms->mass[e]);
  }
  const double sigma = -1e-11 * fastest;
  int found = 0;
  const int count = SEARCHED < report->freedoms - 2 ? SEARCHED : report->freedoms - 3;
  pol_status status =
      count > 0 ? poli_saddle_create(&s.saddle, a->dae, 0, POL_SOLVER_AUTO) : POL_OK;
  /* strongly negative ones */
  if (!status && count > 0) {
    s.product = terms->stiffness;
    status = factor(&s, 0.0, 1.0, matrix);
    if (!status) status = search(&s, "SR", 20, count, start, re, im, vectors, &found);
    if (!status && found > 0 && re[0] < sigma)
      classify(a, found, re, im, vectors, -2.0 * sigma, report, smallest);
  }
  /* those nearest to zero, of which the negative ones have been counted if there were any */
  const int is_known = report->unstable > 0;
  if (!status && count > 0 && !is_known) {
    s.product = terms->mass;
    status = factor(&s, 1.0, -sigma, matrix);
    if (!status) status = search(&s, "LM", 0, count, start, re, im, vectors, &found);
    for (int k = 0; k < found && !status; k++) {
      const double square = re[k] * re[k] + im[k] * im[k];
      re[k] = sigma + re[k] / square;
      im[k] = -im[k] / square;
    }
    if (!status) classify(a, found, re, im, vectors, -2.0 * sigma, report, smallest);
  }
  report->at_least = is_known || report->unstable + report->neutral == found;
  poli_saddle_free(&s.saddle);
  free(arena.memory);
  return status;
}

pol_status poli_stability(pol_analysis *analysis, const poli_rotation *rotation,
                          pol_static_report *report, double *smallest, pol_diagnostics *diagnostics)
{
  double unused;
  poli_terms *terms = NULL;
  const pol_point at = pol_state_point(&analysis->state);
  pol_status status = poli_terms_create(&terms, analysis->dae);
  if (!status) status = poli_terms_evaluate(terms, &at, diagnostics);
  if (!status && rotation) poli_rotation_add_stiffness(rotation, terms);
  if (!smallest) smallest = &unused;
  *smallest = 0.0;
  if (!status)
    status = analysis->dae->group.nv > POLI_FULL_VELOCITIES
                 ? large_stability(analysis, terms, report, smallest)
                 : full_stability(analysis, terms, report, smallest);
  poli_terms_free(&terms);
  return status;
}
