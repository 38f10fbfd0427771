/* Files that are not what a command expects: each command that reads one says what is wrong and
 * ends with exit status 2; what can be read all the same, such as CRLF at line ends, is.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

static const char *const model_commands[] = {"run %s --quiet", "check %s --quiet",
                                             "converge %s --steps 1e-3 --quiet",
                                             "view top.csv --model %s --out a.html --quiet"};
static const char *const result_commands[] = {
    "info %s --quiet", "plot %s top.position --out a.svg --quiet",
    "view %s --model top.json --out a.html --quiet", "export %s --vtk vtk --frames 2 --quiet",
    "converge top.json --steps 1e-3 --reference %s --quiet"};
enum { NUM_MODEL_COMMANDS = 4, NUM_RESULT_COMMANDS = 5 };

/* Runs all commands of a list on the file; what goes wrong must be told with these words. */
static void expect_all(const char *const *commands, int count, const char *file, int status,
                       const char *message)
{
  for (int i = 0; i < count; i++) {
    char arguments[200], line[220];
    snprintf(arguments, sizeof arguments, commands[i], file);
    snprintf(line, sizeof line, "polhode %s", arguments);
    expect(line, status);
    if (status != 0) {
      expect_text(err, file);
      expect_text(err, message);
    } else {
      assert_string_equal(err, "");
    }
  }
}

