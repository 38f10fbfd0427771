/* Shipped examples: processor time to errors of 1e-6 and 1e-9 with rattle of each order and with
 * the other methods of polhode.
 *
 *     examples [--csv FILE] [--rounds N] [--budget SECONDS]
 *
 * The error at the end is the largest of: positions over the largest distance of a centre of mass
 * from the origin, rotations in rad, velocities and angular velocities over the largest, efforts of
 * drives over the largest.  So fully driven mechanisms, whose motion any step gives, are measured
 * by the forces of their drives.  The reference is rattle of order 8; how well it agrees with
 * itself at half the steps is printed.  That the errors of geom1, another method, fall at second
 * order down to where it was run confirms it. */
#include "plan.h"

#include <polhode/model.h>

enum { MAX_BODIES = 16, MAX_DRIVES = 8, NUM_TARGETS = 2, NUM_WAYS = 9, OLD = 4 };
static const double targets[NUM_TARGETS] = {1e-6, 1e-9};

static const struct {
  const char *name, *file;
  double end;
  double reference; /* number of steps */
} examples[] = {
    {"slider-crank", "holzinger-arnold-gerstmayr/slider_crank", 1.0, 800},
    {"four-bar with motor", "examples/four_bar_motor", 1.3, 800},
    {"Stewart platform", "examples/stewart_platform", 0.7, 200},
    {"planetary gear", "examples/planetary_gear", 1.0, 400},
    {"suspension", "examples/suspension", 0.5, 800},
    {"gyroscope", "examples/gyroscope", 0.5, 2000},
};
enum { NUM_EXAMPLES = sizeof examples / sizeof examples[0] };

