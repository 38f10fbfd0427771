/* Reading results: finds the format, hands on to it, and checks what is asked for. */
#define _POSIX_C_SOURCE 200809L

#include "io/result/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a path may be read: a device may never end.  What is not there, and a folder, is left to
 * the reader to tell. */
static int is_readable_kind(const char *path)
{
  struct stat info;
  return stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode) ||
         S_ISDIR(info.st_mode);
}

/* Whether a file begins as HDF5 does.  A pipe is not asked: it can be read once only. */
static int is_hdf5(const char *path)
{
  struct stat info;
  static const char signature[] = "\x89HDF\r\n\x1a\n";
  char start[sizeof signature - 1];
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  const size_t read = fread(start, 1, sizeof start, file);
  fclose(file);
  return read == sizeof start && memcmp(start, signature, sizeof start) == 0;
}

static int compare_channels(const void *a, const void *b)
{
  return strcmp((*(const pol_channel *const *)a)->name, (*(const pol_channel *const *)b)->name);
}

static pol_status sort_channels(pol_result *result)
{
  const size_t count = (size_t)result->count;
  result->by_name = malloc((count + 1) * sizeof *result->by_name);
  if (result->by_name == NULL) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++) result->by_name[i] = &result->channels[i];
  qsort(result->by_name, count, sizeof *result->by_name, compare_channels);
  return POL_OK;
}

pol_status pol_result_open(pol_result **result, const char *path, char *message, size_t size)
{
  char unwanted[256];
  *result = NULL;
  if (message == NULL) {
    message = unwanted;
    size = sizeof unwanted;
  }
  if (!is_readable_kind(path)) {
    snprintf(message, size, "cannot be read: it is neither a file nor a pipe");
    return POL_BAD_ARGUMENT;
  }
  pol_result *r = calloc(1, sizeof *r);
  pol_status status = POL_NO_MEMORY;
  if (r != NULL && is_hdf5(path)) {
    r->info.format = "hdf5";
    status = poli_result_open_hdf5(r, path, message, size);
  } else if (r != NULL) {
    r->info.format = "csv";
    status = poli_result_open_csv(r, path, message, size);
  }
  if (status == POL_OK) status = sort_channels(r);
  if (status == POL_OK) {
    *result = r;
    return POL_OK;
  }
  if (status == POL_NO_MEMORY) snprintf(message, size, "%s", pol_status_text(status));
  pol_result_close(&r);
  return status;
}

void pol_result_close(pol_result **result)
{
  if (result == NULL || *result == NULL) return;
  if ((*result)->release != NULL) (*result)->release(*result);
  free((*result)->channels);
  free((*result)->by_name);
  free((*result)->events);
  free((*result)->event_entries);
  free(*result);
  *result = NULL;
}

const pol_result_info *pol_result_about(const pol_result *result)
{
  return &result->info;
}

long pol_result_rows(const pol_result *result)
{
  return result->rows;
}

int pol_result_count(const pol_result *result)
{
  return result->count;
}

const pol_channel *pol_result_channel(const pol_result *result, int index)
{
  return &result->channels[index];
}

static int compare_with_channel(const void *name, const void *channel)
{
  return strcmp(name, (*(const pol_channel *const *)channel)->name);
}

int pol_result_find_channel(const pol_result *result, const char *name)
{
  const pol_channel **found = bsearch(name, result->by_name, (size_t)result->count,
                                      sizeof *result->by_name, compare_with_channel);
  return found != NULL ? (int)(*found - result->channels) : -1;
}

long pol_result_num_events(const pol_result *result)
{
  return result->num_events;
}

const pol_result_event *pol_result_get_event(const pol_result *result, long index)
{
  return index >= 0 && index < result->num_events ? &result->events[index] : NULL;
}

static int has_rows(const pol_result *result, long first, long count)
{
  return first >= 0 && count >= 0 && first <= result->rows && count <= result->rows - first;
}

pol_status pol_result_series_part(pol_result *result, int channel, long first, long count,
                                  double *out)
{
  if (channel < 0 || channel >= result->count || !has_rows(result, first, count))
    return POL_BAD_ARGUMENT;
  return count > 0 ? result->read(result, channel, first, count, out, 1) : POL_OK;
}

pol_status pol_result_series(pol_result *result, int channel, double *out)
{
  return pol_result_series_part(result, channel, 0, result->rows, out);
}

pol_status pol_result_read_rows(pol_result *result, long first, long count, double *out)
{
  pol_status status = has_rows(result, first, count) ? POL_OK : POL_BAD_ARGUMENT;
  for (int i = 0; status == POL_OK && count > 0 && i < result->count; i++)
    status = result->read(result, i, first, count, out + i, (size_t)result->count);
  return status;
}
