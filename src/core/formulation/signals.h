/* Values of signals (mechanism/signal.h) and their derivatives by what they depend on: frames of at
 * most two bodies, multipliers of one joint or drive, or one state. */
#ifndef POLHODE_FORMULATION_SIGNALS_H
#define POLHODE_FORMULATION_SIGNALS_H

#include "formulation/formulation.h"
#include "mechanism/signal.h"

/* What a signal depends on, wherever it is evaluated. */
typedef struct poli_signal_reads {
  int body[2];  /* POL_GROUND for none */
  int row;      /* of the first multiplier */
  int num_rows; /* 0 for none */
  int state;    /* index, or -1 */
} poli_signal_reads;

/* Variations and velocities are those of mechanism/joint.h: (dphi1, dx1, dphi2, dx2). */
typedef struct poli_signal_gradient {
  poli_signal_reads reads;
  double position[12], velocity[12]; /* by the frames of both bodies */
  double lambda[POL_MAX_JOINT_ROWS]; /* by the multipliers; by the state it is 1 */
} poli_signal_gradient;

/* The joints are numbered already; the signal is no variable, and no reaction of a joint without
 * rows. */
poli_signal_reads poli_signal_dependence(const pol_formulation *formulation,
                                         const poli_signal *signal);

/* The value and the gradient at a point.  frames: those of all bodies there, or NULL.  POL_RETRY
 * where an angle is not defined. */
pol_status poli_signal_value(const pol_formulation *formulation, const poli_signal *signal,
                             const pol_point *at, const poli_frame *frames, double *value);
pol_status poli_signal_derivatives(const pol_formulation *formulation, const poli_signal *signal,
                                   const pol_point *at, const poli_frame *frames,
                                   poli_signal_gradient *gradient);

#endif
