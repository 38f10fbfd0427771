/* Files of finite element programs; see matrix_market.h. */
#include "io/file/matrix_market.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/file/file.h"

/* Bytes of a file: a device may have no end. */
static const size_t largest_file = (size_t)1 << 34;

/* A text that is read word by word. */
typedef struct text {
  const char *path, *at;
  size_t line;
  char *message;
  size_t size;
} text;

/* Reports what is wrong in the present line. */
static pol_status refuse(const text *t, const char *rule, const char *value)
{
  snprintf(t->message, t->size, "%.200s:%zu: %s%s%.40s%s", t->path, t->line, rule,
           *value ? ", not \"" : "", value, *value ? "\"" : "");
  return POL_BAD_ARGUMENT;
}

/* Reads the whole file; POL_IO has its message. */
static pol_status open_text(text *t, const char *path, char *message, size_t size, char **bytes,
                            size_t *count)
{
  *t = (text){.path = path, .line = 1, .message = message, .size = size};
  const pol_status status = poli_read_small_file(path, largest_file, bytes, count);
  t->at = *bytes;
  if (status == POL_IO)
    snprintf(message, size, "%.200s: cannot be read: %s", path, strerror(errno));
  return status;
}

/* Skips blanks and, if `lines`, the ends of lines and comments. */
static void skip(text *t, const char *blanks, int lines)
{
  for (;;) {
    t->at += strspn(t->at, blanks);
    if (!lines) return;
    if (*t->at == '%' || *t->at == '#') t->at += strcspn(t->at, "\n");
    if (*t->at != '\n') return;
    t->at++;
    t->line++;
  }
}

/* The next word, at most 63 letters; "" at the end. */
static void next_word(text *t, const char *ends, char word[64])
{
  const size_t length = strcspn(t->at, ends), taken = length < 63 ? length : 63;
  memcpy(word, t->at, taken);
  word[taken] = '\0';
  t->at += length;
}

/* A finite number; Fortran writes exponents with D. */
static int read_number(const char *word, double *number)
{
  char copy[64], *end;
  strcpy(copy, word);
  for (char *c = copy; *c; c++)
    if (*c == 'D' || *c == 'd') *c = 'e';
  *number = strtod(copy, &end);
  return end != copy && *end == '\0' && isfinite(*number);
}

static int read_whole(const char *word, long least, long most, long *number)
{
  char *end;
  errno = 0;
  *number = strtol(word, &end, 10);
  return end != word && *end == '\0' && errno == 0 && *number >= least && *number <= most;
}

/* --- Matrix Market ---------------------------------------------------------------------------- */

static const char blanks[] = " \t\r", ends[] = " \t\r\n";

typedef struct banner {
  int is_array, is_symmetric;
} banner;

static pol_status read_banner(text *t, banner *b)
{
  static const char rule[] =
      "must start with %%MatrixMarket matrix coordinate (or array) real general (or symmetric)";
  char words[5][64];
  for (int i = 0; i < 5; i++) {
    skip(t, blanks, 0);
    next_word(t, ends, words[i]);
  }
  if (strcasecmp(words[0], "%%MatrixMarket") != 0 || strcasecmp(words[1], "matrix") != 0)
    return refuse(t, rule, words[0]);
  b->is_array = strcasecmp(words[2], "array") == 0;
  b->is_symmetric = strcasecmp(words[4], "symmetric") == 0;
  if (!b->is_array && strcasecmp(words[2], "coordinate") != 0)
    return refuse(t, "must be of the form coordinate or array", words[2]);
  if (strcasecmp(words[3], "real") != 0 && strcasecmp(words[3], "integer") != 0 &&
      strcasecmp(words[3], "double") != 0)
    return refuse(t, "must have real numbers", words[3]);
  if (!b->is_symmetric && strcasecmp(words[4], "general") != 0)
    return refuse(t, "must be general or symmetric", words[4]);
  t->at += strcspn(t->at, "\n");
  return POL_OK;
}

/* The next whole number, in this line or a later one. */
static pol_status next_whole(text *t, const char *rule, long least, long most, long *number)
{
  char word[64];
  skip(t, blanks, 1);
  next_word(t, ends, word);
  return read_whole(word, least, most, number) ? POL_OK
                                               : refuse(t, rule, *word ? word : "end of file");
}

static void add_entry(poli_entries *m, long row, long col, double value, int mirrored)
{
  for (int i = 0; i < 1 + (mirrored && row != col); i++) {
    m->row[m->count] = (int)(i ? col : row) - 1;
    m->col[m->count] = (int)(i ? row : col) - 1;
    m->value[m->count++] = value;
  }
}

