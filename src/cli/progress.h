/* A progress bar on standard error, for people only: nothing is written unless it is a terminal. */
#ifndef POLHODE_CLI_PROGRESS_H
#define POLHODE_CLI_PROGRESS_H

typedef struct cli_progress {
  int shown;      /* whether there is a bar at all */
  double start;   /* clock when it began */
  double next;    /* clock when it may be drawn again */
  char text[160]; /* on the line now */
  char note[80];  /* what is under way, shown after the bar where the line has room */
} cli_progress;

/* Seconds of a clock that never goes back. */
double cli_seconds(void);

void cli_progress_begin(cli_progress *progress, int wanted);
/* Draws the bar if it is time, as wide as the terminal allows; share is 0 .. 1. */
void cli_progress_update(cli_progress *progress, double share);
/* pol_progress.report for a simulation that starts; user is a cli_progress.  Draws what is under
 * way, with a bar where the share done is known, and asks to stop after a signal. */
int cli_progress_report(const char *stage, double share, void *user);
/* Erases the bar; nothing is drawn any more. */
void cli_progress_end(cli_progress *progress);

#endif
