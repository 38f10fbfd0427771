/* The ranks of a study by MPI.
 *
 * Messages are looked for, never waited for: implementations wait by asking again and again, which
 * would take a processor from the runs. */
#include "cli/sweep_ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_RUN = 1, TAG_OUTCOME = 2 };

static char *arrived; /* the last outcome */

static int begin(int *rank)
{
  int count = 1;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

static void share(void **bytes, size_t *size)
{
  uint64_t length = *size;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  *size = (size_t)length;
  if (rank != 0) *bytes = malloc((size_t)length + 1);
  int missing = *bytes == NULL, any = 0;
  MPI_Allreduce(&missing, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any) MPI_Abort(MPI_COMM_WORLD, 1);
  /* counts are int: in pieces */
  for (uint64_t at = 0; at < length;) {
    const uint64_t piece = length - at < (1u << 30) ? length - at : 1u << 30;
    MPI_Bcast((char *)*bytes + at, (int)piece, MPI_BYTE, 0, MPI_COMM_WORLD);
    at += piece;
  }
  if (rank != 0) ((char *)*bytes)[length] = '\0';
}

static void send_run(int rank, int64_t run)
{
  MPI_Send(&run, 1, MPI_INT64_T, rank, TAG_RUN, MPI_COMM_WORLD);
}

static int receive_run(int64_t *run)
{
  int there = 0;
  MPI_Iprobe(0, TAG_RUN, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  if (there) MPI_Recv(run, 1, MPI_INT64_T, 0, TAG_RUN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return there;
}

/* The run and the size first, then the bytes in pieces; messages of one rank keep their order. */
static void send_outcome(int64_t run, const void *bytes, size_t size)
{
  const int64_t head[2] = {run, (int64_t)size};
  MPI_Send(head, 2, MPI_INT64_T, 0, TAG_OUTCOME, MPI_COMM_WORLD);
  for (size_t at = 0; at < size;) {
    const size_t piece = size - at < (1u << 30) ? size - at : 1u << 30;
    MPI_Send((const char *)bytes + at, (int)piece, MPI_BYTE, 0, TAG_OUTCOME, MPI_COMM_WORLD);
    at += piece;
  }
}

static long receive_outcome(int *rank, int64_t *run, const void **bytes)
{
  int there = 0;
  int64_t head[2];
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG_OUTCOME, MPI_COMM_WORLD, &there, &status);
  if (!there) return 0;
  *rank = status.MPI_SOURCE;
  MPI_Recv(head, 2, MPI_INT64_T, *rank, TAG_OUTCOME, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const size_t size = (size_t)head[1];
  char *larger = realloc(arrived, size + 1);
  if (larger == NULL) return -1;
  arrived = larger;
  for (size_t at = 0; at < size;) {
    const size_t piece = size - at < (1u << 30) ? size - at : 1u << 30;
    MPI_Recv(arrived + at, (int)piece, MPI_BYTE, *rank, TAG_OUTCOME, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    at += piece;
  }
  *run = head[0];
  *bytes = arrived;
  return (long)size;
}

static void abort_all(void)
{
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void end(void)
{
  free(arrived);
  arrived = NULL;
  MPI_Finalize();
}

const cli_ranks cli_mpi_ranks = {begin,        share,           send_run,  receive_run,
                                 send_outcome, receive_outcome, abort_all, end};
