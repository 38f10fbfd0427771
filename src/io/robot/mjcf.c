/* MJCF: included files, default classes, settings, the tree of bodies, and what is left out.
 * The format is that of the XML reference in the documentation of MuJoCo.
 */
#include "io/robot/mjcf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/file/file.h"
#include "lie/small.h"

static const double pi = 3.14159265358979323846;

static int is_element(const xmlNode *at, const char *name)
{
  return at->type == XML_ELEMENT_NODE && strcmp((const char *)at->name, name) == 0;
}

static int is_one_of(const xmlNode *at, int count, const char *const *names)
{
  for (int i = 0; i < count; i++)
    if (is_element(at, names[i])) return 1;
  return 0;
}

/* --- included files --------------------------------------------------------------------------- */

static const size_t largest_file = (size_t)1 << 28;
enum { DEEPEST = 1000 }; /* elements inside each other */

/* Replaces <include> by the elements of its file; the first of them, or what follows. */
static xmlNode *include(poli_mjcf *m, xmlNode *at)
{
  poli_robot *robot = m->robot;
  xmlNode *next = at->next;
  char *name = poli_xml_text(at, "file"), *bytes = NULL, *path = NULL;
  size_t size = 0;
  xmlDocPtr document = NULL;
  if (!name) {
    poli_robot_error(robot, at, "include", "", "must have a file", "");
  } else if (json_object_get(m->files, name)) {
    poli_robot_error(robot, at, "include", name, "must not be included twice", "");
  } else if (json_object_set_new(m->files, name, json_string(name)) ||
             !(path = poli_format("%s%s", name[0] == '/' ? "" : robot->folder, name))) {
    robot->status = POL_NO_MEMORY;
  } else {
    const pol_status status = poli_read_small_file(path, largest_file, &bytes, &size);
    char *rule = poli_format("cannot be read: %s", strerror(errno));
    if (status == POL_IO && rule)
      poli_robot_error(robot, at, "include", name, rule, "");
    else if (status || !rule)
      robot->status = POL_NO_MEMORY;
    else
      document = poli_xml_parse(robot, bytes, size, name);
    free(rule);
  }
  const xmlNode *top = document ? xmlDocGetRootElement(document) : NULL;
  for (const xmlNode *child = top ? top->children : NULL; child; child = child->next) {
    xmlNode *copy = xmlDocCopyNode((xmlNode *)(uintptr_t)child, at->doc, 1);
    if (!copy || !xmlAddPrevSibling(at, copy)) {
      robot->status = POL_NO_MEMORY;
      break;
    }
    copy->_private = (void *)(uintptr_t)json_string_value(json_object_get(m->files, name));
    if (next == at->next) next = copy;
  }
  xmlUnlinkNode(at);
  xmlFreeNode(at);
  xmlFreeDoc(document);
  if (name) xmlFree(name);
  free(path);
  free(bytes);
  return next;
}

static void expand_includes(poli_mjcf *m, xmlNode *parent, int depth)
{
  xmlNode *at = parent->children;
  if (depth > DEEPEST) {
    poli_robot_error(m->robot, parent, (const char *)parent->name, "", "is nested too deeply", "");
    return;
  }
  while (at && !m->robot->status) {
    if (is_element(at, "include")) {
      at = include(m, at);
      continue;
    }
    if (at->type == XML_ELEMENT_NODE) expand_includes(m, at, depth + 1);
    at = at->next;
  }
}

/* --- attributes and settings ------------------------------------------------------------------ */

/* The <default> of a class below an element. */
static const xmlNode *find_class(const xmlNode *parent, const char *name)
{
  for (const xmlNode *at = poli_xml_child(parent, "default"); at; at = poli_xml_next(at)) {
    char *own = poli_xml_text(at, "class");
    const int is_it = own && strcmp(own, name) == 0;
    if (own) xmlFree(own);
    if (is_it) return at;
    const xmlNode *inner = find_class(at, name);
    if (inner) return inner;
  }
  return NULL;
}

/* Classes inside others whose name is given twice: which one is meant is not clear. */
static void check_defaults(poli_mjcf *m, const xmlNode *parent)
{
  for (const xmlNode *at = poli_xml_child(parent, "default"); at; at = poli_xml_next(at)) {
    char *name = parent == m->top ? NULL : poli_xml_text(at, "class");
    if (name && find_class(m->top, name) != at)
      poli_robot_error(m->robot, at, "default", name, "has a class that is given twice", "");
    if (name) xmlFree(name);
    check_defaults(m, at);
  }
}

