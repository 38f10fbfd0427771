/* The matrix of independence.h, and what its rank tells. */
#include "dae/independence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"
#include "linalg/rank.h"

struct pol_independence {
  const pol_dae *dae;
  pol_dae_patterns patterns;
  int nv, m, cols;
  int *constraint_of; /* a column: its constraint */
  int *column_of;     /* a constraint: its column, -1 if dropped */
  double *memory;     /* the arrays below in one piece */
  double *mass, *jacobian, *A, *scratch;
  unsigned char *found, *internal; /* a column */
  pol_rank *rank;
};

/* Numbers the columns. */
static void number(pol_independence *s, const unsigned char *dropped)
{
  s->cols = 0;
  for (int i = 0; i < s->m; i++) {
    s->column_of[i] = dropped && dropped[i] ? -1 : s->cols;
    if (s->column_of[i] < 0) continue;
    s->internal[s->cols] = (unsigned char)pol_dae_is_internal(s->dae, i);
    s->constraint_of[s->cols++] = i;
  }
}

static pol_status build(pol_independence *s, const unsigned char *dropped)
{
  pol_status status = pol_dae_patterns_create(&s->patterns, s->dae);
  if (status) return status;
  s->nv = s->dae->group.nv;
  s->m = pol_dae_num_constraints(s->dae);
  s->constraint_of = calloc((size_t)s->m + 1, sizeof *s->constraint_of);
  s->column_of = calloc((size_t)s->m + 1, sizeof *s->column_of);
  s->found = calloc((size_t)s->m + 1, sizeof *s->found);
  s->internal = calloc((size_t)s->m + 1, sizeof *s->internal);
  if (!s->constraint_of || !s->column_of || !s->found || !s->internal) return POL_NO_MEMORY;
  number(s, dropped);
  size_t coupling = (size_t)pol_pattern_nonzeros(s->patterns.coupling);
  size_t constraint = (size_t)pol_pattern_nonzeros(s->patterns.constraint);
  size_t full = (size_t)s->nv * (size_t)s->cols;
  s->memory = calloc(coupling + constraint + full + s->dae->scratch_size + 1, sizeof *s->memory);
  if (!s->memory) return POL_NO_MEMORY;
  s->mass = s->memory;
  s->jacobian = s->mass + coupling;
  s->A = s->jacobian + constraint;
  s->scratch = s->A + full;
  return pol_rank_create(&s->rank, s->nv, s->cols);
}

pol_status pol_independence_create(pol_independence **independence, const pol_dae *dae,
                                   const unsigned char *dropped)
{
  pol_independence *s = *independence = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->dae = dae;
  pol_status status = build(s, dropped);
  if (status) pol_independence_free(independence);
  return status;
}

void pol_independence_free(pol_independence **independence)
{
  pol_independence *s = *independence;
  if (!s) return;
  pol_rank_free(&s->rank);
  pol_dae_patterns_free(&s->patterns);
  free(s->constraint_of);
  free(s->column_of);
  free(s->found);
  free(s->internal);
  free(s->memory);
  free(s);
  *independence = NULL;
}

void pol_independence_drop(pol_independence *independence, const unsigned char *dropped)
{
  number(independence, dropped);
}

/* A = M^-1/2 B^T, by columns */
static pol_status fill(pol_independence *s, const pol_point *at)
{
  const pol_pattern *B = s->patterns.constraint;
  pol_terms out = {.mass = s->mass, .jacobian = s->jacobian};
  pol_status status = pol_dae_evaluate(s->dae, at, POL_MASS | POL_JACOBIAN, &out, s->scratch);
  if (status) return status;
  memset(s->A, 0, (size_t)s->nv * (size_t)s->cols * sizeof *s->A);
  for (int j = 0; j < s->nv; j++) {
    double mass = s->mass[pol_pattern_address(s->patterns.coupling, j, j)];
    double root = sqrt(mass > 0.0 ? mass : 1.0);
    for (int k = B->start[j]; k < B->start[j + 1]; k++) {
      int col = s->column_of[B->row[k]];
      if (col >= 0) s->A[(size_t)col * (size_t)s->nv + (size_t)j] = s->jacobian[k] / root;
    }
  }
  return POL_OK;
}

pol_status pol_independence_measure(pol_independence *independence, const pol_point *at,
                                    double *distance, int *constraint)
{
  pol_independence *s = independence;
  int col;
  *distance = 1.0;
  *constraint = -1;
  pol_status status = fill(s, at);
  if (status || s->cols == 0) return status;
  *distance = pol_rank_measure(s->rank, s->A, s->internal, &col);
  *constraint = col >= 0 ? s->constraint_of[col] : -1;
  return POL_OK;
}

pol_status pol_independence_find(pol_independence *independence, const pol_point *at,
                                 unsigned char *dependent)
{
  pol_independence *s = independence;
  pol_status status = fill(s, at);
  if (status) return status;
  pol_monitor_stage("rank of the constraints");
  status = pol_rank_dependent(s->rank, s->A, s->internal, s->found);
  pol_monitor_stage("initial values");
  if (status) return status;
  memset(dependent, 0, (size_t)s->m);
  for (int c = 0; c < s->cols; c++) dependent[s->constraint_of[c]] = s->found[c];
  return POL_OK;
}
