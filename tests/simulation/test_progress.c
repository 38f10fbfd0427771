/* A program that watches a simulation start and step, and stops it; and the estimate of memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"
#include "dae/independence.h"
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

/* The rank of the constraints can be stopped at each of its reports: when they are evaluated, once
 * to find the loops and once to decide, and after each loop, here 60 bodies with two joints to the
 * ground.  It can be started again. */
static void a_rank_decision_can_be_stopped(void **state)
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  poli_independence *independence;
  double q[12 * 60], v[6 * 60];
  unsigned char dependent[12 * 60], keep[6 * 60];
  (void)state;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int i = 0; i < 60; i++) {
    char name[16];
    pol_body body = pol_body_default();
    pol_joint joint = pol_joint_default();
    snprintf(name, sizeof name, "b%d", i);
    body.name = name;
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
    joint.name = name;
    for (int k = 0; k < 2; k++) {
      name[0] = "jk"[k];
      assert_int_equal(
          pol_mechanism_add_joint_at(mechanism, &joint, POL_GROUND, i, origin, NULL, NULL), POL_OK);
    }
  }
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
  const pol_dae *dae = pol_formulation_dae(formulation);
  assert_int_equal(pol_dae_num_constraints(dae), 720);
  assert_int_equal(poli_independence_create(&independence, dae), POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  const pol_point at = {.q = q, .v = v};
  int reports = 0;
  for (pol_status status = POL_CANCELLED; status == POL_CANCELLED;) {
    watcher w = {.stop_at = ++reports};
    const pol_progress progress = {count_reports, &w};
    poli_monitor monitor;
    poli_monitor_begin(&monitor, &progress, "matrix");
    status = poli_independence_find(independence, &at, NULL, -1, dependent);
    poli_monitor_end(&monitor);
    assert_true(status == POL_OK || status == POL_CANCELLED);
  }
  assert_true(reports > 60);
  for (int i = 0; i < 720; i++) assert_int_equal(dependent[i], i % 12 >= 6);
  poli_independence_free(&independence);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
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
  assert_true(of_loop.rank > 0.0 && of_loop.rank < of_loop.memory);
  assert_true(of_chain.rank < of_chain.memory);
  pol_model_free(&loop);
  pol_model_free(&chain);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_start_can_be_stopped_anywhere),
      cmocka_unit_test(a_rank_decision_can_be_stopped),
      cmocka_unit_test(a_step_can_be_stopped_and_goes_on),
      cmocka_unit_test(memory_is_estimated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
