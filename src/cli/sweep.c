/* polhode sweep: the runs of a study in several processes, and under MPI on several machines.
 *
 * One process coordinates: it has the journal, hands out the runs in their order and appends what
 * comes back.  A run is given to a process when that has room, so that long runs delay nobody.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/json_out.h"
#include "cli/sweep_pool.h"
#include "cli/sweep_ranks.h"
#include "cli/terminal.h"

enum { MAX_JOBS = 1024, WAIT = 200, WAIT_FOR_RANKS = 1 /* milliseconds */ };
/* Between two lines where standard error is no terminal. */
static const double line_seconds = 60.0;

/* The coordinator. */
typedef struct sweeping {
  const cli_args *args;
  const pol_sweep *sweep;
  pol_sweep_store *store;
  cli_pool *pool;
  const cli_ranks *ranks; /* NULL: this process is alone */
  int num_ranks, jobs;
  int *given;        /* runs that each rank has */
  long next, before; /* the next run; runs that were finished at the start */
  double start, next_line;
  cli_progress bar;
  int reason; /* errno of a failed write */
} sweeping;

/* --- progress --------------------------------------------------------------------------------- */

/* The bar, or a line now and then; the share is that of the runs of this process, so that the time
 * left is right after an interruption. */
static void show(sweeping *s)
{
  const long runs = pol_sweep_count(s->sweep), done = pol_sweep_store_finished(s->store);
  const long failed = pol_sweep_store_failed(s->store), own = done - s->before;
  const double share = runs > s->before ? (double)own / (double)(runs - s->before) : 1.0;
  const double now = cli_seconds();
  snprintf(s->bar.note, sizeof s->bar.note, "  %ld of %ld runs", done, runs);
  const size_t used = strlen(s->bar.note);
  if (failed > 0) snprintf(s->bar.note + used, sizeof s->bar.note - used, ", %ld failed", failed);
  cli_progress_update(&s->bar, share);
  if (s->bar.shown || s->args->quiet || now < s->next_line || own == 0) return;
  s->next_line = now + line_seconds;
  const double left = (now - s->start) * (1.0 - share) / share;
  cli_note("polhode sweep:%s, about %.0f min left", s->bar.note + 1, left / 60.0);
}

static pol_status take(void *user, long run, const void *bytes, size_t size)
{
  sweeping *s = user;
  const pol_status status = pol_sweep_store_add(s->store, run, bytes, size);
  if (status == POL_IO) s->reason = errno;
  show(s);
  return status;
}

/* --- the coordinator -------------------------------------------------------------------------- */

/* Whether there is a run that nobody has yet: s->next. */
static int find_next(sweeping *s)
{
  const long runs = pol_sweep_count(s->sweep);
  while (s->next < runs && pol_sweep_store_has(s->store, s->next)) s->next++;
  return s->next < runs;
}

/* Gives runs to all who have room; 0 if no process can be started. */
static int hand_out(sweeping *s)
{
  while (cli_pool_room(s->pool) > 0 && find_next(s)) {
    if (!cli_pool_submit(s->pool, s->next)) return cli_pool_busy(s->pool) > 0;
    s->next++;
  }
  for (int r = 1; r < s->num_ranks; r++)
    while (s->given[r] < s->jobs * (cli_pool_depth(s->pool) + 1) && find_next(s)) {
      s->ranks->send_run(r, s->next++);
      s->given[r]++;
    }
  return 1;
}

/* Takes what other ranks have sent; *left (may be NULL) is lowered for each that has ended. */
static pol_status collect(sweeping *s, int *left)
{
  pol_status status = POL_OK;
  long size;
  int rank;
  int64_t run;
  const void *bytes;
  while (status == POL_OK && (size = s->ranks->receive_outcome(&rank, &run, &bytes)) != 0) {
    if (size < 0) s->ranks->abort(); /* half of a message cannot be skipped */
    if (run == CLI_RANK_END) {
      if (left != NULL) --*left;
      continue;
    }
    s->given[rank]--;
    status = take(s, (long)run, bytes, (size_t)size);
  }
  return status;
}

