/* Parameters, repeated objects and included files: values, names, places, units, and what is said
 * about wrong ones. */
#define _XOPEN_SOURCE 700
#include "../check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <polhode/lie.h>
#include <polhode/model.h>

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* Reads a file that must be right, with overrides up to NULL. */
static pol_model *read_file(const char *path, const char *const *overrides)
{
  pol_errors errors = {0};
  pol_model *model = NULL;
  int count = 0;
  while (overrides && overrides[count]) count++;
  const pol_status status = pol_model_read_file(&model, path, count, overrides, &errors);
  for (int i = 0; i < errors.count; i++)
    print_error("%s: %s %s\n", errors.items[i].path, errors.items[i].value, errors.items[i].rule);
  assert_int_equal(status, POL_OK);
  return model;
}

/* The errors of a text as lines "file:line path (element) rule > suggestion". */
static const char *errors_of(const char *text, const char *override)
{
  static char lines[4000];
  size_t used = 0;
  pol_errors errors = {0};
  pol_model *model = NULL;
  lines[0] = '\0';
  write_text("wrong.json", text);
  assert_int_equal(pol_model_read_file(&model, "wrong.json", override != NULL, &override, &errors),
                   POL_BAD_ARGUMENT);
  for (int i = 0; i < errors.count; i++) {
    const pol_error *e = &errors.items[i];
    used += (size_t)snprintf(lines + used, sizeof lines - used, "%s:%d %s (%s) %s > %s\n", e->file,
                             e->line, e->path, e->element, e->rule, e->suggestion);
  }
  pol_errors_clear(&errors);
  remove("wrong.json");
  return lines;
}

#define SIMULATION "\"simulation\": {\"step\": 1, \"end\": 1}"
#define BODY "\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}],\n"

/* --- parameters ------------------------------------------------------------------------------- */

static void numbers_may_be_expressions_everywhere(void **state)
{
  (void)state;
  write_text(
      "p.json",
      "{\"parameters\": {\"m\": \"rho*L^3\", \"L\": 0.5, \"rho\": {\"value\": 800, \"unit\": "
      "\"kg/m^3\"}, \"k\": 3, \"comment\": \"sizes\"}, \"name\": \"cube of {m} kg\","
      "\"gravity\": [0, 0, \"-k*2\"],"
      "\"bodies\": [{\"name\": \"b\", \"mass\": \"m\", \"inertia\": [[\"m*L^2\", 0, 0], [0, "
      "\"m*L^2\", 0], [0, 0, \"m*L^2\"]], \"position\": [\"L\", \"-L\", 2], \"rotation\": "
      "{\"axis\": [0, 0, \"k\"], \"angle\": \"pi/2\"}}],"
      "\"drives\": [{\"name\": \"d\", \"joint\": \"j\", \"coordinate\": \"rotation\", "
      "\"function\": "
      "\"k*t^2/2\"}], \"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"bodies\": "
      "[\"ground\", \"b\"], \"point\": [\"L\", 0, 0], \"axis\": [0, 0, 1]}],"
      "\"variables\": [{\"name\": \"v\", \"expression\": \"k*j.angle - L\"}],"
      "\"forces\": [{\"name\": \"f\", \"type\": \"force\", \"body\": \"b\", \"force\": [\"2*k\", "
      "\"k*v\", 0]}],"
      "\"simulation\": {\"step\": \"1/1000\", \"end\": \"k\", \"newton\": {\"max_iterations\": "
      "\"k + 4\"}, \"output\": {\"times\": [\"L\", \"2*L\"]}}}");
  pol_model *model = read_file("p.json", NULL);
  const pol_body *body = pol_mechanism_body(model->mechanism, 0);
  double gravity[3];
  pol_mechanism_gravity(model->mechanism, gravity);
  assert_string_equal(model->name, "cube of 100 kg");
  assert_true(gravity[2] == -6.0 && body->mass == 100.0 && body->inertia[8] == 25.0);
  assert_true(body->position[0] == 0.5 && body->position[1] == -0.5);
  assert_true(fabs(body->rotation[3] - sqrt(0.5)) < 1e-15);
  assert_true(model->settings.step == 0.001 && model->settings.end == 3.0);
  assert_int_equal(model->settings.options.newton.max_iterations, 7);
  assert_true(model->settings.output.times[1] == 1.0);
  const pol_force *force = pol_mechanism_force(model->mechanism, 0);
  assert_true(force->vector[0] == 6.0 && force->expressions[0] == NULL);
  assert_string_equal(force->expressions[1], "3*v");
  assert_string_equal(pol_mechanism_variable(model->mechanism, 0)->expression, "3*j.angle - 0.5");
  assert_string_equal(pol_mechanism_drive(model->mechanism, 0)->function.expression, "3*t^2/2");
  /* the values, in the order of the file */
  assert_int_equal(model->num_parameters, 4);
  assert_string_equal(model->parameters[0].name, "m");
  assert_true(model->parameters[0].value == 100.0);
  assert_string_equal(model->parameters[2].unit, "kg/m^3");
  pol_model_free(&model);

  /* other values change all of it; one may be an expression */
  const char *const overrides[] = {"parameters.L=1", "parameters.rho=k*1.5", NULL};
  model = read_file("p.json", overrides);
  assert_true(pol_mechanism_body(model->mechanism, 0)->mass == 4.5);
  assert_string_equal(model->parameters[2].unit, "kg/m^3");
  pol_model_free(&model);
  remove("p.json");
}

