/* Steps of variable size on mechanisms with closed loops: every run ends, and the error falls with
 * the tolerance.  scripts/adaptive_sweep.py does the same with more mechanisms and tolerances. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define EXAMPLES POLHODE_SOURCE_DIR "/models/examples/"
#define LOOPS POLHODE_SOURCE_DIR "/tests/data/loops/"

enum { MAX_NUMBERS = 12 * 13, SAMPLES = 10 };

typedef struct samples {
  int count;                           /* numbers at a time */
  double number[SAMPLES][MAX_NUMBERS]; /* positions and rotation matrices of all bodies */
  pol_counts counts;
  char message[320]; /* why the run did not end; empty */
} samples;

static void take(const pol_simulation *simulation, int num_bodies, double *number)
{
  const pol_state *state = pol_simulation_state(simulation);
  for (int b = 0; b < num_bodies; b++, number += 12) {
    pol_body_state body;
    pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, b,
                               &body);
    memcpy(number, body.position, sizeof body.position);
    memcpy(number + 3, body.rotation, sizeof body.rotation);
  }
}

/* Runs a model with default settings for variable steps, and takes samples at equal times. */
static void sweep(const char *path, pol_formulation_kind formulation, double end, double tolerance,
                  samples *out)
{
  static const char *const variable[] = {"simulation.rtol=1e-6"};
  pol_model *model = read_model_with(path, 1, variable);
  pol_settings *settings = &model->settings;
  pol_control *control = &settings->options.control;
  int num_bodies = pol_mechanism_num_bodies(model->mechanism), sample = 0;
  control->rtol = control->atol_translation = control->atol_rotation = tolerance;
  settings->formulation = formulation;
  settings->end = end;
  settings->output.step = end / SAMPLES;
  *out = (samples){.count = 12 * num_bodies};
  assert_true(out->count <= MAX_NUMBERS);
  pol_simulation *simulation = start(model);
  while (!pol_simulation_finished(simulation) && !out->message[0]) {
    if (pol_simulation_step(simulation) != POL_OK)
      snprintf(out->message, sizeof out->message, "t = %g: %s",
               pol_simulation_summary(simulation)->t,
               pol_simulation_diagnostics(simulation)->message);
    else if (sample < SAMPLES)
      take(simulation, num_bodies, out->number[sample++]);
  }
  out->counts = pol_simulation_summary(simulation)->counts;
  if (!out->message[0]) assert_int_equal(sample, SAMPLES);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static double error_of(const samples *a, const samples *b)
{
  double result = 0.0;
  for (int k = 0; k < SAMPLES; k++)
    for (int i = 0; i < a->count; i++)
      result = fmax(result, fabs(a->number[k][i] - b->number[k][i]));
  return result;
}

/* Each run that used to stop where redundant constraints are chosen anew. */
static void choosing_constraints_anew_stops_no_run(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    pol_formulation_kind formulation;
    double end, tolerance;
  } cases[] = {{LOOPS "parallelogram.json", POL_SO3XR3, 0.6, 1e-5},
               {LOOPS "four_bar.json", POL_SO3XR3, 3.0, 1e-6},
               {LOOPS "planar_loop.json", POL_EULER_PARAMETERS, 0.4, 1e-6},
               {EXAMPLES "four_bar_motor.json", POL_SO3XR3, 10.0, 1e-4}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    samples s;
    sweep(cases[k].path, cases[k].formulation, cases[k].end, cases[k].tolerance, &s);
    if (s.message[0]) fail_msg("%s: %s", strrchr(cases[k].path, '/') + 1, s.message);
  }
}

/* Errors from this on say that the tolerance is too coarse for the motion, not how much.  And
 * where a finer tolerance takes no more steps, it is not the tolerance that sets their size, but
 * how far a body may turn in a step. */
static const double coarse = 0.3;

static void the_error_falls_with_the_tolerance(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    double end;
    int first, last;      /* eps = 1e-first .. 1e-last */
    double most_rejected; /* of the steps */
  } cases[] = {{LOOPS "four_bar.json", 1.0, 2, 6, 0.6},
               {EXAMPLES "four_bar_motor.json", 2.0, 2, 6, 0.6},
               {EXAMPLES "squeezer.json", 0.03, 2, 6, 0.5},
               {EXAMPLES "governor.json", 1.0, 2, 6, 0.3},
               {EXAMPLES "planetary_gear.json", 1.0, 2, 6, 0.4},
               {EXAMPLES "suspension.json", 1.0, 2, 6, 0.2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *name = strrchr(cases[k].path, '/') + 1;
    samples reference, s;
    double last = HUGE_VAL;
    long last_steps = 0;
    sweep(cases[k].path, POL_SO3XR3, cases[k].end, pow(10.0, -cases[k].last - 2), &reference);
    if (reference.message[0]) fail_msg("%s: %s", name, reference.message);
    for (int e = cases[k].first; e <= cases[k].last; e++) {
      sweep(cases[k].path, POL_SO3XR3, cases[k].end, pow(10.0, -e), &s);
      if (s.message[0]) fail_msg("%s, 1e-%d: %s", name, e, s.message);
      double error = error_of(&s, &reference);
      print_message("%s, 1e-%d: %ld steps, %ld rejected, error %.3g\n", name, e, s.counts.steps,
                    s.counts.rejected, error);
      if (!(error < last) && !(error > coarse && last > coarse) && s.counts.steps > last_steps)
        fail_msg("%s, 1e-%d: error %.3g, before it %.3g", name, e, error, last);
      if ((double)s.counts.rejected > cases[k].most_rejected * (double)s.counts.steps)
        fail_msg("%s, 1e-%d: %ld of %ld rejected", name, e, s.counts.rejected, s.counts.steps);
      last = error;
      last_steps = s.counts.steps;
    }
    assert_true(last < coarse);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choosing_constraints_anew_stops_no_run),
      cmocka_unit_test(the_error_falls_with_the_tolerance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
