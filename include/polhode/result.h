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

/* Information about the run of a result.  NULL: not in the file; a CSV file has at most the
 * version and the parameters.  The result owns the strings. */
typedef struct pol_result_info {
  const char *format;  /* "hdf5" or "csv"; never NULL */
  const char *version; /* of the polhode that wrote it */
  const char *name;    /* of the model */
  const char *model;   /* the text of the model file, JSON */
  int num_overrides; /* "key.path=value": replaced values of the model in this run, as arguments */
  char **overrides;  /* of pol_model_read_text */
  const char *settings;   /* method, formulation, step, ...: a JSON object */
  const char *parameters; /* values of the model's parameters: a JSON object {"L": 0.3, ...} */
  const char *status;     /* "done", "failed" or "interrupted"; "unfinished" if the run is still in
                             progress or was killed */
  const char *failure;    /* reason of a failure, a sentence; else NULL */
} pol_result_info;

/* A result that is open for reading. */
typedef struct pol_result pol_result;

/* Opens a result; the format is detected from its content.  The number of rows is fixed at this
 * time, even if the file grows.  On failure *result is NULL and message (may be NULL) gives the
 * reason: POL_IO if the file cannot be read, POL_BAD_ARGUMENT if it is not a result ("line 7: ...")
 * or has another version of the format, POL_NO_MEMORY.  An incomplete last line of a CSV file is
 * ignored. */
pol_status pol_result_open(pol_result **result, const char *path, char *message, size_t size);
void pol_result_close(pol_result **result);

/* Information about the run; owned by the result. */
const pol_result_info *pol_result_about(const pol_result *result);
/* Number of recorded times. */
long pol_result_rows(const pol_result *result);
/* Number of channels, and their names and units, in the order in which they were recorded.  A CSV
 * file does not contain the parts of a name: group and owner are "", and quantity is the whole
 * name.  The unit is "" if the file does not contain it. */
int pol_result_count(const pol_result *result);
const pol_channel *pol_result_channel(const pol_result *result, int index);
/* The index of the channel with this name; -1 if there is none. */
int pol_result_find_channel(const pol_result *result, const char *name);

/* An event of the run. */
typedef struct pol_result_event {
  double t;
  long row;           /* the row recorded there; for a reset, the row after it */
  const char *name;   /* "" if unnamed */
  const char *action; /* "record", "reset" or "stop" */
} pol_result_event;

/* Number of events, and events in chronological order; a CSV file contains none.  NULL: there is no
 * such event. */
long pol_result_num_events(const pol_result *result);
const pol_result_event *pol_result_get_event(const pol_result *result, long index);

/* Number of saved states of the simulation (pol_writer_save), in chronological order; 0 for a CSV
 * file.  The time from which on one continues; NaN if there is no such state.  Its bytes, for
 * pol_simulation_load: with bytes NULL, *size is set to their number; otherwise *size is the room
 * there.  POL_BAD_ARGUMENT: there is no such state, or too little room; POL_IO: it cannot be read.
 */
long pol_result_num_states(const pol_result *result);
double pol_result_state_time(const pol_result *result, long index);
pol_status pol_result_read_state(pol_result *result, long index, void *bytes, size_t *size);

/* The reason if a file could be opened but its numbers cannot be read (POL_IO). */
#define POL_RESULT_DAMAGED "the result is damaged: its numbers cannot be read"

/* All values of one channel; out has pol_result_rows() numbers.  POL_IO: the file cannot be
 * read. */
pol_status pol_result_series(pol_result *result, int channel, double *out);
/* The values of rows first .. first + count - 1.  POL_BAD_ARGUMENT: there are no such rows. */
pol_status pol_result_series_part(pol_result *result, int channel, long first, long count,
                                  double *out);
/* `num` channels of these rows: out[count][num].  For many channels this is much faster than
 * reading one series after another. */
pol_status pol_result_read(pol_result *result, int num, const int *channels, long first, long count,
                           double *out);
/* All channels of these rows: out[count][pol_result_count()]. */
pol_status pol_result_read_rows(pol_result *result, long first, long count, double *out);
/* All channels except t as a trajectory, for example as reference of a pol_study; the caller frees
 * it.  On failure *trajectory is NULL and message (may be NULL) gives the reason: POL_BAD_ARGUMENT
 * if there is no t or no row.
 */
pol_status pol_result_trajectory(pol_result *result, pol_trajectory **trajectory, char *message,
                                 size_t size);

/* --- export ------------------------------------------------------------------------------------
 */