/* Runs what is not finished yet; *started is 0 if no process could be started. */
static pol_status coordinate(sweeping *s, int *started)
{
  pol_status status = POL_OK;
  const int wait = s->num_ranks > 1 ? WAIT_FOR_RANKS : WAIT;
  s->before = pol_sweep_store_finished(s->store);
  s->start = cli_seconds();
  s->next_line = s->start + line_seconds;
  cli_progress_begin(&s->bar, !s->args->quiet);
  while (status == POL_OK && !cli_stop_signal() &&
         pol_sweep_store_finished(s->store) < pol_sweep_count(s->sweep)) {
    *started = hand_out(s);
    if (!*started) break;
    status = cli_pool_wait(s->pool, wait, take, s);
    if (status == POL_OK && s->num_ranks > 1) status = collect(s, NULL);
  }
  cli_progress_end(&s->bar);
  return status;
}

/* Ends the other ranks, after what they are sending; what still arrives is kept. */
static void dismiss(sweeping *s)
{
  int left = s->num_ranks - 1;
  for (int r = 1; r < s->num_ranks; r++) s->ranks->send_run(r, CLI_RANK_END);
  while (left > 0) {
    collect(s, &left);
    cli_pool_wait(s->pool, WAIT_FOR_RANKS, take, s);
  }
}

/* Reports why a study could not be completed; the journal has all runs so far. */
static int report_failure(const sweeping *s, const char *out, pol_status status, int started)
{
  if (status == POL_IO)
    return cli_cannot_write("polhode sweep", s->args->json, "--out", out, s->reason);
  cli_complain("polhode sweep", "%s",
               !started ? "no process could be started" : pol_status_text(status));
  return CLI_FAILED;
}

static int run_study(sweeping *s, const char *out)
{
  char message[700];
  int started = 1;
  s->pool = cli_pool_create(s->sweep, s->jobs);
  s->given = calloc((size_t)s->num_ranks, sizeof *s->given);
  if (s->pool == NULL || s->given == NULL) {
    if (s->num_ranks > 1) s->ranks->abort();
    return report_failure(s, out, POL_NO_MEMORY, 1);
  }
  pol_status status =
      pol_sweep_store_open(&s->store, s->sweep, out, s->args->restart, message, sizeof message);
  if (status != POL_OK) {
    const int full = status == POL_NO_MEMORY || (status == POL_IO && errno == ENOSPC);
    dismiss(s);
    cli_refuse_one("polhode sweep", s->args->json, "--out", out, message);
    return full ? CLI_FAILED : CLI_INVALID;
  }
  cli_catch_signals();
  status = coordinate(s, &started);
  const double seconds = cli_seconds() - s->start;
  dismiss(s);
  errno = 0;
  const pol_status closed = pol_sweep_store_close(&s->store);
  if (status == POL_OK && closed == POL_IO) s->reason = errno;
  if (status == POL_OK) status = closed;
  if (status != POL_OK || !started) return report_failure(s, out, status, started);
  const cli_sweep_outcome outcome = {.out = out,
                                     .runs = pol_sweep_count(s->sweep),
                                     .before = s->before,
                                     .processes = s->jobs * s->num_ranks,
                                     .seconds = seconds,
                                     .stopped = cli_stop_signal()};
  return cli_sweep_report(s->args, &outcome);
}

/* --- other ranks ------------------------------------------------------------------------------ */

static pol_status send(void *user, long run, const void *bytes, size_t size)
{
  const cli_ranks *ranks = user;
  ranks->send_outcome(run, bytes, size);
  return POL_OK;
}

/* Computes what rank 0 sends, until it sends the end; what is under way then is dropped. */
static void serve_rank(const cli_ranks *ranks, const pol_sweep *sweep, int jobs)
{
  cli_pool *pool = cli_pool_create(sweep, jobs);
  /* rank 0 does not send more than this */
  enum { DEPTH = 32 };
  int64_t *waiting = calloc((size_t)jobs * DEPTH, sizeof *waiting), run = 0;
  int count = 0;
  cli_catch_signals(); /* rank 0 decides */
  while (pool != NULL && waiting != NULL && run != CLI_RANK_END) {
    while (run != CLI_RANK_END && ranks->receive_run(&run))
      if (run != CLI_RANK_END && count < jobs * DEPTH) waiting[count++] = run;
    while (count > 0 && cli_pool_room(pool) > 0 && cli_pool_submit(pool, (long)waiting[0]))
      memmove(waiting, waiting + 1, (size_t)--count * sizeof *waiting);
    if (cli_pool_wait(pool, WAIT_FOR_RANKS, send, (void *)(uintptr_t)ranks) != POL_OK) break;
  }
  cli_pool_free(&pool);
  free(waiting);
  if (run == CLI_RANK_END)
    ranks->send_outcome(CLI_RANK_END, "", 1);
  else
    ranks->abort();
}

