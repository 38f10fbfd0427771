/* Fixed against variable steps: evaluations of the equations for the error, on six motions, and the
 * multipliers of the heavy top after a change of the step size.
 *
 * usage: work_precision FOLDER: the page goes to standard output, its figures to the folder.
 *
 * The error is the largest distance of any body's centre (of the rotor: of its right bearing) from
 * where it should be at 20 equal times of the run, in root mean square over the bodies.  References
 * are runs of another method, hht with alpha = -0.05 in index 2, with a tolerance 1e-3 times the
 * finest; the tests compare such runs with independent solutions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/plot.h>
#include <polhode/polhode.h>

#include "integrators/family.h"

enum { ROWS = 6, TIMES = 20, MAX_BODIES = 8, KINDS = 4 };

typedef struct motion {
  const char *title, *file, *model;
  double end;
  double first_step; /* the largest of the fixed ones; the others are halves of it */
  double scale;      /* size of what moves: tolerances are in its units; 0: 1 m and 1 rad */
  double point[3];   /* of each body, whose position is compared */
  int stiff_start;   /* what happens in the first microseconds has no v'' for a step to use */
} motion;

/* clang-format off */
static const motion motions[] = {
    {.title = "Planar pendulum", .file = "planar_pendulum", .end = 4.0, .first_step = 0.04,
     .model = "gavrea-negrut-potra-2005/planar_pendulum.json"},
    {.title = "Stiff double pendulum", .file = "double_pendulum", .end = 2.0, .first_step = 2e-3,
     .model = "gavrea-negrut-potra-2005/double_pendulum.json", .stiff_start = 1},
    {.title = "Heavy top", .file = "heavy_top", .end = 1.0, .first_step = 2e-3,
     .model = "bruels-cardona-2010/heavy_top.json"},
    {.title = "Rotor", .file = "rotor", .end = 0.1, .first_step = 1e-4,
     .model = "holzinger-arnold-gerstmayr/rotor.json", .scale = 4e-5, .point = {0.09, 0.0, 0.0}},
    {.title = "Spatial slider-crank", .file = "slider_crank", .end = 5.0, .first_step = 8e-3,
     .model = "holzinger-arnold-gerstmayr/slider_crank.json"},
    {.title = "Chain that hits a stop", .file = "chain_stop", .end = 1.2, .first_step = 1e-3,
     .model = "examples/chain_stop.json"},
};
/* clang-format on */
enum { MOTIONS = sizeof motions / sizeof motions[0] };

typedef struct path {
  int bodies;
  double x[TIMES][MAX_BODIES][3];
} path;

typedef struct result {
  long evaluations, steps, rejected;
  double error;
} result;

/* The ways to step that are compared. */
static const char *const kinds[KINDS] = {"fixed, stabilized-2", "variable, stabilized-2",
                                         "variable, index 3", "variable, hht, index 3"};

static void set_kind(pol_options *options, int kind)
{
  options->method = "geom1";
  pol_options_set_rho_inf(options, 0.8);
  if (kind == 3) pol_options_set_hht(options, -0.3);
  options->index = kind < 2 ? POL_INDEX_2_STABILIZED : POL_INDEX_3;
  options->start = POL_START_DEFAULT;
  options->sigma = 0.0;
}

static void set_tolerance(pol_control *control, const motion *m, double eps)
{
  control->rtol = m->scale > 0.0 ? 0.0 : eps;
  control->atol_translation = m->scale > 0.0 ? m->scale * eps : eps;
  control->atol_rotation = m->scale > 0.0 ? 10.0 * m->scale * eps : eps;
}

static void give_up(const char *title, const pol_diagnostics *failure)
{
  fprintf(stderr, "%s: %s at t = %g, %s\n", title, failure->message, failure->t, failure->where);
  exit(1);
}

/* Where the points are now. */
static void look(const pol_simulation *simulation, const motion *m, double x[MAX_BODIES][3],
                 int bodies)
{
  const pol_state *now = pol_simulation_state(simulation);
  for (int b = 0; b < bodies; b++) {
    pol_body_state body;
    pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, b, &body);
    for (int i = 0; i < 3; i++) {
      x[b][i] = body.position[i];
      for (int j = 0; j < 3; j++) x[b][i] += body.rotation[3 * i + j] * m->point[j];
    }
  }
}

/* One run, with fixed steps if step is not 0. */
static result run(const motion *m, pol_model *model, double step, path *to)
{
  pol_settings *settings = &model->settings;
  pol_simulation *simulation;
  settings->variable = step == 0.0;
  settings->step = step;
  settings->end = m->end;
  settings->output = (pol_output){.step = m->end / TIMES};
  pol_diagnostics failure;
  if (pol_simulation_create(&simulation, model->mechanism, settings, &failure))
    give_up(m->title, &failure);
  to->bodies = pol_mechanism_num_bodies(model->mechanism);
  if (to->bodies > MAX_BODIES) exit(1);
  for (int k = 0; k < TIMES; k++) {
    if (pol_simulation_step(simulation)) give_up(m->title, pol_simulation_diagnostics(simulation));
    look(simulation, m, to->x[k], to->bodies);
  }
  const pol_counts *counts = &pol_simulation_summary(simulation)->counts;
  result r = {counts->residuals, counts->steps, counts->rejected, 0.0};
  pol_simulation_free(&simulation);
  return r;
}