/* Reports an element, by its kind and its name if it has one, whose class does not exist. */
static void report_class(poli_mjcf *m, const xmlNode *at, const char *class_name)
{
  const char *kind = (const char *)at->name;
  char *own = poli_xml_text(at, "name");
  char *where = own ? poli_format("%s '%s'", kind, own) : poli_format("%s", kind);
  if (where)
    poli_robot_error(m->robot, at, where, class_name, "has a class that no <default> has", "");
  else
    m->robot->status = POL_NO_MEMORY;
  if (own) xmlFree(own);
  free(where);
}

/* Classes that elements name and that no <default> has; "main" is the outermost one. */
static void check_classes(poli_mjcf *m, const xmlNode *parent)
{
  static const char *const keys[] = {"class", "childclass"};
  for (const xmlNode *at = parent->children; at && !m->robot->status; at = at->next) {
    if (at->type != XML_ELEMENT_NODE || is_element(at, "default")) continue;
    for (int i = 0; i < 2; i++) {
      char *name = poli_xml_text(at, keys[i]);
      if (name && strcmp(name, "main") != 0 && !find_class(m->top, name)) report_class(m, at, name);
      if (name) xmlFree(name);
    }
    check_classes(m, at);
  }
}

/* The class of an element: its own, or the childclass of the bodies around it. */
static char *class_of(const xmlNode *at)
{
  char *name = is_element(at, "body") ? NULL : poli_xml_text(at, "class");
  for (at = at->parent; at && !name; at = at->parent)
    if (at->type == XML_ELEMENT_NODE) name = poli_xml_text(at, "childclass");
  return name;
}

/* The attribute in a <default>: of the element of that name; of an actuator, the last one of any
 * kind that has it. */
static char *default_text(const xmlNode *class_node, const xmlNode *at, const char *name)
{
  static const char *const actuators[] = {"general",  "motor",       "position",
                                          "velocity", "intvelocity", "damper",
                                          "cylinder", "muscle",      "adhesion"};
  static const char *const tendons[] = {"fixed", "spatial"};
  const char *section = at->parent ? (const char *)at->parent->name : NULL;
  const int is_actuator = section && strcmp(section, "actuator") == 0;
  const char *tag = is_element(at, "freejoint") ? "joint" : (const char *)at->name;
  if (section && strcmp(section, "tendon") == 0 && is_one_of(at, 2, tendons)) tag = "tendon";
  if (section && strcmp(section, "equality") == 0) tag = "equality";
  char *text = NULL;
  for (const xmlNode *own = class_node->children; own; own = own->next) {
    if (!(is_actuator ? is_one_of(own, 9, actuators) : is_element(own, tag))) continue;
    char *found = poli_xml_text(own, name);
    if (found && text) xmlFree(text);
    if (found) text = found;
  }
  return text;
}

char *poli_mjcf_text(const poli_mjcf *m, const xmlNode *at, const char *name)
{
  char *text = poli_xml_text(at, name);
  if (text) return text;
  char *class_name = class_of(at);
  const xmlNode *class_node = class_name ? find_class(m->top, class_name) : NULL;
  for (; class_node && !text && is_element(class_node, "default"); class_node = class_node->parent)
    text = default_text(class_node, at, name);
  /* the outermost ones, which may be several */
  const xmlNode *outer = poli_xml_child(m->top, "default");
  for (; outer && !text; outer = poli_xml_next(outer)) text = default_text(outer, at, name);
  if (class_name) xmlFree(class_name);
  return text;
}

int poli_mjcf_is(const poli_mjcf *m, const xmlNode *at, const char *name, const char *word,
                 int fallback)
{
  char *text = poli_mjcf_text(m, at, name);
  const int is_it = text ? strcmp(text, word) == 0 : fallback;
  if (text) xmlFree(text);
  return is_it;
}

int poli_mjcf_numbers(poli_mjcf *m, const xmlNode *at, const char *name, const char *path,
                      int least, int most, double *numbers)
{
  char *text = poli_mjcf_text(m, at, name);
  const int count =
      text ? poli_xml_read_numbers(m->robot, at, name, path, text, least, most, numbers) : 0;
  if (text) xmlFree(text);
  return count;
}

char *poli_mjcf_setting(const poli_mjcf *m, const char *name)
{
  char *text = NULL;
  for (const xmlNode *at = poli_xml_child(m->top, "compiler"); at; at = poli_xml_next(at)) {
    char *own = poli_xml_text(at, name);
    if (own && text) xmlFree(text);
    if (own) text = own;
  }
  return text;
}

