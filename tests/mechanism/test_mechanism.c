/* The mechanism's rules, marker placement, the presets of the joint kernel and what each leaves
 * free. */
#include <polhode/lie.h>
#include <polhode/mechanism.h>

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "mechanism/force.h"
#include "mechanism/joint.h"

static const pol_body good_body = {.name = "a",
                                   .mass = 2.0,
                                   .inertia = {1, 0, 0, 0, 2, 0, 0, 0, 2.5},
                                   .position = {1.0, 2.0, 3.0},
                                   .rotation = {1, 0, 0, 0}};

static int setup(void **state)
{
  pol_mechanism *mechanism;
  if (pol_mechanism_create(&mechanism)) return -1;
  *state = mechanism;
  return pol_mechanism_add_body(mechanism, &good_body, NULL) ? -1 : 0;
}

static int teardown(void **state)
{
  pol_mechanism *mechanism = *state;
  pol_mechanism_free(&mechanism);
  return mechanism ? -1 : 0;
}

/* A point mass needs a mass and a position; what turns is not read. */
static void points_have_no_rotation(void **state)
{
  pol_mechanism *mechanism = *state;
  const double other[3] = {1.0, 2.0, 3.1}, beside[3] = {1.0, 2.0, 3.0 + 1e-12};
  const double none[4] = {1.0, 0.0, 0.0, 0.0}, zero[9] = {0.0};
  pol_body point = {.name = "p",
                    .point = 1,
                    .mass = 2.0,
                    .position = {1.0, 2.0, 3.0},
                    .angular_velocity = {1.0, 0.0, 0.0},
                    .given = POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY};
  int index, at;
  assert_int_equal(pol_mechanism_add_body(mechanism, &point, &index), POL_OK);
  const pol_body *stored = pol_mechanism_body(mechanism, index);
  assert_near(stored->rotation, none, 4, 0.0);
  assert_near(stored->inertia, zero, 9, 0.0);
  assert_near(stored->angular_velocity, zero, 3, 0.0);
  assert_int_equal(stored->given, POL_GIVEN_VELOCITY);
  point.name = "r";
  point.mass = 0.0;
  assert_int_equal(pol_mechanism_add_body(mechanism, &point, NULL), POL_BAD_ARGUMENT);
  point.mass = 1.0;
  point.velocity[0] = (double)NAN;
  assert_int_equal(pol_mechanism_add_body(mechanism, &point, NULL), POL_BAD_ARGUMENT);

  /* markers: at the mass, with any axes */
  pol_marker marker = {.name = "", .body = index, .rotation = {0.0, 1.0, 0.0, 0.0}};
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, NULL), POL_OK);
  marker.position[1] = 1e-300;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", index, other, NULL, NULL),
                   POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", index, beside, NULL, &at), POL_OK);
  assert_near(pol_mechanism_marker(mechanism, at)->position, zero, 3, 0.0);
}

/* A joint on a point mass, first or second, must lock no rotation. */
static void joints_of_points_lock_no_rotation(void **state)
{
  pol_mechanism *mechanism = *state;
  const pol_body point = {.name = "p", .point = 1, .mass = 2.0};
  int markers[2], body;
  assert_int_equal(pol_mechanism_add_body(mechanism, &point, &body), POL_OK);
  for (int i = 0; i < 2; i++) {
    const pol_marker marker = {.name = "", .body = i == 0 ? body : 0, .rotation = {1, 0, 0, 0}};
    assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &markers[i]), POL_OK);
  }
  for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++)
    for (int swapped = 0; swapped < 2; swapped++) {
      char name[64];
      pol_joint_row rows[POL_MAX_JOINT_ROWS];
      int rotations = 0;
      const pol_joint meant = {.type = (pol_joint_type)type, .locked = POL_LOCK_ROTATION_X};
      for (int i = pol_joint_rows(&meant, rows); i-- > 0;)
        rotations += rows[i].kind != POL_ROW_TRANSLATION && rows[i].kind != POL_ROW_DISTANCE;
      snprintf(name, sizeof name, "%s %d", pol_joint_type_name((pol_joint_type)type), swapped);
      const pol_joint joint = {.name = name,
                               .type = (pol_joint_type)type,
                               .marker = {markers[swapped], markers[1 - swapped]},
                               .length = 1.0,
                               .radius = 1.0,
                               .locked = POL_LOCK_ROTATION_X};
      assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL),
                       rotations ? POL_BAD_ARGUMENT : POL_OK);
    }
  static const pol_joint fit[] = {{.type = POL_SPHERICAL},
                                  {.type = POL_DISTANCE},
                                  {.type = POL_GENERIC, .locked = POL_LOCK_X | POL_LOCK_Z}};
  for (int i = 0; i < 3; i++) assert_true(pol_joint_fits_point(&fit[i]));
  assert_false(pol_joint_fits_point(&(pol_joint){.type = POL_UNIVERSAL}));
}

