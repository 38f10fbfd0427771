/* polhode run --checkpoint and --from: a run that is stopped by a signal and continued by another
 * process writes the numbers of the uninterrupted run; wrong files are refused. */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

/* The rows of the second table are the last ones of the first. */
static void expect_tail(const char *all, const char *rest)
{
  char command[400];
  snprintf(
      command, sizeof command,
      "sed 1,3d %s | tail -n $(sed 1,3d %s | wc -l) > tail.csv && sed 1,3d %s | cmp tail.csv -",
      all, rest, rest);
  assert_int_equal(run_shell(command), 0);
}

static void a_run_continues_from_its_end(void **state)
{
  (void)state;
  static const char *const methods[] = {"geom1", "rattle"};
  char line[200];
  for (int i = 0; i < 2; i++) {
    snprintf(line, sizeof line, "polhode run top.json --method %s --out all.csv -q", methods[i]);
    expect(line, 0);
    snprintf(line, sizeof line, "polhode run top.json --method %s --checkpoint end.state -q",
             methods[i]);
    expect(line, 0);
    snprintf(line, sizeof line, "polhode run top.json --method %s --from end.state --out rest.csv",
             methods[i]);
    expect(line, 0);
    expect_text(err, "polhode run: continues end.state from t = 0.1 s\n");
    expect_tail("all.csv", "rest.csv");
    assert_int_equal(access("end.state.new", F_OK), -1);
  }
}

/* The signal comes at any step. */
static void an_interrupted_run_continues_to_the_last_bit(void **state)
{
  (void)state;
  char *first[] = {
      "polhode", "run",   "top.json", "--set", "simulation.step=1e-5",        "--end",
      "1",       "--out", "a.csv",    "--set", "simulation.output.step=1e-3", "--checkpoint",
      "a.state", "-q",    NULL};
  char *second[] = {
      "polhode", "run",   "top.json", "--set", "simulation.step=1e-5",        "--end",
      "1",       "--out", "b.csv",    "--set", "simulation.output.step=1e-3", "--from",
      "a.state", "-q",    NULL};
  const pid_t child = start(-1, first);
  wait_until_caught(child, SIGINT);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  kill(child, SIGINT);
  const int status = finish(child);
  assert_true(status == 128 + SIGINT || status == 0); /* a fast machine may have finished */
  assert_int_equal(finish(start(-1, second)), 0);
  expect("polhode run top.json --set simulation.step=1e-5 --end 1 --out all.csv --set "
         "simulation.output.step=1e-3 -q",
         0);
  expect_tail("all.csv", "b.csv");
}

static void wrong_checkpoints_are_refused(void **state)
{
  (void)state;
  expect("polhode run top.json --checkpoint good.state -q", 0);
  expect("polhode run top.json --from good.state -q", 0);
  expect("polhode run top.json --from nothing.state", 2);
  expect_text(err, "polhode run: --from = nothing.state: No such file or directory\n");
  expect("polhode run top.json --from top.json", 2);
  expect_text(err, "this is no saved state of polhode");
  expect("polhode run top.json --from good.state --end 0.05", 2);
  expect_text(err, "simulation.end was 0.1 s, here it is 0.05 s: it must not be earlier");
  expect("polhode run top.json --from good.state --set bodies[0].mass=16", 2);
  expect_text(err, "it belongs to another model: body 'top' is not the same");
  expect("polhode run top.json --from good.state --method hht --json", 2);
  expect_text(out, "its method is geom1, here it is hht");
  assert_int_equal(run_shell("head -c 3000 good.state > part.state"), 0);
  expect("polhode run top.json --from part.state", 2);
  expect_text(err, "it is incomplete");

  expect("polhode run top.json --checkpoint top.json", 2);
  expect("polhode run top.json --checkpoint nowhere/a.state", 2);
  expect_text(err, "--checkpoint = nowhere/a.state: No such file or directory");
  expect("polhode run top.json --checkpoint /dev/null", 2);
  expect("polhode run top.json --checkpoint .", 2);
  expect("polhode run top.json --checkpoint-every 1", 2);
  expect_text(err, "needs --checkpoint");
  expect("polhode run top.json --checkpoint a.state --checkpoint-every 0", 2);
  expect_text(err, "must be a number of seconds above 0");
  expect("polhode run top.json --checkpoint a.state --checkpoint-every soon", 2);
  expect("polhode run top.json --checkpoint a.state --checkpoint-every 1e-9 -q", 0);
}

