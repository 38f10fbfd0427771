/* Processor time per body and step: chains of spherical joints, chains of hinges, and ladders of
 * four-bars, with 10 to 100 000 bodies and steps of 1 ms, with rattle and geom1 and with other
 * programs.
 *
 *     sizes [--csv FILE] [--svg FILE] [--rounds N] [--budget SECONDS]
 *
 * Errors are those of the end of the last link, or rocker, of the smallest model after 0.2 s; the
 * reference is rattle of order 8 with half the step.  A size is left out if setting it up and a few
 * steps would exceed the budget (2 s), by what a tenth of it took, or if the driver says so; for
 * 100 000 bodies give a minute or two, and 6 GB of memory.  Velocities on the constraints and
 * reactions of rattle are computed for the last state only (pol_integrator_steps): the others do
 * not compute reactions at all. */
#include "plan.h"

#include <malloc.h>

#include <polhode/plot.h>

#include "models.h"

enum { NUM_SIZES = 5, MAX_WAYS = 20, OWN = 4 };
static const int sizes[NUM_SIZES] = {10, 100, 1000, 10000, 100000};
static const double step = 1e-3;
/* The last is for polhode only, since it makes no difference to others. */
static const char *const model_names[BENCH_MODELS] = {"spherical chain", "revolute chain",
                                                      "four-bar loops", "four-bar loops of hinges"};
/* The largest models of ours that are measured. */
static const int own_largest[BENCH_MODELS] = {100000, 100000, 100001, 10001};

static const struct {
  const char *name, *method, *nature;
  pol_index index;
  int order;
} own[OWN] = {
    {"rattle order 2", "rattle", "order 2, hard joints, double", POL_INDEX_3, 2},
    {"rattle order 4", "rattle", "order 4, hard joints, double", POL_INDEX_3, 4},
    {"geom1 index 3", "geom1", "order 2, hard joints, double", POL_INDEX_3, 2},
    {"geom1 stabilized-2", "geom1", "order 2, hard joints, double", POL_INDEX_2_STABILIZED, 2}};

/* One way to step one model of one size. */
typedef struct way {
  const char *program, *method, *nature;
  const peer_method *peer; /* NULL: polhode */
  bench_plan plan;
  int bodies;      /* the size asked for, or a little less if that is its limit */
  double setup;    /* s, until the first step */
  double cost;     /* s, of the last run, with setting up where that is part of it */
  double spent;    /* s, both, at the size before */
  bench_entry run; /* times are s per body and step */
  char note[400];
} way;

static way ways[MAX_WAYS]; /* of the present model */

/* Seconds of all steps but the first two; the end of the last body goes to x. */
static int run_plan(bench_plan *plan, int model, int bodies, int steps, double h, double x[3],
                    double *seconds)
{
  pol_integrator *integrator = plan->integrator;
  pol_status status = pol_integrator_start(integrator, 0.0, plan->q, plan->v, NULL);
  const int first = steps < 2 ? steps : 2;
  if (!status) status = pol_integrator_steps(integrator, h, first);
  const double begin = bench_now();
  if (!status) status = pol_integrator_steps(integrator, h, steps - first);
  *seconds = bench_now() - begin;
  if (status) {
    snprintf(plan->reason, sizeof plan->reason, "%s",
             pol_integrator_diagnostics(integrator)->message);
    return -1;
  }
  pol_body_state body;
  const pol_state *state = pol_integrator_state(integrator);
  const int column = model >= PEER_LOOPS ? 2 : 0;
  const double arm = model >= PEER_LOOPS ? 0.5 : 0.5 * peer_link_length;
  pol_formulation_body_state(plan->formulation, state->q, state->v, bodies - 1, &body);
  for (int i = 0; i < 3; i++) x[i] = body.position[i] + arm * body.rotation[3 * i + column];
  return 0;
}

static int run_way(way *w, int model, int bodies, int steps, double h, double x[3], double *seconds)
{
  if (w->peer) return w->peer->chain(model, bodies, steps, h, x, seconds);
  return run_plan(&w->plan, model, bodies, steps, h, x, seconds);
}

