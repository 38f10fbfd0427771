/* polhode run: its summary, JSON and result files, wrong models and settings, failures. */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

static void a_run_prints_its_summary(void **state)
{
  (void)state;
  expect("polhode run top.json", 0);
  assert_string_equal(err, ""); /* no progress bar: this is no terminal */
  expect_text(out, "Heavy top (top.json)\n");
  assert_ptr_equal(strstr(out, "done            t = 0.1 s; end accurate to about 0.0005 m and "
                               "0.0005 rad; energy to 9e-07\n"),
                   out);
  expect_text(out, "\nmethod          geom1, index 3, in so3xr3\n");
  expect_text(out, "100 of 0.001 s, 0 rejected\n");
  expect_text(out, "microseconds per step\n");
  expect_text(out, "angular velocity");
  expect_text(out, "\ntip ");
  expect_text(out, "\nenergy drift");
  expect_text(out, "\nconstraints     positions to ");
  assert_null(strstr(out, "Newton"));
  expect("polhode run -v top.json", 0);
  expect_text(out, "\nmethod          geom1, index 3\nsigma           0\n");
  expect_text(out, "\nformulation     so3xr3\n");
  expect_text(out, "\nNewton          ");
  expect_text(out, "\nconstraints     at most |Phi| ");
  expect_text(out, "\ninvariant       energy ");
  expect("polhode run top.json --quiet", 0);
  assert_string_equal(out, "");
  assert_string_equal(err, "");
}

/* The table shows no round-off: neither of a body that rests on a stop, nor of an energy that comes
 * back to zero, nor of reactions where nothing pulls; JSON has every digit. */
