/* Good models: what the file says reaches the mechanism and the settings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/lie.h>
#include <polhode/model.h>

#include "lie/small.h"

/* Reads text, which must be a good model. */
static pol_model *read_good(const char *text)
{
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  const pol_status status = pol_model_read_text(&model, text, 0, NULL, &errors);
  for (int i = 0; i < errors.count; i++)
    print_error("%s = %s: %s\n", errors.items[i].path, errors.items[i].value, errors.items[i].rule);
  assert_int_equal(status, POL_OK);
  assert_int_equal(errors.count, 0);
  assert_non_null(model);
  return model;
}

static pol_model *read_good_file(const char *path)
{
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  assert_int_equal(pol_model_read_file(&model, path, 0, NULL, &errors), POL_OK);
  assert_int_equal(errors.count, 0);
  return model;
}

/* A model of bodies "a" and "b" with more keys inside "a" and at the top. */
static pol_model *read_pair(const char *in_a, const char *at_top)
{
  char text[2048];
  const int length =
      snprintf(text, sizeof text,
               "{\"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": [1, 2, 3], "
               "\"position\": [1, 2, 3]%s}, "
               "{\"name\": \"b\", \"mass\": 3, \"inertia\": [1, 1, 1], \"rotation\": "
               "{\"rotation_vector\": [0.3, -0.2, 0.9]}}], "
               "%s\"simulation\": {\"step\": 0.5, \"end\": 2}}",
               in_a, at_top);
  assert_true(length > 0 && (size_t)length < sizeof text);
  return read_good(text);
}

static void assert_numbers(const double *found, const double *expected, int count, double tolerance)
{
  for (int i = 0; i < count; i++)
    if (!(fabs(found[i] - expected[i]) <= tolerance))
      fail_msg("number %d is %.17g, not %.17g", i, found[i], expected[i]);
}

static void assert_vector(const double found[3], double x, double y, double z, double tolerance)
{
  const double expected[3] = {x, y, z};
  assert_numbers(found, expected, 3, tolerance);
}

/* Global axes (columns) and position of a marker at the initial position. */
static void marker_frame(const pol_mechanism *mechanism, int index, double R[9], double x[3])
{
  const pol_marker *marker = pol_mechanism_marker(mechanism, index);
  if (marker->body == POL_GROUND) {
    pol_quat_to_matrix(marker->rotation, R);
    poli_v3_copy(marker->position, x);
    return;
  }
  const pol_body *body = pol_mechanism_body(mechanism, marker->body);
  double q[4], Rb[9];
  pol_quat_multiply(body->rotation, marker->rotation, q);
  pol_quat_to_matrix(q, R);
  pol_quat_to_matrix(body->rotation, Rb);
  poli_m3_apply(Rb, marker->position, x);
  poli_v3_add(x, body->position, x);
}

/* Both markers of the first joint coincide at the point; R gets their axes. */
static void joint_frame(const pol_model *model, const double point[3], double R[9])
{
  const pol_joint *joint = pol_mechanism_joint(model->mechanism, 0);
  double x[3], R2[9];
  marker_frame(model->mechanism, joint->marker[0], R, x);
  assert_numbers(x, point, 3, 1e-14);
  marker_frame(model->mechanism, joint->marker[1], R2, x);
  assert_numbers(x, point, 3, 1e-14);
  assert_numbers(R2, R, 9, 1e-14);
}

/* --- the models of the papers ----------------------------------------------------------------- */

#define MODELS POLHODE_SOURCE_DIR "/models/"

static void assert_heavy_top(const pol_model *model)
{
  const double inertia[9] = {0.234375, 0, 0, 0, 0.46875, 0, 0, 0, 0.234375};
  const double identity[4] = {1, 0, 0, 0};
  double gravity[3];
  pol_mechanism_gravity(model->mechanism, gravity);
  assert_vector(gravity, 0, 0, -9.81, 0);
  assert_int_equal(pol_mechanism_num_bodies(model->mechanism), 1);
  const pol_body *top = pol_mechanism_body(model->mechanism, 0);
  assert_string_equal(top->name, "top");
  assert_true(top->mass == 15.0);
  assert_numbers(top->inertia, inertia, 9, 0);
  assert_vector(top->position, 0, 1, 0, 0);
  assert_numbers(top->rotation, identity, 4, 0);
  assert_vector(top->velocity, 0, 0, 0, 0);
  assert_vector(top->angular_velocity, 0, 150, -4.61538, 0);
  assert_int_equal(top->given, POL_GIVEN_ANGULAR_VELOCITY);

  assert_int_equal(pol_mechanism_num_joints(model->mechanism), 1);
  const pol_joint *tip = pol_mechanism_joint(model->mechanism, 0);
  assert_string_equal(tip->name, "tip");
  assert_int_equal(tip->type, POL_SPHERICAL);

  pol_options options = pol_options_default();
  pol_options_set_rho_inf(&options, 0.9);
  assert_string_equal(model->settings.options.method, "geom1");
  assert_int_equal(model->settings.options.index, POL_INDEX_3);
  assert_int_equal(model->settings.options.start, POL_START_CLASSICAL);
  assert_true(model->settings.options.alpha_m == options.alpha_m);
  assert_true(model->settings.options.beta == options.beta);
  assert_true(model->settings.step == 1e-3);
  assert_true(model->settings.end == 1.0);
}

