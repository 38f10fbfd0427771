/* URDF: what becomes of links and joints, against calculations by hand; what is refused. */
#define _XOPEN_SOURCE 700
#include "robot_test.h"

#define MASS(m, i)                                                                                 \
  "<mass value='" m "'/><inertia ixx='" i "' iyy='" i "' izz='" i "' ixy='0' ixz='0' iyz='0'/>"
#define SOLID "<inertial>" MASS("1", "0.1") "</inertial>"
#define LINK(name) "<link name='" name "'>" SOLID "</link>"
#define JOINT(name, type, parent, child, rest)                                                     \
  "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child          \
  "'/>" rest "</joint>"

/* Two spheres of 2 kg and 1 kg, 0.3 m apart along x of the first one: mu d^2 = 2/3 * 0.09. */
static void fused_links_sum_up(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<robot name='pair {x}'><link name='base'/>"
      "<link name='big'><inertial><origin xyz='0 0 0.1'/>" MASS(
          "2",
          "0.02") "</inertial></link>"
                  "<link name='small'><inertial><origin xyz='0.3 0 0'/>" MASS(
                      "1",
                      "0.01") "</inertial></link>" JOINT("pin", "continuous", "base", "big",
                                                         "<origin xyz='1 2 3' rpy='0 0 "
                                                         "1.5707963267948966'/><axis xyz='0 0 2'/>")
                      JOINT("glue", "fixed", "big", "small", "<origin xyz='0 0 0.1'/>") "</robot>");
  expect_word(model, "name", "pair (x)");
  const json_t *body = named(model, "bodies", "big");
  expect_number(json_object_get(body, "mass"), 3.0);
  EXPECT_VECTOR(body, "position", 1.0, 2.1, 3.1); /* 0.1 along x of the link, which is global y */
  EXPECT_MATRIX(body, "rotation", 0, -1, 0, 1, 0, 0, 0, 0, 1);
  EXPECT_MATRIX(body, "inertia", 0.03, 0, 0, 0, 0.09, 0, 0, 0, 0.09);
  const json_t *marker = named(model, "markers", "small");
  expect_word(marker, "body", "big");
  EXPECT_VECTOR(marker, "position", -0.1, 0.0, 0.0);
  const json_t *pin = named(model, "joints", "pin");
  expect_word(pin, "type", "revolute");
  EXPECT_VECTOR(pin, "point", 1.0, 2.0, 3.0);
  EXPECT_VECTOR(pin, "axis", 0.0, 0.0, 1.0);
  assert_null(json_object_get(pin, "limits"));
  expect_word(named(model, "markers", "base"), "body", "ground");
  json_decref(model);
}

/* An inertia in turned axes: 30 degrees about z mix ixx and iyy. */
static void inertias_are_turned(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<robot name='r'><link name='base'/><link name='a'><inertial><origin rpy='0 0 "
      "0.5235987755982988'/>"
      "<mass value='1'/><inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' "
      "iyz='0'/></inertial></link>" JOINT("j", "continuous", "base", "a", "") "</robot>");
  const double c = cos(M_PI / 6.0), s = 0.5;
  EXPECT_MATRIX(named(model, "bodies", "a"), "inertia", c * c + 2 * s * s, -c * s, 0, -c * s,
                s * s + 2 * c * c, 0, 0, 0, 2.5);
  EXPECT_VECTOR(named(model, "joints", "j"), "axis", 1.0, 0.0, 0.0); /* without <axis>: x */
  json_decref(model);
}

