/* From the numbers of a series to a curve in pixels, and thinning it out: M4 for what is too dense,
 * straight pieces for what is nearly straight (C. M. Williams: An efficient algorithm for the
 * piecewise linear approximation of planar curves, 1978), and a raster of pixels for what runs over
 * itself.
 */
#include "draw/plot/curve.h"

#include <math.h>
#include <stdlib.h>

static const double farthest = 1e5; /* pixels */
static const double columns_per_pixel = 2;
static const double tolerance = 0.06; /* pixels by which a straight piece may be off */

double poli_scale_pixel(const poli_scale *scale, double value)
{
  const poli_range r = scale->range;
  const double fraction = scale->log ? (log(value) - log(r.lo)) / (log(r.hi) - log(r.lo))
                                     : (value - r.lo) / (r.hi - r.lo);
  return fmin(fmax(scale->start + scale->length * fraction, -farthest), farthest);
}

static pol_status push(poli_curve *curve, pol_point point)
{
  if (curve->count == curve->capacity) {
    size_t capacity = curve->capacity > 0 ? 2 * curve->capacity : 256;
    pol_point *longer = realloc(curve->points, capacity * sizeof *longer);
    if (longer == NULL) return POL_NO_MEMORY;
    curve->points = longer;
    curve->capacity = capacity;
  }
  curve->points[curve->count++] = point;
  return POL_OK;
}

/* Consecutive points in one column. */
typedef struct run {
  double column;
  size_t count, at_low, at_high; /* points; where the extremes stand among them */
  pol_point first, last, low, high;
} run;

static void start_run(run *r, double column, pol_point p)
{
  *r = (run){.column = column, .count = 1, .first = p, .last = p, .low = p, .high = p};
}

static void extend_run(run *r, pol_point p)
{
  if (p.y < r->low.y) r->low = p, r->at_low = r->count;
  if (p.y > r->high.y) r->high = p, r->at_high = r->count;
  r->last = p;
  r->count++;
}

/* Adds first, extremes in their order, and last, each once. */
static pol_status end_run(poli_curve *curve, run *r)
{
  const size_t last = r->count - 1;
  const int low_first = r->at_low < r->at_high;
  const size_t at[2] = {low_first ? r->at_low : r->at_high, low_first ? r->at_high : r->at_low};
  const pol_point extremes[2] = {low_first ? r->low : r->high, low_first ? r->high : r->low};
  pol_status status = POL_OK;
  if (r->count > 0) status = push(curve, r->first);
  for (int i = 0; i < 2 && status == POL_OK; i++)
    if (r->count > 0 && at[i] > 0 && at[i] < last) status = push(curve, extremes[i]);
  if (r->count > 1 && status == POL_OK) status = push(curve, r->last);
  r->count = 0;
  return status;
}

/* Ends a line; a lonely point becomes a dot. */
static pol_status end_line(poli_curve *curve, run *r)
{
  pol_status status = end_run(curve, r);
  const size_t n = curve->count;
  if (status != POL_OK || n == 0 || isnan(curve->points[n - 1].x)) return status;
  if (n == 1 || isnan(curve->points[n - 2].x)) status = push(curve, curve->points[n - 1]);
  if (status == POL_OK) status = push(curve, POLI_GAP);
  return status;
}

/* Whether columns hold so many points that thinning them out cannot be seen: not so where a curve
 * runs along a column, as in phase plots. */
static int is_dense(const pol_series *series, const poli_scale *x)
{
  if ((double)series->count < 4 * columns_per_pixel * fabs(x->length)) return 0;
  for (size_t i = 1; i < series->count; i++)
    if (series->x[i] < series->x[i - 1]) return 0;
  return 1;
}

pol_status poli_curve_make(poli_curve *curve, const pol_series *series, const poli_scale *x,
                           const poli_scale *y)
{
  run r = {0};
  pol_status status = POL_OK;
  const int dense = is_dense(series, x);
  *curve = (poli_curve){0};
  for (size_t i = 0; i < series->count && status == POL_OK; i++) {
    if (!pol_axis_shows(series->x[i], x->log) || !pol_axis_shows(series->y[i], y->log)) {
      status = end_line(curve, &r);
      continue;
    }
    const pol_point p = {poli_scale_pixel(x, series->x[i]), poli_scale_pixel(y, series->y[i])};
    const double column = floor(columns_per_pixel * p.x);
    if (dense && r.count > 0 && column == r.column) {
      extend_run(&r, p);
      continue;
    }
    status = end_run(curve, &r);
    start_run(&r, column, p);
  }
  if (status == POL_OK) status = end_line(curve, &r);
  return status;
}