/* The first marker says in which frame the constraint is written. */
static void heavy_tops_are_those_of_the_papers(void **state)
{
  (void)state;
  static const struct {
    const char *path, *name;
    int first;
    pol_formulation_kind formulation;
  } files[] = {
      {MODELS "bruels-cardona-2010/heavy_top.json", "Heavy top", 0, POL_SO3XR3},
      {MODELS "bruels-cardona-2010/heavy_top_inertial.json",
       "Heavy top, constraint in inertial axes", 1, POL_SO3XR3},
      {MODELS "arnold-cardona-bruels-2015/heavy_top_se3.json", "Heavy top on SE(3)", 0,
       POL_SE3_BODY},
  };
  const double identity[4] = {1, 0, 0, 0};
  for (int i = 0; i < 3; i++) {
    pol_model *model = read_good_file(files[i].path);
    assert_heavy_top(model);
    assert_string_equal(model->name, files[i].name);
    assert_int_equal(model->settings.formulation, files[i].formulation);
    const pol_joint *tip = pol_mechanism_joint(model->mechanism, 0);
    const pol_marker *on_top = pol_mechanism_marker(model->mechanism, tip->marker[files[i].first]);
    const pol_marker *on_ground =
        pol_mechanism_marker(model->mechanism, tip->marker[1 - files[i].first]);
    assert_int_equal(on_top->body, 0);
    assert_vector(on_top->position, 0, -1, 0, 0);
    assert_numbers(on_top->rotation, identity, 4, 0);
    assert_int_equal(on_ground->body, POL_GROUND);
    assert_vector(on_ground->position, 0, 0, 0, 0);
    assert_numbers(on_ground->rotation, identity, 4, 0);
    pol_model_free(&model);
    assert_null(model);
    pol_model_free(&model);
  }
}

/* --- defaults and spellings ------------------------------------------------------------------- */

static void what_is_left_out_has_its_default(void **state)
{
  (void)state;
  const double identity[4] = {1, 0, 0, 0};
  double gravity[3] = {1, 1, 1};
  pol_model *model = read_good("{\"bodies\": [{\"name\": \"a b-c_1\", \"mass\": 1, "
                               "\"inertia\": [1, 1, 1]}], \"simulation\": {\"step\": 1, "
                               "\"end\": 3}}");
  pol_settings settings = pol_settings_default();
  assert_string_equal(model->name, "");
  pol_mechanism_gravity(model->mechanism, gravity);
  assert_vector(gravity, 0, 0, 0, 0);
  const pol_body *body = pol_mechanism_body(model->mechanism, 0);
  assert_string_equal(body->name, "a b-c_1");
  assert_vector(body->position, 0, 0, 0, 0);
  assert_numbers(body->rotation, identity, 4, 0);
  assert_vector(body->angular_velocity, 0, 0, 0, 0);
  assert_int_equal(body->given, 0);
  assert_int_equal(pol_mechanism_num_joints(model->mechanism), 0);
  assert_int_equal(model->settings.formulation, settings.formulation);
  assert_string_equal(model->settings.options.method, "rattle"); /* by auto */
  assert_non_null(strstr(model->settings.choice, "rattle: "));
  assert_int_equal(model->settings.options.newton.kind, settings.options.newton.kind);
  assert_true(model->settings.options.newton.tolerance == settings.options.newton.tolerance);
  assert_int_equal(model->settings.options.solver, settings.options.solver);
  assert_true(model->settings.end == 3.0);
  pol_model_free(&model);
}

