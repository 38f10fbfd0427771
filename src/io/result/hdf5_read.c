/* Reading HDF5 results: what the file says of itself at once, numbers when they are asked for.
 *
 * A file that is being written, or whose writer was killed, is marked as such and opens only in the
 * single-writer/multiple-reader mode.  /run/rows says how many rows are complete.
 *
 * The content is not trusted: types, ranks and sizes are checked before memory is allocated or
 * filled, and no more memory is allocated than the file could contain.
 */
#define _POSIX_C_SOURCE 200809L

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/result/hdf5.h"
#include "io/result/result.h"
#include "simulation/record.h"

/* A list of texts, each with a fixed size, in one piece of memory. */
typedef struct text_list {
  int count;
  size_t size; /* of each, with its end */
  char *texts;
} text_list;

typedef struct hdf5_data {
  hid_t file;
  hid_t dataset; /* the one that was read last, with its cache of chunks; 0 for none */
  int dataset_of;
  text_list names, units, paths, overrides;
  char *parts; /* owners, and quantities, of the channels */
  int *columns;
  char *texts[6]; /* those of the info */
} hdf5_data;

static void release(pol_result *result)
{
  hdf5_data *data = result->data;
  if (data == NULL) return;
  poli_h5_lock();
  if (data->dataset > 0) H5Dclose(data->dataset);
  if (data->file > 0) H5Fclose(data->file);
  poli_h5_unlock();
  text_list *lists[] = {&data->names, &data->units, &data->paths, &data->overrides};
  for (int i = 0; i < 4; i++) free(lists[i]->texts);
  for (int i = 0; i < 6; i++) free(data->texts[i]);
  free(data->parts);
  free(data->columns);
  free(result->info.overrides);
  free(data);
}

/* --- what is not numbers ---------------------------------------------------------------------- */

static const char *text_at(const text_list *list, int index)
{
  return list->texts + (size_t)index * list->size;
}

int poli_h5_fits_file(hid_t object, hssize_t count, size_t size)
{
  enum { RATIO = 1032 };
  struct stat info = {0};
  void *handle;
  const hid_t file = H5Iget_file_id(object); /* the size that it stores may be damaged too */
  const int known =
      H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && fstat(*(int *)handle, &info) == 0;
  H5Fclose(file);
  return known && count >= 0 && size > 0 && (hsize_t)count <= (hsize_t)info.st_size * RATIO / size;
}

/* The texts of an open dataset or attribute. */
static pol_status read_list(hid_t type, hid_t space, hid_t from, int attribute, text_list *list)
{
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t size = H5Tget_size(type);
  if (count < 1 || count > 1 << 30 || size == 0 || H5Tget_class(type) != H5T_STRING ||
      H5Tis_variable_str(type) != 0 || !poli_h5_fits_file(from, count, size + 1))
    return POL_BAD_ARGUMENT;
  list->count = (int)count;
  list->size = size + 1;
  list->texts = calloc((size_t)count, size + 1);
  if (list->texts == NULL) return POL_NO_MEMORY;
  const hid_t memory = H5Tcopy(type);
  H5Tset_size(memory, size + 1);
  H5Tset_strpad(memory, H5T_STR_NULLTERM);
  const herr_t done = attribute ? H5Aread(from, memory, list->texts)
                                : H5Dread(from, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, list->texts);
  H5Tclose(memory);
  return done >= 0 ? POL_OK : POL_IO;
}

/* A dataset of texts.  One that is not there gives an empty list. */
static pol_status read_texts(hid_t file, const char *path, text_list *list)
{
  *list = (text_list){0};
  if (H5Lexists(file, path, H5P_DEFAULT) <= 0) return POL_OK;
  const hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
  if (set < 0) return POL_IO;
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  pol_status status = read_list(type, space, set, 0, list);
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(set);
  return status;
}

/* One text; NULL if it is not there. */
static pol_status read_text(hid_t file, const char *path, char **text)
{
  text_list list;
  pol_status status = read_texts(file, path, &list);
  *text = list.texts;
  return status;
}

static pol_status read_attribute(hid_t file, const char *name, char **text)
{
  *text = NULL;
  if (H5Aexists(file, name) <= 0) return POL_OK;
  text_list list = {0};
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  if (attribute < 0) return POL_IO;
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  pol_status status = read_list(type, space, attribute, 1, &list);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  *text = list.texts;
  return status;
}

static pol_status read_overrides(pol_result *result)
{
  hdf5_data *data = result->data;
  pol_status status = read_texts(data->file, POLI_H5_OVERRIDES, &data->overrides);
  const int count = data->overrides.count;
  if (status != POL_OK || count == 0) return status;
  result->info.overrides = malloc((size_t)count * sizeof *result->info.overrides);
  if (result->info.overrides == NULL) return POL_NO_MEMORY;
  result->info.num_overrides = count;
  for (int i = 0; i < count; i++)
    result->info.overrides[i] = data->overrides.texts + (size_t)i * data->overrides.size;
  return POL_OK;
}

