/* Descriptions of figures: their defaults, looks of series, reference slopes, and rules. */
#include <math.h>

#include <polhode/plot.h>

#include "base/rule.h"
#include "draw/plot/layout.h"

static const double smallest_size = 120, largest_size = 10000, most_pixels = 30000;

pol_figure pol_figure_default(void)
{
  return (pol_figure){.width = 720, .height = 450, .scale = 2, .grid = 1};
}

pol_panel pol_panel_default(void)
{
  return (pol_panel){.y.margin = 0.05};
}

void pol_series_look(pol_series *series, int i)
{
  series->color = i % POL_PLOT_COLORS;
  if (series->line != POL_LINE_NONE) series->line = (pol_plot_line)(i / POL_PLOT_COLORS % 4);
  if (series->marker != POL_MARKER_NONE) series->marker = (pol_plot_marker)(1 + i % 5);
}

pol_slope pol_slope_below(const pol_series *series, double order)
{
  pol_slope slope = {.order = order, .triangle = 1};
  poli_range x = poli_range_empty();
  double lowest = HUGE_VAL;
  for (size_t i = 0; i < series->count; i++)
    if (pol_axis_shows(series->x[i], 1) && pol_axis_shows(series->y[i], 1))
      poli_range_include(&x, series->x[i]);
  if (!(x.hi > x.lo)) return (pol_slope){0};

  /* the middle third; points beside it count too, so that the line between is not touched */
  const double ratio = x.hi / x.lo;
  slope.x[0] = x.lo * pow(ratio, 0.38), slope.x[1] = x.lo * pow(ratio, 0.62);
  for (size_t i = 0; i < series->count; i++)
    if (pol_axis_shows(series->x[i], 1) && pol_axis_shows(series->y[i], 1))
      lowest = fmin(lowest, series->y[i] / pow(series->x[i] / slope.x[0], order));
  slope.y0 = 0.4 * lowest;
  return slope;
}

double poli_slope_end(const pol_slope *slope)
{
  return slope->y0 * pow(slope->x[1] / slope->x[0], slope->order);
}

/* --- rules ------------------------------------------------------------------------------------ */

static const char *axis_rule(const pol_axis *axis)
{
  if (!(axis->margin >= 0 && axis->margin <= 10)) return "the margin must be 0 to 10";
  if (axis->min == 0 && axis->max == 0) return NULL;
  if (!pol_axis_shows(axis->min, 0) || !pol_axis_shows(axis->max, 0))
    return "an axis must start and end at finite numbers";
  if (!(axis->max > axis->min)) return "an axis must end after it starts";
  if (axis->log && !(axis->min > 0)) return "a logarithmic axis must start above 0";
  return NULL;
}

static const char *panel_rule(const pol_figure *figure, const pol_panel *panel)
{
  if (panel->num_series < 0 || panel->num_slopes < 0 || panel->num_notes < 0)
    return "counts must not be negative";
  for (int i = 0; i < panel->num_series; i++)
    if (panel->series[i].count > 0 && (panel->series[i].x == NULL || panel->series[i].y == NULL))
      return "a series must have its numbers";
  for (int i = 0; i < panel->num_slopes; i++) {
    const pol_slope *slope = &panel->slopes[i];
    if (!figure->x.log || !panel->y.log) return "slopes need logarithmic axes";
    if (!(slope->x[0] > 0 && slope->x[1] > slope->x[0] && slope->y0 > 0 && isfinite(slope->order)))
      return "a slope must start at positive numbers and end after it starts";
    if (!pol_axis_shows(poli_slope_end(slope), 1))
      return "a slope must end at a finite positive number";
  }
  if (figure->equal && panel->y.log) return "equal units need linear axes";
  return axis_rule(&panel->y);
}

static const char *figure_rule(const pol_figure *figure)
{
  const double pixels = fmax(figure->width, figure->height) * figure->scale;
  if (figure->num_panels < 1 || figure->panels == NULL) return "there must be a panel";
  if (!(figure->width >= smallest_size && figure->width <= largest_size &&
        figure->height >= smallest_size && figure->height <= largest_size))
    return "width and height must be 120 to 10000";
  if (!(figure->scale > 0 && pixels <= most_pixels))
    return "the scale must be positive and the picture at most 30000 pixels wide and high";
  if (figure->equal && figure->x.log) return "equal units need linear axes";
  return axis_rule(&figure->x);
}

pol_status pol_figure_validate(const pol_figure *figure, char *message, size_t size)
{
  const char *rule = figure_rule(figure);
  for (int i = 0; rule == NULL && i < figure->num_panels; i++)
    rule = panel_rule(figure, &figure->panels[i]);
  return rule != NULL ? poli_broken_rule(rule, message, size) : POL_OK;
}
