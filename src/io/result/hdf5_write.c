/* Writing HDF5 results.
 *
 * Everything but numbers is written first, under another name; then the file goes into the
 * single-writer/multiple-reader mode, in which the library writes in an order that keeps the file
 * readable at any time, and takes its name.  From there on only datasets grow and /run changes.
 *
 * Rows are collected in a block, which is one chunk of every dataset.  A full block is packed and
 * written.  If a block takes longer than a second to fill, what is there is written unpacked: such
 * a chunk has a fixed size, so that it can be written again in its place when more rows have come.
 * A flush first brings numbers and events to the file, then raises /run/rows: that many rows are
 * complete in all datasets.
 *
 * A flush of many datasets with new chunks takes the library a time that grows with the square of
 * their number: whenever one is done it begins anew to look for the next among all that are left.
 * So datasets are written and flushed in groups.  What remains is in proportion to their number,
 * and where it is much, flushes are farther apart.
 *
 * The library cannot close a file in order once the disk is full.  So the space for a block is
 * reserved before the library may write it; what is left over is cut off at the end.
 *
 * Packing and writing take longer than the steps of a small mechanism, so they can be left to a
 * thread of the writer.  There are two blocks: while the thread writes one, the other is filled.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
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

/* Numbers in a block, and its rows. */
enum { BLOCK_SIZE = 1 << 18, MIN_ROWS = 64, MAX_ROWS = 4096 };
/* Sizes of the texts that change during a run. */
enum { STATUS_SIZE = 16, FAILURE_SIZE = 512 };
/* Small pieces of structure never cross the border of a page, where the system may cut a write. */
enum { PAGE_SIZE = 4096 };
/* Space of a dataset for its description, and for its part of an index beside the chunk itself. */
enum { DESCRIPTION_SIZE = 4 * PAGE_SIZE, INDEX_SIZE = 3 * PAGE_SIZE };
/* Space for closing the file, and for what all files have. */
enum { MARGIN = 1 << 18 };
enum { DEFLATE_LEVEL = 1 };
/* Datasets that are written before the library flushes them. */
enum { GROUP_SIZE = 1000 };
/* H5Dwrite_chunk: all filters were applied, or neither of the two. */
enum { PACKED = 0, UNPACKED = 3 };
/* Seconds after which a full block, and any block, is flushed. */
static const double default_full_interval = 0.5, default_any_interval = 1.0;
/* Any block waits longer where flushing takes long: so many times what the last flush took. */
static const double flush_distance = 5.0;

/* A piece of work: rows to write, and whether to flush then. */
typedef struct job {
  const double *block;
  size_t used;   /* rows of it */
  hsize_t start; /* rows before it */
  int unpacked;
  int flush;
  poli_h5_event_part events;
} job;

struct pol_hdf5 {
  const pol_record *record;
  poli_h5_layout layout;
  poli_h5_packer *packer;
  poli_h5_events *events;
  hid_t file;
  int descriptor;   /* a second one of the same file */
  int lock;         /* a third one, which is locked */
  hsize_t reserved; /* bytes of the file that the disk has for sure */
  hid_t *datasets;  /* of the series of the layout; 0 where not open */
  hid_t rows, status_text, failure_text;

  size_t columns, block_rows;
  double *blocks[2]; /* each [block_rows][columns] */
  double *chunk;     /* the numbers of one chunk */

  /* What is being filled; blocks[filling]. */
  int filling;
  size_t used;    /* rows in the block */
  hsize_t start;  /* rows before the block */
  hsize_t handed; /* rows handed over to be flushed */
  int unpacked;   /* the block has been written in part */
  double last_flush;
  double full_interval, any_interval;

  /* The thread; while it is busy the job and the status are its own. */
  int background;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int busy, stopping;
  job now;
  hsize_t written;   /* rows that are in all datasets */
  double flush_time; /* seconds that the last job with a flush took */
  pol_status status;
  int reason; /* errno of the first failure */
};

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- space ------------------------------------------------------------------------------------ */

