/* Processes that compute runs of a study. */
#ifndef POLHODE_CLI_SWEEP_POOL_H
#define POLHODE_CLI_SWEEP_POOL_H

#include <polhode/sweep.h>

typedef struct cli_pool cli_pool;

/* Starts so many processes; NULL without memory.  A process that cannot be started is tried again
 * when there is a run for it. */
cli_pool *cli_pool_create(const pol_sweep *sweep, int workers);
/* Ends all processes, with what they are doing. */
void cli_pool_free(cli_pool **pool);

/* Runs that could be submitted now: one per process, more if they are short. */
int cli_pool_room(const cli_pool *pool);
/* Runs that are not finished yet. */
int cli_pool_busy(const cli_pool *pool);
/* Gives a run to a process; there must be room.  0: no process could be started. */
int cli_pool_submit(cli_pool *pool, long run);
/* Runs that a process can have at once, from the time that the last ones took. */
int cli_pool_depth(const cli_pool *pool);

/* What is called with each outcome: not POL_OK ends cli_pool_wait. */
typedef pol_status cli_outcome_sink(void *user, long run, const void *bytes, size_t size);
/* Waits until an outcome arrives, at most so many milliseconds, and hands on all that are there.  A
 * process that has ended without one is replaced; its run has crashed, and those that waited behind
 * it are given to another.  Returns what the sink has returned, or POL_NO_MEMORY. */
pol_status cli_pool_wait(cli_pool *pool, int milliseconds, cli_outcome_sink *sink, void *user);

#endif