pol_status poli_matrix_market_read(poli_entries *m, const char *path, char *message, size_t size)
{
  text t;
  banner b = {0};
  char *bytes = NULL, word[64], rule[120];
  size_t length = 0;
  long rows = 0, cols = 0, count = 0, row = 1, col = 1;
  double number;
  *m = (poli_entries){0};
  pol_status status = open_text(&t, path, message, size, &bytes, &length);
  if (!status) status = read_banner(&t, &b);
  if (!status) status = next_whole(&t, "must have the number of rows here", 1, INT_MAX - 1, &rows);
  if (!status)
    status = next_whole(&t, "must have the number of columns here", 1, INT_MAX - 1, &cols);
  if (!status && b.is_symmetric && rows != cols)
    status = refuse(&t, "must be square, since it is symmetric", "");
  if (!status && b.is_array)
    count =
        b.is_symmetric ? rows % 2 ? rows * ((rows + 1) / 2) : rows / 2 * (rows + 1) : rows * cols;
  if (!status && !b.is_array)
    status = next_whole(&t, "must have the number of entries here", 0, INT_MAX - 1, &count);
  /* each entry has a digit and a blank */
  if (!status && (size_t)count > length / 2) {
    snprintf(rule, sizeof rule, "must have %ld entries, but the file is too short for them", count);
    status = refuse(&t, rule, "");
  }
  if (!status) {
    const size_t room = (b.is_symmetric ? 2 : 1) * (size_t)count + 1;
    m->rows = (int)rows;
    m->cols = (int)cols;
    m->row = malloc(room * sizeof *m->row);
    m->col = malloc(room * sizeof *m->col);
    m->value = malloc(room * sizeof *m->value);
    if (!m->row || !m->col || !m->value) status = POL_NO_MEMORY;
  }
  for (long i = 0; i < count && !status; i++) {
    if (!b.is_array)
      status = next_whole(&t, "must have a row number of the matrix here", 1, rows, &row);
    if (!b.is_array && !status)
      status = next_whole(&t, "must have a column number of the matrix here", 1, cols, &col);
    if (status) break;
    skip(&t, blanks, b.is_array);
    next_word(&t, ends, word);
    if (!read_number(word, &number))
      status = refuse(&t, "must have a finite number here", *word ? word : "end of line");
    if (!status) add_entry(m, row, col, number, b.is_symmetric);
    if (b.is_array && ++row > rows) row = b.is_symmetric ? ++col : (++col, 1);
  }
  if (!status) {
    skip(&t, blanks, 1);
    next_word(&t, ends, word);
    snprintf(rule, sizeof rule, "must end after %ld entries", count);
    if (*word) status = refuse(&t, rule, word);
  }
  free(bytes);
  return status;
}

void poli_entries_free(poli_entries *m)
{
  free(m->row);
  free(m->col);
  free(m->value);
  *m = (poli_entries){0};
}

void poli_matrix_market_write(FILE *file, int n, const int *start, const int *row,
                              const double *value)
{
  long count = 0;
  for (int j = 0; j < n; j++)
    for (int e = start[j]; e < start[j + 1]; e++) count += row[e] >= j && value[e] != 0.0;
  fprintf(file, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %ld\n", n, n, count);
  for (int j = 0; j < n; j++)
    for (int e = start[j]; e < start[j + 1]; e++)
      if (row[e] >= j && value[e] != 0.0)
        fprintf(file, "%d %d %.17g\n", row[e] + 1, j + 1, value[e]);
}

/* --- nodes ------------------------------------------------------------------------------------ */

typedef struct place {
  long id;
  size_t line;
} place;

static int compare_places(const void *first, const void *second)
{
  const place *a = first, *b = second;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

static pol_status check_ids(text *t, place *places, size_t count)
{
  char rule[120];
  qsort(places, count, sizeof *places, compare_places);
  for (size_t i = 1; i < count; i++)
    if (places[i].id == places[i - 1].id) {
      t->line = places[i].line;
      snprintf(rule, sizeof rule, "must have a number of its own: node %ld is in line %zu already",
               places[i].id, places[i - 1].line);
      return refuse(t, rule, "");
    }
  return POL_OK;
}

/* The four columns of a line. */
static pol_status read_node(text *t, long *id, double x[3])
{
  static const char gaps[] = " \t\r,;", stop[] = " \t\r,;\n";
  char word[64];
  skip(t, gaps, 0);
  next_word(t, stop, word);
  if (!read_whole(word, LONG_MIN + 1, LONG_MAX, id))
    return refuse(t, "must start with the number of a node", word);
  for (int i = 0; i < 3; i++) {
    skip(t, gaps, 0);
    next_word(t, stop, word);
    if (!read_number(word, &x[i]))
      return refuse(t, "must have the number of the node and its x, y and z",
                    *word ? word : "end of line");
  }
  skip(t, gaps, 0);
  next_word(t, stop, word);
  return *word ? refuse(t, "must have four columns: number, x, y and z", word) : POL_OK;
}

pol_status poli_nodes_read(poli_nodes *nodes, const char *path, char *message, size_t size)
{
  text t;
  char *bytes = NULL;
  size_t length = 0, room = 1;
  place *places = NULL;
  *nodes = (poli_nodes){0};
  pol_status status = open_text(&t, path, message, size, &bytes, &length);
  for (size_t i = 0; i < length; i++) room += bytes[i] == '\n';
  if (!status) {
    nodes->ids = malloc(room * sizeof *nodes->ids);
    nodes->positions = malloc(3 * room * sizeof *nodes->positions);
    places = malloc(room * sizeof *places);
    if (!nodes->ids || !nodes->positions || !places) status = POL_NO_MEMORY;
  }
  for (int is_first = 1; !status; is_first = 0) {
    skip(&t, blanks, 1);
    if (*t.at == '\0') break;
    if (is_first && strspn(t.at, "0123456789+-") == 0) { /* names of the columns */
      t.at += strcspn(t.at, "\n");
      continue;
    }
    const size_t n = nodes->count;
    places[n].line = t.line;
    status = read_node(&t, &nodes->ids[n], nodes->positions + 3 * n);
    places[n].id = nodes->ids[n];
    nodes->count++;
  }
  if (!status && nodes->count == 0) status = refuse(&t, "must have nodes: number, x, y and z", "");
  if (!status) status = check_ids(&t, places, nodes->count);
  free(places);
  free(bytes);
  return status;
}

void poli_nodes_free(poli_nodes *nodes)
{
  free(nodes->ids);
  free(nodes->positions);
  *nodes = (poli_nodes){0};
}
