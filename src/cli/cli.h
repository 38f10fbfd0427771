/* The command line: what a command is, and what all commands share.
 *
 * Each command is a cli_command, and main.c lists them.  To add one, write its file, and add its
 * name here and to the table in main.c, from which help and completion are made.
 */
#ifndef POLHODE_CLI_H
#define POLHODE_CLI_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include <polhode/fmu.h>
#include <polhode/model.h>
#include <polhode/polhode.h>
#include <polhode/result.h>

/* --- options and arguments, main.c ------------------------------------------------------------ */

typedef struct cli_list {
  int count;
  const char **items; /* strings of argv */
} cli_list;

/* The arguments of a command.  Strings belong to argv, except the overrides. */
typedef struct cli_args {
  const char *operand; /* the first; NULL if none was given */
  cli_list operands;   /* all */
  const char *out;
  const char *svg, *dot;
  const char *vtk;   /* folder */
  const char *model; /* file */
  const char *every; /* numbers, as they were written */
  const char *frames;
  const char *compare; /* another result */
  const char *color;
  const char *title, *x, *xy, *size, *scale, *from, *to, *panels;
  cli_list labels;
  int log_x, log_y, equal, dark, fft;
  const char *frequencies;
  /* of converge */
  const char *methods, *formulations, *indices, *steps, *rtols;
  const char *reference, *reference_step, *reference_method, *jobs, *plot;
  int restart;          /* of sweep, */
  const char *response; /* a name */
  cli_list quantities;
  int work, at_end;
  /* of static, modes and linearize; the lists are separated by commas */
  const char *at, *count, *mode, *frame, *inputs, *outputs, *coordinates, *sweep, *orders;
  int is_static, arc_length, buckling;
  const char *elements, *young, *poisson, *density; /* of mesh */
  int keys;                                         /* of schema */
  int floating;                                     /* of import, */
  const char *keyframe;
  const char *fmi; /* of fmu */
  /* of reproduce */
  int list;
  const char *data;
  int json;
  int quiet, verbose;
  int accuracy; /* of run, */
  const char *checkpoint, *checkpoint_every, *checkpoint_at, *resume;
  /* of serve */
  const char *port;
  int open, no_open;
  int watch;  /* of run */
  int served; /* a run for the page of serve: --json with what the table has */
  int help;
  int num_overrides; /* "key.path=value" for pol_model_read_file */
  char **overrides;
} cli_args;

typedef enum cli_option_kind {
  CLI_FLAG,    /* sets the int at offset `target` of cli_args */
  CLI_TEXT,    /* sets the const char * at `target` */
  CLI_LIST,    /* adds to the cli_list at `target`; may be given several times */
  CLI_OVERRIDE /* adds "key=VALUE" to the overrides, or VALUE alone without a key */
} cli_option_kind;

typedef struct cli_option {
  const char *name;     /* with its dashes: "--out" */
  const char *argument; /* how help names its value, see below; NULL for a flag */
  const char *help;
  cli_option_kind kind;
  size_t target;   /* CLI_FLAG, CLI_TEXT, CLI_LIST */
  const char *key; /* CLI_OVERRIDE */
} cli_option;

/* An option of most commands. */
#define CLI_JSON_OPTION                                                                            \
  {                                                                                                \
    "--json", NULL, "print one JSON object instead of text", CLI_FLAG, offsetof(cli_args, json),   \
        NULL                                                                                       \
  }

