/* A disk that is full: every command that writes a file says so, ends with exit status 1, and
 * leaves nothing that could be taken for a whole file.  What the program prints stays below the
 * limit.
 */
#define _XOPEN_SOURCE 700

#include "cli/cli_test.h"

/* Runs the command line with a disk on which files have at most so many bytes. */
static void expect_failure(const char *command_line, unsigned bytes)
{
  const int status = run_on_full_disk(command_line, bytes);
  if (status != 1) fail_msg("%s: exit status %d\n%s%s", command_line, status, out, err);
}

static void expect_no_file(const char *path)
{
  if (access(path, F_OK) == 0) fail_msg("%s is still there", path);
}

static int make_results(void **state)
{
  if (enter_folder(state) != 0) return -1;
  return run("polhode run top.json --end 0.05 --out top.csv --quiet") != 0 ||
         run("polhode run top.json --end 0.05 --out top.h5 --quiet") != 0;
}

static void plots(void **state)
{
  (void)state;
  static const char *const files[] = {"a.svg", "a.png"};
  for (int i = 0; i < 2; i++) {
    char line[100];
    snprintf(line, sizeof line, "polhode plot top.csv top --out %s", files[i]);
    expect_failure(line, 2000);
    expect_text(err, "File too large; nothing was written\n1 error\n");
    expect_text(err, files[i]);
    assert_string_equal(out, "");
    expect_no_file(files[i]);
  }
  expect_failure("polhode plot top.csv top --out a.svg --json", 2000);
  json_t *object = parse_output();
  expect_word(object, "status", "failed");
  expect_word(json_array_get(at(object, "errors"), 0), "path", "--out");
  json_decref(object);
  expect_no_file("a.svg");
}

/* The numbers of the study are there all the same. */
static void studies(void **state)
{
  (void)state;
  expect_failure("polhode converge top.json --set simulation.end=0.02 --steps 1e-3,5e-4 --plot "
                 "a.svg",
                 4000);
  expect_text(err, "polhode converge: --plot = a.svg: File too large; nothing was written\n");
  expect_text(out, "order");
  assert_null(strstr(out, "a.svg"));
  expect_no_file("a.svg");
}

static void results(void **state)
{
  (void)state;
  expect_failure("polhode run top.json --out a.csv", 600);
  expect_text(err, "polhode run: --out = a.csv: File too large; nothing was written\n1 error\n");
  expect_no_file("a.csv");
}

static void pages(void **state)
{
  (void)state;
  expect_failure("polhode view top.h5 --out a.html", 20000);
  expect_text(err, "polhode view: --out = a.html: File too large; nothing was written\n1 error\n");
  expect_no_file("a.html");
}

static void drawings(void **state)
{
  (void)state;
  expect_failure("polhode check top.json --svg a.svg", 600);
  expect_text(err, "a.svg: File too large");
  expect_no_file("a.svg");
}

static void exports(void **state)
{
  (void)state;
  expect_failure("polhode export top.h5 --vtk vtk --frames 3", 600);
  expect_text(err, "vtk/frame_000000.vtu cannot be written: File too large");
  expect_no_file("vtk/frame_000000.vtu");
  expect_no_file("vtk/motion.pvd");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plots), cmocka_unit_test(studies),  cmocka_unit_test(results),
      cmocka_unit_test(pages), cmocka_unit_test(drawings), cmocka_unit_test(exports),
  };
  return cmocka_run_group_tests(tests, make_results, leave_folder);
}
