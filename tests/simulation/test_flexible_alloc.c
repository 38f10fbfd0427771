/* Memory of a mechanism with a flexible body: every allocation made to fail once gives
 * POL_NO_MEMORY and leaves nothing behind, and steps allocate nothing. */
#include <polhode/polhode.h>

#include "failing_alloc.h"
#include "point_masses.h"

static pol_status attempt(void *user)
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  uint64_t seed = 7;
  point_masses p;
  const pol_flexible_body body = random_flexible(&p, "arm", 3, 2, &seed);
  pol_mechanism *mechanism = NULL;
  pol_simulation *simulation = NULL;
  pol_diagnostics d;
  pol_joint joint = pol_joint_default();
  (void)user;
  joint.name = "hinge";
  joint.type = POL_SPHERICAL;
  pol_status status = pol_mechanism_create(&mechanism);
  if (!status) status = pol_mechanism_add_flexible_body(mechanism, &body, NULL);
  if (!status)
    status = pol_mechanism_add_joint_at(mechanism, &joint, POL_GROUND, 2, origin, NULL, NULL);
  pol_settings settings = pol_settings_default();
  settings.formulation = POL_SO3XR3_SPATIAL;
  settings.step = 1e-3;
  settings.end = 1.0;
  if (!status) status = pol_simulation_create(&simulation, mechanism, &settings, &d);
  if (!status) {
    const long before = alloc_state.count;
    for (int k = 0; k < 10 && !status; k++) status = pol_simulation_step(simulation);
    if (!status) assert_int_equal(alloc_state.count, before);
  }
  pol_simulation_free(&simulation);
  if (mechanism) pol_mechanism_free(&mechanism);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  alloc_exhaust(attempt, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
