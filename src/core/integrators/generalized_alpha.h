/* The variants of the generalized-alpha family. */
#ifndef POLHODE_INTEGRATORS_GENERALIZED_ALPHA_H
#define POLHODE_INTEGRATORS_GENERALIZED_ALPHA_H

#include "integrators/alpha.h"

extern const poli_update poli_geom1, poli_geom2, poli_geom3, poli_linear, poli_newmark, poli_hht;

#endif