/* An HDF5 result keeps states: of its end, and of chosen times. */
static void a_run_continues_from_its_result(void **state)
{
  (void)state;
  expect("polhode run top.json --end 0.2 --out all.csv -q", 0);
  expect("polhode run top.json --end 0.2 --rtol 1e-6 --set simulation.control.span=0.1 --out "
         "variable.csv -q",
         0);
  expect("polhode run top.json --out first.h5 -q", 0);
  expect("polhode run top.json --from first.h5 -q", 0);
  expect("polhode run top.json --from first.h5 --end 0.2 --out rest.csv", 0);
  expect_text(err, "polhode run: continues first.h5 from t = 0.09");
  expect_tail("all.csv", "rest.csv");
  expect("polhode run top.json --rtol 1e-6 --out first.h5 -q", 0);
  expect("polhode run top.json --rtol 1e-6 --from first.h5 --end 0.2 --out rest.csv -q", 0);
  expect_tail("variable.csv", "rest.csv");

  /* a continued result can be continued */
  expect("polhode run top.json --end 0.12 --out first.h5 -q", 0);
  expect("polhode run top.json --end 0.15 --from first.h5 --out second.h5 -q", 0);
  expect("polhode run top.json --end 0.2 --from second.h5 --out rest.csv -q", 0);
  expect_tail("all.csv", "rest.csv");

  expect("polhode run top.json --end 0.2 --checkpoint-at 0,0.05,0.1 --out first.h5 -q", 0);
  expect("polhode run top.json --end 0.2 --from first.h5 --at 0.1 --out rest.csv", 0);
  expect_text(err, "continues first.h5 from t = 0.1 s\n");
  expect_tail("all.csv", "rest.csv");
  expect("polhode run top.json --end 0.2 --from first.h5 --at 0.07 --out rest.csv", 0);
  expect_text(err, "continues first.h5 from t = 0.07 s, after its state of t = 0.05 s\n");
  expect_tail("all.csv", "rest.csv");
  expect("polhode run top.json --end 0.2 --from first.h5 --at 0 --out rest.csv -q", 0);
  expect_tail("all.csv", "rest.csv");
  assert_int_equal(run_shell("cmp all.csv rest.csv"), 0);
}

/* The state of a run that was stopped, of fixed and of variable steps: the rest is the same to the
 * last bit, and so is the state at the end. */
static void a_run_is_resumed(void **state)
{
  (void)state;
  static const char *const settings[] = {"", "--rtol 1e-6", "--method rattle"};
  char command[200];
  for (int k = 0; k < 3; k++) {
    snprintf(command, sizeof command,
             "polhode run top.json --end 0.2 %s --checkpoint all.state --out all.csv -q",
             settings[k]);
    expect(command, 0);
    snprintf(command, sizeof command,
             "polhode run top.json --end 0.2 %s --checkpoint-at 0.07 --out first.h5 -q",
             settings[k]);
    expect(command, 0);
    snprintf(command, sizeof command,
             "polhode run top.json --end 0.2 %s --resume first.h5 --at 0.1 --checkpoint "
             "rest.state --out rest.csv",
             settings[k]);
    expect(command, 0);
    expect_text(err, "polhode run: continues first.h5 from t = 0.1");
    expect_tail("all.csv", "rest.csv");
    snprintf(command, sizeof command, "polhode run top.json --end 0.2 %s --resume rest.state -q",
             settings[k]);
    expect(command, 0);
  }
}

