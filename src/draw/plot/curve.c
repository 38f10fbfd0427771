/* From numbers to pixels: ranges of axes, their ticks, and the curves of series.
 *
 * A linear axis has ticks at n m 10^k with m = 1, 2 or 5 (after P. S. Heckbert: Nice numbers for
 * graph labels, Graphics Gems, 1990).  Labels are calculated from the integer n m, so that they
 * never show round-off.  What all labels share is written once, beside the axis: a power of ten
 * with an exponent divisible by three, and a constant if the range is far smaller than the values.
 *
 * Curves are thinned out: M4 for what is too dense, straight pieces for what is nearly straight
 * (C. M. Williams: An efficient algorithm for the piecewise linear approximation of planar curves,
 * 1978), and a raster of pixels for what runs over itself. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/plot/curve.h"
#include "draw/plot/text.h"

static const double log_largest = 1e307; /* of logarithmic axes with their margin */

/* --- ranges ----------------------------------------------------------------------------------- */

poli_range poli_range_empty(void)
{
  return (poli_range){HUGE_VAL, -HUGE_VAL};
}

int pol_axis_shows(double value, int log)
{
  return fabs(value) <= POLI_PLOT_LARGEST && (!log || value >= 1 / POLI_PLOT_LARGEST);
}

void poli_range_include(poli_range *range, double value)
{
  range->lo = fmin(range->lo, value);
  range->hi = fmax(range->hi, value);
}

void poli_range_finish(poli_range *range, int log, double margin)
{
  if (range->lo > range->hi) {
    *range = log ? (poli_range){1, 10} : (poli_range){0, 1};
    return;
  }
  const double largest = fmax(fabs(range->lo), fabs(range->hi));
  if (log) {
    if (range->hi <= range->lo * (1 + 1e-9)) range->lo /= 2, range->hi *= 2;
    const double factor = pow(10, margin * (log10(range->hi) - log10(range->lo)));
    range->lo = fmax(range->lo / factor, 1 / log_largest);
    range->hi = fmin(range->hi * factor, log_largest);
    return;
  }
  if (range->hi - range->lo <= 8 * DBL_EPSILON * largest) {
    /* a constant: in the middle */
    const double half = largest > 1 / POLI_PLOT_LARGEST ? 0.1 * largest : 1;
    range->lo -= half, range->hi += half;
    return;
  }
  const double extra = margin * (range->hi - range->lo);
  range->lo -= extra, range->hi += extra;
}

/* --- labels ----------------------------------------------------------------------------------- */

void poli_ticks_number(char *text, size_t size, double value, int decimals)
{
  char plain[400];
  snprintf(plain, sizeof plain, "%.*f", decimals, value);
  int minus = plain[0] == '-' && strpbrk(plain, "123456789") != NULL;
  size_t used = (size_t)snprintf(text, size, "%s", minus ? POLI_MINUS : "");
  for (const char *c = plain; *c != '\0' && used + 1 < size; c++) {
    if (*c >= '0' && *c <= '9')
      text[used++] = *c;
    else if (*c != '-' && ((unsigned char)*c & 0xC0) != 0x80)
      text[used++] = '.';
  }
  text[used] = '\0';
}

void poli_ticks_power(char *text, size_t size, int exponent)
{
  snprintf(text, size, "10^%s%d", exponent < 0 ? POLI_MINUS : "",
           exponent < 0 ? -exponent : exponent);
}

/* A constant with so many decimals (negative: not even all digits before the point). */
static void put_constant(char *text, size_t size, double value, int decimals)
{
  char digits[32], power[24];
  const int exponent = (int)floor(log10(fabs(value)));
  if (exponent < 6 && exponent > -4) {
    poli_ticks_number(text, size, value, decimals > 0 ? decimals : 0);
    return;
  }
  poli_ticks_number(digits, sizeof digits, value / pow(10, exponent), exponent + decimals);
  poli_ticks_power(power, sizeof power, exponent);
  snprintf(text, size, "%s" POLI_TIMES "%s", digits, power);
}

