/* A report is built as the JSON object that describes it; reproduce.h has its form. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "papers/reproduce.h"

struct paper_report {
  const paper_publication *paper;
  const paper_item *item;
  char *data, *out;
  json_t *json, *blocks, *checks;
  json_t *rows;   /* of the table that is open; borrowed */
  size_t columns; /* of it */
  char *failure;  /* why it could not run */
  char *missing;  /* why it is not comparable */
  int no_memory;
};

/* --- life ------------------------------------------------------------------------------------- */

pol_status paper_report_create(paper_report **report, const paper_publication *paper,
                               const paper_item *item, const char *data, const char *out)
{
  paper_report *r = *report = calloc(1, sizeof *r);
  if (r == NULL) return POL_NO_MEMORY;
  r->paper = paper, r->item = item;
  r->data = poli_format("%s", data);
  r->out = out != NULL ? poli_format("%s", out) : NULL;
  r->blocks = json_array(), r->checks = json_array();
  r->json = json_pack("{s:s, s:s, s:s, s:s, s:O, s:O}", "id", item->id, "paper", paper->id, "title",
                      item->title, "published", item->published, "checks", r->checks, "blocks",
                      r->blocks);
  if (r->data != NULL && (r->out != NULL) == (out != NULL) && r->json != NULL) return POL_OK;
  paper_report_free(report);
  return POL_NO_MEMORY;
}

void paper_report_free(paper_report **report)
{
  paper_report *r = *report;
  if (r == NULL) return;
  json_decref(r->json);
  json_decref(r->blocks);
  json_decref(r->checks);
  free(r->data);
  free(r->out);
  free(r->failure);
  free(r->missing);
  free(r);
  *report = NULL;
}

json_t *paper_report_json(const paper_report *r)
{
  return r->no_memory ? NULL : r->json;
}

/* --- what goes wrong -------------------------------------------------------------------------- */

int paper_report_failed(const paper_report *r)
{
  return r->no_memory || r->failure != NULL;
}

void paper_report_fail(paper_report *r, const char *format, ...)
{
  va_list arguments;
  if (paper_report_failed(r)) return;
  va_start(arguments, format);
  r->failure = poli_format_list(format, arguments);
  va_end(arguments);
  r->no_memory |= r->failure == NULL;
}

/* Adds to an array, which takes the item; NULL means that memory is out. */
static void add(paper_report *r, json_t *array, json_t *item)
{
  if (json_array_append_new(array, item) != 0) r->no_memory = 1;
}

char *paper_report_path(paper_report *r, const char *name)
{
  if (paper_report_failed(r)) return NULL;
  char *path = poli_format("%s/%s", r->data, name);
  r->no_memory |= path == NULL;
  return path;
}

/* --- blocks ----------------------------------------------------------------------------------- */

void paper_report_text(paper_report *r, const char *format, ...)
{
  va_list arguments;
  if (paper_report_failed(r)) return;
  va_start(arguments, format);
  char *text = poli_format_list(format, arguments);
  va_end(arguments);
  if (text == NULL)
    r->no_memory = 1;
  else
    add(r, r->blocks, json_pack("{s:s, s:s}", "kind", "text", "text", text));
  free(text);
}

/* The parts of a text between '|', without blanks around them, as an array. */
static json_t *split(const char *text)
{
  json_t *parts = json_array();
  for (const char *p = text; parts != NULL;) {
    size_t length = strcspn(p, "|"), start = strspn(p, " "), end = length;
    if (start > length) start = length;
    while (end > start && p[end - 1] == ' ') end--;
    if (json_array_append_new(parts, json_stringn(p + start, end - start)) != 0) {
      json_decref(parts);
      return NULL;
    }
    if (p[length] == '\0') break;
    p += length + 1;
  }
  return parts;
}

void paper_report_table(paper_report *r, const char *title, const char *columns)
{
  if (paper_report_failed(r)) return;
  json_t *names = split(columns);
  r->columns = json_array_size(names);
  r->rows = json_array();
  add(r, r->blocks,
      json_pack("{s:s, s:s, s:o, s:o}", "kind", "table", "title", title, "columns", names, "rows",
                r->rows));
}

