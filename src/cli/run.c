/* polhode run: simulates a model, reports, and writes its result. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/summary.h"
#include "cli/terminal.h"

/* --- the result file -------------------------------------------------------------------------- */

/* ".h5", ".csv"; "" if the file name has no dot. */
static const char *suffix_of(const char *path)
{
  const char *name = strrchr(path, '/');
  const char *dot = strrchr(name != NULL ? name : path, '.');
  return dot != NULL ? dot : "";
}

static pol_status close_result(pol_writer **writer, const cli_outcome *outcome)
{
  const int failed = strcmp(outcome->status, "failed") == 0;
  return pol_writer_close(writer, outcome->status, failed ? outcome->failure.message : NULL);
}

/* --- the run ---------------------------------------------------------------------------------- */

/* A failure of the result file or the checkpoint in the terms of a failed calculation.  What a
 * result file holds is not known then, so that nothing more is said about it. */
static void describe_write_error(cli_outcome *outcome, const char *file, const char *path,
                                 const char *reason)
{
  pol_diagnostics *d = &outcome->failure;
  const pol_summary *summary = pol_simulation_summary(outcome->simulation);
  *d = (pol_diagnostics){.status = POL_IO, .equation = -1};
  d->t = summary->t;
  d->step = summary->counts.steps;
  d->h = outcome->model->settings.variable ? 0.0 : outcome->model->settings.step;
  snprintf(d->message, sizeof d->message, "the %s %.100s cannot be written: %.100s", file, path,
           reason);
  outcome->status = "failed";
  if (path == outcome->out) outcome->out = NULL;
}

/* Prints what the outcome is and gives the exit status. */
static int report(const cli_args *args, const cli_outcome *outcome)
{
  int failed = strcmp(outcome->status, "failed") == 0;
  int interrupted = strcmp(outcome->status, "interrupted") == 0;
  if (failed || strcmp(outcome->status, "invalid") == 0) {
    cli_print_failure(args->operand, &outcome->failure);
    if (outcome->out != NULL)
      fprintf(stderr, "  result: %s holds all steps before\n", outcome->out);
  }
  if (interrupted) {
    fprintf(stderr, "polhode run: %sinterrupted%s", cli_style_start(stderr, CLI_YELLOW),
            cli_style_start(stderr, CLI_PLAIN));
    if (outcome->simulation == NULL)
      fprintf(stderr, " at the start");
    else
      fprintf(stderr, " at t = %.10g s of %.10g s", pol_simulation_summary(outcome->simulation)->t,
              outcome->model->settings.end);
    if (outcome->out != NULL) fprintf(stderr, "; %s holds the results up to there", outcome->out);
    fprintf(stderr, "\n");
  }
  if (outcome->simulation != NULL)
    cli_print_run_warnings(pol_simulation_summary(outcome->simulation), args->quiet || args->json);
  if (args->json) {
    if (cli_json_print(cli_summary_json(outcome)) != 0) return CLI_FAILED;
  } else if (!args->quiet && outcome->simulation != NULL) {
    cli_summary_print(outcome);
  }
  fflush(stdout);
  if (args->watch) cli_follow_end(cli_summary_json(outcome));
  if (failed) return CLI_FAILED;
  return interrupted ? CLI_SIGNALLED + cli_stop_signal() : CLI_DONE;
}

/* Creates a result, which holds the model's text and the settings where the format has room for
 * them, with the row of t = 0.  POL_IO: errno has the reason. */
static pol_status open_result(pol_writer **writer, const cli_args *args, const pol_record *record,
                              cli_outcome *outcome)
{
  const pol_model *model = outcome->model;
  json_t *object = cli_settings_json(&model->settings);
  char *settings = object != NULL ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  json_t *values = cli_json_parameters(model);
  char *parameters = model->num_parameters > 0 ? json_dumps(values, JSON_REAL_PRECISION(17)) : NULL;
  json_decref(values);
  errno = 0;
  pol_status status = settings != NULL ? POL_OK : POL_NO_MEMORY;
  const pol_result_info about = {.name = model->name,
                                 .model = model->text,
                                 .num_overrides = args->num_overrides,
                                 .overrides = args->overrides,
                                 .settings = settings,
                                 .parameters = parameters};
  const pol_result_format format = strcmp(suffix_of(args->out), ".h5") == 0 ? POL_HDF5 : POL_CSV;
  if (status == POL_OK) status = pol_writer_create(writer, args->out, format, record, &about, 1);
  if (status == POL_OK) status = pol_writer_write(*writer);
  const int reason = errno;
  free(settings);
  free(parameters);
  errno = reason;
  outcome->out = args->out;
  outcome->rows = 1;
  outcome->columns = pol_record_count(record);
  return status;
}

