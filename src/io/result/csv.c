/* CSV results.
 *
 * Writing: lines are put together in a buffer of our own; the file itself is unbuffered.  So every
 * write ends with a complete line, and what a killed run leaves can be read, but for a last line
 * that the system may cut in the middle of a write.  A write that a full disk cuts short is taken
 * back to the end of its last line.  The file is locked before it is emptied, so that a second run
 * that writes the same file is refused.  Numbers have 17 significant digits, which is enough to
 * read back the same double (IEEE 754-2008, 5.12.2).
 *
 * Reading: the whole file at once.  Comment lines start with '#'; "# polhode VERSION", "#
 * parameters: {...}" and "# units: ..." are understood, others skipped, and none is needed, so that
 * tables of other programs can be read as well.  Then comes the line of names, all different, then
 * lines of numbers.  Fields may be quoted (RFC 4180).  Lines end with LF or CRLF, and the mark that
 * some programs put before UTF-8 (EF BB BF) is skipped.  A last line without an end is what a
 * killed run may leave: it is left out.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/output.h>

#include "io/file/file.h"
#include "io/result/result.h"
#include "simulation/record.h"

static const char version_label[] = "# polhode ",
                  units_label[] = "# units: ", parameters_label[] = "# parameters: ";

/* --- writing ---------------------------------------------------------------------------------- */

/* Characters of the longest number and its comma: "-1.2345678901234567e-308,". */
enum { NUMBER_SIZE = 25 };
enum { BUFFER_SIZE = 1 << 16 };

typedef struct csv_writer {
  pol_writer base;
  FILE *file;
  double *row;      /* the values of one line */
  char *buffer;     /* lines not yet written */
  size_t capacity;  /* of the buffer */
  size_t used;      /* characters in it */
  size_t line_size; /* the longest line of numbers, with its end */
  off_t size;       /* of the file, whole lines only */
  pol_status status;
} csv_writer;

/* Writes the buffer to the file.  A failure stays; errno then keeps the reason. */
static pol_status flush(pol_writer *writer)
{
  csv_writer *csv = (csv_writer *)writer;
  if (csv->status == POL_OK && csv->used > 0) {
    size_t written = fwrite(csv->buffer, 1, csv->used, csv->file);
    if (written < csv->used) {
      /* cut behind the last whole line; what cannot be cut, a pipe or a device, stays as it is */
      const int reason = errno;
      while (written > 0 && csv->buffer[written - 1] != '\n') written--;
      const int cut = ftruncate(fileno(csv->file), csv->size + (off_t)written);
      (void)cut;
      errno = reason;
      csv->status = POL_IO;
    }
    csv->size += (off_t)written;
  }
  csv->used = 0;
  return csv->status;
}

/* Adds a text and what follows it; in quotes, with quotes doubled, if it holds a comma, quote or
 * line break. */
static void put_text(csv_writer *csv, const char *text, char end)
{
  const int quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) csv->buffer[csv->used++] = '"';
  for (; *text != '\0'; text++) {
    if (*text == '"') csv->buffer[csv->used++] = '"';
    csv->buffer[csv->used++] = *text;
  }
  if (quoted) csv->buffer[csv->used++] = '"';
  csv->buffer[csv->used++] = end;
}

/* Frees everything; the file must be closed. */
static void release_writer(csv_writer *csv)
{
  free(csv->row);
  free(csv->buffer);
  free(csv);
}

static pol_status write_row(pol_writer *writer)
{
  csv_writer *csv = (csv_writer *)writer;
  const int count = pol_record_count(writer->record);
  if (csv->capacity - csv->used < csv->line_size) flush(writer);
  if (csv->status != POL_OK) return csv->status;
  pol_record_row(writer->record, csv->row);
  for (int i = 0; i < count; i++) {
    csv->used += poli_print_number(csv->buffer + csv->used, csv->capacity - csv->used, csv->row[i]);
    csv->buffer[csv->used++] = i + 1 < count ? ',' : '\n';
  }
  return POL_OK;
}

static pol_status close_writer(pol_writer *writer, const char *how, const char *failure)
{
  csv_writer *csv = (csv_writer *)writer;
  (void)how, (void)failure; /* there is no place for them */
  pol_status status = flush(writer);
  if (fclose(csv->file) != 0) status = POL_IO;
  release_writer(csv);
  return status;
}

