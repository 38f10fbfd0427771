/* Beams of model files: lines, sections, ends, and what is wrong with them. */
#include "../check.h"

#include <stdio.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/model.h>

static const double pi = 3.14159265358979323846;

/* A model of beams that are given by a text; its errors, if `errors` is not NULL. */
static pol_model *read_beams(const char *beams, pol_errors *errors)
{
  char text[4000];
  pol_errors own = {0};
  pol_model *model = NULL;
  snprintf(text, sizeof text, "{\"beams\": [%s], \"simulation\": {\"step\": 1, \"end\": 1}}",
           beams);
  const pol_status status = pol_model_read_text(&model, text, 0, NULL, errors ? errors : &own);
  for (int i = 0; i < own.count; i++) print_error("%s: %s\n", own.items[i].path, own.items[i].rule);
  assert_int_equal(status, errors ? POL_BAD_ARGUMENT : POL_OK);
  return model;
}

#define SQUARE                                                                                     \
  "\"section\": {\"type\": \"rectangle\", \"width\": 0.1, \"height\": 0.1}, \"material\": "        \
  "{\"young\": 100, \"poisson\": 0, \"density\": 10}"

/* Where node k is: its body's centre of mass may be elsewhere. */
static void node_at(const pol_model *model, int k, double x[3])
{
  const pol_mechanism *m = model->mechanism;
  const int last = pol_mechanism_num_forces(m) - 1;
  const pol_force *element = pol_mechanism_force(m, k <= last ? k : last);
  pol_mechanism_marker_point(m, element->marker[k > last], x);
}

static void segments_have_the_mass_of_the_beam(void **state)
{
  (void)state;
  pol_model *model = read_beams(
      "{\"name\": \"b\", \"points\": [[1, 2, 3], [1, 5, 3]], \"elements\": 3, " SQUARE "}", NULL);
  const pol_mechanism *m = model->mechanism;
  double mass = 0.0, center[3] = {0.0}, about_y[2] = {0.0};
  assert_int_equal(pol_mechanism_num_bodies(m), 4);
  assert_int_equal(pol_mechanism_num_forces(m), 3);
  assert_string_equal(pol_mechanism_body(m, 3)->name, "b_3");
  assert_string_equal(pol_mechanism_force(m, 2)->name, "b_2_3");
  for (int k = 0; k < 4; k++) {
    const pol_body *body = pol_mechanism_body(m, k);
    mass += body->mass;
    for (int i = 0; i < 3; i++) center[i] += body->mass * body->position[i];
    about_y[0] += body->inertia[8] + body->mass * pow(body->position[1] - 3.5, 2.0);
  }
  assert_near(&mass, ((double[]){0.3}), 1, 1e-15);
  assert_near(center, ((double[]){0.3, 1.05, 0.9}), 3, 1e-15);
  /* that of a solid box */
  about_y[1] = 0.3 * (9.0 + 0.01) / 12.0;
  assert_near(about_y, about_y + 1, 1, 1e-15);
  double x[3];
  for (int k = 0; k < 4; k++) {
    node_at(model, k, x);
    assert_near(x, ((double[]){1.0, 2.0 + k, 3.0}), 3, 1e-15);
  }
  pol_mechanism_marker_point(m, pol_mechanism_find_marker(m, "b_last"), x);
  assert_near(x, ((double[]){1.0, 5.0, 3.0}), 3, 1e-15);
  pol_model_free(&model);
}

