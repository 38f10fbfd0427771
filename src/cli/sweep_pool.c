/* Processes that compute runs of a study: one socket each, on which the number of a run goes to the
 * process and the outcome comes back.
 *
 * Processes, not threads: a run that ends its process, by a signal or for want of memory, is an
 * outcome like others.  They are forked before the journal is open, or close it: its lock must end
 * with the coordinator, even if it is killed. */
#define _GNU_SOURCE

#include "cli/sweep_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "cli/terminal.h"

/* Runs that a process may have at once: while an outcome travels, the next run is under way. */
enum { MOST_DEPTH = 16, NO_OUTCOME = -1 };
static const double depth_seconds = 0.02;

/* Before the bytes of an outcome; size NO_OUTCOME: there was not enough memory. */
typedef struct reply {
  int64_t run, size;
} reply;

typedef struct worker {
  pid_t pid; /* 0: there is no process */
  int socket;
  long queue[MOST_DEPTH]; /* the first one is under way */
  int num_queued;
  double since; /* when the first one was begun, about */
  char *buffer; /* what has arrived */
  size_t used, room;
} worker;

struct cli_pool {
  const pol_sweep *sweep;
  int num_workers, busy;
  double seconds; /* a run takes, about; 0: not known */
  worker *workers;
  struct pollfd *polled;
  char *folder; /* of their temporary files; NULL: they have none */
};

/* --- in the process --------------------------------------------------------------------------- */

