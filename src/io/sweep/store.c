/* The journal of a study: outcomes in the order in which they were finished, appended to a file.
 *
 * An HDF5 file that a killed process was writing may be unreadable.  So each outcome is appended to
 * a journal, in a frame with its length and a hash, by one write; a frame that was cut off by the
 * end of the process fails its hash, is ignored, and overwritten.  The HDF5 file is made from the
 * journal in the order of the runs: its bytes depend on the study alone.
 *
 * The lock on the journal keeps a second process away until the first one has ended, in whatever
 * way. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700

#include "io/sweep/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/errors.h"
#include "io/file/file.h"

static const char magic[16] = "polhode journal";

typedef struct journal_head {
  char magic[16];
  uint64_t identity;
  int64_t runs;
} journal_head;

typedef struct frame {
  int64_t run;
  uint64_t size, hash; /* of the bytes that follow; the hash covers run and size too */
} frame;

struct pol_sweep_store {
  const pol_sweep *sweep;
  char *path, *journal; /* of the file, after links; of the journal */
  int descriptor;       /* -1: the file is finished, there is no journal */
  int64_t *at;          /* where the frame of each run is; 0: nowhere */
  int64_t end;          /* of the last good frame */
  long finished, failed;
  void *buffer; /* of the last outcome that was read */
  size_t room;
};

static uint64_t hash_frame(const frame *f, const void *bytes)
{
  uint64_t hash = poli_hash(0, &f->run, sizeof f->run);
  hash = poli_hash(hash, &f->size, sizeof f->size);
  return poli_hash(hash, bytes, (size_t)f->size);
}

