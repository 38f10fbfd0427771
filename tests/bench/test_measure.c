/* The search of the benchmarks for the setting that reaches an accuracy, on errors that are known.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include "bench/measure.h"

/* error = size * effort^-order, but not below the floor; fails below an effort; 1 us per step, or
 * per square root of 1/tolerance. */
typedef struct law {
  double size, order, floor, least_effort;
  int variable;
} law;

static int run_law(void *data, bench_point *point)
{
  const law *l = data;
  point->seconds = 1e-6 * (l->variable ? sqrt(point->effort) : point->effort);
  if (point->effort < l->least_effort) return -1;
  point->error = fmax(l->floor, l->size * pow(point->effort, -l->order));
  return 0;
}

static bench_entry reach(law *l, double first, double target, double budget)
{
  static bench_contender who;
  bench_entry entry;
  who = (bench_contender){.variable = l->variable, .first = first, .run = run_law, .data = l};
  bench_ladder(&who, target, budget);
  bench_reach(&who, target, &entry);
  return entry;
}

static void least_number_of_steps_is_found(void **state)
{
  (void)state;
  for (int order = 1; order <= 8; order++) {
    law l = {.size = 7.0, .order = order};
    bench_entry e = reach(&l, 3.0, 1e-4, 1e3);
    assert_int_equal(e.status, BENCH_MEASURED);
    assert_true(e.at.error <= 1e-4);
    assert_true(e.at.effort <= 1.02 * ceil(pow(7e4, 1.0 / order)) + 1.0);
  }
}

static void tolerance_is_found(void **state)
{
  (void)state;
  law l = {.size = 2.0, .order = 0.7, .variable = 1};
  bench_entry e = reach(&l, 1e2, 1e-6, 1e3);
  assert_int_equal(e.status, BENCH_MEASURED);
  assert_true(e.at.error <= 1e-6 && e.at.error > 0.9e-6);
}

/* Too large steps fail; the first that runs may be more accurate than asked. */
static void failing_runs_are_passed(void **state)
{
  (void)state;
  law l = {.size = 1.0, .order = 8.0, .least_effort = 20.0};
  bench_entry e = reach(&l, 4.0, 1e-3, 1e3);
  assert_int_equal(e.status, BENCH_MEASURED);
  assert_true(fabs(e.at.effort - 32.0) <= 0.0);
}

/* An error that passes through zero at a large step and is large again at smaller ones. */
static int run_crossing(void *data, bench_point *point)
{
  (void)data;
  point->seconds = 1e-6 * point->effort;
  point->error = fabs(50.0 / point->effort - 0.5) * (point->effort < 250.0) + 40.0 / point->effort;
  if (point->effort < 110.0) point->error = 1e-4;
  return 0;
}

static void accident_is_no_accuracy(void **state)
{
  (void)state;
  bench_contender who = {.first = 100.0, .run = run_crossing};
  bench_entry entry;
  bench_ladder(&who, 1e-6, 1e-2);
  bench_reach(&who, 1e-2, &entry);
  assert_int_equal(entry.status, BENCH_MEASURED);
  assert_true(entry.at.effort >= 4000.0);
}

static void time_beyond_the_budget_is_extrapolated(void **state)
{
  (void)state;
  law l = {.size = 1.0, .order = 2.0};
  bench_entry e = reach(&l, 10.0, 1e-11, 0.01);
  assert_int_equal(e.status, BENCH_EXTRAPOLATED);
  assert_true(fabs(e.at.seconds - 1e-6 * sqrt(1e11)) <= 1e-4);
}

static void round_off_is_no_accuracy(void **state)
{
  (void)state;
  law l = {.size = 1.0, .order = 4.0, .floor = 1e-10};
  bench_entry e = reach(&l, 10.0, 1e-11, 10.0);
  assert_int_equal(e.status, BENCH_MISSED);
  assert_true(fabs(e.at.error - 1e-10) <= 1e-14);
}

static void median_counts(void **state)
{
  (void)state;
  bench_entry e = {.num_times = 5, .times = {5.0, 1.0, 90.0, 2.0, 3.0}};
  bench_median(&e);
  assert_true(fabs(e.median - 3.0) <= 0.0);
  assert_true(fabs(e.least - 1.0) <= 0.0);
  assert_true(fabs(e.largest - 90.0) <= 0.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(least_number_of_steps_is_found),
      cmocka_unit_test(tolerance_is_found),
      cmocka_unit_test(failing_runs_are_passed),
      cmocka_unit_test(accident_is_no_accuracy),
      cmocka_unit_test(time_beyond_the_budget_is_extrapolated),
      cmocka_unit_test(round_off_is_no_accuracy),
      cmocka_unit_test(median_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
