/* The table of events in HDF5 results: /events, one entry for each row that was recorded at an
 * event (docs/results.md).
 *
 * Entries are collected together with the rows of a block and written before /run/rows says that
 * these rows are complete, so that a reader takes those whose row is there.  They have a fixed
 * size, since the library cannot write texts of any length while others read: a name that is longer
 * than all that were known when the file was made is cut.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/result/hdf5.h"

/* Entries of a chunk, and the least size of a name with its end. */
enum { CHUNK = 64, NAME_SIZE = 32 };

/* An entry, name_size characters of a name behind it. */
typedef struct entry {
  double t;
  int64_t row;
  char action[8];
} entry;

/* Entries that were collected with one block of rows. */
typedef struct collection {
  char *entries;
  size_t count;
  size_t written; /* entries of it in the file */
} collection;

struct poli_h5_events {
  const pol_simulation *simulation;
  size_t name_size, size; /* of a name, of an entry */
  collection blocks[2];
  hid_t set;
  hsize_t written; /* entries in the file */
};

pol_status poli_h5_events_create(poli_h5_events **events, const pol_record *record, size_t rows)
{
  const pol_simulation_event *event;
  poli_h5_events *e = *events = calloc(1, sizeof *e);
  if (e == NULL) return POL_NO_MEMORY;
  e->simulation = pol_record_simulation(record);
  e->name_size = NAME_SIZE;
  for (int i = 0; (event = pol_simulation_get_event(e->simulation, i)) != NULL; i++)
    if (event->name != NULL && strlen(event->name) >= e->name_size)
      e->name_size = (strlen(event->name) / 8 + 1) * 8;
  e->size = sizeof(entry) + e->name_size;
  for (int i = 0; i < 2; i++) e->blocks[i].entries = malloc(rows * e->size);
  if (e->blocks[0].entries != NULL && e->blocks[1].entries != NULL) return POL_OK;
  poli_h5_events_free(events);
  return POL_NO_MEMORY;
}

void poli_h5_events_free(poli_h5_events **events)
{
  if (*events == NULL) return;
  for (int i = 0; i < 2; i++) free((*events)->blocks[i].entries);
  free(*events);
  *events = NULL;
}

/* --- structure -------------------------------------------------------------------------------- */

/* The type of an entry whose numbers have these types. */
static hid_t entry_type(size_t name_size, hid_t number, hid_t integer)
{
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(entry) + name_size);
  const hid_t action = poli_h5_text_type(sizeof((entry *)0)->action);
  const hid_t name = poli_h5_text_type(name_size);
  H5Tset_strpad(action, H5T_STR_NULLTERM);
  H5Tset_strpad(name, H5T_STR_NULLTERM);
  H5Tinsert(type, "t", offsetof(entry, t), number);
  H5Tinsert(type, "row", offsetof(entry, row), integer);
  H5Tinsert(type, "action", offsetof(entry, action), action);
  H5Tinsert(type, "name", sizeof(entry), name);
  H5Tclose(name);
  H5Tclose(action);
  return type;
}

hid_t poli_h5_events_build(poli_h5_events *events, hid_t file)
{
  const hsize_t none = 0, most = H5S_UNLIMITED, chunk = CHUNK;
  const hid_t space = H5Screate_simple(1, &none, &most), plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plist, 1, &chunk);
  H5Pset_obj_track_times(plist, 0);
  const hid_t type = entry_type(events->name_size, H5T_IEEE_F64LE, H5T_STD_I64LE);
  events->set = H5Dcreate2(file, POLI_H5_EVENTS, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  H5Tclose(type);
  H5Pclose(plist);
  H5Sclose(space);
  return events->set;
}

/* --- writing ---------------------------------------------------------------------------------- */

void poli_h5_events_note(poli_h5_events *events, int block, long row)
{
  const int index = pol_simulation_event_index(events->simulation);
  const pol_simulation_event *event = pol_simulation_get_event(events->simulation, index);
  collection *c = &events->blocks[block];
  if (event == NULL) return;
  char *place = c->entries + c->count++ * events->size;
  entry *e = (entry *)place;
  memset(place, 0, events->size);
  e->t = pol_simulation_state(events->simulation)->t;
  e->row = row;
  snprintf(e->action, sizeof e->action, "%s", pol_event_action_name(event->action));
  if (event->name != NULL) snprintf(place + sizeof *e, events->name_size, "%s", event->name);
}

size_t poli_h5_events_count(const poli_h5_events *events, int block)
{
  return events->blocks[block].count;
}

int poli_h5_events_write(poli_h5_events *events, int block, size_t end, int full)
{
  collection *c = &events->blocks[block];
  const hsize_t start = events->written, count = end - c->written, size = start + count;
  int good = 1;
  if (count > 0) {
    good = H5Dset_extent(events->set, &size) >= 0;
    const hid_t place = H5Dget_space(events->set), memory = H5Screate_simple(1, &count, NULL);
    const hid_t type = H5Dget_type(events->set);
    good = good && H5Sselect_hyperslab(place, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
           H5Dwrite(events->set, type, memory, place, H5P_DEFAULT,
                    c->entries + c->written * events->size) >= 0;
    H5Tclose(type);
    H5Sclose(memory);
    H5Sclose(place);
  }
  if (!good) return 0;
  events->written = size;
  c->written = end;
  if (full) c->count = c->written = 0;
  return 1;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The size of a name in the file with its end; 0 if the entries are not what they should be. */
static size_t name_size_of(hid_t set)
{
  const hid_t type = H5Dget_type(set);
  const int member = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, "name") : -1;
  size_t size = 0;
  if (member >= 0 && H5Tget_member_class(type, (unsigned)member) == H5T_STRING) {
    const hid_t name = H5Tget_member_type(type, (unsigned)member);
    if (H5Tis_variable_str(name) == 0) size = (H5Tget_size(name) / 8 + 1) * 8;
    H5Tclose(name);
  }
  H5Tclose(type);
  return size;
}

pol_status poli_h5_events_read(pol_result *result, hid_t file)
{
  if (H5Lexists(file, POLI_H5_EVENTS, H5P_DEFAULT) <= 0) return POL_OK;
  const hid_t set = H5Dopen2(file, POLI_H5_EVENTS, H5P_DEFAULT), space = H5Dget_space(set);
  if (set < 0) return POL_IO;
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t name_size = name_size_of(set), size = sizeof(entry) + name_size;
  pol_status status =
      name_size > 0 && poli_h5_fits_file(set, count, size) ? POL_OK : POL_BAD_ARGUMENT;
  if (status == POL_OK && count > 0) {
    result->event_entries = calloc((size_t)count, size);
    result->events = malloc((size_t)count * sizeof *result->events);
    if (result->event_entries == NULL || result->events == NULL) status = POL_NO_MEMORY;
    const hid_t type = entry_type(name_size, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64);
    if (status == POL_OK &&
        H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, result->event_entries) < 0)
      status = POL_IO;
    H5Tclose(type);
  }
  H5Sclose(space);
  H5Dclose(set);

  /* those whose rows are there */
  const char *place = result->event_entries;
  for (hssize_t i = 0; status == POL_OK && i < count; i++, place += size) {
    const entry *e = (const entry *)place;
    if (e->row >= 0 && e->row < result->rows)
      result->events[result->num_events++] =
          (pol_result_event){e->t, (long)e->row, place + sizeof *e, e->action};
  }
  return status;
}