/* Options of commands that run a model, which replace values of its file. */
#define CLI_RUN_OPTIONS                                                                            \
  {"--method",   "METHOD", "integrator; polhode methods lists them",                               \
   CLI_OVERRIDE, 0,        "simulation.method"},                                                   \
      {"--formulation",                                                                            \
       "FORMULATION",                                                                              \
       "coordinates; polhode methods lists them",                                                  \
       CLI_OVERRIDE,                                                                               \
       0,                                                                                          \
       "simulation.formulation"},                                                                  \
      {"--step", "SECONDS", "step size", CLI_OVERRIDE, 0, "simulation.step"},                      \
      {"--rtol",     "NUMBER", "relative tolerance; selects variable step sizes",                  \
       CLI_OVERRIDE, 0,        "simulation.rtol"},                                                 \
      {"--atol",     "NUMBER", "absolute tolerance (m, rad); selects variable step sizes",         \
       CLI_OVERRIDE, 0,        "simulation.atol"},                                                 \
      {"--initial",                                                                                \
       "given|equilibrium",                                                                        \
       "start from the values of the model (default), or at rest in its static equilibrium",       \
       CLI_OVERRIDE,                                                                               \
       0,                                                                                          \
       "simulation.initial"},                                                                      \
      {"--end", "SECONDS", "end time; the run starts at 0", CLI_OVERRIDE, 0, "simulation.end"},    \
      {"--threads",  "N", "for steps of large mechanisms (default: number of cores)",              \
       CLI_OVERRIDE, 0,   "simulation.threads"},                                                   \
      {"--param", "NAME=VALUE", "value of a parameter; may be repeated", CLI_OVERRIDE,             \
       0,         "parameters."},                                                                  \
  {                                                                                                \
    "--set", "KEY=VALUE", "replace any value of the model file; may be repeated", CLI_OVERRIDE, 0, \
        NULL                                                                                       \
  }

/* Names of values, of options and operands, define what is allowed there; completion uses them.
 * Alternatives are separated by "|", operands by blanks; "..." after a name: more may follow;
 * brackets around it: it may be left out; ",..." after a name: a list with commas.
 *
 *     auto             a word in small letters: this word; a CLI_TEXT option takes no other then
 *     FILE.csv         whatever has a dot: a file whose name ends like this
 *     FILE             any file
 *     RESULT           a result file
 *     METHOD, FORMULATION, COMMAND, ITEM    one of those that there are
 *     SECONDS          others: cannot be guessed
 *
 * Copies the name at `names` into word, without "..." and brackets, and gives what comes after it;
 * NULL after the last. */
const char *cli_next_name(const char *names, char *word, size_t size);
/* Whether the name stands for itself. */
int cli_is_word(const char *name);

/* "-o" for an option such as "--out" that has a short name; NULL for others. */
const char *cli_short_name(const cli_option *option);

/* The options that every command has beside its own, an own one of the same name goes first. */
extern const cli_option cli_common_options[];
extern const int cli_num_common_options;

/* Reads argv[0 .. argc-1], the words after the command.  Options may stand before or after the
 * operand, as "--out FILE" or "--out=FILE"; after "--" all words are operands.  operand is what the
 * command must be given, in words, "[...]" if it need not, with "..." in it if one or more, or NULL
 * if it takes nothing.  What can have one value only, an option or a key that is overridden, must
 * not be given two different ones. POL_BAD_ARGUMENT: errors (an empty list) has what is wrong.  In
 * every case, free with cli_args_free. */
pol_status cli_args_parse(cli_args *args, int argc, char **argv, const cli_option *options,
                          int num_options, const char *operand, pol_errors *errors);
void cli_args_free(cli_args *args);

/* --- commands --------------------------------------------------------------------------------- */

/* Exit statuses.  A run that a signal stops ends with 128 + the signal's number, as in a shell. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_INVALID = 2, CLI_SIGNALLED = 128 };

typedef struct cli_command {
  const char *name;
  const char *summary;  /* one line, for the list of commands */
  const char *operand;  /* what comes after the name: "MODEL.json", "RESULT..."; NULL for
                           nothing */
  const char *text;     /* a few lines that explain it, with blank lines between paragraphs */
  const char *examples; /* each "  polhode ...", one per line; they work from a clone of polhode */
  const cli_option *options;
  int num_options;
  int (*run)(const cli_args *args); /* returns the exit status */
} cli_command;

