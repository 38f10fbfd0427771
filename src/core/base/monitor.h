/* Progress and cancellation of long calculations.  A public call with a pol_progress begins a
 * monitor; inner loops poll it without receiving it as an argument.  Each thread has its own. */
#ifndef POLHODE_BASE_MONITOR_H
#define POLHODE_BASE_MONITOR_H

#include <polhode/status.h>

typedef struct poli_monitor {
  const pol_progress *progress;
  const char *stage;
  int cancelled;
  struct poli_monitor *outer;
} poli_monitor;

/* Begins a monitor for the calling thread, until poli_monitor_end; monitors can be nested.
 * progress, whose function may be NULL, and the monitor must live until then. */
void poli_monitor_begin(poli_monitor *monitor, const pol_progress *progress, const char *stage);
void poli_monitor_end(poli_monitor *monitor);

/* Names the current stage; the text is in static storage. */
void poli_monitor_stage(const char *stage);

/* Reports the fraction of the stage that is done, negative if it is not known.  Returns 1 if the
 * calculation is to stop: the caller then returns POL_CANCELLED.  0 without a monitor. */
int poli_monitor_poll(double share);

#endif
