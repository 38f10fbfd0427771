/* Accelerations and multipliers of the last accepted steps, and the polynomial through them that
 * predicts the next ones; see predictor.c. */
#ifndef POLHODE_INTEGRATORS_PREDICTOR_H
#define POLHODE_INTEGRATORS_PREDICTOR_H

#include <stddef.h>

enum { POL_MAX_DEGREE = 3, POL_MAX_SAMPLES = POL_MAX_DEGREE + 1 };

typedef struct pol_predictor {
  int n;                           /* numbers in a sample */
  int count;                       /* samples, at most POL_MAX_SAMPLES */
  int degree;                      /* with which the next prediction is made */
  double t[POL_MAX_SAMPLES];       /* latest first */
  double *sample[POL_MAX_SAMPLES]; /* n each */
} pol_predictor;

/* Forgets all samples. */
void pol_predictor_clear(pol_predictor *predictor);
/* Chooses the degree that would have predicted the first `measured` numbers of this sample best, in
 * the units of weight (measured numbers), then keeps it as the latest. */
void pol_predictor_add(pol_predictor *predictor, double t, const double *sample,
                       const double *weight, int measured);
/* The polynomial through the latest degree + 1 samples, at t, into out (n). */
void pol_predictor_at(const pol_predictor *predictor, double t, double *out);

#endif
