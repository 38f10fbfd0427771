/* Study files: how values are sampled, what responses are, and which errors are reported where. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/model.h>
#include <polhode/sweep.h>

#include "io/sweep/parts.h"

/* A ball that falls freely: z = h - g t^2/2. */
static const char model[] =
    "{ \"parameters\": {\"h\": {\"value\": 2, \"unit\": \"m\"}}, \"gravity\": [0, 0, -10],\n"
    "  \"bodies\": [ {\"name\": \"ball\", \"mass\": 1, \"inertia\": [1, 1, 1],\n"
    "    \"position\": [0, 0, \"h\"] } ],\n"
    "  \"simulation\": {\"method\": \"geom1\", \"step\": 0.01, \"end\": 1} }\n";

static pol_sweep *read(const char *study)
{
  pol_sweep *sweep;
  pol_errors errors = {0};
  const pol_status status = pol_sweep_read_text(&sweep, study, model, &errors);
  char text[500] = "";
  if (errors.count > 0) pol_error_text(&errors.items[0], text, sizeof text);
  if (status != POL_OK) fail_msg("%s: %s", pol_status_text(status), text);
  return sweep;
}

static void a_grid_has_all_combinations(void **state)
{
  (void)state;
  pol_sweep *sweep =
      read("{\"model\": \"m\", \"vary\": {\"h\": {\"from\": 1, \"to\": 100, \"count\": 3, "
           "\"scale\": \"log\"}, \"simulation.method\": {\"values\": [\"geom1\", \"hht\"]}}}");
  static const double heights[] = {1, 1, 10, 10, 100, 100};
  char text[32];
  assert_int_equal(pol_sweep_count(sweep), 6);
  assert_int_equal(pol_sweep_num_keys(sweep), 2);
  assert_string_equal(pol_sweep_get_key(sweep, 0)->path, "parameters.h");
  assert_string_equal(pol_sweep_get_key(sweep, 0)->unit, "m");
  assert_true(pol_sweep_get_key(sweep, 0)->is_log);
  assert_null(pol_sweep_get_key(sweep, 2));
  for (long i = 0; i < 6; i++) {
    assert_true(fabs(pol_sweep_number(sweep, i, 0) - heights[i]) < 1e-12 * heights[i]);
    assert_true(isnan(pol_sweep_number(sweep, i, 1)));
    pol_sweep_text(sweep, i, 1, text, sizeof text);
    assert_string_equal(text, i % 2 == 0 ? "\"geom1\"" : "\"hht\"");
  }
  pol_sweep_free(&sweep);
  assert_null(sweep);
}

static void a_list_goes_side_by_side(void **state)
{
  (void)state;
  pol_sweep *sweep = read("{\"model\": \"m\", \"sample\": \"list\", \"vary\": {\"h\": {\"values\": "
                          "[3, 4]}, \"bodies.ball.mass\": {\"values\": [5, 6]}}}");
  assert_int_equal(pol_sweep_count(sweep), 2);
  for (long i = 0; i < 2; i++) {
    assert_true(pol_sweep_number(sweep, i, 0) == 3.0 + (double)i);
    assert_true(pol_sweep_number(sweep, i, 1) == 5.0 + (double)i);
  }
  pol_sweep_free(&sweep);
}

/* One run in each stratum of each key, another sample for another seed, the same for the same; no
 * correlation beyond what 500 random pairs have. */
static void a_latin_hypercube_fills_all_strata(void **state)
{
  (void)state;
  enum { N = 500 };
  static const char format[] =
      "{\"model\": \"m\", \"sample\": \"latin-hypercube\", \"count\": 500, \"seed\": %d,"
      " \"vary\": {\"h\": {\"from\": 2, \"to\": 4}, \"bodies.ball.mass\": {\"from\": 0.01, \"to\": "
      "100, \"scale\": \"log\"}, \"gravity[2]\": {\"values\": [-1, -2, -3, -4]}}}";
  char text[400];
  pol_sweep *sweeps[3];
  for (int i = 0; i < 3; i++) {
    snprintf(text, sizeof text, format, i == 0 ? 7 : 8);
    sweeps[i] = read(text);
  }
  int hits[2][N] = {{0}}, values[4] = {0}, differ = 0;
  double product = 0.0;
  for (long i = 0; i < N; i++) {
    const double h = (pol_sweep_number(sweeps[0], i, 0) - 2.0) / 2.0;
    const double m = (log10(pol_sweep_number(sweeps[0], i, 1)) + 2.0) / 4.0;
    assert_true(h > 0.0 && h < 1.0 && m > 0.0 && m < 1.0);
    hits[0][(int)(h * N)]++;
    hits[1][(int)(m * N)]++;
    values[(int)-pol_sweep_number(sweeps[0], i, 2) - 1]++;
    product += (h - 0.5) * (m - 0.5) * 12.0 / N;
    for (int k = 0; k < 3; k++) {
      differ += pol_sweep_number(sweeps[0], i, k) != pol_sweep_number(sweeps[1], i, k);
      assert_true(pol_sweep_number(sweeps[1], i, k) == pol_sweep_number(sweeps[2], i, k));
    }
  }
  for (int i = 0; i < N; i++) assert_true(hits[0][i] == 1 && hits[1][i] == 1);
  for (int i = 0; i < 4; i++) assert_int_equal(values[i], N / 4);
  assert_true(differ > 2 * N);
  assert_true(fabs(product) < 4.0 / sqrt(N));
  assert_true(pol_sweep_identity(sweeps[0]) != pol_sweep_identity(sweeps[1]));
  assert_true(pol_sweep_identity(sweeps[1]) == pol_sweep_identity(sweeps[2]));
  for (int i = 0; i < 3; i++) pol_sweep_free(&sweeps[i]);
}

