/* The polhode command with signals and on a terminal: a run that is stopped or killed, the progress
 * bar, colour.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

#include <sys/ioctl.h>
#include <time.h>

static void sleep_milliseconds(long milliseconds)
{
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* A child that has not ended; however long it takes. */
static void expect_running(pid_t child)
{
  int status;
  assert_int_equal(waitpid(child, &status, WNOHANG), 0);
}

/* Waits until the file that a child writes holds something. */
static void wait_for_content(pid_t child, const char *path)
{
  struct stat info;
  while (stat(path, &info) != 0 || info.st_size <= 100000) {
    expect_running(child);
    sleep_milliseconds(10);
  }
}

/* Whether a child sleeps, and whether a signal waits to be delivered to it. */
static void look_at(pid_t child, int signal_number, int *sleeps, int *pending)
{
  char path[64], line[256], letter = '?';
  unsigned long long signals = 0;
  snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    sscanf(line, "State: %c", &letter);
    sscanf(line, "ShdPnd: %llx", &signals);
  }
  fclose(file);
  *sleeps = letter == 'S';
  *pending = (int)(signals >> (signal_number - 1) & 1);
}

/* Stops a run by a signal that comes as often as this, at once. */
static void expect_stop(int signal_number, int times, int expected)
{
  char *arguments[] = {"polhode", "run",         "top.json", "--end", "1000",
                       "--out",   "stopped.csv", "--json",   NULL};
  char last[4000];
  remove("stopped.csv");
  pid_t child = start(-1, arguments);
  wait_for_content(child, "stopped.csv");
  for (int i = 0; i < times; i++) assert_int_equal(kill(child, signal_number), 0);
  assert_int_equal(finish(child), expected);
  json_t *object = parse_output();
  expect_word(object, "status", "interrupted");
  long steps = (long)json_integer_value(at(object, "steps"));
  assert_true(steps > 0);
  assert_int_equal(count_rows("stopped.csv", last, sizeof last), steps + 1);

  /* One line says how far it came and that the results are kept. */
  char line[200];
  snprintf(line, sizeof line,
           "polhode run: interrupted at t = %.10g s of 1000 s; stopped.csv holds the results up to "
           "there\n",
           number_at(object, "t"));
  read_text("err", err);
  assert_string_equal(err, line);
  json_decref(object);
  remove("stopped.csv");
}

static void signals_stop_a_run_cleanly(void **state)
{
  (void)state;
  expect_stop(SIGINT, 1, 130);
  expect_stop(SIGTERM, 1, 143);
  expect_stop(SIGTERM, 3, 143);
}

/* Writes four-bars side by side, whose redundant constraints take some ten seconds to find. */
static void write_four_bars(const char *path, int count)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "{\"bodies\": [");
  for (int i = 0; i < 3 * count; i++)
    fprintf(
        file,
        "%s{\"name\": \"b%d\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"position\": [%g, %d, "
        "%g]}",
        i > 0 ? ", " : "", i, 0.5 * (i % 3), i / 3, i % 3 == 1 ? 1.0 : 0.5);
  fprintf(file, "], \"joints\": [");
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 4; k++) {
      char first[16] = "ground", second[16] = "ground";
      if (k > 0) snprintf(first, sizeof first, "b%d", 3 * i + k - 1);
      if (k < 3) snprintf(second, sizeof second, "b%d", 3 * i + k);
      fprintf(file,
              "%s{\"name\": \"j%d\", \"type\": \"revolute\", \"bodies\": [\"%s\", \"%s\"], "
              "\"point\": [%d, %d, %d], \"axis\": [0, 1, 0]}",
              i + k > 0 ? ", " : "", 4 * i + k, first, second, k / 2, i, k == 1 || k == 2);
    }
  fprintf(file, "], \"simulation\": {\"step\": 0.001, \"end\": 0.01}}");
  assert_int_equal(fclose(file), 0);
}

/* Ctrl-C is obeyed while a large model starts, by both commands that start one. */
static void signals_stop_a_start(void **state)
{
  (void)state;
  char *commands[][6] = {{"polhode", "check", "loops.json", NULL},
                         {"polhode", "run", "loops.json", "--json", NULL}};
  write_four_bars("loops.json", 200);
  for (int k = 0; k < 2; k++) {
    pid_t child = start(-1, commands[k]);
    wait_until_caught(child, SIGINT);
    assert_int_equal(kill(child, SIGINT), 0);
    assert_int_equal(finish(child), 130);
    read_text("err", err);
    if (k == 0) {
      assert_non_null(strstr(err, "polhode check: interrupted"));
    } else {
      assert_non_null(strstr(err, "polhode run: interrupted at the start"));
      json_t *object = parse_output();
      expect_word(object, "status", "interrupted");
      json_decref(object);
    }
  }
  remove("loops.json");
}

/* A run that cannot go on to the end of its step, because nobody reads what it writes: the first
 * signal waits for it, the second does not. */
static void a_second_signal_stops_at_once(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "run", "top.json", "--end", "1000", "--out", "pipe.csv", NULL};
  static const int second[] = {SIGINT, SIGTERM};
  for (int i = 0; i < 2; i++) {
    int status, filled = 0, sleeps = 0, pending = 1;
    assert_int_equal(mkfifo("pipe.csv", 0600), 0);
    pid_t child = start(-1, arguments);
    int reader = open("pipe.csv", O_RDONLY);
    assert_true(reader >= 0);
    /* until the pipe is full: a run that has begun to write sleeps for nothing else */
    while (filled == 0 || !sleeps) {
      sleep_milliseconds(10);
      assert_int_equal(ioctl(reader, FIONREAD, &filled), 0);
      look_at(child, SIGINT, &sleeps, &pending);
      expect_running(child);
    }
    assert_int_equal(kill(child, SIGINT), 0);
    for (pending = 1; pending;) look_at(child, SIGINT, &sleeps, &pending);
    sleep_milliseconds(1000); /* what comes within half a second is the same request */
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    assert_int_equal(kill(child, second[i]), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), second[i]);
    close(reader);
    remove("pipe.csv");
  }
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
  wait_for_content(child, "killed.csv");
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(finish(child), -1);
  assert_true(count_whole_rows("killed.csv") > 100);
  remove("killed.csv");
}

