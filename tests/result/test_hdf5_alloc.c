/* Each allocation for HDF5 results made to fail once, in writing and in reading, of CSV too, and in
 * the export; and rows are written without any. */
#include "failing_alloc.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <polhode/model.h>
#include <polhode/result.h>

#include "../simulation/heavy_top.h"
#include "io/result/hdf5.h"

static const char path[] = "test_hdf5_alloc.h5", csv_path[] = "test_hdf5_alloc.csv";
static const char folder[] = "test_hdf5_alloc_vtk";
static const char model[] =
    "{\"bodies\": [{\"name\": \"top\", \"mass\": 1, \"inertia\": [1, 1, 1]}],"
    " \"joints\": [{\"name\": \"tip\", \"type\": \"spherical\", \"bodies\": [\"top\", \"ground\"],"
    " \"point\": [0, 0, 0]}], \"simulation\": {\"step\": 0.1, \"end\": 1}}";

/* Zero soon after the start. */
static double soon(const pol_state *at, void *user)
{
  (void)user;
  return at->t - 1e-4;
}

/* Steps to an event, so that rows are written at one. */
static void go_to_event(pol_simulation *simulation)
{
  const pol_simulation_event event = {.function = soon, .name = "soon"};
  assert_int_equal(pol_simulation_add_event(simulation, &event, NULL), POL_OK);
  assert_int_equal(pol_simulation_step(simulation), POL_OK);
  assert_int_equal(pol_simulation_event_index(simulation), 0);
}

static pol_status write_result(void *user)
{
  static char *overrides[] = {"simulation.end=2"};
  const pol_record *record = user;
  const pol_result_info about = {
      .name = "top", .model = model, .settings = "{}", .num_overrides = 1, .overrides = overrides};
  pol_writer *hdf5;
  pol_status status = pol_writer_create(&hdf5, path, POL_HDF5, record, &about, 0);
  if (status != POL_OK) assert_null(hdf5);
  if (status == POL_OK) status = pol_writer_write(hdf5);
  pol_writer_close(&hdf5, "done", NULL);
  return status;
}

static pol_status read_result(void *user)
{
  pol_result *result;
  pol_status status = pol_result_open(&result, user, NULL, 0);
  if (status != POL_OK) {
    assert_null(result);
    return status;
  }
  double *row = __real_malloc((size_t)pol_result_count(result) * sizeof *row);
  status = pol_result_read_rows(result, 0, 1, row);
  assert_int_equal(pol_result_num_events(result), user == path);
  __real_free(row);
  pol_result_close(&result);
  return status;
}

static pol_status export_result(void *user)
{
  pol_result *result;
  pol_status status = pol_result_open(&result, user, NULL, 0);
  if (status == POL_OK) status = pol_vtk_export(result, folder, 1, 0, NULL, NULL, 0);
  pol_result_close(&result);
  return status;
}

static void failures_are_told_and_nothing_leaks(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *csv;
  pol_settings settings = pol_settings_default();
  const pol_body body = heavy_top_body();
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  go_to_event(simulation);
  assert_true(alloc_exhaust(write_result, record) > 30);
  assert_true(alloc_exhaust(read_result, (void *)path) > 10);
  mkdir(folder, 0777);
  assert_true(alloc_exhaust(export_result, (void *)path) > 50);

  assert_int_equal(pol_writer_create(&csv, csv_path, POL_CSV, record, NULL, 0), POL_OK);
  assert_int_equal(pol_writer_write(csv), POL_OK);
  assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_OK);
  assert_true(alloc_exhaust(read_result, (void *)csv_path) > 5);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

static void rows_are_written_without_allocation(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *hdf5;
  pol_settings settings = pol_settings_default();
  const pol_body body = heavy_top_body();
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  go_to_event(simulation);
  assert_int_equal(pol_writer_create(&hdf5, path, POL_HDF5, record, NULL, 0), POL_OK);
  alloc_fail_at(0);
  for (int n = 0; n < 10000; n++) assert_int_equal(pol_writer_write(hdf5), POL_OK);
  assert_int_equal(pol_writer_flush(hdf5), POL_OK);
  assert_int_equal(alloc_count(), 0);
  assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

static int clean_up(void **state)
{
  (void)state;
  char name[100];
  snprintf(name, sizeof name, "%s/frame_000000.vtu", folder);
  remove(name);
  snprintf(name, sizeof name, "%s/motion.pvd", folder);
  remove(name);
  remove(folder);
  remove(csv_path);
  return remove(path);
}

int main(void)
{
  json_set_alloc_funcs(__wrap_malloc, __wrap_free);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(failures_are_told_and_nothing_leaks),
      cmocka_unit_test(rows_are_written_without_allocation),
  };
  return cmocka_run_group_tests(tests, alloc_install, clean_up);
}
