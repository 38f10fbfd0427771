/* What a failed step leaves behind: the last good state, all numbers finite, and a simulation that
 * does not go on.  Every way in which a step can fail, with fixed and variable steps and with
 * output at every step and between steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/result.h>

#include "simulation/simulate.h"

enum { ANY = 99, EITHER = 98 };

/* Models that end in a failure after t = 0.1 s; the settings stand for %s. */
static const struct {
  const char *what, *text;
  int status, variable; /* with fixed steps, with variable ones; ANY failure, EITHER that or none */
} cases[] = {
    {"a reset that is not finite",
     "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, "
     "1]}], \"events\": [{\"name\": \"e\", \"expression\": \"t - 0.333\", \"direction\": "
     "\"rising\", \"action\": \"reset\", \"set\": {\"a.velocity.x\": \"1/0\"}}], %s}",
     POL_NOT_FINITE, POL_NOT_FINITE},
    {"a reset whose energy is not finite",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"velocity\": [0, 1, "
     "0]}], \"events\": [{\"name\": \"e\", \"expression\": \"t - 0.333\", \"direction\": "
     "\"rising\", \"action\": \"reset\", \"set\": {\"a.velocity.x\": \"1e200\"}}], %s}",
     POL_NOT_FINITE, POL_NOT_FINITE},
    {"a force that is not finite",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"forces\": "
     "[{\"name\": \"f\", \"type\": \"force\", \"body\": \"a\", \"force\": [\"sqrt(0.505 - t)\", 0, "
     "0]}], %s}",
     POL_RETRY, ANY},
    {"a state that grows beyond all bounds",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"states\": "
     "[{\"name\": \"c\", \"initial\": 1, \"rate\": \"c^3\"}], \"forces\": [{\"name\": \"f\", "
     "\"type\": \"force\", \"body\": \"a\", \"force\": [\"c\", 0, 0]}], %s}",
     ANY, ANY},
    {"turns that cannot be followed",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1]}], \"joints\": "
     "[{\"name\": \"left\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], \"point\": "
     "[0, 0, 0], \"axis\": [0, 0, 1]}], \"forces\": [{\"name\": \"push\", \"type\": \"torque\", "
     "\"body\": \"a\", \"torque\": [0, 0, 40]}, {\"name\": \"coil\", \"type\": \"joint-spring\", "
     "\"joint\": \"left\", \"stiffness\": 1e-9}], %s}",
     POL_RETRY, EITHER},
    {"a dropped constraint that was needed",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1]}], \"joints\": "
     "[{\"name\": \"left\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], \"point\": "
     "[0, 0, 0], \"axis\": [0, 0, 1]}, {\"name\": \"right\", \"type\": \"revolute\", \"bodies\": "
     "[\"ground\", \"a\"], \"point\": [0, 0, 1], \"axis\": [0, 0, 1]}], \"drives\": [{\"name\": "
     "\"turn\", \"joint\": \"left\", \"coordinate\": \"rotation\", \"function\": {\"type\": "
     "\"constant\", \"value\": 0}}, {\"name\": \"other\", \"joint\": \"right\", \"coordinate\": "
     "\"rotation\", \"function\": {\"type\": \"step\", \"to\": 0.3, \"t0\": 0.5, \"t1\": 0.9}}], "
     "%s}",
     POL_INCONSISTENT, ANY},
    {"resets that accumulate",
     "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, "
     "1], \"position\": [0, 0, 0.2]}], \"events\": [{\"name\": \"bounce\", \"expression\": "
     "\"a.position.z\", \"direction\": \"falling\", \"action\": \"reset\", \"set\": "
     "{\"a.velocity.z\": \"-0.3*a.velocity.z\"}}], %s}",
     POL_ACCUMULATING, POL_ACCUMULATING},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

static const char *const settings[] = {
    "\"simulation\": {\"step\": 0.02, \"end\": 3}",
    "\"simulation\": {\"step\": 0.02, \"end\": 3, \"output\": {\"step\": 0.037}}",
    "\"simulation\": {\"step\": 0.02, \"end\": 3, \"method\": \"hht\"}",
    "\"simulation\": {\"rtol\": 1e-5, \"atol\": 1e-5, \"end\": 3, \"control\": {\"max_step\": "
    "0.05}}",
    "\"simulation\": {\"rtol\": 1e-5, \"atol\": 1e-5, \"end\": 3, \"control\": {\"max_step\": "
    "0.05}, \"output\": {\"step\": 0.037}}",
};
enum { NUM_SETTINGS = sizeof settings / sizeof settings[0] };

static void read_case(const char *text, const char *with, pol_model **model)
{
  char all[4096];
  snprintf(all, sizeof all, text, with);
  *model = read_model_text(all);
}

