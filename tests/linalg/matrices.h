/* Matrices for the tests of the linear algebra: random numbers that are the same everywhere,
 * saddle-point matrices of chains of bodies, and slow but sure reference calculations. */
#ifndef POLHODE_TESTS_MATRICES_H
#define POLHODE_TESTS_MATRICES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <polhode/linalg.h>

#include <math.h>
#include <stdlib.h>

/* Evenly distributed between -1 and 1 (Knuth's linear congruential generator). */
static inline double random_number(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/* 0 .. count-1 */
static inline int random_index(uint64_t *state, int count)
{
  return (int)((random_number(state) + 1.0) / 2.0 * count);
}

static inline void *make_array(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

static inline pol_pattern *full_pattern(int n)
{
  pol_pattern *pattern;
  pol_block all = {0, 0, n, n};
  assert_int_equal(pol_pattern_create(&pattern, n, n, 1, &all), POL_OK);
  return pattern;
}

/* [[M, B^T], [B, 0]] of a chain of bodies with 6 velocities each, the first one joined to the
 * ground. */
static inline pol_pattern *chain_pattern(int bodies, int rows_a_joint)
{
  int nv = 6 * bodies;
  int n = nv + bodies * rows_a_joint;
  int count = 0;
  pol_block *blocks = make_array((size_t)bodies * 5, sizeof *blocks);
  for (int b = 0; b < bodies; b++) {
    int row = nv + b * rows_a_joint;
    blocks[count++] = (pol_block){6 * b, 6 * b, 6, 6};
    for (int other = b > 0 ? b - 1 : b; other <= b; other++) {
      blocks[count++] = (pol_block){row, 6 * other, rows_a_joint, 6};
      blocks[count++] = (pol_block){6 * other, row, 6, rows_a_joint};
    }
  }
  pol_pattern *pattern;
  assert_int_equal(pol_pattern_create(&pattern, n, n, count, blocks), POL_OK);
  free(blocks);
  return pattern;
}

/* Random values, diagonal entries (which only M has) larger by 3. */
static inline double *random_values(const pol_pattern *pattern, uint64_t *seed)
{
  double *values = make_array((size_t)pol_pattern_nonzeros(pattern), sizeof *values);
  for (int j = 0; j < pattern->cols; j++)
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      values[a] = random_number(seed) + (pattern->row[a] == j ? 3.0 : 0.0);
  return values;
}

/* Largest |b - A x| over largest |A| |x| + |b|: the error that the solution makes of the matrix. */
static inline double backward_error(const pol_pattern *pattern, const double *values,
                                    const double *x, const double *b)
{
  int n = pattern->rows;
  double *residual = make_array((size_t)n, sizeof *residual);
  double *size = make_array((size_t)n, sizeof *size);
  for (int i = 0; i < n; i++) {
    residual[i] = b[i];
    size[i] = fabs(b[i]);
  }
  for (int j = 0; j < n; j++) {
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++) {
      residual[pattern->row[a]] -= values[a] * x[j];
      size[pattern->row[a]] += fabs(values[a] * x[j]);
    }
  }
  double error = 0.0;
  for (int i = 0; i < n; i++) {
    assert_true(isfinite(residual[i]));
    if (size[i] > 0.0) error = fmax(error, fabs(residual[i]) / size[i]);
  }
  free(residual);
  free(size);
  return error;
}

/* Rank of the matrix without one column (-1: with all), by elimination with complete pivoting. */
static inline int rank_without(const pol_pattern *pattern, const double *values, int column)
{
  int n = pattern->rows;
  size_t size = (size_t)n;
  double *full = make_array(size * size, sizeof *full);
  for (int j = 0; j < n; j++)
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      if (j != column) full[pattern->row[a] + j * n] = values[a];

  /* columns to the same size, so that the tolerance fits all */
  for (int j = 0; j < n; j++) {
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(full[i + j * n]));
    for (int i = 0; i < n && largest > 0.0; i++) full[i + j * n] /= largest;
  }

  int rank = 0;
  for (; rank < n; rank++) {
    int row = rank, col = rank;
    for (int j = rank; j < n; j++)
      for (int i = rank; i < n; i++)
        if (fabs(full[i + j * n]) > fabs(full[row + col * n])) {
          row = i;
          col = j;
        }
    if (fabs(full[row + col * n]) < 1e-11) break;
    for (int j = 0; j < n; j++) {
      double entry = full[row + j * n];
      full[row + j * n] = full[rank + j * n];
      full[rank + j * n] = entry;
    }
    for (int i = 0; i < n; i++) {
      double entry = full[i + col * n];
      full[i + col * n] = full[i + rank * n];
      full[i + rank * n] = entry;
    }
    for (int j = rank + 1; j < n; j++)
      for (int i = rank + 1; i < n; i++)
        full[i + j * n] -= full[i + rank * n] / full[rank + rank * n] * full[rank + j * n];
  }
  free(full);
  return rank;
}

#endif
