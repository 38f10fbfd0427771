/* HDF5 results whose structure is wrong: valid HDF5, but with other types, ranks and sizes than a
 * result has.  Each is refused, or its numbers are; nothing is written beyond what was reserved
 * (which the sanitizers check), and no file makes the reader reserve more than it could hold.
 */
#include "check.h"

#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/polhode.h>
#include <polhode/result.h>

#include "../simulation/heavy_top.h"
#include "io/result/hdf5.h"

static const char path[] = "test_damaged.h5";

enum { ROWS = 20 };

/* A good result. */
static void simulate_good(void)
{
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *hdf5;
  const pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  const char *overrides[] = {"simulation.end=1"};
  const pol_result_info about = {
      .name = "top", .model = "{}", .num_overrides = 1, .overrides = (char **)overrides};
  pol_event_rule rule = {.name = "tick", .expression = "sin(1000*t)"};
  settings.events = &rule;
  settings.num_events = 1;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_int_equal(pol_writer_create(&hdf5, path, POL_HDF5, record, &about, 0), POL_OK);
  for (int i = 0; i < ROWS; i++) {
    assert_int_equal(pol_writer_write(hdf5), POL_OK);
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
  }
  assert_int_equal(pol_writer_close(&hdf5, "done", NULL), POL_OK);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* The same again, from memory. */
static void write_good(void)
{
  static char bytes[1 << 20];
  static size_t size = 0;
  if (size == 0) {
    simulate_good();
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    size = fread(bytes, 1, sizeof bytes, from);
    assert_true(size < sizeof bytes);
    fclose(from);
  }
  FILE *to = fopen(path, "wb");
  assert_non_null(to);
  assert_int_equal(fwrite(bytes, 1, size, to), size);
  assert_int_equal(fclose(to), 0);
}

/* Puts another dataset in the place of one: of this type and these dimensions, chunked and without
 * storage, or, if `filled`, with all bytes 1. */
static void replace(const char *name, hid_t type, int rank, const hsize_t *size, int filled)
{
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0);
  assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  hsize_t chunk[4] = {16, 1, 1, 1}, total = 1;
  const hid_t space = rank > 0 ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR);
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  for (int i = 0; i < rank; i++) total *= size[i];
  for (int i = 0; i < rank; i++)
    if (chunk[i] > size[i]) chunk[i] = size[i];
  if (rank > 0 && !filled) H5Pset_chunk(plist, rank, chunk);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  assert_true(set >= 0);
  if (filled) {
    const size_t bytes = (size_t)total * H5Tget_size(type);
    char *ones = malloc(bytes);
    assert_non_null(ones);
    memset(ones, 1, bytes);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones) >= 0);
    free(ones);
  }
  H5Dclose(set);
  H5Pclose(plist);
  H5Sclose(space);
  assert_true(H5Fclose(file) >= 0);
}

/* Opens the file and reads what it gives.  Whether all of it could be read. */
static int read_everything(void)
{
  char message[300] = "?";
  pol_result *r;
  pol_status status = pol_result_open(&r, path, message, sizeof message);
  if (status != POL_OK) {
    assert_true(status == POL_BAD_ARGUMENT || status == POL_IO || status == POL_NO_MEMORY);
    assert_null(r);
    assert_true(strlen(message) > 10);
    return 0;
  }
  double *values = malloc(((size_t)pol_result_rows(r) + 1) * sizeof *values);
  assert_non_null(values);
  for (int i = 0; i < pol_result_count(r) && status == POL_OK; i++) {
    const pol_channel *c = pol_result_channel(r, i);
    assert_true(strlen(c->name) + strlen(c->unit) + strlen(c->owner) + strlen(c->quantity) <
                200000);
    status = pol_result_series(r, i, values);
  }
  for (long i = 0; i < pol_result_num_events(r); i++) {
    const pol_result_event *event = pol_result_get_event(r, i);
    assert_true(strlen(event->name) < 100000 && strlen(event->action) < 8);
    assert_true(event->row >= 0 && event->row < pol_result_rows(r));
  }
  free(values);
  pol_result_close(&r);
  return status == POL_OK;
}

static hid_t text_type(size_t size)
{
  return poli_h5_text_type(size);
}

