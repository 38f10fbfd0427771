/* The variants of the generalized-alpha family. */
#ifndef POLHODE_INTEGRATORS_GENERALIZED_ALPHA_H
#define POLHODE_INTEGRATORS_GENERALIZED_ALPHA_H

#include "integrators/alpha.h"

extern const pol_update pol_geom1, pol_geom2, pol_geom3, pol_linear, pol_newmark, pol_hht;

#endif
