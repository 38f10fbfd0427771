/* Starts of the generalized-alpha methods where a damper, a spring or friction is far too stiff for
 * the step: the acceleration of the first instant says nothing of the motion then. */
#include <stdio.h>
#include <stdlib.h>

#include "simulation/simulate.h"

static const double step = 0.01, gravity = 9.81;

/* A body of 1 kg below a fixed point, 1 m away, on a spring-damper; guided by a prismatic joint, or
 * a free point mass. */
static pol_model *hanging(int guided, double stiffness, double damping, double velocity)
{
  char text[1200];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"a\", %s, \"mass\": 1, \"position\": [0, 0, -1], "
           "\"velocity\": [0, 0, %g]}], \"gravity\": [0, 0, -9.81], "
           "\"markers\": [{\"name\": \"g\", \"body\": \"ground\"}, {\"name\": \"p\", \"body\": "
           "\"a\"}], %s"
           "\"forces\": [{\"name\": \"s\", \"type\": \"spring-damper\", \"markers\": [\"g\", "
           "\"p\"], \"stiffness\": %g, \"damping\": %g, \"length\": 1}],"
           "\"simulation\": {\"step\": 0.01, \"end\": 1}}",
           guided ? "\"inertia\": [0.1, 0.1, 0.1]" : "\"type\": \"point\"", velocity,
           guided ? "\"joints\": [{\"name\": \"guide\", \"type\": \"prismatic\", \"bodies\": "
                    "[\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}], "
                  : "",
           stiffness, damping);
  return read_model_text(text);
}

/* The height at the end, for one method; runs with the model's settings. */
static double final_height(pol_model *model, const char *method, double rho_inf, int index)
{
  pol_body_state body;
  pol_options *o = &model->settings.options;
  assert_int_equal(pol_options_set_method(o, method), POL_OK);
  if (rho_inf >= 0.0) pol_options_set_rho_inf(o, rho_inf);
  o->index = (pol_index)index;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *now = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, 0, &body);
  pol_simulation_free(&simulation);
  return body.position[2];
}

/* Compares the end of each method, index and formulation with the closed form. */
static void check_all(pol_model *model, int guided, double expected, double tolerance)
{
  static const char *const methods[] = {"geom1", "geom2", "geom3", "linear"};
  static const double rho[] = {0.0, 0.5, 0.9};
  static const pol_formulation_kind types[] = {POL_SO3XR3, POL_SE3_BODY, POL_SO3XR3_SPATIAL,
                                               POL_EULER_PARAMETERS, POL_DIRECTORS};
  for (int f = 0; f < (guided ? 5 : 1); f++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
      model->settings.formulation = types[f];
      for (int m = 0; m < 4; m++)
        for (int r = 0; r < 3; r++) {
          double height = final_height(model, methods[m], rho[r], index);
          if (!(fabs(height - expected) <= tolerance))
            fail_msg("%s, rho_inf %g, index form %d, formulation %d: %.9g instead of %.9g",
                     methods[m], rho[r], index, f, height, expected);
        }
      assert_near(&(double){final_height(model, "hht", -1.0, index)}, &expected, 1, tolerance);
    }
}

/* z'' = -g - (d/m) z' from rest; half a step of free fall, h^2 g/2, is all that the first step may
 * be off. */
static void a_stiff_damper_holds_from_the_start(void **state)
{
  (void)state;
  for (int guided = 0; guided < 2; guided++)
    for (double d = 1e3; d < 2e14; d *= guided ? 1e3 : 10.0) {
      pol_model *model = hanging(guided, 0.0, d, 0.0);
      check_all(model, guided, -1.0 - gravity / d + gravity / (d * d), 0.5 * step * step * gravity);
      pol_model_free(&model);
    }
}

/* A velocity of 1 m/s into the damper ends at once; a method that does not see how is off by the
 * way of a step or two. */
static void a_stiff_damper_stops_what_moves(void **state)
{
  (void)state;
  for (double d = 1e4; d < 2e14; d *= 1e2) {
    pol_model *model = hanging(0, 0.0, d, 1.0);
    check_all(model, 0, -1.0 + (1.0 - gravity) / d, 2.0 * step);
    pol_model_free(&model);
  }
}

/* A spring that carries the weight with little strain, critically damped. */
static void a_stiff_spring_holds_from_the_start(void **state)
{
  (void)state;
  for (int guided = 0; guided < 2; guided++)
    for (double k = 1e6; k < 2e14; k *= guided ? 1e4 : 1e2) {
      pol_model *model = hanging(guided, k, 2.0 * sqrt(k), 0.0);
      check_all(model, guided, -1.0 - gravity / k, 0.5 * step * step * gravity);
      pol_model_free(&model);
    }
}

/* The block creeps with the velocity v at which 0.5 tanh(v/0.001) N is the downhill force, from
 * rest: 0.72285 mm in a second. */
static void friction_lets_a_block_creep(void **state)
{
  (void)state;
  static const char text[] =
      "{\"gravity\": [2.899053227347741, 0, -9.371850958322195], \"bodies\": [{\"name\": \"a\", "
      "\"mass\": 2, \"inertia\": [0.01, 0.01, 0.01]}], \"joints\": [{\"name\": \"guide\", "
      "\"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": "
      "[1, 0, 0]}], \"variables\": [{\"name\": \"normal\", \"expression\": \"hypot(guide.force.y, "
      "guide.force.z)\"}], \"forces\": [{\"name\": \"rub\", \"type\": \"force\", \"body\": \"a\", "
      "\"force\": [\"-0.5*normal*tanh(a.velocity.x/0.001)\", 0, 0]}], "
      "\"simulation\": {\"step\": 0.01, \"end\": 1}}";
  const double creep = 1e-3 * atanh(2.899053227347741 / (0.5 * 9.371850958322195));
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
    for (int r = 0; r <= 9; r += 3) {
      pol_model *model = read_model_text(text);
      pol_body_state body;
      pol_options_set_rho_inf(&model->settings.options, 0.1 * r);
      model->settings.options.index = (pol_index)index;
      pol_simulation *simulation = start(model);
      step_to_end(simulation);
      const pol_state *now = pol_simulation_state(simulation);
      pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, 0, &body);
      assert_near(body.position, &creep, 1, 0.5 * step * step * 2.899);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_stiff_damper_holds_from_the_start),
                                     cmocka_unit_test(a_stiff_damper_stops_what_moves),
                                     cmocka_unit_test(a_stiff_spring_holds_from_the_start),
                                     cmocka_unit_test(friction_lets_a_block_creep)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