void paper_report_row(paper_report *r, const char *format, ...)
{
  va_list arguments;
  if (paper_report_failed(r)) return;
  if (r->rows == NULL) {
    paper_report_fail(r, "a row without a table");
    return;
  }
  va_start(arguments, format);
  char *text = poli_format_list(format, arguments);
  va_end(arguments);
  json_t *cells = text != NULL ? split(text) : NULL;
  free(text);
  const size_t count = json_array_size(cells);
  add(r, r->rows, cells);
  if (!r->no_memory && count != r->columns)
    paper_report_fail(r, "a row of %zu cells in a table of %zu columns", count, r->columns);
}

/* Writes the figure's file if there is a folder. */
static void write_figure(paper_report *r, const char *name, const char *svg)
{
  if (r->out == NULL) return;
  char *path = poli_format("%s/%s-%s.svg", r->out, r->item->id, name);
  if (path == NULL) {
    r->no_memory = 1;
    return;
  }
  FILE *file = fopen(path, "w");
  int bad = file == NULL || fputs(svg, file) < 0;
  if (file != NULL) bad |= fclose(file) != 0;
  if (bad) paper_report_fail(r, "%s cannot be written: %s", path, strerror(errno));
  free(path);
}

void paper_report_figure(paper_report *r, const char *name, const char *caption,
                         const pol_figure *figure)
{
  char *svg = NULL, message[256];
  if (paper_report_failed(r)) return;
  if (pol_figure_validate(figure, message, sizeof message) != POL_OK) {
    paper_report_fail(r, "figure %s: %s", name, message);
    return;
  }
  if (pol_figure_svg(figure, &svg) != POL_OK) {
    r->no_memory = 1;
    return;
  }
  write_figure(r, name, svg);
  add(r, r->blocks,
      json_pack("{s:s, s:s, s:s, s:s}", "kind", "figure", "name", name, "caption", caption, "svg",
                svg));
  free(svg);
}

/* What stands in place of a published number where there is a statement. */
static const char stated[] = "stated";

/* The words of paper_against. */
enum { NUM_AGAINST = 3 };
static const char *const against_words[NUM_AGAINST] = {"published number", "statement",
                                                       "own solution"};

/* --- checks ----------------------------------------------------------------------------------- */

/* Takes the two texts. */
static int add_check(paper_report *r, const char *what, char *ours, char *published,
                     paper_against against, int passed)
{
  if (ours == NULL || published == NULL)
    r->no_memory = 1;
  else
    add(r, r->checks,
        json_pack("{s:s, s:s, s:s, s:s, s:b, s:s}", "what", what, "ours", ours, "published",
                  published, "against", against_words[against], "passed", passed, "why", ""));
  free(ours);
  free(published);
  return passed;
}

int paper_check_near(paper_report *r, const char *what, double ours, double published,
                     double tolerance)
{
  if (paper_report_failed(r)) return 0;
  const int passed = fabs(ours - published) <= tolerance * (published != 0.0 ? fabs(published) : 1);
  char *theirs = published != 0.0 ? poli_format("%.5g (within %.3g %%)", published, 100 * tolerance)
                                  : poli_format("0 (within %.3g)", tolerance);
  return add_check(r, what, poli_format("%.5g", ours), theirs, PAPER_AGAINST_NUMBER, passed);
}

int paper_check_range(paper_report *r, const char *what, double ours, double low, double high,
                      const char *published)
{
  if (paper_report_failed(r)) return 0;
  char *range = isinf(high)  ? poli_format("%s (at least %.4g)", published, low)
                : isinf(low) ? poli_format("%s (at most %.4g)", published, high)
                             : poli_format("%s (%.4g to %.4g)", published, low, high);
  return add_check(r, what, poli_format("%.5g", ours), range, PAPER_AGAINST_STATEMENT,
                   ours >= low && ours <= high);
}

