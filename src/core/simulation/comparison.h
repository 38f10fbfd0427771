/* Inside of a trajectory: recorded channels over time, and values between the times; and its
 * comparison with a record. */
#ifndef POLHODE_SIMULATION_COMPARISON_H
#define POLHODE_SIMULATION_COMPARISON_H

#include <polhode/convergence.h>

struct pol_trajectory {
  void *memory; /* holds the arrays below */
  long rows;
  int count;
  double *t;      /* rows */
  double *values; /* [count][rows] */
  char **names;   /* count */
};

/* The row of time t within the tolerance, -1 if there is none. */
long poli_trajectory_row_at(const pol_trajectory *trajectory, double t, double tolerance);

/* A vector of up to four channels; slope: the channels of its rate, -1 where it is not known. */
typedef struct poli_trajectory_vector {
  int count;
  int channel[4];
  int slope[3];
  int is_quaternion; /* four channels; slope is the angular velocity in body axes */
} poli_trajectory_vector;

/* The vector in a row. */
void poli_trajectory_read(const pol_trajectory *trajectory, const poli_trajectory_vector *vector,
                          long row, double *out);
/* The vector at a time within those of the trajectory. */
void poli_trajectory_interpolate(const pol_trajectory *trajectory,
                                 const poli_trajectory_vector *vector, double t, double *out);

/* Whether a study compares a channel. */
int poli_study_compares(const pol_study *study, const pol_channel *channel);

typedef struct poli_comparison poli_comparison;

/* Pairs the channels of the record that study->compares wants with those of the trajectory by their
 * names.  Sizes for relative errors come from the rows of the trajectory up to the time end. */
pol_status poli_comparison_create(poli_comparison **comparison, const pol_record *record,
                                  const pol_trajectory *trajectory, const pol_study *study,
                                  double end);
void poli_comparison_free(poli_comparison **comparison);
/* Adds the number of channels that are compared, by kind. */
void poli_comparison_count(const poli_comparison *comparison, int channels[POL_NUM_ERROR_KINDS]);
/* The errors of a row of the record at time t, NAN for kinds without channels.  known_row: the
 * trajectory's row of that time, or -1: it is interpolated. */
void poli_comparison_errors(const poli_comparison *comparison, const double *row, double t,
                            long known_row, double errors[POL_NUM_ERROR_KINDS]);

#endif
