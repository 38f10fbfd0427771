/* HDF5 results: every number comes back as it was, with its units and under its name; what is known
 * about the run too; errors are told and leave what was written. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../simulation/heavy_top.h"
#include "io/result/hdf5.h"

static const char path[] = "test_hdf5.h5";

typedef struct fixture {
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  int columns;
} fixture;

static void start_record(fixture *f)
{
  pol_settings settings = pol_settings_default();
  settings.end = 100.0;
  assert_int_equal(pol_simulation_create(&f->simulation, f->mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&f->record, f->simulation), POL_OK);
  f->columns = pol_record_count(f->record);
}

static fixture open_record(const char *body_name)
{
  fixture f;
  pol_body body = heavy_top_body();
  body.name = body_name;
  assert_int_equal(heavy_top_create(&f.mechanism, &body), POL_OK);
  start_record(&f);
  return f;
}

/* So many free bodies, every second one a point mass if `mixed`. */
static fixture open_many(int bodies, int mixed)
{
  fixture f;
  assert_int_equal(pol_mechanism_create(&f.mechanism), POL_OK);
  for (int i = 0; i < bodies; i++) {
    char name[20];
    pol_body body = heavy_top_body();
    snprintf(name, sizeof name, "b%d", i);
    body.name = name;
    body.velocity[0] = i;
    body.point = mixed && i % 2;
    assert_int_equal(pol_mechanism_add_body(f.mechanism, &body, NULL), POL_OK);
  }
  start_record(&f);
  return f;
}

static void close_record(fixture *f)
{
  pol_record_free(&f->record);
  pol_simulation_free(&f->simulation);
  pol_mechanism_free(&f->mechanism);
}

static pol_result *open_result(void)
{
  char message[200] = "";
  pol_result *result;
  if (pol_result_open(&result, path, message, sizeof message) != POL_OK) fail_msg("%s", message);
  return result;
}

/* A writer that flushes when it is told to and not by the clock, however slow the machine is. */
static pol_writer *create_writer(const fixture *f, const pol_result_info *about, int background)
{
  pol_writer *hdf5;
  assert_int_equal(pol_writer_create(&hdf5, path, POL_HDF5, f->record, about, background), POL_OK);
  poli_h5_set_interval(hdf5, HUGE_VAL);
  return hdf5;
}

/* Writes so many rows and keeps a copy. */
static double *write_rows(fixture *f, pol_writer *hdf5, long rows)
{
  double *copy = malloc((size_t)rows * (size_t)f->columns * sizeof *copy);
  assert_non_null(copy);
  for (long n = 0; n < rows; n++) {
    assert_int_equal(pol_writer_write(hdf5), POL_OK);
    pol_record_row(f->record, copy + n * f->columns);
    assert_int_equal(pol_simulation_step(f->simulation), POL_OK);
  }
  return copy;
}

static void expect_rows(pol_result *result, const double *copy, long rows)
{
  const size_t columns = (size_t)pol_result_count(result);
  double *all = malloc(columns * (size_t)rows * sizeof *all);
  assert_int_equal(pol_result_rows(result), rows);
  assert_int_equal(pol_result_read_rows(result, 0, rows, all), POL_OK);
  assert_memory_equal(all, copy, columns * (size_t)rows * sizeof *all);
  free(all);
}

