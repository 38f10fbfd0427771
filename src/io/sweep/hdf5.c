/* The HDF5 file of a study; docs/studies.md describes it.
 *
 *     /study, /model           the texts
 *     /parameters/KEY          [runs] numbers or texts
 *     /responses/NAME          [runs] numbers, NaN where the run is not done
 *     /runs/status, t, ...     [runs]
 *     /signals/values          [rows of all runs x signals], first, count [runs], names, units
 *
 * Two passes through the outcomes: the first one measures texts and rows, the second writes blocks
 * of runs.  No times of creation are kept, so that equal studies give equal bytes. */
#include <hdf5.h>

#include "io/sweep/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/result/hdf5.h"

enum { BLOCK = 1024, NUM_RUN_COLUMNS = 9, KEY_TEXT = 256 };

/* A column of the table of runs. */
typedef struct column {
  hid_t set, type;
  size_t width; /* bytes of a text; 0: a number */
  char *block;  /* values of a block of runs */
} column;

typedef struct file {
  const pol_sweep *sweep;
  const poli_outcomes *outcomes;
  hid_t id, links; /* the file, and the order of links */
  int num_columns;
  column *columns;
  hid_t signals, first, count; /* datasets */
  int64_t *place, *rows;       /* of a block */
  /* from the first pass */
  size_t where, message;
  int64_t total;
  long finished, failed;
  int good; /* all calls have succeeded */
} file;

static const char *const run_columns[NUM_RUN_COLUMNS] = {"status",
                                                         "t",
                                                         "steps",
                                                         "rejected",
                                                         "newton_iterations",
                                                         "max_energy_drift",
                                                         "max_position_residual",
                                                         "where",
                                                         "message"};
static const char *const run_units[NUM_RUN_COLUMNS] = {"",  "s",     "1", "1", "1",
                                                       "J", "mixed", "",  ""};

/* --- small calls ------------------------------------------------------------------------------ */

static void add_attribute(file *f, hid_t to, const char *name, const char *text)
{
  const hid_t type = poli_h5_text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  f->good &= attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
  POLI_H5_CLOSE(attribute, space, type);
}

static void add_number(file *f, hid_t to, const char *name, int64_t number)
{
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(to, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  f->good &= attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, &number) >= 0;
  POLI_H5_CLOSE(attribute, space);
}

/* A dataset of so many rows and columns (0: none), in chunks of `chunk` rows if that is not 0. */
static hid_t add_set(file *f, hid_t to, const char *name, hid_t type, hsize_t rows, hsize_t columns,
                     hsize_t chunk)
{
  const hsize_t size[2] = {rows, columns}, part[2] = {chunk, columns};
  const int rank = columns > 0 ? 2 : 1;
  const hid_t space = H5Screate_simple(rank, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, 0);
  if (chunk > 0) f->good &= H5Pset_chunk(how, rank, part) >= 0;
  if (chunk > 0) f->good &= H5Pset_shuffle(how) >= 0 && H5Pset_deflate(how, 4) >= 0;
  const hid_t set = H5Dcreate2(to, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  f->good &= set >= 0;
  POLI_H5_CLOSE(how, space);
  return set;
}

static hid_t add_group(file *f, const char *name)
{
  const hid_t group = H5Gcreate2(f->id, name, H5P_DEFAULT, f->links, H5P_DEFAULT);
  f->good &= group >= 0;
  return group;
}

/* A text of any length. */
static void add_text(file *f, const char *name, const char *text)
{
  const hid_t type = poli_h5_text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR);
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, 0);
  const hid_t set = H5Dcreate2(f->id, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  f->good &= set >= 0 && poli_h5_write(set, type, text);
  POLI_H5_CLOSE(set, how, space, type);
}

/* Writes rows from `first` on. */
static void write_rows(file *f, hid_t set, hid_t type, hsize_t first, hsize_t count,
                       hsize_t columns, const void *values)
{
  const hsize_t start[2] = {first, 0}, size[2] = {count, columns};
  if (count == 0) return;
  const hid_t space = H5Dget_space(set);
  const hid_t memory = H5Screate_simple(columns > 0 ? 2 : 1, size, NULL);
  f->good &= H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
             H5Dwrite(set, type, memory, space, H5P_DEFAULT, values) >= 0;
  POLI_H5_CLOSE(memory, space);
}

