/* What the files of polhode sweep share. */
#ifndef POLHODE_CLI_SWEEP_H
#define POLHODE_CLI_SWEEP_H

#include <polhode/sweep.h>

#include "cli/cli.h"

/* How a study went, for the report. */
typedef struct cli_sweep_outcome {
  const char *out; /* the file */
  long runs;       /* of the study */
  long before;     /* of them finished by an earlier process */
  int processes;   /* that computed */
  double seconds;  /* of this process */
  int stopped;     /* by this signal; 0: not */
} cli_sweep_outcome;

/* Prints the table of the study, or a JSON object, from its file.  Gives the exit status. */
int cli_sweep_report(const cli_args *args, const cli_sweep_outcome *outcome);

/* What polhode info prints of the file of a study, args->operand.  Gives the exit status. */
int cli_sweep_info(const cli_args *args);

/* Refuses --plot, --response and --x that do not fit the study.  Gives the exit status. */
int cli_sweep_check_plot(const cli_args *args, const pol_sweep *sweep);
/* Draws a response over one or two values that vary, from the file.  Gives the exit status. */
int cli_sweep_plot(const cli_args *args, const char *path);

#endif
