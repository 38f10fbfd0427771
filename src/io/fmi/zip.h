/* Archives in the ZIP format, written file by file. */
#ifndef POLHODE_IO_FMI_ZIP_H
#define POLHODE_IO_FMI_ZIP_H

#include <stdio.h>

#include <polhode/status.h>

typedef struct poli_zip {
  FILE *file;
  unsigned long offset; /* of the next byte */
  int count;
  struct poli_zip_entry *entries;
} poli_zip;

/* Appends a file to an archive; zip->file is open, all else zero at first.  POL_IO, POL_NO_MEMORY,
 * or POL_BAD_ARGUMENT if the archive would have 4 GB or more. */
pol_status poli_zip_add(poli_zip *zip, const char *name, const void *bytes, size_t size);
/* Writes the directory of the archive, unless so_far is a failure, which is returned then, and
 * frees what belongs to the archive; the file stays open. */
pol_status poli_zip_end(poli_zip *zip, pol_status so_far);

#endif
