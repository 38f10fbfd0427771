/* Mass and inertia from shapes: closed forms, composites, meshes. */
#define _XOPEN_SOURCE 700
#include "../check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <polhode/lie.h>
#include <polhode/model.h>

#include "io/file/mesh.h"

static const double pi = 3.14159265358979323846;

/* A model whose only body is given by a text of keys. */
static pol_model *read_body(const char *keys)
{
  char text[2000];
  pol_errors errors = {0};
  pol_model *model = NULL;
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"b\", %s}], \"simulation\": {\"step\": 1, \"end\": 1}}",
           keys);
  const pol_status status = pol_model_read_text(&model, text, 0, NULL, &errors);
  for (int i = 0; i < errors.count; i++)
    print_error("%s: %s\n", errors.items[i].path, errors.items[i].rule);
  assert_int_equal(status, POL_OK);
  return model;
}

/* |a - b| <= 1e-14 of the largest moment. */
static void assert_body(const char *keys, double mass, const double moments[3])
{
  pol_model *model = read_body(keys);
  const pol_body *body = pol_mechanism_body(model->mechanism, 0);
  const double J[9] = {moments[0], 0, 0, 0, moments[1], 0, 0, 0, moments[2]};
  const double most = fmax(moments[0], fmax(moments[1], moments[2]));
  assert_near(&body->mass, &mass, 1, 1e-14 * mass);
  assert_near(body->inertia, J, 9, 1e-14 * most);
  pol_model_free(&model);
}

static void shapes_match_closed_forms(void **state)
{
  (void)state;
  const double r = 0.37, l = 1.3, rho = 730.0;
  double m = rho * 0.2 * 0.3 * 0.7;
  const double box[3] = {m * (0.09 + 0.49) / 12, m * (0.04 + 0.49) / 12, m * (0.04 + 0.09) / 12};
  assert_body("\"density\": 730, \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.3, 0.7]}]", m,
              box);
  m = rho * pi * r * r * l;
  const double side = m * (3 * r * r + l * l) / 12;
  const double cylinder[3] = {side, side, m * r * r / 2};
  assert_body("\"density\": 730, \"shapes\": [{\"type\": \"cylinder\", \"radius\": 0.37, "
              "\"length\": 1.3}]",
              m, cylinder);
  const double along_x[3] = {cylinder[2], side, side};
  assert_body("\"density\": 730, \"shapes\": [{\"type\": \"cylinder\", \"radius\": 0.37, "
              "\"length\": 1.3, \"axis\": [2, 0, 0]}]",
              m, along_x);
  m = rho * 4 / 3 * pi * r * r * r;
  const double sphere[3] = {0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r};
  assert_body("\"density\": 730, \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.37}]", m,
              sphere);
  m = rho * pi * r * r * l / 3;
  const double about = m * (0.15 * r * r + 0.0375 * l * l);
  const double cone[3] = {about, about, 0.3 * m * r * r};
  assert_body("\"density\": 730, \"shapes\": [{\"type\": \"cone\", \"radius\": 0.37, \"length\": "
              "1.3}]",
              m, cone);
}

static void a_given_mass_scales_the_inertia(void **state)
{
  (void)state;
  const double moments[3] = {0.4 * 3 * 0.04, 0.4 * 3 * 0.04, 0.4 * 3 * 0.04};
  assert_body("\"mass\": 3, \"inertia\": \"auto\", \"shapes\": [{\"type\": \"sphere\", \"radius\": "
              "0.2}]",
              3.0, moments);
  /* two spheres of which one is twice as dense: masses 1 and 2 at a distance of 0.9 */
  pol_model *model = read_body(
      "\"mass\": 3, \"inertia\": \"auto\", \"shapes\": [{\"type\": \"sphere\", \"radius\": "
      "0.1, \"position\": [-0.6, 0, 0]}, {\"type\": \"sphere\", \"radius\": 0.1, "
      "\"density\": 2, \"position\": [0.3, 0, 0]}, {\"type\": \"box\", \"size\": [1, 1, "
      "1], \"density\": 0}]");
  const double own = 0.4 * 3 * 0.01, far = own + 1 * 0.36 + 2 * 0.09;
  const double J[9] = {own, 0, 0, 0, far, 0, 0, 0, far};
  assert_near(pol_mechanism_body(model->mechanism, 0)->inertia, J, 9, 1e-15);
  assert_int_equal(model->num_shape_masses, 1);
  assert_true(model->shape_masses[0].center[0] == 0.0);
  pol_model_free(&model);
}

