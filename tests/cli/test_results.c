/* Results on the command line: run --out FILE.h5, info, export, and runs that are killed. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <polhode/model.h>
#include <polhode/polhode.h>
#include <polhode/result.h>

#define MODELS POLHODE_SOURCE_DIR "/models"
static const char top[] = MODELS "/bruels-cardona-2010/heavy_top.json";
static const char crank[] = MODELS "/holzinger-arnold-gerstmayr/slider_crank.json";
static const char chain[] = MODELS "/examples/chain_20.json";
static const char ball[] = MODELS "/examples/bouncing_ball.json";

static char output[200000]; /* of the last command: both streams */

/* Runs "polhode ..." and expects its exit status. */
static void expect(int status, const char *format, ...)
{
  char command[4000], arguments[3000];
  va_list values;
  va_start(values, format);
  vsnprintf(arguments, sizeof arguments, format, values);
  va_end(values);
  snprintf(command, sizeof command, "'%s' %s 2>&1", POLHODE_BINARY, arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
  const int result = pclose(pipe);
  if (!WIFEXITED(result) || WEXITSTATUS(result) != status)
    fail_msg("polhode %s ended with %d: %s", arguments, result, output);
}

static void expect_text(const char *text)
{
  if (strstr(output, text) == NULL) fail_msg("no \"%s\" in %s", text, output);
}

static json_t *parse_output(void)
{
  json_t *object = json_loads(output, 0, NULL);
  if (object == NULL) fail_msg("no JSON: %s", output);
  return object;
}

static pol_result *open_result(const char *path)
{
  char message[300] = "";
  pol_result *result;
  if (pol_result_open(&result, path, message, sizeof message) != POL_OK)
    fail_msg("%s: %s", path, message);
  return result;
}

/* --- run and info ----------------------------------------------------------------------------- */

/* Both formats hold the same numbers. */
static void both_formats_agree(void **state)
{
  (void)state;
  expect(0, "run %s --end 0.5 --out results.h5 --json", crank);
  json_t *object = parse_output(), *file = json_object_get(object, "result");
  assert_string_equal(json_string_value(json_object_get(file, "file")), "results.h5");
  assert_int_equal(json_integer_value(json_object_get(file, "rows")), 501);
  assert_int_equal(json_integer_value(json_object_get(file, "columns")), 140);
  json_decref(object);
  expect(0, "run %s --end 0.5 --out results.csv", crank);
  pol_result *a = open_result("results.h5"), *b = open_result("results.csv");
  assert_int_equal(pol_result_count(a), pol_result_count(b));
  assert_int_equal(pol_result_rows(a), 501);
  assert_int_equal(pol_result_rows(b), 501);
  for (int i = 0; i < pol_result_count(a); i++) {
    double x[501], y[501];
    assert_string_equal(pol_result_channel(a, i)->name, pol_result_channel(b, i)->name);
    assert_string_equal(pol_result_channel(a, i)->unit, pol_result_channel(b, i)->unit);
    assert_int_equal(pol_result_series(a, i, x), POL_OK);
    assert_int_equal(pol_result_series(b, i, y), POL_OK);
    assert_memory_equal(x, y, sizeof x);
  }
  pol_result_close(&a);
  pol_result_close(&b);
}

/* The result holds the model that was read, also where it cannot be read again. */
static void a_model_from_a_pipe_is_stored(void **state)
{
  (void)state;
  assert_int_equal(system("cat '" MODELS "/bruels-cardona-2010/heavy_top.json' | '" POLHODE_BINARY
                          "' run /dev/stdin --end 0.01 --out results.h5 --quiet"),
                   0);
  pol_result *result = open_result("results.h5");
  pol_model *model = NULL;
  pol_errors errors = {0};
  assert_non_null(pol_result_about(result)->model);
  assert_int_equal(pol_model_read_file(&model, top, 0, NULL, &errors), POL_OK);
  assert_string_equal(pol_result_about(result)->model, model->text);
  pol_model_free(&model);
  pol_result_close(&result);
}

/* States, variables and invariants of free bodies have their places too. */
static void all_kinds_of_quantities_come_back(void **state)
{
  (void)state;
  static const char *const models[] = {"examples/pid_pendulum", "examples/bouncing_ball",
                                       "bruels-cardona-2010/romano_2",
                                       "kinon-betsch-schneider-2023/four_particles"};
  for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
    const char *path = POLHODE_SOURCE_DIR "/models/";
    expect(0, "run %s%s.json --end 0.02 --out results.h5 --quiet", path, models[m]);
    expect(0, "run %s%s.json --end 0.02 --out results.csv --quiet", path, models[m]);
    pol_result *a = open_result("results.h5"), *b = open_result("results.csv");
    long rows = pol_result_rows(a);
    assert_int_equal(pol_result_count(a), pol_result_count(b));
    assert_int_equal(rows, pol_result_rows(b));
    double *x = calloc((size_t)rows, sizeof *x), *y = calloc((size_t)rows, sizeof *y);
    for (int i = 0; i < pol_result_count(a); i++) {
      assert_string_equal(pol_result_channel(a, i)->name, pol_result_channel(b, i)->name);
      assert_int_equal(pol_result_series(a, i, x), POL_OK);
      assert_int_equal(pol_result_series(b, i, y), POL_OK);
      assert_memory_equal(x, y, (size_t)rows * sizeof *x);
    }
    free(x);
    free(y);
    pol_result_close(&a);
    pol_result_close(&b);
  }
}