/* --- passes ----------------------------------------------------------------------------------- */

/* An outcome; *there 0: the run is pending. */
static pol_status open_outcome(const file *f, long run, poli_outcome_view *view, int *there)
{
  const void *bytes;
  size_t size;
  const pol_status status = f->outcomes->read(f->outcomes->user, run, &bytes, &size);
  *there = status == POL_OK && size > 0 && poli_outcome_open(f->sweep, bytes, size, view);
  return status;
}

static pol_status measure(file *f)
{
  pol_status status = POL_OK;
  for (long run = 0; run < f->sweep->count && status == POL_OK; run++) {
    poli_outcome_view view;
    int there;
    status = open_outcome(f, run, &view, &there);
    if (!there) continue;
    f->finished++;
    f->failed += view.head.end != POL_SWEEP_DONE;
    f->total += view.head.rows;
    if (view.head.where > f->where) f->where = view.head.where;
    if (view.head.message > f->message) f->message = view.head.message;
  }
  return status;
}

static void put_number(column *c, size_t row, double value)
{
  memcpy(c->block + row * sizeof value, &value, sizeof value);
}

static void put_text(column *c, size_t row, const void *text, size_t length)
{
  memset(c->block + row * c->width, 0, c->width);
  memcpy(c->block + row * c->width, text, length < c->width ? length : c->width - 1);
}

/* The values of a run in all columns. */
static void put_run(file *f, long run, size_t row, const poli_outcome_view *view, int there)
{
  const pol_sweep *s = f->sweep;
  const poli_outcome none = {.t = (double)NAN};
  const poli_outcome *head = there ? &view->head : &none;
  const char *end = pol_sweep_end_name((pol_sweep_end)head->end);
  column *c = f->columns;
  for (int i = 0; i < s->num_keys; i++, c++) {
    char text[KEY_TEXT];
    pol_sweep_text(s, run, i, text, sizeof text);
    if (c->width > 0)
      put_text(c, row, text, strlen(text));
    else
      put_number(c, row, pol_sweep_number(s, run, i));
  }
  for (int i = 0; i < s->num_responses; i++, c++) {
    double value = (double)NAN;
    if (there) memcpy(&value, view->responses + (size_t)i * sizeof value, sizeof value);
    put_number(c, row, value);
  }
  put_text(c++, row, end, strlen(end));
  put_number(c++, row, head->t);
  put_number(c++, row, (double)head->steps);
  put_number(c++, row, (double)head->rejected);
  put_number(c++, row, (double)head->newton_iterations);
  put_number(c++, row, head->max_energy_drift);
  put_number(c++, row, head->max_position_residual);
  put_text(c++, row, there ? (const char *)view->where : "", head->where);
  put_text(c++, row, there ? (const char *)view->message : "", head->message);
}

/* All columns and signals, block by block. */
static pol_status write_blocks(file *f)
{
  const long runs = f->sweep->count;
  const size_t width = (size_t)f->sweep->num_signals;
  int64_t place = 0;
  pol_status status = POL_OK;
  for (long first = 0; first < runs && status == POL_OK && f->good; first += BLOCK) {
    const size_t count = (size_t)(runs - first < BLOCK ? runs - first : BLOCK);
    for (size_t i = 0; i < count && status == POL_OK; i++) {
      poli_outcome_view view;
      int there;
      status = open_outcome(f, first + (long)i, &view, &there);
      if (status != POL_OK) break;
      put_run(f, first + (long)i, i, &view, there);
      f->place[i] = place;
      f->rows[i] = there && width > 0 ? view.head.rows : 0;
      if (f->rows[i] > 0)
        write_rows(f, f->signals, H5T_NATIVE_DOUBLE, (hsize_t)place, (hsize_t)f->rows[i], width,
                   view.rows);
      place += f->rows[i];
    }
    for (int k = 0; k < f->num_columns && status == POL_OK; k++)
      write_rows(f, f->columns[k].set, f->columns[k].type, (hsize_t)first, count, 0,
                 f->columns[k].block);
    if (width > 0 && status == POL_OK) {
      write_rows(f, f->first, H5T_NATIVE_INT64, (hsize_t)first, count, 0, f->place);
      write_rows(f, f->count, H5T_NATIVE_INT64, (hsize_t)first, count, 0, f->rows);
    }
  }
  return status;
}

