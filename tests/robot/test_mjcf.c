/* MJCF: what becomes of bodies, geoms, joints, equalities and actuators, against calculations by
 * hand; what is refused; the robots of the tests and of models/robots. */
#define _XOPEN_SOURCE 700
#include "robot_test.h"

#include <glob.h>

#define RADIANS "<compiler angle='radian'/>"
#define WORLD(text) "<mujoco>" RADIANS "<worldbody>" text "</worldbody></mujoco>"
#define SOLID "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/>"

static json_t *first_body(const json_t *model)
{
  return json_array_get(json_object_get(model, "bodies"), 0);
}

/* Mass and inertia of each type at density 1000, or with a mass. */
static void geoms_have_mass(void **state)
{
  (void)state;
  const double tube = 2.0 * M_PI * 0.01 * 0.3, ball = 4.0 / 3.0 * M_PI * 0.001;
  const struct {
    const char *geom;
    double mass, moments[3];
  } cases[] = {
      {"type='sphere' size='0.1'", 1000.0 * ball, {4.0 * ball, 4.0 * ball, 4.0 * ball}},
      {"type='box' size='0.1 0.2 0.3' mass='3'", 3.0, {0.13, 0.10, 0.05}},
      {"type='ellipsoid' size='0.1 0.2 0.3' mass='5'", 5.0, {0.13, 0.10, 0.05}},
      {"type='cylinder' size='0.1 0.3' density='1'",
       tube,
       {tube * (0.0025 + 0.03), tube * (0.0025 + 0.03), tube * 0.005}},
      {"type='capsule' size='0.1 0.3' density='1'",
       tube + ball,
       {tube * 0.0325 + ball * (0.004 + 0.09 + 0.0225),
        tube * 0.0325 + ball * (0.004 + 0.09 + 0.0225), tube * 0.005 + ball * 0.004}},
      {"type='cylinder' size='0.1' fromto='0.3 0 0 -0.3 0 0' density='1'",
       tube,
       {tube * 0.005, tube * 0.0325, tube * 0.0325}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[500];
    snprintf(text, sizeof text, WORLD("<body name='b'><freejoint/><geom %s/></body>"),
             cases[k].geom);
    json_t *model = import_text(text), *b = first_body(model);
    const double *J = cases[k].moments;
    expect_number(json_object_get(b, "mass"), cases[k].mass);
    EXPECT_MATRIX(b, "inertia", J[0], 0, 0, 0, J[1], 0, 0, 0, J[2]);
    json_decref(model);
  }
}

/* A corner of a cube of 1 m: volume 1/6, centre at 1/4; xx about the centre: 2 (1/60 - 1/96). */
static void meshes_have_mass(void **state)
{
  (void)state;
  mkdir("parts", 0700);
  write_text("parts/corner.obj",
             "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  write_text("parts/open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\n");
  json_t *model = import_text(
      "<mujoco><compiler meshdir='parts'/><asset><mesh file='corner.obj' scale='1 1 2'/></asset>"
      "<worldbody><body name='b'><freejoint/><geom type='mesh' mesh='corner' density='6'/>"
      "</body></worldbody></mujoco>");
  const json_t *b = first_body(model);
  const double s =
      2.0 * (1.0 / 60.0 - 1.0 / 96.0) / 2.0; /* second moment per axis of the unit corner */
  const double xx = 6.0 * 2.0 * s, xy = 6.0 * 2.0 * (1.0 / 120.0 - 1.0 / 96.0);
  expect_number(json_object_get(b, "mass"), 2.0);
  EXPECT_VECTOR(b, "position", 0.25, 0.25, 0.5);
  EXPECT_MATRIX(b, "inertia", xx + 4 * xx, -xy, -2 * xy, -xy, xx + 4 * xx, -2 * xy, -2 * xy,
                -2 * xy, 2 * xx);
  expect_note("is not shown: of its mesh, its scale differs");
  json_decref(model);
  EXPECT_ERRORS("<mujoco><asset><mesh name='o' file='parts/open.obj'/></asset><worldbody><body "
                "name='b'><freejoint/>\n"
                "<geom type='mesh' mesh='o'/></body></worldbody></mujoco>",
                {2, "cannot have mass"}, {1, "has no mass"});
}

/* All ways to turn a body by 90 degrees about z. */
static void orientations_of_every_form(void **state)
{
  (void)state;
  static const char *const forms[] = {"quat='1 0 0 1'", "axisangle='0 0 2 90'", "euler='0 0 90'",
                                      "xyaxes='0 1 0 -1 0 0'", "pos='0 0 0' euler='0 0 90'"};
  for (int k = 0; k < 5; k++) {
    char text[500];
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body name='b' %s><freejoint/>" SOLID
             "</body></worldbody></mujoco>",
             forms[k]);
    json_t *model = import_text(text);
    EXPECT_MATRIX(first_body(model), "rotation", 0, -1, 0, 1, 0, 0, 0, 0, 1);
    json_decref(model);
  }
  json_t *model = import_text("<mujoco><worldbody><body name='b' zaxis='1 0 0'><freejoint/>" SOLID
                              "</body></worldbody></mujoco>");
  EXPECT_MATRIX(first_body(model), "rotation", 0, 0, 1, 0, 1, 0, -1, 0, 0);
  json_decref(model);
  /* fixed axes: first about x, then about global z; turning axes: Rx Rz */
  model = import_text("<mujoco><compiler eulerseq='XYZ'/><worldbody><body name='b' euler='90 0 "
                      "90'><freejoint/>" SOLID "</body></worldbody></mujoco>");
  EXPECT_MATRIX(first_body(model), "rotation", 0, 0, 1, 1, 0, 0, 0, 1, 0);
  json_decref(model);
  model = import_text("<mujoco><worldbody><body name='b' euler='90 0 90'><freejoint/>" SOLID
                      "</body></worldbody></mujoco>");
  EXPECT_MATRIX(first_body(model), "rotation", 0, -1, 0, 0, 0, -1, 1, 0, 0);
  json_decref(model);
}

/* Bodies without joints are part of those around them; the world is the ground. */
static void fixed_bodies_sum_up(void **state)
{
  (void)state;
  json_t *model = import_text(WORLD(
      "<geom type='plane' size='1 1 1'/><body name='post' pos='0 0 1'><geom size='0.1'/>"
      "<frame pos='1 0 0' euler='0 0 1.5707963267948966'><body name='arm'><joint name='j' axis='0 "
      "1 0' pos='0 0.5 0'/>"
      "<inertial pos='0 0 0' mass='2' diaginertia='0.1 0.1 0.1'/><body name='tool' pos='0.3 0 0'>"
      "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/><site name='tip' pos='0 0 "
      "0.1'/></body></body></frame></body>"));
  assert_int_equal(json_array_size(json_object_get(model, "bodies")), 1);
  const json_t *arm = named(model, "bodies", "arm"), *j = named(model, "joints", "j");
  expect_number(json_object_get(arm, "mass"), 3.0);
  EXPECT_VECTOR(arm, "position", 1.0, 0.1, 1.0);
  EXPECT_MATRIX(arm, "inertia", 0.2, 0, 0, 0, 0.26, 0, 0, 0, 0.26);
  EXPECT_VECTOR(j, "axis", -1.0, 0.0, 0.0);
  EXPECT_VECTOR(j, "point", 0.5, 0.0, 1.0);
  EXPECT_VECTOR(named(model, "markers", "tip"), "position", 0.2, 0.0, 0.1);
  expect_word(named(model, "markers", "post"), "body", "ground");
  assert_int_equal(json_array_size(json_object_get(model, "shapes")), 2);
  expect_note("contacts between geoms are not simulated");
  json_decref(model);
}

static void joints_have_laws(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<mujoco><default><joint damping='1'/><default class='stiff'><joint stiffness='5'/><default "
      "class='inner'>"
      "<joint armature='0.3'/></default></default></default><worldbody><body name='a' "
      "childclass='inner'>"
      "<joint name='j' ref='10' springref='40' range='-20 70' frictionloss='0.2'/>" SOLID
      "<body name='b'><joint name='k' class='stiff' type='slide' axis='1 0 0' range='0.1 0.2' "
      "damping='0'/>" SOLID "<body name='c'><joint name='l' type='ball'/>" SOLID
      "</body></body></body></worldbody>"
      "<option timestep='0.005' gravity='0 0 -3'/></mujoco>");
  const double degree = M_PI / 180.0;
  const json_t *j = named(model, "joints", "j"), *k = named(model, "joints", "k");
  expect_number(json_object_get(j, "stiffness"), 5.0);
  expect_number(json_object_get(j, "rest"), 30.0 * degree);
  expect_number(json_object_get(j, "armature"), 0.3);
  expect_number(json_object_get(j, "damping"), 1.0);
  expect_number(json_object_get(json_object_get(j, "friction"), "level"), 0.2);
  expect_number(json_object_get(json_object_get(j, "limits"), "min"), -30.0 * degree);
  expect_number(json_object_get(json_object_get(j, "limits"), "max"), 60.0 * degree);
  expect_word(k, "type", "prismatic");
  assert_null(json_object_get(k, "damping"));
  assert_null(json_object_get(k, "armature"));
  expect_number(json_object_get(k, "rest"), -0.1);
  EXPECT_VECTOR(named(model, "bodies", "b"), "position", 0.1, 0.0, 0.0);
  expect_note("joint 'k' starts at 0.1");
  expect_word(named(model, "joints", "l"), "type", "spherical");
  expect_note("joint 'l': its stiffness, damping");
  EXPECT_VECTOR(model, "gravity", 0.0, 0.0, -3.0);
  expect_number(json_object_get(json_object_get(model, "simulation"), "step"), 0.005);
  json_decref(model);
}

