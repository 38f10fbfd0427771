/* Commands that describe polhode itself: help, the tables of methods, the schema of model files. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
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
  const char *letter = cli_short_name(option);
  snprintf(text, size, "%s%s%s%s%s", letter ? letter : "", letter ? ", " : "", option->name,
           option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
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

static json_t *command_json(const cli_command *command)
{
  json_t *options = json_array();
  const cli_option *option;
  for (int i = 0; (option = cli_command_option(command, i)); i++) {
    json_t *item = json_pack("{s:s, s:s?, s:s}", "name", option->name, "argument", option->argument,
                             "help", option->help);
    cli_json_append(&options, item);
  }
  return json_pack("{s:s, s:s, s:s?, s:s, s:o, s:o}", //
                   "name", command->name,             //
                   "summary", command->summary,       //
                   "operand", command->operand,       //
                   "text", command->text,             //
                   "options", options,                //
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

static const cli_option help_options[] = {
    CLI_JSON_OPTION,
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
    .options = help_options,
    .num_options = sizeof help_options / sizeof help_options[0],
    .run = help,
};

/* A value of a setting and what it means. */
typedef struct choice {
  const char *value;
  const char *meaning;
} choice;

static const choice indices[] = {
    {"3", "constraints on positions"},
    {"2", "constraints on velocities; positions drift slowly"},
    {"stabilized-2", "both, with a second multiplier (Gear/Gupta/Leimkuhler)"},
};
static const choice sigmas[] = {
    {"0", "geom1 itself"},
    {"NUMBER", "weight of the velocity in the position update of geom1"},
    {"optimal",
     "gamma / (3 beta): no bracket term in the local error (Holzinger/Arnold/Gerstmayr)"},
};
static const choice thetas[] = {
    {"NUMBER", "vi-b, 0 to 1: where in the step forces are evaluated, 1 by default; vi-a: 1/2"},
};
static const choice varthetas[] = {
    {"NUMBER", "vi-b, 0 to below 1: weight of the reaction at the end, 1/2 by default"},
};
static const choice guesses[] = {
    {"advanced", "Newton's iteration starts from q + h v"},
    {"simple", "it starts from q"},
};
static const choice starts[] = {
    {"default", "the one with second order in every component"},
    {"classical", "a_0 = v'(0)"},
    {"shifted", "a_0 shifted in time (Arnold/Cardona/Bruels 2015, Table 1)"},
    {"perturbed", "and v_0 perturbed by O(h^2) (Table 2)"},
};

/* A setting with the values it can have. */
static const struct {
  const char *key;
  const choice *choices;
  int count;
} settings[] = {
    {"index", indices, sizeof indices / sizeof indices[0]},
    {"sigma", sigmas, sizeof sigmas / sizeof sigmas[0]},
    {"theta", thetas, sizeof thetas / sizeof thetas[0]},
    {"vartheta", varthetas, sizeof varthetas / sizeof varthetas[0]},
    {"guess", guesses, sizeof guesses / sizeof guesses[0]},
    {"start", starts, sizeof starts / sizeof starts[0]},
};
enum { NUM_SETTINGS = sizeof settings / sizeof settings[0] };

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *named_json(const char *name, const char *title)
{
  return json_pack("{s:s, s:s}", "name", name, "title", title);
}

/* {"methods": [{...}], "formulations": [{"name", "title"}, ...], "index": [...], ...} */
static json_t *all_json(void)
{
  json_t *methods = json_array(), *formulations = json_array();
  int failed = 0;
  for (int i = 0; i < pol_method_count(); i++) {
    const pol_method *method = pol_method_at(i);
    failed |= json_array_append_new(methods, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", //
                                                       "name", method->name,             //
                                                       "title", method->title,           //
                                                       "order", method->order,           //
                                                       "conserves", method->conserves,   //
                                                       "source", method->source,         //
                                                       "settings", method->settings));
  }
  for (int i = 0; i < pol_formulation_count(); i++) {
    pol_formulation_kind kind = (pol_formulation_kind)i;
    failed |= json_array_append_new(
        formulations, named_json(pol_formulation_name(kind), pol_formulation_title(kind)));
  }
  json_t *object = json_pack("{s:o, s:o}", "methods", methods, "formulations", formulations);
  for (int i = 0; i < NUM_SETTINGS; i++) {
    json_t *list = json_array();
    for (int k = 0; k < settings[i].count; k++)
      failed |= json_array_append_new(
          list, named_json(settings[i].choices[k].value, settings[i].choices[k].meaning));
    failed |= json_object_set_new(object, settings[i].key, list);
  }
  if (failed == 0) return object;
  json_decref(object);
  return NULL;
}

