/* MJCF: the joints of a body as one joint of the model; equalities.
 *
 * A body of MJCF may have several joints, one after the other.  Models have no bodies without mass
 * between them; where a joint of the model has the same motions, it stands for all of them: a hinge
 * and a slide along its axis are cylindrical, two hinges universal, and so on.  Others are refused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/robot/mjcf.h"
#include "lie/small.h"

/* --- joints ----------------------------------------------------------------------------------- */

/* The joints of one body together. */
typedef struct joint_group {
  poli_mjcf_joint *joints;
  int count, num_slides, num_hinges, is_turning; /* is_turning: all rotations are free */
  int axis_of[6];                                /* of each joint, in the frame: 0 to 2 */
  double frame[9];                               /* columns: axes of the joint in the body */
  double position[3];
} joint_group;

static int are_parallel(const double a[3], const double b[3])
{
  return fabs(fabs(poli_v3_dot(a, b)) - 1.0) < 1e-9;
}

static int are_perpendicular(const double a[3], const double b[3])
{
  return fabs(poli_v3_dot(a, b)) < 1e-6;
}

/* Why the joints cannot be one; NULL if they can. */
static const char *find_obstacle(const joint_group *g)
{
  int balls = 0;
  for (int i = 0; i < g->count; i++) {
    const poli_mjcf_joint *a = &g->joints[i];
    balls += a->kind == POLI_BALL;
    if (a->kind == POLI_FREE) return "has a free joint beside other joints";
    for (int k = 0; k < i; k++) {
      const poli_mjcf_joint *b = &g->joints[k]; /* b is before a */
      double between[3];
      poli_v3_subtract(a->position, b->position, between);
      if (a->kind != POLI_SLIDE && b->kind != POLI_SLIDE &&
          sqrt(poli_v3_dot(between, between)) > 1e-9)
        return "has several joints that turn it, but not about one point";
      if (a->kind == POLI_SLIDE && b->kind == POLI_BALL) return "has a slide after a ball joint";
      if (a->kind == POLI_SLIDE && b->kind == POLI_HINGE && !are_parallel(a->axis, b->axis))
        return "has a slide that is turned by a hinge before it";
      if (a->kind == b->kind && a->kind != POLI_BALL && !are_perpendicular(a->axis, b->axis))
        return "has several joints whose axes are not perpendicular";
      if (a->kind != b->kind && a->kind != POLI_BALL && b->kind != POLI_BALL && g->num_hinges < 3 &&
          !are_parallel(a->axis, b->axis) && !are_perpendicular(a->axis, b->axis))
        return "has a slide that is neither parallel nor perpendicular to a hinge";
    }
  }
  if (balls > 1 || (balls == 1 && g->num_hinges > 0)) return "has a ball joint beside hinges";
  return g->num_slides > 3 || g->num_hinges > 3 ? "has more than three slides or hinges" : NULL;
}

/* x and y of the frame from two directions, of which the second may be any. */
static void set_frame(const double x[3], const double near_y[3], double R[9])
{
  double y[3], z[3], other[3] = {0.0, 0.0, 0.0};
  int least = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(x[i]) < fabs(x[least])) least = i;
  other[least] = 1.0;
  poli_v3_copy(near_y ? near_y : other, y);
  poli_v3_add_scaled(-poli_v3_dot(x, y), x, y);
  poli_v3_scale(1.0 / sqrt(poli_v3_dot(y, y)), y, y);
  poli_v3_cross(x, y, z);
  for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
}

/* The frame: one hinge is about z, two are about x and y; slides are along the axes. */
static void choose_frame(joint_group *g)
{
  const double *hinges[6] = {NULL}, *slides[6] = {NULL}, x_axis[3] = {1.0, 0.0, 0.0};
  int n = 0, s = 0;
  for (int i = 0; i < g->count; i++) {
    const poli_mjcf_joint *j = &g->joints[i];
    if (j->kind == POLI_HINGE) hinges[n++] = j->start_axis;
    if (j->kind == POLI_SLIDE) slides[s++] = j->start_axis;
    if (j->kind != POLI_SLIDE || i == 0) poli_v3_copy(j->start_position, g->position);
  }
  if (n == 2) {
    set_frame(hinges[0], hinges[1], g->frame);
  } else if (n == 1) {
    const double *across = NULL;
    for (int i = 0; i < s && !across; i++)
      if (!are_parallel(slides[i], hinges[0])) across = slides[i];
    double turned[9]; /* x there is the hinge, y across */
    set_frame(hinges[0], across, turned);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) g->frame[3 * i + k] = turned[3 * i + (k + 1) % 3];
  } else {
    set_frame(s > 0 ? slides[0] : x_axis, s > 1 ? slides[1] : NULL, g->frame);
  }
  for (int i = 0; i < g->count; i++) {
    poli_mjcf_joint *j = &g->joints[i];
    double in_frame[3];
    poli_m3_apply_transposed(g->frame, j->start_axis, in_frame);
    int largest = 0;
    for (int k = 1; k < 3; k++)
      if (fabs(in_frame[k]) > fabs(in_frame[largest])) largest = k;
    g->axis_of[i] = largest;
    if (j->kind == POLI_SLIDE) j->sign = in_frame[largest] < 0.0 ? -1.0 : 1.0;
  }
}