/* --- terminals -------------------------------------------------------------------------------- */

static int terminal, other_end; /* what the program writes to other_end is read from terminal */

static int open_terminal(void **state)
{
  (void)state;
  terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return -1;
  other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  return other_end >= 0 ? fcntl(terminal, F_SETFL, O_NONBLOCK) : -1;
}

static int close_terminal(void **state)
{
  (void)state;
  close(other_end);
  close(terminal);
  return 0;
}

/* Appends what the terminal shows to err, which has `size` characters; how many were added. */
static size_t read_more(size_t size)
{
  ssize_t count = read(terminal, err + size, sizeof err - 1 - size);
  size_t added = count > 0 ? (size_t)count : 0;
  err[size + added] = '\0';
  return added;
}

/* Reads the rest; a terminal hands on its text in pieces. */
static size_t read_rest(size_t size)
{
  for (size_t added = 1; added > 0; size += added) {
    sleep_milliseconds(20);
    added = read_more(size);
  }
  return size;
}

/* A long run on a terminal of that width, stopped when there is a bar or after half a second; err
 * has all it wrote there. */
static void show_progress(char *option, unsigned short columns)
{
  char *arguments[] = {"polhode", "run", "top.json", "--end", "1000", option, NULL};
  const struct winsize window = {.ws_row = 24, .ws_col = columns};
  assert_int_equal(ioctl(other_end, TIOCSWINSZ, &window), 0);
  pid_t child = start(other_end, arguments);
  size_t size = 0;
  err[0] = '\0';
  wait_until_caught(child, SIGINT);
  for (int i = 0; strstr(err, " left") == NULL && (option == NULL || i < 5); i++) {
    sleep_milliseconds(100);
    size += read_more(size);
    expect_running(child);
  }
  assert_int_equal(kill(child, SIGINT), 0);
  assert_int_equal(finish(child), 130);
  read_rest(size);
}

/* The bar of every width fits its line and is erased before the message at the end. */
static void a_terminal_gets_a_progress_bar(void **state)
{
  (void)state;
  static const unsigned short widths[] = {100, 45, 25};
  show_progress("--quiet", 80);
  assert_null(strstr(err, " left"));
  assert_ptr_equal(strstr(err, "polhode run: "), err);
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    show_progress(NULL, widths[i]);
    expect_text(err, " %  ");
    expect_text(err, " left");
    if (widths[i] == 25)
      assert_null(strchr(err, '#'));
    else
      expect_text(err, "\r[");
    const char *message = strstr(err, "     \rpolhode run: ");
    assert_non_null(message);
    assert_true(memchr(err, '\n', (size_t)(message - err)) == NULL);
    /* what stands between two carriage returns */
    for (const char *line = err + 1; line < message; line += strcspn(line, "\r") + 1)
      assert_true(strcspn(line, "\r") < widths[i]);
  }
}

/* Runs "polhode run top.json --method goem1 [OPTION]" with its errors on the terminal. */
static void show_error(char *option)
{
  char *arguments[] = {"polhode", "run", "top.json", "--method", "goem1", option, NULL};
  err[0] = '\0';
  assert_int_equal(finish(start(other_end, arguments)), 2);
  read_rest(0);
  expect_text(err, "must be one of");
}

static void color_is_for_terminals(void **state)
{
  (void)state;
  static const char red[] = "\033[31mmust be one of";
  show_error(NULL);
  expect_text(err, red);
  expect_text(err, "\033[1msimulation.method\033[0m = ");
  show_error("--color=never");
  assert_null(strchr(err, '\033'));
  setenv("TERM", "dumb", 1);
  show_error(NULL);
  assert_null(strchr(err, '\033'));
  setenv("TERM", "xterm", 1);
  setenv("NO_COLOR", "1", 1);
  show_error(NULL);
  assert_null(strchr(err, '\033'));
  show_error("--color=always");
  expect_text(err, red);
  setenv("NO_COLOR", "", 1); /* an empty one does not count */
  show_error(NULL);
  expect_text(err, red);
  unsetenv("NO_COLOR");

  /* into a file only if asked for */
  expect("polhode run top.json --method goem1", 2);
  assert_null(strchr(err, '\033'));
  expect("polhode run top.json --method goem1 --color always", 2);
  expect_text(err, red);
  expect("polhode methods", 0);
  assert_null(strchr(out, '\033'));
  expect("polhode methods --color always", 0);
  expect_text(out, "\n  \033[1mgeom1\033[0m\n");
  expect("polhode rnu --color=always", 2);
  expect_text(err, "\033[31mthere is no such command\033[0m; did you mean \"run\"?\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_stop_a_run_cleanly),
      cmocka_unit_test(signals_stop_a_start),
      cmocka_unit_test(a_second_signal_stops_at_once),
      cmocka_unit_test(a_killed_run_leaves_whole_lines),
      cmocka_unit_test_setup_teardown(a_terminal_gets_a_progress_bar, open_terminal,
                                      close_terminal),
      cmocka_unit_test_setup_teardown(color_is_for_terminals, open_terminal, close_terminal),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
