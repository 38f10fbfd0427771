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

/* Elements are shorter towards graded ends, by the given part of the mean, and mass, centre and
 * inertia stay exact; markers keep their places. */
static void elements_become_shorter_towards_graded_ends(void **state)
{
  (void)state;
  static const char *const gradings[] = {"0.4, 0", "0, 0.4", "0.4, 0.4", "0.9, 0.9"};
  static const double ends[][2] = {{0.4, 0.0}, {0.0, 0.4}, {0.4, 0.4}, {0.9, 0.9}};
  for (int g = 0; g < 4; g++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{\"name\": \"b\", \"points\": [[0, 0, 0], [2, 0, 0]], \"elements\": 200, "
             "\"grading\": [%s], \"markers\": [{\"name\": \"m\", \"at\": 0.3}], " SQUARE "}",
             gradings[g]);
    pol_model *model = read_beams(text, NULL);
    const pol_mechanism *m = model->mechanism;
    double sums[4] = {0.0}, x[3];
    for (int k = 0; k < pol_mechanism_num_forces(m); k++) {
      const double length = pol_mechanism_force(m, k)->length;
      assert_true(length > 0.0);
      sums[0] += length;
    }
    for (int k = 0; k < pol_mechanism_num_bodies(m); k++) {
      const pol_body *body = pol_mechanism_body(m, k);
      sums[1] += body->mass;
      sums[2] += body->mass * body->position[0];
      sums[3] += body->inertia[8] + body->mass * pow(body->position[0] - 1.0, 2.0);
    }
    assert_near(sums, ((double[]){2.0, 0.2, 0.2, 0.2 * (4.0 + 0.01) / 12.0}), 4, 1e-13);
    for (int end = 0; end < 2; end++) {
      const double length = pol_mechanism_force(m, end ? 199 : 0)->length;
      assert_true(fabs(length / 0.01 - (1.0 - ends[g][end])) < 0.02);
    }
    pol_mechanism_marker_point(m, pol_mechanism_find_marker(m, "m"), x);
    assert_near(x, ((double[]){0.3, 0.0, 0.0}), 3, 1e-14);
    pol_model_free(&model);
  }
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

/* Markers are nodes: elements on both sides of them have about the same length. */
static void markers_are_nodes(void **state)
{
  (void)state;
  pol_model *model = read_beams(
      "{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0], [1, 3, 0]], \"elements\": 8, " SQUARE
      ", \"markers\": [{\"name\": \"far\", \"at\": 3.3}, {\"name\": \"corner\", \"at\": 1}, "
      "{\"name\": \"near\", \"fraction\": 0.0625}, {\"name\": \"end\", \"fraction\": 1}]}",
      NULL);
  static const struct {
    const char *name;
    double x[3];
  } cases[] = {{"far", {1.0, 2.3, 0.0}},
               {"corner", {1.0, 0.0, 0.0}},
               {"near", {0.25, 0.0, 0.0}},
               {"end", {1.0, 3.0, 0.0}},
               {"b_first", {0.0, 0.0, 0.0}}};
  const pol_mechanism *m = model->mechanism;
  double x[3], total = 0.0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pol_mechanism_marker_point(m, pol_mechanism_find_marker(m, cases[i].name), x);
    assert_near(x, cases[i].x, 3, 1e-14);
  }
  assert_int_equal(pol_mechanism_num_bodies(m), 9);
  for (int k = 0; k < 8; k++) {
    const double length = pol_mechanism_force(m, k)->length;
    assert_true(length > 0.2 && length < 0.8);
    total += length;
  }
  assert_near(&total, ((double[]){4.0}), 1, 1e-14);
  pol_model_free(&model);
  /* on a spline and an arc, half way by length */
  model =
      read_beams("{\"name\": \"b\", \"type\": \"arc\", \"points\": [[2, 0, 0], "
                 "[1.4142135623730951, 1.4142135623730951, 0], [0, 2, 0]], \"elements\": 3, " SQUARE
                 ", \"markers\": [{\"name\": \"half\", \"fraction\": 0.5}]}",
                 NULL);
  pol_mechanism_marker_point(model->mechanism, pol_mechanism_find_marker(model->mechanism, "half"),
                             x);
  assert_near(x, ((double[]){sqrt(2.0), sqrt(2.0), 0.0}), 3, 1e-14);
  pol_model_free(&model);
}

