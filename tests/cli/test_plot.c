/* polhode plot as a user meets it: what it draws, where, and what it says about wrong input. */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

enum { OUTPUT_SIZE = 1 << 17, MAX_ARGUMENTS = 24 };

static char folder[] = "test_plot_XXXXXX"; /* where the tests write */
static char out[OUTPUT_SIZE], err[OUTPUT_SIZE], picture[OUTPUT_SIZE];

/* --- running the program ---------------------------------------------------------------------- */

static void read_text(const char *path, char *text)
{
  FILE *file = fopen(path, "r");
  if (file == NULL) fail_msg("there is no %s", path);
  size_t size = fread(text, 1, OUTPUT_SIZE - 1, file);
  text[size] = '\0';
  fclose(file);
}

/* Runs polhode with words without blanks ('_' stands for one) and fills out and err. */
static int run(const char *command_line)
{
  char text[1000];
  char *arguments[MAX_ARGUMENTS];
  int count = 0, status;
  snprintf(text, sizeof text, "%s", command_line);
  for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
    assert_true(count < MAX_ARGUMENTS - 1);
    arguments[count++] = word;
    if (strchr(word, '=') != NULL)
      for (char *c = word; (c = strchr(c, '_')) != NULL;) *c = ' ';
  }
  arguments[count] = NULL;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execv(POLHODE_BINARY, arguments);
    _exit(99);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  read_text("out", out);
  read_text("err", err);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const char *command_line, int expected)
{
  int status = run(command_line);
  if (status != expected)
    fail_msg("%s: exit status %d, not %d\nstdout: %s\nstderr: %s", command_line, status, expected,
             out, err);
}

static void expect_text(const char *text, const char *part)
{
  if (strstr(text, part) == NULL) fail_msg("there is no \"%s\" in: %s", part, text);
}

/* Draws, and reads the SVG into `picture`. */
static void draw(const char *command_line, const char *path)
{
  remove(path);
  expect(command_line, 0);
  read_text(path, picture);
  expect_text(picture, "<svg ");
  expect_text(picture, "</svg>");
}

static int count_of(const char *text, const char *part)
{
  int count = 0;
  for (const char *c = text; (c = strstr(c, part)) != NULL; c++) count++;
  return count;
}

static json_t *parse_output(void)
{
  json_error_t error;
  json_t *object = json_loads(out, JSON_REJECT_DUPLICATES, &error);
  if (object == NULL) fail_msg("%s in: %s", error.text, out);
  return object;
}

/* A result with 101 rows: a turning body, its height, an error that is 0 at first. */
static void write_result(const char *path, double height)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "# polhode 0.1.0\n# units: s,m,m,m,rad,1,J\n"
                "t,top.position.x,top.position.y,top.position.z,hinge.angle,error,energy.total\n");
  for (int i = 0; i <= 100; i++) {
    const double t = 0.01 * i;
    fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", t, t * (1 - t), t * t - 0.5,
            height, 10 * t, 1e-9 * t * t, 5435.7 + 0.01 * t);
  }
  assert_int_equal(fclose(file), 0);
}

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int set_up(void **state)
{
  (void)state;
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  write_result("top.csv", 1);
  write_result("fine.csv", 2);
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  static const char *const files[] = {
      "out",           "err",       "top.csv",   "fine.csv",  "top_plot.svg", "a.svg",
      "fine_plot.svg", "other.csv", "a.png",     "b.png",     "broken.csv",   "one.csv",
      "gaps.csv",      "huge.csv",  "empty.csv", "twice.csv", "same.csv",     "many.csv"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) remove(files[i]);
  assert_int_equal(chdir(".."), 0);
  return rmdir(folder);
}

/* --- pictures --------------------------------------------------------------------------------- */

static void one_quantity_is_drawn_over_time(void **state)
{
  (void)state;
  draw("polhode plot top.csv top.position.x", "top_plot.svg");
  assert_string_equal(out, "top_plot.svg: 1 curve in 1 panel\n");
  assert_string_equal(err, "");
  expect_text(picture, ">top.position.x (m)</text>");
  expect_text(picture, ">time (s)</text>");
  assert_int_equal(count_of(picture, "<g clip-path"), 1);
  /* alone, it needs no legend */
  assert_int_equal(count_of(picture, "top.position.x"), 1);
}

