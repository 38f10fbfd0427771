/* How a validation says which rule an input breaks. */
#ifndef POLHODE_BASE_RULE_H
#define POLHODE_BASE_RULE_H

#include <stddef.h>

#include <polhode/status.h>

/* Copies the rule to message (which may be NULL) and returns POL_BAD_ARGUMENT. */
pol_status poli_broken_rule(const char *rule, char *message, size_t size);

#endif
