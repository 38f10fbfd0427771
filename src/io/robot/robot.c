/* What all formats of robots share: reading XML safely, frames, meshes, errors and notes. */
#define _XOPEN_SOURCE 700
#include "io/robot/robot.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <libxml/parser.h>

#include "base/errors.h"
#include "io/file/file.h"
#include "lie/small.h"
#include "mechanism/inertia.h"

/* --- frames ----------------------------------------------------------------------------------- */

const poli_pose poli_pose_identity = {{0.0, 0.0, 0.0},
                                      {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};

void poli_pose_product(const poli_pose *a, const poli_pose *b, poli_pose *out)
{
  poli_pose c;
  poli_m3_apply(a->R, b->position, c.position);
  poli_v3_add(a->position, c.position, c.position);
  poli_m3_multiply(a->R, b->R, c.R);
  *out = c;
}

void poli_pose_between(const poli_pose *a, const poli_pose *b, poli_pose *out)
{
  poli_pose inverse;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) inverse.R[3 * i + j] = a->R[3 * j + i];
  poli_m3_apply(inverse.R, a->position, inverse.position);
  poli_v3_scale(-1.0, inverse.position, inverse.position);
  poli_pose_product(&inverse, b, out);
}

void poli_pose_set_rpy(const double rpy[3], double R[9])
{
  const double cx = cos(rpy[0]), sx = sin(rpy[0]), cy = cos(rpy[1]), sy = sin(rpy[1]);
  const double cz = cos(rpy[2]), sz = sin(rpy[2]);
  const double turned[9] = {cz * cy,
                            cz * sy * sx - sz * cx,
                            cz * sy * cx + sz * sx,
                            sz * cy,
                            sz * sy * sx + cz * cx,
                            sz * sy * cx - cz * sx,
                            -sy,
                            cy * sx,
                            cy * cx};
  memcpy(R, turned, sizeof turned);
}

void poli_pose_set_axis(const double axis[3], double angle, double R[9])
{
  const double c = cos(angle), s = sin(angle);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int k = 3 - i - j; /* the third axis, if i and j differ */
      const double cross = i == j ? 0.0 : (j == (i + 1) % 3 ? -axis[k] : axis[k]);
      R[3 * i + j] = (1.0 - c) * axis[i] * axis[j] + s * cross + (i == j ? c : 0.0);
    }
}

/* J += J_part + mu (d.d 1 - d d^T), d between the centres, mu the reduced mass. */
void poli_solid_add(poli_solid *sum, const poli_solid *part, const poli_pose *pose)
{
  const double mass = sum->mass + part->mass;
  const double reduced = mass > 0.0 ? sum->mass * part->mass / mass : 0.0;
  double d[3], turned[9], J[9];
  poli_m3_apply(pose->R, part->center, d);
  poli_v3_add(pose->position, d, d);
  poli_v3_subtract(d, sum->center, d);
  poli_m3_multiply(pose->R, part->inertia, turned);
  poli_m3_multiply_by_transposed(turned, pose->R, J);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      sum->inertia[3 * i + j] += 0.5 * (J[3 * i + j] + J[3 * j + i]) +
                                 reduced * ((i == j ? poli_v3_dot(d, d) : 0.0) - d[i] * d[j]);
  if (mass > 0.0) poli_v3_add_scaled(part->mass / mass, d, sum->center);
  sum->mass = mass;
}

/* --- errors, notes, the model ----------------------------------------------------------------- */

void poli_robot_error(poli_robot *robot, const xmlNode *at, const char *path, const char *value,
                      const char *rule, const char *suggestion)
{
  if (robot->status) return;
  char *excerpt = poli_format("%.60s", value);
  robot->status =
      excerpt ? pol_errors_add(robot->errors, path, excerpt, rule, suggestion) : POL_NO_MEMORY;
  free(excerpt);
  if (robot->status || !at) return;
  pol_error *error = &robot->errors->items[robot->errors->count - 1];
  error->line = (int)xmlGetLineNo((xmlNode *)(uintptr_t)at);
  while (at && !at->_private) at = at->parent; /* what an included file has carries its name */
  char *file = at ? poli_format("%s", (const char *)at->_private) : NULL;
  if (at && !file) robot->status = POL_NO_MEMORY;
  if (file) {
    free(error->file);
    error->file = file;
  }
}

void poli_robot_note(poli_robot *robot, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *text = poli_format_list(format, arguments);
  va_end(arguments);
  if (!text || json_array_append_new(robot->notes, json_string(text)))
    robot->status = POL_NO_MEMORY;
  free(text);
}

