/* Beams in the methods that conserve energy and momenta: a free beam that was thrown, a pendulum, a
 * curved beam; their order against a Lie group method, and what damping takes out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define FLYING POLHODE_SOURCE_DIR "/models/beams/flying_beam.json"

typedef struct invariants {
  double energy;
  pol_momentum momentum;
} invariants;

static invariants invariants_of(const pol_simulation *simulation)
{
  const pol_formulation *f = pol_simulation_formulation(simulation);
  const pol_state *at = pol_simulation_state(simulation);
  const pol_point point = pol_state_point(at);
  pol_energy energy;
  invariants found;
  pol_formulation_energy(f, &point, &energy);
  pol_formulation_momentum(f, at->q, at->v, &found.momentum);
  found.energy = energy.kinetic + energy.potential;
  return found;
}

/* The flying beam with so many elements. */
static pol_model *flying(const char *strains, const char *elements, const char *method,
                         pol_formulation_kind kind, double step, double end)
{
  char text[3][60];
  snprintf(text[0], sizeof text[0], "beams[0].strains=%s", strains);
  snprintf(text[1], sizeof text[1], "beams[0].elements=%s", elements);
  snprintf(text[2], sizeof text[2], "simulation.rho_inf=1");
  pol_model *model = read_model_with(FLYING, 3, (const char *[]){text[0], text[1], text[2]});
  model->settings.options.method = method;
  model->settings.formulation = kind;
  model->settings.step = step;
  model->settings.end = end;
  return model;
}

static double length(const double x[3])
{
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* The largest relative changes of energy, momentum and angular momentum after t. */
static void find_drift(const pol_model *model, double t, double drift[3])
{
  pol_simulation *simulation = start(model);
  invariants then = {0.0, {{0.0}, {0.0}}};
  int started = 0;
  memset(drift, 0, 3 * sizeof *drift);
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    if (pol_simulation_state(simulation)->t < t - 1e-9) continue;
    const invariants now = invariants_of(simulation);
    if (!started) then = now;
    started = 1;
    double change[2][3];
    for (int i = 0; i < 3; i++) {
      change[0][i] = now.momentum.linear[i] - then.momentum.linear[i];
      change[1][i] = now.momentum.angular[i] - then.momentum.angular[i];
    }
    drift[0] = fmax(drift[0], fabs(now.energy / then.energy - 1.0));
    drift[1] = fmax(drift[1], length(change[0]) / length(then.momentum.linear));
    drift[2] = fmax(drift[2], length(change[1]) / length(then.momentum.angular));
  }
  pol_simulation_free(&simulation);
}

/* With steps so large that the loads act in 50 of them.  Velocities of em-g need not fit the
 * directors, so that spins are none of rigid bodies. */
static void flying_beam_keeps_energy_and_momenta(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    pol_formulation_kind kind;
    int conserves; /* so many of them */
  } runs[] = {{"em", POL_DIRECTORS, 3},
              {"em-g", POL_DIRECTORS, 2},
              {"em", POL_EULER_PARAMETERS, 3},
              {"geom1", POL_SO3XR3, 0},
              {"midpoint", POL_DIRECTORS, 0}};
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
    pol_model *model = flying("directors", "10", runs[k].method, runs[k].kind, 0.1, 35.0);
    double drift[3];
    find_drift(model, 5.1, drift);
    for (int i = 0; i < runs[k].conserves; i++) assert_true(drift[i] < 1e-12);
    if (!runs[k].conserves) assert_true(drift[0] > 1e-4);
    pol_model_free(&model);
  }
}

