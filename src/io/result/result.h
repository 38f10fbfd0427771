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
  void *data; /* of the format */

  /* `num` channels of rows first .. first + count - 1: out[count][num]. */
  pol_status (*read)(pol_result *result, int num, const int *channels, long first, long count,
                     double *out);
  /* Frees data; what the open function has left there after a failure too. */
  void (*release)(pol_result *result);
};

/* Opens a file of one format; result arrives all zero but for info.format.  After a failure message
 * says why, unless it is POL_NO_MEMORY. */
pol_status poli_result_open_csv(pol_result *result, const char *path, char *message, size_t size);
pol_status poli_result_open_hdf5(pol_result *result, const char *path, char *message, size_t size);

/* The first member of the writer of each format. */
struct pol_writer {
  const pol_record *record;
  pol_status (*write)(pol_writer *writer);
  pol_status (*flush)(pol_writer *writer);
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
