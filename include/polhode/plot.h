/* Figures: line plots as SVG, PNG and PDF, and spectra.
 *
 * A figure is plain data that the caller fills and owns: one x axis and one or more panels stacked
 * above it, each with its own y axis and series.  Nothing is copied; arrays and strings must be
 * valid only during the call that draws them.  Start from pol_figure_default() and
 * pol_panel_default(): an all-zero struct is not always valid.
 *
 *     pol_series wave = {.x = t, .y = y, .count = n, .label = "wave"};
 *     pol_panel panel = pol_panel_default();
 *     panel.series = &wave, panel.num_series = 1, panel.y.label = "height (m)";
 *     pol_figure figure = pol_figure_default();
 *     figure.panels = &panel, figure.num_panels = 1, figure.x.label = "time (s)";
 *     pol_figure_write(&figure, "wave.svg");
 *
 * Strings are UTF-8.  A '^' before digits, or before a minus sign and digits, sets them as a
 * superscript: "m/s^2", "10^-3".  NULL is an empty string.
 */
#ifndef POLHODE_PLOT_H
#define POLHODE_PLOT_H

#include <stddef.h>

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Line style of a series. */
typedef enum pol_plot_line {
  POL_LINE_SOLID,
  POL_LINE_DASHED,
  POL_LINE_DOTTED,
  POL_LINE_DASH_DOT,
  POL_LINE_NONE /* markers only */
} pol_plot_line;

/* Marker style of a series. */
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

/* Points connected in their order.  A point that is not finite, beyond 1e300, or not positive on a
 * logarithmic axis leaves a gap.  Long series are reduced to the visible resolution. */
typedef struct pol_series {
  const double *x, *y;
  size_t count;
  const char *label; /* in the legend; NULL: not in the legend */
  int color;
  pol_plot_line line;
  pol_plot_marker marker;
} pol_series;

/* Sets the i-th of many distinct styles: first the colours vary, then the dashes and, if the series
 * has a marker, the markers. */
void pol_series_look(pol_series *series, int i);

/* A reference slope, y proportional to x^order, from x[0] to x[1], where y is y0 at x[0].  Requires
 * logarithmic axes.  Drawn as a triangle labelled with the order, or as a dashed line. */
typedef struct pol_slope {
  double order;
  double x[2];
  double y0;
  int triangle;
  const char *label; /* NULL: the order */
} pol_slope;

/* A triangle in the middle of the range of the series, just below its points.  Requires at least
 * two positive points with different x; otherwise order and x[0] are 0. */
pol_slope pol_slope_below(const pol_series *series, double order);

/* A text in a panel. */
typedef struct pol_note {
  double x, y; /* in axis units; if `relative`, fractions of the panel from its lower left corner */
  int relative;
  int anchor; /* -1: the text starts there, 0: it is centred, 1: it ends there */
  const char *text;
} pol_note;

/* An axis of a panel. */
typedef struct pol_axis {
  const char *label; /* with the unit: "time (s)" */
  int log;
  double min, max; /* limits; both 0: from the data */
  double margin;   /* free space at both ends, as a fraction of the data range */
} pol_axis;

/* Returns 1 if an axis, logarithmic if log != 0, can show the value; other values leave gaps. */
int pol_axis_shows(double value, int log);

/* Position of the legend. */
typedef enum pol_legend {
  POL_LEGEND_AUTO, /* inside where it hides least, or beside the panel if it would hide too much */
  POL_LEGEND_INSIDE, /* in the corner or side where it hides least */
  POL_LEGEND_BESIDE,
  POL_LEGEND_NONE
} pol_legend;

/* One panel (diagram) of a figure. */
typedef struct pol_panel {
  pol_axis y;
  const pol_series *series;
  int num_series;
  const pol_slope *slopes;
  int num_slopes;
  const pol_note *notes;
  int num_notes;
  pol_legend legend; /* lists the series with a label */
} pol_panel;

/* A figure: panels below each other. */
typedef struct pol_figure {
  const char *title;
  pol_axis x;
  const pol_panel *panels; /* from the top down */
  int num_panels;
  double width, height; /* pixels of the SVG */
  double scale;         /* PNG pixels per SVG pixel */
  int equal;            /* 1: equal scales on x and y; linear axes only */
  int grid;
  int dark; /* light on dark */
} pol_figure;

/* 720 x 450, scale 2, light, with grid; the x axis has no margin. */
pol_figure pol_figure_default(void);
/* A margin of 0.05 on the y axis. */
pol_panel pol_panel_default(void);

/* POL_BAD_ARGUMENT, with the reason in message (may be NULL), if the figure is invalid.  All
 * functions below check this too. */
pol_status pol_figure_validate(const pol_figure *figure, char *message, size_t size);

/* The figure as SVG text, which the caller frees; *text is NULL on failure.  Equal figures give
 * identical bytes. */
pol_status pol_figure_svg(const pol_figure *figure, char **text);
/* Writes a file: PNG if its name ends in .png, PDF if in .pdf (a pixel is 0.75 points), else SVG.  POL_IO: it cannot be written; errno gives
 * the reason if the system provides one.  An incomplete file is removed. */
pol_status pol_figure_write(const pol_figure *figure, const char *path);

/* --- spectra ---------------------------------------------------------------------------------- */

/* Amplitude spectrum of `count` >= 2 samples y at equal distances dt: of y without its mean, under
 * a Hann window.  A sine with the amplitude A whose frequency is one of those below has the value A
 * there.  frequency, amplitude: count/2 + 1 numbers each, frequency[k] = k/(count dt), in Hz if dt
 * is in seconds.  POL_BAD_ARGUMENT: there are fewer samples, dt is not positive or a sample is not
 * finite. */
pol_status pol_spectrum(size_t count, double dt, const double *y, double *frequency,
                        double *amplitude);

#ifdef __cplusplus
}
#endif
#endif