static void points_take_forces_where_they_are(void **state)
{
  pol_mechanism *mechanism = *state;
  const pol_body point = {.name = "p", .point = 1, .mass = 2.0};
  int body;
  assert_int_equal(pol_mechanism_add_body(mechanism, &point, &body), POL_OK);
  pol_force force = {.name = "f", .type = POL_APPLIED_FORCE, .body = body, .vector = {1, 0, 0}};
  pol_force bad[4] = {force, force, force, force};
  bad[0].type = POL_APPLIED_TORQUE;
  bad[1].frame = POL_BODY_AXES;
  bad[2].point[2] = 0.1;
  bad[3].type = POL_SUPPORT;
  bad[3].point[0] = 0.1;
  for (int i = 0; i < 4; i++)
    assert_int_equal(pol_mechanism_add_force(mechanism, &bad[i], NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
}

/* Each of these breaks one rule of a body. */
static void bad_bodies_are_refused(void **state)
{
  pol_mechanism *mechanism = *state;
  pol_body bad[13];
  int n = 0;
  for (int i = 0; i < 13; i++) {
    bad[i] = good_body;
    bad[i].name = "b";
  }
  bad[n++].name = NULL;
  bad[n++].name = "";
  bad[n++].name = "ground";
  bad[n++].name = "a";
  bad[n++].mass = 0.0;
  bad[n++].mass = (double)NAN;
  bad[n++].inertia[4] = -1.0;
  bad[n++].inertia[1] = 0.1; /* not symmetric */
  /* two of three principal moments negative, which the determinant does not show */
  bad[n].inertia[1] = bad[n].inertia[3] = 2.0;
  bad[n++].inertia[8] = -1.0;
  bad[n++].inertia[0] = (double)INFINITY;
  bad[n++].position[2] = (double)NAN;
  bad[n++].rotation[0] = 0.5;
  bad[n++].angular_velocity[1] = (double)INFINITY;
  assert_int_equal(n, 13);
  for (int i = 0; i < n; i++)
    assert_int_equal(pol_mechanism_add_body(mechanism, &bad[i], NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_num_bodies(mechanism), 1);
}

static void names_are_copied(void **state)
{
  pol_mechanism *mechanism = *state;
  char name[] = "link";
  pol_body body = good_body;
  int index;
  body.name = name;
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, &index), POL_OK);
  strcpy(name, "xxxx");
  assert_string_equal(pol_mechanism_body(mechanism, index)->name, "link");
  assert_int_equal(pol_mechanism_find_body(mechanism, "link"), index);
  assert_int_equal(pol_mechanism_find_body(mechanism, "ground"), POL_GROUND);
  assert_int_equal(pol_mechanism_find_body(mechanism, "none"), -2);
}

static void bad_joints_are_refused(void **state)
{
  pol_mechanism *mechanism = *state;
  pol_marker on_body = {.name = "", .body = 0, .rotation = {1, 0, 0, 0}}, on_ground = on_body;
  on_ground.body = POL_GROUND;
  pol_marker nowhere = on_body;
  nowhere.body = 5;
  int a, b, g;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &nowhere, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &on_body, &a), POL_OK);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &on_body, &b), POL_OK);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &on_ground, &g), POL_OK);
  pol_joint same_body = {.name = "j", .type = POL_FIXED, .marker = {a, b}};
  pol_joint no_marker = {.name = "j", .type = POL_FIXED, .marker = {a, 9}};
  pol_joint no_name = {.name = "", .type = POL_FIXED, .marker = {a, g}};
  pol_joint no_type = {.name = "j", .type = (pol_joint_type)99, .marker = {a, g}};
  pol_joint fine = {.name = "j", .type = POL_FIXED, .marker = {a, g}};
  assert_int_equal(pol_mechanism_add_joint(mechanism, &same_body, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &no_marker, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &no_name, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &no_type, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &fine, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &fine, NULL), POL_BAD_ARGUMENT);
}

