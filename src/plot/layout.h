/* Where everything of a figure stands. */
#ifndef POLHODE_PLOT_LAYOUT_H
#define POLHODE_PLOT_LAYOUT_H

#include "plot/curve.h"

/* Sizes in pixels. */
#define POL_TICK_FONT 11.0
#define POL_LABEL_FONT 12.5
#define POL_TITLE_FONT 14.0
#define POL_LEGEND_FONT 11.0

enum { POL_LEGEND_CHARACTERS = 80 };

typedef struct pol_panel_layout {
  const pol_panel *panel;
  pol_box box;
  pol_scale y;
  pol_ticks ticks;
  pol_curve *curves; /* of the series */
  int beside;        /* whether the legend is */
  pol_box legend;    /* no width: there is none */
  int legend_rows; /* series in it, from the first; fewer than there are if it would be too high */
} pol_panel_layout;

typedef struct pol_layout {
  const pol_figure *figure;
  pol_scale x;
  pol_ticks ticks;
  pol_panel_layout *panels;
} pol_layout;

/* The y at the end of a slope. */
double pol_slope_end(const pol_slope *slope);

/* Free in any case. */
pol_status pol_layout_make(pol_layout *layout, const pol_figure *figure);
void pol_layout_free(pol_layout *layout);

/* --- the legend, legend.c --------------------------------------------------------------------- */

/* Inside the legend: its padding, the height of a row, the width of a line's sample. */
#define POL_LEGEND_PADDING 7.0
#define POL_LEGEND_ROW 15.5
#define POL_LEGEND_SAMPLE 24.0
#define POL_LEGEND_GAP 7.0

/* The label of the series at most this wide, in POL_TEXT_SIZE(POL_LEGEND_CHARACTERS) bytes. */
void pol_legend_label(const pol_series *series, double width, char *text);
/* Sets the size of the legend if it may take this width, and the rows for this height.  Nothing to
 * tell: a size of 0. */
void pol_legend_measure(pol_panel_layout *layout, double width, double height);
/* Puts it where it hides least of the curves; gives the length of what it hides, in pixels. */
double pol_legend_place(pol_panel_layout *layout);
/* The width of the legend that labels may take. */
double pol_legend_label_width(const pol_panel_layout *layout);

#endif
