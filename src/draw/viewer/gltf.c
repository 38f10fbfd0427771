/* A result as a binary glTF 2.0 file (Khronos, "glTF 2.0 specification", 2021): a node per body
 * with its shapes below it, and one animation with the translation and rotation of every body.
 * Bodies without shapes are rods to their joints, or the ellipsoid of their inertia. */
#include "draw/viewer/gltf.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/viewer/page.h"
#include "draw/viewer/scene.h"
#include "draw/viewer/solids.h"

/* A file in the making.  Once an allocation has failed, nothing more is added. */
typedef struct gltf {
  json_t *accessors, *views, *meshes, *materials, *nodes, *samplers, *channels;
  unsigned char *bytes; /* the buffer: all numbers */
  size_t size, capacity;
  int solids[POL_MESH][2]; /* accessors of points and normals of each solid; -1 until needed */
  int num_colors, *colors; /* of the materials; room for one per shape and body */
  int failed;
} gltf;

/* Appends to a list, whose reference to the item is the only one; returns its index. */
static int append(gltf *g, json_t *list, json_t *item)
{
  if (json_array_append_new(list, item) != 0) g->failed = 1;
  return (int)json_array_size(list) - 1;
}

/* Room for `count` numbers of 4 bytes at the end of the buffer; NULL if there is none. */
static unsigned char *extend(gltf *g, size_t count)
{
  const size_t needed = g->size + 4 * count;
  if (needed > g->capacity) {
    unsigned char *longer = realloc(g->bytes, 2 * needed);
    if (longer == NULL) {
      g->failed = 1;
      return NULL;
    }
    g->bytes = longer;
    g->capacity = 2 * needed;
  }
  unsigned char *to = g->bytes + g->size;
  g->size = needed;
  return to;
}

