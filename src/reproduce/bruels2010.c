/* Items of Bruels/Cardona 2010. */
#include <stddef.h>

#include "reproduce/reproduce.h"

const pol_paper pol_paper_bruels2010 = {
    .id = "bruels2010",
    .citation = "O. Bruels, A. Cardona: On the use of Lie group time integrators in multibody "
                "dynamics. Journal of Computational and Nonlinear Dynamics, 2010",
    .catalogued = 7,
};
