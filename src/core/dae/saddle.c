/* Pattern and assembly of the saddle-point matrix; see saddle.h. */
#include "dae/saddle.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "linalg/solver.h"

/* Rows of column `col`, appended at out (NULL: only counted) through the marks of rows already
 * there. */
typedef struct collector {
  int *mark; /* n numbers; mark[row] == stamp: row is in the column */
  int stamp;
  int *out;
  int count;
} collector;

static void collect(collector *c, int row)
{
  if (c->mark[row] == c->stamp) return;
  c->mark[row] = c->stamp;
  if (c->out) c->out[c->count] = row;
  c->count++;
}

/* Rows `offset` + those of column j of a pattern, only the first `limit` rows. */
static void collect_column(collector *c, const pol_pattern *pattern, int j, int offset, int limit)
{
  for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
    if (pattern->row[k] < limit) collect(c, offset + pattern->row[k]);
}

static int ascending(const void *a, const void *b)
{
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Rows of one column of the saddle-point matrix. */
static int column_rows(const poli_saddle *s, int col, int *mark, int *out)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  collector c = {.mark = mark, .stamp = col + 1, .out = out};
  if (col < s->nv) {
    collect_column(&c, W, col, 0, s->nv);
    collect_column(&c, B, col, s->nv, s->m);
    collect_column(&c, B, col, s->nv + s->m, s->num_extra);
    return c.count;
  }
  int extra = col >= s->nv + s->m;
  int row = extra ? col - s->nv - s->m : col - s->nv;
  if (!extra && s->patterns.feedback) collect_column(&c, s->patterns.feedback, row, 0, s->nv);
  for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++) {
    if (!extra) {
      collect(&c, s->row_col[k]);
      continue;
    }
    collect_column(&c, W, s->row_col[k], 0, s->nv);
    collect_column(&c, B, s->row_col[k], s->nv, s->m);
  }
  collect(&c, col);
  if (out) qsort(out, (size_t)c.count, sizeof *out, ascending);
  return c.count;
}

static pol_status build_pattern(poli_saddle *s)
{
  int *mark = calloc((size_t)s->n + 1, sizeof *mark);
  pol_pattern *p = s->pattern = calloc(1, sizeof *p);
  pol_status status = POL_NO_MEMORY;
  if (!mark || !p) goto done;
  p->rows = p->cols = s->n;
  p->start = calloc((size_t)s->n + 1, sizeof *p->start);
  if (!p->start) goto done;
  for (int j = 0; j < s->n; j++) p->start[j + 1] = p->start[j] + column_rows(s, j, mark, NULL);
  p->row = calloc((size_t)p->start[s->n] + 1, sizeof *p->row);
  if (!p->row) goto done;
  memset(mark, 0, (size_t)s->n * sizeof *mark);
  for (int j = 0; j < s->n; j++) column_rows(s, j, mark, p->row + p->start[j]);
  status = POL_OK;
done:
  free(mark);
  return status;
}

static pol_status build(poli_saddle *s)
{
  const pol_pattern *B = s->patterns.constraint, *F = s->patterns.feedback;
  const int nnz = pol_pattern_nonzeros(B);
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, s->row_start, s->m + 1);
    POLI_TAKE(&arena, s->row_col, nnz);
    POLI_TAKE(&arena, s->row_address, nnz);
    POLI_TAKE(&arena, s->transposed, nnz);
    POLI_TAKE(&arena, s->feedback, F ? pol_pattern_nonzeros(F) : 0);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  if (!s->memory) return POL_NO_MEMORY;

  /* B by rows: columns and addresses, ascending. */
  for (int k = 0; k < nnz; k++) s->row_start[B->row[k] + 1]++;
  for (int i = 0; i < s->m; i++) s->row_start[i + 1] += s->row_start[i];
  for (int j = 0; j < s->nv; j++)
    for (int k = B->start[j]; k < B->start[j + 1]; k++) {
      int next = s->row_start[B->row[k]]++;
      s->row_col[next] = j;
      s->row_address[next] = k;
    }
  /* row_start[i] now is the end of row i: shift back */
  for (int i = s->m; i > 0; i--) s->row_start[i] = s->row_start[i - 1];
  s->row_start[0] = 0;

  /* The pattern, and where the entries of B^T and of the feedback are in it. */
  const pol_status status = build_pattern(s);
  if (status) return status;
  for (int i = 0; i < s->m; i++) {
    for (int k = s->row_start[i]; k < s->row_start[i + 1]; k++)
      s->transposed[k] = pol_pattern_address(s->pattern, s->row_col[k], s->nv + i);
    for (int k = F ? F->start[i] : 0; F && k < F->start[i + 1]; k++)
      s->feedback[k] = pol_pattern_address(s->pattern, F->row[k], s->nv + i);
  }
  s->values = calloc((size_t)pol_pattern_nonzeros(s->pattern) + 1, sizeof *s->values);
  if (!s->values) return POL_NO_MEMORY;
  return pol_solver_create(&s->solver, s->pattern, s->kind);
}

