/* Building a mechanism from C: what wrong calls report, the default elements, joints at a point,
 * elements by name. */
#include <polhode/lie.h>
#include <polhode/mechanism.h>
#include <polhode/simulation.h>

#include <stdio.h>
#include <string.h>

#include "check.h"

static const double origin[3], y_axis[3] = {0.0, 1.0, 0.0}, z_axis[3] = {0.0, 0.0, 1.0};

/* Indices of the elements of the mechanism that every test starts from. */
enum { ARM = 0, BOB = 1, HINGE = 0, BALL = 1, TIP = 0, BASE = 1, AT_BOB = 2 };

/* A rigid body on a hinge and a ball joint, a point mass, and a marker on each. */
static int setup(void **state)
{
  pol_mechanism *m;
  if (pol_mechanism_create(&m)) return -1;
  *state = m;
  pol_body arm = pol_body_default(), bob = pol_body_default();
  arm.name = "arm";
  bob.name = "bob";
  bob.point = 1;
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE},
            ball = {.name = "ball", .type = POL_SPHERICAL};
  pol_marker tip = pol_marker_default(), base = pol_marker_default(), at_bob = pol_marker_default();
  tip.name = "tip";
  tip.body = ARM;
  tip.position[0] = 1.0;
  base.name = "base";
  at_bob.name = "at bob";
  at_bob.body = BOB;
  pol_mechanism_add_body(m, &arm, NULL);
  pol_mechanism_add_body(m, &bob, NULL);
  pol_mechanism_add_marker(m, &tip, NULL);
  pol_mechanism_add_marker(m, &base, NULL);
  pol_mechanism_add_marker(m, &at_bob, NULL);
  pol_mechanism_add_joint_at(m, &hinge, POL_GROUND, ARM, origin, z_axis, NULL);
  pol_mechanism_add_joint_at(m, &ball, POL_GROUND, ARM, origin, NULL, NULL);
  return pol_mechanism_errors(m)->count;
}

static int teardown(void **state)
{
  pol_mechanism *mechanism = *state;
  pol_mechanism_free(&mechanism);
  return mechanism ? -1 : 0;
}

/* The call was refused, and its errors, one line each, are these; the list is cleared. */
static void refused_(pol_mechanism *m, pol_status status, const char *expected, int line)
{
  const pol_errors *errors = pol_mechanism_errors(m);
  char text[2000] = "";
  for (int i = 0; i < errors->count; i++) {
    const size_t used = strlen(text);
    if (i > 0) strcat(text, "\n");
    pol_error_text(&errors->items[i], text + used + (i > 0), sizeof text - used - 1);
  }
  if (status != POL_BAD_ARGUMENT || strcmp(text, expected) != 0)
    print_error("line %d, status %d:\n%s\ninstead of\n%s\n", line, (int)status, text, expected);
  assert_int_equal(status, POL_BAD_ARGUMENT);
  assert_string_equal(text, expected);
  pol_mechanism_clear_errors(m);
  assert_int_equal(errors->count, 0);
}
#define refused(m, status, expected) refused_(m, status, expected, __LINE__)

static pol_body body_named(const char *name)
{
  pol_body body = pol_body_default();
  body.name = name;
  return body;
}