/* Several joints of one body. */
static void joints_are_combined(void **state)
{
  (void)state;
#define X "<joint type='slide' axis='1 0 0'/>"
#define Y "<joint type='slide' axis='0 1 0'/>"
#define Z "<joint type='slide' axis='0 0 1'/>"
#define RX "<joint axis='1 0 0'/>"
#define RY "<joint axis='0 1 0'/>"
#define RZ "<joint axis='0 0 1'/>"
  static const struct {
    const char *joints, *type;
    int num_locked; /* of a generic joint */
  } cases[] = {{RX RY, "universal", 0},
               {RX RY RZ, "spherical", 0},
               {Z RZ, "cylindrical", 0},
               {RZ Z, "cylindrical", 0},
               {X Z RY, "planar", 0},
               {X Y, "generic", 4},
               {X Y Z, "generic", 3},
               {X RZ, "generic", 4},
               {X Y Z RX, "generic", 2},
               {X RX RY, "generic", 3},
               {X "<joint type='ball'/>", "generic", 2}};
  char text[1000];
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    snprintf(text, sizeof text, WORLD("<body name='b'>%s" SOLID "</body>"), cases[k].joints);
    json_t *model = import_text(text);
    const json_t *joint = named(model, "joints", "b_joint");
    expect_word(joint, "type", cases[k].type);
    assert_int_equal(json_array_size(json_object_get(joint, "locked")), cases[k].num_locked);
    json_decref(model);
  }
  json_t *model = import_text(WORLD("<body name='b'>" X Y Z RX RY RZ SOLID "</body>"));
  assert_null(json_object_get(model, "joints"));
  expect_note("the 6 joints of body 'b' are one in the model: it is free");
  json_decref(model);
  /* slides against the axes of the frame: limits and rest change their signs */
  model = import_text(WORLD("<body name='b'><joint name='s' type='slide' axis='0 0 -1' range='-1 "
                            "2' stiffness='3' springref='0.5'/>" RZ SOLID "</body>"));
  const json_t *laws = json_object_get(
      json_object_get(named(model, "joints", "b_joint"), "coordinates"), "translation");
  expect_number(json_object_get(json_object_get(laws, "limits"), "min"), -2.0);
  expect_number(json_object_get(json_object_get(laws, "limits"), "max"), 1.0);
  expect_number(json_object_get(laws, "rest"), -0.5);
  json_decref(model);
  static const struct {
    const char *joints, *reason;
  } wrong[] = {{RZ X, "turned by a hinge before it"},
               {"<joint axis='1 0 0'/><joint axis='1 1 0'/>", "axes are not perpendicular"},
               {"<joint axis='1 0 0'/><joint axis='0 1 0' pos='0 0 1'/>", "not about one point"},
               {"<joint type='slide' axis='1 0 1'/>" RZ, "neither parallel nor perpendicular"},
               {"<joint type='ball'/>" X, "slide after a ball"},
               {"<joint type='ball'/>" RX, "ball joint beside hinges"},
               {"<freejoint/>" RX, "free joint beside other joints"}};
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    snprintf(text, sizeof text, WORLD("<body name='b'>%s" SOLID "</body>"), wrong[k].joints);
    EXPECT_ERRORS(text, {1, wrong[k].reason});
  }
}

