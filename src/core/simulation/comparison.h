/* What of a record is compared with a trajectory, and the errors at one time. */
#ifndef POLHODE_ANALYSIS_COMPARISON_H
#define POLHODE_ANALYSIS_COMPARISON_H

#include <polhode/convergence.h>

typedef struct poli_comparison poli_comparison;

/* Pairs the channels of the record that study->compares wants with those of the trajectory by their
 * names.  Sizes for relative errors come from the rows of the trajectory up to the time end. */
pol_status poli_comparison_create(poli_comparison **comparison, const pol_record *record,
                                  const pol_trajectory *trajectory, const pol_study *study,
                                  double end);
void poli_comparison_free(poli_comparison **comparison);
/* The number of channels that are compared, by kind. */
void poli_comparison_count(const poli_comparison *comparison, int channels[POL_NUM_ERROR_KINDS]);
/* The errors of a row of the record at time t, NAN for kinds without channels.  known_row: the
 * trajectory's row of that time, or -1: it is interpolated. */
void poli_comparison_errors(const poli_comparison *comparison, const double *row, double t,
                            long known_row, double errors[POL_NUM_ERROR_KINDS]);

#endif
