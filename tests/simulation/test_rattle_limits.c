/* rattle on rigid bodies where it is not stable, or does not converge: dampers, states and springs
 * that are too stiff for the step are named, at the start and later; steps of variable size respect
 * the limits; steps that are too large fail and name the place and the remedy. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* A slider of 2 kg with these states and forces. */
static pol_model *read_slider(const char *states, const char *forces)
{
  char text[1200];
  snprintf(
      text, sizeof text,
      "{\"name\": \"slider\", \"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": [1, 1, 1], "
      "\"velocity\": [1, 0, 0]}], \"markers\": [{\"name\": \"o\", \"body\": \"ground\", "
      "\"position\": [-1, 0, 0]}, {\"name\": \"p\", \"body\": \"ground\"}, {\"name\": \"e\", "
      "\"body\": \"a\"}], \"joints\": [{\"name\": "
      "\"g\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], "
      "\"axis\": [1, 0, 0]}], \"states\": [%s], \"forces\": [%s], "
      "\"simulation\": {\"step\": 0.01, \"end\": 1}}",
      states, forces);
  return read_model_text(text);
}

/* Forces whose damping is c, or frequency w with c = w^2 m. */
static const struct {
  const char *states, *forces, *name;
  int is_spring;
} elements[] = {
    {"",
     "{\"name\": \"oil\", \"type\": \"spring-damper\", \"markers\": [\"o\", \"e\"], "
     "\"stiffness\": 1, \"damping\": %g}",
     "the damper of force 'oil'", 0},
    {"",
     "{\"name\": \"wind\", \"type\": \"force\", \"body\": \"a\", \"force\": [1, 0, 0]}, "
     "{\"name\": \"oil\", \"type\": \"force\", \"body\": \"a\", \"force\": "
     "[\"-%g*a.velocity.x\", 0, 0]}",
     "the damper of force 'oil'", 0},
    {"",
     "{\"name\": \"oil\", \"type\": \"bushing\", \"markers\": [\"p\", \"e\"], \"stiffness\": 1, "
     "\"damping\": %g}",
     "the damper of force 'oil'", 0},
    {"", "{\"name\": \"oil\", \"type\": \"drag\", \"body\": \"a\", \"coefficient\": %g}",
     "the damper of force 'oil'", 0},
    {"{\"name\": \"lag\", \"rate\": \"(a.velocity.x - lag)*%g/2\"}",
     "{\"name\": \"f\", \"type\": \"force\", \"body\": \"a\", \"force\": [\"-lag\", 0, 0]}",
     "state 'lag'", 0},
    {"",
     "{\"name\": \"pad\", \"type\": \"bushing\", \"markers\": [\"p\", \"e\"], \"stiffness\": %g}",
     "the spring of force 'pad'", 1},
    {"",
     "{\"name\": \"pad\", \"type\": \"force\", \"body\": \"a\", \"force\": "
     "[\"-%g*a.position.x - 0.01*a.velocity.x\", 0, 0]}",
     "the spring of force 'pad'", 1},
};

enum { NUM_ELEMENTS = sizeof elements / sizeof elements[0] };

/* An element with this h c/m or h w for steps of 0.01 s. */
static pol_model *read_element(int k, double value)
{
  const double h = 0.01, mass = 2.0;
  char states[200], forces[400];
  double c = elements[k].is_spring ? mass * value * value / (h * h) : mass * value / h;
  if (strstr(elements[k].forces, "drag")) c *= 0.5; /* 2 c |v| v */
  snprintf(states, sizeof states, elements[k].states, c);
  snprintf(forces, sizeof forces, elements[k].forces, c);
  return read_slider(states, forces);
}

static const double limits[2][4] = {{HUGE_VAL, 3.02, 2.73, 3.30}, {2.0, 2.72, 2.53, 3.09}};

