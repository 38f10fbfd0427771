/* HDF5 results: what writing and reading share.
 *
 * docs/results.md describes the file.  hdf5_layout.c says which channel goes to which dataset,
 * hdf5_chunk.c packs numbers, hdf5_events.c has the table of events, hdf5_write.c and hdf5_read.c
 * all the rest.
 */
#ifndef POLHODE_IO_HDF5_H
#define POLHODE_IO_HDF5_H

#include <hdf5.h>

#include <polhode/result.h>

/* Names in the file. */
#define POLI_H5_FORMAT "polhode result 1"
#define POLI_H5_ROWS "/run/rows"
#define POLI_H5_STATUS "/run/status"
#define POLI_H5_FAILURE "/run/failure"
#define POLI_H5_MODEL "/run/model"
#define POLI_H5_OVERRIDES "/run/overrides"
#define POLI_H5_SETTINGS "/run/settings"
#define POLI_H5_EVENTS "/events"
#define POLI_H5_CHANNEL_NAMES "/channels/name"
#define POLI_H5_CHANNEL_UNITS "/channels/unit"
#define POLI_H5_CHANNEL_DATASETS "/channels/dataset"
#define POLI_H5_CHANNEL_COLUMNS "/channels/column"

/* The HDF5 library is not made for threads: all of polhode's calls into it are between these two.
 */
void poli_h5_lock(void);
void poli_h5_unlock(void);

/* A type for texts of this size. */
hid_t poli_h5_text_type(size_t size);
/* A list of texts as a dataset, or as an attribute if `attribute` is set. */
pol_status poli_h5_put_texts(hid_t place, const char *path, int attribute, int count,
                             const char *const *texts);

/* Whether a file that is being read can hold `count` items of `size` bytes, compressed at most
 * 1032 to 1 (deflate): a larger count means that it is damaged.  `object` is the file, or anything
 * in it. */
int poli_h5_fits_file(hid_t object, hssize_t count, size_t size);

/* Changes after how many seconds a full block, and any block, is flushed; 0.5 and 1 if this is not
 * called.  For tests, which must not depend on time; before the first row. */
void poli_h5_set_intervals(pol_hdf5 *hdf5, double full, double any);

/* --- layout ----------------------------------------------------------------------------------- */

/* A dataset: the channels of one quantity of one object. */
typedef struct poli_h5_series {
  char *path;  /* "/bodies/top/position" */
  int first;   /* its channels are layout.channels[first .. first + columns - 1] */
  int columns; /* how many */
  int flat;    /* one number without components: a vector, no matrix */
} poli_h5_series;

typedef struct poli_h5_layout {
  int count;
  poli_h5_series *series;
  int *series_of; /* of each channel */
  int *column_of;
  int *channels; /* all channels, by series and column */
} poli_h5_layout;

/* Free with poli_h5_layout_free in every case. */
pol_status poli_h5_layout_create(poli_h5_layout *layout, const pol_record *record);
void poli_h5_layout_free(poli_h5_layout *layout);

/* A name as part of a path, in new memory: a slash becomes %2F, a percent sign %25, and the name
 * "." %2E.  NULL if there is no memory. */
char *poli_h5_escape(const char *name);
/* The opposite, in place. */
void poli_h5_unescape(char *name);

/* --- chunks ----------------------------------------------------------------------------------- */

/* Packs numbers as the filters shuffle and deflate would. */
typedef struct poli_h5_packer poli_h5_packer;

/* For chunks of `elements` numbers at most. */
pol_status poli_h5_packer_create(poli_h5_packer **packer, size_t elements);
void poli_h5_packer_free(poli_h5_packer **packer);
/* Packs numbers[count], rows of `columns` numbers each; gives the bytes, which belong to the packer
 * and stay until the next call, and their number.  NULL: zlib failed. */
const void *poli_h5_pack(poli_h5_packer *packer, const double *numbers, size_t count,
                         size_t columns, size_t *size);

/* --- events ----------------------------------------------------------------------------------- */

/* The table of events of a file that is being written. */
typedef struct poli_h5_events poli_h5_events;

/* Memory for two blocks of rows, each of which can be at an event. */
pol_status poli_h5_events_create(poli_h5_events **events, const pol_record *record, size_t rows);
void poli_h5_events_free(poli_h5_events **events);
/* The empty table in the file, which closes it. */
pol_status poli_h5_events_build(poli_h5_events *events, hid_t file);

/* Notes the event that the simulation is at, if it is at one, for the row of this number in block 0
 * or 1.  Allocates nothing. */
void poli_h5_events_note(poli_h5_events *events, int block, long row);
/* Empties a block, which goes on behind the other one. */
void poli_h5_events_next_block(poli_h5_events *events, int block);

/* What a block holds now; stays while the other block is filled. */
typedef struct poli_h5_event_part {
  const void *entries;
  size_t count;
  hsize_t first; /* entries before it */
} poli_h5_event_part;
poli_h5_event_part poli_h5_events_part(const poli_h5_events *events, int block);
/* Bytes that the file may grow by, and writing what is not there yet; 0 if that fails. */
size_t poli_h5_events_space(const poli_h5_events *events, const poli_h5_event_part *part);
int poli_h5_events_write(poli_h5_events *events, const poli_h5_event_part *part);

/* Fills the events of a result whose rows are known; none if the file has no table. */
pol_status poli_h5_events_read(pol_result *result, hid_t file);

#endif