static void wrong_parameters_are_reported(void **state)
{
  (void)state;
  assert_string_equal(
      errors_of(
          "{\"parameters\": {\"a\": \"b\", \"b\": \"c + 1\",\n\"c\": \"a\"},\n" BODY SIMULATION "}",
          NULL),
      ":1 parameters.a () must not depend on itself: a -> b -> c -> a > \n");
  assert_string_equal(
      errors_of("{\"parameters\": {\"length\": 1, \"m\": \"2*lenght\"},\n" BODY SIMULATION "}",
                NULL),
      ":1 parameters.m () must be a number or an expression of parameters: column 3: 'lenght' is "
      "not "
      "a known name > length\n");
  assert_string_equal(
      errors_of("{\"parameters\": {\"t\": 1, \"a b\": 2, \"x\": \"1/0\"},\n" BODY SIMULATION "}",
                NULL),
      ":1 parameters.t () must have a name of letters, digits and _ that is not t or "
      "pi > \n"
      ":1 parameters.a b () must have a name of letters, digits and _ that is not t "
      "or pi > \n"
      ":1 parameters.x () must have a finite value, but \"1/0\" is infinite > \n");
  assert_string_equal(
      errors_of("{\"parameters\": {\"x\": {\"value\": 3, \"max\": 2}},\n" BODY SIMULATION "}",
                NULL),
      ":1 parameters.x () must not be above its max, 2, but is 3 > \n");
  assert_string_equal(
      errors_of("{\"parameters\": {\"left\": 1},\n" BODY SIMULATION "}", "parameters.lefd=2"),
      ":0 --param lefd=2 () must name a parameter of the model > left\n");
  assert_string_equal(
      errors_of("{\"parameters\": {\"v\": 1},\n" BODY
                "\"variables\": [{\"name\": \"v\", \"expression\": \"t\"}],\n" SIMULATION "}",
                NULL),
      ":3 variables[0].name (variable 'v') must not be the name of a parameter as "
      "well > \n");
}

static void units_are_checked_where_known(void **state)
{
  (void)state;
  assert_string_equal(
      errors_of(
          "{\"parameters\": {\"L\": {\"value\": 1, \"unit\": \"m\"}, \"m\": {\"value\": "
          "\"2*L\", \"unit\": \"kg\"}, \"u\": {\"value\": 1, \"unit\": \"furlong\"}},\n"
          "\"bodies\": [{\"name\": \"b\", \"mass\": \"L\",\n \"inertia\": [1, 1, \"0.81*L\"], "
          "\"position\": [\"L/2\", \"L^2\", \"L + 1\"]}],\n" SIMULATION "}",
          NULL),
      ":1 parameters.m.unit () must be the unit of its value, which is m > \n"
      ":1 parameters.u.unit () must be a unit of m, kg, s, rad, A, K, N, J, W, Pa, Hz, V and ohm, "
      "such as \"kg "
      "m^2\" or \"N s/m\" > \n"
      ":2 bodies[0].mass (body 'b') must be in kg, but its unit is m > \n"
      ":3 bodies[0].position[1] (body 'b') must be in m, but its unit is m^2 > \n");
}

/* --- repeated objects ------------------------------------------------------------------------- */

