/* Polynomial prediction through the last accepted steps (Gavrea/Negrut/Potra 2005, section 4): at
 * most of degree 3, the degree being the one that predicted the last step best.
 *
 * The paper writes the polynomial by divided differences; the same one is summed here in Lagrange's
 * form, whose weights depend on the times alone. */
#include "integrators/alpha.h"

#include <math.h>
#include <string.h>

void poli_predictor_clear(poli_predictor *predictor)
{
  predictor->count = predictor->degree = 0;
}

/* Weights of the latest degree + 1 samples at t. */
static void lagrange(const poli_predictor *s, int degree, double t, double weight[POLI_MAX_SAMPLES])
{
  for (int j = 0; j <= degree; j++) {
    weight[j] = 1.0;
    for (int k = 0; k <= degree; k++)
      if (k != j) weight[j] *= (t - s->t[k]) / (s->t[j] - s->t[k]);
  }
}

static double combine(const poli_predictor *s, const double *weight, int degree, int i)
{
  double sum = 0.0;
  for (int j = 0; j <= degree; j++) sum += weight[j] * s->sample[j][i];
  return sum;
}

void poli_predictor_add(poli_predictor *predictor, double t, const double *sample,
                        const double *weight, int measured)
{
  poli_predictor *s = predictor;
  double least = HUGE_VAL;
  s->degree = 0;
  for (int degree = 0; degree < s->count && degree <= POLI_MAX_DEGREE; degree++) {
    double w[POLI_MAX_SAMPLES], sum = 0.0;
    lagrange(s, degree, t, w);
    for (int i = 0; i < measured; i++) {
      double miss = (combine(s, w, degree, i) - sample[i]) / weight[i];
      sum += miss * miss;
    }
    if (!(sum < least)) continue;
    least = sum;
    s->degree = degree;
  }
  double *oldest = s->sample[POLI_MAX_SAMPLES - 1];
  for (int j = POLI_MAX_SAMPLES - 1; j > 0; j--) {
    s->sample[j] = s->sample[j - 1];
    s->t[j] = s->t[j - 1];
  }
  s->sample[0] = oldest;
  s->t[0] = t;
  memcpy(oldest, sample, (size_t)s->n * sizeof *oldest);
  if (s->count < POLI_MAX_SAMPLES) s->count++;
}

void poli_predictor_at(const poli_predictor *predictor, double t, double *out)
{
  double weight[POLI_MAX_SAMPLES];
  lagrange(predictor, predictor->degree, t, weight);
  for (int i = 0; i < predictor->n; i++) out[i] = combine(predictor, weight, predictor->degree, i);
}
