/* The models of flexible bodies against closed forms, beams that are geometrically exact, and rigid
 * bodies. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <polhode/analysis.h>

#include "simulation/simulate.h"

#define FLEXIBLE POLHODE_SOURCE_DIR "/models/flexible/"

static const double two_pi = 6.28318530717958647692;

/* Hinged at one end, free at the other: tan b = tanh b; across the hinge's axis it is clamped: cos
 * b cosh b = -1.  The section is 20 mm x 10 mm, 1 m long. */
static void pendulum_has_the_frequencies_of_its_rod(void **state)
{
  (void)state;
  static const struct {
    double root, height;
  } exact[] = {{3.926602312, 0.01}, {7.068582746, 0.01}, {1.875104069, 0.02}, {4.694091133, 0.02}};
  const char *const still[] = {"gravity=[0, 0, 0]", "flexible_bodies[0].modes=8"};
  pol_model *model = read_model_with(FLEXIBLE "pendulum.json", 2, still);
  pol_analysis *analysis;
  pol_modes *modes;
  assert_int_equal(pol_analysis_create(&analysis, model->mechanism, 0.0, NULL), POL_OK);
  assert_int_equal(pol_modes_create(&modes, analysis, NULL, NULL), POL_OK);
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
    const double speed =
        exact[i].root * exact[i].root * exact[i].height * sqrt(2.1e10 / 7800.0 / 12.0);
    double nearest = 1.0;
    for (int k = 0; k < pol_modes_count(modes); k++)
      nearest = fmin(nearest, fabs(two_pi * pol_modes_get(modes, k)->frequency / speed - 1.0));
    if (!(nearest < 2e-3)) fail_msg("%zu: off by %g", i, nearest);
  }
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

static void point_of(const pol_simulation *simulation, const char *name, double x[3])
{
  const pol_formulation *f = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(f);
  const pol_state *at = pol_simulation_state(simulation);
  const int marker = pol_mechanism_find_marker(mechanism, name);
  pol_marker_state m;
  pol_body_state b;
  if (marker >= 0)
    pol_formulation_marker_state(f, at->q, at->v, marker, &m);
  else
    pol_formulation_body_state(f, at->q, at->v, pol_mechanism_find_body(mechanism, name), &b);
  memcpy(x, marker >= 0 ? m.position : b.position, 3 * sizeof *x);
}

/* The middle of the rod from the line between its ends, in the plane of the motion. */
static double deflection(const pol_simulation *simulation, const char *const names[3])
{
  double p[3][3];
  for (int i = 0; i < 3; i++) point_of(simulation, names[i], p[i]);
  const double dx = p[2][0] - p[0][0], dy = p[2][1] - p[0][1];
  return ((p[1][1] - p[0][1]) * dx - (p[1][0] - p[0][0]) * dy) / hypot(dx, dy);
}

/* At 15 rad/s the axial forces of the rod are 0.2 % of its buckling load, which a floating frame
 * with linear elasticity neglects. */
static void rod_of_the_slider_crank_bends_as_a_beam(void **state)
{
  (void)state;
  static const char *const names[2][3] = {{"rod.crank", "rod.middle", "rod.slider"},
                                          {"rod_first", "rod_16", "rod_last"}};
  const char *const slow[] = {"parameters.speed=15", "simulation.step=2e-4", "simulation.end=0.3"};
  pol_model *models[2] = {read_model_with(FLEXIBLE "slider_crank.json", 3, slow),
                          read_model_with(FLEXIBLE "slider_crank_beam.json", 3, slow)};
  pol_simulation *runs[2] = {start(models[0]), start(models[1])};
  double largest = 0.0, apart = 0.0;
  while (!pol_simulation_finished(runs[0])) {
    double d[2];
    for (int i = 0; i < 2; i++) {
      assert_int_equal(pol_simulation_step(runs[i]), POL_OK);
      d[i] = deflection(runs[i], names[i]);
    }
    largest = fmax(largest, fabs(d[1]));
    apart = fmax(apart, fabs(d[0] - d[1]));
  }
  print_message("deflection %.3g m, apart %.2f %%\n", largest, 100.0 * apart / largest);
  assert_true(largest > 2e-5);
  assert_true(apart < 0.01 * largest);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pol_simulation_summary(runs[i])->num_warnings, 0);
    pol_simulation_free(&runs[i]);
    pol_model_free(&models[i]);
  }
}

/* The rod turns with up to half the speed of the crank.  0.13 3.516/22.37 of its lowest free
 * frequency, 299.47 Hz, are 38.45 rad/s: above it a warning, of the floating frame alone. */
