/* A progress bar on standard error: share done and time left, redrawn at most ten times a second
 * where it has changed, and erased at the end.  Uses only carriage returns and blanks, which every
 * terminal understands; each line is one write, so that nothing flickers.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"
#include "cli/terminal.h"

static const double redraw_seconds = 0.1;
/* Cells of the bar at most, what stands beside it at most, and the "^C" a terminal may add. */
enum { CELLS = 30, BESIDE = 24, ECHO = 2 };

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
static void draw(cli_progress *progress, const char *text)
{
  char line[sizeof progress->text + 8];
  int length = (int)strlen(text), before = (int)strlen(progress->text);
  if (strcmp(text, progress->text) == 0) return;
  int size =
      snprintf(line, sizeof line, "\r%s%*s", text, before > length ? before - length : 0, "");
  fwrite(line, 1, (size_t)size, stderr);
  snprintf(progress->text, sizeof progress->text, "%s", text);
}

/* Appends the note where the line has room for some of it. */
static void add_note(const cli_progress *progress, char *text, size_t size)
{
  const int length = (int)strlen(text), room = cli_width(stderr) - length - ECHO - 1;
  if (room > 4 && (size_t)(length + room) < size)
    snprintf(text + length, size - (size_t)length, "%.*s", room, progress->note);
}

void cli_progress_update(cli_progress *progress, double share)
{
  if (!progress->shown) return;
  double now = cli_seconds();
  if (now < progress->next || share <= 0.0) return;
  progress->next = now + redraw_seconds;

  /* The bar takes what the line leaves; a very narrow line has none. */
  int room = cli_width(stderr) - BESIDE - ECHO - 1;
  int cells = room < CELLS ? room : CELLS;
  char bar[CELLS + 4] = "", left[32], text[sizeof progress->text];
  if (cells >= 4) {
    memset(bar, '-', (size_t)cells + 2);
    memset(bar + 1, '#', (size_t)(share * cells));
    bar[0] = '[';
    memcpy(bar + cells + 1, "] ", 3);
  }
  format_duration((now - progress->start) * (1.0 - share) / share, left, sizeof left);
  snprintf(text, sizeof text, "%s%3d %%  %s left", bar, (int)(100.0 * share), left);
  add_note(progress, text, sizeof text);
  draw(progress, text);
}

int cli_progress_report(const char *stage, double share, void *user)
{
  cli_progress *progress = user;
  if (progress->shown) {
    snprintf(progress->note, sizeof progress->note, "  %s", stage);
    cli_progress_update(progress, share);
    const double now = cli_seconds();
    if (share <= 0.0 && now >= progress->next) {
      char text[sizeof progress->text];
      progress->next = now + redraw_seconds;
      snprintf(text, sizeof text, "starting: %.*s", cli_width(stderr) - 10 - ECHO - 1, stage);
      draw(progress, text);
    }
  }
  return cli_stop_signal() != 0;
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->shown && progress->text[0] != '\0')
    fprintf(stderr, "\r%*s\r", (int)strlen(progress->text) + ECHO, "");
  progress->shown = 0;
}
