/* The order of convergence from errors at several step sizes: the slope p of log(error) against
 * log(h), by least squares over the part of the points that is in one line.
 *
 * Coarse steps are not asymptotic yet, and fine ones reach a floor; both bend the line.  Between
 * neighbours the order is log(e_i-1/e_i)/log(h_i-1/h_i); a line is a run of points where these
 * differ by at most 0.25.
 */
#include <math.h>

#include <polhode/convergence.h>

static const double line_tolerance = 0.25; /* orders between neighbours of one line */
static const double least_order = 0.5;     /* a line that falls less is a floor */
static const double floor_drop = 0.5; /* at the floor the order falls short by more than this */

/* A point that can be drawn. */
static int counts(double h, double error)
{
  return isfinite(h) && h > 0.0 && isfinite(error) && error > 0.0;
}

/* The next point after i, or count. */
static int next_point(int i, int count, const double *h, const double *error)
{
  for (i++; i < count && !counts(h[i], error[i]); i++)
    ;
  return i;
}

static double slope(const double *h, const double *error, int a, int b)
{
  return log(error[a] / error[b]) / log(h[a] / h[b]);
}

/* The last point of the line that starts at `first`; *points of them. */
static int line_end(int first, int count, const double *h, const double *error, int *points)
{
  double low = HUGE_VAL, high = -HUGE_VAL;
  int last = first;
  *points = 1;
  for (int next; (next = next_point(last, count, h, error)) < count; last = next) {
    const double order = slope(h, error, last, next);
    low = fmin(low, order);
    high = fmax(high, order);
    if (high - low > line_tolerance || low <= least_order) break;
    ++*points;
  }
  return last;
}

/* The slope of the least-squares line through the points first .. last. */
static double fit(int first, int last, const double *h, const double *error)
{
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (int i = first; i <= last; i++) {
    if (!counts(h[i], error[i])) continue;
    const double u = log(h[i] / h[first]), v = log(error[i] / error[first]);
    n += 1.0;
    x += u;
    y += v;
    xx += u * u;
    xy += u * v;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

/* The first point after `last` from which on no error falls as the order says, -1 if there is none.
 */
static int find_floor(double order, int last, int count, const double *h, const double *error)
{
  const int start = next_point(last, count, h, error);
  int before = last;
  for (int i = start; i < count; before = i, i = next_point(i, count, h, error))
    if (slope(h, error, before, i) >= order - floor_drop) return -1;
  return start < count ? start : -1;
}

/* The finest two neighbours between which the error falls, where there is no line. */
static void take_finest_pair(pol_order *result, int count, const double *h, const double *error)
{
  int before = next_point(-1, count, h, error);
  for (int i; before < count && (i = next_point(before, count, h, error)) < count; before = i) {
    if (slope(h, error, before, i) <= least_order) continue;
    result->first = before;
    result->last = i;
  }
  if (result->first < 0) {
    result->floor = next_point(-1, count, h, error);
    result->verdict = POL_ORDER_FLOOR;
    return;
  }
  result->verdict = POL_ORDER_NOT_ASYMPTOTIC;
  result->order = slope(h, error, result->first, result->last);
  result->floor = find_floor(result->order, result->last, count, h, error);
}

pol_order pol_order_fit(int count, const double *h, const double *error, double *between)
{
  pol_order result = {POL_ORDER_UNKNOWN, (double)NAN, -1, -1, -1};
  int longest = 0, total = 0, before = -1;
  for (int i = 0; i < count; i++) {
    if (between != NULL) between[i] = (double)NAN;
    if (!counts(h[i], error[i])) continue;
    if (between != NULL && before >= 0) between[i] = slope(h, error, before, i);
    before = i;
    total++;
    int points, last = line_end(i, count, h, error, &points);
    if (points < 2 || points < longest) continue;
    longest = points;
    result.first = i;
    result.last = last;
  }
  if (total < 2) {
    result.first = result.last = -1;
  } else if (longest >= 3) {
    result.verdict = POL_ORDER_FITTED;
    result.order = fit(result.first, result.last, h, error);
    result.floor = find_floor(result.order, result.last, count, h, error);
  } else if (total == 2 && longest == 2) {
    result.verdict = POL_ORDER_TWO_POINTS;
    result.order = slope(h, error, result.first, result.last);
  } else {
    result.first = result.last = -1;
    take_finest_pair(&result, count, h, error);
  }
  return result;
}
