/* polhode completion: scripts that complete commands, options and their values in a shell, made
 * from the table of commands.  What a value can be follows from its name in help (cli.h).
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "papers/reproduce.h"

/* --- what a value can be ---------------------------------------------------------------------- */

typedef enum value_kind { UNKNOWN, WORDS, PATHS, FILES } value_kind;

/* Files of these endings hold results. */
static const char result_endings[] = "csv h5 hdf5";

static value_kind kind_of_name(const char *name)
{
  if (cli_is_word(name) || strcmp(name, "METHOD") == 0 || strcmp(name, "FORMULATION") == 0 ||
      strcmp(name, "COMMAND") == 0 || strcmp(name, "ITEM") == 0)
    return WORDS;
  if (strcmp(name, "KEY=VALUE") == 0) return PATHS;
  if (strchr(name, '.') != NULL || strcmp(name, "FILE") == 0 || strcmp(name, "RESULT") == 0)
    return FILES;
  return UNKNOWN;
}

/* The kind of the first of the names that has one. */
static value_kind kind_of(const char *names)
{
  char name[64];
  value_kind kind = UNKNOWN;
  while (names != NULL && kind == UNKNOWN && (names = cli_next_name(names, name, sizeof name)))
    kind = kind_of_name(name);
  return kind;
}

/* The paths to all values of a model file that are not in lists, a blank before each. */
static void print_paths(const json_t *top, const json_t *object, const char *prefix)
{
  const char *key;
  json_t *value;
  json_object_foreach(json_object_get(object, "properties"), key, value)
  {
    const char *kind = json_string_value(json_object_get(value, "$ref"));
    const char *items = json_string_value(json_object_get(json_object_get(value, "items"), "$ref"));
    char path[128];
    snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", key);
    if (kind)
      print_paths(top, json_object_get(json_object_get(top, "definitions"), strrchr(kind, '/') + 1),
                  path);
    else if (!items && strcmp(key, "comment") != 0 && strcmp(key, "$schema") != 0)
      printf(" %s=", path);
  }
}

/* All words that the names stand for, a blank before each. */
static void print_words(const char *names)
{
  char name[64];
  while ((names = cli_next_name(names, name, sizeof name))) {
    const cli_command *command;
    const paper_item *item;
    const paper_publication *paper;
    if (cli_is_word(name)) printf(" %s", name);
    if (strcmp(name, "METHOD") == 0)
      for (int i = 0; i < pol_method_count(); i++) printf(" %s", pol_method_at(i)->name);
    if (strcmp(name, "FORMULATION") == 0)
      for (int i = 0; i < pol_formulation_count(); i++)
        printf(" %s", pol_formulation_name((pol_formulation_kind)i));
    if (strcmp(name, "COMMAND") == 0)
      for (int i = 0; (command = cli_command_at(i)); i++) printf(" %s", command->name);
    if (strcmp(name, "KEY=VALUE") == 0) {
      char *text = NULL;
      pol_model_schema(&text);
      json_t *schema = text ? json_loads(text, 0, NULL) : NULL;
      print_paths(schema, schema, "");
      json_decref(schema);
      free(text);
    }
    if (strcmp(name, "ITEM") == 0) {
      for (int i = 0; (paper = paper_at(i)); i++) printf(" %s", paper->id);
      for (int i = 0; (item = paper_item_at(i, NULL)); i++) printf(" %s", item->id);
    }
  }
}

/* All endings of files that the names stand for, a blank before each; none: any file. */
static void print_endings(const char *names)
{
  char name[64];
  while ((names = cli_next_name(names, name, sizeof name))) {
    const char *dot = strrchr(name, '.');
    if (dot != NULL) printf(" %s", dot + 1);
    if (strcmp(name, "RESULT") == 0) printf(" %s", result_endings);
  }
}

