/* URDF (the Unified Robot Description Format of ROS): links, joints, limits, damping, friction,
 * mimic joints, shapes.  Joint coordinates are zero where the file's are, except that a joint whose
 * limits do not contain zero starts at the nearest one, and a mimic joint where it has to be.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/robot/robot.h"
#include "lie/small.h"

typedef struct link {
  const xmlNode *at;
  char *name, *path; /* path: "link 'arm'" */
  char *body_name;   /* in the model, if it is the first link of a body; the ground too */
  int joint;         /* the joint that leads to it; -1: the first link */
  int first_joint;   /* one of those that it is the parent of, or -1 */
  int body;          /* the link whose body it is part of: itself, or the one it is fixed to */
  int is_placed;
  poli_pose pose;   /* global, at the start */
  poli_solid solid; /* of the link alone, in its own axes */
} link;

typedef enum joint_kind { FIXED, REVOLUTE, PRISMATIC, PLANAR, FLOATING } joint_kind;

typedef struct joint {
  const xmlNode *at;
  char *name, *path;
  char *model_name;
  joint_kind kind;
  int links[2];   /* parent, child; -1: wrong */
  int next_joint; /* the next one of the same parent, or -1 */
  poli_pose origin;
  double axis[3];
  double limits[2]; /* infinite if there are none */
  double damping, friction;
  int mimics; /* joint, or -1 */
  double multiplier, offset;
  double start; /* of the coordinate */
} joint;

typedef struct urdf {
  poli_robot *robot;
  const xmlNode *top;
  int num_links, num_joints, root;
  link *links;
  joint *joints;
  json_t *link_numbers, *joint_numbers; /* by name */
} urdf;

/* --- links -------------------------------------------------------------------------------------
 */

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
  l->solid.mass = child_number(u, inertial, "mass", "value", l->path);
  for (int k = 0; inertia && k < 6; k++) {
    double x = 0.0;
    poli_xml_numbers(u->robot, inertia, keys[k], l->path, 1, &x);
    J[3 * places[k][0] + places[k][1]] = J[3 * places[k][1] + places[k][0]] = x;
  }
  if (l->solid.mass < 0.0)
    poli_robot_error(u->robot, inertial, l->path, "", "has a negative mass", "");
  for (int i = 0; i < 3; i++)
    if (J[4 * i] < 0.0) {
      poli_robot_error(u->robot, inertial, l->path, "", "has a negative moment of inertia", "");
      break;
    }
  poli_v3_copy(pose.position, l->solid.center);
  poli_m3_multiply(pose.R, J, turned);
  poli_m3_multiply_by_transposed(turned, pose.R, l->solid.inertia);
}

/* --- joints ------------------------------------------------------------------------------------
 */

/* The number of a link or joint of that name, or -1. */
static int find(const json_t *numbers, const char *name)
{
  const json_t *number = name ? json_object_get(numbers, name) : NULL;
  return number ? (int)json_integer_value(number) : -1;
}

