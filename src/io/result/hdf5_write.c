/* Writing HDF5 results.
 *
 * Everything but numbers is written first, under another name; then the file goes into the
 * single-writer/multiple-reader mode (SWMR), in which the library writes in an order that keeps the
 * file readable at any time, and takes its name.  From there on only datasets grow and /run
 * changes.
 *
 * Rows are collected in a block, which is one layer of chunks of every dataset.  A full block is
 * packed and written.  If a block takes longer than a second to fill, what is there is written
 * unpacked: such a chunk has a fixed size, so that it can be written again in its place when more
 * rows have come.  A flush first brings numbers and events to the file, then raises /run/rows: that
 * many rows are complete in all datasets.
 *
 * Packing and writing take longer than the steps of a small mechanism, so they can be left to a
 * thread of the writer.  There are two blocks: while the thread writes one, the other is filled.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/errors.h"
#include "io/file/target.h"
#include "io/result/hdf5.h"

/* Numbers in a block, and its rows at most. */
enum { BLOCK_SIZE = 1 << 18, MAX_ROWS = 4096 };
/* Sizes of the texts that change during a run. */
enum { STATUS_SIZE = 16, FAILURE_SIZE = 512 };
/* Small pieces of structure never cross the border of a page, where the system may cut a write. */
enum { PAGE_SIZE = 4096 };
/* Space for what describes a dataset or attribute, for the index of a dataset, and for the rest. */
enum { DESCRIPTION_SIZE = 4 * PAGE_SIZE, INDEX_SIZE = 4 * PAGE_SIZE, MARGIN = 1 << 17 };
enum { DEFLATE_LEVEL = 1 };
/* H5Dwrite_chunk: all filters were applied, or neither of the two. */
enum { PACKED = 0, UNPACKED = 3 };

/* A piece of work: the first `used` rows and `events` events of a block, and whether to flush then.
 */
typedef struct job {
  int block;
  size_t used, events;
  hsize_t start; /* rows before it */
  int unpacked;
  int flush;
} job;

typedef struct hdf5_writer {
  pol_writer base;
  poli_h5_layout layout;
  poli_h5_packer *packer;
  poli_h5_events *events;
  int descriptor; /* another one of the file, locked */
  hid_t file, rows, status_text, failure_text;
  hid_t datasets[POLI_H5_MAX_SETS];

  size_t columns, block_rows;
  double *blocks[2]; /* each [block_rows][columns] */
  double *chunk;     /* the numbers of one chunk */

  /* What is being filled; blocks[filling]. */
  int filling;
  size_t used;    /* rows in the block */
  hsize_t start;  /* rows before the block */
  hsize_t handed; /* rows handed over to be flushed */
  int unpacked;   /* the block has been written in part */
  double last_flush, interval;

  /* The thread of the present job; while it runs, what follows is its own. */
  int background, running;
  pthread_t thread;
  job now;
  hsize_t written; /* rows that are in all datasets */
  pol_status status;
  int reason; /* errno of the first failure */
} hdf5_writer;

static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;

void poli_h5_lock(void)
{
  pthread_mutex_lock(&library);
}

