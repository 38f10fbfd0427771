/* The scene of a page in JSON: names, shapes, markers, joints, forces and the ranges of the
 * numbers, as scene.h lists them. */
#include "draw/viewer/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "base/errors.h"
#include "mechanism/inertia.h"

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

void poli_body_ellipsoid(const pol_body *body, double half_axes[3], double q[4])
{
  /* one that is too flat to be seen gets a little thickness */
  static const double thinnest = 0.06;
  double moments[3], R[9];
  poli_principal_axes(body->inertia, moments, R);
  poli_inertia_ellipsoid(body->mass, moments, half_axes);
  pol_quat_from_matrix(R, q);
  const double longest = fmax(half_axes[0], fmax(half_axes[1], half_axes[2]));
  for (int i = 0; i < 3; i++) half_axes[i] = fmax(half_axes[i], thinnest * longest);
}

static json_t *body_json(const void *from, int index)
{
  const pol_body *body = pol_mechanism_body(from, index);
  double moments[3] = {0.0, 0.0, 0.0}, R[9], half_axes[3] = {0.0, 0.0, 0.0},
         q[4] = {1.0, 0.0, 0.0, 0.0};
  if (!body->point && body->mass > 0.0) {
    poli_principal_axes(body->inertia, moments, R);
    poli_body_ellipsoid(body, half_axes, q);
  }
  return json_pack("{s:s, s:i, s:i, s:i, s:f, s:o, s:o, s:o}", //
                   "name", body->name,                         //
                   "point", body->point,                       //
                   "interface", body->interface,               //
                   "color",
                   poli_body_color(index - body->interface, pol_mechanism_num_bodies(from)), //
                   "mass", body->mass,                                                       //
                   "moments", numbers(moments, 3),                                           //
                   "size", numbers(half_axes, 3), "axes", numbers(q, 4));
}

void poli_shape_size(const pol_shape *shape, double size[3])
{
  for (int i = 0; i < 3; i++) size[i] = 2.0 * shape->radius;
  if (shape->type == POL_CYLINDER || shape->type == POL_CONE) size[2] = shape->length;
  for (int i = 0; i < 3 && shape->type == POL_BOX; i++) size[i] = shape->size[i];
  for (int i = 0; i < 3 && shape->type == POL_MESH; i++) size[i] = 1.0;
}

static json_t *shape_json(const void *from, int index)
{
  const pol_model *model = from;
  const pol_shape *shape = &model->shapes[index];
  double size[3];
  int mesh = 0;
  poli_shape_size(shape, size);
  for (int i = 0; i < index && shape->type == POL_MESH; i++)
    mesh += model->shapes[i].type == POL_MESH;
  return json_pack("{s:s, s:i, s:o, s:o, s:o, s:i, s:i}",    //
                   "type", pol_shape_type_name(shape->type), //
                   "body", shape->body,                      //
                   "size", numbers(size, 3),                 //
                   "position", numbers(shape->position, 3),  //
                   "rotation", numbers(shape->rotation, 4),  //
                   "color", shape->color,                    //
                   "mesh", shape->type == POL_MESH ? mesh : -1);
}

static json_t *flexible_json(const void *from, int index)
{
  const pol_reduced_note *note = &((const pol_model *)from)->reduced_bodies[index];
  const pol_surface *surface = &note->surface;
  double low[3] = {0.0, 0.0, 0.0}, high[3] = {0.0, 0.0, 0.0};
  for (int p = 0; p < surface->num_points; p++)
    for (int i = 0; i < 3; i++) {
      const double x = (double)surface->points[3 * p + i];
      low[i] = p > 0 ? fmin(low[i], x) : x;
      high[i] = p > 0 ? fmax(high[i], x) : x;
    }
  return json_pack("{s:i, s:i, s:i, s:i, s:i, s:f, s:o, s:o}", "body", note->body, "triangles",
                   surface->num_triangles,                                     //
                   "points", surface->num_points, "nodes", surface->num_nodes, //
                   "modes", surface->num_modes, "unit", surface->unit,         //
                   "low", numbers(low, 3), "high", numbers(high, 3));
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
  const pol_coordinate_info *coordinate =
      force->type == POL_JOINT_SPRING
          ? pol_joint_coordinate(pol_mechanism_joint(from, force->joint), force->coordinate)
          : NULL;
  return json_pack("{s:s, s:s, s:i, s:[i, i], s:i, s:i, s:o, s:o, s:s, s:o, s:o, s:o}", //
                   "name", force->name,                                                 //
                   "type", pol_force_type_name(force->type),                            //
                   "body", force->body,                                                 //
                   "markers", force->marker[0], force->marker[1],                       //
                   "joint", force->joint,                                               //
                   "angular", coordinate != NULL && coordinate->angular,                //
                   "stiffness", numbers(force->stiffness, 3),                           //
                   "damping", numbers(force->damping, 3),                               //
                   "frame", pol_force_frame_name(force->frame),                         //
                   "vector", numbers(force->vector, 3),                                 //
                   "point", numbers(force->point, 3),                                   //
                   "anchor", numbers(force->anchor, 3));
}