static void a_distance_needs_a_length(void **state)
{
  pol_mechanism *mechanism = *state;
  static const double lengths[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
  pol_marker marker = {.name = "", .body = 0, .rotation = {1, 0, 0, 0}};
  pol_joint joint = {.name = "rod", .type = POL_DISTANCE};
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[0]), POL_OK);
  marker.body = POL_GROUND;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[1]), POL_OK);
  for (int i = 0; i < 4; i++) {
    joint.length = lengths[i];
    assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_BAD_ARGUMENT);
  }
  joint.length = 2.0;
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

/* phi = (|d|^2 - length^2) / 2 with d = (x + R p) - origin, and its rate d . d'. */
static void a_distance_is_measured_between_the_markers(void **state)
{
  pol_mechanism *mechanism = *state;
  pol_marker origin = {.name = "", .body = POL_GROUND, .rotation = {1, 0, 0, 0}};
  pol_marker point = {.name = "", .body = 0, .rotation = {1, 0, 0, 0}};
  pol_joint joint = {.name = "rod", .type = POL_DISTANCE, .length = 2.0};
  poli_joint_kernel kernel;
  origin.position[0] = 1.0;
  point.position[1] = 2.0;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &origin, &joint.marker[0]), POL_OK);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &point, &joint.marker[1]), POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  poli_joint_kernel_setup(&kernel, mechanism, 0);

  /* a quarter turn about z takes p = (0, 2, 0) to (-2, 0, 0): d = (4, 5, 6) - (2, 0, 0) - (1, 0, 0)
   */
  poli_frame ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  poli_frame body = {.R = {0, -1, 0, 1, 0, 0, 0, 0, 1},
                     .x = {4.0, 5.0, 6.0},
                     .w = {0.0, 0.0, 3.0},
                     .u = {1.0, 1.0, 1.0}};
  double phi, rate, acceleration;
  poli_joint_position(&kernel, &ground, &body, &phi);
  poli_joint_velocity(&kernel, &ground, &body, &rate);
  poli_joint_acceleration(&kernel, &ground, &body, &acceleration);
  /* d = (1, 5, 6), d' = u + omega x (-2, 0, 0) = (1, -5, 1), d'' = -9 (-2, 0, 0) = (18, 0, 0) */
  assert_true(phi == 0.5 * (62.0 - 4.0));
  assert_true(rate == 1.0 - 25.0 + 6.0);
  assert_true(acceleration == 27.0 + 18.0);
}

/* Each of these breaks one rule of a force. */
static void bad_forces_are_refused(void **state)
{
  pol_mechanism *mechanism = *state;
  const pol_force good = {
      .name = "push", .type = POL_APPLIED_FORCE, .body = 0, .vector = {1, 2, 3}};
  pol_force bad[12];
  int n = 0, index = -1;
  for (int i = 0; i < 12; i++) bad[i] = good;
  bad[n++].name = NULL;
  bad[n++].name = "";
  bad[n++].type = (pol_force_type)5;
  bad[n++].frame = (pol_force_frame)2;
  bad[n++].body = POL_GROUND;
  bad[n++].body = 1;
  bad[n++].vector[1] = (double)NAN;
  bad[n++].point[2] = (double)INFINITY;
  bad[n++].stiffness[0] = -1.0;
  bad[n++].damping[2] = -1.0;
  bad[n++].length = -1.0;
  bad[n++].coefficient = (double)NAN;
  assert_int_equal(n, 12);
  for (int i = 0; i < n; i++)
    assert_int_equal(pol_mechanism_add_force(mechanism, &bad[i], NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_num_forces(mechanism), 0);
  assert_int_equal(pol_mechanism_add_force(mechanism, &good, &index), POL_OK);
  assert_int_equal(index, 0);
  assert_int_equal(pol_mechanism_add_force(mechanism, &good, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_num_forces(mechanism), 1);
  assert_string_equal(pol_mechanism_force(mechanism, 0)->name, "push");
  assert_ptr_not_equal(pol_mechanism_force(mechanism, 0)->name, good.name);
  assert_near(pol_mechanism_force(mechanism, 0)->vector, good.vector, 3, 0.0);
}

/* A joint-spring needs a joint and one of its coordinates. */
static void joint_springs_have_a_coordinate(void **state)
{
  (void)state;
  static const double origin[3];
  pol_mechanism *mechanism;
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE},
            ball = {.name = "ball", .type = POL_SPHERICAL};
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_body body = {.name = "a",
                   .mass = 1.0,
                   .inertia = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                   .rotation = {1.0, 0.0, 0.0, 0.0}};
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", i ? 0 : POL_GROUND, origin, NULL,
                                                 &hinge.marker[i]),
                     POL_OK);
    ball.marker[i] = hinge.marker[i];
  }
  assert_int_equal(pol_mechanism_add_joint(mechanism, &hinge, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &ball, NULL), POL_OK);
  static const int refused[][2] = {{-1, 0}, {2, 0}, {0, -1}, {0, 1}, {1, 0}};
  for (int i = 0; i < 5; i++) {
    pol_force force = {
        .name = "s", .type = POL_JOINT_SPRING, .joint = refused[i][0], .coordinate = refused[i][1]};
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_BAD_ARGUMENT);
  }
  pol_force good = {.name = "s", .type = POL_JOINT_SPRING, .rest = INFINITY};
  assert_int_equal(pol_mechanism_add_force(mechanism, &good, NULL), POL_BAD_ARGUMENT);
  good.rest = -40.0;
  assert_int_equal(pol_mechanism_add_force(mechanism, &good, NULL), POL_OK);
  pol_mechanism_free(&mechanism);
}