/* --- the file --------------------------------------------------------------------------------- */

/* A column of numbers, or of texts of this width. */
static pol_status add_column(file *f, hid_t group, const char *name, const char *unit, size_t width)
{
  column *c = &f->columns[f->num_columns];
  const hsize_t runs = (hsize_t)f->sweep->count;
  c->width = width;
  c->block = calloc(BLOCK, width > 0 ? width : sizeof(double));
  if (!c->block) return POL_NO_MEMORY;
  f->num_columns++;
  c->type = width > 0 ? poli_h5_text_type(width) : H5Tcopy(H5T_NATIVE_DOUBLE);
  const hid_t stored = width > 0 ? H5Tcopy(c->type) : H5Tcopy(H5T_IEEE_F64LE);
  c->set = add_set(f, group, name, stored, runs, 0, width > 0 ? runs < BLOCK ? runs : BLOCK : 0);
  if (c->set >= 0) add_attribute(f, c->set, "unit", unit);
  POLI_H5_CLOSE(stored);
  return POL_OK;
}

static pol_status add_columns(file *f)
{
  const pol_sweep *s = f->sweep;
  pol_status status = POL_OK;
  f->columns =
      calloc((size_t)(s->num_keys + s->num_responses + NUM_RUN_COLUMNS), sizeof *f->columns);
  if (!f->columns) return POL_NO_MEMORY;
  const hid_t keys = add_group(f, "parameters"), responses = add_group(f, "responses"),
              runs = add_group(f, "runs");
  for (int i = 0; i < s->num_keys && status == POL_OK; i++) {
    const poli_sweep_key *k = &s->keys[i];
    size_t width = 0;
    for (long v = 0; k->texts && v < k->count; v++)
      if (strlen(k->texts[v]) + 1 > width) width = strlen(k->texts[v]) + 1;
    if (width > KEY_TEXT) width = KEY_TEXT;
    status = add_column(f, keys, k->key.name, k->key.unit, width);
    if (status == POL_OK && f->good)
      add_attribute(f, f->columns[f->num_columns - 1].set, "scale",
                    k->key.is_log ? "log" : "linear");
  }
  for (int i = 0; i < s->num_responses && status == POL_OK; i++) {
    const pol_sweep_response *r = &s->responses[i];
    status = add_column(f, responses, r->name, r->unit, 0);
    if (status != POL_OK || !f->good) continue;
    add_attribute(f, f->columns[f->num_columns - 1].set, "signal", r->signal);
    add_attribute(f, f->columns[f->num_columns - 1].set, "reduce",
                  pol_reduction_name(r->reduction));
  }
  for (int i = 0; i < NUM_RUN_COLUMNS && status == POL_OK; i++) {
    const size_t width = i == 0                     ? 8
                         : i == NUM_RUN_COLUMNS - 2 ? f->where + 1
                         : i == NUM_RUN_COLUMNS - 1 ? f->message + 1
                                                    : 0;
    status = add_column(f, runs, run_columns[i], run_units[i], width);
  }
  POLI_H5_CLOSE(runs, responses, keys);
  return status;
}

