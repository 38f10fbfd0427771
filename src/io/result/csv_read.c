/* Reading CSV results: the whole file at once.
 *
 * Comment lines start with '#'; "# polhode VERSION" and "# units: ..." are understood, others
 * skipped, and none is needed, so that tables of other programs can be read as well.  Then comes
 * the line of names, all different, then lines of numbers.  Fields may be quoted (RFC 4180).  Lines
 * end with LF or CRLF, and the mark that some programs put before UTF-8 (EF BB BF) is skipped.  A
 * last line without an end is what a killed run may leave: it is left out.
 */
#include "io/result/result.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file/file.h"
#include "simulation/record.h"

typedef struct csv_data {
  char *text;     /* the file, terminated; names are cut out of it in place */
  double *values; /* [rows][count] */
} csv_data;

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* Where the reading is. */
typedef struct cursor {
  char *at;
  long line;
  pol_result *result;
  char *message;
  size_t size;
} cursor;

static void release(pol_result *result)
{
  csv_data *data = result->data;
  if (data == NULL) return;
  free(data->text);
  free(data->values);
  free(data);
}

static pol_status read_values(pol_result *result, int num, const int *channels, long first,
                              long count, double *out)
{
  const csv_data *data = result->data;
  const size_t width = (size_t)result->count;
  for (long i = 0; i < count; i++) {
    const double *from = data->values + (size_t)(first + i) * width;
    for (int k = 0; k < num; k++) *out++ = from[channels[k]];
  }
  return POL_OK;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* What ends a field. */
typedef enum field_end { END_COMMA, END_LINE, END_FILE } field_end;

/* Cuts the next field out of the text and takes its quotes away. */
static field_end next_field(cursor *c, char **field)
{
  char *from = c->at, *to = c->at;
  *field = to;
  if (*from == '"') {
    from++;
    while (*from != '\0' && (*from != '"' || from[1] == '"')) {
      c->line += *from == '\n';
      from += *from == '"';
      *to++ = *from++;
    }
    from += *from == '"';
  }
  while (*from != '\0' && *from != ',' && *from != '\n') *to++ = *from++;

  const char end = *from;
  c->at = end != '\0' ? from + 1 : from;
  if (end == '\n') {
    c->line++;
    if (to > *field && to[-1] == '\r') to--;
  }
  *to = '\0';
  return end == ',' ? END_COMMA : end == '\n' ? END_LINE : END_FILE;
}

/* The number that a field is; 0 if it is none.  Some locales expect a decimal comma. */
static int to_number(char *field, double *number)
{
  char *point = strchr(field, '.');
  if (point != NULL) *point = localeconv()->decimal_point[0];
  char *rest;
  *number = strtod(field, &rest);
  if (point != NULL && rest <= point) *point = '.';
  return rest != field && rest[strspn(rest, " \t\r")] == '\0';
}

static pol_status refuse(const cursor *c, long line, const char *what, const char *text)
{
  snprintf(c->message, c->size, "line %ld: %s%.60s", line, what, text);
  return POL_BAD_ARGUMENT;
}

static pol_status refuse_file(const cursor *c, const char *what)
{
  snprintf(c->message, c->size, "%s", what);
  return POL_BAD_ARGUMENT;
}

/* --- head ------------------------------------------------------------------------------------- */

/* The comment lines.  *units is where the line of units starts, NULL if there is none. */
static void read_comments(cursor *c, char **units)
{
  static const char version[] = "# polhode ", unit_line[] = "# units: ";
  *units = NULL;
  while (*c->at == '#') {
    char *line = c->at, *end = line + strcspn(line, "\n");
    c->at = *end != '\0' ? end + 1 : end;
    c->line++;
    if (strncmp(line, unit_line, sizeof unit_line - 1) == 0) {
      *units = line + sizeof unit_line - 1;
      *end = '\0'; /* an open quote must not continue on the next line */
    } else if (strncmp(line, version, sizeof version - 1) == 0) {
      line[strcspn(line, "\r\n")] = '\0';
      c->result->info.version = line + sizeof version - 1;
    }
  }
}

/* Adds a channel; the capacity doubles at each power of two. */
static pol_status add_channel(pol_result *result, const char *name)
{
  const size_t count = (size_t)result->count;
  if ((count & (count - 1)) == 0) {
    pol_channel *longer = realloc(result->channels, (count ? 2 * count : 1) * sizeof *longer);
    if (longer == NULL) return POL_NO_MEMORY;
    result->channels = longer;
  }
  result->channels[result->count++] =
      (pol_channel){.name = name, .unit = "", .group = "", .owner = "", .quantity = name};
  return POL_OK;
}

/* Refuses two columns of the same name: a quantity would mean either. */
static pol_status check_names(const cursor *c, long line)
{
  const char *twice;
  const pol_status status =
      poli_channels_check_names(c->result->channels, c->result->count, &twice);
  return status == POL_BAD_ARGUMENT ? refuse(c, line, "two columns have the same name: ", twice)
                                    : status;
}

/* The line of names. */
static pol_status read_names(cursor *c)
{
  char *field;
  const long line = c->line;
  field_end end;
  do {
    end = next_field(c, &field);
    if (end == END_FILE) return refuse(c, line, "there is no line of column names", "");
    if (field[0] == '\0') return refuse(c, line, "a column has no name", "");
    if (add_channel(c->result, field) != POL_OK) return POL_NO_MEMORY;
  } while (end == END_COMMA);
  if (c->result->count == 1 && strpbrk(field, ";\t") != NULL)
    return refuse(c, line, "columns must be separated by commas: ", field);
  return check_names(c, line);
}

/* Comments, then names, then the units that the comments had. */
static pol_status read_head(cursor *c)
{
  char *units, *field;
  read_comments(c, &units);
  pol_status status = read_names(c);
  if (status != POL_OK) return status;

  cursor comment = *c;
  comment.at = units;
  field_end end = units != NULL ? END_COMMA : END_LINE;
  for (int i = 0; end == END_COMMA && i < c->result->count; i++) {
    end = next_field(&comment, &field);
    if (end == END_FILE) field[strcspn(field, "\r")] = '\0'; /* of CRLF */
    c->result->channels[i].unit = field;
  }
  return POL_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* One line of numbers; *complete is 0 if the file ends before it does. */
static pol_status read_row(cursor *c, double *row, int *complete)
{
  const long line = c->line;
  const int width = c->result->count;
  int count = 0;
  field_end end;
  *complete = 1;
  do {
    char *field;
    double number = 0.0;
    end = next_field(c, &field);
    if (end == END_FILE) {
      *complete = 0;
      return POL_OK;
    }
    if (!to_number(field, &number)) return refuse(c, line, "must be a number: ", field);
    if (count < width) row[count] = number;
    count++;
  } while (end == END_COMMA);
  if (count == width) return POL_OK;
  snprintf(c->message, c->size, "line %ld: %d number%s, but there %s %d column%s", line, count,
           count == 1 ? "" : "s", width == 1 ? "is" : "are", width, width == 1 ? "" : "s");
  return POL_BAD_ARGUMENT;
}

/* As many rows as there can be: a row ends with its line, and each of its numbers takes a character
 * and a separator at least. */
static size_t count_rows(const char *text, size_t width)
{
  const size_t most = strlen(text) / (2 * width);
  size_t lines = 0;
  for (; (text = strchr(text, '\n')) != NULL; text++) lines++;
  return lines < most ? lines : most;
}

static pol_status read_rows(cursor *c)
{
  pol_result *result = c->result;
  csv_data *data = result->data;
  const size_t width = (size_t)result->count;
  /* a last line without an end is read too, and left out then */
  data->values = malloc((count_rows(c->at, width) + 1) * width * sizeof *data->values);
  if (data->values == NULL) return POL_NO_MEMORY;
  while (*c->at != '\0') {
    int complete;
    if (*c->at == '\n') { /* an empty line, at the end perhaps */
      c->at++;
      c->line++;
      continue;
    }
    pol_status status = read_row(c, data->values + (size_t)result->rows * width, &complete);
    if (status != POL_OK) return status;
    result->rows += complete;
  }
  return POL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

pol_status poli_result_open_csv(pol_result *result, const char *path, char *message, size_t size)
{
  csv_data *data = calloc(1, sizeof *data);
  if (data == NULL) return POL_NO_MEMORY;
  result->data = data;
  result->release = release;
  result->read = read_values;

  size_t length;
  pol_status status = poli_read_file(path, &data->text, &length);
  if (status == POL_IO) snprintf(message, size, "cannot be read: %s", strerror(errno));

  cursor c = {data->text, 1, result, message, size};
  if (status == POL_OK && length == 0) status = refuse_file(&c, "the file is empty");
  if (status == POL_OK && strlen(data->text) != length)
    status = refuse_file(&c, "this is neither HDF5 nor text");
  if (status == POL_OK && strncmp(c.at, byte_order_mark, sizeof byte_order_mark - 1) == 0)
    c.at += sizeof byte_order_mark - 1;
  if (status == POL_OK) status = read_head(&c);
  return status == POL_OK ? read_rows(&c) : status;
}
