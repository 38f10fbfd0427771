/* Results of all formats: finds the format, hands on to it, and checks what is asked for. */
#define _POSIX_C_SOURCE 200809L

#include "io/result/hdf5.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int poli_result_is_hdf5(const char *path)
{
  static const char signature[] = "\x89HDF\r\n\x1a\n";
  char start[sizeof signature - 1];
  struct stat info;
  FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
  if (file == NULL) return 0;
  const size_t read = fread(start, 1, sizeof start, file);
  fclose(file);
  return read == sizeof start && memcmp(start, signature, sizeof start) == 0;
}

static int compare_channels(const void *a, const void *b)
{
  return strcmp((*(const pol_channel *const *)a)->name, (*(const pol_channel *const *)b)->name);
}

pol_status pol_result_open(pol_result **result, const char *path, char *message, size_t size)
{
  char unwanted[256];
  struct stat info = {0};
  *result = NULL;
  if (message == NULL) {
    message = unwanted;
    size = sizeof unwanted;
  }
  /* a device may never end; what is not there, and a folder, is left to the reader to report */
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode) &&
      !S_ISDIR(info.st_mode)) {
    snprintf(message, size, "cannot be read: it is neither a file nor a pipe");
    return POL_BAD_ARGUMENT;
  }
  pol_result *r = calloc(1, sizeof *r);
  pol_status status = POL_NO_MEMORY;
  if (r != NULL && poli_result_is_hdf5(path)) {
    r->info.format = "hdf5";
    status = poli_result_open_hdf5(r, path, message, size);
  } else if (r != NULL) {
    r->info.format = "csv";
    status = poli_result_open_csv(r, path, message, size);
  }
  if (status == POL_OK) {
    const size_t count = (size_t)r->count;
    r->by_name = malloc((count + 1) * sizeof *r->by_name);
    for (size_t i = 0; r->by_name != NULL && i < count; i++) r->by_name[i] = &r->channels[i];
    if (r->by_name == NULL)
      status = POL_NO_MEMORY;
    else
      qsort(r->by_name, count, sizeof *r->by_name, compare_channels);
  }
  if (status == POL_NO_MEMORY) snprintf(message, size, "%s", pol_status_text(status));
  if (status != POL_OK) pol_result_close(&r);
  *result = r;
  return status;
}

void pol_result_close(pol_result **result)
{
  if (result == NULL || *result == NULL) return;
  if ((*result)->release != NULL) (*result)->release(*result);
  free((*result)->channels);
  free((*result)->by_name);
  free((*result)->events);
  free((*result)->event_entries);
  free((*result)->states);
  free(*result);
  *result = NULL;
}

const pol_result_info *pol_result_about(const pol_result *result)
{
  return &result->info;
}

long pol_result_rows(const pol_result *result)
{
  return result->rows;
}

int pol_result_count(const pol_result *result)
{
  return result->count;
}

const pol_channel *pol_result_channel(const pol_result *result, int index)
{
  return &result->channels[index];
}

int pol_result_find_channel(const pol_result *result, const char *name)
{
  const pol_channel wanted = {.name = name}, *const key = &wanted;
  const pol_channel **found = bsearch(&key, result->by_name, (size_t)result->count,
                                      sizeof *result->by_name, compare_channels);
  return found != NULL ? (int)(*found - result->channels) : -1;
}

long pol_result_num_events(const pol_result *result)
{
  return result->num_events;
}

const pol_result_event *pol_result_get_event(const pol_result *result, long index)
{
  return index >= 0 && index < result->num_events ? &result->events[index] : NULL;
}

long pol_result_num_states(const pol_result *result)
{
  return result->num_states;
}

double pol_result_state_time(const pol_result *result, long index)
{
  if (index < 0 || index >= result->num_states) return (double)NAN;
  return result->states[index * POLI_H5_STATE + POLI_H5_STATE_T];
}

pol_status pol_result_read_state(pol_result *result, long index, void *bytes, size_t *size)
{
  if (index < 0 || index >= result->num_states) return POL_BAD_ARGUMENT;
  const double *entry = result->states + index * POLI_H5_STATE;
  const size_t room = *size;
  *size = (size_t)entry[POLI_H5_STATE_SIZE];
  if (bytes == NULL) return POL_OK;
  if (room < *size) return POL_BAD_ARGUMENT;
  return result->read_state(result, (size_t)entry[POLI_H5_STATE_FIRST], *size, bytes);
}

pol_status pol_result_read(pol_result *result, int num, const int *channels, long first, long count,
                           double *out)
{
  if (first < 0 || count < 0 || first > result->rows || count > result->rows - first)
    return POL_BAD_ARGUMENT;
  for (int k = 0; k < num; k++)
    if (channels[k] < 0 || channels[k] >= result->count) return POL_BAD_ARGUMENT;
  return count > 0 && num > 0 ? result->read(result, num, channels, first, count, out) : POL_OK;
}

pol_status pol_result_series_part(pol_result *result, int channel, long first, long count,
                                  double *out)
{
  return pol_result_read(result, 1, &channel, first, count, out);
}

pol_status pol_result_series(pol_result *result, int channel, double *out)
{
  return pol_result_series_part(result, channel, 0, result->rows, out);
}