/* Whether a setting has this word. */
static int setting_is(const poli_mjcf *m, const char *name, const char *word)
{
  char *text = poli_mjcf_setting(m, name);
  const int is_it = text && strcmp(text, word) == 0;
  if (text) xmlFree(text);
  return is_it;
}

static void read_settings(poli_mjcf *m)
{
  poli_robot *robot = m->robot;
  const xmlNode *compiler = poli_xml_child(m->top, "compiler");
  m->degrees = !setting_is(m, "angle", "radian");
  m->auto_limits = !setting_is(m, "autolimits", "false");
  m->inertia_from_geoms = setting_is(m, "inertiafromgeom", "true")    ? 1
                          : setting_is(m, "inertiafromgeom", "false") ? 0
                                                                      : 2;
  if (setting_is(m, "coordinate", "global"))
    poli_robot_error(robot, compiler, "compiler: coordinate", "global", "must be local", "");
  static const char *const unused[] = {"balanceinertia", "settotalmass", "inertiagrouprange",
                                       "exactmeshinertia", "strippath"};
  for (int i = 0; i < 5; i++) {
    char *text = poli_mjcf_setting(m, unused[i]);
    if (text && strcmp(text, "false") != 0)
      poli_robot_note(robot, "compiler: %s is not used", unused[i]);
    if (text) xmlFree(text);
  }
  char *text = poli_mjcf_setting(m, "eulerseq");
  if (text && strlen(text) == 3 && strspn(text, "xyzXYZ") == 3)
    memcpy(m->sequence, text, 3);
  else if (text)
    poli_robot_error(robot, compiler, "compiler: eulerseq", text,
                     "must be three letters out of x, y, z, X, Y and Z", "");
  if (text) xmlFree(text);
  static const char *const bounds[2] = {"boundmass", "boundinertia"};
  for (int i = 0; i < 2; i++) {
    text = poli_mjcf_setting(m, bounds[i]);
    if (text)
      poli_xml_read_numbers(robot, compiler, bounds[i], "compiler", text, 1, 1,
                            i ? &m->least_inertia : &m->least_mass);
    if (text) xmlFree(text);
  }
}

static void read_options(poli_mjcf *m)
{
  poli_robot *robot = m->robot;
  double gravity[3] = {0.0, 0.0, -9.81}, step = 2e-3;
  for (const xmlNode *at = poli_xml_child(m->top, "option"); at; at = poli_xml_next(at)) {
    poli_xml_numbers(robot, at, "gravity", "option", 3, gravity);
    poli_xml_numbers(robot, at, "timestep", "option", 1, &step);
    static const char *const unused[] = {"wind", "density", "viscosity", "magnetic"};
    for (int i = 0; i < 4; i++)
      if (xmlHasProp(at, (const xmlChar *)unused[i]))
        poli_robot_note(robot, "option: %s is not used", unused[i]);
    const xmlNode *flag = poli_xml_child(at, "flag");
    if (flag && poli_mjcf_is(m, flag, "gravity", "disable", 0)) memset(gravity, 0, sizeof gravity);
    for (const xmlAttr *a = flag ? flag->properties : NULL; a; a = a->next)
      if (strcmp((const char *)a->name, "gravity") != 0)
        poli_robot_note(robot, "option: flag %s is not used", (const char *)a->name);
  }
  if (!(step > 0.0))
    poli_robot_error(robot, m->top, "option: timestep", "", "must be positive", "");
  if (json_object_set_new(robot->model, "gravity", poli_json_numbers(gravity, 3)) ||
      json_object_set_new(robot->model, "simulation",
                          json_pack("{s:f, s:f}", "step", step, "end", 1.0)))
    robot->status = POL_NO_MEMORY;
}

/* --- poses ------------------------------------------------------------------------------------ */

void poli_mjcf_turn_z(const double axis[3], double R[9])
{
  const double z[3] = {0.0, 0.0, 1.0};
  double normal[3];
  poli_v3_cross(z, axis, normal);
  const double across = sqrt(poli_v3_dot(normal, normal));
  const double length = sqrt(poli_v3_dot(axis, axis));
  if (across > 1e-10 * length)
    poli_v3_scale(1.0 / across, normal, normal);
  else
    normal[0] = 1.0, normal[1] = normal[2] = 0.0;
  poli_pose_set_axis(normal, atan2(across, axis[2]), R);
}

/* A unit vector; an error if it has no length. */
static void make_unit(poli_mjcf *m, const xmlNode *at, const char *path, const char *name,
                      double *x, int count)
{
  double sum = 0.0;
  for (int i = 0; i < count; i++) sum += x[i] * x[i];
  char *where = sum > 0.0 ? NULL : poli_format("%s: %s", path, name);
  if (where) poli_robot_error(m->robot, at, where, "", "must not be zero", "");
  free(where);
  for (int i = 0; i < count && sum > 0.0; i++) x[i] /= sqrt(sum);
}