/* A spring-damper needs two markers that are apart and on different bodies. */
static void bad_spring_dampers_are_refused(void **state)
{
  pol_mechanism *mechanism = *state;
  const double here[3] = {1.0, 2.0, 3.0}, there[3] = {1.0, 2.0, 3.5};
  int fixed, eye, other, index;
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "fixed", POL_GROUND, here, NULL, &fixed),
                   POL_OK);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "eye", 0, here, NULL, &eye), POL_OK);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "other", 0, there, NULL, &other), POL_OK);
  const int refused[][2] = {{fixed, eye}, {eye, other}, {fixed, 3}, {-1, eye}};
  for (int i = 0; i < 4; i++) {
    pol_force force = {
        .name = "s", .type = POL_SPRING_DAMPER, .marker = {refused[i][0], refused[i][1]}};
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_BAD_ARGUMENT);
  }
  pol_force good = {.name = "s", .type = POL_SPRING_DAMPER, .marker = {fixed, other}};
  assert_int_equal(pol_mechanism_add_force(mechanism, &good, &index), POL_OK);
  assert_int_equal(index, 0);
  double point[3];
  pol_mechanism_marker_point(mechanism, other, point);
  assert_near(point, there, 3, 1e-15);
}

/* Forces of the laws by hand: the body is at rest or moves, turned by a quarter about z, with its
 * point p = (0, 0, 2). */
