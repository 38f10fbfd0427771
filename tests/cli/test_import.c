/* polhode import, and the descriptions of robots as models of other commands. */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

#define ROBOTS POLHODE_SOURCE_DIR "/models/robots/"

static const char small[] =
    "<robot name='small'><link name='base'/><link name='arm'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<joint name='j' type='continuous'><parent link='base'/><child "
    "link='arm'/></joint><gazebo/></robot>";

static void models_are_written(void **state)
{
  (void)state;
  expect("polhode import " ROBOTS "arm.urdf --out arm.json", 0);
  expect_text(out, "model           arm.json\n");
  expect_text(err, "note: joint 'elbow' starts at 0.2");
  expect("polhode check arm.json", 0);
  assert_string_equal(err, "");
  expect("polhode import " ROBOTS "arm.urdf --out arm.json --quiet", 0);
  assert_string_equal(err, "");
  expect("polhode import " ROBOTS "quadruped.xml --out quadruped.json --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "done");
  expect_length(object, "notes", 1);
  json_decref(object);
  expect("polhode run quadruped.json --end 0.01", 0);
  expect("polhode import " POLHODE_SOURCE_DIR
         "/tests/data/robots/keyframes.xml --keyframe thrown --out keyframes.json",
         0);
  expect_text(err, "note: key 'thrown': joints start there");
  expect("polhode run keyframes.json --end 0.01", 0);
  write_text("small.urdf", small);
  expect("polhode import small.urdf --floating --out -", 2); /* its base has no mass */
  expect_text(err, "link 'base': has no mass");
  expect("polhode import small.urdf --out -", 0);
  json_decref(parse_output());
}

/* The description itself, in place of a model. */
static void robots_are_models(void **state)
{
  (void)state;
  write_text("small.urdf", small);
  expect("polhode check small.urdf", 0);
  expect_text(err, "note: 1 <gazebo> not used\n");
  expect_text(out, "small (small.urdf)\n");
  expect("polhode run small.urdf --end 0.01 --quiet", 0);
  assert_string_equal(err, "");
  expect("polhode run small.urdf --end 0.01 --set bodies.arm.mass=3", 0);
  expect("polhode run " ROBOTS "gripper.xml --end 0.01", 0);
  expect("polhode run small.urdf --set bodies.arm.mass=-3", 2);
}

static void bad_calls_are_refused(void **state)
{
  (void)state;
  write_text("small.urdf", small);
  write_text("bad.urdf", "<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n</robot>");
  expect("polhode import small.urdf", 2);
  expect_text(err, "must be given");
  expect("polhode import small.urdf --out small.urdf", 2);
  expect_text(err, "would overwrite");
  expect("polhode import small.urdf --out - --json", 2);
  expect("polhode import top.json --out x.json", 2);
  expect_text(err, "must be a robot in XML");
  expect("polhode import gone.urdf --out x.json", 2);
  expect("polhode run bad.urdf", 2);
  expect_text(err, "bad.urdf:3: link 'b': is not connected");
  expect("polhode import small.urdf --out nowhere/x.json", 2);
  expect("polhode import small.urdf --keyframe home --out x.json", 2);
  expect_text(err, "keyframe = home: must not be given for URDF");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(models_are_written),
      cmocka_unit_test(robots_are_models),
      cmocka_unit_test(bad_calls_are_refused),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