/* Named from the limit on, in every form. */
static void stiff_elements_are_named(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_ELEMENTS; k++)
    for (int order = 2; order <= 8; order += 2) {
      const double limit = limits[elements[k].is_spring][order / 2 - 1];
      for (int above = 0; above < 2; above++) {
        const double value = limit == HUGE_VAL ? 100.0 : limit * (above ? 1.02 : 0.98);
        pol_model *model = read_element(k, value);
        pol_simulation *simulation = start_rattle(model, order, 0.01, 0.02);
        const pol_summary *summary = pol_simulation_summary(simulation);
        const char *message = summary->num_warnings ? summary->warnings[0].message : "";
        const int expected = above && limit != HUGE_VAL;
        if (summary->num_warnings != expected ||
            (expected && (!strstr(message, elements[k].name) || !strstr(message, "a step below"))))
          fail_msg("element %d, order %d, %g: %s", k, order, value, message);
        pol_simulation_free(&simulation);
        pol_model_free(&model);
      }
    }
}

/* A run that diverges, or whose result is wrong, does not end without a warning. */
static void nothing_diverges_unnoticed(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_ELEMENTS; k++)
    for (int order = 2; order <= 8; order += 2)
      for (double value = 0.7; value < 200.0; value *= 1.6) {
        pol_model *model = read_element(k, value);
        pol_simulation *simulation = start_rattle(model, order, 0.01, 1.0);
        pol_status status = POL_OK;
        while (!status && !pol_simulation_finished(simulation))
          status = pol_simulation_step(simulation);
        pol_simulation_review(simulation);
        const pol_summary *summary = pol_simulation_summary(simulation);
        const pol_state *end = pol_simulation_state(simulation);
        /* the slider never moves faster than at the start, or than the wind makes it */
        if (!status && summary->num_warnings == 0 &&
            !(fabs(end->v[3]) < 1.01 && fabs(end->q[4]) < 1.01))
          fail_msg("element %d, order %d, %g: x = %g, v = %g", k, order, value, end->q[4],
                   end->v[3]);
        if (status) {
          const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
          assert_true(d->message[0] && d->advice[0]);
          if (order > 2 && !(summary->num_warnings > 0))
            fail_msg("element %d order %d value %g: %s %s %s", k, order, value, d->message,
                     d->where, d->advice);
        }
        pol_simulation_free(&simulation);
        pol_model_free(&model);
      }
}