void poli_robot_add(poli_robot *robot, const char *key, json_t *item)
{
  json_t *list = json_object_get(robot->model, key);
  if (!list) {
    list = json_array();
    if (json_object_set_new(robot->model, key, list)) list = NULL;
  }
  if (json_array_append_new(list, item)) robot->status = POL_NO_MEMORY;
}

/* Whether the model would read these as something else. */
static int is_reserved(const char *list, const char *name)
{
  static const char *const quantities[] = {"t", "pi", "t_reactions"};
  int found = strcmp(name, "ground") == 0;
  for (int i = 0; strcmp(list, "variables") == 0 && i < 3; i++)
    found |= strcmp(name, quantities[i]) == 0;
  return found;
}

char *poli_robot_name(poli_robot *robot, const char *list, const char *wanted, const char *suffix,
                      const char *path)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";
  char *name = poli_format("%.80s", wanted[0] ? wanted : suffix);
  json_t *given = json_object_get(robot->names, list);
  if (!given && json_object_set_new(robot->names, list, json_object()) == 0)
    given = json_object_get(robot->names, list);
  const size_t length = name ? strlen(name) : 0;
  for (size_t i = 0; i < length; i++)
    if (!strchr(allowed, name[i]) || (name[i] == ' ' && (i == 0 || i + 1 == length))) name[i] = '_';
  char *base = poli_format("%s", name ? name : "");
  for (int n = 1; name && base && (is_reserved(list, name) || json_object_get(given, name)); n++) {
    free(name);
    name = n == 1 ? poli_format("%s_%s", base, suffix) : poli_format("%s_%s%d", base, suffix, n);
  }
  free(base);
  if (!name || json_object_set_new(given, name, json_true())) robot->status = POL_NO_MEMORY;
  if (name && wanted[0] && strcmp(name, wanted) != 0)
    poli_robot_note(robot, "%s is called '%s' in the model", path, name);
  return name;
}

void poli_robot_set_title(poli_robot *robot, const char *title)
{
  char *text = poli_format("%s", title);
  for (char *at = text; at && *at; at++) /* braces would be expressions */
    if (*at == '{' || *at == '}') *at = *at == '{' ? '(' : ')';
  if (!text || json_object_set_new(robot->model, "name", json_string(text)))
    robot->status = POL_NO_MEMORY;
  free(text);
}

void poli_robot_add_body(poli_robot *robot, const xmlNode *at, const char *path, const char *name,
                         const poli_solid *solid, const poli_pose *frame, json_t *shapes)
{
  const double *J = solid->inertia;
  double moments[3] = {0.0, 0.0, 0.0}, axes[9];
  int finite = isfinite(solid->mass) != 0;
  for (int i = 0; i < 9; i++) finite &= isfinite(J[i]) != 0;
  for (int i = 0; i < 3; i++) finite &= isfinite(frame->position[i]) != 0;
  if (!finite) {
    poli_robot_error(robot, at, path, "",
                     "has a mass, inertia or position that is too large to calculate with", "");
    json_decref(shapes);
    return;
  }
  if (solid->mass > 0.0) poli_principal_axes(J, moments, axes);
  const double sum = moments[0] + moments[1] + moments[2];
  int good = 1;
  for (int i = 0; i < 3; i++)
    good &= moments[i] > 0.0 && 2.0 * moments[i] <= sum + 1e-9 * (sum - moments[i]);
  if (!(solid->mass > 0.0)) {
    poli_robot_error(robot, at, path, "",
                     "has no mass, but a joint moves it: give it mass and inertia, or fix it", "");
  } else if (!good) {
    char *value = poli_format("%.6g, %.6g, %.6g", moments[0], moments[1], moments[2]);
    if (!value) robot->status = POL_NO_MEMORY;
    poli_robot_error(
        robot, at, path, value ? value : "",
        "has principal moments of inertia that no solid has: each must be positive and "
        "at most the sum of the others",
        "");
    free(value);
  }
  json_t *rows = json_pack("[o, o, o]", poli_json_numbers(J, 3), poli_json_numbers(J + 3, 3),
                           poli_json_numbers(J + 6, 3));
  poli_robot_add(robot, "bodies",
                 json_pack("{s:s, s:f, s:o, s:o, s:o, s:o}", "name", name, "mass", solid->mass,
                           "inertia", rows, "position", poli_json_numbers(frame->position, 3),
                           "rotation", poli_json_rotation(frame->R), "shapes", shapes));
}

