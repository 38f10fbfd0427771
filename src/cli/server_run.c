/* Runs of polhode serve, each in a process of its own, by the code of polhode run: what the child
 * does, and what the server makes of its messages.
 *
 * Messages are lines of JSON, each an object with one of the keys "files", "parameters" (with
 * "dropped"), "stage" (with "share") and "page". */
#define _XOPEN_SOURCE 700

#include "cli/server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <polhode/view.h>

#include "cli/json_out.h"
#include "cli/terminal.h"

/* --- in the child: messages ------------------------------------------------------------------- */

static int message_pipe;

void cli_server_send(int pipe, json_t *message)
{
  char *text = message != NULL ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  const size_t size = text != NULL ? strlen(text) + 1 : 0;
  if (text != NULL) text[size - 1] = '\n';
  for (size_t sent = 0; sent < size;) {
    const ssize_t count = write(pipe, text + sent, size - sent);
    if (count < 0 && errno != EINTR) break; /* the server has gone */
    if (count > 0) sent += (size_t)count;
  }
  free(text);
  json_decref(message);
}

/* The same from a child, which ends with the server (SIGPIPE). */
static void send_message(json_t *message)
{
  cli_server_send(message_pipe, message);
}

static void send_progress(const char *stage, double share)
{
  send_message(
      json_pack("{s:o, s:o}", "stage", cli_json_text(stage), "share", cli_json_number(share)));
}

/* --- in the child: parameters ----------------------------------------------------------------- */

/* What the value of a parameter is without the page: that of --param, else of the file; NULL if the
 * model has none of this name, or it is not JSON. */
static json_t *value_in_file(const cli_args *args, const json_t *tree, const char *name)
{
  json_t *value = json_object_get(json_object_get(tree, "parameters"), name);
  const size_t length = strlen(name);
  if (json_is_object(value)) value = json_object_get(value, "value");
  if (value == NULL) return NULL;
  for (int i = 0; i < args->num_overrides; i++) {
    const char *text = args->overrides[i] + strlen("parameters.");
    if (strncmp(args->overrides[i], "parameters.", strlen("parameters.")) != 0 ||
        strncmp(text, name, length) != 0 || text[length] != '=')
      continue;
    char *end;
    const double number = strtod(text + length + 1, &end);
    return *end == '\0' && isfinite(number) ? json_real(number) : json_string(text + length + 1);
  }
  return json_incref(value);
}

/* The overrides of the command line, and after them the values of the page, as far as the file
 * still has what they replace: a value that was changed in the file counts more.  Names of the
 * others are appended to dropped. */
static void add_values(const cli_server *server, const json_t *tree, cli_args *args,
                       json_t *dropped)
{
  const char *name;
  json_t *item;
  const size_t most = (size_t)args->num_overrides + json_object_size(server->values);
  char **all = calloc(most + 1, sizeof *all);
  if (all == NULL) return;
  int count = 0;
  for (int i = 0; i < args->num_overrides; i++) {
    /* one that the page replaces is left out */
    const char *own =
        strncmp(args->overrides[i], "parameters.", 11) == 0 ? args->overrides[i] + 11 : "";
    char *key = cli_format("%.*s", (int)strcspn(own, "="), own);
    if (key == NULL || json_object_get(server->values, key) == NULL)
      all[count++] = args->overrides[i];
    free(key);
  }
  json_object_foreach(server->values, name, item)
  {
    const double base = json_number_value(json_object_get(item, "base"));
    json_t *now = value_in_file(args, tree, name);
    if (tree != NULL && (!json_is_number(now) || json_number_value(now) != base))
      json_array_append_new(dropped, json_string(name));
    else
      all[count++] = cli_format("parameters.%s=%.17g", name,
                                json_number_value(json_object_get(item, "value")));
    json_decref(now);
  }
  args->overrides = all;
  args->num_overrides = count;
}

json_t *cli_server_parameters(const cli_args *args, const json_t *tree, const pol_model *model,
                              json_t *dropped)
{
  json_t *list = json_array();
  for (int i = 0; i < model->num_parameters; i++) {
    const pol_parameter *own = &model->parameters[i];
    json_t *value = value_in_file(args, tree, own->name);
    json_t *item = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", cli_json_text(own->name), //
                             "value", cli_json_number(own->value),                               //
                             "unit", cli_json_text(own->unit),                                   //
                             "description", cli_json_text(own->description),                     //
                             "min", cli_json_number(own->min),                                   //
                             "max", cli_json_number(own->max));
    /* a number can be moved, an expression follows others */
    if (value != NULL) cli_json_set(&item, json_is_number(value) ? "base" : "expression", value);
    cli_json_append(&list, item);
  }
  return json_pack("{s:o, s:o*}", "parameters", list, "dropped", dropped);
}

