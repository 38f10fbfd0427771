/* One evaluation of the terms of the equations of motion, shared by evaluate.c and
 * evaluate_matrices.c. */
#ifndef POLHODE_FORMULATION_EVALUATE_H
#define POLHODE_FORMULATION_EVALUATE_H

#include "formulation/expressions.h"
#include "formulation/formulation.h"

/* Everything one evaluation shares. */
typedef struct poli_evaluation {
  const pol_formulation *f;
  const pol_point *at;
  unsigned want;
  const pol_terms *out;
  poli_frame *frames;     /* one a body */
  poli_chart_maps *rigid; /* one a body; set for charts that are not direct */
  double *attached;       /* maps and forces on modes of flexible bodies */
  poli_frame_maps maps;   /* both */
  double (*wrench)[6];
  double *inner;       /* workspace of products, 6 x widest */
  double *wide;        /* workspace of flexible bodies */
  double *inputs;      /* of the expressions */
  double *derivatives; /* what their derivatives need */
  /* number of the force that could not be evaluated, counted from 1, or 0; that of an expression is
   * below, that of a function of time above */
  double *failed;
} poli_evaluation;

/* Force k with the numbers of this evaluation, which go to *changed if they are not its own; NULL
 * if it is left out. */
const poli_placed_force *poli_evaluation_force(const poli_evaluation *e, int k,
                                               poli_changed_force *changed, pol_status *status);

/* The wrench on every frame that these parts of the balance need (POL_INERTIA, POL_FORCE,
 * POL_REACTION). */
pol_status poli_evaluate_wrenches(poli_evaluation *e, unsigned parts);

/* Adds the matrices that are wanted to e->out. */
pol_status poli_evaluate_matrices(poli_evaluation *e);

#endif
