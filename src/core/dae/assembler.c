/* Consistent positions, velocities, accelerations and multipliers.
 *
 * Positions and velocities are moved to the constraints by the shortest way in the metric of the
 * mass matrix.  Each correction solves
 *
 *     [ M  B^T  ] [ delta ]   [    0    ]
 *     [ B  -eps ] [  mu   ] = [ -defect ]
 *
 * with a small diagonal eps, relative to B M^-1 B^T, so that redundant but compatible constraints
 * need no special treatment; repeating the correction removes what eps left (the method of
 * multipliers).  Where the constraints contradict each other the corrections lead to the least sum
 * of defect_i^2/(B M^-1 B^T)_ii instead; there B^T mu = 0 with mu_i = defect_i/(B M^-1 B^T)_ii: the
 * constraints that fight each other are those with a share in this balance.
 *
 * Accelerations and multipliers come from the same matrix with eps = 0: there
 * redundant constraints make the multipliers ambiguous, and the singular matrix shows which one.
 */
#include "dae/assembler.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MAX_POSITION_ITERATIONS = 100, MAX_VELOCITY_ITERATIONS = 20, MAX_FEEDBACK_ITERATIONS = 30 };

static const double regularisation = 1e-9; /* eps */
static const double largest_damping = 1e6; /* of it, where the straight way does not lead down */
static const double position_accuracy = 1e-10; /* of the largest translation, or of length */
static const double velocity_accuracy = 1e-9;  /* of the largest velocity, or of length a second */
static const double feedback_accuracy = 1e-12; /* of the largest multiplier */

struct pol_assembler {
  const pol_dae *dae;
  poli_saddle *saddle;
  void *memory; /* holds the arrays */
  double *mass, *jacobian, *row_size, *rhs, *defect, *trial_defect;
  double *damping, *stiffness; /* of poli_assembler_factor_implicit */
  double length;               /* of the dae, or 1 */
  double *unit;                /* nv: what a unit of each velocity is in lengths */
  double *mobility;            /* m: (B M^-1 B^T)_ii with M by its diagonal, of what is not kept */
  double *q, *given, *best, *step, *zero, *scratch;
  double *feedback, *lambda;       /* dg/dlambda and where it was taken */
  const double *history;           /* not owned; may be NULL */
  unsigned char *dropped;          /* m */
  poli_independence *independence; /* NULL as long as nobody has asked for it */
  int num_dropped;
};

pol_status pol_assembler_create(pol_assembler **assembler, const pol_dae *dae,
                                pol_solver_kind solver)
{
  const pol_group *group = &dae->group;
  pol_assembler *a = *assembler = NULL;
  pol_status status = pol_dae_validate(dae, NULL, 0);
  if (status) return status;
  a = calloc(1, sizeof *a);
  if (!a) return POL_NO_MEMORY;
  a->dae = dae;
  status = poli_saddle_create(&a->saddle, dae, 0, solver);
  if (status) goto fail;

  const int nv = group->nv, nq = group->nq, m = a->saddle->m;
  const int coupling = pol_pattern_nonzeros(a->saddle->patterns.coupling);
  const int constraint = pol_pattern_nonzeros(a->saddle->patterns.constraint);
  const int feedback = dae->feedback ? pol_pattern_nonzeros(dae->feedback) : 0;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, coupling, &a->mass, &a->damping, &a->stiffness);
    POLI_TAKE(&arena, a->jacobian, constraint);
    POLI_TAKE_EACH(&arena, m, &a->row_size, &a->mobility, &a->defect, &a->trial_defect, &a->lambda);
    POLI_TAKE(&arena, a->rhs, nv + m);
    POLI_TAKE(&arena, a->q, nq);
    POLI_TAKE_EACH(&arena, nv, &a->given, &a->best, &a->step, &a->zero, &a->unit);
    POLI_TAKE(&arena, a->feedback, feedback);
    POLI_TAKE(&arena, a->scratch, dae->scratch_size);
    POLI_TAKE(&arena, a->dropped, m);
  } while (poli_arena_again(&arena));
  a->memory = arena.memory;
  status = POL_NO_MEMORY;
  if (!a->memory) goto fail;

  /* a radian, or a pure number, counts as much as the length of the model */
  a->length = poli_dae_length(dae);
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    for (int i = 0; i < factor->dim; i++) {
      int length = factor->kind == POL_REAL ? poli_dae_is_length(dae, factor->v + i) : i >= 3;
      a->unit[factor->v + i] = length ? 1.0 : a->length;
    }
  }
  *assembler = a;
  return POL_OK;
