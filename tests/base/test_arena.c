/* The arena: arrays are zeroed, aligned, in order and disjoint; doubles are contiguous. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

typedef struct object {
  void *memory;
  double *x, *y, (*blocks)[9];
  unsigned char *flags;
  int *numbers, *none;
  double **rows;
} object;

static void take_all(poli_arena *arena, object *o)
{
  POLI_TAKE(arena, o->x, 5);
  POLI_TAKE(arena, o->y, 3);
  POLI_TAKE(arena, o->flags, 3);
  POLI_TAKE(arena, o->blocks, 2);
  POLI_TAKE(arena, o->numbers, 7);
  POLI_TAKE(arena, o->none, 0);
  POLI_TAKE(arena, o->rows, 4);
}

static void arrays_are_zeroed_aligned_and_disjoint(void **state)
{
  (void)state;
  object o;
  poli_arena arena = {0};
  take_all(&arena, &o);
  const size_t counted = arena.used;
  assert_true(counted >= 26 * sizeof(double) + 3 + 7 * sizeof(int) + 4 * sizeof(double *));
  assert_null(o.x);
  assert_null(o.rows);
  assert_int_equal(poli_arena_again(&arena), 1);
  take_all(&arena, &o);
  assert_int_equal(poli_arena_again(&arena), 0);
  assert_int_equal(arena.used, counted);

  const unsigned char *first = arena.memory, *end = first + counted;
  for (const unsigned char *byte = first; byte < end; byte++) assert_int_equal(*byte, 0);
  const struct {
    const void *start;
    size_t bytes;
  } arrays[] = {{o.x, 5 * sizeof *o.x},
                {o.y, 3 * sizeof *o.y},
                {o.flags, 3},
                {o.blocks, 2 * sizeof *o.blocks},
                {o.numbers, 7 * sizeof(int)},
                {o.none, 0},
                {o.rows, 4 * sizeof(double *)},
                {end, 0}};
  assert_ptr_equal(arrays[0].start, first);
  for (int i = 0; i < 7; i++) {
    assert_int_equal((uintptr_t)arrays[i].start % sizeof(double), 0);
    const unsigned char *stop = (const unsigned char *)arrays[i].start + arrays[i].bytes;
    assert_true(stop <= (const unsigned char *)arrays[i + 1].start);
  }
  assert_ptr_equal(o.y, o.x + 5);
  free(arena.memory);
}

/* The list is written as a loop, whose condition allocates between the two passes. */
static void the_list_runs_twice(void **state)
{
  (void)state;
  poli_arena arena = {0};
  object o = {0};
  int passes = 0;
  do {
    take_all(&arena, &o);
    passes++;
  } while (poli_arena_again(&arena));
  assert_int_equal(passes, 2);
  assert_ptr_equal(arena.memory, o.x);
  free(arena.memory);
}

/* Sizes that no memory can hold do not wrap around. */
static void too_large_a_total_does_not_wrap(void **state)
{
  (void)state;
  poli_arena arena = {0};
  double *x;
  POLI_TAKE(&arena, x, SIZE_MAX / 4);
  assert_null(x);
  assert_int_equal(arena.used, SIZE_MAX / 2);
  POLI_TAKE(&arena, x, SIZE_MAX / 16 + 1);
  assert_int_equal(arena.used, SIZE_MAX / 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_are_zeroed_aligned_and_disjoint),
      cmocka_unit_test(the_list_runs_twice),
      cmocka_unit_test(too_large_a_total_does_not_wrap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
