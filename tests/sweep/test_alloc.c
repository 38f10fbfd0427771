/* Studies with every allocation of polhode and Jansson made to fail once: POL_NO_MEMORY, nothing
 * left behind, and a journal that is still good. */
#include "../failing_alloc.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <polhode/sweep.h>

static const char model[] =
    "{ \"bodies\": [ {\"name\": \"ball\", \"mass\": 1, \"inertia\": [1, 1, 1]} ],\n"
    "  \"simulation\": {\"method\": \"geom1\", \"step\": 0.1, \"end\": 0.3} }\n";
static const char study[] =
    "{\"model\": \"m\", \"sample\": \"latin-hypercube\", \"count\": 2, \"set\": "
    "{\"simulation.end\": 0.2}, \"vary\": {\"bodies.ball.mass\": {\"from\": 1, \"to\": 2}, "
    "\"simulation.method\": {\"values\": [\"geom1\", \"hht\"]}}, \"responses\": [{\"name\": \"e\", "
    "\"signal\": \"energy.total\"}], \"signals\": [\"ball.position\"]}";

static void *allocate_json(size_t size)
{
  if (alloc_state.fail_at > 0 && alloc_state.count >= alloc_state.fail_at) return NULL;
  return __wrap_malloc(size);
}

static pol_status read(pol_sweep **sweep)
{
  pol_errors errors = {0};
  const pol_status status = pol_sweep_read_text(sweep, study, model, &errors);
  if (status == POL_NO_MEMORY) assert_int_equal(errors.count, 0);
  pol_errors_clear(&errors);
  return status;
}

static pol_status read_study(void *user)
{
  (void)user;
  pol_sweep *sweep;
  const pol_status status = read(&sweep);
  pol_sweep_free(&sweep);
  return status;
}

static pol_status run_once(void *user)
{
  void *bytes;
  size_t size;
  const pol_status status = pol_sweep_run(user, 0, NULL, &bytes, &size);
  assert_true((status == POL_OK) == (bytes != NULL));
  free(bytes);
  return status;
}

/* What two runs and a table have. */
typedef struct stored {
  pol_sweep *sweep;
  void *bytes[2];
  size_t size[2];
} stored;

static pol_status keep_runs(void *user)
{
  stored *s = user;
  char message[300];
  pol_sweep_store *store;
  remove("alloc.h5");
  remove("alloc.h5.journal");
  pol_status status =
      pol_sweep_store_open(&store, s->sweep, "alloc.h5", 0, message, sizeof message);
  for (int i = 1; i >= 0 && status == POL_OK; i--)
    status = pol_sweep_store_add(store, i, s->bytes[i], s->size[i]);
  const pol_status closed = pol_sweep_store_close(&store);
  return status == POL_OK ? closed : status;
}

static pol_status read_table(void *user)
{
  (void)user;
  pol_sweep_table *table;
  const pol_status status = pol_sweep_table_read(&table, "alloc.h5", NULL, 0);
  if (status == POL_OK) assert_int_equal(table->finished, 2);
  pol_sweep_table_free(&table);
  return status;
}

static void reading_a_study(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(read_study, NULL) > 100);
}

static void runs_and_their_file(void **state)
{
  (void)state;
  stored s;
  assert_int_equal(read(&s.sweep), POL_OK);
  assert_true(alloc_exhaust(run_once, s.sweep) > 50);
  for (long i = 0; i < 2; i++)
    assert_int_equal(pol_sweep_run(s.sweep, i, NULL, &s.bytes[i], &s.size[i]), POL_OK);
  assert_true(alloc_exhaust(keep_runs, &s) > 10);
  assert_true(alloc_exhaust(read_table, NULL) > 20);
  for (int i = 0; i < 2; i++) free(s.bytes[i]);
  pol_sweep_free(&s.sweep);
  remove("alloc.h5");
}

static int install(void **state)
{
  alloc_install(state);
  json_set_alloc_funcs(allocate_json, __wrap_free);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(reading_a_study),
                                     cmocka_unit_test(runs_and_their_file)};
  return cmocka_run_group_tests(tests, install, NULL);
}
