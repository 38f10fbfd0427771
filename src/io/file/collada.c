/* Collada 1.4 and 1.5 (Khronos Group 2008), the meshes of URDF files: geometries, placed by the
 * nodes of the scene.  Units are applied.  The up axis is not, as in RViz: the axes of a mesh are
 * those of its link, whatever the file calls "up".  Materials, textures and animations are skipped;
 * skins and morphs are refused.
 *
 * No other file is opened: references are to elements of the same document.  Documents with a
 * document type declaration are refused, so that entities cannot grow.  Nodes may refer to others,
 * so a small file can describe a large scene: the number of nodes, of triangles and of numbers read
 * are limited.
 */
#include "io/file/collada.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

enum { DEEPEST = 64, MOST_NODES = 1000000 };
static const size_t most_points = (size_t)3 << 23; /* of all triangles */
static const size_t most_numbers = (size_t)1 << 28;

/* An element by its id. */
typedef struct known {
  char *id;
  const xmlNode *at;
} known;

/* Points of a source. */
typedef struct points {
  const xmlNode *source; /* NULL: none have been read */
  size_t count;
  double *x; /* [count][3] */
} points;

/* A geometry, in its own axes and units. */
typedef struct geometry {
  const xmlNode *at;
  poli_mesh mesh;
} geometry;

typedef struct collada {
  poli_mesh *mesh;
  pol_status status;
  char *message;
  size_t size;
  size_t num_known, num_geometries, num_nodes, num_numbers;
  known *known;         /* sorted by id */
  geometry *geometries; /* those used so far */
  points points;        /* the last ones read */
} collada;

/* x -> A x + b, row-major [3][4] */
typedef struct affine {
  double m[12];
} affine;

static const affine identity = {{1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0}};

/* The first error is kept. */
__attribute__((format(printf, 3, 4))) static void fail(collada *c, const xmlNode *at,
                                                       const char *format, ...)
{
  if (c->status) return;
  c->status = POL_BAD_ARGUMENT;
  va_list arguments;
  va_start(arguments, format);
  const int used =
      at ? snprintf(c->message, c->size, "line %ld: ", xmlGetLineNo((xmlNode *)(uintptr_t)at)) : 0;
  if (used >= 0 && (size_t)used < c->size)
    vsnprintf(c->message + used, c->size - (size_t)used, format, arguments);
  va_end(arguments);
}

/* --- elements --------------------------------------------------------------------------------- */

static int is_element(const xmlNode *at, const char *name)
{
  return at->type == XML_ELEMENT_NODE && strcmp((const char *)at->name, name) == 0;
}

/* The first child of that name, or the next one after `before`; NULL if there is none. */
static const xmlNode *child(const xmlNode *parent, const xmlNode *before, const char *name)
{
  const xmlNode *at = before ? before->next : parent ? parent->children : NULL;
  while (at && !is_element(at, name)) at = at->next;
  return at;
}

/* An attribute, which the caller frees with xmlFree; NULL if there is none. */
static char *attribute(const xmlNode *at, const char *name)
{
  return (char *)xmlGetNoNsProp(at, (const xmlChar *)name);
}

/* A number of an attribute, a fallback if there is none. */
static size_t whole_number(collada *c, const xmlNode *at, const char *name, size_t fallback)
{
  char *text = attribute(at, name), *end = NULL;
  const long number = text ? strtol(text, &end, 10) : 0;
  if (text &&
      (end == text || end[strspn(end, " \t\r\n")] != '\0' || number < 0 || number > INT_MAX))
    fail(c, at, "%s of <%s> must be a whole number, not \"%.40s\"", name, (const char *)at->name,
         text);
  const size_t result = text ? (size_t)number : fallback;
  if (text) xmlFree(text);
  return c->status ? 0 : result;
}

static int compare_known(const void *first, const void *second)
{
  return strcmp(((const known *)first)->id, ((const known *)second)->id);
}

