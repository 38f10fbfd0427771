/* Bracketing root finder: inverse quadratic interpolation where three values lie so that it is
 * safe, bisection elsewhere (T. R. Chandrupatla, Advances in Engineering Software 28, 1997). */
#include "integrators/root.h"

#include <float.h>
#include <math.h>

/* Where to look next, as a share of the way from x1 to x2; x3 is the end that was left last. */
static double next_share(double x1, double f1, double x2, double f2, double x3, double f3)
{
  double xi = (x1 - x2) / (x3 - x2), phi = (f1 - f2) / (f3 - f2);
  if (!(phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)) return 0.5;
  return f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2);
}

double poli_find_root(double (*f)(double x, void *user), void *user, double a, double fa, double b,
                      double fb)
{
  const int most_trials = 200;
  double x1 = b, f1 = fb, x2 = a, f2 = fa, share = 0.5;
  int positive = fb > 0.0;
  for (int k = 0; k < most_trials && f1 != 0.0; k++) {
    double x3, f3, x = x1 + share * (x2 - x1), fx = f(x, user);
    if ((fx > 0.0) == (f1 > 0.0)) {
      x3 = x1;
      f3 = f1;
    } else {
      x3 = x2;
      f3 = f2;
      x2 = x1;
      f2 = f1;
    }
    x1 = x;
    f1 = fx;
    double least = 2.0 * DBL_EPSILON * fmax(fabs(x1), fabs(x2)) + DBL_MIN;
    double least_share = least / fabs(x2 - x1);
    if (least_share >= 0.5) break;
    share = fmin(fmax(next_share(x1, f1, x2, f2, x3, f3), least_share), 1.0 - least_share);
  }
  return f1 == 0.0 || (f1 > 0.0) == positive ? x1 : x2;
}

int poli_changes_sign(double first, double last, int direction)
{
  if (first == 0.0 || isnan(first) || isnan(last)) return 0;
  if (first > 0.0 ? last > 0.0 : last < 0.0) return 0;
  return direction == 0 || (direction > 0) == (first < 0.0);
}