/* Where and when the state is saved. */
typedef struct checkpoint {
  const char *path; /* a file of its own; NULL: none */
  double every;     /* seconds of wall time */
  int num_times;    /* in the result, at these times of the simulation, ascending; and, unless it
                       is large and there are none, at its end */
  double *times;
} checkpoint;

/* States up to this size are kept in every HDF5 result, bytes. */
static const size_t small_state = 1 << 24;

/* Whether the result keeps states. */
static int keeps_states(const cli_args *args, const checkpoint *saved, pol_simulation *simulation)
{
  size_t size = 0;
  if (args->out == NULL || strcmp(suffix_of(args->out), ".h5") != 0) return 0;
  return saved->num_times > 0 ||
         (pol_simulation_save(simulation, NULL, &size) == POL_OK && size <= small_state);
}

/* Adds the state to the result if this is the first row at one of its times, or after it; *next is
 * the first of those that have not come yet. */
static pol_status save_when_due(const checkpoint *saved, pol_writer *writer,
                                pol_simulation *simulation, int *next)
{
  const double t = pol_simulation_state(simulation)->t, round_off = 1e-12;
  const int before = *next;
  while (*next < saved->num_times && t >= saved->times[*next] * (1.0 - round_off)) ++*next;
  if (*next == before) return POL_OK;
  return pol_writer_save(writer, fmin(t, saved->times[before]), simulation);
}

/* Steps to the end of the time span, to a failure or to a signal, and writes each row; saves the
 * state in between, and where it stops without a failure. */
static void step_all(pol_simulation *simulation, pol_writer *writer, int with_progress,
                     const checkpoint *saved, int keeps, cli_outcome *outcome)
{
  cli_progress progress;
  double last = cli_seconds();
  int next = 0; /* of the times of the states in the result */
  const double *t = &pol_simulation_state(simulation)->t;
  while (next < saved->num_times && saved->times[next] < *t) next++;
  pol_status status = POL_OK, not_saved = POL_OK;
  cli_progress_begin(&progress, with_progress);
  errno = 0;
  status = save_when_due(saved, writer, simulation, &next);
  while (status == POL_OK && !cli_stop_signal() && !pol_simulation_finished(simulation)) {
    status = pol_simulation_step(simulation);
    if (status != POL_OK) break;
    if (writer != NULL) status = pol_writer_write(writer);
    outcome->rows++;
    /* the event that it has stopped at, if any; room for twice as many at each power of two */
    const int event = pol_simulation_event_index(simulation);
    const long count = outcome->num_events;
    if (status == POL_OK && event >= 0 && (count & (count - 1)) == 0) {
      const size_t room = count > 0 ? 2 * (size_t)count : 1;
      cli_event *longer = realloc(outcome->events, room * sizeof *longer);
      if (longer != NULL) outcome->events = longer;
      if (longer == NULL) status = POL_NO_MEMORY;
    }
    if (status == POL_OK && event >= 0)
      outcome->events[outcome->num_events++] =
          (cli_event){pol_simulation_state(simulation)->t, event};
    if (status == POL_OK) cli_progress_update(&progress, pol_simulation_progress(simulation));
    if (status == POL_OK) status = save_when_due(saved, writer, simulation, &next);
    if (status == POL_OK && saved->path != NULL && cli_seconds() - last >= saved->every) {
      not_saved = pol_checkpoint_write(saved->path, simulation);
      if (not_saved != POL_OK) break;
      last = cli_seconds();
    }
  }
  cli_progress_end(&progress);
  if (status == POL_OK && keeps) status = pol_writer_save(writer, *t, simulation);
  if (status == POL_OK && not_saved == POL_OK && saved->path != NULL)
    not_saved = pol_checkpoint_write(saved->path, simulation);

  if (not_saved != POL_OK) {
    describe_write_error(outcome, "checkpoint", saved->path,
                         not_saved == POL_IO ? strerror(errno) : pol_status_text(not_saved));
  } else if (status == POL_IO) {
    describe_write_error(outcome, "result file", outcome->out, strerror(errno));
  } else if (status == POL_NO_MEMORY) {
    outcome->status = "failed";
    outcome->failure = (pol_diagnostics){.status = status, .equation = -1};
    snprintf(outcome->failure.message, sizeof outcome->failure.message, "%s",
             pol_status_text(status));
  } else if (status != POL_OK && status != POL_CANCELLED) {
    outcome->status = "failed";
    outcome->failure = *pol_simulation_diagnostics(simulation);
  } else if (!pol_simulation_finished(simulation)) {
    outcome->status = "interrupted";
    pol_simulation_review(simulation);
  }
}

