/* Items of Kinon/Betsch/Schneider 2023. */
#include <stddef.h>

#include "reproduce/reproduce.h"

const pol_paper pol_paper_kinon2023 = {
    .id = "kinon2023",
    .citation = "P. L. Kinon, P. Betsch, S. Schneider: Structure-preserving integrators based on a "
                "new variational principle for constrained mechanical systems. Nonlinear Dynamics, "
                "2023",
    .catalogued = 31,
};