static void comments_schema_and_byte_order_mark_are_accepted(void **state)
{
  (void)state;
  pol_model *model = read_good(
      "\xEF\xBB\xBF{\"$schema\": \"x\", \"comment\": \"top\", \"name\": \"Kr\xC3\xA4"
      "hn\", "
      "\"bodies\": [{\"comment\": \"body\", \"name\": \"a\", \"mass\": 1, \"inertia\": "
      "[1, 1, 1], \"rotation\": {\"comment\": \"none\", \"rotation_vector\": [0, 0, 0]}}], "
      "\"joints\": [], \"markers\": [], \"forces\": [], \"simulation\": {\"comment\": "
      "\"s\", \"step\": 1, \"end\": 3, \"newton\": {\"comment\": \"n\"}}}");
  assert_string_equal(model->name, "Kr\xC3\xA4"
                                   "hn");
  pol_model_free(&model);
}

static void every_setting_arrives(void **state)
{
  (void)state;
  pol_model *model = read_good(
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"simulation\": "
      "{\"method\": \"geom1\", \"index\": 3, \"formulation\": \"se3\", \"alpha_m\": 0.25, "
      "\"alpha_f\": 0.375, \"beta\": 0.390625, \"gamma\": 0.625, \"step\": 2, \"end\": 10, "
      "\"newton\": {\"kind\": \"full\", \"tolerance\": 1e-7, \"max_iterations\": 9, \"refresh\": "
      "0.25, \"line_search\": 4}, \"solver\": \"sparse\"}}");
  const pol_options *options = &model->settings.options;
  assert_string_equal(options->method, "geom1");
  assert_int_equal(options->index, POL_INDEX_3);
  assert_int_equal(model->settings.formulation, POL_SE3_BODY);
  assert_true(options->alpha_m == 0.25 && options->alpha_f == 0.375);
  assert_true(options->beta == 0.390625 && options->gamma == 0.625);
  assert_true(model->settings.step == 2.0 && model->settings.end == 10.0);
  assert_int_equal(options->newton.kind, POL_NEWTON_FULL);
  assert_true(options->newton.tolerance == 1e-7 && options->newton.refresh == 0.25);
  assert_int_equal(options->newton.max_iterations, 9);
  assert_int_equal(options->newton.line_search, 4);
  assert_int_equal(options->solver, POL_SOLVER_SPARSE);
  pol_model_free(&model);
}

static void every_choice_arrives(void **state)
{
  (void)state;
  static const char text[] =
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": "
      "[1, 1, 1]}], \"simulation\": {\"step\": 1, \"end\": 1, "
      "\"method\": \"geom1\", \"index\": %s, \"newton\": {\"kind\": \"%s\"}, "
      "\"solver\": \"%s\"}}";
  static const struct {
    const char *index, *newton, *solver;
    pol_index index_value;
    pol_newton_kind newton_value;
    pol_solver_kind solver_value;
  } cases[] = {
      {"3", "full", "auto", POL_INDEX_3, POL_NEWTON_FULL, POL_SOLVER_AUTO},
      {"2", "simplified", "dense", POL_INDEX_2, POL_NEWTON_SIMPLIFIED, POL_SOLVER_DENSE},
      {"\"stabilized-2\"", "modified", "sparse", POL_INDEX_2_STABILIZED, POL_NEWTON_MODIFIED,
       POL_SOLVER_SPARSE},
      {"2.0", "full", "auto", POL_INDEX_2, POL_NEWTON_FULL, POL_SOLVER_AUTO},
  };
  for (int i = 0; i < 4; i++) {
    char model_text[512];
    snprintf(model_text, sizeof model_text, text, cases[i].index, cases[i].newton, cases[i].solver);
    pol_model *model = read_good(model_text);
    assert_int_equal(model->settings.options.index, cases[i].index_value);
    assert_int_equal(model->settings.options.newton.kind, cases[i].newton_value);
    assert_int_equal(model->settings.options.solver, cases[i].solver_value);
    pol_model_free(&model);
  }
}

