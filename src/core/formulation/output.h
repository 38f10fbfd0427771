/* What a mechanism does at one instant, for those who ask for much of it: the frames of its bodies
 * are evaluated once and serve all questions.  The functions of <polhode/formulation.h> with the
 * same contracts answer one question each. */
#ifndef POLHODE_FORMULATION_OUTPUT_H
#define POLHODE_FORMULATION_OUTPUT_H

#include "formulation/formulation.h"

/* An instant: the point and the frames of all bodies there; without them (NULL) each function
 * evaluates those that it needs. */
typedef struct poli_instant {
  const pol_formulation *formulation;
  pol_point at;
  const poli_frame *frames;
} poli_instant;

/* The instant at a point; frames (one a body) are overwritten and must live as long. */
poli_instant poli_instant_at(const pol_formulation *formulation, const pol_point *at,
                             poli_frame *frames);

void poli_instant_body(const poli_instant *now, int body, pol_body_state *state);
void poli_instant_marker(const poli_instant *now, int marker, pol_marker_state *state);
void poli_instant_reaction(const poli_instant *now, int joint, double force[3], double torque[3]);
/* The same in the axes of its first marker, from what poli_instant_reaction() gave. */
void poli_instant_reaction_local(const poli_instant *now, int joint, const double force[3],
                                 const double torque[3], double force_local[3],
                                 double torque_local[3]);
void poli_instant_coordinate(const poli_instant *now, int joint, int index, double *value,
                             double *rate);
/* Force and torque (global axes, at the point of application; for a callback or joint-spring at the
 * centre of mass) that a force element exerts on its body, or on its second body; the opposite
 * wrench acts on the first body at the same point, except for callbacks, which define both.  Zero
 * if it cannot be evaluated.  Reads t, q, v and history; with expressions also lambda. */
void poli_instant_force(const poli_instant *now, int force, double vector[3], double torque[3]);
/* A beam element: its strains and curvatures against the relaxed beam, and the forces and moments
 * in its section, in the axes of the section; x along the beam. */
void poli_instant_beam(const poli_instant *now, int force, double strain[3], double curvature[3],
                       double section_force[3], double moment[3]);
/* The first beam element that is turned inside out, by its force; -1: none. */
int poli_instant_inverted(const poli_instant *now);
/* The first one whose ends are turned against each other by at least 0.9 of the largest angle. */
int poli_instant_turned(const poli_instant *now);
double poli_instant_joint_spring(const poli_instant *now, int force);
void poli_instant_variables(const poli_instant *now, double *values);
/* momentum, if it is not NULL: as below, in the same loop */
void poli_instant_energy(const poli_instant *now, pol_energy *energy, pol_momentum *momentum);
void poli_instant_power(const poli_instant *now, pol_power *power);
void poli_instant_momentum(const poli_instant *now, pol_momentum *momentum);

/* The frame of a body or of the ground; *own is overwritten if it has to be evaluated. */
const poli_frame *poli_instant_frame(const poli_instant *now, int body, poli_frame *own);

#endif
