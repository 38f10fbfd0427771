/* Ctrl-C, and SIGTERM: the first asks a command to stop cleanly, the second stops it at once. */
#ifndef POLHODE_CLI_SIGNALS_H
#define POLHODE_CLI_SIGNALS_H

void cli_catch_signals(void);
/* The signal that asks to stop, 0 while there is none.  The exit status is then CLI_SIGNALLED +
 * this. */
int cli_stop_signal(void);

#endif