static void laws_give_their_forces(void **state)
{
  (void)state;
  pol_force support = {.type = POL_SUPPORT, .stiffness = {10, 20, 30}, .damping = {1, 2, 3}};
  pol_force spring = {.type = POL_SPRING_DAMPER,
                      .stiffness = {100},
                      .damping = {7},
                      .length = 4.0,
                      .actuator = 50.0};
  pol_force drag = {.type = POL_DRAG, .coefficient = 0.5};
  poli_frame ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  poli_frame body = {.R = {0, -1, 0, 1, 0, 0, 0, 0, 1}, .x = {3, 4, -2}, .u = {0, 3, 4}};
  poli_force_kernel kernel = {
      .force = &support, .body = {POL_GROUND, 0}, .point = {{0}, {0, 0, 2}}};
  double wrench[2][6];

  /* d = (3, 4, 0), d' = (0, 3, 4): F = -(30, 86, 12), in body axes -(86, -30, 12) */
  const double expected_support[6] = {-60, -172, 0, -30, -86, -12};
  assert_int_equal(poli_force_wrenches(&kernel, 0.0, &ground, &body, wrench), POL_OK);
  assert_near(wrench[1], expected_support, 6, 1e-14);
  assert_true(poli_force_potential(&kernel, &ground, &body) == 0.5 * (90.0 + 320.0));

  /* l = 5, l' = 12/5: tension 100 + 16.8 - 50 = 66.8 along (3, 4, 0)/5 */
  const double F[3] = {-66.8 * 0.6, -66.8 * 0.8, 0.0};
  const double expected_spring[6] = {2.0 * F[0], 2.0 * F[1], 0.0, F[0], F[1], 0.0};
  kernel.force = &spring;
  assert_int_equal(poli_force_wrenches(&kernel, 0.0, &ground, &body, wrench), POL_OK);
  assert_near(wrench[1], expected_spring, 6, 1e-13);
  for (int i = 0; i < 3; i++) assert_true(wrench[0][3 + i] == -wrench[1][3 + i]);
  assert_true(poli_force_potential(&kernel, &ground, &body) == 50.0);

  /* the same spring in squared length: 2 k l (25 - 16) = 9000, with 8966.8 in all */
  spring.law = POL_SQUARED_SPRING;
  const double expected_squared[3] = {-8966.8 * 0.6, -8966.8 * 0.8, 0.0};
  assert_int_equal(poli_force_wrenches(&kernel, 0.0, &ground, &body, wrench), POL_OK);
  assert_near(wrench[1] + 3, expected_squared, 3, 1e-11);
  assert_true(poli_force_potential(&kernel, &ground, &body) == 4050.0);

  const double expected_drag[6] = {0, 0, 0, 0, -7.5, -10};
  kernel = (poli_force_kernel){.force = &drag, .body = {POL_GROUND, 0}};
  assert_int_equal(poli_force_wrenches(&kernel, 0.0, &ground, &body, wrench), POL_OK);
  assert_near(wrench[1], expected_drag, 6, 1e-14);
  assert_true(poli_force_potential(&kernel, &ground, &body) == 0.0);
}

/* Without direction a spring-damper asks for another step instead of dividing by zero; drag at rest
 * is smooth. */
static void a_spring_without_length_asks_for_a_retry(void **state)
{
  (void)state;
  pol_force spring = {.type = POL_SPRING_DAMPER, .stiffness = {100}, .length = 1.0};
  pol_force drag = {.type = POL_DRAG, .coefficient = 0.5};
  poli_frame frame = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  poli_force_kernel kernel = {.force = &spring, .body = {POL_GROUND, 0}};
  poli_force_blocks blocks;
  double wrench[2][6];
  const double zero[12] = {0.0};
  assert_int_equal(poli_force_wrenches(&kernel, 0.0, &frame, &frame, wrench), POL_RETRY);
  assert_near(wrench[0], zero, 12, 0.0);
  assert_int_equal(poli_force_derivatives(&kernel, 0.0, &frame, &frame, &blocks), POL_RETRY);
  kernel.force = &drag;
  assert_int_equal(poli_force_wrenches(&kernel, 0.0, &frame, &frame, wrench), POL_OK);
  assert_near(wrench[0], zero, 12, 0.0);
  assert_int_equal(poli_force_derivatives(&kernel, 0.0, &frame, &frame, &blocks), POL_OK);
  for (int i = 0; i < 12; i++) assert_near(blocks.by_velocity[i], zero, 12, 0.0);
}

/* A quarter turn about z: x of the body is y, y is -x. */
static void forces_act_in_their_frame(void **state)
{
  (void)state;
  static const double f[3] = {1.0, 0.0, 0.0};
  static const struct {
    pol_force_type type;
    pol_force_frame frame;
    double wrench[6]; /* torque in body axes, force in global axes */
  } table[] = {
      {POL_APPLIED_FORCE, POL_GLOBAL_AXES, {2, 0, 0, 1, 0, 0}}, /* (0, 0, 2) x (0, -1, 0) */
      {POL_APPLIED_FORCE, POL_BODY_AXES, {0, 2, 0, 0, 1, 0}},   /* (0, 0, 2) x (1, 0, 0) */
      {POL_APPLIED_TORQUE, POL_GLOBAL_AXES, {0, -1, 0, 0, 0, 0}},
      {POL_APPLIED_TORQUE, POL_BODY_AXES, {1, 0, 0, 0, 0, 0}},
  };
  poli_frame body = {.R = {0, -1, 0, 1, 0, 0, 0, 0, 1}, .x = {4.0, 5.0, 6.0}};
  for (int i = 0; i < 4; i++) {
    pol_force force = {.name = "f", .type = table[i].type, .frame = table[i].frame};
    double wrench[2][6];
    poli_force_kernel kernel = {.force = &force, .body = {POL_GROUND, 0}};
    memcpy(force.vector, f, sizeof f);
    force.point[2] = 2.0;
    assert_int_equal(poli_force_wrenches(&kernel, 0.0, NULL, &body, wrench), POL_OK);
    assert_near(wrench[1], table[i].wrench, 6, 0.0);
  }
  assert_string_equal(pol_force_type_name(POL_APPLIED_TORQUE), "torque");
  assert_string_equal(pol_force_frame_name(POL_BODY_AXES), "body");
  assert_string_equal(pol_force_type_name(POL_SPRING_DAMPER), "spring-damper");
  assert_string_equal(pol_force_type_name(POL_JOINT_SPRING), "joint-spring");
  assert_null(pol_force_type_name((pol_force_type)(POL_BEAM + 1)));
  assert_null(pol_force_frame_name((pol_force_frame)2));
}