static void wrong_bodies(void **state)
{
  pol_mechanism *m = *state;
  pol_body body = body_named("crank");
  body.mass = -1.0;
  int index = 7;
  refused(m, pol_mechanism_add_body(m, &body, &index),
          "body 'crank': mass must be a positive number, not -1");
  assert_int_equal(index, POL_NOT_FOUND);
  assert_int_equal(pol_mechanism_num_bodies(m), 2);

  /* a struct that is zero but for its name, and so all rules at once */
  const pol_body zero = {.name = "zero"};
  refused(m, pol_mechanism_add_body(m, &zero, NULL),
          "body 'zero': mass must be a positive number, not 0\n"
          "body 'zero': inertia[0][0] must be a positive number, not 0\n"
          "body 'zero': inertia[1][1] must be a positive number, not 0\n"
          "body 'zero': inertia[2][2] must be a positive number, not 0\n"
          "body 'zero': rotation must be a unit quaternion; pol_body_default() sets the identity "
          "(it is [0, 0, 0, 0])");
  body = body_named("rod");
  body.inertia[8] = 2.5;
  refused(m, pol_mechanism_add_body(m, &body, NULL),
          "body 'rod': inertia must have no principal moment above the sum of the other two "
          "(2.5 > 1 + 1): no rigid body has one");
  body = body_named("rod");
  body.inertia[1] = 0.5;
  refused(m, pol_mechanism_add_body(m, &body, NULL),
          "body 'rod': inertia[1][0] must equal [0][1]: the matrix must be symmetric (it is 0)");
  body.inertia[1] = body.inertia[3] = 2.0;
  refused(m, pol_mechanism_add_body(m, &body, NULL),
          "body 'rod': inertia must be positive definite, with principal moments above zero");
  body = body_named("arm");
  body.velocity[2] = (double)INFINITY;
  refused(m, pol_mechanism_add_body(m, &body, NULL),
          "body 'arm': name must be unique: bodies[0] has the same name\n"
          "body 'arm': velocity[2] must be a finite number, not inf");
  body = body_named(NULL);
  refused(m, pol_mechanism_add_body(m, &body, NULL), "body without name: name is required");
  body = body_named("ground");
  refused(m, pol_mechanism_add_body(m, &body, NULL),
          "body 'ground': name must not be \"ground\", the name of the inertial frame");
}

static void wrong_markers(void **state)
{
  pol_mechanism *m = *state;
  pol_marker marker = {.name = "eye", .body = 5};
  refused(m, pol_mechanism_add_marker(m, &marker, NULL),
          "marker 'eye': rotation must be a unit quaternion; pol_marker_default() sets the "
          "identity (it is [0, 0, 0, 0])\n"
          "marker 'eye': body must be the index of a body or POL_GROUND, not 5");
  marker = pol_marker_default();
  marker.body = BOB;
  marker.position[1] = 0.1;
  refused(m, pol_mechanism_add_marker(m, &marker, NULL),
          "marker without name: position must be zero: a marker on a point mass is at the mass");
  refused(m, pol_mechanism_add_marker_at(m, "tip", ARM, origin, NULL, NULL),
          "marker 'tip': name must be unique: markers[0] has the same name");
}

static void wrong_joints(void **state)
{
  pol_mechanism *m = *state;
  pol_joint joint = {.name = "j", .type = POL_FIXED, .marker = {TIP, 99}};
  refused(m, pol_mechanism_add_joint(m, &joint, NULL),
          "joint 'j': marker[1] must be the index of a marker, not 99");
  joint.marker[1] = TIP;
  refused(m, pol_mechanism_add_joint(m, &joint, NULL),
          "joint 'j': marker must be on two different bodies");
  joint = (pol_joint){.name = "arm", .type = (pol_joint_type)99, .marker = {BASE, TIP}};
  refused(m, pol_mechanism_add_joint(m, &joint, NULL),
          "joint 'arm': name must be unique: bodies[0] has the same name\n"
          "joint 'arm': type must be a type of joint, not 99");
  joint = (pol_joint){.name = "j", .type = POL_DISTANCE, .marker = {BASE, TIP}};
  refused(m, pol_mechanism_add_joint(m, &joint, NULL),
          "joint 'j': length must be a positive number, not 0");
  joint.type = POL_ROLLING_DISK;
  refused(m, pol_mechanism_add_joint(m, &joint, NULL),
          "joint 'j': radius must be a positive number, not 0");
  joint.type = POL_GENERIC;
  refused(m, pol_mechanism_add_joint(m, &joint, NULL),
          "joint 'j': locked must be one or more of the POL_LOCK_... bits, not 0");
  joint =
      (pol_joint){.name = "j", .type = POL_PRISMATIC, .marker = {BASE, AT_BOB}, .global_axes = 1};
  refused(m, pol_mechanism_add_joint(m, &joint, NULL),
          "joint 'j': global_axes must not be used: this type of joint leaves a translation free\n"
          "joint 'j': type must lock no rotation: body \"bob\" is a point mass (it is prismatic)");
}

