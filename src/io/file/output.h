/* Files that are written in one go: what could not be finished is not left behind. */
#ifndef POLHODE_BASE_OUTPUT_H
#define POLHODE_BASE_OUTPUT_H

#include <stdio.h>

#include <polhode/status.h>

/* Closes a file that was opened for writing at this path.  POL_IO: not all of it could be written,
 * errno says why.  The file is removed then, so that nobody takes it for a whole one, and so it is
 * if `so_far` is a failure, which is returned; behind a link it is emptied; a device or a pipe
 * stays.
 */
pol_status poli_output_close(FILE *file, const char *path, pol_status so_far);

#endif
