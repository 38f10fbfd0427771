/* Writing the page: the fixed head, the scene in JSON, the frames and the meshes in base64, the
 * fixed tail.  The data is in elements that no browser runs. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/output.h>
#include <polhode/view.h>

#include "base/errors.h"
#include "draw/viewer/frames.h"
#include "draw/viewer/page.h"
#include "io/file/mesh.h"
#include "mechanism/inertia.h"

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

void poli_put_float(unsigned char *to, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(bits >> 8 * i & 255u);
}

static json_t *numbers(const double *x, int count)
{
  json_t *list = json_array();
  for (int i = 0; list != NULL && i < count; i++)
    if (json_array_append_new(list, json_real(isfinite(x[i]) ? x[i] : 0.0)) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

/* A name from a result file.  If it is not valid UTF-8, bytes beyond ASCII become question marks.
 */
static json_t *name_json(const char *name)
{
  json_t *string = json_string(name);
  if (string != NULL) return string;
  const size_t length = strlen(name);
  char *plain = malloc(length + 1);
  if (plain == NULL) return NULL;
  for (size_t i = 0; i <= length; i++) plain[i] = (unsigned char)name[i] < 0x80 ? name[i] : '?';
  string = json_string(plain);
  free(plain);
  return string;
}

/* A list of what `make` gives for 0 .. count-1; NULL if one of them is. */
typedef json_t *make_item(const void *from, int index);

