/* What a page holds: frames, numbers of 16 bits, meshes, texts that cannot break out.  How the page
 * behaves in a browser is in test_page.py. */
#define _POSIX_C_SOURCE 200809L

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <polhode/view.h>

#include "draw/viewer/frames.h"
#include "draw/viewer/page.h"
#include "io/file/file.h"
#include "io/file/mesh.h"

static const char model_text[] = "{\"name\": \"</script><!-- <script>\", \"bodies\": ["
                                 "{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]},"
                                 "{\"name\": \"p\", \"type\": \"point\", \"mass\": 1}],"
                                 "\"simulation\": {\"step\": 1, \"end\": 1}}";

static const char head[] = "t,a.position.x,a.position.y,a.position.z,a.quaternion.w,a.quaternion.x,"
                           "a.quaternion.y,a.quaternion.z,p.position.x,p.position.y,p.position.z,"
                           "energy.total\n";

static void write_text(const char *path, const char *text, size_t size)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* A result of `rows` rows at times t^2 / 100: x of a is the row, the energy constant but for one
 * that is no number. */
static void write_result(const char *path, int rows)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(head, file);
  for (int i = 0; i < rows; i++)
    fprintf(file, "%g,%d,-2,3,0.6,0,0.8,0,0,%g,0,%s\n", i * i / 100.0, i, 0.5 * i,
            i == 2 ? "nan" : "7.25");
  assert_int_equal(fclose(file), 0);
}

static pol_model *read_model(void)
{
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  assert_int_equal(pol_model_read_text(&model, model_text, 0, NULL, &errors), POL_OK);
  return model;
}

static pol_result *open_result(const char *path)
{
  char message[256] = "";
  pol_result *result = NULL;
  if (pol_result_open(&result, path, message, sizeof message) != POL_OK) fail_msg("%s", message);
  return result;
}

static unsigned number_at(const unsigned char *bytes, size_t index)
{
  return bytes[2 * index] | (unsigned)bytes[2 * index + 1] << 8;
}

static void numbers_have_sixteen_bits(void **state)
{
  (void)state;
  char message[256] = "";
  poli_frames frames;
  write_result("numbers.csv", 11);
  pol_model *model = read_model();
  pol_result *result = open_result("numbers.csv");
  assert_int_equal(poli_frames_read(&frames, model, result, 0, message, sizeof message), POL_OK);
  assert_int_equal(frames.count, 11);
  for (int i = 0; i < 11; i++) {
    const size_t a = (size_t)(6 * i), q = (size_t)(8 * i);
    /* x goes from 0 to 10, y stays at its low end */
    assert_int_equal(number_at(frames.positions, a), lround(65534.0 * i / 10.0));
    assert_int_equal(number_at(frames.positions, a + 1), 0);
    assert_int_equal(number_at(frames.positions, a + 4), lround(65534.0 * i / 10.0));
    assert_int_equal(number_at(frames.rotations, q), 32768 + lround(0.6 * 32767.0));
    assert_int_equal(number_at(frames.rotations, q + 2), 32768 + lround(0.8 * 32767.0));
    assert_int_equal(number_at(frames.rotations, q + 4), 65535); /* w = 1 of the point mass */
    assert_int_equal(number_at(frames.rotations, q + 5), 32768);
    assert_int_equal(number_at(frames.values, (size_t)i), i == 2 ? 65535 : 0);
  }
  assert_true(frames.ranges[0].low == 0.0 && frames.ranges[0].high == 10.0);
  assert_true(frames.ranges[1].low == -2.0 && frames.ranges[4].high == 5.0);
  assert_int_equal(frames.num_channels, 1);
  assert_true(frames.channel_ranges[0].low == 7.25 && frames.channel_ranges[0].high == 7.25);
  poli_frames_free(&frames);
  pol_result_close(&result);
  pol_model_free(&model);
}