/* Several blocks and a part of one, with and without the thread. */
static void numbers_come_back(void **state)
{
  (void)state;
  enum { ROWS = 9000 };
  for (int background = 0; background < 2; background++) {
    fixture f = open_record("top");
    pol_writer *hdf5;
    hdf5 = create_writer(&f, NULL, background);
    double *copy = write_rows(&f, hdf5, ROWS);
    assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);
    assert_null(hdf5);
    assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK); /* NULL is fine */

    pol_result *r = open_result();
    expect_rows(r, copy, ROWS);
    for (int i = 0; i < f.columns; i++) {
      const pol_channel *given = pol_record_channel(f.record, i), *found = pol_result_channel(r, i);
      assert_string_equal(found->name, given->name);
      assert_string_equal(found->unit, given->unit);
      assert_string_equal(found->group, given->group);
      assert_string_equal(found->owner, given->owner);
      assert_string_equal(found->quantity, given->quantity);
    }
    /* part of one channel, across the border of a chunk */
    double part[300];
    const int z = pol_result_find_channel(r, "tip.force.z");
    assert_true(z > 0);
    assert_int_equal(pol_result_series_part(r, z, 4000, 300, part), POL_OK);
    for (int n = 0; n < 300; n++) assert_true(part[n] == copy[(4000 + n) * f.columns + z]);
    pol_result_close(&r);
    free(copy);
    close_record(&f);
  }
  remove(path);
}

static void the_run_is_described(void **state)
{
  (void)state;
  char *overrides[] = {"simulation.step=1e-3", "gravity=[0,0,-1]"};
  char *model = malloc(200001); /* longer than an attribute may be */
  memset(model, 'x', 200000);
  model[200000] = '\0';
  const pol_result_info about = {.name = "Heavy t\xc3\xb8p",
                                 .model = model,
                                 .num_overrides = 2,
                                 .overrides = overrides,
                                 .settings = "{\"step\": 0.001}"};
  fixture f = open_record("top");
  pol_writer *hdf5;
  hdf5 = create_writer(&f, &about, 0);
  assert_int_equal(pol_writer_write(hdf5), POL_OK);
  assert_int_equal(pol_writer_close(&hdf5, "failed", "the Newton iteration did not converge"),
                   POL_OK);
  pol_result *r = open_result();
  const pol_result_info *info = pol_result_about(r);
  assert_string_equal(info->format, "hdf5");
  assert_string_equal(info->version, pol_version());
  assert_string_equal(info->name, about.name);
  assert_string_equal(info->model, model);
  assert_string_equal(info->settings, about.settings);
  assert_int_equal(info->num_overrides, 2);
  assert_string_equal(info->overrides[1], overrides[1]);
  assert_string_equal(info->status, "failed");
  assert_string_equal(info->failure, "the Newton iteration did not converge");
  assert_int_equal(pol_result_rows(r), 1);
  pol_result_close(&r);
  free(model);
  close_record(&f);
  remove(path);
}

/* --- the file as other programs see it -------------------------------------------------------- */

static void expect_list(hid_t set, const char *name, int count, const char *const *expected)
{
  const hid_t attribute = H5Aopen(set, name, H5P_DEFAULT);
  assert_true(attribute >= 0);
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const size_t size = H5Tget_size(type);
  char texts[8 * 64] = "";
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(size < 64 && count <= 8);
  assert_true(H5Aread(attribute, type, texts) >= 0);
  for (int i = 0; i < count; i++) {
    assert_int_equal(strnlen(texts + (size_t)i * size, size), strlen(expected[i]));
    assert_memory_equal(texts + (size_t)i * size, expected[i], strlen(expected[i]));
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
}

/* Opens a dataset and expects its rows and what else its size is, 0 for no more dimensions. */
static hid_t expect_dataset(hid_t file, const char *name, hsize_t rows, hsize_t objects,
                            hsize_t components)
{
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0) fail_msg("there is no %s", name);
  const hid_t space = H5Dget_space(set);
  hsize_t size[3] = {0, 0, 0};
  assert_int_equal(H5Sget_simple_extent_ndims(space), 1 + (objects > 0) + (components > 0));
  H5Sget_simple_extent_dims(space, size, NULL);
  assert_int_equal(size[0], rows);
  assert_int_equal(size[1], objects);
  assert_int_equal(size[2], components);
  H5Sclose(space);
  return set;
}

/* Expects the texts of a dataset, each shorter than 40. */
static void expect_texts(hid_t file, const char *name, hsize_t count, const char *const *expected)
{
  const hid_t set = expect_dataset(file, name, count, 0, 0), type = poli_h5_text_type(40);
  char texts[16][40];
  assert_in_range(count, 1, 16);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0);
  for (hsize_t i = 0; i < count; i++) assert_string_equal(texts[i], expected[i]);
  H5Tclose(type);
  H5Dclose(set);
}

