/* HTTP requests to polhode serve and the responses (libmicrohttpd).
 *
 *     GET  /                the page
 *     GET  /events          the state as server-sent events: "state" and "progress"
 *     GET  /view/NUMBER     the viewer with a result
 *     GET  /source/INDEX    the text of a file of the model, by its place in the list of the state
 *     GET  /result/NUMBER   the result of a run, HDF5
 *     POST /parameters      {"values": {NAME: number or null}, "draft": whether the run may go on}
 *     POST /run, /stop      runs again; stops the run
 *
 * What a web page elsewhere could send through the browser of this computer is refused: the Host
 * must be that of this server (else a name of its own could point here, DNS rebinding), and POST
 * must come from this page (Origin) with JSON, which no form can send.  No path of a request names
 * a file. */
#define _XOPEN_SOURCE 700

#include "cli/server.h"

#include <fcntl.h>
#include <math.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json_out.h"
#include "cli/terminal.h"

enum { MAX_BODY = 65536, MAX_SOURCE = 1 << 24 };

/* A request that is arriving. */
typedef struct request {
  char *body;
  size_t size;
  int too_large;
  int is_view; /* of the page to show */
} request;

/* --- responses -------------------------------------------------------------------------------- */

/* Queues an answer with the headers that all have, and gives it away. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              struct MHD_Response *response)
{
  static const char *const headers[][2] = {
      {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "SAMEORIGIN"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
       "img-src 'self' data: blob:; media-src blob:; connect-src 'self' blob: data:; "
       "frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"}};
  if (response == NULL) return MHD_NO;
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
    MHD_add_response_header(response, headers[i][0], headers[i][1]);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
  const enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result say(struct MHD_Connection *connection, unsigned status, const char *text)
{
  return answer(connection, status, "text/plain; charset=utf-8",
                MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY));
}

/* Sends a file of at most so many bytes (0: any). */
static enum MHD_Result send_file(struct MHD_Connection *connection, const char *path, off_t most,
                                 const char *type)
{
  struct stat file;
  const int own = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (own >= 0 && fstat(own, &file) == 0 && S_ISREG(file.st_mode) &&
      (most == 0 || file.st_size <= most))
    return answer(connection, MHD_HTTP_OK, type,
                  MHD_create_response_from_fd64((uint64_t)file.st_size, own));
  if (own >= 0) close(own);
  return say(connection, MHD_HTTP_NOT_FOUND, "there is no such file\n");
}

/* --- events ----------------------------------------------------------------------------------- */

/* A page that listens: what it has been sent, and the message that is on its way.  Each message
 * holds the whole state, so that a slow page skips some instead of making the server keep them. */
typedef struct listener {
  cli_server *server;
  struct listener *next; /* in the list of server->listeners */
  struct MHD_Connection *connection;
  int waits; /* for something to say; the connection is suspended */
  long version, tick;
  double sent; /* clock */
  char *text;
  size_t size, used;
} listener;

static const double silence = 10.0; /* s; a page that has gone is noticed then */

/* The next message in new memory; NULL if there is nothing to say. */
static char *next_message(listener *own)
{
  const cli_server *server = own->server;
  const char *event = "state";
  json_t *object = NULL;
  const double now = cli_seconds();
  if (own->version != server->version) {
    object = cli_server_state(server);
  } else if (own->tick != server->tick) {
    event = "progress";
    object = json_pack("{s:I, s:o, s:o, s:o}", "run", (json_int_t)server->run_number, //
                       "stage", cli_json_text(server->stage),                         //
                       "share", cli_json_number(server->share),                       //
                       "seconds", cli_json_number(now - server->run.started));
  } else if (now - own->sent > silence) {
    own->sent = now;
    return cli_format(":\n\n");
  }
  if (object == NULL) return NULL;
  own->version = server->version;
  own->tick = server->tick;
  own->sent = now;
  char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
  char *message = text != NULL ? cli_format("event: %s\ndata: %s\n\n", event, text) : NULL;
  free(text);
  json_decref(object);
  return message;
}

