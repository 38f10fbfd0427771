/* Writing the page: the fixed head, the scene in JSON, the frames and the meshes in base64, the
 * fixed tail.  The data is in elements that no browser runs. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>
#include <polhode/view.h>

#include "base/errors.h"
#include "draw/viewer/frames.h"
#include "draw/viewer/gltf.h"
#include "draw/viewer/page.h"
#include "draw/viewer/scene.h"
#include "io/file/mesh.h"

void poli_page_write_bytes(FILE *file, const char *id, const unsigned char *bytes, size_t count)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char buffer[4096];
  size_t used = 0;
  fprintf(file, "<script type=\"text/plain\" id=\"%s\">", id);
  for (size_t i = 0; i < count; i += 3) {
    /* three bytes are four characters of 6 bits; the last group is filled up with = */
    const size_t left = count - i;
    const unsigned b1 = left > 1 ? bytes[i + 1] : 0u, b2 = left > 2 ? bytes[i + 2] : 0u;
    const unsigned bits = (unsigned)bytes[i] << 16 | b1 << 8 | b2;
    buffer[used++] = digits[bits >> 18];
    buffer[used++] = digits[bits >> 12 & 63u];
    buffer[used++] = left > 1 ? digits[bits >> 6 & 63u] : '=';
    buffer[used++] = left > 2 ? digits[bits & 63u] : '=';
    if (used == sizeof buffer) {
      fwrite(buffer, 1, used, file);
      used = 0;
    }
  }
  fwrite(buffer, 1, used, file);
  fputs("</script>\n", file);
}

void poli_page_write_json(FILE *file, const char *id, const char *json)
{
  fprintf(file, "<script type=\"application/json\" id=\"%s\">", id);
  while (*json != '\0') {
    const size_t length = strcspn(json, "<");
    fwrite(json, 1, length, file);
    json += length;
    if (*json == '<') {
      fputs("\\u003c", file);
      json++;
    }
  }
  fputs("</script>\n", file);
}

void poli_put_uint16(unsigned char *to, unsigned value)
{
  to[0] = (unsigned char)(value & 255u);
  to[1] = (unsigned char)(value >> 8 & 255u);
}

void poli_put_uint32(unsigned char *to, uint32_t value)
{
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> 8 * i & 255u);
}

void poli_put_float(unsigned char *to, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  poli_put_uint32(to, bits);
}

/* Numbers in single precision. */
static pol_status write_floats(FILE *file, const char *id, const float *from, size_t count)
{
  unsigned char *bytes = malloc(4 * count + 1);
  if (bytes == NULL) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++) poli_put_float(bytes + 4 * i, from[i]);
  poli_page_write_bytes(file, id, bytes, 4 * count);
  free(bytes);
  return POL_OK;
}

/* Times since the start, which keeps their digits where a run starts late. */
static pol_status write_times(FILE *file, const char *id, const poli_frames *frames, double start)
{
  float *times = malloc((size_t)frames->count * sizeof *times);
  if (times == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < frames->count; i++) times[i] = (float)(frames->times[i] - start);
  const pol_status status = write_floats(file, id, times, (size_t)frames->count);
  free(times);
  return status;
}

/* The meshes of all shapes, empty where a shape is none; free them in every case.  A file that is
 * not given from the root is looked for in the folder.  One that cannot be read is wrong input:
 * POL_IO is kept for the page. */
static pol_status read_meshes(poli_mesh **meshes, const pol_model *model, const char *folder,
                              char *message, size_t size)
{
  pol_status status = POL_OK;
  *meshes = calloc((size_t)model->num_shapes + 1, sizeof **meshes);
  if (*meshes == NULL) return POL_NO_MEMORY;
  for (int i = 0; status == POL_OK && i < model->num_shapes; i++) {
    const pol_shape *shape = &model->shapes[i];
    if (shape->type != POL_MESH) continue;
    const int plain = folder == NULL || folder[0] == '\0' || shape->file[0] == '/';
    char *path = plain ? poli_format("%s", shape->file) : poli_format("%s/%s", folder, shape->file);
    if (path == NULL) return POL_NO_MEMORY;
    status = poli_mesh_read(&(*meshes)[i], path, shape->scale, message, size);
    if (status == POL_IO) status = POL_BAD_ARGUMENT;
    free(path);
  }
  return status;
}