static void info_tells_what_there_is(void **state)
{
  (void)state;
  expect(0, "run %s --end 0.01 --set bodies[0].mass=14 --out results.h5 --quiet", top);
  expect(0, "info results.h5");
  expect_text("result          results.h5, HDF5, ");
  expect_text("model           Heavy top\n");
  expect_text("settings        geom1, so3xr3, step 0.001 s, end 0.01 s\n");
  expect_text("set             bodies[0].mass=14\n");
  expect_text("status          done\n");
  expect_text("rows            11\n");
  expect_text("time            0 s to 0.01 s\n");
  expect_text("  top.position.x .y .z                           m\n");
  expect(0, "run %s --end 0.01 --rtol 1e-5 --out variable.h5 --quiet", top);
  expect(0, "info variable.h5");
  expect_text("settings        geom1, so3xr3, step variable, end 0.01 s\n");
  remove("variable.h5");

  expect(0, "info results.h5 --json");
  json_t *object = parse_output();
  const char *format, *status, *name, *group, *method;
  int rows, has_model;
  assert_int_equal(json_unpack(object, "{s:s, s:s, s:i, s:b, s:{s:s}, s:[{}, {s:s, s:s}]}",
                               "format", &format, "status", &status, "rows", &rows, "has_model",
                               &has_model, "settings", "method", &method, "channels", "name", &name,
                               "group", &group),
                   0);
  assert_string_equal(format, "hdf5");
  assert_string_equal(status, "done");
  assert_string_equal(name, "top.position.x");
  assert_string_equal(group, "bodies");
  assert_string_equal(method, "geom1");
  assert_true(rows == 11 && has_model);
  json_decref(object);

  /* The model inside, with what was set, is the one that was run. */
  pol_result *r = open_result("results.h5");
  const pol_result_info *info = pol_result_about(r);
  pol_errors errors = {0};
  pol_model *model;
  assert_int_equal(pol_model_read_text(&model, info->model, info->num_overrides,
                                       (const char *const *)info->overrides, &errors),
                   POL_OK);
  assert_true(pol_mechanism_body(model->mechanism, 0)->mass == 14.0);
  assert_true(model->settings.end == 0.01);
  pol_model_free(&model);
  pol_result_close(&r);

  expect(0, "run %s --end 0.01 --out results.csv --quiet", top);
  expect(0, "info results.csv");
  expect_text("result          results.csv, CSV, ");
  expect_text("rows            11\n");
}