/* A marker given in global axes is where it should be, in body axes. */
static void global_markers_are_placed(void **state)
{
  pol_mechanism *mechanism = *state;
  uint64_t seed = 11;
  pol_body body = good_body;
  int b, index;
  double point[3], axes[4], R[9], M[9], A[9], global[9];
  body.name = "turned";
  random_quaternion(&seed, body.rotation);
  random_numbers(&seed, point, 3);
  random_quaternion(&seed, axes);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, &b), POL_OK);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "m", b, point, axes, &index), POL_OK);
  const pol_marker *marker = pol_mechanism_marker(mechanism, index);
  pol_quat_to_matrix(body.rotation, R);
  pol_quat_to_matrix(marker->rotation, M);
  pol_quat_to_matrix(axes, A);
  for (int i = 0; i < 3; i++) {
    double x = body.position[i];
    for (int j = 0; j < 3; j++) {
      x += R[3 * i + j] * marker->position[j];
      global[3 * i + j] = R[3 * i] * M[j] + R[3 * i + 1] * M[3 + j] + R[3 * i + 2] * M[6 + j];
    }
    assert_near(&x, &point[i], 1, 1e-14);
  }
  assert_near(global, A, 9, 1e-14);
}

/* What each preset leaves free between two coinciding markers: translations and rotations along x,
 * y, z of the second marker keep phi' = 0 exactly where the table says so. */
static void presets_leave_the_right_motions_free(void **state)
{
  pol_mechanism *mechanism = *state;
  static const struct {
    const char *name;
    const char *free_motions; /* tx ty tz rx ry rz */
  } table[] = {
      {"fixed", "000000"},       {"revolute", "000001"},         {"prismatic", "001000"},
      {"cylindrical", "001001"}, {"spherical", "000111"},        {"universal", "000110"},
      {"planar", "110001"},      {"point-on-line", "001111"},    {"point-in-plane", "110111"},
      {"parallel", "111001"},    {"constant-velocity", "000110"}};
  pol_marker marker = {.name = "", .body = POL_GROUND, .rotation = {1, 0, 0, 0}};
  int ground, body;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &ground), POL_OK);
  marker.body = 0;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &body), POL_OK);
  int count = (int)(sizeof table / sizeof table[0]);
  for (int i = 0; i < count; i++) {
    pol_joint joint = {.name = table[i].name, .marker = {ground, body}};
    int index, num_free = 0;
    assert_int_equal(pol_joint_type_find(table[i].name, &joint.type), POL_OK);
    assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, &index), POL_OK);
    poli_joint_kernel kernel;
    poli_joint_kernel_setup(&kernel, mechanism, index);
    for (int motion = 0; motion < 6; motion++) {
      poli_frame first = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, second = first;
      double rate[POL_MAX_JOINT_ROWS], largest = 0.0;
      (motion < 3 ? second.u : second.w)[motion % 3] = 1.0;
      poli_joint_velocity(&kernel, &first, &second, rate);
      for (int r = 0; r < kernel.num_rows; r++) largest = fmax(largest, fabs(rate[r]));
      assert_int_equal(largest == 0.0, table[i].free_motions[motion] == '1');
      num_free += largest == 0.0;
    }
    assert_int_equal(kernel.num_rows, 6 - num_free);
  }
  /* and those whose rows are of another kind, or their own */
  static const pol_joint_type others[] = {POL_DISTANCE, POL_GENERIC, POL_ROLLING_SPHERE,
                                          POL_ROLLING_DISK};
  static const char *const names[] = {"distance", "generic", "rolling-sphere", "rolling-disk"};
  for (int i = 0; i < 4; i++) assert_string_equal(pol_joint_type_name(others[i]), names[i]);
  assert_null(pol_joint_type_name((pol_joint_type)(count + 4)));
  pol_joint_type type;
  assert_int_equal(pol_joint_type_find("hinge", &type), POL_BAD_ARGUMENT);
}