static double distance(const path *a, const path *b)
{
  double largest = 0.0;
  for (int k = 0; k < TIMES; k++) {
    double square = 0.0;
    for (int i = 0; i < 3 * a->bodies; i++)
      square += pow(a->x[k][i / 3][i % 3] - b->x[k][i / 3][i % 3], 2.0);
    largest = fmax(largest, sqrt(square / a->bodies));
  }
  return largest;
}

/* --- one motion ------------------------------------------------------------------------------- */

/* Evaluations that fixed steps need for this error, on lines between the points of the log-log
 * plot; 0 where the error lies outside of it. */
static double fixed_evaluations(const result fixed[ROWS], double error)
{
  for (int k = 0; k + 1 < ROWS; k++) {
    if (error > fixed[k].error || error < fixed[k + 1].error) continue;
    double slope = log((double)fixed[k + 1].evaluations / (double)fixed[k].evaluations) /
                   log(fixed[k + 1].error / fixed[k].error);
    return (double)fixed[k].evaluations * pow(error / fixed[k].error, slope);
  }
  return 0.0;
}

static void measure(const motion *m, result results[KINDS][ROWS])
{
  static path exact, found;
  char name[512];
  pol_errors errors = {0, NULL};
  pol_model *model;
  snprintf(name, sizeof name, "%s/models/%s", POLHODE_SOURCE_DIR, m->model);
  if (pol_model_read_file(&model, name, 0, NULL, &errors)) exit(1);
  pol_options *options = &model->settings.options;
  set_kind(options, 3);
  pol_options_set_hht(options, -0.05);
  options->index = POL_INDEX_2;
  set_tolerance(&options->control, m, 1e-11);
  run(m, model, 0.0, &exact);
  for (int kind = 0; kind < KINDS; kind++)
    for (int k = 0; k < ROWS; k++) {
      set_kind(options, kind);
      if (m->stiff_start) options->start = POL_START_CLASSICAL;
      set_tolerance(&options->control, m, pow(10.0, -3 - k));
      results[kind][k] = run(m, model, kind ? 0.0 : m->first_step / (1 << k), &found);
      results[kind][k].error = distance(&found, &exact);
    }
  pol_model_free(&model);
}

static void print_table(const motion *m, result results[KINDS][ROWS])
{
  printf("\n## %s\n\n![error over evaluations, %s](images/work_precision_%s.svg)\n\n", m->title,
         m->title, m->file);
  printf(
      "| | steps | rejected | evaluations | error m | fixed/variable |\n|---|---|---|---|---|---|"
      "\n");
  for (int kind = 0; kind < KINDS; kind++)
    for (int k = 0; k < ROWS; k++) {
      const result *r = &results[kind][k];
      double saved = kind ? fixed_evaluations(results[0], r->error) / (double)r->evaluations : 0.0;
      if (kind)
        printf("| %s, 1e-%d | %ld | %ld |", kinds[kind], 3 + k, r->steps, r->rejected);
      else
        printf("| %s, h = %.3g | %ld | |", kinds[kind], m->first_step / (1 << k), r->steps);
      printf(" %ld | %.2e | ", r->evaluations, r->error);
      printf(saved > 0.0 ? "%.2g |\n" : "|\n", saved);
    }
}

static void draw(const motion *m, result results[KINDS][ROWS], const char *folder)
{
  double x[KINDS][ROWS], y[KINDS][ROWS];
  pol_series series[KINDS];
  pol_slope slope;
  char name[1024];
  for (int kind = 0; kind < KINDS; kind++) {
    for (int k = 0; k < ROWS; k++) {
      x[kind][k] = (double)results[kind][k].evaluations;
      y[kind][k] = results[kind][k].error;
    }
    series[kind] = (pol_series){.x = x[kind],
                                .y = y[kind],
                                .count = ROWS,
                                .label = kinds[kind],
                                .marker = POL_MARKER_CIRCLE};
    pol_series_look(&series[kind], kind);
  }
  slope = pol_slope_below(&series[0], -2.0);
  pol_panel panel = pol_panel_default();
  panel.series = series;
  panel.num_series = KINDS;
  panel.slopes = &slope;
  panel.num_slopes = 1;
  panel.y.label = "largest error (m)";
  panel.y.log = 1;
  pol_figure figure = pol_figure_default();
  figure.title = m->title;
  figure.panels = &panel;
  figure.num_panels = 1;
  figure.x.label = "evaluations of the equations";
  figure.x.log = 1;
  figure.x.margin = 0.05;
  snprintf(name, sizeof name, "%s/work_precision_%s.svg", folder, m->file);
  if (pol_figure_write(&figure, name)) exit(1);
}