static void the_start_of_a_name_means_its_components(void **state)
{
  (void)state;
  draw("polhode plot top.csv top.position --out a.svg --title=Heavy_top --size 500x300", "a.svg");
  assert_string_equal(out, "a.svg: 3 curves in 1 panel\n");
  expect_text(picture, ">top.position (m)</text>");
  expect_text(picture, ">top.position.x</text>");
  expect_text(picture, ">top.position.z</text>");
  expect_text(picture, ">Heavy top</text>");
  expect_text(picture, "width=\"500\" height=\"300\"");
  /* a word ends at a dot: "top.pos" is no start */
  expect("polhode plot top.csv top.pos --out a.svg", 2);
}

static void patterns_find_quantities_and_units_make_panels(void **state)
{
  (void)state;
  draw("polhode plot top.csv *.angle t?p.*.y energy.total top --out a.svg", "a.svg");
  assert_string_equal(out, "a.svg: 5 curves in 3 panels\n");
  expect_text(picture, ">hinge.angle (rad)</text>");
  expect_text(picture, ">energy.total (J)</text>");
  assert_int_equal(count_of(picture, "<g clip-path"), 3);
  assert_int_equal(count_of(picture, ">time (s)</text>"), 1);
  expect_text(picture, "height=\"680\"");

  draw("polhode plot top.csv hinge.angle top --out a.svg --panels one", "a.svg");
  assert_string_equal(out, "a.svg: 4 curves in 1 panel\n");
  draw("polhode plot top.csv top.position.x top.position.y --out a.svg --panels quantity", "a.svg");
  assert_string_equal(out, "a.svg: 2 curves in 2 panels\n");
}

static void results_are_overlaid(void **state)
{
  (void)state;
  draw("polhode plot top.csv fine.csv top.position.z --out a.svg", "a.svg");
  expect_text(picture, ">top</text>");
  expect_text(picture, ">fine</text>");
  expect_text(picture, ">top.position.z (m)</text>");
  draw("polhode plot top.csv fine.csv top.position --out a.svg --label=h_1 --label=h_2", "a.svg");
  expect_text(picture, ">h 1: top.position.x</text>");
  expect_text(picture, ">h 2: top.position.z</text>");
  assert_int_equal(count_of(picture, "stroke-dasharray"), 6); /* curves and legend */
  /* the same name twice: paths tell */
  draw("polhode plot top.csv ./top.csv hinge --out a.svg", "a.svg");
  expect_text(picture, ">./top.csv</text>");
}

static void a_result_may_lack_a_quantity(void **state)
{
  (void)state;
  FILE *file = fopen("other.csv", "w");
  assert_non_null(file);
  fputs("# polhode 0.1.0\n# units: s,m\nt,arm.position.x\n0,1\n1,2\n", file);
  fclose(file);
  draw("polhode plot top.csv other.csv top.position.x arm --out a.svg", "a.svg");
  assert_string_equal(out, "a.svg: 2 curves in 1 panel\n");
  expect_text(err, "note: other.csv has no top.position.x\n");
  expect_text(err, "note: top.csv has no arm\n");
}

static void another_quantity_can_be_the_x_axis(void **state)
{
  (void)state;
  draw("polhode plot top.csv top.position.y --x top.position.x --equal --out a.svg", "a.svg");
  expect_text(picture, ">top.position.x (m)</text>");
  expect_text(picture, ">top.position.y (m)</text>");
  assert_null(strstr(picture, "time"));
}

/* --xy is short for --x; one of the two. */
static void pairs_are_phase_plots(void **state)
{
  (void)state;
  static char other[OUTPUT_SIZE];
  draw("polhode plot top.csv top.position.y --x top.position.x --out a.svg", "a.svg");
  strcpy(other, picture);
  draw("polhode plot top.csv --xy top.position.x,top.position.y --out a.svg", "a.svg");
  assert_string_equal(picture, other);
  expect("polhode plot top.csv --xy top.position.x --out a.svg", 2);
  expect_text(err, "--xy = top.position.x: must be two quantities with a comma between them");
  expect("polhode plot top.csv --xy hinge.angle,error --x t", 2);
  expect_text(err, "has no place beside --x");
  expect("polhode plot top.csv --xy hinge.angle,error --fft", 2);
  expect_text(err, "--fft: has the frequency as its x axis");
}

