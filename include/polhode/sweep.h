/* Studies: one model over many values of its parameters, by a study file (docs/studies.md).
 *
 *     pol_sweep_read_file(&sweep, "study.json", &errors);
 *     pol_sweep_store_open(&store, sweep, "study.h5", 0, message, sizeof message);
 *     for (long run = 0; run < pol_sweep_count(sweep); run++) {
 *       if (pol_sweep_store_has(store, run)) continue;
 *       pol_sweep_run(sweep, run, &bytes, &size);
 *       pol_sweep_store_add(store, run, bytes, size);
 *       free(bytes);
 *     }
 *     pol_sweep_store_close(&store);
 *
 * The runs do not depend on each other: several processes may compute them in any order, while one
 * holds the store.  The finished file has the same bytes for every order. */
#ifndef POLHODE_SWEEP_H
#define POLHODE_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include <polhode/errors.h>
#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How values are combined to runs. */
typedef enum pol_sweep_sample {
  POL_SWEEP_GRID,           /* all combinations; the last key varies fastest */
  POL_SWEEP_LIST,           /* the first value of each key, the second of each, ... */
  POL_SWEEP_LATIN_HYPERCUBE /* random, with one run in each of `count` strata of each key */
} pol_sweep_sample;

/* "grid", "list", "latin-hypercube"; NULL for an invalid number. */
const char *pol_sweep_sample_name(pol_sweep_sample sample);

/* What a response takes from its signal over the times of the run's output. */
typedef enum pol_reduction {
  POL_REDUCE_FINAL,
  POL_REDUCE_INITIAL,
  POL_REDUCE_MIN,
  POL_REDUCE_MAX,
  POL_REDUCE_MAX_ABS,
  POL_REDUCE_RANGE,       /* max - min */
  POL_REDUCE_MEAN,        /* over time, by the trapezoidal rule */
  POL_REDUCE_RMS,         /* the same of the square, and its root */
  POL_REDUCE_TIME_OF_MIN, /* of the first one, s */
  POL_REDUCE_TIME_OF_MAX
} pol_reduction;

/* "final", ..., "time-of-max"; NULL for an invalid number. */
const char *pol_reduction_name(pol_reduction reduction);

/* A value of the model that varies. */
typedef struct pol_sweep_key {
  const char *path; /* as for pol_model_read_file: "bodies.top.mass", "parameters.L" */
  const char *name; /* as in the study: "bodies.top.mass", "L" */
  const char *unit; /* of a parameter that declares one; else "" */
  int is_number;    /* 0: values are other JSON, such as words */
  int is_log;       /* a range in equal ratios */
} pol_sweep_key;

/* A number of each run. */
typedef struct pol_sweep_response {
  const char *name, *signal, *unit;
  pol_reduction reduction;
} pol_sweep_response;

/* A study that has been read; does not change. */
typedef struct pol_sweep pol_sweep;

/* Reads a study file and its model, whose path is relative to the folder of the study.  errors must
 * be an empty list.  POL_BAD_ARGUMENT: *sweep is NULL and errors holds all errors of the study, and
 * those of the model with its file; a syntax error is reported alone.  POL_IO: the study cannot be
 * read; errors holds the reason.  POL_NO_MEMORY. */
pol_status pol_sweep_read_file(pol_sweep **sweep, const char *path, pol_errors *errors);
/* The same of texts, such as those of another process: pol_sweep_study and pol_sweep_model. */
pol_status pol_sweep_read_text(pol_sweep **sweep, const char *study, const char *model,
                               pol_errors *errors);
void pol_sweep_free(pol_sweep **sweep);

/* The text of the study, and of the model with the files that it includes.  A model that needs data
 * files beside it is read from its path in each run. */
const char *pol_sweep_study(const pol_sweep *sweep);
const char *pol_sweep_model(const pol_sweep *sweep);
/* The name of the study, or that of its model. */
const char *pol_sweep_name(const pol_sweep *sweep);
/* The path of the model file; "" after pol_sweep_read_text. */
const char *pol_sweep_model_path(const pol_sweep *sweep);
/* 1 if the text of the model is not enough: it needs files beside its path. */
int pol_sweep_needs_files(const pol_sweep *sweep);
/* A hash of study, model and version: results of equal ones can be mixed. */
uint64_t pol_sweep_identity(const pol_sweep *sweep);
/* Number of runs. */
long pol_sweep_count(const pol_sweep *sweep);
/* How the runs are sampled. */
pol_sweep_sample pol_sweep_sampling(const pol_sweep *sweep);
/* Values that vary, responses and recorded signals; t is the first of the signals if there are any.
 * NULL: there is no such index. */
int pol_sweep_num_keys(const pol_sweep *sweep);
const pol_sweep_key *pol_sweep_get_key(const pol_sweep *sweep, int index);
int pol_sweep_num_responses(const pol_sweep *sweep);
const pol_sweep_response *pol_sweep_get_response(const pol_sweep *sweep, int index);
int pol_sweep_num_signals(const pol_sweep *sweep);
const char *pol_sweep_get_signal(const pol_sweep *sweep, int index);
/* The value of a key in a run: the number, NaN for other values; and its text, JSON or a plain
 * word, truncated to size bytes. */