static void quantities_are_datasets(void **state)
{
  (void)state;
  enum { ROWS = 3 };
  static const char *const axes[] = {"x", "y", "z"}, *const metres[] = {"m"};
  static const char *const parts[] = {"w", "x", "y", "z"}, *const joules[] = {"J"};
  static const char *const body[] = {"top"}, *const joint[] = {"tip"};
  static const char *const rows[] = {"tip.multiplier.1", "tip.multiplier.2", "tip.multiplier.3"};
  static const char *const newtons[] = {"N", "N", "N"};
  fixture f = open_record("top");
  pol_writer *hdf5;
  hdf5 = create_writer(&f, NULL, 0);
  double *copy = write_rows(&f, hdf5, ROWS), position[3 * ROWS];
  assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);

  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  hid_t set = expect_dataset(file, "/bodies/position", ROWS, 1, 3);
  expect_list(set, "axes", 3, axes);
  expect_list(set, "units", 1, metres);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, position) >= 0);
  for (int n = 0; n < ROWS; n++)
    assert_memory_equal(position + 3 * n, copy + n * f.columns + 1, 3 * sizeof *copy);
  H5Dclose(set);
  set = expect_dataset(file, "/bodies/quaternion", ROWS, 1, 4);
  expect_list(set, "axes", 4, parts);
  H5Dclose(set);
  set = expect_dataset(file, "/energy/kinetic", ROWS, 0, 0);
  expect_list(set, "units", 1, joules);
  H5Dclose(set);
  H5Dclose(expect_dataset(file, "/time", ROWS, 0, 0));
  H5Dclose(expect_dataset(file, "/joints/force", ROWS, 1, 3));
  H5Dclose(expect_dataset(file, "/multipliers/value", ROWS, 3, 0));
  H5Dclose(expect_dataset(file, "/momentum/angular", ROWS, 3, 0));
  expect_texts(file, "/bodies/names", 1, body);
  expect_texts(file, "/joints/names", 1, joint);
  expect_texts(file, "/multipliers/names", 3, rows);
  expect_texts(file, "/multipliers/units", 3, newtons);
  expect_texts(file, "/multipliers/objects", 3, (const char *const[]){"tip", "tip", "tip"});
  H5Fclose(file);
  free(copy);
  close_record(&f);
  remove(path);
}

/* All bodies have the same place in all datasets; a point mass has no rotation. */
static void vectors_that_an_object_lacks_are_not_numbers(void **state)
{
  (void)state;
  enum { BODIES = 4, ROWS = 2 };
  fixture f = open_many(BODIES, 1);
  pol_writer *hdf5 = create_writer(&f, NULL, 0);
  double *copy = write_rows(&f, hdf5, ROWS), q[ROWS][BODIES][4];
  assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Dclose(expect_dataset(file, "/bodies/velocity", ROWS, BODIES, 3));
  const hid_t set = expect_dataset(file, "/bodies/quaternion", ROWS, BODIES, 4);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q) >= 0);
  for (int n = 0; n < ROWS; n++)
    for (int b = 0; b < BODIES; b++)
      for (int k = 0; k < 4; k++) assert_int_equal(isnan(q[n][b][k]) != 0, b % 2);
  H5Dclose(set);
  H5Fclose(file);

  pol_result *r = open_result();
  expect_rows(r, copy, ROWS);
  assert_int_equal(pol_result_find_channel(r, "b1.quaternion.w"), -1);
  assert_true(pol_result_find_channel(r, "b2.quaternion.w") > 0);
  pol_result_close(&r);
  free(copy);
  close_record(&f);
  remove(path);
}

