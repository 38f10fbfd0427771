/* A reset whose velocities cannot be computed fails with the status and the reason of that
 * computation.  That happens in no model that starts, so the computation is replaced. */
#define poli_assembler_response response_that_fails

#include "simulation/event_rules.c"

#include "simulation/simulate.h"

static pol_status how;
static long calls, good_calls;

pol_status response_that_fails(pol_assembler *assembler, double t, const double *q, const double *f,
                               double *w, pol_diagnostics *diagnostics)
{
  (void)assembler;
  (void)q;
  assert_non_null(diagnostics);
  if (calls++ < good_calls) {
    for (int i = 0; i < 6; i++) w[i] = f[i]; /* the masses of the model are 1 */
    return POL_OK;
  }
  *diagnostics = (pol_diagnostics){.status = how, .t = t, .equation = 2};
  snprintf(diagnostics->message, sizeof diagnostics->message, "no pivot");
  snprintf(diagnostics->advice, sizeof diagnostics->advice, "start elsewhere");
  return how;
}

static const char text[] =
    "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"events\": "
    "[{\"name\": "
    "\"kick\", \"expression\": \"t - 0.333\", \"direction\": \"rising\", \"action\": \"reset\", "
    "\"set\": {\"a.velocity.x\": \"2\"}}], \"simulation\": {\"step\": 0.02, \"end\": 1}}";

static void a_failed_reset_keeps_its_status(void **state)
{
  (void)state;
  static const pol_status statuses[] = {POL_SINGULAR, POL_CALLBACK, POL_NO_MEMORY};
  for (int i = 0; i < 6; i++) {
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = start(model);
    pol_status status = POL_OK;
    how = statuses[i / 2];
    good_calls = i % 2; /* the first of its computations fails, or the second */
    calls = 0;
    while (status == POL_OK && !pol_simulation_finished(simulation))
      status = pol_simulation_step(simulation);
    assert_int_equal(status, how);
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    assert_int_equal(d->status, how);
    assert_string_equal(d->message, "the reset of event 'kick' failed: no pivot");
    assert_string_equal(d->advice, "start elsewhere");
    assert_non_null(strstr(d->where, "body 'a'"));
    assert_true(fabs(d->t - 0.333) < 1e-12);
    assert_true(pol_simulation_state(simulation)->v[3] == 0.0); /* that before the reset */
    assert_int_equal(pol_simulation_step(simulation), how);     /* it does not go on */
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

static void a_reset_that_succeeds_goes_on(void **state)
{
  (void)state;
  pol_model *model = read_model_text(text);
  pol_simulation *simulation = start(model);
  good_calls = 2;
  calls = 0;
  step_to_end(simulation);
  assert_int_equal(calls, 2);
  assert_true(fabs(pol_simulation_state(simulation)->v[3] - 2.0) < 1e-12);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failed_reset_keeps_its_status),
      cmocka_unit_test(a_reset_that_succeeds_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