/* --- in the child: work ----------------------------------------------------------------------- */

/* Writes a page of the result of the run, which may still be going on in another process, with the
 * model that it holds; meshes are in the folder of the model file. */
static void write_page(const cli_server *server, const char *view)
{
  char message[512] = "", name[64];
  pol_result *result = NULL;
  pol_model *model = NULL;
  pol_errors errors = {0};
  snprintf(name, sizeof name, "run-%ld.h5", server->run_number);
  char *from =
      server->follows != NULL ? cli_format("%s", server->follows) : cli_server_path(server, name);
  snprintf(name, sizeof name, "view-%s.html", view);
  char *to = cli_server_path(server, name);
  const int length = cli_folder_length(server->model);
  char *folder = cli_format("%.*s", length > 1 ? length - 1 : length, server->model);
  pol_status status = from != NULL && to != NULL && folder != NULL ? POL_OK : POL_NO_MEMORY;
  if (status == POL_OK) status = pol_result_open(&result, from, message, sizeof message);
  const pol_result_info *info = status == POL_OK ? pol_result_about(result) : NULL;
  if (status == POL_OK)
    status = pol_model_read_text(&model, info->model, info->num_overrides,
                                 (const char *const *)info->overrides, &errors);
  const pol_view_options how = {.folder = folder};
  if (status == POL_OK)
    status = pol_view_write(to, model, result, &how, NULL, message, sizeof message);
  if (status == POL_OK)
    send_message(json_pack("{s:s}", "page", view));
  else
    send_message(json_pack("{s:o}", "no_page",
                           cli_json_text(message[0] != '\0' ? message : pol_status_text(status))));
}

/* Reads and runs the model, and writes the page of its result.  Gives the exit status. */
static int run_child(cli_server *server)
{
  char name[64];
  cli_args args = *server->args;
  pol_model *model = NULL;
  json_t *dropped = json_array();
  json_t *tree = json_load_file(server->model, 0, NULL);
  cli_progress_listen(send_progress);
  send_message(json_pack("{s:o}", "files", cli_files_of_model(server->model, tree)));
  add_values(server, tree, &args, dropped);
  snprintf(name, sizeof name, "run-%ld.h5", server->run_number);
  args.out = cli_server_path(server, name);
  args.json = args.served = 1;
  args.quiet = args.verbose = 0;
  int status = cli_read_model(&args, &model);
  if (status != CLI_DONE) return status;
  send_message(cli_server_parameters(server->args, tree, model, dropped));
  status = cli_run_model(&args, model);
  fflush(stdout);
  if (args.out != NULL && access(args.out, R_OK) == 0) {
    snprintf(name, sizeof name, "%ld", server->run_number);
    write_page(server, name);
  }
  return status;
}

static int page_child(cli_server *server)
{
  write_page(server, server->new_view);
  return CLI_DONE;
}

/* --- in the server: processes ----------------------------------------------------------------- */

/* The child's first steps: streams to files, no sockets, no signals of the terminal.  Never
 * returns. */
static void be_child(cli_server *server, int (*work)(cli_server *), int pipe, const char *log)
{
  char *out = cli_format("%s/%s.json", server->folder, log);
  char *err = cli_format("%s/%s.txt", server->folder, log);
  const int mode = O_WRONLY | O_CREAT | O_TRUNC;
  const int streams[3] = {open("/dev/null", O_RDONLY), out != NULL ? open(out, mode, 0600) : -1,
                          err != NULL ? open(err, mode, 0600) : -1};
  setpgid(0, 0);
  setenv("TMPDIR", server->folder,
         1); /* what a run leaves when it is killed goes with the server */
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  for (int i = 0; i < 3; i++)
    if (streams[i] < 0 || dup2(streams[i], i) < 0) _exit(CLI_FAILED);
  message_pipe = dup2(pipe, 3);
  for (int i = 4; i < FD_SETSIZE; i++) close(i);
  cli_color_choose("never");
  const int status = work(server);
  fflush(NULL);
  _exit(status);
}

/* Starts a child.  1 if it has started. */
static int start_job(cli_server *server, cli_job *job, int (*work)(cli_server *), const char *log)
{
  int ends[2];
  *job = (cli_job){.started = cli_seconds()};
  if (pipe(ends) != 0) return 0;
  fflush(NULL);
  const pid_t pid = ends[0] < FD_SETSIZE ? fork() : -1;
  if (pid == 0) be_child(server, work, ends[1], log);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return 0;
  }
  job->pid = pid;
  job->pipe = ends[0];
  fcntl(job->pipe, F_SETFL, O_NONBLOCK);
  return 1;
}

/* Waits for a child that has ended or is about to; gives its status as waitpid does.  What is no
 * child, a run that is followed, is only left. */
