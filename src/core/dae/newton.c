/* Newton's method; see newton.h.  The modified variant keeps its factorised matrix from step to
 * step while the residual falls by at least the factor `refresh` an iteration
 * (Holzinger/Arnold/Gerstmayr use 0.5), and as long as it lowers the mean cost of a step, its own
 * cost included.  The line search is Armijo's rule on the weighted residual
 * (Kelley 1995). */
#include "dae/newton_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* A step that keeps this share of the predicted decrease is taken. */
static const double armijo = 1e-4;

/* Largest error after the last correction, as a fraction of the tolerance; and with the matrix of
 * the first guess, where nearly every step has one of its own, so that the error of one step has
 * little to do with that of the next. */
static const double most_left = 0.01, most_left_fresh = 0.03;

/* Corrections in a step that can be repeated with a smaller size. */
enum { MOST_TO_GOAL = 16 };

/* Steps that start with a new matrix after an old one was given up within a step. */
enum { FEWEST_FRESH = 4, MOST_FRESH = 64 };

/* Steps for which a residual has the same measure. */
enum { MOST_ACCEPTED = 15 };

/* Fall of the residual by the second and later corrections with the matrix of the first guess, as
 * long as it has not been measured. */
static const double careful_rate = 0.05;

/* The cost of a new sparse matrix, evaluated and factorised, in iterations. */
static const double sparse_cost = 6.0;

pol_status poli_newton_create(poli_newton **newton, const pol_dae *dae, poli_saddle *saddle,
                              const pol_newton_options *options, pol_counts *counts)
{
  const poli_newton_matrix matrix = {.n = saddle->n,
                                     .num_increments = saddle->nv,
                                     .pattern = saddle->pattern,
                                     .values = saddle->values,
                                     .solver = saddle->solver,
                                     .least_share = dae->pure ? 1e-8 : 0.0};
  return poli_newton_create_for(newton, dae, &matrix, options, counts);
}

pol_status poli_newton_create_for(poli_newton **newton, const pol_dae *dae,
                                  const poli_newton_matrix *matrix,
                                  const pol_newton_options *options, pol_counts *counts)
{
  poli_newton *s = *newton = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  const size_t n = (size_t)matrix->n, kinds = POLI_KINDS + (size_t)dae->num_states;
  *s = (poli_newton){.options = *options, .dae = dae, .matrix = *matrix, .counts = counts};
  s->fresh_rate = careful_rate;
  s->later_rate = s->kept_rate = -1.0;
  s->num_kinds = (int)kinds;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, n, &s->trial, &s->dx, &s->r, &s->trial_r, &s->round_off, &s->accepted,
                   &s->weight);
    POLI_TAKE(&arena, s->row_size, kinds * n);
    POLI_TAKE_EACH(&arena, kinds, &s->tolerance, &s->grain, &s->least, &s->inverse, &s->measured);
    POLI_TAKE(&arena, s->kind, matrix->num_increments);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  s->memory_size = arena.used;
  if (!s->memory) {
    poli_newton_free(newton);
    return POL_NO_MEMORY;
  }

  /* The kinds of the increments; further vectors of them repeat the first. */
  const pol_group *group = &dae->group;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    for (int i = 0; i < factor->dim; i++) {
      int length = factor->kind == POL_REAL ? poli_dae_is_length(dae, factor->v + i) : i >= 3;
      s->kind[factor->v + i] = length ? POLI_TRANSLATIONS : POLI_ROTATIONS;
    }
  }
  for (int i = 0; i < dae->num_states; i++)
    s->kind[group->nv - dae->num_states + i] = POLI_KINDS + i;
  for (int i = group->nv; i < matrix->num_increments; i++) s->kind[i] = s->kind[i - group->nv];
  return POL_OK;
}

void poli_newton_free(poli_newton **newton)
{
  if (!*newton) return;
  free((*newton)->memory);
  free(*newton);
  *newton = NULL;
}