/* The buffers of a result count where memory is estimated. */
static void buffers_are_estimated(void **state)
{
  (void)state;
  expect(0, "check %s --json", chain);
  json_t *object = parse_output();
  const double bytes =
      json_number_value(json_object_get(json_object_get(object, "memory"), "result_bytes"));
  assert_true(bytes > 1e6 && bytes < 1e7);
  json_decref(object);
}

static void info_tells_the_events(void **state)
{
  (void)state;
  expect(0, "run %s --out results.h5 --quiet", ball);
  expect(0, "info results.h5");
  expect_text("events          11\n");
  expect_text("\nevent                                time s  action       row\n"
              "bounce                         0.4515236410  reset   ");
  expect_text("\nfar enough                     2.7500000000  stop    ");
  expect(0, "info results.h5 --json");
  json_t *object = parse_output();
  const char *name, *action;
  double t;
  int row;
  assert_int_equal(json_array_size(json_object_get(object, "events")), 11);
  assert_int_equal(json_unpack(object, "{s:[{s:F, s:s, s:s, s:i}]}", "events", "t", &t, "name",
                               &name, "action", &action, "row", &row),
                   0);
  assert_string_equal(name, "bounce");
  assert_string_equal(action, "reset");
  assert_true(fabs(t - sqrt(2.0 / 9.81)) < 1e-6 && row > 0);
  json_decref(object);

  expect(0, "run %s --out results.csv --quiet", ball);
  expect(0, "info results.csv --json");
  object = parse_output();
  assert_true(json_is_null(json_object_get(object, "events")));
  json_decref(object);
}

static void a_failed_run_says_so(void **state)
{
  (void)state;
  expect(1, "run %s --step 0.1 --end 100 --out results.h5", top);
  expect_text("result: results.h5 holds all steps before\n");
  expect(0, "info results.h5");
  expect_text("status          failed\n");
  expect_text("failure         the Newton iteration did not converge\n");
}

static void wrong_input_is_refused(void **state)
{
  (void)state;
  expect(2, "info no_such_file.h5");
  expect_text("no_such_file.h5: cannot be read: No such file or directory\n");
  expect(2, "info %s", top);
  expect_text(": is a JSON file, such as a model, not a result");
  expect(2, "info no_such_file.h5 --json");
  expect_text("\"status\": \"invalid\"");
  expect(2, "run %s --out no/such/folder/top.h5", top);
  expect_text("--out = no/such/folder/top.h5: No such file or directory");
  expect(2, "export results.h5");
  expect_text("--out: must be given, or --vtk");
  expect(2, "export results.h5 --vtk v --every 0");
  expect_text("--every = 0: must be a whole number above 0");
  expect(2, "export results.h5 --vtk v --frames x");
  expect_text("--frames = x: must be a whole number above 0");
  expect(2, "export results.h5 --vtk v --frames 3 --every 2");
  expect(2, "export results.h5 --vtk no/such/folder");
  expect_text("--vtk = no/such/folder: No such file or directory");
  expect(2, "export results.h5 --vtk results.h5");
  expect_text("--vtk = results.h5: must be a folder, or a name that is free");
}

/* --- export ----------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
  static char text[100000];
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("there is no %s", path);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

/* Each tag is closed by its own end, in order; no bare < or & stands in the text. */
static void expect_xml(const char *text)
{
  char open[32][64];
  int depth = 0, tags = 0;
  assert_null(strchr(text, '&'));
  for (const char *p = text; (p = strchr(p, '<')) != NULL; p++, tags++) {
    const char *end = strchr(p, '>');
    assert_non_null(end);
    char name[64] = "";
    assert_int_equal(sscanf(p, "<%63[^ >]", name), 1);
    if (name[0] == '?') continue;
    if (name[0] == '/') {
      assert_true(depth > 0);
      assert_string_equal(name + 1, open[--depth]);
    } else if (end[-1] != '/') {
      assert_true(depth < 32);
      strcpy(open[depth++], name);
    }
  }
  assert_int_equal(depth, 0);
  assert_true(tags > 3);
}

