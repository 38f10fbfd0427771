/* Index 3 without numerical damping: a run says so where there are constraints, and how much harm
 * that does. */
#include <string.h>

#include "simulation/simulate.h"

static const char free_body[] =
    "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 2, 3], \"angular_velocity\": "
    "[3, 5, 6]}], \"simulation\": {\"step\": 0.01, \"end\": 0.1}}";
static const char pendulum[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.01, "
    "0.1, 0.1], \"position\": [0.5, 0, 0]}], \"joints\": [{\"name\": \"j\", \"type\": "
    "\"spherical\", \"bodies\": [\"ground\", \"b\"], \"point\": [0, 0, 0]}], "
    "\"simulation\": {\"step\": 0.01, \"end\": 0.1}}";

/* The number of warnings of a run; the first goes to message. */
static int warnings_of(const char *text, pol_formulation_kind kind, const char *method,
                       double rho_inf, pol_index index, char message[320])
{
  pol_model *model = read_model_text(text);
  pol_options *o = &model->settings.options;
  assert_int_equal(pol_options_set_method(o, method), POL_OK);
  if (rho_inf >= 0.0) pol_options_set_rho_inf(o, rho_inf);
  o->index = index;
  model->settings.formulation = kind;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  int count = summary->num_warnings;
  strcpy(message, count > 0 ? summary->warnings[0].message : "");
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return count;
}

static void rho_inf_1_cannot_be_trusted_with_constraints(void **state)
{
  (void)state;
  char m[320];
  static const char *const methods[] = {"geom1", "geom2", "geom3", "linear"};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(warnings_of(pendulum, POL_SO3XR3, methods[i], 1.0, POL_INDEX_3, m), 1);
    assert_non_null(strstr(m, "are unreliable"));
    assert_non_null(strstr(m, "stabilized-2"));
    /* the length of the quaternion, the rigidity of directors are constraints, too */
    assert_int_equal(warnings_of(free_body, POL_EULER_PARAMETERS, methods[i], 1.0, POL_INDEX_3, m),
                     1);
    assert_non_null(strstr(m, "are unreliable"));
    assert_int_equal(warnings_of(free_body, POL_DIRECTORS, methods[i], 1.0, POL_INDEX_3, m), 1);
    assert_non_null(strstr(m, "are unreliable"));
    assert_int_equal(warnings_of(free_body, POL_SO3XR3, methods[i], 1.0, POL_INDEX_3, m), 0);
    assert_int_equal(warnings_of(pendulum, POL_SO3XR3, methods[i], 1.0, POL_INDEX_2, m), 0);
    assert_int_equal(warnings_of(pendulum, POL_SO3XR3, methods[i], 1.0, POL_INDEX_2_STABILIZED, m),
                     0);
  }
}

static void little_damping_is_doubted(void **state)
{
  (void)state;
  char m[320];
  assert_int_equal(warnings_of(pendulum, POL_SO3XR3, "newmark", -1.0, POL_INDEX_3, m), 1);
  assert_non_null(strstr(m, "index 3 with almost no numerical damping"));
  assert_int_equal(warnings_of(free_body, POL_SO3XR3, "newmark", -1.0, POL_INDEX_3, m), 0);
  assert_int_equal(warnings_of(pendulum, POL_SO3XR3, "newmark", -1.0, POL_INDEX_2, m), 0);
  assert_int_equal(warnings_of(pendulum, POL_SO3XR3, "geom1", 0.99, POL_INDEX_3, m), 1);
  assert_int_equal(warnings_of(pendulum, POL_SO3XR3, "geom1", 0.95, POL_INDEX_3, m), 0);
  assert_int_equal(warnings_of(pendulum, POL_SO3XR3, "hht", -1.0, POL_INDEX_3, m), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rho_inf_1_cannot_be_trusted_with_constraints),
                                     cmocka_unit_test(little_damping_is_doubted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
