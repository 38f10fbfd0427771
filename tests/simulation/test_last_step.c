/* Reactions where the last step is shorter than the others: the variational and energy-momentum
 * methods form multipliers from impulses, whose time is another one there.
 */
#include <string.h>

#include "simulation/simulate.h"

/* A pendulum of a point mass, swinging in space; 0.0007 s is no divisor of the end. */
static const char text[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"bob\", \"type\": \"point\", "
    "\"mass\": 2, \"position\": [1, 0, 0], \"velocity\": [0, 1.5, -0.5]}], \"markers\": "
    "[{\"name\": \"hook\", \"body\": \"ground\"}, {\"name\": \"eye\", \"body\": \"bob\"}], "
    "\"joints\": [{\"name\": \"rod\", \"type\": \"distance\", \"markers\": [\"hook\", \"eye\"], "
    "\"length\": 1}], \"simulation\": {\"step\": 0.001, \"end\": 0.4}}";

/* The force of the rod, m (g . x - v . v) x with |x| = 1, at a time of an accurate run. */
static void force_at(double t, double force[3])
{
  pol_model *model = read_model_text(text);
  model->settings.options.index = POL_INDEX_2_STABILIZED;
  model->settings.step = t / 4000.0;
  model->settings.end = t;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  double tension = -9.81 * state->q[2];
  for (int i = 0; i < 3; i++) tension += state->v[i] * state->v[i];
  for (int i = 0; i < 3; i++) force[i] = -2.0 * tension * state->q[i];
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* The error of the last force that a method reports, for the time that it says. */
static double last_error(const char *method, double step)
{
  pol_model *model = read_model_text(text);
  double force[3], torque[3], expected[3], error = 0.0;
  assert_int_equal(pol_options_set_method(&model->settings.options, method), POL_OK);
  model->settings.step = step;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  const pol_point at = pol_state_point(state);
  pol_formulation_reaction(pol_simulation_formulation(simulation), &at, 0, force, torque);
  force_at(state->lambda_t, expected);
  for (int i = 0; i < 3; i++) error = fmax(error, fabs(force[i] - expected[i]));
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return error;
}

/* The remainders are 3/10, 1/10 and 1/100 of a step: the shorter, the more an impulse would count.
 */
static void the_last_reaction_converges(void **state)
{
  static const char *const methods[] = {"vi-s", "vi-a", "vi-b", "em", "em-g", "midpoint", "rattle"};
  static const double shares[] = {0.3, 0.1, 0.01};
  (void)state;
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
    for (size_t k = 0; k < sizeof shares / sizeof shares[0]; k++) {
      const double coarse = last_error(methods[i], 0.4 / (40.0 + shares[k]));
      const double fine = last_error(methods[i], 0.4 / (160.0 + shares[k]));
      if (coarse > 1.5 || fine > 0.35 * coarse)
        fail_msg("%s, %g of a step: errors %g and %g N", methods[i], shares[k], coarse, fine);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_reaction_converges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
