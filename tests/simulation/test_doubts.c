/* Runs that are wrong although no step fails must say so, with the probable reason; and no model
 * that comes with the program gives a warning at its own settings. */
#define _POSIX_C_SOURCE 200809L

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "simulation/parts.h"
#include "simulation/simulate.h"

/* The warning that contains these words, or NULL. */
static const char *find_warning(const pol_simulation *simulation, const char *words)
{
  const pol_summary *summary = pol_simulation_summary(simulation);
  for (int i = 0; i < summary->num_warnings; i++)
    if (strstr(summary->warnings[i].message, words) != NULL) return summary->warnings[i].message;
  return NULL;
}

/* Models whose runs end, at these settings, with something that is wrong by orders of magnitude. */
static const struct {
  const char *what, *text, *warning, *reason;
} wrong[] = {
    {"a free body in Euler parameters, index 3 without numerical damping",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 2, 3], \"angular_velocity\": "
     "[10, 0.5, 4.8]}], \"simulation\": {\"formulation\": \"euler-parameters\", \"index\": 3, "
     "\"rho_inf\": 1, \"step\": 0.01, \"end\": 10}}",
     "energy balance", "rho_inf"},
    {"the same: velocities",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 2, 3], \"angular_velocity\": "
     "[10, 0.5, 4.8]}], \"simulation\": {\"formulation\": \"euler-parameters\", \"index\": 3, "
     "\"rho_inf\": 1, \"step\": 0.01, \"end\": 10}}",
     "velocity constraints", "rho_inf"},
    {"a stiff spring at a step far above its period",
     "{\"bodies\": [{\"name\": \"a\", \"type\": \"point\", \"mass\": 1, \"position\": [0, 0, "
     "-1]}], "
     "\"markers\": [{\"name\": \"g\", \"body\": \"ground\"}, {\"name\": \"p\", \"body\": \"a\"}], "
     "\"forces\": [{\"name\": \"s\", \"type\": \"spring-damper\", \"markers\": [\"g\", \"p\"], "
     "\"stiffness\": 1e8, \"damping\": 0, \"length\": 0.9}], \"simulation\": {\"step\": 0.01, "
     "\"end\": 1, \"rho_inf\": 0.5}}",
     "energy balance", "smaller step"},
    {"a pendulum in a few steps of a whole swing each",
     "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, "
     "0.1, 0.1], \"position\": [1, 0, 0]}], \"joints\": [{\"name\": \"h\", \"type\": \"revolute\", "
     "\"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": [0, 1, 0]}], "
     "\"simulation\": {\"step\": 1.5, \"end\": 6, \"rho_inf\": 0}}",
     "energy balance", "few steps"},
    {"a stiff damper far from the origin, without numerical damping",
     "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, "
     "0.1, 0.1], \"position\": [10000, 0, 0]}], \"forces\": [{\"name\": \"s\", \"type\": "
     "\"support\", "
     "\"body\": \"a\", \"anchor\": [10000, 0, -0.1], \"stiffness\": 1e3, \"damping\": 1e5}], "
     "\"simulation\": {\"step\": 0.01, \"end\": 1, \"method\": \"newmark\", \"start\": "
     "\"classical\"}}",
     "energy balance", "smaller step"},
    {"a long run in index 2",
     "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"type\": \"point\", \"mass\": "
     "1, "
     "\"position\": [1, 0, 0]}], \"markers\": [{\"name\": \"g\", \"body\": \"ground\"}, {\"name\": "
     "\"p\", \"body\": \"a\"}], \"joints\": [{\"name\": \"d\", \"type\": \"distance\", "
     "\"markers\": "
     "[\"g\", \"p\"], \"length\": 1}], \"simulation\": {\"index\": 2, \"step\": 0.2, \"end\": 100, "
     "\"rho_inf\": 0.9}}",
     "position constraints", "index 2"},
    /* steps follow what expressions compare, but not reactions */
    {"a hit that variable steps pass over",
     "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [-5.03, "
     "0.02, 0], \"velocity\": [1, 0, 0]}, {\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], "
     "\"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"b\"], "
     "\"point\": [0, 0, 0], \"axis\": [0, 0, 1]}], \"variables\": [{\"name\": \"d\", "
     "\"expression\": "
     "\"hypot(a.position.x, a.position.y) + pin.force.x\"}], \"forces\": [{\"name\": \"hit\", "
     "\"type\": "
     "\"force\", \"body\": \"a\", \"force\": [\"1e4*max(0, 0.1 - d)*a.position.x/d\", 0, 0]}], "
     "\"simulation\": {\"rtol\": 1e-6, \"end\": 12}}",
     "force 'hit'", "control.max_step"},
};

