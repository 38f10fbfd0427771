/* Signals: what expressions of a model may read, by name.
 *
 * The names are those of the channels that results record (polhode/simulation.h):
 *
 *   t                                              time
 *   STATE, VARIABLE                                first-order states and variables
 *   BODY.position.x  .velocity.x                   and y, z; so below
 *   BODY.angular_velocity.x                        in body axes
 *   BODY.angular_velocity_global.x                 these two not of a point mass
 *   BODY.mode.1  .mode_rate.1                      of a flexible body: amplitude and rate
 *   marker.MARKER.position.x  .velocity.x          of markers with a name
 *   JOINT.angle  .rate  .displacement  .speed ...  the coordinates that the joint leaves free
 *   JOINT.force.x  .torque.x                       of the joint on its second body, global axes;
 *                                                  these four not of rolling
 *   JOINT.force_local.x  .torque_local.x           the same in the axes of its first marker
 *   JOINT.multiplier.1                             one a row
 *   DRIVE.force or DRIVE.torque                    of the drive along or about its axis
 *
 * This is the one place that maps a name to a signal; formulation/signals.c gives their values.
 */
#ifndef POLHODE_MECHANISM_SIGNAL_H
#define POLHODE_MECHANISM_SIGNAL_H

#include <polhode/mechanism.h>

typedef enum poli_signal_kind {
  POLI_SIGNAL_TIME,
  POLI_SIGNAL_STATE,
  POLI_SIGNAL_VARIABLE,
  POLI_SIGNAL_POSITION,
  POLI_SIGNAL_VELOCITY,
  POLI_SIGNAL_ANGULAR_VELOCITY,
  POLI_SIGNAL_ANGULAR_VELOCITY_GLOBAL,
  POLI_SIGNAL_MODE, /* its amplitude */
  POLI_SIGNAL_MODE_RATE,
  POLI_SIGNAL_MARKER_POSITION,
  POLI_SIGNAL_MARKER_VELOCITY,
  POLI_SIGNAL_COORDINATE,
  POLI_SIGNAL_RATE,
  POLI_SIGNAL_FORCE, /* the reactions: those with a torque have an odd distance from this one */
  POLI_SIGNAL_TORQUE,
  POLI_SIGNAL_FORCE_LOCAL,
  POLI_SIGNAL_TORQUE_LOCAL,
  POLI_SIGNAL_MULTIPLIER,
  POLI_SIGNAL_DRIVE
} poli_signal_kind;

typedef struct poli_signal {
  poli_signal_kind kind;
  int object;    /* index of the state, variable, body, marker, joint or drive */
  int component; /* axis, coordinate, mode or row; else 0 */
} poli_signal;

/* Whether it is a reaction of a joint, or one of its multipliers. */
int poli_signal_is_reaction(const poli_signal *signal);

/* Calls visit with every signal, its name without quotes, until one call returns a number other
 * than 0, which is returned; the name lives as long as the call. */
typedef int poli_signal_visit(const char *name, const poli_signal *signal, void *user);
int poli_signal_each(const pol_mechanism *mechanism, poli_signal_visit *visit, void *user);

/* 1 if there is a signal of that name. */
int poli_signal_find(const pol_mechanism *mechanism, const char *name, poli_signal *signal);

#endif