/* Every later call must return the same and change nothing. */
static void check_stays(pol_simulation *simulation, const pol_record *record, pol_status status,
                        const char *what)
{
  const int count = pol_record_count(record);
  const size_t size = (size_t)count * sizeof(double);
  double *row = malloc(size), *again = malloc(size);
  pol_record_row(record, row);
  for (int i = 0; i < count; i++)
    if (!isfinite(row[i]))
      fail_msg("%s: %s is %g", what, pol_record_channel(record, i)->name, row[i]);
  const pol_diagnostics d = *pol_simulation_diagnostics(simulation);
  const pol_summary summary = *pol_simulation_summary(simulation);
  assert_int_equal(d.status, status);
  for (int k = 0; k < 20; k++) {
    assert_false(pol_simulation_finished(simulation));
    assert_int_equal(pol_simulation_step(simulation), status);
    pol_record_row(record, again);
    assert_memory_equal(row, again, size);
    assert_memory_equal(&d, pol_simulation_diagnostics(simulation), sizeof d);
    assert_memory_equal(&summary, pol_simulation_summary(simulation), sizeof summary);
  }
  free(row);
  free(again);
}

/* A failed step leaves the row of the last step, bit by bit, if each step is recorded and no event
 * lies between. */
static void a_failure_leaves_the_last_good_state(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_CASES; k++)
    for (int s = 0; s < NUM_SETTINGS; s++) {
      pol_model *model;
      read_case(cases[k].text, settings[s], &model);
      pol_simulation *simulation = start(model);
      pol_record *record;
      assert_int_equal(pol_record_create(&record, simulation), POL_OK);
      const size_t size = (size_t)pol_record_count(record) * sizeof(double);
      double *before = malloc(size), *after = malloc(size);
      pol_record_row(record, before);
      pol_status status = POL_OK;
      while (status == POL_OK && !pol_simulation_finished(simulation)) {
        status = pol_simulation_step(simulation);
        if (status == POL_OK) pol_record_row(record, before);
      }
      pol_record_row(record, after);
      const int fixed = s < 3, expected = fixed ? cases[k].status : cases[k].variable;
      if (expected == ANY ? status == POL_OK : expected != EITHER && (int)status != expected)
        fail_msg("%s, settings %d: status %d, not %d, at t = %g: %s", cases[k].what, s, (int)status,
                 expected, after[0], pol_simulation_diagnostics(simulation)->message);
      if (status != POL_OK) {
        assert_true(after[0] > 0.1);
        /* an event that fails shows the state it starts from; else the last step is what it was */
        if (model->settings.num_events > 0)
          assert_true(after[0] <= pol_simulation_diagnostics(simulation)->t);
        else if (s == 0 || s == 2 || s == 3)
          assert_memory_equal(before, after, size);
        assert_true(after[0] >= before[0]);
        check_stays(simulation, record, status, cases[k].what);
      }
      free(before);
      free(after);
      pol_record_free(&record);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* A reset that fails leaves what the reset would have changed: the same as an event that only
 * records, bit by bit. */
static void a_failed_reset_leaves_the_state_before_it(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int s = 0; s < NUM_SETTINGS; s++) {
      pol_model *model;
      double *rows[2];
      size_t size = 0;
      for (int recorded = 0; recorded < 2; recorded++) {
        read_case(cases[k].text, settings[s], &model);
        if (recorded) model->events[0].action = POL_EVENT_RECORD;
        pol_simulation *simulation = start(model);
        pol_record *record;
        assert_int_equal(pol_record_create(&record, simulation), POL_OK);
        size = (size_t)pol_record_count(record) * sizeof(double);
        rows[recorded] = malloc(size);
        while (pol_simulation_step(simulation) == POL_OK &&
               pol_simulation_event_index(simulation) < 0)
          ;
        pol_record_row(record, rows[recorded]);
        pol_record_free(&record);
        pol_simulation_free(&simulation);
        pol_model_free(&model);
      }
      assert_near(rows[0], &(double){0.333}, 1, 1e-12);
      assert_memory_equal(rows[0], rows[1], size);
      free(rows[0]);
      free(rows[1]);
    }
}

/* A result that cannot be written is no failure of the simulation, and fails again. */
static void a_failed_write_changes_no_state(void **state)
{
  (void)state;
  pol_model *model = read_model(POLHODE_SOURCE_DIR "/models/examples/pendulum.json");
  pol_simulation *simulation = start(model);
  pol_record *record;
  pol_writer *csv = NULL;
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  const size_t size = (size_t)pol_record_count(record) * sizeof(double);
  double *before = malloc(size), *after = malloc(size);
  pol_record_row(record, before);
  pol_status status = pol_writer_create(&csv, "/dev/full", POL_CSV, record, NULL, 0);
  while (status == POL_OK && !pol_simulation_finished(simulation)) {
    take_step(simulation);
    pol_record_row(record, before);
    status = pol_writer_write(csv);
  }
  assert_int_equal(status, POL_IO);
  pol_record_row(record, after);
  assert_memory_equal(before, after, size);
  if (csv != NULL) assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_IO);
  take_step(simulation); /* its own affairs are in order */
  free(before);
  free(after);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failure_leaves_the_last_good_state),
      cmocka_unit_test(a_failed_reset_leaves_the_state_before_it),
      cmocka_unit_test(a_failed_write_changes_no_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
