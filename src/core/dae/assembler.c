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
#include "dae/extension.h"
#include "dae/row_saddle.h"

/* From this many unknowns on a dae is large: where rows serve, the matrix is not made ahead. */
enum { LARGE = 5000 };

enum { MAX_POSITION_ITERATIONS = 100, MAX_VELOCITY_ITERATIONS = 20, MAX_FEEDBACK_ITERATIONS = 30 };

static const double regularisation = 1e-9; /* eps */
static const double largest_damping = 1e6; /* of it, where the straight way does not lead down */
static const double position_accuracy = 1e-10; /* of the largest translation, or of length */
static const double velocity_accuracy = 1e-9;  /* of the largest velocity, or of length a second */
static const double feedback_accuracy = 1e-12; /* of the largest multiplier */

struct pol_assembler {
  const pol_dae *dae;
  poli_saddle *saddle;
  poli_row_saddle *rows;              /* NULL: systems are solved with the matrix */
  int by_rows;                        /* the system under way, or the last one, is solved by them */
  size_t memory_size, matrix_size;    /* bytes of the following */
  void *memory, *matrix_memory;       /* hold the arrays: those of matrices are NULL until needed */
  double *mass, *jacobian, *feedback; /* matrices; feedback: dg/dlambda */
  double *damping, *stiffness;        /* matrices of poli_assembler_factor_implicit */
  double *row_size, *rhs, *defect, *trial_defect;
  double length;    /* of the dae, or 1 */
  double *unit;     /* nv: what a unit of each velocity is in lengths */
  double *mobility; /* m: (B M^-1 B^T)_ii with M by its diagonal, of what is not kept */
  double *diagonal; /* m: eps of each row */
  double *q, *given, *best, *step, *zero, *scratch;
  double *lambda;                  /* m: where dg/dlambda was taken */
  const double *history;           /* not owned; may be NULL */
  unsigned char *dropped;          /* m */
  poli_independence *independence; /* NULL as long as nobody has asked for it */
  int num_dropped;
};

/* The matrix and what it is made of, unless they are there. */
static pol_status make_matrix(pol_assembler *a)
{
  if (a->matrix_memory) return POL_OK;
  const pol_status status = poli_saddle_build(a->saddle);
  if (status) return status;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, pol_pattern_nonzeros(a->saddle->patterns.coupling), &a->mass,
                   &a->damping, &a->stiffness);
    POLI_TAKE(&arena, a->jacobian, pol_pattern_nonzeros(a->saddle->patterns.constraint));
    POLI_TAKE(&arena, a->feedback, a->dae->feedback ? pol_pattern_nonzeros(a->dae->feedback) : 0);
  } while (poli_arena_again(&arena));
  a->matrix_memory = arena.memory;
  a->matrix_size = arena.used;
  return a->matrix_memory ? POL_OK : POL_NO_MEMORY;
}

int poli_assembler_chooses_rows(const pol_dae *dae, pol_solver_kind solver)
{
  const int m = pol_dae_num_constraints(dae);
  return solver == POL_SOLVER_AUTO && m > 0 && dae->group.nv > LARGE - m &&
         poli_row_saddle_applies(dae);
}

static pol_status build(pol_assembler *a, pol_solver_kind solver, poli_assembler_kind kind)
{
  const pol_dae *dae = a->dae;
  const pol_group *group = &dae->group;
  const int nv = group->nv, nq = group->nq, m = pol_dae_num_constraints(dae);
  const int by_rows = kind == POLI_ASSEMBLE_BY_ROWS
                          ? poli_row_saddle_applies(dae)
                          : kind == POLI_ASSEMBLE_AUTO && poli_assembler_chooses_rows(dae, solver);
  pol_status status = poli_saddle_plan(&a->saddle, dae, 0, solver);
  if (!status && by_rows) status = poli_row_saddle_create(&a->rows, dae);
  if (!status && !a->rows) status = make_matrix(a);
  if (status) return status;

  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, m, &a->row_size, &a->mobility, &a->diagonal, &a->defect,
                   &a->trial_defect, &a->lambda);
    POLI_TAKE(&arena, a->rhs, nv + m);
    POLI_TAKE(&arena, a->q, nq);
    POLI_TAKE_EACH(&arena, nv, &a->given, &a->best, &a->step, &a->zero, &a->unit);
    POLI_TAKE(&arena, a->scratch, dae->scratch_size);
    POLI_TAKE(&arena, a->dropped, m);
  } while (poli_arena_again(&arena));
  a->memory = arena.memory;
  a->memory_size = arena.used;
  if (!a->memory) return POL_NO_MEMORY;

  /* a radian, or a pure number, counts as much as the length of the model */
  a->length = poli_dae_length(dae);
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    for (int i = 0; i < factor->dim; i++) {
      int length = factor->kind == POL_REAL ? poli_dae_is_length(dae, factor->v + i) : i >= 3;
      a->unit[factor->v + i] = length ? 1.0 : a->length;
    }
  }
  return POL_OK;
}

