/* Patterns: unions of rectangles, addresses, and products against full matrices. */
#include "matrices.h"

#include <limits.h>
#include <string.h>

/* The pattern must have the entries that a full table of marks has, in order. */
static void check_against_marks(int rows, int cols, int num_blocks, const pol_block *blocks)
{
  unsigned char *mark = make_array((size_t)(rows * cols), 1);
  for (int b = 0; b < num_blocks; b++)
    for (int j = blocks[b].col; j < blocks[b].col + blocks[b].cols; j++)
      for (int i = blocks[b].row; i < blocks[b].row + blocks[b].rows; i++) mark[i + j * rows] = 1;

  pol_pattern *pattern;
  assert_int_equal(pol_pattern_create(&pattern, rows, cols, num_blocks, blocks), POL_OK);
  assert_int_equal(pattern->rows, rows);
  assert_int_equal(pattern->cols, cols);
  assert_int_equal(pattern->start[0], 0);
  int address = 0;
  for (int j = 0; j < cols; j++) {
    for (int i = 0; i < rows; i++) {
      if (mark[i + j * rows]) {
        assert_int_equal(pattern->row[address], i);
        assert_int_equal(pol_pattern_address(pattern, i, j), address);
        address++;
      } else {
        assert_int_equal(pol_pattern_address(pattern, i, j), -1);
      }
    }
    assert_int_equal(pattern->start[j + 1], address);
  }
  assert_int_equal(pol_pattern_nonzeros(pattern), address);
  pol_pattern_free(&pattern);
  assert_null(pattern);
  free(mark);
}

static void test_unions(void **state)
{
  (void)state;
  const pol_block separate[] = {{4, 3, 2, 2}, {0, 0, 2, 2}, {0, 4, 1, 1}};
  const pol_block overlapping[] = {{1, 1, 3, 3}, {2, 0, 3, 4}, {1, 1, 3, 3}, {0, 2, 6, 1}};
  const pol_block inside[] = {{0, 0, 6, 5}, {2, 2, 1, 1}, {5, 4, 1, 1}};
  const pol_block touching[] = {{2, 0, 2, 5}, {0, 0, 2, 5}, {4, 0, 2, 5}};
  const pol_block empty[] = {{6, 0, 0, 5}, {0, 5, 6, 0}, {3, 3, 0, 0}, {1, 1, 1, 1}};
  check_against_marks(6, 5, 3, separate);
  check_against_marks(6, 5, 4, overlapping);
  check_against_marks(6, 5, 3, inside);
  check_against_marks(6, 5, 3, touching);
  check_against_marks(6, 5, 4, empty);
  check_against_marks(6, 5, 0, NULL);
}

static void test_random_unions(void **state)
{
  (void)state;
  uint64_t seed = 11;
  for (int round = 0; round < 200; round++) {
    int rows = 1 + random_index(&seed, 20);
    int cols = 1 + random_index(&seed, 20);
    pol_block blocks[12];
    for (int b = 0; b < 12; b++) {
      blocks[b].row = random_index(&seed, rows);
      blocks[b].col = random_index(&seed, cols);
      blocks[b].rows = random_index(&seed, rows - blocks[b].row + 1);
      blocks[b].cols = random_index(&seed, cols - blocks[b].col + 1);
    }
    check_against_marks(rows, cols, random_index(&seed, 13), blocks);
  }
}

static void test_nothing(void **state)
{
  (void)state;
  const pol_block empty = {0, 0, 0, 0};
  check_against_marks(0, 0, 0, NULL);
  check_against_marks(0, 0, 1, &empty);
  check_against_marks(0, 4, 0, NULL);
  check_against_marks(4, 0, 0, NULL);

  pol_pattern *pattern = NULL;
  pol_pattern_free(&pattern);
  pol_pattern_free(NULL);
}

static void test_out_of_range(void **state)
{
  (void)state;
  const pol_block wrong[] = {{-1, 0, 1, 1}, {0, -1, 1, 1},      {0, 0, -1, 1},     {0, 0, 1, -1},
                             {5, 0, 2, 1},  {0, 4, 1, 2},       {7, 0, 0, 1},      {0, 6, 1, 0},
                             {0, 0, 7, 1},  {1, 0, INT_MAX, 1}, {0, INT_MAX, 1, 1}};
  for (size_t b = 0; b < sizeof wrong / sizeof *wrong; b++) {
    pol_block blocks[2] = {{0, 0, 1, 1}, wrong[b]};
    pol_pattern *pattern;
    memset(&pattern, 1, sizeof pattern);
    assert_int_equal(pol_pattern_create(&pattern, 6, 5, 2, blocks), POL_BAD_ARGUMENT);
    assert_null(pattern);
  }
  pol_pattern *pattern;
  assert_int_equal(pol_pattern_create(&pattern, -1, 5, 0, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_pattern_create(&pattern, 5, -1, 0, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_pattern_create(&pattern, 5, 5, -1, NULL), POL_BAD_ARGUMENT);

  /* more entries than an int can count */
  const pol_block huge = {0, 0, 50000, 50000};
  assert_int_equal(pol_pattern_create(&pattern, 50000, 50000, 1, &huge), POL_BAD_ARGUMENT);
  assert_null(pattern);
}

static void test_address_out_of_range(void **state)
{
  (void)state;
  pol_pattern *pattern = full_pattern(3);
  assert_int_equal(pol_pattern_address(pattern, -1, 0), -1);
  assert_int_equal(pol_pattern_address(pattern, 3, 0), -1);
  assert_int_equal(pol_pattern_address(pattern, 0, -1), -1);
  assert_int_equal(pol_pattern_address(pattern, 0, 3), -1);
  assert_int_equal(pol_pattern_address(pattern, 2, 2), 8);
  pol_pattern_free(&pattern);
}

/* y += scale A x and y += scale A^T x against sums over all rows and columns. */
static void test_products(void **state)
{
  (void)state;
  enum { ROWS = 7, COLS = 5 };
  const pol_block blocks[] = {{0, 0, 3, 2}, {2, 1, 4, 3}, {6, 4, 1, 1}};
  uint64_t seed = 5;
  pol_pattern *pattern;
  assert_int_equal(pol_pattern_create(&pattern, ROWS, COLS, 3, blocks), POL_OK);
  double *values = random_values(pattern, &seed);
  double x[ROWS], y[ROWS], expected[ROWS];

  for (int i = 0; i < ROWS; i++) {
    x[i] = random_number(&seed);
    y[i] = expected[i] = random_number(&seed);
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++) {
      int address = pol_pattern_address(pattern, i, j);
      if (address >= 0) expected[i] += -2.5 * values[address] * x[j];
    }
  pol_matrix_multiply(pattern, values, -2.5, x, y);
  for (int i = 0; i < ROWS; i++) assert_true(fabs(y[i] - expected[i]) <= 1e-14);

  for (int j = 0; j < COLS; j++) {
    y[j] = expected[j] = random_number(&seed);
    for (int i = 0; i < ROWS; i++) {
      int address = pol_pattern_address(pattern, i, j);
      if (address >= 0) expected[j] += 0.75 * values[address] * x[i];
    }
  }
  pol_matrix_multiply_transposed(pattern, values, 0.75, x, y);
  for (int j = 0; j < COLS; j++) assert_true(fabs(y[j] - expected[j]) <= 1e-14);
  free(values);
  pol_pattern_free(&pattern);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unions),   cmocka_unit_test(test_random_unions),
      cmocka_unit_test(test_nothing),  cmocka_unit_test(test_out_of_range),
      cmocka_unit_test(test_products), cmocka_unit_test(test_address_out_of_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
