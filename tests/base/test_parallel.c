/* Loops over threads: every item once, for any number of threads; loops inside loops and beside
 * each other; after a fork. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/parallel.h"

enum { ITEMS = 1000 };

typedef struct marks {
  int times[ITEMS];
  double value[ITEMS];
} marks;

static void mark(int i, void *user)
{
  marks *m = user;
  m->times[i]++;
  for (int k = 1; k < 50; k++) m->value[i] += 1.0 / (i + k);
}

static void expect_all_once(int threads, int count)
{
  static marks m, serial;
  m = serial = (marks){{0}, {0.0}};
  poli_parallel(threads, count, mark, &m);
  for (int i = 0; i < count; i++) mark(i, &serial);
  assert_memory_equal(&m, &serial, sizeof m);
}

static void every_item_is_done_once(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 5; threads++)
    for (int count = 0; count <= ITEMS; count = 2 * count + 1) expect_all_once(threads, count);
  for (int k = 0; k < 2000; k++) expect_all_once(1 + k % 4, 1 + k % 7);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* the threads fall asleep */
  expect_all_once(3, ITEMS);
  assert_true(poli_threads(0) >= 1);
  assert_int_equal(poli_threads(3), 3);
  assert_int_equal(poli_threads(100000), POLI_MAX_THREADS);
}

static void count_item(int i, void *user)
{
  atomic_int *times = user;
  atomic_fetch_add(&times[i], 1);
}

/* Short and long loops in turn: a thread that is late from one must not take items of the next. */
static void late_threads_take_nothing(void **state)
{
  (void)state;
  enum { LONG = 64, LOOPS = 400000 };
  static atomic_int times[LONG];
  for (int k = 0; k < LOOPS; k++) {
    const int count = k % 2 ? LONG : 3;
    poli_parallel(2, count, count_item, times);
    for (int i = 0; i < LONG; i++) {
      const int expected = i < count, found = atomic_exchange(&times[i], 0);
      if (found != expected)
        fail_msg("loop %d of %d: item %d was done %d times", k, count, i, found);
    }
  }
}

static void mark_range(int first, int end, void *user)
{
  for (int i = first; i < end; i++) mark(i, user);
}

static void ranges_cover_all_items(void **state)
{
  static marks m, serial;
  (void)state;
  for (int threads = 1; threads <= 4; threads++)
    for (int count = 0; count <= ITEMS; count = 3 * count + 1) {
      m = serial = (marks){{0}, {0.0}};
      poli_parallel_ranges(threads, count, mark_range, &m);
      mark_range(0, count, &serial);
      assert_memory_equal(&m, &serial, sizeof m);
    }
}

static void nest(int i, void *user)
{
  static const int count = 10;
  marks *m = user;
  marks own = {{0}, {0.0}};
  poli_parallel(2, count, mark, &own);
  for (int k = 0; k < count; k++) m[0].times[i] += own.times[k];
}

static void loops_may_nest(void **state)
{
  static marks m;
  (void)state;
  m = (marks){{0}, {0.0}};
  poli_parallel(2, 20, nest, &m);
  for (int i = 0; i < 20; i++) assert_int_equal(m.times[i], 10);
}

static void *run_beside(void *user)
{
  for (int k = 0; k < 200; k++) poli_parallel(2, 100, mark, user);
  return NULL;
}

static void loops_may_run_beside_each_other(void **state)
{
  static marks m[2];
  pthread_t other;
  (void)state;
  assert_int_equal(pthread_create(&other, NULL, run_beside, &m[0]), 0);
  run_beside(&m[1]);
  assert_int_equal(pthread_join(other, NULL), 0);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 100; i++) assert_int_equal(m[k].times[i], 200);
}

/* The new process has no threads of the old one, and ends nevertheless. */
static void a_fork_starts_its_own(void **state)
{
  int status = -1;
  (void)state;
  expect_all_once(2, ITEMS);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    static marks m;
    alarm(20);
    poli_parallel(2, ITEMS, mark, &m);
    exit(m.times[ITEMS - 1] == 1 ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  expect_all_once(2, ITEMS);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_item_is_done_once),
      cmocka_unit_test(late_threads_take_nothing),
      cmocka_unit_test(ranges_cover_all_items),
      cmocka_unit_test(loops_may_nest),
      cmocka_unit_test(loops_may_run_beside_each_other),
      cmocka_unit_test(a_fork_starts_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
