/* polhode mesh: its files are those of a flexible body; invalid options. */
#define _XOPEN_SOURCE 700
#include "cli_test.h"

static void files_make_a_body(void **state)
{
  (void)state;
  expect("polhode mesh block --size 0.4,0.02,0.01 --elements 8,1,1 --young 7e10 --density 2700 "
         "--out bar --json",
         0);
  expect_text(out, "\"nodes\": 36");
  expect_text(out, "\"stiffness_matrix\": \"bar_stiffness.mtx\"");
  write_text(
      "bar.json",
      "{\"flexible_bodies\": [{\"name\": \"bar\", \"mass_matrix\": \"bar_mass.mtx\", "
      "\"stiffness_matrix\": \"bar_stiffness.mtx\", \"nodes\": \"bar_nodes.csv\", \"modes\": 2, "
      "\"interfaces\": [{\"name\": \"left\", \"box\": [[0, -1, -1], [0, 1, 1]]}]}], "
      "\"simulation\": "
      "{\"step\": 0.001, \"end\": 0.01}}");
  expect("polhode check bar.json", 0);
  expect_text(out, "bar, 0.216 kg, from 108 freedoms to 2 modes");
  expect_text(out, "(0.2, ");
}

static void invalid_options_are_refused(void **state)
{
  (void)state;
  expect("polhode mesh wedge --out bar", 2);
  expect_text(err, "must be beam, plate or block");
  expect("polhode mesh beam --size 1,0.1,0.1 --elements 3 --young 1e9 --density 1000", 2);
  expect_text(err, "--out: is required");
  expect("polhode mesh beam --size 1,0.1 --elements x --density 1000 --out bar", 2);
  expect_text(err, "--size = 1,0.1: must be 3 numbers");
  expect_text(err, "--elements = x: must be one whole number");
  expect_text(err, "--young");
  expect_text(err, "3 errors");
  expect(
      "polhode mesh plate --size 1,1,0.1 --elements 3,3 --young 1e9 --density 1000 --poisson 0.5 "
      "--out bar",
      2);
  expect_text(err, "below 0.5");
  expect("polhode mesh beam --size 1,0.1,0.1 --elements 3 --young 1e9 --density 1000 --out no/bar",
         2);
  expect_text(err, "no/bar_mass.mtx");
  expect("polhode mesh beam --size 1,1,.1 --elements 3,2 --young 1e9 --density 1000 --out bar", 2);
  expect_text(err, "--size = 1,1,.1: must be 3 numbers, such as 1,0.02,0.01 (0.1, not .1)");
  expect_text(err, "--elements = 3,2: must be one whole number");
  expect("polhode mesh plate --size 1,1,0.1 --elements x --young 1e9 --density 1000 --out bar", 2);
  expect_text(err, "--elements = x: must be 1 to 3 whole numbers");
  expect("polhode mesh beam --size 1e-300,1,0.1 --elements 3 --young 1e9 --density 1000 --out bar",
         2);
  expect_text(err, "finite masses and stiffnesses");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_make_a_body),
                                     cmocka_unit_test(invalid_options_are_refused)};
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
