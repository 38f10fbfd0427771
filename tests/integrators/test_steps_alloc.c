/* A step allocates nothing: counted over many steps of the heavy top, for every formulation, linear
 * solver, Newton variant, constraint form and method.  With the sparse solver one exception is
 * allowed: a step in which the pivots became unstable and new ones were chosen (see linalg.h) may
 * allocate, and has to give back as much.  Nor does a restart between two steps, as of a reset by
 * an event, with redundant constraints and without.
 */
#include <string.h>

#include "failing_alloc.h"
#include "simulation/heavy_top.h"

static const pol_index indices[] = {POL_INDEX_3, POL_INDEX_2, POL_INDEX_2_STABILIZED};
static const pol_newton_kind kinds[] = {POL_NEWTON_FULL, POL_NEWTON_SIMPLIFIED,
                                        POL_NEWTON_MODIFIED};
static const pol_solver_kind solvers[] = {POL_SOLVER_DENSE, POL_SOLVER_SPARSE};

enum { STEPS = 300, MAX_REPIVOTED = 3, MAX_Q = 7, MAX_V = 7 };

static double fall(const pol_state *at, void *user)
{
  (void)user;
  return at->q[0] - 0.5;
}

/* Steps of variable size, the solution within them and events; some of the steps are rejected. */
static void check_adapted_steps(pol_integrator *integrator, int allowed, long live)
{
  const pol_state *now = pol_integrator_state(integrator);
  double end = now->t + 0.1, q[MAX_Q], v[MAX_V], found;
  int allocating = 0;
  while (now->t < end) {
    alloc_fail_at(0);
    pol_status status = pol_integrator_adapt(integrator, end);
    pol_integrator_interpolate(integrator, now->t, q, v, NULL, NULL);
    pol_integrator_find_event(integrator, fall, NULL, 0, &found);
    allocating += alloc_count() > 0;
    if (status || allocating > allowed || alloc_live() != live)
      fail_msg("t = %g: status %d, %ld allocations", now->t, (int)status, alloc_count());
  }
}

/* Some turns of the top, from the first step on; also over a change of the step size. */
static void check_steps(const pol_formulation *formulation, const pol_options *options)
{
  double q[MAX_Q], v[MAX_V];
  unsigned char keep[MAX_V];
  pol_integrator *integrator;
  const pol_dae *dae = pol_formulation_dae(formulation);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  long live = alloc_live();
  int allocating = 0, allowed = options->solver == POL_SOLVER_SPARSE ? MAX_REPIVOTED : 0;
  for (int n = 0; n < STEPS; n++) {
    alloc_fail_at(0);
    pol_status status = pol_integrator_step(integrator, n < STEPS / 2 ? 1e-3 : 5e-4);
    allocating += alloc_count() > 0;
    if (status || allocating > allowed || alloc_live() != live)
      fail_msg("%s, index form %d, newton %d, solver %d, step %d: status %d, %ld allocations",
               options->method, (int)options->index, (int)options->newton.kind,
               (int)options->solver, n + 1, (int)status, alloc_count());
  }
  assert_int_equal(pol_integrator_counts(integrator)->steps, STEPS);
  if (pol_method_adapts(options->method)) check_adapted_steps(integrator, allowed, live);
  pol_integrator_free(&integrator);
}

static void test_no_allocation(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  for (int f = 0; f < POL_TAIT_BRYAN; f++) { /* Tait-Bryan angles meet gimbal lock */
    pol_formulation *formulation;
    pol_options options = pol_options_default();
    assert_int_equal(pol_formulation_create(&formulation, mechanism, (pol_formulation_kind)f),
                     POL_OK);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++)
        for (int s = 0; s < 2; s++) {
          options.index = indices[i];
          options.newton.kind = kinds[k];
          options.solver = solvers[s];
          check_steps(formulation, &options);
        }
    pol_formulation_free(&formulation);
  }
  pol_mechanism_free(&mechanism);
}

/* The other updates and the sigma scheme, with its inverses. */
static void test_methods(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
  for (int m = 0; m < pol_method_count(); m++) {
    pol_options options = pol_options_default();
    assert_int_equal(pol_options_set_method(&options, pol_method_at(m)->name), POL_OK);
    if (strcmp(options.method, "linear") == 0) continue; /* not on a Lie group */
    if (pol_integrator_supports(pol_formulation_dae(formulation), &options, NULL, 0)) continue;
    check_steps(formulation, &options);
  }
  pol_options options = pol_options_default();
  options.sigma = 0.5;
  options.index = POL_INDEX_2_STABILIZED;
  check_steps(formulation, &options);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
}

/* A step that fails allocates nothing either. */
static void test_failure(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  double q[MAX_Q], v[MAX_V];
  unsigned char keep[MAX_V];
  options.newton.max_iterations = 1;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                   POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  alloc_fail_at(0);
  assert_int_equal(pol_integrator_step(integrator, 0.1), POL_NOT_CONVERGED);
  assert_int_equal(alloc_count(), 0);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
}

/* Restarts as of a reset: twice, with a few steps before each. */
static void check_restarts(const pol_formulation *formulation, const pol_options *options)
{
  double q[MAX_Q], v[MAX_V];
  unsigned char keep[MAX_V];
  pol_integrator *integrator;
  const pol_dae *dae = pol_formulation_dae(formulation);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  const pol_state *now = pol_integrator_state(integrator);
  const long live = alloc_live();
  const int fresh_pivots = options->solver == POL_SOLVER_SPARSE; /* a restart chooses them */
  for (int n = 1; n <= 6; n++) {
    alloc_fail_at(0);
    pol_status status = pol_integrator_step(integrator, 1e-3);
    if (!status && n % 3 == 0) {
      memcpy(v, now->v, sizeof v);
      v[1] *= -0.5;
      status = pol_integrator_restart(integrator, now->t, now->q, v, NULL);
    }
    if (status || (alloc_count() > 0 && !fresh_pivots) || alloc_live() != live)
      fail_msg("redundant %d, solver %d, step %d: status %d, %ld allocations",
               (int)options->redundant, (int)options->solver, n, (int)status, alloc_count());
  }
  pol_integrator_free(&integrator);
}

/* The tip of the top is held once, and twice. */
static void test_restarts(void **state)
{
  (void)state;
  static const pol_redundant ways[] = {POL_REDUNDANT_DROP, POL_REDUNDANT_MINIMUM_NORM};
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  for (int joints = 1; joints <= 2; joints++) {
    pol_formulation *formulation;
    pol_joint again = *pol_mechanism_joint(mechanism, 0);
    again.name = "again";
    if (joints == 2) assert_int_equal(pol_mechanism_add_joint(mechanism, &again, NULL), POL_OK);
    assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
    for (int k = 0; k < 2; k++)
      for (int s = 0; s < 2; s++) {
        pol_options options = pol_options_default();
        options.redundant = ways[k];
        options.solver = solvers[s];
        check_restarts(formulation, &options);
      }
    pol_formulation_free(&formulation);
  }
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_allocation),
      cmocka_unit_test(test_methods),
      cmocka_unit_test(test_failure),
      cmocka_unit_test(test_restarts),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
