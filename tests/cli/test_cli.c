/* The polhode command as a user meets it: exit statuses, standard output and error, result files,
 * signals, the progress bar.  Each test runs the program itself.
 */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

/* --- running the program ---------------------------------------------------------------------- */

enum { OUTPUT_SIZE = 1 << 16, MAX_ARGUMENTS = 16 };

static char folder[] = "test_cli_XXXXXX"; /* where the tests write */
static char out[OUTPUT_SIZE], err[OUTPUT_SIZE];

static const char heavy_top[] =
    "{ \"name\": \"Heavy top\", \"gravity\": [0, 0, -9.81],\n"
    "  \"bodies\": [ { \"name\": \"top\", \"mass\": 15, \"inertia\": [0.234375, 0.46875, "
    "0.234375],\n"
    "    \"position\": [0, 1, 0], \"angular_velocity\": [0, 150, -4.61538] } ],\n"
    "  \"joints\": [ { \"name\": \"tip\", \"type\": \"spherical\", \"bodies\": [\"top\", "
    "\"ground\"],\n"
    "    \"point\": [0, 0, 0] } ],\n"
    "  \"simulation\": { \"method\": \"geom1\", \"index\": 3, \"formulation\": \"so3xr3\",\n"
    "    \"rho_inf\": 0.9, \"step\": 1e-3, \"end\": 0.1 } }\n";

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void read_text(const char *path, char *text)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t size = fread(text, 1, OUTPUT_SIZE - 1, file);
  text[size] = '\0';
  fclose(file);
}

/* Starts polhode with the arguments, its output into the files "out" and "err", or its errors into
 * the descriptor given. */
static pid_t start(int error_descriptor, char *const arguments[])
{
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int out_file = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err_file = error_descriptor;
    if (err_file < 0) err_file = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out_file, STDOUT_FILENO);
    dup2(err_file, STDERR_FILENO);
    execv(POLHODE_BINARY, arguments);
    _exit(99);
  }
  return child;
}

