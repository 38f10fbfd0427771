/* Motions of beams: the spin-up manoeuvre, momenta of a flying beam, a pendulum, work of follower
 * loads, and rotations as a rigid body. */
#include "simulation/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* The end of a beam in the axes of another body. */
static void tip_from(const pol_simulation *simulation, int body, const char *marker,
                     double local[3])
{
  const pol_formulation *f = pol_simulation_formulation(simulation);
  const pol_state *at = pol_simulation_state(simulation);
  pol_body_state hub;
  pol_marker_state tip;
  double R[9];
  pol_formulation_body_state(f, at->q, at->v, body, &hub);
  pol_formulation_marker_state(
      f, at->q, at->v, pol_mechanism_find_marker(pol_formulation_mechanism(f), marker), &tip);
  pol_quat_to_matrix(hub.quaternion, R);
  for (int i = 0; i < 3; i++) {
    local[i] = 0.0;
    for (int j = 0; j < 3; j++) local[i] += R[3 * j + i] * (tip.position[j] - hub.position[j]);
  }
}

/* Simo and Vu-Quoc (1986): the tip lags by up to 0.58 (their figure), Wu and Haug (1988) 0.582; the
 * extension at 6 rad/s is 5.14e-4, which follows from the centrifugal force alone:
 * rho A w^2 L^3/(3 E A). */
static void spin_up_has_its_tip(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "beams/spin_up.json");
  pol_simulation *simulation = start(model);
  double tip[3], lowest = 0.0, when = 0.0, mean = 0.0;
  int count = 0;
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    const double t = pol_simulation_state(simulation)->t;
    tip_from(simulation, 0, "arm_last", tip);
    if (tip[1] < lowest) {
      lowest = tip[1];
      when = t;
    }
    if (t > 15.5) {
      mean += tip[0] - 10.0;
      count++;
    }
  }
  const double extension = 1.2 * 36.0 * 1000.0 / (3.0 * 2.8e7);
  assert_true(fabs(lowest / -0.58 - 1.0) < 0.02);
  assert_true(when > 6.0 && when < 7.5);
  assert_true(fabs(mean / count / extension - 1.0) < 0.02);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* What changes while the beam flies freely, from 5.01 s on: linear and angular momentum, energy,
 * relative to their sizes. */
