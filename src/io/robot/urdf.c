/* URDF (the Unified Robot Description Format of ROS): links, joints, limits, damping, friction,
 * mimic joints, shapes.  Joint coordinates are zero where the file's are, except that a joint whose
 * limits do not contain zero starts at the nearest one, and a mimic joint where it has to be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/robot/robot.h"
#include "lie/small.h"

typedef struct link {
  const xmlNode *at;
  char *name, *path; /* path: "link 'arm'" */
  int joint;         /* the joint that leads to it; -1: the first link */
  int body;          /* the link whose body it is part of: itself, or the one it is fixed to */
  int visited;
  poli_pose pose; /* global, at the start */
  /* of the link alone, in its own axes */
  double mass, center[3], inertia[9];
} link;

typedef enum joint_kind { FIXED, REVOLUTE, PRISMATIC, PLANAR, FLOATING } joint_kind;

typedef struct joint {
  const xmlNode *at;
  char *name, *path;
  joint_kind kind;
  int links[2]; /* parent, child */
  poli_pose origin;
  double axis[3];
  double limits[2]; /* infinite if there are none */
  double damping, friction;
  int mimics; /* joint, or -1 */
  double multiplier, offset;
  double start; /* of the coordinate */
  int placed;   /* start is known */
} joint;

typedef struct urdf {
  poli_robot *robot;
  const xmlNode *top;
  int num_links, num_joints, root;
  link *links;
  joint *joints;
} urdf;

/* --- links
 * ------------------------------------------------------------------------------------------ */

static void read_origin(urdf *u, const xmlNode *owner, const char *path, poli_pose *pose)
{
  const xmlNode *origin = poli_xml_child(owner, "origin");
  double rpy[3] = {0.0, 0.0, 0.0};
  *pose = poli_pose_identity;
  if (!origin) return;
  poli_xml_numbers(u->robot, origin, "xyz", path, 3, pose->position);
  poli_xml_numbers(u->robot, origin, "rpy", path, 3, rpy);
  poli_pose_set_rpy(rpy, pose->R);
}

/* A number of a child element, such as <mass value="3"/>; 0 if there is none. */
static double child_number(urdf *u, const xmlNode *owner, const char *child, const char *name,
                           const char *path)
{
  const xmlNode *found = poli_xml_child(owner, child);
  double x = 0.0;
  if (found) poli_xml_numbers(u->robot, found, name, path, 1, &x);
  return x;
}

