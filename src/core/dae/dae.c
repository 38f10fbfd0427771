/* The contract's helpers: validation, evaluation, patterns, names of equations. */
#include "dae/dae.h"
#include "dae/extension.h"

#include <stdio.h>
#include <string.h>

#include "base/monitor.h"
#include "base/rule.h"

int pol_dae_num_constraints(const pol_dae *dae)
{
  return dae->num_holonomic + dae->num_nonholonomic;
}

double poli_dae_length(const pol_dae *dae)
{
  return dae->length > 0.0 ? dae->length : 1.0;
}

int poli_dae_is_length(const pol_dae *dae, int i)
{
  return !dae->pure || !dae->pure[i];
}

int poli_dae_is_internal(const pol_dae *dae, int constraint)
{
  return constraint < dae->num_holonomic && constraint >= dae->num_holonomic - dae->num_internal;
}

/* The factors lie one behind the other, as pol_group_layout puts them. */
static int is_laid_out(const pol_group *group)
{
  int q = 0, v = 0;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    int rotation = factor->kind != POL_REAL; /* stored in one number more than its dimension */
    if (factor->q != q || factor->v != v || factor->dim < 1) return 0;
    if (rotation && factor->dim != (factor->kind == POL_SE3 ? 6 : 3)) return 0;
    q += factor->dim + rotation;
    v += factor->dim;
  }
  return q == group->nq && v == group->nv;
}

/* Columns of one SO(3) or SE(3) factor have the same rows. */
static int uniform_columns(const pol_pattern *pattern, const pol_group *group)
{
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    if (factor->kind == POL_REAL) continue;
    const int *first = pattern->row + pattern->start[factor->v];
    int count = pattern->start[factor->v + 1] - pattern->start[factor->v];
    for (int j = factor->v + 1; j < factor->v + factor->dim; j++)
      if (pattern->start[j + 1] - pattern->start[j] != count ||
          memcmp(pattern->row + pattern->start[j], first, (size_t)count * sizeof *first) != 0)
        return 0;
  }
  return 1;
}

pol_status pol_dae_validate(const pol_dae *dae, char *message, size_t size)
{
  int nv = dae->group.nv, m = pol_dae_num_constraints(dae), vector_space = 1;
  if (nv < 1 || dae->group.num_factors < 1)
    return poli_broken_rule("the group is empty", message, size);
  if (!is_laid_out(&dae->group))
    return poli_broken_rule("the factors of the group do not fit its sizes: use pol_group_layout",
                            message, size);
  if (dae->num_holonomic < 0 || dae->num_nonholonomic < 0)
    return poli_broken_rule("the number of constraints is negative", message, size);
  if (dae->num_internal < 0 || dae->num_internal > dae->num_holonomic)
    return poli_broken_rule("num_internal must be between 0 and num_holonomic", message, size);
  if (!dae->evaluate) return poli_broken_rule("evaluate is missing", message, size);
  if (dae->coupling) {
    if (dae->coupling->rows != nv || dae->coupling->cols != nv)
      return poli_broken_rule("the pattern coupling must be nv x nv", message, size);
    if (!uniform_columns(dae->coupling, &dae->group))
      return poli_broken_rule("the columns of a rotation in coupling must have the same rows",
                              message, size);
    for (int j = 0; j < nv; j++)
      if (pol_pattern_address(dae->coupling, j, j) < 0)
        return poli_broken_rule("the pattern coupling must contain the diagonal", message, size);
  }
  if (dae->constraint) {
    if (dae->constraint->rows != m || dae->constraint->cols != nv)
      return poli_broken_rule("the pattern constraint must be m x nv", message, size);
    if (!uniform_columns(dae->constraint, &dae->group))
      return poli_broken_rule("the columns of a rotation in constraint must have the same rows",
                              message, size);
  }
  if (dae->feedback && (dae->feedback->rows != nv || dae->feedback->cols != m))
    return poli_broken_rule("the pattern feedback must be nv x m", message, size);
  const pol_factor *last = &dae->group.factors[dae->group.num_factors - 1];
  if (dae->num_states < 0 ||
      (dae->num_states > 0 && (last->kind != POL_REAL || last->dim != dae->num_states)))
    return poli_broken_rule("the states must have the last factor of the group, R^num_states",
                            message, size);
  const poli_step_equations *step = dae->extension ? &dae->extension->step_equations : NULL;
  if (step && (step->evaluate != NULL) != (step->momenta != NULL))
    return poli_broken_rule("step equations need evaluate and momenta", message, size);
  for (int f = 0; f < dae->group.num_factors; f++)
    vector_space &= dae->group.factors[f].kind == POL_REAL;
  if (step && step->evaluate && (dae->constant_mass || !vector_space))
    return poli_broken_rule("step equations need a mass matrix that depends on q, on R^n", message,
                            size);
  if ((dae->history_size > 0) != (dae->update_history != NULL))
    return poli_broken_rule("history_size and update_history must be given together", message,
                            size);
  return POL_OK;
}