/* Writes every `every`-th recorded time, from the first on, into a folder for ParaView and other
 * VTK programs: frame_000000.vtu, ... and motion.pvd, which lists them with their times.  If there
 * are more than `most` of them (0: no limit), `most` evenly spaced ones are written, from the first
 * to the last; if `most` is 1, the first.  The folder must exist; additional frames listed in an
 * existing motion.pvd are removed.  Points are the bodies, the named markers and, if the result
 * contains its model, the joints.  *frames (may be NULL) is the number of frames written.  On
 * failure message (may be NULL) gives the reason: POL_BAD_ARGUMENT if the result has no positions
 * or cannot be read, POL_IO if a file cannot be written. */
pol_status pol_vtk_export(pol_result *result, const char *folder, long every, long most,
                          long *frames, char *message, size_t size);

/* --- writing -----------------------------------------------------------------------------------
 */

/* A result that is being written.
 *
 * HDF5: a self-describing file, one dataset per quantity of all bodies, joints, ..., with names and
 * units, the model, the settings and a table of events.  Rows are collected and written in blocks.
 * All rows are flushed about once per second while rows arrive; if the process is killed at any
 * moment, the file can be read up to the last flush (single-writer/multiple-reader mode of HDF5).
 *
 * CSV: the comment lines "# polhode VERSION", "# parameters: {...}" if there are any, and "# units:
 * s,m,...", a line of channel names, then
 * one line per recorded time with numbers of 17 digits, so that reading returns the same numbers.
 * Names with a comma, quote or line break are quoted (RFC 4180).  Lines are buffered and written in
 * blocks of complete lines; the last line can be incomplete only if the process is killed during a
 * write. */
typedef struct pol_writer pol_writer;
typedef enum pol_result_format { POL_CSV, POL_HDF5 } pol_result_format;

/* Creates or replaces the file and locks it against other writers.  HDF5: the file is named
 * PATH.new until it is readable.  HDF5 files store name, model, overrides, settings and parameters
 * of `about` (may be NULL) if they are given; CSV files the parameters.  If background is 1, a
 * thread compresses and writes HDF5, so that the simulation rarely waits; calls of polhode are then
 * safe, but a program that itself calls HDF5 at the same time needs a thread-safe build of HDF5.
 * The record must outlive the writer.  On failure *writer is NULL.  POL_IO: the path cannot be
 * written; errno gives the reason or is 0, and no new file is left. */
pol_status pol_writer_create(pol_writer **writer, const char *path, pol_result_format format,
                             const pol_record *record, const pol_result_info *about,
                             int background);
/* Appends a row with the current values of the record; if the simulation has stopped at an event,
 * also appends it to the table of events.  Allocates nothing.  POL_IO: the disk is full or not
 * available; every later call returns the same. */
pol_status pol_writer_write(pol_writer *writer);
/* Writes all rows to the file, so that other processes can read them; this process can read an HDF5
 * file only after it is closed. */
pol_status pol_writer_flush(pol_writer *writer);
/* Appends the state of the simulation (pol_simulation_save) to an HDF5 result, from which the run
 * can be continued (pol_checkpoint_read).  It serves for continuing from the time `from` on, at
 * most that of the state: no row is between the two.  Allocates memory for the state.
 * POL_BAD_ARGUMENT: the file is CSV, or the simulation has failed; POL_IO as above. */
pol_status pol_writer_save(pol_writer *writer, double from, pol_simulation *simulation);
/* Writes the remaining rows and the status of the run, "done", "failed" or "interrupted", with the
 * reason of a failure (may be NULL).  Closes the file and frees the writer.  POL_IO if anything,
 * now or before, could not be written. */
pol_status pol_writer_close(pol_writer **writer, const char *status, const char *failure);

/* Writes the state of a simulation (pol_simulation_save) to a file, which is named PATH.new until
 * it is complete and then replaces an older one.  POL_IO: errno gives the reason. */
pol_status pol_checkpoint_write(const char *path, pol_simulation *simulation);
/* Continues from such a file, or from an HDF5 result with states (pol_simulation_load): from the
 * last state at `at` or before; INFINITY: from the last one.  Of a file with one state, that one.
 * POL_IO, POL_BAD_ARGUMENT: the reason goes to message (NULL only if message_size is 0). */
pol_status pol_checkpoint_read(const char *path, double at, pol_simulation *simulation,
                               char *message, size_t message_size);

/* Approximate memory of a record and a writer for a mechanism, bytes. */
double pol_writer_memory(const pol_mechanism *mechanism);

#ifdef __cplusplus
}
#endif
#endif