/* sigma is a number, or gamma / (3 beta) of the other parameters wherever they stand. */
static void sigma_and_start_arrive(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": "
                             "[1, 1, 1]}], \"simulation\": {\"method\": \"geom1\", %s, "
                             "\"step\": 1, \"end\": 1}}";
  static const struct {
    const char *keys;
    double sigma;
    pol_sigma_update update;
    pol_start start;
  } cases[] = {
      {"\"start\": \"default\"", 0.0, POL_SIGMA_EXACT, POL_START_DEFAULT},
      {"\"sigma\": 1, \"start\": \"classical\"", 1.0, POL_SIGMA_EXACT, POL_START_CLASSICAL},
      {"\"sigma\": 0.25, \"start\": \"shifted\", \"published\": {\"sigma_update\": \"exact\"}",
       0.25, POL_SIGMA_EXACT, POL_START_SHIFTED},
      {"\"sigma\": \"optimal\", \"rho_inf\": 1, \"start\": \"perturbed\"", 2.0 / 3.0,
       POL_SIGMA_EXACT, POL_START_PERTURBED},
      {"\"sigma\": \"optimal\", \"alpha_m\": 0.25, \"alpha_f\": 0.375, \"beta\": 0.390625, "
       "\"gamma\": 0.625, \"start\": \"classical\", \"published\": {\"sigma_update\": "
       "\"incremental\"}",
       0.625 / (3.0 * 0.390625), POL_SIGMA_INCREMENTAL, POL_START_CLASSICAL},
  };
  for (int i = 0; i < 5; i++) {
    char model_text[512];
    snprintf(model_text, sizeof model_text, text, cases[i].keys);
    pol_model *model = read_good(model_text);
    assert_numbers(&model->settings.options.sigma, &cases[i].sigma, 1, 1e-15);
    assert_int_equal(model->settings.options.published.sigma_update, cases[i].update);
    assert_int_equal(model->settings.options.start, cases[i].start);
    pol_model_free(&model);
  }
}

