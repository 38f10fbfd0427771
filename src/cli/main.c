/* The polhode command: finds the command in a table and runs it. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/signals.h"
#include "cli/terminal.h"

/* --- the table of commands -------------------------------------------------------------------- */

static const cli_command *const commands[] = {
    &cli_run,        //
    &cli_plot,       //
    &cli_view,       //
    &cli_converge,   //
    &cli_reproduce,  //
    &cli_check,      //
    &cli_methods,    //
    &cli_schema,     //
    &cli_info,       //
    &cli_export,     //
    &cli_help,       //
    &cli_completion, //
};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

const cli_command *cli_command_at(int index)
{
  return index < NUM_COMMANDS ? commands[index] : NULL;
}

/* Refuses a command that does not exist.  A model file in its place wants to be run. */
static void refuse_command(const char *name, int json)
{
  pol_errors errors = {0};
  pol_near near = pol_near_start(name);
  for (int i = 0; i < NUM_COMMANDS; i++) pol_near_try(&near, commands[i]->name);
  pol_near_try(&near, "--help");
  pol_near_try(&near, "--version");
  char run[1024];
  const size_t length = strlen(name);
  const int is_model = length > 5 && strcmp(name + length - 5, ".json") == 0;
  const char *rule = name[0] == '-' ? "is no option of polhode itself; options come after a command"
                                    : "there is no such command";
  snprintf(run, sizeof run, "polhode run %s", name);
  if (pol_errors_add(&errors, name, "", rule, is_model ? run : near.best) == POL_OK)
    cli_refuse("polhode", json, &errors);
  if (!json) fprintf(stderr, "polhode help lists the commands\n");
}

const cli_command *cli_command_find(const char *name, int json)
{
  for (int i = 0; i < NUM_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  refuse_command(name, json);
  return NULL;
}

static int has_own(const cli_command *command, const char *name)
{
  for (int i = 0; i < command->num_options; i++)
    if (strcmp(command->options[i].name, name) == 0) return 1;
  return 0;
}

const cli_option *cli_command_option(const cli_command *command, int index)
{
  if (index < command->num_options) return &command->options[index];
  index -= command->num_options;
  for (int i = 0; i < cli_num_common_options; i++)
    if (!has_own(command, cli_common_options[i].name) && index-- == 0)
      return &cli_common_options[i];
  return NULL;
}

/* --- dispatch --------------------------------------------------------------------------------- */

static int wants_json(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--json") == 0) return 1;
  return 0;
}

/* The choice of colour holds from the first message, before the other options are read. */
static void choose_color(int argc, char **argv)
{
  static const char option[] = "--color";
  const size_t length = sizeof option - 1;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], option, length) != 0) continue;
    if (argv[i][length] == '=') cli_color_choose(argv[i] + length + 1);
    if (argv[i][length] == '\0' && i + 1 < argc) cli_color_choose(argv[i + 1]);
  }
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
    cli_complain("polhode", "%s", pol_status_text(status));
    result = CLI_FAILED;
  } else if (args.help) {
    cli_print_help(command);
  } else {
    result = command->run(&args);
  }
  cli_args_free(&args);
  return result;
}

/* argv: the words after --version. */
static int print_version(int argc, char **argv, int json)
{
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--json") != 0)
      return cli_refuse_one("polhode", json, argv[i], "", "is one argument too many");
  if (json)
    return cli_json_print(json_pack("{s:s}", "version", pol_version())) == 0 ? CLI_DONE
                                                                             : CLI_FAILED;
  printf("polhode %s\n", pol_version());
  return CLI_DONE;
}

static int dispatch(int argc, char **argv)
{
  const char *name = argc > 1 ? argv[1] : "";
  int json = wants_json(argc, argv);
  choose_color(argc, argv);
  if (argc < 2) {
    cli_print_overview(stderr);
    return CLI_INVALID;
  }
  if (strcmp(name, "--version") == 0) return print_version(argc - 2, argv + 2, json);
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
    return run_command(&cli_help, argc - 2, argv + 2, json);
  const cli_command *command = cli_command_find(name, json);
  if (command == NULL) return CLI_INVALID;
  return run_command(command, argc - 2, argv + 2, json);
}

/* Of OpenBLAS; absent with another LAPACK. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
/* Of HDF5, whose header belongs to the room io. */
extern int H5dont_atexit(void);

int main(int argc, char **argv)
{
  /* matrices here are small: more threads would only wait for each other */
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  /* all files are closed by then, and after a damaged one its own clean-up complains */
  H5dont_atexit();
  cli_ignore_file_limit();
  int result = dispatch(argc, argv);
  /* A result that could not be printed is no result. */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    cli_complain("polhode", "standard output cannot be written");
    if (result == CLI_DONE) result = CLI_FAILED;
  }
  return result;
}
