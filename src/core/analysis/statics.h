/* What the files of statics share: the equations at a configuration at rest, and moves of it.
 *
 * At a configuration q at rest, accelerations a and multipliers lambda follow from
 *
 *     M a + g(q, c, lambda) + B^T lambda = 0,     B a = 0,
 *
 * with first-order states c; q is in equilibrium where a = 0, which includes c' = 0.  An increment
 * w of the configuration, and of the states, solves
 *
 *     [ W + mu M  B^T + F ] [ w       ]   [ M a ]
 *     [ B         0       ] [ dlambda ] = [ 0   ],
 *
 * where W has the columns of K, geometric stiffness included, and for states those of D.  After it
 * the configuration is moved back to the constraints.
 *
 * Beams.  An increment that bends a slender beam stretches it to second order, and with its large
 * axial stiffness by large forces.  As geometric stiffness these spoil the next increment, and as
 * energy they make line searches cut the good ones.  So the moments and forces f of the elements
 * are unknowns of their own, as in a mixed formulation, whose linearised equations
 *
 *     df = K (B w/L + e) - f,     the balance with the geometric stiffness of f
 *
 * are condensed: the right-hand side is that of displacements alone, and f appears in the geometric
 * stiffness only (Magisano, Leonetti, Garcea 2017, "mixed integration points").  Both have the same
 * solution, and both converge quadratically.
 */
#ifndef POLHODE_ANALYSIS_STATICS_H
#define POLHODE_ANALYSIS_STATICS_H

#include "analysis/analysis.h"

typedef struct poli_statics {
  pol_analysis *a;
  const pol_dae *dae;
  int nv, m, moving; /* velocities that are no states */
  int has_redundant; /* constraints, at the start */
  poli_terms *terms;
  poli_saddle *rest, *tangent; /* with M, and with W + mu M */
  poli_rotation *rotation;     /* of the axes, rotation.c; NULL: at rest */
  void *memory;
  double *force, *matrix;    /* g: nv; W + mu M: pattern coupling */
  double *x;                 /* nv + m: right-hand side and solution */
  double *w, *accelerations; /* nv */
  double *balance;           /* nv: M a, what forces and reactions leave */
  double *path;              /* nq + nv: the middle of an increment, and forces there */
  double *kept, *start;      /* states: before the increment, and before the load step */
  int num_beams;             /* elements */
  double *resultants;        /* 6 of each force: f of beam elements */
  double residual;           /* relative, of the state */
  double largest;            /* of its forces and reactions, N; torques at the length */
  double mu;                 /* as a fraction of that of the largest increments */
  double reach;   /* factor of the largest displacements: grows while forces hardly change */
  int unresisted; /* increments in turn along which forces stayed as they were */
  int iterations;
  int is_free; /* it failed since nothing resists a motion */
  pol_diagnostics *diagnostics;
} poli_statics;

/* POL_NOT_CONVERGED, with the element in the diagnostics, where a beam is turned inside out. */
pol_status poli_statics_check_beams(poli_statics *statics);

/* Of a failure: names the beam element that is close to its largest rotation, if there is one. */
int poli_statics_blames_beams(poli_statics *statics);

/* At rest; a failure leaves what poli_statics_free frees. */
pol_status poli_statics_create(poli_statics *statics, pol_analysis *analysis);
void poli_statics_free(poli_statics *statics);

/* The largest of |x_i|, rotations and displacements apart. */
void poli_statics_largest(const poli_statics *statics, const double *x, double *rotation,
                          double *translation);
/* The product of two motions: of rotations, and of displacements by the length of the model. */
double poli_statics_product(const poli_statics *statics, const double *x, const double *y);

/* a and lambda of the state, which is at rest, and what is not in balance. */
pol_status poli_statics_release(poli_statics *statics);
/* The increment w with this mu.  POL_SINGULAR if there is none. */
pol_status poli_statics_increment(poli_statics *statics, double mu);
/* The response x to forces (nv), by the matrix of the last increment. */
void poli_statics_respond(poli_statics *statics, const double *forces, double sign, double *x);
/* Copies the state to `kept`, or back from it. */
void poli_statics_copy(const poli_statics *statics, double *kept, int back);
/* Chooses redundant constraints anew where there were some: a singular position has more of them
 * than others. */
pol_status poli_statics_choose_rows(const poli_statics *statics);
/* Moves from the state `kept` by `part` of w, back to the constraints, and releases it. */
pol_status poli_statics_move(poli_statics *statics, double part);

/* Starts with the moments and forces of beams as unknowns, from those of the state; moves them by
 * `part` of w, before the state itself; returns to those of the state. */
void poli_statics_mix(poli_statics *statics);
void poli_statics_extrapolate(poli_statics *statics, double part);
void poli_statics_unmix(poli_statics *statics);

/* Equilibrium at the present loads, from the present configuration (statics.c). */
pol_status poli_statics_equilibrate(poli_statics *statics, int max_iterations);

#endif
