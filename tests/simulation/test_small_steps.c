/* What Newton's iteration leaves must not add up: with steps so small that their own error is near
 * round-off, the error still falls with the square of the step, whatever matrix is kept. */
#include "simulation/simulate.h"

/* --- a body that tumbles -----------------------------------------------------------------------
 *
 * Near its axis of intermediate inertia, so that an error of the angular momentum grows by orders
 * of magnitude.  The reference is a Runge-Kutta integration of Euler's equations and of the body's
 * axes in the test itself. */

enum { OMEGA = 3, NUM = 12 }; /* angular velocity in body axes, rotation matrix row by row */

static void tumble_rate(const double y[NUM], double rate[NUM])
{
  const double *w = y, *R = y + OMEGA;
  rate[0] = (2.0 - 3.0) * w[1] * w[2] / 1.0;
  rate[1] = (3.0 - 1.0) * w[2] * w[0] / 2.0;
  rate[2] = (1.0 - 2.0) * w[0] * w[1] / 3.0;
  for (int i = 0; i < 3; i++) { /* R' = R w~ */
    rate[OMEGA + 3 * i] = R[3 * i + 1] * w[2] - R[3 * i + 2] * w[1];
    rate[OMEGA + 3 * i + 1] = R[3 * i + 2] * w[0] - R[3 * i] * w[2];
    rate[OMEGA + 3 * i + 2] = R[3 * i] * w[1] - R[3 * i + 1] * w[0];
  }
}

static void tumble_exactly(double end, int steps, double y[NUM])
{
  const double h = end / steps;
  for (int n = 0; n < steps; n++) {
    double k[4][NUM], z[NUM];
    tumble_rate(y, k[0]);
    for (int s = 1; s < 4; s++) {
      for (int i = 0; i < NUM; i++) z[i] = y[i] + (s == 3 ? h : 0.5 * h) * k[s - 1][i];
      tumble_rate(z, k[s]);
    }
    for (int i = 0; i < NUM; i++)
      y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
  }
}

/* Largest error of the rotation matrix and of the angular velocity after 10 s. */
static void tumble(double h, pol_newton_kind kind, const double reference[NUM], double error[2])
{
  pol_model *model = read_model_text(
      "{\"bodies\": [{\"name\": \"stone\", \"mass\": 1, \"inertia\": [1, 2, 3],"
      " \"angular_velocity\": [0.01, 5, 0.01]}],"
      " \"simulation\": {\"formulation\": \"so3xr3-spatial\", \"index\": \"stabilized-2\","
      " \"sigma\": \"optimal\", \"step\": 1e-3, \"end\": 10}}");
  pol_body_state body;
  model->settings.step = h;
  model->settings.options.newton.kind = kind;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &body);
  error[0] = error[1] = 0.0;
  for (int i = 0; i < 9; i++)
    error[0] = fmax(error[0], fabs(body.rotation[i] - reference[OMEGA + i]));
  for (int i = 0; i < 3; i++)
    error[1] = fmax(error[1], fabs(body.angular_velocity[i] - reference[i]));
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static void a_tumbling_body_keeps_second_order(void **state)
{
  (void)state;
  double reference[NUM] = {0.01, 5.0, 0.01, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  double error[4][2], full[2];
  tumble_exactly(10.0, 40000, reference);
  for (int k = 0; k < 4; k++) tumble(1e-3 / (1 << k), POL_NEWTON_MODIFIED, reference, error[k]);
  tumble(1.25e-4, POL_NEWTON_FULL, reference, full);
  for (int k = 0; k < 4; k++) {
    print_message("h = %.3g: rotation %.3g, angular velocity %.3g\n", 1e-3 / (1 << k), error[k][0],
                  error[k][1]);
    if (k > 0) assert_near(&(double){log2(error[k - 1][0] / error[k][0])}, &(double){2.0}, 1, 0.1);
  }
  /* as good as with a new matrix in each iteration */
  assert_true(error[3][0] < 1.1 * full[0]);
  assert_true(error[3][1] < 1e-7);
}

/* --- the heavy top ------------------------------------------------------------------------------
 */

/* The position of the top at t = 0.2. */
static void spin(double h, pol_index index, pol_newton_kind kind, double x[3])
{
  pol_model *model = read_model(POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json");
  pol_body_state body;
  model->settings.step = h;
  model->settings.end = 0.2;
  model->settings.options.index = index;
  model->settings.options.newton.kind = kind;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &body);
  for (int i = 0; i < 3; i++) x[i] = body.position[i];
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* The differences of solutions with h, h/2 and h/4 fall by 4; h/4 is 5e-6. */
static void the_heavy_top_keeps_second_order(void **state)
{
  (void)state;
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    double x[3][3], difference[2] = {0.0, 0.0};
    for (int k = 0; k < 3; k++) spin(2e-5 / (1 << k), (pol_index)index, POL_NEWTON_MODIFIED, x[k]);
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 3; i++) difference[k] = fmax(difference[k], fabs(x[k][i] - x[k + 1][i]));
    print_message("top: %.3g and %.3g, order %.3f\n", difference[0], difference[1],
                  log2(difference[0] / difference[1]));
    assert_near(&(double){log2(difference[0] / difference[1])}, &(double){2.0}, 1, 0.1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tumbling_body_keeps_second_order),
      cmocka_unit_test(the_heavy_top_keeps_second_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