void poli_mjcf_pose(poli_mjcf *m, const xmlNode *at, const char *path, poli_pose *pose)
{
  const double unit = m->degrees ? pi / 180.0 : 1.0;
  double x[6], *R = pose->R;
  int forms = 0;
  *pose = poli_pose_identity;
  poli_mjcf_numbers(m, at, "pos", path, 3, 3, pose->position);
  if (poli_mjcf_numbers(m, at, "quat", path, 4, 4, x)) {
    forms++;
    make_unit(m, at, path, "quat", x, 4);
    poli_quat_to_matrix(x, R);
  }
  if (poli_mjcf_numbers(m, at, "axisangle", path, 4, 4, x)) {
    forms++;
    make_unit(m, at, path, "axisangle", x, 3);
    poli_pose_set_axis(x, unit * x[3], R);
  }
  if (poli_mjcf_numbers(m, at, "xyaxes", path, 6, 6, x)) {
    double *y = x + 3, z[3];
    forms++;
    make_unit(m, at, path, "xyaxes", x, 3);
    poli_v3_add_scaled(-poli_v3_dot(x, y), x, y);
    make_unit(m, at, path, "xyaxes", y, 3);
    poli_v3_cross(x, y, z);
    for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
  }
  if (poli_mjcf_numbers(m, at, "zaxis", path, 3, 3, x)) {
    forms++;
    make_unit(m, at, path, "zaxis", x, 3);
    poli_mjcf_turn_z(x, R);
  }
  if (poli_mjcf_numbers(m, at, "euler", path, 3, 3, x)) {
    forms++;
    poli_m3_diagonal(1.0, R);
    for (int i = 0; i < 3; i++) {
      /* small letters: axes that turn with the frame; large ones: fixed axes */
      const char letter = m->sequence[i];
      const int turns = letter >= 'x';
      double axis[3] = {0.0, 0.0, 0.0}, one[9], both[9];
      axis[letter - (turns ? 'x' : 'X')] = 1.0;
      poli_pose_set_axis(axis, unit * x[i], one);
      poli_m3_multiply(turns ? R : one, turns ? one : R, both);
      poli_m3_copy(both, R);
    }
  }
  if (forms > 1)
    poli_robot_error(m->robot, at, path, "",
                     "must have one of quat, axisangle, euler, xyaxes and zaxis at most", "");
}

/* --- the tree --------------------------------------------------------------------------------- */

int poli_mjcf_find(const json_t *numbers, const char *name)
{
  const json_t *number = name ? json_object_get(numbers, name) : NULL;
  return number ? (int)json_integer_value(number) : -1;
}

char *poli_mjcf_path(poli_mjcf *m, const xmlNode *at, int body)
{
  const char *kind = is_element(at, "freejoint") ? "joint" : (const char *)at->name;
  char *name = poli_xml_text(at, "name"), *path;
  if (name)
    path = poli_format("%s '%s'", kind, name);
  else
    path =
        body >= 0 ? poli_format("%s of %s", kind, m->bodies[body].path) : poli_format("%s", kind);
  if (name) xmlFree(name);
  if (!path) m->robot->status = POL_NO_MEMORY;
  return path;
}

/* The name of an element, kept with its number; "" without one.  Free it. */
static char *keep_name(poli_mjcf *m, const xmlNode *at, const char *path, json_t *numbers,
                       int number)
{
  char *name = poli_xml_text(at, "name"), *copy = poli_format("%s", name ? name : "");
  if (name && poli_mjcf_find(numbers, name) >= 0)
    poli_robot_error(m->robot, at, path, "", "has a name that is given twice", "");
  else if (!copy || (name && json_object_set_new(numbers, name, json_integer(number))))
    m->robot->status = POL_NO_MEMORY;
  if (name) xmlFree(name);
  return copy;
}

/* Room for one more item of a list; NULL: no memory. */
static void *grow(poli_mjcf *m, void *list, int count, size_t size)
{
  if (count > 0 && (count & (count - 1)) != 0) return list; /* capacities are powers of two */
  void *longer = realloc(list, (size_t)(count > 0 ? 2 * count : 1) * size);
  if (!longer) m->robot->status = POL_NO_MEMORY;
  return longer;
}