/* All ways there are to step the model, not opened yet. */
static int list_ways(int model)
{
  int used = 0;
  for (int k = 0; k < OWN; k++)
    ways[used++] = (way){.program = "polhode", .method = own[k].name, .nature = own[k].nature};
  for (int d = 0; d < PEER_DRIVERS && model < PEER_MODELS; d++) {
    int count;
    const peer_method *methods = peer_load(peer_drivers[d], &count);
    if (count == 0 && used < MAX_WAYS) {
      ways[used] = (way){.program = peer_drivers[d], .method = "", .nature = ""};
      snprintf(ways[used].note, sizeof ways[used].note, "%s", bench_not_built);
      used++;
    }
    for (int k = 0; k < count; k++)
      if (methods[k].chain && used < MAX_WAYS)
        ways[used++] = (way){.program = methods[k].program,
                             .method = methods[k].method,
                             .nature = methods[k].nature,
                             .peer = &methods[k]};
  }
  return used;
}

static void open_ways(int used, int model, const pol_mechanism *mechanism, int bodies,
                      double budget)
{
  for (int k = 0; k < used; k++) {
    way *w = &ways[k];
    if (w->note[0]) continue;
    if (w->peer) {
      const int largest = w->peer->largest[model];
      w->bodies = bodies < largest ? bodies : largest;
      if (w->bodies < 0.9 * bodies) {
        snprintf(w->note, sizeof w->note, "its driver ends at %d bodies", largest);
        continue;
      }
    }
    /* ten times the size: at least ten times the time, or as it grew the last time */
    const double spent = w->setup + w->cost;
    if (spent * fmax(10.0, w->spent > 0.0 ? spent / w->spent : 0.0) > budget) {
      snprintf(w->note, sizeof w->note, "would exceed the budget of time");
      continue;
    }
    w->spent = spent;
    if (w->peer) continue;
    if (bodies > own_largest[model]) {
      snprintf(w->note, sizeof w->note, "not measured");
      continue;
    }
    double x[3], seconds;
    const double begin = bench_now();
    w->bodies = bodies;
    w->plan = bench_plan_make(own[k].method, POL_SO3XR3, own[k].index, own[k].order, 0);
    if (bench_plan_open(&w->plan, mechanism) ||
        run_plan(&w->plan, model, bodies, 1, step, x, &seconds))
      memcpy(w->note, w->plan.reason, sizeof w->note); /* of one size */
    w->setup = bench_now() - begin;
  }
}

/* Errors after 0.2 s with steps of 1 ms. */
static void find_errors(int used, int model, int bodies, double *errors)
{
  double reference[3], x[3], seconds;
  bench_plan plan = bench_plan_make("rattle", POL_SO3XR3, POL_INDEX_3, 8, 0);
  pol_mechanism *mechanism = bench_make_model(model, &bodies);
  int known = !bench_plan_open(&plan, mechanism) &&
              !run_plan(&plan, model, bodies, 400, 0.5 * step, reference, &seconds);
  for (int k = 0; k < used; k++) {
    errors[k] = NAN;
    if (!known || ways[k].note[0] || run_way(&ways[k], model, bodies, 200, step, x, &seconds))
      continue;
    errors[k] = hypot(hypot(x[0] - reference[0], x[1] - reference[1]), x[2] - reference[2]);
  }
  bench_plan_close(&plan);
  pol_mechanism_free(&mechanism);
}

static void print_size(FILE *csv, int model, int size, int steps, int used, const double *errors)
{
  for (int k = 0; k < used; k++) {
    const way *w = &ways[k];
    const bench_entry *run = &w->run;
    printf("  %-14s %-16s %7d bodies ", w->program, w->method, w->note[0] ? size : w->bodies);
    if (w->note[0])
      printf("%10s  %s\n", "-", w->note);
    else
      printf("%10.3f us   error at %d bodies %.1e m\n", 1e6 * run->median, sizes[0], errors[k]);
    if (!csv) continue;
    fprintf(csv, "%s,\"%s\",\"%s\",%d,%d,%d,%.6g,%.6g,%.6g,%d,%.6g,%.3g,", model_names[model],
            w->program, w->method, size, w->bodies, steps, run->median, run->least, run->largest,
            run->num_times, w->setup, errors[k]);
    bench_csv_text(csv, w->note);
    fprintf(csv, ",\"%s\"\n", w->nature);
  }
  fflush(stdout);
  if (csv) fflush(csv);
}