static void objects_are_repeated(void **state)
{
  (void)state;
  write_text(
      "r.json",
      "{\"parameters\": {\"n\": 3},\n\"bodies\": [{\"repeat\": {\"i\": \"n\", \"k\": [1, 2]}, "
      "\"name\": \"b{i}_{k}\", \"mass\": \"1 + i\", \"inertia\": [1, 1, 1], \"position\": "
      "[\"i\", \"k\", 0], \"shapes\": [{\"repeat\": {\"s\": \"i\"}, \"type\": \"sphere\", "
      "\"radius\": \"s + 1\"}]}, {\"name\": \"last\", \"mass\": 9, \"inertia\": [1, 1, 1]}],"
      "\"forces\": [{\"repeat\": {\"i\": 2}, \"name\": \"f{i}\", \"type\": \"force\", "
      "\"body\": \"b{i}_1\", \"force\": [0, 0, \"n*b{i}_1.position.x\"]}], \"events\": "
      "[{\"repeat\": {\"i\": 1}, \"name\": \"e{i}\", \"expression\": \"b{i}_1.position.x - "
      "n\", \"action\": \"reset\", \"direction\": \"rising\", \"set\": "
      "{\"b{i}_1.velocity.x\": \"-n\"}}]," SIMULATION "}");
  pol_model *model = read_file("r.json", NULL);
  assert_int_equal(pol_mechanism_num_bodies(model->mechanism), 7);
  const pol_body *body = pol_mechanism_body(model->mechanism, 3);
  assert_string_equal(body->name, "b1_2");
  assert_true(body->mass == 2.0 && body->position[0] == 1.0 && body->position[1] == 2.0);
  assert_string_equal(pol_mechanism_body(model->mechanism, 6)->name, "last");
  assert_int_equal(model->num_shapes, 6); /* 2 (0 + 1 + 2) */
  assert_true(model->shapes[5].radius == 2.0);
  assert_string_equal(pol_mechanism_force(model->mechanism, 1)->expressions[2],
                      "3*b1_1.position.x");
  assert_string_equal(model->settings.events[0].changes[0].quantity, "b0_1.velocity.x");
  assert_string_equal(model->settings.events[0].changes[0].expression, "-3");
  pol_model_free(&model);
  const char *const overrides[] = {"parameters.n=0", NULL};
  pol_errors errors = {0};
  assert_int_equal(pol_model_read_file(&model, "r.json", 1, overrides, &errors), POL_BAD_ARGUMENT);
  pol_errors_clear(&errors);
  remove("r.json");
}

/* A list of values is none of its ends, and may depend on parameters and indices before it. */
static void repeats_list_values(void **state)
{
  (void)state;
  static const double expected[] = {-1.0, -0.4, 1.0, 0.4};
  write_text(
      "r.json",
      "{\"parameters\": {\"w\": 0.4},\n\"bodies\": [{\"repeat\": {\"s\": {\"values\": [-1, 1]}, "
      "\"k\": {\"values\": [1, \"abs(s)*w\"]}, \"none\": [5, 5]}, \"name\": \"b{s}_{floor(k)}\", "
      "\"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [\"s*k\", 0, 0]}, {\"repeat\": {\"s\": "
      "{\"values\": []}}, \"name\": \"c{s}\"}]," SIMULATION "}");
  pol_model *model = read_file("r.json", NULL);
  assert_int_equal(pol_mechanism_num_bodies(model->mechanism), 4);
  for (int i = 0; i < 4; i++)
    assert_true(pol_mechanism_body(model->mechanism, i)->position[0] == expected[i]);
  assert_string_equal(pol_mechanism_body(model->mechanism, 0)->name, "b-1_1");
  assert_string_equal(pol_mechanism_body(model->mechanism, 3)->name, "b1_0");
  pol_model_free(&model);
  remove("r.json");
}

