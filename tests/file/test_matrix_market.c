/* Matrices in Matrix Market form and lists of nodes: what is read, and where errors are found. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "io/file/matrix_market.h"

static void put(const char *text)
{
  FILE *file = fopen("matrix_market.txt", "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* Reads a matrix of 2 rows and 2 columns. */
static void assert_matrix(const char *text, const double numbers[4])
{
  poli_entries m;
  char message[400] = "";
  double sum[4] = {0.0};
  put(text);
  if (poli_matrix_market_read(&m, "matrix_market.txt", message, sizeof message))
    fail_msg("%s", message);
  assert_int_equal(m.rows, 2);
  assert_int_equal(m.cols, 2);
  for (size_t e = 0; e < m.count; e++) sum[2 * m.row[e] + m.col[e]] += m.value[e];
  assert_near(sum, numbers, 4, 0.0);
  poli_entries_free(&m);
}

static void test_forms(void **state)
{
  (void)state;
  assert_matrix("%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 2 3\n1 1 1.5\n"
                "1 2 -2e3\n2 2 7\n",
                (const double[]){1.5, -2e3, 0.0, 7.0});
  assert_matrix("%%matrixmarket MATRIX Coordinate Integer Symmetric\r\n2 2 2\r\n2 1 4\r\n2 2 1\r\n",
                (const double[]){0.0, 4.0, 4.0, 1.0});
  assert_matrix("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
                (const double[]){1.0, 3.0, 2.0, 4.0});
  assert_matrix("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3",
                (const double[]){1.0, 2.0, 2.0, 3.0});
  /* exponents of Fortran, entries that add up, a comment at the end */
  assert_matrix(
      "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0D+02\n1 1 -1.0d1\n%\n",
      (const double[]){90.0, 0.0, 0.0, 0.0});
}

static void test_errors(void **state)
{
  (void)state;
#define HEAD "%%MatrixMarket matrix coordinate real general\n"
  static const char *const cases[][2] = {
      {"", ":1: must start with %%MatrixMarket"},
      {"1 1 1\n", ":1: must start with"},
      {"%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
       "real numbers, not \"complex\""},
      {"%%MatrixMarket matrix coordinate pattern general\n1 1 0\n",
       "real numbers, not \"pattern\""},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "general or symmetric"},
      {"%%MatrixMarket matrix list real general\n1 1 0\n", "coordinate or array, not \"list\""},
      {HEAD, ":2: must have the number of rows here, not \"end of file\""},
      {HEAD "% no\n2 x 1\n", ":3: must have the number of columns here, not \"x\""},
      {HEAD "2 2 -1\n", ":2: must have the number of entries here"},
      {HEAD "2 2 999999999\n1 1 1\n", "the file is too short"},
      {HEAD "2 2 2\n1 1 1\n3 1 1\n", ":4: must have a row number of the matrix here, not \"3\""},
      {HEAD "2 2 2\n1 1 1\n1 0 1\n", ":4: must have a column number"},
      {HEAD "2 2 2\n1 1 1\n2 2 nan\n", ":4: must have a finite number here, not \"nan\""},
      {HEAD "2 2 2\n1 1 1\n2 2\n", ":4: must have a finite number here, not \"end of line\""},
      {HEAD "2 2 2\n1 1 1e999\n2 2 1\n", ":3: must have a finite number here"},
      {HEAD "2 2 2\n1 1 1   \n", ":4: must have a row number"},
      {HEAD "2 2 1\n1 1 1\n2 2 2\n", ":4: must end after 1 entries, not \"2\""},
      {"%%MatrixMarket matrix array real symmetric\n2 3\n1\n", ":2: must be square"},
      {"%%MatrixMarket matrix array real general\n2 2\n1 2 3       \n", ":4: must have a finite"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    poli_entries m;
    char message[400] = "";
    put(cases[i][0]);
    assert_int_equal(poli_matrix_market_read(&m, "matrix_market.txt", message, sizeof message),
                     POL_BAD_ARGUMENT);
    if (!strstr(message, cases[i][1])) fail_msg("%zu: %s", i, message);
    poli_entries_free(&m);
  }
  poli_entries m;
  char message[400] = "";
  assert_int_equal(poli_matrix_market_read(&m, "no such file", message, sizeof message), POL_IO);
  assert_non_null(strstr(message, "cannot be read"));
}

static void test_nodes(void **state)
{
  (void)state;
  poli_nodes nodes;
  char message[400] = "";
  put("node, x, y, z\n# two\n7, 1.5, -2, 0\n\n3; 1 ;2;3e-1\n");
  if (poli_nodes_read(&nodes, "matrix_market.txt", message, sizeof message))
    fail_msg("%s", message);
  assert_int_equal(nodes.count, 2);
  assert_int_equal(nodes.ids[0], 7);
  assert_int_equal(nodes.ids[1], 3);
  assert_near(nodes.positions, ((const double[]){1.5, -2.0, 0.0, 1.0, 2.0, 0.3}), 6, 0.0);
  poli_nodes_free(&nodes);
  static const char *const cases[][2] = {
      {"", "must have nodes"},
      {"id,x,y,z\n", "must have nodes"},
      {"1,2,3\n", ":1: must have the number of the node and its x, y and z, not \"end of line\""},
      {"1,2,3,4\nx,1,2,3\n", ":2: must start with the number of a node, not \"x\""},
      {"1,2,3,4\n1.5,1,2,3\n", ":2: must start with the number of a node, not \"1.5\""},
      {"1,2,3,4,5\n", ":1: must have four columns"},
      {"1,2,3,inf\n", ":1: must have the number of the node"},
      {"1,0,0,0\n2,0,0,1\n1,0,1,0\n", ":3: must have a number of its own: node 1 is in line 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    put(cases[i][0]);
    assert_int_equal(poli_nodes_read(&nodes, "matrix_market.txt", message, sizeof message),
                     POL_BAD_ARGUMENT);
    if (!strstr(message, cases[i][1])) fail_msg("%zu: %s", i, message);
    poli_nodes_free(&nodes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_errors),
                                     cmocka_unit_test(test_nodes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
