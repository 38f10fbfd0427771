/* How the nonlinear equations of a step are solved, and the work that was done. */
#ifndef POLHODE_NEWTON_H
#define POLHODE_NEWTON_H

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of Newton iterations. */
typedef enum pol_newton_kind {
  POL_NEWTON_FULL,       /* the exact matrix in each iteration */
  POL_NEWTON_SIMPLIFIED, /* each iteration, without stiffness, damping and curvature */
  POL_NEWTON_MODIFIED,   /* the exact matrix, kept while the iteration contracts well; variational
                            and energy-momentum methods evaluate it in each step */
  POL_NEWTON_PLAIN,      /* as published, to compare with published counts: the exact matrix in each
                            iteration, no line search.
                            vi-s, vi-a, vi-b and em: it stops when the largest number of residual
                            and correction, in SI units, is at most the tolerance, with the residual
                            before the correction.
                            geom1 and its relatives: from v' = 0 and lambda = 0 until the Euclidean
                            norm of the residual, in SI units, is at most the tolerance times the
                            first one, or 1e-10 */
  POL_NEWTON_PLAIN_MODIFIED /* geom1 and its relatives: as plain, with a matrix that is kept from
                               step to step.  It is evaluated anew when the third or a later
                               iteration of a step leaves more than `refresh` of the residual, and
                               in each iteration after the eighth */
} pol_newton_kind;

/* Options of the Newton iteration. */
typedef struct pol_newton_options {
  pol_newton_kind kind;
  double tolerance;     /* relative, of residual and correction */
  int max_iterations;   /* a step */
  double refresh;       /* modified: contraction above which the matrix is evaluated anew, 0.5;
                           it is also when four more iterations would not do */
  int line_search;      /* halvings at most in the Armijo line search; 0 for none */
  int exact_iterations; /* 0: until it converges.  Else this many in each step, from the last step's
                           accelerations and multipliers, whatever is left: only to repeat
                           published figures that were made so */
} pol_newton_options;

/* Work done since the start. */
typedef struct pol_counts {
  long steps;
  long rejected;
  long newton_iterations;
  long residuals;                     /* evaluations of the equations */
  long jacobians;                     /* evaluations of the matrix */
  long factorizations;                /* of it */
  double smallest_step, largest_step; /* of those that pol_integrator_adapt chose and took, but for
                                         steps shortened to meet a time; 0 before the first */
} pol_counts;

#ifdef __cplusplus
}
#endif
#endif