static void wrong_repeats_are_reported(void **state)
{
  (void)state;
#define REPEATED(range, mass)                                                                      \
  "{\n\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]},\n{\"repeat\": " range   \
  ", \"name\": \"b{i}\",\n\"mass\": " mass ", \"inertia\": [1, 1, 1]}],\n" SIMULATION "}"
  assert_string_equal(errors_of(REPEATED("{\"i\": 1e7}", "1"), NULL),
                      ":3 bodies[1].repeat.i () must be a whole number of at most 1000000, but is "
                      "10000000 > \n");
  assert_string_equal(
      errors_of(REPEATED("{\"i\": 1000, \"k\": 1000, \"l\": 1000}", "1"), NULL),
      ":3 bodies[1] (body 'b0') must not make a model of more than 10000000 values > "
      "\n");
  assert_string_equal(errors_of(REPEATED("{\"i\": 10000, \"k\": 10000, \"l\": 0}", "1"), NULL),
                      ":3 bodies[1].repeat () must not make a model of more than 10000000 values > "
                      "\n");
  static const char *const names[] = {"{\"pi\": 2}", "{\"t\": 2}", "{\"a b\": 2}"};
  for (int i = 0; i < 3; i++) {
    char text[400];
    snprintf(text, sizeof text, REPEATED("%s", "1"), names[i]);
    if (!strstr(errors_of(text, NULL), "must have a name of letters, digits and _"))
      fail_msg("%s is accepted", names[i]);
  }
  assert_string_equal(errors_of(REPEATED("{\"i\": -3}", "1"), NULL),
                      ":3 bodies[1].repeat.i () must be a count, 0 or more, but is -3 > \n");
  assert_non_null(
      strstr(errors_of(REPEATED("{\"i\": [5, 1]}", "1"), NULL),
             ":3 bodies[1].repeat.i () must be the first and the last index, in this "));
  static const char *const lists[][2] = {
      {"{\"i\": [1, 2, 5]}",
       ".i () must be a count, a list of the first and the last index such as "
       "[1, 3] for 1, 2 and 3, or {\"values\": [...]} with each value > \n"},
      {"{\"i\": [0.5, 1]}", ".i[0] () must be a whole number of at most 1000000, but is 0.5; other "
                            "values stand in a list, {\"values\": [...]} > \n"},
      {"{\"i\": {\"values\": 3}}", ".i () must be a count, a range or {\"values\": [...]}"},
      {"{\"i\": {\"values\": [1], \"k\": 1}}", ".i () must be a count, a range or {\"values\": "},
      {"{\"i\": {\"values\": [\"i\"]}}", ".i.values[0] () must be a number or an expression of "
                                         "parameters: column 1: 'i' is not a known name > \n"},
      {"{\"i\": {\"values\": [true]}}", ".i.values[0] () must be a count, a list of"}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    char text[400];
    snprintf(text, sizeof text, REPEATED("%s", "1"), lists[i][0]);
    const char *errors = errors_of(text, NULL);
    if (strncmp(errors, ":3 bodies[1].repeat", 19) != 0 || !strstr(errors, lists[i][1]))
      fail_msg("%s: %s", lists[i][0], errors);
  }
  assert_non_null(strstr(
      errors_of("{\"parameters\": {\"i\": 1},\n\"bodies\": [{\"repeat\": {\"i\": "
                "2}, \"name\": \"b{i}\", \"mass\": 1, \"inertia\": [1, 1, 1]}],\n" SIMULATION "}",
                NULL),
      "bodies[0].repeat.i () must not be the name of a parameter or another"));
  assert_string_equal(errors_of(REPEATED("3", "1"), NULL),
                      ":3 bodies[1].repeat () must be an object of an index and its count, such as "
                      "{\"i\": 10} > \n");
  assert_string_equal(errors_of(REPEATED("{\"i\": 3}", "\"i - 1\""), NULL),
                      ":4 bodies[1].mass (body 'b0') must be a positive number > \n"
                      ":4 bodies[1].mass (body 'b1') must be a positive number > \n");
  /* the value, and the expression that it comes from */
  write_text("r.json", REPEATED("{\"i\": 1}", "\"i - 1\""));
  pol_errors errors = {0};
  pol_model *model = NULL;
  assert_int_equal(pol_model_read_file(&model, "r.json", 0, NULL, &errors), POL_BAD_ARGUMENT);
  assert_string_equal(errors.items[0].value, "-1, from \"i - 1\"");
  pol_errors_clear(&errors);
  remove("r.json");
  assert_string_equal(errors_of(REPEATED("{\"i\": 3}", "\"j\""), NULL),
                      ":4 bodies[1].mass (body 'b0') must be a number or an expression of "
                      "parameters: column 1: 'j' is not a known name > \n");
}

/* --- included files --------------------------------------------------------------------------- */

static const char leg[] =
    "{\"parameters\": {\"L\": 1, \"k\": 10},\n"
    "\"bodies\": [{\"name\": \"thigh\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [\"L\", "
    "0, "
    "0], \"velocity\": [0, 0, 0], \"rotation\": {\"axis\": [1, 0, 0], \"angle\": 0.3}}],\n"
    "\"markers\": [{\"name\": \"m\", \"body\": \"ground\", \"position\": [\"L\", 0, 0]}],\n"
    "\"joints\": [{\"name\": \"hip\", \"type\": \"revolute\", \"bodies\": [\"trunk\", \"thigh\"], "
    "\"point\": [0, 0, 0], \"axis\": [1, 0, 0]}],\n"
    "\"variables\": [{\"name\": \"bend\", \"expression\": \"L*hip.angle\"}],\n"
    "\"forces\": [{\"name\": \"f\", \"type\": \"force\", \"body\": \"thigh\", \"force\": [1, "
    "\"k*bend + trunk.position.x\", \"sin(thigh.position.x)\"]}],\n"
    "\"shapes\": [{\"type\": \"box\", \"size\": [1, 1, 1], \"position\": [\"L\", 0, 0]}]}";

