/* What an object changes from step to step, as bytes.  Each object lists these data once, in a
 * function
 *
 *     void poli_X_archive(X *x, poli_archive *archive)
 *     {
 *       POLI_ARCHIVE(archive, x->t);
 *       poli_archive_bytes(archive, x->memory, x->memory_size);
 *     }
 *
 * which measures, saves, loads or hashes them.  Data are loaded into an object that was created in
 * the same way: what never changes is not listed. */
#ifndef POLHODE_BASE_ARCHIVE_H
#define POLHODE_BASE_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include <polhode/status.h>

typedef enum poli_archive_mode {
  POLI_ARCHIVE_MEASURE, /* counts the bytes */
  POLI_ARCHIVE_SAVE,    /* writes them */
  POLI_ARCHIVE_LOAD,    /* reads them */
  POLI_ARCHIVE_HASH     /* computes a hash of them */
} poli_archive_mode;

typedef struct poli_archive {
  poli_archive_mode mode;
  unsigned char *to;         /* POLI_ARCHIVE_SAVE */
  const unsigned char *from; /* POLI_ARCHIVE_LOAD */
  size_t size;               /* bytes there */
  size_t used;               /* bytes so far */
  uint64_t hash;             /* POLI_ARCHIVE_HASH; 0 at first */
  /* POL_BAD_ARGUMENT: there are too few bytes, or they contradict the object; POL_NO_MEMORY.
   * Nothing is read or written from then on. */
  pol_status status;
} poli_archive;

/* A number, enum or array, or a struct without pointers. */
#define POLI_ARCHIVE(archive, x) poli_archive_bytes((archive), &(x), sizeof(x))

void poli_archive_bytes(poli_archive *archive, void *data, size_t size);

/* A pointer into a block of memory that is listed itself, or NULL: returns it, as loaded. */
double *poli_archive_place(poli_archive *archive, const double *pointer, void *block, size_t size);

/* Whether something exists that is made when it is needed first: returns what was saved.  What is
 * loaded exists if a new object has it. */
int poli_archive_has(poli_archive *archive, int exists);

/* Continues a hash (FNV-1a, 64 bits; 0 at first). */
uint64_t poli_hash(uint64_t hash, const void *data, size_t size);

#endif
