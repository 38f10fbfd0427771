/* Options to repeat published runs: iterations, updates and error estimates exactly as printed in
 * papers, for comparison with their numbers.  They are less accurate, less robust or slower than
 * the defaults and serve no other purpose.  All are zero in normal use.  See docs/methods.md. */
#ifndef POLHODE_PUBLISHED_H
#define POLHODE_PUBLISHED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Newton's method without line search.  Tolerance and limits are those of pol_newton_options. */
typedef enum pol_published_newton {
  POL_PUBLISHED_NEWTON_DEFAULT, /* normal use: pol_newton_options.kind */
  /* A new matrix in each iteration.
   * Variational and energy-momentum methods: stops when the largest component of residual and
   * correction, in SI units, is at most the tolerance; the residual is that before the correction.
   * Generalized-alpha methods: starts from v' = 0 and lambda = 0 and stops when the Euclidean norm
   * of the residual, in SI units, is at most the tolerance times its first value, or 1e-10. */
  POL_PUBLISHED_NEWTON_PLAIN,
  /* Generalized-alpha methods: as plain, but the matrix is kept from step to step.  It is
   * re-evaluated when the third or a later iteration of a step leaves more than the fraction
   * `refresh` of the residual, and in each iteration after the eighth. */
  POL_PUBLISHED_NEWTON_PLAIN_MODIFIED
} pol_published_newton;

/* How the equations of the sigma modification are solved. */
typedef enum pol_sigma_update {
  POL_SIGMA_EXACT,       /* solved exactly */
  POL_SIGMA_INCREMENTAL, /* by the printed algorithm, which sums linearised increments, with the
                            predictor that follows from the equations */
  POL_SIGMA_PRINTED      /* the same with the predictor as printed, which lacks a factor 1/2 */
} pol_sigma_update;

/* Settings of a published run that differ from normal use; all zero: none. */
typedef struct pol_published {
  pol_published_newton newton;
  int exact_iterations; /* 0: until convergence.  Else exactly this many Newton iterations per step,
                           from the accelerations and multipliers of the last step, converged or not
                         */
  pol_sigma_update sigma_update;
  int estimate; /* 1: variable steps exactly as printed by Gavrea/Negrut/Potra 2005: the error
                   constant of a step with auxiliary acceleration v', no correction when the step
                   size changes, a new matrix in each step */
} pol_published;

/* The names used in model files: "plain-modified", "incremental", "printed"; NULL for an invalid
 * value. */
const char *pol_published_newton_name(pol_published_newton newton);
const char *pol_sigma_update_name(pol_sigma_update update);
const char *pol_published_estimate_name(int estimate);

#ifdef __cplusplus
}
#endif
#endif
