/* Items of Gavrea/Negrut/Potra 2005. */
#include <stddef.h>

#include "reproduce/reproduce.h"

const pol_paper pol_paper_gavrea2005 = {
    .id = "gavrea2005",
    .citation =
        "B. Gavrea, D. Negrut, F. A. Potra: The Newmark integration method for simulation of "
        "multibody systems: analytical considerations. IMECE2005-81770, 2005",
    .catalogued = 5,
};
