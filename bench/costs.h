/* Time, memory and failures, for benchmarks of costs per element or link.  Include it after
 * defining _POSIX_C_SOURCE. */
#ifndef POLHODE_BENCH_COSTS_H
#define POLHODE_BENCH_COSTS_H

#include <polhode/polhode.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void check(pol_status status, const char *what)
{
  if (status == POL_OK) return;
  fprintf(stderr, "bench: %s: %s\n", what, pol_status_text(status));
  exit(1);
}

/* Time of the processor, s. */
static inline double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes of the heap.  Large pieces have a mapping of their own. */
static inline double allocated(void)
{
  struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

#endif