void poli_h5_unlock(void)
{
  pthread_mutex_unlock(&library);
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Makes sure that the file can grow by so many bytes: after a write that failed the library can
 * neither close the file nor end in order.  0 if the disk is full; errno says why. */
static int reserve(const hdf5_writer *h, size_t bytes)
{
  hsize_t size;
  if (H5Fget_filesize(h->file, &size) < 0) return 0;
  errno = posix_fallocate(h->descriptor, (off_t)size, (off_t)bytes);
  return errno == 0;
}

/* --- texts ------------------------------------------------------------------------------------ */

hid_t poli_h5_text_type(size_t size)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

/* A dataset of fixed size, and the groups on the way to it. */
static hid_t create_dataset(hid_t place, const char *path, hid_t type, hid_t space)
{
  const hid_t links = H5Pcreate(H5P_LINK_CREATE), plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_obj_track_times(plist, 0);
  const hid_t set = H5Dcreate2(place, path, type, space, links, plist, H5P_DEFAULT);
  H5Pclose(plist);
  H5Pclose(links);
  return set;
}

/* Texts, or one without dimensions if count is 0, as a dataset or an attribute. */
static pol_status put_texts(const hdf5_writer *h, hid_t place, const char *path, int attribute,
                            size_t count, const char *const *texts)
{
  const size_t number = count > 0 ? count : 1;
  const hsize_t dimension = number;
  size_t size = 1;
  for (size_t i = 0; i < number; i++)
    if (size < strlen(texts[i])) size = strlen(texts[i]);
  if (!reserve(h, number * size + DESCRIPTION_SIZE)) return POL_IO;
  char *packed = calloc(number, size);
  if (packed == NULL) return POL_NO_MEMORY;
  for (size_t i = 0; i < number; i++) memcpy(packed + i * size, texts[i], strlen(texts[i]));

  const hid_t type = poli_h5_text_type(size);
  const hid_t space = count > 0 ? H5Screate_simple(1, &dimension, NULL) : H5Screate(H5S_SCALAR);
  int good;
  if (attribute) {
    const hid_t list = H5Acreate2(place, path, type, space, H5P_DEFAULT, H5P_DEFAULT);
    good = H5Awrite(list, type, packed) >= 0;
    H5Aclose(list);
  } else {
    const hid_t list = create_dataset(place, path, type, space);
    good = H5Dwrite(list, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) >= 0;
    H5Dclose(list);
  }
  H5Sclose(space);
  H5Tclose(type);
  free(packed);
  return good ? POL_OK : POL_IO;
}

/* One text; nothing if it is NULL. */
static pol_status put_text(const hdf5_writer *h, hid_t place, const char *path, int attribute,
                           const char *text)
{
  return text != NULL ? put_texts(h, place, path, attribute, 0, &text) : POL_OK;
}

/* Writes a text of fixed size; what is too long is cut. */
static int set_text(hid_t set, const char *text, size_t size)
{
  char buffer[FAILURE_SIZE] = "";
  snprintf(buffer, size, "%s", text);
  const hid_t type = poli_h5_text_type(size);
  const int good = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
  H5Tclose(type);
  return good;
}

static int set_rows(const hdf5_writer *h, hsize_t rows)
{
  const long long value = (long long)rows;
  return H5Dwrite(h->rows, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0;
}

/* --- structure -------------------------------------------------------------------------------- */

/* The group /run: what changes, and what the caller knows about the run. */
static pol_status put_run(hdf5_writer *h, const pol_result_info *about)
{
  if (!reserve(h, MARGIN)) return POL_IO;
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t types[2] = {poli_h5_text_type(STATUS_SIZE), poli_h5_text_type(FAILURE_SIZE)};
  h->rows = create_dataset(h->file, POLI_H5_ROWS, H5T_STD_I64LE, scalar);
  h->status_text = create_dataset(h->file, POLI_H5_STATUS, types[0], scalar);
  h->failure_text = create_dataset(h->file, POLI_H5_FAILURE, types[1], scalar);
  for (int i = 0; i < 2; i++) H5Tclose(types[i]);
  H5Sclose(scalar);
  if (!set_rows(h, 0) || !set_text(h->status_text, "unfinished", STATUS_SIZE) ||
      !set_text(h->failure_text, "", FAILURE_SIZE))
    return POL_IO;
  pol_status status = put_text(h, h->file, "format", 1, POLI_H5_FORMAT);
  if (status == POL_OK) status = put_text(h, h->file, "version", 1, pol_version());
  if (about == NULL || status != POL_OK) return status;
  status = put_text(h, h->file, "model_name", 1, about->name);
  if (status == POL_OK) status = put_text(h, h->file, POLI_H5_MODEL, 0, about->model);
  if (status == POL_OK) status = put_text(h, h->file, POLI_H5_SETTINGS, 0, about->settings);
  if (status == POL_OK && about->num_overrides > 0)
    status = put_texts(h, h->file, POLI_H5_OVERRIDES, 0, (size_t)about->num_overrides,
                       (const char *const *)about->overrides);
  return status;
}

/* An empty dataset that grows with the rows, with its unit and the names of its components. */
static pol_status create_set(hdf5_writer *h, int s)
{
  const poli_h5_set *set = &h->layout.sets[s];
  hsize_t size[3] = {0}, most[3] = {H5S_UNLIMITED}, chunk[3] = {h->block_rows};
  int rank = 1;
  if (!reserve(h, DESCRIPTION_SIZE)) return POL_IO;
  if (set->kind != POLI_H5_TOTAL) {
    size[rank] = most[rank] = set->objects;
    chunk[rank++] = set->chunk;
  }
  if (set->components > 1) {
    size[rank] = most[rank] = chunk[rank] = set->components;
    rank++;
  }
  const hid_t space = H5Screate_simple(rank, size, most), plist = H5Pcreate(H5P_DATASET_CREATE);
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_obj_track_times(plist, 0);
  H5Pset_chunk(plist, rank, chunk);
  H5Pset_shuffle(plist);
  H5Pset_deflate(plist, DEFLATE_LEVEL);
  H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
  H5Pset_chunk_cache(access, 1, 0, 1.0); /* whole chunks need none */
  h->datasets[s] = H5Dcreate2(h->file, set->path, H5T_IEEE_F64LE, space, links, plist, access);
  H5Pclose(links);
  H5Pclose(access);
  H5Pclose(plist);
  H5Sclose(space);
  if (h->datasets[s] < 0) return POL_IO;
  if (set->kind == POLI_H5_LIST) return POL_OK;

  const char *axes[4];
  const pol_channel *first = pol_record_channel(h->base.record, set->channel);
  pol_status status = put_text(h, h->datasets[s], "units", 1, first->unit);
  if (status != POL_OK || set->components == 1) return status;
  for (size_t k = 0; k < set->components; k++)
    axes[k] = strchr(pol_record_channel(h->base.record, set->channel + (int)k)->quantity, '.') + 1;
  return put_texts(h, h->datasets[s], "axes", 1, set->components, axes);
}

/* A text of each object of a group of the file: `offset` says which one of pol_channel.  Not every
 * dataset of the group has a channel for each. */
static pol_status put_object_texts(const hdf5_writer *h, const poli_h5_set *set, const char *name,
                                   size_t offset)
{
  char path[sizeof set->path + 16];
  const char **texts = calloc(set->objects, sizeof *texts);
  if (texts == NULL) return POL_NO_MEMORY;
  for (int s = 0; s < h->layout.count; s++) {
    const poli_h5_set *other = &h->layout.sets[s];
    for (size_t k = 0; k < set->objects && poli_h5_same_folder(set, other); k++) {
      const int channel = h->layout.channel_of[other->first + k * other->components];
      if (channel < 0) continue;
      memcpy(&texts[k], (const char *)pol_record_channel(h->base.record, channel) + offset,
             sizeof texts[k]);
    }
  }
  snprintf(path, sizeof path, "%.*s/%s", set->folder, set->path, name);
  const pol_status status = put_texts(h, h->file, path, 0, set->objects, texts);
  free(texts);
  return status;
}

/* In which order the channels were recorded: the column of each among those of all datasets. */
static pol_status put_order(const hdf5_writer *h)
{
  const char *paths[POLI_H5_MAX_SETS];
  for (int s = 0; s < h->layout.count; s++) paths[s] = h->layout.sets[s].path;
  const pol_status status =
      put_texts(h, h->file, POLI_H5_DATASETS, 0, (size_t)h->layout.count, paths);
  if (status != POL_OK) return status;
  if (!reserve(h, h->columns * sizeof(int) + DESCRIPTION_SIZE)) return POL_IO;
  const hsize_t count = h->columns;
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t set = create_dataset(h->file, POLI_H5_ORDER, H5T_STD_I32LE, space);
  const int good =
      H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, h->layout.order) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  return good ? POL_OK : POL_IO;
}

/* All of the file but the numbers. */
static pol_status put_structure(hdf5_writer *h, const pol_result_info *about)
{
  static const char *const event_units[] = {"s", "1", "", ""};
  pol_status status = put_run(h, about);
  if (status == POL_OK) status = put_order(h);
  for (int s = 0; status == POL_OK && s < h->layout.count; s++) {
    const poli_h5_set *set = &h->layout.sets[s];
    const int is_list = set->kind == POLI_H5_LIST;
    const size_t name = is_list ? offsetof(pol_channel, name) : offsetof(pol_channel, owner);
    status = create_set(h, s);
    int first = 0;
    while (!poli_h5_same_folder(set, &h->layout.sets[first])) first++;
    if (first < s || set->kind == POLI_H5_TOTAL) continue;
    if (status == POL_OK) status = put_object_texts(h, set, "names", name);
    if (status == POL_OK && is_list)
      status = put_object_texts(h, set, "units", offsetof(pol_channel, unit));
    if (status == POL_OK && is_list &&
        pol_record_channel(h->base.record, set->channel)->owner[0] != '\0')
      status = put_object_texts(h, set, "objects", offsetof(pol_channel, owner));
  }
  if (status != POL_OK) return status;
  const hid_t table = reserve(h, DESCRIPTION_SIZE) ? poli_h5_events_build(h->events, h->file) : -1;
  return table >= 0 ? put_texts(h, table, "units", 1, 4, event_units) : POL_IO;
}

static hid_t create_file(const char *path)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_file_space_strategy(create, H5F_FSPACE_STRATEGY_PAGE, 0, 1);
  H5Pset_file_space_page_size(create, PAGE_SIZE);
  H5Pset_obj_track_times(create, 0);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, create, access);
  H5Pclose(create);
  H5Pclose(access);
  return file;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Keeps the reason of the first failure. */