static void the_sigma_model_has_its_sigma(void **state)
{
  (void)state;
  pol_model *model = read_good_file(MODELS "holzinger-arnold-gerstmayr/heavy_top.json");
  pol_options options = pol_options_default();
  pol_options_set_rho_inf(&options, 0.65);
  const double sigma = options.gamma / (3.0 * options.beta);
  assert_numbers(&model->settings.options.sigma, &sigma, 1, 0);
  assert_true(model->settings.options.beta == options.beta);
  pol_model_free(&model);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* Supports, spring-dampers and drag; what is left out follows from the initial position: the body
 * is turned by a quarter about z. */
static void force_laws_arrive(void **state)
{
  (void)state;
  pol_model *model = read_good(
      "{\"forces\": [{\"name\": \"s\", \"type\": \"support\", \"body\": \"a\", \"point\": [1, 0, "
      "0],"
      "\"stiffness\": [1, 2, 3], \"damping\": 4}, {\"name\": \"t\", \"type\": \"support\", "
      "\"body\":"
      "\"a\", \"anchor\": [7, 8, 9], \"stiffness\": 5}, {\"name\": \"u\", \"type\":"
      "\"spring-damper\", \"markers\": [\"m\", \"n\"], \"stiffness\": 6, \"damping\": 7, "
      "\"actuator\":"
      "-8}, {\"name\": \"v\", \"type\": \"spring-damper\", \"markers\": [\"n\", \"m\"], "
      "\"stiffness\":"
      "9, \"length\": 0}, {\"name\": \"w\", \"type\": \"drag\", \"body\": \"a\", \"coefficient\": "
      "10}],"
      "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [2, 3, 4],"
      "\"rotation\": {\"axis\": [0, 0, 1], \"angle\": 1.5707963267948966}}],"
      "\"markers\": [{\"name\": \"m\", \"body\": \"ground\"}, {\"name\": \"n\", \"body\": \"a\","
      "\"position\": [-3, 2, 0]}], \"simulation\": {\"step\": 1, \"end\": 3}}");
  assert_int_equal(pol_mechanism_num_forces(model->mechanism), 5);
  const pol_force *s = pol_mechanism_force(model->mechanism, 0), *t = s + 1, *u = s + 2, *v = s + 3;
  assert_int_equal(s->type, POL_SUPPORT);
  assert_vector(s->anchor, 2, 4, 4, 1e-15);
  assert_vector(s->stiffness, 1, 2, 3, 0);
  assert_vector(s->damping, 4, 4, 4, 0);
  assert_vector(t->anchor, 7, 8, 9, 0);
  assert_vector(t->stiffness, 5, 5, 5, 0);
  assert_vector(t->damping, 0, 0, 0, 0);
  assert_int_equal(u->type, POL_SPRING_DAMPER);
  assert_int_equal(u->marker[0], 0);
  assert_int_equal(u->marker[1], 1);
  assert_true(u->stiffness[0] == 6 && u->damping[0] == 7 && u->actuator == -8);
  assert_true(fabs(u->length - 4.0) < 1e-14); /* n is at (0, 0, 4) */
  assert_true(v->length == 0.0);
  assert_int_equal(s[4].type, POL_DRAG);
  assert_true(s[4].coefficient == 10);
  pol_model_free(&model);
}

/* Springs on joints: the only coordinate by default, else the one with that name. */
static void joint_springs_arrive(void **state)
{
  (void)state;
  pol_model *model = read_good(
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}, {\"name\": \"b\", "
      "\"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": [{\"name\": \"hinge\", \"type\": "
      "\"revolute\", \"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}, "
      "{\"name\": \"table\", \"type\": \"planar\", \"bodies\": [\"a\", \"b\"], \"point\": [0, 0, "
      "0], \"axis\": [1, 0, 0]}], \"forces\": [{\"name\": \"s\", \"type\": \"joint-spring\", "
      "\"joint\": \"hinge\", \"stiffness\": 1, \"damping\": 2, \"rest\": -30, \"actuator\": 4}, "
      "{\"name\": \"t\", \"type\": \"joint-spring\", \"joint\": \"table\", \"coordinate\": "
      "\"translation-y\", \"stiffness\": 5}, {\"name\": \"u\", \"type\": \"joint-spring\", "
      "\"joint\": \"table\", \"coordinate\": \"rotation\", \"stiffness\": 0}], "
      "\"simulation\": {\"step\": 1, \"end\": 3}}");
  const pol_force *s = pol_mechanism_force(model->mechanism, 0);
  assert_int_equal(pol_mechanism_num_forces(model->mechanism), 3);
  for (int i = 0; i < 3; i++) assert_int_equal(s[i].type, POL_JOINT_SPRING);
  assert_true(s[0].joint == 0 && s[0].coordinate == 0 && s[0].stiffness[0] == 1);
  assert_true(s[0].damping[0] == 2 && s[0].rest == -30 && s[0].actuator == 4);
  assert_true(s[1].joint == 1 && s[1].coordinate == 1 && s[1].stiffness[0] == 5);
  assert_true(s[1].damping[0] == 0 && s[1].rest == 0 && s[1].actuator == 0);
  assert_true(s[2].joint == 1 && s[2].coordinate == 2);
  pol_model_free(&model);
}

static void forces_arrive(void **state)
{
  (void)state;
  pol_model *model =
      read_good("{\"forces\": [{\"name\": \"push\", \"type\": \"force\", \"body\": \"b\", "
                "\"force\": [1, 2, 3], \"point\": [4, 5, 6]}, {\"name\": \"spin\", \"type\": "
                "\"torque\", \"body\": \"a\", \"torque\": [7, 8, 9], \"frame\": \"body\", "
                "\"comment\": \"c\"}], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": "
                "[1, 1, 1]}, {\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], "
                "\"simulation\": {\"step\": 1, \"end\": 3}}");
  assert_int_equal(pol_mechanism_num_forces(model->mechanism), 2);
  const pol_force *push = pol_mechanism_force(model->mechanism, 0);
  const pol_force *spin = pol_mechanism_force(model->mechanism, 1);
  assert_string_equal(push->name, "push");
  assert_int_equal(push->type, POL_APPLIED_FORCE);
  assert_int_equal(push->frame, POL_GLOBAL_AXES);
  assert_int_equal(push->body, 1);
  assert_vector(push->vector, 1, 2, 3, 0);
  assert_vector(push->point, 4, 5, 6, 0);
  assert_string_equal(spin->name, "spin");
  assert_int_equal(spin->type, POL_APPLIED_TORQUE);
  assert_int_equal(spin->frame, POL_BODY_AXES);
  assert_int_equal(spin->body, 0);
  assert_vector(spin->vector, 7, 8, 9, 0);
  pol_model_free(&model);
}

/* A distance has its length, or the one between its markers at the initial position. */
static void distances_have_their_length(void **state)
{
  (void)state;
  pol_model *model =
      read_good("{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], "
                "\"position\": [3, 0, 0], \"rotation\": {\"rotation_vector\": [0, 0, "
                "1.5707963267948966]}}], \"markers\": [{\"name\": \"m\", \"body\": \"a\", "
                "\"position\": [4, 0, 0]}, {\"name\": \"g\", \"body\": \"ground\"}], \"joints\": "
                "[{\"name\": \"i\", \"type\": \"distance\", \"markers\": [\"m\", \"g\"]}, "
                "{\"name\": \"j\", \"type\": \"distance\", \"markers\": [\"g\", \"m\"], "
                "\"length\": 2}], \"simulation\": {\"step\": 1, \"end\": 3}}");
  const double lengths[2] = {pol_mechanism_joint(model->mechanism, 0)->length,
                             pol_mechanism_joint(model->mechanism, 1)->length};
  const double expected[2] = {5.0, 2.0};
  assert_int_equal(pol_mechanism_joint(model->mechanism, 0)->type, POL_DISTANCE);
  assert_numbers(lengths, expected, 2, 1e-15);
  pol_model_free(&model);
}

/* --- bodies ----------------------------------------------------------------------------------- */

static void rotations_can_be_written_in_four_ways(void **state)
{
  (void)state;
  /* a third of a turn about (1, 1, 1): x to y to z */
  static const char *const ways[] = {
      ", \"rotation\": {\"axis\": [3, 3, 3], \"angle\": 2.0943951023931953}",
      ", \"rotation\": {\"quaternion\": [0.5, 0.5, 0.5, 0.5]}",
      ", \"rotation\": {\"quaternion\": [0.50000001, 0.5, 0.5, 0.5]}",
      ", \"rotation\": {\"matrix\": [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}",
      (", \"rotation\": {\"rotation_vector\": [1.2091995761561452, 1.2091995761561452, "
       "1.2091995761561452]}"),
      ", \"rotation\": {\"axis\": [-1e200, -1e200, -1e200], \"angle\": -2.0943951023931953}",
  };
  const double expected[4] = {0.5, 0.5, 0.5, 0.5};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    pol_model *model = read_pair(ways[i], "");
    const double *q = pol_mechanism_body(model->mechanism, 0)->rotation;
    assert_numbers(q, expected, 4, i == 2 ? 1e-8 : 1e-15);
    assert_true(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) < 1e-15);
    pol_model_free(&model);
  }
}

static void velocities_arrive_in_their_axes(void **state)
{
  (void)state;
  static const char turned[] = ", \"rotation\": {\"quaternion\": [0.5, 0.5, 0.5, 0.5]}, "
                               "\"velocity\": [4, 5, 6], \"%s\": [1, 2, 3]";
  char keys[256];
  snprintf(keys, sizeof keys, turned, "angular_velocity");
  pol_model *model = read_pair(keys, "");
  const pol_body *body = pol_mechanism_body(model->mechanism, 0);
  assert_vector(body->velocity, 4, 5, 6, 0);
  assert_vector(body->angular_velocity, 1, 2, 3, 0);
  assert_int_equal(body->given, POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY);
  pol_model_free(&model);

  /* the body's x, y, z are the global y, z, x */
  snprintf(keys, sizeof keys, turned, "angular_velocity_global");
  model = read_pair(keys, "");
  body = pol_mechanism_body(model->mechanism, 0);
  assert_vector(body->angular_velocity, 2, 3, 1, 1e-15);
  assert_int_equal(body->given,
                   POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY | POL_GIVEN_IN_GLOBAL_AXES);
  pol_model_free(&model);
}

static void inertias_can_be_matrices(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": %s}], "
                             "\"simulation\": {\"step\": 1, \"end\": 1}}";
  /* a rod along (1, 1, 0) and one with the smallest triangle, both tilted; round-off in symmetry */
  static const char *const good[] = {
      "[[3, -0.5, 0.25], [-0.5, 4, 0.125], [0.25, 0.125, 5]]",
      "[[1.0005, -0.9995, 0], [-0.9995, 1.0005, 0], [0, 0, 2.001]]",
      "[[3, -0.5, 0.25], [-0.5000000001, 4, 0.125], [0.25, 0.125, 5]]",
      "[1, 1, 2.000000001]",
  };
  char model_text[512];
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    snprintf(model_text, sizeof model_text, text, good[i]);
    pol_model *model = read_good(model_text);
    const double *J = pol_mechanism_body(model->mechanism, 0)->inertia;
    assert_true(J[1] == J[3] && J[2] == J[6] && J[5] == J[7]);
    if (i == 0) {
      const double expected[9] = {3, -0.5, 0.25, -0.5, 4, 0.125, 0.25, 0.125, 5};
      assert_numbers(J, expected, 9, 0);
    }
    pol_model_free(&model);
  }
}

