/* polhode export --out: chosen quantities as CSV and MAT, and what is refused. */
#define _GNU_SOURCE /* memmem */

#include "cli/cli_test.h"

static int set_up(void **state)
{
  return enter_folder(state) != 0 || run("polhode run top.json --out r.h5 --quiet") != 0;
}

/* CSV that polhode reads again: the same numbers, every tenth row, the time first. */
static void signals_are_written_as_csv(void **state)
{
  (void)state;
  static char all[OUTPUT_SIZE];
  expect("polhode export r.h5 top.position tip.force.z --every 10 --out s.csv", 0);
  expect_text(out, "s.csv, 11 rows of 5 columns\n");
  read_text("s.csv", all);
  expect_text(all, "\n# units: s,m,m,m,N\n"
                   "t,top.position.x,top.position.y,top.position.z,tip.force.z\n0,0,1,0,");
  expect("polhode export r.h5 top.position tip.force.z --every 10 --out -", 0);
  assert_string_equal(out, all);
  /* a row against the table of the whole result */
  expect("polhode run top.json --out whole.csv --quiet", 0);
  expect("polhode export whole.csv top.position tip.force.z --every 10 --out -", 0);
  assert_string_equal(strstr(out, "\nt,"), strstr(all, "\nt,"));
  expect("polhode info s.csv --json", 0);
  json_t *object = parse_output();
  assert_int_equal(json_integer_value(at(object, "rows")), 11);
  json_decref(object);
  /* all quantities where none is named */
  expect("polhode export r.h5 --out s.csv --json", 0);
  object = parse_output();
  assert_int_equal(json_integer_value(at(object, "rows")), 101);
  assert_true(json_integer_value(at(object, "columns")) > 40);
  json_decref(object);
}

static void signals_are_written_as_mat(void **state)
{
  (void)state;
  static char bytes[OUTPUT_SIZE];
  expect("polhode export r.h5 top.position.y --every 50 --out s.mat --quiet", 0);
  assert_string_equal(out, "");
  FILE *file = fopen("s.mat", "rb");
  assert_non_null(file);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_true(size > 400);
  /* header 128, tag 8, flags 16, dimensions 16, name 16, tag of the numbers 8 */
  double data[6];
  const char *name = bytes + 128 + 8 + 16 + 16 + 8;
  assert_memory_equal(name, "data", 4);
  memcpy(data, name + 8 + 8, sizeof data);
  assert_true(data[0] == 0.0 && fabs(data[1] - 0.05) < 1e-15 && fabs(data[2] - 0.1) < 1e-15);
  assert_true(data[3] == 1.0 && data[4] < 1.0 && data[5] < data[4]);
}

/* The units that a model gives its variables and states: in both formats of results, in exports,
 * tables and axis labels; a text that is no unit is refused at its place. */
static void user_units_are_shown_everywhere(void **state)
{
  (void)state;
  static char text[OUTPUT_SIZE];
  write_text("units.json",
             "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}],\n"
             "\"variables\": [{\"name\": \"u\", \"expression\": \"2*t\", \"unit\": \"V\"},\n"
             "{\"name\": \"plain\", \"expression\": \"t\"}],\n"
             "\"states\": [{\"name\": \"c\", \"rate\": \"u - c\", \"unit\": \"N m\"}],\n"
             "\"simulation\": {\"step\": 0.01, \"end\": 0.1}}");
  for (int csv = 0; csv < 2; csv++) {
    expect(csv ? "polhode run units.json --out u.csv" : "polhode run units.json --out u.h5", 0);
    expect_text(out, "c      value             N m  ");
    expect(csv ? "polhode export u.csv u plain c --out -" : "polhode export u.h5 u plain c --out -",
           0);
    expect_text(out, "# units: s,N m,V,user\nt,c,u,plain\n");
    expect(csv ? "polhode plot u.csv u --out u.svg" : "polhode plot u.h5 u --out u.svg", 0);
    read_text("u.svg", text);
    expect_text(text, "u (V)");
  }
  expect("polhode export u.h5 u --out u.mat", 0);
  FILE *file = fopen("u.mat", "rb");
  const size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  assert_non_null(memmem(text, size, "V\0", 2));
  expect("polhode check units.json", 0);
  expect_text(out, "u = 2*t, in V\n");
  expect_text(out, "c' = u - c, from 0 N m\n");
  expect("polhode check units.json --set states.c.unit=furlong", 2);
  expect_text(err, "states[0].unit");
  expect_text(err, "must be a unit of m, kg, s, rad, A, K, N, J, W, Pa, Hz, V and ohm");
}

static void wrong_exports_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *line, *message;
  } cases[] = {
      {"polhode export r.h5", "--out: must be given, or --vtk"},
      {"polhode export r.h5 --out s.csv --vtk v", "--vtk: cannot be given together with --out"},
      {"polhode export r.h5 --out s.txt", "--out = s.txt: must end in .csv or .mat, or be -"},
      {"polhode export r.h5 --out s.csv --frames 3", "--frames = 3: is for --vtk; use --every"},
      {"polhode export r.h5 --out s.csv --every 0", "--every = 0: must be a whole number above 0"},
      {"polhode export r.h5 --out - --json", "cannot go to standard output beside --json"},
      {"polhode export r.h5 top --vtk v", "VTK files hold the whole motion"},
      {"polhode export r.h5 top.positon t0p --out s.csv",
       "top.positon: there is no such quantity in the result; did you mean \"top.position\"?"},
      {"polhode export r.h5 --out no/s.csv", "--out = no/s.csv: No such file or directory"},
      {"polhode export r.h5 --out no/s.mat", "--out = no/s.mat: No such file or directory"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    expect(cases[i].line, 2);
    expect_text(err, cases[i].message);
  }
  expect("polhode run top.json --out whole.csv --quiet", 0);
  expect("polhode export whole.csv --out whole.csv", 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_are_written_as_csv),
      cmocka_unit_test(signals_are_written_as_mat),
      cmocka_unit_test(user_units_are_shown_everywhere),
      cmocka_unit_test(wrong_exports_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, leave_folder);
}
