/* Archives in the ZIP format, read from memory and without trust in what they say. */
#ifndef POLHODE_IO_FMI_UNZIP_H
#define POLHODE_IO_FMI_UNZIP_H

#include <stddef.h>

#include <polhode/status.h>

typedef struct poli_unzip_entry {
  char *name;    /* "binaries/linux64/pd.so"; of a folder with a slash at its end */
  size_t offset; /* of its header */
  size_t packed, size;
  unsigned long crc;
  int method; /* 0: stored, 8: deflated */
} poli_unzip_entry;

/* Initialise it with zeros. */
typedef struct poli_unzip {
  char *bytes;
  size_t size;
  int count;
  poli_unzip_entry *entries;
  char reason[200]; /* why a call has failed, a phrase */
} poli_unzip;

/* Reads an archive and its directory.  POL_BAD_ARGUMENT: the file is no archive that can be read:
 * damaged, encrypted or larger than 1 GB, or a name in it would lead out of a folder, is twice
 * there or a link.  POL_IO: the file cannot be read. */
pol_status poli_unzip_open(poli_unzip *zip, const char *path);
void poli_unzip_close(poli_unzip *zip);

/* The file of this name, or NULL. */
const poli_unzip_entry *poli_unzip_find(const poli_unzip *zip, const char *name);
/* Its contents, with a zero byte behind them that does not count; the caller frees *bytes.
 * POL_BAD_ARGUMENT: they are damaged. */
pol_status poli_unzip_read(poli_unzip *zip, const poli_unzip_entry *entry, char **bytes);
/* Writes the file into a folder, which is private to the caller and has no slash at its end, with
 * the folders that its name needs. */
pol_status poli_unzip_extract(poli_unzip *zip, const poli_unzip_entry *entry, const char *folder);

#endif
