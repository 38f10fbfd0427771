/* polhode check: what it says of each kind of model, in words and as JSON. */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

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
  expect_text(out,
              "\nsymmetry        in time: energy is constant\n"
              "symmetry        rotation about z through (0, 0, 0): angular momentum is constant\n");
  expect("polhode check top.json --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "valid");
  assert_int_equal(json_integer_value(at(object, "degrees_of_freedom")), 3);
  assert_int_equal(json_integer_value(at(object, "constraints")), 3);
  assert_true(fabs(number_at(object, "moves.velocity_residual") - 4.61538) < 1e-12);
  assert_true(json_is_true(at(object, "angular_velocity_kept")));
  expect_word(json_array_get(at(object, "joints"), 0), "type", "spherical");
  assert_true(json_is_true(at(object, "symmetries.energy")));
  expect_length(object, "symmetries.translations", 0);
  expect_length(object, "symmetries.rotations", 1);
  expect_length(json_array_get(at(object, "symmetries.rotations"), 0), "axis", 3);
  json_decref(object);
}

/* A title is for people: what a terminal would obey is not printed, other letters are. */
static void titles_cannot_command_the_terminal(void **state)
{
  (void)state;
  static const char *const commands[] = {"check", "run"};
  write_text("title.json",
             "{\"name\": \"B\\u00e4r\\u001b[31m\\u0007\\u009bred\", \"bodies\": [{\"name\": \"a\","
             " \"mass\": 1, \"inertia\": [1, 1, 1]}],"
             " \"simulation\": {\"step\": 0.01, \"end\": 0.1}}");
  for (int k = 0; k < 2; k++) {
    char line[100];
    snprintf(line, sizeof line, "polhode %s title.json --color never", commands[k]);
    expect(line, 0);
    expect_text(out, "model           B\xc3\xa4r?[31m??red (title.json)\n");
  }
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

/* Bushings, forces that a function of time scales, and drives of markers. */
static void check_tells_of_bushings_and_markers(void **state)
{
  (void)state;
  write_text("mount.json",
             "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"markers\": ["
             "{\"name\": \"m\", \"body\": \"ground\"}, {\"name\": \"n\", \"body\": \"a\"}],"
             "\"forces\": [{\"name\": \"b\", \"type\": \"bushing\", \"markers\": [\"m\", \"n\"],"
             "\"stiffness\": 10, \"rotational_stiffness\": [1, 2, 3], \"preload\": [0, 0, 4]},"
             "{\"name\": \"p\", \"type\": \"force\", \"marker\": \"n\", \"force\": [1, 2, 3],"
             "\"scale\": {\"type\": \"harmonic\", \"amplitude\": 1, \"frequency\": 1}}],"
             "\"drives\": [{\"name\": \"x\", \"marker\": \"n\", \"coordinate\": \"x\","
             "\"function\": {\"type\": \"constant\", \"value\": 0}}, {\"name\": \"y\","
             "\"marker\": \"n\", \"reference\": \"m\", \"coordinate\": \"y\","
             "\"function\": {\"type\": \"constant\", \"value\": 0}}],"
             "\"simulation\": {\"step\": 0.01, \"end\": 2}}");
  expect("polhode check mount.json", 0);
  expect_text(
      out, "\nforce           b, bushing from ground to a, stiffness (10, 10, 10) N/m and (1, 2, "
           "3) N m/rad, damping (0, 0, 0) N s/m and (0, 0, 0) N m s/rad, preload (0, 0, 4) N and "
           "(0, 0, 0) N m\n");
  expect_text(out, "\nforce           p, force (1, 2, 3) N on a, global axes, times harmonic\n");
  expect_text(out, "\ndrive           x, x of marker n on a, constant\n");
  expect_text(out, "\ndrive           y, y of marker n on a from marker m on ground, constant\n");
  expect("polhode check mount.json --json", 0);
  json_t *object = parse_output();
  json_t *bushing = json_array_get(at(object, "forces"), 0);
  expect_word(bushing, "type", "bushing");
  expect_length(bushing, "rotational_stiffness", 3);
  expect_length(bushing, "preload_torque", 3);
  expect_word(json_array_get(at(object, "forces"), 1), "scale", "harmonic");
  expect_word(json_array_get(at(object, "drives"), 1), "marker", "n");
  json_decref(object);
  expect("polhode run mount.json --json", 0);
  object = parse_output();
  assert_true(fabs(number_at(object, "final.drives.x.force")) < 10.0);
  json_decref(object);
}

/* Variables, states and expressions are listed in words and in JSON, and told at the end of a run.
 */
static void quantities_are_told(void **state)
{
  (void)state;
  expect("polhode check " POLHODE_SOURCE_DIR "/models/examples/pid_pendulum.json", 0);
  expect_text(out, "actuator (expression) N m\n  actuator      torque\n");
  expect_text(out, "\nvariable        error = target - hinge.angle, in rad\n");
  expect_text(out, "\nstate           torque' = (demand - torque)/0.01, from 0 N m\n");
  expect_text(out, "\nfreedom         1 of 6: 5 constraints\n");
  expect("polhode check " POLHODE_SOURCE_DIR "/models/examples/friction_block.json", 0);
  expect_text(out, ", force ((expression), 0, (expression)) N on block, global axes\n"
                   "  x             friction\n  z             -5*sin(10*t)\n");
  expect("polhode check " POLHODE_SOURCE_DIR "/models/examples/pid_pendulum.json --json", 0);
  json_t *object = parse_output();
  expect_length(object, "variables", 3);
  expect_length(object, "states", 2);
  json_decref(object);
  expect("polhode run " POLHODE_SOURCE_DIR "/models/examples/pid_pendulum.json", 0);
  expect_text(out, "\nintegral  value             rad s");
  expect("polhode run " POLHODE_SOURCE_DIR "/models/examples/pid_pendulum.json --json", 0);
  object = parse_output();
  assert_true(fabs(number_at(object, "final.variables.error")) < 1e-4);
  assert_true(fabs(number_at(object, "final.states.torque") - 4.95) < 0.01);
  json_decref(object);
}

/* What rolls, what is kept of initial values, and settings that are not the default. */
static void rolling_and_kept_values_are_told(void **state)
{
  (void)state;
  write_text("rolling.json",
             "{ \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"ball\", \"mass\": 2,"
             " \"inertia\": [0.03, 0.03, 0.03], \"position\": [0, 0, 0.2],"
             " \"keep\": {\"position\": [\"x\", \"y\"], \"angular_velocity\": true}}],"
             "\"markers\": [{\"name\": \"floor\", \"body\": \"ground\"},"
             " {\"name\": \"centre\", \"body\": \"ball\"}],"
             "\"joints\": [{\"name\": \"contact\", \"type\": \"rolling-sphere\","
             " \"radius\": 0.2, \"markers\": [\"floor\", \"centre\"]}],"
             "\"simulation\": {\"start\": \"shifted\", \"newton\": {\"kind\": \"simplified\"},"
             " \"solver\": \"sparse\", \"step\": 0.01, \"end\": 0.1} }");
  expect("polhode check rolling.json", 0);
  expect_text(out, "\nbody            ball, 2 kg, keeps position x y, angular velocity x y z\n");
  expect_text(out, "contact, rolling-sphere from ground to ball, locks the height and 2 slip "
                   "velocities, radius 0.2 m\n");
  expect_text(out, "\nNewton          simplified, ");
  expect_text(out, "\nsolver          sparse\n");
  expect("polhode check rolling.json --json", 0);
  json_t *object = parse_output();
  expect_word(json_array_get(at(object, "bodies"), 0), "keeps",
              "position x y, angular velocity x y z");
  expect_word(at(object, "simulation"), "start", "shifted");
  expect_word(at(object, "simulation"), "newton", "simplified");
  expect_word(at(object, "simulation"), "solver", "sparse");
  json_decref(object);
  expect("polhode check rolling.json --json --set simulation.start=classical"
         " --set simulation.newton.kind=full --set simulation.solver=dense",
         0);
  object = parse_output();
  expect_word(at(object, "simulation"), "start", "classical");
  expect_word(at(object, "simulation"), "newton", "full");
  expect_word(at(object, "simulation"), "solver", "dense");
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
  assert_null(strstr(out, "angular vel"));
  expect_text(out, "\nsymmetry        translation along z: linear momentum is constant\n");
  expect("polhode check " PARTICLES " --json", 0);
  json_t *object = parse_output();
  expect_word(json_array_get(at(object, "bodies"), 0), "type", "point");
  expect_word(json_array_get(at(object, "forces"), 0), "law", "squared-length");
  assert_true(number_at(object, "degrees_of_freedom") == 10.0);
  json_decref(object);
  expect("polhode run " PARTICLES " --set simulation.end=0.01", 0);
  expect_text(out, "\np4     position ");
  assert_null(strstr(out, "angular vel"));
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
              "drives[0].function.expression (drive 'motor') = \"0.1*sni(2*pi*t)\": must be an "
              "expression of t: "
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

static void nameless_models_show_their_file(void **state)
{
  (void)state;
  expect("polhode run -v top.json --set name=\"\" --end 1e-3 "
         "--set simulation.newton={\"tolerance\":0.5}",
         0);
  expect_text(out, "model           top.json\n");
  expect_text(out, " 1 iteration, 1.00 per step\n");
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
  expect_text(out, "', translation x, dropped");
  expect("polhode run twice.json --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "done");
  assert_int_equal(json_array_size(at(object, "redundant")), 3);
  json_decref(object);
  expect("polhode run twice.json --json --set simulation.redundant=refuse", 2);
  object = parse_output();
  expect_word(object, "status", "invalid");
  expect_length(object, "errors", 1);
  const char *message = json_string_value(at(object, "failure.message"));
  assert_non_null(message);
  assert_non_null(strstr(message, "3 constraints follow from the others: joint '"));
  json_decref(object);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(check_tells_what_a_model_is),
      cmocka_unit_test(titles_cannot_command_the_terminal),
      cmocka_unit_test(check_tells_of_forces_and_distances),
      cmocka_unit_test(check_tells_of_springs_and_drag),
      cmocka_unit_test(check_tells_of_bushings_and_markers),
      cmocka_unit_test(quantities_are_told),
      cmocka_unit_test(rolling_and_kept_values_are_told),
      cmocka_unit_test(couplings_are_told),
      cmocka_unit_test(joint_springs_are_told),
      cmocka_unit_test(points_are_told),
      cmocka_unit_test(drives_are_told),
      cmocka_unit_test(expressions_are_told),
      cmocka_unit_test(check_tells_what_had_to_change),
      cmocka_unit_test(nameless_models_show_their_file),
      cmocka_unit_test(check_names_redundant_joints),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