static void equalities_and_actuators(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<mujoco>" RADIANS "<worldbody><body name='a'><joint name='p'/>" SOLID "</body>"
      "<body name='b' pos='1 0 0'><joint name='q' ref='0.5'/>" SOLID
      "</body><body name='c' pos='2 0 0'><freejoint/>" SOLID
      "</body></worldbody><equality><joint name='gear' joint1='p' joint2='q' polycoef='0.1 2 0 0 "
      "0'/>"
      "<joint joint1='p' joint2='q' polycoef='0 1 1'/><connect name='pin' body1='b' body2='c' "
      "anchor='0.5 0 0'/>"
      "<weld name='glue' body1='c'/><weld body1='a' body2='b' active='false'/></equality>"
      "<actuator><motor name='m' joint='p' gear='3' ctrlrange='-1 1'/><position name='s' joint='q' "
      "kp='10'/>"
      "<velocity name='v' joint='p' kv='4' gear='2' forcerange='-5 5'/><muscle name='x' "
      "joint='p'/></actuator>"
      "<sensor><gyro name='g' site='s'/></sensor><tendon><fixed name='t'/></tendon></mujoco>");
  const json_t *gear = named(model, "couplings", "gear");
  expect_numbers(gear, "factors", 2, (const double[2]){1.0, -2.0});
  expect_numbers(gear, "reference", 2, (const double[2]){0.1, 0.0});
  expect_word(named(model, "joints", "pin"), "type", "spherical");
  EXPECT_VECTOR(named(model, "joints", "pin"), "point", 1.5, 0.0, 0.0);
  expect_word(named(model, "joints", "glue"), "type", "fixed");
  expect_word(named(model, "forces", "m"), "actuator", "(3)*((1)*clamp('m', (-1), (1)))");
  expect_word(named(model, "forces", "s"), "actuator", "(1)*((10)*'s' + (-5) + (-10)*'q'.angle)");
  expect_word(named(model, "forces", "v"), "actuator",
              "(2)*clamp((4)*'v' + (-8)*'p'.rate, (-5), (5))");
  assert_true(json_is_true(json_object_get(named(model, "variables", "m"), "input")));
  expect_note("its polynomial is not linear");
  expect_note("equality: <weld> in line 1 is not used");
  expect_note("actuator: muscle 'x' is not used");
  expect_note("sensor: <gyro> 'g' is not used");
  expect_note("tendon: fixed 't' is not used: it has no joints");
  json_decref(model);
}