static void wrong_joint_axes(void **state)
{
  pol_mechanism *m = *state;
  pol_joint_axis axes[2] = {pol_joint_axis_default(), pol_joint_axis_default()};
  pol_joint joint = {.name = "j", .type = POL_CYLINDRICAL, .marker = {BASE, TIP}, .axes = axes};
  const double point[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 1.0};
  axes[1] = (pol_joint_axis){.stiffness = -1.0, .rest = (double)NAN};
  refused(m, pol_mechanism_add_joint_at(m, &joint, POL_GROUND, 0, point, axis, NULL),
          "joint 'j': axes[1].stiffness must be a non-negative number, not -1\n"
          "joint 'j': axes[1].rest must be a finite number, not nan\n"
          "joint 'j': axes[1].limits.min must be below \"max\"; pol_joint_axis_default() sets "
          "no limits (it is 0)");
  axes[1] = axes[0];
  axes[0].limits = (pol_joint_limits){.min = 0.5, .max = 1.0, .restitution = 2.0};
  axes[1].friction = (pol_joint_friction){.coefficient = 0.1, .length = -1.0};
  refused(m, pol_mechanism_add_joint_at(m, &joint, POL_GROUND, 0, point, axis, NULL),
          "joint 'j': axes[0].limits.rest_speed must be a positive number, not 0\n"
          "joint 'j': axes[0].limits.restitution must be a number from 0 to 1, not 2\n"
          "joint 'j': axes[0].limits.min must not be violated at the start, where the "
          "coordinate is 0 (it is 0.5)\n"
          "joint 'j': axes[1].friction.length must be a non-negative number, not -1\n"
          "joint 'j': axes[1].friction.stribeck_speed must be a positive number, not 0\n"
          "joint 'j': axes[1].friction.creep_speed must be a positive number, not 0");
  joint.type = POL_SPHERICAL;
  refused(m, pol_mechanism_add_joint_at(m, &joint, POL_GROUND, 0, point, NULL, NULL),
          "joint 'j': axes must be NULL: this joint has no angle or displacement of its own");
  pol_force stop = pol_force_default();
  stop.name = "stop";
  stop.type = POL_JOINT_STOP;
  refused(m, pol_mechanism_add_force(m, &stop, NULL),
          "force 'stop': type must not be added: set the axes of the joint (it is joint-stop)");
}

/* The elements that a joint makes have its name, and stand among the forces. */
static void joints_make_forces(void **state)
{
  pol_mechanism *m = *state;
  const int before = pol_mechanism_num_forces(m);
  pol_joint_axis axes[2] = {pol_joint_axis_default(), pol_joint_axis_default()};
  pol_joint joint = {.name = "j", .type = POL_CYLINDRICAL, .axes = axes};
  const double point[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 1.0};
  axes[0].damping = 2.0;
  axes[0].friction.level = 3.0;
  axes[1].limits.max = 4.0;
  assert_int_equal(pol_mechanism_add_joint_at(m, &joint, POL_GROUND, 0, point, axis, NULL), POL_OK);
  axes[0].damping = 0.0; /* the mechanism has a copy */
  assert_int_equal(pol_mechanism_num_forces(m), before + 3);
  const pol_force *spring = pol_mechanism_force(m, before);
  assert_string_equal(spring->name, "j.spring.rotation");
  assert_true(spring->type == POL_JOINT_SPRING && spring->damping[0] == 2.0);
  assert_int_equal(pol_mechanism_find_force(m, "j.friction.rotation"), before + 1);
  const pol_force *stop = pol_mechanism_force(m, pol_mechanism_find_force(m, "j.stop.translation"));
  assert_true(stop->type == POL_JOINT_STOP && stop->coordinate == 1 && stop->limits[1] == 4.0);
  /* 20 Hz with the mass of the body, 0.3 of critical damping */
  const double mass = pol_mechanism_body(m, 0)->mass, w = 40.0 * 3.14159265358979323846;
  assert_near(&stop->stiffness[0], &(double){mass * w * w}, 1, 1e-10);
  assert_near(&stop->damping[0], &(double){0.6 * mass * w}, 1, 1e-12);
}