fail:
  pol_assembler_free(&a);
  return status;
}

void pol_assembler_free(pol_assembler **assembler)
{
  pol_assembler *a = *assembler;
  if (!a) return;
  poli_saddle_free(&a->saddle);
  poli_independence_free(&a->independence);
  free(a->memory);
  free(a);
  *assembler = NULL;
}

poli_saddle *poli_assembler_saddle(pol_assembler *assembler)
{
  return assembler->saddle;
}

void poli_assembler_set_history(pol_assembler *assembler, const double *history)
{
  assembler->history = history;
}

/* --- helpers ---------------------------------------------------------------------------------- */

/* The largest |x_i|/size_i (size NULL: ones), in *worst its index; -1 if all are zero.  A number
 * that is not finite is larger than all others. */
static double largest(const double *x, const double *size, int n, int *worst)
{
  double max = 0.0;
  *worst = -1;
  for (int i = 0; i < n && isfinite(max); i++) {
    double value = size ? fabs(x[i]) / size[i] : fabs(x[i]);
    if (value <= max) continue;
    max = value;
    *worst = i;
  }
  return max;
}

/* What the rows of B make of a unit of length: defects are measured in its multiples, so that the
 * units of the constraints do not matter. */
static void measure_rows(pol_assembler *a)
{
  const poli_saddle *s = a->saddle;
  for (int i = 0; i < s->m; i++) {
    double size = 0.0;
    for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++)
      size = fmax(size, fabs(a->jacobian[s->row_address[k]]) / a->unit[s->row_col[k]]);
    a->row_size[i] = size > 0.0 ? size : 1.0;
  }
}

static pol_status fail(const pol_assembler *a, pol_status status, double t, int equation,
                       const char *message, const char *advice, pol_diagnostics *d)
{
  if (!d) return status;
  *d = (pol_diagnostics){.status = status, .t = t, .equation = equation};
  if (equation >= 0) poli_dae_describe(a->dae, equation, d->where, sizeof d->where);
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "%s", advice);
  return status;
}

static pol_status not_finite(const pol_assembler *a, double t, int constraint, pol_diagnostics *d)
{
  return fail(a, POL_NOT_FINITE, t, a->saddle->nv + constraint, "a constraint is not finite",
              "check the initial values and the numbers of this joint", d);
}

static pol_status factor(pol_assembler *a, double t, pol_diagnostics *d)
{
  pol_status status = pol_solver_refactor(a->saddle->solver, a->saddle->values);
  if (status == POL_SINGULAR)
    return fail(a, status, t,
                poli_saddle_equation(a->saddle, pol_solver_singular_column(a->saddle->solver)),
                "the constraints are redundant, or a mass is zero",
                "remove what another joint already locks, or start from another position", d);
  if (status) return fail(a, status, t, -1, "the initial system could not be factorised", "", d);
  return POL_OK;
}

/* Puts -damping (B M^-1 B^T)_ii on the diagonal, with M by its diagonal, and cuts out what is kept.
 */
static void regularise(pol_assembler *a, double damping, const unsigned char *keep)
{
  poli_saddle *s = a->saddle;
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint, *S = s->pattern;
  for (int j = 0; j < s->nv; j++) {
    double mass = a->mass[pol_pattern_address(W, j, j)];
    if (mass == 0.0 || (keep && keep[j])) continue;
    for (int k = B->start[j]; k < B->start[j + 1]; k++)
      s->values[poli_saddle_diagonal(s, B->row[k])] -= a->jacobian[k] * a->jacobian[k] / mass;
  }
  for (int i = 0; i < s->m; i++) {
    double *d = &s->values[poli_saddle_diagonal(s, i)];
    a->mobility[i] = *d == 0.0 ? 1.0 : -*d;
    *d = *d == 0.0 ? -1.0 : damping * *d;
  }
  if (!keep) return;
  for (int j = 0; j < s->n; j++)
    for (int k = S->start[j]; k < S->start[j + 1]; k++) {
      int row = S->row[k];
      if ((j < s->nv && keep[j]) || (row < s->nv && keep[row])) s->values[k] = row == j ? 1.0 : 0.0;
    }
}