/* Reads exactly so many bytes; 0 if there are fewer. */
static int read_at(int descriptor, void *to, size_t size, int64_t at)
{
  char *bytes = to;
  while (size > 0) {
    const ssize_t got = pread(descriptor, bytes, size, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    bytes += got;
    at += got;
    size -= (size_t)got;
  }
  return 1;
}

/* The frame at a place, with its bytes in the buffer.  POL_IO: there is no good one. */
static pol_status read_frame(pol_sweep_store *store, int64_t at, int64_t end, frame *f)
{
  const int64_t first = at + (int64_t)sizeof *f;
  if (first > end || !read_at(store->descriptor, f, sizeof *f, at)) return POL_IO;
  if (f->size > (uint64_t)(end - first)) return POL_IO;
  if (f->size > store->room) {
    void *larger = realloc(store->buffer, (size_t)f->size);
    if (!larger) return POL_NO_MEMORY;
    store->buffer = larger;
    store->room = (size_t)f->size;
  }
  if (!read_at(store->descriptor, store->buffer, (size_t)f->size, first) ||
      hash_frame(f, store->buffer) != f->hash)
    return POL_IO;
  return POL_OK;
}

static void count_outcome(pol_sweep_store *store, long run, int64_t at, pol_sweep_end end)
{
  store->at[run] = at;
  store->finished++;
  store->failed += end != POL_SWEEP_DONE;
}

/* Goes through all frames up to the first that is not good, and cuts off what is behind. */
static pol_status scan(pol_sweep_store *store, int64_t size)
{
  frame f;
  pol_status status;
  while ((status = read_frame(store, store->end, size, &f)) == POL_OK) {
    const pol_sweep_end end = pol_sweep_outcome_end(store->sweep, store->buffer, (size_t)f.size);
    if (f.run < 0 || f.run >= store->sweep->count || end == POL_SWEEP_PENDING) break;
    if (store->at[f.run] == 0) count_outcome(store, (long)f.run, store->end, end);
    store->end += (int64_t)(sizeof f + f.size);
  }
  if (status == POL_NO_MEMORY) return status;
  return ftruncate(store->descriptor, (off_t)store->end) == 0 ? POL_OK : POL_IO;
}

/* Opens and locks the journal; one that another process removed just now is opened again. */
static pol_status open_journal(pol_sweep_store *store, int64_t *size)
{
  struct stat info;
  for (;;) {
    store->descriptor = open(store->journal, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (store->descriptor < 0) return POL_IO;
    if (!poli_output_lock(store->descriptor) || fstat(store->descriptor, &info) != 0) return POL_IO;
    if (info.st_nlink > 0) break;
    close(store->descriptor);
  }
  *size = (int64_t)info.st_size;
  return POL_OK;
}

static pol_status begin_journal(pol_sweep_store *store)
{
  journal_head head = {.identity = store->sweep->identity, .runs = store->sweep->count};
  memcpy(head.magic, magic, sizeof magic);
  store->end = sizeof head;
  if (ftruncate(store->descriptor, 0) != 0) return POL_IO;
  return pwrite(store->descriptor, &head, sizeof head, 0) == (ssize_t)sizeof head ? POL_OK : POL_IO;
}

/* What a file that exists already means for a study without a journal: it is finished, or it is in
 * the way.  What is not the file of a study is never replaced. */
static pol_status check_file(pol_sweep_store *store, int restart, char *message, size_t size)
{
  uint64_t identity;
  long pending, failed;
  struct stat info;
  if (stat(store->path, &info) != 0 || info.st_size == 0) return POL_OK;
  const pol_status status = poli_sweep_file_identity(store->path, &identity, &pending, &failed);
  if (status == POL_NO_MEMORY) return status;
  if (status != POL_OK) {
    snprintf(message, size, "exists and is not the file of a study");
    return POL_BAD_ARGUMENT;
  }
  if (restart) return POL_OK;
  if (identity != store->sweep->identity) {
    snprintf(message, size,
             "holds another study, or the study, its model or the version of polhode has changed; "
             "--restart replaces it");
    return POL_BAD_ARGUMENT;
  }
  if (pending > 0) {
    snprintf(message, size,
             "has %ld unfinished runs, but its journal is missing; --restart "
             "replaces it",
             pending);
    return POL_BAD_ARGUMENT;
  }
  close(store->descriptor);
  store->descriptor = -1;
  remove(store->journal);
  store->finished = store->sweep->count;
  store->failed = failed;
  return POL_OK;
}

/* The journal as it was found: new, of this study, or of another. */
static pol_status take_journal(pol_sweep_store *store, int64_t size, int restart, char *message,
                               size_t message_size)
{
  journal_head head;
  pol_status status = POL_OK;
  const int whole = size >= (int64_t)sizeof head &&
                    read_at(store->descriptor, &head, sizeof head, 0) &&
                    memcmp(head.magic, magic, sizeof magic) == 0;
  if (!restart && size >= (int64_t)sizeof head &&
      (!whole || head.identity != store->sweep->identity || head.runs != store->sweep->count)) {
    snprintf(message, message_size,
             "was begun by another study, or the study, its model or the version of polhode has "
             "changed since; --restart discards it");
    return POL_BAD_ARGUMENT;
  }
  if (whole && !restart) {
    store->end = sizeof head;
    return scan(store, size);
  }
  status = check_file(store, restart, message, message_size);
  if (status == POL_OK && store->descriptor >= 0) status = begin_journal(store);
  return status;
}

static void free_store(pol_sweep_store **store)
{
  if ((*store)->descriptor >= 0) close((*store)->descriptor);
  free((*store)->path);
  free((*store)->journal);
  free((*store)->at);
  free((*store)->buffer);
  free(*store);
  *store = NULL;
}

pol_status pol_sweep_store_open(pol_sweep_store **result, const pol_sweep *sweep, const char *path,
                                int restart, char *message, size_t size)
{
  int64_t journal_size = 0;
  char reason[256] = "";
  *result = NULL;
  pol_sweep_store *store = calloc(1, sizeof *store);
  if (!store) return POL_NO_MEMORY;
  store->sweep = sweep;
  store->descriptor = -1;
  store->path = poli_output_target(path);
  store->journal = store->path ? poli_format("%s.journal", store->path) : NULL;
  store->at = calloc((size_t)sweep->count, sizeof *store->at);
  pol_status status = store->journal && store->at ? POL_OK : POL_NO_MEMORY;
  if (status == POL_OK) status = open_journal(store, &journal_size);
  const int is_new = status == POL_OK && journal_size == 0;
  if (status == POL_OK) status = take_journal(store, journal_size, restart, reason, sizeof reason);
  if (status == POL_OK) {
    *result = store;
    return POL_OK;
  }
  const int cause = errno;
  if (status == POL_NO_MEMORY)
    snprintf(message, size, "%s", pol_status_text(status));
  else if (status == POL_IO && cause == ETXTBSY)
    snprintf(message, size, "%s: another process is running this study", store->journal);
  else if (status == POL_IO)
    snprintf(message, size, "%s: %s", store->journal, strerror(cause));
  else
    snprintf(message, size, "%s %s", is_new ? store->path : store->journal, reason);
  if (is_new && status != POL_IO) remove(store->journal);
  free_store(&store);
  errno = cause;
  return status;
}

int pol_sweep_store_has(const pol_sweep_store *store, long run)
{
  return store->descriptor < 0 || store->at[run] != 0;
}

long pol_sweep_store_finished(const pol_sweep_store *store)
{
  return store->finished;
}

long pol_sweep_store_failed(const pol_sweep_store *store)
{
  return store->failed;
}

pol_status pol_sweep_store_add(pol_sweep_store *store, long run, const void *bytes, size_t size)
{
  const pol_sweep_end end = pol_sweep_outcome_end(store->sweep, bytes, size);
  if (run < 0 || run >= store->sweep->count || end == POL_SWEEP_PENDING) return POL_BAD_ARGUMENT;
  if (pol_sweep_store_has(store, run)) return POL_OK;
  frame f = {.run = run, .size = size};
  f.hash = hash_frame(&f, bytes);
  struct iovec parts[2] = {{&f, sizeof f}, {(void *)(uintptr_t)bytes, size}};
  const ssize_t whole = (ssize_t)(sizeof f + size);
  errno = 0;
  ssize_t written = -1;
  if (lseek(store->descriptor, (off_t)store->end, SEEK_SET) >= 0) do
      written = writev(store->descriptor, parts, 2);
    while (written < 0 && errno == EINTR);
  /* the rest of a write that a signal has cut short */
  while (written >= 0 && written < whole) {
    const size_t done = (size_t)written;
    const char *from =
        done < sizeof f ? (const char *)&f + done : (const char *)bytes + (done - sizeof f);
    const size_t left = done < sizeof f ? sizeof f - done : size - (done - sizeof f);
    const ssize_t more = write(store->descriptor, from, left);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    written += more;
  }
  if (written != whole) {
    const int reason = errno != 0 ? errno : ENOSPC;
    if (ftruncate(store->descriptor, (off_t)store->end) != 0) errno = reason;
    errno = reason;
    return POL_IO;
  }
  count_outcome(store, run, store->end, end);
  store->end += whole;
  return POL_OK;
}

static pol_status read_outcome(void *user, long run, const void **bytes, size_t *size)
{
  pol_sweep_store *store = user;
  frame f;
  *size = 0;
  *bytes = NULL;
  if (store->at[run] == 0) return POL_OK;
  const pol_status status = read_frame(store, store->at[run], store->end, &f);
  if (status != POL_OK) return status;
  *bytes = store->buffer;
  *size = (size_t)f.size;
  return POL_OK;
}

/* Under another name first, so that a file is complete or as it was before. */
static pol_status write_file(pol_sweep_store *store)
{
  const poli_outcomes outcomes = {read_outcome, store};
  char *name = poli_format("%s" POLI_OUTPUT_NEW, store->path);
  if (!name) return POL_NO_MEMORY;
  pol_status status = poli_sweep_write_hdf5(store->sweep, name, &outcomes);
  if (status == POL_OK && rename(name, store->path) != 0) status = POL_IO;
  const int reason = errno;
  if (status != POL_OK) remove(name);
  free(name);
  errno = reason;
  return status;
}

pol_status pol_sweep_store_close(pol_sweep_store **pointer)
{
  pol_sweep_store *store = *pointer;
  pol_status status = POL_OK;
  if (!store) return POL_OK;
  if (store->descriptor >= 0) {
    if (store->finished > 0) status = write_file(store);
    const int reason = errno;
    if (status == POL_OK && (store->finished == store->sweep->count || store->finished == 0))
      remove(store->journal);
    errno = reason;
  }
  free_store(pointer);
  return status;
}
