/* Starting values of the generalized-alpha methods. */
#ifndef POLHODE_INTEGRATORS_STARTING_VALUES_H
#define POLHODE_INTEGRATORS_STARTING_VALUES_H

#include <polhode/integrator.h>

/* What the starting values depend on. */
typedef struct poli_start_problem {
  const pol_dae *dae;
  pol_assembler *assembler;
  double t, h;
  const double *q, *v, *vd, *lambda; /* consistent, at t; lambda for poli_starting_values only */
  double shift;                      /* alpha_m - alpha_f */
  double C_q;                        /* coefficient of h^3 v'' in the local error of q */
  double commutator;                 /* coefficient of h^3 [v, v'] in it */
  int linear;                        /* increments of all factors are classical coordinates */
  double *work;                      /* poli_start_work() numbers */
} poli_start_problem;

size_t poli_start_work(const pol_dae *dae);

/* a (nv) and, if v_start is not NULL, v_start (nv): see starting_values.c. */
pol_status poli_starting_values(const poli_start_problem *problem, double *a, double *v_start,
                                pol_diagnostics *diagnostics);
/* error (nv): the local error of q over h^3; problem->h only sets the distance of the difference
 * that v'' is. */
pol_status poli_start_error(const poli_start_problem *problem, double *error,
                            pol_diagnostics *diagnostics);

#endif
