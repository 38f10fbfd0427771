/* polhode sweep: the file does not depend on the number of processes or on interruptions, failures
 * are recorded with their reason, and wrong input is refused. */
#define _XOPEN_SOURCE 700

#include <limits.h>

#include "cli/cli_test.h"

/* Two hundred runs of a few milliseconds. */
static const char study[] =
    "{ \"model\": \"top.json\", \"set\": {\"simulation.step\": 1e-4},\n"
    "  \"vary\": { \"bodies.top.mass\": {\"from\": 10, \"to\": 20, \"count\": 20},\n"
    "    \"bodies.top.angular_velocity[1]\": {\"from\": 100, \"to\": 200, \"count\": 10} },\n"
    "  \"responses\": [ {\"name\": \"low\", \"signal\": \"top.position.z\", \"reduce\": \"min\"} "
    "],\n"
    "  \"signals\": [\"top.position\"], \"every\": 100 }\n";
enum { RUNS = 200 };

/* Four runs that take seconds. */
static const char slow[] =
    "{ \"model\": \"top.json\", \"set\": {\"simulation.step\": 1e-6, \"simulation.end\": 5},\n"
    "  \"vary\": { \"bodies.top.mass\": {\"values\": [10, 11, 12, 13]} } }\n";

static int exists(const char *path)
{
  return access(path, F_OK) == 0;
}

static void pause_for(long milliseconds)
{
  nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

/* Waits until a study has locked its journal and written the head of it. */
static void wait_for_journal(const char *path)
{
  struct stat info;
  for (int i = 0; i < 60000; i++) {
    if (stat(path, &info) == 0 && info.st_size > 0) return;
    pause_for(1);
  }
  fail_msg("there is no %s", path);
}

static void expect_same(const char *a, const char *b)
{
  char command[200];
  snprintf(command, sizeof command, "cmp %s %s", a, b);
  if (run_shell(command) != 0) fail_msg("%s", out);
}

static void the_file_is_the_same_for_any_number_of_processes(void **state)
{
  (void)state;
  expect("polhode sweep study.json --jobs 1 -q", 0);
  assert_string_equal(out, "");
  assert_true(exists("study.h5"));
  assert_false(exists("study.h5.journal"));
  assert_false(exists("study.h5.new"));
  expect("polhode sweep study.json --jobs 3 --out three.h5 --json", 0);
  json_t *report = parse_output();
  expect_word(report, "status", "done");
  assert_int_equal(number_at(report, "runs"), RUNS);
  assert_int_equal(number_at(report, "finished"), RUNS);
  assert_int_equal(number_at(report, "finished_before"), 0);
  assert_int_equal(number_at(report, "processes"), 3);
  json_decref(report);
  expect_same("study.h5", "three.h5");
  /* a finished study does nothing */
  expect("polhode sweep study.json --json", 0);
  report = parse_output();
  assert_int_equal(number_at(report, "finished_before"), RUNS);
  json_decref(report);
  expect_same("study.h5", "three.h5");
}

/* Ten times, at moments over the whole time that a study takes: the last one completes. */
static void a_killed_study_continues_without_repeating_runs(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "sweep",     "study.json", "--jobs", "2",
                       "--out",   "killed.h5", "-q",         NULL};
  unsigned random = 12345;
  long before = 0, empty = LONG_MAX; /* bytes of the journal, and without runs */
  for (int i = 0; i < 10; i++) {
    int status;
    const pid_t child = start(-1, arguments);
    random = random * 1103515245u + 12345u;
    pause_for((long)(random >> 16) % 60);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    /* the journal keeps what was finished */
    struct stat info;
    const long size = stat("killed.h5.journal", &info) == 0 ? (long)info.st_size : 0;
    if (!exists("killed.h5")) assert_true(size >= before);
    if (size > 0 && size < empty) empty = size;
    before = size;
  }
  const int left = exists("killed.h5.journal") && before > empty;
  expect("polhode sweep study.json --jobs 2 --out killed.h5 --json", 0);
  json_t *report = parse_output();
  if (left) assert_true(number_at(report, "finished_before") > 0);
  assert_int_equal(number_at(report, "finished"), RUNS);
  json_decref(report);
  assert_false(exists("killed.h5.journal"));
  expect_same("study.h5", "killed.h5");
}

