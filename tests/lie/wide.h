/* What the tests of this room share: references in a wider floating-point type, taken from the
 * defining power series and not from the closed forms that the library uses, and sample increments.
 *
 *     exp(v~) = sum v~^i / i!,      T(v) = sum (-1)^i v^^i / (i+1)!
 *
 * (Arnold/Cardona/Bruels 2015, (8) and (30)), v = (w, U) in R6; SO(3) is the part with U = 0.
 */
#ifndef TESTS_LIE_WIDE_H
#define TESTS_LIE_WIDE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A type with at least 113 bits where there is one. */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 wide;
#else
typedef long double wide;
#endif

enum { SERIES_TERMS = 140 }; /* enough for |w| <= 20 */

/* A sum ends with the first term below this: those that follow add up to at most exp(20) times as
 * much, and |w| times as much where w is small. */
#define NEGLIGIBLE ((wide)1e-42)

static const double pi = 3.14159265358979323846;

static inline wide wide_abs(wide x)
{
  return x < 0 ? -x : x;
}

/* c_n(x) = sum (-x)^k / (2k+n)!, Stumpff's functions: cos phi, sin(phi)/phi, b, s, ... of x = phi^2
 */
static inline wide stumpff(int n, wide x)
{
  wide term = 1, sum = 0;

  for (int i = 2; i <= n; i++) term /= i;
  for (int k = 0; k < SERIES_TERMS / 2; k++) {
    if (wide_abs(term) < NEGLIGIBLE) break;
    sum += term;
    term *= -x / ((wide)(2 * k + n + 1) * (2 * k + n + 2));
  }
  return sum;
}

/* y = v^ x = (w x x1, U x x1 + w x x2) */
static inline void wide_hat(const wide v[6], const wide x[6], wide y[6])
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;

    y[i] = v[j] * x[k] - v[k] * x[j];
    y[i + 3] = v[3 + j] * x[k] - v[3 + k] * x[j] + v[j] * x[3 + k] - v[k] * x[3 + j];
  }
}

/* y = T(v) c and, where dv is not NULL, its derivative dy along dv, term by term */
static inline void wide_tangent(const double v[6], const double c[6], const double dv[6], wide y[6],
                                wide dy[6])
{
  wide vw[6], dvw[6], term[6], dterm[6], next[6], dnext[6], mixed[6];

  for (int i = 0; i < 6; i++) {
    vw[i] = (wide)v[i];
    y[i] = term[i] = (wide)c[i];
    if (!dv) continue;
    dvw[i] = (wide)dv[i];
    dy[i] = dterm[i] = 0;
  }
  for (int k = 1; k < SERIES_TERMS; k++) {
    const wide factor = (wide)-1 / (k + 1);
    wide size = 0;

    wide_hat(vw, term, next);
    if (dv) {
      wide_hat(vw, dterm, dnext);
      wide_hat(dvw, term, mixed);
      for (int i = 0; i < 6; i++) {
        dy[i] += dterm[i] = factor * (dnext[i] + mixed[i]);
        size += wide_abs(dterm[i]);
      }
    }
    for (int i = 0; i < 6; i++) {
      y[i] += term[i] = factor * next[i];
      size += wide_abs(term[i]);
    }
    if (size < NEGLIGIBLE) break;
  }
}

/* The skew matrix of w in the upper left corner of W, with so many numbers a row. */
static inline void wide_skew(const double w[3], int row, wide *W)
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;

    W[row * k + j] = (wide)w[i];
    W[row * j + k] = -(wide)w[i];
  }
}

