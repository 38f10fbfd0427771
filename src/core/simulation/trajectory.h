/* Inside of a trajectory: recorded channels over time, and what is between the times. */
#ifndef POLHODE_ANALYSIS_TRAJECTORY_H
#define POLHODE_ANALYSIS_TRAJECTORY_H

#include <polhode/convergence.h>

struct pol_trajectory {
  long rows;
  int count;
  double *t;      /* rows */
  double *values; /* [count][rows] */
  char **names;   /* count; one block of memory */
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

#endif
