/* Inside of results: what the formats provide for reading and for writing. */
#ifndef POLHODE_IO_RESULT_H
#define POLHODE_IO_RESULT_H

#include <polhode/result.h>

#include "base/errors.h"

struct pol_result {
  pol_result_info info;
  long rows;
  int count;
  pol_channel *channels;       /* allocated; the format owns the names */
  const pol_channel **by_name; /* the channels, sorted by their names */
  long num_events;
  pol_result_event *events; /* allocated, as are the entries that they point into */
  void *event_entries;
  long num_states;
  double *states; /* entries of the index of saved states, allocated */
  void *data;     /* of the format */

  /* `num` channels of rows first .. first + count - 1: out[count][num]. */
  pol_status (*read)(pol_result *result, int num, const int *channels, long first, long count,
                     double *out);
  /* Bytes first .. first + size - 1 of the saved states; NULL if there are none. */
  pol_status (*read_state)(pol_result *result, size_t first, size_t size, void *bytes);
  /* Frees data; what the open function has left there after a failure too. */
  void (*release)(pol_result *result);
};

/* Whether a path is a regular file that begins as HDF5 does.  A pipe is not asked: it can be read
 * once only. */
int poli_result_is_hdf5(const char *path);

/* Opens a file of one format; result arrives all zero but for info.format.  After a failure message
 * says why, unless it is POL_NO_MEMORY. */
pol_status poli_result_open_csv(pol_result *result, const char *path, char *message, size_t size);
pol_status poli_result_open_hdf5(pol_result *result, const char *path, char *message, size_t size);

/* The first member of the writer of each format. */
struct pol_writer {
  const pol_record *record;
  pol_status (*write)(pol_writer *writer);
  pol_status (*flush)(pol_writer *writer);
  /* NULL: the format has no place for states */
  pol_status (*save)(pol_writer *writer, double t, const void *bytes, size_t size);
  /* closes and frees */
  pol_status (*close)(pol_writer *writer, const char *status, const char *failure);
};

pol_status poli_writer_create_csv(pol_writer **writer, const char *path, const pol_record *record,
                                  const pol_result_info *about);
pol_status poli_writer_create_hdf5(pol_writer **writer, const char *path, const pol_record *record,
                                   const pol_result_info *about, int background);

/* Writes a number with 17 digits and a decimal point, whatever the locale; returns its length. */
size_t poli_print_number(char *to, size_t size, double number);

#endif
