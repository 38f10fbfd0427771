/* Options of a command as a table, and the parser that fills a cli_args from the command line. */
#ifndef POLHODE_CLI_ARGS_H
#define POLHODE_CLI_ARGS_H

#include <stddef.h>

#include <polhode/polhode.h>

typedef struct cli_list {
  int count;
  const char **items; /* strings of argv */
} cli_list;

/* What the command line says.  Strings belong to argv, except the overrides. */
typedef struct cli_args {
  const char *operand; /* the first; NULL if none was given */
  cli_list operands;   /* all */
  const char *out;
  const char *svg, *dot;
  const char *vtk;   /* folder */
  const char *model; /* file */
  const char *every; /* numbers, as they were written */
  const char *frames;
  const char *color;
  const char *title, *x, *size, *scale, *from, *to, *panels;
  cli_list labels;
  int log_x, log_y, equal, dark;
  /* of converge */
  const char *methods, *formulations, *indices, *steps, *rtols;
  const char *reference, *reference_step, *reference_method, *jobs, *plot;
  cli_list quantities;
  int work, at_end;
  int keys; /* of schema */
  /* of reproduce */
  int list;
  const char *data;
  int json;
  int quiet;
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

/* Names of values, of options and operands, say what may stand there; completion reads them.
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

/* The options that every command has beside its own, an own one of the same name goes first. */
extern const cli_option cli_common_options[];
extern const int cli_num_common_options;

/* Reads argv[0 .. argc-1], the words after the command.  Options may stand before or after the
 * operand, as "--out FILE" or "--out=FILE"; after "--" all words are operands.  operand is what the
 * command must be given, in words, "[...]" if it need not, with "..." in it if one or more, or NULL
 * if it takes nothing.  What can have one value only, an option or a key that is overridden, must
 * not be given two different ones. POL_BAD_ARGUMENT: errors (an empty list) says what is wrong.  In
 * every case, free with cli_args_free. */
pol_status cli_args_parse(cli_args *args, int argc, char **argv, const cli_option *options,
                          int num_options, const char *operand, pol_errors *errors);
void cli_args_free(cli_args *args);

#endif