/* Writes bytes, which may be zero. */
static void write_bytes(const char *path, const char *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

static char table[OUTPUT_SIZE]; /* top.csv */

static int set_up(void **state)
{
  if (enter_folder(state) != 0) return -1;
  if (run("polhode run top.json --end 0.03 --step 0.001 --out top.csv --quiet") != 0) return -1;
  read_text("top.csv", table);
  return 0;
}

static void what_is_no_model(void **state)
{
  (void)state;
  assert_int_equal(mkdir("folder.json", 0700), 0);
  write_text("empty.json", "");
  write_bytes("binary.json",
              "\x7F"
              "ELF\0\1\2\xFF\xFE",
              9);
  write_text("half.json", "{ \"bodies\": [ { \"name\": \"a\",");
  expect_all(model_commands, NUM_MODEL_COMMANDS, "missing.json", 2,
             "cannot be read: No such file or directory\n");
  expect_all(model_commands, NUM_MODEL_COMMANDS, "folder.json", 2,
             "cannot be read: Is a directory\n");
  expect_all(model_commands, 1, "/dev/zero", 2, "cannot be read: File too large\n");
  expect_all(model_commands, NUM_MODEL_COMMANDS, "empty.json", 2, "the input is empty\n");
  expect_all(model_commands, NUM_MODEL_COMMANDS, "binary.json", 2, "must be ");
  expect_all(model_commands, NUM_MODEL_COMMANDS, "half.json", 2, "must be valid JSON: ");
}

static void what_is_no_result(void **state)
{
  (void)state;
  assert_int_equal(mkdir("folder.csv", 0700), 0);
  write_text("empty.h5", "");
  write_bytes("binary.csv",
              "\x7F"
              "ELF\0\1\2\xFF\xFE",
              9);
  write_bytes("cut.h5", "\x89HDF\r\n\x1A\n\0\0", 10);
  write_text("twice.csv", "t,a,a\n0,1,2\n");
  expect_all(result_commands, NUM_RESULT_COMMANDS, "missing.csv", 2,
             "cannot be read: No such file or directory\n");
  expect_all(result_commands, NUM_RESULT_COMMANDS, "folder.csv", 2,
             "cannot be read: Is a directory\n");
  expect_all(result_commands, NUM_RESULT_COMMANDS, "empty.h5", 2, "the file is empty\n");
  expect_all(result_commands, NUM_RESULT_COMMANDS, "binary.csv", 2,
             "this is neither HDF5 nor text\n");
  expect_all(result_commands, NUM_RESULT_COMMANDS, "cut.h5", 2, "cannot be opened: ");
  expect_all(result_commands, NUM_RESULT_COMMANDS, "twice.csv", 2,
             "line 1: two columns have the same name: a\n");
  assert_int_equal(access("a.svg", F_OK), -1);
  assert_int_equal(access("a.html", F_OK), -1);
}

/* A device might never end.  A pipe does. */
static void devices_and_pipes(void **state)
{
  (void)state;
  static const char message[] = "cannot be read: it is neither a file nor a pipe\n";
  expect_all(result_commands, NUM_RESULT_COMMANDS, "/dev/zero", 2, message);
  expect_all(result_commands, NUM_RESULT_COMMANDS, "/dev/null", 2, message);
  assert_int_equal(run_shell("cat top.csv | '" POLHODE_BINARY "' info /dev/stdin"), 0);
  expect_text(out, "rows            31\n");
}

/* A file that opens, but whose numbers of the ball are damaged (they take the bytes from 23000 to
 * 37000, about).  The file is named, in the JSON object too, and nothing is written. */
static void damaged_results(void **state)
{
  (void)state;
  static const char *const commands[] = {
      "view damaged.h5 --out damaged.html", "plot damaged.h5 ball --out damaged.svg",
      "plot damaged.h5 ball --from 0.1 --out damaged.svg", "export damaged.h5 --vtk damaged_vtk",
      "converge top.json --steps 1e-3 --reference damaged.h5"};
  static const char rule[] = "the result is damaged: its numbers cannot be read";
  static const char zeros[4096];
  expect("polhode run " POLHODE_SOURCE_DIR "/models/examples/bouncing_ball.json "
         "--out damaged.h5 --quiet",
         0);
  FILE *file = fopen("damaged.h5", "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, 98304, SEEK_SET), 0);
  assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
  assert_int_equal(fclose(file), 0);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    char line[200];
    snprintf(line, sizeof line, "polhode %s", commands[i]);
    expect(line, 2);
    expect_text(err, "damaged.h5: ");
    expect_text(err, rule);
    snprintf(line, sizeof line, "polhode %s --json", commands[i]);
    expect(line, 2);
    json_t *object = parse_output(), *error = json_array_get(at(object, "errors"), 0);
    expect_word(object, "status", "invalid");
    expect_length(object, "errors", 1);
    expect_word(error, "rule", rule);
    const int is_option = strcmp(json_string_value(at(error, "path")), "--reference") == 0;
    expect_word(error, is_option ? "value" : "path", "damaged.h5");
    json_decref(object);
  }
  assert_int_equal(access("damaged.html", F_OK), -1);
  assert_int_equal(access("damaged.svg", F_OK), -1);
  assert_int_equal(access("damaged_vtk", F_OK), -1);
}

/* The text with CRLF at the ends of its lines, or with a byte order mark, is the same. */
static void other_line_ends_and_marks(void **state)
{
  (void)state;
  static char text[OUTPUT_SIZE];
  const char *from[] = {heavy_top, table};
  static const char *const crlf[] = {"crlf.json", "crlf.csv"}, *const bom[] = {"bom.json",
                                                                               "bom.csv"};
  for (int i = 0; i < 2; i++) {
    size_t used = 0;
    for (const char *c = from[i]; *c != '\0' && used + 4 < sizeof text; c++) {
      if (*c == '\n') text[used++] = '\r';
      text[used++] = *c;
    }
    write_bytes(crlf[i], text, used);
    snprintf(text, sizeof text, "\xEF\xBB\xBF%.*s", (int)sizeof text - 8, from[i]);
    write_text(bom[i], text);
  }
  expect_all(model_commands, NUM_MODEL_COMMANDS, "crlf.json", 0, "");
  expect_all(model_commands, NUM_MODEL_COMMANDS, "bom.json", 0, "");
  expect_all(result_commands, NUM_RESULT_COMMANDS - 1, "crlf.csv", 0, "");
  expect_all(result_commands, NUM_RESULT_COMMANDS - 1, "bom.csv", 0, "");
}

/* A result that was cut at any place of its last lines is read up to its last whole line. */
static void cut_results(void **state)
{
  (void)state;
  const size_t head = (size_t)(strchr(strchr(table, '\n') + 1, '\n') - table) + 2000;
  for (size_t size = head; size < head + 1200; size += 97) {
    write_bytes("cut.csv", table, size);
    expect_all(result_commands, NUM_RESULT_COMMANDS - 1, "cut.csv", 0, "");
  }
}

/* Without a single row there is nothing to draw, show, export or compare with. */
static void results_without_rows(void **state)
{
  (void)state;
  char *line = table;
  for (int i = 0; i < 3; i++) line = strchr(line, '\n') + 1;
  write_bytes("none.csv", table, (size_t)(line - table));
  expect("polhode info none.csv", 0);
  expect_text(out, "rows            0\n");
  expect_all(result_commands + 1, NUM_RESULT_COMMANDS - 1, "none.csv", 2, "has no rows");
}

/* A file that does not fit into the memory: a file of zeros that takes no disk, and a limit on the
 * memory that the program inherits.  The sanitizers need more address space than any limit. */
static void files_larger_than_the_memory(void **state)
{
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  skip();
#endif
  const rlim_t most = 256 << 20;
  struct rlimit before, small;
  write_text("large.json", "{}");
  write_bytes("large.csv", table, strlen(table));
  assert_int_equal(truncate("large.json", most), 0);
  assert_int_equal(truncate("large.csv", most), 0);
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  small = before;
  small.rlim_cur = most;
  setenv("OPENBLAS_NUM_THREADS", "1", 1); /* each thread takes address space */
  for (int i = 0; i < NUM_MODEL_COMMANDS + NUM_RESULT_COMMANDS; i++) {
    const int is_model = i < NUM_MODEL_COMMANDS;
    char arguments[200], line[220];
    snprintf(arguments, sizeof arguments,
             is_model ? model_commands[i] : result_commands[i - NUM_MODEL_COMMANDS],
             is_model ? "large.json" : "large.csv");
    snprintf(line, sizeof line, "polhode %s", arguments);
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    const int status = run(line);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    if (status != 1) fail_msg("%s: exit status %d, not 1\n%s", line, status, err);
    expect_text(err, "out of memory\n");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_no_model),          cmocka_unit_test(what_is_no_result),
      cmocka_unit_test(other_line_ends_and_marks), cmocka_unit_test(cut_results),
      cmocka_unit_test(results_without_rows),      cmocka_unit_test(devices_and_pipes),
      cmocka_unit_test(damaged_results),           cmocka_unit_test(files_larger_than_the_memory),
  };
  return cmocka_run_group_tests(tests, set_up, leave_folder);
}
