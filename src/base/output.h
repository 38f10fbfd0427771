/* Files that are written: what could not be finished is not left behind, links are followed, and
 * no two processes write one result. */
#ifndef POLHODE_BASE_OUTPUT_H
#define POLHODE_BASE_OUTPUT_H

#include <stdio.h>

#include <polhode/status.h>

/* Closes a file that was opened for writing at this path.  POL_IO: not all of it could be written,
 * errno says why.  The file is removed then, so that nobody takes it for a whole one, and so it is
 * if `so_far` is a failure, which is returned; behind a link it is emptied; a device or a pipe stays.
 */
pol_status pol_output_close(FILE *file, const char *path, pol_status so_far);

/* The file that a path leads to, behind all symbolic links, in new memory; it need not exist.  NULL:
 * there is no memory, or the links have no end; errno says which. */
char *pol_output_target(const char *path);

/* Whether two paths lead to one and the same file: by another name, a link, or a hard link. */
int pol_output_is_same(const char *a, const char *b);

/* Locks an open file against other processes that call this; a system without locks grants them
 * all.  0: another process has it, errno is ETXTBSY.  The lock ends with the process, or as soon as
 * it closes any descriptor of this file. */
int pol_output_lock(int descriptor);

#endif
