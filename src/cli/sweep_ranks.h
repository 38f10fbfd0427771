/* Several copies of the command that share a study: the ranks of MPI, in the binary polhode-mpi.
 * Rank 0 coordinates; all ranks have processes that compute. */
#ifndef POLHODE_CLI_SWEEP_RANKS_H
#define POLHODE_CLI_SWEEP_RANKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_ranks {
  /* Joins the others; returns the number of ranks. */
  int (*begin)(int *rank);
  /* Gives bytes of rank 0 to all others, where the caller frees them; NULL there without memory. */
  void (*share)(void **bytes, size_t *size);
  /* From rank 0 to another: a run, or CLI_RANK_END; and there: 1 if one has arrived. */
  void (*send_run)(int rank, int64_t run);
  int (*receive_run)(int64_t *run);
  /* From another to rank 0: an outcome; and there: its size if one has arrived, whose rank and run
   * are given, else 0.  The bytes stay until the next call.  -1: not enough memory. */
  void (*send_outcome)(int64_t run, const void *bytes, size_t size);
  long (*receive_outcome)(int *rank, int64_t *run, const void **bytes);
  /* Ends all ranks at once, after a failure of this one. */
  void (*abort)(void);
  void (*end)(void);
} cli_ranks;

enum { CLI_RANK_END = -1 };

/* Defined in polhode-mpi only (src/mpi/ranks.c). */
extern const cli_ranks cli_mpi_ranks __attribute__((weak));

#endif
