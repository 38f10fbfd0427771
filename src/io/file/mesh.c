/* Mesh files and the integrals over the solid that they enclose.
 *
 * Files: STL (3D Systems 1989: an 80 byte head, the number of triangles, then for each of them
 * a normal, three points and two bytes, or a text of "vertex x y z" lines), Wavefront OBJ, and
 * Collada (collada.c).
 *
 * Integrals: each triangle (a, b, c) and a common point o make a tetrahedron of volume d/6 with d =
 * (a - o) . ((b - o) x (c - o)), signed; the sum over a closed surface is exact for its solid. With
 * o = 0 the integral of x is d/24 (a + b + c), that of x x^T is d/120 (a a^T + b b^T + c c^T + s
 * s^T) with s = a + b + c (Tonon 2005, eq. 5 to 7, in the form of sums).  A surface is closed and
 * its triangles turn the same way if each directed edge has as many partners in the other
 * direction. */
#include "io/file/mesh.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/file/collada.h"
#include "io/file/file.h"

/* Makes room for one more item of `size` bytes in a list that doubles. */
static pol_status grow(void **items, size_t count, size_t *capacity, size_t size)
{
  if (count < *capacity) return POL_OK;
  const size_t wanted = *capacity ? 2 * *capacity : 1024;
  void *longer = realloc(*items, wanted * size);
  if (longer == NULL) return POL_NO_MEMORY;
  *items = longer;
  *capacity = wanted;
  return POL_OK;
}

pol_status poli_mesh_add_point(poli_mesh *mesh, const double point[3])
{
  void *points = mesh->points;
  const pol_status status =
      grow(&points, mesh->num_points, &mesh->capacity, 3 * sizeof *mesh->points);
  mesh->points = points;
  if (status == POL_OK) memcpy(mesh->points + 3 * mesh->num_points++, point, 3 * sizeof *point);
  return status;
}

/* --- STL -------------------------------------------------------------------------------------- */

enum { STL_HEAD = 84, STL_TRIANGLE = 50, STL_POINTS = 12 };