void poli_newton_archive(poli_newton *newton, poli_archive *archive)
{
  poli_newton *s = newton;
  poli_archive_bytes(archive, s->memory, s->memory_size);
  POLI_ARCHIVE(archive, s->has_matrix);
  POLI_ARCHIVE(archive, s->has_accepted);
  POLI_ARCHIVE(archive, s->accepted_steps);
  POLI_ARCHIVE(archive, s->fresh_steps);
  POLI_ARCHIVE(archive, s->fresh_length);
  POLI_ARCHIVE(archive, s->fresh_cost);
  POLI_ARCHIVE(archive, s->uses);
  POLI_ARCHIVE(archive, s->spent);
  POLI_ARCHIVE(archive, s->rate);
  POLI_ARCHIVE(archive, s->later_rate);
  POLI_ARCHIVE(archive, s->fresh_rate);
  POLI_ARCHIVE(archive, s->kept_rate);
}

void poli_newton_reset(poli_newton *newton)
{
  newton->has_matrix = newton->has_accepted = 0;
  newton->fresh_rate = careful_rate;
  newton->later_rate = newton->kept_rate = -1.0;
}

void poli_newton_restart(poli_newton *newton)
{
  poli_newton_reset(newton);
  newton->accepted_steps = newton->fresh_steps = newton->fresh_length = newton->uses = 0;
  newton->fresh_cost = newton->spent = newton->rate = 0.0;
}

/* --- the matrix, by its pattern or by operations ---------------------------------------------- */

static pol_status factor(poli_newton *s, int *row)
{
  const poli_newton_matrix *matrix = &s->matrix;
  if (matrix->operations) return matrix->operations->factor(row, matrix->operations->user);
  const pol_status status = pol_solver_refactor(matrix->solver, matrix->values);
  *row = status == POL_SINGULAR ? pol_solver_singular_column(matrix->solver) : -1;
  return status;
}

/* x = -A^-1 r */
static void solve(const poli_newton *s, const double *r, double *x)
{
  const poli_newton_matrix *matrix = &s->matrix;
  if (matrix->operations) {
    matrix->operations->solve(r, x, matrix->operations->user);
    return;
  }
  for (int i = 0; i < matrix->n; i++) x[i] = -r[i];
  pol_solver_solve(matrix->solver, x);
}

/* --- iteration -------------------------------------------------------------------------------- */

/* The matrix is not to be trusted for the next attempt. */
pol_status poli_newton_fail(poli_newton *s, pol_status status, int row, const char *message,
                            const char *advice, pol_diagnostics *d)
{
  /* the equation (numbering of pol_dae.describe) that belongs to the row */
  const int nv = s->dae->group.nv, below = row - s->matrix.num_increments;
  s->has_matrix = 0;
  d->status = status;
  d->equation = row < 0 ? -1 : below < 0 ? row % nv : nv + below % pol_dae_num_constraints(s->dae);
  d->where[0] = '\0';
  if (row >= 0) poli_dae_describe(s->dae, d->equation, d->where, sizeof d->where);
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "%s", advice);
  return status;
}

static pol_status evaluate_failed(poli_newton *s, pol_status status, pol_diagnostics *d)
{
  return poli_newton_fail(s, status, -1, "the model could not be evaluated", poli_smaller_step, d);
}

/* r, the tolerances and the round-off at x */
static pol_status evaluate(poli_newton *s, const poli_newton_system *system, const double *x,
                           double *r)
{
  s->counts->residuals++;
  pol_status status = system->residual(x, r, system->user);
  if (status) return status;
  system->tolerances(s->tolerance, system->user);
  system->round_off(s->grain, system->user);
  return POL_OK;
}

pol_status poli_newton_evaluate_or_fail(poli_newton *s, const poli_newton_system *system,
                                        const double *x, pol_diagnostics *d)
{
  const pol_status status = evaluate(s, system, x, s->r);
  return status ? evaluate_failed(s, status, d) : POL_OK;
}