/* What the labels of a linear axis share. */
typedef struct shared {
  double constant; /* in units of 10^unit, a whole number */
  int unit;        /* the ticks are whole numbers times 10^unit */
  int exponent;    /* of the power of ten that is left out */
} shared;

/* --- linear ----------------------------------------------------------------------------------- */

/* The smallest of 1, 2, 5 times a power of ten that is not below the value. */
static double nice_step(double value, int *mantissa, int *unit)
{
  static const int mantissas[] = {1, 2, 5};
  *unit = (int)floor(log10(value));
  for (;; ++*unit)
    for (int i = 0; i < 3; i++)
      if (mantissas[i] * pow(10, *unit) >= value * (1 - 1e-9)) {
        *mantissa = mantissas[i];
        return mantissas[i] * pow(10, *unit);
      }
}

static void linear_ticks(poli_ticks *ticks, poli_range range, int most)
{
  int mantissa, unit;
  const double extent = range.hi - range.lo;
  const double step = nice_step(extent / most, &mantissa, &unit);
  /* Decides what the labels share; unit is that of the step. */
  shared s = {.unit = unit};
  double largest = fmax(fabs(range.lo), fabs(range.hi));
  double constant = 0;
  int coarse = 0;
  if (extent < 2e-4 * largest) {
    /* the multiple of a power of ten at the range's size that is next below */
    coarse = (int)ceil(log10(extent));
    const double whole = floor(range.lo / pow(10, coarse));
    s.constant = whole * pow(10, coarse - unit);
    constant = whole * pow(10, coarse);
    largest = fmax(fabs(range.lo - constant), fabs(range.hi - constant));
  }
  if (largest >= 1e5 || largest < 1e-2) s.exponent = 3 * (int)floor(log10(largest) / 3);
  /* Writes "x10^-3 + 5435.6", what of it there is. */
  char power[24] = "", number[POLI_TICK_LABEL] = "";
  ticks->offset[0] = '\0';
  if (s.exponent != 0) poli_ticks_power(power, sizeof power, s.exponent);
  if (constant != 0) put_constant(number, sizeof number, fabs(constant), -coarse);
  const char *sign = constant == 0 ? "" : constant < 0 ? POLI_MINUS " " : "+ ";
  snprintf(ticks->offset, sizeof ticks->offset, "%s%s%s%s%s", power[0] ? POLI_TIMES : "", power,
           power[0] && number[0] ? " " : "", sign, number);
  const int decimals = s.exponent > unit ? s.exponent - unit : 0;
  const double first = ceil(range.lo / step - 1e-6), last = floor(range.hi / step + 1e-6);
  ticks->count = ticks->num_minor = 0;
  for (double n = first; n <= last && ticks->count < POLI_MAX_TICKS; n++) {
    ticks->at[ticks->count] = n * step;
    const double whole = n * mantissa - s.constant;
    const double value =
        s.exponent > unit ? whole / pow(10, s.exponent - unit) : whole * pow(10, unit - s.exponent);
    poli_ticks_number(ticks->label[ticks->count++], POLI_TICK_LABEL, value, decimals);
  }
}

/* --- logarithmic ------------------------------------------------------------------------------ */

static void add_minor(poli_ticks *ticks, poli_range range, double value)
{
  if (value >= range.lo && value <= range.hi && ticks->num_minor < POLI_MAX_MINOR_TICKS)
    ticks->minor[ticks->num_minor++] = value;
}