/* Parent or child of a joint: the number of the link, or -1 with an error. */
static int read_end(urdf *u, const joint *j, const char *which)
{
  const xmlNode *end = poli_xml_child(j->at, which);
  char *name = end ? poli_xml_text(end, "link") : NULL;
  const int found = find(u->link_numbers, name);
  if (found < 0) {
    char *rule = name ? poli_format("has the %s '%s', which is no link", which, name)
                      : poli_format("has no %s", which);
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
  const xmlNode *other = k == 1 || k == 2 ? NULL : poli_xml_child(j->at, "limit");
  if (other &&
      (xmlHasProp(other, (const xmlChar *)"lower") || xmlHasProp(other, (const xmlChar *)"upper")))
    poli_robot_note(
        u->robot, "%s: lower and upper are limits of revolute and prismatic joints only", j->path);
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
  if (!(length > 0.0) && (j->kind == FIXED || j->kind == FLOATING))
    j->axis[0] = 1.0;
  else if (!(length > 0.0))
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
  j->mimics = find(u->joint_numbers, name);
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

/* --- the tree ----------------------------------------------------------------------------------
 */

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

/* Keeps the number of a name; a name that is given twice is an error. */
static void keep_number(urdf *u, json_t *numbers, const xmlNode *at, const char *name,
                        const char *path, int number)
{
  if (find(numbers, name) >= 0)
    poli_robot_error(u->robot, at, path, "", "has a name that is given twice", "");
  else if (json_object_set_new(numbers, name, json_integer(number)))
    u->robot->status = POL_NO_MEMORY;
}

static void read_elements(urdf *u)
{
  poli_robot *robot = u->robot;
  const int num_links = count_children(u->top, "link");
  const int num_joints = count_children(u->top, "joint");
  u->links = calloc((size_t)num_links + 1, sizeof *u->links);
  u->joints = calloc((size_t)num_joints + 1, sizeof *u->joints);
  u->link_numbers = json_object();
  u->joint_numbers = json_object();
  if (!u->links || !u->joints || !u->link_numbers || !u->joint_numbers) {
    robot->status = POL_NO_MEMORY;
    return;
  }
  const xmlNode *at = poli_xml_child(u->top, "link");
  for (; at && !robot->status; at = poli_xml_next(at)) {
    const int n = u->num_links++;
    char *path, *name = read_name(u, at, &path);
    u->links[n] =
        (link){.at = at, .joint = -1, .first_joint = -1, .body = n, .name = name, .path = path};
    if (!robot->status) keep_number(u, u->link_numbers, at, name, path, n);
  }
  at = poli_xml_child(u->top, "joint");
  for (; at && !robot->status; at = poli_xml_next(at)) {
    const int n = u->num_joints++;
    char *path, *name = read_name(u, at, &path);
    u->joints[n] = (joint){.at = at, .next_joint = -1, .name = name, .path = path};
    if (!robot->status) keep_number(u, u->joint_numbers, at, name, path, n);
  }
  if (robot->status) return;
  for (int i = 0; i < u->num_links; i++) read_inertial(u, &u->links[i]);
  for (int i = 0; i < u->num_joints; i++) read_joint(u, &u->joints[i]);
  for (int i = 0; i < u->num_joints; i++) read_mimic(u, &u->joints[i]);
}

/* Each link has at most one joint that leads to it, and one link has none.  Whether it is a tree.
 */
static int connect(urdf *u)
{
  poli_robot *robot = u->robot;
  const int before = robot->errors->count;
  int is_whole = 1; /* all joints have two links */
  for (int i = u->num_joints - 1; i >= 0; i--) {
    joint *j = &u->joints[i];
    is_whole &= j->links[0] >= 0 && j->links[1] >= 0;
    if (j->links[0] < 0 || j->links[1] < 0) continue;
    link *parent = &u->links[j->links[0]];
    j->next_joint = parent->first_joint;
    parent->first_joint = i;
  }
  for (int i = 0; i < u->num_joints; i++) {
    const joint *j = &u->joints[i];
    link *child = j->links[1] >= 0 ? &u->links[j->links[1]] : NULL;
    if (child && child->joint >= 0)
      poli_robot_error(
          robot, j->at, j->path, child->name,
          "leads to a link that another joint leads to already: URDF has no closed loops", "");
    if (child) child->joint = i;
  }
  u->root = -1;
  for (int i = 0; i < u->num_links && is_whole; i++) {
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
  else if (u->root < 0 && is_whole)
    poli_robot_error(robot, u->top, "robot", "", "has no first link: the joints form a cycle", "");
  return is_whole && !robot->status && robot->errors->count == before;
}

/* Coordinates of joints at the start: zero or the nearest limit, or by the joint that is mimicked.
 */
static void find_starts(urdf *u)
{
  for (int i = 0; i < u->num_joints; i++) {
    joint *j = &u->joints[i];
    j->start = fmin(fmax(0.0, j->limits[0]), j->limits[1]);
    /* along the chain of mimicked joints: start = factor * (that of the last one) + sum */
    double factor = 1.0, sum = 0.0;
    const joint *at = j;
    int length = 0;
    for (; at->mimics >= 0 && length <= u->num_joints; length++) {
      sum += factor * at->offset;
      factor *= at->multiplier;
      at = &u->joints[at->mimics];
    }
    if (at->mimics >= 0)
      poli_robot_error(u->robot, j->at, j->path, "", "mimics itself through other joints", "");
    else if (length > 0)
      j->start = factor * fmin(fmax(0.0, at->limits[0]), at->limits[1]) + sum;
    if (j->start != 0.0)
      poli_robot_note(u->robot, "%s starts at %.6g, where its coordinate in results is 0", j->path,
                      j->start);
  }
}

/* Follows the tree from the first link on: poses, and bodies of links that are fixed. */
static void place(urdf *u)
{
  int *queue = malloc((size_t)u->num_links * sizeof *queue), count = 0;
  if (!queue) {
    u->robot->status = POL_NO_MEMORY;
    return;
  }
  u->links[u->root].pose = poli_pose_identity;
  u->links[u->root].is_placed = 1;
  queue[count++] = u->root;
  for (int at = 0; at < count; at++) {
    const link *parent = &u->links[queue[at]];
    for (int i = parent->first_joint; i >= 0; i = u->joints[i].next_joint) {
      const joint *j = &u->joints[i];
      link *child = &u->links[j->links[1]];
      poli_pose motion = poli_pose_identity;
      if (j->kind == REVOLUTE) poli_pose_set_axis(j->axis, j->start, motion.R);
      if (j->kind == PRISMATIC) poli_v3_scale(j->start, j->axis, motion.position);
      poli_pose_product(&parent->pose, &j->origin, &child->pose);
      poli_pose_product(&child->pose, &motion, &child->pose);
      if (j->kind == FIXED) child->body = parent->body;
      child->is_placed = 1;
      queue[count++] = j->links[1];
    }
  }
  free(queue);
  for (int i = 0; i < u->num_links && count < u->num_links; i++)
    if (!u->links[i].is_placed)
      poli_robot_error(u->robot, u->links[i].at, u->links[i].path, "",
                       "cannot be reached from the first link: the joints form a cycle", "");
}

/* --- the model ---------------------------------------------------------------------------------
 */

/* The ground has no mass and its own frame; other bodies have that of their first link, about the
 * centre of mass of all links. */
static int is_ground(const urdf *u, int link_number)
{
  return link_number == u->root && !u->robot->options.floating;
}

/* The colour of a visual: its own material, or the one of that name; 0 if it has none. */
static int read_color(urdf *u, const xmlNode *visual, const char *path, double rgba[4])
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
  if (name) xmlFree(name);
  return color && poli_xml_numbers(u->robot, color, "rgba", path, 4, rgba);
}

/* The shape of a geometry without its place; NULL if there is none that can be shown. */
static json_t *geometry_json(urdf *u, const xmlNode *geometry, const link *l)
{
  poli_robot *robot = u->robot;
  const xmlNode *box = poli_xml_child(geometry, "box"),
                *cylinder = poli_xml_child(geometry, "cylinder");
  const xmlNode *sphere = poli_xml_child(geometry, "sphere"),
                *mesh = poli_xml_child(geometry, "mesh");
  double size[3] = {1.0, 1.0, 1.0};
  const int is_box = box && poli_xml_numbers(robot, box, "size", l->path, 3, size);
  const int is_cylinder = !is_box && cylinder &&
                          poli_xml_numbers(robot, cylinder, "radius", l->path, 1, size) &&
                          poli_xml_numbers(robot, cylinder, "length", l->path, 1, size + 1);
  const int is_sphere = !is_box && !is_cylinder && sphere &&
                        poli_xml_numbers(robot, sphere, "radius", l->path, 1, size);
  const int has_size = is_box || is_cylinder || is_sphere;
  json_t *shape = NULL;
  if (has_size && !(fmin(fmin(size[0], size[1]), size[2]) > 0.0)) {
    poli_robot_note(robot, "%s: <geometry> (line %ld) is not shown: a size of it is not positive",
                    l->path, xmlGetLineNo((xmlNode *)(uintptr_t)geometry));
    return NULL; /* models allow positive sizes only */
  }
  if (is_box)
    shape = json_pack("{s:s, s:o}", "type", "box", "size", poli_json_numbers(size, 3));
  else if (is_cylinder)
    shape = json_pack("{s:s, s:f, s:f}", "type", "cylinder", "radius", size[0], "length", size[1]);
  else if (is_sphere)
    shape = json_pack("{s:s, s:f}", "type", "sphere", "radius", size[0]);
  if (has_size && !shape) robot->status = POL_NO_MEMORY;
  if (has_size) return shape;
  char *name = mesh ? poli_xml_text(mesh, "filename") : NULL;
  if (!name) { /* URDF has no other shapes, but Gazebo and others do */
    const xmlNode *inside = geometry->children;
    while (inside && inside->type != XML_ELEMENT_NODE) inside = inside->next;
    poli_robot_note(robot, "%s: <geometry> (line %ld) is not shown: %s%s%s", l->path,
                    xmlGetLineNo((xmlNode *)(uintptr_t)geometry), inside ? "<" : "",
                    inside ? (const char *)inside->name : "it has no shape",
                    inside ? "> has no size or is no shape of URDF" : "");
    return NULL;
  }
  double scale[3] = {1.0, 1.0, 1.0};
  poli_xml_numbers(robot, mesh, "scale", l->path, 3, scale);
  char *file = poli_robot_mesh(robot, name, l->path);
  xmlFree(name);
  const char *problem = poli_robot_scale_problem(scale);
  if (file && problem)
    poli_robot_note(robot, "%s: mesh \"%s\" is not used: %s", l->path, file, problem);
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
    double rgba[4] = {0.0};
    const int is_colored = read_color(u, visual, l->path, rgba);
    poli_robot_add_shape(u->robot, shapes, shape, &own, is_colored ? rgba : NULL);
  }
}

/* The body of a link and of those that are fixed to it, which are markers there.  The ground has
 * the global frame; the others have the axes of their first link. */
static void add_body(urdf *u, int body)
{
  poli_robot *robot = u->robot;
  link *first = &u->links[body];
  const int ground = is_ground(u, body);
  poli_pose frame = first->pose, own;
  poli_solid solid = {0};
  for (int i = 0; i < u->num_links; i++) {
    if (u->links[i].body != body) continue;
    poli_pose_between(&first->pose, &u->links[i].pose, &own);
    poli_solid_add(&solid, &u->links[i].solid, &own);
  }
  if (!ground) {
    double offset[3];
    poli_m3_apply(frame.R, solid.center, offset);
    poli_v3_add(frame.position, offset, frame.position);
  }
  first->body_name = ground ? poli_format("ground")
                            : poli_robot_name(robot, "elements", first->name, "link", first->path);
  json_t *shapes = json_array();
  if (!first->body_name || !shapes) robot->status = POL_NO_MEMORY;
  for (int i = 0; !robot->status && i < u->num_links; i++) {
    const link *l = &u->links[i];
    if (l->body != body) continue;
    add_shapes(u, l, &frame, shapes);
    poli_pose_between(&frame, &l->pose, &own);
    if (i != body || ground)
      poli_robot_add_marker(robot, l->name, l->path, first->body_name, &own, NULL);
  }
  if (robot->status) {
    json_decref(shapes);
  } else if (ground) {
    if (solid.mass > 0.0)
      poli_robot_note(robot, "%s is the ground: its mass has no effect", first->path);
    if (json_object_set_new(robot->model, "shapes", shapes)) robot->status = POL_NO_MEMORY;
  } else {
    poli_robot_add_body(robot, first->at, first->path, first->body_name, &solid, &frame, shapes);
  }
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
  j->model_name = poli_robot_name(robot, "elements", j->name, "joint", j->path);
  if (!j->model_name) return;
  poli_m3_apply(child->pose.R, j->axis, axis);
  json_t *item =
      json_pack("{s:s, s:s, s:[s, s], s:o, s:o}", "name", j->model_name, "type", types[j->kind],
                "bodies", u->links[ends[0]].body_name, u->links[ends[1]].body_name, "point",
                poli_json_numbers(child->pose.position, 3), "axis", poli_json_numbers(axis, 3));
  if (j->kind == PLANAR && (j->damping > 0.0 || j->friction > 0.0))
    poli_robot_note(robot, "%s: damping and friction of a planar joint are not used", j->path);
  if (j->mimics >= 0 && (isfinite(j->limits[0]) || isfinite(j->limits[1])))
    poli_robot_note(robot, "%s: its limits are not used, since it follows another joint", j->path);
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
}

/* q - start = multiplier (q_other - start_other) */
static void add_mimic(urdf *u, const joint *j)
{
  const joint *pair[2] = {j, &u->joints[j->mimics]};
  const char *kinds[2];
  for (int i = 0; i < 2; i++) kinds[i] = pair[i]->kind == REVOLUTE ? "rotation" : "translation";
  char *wanted = poli_format("%s_mimic", j->model_name);
  char *name = wanted ? poli_robot_name(u->robot, "elements", wanted, "coupling", j->path) : NULL;
  if (name)
    poli_robot_add(u->robot, "couplings",
                   json_pack("{s:s, s:[s, s], s:[s, s], s:[f, f], s:[f, f]}", "name", name,
                             "joints", j->model_name, pair[1]->model_name, "coordinates", kinds[0],
                             kinds[1], "factors", 1.0, -j->multiplier, "reference", 0.0, 0.0));
  else
    u->robot->status = POL_NO_MEMORY;
  free(wanted);
  free(name);
}

/* Elements inside links and joints that are not read, each name once. */
static void note_children(urdf *u, const xmlNode *at, const char *path, const char *const *known,
                          int count)
{
  for (const xmlNode *child = at->children; child; child = child->next) {
    int is_known = child->type != XML_ELEMENT_NODE;
    for (int k = 0; !is_known && k < count; k++)
      is_known = strcmp((const char *)child->name, known[k]) == 0;
    if (!is_known && poli_xml_child(at, (const char *)child->name) == child)
      poli_robot_note(u->robot, "%s: <%s> is not used", path, (const char *)child->name);
  }
}

static const poli_attributes urdf_attributes[] = {
    {"link", "link", "name", "", "type"},
    {"link joint", "origin", "xyz rpy", "", ""},
    {"link", "inertia", "ixx ixy ixz iyy iyz izz", "", ""},
    {"link", "mass", "value", "", ""},
    {"link", "visual collision", "", "", "name group"},
    {"link", "box", "size", "", ""},
    {"link", "cylinder", "radius length", "", ""},
    {"link", "sphere", "radius", "", ""},
    {"link", "mesh", "filename scale", "", ""},
    {"link material", "material", "name", "", ""},
    {"link material", "color", "rgba", "", ""},
    {"link material", "texture", "", "", "filename"},
    {"joint", "joint", "name type", "", ""},
    {"joint", "parent child", "link", "", ""},
    {"joint", "axis", "xyz", "", ""},
    {"joint", "limit", "lower upper effort velocity", "", ""}, /* noted apart */
    {"joint", "dynamics", "damping friction", "", ""},
    {"joint", "mimic", "joint multiplier offset", "", ""},
};

/* Children of the robot and of its links that have no part in the model; efforts and velocities
 * that a drive can reach at most. */
static void note_unused(urdf *u)
{
  static const char *const in_link[] = {"inertial", "visual", "collision"};
  static const char *const in_joint[] = {"origin", "parent",   "child", "axis",
                                         "limit",  "dynamics", "mimic"};
  for (int i = 0; i < u->num_links; i++) {
    const xmlNode *inertial = poli_xml_child(u->links[i].at, "inertial");
    note_children(u, u->links[i].at, u->links[i].path, in_link, 3);
    if (inertial && poli_xml_next(inertial))
      poli_robot_error(u->robot, poli_xml_next(inertial), u->links[i].path, "",
                       "must not have a second <inertial>", "");
  }
  for (int i = 0; i < u->num_joints; i++)
    note_children(u, u->joints[i].at, u->joints[i].path, in_joint, 7);
  poli_robot_note_attributes(
      u->robot, u->top, (int)(sizeof urdf_attributes / sizeof urdf_attributes[0]), urdf_attributes);
  static const char *const used[] = {"link", "joint", "material"};
  for (const xmlNode *at = u->top->children; at; at = at->next) {
    int is_known = at->type != XML_ELEMENT_NODE;
    for (int k = 0; !is_known && k < 3; k++)
      is_known = strcmp((const char *)at->name, used[k]) == 0;
    if (is_known || poli_xml_child(u->top, (const char *)at->name) != at) continue;
    poli_robot_note(u->robot, "%d <%s> not used", count_children(u->top, (const char *)at->name),
                    (const char *)at->name);
  }
  int count = 0;
  for (int i = 0; i < u->num_joints; i++) {
    const xmlNode *limit = poli_xml_child(u->joints[i].at, "limit");
    count += limit && (xmlHasProp(limit, (const xmlChar *)"effort") ||
                       xmlHasProp(limit, (const xmlChar *)"velocity"));
  }
  if (count > 0)
    poli_robot_note(u->robot, "effort and velocity in <limit> of %d joint%s not used", count,
                    count == 1 ? "" : "s");
}

void poli_read_urdf(poli_robot *robot, const xmlNode *top)
{
  urdf u = {.robot = robot, .top = top};
  char *name = poli_xml_text(top, "name");
  const double gravity[3] = {0.0, 0.0, -9.81};
  poli_robot_set_title(robot, name ? name : "");
  if (name) xmlFree(name);
  if (json_object_set_new(robot->model, "gravity", poli_json_numbers(gravity, 3)) ||
      json_object_set_new(robot->model, "simulation",
                          json_pack("{s:f, s:f}", "step", 1e-3, "end", 1.0)))
    robot->status = POL_NO_MEMORY;
  if (robot->options.keyframe)
    poli_robot_error(robot, NULL, "keyframe", robot->options.keyframe,
                     "must not be given for URDF, which has none", "");
  for (const xmlNode *at = top->children; at; at = at->next)
    if (at->type == XML_ELEMENT_NODE && at->ns && at->ns->prefix &&
        strcmp((const char *)at->ns->prefix, "xacro") == 0) {
      poli_robot_error(robot, at, (const char *)at->name, "",
                       "is a macro of xacro: run xacro on the file first", "");
      return;
    }
  if (!robot->status) read_elements(&u);
  if (!robot->status && connect(&u)) {
    find_starts(&u);
    place(&u);
    for (int i = 0; i < u.num_links && !robot->status; i++)
      if (u.links[i].body == i && u.links[i].is_placed) add_body(&u, i);
    for (int i = 0; i < u.num_joints && !robot->status; i++)
      if (u.links[u.joints[i].links[1]].is_placed) add_joint(&u, &u.joints[i]);
    for (int i = 0; i < u.num_joints && !robot->status; i++)
      if (u.joints[i].mimics >= 0 && robot->errors->count == 0) add_mimic(&u, &u.joints[i]);
    note_unused(&u);
  }
  for (int i = 0; i < u.num_links; i++)
    free(u.links[i].name), free(u.links[i].path), free(u.links[i].body_name);
  for (int i = 0; i < u.num_joints; i++)
    free(u.joints[i].name), free(u.joints[i].path), free(u.joints[i].model_name);
  free(u.links);
  free(u.joints);
  json_decref(u.link_numbers);
  json_decref(u.joint_numbers);
}
