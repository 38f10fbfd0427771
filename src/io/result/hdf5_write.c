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
 * /events has an entry for each row that was recorded at an event.  Entries are collected with the
 * rows of a block and have a fixed size, since the library cannot write texts of any length while
 * others read: a name that is longer than all that were known when the file was made is cut.
 *
 * /checkpoints has states of the simulation, one behind the other, and an index of them.
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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/errors.h"
#include "io/file/file.h"
#include "io/result/hdf5.h"

/* Numbers in a block, and its rows at most. */
enum { BLOCK_SIZE = 1 << 18, MAX_ROWS = 4096 };
/* Sizes of the texts that change during a run, and the least one of a name of an event. */
enum { STATUS_SIZE = 16, FAILURE_SIZE = 512, NAME_SIZE = 32 };
/* Small pieces of structure never cross the border of a page, where the system may cut a write. */
enum { PAGE_SIZE = 4096 };
/* Space for what describes a dataset or attribute, for the index of a dataset, and for the rest. */
enum { DESCRIPTION_SIZE = 4 * PAGE_SIZE, INDEX_SIZE = 4 * PAGE_SIZE, MARGIN = 1 << 17 };
enum { DEFLATE_LEVEL = 1, EVENTS_CHUNK = 64, STATES_CHUNK = 1 << 15, INDEX_CHUNK = 64 };
/* H5Dwrite_chunk: all filters were applied, or neither of the two. */
enum { PACKED = 0, UNPACKED = 3 };

typedef struct block {
  double *rows; /* [block_rows][columns] */
  char *events; /* entries of event_size bytes */
  size_t num_events, events_written;
} block;

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
  void *memory; /* of all arrays */
  poli_h5_layout layout;
  poli_h5_packer *packer;
  int descriptor; /* another one of the file, locked */
  hid_t file, rows, status_text, failure_text, events, states, state_index;
  hid_t datasets[POLI_H5_MAX_SETS];

  size_t columns, block_rows;
  size_t name_size, event_size; /* of an entry of the table of events */
  block blocks[2];
  double *chunk; /* the numbers of one chunk */

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
  hsize_t written;                    /* rows that are in all datasets */
  hsize_t events_written;             /* entries in the table of events */
  hsize_t states_written, num_states; /* bytes of saved states, and their number */
  pol_status status;
  int reason; /* errno of the first failure */
} hdf5_writer;

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keeps the reason of the first failure. */
static void fail(hdf5_writer *h, pol_status status)
{
  if (h->status == POL_OK) h->reason = errno;
  if (h->status == POL_OK) h->status = status;
}

/* Makes sure that the file can grow by so many bytes: after a write that failed the library can
 * neither close the file nor end in order.  0 if the disk is full, or something failed before. */
static int reserve(hdf5_writer *h, size_t bytes)
{
  hsize_t size;
  if (h->status != POL_OK) return 0;
  errno = H5Fget_filesize(h->file, &size) < 0
              ? EIO
              : posix_fallocate(h->descriptor, (off_t)size, (off_t)bytes);
  if (errno != 0) fail(h, POL_IO);
  return h->status == POL_OK;
}

/* --- structure -------------------------------------------------------------------------------- */

/* A dataset, and the groups on the way to it; rank 0: one value.  With chunks it grows with the
 * rows, and can be packed. */
static hid_t create_dataset(hid_t file, const char *path, hid_t type, int rank, const hsize_t *size,
                            const hsize_t *chunk, int packed)
{
  const hid_t links = H5Pcreate(H5P_LINK_CREATE), plist = H5Pcreate(H5P_DATASET_CREATE);
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  hsize_t most[3] = {H5S_UNLIMITED};
  for (int i = 1; i < rank; i++) most[i] = size[i];
  const hid_t space =
      rank > 0 ? H5Screate_simple(rank, size, chunk != NULL ? most : NULL) : H5Screate(H5S_SCALAR);
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_obj_track_times(plist, 0);
  if (chunk != NULL) H5Pset_chunk(plist, rank, chunk);
  if (packed) {
    H5Pset_shuffle(plist);
    H5Pset_deflate(plist, DEFLATE_LEVEL);
    H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER);
    H5Pset_chunk_cache(access, 1, 0, 1.0); /* whole chunks need none */
  }
  const hid_t set = H5Dcreate2(file, path, type, space, links, plist, access);
  POLI_H5_CLOSE(space, access, plist, links);
  return set;
}