/* Collects the elements that have an id; libxml2 has limited their depth. */
static void collect(collada *c, const xmlNode *parent, size_t *capacity)
{
  for (const xmlNode *at = parent->children; at && !c->status; at = at->next) {
    if (at->type != XML_ELEMENT_NODE) continue;
    char *id = attribute(at, "id");
    if (id && c->num_known == *capacity) {
      const size_t wanted = *capacity ? 2 * *capacity : 64;
      known *longer = realloc(c->known, wanted * sizeof *longer);
      if (longer) c->known = longer, *capacity = wanted;
      if (!longer) c->status = POL_NO_MEMORY;
    }
    if (id && !c->status)
      c->known[c->num_known++] = (known){id, at};
    else if (id)
      xmlFree(id);
    collect(c, at, capacity);
  }
}

/* The element that an attribute ("#id") refers to; NULL with an error if it is none of that name.
 */
static const xmlNode *follow(collada *c, const xmlNode *at, const char *name, const char *wanted)
{
  if (c->status) return NULL;
  char *url = attribute(at, name);
  const known key = {url && url[0] == '#' ? url + 1 : NULL, NULL};
  const known *found = key.id && c->num_known
                           ? bsearch(&key, c->known, c->num_known, sizeof key, compare_known)
                           : NULL;
  if (!url)
    fail(c, at, "<%s> must have the attribute %s", (const char *)at->name, name);
  else if (url[0] != '#')
    fail(c, at, "<%s> refers to another file (\"%.60s\"), which is not read",
         (const char *)at->name, url);
  else if (!found)
    fail(c, at, "<%s> refers to \"%.60s\", which is not there", (const char *)at->name, url);
  else if (!is_element(found->at, wanted))
    fail(c, at, "<%s> refers to \"%.60s\", which must be a <%s>", (const char *)at->name, url,
         wanted);
  if (url) xmlFree(url);
  return c->status ? NULL : found->at;
}

/* All numbers of the text of an element, *count of them, which the caller frees; NULL with an error
 * if one is wrong, or if there are none. */
static double *numbers_of(collada *c, const xmlNode *at, size_t *count)
{
  size_t capacity = 0;
  double *numbers = NULL;
  *count = 0;
  if (c->status) return NULL;
  char *text = (char *)xmlNodeGetContent(at);
  if (!text) c->status = POL_NO_MEMORY;
  for (const char *rest = text; !c->status;) {
    rest += strspn(rest, " \t\r\n");
    if (*rest == '\0') break;
    char *end;
    const double x = strtod(rest, &end);
    if (end == rest || !isfinite(x) || (*end != '\0' && !strchr(" \t\r\n", *end)))
      fail(c, at, "<%s> must have finite numbers, not \"%.*s\"", (const char *)at->name,
           (int)strcspn(rest, " \t\r\n") < 40 ? (int)strcspn(rest, " \t\r\n") : 40, rest);
    else if (++c->num_numbers > most_numbers)
      fail(c, at, "the scene is too large");
    if (!c->status && *count == capacity) {
      const size_t wanted = capacity ? 2 * capacity : 64;
      double *longer = realloc(numbers, wanted * sizeof *longer);
      if (longer) numbers = longer, capacity = wanted;
      if (!longer) c->status = POL_NO_MEMORY;
    }
    if (!c->status) numbers[(*count)++] = x;
    rest = end;
  }
  if (!c->status && *count == 0) fail(c, at, "<%s> has no numbers", (const char *)at->name);
  if (text) xmlFree(text);
  if (!c->status) return numbers;
  free(numbers);
  *count = 0;
  return NULL;
}

/* --- points ----------------------------------------------------------------------------------- */

/* Places of X, Y and Z among the values of a point: those of the <param> of these names, or the
 * first three. */
static void find_columns(const xmlNode *accessor, size_t columns[3])
{
  static const char *const names[3] = {"X", "Y", "Z"};
  size_t found[3] = {0}, number = 0;
  int count = 0;
  for (const xmlNode *at = child(accessor, NULL, "param"); at; at = child(NULL, at, "param")) {
    char *name = attribute(at, "name");
    for (int i = 0; i < 3 && name; i++)
      if (strcmp(name, names[i]) == 0) found[i] = number, count++;
    if (name) xmlFree(name);
    number++;
  }
  for (size_t i = 0; i < 3; i++) columns[i] = count == 3 ? found[i] : i;
}