double pol_sweep_number(const pol_sweep *sweep, long run, int key);
void pol_sweep_text(const pol_sweep *sweep, long run, int key, char *text, size_t size);

/* --- runs ------------------------------------------------------------------------------------- */

/* How a run ended. */
typedef enum pol_sweep_end {
  POL_SWEEP_PENDING, /* it has not run yet */
  POL_SWEEP_DONE,
  POL_SWEEP_FAILED,  /* the calculation failed */
  POL_SWEEP_INVALID, /* the values give no valid model */
  POL_SWEEP_CRASHED  /* the process ended */
} pol_sweep_end;

/* "pending", "done", "failed", "invalid", "crashed"; NULL for an invalid number. */
const char *pol_sweep_end_name(pol_sweep_end end);

/* Simulates one run and returns its outcome as bytes for the store, which the caller frees.  A run
 * that fails has an outcome too.  POL_BAD_ARGUMENT: there is no such run; POL_NO_MEMORY;
 * POL_CANCELLED if the progress (may be NULL), reported after each row, requests a stop. */
pol_status pol_sweep_run(const pol_sweep *sweep, long run, const pol_progress *progress,
                         void **bytes, size_t *size);
/* The outcome of a run that could not be completed, for a reason in words. */
pol_status pol_sweep_crashed(const pol_sweep *sweep, const char *reason, void **bytes,
                             size_t *size);
/* How the run of an outcome ended; POL_SWEEP_PENDING if these are no such bytes. */
pol_sweep_end pol_sweep_outcome_end(const pol_sweep *sweep, const void *bytes, size_t size);

/* --- the store: a journal while the study runs, then an HDF5 file ------------------------------
 */

/* Outcomes of runs.  While a study runs, they are appended to PATH.journal, which is locked: a
 * process that is killed loses what it has not added. */
typedef struct pol_sweep_store pol_sweep_store;

/* Opens the store of a study, with the outcomes that its journal holds, or those of a finished
 * file.  restart: discards both.  On failure *store is NULL and message has the reason:
 * POL_BAD_ARGUMENT if the journal or the file belongs to another study, or the file is not one;
 * POL_IO if they cannot be read or written, errno has the reason, or another process has the
 * journal. */
pol_status pol_sweep_store_open(pol_sweep_store **store, const pol_sweep *sweep, const char *path,
                                int restart, char *message, size_t size);
/* 1 if there is an outcome of this run. */
int pol_sweep_store_has(const pol_sweep_store *store, long run);
/* Number of outcomes, and those that are not POL_SWEEP_DONE. */
long pol_sweep_store_finished(const pol_sweep_store *store);
long pol_sweep_store_failed(const pol_sweep_store *store);
/* Appends an outcome.  A second one of the same run is ignored.  POL_BAD_ARGUMENT: these are no
 * outcome of this study; POL_IO: errno has the reason, and the store stays as it was. */
pol_status pol_sweep_store_add(pol_sweep_store *store, long run, const void *bytes, size_t size);
/* Writes the HDF5 file, which is named PATH.new until it is complete, with all outcomes so far,
 * and closes the store.  The journal is removed if all runs are finished.  POL_IO, POL_NO_MEMORY:
 * the journal stays. */
pol_status pol_sweep_store_close(pol_sweep_store **store);

/* --- reading the file --------------------------------------------------------------------------
 */

/* What a column of the table of runs is. */
typedef enum pol_sweep_role {
  POL_COLUMN_KEY,
  POL_COLUMN_RESPONSE,
  POL_COLUMN_RUN /* status, end time, steps, ... */
} pol_sweep_role;

/* A column: numbers, or texts. */
typedef struct pol_sweep_column {
  const char *name, *unit;
  pol_sweep_role role;
  int is_log;            /* a key in equal ratios */
  const double *numbers; /* one per run; NULL: texts */
  const char *texts;     /* texts of `width` bytes per run, each terminated */
  size_t width;
} pol_sweep_column;

/* The runs of a study that were read from its file; owns everything. */
typedef struct pol_sweep_table {
  char *version, *name, *sample;
  char *study, *model; /* texts */
  long runs, finished, failed;
  int num_columns; /* keys, responses, then the rest */
  pol_sweep_column *columns;
  int num_signals;
  char **signals; /* names */
  long rows;      /* of all recorded signals */
} pol_sweep_table;

/* 1 if the file is an HDF5 file of a study. */
int pol_sweep_is_file(const char *path);
/* Reads the table.  On failure *table is NULL and message (may be NULL) has the reason. */
pol_status pol_sweep_table_read(pol_sweep_table **table, const char *path, char *message,
                                size_t size);
void pol_sweep_table_free(pol_sweep_table **table);
/* The column with this name; NULL if there is none. */
const pol_sweep_column *pol_sweep_find_column(const pol_sweep_table *table, const char *name);

#ifdef __cplusplus
}
#endif
#endif