/* For the figure: number of bodies, and microseconds per body and step; 0 where there is none. */
static double drawn[BENCH_MODELS][MAX_WAYS][2][NUM_SIZES];

static void draw(const char *path, int used)
{
  static pol_series series[PEER_MODELS][MAX_WAYS];
  static char labels[MAX_WAYS][80];
  pol_panel panels[PEER_MODELS];
  for (int m = 0; m < PEER_MODELS; m++) {
    panels[m] = pol_panel_default();
    panels[m].y = (pol_axis){.label = model_names[m], .log = 1, .margin = 0.05};
    panels[m].legend = POL_LEGEND_BESIDE;
    panels[m].series = series[m];
    for (int k = 0; k < used; k++) {
      snprintf(labels[k], sizeof labels[k], "%s %s", ways[k].program, ways[k].method);
      pol_series *line = &series[m][panels[m].num_series];
      *line = (pol_series){.x = drawn[m][k][0],
                           .y = drawn[m][k][1],
                           .count = NUM_SIZES,
                           .label = labels[k],
                           .marker = POL_MARKER_CIRCLE};
      pol_series_look(line, k);
      if (drawn[m][k][1][0] > 0.0) panels[m].num_series++;
    }
  }
  pol_figure figure = pol_figure_default();
  figure.title = "Microseconds per body and step of 1 ms";
  figure.panels = panels;
  figure.num_panels = PEER_MODELS;
  figure.x = (pol_axis){.label = "bodies", .log = 1, .margin = 0.03};
  figure.width = 800.0;
  figure.height = 840.0;
  if (pol_figure_write(&figure, path)) fprintf(stderr, "bench: cannot write %s\n", path), exit(1);
}

/* Returns the number of ways. */
static int measure(const bench_options *options, int model)
{
  double errors[MAX_WAYS];
  const int used = list_ways(model);
  printf("%s: processor time per body and step of 1 ms\n", model_names[model]);
  for (int s = 0; s < NUM_SIZES; s++) {
    int bodies = sizes[s], active = 0;
    const int steps = 2 + (int)fmin(200.0, fmax(4.0, 2e4 / sizes[s]));
    double x[3], seconds;
    pol_mechanism *mechanism = bench_make_model(model, &bodies);
    open_ways(used, model, mechanism, bodies, options->budget);
    if (s == 0) find_errors(used, model, bodies, errors);
    for (int round = 0; round < options->rounds; round++)
      for (int k = 0; k < used; k++) {
        way *w = &ways[k];
        if (w->note[0] || (round >= 1 && w->cost > 5.0) || (round >= 3 && w->cost > 1.0)) continue;
        const double begin = bench_now();
        if (run_way(w, model, w->bodies, steps, step, x, &seconds)) {
          snprintf(w->note, sizeof w->note, "%s", w->peer ? "failed" : w->plan.reason);
          continue;
        }
        w->cost = bench_now() - begin;
        w->run.times[w->run.num_times++] = w->run.median = seconds / (steps - 2) / w->bodies;
      }
    for (int k = 0; k < used; k++) {
      bench_median(&ways[k].run);
      if (ways[k].note[0]) continue;
      active++;
      drawn[model][k][0][s] = ways[k].bodies;
      drawn[model][k][1][s] = 1e6 * ways[k].run.median;
    }
    print_size(options->csv, model, sizes[s], steps, used, errors);
    for (int k = 0; k < used; k++) {
      bench_plan_close(&ways[k].plan);
      ways[k].run.num_times = 0;
      ways[k].run.median = 0.0;
    }
    pol_mechanism_free(&mechanism);
    malloc_trim(0);
    if (!active) break;
  }
  return used;
}

int main(int argc, char **argv)
{
  const bench_options options = bench_start(argc, argv, 3, 2.0);
  if (options.csv)
    fputs("model,program,method,size,bodies,steps,seconds,least,largest,rounds,setup,error,note,"
          "class\n",
          options.csv);
  int used = 0;
  for (int model = 0; model < BENCH_MODELS; model++) {
    const int count = measure(&options, model);
    if (model < PEER_MODELS) used = count;
  }
  if (options.svg) draw(options.svg, used);
  if (options.csv) fclose(options.csv);
  return 0;
}
