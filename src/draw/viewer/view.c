/* Writing the page: the fixed head, the scene, the frames, the meshes, the fixed tail. */
#include <polhode/output.h>
#include <polhode/view.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "draw/viewer/frames.h"
#include "draw/viewer/mesh.h"
#include "draw/viewer/page.h"
#include "draw/viewer/scene.h"

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

/* Times since the first one, which keeps their digits where a run starts late. */
static pol_status write_times(FILE *file, const poli_frames *frames)
{
  float *times = malloc((size_t)frames->count * sizeof *times);
  if (times == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < frames->count; i++) times[i] = (float)(frames->times[i] - frames->times[0]);
  const pol_status status = write_floats(file, "times", times, (size_t)frames->count);
  free(times);
  return status;
}

static pol_status write_frames(FILE *file, const poli_frames *frames)
{
  const size_t count = (size_t)frames->count, bodies = (size_t)frames->num_bodies;
  poli_page_write_bytes(file, "positions", frames->positions, count * bodies * 6);
  poli_page_write_bytes(file, "rotations", frames->rotations, count * bodies * 8);
  poli_page_write_bytes(file, "values", frames->values, (size_t)frames->num_channels * count * 2);
  return write_times(file, frames);
}

/* A mesh file that is not given from the root is looked for in the folder.  One that cannot be read
 * is wrong input: POL_IO is kept for the page. */
static pol_status read_mesh(poli_mesh *mesh, const char *folder, const pol_shape *shape,
                            char *message, size_t size)
{
  const int plain = folder == NULL || folder[0] == '\0' || shape->file[0] == '/';
  char *path = plain ? poli_format("%s", shape->file) : poli_format("%s/%s", folder, shape->file);
  if (path == NULL) return POL_NO_MEMORY;
  const pol_status status = poli_mesh_read(mesh, path, shape->scale, message, size);
  free(path);
  return status == POL_IO ? POL_BAD_ARGUMENT : status;
}

/* The meshes of all shapes, empty where a shape is none; free with free_meshes in every case. */
static pol_status read_meshes(poli_mesh **meshes, const pol_model *model, const char *folder,
                              char *message, size_t size)
{
  pol_status status = POL_OK;
  *meshes = calloc((size_t)model->num_shapes + 1, sizeof **meshes);
  if (*meshes == NULL) return POL_NO_MEMORY;
  for (int i = 0; status == POL_OK && i < model->num_shapes; i++)
    if (model->shapes[i].type == POL_MESH)
      status = read_mesh(&(*meshes)[i], folder, &model->shapes[i], message, size);
  return status;
}

static void free_meshes(poli_mesh *meshes, const pol_model *model)
{
  for (int i = 0; meshes != NULL && i < model->num_shapes; i++) poli_mesh_free(&meshes[i]);
  free(meshes);
}

static pol_status write_meshes(FILE *file, const pol_model *model, const poli_mesh *meshes)
{
  pol_status status = POL_OK;
  int number = 0;
  for (int i = 0; status == POL_OK && i < model->num_shapes; i++) {
    char id[32];
    if (model->shapes[i].type != POL_MESH) continue;
    snprintf(id, sizeof id, "mesh-%d", number++);
    status = write_floats(file, id, meshes[i].points, 3 * meshes[i].num_points);
  }
  return status;
}

static pol_status write_scene(FILE *file, const pol_model *model, const poli_frames *frames,
                              const pol_result *result)
{
  json_t *scene = poli_scene_json(model, frames, result);
  char *text = scene != NULL ? json_dumps(scene, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  if (text != NULL) poli_page_write_json(file, "scene", text);
  free(text);
  json_decref(scene);
  return text != NULL ? POL_OK : POL_NO_MEMORY;
}

/* All of it into an open file. */
static pol_status write_page(FILE *file, const pol_model *model, pol_result *result,
                             const poli_frames *frames, const poli_mesh *meshes)
{
  fwrite(poli_page_head, 1, poli_page_head_size, file);
  pol_status status = write_scene(file, model, frames, result);
  if (status == POL_OK) status = write_frames(file, frames);
  if (status == POL_OK) status = write_meshes(file, model, meshes);
  fwrite(poli_page_tail, 1, poli_page_tail_size, file);
  return status;
}

/* Opens, writes and closes; an unfinished page is removed, unless it is behind a link. */
static pol_status write_file(const char *path, const pol_model *model, pol_result *result,
                             const poli_frames *frames, const poli_mesh *meshes, long *bytes,
                             char *message, size_t size)
{
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    snprintf(message, size, "%s", strerror(errno));
    return POL_IO;
  }
  pol_status status = write_page(file, model, result, frames, meshes);
  *bytes = ftell(file);
  status = pol_output_close(file, path, status);
  if (status == POL_IO) snprintf(message, size, "%s", strerror(errno));
  return status;
}

/* The frames; a result that cannot be read is wrong input, as a mesh is. */
static pol_status read_frames(poli_frames *frames, const pol_model *model, pol_result *result,
                              int max_frames, char *message, size_t size)
{
  const pol_status status = poli_frames_read(frames, model, result, max_frames, message, size);
  if (status != POL_IO) return status;
  snprintf(message, size, "%s", POL_RESULT_DAMAGED);
  return POL_BAD_ARGUMENT;
}

pol_status pol_view_write(const char *path, const pol_model *model, pol_result *result,
                          const pol_view_options *options, pol_view_summary *summary, char *message,
                          size_t size)
{
  static const pol_view_options defaults = {0};
  char unheard[8];
  poli_frames frames;
  poli_mesh *meshes = NULL;
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
  pol_status status = read_frames(&frames, model, result, options->max_frames, message, size);
  if (status == POL_OK) status = read_meshes(&meshes, model, options->folder, message, size);
  if (status == POL_OK)
    status = write_file(path, model, result, &frames, meshes, &bytes, message, size);
  if (status == POL_OK && summary != NULL)
    *summary = (pol_view_summary){.frames = frames.count,
                                  .channels = frames.num_channels,
                                  .left_out = frames.left_out,
                                  .bodies = frames.num_bodies,
                                  .bytes = bytes};
  free_meshes(meshes, model);
  poli_frames_free(&frames);
  if (status != POL_OK && message[0] == '\0')
    snprintf(message, size, "%s", pol_status_text(status));
  return status;
}
