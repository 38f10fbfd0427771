/* The command line: what a command is, and what all commands share.
 *
 * One file a command; each defines one cli_command, and main.c lists them.  To add a command, write
 * its file and add its name here and to the table in main.c.
 */
#ifndef POLHODE_CLI_H
#define POLHODE_CLI_H

#include "cli/args.h"

/* Exit statuses.  A run that a signal stops ends with 128 + the signal's number, as in a shell. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_INVALID = 2, CLI_SIGNALLED = 128 };

typedef struct cli_command {
  const char *name;
  const char *summary;  /* one line, for the list of commands */
  const char *operand;  /* what must come after the name: "MODEL.json", or NULL for nothing */
  const char *text;     /* a few lines that explain it */
  const char *examples; /* each "  polhode ...", one a line */
  const cli_option *options;
  int num_options;
  int (*run)(const cli_args *args); /* gives the exit status */
} cli_command;

extern const cli_command cli_run;
extern const cli_command cli_check;
extern const cli_command cli_methods;
extern const cli_command cli_info;
extern const cli_command cli_export;
extern const cli_command cli_view;

/* --- input errors, model.c -------------------------------------------------------------------- */

/* Reports the errors, as text on stderr that names the source, or as JSON on stdout, and clears the
 * list.  Gives the exit status. */
int cli_refuse(const char *source, int json, pol_errors *errors);
/* The same for one error. */
int cli_refuse_one(const char *source, int json, const char *path, const char *value,
                   const char *rule);
/* Reads the model that the arguments name.  Reports its errors; *model is NULL then.  Gives the
 * exit status. */
int cli_read_model(const cli_args *args, pol_model **model);
/* Opens a result file.  Reports what is wrong with it; *result is NULL then.  Gives the exit
 * status.
 */
int cli_open_result(const char *path, int json, pol_result **result);

#endif