static void read_limits(poli_mjcf *m, poli_mjcf_joint *j, double unit)
{
  double range[2];
  const int has_range = poli_mjcf_numbers(m, j->at, "range", j->path, 2, 2, range) == 2;
  const int limited = poli_mjcf_is(m, j->at, "limited", "true", 0) ||
                      (has_range && m->auto_limits && poli_mjcf_is(m, j->at, "limited", "auto", 1));
  j->limits[0] = -HUGE_VAL, j->limits[1] = HUGE_VAL;
  if (!limited || j->kind == POLI_FREE) return;
  if (!has_range || range[0] > range[1])
    poli_robot_error(m->robot, j->at, j->path, "",
                     "is limited, but has no range from a smaller to a larger number", "");
  else if (j->kind == POLI_BALL)
    poli_robot_note(m->robot, "%s: the range of a ball joint is not used", j->path);
  else
    j->limits[0] = unit * range[0], j->limits[1] = unit * range[1];
}

static void read_joint(poli_mjcf *m, const xmlNode *at, int body, const poli_pose *frame)
{
  static const char *const kinds[] = {"hinge", "slide", "ball", "free"};
  void *list = grow(m, m->joints, m->num_joints, sizeof *m->joints);
  if (!list) return;
  m->joints = list;
  poli_mjcf_joint *j = &m->joints[m->num_joints];
  *j = (poli_mjcf_joint){.at = at, .body = body, .axis = {0.0, 0.0, 1.0}, .sign = 1.0};
  j->path = poli_mjcf_path(m, at, body);
  j->name = j->path ? keep_name(m, at, j->path, m->joint_numbers, m->num_joints) : NULL;
  m->num_joints++;
  m->bodies[body].num_joints++;
  if (m->robot->status) return;
  char *type = is_element(at, "freejoint") ? NULL : poli_mjcf_text(m, at, "type");
  int kind = is_element(at, "freejoint") ? POLI_FREE : POLI_HINGE;
  if (type)
    for (kind = 0; kind < 4 && strcmp(kinds[kind], type) != 0;) kind++;
  if (kind == 4)
    poli_robot_error(m->robot, at, j->path, type, "must have the type hinge, slide, ball or free",
                     "");
  if (type) xmlFree(type);
  j->kind = kind < 4 ? (poli_mjcf_kind)kind : POLI_HINGE;
  const double unit = m->degrees && j->kind == POLI_HINGE ? pi / 180.0 : 1.0;
  double position[3] = {0.0, 0.0, 0.0};
  poli_mjcf_numbers(m, at, "pos", j->path, 3, 3, position);
  poli_mjcf_numbers(m, at, "axis", j->path, 3, 3, j->axis);
  make_unit(m, at, j->path, "axis", j->axis, 3);
  poli_m3_apply(frame->R, position, j->position);
  poli_v3_add(frame->position, j->position, j->position);
  poli_v3_copy(j->axis, position);
  poli_m3_apply(frame->R, position, j->axis);
  read_limits(m, j, unit);
  poli_mjcf_numbers(m, at, "stiffness", j->path, 1, 1, &j->stiffness);
  poli_mjcf_numbers(m, at, "damping", j->path, 1, 1, &j->damping);
  poli_mjcf_numbers(m, at, "armature", j->path, 1, 1, &j->armature);
  poli_mjcf_numbers(m, at, "frictionloss", j->path, 1, 1, &j->friction);
  poli_mjcf_numbers(m, at, "springref", j->path, 1, 1, &j->rest);
  poli_mjcf_numbers(m, at, "ref", j->path, 1, 1, &j->ref);
  if (j->stiffness < 0.0 || j->damping < 0.0 || j->armature < 0.0 || j->friction < 0.0)
    poli_robot_error(m->robot, at, j->path, "",
                     "must not have a negative stiffness, damping, armature or frictionloss", "");
  j->rest *= unit;
  j->ref *= unit;
}

static void read_joints(poli_mjcf *m, const xmlNode *parent, int body, const poli_pose *frame)
{
  for (const xmlNode *at = parent->children; at && !m->robot->status; at = at->next) {
    if (is_element(at, "joint") || is_element(at, "freejoint")) read_joint(m, at, body, frame);
    if (is_element(at, "frame")) {
      poli_pose own;
      poli_mjcf_pose(m, at, "frame", &own);
      poli_pose_product(frame, &own, &own);
      read_joints(m, at, body, &own);
    }
  }
}

static void read_body(poli_mjcf *m, const xmlNode *at, int parent, const poli_pose *frame);

