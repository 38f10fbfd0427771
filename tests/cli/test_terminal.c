/* The polhode command with signals and on a terminal: a run that is stopped or killed, the progress
 * bar.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

#include <time.h>

static void sleep_milliseconds(long milliseconds)
{
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* Waits until the file holds something. */
static void wait_for_content(const char *path)
{
  struct stat info;
  for (int i = 0; i < 500; i++) {
    if (stat(path, &info) == 0 && info.st_size > 100000) return;
    sleep_milliseconds(10);
  }
  fail_msg("%s did not grow", path);
}

static void expect_stop(int signal_number, int expected)
{
  char *arguments[] = {"polhode", "run",         "top.json", "--end", "1000",
                       "--out",   "stopped.csv", "--json",   NULL};
  char last[4000];
  remove("stopped.csv");
  pid_t child = start(-1, arguments);
  wait_for_content("stopped.csv");
  assert_int_equal(kill(child, signal_number), 0);
  assert_int_equal(finish(child), expected);
  json_t *object = parse_output();
  expect_word(object, "status", "interrupted");
  long steps = (long)json_integer_value(at(object, "steps"));
  assert_true(steps > 0);
  assert_int_equal(count_rows("stopped.csv", last, sizeof last), steps + 1);
  json_decref(object);
  remove("stopped.csv");
}

static void signals_stop_a_run_cleanly(void **state)
{
  (void)state;
  expect_stop(SIGINT, 130);
  expect_stop(SIGTERM, 143);
}

/* Whole lines of a file whose last one may be cut, each with as many fields as the head. */
static int count_whole_rows(const char *path)
{
  static char line[4000];
  FILE *file = fopen(path, "r");
  int lines = 0, fields = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL) {
    int commas = 0;
    for (const char *c = line; *c; c++) commas += *c == ',';
    if (lines >= 2 && fields == 0) fields = commas;
    if (lines >= 2) assert_int_equal(commas, fields);
    lines++;
  }
  fclose(file);
  return lines - 3;
}

/* Even a run that is killed leaves whole lines; only the last may be cut, where the system stopped
 * in the middle of a write. */
static void a_killed_run_leaves_whole_lines(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "run", "top.json", "--end", "1000", "--out", "killed.csv", NULL};
  pid_t child = start(-1, arguments);
  wait_for_content("killed.csv");
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(finish(child), -1);
  assert_true(count_whole_rows("killed.csv") > 100);
  remove("killed.csv");
}

/* Appends what a terminal shows to err, which has `size` characters; how many were added. */
static size_t read_more(int terminal, size_t size)
{
  ssize_t count = read(terminal, err + size, sizeof err - 1 - size);
  size_t added = count > 0 ? (size_t)count : 0;
  err[size + added] = '\0';
  return added;
}

static void a_terminal_gets_a_progress_bar(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "run", "top.json", "--end", "1000", "--quiet", NULL};
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) skip();
  assert_int_equal(grantpt(terminal), 0);
  assert_int_equal(unlockpt(terminal), 0);
  int other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  assert_true(other_end >= 0);
  assert_int_equal(fcntl(terminal, F_SETFL, O_NONBLOCK), 0);

  /* --quiet: no bar; without: a bar that is erased at the end. */
  for (int quiet = 1; quiet >= 0; quiet--) {
    if (!quiet) arguments[5] = NULL;
    pid_t child = start(other_end, arguments);
    /* long enough for a bar, or until there is one */
    size_t size = 0;
    for (int i = 0; i < (quiet ? 5 : 100); i++) {
      sleep_milliseconds(100);
      size += read_more(terminal, size);
      if (strstr(err, " left")) break;
    }
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(finish(child), 130);
    for (size_t added = 1; added > 0; size += added) {
      sleep_milliseconds(20); /* a terminal hands on its text in pieces */
      added = read_more(terminal, size);
    }
    if (quiet) {
      assert_true(size == 0);
    } else {
      assert_true(size > 6);
      expect_text(err, "\r[");
      expect_text(err, " %  ");
      expect_text(err, " left");
      assert_memory_equal(err + size - 6, "     \r", 6);
      assert_null(strchr(err, '\n'));
    }
  }
  close(other_end);
  close(terminal);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_stop_a_run_cleanly),
      cmocka_unit_test(a_killed_run_leaves_whole_lines),
      cmocka_unit_test(a_terminal_gets_a_progress_bar),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