/* The type of joint that has these motions; NULL: all of them are free. */
static const char *choose_type(const joint_group *g)
{
  int across = 0; /* slides that are not along z */
  for (int i = 0; i < g->count; i++)
    across += g->joints[i].kind == POLI_SLIDE && g->axis_of[i] != 2;
  const int s = g->num_slides, n = g->num_hinges;
  if (g->is_turning) return s == 3 ? NULL : s == 0 ? "spherical" : "generic";
  if (s == 0 && n == 1) return "revolute";
  if (s == 1 && n == 0) return "prismatic";
  if (s == 0) return "universal";
  if (s == 1 && n == 1 && across == 0) return "cylindrical";
  return s == 2 && n == 1 && across == 2 ? "planar" : "generic";
}

/* The coordinates of the joint of the model that those of the group are. */
static void choose_coordinates(joint_group *g, const char *type)
{
  static const char *const along[] = {"translation-x", "translation-y", "translation-z"};
  static const char *const values[] = {"displacement.x", "displacement.y", "displacement.z"};
  static const char *const rates[] = {"speed.x", "speed.y", "speed.z"};
  const int plain = strcmp(type, "prismatic") == 0 || strcmp(type, "cylindrical") == 0;
  for (int i = 0; i < g->count; i++) {
    poli_mjcf_joint *j = &g->joints[i];
    if (j->kind == POLI_SLIDE && plain)
      j->coordinate = "translation", j->value = "displacement", j->rate = "speed";
    else if (j->kind == POLI_SLIDE)
      j->coordinate = along[g->axis_of[i]], j->value = values[g->axis_of[i]],
      j->rate = rates[g->axis_of[i]];
    else if (j->kind == POLI_HINGE && strcmp(type, "universal") == 0)
      j->coordinate = g->axis_of[i] == 0 ? "rotation-1" : "rotation-2",
      j->value = g->axis_of[i] == 0 ? "angle.1" : "angle.2",
      j->rate = g->axis_of[i] == 0 ? "rate.1" : "rate.2";
    else if (j->kind == POLI_HINGE && g->num_hinges == 1)
      j->coordinate = "rotation", j->value = "angle", j->rate = "rate";
  }
}

/* Spring, damper, stops and friction of a joint, in an object of the model. */
static void set_laws(poli_mjcf *m, const poli_mjcf_joint *j, json_t *object)
{
  int failed = 0;
  if (j->stiffness > 0.0) {
    failed |= json_object_set_new(object, "stiffness", json_real(j->stiffness));
    failed |=
        json_object_set_new(object, "rest", json_real(j->sign * (j->rest - j->ref - j->start)));
  }
  if (j->damping > 0.0) failed |= json_object_set_new(object, "damping", json_real(j->damping));
  if (j->armature > 0.0) failed |= json_object_set_new(object, "armature", json_real(j->armature));
  if (j->friction > 0.0)
    failed |= json_object_set_new(object, "friction", json_pack("{s:f}", "level", j->friction));
  double ends[2];
  for (int i = 0; i < 2; i++)
    ends[i] = j->sign * (j->limits[j->sign > 0.0 ? i : 1 - i] - j->ref - j->start);
  if (isfinite(ends[0]) && ends[0] <= 0.0 && ends[1] >= 0.0 && ends[0] < ends[1])
    failed |= json_object_set_new(object, "limits",
                                  json_pack("{s:f, s:f}", "min", ends[0], "max", ends[1]));
  else if (isfinite(ends[0]))
    poli_robot_note(m->robot, "%s: its range is not used: it does not contain the start", j->path);
  if (failed) m->robot->status = POL_NO_MEMORY;
}

