/* Options of the Newton iteration, and counters of the work done. */
#ifndef POLHODE_NEWTON_H
#define POLHODE_NEWTON_H

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of Newton iterations. */
typedef enum pol_newton_kind {
  POL_NEWTON_FULL,       /* the exact matrix in each iteration */
  POL_NEWTON_SIMPLIFIED, /* as full, but without stiffness, damping and curvature */
  POL_NEWTON_MODIFIED    /* the exact matrix, kept while the iteration contracts well; variational
                            and energy-momentum methods evaluate it in each step */
} pol_newton_kind;

/* When the iteration of a generalized-alpha method ends; other methods have the tolerance as it is.
 */
typedef enum pol_newton_stop {
  POL_STOP_BY_ERROR, /* up to 1000 times the tolerance where the estimated error of the step is so
                        large that the difference is below 1 % of it */
  POL_STOP_TIGHT     /* the tolerance as it is */
} pol_newton_stop;

/* Options of the Newton iteration. */
typedef struct pol_newton_options {
  pol_newton_kind kind;
  double tolerance;   /* relative tolerance of residual and correction */
  int max_iterations; /* per step; at most 16 where a failed step can be repeated smaller */
  double refresh;  /* modified: the matrix is re-evaluated if the contraction exceeds this value, or
                      if four more iterations would not converge; default 0.5 */
  int line_search; /* maximum number of halvings in the Armijo line search; 0: no line search */
  /* Real time: exactly this number of corrections per step, with the same work in every step; 0: as
   * many as the tolerance needs.  What they leave is compared with the tolerance: a residual above
   * it is counted (pol_counts.inexact), and the step is accepted if the corrections have made it
   * smaller and it is at most 0.01/tolerance times the tolerance, that is a hundredth of what the
   * step changes; if not, it fails with POL_NOT_CONVERGED, without a second attempt.  For the
   * generalized-alpha methods with steps of fixed size. */
  int fixed_iterations;
  int matrix_interval; /* fixed_iterations: steps between two matrices, 1 or more */
  pol_newton_stop stop;
} pol_newton_options;

/* Work done since the start. */
typedef struct pol_counts {
  long steps;
  long rejected;
  long newton_iterations;
  long residuals;      /* evaluations of the equations */
  long jacobians;      /* evaluations of the matrix */
  long factorizations; /* of the matrix */
  long inexact; /* steps whose fixed number of iterations left a residual above the tolerance, */
  double worst_residual;              /* and the largest such residual in units of it; else 0 */
  double smallest_step, largest_step; /* of the accepted steps of pol_integrator_adapt, except steps
                                         shortened to meet a given time; 0 before the first */
} pol_counts;

#ifdef __cplusplus
}
#endif
#endif
