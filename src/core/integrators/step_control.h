/* Size of the steps from an estimate of their local error; see step_control.c. */
#ifndef POLHODE_INTEGRATORS_STEP_CONTROL_H
#define POLHODE_INTEGRATORS_STEP_CONTROL_H

#include <polhode/integrator.h>

#include "base/archive.h"

typedef struct poli_step_control {
  const pol_group *group;
  pol_control options;
  int published;      /* 1: as printed (pol_published.estimate) */
  double local_order; /* of the local error, at least 3 */
  double retreat;     /* what remains of a step whose equations could not be solved */
  double safety;      /* of the size that would just be accepted */
  double *memory;
  double *largest; /* nv: largest |q_i| of accepted steps; 1 for rotations */
  double *weight;  /* nv: what an error of 1 is */
  double *error;   /* nv: of the attempt, for the caller to fill */
  double h;        /* of the next step; 0: not known yet */
  double last;     /* error of the last accepted step; 0: there is none */
  double span;     /* time to be covered, as far as it is known */
  double order;    /* p of error ~ h^p, from attempts of one step; at least local_order */
  int tiny_steps;  /* in a row, of a size that cannot reach the end */
  double tried_h;  /* of the last attempt of the present step whose error was too large, 0: none, */
  double tried;    /* and that error */
  double pace;     /* rho of reversible steps, 0: not known yet; see adapt.c */
  double floor, reference; /* kinetic energies of their law; reference 0: not known yet */
  double ceiling; /* of the next sizes, below one whose equations could not be solved; 0: none */
} poli_step_control;

pol_status poli_step_control_create(poli_step_control **control, const pol_group *group,
                                    const pol_control *options);
void poli_step_control_free(poli_step_control **control);

/* Lists what it keeps from step to step. */
void poli_step_control_archive(poli_step_control *control, poli_archive *archive);

/* For methods with a local error of an order other than 3, whose size varies more: steps are 0.8 of
 * what would just be accepted (0.9), and one whose equations could not be solved is repeated with
 * 0.4 of its size (0.25). */
void poli_step_control_set_order(poli_step_control *control, double local_order);
/* Forgets the step size; and with sizes, how large the coordinates have been. */
void poli_step_control_reset(poli_step_control *control, int sizes);
/* Sets the weights for steps from or to the configuration q. */
void poli_step_control_weigh(poli_step_control *control, const double *q);
/* The configuration q has been accepted: its size counts from now on. */
void poli_step_control_accept(poli_step_control *control, const double *q);
/* The share of the largest component that the norm of an error has at least; 0 as published
 * and in small systems. */
double poli_step_control_peak(const poli_step_control *control);
/* Root mean square of e_i/weight_i, or that share of the largest one if it is more; *worst (may be
 * NULL) is the component with the largest. */
double poli_step_control_norm(const poli_step_control *control, const double *e, int *worst);
/* The size that should follow a step of size h with this error; an accepted one is remembered. */
double poli_step_control_propose(poli_step_control *control, double h, double error);
/* The same after a step of size h whose equations could not be solved. */
double poli_step_control_retreat(poli_step_control *control, double h);

#endif
