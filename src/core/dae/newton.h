/* Newton's method for the saddle-point systems of the integrators: full, simplified or modified,
 * with an Armijo line search and a scale-free stopping rule.
 *
 * The unknowns are x = (increments, multipliers).  An increment is good when its correction is
 * below a tolerance of its kind (rotation, translation, or a kind for each first-order state),
 * which the system gives, or below a few times its round-off.  A residual is good when it is below
 * what such a correction would cause: row i of |matrix| times the tolerances, or below the
 * round-off of the row.  So neither forces nor multipliers need tolerances of their own.
 *
 * Round-off of one coordinate can move another by more than its own: in a chain of 100 m the ends
 * of a short link are known to 1e-14 m only, and its angle to 1e-13.  So there is a second end of
 * the iteration: a correction by a matrix evaluated just before it, from a residual within
 * round-off to one within round-off.  Its square is all that such a correction leaves; where it is
 * below the square root of the relative round-off, nothing remains to be corrected.
 *
 * The error that an iteration leaves has the same sign in many steps with the same matrix and
 * accumulates like a force.  So if the system has `place`, a converged iteration makes one more
 * correction, from the last residual, and it counts as converged only if that leaves a hundredth of
 * the tolerance, or round-off.
 */
#ifndef POLHODE_DAE_NEWTON_H
#define POLHODE_DAE_NEWTON_H

#include <polhode/newton.h>
#include <polhode/published.h>

#include "dae/saddle.h"

/* The first kinds; the states of the dae follow, one kind each. */
enum { POLI_ROTATIONS, POLI_TRANSLATIONS, POLI_KINDS };

typedef struct poli_newton_system {
  /* r (n numbers) at x */
  pol_status (*residual)(const double *x, double *r, void *user);
  /* Optional: moves to x as residual does, without evaluating r. */
  pol_status (*place)(const double *x, void *user);
  /* The matrix dr/dx at the x of the last residual, into its values. */
  pol_status (*matrix)(void *user);
  /* What a correction of each kind may be at the x of the last residual: POLI_KINDS + num_states
   * numbers. */
  void (*tolerances)(double *tolerance, void *user);
  /* The round-off of an increment of each kind, DBL_EPSILON times the size of what it changes, in
   * the same order.  Without it no iteration ends where round-off is amplified. */
  void (*round_off)(double *round_off, void *user);
  void *user;
} poli_newton_system;

/* Another rule to stop, tied to a tolerance of the increments: the size of a correction dx is
 *
 *     scale max( rms(dx_i/weight_i), peak max |dx_i/weight_i| ),   i < nv
 *
 * and the iteration is done when what is still missing, rate/(1 - rate) size with the linear rate
 * of convergence, is at most `share` (Gavrea/Negrut/Potra 2005, (35)). */
typedef struct poli_newton_goal {
  const double *weight; /* nv; NULL: there is no goal */
  double scale, peak, share;
  int can_shrink; /* a step that fails is repeated with a smaller size */
} poli_newton_goal;

/* What Newton's method needs of a matrix that is not stored in a pattern. */
typedef struct poli_newton_operations {
  /* Factors the matrix that poli_newton_system.matrix has evaluated; POL_SINGULAR with the row at
   * fault in *row. */
  pol_status (*factor)(int *row, void *user);
  /* x = -A^-1 r (n numbers each) */
  void (*solve)(const double *r, double *x, void *user);
  /* Adds sums of |A_ij| over the increments j of each kind to size[kind][row], n rows per kind; an
   * estimate is enough. */
  void (*add_row_sizes)(double *size, void *user);
  /* Adds |A| |x| to sum (n numbers), with the multipliers in x alone; an estimate is enough. */
  void (*add_multipliers)(const double *x, double *sum, void *user);
  void *user;
} poli_newton_operations;

/* What Newton's method has to know of a matrix: increments come first, in whole vectors of nv; then
 * multipliers, in vectors of m (the last one may be shorter).  Rows likewise. */
typedef struct poli_newton_matrix {
  int n, num_increments;
  const pol_pattern *pattern; /* with values and solver; or all NULL, and operations */
  double *values;
  pol_solver *solver;
  const poli_newton_operations *operations;
  /* The residual of a balance may have this share of what is accepted of the most generous one of
   * its kind, which has the same unit.  0, unless rows can be without increments, as where the mass
   * matrix is singular. */
  double least_share;
  double cost; /* of a new matrix, evaluated and factored, in iterations; 0: that of a sparse one */
} poli_newton_matrix;