static ssize_t read_events(void *user, uint64_t at, char *to, size_t most)
{
  listener *own = user;
  (void)at;
  if (own->server->ends) return MHD_CONTENT_READER_END_OF_STREAM;
  if (own->text == NULL && (own->text = next_message(own)) != NULL) {
    own->size = strlen(own->text);
    own->used = 0;
  }
  if (own->text == NULL) {
    own->waits = 1;
    MHD_suspend_connection(own->connection);
    return 0;
  }
  const size_t left = own->size - own->used, count = left < most ? left : most;
  memcpy(to, own->text + own->used, count);
  own->used += count;
  if (own->used == own->size) {
    free(own->text);
    own->text = NULL;
  }
  return (ssize_t)count;
}

/* Goes on with the connections for which there is news, or with all; whether there are any. */
static int wake_listeners(const cli_server *server, int all)
{
  const double now = cli_seconds();
  int any = 0;
  for (listener *own = server->listeners; own != NULL; own = own->next) {
    const int news = own->version != server->version || own->tick != server->tick;
    if (!own->waits || !(all || news || now - own->sent > silence)) continue;
    own->waits = 0;
    MHD_resume_connection(own->connection);
    any = 1;
  }
  return any;
}

static void end_events(void *user)
{
  listener *own = user;
  listener **at = (listener **)&own->server->listeners;
  while (*at != NULL && *at != own) at = &(*at)->next;
  if (*at != NULL) *at = own->next;
  free(own->text);
  free(own);
}

static enum MHD_Result send_events(cli_server *server, struct MHD_Connection *connection)
{
  listener *own = calloc(1, sizeof *own);
  if (own == NULL) return MHD_NO;
  *own = (listener){.server = server,
                    .connection = connection,
                    .next = server->listeners,
                    .version = -1,
                    .tick = -1,
                    .sent = cli_seconds()};
  server->listeners = own;
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_events, own, end_events);
  if (response == NULL) end_events(own);
  return answer(connection, MHD_HTTP_OK, "text/event-stream", response);
}

/* --- what may be asked ------------------------------------------------------------------------ */

/* Whether the text is one of the names of this server, after this start. */
static int is_own_name(const cli_server *server, const char *start, const char *text)
{
  static const char *const names[] = {"127.0.0.1", "localhost"};
  char own[80];
  for (size_t i = 0; i < 2; i++) {
    snprintf(own, sizeof own, "%s%s:%d", start, names[i], server->port);
    if (strcasecmp(own, text) == 0) return 1;
  }
  return 0;
}

/* Why a request is refused; NULL if it is not. */
static const char *find_fault(const cli_server *server, struct MHD_Connection *connection,
                              int is_post)
{
  const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
  const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
  const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
  if (host == NULL || !is_own_name(server, "", host))
    return "the Host of the request is not this server\n";
  if (origin != NULL && !is_own_name(server, "http://", origin))
    return "the Origin of the request is not this server\n";
  if (is_post && (type == NULL || strncasecmp(type, "application/json", 16) != 0))
    return "the Content-Type must be application/json\n";
  return NULL;
}

/* The parameter of this name that can be moved; NULL if there is none. */
static const json_t *find_parameter(const cli_server *server, const char *name)
{
  for (size_t i = 0; i < json_array_size(server->parameters); i++) {
    const json_t *item = json_array_get(server->parameters, i);
    if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0)
      return json_is_number(json_object_get(item, "base")) ? item : NULL;
  }
  return NULL;
}