/* rhs = (0, -defect), solved */
static void solve_correction(pol_assembler *a)
{
  memset(a->rhs, 0, (size_t)a->saddle->nv * sizeof *a->rhs);
  for (int i = 0; i < a->saddle->m; i++) a->rhs[a->saddle->nv + i] = -a->defect[i];
  pol_solver_solve(a->saddle->solver, a->rhs);
}

static pol_status evaluate(pol_assembler *a, const pol_point *at, unsigned want,
                           const pol_terms *out, pol_diagnostics *d)
{
  pol_status status = poli_dae_evaluate(a->dae, at, want, out, a->scratch);
  if (!status) return POL_OK;
  fail(a, status, at->t, -1, "the model could not be evaluated", "", d);
  poli_dae_blame(a->dae, a->scratch, d);
  return status;
}

/* --- contradictions --------------------------------------------------------------------------- */

enum { MAX_NAMED = 6 };                    /* joints in a message */
static const double smallest_share = 0.05; /* of the largest, in the balance of the defects */

/* Share of a constraint in the balance B^T mu = 0: |B_i^T mu_i| in the metric of M^-1. */
static double share_of(const pol_assembler *a, int row)
{
  return fabs(a->defect[row]) / sqrt(a->mobility[row]);
}

/* "joint 'tip', translation x" and its first part, "joint 'tip'" */
static void describe_row(const pol_assembler *a, int row, char name[128], char element[128])
{
  poli_dae_describe(a->dae, a->saddle->nv + row, name, 128);
  snprintf(element, 128, "%s", name);
  char *comma = strchr(element, ',');
  if (comma) *comma = '\0';
}

/* Appends to a text of `size` bytes; what does not fit is left out whole. */
static void append(char *text, size_t size, const char *between, const char *piece)
{
  size_t used = strlen(text), needed = strlen(between) + strlen(piece);
  if (used + needed < size) snprintf(text + used, size - used, "%s%s", between, piece);
}

/* "no position satisfies joint 'a' and joint 'b' together: 0.1 remains in joint 'a', translation x;
 * ..." */
static pol_status contradiction(const pol_assembler *a, double t, int m, int worst,
                                const char *level, const char *advice, pol_diagnostics *d)
{
  char message[sizeof d->message], name[128], element[128], other[128], piece[160];

  /* The joints, drives or bodies with a share in the balance of the first m defects, each with its
   * worst constraint; more than MAX_NAMED are only counted. */
  int count = 0, rows[MAX_NAMED];
  double largest_share = 0.0;
  for (int i = 0; i < m; i++) largest_share = fmax(largest_share, share_of(a, i));
  for (int i = 0; i < m; i++) {
    int k = 0;
    if (!(share_of(a, i) >= smallest_share * largest_share)) continue;
    describe_row(a, i, name, element);
    for (; k < count && k < MAX_NAMED; k++) {
      describe_row(a, rows[k], name, other);
      if (strcmp(element, other) == 0) break;
    }
    if (k < count && k < MAX_NAMED) {
      if (share_of(a, i) > share_of(a, rows[k])) rows[k] = i;
    } else {
      if (count < MAX_NAMED) rows[count] = i;
      count++;
    }
  }

  const int named = count < MAX_NAMED ? count : MAX_NAMED;
  snprintf(message, sizeof message, "no %s satisfies", level);
  for (int k = 0; k < named; k++) {
    describe_row(a, rows[k], name, element);
    append(message, sizeof message, k == 0 ? " " : k == count - 1 ? " and " : ", ", element);
  }
  snprintf(piece, sizeof piece, " and %d more", count - named);
  if (count > named) append(message, sizeof message, "", piece);
  if (count > 1) append(message, sizeof message, " ", "together");
  for (int k = 0; k < named; k++) {
    describe_row(a, rows[k], name, element);
    snprintf(piece, sizeof piece, "%.3g %sin %s", a->defect[rows[k]], k == 0 ? "remains " : "",
             name);
    append(message, sizeof message, k == 0 ? ": " : "; ", piece);
  }
  return fail(a, POL_INCONSISTENT, t, a->saddle->nv + worst, message, advice, d);
}

/* --- positions -------------------------------------------------------------------------------- */

/* What the corrections reduce. */
static double sum_of_squares(const pol_assembler *a, const double *defect)
{
  double sum = 0.0;
  for (int i = 0; i < a->dae->num_holonomic; i++) sum += defect[i] * defect[i] / a->mobility[i];
  return sum;
}

