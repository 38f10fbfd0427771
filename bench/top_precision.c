/* Heavy top: processor time to reach errors of the centre of mass of 1e-3 to 1e-11 m
 * at t = 1 s, with the methods of polhode and with other programs.
 *
 *     top_precision [--csv FILE] [--svg FILE] [--rounds N] [--budget SECONDS]
 *
 * The reference is the independent solution in papers/data (extrapolation of order 18 in 80-bit
 * numbers, and a second route that agrees to 7e-13). */
#include "plan.h"

#include <polhode/model.h>
#include <polhode/plot.h>

#include "heavy_top_reference.h"
#include "peers/peers.h"

enum { MAX_CONTENDERS = 40, NUM_TARGETS = 5 };
static const double targets[NUM_TARGETS] = {1e-3, 1e-5, 1e-7, 1e-9, 1e-11};
static const double end = 1.0;

static double distance(const double x[3])
{
  double q[7], v[6], lambda[3];
  exact(GRID - 1, q, v, lambda);
  return hypot(hypot(x[0] - q[4], x[1] - q[5]), x[2] - q[6]);
}

static int run_plan(void *data, bench_point *point)
{
  bench_plan *plan = data;
  pol_body_state body;
  if (bench_plan_run(plan, end, point->effort, &point->seconds)) return -1;
  const pol_state *state = pol_integrator_state(plan->integrator);
  pol_formulation_body_state(plan->formulation, state->q, state->v, 0, &body);
  point->error = distance(body.position);
  return 0;
}

static int run_peer(void *data, bench_point *point)
{
  double x[3];
  if (((const peer_method *)data)->top(point->effort, end, x, &point->seconds)) return -1;
  point->error = distance(x);
  return 0;
}

static const struct {
  const char *name, *method;
  pol_formulation_kind kind;
  pol_index index;
  int order, variable, optimal; /* optimal: sigma */
  double first;
  int drawn; /* the figure has not room for all */
} ways[] = {
    {"rattle order 2", "rattle", POL_SO3XR3, POL_INDEX_3, 2, 0, 0, 250, 1},
    {"rattle order 4", "rattle", POL_SO3XR3, POL_INDEX_3, 4, 0, 0, 100, 1},
    {"rattle order 6", "rattle", POL_SO3XR3, POL_INDEX_3, 6, 0, 0, 50, 0},
    {"rattle order 8", "rattle", POL_SO3XR3, POL_INDEX_3, 8, 0, 0, 30, 1},
    {"geom1 so3xr3", "geom1", POL_SO3XR3, POL_INDEX_3, 2, 0, 0, 500, 0},
    {"geom1 so3xr3-spatial, sigma optimal", "geom1", POL_SO3XR3_SPATIAL, POL_INDEX_3, 2, 0, 1, 500,
     1},
    {"geom1 so3xr3-spatial, stabilized-2, sigma optimal", "geom1", POL_SO3XR3_SPATIAL,
     POL_INDEX_2_STABILIZED, 2, 0, 1, 500, 0},
    {"geom1 variable steps, stabilized-2", "geom1", POL_SO3XR3_SPATIAL, POL_INDEX_2_STABILIZED, 2,
     1, 0, 1e3, 0},
    {"vi-a euler-parameters", "vi-a", POL_EULER_PARAMETERS, POL_INDEX_3, 2, 0, 0, 1000, 0},
    {"em euler-parameters", "em", POL_EULER_PARAMETERS, POL_INDEX_3, 2, 0, 0, 1000, 0},
};
enum { NUM_WAYS = sizeof ways / sizeof ways[0] };

/* By order. */
static const char *const natures[] = {[2] = "order 2, hard joints, double",
                                      [4] = "order 4, hard joints, double",
                                      [6] = "order 6, hard joints, double",
                                      [8] = "order 8, hard joints, double"};

static bench_contender contenders[MAX_CONTENDERS];
static bench_plan plans[NUM_WAYS];

static int add_plans(const pol_mechanism *mechanism)
{
  for (int k = 0; k < NUM_WAYS; k++) {
    plans[k] = bench_plan_make(ways[k].method, ways[k].kind, ways[k].index, ways[k].order,
                               ways[k].variable);
    pol_options *options = &plans[k].options;
    if (ways[k].optimal) options->sigma = options->gamma / (3.0 * options->beta);
    contenders[k] = (bench_contender){.program = "polhode",
                                      .method = ways[k].name,
                                      .nature = natures[ways[k].order],
                                      .variable = ways[k].variable,
                                      .first = ways[k].first,
                                      .run = run_plan,
                                      .data = &plans[k]};
    if (bench_plan_open(&plans[k], mechanism)) contenders[k].note = plans[k].reason;
  }
  return NUM_WAYS;
}