/* What a file is made of. */
typedef struct contents {
  const pol_model *model;
  pol_result *result;
  const pol_view_options *options;
  poli_frames frames, other; /* other: of the compared result, no frames if there is none */
  poli_mesh *meshes;         /* [num_shapes] */
} contents;

/* The scene, with the ranges of the other run. */
static pol_status write_scene(FILE *file, const contents *all)
{
  const pol_view_options *options = all->options;
  json_t *scene = poli_scene_json(all->model, &all->frames, all->result,
                                  options->title != NULL ? options->title : "");
  int failed = scene == NULL;
  if (!failed && all->other.count > 0)
    failed = poli_scene_add_other(scene, &all->other, options->compare,
                                  options->compare_title != NULL ? options->compare_title
                                                                 : "another run") != 0;
  char *text = failed ? NULL : json_dumps(scene, JSON_COMPACT | JSON_REAL_PRECISION(9));
  json_decref(scene);
  if (text == NULL) return POL_NO_MEMORY;
  poli_page_write_json(file, "scene", text);
  free(text);
  return POL_OK;
}

/* A surface of a flexible body: points in single precision, displacements and triangles in 16 bits.
 */
static pol_status write_surface(FILE *file, int number, const pol_surface *surface)
{
  const size_t points = 3 * (size_t)surface->num_points,
               numbers = points * (size_t)surface->num_modes,
               corners = 3 * (size_t)surface->num_triangles;
  unsigned char *bytes = malloc(2 * (numbers > corners ? numbers : corners) + 1);
  char id[48];
  if (bytes == NULL) return POL_NO_MEMORY;
  for (size_t i = 0; i < numbers; i++)
    poli_put_uint16(bytes + 2 * i, (unsigned)surface->modes[i] & 65535u);
  snprintf(id, sizeof id, "flexible-modes-%d", number);
  poli_page_write_bytes(file, id, bytes, 2 * numbers);
  for (size_t i = 0; i < corners; i++)
    poli_put_uint16(bytes + 2 * i, (unsigned)surface->triangles[i]);
  snprintf(id, sizeof id, "flexible-triangles-%d", number);
  poli_page_write_bytes(file, id, bytes, 2 * corners);
  free(bytes);
  snprintf(id, sizeof id, "flexible-points-%d", number);
  return write_floats(file, id, surface->points, points);
}

/* All of a page into an open file. */
static pol_status write_page(FILE *file, const contents *all)
{
  const pol_model *model = all->model;
  const poli_frames *frames = &all->frames, *other = &all->other;
  const size_t count = (size_t)frames->count, bodies = (size_t)frames->num_bodies,
               others = (size_t)other->count;
  fwrite(poli_page_head, 1, poli_page_head_size, file);
  pol_status status = write_scene(file, all);
  if (status == POL_OK) {
    poli_page_write_bytes(file, "positions", frames->positions, count * bodies * 6);
    poli_page_write_bytes(file, "rotations", frames->rotations, count * bodies * 8);
    poli_page_write_bytes(file, "values", frames->values, (size_t)frames->num_channels * count * 2);
    status = write_times(file, "times", frames, frames->times[0]);
  }
  if (status == POL_OK && others > 0) {
    poli_page_write_bytes(file, "other-positions", other->positions, others * bodies * 6);
    poli_page_write_bytes(file, "other-rotations", other->rotations, others * bodies * 8);
    /* of which a page needs the modes of flexible bodies */
    if (model->num_reduced_bodies > 0)
      poli_page_write_bytes(file, "other-values", other->values,
                            (size_t)other->num_channels * others * 2);
    status = write_times(file, "other-times", other, frames->times[0]);
  }
  for (int i = 0, number = 0; status == POL_OK && i < model->num_shapes; i++) {
    char id[32];
    if (model->shapes[i].type != POL_MESH) continue;
    snprintf(id, sizeof id, "mesh-%d", number++);
    const size_t size_of_mesh = 3 * all->meshes[i].num_points;
    float *points = malloc(size_of_mesh * sizeof *points);
    for (size_t k = 0; points != NULL && k < size_of_mesh; k++)
      points[k] = (float)all->meshes[i].points[k];
    status = points != NULL ? write_floats(file, id, points, size_of_mesh) : POL_NO_MEMORY;
    free(points);
  }
  for (int i = 0; status == POL_OK && i < model->num_reduced_bodies; i++)
    status = write_surface(file, i, &model->reduced_bodies[i].surface);
  fwrite(poli_page_tail, 1, poli_page_tail_size, file);
  return status;
}

