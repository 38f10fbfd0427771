/* Analyses of models, for tests: where something fails, the test says why. */
#ifndef POLHODE_TESTS_ANALYSE_H
#define POLHODE_TESTS_ANALYSE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

#define assert_close(a, b, tolerance)                                                              \
  assert_near((const double[]){a}, (const double[]){b}, 1, tolerance)

static inline pol_analysis *analyse_at(const pol_mechanism *mechanism, double t)
{
  pol_analysis *analysis;
  pol_diagnostics d;
  if (pol_analysis_create(&analysis, mechanism, t, &d) != POL_OK)
    fail_msg("%s: %s", d.where, d.message);
  return analysis;
}

static inline pol_static_report balance(pol_analysis *analysis, int steps)
{
  pol_static_options options = pol_static_options_default();
  pol_static_report report;
  pol_diagnostics d;
  options.steps = steps;
  if (pol_analysis_equilibrium(analysis, &options, &report, &d) != POL_OK)
    fail_msg("%s: %s", d.where, d.message);
  return report;
}

static inline pol_modes *find_modes(pol_analysis *analysis, const pol_modes_options *options)
{
  pol_modes *modes;
  pol_diagnostics d;
  if (pol_modes_create(&modes, analysis, options, &d) != POL_OK)
    fail_msg("%s: %s", d.where, d.message);
  return modes;
}

static inline pol_linear *linearise(pol_analysis *analysis, const pol_linear_options *options)
{
  pol_linear *linear;
  pol_diagnostics d;
  pol_errors errors = {0, NULL};
  if (pol_linear_create(&linear, analysis, options, &errors, &d) != POL_OK)
    fail_msg("%s: %s", errors.count ? errors.items[0].value : d.where,
             errors.count ? errors.items[0].rule : d.message);
  return linear;
}

static inline pol_body_state body_at(const pol_analysis *analysis, int body)
{
  const pol_state *state = pol_analysis_state(analysis);
  pol_body_state found;
  pol_formulation_body_state(pol_analysis_formulation(analysis), state->q, state->v, body, &found);
  return found;
}

static inline double joint_at(const pol_analysis *analysis, const char *name)
{
  const pol_formulation *f = pol_analysis_formulation(analysis);
  const pol_point at = pol_state_point(pol_analysis_state(analysis));
  double value, rate;
  pol_formulation_joint_coordinate(
      f, &at, pol_mechanism_find_joint(pol_formulation_mechanism(f), name), 0, &value, &rate);
  return value;
}

/* Adds a thin rod in the xz plane, from the point `at` along an angle from x towards z, on a hinge
 * along y at its start to the body before (POL_GROUND for none).  Returns its index; `at` becomes
 * its other end. */
static inline int add_rod(pol_mechanism *mechanism, int before, double mass, double length,
                          double angle, double at[3])
{
  const double start[3] = {at[0], at[1], at[2]};
  char name[20];
  const int number = pol_mechanism_num_bodies(mechanism);
  const double c = cos(angle), s = sin(angle);
  int index;
  snprintf(name, sizeof name, "b%d", number);
  pol_body body = {.name = name, .mass = mass};
  for (int i = 0; i < 3; i++) {
    at[i] += length * (i == 0 ? c : i == 2 ? s : 0.0);
    body.position[i] = 0.5 * (start[i] + at[i]);
  }
  body.rotation[0] = cos(0.5 * angle);
  body.rotation[2] = -sin(0.5 * angle);
  body.inertia[4] = body.inertia[8] = mass * length * length / 12.0;
  body.inertia[0] = 0.01 * body.inertia[4];
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, &index), POL_OK);
  snprintf(name, sizeof name, "j%d", number);
  const pol_joint joint = {.name = name, .type = POL_REVOLUTE};
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &joint, before, index, start,
                                              (double[]){0.0, 1.0, 0.0}, NULL),
                   POL_OK);
  return index;
}

static inline pol_mechanism *start_mechanism(void)
{
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, (double[]){0.0, 0.0, -9.81});
  return mechanism;
}

#endif
