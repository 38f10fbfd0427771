/* Flexible bodies of model files: from files and meshes, in other units, in included files, without
 * their files, and what is wrong with them. */
#include "../check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/mesh_files.h>
#include <polhode/model.h>

static const char mesh[] =
    "{\"type\": \"beam\", \"points\": [[0, 0, 0], [0.6, 0.2, 0]], \"elements\": 6, \"section\": "
    "{\"type\": \"rectangle\", \"width\": 0.02, \"height\": 0.01}, \"material\": {\"young\": 7e10, "
    "\"density\": 2700}}";

static void put(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* A model with a body of these keys, hinged to the ground at its interface "a". */
static void put_model(const char *path, const char *keys, const char *more)
{
  char text[6000];
  snprintf(
      text, sizeof text,
      "{\"flexible_bodies\": [{\"name\": \"rod\", %s, \"modes\": 3, \"interfaces\": [{\"name\": "
      "\"a\", \"nodes\": [1]}, {\"name\": \"b\", \"near\": [1, 0, 0]}], \"position\": [1, 2, "
      "3], \"rotation\": {\"axis\": [0, 0, 1], \"angle\": 0.7}}], \"joints\": [{\"name\": "
      "\"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"rod.a\"], \"point\": [1, 2, "
      "3], \"axis\": [0, 0, 1]}]%s, \"simulation\": {\"step\": 0.001, \"end\": 0.01}}",
      keys, more);
  put(path, text);
}

static pol_model *read_file(const char *path)
{
  pol_errors errors = {0};
  pol_model *model;
  const pol_status status = pol_model_read_file(&model, path, 0, NULL, &errors);
  for (int i = 0; i < errors.count; i++)
    print_error("%s: %s\n", errors.items[i].path, errors.items[i].rule);
  assert_int_equal(status, POL_OK);
  return model;
}

/* The same mass, stiffness, moments and places of interfaces; signs of modes may differ. */
static void assert_same(const pol_model *a, const pol_model *b, double tolerance)
{
  const pol_flexible_body *first = pol_mechanism_body(a->mechanism, 0)->flexible,
                          *second = pol_mechanism_body(b->mechanism, 0)->flexible;
  assert_int_equal(first->num_modes, second->num_modes);
  assert_near(&first->mass, &second->mass, 1, tolerance * first->mass);
  assert_near(first->position, second->position, 3, tolerance);
  for (int k = 0; k < first->num_modes; k++) {
    const int at = k * (first->num_modes + 1);
    assert_true(fabs(first->stiffness[at] / second->stiffness[at] - 1.0) < tolerance);
  }
  assert_near(first->second, second->second, 9, tolerance * first->mass);
  for (int i = 0; i < 2; i++) {
    assert_near(first->interfaces[i].position, second->interfaces[i].position, 3, tolerance);
    assert_string_equal(first->interfaces[i].name, second->interfaces[i].name);
  }
}

/* The volume within the triangles of a surface, as the sum of the tetrahedra over them. */
static double volume_of(const pol_surface *s)
{
  double sum = 0.0;
  for (int t = 0; t < s->num_triangles; t++) {
    const float *a = s->points + 3 * s->triangles[3 * t],
                *b = s->points + 3 * s->triangles[3 * t + 1],
                *c = s->points + 3 * s->triangles[3 * t + 2];
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      sum += (double)a[i] * ((double)b[j] * (double)c[k] - (double)b[k] * (double)c[j]) / 6.0;
    }
  }
  return sum;
}

/* The mean of `count` points from the first on is at interface i, and moves with it in all modes.
 */
static void assert_at_interface(const pol_model *model, int first, int count, int i)
{
  const pol_surface *s = &model->reduced_bodies[0].surface;
  const pol_flexible_body *body = pol_mechanism_body(model->mechanism, 0)->flexible;
  assert_int_equal(s->num_modes, body->num_modes);
  for (int k = -1; k < s->num_modes; k++) {
    double mean[3] = {0.0, 0.0, 0.0};
    for (int p = 3 * first; p < 3 * (first + count); p++)
      mean[p % 3] +=
          (k < 0 ? (double)s->points[p] : s->unit * (double)s->modes[3 * k * s->num_points + p]) /
          count;
    assert_near(mean,
                k < 0 ? body->interfaces[i].position : body->interfaces[i].translation + 3 * k, 3,
                k < 0 ? 1e-7 : s->unit);
  }
}

