/* Reading results: CSV as polhode writes it, of other programs, cut and broken. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/polhode.h>
#include <polhode/result.h>

static const char path[] = "test_result.csv";

static void write_text(const char *text)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static pol_result *open_text(const char *text)
{
  char message[200] = "";
  pol_result *result;
  write_text(text);
  if (pol_result_open(&result, path, message, sizeof message) != POL_OK) fail_msg("%s", message);
  assert_string_equal(pol_result_about(result)->format, "csv");
  return result;
}

static void expect_refusal(const char *text, const char *expected)
{
  char message[200];
  pol_result *result;
  write_text(text);
  assert_int_equal(pol_result_open(&result, path, message, sizeof message), POL_BAD_ARGUMENT);
  assert_null(result);
  assert_string_equal(message, expected);
}

static void a_result_has_channels_and_rows(void **state)
{
  (void)state;
  pol_result *r = open_text("# polhode 9.8.7\n# units: s,m,\"a,b\"\nt,\"to,p\"\"\n.x\",y\n"
                            "0,1,2\n0.5,-3e-300,nan\n");
  assert_string_equal(pol_result_about(r)->version, "9.8.7");
  assert_null(pol_result_about(r)->model);
  assert_null(pol_result_about(r)->status);
  assert_int_equal(pol_result_count(r), 3);
  assert_int_equal(pol_result_rows(r), 2);
  assert_string_equal(pol_result_channel(r, 0)->name, "t");
  assert_string_equal(pol_result_channel(r, 1)->name, "to,p\"\n.x");
  assert_string_equal(pol_result_channel(r, 1)->unit, "m");
  assert_string_equal(pol_result_channel(r, 2)->unit, "a,b");
  assert_int_equal(pol_result_find_channel(r, "y"), 2);
  assert_int_equal(pol_result_find_channel(r, "z"), -1);

  double series[2], rows[6];
  assert_int_equal(pol_result_series(r, 1, series), POL_OK);
  assert_true(series[0] == 1.0 && series[1] == -3e-300);
  assert_int_equal(pol_result_series_part(r, 0, 1, 1, series), POL_OK);
  assert_true(series[0] == 0.5);
  assert_int_equal(pol_result_read_rows(r, 0, 2, rows), POL_OK);
  assert_true(rows[2] == 2.0 && rows[3] == 0.5 && isnan(rows[5]));

  assert_int_equal(pol_result_series_part(r, 0, 1, 2, series), POL_BAD_ARGUMENT);
  assert_int_equal(pol_result_series_part(r, 0, -1, 1, series), POL_BAD_ARGUMENT);
  assert_int_equal(pol_result_series(r, 3, series), POL_BAD_ARGUMENT);
  assert_int_equal(pol_result_read_rows(r, 3, 0, rows), POL_BAD_ARGUMENT);
  assert_int_equal(pol_result_read_rows(r, 2, 0, rows), POL_OK);
  pol_result_close(&r);
  assert_null(r);
  pol_result_close(&r);
}

/* Comments are not needed; lines may end with CRLF; blank lines do no harm. */
static void tables_of_other_programs_are_read(void **state)
{
  (void)state;
  double x[2];
  pol_result *r = open_text("time,x\r\n0,1\r\n0.1, 2.5\r\n\n");
  assert_int_equal(pol_result_rows(r), 2);
  assert_string_equal(pol_result_channel(r, 1)->name, "x");
  assert_string_equal(pol_result_channel(r, 1)->unit, "");
  assert_null(pol_result_about(r)->version);
  assert_int_equal(pol_result_series(r, 1, x), POL_OK);
  assert_true(x[0] == 1.0 && x[1] == 2.5);
  pol_result_close(&r);
}

/* A killed run: the last line has no end, so its last number may lack digits. */
static void a_cut_line_is_left_out(void **state)
{
  (void)state;
  static const char *const texts[] = {"t,x\n0,1\n", "t,x\n0,1\n0.1", "t,x\n0,1\n0.1,2.5"};
  for (int i = 0; i < 3; i++) {
    pol_result *r = open_text(texts[i]);
    assert_int_equal(pol_result_rows(r), 1);
    pol_result_close(&r);
  }
  pol_result *r = open_text("t,x\n");
  assert_int_equal(pol_result_rows(r), 0);
  pol_result_close(&r);
}

/* The same with many columns: the cut line needs room too.  Freeing tells of a heap that was
 * overrun, the sanitizers tell it at once. */
