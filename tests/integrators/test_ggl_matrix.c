/* The Newton matrices of the variational and energy-momentum methods against finite differences of
 * their residuals: every method on every model, with drag, moving constraints and both kinds of
 * springs. */
#include <polhode/polhode.h>

#include <string.h>

#include "dae/quadratic.h"
#include "integrators/columns.h"
#include "integrators/family.h"
#include "integrators/ggl.h"

/* A few steps, then the matrix away from the solution of the next one. */
static double deviation(quadratic *model, const char *method, double h)
{
  pol_options options = pol_options_default();
  pol_integrator *integrator;
  double x[MAX_N];
  options.method = method;
  if (strcmp(method, "vi-b") == 0) { /* so that every term is there */
    options.theta = 0.4;
    options.vartheta = 0.3;
  }
  assert_int_equal(pol_integrator_create(&integrator, &model->dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, model->q0, model->v0, NULL), POL_OK);
  for (int n = 0; n < 5; n++) assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
  poli_ggl *s = integrator->data;
  s->t = integrator->state.t;
  s->h = h;
  assert_int_equal(poli_ggl_prepare(s), POL_OK);
  for (int i = 0; i < s->blocks->n; i++) x[i] = s->now.x[i] + 0.3 * (i % 3 - 1);
  double r[MAX_N];
  assert_int_equal(poli_ggl_residual(x, r, s), POL_OK);
  assert_int_equal(poli_ggl_matrix(s), POL_OK);
  double worst = worst_column(s->blocks->pattern, s->blocks->values, poli_ggl_residual, s, 1e-3, x);
  pol_integrator_free(&integrator);
  return worst;
}

static void every_matrix_is_exact(void **state)
{
  (void)state;
  static const double steps[3] = {0.05, 0.002, 0.01};
  static quadratic model;
  int methods = 0;
  for (int k = 0; k < pol_method_count(); k++)
    for (int which = 0; which < 4; which++) {
      if (which == 0) pendulum3d_init(&model);
      if (which == 1) top_init(&model);
      if (which >= 2) four_particles_init(&model);
      model.by_length = which == 3;
      model.drag = 0.3;
      for (int i = 0; i < model.m; i++) model.rate[i] = which == 1 ? 0.0 : 0.1;
      pol_options options = pol_options_default();
      options.method = pol_method_at(k)->name;
      if (!strstr(pol_method_at(k)->settings, "guess")) continue; /* another family */
      methods++;
      double worst = deviation(&model, options.method, steps[which < 2 ? which : 2]);
      if (!(worst <= 1e-8)) fail_msg("%s, model %d: %.2e", options.method, which, worst);
    }
  assert_int_equal(methods, 4 * 7);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_matrix_is_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
