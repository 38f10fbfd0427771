/* The server of polhode serve: its address, its loop, and the state that pages see. */
#define _XOPEN_SOURCE 700

#include "cli/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/json_out.h"
#include "cli/terminal.h"

char *cli_server_path(const cli_server *server, const char *name)
{
  return cli_format("%s/%s", server->folder, name);
}

/* --- the state that pages see ----------------------------------------------------------------- */

/* Some keys of the report of a run; what it says about each body is not among them. */
static json_t *short_report(const json_t *report)
{
  static const char *const keys[] = {"status",  "verdict", "warnings",    "errors",
                                     "failure", "message", "method",      "choice",
                                     "steps",   "t",       "formulation", "wall_seconds"};
  json_t *object = json_object();
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    json_t *value = json_object_get(report, keys[i]);
    if (value != NULL) cli_json_set(&object, keys[i], json_incref(value));
  }
  return object;
}

json_t *cli_server_state(const cli_server *server)
{
  const char *slash = strrchr(server->model, '/');
  json_t *values = json_object(), *item;
  const char *name;
  json_object_foreach(server->values, name, item)
      cli_json_set(&values, name, json_incref(json_object_get(item, "value")));
  json_t *files = json_array();
  for (size_t i = 0; i < json_array_size(server->files); i++) {
    const json_t *file = json_array_get(server->files, i);
    const char *signature = json_string_value(json_object_get(file, "signature"));
    cli_json_append(&files, json_pack("{s:O, s:O, s:b}", "path", json_object_get(file, "path"),
                                      "name", json_object_get(file, "name"), "exists",
                                      signature != NULL && signature[0] != '\0'));
  }
  /* a page is of the run that its name begins with, and unfinished with a dot in it */
  json_t *view = server->view[0] == '\0' ? json_null()
                                         : json_pack("{s:s, s:I, s:b}", "page", server->view, "run",
                                                     (json_int_t)strtol(server->view, NULL, 10),
                                                     "partial", strchr(server->view, '.') != NULL);
  return json_pack("{s:b, s:I, s:s, s:o, s:o, s:I, s:s, s:o, s:o, s:o, s:O, s:o, s:o, s:I}", //
                   "follows", server->follows != NULL,                                       //
                   "server", (json_int_t)server->id,                                         //
                   "version", pol_version(),                                                 //
                   "model", cli_json_text(server->model),                                    //
                   "file", cli_json_text(slash != NULL ? slash + 1 : server->model),         //
                   "run", (json_int_t)server->run_number,                                    //
                   "status", server->run.pid != 0 ? "running" : server->status,              //
                   "seconds", cli_json_number(server->seconds),                              //
                   "report", short_report(server->report),                                   //
                   "view", view,                                                             //
                   "parameters", server->parameters,                                         //
                   "values", values,                                                         //
                   "files", files,                                                           //
                   "result", (json_int_t)server->result_number);
}

/* --- the address ------------------------------------------------------------------------------ */

/* A socket that listens on a port of the loopback address; -1 with errno if that fails. */
static int listen_on(int port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1, own = socket(AF_INET, SOCK_STREAM, 0);
  if (own < 0) return -1;
  setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(own, (const struct sockaddr *)&address, sizeof address) == 0 && listen(own, 64) == 0)
    return own;
  const int reason = errno;
  close(own);
  errno = reason;
  return -1;
}

/* Opens server->socket on this port; without one (-1) on the first free one of some.  Gives the
 * exit status. */
static int open_socket(cli_server *server, int port)
{
  enum { FIRST = 7654, MANY = 50 };
  server->socket = listen_on(port >= 0 ? port : FIRST);
  for (int i = 1; server->socket < 0 && errno == EADDRINUSE && port < 0 && i < MANY; i++)
    server->socket = listen_on(FIRST + i);
  if (server->socket < 0) {
    char text[16];
    const char *rule = errno == EADDRINUSE ? "is in use; without --port the next free one is taken"
                                           : strerror(errno);
    snprintf(text, sizeof text, "%d", port >= 0 ? port : FIRST);
    return cli_refuse_one("polhode serve", server->args->json, "--port", text, rule);
  }
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  if (getsockname(server->socket, (struct sockaddr *)&address, &size) != 0) return CLI_FAILED;
  server->port = ntohs(address.sin_port);
  return CLI_DONE;
}

