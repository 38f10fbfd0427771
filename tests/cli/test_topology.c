/* polhode check --dot and --svg: the graph holds every name, shows what is driven and what is a
 * force, is the same each time; graphviz draws it; wrong files are refused.  Each test runs the
 * program itself.
 */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_SIZE = 1 << 17 };

static char folder[] = "test_topology_XXXXXX"; /* where the tests write */
static char out[TEXT_SIZE], err[TEXT_SIZE], text[TEXT_SIZE];

/* --- running the program ---------------------------------------------------------------------- */

static void read_text(const char *path, char *into)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t size = fread(into, 1, TEXT_SIZE - 1, file);
  assert_true(size < TEXT_SIZE - 1);
  into[size] = '\0';
  fclose(file);
}

/* Runs "polhode check MODEL OPTION VALUE [JSON]", whose files may have max_size bytes if that is
 * not 0. */
static int check(const char *model, const char *option, const char *value, const char *json,
                 rlim_t max_size)
{
  int status;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const struct rlimit limit = {max_size, max_size};
    if (max_size > 0 && (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit)))
      _exit(98);
    if (max_size > 0) setenv("GCOV_PREFIX", "counters", 1); /* or they would be cut too */
    dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execl(POLHODE_BINARY, "polhode", "check", model, option, value, json, (char *)NULL);
    _exit(99);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  read_text("out", out);
  read_text("err", err);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_text(const char *in, const char *part)
{
  if (strstr(in, part) == NULL) fail_msg("'%s' is not in: %s", part, in);
}

static int count_text(const char *in, const char *part)
{
  int count = 0;
  for (; (in = strstr(in, part)) != NULL; in += strlen(part)) count++;
  return count;
}

/* --- tests ------------------------------------------------------------------------------------ */

static const char crank[] = POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/"
                                               "slider_crank.json";

/* The graph of a model, in `text`. */
static void read_graph(const char *model, int status)
{
  assert_int_equal(check(model, "--dot", "a.dot", NULL, 0), status);
  read_text("a.dot", text);
}

static void the_graph_holds_every_body_and_joint(void **state)
{
  static const char *const parts[] = {"ground [shape=box",
                                      "body0 [shape=box",
                                      "label=\"crank\"",
                                      "label=\"rod\"",
                                      "label=\"slider\"",
                                      "label=\"bearing\\nrevolute\"",
                                      "label=\"guide\\nprismatic\"",
                                      "crank pin\\n",
                                      "wrist\\n",
                                      "ground -- joint",
                                      " -- joint3;\n"};
  (void)state;
  read_graph(crank, 0);
  expect_text(out, "crank pin"); /* the words are still printed */
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) expect_text(text, parts[i]);
  assert_int_equal(count_text(text, " -- "), 8); /* two for each joint */
  assert_int_equal(count_text(text, "dashed"), 0);
}

