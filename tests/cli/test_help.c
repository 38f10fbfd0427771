/* The polhode command line: help, the examples in it, options of all commands, wrong command lines,
 * output that is lost.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

/* Every command of the table: the same by "help COMMAND" and "COMMAND --help", in words and as
 * JSON, with lines that fit a page. */
static void help_of_everything(void **state)
{
  (void)state;
  expect("polhode help --json", 0);
  json_t *all = parse_output();
  expect("polhode --help", 0);
  assert_string_equal(err, "");
  expect_text(out, "Usage: polhode COMMAND [ARGUMENTS]\n");
  assert_true(json_array_size(at(all, "commands")) >= 6);
  size_t index;
  json_t *command;
  json_array_foreach(at(all, "commands"), index, command)
  {
    char line[100], first[OUTPUT_SIZE];
    const char *name = json_string_value(at(command, "name"));
    expect("polhode help", 0);
    snprintf(line, sizeof line, "\n  %s ", name);
    expect_text(out, line);
    snprintf(line, sizeof line, "polhode help %s", name);
    expect(line, 0);
    assert_string_equal(err, "");
    snprintf(line, sizeof line, "Usage: polhode %s", name);
    expect_text(out, line);
    expect_text(out, json_string_value(at(command, "text")));
    expect_text(out, "Examples:\n  $ polhode ");
    strcpy(first, out);
    snprintf(line, sizeof line, "polhode %s --help", name);
    expect(line, 0);
    assert_string_equal(out, first);
    snprintf(line, sizeof line, "polhode help %s --json", name);
    expect(line, 0);
    json_t *one = parse_output();
    assert_int_equal(json_integer_value(at(one, "schema_version")), 1);
    json_object_del(one, "schema_version");
    assert_true(json_equal(one, command));
    json_decref(one);
    /* the text fits a page; options are wrapped, examples are not */
    for (const char *row = strtok(first, "\n"); row != NULL; row = strtok(NULL, "\n"))
      if (row[0] != ' ' && strlen(row) > 80) fail_msg("longer than 80 characters: %s", row);
  }
  json_decref(all);
  expect("polhode --version", 0);
  expect_text(out, "polhode ");
  expect("polhode --version --json", 0);
  json_t *version = parse_output();
  assert_true(json_string_length(at(version, "version")) > 0);
  json_decref(version);
}

/* Options that every command has, and no help text without them. */
static void common_options(void **state)
{
  (void)state;
  static const char *const commands[] = {"run top.json", "check top.json", "methods", "help",
                                         "completion bash"};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    char line[100];
    snprintf(line, sizeof line, "polhode %s --quiet --color=never", commands[i]);
    expect(line, 0);
    assert_string_equal(err, "");
    /* tables are left out, documents are what was asked for */
    if (i < 3) assert_string_equal(out, "");
    if (i >= 3) assert_true(strlen(out) > 100);
    snprintf(line, sizeof line, "polhode %s --color sometimes", commands[i]);
    expect(line, 2);
    expect_text(err, ": --color = sometimes: must be one of: auto|always|never\n");
  }
}