/* Ranges cannot overflow: what is too large for a picture is no number, as NaN and infinity are. */
static void numbers_too_large_are_none(void **state)
{
  (void)state;
  static const char rows[] = "0,1,0,0,1,0,0,0,0,0,0,-1.7e308\n"
                             "1,1e16,0,nan,1,0,0,0,0,0,0,-9e299\n"
                             "2,3,0,inf,nan,0,0,0,0,0,0,9e299\n"
                             "3,-1.7e308,0,2,1,0,0,0,0,0,0,1.7e308\n";
  static const unsigned x[] = {0, 65535, 65534, 65535}, z[] = {0, 65535, 65535, 65534},
                        energy[] = {65535, 0, 65534, 65535};
  char message[256] = "", text[1024];
  poli_frames frames;
  snprintf(text, sizeof text, "%s%s", head, rows);
  write_text("large.csv", text, strlen(text));
  pol_model *model = read_model();
  pol_result *result = open_result("large.csv");
  assert_int_equal(poli_frames_read(&frames, model, result, 0, message, sizeof message), POL_OK);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(number_at(frames.positions, 6 * i), x[i]);
    assert_int_equal(number_at(frames.positions, 6 * i + 2), z[i]);
    assert_int_equal(number_at(frames.values, i), energy[i]);
  }
  assert_int_equal(number_at(frames.rotations, 16), 32768); /* a quaternion without number: 0 */
  assert_true(frames.ranges[0].low == 1.0 && frames.ranges[0].high == 3.0);
  assert_true(frames.channel_ranges[0].low == -9e299 && frames.channel_ranges[0].high == 9e299);
  poli_frames_free(&frames);
  pol_result_close(&result);
  pol_model_free(&model);
}

/* Frames are the rows nearest to equal distances in time, first and last included. */
static void frames_are_chosen_by_time(void **state)
{
  (void)state;
  char message[256] = "";
  poli_frames frames;
  write_result("times.csv", 101);
  pol_model *model = read_model();
  pol_result *result = open_result("times.csv");
  assert_int_equal(poli_frames_read(&frames, model, result, 5, message, sizeof message), POL_OK);
  static const long rows[] = {0, 50, 71, 87, 100}; /* 100 sqrt(k / 4) */
  assert_int_equal(frames.count, 5);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(frames.rows[i], rows[i]);
    assert_true(fabs(frames.times[i] - (double)(rows[i] * rows[i]) / 100.0) < 1e-12);
  }
  poli_frames_free(&frames);
  pol_result_close(&result);
  pol_model_free(&model);
}

/* Of many bodies fewer frames are taken unless told otherwise, but not fewer than fit. */
static void many_bodies_have_all_their_frames(void **state)
{
  (void)state;
  enum { BODIES = 510, ROWS = 4 };
  char message[256] = "", *text = NULL;
  size_t size = 0;
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  poli_frames frames;
  FILE *json = open_memstream(&text, &size), *csv = fopen("many.csv", "wb");
  assert_true(json != NULL && csv != NULL);
  fprintf(json, "{\"bodies\": [");
  fprintf(csv, "t");
  for (int i = 0; i < BODIES; i++) {
    fprintf(json, "%s{\"name\": \"p%d\", \"type\": \"point\", \"mass\": 1}", i ? "," : "", i);
    fprintf(csv, ",p%d.position.x,p%d.position.y,p%d.position.z", i, i, i);
  }
  fprintf(json, "], \"simulation\": {\"step\": 1, \"end\": 1}}");
  for (int row = 0; row < ROWS; row++) {
    fprintf(csv, "\n%d", row);
    for (int i = 0; i < 3 * BODIES; i++) fprintf(csv, ",%d", row);
  }
  fprintf(csv, "\n");
  assert_int_equal(fclose(json) | fclose(csv), 0);
  assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_OK);
  pol_result *result = open_result("many.csv");
  assert_int_equal(poli_frames_read(&frames, model, result, 0, message, sizeof message), POL_OK);
  assert_int_equal(frames.num_bodies, BODIES);
  assert_int_equal(frames.count, ROWS);
  poli_frames_free(&frames);
  pol_result_close(&result);
  pol_model_free(&model);
  free(text);
}

