/* Runs of model files and tables of numbers for items. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/reproduce.h"

/* A model while it runs. */
typedef struct running {
  paper_report *report;
  paper_run *run;
  pol_model *model;
  pol_simulation *simulation;
  pol_record *record;
  double *row;
  int *channels; /* of the record */
  paper_watch watch;
  void *user;
} running;

/* --- texts ------------------------------------------------------------------------------------ */

/* Cuts a text at a separator, in place, into a new list that points into it; NULL: no memory. */
static const char **cut(char *text, const char *separators, int *count)
{
  const char **parts = calloc(strlen(text) / 2 + 2, sizeof *parts);
  *count = 0;
  if (parts == NULL) return NULL;
  for (char *p = text; *(p += strspn(p, separators)) != '\0';) {
    const size_t length = strcspn(p, separators);
    parts[(*count)++] = p;
    p += length;
    if (*p != '\0') *p++ = '\0';
  }
  return parts;
}

/* --- starting --------------------------------------------------------------------------------- */

static void read_model(running *now, const char *name, char *overrides)
{
  pol_errors errors = {0};
  int count;
  char *path = paper_report_path(now->report, name);
  const char **parts = cut(overrides, " ", &count);
  if (parts == NULL) paper_report_fail(now->report, "out of memory");
  if (path != NULL && parts != NULL) {
    pol_status status = pol_model_read_file(&now->model, path, count, parts, &errors);
    if (status != POL_OK)
      paper_report_fail(now->report, "%s: %s %s: %s", path,
                        errors.count > 0 ? errors.items[0].path : "",
                        errors.count > 0 ? errors.items[0].value : "",
                        errors.count > 0 ? errors.items[0].rule : pol_status_text(status));
  }
  pol_errors_clear(&errors);
  free(parts);
  free(path);
}

/* Finds the channels by their names. */
static void choose_channels(running *now, char *names)
{
  paper_run *run = now->run;
  const char **parts = cut(names, "|", &run->num_channels);
  now->row = malloc((size_t)pol_record_count(now->record) * sizeof *now->row);
  now->channels = malloc(((size_t)run->num_channels + 1) * sizeof *now->channels);
  run->values = calloc((size_t)run->num_channels + 1, sizeof *run->values);
  if (parts == NULL || now->row == NULL || now->channels == NULL || run->values == NULL) {
    paper_report_fail(now->report, "out of memory");
    run->num_channels = 0;
  }
  for (int i = 0; i < run->num_channels; i++) {
    int k = 0, count = pol_record_count(now->record);
    while (k < count && strcmp(pol_record_channel(now->record, k)->name, parts[i]) != 0) k++;
    now->channels[i] = k;
    if (k == count) paper_report_fail(now->report, "there is no channel \"%s\"", parts[i]);
  }
  free(parts);
}

static void start(running *now, const char *model, char *channels, char *overrides)
{
  pol_diagnostics diagnostics = {0};
  read_model(now, model, overrides);
  if (paper_report_failed(now->report)) return;
  pol_status status = pol_simulation_create(&now->simulation, now->model->mechanism,
                                            &now->model->settings, &diagnostics);
  if (status == POL_OK) status = pol_record_create(&now->record, now->simulation);
  if (status == POL_OK)
    choose_channels(now, channels);
  else
    paper_report_fail(now->report, "%s (%s): %s", model, overrides,
                      diagnostics.message[0] != '\0' ? diagnostics.message
                                                     : pol_status_text(status));
}

/* --- running ---------------------------------------------------------------------------------- */

static int grow(paper_run *run)
{
  run->capacity = run->capacity > 0 ? 2 * run->capacity : 1024;
  for (int i = 0; i < run->num_channels; i++) {
    double *longer = realloc(run->values[i], (size_t)run->capacity * sizeof *longer);
    if (longer == NULL) return 0;
    run->values[i] = longer;
  }
  return 1;
}

/* Keeps the state; 0 if the run is to stop. */
static int keep(running *now)
{
  paper_run *run = now->run;
  if (run->rows == run->capacity && !grow(run)) {
    paper_report_fail(now->report, "out of memory");
    return 0;
  }
  if (run->num_channels > 0) pol_record_row(now->record, now->row);
  for (int i = 0; i < run->num_channels; i++)
    run->values[i][run->rows] = now->row[now->channels[i]];
  run->rows++;
  return now->watch == NULL || now->watch(now->simulation, now->user);
}

