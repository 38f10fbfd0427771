/* Limits of joints with a restitution, as events of a simulation. */
#ifndef POLHODE_SIMULATION_HARD_STOPS_H
#define POLHODE_SIMULATION_HARD_STOPS_H

#include <polhode/simulation.h>

#include "dae/assembler.h"
#include "formulation/formulation.h"

typedef struct poli_hard_stops poli_hard_stops;

/* How many a mechanism has. */
int poli_hard_stops_count(const pol_mechanism *mechanism);

/* The hard stops of a mechanism; NULL if it has none.  The formulation and the assembler, which
 * impacts use, must outlive the result.  POL_NO_MEMORY. */
pol_status poli_hard_stops_create(poli_hard_stops **stops, const pol_formulation *formulation,
                                  pol_assembler *assembler);
void poli_hard_stops_free(poli_hard_stops **stops);

/* Event number i, "hinge.stop.max"; it points into stops. */
pol_simulation_event poli_hard_stops_event(poli_hard_stops *stops, int i);

/* Whether an event is one of these; and whether an impact is due: the coordinate is at or beyond
 * the limit, or known to touch it, and its rate leads into it faster than rest_speed. */
int poli_is_hard_stop(const pol_simulation_event *event);
int poli_hard_stop_acts(const pol_simulation_event *event, const pol_state *at, int touched);

/* As poli_event_rules_failure(). */
pol_status poli_hard_stops_failure(poli_hard_stops *stops, pol_diagnostics *diagnostics);

#endif