void poli_robot_add_marker(poli_robot *robot, const char *wanted, const char *path,
                           const char *body, const poli_pose *pose, char **given)
{
  char *name = poli_robot_name(robot, "markers", wanted, "marker", path);
  if (name)
    poli_robot_add(robot, "markers",
                   json_pack("{s:s, s:s, s:o, s:o}", "name", name, "body", body, "position",
                             poli_json_numbers(pose->position, 3), "rotation",
                             poli_json_rotation(pose->R)));
  if (given)
    *given = name;
  else
    free(name);
}

void poli_robot_add_shape(poli_robot *robot, json_t *shapes, json_t *shape, const poli_pose *pose,
                          const double *color)
{
  for (int i = 0; i < 3; i++)
    if (!isfinite(pose->position[i])) { /* so is its body, which is refused */
      json_decref(shape);
      return;
    }
  if (!shape || json_object_set_new(shape, "position", poli_json_numbers(pose->position, 3)) ||
      json_object_set_new(shape, "rotation", poli_json_rotation(pose->R)))
    robot->status = POL_NO_MEMORY;
  if (shape && color) {
    unsigned number = 0;
    for (int i = 0; i < 3; i++)
      number = 256 * number + (unsigned)lround(255.0 * fmin(fmax(color[i], 0.0), 1.0));
    char text[16];
    snprintf(text, sizeof text, "#%06x", number);
    if (json_object_set_new(shape, "color", json_string(text))) robot->status = POL_NO_MEMORY;
  }
  if (json_array_append_new(shapes, shape)) robot->status = POL_NO_MEMORY;
}

json_t *poli_json_numbers(const double *x, int count)
{
  json_t *list = json_array();
  for (int i = 0; list && i < count; i++)
    if (json_array_append_new(list, json_real(x[i]))) {
      json_decref(list);
      return NULL;
    }
  return list;
}

json_t *poli_json_rotation(const double R[9])
{
  return json_pack("{s:[o, o, o]}", "matrix", poli_json_numbers(R, 3), poli_json_numbers(R + 3, 3),
                   poli_json_numbers(R + 6, 3));
}

/* --- XML ---------------------------------------------------------------------------------------
 */

xmlNode *poli_xml_next(const xmlNode *element)
{
  const xmlNode *next = element->next;
  while (next && (next->type != XML_ELEMENT_NODE || !xmlStrEqual(next->name, element->name)))
    next = next->next;
  return (xmlNode *)(uintptr_t)next;
}

xmlNode *poli_xml_child(const xmlNode *parent, const char *name)
{
  xmlNode *child = parent->children;
  while (child && (child->type != XML_ELEMENT_NODE || strcmp((const char *)child->name, name) != 0))
    child = child->next;
  return child;
}

char *poli_xml_text(const xmlNode *element, const char *name)
{
  return (char *)xmlGetNoNsProp(element, (const xmlChar *)name);
}

int poli_xml_read_numbers(poli_robot *robot, const xmlNode *element, const char *name,
                          const char *path, const char *text, int least, int most, double *numbers)
{
  double found[16];
  int n = 0, good = 1;
  for (const char *at = text; good;) {
    at += strspn(at, " \t\r\n");
    if (*at == '\0') break;
    char *end;
    const double x = strtod(at, &end);
    good = end != at && isfinite(x) && n < most;
    if (good) found[n++] = x;
    at = end;
  }
  if (good && n >= least) {
    memcpy(numbers, found, (size_t)n * sizeof *numbers);
    return n;
  }
  char *where = poli_format("%s: %s", path, name), *value = poli_format("\"%.58s\"", text);
  char *rule = most == 1       ? poli_format("must be a finite number")
               : least == most ? poli_format("must be %d finite numbers", most)
                               : poli_format("must be %d to %d finite numbers", least, most);
  if (where && value && rule)
    poli_robot_error(robot, element, where, value, rule, "");
  else
    robot->status = POL_NO_MEMORY;
  free(where);
  free(value);
  free(rule);
  return 0;
}

int poli_xml_numbers(poli_robot *robot, const xmlNode *element, const char *name, const char *path,
                     int count, double *numbers)
{
  char *text = poli_xml_text(element, name);
  if (!text) return 0;
  poli_xml_read_numbers(robot, element, name, path, text, count, count, numbers);
  xmlFree(text);
  return 1;
}

