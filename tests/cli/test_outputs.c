/* What the program writes: never over a file that it reads, through links, one run at a time; and
 * never control characters of a file to a terminal.
 */
#define _XOPEN_SOURCE 700

#include <polhode/polhode.h>

#include "cli/cli_test.h"

/* A model with a mesh, whose file the tests write. */
static const char model[] =
    "{ \"bodies\": [ { \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [ { "
    "\"type\": \"mesh\", \"file\": \"mesh.stl\" } ] } ],\n"
    "  \"simulation\": { \"step\": 0.01, \"end\": 0.05 } }\n";
static const char mesh[] = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 "
                           "0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";

/* Anew for each test, if one before has overwritten them. */
static int write_inputs(void **state)
{
  (void)state;
  write_text("m.json", model);
  write_text("mesh.stl", mesh);
  write_text("whole.json", "{\"include\": [{\"file\": \"part.json\"}],"
                           "\"simulation\": {\"step\": 0.01, \"end\": 0.1}}");
  write_text("part.json", "{\"include\": [{\"file\": \"piece.json\"}]}");
  write_text("piece.json",
             "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}");
  return 0;
}

static int set_up(void **state)
{
  if (enter_folder(state) != 0 || write_inputs(state) != 0) return -1;
  return run("polhode run m.json --out r.h5 --quiet") != 0 ||
         run("polhode run m.json --out r.csv --quiet") != 0;
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* Bytes of a file, of which the first count. */
static size_t read_bytes(const char *path, char *bytes)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return size;
}

/* The command, in which %s is the output, must refuse the input under each name that leads to it,
 * and leave it as it is. */
static void expect_refusal(const char *command, const char *input, const char *suffix)
{
  static char before[1 << 20], after[1 << 20];
  char names[4][60], line[300], resolved[4096];
  const size_t size = read_bytes(input, before);
  snprintf(names[0], sizeof names[0], "symbolic%s", suffix);
  snprintf(names[1], sizeof names[1], "hard%s", suffix);
  snprintf(names[2], sizeof names[2], "chain%s", suffix);
  snprintf(names[3], sizeof names[3], "./sub/../hard%s", suffix);
  for (int i = 0; i < 3; i++) remove(names[i]);
  assert_int_equal(symlink(input, names[0]), 0);
  assert_int_equal(link(input, names[1]), 0);
  assert_non_null(realpath(".", resolved));
  strcat(resolved, "/");
  strcat(resolved, names[0]);
  assert_int_equal(symlink(resolved, names[2]), 0);
  for (int i = 0; i < 4; i++) {
    snprintf(line, sizeof line, command, names[i]);
    expect(line, 2);
    expect_text(err, "must not be an input file");
    assert_int_equal(read_bytes(input, after), size);
    assert_memory_equal(before, after, size);
  }
  for (int i = 0; i < 3; i++) assert_int_equal(remove(names[i]), 0);
}

