/* The monitor of each thread. */
#include "base/monitor.h"

#include <stddef.h>

static _Thread_local pol_monitor *current = NULL;

void pol_monitor_begin(pol_monitor *monitor, const pol_progress *progress, const char *stage)
{
  *monitor = (pol_monitor){.progress = progress, .stage = stage, .outer = current};
  current = monitor;
}

void pol_monitor_end(pol_monitor *monitor)
{
  current = monitor->outer;
}

void pol_monitor_stage(const char *stage)
{
  if (current != NULL) current->stage = stage;
}

int pol_monitor_poll(double share)
{
  pol_monitor *m = current;
  if (m == NULL || m->progress->report == NULL) return 0;
  if (!m->cancelled) m->cancelled = m->progress->report(m->stage, share, m->progress->user) != 0;
  return m->cancelled;
}