/* A signal stops it cleanly: the file has what is finished, and the journal is kept. */
static void an_interrupted_study_continues(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "sweep", "study.json", "--jobs", "2", "--out", "half.h5", NULL};
  const pid_t child = start(-1, arguments);
  wait_until_caught(child, SIGINT);
  pause_for(20);
  kill(child, SIGINT);
  const int status = finish(child);
  assert_true(status == 128 + SIGINT || status == 0); /* a fast machine may have finished */
  if (status != 0 && exists("half.h5")) {
    assert_true(exists("half.h5.journal"));
    expect("polhode info half.h5 --json", 0);
    json_t *report = parse_output();
    expect_word(report, "status", "interrupted");
    assert_true(number_at(report, "finished") < RUNS);
    json_decref(report);
  }
  expect("polhode sweep study.json --out half.h5 -q", 0);
  expect_same("study.h5", "half.h5");
}

static void failed_and_invalid_runs_are_recorded(void **state)
{
  (void)state;
  write_text("failing.json",
             "{ \"model\": \"top.json\", \"sample\": \"list\",\n"
             "  \"set\": {\"simulation.end\": 1},\n"
             "  \"vary\": { \"bodies.top.mass\": {\"values\": [15, -1, 15]},\n"
             "    \"simulation.step\": {\"values\": [0.001, 0.001, 0.05]} },\n"
             "  \"responses\": [ {\"name\": \"end\", \"signal\": \"energy.total\"} ] }\n");
  expect("polhode sweep failing.json --json", 1);
  json_t *report = parse_output();
  expect_word(report, "status", "failed");
  assert_int_equal(number_at(report, "failed"), 2);
  expect_length(report, "failures", 2);
  json_t *first = json_array_get(at(report, "failures"), 0),
         *second = json_array_get(at(report, "failures"), 1);
  assert_int_equal(number_at(first, "run"), 1);
  expect_word(first, "status", "invalid");
  expect_text(json_string_value(at(first, "message")), "bodies[0].mass");
  assert_int_equal(number_at(second, "run"), 2);
  expect_word(second, "status", "failed");
  expect_text(json_string_value(at(second, "message")), "the Newton iteration did not converge");
  json_decref(report);
  expect("polhode sweep failing.json", 1);
  expect_text(out, "run 2 failed: the Newton iteration did not converge");
  expect("polhode info failing.h5", 0);
  expect_text(out, "run 1 invalid: ");
}

/* The number of a child process other than this one; waits until there is one. */
static long find_child(pid_t parent, long other)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
  for (int i = 0; i < 60000; i++) {
    long child = 0;
    FILE *file = fopen(path, "r");
    if (file != NULL) {
      if (fscanf(file, "%ld", &child) != 1) child = 0;
      fclose(file);
    }
    if (child > 0 && child != other) return child;
    pause_for(1);
  }
  fail_msg("there is no child process");
  return 0;
}

static void a_process_that_is_killed_is_a_crashed_run(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "sweep", "slow.json", "--jobs", "1", NULL};
  const pid_t parent = start(-1, arguments);
  wait_for_journal("slow.h5.journal");
  wait_until_caught(parent, SIGINT);
  pause_for(100);
  const long first = find_child(parent, 0);
  kill((pid_t)first, SIGKILL);
  find_child(parent, first); /* its successor: the crash has been seen */
  kill(parent, SIGINT);
  assert_int_equal(finish(parent), 128 + SIGINT);
  expect("polhode info slow.h5 --json", 0);
  json_t *report = parse_output();
  assert_int_equal(number_at(report, "finished"), 1);
  json_t *crash = json_array_get(at(report, "failures"), 0);
  expect_word(crash, "status", "crashed");
  expect_word(crash, "message", "the process was ended by signal 9 (Killed)");
  json_decref(report);
}

/* While one process has the journal, a second is refused. */
static void two_processes_cannot_have_one_journal(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "sweep", "slow.json", "--jobs", "1", "--out", "busy.h5", NULL};
  const pid_t first = start(-1, arguments);
  wait_for_journal("busy.h5.journal");
  wait_until_caught(first, SIGINT);
  expect("polhode sweep slow.json --out busy.h5", 2);
  expect_text(err, "busy.h5.journal: another process is running this study");
  kill(first, SIGINT);
  assert_int_equal(finish(first), 128 + SIGINT);
  assert_false(exists("busy.h5")); /* nothing was finished */
  assert_false(exists("busy.h5.journal"));
}