/* One step after Levenberg and Marquardt from q, whose defect is a->defect: the larger the damping,
 * the shorter it is.  *moved is 0 if none leads down. */
static pol_status move_downhill(pol_assembler *a, double t, double *q, double *damping, int *moved,
                                pol_diagnostics *d)
{
  const pol_dae *dae = a->dae;
  const pol_point at = {.t = t, .q = a->q, .v = a->zero, .vd = a->zero, .history = a->history};
  const pol_terms out = {.position = a->trial_defect};
  for (*moved = 0; !*moved && *damping < largest_damping; *damping *= 10.0) {
    poli_saddle_set_kkt(a->saddle, a->mass, a->jacobian);
    regularise(a, *damping, NULL);
    pol_status status = factor(a, t, d);
    if (status) return status;
    solve_correction(a);

    /* How much of the promised reduction the step has brought.  By the last rows of the matrix the
     * defects become -d mu, d its diagonal. */
    const double before = sum_of_squares(a, a->defect);
    double promised = before, share = 0.0;
    pol_group_move(&dae->group, q, a->rhs, a->q);
    if (!poli_dae_evaluate(dae, &at, POL_POSITION, &out, a->scratch)) {
      for (int i = 0; i < dae->num_holonomic; i++) {
        const double diagonal = a->saddle->values[poli_saddle_diagonal(a->saddle, i)];
        const double left = diagonal * a->rhs[a->saddle->nv + i];
        promised -= left * left / a->mobility[i];
      }
      if (promised > 0.0) share = (before - sum_of_squares(a, a->trial_defect)) / promised;
    }
    *moved = share > 1e-3;
    if (!*moved) continue;
    memcpy(q, a->q, (size_t)dae->group.nq * sizeof *q);
    /* trust the next step more or less; the loop multiplies by ten once more */
    if (share > 0.75) *damping = fmax(0.1 * *damping, regularisation);
    *damping *= share > 0.25 ? 0.1 : 1.0;
  }
  return POL_OK;
}

pol_status pol_assembler_position(pol_assembler *assembler, double t, double *q,
                                  pol_diagnostics *diagnostics)
{
  pol_assembler *a = assembler;
  const pol_group *group = &a->dae->group;
  const pol_point at = {.t = t, .q = q, .v = a->zero, .vd = a->zero, .history = a->history};
  const pol_terms out = {.position = a->defect, .mass = a->mass, .jacobian = a->jacobian};

  /* The length of the model or its largest translation. */
  double size = a->length;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    const int pose = factor->kind == POL_SE3;
    if (factor->kind != POL_REAL && !pose) continue;
    for (int i = pose ? 4 : 0; i < (pose ? 7 : factor->dim); i++)
      if (pose || poli_dae_is_length(a->dae, factor->v + i))
        size = fmax(size, fabs(q[factor->q + i]));
  }

  /* Correct q until its defect is round-off or stops falling. */
  double damping = regularisation, remaining = 0.0;
  int worst = -1, moved = 1;
  memset(a->defect, 0, (size_t)a->saddle->m * sizeof *a->defect);
  for (int k = 0; k < MAX_POSITION_ITERATIONS && moved; k++) {
    pol_status status = evaluate(a, &at, POL_POSITION | POL_MASS | POL_JACOBIAN, &out, diagnostics);
    if (status) return status;
    measure_rows(a);
    remaining = largest(a->defect, a->row_size, a->dae->num_holonomic, &worst);
    if (remaining <= 8.0 * DBL_EPSILON * size || !isfinite(remaining)) break;
    status = move_downhill(a, t, q, &damping, &moved, diagnostics);
    if (status) return status;
  }
  if (remaining <= position_accuracy * size) return POL_OK;
  if (!isfinite(remaining)) return not_finite(a, t, worst, diagnostics);
  return contradiction(a, t, a->dae->num_holonomic, worst, "position",
                       "check their geometry, or give initial positions nearer to assembly",
                       diagnostics);
}

/* --- velocities ------------------------------------------------------------------------------- */