static void joints_of_every_type(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<robot name='r'><link name='base'/>" LINK("a") LINK("b") LINK("c") LINK("d") LINK("e") JOINT(
          "turn", "revolute", "base", "a",
          "<axis xyz='0 0 1'/><limit lower='-1' upper='2' effort='1' velocity='1'/>"
          "<dynamics damping='0.5' friction='0.25'/><safety_controller k_velocity='1'/>")
          JOINT("slide", "prismatic", "a", "b",
                "<axis xyz='0 1 0'/><limit lower='0.25' upper='0.5'/><dynamics damping='3'/>")
              JOINT("plane", "planar", "b", "c", "<axis xyz='0 0 1'/><dynamics damping='1'/>")
                  JOINT("fly", "floating", "base", "d", "<origin xyz='5 0 0'/>") JOINT(
                      "free", "revolute", "d", "e",
                      "<limit lower='0' upper='0' effort='1' velocity='1'/>") "<gazebo/><gazebo/></"
                                                                              "robot>");
  const json_t *turn = named(model, "joints", "turn"), *slide = named(model, "joints", "slide");
  expect_number(json_object_get(turn, "damping"), 0.5);
  expect_number(json_object_get(json_object_get(turn, "friction"), "level"), 0.25);
  expect_number(json_object_get(json_object_get(turn, "limits"), "min"), -1.0);
  expect_number(json_object_get(json_object_get(turn, "limits"), "max"), 2.0);
  /* zero is outside of the limits: it starts at the nearest one */
  expect_word(slide, "type", "prismatic");
  expect_number(json_object_get(json_object_get(slide, "limits"), "min"), 0.0);
  expect_number(json_object_get(json_object_get(slide, "limits"), "max"), 0.25);
  EXPECT_VECTOR(named(model, "bodies", "b"), "position", 0.0, 0.25, 0.0);
  EXPECT_VECTOR(named(model, "bodies", "c"), "position", 0.0, 0.25, 0.0);
  expect_word(named(model, "joints", "plane"), "type", "planar");
  EXPECT_VECTOR(named(model, "bodies", "d"), "position", 5.0, 0.0, 0.0);
  assert_null(json_object_get(named(model, "joints", "free"), "limits"));
  assert_int_equal(json_array_size(json_object_get(model, "joints")), 4);
  expect_note("joint 'slide' starts at 0.25");
  expect_note("joint 'plane': damping and friction of a planar joint are not used");
  expect_note("joint 'free': both limits are zero");
  expect_note("joint 'turn': <safety_controller> is not used");
  expect_note("2 <gazebo> not used");
  expect_note("effort and velocity in <limit> of 2 joints not used");
  json_decref(model);
}

/* q2 = 2 q1 + 0.5, q3 = -q2: at the start q1 = 0.1, its lower limit. */
static void mimic_joints_are_couplings(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<robot name='r'><link name='base'/>" LINK("a") LINK("b") LINK("c") JOINT(
          "q1", "revolute", "base", "a", "<axis xyz='0 0 1'/><limit lower='0.1' upper='1'/>")
          JOINT(
              "q3", "prismatic", "base", "c",
              "<axis xyz='1 0 0'/><limit lower='-9' upper='9'/><mimic joint='q2' multiplier='-1'/>")
              JOINT(
                  "q2", "revolute", "base", "b",
                  "<axis xyz='0 0 1'/><mimic joint='q1' multiplier='2' offset='0.5'/>") "</robot>");
  const json_t *two = named(model, "couplings", "q2_mimic"),
               *three = named(model, "couplings", "q3_mimic");
  expect_numbers(two, "factors", 2, (const double[2]){1.0, -2.0});
  expect_numbers(two, "reference", 2, (const double[2]){0.0, 0.0});
  expect_numbers(three, "factors", 2, (const double[2]){1.0, 1.0});
  assert_string_equal(json_string_value(json_array_get(json_object_get(three, "coordinates"), 0)),
                      "translation");
  assert_string_equal(json_string_value(json_array_get(json_object_get(three, "coordinates"), 1)),
                      "rotation");
  EXPECT_VECTOR(named(model, "bodies", "c"), "position", -0.7, 0.0, 0.0);
  EXPECT_MATRIX(named(model, "bodies", "b"), "rotation", cos(0.7), -sin(0.7), 0, sin(0.7), cos(0.7),
                0, 0, 0, 1);
  assert_null(json_object_get(named(model, "joints", "q3"), "limits"));
  expect_note("joint 'q3': its limits are not used");
  json_decref(model);
}

static void the_base_can_be_free(void **state)
{
  (void)state;
  write_text("robot.xml", "<robot name='r'>" LINK("base") LINK("a")
                              JOINT("j", "continuous", "base", "a", "") "</robot>");
  json_t *model = import_file("robot.xml", NULL);
  assert_int_equal(json_array_size(json_object_get(model, "bodies")), 1);
  expect_note("link 'base' is the ground: its mass has no effect");
  json_decref(model);
  model = import_file("robot.xml", &(pol_robot_options){.floating = 1});
  assert_int_equal(json_array_size(json_object_get(model, "bodies")), 2);
  assert_string_equal(
      json_string_value(json_array_get(json_object_get(named(model, "joints", "j"), "bodies"), 0)),
      "base");
  json_decref(model);
}