/* Any channels in any order, twice, of rows across blocks and of more bodies than a chunk has. */
static void channels_are_read_together(void **state)
{
  (void)state;
  enum { BODIES = 3000, ROWS = 13, FIRST = 2, COUNT = 11, NUM = 9 };
  fixture f = open_many(BODIES, 1);
  pol_writer *hdf5 = create_writer(&f, NULL, 0);
  double *copy = write_rows(&f, hdf5, ROWS), found[COUNT][NUM];
  assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);
  pol_result *r = open_result();
  const int last = f.columns - 1;
  const int channels[NUM] = {last, 7, 1, f.columns / 2, 0, 7, 20000, last - 5, 9};
  assert_int_equal(pol_result_read(r, NUM, channels, FIRST, COUNT, found[0]), POL_OK);
  for (int n = 0; n < COUNT; n++)
    for (int k = 0; k < NUM; k++)
      assert_true(found[n][k] == copy[(FIRST + n) * f.columns + channels[k]]);
  expect_rows(r, copy, ROWS);
  const int wrong = f.columns;
  assert_int_equal(pol_result_read(r, 1, &wrong, 0, 1, found[0]), POL_BAD_ARGUMENT);
  assert_int_equal(pol_result_read(r, NUM, channels, FIRST, ROWS, found[0]), POL_BAD_ARGUMENT);
  pol_result_close(&r);
  free(copy);
  close_record(&f);
  remove(path);
}

/* What a writer needs grows with the columns, once a row is more than a block. */
static void memory_is_estimated(void **state)
{
  (void)state;
  static const int bodies[] = {10, 30000};
  for (int i = 0; i < 2; i++) {
    fixture f = open_many(bodies[i], 0);
    const double numbers = 8.0 * f.columns, memory = pol_writer_memory(f.mechanism);
    assert_true(memory > 2.0 * numbers && memory < 2.0 * 4096.0 * numbers);
    if (i > 0) assert_true(memory < 16.0 * numbers);
    close_record(&f);
  }
}

static void odd_names_come_back(void **state)
{
  (void)state;
  static const char *const names[] = {"a/b", ".", "link.1.x", "50%", "%2F", "/", "a b\nc", "../t"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fixture f = open_record(names[i]);
    pol_writer *hdf5;
    hdf5 = create_writer(&f, NULL, 0);
    assert_int_equal(pol_writer_write(hdf5), POL_OK);
    assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    expect_texts(file, "/bodies/names", 1, &names[i]);
    H5Fclose(file);

    pol_result *r = open_result();
    assert_string_equal(pol_result_channel(r, 1)->name, pol_record_channel(f.record, 1)->name);
    assert_string_equal(pol_result_channel(r, 1)->owner, names[i]);
    assert_string_equal(pol_result_channel(r, 1)->quantity, "position.x");
    pol_result_close(&r);
    close_record(&f);
  }
  remove(path);
}

/* Zero every 0.005 s. */
static double wave(const pol_state *at, void *user)
{
  (void)user;
  return cos(628.3185307179586 * at->t);
}

/* Each event of a run is in the table once, whatever the blocks and flushes; names of any length
 * that were known, an empty one, and one that came too late and is cut. */