static void pages_hold_everything_and_no_text_breaks_out(void **state)
{
  (void)state;
  char message[256] = "", *page = NULL;
  size_t size = 0;
  pol_view_summary summary;
  const pol_view_options options = {0};
  write_result("page.csv", 11);
  pol_model *model = read_model();
  pol_result *result = open_result("page.csv");
  assert_int_equal(
      pol_view_write("page.html", model, result, &options, &summary, message, sizeof message),
      POL_OK);
  assert_int_equal(poli_read_file("page.html", &page, &size), POL_OK);
  assert_int_equal(summary.bytes, size);
  assert_int_equal(summary.frames, 11);
  assert_int_equal(summary.bodies, 2);
  assert_non_null(strstr(page, "\\u003c/script>\\u003c!-- \\u003cscript>"));
  static const char *const ids[] = {"scene", "positions", "rotations", "values", "times", "viewer"};
  const char *at = page;
  for (int i = 0; i < 6; i++) {
    char text[32];
    snprintf(text, sizeof text, "id=\"%s\">", ids[i]);
    at = strstr(at, text);
    assert_non_null(at);
  }
  free(page);

  /* another run beside it: all its numbers are in the page */
  const pol_view_options both = {.compare = result, .compare_title = "twin"};
  pol_view_summary twice;
  assert_int_equal(pol_view_write("both.html", model, result, &both, &twice, NULL, 0), POL_OK);
  assert_int_equal(poli_read_file("both.html", &page, &size), POL_OK);
  assert_non_null(strstr(page, "\"other\":{\"title\":\"twin\""));
  assert_non_null(strstr(page, "id=\"other-positions\">"));
  assert_true(twice.bytes > summary.bytes + 11 * 2 * 14);
  free(page);

  assert_int_equal(pol_view_write("most.html", model, result, NULL, NULL, NULL, 0), POL_OK);
  assert_int_equal(pol_view_write("none/page.html", model, result, &options, NULL, NULL, 0),
                   POL_IO);
  const pol_view_options most = {.max_frames = INT_MAX}; /* takes no more room than the rows need */
  assert_int_equal(pol_view_write("most.html", model, result, &most, &summary, NULL, 0), POL_OK);
  assert_int_equal(summary.frames, 11);
  const pol_view_options one = {.max_frames = 1};
  assert_int_equal(pol_view_write("one.html", model, result, &one, NULL, message, sizeof message),
                   POL_BAD_ARGUMENT);
  pol_result_close(&result);
  pol_model_free(&model);
}

static void results_of_other_models_are_refused(void **state)
{
  (void)state;
  static const char *const texts[] = {"t,b.position.x\n0,1\n", "time\n1\n",
                                      "t,a.position.x,a.position.y\n",
                                      "t,a.position.x\n0,1\nnan,1\n"};
  static const char *const words[] = {"a.position.x", "\"t\"", "rows", "row 2 has no time"};
  const pol_view_options options = {0};
  pol_model *model = read_model();
  for (int i = 0; i < 4; i++) {
    char message[256] = "";
    write_text("other.csv", texts[i], strlen(texts[i]));
    pol_result *result = open_result("other.csv");
    assert_int_equal(
        pol_view_write("other.html", model, result, &options, NULL, message, sizeof message),
        POL_BAD_ARGUMENT);
    assert_non_null(strstr(message, words[i]));
    pol_result_close(&result);
  }
  pol_model_free(&model);
}

static unsigned word_at(const char *bytes)
{
  const unsigned char *b = (const unsigned char *)bytes;
  return b[0] | (unsigned)b[1] << 8 | (unsigned)b[2] << 16 | (unsigned)b[3] << 24;
}

/* A path that ends in .glb: the sizes in the headers are those of the file, and the numbers of the
 * motion are in it.  What else is in the file is in test_features.py. */