/* Reads the points of a <source>, unless they are those read before. */
static void read_points(collada *c, const xmlNode *source)
{
  if (!source || c->points.source == source) return;
  const xmlNode *common = child(source, NULL, "technique_common");
  const xmlNode *accessor = common ? child(common, NULL, "accessor") : NULL;
  if (!accessor) {
    fail(c, source, "<source> must have a <technique_common> with an <accessor>");
    return;
  }
  const xmlNode *array = follow(c, accessor, "source", "float_array");
  const size_t count = whole_number(c, accessor, "count", 0);
  const size_t stride = whole_number(c, accessor, "stride", 1);
  const size_t offset = whole_number(c, accessor, "offset", 0);
  size_t available = 0, columns[3];
  double *values = array ? numbers_of(c, array, &available) : NULL;
  find_columns(accessor, columns);
  size_t last = 0;
  for (int i = 0; i < 3; i++) last = columns[i] > last ? columns[i] : last;
  if (!c->status && (count == 0 || stride == 0 || stride <= last))
    fail(c, accessor, "<accessor> must have a count, and a stride of three or more");
  /* all are at most INT_MAX: no overflow in 64 bits */
  else if (!c->status && (uint64_t)offset + (uint64_t)(count - 1) * stride + last >= available)
    fail(c, accessor, "<accessor> describes more values than the %zu of its <float_array>",
         available);
  double *x = c->status ? NULL : malloc(count * 3 * sizeof *x);
  if (!c->status && !x) c->status = POL_NO_MEMORY;
  for (size_t i = 0; x && i < count; i++)
    for (size_t k = 0; k < 3; k++) x[3 * i + k] = values[offset + i * stride + columns[k]];
  free(values);
  free(c->points.x);
  c->points = (points){x ? source : NULL, x ? count : 0, x};
}

/* Where the corners of a primitive are among its indices. */
typedef struct layout {
  size_t stride, vertex;
} layout;

/* The inputs of a primitive; reads its points. */
static layout read_inputs(collada *c, const xmlNode *primitive)
{
  layout l = {0, 0};
  const xmlNode *position = NULL;
  for (const xmlNode *at = child(primitive, NULL, "input"); at && !c->status;
       at = child(NULL, at, "input")) {
    char *semantic = attribute(at, "semantic");
    const size_t offset = whole_number(c, at, "offset", 0);
    if (offset >= l.stride) l.stride = offset + 1;
    if (semantic && strcmp(semantic, "VERTEX") == 0) {
      const xmlNode *vertices = follow(c, at, "source", "vertices");
      for (const xmlNode *in = child(vertices, NULL, "input"); in; in = child(NULL, in, "input")) {
        char *kind = attribute(in, "semantic");
        if (kind && strcmp(kind, "POSITION") == 0) position = in;
        if (kind) xmlFree(kind);
      }
      l.vertex = offset;
    }
    if (semantic) xmlFree(semantic);
  }
  if (!c->status && !position)
    fail(c, primitive, "<%s> has no <input> of semantic VERTEX with one of POSITION",
         (const char *)primitive->name);
  if (!c->status) read_points(c, follow(c, position, "source", "source"));
  return l;
}

/* --- triangles -------------------------------------------------------------------------------- */

typedef struct corners {
  const xmlNode *at; /* <p> */
  layout layout;
  size_t count; /* of corners */
  double *numbers;
} corners;

/* The indices of a <p>; free numbers. */
static corners read_corners(collada *c, const xmlNode *p, layout l)
{
  corners found = {.at = p, .layout = l};
  size_t count = 0;
  found.numbers = numbers_of(c, p, &count);
  found.count = l.stride > 0 ? count / l.stride : 0;
  if (!c->status && count % l.stride != 0)
    fail(c, p, "<p> has %zu numbers, which is no multiple of its %zu inputs", count, l.stride);
  for (size_t i = 0; i < found.count && !c->status; i++) {
    const double number = found.numbers[i * l.stride + l.vertex];
    if (!(number >= 0.0 && number < (double)c->points.count && number == floor(number)))
      fail(c, p, "<p> has the index %.6g, but there are %zu points", number, c->points.count);
  }
  return found;
}

