/* What polhode check found out, and how it is reported. */
#ifndef POLHODE_CLI_CHECK_H
#define POLHODE_CLI_CHECK_H

#include <jansson.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

typedef struct cli_findings {
  const char *source;
  const pol_model *model;
  pol_estimate estimate; /* of its memory; 0 if it is not known */
  int num_constraints;
  int num_redundant;                /* of them, if started */
  int started;                      /* consistent initial values exist */
  const pol_simulation *simulation; /* if started */
  pol_moves moves;                  /* if started */
  pol_diagnostics failure;          /* if not */
} cli_findings;

/* Prints it as a table on stdout. */
void cli_findings_print(const cli_findings *found);
/* The same as JSON: a new reference; NULL when memory is out. */
json_t *cli_findings_json(const cli_findings *found);

#endif