/* A sine of 5 Hz with the amplitude 3, at equal and at other distances of time. */
static void spectra_have_peaks(void **state)
{
  (void)state;
  for (int even = 0; even < 2; even++) {
    FILE *file = fopen("one.csv", "w");
    assert_non_null(file);
    fprintf(file, "# polhode 0.1.0\n# units: s,m\nt,a.position.x\n");
    for (int i = 0; i < 1000; i++) {
      const double t = 1e-3 * (i + (even ? 0.0 : 0.2 * sin(0.3 * i)));
      fprintf(file, "%.17g,%.17g\n", t, 7.0 + 3.0 * sin(10.0 * 3.14159265358979 * t));
    }
    assert_int_equal(fclose(file), 0);
    draw("polhode plot one.csv a --fft --to 0.9995 --out a.svg", "a.svg");
    expect_text(picture, ">frequency (Hz)</text>");
    expect_text(picture, ">amplitude of a.position.x (m)</text>");
    expect_text(picture, ">3.0</text>"); /* the highest tick */
    assert_null(strstr(picture, ">3.5</text>"));
    expect_text(picture, ">400</text>");
    draw("polhode plot one.csv a --fft --frequencies 2,20 --to 0.9995 --out a.svg", "a.svg");
    assert_null(strstr(picture, ">400</text>"));
    expect_text(picture, ">15</text>");
    expect_text(picture, ">3.0</text>");
  }
  expect("polhode plot one.csv a --fft --frequencies 2,2.1 --out a.svg", 2);
  expect_text(err, "must have two frequencies of the spectrum between them");
  expect("polhode plot one.csv a --fft --frequencies 20,2 --out a.svg", 2);
  expect_text(err, "must be two ascending numbers in Hz");
  expect("polhode plot one.csv a --frequencies 2,20 --out a.svg", 2);
  expect_text(err, "needs --fft");
  write_file("one.csv", "t,a\n0,1\n1,2\n2,nan\n3,2\n4,1\n");
  expect("polhode plot one.csv a --fft --out a.svg", 2);
  expect_text(err, "a: has values that are not finite: it has no spectrum");
  write_file("one.csv", "t,a\n0,1\n1,2\n1,3\n3,2\n4,1\n");
  expect("polhode plot one.csv a --fft --out a.svg", 2);
  expect_text(err, "one.csv: must have at least four rows of ascending time for --fft");
}

/* "*." stands for objects, not for residuals. */
static void stars_stand_for_objects(void **state)
{
  (void)state;
  write_file("one.csv", "t,a.position,residual.position,energy.a\n0,1,2,3\n1,2,3,4\n");
  expect("polhode plot one.csv *.position --out a.svg", 0);
  expect_text(out, "a.svg: 1 curve in 1 panel\n");
  expect("polhode plot one.csv *position --out a.svg", 0);
  expect_text(out, "a.svg: 2 curves in 1 panel\n");
  expect("polhode plot one.csv *.a --out a.svg", 2);
}

static void logarithmic_axes_leave_out_what_is_not_positive(void **state)
{
  (void)state;
  draw("polhode plot top.csv error --log-y --out a.svg", "a.svg");
  expect_text(err, "note: top.csv, error: 1 of 101 points left out: 1 not positive on a "
                   "logarithmic axis\n");
  expect_text(picture, ">10<tspan");
  expect_text(picture, ">error</text>"); /* the unit 1 is not told */
  draw("polhode plot top.csv error --log-y --log-x --out a.svg --quiet", "a.svg");
  assert_string_equal(out, "");
}

/* A result in HDF5 gives the same picture as one in CSV. */
static void hdf5_results_are_drawn_too(void **state)
{
  (void)state;
  static char csv[OUTPUT_SIZE];
  static const char *const ends[] = {"csv", "h5"};
  for (int i = 0; i < 2; i++) {
    char line[400];
    snprintf(line, sizeof line,
             "polhode run %s/models/bruels-cardona-2010/heavy_top.json --end 0.05 --quiet --out "
             "run.%s",
             POLHODE_SOURCE_DIR, ends[i]);
    expect(line, 0);
    snprintf(line, sizeof line, "polhode plot run.%s top energy --out a.svg", ends[i]);
    draw(line, "a.svg");
    if (i == 0) strcpy(csv, picture);
  }
  assert_string_equal(picture, csv);
  remove("run.csv");
  remove("run.h5");
}

