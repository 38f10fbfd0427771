/* The constraints as vectors.
 *
 * Constraints are compared in the metric of M^-1: A = L^-1 B^T with M = L L^T, so that A^T A = B
 * M^-1 B^T.  The mass matrix has one block for each body, and so has L; a constraint has numbers in
 * the blocks of the bodies it acts on.  Where coordinates have internal constraints C, what is
 * perpendicular to their columns has the products
 *
 *     B (M^-1 - M^-1 C^T (C M^-1 C^T)^-1 C M^-1) B^T,
 *
 * which is B M^-1 B^T in coordinates without such constraints: the same numbers in all formulations
 * of a mechanism, and so the same decisions.  M + C^T C instead of M gives the same result, and is
 * regular where M is not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/monitor.h"
#include "dae/independence_parts.h"

/* What is left of a constraint that depends on the internal ones, relatively. */
static const double nothing_left = 1e-10;

/* --- layout ----------------------------------------------------------------------------------- */

/* Blocks of velocities that the mass matrix and internal constraints do not connect with others:
 * those that the model gives, else intervals by the pattern. */
static void find_blocks(poli_independence *s)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  const struct pol_dae_extension *known = s->dae->extension;
  int *joined = s->block_of; /* a velocity: 1 if it belongs to the block of the one before */
  if (known && known->mass_blocks) {
    s->num_blocks = known->num_mass_blocks;
    memcpy(s->block_start, known->mass_blocks, ((size_t)s->num_blocks + 1) * sizeof(int));
  } else {
    for (int j = 0; j < s->nv; j++)
      if (W->start[j] < W->start[j + 1])
        for (int i = W->row[W->start[j]] + 1; i <= j; i++) joined[i] = 1;
    for (int j = 0; j < s->nv; j++)
      for (int k = B->start[j]; k < B->start[j + 1]; k++) {
        if (!poli_is_internal_row(s, B->row[k])) continue;
        /* from its first velocity on, remembered in row_start */
        int *first = &s->row_start[B->row[k]];
        if (*first == 0) *first = j + 1;
        for (int i = *first; i <= j; i++) joined[i] = 1;
      }
    memset(s->row_start, 0, (size_t)s->m * sizeof *s->row_start);
    s->num_blocks = 0;
    for (int j = 0; j < s->nv; j++)
      if (j == 0 || !joined[j]) s->block_start[s->num_blocks++] = j;
    s->block_start[s->num_blocks] = s->nv;
  }
  for (int b = 0; b < s->num_blocks; b++)
    for (int j = s->block_start[b]; j < s->block_start[b + 1]; j++) s->block_of[j] = b;
}

/* Visits the parts by blocks; last[row] is the last part of a row. Without parts it counts. */
static int list_parts(const poli_independence *s, poli_part *parts, int *last)
{
  const pol_pattern *B = s->patterns.constraint;
  int count = 0, at = 0;
  for (int i = 0; i < s->m; i++) last[i] = -1;
  for (int b = 0; b < s->num_blocks; b++) {
    const int first = count, size = s->block_start[b + 1] - s->block_start[b];
    for (int j = s->block_start[b]; j < s->block_start[b + 1]; j++)
      for (int k = B->start[j]; k < B->start[j + 1]; k++) {
        const int row = B->row[k];
        if (last[row] < first) {
          last[row] = count;
          if (parts) parts[count] = (poli_part){.row = row, .block = b, .at = at};
          at += size;
          count++;
        }
        if (parts) s->jacobian_at[k] = parts[last[row]].at + j - s->block_start[b];
      }
  }
  return count;
}

/* The lists of parts, by blocks with internal ones first and by rows. */
static void sort_parts(poli_independence *s)
{
  int at = 0;
  for (int p = 0; p < s->num_parts; p++) s->row_start[s->parts[p].row + 1]++;
  for (int i = 0; i < s->m; i++) s->row_start[i + 1] += s->row_start[i];
  for (int p = s->num_parts - 1; p >= 0; p--) s->row_list[--s->row_start[s->parts[p].row + 1]] = p;
  for (int i = 0; i < s->m; i++) s->row_start[i] = s->row_start[i + 1];
  s->row_start[s->m] = s->num_parts;
  for (int b = 0, p = 0; b < s->num_blocks; b++) {
    const int first = p;
    s->list_start[b] = at;
    for (int internal = 1; internal >= 0; internal--) {
      for (p = first; p < s->num_parts && s->parts[p].block == b; p++)
        if (poli_is_internal_row(s, s->parts[p].row) == internal) s->list[at++] = p;
      if (internal) s->num_internal[b] = at - s->list_start[b];
    }
    s->list_start[b + 1] = at;
    s->num_active[b] = at - s->list_start[b];
  }
}

