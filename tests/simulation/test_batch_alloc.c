/* Batches: every allocation made to fail once, and none in steps and resets. */
#include <polhode/polhode.h>

#include "failing_alloc.h"
#include "heavy_top.h"

typedef struct job {
  pol_mechanism *mechanism;
  const char *method;
  int threads, count;
} job;

static pol_status run(void *user)
{
  const job *work = user;
  pol_batch *batch;
  pol_batch_settings s = pol_batch_settings_default();
  s.count = work->count;
  s.threads = work->threads;
  s.simulation.options.method = work->method;
  s.simulation.options.order = 2;
  s.simulation.options.solver = POL_SOLVER_DENSE;
  pol_status status = pol_batch_create(&batch, work->mechanism, &s, NULL);
  assert_int_equal(batch == NULL, status != POL_OK);
  const long before = alloc_count();
  if (!status) status = pol_batch_step(batch, 1);
  if (!status) status = pol_batch_step(batch, 7);
  if (!status) status = pol_batch_reset(batch, NULL, NULL, NULL);
  if (!status) status = pol_batch_step(batch, 3);
  if (!status) assert_int_equal(alloc_count(), before);
  pol_batch_free(&batch);
  return status;
}

static void nothing_is_lost_and_steps_allocate_nothing(void **state)
{
  static const char *const methods[] = {"geom1", "rattle"};
  const pol_body body = heavy_top_body();
  job work = {0};
  (void)state;
  assert_int_equal(heavy_top_create(&work.mechanism, &body), POL_OK);
  for (int k = 0; k < 2; k++) {
    work.method = methods[k];
    work.threads = 2; /* with threads only steps are watched: creating them in turn is not fixed */
    work.count = 8;
    alloc_fail_at(0);
    assert_int_equal(run(&work), POL_OK);
    work.threads = 1;
    work.count = 2;
    assert_in_range(alloc_exhaust(run, &work), 20, 1000);
  }
  pol_mechanism_free(&work.mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_lost_and_steps_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
