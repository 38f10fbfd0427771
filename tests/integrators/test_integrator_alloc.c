/* From mechanism to started integrator with every allocation made to fail once: POL_NO_MEMORY, all
 * freed, nothing touched that is gone. */
#include "failing_alloc.h"
#include "simulation/heavy_top.h"

typedef struct job {
  pol_formulation_kind formulation;
  pol_options options;
} job;

enum { MAX_Q = 12, MAX_V = 12 };

/* Mechanism, formulation, integrator, start and a step; frees everything. */
static pol_status build_and_start(void *user)
{
  const job *work = user;
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism = NULL;
  pol_formulation *formulation = NULL;
  pol_integrator *integrator = NULL;
  double q[MAX_Q], v[MAX_V];
  unsigned char keep[MAX_V];
  pol_status status = heavy_top_create(&mechanism, &body);
  if (!status) {
    status = pol_formulation_create(&formulation, mechanism, work->formulation);
    assert_int_equal(formulation == NULL, status != POL_OK);
  }
  if (!status) {
    pol_formulation_initial(formulation, q, v, keep);
    status = pol_integrator_create(&integrator, pol_formulation_dae(formulation), &work->options);
    assert_int_equal(integrator == NULL, status != POL_OK);
  }
  if (!status) {
    status = pol_integrator_start(integrator, 0.0, q, v, keep);
    if (status) {
      assert_int_equal(pol_integrator_diagnostics(integrator)->status, status);
      assert_true(pol_integrator_diagnostics(integrator)->message[0] != '\0');
      assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_BAD_ARGUMENT);
    }
  }
  if (!status) status = pol_integrator_step(integrator, 1e-3);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
  return status;
}

static void test_failures(void **state)
{
  (void)state;
  for (int f = 0; f < pol_formulation_count(); f++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
      for (int solver = POL_SOLVER_AUTO; solver <= POL_SOLVER_SPARSE; solver++) {
        job work = {(pol_formulation_kind)f, pol_options_default()};
        work.options.index = (pol_index)index;
        work.options.solver = (pol_solver_kind)solver;
        assert_in_range(alloc_exhaust(build_and_start, &work), 40, 1000);
      }
}

/* An integrator whose start found no memory can be started again. */
static void test_start_again(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  double q[MAX_Q], v[MAX_V];
  unsigned char keep[MAX_V];
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SE3_BODY), POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  options.solver = POL_SOLVER_SPARSE; /* factors allocate */
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                   POL_OK);
  alloc_fail_at(1);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_NO_MEMORY);
  alloc_fail_at(0);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_OK);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_start_again),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