static void wrong_joints_at_a_point(void **state)
{
  pol_mechanism *m = *state;
  static const double beside[3] = {0.0, 0.1, 0.0}, wrong[3] = {0.0, (double)NAN, 0.0};
  static const double unknown[3] = {(double)NAN, (double)NAN, (double)NAN};
  static const double oblique[6] = {1.0, 0.0, 0.0, 1.0, 1.0, 0.0}, half[6] = {1.0};
  const int before = pol_mechanism_num_markers(m);
  pol_joint joint = {.name = "j", .type = POL_REVOLUTE};
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, ARM, origin, z_axis, NULL),
          "joint 'j': bodies must be two different bodies");
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, POL_GROUND, origin, origin, NULL),
          "joint 'j': axis must not be all zero (it is [0, 0, 0])");
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, POL_GROUND, origin, NULL, NULL),
          "joint 'j': axis is required: this type of joint needs it");
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, POL_GROUND, origin, unknown, NULL),
          "joint 'j': axis[0] must be a finite number, not nan\n"
          "joint 'j': axis[1] must be a finite number, not nan\n"
          "joint 'j': axis[2] must be a finite number, not nan");
  refused(m,
          pol_mechanism_add_joint_at(m, &joint, ARM, pol_mechanism_find_body(m, "amr"), wrong,
                                     origin, NULL),
          "joint 'j': bodies[1] must be the index of a body or POL_GROUND, not -2\n"
          "joint 'j': axis must not be all zero (it is [0, 0, 0])\n"
          "joint 'j': point[1] must be a finite number, not nan");
  joint.type = POL_UNIVERSAL;
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, POL_GROUND, origin, NULL, NULL),
          "joint 'j': axes is required: a universal joint needs two");
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, POL_GROUND, origin, oblique, NULL),
          "joint 'j': axes must be perpendicular to each other");
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, POL_GROUND, origin, half, NULL),
          "joint 'j': axes[1] must not be all zero (it is [0, 0, 0])");
  joint.type = POL_SPHERICAL;
  refused(m, pol_mechanism_add_joint_at(m, &joint, ARM, POL_GROUND, origin, z_axis, NULL),
          "joint 'j': axis must not be given: a spherical joint has no axis");
  refused(m, pol_mechanism_add_joint_at(m, &joint, POL_GROUND, BOB, beside, NULL, NULL),
          "joint 'j': point must be the position of the point mass \"bob\"");
  joint.type = POL_DISTANCE;
  joint.length = 1.0;
  refused(m, pol_mechanism_add_joint_at(m, &joint, POL_GROUND, ARM, origin, NULL, NULL),
          "joint 'j': marker is required: a distance joint connects two markers");
  assert_int_equal(pol_mechanism_num_markers(m), before);
  assert_int_equal(pol_mechanism_num_joints(m), 2);
}

