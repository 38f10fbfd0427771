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
#include "simulation/record.h"

/* A list of strings, each with a fixed size, in one piece of memory. */
typedef struct text_list {
  char path[120]; /* where it is in the file */
  int count;
  size_t size; /* of each, with its end */
  char *texts;
} text_list;

/* A dataset with numbers, open. */
typedef struct dataset {
  poli_h5_kind kind;
  hid_t set;
  size_t objects, components;
  size_t first;                          /* its first column among those of all datasets */
  const char *group;                     /* of its channels */
  const char *quantity;                  /* the end of its path */
  const text_list *names, *units, *axes; /* of a list: names of the channels; NULL: no axes */
  const text_list *owners;               /* of a list, if its channels have any */
} dataset;

enum { MAX_LISTS = 4 * POLI_H5_MAX_SETS + 16 };

typedef struct hdf5_data {
  hid_t file;
  pol_status status; /* the first failure */
  int num_lists;
  text_list lists[MAX_LISTS]; /* all that were read */
  int num_sets;
  dataset sets[POLI_H5_MAX_SETS];
  int *order;            /* the column of each channel */
  unsigned char *set_of; /* its dataset */
  char *names;           /* of the channels, those of lists excepted */
} hdf5_data;

static void release(pol_result *result)
{
  hdf5_data *data = result->data;
  if (data == NULL) return;
  poli_h5_lock();
  for (int i = 0; i < data->num_sets; i++) POLI_H5_CLOSE(data->sets[i].set);
  if (data->file > 0) H5Fclose(data->file);
  poli_h5_unlock();
  for (int i = 0; i < data->num_lists; i++) free(data->lists[i].texts);
  free(data->order);
  free(data->set_of);
  free(data->names);
  free(result->info.overrides);
  free(data);
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char *text_at(const text_list *list, size_t index)
{
  return list->texts + index * list->size;
}

/* Whether the file can hold `count` items of `size` bytes, compressed at most 1032 to 1 (deflate):
 * a larger count means that it is damaged.  The size that it stores may be damaged too. */
static int fits_file(hid_t file, hssize_t count, size_t size)
{
  enum { RATIO = 1032 };
  struct stat info = {0};
  void *handle;
  const int known =
      H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && fstat(*(int *)handle, &info) == 0;
  return known && count >= 0 && size > 0 && (hsize_t)count <= (hsize_t)info.st_size * RATIO / size;
}

/* The texts of a dataset, if the path starts with a slash, or of an attribute of `place`; NULL if
 * there is none, or after a failure.  A dataset is read once. */
static const text_list *find_texts(hdf5_data *data, hid_t place, const char *path)
{
  const int attribute = path[0] != '/';
  if (data->status != POL_OK) return NULL;
  for (int i = 0; i < data->num_lists && !attribute; i++)
    if (strcmp(data->lists[i].path, path) == 0) return &data->lists[i];
  if ((attribute ? H5Aexists(place, path) : H5Lexists(place, path, H5P_DEFAULT)) <= 0) return NULL;
  const hid_t from =
      attribute ? H5Aopen(place, path, H5P_DEFAULT) : H5Dopen2(place, path, H5P_DEFAULT);
  const hid_t type = attribute ? H5Aget_type(from) : H5Dget_type(from);
  const hid_t space = attribute ? H5Aget_space(from) : H5Dget_space(from);
  const hid_t memory = H5Tcopy(type); /* in memory each has its end */
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t size = H5Tget_size(type);
  const text_list *found = NULL;
  if (from < 0) {
    data->status = POL_IO;
  } else if (data->num_lists == MAX_LISTS || count < 1 || count > 1 << 30 || size == 0 ||
             H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
             !fits_file(data->file, count, size + 1)) {
    data->status = POL_BAD_ARGUMENT;
  } else {
    text_list *new = &data->lists[data->num_lists++];
    *new = (text_list){.count = (int)count, .size = size + 1};
    snprintf(new->path, sizeof new->path, "%s", path);
    new->texts = calloc((size_t)count, size + 1);
    H5Tset_size(memory, size + 1);
    H5Tset_strpad(memory, H5T_STR_NULLTERM);
    if (new->texts == NULL)
      data->status = POL_NO_MEMORY;
    else if ((attribute ? H5Aread(from, memory, new->texts)
                        : H5Dread(from, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, new->texts)) < 0)
      data->status = POL_IO;
    else
      found = new;
  }
  POLI_H5_CLOSE(memory, space, type, from);
  return found;
}

/* What the file says about the run. */
static void read_info(pol_result *result)
{
  hdf5_data *data = result->data;
  pol_result_info *info = &result->info;
  const struct {
    const char *path, **text;
  } texts[] = {{"version", &info->version},
               {"model_name", &info->name},
               {POLI_H5_MODEL, &info->model},
               {POLI_H5_SETTINGS, &info->settings},
               {POLI_H5_STATUS, &info->status},
               {POLI_H5_FAILURE, &info->failure},
               {POLI_H5_PARAMETERS, &info->parameters}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const text_list *list = find_texts(data, data->file, texts[i].path);
    if (list != NULL) *texts[i].text = list->texts;
  }
  if (info->failure != NULL && info->failure[0] == '\0') info->failure = NULL;
  const text_list *list = find_texts(data, data->file, POLI_H5_OVERRIDES);
  if (list == NULL) return;
  info->overrides = malloc((size_t)list->count * sizeof *info->overrides);
  if (info->overrides == NULL) {
    data->status = POL_NO_MEMORY;
    return;
  }
  info->num_overrides = list->count;
  for (int i = 0; i < list->count; i++) info->overrides[i] = list->texts + (size_t)i * list->size;
}

/* --- datasets --------------------------------------------------------------------------------- */

/* Opens a dataset and counts its elements, -1 after a failure. */
static hid_t open_elements(hid_t file, const char *path, hssize_t *count)
{
  const hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
  *count = H5Sget_simple_extent_npoints(space);
  POLI_H5_CLOSE(space);
  return set;
}

/* The texts that stand in the group of a dataset. */
static const text_list *find_beside(hdf5_data *data, const char *path, const char *name)
{
  char beside[sizeof data->lists[0].path];
  snprintf(beside, sizeof beside, "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
  return find_texts(data, data->file, beside);
}

/* Adds the dataset at a path "/GROUP/QUANTITY" or "/QUANTITY" with all that describes its columns.
 * The cache holds a layer of its chunks, so that reading row by row unpacks each chunk once. */
static pol_status add_dataset(hdf5_data *data, const char *path)
{
  enum { SLOTS = 4099, BYTES = 1 << 22 };
  dataset *d = &data->sets[data->num_sets];
  const char *last = strrchr(path, '/');
  const size_t length = last != NULL ? (size_t)(last - path) : 0;
  hsize_t size[3] = {0};
  if (path[0] != '/' || length + 10 > sizeof data->lists[0].path) return POL_BAD_ARGUMENT;
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_chunk_cache(access, SLOTS, BYTES, 1.0);
  *d = (dataset){.set = H5Dopen2(data->file, path, access), .objects = 1, .components = 1};
  const hid_t space = H5Dget_space(d->set);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank >= 1 && rank <= 3) H5Sget_simple_extent_dims(space, size, NULL);
  POLI_H5_CLOSE(space, access);
  if (d->set < 0) return POL_IO;
  data->num_sets++;
  d->quantity = last + 1;
  d->group = length > 0 ? poli_h5_channel_group(path + 1, length - 1) : "";
  d->kind = strcmp(d->quantity, "value") == 0 ? POLI_H5_LIST
            : rank == 3                       ? POLI_H5_VECTOR
                                              : POLI_H5_TOTAL;
  if (d->kind != POLI_H5_TOTAL) d->names = find_beside(data, path, "names");
  if (d->kind == POLI_H5_LIST) {
    d->units = find_beside(data, path, "units");
    d->owners = find_beside(data, path, "objects");
  } else {
    d->units = find_texts(data, d->set, "units");
    d->axes = find_texts(data, d->set, "axes");
  }
  if (data->status != POL_OK) return data->status;

  /* the sizes must be those of the names */
  const int has_axes = d->axes != NULL;
  if (d->names != NULL) d->objects = (size_t)d->names->count;
  if (has_axes) d->components = (size_t)d->axes->count;
  const int is_good =
      d->kind == POLI_H5_LIST ? rank == 2 && d->names && d->units && size[1] == d->objects &&
                                    d->units->count == d->names->count &&
                                    (!d->owners || d->owners->count == d->names->count)
      : d->kind == POLI_H5_VECTOR
          ? d->names && has_axes && d->units && size[1] == d->objects && size[2] == d->components
          : d->units && rank == 1 + has_axes && (!has_axes || size[1] == d->components);
  return is_good && d->components <= 4 ? POL_OK : POL_BAD_ARGUMENT;
}

/* --- channels --------------------------------------------------------------------------------- */

/* The channel of a column.  Its name goes to `name`, nowhere if that is NULL; returns the room for
 * it. */
static size_t describe(const dataset *d, size_t column, char *name, pol_channel *channel)
{
  const size_t object = column / d->components;
  const char *axis = d->axes != NULL ? text_at(d->axes, column % d->components) : NULL;
  const char *dot = axis != NULL ? "." : NULL;
  *channel = (pol_channel){.name = name, .group = d->group, .owner = ""};
  channel->unit = text_at(d->units, d->kind == POLI_H5_LIST ? object : 0);
  if (d->kind == POLI_H5_LIST) {
    const char *text = text_at(d->names, object);
    channel->name = channel->quantity = text;
    if (d->owners != NULL) channel->owner = text_at(d->owners, object);
    /* OWNER.QUANTITY, or GROUP.QUANTITY of invariants, or the quantity alone of states */
    const int is_whole = strcmp(d->group, "states") == 0 || strcmp(d->group, "variables") == 0;
    const char *front = channel->owner[0] != '\0' ? channel->owner : is_whole ? "" : d->group;
    const size_t length = strlen(front);
    if (length > 0 && strncmp(text, front, length) == 0 && text[length] == '.')
      channel->quantity = text + length + 1;
    return 0;
  }
  const char *prefix = "", *separator = ".", *front = d->group, *quantity = d->quantity;
  if (d->kind == POLI_H5_VECTOR) {
    front = channel->owner = text_at(d->names, object);
    if (strcmp(d->group, "markers") == 0) prefix = "marker.";
  } else if (front[0] == '\0') {
    separator = "";
    if (strcmp(quantity, "time") == 0) quantity = "t";
  }
  if (name != NULL) channel->quantity = name + strlen(prefix) + strlen(front) + strlen(separator);
  const char *const parts[] = {prefix, front, separator, quantity, dot, axis, NULL};
  size_t used = 0;
  for (int i = 0; parts[i] != NULL; i++) {
    const size_t length = strlen(parts[i]);
    if (name != NULL) memcpy(name + used, parts[i], length);
    used += length;
  }
  if (name != NULL) name[used] = '\0';
  return used + 1;
}

/* The list of datasets, and the place of each channel among their columns. */
static pol_status read_order(pol_result *result)
{
  hdf5_data *data = result->data;
  const text_list *paths = find_texts(data, data->file, POLI_H5_DATASETS);
  size_t columns = 0;
  pol_status status = data->status;
  if (status == POL_OK && (paths == NULL || paths->count > POLI_H5_MAX_SETS))
    status = POL_BAD_ARGUMENT;
  for (int i = 0; status == POL_OK && i < paths->count; i++) {
    status = add_dataset(data, text_at(paths, (size_t)i));
    data->sets[i].first = columns;
    columns += data->sets[i].objects * data->sets[i].components;
  }
  if (status != POL_OK) return status;

  hssize_t count;
  const hid_t set = open_elements(data->file, POLI_H5_ORDER, &count);
  if (count < 1 || (size_t)count > columns) {
    status = POL_BAD_ARGUMENT;
  } else {
    data->order = malloc((size_t)count * sizeof *data->order);
    data->set_of = malloc((size_t)count);
    result->count = (int)count;
    if (data->order == NULL || data->set_of == NULL)
      status = POL_NO_MEMORY;
    else if (H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data->order) < 0)
      status = POL_IO;
  }
  POLI_H5_CLOSE(set);
  for (int i = 0; status == POL_OK && i < result->count; i++) {
    if (data->order[i] < 0 || (size_t)data->order[i] >= columns) return POL_BAD_ARGUMENT;
    int s = i > 0 ? data->set_of[i - 1] : 0;
    if (data->sets[s].first > (size_t)data->order[i]) s = 0;
    while (s + 1 < data->num_sets && data->sets[s + 1].first <= (size_t)data->order[i]) s++;
    data->set_of[i] = (unsigned char)s;
  }
  return status;
}

