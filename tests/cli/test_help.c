/* The polhode command line: help, wrong command lines, output that is lost. */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

static void help_of_everything(void **state)
{
  (void)state;
  static const char *const commands[] = {"run", "check", "methods"};
  expect("polhode --help", 0);
  for (int i = 0; i < 3; i++) expect_text(out, commands[i]);
  assert_string_equal(err, "");
  expect("polhode help", 0);
  for (int i = 0; i < 3; i++) {
    char line[100], first[OUTPUT_SIZE];
    snprintf(line, sizeof line, "polhode help %s", commands[i]);
    expect(line, 0);
    expect_text(out, "usage: polhode ");
    expect_text(out, "examples\n  polhode ");
    assert_string_equal(err, "");
    strcpy(first, out);
    snprintf(line, sizeof line, "polhode %s --help", commands[i]);
    expect(line, 0);
    assert_string_equal(out, first);
  }
  expect("polhode --version", 0);
  expect_text(out, "polhode ");
}

static void wrong_command_lines(void **state)
{
  (void)state;
  expect("polhode", 2);
  assert_string_equal(out, "");
  expect_text(err, "usage: polhode");
  expect("polhode rnu top.json", 2);
  expect_text(err, "polhode: rnu: there is no such command; did you mean \"run\"?\n");
  expect("polhode help chekc", 2);
  expect_text(err, "did you mean \"check\"?");
  expect("polhode run top.json --stpe 1", 2);
  expect_text(err, "polhode run: --stpe: there is no such option; did you mean \"--step\"?\n");
  assert_string_equal(out, "");
  expect("polhode run top.json --stepp=1", 2);
  expect_text(err, "polhode run: --stepp: there is no such option; did you mean \"--step\"?\n");
  expect("polhode run", 2);
  expect_text(err, "MODEL.json: must be given");
  expect("polhode run top.json other.json", 2);
  expect_text(err, "other.json: is one argument too many");
  expect("polhode run top.json --step", 2);
  expect_text(err, "--step: needs a value");
  expect("polhode run top.json --out --json", 2);
  expect_text(out, "needs a value");
  expect("polhode run top.json --json=1", 2);
  expect_text(err, "--json = 1: takes no value");
  expect("polhode run top.json --set mass", 2);
  expect_text(err, "--set = mass: must have the form key.path=value");
  expect("polhode methods top.json", 2);
  expect_text(err, "top.json: is one argument too many");
  expect("polhode run top.json --out top.h5", 2);
  expect_text(err, "polhode run: --out = top.h5: must end in .csv\n1 error\n");
  expect("polhode run top.json --out=", 2);
  expect_text(err, "polhode run: --out: the file name is empty\n");
  expect("polhode --version extra", 2);
  expect_text(err, "polhode: extra: is one argument too many\n");
  assert_string_equal(out, "");
  expect("polhode help run extra", 2);
  expect_text(err, "polhode: extra: is one argument too many\n");
  /* The words of expect() cannot be empty. */
  char *empty[] = {"polhode", "run", "", NULL};
  assert_int_equal(finish(start(-1, empty)), 2);
  read_text("err", err);
  expect_text(err, "polhode run: MODEL.json: the file name is empty\n");
}

static void lost_output_is_told(void **state)
{
  (void)state;
  pid_t child = fork();
  int status;
  assert_true(child >= 0);
  if (child == 0) {
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
    dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execl(POLHODE_BINARY, "polhode", "methods", (char *)NULL);
    _exit(99);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 1);
  read_text("err", err);
  expect_text(err, "standard output cannot be written");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(help_of_everything),
      cmocka_unit_test(wrong_command_lines),
      cmocka_unit_test(lost_output_is_told),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