#define ARMS                                                                                       \
  "<worldbody><site name='post' pos='1 0 0'/><body name='a'><joint name='p' ref='0.5'/>" SOLID     \
  "<site name='tip' pos='0 0 2'/><site name='end'/></body><body name='b'><joint name='q' "         \
  "type='slide' axis='1 0 0' springref='0.25'/>" SOLID "</body><body name='c'><joint name='s' "    \
  "type='ball'/>" SOLID "</body></worldbody>"

/* k (L0 - L) - d L' with L = 2 p - 3 q, and p = 0.5 at the start. */
static void tendons_are_springs(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<mujoco>" RADIANS "<default><tendon damping='0.5'/></default>" ARMS
      "<tendon><fixed name='t' stiffness='4'><joint joint='p' coef='2'/><joint joint='q' "
      "coef='-3'/></fixed><fixed name='l' stiffness='1' damping='0' springlength='0.75'><joint "
      "joint='p' coef='1'/></fixed>"
      "<spatial name='rope' stiffness='7'><site site='post'/><site site='tip'/></spatial>"
      "<spatial name='none' stiffness='1'><site site='tip'/><site site='end'/></spatial>"
      "<spatial name='wrapped'><site site='post'/><pulley divisor='2'/></spatial>"
      "<fixed name='round'><joint joint='s' coef='1'/></fixed>"
      "<fixed name='range' springlength='0.1 0.2' range='0 1'><joint joint='p' "
      "coef='1'/></fixed></tendon>"
      "<equality><tendon name='tied' tendon1='l' tendon2='t' polycoef='0.1 0.5'/><tendon "
      "tendon1='t' tendon2='l' polycoef='0 1 2'/><tendon tendon1='l'/></equality>"
      "<actuator><motor name='pull' tendon='t' gear='6'/><position name='servo' tendon='l' "
      "kp='8'/><motor name='winch' tendon='rope'/><position name='held' tendon='rope'/>"
      "<motor name='on_site' site='tip'/></actuator></mujoco>");
  /* at springref: p is at 0, q at 0.25, so that L0 = -0.75, while L = 1 at the start */
  expect_word(named(model, "variables", "t_force"), "expression",
              "(-7) + (-8)*'p'.angle + (-1)*'p'.rate + (12)*'q'.displacement + (1.5)*'q'.speed");
  expect_word(named(model, "forces", "t"), "actuator", "(2)*'t_force'");
  expect_word(named(model, "forces", "t_2"), "actuator", "(-3)*'t_force'");
  expect_word(named(model, "forces", "t_2"), "joint", "q");
  expect_word(named(model, "variables", "l_force"), "expression", "(0.25) + (-1)*'p'.angle");
  const json_t *rope = named(model, "forces", "rope");
  expect_word(rope, "type", "spring-damper");
  expect_number(json_object_get(rope, "stiffness"), 7.0);
  expect_number(json_object_get(rope, "damping"), 0.5);
  expect_number(json_object_get(rope, "length"), sqrt(5.0));
  /* p - (p0) = 0.1 + 0.5 (2 p - 3 q): the terms of p cancel */
  expect_note("equality: tendon 'tied' is not used: only those of two joints are");
  expect_note("is not used: its polynomial is not linear");
  expect_note("tendon: spatial 'none' is not used: its sites are fixed to each other");
  expect_note("tendon: spatial 'wrapped' is not used: only those between two sites are");
  expect_note("tendon: fixed 'round' is not used: one of its joints has no coordinate");
  expect_note("tendon: fixed 'range': range is not used");
  expect_note("tendon: fixed 'range' is not used: its springlength is a range");
  expect_word(named(model, "variables", "pull_force"), "expression", "(6)*((1)*'pull')");
  expect_word(named(model, "forces", "pull"), "actuator", "(2)*'pull_force'");
  expect_word(named(model, "forces", "servo"), "actuator",
              "(1)*((8)*'servo' + (-4) + (-8)*'p'.angle)");
  expect_word(named(model, "forces", "winch"), "actuator", "(1)*((1)*'winch')");
  expect_note("actuator: position 'held' is not used: it depends on the length of a spatial");
  expect_note("actuator: motor 'on_site' is not used: it acts on no joint");
  json_decref(model);
}

