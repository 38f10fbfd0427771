/* The pictures of polhode converge: errors against step size with slopes, and, with --work, against
 * wall time and Newton iterations.  One panel a kind of error, one line a series.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/plot.h>

#include "cli/converge.h"
#include "cli/text_out.h"

/* What is on the x axis. */
typedef struct x_axis {
  const char *label;
  const char *suffix; /* of the file name */
  double (*value)(const pol_case *c);
  int slopes;
} x_axis;

/* The step, or the mean of variable ones. */
static double step_of(const pol_case *c)
{
  return c->settings.variable ? c->settings.end / (double)c->counts.steps : c->settings.step;
}

static double time_of(const pol_case *c)
{
  return c->wall_seconds;
}

static double iterations_of(const pol_case *c)
{
  return (double)c->counts.newton_iterations;
}

static const x_axis axes[] = {
    {"step size (s)", "", step_of, 1},
    {"wall time (s)", "_time", time_of, 0},
    {"Newton iterations", "_newton", iterations_of, 0},
};

/* The parts of a figure. */
typedef struct drawing {
  double *numbers; /* x and y of each kind and case */
  pol_series *series;
  pol_slope slopes[POL_NUM_ERROR_KINDS];
  pol_panel panels[POL_NUM_ERROR_KINDS];
  char labels[POL_NUM_ERROR_KINDS][64];
} drawing;

/* One line of a panel; whether it has a point. */
static int fill_series(const cli_study *s, const cli_case_series *from, int kind,
                       const x_axis *axis, double *numbers, pol_series *series)
{
  int points = 0;
  double *x = numbers, *y = numbers + from->count;
  for (int i = 0; i < from->count; i++) {
    const pol_case *c = &s->cases[from->first + i];
    const int done = c->done && c->status == POL_OK;
    x[i] = y[i] = -1.0; /* leaves a gap */
    if (!done) continue;
    x[i] = axis->value(c);
    y[i] = cli_case_error(s, c, kind);
    points += x[i] > 0.0 && y[i] > 0.0;
  }
  *series = (pol_series){.x = x, .y = y, .count = (size_t)from->count, .marker = POL_MARKER_CIRCLE};
  return points > 0;
}

/* The order of the first series that has one: a whole number if it is near; 0 if none has. */
static pol_status choose_order(const cli_study *s, int kind, double *order)
{
  *order = 0.0;
  for (int i = 0; i < s->num_series && *order == 0.0; i++) {
    pol_order fit;
    if (s->series[i].variable) continue;
    const pol_status status = cli_series_order(s, &s->series[i], kind, &fit, NULL);
    if (status != POL_OK) return status;
    if (!isfinite(fit.order) || fit.order < 0.5) continue;
    const double nearest = round(fit.order);
    *order = fabs(fit.order - nearest) < 0.3 ? nearest : fit.order;
  }
  return POL_OK;
}

/* A triangle below all series. */
static pol_status choose_slope(const cli_study *s, int kind, const pol_panel *panel,
                               pol_slope *slope)
{
  double order;
  const pol_status status = choose_order(s, kind, &order);
  *slope = (pol_slope){0};
  for (int i = 0; order > 0.0 && i < panel->num_series; i++) {
    const pol_slope one = pol_slope_below(&panel->series[i], order);
    if (one.x[0] > 0.0 && (slope->x[0] == 0.0 || one.y0 < slope->y0)) *slope = one;
  }
  return status;
}

/* Fills a panel from *numbers and *series on, and moves both. */
static pol_status fill_panel(const cli_study *s, int kind, const x_axis *axis, drawing *d,
                             int number, double **numbers, pol_series **series)
{
  pol_panel *panel = &d->panels[number];
  const char *unit = pol_error_kind_unit((pol_error_kind)kind);
  *panel = pol_panel_default();
  panel->series = *series;
  for (int i = 0; i < s->num_series; i++) {
    pol_series *one = &(*series)[panel->num_series];
    if (!fill_series(s, &s->series[i], kind, axis, *numbers, one)) continue;
    pol_series_look(one, i);
    one->line =
        (pol_plot_line)(i % 4); /* what lies below a curve of equal errors shows in its gaps */
    if (number == 0) one->label = s->series[i].label;
    *numbers += 2 * s->series[i].count;
    panel->num_series++;
  }
  *series += panel->num_series;
  snprintf(d->labels[number], sizeof d->labels[number], "%s error (%s)", cli_error_kinds[kind],
           strcmp(unit, "1") == 0 ? "relative" : unit);
  panel->y.label = d->labels[number];
  panel->y.log = 1;
  panel->y.margin = 0.12; /* for the slopes */
  if (!axis->slopes) return POL_OK;
  const pol_status status = choose_slope(s, kind, panel, &d->slopes[number]);
  panel->slopes = &d->slopes[number];
  panel->num_slopes = d->slopes[number].x[0] > 0.0;
  return status;
}

/* The figure in the memory of d; it has no panels if there is nothing to draw. */
static pol_status make_figure(const cli_study *s, const x_axis *axis, drawing *d,
                              pol_figure *figure)
{
  const size_t kinds = POL_NUM_ERROR_KINDS, lines = (size_t)s->num_series;
  double *numbers = d->numbers =
      malloc((2 * kinds * (size_t)s->study.num_cases + 1) * sizeof *numbers);
  pol_series *series = d->series = malloc((kinds * lines + 1) * sizeof *series);
  pol_status status = numbers != NULL && series != NULL ? POL_OK : POL_NO_MEMORY;
  *figure = pol_figure_default();
  for (int k = 0; status == POL_OK && k < POL_NUM_ERROR_KINDS; k++) {
    if (s->study.num_channels[k] == 0) continue;
    status = fill_panel(s, k, axis, d, figure->num_panels, &numbers, &series);
    figure->num_panels += d->panels[figure->num_panels].num_series > 0;
  }
  figure->title = s->model->name;
  figure->x = (pol_axis){.label = axis->label, .log = 1, .margin = 0.05};
  figure->panels = d->panels;
  if (figure->num_panels > 1) figure->height = 110 + 190 * figure->num_panels;
  return status;
}

/* "orders_time.svg" of "orders.svg" */
static char *file_name(const char *path, const char *suffix)
{
  const char *dot = strrchr(path, '.');
  return cli_format("%.*s%s%s", (int)(dot - path), path, suffix, dot);
}

static pol_status draw(cli_study *s, const x_axis *axis)
{
  drawing d = {0};
  pol_figure figure;
  pol_status status = make_figure(s, axis, &d, &figure);
  if (status == POL_OK && figure.num_panels > 0) {
    char *path = file_name(s->args->plot, axis->suffix);
    if (path != NULL) s->plots[s->num_plots++] = path;
    status = path != NULL ? pol_figure_write(&figure, path) : POL_NO_MEMORY;
  }
  free(d.numbers);
  free(d.series);
  return status;
}

pol_status cli_study_plot(cli_study *s)
{
  const size_t count = s->args->work ? sizeof axes / sizeof axes[0] : 1;
  pol_status status = POL_OK;
  for (size_t i = 0; status == POL_OK && i < count; i++) status = draw(s, &axes[i]);
  return status;
}
