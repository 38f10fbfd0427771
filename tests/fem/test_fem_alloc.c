/* Each allocation of meshes, factorisations and reductions made to fail once. */
#include "../failing_alloc.h"

#include <polhode/reduction.h>

typedef struct job {
  int counts[3], modes, held;
  double frequency;
} job;

/* Makes a block and reduces it. */
static pol_status use(void *user)
{
  const job *work = user;
  const pol_material steel = {2.1e11, 0.3, 7800.0};
  const double size[3] = {1.0, 0.1, 0.1};
  const pol_reduction_options options = {.modes = work->modes, .frequency = work->frequency};
  const int left[4] = {0, work->counts[0] + 1, 2 * work->counts[0] + 2, 3 * work->counts[0] + 3};
  int right[4];
  for (int i = 0; i < 4; i++) right[i] = left[i] + work->counts[0];
  const pol_attachment ends[] = {{"left", 4, left, NULL}, {"right", 4, right, NULL}};
  pol_finite_elements *e;
  pol_reduced_body *r = NULL;
  pol_errors errors = {0};
  pol_status status = pol_finite_elements_block(&e, size, work->counts, &steel);
  assert_int_equal(e == NULL, status != POL_OK);
  if (!status) status = pol_finite_elements_check(e, &errors);
  if (!status) status = pol_reduce(&r, e, work->held, ends, &options, &errors);
  assert_int_equal(r == NULL, status != POL_OK);
  pol_reduced_body_free(&r);
  pol_finite_elements_free(&e);
  pol_errors_clear(&errors);
  return status;
}

static void test_failures(void **state)
{
  (void)state;
  job full = {{4, 1, 1}, 3, 2, 0.0}, large = {{26, 1, 1}, 3, 2, 0.0},
      until = {{4, 1, 1}, 0, 2, 5000.0};
  job unheld = {{4, 1, 1}, 3, 0, 0.0};
  assert_in_range(alloc_exhaust(use, &full), 30, 1000);
  assert_in_range(alloc_exhaust(use, &large), 30, 1000);
  assert_in_range(alloc_exhaust(use, &until), 30, 1000);
  assert_in_range(alloc_exhaust(use, &unheld), 30, 1000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_failures)};
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