/* --- table ------------------------------------------------------------------------------------ */

static int run_methods(const cli_args *args)
{
  if (args->json) return cli_json_print(all_json()) == 0 ? CLI_DONE : CLI_FAILED;
  if (!args->quiet) {
    enum { COLUMN = 20 };
    cli_print_heading(stdout, "methods");
    for (int i = 0; i < pol_method_count(); i++) {
      const pol_method *method = pol_method_at(i);
      const struct {
        const char *label, *text;
      } rows[] = {
          {"what", method->title},          {"order", method->order},
          {"conserves", method->conserves}, {"source", method->source},
          {"settings", method->settings},
      };
      printf("  ");
      cli_print_heading(stdout, method->name);
      for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++)
        cli_print_entry(stdout, 4, CLI_PLAIN, rows[j].label, 15, rows[j].text);
    }
    printf("\n");
    cli_print_heading(stdout, "formulations");
    for (int i = 0; i < pol_formulation_count(); i++) {
      pol_formulation_kind kind = (pol_formulation_kind)i;
      cli_print_entry(stdout, 2, CLI_BOLD, pol_formulation_name(kind), COLUMN,
                      pol_formulation_title(kind));
    }
    for (int i = 0; i < NUM_SETTINGS; i++) {
      printf("\n");
      cli_print_heading(stdout, settings[i].key);
      for (int k = 0; k < settings[i].count; k++)
        cli_print_entry(stdout, 2, CLI_BOLD, settings[i].choices[k].value, COLUMN,
                        settings[i].choices[k].meaning);
    }
  }
  return CLI_DONE;
}

static const cli_option methods_options[] = {
    CLI_JSON_OPTION,
};

const cli_command cli_methods = {
    .name = "methods",
    .summary = "list integrators, formulations and their settings",
    .operand = NULL,
    .text = "Lists the integrators (description, order, conserved quantities, source,\n"
            "settings), the formulations (choices of coordinates), and the values of settings\n"
            "such as \"index\", \"sigma\" and \"start\".",
    .examples = "  polhode methods\n"
                "  polhode methods --json",
    .options = methods_options,
    .num_options = sizeof methods_options / sizeof methods_options[0],
    .run = run_methods,
};

static int run_schema(const cli_args *args)
{
  char *text = NULL;
  const pol_status status = args->keys ? pol_model_reference(&text) : pol_model_schema(&text);
  if (status) fprintf(stderr, "polhode schema: out of memory\n");
  if (text && !args->quiet) printf("%s", text);
  free(text);
  return status ? CLI_FAILED : CLI_DONE;
}

static const cli_option schema_options[] = {
    {"--keys", NULL, "print tables of all keys in Markdown instead", CLI_FLAG,
     offsetof(cli_args, keys), NULL},
};

const cli_command cli_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of model files, for editors",
    .operand = NULL,
    .text = "Prints the JSON Schema of model files: all keys with their types, units and\n"
            "defaults. An editor that knows it completes keys, shows what they mean and\n"
            "marks errors. Save it next to a model that starts with\n"
            "\"$schema\": \"polhode-model.schema.json\".",
    .examples = "  polhode schema > polhode-model.schema.json\n"
                "  polhode schema --keys",
    .options = schema_options,
    .num_options = sizeof schema_options / sizeof schema_options[0],
    .run = run_schema,
};