/* Makes sure that the file can grow by so many bytes; 0 if not, and errno says why. */
static int reserve(pol_hdf5 *h, size_t bytes)
{
  hsize_t size;
  if (H5Fget_filesize(h->file, &size) < 0) return 0;
  const hsize_t need = size + bytes;
  if (need <= h->reserved) return 1;
  errno = posix_fallocate(h->descriptor, (off_t)h->reserved, (off_t)(need - h->reserved));
  if (errno != 0) return 0;
  h->reserved = need;
  return 1;
}

/* Cuts off what was reserved too much, when the library has closed the file: where it ends stands
 * at byte 28, eight bytes, lowest first (HDF5 file format, superblock version 3). */
static void give_back(pol_hdf5 *h)
{
  unsigned char bytes[8];
  off_t size = 0;
  if (pread(h->descriptor, bytes, sizeof bytes, 28) == sizeof bytes)
    for (int i = 7; i >= 0; i--) size = 256 * size + bytes[i];
  if (size > 0 && (hsize_t)size < h->reserved) {
    const int cut = ftruncate(h->descriptor, size);
    (void)cut; /* too long does no harm */
  }
  close(h->descriptor);
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

static hid_t list_space(int count)
{
  const hsize_t size = (hsize_t)count;
  return H5Screate_simple(1, &size, NULL);
}

/* Datasets of fixed size that can be written when the disk is full. */
static hid_t create_fixed(hid_t file, const char *path, hid_t type, hid_t space)
{
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY);
  H5Pset_obj_track_times(plist, 0);
  const hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  H5Pclose(plist);
  return set;
}

/* One text as an attribute of the file. */
static int put_attribute(hid_t file, const char *name, const char *text)
{
  const hid_t type = poli_h5_text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const int good = H5Awrite(attribute, type, text) >= 0;
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  return good;
}

/* One text as a dataset; nothing if it is NULL. */
static int put_text(hid_t file, const char *path, const char *text)
{
  if (text == NULL) return 1;
  const hid_t type = poli_h5_text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR);
  const hid_t set = create_fixed(file, path, type, space);
  const int good = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  H5Tclose(type);
  return good;
}

pol_status poli_h5_put_texts(hid_t place, const char *path, int attribute, int count,
                             const char *const *texts)
{
  size_t size = 1;
  for (int i = 0; i < count; i++)
    if (size < strlen(texts[i]) + 1) size = strlen(texts[i]) + 1;
  /* the compiler does not know that there is one at least */
  char *packed = count > 0 ? calloc((size_t)count, size) : NULL;
  if (packed == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < count; i++) memcpy(packed + (size_t)i * size, texts[i], strlen(texts[i]));

  const hid_t type = poli_h5_text_type(size), space = list_space(count);
  int good;
  if (attribute) {
    const hid_t list = H5Acreate2(place, path, type, space, H5P_DEFAULT, H5P_DEFAULT);
    good = H5Awrite(list, type, packed) >= 0;
    H5Aclose(list);
  } else {
    const hid_t list = create_fixed(place, path, type, space);
    good = H5Dwrite(list, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) >= 0;
    H5Dclose(list);
  }
  H5Sclose(space);
  H5Tclose(type);
  free(packed);
  return good ? POL_OK : POL_IO;
}

/* --- structure -------------------------------------------------------------------------------- */

/* Groups on the way to a dataset are made as needed. */
static hid_t link_plist(void)
{
  const hid_t plist = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(plist, 1);
  H5Pset_char_encoding(plist, H5T_CSET_UTF8);
  return plist;
}