/* A tilted inertia with principal moments 1, 1, 2(1 + excess): the rule is about those. */
static pol_status read_tilted(double excess)
{
  const double w[3] = {0.4, -1.1, 0.7};
  const double moments[3] = {1.0, 1.0, 2.0 * (1.0 + excess)};
  double q[4], R[9], J[9] = {0}; /* J = R diag(moments) R^T */
  pol_so3_exp(w, q);
  pol_quat_to_matrix(q, R);
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 3; k++) J[i] += R[3 * (i / 3) + k] * moments[k] * R[3 * (i % 3) + k];
  char text[512];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [[%.17g, %.17g, %.17g], "
           "[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]}], \"simulation\": {\"step\": 1, "
           "\"end\": 1}}",
           J[0], J[1], J[2], J[3], J[4], J[5], J[6], J[7], J[8]);
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  const pol_status status = pol_model_read_text(&model, text, 0, NULL, &errors);
  pol_errors_clear(&errors);
  pol_model_free(&model);
  return status;
}

static void the_triangle_rule_holds_for_tilted_axes(void **state)
{
  (void)state;
  assert_int_equal(read_tilted(0.0), POL_OK);
  assert_int_equal(read_tilted(0.9e-9), POL_OK);
  assert_int_equal(read_tilted(1.1e-9), POL_BAD_ARGUMENT);
}