static void gltf_files_hold_the_motion(void **state)
{
  (void)state;
  char message[256] = "", *bytes = NULL;
  size_t size = 0;
  pol_view_summary summary;
  write_result("motion.csv", 11);
  pol_model *model = read_model();
  pol_result *result = open_result("motion.csv");
  assert_int_equal(
      pol_view_write("motion.glb", model, result, NULL, &summary, message, sizeof message), POL_OK);
  assert_int_equal(poli_read_file("motion.glb", &bytes, &size), POL_OK);
  assert_int_equal(summary.bytes, size);
  assert_memory_equal(bytes, "glTF", 4);
  assert_int_equal(word_at(bytes + 4), 2);
  assert_int_equal(word_at(bytes + 8), size);
  const size_t text = word_at(bytes + 12), numbers = word_at(bytes + 20 + text);
  assert_int_equal(28 + text + numbers, size);
  assert_int_equal(text % 4, 0);
  /* the last numbers: positions of the point mass, y = 0.5 row */
  for (int i = 0; i < 11; i++) {
    float x[3];
    memcpy(x, bytes + size - 11 * sizeof x + (size_t)i * sizeof x, sizeof x);
    assert_true(x[0] == 0.0f && x[2] == 0.0f);
    assert_true(fabs((double)x[1] - 0.5 * i) < 1e-4);
  }
  free(bytes);
  pol_result_close(&result);
  pol_model_free(&model);
}

/* The bytes that a text of base64 stands for, up to a character that is no digit. */
static size_t decode(const char *text, unsigned char *bytes)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t count = 0;
  unsigned bits = 0, num_bits = 0;
  for (const char *digit; *text != '\0' && (digit = strchr(digits, *text)) != NULL; text++) {
    bits = (bits << 6 | (unsigned)(digit - digits)) & 0xFFFFu;
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes[count++] = (unsigned char)(bits >> num_bits);
  }
  return count;
}

/* Data of all lengths, about those too at which what is gathered is written. */
static void data_come_back_from_base64(void **state)
{
  (void)state;
  enum { MOST = 10000 };
  static unsigned char bytes[MOST], back[2 * MOST];
  static const size_t sizes[] = {0, 1, 2, 3, 4, 3071, 3072, 3073, 6144, 6145, MOST};
  for (size_t i = 0; i < MOST; i++) bytes[i] = (unsigned char)(i * i / 7);
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    poli_page_write_bytes(file, "data", bytes, sizes[k]);
    assert_int_equal(fclose(file), 0);
    const char *start = strstr(text, "id=\"data\">");
    assert_non_null(start);
    start += strlen("id=\"data\">");
    assert_int_equal(strcspn(start, "<"), (sizes[k] + 2) / 3 * 4);
    assert_int_equal(decode(start, back), sizes[k]);
    assert_memory_equal(back, bytes, sizes[k]);
    free(text);
  }
}

/* --- meshes ----------------------------------------------------------------------------------- */

static void assert_mesh(const char *path, size_t points, const float *expected)
{
  char message[256] = "";
  poli_mesh mesh;
  assert_int_equal(poli_mesh_read(&mesh, path, 2.0, message, sizeof message), POL_OK);
  assert_int_equal(mesh.num_points, points);
  for (size_t i = 0; i < 3 * points; i++) assert_true((float)mesh.points[i] == 2.0f * expected[i]);
  poli_mesh_free(&mesh);
}

static void meshes_of_all_kinds(void **state)
{
  (void)state;
  static const float triangle[] = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.5f, -2.0f};
  static const char text[] = "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n"
                             "vertex 1 0 0\n vertex 0 1.5 -2e0\nendloop\nendfacet\nendsolid\n";
  write_text("text.stl", text, sizeof text - 1);
  assert_mesh("text.stl", 3, triangle);

  /* the word of a point in the name of the solid, and all of a facet on a line */
  static const char named[] = "solid my vertex\nfacet normal 0 0 1 outer loop vertex 0 0 0 "
                              "vertex 1 0 0 vertex 0 1.5 -2 endloop endfacet\nendsolid my vertex\n";
  write_text("named.stl", named, sizeof named - 1);
  assert_mesh("named.stl", 3, triangle);

  char binary[84 + 50] = "solid, but binary";
  binary[80] = 1;
  memcpy(binary + 84 + 12, triangle, sizeof triangle); /* little-endian, as this machine is */
  write_text("binary.stl", binary, sizeof binary);
  assert_mesh("binary.stl", 3, triangle);

  /* a square of two triangles, with texture numbers, from the end, and a carriage return */
  static const char square[] = "# square\nv 0 0 0\nv 1 0 0\nv 1 1 0\r\nv 0 1 0\nvt 0 0\n"
                               "f 1/1 2/1 3//1 -1\r\n";
  static const float two[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0};
  write_text("square.obj", square, sizeof square - 1);
  assert_mesh("square.obj", 6, two);
}