/* Free fall from 2 m: z goes from 2 to -3, its mean is 2 - 10/6, that of z^2 is 4 - 20/3 + 5, by
 * the trapezoidal rule with 100 steps. */
static void responses_are_those_of_a_free_fall(void **state)
{
  (void)state;
  static const char *const names[] = {"final", "initial", "min", "max",         "max-abs",
                                      "range", "mean",    "rms", "time-of-min", "time-of-max"};
  const double expected[] = {-3, 2, -3, 2, 3, 5, 2.0 - 10.0 / 6.0, sqrt(4.0 - 20.0 / 3.0 + 5.0),
                             1,  0};
  enum { COUNT = sizeof names / sizeof names[0] };
  char text[2000] = "{\"model\": \"m\", \"vary\": {\"h\": {\"values\": [2]}}, \"responses\": [";
  for (int i = 0; i < COUNT; i++) {
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used,
             "%s{\"name\": \"%s\", \"signal\": \"ball.position.z\", \"reduce\": \"%s\"}",
             i > 0 ? ", " : "", names[i], names[i]);
  }
  strcat(text, "], \"signals\": [\"ball.position.z\"], \"every\": 30}");
  pol_sweep *sweep = read(text);
  void *bytes;
  size_t size;
  poli_outcome_view view;
  assert_int_equal(pol_sweep_run(sweep, 1, NULL, &bytes, &size), POL_BAD_ARGUMENT);
  assert_int_equal(pol_sweep_run(sweep, 0, NULL, &bytes, &size), POL_OK);
  assert_true(poli_outcome_open(sweep, bytes, size, &view));
  assert_false(poli_outcome_open(sweep, bytes, size - 1, &view));
  assert_int_equal(view.head.end, POL_SWEEP_DONE);
  assert_int_equal(view.head.rows, 5); /* 0, 30, 60, 90 and the last */
  for (int i = 0; i < COUNT; i++) {
    double value;
    memcpy(&value, view.responses + (size_t)i * sizeof value, sizeof value);
    if (fabs(value - expected[i]) > 2e-4) fail_msg("%s is %.12g", names[i], value);
  }
  assert_string_equal(pol_sweep_get_response(sweep, 9)->unit, "s");
  assert_string_equal(pol_sweep_get_response(sweep, 0)->unit, "m");
  free(bytes);
  pol_sweep_free(&sweep);
}