pol_status poli_assembler_create(pol_assembler **assembler, const pol_dae *dae,
                                 pol_solver_kind solver, poli_assembler_kind kind)
{
  *assembler = NULL;
  pol_status status = pol_dae_validate(dae, NULL, 0);
  if (status) return status;
  pol_assembler *a = calloc(1, sizeof *a);
  if (!a) return POL_NO_MEMORY;
  a->dae = dae;
  status = build(a, solver, kind);
  if (status)
    pol_assembler_free(&a);
  else
    *assembler = a;
  return status;
}

pol_status pol_assembler_create(pol_assembler **assembler, const pol_dae *dae,
                                pol_solver_kind solver)
{
  return poli_assembler_create(assembler, dae, solver, POLI_ASSEMBLE_AUTO);
}

void pol_assembler_free(pol_assembler **assembler)
{
  pol_assembler *a = *assembler;
  if (!a) return;
  poli_saddle_free(&a->saddle);
  poli_row_saddle_free(&a->rows);
  poli_independence_free(&a->independence);
  free(a->memory);
  free(a->matrix_memory);
  free(a);
  *assembler = NULL;
}

int poli_assembler_has_rows(const pol_assembler *assembler)
{
  return assembler->rows != NULL;
}

int poli_assembler_is_tree(const pol_assembler *assembler)
{
  return assembler->rows && poli_row_saddle_is_tree(assembler->rows);
}

poli_saddle *poli_assembler_saddle(pol_assembler *assembler)
{
  return assembler->saddle;
}

void poli_assembler_set_history(pol_assembler *assembler, const double *history)
{
  assembler->history = history;
}