/* Laws of joints that have no coordinate in the model are left out. */
static void note_lost_laws(poli_mjcf *m, const poli_mjcf_joint *j)
{
  if (j->stiffness > 0.0 || j->damping > 0.0 || j->armature > 0.0 || j->friction > 0.0 ||
      (isfinite(j->limits[0]) && j->kind != POLI_BALL))
    poli_robot_note(
        m->robot,
        "%s: its stiffness, damping, armature, frictionloss and range are not used: the "
        "joint of the model has no such coordinate",
        j->path);
}

static json_t *locked_json(const joint_group *g)
{
  static const char *const names[] = {"x", "y", "z", "rotation-x", "rotation-y", "rotation-z"};
  int is_free[6] = {0};
  for (int i = 0; i < g->count; i++)
    is_free[g->axis_of[i] + (g->joints[i].kind == POLI_SLIDE ? 0 : 3)] = 1;
  json_t *list = json_array();
  for (int i = 0; list && i < 6; i++)
    if (!is_free[i] && !(i >= 3 && g->is_turning))
      json_array_append_new(list, json_string(names[i]));
  return list;
}

/* Adds the joint of a group: by point and axis, or, if it has several coordinates, by markers. */
static void add_group(poli_mjcf *m, const poli_mjcf_body *b, joint_group *g, const char *type,
                      const char *name)
{
  poli_robot *robot = m->robot;
  const poli_mjcf_body *parent = &m->bodies[m->bodies[b->parent].first];
  poli_pose pose = {.position = {g->position[0], g->position[1], g->position[2]}};
  poli_m3_copy(g->frame, pose.R);
  poli_pose_product(&b->pose, &pose, &pose);
  json_t *item = json_pack("{s:s, s:s}", "name", name, "type", type);
  int failed = !item;
  if (g->count == 1) {
    double axis[3];
    poli_m3_apply(b->pose.R, g->joints[0].start_axis, axis);
    failed |=
        json_object_set_new(item, "bodies", json_pack("[s, s]", parent->model_name, b->model_name));
    failed |= json_object_set_new(item, "point", poli_json_numbers(pose.position, 3));
    if (!g->is_turning) failed |= json_object_set_new(item, "axis", poli_json_numbers(axis, 3));
    if (!failed && !g->is_turning) set_laws(m, &g->joints[0], item);
  } else {
    char *markers[2] = {NULL, NULL};
    const poli_mjcf_body *ends[2] = {parent, b};
    for (int i = 0; i < 2; i++) {
      char *wanted = poli_format("%s_%s", name, i ? "child" : "parent");
      poli_pose own;
      poli_pose_between(&ends[i]->frame, &pose, &own);
      if (wanted) markers[i] = poli_robot_name(robot, "markers", wanted, "marker", b->path);
      if (markers[i])
        poli_robot_add(robot, "markers",
                       json_pack("{s:s, s:s, s:o, s:o}", "name", markers[i], "body",
                                 ends[i]->model_name, "position",
                                 poli_json_numbers(own.position, 3), "rotation",
                                 poli_json_rotation(own.R)));
      free(wanted);
    }
    failed |= !markers[0] || !markers[1] ||
              json_object_set_new(item, "markers", json_pack("[s, s]", markers[0], markers[1]));
    free(markers[0]);
    free(markers[1]);
    if (strcmp(type, "generic") == 0) failed |= json_object_set_new(item, "locked", locked_json(g));
    json_t *coordinates = json_object();
    for (int i = 0; i < g->count && coordinates && !failed; i++) {
      json_t *laws = g->joints[i].coordinate ? json_object() : NULL;
      if (laws) set_laws(m, &g->joints[i], laws);
      if (laws && json_object_size(laws) > 0)
        failed |= json_object_set(coordinates, g->joints[i].coordinate, laws);
      json_decref(laws);
    }
    if (json_object_size(coordinates) > 0)
      failed |= json_object_set(item, "coordinates", coordinates);
    json_decref(coordinates);
  }
  if (failed) robot->status = POL_NO_MEMORY;
  poli_robot_add(robot, "joints", item);
}