/* Estimates the accuracy of a run that is done: if it is asked for or, where a table is printed,
 * costs little. */
static void estimate_accuracy(const cli_args *args, const pol_simulation *simulation,
                              cli_outcome *outcome)
{
  const double short_run = 1.0; /* s */
  const int shown = !args->quiet && (!args->json || args->served);
  const int little = shown && outcome->wall_seconds < short_run;
  if (strcmp(outcome->status, "done") != 0 || !(args->accuracy || little)) return;
  cli_progress progress;
  pol_settings settings = outcome->model->settings;
  settings.progress = (pol_progress){cli_progress_report, &progress};
  cli_progress_begin(&progress, !args->quiet);
  const pol_status status = pol_accuracy_estimate(simulation, &settings, &outcome->accuracy);
  cli_progress_end(&progress);
  if (status != POL_OK)
    snprintf(outcome->accuracy.reason, sizeof outcome->accuracy.reason, "%s",
             status == POL_CANCELLED ? "interrupted" : pol_status_text(status));
}

/* Runs a simulation that has started; keeps: its result keeps states. */
static int run_simulation(const cli_args *args, const checkpoint *saved, int keeps,
                          pol_simulation *simulation, cli_outcome *outcome)
{
  pol_record *record = NULL;
  pol_writer *writer = NULL;
  pol_status status = POL_OK;
  outcome->simulation = simulation;
  if (args->out != NULL) status = pol_record_create(&record, simulation);
  if (record != NULL) status = open_result(&writer, args, record, outcome);
  /* at once, so that a path that is wrong does not cost a run */
  pol_status not_saved = POL_OK;
  if (status == POL_OK && saved->path != NULL)
    not_saved = pol_checkpoint_write(saved->path, simulation);

  int result;
  if (not_saved == POL_IO) {
    result = cli_cannot_write("polhode run", args->json, "--checkpoint", saved->path, errno);
  } else if (not_saved != POL_OK) {
    cli_complain("polhode run", "%s", pol_status_text(not_saved));
    result = CLI_FAILED;
  } else if (status == POL_IO) {
    result = cli_cannot_write("polhode run", args->json, "--out", args->out, errno);
  } else if (status != POL_OK) {
    cli_complain("polhode run", "%s", pol_status_text(status));
    result = CLI_FAILED;
  } else {
    if (args->quiet && !args->json) cli_note_moves(simulation);
    const double start = cli_seconds();
    step_all(simulation, writer, !args->quiet, saved, keeps, outcome);
    if (close_result(&writer, outcome) != POL_OK && strcmp(outcome->status, "failed") != 0)
      describe_write_error(outcome, "result file", outcome->out, strerror(errno));
    outcome->wall_seconds = cli_seconds() - start;
    estimate_accuracy(args, simulation, outcome);
    result = report(args, outcome);
  }
  close_result(&writer, outcome);
  pol_record_free(&record);
  return result;
}

/* Progress of a run.  A step that is interrupted and repeated may leave other bits than one that is
 * not, so that a run with a checkpoint stops between steps. */
typedef struct run_progress {
  cli_progress progress;
  int whole_steps;
} run_progress;

static int report_progress(const char *stage, double share, void *user)
{
  run_progress *own = user;
  const int stops = cli_progress_report(stage, share, &own->progress);
  return stops && !own->whole_steps;
}

/* Goes to the state of --resume or --from and, without rows, on to the time of --at.  Gives the
 * exit status. */
