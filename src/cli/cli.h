/* The command line: what a command is, and what all commands share.
 *
 * One file a command; each defines one cli_command, and main.c lists them.  To add a command, write
 * its file and add its name here and to the table in main.c.  Help and completion are
 * all made from that table.
 */
#ifndef POLHODE_CLI_H
#define POLHODE_CLI_H

#include <stdio.h>

#include <polhode/model.h>
#include <polhode/result.h>

#include "cli/args.h"

/* Exit statuses.  A run that a signal stops ends with 128 + the signal's number, as in a shell. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_INVALID = 2, CLI_SIGNALLED = 128 };

typedef struct cli_command {
  const char *name;
  const char *summary; /* one line, for the list of commands */
  const char *operand; /* what comes after the name: "MODEL.json", "RESULT...", see args.h; NULL for
                          nothing */
  const char *text;    /* a few lines that explain it, with blank lines between paragraphs */
  const char *examples; /* each "  polhode ...", one a line; they work from a clone of polhode */
  const cli_option *options;
  int num_options;
  int (*run)(const cli_args *args); /* gives the exit status */
} cli_command;

extern const cli_command cli_run;
extern const cli_command cli_plot;
extern const cli_command cli_converge;
extern const cli_command cli_reproduce;
extern const cli_command cli_check;
extern const cli_command cli_methods;
extern const cli_command cli_schema;
extern const cli_command cli_info;
extern const cli_command cli_export;
extern const cli_command cli_view;
extern const cli_command cli_help;
extern const cli_command cli_completion;

/* --- the table of commands, main.c ------------------------------------------------------------ */

/* The commands in their order; NULL after the last. */
const cli_command *cli_command_at(int index);
/* The command that has this name.  Reports if there is none and gives NULL. */
const cli_command *cli_command_find(const char *name, int json);
/* The options of a command with the common ones, in their order; NULL after the last. */
const cli_option *cli_command_option(const cli_command *command, int index);

/* --- help.c ----------------------------------------------------------------------------------- */

/* What polhode is and which commands it has. */
void cli_print_overview(FILE *to);
void cli_print_help(const cli_command *command);
/* Of the first steps, as the examples of a command. */
extern const char cli_first_steps[];

/* --- input errors, model.c -------------------------------------------------------------------- */

/* Reports the errors, as text on stderr that names the source, or as JSON on stdout, and clears the
 * list.  Gives the exit status. */
int cli_refuse(const char *source, int json, pol_errors *errors);
/* The same for one error. */
int cli_refuse_one(const char *source, int json, const char *path, const char *value,
                   const char *rule);
/* Reports that the file of an option could not be written, for a reason of errno (0: not known).
 * Gives the exit status: CLI_INVALID where the path is wrong, CLI_FAILED where the disk is full. */
int cli_cannot_write(const char *source, int json, const char *option, const char *path,
                     int reason);
/* The exit status of a simulation that could not start: CLI_INVALID if no solution of the model's
 * equations begins with its values, CLI_FAILED else. */
int cli_start_status(pol_status status);
/* Reads the model that the arguments name.  Reports its errors; *model is NULL then.  Gives the
 * exit status. */
int cli_read_model(const cli_args *args, pol_model **model);
/* Opens a result file.  Reports what is wrong with it; *result is NULL then.  Gives the exit
 * status.
 */
int cli_open_result(const char *path, int json, pol_result **result);
/* Reports what is wrong with a result file; the JSON object names the file as the path of the
 * error.  Gives the exit status. */
int cli_refuse_result(const char *path, int json, const char *rule);

/* --- files that are read and written, outputs.c ----------------------------------------------- */

/* Adds a file that the command reads to a list, whose items are owned; of a model also the meshes
 * that it refers to. */
pol_status cli_inputs_add(cli_list *inputs, const char *path);
pol_status cli_inputs_add_model(cli_list *inputs, const char *path, const pol_model *model);
void cli_inputs_free(cli_list *inputs);
/* The input that writing to out would overwrite (pol_output_overwrites); NULL if there is none. */
const char *cli_find_input(const cli_list *inputs, const char *out);
/* An input in this folder whose name may be written (is_written NULL: any name); NULL if there is
 * none. */
const char *cli_find_input_in(const cli_list *inputs, const char *folder,
                              int (*is_written)(const char *name));
/* Refuses an output that is one of the inputs; the second for a command whose operand is this model
 * (out may be NULL).  Give the exit status. */
int cli_check_output(const char *command, int json, const char *option, const char *out,
                     const cli_list *inputs);
int cli_check_model_output(const char *command, const cli_args *args, const char *option,
                           const char *out, const pol_model *model);

#endif
