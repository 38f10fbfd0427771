/* From the numbers of a series to a curve in pixels. */
#ifndef POLHODE_PLOT_CURVE_H
#define POLHODE_PLOT_CURVE_H

#include "plot/canvas.h"
#include "plot/ticks.h"

/* An axis on the picture: range.lo is at pixel `start`, range.hi at start + length (negative for an
 * axis that goes up). */
typedef struct pol_scale {
  pol_range range;
  int log;
  double start, length;
} pol_scale;

/* The pixel of a value that the axis can show, at most a hundred thousand pixels away. */
double pol_scale_pixel(const pol_scale *scale, double value);

/* Points in pixels; one that is not a number ends a line. */
typedef struct pol_curve {
  size_t count, capacity;
  pol_point *points;
} pol_curve;

/* The curve of a series.  If it goes from left to right with many points a pixel, it is thinned
 * out: of consecutive points in the same half pixel column the first, the lowest, the highest and
 * the last stay, which draws the same picture (U. Jugel et al.: M4, 2014).  A point with a gap on
 * both sides appears twice, so that it is drawn as a dot.  POL_NO_MEMORY: free the curve in any
 * case. */
pol_status pol_curve_make(pol_curve *curve, const pol_series *series, const pol_scale *x,
                          const pol_scale *y);
/* Leaves out points that straight lines pass closer than can be seen. */
void pol_curve_straighten(pol_curve *curve);
/* Leaves out lines that reach no pixel of the box which lines before them have not covered: for
 * curves that run over the same places many times.  POL_NO_MEMORY leaves the curve as it was. */
pol_status pol_curve_drop_covered(pol_curve *curve, pol_box box);
void pol_curve_free(pol_curve *curve);

#endif