static json_t *coupling_json(const void *from, int index)
{
  const pol_coupling *coupling = pol_mechanism_coupling(from, index);
  return json_pack("{s:s, s:[i, i], s:[b, b], s:[f, f]}", "name", coupling->name, //
                   "joints", coupling->joint[0], coupling->joint[1],              //
                   "angular", pol_coordinate_turns(coupling->coordinate[0]),
                   pol_coordinate_turns(coupling->coordinate[1]), //
                   "factors", coupling->factor[0], coupling->factor[1]);
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

/* What its settings say that a result holds, "mode", "static" or "path"; "" for a motion.  The text
 * belongs to *settings, which the caller frees. */
static const char *analysis_of(const pol_result *result, json_t **settings)
{
  const char *analysis = "", *text = pol_result_about(result)->settings;
  *settings = text != NULL ? json_loads(text, 0, NULL) : NULL;
  /* settings of another kind leave the value as it is */
  if (*settings != NULL) json_unpack(*settings, "{s?s}", "analysis", &analysis);
  return analysis;
}

/* What follows along the rows of a result, with its unit. */
static json_t *axis_json(const pol_result *result)
{
  json_t *settings;
  const char *analysis = analysis_of(result, &settings);
  const int is_static = strcmp(analysis, "static") == 0, is_path = strcmp(analysis, "path") == 0;
  json_t *axis = json_pack("{s:s, s:s}", "name",
                           is_static ? "load factor"
                           : is_path ? "length of the path"
                                     : "time",
                           "unit", is_static || is_path ? "" : "s");
  json_decref(settings);
  return axis;
}

/* The name of the model, or `otherwise`, and the mode if the result is one of a vibration; "" if
 * there is neither. */
static json_t *title_json(const pol_model *model, const pol_result *result, const char *otherwise)
{
  const char *name = model->name[0] != '\0' ? model->name : otherwise;
  int number = 0;
  double frequency = 0.0;
  json_t *settings;
  const char *analysis = analysis_of(result, &settings);
  if (settings != NULL)
    json_unpack(settings, "{s?i, s?F}", "mode", &number, "frequency", &frequency);
  char *title = NULL;
  if (strcmp(analysis, "mode") == 0 && number > 0 && frequency > 0.0)
    title = poli_format("%s, mode %d, %.4g Hz", name, number, frequency);
  else if (strcmp(analysis, "mode") == 0 && number > 0)
    title = poli_format("%s, mode %d", name, number);
  else if (strcmp(analysis, "static") == 0)
    title = poli_format("%s, equilibrium", name);
  else if (strcmp(analysis, "path") == 0)
    title = poli_format("%s, path of equilibria", name);
  else
    title = poli_format("%s", name);
  json_t *string = title != NULL ? name_json(title) : NULL;
  free(title);
  json_decref(settings);
  return string;
}

json_t *poli_scene_json(const pol_model *model, const poli_frames *frames, const pol_result *result,
                        const char *title)
{
  const pol_mechanism *mechanism = model->mechanism;
  const recorded record = {frames, result};
  double gravity[3];
  pol_mechanism_gravity(mechanism, gravity);
  return json_pack(
      "{s:s, s:s, s:o, s:o, s:o, s:I, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",       //
      "version", pol_version(),                                                                 //
      "name", model->name,                                                                      //
      "title", title_json(model, result, title),                                                //
      "axis", axis_json(result),                                                                //
      "gravity", numbers(gravity, 3),                                                           //
      "rows", (json_int_t)pol_result_rows(result),                                              //
      "left_out", frames->left_out,                                                             //
      "bodies", make_list(body_json, mechanism, frames->num_bodies),                            //
      "shapes", make_list(shape_json, model, model->num_shapes),                                //
      "flexible", make_list(flexible_json, model, model->num_reduced_bodies),                   //
      "markers", make_list(marker_json, mechanism, pol_mechanism_num_markers(mechanism)),       //
      "joints", make_list(joint_json, mechanism, pol_mechanism_num_joints(mechanism)),          //
      "forces", make_list(force_json, mechanism, pol_mechanism_num_forces(mechanism)),          //
      "couplings", make_list(coupling_json, mechanism, pol_mechanism_num_couplings(mechanism)), //
      "channels", make_list(channel_json, &record, frames->num_channels),                       //
      "ranges", numbers(&frames->ranges[0].low, 6 * frames->num_bodies));
}

int poli_scene_add_other(json_t *scene, const poli_frames *other, const pol_result *result,
                         const char *title)
{
  const recorded record = {other, result};
  return json_object_set_new(scene, "other",
                             json_pack("{s:o, s:o, s:o}", "title", name_json(title), "channels",
                                       make_list(channel_json, &record, other->num_channels),
                                       "ranges",
                                       numbers(&other->ranges[0].low, 6 * other->num_bodies)));
}
