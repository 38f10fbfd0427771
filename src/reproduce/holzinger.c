/* Items of Holzinger/Arnold/Gerstmayr, the sigma family. */
#include <stddef.h>

#include "reproduce/reproduce.h"

const pol_paper pol_paper_holzinger = {
    .id = "holzinger-sigma",
    .citation = "S. Holzinger, M. Arnold, J. Gerstmayr: sigma-modified Lie group generalized-alpha "
                "methods for constrained multibody systems",
    .catalogued = 11,
};