static void a_time_window_can_be_chosen(void **state)
{
  (void)state;
  static const struct {
    const char *window;
    int rows;
  } cases[] = {
      {"--from 0.2 --to 0.4", 21}, {"--from 0.2", 81}, {"--to 0.4", 41}, {"--from -1 --to 2", 101}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char line[128];
    snprintf(line, sizeof line, "polhode plot top.csv error %s --json --out a.svg",
             cases[i].window);
    draw(line, "a.svg");
    json_t *object = parse_output();
    json_t *result = json_array_get(json_object_get(object, "results"), 0);
    assert_int_equal(json_integer_value(json_object_get(result, "rows")), cases[i].rows);
    json_decref(object);
  }
  expect("polhode plot top.csv error --from 2", 2);
  expect_text(err, "top.csv: has no time between --from and --to");
  assert_null(strstr(err, "has:")); /* the quantities are not what is wrong */
  expect("polhode plot top.csv error --from 2 --to 1", 2);
  expect_text(err, "--to = 1: must not be before --from\n");
}

/* One row, and one point between gaps, are dots, not specks. */
static void lone_points_are_dots(void **state)
{
  (void)state;
  write_file("one.csv", "t,a,b\n0,1,2\n");
  draw("polhode plot one.csv a b --out a.svg", "a.svg");
  assert_string_equal(out, "a.svg: 2 curves in 1 panel\n");
  const char *dot = strstr(picture, "a2.4 2.4 0 1 0 4.8 0");
  assert_non_null(dot);
  assert_non_null(strstr(dot + 1, "fill=\"#0072b2\"/>"));
  write_file("gaps.csv", "t,a\n0,1\n1,2\n2,nan\n3,1\n4,inf\n5,1\n6,2\n");
  draw("polhode plot gaps.csv a --out a.svg", "a.svg");
  expect_text(err, "note: gaps.csv, a: 2 of 7 points left out: 2 not finite\n");
  dot = strstr(picture, "a2.4 2.4 0 1 0 4.8 0");
  assert_non_null(dot);
  assert_null(strstr(dot + 1, "a2.4 2.4 0 1 0 4.8 0"));
}

/* What an axis cannot show is counted by its reason; where nothing is left there is no picture. */
static void what_cannot_be_drawn_is_told(void **state)
{
  (void)state;
  write_file("huge.csv", "t,a,b,c\n0,1e308,0,nan\n1,-1e308,1,nan\n2,nan,2,nan\n");
  draw("polhode plot huge.csv a b --out a.svg", "a.svg");
  expect_text(err, "note: huge.csv, a: 3 of 3 points left out: 1 not finite, 2 beyond 1e300\n");
  assert_string_equal(out, "a.svg: 1 curve in 1 panel; 1 without points\n");
  expect_text(picture, ">a (no points)</text>");
  draw("polhode plot huge.csv b c --panels quantity --out a.svg", "a.svg");
  expect_text(picture, ">no points to draw</text>");

  expect("polhode plot huge.csv a c --out none.svg", 2);
  expect_text(err,
              "huge.csv: a has no point that can be drawn: of 3, 1 not finite, 2 beyond 1e300\n");
  expect_text(err, "huge.csv: c has no point that can be drawn: of 3, 3 not finite\n2 errors\n");
  write_file("empty.csv", "t,a\n");
  expect("polhode plot empty.csv a --out none.svg", 2);
  expect_text(err, "empty.csv: has no rows: there is nothing to draw\n");
  write_file("twice.csv", "t,a,a\n0,1,2\n");
  expect("polhode plot twice.csv a --out none.svg", 2);
  expect_text(err, "twice.csv: line 1: two columns have the same name: a\n");
  assert_int_equal(access("none.svg", F_OK), -1);
}

/* Constants, also of 0, are in the middle of their axis. */
static void constants_are_drawn_in_the_middle(void **state)
{
  (void)state;
  write_file("same.csv", "t,a,b\n0,3.25,0\n1,3.25,0\n");
  draw("polhode plot same.csv a --out a.svg", "a.svg");
  expect_text(picture, ">3.3</text>");
  expect_text(picture, ">3.2</text>");
  assert_null(strstr(picture, "stroke-dasharray"));
  draw("polhode plot same.csv b --out a.svg", "a.svg");
  expect_text(picture, ">0.0</text>");
  expect_text(picture, ">1.0</text>");

  /* curves that are the same both show: the second has dashes */
  write_file("same.csv", "t,a,b,c\n0,1,1,2\n1,2,2,1\n");
  draw("polhode plot same.csv a b c --out a.svg", "a.svg");
  const char *dashes = strstr(picture, "stroke=\"#d55e00\" stroke-width=\"1.6\" stroke-dasharray");
  assert_non_null(dashes);
  assert_null(strstr(picture, "stroke=\"#009e73\" stroke-width=\"1.6\" stroke-dasharray"));
}

