/* Parameters on the command line, in checks and in results; standard input and output. */
#define _XOPEN_SOURCE 700
#include "cli/cli_test.h"

static const char model[] =
    "{\"parameters\": {\"n\": 2, \"L\": {\"value\": 0.5, \"unit\": \"m\", \"description\": \"of a "
    "rod\"}},\n\"bodies\": [{\"repeat\": {\"i\": \"n\"}, \"name\": \"rod{i}\", \"density\": 1000, "
    "\"position\": [\"i*L\", 0, 0], \"shapes\": [{\"type\": \"box\", \"size\": [\"L\", 0.1, 0.1], "
    "\"position\": [0.1, 0, 0]}]}],\n\"simulation\": {\"step\": 0.01, \"end\": 0.1}}";

static void check_prints_values_and_inertias(void **state)
{
  (void)state;
  write_text("m.json", model);
  expect("polhode check m.json --param L=0.2", 0);
  expect_text(out, "\nparameter       n = 2\n");
  expect_text(out, "\nparameter       L = 0.2 m, of a rod\n");
  expect_text(out, "\nbody            rod1, 2 kg\n  shapes        volume 0.002 m^3\n");
  expect_text(out, "\n  inertia       (0.003333333333, 0.008333333333, 0.008333333333) kg m^2\n");
  expect_text(out, "\n  centre        (0.1, 0, 0) m from the origin in the file\n");
  expect("polhode check m.json --param L=0.2 --json", 0);
  json_t *object = parse_output();
  assert_true(number_at(object, "parameters.L") == 0.2);
  json_t *body = json_array_get(at(object, "bodies"), 0);
  assert_true(number_at(body, "from_shapes.volume") == 0.2 * 0.1 * 0.1);
  assert_int_equal(json_array_size(at(body, "inertia")), 9);
  json_decref(object);
}

static void wrong_parameters_are_refused(void **state)
{
  (void)state;
  write_text("m.json", model);
  expect("polhode run m.json --param LL=1", 2);
  expect_text(err, "m.json: --param LL=1: must name a parameter of the model");
  expect("polhode run m.json --param L", 2);
  expect_text(err, "--param = L: must have the form NAME=VALUE");
  expect("polhode run m.json --param L=1 --param L=2", 2);
  expect_text(err, "contradicts");
  expect("polhode run m.json --param L=-1", 2);
  expect_text(err, "m.json:2: bodies[0].shapes[0].size[0] (body 'rod0') = -1, from ");
  /* one mistake in two copies, and in many */
  expect_text(err, " (also in 1 other copy)\n1 error\n");
  expect("polhode run m.json --param L=-1 --param n=300", 2);
  expect_text(
      err, " (also in 199 other copies)\n... and 100 more, of which --json has all\n300 errors\n");
  expect("polhode run m.json --param L=-1 --json", 2);
  json_t *object = parse_output();
  expect_length(object, "errors", 2);
  json_t *error = json_array_get(at(object, "errors"), 0);
  assert_int_equal(json_integer_value(at(error, "line")), 2);
  assert_string_equal(json_string_value(at(error, "element")), "body 'rod0'");
  assert_string_equal(json_string_value(at(error, "file")), "m.json");
  json_decref(object);
}

static void results_have_the_values(void **state)
{
  (void)state;
  static const char *const files[] = {"r.h5", "r.csv"};
  write_text("m.json", model);
  for (int i = 0; i < 2; i++) {
    char command[200];
    snprintf(command, sizeof command, "polhode run m.json --param L=2/5 --out %s -q", files[i]);
    expect(command, 0);
    snprintf(command, sizeof command, "polhode info %s", files[i]);
    expect(command, 0);
    expect_text(out, i == 0 ? "\nparameter       n = 2\nparameter       L = 0.4 m\n"
                            : "\nparameter       n = 2\nparameter       L = 0.4\n");
    snprintf(command, sizeof command, "polhode info %s --json", files[i]);
    expect(command, 0);
    json_t *object = parse_output();
    assert_true(number_at(object, "parameters.L") == 0.4);
    json_decref(object);
  }
  /* the model of the result is read again with the value of the run */
  expect("polhode view r.h5 --out r.html", 0);
  expect("polhode run m.json --json", 0);
  json_t *object = parse_output();
  assert_true(number_at(object, "parameters.L") == 0.5);
  json_decref(object);
}

static void standard_input_and_output(void **state)
{
  (void)state;
  write_text("m.json", model);
  assert_int_equal(run_shell(POLHODE_BINARY " check - -q < m.json"), 0);
  assert_int_equal(run_shell("cat m.json | " POLHODE_BINARY " run - --out -"), 0);
  expect_text(out, "# polhode ");
  expect_text(out, "\n# parameters: {\"n\": 2.0, \"L\": 0.5}\n");
  expect_text(out, "\n0.1");
  assert_null(strstr(out, "model  "));
  assert_int_not_equal(access("-", F_OK), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(check_prints_values_and_inertias),
      cmocka_unit_test(wrong_parameters_are_refused),
      cmocka_unit_test(results_have_the_values),
      cmocka_unit_test(standard_input_and_output),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
