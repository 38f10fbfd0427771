/* Files: whole ones into memory; the target of an output path, what writing to it would overwrite,
 * locks, and closing.
 *
 * The locks are open file description locks (POSIX.1-2024): process-wide fcntl locks would be
 * released whenever the HDF5 library opens and closes the file again, and flock would keep readers
 * of HDF5 out.
 *
 * A full disk shows when a stream is flushed, at the latest when it is closed; half a picture or an
 * empty table is worse than none.
 */
#define _GNU_SOURCE

#include "io/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/output.h>

#include "base/errors.h"

pol_status poli_read_file(const char *path, char **bytes, size_t *size)
{
  return poli_read_small_file(path, SIZE_MAX, bytes, size);
}

/* Reads into a buffer that doubles, so that pipes can be read too. */
pol_status poli_read_small_file(const char *path, size_t most, char **bytes, size_t *size)
{
  size_t capacity = 0;
  pol_status status = POL_OK;
  *bytes = NULL;
  *size = 0;
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return POL_IO;
  do {
    if (*size + 1 >= capacity) {
      capacity = capacity ? 2 * capacity : 4096;
      char *longer = realloc(*bytes, capacity);
      if (!longer) status = POL_NO_MEMORY;
      if (!longer) break;
      *bytes = longer;
    }
    *size += fread(*bytes + *size, 1, capacity - *size - 1, file);
    if (ferror(file) || *size > most) status = POL_IO;
    if (!ferror(file) && *size > most) errno = EFBIG;
  } while (status == POL_OK && !feof(file));
  const int reason = errno;
  fclose(file);
  if (status == POL_OK) {
    (*bytes)[*size] = '\0';
  } else {
    free(*bytes);
    *bytes = NULL;
  }
  errno = reason;
  return status;
}

char *poli_output_target(const char *path)
{
  enum { MAX_LINKS = 40 };
  struct stat info;
  char *target = poli_format("%s", path);
  for (int i = 0; target && lstat(target, &info) == 0 && S_ISLNK(info.st_mode); i++) {
    /* what a link says is relative to its folder */
    const char *slash = strrchr(target, '/');
    const size_t folder = slash ? (size_t)(slash - target) + 1 : 0;
    const size_t length = (size_t)info.st_size + 4096;
    char *next = i < MAX_LINKS ? malloc(folder + length + 1) : NULL;
    if (next) {
      const ssize_t got = readlink(target, next + folder, length);
      next[folder + (got > 0 ? (size_t)got : 0)] = '\0';
      if (next[folder] == '/')
        memmove(next, next + folder, strlen(next + folder) + 1);
      else
        memcpy(next, target, folder);
    }
    free(target);
    target = next;
    if (i == MAX_LINKS) errno = ELOOP;
  }
  return target;
}

/* Compared by device and inode, so that links and other paths are found too. */
static int is_same_file(const char *a, const char *b)
{
  struct stat first, second;
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

int pol_output_overwrites(const char *out, const char *path)
{
  const size_t length = strlen(out);
  if (is_same_file(out, path)) return 1;
  if (length <= 3 || strcmp(out + length - 3, ".h5") != 0) return 0;
  char *target = poli_output_target(out);
  char *first_name = target != NULL ? poli_format("%s" POLI_OUTPUT_NEW, target) : NULL;
  const int same = first_name != NULL && is_same_file(first_name, path);
  free(first_name);
  free(target);
  return same;
}

int poli_output_lock(int descriptor)
{
#ifdef F_OFD_SETLK
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
    errno = ETXTBSY;
    return 0;
  }
#else
  (void)descriptor;
#endif
  return 1;
}

pol_status pol_output_close(FILE *file, const char *path, pol_status so_far)
{
  struct stat info;
  pol_status status = so_far;
  if (status == POL_OK && (ferror(file) || fflush(file) != 0)) status = POL_IO;
  int reason = errno;
  if (fclose(file) != 0 && status == POL_OK) {
    status = POL_IO;
    reason = errno;
  }
  if (status == POL_OK) return POL_OK;
  if (lstat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    remove(path);
  } else if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    file = fopen(path, "wb");
    if (file != NULL) fclose(file);
  }
  errno = reason;
  return status;
}