/* Every dataset of the structure, with every wrong type and shape. */
static void wrong_types_and_shapes(void **state)
{
  (void)state;
  static const char *const names[] = {
      POLI_H5_ROWS,           POLI_H5_STATUS,       POLI_H5_FAILURE,
      POLI_H5_MODEL,          POLI_H5_OVERRIDES,    POLI_H5_EVENTS,
      POLI_H5_DATASETS,       POLI_H5_ORDER,        "/time",
      "/energy/kinetic",      "/momentum/linear",   "/bodies/names",
      "/bodies/position",     "/multipliers/names", "/multipliers/units",
      "/multipliers/objects", "/multipliers/value"};
  static const struct {
    int rank, filled;
    hsize_t size[4];
  } shapes[] = {{0, 1, {0}},          {1, 1, {1}},
                {1, 1, {5000}},       {2, 1, {50, 3}},
                {3, 1, {50, 3, 2}},   {4, 0, {50, 3, 2, 2}},
                {1, 0, {1ull << 40}}, {2, 0, {1ull << 30, 1ull << 30}}};
  enum { NUM_TYPES = 6 };
  const hid_t variable = H5Tcopy(H5T_C_S1);
  H5Tset_size(variable, H5T_VARIABLE);
  const hid_t types[NUM_TYPES] = {H5T_STD_I64LE, H5T_IEEE_F64LE,     H5T_STD_U8LE,
                                  text_type(3),  text_type(1 << 16), variable};
  int refused = 0, read = 0;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
    for (int t = 0; t < NUM_TYPES; t++)
      for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        if (shapes[s].filled && (types[t] == variable || (t == 4 && s > 1))) continue;
        write_good();
        replace(names[n], types[t], shapes[s].rank, shapes[s].size, shapes[s].filled);
        if (read_everything())
          read++;
        else
          refused++;
      }
  H5Tclose(variable);
  H5Tclose(types[3]);
  H5Tclose(types[4]);
  print_message("%d refused, %d read\n", refused, read);
  assert_true(refused > 250 && read > 20);
  remove(path);
}

/* Writes one number as /run/rows. */
static void set_rows(long long rows)
{
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, POLI_H5_ROWS, H5P_DEFAULT);
  assert_true(H5Dwrite(set, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &rows) >= 0);
  H5Dclose(set);
  H5Fclose(file);
}

static void wrong_numbers_of_rows(void **state)
{
  (void)state;
  static const long long rows[] = {
      -1, 21, 1000000, 1ll << 31, 1ll << 32, 1ll << 60, (1ll << 61) + 1, INT64_MAX, INT64_MIN};
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    write_good();
    set_rows(rows[i]);
    assert_false(read_everything());
  }
  write_good();
  set_rows(19);
  assert_true(read_everything());
  remove(path);
}

/* A group in the place of a dataset of texts: the result is refused, not read without them. */
static void groups_in_place_of_texts(void **state)
{
  (void)state;
  static const char *const names[] = {POLI_H5_STATUS, POLI_H5_MODEL, POLI_H5_OVERRIDES};
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    write_good();
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, names[i], H5P_DEFAULT) >= 0);
    H5Gclose(H5Gcreate2(file, names[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    assert_false(read_everything());
  }
  remove(path);
}

/* Writes the order of the channels. */
static void set_order(int count, const int *order)
{
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, POLI_H5_ORDER, H5P_DEFAULT), space = H5Dget_space(set);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, order) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
}

/* A channel in another place, one twice, and ones that are nowhere.  A name that is there twice
 * would mean either, and an export would have more numbers than channels. */
static void wrong_orders(void **state)
{
  (void)state;
  static const int places[] = {-1, 1000000, INT_MAX, INT_MIN};
  char message[300];
  pol_result *r;
  write_good();
  assert_int_equal(pol_result_open(&r, path, NULL, 0), POL_OK);
  const int count = pol_result_count(r);
  int order[200];
  pol_result_close(&r);
  assert_in_range(count, 10, 200);
  for (int i = 0; i < count; i++) order[i] = count - 1 - i;
  set_order(count, order);
  assert_true(read_everything());
  for (int i = 0; i < 4; i++) {
    write_good();
    order[3] = places[i];
    set_order(count, order);
    assert_false(read_everything());
  }
  order[3] = order[2];
  set_order(count, order);
  assert_int_equal(pol_result_open(&r, path, message, sizeof message), POL_BAD_ARGUMENT);
  assert_memory_equal(message, "two channels have the same name: ", 33);
  remove(path);
}

/* Puts another attribute in the place of one, without a value. */
static void replace_attribute(const char *object, const char *name, hid_t type, hid_t space)
{
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t place = H5Oopen(file, object, H5P_DEFAULT);
  assert_true(H5Adelete(place, name) >= 0);
  H5Aclose(H5Acreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  H5Oclose(place);
  H5Fclose(file);
}

/* An attribute that is no text, or of another shape. */
static void wrong_attributes(void **state)
{
  (void)state;
  static const struct {
    const char *object, *name;
  } attributes[] = {{"/", "format"},
                    {"/", "version"},
                    {"/", "model_name"},
                    {"/time", "units"},
                    {"/momentum/linear", "axes"},
                    {"/bodies/position", "units"},
                    {"/bodies/position", "axes"}};
  const hsize_t size[2] = {7, 3};
  int refused = 0;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (size_t n = 0; n < sizeof attributes / sizeof attributes[0]; n++)
    for (int t = 0; t < 3; t++) {
      write_good();
      const hid_t type = t == 0 ? H5Tcopy(H5T_STD_I32LE) : H5Tcopy(H5T_C_S1);
      if (t == 1) H5Tset_size(type, H5T_VARIABLE);
      const hid_t space = H5Screate_simple(2, size, NULL);
      replace_attribute(attributes[n].object, attributes[n].name, type, space);
      H5Sclose(space);
      H5Tclose(type);
      refused += !read_everything();
    }
  assert_true(refused >= 16);
  remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_types_and_shapes),   cmocka_unit_test(wrong_numbers_of_rows),
      cmocka_unit_test(groups_in_place_of_texts), cmocka_unit_test(wrong_orders),
      cmocka_unit_test(wrong_attributes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