static int end_job(cli_job *job)
{
  int status = 0;
  while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(job->pipe);
  free(job->text);
  job->text = NULL;
  job->pid = 0;
  return status;
}

/* --- in the server: what children report ------------------------------------------------------ */

/* Removes a file of the temporary folder: "view-%s.html" or "run-%s.h5"; "" is no name. */
static void remove_file(const cli_server *server, const char *format, const char *number)
{
  char name[CLI_VIEW_SIZE + 16];
  snprintf(name, sizeof name, format, number);
  char *path = number[0] != '\0' ? cli_server_path(server, name) : NULL;
  if (path != NULL) unlink(path);
  free(path);
}

static const char view_format[] = "view-%s.html", run_format[] = "run-%s.h5";

/* A page is written: browsers load it now.  The one before may still be loading. */
static void show_view(cli_server *server, const char *view)
{
  remove_file(server, view_format, server->old_view);
  memcpy(server->old_view, server->view, sizeof server->view);
  snprintf(server->view, sizeof server->view, "%s", view);
  server->loads = 0;
  server->version++;
}

static void take_message(cli_server *server, const cli_job *job, const json_t *message)
{
  json_t *files = json_object_get(message, "files"), *item;
  json_t *parameters = json_object_get(message, "parameters");
  const char *stage = json_string_value(json_object_get(message, "stage"));
  const char *page = json_string_value(json_object_get(message, "page"));
  const char *no_page = json_string_value(json_object_get(message, "no_page"));
  json_t *report = json_object_get(message, "report");
  size_t index;
  if (files != NULL) {
    json_decref(server->files);
    server->files = json_incref(files);
    cli_watch_set(&server->watch, files);
    server->version++;
  } else if (parameters != NULL) {
    json_decref(server->parameters);
    server->parameters = json_incref(parameters);
    json_array_foreach(json_object_get(message, "dropped"), index, item)
        json_object_del(server->values, json_string_value(item));
    server->version++;
  } else if (stage != NULL) {
    snprintf(server->stage, sizeof server->stage, "%s", stage);
    server->share = json_number_value(json_object_get(message, "share"));
    server->tick++;
  } else if (report != NULL) {
    json_decref(server->report);
    server->report = json_incref(report);
  } else if (page != NULL) {
    show_view(server, page);
  } else if (no_page != NULL && job == &server->run) {
    snprintf(server->no_page, sizeof server->no_page, "%s", no_page);
  }
}

/* Reads what is in the pipe and takes each line.  0 at its end. */
static int read_job(cli_server *server, cli_job *job)
{
  char block[4096];
  ssize_t count;
  while ((count = read(job->pipe, block, sizeof block)) > 0) {
    char *longer = realloc(job->text, job->used + (size_t)count);
    if (longer == NULL) return 0;
    job->text = longer;
    memcpy(job->text + job->used, block, (size_t)count);
    job->used += (size_t)count;
    char *line = job->text, *end;
    const char *after = job->text + job->used;
    while ((end = memchr(line, '\n', (size_t)(after - line))) != NULL) {
      json_t *message = json_loadb(line, (size_t)(end - line), 0, NULL);
      take_message(server, job, message);
      json_decref(message);
      line = end + 1;
    }
    job->used = (size_t)(after - line);
    memmove(job->text, line, job->used);
  }
  return count < 0 && (errno == EAGAIN || errno == EINTR);
}

/* The report of a run that has left none: why it ended. */
static json_t *crash_report(const cli_server *server, int wait_status)
{
  char line[256], last[256] = "";
  char *path = cli_server_path(server, "run.txt");
  FILE *file = path != NULL ? fopen(path, "r") : NULL;
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (line[0] != '\n') snprintf(last, sizeof last, ": %.*s", (int)strcspn(line, "\n"), line);
  if (file != NULL) fclose(file);
  free(path);
  const int signal_number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  char *why = server->run.deadline > 0.0 ? cli_format("the run was stopped")
              : signal_number != 0       ? cli_format("the run was ended by signal %d (%s)%s",
                                                      signal_number, strsignal(signal_number), last)
                                         : cli_format("the run ended without a report%s", last);
  json_t *report = json_pack("{s:s, s:o}", "status", //
                             server->run.deadline > 0.0 ? "interrupted" : "crashed", "message",
                             cli_json_text(why != NULL ? why : "out of memory"));
  free(why);
  return report;
}

/* One line on the terminal for a run that has ended. */
static void print_run(const cli_server *server)
{
  const size_t errors = json_array_size(json_object_get(server->report, "errors"));
  const json_t *text = json_object_get(json_object_get(server->report, "failure"), "message");
  if (text == NULL) text = json_object_get(server->report, "verdict");
  if (text == NULL) text = json_object_get(server->report, "message");
  char label[48];
  snprintf(label, sizeof label, "run %ld", server->run_number);
  if (errors > 0)
    cli_print_row(label, "%s: %zu error%s", server->status, errors, cli_plural((long)errors));
  else
    cli_print_row(label, "%s: %s", server->status, text != NULL ? json_string_value(text) : "");
  fflush(stdout);
}

