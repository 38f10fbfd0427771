/* Newton's method as in published runs (pol_published), in place of poli_newton_solve. */
#ifndef POLHODE_DAE_NEWTON_PUBLISHED_H
#define POLHODE_DAE_NEWTON_PUBLISHED_H

#include <polhode/published.h>

#include "dae/newton.h"

/* What the plain iterations stop by; one of the two. */
typedef struct poli_published_rule {
  /* the size of a residual and of the correction that it led to */
  double (*size)(const double *r, const double *dx, void *user);
  double (*norm)(const double *r, void *user); /* of a residual */
} poli_published_rule;

/* Whether the iteration is one of these. */
static inline int poli_is_published_newton(const pol_published *published)
{
  return published->newton != POL_PUBLISHED_NEWTON_DEFAULT || published->exact_iterations > 0;
}

/* As poli_newton_solve; x is that of the last residual. */
pol_status poli_newton_solve_published(poli_newton *newton, const pol_published *published,
                                       const poli_newton_system *system,
                                       const poli_published_rule *rule, double *x,
                                       pol_diagnostics *diagnostics);

#endif
