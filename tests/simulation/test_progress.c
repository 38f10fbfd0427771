/* A program that watches a simulation start and step, and stops it; and the estimate of memory. */
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

#define FOUR_BAR POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json"

typedef struct watcher {
  int reports, stop_at;
  char stage[64]; /* of the last report */
} watcher;

static int count_reports(const char *stage, double share, void *user)
{
  watcher *w = user;
  assert_true(share <= 1.0);
  strncpy(w->stage, stage, sizeof w->stage - 1);
  w->reports++;
  assert_true(w->stop_at == 0 || w->reports <= w->stop_at); /* none after a stop */
  return w->reports == w->stop_at;
}

/* Stopped at each of its reports, a start leaves nothing behind; not stopped, it does what it does
 * without a watcher. */
static void a_start_can_be_stopped_anywhere(void **state)
{
  (void)state;
  pol_model *model = read_model(FOUR_BAR);
  pol_diagnostics d;
  watcher w = {0};
  pol_simulation *simulation = NULL;
  model->settings.progress = (pol_progress){count_reports, &w};
  simulation = start(model);
  pol_simulation_free(&simulation);
  const int reports = w.reports;
  assert_true(reports >= 5);
  for (int k = 1; k <= reports; k++) {
    w = (watcher){.stop_at = k};
    assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                     POL_CANCELLED);
    assert_null(simulation);
    assert_int_equal(d.status, POL_CANCELLED);
    assert_string_equal(d.message, pol_status_text(POL_CANCELLED));
  }
  pol_model_free(&model);
}

/* A step that is stopped leaves the last state, and the run goes on from there. */
static void a_step_can_be_stopped_and_goes_on(void **state)
{
  (void)state;
  for (int variable = 0; variable < 2; variable++) {
    pol_model *model = read_model(FOUR_BAR);
    watcher w = {0};
    model->settings.end = 0.2;
    model->settings.variable = variable;
    if (variable) model->settings.options.index = POL_INDEX_2_STABILIZED;
    pol_simulation *undisturbed = start(model);
    step_to_end(undisturbed);
    model->settings.progress = (pol_progress){count_reports, &w};
    pol_simulation *simulation = start(model);
    int stops = 0;
    while (!pol_simulation_finished(simulation)) {
      const double t = pol_simulation_state(simulation)->t;
      w = (watcher){.stop_at = stops < 5 ? stops + 1 : 0};
      pol_status status = pol_simulation_step(simulation);
      if (w.stop_at > 0 && w.reports == w.stop_at) {
        assert_int_equal(status, POL_CANCELLED);
        assert_string_equal(w.stage, "step");
        assert_true(pol_simulation_state(simulation)->t == t);
        assert_int_equal(pol_simulation_diagnostics(simulation)->status, POL_CANCELLED);
        stops++;
        w = (watcher){0};
        status = pol_simulation_step(simulation);
      }
      assert_int_equal(status, POL_OK);
      if (w.stop_at > 0) w.stop_at = 0;
    }
    assert_true(stops >= 3);
    const pol_formulation *f = pol_simulation_formulation(simulation);
    assert_near(pol_simulation_state(simulation)->q, pol_simulation_state(undisturbed)->q,
                pol_formulation_dae(f)->group.nq, 1e-6);
    pol_simulation_free(&simulation);
    pol_simulation_free(&undisturbed);
    pol_model_free(&model);
  }
}

/* The full matrix is counted where there is a loop, and only there. */
static void memory_is_estimated(void **state)
{
  (void)state;
  pol_model *loop = read_model(FOUR_BAR);
  pol_model *chain = read_model(POLHODE_SOURCE_DIR "/models/examples/chain_20.json");
  pol_estimate of_loop, of_chain;
  assert_int_equal(pol_simulation_estimate(loop->mechanism, &loop->settings, &of_loop), POL_OK);
  assert_int_equal(pol_simulation_estimate(chain->mechanism, &chain->settings, &of_chain), POL_OK);
  assert_true(of_loop.memory > 0.0 && of_chain.memory > of_loop.memory);
  assert_true(of_loop.rank == 8.0 * of_loop.velocities * of_loop.constraints);
  assert_true(of_chain.rank == 0.0);
  pol_model_free(&loop);
  pol_model_free(&chain);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_start_can_be_stopped_anywhere),
      cmocka_unit_test(a_step_can_be_stopped_and_goes_on),
      cmocka_unit_test(memory_is_estimated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