static void drives_and_couplings_are_marked(void **state)
{
  (void)state;
  read_graph(POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json", 0);
  expect_text(text, "\\ndrive motor: rotation, speed\"");
  read_graph(POLHODE_SOURCE_DIR "/models/examples/planetary_gear.json", 0);
  assert_int_equal(count_text(text, "\\ncoupling inner mesh: rotation"), 2);
  assert_int_equal(count_text(text, "\\ncoupling outer mesh: rotation"), 2);
}

/* A bushing and a drive of a marker lead from body to body, a force on a marker to one. */
static void bushings_and_driven_markers_are_drawn(void **state)
{
  (void)state;
  FILE *file = fopen("mount.json", "w");
  assert_non_null(file);
  fputs("{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"markers\": ["
        "{\"name\": \"m\", \"body\": \"ground\"}, {\"name\": \"n\", \"body\": \"a\"}],"
        "\"forces\": [{\"name\": \"rubber\", \"type\": \"bushing\", \"markers\": [\"m\", \"n\"],"
        "\"stiffness\": 10}, {\"name\": \"push\", \"type\": \"force\", \"marker\": \"n\","
        "\"force\": [1, 2, 3]}], \"drives\": [{\"name\": \"shaker\", \"marker\": \"n\","
        "\"coordinate\": \"x\", \"function\": {\"type\": \"constant\", \"value\": 0}}],"
        "\"simulation\": {\"step\": 0.01, \"end\": 2}}",
        file);
  fclose(file);
  read_graph("mount.json", 0);
  expect_text(text, "force0 [label=\"rubber\\nbushing\"");
  expect_text(text, "  ground -- force0 [style=dashed];\n  force0 -- body0 [style=dashed];\n");
  expect_text(text, "  body0 -- force1 [style=dashed];\n");
  expect_text(text, "drive0 [label=\"shaker\\ndrive\"");
  assert_int_equal(count_text(text, " -- "), 5);
}

/* A model of a chain with 20 links, its last one with forces, and a body that hangs on nothing. */
static void write_chain(const char *long_name)
{
  FILE *file = fopen("chain.json", "w");
  assert_non_null(file);
  fprintf(file, "{\"name\": \"A & B <C> \\\"D\\\" \\u0001\", \"bodies\": [");
  for (int i = 0; i < 20; i++)
    fprintf(file,
            "{\"name\": \"link %d\", \"mass\": 1, \"inertia\": [1, 1, 1], "
            "\"position\": [%d, 0, 0]},\n",
            i, i);
  fprintf(file, "{\"name\": \"%s\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": [",
          long_name);
  for (int i = 0; i < 20; i++) {
    char first[16] = "ground";
    if (i > 0) snprintf(first, sizeof first, "link %d", i - 1);
    fprintf(file,
            "%s{\"name\": \"hinge %d\", \"type\": \"revolute\", \"point\": [%d, 0, 0], "
            "\"axis\": [0, 1, 0], \"bodies\": [\"%s\", \"link %d\"]}",
            i == 0 ? "" : ",\n", i, i, first, i);
  }
  fprintf(file, "], \"forces\": ["
                "{\"name\": \"foot\", \"type\": \"support\", \"body\": \"link 19\", "
                "\"stiffness\": [1, 1, 1]},\n"
                "{\"name\": \"air\", \"type\": \"drag\", \"body\": \"link 19\", "
                "\"coefficient\": 1}],\n"
                "\"simulation\": {\"step\": 0.01, \"end\": 1}}\n");
  assert_int_equal(fclose(file), 0);
}

static void names_are_quoted(void **state)
{
  char long_name[201];
  (void)state;
  memset(long_name, 'x', 200);
  long_name[200] = '\0';
  write_chain(long_name);
  read_graph("chain.json", 0);
  expect_text(text, "graph \"A & B <C> \\\"D\\\"  \" {\n");
  expect_text(text, long_name);
  assert_int_equal(count_text(text, " -- "), 40 + 3); /* the support has two lines, drag one */
}

/* graphviz takes the graph and draws every name. */
static void the_picture_is_drawn(void **state)
{
  static char again[TEXT_SIZE];
  static const char *const names[] = {">ground<", ">crank<", ">slider<", ">bearing<", ">revolute<"};
  (void)state;
  assert_int_equal(check(crank, "--svg", "a.svg", NULL, 0), 0);
  read_text("a.svg", text);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) expect_text(text, names[i]);
  expect_text(text, "</svg>\n");
  assert_int_equal(check(crank, "--svg", "a.svg", "--json", 0), 0);
  assert_int_equal(out[0], '{');
  read_text("a.svg", again);
  assert_string_equal(text, again);
  assert_int_equal(check("chain.json", "--svg", "a.svg", NULL, 0), 0);
  read_text("a.svg", text);
  expect_text(text, ">A &amp; B &lt;C&gt; &quot;D&quot;");
}

static void without_graphviz_the_graph_is_kept(void **state)
{
  char *path = strdup(getenv("PATH"));
  (void)state;
  assert_non_null(path);
  remove("a.svg");
  remove("a.dot");
  setenv("PATH", "/nonexistent", 1);
  assert_int_equal(check(crank, "--svg", "a.svg", NULL, 0), 1);
  setenv("PATH", path, 1);
  free(path);
  expect_text(err, "a.svg: the program dot of graphviz is not installed; wrote the graph to a.dot");
  assert_int_equal(access("a.svg", F_OK), -1);
  read_text("a.dot", text);
  expect_text(text, "label=\"crank\"");
}

/* The picture helps most where the joints contradict each other. */
static void a_failing_check_is_drawn(void **state)
{
  (void)state;
  FILE *file = fopen("apart.json", "w");
  assert_non_null(file);
  fputs("{\"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": [1, 1, 1]}],\n"
        "\"markers\": [{\"name\": \"foot\", \"body\": \"ground\", \"position\": [1, 0, 0]},\n"
        " {\"name\": \"centre\", \"body\": \"rod\", \"position\": [0, 0, 0]}],\n"
        "\"joints\": [\n"
        "{\"name\": \"near\", \"type\": \"distance\", \"markers\": [\"foot\", \"centre\"],\n"
        " \"length\": 1},\n"
        "{\"name\": \"far\", \"type\": \"distance\", \"markers\": [\"foot\", \"centre\"],\n"
        " \"length\": 2}],\n"
        "\"simulation\": {\"step\": 0.01, \"end\": 1}}\n",
        file);
  assert_int_equal(fclose(file), 0);
  read_graph("apart.json", 2);
  assert_int_equal(count_text(text, " -- "), 4);
}