static pol_status read_channels(pol_result *result)
{
  hdf5_data *data = result->data;
  size_t size = 1;
  pol_channel channel;
  pol_status status = read_order(result);
  if (status != POL_OK) return status;
  for (int pass = 0; pass < 2; pass++) {
    char *name = data->names;
    for (int i = 0; i < result->count; i++) {
      const dataset *d = &data->sets[data->set_of[i]];
      const size_t used = describe(d, (size_t)data->order[i] - d->first, name, &channel);
      size += used;
      if (pass == 0) continue;
      result->channels[i] = channel;
      name += used;
    }
    if (pass > 0) break;
    if (!fits_file(data->file, (hssize_t)size, 1)) return POL_BAD_ARGUMENT;
    result->channels = malloc((size_t)result->count * sizeof *result->channels);
    data->names = malloc(size);
    if (result->channels == NULL || data->names == NULL) return POL_NO_MEMORY;
  }
  return POL_OK;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Fills the events whose rows are there; none if the file has no table. */
static pol_status read_events(pol_result *result, hid_t file)
{
  if (H5Lexists(file, POLI_H5_EVENTS, H5P_DEFAULT) <= 0) return POL_OK;
  hssize_t count;
  const hid_t set = open_elements(file, POLI_H5_EVENTS, &count), type = H5Dget_type(set);
  if (set < 0) return POL_IO;
  /* the size of a name with its end; 0 if the entries are not what they should be */
  const int member = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, "name") : -1;
  size_t name_size = 0;
  if (member >= 0 && H5Tget_member_class(type, (unsigned)member) == H5T_STRING) {
    const hid_t name = H5Tget_member_type(type, (unsigned)member);
    if (H5Tis_variable_str(name) == 0) name_size = (H5Tget_size(name) / 8 + 1) * 8;
    POLI_H5_CLOSE(name);
  }
  const size_t size = sizeof(poli_h5_event) + name_size;
  pol_status status = name_size > 0 && fits_file(file, count, size) ? POL_OK : POL_BAD_ARGUMENT;
  if (status == POL_OK && count > 0) {
    const hid_t memory = poli_h5_event_type(name_size, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64);
    result->event_entries = calloc((size_t)count, size);
    result->events = malloc((size_t)count * sizeof *result->events);
    if (result->event_entries == NULL || result->events == NULL)
      status = POL_NO_MEMORY;
    else if (H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, result->event_entries) < 0)
      status = POL_IO;
    POLI_H5_CLOSE(memory);
  }
  POLI_H5_CLOSE(type, set);

  const char *place = result->event_entries;
  for (hssize_t i = 0; status == POL_OK && i < count; i++, place += size) {
    const poli_h5_event *e = (const poli_h5_event *)place;
    if (e->row >= 0 && e->row < result->rows)
      result->events[result->num_events++] =
          (pol_result_event){e->t, (long)e->row, place + sizeof *e, e->action};
  }
  return status;
}

