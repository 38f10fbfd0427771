/* Coupled four-bars, links of 1 m and 1 kg, as in the benchmark of IFToMM: in each flat position
 * many freedoms open at once.  Which redundant constraints are best left out changes on the way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

enum { SIZE = 100000 };

/* Appends a body and its comma: a rocker turned by an angle about y, or a coupler. */
static size_t add_body(char *text, size_t used, char kind, int i, double x, double z, double angle,
                       double turn)
{
  const int is_rocker = kind == 'r';
  const double inertia = is_rocker ? 0.08 : 0.001;
  used += (size_t)snprintf(
      text + used, SIZE - used,
      "{\"name\":\"%c%d\",\"mass\":1,\"inertia\":[%g,0.08,%g],\"position\":[%.17g,0,%.17g],"
      "\"rotation\":{\"axis\":[0,1,0],\"angle\":%.17g},\"velocity\":[%.17g,0,%.17g],"
      "\"angular_velocity\":[0,%g,0]},",
      kind, i, inertia, 0.081 - inertia, i + x, z, is_rocker ? angle : 0.0, turn * z,
      -turn * (is_rocker ? x : x - 0.5), is_rocker ? turn : 0.0);
  return used;
}

static size_t add_joint(char *text, size_t used, char kind, int i, const char *type, const char *a,
                        char b, int k, double x, double z)
{
  used += (size_t)snprintf(text + used, SIZE - used,
                           "{\"name\":\"%c%d\",\"type\":\"%s\",\"bodies\":[\"%s\",\"%c%d\"],"
                           "\"point\":[%.17g,0,%.17g]%s},",
                           kind, i, type, a, b, k, x, z,
                           strcmp(type, "spherical") ? ",\"axis\":[0,1,0]" : "");
  return used;
}

/* So many four-bars whose rockers start at an angle from the vertical and turn at a rate; with
 * joints that leave no constraint redundant, or with hinges. */
static pol_model *four_bars(int count, double angle, double turn, int lean)
{
  char *text = malloc(SIZE), name[16];
  assert_non_null(text);
  const double x = sin(angle), z = cos(angle);
  size_t used = (size_t)snprintf(text, SIZE, "{\"gravity\":[0,0,-9.81],\"bodies\":[");
  for (int i = 0; i <= count; i++)
    used = add_body(text, used, 'r', i, 0.5 * x, 0.5 * z, angle, turn);
  for (int i = 0; i < count; i++) used = add_body(text, used, 'c', i, 0.5 + x, z, angle, turn);
  used += (size_t)snprintf(text + used - 1, SIZE - used, "],\"joints\":[") - 1;
  for (int i = 0; i <= count; i++)
    used = add_joint(text, used, 'g', i, "revolute", "ground", 'r', i, i, 0.0);
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, "r%d", i);
    used = add_joint(text, used, 'a', i, lean ? "spherical" : "revolute", name, 'c', i, i + x, z);
    snprintf(name, sizeof name, "r%d", i + 1);
    used = add_joint(text, used, 'b', i, lean ? "cylindrical" : "revolute", name, 'c', i, i + 1 + x,
                     z);
  }
  snprintf(text + used - 1, SIZE - used,
           "],\"simulation\":{\"index\":\"stabilized-2\",\"step\":0.005,\"end\":3.5}}");
  pol_model *model = read_model_text(text);
  free(text);
  return model;
}

