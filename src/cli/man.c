/* polhode man: the manual pages, in roff with the macros of man(7), made from the table of
 * commands.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* --- roff ------------------------------------------------------------------------------------- */

/* Prints text so that roff shows it as it is: no escapes, no requests, plain hyphens. */
static void print_plain(const char *text)
{
  int at_start = 1;
  for (; *text != '\0'; text++) {
    if (at_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
    at_start = *text == '\n';
  }
}

/* Text in a font: B bold, I italic. */
static void print_in(char font, const char *text)
{
  printf("\\f%c", font);
  print_plain(text);
  printf("\\fR");
}

/* " NAME" of what may follow a command or an option; nothing if nothing does. */
static void print_argument(const char *name)
{
  if (name == NULL) return;
  putchar(' ');
  print_in('I', name);
}

/* Paragraphs, which blank lines separate. */
static void print_paragraphs(const char *text)
{
  const char *end;
  for (; (end = strstr(text, "\n\n")); text = end + 2) {
    char paragraph[2000];
    snprintf(paragraph, sizeof paragraph, "%.*s", (int)(end - text), text);
    print_plain(paragraph);
    printf("\n.PP\n");
  }
  print_plain(text);
  printf("\n");
}

static void print_examples(const char *examples)
{
  printf(".SH EXAMPLES\nIn a clone of polhode, or in share/polhode of an installation:\n"
         ".PP\n.nf\n");
  print_plain(examples);
  printf("\n.fi\n");
}

/* The head of the page polhode, or polhode-COMMAND. */
static void print_head(const char *command, const char *summary)
{
  printf(".\\\" made by polhode man\n.TH POLHODE");
  if (command != NULL) printf("\\-");
  for (const char *c = command; c != NULL && *c != '\0'; c++) putchar(toupper((unsigned char)*c));
  printf(" 1 \"\" \"polhode %s\" \"polhode manual\"\n.SH NAME\npolhode", pol_version());
  if (command != NULL) printf("\\-%s", command);
  printf(" \\- ");
  print_plain(summary);
  printf("\n");
}

static void print_see_also(const cli_command *except)
{
  const cli_command *command;
  printf(".SH SEE ALSO\n");
  if (except != NULL) printf("\\fBpolhode\\fR(1)");
  const char *separator = except != NULL ? ",\n" : "";
  for (int i = 0; (command = cli_command_at(i)); i++) {
    if (command == except) continue;
    printf("%s\\fBpolhode\\-%s\\fR(1)", separator, command->name);
    separator = ",\n";
  }
  printf("\n");
}

/* --- the pages -------------------------------------------------------------------------------- */

static void print_overview_page(void)
{
  const cli_command *command;
  print_head(NULL, "simulation of constrained multibody systems");
  printf(".SH SYNOPSIS\n\\fBpolhode\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n");
  printf(".SH DESCRIPTION\n");
  print_plain("Simulates rigid bodies that joints connect, from a model file in JSON, with time\n"
              "integrators on Lie groups. Results go to standard output and to files, messages\n"
              "to standard error.\n");
  printf(".SH COMMANDS\n");
  for (int i = 0; (command = cli_command_at(i)); i++) {
    printf(".TP\n");
    print_in('B', command->name);
    print_argument(command->operand);
    printf("\n%s\n", command->summary);
  }
  printf(".SH OPTIONS\n.TP\n\\fB\\-\\-help\\fR\nlist the commands\n"
         ".TP\n\\fB\\-\\-version\\fR\nprint the version\n");
  print_examples(cli_first_steps);
  printf(".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe numerics failed, or a file could not be "
         "written\n.TP\n2\nthe input is wrong\n.TP\n130, 143\nstopped by Ctrl\\-C (SIGINT), by "
         "SIGTERM; results up to there are kept\n");
  printf(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nno colour, unless \\-\\-color says otherwise\n"
         ".TP\n\\fBCOLUMNS\\fR\nhow wide lines may be\n");
  print_see_also(NULL);
}

static void print_command_page(const cli_command *command)
{
  const cli_option *option;
  print_head(command->name, command->summary);
  printf(".SH SYNOPSIS\n\\fBpolhode %s\\fR", command->name);
  print_argument(command->operand);
  printf(" [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n");
  print_paragraphs(command->text);
  printf(".SH OPTIONS\n");
  for (int i = 0; (option = cli_command_option(command, i)); i++) {
    printf(".TP\n");
    print_in('B', option->name);
    print_argument(option->argument);
    printf("\n");
    print_plain(option->help);
    printf("\n");
  }
  print_examples(command->examples);
  print_see_also(command);
}

static int man(const cli_args *args)
{
  const cli_command *command = NULL;
  if (args->operand != NULL && !(command = cli_command_find(args->operand, args->json)))
    return CLI_INVALID;
  if (command != NULL)
    print_command_page(command);
  else
    print_overview_page();
  return CLI_DONE;
}

const cli_command cli_man = {
    .name = "man",
    .summary = "print a manual page",
    .operand = "[COMMAND]",
    .text = "Prints the manual page of polhode, or of one of its commands, as roff for man.\n"
            "An installation has them all: man polhode, man polhode-run.",
    .examples = "  polhode man > polhode.1\n"
                "  polhode man run > polhode-run.1",
    .run = man,
};
