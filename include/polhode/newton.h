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
  POL_NEWTON_MODIFIED    /* the exact matrix, kept while the iteration contracts well; variational
                            and energy-momentum methods evaluate it in each step */
} pol_newton_kind;

/* Options of the Newton iteration. */
typedef struct pol_newton_options {
  pol_newton_kind kind;
  double tolerance;   /* relative, of residual and correction */
  int max_iterations; /* per step */
  double refresh;     /* modified: contraction above which the matrix is evaluated anew, 0.5;
                         also if four more iterations would not converge */
  int line_search;    /* halvings at most in the Armijo line search; 0 for none */
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