/* Sets the values of the body, all or none; null takes one back. */
static enum MHD_Result set_parameters(cli_server *server, struct MHD_Connection *connection,
                                      const json_t *body)
{
  json_t *values = json_object_get(body, "values"), *value;
  const char *name;
  if (!json_is_object(values))
    return say(connection, MHD_HTTP_BAD_REQUEST, "must have \"values\", an object\n");
  json_object_foreach(values, name, value)
  {
    if (find_parameter(server, name) == NULL)
      return say(connection, MHD_HTTP_BAD_REQUEST, "must name parameters that have a number\n");
    if (!json_is_null(value) && !(json_is_number(value) && isfinite(json_number_value(value))))
      return say(connection, MHD_HTTP_BAD_REQUEST, "values must be numbers or null\n");
  }
  json_object_foreach(values, name, value)
  {
    json_t *base = json_object_get(find_parameter(server, name), "base");
    json_t *before = json_object_get(json_object_get(server->values, name), "value");
    const json_t *old = before != NULL ? before : base, *new = json_is_null(value) ? base : value;
    if (json_number_value(old) != json_number_value(new)) server->wanted = 1;
    if (json_number_value(new) == json_number_value(base))
      json_object_del(server->values, name);
    else
      json_object_set_new(server->values, name,
                          json_pack("{s:O, s:O}", "value", value, "base", base));
  }
  /* while a slider is dragged runs are left to their end, so that there is something to see */
  if (server->wanted && !json_is_true(json_object_get(body, "draft"))) server->cancels = 1;
  server->version++;
  return say(connection, MHD_HTTP_OK, "");
}