/* Two spheres as one body, in the axes of a large assembly: the distance from its origin costs the
 * round-off of positions there, not its square. */
static void shapes_far_from_the_origin_lose_no_digits(void **state)
{
  (void)state;
  pol_model *model = read_body(
      "\"mass\": 2, \"inertia\": \"auto\", \"shapes\": [{\"type\": \"sphere\", \"radius\": "
      "0.0625, \"position\": [1048576, 0, 0]}, {\"type\": \"sphere\", \"radius\": 0.0625, "
      "\"position\": [1048577, 0, 0]}]");
  const double own = 2 * 0.4 * 0.0625 * 0.0625, far = own + 2 * 0.25;
  const double J[9] = {own, 0, 0, 0, far, 0, 0, 0, far};
  assert_near(pol_mechanism_body(model->mechanism, 0)->inertia, J, 9, 1e-15);
  assert_true(model->shape_masses[0].center[0] == 1048576.5);
  pol_model_free(&model);
}

/* An L of two boxes, turned and placed: the same as the sum by hand, and the origin becomes the
 * centre of mass. */
static void composites_move_the_origin(void **state)
{
  (void)state;
  const char *text =
      "{\"bodies\": [{\"name\": \"b\", \"density\": 1000, \"position\": [1, 2, 3], \"rotation\": "
      "{\"axis\": [0, 0, 1], \"angle\": \"pi/2\"}, \"shapes\": ["
      "{\"type\": \"box\", \"size\": [0.4, 0.1, 0.1], \"position\": [0.2, 0, 0]},"
      "{\"type\": \"box\", \"size\": [0.1, 0.1, 0.2], \"position\": [0, 0, 0.2]}]}],"
      "\"markers\": [{\"name\": \"m\", \"body\": \"b\", \"position\": [0.4, 0, 0]}],"
      "\"forces\": [{\"name\": \"s\", \"type\": \"support\", \"body\": \"b\", \"point\": [0, 0, "
      "0], "
      "\"stiffness\": 1}, {\"name\": \"d\", \"type\": \"spring-damper\", \"bodies\": [\"b\", "
      "\"ground\"], \"points\": [[0.4, 0, 0], [0, 0, 0]], \"stiffness\": 1}],"
      "\"simulation\": {\"step\": 1, \"end\": 1}}";
  pol_errors errors = {0};
  pol_model *model = NULL;
  assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_OK);
  const pol_body *body = pol_mechanism_body(model->mechanism, 0);
  const double m1 = 4, m2 = 2, c[3] = {0.8 / 6, 0, 0.4 / 6};
  const double d1[3] = {0.2 - c[0], 0, -c[2]}, d2[3] = {-c[0], 0, 0.2 - c[2]};
  const double mass = 6, xx = m1 * (0.01 + 0.01) / 12 + m2 * (0.01 + 0.04) / 12 +
                              m1 * d1[2] * d1[2] + m2 * d2[2] * d2[2];
  const double zz =
      m1 * (0.16 + 0.01) / 12 + m2 * (0.01 + 0.01) / 12 + m1 * d1[0] * d1[0] + m2 * d2[0] * d2[0];
  const double yy = m1 * (0.16 + 0.01) / 12 + m2 * (0.01 + 0.04) / 12 +
                    m1 * (d1[0] * d1[0] + d1[2] * d1[2]) + m2 * (d2[0] * d2[0] + d2[2] * d2[2]);
  const double xz = -(m1 * d1[0] * d1[2] + m2 * d2[0] * d2[2]);
  const double J[9] = {xx, 0, xz, 0, yy, 0, xz, 0, zz};
  const double position[3] = {1, 2 + c[0], 3 + c[2]}, tip[3] = {1, 2.4, 3};
  double point[3];
  assert_near(&body->mass, &mass, 1, 1e-14);
  assert_near(body->inertia, J, 9, 1e-15);
  assert_near(body->position, position, 3, 1e-15);
  pol_mechanism_marker_point(model->mechanism, 0, point);
  assert_near(point, tip, 3, 1e-15);
  pol_mechanism_marker_point(model->mechanism, pol_mechanism_force(model->mechanism, 1)->marker[0],
                             point);
  assert_near(point, tip, 3, 1e-15);
  const double anchor[3] = {1, 2, 3}, shape[3] = {0.2 - c[0], 0, -c[2]};
  assert_near(pol_mechanism_force(model->mechanism, 0)->anchor, anchor, 3, 1e-15);
  assert_near(model->shapes[0].position, shape, 3, 1e-15);
  assert_near(model->shape_masses[0].center, c, 3, 1e-16);
  pol_model_free(&model);
}