static int continue_from(const cli_args *args, pol_simulation *simulation, cli_outcome *outcome)
{
  char message[256] = "", *end = NULL;
  double at = (double)INFINITY;
  if (args->at != NULL) {
    at = strtod(args->at, &end);
    const char *rule = NULL;
    if (end == args->at || *end != '\0' || !(at >= 0.0 && at <= outcome->model->settings.end))
      rule = "must be a time in s, from 0 to the end of the run";
    if (args->from == NULL) rule = "needs --resume FILE or --from FILE";
    if (rule != NULL) return cli_refuse_one("polhode run", args->json, "--at", args->at, rule);
  }
  if (args->from == NULL) return CLI_DONE;
  pol_status status = pol_checkpoint_read(args->from, at, simulation, message, sizeof message);
  if (status == POL_IO || status == POL_BAD_ARGUMENT)
    return cli_refuse_one("polhode run", args->json, args->resume ? "--resume" : "--from",
                          args->from, message);
  const double *t = &pol_simulation_state(simulation)->t;
  const double saved_at = *t;
  while (status == POL_OK && args->at != NULL && *t < at * (1.0 - 1e-12) && !cli_stop_signal() &&
         !pol_simulation_finished(simulation))
    status = pol_simulation_step(simulation);
  if (status == POL_OK && !args->quiet && *t != saved_at)
    fprintf(stderr, "polhode run: continues %s from t = %.10g s, after its state of t = %.10g s\n",
            args->from, *t, saved_at);
  else if (status == POL_OK && !args->quiet)
    fprintf(stderr, "polhode run: continues %s from t = %.10g s\n", args->from, *t);
  if (status == POL_OK || status == POL_CANCELLED) return CLI_DONE;
  outcome->status = "failed";
  outcome->failure = *pol_simulation_diagnostics(simulation);
  return report(args, outcome);
}

/* Runs a model that has been read. */
static int run_model(const cli_args *args, const checkpoint *saved, const pol_model *model)
{
  cli_outcome outcome = {
      .status = "done", .source = args->operand, .model = model, .verbose = args->verbose};
  pol_simulation *simulation = NULL;
  pol_estimate estimate;
  run_progress progress = {.whole_steps = 0};
  int result;
  cli_catch_signals();
  cli_print_warnings(&model->settings);
  if (pol_simulation_estimate(model->mechanism, &model->settings, &estimate) == POL_OK)
    cli_warn_memory(&estimate, args->out != NULL ? pol_writer_memory(model->mechanism) : 0.0);
  pol_settings settings = model->settings;
  settings.progress = (pol_progress){report_progress, &progress};
  cli_progress_begin(&progress.progress, !args->quiet);
  const pol_status status =
      pol_model_create_simulation(&simulation, model, &settings, &outcome.failure);
  cli_progress_end(&progress.progress); /* from now on it only asks to stop */
  if (status == POL_OK) {
    const int keeps = keeps_states(args, saved, simulation);
    progress.whole_steps = keeps || saved->path != NULL;
    if (progress.whole_steps) pol_simulation_allow_later_end(simulation); /* if memory allows */
    const char *unsaved = pol_simulation_unsaved(simulation);
    if (unsaved != NULL && (saved->path != NULL || saved->num_times > 0))
      result = cli_refuse_one("polhode run", args->json,
                              saved->path != NULL ? "--checkpoint" : "--checkpoint-at", unsaved,
                              "is a controller whose state cannot be saved: its FMU has not "
                              "canGetAndSetFMUState and canSerializeFMUState");
    else
      result = continue_from(args, simulation, &outcome);
    if (result == CLI_DONE) result = run_simulation(args, saved, keeps, simulation, &outcome);
  } else if (status == POL_BAD_ARGUMENT) {
    const int of_fmu = strncmp(outcome.failure.where, "controller ", 11) == 0;
    result =
        cli_refuse_one(args->operand, args->json, of_fmu ? outcome.failure.where : "simulation", "",
                       outcome.failure.message);
  } else {
    const int invalid = cli_start_status(status) == CLI_INVALID;
    outcome.status = invalid ? "invalid" : status == POL_CANCELLED ? "interrupted" : "failed";
    result = report(args, &outcome);
    if (invalid && result == CLI_DONE) result = CLI_INVALID;
  }
  free(outcome.events);
  pol_simulation_free(&simulation);
  return result;
}

