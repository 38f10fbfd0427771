/* HDF5 results: what writing and reading share.
 *
 * docs/results.md describes the file.  hdf5_layout.c says which channel goes to which dataset,
 * hdf5_pack.c compresses chunks, hdf5_events.c has the table of events, hdf5_write.c and
 * hdf5_read.c all the rest.
 */
#ifndef POLHODE_IO_HDF5_H
#define POLHODE_IO_HDF5_H

#include <hdf5.h>

#include "io/result/result.h"

/* Names in the file. */
#define POLI_H5_FORMAT "polhode result 2"
#define POLI_H5_ROWS "/run/rows"
#define POLI_H5_STATUS "/run/status"
#define POLI_H5_FAILURE "/run/failure"
#define POLI_H5_MODEL "/run/model"
#define POLI_H5_OVERRIDES "/run/overrides"
#define POLI_H5_SETTINGS "/run/settings"
#define POLI_H5_EVENTS "/events"
#define POLI_H5_DATASETS "/channels/datasets"
#define POLI_H5_ORDER "/channels/order"

/* The HDF5 library is not thread-safe: all of polhode's calls into it are between these two. */
void poli_h5_lock(void);
void poli_h5_unlock(void);

/* A type for texts of this size. */
hid_t poli_h5_text_type(size_t size);

/* Whether a file that is being read can hold `count` items of `size` bytes, compressed at most
 * 1032 to 1 (deflate): a larger count means that it is damaged.  `object` is the file, or anything
 * in it. */
int poli_h5_fits_file(hid_t object, hssize_t count, size_t size);

/* Bytes that a writer of so many columns needs, about. */
double poli_h5_memory(double columns);

/* Sets the interval of flushes in seconds, 1 by default.  For tests, which must not depend on time;
 * before the first row. */
void poli_h5_set_interval(pol_writer *writer, double seconds);

/* --- layout ----------------------------------------------------------------------------------- */

/* What the columns of a dataset are. */
typedef enum poli_h5_kind {
  POLI_H5_TOTAL,  /* a quantity of the whole: /energy/kinetic [rows], /momentum/linear [rows x 3] */
  POLI_H5_VECTOR, /* a vector of each object: /bodies/position [rows x objects x 3] */
  POLI_H5_LIST    /* numbers with names of their own: /coordinates/value [rows x n] */
} poli_h5_kind;

/* A dataset: one quantity of all objects of a group.  A row of it is [objects][components]. */
typedef struct poli_h5_set {
  poli_h5_kind kind;
  char path[80];
  int folder; /* length of the path without its last part */
  size_t objects, components;
  size_t first; /* its first column among those of all datasets */
  int channel;  /* its first one */
  size_t chunk; /* objects of a chunk */
} poli_h5_set;

enum { POLI_H5_MAX_SETS = 64 };

/* Where the channels of a record go. */
typedef struct poli_h5_layout {
  int count;
  poli_h5_set sets[POLI_H5_MAX_SETS];
  size_t columns;  /* of all datasets */
  int *order;      /* the column of each channel */
  int *channel_of; /* the channel of each column, -1 for a vector that the object does not have */
} poli_h5_layout;

/* With chunks for blocks of so many rows.  Free with poli_h5_layout_free in every case. */
pol_status poli_h5_layout_create(poli_h5_layout *layout, const pol_record *record, size_t rows);
void poli_h5_layout_free(poli_h5_layout *layout);

/* Whether two datasets stand in the same group of the file. */
int poli_h5_same_folder(const poli_h5_set *a, const poli_h5_set *b);
/* The group of channels that a group of the file belongs to ("joints" of "coordinates"), "" for an
 * unknown one; static. */
const char *poli_h5_channel_group(const char *group, size_t length);

/* --- chunks ----------------------------------------------------------------------------------- */

/* Packs numbers as the filters shuffle and deflate would. */
typedef struct poli_h5_packer poli_h5_packer;

/* For chunks of `elements` numbers at most. */
pol_status poli_h5_packer_create(poli_h5_packer **packer, size_t elements);
void poli_h5_packer_free(poli_h5_packer **packer);
/* Packs numbers[count], which resemble those `stride` before them; returns the bytes, which belong
 * to the packer and stay until the next call, and their number.  NULL: zlib failed. */
const void *poli_h5_pack(poli_h5_packer *packer, const double *numbers, size_t count, size_t stride,
                         size_t *size);

/* --- events ----------------------------------------------------------------------------------- */

/* The table of events of a file that is being written. */
typedef struct poli_h5_events poli_h5_events;

/* Memory for two blocks of rows, each of which can be at an event. */
pol_status poli_h5_events_create(poli_h5_events **events, const pol_record *record, size_t rows);
void poli_h5_events_free(poli_h5_events **events);
/* Creates the empty table in the file. */
hid_t poli_h5_events_build(poli_h5_events *events, hid_t file);
/* Adds the event that the simulation is at, if it is at one, for the row of this number to block 0
 * or 1.  Allocates nothing. */
void poli_h5_events_note(poli_h5_events *events, int block, long row);
size_t poli_h5_events_count(const poli_h5_events *events, int block);
/* Writes those of the first `count` events of a block that the file does not have yet; 0 if that
 * fails.  A block that is full is emptied. */
int poli_h5_events_write(poli_h5_events *events, int block, size_t count, int full);

/* Fills the events of a result whose rows are known; none if the file has no table. */
pol_status poli_h5_events_read(pol_result *result, hid_t file);

#endif
