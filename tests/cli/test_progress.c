/* The progress bar, character by character: the file of the command itself on a line of this width.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/terminal.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int width;

int cli_stop_signal(void)
{
  return 0;
}

/* What an update writes, which is due and began so many seconds ago. */
static void draw_at(cli_progress *progress, double share, double seconds, char *text, size_t size)
{
  FILE *standard = stderr;
  char columns[16];
  snprintf(columns, sizeof columns, "%d", width);
  setenv("COLUMNS", columns, 1);
  memset(text, 0, size);
  progress->shown = 1;
  progress->start = cli_seconds() - seconds;
  progress->next = 0.0;
  stderr = fmemopen(text, size, "w");
  assert_non_null(stderr);
  cli_progress_update(progress, share);
  fclose(stderr);
  stderr = standard;
}

static void the_bar_shows_the_share(void **state)
{
  (void)state;
  cli_progress progress = {0};
  char text[256];
  width = 80;
  draw_at(&progress, 0.5, 100.0, text, sizeof text);
  assert_string_equal(text, "\r[###############---------------]  50 %  1:40 left");
  draw_at(&progress, 0.0, 100.0, text, sizeof text); /* too early for an estimate */
  assert_string_equal(text, "");
  draw_at(&progress, 0.1, 1000.0, text, sizeof text);
  assert_string_equal(text, "\r[###---------------------------]  10 %  2:30:00 left");
  draw_at(&progress, 1.0, 5.0, text, sizeof text); /* shorter: the rest is blanked */
  assert_string_equal(text, "\r[##############################] 100 %  0 s left    ");
  draw_at(&progress, 1.0, 5.0, text, sizeof text); /* nothing has changed */
  assert_string_equal(text, "");
}

static void a_narrow_line_has_a_short_bar_or_none(void **state)
{
  (void)state;
  cli_progress progress = {0};
  char text[256];
  width = 24 + 2 + 1 + 4;
  draw_at(&progress, 0.5, 3.0, text, sizeof text);
  assert_string_equal(text, "\r[##--]  50 %  3 s left");
  progress = (cli_progress){0};
  width--;
  draw_at(&progress, 0.5, 3.0, text, sizeof text);
  assert_string_equal(text, "\r 50 %  3 s left");
}

static void the_note_takes_what_is_left(void **state)
{
  (void)state;
  cli_progress progress = {.note = "  measuring"};
  char text[256];
  width = 80;
  draw_at(&progress, 0.5, 3.0, text, sizeof text);
  assert_string_equal(text, "\r[###############---------------]  50 %  3 s left  measuring");
  progress = (cli_progress){.note = "  measuring"};
  width = 57; /* 54 of them for the line and its note */
  draw_at(&progress, 0.5, 3.0, text, sizeof text);
  assert_string_equal(text, "\r[###############---------------]  50 %  3 s left  meas");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bar_shows_the_share),
      cmocka_unit_test(a_narrow_line_has_a_short_bar_or_none),
      cmocka_unit_test(the_note_takes_what_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