static void sections_have_their_stiffness(void **state)
{
  (void)state;
  static const struct {
    const char *section;
    double stiffness[6]; /* for E = 100, G = 50 */
  } cases[] = {
      /* torsion constant of a square: 0.1405770 a^4 (Timoshenko and Goodier) */
      {"{\"type\": \"rectangle\", \"width\": 2, \"height\": 2}",
       {50.0 * 0.14057701 * 16.0, 400.0 / 3.0, 400.0 / 3.0, 400.0, 200.0 * 5.0 / 6.0,
        200.0 * 5.0 / 6.0}},
      {"{\"type\": \"rectangle\", \"width\": 1, \"height\": 3, \"shear\": [1, 0.5]}",
       {50.0 * 0.2633169 * 3.0, 225.0, 25.0, 300.0, 150.0, 75.0}},
      {"{\"type\": \"circle\", \"radius\": 1}",
       {25.0 * 3.14159265358979, 25.0 * 3.14159265358979, 25.0 * 3.14159265358979,
        100.0 * 3.14159265358979, 50.0 * 3.14159265358979 * 6.0 / 7.0,
        50.0 * 3.14159265358979 * 6.0 / 7.0}},
      {"{\"type\": \"general\", \"area\": 2, \"moments\": [3, 4], \"torsion\": 5}",
       {250.0, 300.0, 400.0, 200.0, 250.0 / 3.0, 250.0 / 3.0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 1, \"section\": "
             "%s, \"material\": {\"young\": 100, \"poisson\": 0, \"density\": 10}}",
             cases[i].section);
    pol_model *model = read_beams(text, NULL);
    const pol_section *section = pol_mechanism_force(model->mechanism, 0)->section;
    for (int k = 0; k < 6; k++)
      assert_near(&section->stiffness[7 * k], &cases[i].stiffness[k], 1,
                  1e-6 * cases[i].stiffness[k]);
    pol_model_free(&model);
  }
}

static void lines_lead_through_their_points(void **state)
{
  (void)state;
  double x[3];
  /* a corner: pieces of 1 and 3 get 2 and 6 of 8 elements, which meet at a right angle */
  pol_model *model = read_beams(
      "{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0], [1, 3, 0]], \"elements\": 8, " SQUARE
      "}",
      NULL);
  node_at(model, 2, x);
  assert_near(x, ((double[]){1.0, 0.0, 0.0}), 3, 1e-15);
  node_at(model, 5, x);
  assert_near(x, ((double[]){1.0, 1.5, 0.0}), 3, 1e-15);
  const pol_section *section = pol_mechanism_force(model->mechanism, 2)->section;
  assert_near(section->strain, ((double[]){0, 0, 0, 1, 0, 0}), 6, 1e-15);
  pol_model_free(&model);

  /* a quarter of a circle: curvature 1/2, and length pi */
  model = read_beams("{\"name\": \"b\", \"type\": \"arc\", \"points\": [[2, 0, 0], "
                     "[1.4142135623730951, 1.4142135623730951, 0], [0, 2, 0]], \"elements\": 4, "
                     "\"up\": [0, 0, 1], " SQUARE "}",
                     NULL);
  for (int k = 0; k <= 4; k++) {
    const double turn = k * pi / 8.0;
    node_at(model, k, x);
    assert_near(x, ((double[]){2.0 * cos(turn), 2.0 * sin(turn), 0.0}), 3, 1e-14);
  }
  section = pol_mechanism_force(model->mechanism, 3)->section;
  assert_near(section->strain, ((double[]){0, 0, 0.5, 1, 0, 0}), 6, 1e-14);
  pol_model_free(&model);

  /* a spline: through its points where they are nodes by symmetry, at equal lengths */
  model = read_beams("{\"name\": \"b\", \"type\": \"spline\", \"points\": [[0, 0, 0], [1, 0, 1], "
                     "[2, 0, 0]], \"elements\": 6, " SQUARE "}",
                     NULL);
  node_at(model, 3, x);
  assert_near(x, ((double[]){1.0, 0.0, 1.0}), 3, 1e-9);
  for (int k = 0; k < 6; k++)
    assert_near(&pol_mechanism_force(model->mechanism, k)->length,
                &pol_mechanism_force(model->mechanism, 0)->length, 1, 1e-15);
  pol_model_free(&model);
}

/* Where an include puts it, with another name. */
static void includes_move_beams(void **state)
{
  (void)state;
  pol_errors errors = {0};
  pol_model *model = NULL;
  const char *text =
      "{\"files\": {\"arm\": {\"beams\": [{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], "
      "\"elements\": 2, " SQUARE "}]}}, \"include\": [{\"file\": \"arm\", \"prefix\": \"left_\", "
      "\"position\": [5, 0, 0], \"rotation\": {\"axis\": [0, 0, 1], \"angle\": "
      "1.5707963267948966}}], \"joints\": [{\"name\": \"j\", \"type\": \"fixed\", \"bodies\": "
      "[\"ground\", \"left_b_2\"], \"point\": [5, 1, 0]}], \"simulation\": {\"step\": 1, \"end\": "
      "1}}";
  const pol_status status = pol_model_read_text(&model, text, 0, NULL, &errors);
  for (int i = 0; i < errors.count; i++)
    print_error("%s: %s\n", errors.items[i].path, errors.items[i].rule);
  assert_int_equal(status, POL_OK);
  double x[3];
  pol_mechanism_marker_point(model->mechanism,
                             pol_mechanism_find_marker(model->mechanism, "left_b_last"), x);
  assert_near(x, ((double[]){5.0, 1.0, 0.0}), 3, 1e-15);
  pol_model_free(&model);
}

static void errors_name_their_place(void **state)
{
  (void)state;
  static const struct {
    const char *beam, *path, *rule;
  } cases[] = {
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [0, 0, 0]], \"elements\": 3, " SQUARE "}",
       "beams[0].points[1]", "must not be the point before it"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0], [1, 1, 0]], \"elements\": 1, " SQUARE
       "}",
       "beams[0].elements", "must be at least 2: one for each piece of the line"},
      {"{\"name\": \"b\", \"type\": \"arc\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": "
       "1, " SQUARE "}",
       "beams[0].points", "must be 3 points: an arc leads through them"},
      {"{\"name\": \"b\", \"type\": \"arc\", \"points\": [[0, 0, 0], [2, 0, 0], [1, 0, 0]], "
       "\"elements\": 1, " SQUARE "}",
       "beams[0].points", "must not be on one line: an arc leads through them"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [0, 3, 0]], \"up\": [0, 1, 0], \"elements\": "
       "1, " SQUARE "}",
       "beams[0].up", "must not point along the beam"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 0, " SQUARE "}",
       "beams[0].elements", "must be a whole number from 1 to 1000000"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"section\": "
       "{\"type\": \"circle\", \"radius\": 1}}",
       "beams[0].material", "is required: an object with \"young\" and \"density\""},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"section\": "
       "{\"type\": \"stiffness\", \"stiffness\": [1, 1, 1, 1, 1, -1], \"mass\": 1, \"inertia\": "
       "[1, 1, 1]}}",
       "beams[0].section.stiffness", "must not have negative eigenvalues"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pol_errors errors = {0};
    assert_null(read_beams(cases[i].beam, &errors));
    for (int k = 1; k < errors.count; k++)
      print_error("%s: %s\n", errors.items[k].path, errors.items[k].rule);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].path, cases[i].path);
    assert_string_equal(errors.items[0].rule, cases[i].rule);
    pol_errors_clear(&errors);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(segments_have_the_mass_of_the_beam),
      cmocka_unit_test(sections_have_their_stiffness),
      cmocka_unit_test(lines_lead_through_their_points),
      cmocka_unit_test(includes_move_beams),
      cmocka_unit_test(errors_name_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
