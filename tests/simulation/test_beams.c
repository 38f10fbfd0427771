/* The models of beams in motion: a cable that rests on its catenary, a cantilever that a
 * growing moment rolls up, a free beam whose momentum is that of the loads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

#define BEAMS POLHODE_SOURCE_DIR "/models/beams/"

/* Runs to the end. */
static pol_simulation *run_all(const pol_model *model)
{
  pol_simulation *simulation = start(model);
  while (!pol_simulation_finished(simulation))
    if (pol_simulation_step(simulation))
      fail_msg("%s", pol_simulation_diagnostics(simulation)->message);
  return simulation;
}

static pol_marker_state marker_of(const pol_simulation *simulation, const char *name)
{
  const pol_formulation *f = pol_simulation_formulation(simulation);
  const pol_state *at = pol_simulation_state(simulation);
  pol_marker_state found;
  pol_formulation_marker_state(
      f, at->q, at->v, pol_mechanism_find_marker(pol_formulation_mechanism(f), name), &found);
  return found;
}

/* 2 a sinh(1/(2 a)) = 1.2 */
static void cable_rests_on_its_catenary(void **state)
{
  (void)state;
  double a = 0.5;
  for (int k = 0; k < 50; k++)
    a -= (2.0 * a * sinh(0.5 / a) - 1.2) / (2.0 * sinh(0.5 / a) - cosh(0.5 / a) / a);
  pol_model *model = read_model(BEAMS "hanging_cable.json");
  model->settings.equilibrium = 1;
  pol_simulation *simulation = start(model);
  const pol_formulation *f = pol_simulation_formulation(simulation);
  const pol_state *at = pol_simulation_state(simulation);
  for (int k = 4; k <= 36; k += 4) {
    pol_body_state node;
    pol_formulation_body_state(f, at->q, at->v, k, &node);
    const double z = a * (cosh((node.position[0] - 0.5) / a) - cosh(0.5 / a));
    assert_true(fabs(node.position[2] - z) < 5e-4);
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* What is recorded of an element; x, y, z from the channel that ends with .x. */
static void recorded(const pol_simulation *simulation, const char *channel, double found[3])
{
  pol_record *record;
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  double *row = calloc((size_t)pol_record_count(record), sizeof *row);
  assert_non_null(row);
  pol_record_row(record, row);
  int at = 0;
  while (at < pol_record_count(record) &&
         strcmp(pol_record_channel(record, at)->name, channel) != 0)
    at++;
  assert_true(at + 2 < pol_record_count(record));
  memcpy(found, row + at, 3 * sizeof *row);
  free(row);
  pol_record_free(&record);
}

static void moment_rolls_a_cantilever_up(void **state)
{
  (void)state;
  pol_model *model = read_model(BEAMS "rolled_cantilever.json");
  pol_simulation *simulation = run_all(model);
  const pol_marker_state tip = marker_of(simulation, "beam_last");
  assert_true(hypot(tip.position[0], tip.position[1]) < 1e-4);
  assert_near(tip.rotation, ((double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}), 9, 1e-3);
  /* the moment is the same in all sections, and bends by 2 pi/L about z */
  const double moment = 2.0 * 3.14159265358979 * 2e11 * pow(0.02, 4.0) / 12.0;
  double value[3];
  recorded(simulation, "beam_3_4.torque_local.x", value);
  assert_near(value, ((double[]){0.0, 0.0, moment}), 3, 2e-3 * moment);
  recorded(simulation, "beam_3_4.curvature.x", value);
  assert_near(value, ((double[]){0.0, 0.0, 2.0 * 3.14159265358979}), 3, 1e-2);
  recorded(simulation, "beam_3_4.strain.x", value);
  assert_near(value, ((double[]){0.0, 0.0, 0.0}), 3, 1e-5);
  recorded(simulation, "beam_3_4.force_local.x", value);
  assert_near(value, ((double[]){0.0, 0.0, 0.0}), 3, 1e-3 * moment);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* The loads have the impulse 50 N s; afterwards nothing acts on the beam. */
static void flying_beam_keeps_its_momentum(void **state)
{
  (void)state;
  static const char *const methods[] = {"geom1", "geom2", "rattle"};
  for (int k = 0; k < 3; k++) {
    pol_model *model = read_model(BEAMS "flying_beam.json");
    pol_momentum then = {{0.0}, {0.0}}, now;
    pol_energy before = {0.0, 0.0}, after;
    model->settings.options.method = methods[k];
    model->settings.step = k == 2 ? 0.002 : 0.005;
    pol_simulation *simulation = start(model);
    const pol_formulation *f = pol_simulation_formulation(simulation);
    while (!pol_simulation_finished(simulation)) {
      if (pol_simulation_step(simulation))
        fail_msg("%s", pol_simulation_diagnostics(simulation)->message);
      const pol_state *at = pol_simulation_state(simulation);
      const pol_point point = pol_state_point(at);
      if (fabs(at->t - 5.1) > 1e-9 && !pol_simulation_finished(simulation)) continue;
      pol_formulation_momentum(f, at->q, at->v, pol_simulation_finished(simulation) ? &now : &then);
      pol_formulation_energy(f, &point, pol_simulation_finished(simulation) ? &after : &before);
    }
    assert_near(then.linear, ((double[]){50.0, 0.0, 0.0}), 3, 1e-3);
    assert_near(now.linear, then.linear, 3, 1e-8);
    /* rattle is symplectic; the others lose a little of both */
    assert_near(now.angular, then.angular, 3, k == 2 ? 1e-8 : 3e-3);
    const double start_energy = before.kinetic + before.potential;
    assert_true(fabs(after.kinetic + after.potential - start_energy) < 1e-4 * start_energy);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Where beam_10 is at the end of a flight of 6 s. */
static void fly(const char *method, int order, double h, double x[3])
{
  static const char *const undamped = "simulation.rho_inf=1";
  pol_model *model = read_model_with(BEAMS "flying_beam.json", 1, &undamped);
  pol_body_state node;
  model->settings.options.method = method;
  model->settings.options.order = order;
  model->settings.step = h;
  model->settings.end = 6.0;
  pol_simulation *simulation = run_all(model);
  const pol_state *at = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), at->q, at->v, 10, &node);
  memcpy(x, node.position, sizeof node.position);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static double apart(const double a[3], const double b[3])
{
  return sqrt(pow(a[0] - b[0], 2.0) + pow(a[1] - b[1], 2.0) + pow(a[2] - b[2], 2.0));
}

/* Elements are rows of rattle, stable where h w is 8 at the highest frequency of the beam.
 * The reference is the limit of geom1. */
static void rattle_takes_large_steps(void **state)
{
  (void)state;
  double coarse[3], fine[3], x[3], error[3];
  fly("geom1", 2, 0.0025, coarse);
  fly("geom1", 2, 0.00125, fine);
  for (int i = 0; i < 3; i++) fine[i] += (fine[i] - coarse[i]) / 3.0;
  for (int k = 0; k < 3; k++) {
    fly("rattle", k == 2 ? 4 : 2, k == 1 ? 0.01 : 0.02, x);
    error[k] = apart(x, fine);
  }
  assert_near(&(double){log2(error[0] / error[1])}, &(double){2.0}, 1, 0.2);
  assert_true(error[0] < 1e-3 && error[2] < 0.05 * error[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cable_rests_on_its_catenary),
      cmocka_unit_test(moment_rolls_a_cantilever_up),
      cmocka_unit_test(flying_beam_keeps_its_momentum),
      cmocka_unit_test(rattle_takes_large_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
