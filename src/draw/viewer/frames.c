/* From the rows of a result to frames: choosing rows by time, channels by rank, numbers to 16 bits.
 */
#include "draw/viewer/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/viewer/page.h"

/* Bytes before base64, which makes 4 of 3: with these a page stays below 25 MB. */
enum { POSE_SIZE = 14, MAX_POSE_BYTES = 14000000, MAX_CHANNEL_BYTES = 3000000 };
enum { MAX_FRAMES = 2000, MAX_CHANNELS = 4000 };

/* Larger numbers are taken for none: a body lost in space would make all others too small to be
 * seen, and the width of a range must not overflow. */
static const double largest_position = 1e15, largest_value = 1e300;

/* --- rows ------------------------------------------------------------------------------------- */

/* --- numbers ---------------------------------------------------------------------------------- */

/* Channels that are read at a time: about 8 MB of numbers. */
static int batch_size(const poli_frames *frames)
{
  const int fit = (1 << 20) / frames->count;
  return fit < 7 ? 7 : fit;
}

/* Reads channels at the frames: values[count][num]. */
static pol_status read_values(poli_frames *frames, pol_result *result, int num, const int *channels)
{
  double *longer =
      realloc(frames->series, (size_t)frames->count * (size_t)(num + 1) * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  frames->series = longer;
  frames->width = (size_t)num;
  pol_status status = POL_OK;
  for (int i = 0; status == POL_OK && i < frames->count; i++)
    status = pol_result_read(result, num, channels, frames->rows[i], 1,
                             longer + (size_t)i * frames->width);
  return status;
}

/* The range of the values of a channel that are numbers, not beyond the largest; [0, 0] if there
 * is none. */
static poli_range16 find_range(const poli_frames *frames, size_t channel, double largest)
{
  poli_range16 range = {HUGE_VAL, -HUGE_VAL};
  for (int i = 0; i < frames->count; i++) {
    const double x = frames->series[(size_t)i * frames->width + channel];
    if (fabs(x) <= largest) range = (poli_range16){fmin(range.low, x), fmax(range.high, x)};
  }
  return range.low <= range.high ? range : (poli_range16){0.0, 0.0};
}

/* Writes the values of a channel as numbers of a range, `stride` bytes apart. */
static void put_series(const poli_frames *frames, size_t channel, poli_range16 range,
                       unsigned char *to, size_t stride)
{
  const double width = range.high - range.low;
  for (int i = 0; i < frames->count; i++) {
    const double x = frames->series[(size_t)i * frames->width + channel];
    unsigned number = 65535u;
    if (x >= range.low && x <= range.high)
      number = width > 0.0 ? (unsigned)lround(65534.0 * ((x - range.low) / width)) : 0u;
    poli_put_uint16(to + (size_t)i * stride, number);
  }
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Adds the channel "NAME.what.c". */
static pol_status add_component(int *channels, int *num, const pol_result *result, const char *body,
                                const char *what, char component, int *last, char *message,
                                size_t size)
{
  char name[256];
  snprintf(name, sizeof name, "%.200s.%s.%c", body, what, component);
  /* channels of a body stand together: the one after the last found comes first */
  const int next = *last + 1;
  const int is_next =
      next < pol_result_count(result) && strcmp(pol_result_channel(result, next)->name, name) == 0;
  channels[*num] = *last = is_next ? next : pol_result_find_channel(result, name);
  if (channels[(*num)++] >= 0) return POL_OK;
  snprintf(message, size, "it has no channel \"%s\": it is not a result of this model", name);
  return POL_BAD_ARGUMENT;
}

/* Positions and rotations, several bodies at a time. */
static pol_status read_bodies(poli_frames *frames, const pol_mechanism *mechanism,
                              pol_result *result, char *message, size_t size)
{
  const size_t bodies = (size_t)frames->num_bodies, batch = (size_t)batch_size(frames) / 7;
  int *channels = malloc(7 * batch * sizeof *channels), last = -1;
  pol_status status = channels != NULL ? POL_OK : POL_NO_MEMORY;
  for (size_t first = 0; status == POL_OK && first < bodies; first += batch) {
    const size_t end = bodies - first < batch ? bodies : first + batch;
    int num = 0, column = 0;
    for (size_t b = first; b < end; b++) {
      const pol_body *body = pol_mechanism_body(mechanism, (int)b);
      for (int c = 0; status == POL_OK && c < 3; c++)
        status = add_component(channels, &num, result, body->name, "position", "xyz"[c], &last,
                               message, size);
      for (int c = 0; status == POL_OK && c < 4 && !body->point; c++)
        status = add_component(channels, &num, result, body->name, "quaternion", "wxyz"[c], &last,
                               message, size);
    }
    if (status == POL_OK) status = read_values(frames, result, num, channels);
    for (size_t b = first; status == POL_OK && b < end; b++) {
      const int point = pol_mechanism_body(mechanism, (int)b)->point;
      for (size_t c = 0; c < 3; c++, column++) {
        poli_range16 *range = &frames->ranges[3 * b + c];
        *range = find_range(frames, (size_t)column, largest_position);
        put_series(frames, (size_t)column, *range, frames->positions + 2 * (3 * b + c), 6 * bodies);
      }
      for (size_t c = 0; c < 4; c++) {
        /* A component of quaternions; `fixed` where there is no channel (negative). */
        int channel = point ? -1 : column++;
        for (int i = 0; i < frames->count; i++) {
          const double q = channel < 0
                               ? (c == 0 ? 1.0 : 0.0)
                               : frames->series[(size_t)i * frames->width + (size_t)channel];
          const double bounded = isfinite(q) ? fmax(-1.0, fmin(1.0, q)) : 0.0;
          poli_put_uint16((frames->rotations + 2 * (4 * b + c)) + (size_t)i * (8 * bodies),
                          (unsigned)(lround(32767.0 * bounded) + 32768));
        }
      }
    }
  }
  free(channels);
  return status;
}

/* --- channels --------------------------------------------------------------------------------- */

static int ends_with_component(const char *name, const char *what)
{
  const char *at = strstr(name, what);
  return at != NULL && strlen(at) == strlen(what) + 1;
}

enum { NUM_RANKS = 8, NOT_SHOWN = NUM_RANKS };

/* Which channels go first where not all find room: the modes of flexible bodies, which are their
 * shapes; numbers of the whole, of joints and drives; the
 * forces and the strains in the sections of beams, which are colours; then forces, which are arrows
 * too; velocities; markers; the same quantities in other axes. */
static int rank_of(const pol_channel *channel)
{
  const char *name = channel->name;
  if (strcmp(name, "t") == 0) return NOT_SHOWN;
  if (strstr(name, ".mode.")) return 0;
  if (strncmp(name, "marker.", 7) == 0) return 6;
  if (strcmp(channel->group, "forces") == 0 && strstr(channel->quantity, "_local.")) return 2;
  if (ends_with_component(name, ".strain.") || ends_with_component(name, ".curvature.")) return 3;
  if (ends_with_component(name, ".position.") || ends_with_component(name, ".quaternion."))
    return NOT_SHOWN; /* of a body: the frames have it */
  if (strncmp(name, "energy.", 7) == 0 || strncmp(name, "momentum.", 9) == 0 ||
      strncmp(name, "residual.", 9) == 0)
    return 1;
  if (strstr(name, "_local.") || strstr(name, ".multiplier.") || strstr(name, "_global.")) return 7;
  if (ends_with_component(name, ".force.") || ends_with_component(name, ".torque.")) return 4;
  if (ends_with_component(name, "velocity.")) return 5;
  return 1;
}

static int by_number(const void *a, const void *b)
{
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void choose_channels(poli_frames *frames, const pol_result *result)
{
  const int fit = MAX_CHANNEL_BYTES / 2 / frames->count;
  const int room = fit < MAX_CHANNELS ? fit : MAX_CHANNELS;
  int shown = 0;
  for (int i = 0; i < pol_result_count(result); i++)
    shown += rank_of(pol_result_channel(result, i)) != NOT_SHOWN;
  frames->num_channels = 0;
  for (int rank = 0; rank < NUM_RANKS; rank++)
    for (int i = 0; i < pol_result_count(result) && frames->num_channels < room; i++)
      if (rank_of(pol_result_channel(result, i)) == rank)
        frames->channels[frames->num_channels++] = i;
  qsort(frames->channels, (size_t)frames->num_channels, sizeof *frames->channels, by_number);
  frames->left_out = shown - frames->num_channels;
}

static pol_status read_channels(poli_frames *frames, pol_result *result)
{
  const size_t bytes = 2 * (size_t)frames->count;
  frames->values = malloc((size_t)frames->num_channels * bytes + 1);
  if (frames->values == NULL) return POL_NO_MEMORY;
  const int batch = batch_size(frames);
  for (int first = 0; first < frames->num_channels; first += batch) {
    const int left = frames->num_channels - first, num = left < batch ? left : batch;
    const pol_status status = read_values(frames, result, num, frames->channels + first);
    if (status != POL_OK) return status;
    for (int k = 0; k < num; k++) {
      poli_range16 *range = &frames->channel_ranges[first + k];
      *range = find_range(frames, (size_t)k, largest_value);
      put_series(frames, (size_t)k, *range, frames->values + (size_t)(first + k) * bytes, 2);
    }
  }
  return POL_OK;
}

/* --- all -------------------------------------------------------------------------------------- */

static pol_status allocate(poli_frames *frames, const pol_result *result, size_t max_frames)
{
  const size_t rows = (size_t)pol_result_rows(result), bodies = (size_t)frames->num_bodies;
  const size_t channels = (size_t)pol_result_count(result);
  frames->series = malloc(rows * sizeof *frames->series);
  frames->rows = malloc(max_frames * sizeof *frames->rows);
  frames->times = malloc(max_frames * sizeof *frames->times);
  frames->positions = malloc(max_frames * bodies * 6);
  frames->rotations = malloc(max_frames * bodies * 8);
  frames->ranges = malloc(bodies * 3 * sizeof *frames->ranges);
  frames->channels = malloc(channels * sizeof *frames->channels);
  frames->channel_ranges = malloc(channels * sizeof *frames->channel_ranges);
  const int good = frames->series && frames->rows && frames->times && frames->positions &&
                   frames->rotations && frames->ranges && frames->channels &&
                   frames->channel_ranges;
  return good ? POL_OK : POL_NO_MEMORY;
}

pol_status poli_frames_read(poli_frames *frames, const pol_model *model, pol_result *result,
                            int max_frames, char *message, size_t size)
{
  const long rows = pol_result_rows(result);
  const int time = pol_result_find_channel(result, "t");
  *frames = (poli_frames){.num_bodies = pol_mechanism_num_bodies(model->mechanism)};
  if (rows < 1 || time < 0) {
    snprintf(message, size, rows < 1 ? "it has no rows" : "it has no channel \"t\"");
    return POL_BAD_ARGUMENT;
  }
  if (max_frames == 0) {
    const int fit = MAX_POSE_BYTES / POSE_SIZE / frames->num_bodies;
    max_frames = fit > MAX_FRAMES ? MAX_FRAMES : fit < 2 ? 2 : fit;
  }
  if (max_frames > rows) max_frames = (int)rows;
  pol_status status = allocate(frames, result, (size_t)max_frames);
  if (status == POL_OK) status = pol_result_series(result, time, frames->series);
  if (status != POL_OK) return status;
  for (long i = 0; i < rows; i++) {
    if (fabs(frames->series[i]) <= largest_value) continue;
    snprintf(message, size, "row %ld has no time", i + 1);
    return POL_BAD_ARGUMENT;
  }
  /* The rows nearest to times at equal distances, all rows if they are few. */
  const double *t = frames->series;
  const double start = t[0], span = t[rows - 1] - t[0];
  long row = 0;
  frames->count = 0;
  for (long i = 0; rows <= max_frames && i < rows; i++) frames->rows[frames->count++] = i;
  for (int i = 0; rows > max_frames && i < max_frames; i++) {
    const double wanted = start + span * i / (max_frames - 1);
    while (row + 1 < rows && fabs(t[row + 1] - wanted) <= fabs(t[row] - wanted)) row++;
    if (frames->count == 0 || frames->rows[frames->count - 1] < row)
      frames->rows[frames->count++] = row;
  }
  for (int i = 0; i < frames->count; i++) frames->times[i] = t[frames->rows[i]];
  status = read_bodies(frames, model->mechanism, result, message, size);
  if (status != POL_OK) return status;
  choose_channels(frames, result);
  return read_channels(frames, result);
}

void poli_frames_free(poli_frames *frames)
{
  free(frames->times);
  free(frames->positions);
  free(frames->ranges);
  free(frames->rotations);
  free(frames->channels);
  free(frames->channel_ranges);
  free(frames->values);
  free(frames->rows);
  free(frames->series);
  *frames = (poli_frames){0};
}
