/* A progress bar on standard error: share done and time left, redrawn at most ten times a second
 * and erased at the end.  Uses only carriage returns and blanks, which every terminal understands.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double redraw_seconds = 0.1;
enum { CELLS = 30 };

double cli_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_begin(cli_progress *progress, int wanted)
{
  *progress = (cli_progress){0};
  progress->shown = wanted && isatty(STDERR_FILENO);
  if (!progress->shown) return;
  progress->start = cli_seconds();
  progress->next = progress->start + redraw_seconds;
}

/* Writes "1:02:03", "2:03" or "3 s". */
static void format_duration(double seconds, char *text, size_t size)
{
  static const double forever = 1e8;
  long s = (long)(seconds < forever ? seconds + 0.5 : forever);
  if (s >= 3600)
    snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else if (s >= 60)
    snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
  else
    snprintf(text, size, "%ld s", s);
}

/* Draws over the line, blanking what was longer before. */
static void draw(cli_progress *progress, const char *text, int length)
{
  int rest = progress->width > length ? progress->width - length : 0;
  fprintf(stderr, "\r%s%*s", text, rest, "");
  fflush(stderr);
  progress->width = length;
}

void cli_progress_update(cli_progress *progress, double share)
{
  if (!progress->shown) return;
  double now = cli_seconds();
  if (now < progress->next || share <= 0.0) return;
  progress->next = now + redraw_seconds;

  char bar[CELLS + 1], left[32], text[CELLS + 64];
  int done = (int)(share * CELLS);
  for (int i = 0; i < CELLS; i++) bar[i] = i < done ? '#' : '-';
  bar[CELLS] = '\0';
  format_duration((now - progress->start) * (1.0 - share) / share, left, sizeof left);
  draw(progress, text,
       snprintf(text, sizeof text, "[%s] %3d %%  %s left", bar, (int)(100.0 * share), left));
}

void cli_progress_end(cli_progress *progress)
{
  if (!progress->shown || progress->width == 0) return;
  draw(progress, "", 0);
  fprintf(stderr, "\r");
}