static void run_to_the_end(running *now)
{
  paper_run *run = now->run;
  int go = keep(now);
  while (go && run->status == POL_OK && !pol_simulation_finished(now->simulation)) {
    run->status = pol_simulation_step(now->simulation);
    if (run->status == POL_OK) go = keep(now);
  }
  /* a run that an event has stopped early is no result */
  const double t = pol_simulation_state(now->simulation)->t, end = now->model->settings.end;
  if (go && run->status == POL_OK && fabs(t - end) > 1e-9 * fabs(end))
    paper_report_fail(now->report, "a run stopped at t = %g s of %g s", t, end);
  run->summary = *pol_simulation_summary(now->simulation);
  run->diagnostics = *pol_simulation_diagnostics(now->simulation);
}

static void run_with(paper_report *report, paper_run *run, paper_watch watch, void *user,
                     const char *model, const char *channels, const char *format, va_list arguments)
{
  running now = {.report = report, .run = run, .watch = watch, .user = user};
  *run = (paper_run){0};
  if (paper_report_failed(report)) return;
  char *overrides = poli_format_list(format, arguments), *names = poli_format("%s", channels);
  if (overrides == NULL || names == NULL)
    paper_report_fail(report, "out of memory");
  else
    start(&now, model, names, overrides);
  if (!paper_report_failed(report)) run_to_the_end(&now);
  pol_record_free(&now.record);
  pol_simulation_free(&now.simulation);
  pol_model_free(&now.model);
  free(now.row);
  free(now.channels);
  free(overrides);
  free(names);
}

void paper_run_model(paper_report *report, paper_run *run, const char *model, const char *channels,
                     const char *overrides, ...)
{
  va_list arguments;
  va_start(arguments, overrides);
  run_with(report, run, NULL, NULL, model, channels, overrides, arguments);
  va_end(arguments);
}

void paper_run_watched(paper_report *report, paper_run *run, paper_watch watch, void *user,
                       const char *model, const char *channels, const char *overrides, ...)
{
  va_list arguments;
  va_start(arguments, overrides);
  run_with(report, run, watch, user, model, channels, overrides, arguments);
  va_end(arguments);
}

void paper_run_free(paper_run *run)
{
  for (int i = 0; run->values != NULL && i < run->num_channels; i++) free(run->values[i]);
  free(run->values);
  *run = (paper_run){0};
}

double paper_largest_abs(const double *x, long count)
{
  double largest = 0.0;
  for (long i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

double paper_run_max_abs(const paper_run *run, int channel)
{
  return run->values != NULL ? paper_largest_abs(run->values[channel], run->rows) : 0.0;
}

/* --- tables of numbers ------------------------------------------------------------------------ */

/* Appends the numbers of a line; 0 if there are fewer, or no memory is left. */
static int read_line(const char *line, int columns, double **values, long rows)
{
  double *longer = realloc(*values, (size_t)((rows + 1) * columns) * sizeof *longer);
  if (longer == NULL) return 0;
  *values = longer;
  for (int i = 0; i < columns; i++) {
    char *rest;
    longer[rows * columns + i] = strtod(line, &rest);
    if (rest == line) return 0;
    line = rest + (*rest == ',');
  }
  return 1;
}

double *paper_read_table(paper_report *report, const char *name, int columns, long *rows)
{
  char line[1024], *path = paper_report_path(report, name);
  double *values = NULL;
  FILE *file = path != NULL ? fopen(path, "r") : NULL;
  *rows = 0;
  if (path != NULL && file == NULL)
    paper_report_fail(report, "%s cannot be read: %s", path, strerror(errno));
  while (file != NULL && !paper_report_failed(report) && fgets(line, sizeof line, file) != NULL) {
    const unsigned char first = (unsigned char)line[0];
    if (first == '#' || first == '\n' || isalpha(first)) continue;
    if (read_line(line, columns, &values, *rows))
      ++*rows;
    else
      paper_report_fail(report, "%s: a line has not %d numbers", path, columns);
  }
  if (file != NULL) fclose(file);
  free(path);
  if (!paper_report_failed(report)) return values;
  free(values);
  *rows = 0;
  return NULL;
}