/* --- saved states ----------------------------------------------------------------------------- */

/* The index of the saved states, as far as all of their bytes are there; none in older files. */
static pol_status read_state_index(pol_result *result, hid_t file)
{
  if (H5Lexists(file, "/checkpoints", H5P_DEFAULT) <= 0 ||
      H5Lexists(file, POLI_H5_STATE_INDEX, H5P_DEFAULT) <= 0)
    return POL_OK;
  hssize_t count, bytes;
  const hid_t index = open_elements(file, POLI_H5_STATE_INDEX, &count);
  const hid_t states = open_elements(file, POLI_H5_STATES, &bytes), type = H5Dget_type(index);
  pol_status status = POL_OK;
  if (index < 0 || states < 0)
    status = POL_IO;
  else if (H5Tget_class(type) != H5T_FLOAT || count % POLI_H5_STATE != 0 ||
           !fits_file(file, count, sizeof(double)) || !fits_file(file, bytes, 1))
    status = POL_BAD_ARGUMENT;
  if (status == POL_OK && count > 0) {
    result->states = malloc((size_t)count * sizeof *result->states);
    if (result->states == NULL)
      status = POL_NO_MEMORY;
    else if (H5Dread(index, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, result->states) < 0)
      status = POL_IO;
  }
  POLI_H5_CLOSE(type, states, index);
  for (hssize_t i = 0; status == POL_OK && i < count / POLI_H5_STATE; i++) {
    const double *entry = result->states + i * POLI_H5_STATE;
    const double first = entry[POLI_H5_STATE_FIRST], size = entry[POLI_H5_STATE_SIZE];
    if (!(first >= 0.0 && size > 0.0 && first + size <= (double)bytes)) return POL_BAD_ARGUMENT;
    result->num_states++;
  }
  return status;
}