/* What a body or a frame in it contains, apart from joints. */
static void read_children(poli_mjcf *m, const xmlNode *parent, int body, const poli_pose *frame)
{
  static const char *const parts[] = {"geom", "site"};
  static const char *const known[] = {"joint", "freejoint"};
  static const char *const unknown[] = {"composite", "flexcomp", "replicate", "attach", "plugin"};
  for (const xmlNode *at = parent->children; at && !m->robot->status; at = at->next) {
    poli_pose own;
    if (at->type != XML_ELEMENT_NODE || is_one_of(at, 2, known)) {
      continue;
    } else if (is_element(at, "body")) {
      read_body(m, at, body, frame);
    } else if (is_element(at, "frame")) {
      poli_mjcf_pose(m, at, "frame", &own);
      poli_pose_product(frame, &own, &own);
      read_children(m, at, body, &own);
    } else if (is_one_of(at, 2, parts)) {
      void *list = grow(m, m->parts, m->num_parts, sizeof *m->parts);
      if (!list) return;
      m->parts = list;
      m->parts[m->num_parts++] = (poli_mjcf_part){
          .at = at, .body = body, .is_geom = is_element(at, "geom"), .frame = *frame};
    } else if (is_element(at, "inertial")) {
      m->bodies[body].inertial = at;
      m->bodies[body].inertial_frame = *frame;
    } else if (is_one_of(at, 5, unknown)) {
      poli_robot_error(m->robot, at, (const char *)at->name, "",
                       "cannot be read: save the compiled model from MuJoCo first", "");
    } else if (!is_element(at, "camera") && !is_element(at, "light")) {
      poli_robot_note(m->robot, "%s: <%s> is not used", m->bodies[body].path,
                      (const char *)at->name);
    }
  }
}

/* A body and all in it; parent -1: the world. */
static void read_body(poli_mjcf *m, const xmlNode *at, int parent, const poli_pose *frame)
{
  void *list = grow(m, m->bodies, m->num_bodies, sizeof *m->bodies);
  if (!list) return;
  m->bodies = list;
  const int number = m->num_bodies++;
  m->bodies[number] = (poli_mjcf_body){.at = at, .parent = parent, .first = number};
  poli_mjcf_body *b = &m->bodies[number];
  b->path = parent < 0 ? poli_format("worldbody") : poli_mjcf_path(m, at, -1);
  b->first_joint = m->num_joints;
  if (!b->path) {
    m->robot->status = POL_NO_MEMORY;
    return;
  }
  b->name = parent < 0 ? poli_format("world") : keep_name(m, at, b->path, m->body_numbers, number);
  if (m->robot->status) return;
  if (parent >= 0) {
    poli_mjcf_pose(m, at, b->path, &b->local);
    poli_pose_product(frame, &b->local, &b->local);
    if (poli_mjcf_is(m, at, "mocap", "true", 0))
      poli_robot_note(m->robot, "%s: mocap is not used, it does not move", b->path);
    read_joints(m, at, number, &poli_pose_identity);
  }
  read_children(m, at, number, &poli_pose_identity);
}

/* All of the worlds, as one body. */
static void read_tree(poli_mjcf *m)
{
  const xmlNode *world = poli_xml_child(m->top, "worldbody");
  if (!world)
    poli_robot_error(m->robot, m->top, "mujoco", "", "must have a <worldbody>", "");
  else
    read_body(m, world, -1, &poli_pose_identity);
  for (world = world ? poli_xml_next(world) : NULL; world && !m->robot->status;
       world = poli_xml_next(world))
    read_children(m, world, 0, &poli_pose_identity);
  if (json_object_set_new(m->body_numbers, "world", json_integer(0)))
    m->robot->status = POL_NO_MEMORY;
}

/* --- the model -------------------------------------------------------------------------------- */

/* The velocity at the start, to the body that was added last. */
static void add_velocity(poli_mjcf *m, const poli_mjcf_body *b)
{
  const json_t *bodies = json_object_get(m->robot->model, "bodies");
  json_t *item = json_array_get(bodies, json_array_size(bodies) - 1);
  const double *turn = b->velocity + 3;
  double v[3];
  poli_v3_cross(turn, b->frame.position, v);
  poli_v3_add(b->velocity, v, v);
  if (poli_v3_dot(v, v) == 0.0 && poli_v3_dot(turn, turn) == 0.0) return;
  if (json_object_set_new(item, "velocity", poli_json_numbers(v, 3)) ||
      json_object_set_new(item, "angular_velocity_global", poli_json_numbers(turn, 3)))
    m->robot->status = POL_NO_MEMORY;
}

