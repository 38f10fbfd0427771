/* The matrix of independence.h, and its rank.
 *
 * Columns are compared in the metric of M^-1: A = L^-1 B^T with M = L L^T, so that A^T A = B M^-1
 * B^T.  Where coordinates have internal constraints C, what is perpendicular to their columns has
 * the products
 *
 *     B (M^-1 - M^-1 C^T (C M^-1 C^T)^-1 C M^-1) B^T,
 *
 * which is B M^-1 B^T in coordinates without such constraints: the same numbers in all formulations
 * of a mechanism, and so the same decisions.  M + C^T C instead of M gives the same result, and is
 * regular where M is not.
 */
#include "dae/independence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/monitor.h"
#include "linalg/rank.h"

struct poli_independence {
  const pol_dae *dae;
  poli_dae_patterns patterns;
  int nv, m, cols;
  void *memory;       /* holds the arrays but for those of numbers */
  int *constraint_of; /* a column: its constraint */
  int *column_of;     /* a constraint: its column, -1 if dropped */
  int *top;           /* a velocity: the first one that the mass matrix may couple it with */
  int *begin, *end;   /* an internal constraint: its velocities */
  int *lead, *reach;  /* a velocity: its row of L begins here; its column ends before here */
  int *first, *last;  /* a column: the velocities of its first and last number, -1 if none */
  double *numbers;    /* holds the arrays of numbers */
  double *mass, *jacobian, *A, *scratch;
  double **row;                    /* L by rows: row i has the columns top[i] .. i */
  unsigned char *found, *internal; /* a column */
  poli_rank *rank;
};

/* Numbers the columns. */
static void number(poli_independence *s, const unsigned char *dropped)
{
  s->cols = 0;
  for (int i = 0; i < s->m; i++) {
    s->column_of[i] = dropped && dropped[i] ? -1 : s->cols;
    if (s->column_of[i] < 0) continue;
    s->internal[s->cols] = (unsigned char)poli_dae_is_internal(s->dae, i);
    s->constraint_of[s->cols++] = i;
  }
}

/* Allocates, numbers the columns and lays out L. */
static pol_status build(poli_independence *s, const unsigned char *dropped)
{
  pol_status status = poli_dae_patterns_create(&s->patterns, s->dae);
  if (status) return status;
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  const int nv = s->nv = s->dae->group.nv, m = s->m = pol_dae_num_constraints(s->dae);
  poli_arena arena = {0}, numbers = {0};
  do {
    POLI_TAKE(&arena, s->constraint_of, m);
    POLI_TAKE(&arena, s->column_of, m);
    POLI_TAKE(&arena, s->begin, m);
    POLI_TAKE(&arena, s->end, m);
    POLI_TAKE(&arena, s->top, nv);
    POLI_TAKE(&arena, s->lead, nv);
    POLI_TAKE(&arena, s->reach, nv);
    POLI_TAKE(&arena, s->first, m);
    POLI_TAKE(&arena, s->last, m);
    POLI_TAKE(&arena, s->row, nv);
    POLI_TAKE(&arena, s->found, m);
    POLI_TAKE(&arena, s->internal, m);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  if (!s->memory) return POL_NO_MEMORY;
  number(s, dropped);

  /* The rows of L and the velocities of the internal constraints, from the patterns. */
  const int first = s->dae->num_holonomic - s->dae->num_internal;
  for (int c = 0; c < s->dae->num_internal; c++) s->begin[c] = nv;
  for (int j = 0; j < nv; j++) {
    s->top[j] = j;
    if (W->start[j] < W->start[j + 1] && W->row[W->start[j]] < j) s->top[j] = W->row[W->start[j]];
    for (int k = B->start[j]; k < B->start[j + 1]; k++) {
      if (!poli_dae_is_internal(s->dae, B->row[k])) continue;
      int c = B->row[k] - first;
      if (j < s->begin[c]) s->begin[c] = j;
      s->end[c] = j + 1;
    }
  }
  do {
    POLI_TAKE(&numbers, s->mass, pol_pattern_nonzeros(W));
    POLI_TAKE(&numbers, s->jacobian, pol_pattern_nonzeros(B));
    POLI_TAKE(&numbers, s->A, (size_t)nv * (size_t)s->cols);
    for (int i = 0; i < nv; i++) POLI_TAKE(&numbers, s->row[i], i - s->top[i] + 1);
    POLI_TAKE(&numbers, s->scratch, s->dae->scratch_size);
  } while (poli_arena_again(&numbers));
  s->numbers = numbers.memory;
  return s->numbers ? poli_rank_create(&s->rank, nv, s->cols) : POL_NO_MEMORY;
}

pol_status poli_independence_create(poli_independence **independence, const pol_dae *dae,
                                    const unsigned char *dropped)
{
  poli_independence *s = *independence = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->dae = dae;
  pol_status status = build(s, dropped);
  if (status) poli_independence_free(independence);
  return status;
}

void poli_independence_free(poli_independence **independence)
{
  poli_independence *s = *independence;
  if (!s) return;
  poli_rank_free(&s->rank);
  poli_dae_patterns_free(&s->patterns);
  free(s->memory);
  free(s->numbers);
  free(s);
  *independence = NULL;
}

void poli_independence_drop(poli_independence *independence, const unsigned char *dropped)
{
  number(independence, dropped);
}

/* Entry (i, j) of the lower triangle; within the pattern only. */
static double *entry(const poli_independence *s, int i, int j)
{
  return s->row[i] + (j - s->top[i]);
}

/* L is set to M + C^T C, to be factored; each row of C scaled to the largest inertia of its
 * coordinates, without those that are lengths. */
static void set_mass(poli_independence *s)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  int first = s->dae->num_holonomic - s->dae->num_internal;
  for (int j = 0; j < s->nv; j++) {
    for (int i = s->top[j]; i <= j; i++) *entry(s, j, i) = 0.0;
    for (int k = W->start[j]; k < W->start[j + 1] && W->row[k] <= j; k++)
      *entry(s, j, W->row[k]) = s->mass[k];
  }
  for (int c = 0; c < s->dae->num_internal; c++) {
    double square = 0.0, largest = 0.0;
    for (int j = s->begin[c]; j < s->end[c]; j++) {
      int at = pol_pattern_address(B, first + c, j);
      if (at < 0) continue;
      square += s->jacobian[at] * s->jacobian[at];
      if (!s->dae->pure || s->dae->pure[j]) largest = fmax(largest, *entry(s, j, j));
    }
    for (int j = s->begin[c]; j < s->end[c] && square > 0.0; j++)
      for (int i = s->begin[c] > s->top[j] ? s->begin[c] : s->top[j]; i <= j; i++) {
        int a = pol_pattern_address(B, first + c, j), b = pol_pattern_address(B, first + c, i);
        if (a >= 0 && b >= 0)
          *entry(s, j, i) += s->jacobian[a] * s->jacobian[b] * (largest / square);
      }
  }
}

