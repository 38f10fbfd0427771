/* Each allocation of the linear algebra made to fail once; and which calls allocate nothing. */
#include "../failing_alloc.h"
#include "matrices.h"

static pol_status make_pattern(void *user)
{
  (void)user;
  static const pol_block blocks[] = {{0, 0, 3, 3}, {2, 1, 4, 4}};
  pol_pattern *pattern;
  pol_status status = pol_pattern_create(&pattern, 6, 5, 2, blocks);
  assert_int_equal(pattern == NULL, status != POL_OK);
  pol_pattern_free(&pattern);
  return status;
}

typedef struct job {
  const pol_pattern *pattern;
  const double *values;
  pol_solver_kind kind;
} job;

/* Create, factor, refactor and free. */
static pol_status use_solver(void *user)
{
  const job *work = user;
  pol_solver *solver;
  pol_status status = pol_solver_create(&solver, work->pattern, work->kind);
  assert_int_equal(solver == NULL, status != POL_OK);
  if (!status) status = pol_solver_factor(solver, work->values);
  if (!status) status = pol_solver_refactor(solver, work->values);
  pol_solver_free(&solver);
  return status;
}

static void test_pattern_failures(void **state)
{
  (void)state;
  assert_in_range(alloc_exhaust(make_pattern, NULL), 5, 20);
}

static void test_solver_failures(void **state)
{
  (void)state;
  static const pol_solver_kind all[3] = {POL_SOLVER_AUTO, POL_SOLVER_DENSE, POL_SOLVER_SPARSE};
  static const int least[3] = {4, 4, 20}; /* dense: solver and backend, one block of arrays each */
  uint64_t seed = 30;
  for (int k = 0; k < 3; k++) {
    pol_pattern *pattern = chain_pattern(7, 3);
    double *values = random_values(pattern, &seed);
    job work = {pattern, values, all[k]};
    assert_in_range(alloc_exhaust(use_solver, &work), least[k], 1000);
    free(values);
    pol_pattern_free(&pattern);
  }

  /* the automatic choice that analyses and then turns to the dense backend */
  pol_pattern *pattern = full_pattern(60);
  double *values = random_values(pattern, &seed);
  job work = {pattern, values, POL_SOLVER_AUTO};
  assert_in_range(alloc_exhaust(use_solver, &work), 15, 1000);
  free(values);
  pol_pattern_free(&pattern);
}

/* A small pivot that is not round-off makes the sparse backend look at its factors. */
static void test_small_pivot_failures(void **state)
{
  (void)state;
  static const double values[4] = {1.0, 1.0, 1.0, 1.0 + 1e-12};
  pol_pattern *pattern = full_pattern(2);
  job work = {pattern, values, POL_SOLVER_SPARSE};
  assert_in_range(alloc_exhaust(use_solver, &work), 20, 1000);
  pol_pattern_free(&pattern);
}

/* A refactorisation that has to pivot anew and gets no memory leaves no factors behind. */
static void test_fallback_failures(void **state)
{
  (void)state;
  static const double good[4] = {2.0, 1.0, 1.0, 2.0};
  static const double bad[4] = {0.0, 1.0, 1.0, 0.0};
  pol_pattern *pattern = full_pattern(2);
  long live = alloc_live();
  pol_solver *solver;
  assert_int_equal(pol_solver_create(&solver, pattern, POL_SOLVER_SPARSE), POL_OK);
  pol_status status = POL_NO_MEMORY;
  for (long n = 1; status; n++) {
    double x[2] = {3.0, 5.0};
    assert_int_equal(pol_solver_factor(solver, good), POL_OK);
    alloc_fail_at(n);
    status = pol_solver_refactor(solver, bad);
    alloc_fail_at(0);
    pol_solver_solve(solver, x);
    if (status) {
      assert_int_equal(status, POL_NO_MEMORY);
      assert_true(isnan(x[0]));
    } else {
      assert_true(n > 1);
      assert_true(x[0] == 5.0 && x[1] == 3.0);
    }
  }
  pol_solver_free(&solver);
  assert_int_equal(alloc_live(), live);
  pol_pattern_free(&pattern);
}

static void test_no_allocation(void **state)
{
  (void)state;
  uint64_t seed = 31;
  for (int bodies = 1; bodies <= 12; bodies += 11) {
    pol_pattern *pattern = chain_pattern(bodies, 3);
    double *values = random_values(pattern, &seed);
    double *x = make_array((size_t)pattern->cols, sizeof *x);
    for (int k = 0; k < 2; k++) {
      pol_solver *solver;
      pol_solver_kind kind = k ? POL_SOLVER_SPARSE : POL_SOLVER_DENSE;
      assert_int_equal(pol_solver_create(&solver, pattern, kind), POL_OK);
      alloc_fail_at(0);
      assert_int_equal(pol_solver_factor(solver, values), POL_OK);
      if (kind == POL_SOLVER_DENSE) assert_int_equal(alloc_count(), 0);

      alloc_fail_at(0);
      for (int a = 0; a < pol_pattern_nonzeros(pattern); a++)
        values[a] += 0.001 * random_number(&seed);
      assert_int_equal(pol_solver_refactor(solver, values), POL_OK);
      pol_solver_solve(solver, x);
      assert_int_equal(alloc_count(), 0);
      pol_solver_free(&solver);
    }
    free(values);
    free(x);
    pol_pattern_free(&pattern);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pattern_failures),     cmocka_unit_test(test_solver_failures),
      cmocka_unit_test(test_small_pivot_failures), cmocka_unit_test(test_fallback_failures),
      cmocka_unit_test(test_no_allocation),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
