/* The server behind polhode serve: its state, which one thread owns, and the parts that work on it.
 *
 *     server.c        the loop: waits for requests, messages of runs and changes of files
 *     server_run.c    runs, each in a process of its own, and what they report
 *     server_files.c  the files that a model is made of, and whether they have changed
 *     server_http.c   requests and responses (libmicrohttpd)
 *
 * A run is a child process made by fork: it can be stopped at any moment, and whatever goes wrong
 * in it does not end the server.  The server has one thread, so that fork is safe and nothing needs
 * a lock.  A child sends lines of JSON through a pipe; its report and its result are files in a
 * temporary folder. */
#ifndef POLHODE_CLI_SERVER_H
#define POLHODE_CLI_SERVER_H

#include <jansson.h>
#include <sys/select.h>
#include <sys/types.h>

#include "cli/cli.h"

/* --- files, server_files.c -------------------------------------------------------------------- */

/* The state of a file as a text, to compare: time, size and identity; "" if there is no file. */
enum { CLI_SIGNATURE_SIZE = 96 };

typedef struct cli_watched {
  char *path;
  char signature[CLI_SIGNATURE_SIZE];
} cli_watched;

typedef struct cli_watch {
  int count;
  cli_watched *files;
  double next;       /* clock of the next look */
  double changed_at; /* of the last change that was seen */
  int changed;       /* and has not been reported yet */
} cli_watch;

/* The model and the files that it names, as [{"path", "name", "signature"}], a new reference:
 * included models and meshes, whether they exist or not.  Names are as in errors: from the folder
 * of the model. tree: the model if it is valid JSON, else NULL. */
json_t *cli_files_of_model(const char *model, const json_t *tree);
/* Watches these files from now on, and reports changes since their signatures. */
void cli_watch_set(cli_watch *watch, const json_t *files);
/* Whether a file has changed, and nothing more since then for a moment: an editor may write it in
 * pieces, or remove it before it writes it anew.  Reported once. */
int cli_watch_changed(cli_watch *watch, double now);
void cli_watch_free(cli_watch *watch);

/* --- the server, server.c --------------------------------------------------------------------- */

/* A child process. */
typedef struct cli_job {
  pid_t pid; /* 0: none */
  int pipe;
  char *text; /* read from the pipe, without an end of line yet */
  size_t used;
  double started;
  double deadline; /* clock when it is killed after it was asked to stop; 0: it was not */
} cli_job;

/* Names of pages: the number of the run, for one that is under way with a second number. */
enum { CLI_VIEW_SIZE = 32 };

typedef struct cli_server {
  const cli_args *args;
  const char *model;   /* file */
  const char *follows; /* the result of a run in the process that made this one (run --watch); NULL:
                          runs are children of this one */
  long long id;        /* differs from that of a server before it at the same address */
  char *folder;        /* temporary */
  int socket, port;
  void *http, *listeners; /* of server_http.c */
  int ends;               /* no more events */
  long loads;             /* how often the page to show has been loaded */
  cli_watch watch;
  cli_job run, page;
  int wanted;         /* a run is to start, */
  int cancels;        /* and ends the one under way */
  long run_number;    /* of the run under way or the last */
  long page_number;   /* of pages of the run under way */
  long result_number; /* of the run whose result there is; 0: none */
  double next_page;   /* clock */
  /* the page to show, the one before, which may still be loading, and the one that is written */
  char view[CLI_VIEW_SIZE], old_view[CLI_VIEW_SIZE], new_view[CLI_VIEW_SIZE];
  const char
      *status;    /* "waiting", "running", "done", "failed", "interrupted", "invalid", "crashed" */
  json_t *report; /* of the last run */
  json_t *files;  /* see cli_files_of_model */
  json_t *parameters; /* [{"name", "value", "base", ...}] */
  json_t *values;    /* {NAME: {"value", "base"}}: set in the page; base is the file's value then */
  char stage[160];   /* what the run is at, */
  double share;      /* and the share done; 0: not known */
  char no_page[256]; /* why the run has no page; "" if it has */
  double seconds;    /* that the last run took */
  long version, tick; /* count changes of the state, and of stage and share alone */
} cli_server;

/* Serves until a signal, or, if it follows a run, until that is over.  Gives the exit status. port:
 * -1 for the default or the next free one. */
int cli_server_run(const cli_args *args, int port);
/* What the page shows, as an object, a new reference. */
json_t *cli_server_state(const cli_server *server);
/* A file in the temporary folder, in new memory. */
char *cli_server_path(const cli_server *server, const char *name);
/* The lengths of the path up to the name of the file. */
int cli_folder_length(const char *path);

/* --- runs, server_run.c ----------------------------------------------------------------------- */

/* Starts a run of the model as it is now. */
void cli_server_start(cli_server *server);
/* Writes the page of a run that this server follows and that is over. */
void cli_server_show_result(cli_server *server);
/* Messages to the server in the process that runs the model. */
void cli_server_send(int pipe, json_t *message);
/* {"parameters": ...} of a model, for such a message; tree: its file.  dropped may be NULL. */
json_t *cli_server_parameters(const cli_args *args, const json_t *tree, const pol_model *model,
                              json_t *dropped);
/* Asks the run to stop; it ends as interrupted, with its results so far. */
void cli_server_stop(cli_server *server);
/* Ends the child processes at once; nothing is left of them. */
void cli_server_cancel(cli_server *server);
/* Reads what the children have sent, and starts a page of a run that takes long. */
void cli_server_attend(cli_server *server);

/* --- requests, server_http.c ------------------------------------------------------------------ */

/* Begins to serve on server->socket; 0 if this fails. */
int cli_http_start(cli_server *server);
/* Whether a page listens. */
int cli_http_is_seen(const cli_server *server);
/* Adds what is to be waited for, and shortens *seconds. */
void cli_http_wait(const cli_server *server, fd_set *reads, fd_set *writes, fd_set *excepts,
                   int *most, double *seconds);
/* Works on all requests. */
void cli_http_work(cli_server *server, const fd_set *reads, const fd_set *writes,
                   const fd_set *excepts);
void cli_http_stop(cli_server *server);

/* The page, made from viewer/serve when polhode is built (cmake/PolhodeViewer.cmake). */
extern const unsigned char cli_serve_page[];
extern const size_t cli_serve_page_size;

#endif