/* The numbers of the array of that name. */
static void read_array(const char *text, const char *name, int count, double *numbers)
{
  char head[80];
  snprintf(head, sizeof head, "Name=\"%s\"", name);
  const char *p = strstr(text, head);
  if (p == NULL) fail_msg("there is no array %s", name);
  p = strchr(p, '>') + 1;
  for (int i = 0; i < count; i++) {
    char *end;
    numbers[i] = strtod(p, &end);
    assert_true(end > p);
    p = end;
  }
  p += strspn(p, " \n");
  assert_int_equal(*p, '<');
}

/* The value of a channel in a row. */
static double value(pol_result *r, const char *name, long row)
{
  double x;
  const int channel = pol_result_find_channel(r, name);
  if (channel < 0) fail_msg("there is no channel %s", name);
  assert_int_equal(pol_result_series_part(r, channel, row, 1, &x), POL_OK);
  return x;
}

static void remove_folder(const char *folder, int frames)
{
  char path[200];
  for (int n = 0; n < frames; n++) {
    snprintf(path, sizeof path, "%s/frame_%06d.vtu", folder, n);
    assert_int_equal(remove(path), 0);
  }
  snprintf(path, sizeof path, "%s/motion.pvd", folder);
  assert_int_equal(remove(path), 0);
  assert_int_equal(remove(folder), 0); /* and nothing else was in it */
}

/* Three bodies, four joints; of 101 rows each 40th. */
static void frames_hold_bodies_and_joints(void **state)
{
  (void)state;
  enum { POINTS = 7 };
  expect(0, "run %s --end 0.1 --out results.h5 --quiet", crank);
  expect(0, "export results.h5 --vtk results_vtk --every 40 --json");
  json_t *object = parse_output();
  assert_int_equal(json_integer_value(json_object_get(object, "frames")), 3);
  json_decref(object);
  const char *text = read_text("results_vtk/motion.pvd");
  expect_xml(text);
  assert_non_null(strstr(text, "timestep=\"0\" part=\"0\" file=\"frame_000000.vtu\""));
  assert_non_null(strstr(text, "file=\"frame_000002.vtu\""));

  pol_result *r = open_result("results.h5");
  text = read_text("results_vtk/frame_000002.vtu");
  expect_xml(text);
  assert_non_null(strstr(text, "<Piece NumberOfPoints=\"7\" NumberOfCells=\"7\">"));
  double x[3 * POINTS], kind[POINTS], axes[3][3 * POINTS], v[3 * POINTS], force[3 * POINTS];
  read_array(text, "position", 3 * POINTS, x);
  read_array(text, "kind", POINTS, kind);
  read_array(text, "axis_x", 3 * POINTS, axes[0]);
  read_array(text, "axis_y", 3 * POINTS, axes[1]);
  read_array(text, "axis_z", 3 * POINTS, axes[2]);
  read_array(text, "velocity", 3 * POINTS, v);
  read_array(text, "force", 3 * POINTS, force);
  for (int i = 0; i < POINTS; i++) assert_true(kind[i] == (i < 3 ? 0.0 : 2.0));

  /* each point is a cell, and the time is there */
  double ends[POINTS], points[POINTS], types[POINTS], t;
  read_array(text, "connectivity", POINTS, points);
  read_array(text, "offsets", POINTS, ends);
  read_array(text, "types", POINTS, types);
  read_array(text, "TimeValue", 1, &t);
  for (int i = 0; i < POINTS; i++)
    assert_true(points[i] == i && ends[i] == i + 1 && types[i] == 1.0);
  assert_true(t == value(r, "t", 80));

  pol_errors errors = {0};
  pol_model *model;
  assert_int_equal(pol_model_read_file(&model, crank, 0, NULL, &errors), POL_OK);
  for (int b = 0; b < 3; b++) {
    static const char *const parts[] = {"w", "x", "y", "z"};
    const char *name = pol_mechanism_body(model->mechanism, b)->name;
    char channel[100];
    double q[4], R[9];
    for (int k = 0; k < 4; k++) {
      snprintf(channel, sizeof channel, "%s.quaternion.%s", name, parts[k]);
      q[k] = value(r, channel, 80);
      if (k == 0) continue;
      snprintf(channel, sizeof channel, "%s.position.%s", name, parts[k]);
      assert_true(x[3 * b + k - 1] == value(r, channel, 80));
      snprintf(channel, sizeof channel, "%s.velocity.%s", name, parts[k]);
      assert_true(v[3 * b + k - 1] == value(r, channel, 80));
    }
    pol_quat_to_matrix(q, R);
    for (int k = 0; k < 9; k++) assert_true(axes[k % 3][3 * b + k / 3] == R[k]);
  }
  /* A joint that locks translations is at its first marker too. */
  for (int j = 0; j < 4; j++) {
    const pol_joint *joint = pol_mechanism_joint(model->mechanism, j);
    const pol_marker *first = pol_mechanism_marker(model->mechanism, joint->marker[0]);
    char channel[100];
    snprintf(channel, sizeof channel, "%s.force.y", joint->name);
    assert_true(force[3 * (3 + j) + 1] == value(r, channel, 80));
    if (joint->type != POL_SPHERICAL && joint->type != POL_REVOLUTE) continue;
    double point[3] = {0.0, 0.0, 0.0};
    const int b = first->body;
    for (int i = 0; i < 3; i++) {
      point[i] = b == POL_GROUND ? first->position[i] : x[3 * b + i];
      for (int k = 0; k < 3 && b != POL_GROUND; k++)
        point[i] += axes[k][3 * b + i] * first->position[k];
    }
    assert_near(point, x + 3 * (3 + j), 3, 1e-9);
  }
  pol_model_free(&model);
  pol_result_close(&r);
  remove_folder("results_vtk", 3);
}