/* Texts, or one without dimensions if count is 0: as a dataset if the path starts with a slash,
 * else as an attribute of `place`. */
static void put_texts(hdf5_writer *h, hid_t place, const char *path, size_t count,
                      const char *const *texts)
{
  const size_t number = count > 0 ? count : 1;
  const hsize_t dimension = number;
  size_t size = 1;
  for (size_t i = 0; i < number; i++)
    if (size < strlen(texts[i])) size = strlen(texts[i]);
  if (!reserve(h, number * size + DESCRIPTION_SIZE)) return;
  char *packed = calloc(number, size);
  if (packed == NULL) {
    fail(h, POL_NO_MEMORY);
    return;
  }
  for (size_t i = 0; i < number; i++) memcpy(packed + i * size, texts[i], strlen(texts[i]));

  const hid_t type = poli_h5_text_type(size);
  hid_t list, space = H5I_INVALID_HID;
  int good;
  if (path[0] == '/') {
    list = create_dataset(place, path, type, count > 0, &dimension, NULL, 0);
    good = poli_h5_write(list, type, packed);
  } else {
    space = count > 0 ? H5Screate_simple(1, &dimension, NULL) : H5Screate(H5S_SCALAR);
    list = H5Acreate2(place, path, type, space, H5P_DEFAULT, H5P_DEFAULT);
    good = H5Awrite(list, type, packed) >= 0;
  }
  if (!good) fail(h, POL_IO);
  POLI_H5_CLOSE(list, space, type);
  free(packed);
}

/* One text; nothing if it is NULL. */
static void put_text(hdf5_writer *h, hid_t place, const char *path, const char *text)
{
  if (text != NULL) put_texts(h, place, path, 0, &text);
}

/* Writes a text of fixed size; what is too long is cut. */
static int set_text(hid_t set, const char *text, size_t size)
{
  char buffer[FAILURE_SIZE] = "";
  snprintf(buffer, size, "%s", text);
  const hid_t type = poli_h5_text_type(size);
  const int good = poli_h5_write(set, type, buffer);
  POLI_H5_CLOSE(type);
  return good;
}

static int set_rows(const hdf5_writer *h, hsize_t rows)
{
  const long long value = (long long)rows;
  return poli_h5_write(h->rows, H5T_NATIVE_LLONG, &value);
}

/* The group /run, what the caller knows about the run, and in which order the channels were
 * recorded: the column of each among those of all datasets. */
static void put_run(hdf5_writer *h, const pol_result_info *about)
{
  static const pol_result_info nothing = {0};
  const hid_t types[2] = {poli_h5_text_type(STATUS_SIZE), poli_h5_text_type(FAILURE_SIZE)};
  const char *paths[POLI_H5_MAX_SETS];
  if (reserve(h, MARGIN)) {
    h->rows = create_dataset(h->file, POLI_H5_ROWS, H5T_STD_I64LE, 0, NULL, NULL, 0);
    h->status_text = create_dataset(h->file, POLI_H5_STATUS, types[0], 0, NULL, NULL, 0);
    h->failure_text = create_dataset(h->file, POLI_H5_FAILURE, types[1], 0, NULL, NULL, 0);
    if (!set_rows(h, 0) || !set_text(h->status_text, "unfinished", STATUS_SIZE) ||
        !set_text(h->failure_text, "", FAILURE_SIZE))
      fail(h, POL_IO);
  }
  POLI_H5_CLOSE(types[0], types[1]);
  if (about == NULL) about = &nothing;
  put_text(h, h->file, "format", POLI_H5_FORMAT);
  put_text(h, h->file, "version", pol_version());
  put_text(h, h->file, "model_name", about->name);
  put_text(h, h->file, POLI_H5_MODEL, about->model);
  put_text(h, h->file, POLI_H5_SETTINGS, about->settings);
  put_text(h, h->file, POLI_H5_PARAMETERS, about->parameters);
  if (about->num_overrides > 0)
    put_texts(h, h->file, POLI_H5_OVERRIDES, (size_t)about->num_overrides,
              (const char *const *)about->overrides);

  for (int s = 0; s < h->layout.count; s++) paths[s] = h->layout.sets[s].path;
  put_texts(h, h->file, POLI_H5_DATASETS, (size_t)h->layout.count, paths);
  if (!reserve(h, h->columns * sizeof(int) + DESCRIPTION_SIZE)) return;
  const hsize_t count = h->columns;
  const hid_t set = create_dataset(h->file, POLI_H5_ORDER, H5T_STD_I32LE, 1, &count, NULL, 0);
  if (!poli_h5_write(set, H5T_NATIVE_INT, h->layout.order)) fail(h, POL_IO);
  POLI_H5_CLOSE(set);
}