/* Opens the page in the browser of the desktop; without one nothing happens. */
static void open_browser(const char *address)
{
  extern char **environ;
  char *words[] = {"xdg-open", (char *)address, NULL};
  posix_spawn_file_actions_t actions;
  pid_t pid;
  posix_spawn_file_actions_init(&actions);
  for (int stream = 0; stream < 3; stream++)
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", stream == 0 ? 0 : 1, 0);
  if (posix_spawnp(&pid, words[0], &actions, NULL, words, environ) != 0)
    cli_complain("polhode serve", "xdg-open is missing; open %s in a browser", address);
  posix_spawn_file_actions_destroy(&actions);
}

/* Prints the address and opens it; 0 if it cannot be printed. */
static int announce(const cli_server *server)
{
  const cli_args *args = server->args;
  char address[64];
  int printed = 1;
  snprintf(address, sizeof address, "http://127.0.0.1:%d/", server->port);
  if (args->json)
    printed = cli_json_print(json_pack("{s:s, s:i, s:o}", "address", address, "port", server->port,
                                       "model", cli_json_text(server->model))) == 0;
  else if (args->quiet)
    printed = printf("%s\n", address) > 0;
  else
    printed = printf("%s shows %s; Ctrl-C ends it\n", address, server->model) > 0;
  if (!printed || fflush(stdout) != 0) return 0;
  const int desktop = getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL;
  if (args->open || (!args->no_open && desktop && isatty(STDOUT_FILENO))) open_browser(address);
  return 1;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Waits until there is something to do, for a tenth of a second at most, and works on requests. */
static void wait_and_answer(cli_server *server)
{
  fd_set reads, writes, excepts;
  int most = -1;
  double seconds = 0.1;
  FD_ZERO(&reads);
  FD_ZERO(&writes);
  FD_ZERO(&excepts);
  const cli_job *const jobs[] = {&server->run, &server->page};
  for (int i = 0; i < 2; i++) {
    if (jobs[i]->pid == 0) continue;
    FD_SET(jobs[i]->pipe, &reads);
    if (jobs[i]->pipe > most) most = jobs[i]->pipe;
  }
  cli_http_wait(server, &reads, &writes, &excepts, &most, &seconds);
  struct timeval wait = {.tv_sec = 0, .tv_usec = (suseconds_t)(1e6 * seconds)};
  if (select(most + 1, &reads, &writes, &excepts, &wait) < 0) {
    FD_ZERO(&reads);
    FD_ZERO(&writes);
    FD_ZERO(&excepts);
  }
  cli_http_work(server, &reads, &writes, &excepts);
}

/* The terminal is closed. */
static volatile sig_atomic_t hung_up;

static void note_hangup(int number)
{
  (void)number;
  hung_up = 1;
}

static void loop(cli_server *server)
{
  /* a run that was followed is over when an open page has its result; or after some seconds */
  static const double patience = 10.0;
  double over = 0.0; /* clock */
  while (!cli_stop_signal() && !hung_up) {
    wait_and_answer(server);
    cli_server_attend(server);
    if (server->follows != NULL && server->run.pid == 0 && server->page.pid == 0) {
      const int shown = over > 0.0 && (server->loads > 0 || cli_seconds() > over + patience);
      if (shown || !cli_http_is_seen(server)) return;
      if (over == 0.0) cli_server_show_result(server);
      if (over == 0.0) over = cli_seconds();
    }
    if (server->follows != NULL) continue;
    if (cli_watch_changed(&server->watch, cli_seconds())) {
      server->wanted = 1;
      server->cancels = 1;
    }
    if (server->wanted && server->cancels && server->run.pid != 0) cli_server_cancel(server);
    if (server->wanted && server->run.pid == 0) {
      server->wanted = server->cancels = 0;
      cli_server_start(server);
    }
  }
}

/* Serves on the open socket until the end, in a temporary folder.  Gives the exit status. */
static int serve(cli_server *server)
{
  const char *given = getenv("TMPDIR");
  int result = CLI_FAILED;
  server->folder =
      cli_format("%s/polhode-serve-XXXXXX", given != NULL && given[0] != '\0' ? given : "/tmp");
  if (server->folder == NULL || mkdtemp(server->folder) == NULL) {
    cli_complain("polhode serve", "no temporary folder: %s", strerror(errno));
    close(server->socket);
  } else {
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* a page that is closed ends its request only */
    signal(SIGHUP, note_hangup);
    if (!cli_http_start(server)) {
      cli_complain("polhode serve", "the server cannot start");
      close(server->socket);
    } else {
      if (server->follows != NULL || announce(server)) {
        loop(server);
        result = CLI_DONE;
      }
      cli_server_cancel(server);
      cli_http_stop(server);
    }
    cli_remove_folder(server->folder);
  }
  free(server->folder);
  cli_watch_free(&server->watch);
  json_decref(server->files);
  json_decref(server->parameters);
  json_decref(server->values);
  json_decref(server->report);
  return result;
}

static cli_server new_server(const cli_args *args)
{
  return (cli_server){.args = args,
                      .model = args->operand,
                      .id = 100000LL * (long long)time(NULL) + (long long)getpid() % 100000LL,
                      .status = "waiting",
                      .parameters = json_array(),
                      .values = json_object()};
}

int cli_server_run(const cli_args *args, int port)
{
  cli_server server = new_server(args);
  const int result = open_socket(&server, port);
  if (result != CLI_DONE) {
    json_decref(server.parameters);
    json_decref(server.values);
    return result;
  }
  server.files = cli_files_of_model(server.model, NULL);
  cli_watch_set(&server.watch, server.files);
  server.wanted = 1;
  return serve(&server);
}

/* --- a run that is followed ------------------------------------------------------------------- */

static struct {
  int pipe;
  pid_t pid; /* of the server; 0: there is none */
} follower;

static void send_progress(const char *stage, double share)
{
  cli_server_send(follower.pipe, json_pack("{s:o, s:o}", "stage", cli_json_text(stage), "share",
                                           cli_json_number(share)));
}

int cli_follow_begin(const cli_args *args, const pol_model *model)
{
  int ends[2];
  cli_server server = new_server(args);
  server.follows = args->out;
  server.run_number = 1;
  const int result = open_socket(&server, -1);
  if (result != CLI_DONE) return result;
  if (pipe(ends) != 0) {
    cli_complain("polhode run", "--watch: %s", strerror(errno));
    return CLI_FAILED;
  }
  fprintf(stderr, "polhode run: http://127.0.0.1:%d/ shows the run\n", server.port);
  json_t *tree = json_load_file(server.model, 0, NULL);
  json_t *parameters = cli_server_parameters(args, tree, model, NULL);
  server.files = cli_files_of_model(server.model, tree);
  json_decref(server.parameters);
  server.parameters = json_incref(json_object_get(parameters, "parameters"));
  json_decref(parameters);
  json_decref(tree);
  fflush(NULL);
  const pid_t run = getpid();
  follower.pid = fork();
  if (follower.pid == 0) {
    /* Ctrl-C is for the run; the end of the pipe ends the server */
    setpgid(0, 0);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    server.run = (cli_job){.pid = run, .pipe = ends[0], .started = cli_seconds()};
    server.next_page = cli_seconds() + 1.0;
    _exit(serve(&server));
  }
  close(ends[0]);
  close(server.socket);
  json_decref(server.files);
  json_decref(server.parameters);
  json_decref(server.values);
  follower.pipe = ends[1];
  signal(SIGPIPE, SIG_IGN); /* the run goes on without its page */
  cli_progress_listen(send_progress);
  return CLI_DONE;
}

void cli_follow_end(json_t *report)
{
  if (follower.pid > 0) {
    if (report != NULL) cli_server_send(follower.pipe, json_pack("{s:O}", "report", report));
    close(follower.pipe);
    cli_progress_listen(NULL);
    while (waitpid(follower.pid, NULL, 0) < 0 && errno == EINTR) {
    }
    follower.pid = 0;
  }
  json_decref(report);
}