/* Reads or writes all; 0 at the end of the file or after an error. */
static int transfer(int socket, void *bytes, size_t size, int writes)
{
  char *at = bytes;
  while (size > 0) {
    const ssize_t done = writes ? write(socket, at, size) : read(socket, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return 0;
    at += done;
    size -= (size_t)done;
  }
  return 1;
}

/* Computes what arrives until the coordinator is gone. */
static void work(const pol_sweep *sweep, int socket)
{
  int64_t run;
  while (transfer(socket, &run, sizeof run, 0)) {
    void *bytes;
    size_t size;
    const pol_status status = pol_sweep_run(sweep, (long)run, NULL, &bytes, &size);
    reply head = {run, status == POL_OK ? (int64_t)size : NO_OUTCOME};
    const int sent = transfer(socket, &head, sizeof head, 1) &&
                     (status != POL_OK || transfer(socket, bytes, size, 1));
    free(bytes);
    if (!sent) break;
  }
}

/* Signals of a terminal or a batch system go to all processes; the coordinator decides. */
static void become_worker(const cli_pool *pool, int socket, pid_t parent)
{
  enum { MOST_FILES = 2048 };
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(0);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  if (pool->folder != NULL) setenv("TMPDIR", pool->folder, 1);
  for (int i = 3; i < MOST_FILES; i++)
    if (i != socket) close(i);
  work(pool->sweep, socket);
  _exit(0);
}

/* --- in the coordinator ----------------------------------------------------------------------- */

static int start(cli_pool *pool, worker *w)
{
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return 0;
  fflush(NULL); /* what is buffered would be written twice */
  const pid_t parent = getpid();
  w->pid = fork();
  if (w->pid == 0) become_worker(pool, sockets[1], parent);
  close(sockets[1]);
  if (w->pid < 0) {
    close(sockets[0]);
    w->pid = 0;
    return 0;
  }
  w->socket = sockets[0];
  fcntl(w->socket, F_SETFL, O_NONBLOCK);
  w->used = 0;
  return 1;
}

/* Waits for the process and gives its status. */
static int end_process(worker *w)
{
  int status = 0;
  close(w->socket);
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
  w->pid = 0;
  return status;
}

/* A folder for the FMUs that the processes unpack: they are killed at the end, or crash, and leave
 * them.  NULL if the model has no other files, or there is no place for it. */
static char *create_folder(const pol_sweep *sweep)
{
  const char *given = getenv("TMPDIR");
  if (!pol_sweep_needs_files(sweep)) return NULL;
  char *folder = cli_format("%s/polhode-sweep-XXXXXX", given && given[0] == '/' ? given : "/tmp");
  if (folder == NULL || mkdtemp(folder) != NULL) return folder;
  free(folder);
  return NULL;
}

cli_pool *cli_pool_create(const pol_sweep *sweep, int workers)
{
  cli_pool *pool = calloc(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pool->sweep = sweep;
  pool->workers = calloc((size_t)workers, sizeof *pool->workers);
  pool->polled = calloc((size_t)workers, sizeof *pool->polled);
  pool->num_workers = workers;
  if (pool->workers == NULL || pool->polled == NULL) {
    pool->num_workers = 0;
    cli_pool_free(&pool);
    return NULL;
  }
  pool->folder = create_folder(sweep);
  /* a process that ends is noticed when its socket is read */
  signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < workers; i++) start(pool, &pool->workers[i]);
  return pool;
}

void cli_pool_free(cli_pool **pointer)
{
  cli_pool *pool = *pointer;
  if (pool == NULL) return;
  for (int i = 0; i < pool->num_workers; i++) {
    worker *w = &pool->workers[i];
    if (w->pid > 0) {
      kill(w->pid, SIGKILL);
      end_process(w);
    }
    free(w->buffer);
  }
  if (pool->folder != NULL) cli_remove_folder(pool->folder);
  free(pool->folder);
  free(pool->workers);
  free(pool->polled);
  free(pool);
  *pointer = NULL;
}

int cli_pool_depth(const cli_pool *pool)
{
  if (pool->seconds == 0.0) return 1;
  const double depth = depth_seconds / pool->seconds;
  return depth < 1.0 ? 1 : depth > MOST_DEPTH ? MOST_DEPTH : (int)depth;
}

int cli_pool_room(const cli_pool *pool)
{
  return pool->num_workers * cli_pool_depth(pool) - pool->busy;
}

int cli_pool_busy(const cli_pool *pool)
{
  return pool->busy;
}

int cli_pool_submit(cli_pool *pool, long run)
{
  worker *w = &pool->workers[0];
  for (int i = 1; i < pool->num_workers; i++)
    if (pool->workers[i].num_queued < w->num_queued) w = &pool->workers[i];
  if (w->num_queued == MOST_DEPTH || (w->pid == 0 && !start(pool, w))) return 0;
  if (w->num_queued == 0) w->since = cli_seconds();
  w->queue[w->num_queued++] = run;
  pool->busy++;
  /* a few numbers always find room; if the process is gone, reading its socket reports it */
  int64_t number = run;
  if (write(w->socket, &number, sizeof number) < 0) return 1;
  return 1;
}

/* The first run of the queue is finished. */
static void finish_first(cli_pool *pool, worker *w)
{
  const double now = cli_seconds(), seconds = now - w->since + 1e-9;
  pool->seconds = pool->seconds == 0.0 ? seconds : 0.9 * pool->seconds + 0.1 * seconds;
  w->since = now;
  pool->busy--;
  w->num_queued--;
  memmove(w->queue, w->queue + 1, (size_t)w->num_queued * sizeof w->queue[0]);
}

/* An outcome for a run that has none. */
static pol_status sink_crash(cli_pool *pool, long run, const char *reason, cli_outcome_sink *sink,
                             void *user)
{
  void *bytes;
  size_t size;
  pol_status status = pol_sweep_crashed(pool->sweep, reason, &bytes, &size);
  if (status == POL_OK) status = sink(user, run, bytes, size);
  free(bytes);
  return status;
}

/* The process has ended: its first run has crashed, the others go to the next process. */
static pol_status replace(cli_pool *pool, worker *w, cli_outcome_sink *sink, void *user)
{
  long waiting[MOST_DEPTH];
  char reason[160];
  const int ended = end_process(w), count = w->num_queued;
  pol_status status = POL_OK;
  if (WIFSIGNALED(ended))
    snprintf(reason, sizeof reason, "the process was ended by signal %d (%s)", WTERMSIG(ended),
             strsignal(WTERMSIG(ended)));
  else
    snprintf(reason, sizeof reason, "the process ended with status %d",
             WIFEXITED(ended) ? WEXITSTATUS(ended) : -1);
  memcpy(waiting, w->queue, sizeof waiting);
  if (count > 0) status = sink_crash(pool, waiting[0], reason, sink, user);
  pool->busy -= count;
  w->num_queued = 0;
  for (int i = 1; i < count && status == POL_OK; i++)
    if (!cli_pool_submit(pool, waiting[i]))
      status = sink_crash(pool, waiting[i], "no process could be started", sink, user);
  return status;
}

/* Hands on the outcomes in the buffer that are complete. */
static pol_status take_replies(cli_pool *pool, worker *w, cli_outcome_sink *sink, void *user)
{
  size_t at = 0;
  pol_status status = POL_OK;
  while (status == POL_OK && w->used - at >= sizeof(reply)) {
    reply head;
    memcpy(&head, w->buffer + at, sizeof head);
    const size_t size = head.size == NO_OUTCOME ? 0 : (size_t)head.size;
    if (w->used - at - sizeof head < size) break;
    finish_first(pool, w);
    status = head.size == NO_OUTCOME
                 ? sink_crash(pool, (long)head.run, pol_status_text(POL_NO_MEMORY), sink, user)
                 : sink(user, (long)head.run, w->buffer + at + sizeof head, size);
    at += sizeof head + size;
  }
  memmove(w->buffer, w->buffer + at, w->used - at);
  w->used -= at;
  return status;
}

/* Reads what a process has sent. */
static pol_status receive(cli_pool *pool, worker *w, cli_outcome_sink *sink, void *user)
{
  for (;;) {
    if (w->room - w->used < 65536) {
      const size_t room = 2 * w->room + 65536;
      char *larger = realloc(w->buffer, room);
      if (larger == NULL) return POL_NO_MEMORY;
      w->buffer = larger;
      w->room = room;
    }
    const ssize_t got = read(w->socket, w->buffer + w->used, w->room - w->used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return POL_OK;
    if (got <= 0) return replace(pool, w, sink, user);
    w->used += (size_t)got;
    const pol_status status = take_replies(pool, w, sink, user);
    if (status != POL_OK) return status;
  }
}

pol_status cli_pool_wait(cli_pool *pool, int milliseconds, cli_outcome_sink *sink, void *user)
{
  for (int i = 0; i < pool->num_workers; i++)
    pool->polled[i] =
        (struct pollfd){pool->workers[i].pid > 0 ? pool->workers[i].socket : -1, POLLIN, 0};
  if (poll(pool->polled, (nfds_t)pool->num_workers, milliseconds) <= 0) return POL_OK;
  pol_status status = POL_OK;
  for (int i = 0; i < pool->num_workers && status == POL_OK; i++)
    if (pool->polled[i].revents != 0) status = receive(pool, &pool->workers[i], sink, user);
  return status;
}
