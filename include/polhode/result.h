/* Reading results: the files that `polhode run --out` and the writers of this library leave, HDF5
 * and CSV.  docs/results.md describes both formats.
 *
 *     pol_result_open(&result, "top.h5", message, sizeof message);
 *     double *t = malloc((size_t)pol_result_rows(result) * sizeof *t);
 *     pol_result_series(result, pol_result_find_channel(result, "t"), t);
 *     pol_result_close(&result);
 */
#ifndef POLHODE_RESULT_H
#define POLHODE_RESULT_H

#include <polhode/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a result says about its run.  NULL: the file does not say; a CSV knows its version at most.
 * The strings belong to the result. */
typedef struct pol_result_info {
  const char *format;   /* "hdf5" or "csv"; never NULL */
  const char *version;  /* of the polhode that wrote it */
  const char *name;     /* of the model */
  const char *model;    /* the text of the model file, JSON */
  int num_overrides;    /* "key.path=value": what replaced values of that text in this run, ready */
  char **overrides;     /* for pol_model_read_text */
  const char *settings; /* method, formulation, step and so on, a JSON object */
  const char *status;   /* "done", "failed" or "interrupted"; "unfinished" of a run that is still
                           going or was killed */
  const char *failure;  /* why it failed, a sentence; NULL if it did not */
} pol_result_info;

typedef struct pol_result pol_result;

/* Opens a result; the format is told by its content.  Rows are those that are there now: a file
 * that grows does not change what has been opened.  On failure *result is NULL and message (may be
 * NULL) says why in words: POL_IO where the file cannot be read, POL_BAD_ARGUMENT where it is no
 * result ("line 7: ..."), POL_NO_MEMORY.  The last line of a CSV is left out if it was cut. */
pol_status pol_result_open(pol_result **result, const char *path, char *message, size_t size);
void pol_result_close(pol_result **result);

const pol_result_info *pol_result_about(const pol_result *result);
/* Number of recorded times. */
long pol_result_rows(const pol_result *result);
/* Number of channels, and their names and units, in the order in which they were recorded; the unit
 * is "" where the file does not say. */
int pol_result_count(const pol_result *result);
const pol_channel *pol_result_channel(const pol_result *result, int index);
/* The index of the channel of that name, -1 if there is none. */
int pol_result_find_channel(const pol_result *result, const char *name);

/* All values of one channel, pol_result_rows() of them in out.  POL_IO: the file cannot be read. */
pol_status pol_result_series(pol_result *result, int channel, double *out);
/* Those of rows first .. first + count - 1.  POL_BAD_ARGUMENT: there are no such rows. */
pol_status pol_result_series_part(pol_result *result, int channel, long first, long count,
                                  double *out);
/* All channels of these rows: out[count][pol_result_count()]. */
pol_status pol_result_read_rows(pol_result *result, long first, long count, double *out);

#ifdef __cplusplus
}
#endif
#endif
