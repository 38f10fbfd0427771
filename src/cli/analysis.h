/* What the commands static, modes and linearize share: the state that they start from, and results
 * whose rows are not those of a run. */
#ifndef POLHODE_CLI_ANALYSIS_H
#define POLHODE_CLI_ANALYSIS_H

#include "cli/cli.h"

typedef struct cli_analysis {
  const char *command; /* "polhode modes" */
  const cli_args *args;
  pol_model *model;
  pol_result *result; /* NULL if the operand is a model */
  pol_analysis *analysis;
  double t;        /* of the state */
  const char *how; /* "initial state", "equilibrium", "steady rotation", "state of the run", "row of
                      the result" */
  double frame[3],
      centre[3];            /* of --frame: angular velocity, global axes, and a point of its axis */
  pol_static_report report; /* of an equilibrium */
} cli_analysis;

/* Options that these commands have in common. */
#define CLI_FRAME_OPTION                                                                           \
  {                                                                                                \
    "--frame", "BODY",                                                                             \
        "in axes that rotate as this body does now, or with an angular velocity X,Y,Z in rad/s "   \
        "about the origin, or about a point: X,Y,Z,PX,PY,PZ (default: axes of the ground)",        \
        CLI_TEXT, offsetof(cli_args, frame), NULL                                                  \
  }
#define CLI_ANALYSIS_OPTIONS                                                                       \
  {"--static",                                                                                     \
   NULL,                                                                                           \
   "about the equilibrium, found from the initial values; with --frame that in rotating axes",     \
   CLI_FLAG,                                                                                       \
   offsetof(cli_args, is_static),                                                                  \
   NULL},                                                                                          \
      {"--at",                                                                                     \
       "SECONDS",                                                                                  \
       "about the state at this time: of the run of a model, or the nearest row of a result; "     \
       "with "                                                                                     \
       "--static the time of drives and functions",                                                \
       CLI_TEXT,                                                                                   \
       offsetof(cli_args, at),                                                                     \
       NULL},                                                                                      \
      CLI_FRAME_OPTION,                                                                            \
      {"--param", "NAME=VALUE", "value of a parameter; may be repeated", CLI_OVERRIDE,             \
       0,         "parameters."},                                                                  \
  {                                                                                                \
    "--set", "KEY=VALUE", "replace any value of the model file; may be repeated", CLI_OVERRIDE, 0, \
        NULL                                                                                       \
  }

/* Reads the operand, a model or a result with its model, and goes to the state that the options
 * name, but not to an equilibrium if only_place.  Reports what is wrong.  Gives the exit status; in
 * every case free with cli_analysis_close. */
int cli_analysis_open(cli_analysis *a, const char *command, const cli_args *args, int only_place);
void cli_analysis_close(cli_analysis *a);

/* Reports a failure of the analysis and gives the exit status. */
int cli_analysis_fail(const cli_analysis *a, const pol_diagnostics *failure);

/* Makes the options those of an equilibrium in the axes of --frame. */
void cli_analysis_rotate(cli_analysis *a, pol_static_options *options);

/* A whole number above 0 of an option (NULL: *count stays); reports any other. */
int cli_analysis_count(const cli_analysis *a, const char *option, const char *text, int *count);

/* The rows of the table and of JSON that name the model and the state. */
void cli_analysis_print(const cli_analysis *a);
json_t *cli_analysis_json(const cli_analysis *a);
/* "stable, ..." of an equilibrium. */
void cli_stability_text(const pol_static_report *report, char *text, size_t size);
json_t *cli_stability_json(const pol_static_report *report);
/* One line if the motion is not steady in the axes of observation. */
int cli_unsteady_text(double unsteady, char *text, size_t size);

/* A result whose rows are states of the analysis. */
typedef struct cli_rows {
  pol_simulation *simulation; /* in the same coordinates */
  pol_record *record;
  pol_writer *writer;
  long count;
  pol_status status;
  int reason; /* errno */
} cli_rows;

/* Refuses names of result files that do not end in .h5 or .csv, or name an input. */
int cli_rows_check(const cli_analysis *a, const char *path);
/* Opens a result; `kind` is what it holds, for its settings: "mode" with its number and its
 * frequency in Hz (0: none), "static" over a load factor, "path" over the length of a path.  Errors
 * are kept in rows->status. */
void cli_rows_open(cli_rows *rows, const cli_analysis *a, const char *path, const char *kind,
                   int number, double frequency);
/* Writes a row with this state, at a time that is not that of the state. */
void cli_rows_write(cli_rows *rows, const pol_state *state, double t);
/* Closes the result, reports what went wrong and gives the exit status. */
int cli_rows_close(cli_rows *rows, const cli_analysis *a, const char *path, const char *status);

#endif