/* The cost of a new matrix in iterations. */
static double matrix_cost(const poli_newton *s)
{
  return s->matrix.cost > 0.0 ? s->matrix.cost : sparse_cost;
}

pol_status poli_newton_refresh(poli_newton *s, const poli_newton_system *system, pol_diagnostics *d)
{
  pol_status status = system->matrix(system->user);
  if (status)
    return poli_newton_fail(s, status, -1, "the matrix could not be evaluated", poli_smaller_step,
                            d);
  s->counts->jacobians++;
  s->counts->factorizations++;
  int row = -1;
  status = factor(s, &row);
  if (status == POL_SINGULAR)
    return poli_newton_fail(
        s, status, row, "the Newton matrix is singular",
        "the mechanism may be in a singular position or have redundant constraints", d);
  if (status)
    return poli_newton_fail(s, status, -1, "the Newton matrix could not be factorised",
                            poli_smaller_step, d);
  if (!s->matrix.operations) s->has_accepted = 0;
  s->has_matrix = 1;
  s->rate = -1.0;
  s->uses = 0;
  s->spent = matrix_cost(s);
  return POL_OK;
}

/* dx from the last residual. */
void poli_newton_solve_correction(poli_newton *s)
{
  solve(s, s->r, s->dx);
}

/* A correction along dx: the share taken (0 for none), the residual before and after it, both in
 * the tolerances after it; and the history of the iteration that its end depends on. */
typedef struct attempt {
  double share, before, after;
  double of_r;      /* the present residual in the present tolerances, negative: not known */
  int corrections;  /* so far in this step */
  int new_matrix;   /* evaluated just before the correction */
  int matrices;     /* in this step */
  int fresh;        /* the step has the matrix of its first guess */
  int served;       /* steps that the matrix it began with had served, 0: a new one */
  double slowest;   /* fall of the residual with this matrix, negative: not known */
  double last_size; /* of the correction before in terms of the goal, 0 if there was none */
} attempt;

/* Whether the correction that would follow s->trial_r with the same matrix is so small a share of
 * dx, at most half with a new matrix (the natural monotonicity test, Deuflhard 2004).  A residual
 * that is almost nothing before a large correction may grow by it: that of a straight chain, whose
 * tension is of second order, does by far more than round-off, in spite of quadratic convergence.
 * With the tolerances of variable steps the matrix of the first guess is enough where the residual
 * stands still, too. */
static int correction_falls(poli_newton *s, double share)
{
  double *next = s->round_off; /* not in use */
  const double before = poli_newton_correction_norm(s);
  double after = 0.0;
  solve(s, s->trial_r, next);
  for (int i = 0; i < s->matrix.num_increments; i++)
    after = fmax(after, fabs(next[i]) * s->inverse[s->kind[i]]);
  return isfinite(before) && after <= share * before;
}

/* Tries x + dx, x + dx/2, ... in s->trial until the residual falls enough.  With an old matrix only
 * the first; without a line search a new matrix's step is taken as it is. */
static pol_status search(poli_newton *s, const poli_newton_system *system, const double *x,
                         attempt *a)
{
  int halvings = a->new_matrix ? s->options.line_search : 0;
  int anyhow = a->new_matrix && halvings == 0;
  a->share = 1.0;
  for (int k = 0;; k++, a->share *= 0.5) {
    for (int i = 0; i < s->matrix.n; i++) s->trial[i] = x[i] + a->share * s->dx[i];
    pol_status status = evaluate(s, system, s->trial, s->trial_r);
    if (!status) {
      if (poli_newton_measure(s, s->trial) || a->of_r < 0.0)
        a->of_r = poli_newton_residual_norm(s, s->r);
      a->before = a->of_r;
      a->after = poli_newton_residual_norm(s, s->trial_r);
      if (anyhow || a->after <= 1.0 || a->after <= (1.0 - armijo * a->share) * a->before)
        return POL_OK;
      const double share = a->new_matrix ? 0.5 : a->fresh && s->goal.weight ? 0.25 : 0.0;
      if (k == 0 && share > 0.0 && s->matrix.operations && isfinite(a->after) &&
          correction_falls(s, share))
        return POL_OK;
    }
    if (status < 0 || k == halvings) {
      a->share = 0.0;
      return status;
    }
  }
}

