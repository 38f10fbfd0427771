/* polhode converge: table, JSON, references, pictures, work, runs that fail, wrong input, Ctrl-C.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

/* The case `index` of a series. */
static json_t *case_at(json_t *object, size_t series, size_t index)
{
  json_t *cases = at(json_array_get(at(object, "series"), series), "cases");
  assert_true(index < json_array_size(cases));
  return json_array_get(cases, index);
}

static void expect_order(json_t *object, size_t series, const char *kind, double order)
{
  char path[80];
  json_t *one = json_array_get(at(object, "series"), series);
  snprintf(path, sizeof path, "orders.%s.order", kind);
  assert_true(fabs(number_at(one, path) - order) < 0.1);
  snprintf(path, sizeof path, "orders.%s.verdict", kind);
  expect_word(one, path, "fitted");
}

static void orders_against_a_fine_run(void **state)
{
  (void)state;
  expect("polhode converge top.json", 0);
  assert_string_equal(err, "");
  expect_text(out, "reference       a run with geom1, so3xr3, index 3, h = 6.25e-05 s\n");
  expect_text(out, "\ngeom1, so3xr3, index 3\n");
  expect_text(out, "\n  0.0005 ");
  expect_text(out, "\n  order ");
  expect("polhode converge top.json --formulations so3xr3,se3 --steps 2e-3:5e-4:3 --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "done");
  expect_word(object, "reference.method", "geom1");
  expect_length(object, "series", 2);
  expect_length(object, "kinds", 5);
  for (size_t i = 0; i < 2; i++) {
    expect_order(object, i, "position", 2.0);
    expect_order(object, i, "rotation", 2.0);
    expect_order(object, i, "angular velocity", 2.0);
    expect_order(object, i, "reaction", 2.0);
    assert_true(fabs(number_at(case_at(object, i, 1), "step") - 1e-3) < 1e-12);
    assert_true(json_is_null(at(case_at(object, i, 1), "wall_seconds")));
  }
  json_decref(object);
}

/* The same table whatever the number of jobs. */
static void jobs_change_nothing(void **state)
{
  (void)state;
  static char first[OUTPUT_SIZE];
  expect("polhode converge top.json --formulations so3xr3,se3,so3 --steps 2e-3,1e-3 --jobs 1", 0);
  strcpy(first, out);
  expect("polhode converge top.json --formulations so3xr3,se3,so3 --steps 2e-3,1e-3 --jobs 2", 0);
  assert_string_equal(out, first);
  expect("polhode converge top.json --quiet", 0);
  assert_string_equal(out, "");
}

static void orders_against_a_file(void **state)
{
  (void)state;
  static const char *const files[] = {"fine.h5", "fine.csv"};
  for (int i = 0; i < 2; i++) {
    char line[200];
    snprintf(line, sizeof line, "polhode run top.json --step 1e-4 --quiet --out %s", files[i]);
    expect(line, 0);
    snprintf(line, sizeof line,
             "polhode converge top.json --steps 4e-3,2e-3,1e-3 --reference %s --json", files[i]);
    expect(line, 0);
    json_t *object = parse_output();
    expect_word(object, "reference.file", files[i]);
    assert_int_equal(number_at(object, "reference.times"), 1001);
    expect_order(object, 0, "position", 2.0);
    expect_order(object, 0, "velocity", 2.0);
    assert_int_equal(number_at(case_at(object, 0, 2), "times"), 100);
    json_decref(object);
  }
  expect("polhode converge top.json --reference fine.h5 --quantities top.position,energy.total "
         "--at-end --json",
         0);
  json_t *object = parse_output();
  expect_length(object, "kinds", 2);
  expect_word(object, "orders_of", "end");
  assert_true(number_at(case_at(object, 0, 0), "end.position") > 0.0);
  assert_true(number_at(case_at(object, 0, 0), "end.other") >= 0.0);
  json_decref(object);
  /* steps that do not fit the times of the file */
  expect("polhode converge top.json --reference fine.h5 --steps 1.37e-3", 0);
  expect_text(out, "\n  the reference is interpolated between its times\n");
}

static void work_and_variable_steps(void **state)
{
  (void)state;
  expect("polhode converge top.json --steps 1e-3 --rtols 1e-3,1e-4 --work", 0);
  expect_text(out, "\ngeom1, so3xr3, index 3, variable steps\n");
  expect_text(out, " Newton equations    time (s)\n");
  expect("polhode converge top.json --rtols 1e-3,1e-4 --work --json", 0);
  json_t *object = parse_output();
  assert_true(json_is_null(at(object, "reference.step")));
  for (size_t i = 0; i < 2; i++) {
    assert_true(number_at(case_at(object, 0, i), "wall_seconds") > 0.0);
    assert_true(number_at(case_at(object, 0, i), "counts.newton_iterations") > 0.0);
    assert_true(number_at(case_at(object, 0, i), "max.position") > 0.0);
  }
  assert_true(number_at(case_at(object, 0, 0), "counts.steps") <
              number_at(case_at(object, 0, 1), "counts.steps"));
  json_decref(object);
}

static void pictures(void **state)
{
  (void)state;
  static char text[OUTPUT_SIZE];
  expect("polhode converge top.json --plot orders.svg --work", 0);
  expect_text(out, "plot            orders.svg\n");
  expect_text(out, "plot            orders_newton.svg\n");
  read_text("orders.svg", text);
  expect_text(text, "step size (s)");
  expect_text(text, "position error (m)");
  expect_text(text, "ang. velocity error (rad/s)");
  expect_text(text, "geom1, so3xr3, index 3");
  expect_text(text, ">2</text>"); /* the slope */
  /* five panels of 190 points, and 110 for title, legend and the axis of all */
  expect_text(text, "height=\"1060\"");
  read_text("orders_time.svg", text);
  expect_text(text, "wall time (s)");
  read_text("orders_newton.svg", text);
  expect_text(text, "Newton iterations");
  expect("polhode converge top.json --plot orders.png --quiet", 0);
  read_text("orders.png", text);
  assert_memory_equal(text, "\x89PNG", 4);
}

/* A run that fails has its message in its row; the others are there. */
static void failing_runs(void **state)
{
  (void)state;
  expect("polhode converge top.json --steps 0.02,1e-3,5e-4 --set simulation.end=0.5", 1);
  expect_text(out, "\n  0.02      ");
  expect_text(out, "  failed at t = 0.");
  expect_text(out, " s: the Newton iteration did not converge\n");
  expect_text(out, "\n  0.0005    ");
  expect("polhode converge top.json --steps 0.02,1e-3,5e-4 --set simulation.end=0.5 --json", 1);
  json_t *object = parse_output();
  expect_word(object, "status", "failed");
  expect_word(case_at(object, 0, 0), "status", "failed");
  expect_word(case_at(object, 0, 1), "status", "done");
  assert_true(number_at(case_at(object, 0, 1), "max.position") > 0.0);
  json_decref(object);
  /* what cannot be combined is told, and is no failure; if nothing can, the input is wrong */
  expect("polhode converge top.json --methods geom1,em --steps 2e-3,1e-3", 0);
  expect_text(out,
              "\nem, so3xr3\n  not possible: the method requires coordinates of a vector space");
  expect("polhode converge top.json --methods em --steps 2e-3,1e-3", 2);
  expect_text(err, "vector space");
  /* the reference itself */
  expect("polhode converge top.json --steps 1e-3 --set simulation.end=0.5 --reference-step 0.02",
         1);
  expect_text(err, "polhode converge: reference run: ");
}

static void expect_error(const char *arguments, const char *message)
{
  char line[300];
  snprintf(line, sizeof line, "polhode converge top.json %s", arguments);
  expect(line, 2);
  expect_text(err, message);
  assert_string_equal(out, "");
}

static void wrong_input(void **state)
{
  (void)state;
  expect_error("--methods goem1", "--methods = goem1: there is no such method; polhode methods "
                                  "lists them; did you mean \"geom1\"?\n");
  expect_error("--formulations so4", "--formulations = so4: there is no such formulation");
  expect_error("--indices 4", "--indices = 4: must be 3, 2 or stabilized-2\n");
  expect_error("--steps 1e-3,-1", "--steps = -1: must be a positive number\n");
  expect_error("--steps 1e-3,,1", "--steps = 1e-3,,1: has an empty item between commas\n");
  expect_error("--steps 1e-3:1e-4", "--steps = 1e-3:1e-4: must be FROM:TO:COUNT");
  expect_error("--steps 3", "--steps = 3: must not exceed the end time of the model\n");
  expect_error("--rtols 2", "--rtols = 2: must be below 1\n");
  expect_error("--jobs 0", "--jobs = 0: must be a whole number from 1 to 256\n");
  expect_error("--plot a.pdf", "--plot = a.pdf: must end in .svg or .png\n");
  /* before the runs: a table would be there else */
  expect_error("--plot none/a.svg --steps 1e-3,2e-3",
               "--plot = none/a.svg: No such file or directory\n");
  expect_error("--reference none.h5", "--reference = none.h5: cannot be read");
  expect_error("--reference a.h5 --reference-step 1", "--reference-step = 1: has no meaning");
  expect_error("--reference-step x", "--reference-step = x: must be a positive number\n");
  expect_error("--reference-method x", "--reference-method = x: there is no such method");
  expect_error("--quantities top.positin",
               "--quantities = top.positin: the model has no such quantity; did you mean");
  write_text("few.csv", "t,top.position.x\n0,0\n0.1,0\n");
  expect_error("--reference few.csv --quantities top.velocity",
               "few.csv = top.velocity: there is no such quantity in the result");
  expect_error(
      "--reference few.csv --set simulation.end=1",
      "--reference = few.csv: the reference ends at t = 0.1 s, before the end of the runs");
  write_text("other.csv", "t,x\n0,0\n0.1,0\n");
  expect_error("--reference other.csv", "has none of the quantities to compare");
  expect("polhode converge top.json --methods x --json", 2);
  json_t *object = parse_output();
  expect_word(object, "status", "invalid");
  json_decref(object);
}

/* The events are those of the model, though each case has settings of its own; an event that ends
 * the run early leaves nothing to compare. */
static void models_with_events(void **state)
{
  (void)state;
  static const char model[] = POLHODE_SOURCE_DIR "/models/examples/bouncing_ball.json";
  char line[400];
  snprintf(line, sizeof line,
           "polhode converge %s --steps 0.01,0.005 --rtols 1e-3,1e-4 --set simulation.end=2 --json",
           model);
  expect(line, 0);
  json_t *object = parse_output();
  assert_int_equal(number_at(object, "reference.times"), 401);
  for (size_t i = 0; i < 4; i++) {
    json_t *one = case_at(object, i / 2, i % 2);
    expect_word(one, "status", "done");
    assert_true(number_at(one, "times") >= 200);
    assert_true(number_at(one, "max.position") < 1e-10); /* a parabola is met by any step */
  }
  json_decref(object);
  snprintf(line, sizeof line, "polhode converge %s --steps 0.01,0.005", model);
  expect(line, 2);
  expect_text(err, "an event ends the run at t = 2.75 s, before the end of the study at 5 s");
}

/* Of the default steps, those beyond the end are left out; a step of the model must not be. */
static void default_steps_beyond_the_end(void **state)
{
  (void)state;
  expect("polhode converge top.json --set simulation.step=1", 2);
  expect_text(err, "simulation.step = 1: must not be longer than end");
  expect("polhode converge top.json --set simulation.step=0.001 --set simulation.end=0.001", 0);
  expect_text(out, "0.0005");
}

static void a_signal_stops_it(void **state)
{
  (void)state;
  char *words[] = {"polhode", "converge", "top.json",           "--set", "simulation.end=1000",
                   "--steps", "1e-4",     "--reference-method", "geom1", NULL};
  pid_t child = start(-1, words);
  wait_until_caught(child, SIGINT);
  kill(child, SIGINT);
  assert_int_equal(finish(child), 130);
  read_text("err", err);
  expect_text(err, "polhode converge: interrupted\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders_against_a_fine_run),
      cmocka_unit_test(jobs_change_nothing),
      cmocka_unit_test(orders_against_a_file),
      cmocka_unit_test(work_and_variable_steps),
      cmocka_unit_test(pictures),
      cmocka_unit_test(failing_runs),
      cmocka_unit_test(wrong_input),
      cmocka_unit_test(models_with_events),
      cmocka_unit_test(default_steps_beyond_the_end),
      cmocka_unit_test(a_signal_stops_it),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
