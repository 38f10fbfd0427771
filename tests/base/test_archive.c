/* Archives: what is saved comes back, the measure is what is written, too few bytes and places
 * outside of a block are refused, and hashes tell data apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/archive.h"

typedef struct object {
  int count;
  double numbers[4], *place;
  int made; /* when it is needed */
} object;

static void archive_object(object *o, poli_archive *archive)
{
  POLI_ARCHIVE(archive, o->count);
  poli_archive_bytes(archive, o->numbers, sizeof o->numbers);
  o->place = poli_archive_place(archive, o->place, o->numbers, sizeof o->numbers);
  o->made = poli_archive_has(archive, o->made);
}

static size_t save(object *o, unsigned char *bytes, size_t room, pol_status *status)
{
  poli_archive archive = {.mode = POLI_ARCHIVE_SAVE, .to = bytes, .size = room};
  archive_object(o, &archive);
  *status = archive.status;
  return archive.used;
}

static pol_status load(object *o, const unsigned char *bytes, size_t size)
{
  poli_archive archive = {.mode = POLI_ARCHIVE_LOAD, .from = bytes, .size = size};
  archive_object(o, &archive);
  return archive.status;
}

static uint64_t hash(object *o)
{
  poli_archive archive = {.mode = POLI_ARCHIVE_HASH};
  archive_object(o, &archive);
  return archive.hash;
}

static void what_is_saved_is_loaded(void **state)
{
  (void)state;
  object a = {.count = 7, .numbers = {1.0, -2.0, 0.1, 1e300}, .made = 1}, b = {0};
  unsigned char bytes[256];
  pol_status status;
  a.place = a.numbers + 3;
  poli_archive measure = {.mode = POLI_ARCHIVE_MEASURE};
  archive_object(&a, &measure);
  const size_t size = save(&a, bytes, sizeof bytes, &status);
  assert_int_equal(status, POL_OK);
  assert_int_equal(size, measure.used);
  assert_int_equal(load(&b, bytes, size), POL_OK);
  assert_int_equal(b.count, 7);
  assert_memory_equal(a.numbers, b.numbers, sizeof a.numbers);
  assert_ptr_equal(b.place, b.numbers + 3); /* into its own block */
  assert_int_equal(b.made, 1);
  b = (object){.place = b.numbers};
  a.place = NULL;
  save(&a, bytes, sizeof bytes, &status);
  assert_int_equal(load(&b, bytes, size), POL_OK);
  assert_null(b.place);

  assert_int_equal(hash(&a), hash(&a));
  const uint64_t before = hash(&a);
  a.numbers[2] = -0.1;
  assert_true(hash(&a) != before);
}

static void wrong_bytes_are_refused(void **state)
{
  (void)state;
  object a = {.count = 7, .made = 0}, b = {0};
  unsigned char bytes[256];
  pol_status status;
  const size_t size = save(&a, bytes, sizeof bytes, &status);
  for (size_t room = 0; room < size; room++) {
    unsigned char copy[256];
    memset(copy, 0xA5, sizeof copy);
    const size_t used = save(&a, copy, room, &status);
    assert_int_equal(status, POL_BAD_ARGUMENT);
    assert_true(used <= room);
    for (size_t i = room; i < sizeof copy; i++) assert_int_equal(copy[i], 0xA5);
    assert_int_equal(load(&b, bytes, room), POL_BAD_ARGUMENT);
  }
  /* a place behind the block, before it, and between two numbers */
  const size_t at = sizeof a.count + sizeof a.numbers;
  static const int64_t wrong[] = {sizeof a.numbers + 8, -2, 4, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    memcpy(bytes + at, &wrong[i], sizeof wrong[i]);
    b = (object){0};
    assert_int_equal(load(&b, bytes, size), POL_BAD_ARGUMENT);
    assert_null(b.place);
  }
  /* what exists here, but was not saved */
  save(&a, bytes, sizeof bytes, &status);
  b = (object){.made = 1};
  assert_int_equal(load(&b, bytes, size), POL_BAD_ARGUMENT);
  const int neither = 2;
  memcpy(bytes + size - sizeof neither, &neither, sizeof neither);
  b = (object){0};
  assert_int_equal(load(&b, bytes, size), POL_BAD_ARGUMENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_saved_is_loaded),
      cmocka_unit_test(wrong_bytes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
