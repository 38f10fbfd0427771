/* The method that is chosen where a model leaves it open: which one for which forces and steps, the
 * reason, and what is kept of what the file gives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* A block on a spring and damper. */
static pol_model *read_block(const char *spring, const char *more, const char *simulation)
{
  static char text[2000];
  snprintf(
      text, sizeof text,
      "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"block\", \"mass\": 1, \"inertia\": "
      "[0.1, 0.1, 0.1], \"position\": [0.1, 0, 0]}], \"joints\": [{\"name\": \"slide\", \"type\": "
      "\"prismatic\", \"bodies\": [\"ground\", \"block\"], \"point\": [0, 0, 0], \"axis\": [1, 0, "
      "0]}], \"forces\": [{\"name\": \"spring\", \"type\": \"joint-spring\", \"joint\": "
      "\"slide\", %s}]%s, \"simulation\": {\"end\": 10, %s}}",
      spring, more, simulation);
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  if (pol_model_read_text(&model, text, 0, NULL, &errors) != POL_OK)
    fail_msg("%s: %s", errors.items[0].path, errors.items[0].rule);
  return model;
}

static void assert_choice(pol_model *model, const char *method, int order,
                          pol_formulation_kind formulation, const char *words)
{
  const pol_settings *s = &model->settings;
  if (strcmp(s->options.method, method) != 0 || s->formulation != formulation ||
      (order && s->options.order != order) || !strstr(s->choice, words))
    fail_msg("%s, order %d, %s: %s", s->options.method, s->options.order,
             pol_formulation_name(s->formulation), s->choice);
  pol_simulation *simulation = start(model);
  take_step(simulation);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* The rate of the only spring is sqrt(k/m), that of the only damper c/m: found to 1 %. */
static void rates_are_found(void **state)
{
  (void)state;
  assert_choice(read_block("\"stiffness\": 400", "", "\"step\": 0.01"), "rattle", 4, POL_SO3XR3,
                "rattle: the fastest force has a rate of 20/s, steps of 0.01 s are given");
  assert_choice(read_block("\"stiffness\": 400, \"damping\": 50", "", "\"step\": 0.01"), "rattle",
                4, POL_SO3XR3, "the fastest damper or state has a rate of 50/s");
}

/* Linear springs and dampers are implicit in rattle and count less with variable steps than
 * others, as those of an expression. */
static void linear_elements_count_apart(void **state)
{
  (void)state;
  assert_choice(read_block("\"stiffness\": 1e6", "", "\"rtol\": 1e-6"), "rattle", 0, POL_SO3XR3,
                "the fastest force has a rate of 1e+03/s");
  assert_choice(read_block("\"stiffness\": 0, \"actuator\": \"-1e6*(block.position.x - 0.1)\"", "",
                           "\"rtol\": 1e-6"),
                "geom1", 0, POL_SO3XR3_SPATIAL, "the fastest force has a rate of 1e+03/s");
}

/* Order 2 is enough where its steps are exact, and where fast rotations limit the step. */
static void order_two_where_it_is_enough(void **state)
{
  (void)state;
  const char *const coarse[] = {"simulation.method=auto", "simulation.rtol=1e-4"};
  const char *const fine[] = {"simulation.method=auto", "simulation.rtol=1e-7"};
  const char *const none[] = {"simulation.method=auto"};
  assert_choice(read_model_with(MODELS "examples/four_bar_motor.json", 2, fine), "rattle", 2,
                POL_SO3XR3, "drives determine the motion");
  assert_choice(read_model_with(MODELS "examples/stewart_platform.json", 1, none), "rattle", 2,
                POL_SO3XR3, "drives determine the motion");
  assert_choice(read_model_with(MODELS "examples/dzhanibekov_nut.json", 1, none), "rattle", 2,
                POL_SO3XR3, "");
  /* and 4 where a linear damper is much faster than the steps */
  const char *const finer[] = {"simulation.method=auto", "simulation.rtol=1e-8",
                               "simulation.steps=variable"};
  assert_choice(read_model_with(MODELS "gavrea-negrut-potra-2005/double_pendulum.json", 3, finer),
                "rattle", 4, POL_SO3XR3, "damper");
  assert_choice(read_model_with(MODELS "examples/gyroscope.json", 2, coarse), "rattle", 2,
                POL_SO3XR3, "bodies rotate so fast");
  assert_choice(read_model_with(MODELS "examples/gyroscope.json", 2, fine), "rattle", 0, POL_SO3XR3,
                "");
}

/* A step that does not resolve them is one for geom1. */
static void stiff_models(void **state)
{
  (void)state;
  assert_choice(read_block("\"stiffness\": 1e6", "", "\"step\": 0.01"), "geom1", 0,
                POL_SO3XR3_SPATIAL, "geom1: the fastest force has a rate of 1e+03/s");
  assert_choice(read_block("\"stiffness\": 1e6", "", "\"step\": 0.0005"), "rattle", 4, POL_SO3XR3,
                "");
  assert_choice(read_block("\"stiffness\": 0, \"damping\": 1e4", "", "\"step\": 0.01"), "geom1", 0,
                POL_SO3XR3_SPATIAL, "damper");
  assert_choice(read_block("\"stiffness\": 0, \"damping\": 1e6", "", "\"rtol\": 1e-6"), "geom1", 0,
                POL_SO3XR3_SPATIAL, "expected");
  pol_model *model = read_block("\"stiffness\": 1e6", "", "\"step\": 0.01");
  const pol_options *o = &model->settings.options;
  assert_true(fabs(o->sigma - o->gamma / (3.0 * o->beta)) < 1e-15);
  pol_model_free(&model);
}

/* Fast spin is no reason for small steps, and tolerances choose the order. */
static void smooth_models(void **state)
{
  (void)state;
  const char *const variable[] = {"simulation.method=auto", "simulation.rtol=1e-10"};
  const char *const fixed[] = {"simulation.method=auto", "simulation.step=0.005"};
  assert_choice(read_model_with(MODELS "bruels-cardona-2010/heavy_top.json", 2, fixed), "rattle", 4,
                POL_SO3XR3, "no springs");
  pol_model *model = read_model_with(MODELS "bruels-cardona-2010/heavy_top.json", 2, variable);
  assert_int_equal(pol_options_order(&model->settings.options), 8);
  pol_model_free(&model);
  /* the index, which rattle does not have, is no reason for a warning */
  const char *const motor[] = {"simulation.method=auto"};
  model = read_model_with(MODELS "examples/four_bar_motor.json", 1, motor);
  char message[300];
  assert_string_equal(model->settings.options.method, "rattle");
  assert_false(pol_options_warning(&model->settings.options, message, sizeof message));
  pol_model_free(&model);
}

/* What rattle does not treat, and forces with kinks. */
static void other_models(void **state)
{
  (void)state;
  const char *const change[] = {"simulation.method=auto"};
  assert_choice(read_model_with(MODELS "examples/friction_block.json", 1, change), "geom1", 0,
                POL_SO3XR3_SPATIAL, "reactions");
  assert_choice(read_model_with(MODELS "examples/chain_stop.json", 1, change), "geom1", 0,
                POL_SO3XR3_SPATIAL, "'depth' uses max");
  const char *const variable[] = {"simulation.method=auto", "simulation.rtol=1e-10"};
  assert_choice(read_model_with(MODELS "examples/chain_stop.json", 2, variable), "rattle", 4,
                POL_SO3XR3, "no springs");
  assert_choice(read_block("\"stiffness\": 1",
                           ", \"variables\": [{\"name\": \"x\", \"expression\": \"2*abs (t)\"}]",
                           "\"step\": 0.01"),
                "geom1", 0, POL_SO3XR3_SPATIAL, "'x' uses abs");
  assert_choice(read_block("\"stiffness\": 1",
                           ", \"variables\": [{\"name\": \"minimum\", \"expression\": \"t\"}, "
                           "{\"name\": \"y\", \"expression\": \"minimum*(1 + t)\"}]",
                           "\"step\": 0.01"),
                "rattle", 4, POL_SO3XR3, "");
  assert_choice(
      read_block("\"stiffness\": 1", "", "\"step\": 0.01, \"formulation\": \"euler-parameters\""),
      "geom1", 0, POL_EULER_PARAMETERS, "rattle of high order needs so3xr3");
  /* a contact that is damped, with variable steps; not with tolerances that resolve it anyway */
  static const char stop[] =
      "\"stiffness\": 0, \"actuator\": \"-1e4*max(0, slide.displacement - 1)*(1 + slide.speed)\"";
  assert_choice(read_block(stop, "", "\"rtol\": 1e-5"), "geom1", 0, POL_SO3XR3_SPATIAL,
                "'spring' uses max");
  assert_choice(read_block(stop, "", "\"rtol\": 1e-8"), "rattle", 4, POL_SO3XR3, "");
  /* comparisons, in functions of time and drives too */
  assert_choice(read_block("\"stiffness\": 0, \"actuator\": \"50*(block.position.x > 0.2)\"", "",
                           "\"step\": 0.01"),
                "geom1", 0, POL_SO3XR3_SPATIAL, "'spring' uses a comparison");
  assert_choice(read_block("\"stiffness\": 1",
                           ", \"drives\": [{\"name\": \"push\", \"joint\": \"slide\", "
                           "\"coordinate\": \"translation\", \"function\": "
                           "{\"expression\": \"0.1 + max(0, t - 0.5)^3\"}}]",
                           "\"step\": 0.01"),
                "geom1", 0, POL_SO3XR3_SPATIAL, "'push' uses max");
  /* a given order is kept, and a given formulation */
  assert_choice(read_block("\"stiffness\": 1", "", "\"step\": 0.01, \"order\": 6"), "rattle", 6,
                POL_SO3XR3, "");
  assert_choice(read_block("\"stiffness\": 1e8", "", "\"step\": 0.01, \"formulation\": \"so3xr3\""),
                "geom1", 0, POL_SO3XR3, "fastest force");
}

/* Parameters of geom1 in a file that names no method; beside "auto" those without effect are named;
 * reversible steps need rattle. */
static void given_parameters(void **state)
{
  (void)state;
  pol_model *model = read_block("\"stiffness\": 1", "", "\"step\": 0.01, \"rho_inf\": 0.5");
  assert_true(fabs(model->settings.options.alpha_f - 1.0 / 3.0) < 1e-15);
  assert_choice(model, "geom1", 0, POL_SO3XR3_SPATIAL, "parameters");
  assert_choice(read_block("\"stiffness\": 1", "",
                           "\"step\": 0.01, \"rho_inf\": 0.5, \"index\": 2, \"method\": \"auto\""),
                "rattle", 4, POL_SO3XR3, "; index, rho_inf have no effect");
  assert_choice(
      read_block("\"stiffness\": 1", "", "\"step\": 0.01, \"newton\": {\"kind\": \"full\"}"),
      "rattle", 4, POL_SO3XR3, "; newton has no effect");
  model =
      read_block("\"stiffness\": 1e8", "", "\"step\": 0.01, \"sigma\": 0.25, \"method\": \"auto\"");
  assert_true(model->settings.options.sigma == 0.25);
  assert_choice(model, "geom1", 0, POL_SO3XR3_SPATIAL, "fastest force");
  assert_choice(read_block("\"stiffness\": 1", "",
                           "\"step\": 0.01, \"control\": {\"controller\": \"reversible\"}"),
                "rattle", 4, POL_SO3XR3, "reversible");
}

/* Every example as a user runs it: no failure, no warning, and no worse than geom1 with the step of
 * the file.  The reference is a fine run of geom1. */
static void examples_run_with_their_choice(void **state)
{
  (void)state;
  static const char *const names[] = {
      "bouncing_ball",  "chain_20",     "chain_stop",       "double_pendulum",
      "four_bar_motor", "door",         "friction_block",   "governor",
      "gyroscope",      "lag_actuator", "pendulum",         "pid_pendulum",
      "planetary_gear", "squeezer",     "stewart_platform", "suspension"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[300];
    double end[2][3];
    snprintf(path, sizeof path, MODELS "examples/%s.json", names[i]);
    const char *const choose[] = {"simulation.method=auto"};
    const char *const exact[] = {"simulation.method=geom1", "simulation.rtol=1e-8",
                                 "simulation.atol=1e-8", "simulation.steps=variable"};
    for (int k = 0; k < 2; k++) {
      pol_model *model = read_model_with(path, k ? 4 : 1, k ? exact : choose);
      assert_int_equal(model->settings.choice[0] != '\0', !k);
      pol_simulation *simulation = start(model);
      pol_body_state body;
      step_to_end(simulation);
      const pol_summary *summary = pol_simulation_summary(simulation);
      if (!k && summary->num_warnings > 0)
        fail_msg("%s: %s", names[i], summary->warnings[0].message);
      const int last = pol_mechanism_num_bodies(model->mechanism) - 1;
      pol_simulation_body(simulation, last, &body);
      memcpy(end[k], body.position, sizeof body.position);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
    for (int k = 0; k < 3; k++)
      if (!(fabs(end[0][k] - end[1][k]) < (strcmp(names[i], "chain_stop") ? 2e-3 : 0.3)))
        fail_msg("%s: %g, not %g m", names[i], end[0][k], end[1][k]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates_are_found),
      cmocka_unit_test(linear_elements_count_apart),
      cmocka_unit_test(order_two_where_it_is_enough),
      cmocka_unit_test(stiff_models),
      cmocka_unit_test(smooth_models),
      cmocka_unit_test(other_models),
      cmocka_unit_test(given_parameters),
      cmocka_unit_test(examples_run_with_their_choice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