static void a_csv_is_exported_without_joints(void **state)
{
  (void)state;
  expect(0, "run %s --end 0.1 --out results.csv --quiet", top);
  expect(0, "export results.csv --vtk results_vtk --frames 4");
  expect_text("frames          4\n");
  const char *text = read_text("results_vtk/frame_000003.vtu");
  expect_xml(text);
  double x[3];
  pol_result *r = open_result("results.csv");
  read_array(text, "position", 3, x);
  assert_true(x[2] == value(r, "top.position.z", 100)); /* the last of 101 rows */
  pol_result_close(&r);
  remove_folder("results_vtk", 4);

  FILE *file = fopen("results.csv", "wb");
  assert_non_null(file);
  fputs("t,x\n0,1\n", file);
  fclose(file);
  expect(2, "export results.csv --vtk results_vtk");
  expect_text("there are no channels NAME.position.x, .y and .z");
  rmdir("results_vtk");
}

/* A byte of the head is wrong: told at once, and the library under it does not speak up. */
static void damaged_files_are_refused(void **state)
{
  (void)state;
  static const long places[] = {60, 100};
  const char *given = getenv("LSAN_OPTIONS");
  char leaks[500];
  snprintf(leaks, sizeof leaks, "%s", given != NULL ? given : "");
  setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* HDF5 loses memory of its own with such files */
  for (int i = 0; i < 2; i++) {
    expect(0, "run %s --end 0.1 --out results.h5 --quiet", ball);
    FILE *file = fopen("results.h5", "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, places[i], SEEK_SET), 0);
    fputc(0x55, file);
    fclose(file);
    expect(2, "info results.h5");
    assert_string_equal(output, "results.h5: cannot be opened: it is damaged, or another program "
                                "is writing it\n1 error\n");
  }
  setenv("LSAN_OPTIONS", leaks, 1);
}

/* Files of other versions of the format are refused with the versions. */
static void other_formats_are_refused(void **state)
{
  (void)state;
  static const char *const formats[] = {"polhode result 1", "polhode result 3", "something else"};
  expect(0, "run %s --end 0.01 --out results.h5 --quiet", top);
  for (int i = 0; i < 3; i++) {
    const hid_t file = H5Fopen("results.h5", H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(formats[i]) + 1);
    assert_true(H5Adelete(file, "format") >= 0);
    const hid_t format = H5Acreate2(file, "format", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(format, type, formats[i]) >= 0);
    H5Aclose(format);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    expect(2, "info results.h5");
    if (i == 2)
      expect_text("results.h5: is an HDF5 file, but not a result of polhode\n1 error\n");
    else
      expect_text("this version of polhode reads \"polhode result 2\" only: run the model again\n");
    if (i < 2) expect_text(formats[i]);
  }
  expect(2, "plot results.h5 top");
  expect(2, "view results.h5");
  expect(2, "export results.h5 --vtk results_vtk");
  expect(2, "converge %s --reference results.h5", top);
  rmdir("results_vtk");
}

/* The times that a collection lists; returns how many. */
static int read_times(const char *path, double *times, int most)
{
  const char *mark = "timestep=\"";
  int count = 0;
  for (const char *p = read_text(path); (p = strstr(p, mark)) != NULL && count < most; count++) {
    p += strlen(mark);
    times[count] = strtod(p, NULL);
  }
  return count;
}

/* N frames are spread from the first row to the last; fewer of them leave none of those before, and
 * files of others stay. */
static void frames_reach_from_start_to_end(void **state)
{
  (void)state;
  double t[20];
  expect(0, "run %s --end 0.1 --out results.csv --quiet", top);
  expect(0, "export results.csv --vtk results_vtk --frames 11 --quiet");
  assert_int_equal(read_times("results_vtk/motion.pvd", t, 20), 11);
  for (int i = 0; i < 11; i++) assert_true(fabs(t[i] - 0.01 * i) < 1e-12);
  FILE *file = fopen("results_vtk/frame_000011.vtu", "wb"); /* not of an export */
  assert_non_null(file);
  fclose(file);
  expect(0, "export results.csv --vtk results_vtk --frames 4 --quiet");
  assert_int_equal(read_times("results_vtk/motion.pvd", t, 20), 4);
  const double rows[] = {0, 33, 67, 100};
  for (int i = 0; i < 4; i++) assert_true(fabs(t[i] - 0.001 * rows[i]) < 1e-12);
  assert_int_equal(remove("results_vtk/frame_000011.vtu"), 0);
  remove_folder("results_vtk", 4);
  expect(0, "export results.csv --vtk results_vtk --frames 1 --quiet");
  assert_int_equal(read_times("results_vtk/motion.pvd", t, 20), 1);
  assert_true(t[0] == 0.0);
  remove_folder("results_vtk", 1);
  expect(0, "export results.csv --vtk results_vtk --frames 1000 --json");
  expect_text("\"frames\": 101");
  remove_folder("results_vtk", 101);
}

/* --- killed runs ------------------------------------------------------------------------------ */

static void sleep_seconds(double seconds)
{
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&time, NULL);
}