/* Attributes of a dataset: units and, of a matrix, axes: one text for each column. */
static pol_status describe_columns(const pol_hdf5 *h, int s)
{
  const poli_h5_series *series = &h->layout.series[s];
  const char **texts = calloc((size_t)series->columns, sizeof *texts);
  if (texts == NULL) return POL_NO_MEMORY;
  for (int k = 0; k < series->columns; k++)
    texts[k] = pol_record_channel(h->record, h->layout.channels[series->first + k])->unit;
  pol_status status = poli_h5_put_texts(h->datasets[s], "units", 1, series->columns, texts);
  for (int k = 0; k < series->columns && !series->flat; k++)
    texts[k] =
        strchr(pol_record_channel(h->record, h->layout.channels[series->first + k])->quantity,
               '.') +
        1;
  if (status == POL_OK && !series->flat)
    status = poli_h5_put_texts(h->datasets[s], "axes", 1, series->columns, texts);
  free(texts);
  return status;
}

/* An empty dataset that grows with the rows. */
static pol_status create_series(pol_hdf5 *h, int s, hid_t links)
{
  const poli_h5_series *series = &h->layout.series[s];
  const int rank = series->flat ? 1 : 2;
  const hsize_t columns = (hsize_t)series->columns;
  const hsize_t none[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns};
  const hsize_t chunk[2] = {h->block_rows, columns};
  const hid_t space = H5Screate_simple(rank, none, most), plist = H5Pcreate(H5P_DATASET_CREATE);
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_chunk(plist, rank, chunk);
  H5Pset_shuffle(plist);
  H5Pset_deflate(plist, DEFLATE_LEVEL);
  H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(plist, 0);
  H5Pset_chunk_cache(access, 1, 0, 1.0); /* whole chunks need none */
  h->datasets[s] = H5Dcreate2(h->file, series->path, H5T_IEEE_F64LE, space, links, plist, access);
  H5Pclose(access);
  H5Pclose(plist);
  H5Sclose(space);
  return h->datasets[s] >= 0 ? describe_columns(h, s) : POL_IO;
}

/* The lists of channels: name, unit, dataset and column of each. */
static pol_status put_channels(const pol_hdf5 *h)
{
  const int count = (int)h->columns;
  const char **texts = calloc(h->columns, sizeof *texts);
  if (texts == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < count; i++) texts[i] = pol_record_channel(h->record, i)->name;
  pol_status status = poli_h5_put_texts(h->file, POLI_H5_CHANNEL_NAMES, 0, count, texts);
  for (int i = 0; i < count; i++) texts[i] = pol_record_channel(h->record, i)->unit;
  if (status == POL_OK) status = poli_h5_put_texts(h->file, POLI_H5_CHANNEL_UNITS, 0, count, texts);
  for (int i = 0; i < count; i++) texts[i] = h->layout.series[h->layout.series_of[i]].path;
  if (status == POL_OK)
    status = poli_h5_put_texts(h->file, POLI_H5_CHANNEL_DATASETS, 0, count, texts);
  free(texts);
  if (status != POL_OK) return status;

  const hid_t space = list_space(count);
  const hid_t set = create_fixed(h->file, POLI_H5_CHANNEL_COLUMNS, H5T_STD_I32LE, space);
  const int good =
      H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, h->layout.column_of) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  return good ? POL_OK : POL_IO;
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