static void events_come_back(void **state)
{
  (void)state;
  enum { STOPS = 6000 };
  static const char long_name[] =
      "an event with a name that is longer than others and so on and on";
  static const char *const names[] = {"wave", NULL, long_name};
  static const char *const expected[] = {"wave", "", "an event with a name that is lo"};
  for (int background = 0; background < 2; background++)
    for (int late = 0; late < 2; late++) {
      fixture f = open_record("top");
      pol_simulation_event event = {.function = wave, .direction = 1};
      pol_writer *hdf5;
      double times[STOPS];
      int numbers[STOPS], count = 0;
      for (int i = 0; i < (late ? 2 : 3); i++) {
        event.name = names[i];
        assert_int_equal(pol_simulation_add_event(f.simulation, &event, NULL), POL_OK);
      }
      hdf5 = create_writer(&f, NULL, background);
      event.name = names[2];
      if (late) assert_int_equal(pol_simulation_add_event(f.simulation, &event, NULL), POL_OK);
      for (int n = 0; n < STOPS; n++) {
        numbers[n] = pol_simulation_event_index(f.simulation);
        times[n] = pol_simulation_state(f.simulation)->t;
        assert_int_equal(pol_writer_write(hdf5), POL_OK);
        if (n % 1000 == 500) assert_int_equal(pol_writer_flush(hdf5), POL_OK);
        assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
      }
      assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);

      pol_result *r = open_result();
      for (int n = 0; n < STOPS; n++) {
        if (numbers[n] < 0) continue;
        const pol_result_event *found = pol_result_get_event(r, count++);
        assert_non_null(found);
        assert_true(found->t == times[n]);
        assert_int_equal(found->row, n);
        assert_string_equal(found->name, late              ? expected[numbers[n]]
                                         : numbers[n] == 2 ? long_name
                                                           : expected[numbers[n]]);
        assert_string_equal(found->action, "record");
      }
      assert_true(count > 1000);
      assert_int_equal(pol_result_num_events(r), count);
      assert_null(pol_result_get_event(r, count));
      assert_null(pol_result_get_event(r, -1));
      pol_result_close(&r);
      close_record(&f);
    }
  remove(path);
}

/* --- while it is written, and errors ---------------------------------------------------------- */

/* This program as a reader in another process: its status, then all rows, to standard output. */
static int dump(const char *name)
{
  pol_result *r;
  if (pol_result_open(&r, name, NULL, 0) != POL_OK) return 1;
  const size_t count = (size_t)pol_result_rows(r) * (size_t)pol_result_count(r);
  double *rows = malloc(count * sizeof *rows + 1);
  char status[16] = "";
  snprintf(status, sizeof status, "%s", pol_result_about(r)->status);
  if (pol_result_read_rows(r, 0, pol_result_rows(r), rows) != POL_OK) return 1;
  fwrite(status, 1, sizeof status, stdout);
  fwrite(rows, sizeof *rows, count, stdout);
  free(rows);
  pol_result_close(&r);
  return 0;
}

static const char *program; /* the name of this one */

/* What another process finds in the file: these numbers. */
static void expect_elsewhere(const char *status, const double *copy, size_t count)
{
  char command[4096], found_status[16];
  double *found = malloc((count + 1) * sizeof *found);
  snprintf(command, sizeof command, "'%s' --dump %s", program, path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  assert_int_equal(fread(found_status, 1, sizeof found_status, pipe), sizeof found_status);
  const size_t size = fread(found, sizeof *found, count + 1, pipe);
  assert_int_equal(size, count);
  assert_int_equal(pclose(pipe), 0);
  assert_string_equal(found_status, status);
  if (size > 0) assert_memory_equal(found, copy, size * sizeof *found);
  free(found);
}

/* Writes `first` rows, then `second` more; what has been flushed can be read before the file is
 * closed. */
static void expect_flushed_rows(fixture *f, int background, size_t first, size_t second)
{
  const size_t width = (size_t)f->columns, count = (first + second) * width;
  pol_writer *hdf5;
  hdf5 = create_writer(f, NULL, background);
  expect_elsewhere("unfinished", NULL, 0);
  double *all = malloc(count * sizeof *all);
  assert_non_null(all);
  double *before = write_rows(f, hdf5, (long)first);
  assert_int_equal(pol_writer_flush(hdf5), POL_OK);
  double *after = write_rows(f, hdf5, (long)second);
  memcpy(all, before, first * width * sizeof *all);
  memcpy(all + first * width, after, second * width * sizeof *all);

  expect_elsewhere("unfinished", all, first * width);
  assert_int_equal(pol_writer_flush(hdf5), POL_OK);
  assert_int_equal(pol_writer_flush(hdf5), POL_OK);
  expect_elsewhere("unfinished", all, count);
  assert_int_equal(pol_writer_close(&hdf5, "interrupted", NULL), POL_OK);
  expect_elsewhere("interrupted", all, count);
  free(before);
  free(after);
  free(all);
}

/* Twice, so that a block is written again in its place; of few datasets, and of more than are
 * written at a time. */
static void flushed_rows_can_be_read(void **state)
{
  (void)state;
  for (int background = 0; background < 2; background++) {
    fixture f = open_record("top");
    expect_flushed_rows(&f, background, 10, 5000);
    close_record(&f);
    f = open_many(250, 0);
    expect_flushed_rows(&f, background, 10, 140);
    close_record(&f);
  }
  remove(path);
}

/* A limit on the size of files plays the full disk. */
static void a_full_disk_keeps_what_was_written(void **state)
{
  (void)state;
  for (int background = 0; background < 2; background++) {
    fixture f = open_record("top");
    struct rlimit before, limit;
    pol_writer *hdf5;
    pol_status status = POL_OK;
    long rows = 0;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4000000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    hdf5 = create_writer(&f, NULL, background);
    for (; status == POL_OK && rows < 50000; rows++) {
      status = pol_writer_write(hdf5);
      if (status == POL_OK) status = pol_simulation_step(f.simulation);
    }
    const int reason = errno;
    assert_int_equal(pol_writer_write(hdf5), POL_OK); /* into memory; told at the next block, or: */
    assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, POL_IO);
    assert_int_equal(reason, EFBIG);

    pol_result *r = open_result();
    assert_string_equal(pol_result_about(r)->status, "failed");
    assert_true(pol_result_rows(r) >= 4096 && pol_result_rows(r) < rows);
    double t[2];
    assert_int_equal(pol_result_series_part(r, 0, pol_result_rows(r) - 1, 1, t), POL_OK);
    assert_near(t, (double[]){1e-3 * (double)(pol_result_rows(r) - 1)}, 1, 1e-12);
    pol_result_close(&r);
    close_record(&f);
  }
  remove(path);
}