static void fast_rod_is_doubted(void **state)
{
  (void)state;
  static const struct {
    const char *model, *speed;
    int warnings;
  } cases[] = {{FLEXIBLE "slider_crank.json", "parameters.speed=76", 0},
               {FLEXIBLE "slider_crank.json", "parameters.speed=78", 1},
               {FLEXIBLE "slider_crank_beam.json", "parameters.speed=78", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const overrides[] = {cases[i].speed, "simulation.end=4e-4"};
    pol_model *model = read_model_with(cases[i].model, 2, overrides);
    pol_simulation *simulation = start(model);
    while (!pol_simulation_finished(simulation))
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_int_equal(summary->num_warnings, cases[i].warnings);
    if (cases[i].warnings)
      assert_non_null(strstr(summary->warnings[0].message, "'rod' rotates faster than 38.4 rad/s"));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A stiff rod moves as the rigid one with its mass and moments of inertia. */
static void stiff_rod_is_rigid(void **state)
{
  (void)state;
  const char *const stiff[] = {"parameters.E=2e15", "simulation.end=0.5", "simulation.step=1e-4"};
  pol_model *flexible = read_model_with(FLEXIBLE "spatial_slider_crank.json", 3, stiff);
  const pol_body *rod =
      pol_mechanism_body(flexible->mechanism, pol_mechanism_find_body(flexible->mechanism, "rod"));
  char mass[80], inertia[200];
  snprintf(mass, sizeof mass, "bodies.rod.mass=%.17g", rod->mass);
  snprintf(inertia, sizeof inertia, "bodies.rod.inertia=[%.17g, %.17g, %.17g]", rod->inertia[0],
           rod->inertia[4], rod->inertia[8]);
  const char *const same[] = {mass,
                              inertia,
                              "simulation.end=0.5",
                              "simulation.step=1e-4",
                              "simulation.index=stabilized-2",
                              "simulation.start=default"};
  pol_model *rigid = read_model_with(
      POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json", 6, same);
  pol_simulation *runs[2] = {start(flexible), start(rigid)};
  double x[2][3];
  for (int i = 0; i < 2; i++) {
    step_to_end(runs[i]);
    point_of(runs[i], "slider", x[i]);
  }
  print_message("slider at %.10g m, rigid %.10g m\n", x[0][0], x[1][0]);
  assert_true(fabs(x[0][0] - x[1][0]) < 1e-7);
  assert_true(fabs(x[1][0] - 0.2) > 1e-3);
  pol_simulation_free(&runs[0]);
  pol_simulation_free(&runs[1]);
  pol_model_free(&flexible);
  pol_model_free(&rigid);
}

static void slider_at(const char *sigma, const char *step, double x[3])
{
  char method[60], size[60];
  snprintf(method, sizeof method, "simulation.sigma=%s", sigma);
  snprintf(size, sizeof size, "simulation.step=%s", step);
  const char *const overrides[] = {method, size, "simulation.end=0.4", "parameters.E=2e9"};
  pol_model *model = read_model_with(FLEXIBLE "spatial_slider_crank.json", 4, overrides);
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  point_of(simulation, "slider", x);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Holzinger, Arnold and Gerstmayr: for flexible bodies in a floating frame the accuracy of the
 * sigma methods is comparable to that of geom1; all have second order. */
static void sigma_is_as_accurate_as_geom1(void **state)
{
  (void)state;
  static const char *const sigmas[] = {"0", "optimal", "1"};
  double exact[3], x[3], errors[3][2];
  slider_at("0", "2e-5", exact);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 2; k++) {
      slider_at(sigmas[i], k ? "2.5e-4" : "5e-4", x);
      errors[i][k] = fabs(x[0] - exact[0]);
    }
    print_message("sigma %s: %.3g and %.3g m\n", sigmas[i], errors[i][0], errors[i][1]);
    assert_true(fabs(log2(errors[i][0] / errors[i][1]) - 2.0) < 0.2);
    assert_true(fabs(errors[i][1] / errors[0][1] - 1.0) < 0.2);
  }
}

/* The energy balance of the motor, gravity and the damping closes. */
static void four_bar_runs(void **state)
{
  (void)state;
  const char *const brief[] = {"simulation.end=0.6"};
  pol_model *model = read_model_with(FLEXIBLE "four_bar.json", 1, brief);
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  double x[3], y[3];
  point_of(simulation, "coupler.crank", x);
  assert_true(fabs(hypot(x[0], x[2]) - 0.1) < 1e-9); /* on the crank's circle */
  point_of(simulation, "coupler.rocker", y);
  assert_true(fabs(hypot(y[0] - 0.2, y[2]) - 0.2) < 1e-9);
  const double length = hypot(y[0] - x[0], y[2] - x[2]);
  assert_true(fabs(length - 0.223606797749979) < 1e-5);
  assert_true(fabs(x[1]) < 1e-9 && fabs(y[1]) < 1e-9);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(pendulum_has_the_frequencies_of_its_rod),
                                     cmocka_unit_test(rod_of_the_slider_crank_bends_as_a_beam),
                                     cmocka_unit_test(fast_rod_is_doubted),
                                     cmocka_unit_test(stiff_rod_is_rigid),
                                     cmocka_unit_test(sigma_is_as_accurate_as_geom1),
                                     cmocka_unit_test(four_bar_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