static void log_ticks(poli_ticks *ticks, poli_range range, int most)
{
  const int first = (int)ceil(log10(range.lo) - 1e-9), last = (int)floor(log10(range.hi) + 1e-9);
  ticks->count = ticks->num_minor = 0;
  ticks->offset[0] = '\0';
  if (last - first >= 2 || (last - first == 1 && range.hi / range.lo > 50)) {
    /* Two decades or more: ticks at every, or every second, third, ... power of ten. */
    static const int steps[] = {1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 100};
    int step = 1;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
      step = steps[i];
      if ((last - first) / step + 1 <= most) break;
    }
    for (int n = first - 1; n <= last; n++) {
      if (n >= first && n % step == 0) {
        if (ticks->count < POLI_MAX_TICKS) {
          ticks->at[ticks->count] = pow(10, n);
          poli_ticks_power(ticks->label[ticks->count++], POLI_TICK_LABEL, n);
        }
      } else if (n >= first && step <= 10)
        add_minor(ticks, range, pow(10, n));
      for (int i = 2; step == 1 && i < 10; i++) add_minor(ticks, range, i * pow(10, n));
    }
  } else {
    /* About one decade: 1, 2 and 5 times the powers of ten. */
    const int plain = first > -4 && last < 4;
    for (int j = first - 1; j <= last; j++)
      for (int k = 1; k < 10; k++) {
        const double value = k * pow(10, j);
        if (value < range.lo * (1 - 1e-9) || value > range.hi * (1 + 1e-9)) continue;
        if (k == 1 || k == 2 || k == 5) {
          /* 1, 2 or 5 times a power of ten, as a plain number or as a power. */
          char *text = ticks->label[ticks->count];
          char power[24];
          poli_ticks_power(power, sizeof power, j);
          if (plain)
            poli_ticks_number(text, POLI_TICK_LABEL, k * pow(10, j), j < 0 ? -j : 0);
          else if (k == 1)
            snprintf(text, POLI_TICK_LABEL, "%s", power);
          else
            snprintf(text, POLI_TICK_LABEL, "%d" POLI_TIMES "%s", k, power);
          ticks->at[ticks->count++] = value;
        } else {
          add_minor(ticks, range, value);
        }
      }
  }
  if (ticks->count < 2) linear_ticks(ticks, range, most);
}

void poli_ticks_make(poli_ticks *ticks, poli_range range, int log, double length, double distance,
                     double font_size)
{
  int most = (int)(length / distance);
  if (most > POLI_MAX_TICKS - 2) most = POLI_MAX_TICKS - 2;
  for (most = most < 2 ? 2 : most;; most--) {
    double widest = 0;
    if (log)
      log_ticks(ticks, range, most);
    else
      linear_ticks(ticks, range, most);
    for (int i = 0; i < ticks->count; i++)
      widest = fmax(widest, poli_text_rich_width(ticks->label[i], font_size));
    if (most <= 2 || (ticks->count - 1) * (widest + 0.8 * font_size) <= length) break;
  }
  /* a single tick defines no scale; steps of a sixth, or up to 2.5 times that, give two */
  for (int more = most + 1; !log && ticks->count < 2 && more <= 3 * most; more++)
    linear_ticks(ticks, range, more);
}

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