/* --- multipliers after a change of the step size ---------------------------------------------- */

enum { BEFORE = 40, AFTER = 40 };

/* The first multiplier over time: BEFORE steps of 1e-3, then AFTER of another size, with what is
 * adapted at a change or, raw, without. */
static int multipliers(double after, int raw, double *t, double *lambda)
{
  pol_errors errors = {0, NULL};
  pol_model *model;
  pol_formulation *formulation;
  pol_integrator *integrator;
  double q[8], v[8];
  const double *trial, *trial_v;
  unsigned char keep[8];
  if (pol_model_read_file(&model, POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json",
                          0, NULL, &errors))
    exit(1);
  pol_options *options = &model->settings.options;
  set_kind(options, 2);
  options->published.estimate = raw;
  if (pol_formulation_create(&formulation, model->mechanism, POL_SO3XR3)) exit(1);
  pol_formulation_initial(formulation, q, v, keep);
  if (pol_integrator_create(&integrator, pol_formulation_dae(formulation), options)) exit(1);
  if (pol_integrator_start(integrator, 0.0, q, v, keep)) exit(1);
  const pol_state *now = pol_integrator_state(integrator);
  const poli_adaptive *adaptive = integrator->method->family->adaptive;
  int count = 0;
  for (int n = 0; n < BEFORE + AFTER; n++) {
    double h = n < BEFORE ? 1e-3 : after;
    if (raw && n == BEFORE) {
      integrator->adapting = 1;
      if (adaptive->attempt(integrator, now->t + h, h, &trial, &trial_v)) exit(1);
      adaptive->accept(integrator);
      integrator->adapting = 0;
    } else if (pol_integrator_step(integrator, h)) {
      exit(1);
    }
    if (n < BEFORE - 20) continue;
    t[count] = now->t;
    lambda[count++] = now->lambda[0];
  }
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_model_free(&model);
  return count;
}

static void draw_multipliers(const char *folder)
{
  static const double sizes[2] = {2e-3, 5e-4};
  static const char *const labels[2] = {"h doubled (N)", "h halved (N)"};
  static double t[4][BEFORE + AFTER], lambda[4][BEFORE + AFTER];
  pol_series series[4];
  pol_panel panels[2];
  char name[1024];
  for (int i = 0; i < 4; i++) {
    int count = multipliers(sizes[i / 2], i % 2 == 0, t[i], lambda[i]);
    series[i] = (pol_series){.x = t[i],
                             .y = lambda[i],
                             .count = (size_t)count,
                             .label = i % 2 ? "adapted" : "not adapted"};
    pol_series_look(&series[i], i % 2 ? 0 : 1);
  }
  for (int p = 0; p < 2; p++) {
    panels[p] = pol_panel_default();
    panels[p].series = series + 2 * p;
    panels[p].num_series = 2;
    panels[p].y.label = labels[p];
  }
  pol_figure figure = pol_figure_default();
  figure.title = "First multiplier of the heavy top, index 3, around a change of the step size";
  figure.panels = panels;
  figure.num_panels = 2;
  figure.x.label = "time (s)";
  figure.height = 560.0;
  snprintf(name, sizeof name, "%s/step_change_multiplier.svg", folder);
  if (pol_figure_write(&figure, name)) exit(1);
}

/* --- the page --------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
  if (argc != 2) {
    fprintf(stderr, "usage: work_precision FOLDER\n");
    return 2;
  }
  printf(
      "# Work and precision\n\n"
      "Evaluations of the equations (residuals in Newton's iteration) against the error, for "
      "fixed\n"
      "and variable step sizes. `make figures` generates this page and its figures;\n"
      "[methods](methods.md#steps-of-variable-size) describes the algorithm. Parameters: rho_inf = "
      "0.8,\n"
      "alpha = -0.3 for hht, rtol = atol = 1e-3 .. 1e-8; for the rotor the tolerances are in units "
      "of its\n"
      "deflection (4e-5 m, 4e-4 rad). The error is the root mean square over the positions of all\n"
      "bodies, and the largest of 20 output times. The last column is the number of evaluations "
      "that\n"
      "fixed steps (stabilized-2) need for the same error, divided by that of the row; it is "
      "empty\n"
      "if the error is outside the range of the runs with fixed steps.\n");
  for (int i = 0; i < MOTIONS; i++) {
    result results[KINDS][ROWS];
    measure(&motions[i], results);
    print_table(&motions[i], results);
    draw(&motions[i], results, argv[1]);
    fflush(stdout);
  }
  draw_multipliers(argv[1]);
  printf("\n## Multipliers after a change of the step size\n\n"
         "![first multiplier of the heavy top](images/step_change_multiplier.svg)\n\n"
         "Steps of 1e-3 s, then of 2e-3 s or 5e-4 s from t = 0.04 s on. Unless v_n and a_n are "
         "adapted\n"
         "([starting values](methods.md#starting-values)), the change excites an oscillation.\n");
  return 0;
}