#define ROBOT(includes)                                                                            \
  "{\"parameters\": {\"w\": 2},\n\"bodies\": [{\"name\": \"trunk\", \"mass\": 1, \"inertia\": "    \
  "[1, 1, 1]}],\n\"include\": [" includes "],\n" SIMULATION "}"

static void files_are_included(void **state)
{
  (void)state;
  assert_int_equal(system("mkdir -p parts"), 0);
  write_text("parts/leg.json", leg);
  write_text(
      "robot.json",
      ROBOT("{\"file\": \"parts/leg.json\", \"prefix\": \"left \", \"position\": [0, \"w\", 1], "
            "\"parameters\": {\"L\": \"w/2 + 2\"}},\n{\"file\": \"parts/leg.json\", "
            "\"prefix\": \"r_\", \"rotation\": {\"axis\": [0, 0, 1], \"angle\": \"pi/2\"}}"));
  pol_model *model = read_file("robot.json", NULL);
  const pol_mechanism *m = model->mechanism;
  const pol_body *left = pol_mechanism_body(m, 1), *right = pol_mechanism_body(m, 2);
  const double left_at[3] = {3, 2, 1}, right_at[3] = {0, 1, 0}, y[3] = {0, 1, 0};
  assert_string_equal(left->name, "left thigh");
  assert_string_equal(right->name, "r_thigh");
  assert_near(left->position, left_at, 3, 0.0);
  assert_near(right->position, right_at, 3, 1e-15);
  /* the joint turns about y there, and connects the trunk */
  const pol_joint *hip = pol_mechanism_joint(m, 1);
  double frame[9], axis[3], point[3], both[4];
  assert_string_equal(hip->name, "r_hip");
  assert_int_equal(pol_mechanism_marker(m, hip->marker[0])->body, 0);
  pol_quat_to_matrix(pol_mechanism_marker(m, hip->marker[0])->rotation, frame);
  for (int i = 0; i < 3; i++) axis[i] = frame[3 * i + 2];
  assert_near(axis, y, 3, 1e-15);
  const double turn[4] = {sqrt(0.5), 0, 0, sqrt(0.5)}, tilt[4] = {cos(0.15), sin(0.15), 0, 0};
  pol_quat_multiply(turn, tilt, both);
  assert_near(right->rotation, both, 4, 1e-15);
  pol_mechanism_marker_point(m, 1, point);
  assert_near(point, right_at, 3, 1e-15);
  assert_near(model->shapes[1].position, right_at, 3, 1e-15);
  /* names in expressions; what is outside keeps its own */
  assert_string_equal(pol_mechanism_force(m, 0)->expressions[1],
                      "10*'left bend' + trunk.position.x");
  assert_string_equal(pol_mechanism_force(m, 1)->expressions[2], "sin(r_thigh.position.x)");
  assert_string_equal(pol_mechanism_variable(m, 0)->expression, "3*'left hip'.angle");

  /* the kept text needs no other file and still has its parameters */
  remove("parts/leg.json");
  pol_model *again = NULL;
  pol_errors errors = {0};
  const char *const wider[] = {"parameters.w=4"};
  assert_int_equal(pol_model_read_text(&again, model->text, 1, wider, &errors), POL_OK);
  assert_true(pol_mechanism_body(again->mechanism, 1)->position[0] == 4.0);
  pol_model_free(&again);
  pol_model_free(&model);
  remove("robot.json");
}

