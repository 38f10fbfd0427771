/* MAT files of level 5 (MathWorks, "MAT-File Format"): a header of 128 bytes, then data elements.
 * An element is a tag, type and number of bytes, and the data, filled up to a multiple of eight
 * bytes.  An array is an element of type "matrix" that holds others: flags with its class,
 * dimensions, name, and its numbers, or for a cell array one array for each cell.  Numbers are in
 * the byte order of this machine, which the header states. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/mat.h>
#include <polhode/output.h>

/* Types of elements and classes of arrays. */
enum { INT8 = 1, UINT16 = 4, INT32 = 5, UINT32 = 6, DOUBLE = 9, MATRIX = 14 };
enum { CELLS = 1, CHARACTERS = 4, NUMBERS = 6 };

struct pol_mat {
  FILE *file;
  char *path;
  pol_status status;
};

static void put(pol_mat *mat, const void *bytes, size_t size)
{
  if (size > 0 && fwrite(bytes, 1, size, mat->file) != size) mat->status = POL_IO;
}

static size_t padded(size_t size)
{
  return (size + 7) / 8 * 8;
}

static void put_tag(pol_mat *mat, uint32_t type, size_t size)
{
  const uint32_t tag[2] = {type, (uint32_t)size};
  put(mat, tag, sizeof tag);
}

/* An element that is filled up with zeros. */
static void put_element(pol_mat *mat, uint32_t type, const void *bytes, size_t size)
{
  static const char zeros[8] = {0};
  put_tag(mat, type, size);
  put(mat, bytes, size);
  put(mat, zeros, padded(size) - size);
}

/* Bytes of the elements that put_array writes: flags, dimensions and name, without the data. */
static size_t array_size(const char *name)
{
  return 16 + 16 + 8 + padded(strlen(name));
}

/* The start of an array whose data have so many bytes, tags included. */
static void put_array(pol_mat *mat, uint32_t class, long rows, long cols, const char *name,
                      size_t data)
{
  const uint32_t flags[2] = {class, 0};
  const int32_t dimensions[2] = {(int32_t)rows, (int32_t)cols};
  put_tag(mat, MATRIX, array_size(name) + data);
  put_element(mat, UINT32, flags, sizeof flags);
  put_element(mat, INT32, dimensions, sizeof dimensions);
  put_element(mat, INT8, name, strlen(name));
}

static int is_variable(const char *name)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const size_t length = strlen(name);
  char others[80];
  snprintf(others, sizeof others, "%s0123456789_", letters);
  return length > 0 && length <= 63 && strchr(letters, name[0]) != NULL &&
         strspn(name, others) == length;
}

pol_status pol_mat_create(pol_mat **mat, const char *path)
{
  pol_mat *m = calloc(1, sizeof *m);
  *mat = NULL;
  if (m != NULL) m->path = malloc(strlen(path) + 1);
  if (m == NULL || m->path == NULL) {
    free(m);
    return POL_NO_MEMORY;
  }
  strcpy(m->path, path);
  m->file = fopen(path, "wb");
  if (m->file == NULL) {
    const int reason = errno;
    free(m->path);
    free(m);
    errno = reason;
    return POL_IO;
  }
  char header[128];
  const uint16_t ends[2] = {0x0100, 'M' << 8 | 'I'};
  memset(header, ' ', sizeof header);
  const int length = snprintf(header, 116, "MATLAB 5.0 MAT-file, polhode %s", pol_version());
  header[length] = ' ';
  memset(header + 116, 0, 8);
  memcpy(header + 124, ends, sizeof ends);
  put(m, header, sizeof header);
  *mat = m;
  return POL_OK;
}

pol_status pol_mat_add_matrix(pol_mat *mat, const char *name, long rows, long cols,
                              const double *values)
{
  const long most = INT32_MAX / (long)sizeof *values - 100;
  if (!is_variable(name) || rows < 0 || cols < 0 || (cols > 0 && rows > most / cols))
    return POL_BAD_ARGUMENT;
  const size_t size = (size_t)rows * (size_t)cols * sizeof *values;
  put_array(mat, NUMBERS, rows, cols, name, 8 + size);
  put_element(mat, DOUBLE, values, size);
  return mat->status;
}

/* UTF-8 to UTF-16; bytes that are no UTF-8 become question marks.  Returns how many units; to may
 * be NULL. */
static size_t to_units(const char *text, uint16_t *to)
{
  const unsigned char *s = (const unsigned char *)text;
  size_t count = 0;
  while (*s != '\0') {
    const int more = *s < 0x80             ? 0
                     : (*s & 0xe0) == 0xc0 ? 1
                     : (*s & 0xf0) == 0xe0 ? 2
                     : (*s & 0xf8) == 0xf0 ? 3
                                           : -1;
    uint32_t code = more < 0 ? '?' : more == 0 ? *s : *s & (0x3fu >> more);
    int k = 1;
    for (; k <= more && (s[k] & 0xc0) == 0x80; k++) code = code << 6 | (s[k] & 0x3fu);
    if (k <= more) code = '?';
    s += k;
    if (code >= 0x10000) {
      code -= 0x10000;
      if (to != NULL) to[count] = (uint16_t)(0xd800 + (code >> 10));
      count++;
      code = 0xdc00 + (code & 0x3ff);
    }
    if (to != NULL) to[count] = (uint16_t)code;
    count++;
  }
  return count;
}

pol_status pol_mat_add_texts(pol_mat *mat, const char *name, int count, const char *const *texts)
{
  size_t size = 0, longest = 0;
  if (!is_variable(name) || count < 0) return POL_BAD_ARGUMENT;
  for (int i = 0; i < count; i++) {
    const size_t units = to_units(texts[i], NULL);
    if (units > longest) longest = units;
    size += 8 + array_size("") + 8 + padded(2 * units);
  }
  if (size > INT32_MAX) return POL_BAD_ARGUMENT;
  uint16_t *units = calloc(longest + 1, sizeof *units);
  if (units == NULL) return POL_NO_MEMORY;
  put_array(mat, CELLS, count, 1, name, size);
  for (int i = 0; i < count; i++) {
    const size_t length = to_units(texts[i], units);
    put_array(mat, CHARACTERS, length > 0, (long)length, "", 8 + padded(2 * length));
    put_element(mat, UINT16, units, 2 * length);
  }
  free(units);
  return mat->status;
}

pol_status pol_mat_close(pol_mat **mat)
{
  if (mat == NULL || *mat == NULL) return POL_OK;
  const pol_status status = pol_output_close((*mat)->file, (*mat)->path, (*mat)->status);
  const int reason = errno;
  free((*mat)->path);
  free(*mat);
  *mat = NULL;
  errno = reason;
  return status;
}
