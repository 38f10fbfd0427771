/* Options to repeat published runs: iterations, updates and estimates exactly as papers print them,
 * to compare with their numbers.  They are less accurate, less robust or slower than what polhode
 * does by default, and serve no other purpose.  All zero in normal use; see docs/methods.md. */
#ifndef POLHODE_PUBLISHED_H
#define POLHODE_PUBLISHED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Newton's method without line search.  pol_newton_options has its tolerance and limits. */
typedef enum pol_published_newton {
  POL_PUBLISHED_NEWTON_DEFAULT, /* not as published: pol_newton_options.kind */
  /* A new matrix in each iteration.
   * vi-s, vi-a, vi-b and em: stops when the largest number of residual and correction, in SI units,
   * is at most the tolerance, with the residual before the correction.
   * geom1 and its relatives: from v' = 0 and lambda = 0 until the Euclidean norm of the residual,
   * in SI units, is at most the tolerance times the first one, or 1e-10. */
  POL_PUBLISHED_NEWTON_PLAIN,
  /* geom1 and its relatives: as plain, with a matrix that is kept from step to step.  It is
   * evaluated anew when the third or a later iteration of a step leaves more than `refresh` of the
   * residual, and in each iteration after the eighth. */
  POL_PUBLISHED_NEWTON_PLAIN_MODIFIED
} pol_published_newton;

/* How the equations of the sigma modification are solved. */
typedef enum pol_sigma_update {
  POL_SIGMA_EXACT,       /* as they are */
  POL_SIGMA_INCREMENTAL, /* by the printed algorithms, which add up linearised increments, with the
                            predictor that follows from the equations */
  POL_SIGMA_PRINTED      /* the same with the predictor as printed, which lacks a factor of 1/2 */
} pol_sigma_update;

/* Settings of a published run that differ from normal use; all zero: none. */
typedef struct pol_published {
  pol_published_newton newton;
  int exact_iterations; /* 0: until it converges.  Else this many in each step, from the last step's
                           accelerations and multipliers, converged or not */
  pol_sigma_update sigma_update;
  int estimate; /* 1: variable steps exactly as printed by Gavrea/Negrut/Potra 2005: the error
                   constant of a step whose auxiliary acceleration equals v', nothing corrected when
                   the size changes, a new matrix in each step */
} pol_published;

/* The word of a model file for a choice: "plain-modified", "incremental", "printed"; NULL for what
 * is none. */
const char *pol_published_newton_name(pol_published_newton newton);
const char *pol_sigma_update_name(pol_sigma_update update);
const char *pol_published_estimate_name(int estimate);

#ifdef __cplusplus
}
#endif
#endif