static void fail(hdf5_writer *h)
{
  if (h->status == POL_OK) h->reason = errno;
  h->status = POL_IO;
}

/* Writes the block into one dataset, chunk by chunk; packed if it will not change any more.  Rows
 * and objects that are not there are zero, vectors that an object does not have NaN. */
static int write_set(hdf5_writer *h, int s)
{
  const job *now = &h->now;
  const poli_h5_set *set = &h->layout.sets[s];
  const hsize_t extent[3] = {now->start + now->used,
                             set->kind == POLI_H5_TOTAL ? set->components : set->objects,
                             set->components};
  const size_t width = set->chunk * set->components, count = h->block_rows * width;
  const size_t chunks = (set->objects + set->chunk - 1) / set->chunk;
  if (!reserve(h, INDEX_SIZE + MARGIN + chunks * (count * sizeof(double) + PAGE_SIZE)) ||
      H5Dset_extent(h->datasets[s], extent) < 0)
    return 0;
  for (size_t first = 0; first < set->objects; first += set->chunk) {
    const int *channels = h->layout.channel_of + set->first + first * set->components;
    const size_t objects = set->objects - first < set->chunk ? set->objects - first : set->chunk;
    const hsize_t offset[3] = {now->start, set->kind == POLI_H5_TOTAL ? 0 : first, 0};
    if (now->used < h->block_rows || objects < set->chunk)
      memset(h->chunk, 0, count * sizeof *h->chunk);
    for (size_t n = 0; n < now->used; n++) {
      const double *row = h->blocks[now->block] + n * h->columns;
      double *to = h->chunk + n * width;
      for (size_t k = 0; k < objects * set->components; k++)
        to[k] = channels[k] >= 0 ? row[channels[k]] : (double)NAN;
    }
    size_t size = count * sizeof *h->chunk;
    const void *bytes = h->chunk;
    if (!now->unpacked)
      bytes = poli_h5_pack(h->packer, h->chunk, count, h->block_rows > 1 ? width : set->components,
                           &size);
    if (bytes == NULL || H5Dwrite_chunk(h->datasets[s], H5P_DEFAULT,
                                        now->unpacked ? UNPACKED : PACKED, offset, size, bytes) < 0)
      return 0;
  }
  return 1;
}