/* A lock mask leaves free exactly the motions that it does not name, between coinciding markers. */
static void lock_masks_leave_the_rest_free(void **state)
{
  pol_mechanism *mechanism = *state;
  pol_marker marker = {.name = "", .body = POL_GROUND, .rotation = {1, 0, 0, 0}};
  pol_joint joint = {.type = POL_GENERIC};
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[0]), POL_OK);
  marker.body = 0;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[1]), POL_OK);
  for (unsigned locked = 0; locked <= 64; locked++) {
    char name[8];
    int index, lost = 0;
    snprintf(name, sizeof name, "%u", locked);
    joint.name = name;
    joint.locked = locked;
    pol_status status = pol_mechanism_add_joint(mechanism, &joint, &index);
    assert_int_equal(status, locked == 0 || locked == 64 ? POL_BAD_ARGUMENT : POL_OK);
    if (status) continue;
    poli_joint_kernel kernel;
    poli_joint_kernel_setup(&kernel, mechanism, index);
    for (int motion = 0; motion < 6; motion++) {
      poli_frame first = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, second = first;
      double rate[POL_MAX_JOINT_ROWS], largest = 0.0;
      (motion < 3 ? second.u : second.w)[motion % 3] = 1.0;
      poli_joint_velocity(&kernel, &first, &second, rate);
      for (int r = 0; r < kernel.num_rows; r++) largest = fmax(largest, fabs(rate[r]));
      assert_int_equal(largest > 0.0, (locked >> motion) & 1u);
      lost += largest > 0.0;
    }
    assert_int_equal(kernel.num_rows, lost);
  }
  assert_string_equal(pol_lock_name(5), "rotation-z");
  assert_null(pol_lock_name(6));
}

/* The contact point by hand: a disk of radius 2, its axis at 60 degrees to the normal. */
static void a_disk_touches_with_its_lowest_point(void **state)
{
  pol_mechanism *mechanism = *state;
  static const double radii[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
  pol_marker marker = {.name = "", .body = POL_GROUND, .rotation = {1, 0, 0, 0}};
  pol_joint joint = {.name = "wheel", .type = POL_ROLLING_DISK};
  poli_joint_kernel kernel;
  int index;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[0]), POL_OK);
  marker.body = 0;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[1]), POL_OK);
  for (int i = 0; i < 4; i++) {
    joint.radius = radii[i];
    assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_BAD_ARGUMENT);
  }
  joint.radius = 2.0;
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, &index), POL_OK);
  poli_joint_kernel_setup(&kernel, mechanism, index);

  /* turned about x by 60 degrees: the rim's lowest point is at -2 (0, cos 60, sin 60); the spin of
   * 3 rad/s moves it by 6 along x against the centre */
  double c = cos(1.0471975511965976), s = sin(1.0471975511965976);
  poli_frame ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  poli_frame disk = {
      .R = {1, 0, 0, 0, c, -s, 0, s, c}, .x = {1, 2, 5}, .w = {0, 0, 3}, .u = {-6, 0.5, 1}};
  const double rates[3] = {1.0, 0.0, 0.5}, lambda[3] = {-4.0, 0.0, 0.0};
  const double pushed[6] = {2.0 * c * 4.0, 0.0, 0.0, 0.0, 0.0, -4.0};
  double height, rows[3], wrench[2][6] = {{0.0}};
  poli_joint_position(&kernel, &ground, &disk, &height);
  assert_near(&height, &(double){5.0 - 2.0 * s}, 1, 1e-15);
  poli_joint_velocity(&kernel, &ground, &disk, rows);
  assert_near(rows, rates, 3, 1e-14);
  /* B^T lambda of 4 N from the floor is the opposite force, and its torque about the centre */
  poli_joint_reaction(&kernel, &ground, &disk, lambda, wrench[0], wrench[1]);
  assert_near(wrench[1], pushed, 6, 1e-14);
}

