/* A chart: the coordinates of one body, and how they give its frame.
 *
 * Elements work with the velocities y = (angular velocity in body axes, global velocity) of a
 * frame.  The coordinates' velocities v (chart->dim numbers) give
 *
 *     y = L(q) v,      y' = L(q) v' + bias(q, v),
 *
 * so a wrench r on the frame becomes L^T r on the coordinates, and derivatives transform with L and
 *
 *     N1 = d(L v)/dq,   N2 = d(L v' + bias)/dq,   N3 = d(bias)/dv,   G = d(L^T r)/dq at constant r.
 *
 * Where the coordinates' velocities are the last dim of the frame's six, L = (0; I) and all the
 * others vanish: such a chart is `direct`, and blocks need no products.
 *
 * The coordinates of a flexible body are those of its reference frame, with the chart of a rigid
 * body, and behind them its modes.  Its frames, the reference frame and the interfaces, share these
 * coordinates and have charts of their own (attached.h), whose maps have as many columns.
 */
#ifndef POLHODE_FORMULATION_CHART_H
#define POLHODE_FORMULATION_CHART_H

#include <polhode/formulation.h>

#include "mechanism/joint.h"

enum { POLI_CHART_MAX_DIM = 7, POLI_MAX_COORDINATES = 12 };

/* 6 rows for a frame, or dim rows for coordinates; dim columns. */
typedef double poli_map[POLI_CHART_MAX_DIM][POLI_CHART_MAX_DIM];

typedef struct poli_chart_maps {
  poli_map L, N1, N2, N3;
} poli_chart_maps;

/* One of the maps, in this order. */
typedef enum poli_map_name { POLI_L, POLI_N1, POLI_N2, POLI_N3 } poli_map_name;

struct poli_chart;

/* What the frame of a body depends on beside its coordinates. */
typedef struct poli_chart_place {
  double arm[3];   /* so3 only: from the centre of mass to the fixed point, body axes */
  double pivot[3]; /* so3 only: the fixed point */
  /* frames of a flexible body, NULL of others: the chart of the reference frame, the body, and the
   * interface (NULL: the reference frame itself) */
  const struct poli_chart *base;
  const pol_flexible_body *flexible;
  const pol_interface *interface;
} poli_chart_place;

/* A body and its coordinates at one instant. */
typedef struct poli_chart_point {
  const poli_chart_place *place;
  const double *q;      /* chart->nq */
  const double *v, *vd; /* chart->dim; NULL for zero */
} poli_chart_point;

typedef struct poli_chart {
  int nq;               /* numbers in the configuration of a body */
  int dim;              /* of its velocity */
  pol_factor_kind kind; /* first factor of the body's group; */
  int factor_dim;       /* its dim; R^n with the other dim - factor_dim velocities follows */
  int num_rotations;    /* first components of v: those of the rotation */
  int direct;
  int num_internal; /* constraints of the coordinates: 1 for Euler parameters, 6 for directors */
  int polynomial;   /* directors: the terms are not those of frames and maps (directors.c) */
  int num_modes;    /* the last coordinates of a flexible body; 0 of others */

  /* Body values to coordinates. */
  void (*coordinates)(const pol_body *body, double *q, double *v);
  /* Coordinates to the frame. */
  void (*frame)(const poli_chart_point *at, poli_frame *frame);
  /* L and its relatives, set to zero before; NULL if direct, and of flexible bodies. */
  void (*maps)(const poli_chart_point *at, const poli_frame *frame, poli_chart_maps *maps);
  /* K += G for the wrench r; NULL likewise. */
  void (*add_wrench_gradient)(const poli_chart_point *at, const poli_frame *frame,
                              const double r[6], poli_map K);
  /* Optional: whether q is at a singularity of the coordinates; its name goes to text. */
  int (*singular)(const double *q, char *text, size_t size);
} poli_chart;

/* The chart of a kind for rigid bodies; NULL if there is none. */
const poli_chart *poli_chart_of(pol_formulation_kind kind);
/* The chart of a body in a formulation of that kind: points have the same in all. */
const poli_chart *poli_chart_of_body(pol_formulation_kind kind, const pol_body *body);

#endif