void poli_assembler_archive(pol_assembler *assembler, poli_archive *archive)
{
  pol_assembler *a = assembler;
  if (poli_archive_has(archive, a->matrix_memory != NULL)) {
    if ((archive->status = make_matrix(a))) return;
    poli_archive_bytes(archive, a->matrix_memory, a->matrix_size);
  }
  poli_saddle_archive(a->saddle, archive);
  poli_archive_bytes(archive, a->memory, a->memory_size);
  POLI_ARCHIVE(archive, a->by_rows);
  POLI_ARCHIVE(archive, a->num_dropped);
  if (!poli_archive_has(archive, a->independence != NULL)) return;
  if (!poli_assembler_independence(a))
    archive->status = POL_NO_MEMORY;
  else
    poli_independence_archive(a->independence, archive);
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
  if (a->by_rows) poli_row_saddle_sizes(a->rows, a->unit, a->row_size);
  for (int i = 0; i < s->m; i++) {
    double size = a->by_rows ? a->row_size[i] : 0.0;
    for (int k = a->by_rows ? 0 : s->row_start[i]; !a->by_rows && k < s->row_start[i + 1]; k++)
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

static pol_status evaluate(pol_assembler *a, const pol_point *at, unsigned want,
                           const pol_terms *out, pol_diagnostics *d)
{
  pol_status status = poli_dae_evaluate(a->dae, at, want, out, a->scratch);
  if (!status) return POL_OK;
  fail(a, status, at->t, -1, "the model could not be evaluated", "", d);
  poli_dae_blame(a->dae, a->scratch, d);
  return status;
}

/* --- the system, by rows or by the matrix ----------------------------------------------------- */

/* M and B as matrices, together with the terms in want (0: none). */
static pol_status evaluate_matrices(pol_assembler *a, const pol_point *at, unsigned want,
                                    const pol_terms *out, pol_diagnostics *d)
{
  pol_terms terms = out ? *out : (pol_terms){0};
  pol_status status = make_matrix(a);
  if (status) return fail(a, status, at->t, -1, "the matrix of the initial system", "", d);
  terms.mass = a->mass;
  terms.jacobian = a->jacobian;
  terms.feedback = a->feedback;
  return evaluate(a, at, want | POL_MASS | POL_JACOBIAN, &terms, d);
}

/* M and B at a point, and the terms in want: by rows where these serve, else as matrices. */
static pol_status begin_system(pol_assembler *a, const pol_point *at, unsigned want,
                               const pol_terms *out, pol_diagnostics *d)
{
  a->by_rows = a->rows && !poli_row_saddle_set(a->rows, at->t, at->q, at->history);
  if (!a->by_rows) return evaluate_matrices(a, at, want, out, d);
  return want ? evaluate(a, at, want, out, d) : POL_OK;
}

/* Tries to factor by rows; POL_SINGULAR where the matrix has to serve, which then has M and B. */
static pol_status factor_rows(pol_assembler *a, const pol_point *at,
                              const poli_row_saddle_terms *terms, pol_diagnostics *d)
{
  if (a->by_rows && !poli_row_saddle_factor(a->rows, terms)) return POL_OK;
  if (!a->by_rows) return POL_SINGULAR;
  a->by_rows = 0;
  const pol_status status = evaluate_matrices(a, at, 0, NULL, d);
  return status ? status : POL_SINGULAR;
}

static void solve(pol_assembler *a)
{
  if (a->by_rows)
    poli_row_saddle_solve(a->rows, a->rhs);
  else
    pol_solver_solve(a->saddle->solver, a->rhs);
}

/* Sets mobility and diagonal: damping (B M^-1 B^T)_ii, with M by its diagonal. */
static void set_diagonal(pol_assembler *a, double damping, const unsigned char *keep)
{
  poli_saddle *s = a->saddle;
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  if (a->by_rows) poli_row_saddle_mobility(a->rows, keep, a->mobility);
  if (!a->by_rows) memset(a->mobility, 0, (size_t)s->m * sizeof *a->mobility);
  for (int j = 0; j < s->nv && !a->by_rows; j++) {
    double mass = a->mass[pol_pattern_address(W, j, j)];
    if (mass == 0.0 || (keep && keep[j])) continue;
    for (int k = B->start[j]; k < B->start[j + 1]; k++)
      a->mobility[B->row[k]] += a->jacobian[k] * a->jacobian[k] / mass;
  }
  for (int i = 0; i < s->m; i++) {
    a->diagonal[i] = a->mobility[i] == 0.0 ? 1.0 : damping * a->mobility[i];
    if (a->mobility[i] == 0.0) a->mobility[i] = 1.0;
  }
}

/* Factors [ M B^T; B -diagonal ], without what is kept, at the point of begin_system. */
static pol_status factor_regularised(pol_assembler *a, const pol_point *at, double damping,
                                     const unsigned char *keep, pol_diagnostics *d)
{
  poli_saddle *s = a->saddle;
  const poli_row_saddle_terms terms = {.keep = keep, .diagonal = a->diagonal};
  set_diagonal(a, damping, keep);
  const pol_status status = factor_rows(a, at, &terms, d);
  if (status != POL_SINGULAR) return status;
  poli_saddle_set_kkt(s, a->mass, a->jacobian);
  for (int i = 0; i < s->m; i++) s->values[poli_saddle_diagonal(s, i)] = -a->diagonal[i];
  for (int j = 0; j < s->n && keep; j++)
    for (int k = s->pattern->start[j]; k < s->pattern->start[j + 1]; k++) {
      int row = s->pattern->row[k];
      if ((j < s->nv && keep[j]) || (row < s->nv && keep[row])) s->values[k] = row == j ? 1.0 : 0.0;
    }
  return factor(a, at->t, d);
}

/* rhs = (0, -defect), solved */
static void solve_correction(pol_assembler *a)
{
  memset(a->rhs, 0, (size_t)a->saddle->nv * sizeof *a->rhs);
  for (int i = 0; i < a->saddle->m; i++) a->rhs[a->saddle->nv + i] = -a->defect[i];
  solve(a);
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
  const pol_point here = {.t = t, .q = q, .v = a->zero, .vd = a->zero, .history = a->history};
  const pol_terms out = {.position = a->trial_defect};
  for (*moved = 0; !*moved && *damping < largest_damping; *damping *= 10.0) {
    pol_status status = factor_regularised(a, &here, *damping, NULL, d);
    if (status) return status;
    solve_correction(a);

    /* How much of the promised reduction the step has brought.  By the last rows of the matrix the
     * defects become d mu, d the diagonal. */
    const double before = sum_of_squares(a, a->defect);
    double promised = before, share = 0.0;
    pol_group_move(&dae->group, q, a->rhs, a->q);
    if (!poli_dae_evaluate(dae, &at, POL_POSITION, &out, a->scratch)) {
      for (int i = 0; i < dae->num_holonomic; i++) {
        const double left = a->diagonal[i] * a->rhs[a->saddle->nv + i];
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
  const pol_terms out = {.position = a->defect};

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
    pol_status status = begin_system(a, &at, POL_POSITION, &out, diagnostics);
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
  pol_terms out = {.velocity = a->defect};
  memcpy(a->given, v, size);
  for (int i = 0; i < a->saddle->nv - a->dae->num_states; i++)
    speed = fmax(speed, a->unit[i] * fabs(v[i]));

  /* first with the kept components held, then, if the constraints do not allow that, without */
  for (int held = keep != NULL; held >= 0; held--) {
    memcpy(v, a->given, size);
    pol_status status = begin_system(a, &at, POL_VELOCITY, &out, diagnostics);
    if (status) return status;
    measure_rows(a);
    status = factor_regularised(a, &at, regularisation, held ? keep : NULL, diagnostics);
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

/* Factors [ M B^T + F; B 0 ] at the point of begin_system; F, the feedback, may be NULL. */
static pol_status factor_kkt(pol_assembler *a, const pol_point *at, const double *feedback,
                             pol_diagnostics *d)
{
  const poli_row_saddle_terms terms = {.dropped = a->dropped};
  const pol_status status = factor_rows(a, at, &terms, d);
  if (status != POL_SINGULAR) return status;
  set_kkt(a, a->mass, feedback);
  return factor(a, at->t, d);
}

/* rhs <- the solution of that system, without the rows that are dropped */
static pol_status solve_kkt(pol_assembler *a, const pol_point *at, const double *feedback,
                            pol_diagnostics *d)
{
  const double t = at->t;
  for (int i = 0; i < a->saddle->m; i++)
    if (a->dropped[i]) a->rhs[a->saddle->nv + i] = 0.0;
  const pol_status status = factor_kkt(a, at, feedback, d);
  if (!status) solve(a);
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
  const pol_terms out = {.balance = a->rhs, .acceleration = a->rhs + nv};
  const unsigned want = POL_FORCE | POL_ACCELERATION | (F ? POL_FEEDBACK : 0u);
  double change = HUGE_VAL, size = 0.0;
  memset(a->lambda, 0, (size_t)m * sizeof *a->lambda);
  for (int k = 0; k < MAX_FEEDBACK_ITERATIONS && change > feedback_accuracy * size; k++) {
    /* one solution for the forces at the multipliers a->lambda, linearised there */
    pol_status status = begin_system(a, &at, want, &out, diagnostics);
    if (status) return status;
    for (int i = 0; i < nv + m; i++) a->rhs[i] = -a->rhs[i];
    if (F) pol_matrix_multiply(F, a->feedback, 1.0, a->lambda, a->rhs);
    status = solve_kkt(a, &at, F ? a->feedback : NULL, diagnostics);
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

/* y += B x */
static void add_rates(const pol_assembler *a, const double *x, double *y)
{
  if (a->by_rows)
    poli_row_saddle_add_rates(a->rows, x, y);
  else
    pol_matrix_multiply(a->saddle->patterns.constraint, a->jacobian, 1.0, x, y);
}

/* w (nv) of [ M B^T; B 0 ] (w, mu) = (f, b) at q, v: f (NULL: none), b from the constraints as
 * b = B x (x NULL: none), or, as at v, b = B v + Phi_t.  w may be f or x. */
static pol_status solve_at(pol_assembler *a, double t, const double *q, const double *v,
                           const double *f, const double *x, double *w, pol_diagnostics *d)
{
  const int nv = a->saddle->nv, m = a->saddle->m;
  const pol_point at = {.t = t, .q = q, .v = v ? v : a->zero, .vd = a->zero, .history = a->history};
  const pol_terms out = {.velocity = a->rhs + nv};
  memset(a->rhs, 0, (size_t)(nv + m) * sizeof *a->rhs);
  pol_status status = begin_system(a, &at, v ? POL_VELOCITY : 0u, &out, d);
  if (status) return status;
  if (f) memcpy(a->rhs, f, (size_t)nv * sizeof *f);
  if (x) add_rates(a, x, a->rhs + nv);
  for (int i = a->dae->num_holonomic; i < m && x; i++) a->rhs[nv + i] = 0.0;
  status = solve_kkt(a, &at, NULL, d);
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

pol_status poli_assembler_factor(pol_assembler *assembler, double t, const double *q,
                                 pol_diagnostics *diagnostics)
{
  pol_assembler *a = assembler;
  const pol_point at = {.t = t, .q = q, .v = a->zero, .vd = a->zero, .history = a->history};
  const pol_status status = begin_system(a, &at, 0, NULL, diagnostics);
  return status ? status : factor_kkt(a, &at, NULL, diagnostics);
}

void poli_assembler_solve(pol_assembler *assembler, const double *f, double *w)
{
  pol_assembler *a = assembler;
  const size_t nv = (size_t)a->saddle->nv;
  memcpy(a->rhs, f, nv * sizeof *f);
  memset(a->rhs + nv, 0, (size_t)a->saddle->m * sizeof *a->rhs);
  solve(a);
  memcpy(w, a->rhs, nv * sizeof *w);
}

/* --- an implicit step ------------------------------------------------------------------------- */

/* By rows, where nothing but weights and reactions act. */
static int factor_implicit_rows(pol_assembler *a, const pol_point *at, double h, double h_square)
{
  const poli_rigid_bodies *bodies = a->rows ? poli_dae_rigid_bodies(a->dae) : NULL;
  const poli_row_saddle_terms terms = {
      .dropped = a->dropped, .v = at->v, .lambda = at->lambda, .h = h, .h_square = h_square};
  a->by_rows = bodies && bodies->has_weight_only && bodies->num_compliant == 0 &&
               !poli_row_saddle_set(a->rows, at->t, at->q, at->history) &&
               !poli_row_saddle_factor(a->rows, &terms);
  return a->by_rows;
}

pol_status poli_assembler_factor_implicit(pol_assembler *assembler, const pol_point *at, double h,
                                          double h_square, pol_diagnostics *diagnostics)
{
  pol_assembler *a = assembler;
  const int depends = a->dae->feedback != NULL;
  const int coupling = pol_pattern_nonzeros(a->saddle->patterns.coupling);
  unsigned want = POL_DAMPING | POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS;
  pol_point here = *at;
  here.history = a->history;
  if (factor_implicit_rows(a, &here, h, h_square)) return POL_OK;
  pol_status status = make_matrix(a);
  if (status) return status;
  if (depends) want |= POL_FEEDBACK;
  const pol_terms out = {.damping = a->damping, .stiffness = a->stiffness};
  status = evaluate_matrices(a, &here, want, &out, diagnostics);
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
  if (a->by_rows)
    poli_row_saddle_add_momenta(a->rows, x, a->rhs);
  else
    pol_matrix_multiply(a->saddle->patterns.coupling, a->mass, 1.0, x, a->rhs);
  add_rates(a, x, a->rhs + nv);
  for (int i = 0; i < m; i++)
    if (a->dropped[i]) a->rhs[nv + i] = 0.0;
  solve(a);
  memcpy(y, a->rhs, (size_t)nv * sizeof *y);
}