/* Where the nodes are at the end. */
static void find_nodes(pol_model *model, int every, double *x)
{
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *at = pol_simulation_state(simulation);
  const pol_formulation *f = pol_simulation_formulation(simulation);
  for (int k = every; k + 1 < pol_mechanism_num_bodies(model->mechanism); k += every) {
    pol_body_state node; /* those between the ends have their centre there */
    pol_formulation_body_state(f, at->q, at->v, k, &node);
    memcpy(x, node.position, sizeof node.position);
    x += 3;
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static double distance(const double *a, const double *b, int count)
{
  double sum = 0.0;
  for (int i = 0; i < count; i++) sum += pow(a[i] - b[i], 2.0);
  return sqrt(sum);
}

/* The same equations in both families: both methods have the same limit. */
static void both_families_have_the_same_limit(void **state)
{
  (void)state;
  static const char *const methods[] = {"em", "geom1"};
  static const pol_formulation_kind kinds[] = {POL_DIRECTORS, POL_SO3XR3};
  double x[2][3][27], limit[2][27];
  for (int k = 0; k < 2; k++) {
    for (int r = 0; r < 3; r++)
      find_nodes(flying("directors", "10", methods[k], kinds[k], 0.02 / (1 << r), 6.0), 1, x[k][r]);
    for (int i = 0; i < 27; i++) limit[k][i] = x[k][2][i] + (x[k][2][i] - x[k][1][i]) / 3.0;
  }
  const double coarse = distance(x[0][0], limit[1], 27), fine = distance(x[0][1], limit[1], 27);
  assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.15);
  assert_true(distance(limit[0], limit[1], 27) < 0.05 * fine);
}

/* The strains differ by errors of second order in the length of elements. */
static void strains_converge_to_each_other(void **state)
{
  (void)state;
  static const char *const elements[] = {"20", "40"};
  double apart[2];
  for (int k = 0; k < 2; k++) {
    double x[2][27];
    find_nodes(flying("directors", elements[k], "geom1", POL_SO3XR3, 0.02, 4.0), 2 * (k + 1), x[0]);
    find_nodes(flying("se3", elements[k], "geom1", POL_SO3XR3, 0.02, 4.0), 2 * (k + 1), x[1]);
    apart[k] = distance(x[0], x[1], 27);
  }
  assert_near(&(double){log2(apart[0] / apart[1])}, &(double){2.0}, 1, 0.2);
}

/* A beam on a ball joint swings and turns about the vertical; one that is an arc is free. */
#define SECTION                                                                                    \
  "\"elements\": 8, \"strains\": \"directors\", \"section\": {\"type\": \"circle\", \"radius\": "  \
  "0.01}, \"material\": {\"young\": 1e8, \"density\": 1000}%s"
#define PENDULUM                                                                                   \
  "{\"gravity\": [0, 0, -9.81], \"beams\": [{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, "     \
  "0]], \"angular_velocity_global\": [0, 0, 2], \"velocity\": [0, 0, 0], " SECTION                 \
  "}], \"joints\": [{\"name\": \"j\", \"type\": \"spherical\", \"markers\": [\"o\", "              \
  "\"b_first\"]}], \"markers\": [{\"name\": \"o\", \"body\": \"ground\"}], \"simulation\": "       \
  "{\"method\": \"em\", \"formulation\": \"directors\", \"step\": 0.02, \"end\": 10}}"
#define ARC                                                                                        \
  "{\"beams\": [{\"name\": \"b\", \"type\": \"arc\", \"points\": [[0, 0, 0], [1, 1, 0], [2, 0, "   \
  "0]], \"angular_velocity_global\": [3, 0, 2], \"velocity\": [0, 1, 1], " SECTION                 \
  "}], \"simulation\": {\"method\": \"em\", \"formulation\": \"directors\", \"step\": 0.02, "      \
  "\"end\": 10}}"

static pol_model *read_beam(const char *format, const char *more)
{
  char text[1200];
  snprintf(text, sizeof text, format, more);
  return read_model_text(text);
}

static void pendulum_and_arc_are_conserved(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    pol_model *model = read_beam(k ? ARC : PENDULUM, "");
    pol_simulation *simulation = start(model);
    const invariants then = invariants_of(simulation);
    const double size = fabs(then.energy) + 1.0;
    double strained = 0.0;
    while (!pol_simulation_finished(simulation)) {
      take_step(simulation);
      const invariants now = invariants_of(simulation);
      assert_true(fabs(now.energy - then.energy) < 1e-10 * size);
      assert_true(fabs(now.momentum.angular[2] - then.momentum.angular[2]) < 1e-10);
      for (int i = 0; i < 2 && k; i++) {
        assert_true(fabs(now.momentum.angular[i] - then.momentum.angular[i]) < 1e-10);
        assert_true(fabs(now.momentum.linear[i] - then.momentum.linear[i]) < 1e-10);
      }
      const pol_point point = pol_state_point(pol_simulation_state(simulation));
      pol_energy energy;
      pol_formulation_energy(pol_simulation_formulation(simulation), &point, &energy);
      if (k) strained = fmax(strained, energy.potential);
    }
    if (k) assert_true(strained > 1e-3 * then.energy); /* it does deform */
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* In every step, at steps far above the time constants of the damping. */
static void damping_takes_energy_out(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_DIRECTORS, POL_EULER_PARAMETERS};
  for (int k = 0; k < 2; k++) {
    pol_model *model = read_beam(ARC, ", \"damping\": 0.05");
    model->settings.formulation = kinds[k];
    model->settings.step = 0.05;
    pol_simulation *simulation = start(model);
    const invariants first = invariants_of(simulation);
    double before = first.energy;
    while (!pol_simulation_finished(simulation)) {
      take_step(simulation);
      const invariants now = invariants_of(simulation);
      assert_true(now.energy < before + 1e-12 * first.energy);
      for (int i = 0; i < 3; i++)
        assert_true(fabs(now.momentum.angular[i] - first.momentum.angular[i]) < 1e-10);
      before = now.energy;
    }
    assert_true(before < 0.999 * first.energy);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Strains that the methods would not conserve are refused with the reason; vi-a takes them. */
static void other_strains_are_refused(void **state)
{
  (void)state;
  static const char *const methods[] = {"em", "em-g", "vi-a"};
  for (int k = 0; k < 6; k++) {
    pol_model *model = flying("so3xr3", "4", methods[k % 3],
                              k < 3 ? POL_DIRECTORS : POL_EULER_PARAMETERS, 0.1, 1.0);
    pol_simulation *simulation;
    pol_diagnostics d;
    const pol_status status =
        pol_simulation_create(&simulation, model->mechanism, &model->settings, &d);
    assert_int_equal(status == POL_OK, k % 3 == 2);
    if (status)
      assert_non_null(strstr(d.message, "'beam_0_1' has so3xr3: set strains of the beam"));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flying_beam_keeps_energy_and_momenta),
      cmocka_unit_test(both_families_have_the_same_limit),
      cmocka_unit_test(strains_converge_to_each_other),
      cmocka_unit_test(pendulum_and_arc_are_conserved),
      cmocka_unit_test(damping_takes_energy_out),
      cmocka_unit_test(other_strains_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