/* Lines fit COLUMNS, with the words of the wide text in their order. */
static void help_fits_the_width(void **state)
{
  (void)state;
  char words[2][OUTPUT_SIZE];
  for (int narrow = 0; narrow < 2; narrow++) {
    if (narrow) setenv("COLUMNS", "60", 1);
    expect("polhode methods", 0);
    unsetenv("COLUMNS");
    size_t longest = 0, size = 0;
    for (char *line = strtok(out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
      if (strlen(line) > longest) longest = strlen(line);
      for (const char *c = line; *c != '\0'; c++)
        if (*c != ' ') words[narrow][size++] = *c;
    }
    words[narrow][size] = '\0';
    assert_true(narrow ? longest <= 60 : longest > 60);
  }
  assert_string_equal(words[0], words[1]);
}

static void wrong_command_lines(void **state)
{
  (void)state;
  expect("polhode", 2);
  assert_string_equal(out, "");
  expect_text(err, "Usage: polhode");
  expect_text(err, "\nExamples:\n  $ ");
  expect("polhode rnu top.json", 2);
  expect_text(err, "polhode: rnu: there is no such command; did you mean \"run\"?\n");
  expect_text(err, "\npolhode help lists the commands\n");
  expect("polhode rnu --json", 2);
  expect_text(err, "polhode: rnu: there is no such command");
  expect_text(out, "there is no such command");
  expect("polhode runn", 2);
  expect_text(err, "did you mean \"run\"?");
  expect("polhode --hepl", 2);
  expect_text(err, "did you mean \"--help\"?");
  expect("polhode --quiet run top.json", 2);
  expect_text(err,
              "polhode: --quiet: is no option of polhode itself; options come after a command\n");
  expect("polhode top.json", 2);
  expect_text(err, "there is no such command; did you mean \"polhode run top.json\"?\n");
  expect("polhode help chekc", 2);
  expect_text(err, "did you mean \"check\"?");
  expect("polhode run top.json --stpe 1", 2);
  expect_text(err, "polhode run: --stpe: there is no such option; did you mean \"--step\"?\n");
  assert_string_equal(out, "");
  expect("polhode run top.json --stepp=1", 2);
  expect_text(err, "polhode run: --stepp: there is no such option; did you mean \"--step\"?\n");
  expect("polhode check top.json --quite", 2);
  expect_text(err, "did you mean \"--quiet\"?\n1 error\nsee polhode help check\n");
  expect("polhode check top.json --out=top.csv", 2);
  expect_text(err, "polhode check: --out: is no option of this command, but of polhode run\n");
  expect("polhode completion fish", 2);
  expect_text(err, "polhode completion: fish: must be bash or zsh\n");
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
  expect("polhode run top.json --step 0,001", 2);
  expect_text(err, "polhode run: --step = 0,001: must be a number, with a decimal point\n");
  expect("polhode run top.json --rtol tiny", 2);
  expect_text(err, "polhode run: --rtol = tiny: must be a number\n");
  expect("polhode run top.json --out a.csv --out b.csv", 2);
  expect_text(err, "polhode run: --out = b.csv: contradicts a.csv before it\n");
  expect("polhode run top.json --step 1e-3 --set simulation.step=2e-3", 2);
  expect_text(err, "--set = simulation.step=2e-3: contradicts simulation.step=0.001 before it\n");
  expect("polhode run top.json --step 1e-3 --step 1e-3 --end 0.01 --quiet --quiet", 0);
  expect("polhode run top.json --set simulation.step=1e-3 --step 1e-3 --end 0.01 --quiet", 0);
  expect("polhode run top.json --step 1e-3 --set simulation.step=1e-3 --end 0.01 --quiet", 0);
  expect("polhode run top.json --set simulation.step=1e-3 --step 1.1e-3", 2);
  expect_text(err, "--step = 1.1e-3: contradicts simulation.step=1e-3 before it\n");
  expect("polhode run top.json --rtol 1e-5 --step 1e-3", 2);
  expect_text(err, "polhode run: --step: has no effect beside rtol or atol");
  expect("polhode run top.json --set mass", 2);
  expect_text(err, "--set = mass: must have the form key.path=value");
  expect("polhode methods top.json", 2);
  expect_text(err, "top.json: is one argument too many");
  expect("polhode run top.json --out top.vtk", 2);
  expect_text(err, "polhode run: --out = top.vtk: must end in .h5 or .csv\n1 error\n");
  expect("polhode run top.json --out=", 2);
  expect_text(err, "polhode run: --out: the file name is empty\n");
  expect("polhode --version extra", 2);
  expect_text(err, "polhode: extra: is one argument too many\n");
  assert_string_equal(out, "");
  expect("polhode help run extra", 2);
  expect_text(err, "polhode help: extra: is one argument too many\n");
  /* The words of expect() cannot be empty. */
  char *empty[] = {"polhode", "run", "", NULL};
  assert_int_equal(finish(start(-1, empty)), 2);
  read_text("err", err);
  expect_text(err, "polhode run: MODEL.json: the file name is empty\n");
}

/* Runs the examples as they are, in a folder that has what they need of the source tree. */
static void run_examples(json_t *examples)
{
  size_t index;
  json_t *example;
  assert_true(json_array_size(examples) > 0);
  json_array_foreach(examples, index, example)
  {
    const char *line = json_string_value(example);
    char quiet[1000];
    assert_ptr_equal(strstr(line, "polhode "), line);
    /* a server ends when it is told to */
    const int serves = strstr(line, "polhode serve ") == line;
    snprintf(quiet, sizeof quiet, "%s%s 2>err", serves ? "timeout --preserve-status -s INT 1 " : "",
             line);
    int status = run_shell(quiet);
    read_text("err", err);
    if (status != 0) fail_msg("%s: exit status %d: %s", line, status, err);
    /* what the description of a robot has beyond a model is noted */
    for (const char *at = err; *at; at = strchr(at, '\n') + 1)
      if (strncmp(at, "note: ", 6) != 0) fail_msg("%s: %s", line, err);
  }
}

static void examples_work(void **state)
{
  (void)state;
  char path[4096];
  const char *old = getenv("PATH");
  const char *slash = strrchr(POLHODE_BINARY, '/');
  assert_non_null(slash);
  snprintf(path, sizeof path, "%.*s:%s", (int)(slash - POLHODE_BINARY), POLHODE_BINARY,
           old != NULL ? old : "/usr/bin:/bin");
  setenv("PATH", path, 1);
  assert_int_equal(symlink(POLHODE_SOURCE_DIR "/models", "models"), 0);
  /* studies name their models by paths relative to themselves */
  assert_int_equal(run_shell("cp -r " POLHODE_SOURCE_DIR "/examples ."), 0);
  expect("polhode help --json", 0);
  json_t *all = parse_output(), *command;
  size_t index;
  run_examples(at(all, "examples"));
  json_array_foreach(at(all, "commands"), index, command) run_examples(at(command, "examples"));
  json_decref(all);
  assert_int_equal(run_shell("rm -r top_vtk examples"), 0); /* the rest are files */
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
      cmocka_unit_test(help_of_everything),  cmocka_unit_test(common_options),
      cmocka_unit_test(help_fits_the_width), cmocka_unit_test(wrong_command_lines),
      cmocka_unit_test(examples_work),       cmocka_unit_test(lost_output_is_told),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
