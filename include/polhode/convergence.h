/* Convergence studies: errors of several runs of one mechanism with respect to a reference, and
 * their orders of convergence. docs/convergence.md explains what is compared.
 *
 *     pol_case cases[2] = {{.settings = coarse}, {.settings = fine}};
 *     pol_study study = pol_study_default();
 *     study.mechanism = mechanism, study.cases = cases, study.num_cases = 2;
 *     study.reference_run = &finest;
 *     pol_study_run(&study, &diagnostics);
 *     ... cases[0].max_error[POL_ERROR_POSITION] ...
 */
#ifndef POLHODE_CONVERGENCE_H
#define POLHODE_CONVERGENCE_H

#include <polhode/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- trajectories ----------------------------------------------------------------------------- */

/* Recorded channels over time, in memory. */
typedef struct pol_trajectory pol_trajectory;

/* A trajectory of `rows` times and `count` channels.  The names are copied; all values are zero.
 * The caller fills times and values. */
pol_status pol_trajectory_create(pol_trajectory **trajectory, long rows, int count,
                                 const char *const *names);
void pol_trajectory_free(pol_trajectory **trajectory);
long pol_trajectory_rows(const pol_trajectory *trajectory);
int pol_trajectory_count(const pol_trajectory *trajectory);
const char *pol_trajectory_name(const pol_trajectory *trajectory, int channel);
/* The index of the channel with this name; -1 if there is none. */
int pol_trajectory_find(const pol_trajectory *trajectory, const char *name);
/* The `rows` times, ascending. */
double *pol_trajectory_times(pol_trajectory *trajectory);
/* The `rows` values of one channel. */
double *pol_trajectory_series(pol_trajectory *trajectory, int channel);

/* --- errors ----------------------------------------------------------------------------------- */

/* Kinds of errors.  Each error is the norm of the difference of a vector, the largest over all
 * bodies, joints, ... */
typedef enum pol_error_kind {
  POL_ERROR_POSITION,         /* m */
  POL_ERROR_ROTATION,         /* rad: angle of the relative rotation, or difference of angles */
  POL_ERROR_VELOCITY,         /* m/s */
  POL_ERROR_ANGULAR_VELOCITY, /* rad/s */
  POL_ERROR_REACTION, /* forces and torques, relative to the largest value with the same unit */
  POL_ERROR_OTHER     /* states, energies, ..., each relative to its own largest value */
} pol_error_kind;
enum { POL_NUM_ERROR_KINDS = POL_ERROR_OTHER + 1 };

const char *pol_error_kind_name(pol_error_kind kind); /* "angular velocity" */
const char *pol_error_kind_unit(pol_error_kind kind); /* "rad/s"; "1" if relative */

/* --- studies ---------------------------------------------------------------------------------- */

/* One run of a study. */
typedef struct pol_case {
  /* Input.  The output times of the settings are not used. */
  pol_settings settings;

  /* Output. status POL_OK: all fields below are filled.  POL_BAD_ARGUMENT: the settings are
   * inconsistent or do not fit the mechanism; failure gives the reason.  Others: the run failed;
   * failure gives time and reason, and the errors are NAN. */
  int done; /* 0 if the study was stopped before this run */
  pol_status status;
  pol_diagnostics failure;
  long num_times;                        /* number of times of comparison */
  int interpolated;                      /* 1: the reference was interpolated; see pol_study */
  double max_error[POL_NUM_ERROR_KINDS]; /* over these times; NAN if nothing of this kind was
                                            compared */
  double end_error[POL_NUM_ERROR_KINDS]; /* at the end */
  pol_counts counts;
  double wall_seconds; /* time of the steps alone, the best of study->repeats runs; NAN without
                          repeats */
} pol_case;

/* A study.  The reference is either a given trajectory or a separate run.
 *
 * A case with fixed steps is compared at the times that it shares with the reference.  If these are
 * fewer than 10, and neither the case nor the reference has only these times, it is compared at its
 * own times and the reference is interpolated: positions and rotations by cubic Hermite polynomials
 * if their velocities are known (rotations in the logarithm of the rotation of the step), other
 * quantities by cubic polynomials through the four nearest times.  A case with variable steps stops
 * at the times of the reference.  The end is always compared.  At most max_times of the times of a
 * case are used, every k-th step.  A reference run stops at all times at which cases are
 * compared. */
