/* The monitor of each thread. */
#include "base/monitor.h"

#include <stddef.h>

static _Thread_local poli_monitor *current = NULL;

void poli_monitor_begin(poli_monitor *monitor, const pol_progress *progress, const char *stage)
{
  *monitor = (poli_monitor){.progress = progress, .stage = stage, .outer = current};
  current = monitor;
}

void poli_monitor_end(poli_monitor *monitor)
{
  current = monitor->outer;
}

void poli_monitor_stage(const char *stage)
{
  if (current != NULL) current->stage = stage;
}

int poli_monitor_poll(double share)
{
  poli_monitor *m = current;
  if (m == NULL || m->progress->report == NULL) return 0;
  if (!m->cancelled) m->cancelled = m->progress->report(m->stage, share, m->progress->user) != 0;
  return m->cancelled;
}