/* Whether so many more iterations at this rate as are cheaper than a new matrix would not converge.
 */
static int is_slow(const poli_newton *s, double contraction, double residual)
{
  const double square = contraction * contraction;
  return (s->matrix.cost > 0.0 ? square : square * square) * residual > 1.0;
}

typedef enum verdict { GO_ON, DONE, ONLY_ROUND_OFF, DIVERGES } verdict;

/* A lucky correction is not to be trusted. */
static const double least_rate = 0.05;

/* Share of a rate that is still expected a step later, if it has not been measured again. */
static const double forget_rate = 0.9;

/* What is missing after a correction of this size in terms of the goal. */
static double missing_after(const poli_newton *s, double size)
{
  return s->rate < 1.0 ? s->rate / (1.0 - s->rate) * size : HUGE_VAL;
}

/* Corrections at this rate, after one of this size in terms of the goal, until rule (35) is met
 * with the one that finishes the iteration. */
static double corrections_to_goal(const poli_newton *s, double rate, double size)
{
  const double r = fmax(rate, least_rate), lacks = r * r / (1.0 - r) * size / s->goal.share;
  if (r >= 1.0) return HUGE_VAL;
  return lacks > 1.0 ? ceil(-log(lacks) / log(r)) : 0.0;
}

/* Rule (35) after a correction, or with the one that finishes the iteration still to come.  A rate
 * that is known from earlier steps with the same matrix makes one correction enough.  The fall from
 * a correction with an older matrix to one with a newer matrix is a bound for that of the next. */
static verdict test_goal(poli_newton *s, attempt *a, int finishes)
{
  const int patience = 4; /* the line search may lead to where it converges */
  const double size = poli_newton_goal_size(s), last = a->last_size;
  a->last_size = size;
  if (last > 0.0) s->rate = fmax(size / last, least_rate);
  /* is a second correction with the matrix of the first guess worth it, by the steps before? */
  const int first = a->fresh && a->corrections == 1 && s->matrix.cost > 0.0;
  if (a->fresh && a->corrections == 2 && !a->new_matrix) s->kept_rate = fmin(s->rate, 1.0);
  if (s->rate < 0.0) {
    if (first && s->kept_rate > 0.0 &&
        corrections_to_goal(s, s->kept_rate, size) >
            s->matrix.cost + corrections_to_goal(s, least_rate, size)) {
      s->has_matrix = 0;
      s->kept_rate *= forget_rate;
    }
    return GO_ON;
  }
  const double missing = missing_after(s, size);
  if ((finishes ? s->rate : 1.0) * missing <= s->goal.share) return DONE;
  if (a->new_matrix && last > 0.0 && s->options.kind == POL_NEWTON_MODIFIED) {
    s->rate = -1.0;
    return GO_ON;
  }
  if (s->rate >= 1.0 && a->matrices > patience) return DIVERGES;
  if (s->rate > s->options.refresh || is_slow(s, s->rate, missing / s->goal.share))
    s->has_matrix = 0;
  return GO_ON;
}

/* Whether the iteration is at its end after an accepted correction of this size, and whether its
 * matrix serves any longer; see newton.h. */
