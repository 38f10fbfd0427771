/* polhode methods: the lists of integrators, formulations and settings. */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

static void methods_are_listed(void **state)
{
  (void)state;
  expect("polhode methods", 0);
  expect_text(out, "geom1");
  expect_text(out, "\n  so3xr3 ");
  expect_text(out, "\n  tait-bryan ");
  expect_text(out, "\nindex\n  3 ");
  expect_text(out, "\n  optimal ");
  expect_text(out, "\n  perturbed ");
  expect("polhode methods --json", 0);
  json_t *object = parse_output();
  expect_word(json_array_get(at(object, "methods"), 0), "name", "geom1");
  expect_word(json_array_get(at(object, "formulations"), 0), "name", "so3xr3");
  assert_true(json_string_length(at(json_array_get(at(object, "formulations"), 7), "title")) > 0);
  expect_word(json_array_get(at(object, "index"), 2), "name", "stabilized-2");
  expect_word(json_array_get(at(object, "sigma"), 2), "name", "optimal");
  expect_word(json_array_get(at(object, "start"), 3), "name", "perturbed");
  json_decref(object);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(methods_are_listed),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
