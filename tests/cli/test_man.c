/* polhode man: every command has a page that names all its options and examples, and groff, where
 * it is installed, has nothing to complain about.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

/* Takes "\-" for "-" and "\fB", "\fI", "\fR" for nothing, as roff does. */
static void undo_roff(char *text)
{
  char *to = text;
  for (const char *from = text; *from != '\0'; from++) {
    if (from[0] == '\\' && from[1] == 'f') {
      from += 2;
      continue;
    }
    if (from[0] == '\\' && from[1] == '-') from++;
    *to++ = *from;
  }
  *to = '\0';
}

/* The sections in their order. */
static void expect_sections(void)
{
  static const char *const sections[] = {"NAME",    "SYNOPSIS", "DESCRIPTION",
                                         "OPTIONS", "EXAMPLES", "SEE ALSO"};
  const char *before = out;
  for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
    char line[40];
    snprintf(line, sizeof line, "\n.SH %s\n", sections[i]);
    const char *place = strstr(before, line);
    if (place == NULL) fail_msg("there is no %s in its place in: %s", sections[i], out);
    before = place;
  }
}

static void pages_hold_everything(void **state)
{
  (void)state;
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command, *item;
  size_t index, k;
  json_array_foreach(at(all, "commands"), index, command)
  {
    char line[100];
    const char *name = json_string_value(at(command, "name"));
    expect("polhode man", 0);
    expect_sections();
    undo_roff(out);
    expect_text(out, json_string_value(at(command, "summary")));
    snprintf(line, sizeof line, "\npolhode-%s(1)", name);
    expect_text(out, line);
    snprintf(line, sizeof line, "polhode man %s", name);
    expect(line, 0);
    expect_sections();
    undo_roff(out);
    snprintf(line, sizeof line, "\npolhode-%s - %s\n", name,
             json_string_value(at(command, "summary")));
    expect_text(out, line);
    json_array_foreach(at(command, "examples"), k, item) expect_text(out, json_string_value(item));
    json_array_foreach(at(command, "options"), k, item)
    {
      expect_text(out, json_string_value(at(item, "name")));
      expect_text(out, json_string_value(at(item, "help")));
    }
  }
  json_decref(all);
  expect("polhode man rnu", 2);
  expect_text(err, "did you mean \"run\"?");
}

static void expect_no_complaint(void)
{
  read_text("err", err);
  assert_string_equal(err, "");
}

static void groff_takes_the_pages(void **state)
{
  (void)state;
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command;
  size_t index;
  json_array_foreach(at(all, "commands"), index, command)
  {
    char line[5000];
    snprintf(line, sizeof line, POLHODE_BINARY " man %s | groff -man -Tascii -ww -P-cbou 2>err",
             json_string_value(at(command, "name")));
    assert_int_equal(run_shell(line), 0);
    expect_no_complaint();
    expect_text(out, "\nSYNOPSIS\n       polhode ");
    expect_text(out, "\n       --quiet\n");
    expect_text(out, "\n         polhode ");
  }
  json_decref(all);
  assert_int_equal(run_shell(POLHODE_BINARY " man | groff -man -Tascii -ww -P-cbou 2>err"), 0);
  expect_no_complaint();
  expect_text(out, "\nEXIT STATUS\n       0      done\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pages_hold_everything),
      cmocka_unit_test(groff_takes_the_pages),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
