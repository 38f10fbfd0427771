/* Processor time to reach an accuracy with chains of 10 and 90 links, the slider-crank, and ladders
 * of one, ten and forty four-bars, with the methods of polhode and with other programs.
 *
 *     mechanisms [--csv FILE] [--svg FILE] [--rounds N] [--budget SECONDS]
 *
 * Errors are distances of one point at the end.  Chains of spherical joints: the free end after
 * 0.5 s; slider-crank (models/holzinger-arnold-gerstmayr): centre of mass of the rod after 1 s;
 * both against rattle of order 8 with 2000 steps.  Four-bars, the IFToMM benchmark: end of the last
 * rocker after 10 s, through ten positions where all rods are in one line and the motion could
 * branch; parallelograms move as one pendulum, which a Runge-Kutta method of order 4 with 400 000
 * steps gives to 1e-13.  The largest change of energy is listed too; IFToMM asks for less than 0.1
 * J. */
#include "plan.h"

#include <polhode/model.h>
#include <polhode/plot.h>

#include "models.h"

enum { MAX_CONTENDERS = 24, NUM_TARGETS = 3, NUM_CASES = 6 };

static const struct {
  const char *name;
  int links; /* of a chain; 0: none */
  int count; /* of four-bars; both 0: the slider-crank */
  double end, targets[NUM_TARGETS];
  double first; /* number of steps to begin with */
} cases[NUM_CASES] = {
    {"chain of 10 links", 10, 0, 0.5, {1e-3, 1e-5, 1e-7}, 12},
    {"chain of 90 links", 90, 0, 0.5, {1e-3, 1e-5, 1e-7}, 12},
    {"slider-crank", 0, 0, 1.0, {1e-3, 1e-5, 1e-7}, 10},
    {"1 four-bar", 0, 1, 10.0, {1e-2, 1e-4, 1e-6}, 60},
    {"10 four-bars", 0, 10, 10.0, {1e-2, 1e-4, 1e-6}, 60},
    {"40 four-bars", 0, 40, 10.0, {1e-2, 1e-4, 1e-6}, 60},
};

static const char crank[] =
    POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json";

static const struct {
  const char *name, *method, *nature;
  pol_index index;
  int order;
} ways[] = {
    {"rattle order 2", "rattle", "order 2, hard joints, double", POL_INDEX_3, 2},
    {"rattle order 4", "rattle", "order 4, hard joints, double", POL_INDEX_3, 4},
    {"rattle order 8", "rattle", "order 8, hard joints, double", POL_INDEX_3, 8},
    {"geom1 index 3", "geom1", "order 2, hard joints, double", POL_INDEX_3, 2},
    {"geom1 stabilized-2", "geom1", "order 2, hard joints, double", POL_INDEX_2_STABILIZED, 2},
};
enum { NUM_WAYS = sizeof ways / sizeof ways[0] };

/* The present case. */
static int now;
static double reference[3];
static bench_plan plans[NUM_WAYS];
static bench_contender contenders[MAX_CONTENDERS];

static double distance(const double x[3])
{
  return hypot(hypot(x[0] - reference[0], x[1] - reference[1]), x[2] - reference[2]);
}

/* The point of a mechanism whose error counts. */
static void get_point(const bench_plan *plan, double x[3])
{
  const pol_state *state = pol_integrator_state(plan->integrator);
  const int links = cases[now].links, last = 2 * cases[now].count; /* the last rocker */
  const int column = links ? 0 : 2;
  const double arm = links ? 0.5 * peer_link_length : last ? 0.5 : 0.0;
  pol_body_state body;
  pol_formulation_body_state(plan->formulation, state->q, state->v,
                             links  ? links - 1
                             : last ? last
                                    : 1,
                             &body);
  for (int i = 0; i < 3; i++) x[i] = body.position[i] + arm * body.rotation[3 * i + column];
}

typedef struct motion {
  bench_plan *plan;
  double h;
} motion;

static int advance(void *data, long n)
{
  const motion *m = data;
  return n > 0 && pol_integrator_steps(m->plan->integrator, m->h, n) ? -1 : 0;
}

static double get_energy(void *data)
{
  const bench_plan *plan = ((const motion *)data)->plan;
  const pol_point at = pol_state_point(pol_integrator_state(plan->integrator));
  pol_energy energy;
  pol_formulation_energy(plan->formulation, &at, &energy);
  return energy.kinetic + energy.potential;
}

static int run_plan(void *data, bench_point *point)
{
  motion m = {data, cases[now].end / point->effort};
  pol_integrator *integrator = m.plan->integrator;
  int status = pol_integrator_start(integrator, 0.0, m.plan->q, m.plan->v, NULL);
  if (!status && cases[now].count) {
    const peer_motion all = {advance, get_energy, &m};
    status = peer_sample(&all, 0, point->effort, &point->drift, &point->seconds);
  } else if (!status) {
    const double begin = bench_now();
    status = advance(&m, (long)point->effort);
    point->seconds = bench_now() - begin;
  }
  if (status) return -1;
  double x[3];
  get_point(m.plan, x);
  point->error = distance(x);
  return 0;
}