static void add_bodies(poli_mjcf *m)
{
  poli_robot *robot = m->robot;
  for (int i = 0; i < m->num_bodies && !robot->status; i++) {
    poli_mjcf_body *b = &m->bodies[i];
    if (b->first != i) continue;
    char *wanted = b->name[0] ? poli_format("%s", b->name) : poli_format("body%d", i);
    if (wanted)
      b->model_name = i == 0 ? poli_format("ground")
                             : poli_robot_name(robot, "elements", wanted, "body", b->path);
    free(wanted);
    b->shapes = json_array();
    if (!b->model_name || !b->shapes) robot->status = POL_NO_MEMORY;
  }
  if (robot->status) return;
  poli_mjcf_add_parts(m);
  for (int i = 0; i < m->num_bodies && !robot->status; i++) {
    poli_mjcf_body *b = &m->bodies[i];
    if (b->first != i) {
      poli_pose own;
      poli_pose_between(&m->bodies[b->first].frame, &b->pose, &own);
      if (b->name[0])
        poli_robot_add_marker(robot, b->name, b->path, m->bodies[b->first].model_name, &own, NULL);
    } else if (i == 0) {
      if (json_object_set(robot->model, "shapes", b->shapes)) robot->status = POL_NO_MEMORY;
    } else {
      poli_robot_add_body(robot, b->at, b->path, b->model_name, &b->total, &b->frame,
                          json_incref(b->shapes));
      add_velocity(m, b);
    }
  }
}

/* What is read of each element, and what has no effect; of the attributes of MuJoCo 2 and 3. */
#define POSE "pos quat axisangle euler xyaxes zaxis "
#define TREE "worldbody default"
static const poli_attributes mjcf_attributes[] = {
    {"compiler", "compiler",
     "angle eulerseq autolimits inertiafromgeom meshdir assetdir boundmass boundinertia coordinate "
     "balanceinertia settotalmass inertiagrouprange exactmeshinertia strippath",
     "convexhull usethread fusestatic", "texturedir discardvisual"},
    {"compiler", "lengthrange", "",
     "mode useexisting uselimit accel maxforce timeconst timestep "
     "inttotal interval tolrange",
     ""},
    {"option", "option", "gravity timestep wind density viscosity magnetic",
     "impratio integrator cone jacobian solver iterations tolerance noslip_iterations "
     "noslip_tolerance mpr_iterations mpr_tolerance ccd_iterations ccd_tolerance apirate collision "
     "o_margin o_solref o_solimp o_friction ls_iterations ls_tolerance sdf_iterations "
     "sdf_initpoints actuatorgroupdisable",
     ""},
    {"default", "default", "class", "", ""},
    {"worldbody", "worldbody", "", "", ""},
    {TREE, "body", "name childclass mocap " POSE, "", "user"},
    {TREE, "frame", "name childclass " POSE, "", ""},
    {TREE, "inertial", "mass diaginertia fullinertia " POSE, "", ""},
    {TREE, "joint",
     "name class type pos axis limited range stiffness damping armature frictionloss springref ref",
     "solreflimit solimplimit solreffriction solimpfriction margin", "group user"},
    {TREE, "freejoint", "name class", "", "group align"},
    {TREE, "geom", "name class type size fromto mass density mesh rgba material " POSE,
     "contype conaffinity condim priority friction solmix solref solimp margin gap", "group user"},
    {TREE, "site", "name class " POSE, "", "type size fromto material rgba group user"},
    {TREE, "camera light", "", "", "*"},
    {"visual", "global quality headlight map scale rgba", "", "", "*"},
    {"statistic", "statistic", "", "", "*"},
    {"size", "size", "", "*", ""},
    {"asset default", "mesh", "name class file scale", "maxhullvert", "smoothnormal texcoord"},
    {"asset default", "material", "name class rgba", "",
     "texture texrepeat texuniform emission specular shininess reflectance metallic roughness"},
    {"asset", "texture skin hfield", "", "", "*"},
    {"equality", "connect", "name class active body1 body2 anchor site1 site2", "solref solimp",
     ""},
    {"equality", "weld", "name class active body1 body2 relpose site1 site2", "solref solimp", ""},
    {"equality", "joint", "name class active joint1 joint2 polycoef", "solref solimp", ""},
    {"equality", "tendon", "name class active tendon1 tendon2 polycoef", "solref solimp", ""},
    {"default", "equality", "", "solref solimp", ""},
    {"tendon", "fixed", "name class stiffness damping springlength",
     "solreflimit solimplimit solreffriction solimpfriction margin",
     "group user width rgba material"},
    {"tendon", "spatial", "name class stiffness damping springlength",
     "solreflimit solimplimit solreffriction solimpfriction margin",
     "group user width rgba material"},
    {"default", "tendon", "stiffness damping springlength",
     "solreflimit solimplimit solreffriction solimpfriction margin",
     "group user width rgba material"},
    {"tendon", "joint", "joint coef", "", ""},
    {"tendon", "site", "site", "", ""},
    {"actuator default", "motor", POLI_MJCF_ACTUATOR, "", "group user"},
    {"actuator default", "position", POLI_MJCF_ACTUATOR " kp kv", "", "group user"},
    {"actuator default", "velocity", POLI_MJCF_ACTUATOR " kv", "", "group user"},
    {"actuator default", "general", POLI_MJCF_ACTUATOR " dyntype gaintype biastype gainprm biasprm",
     "", "group user"},
};