/* Names or units of the signals. */
static pol_status add_signal_texts(file *f, hid_t group, const char *name, int units)
{
  const pol_sweep *s = f->sweep;
  size_t width = 1;
  for (int i = 0; i < s->num_signals; i++) {
    const size_t length = strlen(units ? s->signals[i].unit : s->signals[i].name) + 1;
    if (length > width) width = length;
  }
  const size_t count = s->num_signals > 0 ? (size_t)s->num_signals : 0;
  char *texts = calloc(count + 1, width);
  if (!texts) return POL_NO_MEMORY;
  for (int i = 0; i < s->num_signals; i++)
    snprintf(texts + (size_t)i * width, width, "%s",
             units ? s->signals[i].unit : s->signals[i].name);
  const hid_t type = poli_h5_text_type(width);
  const hid_t set = add_set(f, group, name, type, (hsize_t)s->num_signals, 0, 0);
  f->good &= set >= 0 && poli_h5_write(set, type, texts);
  POLI_H5_CLOSE(set, type);
  free(texts);
  return POL_OK;
}

static pol_status add_signals(file *f)
{
  const hsize_t width = (hsize_t)f->sweep->num_signals, runs = (hsize_t)f->sweep->count;
  const hsize_t rows = (hsize_t)f->total;
  f->place = calloc(BLOCK, sizeof *f->place);
  f->rows = calloc(BLOCK, sizeof *f->rows);
  if (!f->place || !f->rows) return POL_NO_MEMORY;
  if (width == 0) return POL_OK;
  const hid_t group = add_group(f, "signals");
  const hsize_t chunk = 16384 / width + 1;
  f->signals = add_set(f, group, "values", H5T_IEEE_F64LE, rows, width,
                       rows == 0      ? 0
                       : rows < chunk ? rows
                                      : chunk);
  f->first = add_set(f, group, "first", H5T_STD_I64LE, runs, 0, 0);
  f->count = add_set(f, group, "count", H5T_STD_I64LE, runs, 0, 0);
  pol_status status = add_signal_texts(f, group, "names", 0);
  if (status == POL_OK) status = add_signal_texts(f, group, "units", 1);
  POLI_H5_CLOSE(group);
  return status;
}

static pol_status write_all(file *f)
{
  const pol_sweep *s = f->sweep;
  char identity[32];
  snprintf(identity, sizeof identity, "%016llx", (unsigned long long)s->identity);
  add_attribute(f, f->id, "format", POLI_SWEEP_FORMAT);
  add_attribute(f, f->id, "version", pol_version());
  add_attribute(f, f->id, "name", s->name);
  add_attribute(f, f->id, "sample", pol_sweep_sample_name(s->sample));
  add_attribute(f, f->id, "identity", identity);
  add_number(f, f->id, "runs", s->count);
  add_number(f, f->id, "finished", f->finished);
  add_number(f, f->id, "failed", f->failed);
  add_text(f, "study", s->study);
  add_text(f, "model", s->model);
  pol_status status = f->good ? add_columns(f) : POL_IO;
  if (status == POL_OK && f->good) status = add_signals(f);
  if (status == POL_OK && f->good) status = write_blocks(f);
  return status;
}

pol_status poli_sweep_write_hdf5(const pol_sweep *sweep, const char *path,
                                 const poli_outcomes *outcomes)
{
  file f = {
      .sweep = sweep, .outcomes = outcomes, .good = 1, .signals = -1, .first = -1, .count = -1};
  pol_status status = measure(&f);
  if (status != POL_OK) return status;
  poli_h5_lock();
  f.links = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_link_creation_order(f.links, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  f.id = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (f.id < 0) status = POL_IO;
  if (status == POL_OK) status = write_all(&f);
  for (int i = 0; i < f.num_columns; i++) {
    POLI_H5_CLOSE(f.columns[i].set, f.columns[i].type);
    free(f.columns[i].block);
  }
  const hid_t sets[] = {f.signals, f.first, f.count};
  for (int i = 0; i < 3; i++)
    if (sets[i] >= 0) POLI_H5_CLOSE(sets[i]);
  POLI_H5_CLOSE(f.links);
  if (f.id >= 0 && H5Fclose(f.id) < 0) f.good = 0;
  poli_h5_unlock();
  free(f.columns);
  free(f.place);
  free(f.rows);
  return status == POL_OK && !f.good ? POL_IO : status;
}