/* --- straight pieces -------------------------------------------------------------------------- */

/* The directions from the anchor in which a line passes all points since at most `tolerance` away.
 */
typedef struct cone {
  pol_point anchor;
  double direction;   /* to the first point after the anchor */
  double least, most; /* relative to it */
  double distance;    /* of the last point from the anchor */
} cone;

static double wrap(double angle)
{
  return remainder(angle, 6.28318530717958648);
}

/* Narrows the cone by a point; 0 if a line to it would leave the cone, or goes back. */
static int narrow(cone *c, pol_point p)
{
  const double dx = p.x - c->anchor.x, dy = p.y - c->anchor.y, distance = hypot(dx, dy);
  if (distance < c->distance) return 0;
  if (distance > tolerance) {
    const double angle = atan2(dy, dx), width = asin(tolerance / distance);
    if (c->distance <= tolerance) *c = (cone){c->anchor, angle, -4, 4, distance};
    const double turn = wrap(angle - c->direction);
    if (turn < c->least || turn > c->most) return 0;
    c->least = fmax(c->least, turn - width);
    c->most = fmin(c->most, turn + width);
  }
  c->distance = distance;
  return 1;
}

static int can_reach(cone c, pol_point p)
{
  return narrow(&c, p);
}

void poli_curve_straighten(poli_curve *curve)
{
  size_t kept = 0;
  cone c = {0};
  for (size_t i = 0; i < curve->count; i++) {
    const pol_point p = curve->points[i];
    const int is_end = isnan(p.x) || i == 0 || isnan(curve->points[i - 1].x);
    if (is_end || i + 1 == curve->count || isnan(curve->points[i + 1].x)) {
      /* both ends of a line stay */
      curve->points[kept++] = p;
      c = (cone){.anchor = p};
      continue;
    }
    /* the point before stays if the next cannot be reached without it */
    if (narrow(&c, p) && can_reach(c, curve->points[i + 1])) continue;
    curve->points[kept++] = p;
    c = (cone){.anchor = p};
  }
  curve->count = kept;
}

/* --- covered lines ---------------------------------------------------------------------------- */

/* The pixels of a box. */
typedef struct raster {
  poli_box box;
  int width, height;
  unsigned char *covered;
} raster;

/* Covers the pixels on the way from a to b; gives whether there was any new one. */
static int cover(raster *r, pol_point a, pol_point b)
{
  const int steps = (int)ceil(fmax(fabs(b.x - a.x), fabs(b.y - a.y)));
  int any_new = 0;
  for (int k = 0; k <= steps; k++) {
    const double s = steps > 0 ? (double)k / steps : 0;
    const double x = floor(a.x + s * (b.x - a.x) - r->box.x);
    const double y = floor(a.y + s * (b.y - a.y) - r->box.y);
    if (x < 0 || y < 0 || x >= r->width || y >= r->height) continue;
    unsigned char *pixel = &r->covered[(size_t)y * (size_t)r->width + (size_t)x];
    any_new |= !*pixel;
    *pixel = 1;
  }
  return any_new;
}

/* Adds a line; it goes on from the last if it starts where that ended. */
static pol_status push_line(poli_curve *curve, int goes_on, pol_point a, pol_point b)
{
  pol_status status = POL_OK;
  if (!goes_on && curve->count > 0) status = push(curve, POLI_GAP);
  if (!goes_on && status == POL_OK) status = push(curve, a);
  return status == POL_OK ? push(curve, b) : status;
}

pol_status poli_curve_drop_covered(poli_curve *curve, poli_box box)
{
  raster r = {box, (int)box.width + 1, (int)box.height + 1, NULL};
  poli_curve kept = {0};
  pol_status status = POL_OK;
  int goes_on = 0;
  r.covered = calloc((size_t)r.width * (size_t)r.height, 1);
  if (r.covered == NULL) return POL_NO_MEMORY;
  for (size_t i = 1; i < curve->count && status == POL_OK; i++) {
    const pol_point a = curve->points[i - 1], b = curve->points[i];
    const int is_line = !isnan(a.x) && !isnan(b.x);
    const int needed = is_line && cover(&r, a, b);
    if (needed) status = push_line(&kept, goes_on, a, b);
    goes_on = needed;
  }
  free(r.covered);
  if (status == POL_OK) {
    poli_curve_free(curve);
    *curve = kept;
  } else {
    poli_curve_free(&kept);
  }
  return status;
}

void poli_curve_free(poli_curve *curve)
{
  free(curve->points);
  *curve = (poli_curve){0};
}