pol_status poli_vectors_create(poli_independence *s)
{
  pol_status status = poli_dae_patterns_create(&s->patterns, s->dae);
  if (status) return status;
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  const int nv = s->nv = s->dae->group.nv, m = s->m = pol_dae_num_constraints(s->dae);
  const int entries = pol_pattern_nonzeros(B);
  poli_arena arena = {0};
  int *last = malloc(((size_t)m + 1) * sizeof *last);
  do {
    POLI_TAKE(&arena, s->block_start, nv + 2);
    POLI_TAKE(&arena, s->block_of, nv);
    POLI_TAKE(&arena, s->factor_at, nv + 1);
    POLI_TAKE(&arena, s->row_start, m + 2);
    POLI_TAKE(&arena, s->list_start, nv + 2);
    POLI_TAKE(&arena, s->num_internal, nv + 1);
    POLI_TAKE(&arena, s->num_active, nv + 1);
    POLI_TAKE(&arena, s->jacobian_at, entries);
    POLI_TAKE(&arena, s->mass, pol_pattern_nonzeros(W));
    POLI_TAKE(&arena, s->jacobian, entries);
    POLI_TAKE(&arena, s->size, 2 * (size_t)m);
    POLI_TAKE(&arena, s->scratch, s->dae->scratch_size);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  if (!s->memory || !last) {
    free(last);
    return POL_NO_MEMORY;
  }
  find_blocks(s);
  s->num_parts = list_parts(s, NULL, last);
  s->parts = malloc(((size_t)s->num_parts + 1) * sizeof *s->parts);
  s->list = malloc((2 * (size_t)s->num_parts + 1) * sizeof *s->list);
  s->row_list = s->list + s->num_parts;
  size_t size = 0;
  for (int b = 0; b < s->num_blocks; b++) {
    const size_t dim = (size_t)(s->block_start[b + 1] - s->block_start[b]);
    s->factor_at[b] = size;
    size += dim * dim;
  }
  s->L = malloc((size + 1) * sizeof *s->L);
  if (s->parts && s->list) {
    list_parts(s, s->parts, last);
    sort_parts(s);
    size_t numbers = 0;
    for (int p = 0; p < s->num_parts; p++)
      numbers +=
          (size_t)(s->block_start[s->parts[p].block + 1] - s->block_start[s->parts[p].block]);
    s->A = malloc((numbers + 1) * sizeof *s->A);
  }
  free(last);
  return s->parts && s->list && s->L && s->A ? POL_OK : POL_NO_MEMORY;
}

void poli_vectors_free(poli_independence *s)
{
  poli_dae_patterns_free(&s->patterns);
  free(s->memory);
  free(s->parts);
  free(s->list);
  free(s->A);
  free(s->L);
}

/* --- vectors ---------------------------------------------------------------------------------- */

/* L of a block is set to M + C^T C, with each row of C scaled to the largest inertia of its
 * coordinates, without those that are lengths; then factored.  A pivot without mass becomes 1.
 * Returns whether L is diagonal. */
static int factor_mass(poli_independence *s, int b)
{
  const pol_pattern *W = s->patterns.coupling;
  const int first = s->block_start[b], n = poli_block_dim(s, b);
  double *L = s->L + s->factor_at[b];
  memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
  for (int j = 0; j < n; j++)
    for (int k = W->start[first + j]; k < W->start[first + j + 1]; k++) {
      const int i = W->row[k] - first;
      if (i >= 0 && i <= j) L[j * n + i] = s->mass[k];
    }
  for (int c = 0; c < s->num_internal[b]; c++) {
    const double *C = s->A + s->parts[s->list[s->list_start[b] + c]].at;
    double largest = 0.0, square = poli_dot(n, C, C);
    for (int j = 0; j < n; j++)
      if (C[j] != 0.0 && (!s->dae->pure || s->dae->pure[first + j]))
        largest = fmax(largest, L[j * n + j]);
    for (int j = 0; j < n && square > 0.0; j++)
      for (int i = 0; i <= j; i++) L[j * n + i] += C[j] * C[i] * (largest / square);
  }
  int is_diagonal = 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      const double mass = L[i * n + j];
      if (j < i && mass == 0.0 && is_diagonal) continue;
      const double left = mass - poli_dot(j, L + i * n, L + j * n);
      is_diagonal &= i == j;
      L[i * n + j] = j < i ? left / L[j * n + j] : left > 1e-14 * mass ? sqrt(left) : 1.0;
    }
  return is_diagonal;
}

