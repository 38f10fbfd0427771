/* Convergence studies: the errors of many runs of one mechanism against a reference, and the orders
 * at which they fall.  docs/convergence.md explains what is compared.
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

/* A trajectory of `rows` times and `count` channels of these names, which are copied, all values
 * zero. The caller fills times and values. */
pol_status pol_trajectory_create(pol_trajectory **trajectory, long rows, int count,
                                 const char *const *names);
void pol_trajectory_free(pol_trajectory **trajectory);
long pol_trajectory_rows(const pol_trajectory *trajectory);
int pol_trajectory_count(const pol_trajectory *trajectory);
const char *pol_trajectory_name(const pol_trajectory *trajectory, int channel);
/* The index of the channel of that name, -1 if there is none. */
int pol_trajectory_find(const pol_trajectory *trajectory, const char *name);
/* The times, ascending, `rows` of them. */
double *pol_trajectory_times(pol_trajectory *trajectory);
/* The values of one channel, `rows` of them. */
double *pol_trajectory_series(pol_trajectory *trajectory, int channel);

/* --- errors ----------------------------------------------------------------------------------- */

/* What an error is an error of.  Each is the largest over all bodies, joints, ... of the norm of
 * the difference of a vector. */
typedef enum pol_error_kind {
  POL_ERROR_POSITION,         /* m */
  POL_ERROR_ROTATION,         /* rad: the angle of the rotation between both, or of angles */
  POL_ERROR_VELOCITY,         /* m/s */
  POL_ERROR_ANGULAR_VELOCITY, /* rad/s */
  POL_ERROR_REACTION,         /* forces and torques, relative to the largest of their unit */
  POL_ERROR_OTHER             /* states, energies, ..., each relative to its own largest value */
} pol_error_kind;
enum { POL_NUM_ERROR_KINDS = POL_ERROR_OTHER + 1 };

const char *pol_error_kind_name(pol_error_kind kind); /* "angular velocity" */
const char *pol_error_kind_unit(pol_error_kind kind); /* "rad/s"; "1" if relative */

/* --- studies ---------------------------------------------------------------------------------- */

/* A run of the study. */
typedef struct pol_case {
  /* What to run; the output times of the settings are not used. */
  pol_settings settings;

  /* What came out.  status POL_OK: all below is filled.  POL_BAD_ARGUMENT: the settings do not fit
   * each other or the mechanism, failure says why.  Others: the numerics failed, failure says when
   * and why; errors are NAN then. */
  int done; /* 0 if the study was stopped before */
  pol_status status;
  pol_diagnostics failure;
  long num_times;                        /* at which it was compared */
  int interpolated;                      /* 1: between the times of the reference; see pol_study */
  double max_error[POL_NUM_ERROR_KINDS]; /* over these times; NAN if nothing of this kind was
                                            compared */
  double end_error[POL_NUM_ERROR_KINDS]; /* at the end */
  pol_counts counts;
  double wall_seconds; /* of the steps alone, the best of study->repeats runs; NAN if 0 */
} pol_case;

/* A study.  The reference is a trajectory that is known, or else a run of its own.
 *
 * A case with fixed steps is compared at those of its times that the reference has too; if these
 * are fewer than 10 and not all that one of both has, at its own times, and the reference is
 * interpolated: positions and rotations by cubic Hermite polynomials where their velocities are
 * known too (rotations in the logarithm of the step's rotation), others by cubic polynomials
 * through the four nearest times.  A case with variable steps stops at the times of the reference.
 * The end is compared in any case.  At most max_times of a case's own times are used, every k-th
 * step.  A reference run stops at all times that its cases will be compared at. */
typedef struct pol_study {
  const pol_mechanism *mechanism;
  pol_case *cases;
  int num_cases;
  const pol_trajectory *reference;   /* NULL: there is a run */
  const pol_settings *reference_run; /* NULL if there is a trajectory */
  /* Whether to compare a channel; NULL: pol_study_compares_by_default.  Components that are not
   * wanted, or that the reference does not have, are left out of their vectors; quaternions are
   * compared as a whole.  A reaction that nowhere exceeds 1e-6 of the largest is left out: it is
   * zero but for round-off.  Called by all threads. */
  int (*compares)(const pol_channel *channel, void *user);
  int jobs;    /* threads that run cases, 1 .. 256 */
  int repeats; /* timed runs of each case, one at a time after all others; 0 for none.  One that
                  takes more than two seconds is timed once */
  int max_times;
  /* Called now and then with the share done, 0 .. 1, if not NULL, by one thread at a time, not
   * always the same.  Another answer than 0 stops the study. */
  int (*progress)(double share, void *user);
  void *user; /* for compares and progress */

  /* What came out beside the cases. */
  int stopped;                           /* progress has stopped it */
  int num_channels[POL_NUM_ERROR_KINDS]; /* compared, of each kind */
  pol_counts reference_counts;           /* of a reference run */
  long reference_rows;                   /* times of the reference, up to the end */
} pol_study;

/* All zero but jobs 1 and max_times 1000. */
pol_study pol_study_default(void);
/* Positions, quaternions, velocities and angular velocities (body axes) of bodies, forces and
 * torques (global axes) of joints, efforts of drives and couplings, states. */
int pol_study_compares_by_default(const pol_channel *channel, void *user);

/* Runs all cases; one that fails does not stop the others.  The results do not depend on jobs, but
 * for the wall times.  All cases must have the same end time.  POL_OK also if cases failed or if it
 * was stopped.  POL_BAD_ARGUMENT: the reference ends too early, its times do not rise, or it has
 * nothing that can be compared; or the reference run cannot be set up; or a number above is out of
 * range.  Other statuses: the reference run failed, or POL_NO_MEMORY.  diagnostics (may be NULL)
 * says why. */
pol_status pol_study_run(pol_study *study, pol_diagnostics *diagnostics);

/* --- orders ----------------------------------------------------------------------------------- */

typedef enum pol_order_verdict {
  POL_ORDER_FITTED,         /* by least squares over at least three points in one line */
  POL_ORDER_TWO_POINTS,     /* there are only two points: they are joined */
  POL_ORDER_NOT_ASYMPTOTIC, /* the errors fall, but no three neighbours are in one line: the order
                               is that of the finest two before the floor */
  POL_ORDER_FLOOR,          /* the errors do not fall at all: no order */
  POL_ORDER_UNKNOWN         /* fewer than two points: no order */
} pol_order_verdict;

/* The order p of errors that are proportional to h^p. */
typedef struct pol_order {
  pol_order_verdict verdict;
  double order;    /* NAN if there is none */
  int first, last; /* the points it was fitted to; both -1 if there is none */
  int floor; /* the first point from which on the errors no longer fall as the order says: they are
                as small as round-off, Newton's tolerance or the error of the reference allow; -1 if
                there is none */
} pol_order;

/* Fits the order to errors at falling sizes h (step sizes, tolerances), count of each.  Errors that
 * are not finite or not positive are passed over.  Points are in one line if the orders between
 * neighbours differ by at most 0.25; the longest such line with order above 0.5 is taken, of two
 * the finer.  The order between the point i - 1 and i, or NAN, goes to between[i] (may be NULL),
 * between[0] is NAN. */
pol_order pol_order_fit(int count, const double *h, const double *error, double *between);

#ifdef __cplusplus
}
#endif
#endif