static enum MHD_Result take_post(cli_server *server, struct MHD_Connection *connection,
                                 const char *path, const request *own)
{
  if (own->too_large)
    return say(connection, MHD_HTTP_CONTENT_TOO_LARGE, "the request is too large\n");
  if (server->follows != NULL && strcmp(path, "/stop") != 0)
    return say(connection, MHD_HTTP_FORBIDDEN, "this run was started by polhode run\n");
  if (strcmp(path, "/run") == 0) {
    server->wanted = server->cancels = 1;
    return say(connection, MHD_HTTP_OK, "");
  }
  if (strcmp(path, "/stop") == 0) {
    cli_server_stop(server);
    return say(connection, MHD_HTTP_OK, "");
  }
  if (strcmp(path, "/parameters") != 0)
    return say(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
  json_t *body = json_loadb(own->body != NULL ? own->body : "", own->size, 0, NULL);
  const enum MHD_Result result = set_parameters(server, connection, body);
  json_decref(body);
  return result;
}

static enum MHD_Result take_get(cli_server *server, struct MHD_Connection *connection,
                                const char *path)
{
  char text[64];
  enum MHD_Result result;
  if (strcmp(path, "/") == 0)
    return answer(connection, MHD_HTTP_OK, "text/html; charset=utf-8",
                  MHD_create_response_from_buffer(cli_serve_page_size, (void *)cli_serve_page,
                                                  MHD_RESPMEM_PERSISTENT));
  if (strcmp(path, "/events") == 0) return send_events(server, connection);
  /* a page or a result must be one of those that there are, by its whole name */
  const char *view = strncmp(path, "/view/", 6) == 0 ? path + 6 : "";
  if (view[0] != '\0' && (strcmp(view, server->view) == 0 || strcmp(view, server->old_view) == 0)) {
    snprintf(text, sizeof text, "view-%s.html", view);
    char *file = cli_server_path(server, text);
    result = send_file(connection, file, 0, "text/html; charset=utf-8");
    free(file);
    return result;
  }
  /* a slow page asks for one that newer ones have replaced */
  char *end;
  const double older = strtod(view, &end);
  if (view[0] != '\0' && *end == '\0' && older >= 1.0 && older < strtod(server->view, NULL)) {
    struct MHD_Response *response = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    snprintf(text, sizeof text, "/view/%s", server->view);
    if (response != NULL) MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, text);
    return answer(connection, MHD_HTTP_SEE_OTHER, "text/plain; charset=utf-8", response);
  }
  snprintf(text, sizeof text, "/result/%ld", server->result_number);
  if (server->result_number > 0 && strcmp(path, text) == 0) {
    snprintf(text, sizeof text, "run-%ld.h5", server->result_number);
    char *file =
        server->follows != NULL ? cli_format("%s", server->follows) : cli_server_path(server, text);
    result = send_file(connection, file, 0, "application/x-hdf5");
    free(file);
    return result;
  }
  for (size_t i = 0; i < json_array_size(server->files); i++) {
    snprintf(text, sizeof text, "/source/%zu", i);
    const char *file = json_string_value(json_object_get(json_array_get(server->files, i), "path"));
    if (strcmp(path, text) == 0 && (i == 0 || cli_ends_in(file, ".json")))
      return send_file(connection, file, MAX_SOURCE, "text/plain; charset=utf-8");
  }
  return say(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
}

/* Called for each piece of a request: first without its body, then with each part of that, and at
 * its end. */
static enum MHD_Result take_request(void *user, struct MHD_Connection *connection, const char *path,
                                    const char *method, const char *version, const char *data,
                                    size_t *size, void **state)
{
  cli_server *server = user;
  request *own = *state;
  const int is_post = strcmp(method, "POST") == 0;
  (void)version;
  if (own == NULL) {
    const char *fault = find_fault(server, connection, is_post);
    if (fault != NULL) return say(connection, MHD_HTTP_FORBIDDEN, fault);
    if (!is_post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
      return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "must be GET or POST\n");
    *state = calloc(1, sizeof *own);
    return *state != NULL ? MHD_YES : MHD_NO;
  }
  if (*size > 0) {
    char *longer = *size <= MAX_BODY - own->size ? realloc(own->body, own->size + *size) : NULL;
    if (longer != NULL) {
      own->body = longer;
      memcpy(own->body + own->size, data, *size);
      own->size += *size;
    } else {
      own->too_large = 1;
    }
    *size = 0;
    return MHD_YES;
  }
  own->is_view = strncmp(path, "/view/", 6) == 0 && strcmp(path + 6, server->view) == 0;
  return is_post ? take_post(server, connection, path, own) : take_get(server, connection, path);
}

static void end_request(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode why)
{
  cli_server *server = user;
  request *own = *state;
  (void)connection;
  if (own != NULL && own->is_view && why == MHD_REQUEST_TERMINATED_COMPLETED_OK) server->loads++;
  if (own != NULL) free(own->body);
  free(own);
  *state = NULL;
}

/* --- the server ------------------------------------------------------------------------------- */

int cli_http_start(cli_server *server)
{
  server->http =
      MHD_start_daemon(MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, take_request, server,         //
                       MHD_OPTION_LISTEN_SOCKET, server->socket,                              //
                       MHD_OPTION_CONNECTION_LIMIT, 128u, MHD_OPTION_CONNECTION_TIMEOUT, 60u, //
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536,                     //
                       MHD_OPTION_NOTIFY_COMPLETED, end_request, server, MHD_OPTION_END);
  return server->http != NULL;
}

int cli_http_is_seen(const cli_server *server)
{
  return server->listeners != NULL;
}

void cli_http_wait(const cli_server *server, fd_set *reads, fd_set *writes, fd_set *excepts,
                   int *most, double *seconds)
{
  MHD_UNSIGNED_LONG_LONG milliseconds;
  if (wake_listeners(server, 0)) *seconds = 0.0;
  MHD_get_fdset(server->http, reads, writes, excepts, most);
  if (MHD_get_timeout(server->http, &milliseconds) == MHD_YES &&
      (double)milliseconds < 1e3 * *seconds)
    *seconds = 1e-3 * (double)milliseconds;
}

void cli_http_work(cli_server *server, const fd_set *reads, const fd_set *writes,
                   const fd_set *excepts)
{
  MHD_run_from_select(server->http, reads, writes, excepts);
}

void cli_http_stop(cli_server *server)
{
  /* pages get a proper end of their events */
  server->ends = 1;
  wake_listeners(server, 1);
  for (int turn = 0; turn < 3 && server->http != NULL; turn++) MHD_run(server->http);
  if (server->http != NULL) MHD_stop_daemon(server->http);
  server->http = NULL;
  server->socket = -1; /* closed with it */
}
