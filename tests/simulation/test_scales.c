/* Mechanisms of micrometres and of megametres move as those of metres do.
 *
 * Lengths times s, masses times s^2, inertias times s^4 and times times sqrt(s) leave the equations
 * with the same gravity as they are: positions are s times, velocities sqrt(s) times, forces s^2
 * times those of the original, rotations the same.  A stopping rule that knew metres would leave
 * more of one than of the other.  The stabilized form is no part of this: its h B^T eta adds to
 * lengths and angles alike, so that it depends on the unit of length by its equations.
 *
 * Light mechanisms move as heavy ones do: any factor of all masses and inertias cancels.
 */
#include <polhode/model.h>
#include <polhode/polhode.h>

#include <string.h>

#include "check.h"

static void scale(double *x, int n, double factor)
{
  for (int i = 0; i < n; i++) x[i] *= factor;
}

/* The mechanism s times as large, and its matter so many times as dense as that makes it: bodies,
 * markers and joints, which is all that it has. */
static pol_mechanism *scaled(const pol_mechanism *original, double s, double density)
{
  pol_mechanism *copy;
  double gravity[3];
  assert_int_equal(pol_mechanism_create(&copy), POL_OK);
  pol_mechanism_gravity(original, gravity);
  pol_mechanism_set_gravity(copy, gravity);
  assert_int_equal(pol_mechanism_num_forces(original) + pol_mechanism_num_drives(original), 0);
  for (int b = 0; b < pol_mechanism_num_bodies(original); b++) {
    pol_body body = *pol_mechanism_body(original, b);
    body.mass *= density * s * s;
    scale(body.inertia, 9, density * s * s * s * s);
    scale(body.position, 3, s);
    scale(body.velocity, 3, sqrt(s));
    scale(body.angular_velocity, 3, 1.0 / sqrt(s));
    assert_int_equal(pol_mechanism_add_body(copy, &body, NULL), POL_OK);
  }
  for (int k = 0; k < pol_mechanism_num_markers(original); k++) {
    pol_marker marker = *pol_mechanism_marker(original, k);
    scale(marker.position, 3, s);
    assert_int_equal(pol_mechanism_add_marker(copy, &marker, NULL), POL_OK);
  }
  for (int k = 0; k < pol_mechanism_num_joints(original); k++)
    assert_int_equal(pol_mechanism_add_joint(copy, pol_mechanism_joint(original, k), NULL), POL_OK);
  return copy;
}

enum { MAX_BODIES = 4, NUMBERS = 3 + 9 + 3 + 3 };

/* How to run it. */
typedef struct way {
  pol_formulation_kind formulation;
  const char *method; /* NULL: the default */
  pol_index index;
} way;

/* Runs 200 steps and puts the motion, in the units of the original, into out. */
static void measure(const pol_model *model, double s, double density, const way *how,
                    double out[MAX_BODIES][NUMBERS])
{
  pol_mechanism *mechanism = scaled(model->mechanism, s, density);
  pol_settings settings = pol_settings_default();
  pol_simulation *simulation;
  pol_diagnostics d;
  settings.formulation = how->formulation;
  settings.options.index = how->index;
  if (how->method) settings.options.method = how->method;
  settings.step = 1e-3 * sqrt(s);
  settings.end = 0.2 * sqrt(s);
  if (pol_simulation_create(&simulation, mechanism, &settings, &d))
    fail_msg("%g: %s, %s", s, d.message, d.where);
  while (!pol_simulation_finished(simulation))
    if (pol_simulation_step(simulation))
      fail_msg("%g: %s", s, pol_simulation_diagnostics(simulation)->message);
  const pol_state *state = pol_simulation_state(simulation);
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    pol_body_state body;
    pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, b,
                               &body);
    scale(body.position, 3, 1.0 / s);
    scale(body.velocity, 3, 1.0 / sqrt(s));
    scale(body.angular_velocity, 3, sqrt(s));
    memcpy(out[b], body.position, sizeof body.position);
    memcpy(out[b] + 3, body.rotation, sizeof body.rotation);
    memcpy(out[b] + 12, body.velocity, sizeof body.velocity);
    memcpy(out[b] + 15, body.angular_velocity, sizeof body.angular_velocity);
  }
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

static const way ways[] = {
    {POL_SO3XR3, NULL, POL_INDEX_3},      {POL_SO3XR3, NULL, POL_INDEX_2},
    {POL_SE3_BODY, NULL, POL_INDEX_3},    {POL_SE3_BODY, NULL, POL_INDEX_2},
    {POL_DIRECTORS, NULL, POL_INDEX_3},   {POL_EULER_PARAMETERS, NULL, POL_INDEX_3},
    {POL_DIRECTORS, "em", POL_INDEX_3},   {POL_EULER_PARAMETERS, "em", POL_INDEX_3},
    {POL_DIRECTORS, "vi-b", POL_INDEX_3}, {POL_EULER_PARAMETERS, "vi-a", POL_INDEX_3}};
enum { WAYS = (int)(sizeof ways / sizeof ways[0]) };

/* Every way has to lead to the same, whatever the size and the density. */
static void compare(const double *sizes, const double *densities, int count)
{
  pol_errors errors = {0, NULL};
  pol_model *model;
  const char *path = POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json";
  assert_int_equal(pol_model_read_file(&model, path, 0, NULL, &errors), POL_OK);
  for (int w = 0; w < WAYS; w++) {
    double usual[MAX_BODIES][NUMBERS] = {{0.0}}, other[MAX_BODIES][NUMBERS] = {{0.0}};
    measure(model, 1.0, 1.0, &ways[w], usual);
    for (int k = 0; k < count; k++) {
      measure(model, sizes[k], densities[k], &ways[w], other);
      assert_near(other[0], usual[0], MAX_BODIES * NUMBERS, 1e-9);
    }
  }
  pol_model_free(&model);
}

static void the_size_does_not_matter(void **state)
{
  (void)state;
  compare((const double[]){1e-6, 1e6}, (const double[]){1.0, 1.0}, 2);
}

static void the_mass_does_not_matter(void **state)
{
  (void)state;
  compare((const double[]){1.0, 1e-6, 1.0}, (const double[]){1e-15, 1e-3, 1e15}, 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_size_does_not_matter),
                                     cmocka_unit_test(the_mass_does_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
