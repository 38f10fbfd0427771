/* Measured orders of the variational and energy-momentum methods: the centre of mass of the top
 * against its steady precession; the four particles against an independent solution; multipliers at
 * the time that the state tells.
 */
#include <polhode/polhode.h>

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dae/quadratic.h"

enum { Q, P, LAMBDA, AT_END, NUM_ERRORS };

/* --- the reference of the four particles ------------------------------------------------------ */

/* At t = 1.  Origin: independent high-precision integration, 2026; error below 1e-12. */
static const double particles_q[12] = {
    0.007984327723433432, 0.01139214942694989, 0.0004151028604670607, 0.985729920652311,
    0.2068880725808038,   0.07653934038295478, 0.2427320208083556,    0.9799405709726926,
    0.08876545776986926,  0.6920836838002447,  0.6553413644667326,    0.9210625430117467};
static const double particles_v[12] = {
    0.02664123699022393, 0.04115813625321098, 0.002380071313526484, -0.05164297129971315,
    0.3532168541471862,  0.2064653012500773,  0.4041282330507815,   -0.06872699026866717,
    0.2242114272390566,  -0.4712983877105188, -0.5545509535746088,  0.5073751425214184};

/* One step of the classical Runge-Kutta method with consistent accelerations. */
static void runge_kutta(pol_assembler *assembler, double h, double q[12], double v[12])
{
  static const double share[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
  double dq[4][12], dv[4][12], lambda[MAX_FORMS];
  pol_diagnostics d;
  for (int k = 0; k < 4; k++) {
    double at[12];
    for (int i = 0; i < 12; i++) {
      at[i] = q[i] + (k ? share[k] * h * dq[k - 1][i] : 0.0);
      dq[k][i] = v[i] + (k ? share[k] * h * dv[k - 1][i] : 0.0);
    }
    assert_int_equal(pol_assembler_acceleration(assembler, 0.0, at, dq[k], dv[k], lambda, &d),
                     POL_OK);
  }
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < 4; k++) {
      q[i] += h * weight[k] * dq[k][i] / 6.0;
      v[i] += h * weight[k] * dv[k][i] / 6.0;
    }
}

/* The exact solution near the end: of the top in closed form, of the particles from t = 1 on. */
static void solution(pol_assembler *assembler, int is_top, double t, double q[12], double v[12])
{
  if (is_top) {
    top_solution(t, q, v);
    return;
  }
  memcpy(q, particles_q, sizeof particles_q);
  memcpy(v, particles_v, sizeof particles_v);
  for (int k = 0; k < 20 && t != 1.0; k++) runge_kutta(assembler, (t - 1.0) / 20.0, q, v);
}

/* --- errors ----------------------------------------------------------------------------------- */

/* Largest error of the multipliers if they belong to time t, relative to the largest of them. */
static double multiplier_error(const quadratic *model, int is_top, double t, const double *lambda)
{
  double q[12], v[12], vd[12], exact[MAX_FORMS], error = 0.0;
  pol_assembler *assembler;
  pol_diagnostics d;
  assert_int_equal(pol_assembler_create(&assembler, &model->dae, POL_SOLVER_AUTO), POL_OK);
  solution(assembler, is_top, t, q, v);
  assert_int_equal(pol_assembler_acceleration(assembler, t, q, v, vd, exact, &d), POL_OK);
  pol_assembler_free(&assembler);
  for (int i = 0; i < model->m; i++) error = fmax(error, fabs(lambda[i] - exact[i]));
  return error / toy_largest(exact, model->m);
}

/* Errors at t = end: of the top's centre of mass and its momentum, or of all particles. */
static void errors(int is_top, const char *method, double theta, double vartheta, double h,
                   double end, double error[NUM_ERRORS])
{
  static quadratic model;
  pol_options options = pol_options_default();
  pol_integrator *integrator;
  double q[12], v[12];
  long steps = lround(end / h);
  int count = is_top ? 3 : 12;
  options.method = method;
  options.theta = theta;
  options.vartheta = vartheta;
  options.newton.kind = POL_NEWTON_FULL;
  if (is_top)
    top_init(&model);
  else
    four_particles_init(&model);
  assert_int_equal(pol_integrator_create(&integrator, &model.dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, model.q0, model.v0, NULL), POL_OK);
  for (long n = 0; n < steps; n++)
    assert_int_equal(pol_integrator_step(integrator, end / (double)steps), POL_OK);
  const pol_state *state = pol_integrator_state(integrator);
  solution(NULL, is_top, end, q, v);
  memset(error, 0, NUM_ERRORS * sizeof *error);
  for (int i = 0; i < count; i++) {
    error[Q] = fmax(error[Q], fabs(state->q[i] - q[i]));
    error[P] = fmax(error[P], fabs(state->p[i] - model.mass[i] * v[i]));
  }
  error[LAMBDA] = multiplier_error(&model, is_top, state->lambda_t, state->lambda);
  error[AT_END] = multiplier_error(&model, is_top, end, state->lambda);
  pol_integrator_free(&integrator);
}

