/* From numbers to pixels: ranges of axes and their ticks, curves of series. */
#ifndef POLHODE_PLOT_CURVE_H
#define POLHODE_PLOT_CURVE_H

#include "draw/plot/canvas.h"

/* Larger values count as infinite, so that no range overflows. */
#define POLI_PLOT_LARGEST 1e300

typedef struct poli_range {
  double lo, hi; /* lo > hi: empty */
} poli_range;

poli_range poli_range_empty(void);
void poli_range_include(poli_range *range, double value);
/* Makes a range that can be drawn, with a margin at both ends (in decades on a logarithmic axis):
 * an empty one becomes 0 to 1, or 1 to 10; one without extent, but for round-off, is widened. */
void poli_range_finish(poli_range *range, int log, double margin);

enum {
  POLI_MAX_TICKS = 48,
  POLI_MAX_MINOR_TICKS = 400,
  POLI_TICK_LABEL = 64,
  POLI_TICK_OFFSET = 160
};

typedef struct poli_ticks {
  int count;
  double at[POLI_MAX_TICKS];
  char label[POLI_MAX_TICKS][POLI_TICK_LABEL];
  int num_minor; /* without labels, on logarithmic axes */
  double minor[POLI_MAX_MINOR_TICKS];
  /* A label means itself, times and plus this: "(times)10^-3 + 5435.6"; "" if it means itself. */
  char offset[POLI_TICK_OFFSET];
} poli_ticks;

/* Ticks for an axis of this length in pixels: steps of 1, 2 or 5 times a power of ten, or decades;
 * neighbours at least `distance` apart, and, if the axis is horizontal, labels of this font size
 * (0: vertical) clear of each other. */
void poli_ticks_make(poli_ticks *ticks, poli_range range, int log, double length, double distance,
                     double font_size);

/* A number with so many decimals, the true minus, and a point whatever the locale. */
void poli_ticks_number(char *text, size_t size, double value, int decimals);
/* "10^-3", with the true minus. */
void poli_ticks_power(char *text, size_t size, int exponent);

/* An axis on the picture: range.lo is at pixel `start`, range.hi at start + length (negative for an
 * axis that goes up). */
typedef struct poli_scale {
  poli_range range;
  int log;
  double start, length;
} poli_scale;

/* The pixel of a value that the axis can show, at most a hundred thousand pixels away. */
double poli_scale_pixel(const poli_scale *scale, double value);

/* Points in pixels; one that is not a number ends a line. */
typedef struct poli_curve {
  size_t count, capacity;
  poli_pixel *points;
} poli_curve;

/* The curve of a series.  If it goes from left to right with many points per pixel, it is thinned
 * out: of consecutive points in the same half pixel column the first, the lowest, the highest and
 * the last stay, which draws the same picture (U. Jugel et al.: M4, 2014).  A point with a gap on
 * both sides appears twice, so that it is drawn as a dot.  POL_NO_MEMORY: free the curve in any
 * case. */
pol_status poli_curve_make(poli_curve *curve, const pol_series *series, const poli_scale *x,
                           const poli_scale *y);
/* Leaves out points that straight lines pass closer than can be seen. */
void poli_curve_straighten(poli_curve *curve);
/* Leaves out lines that reach no pixel of the box which lines before them have not covered: for
 * curves that run over the same places many times.  POL_NO_MEMORY leaves the curve as it was. */
pol_status poli_curve_drop_covered(poli_curve *curve, poli_box box);
void poli_curve_free(poli_curve *curve);

#endif