typedef struct pol_study {
  const pol_mechanism *mechanism;
  pol_case *cases;
  int num_cases;
  const pol_trajectory *reference;   /* NULL: use reference_run */
  const pol_settings *reference_run; /* NULL: use reference */
  /* Returns 1 for channels to be compared; NULL: pol_study_compares_by_default.  Components that
   * are not selected, or that the reference lacks, are omitted from their vectors; quaternions are
   * compared as a whole.  Reactions that never exceed 1e-6 of the largest one are omitted as
   * round-off.  Called by all threads. */
  int (*compares)(const pol_channel *channel, void *user);
  int jobs;    /* threads that run cases, 1 .. 256 */
  int repeats; /* timed runs of each case, one at a time after all other runs; 0: none.  A case that
                  takes more than two seconds is timed once */
  int max_times;
  /* May be NULL.  Called repeatedly with the completed fraction, 0 .. 1, by one thread at a time,
   * not always the same thread.  A return value other than 0 stops the study. */
  int (*progress)(double share, void *user);
  void *user; /* for compares and progress */

  /* Output, in addition to that of the cases. */
  int stopped;                           /* 1: stopped by progress */
  int num_channels[POL_NUM_ERROR_KINDS]; /* compared, of each kind */
  pol_counts reference_counts;           /* of a reference run */
  long reference_rows;                   /* times of the reference, up to the end */
} pol_study;

/* All zero except jobs = 1 and max_times = 1000. */
pol_study pol_study_default(void);
/* Returns 1 for positions, quaternions, velocities and angular velocities (body axes) of bodies,
 * forces and torques (global axes) of joints, efforts of drives and couplings, states. */
int pol_study_compares_by_default(const pol_channel *channel, void *user);

/* Runs all cases; a failed case does not stop the others.  The results do not depend on jobs,
 * except for the wall times.  All cases must have the same end time.  Returns POL_OK also if cases
 * failed or the study was stopped.  POL_BAD_ARGUMENT: the reference ends too early, its times are
 * not ascending or it has nothing to compare; or the reference run cannot be set up; or a number
 * above is out of range.  Other statuses: the reference run failed, or POL_NO_MEMORY. diagnostics
 * (may be NULL) gives the reason. */
pol_status pol_study_run(pol_study *study, pol_diagnostics *diagnostics);

/* --- the accuracy of one run -------------------------------------------------------------------
 */

/* The error of a run at its end, estimated from a second run. */
typedef struct pol_accuracy {
  int known;        /* 0: the second run does not tell; see reason */
  double position;  /* m, the largest of all bodies */
  double rotation;  /* rad, likewise */
  char reason[200]; /* why it is not known, in words; "" if it is */
} pol_accuracy;

/* Estimates the error of a finished simulation with these settings by two more runs, with steps
 * twice and four times as long, or with tolerances ten and a hundred times as large.  The
 * difference of the first two is divided by f - 1, where f is 2^p for a method of order p, of which
 * no more than 4 counts, or 10^(p/(p+1)), or what the third run shows if that is less.  It is no
 * bound: in the shipped examples that were measured, errors above round-off are 0.1 to 2 times the
 * estimate; in other models, with motions that are not smooth and where round-off prevails, which
 * an unstable motion enlarges, the ratio can be larger or smaller.  Both runs take about three
 * quarters of the time of the first.
 * POL_BAD_ARGUMENT: the simulation is not at its end; POL_CANCELLED: settings->progress requested a
 * stop; POL_NO_MEMORY. */
pol_status pol_accuracy_estimate(const pol_simulation *finished, const pol_settings *settings,
                                 pol_accuracy *accuracy);

/* --- orders ----------------------------------------------------------------------------------- */

typedef enum pol_order_verdict {
  POL_ORDER_FITTED,         /* by least squares over at least three points on one line */
  POL_ORDER_TWO_POINTS,     /* only two points: slope between them */
  POL_ORDER_NOT_ASYMPTOTIC, /* the errors decrease, but no three neighbours are on one line: the
                               order is that of the finest two before the floor */
  POL_ORDER_FLOOR,          /* the errors do not decrease: no order */
  POL_ORDER_UNKNOWN         /* fewer than two points: no order */
} pol_order_verdict;

/* The order p of errors that are proportional to h^p. */
typedef struct pol_order {
  pol_order_verdict verdict;
  double order;    /* NAN if undefined */
  int first, last; /* range of the fitted points; both -1 if undefined */
  int floor; /* first point of the error floor, where the errors no longer decrease with the order
                because of round-off, the Newton tolerance or the error of the reference; -1 if
                there is none */
} pol_order;

/* Fits the order to `count` errors at decreasing h (step sizes or tolerances).  Errors that are not
 * finite or not positive are ignored.  Points are on one line if the orders between neighbours
 * differ by at most 0.25; the longest such line with an order above 0.5 is used, the finer of two
 * equal ones. between[i] (between may be NULL) is the order between points i - 1 and i, or NAN;
 * between[0] is NAN. */
pol_order pol_order_fit(int count, const double *h, const double *error, double *between);

#ifdef __cplusplus
}
#endif
#endif