/* A panel of one quantity of many owners says so; a legend of many curves makes the picture higher.
 */
static void labels_and_heights_follow_the_curves(void **state)
{
  (void)state;
  static char text[4000] = "# units: s";
  for (int i = 0; i < 40; i++) strcat(text, ",N");
  strcat(text, "\nt");
  for (int i = 0; i < 40; i++) sprintf(text + strlen(text), ",j%d.force.%c", i / 3, "xyz"[i % 3]);
  strcat(text, "\n0");
  for (int i = 0; i < 40; i++) strcat(text, ",1");
  strcat(text, "\n");
  write_file("many.csv", text);
  draw("polhode plot many.csv *.force --out a.svg", "a.svg");
  expect_text(picture, ">force (N)</text>");
  expect_text(picture, ">j13.force.x</text>");
  assert_null(strstr(picture, " more</text>"));
}

static void png_has_its_size(void **state)
{
  (void)state;
  unsigned char head[24];
  expect("polhode plot top.csv top --dark --size 300x200 --scale 3 --out a.png", 0);
  FILE *file = fopen("a.png", "rb");
  assert_non_null(file);
  assert_int_equal(fread(head, 1, 24, file), 24);
  fclose(file);
  assert_memory_equal(head, "\x89PNG\r\n\x1A\n", 8);
  assert_int_equal(head[18] * 256 + head[19], 900);
  assert_int_equal(head[22] * 256 + head[23], 600);
}

/* The picture alone goes to standard output: nothing else is printed, no file is left. */
static void pictures_go_to_standard_output(void **state)
{
  (void)state;
  setenv("TMPDIR", ".", 1);
  draw("polhode plot top.csv top.position --out o.svg", "o.svg");
  expect("polhode plot top.csv top.position --out -", 0);
  assert_string_equal(out, picture);
  assert_string_equal(err, "");
  expect("polhode plot top.csv top.position --out - --json", 2);
  expect_text(err, "--out = -: cannot go to standard output beside --json");
  expect("polhode plot top.csv no.such --out -", 2);
  assert_string_equal(out, "");
  assert_int_not_equal(access("-", F_OK), 0);
  setenv("TMPDIR", "missing", 1);
  expect("polhode plot top.csv top.position --out -", 2);
  expect_text(err, "--out = -: No such file or directory");
  unsetenv("TMPDIR");
  glob_t left;
  assert_int_equal(glob("polhode-*", 0, NULL, &left), GLOB_NOMATCH);
}

static void json_tells_what_was_plotted(void **state)
{
  (void)state;
  expect("polhode plot top.csv hinge error --log-y --json --out a.svg", 0);
  json_t *object = parse_output(), *series;
  const char *channel, *unit, *file;
  int points, left_out;
  assert_string_equal(json_string_value(json_object_get(object, "status")), "done");
  file = json_string_value(json_object_get(object, "file"));
  assert_string_equal(file, "a.svg");
  json_t *panels = json_object_get(object, "panels");
  assert_int_equal(json_array_size(panels), 2);
  series = json_array_get(json_object_get(json_array_get(panels, 1), "series"), 0);
  assert_int_equal(json_unpack(series, "{s:s, s:s, s:i, s:i}", "channel", &channel, "unit", &unit,
                               "points", &points, "left_out", &left_out),
                   0);
  assert_string_equal(channel, "error");
  assert_string_equal(unit, "1");
  assert_int_equal(points, 100);
  assert_int_equal(left_out, 1);
  json_decref(object);
}

/* --- wrong input ------------------------------------------------------------------------------ */

