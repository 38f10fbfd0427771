/* Packing numbers for a chunk: the same bytes that any HDF5 library unpacks with its filters
 * shuffle and deflate, but made faster.
 *
 * Shuffle puts byte 0 of all numbers first, then byte 1, and so on (HDF5 file format, filter 2). Of
 * simulated motion the bytes with sign and exponent repeat themselves; those at the end of the
 * mantissa look random, and trying to compress them takes most of the time and gains little.  So a
 * sample of each of the eight parts decides: where most bytes are those of the row before (or, in a
 * chunk of one row, of the object before), matches
 * are long, found fast and worth it, and the part is compressed; else it is copied as stored blocks
 * of the same stream (zlib, RFC 1950), which costs next to nothing.
 */
#include "io/result/hdf5.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BYTES = 8, SAMPLE = 512, LEVEL = 1 };

struct poli_h5_packer {
  z_stream stream;
  unsigned char *parts; /* shuffled bytes */
  unsigned char *out;
  size_t capacity; /* of out */
};

pol_status poli_h5_packer_create(poli_h5_packer **packer, size_t elements)
{
  *packer = NULL;
  poli_h5_packer *p = calloc(1, sizeof *p);
  if (p == NULL) return POL_NO_MEMORY;
  if (deflateInit(&p->stream, LEVEL) != Z_OK) {
    free(p);
    return POL_NO_MEMORY;
  }
  /* room for the ends of blocks where the way of packing changes, beside what zlib asks for */
  p->capacity = deflateBound(&p->stream, (uLong)(elements * BYTES)) + 64 * BYTES;
  p->parts = malloc(elements * BYTES);
  p->out = malloc(p->capacity);
  if (p->parts == NULL || p->out == NULL) {
    poli_h5_packer_free(&p);
    return POL_NO_MEMORY;
  }
  *packer = p;
  return POL_OK;
}

void poli_h5_packer_free(poli_h5_packer **packer)
{
  if (*packer == NULL) return;
  deflateEnd(&(*packer)->stream);
  free((*packer)->parts);
  free((*packer)->out);
  free(*packer);
  *packer = NULL;
}

static void shuffle(const double *numbers, size_t count, unsigned char *parts)
{
  const unsigned char *from = (const unsigned char *)numbers;
  for (size_t i = 0; i < count; i++, from += BYTES)
    for (size_t b = 0; b < BYTES; b++) parts[b * count + i] = from[b];
}

/* Whether nearly two of three bytes of a sample are those `stride` before them, as of a vector with
 * two components that do not change. */
static int is_worth_packing(const unsigned char *bytes, size_t count, size_t stride)
{
  const size_t step = count > SAMPLE ? count / SAMPLE : 1;
  size_t size = 0, same = 0;
  for (size_t i = stride; i < count; i += step, size++) same += bytes[i] == bytes[i - stride];
  return 20 * same > 13 * size;
}

const void *poli_h5_pack(poli_h5_packer *packer, const double *numbers, size_t count, size_t stride,
                         size_t *size)
{
  z_stream *z = &packer->stream;
  shuffle(numbers, count, packer->parts);
  if (deflateReset(z) != Z_OK) return NULL;
  z->next_out = packer->out;
  z->avail_out = (uInt)packer->capacity;
  for (size_t b = 0; b < BYTES; b++) {
    unsigned char *part = packer->parts + b * count;
    const int level = is_worth_packing(part, count, stride) ? LEVEL : 0;
    z->next_in = part;
    z->avail_in = 0;
    if (deflateParams(z, level, Z_DEFAULT_STRATEGY) != Z_OK) return NULL;
    z->avail_in = (uInt)count;
    const int result = deflate(z, b + 1 < BYTES ? Z_NO_FLUSH : Z_FINISH);
    if (result != (b + 1 < BYTES ? Z_OK : Z_STREAM_END)) return NULL;
  }
  *size = packer->capacity - z->avail_out;
  return packer->out;
}