/* An accessor of `count` vectors of `width` numbers; bounds are written if wanted. */
static int add_numbers(gltf *g, const float *x, size_t count, int width, int bounded)
{
  static const char *const types[] = {"", "SCALAR", "", "VEC3", "VEC4"};
  const size_t offset = g->size, total = count * (size_t)width;
  unsigned char *to = extend(g, total);
  for (size_t i = 0; to != NULL && i < total; i++) poli_put_float(to + 4 * i, x[i]);
  const int view = append(g, g->views,
                          json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset",
                                    (json_int_t)offset, "byteLength", (json_int_t)(4 * total)));
  json_t *accessor = json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", 5126,
                               "count", (json_int_t)count, "type", types[width]);
  json_t *low = json_array(), *high = json_array();
  for (int c = 0; bounded && c < width; c++) {
    float least = x[c], most = x[c];
    for (size_t i = 1; i < count; i++) {
      least = fminf(least, x[i * (size_t)width + (size_t)c]);
      most = fmaxf(most, x[i * (size_t)width + (size_t)c]);
    }
    append(g, low, json_real((double)least));
    append(g, high, json_real((double)most));
  }
  if (bounded && accessor != NULL &&
      (json_object_set(accessor, "min", low) != 0 || json_object_set(accessor, "max", high) != 0))
    g->failed = 1;
  json_decref(low);
  json_decref(high);
  return append(g, g->accessors, accessor);
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* The part of a colour as energy of light: the inverse of the curve of sRGB. */
static double linear_part(int color, int shift)
{
  const double c = (color >> shift & 255) / 255.0;
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static int material_of(gltf *g, int color)
{
  for (int i = 0; i < g->num_colors; i++)
    if (g->colors[i] == color) return i;
  g->colors[g->num_colors++] = color;
  return append(g, g->materials,
                json_pack("{s:{s:[f, f, f, f], s:f, s:f}}", "pbrMetallicRoughness",
                          "baseColorFactor", linear_part(color, 16), linear_part(color, 8),
                          linear_part(color, 0), 1.0, "metallicFactor", 0.0, "roughnessFactor",
                          0.5));
}

/* What a node shows, and where it is in its body. */
typedef struct part {
  pol_shape_type type;
  const poli_mesh *mesh; /* of a POL_MESH */
  int color;
  double position[3], rotation[4], size[3];
} part;

static void accessors_of(gltf *g, const part *p, int accessors[2])
{
  poli_solid solid = {0};
  const int known = p->type != POL_MESH && g->solids[p->type][0] >= 0;
  if (!known) {
    const pol_status status = p->type == POL_MESH
                                  ? poli_solid_of_mesh(&solid, p->mesh->points, p->mesh->num_points)
                                  : poli_solid_create(&solid, p->type);
    if (status != POL_OK) g->failed = 1;
    accessors[0] = status == POL_OK ? add_numbers(g, solid.points, solid.count, 3, 1) : 0;
    accessors[1] = status == POL_OK ? add_numbers(g, solid.normals, solid.count, 3, 0) : 0;
    poli_solid_free(&solid);
    if (p->type != POL_MESH) memcpy(g->solids[p->type], accessors, sizeof g->solids[0]);
    return;
  }
  memcpy(accessors, g->solids[p->type], sizeof g->solids[0]);
}

/* Adds the node of a part below that of its body. */
static void add_part(gltf *g, int body, const part *p)
{
  int accessors[2];
  const double *x = p->position, *q = p->rotation, *s = p->size;
  accessors_of(g, p, accessors);
  const int mesh =
      append(g, g->meshes,
             json_pack("{s:[{s:{s:i, s:i}, s:i}]}", "primitives", "attributes", "POSITION",
                       accessors[0], "NORMAL", accessors[1], "material", material_of(g, p->color)));
  const int node = append(g, g->nodes,
                          json_pack("{s:i, s:[f, f, f], s:[f, f, f, f], s:[f, f, f]}", "mesh", mesh,
                                    "translation", x[0], x[1], x[2], "rotation", q[1], q[2], q[3],
                                    q[0], "scale", s[0], s[1], s[2]));
  json_t *above = json_array_get(g->nodes, (size_t)body),
         *below = json_object_get(above, "children");
  if (below == NULL && above != NULL) {
    below = json_array();
    if (json_object_set_new(above, "children", below) != 0) g->failed = 1;
  }
  if (!g->failed) append(g, below, json_integer(node));
}

/* The rod from the centre of mass to a point. */
static part make_rod(const double end[3], double radius, int color)
{
  const double length = sqrt(end[0] * end[0] + end[1] * end[1] + end[2] * end[2]);
  part p = {.type = POL_CYLINDER, .color = color, .size = {2.0 * radius, 2.0 * radius, length}};
  for (int i = 0; i < 3; i++) p.position[i] = 0.5 * end[i];
  /* from z to the direction: half the sum of both is the axis of half a turn */
  double q[4] = {1.0 + end[2] / length, -end[1] / length, end[0] / length, 0.0};
  if (q[0] < 1e-12) q[1] = 1.0;
  const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  for (int i = 0; i < 4; i++) p.rotation[i] = q[i] / norm;
  return p;
}

/* The distance of a point from the centre of mass. */
static double length_of(const double x[3])
{
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* The radius of all rods: a twentieth of the mean distance of joints from the centres of mass. */
static double rod_radius(const pol_mechanism *mechanism)
{
  double sum = 0.0;
  int count = 0;
  for (int i = 0; i < 2 * pol_mechanism_num_joints(mechanism); i++) {
    const pol_marker *marker =
        pol_mechanism_marker(mechanism, pol_mechanism_joint(mechanism, i / 2)->marker[i % 2]);
    const double length = marker->body >= 0 ? length_of(marker->position) : 0.0;
    sum += length;
    count += length > 0.0;
  }
  return count > 0 ? 0.05 * sum / count : 0.05;
}

/* Bodies that have no shapes of their own: rods to the joints, and a ball or, where no joint is off
 * the centre of mass, the ellipsoid of inertia. */
static void add_stand_ins(gltf *g, const pol_model *model, const char *shaped)
{
  const pol_mechanism *mechanism = model->mechanism;
  const double radius = rod_radius(mechanism);
  const int num_bodies = pol_mechanism_num_bodies(mechanism);
  char *held = calloc((size_t)num_bodies + 1, 1);
  if (held == NULL) g->failed = 1;
  for (int i = 0; i < 2 * pol_mechanism_num_joints(mechanism) && !g->failed; i++) {
    const pol_marker *marker =
        pol_mechanism_marker(mechanism, pol_mechanism_joint(mechanism, i / 2)->marker[i % 2]);
    const int b = marker->body;
    if (b < 0 || shaped[b] || length_of(marker->position) < 0.2 * radius) continue;
    const part rod = make_rod(marker->position, radius, poli_body_color(b, num_bodies));
    add_part(g, b, &rod);
    held[b] = 1;
  }
  for (int b = 0; b < num_bodies && !g->failed; b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    part ball = {.type = POL_SPHERE, .color = poli_body_color(b, num_bodies), .rotation = {1.0}};
    for (int i = 0; i < 3; i++) ball.size[i] = 3.0 * radius;
    if (!body->point && body->mass > 0.0 && !held[b]) {
      double half_axes[3];
      poli_body_ellipsoid(body, half_axes, ball.rotation);
      for (int i = 0; i < 3; i++) ball.size[i] = 2.0 * half_axes[i];
    }
    if (!shaped[b]) add_part(g, b, &ball);
  }
  free(held);
}

/* The surface of a flexible body as it is without deformation; nodes alone have none. */
static void add_surface(gltf *g, const pol_reduced_note *note, int color)
{
  const pol_surface *from = &note->surface;
  poli_mesh mesh = {.num_points = 3 * (size_t)from->num_triangles};
  const part p = {.type = POL_MESH,
                  .mesh = &mesh,
                  .color = color,
                  .size = {1.0, 1.0, 1.0},
                  .rotation = {1.0, 0.0, 0.0, 0.0}};
  mesh.points = malloc(3 * mesh.num_points * sizeof *mesh.points + 1);
  if (mesh.points == NULL) g->failed = 1;
  for (size_t i = 0; i < 3 * mesh.num_points && !g->failed; i++)
    mesh.points[i] = (double)from->points[3 * (size_t)from->triangles[i / 3] + i % 3];
  if (!g->failed) add_part(g, note->body, &p);
  free(mesh.points);
}

static void add_bodies(gltf *g, const pol_model *model, const poli_mesh *meshes)
{
  const int ground = pol_mechanism_num_bodies(model->mechanism);
  char *shaped = calloc((size_t)ground + 1, 1);
  if (shaped == NULL) g->failed = 1;
  for (int b = 0; b < ground; b++)
    append(g, g->nodes, json_pack("{s:s}", "name", pol_mechanism_body(model->mechanism, b)->name));
  append(g, g->nodes, json_pack("{s:s}", "name", "ground"));
  for (int i = 0; i < model->num_shapes && !g->failed; i++) {
    const pol_shape *shape = &model->shapes[i];
    part p = {.type = shape->type, .mesh = &meshes[i]};
    p.color = shape->color == POL_NO_COLOR ? poli_body_color(shape->body, ground) : shape->color;
    poli_shape_size(shape, p.size);
    memcpy(p.position, shape->position, sizeof p.position);
    memcpy(p.rotation, shape->rotation, sizeof p.rotation);
    const int node = shape->body < 0 ? ground : shape->body;
    add_part(g, node, &p);
    shaped[node] = 1;
  }
  for (int i = 0; i < model->num_reduced_bodies && !g->failed; i++) {
    const pol_reduced_note *note = &model->reduced_bodies[i];
    if (note->surface.num_triangles == 0) continue;
    add_surface(g, note, poli_body_color(note->body, ground));
    shaped[note->body] = 1;
  }
  for (int b = 0; b < ground && !g->failed; b++) /* frames, not bodies */
    if (pol_mechanism_body(model->mechanism, b)->interface > 0) shaped[b] = 1;
  if (!g->failed) add_stand_ins(g, model, shaped);
  free(shaped);
}

/* --- motion ----------------------------------------------------------------------------------- */

static unsigned number_at(const unsigned char *bytes, size_t index)
{
  return bytes[2 * index] | (unsigned)bytes[2 * index + 1] << 8;
}

/* Positions of a body, three numbers per frame; without a number, the last one stays. */
static void read_positions(const poli_frames *frames, size_t body, float *x)
{
  for (size_t i = 0; i < (size_t)frames->count; i++)
    for (size_t c = 0; c < 3; c++) {
      const unsigned number =
          number_at(frames->positions, 3 * (i * (size_t)frames->num_bodies + body) + c);
      const poli_range16 *range = &frames->ranges[3 * body + c];
      const double value = range->low + (range->high - range->low) * number / 65534.0;
      x[3 * i + c] = number != 65535u ? (float)value : i > 0 ? x[3 * i - 3 + c] : 0.0f;
    }
}

/* Quaternions (x, y, z, w) of a body, each on the side of the last one. */
static void read_rotations(const poli_frames *frames, size_t body, float *q)
{
  for (size_t i = 0; i < (size_t)frames->count; i++) {
    double now[4], square = 0.0, dot = 0.0;
    for (size_t c = 0; c < 4; c++) {
      const size_t at = 4 * (i * (size_t)frames->num_bodies + body) + (c + 1) % 4;
      now[c] = ((double)number_at(frames->rotations, at) - 32768.0) / 32767.0;
      square += now[c] * now[c];
      dot += i > 0 ? now[c] * (double)q[4 * i - 4 + c] : 0.0;
    }
    const double scale = square > 0.0 ? (dot < 0.0 ? -1.0 : 1.0) / sqrt(square) : 0.0;
    for (size_t c = 0; c < 4; c++) {
      q[4 * i + c] = (float)(scale * now[c]);
      if (scale == 0.0) q[4 * i + c] = i > 0 ? q[4 * i - 4 + c] : c == 3 ? 1.0f : 0.0f;
    }
  }
}

static void add_channel(gltf *g, int input, int output, int body, const char *path)
{
  const int sampler = append(
      g, g->samplers,
      json_pack("{s:i, s:i, s:s}", "input", input, "output", output, "interpolation", "LINEAR"));
  append(
      g, g->channels,
      json_pack("{s:i, s:{s:i, s:s}}", "sampler", sampler, "target", "node", body, "path", path));
}

static void add_motion(gltf *g, const pol_mechanism *mechanism, const poli_frames *frames)
{
  const size_t count = (size_t)frames->count;
  float *values = malloc(4 * count * sizeof *values);
  if (values == NULL) {
    g->failed = 1;
    return;
  }
  for (size_t i = 0; i < count; i++) values[i] = (float)(frames->times[i] - frames->times[0]);
  const int input = add_numbers(g, values, count, 1, 1);
  for (int b = 0; b < frames->num_bodies && !g->failed; b++) {
    read_positions(frames, (size_t)b, values);
    add_channel(g, input, add_numbers(g, values, count, 3, 0), b, "translation");
    if (pol_mechanism_body(mechanism, b)->point) continue;
    read_rotations(frames, (size_t)b, values);
    add_channel(g, input, add_numbers(g, values, count, 4, 0), b, "rotation");
  }
  free(values);
}

/* --- the file --------------------------------------------------------------------------------- */

/* The node above all: turned so that what is up becomes y, as glTF has it. */
static int add_root(gltf *g, const pol_model *model)
{
  double gravity[3], q[4] = {0.0, 0.0, 0.0, 1.0}; /* x, y, z, w */
  pol_mechanism_gravity(model->mechanism, gravity);
  int axis = 2;
  for (int i = 0; i < 2; i++)
    if (fabs(gravity[i]) > fabs(gravity[axis])) axis = i;
  const double sign = gravity[axis] > 0.0 ? -1.0 : 1.0, half = sqrt(0.5);
  if (axis == 1 && sign < 0.0) memcpy(q, (double[]){1.0, 0.0, 0.0, 0.0}, sizeof q);
  if (axis == 0) memcpy(q, (double[]){0.0, 0.0, sign * half, half}, sizeof q);
  if (axis == 2) memcpy(q, (double[]){-sign * half, 0.0, 0.0, half}, sizeof q);
  json_t *children = json_array();
  for (int b = 0; b <= pol_mechanism_num_bodies(model->mechanism); b++)
    append(g, children, json_integer(b));
  return append(g, g->nodes,
                json_pack("{s:s, s:[f, f, f, f], s:o}", "name", model->name, "rotation", q[0], q[1],
                          q[2], q[3], "children", children));
}

/* The JSON of the file, in memory of Jansson's; NULL when memory is out. */
static char *describe(gltf *g, int root, int animated)
{
  json_t *all = json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}], s:O, s:O, s:O, s:O, s:O, s:[{s:I}]}",
                          "asset", "version", "2.0", "generator", "polhode",  //
                          "scene", 0, "scenes", "nodes", root,                //
                          "nodes", g->nodes, "meshes", g->meshes,             //
                          "materials", g->materials,                          //
                          "accessors", g->accessors, "bufferViews", g->views, //
                          "buffers", "byteLength", (json_int_t)g->size);
  if (all != NULL && animated &&
      json_object_set_new(all, "animations",
                          json_pack("[{s:s, s:O, s:O}]", "name", "motion", "samplers", g->samplers,
                                    "channels", g->channels)) != 0)
    g->failed = 1;
  char *text =
      all != NULL && !g->failed ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(all);
  return text;
}