static void unknown_quantities_get_suggestions_and_a_list(void **state)
{
  (void)state;
  expect("polhode plot top.csv top.positoin zzz hinge.angle", 2);
  expect_text(err, "top.positoin: there is no such quantity in the result; did you mean "
                   "\"top.position\"?");
  expect_text(err, "zzz: there is no such quantity in the result\n");
  expect_text(err, "2 errors");
  expect_text(err, "top.csv has:\n  t\n  top.position.{x,y,z}\n  hinge.angle\n");

  expect("polhode plot top.csv", 2);
  expect_text(err, "QUANTITY: must be given");
  expect_text(err, "top.position.{x,y,z}");
  expect("polhode plot top.csv error --x angle", 2);
  expect_text(err, "--x = angle: there is no such quantity");
  expect("polhode plot top.csv error --x top.position", 2);
  expect_text(err, "--x = top.position: must be the name of one column\n");

  expect("polhode plot top.csv fine.csv hinge.angel --json", 2);
  json_t *object = parse_output();
  json_t *error = json_array_get(json_object_get(object, "errors"), 0);
  assert_string_equal(json_string_value(json_object_get(error, "suggestion")), "hinge.angle");
  assert_int_equal(json_array_size(json_object_get(object, "available")), 7);
  json_decref(object);
}

static void results_that_cannot_be_read_are_told(void **state)
{
  (void)state;
  expect("polhode plot missing.csv also.csv error", 2);
  expect_text(err, "missing.csv: ");
  expect_text(err, "also.csv: ");
  expect_text(err, "2 errors");
  FILE *file = fopen("broken.csv", "w");
  assert_non_null(file);
  fputs("t,a\n0,1\n1,x\n2,3\n", file);
  fclose(file);
  expect("polhode plot broken.csv a", 2);
  expect_text(err, "broken.csv: ");
  expect("polhode plot", 2);
  expect_text(err, "RESULT... QUANTITY...: must be given");
}

static void wrong_options_are_told_together(void **state)
{
  (void)state;
  expect(
      "polhode plot top.csv error --size 7 --from x --panels two --out a.gif --label one --label "
      "two --scale wide",
      2);
  expect_text(err, "--size = 7: must be WIDTHxHEIGHT");
  expect_text(err, "--from = x: must be a number");
  expect_text(err, "--scale = wide: must be a number");
  expect_text(err, "--panels = two: must be one of: unit, quantity, one");
  expect_text(err, "--out = a.gif: must end in .svg, .png or .pdf");
  expect_text(err, "--label: must be given once for each result");
  expect_text(err, "6 errors");
  expect("polhode plot top.csv error --size 1x1 --out b.png", 2);
  expect_text(err, "--size: width and height must be 120 to 10000");
  assert_int_equal(access("b.png", F_OK), -1);
  expect("polhode plot top.csv error --equal --log-y", 2);
  expect_text(err, "--equal: equal units need linear axes");
  expect("polhode plot top.csv error --out missing/a.svg", 2);
  expect_text(err, "--out = missing/a.svg: No such file or directory");
}

/* Three hundred columns whose units alternate, in two files that share half of them: panels in the
 * order of their first columns, and in each the columns in the order of the files. */
static void wide_results_keep_their_order(void **state)
{
  (void)state;
  enum { WIDTH = 300 };
  static const char *const units[3] = {"m", "N", "J"};
  for (int k = 0; k < 2; k++) {
    FILE *file = fopen(k == 0 ? "wide.csv" : "other.csv", "w");
    assert_non_null(file);
    fprintf(file, "# polhode 0.1.0\n# units: s");
    for (int i = 0; i < WIDTH; i++) fprintf(file, ",%s", units[(i + k * WIDTH / 2) % 3]);
    fprintf(file, "\nt");
    for (int i = 0; i < WIDTH; i++) fprintf(file, ",c%d", i + k * WIDTH / 2);
    for (int row = 0; row < 2; row++) {
      fprintf(file, "\n%d", row);
      for (int i = 0; i < WIDTH; i++) fprintf(file, ",%d", row * (i % 5));
    }
    fprintf(file, "\n");
    assert_int_equal(fclose(file), 0);
  }
  expect("polhode plot wide.csv other.csv c* --json --out a.svg", 0);
  json_t *object = parse_output();
  const json_t *panels = json_object_get(object, "panels");
  assert_int_equal(json_array_size(panels), 3);
  for (int panel = 0; panel < 3; panel++) {
    const json_t *series = json_object_get(json_array_get(panels, (size_t)panel), "series");
    size_t n = 0;
    for (int i = panel; i < WIDTH * 3 / 2; i += 3)
      for (int k = i < WIDTH / 2 || i >= WIDTH ? 1 : 0; k < 2; k++) {
        char name[32];
        snprintf(name, sizeof name, "c%d", i);
        const json_t *one = json_array_get(series, n++);
        assert_string_equal(json_string_value(json_object_get(one, "channel")), name);
        assert_string_equal(json_string_value(json_object_get(one, "unit")), units[panel]);
        assert_string_equal(json_string_value(json_object_get(one, "result")),
                            i < WIDTH / 2 ? "wide.csv"
                            : k == 1      ? "other.csv"
                                          : "wide.csv");
      }
    assert_int_equal(json_array_size(series), n);
  }
  json_decref(object);
  remove("wide.csv");
  remove("other.csv");
}

