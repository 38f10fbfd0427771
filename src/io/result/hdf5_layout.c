/* Which channel of a record goes to which dataset of an HDF5 result.
 *
 * A quantity "position.x" of the body "top" is a column of /bodies/top/position; quantities of the
 * whole leave the name out (/energy/kinetic), and the time is /t.  Channels of one dataset need not
 * follow each other (JOINT.angle.1, JOINT.rate.1, JOINT.angle.2), but those of one object do.
 */
#include "io/result/hdf5.h"

#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

/* --- names ------------------------------------------------------------------------------------ */

char *poli_h5_escape(const char *name)
{
  static const char digits[] = "0123456789ABCDEF";
  char *escaped = malloc(3 * strlen(name) + 1), *to = escaped;
  if (escaped == NULL) return NULL;
  const int is_dot = strcmp(name, ".") == 0;
  for (; *name != '\0'; name++) {
    if (*name != '/' && *name != '%' && !is_dot) {
      *to++ = *name;
      continue;
    }
    *to++ = '%';
    *to++ = digits[(unsigned char)*name / 16];
    *to++ = digits[(unsigned char)*name % 16];
  }
  *to = '\0';
  return escaped;
}

static int digit_value(char digit)
{
  return digit >= 'A' ? digit - 'A' + 10 : digit - '0';
}

static int is_digit(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

void poli_h5_unescape(char *name)
{
  char *to = name;
  while (*name != '\0') {
    if (name[0] == '%' && is_digit(name[1]) && is_digit(name[2])) {
      *to++ = (char)(16 * digit_value(name[1]) + digit_value(name[2]));
      name += 3;
    } else {
      *to++ = *name++;
    }
  }
  *to = '\0';
}

/* --- the layout ------------------------------------------------------------------------------- */

/* "/GROUP/OWNER/QUANTITY" without the parts that are empty and without the component. */
static char *make_path(const pol_channel *channel)
{
  char *owner = poli_h5_escape(channel->owner), *path = NULL;
  const int length = (int)strcspn(channel->quantity, ".");
  if (owner != NULL)
    path = poli_format("%s%s%s%s/%.*s", channel->group[0] != '\0' ? "/" : "", channel->group,
                       owner[0] != '\0' ? "/" : "", owner, length, channel->quantity);
  free(owner);
  return path;
}

static int same_object(const pol_channel *a, const pol_channel *b)
{
  return strcmp(a->group, b->group) == 0 && strcmp(a->owner, b->owner) == 0;
}

/* The same quantity but for the component. */
static int same_quantity(const pol_channel *a, const pol_channel *b)
{
  const size_t length = strcspn(a->quantity, ".");
  return strcspn(b->quantity, ".") == length && strncmp(a->quantity, b->quantity, length) == 0;
}

/* Gives each channel its series and column; the series count their columns. */
static pol_status assign(poli_h5_layout *layout, const pol_record *record)
{
  int object = 0; /* the first channel of the present object */
  for (int i = 0; i < pol_record_count(record); i++) {
    const pol_channel *channel = pol_record_channel(record, i);
    int s = -1;
    if (!same_object(channel, pol_record_channel(record, object))) object = i;
    for (int k = object; k < i && s < 0; k++)
      if (same_quantity(channel, pol_record_channel(record, k))) s = layout->series_of[k];
    if (s < 0) {
      s = layout->count++;
      layout->series[s].flat = strchr(channel->quantity, '.') == NULL;
      layout->series[s].path = make_path(channel);
      if (layout->series[s].path == NULL) return POL_NO_MEMORY;
    }
    layout->series_of[i] = s;
    layout->column_of[i] = layout->series[s].columns++;
  }
  return POL_OK;
}

pol_status poli_h5_layout_create(poli_h5_layout *layout, const pol_record *record)
{
  const size_t count = (size_t)pol_record_count(record);
  *layout = (poli_h5_layout){0};
  layout->series = calloc(count, sizeof *layout->series);
  layout->series_of = calloc(count, sizeof *layout->series_of);
  layout->column_of = calloc(count, sizeof *layout->column_of);
  layout->channels = calloc(count, sizeof *layout->channels);
  if (layout->series == NULL || layout->series_of == NULL || layout->column_of == NULL ||
      layout->channels == NULL)
    return POL_NO_MEMORY;

  pol_status status = assign(layout, record);
  for (int s = 1; s < layout->count; s++)
    layout->series[s].first = layout->series[s - 1].first + layout->series[s - 1].columns;
  for (int i = 0; status == POL_OK && i < (int)count; i++)
    layout->channels[layout->series[layout->series_of[i]].first + layout->column_of[i]] = i;
  return status;
}

void poli_h5_layout_free(poli_h5_layout *layout)
{
  for (int s = 0; s < layout->count; s++) free(layout->series[s].path);
  free(layout->series);
  free(layout->series_of);
  free(layout->column_of);
  free(layout->channels);
  *layout = (poli_h5_layout){0};
}
