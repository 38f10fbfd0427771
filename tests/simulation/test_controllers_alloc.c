/* Memory of sampled controllers: each allocation made to fail once gives POL_NO_MEMORY and leaves
 * nothing behind; steps with samples, and states that are saved, allocate nothing that stays. */
#include <polhode/simulation.h>

#include "failing_alloc.h"

static pol_status sample(double t, const double *inputs, double *outputs, char *message,
                         size_t size, void *user)
{
  (void)t;
  (void)message;
  (void)size;
  (void)user;
  outputs[0] = -3.0 * inputs[0];
  return POL_OK;
}

static pol_mechanism *create_mass(void)
{
  pol_mechanism *m = NULL;
  const pol_variable force = {.name = "thrust", .expression = "0", .input = 1},
                     height = {.name = "height", .expression = "mass.position.z"};
  pol_body mass = pol_body_default();
  pol_force pull = pol_force_default();
  mass.name = "mass";
  mass.mass = mass.inertia[0] = mass.inertia[4] = mass.inertia[8] = 1.0;
  mass.position[2] = 1.0;
  pull.name = "pull";
  pull.type = POL_APPLIED_FORCE;
  pull.body = 0;
  pull.expressions[2] = "thrust";
  assert_int_equal(pol_mechanism_create(&m), POL_OK);
  assert_int_equal(pol_mechanism_add_variable(m, &force, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_variable(m, &height, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_body(m, &mass, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(m, &pull, NULL), POL_OK);
  return m;
}

static pol_status attempt(void *data)
{
  static const int reads[] = {1}, sets[] = {0};
  const pol_sampled_controller c = {.name = "spring",
                                    .period = 3e-3,
                                    .num_inputs = 1,
                                    .inputs = reads,
                                    .num_outputs = 1,
                                    .outputs = sets,
                                    .sample = sample};
  pol_settings settings = pol_settings_default();
  settings.options.method = "rattle";
  settings.end = 0.05;
  pol_simulation *sim;
  pol_status status = pol_simulation_create(&sim, data, &settings, NULL);
  if (status == POL_OK) status = pol_simulation_add_controller(sim, &c);
  const long before = alloc_state.count;
  while (status == POL_OK && !pol_simulation_finished(sim)) status = pol_simulation_step(sim);
  if (status == POL_OK) assert_int_equal(alloc_state.count, before);
  pol_simulation_free(&sim);
  return status;
}

static void test_memory(void **state)
{
  (void)state;
  pol_mechanism *m = create_mass();
  assert_true(alloc_exhaust(attempt, m) > 10);
  pol_mechanism_free(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
