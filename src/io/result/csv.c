/* CSV results: buffered writing of whole lines.
 *
 * Lines are put together in a buffer of our own; the file itself is unbuffered.  So every write
 * ends with a complete line, and what a killed run leaves can be read, but for a last line that the
 * system may cut in the middle of a write.  A write that a full disk
 * cuts short is taken back to the end of its last line.  The file is locked before it is emptied,
 * so that a second run that writes the same file is refused.  Numbers have 17 significant digits,
 * which is enough to read back the same double (IEEE 754-2008, 5.12.2).
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/output.h>

#include "io/file/target.h"
#include "io/result/result.h"

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

/* After a write that ended early: cuts the file behind its last whole line.  What cannot be cut, a
 * pipe or a device, stays as it is.  errno keeps the reason of the failed write. */
static void cut_torn_line(csv_writer *csv, size_t written)
{
  int reason = errno;
  while (written > 0 && csv->buffer[written - 1] != '\n') written--;
  csv->size += (off_t)written;
  int cut = ftruncate(fileno(csv->file), csv->size);
  (void)cut;
  errno = reason;
}

/* Writes the buffer to the file.  A failure stays. */
static pol_status flush(csv_writer *csv)
{
  if (csv->status == POL_OK && csv->used > 0) {
    size_t written = fwrite(csv->buffer, 1, csv->used, csv->file);
    if (written == csv->used) {
      csv->size += (off_t)written;
    } else {
      cut_torn_line(csv, written);
      csv->status = POL_IO;
    }
  }
  csv->used = 0;
  return csv->status;
}

/* --- head ------------------------------------------------------------------------------------- */

/* Adds a text; in quotes, with quotes doubled, if it holds a comma, quote or line break. */
static void put_text(csv_writer *csv, const char *text)
{
  int quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) csv->buffer[csv->used++] = '"';
  for (; *text != '\0'; text++) {
    if (*text == '"') csv->buffer[csv->used++] = '"';
    csv->buffer[csv->used++] = *text;
  }
  if (quoted) csv->buffer[csv->used++] = '"';
}

/* Room for put_text(text) and a separator, at most. */
static size_t text_size(const char *text)
{
  return 2 * strlen(text) + 3;
}

static const char units_label[] = "# units: ";

/* Room for the comment lines and the header. */
static size_t head_size(const pol_record *record)
{
  size_t size = sizeof "# polhode \n" + strlen(pol_version()) + sizeof units_label;
  for (int i = 0; i < pol_record_count(record); i++) {
    const pol_channel *channel = pol_record_channel(record, i);
    size += text_size(channel->name) + text_size(channel->unit);
  }
  return size;
}

static void put_head(csv_writer *csv)
{
  int count = pol_record_count(csv->base.record);
  csv->used =
      (size_t)snprintf(csv->buffer, csv->capacity, "# polhode %s\n%s", pol_version(), units_label);
  for (int i = 0; i < count; i++) {
    put_text(csv, pol_record_channel(csv->base.record, i)->unit);
    csv->buffer[csv->used++] = i + 1 < count ? ',' : '\n';
  }
  for (int i = 0; i < count; i++) {
    put_text(csv, pol_record_channel(csv->base.record, i)->name);
    csv->buffer[csv->used++] = i + 1 < count ? ',' : '\n';
  }
}

/* --- life ------------------------------------------------------------------------------------- */

/* Frees everything; the file must be closed. */
static void release(csv_writer *csv)
{
  free(csv->row);
  free(csv->buffer);
  free(csv);
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

static pol_status write_row(pol_writer *writer)
{
  csv_writer *csv = (csv_writer *)writer;
  int count = pol_record_count(writer->record);
  if (csv->capacity - csv->used < csv->line_size) flush(csv);
  if (csv->status != POL_OK) return csv->status;

  pol_record_row(writer->record, csv->row);
  for (int i = 0; i < count; i++) {
    char *number = csv->buffer + csv->used;
    csv->used += (size_t)snprintf(number, csv->capacity - csv->used, "%.17g", csv->row[i]);
    /* Some locales write a decimal comma. */
    char *comma = strchr(number, ',');
    if (comma != NULL) *comma = '.';
    csv->buffer[csv->used++] = i + 1 < count ? ',' : '\n';
  }
  return POL_OK;
}

static pol_status flush_rows(pol_writer *writer)
{
  return flush((csv_writer *)writer);
}

static pol_status close_writer(pol_writer *writer, const char *how, const char *failure)
{
  csv_writer *csv = (csv_writer *)writer;
  (void)how, (void)failure; /* there is no place for them */
  pol_status status = flush(csv);
  if (fclose(csv->file) != 0) status = POL_IO;
  release(csv);
  return status;
}

pol_status poli_writer_create_csv(pol_writer **writer, const char *path, const pol_record *record)
{
  csv_writer *c = calloc(1, sizeof *c);
  if (c == NULL) return POL_NO_MEMORY;
  c->base = (pol_writer){record, write_row, flush_rows, close_writer};

  /* The buffer holds the head, and one line of numbers at least. */
  size_t count = (size_t)pol_record_count(record), head = head_size(record);
  c->line_size = count * NUMBER_SIZE + 1;
  c->capacity = BUFFER_SIZE;
  if (c->capacity < head) c->capacity = head;
  if (c->capacity < c->line_size) c->capacity = c->line_size;
  c->row = malloc(count * sizeof *c->row);
  c->buffer = malloc(c->capacity);
  if (c->row == NULL || c->buffer == NULL) {
    release(c);
    return POL_NO_MEMORY;
  }

  c->file = open_empty(path);
  if (c->file == NULL) {
    release(c);
    return POL_IO;
  }
  setvbuf(c->file, NULL, _IONBF, 0);
  put_head(c);
  if (flush(c) != POL_OK) {
    pol_output_close(c->file, path, POL_IO);
    release(c);
    return POL_IO;
  }
  *writer = &c->base;
  return POL_OK;
}