/* Opens, writes and closes; an unfinished file is removed, unless it is behind a link. */
static pol_status write_file(const char *path, const contents *all, long *bytes, char *message,
                             size_t size)
{
  const size_t length = strlen(path);
  const int gltf = length > 4 && strcmp(path + length - 4, ".glb") == 0;
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    snprintf(message, size, "%s", strerror(errno));
    return POL_IO;
  }
  pol_status status =
      gltf ? poli_gltf_write(file, all->model, &all->frames, all->meshes) : write_page(file, all);
  *bytes = ftell(file);
  status = pol_output_close(file, path, status);
  if (status == POL_IO) snprintf(message, size, "%s", strerror(errno));
  return status;
}

/* The frames of a result; one that cannot be read is wrong input, as a mesh is. */
static pol_status read_frames(poli_frames *frames, const contents *all, pol_result *result,
                              char *message, size_t size)
{
  const pol_status status =
      poli_frames_read(frames, all->model, result, all->options->max_frames, message, size);
  if (status != POL_IO) return status;
  snprintf(message, size, "%s", POL_RESULT_DAMAGED);
  return POL_BAD_ARGUMENT;
}

pol_status pol_view_write(const char *path, const pol_model *model, pol_result *result,
                          const pol_view_options *options, pol_view_summary *summary, char *message,
                          size_t size)
{
  static const pol_view_options defaults = {0};
  char unheard[8], reason[256] = "";
  long bytes = 0;
  if (message == NULL || size == 0) {
    message = unheard;
    size = sizeof unheard;
  }
  message[0] = '\0';
  if (options == NULL) options = &defaults;
  if (options->max_frames < 0 || options->max_frames == 1) {
    snprintf(message, size, "an animation needs at least 2 frames");
    return POL_BAD_ARGUMENT;
  }
  contents all = {.model = model, .result = result, .options = options};
  pol_status status = read_frames(&all.frames, &all, result, message, size);
  if (status == POL_OK && options->compare != NULL) {
    status = read_frames(&all.other, &all, options->compare, reason, sizeof reason);
    if (status == POL_BAD_ARGUMENT) snprintf(message, size, "the compared result: %s", reason);
  }
  if (status == POL_OK) status = read_meshes(&all.meshes, model, options->folder, message, size);
  if (status == POL_OK) status = write_file(path, &all, &bytes, message, size);
  if (status == POL_OK && summary != NULL)
    *summary = (pol_view_summary){.frames = all.frames.count,
                                  .channels = all.frames.num_channels,
                                  .left_out = all.frames.left_out,
                                  .bodies = all.frames.num_bodies,
                                  .bytes = bytes};
  for (int i = 0; all.meshes != NULL && i < model->num_shapes; i++) poli_mesh_free(&all.meshes[i]);
  free(all.meshes);
  poli_frames_free(&all.frames);
  poli_frames_free(&all.other);
  if (status != POL_OK && message[0] == '\0')
    snprintf(message, size, "%s", pol_status_text(status));
  return status;
}
