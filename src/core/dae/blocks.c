/* Pattern and assembly of a matrix of blocks; see blocks.h. */
#include "dae/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "linalg/solver.h"

/* Numbers in one block. */
static int block_size(const poli_blocks *s, char letter)
{
  switch (letter) {
  case 'W':
    return pol_pattern_nonzeros(s->saddle->patterns.coupling);
  case 'B':
  case 'T':
    return pol_pattern_nonzeros(s->saddle->patterns.constraint);
  case 'D':
    return s->saddle->m;
  default:
    return 0;
  }
}

static pol_status build(poli_blocks *s, pol_solver_kind solver)
{
  const poli_saddle *saddle = s->saddle;
  int total = 0;
  for (int i = 0; i < s->num_blocks; i++) {
    s->start[i + 1] = s->start[i] + (i < s->num_vectors ? s->saddle->nv : s->saddle->m);
    for (int j = 0; j < s->num_blocks; j++) total += block_size(s, s->layout[i][j]);
  }
  s->n = s->start[s->num_blocks];
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, s->values, total);
    for (int i = 0; i < s->num_blocks; i++)
      for (int j = 0; j < s->num_blocks; j++)
        POLI_TAKE(&arena, s->address[i][j], block_size(s, s->layout[i][j]));
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  pol_pattern *p = s->pattern = calloc(1, sizeof *p);
  if (!s->memory || !p) return POL_NO_MEMORY;
  p->rows = p->cols = s->n;
  p->start = calloc((size_t)s->n + 1, sizeof *p->start);
  p->row = calloc((size_t)total + 1, sizeof *p->row);
  if (!p->start || !p->row) return POL_NO_MEMORY;

  /* The pattern, block column by block column; the rows of a column ascend by construction. */
  int next = 0;
  for (int col = 0; col < s->num_blocks; col++)
    for (int j = 0; j < s->start[col + 1] - s->start[col]; j++) {
      p->start[s->start[col] + j] = next;
      for (int row = 0; row < s->num_blocks; row++) {
        const char letter = s->layout[row][col];
        const pol_pattern *from = letter == 'W'   ? saddle->patterns.coupling
                                  : letter == 'B' ? saddle->patterns.constraint
                                                  : NULL;
        int *address = s->address[row][col], first = s->start[row];
        for (int k = from ? from->start[j] : 0; from && k < from->start[j + 1]; k++) {
          p->row[next] = first + from->row[k];
          address[k] = next++;
        }
        for (int k = saddle->row_start[letter == 'T' ? j : 0];
             letter == 'T' && k < saddle->row_start[j + 1]; k++) {
          p->row[next] = first + saddle->row_col[k];
          address[saddle->row_address[k]] = next++;
        }
        if (letter == 'D') {
          p->row[next] = first + j;
          address[j] = next++;
        }
      }
    }
  p->start[s->n] = next;
  return pol_solver_create(&s->solver, p, solver);
}

pol_status poli_blocks_create(poli_blocks **blocks, const poli_saddle *saddle,
                              const char *const *layout, int num_blocks, int num_vectors,
                              pol_solver_kind solver)
{
  poli_blocks *s = *blocks = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->saddle = saddle;
  s->layout = layout;
  s->num_blocks = num_blocks;
  s->num_vectors = num_vectors;
  pol_status status = build(s, solver);
  if (status) poli_blocks_free(blocks);
  return status;
}

void poli_blocks_free(poli_blocks **blocks)
{
  poli_blocks *s = *blocks;
  if (!s) return;
  pol_solver_free(&s->solver);
  pol_pattern_free(&s->pattern);
  free(s->memory);
  free(s);
  *blocks = NULL;
}

void poli_blocks_archive(poli_blocks *blocks, poli_archive *archive)
{
  poli_archive_bytes(archive, blocks->values,
                     (size_t)pol_pattern_nonzeros(blocks->pattern) * sizeof *blocks->values);
  poli_solver_archive(blocks->solver, archive);
}

void poli_blocks_clear(poli_blocks *blocks)
{
  memset(blocks->values, 0, (size_t)pol_pattern_nonzeros(blocks->pattern) * sizeof(double));
}

void poli_blocks_add(poli_blocks *blocks, int row, int col, double scale, const double *matrix)
{
  const int *address = blocks->address[row][col];
  int size = block_size(blocks, blocks->layout[row][col]);
  for (int k = 0; k < size; k++) blocks->values[address[k]] += scale * matrix[k];
}

void poli_blocks_drop(poli_blocks *blocks, const unsigned char *dropped)
{
  poli_blocks *s = blocks;
  const pol_pattern *p = s->pattern;
  int m = s->saddle->m, below = s->start[s->num_vectors];
  for (int k = 0; k < p->start[s->n]; k++)
    if (p->row[k] >= below && dropped[(p->row[k] - below) % m]) s->values[k] = 0.0;
  for (int row = s->num_vectors; row < s->num_blocks; row++)
    for (int col = s->num_vectors; col < s->num_blocks; col++)
      for (int i = 0; i < m && s->layout[row][col] == 'D'; i++)
        if (dropped[i]) s->values[s->address[row][col][i]] = 1.0;
}