/* --- meshes ----------------------------------------------------------------------------------- */

static void put_triangle(FILE *file, const double *a, const double *b, const double *c)
{
  const double *const points[] = {a, b, c};
  fprintf(file, "facet normal 0 0 0\nouter loop\n");
  for (int i = 0; i < 3; i++)
    fprintf(file, "vertex %.17g %.17g %.17g\n", points[i][0], points[i][1], points[i][2]);
  fprintf(file, "endloop\nendfacet\n");
}

/* Moments of a file that was written. */
static pol_status moments_of(const char *path, poli_moments *moments, char *message, size_t size)
{
  poli_mesh mesh;
  pol_status status = poli_mesh_read(&mesh, path, 1.0, message, size);
  if (status == POL_OK) status = poli_mesh_moments(&mesh, moments, message, size);
  poli_mesh_free(&mesh);
  return status;
}

/* A sphere of n by 2n faces converges with the second order. */
static void a_sphere_of_triangles_converges(void **state)
{
  (void)state;
  double errors[4];
  for (int k = 0; k < 4; k++) {
    const int n = 8 << k;
    FILE *file = fopen("sphere.stl", "w");
    fprintf(file, "solid s\n");
    double(*p)[3] = malloc((size_t)(n + 1) * (size_t)(2 * n) * sizeof *p);
    for (int i = 0; i <= n; i++)
      for (int j = 0; j < 2 * n; j++) {
        const double u = pi * i / n, v = pi * j / n, s = i == 0 || i == n ? 0.0 : sin(u);
        p[2 * n * i + j][0] = 3 + s * cos(v);
        p[2 * n * i + j][1] = s * sin(v);
        p[2 * n * i + j][2] = i == n ? -1.0 : cos(u);
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < 2 * n; j++) {
        const int next = (j + 1) % (2 * n);
        const double *a = p[2 * n * i + j], *b = p[2 * n * (i + 1) + j],
                     *c = p[2 * n * (i + 1) + next], *d = p[2 * n * i + next];
        if (i < n - 1) put_triangle(file, a, b, c);
        if (i > 0) put_triangle(file, a, c, d);
      }
    fprintf(file, "endsolid s\n");
    fclose(file);
    free(p);
    poli_moments m;
    char message[300];
    assert_int_equal(moments_of("sphere.stl", &m, message, sizeof message), POL_OK);
    const double center[3] = {3, 0, 0};
    assert_near(m.center, center, 3, 1e-13);
    assert_near(&m.second[0], &m.second[4], 1, 1e-13);
    errors[k] = fabs(m.second[0] - 4 * pi / 15) / (4 * pi / 15);
  }
  for (int k = 1; k < 4; k++) assert_true(fabs(log2(errors[k - 1] / errors[k]) - 2.0) < 0.15);
  assert_true(errors[3] < 5e-3);
  remove("sphere.stl");
}

