/* CSV results: every number comes back as it was, errors are told, lines are whole. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include <polhode/model.h>
#include <polhode/result.h>

#include "../simulation/heavy_top.h"

static const char path[] = "test_csv.csv";
enum { NUM_COLUMNS = 52, LINE_SIZE = 2000 };

typedef struct fixture {
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
} fixture;

static fixture open_record(const char *body_name)
{
  fixture f;
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  body.name = body_name;
  assert_int_equal(heavy_top_create(&f.mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&f.simulation, f.mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&f.record, f.simulation), POL_OK);
  return f;
}

static void close_record(fixture *f)
{
  pol_record_free(&f->record);
  pol_simulation_free(&f->simulation);
  pol_mechanism_free(&f->mechanism);
}

static void expect_start(const char *line, const char *start)
{
  if (strncmp(line, start, strlen(start)) != 0)
    fail_msg("no \"%s\" at the start of %s", start, line);
}

static void numbers_come_back(void **state)
{
  (void)state;
  enum { ROWS = 400 }; /* several buffers */
  fixture f = open_record("top");
  pol_writer *csv;
  double(*rows)[NUM_COLUMNS] = malloc(ROWS * sizeof *rows);
  char line[LINE_SIZE];
  assert_int_equal(pol_record_count(f.record), NUM_COLUMNS);
  assert_int_equal(pol_writer_create(&csv, path, POL_CSV, f.record, NULL, 0), POL_OK);
  for (int n = 0; n < ROWS; n++) {
    assert_int_equal(pol_writer_write(csv), POL_OK);
    pol_record_row(f.record, rows[n]);
    assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
  }
  assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_OK);
  assert_null(csv);
  assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_OK); /* NULL is fine */

  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  expect_start(line, "# polhode ");
  assert_non_null(strstr(line, pol_version()));
  assert_non_null(fgets(line, sizeof line, file));
  expect_start(line, "# units: s,m,m,m,1,1,1,1,m/s,");
  assert_non_null(fgets(line, sizeof line, file));
  expect_start(line, "t,top.position.x,top.position.y,");
  for (int n = 0; n < ROWS; n++) {
    assert_non_null(fgets(line, sizeof line, file));
    char *at = line;
    for (int i = 0; i < NUM_COLUMNS; i++) {
      double x = strtod(at, &at);
      assert_memory_equal(&x, &rows[n][i], sizeof x);
      assert_int_equal(*at++, i + 1 < NUM_COLUMNS ? ',' : '\n');
    }
  }
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
  remove(path);
  free(rows);
  close_record(&f);
}

/* Until the file is closed it ends with a whole line at any time. */
static void lines_reach_the_disk_whole(void **state)
{
  (void)state;
  fixture f = open_record("top");
  pol_writer *csv;
  long size = 0;
  int growths = 0;
  assert_int_equal(pol_writer_create(&csv, path, POL_CSV, f.record, NULL, 0), POL_OK);
  for (int n = 0; n < 500; n++) {
    assert_int_equal(pol_writer_write(csv), POL_OK);
    assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, -1, SEEK_END), 0);
    assert_int_equal(fgetc(file), '\n');
    growths += ftell(file) > size;
    size = ftell(file);
    fclose(file);
  }
  assert_in_range(growths, 3, 20); /* the head, then a few large pieces */
  assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_OK);
  remove(path);
  close_record(&f);
}

static void odd_names_are_quoted(void **state)
{
  (void)state;
  fixture f = open_record("a,\"b\"");
  pol_writer *csv;
  char line[LINE_SIZE];
  assert_int_equal(pol_writer_create(&csv, path, POL_CSV, f.record, NULL, 0), POL_OK);
  assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_OK);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  for (int i = 0; i < 3; i++) assert_non_null(fgets(line, sizeof line, file));
  expect_start(line, "t,\"a,\"\"b\"\".position.x\",");
  fclose(file);
  remove(path);
  close_record(&f);
}

static void unwritable_paths_are_told(void **state)
{
  (void)state;
  fixture f = open_record("top");
  pol_writer *csv;
  assert_int_equal(pol_writer_create(&csv, "no/such/folder/result.csv", POL_CSV, f.record, NULL, 0),
                   POL_IO);
  assert_null(csv);
  assert_int_equal(pol_writer_create(&csv, ".", POL_CSV, f.record, NULL, 0), POL_IO);
  assert_null(csv);
  /* A full disk shows when the head is written. */
  assert_int_equal(pol_writer_create(&csv, "/dev/full", POL_CSV, f.record, NULL, 0), POL_IO);
  assert_null(csv);
  close_record(&f);
}

/* A disk without room for the head leaves no file. */
static void a_full_disk_leaves_no_file(void **state)
{
  (void)state;
  fixture f = open_record("top");
  pol_writer *csv;
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 100;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(pol_writer_create(&csv, path, POL_CSV, f.record, NULL, 0), POL_IO);
  assert_int_equal(errno, EFBIG);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_null(fopen(path, "rb"));
  close_record(&f);
}

/* A disk that fills up later, as a limit on the size of files.  The last line that fits stays
 * whole.
 */
static void a_disk_that_fills_up_is_told(void **state)
{
  (void)state;
  fixture f = open_record("top");
  pol_writer *csv;
  pol_status status = POL_OK;
  const long limit = 100000;
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = (rlim_t)limit;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(pol_writer_create(&csv, path, POL_CSV, f.record, NULL, 0), POL_OK);
  for (int n = 0; n < 1000 && status == POL_OK; n++) status = pol_writer_write(csv);
  assert_int_equal(status, POL_IO);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);

  /* Room that comes back does not hide the gap. */
  assert_int_equal(pol_writer_write(csv), POL_IO);
  assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_IO);
  assert_null(csv);

  /* Only the line that did not fit is missing. */
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, -1, SEEK_END), 0);
  assert_int_equal(fgetc(file), '\n');
  assert_in_range(ftell(file), limit - LINE_SIZE, limit - 1);
  fclose(file);
  remove(path);
  close_record(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_come_back),          cmocka_unit_test(lines_reach_the_disk_whole),
      cmocka_unit_test(odd_names_are_quoted),       cmocka_unit_test(unwritable_paths_are_told),
      cmocka_unit_test(a_full_disk_leaves_no_file), cmocka_unit_test(a_disk_that_fills_up_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
