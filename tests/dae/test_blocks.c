/* A matrix of blocks against a dense one built without it: full and sparse patterns, every letter
 * of the layout, dropped constraints. */
#include "quadratic.h"

#include "check.h"
#include "dae/blocks.h"

enum { BLOCKS = 4, VECTORS = 2, MAX_N = VECTORS * MAX_QUADRATIC + 2 * MAX_FORMS };

static const char *const layout[BLOCKS] = {"W.TT", "WW.T", "B.D.", "BB.D"};

/* Dense copy of a matrix in a pattern. */
static void expand(const pol_pattern *pattern, const double *values, double *dense, int stride)
{
  for (int j = 0; j < pattern->cols; j++)
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
      dense[pattern->row[k] * stride + j] = values[k];
}

static void check_blocks(quadratic *model, const unsigned char *dropped)
{
  static double expected[MAX_N * MAX_N], found[MAX_N * MAX_N];
  static double W[MAX_QUADRATIC * MAX_QUADRATIC], B[MAX_FORMS * MAX_QUADRATIC];
  static double dense_W[MAX_QUADRATIC * MAX_QUADRATIC], dense_B[MAX_FORMS * MAX_QUADRATIC];
  poli_saddle *saddle;
  poli_blocks *blocks;
  uint64_t seed = 5;
  int nv = model->nv, m = model->m, n = VECTORS * nv + 2 * m;
  assert_int_equal(poli_saddle_create(&saddle, &model->dae, 0, POL_SOLVER_DENSE), POL_OK);
  assert_int_equal(poli_blocks_create(&blocks, saddle, layout, BLOCKS, VECTORS, POL_SOLVER_AUTO),
                   POL_OK);
  assert_int_equal(blocks->n, n);
  random_numbers(&seed, W, pol_pattern_nonzeros(saddle->patterns.coupling));
  random_numbers(&seed, B, pol_pattern_nonzeros(saddle->patterns.constraint));
  memset(dense_W, 0, sizeof dense_W);
  memset(dense_B, 0, sizeof dense_B);
  expand(saddle->patterns.coupling, W, dense_W, nv);
  expand(saddle->patterns.constraint, B, dense_B, nv);

  /* each block with a factor of its own, twice; what was there before is cleared */
  poli_blocks_add(blocks, 0, 0, 9.0, W);
  poli_blocks_clear(blocks);
  memset(expected, 0, sizeof expected);
  for (int row = 0; row < BLOCKS; row++)
    for (int col = 0; col < BLOCKS; col++) {
      const char letter = layout[row][col];
      const double factor = 1.0 + row + 0.1 * col;
      if (letter == '.' || letter == 'D') continue;
      poli_blocks_add(blocks, row, col, factor, letter == 'W' ? W : B);
      poli_blocks_add(blocks, row, col, 0.5, letter == 'W' ? W : B);
      for (int i = 0; i < (row < VECTORS ? nv : m); i++)
        for (int j = 0; j < (col < VECTORS ? nv : m); j++)
          expected[(blocks->start[row] + i) * n + blocks->start[col] + j] =
              (factor + 0.5) * (letter == 'W'   ? dense_W[i * nv + j]
                                : letter == 'B' ? dense_B[i * nv + j]
                                                : dense_B[j * nv + i]);
    }
  if (dropped) {
    poli_blocks_drop(blocks, dropped);
    for (int i = 0; i < 2 * m; i++) {
      if (!dropped[i % m]) continue;
      int row = VECTORS * nv + i;
      for (int j = 0; j < n; j++) expected[row * n + j] = row == j;
    }
  }
  memset(found, 0, sizeof found);
  expand(blocks->pattern, blocks->values, found, n);
  assert_near(found, expected, n * n, 1e-15);
  poli_blocks_free(&blocks);
  assert_null(blocks);
  poli_blocks_free(&blocks);
  poli_saddle_free(&saddle);
}

static void blocks_go_where_they_belong(void **state)
{
  (void)state;
  static quadratic model;
  static const unsigned char dropped[9] = {0, 1, 0, 0, 0, 0, 1, 0, 1};
  for (int sparse = 0; sparse < 2; sparse++) {
    top_init(&model);
    if (sparse) quadratic_make_sparse(&model);
    check_blocks(&model, NULL);
    check_blocks(&model, dropped);
    quadratic_clear(&model);
  }
}

/* Beyond the last value lies one that looks as if it belonged to a dropped row. */
static void dropping_stays_inside_the_matrix(void **state)
{
  (void)state;
  static quadratic model;
  static const unsigned char dropped[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  poli_saddle *saddle;
  poli_blocks *blocks;
  top_init(&model);
  assert_int_equal(poli_saddle_create(&saddle, &model.dae, 0, POL_SOLVER_DENSE), POL_OK);
  assert_int_equal(poli_blocks_create(&blocks, saddle, layout, BLOCKS, VECTORS, POL_SOLVER_AUTO),
                   POL_OK);
  const size_t count = (size_t)pol_pattern_nonzeros(blocks->pattern);
  blocks->pattern->row = realloc(blocks->pattern->row, (count + 1) * sizeof(int));
  double *values = malloc((count + 1) * sizeof *values);
  assert_true(blocks->pattern->row != NULL && values != NULL);
  memcpy(values, blocks->values, count * sizeof *values);
  blocks->values = values; /* the old ones are part of blocks->memory */
  blocks->pattern->row[count] = blocks->n - 1;
  blocks->values[count] = 7.0;
  poli_blocks_drop(blocks, dropped);
  assert_true(values[count] == 7.0);
  poli_blocks_free(&blocks);
  free(values);
  poli_saddle_free(&saddle);
  quadratic_clear(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_go_where_they_belong),
      cmocka_unit_test(dropping_stays_inside_the_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
