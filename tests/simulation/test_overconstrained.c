/* Spatial loops with one freedom and many redundant constraints, Bennett's and Bricard's: they have
 * no singular position on their way, and every method must get through, also one whose positions
 * miss the constraints by O(h^2), where redundant constraints look independent. */
#include <string.h>

#include "simulation/simulate.h"

#define DATA POLHODE_SOURCE_DIR "/tests/data/"

typedef struct method {
  const char *name;
  pol_formulation_kind formulation;
  pol_index index;
} method;

static const method methods[] = {{"geom1", POL_SO3XR3, POL_INDEX_2},
                                 {"geom1", POL_SO3XR3, POL_INDEX_3},
                                 {"geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED},
                                 {"geom1", POL_SE3_BODY, POL_INDEX_2},
                                 {"geom1", POL_DIRECTORS, POL_INDEX_2},
                                 {"vi-a", POL_EULER_PARAMETERS, POL_INDEX_3},
                                 {"vi-a", POL_DIRECTORS, POL_INDEX_3},
                                 {"em", POL_EULER_PARAMETERS, POL_INDEX_3}};

/* Runs for 3 s; the end of the last body goes to position. */
static void run(const char *path, const method *m, double step, double position[3])
{
  pol_model *model = read_model(path);
  pol_settings *settings = &model->settings;
  pol_body_state body;
  assert_int_equal(pol_options_set_method(&settings->options, m->name), POL_OK);
  settings->options.index = m->index;
  settings->formulation = m->formulation;
  settings->step = step;
  settings->end = 3.0;
  pol_simulation *simulation = start(model);
  while (!pol_simulation_finished(simulation))
    if (pol_simulation_step(simulation) != POL_OK)
      fail_msg("%s, h = %g, %s, %s, index form %d: %s", path, step, m->name,
               pol_formulation_name(m->formulation), (int)m->index,
               pol_simulation_diagnostics(simulation)->message);
  const pol_summary *summary = pol_simulation_summary(simulation);
  if (summary->singular.count > 0)
    fail_msg("%s, h = %g, %s, %s: singular near t = %g: %s", path, step, m->name,
             pol_formulation_name(m->formulation), summary->singular.t, summary->singular.where);
  const pol_state *now = pol_simulation_state(simulation);
  int last = pol_mechanism_num_bodies(model->mechanism) - 1;
  pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, last, &body);
  memcpy(position, body.position, sizeof body.position);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static void every_method_gets_round(void **state)
{
  (void)state;
  static const char *const paths[] = {DATA "bennett.json", DATA "bricard.json"};
  static const double steps[] = {0.01, 0.003};
  for (int p = 0; p < 2; p++) {
    double reference[3];
    run(paths[p], &(method){"geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED}, 5e-4, reference);
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++)
      for (int k = 0; k < 2; k++) {
        double position[3];
        run(paths[p], &methods[m], steps[k], position);
        /* 200 h^2: 2 cm and 1.8 mm */
        assert_near(position, reference, 3, 200.0 * steps[k] * steps[k]);
      }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_gets_round)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
