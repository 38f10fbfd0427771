/* What output costs: runs with steps of variable size, without and with 10 000 output times, each
 * interpolated within the step that holds it.  The steps are the same in both.
 *
 * "solution": positions, velocities, accelerations and multipliers, pol_integrator_interpolate().
 * "simulation": with energy, work and constraint residuals, as pol_simulation_step() has them ready
 * for each row of a result.  "record": with all channels of a row, pol_record_row(); writing them
 * to a file comes on top.  Processor time, the least of several runs that take turns. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

enum { OUTPUTS = 10000, MAX = 512 };

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Time of one run of the integrator, with this many outputs. */
static double run_integrator(const pol_model *model, int outputs, long *steps)
{
  static double q[MAX], v[MAX], vd[MAX], lambda[MAX];
  static unsigned char keep[MAX];
  pol_formulation *formulation;
  pol_integrator *integrator;
  const pol_settings *settings = &model->settings;
  if (pol_formulation_create(&formulation, model->mechanism, settings->formulation)) exit(1);
  const pol_dae *dae = pol_formulation_dae(formulation);
  if (dae->group.nq > MAX || pol_dae_num_constraints(dae) > MAX) exit(1);
  pol_formulation_initial(formulation, q, v, keep);
  if (pol_integrator_create(&integrator, dae, &settings->options)) exit(1);
  if (pol_integrator_start(integrator, 0.0, q, v, keep)) exit(1);
  const pol_state *now = pol_integrator_state(integrator);
  double start = seconds();
  long next = 1;
  while (now->t < settings->end) {
    if (pol_integrator_adapt(integrator, settings->end)) exit(1);
    for (; next <= outputs; next++) {
      double t = settings->end * (double)next / outputs;
      if (t > now->t) break;
      pol_integrator_interpolate(integrator, t, q, v, vd, lambda);
    }
  }
  double time = seconds() - start;
  *steps = pol_integrator_counts(integrator)->steps;
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  return time;
}

static double run_simulation(const pol_model *model, int outputs, int rows)
{
  pol_simulation *simulation;
  pol_settings settings = model->settings;
  settings.output = (pol_output){.step = settings.end / outputs};
  if (pol_simulation_create(&simulation, model->mechanism, &settings, NULL)) exit(1);
  pol_record *record;
  if (pol_record_create(&record, simulation)) exit(1);
  double *row = malloc((size_t)pol_record_count(record) * sizeof *row);
  if (row == NULL) exit(1);
  double start = seconds();
  while (!pol_simulation_finished(simulation)) {
    if (pol_simulation_step(simulation)) exit(1);
    if (rows) pol_record_row(record, row);
  }
  double time = seconds() - start;
  free(row);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return time;
}

static double least(double a, double b)
{
  return a < b ? a : b;
}

static void measure(const char *path, double tolerance, double end)
{
  pol_errors errors = {0, NULL};
  pol_model *model;
  double time[5] = {1e9, 1e9, 1e9, 1e9, 1e9};
  long steps = 0;
  if (pol_model_read_file(&model, path, 0, NULL, &errors)) exit(1);
  pol_control *control = &model->settings.options.control;
  control->rtol = control->atol_translation = control->atol_rotation = tolerance;
  model->settings.options.index = POL_INDEX_2_STABILIZED;
  model->settings.variable = 1;
  model->settings.end = end;
  for (int k = 0; k < 9; k++) {
    time[0] = least(time[0], run_integrator(model, 0, &steps));
    time[1] = least(time[1], run_integrator(model, OUTPUTS, &steps));
    time[2] = least(time[2], run_simulation(model, 1, 0));
    time[3] = least(time[3], run_simulation(model, OUTPUTS, 0));
    time[4] = least(time[4], run_simulation(model, OUTPUTS, 1));
  }
  printf("%-36s %7ld steps  solution %8.2f ms %+6.1f %%   simulation %8.2f ms %+6.1f %%  "
         "record %+6.1f %%\n",
         model->name, steps, 1e3 * time[0], 100.0 * (time[1] / time[0] - 1.0), 1e3 * time[2],
         100.0 * (time[3] / time[2] - 1.0), 100.0 * (time[4] / time[2] - 1.0));
  pol_model_free(&model);
}

int main(void)
{
  printf("%d output times, time without them and what they add:\n", OUTPUTS);
  measure(POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json", 1e-8, 10.0);
  measure(POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json", 1e-8, 5.0);
  measure(POLHODE_SOURCE_DIR "/models/examples/chain_20.json", 1e-6, 5.0);
  return 0;
}
