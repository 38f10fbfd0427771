/* What the tests of the polhode command share: running the program as a user does, reading what it
 * prints as text and as JSON, a folder of their own with a model in it.  A test file defines
 * _XOPEN_SOURCE 700 first.
 */
#ifndef POLHODE_TESTS_CLI_TEST_H
#define POLHODE_TESTS_CLI_TEST_H

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

/* --- running the program ---------------------------------------------------------------------- */

enum { OUTPUT_SIZE = 1 << 16, MAX_ARGUMENTS = 24 };

static char folder[] = "test_cli_XXXXXX"; /* where the tests write */
static char out[OUTPUT_SIZE], err[OUTPUT_SIZE];

static const char heavy_top[] =
    "{ \"name\": \"Heavy top\", \"gravity\": [0, 0, -9.81],\n"
    "  \"bodies\": [ { \"name\": \"top\", \"mass\": 15, \"inertia\": [0.234375, 0.46875, "
    "0.234375],\n"
    "    \"position\": [0, 1, 0], \"angular_velocity\": [0, 150, -4.61538] } ],\n"
    "  \"joints\": [ { \"name\": \"tip\", \"type\": \"spherical\", \"bodies\": [\"top\", "
    "\"ground\"],\n"
    "    \"point\": [0, 0, 0] } ],\n"
    "  \"simulation\": { \"method\": \"geom1\", \"index\": 3, \"formulation\": \"so3xr3\",\n"
    "    \"rho_inf\": 0.9, \"step\": 1e-3, \"end\": 0.1 } }\n";

static inline void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static inline void read_text(const char *path, char *text)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t size = fread(text, 1, OUTPUT_SIZE - 1, file);
  text[size] = '\0';
  fclose(file);
}

/* Starts polhode with the arguments, its output into the files "out" and "err", or its errors into
 * the descriptor given. */
static inline pid_t start(int error_descriptor, char *const arguments[])
{
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int out_file = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err_file = error_descriptor;
    if (err_file < 0) err_file = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out_file, STDOUT_FILENO);
    dup2(err_file, STDERR_FILENO);
    execv(POLHODE_BINARY, arguments);
    _exit(99);
  }
  return child;
}

/* Waits until the program catches the signal, which would end it at once before that. */
static inline void wait_until_caught(pid_t child, int signal_number)
{
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
  for (int i = 0; i < 60000; i++) {
    unsigned long long caught = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "SigCgt: %llx", &caught);
    if (file) fclose(file);
    if (caught >> (signal_number - 1) & 1) return;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  fail_msg("the program does not catch signal %d", signal_number);
}

/* Waits for the exit status; -1 if a signal ended it. */
static inline int finish(pid_t child)
{
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  read_text("out", out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs "polhode WORD WORD ..." (words without blanks); gives the exit status and fills out and err.
 */
static inline int run(const char *command_line)
{
  char text[1000];
  char *arguments[MAX_ARGUMENTS];
  int count = 0;
  assert_true(strlen(command_line) < sizeof text);
  strcpy(text, command_line);
  for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
    assert_true(count < MAX_ARGUMENTS - 1);
    arguments[count++] = word;
  }
  arguments[count] = NULL;
  int status = finish(start(-1, arguments));
  read_text("err", err);
  return status;
}

static inline void expect(const char *command_line, int expected)
{
  int status = run(command_line);
  if (status != expected)
    fail_msg("%s: exit status %d, not %d\nstdout: %s\nstderr: %s", command_line, status, expected,
             out, err);
}

/* Runs the command line with a disk on which files have at most so many bytes: a limit on their
 * size, which the program inherits, stands for the disk.  Gives the exit status.  Counters of a
 * build for coverage would be cut too; they go elsewhere. */
static inline int run_on_full_disk(const char *command_line, unsigned bytes)
{
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = bytes;
  signal(SIGXFSZ, SIG_IGN);
  setenv("GCOV_PREFIX", "counters", 1);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  const int status = run(command_line);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  unsetenv("GCOV_PREFIX");
  signal(SIGXFSZ, SIG_DFL);
  return status;
}

static inline void expect_text(const char *text, const char *part)
{
  if (strstr(text, part) == NULL) fail_msg("there is no \"%s\" in: %s", part, text);
}

/* Runs a command line of the shell; gives its exit status and fills out. */
static inline int run_shell(const char *command_line)
{
  FILE *pipe = popen(command_line, "r");
  assert_non_null(pipe);
  size_t size = fread(out, 1, OUTPUT_SIZE - 1, pipe);
  out[size] = '\0';
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* All of standard output as one JSON object; the caller drops it. */
static inline json_t *parse_output(void)
{
  json_error_t error;
  json_t *object = json_loads(out, JSON_REJECT_DUPLICATES, &error);
  if (object == NULL) fail_msg("%s in: %s", error.text, out);
  assert_true(json_is_object(object));
  return object;
}

/* The value at "key.key.key"; it must exist. */
static inline json_t *at(json_t *object, const char *path)
{
  char text[200];
  strcpy(text, path);
  for (char *key = strtok(text, "."); key != NULL; key = strtok(NULL, ".")) {
    object = json_object_get(object, key);
    if (object == NULL) fail_msg("there is no %s in: %s", path, out);
  }
  return object;
}

static inline double number_at(json_t *object, const char *path)
{
  assert_true(json_is_number(at(object, path)));
  return json_number_value(at(object, path));
}

static inline void expect_word(json_t *object, const char *path, const char *expected)
{
  assert_true(json_is_string(at(object, path)));
  assert_string_equal(json_string_value(at(object, path)), expected);
}

static inline void expect_length(json_t *object, const char *path, size_t expected)
{
  assert_int_equal(json_array_size(at(object, path)), expected);
}

/* Number of lines of a CSV file after its head; it must end with a whole line. */
static inline int count_rows(const char *path, char *last, size_t size)
{
  static char line[4000];
  FILE *file = fopen(path, "r");
  int lines = 0;
  assert_non_null(file);
  line[0] = '\0';
  while (fgets(line, sizeof line, file) != NULL) {
    lines++;
    assert_int_equal(line[strlen(line) - 1], '\n');
  }
  fclose(file);
  snprintf(last, size, "%s", line);
  return lines - 3;
}

/* --- the folder ------------------------------------------------------------------------------- */

/* A new folder with the heavy top as top.json; nothing in the environment that changes output. */
static inline int enter_folder(void **state)
{
  (void)state;
  unsetenv("COLUMNS");
  unsetenv("NO_COLOR");
  setenv("TERM", "xterm", 1);
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) return -1;
  write_text("top.json", heavy_top);
  return 0;
}

static inline int remove_entry(const char *path, const struct stat *info, int type,
                               struct FTW *place)
{
  (void)info, (void)type, (void)place;
  return remove(path);
}

/* Removes the folder with all that is in it; links are not followed. */
static inline int leave_folder(void **state)
{
  (void)state;
  return chdir("..") == 0 ? nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS) : -1;
}

#endif
