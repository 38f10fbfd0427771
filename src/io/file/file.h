/* Whole files. */
#ifndef POLHODE_IO_FILE_H
#define POLHODE_IO_FILE_H

#include <stddef.h>

#include <polhode/status.h>

/* All bytes of a file, with a zero byte behind them that does not count; the caller frees *bytes.
 * After a failure *bytes is NULL; POL_IO: errno says why. */
pol_status poli_read_file(const char *path, char **bytes, size_t *size);
/* The same of a file with at most so many bytes; POL_IO with EFBIG if it has more. */
pol_status poli_read_small_file(const char *path, size_t most, char **bytes, size_t *size);

#endif
