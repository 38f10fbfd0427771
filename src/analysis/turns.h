/* Watches a run for joints that turn too fast for their turns to be counted.
 *
 * An angle is known but for whole turns; the one nearest to that of the step before is taken, which
 * is right while the angle changes by less than half a turn in a step.  So |theta'| h must stay
 * below pi.  Beyond that the angle in the results has lost turns; and if the motion depends on it,
 * by a spring, a coupling or an expression, the motion itself is wrong.
 */
#ifndef POLHODE_ANALYSIS_TURNS_H
#define POLHODE_ANALYSIS_TURNS_H

#include <polhode/simulation.h>

/* Looks at a state, the result of a step of size h, and adds what it finds to lost.  1 if the
 * motion depends on a turn that is lost, the first of them then in where. */
int pol_turns_look(const pol_formulation *formulation, const pol_state *state, double h,
                   pol_lost_turns *lost, char *where, size_t size);

#endif
