/* Accelerations and multipliers of the last accepted steps, and the polynomial through them that
 * predicts the next ones; see history.c. */
#ifndef POLHODE_INTEGRATORS_HISTORY_H
#define POLHODE_INTEGRATORS_HISTORY_H

#include <stddef.h>

enum { POL_MAX_DEGREE = 3, POL_HISTORY = POL_MAX_DEGREE + 1 };

typedef struct pol_history {
  int n;                       /* numbers in a sample */
  int count;                   /* samples, at most POL_HISTORY */
  int degree;                  /* with which the next prediction is made */
  double t[POL_HISTORY];       /* latest first */
  double *sample[POL_HISTORY]; /* n each */
} pol_history;

/* Forgets all samples. */
void pol_history_clear(pol_history *history);
/* Chooses the degree that would have predicted the first `measured` numbers of this sample best, in
 * the units of weight (measured numbers), then keeps it as the latest. */
void pol_history_add(pol_history *history, double t, const double *sample, const double *weight,
                     int measured);
/* The polynomial through the latest degree + 1 samples, at t, into out (n). */
void pol_history_predict(const pol_history *history, double t, double *out);

#endif
