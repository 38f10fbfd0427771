/* The midpoint and energy-momentum methods in Euler parameters: every allocation of formulation,
 * integrator and start made to fail once, and no allocation in a step. */
#include <polhode/model.h>
#include <polhode/polhode.h>

#include "failing_alloc.h"

enum { MAX_NV = 24 };

typedef struct job {
  pol_model *model;
  pol_options options;
  int steps;
} job;

/* Formulation, integrator, start and steps; the last allocate nothing. */
static pol_status run(void *user)
{
  const job *work = user;
  pol_formulation *formulation = NULL;
  pol_integrator *integrator = NULL;
  double q[MAX_NV], v[MAX_NV];
  unsigned char keep[MAX_NV];
  pol_status status =
      pol_formulation_create(&formulation, work->model->mechanism, POL_EULER_PARAMETERS);
  assert_int_equal(formulation == NULL, status != POL_OK);
  if (!status) {
    assert_int_equal(pol_formulation_dae(formulation)->group.nv, MAX_NV);
    pol_formulation_initial(formulation, q, v, keep);
    status = pol_integrator_create(&integrator, pol_formulation_dae(formulation), &work->options);
  }
  if (!status) status = pol_integrator_start(integrator, 0.0, q, v, keep);
  long before = alloc_count();
  for (int n = 0; n < work->steps && !status; n++) status = pol_integrator_step(integrator, 0.01);
  if (work->steps > 1) assert_int_equal(alloc_count(), before);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  return status;
}

static void nothing_is_lost_and_steps_allocate_nothing(void **state)
{
  (void)state;
  static const char *const methods[] = {"em", "em-g", "midpoint", "vi-a"};
  pol_errors errors = {0};
  job work = {.options = pol_options_default()};
  assert_int_equal(pol_model_read_file(&work.model,
                                       POLHODE_SOURCE_DIR "/tests/data/step-equations/springs.json",
                                       0, NULL, &errors),
                   POL_OK);
  for (int k = 0; k < 4; k++) {
    work.options.method = methods[k];
    work.options.solver = POL_SOLVER_DENSE;
    work.steps = 100;
    alloc_fail_at(0);
    assert_int_equal(run(&work), POL_OK);
    work.steps = 1;
    assert_in_range(alloc_exhaust(run, &work), 50, 1000);
    work.options.solver = POL_SOLVER_SPARSE;
    assert_in_range(alloc_exhaust(run, &work), 50, 1000);
  }
  pol_model_free(&work.model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_lost_and_steps_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