static pol_status read_state(pol_result *result, size_t first, size_t size, void *bytes)
{
  const hdf5_data *data = result->data;
  const hsize_t start = first, count = size;
  poli_h5_lock();
  const hid_t set = H5Dopen2(data->file, POLI_H5_STATES, H5P_DEFAULT), place = H5Dget_space(set);
  const hid_t memory = H5Screate_simple(1, &count, NULL);
  const int good = H5Sget_simple_extent_ndims(place) == 1 &&
                   H5Sselect_hyperslab(place, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
                   H5Dread(set, H5T_NATIVE_UINT8, memory, place, H5P_DEFAULT, bytes) >= 0;
  POLI_H5_CLOSE(memory, place, set);
  poli_h5_unlock();
  return good ? POL_OK : POL_IO;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Reads some channels, wanted[0 .. num - 1] of channels, of one dataset: the smallest box of
 * objects and components that holds them, piece by piece. */
static pol_status read_box(const hdf5_data *data, const dataset *d, int num, const int *wanted,
                           const int *channels, long first, long count, double *out, size_t width)
{
  enum { PIECE = 1 << 18 };
  size_t low[2] = {SIZE_MAX, SIZE_MAX}, high[2] = {0, 0};
  for (int k = 0; k < num; k++) {
    const size_t column = (size_t)data->order[channels[wanted[k]]] - d->first;
    const size_t at[2] = {column / d->components, column % d->components};
    for (int i = 0; i < 2; i++) {
      if (low[i] > at[i]) low[i] = at[i];
      if (high[i] < at[i]) high[i] = at[i];
    }
  }
  const size_t across = high[1] - low[1] + 1, box = (high[0] - low[0] + 1) * across;
  const size_t fit = PIECE / box + 1, rows = (size_t)count;
  const size_t piece = fit < rows ? fit : rows;
  double *numbers = malloc(piece * box * sizeof *numbers);
  if (numbers == NULL) return POL_NO_MEMORY;
  const hid_t space = H5Dget_space(d->set);
  int good = 1;
  for (size_t done = 0; good && done < rows; done += piece) {
    const size_t now = rows - done < piece ? rows - done : piece;
    /* rows, then objects and components as far as the dataset has them */
    hsize_t start[3] = {(hsize_t)first + done}, size[3] = {now};
    int rank = 1;
    if (d->kind != POLI_H5_TOTAL) {
      start[rank] = low[0];
      size[rank++] = high[0] - low[0] + 1;
    }
    if (d->axes != NULL) {
      start[rank] = low[1];
      size[rank++] = across;
    }
    const hsize_t total = now * box;
    const hid_t memory = H5Screate_simple(1, &total, NULL);
    good = H5Sget_simple_extent_ndims(space) == rank &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
           H5Dread(d->set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, numbers) >= 0;
    POLI_H5_CLOSE(memory);
    for (int k = 0; good && k < num; k++) {
      const size_t column = (size_t)data->order[channels[wanted[k]]] - d->first;
      const double *from =
          numbers + (column / d->components - low[0]) * across + (column % d->components - low[1]);
      double *to = out + done * width + (size_t)wanted[k];
      for (size_t n = 0; n < now; n++) to[n * width] = from[n * box];
    }
  }
  POLI_H5_CLOSE(space);
  free(numbers);
  return good ? POL_OK : POL_IO;
}

static pol_status read_values(pol_result *result, int num, const int *channels, long first,
                              long count, double *out)
{
  const hdf5_data *data = result->data;
  int ends[POLI_H5_MAX_SETS + 1] = {0};
  /* the wanted channels, dataset by dataset */
  int *wanted = malloc((size_t)num * sizeof *wanted);
  if (wanted == NULL) return POL_NO_MEMORY;
  for (int k = 0; k < num; k++) ends[data->set_of[channels[k]] + 1]++;
  for (int s = 0; s < data->num_sets; s++) ends[s + 1] += ends[s];
  for (int k = 0; k < num; k++) wanted[ends[data->set_of[channels[k]]]++] = k;
  pol_status status = POL_OK;
  poli_h5_lock();
  for (int s = 0, begin = 0; status == POL_OK && s < data->num_sets; begin = ends[s++])
    if (ends[s] > begin)
      status = read_box(data, &data->sets[s], ends[s] - begin, wanted + begin, channels, first,
                        count, out, (size_t)num);
  poli_h5_unlock();
  free(wanted);
  return status;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Opens a file that may still be written, and checks that it is one of ours and of this version of
 * the format.  What the writer has half done is read again, after waits that double from a
 * nanosecond: the attempts last for some 0.1 s, then the file is damaged. */
static pol_status open_file(hdf5_data *data, const char *path, char *message, size_t size)
{
  static const char ours[] = "polhode result ";
  const unsigned attempts = 26;
  const hid_t plist = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(plist, H5F_CLOSE_STRONG);
  H5Pset_metadata_read_attempts(plist, attempts);
  data->file = H5Fopen(path, H5F_ACC_RDONLY, plist);
  if (data->file < 0) data->file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, plist);
  POLI_H5_CLOSE(plist);
  if (data->file < 0) {
    snprintf(message, size, "cannot be opened: it is damaged, or another program is writing it");
    return POL_IO;
  }
  const text_list *list = find_texts(data, data->file, "format");
  const char *format = list != NULL ? list->texts : "";
  if (data->status == POL_NO_MEMORY || strcmp(format, POLI_H5_FORMAT) == 0) return data->status;
  if (strncmp(format, ours, sizeof ours - 1) == 0)
    snprintf(message, size,
             "has the format \"%.40s\", but this version of polhode reads \"%s\" only: run the "
             "model again",
             format, POLI_H5_FORMAT);
  else
    snprintf(message, size, "is an HDF5 file, but not a result of polhode");
  return data->status == POL_IO ? POL_IO : POL_BAD_ARGUMENT;
}

static pol_status read_all(pol_result *result, const char *path, char *message, size_t size)
{
  hdf5_data *data = result->data;
  pol_status status = open_file(data, path, message, size);
  if (status != POL_OK) return status;
  snprintf(message, size, "its structure is damaged");
  /* The rows first: those that come later do not count. */
  long long rows = -1;
  hssize_t count;
  const hid_t set = open_elements(data->file, POLI_H5_ROWS, &count);
  const int good =
      count == 1 && H5Dread(set, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows) >= 0;
  POLI_H5_CLOSE(set);
  if (!good || rows < 0 || rows > LONG_MAX || !fits_file(data->file, rows, sizeof(double)))
    return POL_BAD_ARGUMENT;
  result->rows = (long)rows;

  read_info(result);
  status = data->status;
  if (status == POL_OK) status = read_channels(result);
  const char *twice = NULL;
  if (status == POL_OK) status = poli_channels_check_names(result->channels, result->count, &twice);
  if (twice != NULL) snprintf(message, size, "two channels have the same name: %.60s", twice);
  if (status == POL_OK) status = read_state_index(result, data->file);
  if (status == POL_OK) status = read_events(result, data->file);
  if (status == POL_OK && size > 0) message[0] = '\0';
  return status;
}

pol_status poli_result_open_hdf5(pol_result *result, const char *path, char *message, size_t size)
{
  result->data = calloc(1, sizeof(hdf5_data));
  if (result->data == NULL) return POL_NO_MEMORY;
  result->release = release;
  result->read = read_values;
  result->read_state = read_state;
  poli_h5_lock();
  const pol_status status = read_all(result, path, message, size);
  poli_h5_unlock();
  return status;
}