static void zero(double *values, int n)
{
  memset(values, 0, (size_t)n * sizeof *values);
}

pol_status poli_dae_evaluate(const pol_dae *dae, const pol_point *at, unsigned want,
                             const pol_terms *out, double *scratch)
{
  if (poli_monitor_poll(-1.0)) return POL_CANCELLED;
  int nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  int coupling = dae->coupling ? pol_pattern_nonzeros(dae->coupling) : nv * nv;
  int constraint = dae->constraint ? pol_pattern_nonzeros(dae->constraint) : m * nv;
  if (want & (POL_INERTIA | POL_FORCE | POL_REACTION)) zero(out->balance, nv);
  if (want & POL_POSITION) zero(out->position, dae->num_holonomic);
  if (want & POL_VELOCITY) zero(out->velocity, m);
  if (want & POL_ACCELERATION) zero(out->acceleration, m);
  if (want & POL_MASS) zero(out->mass, coupling);
  if (want & POL_DAMPING) zero(out->damping, coupling);
  if (want & (POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS)) zero(out->stiffness, coupling);
  if (want & POL_JACOBIAN) zero(out->jacobian, constraint);
  if (want & POL_CURVATURE) zero(out->curvature, constraint);
  if (want & POL_FEEDBACK) zero(out->feedback, pol_pattern_nonzeros(dae->feedback));
  return dae->evaluate(at, want, out, scratch, dae->user);
}

/* A full rows x cols pattern in *owned, unless the dae has its own. */
static pol_status own_or_full(const pol_pattern *given, int rows, int cols, pol_pattern **owned,
                              const pol_pattern **pattern)
{
  pol_block all = {.rows = rows, .cols = cols};
  pol_status status = given ? POL_OK : pol_pattern_create(owned, rows, cols, 1, &all);
  *pattern = given ? given : *owned;
  return status;
}

pol_status poli_dae_patterns_create(poli_dae_patterns *patterns, const pol_dae *dae)
{
  int nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  memset(patterns, 0, sizeof *patterns);
  patterns->feedback = dae->feedback;
  pol_status status = own_or_full(dae->coupling, nv, nv, &patterns->owned[0], &patterns->coupling);
  if (!status)
    status = own_or_full(dae->constraint, m, nv, &patterns->owned[1], &patterns->constraint);
  if (status) poli_dae_patterns_free(patterns);
  return status;
}

void poli_dae_patterns_free(poli_dae_patterns *patterns)
{
  pol_pattern_free(&patterns->owned[0]);
  pol_pattern_free(&patterns->owned[1]);
}

void poli_dae_describe(const pol_dae *dae, int equation, char *text, size_t size)
{
  int nv = dae->group.nv;
  if (dae->describe)
    dae->describe(equation, text, size, dae->user);
  else if (equation < nv)
    snprintf(text, size, "balance equation %d", equation + 1);
  else
    snprintf(text, size, "constraint %d", equation - nv + 1);
}

void poli_dae_blame(const pol_dae *dae, const double *scratch, pol_diagnostics *diagnostics)
{
  char text[sizeof diagnostics->where] = "";
  if (dae->blame) dae->blame(scratch, text, sizeof text, dae->user);
  if (text[0] != '\0') memcpy(diagnostics->where, text, sizeof text);
}