/* A study and the errors that it must have, each with its JSON path. */
static void errors_name_their_place(void **state)
{
  (void)state;
  static const struct {
    const char *study;
    const char *errors[4];
  } cases[] = {
      {"{}", {"model: is required", "vary: is required"}},
      {"[1]", {"must be an object that describes a study"}},
      {"{\"model\": \"m\", \"vary\": {}}", {"vary: must be an object with a key"}},
      {"{\"model\": \"m\", \"vary\": {\"h\": {\"values\": [1]}}, \"respones\": []}",
       {"respones: is not a known key (responses)"}},
      {"{\"model\": \"m\", \"sample\": \"grit\", \"vary\": {\"h\": {\"values\": [1]}}}",
       {"sample: must be one of \"grid\", \"list\", \"latin-hypercube\""}},
      {"{\"model\": \"m\", \"vary\": {\"h\": {\"from\": 0, \"to\": 1, \"count\": 0, \"scale\": "
       "\"log\"}}}",
       {"vary.h.from: must be a positive number", "vary.h.count: must be a whole number"}},
      {"{\"model\": \"m\", \"vary\": {\"h\": {\"from\": 1, \"values\": [1]}}}",
       {"vary.h.values: must stand alone"}},
      {"{\"model\": \"m\", \"vary\": {\"h\": {\"values\": []}}}",
       {"vary.h.values: must be a list of at least one value"}},
      {"{\"model\": \"m\", \"vary\": {\"h\": 3}}", {"vary.h: must be an object with from"}},
      {"{\"model\": \"m\", \"vary\": {\"h\": {\"from\": 1, \"to\": 2, \"count\": 4000}, "
       "\"bodies.ball.mass\": {\"from\": 1, \"to\": 2, \"count\": 4000}}}",
       {"must not give more than 10000000 runs"}},
      {"{\"model\": \"m\", \"sample\": \"list\", \"vary\": {\"h\": {\"values\": [1, 2]}, "
       "\"bodies.ball.mass\": {\"values\": [1]}}}",
       {"must have as many values as h for a list, 2, but has 1"}},
      {"{\"model\": \"m\", \"sample\": \"latin-hypercube\", \"vary\": {\"h\": {\"from\": 1, "
       "\"to\": "
       "2}}}",
       {"count: is required: the number of runs"}},
      {"{\"model\": \"m\", \"count\": 3, \"seed\": 1, \"vary\": {\"h\": {\"values\": [1]}}}",
       {"seed: must be given for a latin-hypercube only",
        "count: must be given for a latin-hypercube only"}},
      {"{\"model\": \"m\", \"vary\": {\"bodies.bal.mass\": {\"values\": [1, 2]}}}",
       {"vary[\"bodies.bal.mass\"]"}},
      {"{\"model\": \"m\", \"set\": {\"bodies.ball.mas\": 1}, \"vary\": {\"h\": {\"values\": "
       "[1]}}}",
       {"bodies[0].mas: is not a known key (mass)"}},
      {"{\"model\": \"m\", \"vary\": {\"h\": {\"values\": [1]}}, \"responses\": [{\"name\": \"a\", "
       "\"signal\": \"ball.positio.z\"}, {\"name\": \"b/c\", \"signal\": \"energy.total\", "
       "\"reduce\": \"meen\"}]}",
       {"responses[0].signal: must be a quantity of the model's results (ball.position.z)",
        "responses[1].reduce", "responses[1].name: must be a name"}},
      {"{\"model\": \"m\", \"vary\": {\"h\": {\"values\": [1]}}, \"signals\": [\"bal\"], "
       "\"every\": "
       "0}",
       {"every: must be a whole number", "signals[0]: must be a quantity"}},
      {"{\"model\": \"m\", ", {"line 1"}},
      {"", {"is empty"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    pol_sweep *sweep;
    pol_errors errors = {0};
    char all[4000] = "";
    assert_int_equal(pol_sweep_read_text(&sweep, cases[i].study, model, &errors), POL_BAD_ARGUMENT);
    assert_null(sweep);
    for (int k = 0; k < errors.count; k++) {
      const pol_error *e = &errors.items[k];
      const size_t used = strlen(all);
      snprintf(all + used, sizeof all - used, "%s: %s (%s)\n", e->path, e->rule, e->suggestion);
    }
    for (int k = 0; k < 4 && cases[i].errors[k]; k++)
      if (!strstr(all, cases[i].errors[k]))
        fail_msg("%s\nhas no error \"%s\" but\n%s", cases[i].study, cases[i].errors[k], all);
    pol_errors_clear(&errors);
  }
}

/* Errors of the model are reported with it. */
static void errors_of_the_model_are_reported(void **state)
{
  (void)state;
  pol_sweep *sweep;
  pol_errors errors = {0};
  assert_int_equal(pol_sweep_read_text(&sweep,
                                       "{\"model\": \"m.json\", \"vary\": {\"x\": {\"values\": "
                                       "[1]}}}",
                                       "{\"bodies\": [{\"name\": \"b\", \"mass\": -1}]}", &errors),
                   POL_BAD_ARGUMENT);
  int found = 0;
  for (int i = 0; i < errors.count; i++)
    found |= strcmp(errors.items[i].path, "bodies[0].mass") == 0 &&
             strcmp(errors.items[i].file, "m.json") == 0;
  assert_true(found);
  pol_errors_clear(&errors);
  assert_int_equal(pol_sweep_read_file(&sweep, "there is none.json", &errors), POL_IO);
  assert_int_equal(errors.count, 1);
  pol_errors_clear(&errors);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_grid_has_all_combinations),
      cmocka_unit_test(a_list_goes_side_by_side),
      cmocka_unit_test(a_latin_hypercube_fills_all_strata),
      cmocka_unit_test(responses_are_those_of_a_free_fall),
      cmocka_unit_test(errors_name_their_place),
      cmocka_unit_test(errors_of_the_model_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