/* An empty dataset that grows with the rows, with its unit and the names of its components. */
static void put_set(hdf5_writer *h, int s)
{
  const poli_h5_set *set = &h->layout.sets[s];
  const pol_channel *first = pol_record_channel(h->base.record, set->channel);
  hsize_t size[3] = {0}, chunk[3] = {h->block_rows};
  int rank = 1;
  if (set->kind != POLI_H5_TOTAL) {
    size[rank] = set->objects;
    chunk[rank++] = set->chunk;
  }
  if (set->components > 1) {
    size[rank] = chunk[rank] = set->components;
    rank++;
  }
  if (!reserve(h, DESCRIPTION_SIZE)) return;
  h->datasets[s] = create_dataset(h->file, set->path, H5T_IEEE_F64LE, rank, size, chunk, 1);
  if (h->datasets[s] < 0) fail(h, POL_IO);
  if (set->kind == POLI_H5_LIST) return;
  put_text(h, h->datasets[s], "units", first->unit);
  if (set->components == 1) return;
  const char *axes[4];
  for (size_t k = 0; k < set->components; k++)
    axes[k] = strchr(pol_record_channel(h->base.record, set->channel + (int)k)->quantity, '.') + 1;
  put_texts(h, h->datasets[s], "axes", set->components, axes);
}

/* A text of each object of a group of the file: `offset` says which one of pol_channel.  Not every
 * dataset of the group has a channel for each. */
static void put_object_texts(hdf5_writer *h, const poli_h5_set *set, const char *name,
                             size_t offset)
{
  char path[sizeof set->path + 16];
  const char **texts = calloc(set->objects, sizeof *texts);
  if (texts == NULL) {
    fail(h, POL_NO_MEMORY);
    return;
  }
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
  put_texts(h, h->file, path, set->objects, texts);
  free(texts);
}

/* The datasets of saved states, empty. */
static void put_states(hdf5_writer *h)
{
  static const char *const columns[] = {"t", "row", "first", "size"};
  const hsize_t none[2] = {0, POLI_H5_STATE}, chunk[2] = {INDEX_CHUNK, POLI_H5_STATE};
  const hsize_t states_chunk = STATES_CHUNK;
  if (!reserve(h, 2 * DESCRIPTION_SIZE)) return;
  h->states = create_dataset(h->file, POLI_H5_STATES, H5T_STD_U8LE, 1, none, &states_chunk, 0);
  h->state_index = create_dataset(h->file, POLI_H5_STATE_INDEX, H5T_IEEE_F64LE, 2, none, chunk, 0);
  if (h->states < 0 || h->state_index < 0) fail(h, POL_IO);
  put_texts(h, h->state_index, "columns", POLI_H5_STATE, columns);
}