/* Opens a file for writing, locked and empty; NULL: errno says why. */
static FILE *open_empty(const char *path)
{
  struct stat info;
  const int descriptor = open(path, O_WRONLY | O_CREAT, 0666);
  if (descriptor < 0) return NULL;
  FILE *file = NULL;
  const int is_file = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  if (!is_file || (poli_output_lock(descriptor) && ftruncate(descriptor, 0) == 0))
    file = fdopen(descriptor, "wb");
  const int reason = errno;
  if (file == NULL) close(descriptor);
  errno = reason;
  return file;
}

pol_status poli_writer_create_csv(pol_writer **writer, const char *path, const pol_record *record,
                                  const pol_result_info *about)
{
  const char *parameters = about != NULL ? about->parameters : NULL;
  csv_writer *c = calloc(1, sizeof *c);
  if (c == NULL) return POL_NO_MEMORY;
  c->base = (pol_writer){record, write_row, flush, NULL, close_writer};

  /* The buffer holds the head, texts with all their quotes doubled, and one line of numbers at
   * least. */
  const int count = pol_record_count(record);
  size_t head = sizeof version_label + strlen(pol_version()) + 1 + sizeof units_label;
  if (parameters != NULL) head += sizeof parameters_label + strlen(parameters) + 1;
  for (int i = 0; i < count; i++) {
    const pol_channel *channel = pol_record_channel(record, i);
    head += 2 * (strlen(channel->name) + strlen(channel->unit)) + 6;
  }
  c->line_size = (size_t)count * NUMBER_SIZE + 1;
  c->capacity = BUFFER_SIZE;
  if (c->capacity < head) c->capacity = head;
  if (c->capacity < c->line_size) c->capacity = c->line_size;
  c->row = malloc((size_t)count * sizeof *c->row);
  c->buffer = malloc(c->capacity);
  const int has_memory = c->row != NULL && c->buffer != NULL;
  c->file = has_memory ? open_empty(path) : NULL;
  if (c->file == NULL) {
    release_writer(c);
    return has_memory ? POL_IO : POL_NO_MEMORY;
  }

  setvbuf(c->file, NULL, _IONBF, 0);
  c->used = (size_t)snprintf(c->buffer, c->capacity, "%s%s\n%s%s%s%s", version_label, pol_version(),
                             parameters != NULL ? parameters_label : "",
                             parameters != NULL ? parameters : "", parameters != NULL ? "\n" : "",
                             units_label);
  for (int i = 0; i < count; i++)
    put_text(c, pol_record_channel(record, i)->unit, i + 1 < count ? ',' : '\n');
  for (int i = 0; i < count; i++)
    put_text(c, pol_record_channel(record, i)->name, i + 1 < count ? ',' : '\n');
  if (flush(&c->base) != POL_OK) {
    pol_output_close(c->file, path, POL_IO);
    release_writer(c);
    return POL_IO;
  }
  *writer = &c->base;
  return POL_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct csv_data {
  char *text;     /* the file, terminated; names are cut out of it in place */
  double *values; /* [rows][count] */
} csv_data;

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

static pol_status refuse(const cursor *c, long line, const char *what, const char *text)
{
  snprintf(c->message, c->size, "line %ld: %s%.60s", line, what, text);
  return POL_BAD_ARGUMENT;
}

/* The line of names. */
static pol_status read_names(cursor *c)
{
  pol_result *result = c->result;
  char *field;
  const char *twice;
  const long line = c->line;
  field_end end;
  do {
    end = next_field(c, &field);
    if (end == END_FILE) return refuse(c, line, "there is no line of column names", "");
    if (field[0] == '\0') return refuse(c, line, "a column has no name", "");
    /* the capacity doubles at each power of two */
    const size_t count = (size_t)result->count;
    if ((count & (count - 1)) == 0) {
      pol_channel *longer = realloc(result->channels, (count ? 2 * count : 1) * sizeof *longer);
      if (longer == NULL) return POL_NO_MEMORY;
      result->channels = longer;
    }
    result->channels[result->count++] =
        (pol_channel){.name = field, .unit = "", .group = "", .owner = "", .quantity = field};
  } while (end == END_COMMA);
  if (result->count == 1 && strpbrk(field, ";\t") != NULL)
    return refuse(c, line, "columns must be separated by commas: ", field);
  const pol_status status = poli_channels_check_names(result->channels, result->count, &twice);
  return status == POL_BAD_ARGUMENT ? refuse(c, line, "two columns have the same name: ", twice)
                                    : status;
}

/* Comments, then names, then the units that the comments had. */
static pol_status read_head(cursor *c)
{
  char *units = NULL, *field;
  while (*c->at == '#') {
    char *line = c->at, *end = line + strcspn(line, "\n");
    c->at = *end != '\0' ? end + 1 : end;
    c->line++;
    if (strncmp(line, units_label, sizeof units_label - 1) == 0) {
      units = line + sizeof units_label - 1;
      *end = '\0'; /* an open quote must not continue on the next line */
    } else if (strncmp(line, version_label, sizeof version_label - 1) == 0) {
      line[strcspn(line, "\r\n")] = '\0';
      c->result->info.version = line + sizeof version_label - 1;
    } else if (strncmp(line, parameters_label, sizeof parameters_label - 1) == 0) {
      line[strcspn(line, "\r\n")] = '\0';
      c->result->info.parameters = line + sizeof parameters_label - 1;
    }
  }
  const pol_status status = read_names(c);
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

/* One line of numbers; *complete is 0 if the file ends before it does. */
static pol_status read_row(cursor *c, double *row, int *complete)
{
  const long line = c->line;
  const int width = c->result->count;
  int count = 0;
  field_end end;
  do {
    char *field, *rest;
    end = next_field(c, &field);
    *complete = end != END_FILE;
    if (end == END_FILE) return POL_OK;
    /* some locales expect a decimal comma */
    char *point = strchr(field, '.');
    if (point != NULL) *point = localeconv()->decimal_point[0];
    const double number = strtod(field, &rest);
    if (point != NULL && rest <= point) *point = '.';
    if (rest == field || rest[strspn(rest, " \t\r")] != '\0')
      return refuse(c, line, "must be a number: ", field);
    if (count < width) row[count] = number;
    count++;
  } while (end == END_COMMA);
  if (count == width) return POL_OK;
  snprintf(c->message, c->size, "line %ld: %d number%s, but there %s %d column%s", line, count,
           count == 1 ? "" : "s", width == 1 ? "is" : "are", width, width == 1 ? "" : "s");
  return POL_BAD_ARGUMENT;
}

static pol_status read_rows(cursor *c)
{
  pol_result *result = c->result;
  csv_data *data = result->data;
  const size_t width = (size_t)result->count;
  /* As many rows as there can be: a row ends with its line, and each of its numbers takes a
   * character and a separator at least.  A last line without an end is read too, and left out then.
   */
  size_t lines = 0, most = strlen(c->at) / (2 * width);
  for (const char *end = c->at; (end = strchr(end, '\n')) != NULL; end++) lines++;
  if (most > lines) most = lines;
  data->values = malloc((most + 1) * width * sizeof *data->values);
  if (data->values == NULL) return POL_NO_MEMORY;
  while (*c->at != '\0') {
    int complete;
    if (*c->at == '\n') { /* an empty line, at the end perhaps */
      c->at++;
      c->line++;
      continue;
    }
    const pol_status status = read_row(c, data->values + (size_t)result->rows * width, &complete);
    if (status != POL_OK) return status;
    result->rows += complete;
  }
  return POL_OK;
}

pol_status poli_result_open_csv(pol_result *result, const char *path, char *message, size_t size)
{
  static const char mark[] = "\xEF\xBB\xBF";
  csv_data *data = calloc(1, sizeof *data);
  if (data == NULL) return POL_NO_MEMORY;
  result->data = data;
  result->release = release;
  result->read = read_values;

  size_t length;
  pol_status status = poli_read_file(path, &data->text, &length);
  if (status == POL_IO) snprintf(message, size, "cannot be read: %s", strerror(errno));
  if (status != POL_OK) return status;
  if (length == 0 || strlen(data->text) != length) {
    snprintf(message, size, length == 0 ? "the file is empty" : "this is neither HDF5 nor text");
    return POL_BAD_ARGUMENT;
  }
  cursor c = {data->text, 1, result, message, size};
  if (strncmp(c.at, mark, sizeof mark - 1) == 0) c.at += sizeof mark - 1;
  if (c.at[strspn(c.at, " \t\r\n")] == '{') {
    snprintf(
        message, size,
        "is a JSON file, such as a model, not a result; polhode run MODEL.json --out RESULT.h5 "
        "writes a result");
    return POL_BAD_ARGUMENT;
  }
  status = read_head(&c);
  return status == POL_OK ? read_rows(&c) : status;
}
