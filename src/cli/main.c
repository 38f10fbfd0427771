/* The polhode command: the table of commands, the parser of their options, and the dispatch. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

const cli_option cli_common_options[] = {
    {"--quiet", NULL, "no table, no progress bar; notes, warnings and errors are still printed",
     CLI_FLAG, offsetof(cli_args, quiet), NULL},
    {"--color", "auto|always|never", "use colours; auto (default): only on a terminal", CLI_TEXT,
     offsetof(cli_args, color), NULL},
    {"--help", NULL, "print this text", CLI_FLAG, offsetof(cli_args, help), NULL},
};
const int cli_num_common_options = sizeof cli_common_options / sizeof cli_common_options[0];

/* --- names of values -------------------------------------------------------------------------- */

const char *cli_next_name(const char *names, char *word, size_t size)
{
  static const char separators[] = "| []";
  names += strspn(names, separators);
  size_t length = strcspn(names, separators);
  if (length == 0) return NULL;
  const char *after = names + length;
  snprintf(word, size, "%.*s", (int)length, names);
  char *more = strstr(word, "...");
  if (more != NULL) *more = '\0';
  length = strlen(word);
  if (more != NULL && length > 0 && word[length - 1] == ',') word[length - 1] = '\0';
  return after;
}

int cli_is_word(const char *name)
{
  return islower((unsigned char)name[0]);
}

/* --- options ---------------------------------------------------------------------------------- */

/* Short names, for all commands that have the option. */
static const char *const short_names[][2] = {
    {"-o", "--out"}, {"-q", "--quiet"}, {"-v", "--verbose"}, {"-h", "--help"}};
enum { NUM_SHORT_NAMES = sizeof short_names / sizeof short_names[0] };

const char *cli_short_name(const cli_option *option)
{
  for (int i = 0; i < NUM_SHORT_NAMES; i++)
    if (strcmp(option->name, short_names[i][1]) == 0) return short_names[i][0];
  return NULL;
}

/* Notes an error; an unfinished list is as good as none when memory is out. */
static pol_status refuse(pol_errors *errors, const char *path, const char *value, const char *rule,
                         const char *suggestion)
{
  pol_status status = pol_errors_add(errors, path, value, rule, suggestion);
  return status == POL_OK ? POL_BAD_ARGUMENT : status;
}

/* The option whose name, or whose short name, is the first `length` characters of word, or NULL. */
static const cli_option *find_in(const char *word, size_t length, const cli_option *options,
                                 int num_options)
{
  for (int i = 0; i < num_options; i++) {
    const char *letter = cli_short_name(&options[i]);
    if (strlen(options[i].name) == length && memcmp(options[i].name, word, length) == 0)
      return &options[i];
    if (letter != NULL && length == 2 && memcmp(letter, word, length) == 0) return &options[i];
  }
  return NULL;
}

/* The same with a rule that has one %s. */
static pol_status refuse_with(pol_errors *errors, const char *path, const char *value,
                              const char *format, const char *text)
{
  char *rule = cli_format(format, text);
  if (rule == NULL) return POL_NO_MEMORY;
  const pol_status status = refuse(errors, path, value, rule, "");
  free(rule);
  return status;
}

/* Whether two values mean the same: the same text, or the same number. */
static int same_value(const char *a, const char *b)
{
  char *rest_a, *rest_b;
  const double x = strtod(a, &rest_a), y = strtod(b, &rest_b);
  const int are_numbers = rest_a != a && *rest_a == '\0' && rest_b != b && *rest_b == '\0';
  return strcmp(a, b) == 0 || (are_numbers && x == y);
}

/* Adds "key=value", or value alone without a key.  A number that C can read but JSON cannot (".5",
 * "+1") is written as JSON has it.  A key that was given another value before is refused. */
static pol_status add_override(cli_args *args, const cli_option *option, const char *value,
                               pol_errors *errors)
{
  const char *given = value;
  char number[32], *rest;
  const double x = strtod(value, &rest);
  const int is_number = rest != value && *rest == '\0' && isfinite(x);
  if (option->key == NULL && strchr(value, '=') == NULL)
    return refuse(errors, option->name, value, "must have the form key.path=value", "");
  if (option->key != NULL && !is_number &&
      (strcmp(option->argument, "SECONDS") == 0 || strcmp(option->argument, "NUMBER") == 0))
    return refuse(errors, option->name, value,
                  strchr(value, ',') != NULL ? "must be a number, with a decimal point"
                                             : "must be a number",
                  "");
  const int is_parameter = option->key != NULL && strcmp(option->key, "parameters.") == 0;
  if (is_parameter && (strchr(value, '=') == NULL || value[0] == '='))
    return refuse(errors, option->name, value, "must have the form NAME=VALUE", "");
  if (option->key != NULL && is_number) {
    snprintf(number, sizeof number, "%.17g", x);
    value = number;
  }
  char **longer =
      realloc(args->overrides, ((size_t)args->num_overrides + 1) * sizeof *args->overrides);
  if (longer == NULL) return POL_NO_MEMORY;
  args->overrides = longer;
  char *text = option->key != NULL
                   ? cli_format("%s%s%s", option->key, is_parameter ? "" : "=", value)
                   : cli_format("%s", value);
  if (text == NULL) return POL_NO_MEMORY;
  args->overrides[args->num_overrides++] = text;
  const size_t length = strcspn(text, "=") + 1;
  for (int i = 0; i < args->num_overrides - 1; i++) {
    const char *before = args->overrides[i];
    if (strncmp(before, text, length) == 0 && !same_value(before + length, text + length))
      return refuse_with(errors, option->name, given, "contradicts %s before it", before);
  }
  return POL_OK;
}

