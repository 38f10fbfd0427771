/* Output files: protection of existing files, and removal of incomplete ones. */
#ifndef POLHODE_OUTPUT_H
#define POLHODE_OUTPUT_H

#include <stdio.h>

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if writing to the path `out` would overwrite the existing file `path`: both refer to
 * the same file, possibly by another name or a link, or `out` ends in .h5 and `path` is the
 * temporary name that pol_writer_create uses until the new file is readable. */
int pol_output_overwrites(const char *out, const char *path);

/* Closes a file that was opened for writing at this path.  POL_IO: the file could not be written
 * completely; errno gives the reason.  If `so_far` is a failure, it is returned.  After any failure
 * the file is removed, so that it cannot be mistaken for a complete one; the target of a link is
 * truncated to zero length instead, and devices and pipes are left alone. */
pol_status pol_output_close(FILE *file, const char *path, pol_status so_far);

#ifdef __cplusplus
}
#endif
#endif
