/* HDF5 results: what writing and reading share.
 *
 * docs/results.md describes the file.  hdf5.c has small calls of the library, says which channel
 * goes to which dataset, and compresses chunks; hdf5_write.c and hdf5_read.c have the rest.
 */
#ifndef POLHODE_IO_HDF5_H
#define POLHODE_IO_HDF5_H

#include <hdf5.h>
#include <stdint.h>

#include "io/result/result.h"

/* Names in the file. */
#define POLI_H5_FORMAT "polhode result 2"
#define POLI_H5_ROWS "/run/rows"
#define POLI_H5_STATUS "/run/status"
#define POLI_H5_FAILURE "/run/failure"
#define POLI_H5_MODEL "/run/model"
#define POLI_H5_OVERRIDES "/run/overrides"
#define POLI_H5_SETTINGS "/run/settings"
#define POLI_H5_PARAMETERS "/run/parameters"
#define POLI_H5_EVENTS "/events"
#define POLI_H5_STATES "/checkpoints/states"
#define POLI_H5_STATE_INDEX "/checkpoints/index"
#define POLI_H5_DATASETS "/channels/datasets"
#define POLI_H5_ORDER "/channels/order"

/* Bytes that a writer of so many columns needs, about. */
double poli_h5_memory(double columns);

/* Sets the interval of flushes in seconds, 1 by default.  For tests, which must not depend on time;
 * before the first row. */
void poli_h5_set_interval(pol_writer *writer, double seconds);

/* --- the library ------------------------------------------------------------------------------ */

/* The HDF5 library is not thread-safe: all of polhode's calls into it are between these two.  It
 * prints no errors there. */
void poli_h5_lock(void);
void poli_h5_unlock(void);

/* Closes identifiers, but for files. */
#define POLI_H5_CLOSE(...)                                                                         \
  poli_h5_close(sizeof(hid_t[]){__VA_ARGS__} / sizeof(hid_t), (const hid_t[]){__VA_ARGS__})
void poli_h5_close(size_t count, const hid_t *ids);

/* A type for texts of this size. */
hid_t poli_h5_text_type(size_t size);

/* Writes all of a dataset; 0 if that fails. */
int poli_h5_write(hid_t set, hid_t type, const void *values);

/* An entry of the table of events; its name follows it. */
typedef struct poli_h5_event {
  double t;
  int64_t row;
  char action[8];
} poli_h5_event;

/* Numbers of an entry of the index of saved states: its time, row, first byte, and bytes. */
enum { POLI_H5_STATE_T, POLI_H5_STATE_ROW, POLI_H5_STATE_FIRST, POLI_H5_STATE_SIZE, POLI_H5_STATE };

/* The type of an entry whose name has this size, and whose numbers have these types. */
hid_t poli_h5_event_type(size_t name_size, hid_t number, hid_t integer);

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

#endif