static void wrong_forces(void **state)
{
  pol_mechanism *m = *state;
  pol_force force = pol_force_default();
  force.name = "push";
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'push': body must be the index of a body, not -2");
  force.body = POL_GROUND;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'push': body must not be the ground, which does not move (it is ground)");
  force.body = BOB;
  force.type = POL_APPLIED_TORQUE;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'push': body must be a rigid body: no torque can act on a point mass (it is bob)");
  force.type = POL_APPLIED_FORCE;
  force.frame = POL_BODY_AXES;
  force.point[0] = 0.1;
  force.vector[1] = (double)NAN;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'push': vector[1] must be a finite number, not nan\n"
          "force 'push': point must be zero: the body is a point mass\n"
          "force 'push': frame must be \"global\": the body is a point mass (it is body)");

  force = pol_force_default();
  force.name = "spring";
  force.type = POL_SPRING_DAMPER;
  force.stiffness[0] = -5.0;
  force.expressions[1] = "t";
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'spring': stiffness[0] must be a non-negative number, not -5\n"
          "force 'spring': expressions[1] must not be given: a force of type spring-damper has one "
          "expression (it is t)\n"
          "force 'spring': marker[0] must be the index of a marker, not -2\n"
          "force 'spring': marker[1] must be the index of a marker, not -2");
  force = pol_force_default();
  force.name = "spring";
  force.type = POL_SPRING_DAMPER;
  force.marker[0] = BASE;
  force.marker[1] = AT_BOB;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'spring' must have distinct end points, which define the direction of a "
          "spring-damper");
  force.type = POL_BUSHING;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'spring': marker[1] must be on a rigid body: a point mass does not rotate");
  force.type = POL_JOINT_SPRING;
  force.joint = HINGE;
  force.coordinate = 1;
  refused(
      m, pol_mechanism_add_force(m, &force, NULL),
      "force 'spring': coordinate must be \"rotation\": the only coordinate of a revolute joint "
      "(it is 1)");
  force.joint = BALL;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'spring': joint must be a joint with an angle or a displacement: a spherical "
          "joint has none");
  force.type = POL_CALLBACK_FORCE;
  force.bodies[0] = force.bodies[1] = ARM;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'spring': bodies must be two different bodies\n"
          "force 'spring': callback.wrench is required");
  force = pol_force_default();
  force.name = "push";
  force.body = ARM;
  const pol_function step = {.type = POL_STEP, .t0 = 2.0, .t1 = 1.0};
  force.scale = &step;
  refused(m, pol_mechanism_add_force(m, &force, NULL),
          "force 'push': scale.t1 must be above t0, which is 2 (it is 1)");
}

static void wrong_drives_and_couplings(void **state)
{
  pol_mechanism *m = *state;
  pol_drive drive = pol_drive_default();
  drive.name = "motor";
  drive.joint = HINGE;
  drive.coordinate = POL_DRIVE_TRANSLATION;
  refused(m, pol_mechanism_add_drive(m, &drive, NULL),
          "drive 'motor': coordinate must be \"rotation\": the only coordinate of a revolute joint "
          "(it is translation)");
  drive.joint = BALL;
  drive.function = (pol_function){.type = POL_EXPRESSION, .expression = "2*sine(t)"};
  refused(
      m, pol_mechanism_add_drive(m, &drive, NULL),
      "drive 'motor': function.expression must be an expression of t: column 3: 'sine' is not a "
      "known function (it is 2*sine(t)); did you mean sin?\n"
      "drive 'motor': joint must be a joint with an angle or a displacement: a spherical joint has "
      "none");
  drive = pol_drive_default();
  drive.name = "motor";
  drive.joint = HINGE;
  assert_int_equal(pol_mechanism_add_drive(m, &drive, NULL), POL_OK);
  drive.name = "again";
  refused(m, pol_mechanism_add_drive(m, &drive, NULL),
          "drive 'again': coordinate must not be driven twice: drives[0] already drives it (it is "
          "rotation)");
  drive.joint = POL_NO_JOINT;
  drive.coordinate = POL_DRIVE_X;
  drive.marker[0] = drive.marker[1] = BASE;
  refused(m, pol_mechanism_add_drive(m, &drive, NULL),
          "drive 'again': marker[1] must be on a body: the ground does not move");

  pol_coupling gear = pol_coupling_default();
  gear.name = "gear";
  gear.joint[0] = HINGE;
  gear.joint[1] = BALL;
  gear.factor[0] = 0.0;
  refused(m, pol_mechanism_add_coupling(m, &gear, NULL),
          "coupling 'gear': factor[0] must not be zero (it is 0)\n"
          "coupling 'gear': joint[1] must be a joint with a rotation to couple: a spherical joint "
          "has none (it is ball)");
  gear.factor[0] = 1.0;
  gear.joint[1] = HINGE;
  refused(m, pol_mechanism_add_coupling(m, &gear, NULL),
          "coupling 'gear': joint must not be the same coordinate twice");
  const pol_variable t = {.name = "t", .unit = "furlong"};
  refused(m, pol_mechanism_add_variable(m, &t, NULL),
          "variable 't': name must not be \"t\", a predefined name of expressions\n"
          "variable 't': expression is required\n"
          "variable 't': unit must be a unit of m, kg, s, rad, A, K, N, J, W, Pa, Hz, V and ohm, "
          "such as \"kg m^2\" or \"N s/m\" (it is furlong)");
}

