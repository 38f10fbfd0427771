/* Events that are given by expressions: from rules of the settings to events of a simulation. */
#ifndef POLHODE_SIMULATION_EVENT_RULES_H
#define POLHODE_SIMULATION_EVENT_RULES_H

#include <polhode/simulation.h>

#include "mechanism/signal.h"

typedef struct poli_event_rules poli_event_rules;

/* Compiles all expressions.  POL_BAD_ARGUMENT: message says which rule is wrong and why.  The
 * formulation and the assembler, which resets use, must outlive the result, the settings need not.
 */
pol_status poli_event_rules_create(poli_event_rules **rules, const pol_formulation *formulation,
                                   pol_assembler *assembler, const pol_settings *settings,
                                   char *message, size_t size);
void poli_event_rules_free(poli_event_rules **rules);

/* Event number i; it points into rules. */
pol_simulation_event poli_event_rules_event(poli_event_rules *rules, int i);

/* Whether the last reset has failed: its status and its diagnostics, which are reported once.
 * POL_OK: it has not, diagnostics are left as they are.  rules may be NULL. */
pol_status poli_event_rules_failure(poli_event_rules *rules, pol_diagnostics *diagnostics);

/* The signals that conditions and resets read, directly or by way of variables; returns how many,
 * at most `most`.  rules may be NULL. */
int poli_event_rules_read(const poli_event_rules *rules, poli_signal *signals, int most);

/* Whether a reset can set a quantity of that name, without quotes. */
int poli_event_can_set(const pol_mechanism *mechanism, const char *quantity);

#endif
