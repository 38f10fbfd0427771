/* Files that are written.  A full disk shows when a stream is flushed, at the latest when it is
 * closed; half a picture or an empty table is worse than none.
 */
#define _POSIX_C_SOURCE 200809L

#include <polhode/output.h>

#include <errno.h>
#include <sys/stat.h>

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