/* Arguments that are NULL are refused with the reason; of no name there is no element. */
static void null_arguments(void **state)
{
  pol_mechanism *m = *state;
  pol_joint joint = {.name = "j", .type = POL_SPHERICAL};
  pol_drive drive = pol_drive_default();
  int index = 7;
  refused(m, pol_mechanism_add_body(m, NULL, &index),
          "body without name: the pointer must not be NULL");
  assert_int_equal(index, POL_NOT_FOUND);
  refused(m, pol_mechanism_add_marker(m, NULL, NULL),
          "marker without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_joint(m, NULL, NULL),
          "joint without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_force(m, NULL, NULL),
          "force without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_drive(m, NULL, NULL),
          "drive without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_coupling(m, NULL, NULL),
          "coupling without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_variable(m, NULL, NULL),
          "variable without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_state(m, NULL, NULL),
          "state without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_joint_at(m, NULL, POL_GROUND, ARM, origin, NULL, NULL),
          "joint without name: the pointer must not be NULL");
  refused(m, pol_mechanism_add_joint_at(m, &joint, POL_GROUND, ARM, NULL, NULL, NULL),
          "joint 'j': point must not be NULL");
  refused(m, pol_mechanism_add_marker_at(m, "here", ARM, NULL, NULL, NULL),
          "marker 'here': point must not be NULL");
  drive.name = "d";
  drive.joint = HINGE;
  drive.function = (pol_function){.type = POL_TABLE, .count = 3, .t1 = 1.0};
  refused(m, pol_mechanism_add_drive(m, &drive, NULL),
          "drive 'd': function.values is required: a list of numbers\n"
          "drive 'd': function.times is required: a list of numbers");
  pol_mechanism_set_gravity(m, NULL);
  refused(m, POL_BAD_ARGUMENT, "gravity must be three finite numbers");
  assert_int_equal(pol_mechanism_find_body(m, NULL), POL_NOT_FOUND);
  assert_int_equal(pol_mechanism_find_marker(m, NULL), POL_NOT_FOUND);
  assert_int_equal(pol_mechanism_find_state(m, NULL), POL_NOT_FOUND);
}

/* What pol_simulation_create() refuses, and why. */
static void wrong_settings(void **state)
{
  pol_mechanism *m = *state, *empty;
  const pol_change nothing = {.quantity = NULL, .expression = "0"};
  const pol_event_rule rules[] = {
      {.name = "twice", .expression = "t - 1"},
      {.name = "twice", .expression = "t - 2"},
      {.name = "a", .expression = "t - 2", 1, POL_EVENT_RESET, 1, NULL},
      {.name = "b", .expression = "t - 2", 1, POL_EVENT_RESET, 1, &nothing}};
  const struct {
    int outputs, num_events;
    const pol_event_rule *events;
    const char *message;
  } table[] = {
      {2, 0, NULL, "output.times must not be NULL where output.count is positive"},
      {0, 1, NULL, "events must not be NULL where num_events is positive"},
      {0, 2, rules, "event 'twice' must have a unique name: an earlier event has the same"},
      {0, 1, rules + 2, "event 'a' must have a list of changes, not NULL, as long as num_changes"},
      {0, 1, rules + 3,
       "event 'b' can set velocities and angular_velocities of bodies, and states only"}};
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  pol_diagnostics d;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    settings.output.count = table[i].outputs;
    settings.num_events = table[i].num_events;
    settings.events = table[i].events;
    assert_int_equal(pol_simulation_create(&simulation, m, &settings, &d), POL_BAD_ARGUMENT);
    assert_null(simulation);
    assert_string_equal(d.message, table[i].message);
  }
  assert_int_equal(pol_simulation_create(&simulation, m, NULL, &d), POL_BAD_ARGUMENT);
  assert_string_equal(d.message, "the settings must not be NULL");
  settings = pol_settings_default();
  assert_int_equal(pol_simulation_create(&simulation, NULL, &settings, &d), POL_BAD_ARGUMENT);
  assert_string_equal(d.message, "the mechanism must not be NULL");
  assert_int_equal(pol_mechanism_create(&empty), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, empty, &settings, &d), POL_BAD_ARGUMENT);
  assert_string_equal(d.message, "the mechanism has no body");
  assert_int_equal(
      pol_formulation_supports(m, (pol_formulation_kind)99, d.message, sizeof d.message),
      POL_BAD_ARGUMENT);
  assert_string_equal(d.message, "the formulation is unknown");
  pol_mechanism_free(&empty);
}