static void the_summary_has_no_round_off(void **state)
{
  (void)state;
  static const char model[] =
      "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"mass\": 1, "
      "\"inertia\": [0.1, 0.1, 0.1], \"position\": [0, 0, 1]}], \"joints\": [{\"name\": "
      "\"guide\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"b\"], \"point\": [0, 0, "
      "0], \"axis\": [0, 0, 1], \"limits\": {\"min\": -0.3, \"restitution\": 0.3}}], "
      "\"simulation\": {\"end\": 2, \"step\": %g}}";
  static const double steps[] = {1e-2, 1e-3, 1e-4};
  for (int k = 0; k < 3; k++) {
    FILE *file = fopen("resting.json", "w");
    fprintf(file, model, steps[k]);
    fclose(file);
    expect("polhode run resting.json", 0);
    expect_text(out, "       velocity          m/s                    0                 0        "
                     "         0\n");
    expect_text(out, "\nconstraints     positions to round-off, velocities to round-off\n");
    expect("polhode run resting.json --json", 0);
    json_t *object = parse_output();
    assert_true(json_number_value(json_array_get(at(object, "final.bodies.b.velocity"), 2)) != 0.0);
    json_decref(object);
  }
  /* nor the balance of a body that rests all the time: all energies are round-off */
  FILE *file = fopen("stopped.json", "w");
  fprintf(file,
          "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"mass\": 1, "
          "\"inertia\": [1, 1, 1], \"position\": [1, 0, 0]}], \"joints\": [{\"name\": \"h\", "
          "\"type\": \"revolute\", \"bodies\": [\"ground\", \"b\"], \"point\": [0, 0, 0], "
          "\"axis\": [0, 1, 0], \"damping\": 0.1, \"limits\": {\"max\": 0, \"restitution\": 0}}], "
          "\"simulation\": {\"end\": 1, \"step\": 1e-3}}");
  fclose(file);
  expect("polhode run stopped.json", 0);
  expect_text(out, "; energy balance to round-off\n");
  expect_text(out, "\nenergy          initial 0 J, final 0 J\n");
  assert_null(strstr(out, "\nenergy balance "));
  expect("polhode run " POLHODE_SOURCE_DIR "/models/examples/friction_block.json", 0);
  expect_text(out,
              "velocity          m/s                    0                 0                 0");
  expect_text(out, "\nenergy          initial 9 J, final 0 J\n");
  /* what is slow, small or short is not round-off */
  expect("polhode run " POLHODE_SOURCE_DIR "/models/examples/pendulum.json --end 1e-6 --step 1e-7",
         0);
  expect_text(out,
              "velocity          m/s                    0                 0       -7.3575e-06\n");
  expect_text(
      out,
      "hinge  force             N                      0                 0            2.4525\n");
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

/* The energy-momentum method with nothing said about its iteration: energy to 1e-13 of the value
 * given here, momenta likewise, and reactions in the middle of the step. */
static void invariants_are_kept(void **state)
{
  (void)state;
  static const struct {
    const char *arguments;
    double energy, t, step;
    int count;
  } cases[] = {
      {"kinon-betsch-schneider-2023/pendulum.json --step 0.05", 0.5, 10.0, 0.05, 2},
      {"kinon-betsch-schneider-2023/four_particles.json --step 0.01 --end 10", 1.176, 10.0, 0.01,
       7},
      {"bruels-cardona-2010/heavy_top.json --step 0.001 --end 0.5", 5500.0, 0.5, 0.001, 2},
      {"holzinger-arnold-gerstmayr/slider_crank.json --step 0.002 --end 0.5", 0.77, 0.5, 0.002, 1},
  };
  static const char *const formulations[] = {"directors", "euler-parameters"};
  for (size_t n = 0; n < 2 * sizeof cases / sizeof cases[0]; n++) {
    size_t c = n / 2;
    char command[512];
    snprintf(command, sizeof command,
             "polhode run " POLHODE_SOURCE_DIR "/models/%s --formulation %s --method em --json",
             cases[c].arguments, formulations[n % 2]);
    expect(command, 0);
    json_t *object = parse_output(), *own;
    const char *name;
    assert_true(number_at(object, "t") == cases[c].t);
    assert_true(fabs(number_at(object, "t_reactions") - cases[c].t + 0.5 * cases[c].step) < 1e-12);
    assert_int_equal(json_object_size(at(object, "invariants")), cases[c].count);
    json_object_foreach(at(object, "invariants"), name, own)
    {
      double scale =
          strcmp(name, "energy") ? 1.0 + fabs(number_at(own, "initial")) : cases[c].energy;
      assert_true(number_at(own, "max_increment") < 1e-13 * scale);
      assert_true(number_at(own, "max_drift") < 1e-13 * scale);
    }
    json_decref(object);
  }
  expect("polhode run " POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json "
         "--formulation directors --method em --end 0.01 -v",
         0);
  expect_text(out, "\nreactions are those of t = 0.0095 s\n");
  expect_text(out, "\ninvariant       energy 5");
  expect_text(out, "\ninvariant       angular momentum about z ");
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
  expect_text(out, "top.csv, 101 rows of 52 columns\n");

  expect("polhode run top.json --out no/such/folder/top.csv", 2);
  expect_text(err, "--out = no/such/folder/top.csv: ");
  assert_string_equal(out, "");
  expect("polhode run top.json --out /dev/full", 1);
  expect_text(err, "--out = /dev/full: No space left on device; nothing was written\n");
}

static void wrong_models(void **state)
{
  (void)state;
  expect("polhode run top.json --set bodies[0].mass=-3 --set simulation.step=0", 2);
  expect_text(err, "top.json:2: bodies[0].mass (body 'top') = -3: must be ");
  expect_text(err, "top.json:7: simulation.step = 0: must be ");
  expect_text(err, "\n2 errors\n");
  assert_string_equal(out, "");
  expect("polhode run top.json --method goem1", 2);
  expect_text(err, "; did you mean \"geom1\"?\n1 error\n");
  expect("polhode check top.json --json --set bodies[0].mass=-3", 2);
  expect_text(err, "top.json:2: bodies[0].mass (body 'top') = -3: must be a positive number\n");
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

/* A variational method on the model of another: its own settings are told, those without effect
 * give a warning. */
static void variational_methods_run(void **state)
{
  (void)state;
  static const char options[] =
      "top.json --set simulation.method=vi-b --set simulation.formulation=directors --set "
      "simulation.vartheta=0.25 --set simulation.rho_inf=0.8";
  char command[256];
  snprintf(command, sizeof command, "polhode run %s --verbose", options);
  expect(command, 0);
  expect_text(err, "warning: rho_inf has no effect on vi-b\n");
  expect_text(out, "\nmethod          vi-b\nvartheta        0.25\nguess           advanced\n");
  snprintf(command, sizeof command, "polhode run %s --json", options);
  expect(command, 0);
  json_t *object = parse_output();
  assert_true(number_at(object, "vartheta") == 0.25);
  assert_true(json_is_null(at(object, "theta")));
  expect_word(object, "method", "vi-b");
  json_decref(object);
  snprintf(command, sizeof command, "polhode check %s", options);
  expect(command, 0);
  expect_text(out, "\nmethod          vi-b\nvartheta        0.25\n");
  assert_null(strstr(out, "alpha_m"));
  /* rattle has a guess in directors only */
  expect("polhode check top.json --set simulation.method=rattle", 0);
  assert_null(strstr(out, "\nguess "));
  expect("polhode check top.json --set simulation.method=rattle --set "
         "simulation.formulation=directors",
         0);
  expect_text(out, "\nformulation     directors\nguess           advanced\n");
  expect("polhode methods", 0);
  expect_text(out, "    settings   theta vartheta guess\n");
}

/* What does not fit the formulation or the mechanism is an error of the input, with the reason. */
static void settings_that_do_not_fit(void **state)
{
  (void)state;
  static const struct {
    const char *options, *reason;
  } cases[] = {
      {"--set simulation.formulation=rotation-vector --set simulation.sigma=1",
       "simulation: rotation-vector requires the classical method"},
      {"--set simulation.formulation=rotation-vector --set simulation.method=geom3",
       "simulation: rotation-vector requires the classical method"},
      {"--set simulation.formulation=so3xr3-cayley --set simulation.sigma=optimal",
       "simulation: sigma needs the exponential map"},
      {"--set simulation.method=em",
       "simulation: the method requires coordinates of a vector space"},
      {"--set simulation.method=em", "euler-parameters"},
      {"--set simulation.method=rattle --set simulation.formulation=rotation-vector",
       "simulation: the method requires coordinates of a vector space, or rigid bodies in so3xr3, "
       "whose motion does not depend on the formulation: use so3xr3"},
      {"--set simulation.method=rattle --set simulation.formulation=euler-parameters",
       "simulation: the method requires a constant mass matrix"},
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
    expect_text(err,
                "warning: gamma is not 1/2 + alpha_f - alpha_m: the method is of first order\n");
    const char *damping = strstr(err, "warning: t = 0 s: index 3 with almost no numerical damping");
    assert_non_null(damping);
    assert_null(strstr(damping + 1, "warning: t = 0 s: index 3")); /* once */
    strcat(line, " --json");
    expect(line, 0);
    json_t *object = parse_output();
    expect_length(object, "warnings", 2);
    json_decref(object);
    snprintf(line, sizeof line, "polhode %s top.json --json", commands[k]);
    expect(line, 0);
    assert_string_equal(err, "");
    object = parse_output();
    expect_length(object, "warnings", 0);
    json_decref(object);
  }
}

/* Steps of variable size, their rows, and what both commands tell of them. */
static void variable_steps_are_told(void **state)
{
  (void)state;
  char last[4000];
  expect("polhode run top.json --rtol 1e-5 --json --out top.csv --set simulation.output={}", 2);
  expect("polhode run top.json --rtol 1e-5 --json --out top.csv --set "
         "simulation.output={\"step\":0.01}",
         0);
  json_t *object = parse_output();
  assert_int_equal(count_rows("top.csv", last, sizeof last), 11);
  assert_true(json_is_null(at(object, "step")));
  assert_true(number_at(object, "control.rtol") == 1e-5);
  assert_true(number_at(object, "control.atol_rotation") == 1e-5);
  assert_true(number_at(object, "steps") > 50.0 && number_at(object, "steps") < 200.0);
  assert_true(number_at(object, "smallest_step") > 1e-4);
  assert_true(number_at(object, "largest_step") < 3e-3);
  assert_true(number_at(object, "t") == 0.1);
  expect_length(object, "warnings", 0);
  json_decref(object);

  expect("polhode run top.json --atol 1e-5", 0);
  expect_text(out, "\nsteps           ");
  expect_text(out, " rejected\n");
  expect("polhode check top.json --set simulation.rtol=1e-4 --set simulation.atol=1e-6 --set "
         "simulation.output={\"times\":[0.02]} --set simulation.rho_inf=1",
         0);
  expect_text(out, "\ntime            0 to 0.1 s in steps of variable size\n");
  expect_text(out, "\ntolerances      relative 0.0001, absolute 1e-06 m and 1e-06 rad\n");
  expect_text(out, "\noutput          at 1 time and the end\n");
  expect_text(err, "warning: without numerical damping");
  expect("polhode run top.json --rtol 1e-4 --json --set simulation.rho_inf=1", 0);
  object = parse_output();
  expect_length(object, "warnings", 2); /* and that index 3 needs damping */
  json_decref(object);

  /* a model may have both; without tolerances nothing changes */
  expect("polhode run top.json --rtol 1e-4 --set simulation.steps=fixed --json", 0);
  object = parse_output();
  assert_true(json_is_null(at(object, "control")));
  assert_true(number_at(object, "smallest_step") == number_at(object, "step"));
  json_decref(object);

  expect("polhode run top.json --rtol 1e-8 --set simulation.control={\"min_step\":0.001}", 1);
  expect_text(err, "the tolerances require a step below 0.001 s\n");
  expect_text(err, "where:  body 'top'");
}

/* Sigma and start are told by both commands. */
static void sigma_and_start_are_told(void **state)
{
  (void)state;
  static const char settings[] =
      "top.json --set simulation.sigma=optimal --set simulation.rho_inf=1 --set "
      "simulation.start=shifted";
  char line[300];
  snprintf(line, sizeof line, "polhode run %s --verbose", settings);
  expect(line, 0);
  expect_text(out, "\nsigma           0.666667\n");
  expect_text(out, "\nstart           shifted\n");
  strcat(line, " --json");
  expect(line, 0);
  json_t *object = parse_output();
  assert_true(fabs(number_at(object, "sigma") - 2.0 / 3.0) < 1e-15);
  assert_true(json_is_null(at(object, "published")));
  expect_word(object, "start", "shifted");
  json_decref(object);
  snprintf(line, sizeof line, "polhode check %s", settings);
  expect(line, 0);
  expect_text(out, "\nsigma           0.666667\n");
  expect_text(out, "\nstart           shifted\n");
  strcat(line, " --json");
  expect(line, 0);
  object = parse_output();
  assert_true(fabs(number_at(object, "simulation.sigma") - 2.0 / 3.0) < 1e-15);
  assert_true(json_is_null(at(object, "simulation.published")));
  expect_word(object, "simulation.start", "shifted");
  json_decref(object);
}

/* Options to repeat a published run arrive, and are shown where there are any. */
static void published_options_are_shown(void **state)
{
  (void)state;
  static const char line[] = "polhode run top.json --set simulation.sigma=1 --set "
                             "simulation.published.sigma_update=printed";
  char json_line[200];
  snprintf(json_line, sizeof json_line, "%s --verbose", line);
  expect(json_line, 0);
  expect_text(out, "\nas published    newton default, 0 exact iterations, sigma update printed, "
                   "estimate corrected\n");
  snprintf(json_line, sizeof json_line, "%s --json", line);
  expect(json_line, 0);
  json_t *object = parse_output();
  expect_word(object, "published.sigma_update", "printed");
  expect_word(object, "published.newton", "default");
  expect_word(object, "published.estimate", "corrected");
  assert_true(number_at(object, "published.exact_iterations") == 0.0);
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

/* A disk that fills up. */
static void a_full_disk_is_told(void **state)
{
  (void)state;
  enum { LIMIT = 100000 };
  int while_running =
      run_on_full_disk("polhode run top.json --end 1 --out failed.csv --json", LIMIT);
  json_t *object = parse_output();
  int at_the_end = run_on_full_disk("polhode run top.json --end 0.13 --out failed.csv", LIMIT);
  assert_int_equal(while_running, 1);
  expect_word(object, "status", "failed");
  expect_text(json_string_value(at(object, "failure.message")), "failed.csv cannot be written: ");
  assert_true(number_at(object, "t") < 1.0);
  assert_null(json_object_get(object, "result"));
  json_decref(object);
  assert_int_equal(at_the_end, 1);
  expect_text(out, "failed          t = 0.13 s; energy ");
  expect_text(err, "failed.csv cannot be written: ");
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

/* What happens at events, in words and as rows of time and name. */
static void events_are_told(void **state)
{
  (void)state;
#define BALL POLHODE_SOURCE_DIR "/models/examples/bouncing_ball.json"
  char last[4000];
  expect("polhode check " BALL, 0);
  expect_text(out, "\nevent           bounce, where ball.position.z - 0.1 falls through 0: reset\n"
                   "  sets          ball.velocity.z = -0.8*ball.velocity.z\n");
  expect("polhode check " BALL " --json", 0);
  json_t *object = parse_output();
  expect_length(object, "events", 3);
  expect_word(json_array_get(at(object, "events"), 0), "direction", "falling");
  expect_word(json_array_get(at(object, "events"), 2), "action", "stop");
  json_decref(object);
  expect("polhode run " BALL, 0);
  expect_text(out, "\nbounce                         0.4515236410\n");
  expect_text(out, "done            t = 2.75 s of 5 s; end accurate to ");
  expect("polhode run " BALL " --json --out ball.csv", 0);
  object = parse_output();
  expect_length(object, "events", 11);
  expect_word(json_array_get(at(object, "events"), 1), "name", "top");
  assert_true(fabs(number_at(json_array_get(at(object, "events"), 10), "t") - 2.75) < 1e-10);
  json_decref(object);
  /* the start, 137 output times and 11 events */
  assert_int_equal(count_rows("ball.csv", last, sizeof last), 149);
  expect("polhode run " BALL " --quiet --formulation so3", 2);
#undef BALL
}

/* Parameters of one method do nothing in another: one file serves all of them. */
static void parameters_of_other_methods_give_a_warning(void **state)
{
  (void)state;
  expect("polhode run top.json --method hht", 0);
  assert_string_equal(err, "warning: rho_inf has no effect on hht\n");
  expect_text(out, "\nmethod          hht");
  expect("polhode check top.json --set simulation.method=newmark --set simulation.alpha=-0.1 --set "
         "simulation.index=2",
         0);
  assert_string_equal(err, "warning: rho_inf, alpha have no effect on newmark\n");
  expect("polhode check top.json --set simulation.alpha=-0.1 --json", 0);
  json_t *object = parse_output();
  expect_length(object, "warnings", 1);
  json_decref(object);
  expect("polhode check top.json --set simulation.method=hht --set simulation.alpha=-0.4", 2);
}

/* Without index and rho_inf steps of variable size take what serves them best; fixed ones and the
 * methods of the paper stay as they are. */
static void variable_steps_have_their_own_defaults(void **state)
{
  (void)state;
#define PENDULUM "polhode check " POLHODE_SOURCE_DIR "/models/examples/pendulum.json "
  expect(PENDULUM "--set simulation.method=geom1 --set simulation.rtol=1e-6", 0);
  expect_text(out, "\nmethod          geom1, index stabilized-2\n");
  expect_text(out, "\nparameters      alpha_m 0.333333, alpha_f 0.444444,");
  expect(PENDULUM
         "--set simulation.rtol=1e-6 --set simulation.index=3 --set simulation.rho_inf=0.9",
         0);
  expect_text(out, "\nmethod          geom1, index 3\n");
  expect_text(out, "\nparameters      alpha_m 0.421053, alpha_f 0.473684,");
  expect(PENDULUM "--set simulation.method=geom1", 0);
  expect_text(out, "\nmethod          geom1, index 3\n");
  expect(PENDULUM "--set simulation.method=hht --set simulation.rtol=1e-6", 0);
  expect_text(out, "\nmethod          hht, index 3\n");
#undef PENDULUM
}

/* A model that names no method: the choice and its reason in one line, everywhere. */
static void the_choice_of_a_method_is_printed(void **state)
{
  (void)state;
#define PENDULUM POLHODE_SOURCE_DIR "/models/examples/pendulum.json "
  expect("polhode check " PENDULUM, 0);
  expect_text(out, "\nmethod          rattle\n");
  expect_text(out, "\nchosen          rattle: there are no springs and dampers");
  expect("polhode run " PENDULUM, 0);
  expect_text(out, "\nchosen          rattle: there are no springs and dampers");
  expect("polhode run --json " PENDULUM, 0);
  expect_text(out, "\"choice\": \"rattle: there are no springs and dampers");
  expect("polhode run --json --method geom1 " PENDULUM, 0);
  expect_text(out, "\"choice\": \"\"");
  /* a stop that is not reached yet is a spring, too */
  expect("polhode run resting.json", 0);
  expect_text(out, "\nchosen          rattle: no spring or damper acts at the start\n");
#undef PENDULUM
}

/* A model that is read but has no solution is wrong input, not a failure of the numerics. */
static void models_that_cannot_start_are_invalid(void **state)
{
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"{\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":[1,1,1]}],"
       "\"markers\":[{\"name\":\"p\",\"body\":\"ground\"},"
       "{\"name\":\"q\",\"body\":\"ground\",\"position\":[3,0,0]},"
       "{\"name\":\"r\",\"body\":\"a\"},{\"name\":\"s\",\"body\":\"a\",\"position\":[1,0,0]}],"
       "\"joints\":[{\"name\":\"l\",\"type\":\"spherical\",\"markers\":[\"p\",\"r\"]},"
       "{\"name\":\"m\",\"type\":\"spherical\",\"markers\":[\"q\",\"s\"]}],"
       "\"simulation\":{\"step\":0.001,\"end\":0.1}}",
       "no position satisfies joint 'l' and joint 'm' together"},
      {"{\"bodies\":[{\"name\":\"a\",\"mass\":1e200,\"inertia\":[1,1,1],\"velocity\":[1e200,0,0]}],"
       "\"simulation\":{\"step\":0.001,\"end\":0.1}}",
       "the energy is not finite"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text("cannot_start.json", cases[i].text);
    expect("polhode run cannot_start.json", 2);
    expect_text(err, cases[i].message);
    expect("polhode check cannot_start.json", 2);
    expect_text(err, cases[i].message);
    for (int check = 0; check < 2; check++) {
      expect(check ? "polhode check cannot_start.json --json"
                   : "polhode run cannot_start.json --json",
             2);
      json_t *object = parse_output();
      expect_word(object, "status", "invalid");
      expect_length(object, "errors", 1);
      assert_non_null(strstr(json_string_value(at(object, "failure.message")), cases[i].message));
      json_decref(object);
    }
  }
}

/* One rule, whoever says the step and the end. */
static void a_step_longer_than_the_end_is_refused(void **state)
{
  (void)state;
  write_text("top.json", heavy_top);
  expect("polhode run top.json --step 0.2 --end 0.1", 2);
  expect_text(err, "simulation.step = 0.2: must not be longer than end");
  expect("polhode run top.json --end 1e-9", 2);
  expect_text(err, "must not be longer than end");
  expect("polhode run top.json --step 0.001 --end 0.001", 0);
}

/* A singular position is in the table; without a table it is a warning, and one of the JSON. */
static void singular_positions_are_reported_without_a_table(void **state)
{
  (void)state;
  /* a four-bar that swings through its flat position */
  static const char model[] =
      "{\"gravity\":[0,0,-9.81],\"bodies\":[{\"name\":\"r0\",\"mass\":1,\"inertia\":[0.08,0"
      ".08,0.001],\"position\":[0,0,0.5],\"velocity\":[0.5,0,0],\"angular_velocity\":[0,1,0"
      "]},{\"name\":\"r1\",\"mass\":1,\"inertia\":[0.08,0.08,0.001],\"position\":[1,0,0.5],"
      "\"velocity\":[0.5,0,0],\"angular_velocity\":[0,1,0]},{\"name\":\"c0\",\"mass\":1,\"i"
      "nertia\":[0.001,0.08,0.08],\"position\":[0.5,0,1],\"velocity\":[1,0,0]}],\"joints\":"
      "[{\"name\":\"g0\",\"type\":\"revolute\",\"bodies\":[\"ground\",\"r0\"],\"point\":[0,"
      "0,0],\"axis\":[0,1,0]},{\"name\":\"g1\",\"type\":\"revolute\",\"bodies\":[\"ground\""
      ",\"r1\"],\"point\":[1,0,0],\"axis\":[0,1,0]},{\"name\":\"a0\",\"type\":\"revolute\","
      "\"bodies\":[\"r0\",\"c0\"],\"point\":[0,0,1],\"axis\":[0,1,0]},{\"name\":\"b0\",\"ty"
      "pe\":\"revolute\",\"bodies\":[\"r1\",\"c0\"],\"point\":[1,0,1],\"axis\":[0,1,0]}],\""
      "simulation\":{\"step\":0.005,\"end\":1}}";
  static const char text[] = "singular position, first near t = 0.70";
  write_text("flat.json", model);
  expect("polhode run flat.json", 0);
  expect_text(out, text);
  assert_string_equal(err, "");
  expect("polhode run flat.json --quiet", 0);
  expect_text(err, "warning: ");
  expect_text(err, text);
  expect("polhode run flat.json --json", 0);
  json_t *object = parse_output();
  const json_t *warnings = json_object_get(object, "warnings");
  assert_int_equal(json_array_size(warnings), 1);
  expect_text(json_string_value(json_array_get(warnings, 0)), text);
  json_decref(object);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(models_that_cannot_start_are_invalid),
      cmocka_unit_test(a_step_longer_than_the_end_is_refused),
      cmocka_unit_test(a_run_prints_its_summary),
      cmocka_unit_test(the_summary_has_no_round_off),
      cmocka_unit_test(json_holds_everything),
      cmocka_unit_test(options_override_the_model),
      cmocka_unit_test(invariants_are_kept),
      cmocka_unit_test(results_are_written),
      cmocka_unit_test(wrong_models),
      cmocka_unit_test(variational_methods_run),
      cmocka_unit_test(settings_that_do_not_fit),
      cmocka_unit_test(doubtful_parameters_give_a_warning),
      cmocka_unit_test(sigma_and_start_are_told),
      cmocka_unit_test(published_options_are_shown),
      cmocka_unit_test(variable_steps_are_told),
      cmocka_unit_test(a_failing_run_keeps_its_results),
      cmocka_unit_test(a_full_disk_is_told),
      cmocka_unit_test(quiet_runs_tell_what_had_to_change),
      cmocka_unit_test(events_are_told),
      cmocka_unit_test(parameters_of_other_methods_give_a_warning),
      cmocka_unit_test(singular_positions_are_reported_without_a_table),
      cmocka_unit_test(variable_steps_have_their_own_defaults),
      cmocka_unit_test(the_choice_of_a_method_is_printed),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
