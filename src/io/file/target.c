/* Output files: the target of a path, what writing to it would overwrite, and locks.
 *
 * The locks are open file description locks (POSIX.1-2024): process-wide fcntl locks would be
 * released whenever the HDF5 library opens and closes the file again, and flock would keep readers
 * of HDF5 out.
 */
#define _GNU_SOURCE

#include "io/file/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/output.h>

#include "base/errors.h"

/* The target of one symbolic link, relative to the same folder as `path`; NULL: errno says why. */
static char *follow_link(const char *path, size_t length)
{
  const char *slash = strrchr(path, '/');
  const size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
  char *target = malloc(folder + length + 1);
  if (target == NULL) return NULL;
  const ssize_t got = readlink(path, target + folder, length);
  target[folder + (got > 0 ? (size_t)got : 0)] = '\0';
  if (target[folder] == '/')
    memmove(target, target + folder, strlen(target + folder) + 1);
  else
    memcpy(target, path, folder);
  return target;
}

char *poli_output_target(const char *path)
{
  enum { MAX_LINKS = 40 };
  struct stat info;
  char *target = malloc(strlen(path) + 1);
  if (target == NULL) return NULL;
  strcpy(target, path);
  for (int i = 0; lstat(target, &info) == 0 && S_ISLNK(info.st_mode); i++) {
    char *next = i < MAX_LINKS ? follow_link(target, (size_t)info.st_size + 4096) : NULL;
    if (i == MAX_LINKS) errno = ELOOP;
    free(target);
    if (next == NULL) return NULL;
    target = next;
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
