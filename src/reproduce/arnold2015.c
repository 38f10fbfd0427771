/* Items of Arnold/Cardona/Bruels 2015. */
#include <stddef.h>

#include "reproduce/reproduce.h"

const pol_paper pol_paper_arnold2015 = {
    .id = "arnold2015",
    .citation = "M. Arnold, A. Cardona, O. Bruels: A Lie algebra approach to Lie group time "
                "integration of constrained systems. Report 01 (2015), Institute of Mathematics, "
                "University of Halle",
    .catalogued = 20,
};
