/* Where everything of a figure stands. */
#ifndef POLHODE_PLOT_LAYOUT_H
#define POLHODE_PLOT_LAYOUT_H

#include "draw/plot/curve.h"

/* Sizes in pixels. */
#define POLI_TICK_FONT 11.0
#define POLI_LABEL_FONT 12.5
#define POLI_TITLE_FONT 14.0
#define POLI_LEGEND_FONT 11.0

enum { POLI_LEGEND_CHARACTERS = 80 };

typedef struct poli_panel_layout {
  const pol_panel *panel;
  poli_box box;
  poli_scale y;
  poli_ticks ticks;
  poli_curve *curves; /* of the series */
  size_t label_break; /* where the second line of the y label starts; 0: it has one */
  int shares_legend;  /* with the first panel, which has the same */
  int beside;         /* whether the legend is */
  poli_box legend;    /* no width: there is none */
  int legend_rows; /* series in it, from the first; fewer than there are if it would be too high */
} poli_panel_layout;

typedef struct poli_layout {
  const pol_figure *figure;
  poli_scale x;
  poli_ticks ticks;
  poli_panel_layout *panels;
} poli_layout;

/* The y at the end of a slope. */
double poli_slope_end(const pol_slope *slope);

/* Free in any case. */
pol_status poli_layout_make(poli_layout *layout, const pol_figure *figure);
void poli_layout_free(poli_layout *layout);

/* --- the legend ------------------------------------------------------------------------------- */

/* Inside the legend: its padding, the height of a row, the width of a line's sample. */
#define POLI_LEGEND_PADDING 7.0
#define POLI_LEGEND_ROW 15.5
#define POLI_LEGEND_SAMPLE 24.0
#define POLI_LEGEND_GAP 7.0

/* The label of the series at most this wide, in POLI_TEXT_SIZE(POLI_LEGEND_CHARACTERS) bytes. */
void poli_legend_label(const pol_series *series, double width, char *text);
/* Puts the legend where it hides least of the curves; returns the length of what it hides, in
 * pixels. */
double poli_legend_place(poli_panel_layout *layout);
/* The width of the legend that labels may take. */
double poli_legend_label_width(const poli_panel_layout *layout);

#endif