static void another_study_is_not_overwritten(void **state)
{
  (void)state;
  expect("polhode sweep failing.json --out study.h5", 2);
  expect_text(err, "holds another study");
  assert_false(exists("study.h5.journal"));
  expect("polhode run top.json --out run.h5 -q", 0);
  assert_int_equal(run_shell("cp run.h5 copy.h5"), 0);
  expect("polhode sweep failing.json --out run.h5 --restart", 2);
  expect_text(err, "exists and is not the file of a study");
  expect_same("run.h5", "copy.h5");
  expect("polhode sweep failing.json --out three.h5 --restart -q", 1);
  expect_same("three.h5", "failing.h5");
}

static void wrong_options_are_refused(void **state)
{
  (void)state;
  expect("polhode sweep study.json --jobs 0", 2);
  expect_text(err, "--jobs = 0: must be a whole number from 1 to 1024");
  expect("polhode sweep study.json --out study.json", 2);
  expect_text(err, "must end in .h5");
  expect("polhode sweep study.json --out none/study.h5", 2);
  expect_text(err, "none/study.h5.journal: No such file or directory");
  expect("polhode sweep study.json --plot x.svg --response lo", 2);
  expect_text(err, "--response = lo: the study has no such response");
  expect("polhode sweep study.json --x bodies.top.mass", 2);
  expect_text(err, "has no meaning without --plot");
  expect("polhode sweep study.json --plot x.svg --x mass", 2);
  expect_text(err, "must be a value that varies, as a number");
  expect("polhode sweep missing.json", 2);
  expect_text(err, "missing.json: cannot be read: No such file or directory");
  expect("polhode sweep -", 2);
  expect_text(err, "must be a file");
  assert_false(exists("x.svg"));
}

/* The disk is full while the file is written: the journal is kept, and the study completes later.
 */
static void a_full_disk_loses_nothing(void **state)
{
  (void)state;
  assert_int_equal(run_on_full_disk("polhode sweep study.json --out full.h5 -q", 20000), 1);
  expect_text(err, "full.h5");
  assert_true(exists("full.h5.journal"));
  assert_false(exists("full.h5"));
  assert_false(exists("full.h5.new"));
  expect("polhode sweep study.json --out full.h5 -q", 0);
  expect_same("study.h5", "full.h5");
}

static void responses_are_drawn(void **state)
{
  (void)state;
  expect("polhode sweep study.json --plot low.svg --x bodies.top.mass -q", 0);
  assert_int_equal(run_shell("cat low.svg"), 0);
  expect_text(out, "bodies.top.angular_velocity[1] = 100");
  expect_text(out, "low (m)");
  write_text("sample.json", "{ \"model\": \"top.json\", \"sample\": \"latin-hypercube\",\n"
                            "  \"count\": 8, \"vary\": { \"bodies.top.mass\": {\"from\": 10, "
                            "\"to\": 20} },\n"
                            "  \"responses\": [ {\"name\": \"end\", \"signal\": "
                            "\"energy.total\"} ] }\n");
  expect("polhode sweep sample.json --plot sample.png -q", 0);
  assert_true(exists("sample.png"));
}

static int enter(void **state)
{
  if (enter_folder(state) != 0) return -1;
  write_text("study.json", study);
  write_text("slow.json", slow);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_file_is_the_same_for_any_number_of_processes),
      cmocka_unit_test(a_killed_study_continues_without_repeating_runs),
      cmocka_unit_test(an_interrupted_study_continues),
      cmocka_unit_test(failed_and_invalid_runs_are_recorded),
      cmocka_unit_test(a_process_that_is_killed_is_a_crashed_run),
      cmocka_unit_test(two_processes_cannot_have_one_journal),
      cmocka_unit_test(another_study_is_not_overwritten),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(a_full_disk_loses_nothing),
      cmocka_unit_test(responses_are_drawn),
  };
  return cmocka_run_group_tests(tests, enter, leave_folder);
}