/* Rows of the first dataset, which may be more than are complete in all. */
static long rows_of_time(void)
{
  hsize_t rows = 0;
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
              set = H5Dopen2(file, "/time", H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  assert_int_equal(H5Sget_simple_extent_dims(space, &rows, NULL), 1);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  return (long)rows;
}

/* Writes rows until the file would grow by more than `bytes`; whether the disk was full in the
 * middle of a block, with some datasets written and others not. */
static int fill_disk(const fixture *f, rlim_t bytes)
{
  struct rlimit before, limit;
  struct stat info;
  pol_writer *hdf5;
  long written = 0;
  hdf5 = create_writer(f, NULL, 0);
  assert_int_equal(stat(path, &info), 0);
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = (rlim_t)info.st_size + bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  while (written < 10000 && pol_writer_write(hdf5) == POL_OK) written++;
  assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_IO);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);

  pol_result *r = open_result();
  const long rows = pol_result_rows(r);
  double found, *row = malloc((size_t)f->columns * sizeof *row);
  assert_string_equal(pol_result_about(r)->status, "failed");
  assert_in_range(rows, 0, written);
  pol_record_row(f->record, row);
  for (int i = 0; rows > 0 && i < f->columns; i++) {
    assert_int_equal(pol_result_series_part(r, i, rows - 1, 1, &found), POL_OK);
    assert_true(found == row[i]);
  }
  free(row);
  pol_result_close(&r);
  return rows_of_time() > rows;
}

/* Whatever fits, the rows that count are in all datasets. */
static void a_disk_full_within_a_block_keeps_whole_rows(void **state)
{
  (void)state;
  int within = 0;
  fixture f = open_many(410, 0);
  for (rlim_t size = 1; size <= 8; size++) within += fill_disk(&f, size * 400000);
  assert_in_range(within, 1, 8);
  close_record(&f);
  remove(path);
}

