/* Mesh files: STL (3D Systems 1989: an 80 byte head, the number of triangles, then for each of them
 * a normal, three points and two bytes, or a text of "vertex x y z" lines) and Wavefront OBJ. */
#include "draw/viewer/mesh.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static pol_status add_point(poli_mesh *mesh, const float point[3])
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
static int read_point(const char *text, float point[3])
{
  for (int c = 0; c < 3; c++) {
    char *end;
    point[c] = strtof(text, &end);
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
    float point[3];
    if (is_word(text, length, "solid") || is_word(text, length, "endsolid")) in_name = 1;
    if (is_word(text, length, "facet")) in_name = 0;
    if (!in_name && is_word(text, length, "vertex"))
      status = read_point(text + length, point) ? add_point(mesh, point) : POL_BAD_ARGUMENT;
    for (text += length; *text != '\0' && strchr(blanks, *text) != NULL; text++)
      in_name = in_name && *text != '\r' && *text != '\n';
  }
  return status;
}

/* --- OBJ -------------------------------------------------------------------------------------- */

typedef struct vertices {
  size_t count, capacity;
  void *points; /* float[count][3] */
} vertices;

/* The corner that a word "7", "7/1/2" or "-1" names; *text moves behind it.  0: there is none. */
static int next_corner(const vertices *all, const char **text, const float **corner)
{
  char *end;
  const long number = strtol(*text, &end, 10);
  const long index = number > 0 ? number - 1 : (long)all->count + number;
  if (end == *text || number == 0 || index < 0 || index >= (long)all->count) return 0;
  *text = end + strcspn(end, " \t\r");
  *corner = (const float *)all->points + 3 * index;
  return 1;
}

static pol_status add_face(poli_mesh *mesh, const vertices *all, const char *text)
{
  const float *first, *second, *third;
  pol_status status = POL_OK;
  if (!next_corner(all, &text, &first) || !next_corner(all, &text, &second))
    return POL_BAD_ARGUMENT;
  while (status == POL_OK && text[strspn(text, " \t\r")] != '\0') {
    if (!next_corner(all, &text, &third)) return POL_BAD_ARGUMENT;
    status = add_point(mesh, first);
    if (status == POL_OK) status = add_point(mesh, second);
    if (status == POL_OK) status = add_point(mesh, third);
    second = third;
  }
  return status;
}

static pol_status read_obj(poli_mesh *mesh, char *text)
{
  vertices all = {0};
  pol_status status = POL_OK;
  while (status == POL_OK && *text != '\0') {
    char *line = text;
    text += strcspn(text, "\n");
    if (*text != '\0') *text++ = '\0';
    if (strncmp(line, "v ", 2) == 0) {
      float point[3];
      status = read_point(line + 2, point)
                   ? grow(&all.points, all.count, &all.capacity, sizeof point)
                   : POL_BAD_ARGUMENT;
      if (status == POL_OK) memcpy((float *)all.points + 3 * all.count++, point, sizeof point);
    }
    if (strncmp(line, "f ", 2) == 0) status = add_face(mesh, &all, line + 2);
  }
  free(all.points);
  return status;
}

/* --- both ------------------------------------------------------------------------------------- */

/* Largest size of a mesh file in bytes; it may be a device without an end. */
static const size_t largest_mesh = (size_t)1 << 28;

pol_status poli_mesh_read(poli_mesh *mesh, const char *path, double scale, char *message,
                          size_t size)
{
  const size_t length = strlen(path);
  const int is_obj = length > 4 && strcmp(path + length - 4, ".obj") == 0;
  char *bytes = NULL;
  size_t count = 0;
  *mesh = (poli_mesh){0};
  pol_status status = poli_read_small_file(path, largest_mesh, &bytes, &count);
  if (status == POL_IO)
    snprintf(message, size, "the mesh file %.200s cannot be read: %s", path, strerror(errno));
  if (status == POL_OK) {
    if (is_obj)
      status = read_obj(mesh, bytes);
    else if (count >= STL_HEAD &&
             count == STL_HEAD + (size_t)STL_TRIANGLE * little_endian(bytes + 80)) {
      status = POL_OK;
      for (size_t at = STL_HEAD; status == POL_OK && at < count; at += STL_TRIANGLE)
        for (size_t i = 0; status == POL_OK && i < 3; i++) {
          float point[3];
          for (size_t c = 0; c < 3; c++) {
            const uint32_t bits = little_endian(bytes + at + STL_POINTS + 12 * i + 4 * c);
            memcpy(&point[c], &bits, sizeof bits);
          }
          status = add_point(mesh, point);
        }
    } else
      status = read_text_stl(mesh, bytes);
    for (size_t i = 0; status == POL_OK && i < 3 * mesh->num_points; i++) {
      mesh->points[i] *= (float)scale;
      if (!isfinite(mesh->points[i])) status = POL_BAD_ARGUMENT;
    }
    if (status == POL_OK && (mesh->num_points == 0 || mesh->num_points % 3 != 0))
      status = POL_BAD_ARGUMENT;
    if (status == POL_BAD_ARGUMENT)
      snprintf(message, size, "%.200s contains no triangles: it is not a valid %s file", path,
               is_obj ? "OBJ" : "STL");
  }
  free(bytes);
  return status;
}

void poli_mesh_free(poli_mesh *mesh)
{
  free(mesh->points);
  *mesh = (poli_mesh){0};
}
