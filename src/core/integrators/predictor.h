/* Accelerations and multipliers of the last accepted steps, and the polynomial through them that
 * predicts the next ones; see predictor.c. */
#ifndef POLHODE_INTEGRATORS_PREDICTOR_H
#define POLHODE_INTEGRATORS_PREDICTOR_H

#include <stddef.h>

enum { POLI_MAX_DEGREE = 3, POLI_MAX_SAMPLES = POLI_MAX_DEGREE + 1 };

typedef struct poli_predictor {
  int n;                            /* numbers in a sample */
  int count;                        /* samples, at most POLI_MAX_SAMPLES */
  int degree;                       /* with which the next prediction is made */
  double t[POLI_MAX_SAMPLES];       /* latest first */
  double *sample[POLI_MAX_SAMPLES]; /* n each */
} poli_predictor;

/* Forgets all samples. */
void poli_predictor_clear(poli_predictor *predictor);
/* Chooses the degree that would have predicted the first `measured` numbers of this sample best, in
 * the units of weight (measured numbers), then keeps it as the latest. */
void poli_predictor_add(poli_predictor *predictor, double t, const double *sample,
                        const double *weight, int measured);
/* The polynomial through the latest degree + 1 samples, at t, into out (n). */
void poli_predictor_at(const poli_predictor *predictor, double t, double *out);

#endif