/* A mechanism with errors cannot be simulated; the diagnostics have the first one. */
static void errors_are_reported_by_the_simulation(void **state)
{
  pol_mechanism *m = *state;
  const pol_settings settings = pol_settings_default();
  pol_simulation *simulation;
  pol_diagnostics d;
  pol_body body = body_named("crank");
  body.mass = 0.0;
  pol_mechanism_add_body(m, &body, NULL);
  body.name = "rod";
  pol_mechanism_add_body(m, &body, NULL);
  assert_int_equal(pol_mechanism_errors(m)->count, 2);
  assert_int_equal(pol_simulation_create(&simulation, m, &settings, &d), POL_BAD_ARGUMENT);
  assert_string_equal(d.message, "body 'crank': mass must be a positive number, not 0");
  pol_mechanism_clear_errors(m);
  const double wrong[3] = {0.0, (double)INFINITY, 0.0};
  pol_mechanism_set_gravity(m, wrong);
  assert_int_equal(pol_simulation_create(&simulation, m, &settings, &d), POL_BAD_ARGUMENT);
  assert_string_equal(d.message, "gravity must be three finite numbers");
  pol_mechanism_set_gravity(m, origin);
  pol_mechanism_clear_errors(m);
  assert_int_equal(pol_simulation_create(&simulation, m, &settings, &d), POL_OK);
  pol_body_state arm;
  assert_int_equal(pol_simulation_body(simulation, ARM, &arm), POL_OK);
  assert_near(arm.position, origin, 3, 0.0);
  assert_int_equal(pol_simulation_body(simulation, POL_GROUND, &arm), POL_BAD_ARGUMENT);
  assert_int_equal(pol_simulation_body(simulation, 2, &arm), POL_BAD_ARGUMENT);
  pol_simulation_free(&simulation);
}