int paper_check_digits(paper_report *r, const char *what, double ours, double published, int digits)
{
  if (paper_report_failed(r)) return 0;
  const double unit = published != 0.0 ? pow(10.0, floor(log10(fabs(published))) - digits + 1) : 0;
  const int passed = fabs(ours - published) <= (0.5 + 1e-9) * unit;
  return add_check(r, what, poli_format("%#.*g", digits + 2, ours),
                   poli_format("%#.*g (to %d digits)", digits, published, digits),
                   PAPER_AGAINST_NUMBER, passed);
}

int paper_check_among(paper_report *r, const char *what, double least, double most,
                      double published, double near)
{
  if (paper_report_failed(r)) return 0;
  char *ours = near > 0.0 ? poli_format("%.3g to %.3g, depending on the step (agrees within %.1f)",
                                        least, most, near)
                          : poli_format("%.3g to %.3g, depending on the step", least, most);
  return add_check(r, what, ours, poli_format("%s", stated), PAPER_AGAINST_NUMBER,
                   published >= least - near && published <= most + near);
}

int paper_check_true(paper_report *r, const char *statement, int holds, const char *ours, ...)
{
  va_list arguments;
  if (paper_report_failed(r)) return 0;
  va_start(arguments, ours);
  char *numbers = poli_format_list(ours, arguments);
  va_end(arguments);
  return add_check(r, statement, numbers, poli_format("%s", stated), PAPER_AGAINST_STATEMENT,
                   holds);
}

void paper_check_against(paper_report *r, paper_against against)
{
  if (paper_report_failed(r) || json_array_size(r->checks) == 0) return;
  json_t *last = json_array_get(r->checks, json_array_size(r->checks) - 1);
  if (json_object_set_new(last, "against", json_string(against_words[against])) != 0)
    r->no_memory = 1;
}

void paper_check_because(paper_report *r, const char *format, ...)
{
  va_list arguments;
  if (paper_report_failed(r) || json_array_size(r->checks) == 0) return;
  json_t *last = json_array_get(r->checks, json_array_size(r->checks) - 1);
  if (json_is_true(json_object_get(last, "passed"))) return;
  va_start(arguments, format);
  char *why = poli_format_list(format, arguments);
  va_end(arguments);
  if (why == NULL || json_object_set_new(last, "why", json_string(why)) != 0) r->no_memory = 1;
  free(why);
}

void paper_report_not_comparable(paper_report *r, const char *format, ...)
{
  va_list arguments;
  if (paper_report_failed(r)) return;
  va_start(arguments, format);
  free(r->missing);
  r->missing = poli_format_list(format, arguments);
  va_end(arguments);
  r->no_memory |= r->missing == NULL;
}

/* --- the verdict ------------------------------------------------------------------------------ */

const char *paper_json_text(const json_t *object, const char *key)
{
  const char *text = json_string_value(json_object_get(object, key));
  return text != NULL ? text : "";
}

static int has_passed(const json_t *check)
{
  return json_is_true(json_object_get(check, "passed"));
}

static int is_against(const json_t *check, paper_against against)
{
  return strcmp(paper_json_text(check, "against"), against_words[against]) == 0;
}

/* How many checks compare with such a thing, and how many of all differ. */
typedef struct counts {
  int against[NUM_AGAINST], differ, all;
} counts;

static counts count_checks(const json_t *checks)
{
  counts n = {{0}, 0, 0};
  size_t i;
  json_t *check;
  json_array_foreach(checks, i, check)
  {
    for (int k = 0; k < NUM_AGAINST; k++) n.against[k] += is_against(check, (paper_against)k);
    n.differ += !has_passed(check);
    n.all++;
  }
  return n;
}

/* Adds to a text, which is freed; NULL without memory. */
static char *append(char *text, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *more = text != NULL ? poli_format_list(format, arguments) : NULL;
  va_end(arguments);
  char *longer = more != NULL ? poli_format("%s%s", text, more) : NULL;
  free(text);
  free(more);
  return longer;
}