/* All of the file but the numbers. */
static void put_structure(hdf5_writer *h, const pol_result_info *about)
{
  static const char *const event_units[] = {"s", "1", "", ""};
  put_run(h, about);
  for (int s = 0; h->status == POL_OK && s < h->layout.count; s++) {
    const poli_h5_set *set = &h->layout.sets[s];
    const int is_list = set->kind == POLI_H5_LIST;
    put_set(h, s);
    int first = 0;
    while (!poli_h5_same_folder(set, &h->layout.sets[first])) first++;
    if (first < s || set->kind == POLI_H5_TOTAL) continue;
    put_object_texts(h, set, "names",
                     is_list ? offsetof(pol_channel, name) : offsetof(pol_channel, owner));
    if (!is_list) continue;
    put_object_texts(h, set, "units", offsetof(pol_channel, unit));
    if (pol_record_channel(h->base.record, set->channel)->owner[0] != '\0')
      put_object_texts(h, set, "objects", offsetof(pol_channel, owner));
  }
  if (!reserve(h, DESCRIPTION_SIZE)) return;
  const hsize_t none = 0, chunk = EVENTS_CHUNK;
  const hid_t type = poli_h5_event_type(h->name_size, H5T_IEEE_F64LE, H5T_STD_I64LE);
  h->events = create_dataset(h->file, POLI_H5_EVENTS, type, 1, &none, &chunk, 0);
  POLI_H5_CLOSE(type);
  if (h->events < 0) fail(h, POL_IO);
  put_texts(h, h->events, "units", 4, event_units);
  put_states(h);
}

/* --- blocks ----------------------------------------------------------------------------------- */

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
      const double *row = h->blocks[now->block].rows + n * h->columns;
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

