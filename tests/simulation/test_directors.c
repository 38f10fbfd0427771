/* Directors against the other coordinates: the heavy top's independent solution at second order, a
 * slider-crank and a double pendulum against so3xr3. */
#include "heavy_top_reference.h"
#include "simulation/heavy_top.h"
#include "simulation/simulate.h"

/* Largest errors over 0.5 s in stabilized index 2; its E = tr(J)/2 - J is singular for this top. */
static top_errors run_top(double step)
{
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  top_errors errors = {.q = 0.0};
  double lambda[3];
  settings.formulation = POL_DIRECTORS;
  settings.options.index = POL_INDEX_2_STABILIZED;
  settings.step = step;
  settings.end = 0.5;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    add_errors(pol_simulation_formulation(simulation), 0, pol_simulation_state(simulation), &errors,
               lambda);
  }
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return errors;
}

static void the_heavy_top_converges_at_second_order(void **state)
{
  (void)state;
  assert_int_equal(read_reference(POLHODE_SOURCE_DIR "/papers/data/heavy_top_grid.csv"), 0);
  top_errors coarse = run_top(1e-3), fine = run_top(5e-4);
  assert_near(&(double){log2(coarse.q / fine.q)}, &(double){2.0}, 1, 0.1);
  assert_near(&(double){log2(coarse.v / fine.v)}, &(double){2.0}, 1, 0.1);
  assert_near(&(double){log2(coarse.lambda / fine.lambda)}, &(double){2.0}, 1, 0.2);
}

/* A body's position at the end of a model file's run. */
static void final_position(const char *path, pol_formulation_kind kind, double step, double end,
                           const char *name, double position[3])
{
  pol_model *model = read_model(path);
  pol_body_state body;
  pol_settings settings = model->settings;
  settings.formulation = kind;
  settings.options.index = POL_INDEX_2_STABILIZED;
  settings.step = step;
  settings.end = end;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  step_to_end(simulation);
  const pol_state *now = pol_simulation_state(simulation);
  int index = 0;
  while (strcmp(pol_mechanism_body(model->mechanism, index)->name, name)) index++;
  pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, index, &body);
  memcpy(position, body.position, sizeof body.position);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Differences from so3xr3 fall with h^2. */
static void check_against_so3xr3(const char *path, double step, double end, const char *name)
{
  double difference[2];
  for (int k = 0; k < 2; k++) {
    double a[3], b[3], h = step / (k + 1);
    final_position(path, POL_DIRECTORS, h, end, name, a);
    final_position(path, POL_SO3XR3, h, end, name, b);
    for (int i = 0; i < 3; i++) a[i] -= b[i];
    difference[k] = norm(a, 3);
  }
  assert_true(difference[0] < 1e-3);
  assert_near(&(double){log2(difference[0] / difference[1])}, &(double){2.0}, 1, 0.25);
}

/* The slider's position at t = 2 from minimal coordinates in 30 digits. */
static void the_slider_crank_converges(void **state)
{
  (void)state;
  const double exact_position = 0.2890851970671418;
  double error[2];
  for (int k = 0; k < 2; k++) {
    double position[3];
    final_position(POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json",
                   POL_DIRECTORS, 2e-3 / (k + 1), 2.0, "slider", position);
    error[k] = fabs(position[0] - exact_position);
  }
  assert_near(&(double){log2(error[0] / error[1])}, &(double){2.0}, 1, 0.1);
}

static void the_double_pendulum_agrees(void **state)
{
  (void)state;
  check_against_so3xr3(POLHODE_SOURCE_DIR "/models/examples/double_pendulum.json", 1e-3, 1.0,
                       "lower");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_heavy_top_converges_at_second_order),
      cmocka_unit_test(the_slider_crank_converges),
      cmocka_unit_test(the_double_pendulum_agrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
