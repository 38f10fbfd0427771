/* The assembler's saddle-point matrix, for an integrator to share its one symbolic analysis. */
#ifndef POLHODE_DAE_ASSEMBLER_H
#define POLHODE_DAE_ASSEMBLER_H

#include "dae/saddle.h"

pol_saddle *pol_assembler_saddle(pol_assembler *assembler);

#endif