static int run_peer(void *data, bench_point *point)
{
  const peer_method *peer = data;
  const double end = cases[now].end, effort = point->effort;
  const int bodies = 2 * cases[now].count + 1, steps = (int)effort;
  double x[3], *seconds = &point->seconds;
  int status;
  if (cases[now].links) {
    status = peer->chain(PEER_SPHERICAL, cases[now].links, steps, end / steps, x, seconds);
    *seconds *= steps / (steps - 2.0); /* it leaves the first two out */
  } else if (cases[now].count) {
    status = peer->loops(bodies, effort, end, x, &point->drift, seconds);
  } else {
    status = peer->slider(effort, end, x, seconds);
  }
  point->error = distance(x);
  return status;
}

/* Angle of a pendulum that all rods together are: J phi'' = G sin(phi). */
static double find_angle(int count, double end)
{
  const double moment = (count + 1) * (0.25 + peer_bar_inertia) + count;
  const double factor = peer_gravity * ((count + 1) * 0.5 + count) / moment;
  const int steps = 400000;
  const double h = end / steps;
  double q = 0.0, v = 1.0;
  for (int n = 0; n < steps; n++) {
    const double a1 = factor * sin(q), v2 = v + 0.5 * h * a1;
    const double a2 = factor * sin(q + 0.5 * h * v), v3 = v + 0.5 * h * a2;
    const double a3 = factor * sin(q + 0.5 * h * v2), v4 = v + h * a3;
    const double a4 = factor * sin(q + h * v3);
    q += h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
    v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  return q;
}

/* 0 if found. */
static int find_reference(const pol_mechanism *mechanism)
{
  if (cases[now].count) {
    const double angle = find_angle(cases[now].count, cases[now].end);
    reference[0] = cases[now].count + sin(angle), reference[1] = 0.0, reference[2] = cos(angle);
    return 0;
  }
  bench_plan plan = bench_plan_make("rattle", POL_SO3XR3, POL_INDEX_3, 8, 0);
  double seconds;
  int status = bench_plan_open(&plan, mechanism);
  if (!status) status = bench_plan_run(&plan, cases[now].end, 2000, &seconds);
  if (!status) get_point(&plan, reference);
  bench_plan_close(&plan);
  return status;
}

/* A method of another program; chains are run with equal steps by all. */
static bench_contender make_peer(const peer_method *peer)
{
  const int variable = peer->variable && !cases[now].links;
  const int able = cases[now].links   ? peer->chain != NULL && peer->largest[0] >= cases[now].links
                   : cases[now].count ? peer->loops != NULL
                                      : peer->slider != NULL;
  return (bench_contender){.program = peer->program,
                           .method = peer->method,
                           .nature = peer->nature,
                           .variable = variable,
                           .floor = peer->floor,
                           .first = variable ? 1e3 : cases[now].first,
                           .run = run_peer,
                           .data = (void *)(size_t)peer,
                           .note = able ? NULL : "does not take part"};
}

static int add_contenders(const pol_mechanism *mechanism)
{
  int used = 0;
  for (int k = 0; k < NUM_WAYS; k++) {
    plans[k] = bench_plan_make(ways[k].method, POL_SO3XR3, ways[k].index, ways[k].order, 0);
    contenders[used] = (bench_contender){.program = "polhode",
                                         .method = ways[k].name,
                                         .nature = ways[k].nature,
                                         .first = cases[now].first,
                                         .run = run_plan,
                                         .data = &plans[k]};
    if (bench_plan_open(&plans[k], mechanism)) contenders[used].note = plans[k].reason;
    used++;
  }
  for (int d = 0; d < PEER_DRIVERS; d++) {
    int count;
    const peer_method *methods = peer_load(peer_drivers[d], &count);
    if (count == 0 && used < MAX_CONTENDERS)
      contenders[used++] =
          (bench_contender){.program = peer_drivers[d], .method = "", .note = bench_not_built};
    for (int k = 0; k < count; k++)
      if ((methods[k].loops || methods[k].slider || methods[k].chain) && used < MAX_CONTENDERS)
        contenders[used++] = make_peer(&methods[k]);
  }
  return used;
}

/* Of the others, those that failed or took too long for ten four-bars are not asked for forty:
 * their cost grows with the third power.  first: seconds of the first run with ten, 0 if failed. */
static void leave_out(int used, const double first[MAX_CONTENDERS], double budget)
{
  for (int k = NUM_WAYS; k < used && cases[now].count > 10; k++)
    if (!contenders[k].note && (first[k] <= 0.0 || first[k] > 0.2 * budget))
      contenders[k].note = first[k] > 0.0 ? "would exceed the budget of time" : "fails with ten";
}

/* For the figure. */
static double drawn[NUM_CASES][MAX_CONTENDERS][2][MAX_POINTS];
static int num_drawn[NUM_CASES][MAX_CONTENDERS];
static char labels[MAX_CONTENDERS][120];

/* The first cases, so many of them. */
static void draw(const char *path, int used, int count)
{
  static pol_series series[NUM_CASES][MAX_CONTENDERS];
  static char axes[NUM_CASES][60];
  pol_panel panels[NUM_CASES];
  for (int c = 0; c < count; c++) {
    panels[c] = pol_panel_default();
    snprintf(axes[c], sizeof axes[c], "%s (m)", cases[c].name);
    panels[c].y = (pol_axis){.label = axes[c], .log = 1, .min = 1e-9, .max = 3.0};
    panels[c].series = series[c];
    panels[c].legend = c == 0 ? POL_LEGEND_BESIDE : POL_LEGEND_NONE;
    for (int k = 0; k < used; k++) {
      series[c][k] = (pol_series){.x = drawn[c][k][0],
                                  .y = drawn[c][k][1],
                                  .count = (size_t)num_drawn[c][k],
                                  .label = labels[k],
                                  .marker = POL_MARKER_CIRCLE};
      pol_series_look(&series[c][k], k);
    }
    panels[c].num_series = used;
  }
  pol_figure figure = pol_figure_default();
  figure.title = "Chains and closed loops: error over processor time";
  figure.panels = panels;
  figure.num_panels = count;
  figure.x = (pol_axis){.label = "processor time (ms)", .log = 1, .margin = 0.03};
  figure.width = 900.0;
  figure.height = 80.0 + 270.0 * count;
  if (pol_figure_write(&figure, path)) fprintf(stderr, "bench: cannot write %s\n", path), exit(1);
}

static void print_entries(const bench_entry *entries, int used)
{
  printf("%s\n%-46s", cases[now].name, "");
  for (int i = 0; i < NUM_TARGETS; i++) printf(" %11.0e m %-9s", cases[now].targets[i], "");
  puts("");
  for (int k = 0; k < used; k++) {
    char text[24], name[120];
    const bench_contender *who = &contenders[k];
    snprintf(name, sizeof name, "%s %s", who->program, who->method);
    printf("%-46s", name);
    for (int i = 0; i < NUM_TARGETS && !who->note; i++) {
      const bench_entry *e = &entries[k * NUM_TARGETS + i];
      printf(" %12s %-10.1e", bench_time_text(e, text), e->at.error);
    }
    printf(" %s\n", who->note ? who->note : "");
  }
  fflush(stdout);
}

/* Returns the number of contenders. */
static int measure(const bench_options *options, const pol_mechanism *mechanism)
{
  static bench_entry entries[MAX_CONTENDERS * NUM_TARGETS];
  static double first[MAX_CONTENDERS]; /* see leave_out */
  if (find_reference(mechanism)) fputs("bench: no reference\n", stderr), exit(1);
  const int used = add_contenders(mechanism);
  leave_out(used, first, options->budget);
  for (int k = 0; k < used; k++) {
    bench_contender *who = &contenders[k];
    if (!who->note) bench_ladder(who, cases[now].targets[NUM_TARGETS - 1], options->budget);
    for (int i = 0; i < NUM_TARGETS; i++)
      bench_reach(who, cases[now].targets[i], &entries[k * NUM_TARGETS + i]);
    first[k] = who->num_points ? who->points[0].seconds : 0.0;
    if (cases[now].count && who->data && !who->note && !who->num_points) who->note = "fails";
    num_drawn[now][k] = who->num_points;
    for (int i = 0; i < who->num_points; i++) {
      drawn[now][k][0][i] = 1e3 * who->points[i].seconds;
      drawn[now][k][1][i] = who->points[i].error;
    }
    snprintf(labels[k], sizeof labels[k], "%s %s", who->program, who->method);
  }
  bench_rounds(entries, used * NUM_TARGETS, options->rounds);
  print_entries(entries, used);
  bench_csv(options->csv, cases[now].name, entries, used * NUM_TARGETS);
  for (int k = 0; k < NUM_WAYS; k++) bench_plan_close(&plans[k]);
  return used;
}

int main(int argc, char **argv)
{
  const bench_options options = bench_start(argc, argv, 5, 0.5);
  bench_csv_header(options.csv);
  for (now = 0; now < NUM_CASES; now++) {
    pol_model *model = NULL;
    pol_mechanism *own = NULL;
    int bodies = cases[now].links + 2 * cases[now].count;
    if (bodies)
      own = bench_make_model(cases[now].links ? PEER_SPHERICAL : PEER_LOOPS, &bodies);
    else
      bench_check(pol_model_read_file(&model, crank, 0, NULL, &(pol_errors){0}), "slider-crank");
    const int used = measure(&options, own ? own : model->mechanism);
    if (options.svg) draw(options.svg, used, now + 1); /* in case the next one is interrupted */
    pol_mechanism_free(&own);
    pol_model_free(&model);
  }
  if (options.csv) fclose(options.csv);
  return 0;
}
