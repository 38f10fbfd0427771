/* The method that "auto" chooses against all others: time for the same error, for the models that
 * come with polhode, for model files, or for random mechanisms of the differential tests.
 *
 * For each candidate the error at the end (positions and quaternions of all bodies) and the time
 * are measured over a range of tolerances; the time for the error of the choice follows by
 * interpolation of the logarithms.  With fixed steps all have the step of the model, and those
 * count that have at most the error of the choice.  "times the best" is the time of the choice over
 * the smallest of these.  All times include the creation of the simulation, that of the choice also
 * the time of choosing.
 *
 *     studies/method_choice [-v] [MODEL ... | FIRST-LAST] */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

#include "differential/random_model.h"

/* Runs that take longer, in s, are given up; errors below this are round-off. */
static const double longest = 2.0, round_off = 1e-12;

enum { MAX_BODIES = 60, NUM_SIZES = 9, REPEATS = 5 };

static const struct {
  const char *name, *method;
  pol_formulation_kind formulation;
  int order;
} candidates[] = {{"geom1", "geom1", POL_SO3XR3_SPATIAL, 2},
                  {"rattle 2", "rattle", POL_SO3XR3, 2},
                  {"rattle 4", "rattle", POL_SO3XR3, 4},
                  {"rattle 6", "rattle", POL_SO3XR3, 6},
                  {"rattle 8", "rattle", POL_SO3XR3, 8}};
enum { NUM_CANDIDATES = sizeof candidates / sizeof candidates[0] };

/* A mechanism, and its settings without a method. */
typedef struct subject {
  const char *name;
  const pol_mechanism *mechanism;
  pol_settings settings;
} subject;

typedef struct outcome {
  pol_status status;
  double time, end[MAX_BODIES][7];
} outcome;

static int verbose;

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Settings with steps of this size, or with this tolerance where variable. */
static pol_settings with_size(const subject *s, int variable, double size)
{
  pol_settings settings = s->settings;
  pol_control *control = &settings.options.control;
  settings.variable = variable;
  if (!variable) settings.step = fmin(size, settings.end);
  if (variable) control->rtol = control->atol_translation = control->atol_rotation = size;
  if (variable) {
    settings.options.index = POL_INDEX_2_STABILIZED;
    pol_options_set_rho_inf(&settings.options, 0.8);
  }
  return settings;
}

static pol_settings with_candidate(const subject *s, int candidate, int variable, double size)
{
  pol_settings settings = with_size(s, variable, size);
  pol_options *options = &settings.options;
  options->method = candidates[candidate].method;
  options->order = candidates[candidate].order;
  settings.formulation = candidates[candidate].formulation;
  if (candidate == 0) options->sigma = options->gamma / (3.0 * options->beta);
  return settings;
}

/* The least time of some runs. */
static void run(const subject *s, const pol_settings *settings, int repeats, outcome *out)
{
  memset(out, 0, sizeof *out);
  out->time = HUGE_VAL;
  for (int k = 0; k < repeats && !out->status; k++) {
    pol_simulation *simulation;
    const double start = seconds();
    out->status = pol_simulation_create(&simulation, s->mechanism, settings, NULL);
    if (out->status) break;
    while (!out->status && !pol_simulation_finished(simulation) && seconds() - start < longest)
      out->status = pol_simulation_step(simulation);
    if (!out->status && !pol_simulation_finished(simulation)) out->status = POL_NOT_CONVERGED;
    out->time = fmin(out->time, seconds() - start);
    const pol_state *end = pol_simulation_state(simulation);
    for (int b = 0; b < pol_mechanism_num_bodies(s->mechanism) && b < MAX_BODIES; b++) {
      pol_body_state body;
      pol_formulation_body_state(pol_simulation_formulation(simulation), end->q, end->v, b, &body);
      memcpy(out->end[b], body.position, sizeof body.position);
      memcpy(out->end[b] + 3, body.quaternion, sizeof body.quaternion);
    }
    pol_simulation_free(&simulation);
  }
}