static void wrong_runs_are_doubted(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    pol_errors errors = {0, NULL};
    pol_model *model = NULL;
    pol_simulation *simulation = NULL;
    pol_status status = pol_model_read_text(&model, wrong[k].text, 0, NULL, &errors);
    if (status == POL_OK)
      status = pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL);
    if (status != POL_OK) { /* a refusal is as good as a warning */
      assert_int_equal(status, POL_BAD_ARGUMENT);
      pol_errors_clear(&errors);
      pol_model_free(&model);
      continue;
    }
    while (status == POL_OK && !pol_simulation_finished(simulation))
      status = pol_simulation_step(simulation);
    if (status != POL_OK) { /* so is a failure, which has its own message */
      assert_true(pol_simulation_diagnostics(simulation)->message[0] != '\0');
      pol_simulation_free(&simulation);
      pol_model_free(&model);
      continue;
    }
    const char *warning = find_warning(simulation, wrong[k].warning);
    const pol_summary *s = pol_simulation_summary(simulation);
    if (warning == NULL || strstr(warning, wrong[k].reason) == NULL)
      fail_msg("%s: %s (balance %g, |Phi| %g, |V| %g)", wrong[k].what,
               warning != NULL ? warning : "no warning", s->energy_balance,
               s->max_position_residual, s->max_velocity_residual);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Constraints of coordinates are pure numbers, which a size of micrometres says nothing about. */
static void small_mechanisms_are_not_doubted(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_EULER_PARAMETERS, POL_DIRECTORS};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    pol_model *model = read_model_text(
        "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1e-9, \"inertia\": "
        "[1e-18, 1e-18, 1e-18], \"position\": [1e-4, 0, 0]}], \"joints\": [{\"name\": \"h\", "
        "\"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": "
        "[0, "
        "1, 0]}], \"simulation\": {\"step\": 1e-4, \"end\": 0.1, \"index\": 2}}");
    model->settings.formulation = kinds[k];
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    pol_simulation_review(simulation);
    const pol_summary *s = pol_simulation_summary(simulation);
    if (s->num_warnings > 0)
      fail_msg("%s: %s", pol_formulation_name(kinds[k]), s->warnings[0].message);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* What no correct program lets happen is put into the simulation by hand. */