/* 2 p - 3 q = 0.1 from the zero position: with the factors 2 and -3, and p at its ref. */
static void tendons_couple_joints(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<mujoco>" RADIANS ARMS
      "<tendon><fixed name='t'><joint joint='p' coef='2'/><joint joint='q' coef='-3'/></fixed>"
      "</tendon><equality><tendon name='tied' tendon1='t' polycoef='0.1'/></equality></mujoco>");
  const json_t *tied = named(model, "couplings", "tied");
  expect_numbers(tied, "factors", 2, (const double[2]){2.0, -3.0});
  expect_numbers(tied, "reference", 2, (const double[2]){0.05, 0.0});
  json_decref(model);
}

/* Hinge, slide and free body where a keyframe has them, with its velocities and controls. */
static void keyframes_are_starts(void **state)
{
  (void)state;
  static const char text[] =
      "<mujoco>" RADIANS "<worldbody><body name='a' pos='0 0 1'><joint name='p' axis='0 0 1' "
      "pos='-1 0 0' ref='0.25' range='-1 3'/>" SOLID "</body>"
      "<body name='b'><freejoint/>" SOLID "</body></worldbody><actuator><motor name='u' "
      "joint='p'/></actuator>"
      "<keyframe><key name='up' qpos='1.8207963267948966 1 2 3 0 0 0 2' qvel='2 4 5 6 1 0 0' "
      "ctrl='-7' time='3'/><key name='few' qpos='1 2'/>\n<key name='bad' qpos='0 0 0 0 0 0 0 0' "
      "ctrl='x'/></keyframe></mujoco>";
  write_text("robot.xml", text);
  json_t *model = import_file("robot.xml", &(pol_robot_options){.keyframe = "up"});
  const json_t *a = named(model, "bodies", "a"), *b = named(model, "bodies", "b");
  EXPECT_VECTOR(a, "position", -1.0, 1.0, 1.0); /* a quarter turn about (-1, 0) */
  EXPECT_MATRIX(a, "rotation", 0, -1, 0, 1, 0, 0, 0, 0, 1);
  EXPECT_VECTOR(a, "velocity", -2.0, 0.0, 0.0);
  EXPECT_VECTOR(a, "angular_velocity_global", 0.0, 0.0, 2.0);
  EXPECT_VECTOR(b, "position", 1.0, 2.0, 3.0);
  EXPECT_MATRIX(b, "rotation", -1, 0, 0, 0, -1, 0, 0, 0, 1);
  EXPECT_VECTOR(b, "velocity", 4.0, 5.0, 6.0);
  EXPECT_VECTOR(b, "angular_velocity_global", -1.0, 0.0, 0.0); /* local in the file */
  const json_t *p = named(model, "joints", "p");
  EXPECT_VECTOR(p, "point", -1.0, 0.0, 1.0);
  expect_number(json_object_get(json_object_get(p, "limits"), "max"), 3.0 - 0.25 - M_PI / 2);
  expect_word(named(model, "variables", "u"), "expression", "-7");
  expect_note("key 'up': time is not used");
  json_decref(model);
  static const struct {
    const char *name, *first;
    int count;
  } wrong[] = {{"upp", "did you mean up", 1},
               {"few", "key 'few': qpos must be 8 finite numbers", 1},
               {"bad", "key 'bad': ctrl must be 1 finite numbers", 2}};
  for (int k = 0; k < 3; k++) {
    char *json, line[500];
    const pol_robot_options options = {.keyframe = wrong[k].name};
    assert_int_equal(pol_robot_read_file("robot.xml", &options, &json, NULL, &errors),
                     POL_BAD_ARGUMENT);
    pol_error_text(&errors.items[0], line, sizeof line);
    if (!strstr(line, wrong[k].first)) fail_msg("%s", line);
    assert_int_equal(errors.count, wrong[k].count);
    pol_errors_clear(&errors);
  }
}