/* Mass, centre and inertia about it, all in the axes of the link. */
static void read_inertial(urdf *u, link *l)
{
  const xmlNode *inertial = poli_xml_child(l->at, "inertial");
  if (!inertial) return;
  static const char *const keys[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
  static const int places[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  const xmlNode *inertia = poli_xml_child(inertial, "inertia");
  double J[9] = {0.0}, turned[9];
  poli_pose pose;
  read_origin(u, inertial, l->path, &pose);
  l->mass = child_number(u, inertial, "mass", "value", l->path);
  for (int k = 0; inertia && k < 6; k++) {
    double x = 0.0;
    poli_xml_numbers(u->robot, inertia, keys[k], l->path, 1, &x);
    J[3 * places[k][0] + places[k][1]] = J[3 * places[k][1] + places[k][0]] = x;
  }
  if (l->mass < 0.0) poli_robot_error(u->robot, inertial, l->path, "", "has a negative mass", "");
  for (int i = 0; i < 3; i++)
    if (J[4 * i] < 0.0) {
      poli_robot_error(u->robot, inertial, l->path, "", "has a negative moment of inertia", "");
      break;
    }
  poli_v3_copy(pose.position, l->center);
  poli_m3_multiply(pose.R, J, turned);
  poli_m3_multiply_by_transposed(turned, pose.R, l->inertia);
}

/* --- joints
 * ------------------------------------------------------------------------------------------ */

static int find_link(const urdf *u, const char *name)
{
  for (int i = 0; name && i < u->num_links; i++)
    if (strcmp(u->links[i].name, name) == 0) return i;
  return -1;
}

static int find_joint(const urdf *u, const char *name)
{
  for (int i = 0; name && i < u->num_joints; i++)
    if (strcmp(u->joints[i].name, name) == 0) return i;
  return -1;
}

/* Parent or child of a joint: the number of the link, or -1 with an error. */
static int read_end(urdf *u, const joint *j, const char *which)
{
  const xmlNode *end = poli_xml_child(j->at, which);
  char *name = end ? poli_xml_text(end, "link") : NULL;
  const int found = find_link(u, name);
  if (found < 0) {
    char *rule = poli_format(name ? "has the %s '%s', which is no link" : "has no %s", which,
                             name ? name : "");
    pol_near near = pol_near_start(name ? name : "");
    for (int i = 0; i < u->num_links; i++) pol_near_try(&near, u->links[i].name);
    if (rule)
      poli_robot_error(u->robot, j->at, j->path, "", rule, near.best);
    else
      u->robot->status = POL_NO_MEMORY;
    free(rule);
  }
  if (name) xmlFree(name);
  return found;
}

static void read_kind(urdf *u, joint *j)
{
  static const char *const names[] = {"fixed",  "revolute", "prismatic",
                                      "planar", "floating", "continuous"};
  static const joint_kind kinds[] = {FIXED, REVOLUTE, PRISMATIC, PLANAR, FLOATING, REVOLUTE};
  char *type = poli_xml_text(j->at, "type");
  int k = 0;
  while (k < 6 && (!type || strcmp(names[k], type) != 0)) k++;
  if (k < 6) {
    j->kind = kinds[k];
  } else {
    pol_near near = pol_near_start(type ? type : "");
    for (int i = 0; i < 6; i++) pol_near_try(&near, names[i]);
    poli_robot_error(
        u->robot, j->at, j->path, type ? type : "",
        "has no valid type: fixed, revolute, continuous, prismatic, planar or floating", near.best);
  }
  const xmlNode *limit = k == 1 || k == 2 ? poli_xml_child(j->at, "limit") : NULL;
  if (limit) {
    const int has_low = poli_xml_numbers(u->robot, limit, "lower", j->path, 1, &j->limits[0]);
    const int has_high = poli_xml_numbers(u->robot, limit, "upper", j->path, 1, &j->limits[1]);
    if (has_low != has_high) j->limits[has_low ? 1 : 0] = 0.0; /* what URDF says of missing ones */
    if (j->limits[0] > j->limits[1])
      poli_robot_error(u->robot, limit, j->path, "", "has a lower limit above the upper one", "");
    /* both zero is what exporters write for no limits */
    if (j->limits[0] == 0.0 && j->limits[1] == 0.0) {
      j->limits[0] = -HUGE_VAL, j->limits[1] = HUGE_VAL;
      if (has_low)
        poli_robot_note(u->robot, "%s: both limits are zero, which is taken for none", j->path);
    }
  }
  if (type) xmlFree(type);
}

static void read_joint(urdf *u, joint *j)
{
  poli_robot *robot = u->robot;
  j->limits[0] = -HUGE_VAL;
  j->limits[1] = HUGE_VAL;
  j->axis[0] = 1.0;
  j->mimics = -1;
  j->multiplier = 1.0;
  read_kind(u, j);
  j->links[0] = read_end(u, j, "parent");
  j->links[1] = read_end(u, j, "child");
  read_origin(u, j->at, j->path, &j->origin);
  const xmlNode *axis = poli_xml_child(j->at, "axis");
  if (axis) poli_xml_numbers(robot, axis, "xyz", j->path, 3, j->axis);
  const double length = sqrt(poli_v3_dot(j->axis, j->axis));
  if (!(length > 0.0))
    poli_robot_error(robot, axis, j->path, "", "has an axis of length zero", "");
  else
    poli_v3_scale(1.0 / length, j->axis, j->axis);
  j->damping = child_number(u, j->at, "dynamics", "damping", j->path);
  j->friction = child_number(u, j->at, "dynamics", "friction", j->path);
  if (j->damping < 0.0 || j->friction < 0.0)
    poli_robot_error(robot, j->at, j->path, "", "has negative damping or friction", "");
}

static void read_mimic(urdf *u, joint *j)
{
  const xmlNode *mimic = poli_xml_child(j->at, "mimic");
  if (!mimic) return;
  char *name = poli_xml_text(mimic, "joint");
  j->mimics = find_joint(u, name);
  poli_xml_numbers(u->robot, mimic, "multiplier", j->path, 1, &j->multiplier);
  poli_xml_numbers(u->robot, mimic, "offset", j->path, 1, &j->offset);
  const joint *other = j->mimics >= 0 ? &u->joints[j->mimics] : NULL;
  if (!other)
    poli_robot_error(u->robot, mimic, j->path, name ? name : "", "mimics a joint that is not there",
                     "");
  else if (other == j || (j->kind != REVOLUTE && j->kind != PRISMATIC) ||
           (other->kind != REVOLUTE && other->kind != PRISMATIC))
    poli_robot_error(u->robot, mimic, j->path, name,
                     "can mimic another revolute or prismatic joint only", "");
  else if (j->multiplier == 0.0)
    poli_robot_error(u->robot, mimic, j->path, "0", "must have a multiplier other than 0", "");
  if (name) xmlFree(name);
}

/* --- the tree
 * ------------------------------------------------------------------------------------------ */

static int count_children(const xmlNode *top, const char *name)
{
  int count = 0;
  for (const xmlNode *at = poli_xml_child(top, name); at; at = poli_xml_next(at)) count++;
  return count;
}

/* A copy of the name of an element, and how errors call it: "link 'arm'". */
static char *read_name(urdf *u, const xmlNode *at, char **path)
{
  char *name = poli_xml_text(at, "name");
  if (!name || !name[0])
    poli_robot_error(u->robot, at, (const char *)at->name, "", "must have a name", "");
  *path = poli_format("%s '%s'", (const char *)at->name, name ? name : "");
  char *copy = poli_format("%s", name ? name : "");
  if (!*path || !copy) u->robot->status = POL_NO_MEMORY;
  if (name) xmlFree(name);
  return copy;
}

static void read_elements(urdf *u)
{
  poli_robot *robot = u->robot;
  u->num_links = count_children(u->top, "link");
  u->num_joints = count_children(u->top, "joint");
  u->links = calloc((size_t)u->num_links + 1, sizeof *u->links);
  u->joints = calloc((size_t)u->num_joints + 1, sizeof *u->joints);
  if (!u->links || !u->joints) {
    u->num_links = u->num_joints = 0;
    robot->status = POL_NO_MEMORY;
    return;
  }
  int n = 0;
  for (const xmlNode *at = poli_xml_child(u->top, "link"); at; at = poli_xml_next(at), n++) {
    char *path, *name = read_name(u, at, &path);
    u->links[n] = (link){.at = at, .joint = -1, .body = n, .name = name, .path = path};
  }
  n = 0;
  for (const xmlNode *at = poli_xml_child(u->top, "joint"); at; at = poli_xml_next(at), n++) {
    char *path, *name = read_name(u, at, &path);
    u->joints[n] = (joint){.at = at, .name = name, .path = path};
  }
  if (robot->status) return;
  for (int i = 0; i < u->num_links; i++) {
    if (find_link(u, u->links[i].name) < i)
      poli_robot_error(robot, u->links[i].at, u->links[i].path, "",
                       "has a name that is given twice", "");
    read_inertial(u, &u->links[i]);
  }
  for (int i = 0; i < u->num_joints; i++) {
    if (find_joint(u, u->joints[i].name) < i)
      poli_robot_error(robot, u->joints[i].at, u->joints[i].path, "",
                       "has a name that is given twice", "");
    read_joint(u, &u->joints[i]);
  }
  for (int i = 0; i < u->num_joints; i++) read_mimic(u, &u->joints[i]);
}

/* Each link has at most one joint that leads to it; one link has none. */
static void connect(urdf *u)
{
  poli_robot *robot = u->robot;
  for (int i = 0; i < u->num_joints; i++) {
    link *child = &u->links[u->joints[i].links[1]];
    if (child->joint >= 0)
      poli_robot_error(
          robot, u->joints[i].at, u->joints[i].path, child->name,
          "leads to a link that another joint leads to already: closed loops are no URDF", "");
    child->joint = i;
  }
  u->root = -1;
  for (int i = 0; i < u->num_links; i++) {
    if (u->links[i].joint >= 0) continue;
    if (u->root >= 0)
      poli_robot_error(robot, u->links[i].at, u->links[i].path, "",
                       "is not connected: one link only may be without a joint that leads to it",
                       "");
    else
      u->root = i;
  }
  if (u->num_links == 0)
    poli_robot_error(robot, u->top, "robot", "", "must have at least one link", "");
  else if (u->root < 0)
    poli_robot_error(robot, u->top, "robot", "", "has no first link: the joints form a cycle", "");
}

/* The coordinate of a joint at the start, its own or by the one it mimics. */
static double start_of(urdf *u, joint *j, int depth)
{
  if (j->placed) return j->start;
  j->start = fmin(fmax(0.0, j->limits[0]), j->limits[1]);
  if (j->mimics >= 0 && depth < u->num_joints)
    j->start = j->multiplier * start_of(u, &u->joints[j->mimics], depth + 1) + j->offset;
  else if (j->mimics >= 0)
    poli_robot_error(u->robot, j->at, j->path, "", "mimics itself through other joints", "");
  j->placed = 1;
  if (j->start != 0.0)
    poli_robot_note(u->robot, "%s starts at %.6g, where its coordinate in results is 0", j->path,
                    j->start);
  return j->start;
}

/* Follows the tree from the first link on: poses, and bodies of links that are fixed. */
static void place(urdf *u)
{
  int left = u->num_links, moved = 1;
  u->links[u->root].pose = poli_pose_identity;
  u->links[u->root].visited = 1;
  left--;
  while (moved) {
    moved = 0;
    for (int i = 0; i < u->num_joints; i++) {
      joint *j = &u->joints[i];
      const link *parent = &u->links[j->links[0]];
      link *child = &u->links[j->links[1]];
      if (!parent->visited || child->visited) continue;
      poli_pose motion = poli_pose_identity;
      const double start = j->kind == REVOLUTE || j->kind == PRISMATIC ? start_of(u, j, 0) : 0.0;
      if (j->kind == REVOLUTE) poli_pose_set_axis(j->axis, start, motion.R);
      if (j->kind == PRISMATIC) poli_v3_scale(start, j->axis, motion.position);
      poli_pose_product(&parent->pose, &j->origin, &child->pose);
      poli_pose_product(&child->pose, &motion, &child->pose);
      if (j->kind == FIXED) child->body = parent->body;
      child->visited = moved = 1;
      left--;
    }
  }
  for (int i = 0; i < u->num_links && left > 0; i++)
    if (!u->links[i].visited)
      poli_robot_error(u->robot, u->links[i].at, u->links[i].path, "",
                       "cannot be reached from the first link: the joints form a cycle", "");
}

/* --- the model
 * ------------------------------------------------------------------------------------------ */

/* The ground has no mass and its own frame; other bodies have that of their first link, about the
 * centre of mass of all links. */
static int is_ground(const urdf *u, int link_number)
{
  return link_number == u->root && !u->robot->options.floating;
}

/* Where the centre of mass of a link is in the frame of another one, and how its axes are turned.
 */
static void center_in(const link *first, const link *l, double x[3], double R[9])
{
  poli_pose own;
  poli_pose_between(&first->pose, &l->pose, &own);
  poli_m3_apply(own.R, l->center, x);
  poli_v3_add(own.position, x, x);
  poli_m3_copy(own.R, R);
}

/* Mass, inertia about the centre of mass in the axes of the first link, and the global frame. */
static double sum_masses(const urdf *u, int body, double inertia[9], poli_pose *frame)
{
  const link *first = &u->links[body];
  double mass = 0.0, center[3] = {0.0, 0.0, 0.0}, x[3], R[9];
  memset(inertia, 0, 9 * sizeof *inertia);
  *frame = first->pose;
  if (is_ground(u, body)) {
    *frame = poli_pose_identity;
    return 0.0;
  }
  for (int i = 0; i < u->num_links; i++) {
    const link *l = &u->links[i];
    if (l->body != body) continue;
    center_in(first, l, x, R);
    mass += l->mass;
    poli_v3_add_scaled(l->mass, x, center);
  }
  if (mass > 0.0) poli_v3_scale(1.0 / mass, center, center);
  for (int i = 0; i < u->num_links; i++) {
    const link *l = &u->links[i];
    double turned[9], J[9];
    if (l->body != body) continue;
    center_in(first, l, x, R);
    poli_v3_subtract(x, center, x);
    poli_m3_multiply(R, l->inertia, turned);
    poli_m3_multiply_by_transposed(turned, R, J);
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        inertia[3 * a + b] +=
            J[3 * a + b] + l->mass * ((a == b ? poli_v3_dot(x, x) : 0.0) - x[a] * x[b]);
  }
  poli_m3_apply(first->pose.R, center, x);
  poli_v3_add(first->pose.position, x, frame->position);
  return mass;
}

/* The colour of a visual: its own material, or the one of that name; -1 if it has none. */
static int color_of(urdf *u, const xmlNode *visual, const char *path)
{
  const xmlNode *material = poli_xml_child(visual, "material");
  const xmlNode *color = material ? poli_xml_child(material, "color") : NULL;
  char *name = material && !color ? poli_xml_text(material, "name") : NULL;
  for (const xmlNode *m = name ? poli_xml_child(u->top, "material") : NULL; m && !color;
       m = poli_xml_next(m)) {
    char *known = poli_xml_text(m, "name");
    if (known && strcmp(known, name) == 0) color = poli_xml_child(m, "color");
    if (known) xmlFree(known);
  }
  double rgba[4];
  int number = -1;
  if (color && poli_xml_numbers(u->robot, color, "rgba", path, 4, rgba)) {
    number = 0;
    for (int i = 0; i < 3; i++)
      number = 256 * number + (int)lround(255.0 * fmin(fmax(rgba[i], 0.0), 1.0));
  }
  if (name) xmlFree(name);
  return number;
}

/* The shape of a geometry without its place; NULL if there is none that can be shown. */
static json_t *geometry_json(urdf *u, const xmlNode *geometry, const link *l)
{
  poli_robot *robot = u->robot;
  const xmlNode *box = poli_xml_child(geometry, "box"),
                *cylinder = poli_xml_child(geometry, "cylinder");
  const xmlNode *sphere = poli_xml_child(geometry, "sphere"),
                *mesh = poli_xml_child(geometry, "mesh");
  double size[3] = {0.0, 0.0, 0.0};
  if (box && poli_xml_numbers(robot, box, "size", l->path, 3, size))
    return json_pack("{s:s, s:o}", "type", "box", "size", poli_json_numbers(size, 3));
  if (cylinder && poli_xml_numbers(robot, cylinder, "radius", l->path, 1, size) &&
      poli_xml_numbers(robot, cylinder, "length", l->path, 1, size + 1))
    return json_pack("{s:s, s:f, s:f}", "type", "cylinder", "radius", size[0], "length", size[1]);
  if (sphere && poli_xml_numbers(robot, sphere, "radius", l->path, 1, size))
    return json_pack("{s:s, s:f}", "type", "sphere", "radius", size[0]);
  char *name = mesh ? poli_xml_text(mesh, "filename") : NULL;
  if (!name) return NULL;
  double scale[3] = {1.0, 1.0, 1.0};
  poli_xml_numbers(robot, mesh, "scale", l->path, 3, scale);
  char *file = poli_robot_mesh(robot, name, l->path);
  xmlFree(name);
  json_t *shape = NULL;
  if (file && (scale[0] != scale[1] || scale[0] != scale[2] || !(scale[0] > 0.0)))
    poli_robot_note(robot, "%s: mesh \"%s\" is not shown: its scale differs between the axes",
                    l->path, file);
  else if (file)
    shape = json_pack("{s:s, s:s, s:f}", "type", "mesh", "file", file, "scale", scale[0]);
  free(file);
  return shape;
}

/* Adds the shapes of a link to a list, as seen from the frame of its body. */
static void add_shapes(urdf *u, const link *l, const poli_pose *frame, json_t *shapes)
{
  const xmlNode *visual = poli_xml_child(l->at, "visual");
  if (!visual) visual = poli_xml_child(l->at, "collision");
  for (; visual && !u->robot->status; visual = poli_xml_next(visual)) {
    const xmlNode *geometry = poli_xml_child(visual, "geometry");
    json_t *shape = geometry ? geometry_json(u, geometry, l) : NULL;
    if (!shape) continue;
    poli_pose own;
    read_origin(u, visual, l->path, &own);
    poli_pose_product(&l->pose, &own, &own);
    poli_pose_between(frame, &own, &own);
    json_object_set_new(shape, "position", poli_json_numbers(own.position, 3));
    json_object_set_new(shape, "rotation", poli_json_rotation(own.R));
    const int color = color_of(u, visual, l->path);
    if (color >= 0) {
      char text[16];
      snprintf(text, sizeof text, "#%06x", (unsigned)color);
      json_object_set_new(shape, "color", json_string(text));
    }
    if (json_array_append_new(shapes, shape)) u->robot->status = POL_NO_MEMORY;
  }
}

static void add_body(urdf *u, int body)
{
  poli_robot *robot = u->robot;
  const link *first = &u->links[body];
  double inertia[9];
  poli_pose frame;
  const double mass = sum_masses(u, body, inertia, &frame);
  const char *name = is_ground(u, body) ? "ground" : first->name;
  json_t *shapes = json_array();
  for (int i = 0; i < u->num_links; i++) {
    const link *l = &u->links[i];
    if (l->body != body) continue;
    add_shapes(u, l, &frame, shapes);
    if (i == body && !is_ground(u, body)) continue;
    poli_pose own; /* a link that is part of another body is a marker there */
    poli_pose_between(&frame, &l->pose, &own);
    poli_robot_add(robot, "markers",
                   json_pack("{s:s, s:s, s:o, s:o}", "name", l->name, "body", name, "position",
                             poli_json_numbers(own.position, 3), "rotation",
                             poli_json_rotation(own.R)));
  }
  if (is_ground(u, body)) {
    if (first->mass > 0.0)
      poli_robot_note(robot, "%s is the ground: its mass has no effect", first->path);
    if (json_object_set_new(robot->model, "shapes", shapes)) robot->status = POL_NO_MEMORY;
    return;
  }
  if (!(mass > 0.0))
    poli_robot_error(
        robot, first->at, first->path, "",
        "has no mass, but a joint moves it: give it <inertial>, or fix it to another link", "");
  json_t *rows = json_pack("[o, o, o]", poli_json_numbers(inertia, 3),
                           poli_json_numbers(inertia + 3, 3), poli_json_numbers(inertia + 6, 3));
  poli_robot_add(robot, "bodies",
                 json_pack("{s:s, s:f, s:o, s:o, s:o, s:o}", "name", name, "mass", mass, "inertia",
                           rows, "position", poli_json_numbers(frame.position, 3), "rotation",
                           poli_json_rotation(frame.R), "shapes", shapes));
}

/* The name of a joint in the model; bodies and joints share one list of names. */
static char *joint_name(const urdf *u, const joint *j)
{
  return find_link(u, j->name) < 0 ? poli_format("%s", j->name) : poli_format("%s_joint", j->name);
}

static void add_joint(urdf *u, joint *j)
{
  static const char *const types[] = {
      [REVOLUTE] = "revolute", [PRISMATIC] = "prismatic", [PLANAR] = "planar"};
  poli_robot *robot = u->robot;
  const int ends[2] = {u->links[j->links[0]].body, u->links[j->links[1]].body};
  const link *child = &u->links[j->links[1]];
  if (j->kind == FIXED || j->kind == FLOATING) return;
  double axis[3];
  char *name = joint_name(u, j);
  poli_m3_apply(child->pose.R, j->axis, axis);
  json_t *item = json_pack(
      "{s:s, s:s, s:[s, s], s:o, s:o}", "name", name, "type", types[j->kind], "bodies",
      is_ground(u, ends[0]) ? "ground" : u->links[ends[0]].name, u->links[ends[1]].name, "point",
      poli_json_numbers(child->pose.position, 3), "axis", poli_json_numbers(axis, 3));
  if (name && strcmp(name, j->name) != 0)
    poli_robot_note(robot, "%s is called '%s': a link has its name", j->path, name);
  if (item && j->damping > 0.0 && j->kind != PLANAR)
    json_object_set_new(item, "damping", json_real(j->damping));
  if (item && j->friction > 0.0 && j->kind != PLANAR)
    json_object_set_new(item, "friction", json_pack("{s:f}", "level", j->friction));
  /* a joint that follows another one cannot be stopped by itself */
  if (item && j->mimics < 0 && (isfinite(j->limits[0]) || isfinite(j->limits[1]))) {
    json_t *limits = json_object();
    for (int i = 0; i < 2; i++)
      if (isfinite(j->limits[i]))
        json_object_set_new(limits, i ? "max" : "min", json_real(j->limits[i] - j->start));
    json_object_set_new(item, "limits", limits);
  }
  poli_robot_add(robot, "joints", item);
  free(name);
}

/* q - start = multiplier (q_other - start_other) */
static void add_mimic(urdf *u, const joint *j)
{
  const joint *pair[2] = {j, &u->joints[j->mimics]};
  char *names[2] = {joint_name(u, pair[0]), joint_name(u, pair[1])},
       *name = poli_format("%s_mimic", j->name);
  const char *kinds[2];
  for (int i = 0; i < 2; i++) kinds[i] = pair[i]->kind == REVOLUTE ? "rotation" : "translation";
  poli_robot_add(u->robot, "couplings",
                 json_pack("{s:s, s:[s, s], s:[s, s], s:[f, f], s:[f, f]}", "name", name, "joints",
                           names[0], names[1], "coordinates", kinds[0], kinds[1], "factors", 1.0,
                           -j->multiplier, "reference", 0.0, 0.0));
  free(names[0]);
  free(names[1]);
  free(name);
}

void poli_read_urdf(poli_robot *robot, const xmlNode *top)
{
  urdf u = {.robot = robot, .top = top};
  char *name = poli_xml_text(top, "name");
  const double gravity[3] = {0.0, 0.0, -9.81};
  json_object_set_new(robot->model, "name", json_string(name ? name : ""));
  json_object_set_new(robot->model, "gravity", poli_json_numbers(gravity, 3));
  if (name) xmlFree(name);
  for (const xmlNode *at = top->children; at; at = at->next)
    if (at->type == XML_ELEMENT_NODE && at->ns && at->ns->prefix &&
        strcmp((const char *)at->ns->prefix, "xacro") == 0) {
      poli_robot_error(robot, at, (const char *)at->name, "",
                       "is a macro of xacro: run xacro on the file first", "");
      return;
    }
  read_elements(&u);
  if (!robot->status && robot->errors->count == 0) connect(&u);
  if (!robot->status && robot->errors->count == 0) place(&u);
  const int good = !robot->status && robot->errors->count == 0;
  for (int i = 0; good && i < u.num_links; i++)
    if (u.links[i].body == i) add_body(&u, i);
  for (int i = 0; good && i < u.num_joints; i++) add_joint(&u, &u.joints[i]);
  for (int i = 0; good && i < u.num_joints; i++)
    if (u.joints[i].mimics >= 0) add_mimic(&u, &u.joints[i]);
  static const char *const unused[] = {"transmission", "gazebo", "sensor"};
  for (size_t k = 0; good && k < sizeof unused / sizeof unused[0]; k++) {
    const int count = count_children(top, unused[k]);
    if (count > 0) poli_robot_note(robot, "%d <%s> not used", count, unused[k]);
  }
  json_object_set_new(robot->model, "simulation",
                      json_pack("{s:f, s:f}", "step", 1e-3, "end", 1.0));
  for (int i = 0; i < u.num_links; i++) free(u.links[i].name), free(u.links[i].path);
  for (int i = 0; i < u.num_joints; i++) free(u.joints[i].name), free(u.joints[i].path);
  free(u.links);
  free(u.joints);
}