static void flat_positions_are_passed(void **state)
{
  (void)state;
  static const pol_solver_kind solvers[2] = {POL_SOLVER_AUTO, POL_SOLVER_SPARSE};
  for (int k = 0; k < 2; k++) {
    pol_model *model = four_bars(40, 0.0, 1.0, 0);
    model->settings.options.solver = solvers[k];
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Steps of both kinds pass flat positions, with few and with many four-bars; large ones are decided
 * by the sparse method. */
static void flat_positions_are_passed_by_all_steps(void **state)
{
  (void)state;
  static const int counts[] = {1, 10, 40};
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
    for (int variable = 0; variable < 2; variable++) {
      pol_model *model = four_bars(counts[k], 1.2, 2.0, 0);
      pol_control *control = &model->settings.options.control;
      model->settings.variable = variable;
      control->rtol = control->atol_translation = control->atol_rotation = 1e-5;
      model->settings.step = 1e-3;
      model->settings.end = 1.0;
      pol_simulation *simulation = start(model);
      step_to_end(simulation);
      const pol_summary *summary = pol_simulation_summary(simulation);
      assert_true(summary->singular.count > 0); /* else this test has lost its point */
      assert_true(summary->max_energy_drift < (variable ? 0.1 : 0.01) * counts[k]);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* What a four-bar loses of its energy through the flat positions depends on the tolerance, not on
 * how many there are: steps of second order lose about tolerance^(2/3). */
static void drift_falls_with_the_tolerance(void **state)
{
  (void)state;
  static const char *const methods[] = {"geom1", "rattle"};
  static const int counts[] = {1, 10, 40};
  for (int m = 0; m < 2; m++) {
    double first[2] = {0.0};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
      double drift[2];
      for (int fine = 0; fine < 2; fine++) {
        pol_model *model = four_bars(counts[k], 1.2, 2.0, 0);
        pol_control *control = &model->settings.options.control;
        pol_options_set_method(&model->settings.options, methods[m]);
        model->settings.options.index = POL_INDEX_3;
        model->settings.variable = 1;
        control->rtol = control->atol_translation = control->atol_rotation = fine ? 1e-6 : 1e-4;
        model->settings.end = 2.0;
        pol_simulation *simulation = start(model);
        step_to_end(simulation);
        assert_true(pol_simulation_summary(simulation)->singular.count > 0);
        drift[fine] = pol_simulation_summary(simulation)->max_energy_drift / counts[k];
        if (k == 0) first[fine] = drift[fine];
        pol_simulation_free(&simulation);
        pol_model_free(&model);
      }
      print_message("%s, %d four-bars: %g and %g J each\n", methods[m], counts[k], drift[0],
                    drift[1]);
      assert_true(drift[1] < drift[0] / 8.0);
      for (int fine = 0; fine < 2; fine++) assert_true(drift[fine] < 2.0 * first[fine]);
    }
  }
}

/* Parallelograms stay parallelograms: no coupler turns. */
static void check_couplers(const pol_simulation *simulation, int count)
{
  const pol_state *end = pol_simulation_state(simulation);
  for (int b = count + 1; b < 2 * count + 1; b++) {
    pol_body_state body;
    pol_formulation_body_state(pol_simulation_formulation(simulation), end->q, end->v, b, &body);
    assert_true(fabs(body.rotation[2]) < 1e-6);
  }
}

/* At small steps the round-off of the coordinates, over h and amplified by the singular position,
 * is far above that of the unknowns of a step; the iteration has to end all the same, and soon. */
static void small_steps_pass_flat_positions(void **state)
{
  static const struct {
    const char *method;
    pol_formulation_kind formulation;
  } runs[] = {{"em", POL_DIRECTORS},
              {"em", POL_EULER_PARAMETERS},
              {"em-g", POL_DIRECTORS},
              {"em-g", POL_EULER_PARAMETERS},
              {"midpoint", POL_EULER_PARAMETERS},
              {"vi-a", POL_DIRECTORS},
              {"vi-a", POL_EULER_PARAMETERS},
              {"vi-b", POL_DIRECTORS},
              {"rattle", POL_DIRECTORS}};
  (void)state;
  pol_model *model = four_bars(10, 1.4, 4.0, 0);
  model->settings.step = 1e-3;
  model->settings.end = 0.08;
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    pol_options_set_method(&model->settings.options, runs[i].method);
    model->settings.formulation = runs[i].formulation;
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_int_equal(summary->singular.count, 1); /* else this test has lost its point */
    assert_int_equal(summary->counts.rejected, 0);
    assert_true(summary->counts.newton_iterations < 5 * summary->counts.steps);
    check_couplers(simulation, 10);
    pol_simulation_free(&simulation);
  }
  pol_model_free(&model);
}

/* A step that ends in a flat position, or so close to it that round-off decides, is made without
 * the constraints that depend on others there. */
static void steps_end_in_flat_positions(void **state)
{
  static const struct {
    const char *method;
    pol_formulation_kind formulation;
    pol_index index;
    double middle; /* where in a step the constraints are satisfied, before its end */
  } runs[] = {{"geom1", POL_SO3XR3, POL_INDEX_3, 0.0},
              {"geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED, 0.0},
              {"em", POL_EULER_PARAMETERS, POL_INDEX_3, 0.0},
              {"rattle", POL_DIRECTORS, POL_INDEX_3, 0.0},
              {"vi-a", POL_EULER_PARAMETERS, POL_INDEX_3, 0.5}};
  static const double shifts[] = {1e-3, -1e-5, 1e-7}; /* in steps */
  (void)state;
  for (int lean = 0; lean < 2; lean++)
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
      pol_model *model = four_bars(3, 1.563, 4.0, lean);
      pol_settings *settings = &model->settings;
      pol_options_set_method(&settings->options, runs[i].method);
      settings->options.index = runs[i].index;
      settings->formulation = runs[i].formulation;
      settings->step = 1e-4;
      settings->end = 0.003;
      /* when it is flat */
      pol_simulation *simulation = start(model);
      step_to_end(simulation);
      assert_int_equal(pol_simulation_summary(simulation)->singular.count, 1);
      const double flat = pol_simulation_summary(simulation)->singular.t;
      pol_simulation_free(&simulation);
      for (size_t k = 0; k < sizeof shifts / sizeof shifts[0]; k++) {
        const double steps = floor(flat / 1e-4);
        settings->step = flat / (steps - runs[i].middle + shifts[k]);
        settings->end = (steps + 6.0) * settings->step;
        simulation = start(model);
        step_to_end(simulation);
        assert_int_equal(pol_simulation_summary(simulation)->singular.count, 1);
        assert_true(pol_simulation_summary(simulation)->max_position_residual < 1e-6);
        check_couplers(simulation, 3);
        pol_simulation_free(&simulation);
      }
      pol_model_free(&model);
    }
}

/* In index 2 a step across a flat position may lose energy: never without a word. */
static void losses_are_reported(void **state)
{
  (void)state;
  static const double steps[] = {1e-3, 2e-3, 2.5e-3, 4e-3};
  for (int count = 3; count <= 5; count++)
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
      pol_model *model = four_bars(count, 0.0, 1.0, 0);
      model->settings.options.index = POL_INDEX_2;
      model->settings.step = steps[k];
      model->settings.end = 10.0;
      pol_simulation *simulation = start(model);
      double kinetic = 0.0;
      pol_status status = POL_OK;
      while (status == POL_OK && !pol_simulation_finished(simulation)) {
        status = pol_simulation_step(simulation);
        kinetic = fmax(kinetic, pol_simulation_summary(simulation)->energy.kinetic);
      }
      const pol_summary *summary = pol_simulation_summary(simulation);
      int reported = 0;
      for (int i = 0; i < summary->num_warnings; i++)
        reported |= strstr(summary->warnings[i].message, "the energy changes by") != NULL;
      if (summary->max_energy_drift > 0.01 * kinetic && !reported)
        fail_msg("%d, %g: %g J", count, steps[k], summary->max_energy_drift);
      if (summary->max_energy_drift < 0.003 * kinetic) assert_false(reported);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* Tolerances so coarse that a four-bar loses a sixth of the energy of its motion are reported,
 * finer ones are not. */
static void coarse_tolerances_are_reported(void **state)
{
  (void)state;
  for (int coarse = 0; coarse < 2; coarse++) {
    pol_model *model = four_bars(1, 0.0, 1.0, 0);
    pol_control *control = &model->settings.options.control;
    model->settings.variable = 1;
    control->rtol = control->atol_translation = control->atol_rotation = coarse ? 1e-2 : 1e-4;
    model->settings.end = 1.0;
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    pol_simulation_review(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    int reported = 0;
    for (int i = 0; i < summary->num_warnings; i++)
      reported |= strstr(summary->warnings[i].message, "the energy balance has an error") != NULL;
    assert_true((summary->max_energy_drift > 5.0) == coarse);
    assert_int_equal(reported, coarse);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Steps in which rods turn far find the flat positions, and no others. */
static void coarse_steps_find_flat_positions(void **state)
{
  (void)state;
  static const char *const methods[] = {"geom1", "rattle"};
  for (int k = 0; k < 12; k++) {
    const int flat = k % 2;
    pol_model *model = flat ? four_bars(1, 0.0, 1.0, 0)
                            : read_model(POLHODE_SOURCE_DIR "/tests/data/loops/four_bar.json");
    pol_settings *settings = &model->settings;
    pol_options_set_method(&settings->options, methods[k / 2 % 2]);
    settings->variable = 1;
    pol_control *control = &settings->options.control;
    control->rtol = control->atol_translation = control->atol_rotation = pow(10.0, -3.0 - k / 4);
    settings->end = flat ? 1.0 : 3.0;
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    const pol_singular *found = &pol_simulation_summary(simulation)->singular;
    if ((found->count > 0) != flat || (flat && fabs(found->t - 0.7076) > 0.02))
      fail_msg("%d: %ld near %g s", k, (long)found->count, found->t);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* In index 2 the lengths drift, so that a deltoid does not pass a flat position but turns back just
 * before it, with small steps too: its flat positions, and only these, are found. */
static void drift_hides_no_flat_position(void **state)
{
  (void)state;
  static const char *const files[] = {"four_bar", "deltoid"};
  for (int k = 0; k < 8; k++) {
    const int flat = k % 2;
    char path[256];
    snprintf(path, sizeof path, "%s/tests/data/loops/%s.json", POLHODE_SOURCE_DIR, files[flat]);
    pol_model *model = read_model(path);
    pol_settings *settings = &model->settings;
    pol_control *control = &settings->options.control;
    pol_options_set_method(&settings->options, "geom1");
    settings->options.index = POL_INDEX_2;
    settings->variable = 1;
    control->rtol = control->atol_translation = control->atol_rotation = pow(10.0, -5.0 - k / 2);
    settings->end = flat ? 0.7 : 1.5;
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    const pol_singular *found = &summary->singular;
    assert_true(summary->max_position_residual > 1e-9);
    if (found->count != flat || (flat && fabs(found->t - 0.6078) > 0.005))
      fail_msg("%d: %ld near %g s", k, (long)found->count, found->t);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(flat_positions_are_passed),
                                     cmocka_unit_test(flat_positions_are_passed_by_all_steps),
                                     cmocka_unit_test(drift_falls_with_the_tolerance),
                                     cmocka_unit_test(small_steps_pass_flat_positions),
                                     cmocka_unit_test(steps_end_in_flat_positions),
                                     cmocka_unit_test(losses_are_reported),
                                     cmocka_unit_test(coarse_tolerances_are_reported),
                                     cmocka_unit_test(coarse_steps_find_flat_positions),
                                     cmocka_unit_test(drift_hides_no_flat_position)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