/* Factorises L, by rows; and where its rows begin and its columns end; a pivot without mass becomes
 * 1. */
static void factorise(poli_independence *s)
{
  for (int i = 0; i < s->nv; i++) {
    int begin = s->top[i];
    while (begin < i && *entry(s, i, begin) == 0.0) begin++;
    s->lead[i] = begin;
    s->reach[i] = i + 1;
    for (int j = begin; j <= i; j++) {
      double sum = *entry(s, i, j), mass = sum;
      for (int k = begin > s->lead[j] ? begin : s->lead[j]; k < j; k++)
        sum -= *entry(s, i, k) * *entry(s, j, k);
      if (j < i)
        *entry(s, i, j) = sum / *entry(s, j, j);
      else
        *entry(s, i, i) = sum > 1e-14 * mass ? sqrt(sum) : 1.0;
      s->reach[j] = i + 1;
    }
  }
}

/* A = L^-1 B^T, by columns */
static pol_status fill(poli_independence *s, const pol_point *at)
{
  const pol_pattern *B = s->patterns.constraint;
  pol_terms out = {.mass = s->mass, .jacobian = s->jacobian};
  pol_status status = poli_dae_evaluate(s->dae, at, POL_MASS | POL_JACOBIAN, &out, s->scratch);
  if (status) return status;
  set_mass(s);
  factorise(s);
  for (int c = 0; c < s->cols; c++) {
    if (c % 256 == 255 && poli_monitor_poll(-1.0)) return POL_CANCELLED;
    memset(s->A + (size_t)c * (size_t)s->nv, 0, (size_t)s->nv * sizeof *s->A);
    s->last[c] = -1;
  }
  for (int j = 0; j < s->nv; j++)
    for (int k = B->start[j]; k < B->start[j + 1]; k++) {
      int col = s->column_of[B->row[k]];
      if (col < 0) continue;
      s->A[(size_t)col * (size_t)s->nv + (size_t)j] = s->jacobian[k];
      if (s->last[col] < 0) s->first[col] = j;
      s->last[col] = j;
    }
  for (int c = 0; c < s->cols; c++) {
    double *x = s->A + (size_t)c * (size_t)s->nv;
    if (c % 256 == 255 && poli_monitor_poll(-1.0)) return POL_CANCELLED;
    /* rows beyond the last with a number are reached by way of those that L couples it with */
    int end = s->last[c] < 0 ? 0 : s->reach[s->last[c]];
    for (int i = s->last[c] < 0 ? 0 : s->first[c]; i < end; i++) {
      for (int k = s->lead[i] > s->first[c] ? s->lead[i] : s->first[c]; k < i; k++)
        x[i] -= *entry(s, i, k) * x[k];
      if (x[i] == 0.0) continue;
      x[i] /= *entry(s, i, i);
      if (s->reach[i] > end) end = s->reach[i];
    }
  }
  return POL_OK;
}

pol_status poli_independence_measure(poli_independence *independence, const pol_point *at,
                                     double *distance, int *constraint)
{
  poli_independence *s = independence;
  int col;
  *distance = 1.0;
  *constraint = -1;
  pol_status status = fill(s, at);
  if (status || s->cols == 0) return status;
  *distance = poli_rank_measure(s->rank, s->A, s->internal, &col);
  *constraint = col >= 0 ? s->constraint_of[col] : -1;
  return POL_OK;
}

/* The constraints of the columns found. */
static void translate(const poli_independence *s, unsigned char *dependent)
{
  memset(dependent, 0, (size_t)s->m);
  for (int c = 0; c < s->cols; c++) dependent[s->constraint_of[c]] = s->found[c];
}

pol_status poli_independence_find(poli_independence *independence, const pol_point *at, int count,
                                  unsigned char *dependent)
{
  poli_independence *s = independence;
  pol_status status = fill(s, at);
  if (status) return status;
  poli_monitor_stage("rank of the constraints");
  status = poli_rank_dependent(s->rank, s->A, s->internal, count, s->found);
  poli_monitor_stage("initial values");
  if (!status) translate(s, dependent);
  return status;
}

pol_status poli_independence_find_near(poli_independence *independence, const pol_point *at,
                                       double distance, unsigned char *dependent)
{
  poli_independence *s = independence;
  pol_status status = fill(s, at);
  if (!status) status = poli_rank_near(s->rank, s->A, s->internal, distance, s->found);
  if (!status) translate(s, dependent);
  return status;
}