/* Names that the model does not allow, or that it has already. */
static void names_are_made_fit(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<robot name='r'><link name='base'/>" LINK("ground") LINK("arm") LINK("a.b") LINK("a_b")
          LINK("\xC3\xA4&quot; ") JOINT("arm", "continuous", "base", "arm", "") JOINT(
              "j/1", "continuous", "arm", "ground", "") JOINT("k", "continuous", "arm", "a.b", "")
              JOINT("k_mimic", "continuous", "arm", "a_b", "<mimic joint='k'/>")
                  JOINT("k_mimic_mimic", "continuous", "arm", "\xC3\xA4&quot; ", "") "</robot>");
  named(model, "bodies", "ground_link");
  named(model, "bodies", "a_b");
  named(model, "bodies", "a_b_link");
  named(model, "bodies", "____");
  named(model, "joints", "arm_joint");
  named(model, "joints", "j_1");
  named(model, "couplings", "k_mimic_mimic_coupling");
  expect_note("link 'ground' is called 'ground_link' in the model");
  expect_note("joint 'arm' is called 'arm_joint' in the model");
  json_decref(model);
}

static void shapes_and_colours(void **state)
{
  (void)state;
  static const char corner[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  mkdir("meshes", 0700), mkdir("ros", 0700), mkdir("ros/pack", 0700);
  write_text("meshes/corner.obj", corner);
  write_text("ros/pack/far.obj", corner);
  setenv("ROS_PACKAGE_PATH", "/nowhere:ros", 1);
  json_t *model = import_text(
      "<robot name='r'><material name='red'><color rgba='1 0 0 1'/></material><link "
      "name='base'/><link name='a'>"
      "<inertial><origin xyz='0 0 1'/>" MASS(
          "1",
          "1") "</inertial>"
               "<visual><origin xyz='0 0 0.5' rpy='0 0 1.5707963267948966'/><geometry><box size='1 "
               "2 3'/></geometry><material name='red'/></visual>"
               "<visual><geometry><cylinder radius='0.1' length='2'/></geometry><material "
               "name='own'><color rgba='0 0.5 2 1'/></material></visual>"
               "<visual><geometry><sphere radius='0.2'/></geometry></visual>"
               "<visual><geometry><mesh filename='meshes/corner.obj' scale='0.5 0.5 "
               "0.5'/></geometry></visual>"
               "<visual><geometry><mesh "
               "filename='package://some/meshes/corner.obj'/></geometry></visual>"
               "<visual><geometry><mesh filename='package://pack/far.obj'/></geometry></visual>"
               "<visual><geometry><mesh filename='meshes/corner.obj' scale='1 1 "
               "2'/></geometry></visual>"
               "<visual><geometry><mesh filename='meshes/gone.stl'/></geometry></visual>"
               "<visual><geometry><mesh filename='meshes/corner.obj' scale='-1 -1 "
               "-1'/></geometry></visual><visual><geometry><capsule radius='1' "
               "length='1'/></geometry></visual><visual><geometry/></visual>"
               "<visual><geometry><mesh "
               "filename='meshes/corner.ply'/></geometry></visual></link>" JOINT(
                   "j", "continuous", "base", "a", "") "</robot>");
  unsetenv("ROS_PACKAGE_PATH");
  const json_t *shapes = json_object_get(named(model, "bodies", "a"), "shapes");
  assert_int_equal(json_array_size(shapes), 6);
  const json_t *box = json_array_get(shapes, 0);
  expect_word(box, "type", "box");
  expect_word(box, "color", "#ff0000");
  EXPECT_VECTOR(box, "size", 1.0, 2.0, 3.0);
  EXPECT_VECTOR(box, "position", 0.0, 0.0, -0.5);
  EXPECT_MATRIX(box, "rotation", 0, -1, 0, 1, 0, 0, 0, 0, 1);
  expect_word(json_array_get(shapes, 1), "color", "#0080ff");
  assert_null(json_object_get(json_array_get(shapes, 2), "color"));
  expect_word(json_array_get(shapes, 3), "file", "meshes/corner.obj");
  expect_number(json_object_get(json_array_get(shapes, 3), "scale"), 0.5);
  expect_word(json_array_get(shapes, 4), "file", "meshes/corner.obj");
  expect_word(json_array_get(shapes, 5), "file", "ros/pack/far.obj");
  expect_note("mesh \"meshes/corner.obj\" is not used: its scale differs between the axes");
  expect_note("mesh \"meshes/gone.stl\" is not used: the file is not there");
  expect_note("mesh \"meshes/corner.obj\" is not used: its scale is not positive");
  expect_note("<geometry> (line 1) is not shown: <capsule> has no size or is no shape of URDF");
  expect_note("<geometry> (line 1) is not shown: it has no shape");
  expect_note("mesh \"meshes/corner.ply\" is not used: only STL, OBJ and DAE files are");
  json_decref(model);
}

/* In UTF-16, which begins with a mark of the order of bytes. */
static void other_encodings_are_read(void **state)
{
  (void)state;
  static const char text[] = "<robot name='r'><link name='base'/></robot>";
  char *model = NULL;
  FILE *file = fopen("wide.urdf", "w");
  assert_non_null(file);
  fputs("\xFF\xFE", file);
  for (size_t i = 0; i + 1 < sizeof text; i++) fputc(text[i], file), fputc(0, file);
  fclose(file);
  assert_int_equal(pol_robot_read_file("wide.urdf", NULL, &model, NULL, &errors), POL_OK);
  free(model);
}

/* Sizes that are not positive are no shapes of models. */
static void flat_shapes_are_not_shown(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<robot name='r'><link name='base'/><link name='a'>" SOLID
      "<visual><geometry><sphere radius='-1'/></geometry></visual>\n"
      "<visual><geometry><box size='1 0 1'/></geometry></visual>\n"
      "<visual><geometry><cylinder radius='1' length='2'/></geometry></visual></link>" JOINT(
          "j", "continuous", "base", "a", "") "</robot>");
  assert_int_equal(json_array_size(json_object_get(named(model, "bodies", "a"), "shapes")), 1);
  expect_note("<geometry> (line 1) is not shown: a size of it is not positive");
  expect_note("<geometry> (line 2) is not shown: a size of it is not positive");
  json_decref(model);
}