/* What the file says about the run. */
static pol_status read_info(pol_result *result)
{
  hdf5_data *data = result->data;
  pol_result_info *info = &result->info;
  char **texts = data->texts;
  pol_status status = read_attribute(data->file, "version", &texts[0]);
  if (status == POL_OK) status = read_attribute(data->file, "model_name", &texts[1]);
  if (status == POL_OK) status = read_text(data->file, POLI_H5_MODEL, &texts[2]);
  if (status == POL_OK) status = read_text(data->file, POLI_H5_SETTINGS, &texts[3]);
  if (status == POL_OK) status = read_text(data->file, POLI_H5_STATUS, &texts[4]);
  if (status == POL_OK) status = read_text(data->file, POLI_H5_FAILURE, &texts[5]);
  info->version = texts[0];
  info->name = texts[1];
  info->model = texts[2];
  info->settings = texts[3];
  info->status = texts[4];
  info->failure = texts[5] != NULL && texts[5][0] != '\0' ? texts[5] : NULL;
  return status == POL_OK ? read_overrides(result) : status;
}

/* --- channels --------------------------------------------------------------------------------- */

static const char *find_group(const char *name, size_t length)
{
  static const char *const groups[] = {"bodies",    "markers",   "joints",    "forces", "drives",
                                       "couplings", "states",    "variables", "energy", "momentum",
                                       "residual",  "invariant", "increment"};
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    if (strlen(groups[i]) == length && strncmp(groups[i], name, length) == 0) return groups[i];
  return "";
}

/* "/GROUP/OWNER/QUANTITY" into group and owner, for which `memory` has room; the quantity is the
 * end of the channel's name. */
static void split_path(const char *path, char *memory, pol_channel *channel)
{
  const char *group = path + 1, *end = strchr(group, '/'), *last = strrchr(path, '/');
  channel->group = end != NULL ? find_group(group, (size_t)(end - group)) : "";
  channel->owner = memory;
  memory[0] = '\0';
  if (end != NULL && last > end) {
    memcpy(memory, end + 1, (size_t)(last - end - 1));
    memory[last - end - 1] = '\0';
    poli_h5_unescape(memory);
  }
  /* The name is [marker.][OWNER.]QUANTITY, or GROUP.QUANTITY, or t. */
  const char *quantity = channel->name;
  size_t skip = strlen(memory) > 0 ? strlen(memory) : strlen(channel->group);
  if (strcmp(channel->group, "markers") == 0) skip += strlen("marker.");
  if (skip > 0 && strlen(quantity) > skip + 1) quantity += skip + 1;
  channel->quantity = quantity;
}

static pol_status read_columns(hdf5_data *data)
{
  const hid_t set = H5Dopen2(data->file, POLI_H5_CHANNEL_COLUMNS, H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  pol_status status = set >= 0 && count == data->names.count ? POL_OK : POL_BAD_ARGUMENT;
  if (status == POL_OK) data->columns = malloc((size_t)count * sizeof *data->columns);
  if (status == POL_OK && data->columns == NULL) status = POL_NO_MEMORY;
  if (status == POL_OK &&
      H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data->columns) < 0)
    status = POL_IO;
  H5Sclose(space);
  H5Dclose(set);
  return status;
}

static pol_status read_channels(pol_result *result)
{
  hdf5_data *data = result->data;
  pol_status status = read_texts(data->file, POLI_H5_CHANNEL_NAMES, &data->names);
  if (status == POL_OK) status = read_texts(data->file, POLI_H5_CHANNEL_UNITS, &data->units);
  if (status == POL_OK) status = read_texts(data->file, POLI_H5_CHANNEL_DATASETS, &data->paths);
  const int count = data->names.count;
  if (status == POL_OK && (count == 0 || data->units.count != count || data->paths.count != count))
    status = POL_BAD_ARGUMENT;
  if (status == POL_OK) status = read_columns(data);
  if (status != POL_OK) return status;

  result->channels = malloc((size_t)count * sizeof *result->channels);
  data->parts = malloc((size_t)count * data->paths.size);
  if (result->channels == NULL || data->parts == NULL) return POL_NO_MEMORY;
  result->count = count;
  for (int i = 0; i < count; i++) {
    pol_channel *channel = &result->channels[i];
    channel->name = text_at(&data->names, i);
    channel->unit = text_at(&data->units, i);
    split_path(text_at(&data->paths, i), data->parts + (size_t)i * data->paths.size, channel);
  }
  return POL_OK;
}

