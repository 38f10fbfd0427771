/* Inside of a result that is being read: what the formats fill and how they give their numbers. */
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

  /* Values of one channel from row `first` on, to out[0], out[stride], ... */
  pol_status (*read)(pol_result *result, int channel, long first, long count, double *out,
                     size_t stride);
  /* Frees data; what the open function has left there after a failure too. */
  void (*release)(pol_result *result);
};

/* What is said where the file could be opened, but numbers in it cannot be read. */
#define POLI_RESULT_DAMAGED "the result is damaged: its numbers cannot be read"

/* Opens a file of one format; result arrives all zero but for info.format.  After a failure message
 * says why, unless it is POL_NO_MEMORY. */
pol_status poli_result_open_csv(pol_result *result, const char *path, char *message, size_t size);
pol_status poli_result_open_hdf5(pol_result *result, const char *path, char *message, size_t size);

#endif