/* The same after a check of the options against the model. */
static int run_checked(const cli_args *args, const checkpoint *saved, const pol_model *model)
{
  const pol_settings *settings = &model->settings;
  const int by_tolerance =
      settings->variable && settings->options.control.controller != POL_CONTROLLER_REVERSIBLE;
  for (int i = 0; by_tolerance && i < args->num_overrides; i++)
    if (strncmp(args->overrides[i], "simulation.step=", 16) == 0)
      return cli_refuse_one("polhode run", args->json, "--step", "",
                            "has no effect beside rtol or atol, which choose the steps; --set "
                            "simulation.steps=fixed keeps them equal");
  return run_model(args, saved, model);
}

int cli_run_model(const cli_args *args, const pol_model *model)
{
  const checkpoint nowhere = {.path = NULL};
  const int result = cli_check_controllers(args, model);
  return result == CLI_DONE ? run_checked(args, &nowhere, model) : result;
}

/* Reads the list of --checkpoint-at, to be freed.  Returns the rule that it violates, or NULL. */
static const char *read_times(const cli_args *args, checkpoint *saved)
{
  const char *at = args->checkpoint_at;
  if (args->out == NULL || strcmp(suffix_of(args->out), ".h5") != 0)
    return "needs --out FILE.h5, which has the states; --checkpoint FILE saves the last one";
  size_t count = 1;
  for (const char *c = at; *c != '\0'; c++) count += *c == ',';
  saved->times = calloc(count, sizeof *saved->times);
  if (saved->times == NULL) return pol_status_text(POL_NO_MEMORY);
  for (;; at++) {
    char *end;
    const double t = strtod(at, &end);
    const int rises = saved->num_times == 0 || t > saved->times[saved->num_times - 1];
    if (end == at || (*end != ',' && *end != '\0') || !(t >= 0.0) || !rises) {
      free(saved->times);
      return "must be ascending times in s, separated by commas";
    }
    saved->times[saved->num_times++] = t;
    at = end;
    if (*at == '\0') return NULL;
  }
}

static int run(const cli_args *given)
{
  /* a table on standard output, without a summary behind it */
  cli_args changed = *given;
  const cli_args *args = &changed;
  const int to_output = given->out != NULL && strcmp(given->out, "-") == 0;
  if (to_output && !given->json) {
    changed.out = "/dev/stdout";
    changed.quiet = 1;
  }
  if (given->resume != NULL && given->from != NULL)
    return cli_refuse_one("polhode run", args->json, "--from", given->from,
                          "must not be given beside --resume, which is the same");
  if (given->resume != NULL) changed.from = given->resume;
  const char *out = to_output && !given->json ? NULL : args->out,
             *suffix = out != NULL ? suffix_of(out) : "";
  const char *rule = NULL;
  if (suffix[0] != '\0' && strcmp(suffix, ".csv") != 0 && strcmp(suffix, ".h5") != 0)
    rule = "must end in .h5 or .csv";
  if (out != NULL && out[0] == '\0') rule = "the file name is empty";
  if (out != NULL && strcmp(out, "-") == 0 && args->json)
    rule = "must not be standard output beside --json, which writes there";
  if (rule != NULL) return cli_refuse_one("polhode run", args->json, "--out", out, rule);
  if (args->watch && (args->out == NULL || strcmp(suffix, ".h5") != 0))
    return cli_refuse_one("polhode run", args->json, "--watch", "",
                          "needs --out FILE.h5, which the page reads");
  checkpoint saved = {.path = args->checkpoint, .every = 60.0};
  if (saved.path != NULL && saved.path[0] == '\0')
    return cli_refuse_one("polhode run", args->json, "--checkpoint", "", "the file name is empty");
  if (args->checkpoint_every != NULL) {
    char *end;
    saved.every = strtod(args->checkpoint_every, &end);
    if (end == args->checkpoint_every || *end != '\0' || !(saved.every > 0.0))
      rule = "must be a number of seconds above 0";
    else if (saved.path == NULL)
      rule = "needs --checkpoint";
    if (rule != NULL)
      return cli_refuse_one("polhode run", args->json, "--checkpoint-every", args->checkpoint_every,
                            rule);
  }
  if (args->checkpoint_at != NULL) {
    rule = read_times(args, &saved);
    if (rule != NULL)
      return cli_refuse_one("polhode run", args->json, "--checkpoint-at", args->checkpoint_at,
                            rule);
  }
  pol_model *model = NULL;
  int result = cli_read_model(args, &model);
  if (result == CLI_DONE) result = cli_check_model_output("polhode run", args, "--out", out, model);
  if (result == CLI_DONE && saved.num_times > 0 &&
      saved.times[saved.num_times - 1] > model->settings.end)
    result = cli_refuse_one("polhode run", args->json, "--checkpoint-at", args->checkpoint_at,
                            "must not be after the end of the run");
  if (result == CLI_DONE)
    result = cli_check_model_output("polhode run", args, "--checkpoint", saved.path, model);
  if (result == CLI_DONE) result = cli_check_controllers(args, model);
  if (result == CLI_DONE && args->watch) result = cli_follow_begin(args, model);
  if (result == CLI_DONE) result = run_checked(args, &saved, model);
  free(saved.times);
  pol_model_free(&model);
  return result;
}