/* Attributes: those of the motion one by one, others together. */
static void unused_attributes_are_noted(void **state)
{
  (void)state;
  json_t *model = import_text(
      "<mujoco>" RADIANS "<visual><quality shadowsize='1'/></visual><worldbody><light/>"
      "<body name='a' gravcomp='1'>\n<joint name='p' margin='1' actuatorfrcrange='0 1'/>" SOLID
      "</body><body name='b' gravcomp='1'><freejoint/><geom size='1' friction='1' group='2'/>"
      "</body></worldbody></mujoco>");
  expect_note("body: gravcomp of 2 elements is not used (the first in line 1)");
  expect_note("joint: actuatorfrcrange is not used (line 2)");
  expect_note("settings of contacts and of the solver have no effect: joint margin, geom friction");
  expect_note(
      "settings of the display have no effect: visual quality, worldbody light, geom group");
  json_decref(model);
}

static void files_are_included(void **state)
{
  (void)state;
  write_text("legs.xml", "<mujocoinclude>\n<body name='leg'><joint name='hip'/>" SOLID
                         "</body>\n</mujocoinclude>");
  write_text("bad.xml", "<mujocoinclude>\n\n<body name='bad'><joint axis='0 0 0'/>" SOLID
                        "</body></mujocoinclude>");
  write_text("loop.xml", "<mujocoinclude><include file='loop.xml'/></mujocoinclude>");
  json_t *model = import_text(WORLD("<include file='legs.xml'/>"));
  named(model, "joints", "hip");
  json_decref(model);
  EXPECT_ERRORS(
      WORLD("\n<include file='legs.xml'/><include file='legs.xml'/><include file='gone.xml'/>"),
      {2, "must not be included twice"}, {2, "cannot be read"});
  EXPECT_ERRORS(WORLD("<include file='loop.xml'/>"), {1, "must not be included twice"});
  char *text;
  write_text("robot.xml", WORLD("<include file='bad.xml'/>"));
  assert_int_equal(pol_robot_read_file("robot.xml", NULL, &text, NULL, &errors), POL_BAD_ARGUMENT);
  assert_string_equal(errors.items[0].file, "bad.xml");
  assert_int_equal(errors.items[0].line, 3);
  pol_errors_clear(&errors);
}