/* A block of 4 x 3 x 2 with a square hole of 1 x 1 through it along z, its surface in one piece; in
 * millimetres, with all triangles inside out. */
static const char block_with_hole[] =
    "v 0 0 0\nv 4 0 0\nv 4 3 0\nv 0 3 0\nv 1 1 0\nv 2 1 0\nv 2 2 0\nv 1 2 0\n"
    "v 0 0 2\nv 4 0 2\nv 4 3 2\nv 0 3 2\nv 1 1 2\nv 2 1 2\nv 2 2 2\nv 1 2 2\n"
    /* bottom, top: four sides of a frame each */
    "f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
    "f 9 13 14 10\nf 10 14 15 11\nf 11 15 16 12\nf 12 16 13 9\n"
    /* outside, inside */
    "f 1 9 10 2\nf 2 10 11 3\nf 3 11 12 4\nf 4 12 9 1\n"
    "f 5 6 14 13\nf 6 7 15 14\nf 7 8 16 15\nf 8 5 13 16\n";

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void a_mesh_with_a_hole_is_exact(void **state)
{
  (void)state;
  poli_moments m;
  char message[300];
  write_text("hole.obj", block_with_hole);
  assert_int_equal(moments_of("hole.obj", &m, message, sizeof message), POL_OK);
  /* the block less the hole: volumes 24 and 2 */
  const double V = 22, c[3] = {(24 * 2.0 - 2 * 1.5) / V, (24 * 1.5 - 2 * 1.5) / V, 1};
  const double xx = 24 * (16.0 / 12 + 4) - 2 * (1.0 / 12 + 2.25) - V * c[0] * c[0];
  const double yy = 24 * (9.0 / 12 + 2.25) - 2 * (1.0 / 12 + 2.25) - V * c[1] * c[1];
  const double zz = 22 * 4.0 / 12, xy = 24 * 3.0 - 2 * 2.25 - V * c[0] * c[1];
  const double S[9] = {xx, xy, 0, xy, yy, 0, 0, 0, zz};
  assert_near(&m.volume, &V, 1, 1e-13);
  assert_near(m.center, c, 3, 1e-14);
  assert_near(m.second, S, 9, 1e-12);

  /* as a body, in millimetres */
  write_text("hole.json",
             "{\"bodies\": [{\"name\": \"b\", \"density\": 1000, \"shapes\": [{\"type\": "
             "\"mesh\", \"file\": \"hole.obj\", \"scale\": 0.001}]}], \"simulation\": "
             "{\"step\": 1, \"end\": 1}}");
  pol_errors errors = {0};
  pol_model *model = NULL, *again = NULL;
  assert_int_equal(pol_model_read_file(&model, "hole.json", 0, NULL, &errors), POL_OK);
  const pol_body *body = pol_mechanism_body(model->mechanism, 0);
  const double mass = 22e-6,
               J[9] = {1e-12 * (yy + zz), -1e-12 * xy, 0, -1e-12 * xy, 1e-12 * (xx + zz), 0, 0, 0,
                       1e-12 * (xx + yy)};
  assert_near(&body->mass, &mass, 1, 1e-19);
  assert_near(body->inertia, J, 9, 1e-24);
  /* the kept text needs no file */
  remove("hole.obj");
  assert_int_equal(pol_model_read_text(&again, model->text, 0, NULL, &errors), POL_OK);
  assert_near(pol_mechanism_body(again->mechanism, 0)->inertia, body->inertia, 9, 0.0);
  pol_model_free(&model);
  pol_model_free(&again);
  remove("hole.json");
}