static json_t *make_list(make_item *make, const void *from, int count)
{
  json_t *list = json_array();
  for (int i = 0; list != NULL && i < count; i++)
    if (json_array_append_new(list, make(from, i)) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

/* --- bodies and shapes ------------------------------------------------------------------------ */

static json_t *body_json(const void *from, int index)
{
  const pol_body *body = pol_mechanism_body(from, index);
  double moments[3], R[9], half_axes[3] = {0.0, 0.0, 0.0}, q[4] = {1.0, 0.0, 0.0, 0.0};
  if (!body->point) {
    poli_principal_axes(body->inertia, moments, R);
    poli_inertia_ellipsoid(body->mass, moments, half_axes);
    pol_quat_from_matrix(R, q);
    /* An ellipsoid that is too flat to be seen gets a little thickness. */
    static const double thinnest = 0.06;
    const double longest = fmax(half_axes[0], fmax(half_axes[1], half_axes[2]));
    for (int i = 0; i < 3; i++) half_axes[i] = fmax(half_axes[i], thinnest * longest);
  }
  return json_pack("{s:s, s:i, s:o, s:o}", "name", body->name, "point", body->point, //
                   "size", numbers(half_axes, 3), "axes", numbers(q, 4));
}

static json_t *shape_json(const void *from, int index)
{
  const pol_model *model = from;
  const pol_shape *shape = &model->shapes[index];
  double size[3];
  int mesh = 0;
  /* What turns the shape of unit size (edges or diameter and length 1) into this one. */
  for (int i = 0; i < 3; i++) size[i] = 2.0 * shape->radius;
  if (shape->type == POL_CYLINDER || shape->type == POL_CONE) size[2] = shape->length;
  for (int i = 0; i < 3 && shape->type == POL_BOX; i++) size[i] = shape->size[i];
  for (int i = 0; i < 3 && shape->type == POL_MESH; i++) size[i] = 1.0;
  for (int i = 0; i < index; i++) mesh += model->shapes[i].type == POL_MESH;
  return json_pack("{s:s, s:i, s:o, s:o, s:o, s:i, s:i}",    //
                   "type", pol_shape_type_name(shape->type), //
                   "body", shape->body,                      //
                   "size", numbers(size, 3),                 //
                   "position", numbers(shape->position, 3),  //
                   "rotation", numbers(shape->rotation, 4),  //
                   "color", shape->color,                    //
                   "mesh", shape->type == POL_MESH ? mesh : -1);
}

/* --- markers, joints, forces ------------------------------------------------------------------ */

static json_t *marker_json(const void *from, int index)
{
  const pol_marker *marker = pol_mechanism_marker(from, index);
  return json_pack("{s:s, s:i, s:o, s:o}", "name", marker->name, "body", marker->body, //
                   "position", numbers(marker->position, 3), "rotation",
                   numbers(marker->rotation, 4));
}

static json_t *joint_json(const void *from, int index)
{
  const pol_joint *joint = pol_mechanism_joint(from, index);
  return json_pack("{s:s, s:s, s:[i, i], s:f}", "name", joint->name, //
                   "type", pol_joint_type_name(joint->type),         //
                   "markers", joint->marker[0], joint->marker[1], "radius", joint->radius);
}

static json_t *force_json(const void *from, int index)
{
  const pol_force *force = pol_mechanism_force(from, index);
  return json_pack("{s:s, s:s, s:i, s:[i, i], s:i, s:s, s:o, s:o, s:o}", //
                   "name", force->name,                                  //
                   "type", pol_force_type_name(force->type),             //
                   "body", force->body,                                  //
                   "markers", force->marker[0], force->marker[1],        //
                   "joint", force->joint,                                //
                   "frame", pol_force_frame_name(force->frame),          //
                   "vector", numbers(force->vector, 3),                  //
                   "point", numbers(force->point, 3),                    //
                   "anchor", numbers(force->anchor, 3));
}

/* --- all -------------------------------------------------------------------------------------- */

typedef struct recorded {
  const poli_frames *frames;
  const pol_result *result;
} recorded;

static json_t *channel_json(const void *from, int index)
{
  const recorded *record = from;
  const pol_channel *channel = pol_result_channel(record->result, record->frames->channels[index]);
  const poli_range16 *range = &record->frames->channel_ranges[index];
  return json_pack("{s:o, s:o, s:f, s:f}", "name", name_json(channel->name), //
                   "unit", name_json(channel->unit), "low", range->low, "high", range->high);
}

/* The scene: everything but what changes with time.  A new reference, or NULL when memory is out.
 * Keys:
 *
 *     version, name, gravity, rows, left_out
 *     bodies    [{name, point, size}]  size: the half axes of its inertia ellipsoid
 *     shapes    [{type, body, size, position, rotation, color, mesh}]  body -1 is the ground;
 *               size is what a shape of unit size is stretched by; mesh counts from 0
 *     markers   [{name, body, position, rotation}]
 *     joints    [{name, type, markers, radius}]
 *     forces    [{name, type, body, markers, joint, point, anchor, vector, frame}]
 *     channels  [{name, unit, low, high}]
 *     ranges    [low, high, ...] of the positions, x, y and z of each body
 */
static json_t *scene_json(const pol_model *model, const poli_frames *frames,
                          const pol_result *result)
{
  const pol_mechanism *mechanism = model->mechanism;
  const recorded record = {frames, result};
  double gravity[3];
  pol_mechanism_gravity(mechanism, gravity);
  return json_pack(
      "{s:s, s:s, s:o, s:I, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",                     //
      "version", pol_version(),                                                           //
      "name", model->name,                                                                //
      "gravity", numbers(gravity, 3),                                                     //
      "rows", (json_int_t)pol_result_rows(result),                                        //
      "left_out", frames->left_out,                                                       //
      "bodies", make_list(body_json, mechanism, frames->num_bodies),                      //
      "shapes", make_list(shape_json, model, model->num_shapes),                          //
      "markers", make_list(marker_json, mechanism, pol_mechanism_num_markers(mechanism)), //
      "joints", make_list(joint_json, mechanism, pol_mechanism_num_joints(mechanism)),    //
      "forces", make_list(force_json, mechanism, pol_mechanism_num_forces(mechanism)),    //
      "channels", make_list(channel_json, &record, frames->num_channels),                 //
      "ranges", numbers(&frames->ranges[0].low, 6 * frames->num_bodies));
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
  /* All of it into an open file. */
  fwrite(poli_page_head, 1, poli_page_head_size, file);
  json_t *scene = scene_json(model, frames, result);
  char *text = scene != NULL ? json_dumps(scene, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  if (text != NULL) poli_page_write_json(file, "scene", text);
  free(text);
  json_decref(scene);
  pol_status status = text != NULL ? POL_OK : POL_NO_MEMORY;
  if (status == POL_OK) {
    const size_t count = (size_t)frames->count, bodies = (size_t)frames->num_bodies;
    poli_page_write_bytes(file, "positions", frames->positions, count * bodies * 6);
    poli_page_write_bytes(file, "rotations", frames->rotations, count * bodies * 8);
    poli_page_write_bytes(file, "values", frames->values, (size_t)frames->num_channels * count * 2);
    status = write_times(file, frames);
  }
  if (status == POL_OK) {
    int number = 0;
    for (int i = 0; status == POL_OK && i < model->num_shapes; i++) {
      char id[32];
      if (model->shapes[i].type != POL_MESH) continue;
      snprintf(id, sizeof id, "mesh-%d", number++);
      const size_t size_of_mesh = 3 * meshes[i].num_points;
      float *points = malloc(size_of_mesh * sizeof *points);
      for (size_t k = 0; points != NULL && k < size_of_mesh; k++)
        points[k] = (float)meshes[i].points[k];
      status = points != NULL ? write_floats(file, id, points, size_of_mesh) : POL_NO_MEMORY;
      free(points);
    }
  }
  fwrite(poli_page_tail, 1, poli_page_tail_size, file);
  *bytes = ftell(file);
  status = pol_output_close(file, path, status);
  if (status == POL_IO) snprintf(message, size, "%s", strerror(errno));
  return status;
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
  pol_status status = poli_frames_read(&frames, model, result, options->max_frames, message, size);
  if (status == POL_IO) { /* a result that cannot be read is wrong input, as a mesh is */
    snprintf(message, size, "%s", POL_RESULT_DAMAGED);
    status = POL_BAD_ARGUMENT;
  }
  if (status == POL_OK) status = read_meshes(&meshes, model, options->folder, message, size);
  if (status == POL_OK)
    status = write_file(path, model, result, &frames, meshes, &bytes, message, size);
  if (status == POL_OK && summary != NULL)
    *summary = (pol_view_summary){.frames = frames.count,
                                  .channels = frames.num_channels,
                                  .left_out = frames.left_out,
                                  .bodies = frames.num_bodies,
                                  .bytes = bytes};
  for (int i = 0; meshes != NULL && i < model->num_shapes; i++) poli_mesh_free(&meshes[i]);
  free(meshes);
  poli_frames_free(&frames);
  if (status != POL_OK && message[0] == '\0')
    snprintf(message, size, "%s", pol_status_text(status));
  return status;
}
