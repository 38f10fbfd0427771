/* What a run says where the model asks for something that is not there: who it was, and why. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

/* A block on rails along y with a force. */
static pol_model *read_block(const char *force)
{
  char text[1000];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"block\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1]}],"
           "\"joints\": [{\"name\": \"rail\", \"type\": \"prismatic\", \"bodies\": [\"ground\","
           " \"block\"], \"point\": [0, 0, 0], \"axis\": [0, 1, 0]}],"
           "\"forces\": [{\"name\": \"push\", \"type\": \"force\", \"body\": \"block\", %s}],"
           "\"simulation\": {\"step\": 0.01, \"end\": 0.1}}",
           force);
  return read_model_text(text);
}

static void a_scale_without_value_names_its_force(void **state)
{
  (void)state;
  for (int directors = 0; directors < 2; directors++) {
    pol_model *model = read_block("\"force\": [0, 1, 0], \"scale\": {\"expression\": \"1/t\"}");
    pol_simulation *simulation;
    pol_diagnostics d;
    if (directors) model->settings.formulation = POL_DIRECTORS;
    assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                     POL_NOT_FINITE);
    assert_string_equal(d.where, "force 'push': its scale is not finite");
    pol_model_free(&model);
  }
}

/* The reaction of the rails on the block is its force across them; a push of minus that, whatever
 * it is, leaves it open. */
static void reactions_that_forces_leave_open_are_named(void **state)
{
  (void)state;
  for (int solver = POL_SOLVER_DENSE; solver <= POL_SOLVER_SPARSE; solver++) {
    pol_model *model = read_block("\"force\": [\"-rail.force.x\", 0, 0]");
    pol_simulation *simulation;
    pol_diagnostics d;
    model->settings.options.solver = (pol_solver_kind)solver;
    assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                     POL_SINGULAR);
    assert_non_null(strstr(d.message, "forces that depend on reactions make the equations "));
    assert_memory_equal(d.where, "joint 'rail', translation", 25);
    pol_model_free(&model);
  }
}

/* A coin that is let go falls flat: no other coordinates would help. */
static void a_flat_disk_is_not_the_coordinates_fault(void **state)
{
  (void)state;
  static const char text[] =
      "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"coin\", \"mass\": 1,"
      " \"inertia\": [0.1, 0.1, 0.2], \"position\": [0, 0, 0.25],"
      " \"rotation\": {\"axis\": [1, 0, 0], \"angle\": 0.5235987755982988}}],"
      "\"markers\": [{\"name\": \"floor\", \"body\": \"ground\"},"
      " {\"name\": \"hub\", \"body\": \"coin\"}],"
      "\"joints\": [{\"name\": \"roll\", \"type\": \"rolling-disk\", \"markers\": [\"floor\","
      " \"hub\"], \"radius\": 0.5}], \"simulation\": {\"step\": 0.001, \"end\": 2}}";
  pol_model *model = read_model_text(text);
  pol_simulation *simulation;
  pol_diagnostics d;
  pol_status status = pol_simulation_create(&simulation, model->mechanism, &model->settings, &d);
  if (status) fail_msg("%s", d.message);
  while (!status && !pol_simulation_finished(simulation)) status = pol_simulation_step(simulation);
  const pol_diagnostics *told = pol_simulation_diagnostics(simulation);
  assert_true(status > 0);
  assert_non_null(strstr(told->message, "the disk lies flat on its plane"));
  assert_true(told->advice[0] != '\0');
  assert_null(strstr(told->advice, "so3xr3"));
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_scale_without_value_names_its_force),
      cmocka_unit_test(reactions_that_forces_leave_open_are_named),
      cmocka_unit_test(a_flat_disk_is_not_the_coordinates_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