static void add_triangle(collada *c, poli_mesh *mesh, const corners *p, size_t i, size_t j,
                         size_t k)
{
  const size_t three[3] = {i, j, k};
  for (int n = 0; n < 3 && !c->status; n++) {
    const double number = p->numbers[three[n] * p->layout.stride + p->layout.vertex];
    c->status = poli_mesh_add_point(mesh, c->points.x + 3 * (size_t)number);
  }
  if (!c->status && mesh->num_points > most_points) fail(c, p->at, "the scene is too large");
}

/* A polygon as a fan of triangles. */
static void add_fan(collada *c, poli_mesh *mesh, const corners *p, size_t first, size_t count)
{
  for (size_t i = 2; i < count && !c->status; i++)
    add_triangle(c, mesh, p, first, first + i - 1, first + i);
}

/* <polylist>: the numbers of corners are in <vcount>. */
static void add_polylist(collada *c, poli_mesh *mesh, const xmlNode *at, const corners *p)
{
  const xmlNode *vcount = child(at, NULL, "vcount");
  if (!vcount) fail(c, at, "<polylist> must have a <vcount>");
  size_t count = 0, first = 0;
  double *sizes = vcount ? numbers_of(c, vcount, &count) : NULL;
  for (size_t i = 0; i < count && !c->status; i++) {
    if (!(sizes[i] >= 1.0 && sizes[i] <= (double)(p->count - first) && sizes[i] == floor(sizes[i])))
      fail(c, vcount, "<vcount> does not agree with the %zu corners of <p>", p->count);
    else
      add_fan(c, mesh, p, first, (size_t)sizes[i]);
    if (!c->status) first += (size_t)sizes[i];
  }
  if (!c->status && first != p->count)
    fail(c, vcount, "<vcount> does not agree with the %zu corners of <p>", p->count);
  free(sizes);
}

static void add_primitive(collada *c, poli_mesh *mesh, const xmlNode *at)
{
  if (!child(at, NULL, "p") && !child(at, NULL, "ph")) return; /* empty, which is allowed */
  const layout l = read_inputs(c, at);
  if (!c->status && child(at, NULL, "ph")) fail(c, at, "<polygons> with holes (<ph>) are not read");
  for (const xmlNode *p = child(at, NULL, "p"); p && !c->status; p = child(NULL, p, "p")) {
    corners all = read_corners(c, p, l);
    if (!c->status && is_element(at, "triangles") && all.count % 3 != 0)
      fail(c, p, "<triangles> must have three corners each, but there are %zu", all.count);
    if (c->status) {
    } else if (is_element(at, "triangles")) {
      for (size_t i = 0; i + 2 < all.count && !c->status; i += 3) add_fan(c, mesh, &all, i, 3);
    } else if (is_element(at, "polylist")) {
      add_polylist(c, mesh, at, &all);
    } else if (is_element(at, "tristrips")) { /* every other one turns the other way */
      for (size_t i = 2; i < all.count && !c->status; i++)
        add_triangle(c, mesh, &all, i % 2 ? i - 1 : i - 2, i % 2 ? i - 2 : i - 1, i);
    } else { /* <polygons>, <trifans> */
      add_fan(c, mesh, &all, 0, all.count);
    }
    free(all.numbers);
  }
}

