/* The overshoot of the generalized-alpha method in the limit of infinite frequency. */
#ifndef POLHODE_PAPERS_OVERSHOOT_H
#define POLHODE_PAPERS_OVERSHOOT_H

#include <polhode/integrator.h>

/* Spectral norms of T_inf^1 .. T_inf^count, where T_inf leads from (lambda, v/h, a) of one step to
 * the next if q = 0 is enforced. */
void paper_overshoot(const pol_options *options, int count, double *norms);

#endif