static double error_of(const outcome *one, const outcome *exact)
{
  double largest = round_off;
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

/* The time for an error, between two measured ones; the least of those with at most this error.
 * With fixed steps all have the step of the choice. */
static double time_for(int count, const double *error, const double *time, double wanted)
{
  double best = HUGE_VAL;
  for (int i = 0; i < count; i++) {
    if (error[i] <= wanted) best = fmin(best, time[i]);
    if (i + 1 < count && error[i] > wanted && error[i + 1] <= wanted) {
      const double x = log(wanted / error[i]) / log(error[i + 1] / error[i]);
      best = fmin(best, time[i] * pow(time[i + 1] / time[i], x));
    }
  }
  return best;
}

/* Errors and times of a candidate over the sizes. */
typedef struct series {
  int count;
  double error[NUM_SIZES], time[NUM_SIZES];
} series;

static void measure_series(const subject *s, int candidate, int variable, const outcome *exact,
                           series *to)
{
  static outcome one;
  to->count = 0;
  for (int k = 0; k < (variable ? NUM_SIZES : 1); k++) {
    const double size = variable ? pow(10.0, -3.0 - k) : s->settings.step;
    const pol_settings settings = with_candidate(s, candidate, variable, size);
    run(s, &settings, 1, &one);
    if (!one.status && one.time < 0.05) run(s, &settings, 3, &one);
    const int slow = one.time > 0.3 * longest && one.time < HUGE_VAL;
    if (!one.status) {
      to->error[to->count] = error_of(&one, exact);
      to->time[to->count++] = one.time;
      if (verbose)
        printf("    %-9s %8.2g  error %.1e  %9.3f ms\n", candidates[candidate].name, size,
               to->error[to->count - 1], 1e3 * one.time);
    }
    if (slow) break;
  }
  /* an error that is larger with a smaller tolerance was small by accident before */
  for (int k = to->count - 2; k >= 0; k--) to->error[k] = fmax(to->error[k], to->error[k + 1]);
}

/* The choice with this size against the series; returns "times the best". */
static double judge(const subject *s, int variable, double size, const series *all,
                    const outcome *exact)
{
  static outcome one;
  pol_settings settings = with_size(s, variable, size);
  settings.options.method = "auto";
  double choosing = HUGE_VAL, best, own;
  for (int k = 0; k < REPEATS; k++) {
    const double start = seconds();
    pol_settings again = with_size(s, variable, size);
    again.options.method = "auto";
    if (pol_settings_choose(s->mechanism, 0, &again)) return 0.0;
    choosing = fmin(choosing, seconds() - start);
    settings = again;
  }
  run(s, &settings, REPEATS, &one);
  printf("%-28s %s %7.1e  ", s->name, variable ? "rtol" : "step", size);
  if (one.status) {
    printf("fails (%s): %s\n", pol_status_text(one.status), settings.choice);
    return 0.0;
  }
  own = error_of(&one, exact);
  best = one.time;
  int which = -1;
  for (int c = 0; c < NUM_CANDIDATES; c++) {
    const double other = time_for(all[c].count, all[c].error, all[c].time, own);
    if (other < best) which = c;
    best = fmin(best, other);
  }
  const double ratio = (one.time + choosing) / best;
  printf("error %.1e  %8.3f ms + %.3f ms  %4.1f times the best (%s)  order %d %s\n", own,
         1e3 * one.time, 1e3 * choosing, ratio, which < 0 ? "itself" : candidates[which].name,
         pol_options_order(&settings.options), settings.choice);
  fflush(stdout);
  return ratio;
}

/* Tolerances, and the step size of the model if it has one. */
static double measure(const subject *s)
{
  static outcome exact;
  static series all[NUM_CANDIDATES];
  double worst = 0.0;
  exact.status = POL_NOT_CONVERGED;
  for (int i = 0; exact.status && i < 6; i++) {
    const int rattle = i < 2;
    const double tolerance = rattle ? pow(100.0, i) * 1e-12 : pow(10.0, i) * 1e-13;
    const pol_settings settings = with_candidate(s, rattle ? 4 - 2 * i : 0, 1, tolerance);
    run(s, &settings, 1, &exact);
  }
  if (exact.status) {
    printf("%-28s no reference\n", s->name);
    return 0.0;
  }
  for (int variable = s->settings.variable; variable <= 1; variable++) {
    for (int c = 0; c < NUM_CANDIDATES; c++) measure_series(s, c, variable, &exact, &all[c]);
    if (!variable) worst = fmax(worst, judge(s, 0, s->settings.step, all, &exact));
    for (int k = 4; variable && k <= 8; k += 2)
      worst = fmax(worst, judge(s, 1, pow(10.0, -k), all, &exact));
  }
  return worst;
}

static double measure_file(const char *path)
{
  pol_errors errors = {0};
  pol_model *model = NULL;
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (pol_model_read_file(&model, path, 0, NULL, &errors)) {
    printf("%-28s cannot be read\n", name);
    pol_errors_clear(&errors);
    return 0.0;
  }
  subject s = {.name = name, .mechanism = model->mechanism, .settings = pol_settings_default()};
  s.settings.step = model->settings.step;
  s.settings.end = model->settings.end;
  s.settings.variable = model->settings.variable;
  s.settings.events = model->settings.events;
  s.settings.num_events = model->settings.num_events;
  const double worst = measure(&s);
  pol_model_free(&model);
  return worst;
}

static double measure_random(unsigned long long seed)
{
  random_model model;
  char message[400], name[40];
  if (random_model_create(&model, seed, message, sizeof message)) return 0.0;
  snprintf(name, sizeof name, "random mechanism %llu", seed);
  subject s = {.name = name, .mechanism = model.mechanism, .settings = pol_settings_default()};
  s.settings.step = 2e-3;
  s.settings.end = model.end;
  s.settings.events = model.events;
  s.settings.num_events = model.num_events;
  printf("%s: %s\n", name, model.words);
  const double worst = measure(&s);
  random_model_free(&model);
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
                                        "examples/bouncing_ball.json",
                                        "examples/chain_20.json",
                                        "examples/chain_stop.json",
                                        "examples/double_pendulum.json",
                                        "examples/dzhanibekov_nut.json",
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
  int next = 1;
  if (next < count && strcmp(arguments[next], "-v") == 0) verbose = next++;
  const int all = next == count;
  for (; next < count; next++) {
    unsigned long long first, last;
    char rest;
    if (sscanf(arguments[next], "%llu-%llu%c", &first, &last, &rest) == 2)
      for (; first <= last; first++) worst = fmax(worst, measure_random(first));
    else
      worst = fmax(worst, measure_file(arguments[next]));
  }
  for (size_t i = 0; all && i < sizeof shipped / sizeof shipped[0]; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s/models/%s", POLHODE_SOURCE_DIR, shipped[i]);
    worst = fmax(worst, measure_file(path));
  }
  printf("at most %.1f times the best\n", worst);
  return 0;
}
