/* The polhode command: finds the command in a table and runs it; help and version. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "io/errors.h"

static const cli_command *const commands[] = {&cli_run,     &cli_view, &cli_check,
                                              &cli_methods, &cli_info, &cli_export};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

/* --- help ------------------------------------------------------------------------------------- */

static void print_overview(FILE *to)
{
  fprintf(to, "polhode %s: simulation of constrained multibody systems\n\n", pol_version());
  fprintf(to, "usage: polhode COMMAND [ARGUMENTS]\n\ncommands\n");
  for (int i = 0; i < NUM_COMMANDS; i++)
    fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fprintf(to, "  %-10s %s\n\n", "help", "explain a command");
  fprintf(to, "options\n  %-10s %s\n  %-10s %s\n\n", "--help", "print this text", "--version",
          "print the version");
  fprintf(to, "polhode help COMMAND tells more, with examples.\n");
}

static void print_help(const cli_command *command)
{
  printf("usage: polhode %s", command->name);
  if (command->operand != NULL) printf(" %s", command->operand);
  printf(" [OPTIONS]\n\n%s\n\noptions\n", command->text);
  for (int i = 0; i < command->num_options; i++) {
    const cli_option *option = &command->options[i];
    char form[64];
    snprintf(form, sizeof form, "%s %s", option->name,
             option->argument != NULL ? option->argument : "");
    printf("  %-18s %s\n", form, option->help);
  }
  printf("  %-18s %s\n\nexamples\n%s\n", "--help", "print this text", command->examples);
}

/* --- dispatch --------------------------------------------------------------------------------- */

static int wants_json(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--json") == 0) return 1;
  return 0;
}

/* The command of that name.  Reports if there is none and gives NULL. */
static const cli_command *find_command(const char *name, int json)
{
  for (int i = 0; i < NUM_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];

  pol_errors errors = {0};
  pol_near near = pol_near_start(name);
  for (int i = 0; i < NUM_COMMANDS; i++) pol_near_try(&near, commands[i]->name);
  pol_near_try(&near, "help");
  if (pol_errors_add(&errors, name, "", "there is no such command", near.best) == POL_OK)
    cli_refuse("polhode", json, &errors);
  return NULL;
}

static int refuse_extra(const char *word, int json)
{
  return cli_refuse_one("polhode", json, word, "", "is one argument too many");
}

static int help(int argc, char **argv)
{
  if (argc < 1) {
    print_overview(stdout);
    return CLI_DONE;
  }
  const cli_command *command = find_command(argv[0], 0);
  if (command == NULL) return CLI_INVALID;
  if (argc > 1) return refuse_extra(argv[1], 0);
  print_help(command);
  return CLI_DONE;
}

/* Parses the arguments of a command and runs it. */
static int run_command(const cli_command *command, int argc, char **argv, int json)
{
  cli_args args;
  pol_errors errors = {0};
  int result = CLI_DONE;
  pol_status status = cli_args_parse(&args, argc, argv, command->options, command->num_options,
                                     command->operand, &errors);
  if (status == POL_BAD_ARGUMENT) {
    char source[64];
    snprintf(source, sizeof source, "polhode %s", command->name);
    result = cli_refuse(source, json, &errors);
    if (!json) fprintf(stderr, "polhode help %s tells more\n", command->name);
  } else if (status != POL_OK) {
    fprintf(stderr, "polhode: %s\n", pol_status_text(status));
    result = CLI_FAILED;
  } else if (args.help) {
    print_help(command);
  } else {
    result = command->run(&args);
  }
  cli_args_free(&args);
  return result;
}

static int dispatch(int argc, char **argv)
{
  const char *name = argc > 1 ? argv[1] : "";
  int json = wants_json(argc, argv);
  if (argc < 2) {
    print_overview(stderr);
    return CLI_INVALID;
  }
  if (strcmp(name, "--version") == 0) {
    if (argc > 2) return refuse_extra(argv[2], json);
    printf("polhode %s\n", pol_version());
    return CLI_DONE;
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
    return help(argc - 2, argv + 2);
  const cli_command *command = find_command(name, json);
  if (command == NULL) return CLI_INVALID;
  return run_command(command, argc - 2, argv + 2, json);
}

/* Of OpenBLAS; absent with another LAPACK. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

int main(int argc, char **argv)
{
  /* matrices here are small: more threads would only wait for each other */
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  int result = dispatch(argc, argv);
  /* A result that could not be printed is no result. */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "polhode: standard output cannot be written\n");
    if (result == CLI_DONE) result = CLI_FAILED;
  }
  return result;
}
