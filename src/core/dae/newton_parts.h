/* What the files of Newton's method share: newton.c (life cycle, the iteration and its end),
 * newton_norms.c and newton_published.c. */
#ifndef POLHODE_DAE_NEWTON_PARTS_H
#define POLHODE_DAE_NEWTON_PARTS_H

#include "dae/newton.h"

static const char poli_smaller_step[] = "take a smaller step";

/* How many times what round-off of the increments makes of it a residual may always be. */
static const double poli_newton_residual_grains = 64.0;

/* newton.c: the matrix is not to be trusted for the next attempt; sets d for the row, -1: none. */
pol_status poli_newton_fail(poli_newton *s, pol_status status, int row, const char *message,
                            const char *advice, pol_diagnostics *d);
/* s->r, the tolerances and the round-off at x. */
pol_status poli_newton_evaluate_or_fail(poli_newton *s, const poli_newton_system *system,
                                        const double *x, pol_diagnostics *d);
/* A new matrix at the last residual. */
pol_status poli_newton_refresh(poli_newton *s, const poli_newton_system *system,
                               pol_diagnostics *d);
/* dx from the last residual. */
void poli_newton_solve_correction(poli_newton *s);

/* newton_norms.c: sets what is accepted as the residual of each row, with x as the solution, unless
 * it is known; returns whether it was set. */
int poli_newton_measure(poli_newton *s, const double *x);
/* The largest residual over what is accepted; not finite if one is not. */
double poli_newton_residual_norm(const poli_newton *s, const double *r);
/* The row of the largest residual, or of the first that is not finite. */
int poli_newton_worst_residual(const poli_newton *s, const double *r);
/* The first row whose residual is not finite, constraints first, or -1. */
int poli_newton_first_not_finite(const poli_newton *s);
/* The largest correction over what is accepted; not finite if one is not. */
double poli_newton_correction_norm(const poli_newton *s);
int poli_newton_worst_correction(const poli_newton *s);
/* The size of a correction in terms of the goal; not finite if one is not. */
double poli_newton_goal_size(const poli_newton *s);

/* newton_published.c: exactly options.fixed_iterations corrections. */
pol_status poli_newton_solve_fixed(poli_newton *s, const poli_newton_system *system, double *x,
                                   pol_diagnostics *d);

#endif