/* Repeats the correction until the defect stops falling; what remains of it goes to *remaining. */
static pol_status project_velocity(pol_assembler *a, const pol_point *at, const pol_terms *out,
                                   double *v, double *remaining, int *worst, pol_diagnostics *d)
{
  int nv = a->saddle->nv, m = a->saddle->m;
  *remaining = largest(a->defect, a->row_size, m, worst);
  for (int k = 0; k < MAX_VELOCITY_ITERATIONS && (*remaining) > 0.0; k++) {
    solve_correction(a);
    memcpy(a->best, v, (size_t)nv * sizeof *v);
    for (int i = 0; i < nv; i++) v[i] += a->rhs[i];
    pol_status status = evaluate(a, at, POL_VELOCITY, out, d);
    if (status) return status;
    int row;
    double now = largest(a->defect, a->row_size, m, &row);
    if (!(now < *remaining)) {
      memcpy(v, a->best, (size_t)nv * sizeof *v);
      break;
    }
    *remaining = now;
    *worst = row;
  }
  return POL_OK;
}

pol_status pol_assembler_velocity(pol_assembler *assembler, double t, const double *q, double *v,
                                  const unsigned char *keep, int *kept,
                                  pol_diagnostics *diagnostics)
{
  pol_assembler *a = assembler;
  size_t size = (size_t)a->saddle->nv * sizeof *v;
  double speed = a->length, remaining = 0.0; /* the largest without states, or length a second */
  int worst = -1;
  pol_point at = {.t = t, .q = q, .v = v, .vd = a->zero, .history = a->history};
  pol_terms out = {.velocity = a->defect, .mass = a->mass, .jacobian = a->jacobian};
  memcpy(a->given, v, size);
  for (int i = 0; i < a->saddle->nv - a->dae->num_states; i++)
    speed = fmax(speed, a->unit[i] * fabs(v[i]));

  /* first with the kept components held, then, if the constraints do not allow that, without */
  for (int held = keep != NULL; held >= 0; held--) {
    memcpy(v, a->given, size);
    pol_status status = evaluate(a, &at, POL_VELOCITY | POL_MASS | POL_JACOBIAN, &out, diagnostics);
    if (status) return status;
    measure_rows(a);
    poli_saddle_set_kkt(a->saddle, a->mass, a->jacobian);
    regularise(a, regularisation, held ? keep : NULL);
    status = factor(a, t, diagnostics);
    if (!status) status = project_velocity(a, &at, &out, v, &remaining, &worst, diagnostics);
    if (status) return status;
    if (kept) *kept = held || !keep;
    if (remaining <= velocity_accuracy * speed) return POL_OK;
  }
  if (!isfinite(remaining)) return not_finite(a, t, worst, diagnostics);
  return contradiction(a, t, a->saddle->m, worst, "velocity",
                       "give drives and velocities that fit each other", diagnostics);
}

/* --- accelerations ---------------------------------------------------------------------------- */

/* The matrix [ W B^T + F; B 0 ], without the rows that are dropped. */
static void set_kkt(pol_assembler *a, const double *W, const double *feedback)
{
  poli_saddle_set_kkt(a->saddle, W, a->jacobian);
  if (feedback) poli_saddle_add_feedback(a->saddle, feedback);
  if (a->num_dropped) poli_saddle_drop(a->saddle, a->dropped);
}

/* rhs <- [ M B^T + F; B 0 ]^-1 rhs, without the rows that are dropped; F, the feedback, may be NULL
 */
static pol_status solve_kkt(pol_assembler *a, const double *feedback, double t, pol_diagnostics *d)
{
  set_kkt(a, a->mass, feedback);
  for (int i = 0; i < a->saddle->m; i++)
    if (a->dropped[i]) a->rhs[a->saddle->nv + i] = 0.0;
  pol_status status = factor(a, t, d);
  if (!status) pol_solver_solve(a->saddle->solver, a->rhs);
  if (status != POL_SINGULAR || !feedback) return status;

  /* If it is singular with the feedback only, name the reaction that forces depend on most. */
  const pol_pattern *F = a->dae->feedback;
  double most = 0.0;
  int constraint = 0;
  set_kkt(a, a->mass, NULL);
  if (pol_solver_refactor(a->saddle->solver, a->saddle->values)) return POL_SINGULAR;
  for (int i = 0; i < F->cols; i++)
    for (int k = F->start[i]; k < F->start[i + 1]; k++) {
      if (!(fabs(feedback[k]) > most)) continue;
      most = fabs(feedback[k]);
      constraint = i;
    }
  return fail(a, POL_SINGULAR, t, a->saddle->nv + constraint,
              "forces that depend on reactions make the equations singular: they cancel a reaction "
              "or leave it open",
              "change the expressions of forces that read the reactions of this joint or drive", d);
}

