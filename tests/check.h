/* What numerical tests share: cmocka, seeded random numbers, comparison of arrays. */
#ifndef POLHODE_TESTS_CHECK_H
#define POLHODE_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/* Uniform in (-1, 1), the same sequence in each run. */
static inline double random_number(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * (1.0 / 4503599627370496.0) - 1.0;
}

static inline void random_numbers(uint64_t *seed, double *x, int n)
{
  for (int i = 0; i < n; i++) x[i] = random_number(seed);
}

static inline void random_quaternion(uint64_t *seed, double q[4])
{
  double square;
  do {
    random_numbers(seed, q, 4);
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  } while (square < 0.1);
  for (int i = 0; i < 4; i++) q[i] /= sqrt(square);
}

/* |a_i - b_i| <= tolerance, all i. */
#define assert_near(a, b, n, tolerance) assert_near_at(a, b, n, tolerance, __FILE__, __LINE__)

static inline void assert_near_at(const double *a, const double *b, int n, double tolerance,
                                  const char *file, int line)
{
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= tolerance)) {
      print_error("entry %d: %.17g and %.17g differ by %.3g, more than %.3g\n", i, a[i], b[i],
                  fabs(a[i] - b[i]), tolerance);
      _fail(file, line);
    }
}

/* Fourth-order central difference from f(2s), f(s), f(-s), f(-2s). */
static inline double difference(const double f[4], double s)
{
  return (8.0 * (f[1] - f[2]) - (f[0] - f[3])) / (12.0 * s);
}

#endif