static void paths_that_cannot_be_written_are_told(void **state)
{
  (void)state;
  fixture f = open_record("top");
  pol_writer *hdf5;
  assert_int_equal(pol_writer_create(&hdf5, "no/such/folder.h5", POL_HDF5, f.record, NULL, 0),
                   POL_IO);
  assert_int_equal(errno, ENOENT);
  assert_null(hdf5);
  /* a folder of that name: found when the file gets its name, and nothing is left behind */
  remove("test_hdf5_folder.h5"); /* of a run that failed */
  assert_int_equal(mkdir("test_hdf5_folder.h5", 0777), 0);
  assert_int_equal(pol_writer_create(&hdf5, "test_hdf5_folder.h5", POL_HDF5, f.record, NULL, 0),
                   POL_IO);
  assert_int_equal(errno, EISDIR);
  assert_int_not_equal(remove("test_hdf5_folder.h5.new"), 0);
  assert_int_equal(remove("test_hdf5_folder.h5"), 0);
  close_record(&f);
}

static void what_is_no_result_is_refused(void **state)
{
  (void)state;
  char message[200];
  pol_result *result;
  const hid_t other = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(other);
  assert_int_equal(pol_result_open(&result, path, message, sizeof message), POL_BAD_ARGUMENT);
  assert_null(result);
  assert_string_equal(message, "is an HDF5 file, but not a result of polhode");

  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs("\x89HDF\r\n\x1a\nand then something else", file);
  fclose(file);
  assert_int_equal(pol_result_open(&result, path, message, sizeof message), POL_IO);
  assert_string_equal(message, "cannot be opened: it is damaged, or another program is writing it");
  remove(path);
}

/* --- packing ---------------------------------------------------------------------------------- */

/* Numbers of all kinds come back through the filters of the library itself. */
static void packed_chunks_are_those_of_the_filters(void **state)
{
  (void)state;
  enum { COUNT = 999 };
  const hsize_t size = COUNT, origin = 0;
  uint64_t seed = 7;
  poli_h5_packer *packer;
  assert_int_equal(poli_h5_packer_create(&packer, COUNT), POL_OK);
  for (int kind = 0; kind < 4; kind++) {
    double given[COUNT], found[COUNT];
    for (int i = 0; i < COUNT; i++) {
      const double noise = random_number(&seed);
      given[i] = kind == 0 ? 0.0 : kind == 1 ? noise : kind == 2 ? 1e9 + i : i % 3 ? 0.0 : noise;
    }
    size_t bytes;
    const void *packed = poli_h5_pack(packer, given, COUNT, kind == 3 ? 3 : 1, &bytes);
    assert_non_null(packed);
    assert_true(bytes < sizeof given + 200);
    if (kind == 0) assert_true(bytes < 200);
    if (kind == 2) assert_true(bytes < sizeof given / 2);
    if (kind == 3) assert_true(bytes < sizeof given / 2); /* two of three columns are zero */

    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &size, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plist, 1, &size);
    H5Pset_shuffle(plist);
    H5Pset_deflate(plist, 1);
    const hid_t set = H5Dcreate2(file, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, 0, &origin, bytes, packed) >= 0);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_memory_equal(found, given, sizeof given);
    H5Dclose(set);
    H5Pclose(plist);
    H5Sclose(space);
    H5Fclose(file);
  }
  poli_h5_packer_free(&packer);
  remove(path);
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "--dump") == 0) return dump(argv[2]);
  program = argv[0];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_come_back),
      cmocka_unit_test(the_run_is_described),
      cmocka_unit_test(quantities_are_datasets),
      cmocka_unit_test(events_come_back),
      cmocka_unit_test(memory_is_estimated),
      cmocka_unit_test(odd_names_come_back),
      cmocka_unit_test(vectors_that_an_object_lacks_are_not_numbers),
      cmocka_unit_test(channels_are_read_together),
      cmocka_unit_test(flushed_rows_can_be_read),
      cmocka_unit_test(a_full_disk_keeps_what_was_written),
      cmocka_unit_test(a_disk_full_within_a_block_keeps_whole_rows),
      cmocka_unit_test(paths_that_cannot_be_written_are_told),
      cmocka_unit_test(what_is_no_result_is_refused),
      cmocka_unit_test(packed_chunks_are_those_of_the_filters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
