/* The error constants and the overshoot of the generalized-alpha method in the limit of infinite
 * frequency: Arnold/Cardona/Bruels 2015, section 3.2. */
#include <polhode/polhode.h>

#include "check.h"
#include "papers/overshoot.h"

/* x'' + lambda = 0 with the driven constraint x = t^3/6: exact lambda = -t, v'' = 1. */
static pol_status driven_point(const pol_point *at, unsigned want, const pol_terms *out,
                               double *scratch, void *user)
{
  double t = at->t;
  (void)scratch;
  (void)user;
  if (want & POL_INERTIA) out->balance[0] += at->vd[0];
  if (want & POL_REACTION) out->balance[0] += at->lambda[0];
  if (want & POL_POSITION) out->position[0] = at->q[0] - t * t * t / 6.0;
  if (want & POL_VELOCITY) out->velocity[0] = at->v[0] - t * t / 2.0;
  if (want & POL_ACCELERATION) out->acceleration[0] = -t;
  if (want & POL_MASS) out->mass[0] += 1.0;
  if (want & POL_JACOBIAN) out->jacobian[0] += 1.0;
  return POL_OK;
}

/* Largest |lambda_n - lambda(t_n)|/h over the first steps, in *at the n where it stands. */
static double largest_error(const pol_options *options, double h, int steps, int *at)
{
  pol_factor line = {.kind = POL_REAL, .dim = 1};
  pol_dae dae = {.num_holonomic = 1, .evaluate = driven_point};
  pol_integrator *integrator;
  const double zero = 0.0;
  double largest = 0.0;
  assert_int_equal(pol_group_layout(&dae.group, &line, 1), POL_OK);
  assert_int_equal(pol_integrator_create(&integrator, &dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, &zero, &zero, NULL), POL_OK);
  for (int n = 1; n <= steps; n++) {
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    const pol_state *s = pol_integrator_state(integrator);
    double error = fabs(s->lambda[0] + s->t) / h;
    if (error <= largest) continue;
    largest = error;
    *at = n;
  }
  pol_integrator_free(&integrator);
  return largest;
}

/* The error of the multipliers is c_n h with the constants of (53), divided by C_q. */
static void error_constants(void **state)
{
  (void)state;
  static const struct {
    double rho_inf;
    int n;
    double constant;
  } table[] = {{0.6, 3, 6.82}, {0.9, 15, 31.93}, {0.99, 161, 334.3}};
  for (int i = 0; i < 3; i++) {
    pol_options options = pol_options_default();
    int n = 0;
    pol_options_set_rho_inf(&options, table[i].rho_inf);
    options.start = POL_START_SHIFTED;
    double C_q = (1.0 - 6.0 * options.beta - 3.0 * (options.alpha_m - options.alpha_f)) / 6.0;
    double constant = largest_error(&options, 0.01, 400, &n) / fabs(C_q);
    assert_int_equal(n, table[i].n);
    assert_true(fabs(constant - table[i].constant) <= 1e-3 * table[i].constant);
    /* and the perturbed start has none */
    options.start = POL_START_PERTURBED;
    assert_true(largest_error(&options, 0.01, 400, &n) < 1e-4);
  }
}

static void overshoot(void **state)
{
  (void)state;
  static const struct {
    double rho_inf;
    int n;
    double norm;
  } table[] = {{0.6, 3, 7.39}, {0.9, 14, 34.27}};
  for (int i = 0; i < 2; i++) {
    pol_options options = pol_options_default();
    double norms[60], largest = 0.0;
    int at = 0;
    pol_options_set_rho_inf(&options, table[i].rho_inf);
    paper_overshoot(&options, 60, norms);
    for (int n = 1; n <= 60; n++) {
      if (norms[n - 1] <= largest) continue;
      largest = norms[n - 1];
      at = n;
    }
    assert_int_equal(at, table[i].n);
    assert_true(fabs(largest - table[i].norm) <= 1e-3 * table[i].norm);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_constants),
      cmocka_unit_test(overshoot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