static void add_body_joint(poli_mjcf *m, poli_mjcf_body *b)
{
  poli_robot *robot = m->robot;
  joint_group g = {.joints = &m->joints[b->first_joint], .count = b->num_joints};
  if (g.count == 1 && g.joints[0].kind == POLI_FREE) {
    if (b->parent != 0)
      poli_robot_error(robot, b->at, b->path, "", "has a free joint, but is not in the world", "");
    return;
  }
  for (int i = 0; i < g.count; i++) {
    g.num_slides += g.joints[i].kind == POLI_SLIDE;
    g.num_hinges += g.joints[i].kind == POLI_HINGE;
    g.is_turning |= g.joints[i].kind == POLI_BALL;
  }
  g.is_turning |= g.num_hinges == 3;
  const char *obstacle = g.count > 6 ? "has more than six joints" : find_obstacle(&g);
  if (obstacle) {
    poli_robot_error(robot, g.joints[0].at, b->path, "", obstacle, "");
    return;
  }
  choose_frame(&g);
  const char *type = choose_type(&g);
  char *wanted = g.count == 1 && g.joints[0].name[0] ? poli_format("%s", g.joints[0].name)
                                                     : poli_format("%s_joint", b->model_name);
  char *name =
      wanted ? poli_robot_name(robot, "elements", wanted, "joint", g.joints[0].path) : NULL;
  free(wanted);
  if (!name) {
    robot->status = POL_NO_MEMORY;
    return;
  }
  if (type) {
    choose_coordinates(&g, type);
    add_group(m, b, &g, type, name);
  }
  if (g.count > 1)
    poli_robot_note(robot, "the %d joints of %s are one in the model: %s%s%s%s", g.count, b->path,
                    type ? type : "it is free", type ? " '" : "", type ? name : "",
                    type ? "'" : "");
  for (int i = 0; i < g.count && !robot->status; i++) {
    if (!g.joints[i].coordinate) note_lost_laws(m, &g.joints[i]);
    g.joints[i].model_name = poli_format("%s", name);
    if (!g.joints[i].model_name) robot->status = POL_NO_MEMORY;
  }
  free(name);
}

void poli_mjcf_add_joints(poli_mjcf *m)
{
  for (int i = 1; i < m->num_bodies && !m->robot->status; i++)
    if (m->bodies[i].num_joints > 0) add_body_joint(m, &m->bodies[i]);
}

/* --- equalities ------------------------------------------------------------------------------- */

/* The body of the model that an attribute names, or the world without it; NULL with an error. */
static poli_mjcf_body *find_end(poli_mjcf *m, const xmlNode *at, const char *name, const char *path)
{
  char *body = poli_mjcf_text(m, at, name);
  const int found = body ? poli_mjcf_find(m->body_numbers, body) : 0;
  if (found < 0) poli_robot_error(m->robot, at, path, body, "must name a body", "");
  if (body) xmlFree(body);
  return found < 0 ? NULL : &m->bodies[found];
}

/* How far two bodies are at the start from where an equality holds them, which is their relative
 * position with all joints at zero: of the anchor of the first; for a weld also of its axes. */
static double find_gap(const poli_mjcf_body *a, const poli_mjcf_body *b, const double anchor[3],
                       int is_weld)
{
  poli_pose zero, start;
  double was[3], is[3], sum = 0.0;
  poli_pose_between(&b->zero_pose, &a->zero_pose, &zero);
  poli_pose_between(&b->pose, &a->pose, &start);
  poli_m3_apply(zero.R, anchor, was);
  poli_m3_apply(start.R, anchor, is);
  for (int i = 0; i < 3; i++) {
    const double d = is[i] + start.position[i] - was[i] - zero.position[i];
    sum += d * d;
  }
  for (int i = 0; i < 9 && is_weld; i++) sum += (start.R[i] - zero.R[i]) * (start.R[i] - zero.R[i]);
  return sqrt(sum);
}

/* connect: the anchor of both bodies stays together; weld: both stay as they are at the start. */
static void add_connection(poli_mjcf *m, const xmlNode *at, const char *path, const char *name,
                           int is_weld)
{
  const int before = m->robot->errors->count;
  const poli_mjcf_body *a = find_end(m, at, "body1", path), *b = find_end(m, at, "body2", path);
  double anchor[3] = {0.0, 0.0, 0.0}, point[3];
  poli_mjcf_numbers(m, at, "anchor", path, 3, 3, anchor);
  if (m->robot->errors->count > before || !a || !b) return;
  if (a->first == b->first) {
    poli_robot_note(m->robot, "%s is not used: its bodies are fixed to each other", path);
    return;
  }
  poli_m3_apply(a->pose.R, anchor, point);
  poli_v3_add(a->pose.position, point, point);
  const double gap = find_gap(a, b, anchor, is_weld);
  char *rule = gap > 1e-6 ? poli_format("does not hold where the joints start: its bodies are %.3g "
                                        "off (m or rad)",
                                        gap)
                          : NULL;
  if (rule) poli_robot_error(m->robot, at, path, "", rule, "");
  free(rule);
  poli_robot_add(m->robot, "joints",
                 json_pack("{s:s, s:s, s:[s, s], s:o}", "name", name, "type",
                           is_weld ? "fixed" : "spherical", "bodies",
                           m->bodies[a->first].model_name, m->bodies[b->first].model_name, "point",
                           poli_json_numbers(point, 3)));
}