static pol_status read_row_count(pol_result *result)
{
  const hdf5_data *data = result->data;
  long long rows = -1;
  const hid_t set = H5Dopen2(data->file, POLI_H5_ROWS, H5P_DEFAULT), space = H5Dget_space(set);
  const int is_one = H5Sget_simple_extent_npoints(space) == 1;
  const int good =
      is_one && H5Dread(set, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows) >= 0;
  H5Sclose(space);
  H5Dclose(set);
  if (!good || rows < 0 || rows > LONG_MAX || !poli_h5_fits_file(data->file, rows, sizeof(double)))
    return POL_BAD_ARGUMENT;
  result->rows = (long)rows;
  return POL_OK;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The dataset of a channel, open; negative if it cannot be opened. */
static hid_t open_dataset(hdf5_data *data, int channel)
{
  const char *path = text_at(&data->paths, channel);
  if (data->dataset > 0 && strcmp(text_at(&data->paths, data->dataset_of), path) == 0)
    return data->dataset;
  if (data->dataset > 0) H5Dclose(data->dataset);
  data->dataset = H5Dopen2(data->file, path, H5P_DEFAULT);
  data->dataset_of = channel;
  return data->dataset;
}

static pol_status read_column(hdf5_data *data, int channel, long first, long count, double *out,
                              size_t stride)
{
  const hid_t set = open_dataset(data, channel);
  const hid_t from = H5Dget_space(set);
  const int rank = H5Sget_simple_extent_ndims(from);
  if (rank != 1 && rank != 2) { /* the arrays below are for these */
    H5Sclose(from);
    return POL_IO;
  }
  const hsize_t offset[2] = {(hsize_t)first, (hsize_t)data->columns[channel]};
  const hsize_t size[2] = {(hsize_t)count, 1};
  /* every stride-th place of the memory, which ends with the last of them */
  const hsize_t places = ((hsize_t)count - 1) * stride + 1, start = 0, step = stride;
  const hid_t to = H5Screate_simple(1, &places, NULL);
  pol_status status = POL_IO;
  if (H5Sselect_hyperslab(from, H5S_SELECT_SET, offset, NULL, size, NULL) >= 0 &&
      H5Sselect_hyperslab(to, H5S_SELECT_SET, &start, &step, size, NULL) >= 0 &&
      H5Dread(set, H5T_NATIVE_DOUBLE, to, from, H5P_DEFAULT, out) >= 0)
    status = POL_OK;
  H5Sclose(to);
  H5Sclose(from);
  return status;
}

static pol_status read_values(pol_result *result, int channel, long first, long count, double *out,
                              size_t stride)
{
  pol_status status;
  poli_h5_lock();
  H5E_BEGIN_TRY
  {
    status = read_column(result->data, channel, first, count, out, stride);
  }
  H5E_END_TRY
  poli_h5_unlock();
  return status;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Opens a file that may still be written.  What the writer has half done is read again, after waits
 * that double from a nanosecond: the attempts last for some 0.1 s, then the file is damaged. */
static hid_t open_file(const char *path)
{
  const unsigned attempts = 26;
  const hid_t plist = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(plist, H5F_CLOSE_STRONG);
  H5Pset_metadata_read_attempts(plist, attempts);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, plist);
  if (file < 0) file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, plist);
  H5Pclose(plist);
  return file;
}

/* Whether the file says that it is one of ours. */
static pol_status check_format(const hdf5_data *data, char *message, size_t size)
{
  char *format;
  pol_status status = read_attribute(data->file, "format", &format);
  if (status == POL_OK && (format == NULL || strcmp(format, POLI_H5_FORMAT) != 0)) {
    snprintf(message, size, "is an HDF5 file, but no \"%s\"", POLI_H5_FORMAT);
    status = POL_BAD_ARGUMENT;
  } else if (status == POL_BAD_ARGUMENT) {
    snprintf(message, size, "is an HDF5 file, but no result of polhode");
  }
  free(format);
  return status;
}

static pol_status read_all(pol_result *result, const char *path, char *message, size_t size)
{
  hdf5_data *data = result->data;
  data->file = open_file(path);
  if (data->file < 0) {
    snprintf(message, size, "cannot be opened: it is damaged, or another program is writing it");
    return POL_IO;
  }
  snprintf(message, size, "its structure is damaged");
  pol_status status = check_format(data, message, size);
  if (status != POL_OK) return status;
  /* The rows first: those that come later do not count. */
  status = read_row_count(result);
  if (status == POL_OK) status = read_info(result);
  if (status == POL_OK) status = read_channels(result);
  const char *twice = NULL;
  if (status == POL_OK) status = poli_channels_check_names(result->channels, result->count, &twice);
  if (twice != NULL) snprintf(message, size, "two channels have the same name: %.60s", twice);
  return status == POL_OK ? poli_h5_events_read(result, data->file) : status;
}

pol_status poli_result_open_hdf5(pol_result *result, const char *path, char *message, size_t size)
{
  result->data = calloc(1, sizeof(hdf5_data));
  if (result->data == NULL) return POL_NO_MEMORY;
  result->release = release;
  result->read = read_values;
  pol_status status;
  poli_h5_lock();
  H5E_BEGIN_TRY
  {
    status = read_all(result, path, message, size);
  }
  H5E_END_TRY
  poli_h5_unlock();
  return status;
}