/* Writes the mesh as rod_*, with lengths by 1/unit and masses and stiffnesses in its units. */
static void put_files(double unit)
{
  pol_finite_elements *e;
  pol_errors errors = {0};
  const char *failed;
  assert_int_equal(pol_finite_elements_from_text(&e, mesh, &errors), POL_OK);
  for (int i = 0; i < 3 * e->num_nodes; i++) e->positions[i] /= unit;
  for (int j = 0; j < e->mass_pattern->cols; j++)
    for (int k = e->mass_pattern->start[j]; k < e->mass_pattern->start[j + 1]; k++) {
      const double factor =
          (j % 6 < 3 ? unit : 1.0) * (e->mass_pattern->row[k] % 6 < 3 ? 1.0 : 1.0 / unit);
      e->mass[k] *= factor;
      e->stiffness[k] *= factor;
    }
  assert_int_equal(
      pol_finite_elements_write(e, "rod_mass.mtx", "rod_stiffness.mtx", "rod_nodes.csv", &failed),
      POL_OK);
  assert_null(failed);
  pol_finite_elements_free(&e);
}

#define FILES                                                                                      \
  "\"mass_matrix\": \"rod_mass.mtx\", \"stiffness_matrix\": \"rod_stiffness.mtx\", \"nodes\": "    \
  "\"rod_nodes.csv\""

static void files_are_meshes(void **state)
{
  (void)state;
  char keys[1000];
  snprintf(keys, sizeof keys, "\"mesh\": %s", mesh);
  put_model("mesh.json", keys, "");
  put_model("files.json", FILES, "");
  put_model("mm.json", FILES ", \"units\": \"mm\"", "");
  put_files(1.0);
  pol_model *own = read_file("mesh.json"), *from_files = read_file("files.json");
  assert_same(own, from_files, 1e-9);
  assert_int_equal(from_files->num_reduced_bodies, 1);
  assert_int_equal(from_files->reduced_bodies[0].num_freedoms, 42);
  assert_near(from_files->reduced_bodies[0].center, ((const double[]){0.3, 0.1, 0.0}), 3, 1e-12);
  assert_int_equal(pol_mechanism_find_body(own->mechanism, "rod.b"), 2);

  /* the text of a model has the reduced body: the files are not needed, but the same keys are */
  pol_errors errors = {0};
  pol_model *alone;
  remove("rod_mass.mtx");
  assert_int_equal(pol_model_read_text(&alone, from_files->text, 0, NULL, &errors), POL_OK);
  assert_same(from_files, alone, 1e-15);
  pol_model_free(&alone);
  const char *const more[] = {"flexible_bodies[0].modes=4"};
  assert_int_equal(pol_model_read_text(&alone, from_files->text, 1, more, &errors),
                   POL_BAD_ARGUMENT);
  assert_int_equal(errors.count, 1);
  assert_non_null(strstr(errors.items[0].rule, "must be described in \"files\""));
  pol_errors_clear(&errors);

  put_files(1e-3);
  pol_model *mm = read_file("mm.json");
  assert_same(own, mm, 1e-9);
  pol_model_free(&mm);
  pol_model_free(&own);
  pol_model_free(&from_files);
}

/* An include moves the body and gives it a prefix; the names of interfaces stay. */
static void includes_move_bodies(void **state)
{
  (void)state;
  put_files(1.0);
  put_model("part.json", FILES, "");
  put("whole.json", "{\"include\": [{\"file\": \"part.json\", \"prefix\": \"left_\", \"position\": "
                    "[0, 0, 5]}], \"simulation\": {\"step\": 0.001, \"end\": 0.01}}");
  pol_model *part = read_file("part.json"), *whole = read_file("whole.json");
  const int tip = pol_mechanism_find_body(whole->mechanism, "left_rod.b");
  assert_int_equal(tip, 2);
  double a[3], b[3];
  memcpy(a, pol_mechanism_body(part->mechanism, 2)->position, sizeof a);
  memcpy(b, pol_mechanism_body(whole->mechanism, tip)->position, sizeof b);
  a[2] += 5.0;
  assert_near(a, b, 3, 1e-12);
  const double end[3] = {1.0 + 0.6 * cos(0.7) - 0.2 * sin(0.7),
                         2.0 + 0.6 * sin(0.7) + 0.2 * cos(0.7), 8.0};
  assert_near(b, end, 3, 1e-12);
  pol_model_free(&part);
  pol_model_free(&whole);
}

/* The errors of a model whose body has these keys: one for each pair of path and words. */
static void assert_errors(const char *keys, int count, const char *const (*expected)[2])
{
  char text[4000];
  pol_errors errors = {0};
  pol_model *model;
  snprintf(text, sizeof text,
           "{\"flexible_bodies\": [{\"name\": \"rod\", %s}], \"simulation\": {\"step\": 0.001, "
           "\"end\": 0.01}}",
           keys);
  put("bad.json", text);
  assert_int_equal(pol_model_read_file(&model, "bad.json", 0, NULL, &errors), POL_BAD_ARGUMENT);
  for (int i = 0; i < errors.count; i++)
    if (i >= count ||
        strcmp(errors.items[i].path + strlen("flexible_bodies[0]."), expected[i][0]) ||
        !strstr(errors.items[i].rule, expected[i][1]))
      fail_msg("%s: %s", errors.items[i].path, errors.items[i].rule);
  assert_int_equal(errors.count, count);
  pol_errors_clear(&errors);
}

