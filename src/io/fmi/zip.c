/* ZIP archives (PKWARE, APPNOTE 6.3, sections 4.3.7, 4.3.12 and 4.3.16): each file deflated behind
 * its header, then the directory.  All files have the date 1980-01-01, so that equal contents give
 * equal bytes. */
#include "io/fmi/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/errors.h"

struct poli_zip_entry {
  char *name;
  unsigned long crc, packed, size, offset;
};

static const unsigned long most = 0xffffffffUL;

/* Little-endian numbers of 2 and 4 bytes. */
static unsigned char *put(unsigned char *to, int bytes, unsigned long value)
{
  for (int i = 0; i < bytes; i++) *to++ = (unsigned char)(value >> (8 * i) & 0xff);
  return to;
}

/* What the header of a file and its entry in the directory share. */
static unsigned char *put_common(unsigned char *to, const struct poli_zip_entry *entry)
{
  to = put(to, 2, 20);     /* version of the format: deflate */
  to = put(to, 2, 0x0800); /* names are UTF-8 */
  to = put(to, 2, 8);      /* deflate */
  to = put(to, 2, 0);      /* time */
  to = put(to, 2, 0x21);   /* date */
  to = put(to, 4, entry->crc);
  to = put(to, 4, entry->packed);
  to = put(to, 4, entry->size);
  to = put(to, 2, strlen(entry->name));
  return put(to, 2, 0); /* no extra field */
}

static pol_status write_bytes(poli_zip *zip, const void *bytes, size_t size)
{
  zip->offset += size;
  return size == 0 || fwrite(bytes, size, 1, zip->file) == 1 ? POL_OK : POL_IO;
}

/* The bytes without the header of zlib; the caller frees *packed. */
static pol_status deflate_bytes(const void *bytes, size_t size, unsigned char **packed,
                                unsigned long *packed_size)
{
  z_stream stream = {0};
  *packed = NULL;
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return POL_NO_MEMORY;
  const unsigned long room = deflateBound(&stream, size);
  *packed = malloc(room);
  stream.next_in = (unsigned char *)bytes;
  stream.avail_in = (unsigned int)size;
  stream.next_out = *packed;
  stream.avail_out = (unsigned int)room;
  const int done = *packed != NULL && room <= most && deflate(&stream, Z_FINISH) == Z_STREAM_END;
  *packed_size = stream.total_out;
  deflateEnd(&stream);
  return done ? POL_OK : POL_NO_MEMORY;
}

pol_status poli_zip_add(poli_zip *zip, const char *name, const void *bytes, size_t size)
{
  unsigned char header[30], *packed = NULL;
  if (size > most || zip->count >= 0xffff) return POL_BAD_ARGUMENT;
  struct poli_zip_entry *longer = realloc(zip->entries, ((size_t)zip->count + 1) * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  zip->entries = longer;
  struct poli_zip_entry *entry = &zip->entries[zip->count];
  *entry = (struct poli_zip_entry){.name = poli_format("%s", name), .size = size};
  if (entry->name == NULL) return POL_NO_MEMORY;
  zip->count++;
  entry->offset = zip->offset;
  entry->crc = crc32(0, bytes, (unsigned int)size);
  pol_status status = deflate_bytes(bytes, size, &packed, &entry->packed);
  if (status == POL_OK && entry->offset + entry->packed > most) status = POL_BAD_ARGUMENT;
  if (status == POL_OK) {
    put_common(put(header, 4, 0x04034b50), entry);
    status = write_bytes(zip, header, sizeof header);
  }
  if (status == POL_OK) status = write_bytes(zip, name, strlen(name));
  if (status == POL_OK) status = write_bytes(zip, packed, entry->packed);
  free(packed);
  return status;
}

pol_status poli_zip_end(poli_zip *zip, pol_status so_far)
{
  pol_status status = so_far;
  const unsigned long start = zip->offset;
  for (int i = 0; i < zip->count; i++) {
    const struct poli_zip_entry *entry = &zip->entries[i];
    unsigned char header[46], *to = put(header, 4, 0x02014b50);
    to = put_common(put(to, 2, 20), entry);
    to = put(to, 2, 0);            /* no comment */
    to = put(to, 2, 0);            /* of the first disk */
    to = put(put(to, 2, 0), 4, 0); /* attributes */
    put(to, 4, entry->offset);
    if (status == POL_OK) status = write_bytes(zip, header, sizeof header);
    if (status == POL_OK) status = write_bytes(zip, entry->name, strlen(entry->name));
    free(entry->name);
  }
  unsigned char end[22], *to = put(end, 4, 0x06054b50);
  to = put(to, 4, 0); /* one disk */
  to = put(put(to, 2, (unsigned long)zip->count), 2, (unsigned long)zip->count);
  to = put(put(to, 4, zip->offset - start), 4, start);
  put(to, 2, 0); /* no comment */
  if (status == POL_OK) status = write_bytes(zip, end, sizeof end);
  free(zip->entries);
  zip->entries = NULL;
  zip->count = 0;
  return status;
}