/* The published numbers that were tested, or without any the statements; the first few of them. */
static char *tested(const paper_report *r)
{
  enum { NAMED = 4 };
  const counts n = count_checks(r->checks);
  const paper_against kind =
      n.against[PAPER_AGAINST_NUMBER] > 0 ? PAPER_AGAINST_NUMBER : PAPER_AGAINST_STATEMENT;
  const int count = n.against[kind];
  size_t i;
  json_t *check;
  int named = 0;
  if (count == 0) return poli_format("nothing published");
  char *text = poli_format("%d %s%s: ", count, against_words[kind], count > 1 ? "s" : "");
  json_array_foreach(r->checks, i, check)
  {
    const char *published = paper_json_text(check, "published");
    if (!is_against(check, kind) || named++ >= NAMED) continue;
    text = append(text, "%s%s", named > 1 ? "; " : "", paper_json_text(check, "what"));
    if (strcmp(published, stated) != 0) text = append(text, ", %s", published);
  }
  if (count > NAMED) text = append(text, "; and %d more", count - NAMED);
  return text;
}

/* The next check after i that differs, or NULL. */
static const json_t *next_difference(const json_t *checks, size_t i)
{
  for (i++; i < json_array_size(checks); i++)
    if (!has_passed(json_array_get(checks, i))) return json_array_get(checks, i);
  return NULL;
}

/* One difference in words, with both figures; the reason after the last that has it. */
static char *add_difference(char *text, const json_t *check, const json_t *next)
{
  const char *published = paper_json_text(check, "published"), *why = paper_json_text(check, "why");
  const int last = next == NULL || strcmp(paper_json_text(next, "why"), why) != 0;
  text =
      append(text, " %s: ours %s", paper_json_text(check, "what"), paper_json_text(check, "ours"));
  if (strcmp(published, stated) != 0)
    text = append(text, ", %s %s", is_against(check, PAPER_AGAINST_OWN) ? "expected" : "published",
                  published);
  text = append(text, last ? "." : ";");
  return last && why[0] != '\0' ? append(text, " Reason: %s.", why) : text;
}

/* All checks that differ. */
static char *differences(const paper_report *r)
{
  size_t i;
  json_t *check;
  const counts n = count_checks(r->checks);
  char *text = poli_format("%d of %d checks differ.", n.differ, n.all);
  json_array_foreach(r->checks, i, check)
  {
    if (text != NULL && !has_passed(check))
      text = add_difference(text, check, next_difference(r->checks, i));
  }
  return text;
}

static void decide(paper_report *r)
{
  const counts n = count_checks(r->checks);
  const char *verdict = "reproduced";
  char *reason = NULL, *what = tested(r);
  if (r->failure != NULL) {
    verdict = "failed";
    reason = poli_format("%s", r->failure);
  } else if (r->missing != NULL || n.all == 0) {
    verdict = "not comparable";
    reason = poli_format("%s", r->missing != NULL ? r->missing : "there is nothing to compare");
  } else if (n.differ > 0) {
    verdict = "differs";
    reason = differences(r);
  } else if (n.against[PAPER_AGAINST_NUMBER] > 0) {
    reason = poli_format("%s", "");
  } else if (n.against[PAPER_AGAINST_STATEMENT] > 0) {
    verdict = "statements hold";
    reason = poli_format("no published number to test");
  } else {
    verdict = "shown only";
    reason = poli_format("no published number or statement to test: compared with a solution of "
                         "our own only");
  }
  if (reason == NULL || what == NULL ||
      json_object_set_new(r->json, "verdict", json_string(verdict)) != 0 ||
      json_object_set_new(r->json, "reason", json_string(reason)) != 0 ||
      json_object_set_new(r->json, "tested", json_string(what)) != 0)
    r->no_memory = 1;
  free(reason);
  free(what);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void paper_report_run(paper_report *r)
{
  const double start = now();
  r->item->run(r);
  if (json_object_set_new(r->json, "seconds", json_real(now() - start)) != 0) r->no_memory = 1;
  decide(r);
}
