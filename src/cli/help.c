/* polhode help: what the table of commands says, for people and as JSON. */
#include <jansson.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

const char cli_first_steps[] = "  polhode check models/examples/pendulum.json\n"
                               "  polhode run models/examples/pendulum.json --out pendulum.csv\n"
                               "  polhode help run";

/* --- text ------------------------------------------------------------------------------------- */

/* Each line as "  $ polhode ...", from which help2man knows that it is a command. */
static void print_examples(FILE *to, const char *examples)
{
  cli_print_heading(to, "Examples:");
  for (const char *line = examples + strspn(examples, " "); *line != '\0';
       line += strspn(line, " \n")) {
    const int length = (int)strcspn(line, "\n");
    fprintf(to, "  $ %.*s\n", length, line);
    line += length;
  }
}

void cli_print_overview(FILE *to)
{
  enum { COLUMN = 14 };
  fprintf(to,
          "Usage: polhode COMMAND [ARGUMENTS]\n\n"
          "Simulates constrained multibody systems from model files in JSON, with time\n"
          "integrators on Lie groups. Version %s.\n\n",
          pol_version());
  cli_print_heading(to, "Commands:");
  const cli_command *command;
  for (int i = 0; (command = cli_command_at(i)); i++)
    cli_print_entry(to, 2, CLI_BOLD, command->name, COLUMN, command->summary);
  fprintf(to, "\n");
  cli_print_heading(to, "Options:");
  cli_print_entry(to, 2, CLI_BOLD, "--help", COLUMN, "print this text, or that of a command");
  cli_print_entry(to, 2, CLI_BOLD, "--version", COLUMN, "print the version");
  fprintf(to, "\n");
  print_examples(to, cli_first_steps);
}

/* "--out FILE.csv" */
static void name_option(const cli_option *option, char *text, size_t size)
{
  snprintf(text, size, "%s%s%s", option->name, option->argument != NULL ? " " : "",
           option->argument != NULL ? option->argument : "");
}

void cli_print_help(const cli_command *command)
{
  const cli_option *option;
  char name[80];
  size_t column = 0;
  for (int i = 0; (option = cli_command_option(command, i)); i++) {
    name_option(option, name, sizeof name);
    if (strlen(name) > column) column = strlen(name);
  }
  printf("Usage: polhode %s%s%s [OPTIONS]\n\n%s\n\n", command->name,
         command->operand != NULL ? " " : "", command->operand != NULL ? command->operand : "",
         command->text);
  cli_print_heading(stdout, "Options:");
  for (int i = 0; (option = cli_command_option(command, i)); i++) {
    name_option(option, name, sizeof name);
    cli_print_entry(stdout, 2, CLI_BOLD, name, (int)column + 4, option->help);
  }
  printf("\n");
  print_examples(stdout, command->examples);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* The lines of the examples, without the blanks before them. */
static json_t *examples_json(const char *examples)
{
  json_t *list = json_array();
  while (*examples != '\0') {
    examples += strspn(examples, " \n");
    size_t length = strcspn(examples, "\n");
    cli_json_append(&list, json_stringn(examples, length));
    examples += length;
  }
  return list;
}

static json_t *options_json(const cli_command *command)
{
  json_t *list = json_array();
  const cli_option *option;
  for (int i = 0; (option = cli_command_option(command, i)); i++) {
    json_t *item = json_pack("{s:s, s:s?, s:s}", "name", option->name, "argument", option->argument,
                             "help", option->help);
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *command_json(const cli_command *command)
{
  return json_pack("{s:s, s:s, s:s?, s:s, s:o, s:o}", //
                   "name", command->name,             //
                   "summary", command->summary,       //
                   "operand", command->operand,       //
                   "text", command->text,             //
                   "options", options_json(command),  //
                   "examples", examples_json(command->examples));
}

static json_t *overview_json(void)
{
  json_t *list = json_array();
  const cli_command *command;
  for (int i = 0; (command = cli_command_at(i)); i++) cli_json_append(&list, command_json(command));
  return json_pack("{s:s, s:o, s:o}", "version", pol_version(), "commands", list, "examples",
                   examples_json(cli_first_steps));
}

/* --- the command ------------------------------------------------------------------------------ */

static int help(const cli_args *args)
{
  const cli_command *command = NULL;
  if (args->operand != NULL && !(command = cli_command_find(args->operand, args->json)))
    return CLI_INVALID;
  if (args->json)
    return cli_json_print(command != NULL ? command_json(command) : overview_json()) == 0
               ? CLI_DONE
               : CLI_FAILED;
  if (command != NULL)
    cli_print_help(command);
  else
    cli_print_overview(stdout);
  return CLI_DONE;
}

static const cli_option options[] = {
    {"--json", NULL, "print one JSON object instead of text", CLI_FLAG, offsetof(cli_args, json),
     NULL},
};

const cli_command cli_help = {
    .name = "help",
    .summary = "explain a command, with examples",
    .operand = "[COMMAND]",
    .text = "Lists the commands, or explains one of them: what it does, its options,\n"
            "examples. polhode COMMAND --help prints the same.",
    .examples = "  polhode help\n"
                "  polhode help run\n"
                "  polhode help --json",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = help,
};
