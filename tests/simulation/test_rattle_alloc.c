/* rattle on rigid bodies: every allocation of formulation, integrator and start made to fail once,
 * and no allocation in a step, of a given size or not, nor in one's interior; with forces that
 * depend on velocities and on reactions, and without.  The same of the choice of rattle. */
#include <polhode/model.h>
#include <polhode/polhode.h>

#include "failing_alloc.h"
#include "integrators/family.h"

enum { MAX_SIZE = 100 };

typedef struct job {
  pol_model *model;
  int steps;
} job;

static pol_status run(void *user)
{
  const job *work = user;
  pol_options options = pol_options_default();
  pol_formulation *formulation = NULL;
  pol_integrator *integrator = NULL;
  double q[MAX_SIZE], v[MAX_SIZE];
  unsigned char keep[MAX_SIZE];
  options.method = "rattle";
  options.order = 6;
  options.solver = POL_SOLVER_DENSE;
  pol_status status = pol_formulation_create(&formulation, work->model->mechanism, POL_SO3XR3);
  assert_int_equal(formulation == NULL, status != POL_OK);
  if (!status) {
    pol_formulation_initial(formulation, q, v, keep);
    status = pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options);
  }
  if (!status) status = pol_integrator_start(integrator, 0.0, q, v, keep);
  const long before = alloc_count();
  for (int n = 0; n < work->steps && !status; n++) {
    double within[MAX_SIZE], lambda[MAX_SIZE];
    status = n % 2 ? pol_integrator_adapt(integrator, 1e3) : pol_integrator_step(integrator, 1e-3);
    const double t = 0.7 * pol_integrator_state(integrator)->t + 0.3 * integrator->before.t;
    if (!status) status = pol_integrator_interpolate(integrator, t, within, NULL, NULL, lambda);
  }
  if (!status) assert_int_equal(alloc_count(), before);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  return status;
}

static void nothing_is_lost_and_steps_allocate_nothing(void **state)
{
  static const char *const models[] = {POLHODE_SOURCE_DIR
                                       "/models/holzinger-arnold-gerstmayr/slider_crank.json",
                                       POLHODE_SOURCE_DIR "/models/examples/pid_pendulum.json",
                                       POLHODE_SOURCE_DIR "/models/examples/friction_block.json",
                                       POLHODE_SOURCE_DIR "/models/examples/governor.json"};
  (void)state;
  for (int k = 0; k < 4; k++) {
    pol_errors errors = {0};
    job work = {.steps = 20};
    assert_int_equal(pol_model_read_file(&work.model, models[k], 0, NULL, &errors), POL_OK);
    alloc_fail_at(0);
    assert_int_equal(run(&work), POL_OK);
    work.steps = 1;
    assert_in_range(alloc_exhaust(run, &work), 50, 1000);
    pol_model_free(&work.model);
  }
}

/* The choice of a method: out of memory, or chosen; never another method for want of memory. */
static pol_status choose(void *user)
{
  const job *work = user;
  pol_settings settings = pol_settings_default();
  settings.options.method = "auto";
  settings.options.solver = POL_SOLVER_DENSE;
  settings.variable = work->steps;
  const pol_status status = pol_settings_choose(work->model->mechanism, 0, &settings);
  if (status == POL_OK) assert_string_equal(settings.options.method, "rattle");
  return status;
}

static void the_choice_loses_nothing(void **state)
{
  (void)state;
  pol_errors errors = {0};
  job work = {0};
  assert_int_equal(pol_model_read_file(&work.model,
                                       POLHODE_SOURCE_DIR "/models/examples/governor.json", 0, NULL,
                                       &errors),
                   POL_OK);
  for (; work.steps < 2; work.steps++) assert_in_range(alloc_exhaust(choose, &work), 50, 1000);
  pol_model_free(&work.model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_lost_and_steps_allocate_nothing),
      cmocka_unit_test(the_choice_loses_nothing),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
