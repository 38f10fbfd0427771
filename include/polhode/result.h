/* Results: writing and reading HDF5 and CSV.  docs/results.md describes both formats.
 *
 *     pol_writer_create(&writer, "top.h5", POL_HDF5, record, &about, 1);
 *     do
 *       pol_writer_write(writer);
 *     while (!pol_simulation_finished(simulation) && pol_simulation_step(simulation) == POL_OK);
 *     pol_writer_close(&writer, "done", NULL);
 *
 *     pol_result_open(&result, "top.h5", message, sizeof message);
 *     double *t = malloc((size_t)pol_result_rows(result) * sizeof *t);
 *     pol_result_series(result, pol_result_find_channel(result, "t"), t);
 *     pol_result_close(&result);
 */
#ifndef POLHODE_RESULT_H
#define POLHODE_RESULT_H

#include <polhode/convergence.h>
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

/* A result that is open for reading. */
typedef struct pol_result pol_result;

/* Opens a result; the format is detected from its content.  Rows are those that are there now: a
 * file that grows does not change what has been opened.  On failure *result is NULL and message
 * (may be NULL) says why in words: POL_IO where the file cannot be read, POL_BAD_ARGUMENT where it
 * is no result ("line 7: ..."), or one of another version of the format, POL_NO_MEMORY.  The last
 * line of a CSV is left out if it was cut. */
pol_status pol_result_open(pol_result **result, const char *path, char *message, size_t size);
void pol_result_close(pol_result **result);

/* What it says about its run; belongs to the result. */
const pol_result_info *pol_result_about(const pol_result *result);
/* Number of recorded times. */
long pol_result_rows(const pol_result *result);
/* Number of channels, and their names and units, in the order in which they were recorded.  A
 * CSV does not say what a name is made of: group and owner are "" then and the quantity is the
 * whole name; the unit is "" where the file does not say. */
int pol_result_count(const pol_result *result);
const pol_channel *pol_result_channel(const pol_result *result, int index);
/* The index of the channel of that name, -1 if there is none. */
int pol_result_find_channel(const pol_result *result, const char *name);

/* An event that the run stopped at. */
typedef struct pol_result_event {
  double t;
  long row;           /* the one that was recorded there, after a reset if it was one */
  const char *name;   /* "" if it has none */
  const char *action; /* what happened: "record", "reset" or "stop" */
} pol_result_event;

/* The events, in the order in which they came; a CSV knows none.  NULL: there is no such event. */
long pol_result_num_events(const pol_result *result);
const pol_result_event *pol_result_get_event(const pol_result *result, long index);

/* The reason where a file could be opened, but its numbers cannot be read (POL_IO). */
#define POL_RESULT_DAMAGED "the result is damaged: its numbers cannot be read"

/* All values of one channel, pol_result_rows() of them in out.  POL_IO: the file cannot be read. */
pol_status pol_result_series(pol_result *result, int channel, double *out);
/* Those of rows first .. first + count - 1.  POL_BAD_ARGUMENT: there are no such rows. */
pol_status pol_result_series_part(pol_result *result, int channel, long first, long count,
                                  double *out);
/* `num` channels of these rows: out[count][num].  For many channels this is much faster than one
 * series after the other. */
pol_status pol_result_read(pol_result *result, int num, const int *channels, long first, long count,
                           double *out);
/* All channels of these rows: out[count][pol_result_count()]. */
pol_status pol_result_read_rows(pol_result *result, long first, long count, double *out);
/* All channels but t as a trajectory, which the caller frees: a reference for pol_study.  On
 * failure *trajectory is NULL and message (may be NULL) says why: POL_BAD_ARGUMENT if there is no t
 * or no row.
 */
pol_status pol_result_trajectory(pol_result *result, pol_trajectory **trajectory, char *message,
                                 size_t size);

/* --- export ------------------------------------------------------------------------------------
 */

/* Writes every `every`-th recorded time, from the first on, into a folder for ParaView and other
 * VTK programs: frame_000000.vtu, ... and motion.pvd, which lists them with their times.  Where
 * these are more than `most` (0: any number), as many are written, spread evenly from the first to
 * the last of them; of one, the first.  The folder must exist; further frames that a motion.pvd
 * there listed before are removed.  Points are the bodies, the markers that have a name and, where
 * the result knows its model, the joints.  *frames (may be NULL) is how many were written.  On
 * failure message (may be NULL) says why: POL_BAD_ARGUMENT where the result has no positions or
 * cannot be read, POL_IO where a file cannot be written. */
pol_status pol_vtk_export(pol_result *result, const char *folder, long every, long most,
                          long *frames, char *message, size_t size);

/* --- writing -----------------------------------------------------------------------------------
 */

/* A result that is being written.
 *
 * HDF5: a self-describing file, one dataset for each quantity of all bodies, joints, ..., with
 * names and units, the model, the settings and a table of events.  Rows are collected and written
 * in blocks.  About once a second, as far as rows come, all rows so far are flushed; a process that
 * is killed at any moment leaves a file that can be read to its last flush
 * (single-writer/multiple-reader mode of HDF5).
 *
 * CSV: the comment lines "# polhode VERSION" and "# units: s,m,...", a line of channel names, then
 * one line per recorded time with numbers of 17 digits, so that reading gives back the same
 * numbers.  Names with a comma, quote or line break are quoted (RFC 4180).  Lines are buffered and
 * written in pieces that end with a whole line; only where the system kills the process in the
 * middle of a write can the last line be cut. */
typedef struct pol_writer pol_writer;
typedef enum pol_result_format { POL_CSV, POL_HDF5 } pol_result_format;

/* Creates or replaces the file, which is locked against other writers.  HDF5: until the new file is
 * readable it has the name PATH.new.  Of about (may be NULL) name, model, overrides and settings
 * are stored where they are there; a CSV has no place for them.  With background, a thread packs
 * and writes HDF5, so that the simulation hardly waits; polhode's own calls are safe then, but a
 * program that calls HDF5 itself meanwhile needs a thread-safe build of it.  The record must
 * outlive the writer.  On failure *writer is NULL; POL_IO: the path cannot be written; errno says
 * why, or is 0, and no new file is left. */
pol_status pol_writer_create(pol_writer **writer, const char *path, pol_result_format format,
                             const pol_record *record, const pol_result_info *about,
                             int background);
/* Adds the record's values now, and the event that the simulation has stopped at, if it is at one,
 * to the table of events; allocates nothing.  POL_IO: the disk is full or gone; every later call
 * then returns the same. */
pol_status pol_writer_write(pol_writer *writer);
/* Writes all rows to the file, so that a reader in another process finds them; in this process HDF5
 * can be read when it is closed. */
pol_status pol_writer_flush(pol_writer *writer);
/* Writes what is left and how the run ended: status is "done", "failed" or "interrupted", failure
 * (may be NULL) says why it failed.  Closes and frees.  POL_IO if anything, now or before, could
 * not be written. */
pol_status pol_writer_close(pol_writer **writer, const char *status, const char *failure);

/* Bytes that a record and a writer need for a mechanism, about. */
double pol_writer_memory(const pol_mechanism *mechanism);

#ifdef __cplusplus
}
#endif
#endif
