/* Long work that can be watched and stopped.  A public call that was given a pol_progress begins a
 * monitor; loops deep inside poll it, without having to be handed anything.  Each thread has its
 * own. */
#ifndef POLHODE_BASE_MONITOR_H
#define POLHODE_BASE_MONITOR_H

#include <polhode/status.h>

typedef struct pol_monitor {
  const pol_progress *progress;
  const char *stage;
  int cancelled;
  struct pol_monitor *outer;
} pol_monitor;

/* Begins a monitor for the calling thread, until its end; they can be nested.  progress may have no
 * function; it and the monitor live until then. */
void pol_monitor_begin(pol_monitor *monitor, const pol_progress *progress, const char *stage);
void pol_monitor_end(pol_monitor *monitor);

/* Names what is under way from now on, in static storage. */
void pol_monitor_stage(const char *stage);

/* Reports the share done of the stage, negative if it is not known.  1 if the work is to stop: the
 * caller then returns POL_CANCELLED.  0 if nobody watches. */
int pol_monitor_poll(double share);

#endif