/* Each of these breaks one rule of a coupling. */
static void bad_couplings_are_refused(void **state)
{
  pol_mechanism *mechanism = *state;
  pol_marker marker = {.name = "", .body = POL_GROUND, .rotation = {1, 0, 0, 0}};
  pol_joint joint = {.name = "hinge", .type = POL_REVOLUTE};
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[0]), POL_OK);
  marker.body = 0;
  marker.rotation[0] = cos(0.3);
  marker.rotation[3] = -sin(0.3);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[1]), POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  joint.name = "tube";
  joint.type = POL_CYLINDRICAL;
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  const pol_coupling good = {.name = "gear", .joint = {0, 1}, .factor = {1.0, 2.0}};
  pol_coupling bad[8];
  int n = 0;
  for (int i = 0; i < 8; i++) bad[i] = good;
  bad[n++].name = NULL;
  bad[n++].joint[1] = 2;
  bad[n++].joint[0] = -1;
  bad[n++].joint[1] = 0; /* the same coordinate twice */
  bad[n++].coordinate[0] = POL_DRIVE_TRANSLATION;
  bad[n++].factor[1] = 0.0;
  bad[n++].factor[0] = (double)INFINITY;
  bad[n++].reference[1] = (double)NAN;
  assert_int_equal(n, 8);
  for (int i = 0; i < n; i++)
    assert_int_equal(pol_mechanism_add_coupling(mechanism, &bad[i], NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_coupling(mechanism, &good, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_coupling(mechanism, &good, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_num_couplings(mechanism), 1);
  double angle = pol_mechanism_coordinate(mechanism, 0, POL_DRIVE_ROTATION);
  double way = pol_mechanism_coordinate(mechanism, 1, POL_DRIVE_TRANSLATION);
  assert_near(&angle, &(double){-0.6}, 1, 1e-15);
  assert_near(&way, &(double){3.0}, 1, 1e-15);
}

/* The ground, "not found" and one past the end give NULL, not memory beside the list. */
static void what_is_not_there_is_null(void **state)
{
  const pol_mechanism *mechanism = *state;
  assert_non_null(pol_mechanism_body(mechanism, 0));
  for (int i = 0; i < 3; i++) {
    const int index = (const int[]){POL_GROUND, POL_NOT_FOUND, 1}[i];
    assert_null(pol_mechanism_body(mechanism, index));
    assert_null(pol_mechanism_marker(mechanism, index));
    assert_null(pol_mechanism_joint(mechanism, index));
    assert_null(pol_mechanism_force(mechanism, index));
    assert_null(pol_mechanism_drive(mechanism, index));
    assert_null(pol_mechanism_coupling(mechanism, index));
    assert_null(pol_mechanism_variable(mechanism, index));
    assert_null(pol_mechanism_state(mechanism, index));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(bad_bodies_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(points_have_no_rotation, setup, teardown),
      cmocka_unit_test_setup_teardown(joints_of_points_lock_no_rotation, setup, teardown),
      cmocka_unit_test_setup_teardown(points_take_forces_where_they_are, setup, teardown),
      cmocka_unit_test_setup_teardown(names_are_copied, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_not_there_is_null, setup, teardown),
      cmocka_unit_test_setup_teardown(bad_joints_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(a_distance_needs_a_length, setup, teardown),
      cmocka_unit_test_setup_teardown(a_distance_is_measured_between_the_markers, setup, teardown),
      cmocka_unit_test_setup_teardown(bad_forces_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(bad_spring_dampers_are_refused, setup, teardown),
      cmocka_unit_test(laws_give_their_forces),
      cmocka_unit_test(joint_springs_have_a_coordinate),
      cmocka_unit_test(a_spring_without_length_asks_for_a_retry),
      cmocka_unit_test(forces_act_in_their_frame),
      cmocka_unit_test_setup_teardown(global_markers_are_placed, setup, teardown),
      cmocka_unit_test_setup_teardown(presets_leave_the_right_motions_free, setup, teardown),
      cmocka_unit_test_setup_teardown(lock_masks_leave_the_rest_free, setup, teardown),
      cmocka_unit_test_setup_teardown(a_disk_touches_with_its_lowest_point, setup, teardown),
      cmocka_unit_test_setup_teardown(bad_couplings_are_refused, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
