/* Whole files: reads into a buffer that doubles, so that pipes can be read too. */
#include "io/file/file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pol_status read_all(FILE *file, size_t most, char **bytes, size_t *size)
{
  size_t capacity = 0;
  do {
    if (*size + 1 >= capacity) {
      capacity = capacity ? 2 * capacity : 4096;
      char *longer = realloc(*bytes, capacity);
      if (!longer) return POL_NO_MEMORY;
      *bytes = longer;
    }
    *size += fread(*bytes + *size, 1, capacity - *size - 1, file);
    if (ferror(file)) return POL_IO;
    if (*size > most) {
      errno = EFBIG;
      return POL_IO;
    }
  } while (!feof(file));
  (*bytes)[*size] = '\0';
  return POL_OK;
}

pol_status poli_read_file(const char *path, char **bytes, size_t *size)
{
  return poli_read_small_file(path, SIZE_MAX, bytes, size);
}

pol_status poli_read_small_file(const char *path, size_t most, char **bytes, size_t *size)
{
  *bytes = NULL;
  *size = 0;
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return POL_IO;
  pol_status status = read_all(file, most, bytes, size);
  const int reason = errno;
  fclose(file);
  if (status != POL_OK) {
    free(*bytes);
    *bytes = NULL;
  }
  errno = reason;
  return status;
}
