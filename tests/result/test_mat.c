/* MAT files: every byte of a small one, and what cannot be written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/mat.h>

#include "check.h"

static unsigned char bytes[4096];
static size_t size;

static void read_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
}

/* A 32-bit number at an offset. */
static long word(size_t at)
{
  uint32_t value;
  memcpy(&value, bytes + at, sizeof value);
  return (long)value;
}

static void matrices_and_texts_are_written_as_the_format_says(void **state)
{
  (void)state;
  static const double A[6] = {1, 2, 3, 4, 5, 6};
  static const char *const texts[] = {"ab", "", "\303\244\360\235\204\236"}; /* a-umlaut, a clef */
  pol_mat *mat;
  assert_int_equal(pol_mat_create(&mat, "test_mat.mat"), POL_OK);
  assert_int_equal(pol_mat_add_matrix(mat, "A_1", 3, 2, A), POL_OK);
  assert_int_equal(pol_mat_add_texts(mat, "names", 3, texts), POL_OK);
  assert_int_equal(pol_mat_close(&mat), POL_OK);
  assert_null(mat);
  read_file("test_mat.mat");
  assert_memory_equal(bytes, "MATLAB 5.0 MAT-file", 19);
  assert_int_equal(bytes[126], 'I'); /* as a little-endian machine writes it */
  assert_int_equal(bytes[127], 'M');
  assert_int_equal(bytes[125], 1);
  /* the matrix: tag, flags, dimensions, name, numbers */
  assert_int_equal(word(128), 14);
  assert_int_equal(word(132), 16 + 16 + 16 + 8 + 48);
  assert_int_equal(word(136), 6);
  assert_int_equal(word(144), 6); /* numbers */
  assert_int_equal(word(152), 5);
  assert_int_equal(word(160), 3);
  assert_int_equal(word(164), 2);
  assert_int_equal(word(168), 1);
  assert_int_equal(word(172), 3);
  assert_memory_equal(bytes + 176, "A_1\0\0\0\0\0", 8);
  assert_int_equal(word(184), 9);
  assert_int_equal(word(188), 48);
  assert_memory_equal(bytes + 192, A, sizeof A);
  /* the texts: a cell array of arrays of characters */
  const size_t cells = 240;
  assert_int_equal(word(cells), 14);
  assert_int_equal(cells + 8 + (size_t)word(cells + 4), size);
  assert_int_equal(word(cells + 16), 1);
  assert_int_equal(word(cells + 32), 3);
  assert_int_equal(word(cells + 36), 1);
  const size_t first = cells + 8 + 16 + 16 + 16;
  assert_int_equal(word(first), 14);
  assert_int_equal(word(first + 16), 4);
  assert_int_equal(word(first + 32), 1);
  assert_int_equal(word(first + 36), 2);
  assert_int_equal(word(first + 48), 4);
  assert_int_equal(word(first + 52), 4);
  assert_memory_equal(bytes + first + 56, "a\0b\0", 4);
  const size_t second = first + 8 + (size_t)word(first + 4);
  assert_int_equal(word(second + 32), 0); /* an empty text has no rows */
  const size_t third = second + 8 + (size_t)word(second + 4);
  assert_int_equal(word(third + 36), 3);
  assert_memory_equal(bytes + third + 56, "\344\0\064\330\036\335", 6);
  remove("test_mat.mat");
}

static void what_cannot_be_written_is_refused(void **state)
{
  (void)state;
  pol_mat *mat;
  const double x = 1.0;
  errno = 0;
  assert_int_equal(pol_mat_create(&mat, "no/such/folder/x.mat"), POL_IO);
  assert_null(mat);
  assert_int_equal(errno, ENOENT);
  assert_int_equal(pol_mat_create(&mat, "test_mat.mat"), POL_OK);
  static const char *const wrong[] = {"", "1a", "a-b", "_a", "a b"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_int_equal(pol_mat_add_matrix(mat, wrong[i], 1, 1, &x), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mat_add_matrix(mat, "a", 100000, 100000, &x), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mat_add_texts(mat, "a b", 0, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mat_close(&mat), POL_OK);
  assert_int_equal(pol_mat_close(&mat), POL_OK);
  remove("test_mat.mat");
  /* a disk without room */
  if (pol_mat_create(&mat, "/dev/full") != POL_OK) return;
  double *many = calloc(100000, sizeof *many);
  pol_mat_add_matrix(mat, "many", 100, 1000, many);
  free(many);
  assert_int_equal(pol_mat_close(&mat), POL_IO);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_and_texts_are_written_as_the_format_says),
      cmocka_unit_test(what_cannot_be_written_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