poli_independence *poli_assembler_independence(pol_assembler *assembler)
{
  pol_assembler *a = assembler;
  if (!a->independence) poli_independence_create(&a->independence, a->dae);
  return a->independence;
}

pol_status pol_assembler_drop_redundant(pol_assembler *assembler, double t, const double *q,
                                        int *count, pol_diagnostics *diagnostics)
{
  pol_assembler *a = assembler;
  pol_point at = {.t = t, .q = q, .v = a->zero, .vd = a->zero, .history = a->history};
  poli_independence *independence = poli_assembler_independence(a);
  pol_status status = independence ? poli_independence_find(independence, &at, NULL, -1, a->dropped)
                                   : POL_NO_MEMORY;
  if (status)
    return fail(a, status, t, -1, "the rank of the constraints could not be found", "",
                diagnostics);
  a->num_dropped = 0;
  for (int i = 0; i < a->saddle->m; i++) a->num_dropped += a->dropped[i];
  if (count) *count = a->num_dropped;
  return POL_OK;
}

const unsigned char *pol_assembler_dropped(const pol_assembler *assembler)
{
  return assembler->dropped;
}

void poli_assembler_set_dropped(pol_assembler *assembler, const unsigned char *dropped)
{
  memcpy(assembler->dropped, dropped, (size_t)assembler->saddle->m);
  assembler->num_dropped = 0;
  for (int i = 0; i < assembler->saddle->m; i++) assembler->num_dropped += dropped[i];
}

void pol_assembler_keep_all(pol_assembler *assembler)
{
  memset(assembler->dropped, 0, (size_t)assembler->saddle->m);
  assembler->num_dropped = 0;
}

pol_status pol_assembler_acceleration(pol_assembler *assembler, double t, const double *q,
                                      const double *v, double *vd, double *lambda,
                                      pol_diagnostics *diagnostics)
{
  pol_assembler *a = assembler;
  int nv = a->saddle->nv, m = a->saddle->m, row = 0;
  pol_point at = {
      .t = t, .q = q, .v = v, .vd = a->zero, .lambda = a->lambda, .history = a->history};
  const pol_pattern *F = a->dae->feedback;
  const pol_terms out = {.balance = a->rhs,
                         .acceleration = a->rhs + nv,
                         .mass = a->mass,
                         .jacobian = a->jacobian,
                         .feedback = a->feedback};
  const unsigned want =
      POL_FORCE | POL_ACCELERATION | POL_MASS | POL_JACOBIAN | (F ? POL_FEEDBACK : 0u);
  double change = HUGE_VAL, size = 0.0;
  memset(a->lambda, 0, (size_t)m * sizeof *a->lambda);
  for (int k = 0; k < MAX_FEEDBACK_ITERATIONS && change > feedback_accuracy * size; k++) {
    /* one solution for the forces at the multipliers a->lambda, linearised there */
    pol_status status = evaluate(a, &at, want, &out, diagnostics);
    if (status) return status;
    for (int i = 0; i < nv + m; i++) a->rhs[i] = -a->rhs[i];
    if (F) pol_matrix_multiply(F, a->feedback, 1.0, a->lambda, a->rhs);
    status = solve_kkt(a, F ? a->feedback : NULL, t, diagnostics);
    if (status) return status;
    if (!isfinite(largest(a->rhs, NULL, nv + m, &row)))
      return fail(a, POL_NOT_FINITE, t, row, "the initial accelerations are not finite",
                  "check the forces at the initial configuration", diagnostics);
    row = 0;
    change = size = 0.0;
    for (int i = 0; i < m; i++) {
      double moved = fabs(a->rhs[nv + i] - a->lambda[i]);
      if (moved > change) row = i;
      change = fmax(change, moved);
      size = fmax(size, fabs(a->rhs[nv + i]));
      a->lambda[i] = a->rhs[nv + i];
    }
    if (!a->dae->feedback) change = 0.0;
  }
  if (change > feedback_accuracy * size)
    return fail(a, POL_NOT_CONVERGED, t, nv + row,
                "no reactions balance the forces that depend on them",
                "look for friction that locks, or give it less", diagnostics);
  memcpy(vd, a->rhs, (size_t)nv * sizeof *vd);
  for (int i = 0; i < m; i++) lambda[i] = a->rhs[nv + i]; /* may be NULL if there is none */
  return POL_OK;
}

