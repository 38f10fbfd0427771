/* The bytes of what changes from step to step; see archive.h. */
#include "base/archive.h"

#include <string.h>

uint64_t poli_hash(uint64_t hash, const void *data, size_t size)
{
  const uint64_t basis = 14695981039346656037u, prime = 1099511628211u;
  const unsigned char *byte = data;
  hash ^= basis;
  for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * prime;
  return hash ^ basis;
}

void poli_archive_bytes(poli_archive *archive, void *data, size_t size)
{
  poli_archive *a = archive;
  const int limited = a->mode == POLI_ARCHIVE_SAVE || a->mode == POLI_ARCHIVE_LOAD;
  if (limited && !a->status && size > a->size - a->used) a->status = POL_BAD_ARGUMENT;
  if (a->status || size == 0) return;
  if (a->mode == POLI_ARCHIVE_SAVE) memcpy(a->to + a->used, data, size);
  if (a->mode == POLI_ARCHIVE_LOAD) memcpy(data, a->from + a->used, size);
  if (a->mode == POLI_ARCHIVE_HASH) a->hash = poli_hash(a->hash, data, size);
  a->used += size;
}

double *poli_archive_place(poli_archive *archive, const double *pointer, void *block, size_t size)
{
  const unsigned char *first = block, *at = (const unsigned char *)pointer;
  int64_t offset = pointer ? at - first : -1;
  POLI_ARCHIVE(archive, offset);
  if (offset < -1 || (offset >= 0 && ((size_t)offset > size || offset % (int)sizeof *pointer != 0)))
    archive->status = POL_BAD_ARGUMENT;
  if (archive->mode != POLI_ARCHIVE_LOAD || archive->status) return (double *)pointer;
  return offset < 0 ? NULL : (double *)block + offset / (int)sizeof *pointer;
}

int poli_archive_has(poli_archive *archive, int exists)
{
  int saved = exists;
  POLI_ARCHIVE(archive, saved);
  if (saved != 0 && saved != 1) archive->status = POL_BAD_ARGUMENT;
  if (exists && !saved) archive->status = POL_BAD_ARGUMENT;
  return saved && !archive->status;
}