static pol_status push(poli_curve *curve, poli_pixel point)
{
  if (curve->count == curve->capacity) {
    size_t capacity = curve->capacity > 0 ? 2 * curve->capacity : 256;
    poli_pixel *longer = realloc(curve->points, capacity * sizeof *longer);
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
  poli_pixel first, last, low, high;
} run;

/* Adds first, extremes in their order, and last, each once. */
static pol_status end_run(poli_curve *curve, run *r)
{
  const size_t last = r->count - 1;
  const int low_first = r->at_low < r->at_high;
  const size_t at[2] = {low_first ? r->at_low : r->at_high, low_first ? r->at_high : r->at_low};
  const poli_pixel extremes[2] = {low_first ? r->low : r->high, low_first ? r->high : r->low};
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

pol_status poli_curve_make(poli_curve *curve, const pol_series *series, const poli_scale *x,
                           const poli_scale *y)
{
  run r = {0};
  pol_status status = POL_OK;
  /* Whether columns hold so many points that thinning them out cannot be seen: not so where a curve
   * runs along a column, as in phase plots. */
  int dense = (double)series->count >= 4 * columns_per_pixel * fabs(x->length);
  for (size_t i = 1; dense && i < series->count; i++) dense = !(series->x[i] < series->x[i - 1]);
  *curve = (poli_curve){0};
  for (size_t i = 0; i < series->count && status == POL_OK; i++) {
    if (!pol_axis_shows(series->x[i], x->log) || !pol_axis_shows(series->y[i], y->log)) {
      status = end_line(curve, &r);
      continue;
    }
    const poli_pixel p = {poli_scale_pixel(x, series->x[i]), poli_scale_pixel(y, series->y[i])};
    const double column = floor(columns_per_pixel * p.x);
    if (dense && r.count > 0 && column == r.column) {
      if (p.y < r.low.y) r.low = p, r.at_low = r.count;
      if (p.y > r.high.y) r.high = p, r.at_high = r.count;
      r.last = p;
      r.count++;
      continue;
    }
    status = end_run(curve, &r);
    r = (run){.column = column, .count = 1, .first = p, .last = p, .low = p, .high = p};
  }
  if (status == POL_OK) status = end_line(curve, &r);
  return status;
}

/* --- straight pieces -------------------------------------------------------------------------- */

/* The directions from the anchor in which a line passes all points since at most `tolerance` away.
 */
typedef struct cone {
  poli_pixel anchor;
  double direction;   /* to the first point after the anchor */
  double least, most; /* relative to it */
  double distance;    /* of the last point from the anchor */
} cone;

/* Narrows the cone by a point; 0 if a line to it would leave the cone, or goes back. */
static int narrow(cone *c, poli_pixel p)
{
  const double dx = p.x - c->anchor.x, dy = p.y - c->anchor.y, distance = hypot(dx, dy);
  if (distance < c->distance) return 0;
  if (distance > tolerance) {
    const double angle = atan2(dy, dx), width = asin(tolerance / distance);
    if (c->distance <= tolerance) *c = (cone){c->anchor, angle, -4, 4, distance};
    const double turn = remainder(angle - c->direction, 6.28318530717958648);
    if (turn < c->least || turn > c->most) return 0;
    c->least = fmax(c->least, turn - width);
    c->most = fmin(c->most, turn + width);
  }
  c->distance = distance;
  return 1;
}

void poli_curve_straighten(poli_curve *curve)
{
  size_t kept = 0;
  cone c = {0};
  for (size_t i = 0; i < curve->count; i++) {
    const poli_pixel p = curve->points[i];
    const int is_end = isnan(p.x) || i == 0 || isnan(curve->points[i - 1].x);
    if (is_end || i + 1 == curve->count || isnan(curve->points[i + 1].x)) {
      /* both ends of a line stay */
      curve->points[kept++] = p;
      c = (cone){.anchor = p};
      continue;
    }
    /* the point before stays if the next cannot be reached without it */
    const int fits = narrow(&c, p);
    cone next = c;
    if (fits && narrow(&next, curve->points[i + 1])) continue;
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
static int cover(raster *r, poli_pixel a, poli_pixel b)
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

pol_status poli_curve_drop_covered(poli_curve *curve, poli_box box)
{
  raster r = {box, (int)box.width + 1, (int)box.height + 1, NULL};
  poli_curve kept = {0};
  pol_status status = POL_OK;
  int goes_on = 0;
  r.covered = calloc((size_t)r.width * (size_t)r.height, 1);
  if (r.covered == NULL) return POL_NO_MEMORY;
  for (size_t i = 1; i < curve->count && status == POL_OK; i++) {
    const poli_pixel a = curve->points[i - 1], b = curve->points[i];
    const int is_line = !isnan(a.x) && !isnan(b.x);
    const int needed = is_line && cover(&r, a, b);
    /* it goes on from the last line if it starts where that ended */
    if (needed && !goes_on && kept.count > 0) status = push(&kept, POLI_GAP);
    if (needed && !goes_on && status == POL_OK) status = push(&kept, a);
    if (needed && status == POL_OK) status = push(&kept, b);
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