/* A leg in a pair in a row: transforms and prefixes add up; names outside can be connected. */
static void includes_nest(void **state)
{
  (void)state;
  assert_int_equal(system("mkdir -p parts/deep"), 0);
  write_text("parts/deep/leg.json", leg);
  write_text("parts/pair.json",
             "{\"include\": [{\"file\": \"deep/leg.json\", \"repeat\": {\"s\": 2}, \"prefix\": "
             "\"s{s}_\", \"position\": [0, \"s\", 0], \"connect\": {\"trunk\": \"frame\"}}]}");
  write_text("robot.json",
             ROBOT("{\"file\": \"parts/pair.json\", \"repeat\": {\"i\": [1, 3]}, \"prefix\": "
                   "\"p{i}_\", \"position\": [\"10*i\", 0, 0], \"rotation\": {\"axis\": [0, 0, 1], "
                   "\"angle\": \"pi\"}, \"connect\": {\"frame\": \"trunk\"}}"));
  pol_model *model = read_file("robot.json", NULL);
  assert_int_equal(pol_mechanism_num_bodies(model->mechanism), 7);
  const pol_body *body = pol_mechanism_body(model->mechanism, 4);
  const double at[3] = {20 - 1, -1, 0};
  assert_string_equal(body->name, "p2_s1_thigh");
  assert_near(body->position, at, 3, 1e-14);
  assert_string_equal(pol_mechanism_force(model->mechanism, 3)->expressions[1],
                      "10*p2_s1_bend + trunk.position.x");
  pol_model_free(&model);
  assert_int_equal(system("rm -r parts robot.json"), 0);
}

static void wrong_includes_are_reported(void **state)
{
  (void)state;
  write_text("leg.json", leg);
  write_text("loop.json", "{\"include\": [{\"file\": \"loop2.json\"}]}");
  write_text("loop2.json", "{\"include\": [\n{\"file\": \"loop.json\"}]}");
  write_text("broken.json", "{\"bodies\": [\n,]}");
  write_text("odd.json", "{\"bodies\": [{\"name\": \"odd\", \"mass\": 1,\n\"inertia\": [1, 1, 1], "
                         "\"position\": [0, 0, \"L\"]}, {\"name\": \"bad\",\n\"mass\": -1, "
                         "\"inertia\": [1, 1, 1]}], \"motors\": [], \"parameters\": {\"H\": 1}}");
  assert_string_equal(errors_of(ROBOT("{\"file\": \"no.json\"},\n{\"file\": \"wrong.json\"}, "
                                      "{\"fiel\": \"leg.json\"}"),
                                NULL),
                      ":3 include[0].file () cannot be read: No such file or directory > \n"
                      ":4 include[1].file () must not include itself: wrong.json -> wrong.json > \n"
                      ":4 include[2].fiel () is not a known key > file\n");
  assert_string_equal(errors_of(ROBOT("{\"file\": \"loop.json\"}"), NULL),
                      "loop2.json:2 include[0].file () must not include itself: loop.json -> "
                      "loop2.json -> loop.json > \n");
  assert_string_equal(
      errors_of(ROBOT("{\"file\": \"leg.json\", \"parameters\": {\"l\": 2}}"), NULL),
      ":3 include[0].parameters.l () must be a parameter of the included file > L\n");
  assert_string_equal(
      errors_of(ROBOT("{\"file\": \"broken.json\"}"), NULL),
      "broken.json:0 line 2, column 1 () must be valid JSON: unexpected token > \n");
  assert_string_equal(errors_of(ROBOT("{\"file\": \"odd.json\", \"prefix\": \"x_\"}"), NULL),
                      "odd.json:2 bodies[0].position[2] (body 'odd') must be a number or an "
                      "expression of parameters: column 1: 'L' is not a known name > \n"
                      "odd.json:3 motors () is not a known key > drives\n"
                      "odd.json:3 bodies[1].mass (body 'x_bad') must be a positive number > \n");
  /* what can be missing after an error in an include is not looked up, all else is */
  assert_string_equal(
      errors_of("{\"gravity\": [0, 0, true],\n\"include\": [{\"file\": \"no.json\"}, {\"file\": "
                "\"odd.json\", \"prefix\": \"x_\", \"conect\": {}}],\n\"forces\": [{\"name\": "
                "\"f\", \"type\": \"force\", \"body\": \"no\", \"force\": [0, 1]}, {\"name\": "
                "\"f\", \"type\": \"force\", \"body\": \"x_bad\", \"force\": [0, 0, "
                "\"tt\"]}],\n\"simulation\": {\"step\": -1, \"end\": 1}}",
                NULL),
      ":2 include[0].file () cannot be read: No such file or directory > \n"
      ":2 include[1].conect () is not a known key > connect\n"
      "odd.json:2 bodies[0].position[2] (body 'odd') must be a number or an expression of "
      "parameters: column 1: 'L' is not a known name > \n"
      "odd.json:3 motors () is not a known key > drives\n"
      ":1 gravity[2] () must be a number > \n"
      ":3 forces[0].force (force 'f') must be a list of 3 numbers or expressions > \n"
      ":4 simulation.step () must be a positive number > \n"
      "odd.json:3 bodies[1].mass (body 'x_bad') must be a positive number > \n");
  pol_errors errors = {0};
  pol_model *model = NULL;
  assert_int_equal(pol_model_read_text(&model, ROBOT("{\"file\": \"leg.json\"}"), 0, NULL, &errors),
                   POL_BAD_ARGUMENT);
  assert_string_equal(errors.items[0].rule,
                      "must be in \"files\": the model was not read from a file");
  pol_errors_clear(&errors);
  assert_int_equal(system("rm leg.json loop.json loop2.json broken.json odd.json"), 0);
}