static void broken_promises_are_doubted(void **state)
{
  (void)state;
  pol_model *model = read_model(POLHODE_SOURCE_DIR "/models/examples/pendulum.json");
  pol_simulation *simulation = start(model);
  take_step(simulation);
  pol_simulation_review(simulation);
  assert_int_equal(pol_simulation_summary(simulation)->num_warnings, 0);

  simulation->q[0] *= 1.001;
  pol_simulation_review(simulation);
  assert_non_null(find_warning(simulation, "norm of a quaternion"));

  simulation->summary.counts.steps = 100;
  simulation->summary.counts.newton_iterations = 60 * simulation->options.newton.max_iterations;
  pol_simulation_review(simulation);
  assert_non_null(find_warning(simulation, "Newton's method needs"));

  simulation->summary.counts.rejected = 311;
  pol_simulation_review(simulation);
  assert_non_null(find_warning(simulation, "311 steps were rejected"));

  simulation->summary.max_position_residual = 0.1;
  pol_simulation_review(simulation);
  assert_non_null(find_warning(simulation, "position constraints"));

  /* each is listed once */
  const int count = pol_simulation_summary(simulation)->num_warnings;
  assert_int_equal(count, 4);
  pol_simulation_review(simulation);
  assert_int_equal(pol_simulation_summary(simulation)->num_warnings, count);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* What rests has no energy to compare with; round-off and Newton's tolerance are not to be doubted.
 */
static void rest_is_not_doubted(void **state)
{
  (void)state;
  static const char *const gravity[] = {"[0, 0, -9.81]", "[0, 0, 0]"};
  /* without weight the turned body and its turned joint move by round-off only */
  for (int k = 0; k < 2; k++) {
    char text[600];
    snprintf(
        text, sizeof text,
        "{\"gravity\": %s, \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, 0.1, "
        "0.1], \"position\": [0%s, -1]%s}], \"joints\": [{\"name\": \"h\", \"type\": "
        "\"universal\", \"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], \"axes\": [[0, "
        "1, 0], [1, 0, 0]]}], \"simulation\": {\"step\": 0.01, \"end\": 1}}",
        gravity[k], k ? ".1, 0.3" : ", 0",
        k ? ", \"rotation\": {\"axis\": [1, 2, 3], \"angle\": 0.7}" : "");
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    assert_int_equal(pol_simulation_summary(simulation)->num_warnings, 0);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* An arm that a drive holds still: its load does work over round-off, and nothing else is there. */
static void what_is_held_under_load_is_not_doubted(void **state)
{
  (void)state;
  for (int kind = 0; kind < POL_TAIT_BRYAN; kind++) {
    pol_model *model = read_model_text(
        "{\"bodies\": [{\"name\": \"arm\", \"mass\": 2, \"inertia\": [0.1, 0.2, 0.2], "
        "\"position\": "
        "[0.37, 0.21, 0.11], \"rotation\": {\"rotation_vector\": [0.3, 0.2, 0.7]}}], \"joints\": "
        "[{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"arm\"], "
        "\"point\": [0.01, 0.02, 0.03], \"axis\": [0.3, 0.2, 0.9]}], \"forces\": [{\"name\": "
        "\"load\","
        " \"type\": \"force\", \"body\": \"arm\", \"force\": [3.1, -6.9, 6.2], \"frame\": "
        "\"global\","
        " \"scale\": {\"type\": \"harmonic\", \"amplitude\": 0.4, \"frequency\": 2.5, \"offset\": "
        "0.8}}], \"drives\": [{\"name\": \"brake\", \"joint\": \"hinge\", \"coordinate\": "
        "\"rotation\", \"function\": {\"type\": \"constant\", \"value\": 0}}], \"simulation\": "
        "{\"step\": 0.00625, \"end\": 0.1, \"index\": 3, \"newton\": {\"tolerance\": 1e-12}}}");
    model->settings.formulation = (pol_formulation_kind)kind;
    if (kind != POL_SO3_PIVOT) {
      pol_simulation *simulation = start(model);
      step_to_end(simulation);
      assert_true(pol_simulation_summary(simulation)->energy.kinetic < 1e-20);
      assert_int_equal(pol_simulation_summary(simulation)->num_warnings, 0);
      pol_simulation_free(&simulation);
    }
    pol_model_free(&model);
  }
}

static void shipped_models_are_not_doubted(void **state)
{
  (void)state;
  glob_t found;
  assert_int_equal(glob(POLHODE_SOURCE_DIR "/models/*/*.json", 0, NULL, &found), 0);
  assert_true(found.gl_pathc >= 30);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    pol_model *model = read_model(found.gl_pathv[i]);
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    for (int k = 0; k < summary->num_warnings; k++)
      fail_msg("%s: %s", found.gl_pathv[i], summary->warnings[k].message);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
  globfree(&found);
}

/* Warnings that differ in a number are one kind; what has no words of its own is known by its text;
 * and there are no more than the summary has room for. */
static void each_kind_is_listed_once(void **state)
{
  (void)state;
  pol_model *model = read_model(POLHODE_SOURCE_DIR "/models/examples/pendulum.json");
  pol_simulation *simulation = start(model);
  const pol_summary *summary = pol_simulation_summary(simulation);
  assert_int_equal(summary->num_warnings, 0);
  for (int i = 0; i < 3; i++) {
    poli_simulation_warn(simulation, i, "an error of %d", i);
    poli_simulation_warn(simulation, i, "%s", "the method suits no friction");
    poli_simulation_warn(simulation, i, "%s", "the step is long");
  }
  assert_int_equal(summary->num_warnings, 3);
  assert_string_equal(summary->warnings[0].message, "an error of 0");
  assert_string_equal(summary->warnings[1].message, "the method suits no friction");
  assert_string_equal(summary->warnings[2].message, "the step is long");
  for (int i = 0; i < 3; i++) assert_true(summary->warnings[i].t == 0.0);
  for (int i = 0; i < 2 * POL_MAX_WARNINGS; i++) {
    char text[32];
    snprintf(text, sizeof text, "doubt %d", i);
    poli_simulation_warn(simulation, 5.0, "%s", text);
  }
  assert_int_equal(summary->num_warnings, POL_MAX_WARNINGS);
  assert_string_equal(summary->warnings[POL_MAX_WARNINGS - 1].message, "doubt 8");
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_runs_are_doubted),
      cmocka_unit_test(small_mechanisms_are_not_doubted),
      cmocka_unit_test(broken_promises_are_doubted),
      cmocka_unit_test(rest_is_not_doubted),
      cmocka_unit_test(each_kind_is_listed_once),
      cmocka_unit_test(what_is_held_under_load_is_not_doubted),
      cmocka_unit_test(shipped_models_are_not_doubted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