/* The triangles of a <geometry>, read once; NULL after an error. */
static const poli_mesh *read_geometry(collada *c, const xmlNode *at)
{
  static const char *const primitives[] = {"triangles", "polylist", "polygons", "tristrips",
                                           "trifans"};
  for (size_t i = 0; i < c->num_geometries; i++)
    if (c->geometries[i].at == at) return &c->geometries[i].mesh;
  geometry *longer = realloc(c->geometries, (c->num_geometries + 1) * sizeof *longer);
  if (!longer) {
    c->status = POL_NO_MEMORY;
    return NULL;
  }
  c->geometries = longer;
  geometry *own = &c->geometries[c->num_geometries++];
  *own = (geometry){.at = at};
  const xmlNode *mesh = child(at, NULL, "mesh");
  if (!mesh) fail(c, at, "<geometry> has no <mesh>: splines and convex hulls are not read");
  for (const xmlNode *part = mesh ? mesh->children : NULL; part && !c->status; part = part->next)
    for (int k = 0; k < 5; k++)
      if (is_element(part, primitives[k])) add_primitive(c, &own->mesh, part);
  return c->status ? NULL : &own->mesh;
}

/* --- the scene -------------------------------------------------------------------------------- */

static affine product(const affine *a, const affine *b)
{
  affine r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      r.m[4 * i + j] = j == 3 ? a->m[4 * i + 3] : 0.0;
      for (int k = 0; k < 3; k++) r.m[4 * i + j] += a->m[4 * i + k] * b->m[4 * k + j];
    }
  return r;
}

/* Right-handed about an axis of any length, in degrees (Rodrigues). */
static affine rotation(const double axis[3], double degrees)
{
  const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  const double angle = degrees * (3.14159265358979323846 / 180.0);
  const double co = cos(angle), si = sin(angle);
  affine r = identity;
  if (!(length > 0.0)) return r;
  const double n[3] = {axis[0] / length, axis[1] / length, axis[2] / length};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const double cross = i == j ? 0.0 : (j == (i + 1) % 3 ? -n[3 - i - j] : n[3 - i - j]);
      r.m[4 * i + j] = (1.0 - co) * n[i] * n[j] + si * cross + (i == j ? co : 0.0);
    }
  return r;
}

/* Applies one element of a node to its transformation, if it is one. */
static void transform(collada *c, const xmlNode *at, affine *pose)
{
  static const char *const names[] = {"matrix", "translate", "rotate", "scale", "lookat", "skew"};
  static const size_t counts[] = {16, 3, 4, 3};
  int kind = 0;
  while (kind < 6 && !is_element(at, names[kind])) kind++;
  if (kind == 6) return;
  if (kind >= 4) {
    fail(c, at, "<%s> is not read", names[kind]);
    return;
  }
  size_t count;
  double *x = numbers_of(c, at, &count);
  if (!c->status && count != counts[kind])
    fail(c, at, "<%s> must have %zu numbers, not %zu", names[kind], counts[kind], count);
  affine own = identity;
  for (int i = 0; i < 3 && !c->status; i++) {
    if (kind == 0) memcpy(own.m + 4 * i, x + 4 * i, 4 * sizeof *x);
    if (kind == 1) own.m[4 * i + 3] = x[i];
    if (kind == 3) own.m[4 * i + i] = x[i];
  }
  if (!c->status && kind == 2) own = rotation(x, x[3]);
  if (!c->status) *pose = product(pose, &own);
  free(x);
}

/* Adds the triangles of a geometry; those of a mirrored one turn the other way, so that all
 * surfaces keep their outside. */
static void place(collada *c, const xmlNode *at, const affine *pose)
{
  const poli_mesh *from = at ? read_geometry(c, at) : NULL;
  const double *m = pose->m;
  const double volume = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                        m[2] * (m[4] * m[9] - m[5] * m[8]);
  for (size_t i = 0; from && i < from->num_points && !c->status; i++) {
    const size_t last = i % 3 == 2 ? i - 1 : i % 3 == 1 ? i + 1 : i;
    const double *x = from->points + 3 * (volume < 0.0 ? last : i);
    double moved[3];
    for (int k = 0; k < 3; k++)
      moved[k] = m[4 * k] * x[0] + m[4 * k + 1] * x[1] + m[4 * k + 2] * x[2] + m[4 * k + 3];
    c->status = poli_mesh_add_point(c->mesh, moved);
  }
  if (!c->status && c->mesh->num_points > most_points) fail(c, at, "the scene is too large");
}

