/* What a mechanism does at one instant, for those who ask for much of it: the frames of its bodies
 * are evaluated once and serve all questions.  The functions of <polhode/formulation.h> with the
 * same contracts answer one question each. */
#ifndef POLHODE_FORMULATION_OUTPUT_H
#define POLHODE_FORMULATION_OUTPUT_H

#include "formulation/formulation.h"

/* An instant: the point and the frames of all bodies there; without them (NULL) each function
 * evaluates those that it needs. */
typedef struct pol_instant {
  const pol_formulation *formulation;
  pol_point at;
  const pol_frame *frames;
} pol_instant;

/* The instant at a point; frames (one a body) are overwritten and must live as long. */
pol_instant pol_instant_at(const pol_formulation *formulation, const pol_point *at,
                           pol_frame *frames);

void pol_instant_body(const pol_instant *now, int body, pol_body_state *state);
void pol_instant_marker(const pol_instant *now, int marker, pol_marker_state *state);
void pol_instant_reaction(const pol_instant *now, int joint, double force[3], double torque[3]);
/* The same in the axes of its first marker, from what pol_instant_reaction() gave. */
void pol_instant_reaction_local(const pol_instant *now, int joint, const double force[3],
                                const double torque[3], double force_local[3],
                                double torque_local[3]);
void pol_instant_coordinate(const pol_instant *now, int joint, int index, double *value,
                            double *rate);
void pol_instant_force(const pol_instant *now, int force, double vector[3], double torque[3]);
double pol_instant_joint_spring(const pol_instant *now, int force);
void pol_instant_variables(const pol_instant *now, double *values);
void pol_instant_momentum(const pol_instant *now, pol_momentum *momentum);

/* The frame of a body or of the ground; *own is overwritten if it has to be evaluated. */
const pol_frame *pol_instant_frame(const pol_instant *now, int body, pol_frame *own);

#endif
