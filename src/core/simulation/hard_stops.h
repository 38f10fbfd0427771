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

/* As poli_event_rules_failure(). */
pol_status poli_hard_stops_failure(poli_hard_stops *stops, pol_diagnostics *diagnostics);

#endif