static int add_peer(int used, const char *driver)
{
  int count;
  const peer_method *methods = peer_load(driver, &count);
  if (count == 0)
    contenders[used++] =
        (bench_contender){.program = driver, .method = "", .note = bench_not_built};
  for (int k = 0; k < count; k++)
    if (methods[k].top && used < MAX_CONTENDERS)
      contenders[used++] = (bench_contender){.program = methods[k].program,
                                             .method = methods[k].method,
                                             .nature = methods[k].nature,
                                             .variable = methods[k].variable,
                                             .floor = methods[k].floor,
                                             .first = methods[k].first,
                                             .run = run_peer,
                                             .data = (void *)(size_t)&methods[k]};
  return used;
}

/* Error over time: four methods of polhode, and all others that took part. */
static void draw(const char *path, int used)
{
  static double x[MAX_CONTENDERS][MAX_POINTS], y[MAX_CONTENDERS][MAX_POINTS];
  static pol_series series[MAX_CONTENDERS];
  static char labels[MAX_CONTENDERS][120];
  int count = 0;
  for (int k = 0; k < used; k++) {
    const bench_contender *who = &contenders[k];
    if (who->note || who->num_points < 2 || (k < NUM_WAYS && !ways[k].drawn)) continue;
    for (int i = 0; i < who->num_points; i++) {
      x[count][i] = 1e3 * who->points[i].seconds;
      y[count][i] = who->points[i].error;
    }
    snprintf(labels[count], sizeof labels[0], "%s %s", who->program, who->method);
    series[count] = (pol_series){.x = x[count],
                                 .y = y[count],
                                 .count = (size_t)who->num_points,
                                 .label = labels[count],
                                 .marker = POL_MARKER_CIRCLE};
    pol_series_look(&series[count], count);
    count++;
  }
  pol_panel panel = pol_panel_default();
  panel.series = series;
  panel.num_series = count;
  panel.y = (pol_axis){.label = "error of the centre of mass at 1 s (m)", .log = 1, .margin = 0.03};
  panel.legend = POL_LEGEND_BESIDE;
  pol_figure figure = pol_figure_default();
  figure.title = "Heavy top: error over processor time";
  figure.panels = &panel;
  figure.num_panels = 1;
  figure.x = (pol_axis){.label = "processor time (ms)", .log = 1, .margin = 0.03};
  figure.width = 1000.0;
  figure.height = 520.0;
  if (pol_figure_write(&figure, path)) fprintf(stderr, "bench: cannot write %s\n", path), exit(1);
}

int main(int argc, char **argv)
{
  static bench_entry entries[MAX_CONTENDERS * NUM_TARGETS];
  const bench_options options = bench_start(argc, argv, 7, 1.0);
  pol_model *model;
  pol_errors errors = {0};
  if (read_reference(POLHODE_SOURCE_DIR "/papers/data/heavy_top_grid.csv") ||
      pol_model_read_file(&model, POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json",
                          0, NULL, &errors)) {
    fputs("bench: cannot read the heavy top\n", stderr);
    return 1;
  }
  int used = add_plans(model->mechanism);
  for (int d = 0; d < PEER_DRIVERS; d++) used = add_peer(used, peer_drivers[d]);

  for (int k = 0; k < used; k++) {
    if (!contenders[k].note) bench_ladder(&contenders[k], targets[NUM_TARGETS - 1], options.budget);
    for (int i = 0; i < NUM_TARGETS; i++)
      bench_reach(&contenders[k], targets[i], &entries[k * NUM_TARGETS + i]);
  }
  bench_rounds(entries, used * NUM_TARGETS, options.rounds);

  puts(
      "heavy top, processor time to an error of the centre of mass at t = 1 s; steps or tolerance");
  printf("%-76s", "");
  for (int i = 0; i < NUM_TARGETS; i++) printf(" %11.0e m %-9s", targets[i], "");
  puts("");
  for (int k = 0; k < used; k++) {
    char text[24], name[120];
    snprintf(name, sizeof name, "%s %s", contenders[k].program, contenders[k].method);
    printf("%-76s", name);
    for (int i = 0; i < NUM_TARGETS && !contenders[k].note; i++) {
      const bench_entry *e = &entries[k * NUM_TARGETS + i];
      const double setting = contenders[k].variable ? 1.0 / e->at.effort : ceil(e->at.effort);
      printf(" %12s %-10.3g", bench_time_text(e, text), e->status == BENCH_MISSED ? 0.0 : setting);
    }
    printf(" %s\n", contenders[k].note ? contenders[k].note : "");
  }
  bench_csv_header(options.csv);
  bench_csv(options.csv, "heavy top", entries, used * NUM_TARGETS);
  if (options.svg) draw(options.svg, used);
  for (int k = 0; k < NUM_WAYS; k++) bench_plan_close(&plans[k]);
  pol_model_free(&model);
  if (options.csv) fclose(options.csv);
  return 0;
}
