/* The method that "auto" chooses against all others: time for the same error, with steps of
 * variable size, for the models that come with polhode.
 *
 * For each candidate the error at the end (positions and quaternions of all bodies) and the time
 * are measured over a range of tolerances; the time for the error of the choice follows by
 * interpolation of the logarithms.  "times the best" is the time of the choice over the smallest of
 * these.
 *
 *     studies/method_choice [MODEL ...] */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

/* Runs that take longer, in s, are given up. */
static const double longest = 4.0;

enum { MAX_BODIES = 60, NUM_TOLERANCES = 8, REPEATS = 3 };

static const struct {
  const char *name, *method, *formulation;
  int order;
} candidates[] = {{"geom1", "geom1", "so3xr3-spatial", 2},
                  {"rattle 2", "rattle", "so3xr3", 2},
                  {"rattle 4", "rattle", "so3xr3", 4},
                  {"rattle 6", "rattle", "so3xr3", 6},
                  {"rattle 8", "rattle", "so3xr3", 8}};
enum { NUM_CANDIDATES = sizeof candidates / sizeof candidates[0] };

typedef struct outcome {
  pol_status status;
  double time, end[MAX_BODIES][7];
  char choice[200];
} outcome;

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reads the model with these settings and runs it; the least time of some runs. */
static void run(const char *path, const char *method, const char *formulation, int order,
                double tolerance, int repeats, outcome *out)
{
  char text[6][80];
  const char *changes[6];
  int count = 0;
  snprintf(text[count++], 80, "simulation.method=%s", method);
  snprintf(text[count++], 80, "simulation.rtol=%g", tolerance);
  snprintf(text[count++], 80, "simulation.steps=variable");
  if (formulation) snprintf(text[count++], 80, "simulation.formulation=%s", formulation);
  if (strcmp(method, "rattle") == 0) snprintf(text[count++], 80, "simulation.order=%d", order);
  if (strcmp(method, "geom1") == 0) snprintf(text[count++], 80, "simulation.sigma=optimal");
  for (int i = 0; i < count; i++) changes[i] = text[i];
  pol_errors errors = {0};
  pol_model *model = NULL;
  memset(out, 0, sizeof *out);
  out->time = HUGE_VAL;
  out->status = pol_model_read_file(&model, path, count, changes, &errors);
  if (out->status) {
    snprintf(out->choice, sizeof out->choice, "%.150s", errors.items[0].rule);
    pol_errors_clear(&errors);
    return;
  }
  snprintf(out->choice, sizeof out->choice, "%s", model->settings.choice);
  pol_settings settings = model->settings;
  settings.output = (pol_output){0};
  for (int k = 0; k < repeats && !out->status; k++) {
    pol_simulation *simulation;
    out->status = pol_simulation_create(&simulation, model->mechanism, &settings, NULL);
    if (out->status) break;
    const double start = seconds();
    while (!out->status && !pol_simulation_finished(simulation) && seconds() - start < longest)
      out->status = pol_simulation_step(simulation);
    if (!pol_simulation_finished(simulation)) out->status = POL_NOT_CONVERGED;
    out->time = fmin(out->time, seconds() - start);
    const pol_state *end = pol_simulation_state(simulation);
    for (int b = 0; b < pol_mechanism_num_bodies(model->mechanism) && b < MAX_BODIES; b++) {
      pol_body_state body;
      pol_formulation_body_state(pol_simulation_formulation(simulation), end->q, end->v, b, &body);
      memcpy(out->end[b], body.position, sizeof body.position);
      memcpy(out->end[b] + 3, body.quaternion, sizeof body.quaternion);
    }
    pol_simulation_free(&simulation);
  }
  pol_model_free(&model);
}

static double error_of(const outcome *one, const outcome *exact)
{
  double largest = 1e-16;
  for (int b = 0; b < MAX_BODIES; b++) {
    double plus = 0.0, minus = 0.0;
    for (int i = 0; i < 7; i++) {
      const double d = fabs(one->end[b][i] - exact->end[b][i]);
      if (i < 3) largest = fmax(largest, d);
      if (i >= 3) plus = fmax(plus, d);
      if (i >= 3) minus = fmax(minus, fabs(one->end[b][i] + exact->end[b][i]));
    }
    largest = fmax(largest, fmin(plus, minus));
  }
  return largest;
}

/* The time for an error, between two measured ones or beyond the last; the least of those that have
 * at most this error. */
