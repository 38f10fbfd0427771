/* Makes the n-th allocation fail, and counts what is still allocated.
 *
 * For tests named test_*_alloc.c: the linker replaces malloc, calloc, realloc and free of the test
 * and of the library by the functions __wrap_... below (-Wl,--wrap=malloc and so on), and
 * alloc_install() makes SuiteSparse use them too.  Another library that takes allocation functions
 * can be given __wrap_malloc and __wrap_free in the same way.
 *
 *     cmocka_run_group_tests(tests, alloc_install, NULL);
 *     alloc_exhaust(attempt, &data);   attempt() must free all it made and return the status
 */
#ifndef POLHODE_TESTS_FAILING_ALLOC_H
#define POLHODE_TESTS_FAILING_ALLOC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <polhode/status.h>

#include <SuiteSparse_config.h>
#include <malloc.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *memory);

/* volatile: compilers take it for granted that malloc() changes no variable of the program. */
static volatile struct {
  long count;   /* allocations since alloc_fail_at() */
  long fail_at; /* the number of the one that fails, from 1; 0 for none */
  long live;    /* allocations not freed yet */
  long bytes;   /* in these */
} alloc_state;

/* Counts an allocation; returns whether it has to fail. */
static inline int alloc_must_fail(void)
{
  alloc_state.count++;
  return alloc_state.count == alloc_state.fail_at;
}

void *__wrap_malloc(size_t size)
{
  void *memory = alloc_must_fail() ? NULL : __real_malloc(size);
  if (memory) alloc_state.live++;
  alloc_state.bytes += (long)malloc_usable_size(memory);
  return memory;
}

void *__wrap_calloc(size_t count, size_t size)
{
  void *memory = alloc_must_fail() ? NULL : __real_calloc(count, size);
  if (memory) alloc_state.live++;
  alloc_state.bytes += (long)malloc_usable_size(memory);
  return memory;
}

/* A block that shrinks always finds room; SuiteSparse counts on it. */
void *__wrap_realloc(void *old, size_t size)
{
  const long before = (long)malloc_usable_size(old);
  const int shrinks = old && size <= (size_t)before;
  void *memory = !shrinks && alloc_must_fail() ? NULL : __real_realloc(old, size);
  if (memory && !old) alloc_state.live++;
  if (memory) alloc_state.bytes += (long)malloc_usable_size(memory) - before;
  return memory;
}

void __wrap_free(void *memory)
{
  if (memory) alloc_state.live--;
  alloc_state.bytes -= (long)malloc_usable_size(memory);
  __real_free(memory);
}

/* From here on the n-th allocation fails; 0: none does.  Starts counting anew. */
static inline void alloc_fail_at(long n)
{
  alloc_state.count = 0;
  alloc_state.fail_at = n;
}

/* Allocations since alloc_fail_at(). */
static inline long alloc_count(void)
{
  return alloc_state.count;
}

/* Allocations that have not been freed. */
static inline long alloc_live(void)
{
  return alloc_state.live;
}

/* Their bytes. */
static inline long alloc_bytes(void)
{
  return alloc_state.bytes;
}

/* Call first, or give it to cmocka as set-up of the group.  Fails if the linker was not told to
 * replace all four functions. */
static inline int alloc_install(void **state)
{
  (void)state;
  SuiteSparse_config.malloc_func = __wrap_malloc;
  SuiteSparse_config.calloc_func = __wrap_calloc;
  SuiteSparse_config.realloc_func = __wrap_realloc;
  SuiteSparse_config.free_func = __wrap_free;

  long live = alloc_live();
  void *volatile memory = malloc(1);
  assert_int_equal(alloc_live(), live + 1);
  free(memory);
  assert_int_equal(alloc_live(), live); /* otherwise -Wl,--wrap=free is missing */
  return 0;
}

/* Runs attempt() with its first, second, ... allocation failing, until it succeeds because it needs
 * no more: each failure must give POL_NO_MEMORY and nothing may stay allocated.  Returns the number
 * of allocations that were made to fail. */
static inline long alloc_exhaust(pol_status (*attempt)(void *user), void *user)
{
  for (long n = 1;; n++) {
    long live = alloc_live();
    alloc_fail_at(n);
    pol_status status = attempt(user);
    long count = alloc_count();
    alloc_fail_at(0);
    assert_int_equal(alloc_live(), live);
    if (count < n) {
      assert_int_equal(status, POL_OK);
      return n - 1;
    }
    assert_int_equal(status, POL_NO_MEMORY);
  }
}

#endif