/* q1 - ref1 = a0 + a1 (q2 - ref2), with q - ref = start + sign c. */
static void add_coupling(poli_mjcf *m, const xmlNode *at, const char *path, const char *name)
{
  static const char *const keys[2] = {"joint1", "joint2"};
  const poli_mjcf_joint *pair[2] = {NULL, NULL};
  double polynomial[5] = {0.0, 1.0, 0.0, 0.0, 0.0};
  poli_mjcf_numbers(m, at, "polycoef", path, 1, 5, polynomial);
  for (int i = 0; i < 2; i++) {
    char *joint = poli_mjcf_text(m, at, keys[i]);
    const int found = poli_mjcf_find(m->joint_numbers, joint);
    if (joint && found < 0) poli_robot_error(m->robot, at, path, joint, "must name a joint", "");
    if (joint && found >= 0) pair[i] = &m->joints[found];
    if (joint) xmlFree(joint);
    if (joint && found < 0) return;
  }
  const char *reason = NULL;
  if (!pair[0] || !pair[1]) reason = "it does not have two joints";
  if (polynomial[1] == 0.0 || polynomial[2] != 0.0 || polynomial[3] != 0.0 || polynomial[4] != 0.0)
    reason = "its polynomial is not linear";
  for (int i = 0; i < 2 && !reason; i++)
    if (!pair[i]->coordinate || (strcmp(pair[i]->coordinate, "rotation") != 0 &&
                                 strcmp(pair[i]->coordinate, "translation") != 0))
      reason = "one of its joints has no coordinate that can be coupled";
  if (reason) {
    poli_robot_note(m->robot, "%s is not used: %s", path, reason);
    return;
  }
  const double reference[2] = {pair[0]->sign * (polynomial[0] - pair[0]->start),
                               -pair[1]->sign * pair[1]->start};
  poli_robot_add(m->robot, "couplings",
                 json_pack("{s:s, s:[s, s], s:[s, s], s:[f, f], s:[f, f]}", "name", name, "joints",
                           pair[0]->model_name, pair[1]->model_name, "coordinates",
                           pair[0]->coordinate, pair[1]->coordinate, "factors", pair[0]->sign,
                           -polynomial[1] * pair[1]->sign, "reference", reference[0],
                           reference[1]));
}

void poli_mjcf_add_equalities(poli_mjcf *m)
{
  poli_robot *robot = m->robot;
  for (const xmlNode *list = poli_xml_child(m->top, "equality"); list; list = poli_xml_next(list))
    for (const xmlNode *at = list->children; at && !robot->status; at = at->next) {
      if (at->type != XML_ELEMENT_NODE) continue;
      const char *kind = (const char *)at->name;
      if (strcmp(kind, "tendon") == 0) continue; /* with the tendons */
      char *path = poli_mjcf_path(m, at, -1), *own = poli_xml_text(at, "name"), *name = NULL;
      const int is_weld = strcmp(kind, "weld") == 0, is_connect = strcmp(kind, "connect") == 0;
      const int has_sites = xmlHasProp(at, (const xmlChar *)"site1") != NULL;
      const int is_known = strcmp(kind, "joint") == 0 || ((is_weld || is_connect) && !has_sites);
      const int is_placed = is_weld && xmlHasProp(at, (const xmlChar *)"relpose");
      if (path && (!is_known || is_placed || poli_mjcf_is(m, at, "active", "false", 0)))
        poli_robot_note(robot, "equality: <%s> in line %ld is not used", kind,
                        xmlGetLineNo((xmlNode *)(uintptr_t)at));
      else if (path &&
               (name = poli_robot_name(robot, "elements", own ? own : kind, "equality", path))) {
        if (is_weld || is_connect)
          add_connection(m, at, path, name, is_weld);
        else
          add_coupling(m, at, path, name);
      }
      if (own) xmlFree(own);
      free(path);
      free(name);
    }
}
