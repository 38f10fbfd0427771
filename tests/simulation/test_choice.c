/* The method that is chosen where a model leaves it open: which one for which forces and steps, the
 * reason, and what is kept of what the file gives. */
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
      "\"slide\", %s}]%s, \"simulation\": {\"method\": \"auto\", \"end\": 10, %s}}",
      spring, more, simulation);
  return read_model_text(text);
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
                "rattle: the fastest spring has a rate of 20/s, steps of 0.01 s are given");
  assert_choice(read_block("\"stiffness\": 400, \"damping\": 50", "", "\"step\": 0.01"), "rattle",
                4, POL_SO3XR3, "the fastest damper or state has a rate of 50/s");
}

/* A step that does not resolve them is one for geom1. */
static void stiff_models(void **state)
{
  (void)state;
  assert_choice(read_block("\"stiffness\": 1e6", "", "\"step\": 0.01"), "geom1", 0,
                POL_SO3XR3_SPATIAL, "geom1: the fastest spring has a rate of 1e+03/s");
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
                POL_SO3XR3, "spring");
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
                POL_SO3XR3, "spring");
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
  /* a given order is kept, and a given formulation */
  assert_choice(read_block("\"stiffness\": 1", "", "\"step\": 0.01, \"order\": 6"), "rattle", 6,
                POL_SO3XR3, "");
  assert_choice(read_block("\"stiffness\": 1e8", "", "\"step\": 0.01, \"formulation\": \"so3xr3\""),
                "geom1", 0, POL_SO3XR3, "spring");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates_are_found),
      cmocka_unit_test(stiff_models),
      cmocka_unit_test(smooth_models),
      cmocka_unit_test(other_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
