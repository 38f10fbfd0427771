/* The variational and energy-momentum methods: every allocation of create and start made to fail
 * once, and no allocation in a step.  With the sparse solver a step that chooses new pivots may
 * allocate, and has to give back as much (see linalg.h). */
#include <polhode/polhode.h>

#include <string.h>

#include "dae/quadratic.h"
#include "failing_alloc.h"

/* The top spins five times in these steps; three times a turn its directors change places. */
enum { STEPS = 300, MAX_REPIVOTED = 15 };

typedef struct job {
  quadratic model;
  pol_options options;
} job;

static pol_status create_and_start(void *user)
{
  const job *work = user;
  pol_integrator *integrator = NULL;
  pol_status status = pol_integrator_create(&integrator, &work->model.dae, &work->options);
  assert_int_equal(integrator == NULL, status != POL_OK);
  if (!status) status = pol_integrator_start(integrator, 0.0, work->model.q0, work->model.v0, NULL);
  if (!status) status = pol_integrator_step(integrator, 1e-3);
  pol_integrator_free(&integrator);
  return status;
}

static void check_steps(const job *work)
{
  pol_integrator *integrator;
  assert_int_equal(pol_integrator_create(&integrator, &work->model.dae, &work->options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, work->model.q0, work->model.v0, NULL),
                   POL_OK);
  long live = alloc_live();
  int allocating = 0, allowed = work->options.solver == POL_SOLVER_SPARSE ? MAX_REPIVOTED : 0;
  for (int n = 0; n < STEPS; n++) {
    alloc_fail_at(0);
    pol_status status = pol_integrator_step(integrator, n < STEPS / 2 ? 1e-3 : 5e-4);
    allocating += alloc_count() > 0;
    if (status || allocating > allowed || alloc_live() != live)
      fail_msg("%s, newton %d, solver %d, step %d: status %d, %ld allocations",
               work->options.method, (int)work->options.newton.kind, (int)work->options.solver,
               n + 1, (int)status, alloc_count());
  }
  pol_integrator_free(&integrator);
}

/* Calls `check` for each method, solver and kind of Newton iteration, on the top. */
static void for_each(void (*check)(job *work))
{
  static job work;
  int methods = 0;
  for (int k = 0; k < pol_method_count(); k++) {
    if (!strstr(pol_method_at(k)->settings, "guess")) continue; /* another family */
    methods++;
    for (int solver = POL_SOLVER_DENSE; solver <= POL_SOLVER_SPARSE; solver++)
      for (int kind = POL_NEWTON_FULL; kind <= POL_NEWTON_MODIFIED + 1; kind++) {
        if (kind == POL_NEWTON_SIMPLIFIED) continue; /* does not converge with this spin */
        top_init(&work.model);
        if (solver == POL_SOLVER_SPARSE) quadratic_make_sparse(&work.model);
        work.options = pol_options_default();
        work.options.method = pol_method_at(k)->name;
        work.options.solver = (pol_solver_kind)solver;
        if (kind <= POL_NEWTON_MODIFIED) {
          work.options.newton.kind = (pol_newton_kind)kind;
        } else {
          work.options.published.newton = POL_PUBLISHED_NEWTON_PLAIN;
          work.options.newton.tolerance = 1e-9;
        }
        check(&work);
        quadratic_clear(&work.model);
      }
  }
  assert_int_equal(methods, 7);
}

static void check_failures(job *work)
{
  assert_in_range(alloc_exhaust(create_and_start, work), 20, 1000);
}

static void check_no_allocation(job *work)
{
  check_steps(work);
}

static void test_failures(void **state)
{
  (void)state;
  for_each(check_failures);
}

static void test_no_allocation(void **state)
{
  (void)state;
  for_each(check_no_allocation);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_no_allocation),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
