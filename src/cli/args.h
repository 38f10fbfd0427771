/* Options of a command as a table, and the parser that fills a cli_args from the command line. */
#ifndef POLHODE_CLI_ARGS_H
#define POLHODE_CLI_ARGS_H

#include <stddef.h>

#include <polhode/polhode.h>

/* What the command line says.  Strings belong to argv, except the overrides. */
typedef struct cli_args {
  const char *operand; /* NULL if none was given */
  const char *out;
  const char *svg;
  const char *vtk;   /* folder */
  const char *model; /* file */
  const char *every; /* numbers, as they were written */
  const char *frames;
  int json;
  int quiet;
  int help;
  int num_overrides; /* "key.path=value" for pol_model_read_file */
  char **overrides;
} cli_args;

typedef enum cli_option_kind {
  CLI_FLAG,    /* sets the int at offset `target` of cli_args */
  CLI_TEXT,    /* sets the const char * at `target` */
  CLI_OVERRIDE /* adds "key=VALUE" to the overrides, or VALUE alone without a key */
} cli_option_kind;

typedef struct cli_option {
  const char *name;     /* with its dashes: "--out" */
  const char *argument; /* how help names its value: "FILE.csv"; NULL for a flag */
  const char *help;
  cli_option_kind kind;
  size_t target;   /* CLI_FLAG, CLI_TEXT */
  const char *key; /* CLI_OVERRIDE */
} cli_option;

/* Reads argv[0 .. argc-1], the words after the command.  Options may stand before or after the
 * operand, as "--out FILE" or "--out=FILE"; after "--" all words are operands.  operand is what the
 * command must be given, in words, or NULL if it takes nothing.  POL_BAD_ARGUMENT: errors (an empty
 * list) says what is wrong.  In every case, free with cli_args_free. */
pol_status cli_args_parse(cli_args *args, int argc, char **argv, const cli_option *options,
                          int num_options, const char *operand, pol_errors *errors);
void cli_args_free(cli_args *args);

#endif