/* Frees what build has made. */
static void clear(poli_saddle *s)
{
  pol_solver_free(&s->solver);
  pol_pattern_free(&s->pattern);
  free(s->values);
  free(s->memory);
  s->values = s->memory = NULL;
}

pol_status poli_saddle_build(poli_saddle *saddle)
{
  if (saddle->solver) return POL_OK;
  const pol_status status = build(saddle);
  if (status) clear(saddle);
  return status;
}

pol_status poli_saddle_plan(poli_saddle **saddle, const pol_dae *dae, int extra,
                            pol_solver_kind solver)
{
  poli_saddle *s = *saddle = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->nv = dae->group.nv;
  s->m = pol_dae_num_constraints(dae);
  s->num_extra = extra ? dae->num_holonomic : 0;
  s->n = s->nv + s->m + s->num_extra;
  s->kind = solver;
  const pol_status status = poli_dae_patterns_create(&s->patterns, dae);
  if (status) poli_saddle_free(saddle);
  return status;
}

pol_status poli_saddle_create(poli_saddle **saddle, const pol_dae *dae, int extra,
                              pol_solver_kind solver)
{
  pol_status status = poli_saddle_plan(saddle, dae, extra, solver);
  if (!status) status = poli_saddle_build(*saddle);
  if (status) poli_saddle_free(saddle);
  return status;
}

void poli_saddle_free(poli_saddle **saddle)
{
  poli_saddle *s = *saddle;
  if (!s) return;
  clear(s);
  poli_dae_patterns_free(&s->patterns);
  free(s);
  *saddle = NULL;
}

void poli_saddle_archive(poli_saddle *saddle, poli_archive *archive)
{
  poli_saddle *s = saddle;
  if (!poli_archive_has(archive, s->solver != NULL)) return;
  if ((archive->status = poli_saddle_build(s))) return;
  poli_archive_bytes(archive, s->values,
                     (size_t)pol_pattern_nonzeros(s->pattern) * sizeof *s->values);
  poli_solver_archive(s->solver, archive);
}

int poli_saddle_diagonal(const poli_saddle *saddle, int constraint)
{
  return saddle->pattern->start[saddle->nv + constraint + 1] - 1;
}

/* Sets row `row`, whose entries in the first nv columns stand `below` the entries of W, to the unit
 * row. */
static void set_unit_row(poli_saddle *s, int constraint, int row, int below_primary)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint, *S = s->pattern;
  for (int k = s->row_start[constraint]; k < s->row_start[constraint + 1]; k++) {
    int j = s->row_col[k];
    int offset = W->start[j + 1] - W->start[j] + s->row_address[k] - B->start[j];
    if (below_primary) offset += B->start[j + 1] - B->start[j];
    s->values[S->start[j] + offset] = 0.0;
    if (below_primary) continue;
    /* columns of eta: those of the constraints that share a velocity with this one */
    for (int e = B->start[j]; e < B->start[j + 1] && B->row[e] < s->num_extra; e++)
      s->values[pol_pattern_address(S, row, s->nv + s->m + B->row[e])] = 0.0;
  }
  s->values[pol_pattern_address(S, row, row)] = 1.0;
}

void poli_saddle_drop(poli_saddle *saddle, const unsigned char *dropped)
{
  for (int i = 0; i < saddle->m; i++) {
    if (!dropped[i]) continue;
    set_unit_row(saddle, i, saddle->nv + i, 0);
    if (i < saddle->num_extra) set_unit_row(saddle, i, saddle->nv + saddle->m + i, 1);
  }
}

void poli_saddle_set_transposed(poli_saddle *saddle, const double *jacobian)
{
  const int *start = saddle->pattern->start + saddle->nv;
  size_t count = (size_t)(start[saddle->m] - start[0]);
  memset(saddle->values + start[0], 0, count * sizeof *saddle->values);
  for (int k = 0; k < saddle->row_start[saddle->m]; k++)
    saddle->values[saddle->transposed[k]] = jacobian[saddle->row_address[k]];
}

void poli_saddle_add_feedback(poli_saddle *saddle, const double *feedback)
{
  int count = pol_pattern_nonzeros(saddle->patterns.feedback);
  for (int k = 0; k < count; k++) saddle->values[saddle->feedback[k]] += feedback[k];
}

void poli_saddle_set_kkt(poli_saddle *saddle, const double *mass, const double *jacobian)
{
  const pol_pattern *W = saddle->patterns.coupling, *B = saddle->patterns.constraint;
  for (int j = 0; j < saddle->nv; j++) {
    double *column = saddle->values + saddle->pattern->start[j];
    size_t top = (size_t)(W->start[j + 1] - W->start[j]);
    size_t below = (size_t)(B->start[j + 1] - B->start[j]);
    memcpy(column, mass + W->start[j], top * sizeof *column);
    memcpy(column + top, jacobian + B->start[j], below * sizeof *column);
  }
  poli_saddle_set_transposed(saddle, jacobian);
}

int poli_saddle_equation(const poli_saddle *saddle, int row)
{
  return row < saddle->nv + saddle->m ? row : row - saddle->m;
}