/* Numbers first, then their count. */
static int flush_file(const hdf5_writer *h)
{
  return H5Fflush(h->file, H5F_SCOPE_LOCAL) >= 0 && set_rows(h, h->written) &&
         H5Dflush(h->rows) >= 0;
}

static void *do_job(void *user)
{
  hdf5_writer *h = user;
  const job *now = &h->now;
  if (h->status != POL_OK) return NULL;
  poli_h5_lock();
  errno = 0;
  H5E_BEGIN_TRY
  {
    int good = 1;
    for (int s = 0; good && s < h->layout.count && now->used > 0; s++) good = write_set(h, s);
    good = good && reserve(h, MARGIN + now->events * PAGE_SIZE) &&
           poli_h5_events_write(h->events, now->block, now->events, now->used == h->block_rows);
    if (good) h->written = now->start + now->used;
    if (good && now->flush) good = flush_file(h);
    if (!good) fail(h);
  }
  H5E_END_TRY
  poli_h5_unlock();
  return NULL;
}

/* Waits for the thread, if there is one, and returns the status so far. */
static pol_status wait_for_job(hdf5_writer *h)
{
  if (h->running) pthread_join(h->thread, NULL);
  h->running = 0;
  if (h->status != POL_OK) errno = h->reason;
  return h->status;
}