static int set_rows(const pol_hdf5 *h, hsize_t rows)
{
  const long long value = (long long)rows;
  return H5Dwrite(h->rows, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0;
}

static hid_t create_text(hid_t file, const char *path, size_t size)
{
  const hid_t type = poli_h5_text_type(size), space = H5Screate(H5S_SCALAR);
  const hid_t set = create_fixed(file, path, type, space);
  H5Sclose(space);
  H5Tclose(type);
  return set;
}

/* The group /run: what changes, and what the caller knows about the run. */
static pol_status put_run(pol_hdf5 *h, const pol_result_info *about)
{
  const hid_t scalar = H5Screate(H5S_SCALAR);
  h->rows = create_fixed(h->file, POLI_H5_ROWS, H5T_STD_I64LE, scalar);
  H5Sclose(scalar);
  h->status_text = create_text(h->file, POLI_H5_STATUS, STATUS_SIZE);
  h->failure_text = create_text(h->file, POLI_H5_FAILURE, FAILURE_SIZE);
  if (!set_rows(h, 0) || !set_text(h->status_text, "unfinished", STATUS_SIZE) ||
      !set_text(h->failure_text, "", FAILURE_SIZE))
    return POL_IO;
  if (about == NULL) return POL_OK;
  if (about->name != NULL && !put_attribute(h->file, "model_name", about->name)) return POL_IO;
  if (!put_text(h->file, POLI_H5_MODEL, about->model) ||
      !put_text(h->file, POLI_H5_SETTINGS, about->settings))
    return POL_IO;
  if (about->num_overrides == 0) return POL_OK;
  return poli_h5_put_texts(h->file, POLI_H5_OVERRIDES, 0, about->num_overrides,
                           (const char *const *)about->overrides);
}

/* All of the file but the numbers. */
static pol_status put_structure(pol_hdf5 *h, const pol_result_info *about)
{
  if (!put_attribute(h->file, "format", POLI_H5_FORMAT) ||
      !put_attribute(h->file, "version", pol_version()))
    return POL_IO;
  const hid_t links = link_plist();
  H5Gclose(H5Gcreate2(h->file, "/run", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Gclose(H5Gcreate2(h->file, "/channels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  pol_status status = put_run(h, about);
  if (status == POL_OK) status = put_channels(h);
  if (status == POL_OK) status = poli_h5_events_build(h->events, h->file);
  for (int s = 0; status == POL_OK && s < h->layout.count; s++) status = create_series(h, s, links);
  H5Pclose(links);
  return status;
}

/* More than all that takes. */
static size_t description_size(const pol_hdf5 *h, const pol_result_info *about)
{
  size_t longest = 1, size = MARGIN + (size_t)(h->layout.count + 1) * DESCRIPTION_SIZE;
  for (int i = 0; i < (int)h->columns; i++) {
    const size_t length = strlen(pol_record_channel(h->record, i)->name);
    if (longest < length) longest = length;
  }
  size += 10 * h->columns * longest; /* escaped paths may be three times as long */
  if (about != NULL && about->model != NULL) size += strlen(about->model);
  if (about != NULL && about->settings != NULL) size += strlen(about->settings);
  for (int i = 0; about != NULL && i < about->num_overrides; i++)
    size += strlen(about->overrides[i]) * (size_t)about->num_overrides;
  return size;
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

/* Notes a failure of the library; the first reason stays. */
static pol_status fail(pol_hdf5 *h)
{
  if (h->status == POL_OK) h->reason = errno;
  h->status = POL_IO;
  errno = h->reason;
  return POL_IO;
}

/* The block's part of one dataset, row by row; rows that are not there yet are zero. */
static void gather(const pol_hdf5 *h, const poli_h5_series *series)
{
  const int *channels = h->layout.channels + series->first;
  const size_t columns = (size_t)series->columns;
  double *to = h->chunk;
  for (size_t n = 0; n < h->now.used; n++) {
    const double *row = h->now.block + n * h->columns;
    for (size_t k = 0; k < columns; k++) *to++ = row[channels[k]];
  }
  memset(to, 0, (h->block_rows - h->now.used) * columns * sizeof *to);
}

/* Writes the block into one dataset; packed if the chunk will not change any more. */
static int write_chunk(pol_hdf5 *h, int s)
{
  const job *now = &h->now;
  const poli_h5_series *series = &h->layout.series[s];
  const size_t columns = (size_t)series->columns, count = h->block_rows * columns;
  const hsize_t extent[2] = {now->start + now->used, columns}, offset[2] = {now->start, 0};
  size_t size = count * sizeof *h->chunk;
  const void *bytes = h->chunk;
  gather(h, series);
  if (!now->unpacked) bytes = poli_h5_pack(h->packer, h->chunk, count, columns, &size);
  return bytes != NULL && H5Dset_extent(h->datasets[s], extent) >= 0 &&
         H5Dwrite_chunk(h->datasets[s], H5P_DEFAULT, now->unpacked ? UNPACKED : PACKED, offset,
                        size, bytes) >= 0;
}

/* Brings to the file what the library still holds, which also cuts off what was reserved. */
static int flush_library(pol_hdf5 *h)
{
  return H5Fflush(h->file, H5F_SCOPE_LOCAL) >= 0 && H5Fget_filesize(h->file, &h->reserved) >= 0;
}

/* Space for the present block in the datasets from `first` to before `end`. */
static int reserve_chunks(pol_hdf5 *h, int first, int end)
{
  size_t bytes = poli_h5_events_space(h->events, &h->now.events) + INDEX_SIZE + MARGIN;
  for (int s = first; s < end; s++) {
    bytes += INDEX_SIZE;
    /* a block that has been written in part is written again in its place */
    if (h->written <= h->now.start)
      bytes += h->block_rows * (size_t)h->layout.series[s].columns * sizeof(double);
  }
  return reserve(h, bytes);
}

/* Writes the block into all datasets, group by group. */
static pol_status write_block(pol_hdf5 *h)
{
  const int count = h->layout.count;
  for (int first = 0, end; first < count; first = end) {
    end = count - first > GROUP_SIZE ? first + GROUP_SIZE : count;
    if (first > 0 && (!flush_library(h) || !reserve_chunks(h, first, end))) return fail(h);
    for (int s = first; s < end; s++)
      if (!write_chunk(h, s)) return fail(h);
  }
  h->written = h->now.start + h->now.used;
  return POL_OK;
}

/* Numbers first, then their count. */
static pol_status flush_file(pol_hdf5 *h)
{
  const int good = flush_library(h) && set_rows(h, h->written) && H5Dflush(h->rows) >= 0;
  return good ? POL_OK : fail(h);
}

static void do_job(pol_hdf5 *h)
{
  const int group = h->layout.count < GROUP_SIZE ? h->layout.count : GROUP_SIZE;
  if (h->status != POL_OK) return;
  const double begin = seconds();
  poli_h5_lock();
  errno = 0;
  H5E_BEGIN_TRY
  {
    if (!reserve_chunks(h, 0, group)) fail(h);
    if (h->status == POL_OK && h->now.used > 0) write_block(h);
    if (h->status == POL_OK && !poli_h5_events_write(h->events, &h->now.events)) fail(h);
    if (h->status == POL_OK && h->now.flush) flush_file(h);
  }
  H5E_END_TRY
  poli_h5_unlock();
  if (h->now.flush) h->flush_time = seconds() - begin;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void *work(void *user)
{
  pol_hdf5 *h = user;
  pthread_mutex_lock(&h->mutex);
  for (;;) {
    while (!h->busy && !h->stopping) pthread_cond_wait(&h->changed, &h->mutex);
    if (!h->busy) break;
    pthread_mutex_unlock(&h->mutex);
    do_job(h);
    pthread_mutex_lock(&h->mutex);
    h->busy = 0;
    pthread_cond_signal(&h->changed);
  }
  pthread_mutex_unlock(&h->mutex);
  return NULL;
}

/* Signals are for the other threads. */
static void start_thread(pol_hdf5 *h)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_mutex_init(&h->mutex, NULL);
  pthread_cond_init(&h->changed, NULL);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&h->thread, NULL, work, h);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  h->background = !failed; /* without a thread it is slower, but works */
}

static void stop_thread(pol_hdf5 *h)
{
  if (!h->background) return;
  pthread_mutex_lock(&h->mutex);
  h->stopping = 1;
  pthread_cond_signal(&h->changed);
  pthread_mutex_unlock(&h->mutex);
  pthread_join(h->thread, NULL);
  pthread_cond_destroy(&h->changed);
  pthread_mutex_destroy(&h->mutex);
  h->background = 0;
}

/* Waits until the work before is done, gives its status, and hands over the rows of the block. */
static pol_status hand_over(pol_hdf5 *h, int flush)
{
  const job next = {h->blocks[h->filling], h->used, h->start,
                    h->unpacked,           flush,   poli_h5_events_part(h->events, h->filling)};
  if (flush) {
    h->handed = h->start + h->used;
    h->last_flush = seconds();
  }
  if (!h->background) {
    h->now = next;
    do_job(h);
    return h->status;
  }
  pthread_mutex_lock(&h->mutex);
  while (h->busy) pthread_cond_wait(&h->changed, &h->mutex);
  const pol_status status = h->status;
  h->now = next;
  h->busy = 1;
  pthread_cond_signal(&h->changed);
  pthread_mutex_unlock(&h->mutex);
  return status;
}

/* Waits for the thread; gives its status. */
static pol_status wait_for_thread(pol_hdf5 *h)
{
  if (!h->background) return h->status;
  pthread_mutex_lock(&h->mutex);
  while (h->busy) pthread_cond_wait(&h->changed, &h->mutex);
  pthread_mutex_unlock(&h->mutex);
  return h->status;
}

/* Whether a block that is not full is to be flushed, so long after the last flush.  Not while the
 * thread is busy, for the simulation would have to wait. */
static int is_flush_due(pol_hdf5 *h, double waited)
{
  if (waited <= h->any_interval) return 0;
  if (!h->background) return waited > flush_distance * h->flush_time;
  pthread_mutex_lock(&h->mutex);
  const int due = !h->busy && waited > flush_distance * h->flush_time;
  pthread_mutex_unlock(&h->mutex);
  return due;
}

/* --- the writer ------------------------------------------------------------------------------- */

/* Frees everything but the file. */
static void release(pol_hdf5 *h)
{
  poli_h5_packer_free(&h->packer);
  poli_h5_events_free(&h->events);
  poli_h5_layout_free(&h->layout);
  free(h->datasets);
  free(h->blocks[0]);
  free(h->blocks[1]);
  free(h->chunk);
  free(h);
}

/* All memory of the writer. */
static pol_status allocate(pol_hdf5 *h)
{
  pol_status status = poli_h5_layout_create(&h->layout, h->record);
  if (status != POL_OK) return status;
  size_t widest = 1;
  for (int s = 0; s < h->layout.count; s++)
    if (widest < (size_t)h->layout.series[s].columns) widest = (size_t)h->layout.series[s].columns;
  h->columns = (size_t)pol_record_count(h->record);
  h->block_rows = BLOCK_SIZE / h->columns;
  if (h->block_rows < MIN_ROWS) h->block_rows = MIN_ROWS;
  if (h->block_rows > MAX_ROWS) h->block_rows = MAX_ROWS;
  h->datasets = calloc((size_t)h->layout.count, sizeof *h->datasets);
  for (int i = 0; i < 2; i++)
    h->blocks[i] = malloc(h->block_rows * h->columns * sizeof *h->blocks[i]);
  h->chunk = malloc(h->block_rows * widest * sizeof *h->chunk);
  if (h->datasets == NULL || h->blocks[0] == NULL || h->blocks[1] == NULL || h->chunk == NULL)
    return POL_NO_MEMORY;
  status = poli_h5_packer_create(&h->packer, h->block_rows * widest);
  return status == POL_OK ? poli_h5_events_create(&h->events, h->record, h->block_rows) : status;
}

/* Creates the file that will be filled, locked; 0 if that is not possible, and errno says why. */
static int lock_file(pol_hdf5 *h, const char *path, const char *first_name)
{
  /* the file that will be replaced must not be one that another process writes */
  const int old = open(path, O_RDWR);
  const int is_free = old < 0 || poli_output_lock(old);
  int reason = errno;
  if (old >= 0) close(old);
  errno = reason;
  if (!is_free) return 0;
  h->lock = open(first_name, O_RDWR | O_CREAT, 0666);
  if (h->lock < 0) return 0;
  if (poli_output_lock(h->lock)) return 1;
  reason = errno;
  close(h->lock);
  errno = reason;
  return 0;
}

/* Fills the file under its first name, then gives it the right one. */
static pol_status build_file(pol_hdf5 *h, const char *path, const char *first_name,
                             const pol_result_info *about)
{
  void *handle;
  pol_status status = POL_IO;
  if (!lock_file(h, path, first_name)) return POL_IO;
  h->file = create_file(first_name);
  h->descriptor = H5Fget_vfd_handle(h->file, H5P_DEFAULT, &handle) < 0 ? -1 : dup(*(int *)handle);
  if (h->descriptor >= 0 && reserve(h, description_size(h, about)))
    status = put_structure(h, about);
  if (status == POL_OK &&
      (H5Fstart_swmr_write(h->file) < 0 || H5Fflush(h->file, H5F_SCOPE_LOCAL) < 0 ||
       H5Fget_filesize(h->file, &h->reserved) < 0 || rename(first_name, path)))
    status = POL_IO;
  if (status != POL_OK) {
    const int reason = errno;
    remove(first_name); /* while it is locked */
    H5Fclose(h->file);
    if (h->descriptor >= 0) close(h->descriptor);
    close(h->lock);
    errno = reason;
  }
  return status;
}

pol_status pol_hdf5_create(pol_hdf5 **hdf5, const char *path, const pol_record *record,
                           const pol_result_info *about, int background)
{
  *hdf5 = NULL;
  pol_hdf5 *h = calloc(1, sizeof *h);
  if (h == NULL) return POL_NO_MEMORY;
  h->record = record;
  poli_h5_set_intervals(h, default_full_interval, default_any_interval);
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
  if (status == POL_OK && background) start_thread(h);
  if (status == POL_OK)
    *hdf5 = h;
  else
    release(h);
  errno = reason;
  return status;
}

void poli_h5_set_intervals(pol_hdf5 *h, double full, double any)
{
  h->full_interval = full;
  h->any_interval = any;
}

/* What a failure of the thread looks like to the caller. */
static pol_status answer(const pol_hdf5 *h, pol_status status)
{
  if (status != POL_OK) errno = h->reason;
  return status;
}

pol_status pol_hdf5_flush(pol_hdf5 *h)
{
  if (h->handed < h->start + h->used) {
    h->unpacked = h->used > 0;
    hand_over(h, 1);
  }
  return answer(h, wait_for_thread(h));
}

pol_status pol_hdf5_write(pol_hdf5 *h)
{
  pol_record_row(h->record, h->blocks[h->filling] + h->used * h->columns);
  poli_h5_events_note(h->events, h->filling, (long)(h->start + h->used));
  h->used++;
  const double waited = seconds() - h->last_flush;
  pol_status status = POL_OK;
  if (h->used == h->block_rows) {
    status = hand_over(h, waited > h->full_interval);
    h->start += h->used;
    h->used = 0;
    h->unpacked = 0;
    h->filling = !h->filling;
    poli_h5_events_next_block(h->events, h->filling);
  } else if (is_flush_due(h, waited)) {
    h->unpacked = 1;
    status = hand_over(h, 1);
  }
  return answer(h, status);
}

/* How it ended, and as many rows as could be written. */
static void finish_file(pol_hdf5 *h, const char *status, const char *failure)
{
  if (h->status != POL_OK) {
    status = "failed";
    if (failure == NULL) failure = "the result could not be written to its end";
    flush_file(h);
  }
  if (!set_text(h->failure_text, failure != NULL ? failure : "", FAILURE_SIZE) ||
      !set_text(h->status_text, status, STATUS_SIZE))
    fail(h);
  reserve(h, MARGIN);
  if (H5Fclose(h->file) < 0) fail(h);
  give_back(h);
  close(h->lock);
}

pol_status pol_hdf5_close(pol_hdf5 **hdf5, const char *status, const char *failure)
{
  if (hdf5 == NULL || *hdf5 == NULL) return POL_OK;
  pol_hdf5 *h = *hdf5;
  hand_over(h, 1);
  stop_thread(h);
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
  *hdf5 = NULL;
  errno = reason;
  return result;
}
