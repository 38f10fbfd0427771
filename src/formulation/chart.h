/* A chart: the coordinates of one body, and how they give its frame.
 *
 * Elements work with the velocities y = (angular velocity in body axes, global velocity) of a
 * frame.  The coordinates' velocities v (dimension POL_CHART_DIM) give
 *
 *     y = L(q) v,      y' = L(q) v' + bias(q, v),
 *
 * so a wrench r on the frame becomes L^T r on the coordinates, and derivatives transform with L and
 *
 *     N1 = d(L v)/dq,   N2 = d(L v' + bias)/dq,   N3 = d(bias)/dv,   G = d(L^T r)/dq at constant r.
 *
 * In SO(3)xR3 L = I and all the others vanish: `identity`.
 */
#ifndef POLHODE_FORMULATION_CHART_H
#define POLHODE_FORMULATION_CHART_H

#include <polhode/formulation.h>

#include "mechanism/joint.h"

enum { POL_CHART_DIM = 6, POL_CHART_MAX_FACTORS = 2 };

typedef double pol_m6[6][6];

typedef struct pol_chart_maps {
  pol_m6 L, N1, N2, N3;
} pol_chart_maps;

typedef struct pol_chart {
  const char *name;
  int nq;                                    /* numbers in the configuration of a body */
  int num_factors;                           /* of the body's group */
  pol_factor factors[POL_CHART_MAX_FACTORS]; /* kind and dim only */
  int identity;

  /* Body values to coordinates. */
  void (*coordinates)(const pol_body *body, double *q, double *v);
  /* Coordinates to the frame; v and vd may be NULL for zero. */
  void (*frame)(const double *q, const double *v, const double *vd, pol_frame *frame);
  /* L and its relatives at a frame; NULL if identity. */
  void (*maps)(const pol_frame *frame, pol_chart_maps *maps);
  /* K += G for the wrench r; NULL if identity. */
  void (*add_wrench_gradient)(const pol_frame *frame, const double r[6], pol_m6 K);
} pol_chart;

/* The chart of a kind; NULL if there is none. */
const pol_chart *pol_chart_of(pol_formulation_kind kind);

#endif
