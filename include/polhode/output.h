/* Output files: what must not be overwritten, and what must not be left behind. */
#ifndef POLHODE_OUTPUT_H
#define POLHODE_OUTPUT_H

#include <stdio.h>

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether writing a file to the path `out` would overwrite the existing file `path`: both lead to
 * the same file, by another name or a link, or `out` ends in .h5 and `path` is the name that
 * pol_hdf5_create uses until the new file is readable. */
int pol_output_overwrites(const char *out, const char *path);

/* Closes a file that was opened for writing at this path.  POL_IO: not all of it could be written,
 * errno says why.  The file is removed then, so that nobody takes it for a complete one, and also
 * if `so_far` is a failure, which is returned; behind a link it is emptied; a device or a pipe
 * stays. */
pol_status pol_output_close(FILE *file, const char *path, pol_status so_far);

#ifdef __cplusplus
}
#endif
#endif