static pol_status add_to_list(cli_list *list, const char *item)
{
  size_t count = (size_t)list->count + 1;
  const char **longer = realloc(list->items, count * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  list->items = longer;
  list->items[list->count++] = item;
  return POL_OK;
}

/* Refuses an option that the command does not have: reports which command has it, or a similar
 * name. */
static pol_status refuse_option(pol_errors *errors, const char *word, const cli_option *options,
                                int num_options)
{
  /* words of other programs for an option of this command */
  static const char *const others[][2] = {{"--restart", "--resume"}, {"--continue", "--resume"}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (strcmp(word, others[i][0]) == 0 &&
        find_in(others[i][1], strlen(others[i][1]), options, num_options) != NULL)
      return refuse(errors, word, "", "there is no such option", others[i][1]);
  const cli_command *command;
  for (int i = 0; (command = cli_command_at(i)); i++) {
    char rule[80];
    if (find_in(word, strlen(word), command->options, command->num_options) == NULL) continue;
    snprintf(rule, sizeof rule, "is no option of this command, but of polhode %s", command->name);
    return refuse(errors, word, "", rule, "");
  }
  pol_near near = pol_near_start(word);
  for (int i = 0; i < num_options; i++) pol_near_try(&near, options[i].name);
  for (int i = 0; i < cli_num_common_options; i++) pol_near_try(&near, cli_common_options[i].name);
  return refuse(errors, word, "", "there is no such option", near.best);
}

/* Takes the option at argv[*at], with its value in the same or the next word. */
static pol_status parse_option(cli_args *args, int argc, char **argv, int *at,
                               const cli_option *options, int num_options, pol_errors *errors)
{
  char *word = argv[*at];
  size_t length = strcspn(word, "=");
  const cli_option *own = find_in(word, length, options, num_options);
  const cli_option *option =
      own != NULL ? own : find_in(word, length, cli_common_options, cli_num_common_options);
  const char *value = word[length] == '=' ? word + length + 1 : NULL;
  if (option == NULL) {
    word[length] = '\0'; /* cuts off its value, if any */
    return refuse_option(errors, word, options, num_options);
  }
  if (option->kind == CLI_FLAG && value != NULL)
    return refuse(errors, option->name, value, "takes no value", "");
  if (option->kind != CLI_FLAG && value == NULL) {
    /* A forgotten value must not swallow the next option; "--out=--odd" can still be said. */
    if (*at + 1 == argc || strncmp(argv[*at + 1], "--", 2) == 0)
      return refuse(errors, option->name, "", "needs a value", "");
    value = argv[++*at];
  }
  void *target = (char *)args + option->target;
  switch (option->kind) {
  case CLI_FLAG:
    *(int *)target = 1;
    return POL_OK;
  case CLI_TEXT: {
    const char *before = *(const char **)target;
    if (before != NULL && strcmp(before, value) != 0)
      return refuse_with(errors, option->name, value, "contradicts %s before it", before);
    *(const char **)target = value;
    /* where the option allows only words, the value must be one of them */
    char name[32];
    for (const char *next = option->argument; (next = cli_next_name(next, name, sizeof name));)
      if (!cli_is_word(name) || strcmp(name, value) == 0) return POL_OK;
    return refuse_with(errors, option->name, value, "must be one of: %s", option->argument);
  }
  case CLI_LIST:
    return add_to_list(target, value);
  case CLI_OVERRIDE:
    return add_override(args, option, value, errors);
  }
  return POL_OK;
}

pol_status cli_args_parse(cli_args *args, int argc, char **argv, const cli_option *options,
                          int num_options, const char *operand, pol_errors *errors)
{
  int only_operands = 0;
  *args = (cli_args){0};
  for (int i = 0; i < argc; i++) {
    char *word = argv[i];
    if (!only_operands && strcmp(word, "--") == 0) {
      only_operands = 1;
    } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
      pol_status status = parse_option(args, argc, argv, &i, options, num_options, errors);
      if (status != POL_OK) return status;
    } else {
      const int many = operand != NULL && strstr(operand, "...") != NULL;
      if (operand == NULL || (args->operand != NULL && !many))
        return refuse(errors, word, "", "is one argument too many", "");
      if (word[0] == '\0')
        return refuse(errors, operand, "", many ? "one is empty" : "the file name is empty", "");
      if (args->operand == NULL) args->operand = word;
      const pol_status status = add_to_list(&args->operands, word);
      if (status != POL_OK) return status;
    }
  }
  if (operand != NULL && operand[0] != '[' && args->operand == NULL && !args->help)
    return refuse(errors, operand, "", "must be given", "");
  return POL_OK;
}

void cli_args_free(cli_args *args)
{
  for (int i = 0; i < args->num_overrides; i++) free(args->overrides[i]);
  free(args->overrides);
  free(args->operands.items);
  free(args->labels.items);
  free(args->quantities.items);
  *args = (cli_args){0};
}

/* --- the table of commands -------------------------------------------------------------------- */

static const cli_command *const commands[] = {
    &cli_run,        //
    &cli_serve,      //
    &cli_plot,       //
    &cli_view,       //
    &cli_static,     //
    &cli_modes,      //
    &cli_linearize,  //
    &cli_converge,   //
    &cli_sweep,      //
    &cli_reproduce,  //
    &cli_check,      //
    &cli_methods,    //
    &cli_schema,     //
    &cli_info,       //
    &cli_export,     //
    &cli_import,     //
    &cli_fmu,        //
    &cli_mesh,       //
    &cli_help,       //
    &cli_completion, //
};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

const cli_command *cli_command_at(int index)
{
  return index < NUM_COMMANDS ? commands[index] : NULL;
}

const cli_command *cli_command_find(const char *name, int json)
{
  for (int i = 0; i < NUM_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  /* there is none; a model file in its place was meant to be run */
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
  return NULL;
}

const cli_option *cli_command_option(const cli_command *command, int index)
{
  if (index < command->num_options) return &command->options[index];
  index -= command->num_options;
  for (int i = 0; i < cli_num_common_options; i++)
    if (find_in(cli_common_options[i].name, strlen(cli_common_options[i].name), command->options,
                command->num_options) == NULL &&
        index-- == 0)
      return &cli_common_options[i];
  return NULL;
}

/* --- main ------------------------------------------------------------------------------------- */

/* The command that the arguments name; NULL if there is nothing to run, with the exit status in
 * *result.  --json and the choice of colour apply from the first message, before the options of the
 * command are read. */
static const cli_command *choose_command(int argc, char **argv, int *json, int *result)
{
  static const char color[] = "--color";
  const size_t length = sizeof color - 1;
  *json = 0;
  *result = CLI_INVALID;
  for (int i = 1; i < argc; i++) {
    *json |= strcmp(argv[i], "--json") == 0;
    if (strncmp(argv[i], color, length) != 0) continue;
    if (argv[i][length] == '=') cli_color_choose(argv[i] + length + 1);
    if (argv[i][length] == '\0' && i + 1 < argc) cli_color_choose(argv[i + 1]);
  }
  if (argc < 2) {
    cli_print_overview(stderr);
    return NULL;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return &cli_help;
  if (strcmp(name, "--version") != 0 && strcmp(name, "-V") != 0)
    return cli_command_find(name, *json);
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], "--json") != 0) {
      *result = cli_refuse_one("polhode", *json, argv[i], "", "is one argument too many");
      return NULL;
    }
  const int printed = *json ? cli_json_print(json_pack("{s:s}", "version", pol_version())) == 0
                            : printf("polhode %s\n", pol_version()) >= 0;
  *result = printed ? CLI_DONE : CLI_FAILED;
  return NULL;
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

  int json, result;
  const cli_command *command = choose_command(argc, argv, &json, &result);
  if (command != NULL) {
    cli_args args;
    pol_errors errors = {0};
    const pol_status status = cli_args_parse(&args, argc - 2, argv + 2, command->options,
                                             command->num_options, command->operand, &errors);
    if (status == POL_BAD_ARGUMENT) {
      char source[64];
      snprintf(source, sizeof source, "polhode %s", command->name);
      result = cli_refuse(source, json, &errors);
      if (!json) fprintf(stderr, "see polhode help %s\n", command->name);
    } else if (status != POL_OK) {
      cli_complain("polhode", "%s", pol_status_text(status));
      result = CLI_FAILED;
    } else if (args.help) {
      result = CLI_DONE;
      cli_print_help(command);
    } else {
      result = command->run(&args);
    }
    cli_args_free(&args);
  }

  /* A result that could not be printed is no result. */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    cli_complain("polhode", "standard output cannot be written");
    if (result == CLI_DONE) result = CLI_FAILED;
  }
  return result;
}