static void a_wide_cut_line_is_left_out(void **state)
{
  (void)state;
  enum { COLUMNS = 5000 };
  static char text[COLUMNS * 16];
  size_t used = 0;
  for (int i = 0; i < COLUMNS; i++)
    used += (size_t)sprintf(text + used, "c%d%s", i, i + 1 < COLUMNS ? "," : "\n");
  for (int i = 0; i < COLUMNS - 1; i++) used += (size_t)sprintf(text + used, "%d,", i);
  pol_result *r = open_text(text);
  assert_int_equal(pol_result_count(r), COLUMNS);
  assert_int_equal(pol_result_rows(r), 0);
  pol_result_close(&r);
}

/* A mark before UTF-8, as spreadsheets write it, belongs to no name. */
static void a_byte_order_mark_is_skipped(void **state)
{
  (void)state;
  static const char *const texts[] = {"\xEF\xBB\xBFt,x\n0,1\n",
                                      "\xEF\xBB\xBF# units: s,m\nt,x\n0,1\n"};
  for (int i = 0; i < 2; i++) {
    pol_result *r = open_text(texts[i]);
    assert_string_equal(pol_result_channel(r, 0)->name, "t");
    assert_int_equal(pol_result_rows(r), 1);
    pol_result_close(&r);
  }
}

static void what_is_no_result_is_refused(void **state)
{
  (void)state;
  pol_result *result;
  char message[200];
  expect_refusal("", "the file is empty");
  expect_refusal("\xEF\xBB\xBF\n {\"name\": 1}",
                 "is a JSON file, such as a model, not a result; polhode run MODEL.json --out "
                 "RESULT.h5 writes a result");
  expect_refusal("\n", "line 1: a column has no name");
  expect_refusal("t,x,y,x\n0,1,2,3\n", "line 1: two columns have the same name: x");
  expect_refusal("t;x\n0;1\n", "line 1: columns must be separated by commas: t;x");
  expect_refusal("# polhode 1\nt,x", "line 2: there is no line of column names");
  expect_refusal("t,,x\n", "line 1: a column has no name");
  expect_refusal("# c\nt,x\n0,1\n1,a b\n", "line 4: must be a number: a b");
  expect_refusal("t,x\n0,\n", "line 2: must be a number: ");
  expect_refusal("t,x\n0,1.5.2\n", "line 2: must be a number: 1.5.2");
  expect_refusal("t,x\n0\n1,2\n", "line 2: 1 number, but there are 2 columns");
  expect_refusal("t\n0,1\n", "line 2: 2 numbers, but there is 1 column");
  expect_refusal("t,x\n0,1,2\n1,2\n", "line 2: 3 numbers, but there are 2 columns");
  assert_int_equal(pol_result_open(&result, "no/such/file.csv", message, sizeof message), POL_IO);
  assert_string_equal(message, "cannot be read: No such file or directory");
  assert_int_equal(pol_result_open(&result, "no/such/file.csv", NULL, 0), POL_IO);
  remove(path);
}

/* A quote that does not end takes nothing of the lines below with it. */
static void an_open_quote_in_the_units_stays_there(void **state)
{
  (void)state;
  pol_result *r = open_text("# units: s,\"m\nt,x\n12,34\n56,78\n");
  double x[2];
  assert_int_equal(pol_result_count(r), 2);
  assert_string_equal(pol_result_channel(r, 0)->name, "t");
  assert_string_equal(pol_result_channel(r, 1)->name, "x");
  assert_string_equal(pol_result_channel(r, 1)->unit, "m");
  assert_int_equal(pol_result_series(r, 0, x), POL_OK);
  assert_true(x[0] == 12.0 && x[1] == 56.0);
  pol_result_close(&r);
  remove(path);
}

/* Many columns and many empty lines: memory is for rows that can be there, not for their product.
 */
static void empty_lines_reserve_nothing(void **state)
{
  (void)state;
  enum { WIDTH = 100000, LINES = 3000000 };
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (int i = 0; i < WIDTH; i++) fprintf(file, "%sc%d", i > 0 ? "," : "", i);
  for (int i = 0; i < LINES; i++) fputc('\n', file);
  assert_int_equal(fclose(file), 0);
  pol_result *r;
  assert_int_equal(pol_result_open(&r, path, NULL, 0), POL_OK);
  assert_int_equal(pol_result_count(r), WIDTH);
  assert_int_equal(pol_result_rows(r), 0);
  pol_result_close(&r);
  remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_result_has_channels_and_rows),
      cmocka_unit_test(tables_of_other_programs_are_read),
      cmocka_unit_test(a_cut_line_is_left_out),
      cmocka_unit_test(a_wide_cut_line_is_left_out),
      cmocka_unit_test(a_byte_order_mark_is_skipped),
      cmocka_unit_test(what_is_no_result_is_refused),
      cmocka_unit_test(an_open_quote_in_the_units_stays_there),
      cmocka_unit_test(empty_lines_reserve_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
