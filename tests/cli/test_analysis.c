/* polhode static, modes and linearize: tables, JSON, results, files, wrong input. */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

static const char pendulum[] =
    "{ \"name\": \"Pendulum\", \"gravity\": [0, 0, -9.81],\n"
    "  \"bodies\": [ { \"name\": \"rod\", \"mass\": 1, \"inertia\": [0.01, 0.1, 0.1], "
    "\"position\": "
    "[0.5, 0, 0] } ],\n"
    "  \"joints\": [ { \"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
    "\"rod\"], \"point\": [0, 0, 0], \"axis\": [0, 1, 0] } ],\n"
    "  \"forces\": [ { \"name\": \"motor\", \"type\": \"joint-spring\", \"joint\": \"hinge\", "
    "\"coordinate\": \"rotation\", \"stiffness\": 0, \"damping\": 0.2 } ],\n"
    "  \"simulation\": { \"step\": 0.01, \"end\": 1 } }\n";

static void equilibrium_is_reported(void **state)
{
  (void)state;
  expect("polhode static pendulum.json", 0);
  expect_text(out,
              "equilibrium     stable, least eigenvalue 14.0143 /s^2 (body 'rod', rotation y)");
  expect_text(out, "hinge.angle  1.57079633 rad");
  expect("polhode static pendulum.json --steps 4 --out rest.h5 --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "done");
  assert_true(fabs(number_at(object, "stability.least_eigenvalue") - 9.81 * 0.5 / 0.35) < 1e-9);
  assert_true(number_at(object, "load_steps") == 4.0);
  assert_true(number_at(object, "residual") < 1e-12);
  assert_true(fabs(number_at(object, "state.joints.hinge.angle") - 2.0 * atan(1.0)) < 1e-10);
  json_decref(object);
  /* the rows are load factors 0, 1/4, ... 1; plot and view read them */
  expect("polhode info rest.h5 --json", 0);
  object = parse_output();
  assert_true(number_at(object, "rows") == 5.0);
  json_decref(object);
  expect("polhode plot rest.h5 hinge.angle --out rest.svg", 0);
  expect("polhode view rest.h5 --out rest.html", 0);
  expect("polhode static pendulum.json --quiet --out rest.csv", 0);
  assert_string_equal(out, "");
}

static void failures_name_what_moves(void **state)
{
  (void)state;
  expect("polhode static top.json --set joints=[]", 1);
  expect_text(err, "nothing resists this motion");
  expect_text(err, "body 'top', translation z");
  expect("polhode static top.json --set joints=[] --json", 1);
  json_t *object = parse_output();
  expect_word(object, "status", "failed");
  expect_word(object, "failure.where", "body 'top', translation z");
  json_decref(object);
}

/* Lists are cut with the number that is left out; round-off is 0; there are reactions. */
static void equilibria_are_printed(void **state)
{
  (void)state;
  expect("polhode static " POLHODE_SOURCE_DIR "/models/examples/chain_20.json", 0);
  expect_text(out, "link 12  (0, 0, -1.15) m\n                and 8 more\n");
  expect_text(out, "reactions       joint 1.force  (0, 0, 9.81) N\n"
                   "                joint 2.force  (0, 0, 9.3195) N\n");
  expect("polhode static " POLHODE_SOURCE_DIR "/models/examples/suspension.json", 0);
  expect_text(out, "tyre.force.z  3266.73 N\n");
  write_text("free.json",
             "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, "
             "\"inertia\": [1, 1, 1]}], \"simulation\": {\"step\": 0.1, \"end\": 1}}");
  expect("polhode static free.json --json", 1);
  expect_text(err, "free.json: there is no equilibrium: nothing resists this motion\n"
                   "  when:   load step 1, t = 0 s\n  where:  body 'a', translation z\n");
  expect_text(out, "\"reason\": \"no equilibrium was found\"");
}

/* The moment of this model grows from zero at t = 0, which leaves the beam straight. */
static void loads_of_scale_zero_are_noted(void **state)
{
  (void)state;
  const char *const zero = "note: all applied loads are zero: their scale is zero at t = 0 s";
  expect("polhode static " POLHODE_SOURCE_DIR "/models/beams/rolled_cantilever.json", 0);
  expect_text(err, zero);
  expect_text(out, "beam_last  (1, 0, 0) m\n");
  expect("polhode static " POLHODE_SOURCE_DIR "/models/beams/rolled_cantilever.json --json", 0);
  json_t *object = parse_output();
  expect_length(object, "state.markers.beam_last.position", 3);
  json_decref(object);
  expect("polhode static " POLHODE_SOURCE_DIR
         "/models/beams/rolled_cantilever.json --at 4 --steps 10",
         0);
  assert_string_equal(err, "");
  /* the tip of the beam is a marker: it is back at the root */
  expect_text(out, "beam_last  (0, 0, 0) m\n");
  expect("polhode static pendulum.json", 0); /* no applied loads */
  assert_string_equal(err, "");
}

/* Paths by arc length: limit points, rows with the loads of each point, and critical loads. */
static void paths_are_followed(void **state)
{
  (void)state;
  expect("polhode static " POLHODE_SOURCE_DIR "/models/beams/lee_frame.json --arc-length --out "
         "path.csv",
         0);
  expect_text(out, "limit points    load factor 0.4644943");
  expect_text(out, "load factor -0.236398");
  expect_text(out, "t is the length of the path");
  expect("polhode plot path.csv --x marker.loaded.position.z load.force.z --out path.svg", 0);
  expect("polhode static " POLHODE_SOURCE_DIR
         "/models/beams/lateral_buckling.json --buckling --steps 10 --json",
         0);
  expect_text(out, "\"kind\": \"bifurcation\"");
  expect_text(out, "\"critical\": 0.33008");
  /* Beck's column: a follower force, flutter at 20.05 E I/L^2 */
  write_text(
      "beck.json",
      "{\"beams\": [{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 8, "
      "\"start\": \"ground\", \"section\": {\"type\": \"stiffness\", \"stiffness\": [1, 1, 1, 1e6, "
      "1e6, 1e6], \"mass\": 1, \"inertia\": [2e-6, 1e-6, 1e-6]}}], \"forces\": [{\"name\": \"p\", "
      "\"type\": \"force\", \"marker\": \"b_last\", \"frame\": \"marker\", \"force\": [-10, 0, "
      "0]}], \"simulation\": {\"step\": 1, \"end\": 1}}");
  expect("polhode static beck.json --buckling --steps 10", 0);
  expect_text(out, "buckling        flutter from the load factor 2.0");
  expect_text(out, "directions, flutter of 1.7");
  expect("polhode static beck.json --buckling --steps 10 --json", 0);
  expect_text(out, "\"kind\": \"flutter\"");
  expect("polhode static pendulum.json --arc-length", 1);
  expect_text(err, "nothing resists a motion of the mechanism without loads");
}

static void modes_are_reported_and_written(void **state)
{
  (void)state;
  const double w = sqrt(9.81 * 0.5 / 0.35 - pow(0.2 / 0.7, 2.0));
  expect("polhode modes pendulum.json --static --json", 0);
  json_t *object = parse_output();
  expect_length(object, "modes", 1);
  json_t *mode = json_array_get(at(object, "modes"), 0);
  assert_true(fabs(number_at(mode, "frequency") - w / (8.0 * atan(1.0))) < 1e-10);
  assert_true(fabs(number_at(mode, "damping_ratio") - 0.2 / 0.7 / sqrt(9.81 * 0.5 / 0.35)) < 1e-10);
  json_decref(object);
  expect("polhode modes pendulum.json --static --out mode.h5", 0);
  expect_text(out, "rod rotation y");
  expect_text(out, "mode_1.h5");
  assert_null(strstr(out, "zero "));
  expect("polhode modes pendulum.json --set bodies.rod.mass=2 --set joints.hinge.type=fixed --set "
         "forces=[]",
         0);
  expect_text(out, "nothing can move");
  expect("polhode info mode_1.h5 --json", 0);
  object = parse_output();
  assert_true(number_at(object, "rows") == 61.0);
  json_decref(object);
  expect("polhode view mode_1.h5 --out mode.html", 0);
  expect("polhode modes pendulum.json --static --mode 1 --out one.csv --quiet", 0);
  expect("polhode info one.csv", 0);
  /* about a point of a run, of a result, and in rotating axes */
  expect("polhode run top.json --out top.h5 --quiet", 0);
  expect("polhode modes top.h5 --at 0.05 --json", 0);
  object = parse_output();
  assert_true(fabs(number_at(object, "t") - 0.05) < 1e-9);
  expect_word(object, "about", "row of the result");
  json_decref(object);
  expect_text(
      err,
      "the motion is not steady in these axes: the coefficients are those of this instant only");
  expect("polhode modes top.json --at 0.05 --quiet", 0);
  assert_null(strstr(err, "change of the constraints"));
  /* the zeros of a free body come first */
  expect("polhode modes " POLHODE_SOURCE_DIR
         "/models/flexible/pendulum.json --set joints=[] --count 10",
         0);
  expect_text(out, "12 eigenvalues: motions that nothing resists; a larger --count");
  expect("polhode modes " POLHODE_SOURCE_DIR
         "/models/flexible/pendulum.json --set joints=[] --count 13",
         0);
  assert_null(strstr(out, "a larger --count"));
  expect("polhode modes top.json --frame top --count 2", 0);
  expect("polhode modes top.json --frame 0,0,1.5 --count 2", 0);
}

static void matrices_are_printed_and_written(void **state)
{
  (void)state;
  expect("polhode linearize pendulum.json --static --inputs motor --outputs rod.position.x --json",
         0);
  json_t *object = parse_output();
  expect_length(object, "states", 2);
  json_t *lower = json_array_get(at(object, "A"), 1);
  assert_true(fabs(json_number_value(json_array_get(lower, 0)) + 9.81 * 0.5 / 0.35) < 1e-9);
  assert_true(fabs(json_number_value(json_array_get(lower, 1)) + 0.2 / 0.35) < 1e-9);
  assert_true(fabs(json_number_value(json_array_get(json_array_get(at(object, "B"), 1), 0)) -
                   1.0 / 0.35) < 1e-9);
  json_t *row = json_array_get(at(object, "C"), 0);
  assert_true(fabs(json_number_value(json_array_get(row, 0)) + 0.5) < 1e-9);
  json_decref(object);
  expect("polhode linearize pendulum.json --static --inputs motor --out p.mat", 0);
  expect_text(out, "hinge.angle");
  assert_int_equal(access("p.mat", R_OK), 0);
  expect("polhode linearize pendulum.json --static --out p.json --quiet", 0);
  expect("polhode linearize pendulum.json", 0);
  expect_text(out, "\nA =\n");
  /* level links: neither stiffness nor damping; differences by time leave no round-off */
  expect("polhode linearize " POLHODE_SOURCE_DIR "/models/examples/double_pendulum.json", 0);
  expect_text(out, "\n             0             0             0             0\n"
                   "             0             0             0             0\n");
}

static void wrong_input_is_refused(void **state)
{
  (void)state;
  expect("polhode linearize pendulum.json --inputs moto --outputs rod.positon.x --coordinates "
         "hinge.angel",
         2);
  expect_text(err, "--inputs = moto");
  expect_text(err, "did you mean \"motor\"?");
  expect_text(err, "--outputs = rod.positon.x");
  expect_text(err, "--coordinates = hinge.angel");
  expect_text(err, "3 errors");
  /* locked by the hinge; at its lowest point; the same motion twice */
  expect("polhode linearize pendulum.json --static --coordinates rod.position.y", 2);
  expect_text(err, "--coordinates = rod.position.y: does not change here to first order");
  expect("polhode linearize pendulum.json --static --coordinates rod.position.z", 2);
  expect_text(err, "rod.position.z: does not change here");
  expect("polhode linearize pendulum.json --coordinates hinge.angle,rod.position.z", 2);
  expect_text(err, "rod.position.z: does not change independently of the coordinates before it");
  expect("polhode linearize pendulum.json --out p.txt", 2);
  expect_text(err, "must end in .json or .mat");
  expect("polhode linearize pendulum.json --out pendulum.json", 2);
  expect("polhode linearize pendulum.json --static --out no/folder/p.mat", 2);
  expect("polhode static pendulum.json --out rest.txt", 2);
  expect_text(err, "must end in .h5 or .csv");
  expect("polhode static pendulum.json --steps 0", 2);
  expect_text(err, "whole number above 0");
  expect("polhode static pendulum.json --at -1", 2);
  expect("polhode static missing.json", 2);
  expect("polhode static pendulum.json --set bodies.rod.mass=-1", 2);
  expect("polhode modes pendulum.json --mode 3", 2);
  expect_text(err, "needs --out");
  expect("polhode modes pendulum.json --static --mode 3 --out m.h5", 2);
  expect_text(err, "there is 1 mode");
  expect("polhode modes pendulum.json --frame rood", 2);
  expect_text(err, "did you mean \"rod\"?");
  expect("polhode modes pendulum.json --frame 1,2", 2);
  expect("polhode run pendulum.json --out run.csv --quiet", 0);
  expect("polhode modes run.csv", 2);
  expect_text(err, "has no model in it");
  expect("polhode run pendulum.json --out run.h5 --quiet", 0);
  expect("polhode modes run.h5 --set bodies.rod.mass=2", 2);
  expect("polhode modes run.h5 --json --frame none", 2);
  json_t *object = parse_output();
  expect_word(object, "status", "invalid");
  json_decref(object);
}

/* A run that starts at rest stays there. */
static void runs_start_from_an_equilibrium(void **state)
{
  (void)state;
  expect("polhode run pendulum.json --initial equilibrium --json", 0);
  json_t *object = parse_output();
  const json_t *position = at(object, "final.bodies.rod.position");
  assert_true(fabs(json_number_value(json_array_get(position, 0))) < 1e-9);
  assert_true(fabs(json_number_value(json_array_get(position, 2)) + 0.5) < 1e-12);
  json_decref(object);
  expect("polhode run pendulum.json --set simulation.initial=equilibrium --formulation "
         "euler-parameters --quiet",
         0);
  expect("polhode run top.json --set joints=[] --initial equilibrium", 1);
  expect_text(err, "nothing resists this motion");
  expect("polhode run pendulum.json --initial rest", 2);
}

static const char length_model[] =
    "{ \"gravity\": [0, 0, -9.81], \"parameters\": { \"L\": 0.5 },\n"
    "  \"bodies\": [ { \"name\": \"rod\", \"mass\": 1, \"inertia\": [0.01, 0.1, 0.1], "
    "\"position\": [0, 0, \"-L\"] } ],\n"
    "  \"joints\": [ { \"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": "
    "[\"ground\", \"rod\"], \"point\": [0, 0, 0], \"axis\": [0, 1, 0] } ],\n"
    "  \"simulation\": { \"step\": 0.01, \"end\": 1 } }\n";

/* The model may have parameters, and come from standard input. */
static void parameters_and_standard_input(void **state)
{
  (void)state;
  static const char *const commands[] = {"static", "modes", "linearize"};
  const double w = sqrt(9.81 * 2.0 / 4.1);
  expect("polhode modes length.json --param L=2 --json", 0);
  json_t *object = parse_output();
  json_t *mode = json_array_get(at(object, "modes"), 0);
  assert_true(fabs(number_at(mode, "frequency") - w / (8.0 * atan(1.0))) < 1e-9);
  json_decref(object);
  expect("polhode static length.json --param L=2 --json", 0);
  object = parse_output();
  assert_true(fabs(number_at(object, "stability.least_eigenvalue") - w * w) < 1e-9);
  json_decref(object);
  expect("polhode linearize length.json --param L=2", 0);
  expect("polhode static length.json --param L=", 2);
  expect("polhode run length.json --out length.h5 --quiet", 0);
  expect("polhode modes length.h5 --param L=2", 2);
  expect_text(err, "the model of a result cannot be changed");
  expect_text(err, "--param");
  for (int i = 0; i < 3; i++) {
    char line[4096];
    snprintf(line, sizeof line, "'%s' %s - --param L=2 < length.json", POLHODE_BINARY, commands[i]);
    assert_int_equal(run_shell(line), 0);
    assert_true(strlen(out) > 0);
  }
}

#define ROTOR POLHODE_SOURCE_DIR "/models/beams/rotating_cantilever.json"
#define FLEXIBLE POLHODE_SOURCE_DIR "/models/flexible/pendulum.json"

/* Equilibrium in rotating axes: of static, modes and linearize. */
static void steady_rotation_is_found(void **state)
{
  (void)state;
  expect("polhode static " ROTOR " --frame hub", 0);
  expect_text(out, "steady rotation stable, least eigenvalue");
  expect("polhode modes " ROTOR " --static --frame hub --count 2", 0);
  expect_text(out, "rotation        (0, 0, 20) rad/s");
  expect_text(out, "blade bending z");
  expect("polhode modes " ROTOR " --static --frame 0,0,20,0,0,5 --count 1 --json", 0);
  json_t *object = parse_output();
  expect_word(object, "about", "steady rotation");
  assert_true(fabs(number_at(json_array_get(at(object, "modes"), 0), "frequency") - 5.380) < 1e-3);
  assert_true(number_at(object, "unsteady") < 1e-9);
  json_decref(object);
  expect("polhode modes " ROTOR " --static --frame 0,0,19", 1);
  expect_text(err, "there is no steady rotation: this constraint does not allow it");
  expect_text(err, "drive 'motor'");
  expect("polhode modes " ROTOR " --static --frame hub --set gravity=[1,0,0]", 1);
  expect_text(err, "forces on this body change along the turn");
  expect("polhode static " ROTOR " --frame 0,0,20,1", 2);
  expect_text(err, "three or six numbers");
}

static void modes_are_followed_over_a_parameter(void **state)
{
  (void)state;
  expect("polhode modes " ROTOR " --static --frame hub --sweep speed=0:100:6 --count 3 --orders 4 "
         "--plot diagram.svg --out curves.csv",
         0);
  expect_text(out, "sweep           speed (rad/s) from 0 to 100, 6 values");
  expect_text(out, "curve 2         blade bending y");
  expect_text(out, "damping ratio");
  expect("polhode modes " ROTOR " --static --frame hub --sweep speed=0:100:6 --count 3 --json "
         "--orders hub:2 --plot diagram.png",
         0);
  json_t *object = parse_output(), *curves = at(object, "curves");
  assert_true(json_number_value(json_array_get(at(object, "rotation_speeds"), 5)) == 100.0);
  assert_int_equal(json_array_size(curves), 3);
  for (size_t k = 0; k < 3; k++) {
    const json_t *frequency = json_object_get(json_array_get(curves, k), "frequency");
    assert_int_equal(json_array_size(frequency), 6);
    for (size_t i = 1; i < 6; i++) /* all become stiffer */
      assert_true(json_number_value(json_array_get(frequency, i)) >
                  json_number_value(json_array_get(frequency, i - 1)));
  }
  json_decref(object);
  /* the first flapping frequency crosses the first one in the plane at about 100 rad/s */
  expect("polhode modes " ROTOR " --static --frame hub --sweep speed=80:130:6 --count 2 --json", 0);
  object = parse_output();
  curves = at(object, "curves");
  const json_t *flap = json_object_get(json_array_get(curves, 0), "frequency");
  const json_t *lag = json_object_get(json_array_get(curves, 1), "frequency");
  assert_true(json_number_value(json_array_get(flap, 0)) <
              json_number_value(json_array_get(lag, 0)));
  assert_true(json_number_value(json_array_get(flap, 5)) >
              json_number_value(json_array_get(lag, 5)));
  json_decref(object);
  /* a model without static equilibrium, any key, one mode of fewer than are wanted */
  expect("polhode modes pendulum.json --static --sweep bodies.rod.mass=1:3:3 --quiet", 0);
  assert_string_equal(out, "");
  expect("polhode modes pendulum.json --set joints.hinge.type=fixed --set forces=[] --sweep "
         "bodies.rod.mass=1:3:3",
         0);
  expect_text(out, "none: nothing can vibrate");
}

static void wrong_sweeps_are_refused(void **state)
{
  (void)state;
  static const char *const wrong[][2] = {
      {"--sweep speed", "must be KEY=FROM:TO:N"},
      {"--sweep speed=0:1", "must be KEY=FROM:TO:N"},
      {"--sweep speed=a:1:3", "must be KEY=FROM:TO:N"},
      {"--sweep =0:1:3", "must be KEY=FROM:TO:N"},
      {"--sweep speed=0:1:1", "N must be from 2 to 100000"},
      {"--sweep speed=2:2:3", "two different numbers"},
      {"--sweep speed=0:nan:3", "two different numbers"},
      {"--sweep sped=0:1:3", "did you mean \"speed\"?"},
      {"--sweep bodies.hub.mas=1:2:3", "is not a known key"},
      {"--sweep bodies.hub.mass=1:-2:3", "at bodies.hub.mass = -0.5"},
      {"--sweep speed=0:1:3 --param speed=3", "has a value by another option"},
      {"--sweep beams.blade.elements=5:7:3", "must not change the number of bodies"},
      {"--static --frame hub --sweep beams.blade.elements=10:20:3",
       "must not change the number of bodies"},
      {"--static --frame hub --sweep beams.blade.elements=20:10:3",
       "must not change the number of bodies"},
      {"--sweep speed=0:1:3 --mode 1", "has no meaning with --sweep"},
      {"--sweep speed=0:1:3 --count 0", "must be a whole number"},
      {"--sweep speed=0:1:3 --out a.h5", "must end in .csv"},
      {"--sweep speed=0:1:3 --plot a.gif", "must end in .svg, .png or .pdf"},
      {"--sweep speed=0:1:3 --orders 2", "needs the rotating body"},
      {"--sweep speed=0:1:3 --orders hub:x", "must be N or BODY:N"},
      {"--sweep speed=0:1:3 --orders hup:2", "there is no such body"},
      {"--plot a.svg", "needs --sweep"},
      {"--orders 3", "needs --sweep"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    char command[600];
    snprintf(command, sizeof command, "polhode modes " ROTOR " %s", wrong[k][0]);
    expect(command, 2);
    expect_text(err, wrong[k][1]);
  }
  expect("polhode modes " ROTOR " --sweep speed=0:1:2 --quiet --out none/a.csv", 2);
  expect("polhode modes " ROTOR " --sweep speed=0:1:2 --quiet --plot none/a.svg", 2);
  expect("polhode modes top.h5 --sweep speed=0:1:2", 2);
  for (int is_static = 0; is_static < 2; is_static++) {
    expect(is_static ? "polhode modes " FLEXIBLE " --sweep flexible_bodies[0].modes=2:6:3 --static"
                     : "polhode modes " FLEXIBLE " --sweep flexible_bodies[0].modes=2:6:3",
           2);
    expect_text(err, "or of modes of a flexible body");
  }
}

static int start_tests(void **state)
{
  if (enter_folder(state) != 0) return -1;
  write_text("pendulum.json", pendulum);
  write_text("length.json", length_model);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equilibrium_is_reported),
      cmocka_unit_test(failures_name_what_moves),
      cmocka_unit_test(equilibria_are_printed),
      cmocka_unit_test(loads_of_scale_zero_are_noted),
      cmocka_unit_test(paths_are_followed),
      cmocka_unit_test(modes_are_reported_and_written),
      cmocka_unit_test(matrices_are_printed_and_written),
      cmocka_unit_test(wrong_input_is_refused),
      cmocka_unit_test(runs_start_from_an_equilibrium),
      cmocka_unit_test(parameters_and_standard_input),
      cmocka_unit_test(steady_rotation_is_found),
      cmocka_unit_test(modes_are_followed_over_a_parameter),
      cmocka_unit_test(wrong_sweeps_are_refused),
  };
  return cmocka_run_group_tests(tests, start_tests, leave_folder);
}