/* Takes the report and the result of a run that has ended. */
static void finish_run(cli_server *server, int wait_status)
{
  static const char *const known[] = {"done", "failed", "interrupted", "invalid"};
  char number[CLI_VIEW_SIZE];
  char *report = cli_server_path(server, "run.json");
  server->seconds = cli_seconds() - server->run.started;
  if (server->follows == NULL) {
    json_decref(server->report);
    server->report = report != NULL ? json_load_file(report, 0, NULL) : NULL;
  }
  free(report);
  if (server->report == NULL) server->report = crash_report(server, wait_status);
  const char *status = json_string_value(json_object_get(server->report, "status"));
  server->status = "crashed";
  for (size_t i = 0; status != NULL && i < sizeof known / sizeof known[0]; i++)
    if (strcmp(status, known[i]) == 0) server->status = known[i];
  if (server->no_page[0] != '\0') {
    json_t *warnings = json_object_get(server->report, "warnings");
    json_array_append_new(warnings, json_sprintf("no page: %s", server->no_page));
  }
  /* its result takes the place of the one before */
  snprintf(number, sizeof number, "run-%ld.h5", server->run_number);
  char *result =
      server->follows != NULL ? cli_format("%s", server->follows) : cli_server_path(server, number);
  if (result != NULL && access(result, R_OK) == 0) {
    snprintf(number, sizeof number, "%ld", server->result_number);
    if (server->result_number > 0) remove_file(server, run_format, number);
    server->result_number = server->run_number;
  }
  free(result);
  server->version++;
  if (!server->args->quiet && !server->args->json && server->follows == NULL) print_run(server);
}

void cli_server_show_result(cli_server *server)
{
  snprintf(server->new_view, sizeof server->new_view, "%ld", server->run_number);
  start_job(server, &server->page, page_child, "page");
}

void cli_server_start(cli_server *server)
{
  static const double first_page = 2.0; /* s */
  server->run_number++;
  server->page_number = 0;
  server->stage[0] = server->no_page[0] = '\0';
  server->share = 0.0;
  server->next_page = cli_seconds() + first_page;
  if (!start_job(server, &server->run, run_child, "run")) {
    server->status = "crashed";
    json_decref(server->report);
    server->report = json_pack("{s:s, s:s}", "status", "crashed", "message",
                               "no process can be started for the run");
  }
  server->version++;
}

void cli_server_stop(cli_server *server)
{
  static const double patience = 3.0; /* s */
  if (server->run.pid == 0 || server->run.deadline > 0.0) return;
  kill(server->run.pid, SIGINT);
  if (server->follows == NULL) server->run.deadline = cli_seconds() + patience;
}

void cli_server_cancel(cli_server *server)
{
  char number[CLI_VIEW_SIZE];
  cli_job *const jobs[] = {&server->run, &server->page};
  for (int i = 0; i < 2; i++) {
    if (jobs[i]->pid == 0) continue;
    if (i == 1 || server->follows == NULL) kill(jobs[i]->pid, SIGKILL);
    end_job(jobs[i]);
    snprintf(number, sizeof number, "%ld", server->run_number);
    if (i == 0 && strcmp(server->view, number) != 0) remove_file(server, view_format, number);
    if (i == 0) remove_file(server, run_format, number);
    if (i == 1) remove_file(server, view_format, server->new_view);
  }
  server->version++;
}

void cli_server_attend(cli_server *server)
{
  const double now = cli_seconds();
  cli_job *run = &server->run, *page = &server->page;
  if (run->pid != 0 && run->deadline > 0.0 && now > run->deadline) kill(run->pid, SIGKILL);
  if (page->pid != 0 && !read_job(server, page)) {
    /* the next one when it costs a fifth of the time at most */
    const double taken = now - page->started;
    end_job(page);
    server->next_page = now + (taken > 0.5 ? 4.0 * taken : 2.0);
  }
  if (run->pid != 0 && !read_job(server, run)) {
    /* a page of the unfinished run must not come after that of the whole */
    if (page->pid != 0) {
      kill(page->pid, SIGKILL);
      end_job(page);
      remove_file(server, view_format, server->new_view);
    }
    finish_run(server, end_job(run));
  }
  if (run->pid != 0 && page->pid == 0 && now >= server->next_page) {
    snprintf(server->new_view, sizeof server->new_view, "%ld.%ld", server->run_number,
             ++server->page_number);
    server->next_page = now + 2.0;
    start_job(server, page, page_child, "page");
  }
}