/* Four equal curves between others: each has the dashes after those of the one before. */
static void equal_curves_have_different_dashes(void **state)
{
  (void)state;
  static const char *const looks[6] = {
      "stroke=\"#0072b2\" stroke-width=\"1.6\"/>",
      "stroke=\"#d55e00\" stroke-width=\"1.6\"/>",
      "stroke=\"#009e73\" stroke-width=\"1.6\" stroke-dasharray=\"6.4 5.12\"/>",
      "stroke=\"#cc79a7\" stroke-width=\"1.6\" stroke-dasharray=\"0.16 4.16\"/>",
      "stroke=\"#e69f00\" stroke-width=\"1.6\"/>",
      "stroke=\"#56b4e9\" stroke-width=\"1.6\" stroke-dasharray=\"8 4.8 0.16 4.8\"/>"};
  write_file("same.csv", "t,a,b,c,d,e,f\n0,1,2,1,1,3,1\n1,2,2,2,2,0,2\n");
  draw("polhode plot same.csv a b c d e f --out a.svg", "a.svg");
  for (int i = 0; i < 6; i++) assert_int_equal(count_of(picture, looks[i]), 2); /* and legend */
  remove("same.csv");
}

/* Colours tell channels, dashes results; a channel that is alone leaves the colours to results. */
static void results_of_one_channel_have_colours(void **state)
{
  (void)state;
  write_file("same.csv", "t,a,b\n0,1,2\n1,2,3\n");
  write_file("other.csv", "t,a,b\n0,5,6\n1,7,8\n");
  static const char *const colors[3] = {"stroke=\"#0072b2\"", "stroke=\"#d55e00\"",
                                        "stroke=\"#009e73\""};
  draw("polhode plot same.csv other.csv a --out a.svg", "a.svg");
  assert_int_equal(count_of(picture, colors[0]), 2); /* the curve and its legend */
  assert_int_equal(count_of(picture, colors[1]), 2);
  draw("polhode plot same.csv other.csv a b --out a.svg", "a.svg");
  assert_int_equal(count_of(picture, colors[0]), 4);
  assert_int_equal(count_of(picture, colors[1]), 4);
  assert_int_equal(count_of(picture, colors[2]), 0);
  remove("same.csv");
  remove("other.csv");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_quantity_is_drawn_over_time),
      cmocka_unit_test(the_start_of_a_name_means_its_components),
      cmocka_unit_test(patterns_find_quantities_and_units_make_panels),
      cmocka_unit_test(results_are_overlaid),
      cmocka_unit_test(a_result_may_lack_a_quantity),
      cmocka_unit_test(another_quantity_can_be_the_x_axis),
      cmocka_unit_test(pairs_are_phase_plots),
      cmocka_unit_test(spectra_have_peaks),
      cmocka_unit_test(stars_stand_for_objects),
      cmocka_unit_test(logarithmic_axes_leave_out_what_is_not_positive),
      cmocka_unit_test(hdf5_results_are_drawn_too),
      cmocka_unit_test(a_time_window_can_be_chosen),
      cmocka_unit_test(wide_results_keep_their_order),
      cmocka_unit_test(equal_curves_have_different_dashes),
      cmocka_unit_test(results_of_one_channel_have_colours),
      cmocka_unit_test(lone_points_are_dots),
      cmocka_unit_test(what_cannot_be_drawn_is_told),
      cmocka_unit_test(constants_are_drawn_in_the_middle),
      cmocka_unit_test(labels_and_heights_follow_the_curves),
      cmocka_unit_test(png_has_its_size),
      cmocka_unit_test(pictures_go_to_standard_output),
      cmocka_unit_test(json_tells_what_was_plotted),
      cmocka_unit_test(unknown_quantities_get_suggestions_and_a_list),
      cmocka_unit_test(results_that_cannot_be_read_are_told),
      cmocka_unit_test(wrong_options_are_told_together),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
