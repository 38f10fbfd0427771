/* Memory of a study: every allocation made to fail once gives POL_NO_MEMORY and leaves nothing
 * behind, with a reference run and with a result as reference.
 */
#include "failing_alloc.h"

#include <stdio.h>

#include <polhode/model.h>
#include <polhode/result.h>

#include "simulation/heavy_top.h"

static const char path[] = "test_convergence_alloc.csv";

/* A study of three short runs; from_file: the reference is the file. */
typedef struct attempt {
  const pol_mechanism *mechanism;
  int from_file;
} attempt;

static pol_settings settings_with(double step)
{
  pol_settings settings = pol_settings_default();
  settings.step = step;
  settings.end = 4e-3;
  return settings;
}

static pol_status run_study(void *user)
{
  const attempt *a = user;
  const pol_settings fine = settings_with(2.5e-4);
  pol_case cases[3] = {{.settings = settings_with(2e-3)},
                       {.settings = settings_with(1e-3)},
                       {.settings = settings_with(1e-3)}};
  pol_study study = pol_study_default();
  pol_result *result = NULL;
  pol_trajectory *trajectory = NULL;
  pol_status status = POL_OK;
  cases[2].settings.variable = 1;
  study.mechanism = a->mechanism;
  study.cases = cases;
  study.num_cases = 3;
  study.repeats = 1;
  if (a->from_file) {
    status = pol_result_open(&result, path, NULL, 0);
    if (status == POL_OK) status = pol_result_trajectory(result, &trajectory, NULL, 0);
    study.reference = trajectory;
  } else {
    study.reference_run = &fine;
  }
  if (status == POL_OK) status = pol_study_run(&study, NULL);
  if (status == POL_OK)
    for (int i = 0; i < 3; i++) assert_int_equal(cases[i].status, POL_OK);
  pol_trajectory_free(&trajectory);
  pol_result_close(&result);
  return status;
}

static void write_reference(const pol_mechanism *mechanism)
{
  const pol_settings fine = settings_with(2.5e-4);
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *csv;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &fine, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_int_equal(pol_writer_create(&csv, path, POL_CSV, record, NULL, 0), POL_OK);
  assert_int_equal(pol_writer_write(csv), POL_OK);
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    assert_int_equal(pol_writer_write(csv), POL_OK);
  }
  assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_OK);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
}

static void every_failed_allocation_is_told(void **state)
{
  (void)state;
  const pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  write_reference(mechanism);
  for (int from_file = 0; from_file < 2; from_file++) {
    attempt a = {mechanism, from_file};
    assert_true(alloc_exhaust(run_study, &a) > 50);
  }
  pol_mechanism_free(&mechanism);
  remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failed_allocation_is_told),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