/* E = exp(v~) with v~ = [w~, U; 0, 0], a 4x4 matrix */
static inline void wide_exp(const double v[6], wide E[16])
{
  wide A[16] = {0};
  wide term[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

  wide_skew(v, 4, A);
  for (int i = 0; i < 3; i++) A[4 * i + 3] = (wide)v[3 + i];
  for (int i = 0; i < 16; i++) E[i] = term[i];
  for (int k = 1; k < SERIES_TERMS; k++) {
    const wide factor = (wide)1 / k;
    wide next[16], size = 0;

    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        wide sum = 0;

        for (int l = 0; l < 4; l++) sum += term[4 * i + l] * A[4 * l + j];
        next[4 * i + j] = factor * sum;
        size += wide_abs(next[4 * i + j]);
      }
    for (int i = 0; i < 16; i++) E[i] += term[i] = next[i];
    if (size < NEGLIGIBLE) break;
  }
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Uniform in (-1, 1), always the same sequence for the same seed (Knuth's MMIX generator). */
static inline double sample(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return ldexp((double)(int64_t)(*seed >> 11), -52) - 1.0;
}

static inline void sample_vector(uint64_t *seed, int n, double *x)
{
  for (int i = 0; i < n; i++) x[i] = sample(seed);
}

/* A vector of the given length, in all directions. */
static inline void sample_rotation(uint64_t *seed, double angle, double w[3])
{
  double norm;

  do {
    sample_vector(seed, 3, w);
    norm = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  } while (norm < 0.1 || norm > 1.0);
  for (int i = 0; i < 3; i++) w[i] *= angle / norm;
}

/* Angles where something could go wrong, ascending: where squares underflow, where the library
 * changes from series to closed forms, at pi and 2 pi; the rest fills the gaps. */
static const double special_angles[] = {0.0,
                                        1e-320,
                                        1e-300,
                                        1e-170,
                                        1e-162,
                                        1e-155,
                                        1e-100,
                                        1e-30,
                                        1e-16,
                                        1e-10,
                                        1e-8,
                                        1e-5,
                                        1e-4,
                                        1e-3,
                                        1e-2,
                                        0.1,
                                        0.3,
                                        0.5,
                                        0.7,
                                        0.9,
                                        1.0 - 1e-9,
                                        1.0 + 1e-9,
                                        1.3,
                                        1.6,
                                        2.0,
                                        2.3,
                                        2.499,
                                        2.501,
                                        2.8,
                                        3.0,
                                        3.1,
                                        3.141,
                                        3.1415926525,
                                        3.14159,
                                        3.1416,
                                        3.5,
                                        4.0 - 1e-9,
                                        4.0 + 1e-9,
                                        4.2426,
                                        4.2427,
                                        4.4999,
                                        4.5001,
                                        4.7,
                                        4.9999,
                                        5.0 + 1e-9,
                                        5.5,
                                        6.0,
                                        6.2,
                                        6.28,
                                        6.283,
                                        6.2831,
                                        6.2835,
                                        6.3,
                                        7.0,
                                        8.0,
                                        8.9868,
                                        10.0,
                                        11.0,
                                        12.5,
                                        14.0,
                                        6.2831853071,
                                        15.4505036738754,
                                        18.8495559215388,
                                        20.0};
enum { NUM_SPECIAL_ANGLES = sizeof special_angles / sizeof special_angles[0] };

/* Calls visit with rotations of every special angle and 100 others below limit, each about three
 * axes at random and the three axes of coordinates. */
static inline void for_each_rotation(double limit,
                                     void (*visit)(const double w[3], double angle, void *seen),
                                     void *seen)
{
  const int num_random = 3, num_dense = 100;
  uint64_t seed = 11;
  double w[3];

  for (int i = 0; i < NUM_SPECIAL_ANGLES + num_dense; i++) {
    const double angle = i < NUM_SPECIAL_ANGLES
                             ? special_angles[i]
                             : fmin(limit, 20.0) * (i - NUM_SPECIAL_ANGLES) / num_dense;

    if (!(angle < limit)) continue;
    for (int axis = 0; axis < num_random; axis++) {
      sample_rotation(&seed, angle, w);
      visit(w, angle, seen);
    }
    for (int axis = 0; axis < 3; axis++) {
      w[0] = w[1] = w[2] = 0.0;
      w[axis] = angle;
      visit(w, angle, seen);
    }
  }
}

/* --- comparison ------------------------------------------------------------------------------- */

/* The largest error seen, in units of what is allowed for; says so at the end of a test. */
typedef struct worst {
  double error; /* largest of |got - expected| / scale */
  double angle; /* where */
} worst;

static inline void compare(worst *seen, double angle, double got, wide expected, double scale)
{
  const double error = (double)wide_abs((wide)got - expected);
  /* Numbers below the normal range have no more than this accuracy. */
  const double excess = error <= 1e-323 ? 0.0 : error / scale;

  if (!(excess <= seen->error)) {
    seen->error = excess;
    seen->angle = angle;
  }
}

static inline void expect_below(const char *what, const worst *seen, double tolerance)
{
  print_message("%s: %.2e at angle %.10g\n", what, seen->error, seen->angle);
  if (!(seen->error <= tolerance))
    fail_msg("%s: error %.3e at angle %.17g exceeds %.1e", what, seen->error, seen->angle,
             tolerance);
}

#endif