/* Gives the study to the other ranks: its text and that of the model, one after the other; nothing
 * if it is invalid.  A model with data files is read by each rank. */
static int share_study(const cli_ranks *ranks, const pol_sweep *sweep)
{
  void *bytes = "";
  size_t size = 0;
  char *both = NULL;
  if (sweep != NULL) {
    const char *study = pol_sweep_study(sweep), *model = pol_sweep_model(sweep);
    const size_t first = strlen(study) + 1, second = strlen(model) + 1;
    both = malloc(1 + first + second);
    if (both != NULL) {
      both[0] = pol_sweep_needs_files(sweep) ? 'f' : 't';
      memcpy(both + 1, study, first);
      memcpy(both + 1 + first, model, second);
      bytes = both;
      size = 1 + first + second;
    }
  }
  ranks->share(&bytes, &size);
  free(both);
  return sweep == NULL || size > 0;
}

static int run_rank(const cli_ranks *ranks, const cli_args *args, int jobs)
{
  void *bytes = NULL;
  size_t size = 0;
  pol_sweep *sweep = NULL;
  pol_errors errors = {0};
  ranks->share(&bytes, &size);
  const char *text = bytes;
  if (size > 0) {
    const pol_status status =
        text[0] == 'f'
            ? pol_sweep_read_file(&sweep, args->operand, &errors)
            : pol_sweep_read_text(&sweep, text + 1, text + 2 + strlen(text + 1), &errors);
    if (sweep == NULL) {
      cli_complain("polhode sweep", "%s: this rank cannot read the study: %s", args->operand,
                   errors.count > 0 ? errors.items[0].rule : pol_status_text(status));
      ranks->abort();
    } else {
      serve_rank(ranks, sweep, jobs);
    }
  }
  pol_errors_clear(&errors);
  pol_sweep_free(&sweep);
  free(bytes);
  return CLI_DONE;
}

/* --- the command ------------------------------------------------------------------------------ */

/* The number of --jobs; without it, the cores of this machine, or one per rank.  0: it is wrong. */
static int read_jobs(const cli_args *args, int num_ranks)
{
  long jobs = num_ranks > 1 ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
  if (args->jobs != NULL && (!cli_read_count(args->jobs, &jobs) || jobs > MAX_JOBS)) return 0;
  return jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : (int)jobs;
}

/* STUDY.h5 in the current directory, unless --out is given. */
static char *out_path(const cli_args *args)
{
  if (args->out != NULL) return cli_format("%s", args->out);
  const char *slash = strrchr(args->operand, '/'), *name = slash ? slash + 1 : args->operand;
  const size_t length = strlen(name);
  const int stem =
      (int)(length > 5 && strcmp(name + length - 5, ".json") == 0 ? length - 5 : length);
  return cli_format("%.*s.h5", stem, name);
}

/* Refuses options that are wrong, before anything runs. */
static int check_options(const cli_args *args, int jobs, const char *out)
{
  if (strcmp(args->operand, "-") == 0)
    return cli_refuse_one("polhode sweep", args->json, "", "-",
                          "must be a file: a study that was interrupted is read again");
  if (jobs == 0)
    return cli_refuse_one("polhode sweep", args->json, "--jobs", args->jobs,
                          "must be a whole number from 1 to 1024");
  if (!cli_ends_in(out, ".h5"))
    return cli_refuse_one("polhode sweep", args->json, "--out", out, "must end in .h5");
  return CLI_DONE;
}

