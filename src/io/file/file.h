/* Files: whole ones, the target of an output path, and locks against other writers. */
#ifndef POLHODE_IO_FILE_H
#define POLHODE_IO_FILE_H

#include <stddef.h>

#include <polhode/status.h>

/* All bytes of a file, with a zero byte behind them that does not count; the caller frees *bytes.
 * After a failure *bytes is NULL; POL_IO: errno says why. */
pol_status poli_read_file(const char *path, char **bytes, size_t *size);
/* The same of a file with at most so many bytes; POL_IO with EFBIG if it has more. */
pol_status poli_read_small_file(const char *path, size_t most, char **bytes, size_t *size);

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