/* --- joints ----------------------------------------------------------------------------------- */

static void joints_without_axis_have_the_axes_of_the_first_body(void **state)
{
  (void)state;
  static const char *const types[] = {"spherical", "fixed"};
  const double point[3] = {7, -8, 9};
  for (int i = 0; i < 4; i++) {
    char joint[256];
    snprintf(joint, sizeof joint,
             "\"joints\": [{\"name\": \"j\", \"type\": \"%s\", \"bodies\": [%s], "
             "\"point\": [7, -8, 9]}], ",
             types[i % 2], i < 2 ? "\"b\", \"a\"" : "\"ground\", \"b\"");
    pol_model *model = read_pair("", joint);
    double R[9], expected[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    joint_frame(model, point, R);
    if (i < 2) pol_quat_to_matrix(pol_mechanism_body(model->mechanism, 1)->rotation, expected);
    assert_numbers(R, expected, 9, 1e-15);
    pol_model_free(&model);
  }
}

static void the_axis_of_a_joint_is_z_of_its_markers(void **state)
{
  (void)state;
  static const double axes[][3] = {{0, 0, 1},  {0, 0, -2},      {1, 0, 0}, {-3, 0.5, 2},
                                   {0, -1, 0}, {1e-9, 0, -1.0}, {1, 1, -5}};
  static const char *const types[] = {"revolute", "prismatic", "cylindrical", "planar", "fixed"};
  const double point[3] = {1, 0, -1};
  for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
    char joint[256];
    snprintf(joint, sizeof joint,
             "\"joints\": [{\"name\": \"j\", \"type\": \"%s\", \"bodies\": [\"a\", \"b\"], "
             "\"point\": [1, 0, -1], \"axis\": [%g, %g, %g]}], ",
             types[i % 5], axes[i][0], axes[i][1], axes[i][2]);
    pol_model *model = read_pair("", joint);
    pol_joint_type type;
    assert_int_equal(pol_joint_type_find(types[i % 5], &type), POL_OK);
    assert_int_equal(pol_mechanism_joint(model->mechanism, 0)->type, type);
    double R[9];
    joint_frame(model, point, R);
    const double length = sqrt(poli_v3_dot(axes[i], axes[i]));
    const double z[3] = {R[2], R[5], R[8]};
    assert_vector(z, axes[i][0] / length, axes[i][1] / length, axes[i][2] / length, 1e-14);
    pol_model_free(&model);
  }
}

static void a_universal_joint_turns_about_x_and_y(void **state)
{
  (void)state;
  pol_model *model = read_pair("", "\"joints\": [{\"name\": \"j\", \"type\": \"universal\", "
                                   "\"bodies\": [\"a\", \"b\"], \"point\": [0, 0, 0], "
                                   "\"axes\": [[0, 3, 4], [0, -4, 3.000001]]}], ");
  const double point[3] = {0, 0, 0};
  const double expected[9] = {0, 0, 1, 0.6, -0.8, 0, 0.8, 0.6, 0};
  double R[9];
  joint_frame(model, point, R);
  assert_numbers(R, expected, 9, 1e-6);
  pol_model_free(&model);
}