#define ERRORS(keys, ...)                                                                          \
  assert_errors(keys, (int)(sizeof((const char *const[][2]){__VA_ARGS__}) / (2 * sizeof(char *))), \
                (const char *const[][2]){__VA_ARGS__})

static void errors_are_found(void **state)
{
  (void)state;
  put_files(1.0);
  ERRORS("\"modes\": 3", {"mass_matrix", "is required"}, {"stiffness_matrix", "is required"},
         {"nodes", "is required"});
  ERRORS(
      FILES ", \"mesh\": 3, \"damping\": -1", {"mesh", "must be an object"},
      {"damping", "must be a non-negative number"}, {"mass_matrix", "must not be given together"},
      {"stiffness_matrix", "must not be given together"}, {"nodes", "must not be given together"});
  ERRORS("\"mesh\": {\"type\": \"block\", \"size\": [1, 1, 0], \"divisions\": [2]}",
         {"mesh.size[2]", "positive"}, {"mesh.divisions", "2 or 3 whole numbers"});
  ERRORS("\"mesh\": {\"type\": \"plate\", \"size\": [1, 1, 0.1], \"divisions\": [2, 2], "
         "\"material\": {\"young\": 1e9, \"poisson\": 0.5, \"density\": 1000}}",
         {"mesh.material", "below 0.5"});
  ERRORS("\"mesh\": {\"type\": \"plate\", \"size\": [1, 1, 0.1], \"divisions\": [2, 2]}",
         {"mesh.material", "is required"});
  ERRORS(
      "\"mesh\": {\"type\": \"beam\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": 4, "
      "\"section\": {\"type\": \"stiffness\", \"stiffness\": [[2, 0, 0, 0, 0, 0], [0, 2, 0, 1, 0, "
      "0], [0, 0, 2, 0, 0, 0], [0, 1, 0, 2, 0, 0], [0, 0, 0, 0, 2, 0], [0, 0, 0, 0, 0, 2]], "
      "\"mass\": 1, \"inertia\": [2, 1, 1], \"center\": [0, 0.1]}}",
      {"mesh.section.stiffness", "must be diagonal in a mesh"},
      {"mesh.section.center", "must be [0, 0] in a mesh"});
  ERRORS(FILES ", \"interfaces\": [{\"name\": \"a\"}, {\"name\": \"b\", \"near\": [0, 0, 0], "
               "\"nodes\": [1]}]",
         {"interfaces[0]", "\"nodes\", \"near\" or \"box\""},
         {"interfaces[1].nodes", "together with \"near\""});
  ERRORS(FILES ", \"interfaces\": [{\"name\": \"a\", \"nodes\": [1, 2.5]}, {\"name\": \"b\", "
               "\"nodes\": [99]}]",
         {"interfaces[0].nodes[1]", "number of a node"},
         {"interfaces[1].nodes[0]", "number of a node"});
  ERRORS(FILES ", \"interfaces\": [{\"name\": \"a\", \"nodes\": [1]}, {\"name\": \"a\", \"nodes\": "
               "[2]}]",
         {"interfaces[1].name", "unique"});
  ERRORS(
      FILES ", \"interfaces\": [{\"name\": \"a\", \"nodes\": [1, 2]}, {\"name\": \"b\", \"box\": "
            "[[5, 5, 5], [6, 6, 6]]}, {\"name\": \"c\", \"near\": [0, 0, 0]}]",
      {"interfaces[1].box", "at least one node"}, {"interfaces[2].near", "of another interface"});

  /* all three files at once */
  put("rod_mass.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n");
  remove("rod_stiffness.mtx");
  put("rod_nodes.csv", "1,0,0,0\n1,1,0,0\n");
  ERRORS(FILES, {"mass_matrix", "rod_mass.mtx:3: must have a finite number"},
         {"stiffness_matrix", "rod_stiffness.mtx: cannot be read"},
         {"nodes", "rod_nodes.csv:2: must have a number of its own"});
  put_files(1.0);
  put("rod_nodes.csv", "1,0,0,0\n2,1,0,0\n");
  ERRORS(FILES, {"nodes", "a third or a sixth of the rows of the matrices, 42, not 2 nodes"});
  put_files(1.0);
  put("rod_mass.mtx", "%%MatrixMarket matrix array real general\n1 2\n1 2 \n");
  ERRORS(FILES, {"mass_matrix", "must be square, not 1 x 2"});
  /* the mesh in mm, read in m */
  put_files(1e-3);
  ERRORS(FILES ", \"units\": \"inch\"", {"units", "must be one of: m, mm"});
}