/* A <node>, or a <visual_scene>, and what is inside. */
static void add_node(collada *c, const xmlNode *node, affine pose, int depth)
{
  if (!node || c->status) return;
  if (depth > DEEPEST) {
    fail(c, node, "nodes are nested too deeply, or contain themselves");
  } else if (++c->num_nodes > MOST_NODES) {
    fail(c, node, "the scene has too many nodes");
  }
  for (const xmlNode *at = node->children; at && !c->status; at = at->next) {
    transform(c, at, &pose);
    if (is_element(at, "node")) add_node(c, at, pose, depth + 1);
    if (is_element(at, "instance_node")) add_node(c, follow(c, at, "url", "node"), pose, depth + 1);
    if (is_element(at, "instance_geometry")) place(c, follow(c, at, "url", "geometry"), &pose);
    if (is_element(at, "instance_controller"))
      fail(c, at, "skins and morphs (<instance_controller>) are not read");
  }
}

/* Metres per unit. */
static double read_unit(collada *c, const xmlNode *top)
{
  const xmlNode *asset = child(top, NULL, "asset"), *unit = child(asset, NULL, "unit");
  char *text = unit ? attribute(unit, "meter") : NULL, *end = NULL;
  const double meter = text ? strtod(text, &end) : 1.0;
  if (text &&
      (end == text || end[strspn(end, " \t\r\n")] != '\0' || !isfinite(meter) || !(meter > 0.0)))
    fail(c, unit, "meter of <unit> must be a positive number, not \"%.40s\"", text);
  if (text) xmlFree(text);
  return meter;
}

static void read_document(collada *c, xmlDocPtr document)
{
  const xmlNode *top = xmlDocGetRootElement(document);
  size_t capacity = 0;
  if (document->intSubset || document->extSubset)
    fail(c, NULL, "it must not have a document type declaration (<!DOCTYPE>)");
  else if (!top || !is_element(top, "COLLADA"))
    fail(c, top, "the first element must be <COLLADA>");
  if (c->status) return;
  affine pose = identity;
  const double meter = read_unit(c, top);
  for (int i = 0; i < 3; i++) pose.m[5 * i] = meter;
  collect(c, top, &capacity);
  if (c->num_known) qsort(c->known, c->num_known, sizeof *c->known, compare_known);
  const xmlNode *scene = child(top, NULL, "scene");
  const xmlNode *instance = child(scene, NULL, "instance_visual_scene");
  if (!instance)
    fail(c, top, "it has no <scene> with an <instance_visual_scene>");
  else
    add_node(c, follow(c, instance, "url", "visual_scene"), pose, 0);
  if (!c->status && c->mesh->num_points == 0) fail(c, instance, "the scene has no triangles");
}

pol_status poli_collada_read(poli_mesh *mesh, const char *text, size_t length, char *message,
                             size_t size)
{
  collada c = {.mesh = mesh, .message = message, .size = size};
  xmlParserCtxtPtr parser = xmlNewParserCtxt();
  if (!parser) return POL_NO_MEMORY;
  xmlDocPtr document = xmlCtxtReadMemory(parser, text, (int)length, NULL, NULL,
                                         XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                             XML_PARSE_BIG_LINES);
  const xmlErrorPtr wrong = xmlCtxtGetLastError(parser);
  if (document) {
    read_document(&c, document);
  } else if (wrong && wrong->code == XML_ERR_NO_MEMORY) {
    c.status = POL_NO_MEMORY;
  } else {
    const char *reason = wrong && wrong->message ? wrong->message : "unknown error";
    fail(&c, NULL, "line %d: it must be valid XML: %.*s", wrong ? wrong->line : 1,
         (int)strcspn(reason, "\n"), reason);
  }
  for (size_t i = 0; i < c.num_known; i++) xmlFree(c.known[i].id);
  for (size_t i = 0; i < c.num_geometries; i++) poli_mesh_free(&c.geometries[i].mesh);
  free(c.known);
  free(c.geometries);
  free(c.points.x);
  xmlFreeDoc(document);
  xmlFreeParserCtxt(parser);
  return c.status;
}
