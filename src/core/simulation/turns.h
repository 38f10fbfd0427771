/* Watches a run for rotations that are too fast for their turns to be counted.
 *
 * An angle of a joint is known but for whole turns; the one nearest to that of the step before is
 * taken, which is right while it changes by less than half a turn in a step: |theta'| h < pi.
 * Beyond that the angle in the results has lost turns; and if the motion depends on it, by a
 * spring, a coupling or an expression, the motion itself is wrong.
 *
 * The rotation vector rho of a bushing has no turns and ends at 3 rad.  A step may jump across that
 * place to the other side; then rho - h omega, where it came from about, is longer than pi.
 */
#ifndef POLHODE_ANALYSIS_TURNS_H
#define POLHODE_ANALYSIS_TURNS_H

#include <polhode/simulation.h>

/* Looks at a state, the result of a step of size h, and adds what it finds to lost.  1 if the
 * motion depends on a turn that is lost, the first of them then in where. */
int poli_turns_look(const pol_formulation *formulation, const pol_state *state, double h,
                    pol_lost_turns *lost, char *where, size_t size);

#endif
