/* Every formulation with every method, with whatever an expression may read and with states or
 * without: each either runs, with finite numbers, or is refused with a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

/* A pendulum on a slider with a point mass on a rod; WHAT stands in a force, RATE in a state. */
static const char model_text[] =
    "{\"gravity\":[0,0,-9.81],"
    "\"bodies\":["
    "{\"name\":\"b\",\"mass\":1,\"inertia\":[[0.1,0.01,0],[0.01,0.1,0],[0,0,0.1]],"
    "\"position\":[0.3,0,0]},"
    "{\"name\":\"p\",\"type\":\"point\",\"mass\":0.5,\"position\":[1,0,0]}],"
    "\"markers\":[{\"name\":\"m\",\"body\":\"b\",\"position\":[0.3,0,0]},"
    "{\"name\":\"n\",\"body\":\"p\"}],"
    "\"joints\":["
    "{\"name\":\"j\",\"type\":\"spherical\",\"bodies\":[\"ground\",\"b\"],\"point\":[0,0,0]},"
    "{\"name\":\"lock\",\"type\":\"universal\",\"bodies\":[\"ground\",\"b\"],"
    "\"point\":[0,0,0],\"axes\":[[0,1,0],[1,0,0]]},"
    "{\"name\":\"rod\",\"type\":\"distance\",\"markers\":[\"m\",\"n\"]}],"
    "\"forces\":[{\"name\":\"f\",\"type\":\"force\",\"body\":\"p\",\"force\":[\"0.01*(%s)\",0,0]}]"
    "%s,"
    "\"simulation\":{\"step\":0.001,\"end\":0.003}}";

static const char *const reads[] = {
    "t",
    "b.position.z",
    "p.velocity.y",
    "b.angular_velocity.y",
    "c",
    "b.angular_velocity_global.y",
    "marker.m.position.x",
    "marker.m.velocity.z",
    "lock.angle_1",
    "lock.rate_1",
    "rod.force.x",
    "rod.multiplier.1",
};
static const char *const states[] = {
    "",
    ",\"states\":[{\"name\":\"c\",\"rate\":\"1-c\"}]",
    ",\"states\":[{\"name\":\"c\",\"rate\":\"0.1*rod.force.x-2*c+b.velocity.z\"}]",
};

/* Reads the model with a method and a formulation and runs it: 1 if it ran, 0 if it was refused. */
static int run_or_refuse(const char *text, const char *method, const char *formulation)
{
  char overrides[2][64];
  const char *const list[] = {overrides[0], overrides[1]};
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  pol_diagnostics d = {.status = POL_OK};
  pol_simulation *simulation = NULL;
  snprintf(overrides[0], sizeof overrides[0], "simulation.method=%s", method);
  snprintf(overrides[1], sizeof overrides[1], "simulation.formulation=%s", formulation);
  if (pol_model_read_text(&model, text, 2, list, &errors) != POL_OK) {
    assert_true(errors.count > 0 && errors.items[0].rule[0] != '\0');
    pol_errors_clear(&errors);
    return 0;
  }
  pol_status status = pol_simulation_create(&simulation, model->mechanism, &model->settings, &d);
  if (status == POL_BAD_ARGUMENT) {
    assert_true(d.message[0] != '\0');
    pol_model_free(&model);
    return 0;
  }
  if (status) fail_msg("%s in %s: %s: %s", method, formulation, text, d.message);
  step_to_end(simulation);
  const pol_state *end = pol_simulation_state(simulation);
  pol_body_state body;
  for (int b = 0; b < 2; b++) {
    pol_formulation_body_state(pol_simulation_formulation(simulation), end->q, end->v, b, &body);
    for (int i = 0; i < 3; i++) assert_true(isfinite(body.position[i] + body.velocity[i]));
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return 1;
}

static void every_combination_runs_or_is_refused(void **state)
{
  (void)state;
  int ran = 0, refused = 0;
  for (size_t s = 0; s < sizeof states / sizeof *states; s++)
    for (size_t r = 0; r < sizeof reads / sizeof *reads; r++)
      for (int m = 0; m < pol_method_count(); m++)
        for (int f = 0; f < pol_formulation_count(); f++) {
          char text[2048];
          if (s == 0 && strcmp(reads[r], "c") == 0) continue;
          snprintf(text, sizeof text, model_text, reads[r], states[s]);
          int done = run_or_refuse(text, pol_method_at(m)->name,
                                   pol_formulation_name((pol_formulation_kind)f));
          ran += done;
          refused += !done;
        }
  /* Lie group methods take all of them, also those that read reactions */
  assert_true(ran > 1000);
  assert_true(refused > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_combination_runs_or_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
