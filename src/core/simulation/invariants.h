/* What a run should keep constant, and how well it does: energy, and the momenta that the
 * symmetries of the mechanism have (pol_mechanism_symmetries). */
#ifndef POLHODE_ANALYSIS_INVARIANTS_H
#define POLHODE_ANALYSIS_INVARIANTS_H

#include <polhode/simulation.h>

/* Lists the invariants of a mechanism; returns how many. */
int poli_invariants_find(const pol_mechanism *mechanism,
                         pol_invariant invariants[POL_MAX_INVARIANTS]);

/* Sets their values. */
void poli_invariants_set(int count, pol_invariant *invariants, double energy,
                         const pol_momentum *momentum);

/* Brings the rest up to date with the values after an accepted step: the increments and the largest
 * ones; at the start and after a reset, if first, the initial values.  last holds the values after
 * the step before and is set to those of this one. */
void poli_invariants_measure(int count, pol_invariant *invariants, int first,
                             double last[POL_MAX_INVARIANTS]);

#endif