/* Header, JSON filled up with blanks, numbers; each starts at a multiple of 4. */
static void write_parts(FILE *file, const gltf *g, const char *text)
{
  const size_t length = strlen(text), filled = (length + 3) / 4 * 4;
  const size_t words[] = {0x46546c67u, 2, 12 + 8 + filled + 8 + g->size, filled, 0x4e4f534au};
  const size_t more[] = {g->size, 0x004e4942u};
  unsigned char head[20], between[8];
  for (int i = 0; i < 5; i++) poli_put_uint32(head + 4 * i, (uint32_t)words[i]);
  for (int i = 0; i < 2; i++) poli_put_uint32(between + 4 * i, (uint32_t)more[i]);
  fwrite(head, 1, sizeof head, file);
  fwrite(text, 1, length, file);
  fwrite("   ", 1, filled - length, file);
  fwrite(between, 1, sizeof between, file);
  fwrite(g->bytes, 1, g->size, file);
}

pol_status poli_gltf_write(FILE *file, const pol_model *model, const poli_frames *frames,
                           const poli_mesh *meshes)
{
  gltf g = {json_array(), json_array(), json_array(), json_array(),
            json_array(), json_array(), json_array(), .bytes = NULL};
  const size_t most = (size_t)model->num_shapes + (size_t)frames->num_bodies + 1;
  g.colors = malloc(most * sizeof *g.colors);
  g.failed = g.colors == NULL || !g.accessors || !g.views || !g.meshes || !g.materials ||
             !g.nodes || !g.samplers || !g.channels;
  for (int i = 0; i < POL_MESH; i++) g.solids[i][0] = -1;
  if (!g.failed) add_bodies(&g, model, meshes);
  if (!g.failed && frames->count > 1) add_motion(&g, model->mechanism, frames);
  const int root = g.failed ? 0 : add_root(&g, model);
  char *text = g.failed ? NULL : describe(&g, root, frames->count > 1);
  /* lengths have 32 bits */
  const int fits = text != NULL && g.size + strlen(text) < 0xf0000000u;
  if (fits) write_parts(file, &g, text);
  free(text);
  free(g.bytes);
  free(g.colors);
  json_t *const lists[] = {g.accessors, g.views,    g.meshes,  g.materials,
                           g.nodes,     g.samplers, g.channels};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) json_decref(lists[i]);
  return fits ? POL_OK : POL_NO_MEMORY;
}