static void bad_elements_are_refused(void **state)
{
  (void)state;
  EXPECT_ERRORS("<mujoco/>", {1, "must have a <worldbody>"});
  EXPECT_ERRORS(
      "<mujoco><compiler coordinate='global' eulerseq='abc'/><worldbody>\n"
      "<body name='a' quat='0 0 0 0'><joint name='j' type='hing'/><geom size='-1'/></body>\n"
      "<body name='a' euler='0 0 x'><joint name='j' damping='-1' limited='true'/>" SOLID "</body>\n"
      "<body name='c' quat='1 0 0 0' euler='0 0 0'><freejoint/></body>\n"
      "<composite type='rope'/></worldbody></mujoco>",
      {1, "must be local"}, {1, "must be three letters"}, {2, "must not be zero"},
      {2, "hinge, slide, ball or free"}, {2, "positive sizes"}, {2, "has no mass"},
      {3, "given twice"}, {3, "given twice"}, {3, "3 finite numbers"}, {3, "negative stiffness"},
      {3, "is limited, but has no range"}, {4, "must have one of quat"}, {4, "has no mass"},
      {5, "cannot be read"});
  EXPECT_ERRORS("<mujoco><worldbody><body name='a'><joint name='j'/>" SOLID "</body></worldbody>\n"
                "<actuator><motor joint='k'/></actuator>\n<equality><connect body1='z' anchor='0 0 "
                "0'/></equality></mujoco>",
                {3, "must name a body"});
}