/* Units go through includes and into forces; what an include connects must be used; names that
 * copies and files give twice, and formulas without parameters, are explained. */
static void names_and_units_of_parts_are_checked(void **state)
{
  (void)state;
  write_text("leg.json",
             "{\"parameters\": {\"L\": {\"value\": 1, \"unit\": \"m\"}},\n\"bodies\": [{\"name\": "
             "\"leg\", \"mass\": 1, \"inertia\": [1, 1, 1]}],\n\"joints\": [{\"name\": \"hip\", "
             "\"type\": \"spherical\", \"bodies\": [\"trunk\", \"leg\"], \"point\": [\"L\", 0, "
             "0]}]}");
#define PARTS(more)                                                                                \
  "{\"parameters\": {\"m\": {\"value\": 2, \"unit\": \"kg\", \"min\": \"low\", \"max\": "          \
  "\"2*low\"}, \"low\": 1},\n" more ",\n\"bodies\": [{\"name\": \"trunk\", \"mass\": 1, "          \
  "\"inertia\": [1, 1, 1]}],\n" SIMULATION "}"
  assert_string_equal(
      errors_of(PARTS("\"include\": [{\"file\": \"leg.json\", \"parameters\": {\"L\": \"m/2\"}}]"),
                NULL),
      ":2 include[0].parameters.L () must be in m, but its unit is kg > \n");
  assert_string_equal(
      errors_of(PARTS("\"forces\": [{\"name\": \"f\", \"type\": \"force\", \"body\": "
                      "\"trunk\", \"force\": [0, \"m\", \"m*t\"]}]"),
                NULL),
      ":2 forces[0].force[1] (force 'f') must be in N, but its unit is kg > \n");
  /* a key with two units takes both */
  assert_string_equal(
      errors_of(PARTS("\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"bodies\": "
                      "[\"ground\", \"trunk\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1], "
                      "\"armature\": \"m\", \"stiffness\": \"m\"}]"),
                NULL),
      ":2 joints[0].stiffness (joint 'j') must be in N/m or N m/rad, but its unit is kg > \n");
  assert_string_equal(
      errors_of(
          PARTS("\"include\": [{\"file\": \"leg.json\", \"connect\": {\"trunkk\": \"ground\", "
                "\"leg\": \"trunk\"}}]"),
          NULL),
      ":2 include[0].connect.trunkk () must be a name that the included file uses but does not "
      "define > \n"
      ":2 include[0].connect.leg () must not be the name of an object of the included file itself "
      "> \n");
  assert_string_equal(
      errors_of(PARTS("\"include\": [{\"file\": \"leg.json\"}, {\"file\": \"leg.json\"}]"), NULL),
      "leg.json:2 bodies[0].name (body 'leg') must be unique: leg.json has an object of the same "
      "name; give the include a \"prefix\" > \n"
      "leg.json:3 joints[0].name (joint 'hip') must be unique: leg.json has an object of the same "
      "name; give the include a \"prefix\" > \n");
  assert_string_equal(
      errors_of("{\"bodies\": [{\"repeat\": {\"i\": 3}, \"name\": \"a\", \"mass\": 1, \"inertia\": "
                "[1, 1, 1]}],\n" SIMULATION "}",
                NULL),
      ":1 bodies[0].name (body 'a') must be unique: the copies of \"repeat\" need the index in "
      "their name, such as \"name{i}\" > \n");
  assert_string_equal(
      errors_of("{\"bodies\": [{\"name\": \"a\", \"mass\": \"2*q\", \"inertia\": [1, 1, 1]}],\n" //
                SIMULATION "}",
                NULL),
      ":1 bodies[0].mass (body 'a') must be a number or an expression of parameters: column 3: 'q' "
      "is not a known name > \n");
  assert_string_equal(
      errors_of(PARTS("\"files\": {\"x\": 3}, \"include\": [{\"file\": \"x\"}]"), NULL),
      ":2 files.x () must be an object with lists such as \"bodies\" > \n");
  /* bounds are expressions */

  assert_string_equal(errors_of(PARTS("\"name\": \"x\""), "parameters.low=0.9"),
                      ":1 parameters.m () must not be above its max, 1.8, but is 2 > \n");

  const char *found =
      errors_of(PARTS("\"include\": [{\"file\": \"leg.json\"}]"), "parameters.left_.L=3");
  assert_non_null(strstr(found, "--set include[0].parameters.NAME=VALUE"));
  assert_int_equal(system("rm leg.json"), 0);
}