/* --- meshes ------------------------------------------------------------------------------------
 */

static int is_there(const char *path)
{
  return path && access(path, R_OK) == 0;
}

/* package://NAME/REST: a folder NAME above the description, or in one of those of ROS_PACKAGE_PATH;
 * the folder above may also be the package itself under another name. */
static char *find_in_packages(const poli_robot *robot, const char *name)
{
  const char *rest = strchr(name, '/');
  char *up = poli_format("%s", robot->folder), *found = NULL;
  for (int level = 0; up && level < 8; level++) {
    found = poli_format("%s%s", up, name);
    if (is_there(found)) break;
    free(found);
    found = rest ? poli_format("%s%s", up, rest + 1) : NULL;
    if (is_there(found)) break;
    free(found);
    found = NULL;
    char *higher = poli_format("%s../", up);
    free(up);
    up = higher;
  }
  free(up);
  const char *list = getenv("ROS_PACKAGE_PATH");
  while (!found && list && *list) {
    const size_t length = strcspn(list, ":");
    found = poli_format("%.*s/%s", (int)length, list, name);
    if (!is_there(found)) {
      free(found);
      found = NULL;
    }
    list += length + (list[length] == ':');
  }
  return found;
}

const char *poli_robot_scale_problem(const double scale[3])
{
  if (scale[0] != scale[1] || scale[0] != scale[2]) return "its scale differs between the axes";
  return scale[0] > 0.0 ? NULL : "its scale is not positive";
}

char *poli_robot_mesh(poli_robot *robot, const char *name, const char *owner)
{
  static const char package[] = "package://", file[] = "file://";
  const char *dot = strrchr(name, '.');
  if (!dot || (strcasecmp(dot, ".stl") != 0 && strcasecmp(dot, ".obj") != 0 &&
               strcasecmp(dot, ".dae") != 0)) {
    poli_robot_note(robot, "%s: mesh \"%s\" is not used: only STL, OBJ and DAE files are", owner,
                    name);
    return NULL;
  }
  char *path = NULL;
  if (strncmp(name, package, sizeof package - 1) == 0) {
    path = find_in_packages(robot, name + sizeof package - 1);
  } else {
    const char *plain = strncmp(name, file, sizeof file - 1) == 0 ? name + sizeof file - 1 : name;
    path = poli_format("%s%s", plain[0] == '/' ? "" : robot->folder, plain);
  }
  if (!is_there(path) || strpbrk(path, "{}")) { /* braces would be expressions in the model */
    poli_robot_note(robot, "%s: mesh \"%s\" is not used: %s", owner, name,
                    is_there(path) ? "its path has braces" : "the file is not there");
    free(path);
    return NULL;
  }
  if (robot->options.absolute) {
    char *whole = realpath(path, NULL);
    free(path);
    return whole;
  }
  /* model files name it from their own folder */
  const size_t length = strlen(robot->folder);
  if (strncmp(path, robot->folder, length) == 0)
    memmove(path, path + length, strlen(path) - length + 1);
  return path;
}

/* --- the text --------------------------------------------------------------------------------- */

int poli_is_robot(const char *text, size_t size)
{
  static const char mark[] = "\xEF\xBB\xBF";
  size_t at = size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
  if (size >= 4 && (memcmp(text, "\xFF\xFE<", 4) == 0 || memcmp(text, "\xFE\xFF\0<", 4) == 0))
    return 1; /* UTF-16, which libxml2 reads */
  while (at < size && strchr(" \t\r\n", text[at]) && text[at] != '\0') at++;
  return at < size && text[at] == '<';
}

/* Entities could name files or grow without end: documents that declare any are refused, and
 * libxml2 is not asked to replace them. */