static void free_flight(int count, const char *const *overrides, double changes[3])
{
  pol_model *model = read_model_with(MODELS "beams/flying_beam.json", count, overrides);
  pol_simulation *simulation = start(model);
  pol_momentum first = {0}, now;
  double at_first = 0.0;
  memset(changes, 0, 3 * sizeof *changes);
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    const pol_state *at = pol_simulation_state(simulation);
    const pol_point point = pol_state_point(at);
    pol_energy energy;
    if (at->t < 5.01) continue;
    pol_formulation_momentum(pol_simulation_formulation(simulation), at->q, at->v, &now);
    pol_formulation_energy(pol_simulation_formulation(simulation), &point, &energy);
    const double total = energy.kinetic + energy.potential;
    if (at_first == 0.0) {
      first = now;
      at_first = total;
    }
    for (int i = 0; i < 3; i++) {
      changes[0] = fmax(changes[0], fabs(now.linear[i] - first.linear[i]) / 50.0);
      changes[1] = fmax(changes[1], fabs(now.angular[i] - first.angular[i]) / 500.0);
    }
    changes[2] = fmax(changes[2], fabs(total / at_first - 1.0));
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Elements exert no resultant force or moment: the generalized-alpha method in se3 keeps momenta
 * and energy to second order, rattle the momenta to round-off and the energy near its first value.
 */
static void flying_beam_keeps_its_momenta(void **state)
{
  (void)state;
  double coarse[3], fine[3], rattle[3];
  free_flight(1, (const char *const[]){"simulation.end=10"}, coarse);
  free_flight(2, (const char *const[]){"simulation.step=0.01", "simulation.end=10"}, fine);
  free_flight(4,
              (const char *const[]){"simulation.method=rattle", "simulation.step=0.001",
                                    "simulation.end=7", "beams[0].elements=6"},
              rattle);
  for (int i = 0; i < 3; i++) {
    assert_true(coarse[i] < 1e-4);
    assert_true(fine[i] < 0.35 * coarse[i]);
    assert_true(rattle[i] < (i < 2 ? 1e-12 : 1e-6));
  }
}

/* A pendulum of rubber: its energy by small steps, without damping by the method. */
static void flexible_pendulum_keeps_its_energy(void **state)
{
  (void)state;
  double drift[2];
  for (int k = 0; k < 2; k++) {
    pol_model *model = read_model_with(
        MODELS "beams/flexible_pendulum.json", 3,
        (const char *const[]){"simulation.rho_inf=1", "simulation.end=0.6",
                              k == 0 ? "simulation.step=0.002" : "simulation.step=0.001"});
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    drift[k] = pol_simulation_summary(simulation)->max_energy_drift;
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
  assert_true(drift[1] < 0.35 * drift[0]);
}

/* Follower loads, by length and at the tip, that depend on time: the energy is their work, to
 * second order in the step. */
static void work_of_follower_loads_is_the_energy(void **state)
{
  (void)state;
  double off[2];
  for (int k = 0; k < 2; k++) {
    char text[1000];
    snprintf(
        text, sizeof text,
        "{\"beams\": [{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 8, "
        "\"start\": \"ground\", \"section\": {\"type\": \"circle\", \"radius\": 0.005}, "
        "\"material\": {\"young\": 5e8, \"density\": 1100}, \"loads\": [{\"name\": \"q\", "
        "\"force\": [0, 1, 2], \"moment\": [0.1, 0, 0], \"axes\": \"section\", \"from\": 0.33, "
        "\"scale\": {\"expression\": \"sin(10*t)\"}}]}], \"forces\": [{\"name\": \"p\", "
        "\"type\": \"force\", \"marker\": \"b_last\", \"frame\": \"marker\", \"force\": [-1, "
        "0, 0.5]}], \"simulation\": {\"method\": \"geom1\", \"rho_inf\": 1, \"step\": %g, "
        "\"end\": 0.5}}",
        k == 0 ? 0.002 : 0.001);
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    /* the work is summed up by the trapezoidal rule, of second order as well */
    off[k] = fabs(summary->energy.kinetic + summary->energy.potential - summary->work.applied);
    assert_true(fabs(summary->work.applied) > 0.01);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
  assert_true(off[1] < 0.35 * off[0]);
}

/* A deformed beam that is turned and moved as a rigid body has the same energy, and forces that
 * turn with it, up to round-off: both kinds of strains. */
static void rigid_motions_change_no_strain(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    pol_model *model = read_model_with(
        MODELS "beams/flying_beam.json", 2,
        (const char *const[]){kind == 0 ? "beams[0].strains=se3" : "beams[0].strains=so3xr3",
                              "simulation.end=2.5"});
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    const pol_formulation *f = pol_simulation_formulation(simulation);
    pol_state at = *pol_simulation_state(simulation);
    const int num_bodies = pol_mechanism_num_bodies(pol_formulation_mechanism(f));
    double *q = malloc((size_t)(7 * num_bodies) * sizeof *q);
    pol_body_state *bodies = malloc((size_t)num_bodies * sizeof *bodies);
    const double axis[3] = {1.1, -0.7, 2.0}, shift[3] = {3.0, -2.0, 5.0};
    double turn[4], R[9];
    pol_so3_exp(axis, turn);
    pol_quat_to_matrix(turn, R);
    for (int b = 0; b < num_bodies; b++) {
      pol_body_state from;
      pol_formulation_body_state(f, at.q, at.v, b, &from);
      bodies[b] = (pol_body_state){0};
      pol_quat_multiply(turn, from.quaternion, bodies[b].quaternion);
      for (int i = 0; i < 3; i++) {
        bodies[b].position[i] = shift[i];
        for (int j = 0; j < 3; j++) bodies[b].position[i] += R[3 * i + j] * from.position[j];
      }
    }
    pol_point here = pol_state_point(&at);
    pol_energy before, after;
    pol_formulation_energy(f, &here, &before);
    assert_true(before.potential > 1.0);
    for (int b = 0; b < num_bodies; b++) { /* so3xr3: quaternion, position */
      memcpy(q + 7 * b, bodies[b].quaternion, 4 * sizeof *q);
      memcpy(q + 7 * b + 4, bodies[b].position, 3 * sizeof *q);
    }
    here.q = q;
    pol_formulation_energy(f, &here, &after);
    assert_true(fabs(after.potential / before.potential - 1.0) < 1e-12);
    free(q);
    free(bodies);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Under an end load of three times E A the law of the elements goes on through the length zero; the
 * run stops there and names the first element that is turned inside out, the loaded one. */
static void crushed_beam_stops(void **state)
{
  (void)state;
  static const char *const strains[] = {"se3", "so3xr3", "directors"};
  static const char *const methods[] = {"\"geom1\"", "\"rattle\"",
                                        "\"em\", \"formulation\": \"directors\""};
  for (int k = 0; k < 9; k++) {
    char text[1000];
    const int is_em = k / 3 == 2;
    snprintf(
        text, sizeof text,
        "{\"beams\": [{\"name\": \"rod\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 4, "
        "\"section\": {\"type\": \"rectangle\", \"width\": 0.1, \"height\": 0.1}, "
        "\"material\": {\"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}, \"damping\": "
        "0.01, \"start\": \"ground\", \"strains\": \"%s\"}], \"forces\": [{\"name\": "
        "\"push\", \"type\": \"force\", \"marker\": \"rod_last\", \"force\": [-3000, 0, 0]}], "
        "\"simulation\": {\"method\": %s, \"step\": 1e-4, \"end\": 0.1}}",
        strains[is_em ? 2 : k % 3], methods[k / 3]);
    if (is_em && k % 3 > 0) break; /* takes one kind of strains */
    pol_model *model = NULL;
    pol_errors errors = {0};
    assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_OK);
    pol_simulation *simulation = start(model);
    pol_status status = POL_OK;
    while (!status && !pol_simulation_finished(simulation))
      status = pol_simulation_step(simulation);
    const pol_diagnostics *found = pol_simulation_diagnostics(simulation);
    assert_int_not_equal(status, POL_OK);
    assert_string_equal(found->where, "force 'rod_3_4'");
    assert_non_null(strstr(found->message, "turned inside out"));
    /* the last state is one before that: the loaded element has a length */
    double tip[3], last[3];
    tip_from(simulation, 3, "rod_last", tip);
    tip_from(simulation, 3, "rod_first", last);
    assert_true(tip[0] > 0.0 && last[0] < 0.0);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spin_up_has_its_tip),
      cmocka_unit_test(flying_beam_keeps_its_momenta),
      cmocka_unit_test(flexible_pendulum_keeps_its_energy),
      cmocka_unit_test(work_of_follower_loads_is_the_energy),
      cmocka_unit_test(rigid_motions_change_no_strain),
      cmocka_unit_test(crushed_beam_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