/* --- places ----------------------------------------------------------------------------------- */

static void errors_have_lines_and_elements(void **state)
{
  (void)state;
  assert_string_equal(
      errors_of("{\n\"bodies\": [\n  {\"name\": \"a \\\"x\\\"\",\n   \"mass\": 1},\n\n"
                "  {\"name\": \"b\",\n   \"mass\":\n     -1, \"inertia\": [1, 1, 0]}],"
                "\n \"simulation\":\n {\"step\": 1, \"end\": 1}}",
                NULL),
      ":3 bodies[0].name (body 'a \"x\"') must be a name of ASCII letters, digits, _, "
      "- and spaces between them > \n"
      ":3 bodies[0].inertia (body 'a \"x\"') is required: must be \"auto\", 3 "
      "principal moments or a symmetric 3x3 matrix > \n"
      ":8 bodies[1].mass (body 'b') must be a positive number > \n"
      ":8 bodies[1].inertia[2] (body 'b') must be a positive number > \n");
}

/* However many there are: each of 300 objects of the model, and of 300 copies in another file. */
static void many_errors_have_lines(void **state)
{
  (void)state;
  enum { COUNT = 300 };
  static char text[COUNT * 80 + 400];
  char *to = text;
  pol_errors errors = {0};
  pol_model *model = NULL;
  write_text(
      "part.json",
      "{\n\"bodies\": [\n{\"name\": \"x\", \"mass\": 1, \"inertia\": [1, 1, 1]},\n{\"repeat\": "
      "{\"i\": 300}, \"name\": \"c{i}\", \"mass\": -2, \"inertia\": [1, 1, 1]}]}");
  to += sprintf(to, "{\"include\": [{\"file\": \"part.json\"}],\n\"bodies\": [\n");
  for (int i = 0; i < COUNT; i++)
    to += sprintf(to, "{\"name\": \"b%d\", \"mass\": -1, \"inertia\": [1, 1, 1]}%s\n", i,
                  i + 1 < COUNT ? "," : "],");
  sprintf(to, SIMULATION "}");
  write_text("many.json", text);
  assert_int_equal(pol_model_read_file(&model, "many.json", 0, NULL, &errors), POL_BAD_ARGUMENT);
  assert_int_equal(errors.count, 2 * COUNT);
  for (int i = 0; i < errors.count; i++) {
    const pol_error *e = &errors.items[i];
    const int copy = strcmp(e->file, "part.json") == 0;
    char path[40], element[40];
    snprintf(path, sizeof path, "bodies[%d].mass", copy ? 1 : i % COUNT);
    snprintf(element, sizeof element, "body '%c%d'", copy ? 'c' : 'b', i % COUNT);
    if (strcmp(e->path, path) != 0 || strcmp(e->element, element) != 0 ||
        e->line != (copy ? 4 : 3 + i % COUNT))
      fail_msg("error %d: %s:%d %s (%s)", i, e->file, e->line, e->path, e->element);
  }
  pol_errors_clear(&errors);
  remove("many.json");
  remove("part.json");
}

int main(void)
{
  char folder[] = "/tmp/polhode-parameters-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_may_be_expressions_everywhere),
      cmocka_unit_test(wrong_parameters_are_reported),
      cmocka_unit_test(units_are_checked_where_known),
      cmocka_unit_test(objects_are_repeated),
      cmocka_unit_test(repeats_list_values),
      cmocka_unit_test(wrong_repeats_are_reported),
      cmocka_unit_test(files_are_included),
      cmocka_unit_test(includes_nest),
      cmocka_unit_test(wrong_includes_are_reported),
      cmocka_unit_test(names_and_units_of_parts_are_checked),
      cmocka_unit_test(errors_have_lines_and_elements),
      cmocka_unit_test(many_errors_have_lines),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (chdir("/") == 0) rmdir(folder);
  return failed;
}