/* A call of the script's function that completes paths or files. */
static void print_call(const char *names)
{
  const int paths = kind_of(names) == PATHS;
  printf(paths ? "_polhode_paths" : "_polhode_files");
  if (paths)
    print_words(names);
  else
    print_endings(names);
}

/* --- bash ------------------------------------------------------------------------------------- */

static const char bash_start[] =
    "# bash completion of polhode, made by: polhode completion bash\n"
    "\n"
    "# Each takes words and leaves those that begin with $cur in COMPREPLY.\n"
    "_polhode_words()\n"
    "{\n"
    "  mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "# The same for words after which more follows.\n"
    "_polhode_paths()\n"
    "{\n"
    "  compopt -o nospace 2>/dev/null\n"
    "  _polhode_words \"$@\"\n"
    "}\n"
    "\n"
    "# Folders, and files with one of these endings, or all files.\n"
    "_polhode_files()\n"
    "{\n"
    "  local ending\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  mapfile -t COMPREPLY < <(\n"
    "    compgen -d -- \"$cur\"\n"
    "    (($# > 0)) || compgen -f -- \"$cur\"\n"
    "    for ending; do compgen -f -X \"!*.$ending\" -- \"$cur\"; done | sort -u\n"
    "  )\n"
    "}\n"
    "\n"
    "_polhode()\n"
    "{\n"
    "  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "  COMPREPLY=()\n";

/* bash takes "--out=x" for three words. */
static const char bash_middle[] = "  if [[ $cur == = ]]; then\n"
                                  "    cur=\n"
                                  "  elif [[ $option == = ]]; then\n"
                                  "    option=${COMP_WORDS[COMP_CWORD - 2]}\n"
                                  "  fi\n"
                                  "\n"
                                  "  # the value of an option\n"
                                  "  case \"${COMP_WORDS[1]} $option\" in\n";

static void print_bash_action(const char *names)
{
  switch (kind_of(names)) {
  case WORDS:
    printf("_polhode_words");
    print_words(names);
    return;
  case PATHS:
  case FILES:
    print_call(names);
    return;
  case UNKNOWN:
    printf(":");
  }
}

static void print_bash_options(const cli_command *command)
{
  const cli_option *option;
  printf("_polhode_words");
  for (int i = 0; (option = cli_command_option(command, i)); i++) printf(" %s", option->name);
}

static void print_bash(void)
{
  const cli_command *command;
  const cli_option *option;
  printf("%s\n  if ((COMP_CWORD == 1)); then\n    _polhode_words", bash_start);
  print_words("COMMAND");
  printf(" --help --version\n    return\n  fi\n%s", bash_middle);
  for (int i = 0; (command = cli_command_at(i)); i++)
    for (int k = 0; (option = cli_command_option(command, k)); k++) {
      if (option->argument == NULL) continue;
      const char *letter = cli_short_name(option);
      printf("    \"%s %s\"", command->name, option->name);
      if (letter != NULL) printf(" | \"%s %s\"", command->name, letter);
      printf(")\n      ");
      print_bash_action(option->argument);
      printf("\n      return\n      ;;\n");
    }
  printf("  esac\n\n  # options, and what the command is given\n"
         "  case \"${COMP_WORDS[1]} $cur\" in\n");
  for (int i = 0; (command = cli_command_at(i)); i++) {
    if (command->operand != NULL) {
      printf("    \"%s -\"*)\n      ", command->name);
      print_bash_options(command);
      printf("\n      ;;\n    \"%s \"*)\n      ", command->name);
      print_bash_action(command->operand);
    } else {
      printf("    \"%s \"*)\n      ", command->name);
      print_bash_options(command);
    }
    printf("\n      ;;\n");
  }
  printf("  esac\n}\n\ncomplete -F _polhode polhode\n");
}

/* --- zsh -------------------------------------------------------------------------------------- */