/* With a name, and with what they refer to, the defaults are valid. */
static void defaults_are_valid(void **state)
{
  pol_mechanism *m = *state;
  pol_body body = body_named("default body");
  pol_marker marker = pol_marker_default();
  pol_joint joint = pol_joint_default();
  pol_force force = pol_force_default();
  pol_drive drive = pol_drive_default();
  pol_coupling coupling = pol_coupling_default();
  joint.name = "default joint";
  force.name = "default force";
  drive.name = "default drive";
  coupling.name = "default coupling";
  joint.marker[0] = BASE;
  joint.marker[1] = TIP;
  force.body = ARM;
  force.scale = &drive.function;
  drive.joint = coupling.joint[0] = HINGE;
  assert_int_equal(pol_mechanism_add_body(m, &body, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_marker(m, &marker, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_joint(m, &joint, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(m, &force, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_drive(m, &drive, NULL), POL_OK);
  pol_joint slide = {.name = "slide", .type = POL_PRISMATIC};
  assert_int_equal(
      pol_mechanism_add_joint_at(m, &slide, ARM, 2, origin, z_axis, &coupling.joint[1]), POL_OK);
  coupling.coordinate[1] = POL_DRIVE_TRANSLATION;
  assert_int_equal(pol_mechanism_add_coupling(m, &coupling, NULL), POL_OK);
}

static void elements_are_found_by_name(void **state)
{
  pol_mechanism *m = *state;
  const pol_variable variable = {.name = "twice", .expression = "2*t"};
  const pol_state_variable filter = {.name = "slow", .rate = "1"};
  pol_drive drive = pol_drive_default();
  pol_force force = pol_force_default();
  pol_coupling gear = pol_coupling_default();
  pol_joint other = {.name = "other", .type = POL_REVOLUTE};
  assert_int_equal(
      pol_mechanism_add_joint_at(m, &other, POL_GROUND, ARM, origin, z_axis, &gear.joint[1]),
      POL_OK);
  drive.name = "motor";
  force.name = "push";
  gear.name = "gear";
  drive.joint = gear.joint[0] = HINGE;
  force.body = ARM;
  assert_int_equal(pol_mechanism_add_drive(m, &drive, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(m, &force, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_coupling(m, &gear, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_variable(m, &variable, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_state(m, &filter, NULL), POL_OK);
  static const struct {
    int (*find)(const pol_mechanism *, const char *);
    const char *name;
    int index;
  } names[] = {{pol_mechanism_find_body, "bob", BOB},
               {pol_mechanism_find_body, "ground", POL_GROUND},
               {pol_mechanism_find_marker, "at bob", AT_BOB},
               {pol_mechanism_find_joint, "ball", BALL},
               {pol_mechanism_find_force, "push", 0},
               {pol_mechanism_find_drive, "motor", 0},
               {pol_mechanism_find_coupling, "gear", 0},
               {pol_mechanism_find_variable, "twice", 0},
               {pol_mechanism_find_state, "slow", 0}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_int_equal(names[i].find(m, names[i].name), names[i].index);
    assert_int_equal(names[i].find(m, "none"), POL_NOT_FOUND);
  }
  assert_int_equal(pol_mechanism_find_joint(m, "ground"), POL_NOT_FOUND);
}

/* Both markers are at the point, with z along the axis, whatever the bodies' rotations are. */
static void joints_are_placed(void **state)
{
  pol_mechanism *m = *state;
  uint64_t seed = 5;
  static const double axis[3] = {2.0, -1.0, 2.0}, point[3] = {0.3, -0.2, 0.7};
  static const double axes[6] = {0.0, 0.0, 3.0, 0.0, 2.0, 0.0};
  pol_body turned = body_named("turned");
  random_quaternion(&seed, turned.rotation);
  random_numbers(&seed, turned.position, 3);
  int body, index;
  assert_int_equal(pol_mechanism_add_body(m, &turned, &body), POL_OK);
  for (int k = 0; k < 2; k++) {
    const pol_joint joint = {.name = k ? "cardan" : "pin",
                             .type = k ? POL_UNIVERSAL : POL_CYLINDRICAL};
    assert_int_equal(
        pol_mechanism_add_joint_at(m, &joint, body, POL_GROUND, point, k ? axes : axis, &index),
        POL_OK);
    for (int i = 0; i < 2; i++) {
      const int at = pol_mechanism_joint(m, index)->marker[i];
      const pol_marker *marker = pol_mechanism_marker(m, at);
      double where[3], q[4], R[9];
      pol_mechanism_marker_point(m, at, where);
      assert_near(where, point, 3, 1e-14);
      pol_quat_multiply(i == 0 ? turned.rotation : (double[4]){1.0}, marker->rotation, q);
      pol_quat_to_matrix(q, R);
      const double x[3] = {R[0], R[3], R[6]}, y[3] = {R[1], R[4], R[7]}, z[3] = {R[2], R[5], R[8]};
      const double unit[3] = {axis[0] / 3.0, axis[1] / 3.0, axis[2] / 3.0};
      if (k == 0) assert_near(z, unit, 3, 1e-14);
      if (k == 1) assert_near(x, z_axis, 3, 1e-14);
      if (k == 1) assert_near(y, y_axis, 3, 1e-14);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(wrong_bodies, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_markers, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_joints, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_joint_axes, setup, teardown),
      cmocka_unit_test_setup_teardown(joints_make_forces, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_joints_at_a_point, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_forces, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_drives_and_couplings, setup, teardown),
      cmocka_unit_test_setup_teardown(null_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_settings, setup, teardown),
      cmocka_unit_test_setup_teardown(errors_are_reported_by_the_simulation, setup, teardown),
      cmocka_unit_test_setup_teardown(defaults_are_valid, setup, teardown),
      cmocka_unit_test_setup_teardown(elements_are_found_by_name, setup, teardown),
      cmocka_unit_test_setup_teardown(joints_are_placed, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
