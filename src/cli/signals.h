/* Ctrl-C, and SIGTERM: the first asks a command to stop cleanly, one that comes more than half a
 * second later stops it at once. */
#ifndef POLHODE_CLI_SIGNALS_H
#define POLHODE_CLI_SIGNALS_H

void cli_catch_signals(void);
/* The signal that asks to stop, 0 while there is none.  The exit status is then CLI_SIGNALLED +
 * this. */
int cli_stop_signal(void);

/* From now on a file that grows beyond the limit of the shell is a failed write, not a signal. */
void cli_ignore_file_limit(void);

#endif