/* a -= q (q . a), twice, for the internal constraints q before part number `count` of a block */
static void make_perpendicular(poli_independence *s, int b, int count, double *a)
{
  const int n = poli_block_dim(s, b);
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < count; c++) {
      const double *q = s->A + s->parts[s->list[s->list_start[b] + c]].at;
      const double share = poli_dot(n, q, a);
      for (int i = 0; i < n; i++) a[i] -= share * q[i];
    }
}

void poli_vectors_fill_block(poli_independence *s, int b)
{
  const pol_pattern *B = s->patterns.constraint;
  const int n = poli_block_dim(s, b), count = s->num_active[b];
  const int *list = s->list + s->list_start[b];
  for (int c = 0; c < count; c++) memset(s->A + s->parts[list[c]].at, 0, (size_t)n * sizeof *s->A);
  for (int j = s->block_start[b]; j < s->block_start[b + 1]; j++)
    for (int k = B->start[j]; k < B->start[j + 1]; k++) s->A[s->jacobian_at[k]] = s->jacobian[k];
  const int is_diagonal = factor_mass(s, b);
  const double *L = s->L + s->factor_at[b];
  for (int c = 0; c < count; c++) {
    const poli_part *p = &s->parts[list[c]];
    double *a = s->A + p->at;
    for (int i = 0; i < n; i++)
      a[i] = (a[i] - (is_diagonal ? 0.0 : poli_dot(i, L + i * n, a))) / L[i * n + i];
    if (c < s->num_internal[b]) {
      make_perpendicular(s, b, c, a);
      const double length = sqrt(poli_dot(n, a, a));
      for (int i = 0; i < n && length > 0.0; i++) a[i] /= length;
      continue;
    }
    const double square = poli_dot(n, a, a);
    s->size[2 * p->row] += square;
    if (s->num_internal[b] > 0) make_perpendicular(s, b, s->num_internal[b], a);
    s->size[2 * p->row + 1] += s->num_internal[b] > 0 ? poli_dot(n, a, a) : square;
  }
}

/* To length one; zeros if nothing is left. */
static void normalise(poli_independence *s, int row)
{
  const double *size = s->size + 2 * row;
  const int something = size[1] > nothing_left * nothing_left * size[0];
  const double factor = something ? 1.0 / sqrt(size[1]) : 0.0;
  for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++) {
    const poli_part *p = &s->parts[s->row_list[k]];
    for (int i = 0; i < poli_block_dim(s, p->block); i++) s->A[p->at + i] *= factor;
  }
}

pol_status poli_vectors_evaluate(poli_independence *s, const pol_point *at)
{
  pol_terms out = {.mass = s->mass, .jacobian = s->jacobian};
  return poli_dae_evaluate(s->dae, at, POL_MASS | POL_JACOBIAN, &out, s->scratch);
}

pol_status poli_vectors_fill(poli_independence *s, const pol_point *at, const unsigned char *wanted)
{
  pol_status status = poli_vectors_evaluate(s, at);
  if (status) return status;
  const int components = poli_gram_num_components(s->gram);
  double *values = poli_gram_values(s->gram), *diagonal = poli_gram_diagonal(s->gram);
  for (int v = 0; v < s->num_vectors; v++)
    s->size[2 * s->row_of[v]] = s->size[2 * s->row_of[v] + 1] = 0.0;
  for (int b = 0; b < s->num_blocks; b++) {
    if (b % 1024 == 1023 && poli_monitor_poll(-1.0)) return POL_CANCELLED;
    if (s->component[b] >= 0 && (!wanted || wanted[s->component[b]])) poli_vectors_fill_block(s, b);
  }
  for (int c = 0; c < components; c++) {
    int count, first, end;
    const int *members = poli_gram_members(s->gram, c, &count);
    if (wanted && !wanted[c]) continue;
    for (int k = 0; k < count; k++) {
      const int row = s->row_of[members[k]];
      normalise(s, row);
      diagonal[members[k]] = s->size[2 * row + 1] > 0.0 ? 1.0 : 0.0;
    }
    poli_gram_entries_of(s->gram, c, &first, &end);
    for (int e = first; e < end; e++) {
      double sum = 0.0;
      for (int k = s->pair_start[e]; k < s->pair_start[e + 1]; k++)
        sum += poli_dot(s->pair_size[k], s->A + s->pair[2 * k], s->A + s->pair[2 * k + 1]);
      values[e] = sum;
    }
  }
  return POL_OK;
}