typedef struct poli_newton {
  pol_newton_options options;
  const pol_dae *dae;
  poli_newton_matrix matrix; /* its arrays are not owned */
  pol_counts *counts;        /* not owned */
  void *memory;              /* holds the arrays below, */
  size_t memory_size;        /* so many bytes */
  int num_kinds;
  int *kind; /* of each increment */
  double *trial, *dx, *r, *trial_r, *round_off;
  double *accepted;  /* n: of each residual */
  double *weight;    /* n: 1/accepted */
  double *inverse;   /* one per kind: 1/(largest correction that is accepted) */
  double *measured;  /* one per kind: tolerances that these belong to */
  double *row_size;  /* n numbers per kind */
  double *tolerance; /* one per kind */
  double *grain;     /* one per kind: the round-off of an increment */
  double *least;     /* one per kind: what is accepted of a balance */
  int has_matrix;    /* 0: evaluate it before the next correction */
  int has_accepted;  /* accepted and weight belong to this step and matrix, or to one shortly before
                      */
  int accepted_steps; /* since they were measured */
  int fresh_steps,
      fresh_length;  /* steps to come that start with a new matrix, and of the last time */
  double fresh_cost; /* of the last step that started with a new matrix, in iterations */
  poli_newton_goal goal;
  const char *advice; /* where the iteration does not converge; NULL: a general one */
  int uses;           /* steps done with the present matrix, */
  double spent;       /* and their cost, including that of the matrix, in iterations */
  double new_fall;    /* of the residual by the last new matrix of a step; 1 if there was none */
  double rate;        /* of linear convergence with the present matrix; negative: not known */
  double later_rate;  /* fall by a later correction with an old matrix; negative: not known */
  double fresh_rate;  /* by the second one with a matrix of the first guess */
  double kept_rate;   /* the same in terms of the goal, at most 1; negative: not known */
} poli_newton;

pol_status poli_newton_create(poli_newton **newton, const pol_dae *dae, poli_saddle *saddle,
                              const pol_newton_options *options, pol_counts *counts);
/* The same for another matrix. */
pol_status poli_newton_create_for(poli_newton **newton, const pol_dae *dae,
                                  const poli_newton_matrix *matrix,
                                  const pol_newton_options *options, pol_counts *counts);
void poli_newton_free(poli_newton **newton);

/* Lists what it keeps from step to step, but for the matrix. */
void poli_newton_archive(poli_newton *newton, poli_archive *archive);

/* Forgets the matrix, e.g. because the step size has changed. */
void poli_newton_reset(poli_newton *newton);
/* Forgets all that earlier steps have shown, as after creation: for a new start. */
void poli_newton_restart(poli_newton *newton);

/* Improves x (n numbers) to a solution.  After POL_OK the last call of residual or, if there is
 * one, of place was with the x returned.  On failure iteration, residual, correction, equation,
 * where, message and advice are set. */
pol_status poli_newton_solve(poli_newton *newton, const poli_newton_system *system, double *x,
                             pol_diagnostics *diagnostics);

/* After poli_newton_solve: one more correction with the matrix and the residual that are there,
 * which takes what a stopping rule has left down to round-off.  x is then that of the last
 * residual. */
pol_status poli_newton_polish(poli_newton *newton, const poli_newton_system *system, double *x);

/* What the plain iterations stop by; one of the two. */
typedef struct poli_published_rule {
  /* the size of a residual and of the correction that it led to */
  double (*size)(const double *r, const double *dx, void *user);
  double (*norm)(const double *r, void *user); /* of a residual */
} poli_published_rule;

/* Whether the iteration is one of these. */
static inline int poli_is_published_newton(const pol_published *published)
{
  return published->newton != POL_PUBLISHED_NEWTON_DEFAULT || published->exact_iterations > 0;
}

/* As poli_newton_solve, as in published runs (pol_published); x is that of the last residual. */
pol_status poli_newton_solve_published(poli_newton *newton, const pol_published *published,
                                       const poli_newton_system *system,
                                       const poli_published_rule *rule, double *x,
                                       pol_diagnostics *diagnostics);

#endif
