/* The composed steps of splitting.c, for those who choose their size. */
#ifndef POLHODE_INTEGRATORS_SPLITTING_H
#define POLHODE_INTEGRATORS_SPLITTING_H

#include <stddef.h>

#include "integrators/family.h"

typedef struct poli_splitting_state poli_splitting_state;

/* All substeps of one composed step from t0 to t1, which may lie before t0.  After a failure the
 * running state is somewhere in between: restore it. */
pol_status poli_splitting_advance(poli_splitting_state *s, double t0, double t1,
                                  pol_diagnostics *diagnostics);

/* Everything that a later step depends on, as poli_splitting_size numbers, to the last bit. */
size_t poli_splitting_size(const poli_splitting_state *s);
void poli_splitting_save(const poli_splitting_state *s, double *to);
void poli_splitting_restore(poli_splitting_state *s, const double *from);

/* q, v, v', lambda at time t that belong to the running state, which stays as it is; velocities are
 * on the constraints.  shown has nq + 2 nv + m numbers. */
pol_status poli_splitting_show(poli_splitting_state *s, double t, double *shown);

/* q of the running state. */
const double *poli_splitting_position(const poli_splitting_state *s);
/* Sets the running state: q, v, and multipliers to predict the next ones from. */
pol_status poli_splitting_place(poli_splitting_state *s, double t, const double *q, const double *v,
                                const double *lambda);
/* The forces of the running state, nv. */
const double *poli_splitting_force(const poli_splitting_state *s);
/* Base steps of a composed step. */
int poli_splitting_num_stages(const poli_splitting_state *s);

/* Where the next solution is shown, and makes it that of the integrator. */
double *poli_splitting_spare(poli_splitting_state *s);
void poli_splitting_publish(pol_integrator *integrator, double t);

/* Data of splitting_steps.c, owned by the state: numbers in one block of memory. */
typedef struct poli_splitting_steps {
  void *memory;
  size_t memory_size;
  double *start;   /* the running state at the start of an attempt, */
  double *now;     /* and one to return to */
  double *whole;   /* the end of an attempt by one step: q, and v where expressions can switch */
  double *middle;  /* q, v, v', lambda in the middle of the last step, */
  int has_middle;  /* 1: known; -1: it could not be determined */
  double *within;  /* of an attempt, and at a time within the last step */
  double *at;      /* nq + nv: q and v there */
  double *defects; /* 3 nv: of the interpolation */
  double t;        /* end of the attempt */
} poli_splitting_steps;

poli_splitting_steps *poli_splitting_get_steps(poli_splitting_state *s);
/* The rest of the family is there. */
pol_status poli_splitting_steps_create(pol_integrator *integrator);

extern const poli_adaptive poli_splitting_adaptive;

/* Of poli_family. */
pol_status poli_splitting_interpolate(const pol_integrator *integrator, double t, double *q,
                                      double *v, double *vd, double *lambda);

#endif