/* The runs to kill have an event every few hundred steps. */
#define TICK "events=[{\"name\": \"tick\", \"expression\": \"sin(1000*t)\"}]"

/* Rows that a file has that another process may be writing; -1 if it cannot be read now. */
static long rows_of(const char *path)
{
  pol_result *r;
  if (pol_result_open(&r, path, NULL, 0) != POL_OK) return -1;
  const long rows = pol_result_rows(r);
  pol_result_close(&r);
  return rows;
}

/* Starts a long run and kills it when its file has so many rows and the delay has passed: that
 * makes the moment a random one, and nothing is expected of it. */
static void kill_run(const char *model, long rows, double delay)
{
  remove("killed.h5");
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const struct rlimit limit = {1 << 30, 1 << 30}; /* a run that nobody kills ends by itself */
    setrlimit(RLIMIT_FSIZE, &limit);
    execl(POLHODE_BINARY, "polhode", "run", model, "--end", "100000", "--step", "1e-5", "--set",
          TICK, "--out", "killed.h5", "--quiet", (char *)NULL);
    _exit(127);
  }
  int status;
  while (rows_of("killed.h5") < rows) {
    assert_int_equal(waitpid(child, &status, WNOHANG), 0); /* it must not end by itself */
    sleep_seconds(0.0005);
  }
  sleep_seconds(delay);
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
}

