/* Figures: line plots as SVG and PNG.
 *
 * A figure is plain data that the caller fills in and owns: one x axis, one or more panels stacked
 * above it, each with its own y axis and its series.  Nothing is copied; arrays and strings need to
 * live only as long as the call that draws them.  Start from pol_figure_default() and
 * pol_panel_default(): an all-zero struct is not always valid.
 *
 *     pol_series wave = {.x = t, .y = y, .count = n, .label = "wave"};
 *     pol_panel panel = pol_panel_default();
 *     panel.series = &wave, panel.num_series = 1, panel.y.label = "height (m)";
 *     pol_figure figure = pol_figure_default();
 *     figure.panels = &panel, figure.num_panels = 1, figure.x.label = "time (s)";
 *     pol_figure_write(&figure, "wave.svg");
 *
 * Strings are UTF-8.  In every text a '^' before digits, or before a minus and digits, raises them:
 * "m/s^2", "10^-3".  A string that is NULL is empty.
 */
#ifndef POLHODE_PLOT_H
#define POLHODE_PLOT_H

#include <stddef.h>

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the points of a series are joined. */
typedef enum pol_plot_line {
  POL_LINE_SOLID,
  POL_LINE_DASHED,
  POL_LINE_DOTTED,
  POL_LINE_DASH_DOT,
  POL_LINE_NONE /* markers only */
} pol_plot_line;

/* How each point of a series is drawn. */
typedef enum pol_plot_marker {
  POL_MARKER_NONE,
  POL_MARKER_CIRCLE,
  POL_MARKER_SQUARE,
  POL_MARKER_TRIANGLE,
  POL_MARKER_DIAMOND,
  POL_MARKER_CROSS
} pol_plot_marker;

/* Colours are numbers into a palette that people with colour blindness can tell apart (after
 * M. Okabe, K. Ito: Color universal design, 2008).  Others are taken modulo this count. */
enum { POL_PLOT_COLORS = 7 };

/* Points joined in their order.  A point that is not finite, beyond 1e300, or not positive on a
 * logarithmic axis, leaves a gap.  Long series are thinned out to what can be seen. */
typedef struct pol_series {
  const double *x, *y;
  size_t count;
  const char *label; /* in the legend; NULL: not there */
  int color;
  pol_plot_line line;
  pol_plot_marker marker;
} pol_series;

/* Gives the series the i-th of many looks that differ: first the colours, then the dashes, and, if
 * it has a marker, the markers. */
void pol_series_look(pol_series *series, int i);

/* A reference slope, y proportional to x^order, from x[0] to x[1], where y is y0 at x[0].  Needs
 * logarithmic axes.  Drawn as a triangle with its order at the side, or as a dashed line. */
typedef struct pol_slope {
  double order;
  double x[2];
  double y0;
  int triangle;
  const char *label; /* NULL: the order */
} pol_slope;

/* A triangle over the middle of the series' range, just below all its points there.  Needs two
 * positive points with different x at least; order 0 and x[0] = 0 if there are none. */
pol_slope pol_slope_below(const pol_series *series, double order);

/* A text in a panel. */
typedef struct pol_note {
  double x, y; /* a point of the axes; fractions of the panel from its lower left corner if
                  `relative` */
  int relative;
  int anchor; /* -1 the text starts there, 0 it is centred, 1 it ends there */
  const char *text;
} pol_note;

/* An axis of a panel. */
typedef struct pol_axis {
  const char *label; /* with the unit: "time (s)" */
  int log;
  double min, max; /* where it starts and ends; both 0: from the data */
  double margin;   /* of the range of the data, left free at both ends */
} pol_axis;

/* Whether an axis, logarithmic or not, can show the value: others leave gaps. */
int pol_axis_shows(double value, int log);

/* Where the legend is. */
typedef enum pol_legend {
  POL_LEGEND_AUTO,   /* inside where it hides least, or beside the panel if that is too much */
  POL_LEGEND_INSIDE, /* in the corner or side where it hides least */
  POL_LEGEND_BESIDE,
  POL_LEGEND_NONE
} pol_legend;

/* One diagram of a figure. */
typedef struct pol_panel {
  pol_axis y;
  const pol_series *series;
  int num_series;
  const pol_slope *slopes;
  int num_slopes;
  const pol_note *notes;
  int num_notes;
  pol_legend legend; /* of the series that have a label */
} pol_panel;

/* A figure: panels below each other. */
typedef struct pol_figure {
  const char *title;
  pol_axis x;
  const pol_panel *panels; /* from the top down */
  int num_panels;
  double width, height; /* pixels of the SVG */
  double scale;         /* pixels of the PNG for each of them */
  int equal;            /* a unit of x is as long as one of y; linear axes only */
  int grid;
  int dark; /* light on dark */
} pol_figure;

/* 720 x 450, scale 2, light, with grid; the x axis has no margin. */
pol_figure pol_figure_default(void);
/* A margin of 0.05 on the y axis. */
pol_panel pol_panel_default(void);

/* POL_BAD_ARGUMENT: message (which may be NULL) says which rule is broken.  All functions below
 * check too. */
pol_status pol_figure_validate(const pol_figure *figure, char *message, size_t size);

/* The figure as SVG text, which the caller frees; *text is NULL on failure.  The same figure gives
 * the same bytes. */
pol_status pol_figure_svg(const pol_figure *figure, char **text);
/* Writes a file: PNG if its name ends in .png, else SVG.  POL_IO: it cannot be written; errno says
 * why where the system does.  A file that could not be finished is removed. */
pol_status pol_figure_write(const pol_figure *figure, const char *path);

#ifdef __cplusplus
}
#endif
#endif