/* The first OLD + 1 are those before rattle. */
static const struct {
  const char *name, *method;
  pol_formulation_kind kind;
  pol_index index;
  int order, variable;
  double first; /* steps in a reference run of 800, or 1/tolerance */
} ways[NUM_WAYS] = {
    {"geom1 index 3", "geom1", POL_SO3XR3, POL_INDEX_3, 2, 0, 100},
    {"geom1 so3xr3-spatial, index 3, sigma optimal", "geom1", POL_SO3XR3_SPATIAL, POL_INDEX_3, 2, 0,
     100},
    {"geom1 stabilized-2", "geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED, 2, 0, 100},
    {"geom1 variable steps, index 3", "geom1", POL_SO3XR3, POL_INDEX_3, 2, 1, 1e3},
    {"geom1 variable steps, stabilized-2", "geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED, 2, 1, 1e3},
    {"rattle order 2", "rattle", POL_SO3XR3, POL_INDEX_3, 2, 0, 10},
    {"rattle order 4", "rattle", POL_SO3XR3, POL_INDEX_3, 4, 0, 10},
    {"rattle order 6", "rattle", POL_SO3XR3, POL_INDEX_3, 6, 0, 10},
    {"rattle order 8", "rattle", POL_SO3XR3, POL_INDEX_3, 8, 0, 10},
};

/* What is compared at the end. */
typedef struct finish {
  int bodies, drives;
  pol_body_state body[MAX_BODIES];
  double effort[MAX_DRIVES];
} finish;

static finish reference;
static double end;

static void get_finish(const bench_plan *plan, finish *f)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(plan->formulation);
  const pol_state *state = pol_integrator_state(plan->integrator);
  const pol_point at = pol_state_point(state);
  f->bodies = pol_mechanism_num_bodies(mechanism);
  f->drives = pol_mechanism_num_drives(mechanism);
  if (f->bodies > MAX_BODIES || f->drives > MAX_DRIVES) exit(1);
  for (int i = 0; i < f->bodies; i++)
    pol_formulation_body_state(plan->formulation, state->q, state->v, i, &f->body[i]);
  for (int i = 0; i < f->drives; i++)
    f->effort[i] = pol_formulation_drive_effort(plan->formulation, &at, i);
}

/* Adds |a - b| and |b| to the largest of their kind. */
static void compare(const double a[3], const double b[3], double largest[2])
{
  largest[0] = fmax(largest[0], hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
  largest[1] = fmax(largest[1], hypot(hypot(b[0], b[1]), b[2]));
}

static double find_error(const finish *a, const finish *b)
{
  double x[2] = {0}, v[2] = {0}, w[2] = {0}, effort[2] = {0}, angle = 0.0;
  for (int i = 0; i < b->bodies; i++) {
    double difference = 0.0;
    for (int k = 0; k < 9; k++)
      difference += pow(a->body[i].rotation[k] - b->body[i].rotation[k], 2);
    angle = fmax(angle, sqrt(0.5 * difference)); /* of small rotations */
    compare(a->body[i].position, b->body[i].position, x);
    compare(a->body[i].velocity, b->body[i].velocity, v);
    compare(a->body[i].angular_velocity_global, b->body[i].angular_velocity_global, w);
  }
  for (int i = 0; i < b->drives; i++) {
    effort[0] = fmax(effort[0], fabs(a->effort[i] - b->effort[i]));
    effort[1] = fmax(effort[1], fabs(b->effort[i]));
  }
  double error = fmax(angle, x[0] / x[1]);
  error = fmax(error, fmax(v[0] / v[1], w[0] / w[1]));
  return b->drives ? fmax(error, effort[0] / effort[1]) : error;
}

static int run_plan(void *data, bench_point *point)
{
  bench_plan *plan = data;
  finish f;
  if (bench_plan_run(plan, end, point->effort, &point->seconds)) return -1;
  get_finish(plan, &f);
  point->error = find_error(&f, &reference);
  return 0;
}

/* 0 and how far runs with all and half of the steps differ. */
static int find_reference(const pol_mechanism *mechanism, double steps, double *difference)
{
  bench_plan plan = bench_plan_make("rattle", POL_SO3XR3, POL_INDEX_3, 8, 0);
  finish coarse;
  double seconds;
  int status = bench_plan_open(&plan, mechanism);
  if (!status) status = bench_plan_run(&plan, end, ceil(0.5 * steps), &seconds);
  if (!status) get_finish(&plan, &coarse);
  if (!status) status = bench_plan_run(&plan, end, steps, &seconds);
  if (!status) {
    get_finish(&plan, &reference);
    *difference = find_error(&coarse, &reference);
  } else {
    printf("%s\n", plan.reason);
  }
  bench_plan_close(&plan);
  return status;
}

/* The fastest of the first so many ways; -1 if none reaches it. */
static int find_best(const bench_entry *entries, int target, int first, int last)
{
  int best = -1;
  double least = HUGE_VAL;
  for (int k = first; k <= last; k++) {
    const bench_entry *e = &entries[k * NUM_TARGETS + target];
    const double t = e->status == BENCH_MEASURED ? e->median : e->at.seconds;
    if (e->status != BENCH_MISSED && t < least) least = t, best = k;
  }
  return best;
}

static void print_entries(const bench_contender *contenders, const bench_entry *entries)
{
  char text[24];
  for (int k = 0; k < NUM_WAYS; k++) {
    printf("  %-46s", contenders[k].method);
    for (int i = 0; i < NUM_TARGETS && !contenders[k].note; i++) {
      const bench_entry *e = &entries[k * NUM_TARGETS + i];
      const double setting = contenders[k].variable ? 1.0 / e->at.effort : ceil(e->at.effort);
      printf(" %12s %-10.3g", bench_time_text(e, text), e->status == BENCH_MISSED ? 0.0 : setting);
    }
    printf(" %s\n", contenders[k].note ? contenders[k].note : "");
  }
  for (int i = 0; i < NUM_TARGETS; i++) {
    const int old = find_best(entries, i, 0, OLD),
              new = find_best(entries, i, OLD + 1, NUM_WAYS - 1);
    if (old < 0 || new < 0) continue;
    const bench_entry *a = &entries[old * NUM_TARGETS + i], *b = &entries[new *NUM_TARGETS + i];
    printf("  %g: %s is %.1f times as fast as %s\n", targets[i], ways[new].name,
           (a->status == BENCH_MEASURED ? a->median : a->at.seconds) /
               (b->status == BENCH_MEASURED ? b->median : b->at.seconds),
           ways[old].name);
  }
  fflush(stdout);
}

static void measure(const bench_options *options, int example)
{
  static bench_contender contenders[NUM_WAYS];
  static bench_entry entries[NUM_WAYS * NUM_TARGETS];
  static bench_plan plans[NUM_WAYS];
  pol_model *model;
  pol_errors errors = {0};
  char path[400];
  double difference;
  snprintf(path, sizeof path, POLHODE_SOURCE_DIR "/models/%s.json", examples[example].file);
  if (pol_model_read_file(&model, path, 0, NULL, &errors)) {
    fprintf(stderr, "bench: cannot read %s\n", path);
    exit(1);
  }
  end = examples[example].end;
  printf("%s, errors of 1e-6 and 1e-9 at t = %g s; ", examples[example].name, end);
  if (find_reference(model->mechanism, examples[example].reference, &difference)) {
    pol_model_free(&model);
    return;
  }
  printf("reference good to %.0e\n", difference);
  for (int k = 0; k < NUM_WAYS; k++) {
    plans[k] = bench_plan_make(ways[k].method, ways[k].kind, ways[k].index, ways[k].order,
                               ways[k].variable);
    pol_options *o = &plans[k].options;
    if (ways[k].kind == POL_SO3XR3_SPATIAL) o->sigma = o->gamma / (3.0 * o->beta);
    contenders[k] = (bench_contender){
        .program = "polhode",
        .method = ways[k].name,
        .variable = ways[k].variable,
        .first = ways[k].first * (ways[k].variable ? 1.0 : examples[example].reference / 800.0),
        .run = run_plan,
        .data = &plans[k]};
    if (!ways[k].variable) contenders[k].first = fmax(4.0, ceil(contenders[k].first));
    if (bench_plan_open(&plans[k], model->mechanism))
      contenders[k].note = plans[k].reason;
    else
      bench_ladder(&contenders[k], targets[NUM_TARGETS - 1], options->budget);
    for (int i = 0; i < NUM_TARGETS; i++)
      bench_reach(&contenders[k], targets[i], &entries[k * NUM_TARGETS + i]);
  }
  bench_rounds(entries, NUM_WAYS * NUM_TARGETS, options->rounds);
  print_entries(contenders, entries);
  bench_csv(options->csv, examples[example].name, entries, NUM_WAYS * NUM_TARGETS);
  for (int k = 0; k < NUM_WAYS; k++) bench_plan_close(&plans[k]);
  pol_model_free(&model);
}

int main(int argc, char **argv)
{
  const bench_options options = bench_start(argc, argv, 5, 1.0);
  if (options.svg) fputs("bench: examples has no figure\n", stderr), exit(2);
  bench_csv_header(options.csv);
  for (int k = 0; k < NUM_EXAMPLES; k++) measure(&options, k);
  if (options.csv) fclose(options.csv);
  return 0;
}
