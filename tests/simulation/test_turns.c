/* A wheel that turns by 3.2 rad in a step, more than half a turn: a run stops if its motion depends
 * on the turns, and warns otherwise; with half the step there is nothing to say.  And bushings,
 * which end at 3 rad, with steps that jump across that place. */
#include <stdio.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

#include "check.h"

/* The rest of the model stands for %s. */
static const char wheels[] =
    "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1],"
    "   \"angular_velocity\": [0, 0, 320]},"
    "  {\"name\": \"b\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"position\": [1, 0, 0]}],"
    " \"joints\": [{\"name\": \"left\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"],"
    "   \"point\": [0, 0, 0], \"axis\": [0, 0, 1]},"
    "  {\"name\": \"right\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"b\"],"
    "   \"point\": [1, 0, 0], \"axis\": [0, 0, 1]}], %s"
    " \"simulation\": {\"step\": 0.01, \"end\": 0.1}}";

static const struct {
  const char *rest;
  int stops;
} cases[] = {
    {"", 0},
    {"\"variables\": [{\"name\": \"seen\", \"expression\": \"left.angle\"}],", 0},
    {"\"forces\": [{\"name\": \"coil\", \"type\": \"joint-spring\", \"joint\": \"right\","
     " \"stiffness\": 1}],",
     0},
    {"\"forces\": [{\"name\": \"coil\", \"type\": \"joint-spring\", \"joint\": \"left\","
     " \"stiffness\": 1}],",
     1},
    {"\"couplings\": [{\"name\": \"gear\", \"joints\": [\"left\", \"right\"],"
     " \"factors\": [1, 5]}],",
     1},
    {"\"variables\": [{\"name\": \"seen\", \"expression\": \"left.angle\"}],"
     "\"forces\": [{\"name\": \"push\", \"type\": \"torque\", \"body\": \"b\","
     " \"torque\": [0, 0, \"seen\"]}],",
     1},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

/* Runs to the end or the first failure. */
static pol_simulation *run(pol_model *model, double step, pol_status *status)
{
  pol_simulation *simulation;
  model->settings.step = step;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL),
                   POL_OK);
  do *status = pol_simulation_step(simulation);
  while (*status == POL_OK && !pol_simulation_finished(simulation));
  return simulation;
}

static void lost_turns_stop_a_run_or_are_told(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_CASES; k++) {
    char text[2048];
    pol_errors errors = {0, NULL};
    pol_model *model;
    pol_status status;
    snprintf(text, sizeof text, wheels, cases[k].rest);
    assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_OK);

    pol_simulation *simulation = run(model, 0.01, &status);
    const pol_lost_turns *lost = &pol_simulation_summary(simulation)->lost_turns;
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    assert_int_equal(status, cases[k].stops ? POL_RETRY : POL_OK);
    assert_int_equal(lost->count, cases[k].stops ? 0 : 10);
    assert_string_equal(cases[k].stops ? d->where : lost->where, "joint 'left', angle");
    assert_near(cases[k].stops ? &d->t : &lost->t, &(double){0.01}, 1, 1e-15);
    pol_simulation_free(&simulation);

    simulation = run(model, 0.005, &status);
    assert_int_equal(status, POL_OK);
    assert_int_equal(pol_simulation_summary(simulation)->lost_turns.count, 0);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A body that spins in a soft bushing: it must stop in the second half turn at the latest, whatever
 * the step, while a bushing that only damps turns on. */
static void a_bushing_is_not_jumped_across(void **state)
{
  (void)state;
  static const char text[] =
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1],"
      "   \"angular_velocity\": [60, 0, 80]}],"
      " \"markers\": [{\"name\": \"wall\", \"body\": \"ground\"}, {\"name\": \"hub\", \"body\": "
      "\"a\"}],"
      " \"forces\": [{\"name\": \"mount\", \"type\": \"bushing\", \"markers\": [\"wall\", \"hub\"],"
      "   \"stiffness\": 1, \"rotational_stiffness\": 1, \"rotational_damping\": 0.01}],"
      " \"simulation\": {\"step\": 0.01, \"end\": 1}}";
  static const double steps[] = {1e-3, 0.01, 0.017, 0.025, 0.031, 0.04, 0.0628};
  pol_errors errors = {0, NULL};
  pol_model *model;
  pol_status status;
  assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_OK);
  for (int i = 0; i < (int)(sizeof steps / sizeof steps[0]); i++) {
    pol_simulation *simulation = run(model, steps[i], &status);
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    assert_true(status > 0);
    assert_memory_equal(d->where, "force 'mount'", 13);
    assert_true(d->t < fmax(0.035, 1.001 * steps[i]) + steps[i]);
    pol_simulation_free(&simulation);
  }
  pol_model_free(&model);

  static const char *const soft = "forces.mount.rotational_stiffness=0";
  assert_int_equal(pol_model_read_text(&model, text, 1, &soft, &errors), POL_OK);
  pol_simulation *simulation = run(model, 0.025, &status);
  assert_int_equal(status, POL_OK);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(lost_turns_stop_a_run_or_are_told),
                                     cmocka_unit_test(a_bushing_is_not_jumped_across)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
