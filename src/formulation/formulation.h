/* The formulation object, shared by the files of this room. */
#ifndef POLHODE_FORMULATION_FORMULATION_H
#define POLHODE_FORMULATION_FORMULATION_H

#include <polhode/formulation.h>

#include "formulation/chart.h"
#include "mechanism/coupling.h"
#include "mechanism/drive.h"
#include "mechanism/force.h"
#include "mechanism/joint_spring.h"

/* A dense block inside a sparse matrix: address of its first entry, distance between its columns.
 */
typedef struct pol_slot {
  int address, stride;
} pol_slot;

/* A body, where its coordinates start and where its block is. */
typedef struct pol_placed_body {
  const pol_body *body;
  const pol_chart *chart;  /* its coordinates */
  int q, v;                /* of its first configuration number and velocity */
  int internal_row;        /* of its first constraint of its own, or -1 */
  pol_slot diagonal;       /* in coupling */
  pol_slot internal;       /* in constraint: its own rows and columns */
  double arm[3], pivot[3]; /* so3: see chart.h */
} pol_placed_body;

/* A joint, its rows and where its blocks are.  Bodies that are the ground have no blocks. */
typedef struct pol_placed_joint {
  pol_joint_kernel kernel;
  int row;      /* of its first constraint; -1 if the coordinates satisfy it by themselves */
  int slip_row; /* of its first non-holonomic constraint, if it has any */
  pol_slot coupling[2][2]; /* in coupling: rows of body i, columns of body j */
  pol_slot jacobian[2];    /* in constraint: its rows, columns of body i */
  pol_slot slip[2];        /* the same of its non-holonomic rows */
  int coordinate;          /* the first of its coordinates */
} pol_placed_joint;

/* The multipliers of a joint's rows in the order of its kernel; returns how many. */
int pol_placed_multipliers(const pol_placed_joint *joint, const double *lambda,
                           double own[POL_MAX_JOINT_ROWS]);

/* A coordinate that a joint leaves free. */
typedef struct pol_placed_coordinate {
  pol_coordinate_kernel kernel;
  int history; /* number of its angle in the history; -1 for a displacement */
} pol_placed_coordinate;

/* A force and where its blocks are. */
typedef struct pol_placed_force {
  pol_force_kernel kernel;
  pol_joint_spring spring; /* of a joint-spring */
  int history;             /* of a joint-spring: as of its coordinate */
  pol_slot coupling[2][2]; /* as of a joint */
} pol_placed_force;

/* A drive; `placed` holds its row and blocks, and its kernel as if f were 0. */
typedef struct pol_placed_drive {
  pol_drive_kernel kernel;
  pol_placed_joint placed;
} pol_placed_drive;

/* A coupling: its row, and for each end the blocks of the two bodies of its joint. */
typedef struct pol_placed_coupling {
  pol_coupling_kernel kernel;
  int row;
  int history; /* where the deviations of its two ends are remembered */
  struct {
    pol_slot coupling[2][2], jacobian[2]; /* as of a joint */
  } end[2];
} pol_placed_coupling;

struct pol_formulation {
  const pol_mechanism *mechanism;
  pol_formulation_kind kind;
  const pol_chart *chart; /* of the rigid bodies; if it is direct, no body needs maps */
  double gravity[3];
  int num_bodies, num_joints, num_forces, num_drives, num_couplings;
  pol_factor *factors; /* of the bodies' charts, one body after the other */
  pol_placed_body *bodies;
  pol_placed_joint *joints;
  int num_coordinates;
  pol_placed_coordinate *coordinates; /* of one joint after the other */
  pol_placed_force *forces;
  pol_placed_drive *drives;
  pol_placed_coupling *couplings;
  pol_pattern *coupling, *constraint;
  pol_dae dae;
};

/* pol_dae.evaluate; evaluate.c */
pol_status pol_formulation_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                    double *scratch, void *user);
/* The same of the directors; directors.c */
pol_status pol_directors_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                  double *scratch, void *user);

/* pol_dae.discrete_force of directors and point masses */
pol_status pol_directors_discrete_force(const double *q0, const pol_point *at, unsigned want,
                                        const pol_terms *out, double *scratch, void *user);

/* Numbers of scratch that it needs. */
size_t pol_formulation_scratch(const pol_chart *chart, int num_bodies);

/* The ground's frame, and the frame of one body at q, v and vd (may be NULL). */
const pol_frame *pol_ground_frame(void);
pol_chart_point pol_formulation_point(const pol_formulation *formulation, const double *q,
                                      const double *v, const double *vd, int body);
void pol_formulation_frame(const pol_formulation *formulation, const double *q, const double *v,
                           int body, pol_frame *frame);
/* The axes of a marker, marker to global, and nothing else of its state. */
void pol_formulation_marker_rotation(const pol_formulation *formulation, const double *q,
                                     int marker, double R[9]);
/* The frames of two bodies, each of which may be the ground; v may be NULL. */
void pol_formulation_frames(const pol_formulation *formulation, const double *q, const double *v,
                            const int body[2], pol_frame frames[2]);

#endif
