/* Output files: the target of a path, and locks against other writers. */
#ifndef POLHODE_IO_TARGET_H
#define POLHODE_IO_TARGET_H

/* The file that a path leads to after all symbolic links; it need not exist.  The caller frees the
 * result.  NULL: out of memory, or too many links (errno is ELOOP). */
char *poli_output_target(const char *path);

/* Whether two paths lead to one and the same file: by another name, a link, or a hard link. */
int poli_output_is_same(const char *a, const char *b);

/* Locks an open file against other callers of this function, until the descriptor is closed or the
 * process ends; on a system without such locks it always succeeds.  Returns 1, or 0 if the file is
 * locked already: errno is then ETXTBSY. */
int poli_output_lock(int descriptor);

#endif