/* Waits for the exit status; -1 if a signal ended it. */
static int finish(pid_t child)
{
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  read_text("out", out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs "polhode WORD WORD ..." (words without blanks); gives the exit status and fills out and err.
 */
static int run(const char *command_line)
{
  char text[1000];
  char *arguments[MAX_ARGUMENTS];
  int count = 0;
  assert_true(strlen(command_line) < sizeof text);
  strcpy(text, command_line);
  for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
    assert_true(count < MAX_ARGUMENTS - 1);
    arguments[count++] = word;
  }
  arguments[count] = NULL;
  int status = finish(start(-1, arguments));
  read_text("err", err);
  return status;
}

static void expect(const char *command_line, int expected)
{
  int status = run(command_line);
  if (status != expected)
    fail_msg("%s: exit status %d, not %d\nstdout: %s\nstderr: %s", command_line, status, expected,
             out, err);
}

static void expect_text(const char *text, const char *part)
{
  if (strstr(text, part) == NULL) fail_msg("there is no \"%s\" in: %s", part, text);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* All of standard output as one JSON object; the caller drops it. */
static json_t *parse_output(void)
{
  json_error_t error;
  json_t *object = json_loads(out, JSON_REJECT_DUPLICATES, &error);
  if (object == NULL) fail_msg("%s in: %s", error.text, out);
  assert_true(json_is_object(object));
  return object;
}

/* The value at "key.key.key"; it must exist. */
static json_t *at(json_t *object, const char *path)
{
  char text[200];
  strcpy(text, path);
  for (char *key = strtok(text, "."); key != NULL; key = strtok(NULL, ".")) {
    object = json_object_get(object, key);
    if (object == NULL) fail_msg("there is no %s in: %s", path, out);
  }
  return object;
}

static double number_at(json_t *object, const char *path)
{
  assert_true(json_is_number(at(object, path)));
  return json_number_value(at(object, path));
}

static void expect_word(json_t *object, const char *path, const char *expected)
{
  assert_true(json_is_string(at(object, path)));
  assert_string_equal(json_string_value(at(object, path)), expected);
}

static void expect_length(json_t *object, const char *path, size_t expected)
{
  assert_int_equal(json_array_size(at(object, path)), expected);
}

/* --- help ------------------------------------------------------------------------------------- */

static void help_of_everything(void **state)
{
  (void)state;
  static const char *const commands[] = {"run", "check", "methods"};
  expect("polhode --help", 0);
  for (int i = 0; i < 3; i++) expect_text(out, commands[i]);
  assert_string_equal(err, "");
  expect("polhode help", 0);
  for (int i = 0; i < 3; i++) {
    char line[100], first[OUTPUT_SIZE];
    snprintf(line, sizeof line, "polhode help %s", commands[i]);
    expect(line, 0);
    expect_text(out, "usage: polhode ");
    expect_text(out, "examples\n  polhode ");
    assert_string_equal(err, "");
    strcpy(first, out);
    snprintf(line, sizeof line, "polhode %s --help", commands[i]);
    expect(line, 0);
    assert_string_equal(out, first);
  }
  expect("polhode --version", 0);
  expect_text(out, "polhode ");
}

static void wrong_command_lines(void **state)
{
  (void)state;
  expect("polhode", 2);
  assert_string_equal(out, "");
  expect_text(err, "usage: polhode");
  expect("polhode rnu top.json", 2);
  expect_text(err, "polhode: rnu: there is no such command; did you mean \"run\"?\n");
  expect("polhode help chekc", 2);
  expect_text(err, "did you mean \"check\"?");
  expect("polhode run top.json --stpe 1", 2);
  expect_text(err, "polhode run: --stpe: there is no such option; did you mean \"--step\"?\n");
  assert_string_equal(out, "");
  expect("polhode run top.json --stepp=1", 2);
  expect_text(err, "polhode run: --stepp: there is no such option; did you mean \"--step\"?\n");
  expect("polhode run", 2);
  expect_text(err, "MODEL.json: must be given");
  expect("polhode run top.json other.json", 2);
  expect_text(err, "other.json: is one argument too many");
  expect("polhode run top.json --step", 2);
  expect_text(err, "--step: needs a value");
  expect("polhode run top.json --out --json", 2);
  expect_text(out, "needs a value");
  expect("polhode run top.json --json=1", 2);
  expect_text(err, "--json = 1: takes no value");
  expect("polhode run top.json --set mass", 2);
  expect_text(err, "--set = mass: must have the form key.path=value");
  expect("polhode methods top.json", 2);
  expect_text(err, "top.json: is one argument too many");
  expect("polhode run top.json --out top.vtk", 2);
  expect_text(err, "polhode run: --out = top.vtk: must end in .h5 or .csv\n1 error\n");
  expect("polhode run top.json --out=", 2);
  expect_text(err, "polhode run: --out: the file name is empty\n");
  expect("polhode --version extra", 2);
  expect_text(err, "polhode: extra: is one argument too many\n");
  assert_string_equal(out, "");
  expect("polhode help run extra", 2);
  expect_text(err, "polhode: extra: is one argument too many\n");
  /* The words of expect() cannot be empty. */
  char *empty[] = {"polhode", "run", "", NULL};
  assert_int_equal(finish(start(-1, empty)), 2);
  read_text("err", err);
  expect_text(err, "polhode run: MODEL.json: the file name is empty\n");
}

/* --- run -------------------------------------------------------------------------------------- */

static void a_run_prints_its_summary(void **state)
{
  (void)state;
  expect("polhode run top.json", 0);
  assert_string_equal(err, ""); /* no progress bar: this is no terminal */
  expect_text(out, "Heavy top (top.json)\n");
  expect_text(out, "geom1, index 3\n");
  expect_text(out, "so3xr3\n");
  expect_text(out, "done at t = 0.1 s of 0.1 s\n");
  expect_text(out, "100 of 0.001 s, 0 rejected\n");
  expect_text(out, "microseconds a step\n");
  expect_text(out, "angular velocity");
  expect_text(out, "\ntip ");
  expect_text(out, "\nenergy drift");
  expect_text(out, "\nconstraints");
  expect("polhode run top.json --quiet", 0);
  assert_string_equal(out, "");
  assert_string_equal(err, "");
}

static void json_holds_everything(void **state)
{
  (void)state;
  static const char *const numbers[] = {
      "step",
      "steps",
      "rejected",
      "newton_iterations",
      "jacobians",
      "wall_seconds",
      "t",
      "factorizations",
      "energy.kinetic",
      "energy.total",
      "energy.potential",
      "energy.initial_total",
      "moves.position",
      "moves.velocity",
      "moves.rotation",
      "energy.max_drift",
      "constraints.max_position",
      "constraints.max_velocity",
      "constraints.max_acceleration",
      "energy.dissipated",
      "energy.applied",
      "energy.drives",
      "energy.balance",
      "moves.angular_velocity",
  };
  expect("polhode run top.json --json --quiet", 0);
  assert_string_equal(err, "");
  json_t *object = parse_output();
  expect_word(object, "status", "done");
  expect_word(object, "model", "Heavy top");
  expect_word(object, "method", "geom1");
  expect_word(object, "formulation", "so3xr3");
  assert_int_equal(json_integer_value(at(object, "index")), 3);
  assert_int_equal(json_integer_value(at(object, "steps")), 100);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) number_at(object, numbers[i]);
  assert_true(number_at(object, "t") == 0.1);
  expect_length(object, "final.bodies.top.position", 3);
  expect_length(object, "final.bodies.top.quaternion", 4);
  expect_length(object, "final.bodies.top.rotation", 3);
  expect_length(object, "final.bodies.top.velocity", 3);
  assert_int_equal(json_array_size(json_array_get(at(object, "final.bodies.top.rotation"), 2)), 3);
  expect_length(object, "final.bodies.top.velocity_body", 3);
  expect_length(object, "final.bodies.top.angular_velocity", 3);
  expect_length(object, "final.bodies.top.angular_velocity_global", 3);
  expect_length(object, "final.joints.tip.multipliers", 3);
  expect_length(object, "final.joints.tip.force", 3);
  expect_length(object, "final.joints.tip.torque", 3);
  assert_true(number_at(object, "constraints.max_position") < 1e-12);
  assert_null(json_object_get(object, "failure"));

  /* 17 digits: the total is the sum of its parts exactly. */
  assert_true(number_at(object, "energy.total") ==
              number_at(object, "energy.kinetic") + number_at(object, "energy.potential"));
  json_decref(object);
}

static void options_override_the_model(void **state)
{
  (void)state;
  expect("polhode run top.json --json --step .002 --end=.05 --formulation se3 --method geom1 "
         "--set bodies[0].mass=3 --set simulation.rho_inf=0.5",
         0);
  json_t *object = parse_output();
  expect_word(object, "formulation", "se3");
  assert_int_equal(json_integer_value(at(object, "steps")), 25);
  assert_true(number_at(object, "step") == 0.002);
  assert_true(number_at(object, "t") == 0.05);
  json_decref(object);
  expect("polhode check top.json --json --set gravity=[1,-0.0,2]", 0);
  assert_null(strstr(out, "-0.0")); /* zero has no sign */
  expect("polhode check top.json --json --set bodies[0].mass=3", 0);
  object = parse_output();
  assert_true(json_number_value(json_object_get(json_array_get(at(object, "bodies"), 0), "mass")) ==
              3.0);
  json_decref(object);
}

/* Number of lines of a CSV file after its head; it must end with a whole line. */
static int count_rows(const char *path, char *last, size_t size)
{
  static char line[4000];
  FILE *file = fopen(path, "r");
  int lines = 0;
  assert_non_null(file);
  line[0] = '\0';
  while (fgets(line, sizeof line, file) != NULL) {
    lines++;
    assert_int_equal(line[strlen(line) - 1], '\n');
  }
  fclose(file);
  snprintf(last, size, "%s", line);
  return lines - 3;
}

static void results_are_written(void **state)
{
  (void)state;
  char last[4000];
  expect("polhode run top.json --out top.csv --json", 0);
  json_t *object = parse_output();
  assert_int_equal(count_rows("top.csv", last, sizeof last), 101);
  assert_int_equal(json_integer_value(at(object, "result.rows")), 101);

  /* The last line is the final state, digit for digit. */
  double row[4];
  assert_int_equal(sscanf(last, "%lf,%lf,%lf,%lf", &row[0], &row[1], &row[2], &row[3]), 4);
  assert_true(row[0] == 0.1);
  for (size_t i = 0; i < 3; i++)
    assert_true(row[i + 1] ==
                json_number_value(json_array_get(at(object, "final.bodies.top.position"), i)));
  json_decref(object);
  expect("polhode run top.json --out top.csv", 0);
  expect_text(out, "top.csv, 101 rows of 48 columns\n");

  expect("polhode run top.json --out no/such/folder/top.csv", 2);
  expect_text(err, "--out = no/such/folder/top.csv: ");
  assert_string_equal(out, "");
  expect("polhode run top.json --out /dev/full", 2);
}

static void wrong_models(void **state)
{
  (void)state;
  expect("polhode run top.json --set bodies[0].mass=-3 --set simulation.step=0", 2);
  expect_text(err, "top.json: bodies[0].mass = -3: must be ");
  expect_text(err, "top.json: simulation.step = 0: must be ");
  expect_text(err, "\n2 errors\n");
  assert_string_equal(out, "");
  expect("polhode run top.json --method goem1", 2);
  expect_text(err, "; did you mean \"geom1\"?\n1 error\n");
  expect("polhode check top.json --json --set bodies[0].mass=-3", 2);
  assert_string_equal(err, "");
  json_t *object = parse_output();
  expect_word(object, "status", "invalid");
  expect_length(object, "errors", 1);
  json_t *error = json_array_get(at(object, "errors"), 0);
  expect_word(error, "path", "bodies[0].mass");
  expect_word(error, "value", "-3");
  assert_true(json_string_length(at(error, "rule")) > 0);
  expect_word(error, "suggestion", "");
  json_decref(object);

  expect("polhode run nothing.json", 2);
  expect_text(err, "nothing.json: ");
  expect("polhode run nothing.json --json", 2);
  object = parse_output();
  expect_word(object, "status", "invalid");
  json_decref(object);
  expect("polhode rnu --json", 2);
  object = parse_output();
  expect_word(json_array_get(at(object, "errors"), 0), "suggestion", "run");
  json_decref(object);
}

/* What does not fit the formulation or the mechanism is an error of the input, with the reason. */
static void settings_that_do_not_fit(void **state)
{
  (void)state;
  static const struct {
    const char *options, *reason;
  } cases[] = {
      {"--set simulation.formulation=rotation-vector --set simulation.sigma=1",
       "simulation: a rotation vector is integrated by the classical method"},
      {"--set simulation.formulation=rotation-vector --set simulation.method=geom3",
       "simulation: a rotation vector is integrated by the classical method"},
      {"--set simulation.formulation=so3xr3-cayley --set simulation.sigma=optimal",
       "simulation: sigma needs the exponential map"},
      {"--set simulation.method=geom2 --set simulation.sigma=optimal",
       "simulation = {\"method\": \"geom2\""},
      {"--set simulation.formulation=so3 --set joints=[]",
       "simulation: so3 needs a spherical joint to the ground for body 'top'"},
      {"--set simulation.formulation=tait-bryan --set "
       "bodies[0].rotation={\"axis\":[0,1,0],\"angle\":1.57}",
       "simulation: body 'top' starts in gimbal lock"},
  };
  static const char *const commands[] = {"run", "check"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int k = 0; k < 2; k++) {
      char line[300];
      snprintf(line, sizeof line, "polhode %s top.json %s", commands[k], cases[i].options);
      expect(line, 2);
      expect_text(err, cases[i].reason);
      expect_text(err, "\n1 error\n");
      assert_string_equal(out, "");
      strcat(line, " --json");
      expect(line, 2);
      json_t *object = parse_output();
      expect_word(object, "status", "invalid");
      expect_word(json_array_get(at(object, "errors"), 0), "path", "simulation");
      json_decref(object);
    }
}

/* Parameters that are allowed but cost order or stability. */
static void doubtful_parameters_give_a_warning(void **state)
{
  (void)state;
  static const char rho_inf[] = "\"rho_inf\": 0.9";
  const char *place = strstr(heavy_top, rho_inf);
  char text[2000];
  assert_non_null(place);
  snprintf(text, sizeof text, "%.*s%s%s", (int)(place - heavy_top), heavy_top,
           "\"alpha_m\": 0.2, \"alpha_f\": 0.4, \"beta\": 0.4, \"gamma\": 0.5",
           place + sizeof rho_inf - 1);
  write_text("doubtful.json", text);
  static const char *const commands[] = {"run", "check"};
  for (int k = 0; k < 2; k++) {
    char line[100];
    snprintf(line, sizeof line, "polhode %s doubtful.json", commands[k]);
    expect(line, 0);
    assert_string_equal(
        err, "warning: gamma is not 1/2 + alpha_f - alpha_m: the method is of first order\n");
    strcat(line, " --json");
    expect(line, 0);
    json_t *object = parse_output();
    expect_length(object, "warnings", 1);
    json_decref(object);
    snprintf(line, sizeof line, "polhode %s top.json --json", commands[k]);
    expect(line, 0);
    assert_string_equal(err, "");
    object = parse_output();
    expect_length(object, "warnings", 0);
    json_decref(object);
  }
}

/* Sigma and start are told by both commands. */
static void sigma_and_start_are_told(void **state)
{
  (void)state;
  static const char settings[] =
      "top.json --set simulation.sigma=optimal --set simulation.rho_inf=1 --set "
      "simulation.start=shifted";
  char line[300];
  snprintf(line, sizeof line, "polhode run %s", settings);
  expect(line, 0);
  expect_text(out, "\nsigma           0.666667, exact update\n");
  expect_text(out, "\nstart           shifted\n");
  strcat(line, " --json");
  expect(line, 0);
  json_t *object = parse_output();
  assert_true(fabs(number_at(object, "sigma") - 2.0 / 3.0) < 1e-15);
  expect_word(object, "sigma_update", "exact");
  expect_word(object, "start", "shifted");
  json_decref(object);
  snprintf(line, sizeof line, "polhode check %s", settings);
  expect(line, 0);
  expect_text(out, "\nsigma           0.666667, exact update\n");
  expect_text(out, "\nstart           shifted\n");
  strcat(line, " --json");
  expect(line, 0);
  object = parse_output();
  assert_true(fabs(number_at(object, "simulation.sigma") - 2.0 / 3.0) < 1e-15);
  expect_word(object, "simulation.sigma_update", "exact");
  expect_word(object, "simulation.start", "shifted");
  json_decref(object);
}

static void a_failing_run_keeps_its_results(void **state)
{
  (void)state;
  char last[4000];
  expect("polhode run top.json --step 0.1 --end 100 --out failed.csv --json", 1);
  json_t *object = parse_output();
  expect_word(object, "status", "failed");
  long steps = (long)json_integer_value(at(object, "steps"));
  assert_int_equal(json_integer_value(at(object, "failure.step")), steps + 1);
  assert_true(number_at(object, "failure.h") == 0.1);
  assert_true(fabs(number_at(object, "failure.t") - 0.1 * (double)(steps + 1)) < 1e-9);
  assert_true(json_integer_value(at(object, "failure.iteration")) > 0);
  assert_true(json_string_length(at(object, "failure.where")) > 0);
  assert_true(json_string_length(at(object, "failure.advice")) > 0);
  json_decref(object);

  /* The line of t = 0 and one for each good step. */
  assert_int_equal(count_rows("failed.csv", last, sizeof last), steps + 1);
  expect_text(err, "top.json: ");
  expect_text(err, "when:   t = ");
  expect_text(err, "step size 0.1 s");
  expect_text(err, "Newton: ");
  expect_text(err, "where:  ");
  expect_text(err, "try:    ");
  expect_text(err, "failed.csv");
}

/* A disk that fills up, as a limit on the size of files, which the program inherits. */
static void a_full_disk_is_told(void **state)
{
  (void)state;
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 100000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  int while_running = run("polhode run top.json --end 1 --out failed.csv --json");
  json_t *object = parse_output();
  int at_the_end = run("polhode run top.json --end 0.13 --out failed.csv");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  assert_int_equal(while_running, 1);
  expect_word(object, "status", "failed");
  expect_text(json_string_value(at(object, "failure.message")), "failed.csv cannot be written: ");
  assert_true(number_at(object, "t") < 1.0);
  assert_null(json_object_get(object, "result"));
  json_decref(object);
  assert_int_equal(at_the_end, 1);
  expect_text(out, "failed at t = 0.13 s of 0.13 s\n");
  expect_text(err, "failed.csv cannot be written: ");
}

/* --- check and methods ------------------------------------------------------------------------ */

static void check_tells_what_a_model_is(void **state)
{
  (void)state;
  expect("polhode check top.json", 0);
  assert_string_equal(err, "");
  expect_text(out, "Heavy top (top.json)\n");
  expect_text(out, "(0, 0, -9.81) m/s^2\n");
  expect_text(out, "top, 15 kg\n");
  expect_text(out, "tip, spherical from top to ground, locks translations x y z\n");
  expect_text(out, "3 of 6: 3 constraints\n");
  expect_text(out, "  velocity      not given, completed\n");
  expect_text(out, "  angular vel.  kept\n");
  expect("polhode check top.json --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "valid");
  assert_int_equal(json_integer_value(at(object, "degrees_of_freedom")), 3);
  assert_int_equal(json_integer_value(at(object, "constraints")), 3);
  assert_true(fabs(number_at(object, "moves.velocity_residual") - 4.61538) < 1e-12);
  assert_true(json_is_true(at(object, "angular_velocity_kept")));
  expect_word(json_array_get(at(object, "joints"), 0), "type", "spherical");
  json_decref(object);
}

/* Forces and distances, from a model of the papers. */
static void check_tells_of_forces_and_distances(void **state)
{
  (void)state;
  expect("polhode check " POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/romano_3.json", 0);
  expect_text(out, "\nforce           follower, torque (0, 0, 40) N m on body, body axes\n");
  expect("polhode check " POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/romano_3.json --json", 0);
  json_t *object = parse_output();
  expect_length(object, "forces", 1);
  json_t *force = json_array_get(at(object, "forces"), 0);
  expect_word(force, "type", "torque");
  expect_word(force, "frame", "body");
  expect_length(force, "vector", 3);
  json_decref(object);
  expect("polhode check " POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/rotor.json", 0);
  expect_text(out,
              "\nforce           right bearing, support of rotor, stiffness (0, 4000, 4000) N/m, "
              "damping (0, 5.16509297, 5.16509297) N s/m\n");
  expect("polhode check " POLHODE_SOURCE_DIR "/models/arnold-cardona-bruels-2015/pendulum.json", 0);
  expect_text(out, "rod, distance from ground to bob, locks the distance\n");
  expect_text(out, "5 of 6: 1 constraint\n");
}

/* Each type of force in words and as JSON. */
static void check_tells_of_springs_and_drag(void **state)
{
  (void)state;
  write_text("springs.json",
             "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"markers\": ["
             "{\"name\": \"m\", \"body\": \"ground\", \"position\": [0, 0, 2]}, {\"name\": \"n\","
             "\"body\": \"a\"}], \"forces\": [{\"name\": \"s\", \"type\": \"spring-damper\","
             "\"markers\": [\"m\", \"n\"], \"stiffness\": 10, \"actuator\": -3}, {\"name\": \"d\","
             "\"type\": \"drag\", \"body\": \"a\", \"coefficient\": 0.5}, {\"name\": \"h\","
             "\"type\": \"support\", \"body\": \"a\", \"stiffness\": 4}],"
             "\"simulation\": {\"step\": 0.01, \"end\": 2}}");
  expect("polhode check springs.json", 0);
  expect_text(out,
              "\nforce           s, spring-damper from ground to a, stiffness 10 N/m, damping 0 N "
              "s/m, free length 2 m, actuator -3 N\n");
  expect_text(out, "\nforce           d, drag on a, coefficient 0.5 N s^2/m^2\n");
  expect("polhode check springs.json --json", 0);
  json_t *object = parse_output();
  json_t *spring = json_array_get(at(object, "forces"), 0);
  json_t *drag = json_array_get(at(object, "forces"), 1);
  json_t *support = json_array_get(at(object, "forces"), 2);
  expect_word(spring, "type", "spring-damper");
  expect_length(spring, "bodies", 2);
  assert_true(number_at(spring, "length") == 2.0);
  assert_true(number_at(spring, "actuator") == -3.0);
  assert_true(number_at(drag, "coefficient") == 0.5);
  expect_length(support, "stiffness", 3);
  expect_length(support, "anchor", 3);
  json_decref(object);
}

/* A coupling is listed, takes a degree of freedom, and tells what it exerts on both joints. */
static void couplings_are_told(void **state)
{
  (void)state;
  expect("polhode check " POLHODE_SOURCE_DIR "/models/examples/planetary_gear.json", 0);
  expect_text(out,
              "\ncoupling        inner mesh, 20 times rotation of shaft and 15 times rotation of "
              "pin\n");
  expect_text(out, "1 of 18: 17 constraints\n");
  expect("polhode check " POLHODE_SOURCE_DIR "/models/examples/planetary_gear.json --json", 0);
  json_t *object = parse_output();
  expect_length(object, "couplings", 2);
  json_decref(object);
  expect("polhode run " POLHODE_SOURCE_DIR
         "/models/examples/planetary_gear.json --set simulation.end=0.1",
         0);
  expect_text(out, "\nouter mesh  torque 1          N m    ");
  expect("polhode run " POLHODE_SOURCE_DIR
         "/models/examples/planetary_gear.json --set simulation.end=0.1 --json",
         0);
  object = parse_output();
  const json_t *effort = at(object, "final.couplings.inner mesh.effort");
  double first = json_number_value(json_array_get(effort, 0));
  double second = json_number_value(json_array_get(effort, 1));
  assert_true(first < -1e-3 && fabs(second - 0.75 * first) < 1e-12);
  json_decref(object);
}

/* Springs on joints in words, as JSON, and in the results of a run. */
static void joint_springs_are_told(void **state)
{
  (void)state;
  static const char model[] =
      POLHODE_SOURCE_DIR "/models/gavrea-negrut-potra-2005/double_pendulum.json";
  char command[512];
  snprintf(command, sizeof command, "polhode check %s", model);
  expect(command, 0);
  expect_text(out,
              "\nforce           stiff, joint-spring on the rotation of hinge, stiffness 300000 "
              "N m/rad, damping 50000 N m s/rad, relaxed at 0 rad, actuator 0 N m\n");
  snprintf(command, sizeof command, "polhode check %s --json", model);
  expect(command, 0);
  json_t *object = parse_output();
  json_t *soft = json_array_get(at(object, "forces"), 0);
  expect_word(soft, "joint", "shoulder");
  expect_word(soft, "coordinate", "rotation");
  assert_true(number_at(soft, "stiffness") == 400.0 && number_at(soft, "rest") < -1.57);
  json_decref(object);
  snprintf(command, sizeof command, "polhode run %s --set simulation.end=0.1 --json", model);
  expect(command, 0);
  object = parse_output();
  double angle = number_at(object, "final.joints.shoulder.coordinates.angle");
  double rate = number_at(object, "final.joints.shoulder.coordinates.rate");
  assert_true(angle < 0.0 && rate < 0.0);
  assert_true(number_at(object, "energy.dissipated") > 0.0);
  expect_length(object, "final.markers.elbow.position", 3);
  json_decref(object);
  snprintf(command, sizeof command, "polhode run %s --set simulation.end=0.1", model);
  expect(command, 0);
  expect_text(out, "\nwork            of forces 0 J, of drives 0 J, dissipated ");
}

/* Point masses: in words, without anything that turns. */
static void points_are_told(void **state)
{
  (void)state;
#define PARTICLES POLHODE_SOURCE_DIR "/models/kinon-betsch-schneider-2023/four_particles.json"
  expect("polhode check " PARTICLES, 0);
  expect_text(out, "\nbody            p4, 1.7 kg, point mass\n");
  expect_text(out, "stiffness 500 N/m^3 (squared-length), damping");
  expect_text(out, "\nfreedom         10 of 12: 2 constraints\n");
  assert_null(strstr(out, "angular"));
  expect("polhode check " PARTICLES " --json", 0);
  json_t *object = parse_output();
  expect_word(json_array_get(at(object, "bodies"), 0), "type", "point");
  expect_word(json_array_get(at(object, "forces"), 0), "law", "squared-length");
  assert_true(number_at(object, "degrees_of_freedom") == 10.0);
  json_decref(object);
  expect("polhode run " PARTICLES " --set simulation.end=0.01", 0);
  expect_text(out, "\np4     position ");
  assert_null(strstr(out, "angular"));
  expect("polhode run " PARTICLES " --set simulation.end=0.01 --json", 0);
  object = parse_output();
  assert_int_equal(json_object_size(at(object, "final.bodies.p4")), 2);
  expect_length(object, "final.bodies.p4.velocity", 3);
  json_decref(object);
#undef PARTICLES
}

/* A drive is listed, takes a degree of freedom, and tells its torque. */
static void drives_are_told(void **state)
{
  (void)state;
  expect("polhode check " POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json", 0);
  expect_text(out, "\ndrive           motor, rotation of A, speed\n");
  expect_text(out, "0 of 18: 21 constraints, 3 redundant\n");
  expect("polhode check " POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json --json", 0);
  json_t *object = parse_output();
  expect_length(object, "drives", 1);
  expect_word(json_array_get(at(object, "drives"), 0), "joint", "A");
  assert_null(json_object_get(json_array_get(at(object, "drives"), 0), "expression"));
  json_decref(object);
  expect("polhode run " POLHODE_SOURCE_DIR
         "/models/examples/four_bar_motor.json --set simulation.end=0.1",
         0);
  expect_text(out, "\nmotor    torque            N m    ");
  expect("polhode run " POLHODE_SOURCE_DIR
         "/models/examples/four_bar_motor.json --set simulation.end=0.1 --json",
         0);
  object = parse_output();
  assert_true(fabs(number_at(object, "final.drives.motor.torque")) > 1e-4);
  json_decref(object);
}

/* An expression is told as it is written, a wrong one with the column. */
static void expressions_are_told(void **state)
{
  (void)state;
#define CHECK_WITH(text)                                                                           \
  "polhode check " POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json "                      \
  "--set drives[0].function={\"expression\":\"" text "\"}"
  expect(CHECK_WITH("0.1*sin(2*pi*t)"), 0);
  expect_text(out, "\ndrive           motor, rotation of A, expression 0.1*sin(2*pi*t)\n");
  expect(CHECK_WITH("0.1*sin(2*pi*t)") " --json", 0);
  json_t *object = parse_output();
  expect_word(json_array_get(at(object, "drives"), 0), "function", "expression");
  expect_word(json_array_get(at(object, "drives"), 0), "expression", "0.1*sin(2*pi*t)");
  json_decref(object);
  expect(CHECK_WITH("0.1*sni(2*pi*t)"), 2);
  expect_text(err,
              "drives[0].function.expression = \"0.1*sni(2*pi*t)\": must be an expression of t: "
              "column 5: 'sni' is not a known function; did you mean \"sin\"?\n");
#undef CHECK_WITH
}

/* A hinge about x allows no spin about y. */
static void check_tells_what_had_to_change(void **state)
{
  (void)state;
  expect("polhode check top.json --set joints[0].type=revolute --set joints[0].axis=[1,0,0]", 0);
  expect_text(out, "locks translations x y z, 2 rotations\n");
  expect_text(out, "1 of 6: 5 constraints\n");
  expect_text(out, "  angular vel.  changed by 150 rad/s: the joints do not allow the given one\n");
}

/* What a quiet run changes of its input is told all the same, and only then. */
static void quiet_runs_tell_what_had_to_change(void **state)
{
  (void)state;
  static const char revolute[] =
      "polhode run top.json --set joints[0].type=revolute --set joints[0].axis=[1,0,0] "
      "--set simulation.end=0.01";
  static const char note[] = "given velocities changed by up to ";
  char line[400];
  expect(revolute, 0);
  expect_text(out, note);
  assert_string_equal(err, "");
  snprintf(line, sizeof line, "%s --quiet", revolute);
  expect(line, 0);
  assert_string_equal(out, "");
  assert_ptr_equal(strstr(err, "note: given velocities changed by up to 0 m/s and 150.1 rad/s"),
                   err);
  assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
  snprintf(line, sizeof line, "%s --quiet --json", revolute);
  expect(line, 0);
  assert_string_equal(err, "");
}

static void nameless_models_show_their_file(void **state)
{
  (void)state;
  expect("polhode run top.json --set name=\"\" --end 1e-3 "
         "--set simulation.newton={\"tolerance\":0.5}",
         0);
  expect_text(out, "model           top.json\n");
  expect_text(out, " 1 iteration, 1.00 a step\n");
  expect("polhode check top.json --set name=\"\" --set simulation.newton={\"max_iterations\":1.0}",
         0);
  expect_text(out, "model           top.json\n");
  expect_text(out, "at most 1 iteration\n");
}

/* Two joints that lock the same point: the second is left out and named, or the model is refused.
 */
static void check_names_redundant_joints(void **state)
{
  (void)state;
  const char *end = strstr(heavy_top, " ],\n  \"simulation\"");
  char text[2000];
  assert_non_null(end);
  snprintf(text, sizeof text,
           "%.*s, { \"name\": \"again\", \"type\": \"spherical\", \"bodies\": [\"top\", "
           "\"ground\"], \"point\": [0, 0, 0] }%s",
           (int)(end - heavy_top), heavy_top, end);
  write_text("twice.json", text);
  expect("polhode check twice.json", 0);
  expect_text(out, "3 of 6: 6 constraints, 3 redundant");
  expect_text(out, "', translation x, left out");
  expect("polhode run twice.json --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "done");
  assert_int_equal(json_array_size(at(object, "redundant")), 3);
  json_decref(object);
  expect("polhode run twice.json --json --set simulation.redundant=refuse", 1);
  object = parse_output();
  expect_word(object, "status", "failed");
  const char *message = json_string_value(at(object, "failure.message"));
  assert_non_null(message);
  assert_non_null(strstr(message, "3 constraints follow from the others: joint '"));
  json_decref(object);
}

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
  expect_word(json_array_get(at(object, "sigma_update"), 1), "name", "incremental");
  expect_word(json_array_get(at(object, "start"), 3), "name", "perturbed");
  json_decref(object);
}

/* --- signals and terminals -------------------------------------------------------------------- */

static void sleep_milliseconds(long milliseconds)
{
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* Waits until the file holds something. */
static void wait_for_content(const char *path)
{
  struct stat info;
  for (int i = 0; i < 500; i++) {
    if (stat(path, &info) == 0 && info.st_size > 100000) return;
    sleep_milliseconds(10);
  }
  fail_msg("%s did not grow", path);
}

static void expect_stop(int signal_number, int expected)
{
  char *arguments[] = {"polhode", "run",         "top.json", "--end", "1000",
                       "--out",   "stopped.csv", "--json",   NULL};
  char last[4000];
  remove("stopped.csv");
  pid_t child = start(-1, arguments);
  wait_for_content("stopped.csv");
  assert_int_equal(kill(child, signal_number), 0);
  assert_int_equal(finish(child), expected);
  json_t *object = parse_output();
  expect_word(object, "status", "interrupted");
  long steps = (long)json_integer_value(at(object, "steps"));
  assert_true(steps > 0);
  assert_int_equal(count_rows("stopped.csv", last, sizeof last), steps + 1);
  json_decref(object);
  remove("stopped.csv");
}

static void signals_stop_a_run_cleanly(void **state)
{
  (void)state;
  expect_stop(SIGINT, 130);
  expect_stop(SIGTERM, 143);
}

/* Whole lines of a file whose last one may be cut, each with as many fields as the head. */
static int count_whole_rows(const char *path)
{
  static char line[4000];
  FILE *file = fopen(path, "r");
  int lines = 0, fields = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL) {
    int commas = 0;
    for (const char *c = line; *c; c++) commas += *c == ',';
    if (lines >= 2 && fields == 0) fields = commas;
    if (lines >= 2) assert_int_equal(commas, fields);
    lines++;
  }
  fclose(file);
  return lines - 3;
}

/* Even a run that is killed leaves whole lines; only the last may be cut, where the system stopped
 * in the middle of a write. */
static void a_killed_run_leaves_whole_lines(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "run", "top.json", "--end", "1000", "--out", "killed.csv", NULL};
  pid_t child = start(-1, arguments);
  wait_for_content("killed.csv");
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(finish(child), -1);
  assert_true(count_whole_rows("killed.csv") > 100);
  remove("killed.csv");
}

/* Appends what a terminal shows to err, which has `size` characters; how many were added. */
static size_t read_more(int terminal, size_t size)
{
  ssize_t count = read(terminal, err + size, sizeof err - 1 - size);
  size_t added = count > 0 ? (size_t)count : 0;
  err[size + added] = '\0';
  return added;
}

static void a_terminal_gets_a_progress_bar(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "run", "top.json", "--end", "1000", "--quiet", NULL};
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) skip();
  assert_int_equal(grantpt(terminal), 0);
  assert_int_equal(unlockpt(terminal), 0);
  int other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  assert_true(other_end >= 0);
  assert_int_equal(fcntl(terminal, F_SETFL, O_NONBLOCK), 0);

  /* --quiet: no bar; without: a bar that is erased at the end. */
  for (int quiet = 1; quiet >= 0; quiet--) {
    if (!quiet) arguments[5] = NULL;
    pid_t child = start(other_end, arguments);
    /* long enough for a bar, or until there is one */
    size_t size = 0;
    for (int i = 0; i < (quiet ? 5 : 100); i++) {
      sleep_milliseconds(100);
      size += read_more(terminal, size);
      if (strstr(err, " left")) break;
    }
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(finish(child), 130);
    for (size_t added = 1; added > 0; size += added) {
      sleep_milliseconds(20); /* a terminal hands on its text in pieces */
      added = read_more(terminal, size);
    }
    if (quiet) {
      assert_true(size == 0);
    } else {
      assert_true(size > 6);
      expect_text(err, "\r[");
      expect_text(err, " %  ");
      expect_text(err, " left");
      assert_memory_equal(err + size - 6, "     \r", 6);
      assert_null(strchr(err, '\n'));
    }
  }
  close(other_end);
  close(terminal);
}

static void lost_output_is_told(void **state)
{
  (void)state;
  pid_t child = fork();
  int status;
  assert_true(child >= 0);
  if (child == 0) {
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
    dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execl(POLHODE_BINARY, "polhode", "methods", (char *)NULL);
    _exit(99);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 1);
  read_text("err", err);
  expect_text(err, "standard output cannot be written");
}

/* --- main ------------------------------------------------------------------------------------- */

static int enter_folder(void **state)
{
  (void)state;
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return -1;
  write_text("top.json", heavy_top);
  return 0;
}

static int leave_folder(void **state)
{
  static const char *const files[] = {"top.json", "springs.json", "twice.json", "doubtful.json",
                                      "top.csv",  "failed.csv",   "out",        "err"};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove(files[i]);
  return chdir("..") == 0 ? rmdir(folder) : -1;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(help_of_everything),
      cmocka_unit_test(wrong_command_lines),
      cmocka_unit_test(a_run_prints_its_summary),
      cmocka_unit_test(json_holds_everything),
      cmocka_unit_test(options_override_the_model),
      cmocka_unit_test(results_are_written),
      cmocka_unit_test(wrong_models),
      cmocka_unit_test(settings_that_do_not_fit),
      cmocka_unit_test(doubtful_parameters_give_a_warning),
      cmocka_unit_test(sigma_and_start_are_told),
      cmocka_unit_test(a_failing_run_keeps_its_results),
      cmocka_unit_test(a_full_disk_is_told),
      cmocka_unit_test(check_tells_what_a_model_is),
      cmocka_unit_test(check_tells_of_forces_and_distances),
      cmocka_unit_test(check_tells_of_springs_and_drag),
      cmocka_unit_test(couplings_are_told),
      cmocka_unit_test(joint_springs_are_told),
      cmocka_unit_test(points_are_told),
      cmocka_unit_test(drives_are_told),
      cmocka_unit_test(expressions_are_told),
      cmocka_unit_test(check_tells_what_had_to_change),
      cmocka_unit_test(quiet_runs_tell_what_had_to_change),
      cmocka_unit_test(nameless_models_show_their_file),
      cmocka_unit_test(check_names_redundant_joints),
      cmocka_unit_test(methods_are_listed),
      cmocka_unit_test(signals_stop_a_run_cleanly),
      cmocka_unit_test(a_killed_run_leaves_whole_lines),
      cmocka_unit_test(a_terminal_gets_a_progress_bar),
      cmocka_unit_test(lost_output_is_told),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