/* Whether the next event of the result is the one that the simulation is at, in this row. */
static void expect_event(const pol_result *r, const pol_simulation *simulation, long row,
                         long *next)
{
  if (pol_simulation_event_index(simulation) < 0) return;
  const pol_result_event *event = pol_result_get_event(r, (*next)++);
  assert_non_null(event);
  assert_true(event->t == pol_simulation_state(simulation)->t);
  assert_int_equal(event->row, row);
  assert_string_equal(event->name, "tick");
  assert_string_equal(event->action, "record");
}

/* Every row in the file is that of the same simulation in this process, and so is every event.
 * Returns the rows. */
static long expect_same_rows(const char *path, const char *model_path)
{
  static const char *const overrides[] = {"simulation.end=100000", "simulation.step=1e-5", TICK};
  enum { PIECE = 500 };
  pol_errors errors = {0};
  pol_model *model;
  pol_simulation *simulation;
  pol_record *record;
  pol_result *r = open_result(path);
  const long rows = pol_result_rows(r);
  long events = 0;
  const size_t width = (size_t)pol_result_count(r);
  assert_string_equal(pol_result_about(r)->status, "unfinished");
  assert_non_null(pol_result_about(r)->model);
  assert_int_equal(pol_model_read_file(&model, model_path, 3, overrides, &errors), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL),
                   POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_int_equal(pol_record_count(record), width);
  double *found = malloc(PIECE * width * sizeof *found), *row = malloc(width * sizeof *row);
  for (long n = 0; n < rows; n++) {
    const long left = rows - n < PIECE ? rows - n : PIECE;
    if (n % PIECE == 0) assert_int_equal(pol_result_read_rows(r, n, left, found), POL_OK);
    if (n > 0) assert_int_equal(pol_simulation_step(simulation), POL_OK);
    pol_record_row(record, row);
    assert_memory_equal(row, found + (size_t)(n % PIECE) * width, width * sizeof *row);
    expect_event(r, simulation, n, &events);
  }
  assert_int_equal(pol_result_num_events(r), events);
  free(found);
  free(row);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  pol_result_close(&r);
  return rows;
}

/* Ten times at random moments, half of them when rows have been flushed.  The chain takes long to
 * fill a block, so that its rows are flushed in parts; the top fills many. */
static void killed_runs_can_be_read(void **state)
{
  (void)state;
  uint64_t seed = 7;
  for (int i = 0; i < 10; i++) {
    const char *model = i % 2 ? chain : top;
    const long least = i % 4 < 2 ? 0 : 2;
    const double delay = 0.5 + 0.5 * random_number(&seed); /* 0 .. 1 s */
    kill_run(model, least, delay);
    const long rows = expect_same_rows("killed.h5", model);
    print_message("killed %.3f s after row %ld: %ld rows\n", delay, least, rows);
    assert_true(rows >= least);
    expect(0, "info killed.h5");
    expect_text("status          unfinished: still running, or killed\n");
  }
  remove("killed.h5");
  remove("killed.h5.new");
}

static int clean_up(void **state)
{
  (void)state;
  remove("results.h5");
  remove("results.csv");
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_formats_agree),
      cmocka_unit_test(a_model_from_a_pipe_is_stored),
      cmocka_unit_test(all_kinds_of_quantities_come_back),
      cmocka_unit_test(info_tells_what_there_is),
      cmocka_unit_test(buffers_are_estimated),
      cmocka_unit_test(info_tells_the_events),
      cmocka_unit_test(a_failed_run_says_so),
      cmocka_unit_test(wrong_input_is_refused),
      cmocka_unit_test(frames_hold_bodies_and_joints),
      cmocka_unit_test(a_csv_is_exported_without_joints),
      cmocka_unit_test(damaged_files_are_refused),
      cmocka_unit_test(other_formats_are_refused),
      cmocka_unit_test(frames_reach_from_start_to_end),
      cmocka_unit_test(killed_runs_can_be_read),
  };
  return cmocka_run_group_tests(tests, NULL, clean_up);
}
