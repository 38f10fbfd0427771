/* Loops over threads.
 *
 * Items must not depend on each other, and their results not on the thread that runs them: then a
 * loop gives the same bits for any number of threads. */
#ifndef POLHODE_BASE_PARALLEL_H
#define POLHODE_BASE_PARALLEL_H

/* The most threads that options may ask for. */
enum { POLI_MAX_THREADS = 256 };

/* Threads that a loop will have: as many as wanted, with 0 one for each processor. */
int poli_threads(int wanted);

/* Calls task(i, user) for i = 0 .. count-1, each once, in up to so many threads; returns when all
 * are done.  The first loops with more than one thread start them.  A loop inside another one, or
 * one that finds the threads at work for another, runs in the calling thread. */
void poli_parallel_share(int threads, int count, void (*task)(int i, void *user), void *user);
static inline void poli_parallel(int threads, int count, void (*task)(int i, void *user),
                                 void *user)
{
  if (threads > 1 && count > 1)
    poli_parallel_share(threads, count, task, user);
  else
    for (int i = 0; i < count; i++) task(i, user);
}

/* The same for ranges: calls task(first, end, user) for ranges of items that together are 0 ..
 * count-1; with one thread, for all at once, inline. */
void poli_parallel_split(int threads, int count, void (*task)(int first, int end, void *user),
                         void *user);
static inline void poli_parallel_ranges(int threads, int count,
                                        void (*task)(int first, int end, void *user), void *user)
{
  if (threads <= 1)
    task(0, count, user);
  else
    poli_parallel_split(threads, count, task, user);
}

#endif
