/* Limits of joints with a restitution, as events of a simulation. */
#ifndef POLHODE_SIMULATION_HARD_STOPS_H
#define POLHODE_SIMULATION_HARD_STOPS_H

#include <polhode/simulation.h>

#include "formulation/formulation.h"

typedef struct poli_hard_stops poli_hard_stops;

/* How many a mechanism has. */
int poli_hard_stops_count(const pol_mechanism *mechanism);

/* The hard stops of a mechanism; NULL if it has none.  The formulation and the integrator, whose
 * history has their contacts, must outlive the result.  POL_NO_MEMORY. */
pol_status poli_hard_stops_create(poli_hard_stops **stops, const pol_formulation *formulation,
                                  pol_integrator *integrator);
void poli_hard_stops_free(poli_hard_stops **stops);

/* Event number i, "hinge.stop.max"; it points into stops. */
pol_simulation_event poli_hard_stops_event(poli_hard_stops *stops, int i);

/* Whether an event is one of these; whether it is an impact, faster than rest_speed, and not the
 * beginning or the end of rest; and whether it is due: the coordinate is at or beyond the limit, or
 * known to touch it, and its rate leads into it; or the stop would pull. */
int poli_is_hard_stop(const pol_simulation_event *event);
int poli_hard_stop_is_impact(const pol_simulation_event *event, const pol_state *at);
int poli_hard_stop_acts(const pol_simulation_event *event, const pol_state *at, int touched);

/* At a state within the last step, or at its end: notes that the joint has left a stop, if it is
 * outside of it now.  1 if that changes the function of the event from there on. */
int poli_hard_stop_leave(const pol_simulation_event *event, const pol_state *at);

/* Decides which of the stops that are touched at the state of the integrator the joints rest on,
 * and restarts it if there are any.  At the start and after each reset.  stops may be NULL. */
pol_status poli_hard_stops_settle(poli_hard_stops *stops, pol_diagnostics *diagnostics);

/* As poli_event_rules_failure(). */
pol_status poli_hard_stops_failure(poli_hard_stops *stops, pol_diagnostics *diagnostics);

#endif