static void no_output_is_an_input(void **state)
{
  (void)state;
  assert_int_equal(mkdir("sub", 0700), 0);
  static const struct {
    const char *command, *input, *suffix;
  } table[] = {
      /* included files, also those of included ones */
      {"polhode run whole.json --out %s", "part.json", ".h5"},
      {"polhode run whole.json --out %s", "piece.json", ".csv"},
      {"polhode modes whole.json --out %s", "piece.json", ".h5"},
      {"polhode converge whole.json --plot %s", "piece.json", ".svg"},
      {"polhode run m.json --out %s", "m.json", ".csv"},
      {"polhode run m.json --out %s", "m.json", ".h5"},
      {"polhode run m.json --out %s", "mesh.stl", ".csv"},
      {"polhode check m.json --svg %s", "m.json", ".svg"},
      {"polhode check m.json --svg %s", "mesh.stl", ".svg"},
      {"polhode converge m.json --plot %s", "m.json", ".svg"},
      {"polhode converge m.json --plot %s", "mesh.stl", ".png"},
      {"polhode converge m.json --reference r.h5 --plot %s", "r.h5", ".svg"},
      {"polhode plot r.csv a --out %s", "r.csv", ".svg"},
      {"polhode plot r.csv r.h5 a --out %s", "r.h5", ".png"},
      {"polhode view r.h5 --out %s", "r.h5", ".html"},
      {"polhode view r.h5 --out %s", "mesh.stl", ".html"},
      {"polhode view r.csv --model m.json --out %s", "r.csv", ".html"},
      {"polhode view r.csv --model m.json --out %s", "m.json", ".html"},
      {"polhode view r.csv --model m.json --out %s", "mesh.stl", ".html"},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    expect_refusal(table[i].command, table[i].input, table[i].suffix);
}

/* Names that no option says: what a picture or a result is called on the way, frames, reports. */
static void names_that_are_made(void **state)
{
  (void)state;
  assert_int_equal(link("m.json", "a_time.svg"), 0);
  expect("polhode converge m.json --work --plot a.svg", 2);
  expect_text(err, "--plot = a_time.svg: must not be an input file");
  assert_int_equal(rename("m.json", "new.h5.new"), 0);
  expect("polhode run new.h5.new --out new.h5", 2);
  assert_int_equal(rename("new.h5.new", "m.json"), 0);
  static char kept[OUTPUT_SIZE];
  for (int i = 0; i < 3; i++) { /* what leads to another file is not written to */
    write_text("precious.txt", "precious");
    assert_int_equal(i == 0   ? symlink("precious.txt", "new.h5.new")
                     : i == 1 ? link("precious.txt", "new.h5.new")
                              : mkfifo("new.h5.new", 0700),
                     0);
    expect("polhode run m.json --out new.h5", 2);
    expect_text(err, "--out = new.h5: is written under this name with .new appended first, and "
                     "there is a link or another file that is not a regular one; remove that");
    read_text("precious.txt", kept);
    assert_string_equal(kept, "precious");
    assert_int_not_equal(access("new.h5", F_OK), 0);
    assert_int_equal(remove("new.h5.new"), 0);
  }
  assert_int_equal(symlink("precious.txt", "a_newton.svg"), 0);
  assert_int_equal(rename("a_time.svg", "linked.json"), 0);
  expect("polhode converge m.json --work --plot a.svg", 2);
  expect_text(err, "--plot = a_newton.svg: must not be a symbolic link");
  assert_int_equal(mkdir("frames", 0700), 0);
  assert_int_equal(symlink("../precious.txt", "frames/frame_000001.vtu"), 0);
  expect("polhode export r.csv --vtk frames", 1);
  expect_text(err, "frames/frame_000001.vtu cannot be written: it is a symbolic link");
  read_text("precious.txt", kept);
  assert_string_equal(kept, "precious");
  assert_int_equal(link("r.h5", "r.html"), 0); /* the default name of a page */
  expect("polhode view r.h5", 2);
  assert_int_equal(mkdir("vtk", 0700), 0);
  assert_int_equal(symlink("../r.csv", "vtk/frame_000001.vtu"), 0);
  expect("polhode export r.csv --vtk vtk", 2);
  expect_text(err, "--vtk = vtk: would overwrite the result that is exported");
  assert_int_equal(remove("vtk/frame_000001.vtu"), 0);
  assert_int_equal(rename("r.csv", "vtk/r.csv"), 0); /* beside the frames it may be */
  expect("polhode export vtk/r.csv --vtk vtk --quiet", 0);
  expect("polhode info vtk/r.csv --quiet", 0);
  assert_int_equal(rename("vtk/r.csv", "r.csv"), 0);
  assert_int_equal(mkdir("report", 0700), 0);
  assert_int_equal(mkdir("tree", 0700) || mkdir("tree/models", 0700) ||
                       mkdir("tree/papers", 0700) || mkdir("tree/papers/data", 0700),
                   0);
  write_text("tree/models/x.json", model);
  assert_int_equal(symlink("../tree/models/x.json", "report/index.html"), 0);
  expect("polhode reproduce gavrea2005-table1 --data tree --out report", 2);
  expect_text(err, "must not be a folder that contains input models or data");
  expect("polhode info r.h5 --quiet", 0);
  expect("polhode check m.json --quiet", 0);
}

static void no_output_is_called_minus(void **state)
{
  (void)state;
  expect("polhode run m.json --out - --json", 2);
  expect("polhode run m.json --out -", 0);
  expect_text(out, "# polhode ");
  expect_text(out, "\nt,a.position.x,");
  expect("polhode view r.h5 --out -", 0);
  expect_text(out, "<!DOCTYPE html>");
  expect("polhode view r.h5 --out - --json", 2);
  expect("polhode export r.h5 --vtk -", 2);
  expect("polhode reproduce gavrea2005-table1 --out -", 2);
  assert_int_not_equal(access("-", F_OK), 0);
}

static void a_result_is_no_model(void **state)
{
  (void)state;
  expect("polhode run r.h5", 2);
  expect_text(
      err, "r.h5: is an HDF5 file, such as a result, not a model; polhode info, plot and view show "
           "a result");
  expect("polhode run r.csv", 2);
  expect_text(err, "r.csv: is a result in CSV, not a model");
}

/* --- links ------------------------------------------------------------------------------------ */

static int is_link(const char *path)
{
  struct stat info;
  return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

/* All writers write to where a link leads, which need not exist, and leave the link. */
static void links_are_followed(void **state)
{
  (void)state;
  static const struct {
    const char *command, *suffix;
  } table[] = {{"polhode run m.json --out %s --quiet", "h5"},
               {"polhode run m.json --out %s --quiet", "csv"},
               {"polhode check m.json --svg %s --quiet", "svg"},
               {"polhode plot r.csv a --out %s --quiet", "svg"},
               {"polhode plot r.csv a --out %s --quiet", "png"},
               {"polhode view r.h5 --out %s --quiet", "html"}};
  assert_int_equal(mkdir("links", 0700), 0);
  assert_int_equal(mkdir("targets", 0700), 0);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    for (int again = 0; again < 2; again++) {
      char name[60], target[60], line[200];
      struct stat info;
      snprintf(name, sizeof name, "links/x%zu.%s", i, table[i].suffix);
      snprintf(target, sizeof target, "../targets/x%zu.%s", i, table[i].suffix);
      if (!again) assert_int_equal(symlink(target, name), 0);
      snprintf(line, sizeof line, table[i].command, name);
      expect(line, 0);
      assert_true(is_link(name));
      assert_int_equal(stat(target + 3, &info), 0);
      assert_true(info.st_size > 100);
    }
  assert_int_equal(symlink("links/loop.h5", "links/loop.h5"), 0);
  expect("polhode run m.json --out links/loop.h5", 2);
}

/* Runs the command line with a disk on which files have at most so many bytes. */
static void expect_full_disk(const char *command_line, unsigned bytes)
{
  const int status = run_on_full_disk(command_line, bytes);
  if (status != 1) fail_msg("%s: exit status %d\n%s%s", command_line, status, out, err);
}

/* A link stays when the disk is full, and what it leads to is not half a file. */
static void links_survive_a_full_disk(void **state)
{
  (void)state;
  static const char *const commands[] = {"polhode check m.json --svg full.svg",
                                         "polhode view r.h5 --out full.html",
                                         "polhode plot r.csv a --out full.svg"};
  for (int i = 0; i < 3; i++) {
    const char *name = strstr(commands[i], "full");
    struct stat info;
    remove(name);
    assert_int_equal(symlink("full_target", name), 0);
    expect_full_disk(commands[i], 700);
    assert_true(is_link(name));
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(info.st_size, 0);
  }
}

/* Whatever fits on the disk, a result that could not be created leaves nothing. */
static void no_empty_result_is_left(void **state)
{
  (void)state;
  for (unsigned bytes = 100; bytes < 400; bytes += 100) {
    expect_full_disk("polhode run m.json --out tiny.h5", bytes);
    assert_int_not_equal(access("tiny.h5", F_OK), 0);
    assert_int_not_equal(access("tiny.h5.new", F_OK), 0);
  }
}

/* --- two runs at once ------------------------------------------------------------------------- */

static void expect_one_writer(char *path)
{
  char line[200],
      *arguments[] = {"polhode", "run", "m.json",  "--end", "1e9", "--set", "simulation.step=1e-4",
                      "--out",   path,  "--quiet", NULL};
  struct stat info;
  int status;
  const pid_t child = start(-1, arguments);
  while (stat(path, &info) != 0 || info.st_size == 0) { /* its head comes when it is locked */
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  wait_until_caught(child, SIGINT);
  snprintf(line, sizeof line, "polhode run m.json --out %s", path);
  expect(line, 2);
  expect_text(err, "another run is writing this file\n");
  assert_int_equal(kill(child, SIGINT), 0);
  assert_int_equal(finish(child), 130);
  snprintf(line, sizeof line, "polhode info %s --json", path);
  expect(line, 0);
  json_t *object = parse_output();
  assert_true(number_at(object, "rows") >= 1);
  json_decref(object);
  snprintf(line, sizeof line, "polhode run m.json --out %s --quiet", path);
  expect(line, 0); /* the lock is gone with the run */
  remove(path);
}

static void one_run_at_a_time_writes_a_file(void **state)
{
  (void)state;
  char csv[] = "both.csv", hdf5[] = "both.h5";
  expect_one_writer(csv);
  expect_one_writer(hdf5);
}

/* --- names ------------------------------------------------------------------------------------ */

static void names_of_columns_are_refused(void **state)
{
  (void)state;
  static const char *const lists[] = {
      "\"variables\": [ { \"name\": \"t_reactions\", \"expression\": \"t\" } ]",
      "\"states\": [ { \"name\": \"t_reactions\", \"rate\": \"t\" } ]"};
  for (int i = 0; i < 2; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{ \"bodies\": [ { \"name\": \"a\", \"type\": \"point\", \"mass\": 1 } ], %s }",
             lists[i]);
    write_text("named.json", text);
    expect("polhode check named.json", 2);
    expect_text(
        err,
        "'t_reactions') = \"t_reactions\": must not be \"t_reactions\", which is the name of a "
        "result column\n");
  }
}

/* Nothing but printable characters and ends of lines; in JSON, DEL and C1 may stand as they are. */
static void expect_printable(const char *text)
{
  const int is_json = text[0] == '{';
  if (!is_json && strstr(text, "\xc2\x9b") != NULL) fail_msg("CSI is printed: %s", text);
  for (; *text != '\0'; text++)
    if ((*text > 0 && *text < ' ' && *text != '\n') || (*text == 0x7f && !is_json))
      fail_msg("character %d is printed: %s", *text, text);
}

static void control_characters_are_not_printed(void **state)
{
  (void)state;
  static const char *const files[] = {
      "t,\"a\x1b[31m\x07.x\",\x1b]0;pwn\x07"
      "b\n0,1,2\n1,nan,3\n",
      "# polhode \x1b[2J\n# units: s,\x1b[1m,\xc2\x9b\x9b\nt,a\x7f,b\r\n0,1,2\n1,nan,2\n",
      "t,a\n0,\x1b[31m\n", "t,a\x1b,a\x1b\n0,1,2\n", "t;\x1b\n0;1\n"};
  static const char *const commands[] = {"polhode info e.csv",
                                         "polhode info e.csv --json",
                                         "polhode plot e.csv zz --out e.svg",
                                         "polhode plot e.csv * --out e.svg",
                                         "polhode view e.csv --model m.json --out e.html",
                                         "polhode export e.csv --vtk e_vtk",
                                         "polhode converge m.json --reference e.csv"};
  for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
    write_text("e.csv", files[f]);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
      const int status = run(commands[i]);
      assert_in_range(status, 0, 2);
      expect_printable(out);
      expect_printable(err);
    }
  }
  write_text("e.csv", files[0]);
  expect("polhode info e.csv", 0);
  expect_text(out, "\n  a?[31m?.x ");
  write_text("e.json", "{ \"bodies\": [ { \"name\": \"\\u001b[31m\" } ], \"\\u001b[2J\": 1 }");
  expect("polhode run e.json", 2);
  expect_printable(err);
}

/* A pattern with many stars takes no longer than one with two: with exponential work this test
 * would not end. */
static void patterns_with_many_stars(void **state)
{
  (void)state;
  write_text("stars.csv",
             "t,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab.c\n0,1\n1,2\n");
  expect("polhode plot stars.csv *a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*q --out s.svg", 2);
  expect("polhode plot stars.csv ****************************q --out s.svg", 2);
  expect("polhode plot stars.csv *a**a*?b --out s.svg --quiet", 0);
  expect("polhode plot stars.csv *?b.c --out s.svg --quiet", 0);
  expect("polhode plot stars.csv *a*.? --out s.svg --quiet", 0);
  expect("polhode plot stars.csv a* --out s.svg --quiet", 0);
  expect("polhode plot stars.csv *aa --out s.svg --quiet", 2);
}

/* What a page does not contain is noted, also where the table is not wanted. */
static void a_quiet_page_has_its_notes(void **state)
{
  (void)state;
  static const char *const commands[] = {"polhode view wide.h5 --out w.html",
                                         "polhode view wide.h5 --out w.html --quiet",
                                         "polhode view wide.h5 --out -"};
  write_text("wide.json",
             "{\"bodies\": [{\"repeat\": {\"i\": 500}, \"name\": \"b{i}\", \"mass\": 1, "
             "\"inertia\": [1, 1, 1], \"position\": [\"i\", 0, 0]}],"
             "\"simulation\": {\"step\": 0.01, \"end\": 0.02}}");
  expect("polhode run wide.json --out wide.h5 --quiet", 0);
  for (int i = 0; i < 3; i++) {
    expect(commands[i], 0);
    expect_text(err, "quantities omitted by the size limit");
    if (i == 1) assert_string_equal(out, "");
  }
  expect("polhode view wide.h5 --out w.glb --quiet", 0); /* which has none at all */
  assert_string_equal(err, "");
  expect("polhode view r.h5 --out w.html --quiet", 0);
  assert_string_equal(err, "");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(no_output_is_an_input, write_inputs),
      cmocka_unit_test_setup(names_that_are_made, write_inputs),
      cmocka_unit_test_setup(no_output_is_called_minus, write_inputs),
      cmocka_unit_test_setup(a_result_is_no_model, write_inputs),
      cmocka_unit_test_setup(links_are_followed, write_inputs),
      cmocka_unit_test_setup(links_survive_a_full_disk, write_inputs),
      cmocka_unit_test_setup(no_empty_result_is_left, write_inputs),
      cmocka_unit_test_setup(one_run_at_a_time_writes_a_file, write_inputs),
      cmocka_unit_test_setup(names_of_columns_are_refused, write_inputs),
      cmocka_unit_test_setup(control_characters_are_not_printed, write_inputs),
      cmocka_unit_test_setup(patterns_with_many_stars, write_inputs),
      cmocka_unit_test_setup(a_quiet_page_has_its_notes, write_inputs),
  };
  return cmocka_run_group_tests(tests, set_up, leave_folder);
}
