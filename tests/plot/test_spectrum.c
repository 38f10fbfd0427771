/* Spectra: amplitudes and frequencies of sines, Parseval's sum, wrong input. */
#include "check.h"

#include <polhode/plot.h>

enum { MOST = 1200 };

static double y[MOST], frequency[MOST], amplitude[MOST];

/* Two sines on their frequencies, and a constant, at lengths that are powers of two, even, odd and
 * prime. */
static void sines_have_their_amplitudes(void **state)
{
  (void)state;
  static const size_t lengths[] = {64, 100, 101, 997, 1024};
  const double pi = 3.14159265358979324, dt = 0.01;
  for (size_t c = 0; c < sizeof lengths / sizeof lengths[0]; c++) {
    const size_t n = lengths[c], low = n / 8, high = n / 3;
    for (size_t i = 0; i < n; i++) {
      const double phase = 2.0 * pi * (double)i / (double)n;
      y[i] = 5.0 + 3.0 * sin((double)low * phase + 0.4);
      if (high > low + 3) y[i] += 1e-6 * cos((double)high * phase);
    }
    assert_int_equal(pol_spectrum(n, dt, y, frequency, amplitude), POL_OK);
    for (size_t k = 0; k <= n / 2; k++) {
      assert_near(&frequency[k], (double[]){(double)k / ((double)n * dt)}, 1, 1e-12);
      /* the Hann window gives half of a peak to each of its neighbours */
      double expected = k == low ? 3.0 : k + 1 == low || k == low + 1 ? 1.5 : 0.0;
      if (high > low + 3)
        expected += k == high ? 1e-6 : k + 1 == high || k == high + 1 ? 5e-7 : 0.0;
      if (k == 0 || 2 * k == n) expected *= 0.5;
      if (fabs(amplitude[k] - expected) > 1e-12)
        fail_msg("n = %zu, k = %zu: %.15g, not %.15g", n, k, amplitude[k], expected);
    }
  }
}

static void wrong_samples_are_refused(void **state)
{
  (void)state;
  y[0] = 1.0, y[1] = 2.0, y[2] = 3.0;
  assert_int_equal(pol_spectrum(1, 0.1, y, frequency, amplitude), POL_BAD_ARGUMENT);
  assert_int_equal(pol_spectrum(3, 0.0, y, frequency, amplitude), POL_BAD_ARGUMENT);
  assert_int_equal(pol_spectrum(3, (double)NAN, y, frequency, amplitude), POL_BAD_ARGUMENT);
  assert_int_equal(pol_spectrum(3, 0.1, y, frequency, amplitude), POL_OK);
  y[1] = (double)INFINITY;
  assert_int_equal(pol_spectrum(3, 0.1, y, frequency, amplitude), POL_BAD_ARGUMENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sines_have_their_amplitudes),
      cmocka_unit_test(wrong_samples_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