/* Every error of a file is reported in one run. */
static void bad_elements_are_refused(void **state)
{
  (void)state;
  EXPECT_ERRORS(
      "<robot name='r'>\n<link name='base'/>\n"
      "<link name='a'><inertial><mass value='-1'/><inertia ixx='nan' iyy='-1' "
      "izz='1'/></inertial></link>\n"
      "<link name='b'>" SOLID "</link>\n<link name='b'/>\n<link/>\n"
      "<joint name='x' type='revolut'><parent link='bas'/><child link='a'/></joint>\n"
      "<joint name='y' type='revolute'><child link='b'/><axis xyz='0 0 0'/><limit lower='1' "
      "upper='0'/></joint>\n"
      "<joint name='z' type='continuous'><parent link='a'/><child link='b'/><axis xyz='1 0'/>"
      "<dynamics damping='-1'/><mimic joint='q'/></joint>\n</robot>",
      {3, "negative mass"}, {3, "ixx must be a finite number"}, {3, "negative moment"},
      {5, "given twice"}, {6, "must have a name"}, {7, "no valid type"},
      {7, "parent 'bas', which is no link"}, {8, "has no parent"}, {8, "axis of length zero"},
      {8, "lower limit above the upper"}, {9, "must be 3 finite numbers"}, {9, "negative damping"},
      {9, "mimics a joint that is not there"}, {9, "leads to a link that another joint leads to"});
}

