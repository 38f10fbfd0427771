/* Reading robots with every allocation of polhode and Jansson made to fail once: POL_NO_MEMORY,
 * nothing left behind.  libxml2 keeps its own allocator. */
#include "../failing_alloc.h"

#include <string.h>

#include <jansson.h>
#include <polhode/robot.h>
static void *allocate_json(size_t size)
{
  if (alloc_state.fail_at > 0 && alloc_state.count >= alloc_state.fail_at) return NULL;
  return __wrap_malloc(size);
}
static int install(void **state)
{
  alloc_install(state);
  json_set_alloc_funcs(allocate_json, __wrap_free);
  return 0;
}
static pol_status read_robot(void *user)
{
  char *model, *notes;
  pol_errors errors = {0};
  const pol_robot_options options = {.keyframe = strstr(user, "keyframes") ? "thrown" : NULL};
  const pol_status status = pol_robot_read_file(user, &options, &model, &notes, &errors);
  if (status == POL_NO_MEMORY) assert_int_equal(errors.count, 0);
  pol_errors_clear(&errors);
  free(model);
  free(notes);
  return status;
}
static void a_urdf_file(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(read_robot, POLHODE_SOURCE_DIR "/tests/data/robots/gripper.urdf") > 50);
}
static void an_equality_and_an_actuator(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(read_robot, POLHODE_SOURCE_DIR "/models/robots/gripper.xml") > 50);
}
static void joints_that_are_combined(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(read_robot, POLHODE_SOURCE_DIR "/tests/data/robots/universal.xml") >
              50);
}
static void tendons_and_actuators(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(read_robot, POLHODE_SOURCE_DIR "/tests/data/robots/actuators.xml") >
              50);
}
static void a_keyframe(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(read_robot, POLHODE_SOURCE_DIR "/tests/data/robots/keyframes.xml") >
              50);
}
int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_urdf_file), cmocka_unit_test(an_equality_and_an_actuator),
      cmocka_unit_test(joints_that_are_combined), cmocka_unit_test(tendons_and_actuators),
      cmocka_unit_test(a_keyframe)};
  return cmocka_run_group_tests(tests, install, NULL);
}