/* Writes those of the job's events that the file does not have yet. */
static int write_events(hdf5_writer *h)
{
  block *b = &h->blocks[h->now.block];
  const hsize_t start = h->events_written, count = h->now.events - b->events_written;
  const hsize_t size = start + count;
  int good = 1;
  if (count > 0) {
    good = H5Dset_extent(h->events, &size) >= 0;
    const hid_t place = H5Dget_space(h->events), memory = H5Screate_simple(1, &count, NULL);
    const hid_t type = H5Dget_type(h->events);
    good = good && H5Sselect_hyperslab(place, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
           H5Dwrite(h->events, type, memory, place, H5P_DEFAULT,
                    b->events + b->events_written * h->event_size) >= 0;
    POLI_H5_CLOSE(type, memory, place);
  }
  if (!good) return 0;
  h->events_written = size;
  b->events_written = h->now.events;
  if (h->now.used == h->block_rows) b->num_events = b->events_written = 0;
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
  int good = 1;
  for (int s = 0; good && s < h->layout.count && now->used > 0; s++) good = write_set(h, s);
  good = good && reserve(h, MARGIN + now->events * PAGE_SIZE) && write_events(h);
  if (good) h->written = now->start + now->used;
  if (good && now->flush) good = flush_file(h);
  if (!good) fail(h, POL_IO);
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
                 .events = h->blocks[h->filling].num_events,
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
  block *b = &h->blocks[h->filling];
  const pol_simulation *simulation = pol_record_simulation(writer->record);
  const int index = pol_simulation_event_index(simulation);
  const pol_simulation_event *event = pol_simulation_get_event(simulation, index);
  pol_record_row(writer->record, b->rows + h->used * h->columns);
  if (event != NULL) {
    char *place = b->events + b->num_events++ * h->event_size;
    poli_h5_event *entry = (poli_h5_event *)place;
    memset(place, 0, h->event_size);
    entry->t = pol_simulation_state(simulation)->t;
    entry->row = (int64_t)(h->start + h->used);
    snprintf(entry->action, sizeof entry->action, "%s", pol_event_action_name(event->action));
    if (event->name != NULL) snprintf(place + sizeof *entry, h->name_size, "%s", event->name);
  }
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

/* Appends entries to a dataset, which then has `size` of them in all. */
static int append(hid_t set, hid_t type, int rank, hsize_t size, hsize_t count, const void *entries)
{
  const hsize_t extent[2] = {size, POLI_H5_STATE}, start[2] = {size - count, 0};
  const hsize_t entry[2] = {count, POLI_H5_STATE};
  int good = H5Dset_extent(set, extent) >= 0;
  const hid_t place = H5Dget_space(set), memory = H5Screate_simple(rank, entry, NULL);
  good = good && H5Sselect_hyperslab(place, H5S_SELECT_SET, start, NULL, entry, NULL) >= 0 &&
         H5Dwrite(set, type, memory, place, H5P_DEFAULT, entries) >= 0 && H5Dflush(set) >= 0;
  POLI_H5_CLOSE(memory, place);
  return good;
}

/* The state first, then its entry of the index, which makes it count.  Rows are not flushed: that
 * would leave their block unpacked. */
static pol_status save_state(pol_writer *writer, double t, const void *bytes, size_t size)
{
  hdf5_writer *h = (hdf5_writer *)writer;
  const double rows = (double)(h->start + h->used), first = (double)h->states_written;
  const double entry[POLI_H5_STATE] = {t, rows > 0.0 ? rows - 1.0 : 0.0, first, (double)size};
  if (wait_for_job(h) != POL_OK) return h->status;
  poli_h5_lock();
  errno = 0;
  const hsize_t written = h->states_written + size;
  if (!reserve(h, size + (size / STATES_CHUNK + 2) * 64 + INDEX_SIZE + MARGIN) ||
      !append(h->states, H5T_NATIVE_UINT8, 1, written, size, bytes) ||
      !append(h->state_index, H5T_NATIVE_DOUBLE, 2, h->num_states + 1, 1, entry))
    fail(h, POL_IO);
  h->states_written = written;
  h->num_states++;
  poli_h5_unlock();
  if (h->status != POL_OK) errno = h->reason;
  return h->status;
}

/* Frees everything but the file. */
static void release(hdf5_writer *h)
{
  poli_h5_packer_free(&h->packer);
  poli_h5_layout_free(&h->layout);
  free(h->memory);
  free(h);
}

/* Writes how the run ended, and closes the file. */
static pol_status close_writer(pol_writer *writer, const char *status, const char *failure)
{
  hdf5_writer *h = (hdf5_writer *)writer;
  hsize_t size;
  hand_over(h, 1);
  wait_for_job(h);
  poli_h5_lock();
  errno = 0;
  if (h->status != POL_OK) {
    status = "failed";
    if (failure == NULL) failure = "the result could not be written completely";
    flush_file(h);
  }
  if (!set_text(h->failure_text, failure != NULL ? failure : "", FAILURE_SIZE) ||
      !set_text(h->status_text, status, STATUS_SIZE))
    fail(h, POL_IO);
  /* flushed, it has its size, but for what was reserved too much */
  if (H5Fflush(h->file, H5F_SCOPE_LOCAL) < 0 || H5Fget_filesize(h->file, &size) < 0 ||
      ftruncate(h->descriptor, (off_t)size) != 0 || H5Fclose(h->file) < 0)
    fail(h, POL_IO);
  poli_h5_unlock();
  close(h->descriptor);
  const pol_status result = h->status;
  const int reason = h->reason;
  release(h);
  errno = reason;
  return result;
}

static size_t rows_of_block(double columns)
{
  const double rows = BLOCK_SIZE / columns;
  return rows < 1.0 ? 1 : rows > MAX_ROWS ? MAX_ROWS : (size_t)rows;
}

double poli_h5_memory(double columns)
{
  const double number = sizeof(double), column = 2.0 * sizeof(int);
  return 2.0 * number * columns * (double)rows_of_block(columns) + column * columns;
}

/* All memory of the writer. */
static pol_status allocate(hdf5_writer *h)
{
  const pol_simulation *simulation = pol_record_simulation(h->base.record);
  const pol_simulation_event *event;
  h->columns = (size_t)pol_record_count(h->base.record);
  h->block_rows = rows_of_block((double)h->columns);
  h->name_size = NAME_SIZE;
  for (int i = 0; (event = pol_simulation_get_event(simulation, i)) != NULL; i++)
    if (event->name != NULL && strlen(event->name) >= h->name_size)
      h->name_size = (strlen(event->name) / 8 + 1) * 8;
  h->event_size = sizeof(poli_h5_event) + h->name_size;
  const pol_status status = poli_h5_layout_create(&h->layout, h->base.record, h->block_rows);
  if (status != POL_OK) return status;
  size_t largest = 1;
  for (int s = 0; s < h->layout.count; s++) {
    const size_t size = h->block_rows * h->layout.sets[s].chunk * h->layout.sets[s].components;
    if (largest < size) largest = size;
  }
  poli_arena arena = {0};
  do {
    for (block *b = h->blocks; b < h->blocks + 2; b++) {
      POLI_TAKE(&arena, b->rows, h->block_rows * h->columns);
      POLI_TAKE(&arena, b->events, h->block_rows * h->event_size);
    }
    POLI_TAKE(&arena, h->chunk, largest);
  } while (poli_arena_again(&arena));
  h->memory = arena.memory;
  return h->memory != NULL ? poli_h5_packer_create(&h->packer, largest) : POL_NO_MEMORY;
}

/* Opens a file, created if it is new, and locks it; -1 if that is not possible, and errno says why.
 */
static int open_locked(const char *path, int flags)
{
  const int descriptor = open(path, O_RDWR | flags, 0666);
  if (descriptor < 0 || poli_output_lock(descriptor)) return descriptor;
  const int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

/* Fills the file under its first name, then gives it the right one. */
static pol_status build_file(hdf5_writer *h, const char *path, const char *first_name,
                             const pol_result_info *about)
{
  /* the file that will be replaced must not be one that another process writes */
  const int old = open_locked(path, 0);
  if (old >= 0) close(old);
  if (old < 0 && errno == ETXTBSY) return POL_IO;
  /* at its first name there may be what a killed run has left, but no way to another file */
  struct stat info;
  if (lstat(first_name, &info) == 0 && (!S_ISREG(info.st_mode) || info.st_nlink > 1)) {
    errno = EEXIST;
    return POL_IO;
  }
  h->descriptor = open_locked(first_name, O_CREAT | O_NOFOLLOW);
  if (h->descriptor < 0) return POL_IO;

  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_file_space_strategy(create, H5F_FSPACE_STRATEGY_PAGE, 0, 1);
  H5Pset_file_space_page_size(create, PAGE_SIZE);
  H5Pset_obj_track_times(create, 0);
  h->file = H5Fcreate(first_name, H5F_ACC_TRUNC, create, access);
  POLI_H5_CLOSE(create, access);
  if (h->file >= 0)
    put_structure(h, about);
  else
    fail(h, POL_IO);
  if (h->status == POL_OK && (H5Fstart_swmr_write(h->file) < 0 ||
                              H5Fflush(h->file, H5F_SCOPE_LOCAL) < 0 || rename(first_name, path)))
    fail(h, POL_IO);
  if (h->status != POL_OK) {
    remove(first_name); /* while it is locked */
    H5Fclose(h->file);
    close(h->descriptor);
    errno = h->reason;
  }
  return h->status;
}

pol_status poli_writer_create_hdf5(pol_writer **writer, const char *path, const pol_record *record,
                                   const pol_result_info *about, int background)
{
  hdf5_writer *h = calloc(1, sizeof *h);
  if (h == NULL) return POL_NO_MEMORY;
  h->base = (pol_writer){record, write_row, flush_rows, save_state, close_writer};
  h->interval = 1.0;
  errno = 0;
  pol_status status = allocate(h);
  char *target = status == POL_OK ? poli_output_target(path) : NULL;
  char *first_name = target != NULL ? poli_format("%s" POLI_OUTPUT_NEW, target) : NULL;
  if (status == POL_OK && first_name == NULL) status = errno == ELOOP ? POL_IO : POL_NO_MEMORY;
  if (status == POL_OK) {
    poli_h5_lock();
    status = build_file(h, target, first_name, about);
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
