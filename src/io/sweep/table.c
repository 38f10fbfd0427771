/* The table of runs, from the HDF5 file of a study (hdf5.c).  A damaged file is refused: sizes are
 * compared before anything is read. */
#include <hdf5.h>

#include "io/sweep/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/result/hdf5.h"

/* The text of an attribute, in size bytes; 0 if there is none. */
static int read_attribute(hid_t of, const char *name, char *text, size_t size)
{
  int good = 0;
  text[0] = '\0';
  const hid_t attribute = H5Aopen(of, name, H5P_DEFAULT);
  if (attribute < 0) return 0;
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const size_t width = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) && width < size &&
      H5Sget_simple_extent_npoints(space) == 1)
    good = H5Aread(attribute, type, text) >= 0;
  if (good) text[width] = '\0';
  POLI_H5_CLOSE(space, type, attribute);
  return good;
}

static int read_number(hid_t of, const char *name, long *number)
{
  int64_t value = -1;
  const hid_t attribute = H5Aopen(of, name, H5P_DEFAULT);
  if (attribute < 0) return 0;
  const hid_t space = H5Aget_space(attribute);
  const int good = H5Sget_simple_extent_npoints(space) == 1 &&
                   H5Aread(attribute, H5T_NATIVE_INT64, &value) >= 0 && value >= 0;
  POLI_H5_CLOSE(space, attribute);
  *number = (long)value;
  return good;
}

/* Opens a file and compares its format; negative if it is none of a study. */
static hid_t open_file(const char *path)
{
  char format[64];
  hid_t id = H5Fis_hdf5(path) > 0 ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
  if (id < 0) return id;
  if (read_attribute(id, "format", format, sizeof format) && strcmp(format, POLI_SWEEP_FORMAT) == 0)
    return id;
  H5Fclose(id);
  return -1;
}

int pol_sweep_is_file(const char *path)
{
  poli_h5_lock();
  const hid_t id = open_file(path);
  if (id >= 0) H5Fclose(id);
  poli_h5_unlock();
  return id >= 0;
}

pol_status poli_sweep_file_identity(const char *path, uint64_t *identity, long *pending,
                                    long *failed)
{
  char text[64];
  long runs, finished;
  poli_h5_lock();
  const hid_t id = open_file(path);
  const int good = id >= 0 && read_attribute(id, "identity", text, sizeof text) &&
                   read_number(id, "runs", &runs) && read_number(id, "finished", &finished) &&
                   read_number(id, "failed", failed);
  if (id >= 0) H5Fclose(id);
  poli_h5_unlock();
  if (!good) return POL_BAD_ARGUMENT;
  *identity = strtoull(text, NULL, 16);
  *pending = runs - finished;
  return POL_OK;
}

/* --- columns ---------------------------------------------------------------------------------- */

typedef struct reading {
  pol_sweep_table *table;
  pol_sweep_role role;
  pol_status status;
} reading;

/* Values of a dataset of one text per item, which the caller frees; *width is that of a text with
 * its end. */
static pol_status read_texts(hid_t set, hid_t type, size_t items, char **texts, size_t *width)
{
  const size_t size = H5Tget_size(type);
  *texts = NULL;
  if (H5Tis_variable_str(type) || size == 0 || size > 100000) return POL_IO;
  *width = size + 1;
  *texts = calloc(items > 0 ? items : 1, *width);
  if (!*texts) return POL_NO_MEMORY;
  const hid_t memory = poli_h5_text_type(*width);
  const int good = H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *texts) >= 0;
  for (size_t i = 0; i < items; i++) (*texts)[(i + 1) * *width - 1] = '\0';
  POLI_H5_CLOSE(memory);
  return good ? POL_OK : POL_IO;
}

/* Adds a dataset of the group as a column. */
static herr_t add_column(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
  reading *r = user;
  pol_sweep_table *table = r->table;
  const size_t runs = (size_t)table->runs;
  char unit[256], scale[64];
  (void)info;
  pol_sweep_column *longer =
      realloc(table->columns, ((size_t)table->num_columns + 1) * sizeof *longer);
  if (!longer) {
    r->status = POL_NO_MEMORY;
    return -1;
  }
  table->columns = longer;
  pol_sweep_column *c = &longer[table->num_columns];
  *c = (pol_sweep_column){.role = r->role};
  const hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
  if (set < 0) return -1;
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  if (H5Sget_simple_extent_npoints(space) == (hssize_t)table->runs) {
    table->num_columns++;
    read_attribute(set, "unit", unit, sizeof unit);
    c->is_log = read_attribute(set, "scale", scale, sizeof scale) && strcmp(scale, "log") == 0;
    c->name = poli_format("%s", name);
    c->unit = poli_format("%s", unit);
    if (!c->name || !c->unit) r->status = POL_NO_MEMORY;
    if (H5Tget_class(type) == H5T_STRING) {
      char *texts;
      const pol_status status = read_texts(set, type, runs, &texts, &c->width);
      c->texts = texts;
      if (r->status == POL_OK) r->status = status;
    } else {
      double *numbers = calloc(runs > 0 ? runs : 1, sizeof *numbers);
      c->numbers = numbers;
      if (!numbers)
        r->status = POL_NO_MEMORY;
      else if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0)
        r->status = POL_IO;
    }
  } else {
    r->status = POL_IO;
  }
  POLI_H5_CLOSE(space, type, set);
  return r->status == POL_OK ? 0 : -1;
}

static pol_status read_group(hid_t id, const char *name, pol_sweep_table *table,
                             pol_sweep_role role)
{
  reading r = {.table = table, .role = role, .status = POL_OK};
  const hid_t group = H5Gopen2(id, name, H5P_DEFAULT);
  if (group < 0) return POL_IO;
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, add_column, &r) < 0 &&
      r.status == POL_OK)
    r.status = POL_IO;
  POLI_H5_CLOSE(group);
  return r.status;
}

