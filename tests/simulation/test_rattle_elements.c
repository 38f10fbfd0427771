/* rattle on rigid bodies with forces that depend on reactions, springs and dampers: orders, states
 * of an independent program, stiff elements, warnings and failures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

static pol_simulation *start_rattle(const pol_model *model, int order, double h, double end)
{
  pol_settings settings = model->settings;
  settings.options.method = "rattle";
  settings.options.order = order;
  settings.formulation = POL_SO3XR3;
  settings.step = h;
  settings.end = end;
  settings.variable = 0;
  settings.output = (pol_output){0};
  return start_with(model->mechanism, &settings);
}

/* q at the end; returns nq. */
static int run_to_end(const pol_model *model, int order, double h, double end, double *q)
{
  pol_simulation *simulation = start_rattle(model, order, h, end);
  step_to_end(simulation);
  const int nq = pol_formulation_dae(pol_simulation_formulation(simulation))->group.nq;
  memcpy(q, pol_simulation_state(simulation)->q, (size_t)nq * sizeof *q);
  pol_simulation_free(&simulation);
  return nq;
}

/* The order observed with h and h/2, against order 8 with a finer step. */
static double observe(const pol_model *model, int order, double h, double end, double error[2])
{
  double q[3][100];
  int nq = 0;
  for (int k = 0; k < 2; k++) nq = run_to_end(model, order, h / (k + 1), end, q[k]);
  run_to_end(model, 8, h / 8.0, end, q[2]);
  for (int k = 0; k < 2; k++) {
    error[k] = 0.0;
    for (int i = 0; i < nq; i++) error[k] = fmax(error[k], fabs(q[k][i] - q[2][i]));
  }
  return log2(error[0] / error[1]);
}

/* --- forces that depend on reactions ---------------------------------------------------------- */

/* Two links with friction in both hinges, which grows with the force that they carry, and a torque
 * of the first that depends on a reaction of the second. */
static const char hinges[] =
    "{\"name\": \"friction in hinges\", \"gravity\": [0, 0, -40], \"bodies\": ["
    "{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.01, 0.03, 0.02], \"position\": [0.3, 0, 0]},"
    "{\"name\": \"b\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.03], \"position\": [0.8, 0, 0]}],"
    "\"joints\": ["
    "{\"name\": \"j\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], "
    "\"point\": [0, 0, 0], \"axis\": [0, 1, 0.2]},"
    "{\"name\": \"k\", \"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], "
    "\"point\": [0.6, 0, 0], \"axis\": [0.1, 1, 0]}],"
    "\"variables\": [{\"name\": \"load\", \"expression\": "
    "\"sqrt(j.force.x^2 + j.force.y^2 + j.force.z^2)\"}, {\"name\": \"load2\", \"expression\": "
    "\"sqrt(k.force.x^2 + k.force.y^2 + k.force.z^2)\"}],"
    "\"forces\": ["
    "{\"name\": \"f\", \"type\": \"joint-spring\", \"joint\": \"j\", \"stiffness\": 0, "
    "\"actuator\": \"-0.1*load*tanh(j.rate) + 0.05*k.force.x\"},"
    "{\"name\": \"g\", \"type\": \"joint-spring\", \"joint\": \"k\", \"stiffness\": 0, "
    "\"actuator\": \"-0.05*load2*tanh(k.rate)\"}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.4}}";

static void friction_has_the_order(void **state)
{
  static const struct {
    int order;
    double h;
  } cases[] = {{2, 5e-3}, {4, 5e-3}, {6, 6e-3}, {8, 4e-2}};
  (void)state;
  pol_model *model = read_model_text(hinges);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    double error[2];
    const double order = observe(model, cases[c].order, cases[c].h, 0.6, error);
    if (!(order > cases[c].order - 0.35 && order < cases[c].order + 0.5))
      fail_msg("order %g instead of %d (errors %g, %g)", order, cases[c].order, error[0], error[1]);
  }
  pol_model_free(&model);
}

/* The block of the example with friction that is smooth, against geom1 with a fine step. */
static void friction_slows_down(void **state)
{
  static const char *const overrides[] = {
      "variables[1].expression=\"-0.3*normal*tanh(block.velocity.x/0.5)\""};
  (void)state;
  pol_model *model = read_model_with(MODELS "examples/friction_block.json", 1, overrides);
  double q[7];
  run_to_end(model, 6, 1e-2, 1.0, q);
  pol_settings settings = model->settings;
  settings.options.method = "geom1";
  settings.step = 1e-4;
  settings.end = 1.0;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  step_to_end(simulation);
  assert_near(q + 4, pol_simulation_state(simulation)->q + 4, 3, 1e-8);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Reactions that redundant constraints leave open are reported as with other methods. */
static void open_reactions_are_reported(void **state)
{
  static const char *const reads[] = {"forces[1].force=[\"0.0155*j2.torque.z\",0,0]",
                                      "forces[1].force=[\"0.0155*j2.force_local.x\",0,0]"};
  (void)state;
  for (int k = 0; k < 2; k++) {
    pol_model *model = read_model_with(
        POLHODE_SOURCE_DIR "/tests/data/redundant/friction_on_open_reaction.json", 1, &reads[k]);
    pol_simulation *simulation = start_rattle(model, 4, 1e-3, 0.1);
    step_to_end(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_int_equal(summary->num_warnings, k == 0);
    if (k == 0) assert_non_null(strstr(summary->warnings[0].message, "joint 'j2'"));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_has_the_order),
      cmocka_unit_test(friction_slows_down),
      cmocka_unit_test(open_reactions_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
