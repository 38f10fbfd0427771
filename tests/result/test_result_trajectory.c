/* Results as trajectories: names, times and values, and what has no time. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <polhode/polhode.h>
#include <polhode/result.h>

static const char path[] = "test_result_trajectory.csv";

static pol_status read(const char *text, pol_trajectory **trajectory, char *message, size_t size)
{
  pol_result *result;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(pol_result_open(&result, path, NULL, 0), POL_OK);
  const pol_status status = pol_result_trajectory(result, trajectory, message, size);
  pol_result_close(&result);
  remove(path);
  return status;
}

static void all_channels_but_time(void **state)
{
  (void)state;
  pol_trajectory *trajectory;
  assert_int_equal(read("a,t,b\n1,0,2\n3,0.5,4\n", &trajectory, NULL, 0), POL_OK);
  assert_int_equal(pol_trajectory_rows(trajectory), 2);
  assert_int_equal(pol_trajectory_count(trajectory), 2);
  assert_string_equal(pol_trajectory_name(trajectory, 0), "a");
  assert_string_equal(pol_trajectory_name(trajectory, 1), "b");
  assert_near(pol_trajectory_times(trajectory), ((double[]){0.0, 0.5}), 2, 0.0);
  assert_near(pol_trajectory_series(trajectory, 0), ((double[]){1.0, 3.0}), 2, 0.0);
  assert_near(pol_trajectory_series(trajectory, 1), ((double[]){2.0, 4.0}), 2, 0.0);
  pol_trajectory_free(&trajectory);
}

static void what_has_no_time_is_refused(void **state)
{
  (void)state;
  pol_trajectory *trajectory;
  char message[80];
  assert_int_equal(read("a,b\n1,0\n", &trajectory, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, "it has no time t");
  assert_null(trajectory);
  assert_int_equal(read("t,b\n", &trajectory, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, "it has no rows");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_channels_but_time),
      cmocka_unit_test(what_has_no_time_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