static uint32_t little_endian(const char *bytes)
{
  const unsigned char *b = (const unsigned char *)bytes;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Three numbers of a text; 0 if they are not there. */
static int read_point(const char *text, double point[3])
{
  for (int c = 0; c < 3; c++) {
    char *end;
    point[c] = strtod(text, &end);
    if (end == text) return 0;
    text = end;
  }
  return 1;
}

static int is_word(const char *text, size_t length, const char *word)
{
  return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* Word by word: the name of a solid, up to the end of its line or a first facet, may be anything.
 */
static pol_status read_text_stl(poli_mesh *mesh, const char *text)
{
  static const char blanks[] = " \t\r\n";
  pol_status status = POL_OK;
  int in_name = 0;
  while (status == POL_OK && *text != '\0') {
    const size_t length = strcspn(text, blanks);
    double point[3];
    if (is_word(text, length, "solid") || is_word(text, length, "endsolid")) in_name = 1;
    if (is_word(text, length, "facet")) in_name = 0;
    if (!in_name && is_word(text, length, "vertex"))
      status =
          read_point(text + length, point) ? poli_mesh_add_point(mesh, point) : POL_BAD_ARGUMENT;
    for (text += length; *text != '\0' && strchr(blanks, *text) != NULL; text++)
      in_name = in_name && *text != '\r' && *text != '\n';
  }
  return status;
}

/* --- OBJ -------------------------------------------------------------------------------------- */

typedef struct vertices {
  size_t count, capacity;
  void *points; /* double[count][3] */
} vertices;

/* The corner that a word "7", "7/1/2" or "-1" names; *text moves behind it.  0: there is none. */
static int next_corner(const vertices *all, const char **text, const double **corner)
{
  char *end;
  const long number = strtol(*text, &end, 10);
  const long index = number > 0 ? number - 1 : (long)all->count + number;
  if (end == *text || number == 0 || index < 0 || index >= (long)all->count) return 0;
  *text = end + strcspn(end, " \t\r");
  *corner = (const double *)all->points + 3 * index;
  return 1;
}

static pol_status add_face(poli_mesh *mesh, const vertices *all, const char *text)
{
  const double *first, *second, *third;
  pol_status status = POL_OK;
  if (!next_corner(all, &text, &first) || !next_corner(all, &text, &second))
    return POL_BAD_ARGUMENT;
  while (status == POL_OK && text[strspn(text, " \t\r")] != '\0') {
    if (!next_corner(all, &text, &third)) return POL_BAD_ARGUMENT;
    status = poli_mesh_add_point(mesh, first);
    if (status == POL_OK) status = poli_mesh_add_point(mesh, second);
    if (status == POL_OK) status = poli_mesh_add_point(mesh, third);
    second = third;
  }
  return status;
}

/* A wrong line is named in reason. */
static pol_status read_obj(poli_mesh *mesh, char *text, char *reason, size_t size)
{
  vertices all = {0};
  pol_status status = POL_OK;
  for (int number = 1; status == POL_OK && *text != '\0'; number++) {
    char *line = text;
    text += strcspn(text, "\n");
    if (*text != '\0') *text++ = '\0';
    if (strncmp(line, "v ", 2) == 0) {
      double point[3];
      status = read_point(line + 2, point)
                   ? grow(&all.points, all.count, &all.capacity, sizeof point)
                   : POL_BAD_ARGUMENT;
      if (status == POL_OK) memcpy((double *)all.points + 3 * all.count++, point, sizeof point);
    }
    if (strncmp(line, "f ", 2) == 0) status = add_face(mesh, &all, line + 2);
    if (status == POL_BAD_ARGUMENT)
      snprintf(reason, size, "line %d: %s", number,
               *line == 'v' ? "a vertex has three numbers"
                            : "a face has three or more of the vertices before it");
  }
  free(all.points);
  return status;
}

/* --- all -------------------------------------------------------------------------------------- */

/* Largest size of a mesh file in bytes; it may be a device without an end. */
static const size_t largest_mesh = (size_t)1 << 28;

pol_status poli_mesh_read(poli_mesh *mesh, const char *path, double scale, char *message,
                          size_t size)
{
  const size_t length = strlen(path);
  const char *ending = length > 4 ? path + length - 4 : "";
  const int is_obj = strcasecmp(ending, ".obj") == 0, is_dae = strcasecmp(ending, ".dae") == 0;
  char reason[160] = "";
  char *bytes = NULL;
  size_t count = 0;
  *mesh = (poli_mesh){0};
  pol_status status = poli_read_small_file(path, largest_mesh, &bytes, &count);
  if (status == POL_IO)
    snprintf(message, size, "the mesh file %.200s cannot be read: %s", path, strerror(errno));
  if (status == POL_OK) {
    if (is_dae)
      status = poli_collada_read(mesh, bytes, count, reason, sizeof reason);
    else if (is_obj)
      status = read_obj(mesh, bytes, reason, sizeof reason);
    else if (count >= STL_HEAD &&
             count == STL_HEAD + (size_t)STL_TRIANGLE * little_endian(bytes + 80)) {
      status = POL_OK;
      for (size_t at = STL_HEAD; status == POL_OK && at < count; at += STL_TRIANGLE)
        for (size_t i = 0; status == POL_OK && i < 3; i++) {
          double point[3];
          for (size_t c = 0; c < 3; c++) {
            const uint32_t bits = little_endian(bytes + at + STL_POINTS + 12 * i + 4 * c);
            float number;
            memcpy(&number, &bits, sizeof bits);
            point[c] = (double)number;
          }
          status = poli_mesh_add_point(mesh, point);
        }
    } else
      status = read_text_stl(mesh, bytes);
    for (size_t i = 0; status == POL_OK && i < 3 * mesh->num_points; i++) {
      mesh->points[i] *= scale;
      if (fabs(mesh->points[i]) < 1e38) continue; /* pages have floats */
      snprintf(reason, sizeof reason, "a coordinate is too large or not a number");
      status = POL_BAD_ARGUMENT;
    }
    if (status == POL_OK && (mesh->num_points == 0 || mesh->num_points % 3 != 0))
      status = POL_BAD_ARGUMENT;
    const char *const format = is_dae ? "Collada" : is_obj ? "OBJ" : "STL";
    if (status == POL_BAD_ARGUMENT && reason[0])
      snprintf(message, size, "%.200s is not a valid %s file: %s", path, format, reason);
    else if (status == POL_BAD_ARGUMENT)
      snprintf(message, size, "%.200s contains no triangles: it is not a valid %s file", path,
               format);
  }
  free(bytes);
  return status;
}

void poli_mesh_free(poli_mesh *mesh)
{
  free(mesh->points);
  *mesh = (poli_mesh){0};
}

/* --- integrals -------------------------------------------------------------------------------- */

static int compare_points(const void *first, const void *second)
{
  const double *a = *(const double *const *)first, *b = *(const double *const *)second;
  for (int i = 0; i < 3; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* An edge between two numbered points, the smaller number first; turn is 1 or -1. */
typedef struct edge {
  size_t low, high;
  int turn;
} edge;

static int compare_edges(const void *first, const void *second)
{
  const edge *a = first, *b = second;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return a->high != b->high ? (a->high < b->high ? -1 : 1) : 0;
}

/* Numbers the points, equal ones alike. */
static pol_status number_points(const poli_mesh *mesh, size_t *numbers)
{
  const double **sorted = malloc(mesh->num_points * sizeof *sorted);
  if (sorted == NULL) return POL_NO_MEMORY;
  for (size_t i = 0; i < mesh->num_points; i++) sorted[i] = mesh->points + 3 * i;
  qsort(sorted, mesh->num_points, sizeof *sorted, compare_points);
  for (size_t i = 0, number = 0; i < mesh->num_points; i++) {
    if (i > 0 && compare_points(&sorted[i - 1], &sorted[i]) != 0) number++;
    numbers[(size_t)(sorted[i] - mesh->points) / 3] = number;
  }
  free(sorted);
  return POL_OK;
}

/* Whether each edge is passed as often in one direction as in the other. */
static pol_status check_closed(const poli_mesh *mesh, char *message, size_t size)
{
  size_t *numbers = malloc(mesh->num_points * sizeof *numbers), count = 0, open = 0, turned = 0;
  edge *edges = malloc(mesh->num_points * sizeof *edges);
  pol_status status =
      numbers != NULL && edges != NULL ? number_points(mesh, numbers) : POL_NO_MEMORY;
  for (size_t i = 0; status == POL_OK && i < mesh->num_points; i++) {
    const size_t a = numbers[i], b = numbers[i % 3 == 2 ? i - 2 : i + 1];
    if (a != b) edges[count++] = a < b ? (edge){a, b, 1} : (edge){b, a, -1};
  }
  if (status == POL_OK) qsort(edges, count, sizeof *edges, compare_edges);
  for (size_t i = 0, end; status == POL_OK && i < count; i = end) {
    int sum = 0;
    for (end = i; end < count && compare_edges(&edges[i], &edges[end]) == 0; end++)
      sum += edges[end].turn;
    if (sum != 0 && (end - i) % 2 == 0) turned++;
    if (sum != 0 && (end - i) % 2 == 1) open++;
  }
  free(numbers);
  free(edges);
  if (status == POL_OK && open > 0)
    snprintf(message, size, "its surface is not closed: %zu edge%s only one triangle", open,
             open == 1 ? " has" : "s have");
  else if (status == POL_OK && turned > 0)
    snprintf(message, size, "its triangles do not turn the same way: at %zu edge%s", turned,
             turned == 1 ? "" : "s");
  return status == POL_OK && open + turned > 0 ? POL_BAD_ARGUMENT : status;
}

pol_status poli_mesh_moments(const poli_mesh *mesh, poli_moments *moments, char *message,
                             size_t size)
{
  const pol_status status = check_closed(mesh, message, size);
  double volume = 0.0, first[3] = {0.0}, second[9] = {0.0}, origin[3] = {0.0};
  if (status != POL_OK) return status;
  for (size_t i = 0; i < mesh->num_points; i++)
    for (int c = 0; c < 3; c++)
      origin[c] += mesh->points[3 * i + (size_t)c] / (double)mesh->num_points;
  for (size_t i = 0; i < mesh->num_points; i += 3) {
    double p[3][3], s[3];
    for (size_t k = 0; k < 3; k++)
      for (size_t c = 0; c < 3; c++) p[k][c] = mesh->points[3 * (i + k) + c] - origin[c];
    const double d = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                     p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                     p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    volume += d / 6.0;
    for (int c = 0; c < 3; c++) {
      s[c] = p[0][c] + p[1][c] + p[2][c];
      first[c] += d / 24.0 * s[c];
    }
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        second[3 * r + c] +=
            d / 120.0 * (p[0][r] * p[0][c] + p[1][r] * p[1][c] + p[2][r] * p[2][c] + s[r] * s[c]);
  }
  /* a surface that is inside out encloses the same solid */
  const double sign = volume < 0.0 ? -1.0 : 1.0;
  moments->volume = sign * volume;
  if (!(moments->volume > 0.0)) {
    snprintf(message, size, "it encloses no volume");
    return POL_BAD_ARGUMENT;
  }
  for (int c = 0; c < 3; c++) first[c] /= volume;
  for (int r = 0; r < 3; r++) {
    moments->center[r] = origin[r] + first[r];
    for (int c = 0; c < 3; c++)
      moments->second[3 * r + c] = sign * (second[3 * r + c] - volume * first[r] * first[c]);
  }
  return POL_OK;
}