/* The sum of forces and moments about the origin is that of the load. */
static void loads_have_their_resultant(void **state)
{
  (void)state;
  /* from 0.2 to 2.5 along a corner at 1, in global axes and in those of the section */
  for (int follows = 0; follows < 2; follows++) {
    char text[900];
    snprintf(
        text, sizeof text,
        "{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0], [1, 3, 0]], \"elements\": 5, %s, "
        "\"loads\": [{\"name\": \"q\", \"force\": [2, 3, 4], \"moment\": [0, 0, 5], \"axes\": "
        "\"%s\", \"from\": 0.2, \"to\": 2.5}]}",
        SQUARE, follows ? "section" : "global");
    pol_model *model = read_beams(text, NULL);
    const pol_mechanism *m = model->mechanism;
    double force[3] = {0.0}, moment[3] = {0.0};
    for (int k = 5; k < pol_mechanism_num_forces(m); k++) {
      const pol_force *f = pol_mechanism_force(m, k);
      const pol_body *body = pol_mechanism_body(m, f->body);
      double R[9], vector[3], arm[3];
      pol_quat_to_matrix(body->rotation, R);
      for (int i = 0; i < 3; i++) {
        vector[i] = f->frame == POL_BODY_AXES ? 0.0 : f->vector[i];
        arm[i] = body->position[i];
        for (int j = 0; j < 3; j++) {
          if (f->frame == POL_BODY_AXES) vector[i] += R[3 * i + j] * f->vector[j];
          arm[i] += R[3 * i + j] * f->point[j];
        }
      }
      for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        if (f->type == POL_APPLIED_TORQUE) moment[i] += vector[i];
        if (f->type == POL_APPLIED_TORQUE) continue;
        force[i] += vector[i];
        moment[i] += arm[a] * vector[b] - arm[b] * vector[a];
      }
    }
    /* behind the corner the section is turned by 90 degrees about z */
    const double f1[3] = {0.8 * 2.0, 0.8 * 3.0, 0.8 * 4.0};
    const double f2[3] = {1.5 * (follows ? -3.0 : 2.0), 1.5 * (follows ? 2.0 : 3.0), 1.5 * 4.0};
    const double sum[3] = {f1[0] + f2[0], f1[1] + f2[1], f1[2] + f2[2]};
    const double about[3] = {0.75 * f2[2], -0.6 * f1[2] - f2[2],
                             0.6 * f1[1] + f2[1] - 0.75 * f2[0] + 2.3 * 5.0};
    assert_near(force, sum, 3, 1e-13);
    assert_near(moment, about, 3, 1e-13);
    pol_model_free(&model);
  }
}

/* Twist is a strain of the relaxed beam, and a mass centre beside the line moves that of the body.
 */
