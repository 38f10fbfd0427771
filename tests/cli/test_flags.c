/* The places that tell a command's options agree: what it takes (help --json, which is the table
 * itself), its help, its manual page, what bash and zsh complete, and docs/cli.md; and the page
 * names no option that there is not.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

/* Whether the option stands in the text as a word of its own: "--step" is not in "--steps". */
static int has_option(const char *text, const char *option)
{
  const size_t length = strlen(option);
  for (const char *at = text; (at = strstr(at, option)) != NULL; at += length) {
    const char after = at[length];
    if (!(after >= 'a' && after <= 'z') && after != '-') return 1;
  }
  return 0;
}

/* Runs the command line and looks for every option of the command in what it prints. */
static void expect_options(const char *command_line, json_t *command)
{
  static char plain[OUTPUT_SIZE];
  json_t *option;
  size_t i, used = 0;
  expect(command_line, 0);
  /* roff writes a dash as "\-" */
  for (const char *c = out; *c != '\0'; c++)
    if (c[0] != '\\' || c[1] != '-') plain[used++] = *c;
  plain[used] = '\0';
  json_array_foreach(at(command, "options"), i, option)
  {
    const char *name = json_string_value(at(option, "name"));
    if (!has_option(plain, name)) fail_msg("%s does not tell of %s", command_line, name);
  }
}

static void help_and_pages_tell_all(void **state)
{
  (void)state;
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command;
  size_t i;
  json_array_foreach(at(all, "commands"), i, command)
  {
    char line[100];
    const char *name = json_string_value(at(command, "name"));
    snprintf(line, sizeof line, "polhode %s --help", name);
    expect_options(line, command);
  }
  json_decref(all);
}

/* What bash offers after "polhode COMMAND --" are exactly the options. */
static void bash_completes_all(void **state)
{
  (void)state;
  expect("polhode completion bash", 0);
  write_text("polhode.bash", out);
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command, *option;
  size_t i, k;
  json_array_foreach(at(all, "commands"), i, command)
  {
    char line[400], expected[1000] = "";
    const char *name = json_string_value(at(command, "name"));
    snprintf(line, sizeof line,
             "bash --norc --noprofile -c 'source ./polhode.bash; COMP_WORDS=(polhode %s --); "
             "COMP_CWORD=2; _polhode; echo \"${COMPREPLY[*]}\"' 2>&1",
             name);
    assert_int_equal(run_shell(line), 0);
    json_array_foreach(at(command, "options"), k, option)
    {
      strcat(expected, k > 0 ? " " : "");
      strcat(expected, json_string_value(at(option, "name")));
    }
    strcat(expected, "\n");
    assert_string_equal(out, expected);
  }
  json_decref(all);
}

/* What zsh completes after a command: the part of the script from its name to the next ";;". */
static void zsh_completes_all(void **state)
{
  (void)state;
  static char script[OUTPUT_SIZE];
  expect("polhode completion zsh", 0);
  strcpy(script, out);
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command, *option;
  size_t i, k;
  json_array_foreach(at(all, "commands"), i, command)
  {
    char label[100];
    const char *name = json_string_value(at(command, "name"));
    snprintf(label, sizeof label, "\n    %s)\n", name);
    char *part = strstr(script, label), *end = part != NULL ? strstr(part, ";;") : NULL;
    if (end == NULL) fail_msg("zsh does not complete %s", name);
    *end = '\0';
    json_array_foreach(at(command, "options"), k, option)
    {
      const char *word = json_string_value(at(option, "name"));
      if (!has_option(part, word)) fail_msg("zsh does not complete %s of %s", word, name);
    }
    *end = ';';
  }
  json_decref(all);
}

/* --- docs/cli.md ------------------------------------------------------------------------------ */

/* Whether any command has the option; "--version" is of polhode itself. */
static int exists(json_t *all, const char *name)
{
  json_t *command, *option;
  size_t i, k;
  json_array_foreach(at(all, "commands"), i, command)
  {
    json_array_foreach(at(command, "options"), k,
                       option) if (strcmp(json_string_value(at(option, "name")), name) ==
                                   0) return 1;
  }
  return strcmp(name, "--version") == 0;
}

/* Every option of a command stands in its section, those of all commands before the first. */
static void the_page_tells_all(void **state)
{
  (void)state;
  static char page[OUTPUT_SIZE * 2];
  FILE *file = fopen(POLHODE_SOURCE_DIR "/docs/cli.md", "rb");
  assert_non_null(file);
  const size_t size = fread(page, 1, sizeof page - 1, file);
  fclose(file);
  assert_in_range(size, 1000, sizeof page - 2);
  char *sections = strstr(page, "\n## ");
  assert_non_null(sections);
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command, *option;
  size_t i, k;
  json_array_foreach(at(all, "commands"), i, command)
  {
    char label[100];
    const char *name = json_string_value(at(command, "name"));
    snprintf(label, sizeof label, "\n    polhode %s ", name);
    char *part = strstr(sections, label), *end = part != NULL ? strstr(part, "\n## ") : NULL;
    if (part == NULL) fail_msg("docs/cli.md has no section on %s", name);
    if (end != NULL) *end = '\0';
    *sections = '\0';
    json_array_foreach(at(command, "options"), k, option)
    {
      const char *word = json_string_value(at(option, "name"));
      if (!has_option(part, word) && !has_option(page, word))
        fail_msg("docs/cli.md does not tell of %s of %s", word, name);
    }
    *sections = '\n';
    if (end != NULL) *end = '\n';
  }
  json_decref(all);
}

/* The page has examples of mistakes; these options there are not, on purpose. */
static int is_mistake(const char *name)
{
  return strcmp(name, "--stpe") == 0;
}

static void the_page_invents_nothing(void **state)
{
  (void)state;
  static char page[OUTPUT_SIZE * 2];
  FILE *file = fopen(POLHODE_SOURCE_DIR "/docs/cli.md", "rb");
  assert_non_null(file);
  page[fread(page, 1, sizeof page - 1, file)] = '\0';
  fclose(file);
  expect("polhode help --json", 0);
  json_t *all = parse_output();
  int found = 0;
  for (const char *c = page; (c = strstr(c, "--")) != NULL; found++) {
    char name[40];
    size_t length = 2 + strspn(c + 2, "abcdefghijklmnopqrstuvwxyz-");
    snprintf(name, sizeof name, "%.*s", (int)length, c);
    /* not the lines of tables */
    if (name[2] != '\0' && name[2] != '-' && !is_mistake(name) && !exists(all, name))
      fail_msg("docs/cli.md tells of %s, which no command has", name);
    c += length;
  }
  assert_true(found > 50);
  json_decref(all);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(help_and_pages_tell_all),  cmocka_unit_test(bash_completes_all),
      cmocka_unit_test(zsh_completes_all),        cmocka_unit_test(the_page_tells_all),
      cmocka_unit_test(the_page_invents_nothing),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
