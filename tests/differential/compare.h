/* Compares what methods and formulations make of one mechanism.
 *
 * Each configuration (method, formulation, index, ...) runs with steps h, h/2, h/4, ...; from these
 * the limit for h -> 0 is extrapolated (Richardson), with an error estimate: the change of the
 * extrapolated value in the last halving.  Two limits agree if they differ by no more than a few
 * times the sum of their errors, so the tolerance is that of the observed convergence.  Where they
 * do not, the steps of both are halved again: a disagreement is what stays while the errors shrink.
 *
 * Compared are all recorded channels and the rotation matrices at the end, the times of events, the
 * energy balance and the invariants with zero, and the reactions with those that the accelerations
 * of the final position and velocity ask for.
 */
#ifndef POLHODE_TESTS_COMPARE_H
#define POLHODE_TESTS_COMPARE_H

#include "differential/random_model.h"

typedef struct compare_counts {
  long models, runs, comparisons; /* comparisons of limits or of numbers that must be the same */
  long refused;                   /* configurations that do not take a model, with a reason */
  long skipped;                   /* models whose reference run stops with a reason */
  long undecided;                 /* comparisons of limits that are not accurate to 1 % */
  long disagreements;
} compare_counts;

/* Called for each finding: its class ("failure", "limit", ...) and what was found.  A disagreement
 * counts; refusals and models that are skipped are reported for information. */
typedef void compare_report(const char *kind, int disagreement, const char *text, void *user);

typedef struct compare_options {
  int sample;         /* how many configurations beside the reference; 0: all */
  const char *folder; /* for files that are written and read; NULL: no files */
  const char *only;   /* only configurations whose name contains this; NULL: all */
  compare_report *report;
  void *user;
} compare_options;

void compare_model(const random_model *model, const compare_options *options,
                   compare_counts *counts);

#endif