static void sections_may_be_twisted_and_off_the_line(void **state)
{
  (void)state;
  pol_model *model = read_beams(
      "{\"name\": \"b\", \"points\": [[0, 0, 0], [2, 0, 0]], \"elements\": 4, \"twist\": 1, " SQUARE
      "}, {\"name\": \"c\", \"points\": [[0, 0, 0], [2, 0, 0]], \"elements\": 2, \"section\": "
      "{\"type\": \"stiffness\", \"stiffness\": [1, 1, 1, 1, 1, 1], \"mass\": 3, \"inertia\": "
      "[0.3, "
      "0.1, 0.2], \"center\": [0.1, -0.2]}}",
      NULL);
  const pol_mechanism *m = model->mechanism;
  assert_near(pol_mechanism_force(m, 2)->section->strain, ((double[]){0.5, 0, 0, 1, 0, 0}), 6,
              1e-14);
  const double turn[4] = {cos(0.5), sin(0.5), 0.0, 0.0};
  assert_near(pol_mechanism_body(m, 4)->rotation, turn, 4, 1e-14);
  double mass = 0.0, first[3] = {0.0}, xx = 0.0, xy = 0.0;
  for (int k = 5; k < 8; k++) {
    const pol_body *body = pol_mechanism_body(m, k);
    const double *x = body->position;
    mass += body->mass;
    for (int i = 0; i < 3; i++) first[i] += body->mass * x[i];
    xx += body->inertia[0] + body->mass * (x[1] * x[1] + x[2] * x[2]);
    xy += body->inertia[1] - body->mass * x[0] * x[1];
  }
  assert_near(&mass, ((double[]){6.0}), 1, 1e-14);
  assert_near(first, ((double[]){6.0, 0.6, -1.2}), 3, 1e-14);
  /* of the whole beam about the origin */
  assert_near(&xx, ((double[]){0.6 + 6.0 * 0.05}), 1, 1e-14);
  assert_near(&xy, ((double[]){-6.0 * 1.0 * 0.1}), 1, 1e-14);
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
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 4, \"grading\": "
       "[0.4, 1], " SQUARE "}",
       "beams[0].grading[1]", "must be a number from 0 to 0.9"},
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
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"markers\": [{\"name\": \"m\", \"at\": 1.5}]}",
       "beams[0].markers[0].at", "must be at most the length of the beam, 1 m"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"markers\": [{\"name\": \"m\"}]}",
       "beams[0].markers[0].at", "is required: must be a non-negative number"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"markers\": [{\"name\": \"m\", \"fraction\": -0.1}]}",
       "beams[0].markers[0].fraction", "must be a number from 0 to 1"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"markers\": [{\"name\": \"m\", \"at\": 0.3}, {\"name\": \"n\", \"at\": 0.6}]}",
       "beams[0].elements",
       "must be at least 3: one for each piece of the line between corners and markers"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"markers\": [{\"name\": \"m\", \"at\": 1e-8}]}",
       "beams[0].markers",
       "must not be 1e-08 m from each other, a corner or an end: the element would be tiny"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"loads\": [{\"name\": \"q\"}]}",
       "beams[0].loads[0]", "must have a \"force\" or a \"moment\""},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"loads\": [{\"name\": \"q\", \"force\": [0, 0, 1], \"from\": 0.5, \"to\": 0.4}]}",
       "beams[0].loads[0].to", "must be above \"from\""},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"loads\": [{\"name\": \"q\", \"force\": [0, 0, 1], \"to\": 1.1}]}",
       "beams[0].loads[0].to", "must be at most the length of the beam, 1 m"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"loads\": [{\"name\": \"q\", \"force\": [0, 1]}]}",
       "beams[0].loads[0].force", "must be a list of 3 numbers"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, " SQUARE
       ", \"loads\": [{\"name\": \"q\", \"force\": [0, 0, 1], \"axes\": \"body\"}]}",
       "beams[0].loads[0].axes", "must be one of: global, section"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"section\": "
       "{\"type\": \"stiffness\", \"stiffness\": [1, 1, 1, 1, 0, 1], \"mass\": 1, \"inertia\": [1, "
       "1, 1]}}",
       "beams[0].section.stiffness",
       "must not be singular: \"bending\" and \"twisting\" of the beam make a cable"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"damping\": 0.1, "
       "\"section\": "
       "{\"type\": \"stiffness\", \"stiffness\": [[2, 1, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0], [0, 0, "
       "2, 0, 0, 0], [0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 2, 0], [0, 0, 0, 0, 0, 2]], \"mass\": 1, "
       "\"inertia\": [1, 1, 1]}}",
       "beams[0].section.stiffness", "must be symmetric"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"section\": "
       "{\"type\": \"stiffness\", \"stiffness\": [1, 1, 1, 1, 1], \"mass\": 1, \"inertia\": [1, 1, "
       "1]}}",
       "beams[0].section.stiffness", "must be a list of 6 numbers, or of 6 lists of 6 numbers"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"twist\": "
       "7, " SQUARE "}",
       "beams[0].elements",
       "must be more, about 3: an element turns by 3.5 rad, and only 3 rad are possible"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"twist\": -7, "
       "\"strains\": \"directors\", " SQUARE "}",
       "beams[0].elements",
       "must be more, about 5: an element turns by 3.5 rad, and only 1.5 rad are possible"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"twist\": "
       "1e300, " SQUARE "}",
       "beams[0].twist", "must turn an element by at most 3 rad, not by 5e+299 rad"},
      {"{\"name\": \"b\", \"type\": \"arc\", \"points\": [[0, 0, 0], [1, 1, 0], [0, 0.001, 0]], "
       "\"elements\": 1, " SQUARE "}",
       "beams[0].elements",
       "must be more, about 3: an element turns by 6.28 rad, and only 3 rad are possible"},
      {"{\"name\": \"b\", \"type\": \"spline\", \"points\": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, "
       "1, 0], [0, 0, 0]], \"elements\": 1, " SQUARE "}",
       "beams[0].elements",
       "must be more, about 2: an element turns by 5.24 rad, and only 3 rad are possible"},
      {"{\"name\": \"b\", \"type\": \"spline\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 0, 0]], "
       "\"elements\": 7, " SQUARE "}",
       "beams[0].points", "must not lead back: the spline would have a cusp"},
      {"{\"name\": \"b\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 2, \"section\": "
       "{\"type\": \"circle\", \"radius\": 1, \"thickness\": 1}, \"material\": {\"young\": 1e9, "
       "\"density\": 1000}}",
       "beams[0].section.thickness", "must be below the radius; a solid circle has none"},
  };
  /* as many elements as are named */
  pol_model *model = read_beams(
      "{\"name\": \"b\", \"type\": \"arc\", \"points\": [[0, 0, 0], [1, 1, 0], [0, 0.001, 0]], "
      "\"elements\": 3, " SQUARE "}, {\"name\": \"c\", \"points\": [[0, 0, 0], [1, 0, 0]], "
      "\"elements\": 3, \"twist\": 7, " SQUARE "}",
      NULL);
  assert_non_null(model);
  pol_model_free(&model);
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

