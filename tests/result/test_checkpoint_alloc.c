/* Each allocation of saving and loading states made to fail once: in memory, in a file of its own
 * and in an HDF5 result. */
#include "failing_alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/result.h>

#include "../simulation/heavy_top.h"

static const char state_path[] = "test_checkpoint_alloc.state";
static const char result_path[] = "test_checkpoint_alloc.h5";

static pol_simulation *start(const pol_mechanism *mechanism, const char *method)
{
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  settings.options.method = method;
  settings.options.order = 2;
  settings.end = 0.01;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  return simulation;
}

static pol_status save(void *user)
{
  pol_simulation *simulation = user;
  size_t size = 0;
  pol_status status = pol_simulation_save(simulation, NULL, &size);
  void *bytes = status ? NULL : malloc(size);
  if (!status && !bytes) status = POL_NO_MEMORY;
  if (!status) status = pol_simulation_save(simulation, bytes, &size);
  free(bytes);
  if (!status) status = pol_checkpoint_write(state_path, simulation);
  return status;
}

static pol_status save_to_result(void *user)
{
  pol_simulation *simulation = user;
  pol_record *record;
  pol_writer *writer = NULL;
  pol_status status = pol_record_create(&record, simulation);
  if (!status) status = pol_writer_create(&writer, result_path, POL_HDF5, record, NULL, 0);
  if (!status) status = pol_writer_write(writer);
  if (!status) status = pol_writer_save(writer, 0.01, simulation);
  pol_writer_close(&writer, "done", NULL);
  pol_record_free(&record);
  return status;
}

typedef struct reading {
  const pol_mechanism *mechanism;
  const char *method, *path;
} reading;

/* The simulation is made before allocations are counted: it has a test of its own. */
static pol_status load(void *user)
{
  const reading *from = user;
  const long n = alloc_state.fail_at;
  alloc_fail_at(0);
  pol_simulation *simulation = start(from->mechanism, from->method);
  char message[200];
  alloc_fail_at(n);
  const pol_status status =
      pol_checkpoint_read(from->path, (double)INFINITY, simulation, message, sizeof message);
  pol_simulation_free(&simulation);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  static const char *const methods[] = {"geom1", "rattle"};
  const pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  (void)state;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  for (int k = 0; k < 2; k++) {
    pol_simulation *simulation = start(mechanism, methods[k]);
    assert_int_equal(pol_simulation_allow_later_end(simulation), POL_OK);
    while (!pol_simulation_finished(simulation))
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
    assert_in_range(alloc_exhaust(save, simulation), 3, 100);
    assert_in_range(alloc_exhaust(save_to_result, simulation), 10, 1000);
    pol_simulation_free(&simulation);
    reading from = {mechanism, methods[k], state_path};
    assert_in_range(alloc_exhaust(load, &from), 3, 100);
    from.path = result_path;
    assert_in_range(alloc_exhaust(load, &from), 10, 1000);
  }
  pol_mechanism_free(&mechanism);
  remove(state_path);
  remove(result_path);
}

/* Without memory for the state before the end, the run goes on, but only to this end. */
static void no_memory_for_a_later_end(void **state)
{
  const pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  (void)state;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  pol_simulation *simulation = start(mechanism, "geom1");
  alloc_fail_at(1);
  assert_int_equal(pol_simulation_allow_later_end(simulation), POL_NO_MEMORY);
  alloc_fail_at(0);
  while (!pol_simulation_finished(simulation))
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
  assert_int_equal(pol_checkpoint_write(state_path, simulation), POL_OK);
  pol_simulation_free(&simulation);

  char message[200];
  pol_settings settings = pol_settings_default();
  settings.options.method = "geom1";
  settings.options.order = 2;
  settings.end = 0.02;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(
      pol_checkpoint_read(state_path, (double)INFINITY, simulation, message, sizeof message),
      POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, "no state before them was kept"));
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  remove(state_path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(no_memory_for_a_later_end),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