/* Numbers that are none, missing classes and meshes, names of nothing. */
static void bad_values_are_refused(void **state)
{
  (void)state;
  EXPECT_ERRORS("<mujoco><default><default class='a'>\n<default class='a'/></default></default>"
                "<worldbody><body name='a'><joint/>" SOLID "</body></worldbody></mujoco>",
                {2, "has a class that is given twice"});
  EXPECT_ERRORS("<mujoco><asset><mesh name='m' file='gone.stl'/></asset><worldbody>\n"
                "<body name='a'><joint/>" SOLID "<geom type='donut' size='1'/>\n"
                "</body><body name='b'><joint/><geom type='mesh' mesh='m'/></body>"
                "</worldbody></mujoco>",
                {2, "must have the type sphere, capsule"}, {3, "the file gone.stl is not there"},
                {3, "has no mass"});
  EXPECT_ERRORS("<mujoco><default class='main'><default class='known'/></default><worldbody>\n"
                "<body name='a' childclass='gone'><joint class='known'/>" SOLID "</body>\n"
                "<body name='b'><joint class='none'/>" SOLID "</body></worldbody></mujoco>",
                {2, "body 'a' has a class that no <default> has (it is gone)"},
                {3, "joint has a class that no <default> has (it is none)"});
  EXPECT_ERRORS(
      "<mujoco><option gravity='0 0 nan' timestep='1e999'/><asset>\n<mesh name='m' "
      "file='gone.stl'/></asset><worldbody>\n<body name='a'><joint/><inertial pos='0 0 0' "
      "mass='inf' diaginertia='1 1 1'/></body>\n<body name='b'><joint/><geom type='mesh' "
      "mesh='m'/></body></worldbody></mujoco>",
      {1, "gravity"}, {1, "timestep"}, {3, "must be a finite number"}, {3, "must have a mass"},
      {3, "has no mass"}, {4, "cannot have mass"}, {4, "has no mass"});
  EXPECT_ERRORS("<mujoco><worldbody>\n<body name='a'><joint/><geom type='sphere' size='1e200' "
                "density='1e200'/></body></worldbody></mujoco>",
                {2, "too large to calculate with"});
  EXPECT_ERRORS(
      "<mujoco><worldbody><body name='a'><joint name='j'/>" SOLID "</body></worldbody>"
      "<tendon>\n<fixed name='t' stiffness='nan' damping='-1'><joint joint='j' "
      "coef='inf'/></fixed>\n<fixed name='u'><joint joint='gone'/></fixed>\n<spatial><site "
      "site='gone'/></spatial></tendon></mujoco>",
      {2, "must be a finite number"}, {2, "negative stiffness"}, {2, "must be a finite number"},
      {3, "must name a joint"}, {4, "must name a site"});
  EXPECT_ERRORS("<mujoco><worldbody><body name='a'><joint name='j'/>" SOLID "</body></worldbody>"
                "<actuator>\n<motor joint='gone'/>\n<motor tendon='gone'/>\n<motor joint='j' "
                "gear='nan'/></actuator></mujoco>",
                {2, "must name a joint"}, {3, "must name a tendon"}, {4, "finite numbers"});
  char *deep = calloc(1, 60000);
  assert_non_null(deep);
  strcpy(deep, "<mujoco><worldbody>");
  for (int i = 0; i < 3000; i++) strcat(deep, "<body>");
  for (int i = 0; i < 3000; i++) strcat(deep, "</body>");
  strcat(deep, "</worldbody></mujoco>");
  EXPECT_ERRORS(deep, {0, "Excessive depth"});
  free(deep);
}

/* Each is a model that polhode reads. */
static void robots_are_read(void **state)
{
  (void)state;
  glob_t files;
  assert_int_equal(glob(POLHODE_SOURCE_DIR "/tests/data/robots/*", 0, NULL, &files), 0);
  assert_int_equal(glob(POLHODE_SOURCE_DIR "/models/robots/*", GLOB_APPEND, NULL, &files), 0);
  assert_true(files.gl_pathc >= 25);
  for (size_t i = 0; i < files.gl_pathc; i++) json_decref(import_file(files.gl_pathv[i], NULL));
  globfree(&files);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(geoms_have_mass),
      cmocka_unit_test(meshes_have_mass),
      cmocka_unit_test(orientations_of_every_form),
      cmocka_unit_test(fixed_bodies_sum_up),
      cmocka_unit_test(joints_have_laws),
      cmocka_unit_test(joints_are_combined),
      cmocka_unit_test(equalities_and_actuators),
      cmocka_unit_test(tendons_are_springs),
      cmocka_unit_test(tendons_couple_joints),
      cmocka_unit_test(keyframes_are_starts),
      cmocka_unit_test(unused_attributes_are_noted),
      cmocka_unit_test(files_are_included),
      cmocka_unit_test(bad_elements_are_refused),
      cmocka_unit_test(bad_values_are_refused),
      cmocka_unit_test(robots_are_read),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
