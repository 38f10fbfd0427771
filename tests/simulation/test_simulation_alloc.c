/* Memory of a simulation, its record and its result file: every allocation made to fail once gives
 * POL_NO_MEMORY and leaves nothing behind; steps, rows and lines allocate nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/model.h>
#include <polhode/result.h>

#include "heavy_top.h"

/* --- the allocator between the library and C -------------------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static long num_allocations; /* so far */
static long failing;         /* the number of the one that fails, -1 for none */

static int fails_now(void)
{
  return num_allocations++ == failing;
}

void *__wrap_malloc(size_t size)
{
  return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
  return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
  return fails_now() ? NULL : __real_realloc(memory, size);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* The heavy top, and a wheel with a named marker on a hinge with a torsional spring, whose actuator
 * follows a state and a reaction by way of a variable. */
static pol_mechanism *top_and_wheel(void)
{
  static const double origin[3], upright[4] = {1.0, 0.0, 0.0, 0.0};
  pol_body body = heavy_top_body(), wheel = body;
  pol_mechanism *mechanism;
  pol_joint_axis axis = pol_joint_axis_default();
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE, .axes = &axis};
  pol_force spring = {.name = "spring",
                      .type = POL_JOINT_SPRING,
                      .joint = 1,
                      .stiffness = {9.0},
                      .expressions = {"pull"}};
  pol_variable pull = {.name = "pull", .expression = "lag - 0.1*abs(hinge.force.z)*hinge.rate"};
  pol_state_variable lag = {
      .name = "lag", .initial = 0.5, .rate = "(top.position.x - lag)/0.1", .unit = "m"};
  axis.limits.max = 0.2;
  axis.limits.restitution = 0.5;
  axis.friction.coefficient = 0.1;
  axis.friction.radius = 0.05;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  wheel.name = "wheel";
  wheel.given = 0;
  assert_int_equal(pol_mechanism_add_body(mechanism, &wheel, NULL), POL_OK);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pol_mechanism_add_marker_at(mechanism, i ? "hub" : "", i ? 1 : POL_GROUND,
                                                 origin, upright, &hinge.marker[i]),
                     POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &hinge, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_variable(mechanism, &pull, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_state(mechanism, &lag, NULL), POL_OK);
  return mechanism;
}

/* The heavy top on its tip and on a hinge, which makes constraints redundant that share reactions,
 * and it keeps its rotation. */
static pol_mechanism *redundant_top(void)
{
  static const double tip[3] = {0.0, 0.0, 0.0}, along_y[4] = {0.5, -0.5, -0.5, -0.5};
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE};
  body.keep = 7 * POL_KEEP_ROTATION;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", i ? 0 : POL_GROUND, tip, along_y,
                                                 &hinge.marker[i]),
                     POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &hinge, NULL), POL_OK);
  return mechanism;
}

static pol_settings settings_for(int redundant)
{
  pol_settings settings = pol_settings_default();
  if (redundant) settings.options.redundant = POL_REDUNDANT_MINIMUM_NORM;
  return settings;
}

static const char path[] = "test_simulation_alloc.csv";

/* Simulates a few steps with a result file; frees everything. */
static pol_status simulate(const pol_mechanism *mechanism, int redundant)
{
  static const double times[] = {0.5e-3, 1.7e-3, 0.5};
  pol_settings settings = settings_for(redundant);
  static const pol_change changes[] = {{"wheel.angular_velocity.z", "2*hinge.rate + pull"},
                                       {"lag", "lag + top.position.x"}};
  static const pol_event_rule rules[] = {
      {"turn", "t - 1.2e-3", 1, POL_EVENT_RESET, 2, changes},
      {"look", "wheel.angular_velocity.z - hinge.force.z", 0, POL_EVENT_RECORD, 0, NULL}};
  settings.output = (pol_output){.count = 3, .times = times};
  settings.num_events = redundant ? 0 : 2;
  settings.events = rules;
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  pol_writer *csv = NULL;
  pol_diagnostics diagnostics;
  pol_status status = pol_simulation_create(&simulation, mechanism, &settings, &diagnostics);
  if (status != POL_OK) {
    assert_null(simulation);
    assert_int_equal(diagnostics.status, status);
    assert_true(diagnostics.message[0] != '\0');
  }
  if (status == POL_OK && (status = pol_record_create(&record, simulation)) != POL_OK)
    assert_null(record);
  if (status == POL_OK &&
      (status = pol_writer_create(&csv, path, POL_CSV, record, NULL, 0)) != POL_OK)
    assert_null(csv);
  for (int n = 0; n < 3 && status == POL_OK; n++) {
    status = pol_simulation_step(simulation);
    if (status == POL_OK) status = pol_writer_write(csv);
  }
  pol_writer_close(&csv, "done", NULL);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return status;
}

static void every_failed_allocation_is_told(void **state)
{
  (void)state;
  for (int redundant = 0; redundant < 2; redundant++) {
    failing = -1;
    pol_mechanism *mechanism = redundant ? redundant_top() : top_and_wheel();
    num_allocations = 0;
    assert_int_equal(simulate(mechanism, redundant), POL_OK);
    long total = num_allocations;
    assert_true(total > 10);
    for (long i = 0; i < total; i++) {
      num_allocations = 0;
      failing = i;
      pol_status status = simulate(mechanism, redundant);
      failing = -1;
      if (status != POL_NO_MEMORY)
        fail_msg("allocation %ld of %ld gave status %d", i, total, status);
    }
    pol_mechanism_free(&mechanism);
  }
  remove(path);
}

static void stepping_and_writing_allocate_nothing(void **state)
{
  (void)state;
  for (int redundant = 0; redundant < 2; redundant++) {
    pol_settings settings = settings_for(redundant);
    pol_simulation *simulation;
    pol_record *record;
    pol_writer *csv;
    int dropped;
    failing = -1;
    pol_mechanism *mechanism = redundant ? redundant_top() : top_and_wheel();
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
    pol_simulation_dropped(simulation, &dropped);
    assert_int_equal(dropped, redundant ? 3 : 0);
    assert_int_equal(pol_record_create(&record, simulation), POL_OK);
    assert_int_equal(pol_writer_create(&csv, path, POL_CSV, record, NULL, 0), POL_OK);
    num_allocations = 0;
    while (!pol_simulation_finished(simulation)) {
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
      assert_int_equal(pol_writer_write(csv), POL_OK);
    }
    assert_int_equal(num_allocations, 0);
    assert_int_equal(pol_writer_close(&csv, "done", NULL), POL_OK);
    pol_record_free(&record);
    pol_simulation_free(&simulation);
    pol_mechanism_free(&mechanism);
  }
  remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failed_allocation_is_told),
      cmocka_unit_test(stepping_and_writing_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
