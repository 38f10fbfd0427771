/* Output files: the target of a path, and locks against other writers. */
#ifndef POLHODE_IO_TARGET_H
#define POLHODE_IO_TARGET_H

/* The file that a path leads to after all symbolic links; it need not exist.  The caller frees the
 * result.  NULL: out of memory, or too many links (errno is ELOOP). */
char *poli_output_target(const char *path);

/* What is appended to the name of an HDF5 file until it is readable. */
#define POLI_OUTPUT_NEW ".new"

/* Locks an open file against other callers of this function, until the descriptor is closed or the
 * process ends; on a system without such locks it always succeeds.  Returns 1, or 0 if the file is
 * locked already: errno is then ETXTBSY. */
int poli_output_lock(int descriptor);

#endif
