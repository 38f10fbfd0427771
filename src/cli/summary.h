/* What `polhode run` reports at its end, for people and for programs. */
#ifndef POLHODE_CLI_SUMMARY_H
#define POLHODE_CLI_SUMMARY_H

#include <jansson.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

/* An event of the model that the run has come to. */
typedef struct cli_event {
  double t;
  int index; /* in the settings */
} cli_event;

typedef struct cli_outcome {
  const char *status; /* "done", "failed", "interrupted", "invalid" */
  const char *source; /* the model file */
  const pol_model *model;
  const pol_simulation *simulation; /* NULL if it could not start */
  pol_diagnostics failure;          /* if failed or invalid */
  double wall_seconds;
  const char *out; /* result file, NULL if none */
  long rows;       /* written to it */
  int columns;
  long num_events; /* that the run has come to, */
  cli_event *events;
  pol_accuracy accuracy; /* if it was estimated */
  int verbose;
} cli_outcome;

/* The table on stdout; the simulation must have started. */
void cli_summary_print(const cli_outcome *outcome);
/* One line on stderr if the given initial values had to change; for runs without the table. */
void cli_note_moves(const pol_simulation *simulation);
/* Method, formulation, step and so on as an object, a new reference; NULL when memory is out. */
json_t *cli_settings_json(const pol_settings *settings);
/* The object of --json, a new reference; NULL when memory is out. */
json_t *cli_summary_json(const cli_outcome *outcome);

/* Prints a row for each redundant constraint that was dropped, or lists them. */
void cli_print_redundant(const pol_simulation *simulation, pol_redundant redundant);
json_t *cli_json_redundant(const pol_simulation *simulation);

#endif
