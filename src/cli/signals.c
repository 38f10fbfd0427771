/* Signals that ask to stop: a flag that a loop looks at between two pieces of work. */
#define _XOPEN_SOURCE 700

#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stop_signal = 0;

/* Notes the signal; from now on either one ends the program at once. */
static void ask_to_stop(int signal_number)
{
  stop_signal = signal_number;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

void cli_catch_signals(void)
{
  /* a write that the signal meets goes on, so that no row is lost */
  struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int cli_stop_signal(void)
{
  return (int)stop_signal;
}