/* Text inside single quotes of a specification of _arguments or _describe. */
static void print_zsh_text(const char *text)
{
  for (; *text != '\0'; text++) {
    if (strchr("[]:\\", *text) != NULL) putchar('\\');
    if (*text == '\'')
      printf("'\\''");
    else
      putchar(*text);
  }
}

/* ":NAMES:ACTION" */
static void print_zsh_action(const char *names)
{
  putchar(':');
  print_zsh_text(names);
  putchar(':');
  switch (kind_of(names)) {
  case WORDS:
    printf("(");
    print_words(names);
    printf(" )");
    return;
  case PATHS:
  case FILES:
    print_call(names);
    return;
  case UNKNOWN:
    printf(" ");
  }
}

static void print_zsh(void)
{
  const cli_command *command;
  printf("#compdef polhode\n# zsh completion of polhode, made by: polhode completion zsh\n\n"
         "# Files with one of these endings, or all files.\n"
         "_polhode_files()\n{\n"
         "  local -a endings=($@[1,-1])\n");
  printf("  if (( $#endings )); then\n    _files -g \"*.(${(j:|:)endings})(-.)\"\n"
         "  else\n    _files\n  fi\n}\n\n");
  printf("# Words after which more follows.\n"
         "_polhode_paths()\n{\n  compadd -S '' \"$@\"\n}\n\n");
  printf("_polhode()\n{\n  local -a commands=(\n");
  for (int i = 0; (command = cli_command_at(i)); i++) {
    printf("    '%s:", command->name);
    print_zsh_text(command->summary);
    printf("'\n");
  }
  printf("    '--help:list the commands'\n    '--version:print the version'\n  )\n"
         "  if (( CURRENT == 2 )); then\n    _describe -t commands command commands\n    return\n"
         "  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
         "  case $command in\n");
  for (int i = 0; (command = cli_command_at(i)); i++) {
    const cli_option *option;
    printf("    %s)\n      _arguments", command->name);
    for (int k = 0; (option = cli_command_option(command, k)); k++) {
      /* flags and texts once, what adds up as often as one likes */
      printf(" \\\n        '%s%s%s[",
             option->kind == CLI_FLAG || option->kind == CLI_TEXT ? "" : "*", option->name,
             option->argument != NULL ? "=" : "");
      print_zsh_text(option->help);
      printf("]");
      if (option->argument != NULL) print_zsh_action(option->argument);
      printf("'");
    }
    if (command->operand != NULL) {
      /* one operand, or several */
      printf(" \\\n        '%s",
             strchr(command->operand, ' ') || strstr(command->operand, "...") ? "*" : "1");
      print_zsh_action(command->operand);
      printf("'");
    }
    printf("\n      ;;\n");
  }
  printf("  esac\n}\n\n"
         "if [[ $funcstack[1] == _polhode ]]; then\n  _polhode \"$@\"\n"
         "else\n  compdef _polhode polhode\nfi\n");
}

/* --- the command ------------------------------------------------------------------------------ */

static int completion(const cli_args *args)
{
  if (strcmp(args->operand, "bash") == 0)
    print_bash();
  else if (strcmp(args->operand, "zsh") == 0)
    print_zsh();
  else
    return cli_refuse_one("polhode completion", args->json, args->operand, "",
                          "must be bash or zsh");
  return CLI_DONE;
}

const cli_command cli_completion = {
    .name = "completion",
    .summary = "print a completion script for bash or zsh",
    .operand = "bash|zsh",
    .text = "Prints a script for the shell: it completes commands, options, the names of\n"
            "methods and formulations, the keys of --set, and matching files. make install\n"
            "installs it. Otherwise add this line to ~/.bashrc (for zsh, to ~/.zshrc after\n"
            "compinit, with zsh instead of bash):\n"
            "\n"
            "eval \"$(polhode completion bash)\"",
    .examples = "  polhode completion bash > polhode.bash\n"
                "  polhode completion zsh > _polhode",
    .run = completion,
};
