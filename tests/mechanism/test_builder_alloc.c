/* Building a mechanism, and refusing wrong elements, with every allocation made to fail. */
#include "../failing_alloc.h"

#include <polhode/formulation.h>
#include <polhode/mechanism.h>

/* One element of each kind; statuses are looked at once, at the end. */
static pol_status build(void *user)
{
  static const double point[3], axis[3] = {0.0, 0.0, 1.0}, values[3] = {0.0, 1.0, 0.5},
                                times[3] = {0.0, 1.0, 2.0};
  const pol_variable variable = {.name = "twice", .expression = "2*t", .unit = "s"};
  const pol_state_variable filter = {.name = "slow", .rate = "twice - slow"};
  pol_mechanism *m;
  pol_status status = pol_mechanism_create(&m);
  (void)user;
  if (status) return status;
  pol_body body = pol_body_default();
  pol_marker tip = pol_marker_default();
  pol_joint_axis axes[2] = {pol_joint_axis_default(), pol_joint_axis_default()};
  pol_joint hinge = {.name = "hinge", .type = POL_CYLINDRICAL, .axes = axes};
  pol_force force = pol_force_default();
  pol_drive drive = pol_drive_default();
  pol_coupling screw = pol_coupling_default();
  const pol_function table = {.type = POL_TABLE, .count = 3, .values = values, .times = times};
  axes[0].damping = axes[1].limits.max = axes[1].friction.level = 1.0;
  body.name = "arm";
  tip.name = "tip";
  force = (pol_force){.name = "push", .scale = &table, .expressions = {"t", NULL, "2*slow"}};
  drive.name = "motor";
  drive.function = (pol_function){.type = POL_EXPRESSION, .expression = "sin(t)"};
  screw.name = "screw";
  screw.coordinate[1] = POL_DRIVE_TRANSLATION;
  pol_mechanism_add_body(m, &body, &tip.body);
  pol_mechanism_add_marker(m, &tip, NULL);
  pol_mechanism_add_joint_at(m, &hinge, POL_GROUND, 0, point, axis, &drive.joint);
  screw.joint[0] = screw.joint[1] = drive.joint;
  pol_mechanism_add_force(m, &force, NULL);
  pol_mechanism_add_drive(m, &drive, NULL);
  pol_mechanism_add_coupling(m, &screw, NULL);
  pol_mechanism_add_variable(m, &variable, NULL);
  pol_mechanism_add_state(m, &filter, NULL);
  status = pol_formulation_supports(m, POL_SO3XR3, NULL, 0);
  pol_mechanism_free(&m);
  return status;
}

/* An element that was not added for want of memory is not forgotten: with no status looked at, the
 * mechanism is still refused.  What refers to it may be refused too. */
static void no_element_gets_lost(void **state)
{
  (void)state;
  alloc_fail_at(0);
  assert_int_equal(build(NULL), POL_OK);
  const long count = alloc_count();
  assert_true(count > 20);
  for (long n = 1; n <= count; n++) {
    alloc_fail_at(n);
    assert_int_not_equal(build(NULL), POL_OK);
    assert_int_equal(alloc_live(), 0);
  }
}

/* Wrong elements: with memory POL_BAD_ARGUMENT, which is what is expected here, else POL_NO_MEMORY.
 */
static pol_status refuse(void *user)
{
  pol_mechanism *m;
  pol_status status = pol_mechanism_create(&m);
  (void)user;
  if (status) return status;
  const pol_body body = {.name = "zero"};
  status = pol_mechanism_add_body(m, &body, NULL);
  if (status == POL_BAD_ARGUMENT) {
    pol_drive drive = pol_drive_default();
    drive.name = "motor";
    drive.function = (pol_function){.type = POL_EXPRESSION, .expression = "sine(t)"};
    status = pol_mechanism_add_drive(m, &drive, NULL);
  }
  pol_mechanism_free(&m);
  return status == POL_BAD_ARGUMENT ? POL_OK : status;
}

static void errors_need_memory(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(refuse, NULL) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_element_gets_lost),
      cmocka_unit_test(errors_need_memory),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