/* Observed order from three steps, each half of the one before: both pairs must agree with it. */
static void check_order(const char *what, const double error[3], double order)
{
  for (int k = 0; k < 2; k++) {
    double observed = log2(error[k] / error[k + 1]);
    if (!(fabs(observed - order) <= 0.2))
      fail_msg("%s: order %.2f, not %.0f (errors %.2e, %.2e, %.2e)", what, observed, order,
               error[0], error[1], error[2]);
  }
}

typedef struct expectation {
  const char *method;
  double theta, vartheta;
  double order[NUM_ERRORS]; /* 0: not clear at these steps */
} expectation;

static void check_orders(int is_top, const expectation *cases, int num_cases, double h, double end)
{
  static const char *const names[NUM_ERRORS] = {"q", "p", "lambda", "lambda at the end"};
  for (int c = 0; c < num_cases; c++) {
    double error[3][NUM_ERRORS];
    for (int k = 0; k < 3; k++)
      errors(is_top, cases[c].method, cases[c].theta, cases[c].vartheta, h / (double)(1 << k), end,
             error[k]);
    for (int i = 0; i < NUM_ERRORS; i++) {
      char what[96];
      const double of[3] = {error[0][i], error[1][i], error[2][i]};
      snprintf(what, sizeof what, "%s, theta %g, vartheta %g, %s", cases[c].method, cases[c].theta,
               cases[c].vartheta, names[i]);
      if (cases[c].order[i] > 0.0) check_order(what, of, cases[c].order[i]);
    }
  }
}

static void top_has_its_orders(void **state)
{
  (void)state;
  static const expectation cases[] = {
      {"vi-s", (double)NAN, (double)NAN, {1, 1, 0, 0}},
      {"vi-a", (double)NAN, (double)NAN, {2, 2, 2, 1}},
      {"vi-b", (double)NAN, (double)NAN, {1, 1, 0, 0}},
      {"vi-b", 0.5, (double)NAN, {2, 2, 2, 1}},
      {"em", (double)NAN, (double)NAN, {2, 2, 2, 1}},
      {"em-g", (double)NAN, (double)NAN, {2, 2, 1, 1}},
      {"midpoint", (double)NAN, (double)NAN, {2, 2, 1, 1}},
      {"rattle", (double)NAN, (double)NAN, {2, 2, 2, 1}},
  };
  check_orders(1, cases, sizeof cases / sizeof cases[0], 2e-4, 0.1);
}

static void particles_have_their_orders(void **state)
{
  (void)state;
  static const expectation cases[] = {
      {"vi-s", (double)NAN, (double)NAN, {0, 1, 0, 1}},
      {"vi-a", (double)NAN, (double)NAN, {2, 2, 2, 1}},
      {"vi-b", (double)NAN, (double)NAN, {0, 1, 0, 1}},
      {"vi-b", 0.5, (double)NAN, {2, 2, 2, 1}},
      {"em", (double)NAN, (double)NAN, {2, 2, 2, 1}},
      {"em-g", (double)NAN, (double)NAN, {2, 2, 2, 1}},
      {"midpoint", (double)NAN, (double)NAN, {2, 2, 2, 1}},
      {"rattle", (double)NAN, (double)NAN, {2, 2, 2, 1}},
  };
  check_orders(0, cases, sizeof cases / sizeof cases[0], 1e-3, 1.0);
}

/* vi-b shares the multipliers of two steps out over the point between them, vartheta of the one
 * before and 1 - vartheta of the other: only with these weights they have second order there; the
 * momenta have the first. */
static void weights_of_vi_b_are_those_of_its_impulses(void **state)
{
  (void)state;
  static const expectation cases[] = {
      {"vi-b", 0.5, 0.0, {2, 1, 2, 1}},
      {"vi-b", 0.5, 0.2, {2, 1, 2, 1}},
      {"vi-b", 0.5, 0.4, {2, 1, 2, 1}},
  };
  check_orders(0, cases, sizeof cases / sizeof cases[0], 1e-3, 1.0);
  check_orders(1, cases, sizeof cases / sizeof cases[0], 2e-4, 0.1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(top_has_its_orders),
      cmocka_unit_test(particles_have_their_orders),
      cmocka_unit_test(weights_of_vi_b_are_those_of_its_impulses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
