/* polhode check --svg: the picture is well-formed XML that holds every name, shows what is driven
 * and what is a force, is the same each time, and wrong files are refused.  Each test runs the
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

enum { TEXT_SIZE = 1 << 17, MAX_DEPTH = 16, MAX_BOXES = 200 };

static char folder[] = "test_topology_XXXXXX"; /* where the tests write */
static char out[TEXT_SIZE], err[TEXT_SIZE], svg[TEXT_SIZE];

/* --- running the program ---------------------------------------------------------------------- */

static void read_text(const char *path, char *text)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t size = fread(text, 1, TEXT_SIZE - 1, file);
  assert_true(size < TEXT_SIZE - 1);
  text[size] = '\0';
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

static void expect_text(const char *text, const char *part)
{
  if (strstr(text, part) == NULL) fail_msg("'%s' is not in: %s", part, text);
}

static int count_text(const char *text, const char *part)
{
  int count = 0;
  for (; (text = strstr(text, part)) != NULL; text += strlen(part)) count++;
  return count;
}

/* --- reading the picture ---------------------------------------------------------------------- */

/* Every tag is closed by its own, every & starts an entity, there is one root. */
static void expect_well_formed(const char *text)
{
  char open_tags[MAX_DEPTH][16];
  int depth = 0, roots = 0;
  while (*text != '\0') {
    if (*text == '&')
      assert_true(strncmp(text, "&amp;", 5) == 0 || strncmp(text, "&lt;", 4) == 0 ||
                  strncmp(text, "&gt;", 4) == 0);
    if ((unsigned char)*text < 0x20) assert_int_equal(*text, '\n');
    if (*text++ != '<') continue;
    const int closing = *text == '/';
    char tag[16];
    text += closing;
    assert_int_equal(sscanf(text, "%15[a-z]", tag), 1);
    text += strcspn(text, "<>");
    assert_int_equal(*text, '>');
    if (closing) {
      assert_true(depth > 0);
      assert_string_equal(open_tags[--depth], tag);
    } else {
      assert_true(depth < MAX_DEPTH);
      if (depth == 0) roots++;
      if (text[-1] != '/') strcpy(open_tags[depth++], tag);
    }
  }
  assert_int_equal(depth, 0);
  assert_int_equal(roots, 1);
}

/* No two of the boxes overlap, and all are inside the picture. */
static void expect_boxes_apart(const char *text, int expected)
{
  double x[MAX_BOXES], y[MAX_BOXES], width[MAX_BOXES], height[MAX_BOXES], right, bottom;
  int count = 0;
  assert_int_equal(sscanf(strstr(text, "viewBox"), "viewBox=\"0 0 %lf %lf\"", &right, &bottom), 2);
  for (; (text = strstr(text, "\" x=\"")) != NULL; text++) {
    assert_true(count < MAX_BOXES);
    assert_int_equal(sscanf(text, "\" x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &x[count],
                            &y[count], &width[count], &height[count]),
                     4);
    count++;
  }
  assert_int_equal(count, expected);
  for (int i = 0; i < count; i++) {
    assert_true(x[i] > 0 && y[i] > 0 && x[i] + width[i] < right && y[i] + height[i] < bottom);
    for (int j = 0; j < i; j++)
      assert_true(x[i] + width[i] < x[j] || x[j] + width[j] < x[i] || y[i] + height[i] < y[j] ||
                  y[j] + height[j] < y[i]);
  }
}

/* --- tests ------------------------------------------------------------------------------------ */

static const char crank[] = POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/"
                                               "slider_crank.json";

static void the_picture_holds_every_name(void **state)
{
  static const char *const names[] = {">ground<",   ">crank<",     ">rod<",       ">slider<",
                                      ">bearing<",  ">guide<",     ">crank pin<", ">wrist<",
                                      ">revolute<", ">prismatic<", ">spherical<", ">universal<"};
  (void)state;
  assert_int_equal(check(crank, "--svg", "a.svg", NULL, 0), 0);
  expect_text(out, "crank pin"); /* the words are still there */
  read_text("a.svg", svg);
  expect_well_formed(svg);
  expect_boxes_apart(svg, 4);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) expect_text(svg, names[i]);
  assert_int_equal(count_text(svg, "<path class=\"joint\""), 8); /* two for each joint */
  assert_int_equal(count_text(svg, "<path class=\"force\""), 0);
}

static void drives_are_marked(void **state)
{
  (void)state;
  assert_int_equal(
      check(POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json", "--svg", "a.svg", NULL, 0),
      0);
  read_text("a.svg", svg);
  expect_well_formed(svg);
  expect_boxes_apart(svg, 5); /* the ground, three bodies, the drive */
  expect_text(svg, ">drive motor: rotation, speed<");
}

/* A bushing and a drive of a marker lead from body to body; a force on a marker is an arrow. */
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
  assert_int_equal(check("mount.json", "--svg", "a.svg", NULL, 0), 0);
  read_text("a.svg", svg);
  expect_well_formed(svg);
  expect_boxes_apart(svg, 2);
  expect_text(svg, ">bushing<");
  expect_text(svg, ">shaker<");
  expect_text(svg, ">drive<");
  assert_int_equal(count_text(svg, "<path class=\"force\""), 5); /* two each, one for the arrow */
  assert_int_equal(count_text(svg, "<path class=\"head\""), 1);
}

