/* What all formats of robots share: reading XML safely, frames, meshes, errors and notes. */
#define _XOPEN_SOURCE 700
#include "io/robot/robot.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <libxml/parser.h>

#include "base/errors.h"
#include "io/file/file.h"
#include "lie/small.h"

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

/* --- errors, notes, the model -------------------------------------------------------------------
 */

void poli_robot_error(poli_robot *robot, const xmlNode *at, const char *path, const char *value,
                      const char *rule, const char *suggestion)
{
  if (robot->status) return;
  robot->status = pol_errors_add(robot->errors, path, value, rule, suggestion);
  if (!robot->status && at)
    robot->errors->items[robot->errors->count - 1].line =
        (int)xmlGetLineNo((xmlNode *)(uintptr_t)at);
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
  if (!list || json_array_append_new(list, item)) robot->status = POL_NO_MEMORY;
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

/* --- XML -----------------------------------------------------------------------------------------
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

int poli_xml_numbers(poli_robot *robot, const xmlNode *element, const char *name, const char *path,
                     int count, double *numbers)
{
  char *text = poli_xml_text(element, name);
  if (!text) return 0;
  double found[16];
  int n = 0, good = 1;
  for (const char *at = text; good;) {
    at += strspn(at, " \t\r\n");
    if (*at == '\0') break;
    char *end;
    const double x = strtod(at, &end);
    good = end != at && isfinite(x) && n < count;
    if (good) found[n++] = x;
    at = end;
  }
  if (good && n == count) {
    memcpy(numbers, found, (size_t)count * sizeof *numbers);
  } else {
    char *where = poli_format("%s: %s", path, name), *value = poli_format("\"%.60s\"", text);
    char *rule = count == 1 ? poli_format("must be a finite number")
                            : poli_format("must be %d finite numbers", count);
    if (where && value && rule)
      poli_robot_error(robot, element, where, value, rule, "");
    else
      robot->status = POL_NO_MEMORY;
    free(where);
    free(value);
    free(rule);
  }
  xmlFree(text);
  return 1;
}

/* --- meshes --------------------------------------------------------------------------------------
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

char *poli_robot_mesh(poli_robot *robot, const char *name, const char *owner)
{
  static const char package[] = "package://", file[] = "file://";
  const char *dot = strrchr(name, '.');
  if (!dot || (strcasecmp(dot, ".stl") != 0 && strcasecmp(dot, ".obj") != 0)) {
    poli_robot_note(robot, "%s: mesh \"%s\" is not shown: only STL and OBJ files are", owner, name);
    return NULL;
  }
  char *path = NULL;
  if (strncmp(name, package, sizeof package - 1) == 0) {
    path = find_in_packages(robot, name + sizeof package - 1);
  } else {
    const char *plain = strncmp(name, file, sizeof file - 1) == 0 ? name + sizeof file - 1 : name;
    path = poli_format("%s%s", plain[0] == '/' ? "" : robot->folder, plain);
  }
  if (!is_there(path)) {
    poli_robot_note(robot, "%s: mesh \"%s\" is not shown: the file is not there", owner, name);
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

/* --- the text
 * -------------------------------------------------------------------------------------- */

int poli_is_robot(const char *text, size_t size)
{
  static const char mark[] = "\xEF\xBB\xBF";
  size_t at = size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
  while (at < size && strchr(" \t\r\n", text[at]) && text[at] != '\0') at++;
  return at < size && text[at] == '<';
}

/* Entities could name files or grow without end: documents that declare any are refused. */
static xmlDocPtr parse(poli_robot *robot, const char *text, size_t size)
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
  if (!document && wrong && wrong->code == XML_ERR_NO_MEMORY) {
    robot->status = POL_NO_MEMORY;
  } else if (!document) {
    const char *reason = wrong && wrong->message ? wrong->message : "unknown error";
    const size_t length = strcspn(reason, "\n");
    char *path =
        poli_format("line %d, column %d", wrong ? wrong->line : 1, wrong ? wrong->int2 : 1);
    char *rule = poli_format("must be valid XML: %.*s", (int)length, reason);
    if (path && rule)
      poli_robot_error(robot, NULL, path, "", rule, "");
    else
      robot->status = POL_NO_MEMORY;
    free(path);
    free(rule);
  } else if (document->intSubset || document->extSubset) {
    poli_robot_error(robot, NULL, "", "", "must not have a document type declaration (<!DOCTYPE>)",
                     "");
    xmlFreeDoc(document);
    document = NULL;
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
  if (options) robot.options = *options;
  *model = NULL;
  if (notes) *notes = NULL;
  if (!robot.model || !robot.notes) robot.status = POL_NO_MEMORY;
  if (!robot.status) robot.document = parse(&robot, bytes, size);
  const xmlNode *top = robot.document ? xmlDocGetRootElement(robot.document) : NULL;
  if (top && strcmp((const char *)top->name, "robot") == 0)
    poli_read_urdf(&robot, top);
  else if (top)
    poli_robot_error(&robot, top, (const char *)top->name, "",
                     "is not known: the first element must be <robot> (URDF)", "");
  xmlFreeDoc(robot.document);
  if (!robot.status && errors->count > 0) robot.status = POL_BAD_ARGUMENT;
  if (!robot.status) *model = json_dumps(robot.model, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  if (!robot.status && notes) *notes = lines_of(robot.notes);
  if (!robot.status && (!*model || (notes && !*notes))) robot.status = POL_NO_MEMORY;
  json_decref(robot.model);
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
    status = pol_errors_add(errors, "", "", "must be a robot in XML (URDF)", "");
    if (!status) status = POL_BAD_ARGUMENT;
  }
  if (!status) status = poli_robot_text(bytes, size, folder, options, model, notes, errors);
  free(folder);
  free(bytes);
  return status;
}