extern const cli_command cli_run;
extern const cli_command cli_serve;
extern const cli_command cli_plot;
extern const cli_command cli_converge;
extern const cli_command cli_sweep;
extern const cli_command cli_reproduce;
extern const cli_command cli_static;
extern const cli_command cli_modes;
extern const cli_command cli_linearize;
extern const cli_command cli_check;
extern const cli_command cli_methods;
extern const cli_command cli_schema;
extern const cli_command cli_info;
extern const cli_command cli_export;
extern const cli_command cli_import;
extern const cli_command cli_fmu;
extern const cli_command cli_view;
extern const cli_command cli_mesh;
extern const cli_command cli_help;
extern const cli_command cli_completion;

/* --- the table of commands, main.c ------------------------------------------------------------ */

/* The commands in their order; NULL after the last. */
const cli_command *cli_command_at(int index);
/* The command that has this name.  Reports if there is none and gives NULL. */
const cli_command *cli_command_find(const char *name, int json);
/* The options of a command with the common ones, in their order; NULL after the last. */
const cli_option *cli_command_option(const cli_command *command, int index);

/* --- run.c ------------------------------------------------------------------------------------ */

/* What polhode run does with a model that has been read, without checkpoints.  Gives the exit
 * status. */
int cli_run_model(const cli_args *args, const pol_model *model);

/* --- run --watch, serve.c --------------------------------------------------------------------- */

/* Starts a process that serves a page of the run that follows, with its result args->out, and
 * prints the address.  Progress, and at the end the report (as of --json, a reference that is taken
 * over; NULL: none), go to the page.  cli_follow_end waits until open pages have the result.  Gives
 * the exit status. */
int cli_follow_begin(const cli_args *args, const pol_model *model);
void cli_follow_end(json_t *report);

/* --- reference.c ------------------------------------------------------------------------------ */

/* What polhode is and which commands it has. */
void cli_print_overview(FILE *to);
void cli_print_help(const cli_command *command);
/* Of the first steps, as the examples of a command. */
extern const char cli_first_steps[];

/* --- input errors, inputs.c ------------------------------------------------------------------- */

/* Reports the errors, as text on stderr that names the source and, if `json`, as JSON on stdout
 * too, and clears the list.  Gives the exit status. */
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
/* Whether the text is a whole number above 0, which goes to *count. */
int cli_read_count(const char *text, long *count);
/* Whether a file name has this ending, such as ".csv", after at least one character. */
int cli_ends_in(const char *path, const char *ending);
/* Reads the model that the arguments name.  Reports its errors; *model is NULL then.  Gives the
 * exit status. */
int cli_read_model(const cli_args *args, pol_model **model);
/* Compares the controllers of the model with their FMUs, of which nothing is executed.  Reports
 * errors; gives the exit status. */
int cli_check_controllers(const cli_args *args, const pol_model *model);
/* Opens a result file.  Reports what is wrong with it; *result is NULL then.  Gives the exit
 * status.
 */
int cli_open_result(const char *path, int json, pol_result **result);
/* Reports what is wrong with a result file; the JSON object names the file as the path of the
 * error.  Gives the exit status. */
int cli_refuse_result(const char *path, int json, const char *rule);

/* --- files that are read and written, inputs.c ------------------------------------------------ */

/* Adds a file that the command reads to a list, whose items are owned; of a model also the files
 * that it includes and the meshes that it refers to. */
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

/* --- quantities of results, inputs.c ---------------------------------------------------------- */

/* Whether the word means the channel: "top.position.x" itself, "top.position" or "top" as its start
 * up to a dot, or a pattern with * (any characters) and ? (one character), "*.position.z", of the
 * whole name or of its start up to a dot.  "*." stands for objects: "*.position" does not mean
 * residual.position. */
int cli_quantity_matches(const char *word, const char *channel);

/* Whether the word means any channel of the result. */
int cli_quantity_exists(const pol_result *result, const char *word);

/* Adds the error (path and value as in pol_error) that the results have no such quantity, with a
 * near name. */
pol_status cli_quantity_refuse(pol_errors *errors, const char *path, const char *value,
                               const char *word, pol_result *const *results, int num_results);

/* Prints on stderr what a result has, components in one word: "top.position.{x,y,z}". */
void cli_quantity_print_all(const char *path, const pol_result *result);
/* The names of all channels as a list. */
json_t *cli_quantity_json_all(const pol_result *result);

#endif