pol_status pol_result_read_rows(pol_result *result, long first, long count, double *out)
{
  int *all = malloc(((size_t)result->count + 1) * sizeof *all);
  if (all == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < result->count; i++) all[i] = i;
  const pol_status status = pol_result_read(result, result->count, all, first, count, out);
  free(all);
  return status;
}

/* --- a result as a trajectory ----------------------------------------------------------------- */

pol_status pol_result_trajectory(pol_result *result, pol_trajectory **trajectory, char *message,
                                 size_t size)
{
  enum { PIECE = 1 << 18 };
  const int time = pol_result_find_channel(result, "t"), count = result->count;
  const long rows = result->rows;
  *trajectory = NULL;
  if (time < 0 || rows < 1) {
    if (message != NULL) snprintf(message, size, time < 0 ? "it has no time t" : "it has no rows");
    return POL_BAD_ARGUMENT;
  }
  const long fit = PIECE / count + 1, piece = fit < rows ? fit : rows;
  const char **names = malloc((size_t)count * sizeof *names);
  double *values = malloc((size_t)piece * (size_t)count * sizeof *values);
  pol_status status = names != NULL && values != NULL ? POL_OK : POL_NO_MEMORY;
  int n = 0;
  for (int i = 0; status == POL_OK && i < count; i++)
    if (i != time) names[n++] = pol_result_channel(result, i)->name;
  if (status == POL_OK) status = pol_trajectory_create(trajectory, rows, n, names);
  /* reads rows piece by piece, and turns them into series */
  for (long first = 0; status == POL_OK && first < rows; first += piece) {
    const long length = rows - first < piece ? rows - first : piece;
    status = pol_result_read_rows(result, first, length, values);
    for (int i = 0, k = 0; status == POL_OK && i < count; i++) {
      double *series =
          i == time ? pol_trajectory_times(*trajectory) : pol_trajectory_series(*trajectory, k++);
      for (long m = 0; m < length; m++)
        series[first + m] = values[(size_t)m * (size_t)count + (size_t)i];
    }
  }
  free(names);
  free(values);
  if (status == POL_OK) return POL_OK;
  if (message != NULL)
    snprintf(message, size, "%s", status == POL_IO ? POL_RESULT_DAMAGED : pol_status_text(status));
  pol_trajectory_free(trajectory);
  return status;
}

/* --- writing ---------------------------------------------------------------------------------- */

size_t poli_print_number(char *to, size_t size, double number)
{
  const int length = snprintf(to, size, "%.17g", number);
  char *comma = strchr(to, ',');
  if (comma != NULL) *comma = '.';
  return (size_t)length;
}

pol_status pol_writer_create(pol_writer **writer, const char *path, pol_result_format format,
                             const pol_record *record, const pol_result_info *about, int background)
{
  *writer = NULL;
  return format == POL_CSV ? poli_writer_create_csv(writer, path, record, about)
                           : poli_writer_create_hdf5(writer, path, record, about, background);
}

pol_status pol_writer_write(pol_writer *writer)
{
  return writer->write(writer);
}

pol_status pol_writer_flush(pol_writer *writer)
{
  return writer->flush(writer);
}

pol_status pol_writer_save(pol_writer *writer, double from, pol_simulation *simulation)
{
  size_t size = 0;
  if (writer->save == NULL) return POL_BAD_ARGUMENT;
  pol_status status = pol_simulation_save(simulation, NULL, &size);
  void *bytes = status == POL_OK ? malloc(size) : NULL;
  if (status == POL_OK && bytes == NULL) status = POL_NO_MEMORY;
  if (status == POL_OK) status = pol_simulation_save(simulation, bytes, &size);
  if (status == POL_OK) status = writer->save(writer, from, bytes, size);
  const int reason = errno;
  free(bytes);
  errno = reason;
  return status;
}

pol_status pol_writer_close(pol_writer **writer, const char *status, const char *failure)
{
  if (writer == NULL || *writer == NULL) return POL_OK;
  const pol_status result = (*writer)->close(*writer, status, failure);
  *writer = NULL;
  return result;
}

static int columns_of(const pol_body *body)
{
  enum { OF_BODY = 16, OF_POINT = 6 };
  const int modes = body->flexible && body->interface == 0 ? body->flexible->num_modes : 0;
  return (body->point ? OF_POINT : OF_BODY) + 2 * modes;
}

double pol_writer_memory(const pol_mechanism *mechanism)
{
  enum { OF_MARKER = 10, OF_JOINT = 12, OF_FORCE = 6, OF_WHOLE = 32 };
  static const double bytes_of_channel = sizeof(pol_channel) + 32.0; /* with its name */
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  double columns = OF_WHOLE;
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    columns += columns_of(pol_mechanism_body(mechanism, i));
  for (int i = 0; i < pol_mechanism_num_markers(mechanism); i++)
    if (pol_mechanism_marker(mechanism, i)->name[0] != '\0') columns += OF_MARKER;
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    columns += OF_JOINT + 2 * pol_joint_num_coordinates(joint) + pol_joint_rows(joint, rows);
  }
  columns += OF_FORCE * pol_mechanism_num_forces(mechanism) + pol_mechanism_num_drives(mechanism) +
             2 * pol_mechanism_num_couplings(mechanism) + pol_mechanism_num_states(mechanism) +
             pol_mechanism_num_variables(mechanism);
  return bytes_of_channel * columns + poli_h5_memory(columns);
}
