/* Signals that request a stop: a flag that a loop checks between two pieces of work. */
#define _XOPEN_SOURCE 700

#include "cli/terminal.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t stop_signal = 0;
static struct timespec asked; /* when the first one came */

/* Notes the first signal; a later one ends the program at once.  What comes within half a second is
 * the same request: timeout(1) sends its signal twice. */
static void ask_to_stop(int signal_number)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (stop_signal == 0) {
    asked = now;
    stop_signal = signal_number;
  } else if (difftime(now.tv_sec, asked.tv_sec) + 1e-9 * (double)(now.tv_nsec - asked.tv_nsec) >
             0.5) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
}

void cli_catch_signals(void)
{
  /* a write that the signal meets goes on, so that no row is lost */
  struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESTART}, hangup;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, NULL, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
}

void cli_ignore_file_limit(void)
{
  signal(SIGXFSZ, SIG_IGN);
}

int cli_stop_signal(void)
{
  return (int)stop_signal;
}