static void wrong_files_are_refused(void **state)
{
  (void)state;
  assert_int_equal(check(crank, "--svg", "nowhere/a.svg", NULL, 0), 2);
  expect_text(err, "polhode check: --svg = nowhere/a.svg: No such file or directory");
  assert_string_equal(out, "");
  assert_int_equal(check(crank, "--svg", "nowhere/a.svg", "--json", 0), 2);
  expect_text(out, "\"invalid\"");
  assert_int_equal(check(crank, "--svg", "model.json", NULL, 0), 2);
  expect_text(err, "must be a file name that ends in .svg");
  assert_int_equal(check(crank, "--dot", "model.json", NULL, 0), 2);
  expect_text(err, "must be a file name that ends in .dot");
  assert_int_equal(access("model.json", F_OK), -1);

  /* A wrong model gives no picture. */
  remove("a.svg");
  assert_int_equal(check("missing.json", "--svg", "a.svg", NULL, 0), 2);
  assert_int_equal(access("a.svg", F_OK), -1);
}

static void a_full_disk_is_reported(void **state)
{
  (void)state;
  assert_int_equal(check(crank, "--svg", "a.svg", NULL, 1000), 1);
  expect_text(err, "polhode check: a.svg: File too large");
  assert_int_equal(access("a.svg", F_OK), -1);
}

/* --- main ------------------------------------------------------------------------------------- */

static int enter_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
  static const char *const files[] = {"a.svg",      "a.dot", "chain.json", "apart.json",
                                      "mount.json", "out",   "err"};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove(files[i]);
  return chdir("..") == 0 ? rmdir(folder) : -1;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_graph_holds_every_body_and_joint),
      cmocka_unit_test(drives_and_couplings_are_marked),
      cmocka_unit_test(bushings_and_driven_markers_are_drawn),
      cmocka_unit_test(names_are_quoted),
      cmocka_unit_test(the_picture_is_drawn),
      cmocka_unit_test(without_graphviz_the_graph_is_kept),
      cmocka_unit_test(a_failing_check_is_drawn),
      cmocka_unit_test(wrong_files_are_refused),
      cmocka_unit_test(a_full_disk_is_reported),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
