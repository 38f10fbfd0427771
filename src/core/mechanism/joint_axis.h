/* What acts on the coordinates of a joint beside its constraints (pol_joint_axis): its rules, and
 * the force elements that a mechanism makes from it. */
#ifndef POLHODE_MECHANISM_JOINT_AXIS_H
#define POLHODE_MECHANISM_JOINT_AXIS_H

#include "mechanism/rules.h"

/* Checks joint->axes, which is not NULL, of a joint whose type is right.  placed: its markers
 * exist; else its coordinates are zero at the start. */
void poli_joint_axes_rules(poli_rules *check, const pol_joint *joint, int placed);

/* The elements that each coordinate may have. */
enum { POLI_AXIS_SPRING, POLI_AXIS_STOP, POLI_AXIS_FRICTION, POLI_AXIS_ELEMENTS };

/* Sets *force to one of these elements of coordinate `index` of a joint of the mechanism, without
 * name; 0 if there is none. */
int poli_joint_axis_force(const pol_mechanism *mechanism, int joint, int index, int element,
                          pol_force *force);
/* "spring", "stop" or "friction" */
const char *poli_joint_axis_name(int element);

/* The reduced inertia of the two bodies of a coordinate of a joint: along z of the first marker, or
 * about it through the point of the marker. */
double poli_joint_reduced_inertia(const pol_mechanism *mechanism, int index, int coordinate);

/* Whether the coordinate has limits. */
int poli_joint_axis_has_limits(const pol_joint_axis *axis);

#endif