/* w (nv) of [ M B^T; B 0 ] (w, mu) = (f, b) at q, v: f (NULL: none), b from the constraints as
 * b = B x (x NULL: none), or, as at v, b = B v + Phi_t.  w may be f or x. */
static pol_status solve_at(pol_assembler *a, double t, const double *q, const double *v,
                           const double *f, const double *x, double *w, pol_diagnostics *d)
{
  const int nv = a->saddle->nv, m = a->saddle->m;
  const pol_point at = {.t = t, .q = q, .v = v ? v : a->zero, .vd = a->zero, .history = a->history};
  const pol_terms out = {.velocity = a->rhs + nv, .mass = a->mass, .jacobian = a->jacobian};
  const unsigned want = POL_MASS | POL_JACOBIAN | (v ? POL_VELOCITY : 0u);
  memset(a->rhs, 0, (size_t)(nv + m) * sizeof *a->rhs);
  pol_status status = evaluate(a, &at, want, &out, d);
  if (status) return status;
  if (f) memcpy(a->rhs, f, (size_t)nv * sizeof *f);
  if (x) pol_matrix_multiply(a->saddle->patterns.constraint, a->jacobian, 1.0, x, a->rhs + nv);
  for (int i = a->dae->num_holonomic; i < m && x; i++) a->rhs[nv + i] = 0.0;
  status = solve_kkt(a, NULL, t, d);
  if (!status) memcpy(w, a->rhs, (size_t)nv * sizeof *w);
  return status;
}

pol_status poli_assembler_normal_part(pol_assembler *assembler, double t, const double *q,
                                      double *w, pol_diagnostics *diagnostics)
{
  return solve_at(assembler, t, q, NULL, NULL, w, w, diagnostics);
}

pol_status poli_assembler_velocity_defect(pol_assembler *assembler, double t, const double *q,
                                          const double *v, double *w, pol_diagnostics *diagnostics)
{
  return solve_at(assembler, t, q, v, NULL, NULL, w, diagnostics);
}

pol_status poli_assembler_response(pol_assembler *assembler, double t, const double *q,
                                   const double *f, double *w, pol_diagnostics *diagnostics)
{
  return solve_at(assembler, t, q, NULL, f, NULL, w, diagnostics);
}

/* --- an implicit step ------------------------------------------------------------------------- */

pol_status poli_assembler_factor_implicit(pol_assembler *assembler, const pol_point *at, double h,
                                          double h_square, pol_diagnostics *diagnostics)
{
  pol_assembler *a = assembler;
  const int depends = a->dae->feedback != NULL;
  const int coupling = pol_pattern_nonzeros(a->saddle->patterns.coupling);
  unsigned want = POL_MASS | POL_DAMPING | POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS | POL_JACOBIAN;
  if (depends) want |= POL_FEEDBACK;
  pol_terms out = {.mass = a->mass,
                   .damping = a->damping,
                   .stiffness = a->stiffness,
                   .jacobian = a->jacobian,
                   .feedback = a->feedback};
  pol_point here = *at;
  here.history = a->history;
  pol_status status = evaluate(a, &here, want, &out, diagnostics);
  if (status) return status;
  for (int k = 0; k < coupling; k++)
    a->stiffness[k] = a->mass[k] + h * a->damping[k] + h_square * a->stiffness[k];
  set_kkt(a, a->stiffness, depends ? a->feedback : NULL);
  return factor(a, at->t, diagnostics);
}

void poli_assembler_solve_implicit(pol_assembler *assembler, const double *x, double *y)
{
  pol_assembler *a = assembler;
  const int nv = a->saddle->nv, m = a->saddle->m;
  memset(a->rhs, 0, (size_t)(nv + m) * sizeof *a->rhs);
  pol_matrix_multiply(a->saddle->patterns.coupling, a->mass, 1.0, x, a->rhs);
  pol_matrix_multiply(a->saddle->patterns.constraint, a->jacobian, 1.0, x, a->rhs + nv);
  for (int i = 0; i < m; i++)
    if (a->dropped[i]) a->rhs[nv + i] = 0.0;
  pol_solver_solve(a->saddle->solver, a->rhs);
  memcpy(y, a->rhs, (size_t)nv * sizeof *y);
}