static void joints_can_be_between_markers(void **state)
{
  (void)state;
  pol_model *model = read_pair(
      "",
      "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"markers\": [\"on b\", \"base\"]}],"
      "\"markers\": [{\"name\": \"base\", \"body\": \"ground\", \"position\": [1, 2, 3]}, "
      "{\"name\": \"a\", \"body\": \"a\"}, {\"name\": \"on b\", \"body\": \"b\", \"position\": "
      "[4, 5, 6], \"rotation\": {\"quaternion\": [0, 1, 0, 0]}}], ");
  const double half_turn[4] = {0, 1, 0, 0};
  assert_int_equal(pol_mechanism_num_markers(model->mechanism), 3);
  const pol_joint *joint = pol_mechanism_joint(model->mechanism, 0);
  const pol_marker *first = pol_mechanism_marker(model->mechanism, joint->marker[0]);
  const pol_marker *second = pol_mechanism_marker(model->mechanism, joint->marker[1]);
  assert_string_equal(first->name, "on b");
  assert_int_equal(first->body, 1);
  assert_vector(first->position, 4, 5, 6, 0);
  assert_numbers(first->rotation, half_turn, 4, 0);
  assert_string_equal(second->name, "base");
  assert_int_equal(second->body, POL_GROUND);
  assert_vector(second->position, 1, 2, 3, 0);
  pol_model_free(&model);
}

/* Shapes of the ground come first, then those of the bodies; an axis turns z into it. */
static void shapes_arrive(void **state)
{
  (void)state;
  pol_model *model = read_pair(
      ", \"shapes\": [{\"type\": \"cone\", \"radius\": 1, \"length\": 3, \"axis\": [4, 0, 0],"
      "\"position\": [7, 8, 9], \"color\": \"#0a0b0C\"},"
      "{\"type\": \"mesh\", \"file\": \"a/b.stl\", \"scale\": 0.001}]",
      "\"shapes\": [{\"type\": \"box\", \"size\": [1, 2, 3],"
      "\"rotation\": {\"quaternion\": [0, 0, 1, 0]}}], ");
  assert_int_equal(model->num_shapes, 3);
  const pol_shape *box = &model->shapes[0], *cone = box + 1, *mesh = box + 2;
  assert_int_equal(box->type, POL_BOX);
  assert_int_equal(box->body, POL_GROUND);
  assert_vector(box->size, 1.0, 2.0, 3.0, 0.0);
  assert_int_equal(box->color, POL_NO_COLOR);
  assert_vector(box->rotation + 1, 0.0, 1.0, 0.0, 0.0);

  double R[9];
  pol_quat_to_matrix(cone->rotation, R);
  assert_int_equal(cone->body, 0);
  assert_int_equal(cone->color, 0x0a0b0c);
  assert_true(cone->radius == 1.0 && cone->length == 3.0);
  assert_vector(cone->position, 7.0, 8.0, 9.0, 0.0);
  assert_vector((double[3]){R[2], R[5], R[8]}, 1.0, 0.0, 0.0, 1e-15);

  assert_int_equal(mesh->type, POL_MESH);
  assert_string_equal(mesh->file, "a/b.stl");
  assert_true(mesh->scale == 0.001 && mesh->rotation[0] == 1.0);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heavy_tops_are_those_of_the_papers),
      cmocka_unit_test(what_is_left_out_has_its_default),
      cmocka_unit_test(comments_schema_and_byte_order_mark_are_accepted),
      cmocka_unit_test(every_setting_arrives),
      cmocka_unit_test(every_choice_arrives),
      cmocka_unit_test(sigma_and_start_arrive),
      cmocka_unit_test(the_sigma_model_has_its_sigma),
      cmocka_unit_test(force_laws_arrive),
      cmocka_unit_test(joint_springs_arrive),
      cmocka_unit_test(forces_arrive),
      cmocka_unit_test(distances_have_their_length),
      cmocka_unit_test(rotations_can_be_written_in_four_ways),
      cmocka_unit_test(velocities_arrive_in_their_axes),
      cmocka_unit_test(inertias_can_be_matrices),
      cmocka_unit_test(the_triangle_rule_holds_for_tilted_axes),
      cmocka_unit_test(joints_without_axis_have_the_axes_of_the_first_body),
      cmocka_unit_test(the_axis_of_a_joint_is_z_of_its_markers),
      cmocka_unit_test(a_universal_joint_turns_about_x_and_y),
      cmocka_unit_test(joints_can_be_between_markers),
      cmocka_unit_test(shapes_arrive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