/* A coupling is marked at both of its joints. */
static void couplings_are_marked(void **state)
{
  (void)state;
  assert_int_equal(
      check(POLHODE_SOURCE_DIR "/models/examples/planetary_gear.json", "--svg", "a.svg", NULL, 0),
      0);
  read_text("a.svg", svg);
  expect_well_formed(svg);
  expect_boxes_apart(svg, 8); /* the ground, three bodies, two couplings at two joints each */
  assert_int_equal(count_text(svg, ">coupling inner mesh: rotation<"), 2);
  assert_int_equal(count_text(svg, ">coupling outer mesh: rotation<"), 2);
}

/* The x of the middle of a name. */
static double middle_of(const char *name)
{
  char text[64];
  double x;
  snprintf(text, sizeof text, ">%s</text>", name);
  const char *place = strstr(svg, text);
  assert_non_null(place);
  while (strncmp(place, "<text x=\"", 9) != 0) place--;
  assert_int_equal(sscanf(place, "<text x=\"%lf\"", &x), 1);
  return x;
}

/* In a tree a body stands straight below its joint, and the joint below the body that it hangs on,
 * unless there is another. */
static void branches_hang_straight_down(void **state)
{
  (void)state;
  FILE *file = fopen("mount.json", "w");
  assert_non_null(file);
  fputs("{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}, {\"name\": \"b\", "
        "\"mass\": 1,"
        " \"inertia\": [1, 1, 1]},"
        "{\"name\": \"c\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": ["
        "{\"name\": \"left\", \"type\": \"spherical\", \"bodies\": [\"ground\", \"a\"],"
        " \"point\": [0, 0, 0]},"
        "{\"name\": \"right\", \"type\": \"spherical\", \"bodies\": [\"ground\", \"b\"],"
        " \"point\": [0, 0, 0]},"
        "{\"name\": \"low\", \"type\": \"spherical\", \"bodies\": [\"b\", \"c\"],"
        " \"point\": [0, 0, 0]}], \"simulation\": {\"step\": 0.01, \"end\": 2}}",
        file);
  fclose(file);
  assert_int_equal(check("mount.json", "--svg", "a.svg", NULL, 0), 0);
  read_text("a.svg", svg);
  assert_true(middle_of("right") > middle_of("left") + 20);
  assert_true(middle_of("a") == middle_of("left"));
  assert_true(middle_of("b") == middle_of("right"));
  assert_true(middle_of("low") == middle_of("right") && middle_of("c") == middle_of("right"));
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

static void a_chain_is_readable(void **state)
{
  char long_name[201], text[64];
  (void)state;
  memset(long_name, 'x', 200);
  long_name[200] = '\0';
  write_chain(long_name);
  assert_int_equal(check("chain.json", "--svg", "a.svg", NULL, 0), 0);
  read_text("a.svg", svg);
  expect_well_formed(svg);
  expect_boxes_apart(svg, 22);
  expect_text(svg, "<title>A &amp; B &lt;C&gt; \"D\"  </title>");
  for (int i = 0; i < 20; i++) {
    snprintf(text, sizeof text, ">link %d</text>", i);
    expect_text(svg, text);
    snprintf(text, sizeof text, ">hinge %d</text>", i);
    expect_text(svg, text);
  }

  /* The long name is whole only where the mouse rests. */
  assert_int_equal(count_text(svg, long_name), 1);
  expect_text(svg, ">xxxxxxxxxxxxxxxxxx\xE2\x80\xA6xxxxxxxxx</text>");

  /* The support spans 20 layers, two lines each; drag has one line with an arrow. */
  assert_int_equal(count_text(svg, "<path class=\"force\""), 41);
  assert_int_equal(count_text(svg, "<path class=\"head\""), 1);
}

static void pictures_repeat(void **state)
{
  static char again[TEXT_SIZE];
  (void)state;
  assert_int_equal(check(crank, "--svg", "a.svg", NULL, 0), 0);
  read_text("a.svg", svg);
  assert_int_equal(check(crank, "--svg", "a.svg", "--json", 0), 0);
  assert_int_equal(out[0], '{');
  read_text("a.svg", again);
  assert_string_equal(svg, again);
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
  remove("a.svg");
  assert_int_equal(check("apart.json", "--svg", "a.svg", NULL, 0), 2);
  read_text("a.svg", svg);
  expect_well_formed(svg);
  assert_int_equal(count_text(svg, "<path class=\"joint\""), 4);
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
  assert_int_equal(access("model.json", F_OK), -1);

  /* A wrong model gives no picture. */
  remove("a.svg");
  assert_int_equal(check("missing.json", "--svg", "a.svg", NULL, 0), 2);
  assert_int_equal(access("a.svg", F_OK), -1);
}

static void a_full_disk_is_told(void **state)
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
  static const char *const files[] = {"a.svg",      "chain.json", "apart.json",
                                      "mount.json", "out",        "err"};
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove(files[i]);
  return chdir("..") == 0 ? rmdir(folder) : -1;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_picture_holds_every_name),
      cmocka_unit_test(drives_are_marked),
      cmocka_unit_test(bushings_and_driven_markers_are_drawn),
      cmocka_unit_test(couplings_are_marked),
      cmocka_unit_test(branches_hang_straight_down),
      cmocka_unit_test(a_chain_is_readable),
      cmocka_unit_test(pictures_repeat),
      cmocka_unit_test(a_failing_check_is_drawn),
      cmocka_unit_test(wrong_files_are_refused),
      cmocka_unit_test(a_full_disk_is_told),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
