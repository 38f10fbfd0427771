/* Watches a run for singular positions, where constraints that are independent elsewhere depend on
 * each other: all links of a loop in one line, a dead centre of a driven crank.  There the way on
 * is not unique, and a step can jump across without noticing.
 *
 * The distance d of the most dependent constraint from the others (dae/independence.h) goes to zero
 * there like the way to that position.  So a step is about to reach or cross one, or to pass it too
 * fast to resolve how, if d would vanish within two steps at the rate at which d has just fallen.
 * Columns of length one turn about as fast as the bodies do, so d needs not be measured again
 * before half the time in which it could vanish.
 *
 * Where constraints are redundant, d may also vanish because of which of them were dropped.  So
 * when it has fallen far, they are chosen anew, and only what remains small is a singular position.
 */
#ifndef POLHODE_ANALYSIS_WATCH_H
#define POLHODE_ANALYSIS_WATCH_H

#include <polhode/simulation.h>

typedef struct poli_watch poli_watch;

/* The integrator has been started.  *watch is NULL after POL_OK if there are no constraints, or
 * far too many.  With many constraints it only examines the state after a failure.  Both must
 * outlive it. */
pol_status poli_watch_create(poli_watch **watch, const pol_formulation *formulation,
                             pol_integrator *integrator);
void poli_watch_free(poli_watch **watch);

/* Looks at an accepted state, the result of a step of size h (0 at the start), if it is time to;
 * adds what it finds to singular.  Allocates nothing.  watch may be NULL. */
void poli_watch_look(poli_watch *watch, const pol_state *state, double h, pol_singular *singular);

/* To be called after the integrator has dropped other constraints.  watch may be NULL. */
void poli_watch_others(poli_watch *watch);

/* Whether the last accepted state, from which a step of size h has failed, is near a singular
 * position; the constraint in words goes to where.  May allocate.  watch may be NULL. */
int poli_watch_is_near(poli_watch *watch, const pol_state *state, double h, char *where,
                       size_t size);

/* The distance d of the last look, 1 if there was none.  Errors of the constraints are amplified by
 * about 1/d in those that follow from them.  watch may be NULL. */
double poli_watch_distance(const poli_watch *watch);

#endif