static void bad_trees_are_refused(void **state)
{
  (void)state;
  EXPECT_ERRORS("<robot name='r'/>", {1, "at least one link"});
  EXPECT_ERRORS("<robot name='r'>\n" LINK("a") LINK("b") JOINT("x", "continuous", "a", "b", "")
                    JOINT("y", "continuous", "b", "a", "") "</robot>",
                {1, "form a cycle"});
  EXPECT_ERRORS("<robot name='r'><link name='base'/>\n" LINK("a") "\n" LINK("b")
                    JOINT("x", "continuous", "a", "b", "")
                        JOINT("y", "continuous", "b", "a", "") "</robot>",
                {2, "cannot be reached"}, {3, "cannot be reached"});
  EXPECT_ERRORS("<robot name='r'><link name='base'/>\n" LINK("a") "</robot>",
                {2, "is not connected"});
  EXPECT_ERRORS("<robot name='r'><link name='base'/>\n<link name='a'/>\n<link "
                "name='b'><inertial><mass value='1'/></inertial></link>\n"
                "<link name='c'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
                "izz='3'/></inertial></link>" JOINT("x", "continuous", "base", "a", "")
                    JOINT("y", "continuous", "a", "b", "")
                        JOINT("z", "continuous", "a", "c", "") "</robot>",
                {2, "has no mass, but a joint moves it"},
                {3, "moments of inertia that no solid has"}, {4, "no solid has"});
  EXPECT_ERRORS(
      "<robot name='r'><link name='base'/>\n<link name='a'><inertial>" MASS(
          "1e308", "1e308") "</inertial></link>\n<link name='b'><inertial><origin "
                            "xyz='1e200 0 0'/>" MASS(
                                "1e200", "1") "</inertial></link>"
                                              "<link name='c'>" SOLID
                                              "</link>" JOINT("x", "continuous", "base", "a", "")
                                                  JOINT("y", "continuous", "a", "b", "")
                                                      JOINT("z", "fixed", "b", "c", "") "</robot>",
      {2, "too large to calculate with"}, {3, "too large to calculate with"});
  EXPECT_ERRORS(
      "<robot name='r'><link name='base'/>" LINK("a")
          LINK("b") "\n" JOINT("x", "continuous", "base", "a", "<mimic joint='y'/>") "\n" JOINT(
              "y", "continuous", "base", "b", "<mimic joint='x'/>") "</robot>",
      {2, "mimics itself through other joints"}, {3, "mimics itself through other joints"});
}

static void bad_documents_are_refused(void **state)
{
  (void)state;
  EXPECT_ERRORS("<robot name='r'><link name='base'/><link name='a'><inertial>" MASS(
                    "1", "1") "</inertial>\n<inertial/></link>" JOINT("x", "continuous", "base",
                                                                      "a", "") "</robot>",
                {2, "must not have a second <inertial>"});
  EXPECT_ERRORS("<robot name='r'>\n<link>\n</robot>", {0, "line 3, column 9 must be valid XML"});
  EXPECT_ERRORS("<sdf/>", {1, "the first element must be <robot>"});
  EXPECT_ERRORS("<robot xmlns:xacro='http://x'>\n<xacro:macro name='m'/></robot>",
                {2, "run xacro"});
  /* 10^9 copies of a text; a file of the machine */
  EXPECT_ERRORS(
      "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
      "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>"
      "<!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'><!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;'>"
      "<!ENTITY g '&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;'><!ENTITY h '&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;'>"
      "<!ENTITY i '&h;&h;&h;&h;&h;&h;&h;&h;&h;&h;'>]><robot name='&i;'>&i;</robot>",
      {0, "must not have a document type declaration"});
  EXPECT_ERRORS(
      "<!DOCTYPE r [<!ENTITY secret SYSTEM 'file:///etc/passwd'>]><robot name='r'>&secret;</robot>",
      {0, "must not have a document type declaration"});
  char *model;
  assert_int_equal(pol_robot_read_file("not there.urdf", NULL, &model, NULL, &errors), POL_IO);
  assert_int_equal(errors.count, 1);
  pol_errors_clear(&errors);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fused_links_sum_up),        cmocka_unit_test(inertias_are_turned),
      cmocka_unit_test(joints_of_every_type),      cmocka_unit_test(mimic_joints_are_couplings),
      cmocka_unit_test(the_base_can_be_free),      cmocka_unit_test(names_are_made_fit),
      cmocka_unit_test(shapes_and_colours),        cmocka_unit_test(flat_shapes_are_not_shown),
      cmocka_unit_test(bad_elements_are_refused),  cmocka_unit_test(bad_trees_are_refused),
      cmocka_unit_test(bad_documents_are_refused), cmocka_unit_test(other_encodings_are_read),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
