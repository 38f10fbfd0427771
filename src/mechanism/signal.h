/* Signals: what expressions of a model may read, by name.
 *
 * The names are those of the channels that results record (polhode/simulation.h):
 *
 *   t                                              time
 *   STATE, VARIABLE                                first-order states and variables
 *   BODY.position.x  .velocity.x                   and y, z; so below
 *   BODY.angular_velocity.x                        in body axes
 *   BODY.angular_velocity_global.x                 these two not of a point mass
 *   marker.MARKER.position.x  .velocity.x          of markers with a name
 *   JOINT.angle  .rate  .displacement  .speed ...  the coordinates that the joint leaves free
 *   JOINT.force.x  .torque.x                       of the joint on its second body, global axes;
 *                                                  these four not of rolling
 *   JOINT.force_local.x  .torque_local.x           the same in the axes of its first marker
 *   JOINT.multiplier.1                             one a row
 *   DRIVE.force or DRIVE.torque                    of the drive along or about its axis
 *
 * This is the one place that maps a name to a signal; formulation/signals.h gives their values.
 */
#ifndef POLHODE_MECHANISM_SIGNAL_H
#define POLHODE_MECHANISM_SIGNAL_H

#include <polhode/mechanism.h>

typedef enum pol_signal_kind {
  POL_SIGNAL_TIME,
  POL_SIGNAL_STATE,
  POL_SIGNAL_VARIABLE,
  POL_SIGNAL_POSITION,
  POL_SIGNAL_VELOCITY,
  POL_SIGNAL_ANGULAR_VELOCITY,
  POL_SIGNAL_ANGULAR_VELOCITY_GLOBAL,
  POL_SIGNAL_MARKER_POSITION,
  POL_SIGNAL_MARKER_VELOCITY,
  POL_SIGNAL_COORDINATE,
  POL_SIGNAL_RATE,
  POL_SIGNAL_FORCE, /* the reactions: those with a torque have an odd distance from this one */
  POL_SIGNAL_TORQUE,
  POL_SIGNAL_FORCE_LOCAL,
  POL_SIGNAL_TORQUE_LOCAL,
  POL_SIGNAL_MULTIPLIER,
  POL_SIGNAL_DRIVE
} pol_signal_kind;

typedef struct pol_signal {
  pol_signal_kind kind;
  int object;    /* index of the state, variable, body, marker, joint or drive */
  int component; /* axis, coordinate or row; else 0 */
} pol_signal;

/* Whether it is a reaction of a joint, or one of its multipliers. */
int pol_signal_is_reaction(const pol_signal *signal);

/* Calls visit with every signal, its name without quotes, until one call returns a number other
 * than 0, which is returned; the name lives as long as the call. */
typedef int pol_signal_visit(const char *name, const pol_signal *signal, void *user);
int pol_signal_each(const pol_mechanism *mechanism, pol_signal_visit *visit, void *user);

/* 1 if there is a signal of that name. */
int pol_signal_find(const pol_mechanism *mechanism, const char *name, pol_signal *signal);

#endif