static verdict test(poli_newton *s, const poli_newton_system *system, attempt *a, double correction)
{
  /* The linear rate of convergence, at most 1/2.  Where the residual was round-off already its fall
   * is noise; then the slowest fall of the step with the same matrix counts. */
  const double contraction = a->before > 0.0 ? a->after / a->before : 0.0;
  const int in_round_off = a->before * poli_newton_residual_grains <= 1.0;
  double rate = contraction;
  if (a->new_matrix) s->new_fall = contraction;
  if (a->new_matrix) a->slowest = -1.0;
  if (!in_round_off)
    a->slowest = fmax(rate, a->slowest);
  else if (a->slowest >= 0.0)
    rate = fmin(rate, a->slowest);
  rate = fmin(rate, 0.5);

  /* Where the residual was still too large, its fall by a second or later correction with an old
   * matrix is what later steps may expect of it too. */
  if (!a->new_matrix && a->corrections > 1 && a->before > 1.0) s->later_rate = contraction;

  /* Done if the next correction, estimated from the rate, is below the tolerance; or, if one more
   * is made without evaluating its residual, if the error after that is negligible.  A correction
   * that started within round-off is noise, and so is the error after it. */
  const double ahead = rate / (1.0 - rate) * correction;
  double later = rate;
  if (a->fresh && a->corrections == 1) later = fmax(rate, s->fresh_rate);
  if (a->fresh && a->corrections == 2 && !a->new_matrix && !in_round_off) s->fresh_rate = rate;
  const int own_matrix = a->fresh && s->matrix.cost > 0.0;
  const double most =
      own_matrix && s->options.stop == POL_STOP_BY_ERROR ? most_left_fresh : most_left;
  if (!system->place || in_round_off ? a->after <= 1.0 && ahead <= 1.0
                                     : later * a->after <= 1.0 && later * ahead <= most) {
    /* the next step, with an older matrix, would need one more that may leave only round-off */
    const int worn = s->matrix.cost > 0.0 && a->corrections > 1 && !in_round_off;
    if (worn && later * ahead > 0.25 * most_left) s->has_matrix = 0;
    return DONE;
  }

  /* A correction by a new matrix may leave nothing but round-off: its square.  A simplified matrix
   * leaves more, so it must also have come to a standstill.  At a standstill the residual may be
   * larger: in long chains the round-off of many rows adds up. */
  const double largest = 1.0 / sqrt(DBL_EPSILON);
  const int stands = a->after > 0.5 * a->before;
  const double largest_residual = stands ? 4.0 : 1.0;
  int tiny = a->new_matrix && a->share == 1.0 && a->before <= largest_residual &&
             a->after <= largest_residual && (s->options.kind != POL_NEWTON_SIMPLIFIED || stands);
  for (int i = 0; tiny && i < s->matrix.num_increments; i++)
    tiny = fabs(s->dx[i]) <= largest * s->grain[s->kind[i]];
  if (tiny) return ONLY_ROUND_OFF;

  if (s->goal.weight) return test_goal(s, a, system->place != NULL);
  /* The first correction of a step does not tell how fast what it leaves falls, since the error of
   * the first guess is smooth: it does as in the steps before.  A cheap matrix that is too slow is
   * replaced at once; the next old one is measured anew. */
  const int expects = !a->new_matrix && a->corrections == 1 && s->matrix.cost > 0.0;
  double ahead_rate = contraction;
  if (expects && s->later_rate >= 0.0) ahead_rate = s->later_rate;
  if (contraction > s->options.refresh || is_slow(s, ahead_rate, a->after)) s->has_matrix = 0;
  /* A cheap matrix is renewed where so many corrections with the present one as it would cost, its
   * own correction included, are not enough.  Where only the rate that is assumed of the matrix of
   * the first guess says so, it falls, so that it is measured again. */
  const double expected = expects && s->later_rate >= 0.0 ? s->later_rate : later;
  if (s->matrix.cost > 0.0 && pow(expected, s->matrix.cost + 2.0) * ahead > most) {
    s->has_matrix = 0;
    if (a->fresh && a->corrections == 1 && s->fresh_rate > rate) s->fresh_rate *= 0.8;
  }
  if (expects && !s->has_matrix) s->later_rate = -1.0;
  return GO_ON;
}