/* Reads the study and compares the options with it. */
static int read_study(const cli_args *args, const char *out, pol_sweep **sweep)
{
  pol_errors errors = {0};
  cli_list inputs = {0};
  const pol_status status = pol_sweep_read_file(sweep, args->operand, &errors);
  if (errors.count > 0) return cli_refuse(args->operand, args->json, &errors);
  int result = CLI_DONE;
  if (status != POL_OK || cli_inputs_add(&inputs, args->operand) != POL_OK ||
      cli_inputs_add(&inputs, pol_sweep_model_path(*sweep)) != POL_OK) {
    cli_complain("polhode sweep", "%s", pol_status_text(POL_NO_MEMORY));
    result = CLI_FAILED;
  }
  if (result == CLI_DONE)
    result = cli_check_output("polhode sweep", args->json, "--out", out, &inputs);
  if (result == CLI_DONE && args->plot != NULL)
    result = cli_check_output("polhode sweep", args->json, "--plot", args->plot, &inputs);
  if (result == CLI_DONE) result = cli_sweep_check_plot(args, *sweep);
  cli_inputs_free(&inputs);
  return result;
}

static int run(const cli_args *args)
{
  const cli_ranks *ranks = &cli_mpi_ranks != NULL ? &cli_mpi_ranks : NULL;
  int rank = 0;
  const int num_ranks = ranks != NULL ? ranks->begin(&rank) : 1;
  sweeping s = {
      .args = args, .ranks = ranks, .num_ranks = num_ranks, .jobs = read_jobs(args, num_ranks)};
  if (rank > 0) {
    const int result = run_rank(ranks, args, s.jobs > 0 ? s.jobs : 1);
    ranks->end();
    return result;
  }
  pol_sweep *sweep = NULL;
  char *out = out_path(args);
  int result = out != NULL ? check_options(args, s.jobs, out) : CLI_FAILED;
  if (result == CLI_DONE) result = read_study(args, out, &sweep);
  s.sweep = sweep;
  if (ranks != NULL && !share_study(ranks, result == CLI_DONE ? sweep : NULL)) result = CLI_FAILED;
  if (result == CLI_DONE) {
    result = run_study(&s, out);
    if (args->plot != NULL && (result == CLI_DONE || result == CLI_FAILED) &&
        access(out, F_OK) == 0) {
      const int drawn = cli_sweep_plot(args, out);
      if (drawn != CLI_DONE) result = drawn;
    }
  }
  cli_pool_free(&s.pool);
  free(s.given);
  free(out);
  pol_sweep_free(&sweep);
  if (ranks != NULL) ranks->end();
  return result;
}

static const cli_option options[] = {
    {"--out", "FILE.h5", "the file of the study (default: STUDY.h5)", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--jobs", "N", "processes (default: number of cores; with MPI: one per rank)", CLI_TEXT,
     offsetof(cli_args, jobs), NULL},
    {"--restart", NULL, "discard what an earlier process has finished", CLI_FLAG,
     offsetof(cli_args, restart), NULL},
    {"--plot", "FILE.svg|FILE.png|FILE.pdf", "draw a response over one or two values that vary",
     CLI_TEXT, offsetof(cli_args, plot), NULL},
    {"--response", "NAME", "what --plot draws; the first one by default", CLI_TEXT,
     offsetof(cli_args, response), NULL},
    {"--x", "KEY", "over which value --plot draws it; the first one by default", CLI_TEXT,
     offsetof(cli_args, x), NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_sweep = {
    .name = "sweep",
    .summary = "run a study: one model over many values of its parameters",
    .operand = "STUDY.json",
    .text = "Runs a model with all values that a study file gives: a grid, a list or a\n"
            "random sample (latin-hypercube). The runs are shared among processes. One\n"
            "HDF5 file has the values, the responses and how each run ended;\n"
            "docs/studies.md describes both files.\n\n"
            "Finished runs go to STUDY.h5.journal first. A study that was stopped or\n"
            "killed is continued by the same command, without repeating them; the file is\n"
            "the same in the end. A run that fails, or ends its process, is recorded with\n"
            "its reason.\n\n"
            "With several machines: mpirun polhode-mpi sweep STUDY.json, if polhode was\n"
            "built with MPI.\n\n"
            "Exit status: 0 all runs are done, 1 some have failed, 2 invalid input, 130\n"
            "interrupted.",
    .examples = "  polhode sweep examples/studies/heavy-top.json\n"
                "  polhode sweep examples/studies/heavy-top.json --jobs 2 --plot spin.svg",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
