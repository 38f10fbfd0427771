/* Items of Kinon/Betsch/Schneider 2023: what they share, and their list. */
#include "papers/kinon2023.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const paper_kinon_methods[PAPER_KINON_METHODS] = {"vi-s", "vi-a", "vi-b", "em"};
const char *const paper_kinon_labels[PAPER_KINON_METHODS] = {"VI-S", "VI-A", "VI-B", "EM"};

/* --- runs ------------------------------------------------------------------------------------- */

static int grow(paper_kinon_trace *trace)
{
  const long capacity = trace->capacity > 0 ? 2 * trace->capacity : 1024;
  paper_kinon_step *longer = realloc(trace->steps, (size_t)capacity * sizeof *longer);
  if (longer == NULL) return 0;
  trace->steps = longer, trace->capacity = capacity;
  return 1;
}

/* Keeps a step; stops once the energy has grown ten times. */
static int keep(const pol_simulation *simulation, void *user)
{
  paper_kinon_trace *trace = user;
  const pol_state *state = pol_simulation_state(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_dae *dae = pol_formulation_dae(formulation);
  const int m = pol_dae_num_constraints(dae);
  if ((trace->count == trace->capacity && !grow(trace)) || dae->group.nv > PAPER_KINON_SIZE) {
    paper_report_fail(trace->report, "a step could not be stored");
    return 0;
  }
  paper_kinon_step *step = &trace->steps[trace->count++];
  const size_t bytes = (size_t)dae->group.nv * sizeof(double);
  *step = (paper_kinon_step){
      .t = state->t, .kinetic = summary->energy.kinetic, .potential = summary->energy.potential};
  trace->size = dae->group.nv;
  memcpy(step->q, state->q, bytes);
  memcpy(step->v, state->v, bytes);
  memcpy(step->p, state->p, bytes);
  memcpy(step->lambda, state->lambda, (m < 2 ? 1 : 2) * sizeof(double));
  const double first = paper_kinon_energy(trace, 0, 0);
  if (paper_kinon_energy(trace, trace->count - 1, 0) <= 10.0 * first) return 1;
  trace->growth_time = state->t;
  return 0;
}

void paper_kinon_run(paper_report *report, paper_kinon_trace *trace, const paper_kinon_case *how)
{
  char path[128];
  paper_run run;
  *trace = (paper_kinon_trace){.report = report,
                               .label = how->label,
                               .method = how->method,
                               .h = how->h,
                               .growth_time = (double)INFINITY};
  snprintf(path, sizeof path, "models/kinon-betsch-schneider-2023/%s.json", how->model);
  paper_run_watched(report, &run, keep, trace, path, "",
                    "simulation={\"method\":\"%s\",\"formulation\":\"directors\",\"guess\":\"%s\","
                    "\"step\":%.17g,\"end\":%.17g,"
                    "\"newton\":{\"tolerance\":1e-9},\"published\":{\"newton\":\"plain\"}} %s",
                    how->method, how->guess != NULL ? how->guess : "simple", how->h, how->end,
                    how->more != NULL ? how->more : "");
  const pol_counts *counts = &run.summary.counts;
  trace->iterations =
      counts->steps > 0 ? (double)counts->newton_iterations / (double)counts->steps : 0.0;
  trace->stopped = run.summary.t;
  if (trace->count < 2) paper_report_fail(report, "%s has no step", how->label);
  if (!how->may_stop && trace->stopped < how->end - 0.5 * how->h)
    paper_report_fail(report, "%s stopped at t = %g of %g", how->label, trace->stopped, how->end);
  paper_run_free(&run);
}

void paper_kinon_run_all(paper_report *report, paper_kinon_trace traces[PAPER_KINON_METHODS],
                         const char *model, double h, double end, int may_stop)
{
  for (int i = 0; i < PAPER_KINON_METHODS; i++)
    paper_kinon_run(report, &traces[i],
                    &(paper_kinon_case){.model = model,
                                        .method = paper_kinon_methods[i],
                                        .label = paper_kinon_labels[i],
                                        .h = h,
                                        .end = end,
                                        .may_stop = may_stop});
}

void paper_kinon_free(paper_kinon_trace *traces, int count)
{
  for (int i = 0; i < count; i++) {
    free(traces[i].steps);
    traces[i] = (paper_kinon_trace){0};
  }
}

/* --- quantities ------------------------------------------------------------------------------- */

double paper_kinon_position(const paper_kinon_trace *trace, long step, int component)
{
  return trace->steps[step].q[component];
}

double paper_kinon_momentum(const paper_kinon_trace *trace, long step, int component)
{
  return trace->steps[step].p[component];
}

double paper_kinon_energy(const paper_kinon_trace *trace, long step, int component)
{
  const paper_kinon_step *s = &trace->steps[step];
  double energy = s->potential - s->kinetic;
  (void)component;
  for (int i = 0; i < trace->size; i++) energy += s->p[i] * s->v[i];
  return energy;
}

double paper_kinon_angular_momentum(const paper_kinon_trace *trace, long step, int component)
{
  const paper_kinon_step *s = &trace->steps[step];
  const int j = (component + 1) % 3, k = (component + 2) % 3;
  double sum = 0.0;
  for (int i = 0; i < trace->size; i += 3)
    sum += s->q[i + j] * s->p[i + k] - s->q[i + k] * s->p[i + j];
  return sum;
}

static double increment(const paper_kinon_trace *trace, long step, int component,
                        paper_kinon_value value)
{
  return step > 0 ? value(trace, step, component) - value(trace, step - 1, component) : (double)NAN;
}

double paper_kinon_energy_increment(const paper_kinon_trace *trace, long step, int component)
{
  return increment(trace, step, component, paper_kinon_energy);
}

double paper_kinon_angular_increment(const paper_kinon_trace *trace, long step, int component)
{
  return increment(trace, step, component, paper_kinon_angular_momentum);
}

double paper_kinon_largest(const paper_kinon_trace *trace, paper_kinon_value value, int component)
{
  double largest = 0.0;
  for (long i = 0; i < trace->count; i++) largest = fmax(largest, fabs(value(trace, i, component)));
  return largest;
}

double paper_kinon_range(const paper_kinon_trace *trace, paper_kinon_value value, int component)
{
  double low = (double)INFINITY, high = -(double)INFINITY;
  for (long i = 0; i < trace->count; i++) {
    low = fmin(low, value(trace, i, component));
    high = fmax(high, value(trace, i, component));
  }
  return high >= low ? high - low : 0.0;
}

/* --- curves ----------------------------------------------------------------------------------- */

enum { MAX_CURVES = 8 };

/* The points of a curve in a new array, all times and then all values; NULL: no memory. */
static double *fill(const paper_kinon_curve *curve, pol_series *series)
{
  const long count = curve->trace->count;
  double *points = malloc(2 * (size_t)(count + 1) * sizeof *points);
  if (points == NULL) return NULL;
  for (long i = 0; i < count; i++) {
    points[i] = curve->trace->steps[i].t;
    points[count + i] = curve->value(curve->trace, i, curve->component);
  }
  *series = (pol_series){.x = points,
                         .y = points + count,
                         .count = (size_t)count,
                         .label = curve->label != NULL ? curve->label : curve->trace->label};
  return points;
}

/* A scheme looks the same in all figures; VI-B is often near VI-S, EM-G and BS99 near EM. */
static void look(const paper_kinon_curve *curve, pol_series *series)
{
  static const pol_plot_line lines[] = {POL_LINE_SOLID, POL_LINE_SOLID, POL_LINE_DASHED,
                                        POL_LINE_SOLID, POL_LINE_DASH_DOT};
  int scheme = 0;
  while (scheme < PAPER_KINON_METHODS &&
         strcmp(curve->trace->method, paper_kinon_methods[scheme]) != 0)
    scheme++;
  series->color = curve->label != NULL ? curve->color : scheme;
  series->line = curve->label != NULL ? curve->line : lines[scheme];
}

void paper_kinon_draw(paper_report *report, const paper_kinon_figure *figure,
                      const paper_kinon_curve *curves, int count)
{
  double *points[MAX_CURVES] = {NULL};
  pol_series series[MAX_CURVES] = {{0}};
  pol_panel panel = pol_panel_default();
  pol_figure picture = pol_figure_default();
  if (paper_report_failed(report)) return;
  for (int i = 0; i < count && i < MAX_CURVES; i++) {
    points[i] = fill(&curves[i], &series[i]);
    if (points[i] == NULL) paper_report_fail(report, "out of memory");
    look(&curves[i], &series[i]);
  }
  panel.series = series, panel.num_series = count;
  if (count == 1) panel.legend = POL_LEGEND_NONE;
  panel.y.label = figure->y_label, panel.y.log = figure->log_y;
  picture.panels = &panel, picture.num_panels = 1;
  picture.x.label = "time (s)", picture.x.log = figure->log_x;
  paper_report_figure(report, figure->name, figure->caption, &picture);
  for (int i = 0; i < MAX_CURVES; i++) free(points[i]);
}

void paper_kinon_draw_all(paper_report *report, const paper_kinon_figure *figure,
                          const paper_kinon_trace *traces, int count, paper_kinon_value value,
                          int component)
{
  paper_kinon_curve curves[MAX_CURVES];
  for (int i = 0; i < count; i++)
    curves[i] = (paper_kinon_curve){.trace = &traces[i], .value = value, .component = component};
  paper_kinon_draw(report, figure, curves, count);
}

/* --- all -------------------------------------------------------------------------------------- */

#define ID "kinon2023-"
static const paper_item items[] = {
    {ID "fig02", "Pendulum: first coordinate",
     "q_1 over time, h = 0.05, T = 10: slight deviations between the schemes VI-S, VI-A, VI-B and "
     "EM. No numbers.",
     1, paper_kinon_fig02},
    {ID "fig03", "Pendulum: first momentum",
     "p_1 over time, the same runs: slight deviations. No numbers.", 1, paper_kinon_fig03},
    {ID "fig04", "Pendulum: multiplier of the position constraint",
     "lambda over time: VI-A and VI-B show slight oscillations in lambda and gamma, respectively.",
     1, paper_kinon_fig04},
    {ID "fig05", "Pendulum: multiplier of the velocity constraint",
     "gamma over time: VI-A and VI-B show slight oscillations in lambda and gamma, respectively.",
     1, paper_kinon_fig05},
    {ID "fig06", "Pendulum: path",
     "The path by VI-S on the unit sphere, with the pendulum at t = 0 and t = 10.", 1,
     paper_kinon_fig06},
    {ID "fig07", "Pendulum: energies by VI-S",
     "Kinetic and potential energy and the Hamiltonian over time.", 1, paper_kinon_fig07},
    {ID "fig08", "Pendulum: energy of all schemes",
     "E fluctuates with VI-S, VI-A and VI-B as is typical of symplectic methods; EM conserves it "
     "up to round-off.",
     1, paper_kinon_fig08},
    {ID "fig09", "Pendulum: changes of the energy by EM", "E_{n+1} - E_n is round-off.", 1,
     paper_kinon_fig09},
    {ID "fig10", "Pendulum: angular momentum by VI-S",
     "The three components; the other schemes deviate little from them.", 1, paper_kinon_fig10},
    {ID "fig11", "Pendulum: changes of the angular momentum",
     "All four schemes conserve J_3 up to round-off.", 1, paper_kinon_fig11},
    {ID "fig12", "Pendulum: constraint on position level",
     "VI-S, VI-B and EM satisfy it; Newton's tolerance is 1e-9.", 1, paper_kinon_fig12},
    {ID "fig13", "Pendulum: constraint on position level by VI-A", "VI-A violates it by design.", 1,
     paper_kinon_fig13},
    {ID "fig14", "Pendulum: constraint on velocity level", "VI-S, VI-B and EM satisfy it.", 1,
     paper_kinon_fig14},
    {ID "fig15", "Pendulum: constraint on velocity level by VI-A", "VI-A violates it by design.", 1,
     paper_kinon_fig15},
    {ID "fig17", "Top: height of the centre of mass",
     "phi_3 over time, h = 0.002: none of VI-S, VI-A, VI-B, EM and BS99 stays at the exact 0.0375. "
     "Of the top the text says that only EM conserves the energy and that all conserve the "
     "vertical angular momentum.",
     1, paper_kinon_fig17},
    {ID "fig18", "Top: errors in the height",
     "Relative errors at t = 0.001 over h: VI-S, BS99 and VI-B are of first order, VI-A and EM of "
     "second. No numbers.",
     1, paper_kinon_fig18},
    {ID "fig19", "Top: errors in the momentum",
     "Relative errors of the momentum of the centre of mass at t = 0.001: the same orders.", 1,
     paper_kinon_fig19},
    {ID "fig20", "Top: constraints on momentum level by VI-S",
     "VI-S does not fulfil the velocity constraints, except the linear ones of the tip (k = 7, 8, "
     "9), which it does to machine precision.",
     1, paper_kinon_fig20},
    {ID "fig22", "Four particles: snapshots",
     "The system by EM at t = 0, 2, 4, 6, 8, 10, h = 0.01.", 1, paper_kinon_fig22},
    {ID "fig23", "Four particles: constraints on momentum level by EM-G",
     "EM-G does not satisfy the velocity constraints exactly.", 1, paper_kinon_fig23},
    {ID "fig24", "Four particles: constraints on momentum level by EM", "EM satisfies them.", 1,
     paper_kinon_fig24},
    {ID "fig25", "Four particles: changes of the energy",
     "EM and EM-G conserve the energy comparably.", 1, paper_kinon_fig25},
    {ID "fig26", "Four particles: angular momentum", "EM and EM-G conserve all three components.",
     1, paper_kinon_fig26},
    {ID "fig27", "Four particles: changes of the angular momentum by EM", "Round-off.", 1,
     paper_kinon_fig27},
    {ID "table2", "Four particles: Newton iterations per step",
     "Simple guess: VI-S 4, VI-A 4, VI-B 4, EM 4.305; advanced guess: 3, 3, 3, 3.207; and "
     "computation times in units of VI-S.",
     1, paper_kinon_table2},
    {ID "fig28", "Four particles: errors in position",
     "EM and EM-G are of second order in q_4 at t = 0.1. No numbers.", 1, paper_kinon_fig28},
    {ID "fig29", "Four particles: errors in momentum", "Second order in p_4.", 1,
     paper_kinon_fig29},
    {ID "fig30", "Four particles: errors in the multipliers", "First order in lambda.", 1,
     paper_kinon_fig30},
    {ID "fig31", "Four particles: energies with h = 0.01",
     "All schemes are stable; for h <= 0.04 at least until T = 1000.", 0, paper_kinon_fig31},
    {ID "fig32", "Four particles: energies with h = 0.05",
     "The energy blows up with VI-S and VI-B.", 1, paper_kinon_fig32},
    {ID "fig33", "Four particles: energies with h = 0.25",
     "VI-A blows up at about t = 55; EM is stable even with h = 0.675.", 1, paper_kinon_fig33},
};

const paper_publication paper_kinon2023 = {
    .id = "kinon2023",
    .citation = "P. L. Kinon, P. Betsch, S. Schneider: Structure-preserving integrators based on a "
                "new variational principle for constrained mechanical systems. Nonlinear Dynamics, "
                "2023",
    .catalogued = 31,
    .items = items,
    .num_items = sizeof items / sizeof items[0],
};