/* The last correction of a converged iteration, from the last residual; the residual of the result
 * is not evaluated.  It leads from *at to x.  It must not be larger than the one before it, nor
 * than the goal allows: returns 0 if the goal is missed. */
static int finish(poli_newton *s, const poli_newton_system *system, attempt *a, double *x,
                  double **at, double correction, pol_status *status)
{
  double *from = *at;
  *status = POL_OK;
  if (!system->place) return 1;
  poli_newton_solve_correction(s);
  const double size = poli_newton_correction_norm(s);
  if (s->goal.weight && !(size <= 1.0)) {
    const double in_goal = poli_newton_goal_size(s);
    if (a->last_size > 0.0) s->rate = fmax(in_goal / a->last_size, least_rate);
    if (!(missing_after(s, in_goal) <= s->goal.share)) return 0;
  }
  if (!(size <= fmax(1.0, correction))) return 1;
  for (int i = 0; i < s->matrix.n; i++) x[i] = from[i] + s->dx[i];
  if (from != x) s->trial = from;
  *at = x;
  *status = system->place(x, system->user);
  return 1;
}

/* A step with an old matrix that costs more than the last one with a matrix of its own, by more
 * iterations or by a new matrix after them, should have begun with a new one.  Unless the old one
 * had served some steps, the next steps do, more of them each time it happens; then an old one is
 * tried again. */
static void plan_matrices(poli_newton *s, const attempt *a)
{
  const double cost = a->corrections + a->matrices * matrix_cost(s);
  if (s->options.kind != POL_NEWTON_MODIFIED) return;
  if (a->served == 0) {
    s->fresh_cost = cost;
    return;
  }
  if ((a->matrices == 0 && cost <= s->fresh_cost) || a->served >= FEWEST_FRESH)
    s->fresh_length = 0;
  else
    s->fresh_length = s->fresh_length == 0 ? FEWEST_FRESH : 2 * s->fresh_length;
  if (s->fresh_length > MOST_FRESH) s->fresh_length = MOST_FRESH;
  s->fresh_steps = s->fresh_length;
}

/* From x; *at is where it has come to, x or another array, which changes its place with s->trial
 * then, so that large vectors need not be copied. */