/* Hands over what the block holds now, to a thread if there may be one, when the job before is
 * done.  Returns the status so far. */
static pol_status hand_over(hdf5_writer *h, int flush)
{
  pol_status status = wait_for_job(h);
  h->now = (job){.block = h->filling,
                 .used = h->used,
                 .events = poli_h5_events_count(h->events, h->filling),
                 .start = h->start,
                 .unpacked = h->unpacked,
                 .flush = flush};
  if (flush) {
    h->handed = h->start + h->used;
    h->last_flush = seconds();
  }
  if (h->background) {
    sigset_t all, before;
    sigfillset(&all); /* signals are for the other threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    h->running = pthread_create(&h->thread, NULL, do_job, h) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  if (!h->running) {
    do_job(h);
    status = wait_for_job(h);
  }
  return status;
}

/* --- the writer ------------------------------------------------------------------------------- */

static pol_status write_row(pol_writer *writer)
{
  hdf5_writer *h = (hdf5_writer *)writer;
  pol_record_row(writer->record, h->blocks[h->filling] + h->used * h->columns);
  poli_h5_events_note(h->events, h->filling, (long)(h->start + h->used));
  h->used++;
  const double waited = seconds() - h->last_flush;
  pol_status status = POL_OK;
  if (h->used == h->block_rows) {
    status = hand_over(h, waited > 0.5 * h->interval);
    h->start += h->used;
    h->used = 0;
    h->unpacked = 0;
    h->filling = !h->filling;
  } else if (waited > h->interval) {
    h->unpacked = 1;
    status = hand_over(h, 1);
  }
  return status;
}

static pol_status flush_rows(pol_writer *writer)
{
  hdf5_writer *h = (hdf5_writer *)writer;
  if (h->handed < h->start + h->used) {
    h->unpacked = h->used > 0;
    hand_over(h, 1);
  }
  return wait_for_job(h);
}

/* Frees everything but the file. */
static void release(hdf5_writer *h)
{
  poli_h5_packer_free(&h->packer);
  poli_h5_events_free(&h->events);
  poli_h5_layout_free(&h->layout);
  free(h->blocks[0]);
  free(h->blocks[1]);
  free(h->chunk);
  free(h);
}

/* Writes how the run ended, and closes the file. */
static void finish_file(hdf5_writer *h, const char *status, const char *failure)
{
  if (h->status != POL_OK) {
    status = "failed";
    if (failure == NULL) failure = "the result could not be written completely";
    flush_file(h);
  }
  if (!set_text(h->failure_text, failure != NULL ? failure : "", FAILURE_SIZE) ||
      !set_text(h->status_text, status, STATUS_SIZE))
    fail(h);
  /* flushed, it has its size, but for what was reserved too much */
  hsize_t size;
  if (H5Fflush(h->file, H5F_SCOPE_LOCAL) < 0 || H5Fget_filesize(h->file, &size) < 0 ||
      ftruncate(h->descriptor, (off_t)size) != 0 || H5Fclose(h->file) < 0)
    fail(h);
  close(h->descriptor);
}

static pol_status close_writer(pol_writer *writer, const char *status, const char *failure)
{
  hdf5_writer *h = (hdf5_writer *)writer;
  hand_over(h, 1);
  wait_for_job(h);
  poli_h5_lock();
  errno = 0;
  H5E_BEGIN_TRY
  {
    finish_file(h, status, failure);
  }
  H5E_END_TRY
  poli_h5_unlock();
  const pol_status result = h->status;
  const int reason = h->reason;
  release(h);
  errno = reason;
  return result;
}

static size_t block_rows(double columns)
{
  const double rows = BLOCK_SIZE / columns;
  return rows < 1.0 ? 1 : rows > MAX_ROWS ? MAX_ROWS : (size_t)rows;
}

double poli_h5_memory(double columns)
{
  const double number = sizeof(double), column = 2.0 * sizeof(int);
  return 2.0 * number * columns * (double)block_rows(columns) + column * columns;
}

/* All memory of the writer. */
static pol_status allocate(hdf5_writer *h)
{
  h->columns = (size_t)pol_record_count(h->base.record);
  h->block_rows = block_rows((double)h->columns);
  pol_status status = poli_h5_layout_create(&h->layout, h->base.record, h->block_rows);
  if (status != POL_OK) return status;
  size_t largest = 1;
  for (int s = 0; s < h->layout.count; s++) {
    const size_t size = h->block_rows * h->layout.sets[s].chunk * h->layout.sets[s].components;
    if (largest < size) largest = size;
  }
  for (int i = 0; i < 2; i++)
    h->blocks[i] = malloc(h->block_rows * h->columns * sizeof *h->blocks[i]);
  h->chunk = malloc(largest * sizeof *h->chunk);
  if (h->blocks[0] == NULL || h->blocks[1] == NULL || h->chunk == NULL) return POL_NO_MEMORY;
  status = poli_h5_packer_create(&h->packer, largest);
  return status == POL_OK ? poli_h5_events_create(&h->events, h->base.record, h->block_rows)
                          : status;
}

/* Creates the file that will be filled, locked; 0 if that is not possible, and errno says why. */
static int lock_file(hdf5_writer *h, const char *path, const char *first_name)
{
  /* the file that will be replaced must not be one that another process writes */
  const int old = open(path, O_RDWR);
  const int is_free = old < 0 || poli_output_lock(old);
  int reason = errno;
  if (old >= 0) close(old);
  errno = reason;
  if (!is_free) return 0;
  h->descriptor = open(first_name, O_RDWR | O_CREAT, 0666);
  if (h->descriptor < 0) return 0;
  if (poli_output_lock(h->descriptor)) return 1;
  reason = errno;
  close(h->descriptor);
  errno = reason;
  return 0;
}

/* Fills the file under its first name, then gives it the right one. */
static pol_status build_file(hdf5_writer *h, const char *path, const char *first_name,
                             const pol_result_info *about)
{
  if (!lock_file(h, path, first_name)) return POL_IO;
  h->file = create_file(first_name);
  pol_status status = h->file >= 0 ? put_structure(h, about) : POL_IO;
  if (status == POL_OK && (H5Fstart_swmr_write(h->file) < 0 ||
                           H5Fflush(h->file, H5F_SCOPE_LOCAL) < 0 || rename(first_name, path)))
    status = POL_IO;
  if (status != POL_OK) {
    const int reason = errno;
    remove(first_name); /* while it is locked */
    H5Fclose(h->file);
    close(h->descriptor);
    errno = reason;
  }
  return status;
}

pol_status poli_writer_create_hdf5(pol_writer **writer, const char *path, const pol_record *record,
                                   const pol_result_info *about, int background)
{
  hdf5_writer *h = calloc(1, sizeof *h);
  if (h == NULL) return POL_NO_MEMORY;
  h->base = (pol_writer){record, write_row, flush_rows, close_writer};
  h->interval = 1.0;
  errno = 0;
  pol_status status = allocate(h);
  char *target = status == POL_OK ? poli_output_target(path) : NULL;
  char *first_name = target != NULL ? poli_format("%s" POLI_OUTPUT_NEW, target) : NULL;
  if (status == POL_OK && first_name == NULL) status = errno == ELOOP ? POL_IO : POL_NO_MEMORY;
  if (status == POL_OK) {
    poli_h5_lock();
    H5E_BEGIN_TRY
    {
      status = build_file(h, target, first_name, about);
    }
    H5E_END_TRY
    poli_h5_unlock();
  }
  const int reason = errno;
  free(first_name);
  free(target);
  h->last_flush = seconds();
  h->background = background;
  if (status == POL_OK)
    *writer = &h->base;
  else
    release(h);
  errno = reason;
  return status;
}

void poli_h5_set_interval(pol_writer *writer, double interval)
{
  ((hdf5_writer *)writer)->interval = interval;
}
