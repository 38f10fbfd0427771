/* Amplitude spectra: the discrete Fourier transform of any length by Bluestein's algorithm (1970),
 *
 *     X_k = conj(w_k) sum_j (x_j conj(w_j)) w_(k-j),   w_j = exp(i pi j^2/n)
 *
 * a convolution, which transforms of a power of two do.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include <polhode/plot.h>

#ifndef CMPLX /* glibc defines it for gcc only */
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif

static const double pi = 3.14159265358979324;

/* X_k = sum_j x_j exp(-+2 pi i j k/n) in place, n a power of two; inverse: sign +, not scaled. */
static void transform(double complex *x, size_t n, int inverse)
{
  for (size_t i = 1, j = 0; i < n; i++) { /* bits of the index reversed */
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    const double complex kept = x[i];
    x[i] = x[j];
    x[j] = kept;
  }
  for (size_t length = 2; length <= n; length *= 2)
    for (size_t k = 0; k < length / 2; k++) {
      const double angle = (inverse ? 2.0 : -2.0) * pi * (double)k / (double)length;
      const double complex root = CMPLX(cos(angle), sin(angle));
      for (size_t i = k; i < n; i += length) {
        const double complex a = x[i], b = root * x[i + length / 2];
        x[i] = a + b;
        x[i + length / 2] = a - b;
      }
    }
}

/* w_j; j^2 modulo 2 n keeps the angle small and exact. */
static double complex chirp(size_t j, size_t n)
{
  const double angle = pi * (double)((unsigned long long)j * j % (2 * n)) / (double)n;
  return CMPLX(cos(angle), sin(angle));
}

pol_status pol_spectrum(size_t count, double dt, const double *y, double *frequency,
                        double *amplitude)
{
  const size_t n = count, most = (size_t)1 << 28;
  double mean = 0.0;
  if (n < 2 || n > most || !(dt > 0.0)) return POL_BAD_ARGUMENT;
  for (size_t i = 0; i < n; i++) mean += y[i] / (double)n;
  if (!isfinite(mean)) return POL_BAD_ARGUMENT;
  size_t length = 1;
  while (length < 2 * n) length *= 2;
  double complex *a = calloc(2 * length, sizeof *a), *b = a + length;
  if (a == NULL) return POL_NO_MEMORY;
  double weight = 0.0; /* sum of the window */
  for (size_t j = 0; j < n; j++) {
    const double window = 0.5 - 0.5 * cos(2.0 * pi * (double)j / (double)n);
    const double complex w = chirp(j, n);
    weight += window;
    a[j] = window * (y[j] - mean) * conj(w);
    b[j] = b[(length - j) % length] = w;
  }
  transform(a, length, 0);
  transform(b, length, 0);
  for (size_t k = 0; k < length; k++) a[k] *= b[k];
  transform(a, length, 1);
  for (size_t k = 0; k <= n / 2; k++) {
    const int is_real = k == 0 || 2 * k == n; /* has no conjugate partner */
    frequency[k] = (double)k / ((double)n * dt);
    amplitude[k] = (is_real ? 1.0 : 2.0) * cabs(a[k]) / (double)length / weight;
  }
  free(a);
  return POL_OK;
}