static pol_status iterate(poli_newton *s, const poli_newton_system *system, double *x, double **at,
                          pol_diagnostics *d)
{
  const int modified = s->options.kind == POL_NEWTON_MODIFIED;
  const char *usual = s->options.kind == POL_NEWTON_FULL
                          ? poli_smaller_step
                          : "take a smaller step, or try the full Newton matrix";
  const char *smaller = s->advice ? s->advice : usual;
  attempt a = {.slowest = -1.0, .of_r = -1.0};
  s->new_fall = 1.0;
  const int most = s->goal.can_shrink && s->options.max_iterations > MOST_TO_GOAL
                       ? MOST_TO_GOAL
                       : s->options.max_iterations;
  if (!s->matrix.operations || ++s->accepted_steps > MOST_ACCEPTED) s->has_accepted = 0;

  /* Evaluate at the predicted x. */
  pol_status status = poli_newton_evaluate_or_fail(s, system, x, d);
  if (status) return status;
  if (s->has_accepted) a.of_r = poli_newton_residual_norm(s, s->r);
  const int checked = s->has_accepted && isfinite(a.of_r);
  const int bad = checked ? -1 : poli_newton_first_not_finite(s);
  if (bad >= 0)
    return poli_newton_fail(s, POL_NOT_FINITE, bad, "a residual is not finite", smaller, d);

  if (s->fresh_steps > 0) {
    s->fresh_steps--;
    s->has_matrix = 0;
  }
  for (int k = 0; k < most; k++) {
    /* The matrix: an old one as long as it converges fast enough. */
    a.new_matrix = !modified || !s->has_matrix;
    if (k == 0) a.served = a.new_matrix ? 0 : s->uses;
    a.fresh = modified && (k == 0 ? a.new_matrix : a.fresh && !a.new_matrix);
    if (k == 2) s->has_accepted = 0;
    if (a.new_matrix) {
      if ((status = poli_newton_refresh(s, system, d))) return status;
      a.matrices++;
    }

    /* Solve, and search along the correction. */
    poli_newton_solve_correction(s);
    s->counts->newton_iterations++;
    d->iteration++;
    status = search(s, system, *at, &a);
    if (a.share == 0.0 && status >= 0 && !a.new_matrix) {
      /* an old matrix led nowhere: a new one at the present x */
      s->has_matrix = 0;
      if (a.fresh && a.corrections == 1) s->kept_rate = 1.0;
      status = evaluate(s, system, *at, s->r);
      a.of_r = -1.0;
      if (!status) continue;
    }
    if (status) return evaluate_failed(s, status, d);
    a.corrections = d->iteration;
    d->residual = a.after;
    d->correction = (a.share > 0.0 ? a.share : 1.0) * poli_newton_correction_norm(s);
    if (!isfinite(d->residual) || !isfinite(d->correction))
      return poli_newton_fail(s, POL_NOT_FINITE, poli_newton_worst_residual(s, s->trial_r),
                              "a residual is not finite", smaller, d);
    if (a.share == 0.0) break;

    /* Accept. */
    double *r = s->r, *from = *at;
    *at = s->trial;
    s->trial = from;
    s->r = s->trial_r;
    s->trial_r = r;
    a.of_r = a.after;

    /* Test.  The cost of a matrix is shared by the steps that use it, but these need more
     * iterations the older it is: after a step that costs more than the mean so far it is given up.
     */
    const verdict now = test(s, system, &a, d->correction);
    if (now == ONLY_ROUND_OFF) return POL_OK;
    if (now == DIVERGES) break;
    if (now == DONE && finish(s, system, &a, x, at, d->correction, &status)) {
      plan_matrices(s, &a);
      s->spent += d->iteration;
      s->uses++;
      if ((double)d->iteration * s->uses > s->spent) s->has_matrix = 0;
      return status ? evaluate_failed(s, status, d) : POL_OK;
    }
  }
  if (a.after <= 1.0 && a.share > 0.0)
    return poli_newton_fail(
        s, POL_NOT_CONVERGED, poli_newton_worst_correction(s),
        "the Newton iteration did not converge: the residual is small, but the matrix is nearly "
        "singular",
        "the mechanism may be close to a singular position; take a smaller step", d);
  /* s->r is the residual of the last accepted correction; of a rejected one it is the trial's */
  return poli_newton_fail(s, POL_NOT_CONVERGED,
                          poli_newton_worst_residual(s, a.share > 0.0 ? s->r : s->trial_r),
                          "the Newton iteration did not converge", smaller, d);
}

pol_status poli_newton_solve(poli_newton *newton, const poli_newton_system *system, double *x,
                             pol_diagnostics *diagnostics)
{
  poli_newton *s = newton;
  double *at = x;
  diagnostics->iteration = 0;
  diagnostics->correction = 0.0;
  if (s->options.fixed_iterations > 0) {
    if (!s->matrix.operations || ++s->accepted_steps > MOST_ACCEPTED) s->has_accepted = 0;
    return poli_newton_solve_fixed(s, system, x, diagnostics);
  }
  const pol_status status = iterate(s, system, x, &at, diagnostics);
  if (at == x) return status;
  memcpy(x, at, (size_t)s->matrix.n * sizeof *x);
  s->trial = at;
  return status;
}

pol_status poli_newton_polish(poli_newton *newton, const poli_newton_system *system, double *x)
{
  poli_newton *s = newton;
  poli_newton_solve_correction(s);
  s->counts->newton_iterations++;
  for (int i = 0; i < s->matrix.n; i++) x[i] += s->dx[i];
  return evaluate(s, system, x, s->r);
}