/* Each mesh of a page has the points of its own file, whatever shapes are between them. */
static void pages_hold_each_mesh(void **state)
{
  (void)state;
  static const char text[] =
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": ["
      "{\"type\": \"mesh\", \"file\": \"first.obj\"}, {\"type\": \"sphere\", \"radius\": 1},"
      "{\"type\": \"mesh\", \"file\": \"second.obj\"}]},"
      "{\"name\": \"p\", \"type\": \"point\", \"mass\": 1}],"
      "\"simulation\": {\"step\": 1, \"end\": 1}}";
  static const char *const objects[] = {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
                                        "v 0 0 0\nv 2 0 0\nv 0 0 4\nf 1 2 3\n"};
  /* the nine numbers of each, of 32 bits, as base64 */
  static const char *const meshes[] = {
      "id=\"mesh-0\">AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA</script>",
      "id=\"mesh-1\">AAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAIBA</script>"};
  char *page = NULL;
  size_t size = 0;
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  write_text("first.obj", objects[0], strlen(objects[0]));
  write_text("second.obj", objects[1], strlen(objects[1]));
  write_result("meshes.csv", 3);
  assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_OK);
  pol_result *result = open_result("meshes.csv");
  assert_int_equal(pol_view_write("meshes.html", model, result, NULL, NULL, NULL, 0), POL_OK);
  assert_int_equal(poli_read_file("meshes.html", &page, &size), POL_OK);
  for (int i = 0; i < 2; i++) assert_non_null(strstr(page, meshes[i]));
  assert_null(strstr(page, "id=\"mesh-2\""));
  free(page);
  pol_result_close(&result);
  pol_model_free(&model);
}

static void wrong_meshes_are_refused(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "vertex 1 2 x\n", "vertex 1 2 3\n", "vertex 1 1 nan"};
  static const char *const objects[] = {"v 1 2\n", "f 1 2 3\n", "v 0 0 0\nf 1 1 0\n",
                                        "v 0 0 0\nf 1 x 1\n", "v 1 1 1\n"};
  char message[256];
  poli_mesh mesh;
  for (int i = 0; i < 4; i++) {
    write_text("wrong.stl", texts[i], strlen(texts[i]));
    assert_int_equal(poli_mesh_read(&mesh, "wrong.stl", 1.0, message, sizeof message),
                     POL_BAD_ARGUMENT);
    poli_mesh_free(&mesh);
  }
  for (int i = 0; i < 5; i++) {
    write_text("wrong.obj", objects[i], strlen(objects[i]));
    assert_int_equal(poli_mesh_read(&mesh, "wrong.obj", 1.0, message, sizeof message),
                     POL_BAD_ARGUMENT);
    poli_mesh_free(&mesh);
  }
  assert_int_equal(poli_mesh_read(&mesh, "no.stl", 1.0, message, sizeof message), POL_IO);
  poli_mesh_free(&mesh);

  /* a file without an end */
  remove("endless.stl");
  assert_int_equal(symlink("/dev/zero", "endless.stl"), 0);
  assert_int_equal(poli_mesh_read(&mesh, "endless.stl", 1.0, message, sizeof message), POL_IO);
  assert_non_null(strstr(message, "File too large"));
  poli_mesh_free(&mesh);
  remove("endless.stl");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_have_sixteen_bits),
      cmocka_unit_test(numbers_too_large_are_none),
      cmocka_unit_test(frames_are_chosen_by_time),
      cmocka_unit_test(many_bodies_have_all_their_frames),
      cmocka_unit_test(pages_hold_everything_and_no_text_breaks_out),
      cmocka_unit_test(results_of_other_models_are_refused),
      cmocka_unit_test(gltf_files_hold_the_motion),
      cmocka_unit_test(data_come_back_from_base64),
      cmocka_unit_test(meshes_of_all_kinds),
      cmocka_unit_test(pages_hold_each_mesh),
      cmocka_unit_test(wrong_meshes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