/* --- the command ------------------------------------------------------------------------------ */

static const cli_option options[] = {
    {"--out", "FILE.h5|FILE.csv", "write every step, or the output times, to this file", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    CLI_RUN_OPTIONS,
    {"--checkpoint", "FILE", "save the state there, at the end, at Ctrl-C and every minute",
     CLI_TEXT, offsetof(cli_args, checkpoint), NULL},
    {"--checkpoint-every", "SECONDS", "of wall time, instead of every minute", CLI_TEXT,
     offsetof(cli_args, checkpoint_every), NULL},
    {"--checkpoint-at", "TIMES", "keep states in the result FILE.h5 at these times (0.5,1)",
     CLI_TEXT, offsetof(cli_args, checkpoint_at), NULL},
    {"--resume", "FILE", "continue a result FILE.h5 or a checkpoint of the same model and options",
     CLI_TEXT, offsetof(cli_args, resume), NULL},
    {"--from", "FILE", "the same as --resume", CLI_TEXT, offsetof(cli_args, from), NULL},
    {"--at", "T", "with --resume: from this time on, instead of the last saved state", CLI_TEXT,
     offsetof(cli_args, at), NULL},
    {"--watch", NULL, "serve a page that shows the run while it goes on; needs --out FILE.h5",
     CLI_FLAG, offsetof(cli_args, watch), NULL},
    {"--verbose", NULL, "also parameters and iterations of the method, residuals, invariants",
     CLI_FLAG, offsetof(cli_args, verbose), NULL},
    {"--accuracy", NULL, "estimate the error by coarser runs; default: for runs below a second",
     CLI_FLAG, offsetof(cli_args, accuracy), NULL},
    CLI_JSON_OPTION,
};

#define MODEL "models/bruels-cardona-2010/heavy_top.json"

const cli_command cli_run = {
    .name = "run",
    .summary = "simulate a model",
    .operand = "MODEL.json",
    .text = "Simulates the model from t = 0 to its end time and prints a summary: how\n"
            "accurate it is, steps, final positions, reactions, energy. Options replace\n"
            "values of the model file.\n\n"
            "The accuracy is that of positions and rotations at the end, estimated from\n"
            "runs with steps two and four times as long, or larger tolerances.\n\n"
            "Ctrl-C stops the run, normally within a second. A second Ctrl-C stops it\n"
            "immediately. Results up to a failure or an interruption are kept.\n\n"
            "A run can be continued later, also to a later end: from its result FILE.h5,\n"
            "which keeps the state of its end, or from a file of --checkpoint. --from gives\n"
            "the numbers of the uninterrupted run, to the last bit; with variable steps and\n"
            "a later end, those of a run with control.span of the old end.\n\n"
            "With --watch a page in the browser shows the run while it goes on.\n\n"
            "Exit status: 0 done, 1 the simulation failed, 2 invalid input, 130 stopped by\n"
            "Ctrl-C (143 by SIGTERM).",
    .examples = "  polhode run " MODEL "\n"
                "  polhode run " MODEL " --out top.h5\n"
                "  polhode run " MODEL " --out top.csv --step 1e-4\n"
                "  polhode run " MODEL " --formulation se3 --json\n"
                "  polhode run " MODEL " --checkpoint top.state\n"
                "  polhode run " MODEL " --from top.state --out rest.csv --quiet\n"
                "  polhode run " MODEL " --from top.h5 --end 2 --out rest.h5 -q\n"
                "  polhode run " MODEL " --rtol 1e-6 --set simulation.index=stabilized-2\n"
                "  polhode run " MODEL " --set 'bodies[0].mass=3' --set simulation.rho_inf=0.8",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
