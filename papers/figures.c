/* Figures that many items share: curves over time, curves in a plane, errors over step sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/reproduce.h"

void paper_report_plot(paper_report *report, const char *name, const char *caption,
                       const char *x_label, const char *y_label, pol_series *series, int num_series)
{
  pol_panel panel = pol_panel_default();
  pol_figure figure = pol_figure_default();
  int lines = 0, points = 0;
  for (int i = 0; i < num_series; i++) {
    if (series[i].line == POL_LINE_NONE) {
      series[i].color = points++;
      series[i].marker = POL_MARKER_CIRCLE;
    } else {
      pol_series_look(&series[i], lines++);
    }
  }
  panel.series = series, panel.num_series = num_series;
  panel.y.label = y_label;
  figure.panels = &panel, figure.num_panels = 1;
  figure.x.label = x_label;
  paper_report_figure(report, name, caption, &figure);
}

void paper_report_panels(paper_report *report, const char *name, const char *caption,
                         const char *x_label, const paper_plot *plots, int num_plots)
{
  pol_panel panels[PAPER_MAX_PLOTS];
  char labels[PAPER_MAX_PLOTS][128];
  pol_figure figure = pol_figure_default();
  for (int k = 0; k < num_plots; k++) {
    const paper_plot *plot = &plots[k];
    for (int i = 0; i < plot->num_series; i++) pol_series_look(&plot->series[i], i);
    panels[k] = pol_panel_default();
    panels[k].series = plot->series, panels[k].num_series = plot->num_series;
    snprintf(labels[k], sizeof labels[k], "%s%s%s", plot->note != NULL ? plot->note : "",
             plot->note != NULL ? ": " : "", plot->y_label);
    panels[k].y.label = labels[k], panels[k].y.log = plot->log;
    panels[k].legend = POL_LEGEND_BESIDE;
  }
  figure.panels = panels, figure.num_panels = num_plots;
  figure.height = 130.0 + 200.0 * num_plots;
  figure.x.label = x_label;
  paper_report_figure(report, name, caption, &figure);
}

void paper_report_plane(paper_report *report, const char *name, const char *caption,
                        const char *x_label, const char *y_label, const pol_series *series,
                        int num_series, double width, double height)
{
  pol_panel panel = pol_panel_default();
  pol_figure figure = pol_figure_default();
  panel.series = series, panel.num_series = num_series;
  panel.y.label = y_label, panel.legend = POL_LEGEND_BESIDE;
  figure.panels = &panel, figure.num_panels = 1;
  figure.x.label = x_label, figure.x.margin = 0.05;
  figure.equal = 1, figure.width = width, figure.height = height;
  paper_report_figure(report, name, caption, &figure);
}

double paper_fit_order(const double *h, const double *error, int count)
{
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < count; i++) {
    if (!(error[i] > 0.0) || !isfinite(error[i])) continue;
    const double x = log(h[i]), y = log(error[i]);
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const double divisor = n * sxx - sx * sx;
  return divisor > 0.0 ? (n * sxy - sx * sy) / divisor : 0.0;
}

/* One row a step size, one column a curve, and the orders below. */
static void tabulate(paper_report *report, const char *caption, const double *h, int num_steps,
                     const paper_errors_of *curves, int num_curves)
{
  enum { SIZE = 2048 };
  char columns[SIZE] = "h (s)", orders[SIZE] = "order, last two";
  size_t c = strlen(columns), o = strlen(orders);
  for (int k = 0; k < num_curves; k++) {
    const double *e = curves[k].error;
    const double order =
        num_steps > 1 ? paper_fit_order(h + num_steps - 2, e + num_steps - 2, 2) : 0;
    c += (size_t)snprintf(columns + c, c < SIZE ? SIZE - c : 0, "|%s", curves[k].label);
    o +=
        (size_t)snprintf(orders + o, o < SIZE ? SIZE - o : 0, order != 0.0 ? "|%.2f" : "|-", order);
    if (c >= SIZE || o >= SIZE) return;
  }
  paper_report_table(report, caption, columns);
  for (int i = 0; i < num_steps; i++) {
    char row[SIZE];
    size_t length = (size_t)snprintf(row, sizeof row, "%.4g", h[i]);
    for (int k = 0; k < num_curves && length < SIZE; k++)
      length += (size_t)snprintf(row + length, SIZE - length,
                                 isfinite(curves[k].error[i]) ? "|%.3e" : "|-", curves[k].error[i]);
    paper_report_row(report, "%s", row);
  }
  paper_report_row(report, "%s", orders);
}

/* The curves that have a point at all, as series; how many. */
static int make_series(const double *h, int num_steps, const paper_errors_of *curves,
                       int num_curves, pol_series *series)
{
  int count = 0;
  for (int k = 0; k < num_curves; k++) {
    int points = 0;
    for (int i = 0; i < num_steps; i++)
      points += isfinite(curves[k].error[i]) && curves[k].error[i] > 0.0;
    if (points == 0) continue;
    pol_series *s = &series[count++];
    *s = (pol_series){.x = h, .y = curves[k].error, .count = (size_t)num_steps};
    s->label = curves[k].label;
    s->marker = POL_MARKER_CIRCLE;
    pol_series_look(s, k);
  }
  return count;
}

/* At each step size the smallest error, or the largest. */
static void envelope(const paper_errors_of *curves, int num_curves, int num_steps, int largest,
                     double *error)
{
  for (int i = 0; i < num_steps; i++) {
    error[i] = (double)NAN;
    for (int k = 0; k < num_curves; k++) {
      const double e = curves[k].error[i];
      if (e > 0.0 && isfinite(e)) error[i] = largest ? fmax(error[i], e) : fmin(error[i], e);
    }
  }
}

void paper_report_errors(paper_report *report, const char *name, const char *caption,
                         const char *y_label, const double *h, int num_steps,
                         const paper_errors_of *curves, int num_curves, const double *orders)
{
  enum { MAX_SLOPES = 2 };
  pol_series *series = calloc((size_t)num_curves, sizeof *series);
  double lowest[PAPER_MAX_STEPS];
  pol_slope slopes[MAX_SLOPES];
  pol_panel panel = pol_panel_default();
  pol_figure figure = pol_figure_default();
  if (series == NULL) {
    paper_report_fail(report, "out of memory");
    return;
  }
  panel.series = series, panel.num_series = make_series(h, num_steps, curves, num_curves, series);
  /* triangles below all curves, the second below the uppermost of them */
  for (int i = 0; orders != NULL && i < MAX_SLOPES && orders[i] != 0.0; i++) {
    envelope(curves, num_curves, num_steps, i > 0, lowest);
    const pol_series below = {.x = h, .y = lowest, .count = (size_t)num_steps};
    slopes[panel.num_slopes] = pol_slope_below(&below, orders[i]);
    panel.num_slopes += slopes[panel.num_slopes].order != 0.0;
  }
  panel.slopes = slopes;
  panel.y.label = y_label, panel.y.log = 1;
  figure.panels = &panel, figure.num_panels = 1;
  figure.x.label = "step size h (s)", figure.x.log = 1, figure.x.margin = 0.05;
  paper_report_figure(report, name, caption, &figure);
  tabulate(report, caption, h, num_steps, curves, num_curves);
  free(series);
}