static double time_for(int count, const double *error, const double *time, double wanted)
{
  double best = HUGE_VAL;
  for (int i = 0; i < count; i++) {
    if (error[i] <= wanted) best = fmin(best, time[i]);
    if (i + 1 < count && error[i] > wanted && error[i + 1] <= wanted && error[i + 1] > 0.0) {
      const double x = log(wanted / error[i]) / log(error[i + 1] / error[i]);
      best = fmin(best, time[i] * pow(time[i + 1] / time[i], x));
    }
  }
  return best;
}

static double measure(const char *path)
{
  static outcome exact, one;
  static double error[NUM_CANDIDATES][NUM_TOLERANCES], time[NUM_CANDIDATES][NUM_TOLERANCES];
  int count[NUM_CANDIDATES] = {0};
  double worst = 0.0;
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  run(path, "rattle", "so3xr3", 8, 1e-12, 1, &exact);
  if (exact.status) run(path, "rattle", "so3xr3", 4, 1e-10, 1, &exact);
  for (double tolerance = 1e-11; exact.status && tolerance < 1e-7; tolerance *= 10.0)
    run(path, "geom1", "so3xr3-spatial", 2, tolerance, 1, &exact);
  if (exact.status) {
    printf("%-24s no reference: %s\n", name, exact.choice);
    return 0.0;
  }
  for (int c = 0; c < NUM_CANDIDATES; c++)
    for (int k = 0; k < NUM_TOLERANCES; k++) {
      run(path, candidates[c].method, candidates[c].formulation, candidates[c].order,
          pow(10.0, -3.0 - k), 1 + (k < 4), &one);
      if (one.time > 0.3 * longest && one.time < HUGE_VAL) k = NUM_TOLERANCES;
      if (one.status) continue;
      error[c][count[c]] = error_of(&one, &exact);
      time[c][count[c]++] = one.time;
    }
  for (int k = 4; k <= 8; k += 2) {
    run(path, "auto", NULL, 0, pow(10.0, -k), REPEATS, &one);
    if (one.status) {
      printf("%-24s 1e-%d fails: %s\n", name, k, one.choice);
      continue;
    }
    const double own = error_of(&one, &exact);
    double best = one.time;
    int which = -1;
    for (int c = 0; c < NUM_CANDIDATES; c++) {
      const double other = time_for(count[c], error[c], time[c], own);
      if (other < best) which = c;
      best = fmin(best, other);
    }
    printf("%-24s 1e-%d  error %.1e  %9.3f ms  %4.1f times the best (%s)  %s\n", name, k, own,
           1e3 * one.time, one.time / best, which < 0 ? "itself" : candidates[which].name,
           one.choice);
    fflush(stdout);
    worst = fmax(worst, one.time / best);
  }
  return worst;
}

int main(int count, char **arguments)
{
  static const char *const shipped[] = {"bruels-cardona-2010/heavy_top.json",
                                        "arnold-cardona-bruels-2015/pendulum.json",
                                        "holzinger-arnold-gerstmayr/slider_crank.json",
                                        "holzinger-arnold-gerstmayr/rotor.json",
                                        "gavrea-negrut-potra-2005/double_pendulum.json",
                                        "gavrea-negrut-potra-2005/planar_pendulum.json",
                                        "kinon-betsch-schneider-2023/four_particles.json",
                                        "kinon-betsch-schneider-2023/pendulum.json",
                                        "examples/chain_20.json",
                                        "examples/chain_stop.json",
                                        "examples/double_pendulum.json",
                                        "examples/four_bar_motor.json",
                                        "examples/friction_block.json",
                                        "examples/governor.json",
                                        "examples/gyroscope.json",
                                        "examples/lag_actuator.json",
                                        "examples/pendulum.json",
                                        "examples/pid_pendulum.json",
                                        "examples/planetary_gear.json",
                                        "examples/squeezer.json",
                                        "examples/stewart_platform.json",
                                        "examples/suspension.json"};
  double worst = 0.0;
  for (int i = 1; i < count; i++) worst = fmax(worst, measure(arguments[i]));
  for (size_t i = 0; count < 2 && i < sizeof shipped / sizeof shipped[0]; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s/models/%s", POLHODE_SOURCE_DIR, shipped[i]);
    worst = fmax(worst, measure(path));
  }
  printf("at most %.1f times the best\n", worst);
  return 0;
}
