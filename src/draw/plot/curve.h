/* From the numbers of a series to a curve in pixels. */
#ifndef POLHODE_PLOT_CURVE_H
#define POLHODE_PLOT_CURVE_H

#include "draw/plot/canvas.h"
#include "draw/plot/ticks.h"

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
  pol_point *points;
} poli_curve;

/* The curve of a series.  If it goes from left to right with many points a pixel, it is thinned
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