static void wrong_results_are_refused(void **state)
{
  (void)state;
  expect("polhode run top.json --out first.h5 -q", 0);
  expect("polhode run top.json --from first.h5 --at 0.05", 2);
  expect_text(err, "the first saved state of the result is that of t = 0.1 s");
  expect("polhode run top.json --from first.h5 --at 0.3", 2);
  expect_text(err, "--at = 0.3: must be a time in s, from 0 to the end of the run");
  expect("polhode run top.json --at 0.05", 2);
  expect_text(err, "needs --resume FILE or --from FILE");
  expect("polhode run top.json --from first.h5 --set bodies[0].mass=16", 2);
  expect_text(err, "--from = first.h5: it belongs to another model: body 'top' is not the same");
  expect("polhode run top.json --continue first.h5", 2);
  expect_text(err, "did you mean \"--resume\"?");
  expect("polhode run top.json --resume first.h5 --from first.h5", 2);
  expect_text(err, "must not be given beside --resume");
  expect("polhode run top.json --resume gone.h5", 2);
  expect_text(err, "--resume = gone.h5");
  expect("polhode modes top.json --out shapes.h5 -q", 0);
  expect("polhode run top.json --from shapes_1.h5", 2);
  expect_text(err, "the result has no saved states");
  expect("polhode run top.json --checkpoint-at 0.05", 2);
  expect_text(err, "needs --out FILE.h5");
  expect("polhode run top.json --checkpoint-at 0.05,0.01 --out a.h5", 2);
  expect_text(err, "must be ascending times in s");
  expect("polhode run top.json --checkpoint-at soon --out a.h5", 2);
  expect("polhode run top.json --end 0.1 --checkpoint-at 0.05,0.2 --out a.h5", 2);
  expect_text(err, "--checkpoint-at = 0.05,0.2: must not be after the end of the run");

  /* damaged at any place: an error or the right numbers, no crash */
  char command[200];
  expect("polhode run top.json --from first.h5 --out right.csv -q", 0);
  for (int i = 1; i < 40; i++) {
    snprintf(command, sizeof command,
             "size=$(wc -c < first.h5); cp first.h5 bad.h5; printf '\\377\\001\\200' | dd "
             "of=bad.h5 bs=1 conv=notrunc seek=$((size*%d/40)) 2> /dev/null",
             i);
    assert_int_equal(run_shell(command), 0);
    const int status = run("polhode run top.json --from bad.h5 --out bad.csv -q");
    assert_true(status == 0 || status == 2);
    if (status == 0) assert_int_equal(run_shell("cmp right.csv bad.csv"), 0);
    snprintf(command, sizeof command,
             "size=$(wc -c < first.h5); head -c $((size*%d/40)) first.h5 > bad.h5", i);
    assert_int_equal(run_shell(command), 0);
    expect("polhode run top.json --from bad.h5 -q", 2);
  }
}

static void a_failed_run_keeps_its_last_checkpoint(void **state)
{
  (void)state;
  expect("polhode run top.json --checkpoint kept.state -q", 0);
  assert_int_equal(run_on_full_disk("polhode run top.json --checkpoint kept.state -q", 1000), 1);
  expect_text(err, "kept.state");
  expect("polhode run top.json --from kept.state -q", 0); /* the old one is whole */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_continues_from_its_end),
      cmocka_unit_test(an_interrupted_run_continues_to_the_last_bit),
      cmocka_unit_test(wrong_checkpoints_are_refused),
      cmocka_unit_test(a_run_continues_from_its_result),
      cmocka_unit_test(a_run_is_resumed),
      cmocka_unit_test(wrong_results_are_refused),
      cmocka_unit_test(a_failed_run_keeps_its_last_checkpoint),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