/* A scalar text of any length, which the caller frees. */
static pol_status read_text(hid_t id, const char *name, char **text)
{
  pol_status status = POL_IO;
  const hid_t set = H5Dopen2(id, name, H5P_DEFAULT);
  if (set < 0) return status;
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  if (H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) &&
      H5Sget_simple_extent_npoints(space) == 1) {
    *text = calloc(H5Tget_size(type) + 1, 1);
    status = *text ? POL_OK : POL_NO_MEMORY;
  }
  if (*text && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *text) < 0) status = POL_IO;
  POLI_H5_CLOSE(space, type, set);
  return status;
}

/* Names of the signals, and the number of their rows; a study need not have any. */
static pol_status read_signals(hid_t id, pol_sweep_table *table)
{
  pol_status status = POL_OK;
  if (H5Lexists(id, "signals", H5P_DEFAULT) <= 0) return POL_OK;
  const hid_t names = H5Dopen2(id, "signals/names", H5P_DEFAULT);
  const hid_t values = H5Dopen2(id, "signals/values", H5P_DEFAULT);
  if (names >= 0 && values >= 0) {
    const hid_t type = H5Dget_type(names), space = H5Dget_space(names);
    const hid_t shape = H5Dget_space(values);
    hsize_t size[2] = {0, 0};
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    size_t width = 0;
    if (count > 0 && count < 1000000 && H5Tget_class(type) == H5T_STRING &&
        H5Sget_simple_extent_ndims(shape) == 2) {
      H5Sget_simple_extent_dims(shape, size, NULL);
      char *texts;
      status = read_texts(names, type, (size_t)count, &texts, &width);
      table->signals = calloc((size_t)count, sizeof *table->signals);
      if (!table->signals) status = POL_NO_MEMORY;
      for (int i = 0; i < (int)count && status == POL_OK; i++) {
        table->signals[i] = poli_format("%s", texts + (size_t)i * width);
        table->num_signals = i + 1;
        if (!table->signals[i]) status = POL_NO_MEMORY;
      }
      free(texts);
    } else {
      status = POL_IO;
    }
    table->rows = (long)size[0];
    POLI_H5_CLOSE(shape, space, type);
  } else {
    status = POL_IO;
  }
  if (names >= 0) POLI_H5_CLOSE(names);
  if (values >= 0) POLI_H5_CLOSE(values);
  return status;
}

static pol_status read_file(hid_t id, pol_sweep_table *table)
{
  char text[512];
  if (!read_number(id, "runs", &table->runs) || !read_number(id, "finished", &table->finished) ||
      !read_number(id, "failed", &table->failed) || table->runs > POLI_SWEEP_MOST_RUNS)
    return POL_IO;
  read_attribute(id, "version", text, sizeof text);
  table->version = poli_format("%s", text);
  read_attribute(id, "name", text, sizeof text);
  table->name = poli_format("%s", text);
  read_attribute(id, "sample", text, sizeof text);
  table->sample = poli_format("%s", text);
  if (!table->version || !table->name || !table->sample) return POL_NO_MEMORY;
  pol_status status = read_text(id, "study", &table->study);
  if (status == POL_OK) status = read_text(id, "model", &table->model);
  if (status == POL_OK) status = read_group(id, "parameters", table, POL_COLUMN_KEY);
  if (status == POL_OK) status = read_group(id, "responses", table, POL_COLUMN_RESPONSE);
  if (status == POL_OK) status = read_group(id, "runs", table, POL_COLUMN_RUN);
  if (status == POL_OK) status = read_signals(id, table);
  if (status == POL_OK && !pol_sweep_find_column(table, "status")) status = POL_IO;
  return status;
}

pol_status pol_sweep_table_read(pol_sweep_table **result, const char *path, char *message,
                                size_t size)
{
  pol_status status = POL_BAD_ARGUMENT;
  *result = NULL;
  pol_sweep_table *table = calloc(1, sizeof *table);
  if (!table) return POL_NO_MEMORY;
  poli_h5_lock();
  const hid_t id = open_file(path);
  if (id >= 0) status = read_file(id, table);
  if (id >= 0) H5Fclose(id);
  poli_h5_unlock();
  if (status == POL_OK) {
    *result = table;
    return POL_OK;
  }
  pol_sweep_table_free(&table);
  if (message)
    snprintf(message, size, "%s",
             status == POL_NO_MEMORY      ? pol_status_text(status)
             : status == POL_BAD_ARGUMENT ? "is not the file of a study"
                                          : "the file of the study is damaged");
  return status;
}

void pol_sweep_table_free(pol_sweep_table **pointer)
{
  pol_sweep_table *table = *pointer;
  if (!table) return;
  for (int i = 0; i < table->num_columns; i++) {
    pol_sweep_column *c = &table->columns[i];
    free((char *)(uintptr_t)c->name);
    free((char *)(uintptr_t)c->unit);
    free((double *)(uintptr_t)c->numbers);
    free((char *)(uintptr_t)c->texts);
  }
  for (int i = 0; i < table->num_signals; i++) free(table->signals[i]);
  free(table->columns);
  free(table->signals);
  free(table->version);
  free(table->name);
  free(table->sample);
  free(table->study);
  free(table->model);
  free(table);
  *pointer = NULL;
}

const pol_sweep_column *pol_sweep_find_column(const pol_sweep_table *table, const char *name)
{
  for (int i = 0; i < table->num_columns; i++)
    if (strcmp(table->columns[i].name, name) == 0) return &table->columns[i];
  return NULL;
}