/* A wrong beam has one error: what refers to its nodes and markers has none, nor has the rest of
 * the beam. */
static void a_wrong_beam_has_one_error(void **state)
{
  (void)state;
#define LINE "\"points\": [[0, 0, 0], [1, 0, 0]], "
#define OVERFLOW                                                                                   \
  "must give nodes a finite position, mass and inertia above zero at the given points: numbers "   \
  "overflow or vanish"
  static const struct {
    const char *beam, *path, *rule;
  } cases[] = {
      {"\"points\": [[0, 0, 0], [0, 0, 0]], " SQUARE, "beams[0].points[1]",
       "must not be the point before it"},
      {"\"points\": [[0, 0, 0], [1e200, 0, 0]], " SQUARE, "beams[0].section", OVERFLOW},
      {"\"points\": [[0, 0, 0], [1e-320, 0, 0]], " SQUARE, "beams[0].section", OVERFLOW},
      {LINE "\"section\": {\"type\": \"rectangle\", \"width\": 0, \"height\": 1}, "
            "\"material\": {\"young\": 1, \"density\": 1}",
       "beams[0].section.width", "must be a positive number"},
      {LINE
       "\"section\": {\"type\": \"stiffness\", \"stiffness\": [1, 1, 1, 1, 1, 1], \"mass\": 1, "
       "\"inertia\": [0.01, 0.001, 0.001]}",
       "beams[0].section",
       "must have no principal moment above the sum of the other two (0.00125 > 0.00028776 + "
       "0.00028776): no rigid body has one"},
      {LINE "\"start\": \"b_0\", " SQUARE, "beams[0].start",
       "must be another body than the node that it holds"},
      {LINE "\"end\": \"b_4\", " SQUARE, "beams[0].end",
       "must be another body than the node that it holds"},
      {LINE "\"markers\": [{\"name\": \"b_first\", \"at\": 0.5}], " SQUARE,
       "beams[0].markers[0].name", "must be unique: markers[0] has the same name"},
      {LINE "\"loads\": [{\"name\": \"w\", \"force\": [0, 0, 1]}, {\"name\": \"w\", \"force\": "
            "[0, 0, 1]}], " SQUARE,
       "beams[0].loads[1].name", "must be unique: forces[5] has the same name"},
      {LINE SQUARE "}, {\"name\": \"b\", \"elements\": 4, " LINE SQUARE, "beams[1].name",
       "must be unique: bodies[0] has the same name"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[4000];
    pol_errors errors = {0};
    pol_model *model = NULL;
    snprintf(text, sizeof text,
             "{\"beams\": [{\"name\": \"b\", \"elements\": 4, %s}], \"joints\": ["
             "{\"name\": \"i\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"b_4\"], "
             "\"point\": [1, 0, 0], \"axis\": [0, 0, 1]}, "
             "{\"name\": \"j\", \"type\": \"fixed\", \"bodies\": [\"b_3\", \"b_1\"], \"point\": "
             "[1, 0, 0]}, "
             "{\"name\": \"k\", \"type\": \"spherical\", \"markers\": [\"b_first\", "
             "\"b_last\"]}], \"forces\": [{\"name\": \"s\", \"type\": \"spring-damper\", "
             "\"bodies\": [\"ground\", \"b_4\"], \"points_global\": [[0, 0, 0], [1, 0, 1]], "
             "\"stiffness\": 1}], \"simulation\": {\"step\": 1, \"end\": 1}}",
             cases[i].beam);
    assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_BAD_ARGUMENT);
    for (int k = 0; k < errors.count && errors.count != 1; k++)
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
      cmocka_unit_test(elements_become_shorter_towards_graded_ends),
      cmocka_unit_test(sections_have_their_stiffness),
      cmocka_unit_test(lines_lead_through_their_points),
      cmocka_unit_test(markers_are_nodes),
      cmocka_unit_test(loads_have_their_resultant),
      cmocka_unit_test(sections_may_be_twisted_and_off_the_line),
      cmocka_unit_test(includes_move_beams),
      cmocka_unit_test(errors_name_their_place),
      cmocka_unit_test(a_wrong_beam_has_one_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