xmlDocPtr poli_xml_parse(poli_robot *robot, const char *text, size_t size, const char *file)
{
  xmlParserCtxtPtr parser = xmlNewParserCtxt();
  if (!parser) {
    robot->status = POL_NO_MEMORY;
    return NULL;
  }
  xmlDocPtr document = xmlCtxtReadMemory(parser, text, (int)size, NULL, NULL,
                                         XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                             XML_PARSE_BIG_LINES);
  const xmlErrorPtr wrong = xmlCtxtGetLastError(parser);
  const int first = robot->errors->count;
  const int is_declared =
      parser->intSubName || (document && (document->intSubset || document->extSubset));
  if (!document && wrong && wrong->code == XML_ERR_NO_MEMORY) {
    robot->status = POL_NO_MEMORY;
  } else if (is_declared) { /* whatever else is wrong in it */
    poli_robot_error(robot, NULL, "", "", "must not have a document type declaration (<!DOCTYPE>)",
                     "");
    xmlFreeDoc(document);
    document = NULL;
  } else if (!document) {
    const char *reason = wrong && wrong->message ? wrong->message : "unknown error";
    char *path =
        poli_format("line %d, column %d", wrong ? wrong->line : 1, wrong ? wrong->int2 : 1);
    char *rule = poli_format("must be valid XML: %.*s", (int)strcspn(reason, "\n"), reason);
    if (path && rule)
      poli_robot_error(robot, NULL, path, "", rule, "");
    else
      robot->status = POL_NO_MEMORY;
    free(path);
    free(rule);
  }
  if (file[0] && !robot->status && robot->errors->count > first) {
    char *copy = poli_format("%s", file);
    if (!copy) robot->status = POL_NO_MEMORY;
    if (copy) {
      free(robot->errors->items[first].file);
      robot->errors->items[first].file = copy;
    }
  }
  xmlFreeParserCtxt(parser);
  return document;
}

/* Notes as lines. */
static char *lines_of(const json_t *notes)
{
  char *text = poli_format("%s", "");
  size_t i;
  const json_t *note;
  json_array_foreach(notes, i, note)
  {
    char *longer = text ? poli_format("%s%s\n", text, json_string_value(note)) : NULL;
    free(text);
    text = longer;
  }
  return text;
}

pol_status poli_robot_text(const char *bytes, size_t size, const char *folder,
                           const pol_robot_options *options, char **model, char **notes,
                           pol_errors *errors)
{
  poli_robot robot = {
      .folder = folder, .errors = errors, .model = json_object(), .notes = json_array()};
  robot.names = json_object();
  if (options) robot.options = *options;
  *model = NULL;
  if (notes) *notes = NULL;
  if (!robot.model || !robot.names || !robot.notes) robot.status = POL_NO_MEMORY;
  if (!robot.status) robot.document = poli_xml_parse(&robot, bytes, size, "");
  xmlNode *top = robot.document ? xmlDocGetRootElement(robot.document) : NULL;
  if (top && strcmp((const char *)top->name, "robot") == 0)
    poli_read_urdf(&robot, top);
  else if (top && strcmp((const char *)top->name, "mujoco") == 0)
    poli_read_mjcf(&robot, top);
  else if (top)
    poli_robot_error(&robot, top, (const char *)top->name, "",
                     "is not known: the first element must be <robot> (URDF) or <mujoco> (MJCF)",
                     "");
  xmlFreeDoc(robot.document);
  if (!robot.status && errors->count > 0) robot.status = POL_BAD_ARGUMENT;
  if (!robot.status) *model = json_dumps(robot.model, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  if (!robot.status && notes) *notes = lines_of(robot.notes);
  if (!robot.status && (!*model || (notes && !*notes))) robot.status = POL_NO_MEMORY;
  if (robot.status == POL_NO_MEMORY) pol_errors_clear(errors);
  json_decref(robot.model);
  json_decref(robot.names);
  json_decref(robot.notes);
  return robot.status;
}

/* Bytes of a description; what has more is something else. */
static const size_t largest_robot = (size_t)1 << 28;

pol_status pol_robot_read_file(const char *path, const pol_robot_options *options, char **model,
                               char **notes, pol_errors *errors)
{
  const char *slash = strrchr(path, '/');
  char *folder = poli_format("%.*s", slash ? (int)(slash - path) + 1 : 0, path), *bytes = NULL;
  size_t size;
  *model = NULL;
  if (notes) *notes = NULL;
  pol_status status =
      folder ? poli_read_small_file(path, largest_robot, &bytes, &size) : POL_NO_MEMORY;
  if (status == POL_IO) {
    char *rule = poli_format("cannot be read: %s", strerror(errno));
    if (!rule || pol_errors_add(errors, "", "", rule, "")) status = POL_NO_MEMORY;
    free(rule);
  }
  if (!status && !poli_is_robot(bytes, size)) {
    status = pol_errors_add(errors, "", "", "must be a robot in XML (URDF or MJCF)", "");
    if (!status) status = POL_BAD_ARGUMENT;
  }
  if (!status) status = poli_robot_text(bytes, size, folder, options, model, notes, errors);
  free(folder);
  free(bytes);
  return status;
}