/* A damper that becomes stiff later, and one whose lever becomes longer: a warning at that time. */
static void later_stiffness_is_found(void **state)
{
  static const char crank[] =
      "{\"name\": \"crank\", \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.01, 0.01, "
      "0.01], \"position\": [0.5, 0, 0], \"angular_velocity\": [0, 0, 2]}], \"markers\": "
      "[{\"name\": \"o\", \"body\": \"ground\", \"position\": [3, 0, 0]}, {\"name\": \"e\", "
      "\"body\": \"a\", \"position\": [0.5, 0, 0]}], \"joints\": [{\"name\": \"h\", \"type\": "
      "\"revolute\", \"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}], "
      "\"forces\": [{\"name\": \"oil\", \"type\": \"spring-damper\", \"markers\": [\"o\", \"e\"], "
      "\"stiffness\": 1, \"damping\": 150}, {\"name\": \"m\", \"type\": \"torque\", \"body\": "
      "\"a\", "
      "\"torque\": [0, 0, 20]}], \"simulation\": {\"step\": 0.01, \"end\": 2}}";
  (void)state;
  for (int k = 0; k < 2; k++) {
    pol_model *model =
        k ? read_model_text(crank)
          : read_slider("", "{\"name\": \"oil\", \"type\": \"force\", \"body\": \"a\", \"force\": "
                            "[\"-(10 + 2000/(1 + exp(50*(0.5 - t))))*a.velocity.x\", 0, 0]}");
    pol_simulation *simulation = start_rattle(model, 4, 0.01, 2.0);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_int_equal(summary->num_warnings, 0);
    step_to_end(simulation);
    assert_int_equal(summary->num_warnings, 1);
    assert_non_null(strstr(summary->warnings[0].message, "the damper of force 'oil'"));
    assert_true(summary->warnings[0].t > 0.2 && summary->warnings[0].t < 1.5);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Steps of variable size stay below the limit, and the summary names what limits them. */
static void variable_steps_are_bounded(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_ELEMENTS; k++)
    for (int order = 4; order <= 8; order += 4) {
      if (strstr(elements[k].forces, "drag")) continue; /* its damping falls with the speed */
      pol_model *model = read_element(k, 10.0);
      pol_settings settings = model->settings;
      settings.options.method = "rattle";
      settings.options.order = order;
      settings.variable = 1;
      settings.options.control.rtol = settings.options.control.atol_translation = 1e-2;
      settings.options.control.atol_rotation = 1e-2;
      pol_simulation *simulation = start_with(model->mechanism, &settings);
      step_to_end(simulation);
      pol_simulation_review(simulation);
      const pol_summary *summary = pol_simulation_summary(simulation);
      const double limit = limits[elements[k].is_spring][order / 2 - 1];
      assert_true(summary->counts.largest_step <= 0.01 * limit / 10.0);
      if (!(fabs(pol_simulation_state(simulation)->v[3]) < 1.02))
        fail_msg("element %d order %d: %g", k, order, pol_simulation_state(simulation)->v[3]);
      assert_true(summary->num_warnings > 0);
      assert_non_null(strstr(summary->warnings[0].message, elements[k].name));
      assert_non_null(strstr(summary->warnings[0].message, "limits the steps"));
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* Steps that are far too large fail: status, a place, and what to do; the state stays finite. */
static void large_steps_name_the_place(void **state)
{
  static const struct {
    const char *model;
    double h;
  } cases[] = {{"bruels-cardona-2010/heavy_top.json", 0.5},
               {"examples/squeezer.json", 0.02},
               {"examples/four_bar_motor.json", 0.5},
               {"examples/planetary_gear.json", 0.5},
               {"examples/gyroscope.json", 0.5},
               {"examples/chain_20.json", 0.5},
               {"examples/double_pendulum.json", 0.5},
               {"examples/suspension.json", 0.5}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
    for (int order = 2; order <= 8; order += 2) {
      char path[200];
      snprintf(path, sizeof path, MODELS "%s", cases[c].model);
      pol_model *model = read_model(path);
      pol_simulation *simulation = start_rattle(model, order, cases[c].h, 20.0 * cases[c].h);
      pol_status status = POL_OK;
      while (!status && !pol_simulation_finished(simulation))
        status = pol_simulation_step(simulation);
      const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
      if (status <= 0 || !d->where[0] || !d->message[0] || d->h != cases[c].h ||
          !(strstr(d->advice, "smaller step") || strstr(d->advice, "a step below")))
        fail_msg("%s, order %d: status %d, '%s', '%s', '%s'", cases[c].model, order, (int)status,
                 d->where, d->message, d->advice);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* Springs of 1e9 N/m as forces at the nodes: the failure names the force and a step that succeeds.
 */
static void stiff_springs_fail_with_a_remedy(void **state)
{
  static const char *const forces[] = {
      "{\"name\": \"rubber\", \"type\": \"bushing\", \"markers\": [\"o\", \"e\"], \"stiffness\": "
      "1e9}",
      "{\"name\": \"rubber\", \"type\": \"force\", \"body\": \"a\", \"point\": [0.5, 0, 0], "
      "\"force\": [0, 0, \"-1e9*a.position.z\"]}"};
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int order = 2; order <= 8; order += 2) {
      char text[900], *below;
      double h;
      snprintf(
          text, sizeof text,
          "{\"name\": \"stiff\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", "
          "\"mass\": 2, \"inertia\": [0.1, 0.1, 0.2], \"position\": [1, 0, 0], "
          "\"angular_velocity\": [0, 1, 0]}], \"markers\": [{\"name\": \"o\", \"body\": "
          "\"ground\", \"position\": [1.5, 0, 0]}, {\"name\": \"e\", \"body\": \"a\", "
          "\"position\": [0.5, 0, 0]}], \"joints\": [{\"name\": \"h\", \"type\": \"spherical\", "
          "\"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0]}], \"forces\": [%s], "
          "\"simulation\": {\"step\": 1e-3, \"end\": 0.1}}",
          forces[k]);
      pol_model *model = read_model_text(text);
      pol_simulation *simulation = start_rattle(model, order, 1e-3, 0.1);
      pol_status status = POL_OK;
      while (!status && !pol_simulation_finished(simulation))
        status = pol_simulation_step(simulation);
      const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
      assert_true(status > 0);
      assert_non_null(strstr(d->advice, "the spring of force 'rubber' is too stiff"));
      below = strstr(d->advice, "below ");
      assert_non_null(below);
      assert_int_equal(sscanf(below, "below %lg", &h), 1);
      pol_simulation_free(&simulation);

      simulation = start_rattle(model, order, 0.3 * h, 0.02);
      step_to_end(simulation);
      pol_simulation_review(simulation);
      if (pol_simulation_summary(simulation)->num_warnings)
        fail_msg("k %d order %d h %g: %s", k, order, h,
                 pol_simulation_summary(simulation)->warnings[0].message);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* Angles are as accurate far from the origin as near it. */
static void the_origin_does_not_matter_to_angles(void **state)
{
  static const char text[] =
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 100, \"inertia\": [10, 20, 30],"
      " \"position\": [%d, 0, 0], \"angular_velocity\": [0.3, 0.5, 1]},"
      "{\"name\": \"w\", \"mass\": 5, \"inertia\": [0.3, 0.3, 0.5], \"position\": [%d, 0, 0]}],"
      "\"joints\": [{\"name\": \"h\", \"type\": \"revolute\", \"bodies\": [\"a\", \"w\"],"
      " \"point\": [%d, 0, 0], \"axis\": [0, 0, 1]}],"
      "\"simulation\": {\"method\": \"rattle\", \"order\": 4, \"step\": 0.01, \"end\": 20}}";
  double rotation[2][4];
  (void)state;
  for (int k = 0; k < 2; k++) {
    const int x = k ? 10000 : 0;
    char own[sizeof text + 32];
    snprintf(own, sizeof own, text, x, x + 1, x + 1);
    pol_model *model = read_model_text(own);
    pol_simulation *simulation = start_rattle(model, 4, 0.01, 20.0);
    step_to_end(simulation);
    memcpy(rotation[k], pol_simulation_state(simulation)->q, sizeof rotation[k]);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
  assert_near(rotation[1], rotation[0], 4, 1e-10);
}

/* Directors have a rattle of order 2 alone. */
static void directors_refuse_other_orders(void **state)
{
  (void)state;
  pol_model *model = read_model(POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json");
  pol_simulation *simulation;
  pol_diagnostics d;
  model->settings.options.method = "rattle";
  model->settings.formulation = POL_DIRECTORS;
  for (int order = 2; order <= 8; order += 2) {
    model->settings.options.order = order;
    const pol_status status =
        pol_simulation_create(&simulation, model->mechanism, &model->settings, &d);
    assert_int_equal(status == POL_OK, order == 2);
    if (status != POL_OK) assert_non_null(strstr(d.message, "order must be 2"));
    pol_simulation_free(&simulation);
  }
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stiff_elements_are_named),
      cmocka_unit_test(nothing_diverges_unnoticed),
      cmocka_unit_test(later_stiffness_is_found),
      cmocka_unit_test(variable_steps_are_bounded),
      cmocka_unit_test(large_steps_name_the_place),
      cmocka_unit_test(stiff_springs_fail_with_a_remedy),
      cmocka_unit_test(the_origin_does_not_matter_to_angles),
      cmocka_unit_test(directors_refuse_other_orders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
