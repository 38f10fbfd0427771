/* Loops over threads; see parallel.h.
 *
 * The threads are started by the first loop that needs them and wait for the next ones: for a
 * moment awake, then asleep.  So a loop costs little where loops follow each other, and waiting
 * takes no time from others where a processor has more to do; the threads of OpenMP, which stay
 * awake for long, cost several times as much there.  The option POLHODE_OPENMP uses them anyway,
 * for programs that have them at work already.
 *
 * Whoever has time takes the next item.  The number of the loop and that of its items which nobody
 * has taken yet are one number, the ticket; taking an item is a compare-and-swap that counts down.
 * The ticket of a loop that is over has no items, and the next loop has another number: a thread
 * that is late finds nothing to take.  Task and count are set before the ticket and stay until all
 * items are done, so that a thread may read them once it has taken an item. */
#define _GNU_SOURCE /* of sched_getaffinity */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

int poli_threads(int wanted)
{
  cpu_set_t set;
  int count = wanted;
  if (count <= 0) count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count < POLI_MAX_THREADS ? count : POLI_MAX_THREADS;
}

#ifdef _OPENMP

void poli_parallel_share(int threads, int count, void (*task)(int i, void *user), void *user)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1 && count > 1)
  for (int i = 0; i < count; i++) task(i, user);
}

#else

/* How often a thread that waits checks for work before it goes to sleep: some microseconds. */
enum { LOOKS = 2000 };

static struct {
  pthread_mutex_t busy;  /* held while a loop runs */
  pthread_mutex_t mutex; /* of what follows, and of sleeping */
  pthread_cond_t wake, done;
  pthread_t threads[POLI_MAX_THREADS];
  int num_threads;
  int forks; /* forget_threads is known to fork */
  /* the loop */
  void (*task)(int i, void *user);
  void *user;
  int count;
  atomic_int helpers;
  atomic_uint_fast64_t ticket; /* number of the loop; 32 bits: items that nobody has taken */
  atomic_int left;             /* items that are not done */
  atomic_int sleeping, ends;
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER,
          .mutex = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

/* In a thread of a loop: loops inside it run in that thread. */
static _Thread_local int inside = 0;

static uint32_t loop_of(uint_fast64_t ticket)
{
  return (uint32_t)(ticket >> 32);
}

/* Takes and does items of a loop until there are no more. */
static void work_on(uint32_t loop)
{
  for (;;) {
    uint_fast64_t ticket = atomic_load(&pool.ticket);
    const int not_taken = (int)(ticket & 0xffffffffu);
    if (loop_of(ticket) != loop || not_taken == 0) return;
    if (!atomic_compare_exchange_strong(&pool.ticket, &ticket, ticket - 1)) continue;
    pool.task(pool.count - not_taken, pool.user);
    if (atomic_fetch_sub(&pool.left, 1) != 1) continue;
    pthread_mutex_lock(&pool.mutex);
    pthread_cond_signal(&pool.done);
    pthread_mutex_unlock(&pool.mutex);
  }
}

/* A thread: waits for a loop that has a place for it, works, waits again. */
static void *serve(void *user)
{
  const int number = (int)(intptr_t)user;
  uint32_t last = 0;
  inside = 1;
  while (!atomic_load(&pool.ends)) {
    uint32_t loop = last;
    for (int k = 0; k < LOOKS && loop == last; k++) loop = loop_of(atomic_load(&pool.ticket));
    if (loop == last) {
      pthread_mutex_lock(&pool.mutex);
      atomic_fetch_add(&pool.sleeping, 1);
      while (loop_of(atomic_load(&pool.ticket)) == last && !atomic_load(&pool.ends))
        pthread_cond_wait(&pool.wake, &pool.mutex);
      atomic_fetch_sub(&pool.sleeping, 1);
      pthread_mutex_unlock(&pool.mutex);
      continue;
    }
    last = loop;
    if (number < atomic_load(&pool.helpers)) work_on(loop);
  }
  return NULL;
}

/* A child process has none of the threads; it starts its own. */
static void forget_threads(void)
{
  pool.num_threads = 0;
  atomic_store(&pool.sleeping, 0);
  pthread_mutex_init(&pool.busy, NULL);
  pthread_mutex_init(&pool.mutex, NULL);
  pthread_cond_init(&pool.wake, NULL);
  pthread_cond_init(&pool.done, NULL);
}

/* Starts the threads that are missing; if the system refuses one, fewer threads do the work. */
static void start_threads(int wanted)
{
  if (!pool.forks) pool.forks = pthread_atfork(NULL, NULL, forget_threads) == 0;
  while (pool.num_threads < wanted && pthread_create(&pool.threads[pool.num_threads], NULL, serve,
                                                     (void *)(intptr_t)pool.num_threads) == 0)
    pool.num_threads++;
}

/* When the library is unloaded, its code must not be in use. */
__attribute__((destructor)) static void end_threads(void)
{
  atomic_store(&pool.ends, 1);
  pthread_mutex_lock(&pool.mutex);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.mutex);
  for (int i = 0; i < pool.num_threads; i++) pthread_join(pool.threads[i], NULL);
}

void poli_parallel_share(int threads, int count, void (*task)(int i, void *user), void *user)
{
  if (threads <= 1 || count <= 1 || inside || pthread_mutex_trylock(&pool.busy) != 0) {
    for (int i = 0; i < count; i++) task(i, user);
    return;
  }
  start_threads(threads - 1);
  pool.task = task;
  pool.user = user;
  pool.count = count;
  atomic_store(&pool.left, count);
  atomic_store(&pool.helpers, threads - 1);
  const uint32_t loop = loop_of(atomic_load(&pool.ticket)) + 1;
  atomic_store(&pool.ticket, (uint_fast64_t)loop << 32 | (uint32_t)count);
  if (atomic_load(&pool.sleeping) > 0) {
    pthread_mutex_lock(&pool.mutex);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.mutex);
  }
  inside = 1;
  work_on(loop);
  inside = 0;
  for (int k = 0; k < LOOKS && atomic_load(&pool.left) > 0; k++) continue;
  pthread_mutex_lock(&pool.mutex);
  while (atomic_load(&pool.left) > 0) pthread_cond_wait(&pool.done, &pool.mutex);
  pthread_mutex_unlock(&pool.mutex);
  pthread_mutex_unlock(&pool.busy);
}

#endif

/* --- ranges ----------------------------------------------------------------------------------- */

/* Ranges per thread, so that one that is delayed does not hold up the others. */
enum { RANGES = 4 };

typedef struct ranges {
  int count, parts;
  void (*task)(int first, int end, void *user);
  void *user;
} ranges;

static void run_range(int i, void *user)
{
  const ranges *r = user;
  const int first = (int)((int64_t)r->count * i / r->parts);
  r->task(first, (int)((int64_t)r->count * (i + 1) / r->parts), r->user);
}

void poli_parallel_split(int threads, int count, void (*task)(int first, int end, void *user),
                         void *user)
{
  ranges r = {count, RANGES * threads, task, user};
  poli_parallel(threads, r.parts, run_range, &r);
}