static void bad_meshes_are_refused(void **state)
{
  (void)state;
  poli_moments m;
  char message[300];
  char *text = strdup(block_with_hole);
  *(strstr(text, "f 8 5")) = '\0';
  write_text("bad.obj", text);
  assert_int_equal(moments_of("bad.obj", &m, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, "its surface is not closed: 4 edges have only one triangle");
  free(text);
  text = strdup(block_with_hole);
  memcpy(strstr(text, "f 1 2 6 5"), "f 5 6 2 1", 9);
  write_text("bad.obj", text);
  assert_int_equal(moments_of("bad.obj", &m, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, "its triangles do not turn the same way: at 4 edges");
  free(text);
  write_text("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n");
  assert_int_equal(moments_of("bad.obj", &m, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, "it encloses no volume");
  write_text("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
  assert_int_equal(moments_of("bad.obj", &m, message, sizeof message), POL_BAD_ARGUMENT);
  assert_true(strstr(message, "is not a valid OBJ file: line 4: a face has") != NULL);
  write_text("bad.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n");
  assert_int_equal(moments_of("bad.obj", &m, message, sizeof message), POL_BAD_ARGUMENT);
  assert_true(strstr(message, "a coordinate is too large or not a number") != NULL);
  remove("bad.obj");
}

/* What is wrong with a body of shapes is the only error: nothing is said about the mass and inertia
 * that could not be taken from them. */
static void one_error_for_a_wrong_shape(void **state)
{
  (void)state;
  static const struct {
    const char *keys, *path;
  } cases[] = {
      {"\"density\": 6, \"shapes\": [{\"type\": \"mesh\", \"file\": \"x.ply\"}]",
       ".shapes[0].file"},
      {"\"density\": 6, \"shapes\": [{\"type\": \"mesh\", \"file\": \"\"}]", ".shapes[0].file"},
      {"\"density\": 6, \"shapes\": [{\"type\": \"mesh\", \"file\": 3}]", ".shapes[0].file"},
      {"\"density\": 6, \"shapes\": [{\"type\": \"mesh\"}]", ".shapes[0].file"},
      {"\"density\": 6, \"inertia\": [1, 1, 1], \"shapes\": [{\"type\": \"mesh\"}]",
       ".shapes[0].file"},
      {"\"mass\": 2, \"inertia\": \"auto\", \"shapes\": [{\"type\": \"mesh\"}]", ".shapes[0].file"},
      {"\"density\": -6, \"shapes\": [{\"type\": \"sphere\", \"radius\": 1}]", ".density"},
      {"\"density\": 6, \"shapes\": [{\"type\": \"sphere\", \"radius\": 0}]", ".shapes[0].radius"},
      {"\"density\": 6, \"shapes\": [{\"type\": \"globe\"}]", ".shapes[0].type"},
      {"\"mass\": 1, \"density\": 6, \"shapes\": [{\"type\": \"sphere\", \"radius\": 1}]",
       ".density"},
      {"\"density\": 6", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[500], path[60];
    pol_errors errors = {0};
    pol_model *model = NULL;
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"b\", %s}], \"simulation\": {\"step\": 1, \"end\": 1}}",
             cases[i].keys);
    snprintf(path, sizeof path, "bodies[0]%s", cases[i].path);
    assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_BAD_ARGUMENT);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].path, path);
    pol_errors_clear(&errors);
  }
}

int main(void)
{
  char folder[] = "/tmp/polhode-masses-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_match_closed_forms),
      cmocka_unit_test(a_given_mass_scales_the_inertia),
      cmocka_unit_test(shapes_far_from_the_origin_lose_no_digits),
      cmocka_unit_test(composites_move_the_origin),
      cmocka_unit_test(a_sphere_of_triangles_converges),
      cmocka_unit_test(a_mesh_with_a_hole_is_exact),
      cmocka_unit_test(bad_meshes_are_refused),
      cmocka_unit_test(one_error_for_a_wrong_shape),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (chdir("/") == 0) rmdir(folder);
  return failed;
}