/* What is drawn: of meshes closed surfaces with the volume of the body, of files the nodes, also
 * without them; both move with the interfaces. */
static void surfaces_follow_modes(void **state)
{
  (void)state;
  static const char plate[] =
      "\"mesh\": {\"type\": \"plate\", \"size\": [0.4, 0.3, 0.01], \"divisions\": [5, 4, 2], "
      "\"material\": {\"young\": 7e10, \"poisson\": 0.3, \"density\": 2700}}";
  enum { CORNERS = 8, SPANS = 60 };
  char keys[1000], many[1000];
  snprintf(keys, sizeof keys, "\"mesh\": %s", mesh);
  put_model("surface.json", keys, "");
  pol_model *model = read_file("surface.json");
  const pol_surface *s = &model->reduced_bodies[0].surface;
  assert_int_equal(s->num_points, (SPANS + 3) * CORNERS);
  const double volume = volume_of(s), solid = 0.02 * 0.01 * hypot(0.6, 0.2);
  assert_near(&volume, &solid, 1, 1e-6 * solid);
  assert_at_interface(model, 0, CORNERS, 0);
  assert_at_interface(model, SPANS * CORNERS, CORNERS, 1);
  pol_model_free(&model);

  put_files(1.0);
  put_model("surface.json", FILES, "");
  model = read_file("surface.json");
  assert_int_equal(model->reduced_bodies[0].surface.num_points, 7);
  assert_int_equal(model->reduced_bodies[0].surface.num_triangles, 0);
  assert_at_interface(model, 0, 1, 0);
  assert_at_interface(model, 6, 1, 1);
  pol_errors errors = {0};
  pol_model *again;
  assert_int_equal(pol_model_read_text(&again, model->text, 0, NULL, &errors), POL_OK);
  assert_int_equal(again->reduced_bodies[0].surface.num_points, 7);
  assert_at_interface(again, 6, 1, 1);
  pol_model_free(&again);
  pol_model_free(&model);

  /* more elements than points */
  const char *at = strstr(keys, "\"elements\": 6");
  snprintf(many, sizeof many, "%.*s\"elements\": 3000%s", (int)(at - keys), keys,
           at + strlen("\"elements\": 6"));
  put_model("surface.json", many, "");
  model = read_file("surface.json");
  s = &model->reduced_bodies[0].surface;
  assert_int_equal(s->num_nodes, 3001);
  assert_true(s->num_points <= 20000 && s->num_points > 19000);
  assert_at_interface(model, 0, CORNERS, 0);
  pol_model_free(&model);

  snprintf(many, sizeof many,
           "{\"flexible_bodies\": [{\"name\": \"plate\", %s, \"modes\": 3}], \"simulation\": "
           "{\"step\": 0.01, \"end\": 0.1}}",
           plate);
  put("surface.json", many);
  model = read_file("surface.json");
  s = &model->reduced_bodies[0].surface;
  assert_int_equal(s->num_points, 2 * (6 * 5 + 6 * 3 + 5 * 3));
  assert_int_equal(s->num_triangles, 4 * (5 * 4 + 5 * 2 + 4 * 2));
  const double block = volume_of(s), size = 0.4 * 0.3 * 0.01;
  assert_near(&block, &size, 1, 1e-6 * size);
  pol_model_free(&model);
}

/* What acts on the reference frame of a body acts on none of its modes. */
static void frames_are_noted(void **state)
{
  (void)state;
  char keys[1000];
  snprintf(keys, sizeof keys, "\"mesh\": %s", mesh);
  put_model("frame.json", keys,
            ", \"forces\": [{\"name\": \"push\", \"type\": \"force\", \"body\": \"rod\", "
            "\"force\": [1, 0, 0]}, {\"name\": \"pull\", \"type\": \"force\", \"body\": "
            "\"rod.b\", \"force\": [1, 0, 0]}]");
  pol_model *model = read_file("frame.json");
  assert_non_null(model->notes);
  assert_string_equal(
      model->notes, "force 'push' acts on the reference frame of 'rod', and on none of its modes: "
                    "use an interface, such as 'rod.a'\n");
  pol_model_free(&model);
  put_model("frame.json", keys, "");
  model = read_file("frame.json");
  assert_null(model->notes);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_meshes), cmocka_unit_test(surfaces_follow_modes),
      cmocka_unit_test(includes_move_bodies), cmocka_unit_test(errors_are_found),
      cmocka_unit_test(frames_are_noted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
