/* The Newton matrix of a step against finite differences of its residual: every update, sigma and
 * constraint form in every formulation.  Two matrices are exact only in a limit: that of the
 * rotation vector leaves out a term of the size (h psi')^2, that of the Euler parameters holds at
 * p.p = 1. */
#include <polhode/polhode.h>

#include <string.h>

#include "integrators/alpha.h"
#include "integrators/columns.h"
#include "integrators/family.h"
#include "simulation/heavy_top.h"

static const double h = 1e-3;

/* A few steps of the heavy top, then the matrix away from the solution of the next one. */
static double deviation(const pol_mechanism *top, pol_formulation_kind kind,
                        const pol_options *options)
{
  pol_formulation *formulation;
  pol_integrator *integrator;
  double q[12], v[12], x[MAX_N];
  unsigned char keep[12];
  assert_int_equal(pol_formulation_create(&formulation, top, kind), POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), options),
                   POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  for (int n = 0; n < 5; n++) assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
  poli_alpha *s = integrator->data;
  s->t = integrator->state.t + h;
  s->h = h;
  assert_int_equal(poli_alpha_prepare(s), POL_OK);
  poli_alpha_predict(s);
  for (int i = 0; i < s->saddle->n; i++) x[i] = s->x[i] + 0.3 * (i % 3 - 1);
  double r[MAX_N];
  assert_int_equal(poli_alpha_residual(x, r, s), POL_OK);
  assert_int_equal(poli_alpha_matrix(s), POL_OK);
  double worst =
      worst_column(s->saddle->pattern, s->saddle->values, poli_alpha_residual, s, 1e-2, x);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  return worst;
}

static void every_combination_has_its_exact_matrix(void **state)
{
  (void)state;
  static const char *methods[] = {"geom1", "geom2", "geom3"};
  static const double sigmas[] = {0.0, 0.5, 1.0, 1.3};
  pol_body body = heavy_top_body();
  pol_mechanism *top;
  int cases = 0;
  assert_int_equal(heavy_top_create(&top, &body), POL_OK);
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
      for (int m = 0; m < 3; m++)
        for (int k = 0; k < 4; k++) {
          pol_options options = pol_options_default();
          options.method = methods[m];
          options.index = (pol_index)index;
          options.sigma = sigmas[k];
          options.solver = POL_SOLVER_DENSE;
          pol_formulation *formulation;
          assert_int_equal(pol_formulation_create(&formulation, top, (pol_formulation_kind)kind),
                           POL_OK);
          int supported =
              !pol_integrator_supports(pol_formulation_dae(formulation), &options, NULL, 0);
          pol_formulation_free(&formulation);
          if (!supported) continue;
          cases++;
          double worst = deviation(top, (pol_formulation_kind)kind, &options);
          int limit = kind == POL_ROTATION_VECTOR || kind == POL_EULER_PARAMETERS;
          double allowed = limit ? 1e-3 : 1e-7;
          if (!(worst <= allowed))
            fail_msg("%s, %s, index %d, sigma %g: %.2e",
                     pol_formulation_name((pol_formulation_kind)kind), methods[m], index, sigmas[k],
                     worst);
        }
  /* three updates and three more sigmas, but one update for the rotation vector and no sigma there
   * and for Cayley */
  assert_int_equal(cases, 3 * (9 * 6 - 3 - 5));
  pol_mechanism_free(&top);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_combination_has_its_exact_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