/* Elements below the first one that have no part in the model: of sections that are not read each
 * one; keyframes and the display together. */
static void note_unused(poli_mjcf *m)
{
  static const char *const used[] = {"compiler", "option",   "default", "worldbody",
                                     "asset",    "visual",   "size",    "statistic",
                                     "equality", "actuator", "tendon",  "keyframe"};
  for (const xmlNode *at = m->top->children; at; at = at->next) {
    if (at->type != XML_ELEMENT_NODE || is_one_of(at, 12, used)) continue;
    for (const xmlNode *child = at->children; child; child = child->next) {
      if (child->type != XML_ELEMENT_NODE) continue;
      char *name = poli_xml_text(child, "name");
      poli_robot_note(m->robot, "%s: <%s>%s%s%s is not used", (const char *)at->name,
                      (const char *)child->name, name ? " '" : "", name ? name : "",
                      name ? "'" : "");
      if (name) xmlFree(name);
    }
  }
  const xmlNode *list = poli_xml_child(m->top, "keyframe");
  for (; list && !m->key; list = poli_xml_next(list))
    for (const xmlNode *at = poli_xml_child(list, "key"); at; at = poli_xml_next(at)) {
      char *name = poli_xml_text(at, "name");
      poli_robot_note(m->robot, "keyframe: <key>%s%s%s is not used%s", name ? " '" : "",
                      name ? name : "", name ? "'" : "",
                      name ? ": import --keyframe starts there" : ": it has no name");
      if (name) xmlFree(name);
    }
  poli_robot_note_attributes(
      m->robot, m->top, (int)(sizeof mjcf_attributes / sizeof mjcf_attributes[0]), mjcf_attributes);
  int geoms = 0;
  for (int i = 0; i < m->num_parts; i++) geoms += m->parts[i].is_geom;
  if (geoms > 0) poli_robot_note(m->robot, "contacts between geoms are not simulated");
}

void poli_read_mjcf(poli_robot *robot, xmlNode *top)
{
  poli_mjcf m = {.robot = robot, .top = top, .sequence = "xyz"};
  m.files = json_object();
  m.body_numbers = json_object();
  m.joint_numbers = json_object();
  char *name = poli_xml_text(top, "model");
  poli_robot_set_title(robot, name ? name : "");
  if (name) xmlFree(name);
  if (!m.files || !m.body_numbers || !m.joint_numbers) robot->status = POL_NO_MEMORY;
  if (!robot->status) expand_includes(&m, top, 0);
  if (!robot->status) check_defaults(&m, top);
  if (!robot->status) check_classes(&m, top);
  if (!robot->status) read_settings(&m);
  if (!robot->status) read_options(&m);
  if (!robot->status) read_tree(&m);
  if (!robot->status && m.num_bodies > 0) {
    poli_mjcf_place_bodies(&m);
    poli_mjcf_sum_masses(&m);
    add_bodies(&m);
    if (!robot->status) poli_mjcf_add_joints(&m);
    if (!robot->status && robot->errors->count == 0) poli_mjcf_add_equalities(&m);
    if (!robot->status && robot->errors->count == 0) poli_mjcf_add_tendons(&m);
    if (!robot->status && robot->errors->count == 0) poli_mjcf_add_actuators(&m);
    note_unused(&m);
  }
  for (int i = 0; i < m.num_bodies; i++) {
    poli_mjcf_body *b = &m.bodies[i];
    free(b->name), free(b->path), free(b->model_name);
    json_decref(b->shapes);
  }
  for (int i = 0; i < m.num_joints; i++)
    free(m.joints[i].name), free(m.joints[i].path), free(m.joints[i].model_name);
  for (int i = 0; i < m.num_parts; i++) free(m.parts[i].marker);
  free(m.bodies);
  free(m.joints);
  free(m.parts);
  free(m.controls);
  json_decref(m.files);
  json_decref(m.body_numbers);
  json_decref(m.joint_numbers);
}
