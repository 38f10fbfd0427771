/* One run of a study: the model with the values of the run, simulated to its end, what its
 * responses are, and the outcome as bytes. */
#include "io/sweep/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"

const char *pol_sweep_end_name(pol_sweep_end end)
{
  static const char *const names[] = {"pending", "done", "failed", "invalid", "crashed"};
  const size_t index = (size_t)end;
  return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

/* A response while the run goes on. */
typedef struct collector {
  int channel;
  double initial, value, min, max, max_abs, t_min, t_max;
  double integral, square; /* over time */
} collector;

/* A run. */
typedef struct job {
  const pol_sweep *sweep;
  collector *collectors;
  int *columns; /* channels of the signals */
  double *row;
  double *kept;       /* rows of the signals */
  size_t room;        /* rows that fit there */
  double start, last; /* times */
  long count;         /* of rows */
  poli_outcome head;
  char where[256], message[512];
} job;

/* --- rows ------------------------------------------------------------------------------------- */

static int find_channel(const pol_record *record, const char *name)
{
  for (int i = 0; i < pol_record_count(record); i++)
    if (strcmp(pol_record_channel(record, i)->name, name) == 0) return i;
  return -1;
}

/* Looks up all channels, which may depend on the values: of the method, for example.  0: one is
 * missing, and the message says which. */
static int find_channels(job *j, const pol_record *record)
{
  const pol_sweep *s = j->sweep;
  const char *missing = NULL;
  for (int i = 0; i < s->num_responses && !missing; i++) {
    j->collectors[i].channel = find_channel(record, s->responses[i].signal);
    if (j->collectors[i].channel < 0) missing = s->responses[i].signal;
  }
  for (int i = 0; i < s->num_signals && !missing; i++) {
    j->columns[i] = find_channel(record, s->signals[i].name);
    if (j->columns[i] < 0) missing = s->signals[i].name;
  }
  if (missing)
    snprintf(j->message, sizeof j->message, "there is no quantity %s with these values", missing);
  return missing == NULL;
}

static void collect(collector *c, const double *row, double width, int is_first)
{
  const double x = row[c->channel], t = row[0];
  if (is_first) {
    *c = (collector){c->channel, x, x, x, x, fabs(x), t, t, 0.0, 0.0};
    return;
  }
  c->integral += 0.5 * width * (c->value + x);
  c->square += 0.5 * width * (c->value * c->value + x * x);
  if (x < c->min) c->min = x, c->t_min = t;
  if (x > c->max) c->max = x, c->t_max = t;
  c->max_abs = fmax(c->max_abs, fabs(x));
  c->value = x;
}

static double reduce(const collector *c, pol_reduction reduction, double duration)
{
  switch (reduction) {
  case POL_REDUCE_INITIAL:
    return c->initial;
  case POL_REDUCE_MIN:
    return c->min;
  case POL_REDUCE_MAX:
    return c->max;
  case POL_REDUCE_MAX_ABS:
    return c->max_abs;
  case POL_REDUCE_RANGE:
    return c->max - c->min;
  case POL_REDUCE_MEAN:
    return duration > 0.0 ? c->integral / duration : c->value;
  case POL_REDUCE_RMS:
    return duration > 0.0 ? sqrt(c->square / duration) : fabs(c->value);
  case POL_REDUCE_TIME_OF_MIN:
    return c->t_min;
  case POL_REDUCE_TIME_OF_MAX:
    return c->t_max;
  case POL_REDUCE_FINAL:
    break;
  }
  return c->value;
}

/* Keeps the signals of the row, in memory that doubles. */
static pol_status keep_row(job *j)
{
  const size_t width = (size_t)j->sweep->num_signals, rows = (size_t)j->head.rows;
  if (rows == j->room) {
    const size_t room = rows > 0 ? 2 * rows : 64;
    double *longer = realloc(j->kept, room * width * sizeof *longer);
    if (!longer) return POL_NO_MEMORY;
    j->kept = longer;
    j->room = room;
  }
  for (size_t i = 0; i < width; i++) j->kept[rows * width + i] = j->row[j->columns[i]];
  j->head.rows++;
  return POL_OK;
}

static pol_status take_row(job *j, const pol_record *record, int is_last)
{
  pol_record_row(record, j->row);
  const double t = j->row[0];
  const int is_first = j->count == 0;
  if (is_first) j->start = j->last = t;
  for (int i = 0; i < j->sweep->num_responses; i++)
    collect(&j->collectors[i], j->row, t - j->last, is_first);
  j->last = t;
  const int kept = j->count++ % j->sweep->every == 0 || is_last;
  return kept && j->sweep->num_signals > 0 ? keep_row(j) : POL_OK;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void note_failure(job *j, const pol_diagnostics *d)
{
  j->head.end = POL_SWEEP_FAILED;
  j->head.status = d->status;
  j->head.t = d->t;
  snprintf(j->where, sizeof j->where, "%s", d->where);
  snprintf(j->message, sizeof j->message, "%s", d->message);
}

static void note_summary(job *j, const pol_summary *summary)
{
  j->head.t = summary->t;
  j->head.steps = summary->counts.steps;
  j->head.rejected = summary->counts.rejected;
  j->head.newton_iterations = summary->counts.newton_iterations;
  j->head.max_energy_drift = summary->max_energy_drift;
  j->head.max_position_residual = summary->max_position_residual;
}

/* Steps to the end; a failure of the simulation is noted, and POL_OK. */
static pol_status step_all(job *j, pol_simulation *simulation, const pol_record *record,
                           const pol_progress *progress)
{
  pol_status status = take_row(j, record, pol_simulation_finished(simulation)), step = POL_OK;
  while (status == POL_OK && !pol_simulation_finished(simulation)) {
    step = pol_simulation_step(simulation);
    if (step != POL_OK) break;
    status = take_row(j, record, pol_simulation_finished(simulation));
    if (status == POL_OK && progress && progress->report &&
        progress->report("running", pol_simulation_progress(simulation), progress->user))
      status = POL_CANCELLED;
  }
  if (step == POL_NO_MEMORY) status = step;
  if (status != POL_OK) return status;
  j->head.end = POL_SWEEP_DONE;
  note_summary(j, pol_simulation_summary(simulation));
  if (step != POL_OK) note_failure(j, pol_simulation_diagnostics(simulation));
  return POL_OK;
}

static pol_status simulate(job *j, const pol_model *model, const pol_progress *progress)
{
  const size_t responses = (size_t)j->sweep->num_responses, width = (size_t)j->sweep->num_signals;
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  pol_diagnostics d;
  /* processes work side by side: threads of one would wait for the others */
  pol_settings settings = model->settings;
  settings.options.threads = 1;
  pol_status status = pol_model_create_simulation(&simulation, model, &settings, &d);
  if (status != POL_OK && status != POL_NO_MEMORY) {
    d.status = status;
    note_failure(j, &d);
    return POL_OK;
  }
  if (status == POL_OK) status = pol_record_create(&record, simulation);
  j->collectors = calloc(responses + 1, sizeof *j->collectors);
  j->columns = calloc(width + 1, sizeof *j->columns);
  j->row = record ? calloc((size_t)pol_record_count(record), sizeof *j->row) : NULL;
  if (status == POL_OK && (!j->collectors || !j->columns || !j->row)) status = POL_NO_MEMORY;
  if (status == POL_OK && find_channels(j, record))
    status = step_all(j, simulation, record, progress);
  else if (status == POL_OK)
    j->head.end = POL_SWEEP_INVALID, j->head.status = POL_BAD_ARGUMENT;
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return status;
}

/* The model with the values of the run.  One that is invalid is noted; *model is NULL then. */
static pol_status read_model(job *j, long run, pol_model **model)
{
  const int count = j->sweep->num_keys;
  pol_errors errors = {0};
  char **overrides = calloc((size_t)count + 1, sizeof *overrides);
  pol_status status = overrides ? POL_OK : POL_NO_MEMORY;
  for (int i = 0; i < count && status == POL_OK; i++) {
    overrides[i] = poli_sweep_override(j->sweep, run, i, -1);
    if (!overrides[i]) status = POL_NO_MEMORY;
  }
  if (status == POL_OK) status = poli_sweep_read_model(j->sweep, count, overrides, model, &errors);
  for (int i = 0; overrides && i < count; i++) free(overrides[i]);
  free(overrides);
  if (status == POL_BAD_ARGUMENT || status == POL_IO) {
    const size_t size = sizeof j->message;
    j->head.end = POL_SWEEP_INVALID;
    j->head.status = status;
    if (errors.count > 0) pol_error_text(&errors.items[0], j->message, size - 32);
    const size_t used = strlen(j->message);
    if (errors.count > 1)
      snprintf(j->message + used, size - used, "; and %d more", errors.count - 1);
    status = POL_OK;
  }
  pol_errors_clear(&errors);
  return status;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* The bytes before the rows of an outcome. */
static size_t head_size(const pol_sweep *sweep, const poli_outcome *head)
{
  return sizeof *head + (size_t)sweep->num_responses * sizeof(double) + head->where + head->message;
}

static pol_status pack(job *j, void **bytes, size_t *size)
{
  const pol_sweep *s = j->sweep;
  const size_t rows = (size_t)j->head.rows * (size_t)s->num_signals * sizeof *j->kept;
  j->head.where = (uint32_t)strlen(j->where);
  j->head.message = (uint32_t)strlen(j->message);
  *size = head_size(s, &j->head) + rows;
  unsigned char *to = malloc(*size);
  if (!to) return POL_NO_MEMORY;
  *bytes = to;
  memcpy(to, &j->head, sizeof j->head);
  to += sizeof j->head;
  for (int i = 0; i < s->num_responses; i++, to += sizeof(double)) {
    const double value =
        j->head.end == POL_SWEEP_DONE
            ? reduce(&j->collectors[i], s->responses[i].reduction, j->last - j->start)
            : (double)NAN;
    memcpy(to, &value, sizeof value);
  }
  memcpy(to, j->where, j->head.where);
  memcpy(to + j->head.where, j->message, j->head.message);
  if (rows > 0) memcpy(to + j->head.where + j->head.message, j->kept, rows);
  return POL_OK;
}

int poli_outcome_open(const pol_sweep *sweep, const void *bytes, size_t size,
                      poli_outcome_view *view)
{
  const unsigned char *from = bytes;
  if (size < sizeof view->head) return 0;
  memcpy(&view->head, from, sizeof view->head);
  const size_t before = head_size(sweep, &view->head), row = (size_t)sweep->num_signals * 8;
  if (view->head.end <= POL_SWEEP_PENDING || view->head.end > POL_SWEEP_CRASHED ||
      view->head.rows < 0 || before > size)
    return 0;
  if (row == 0 ? view->head.rows != 0 || before != size
               : (size - before) % row != 0 || (size - before) / row != (size_t)view->head.rows)
    return 0;
  view->responses = from + sizeof view->head;
  view->where = view->responses + (size_t)sweep->num_responses * sizeof(double);
  view->message = view->where + view->head.where;
  view->rows = view->message + view->head.message;
  return 1;
}

pol_sweep_end pol_sweep_outcome_end(const pol_sweep *sweep, const void *bytes, size_t size)
{
  poli_outcome_view view;
  return poli_outcome_open(sweep, bytes, size, &view) ? (pol_sweep_end)view.head.end
                                                      : POL_SWEEP_PENDING;
}

pol_status pol_sweep_run(const pol_sweep *sweep, long run, const pol_progress *progress,
                         void **bytes, size_t *size)
{
  pol_model *model = NULL;
  *bytes = NULL;
  *size = 0;
  if (run < 0 || run >= sweep->count) return POL_BAD_ARGUMENT;
  job j = {.sweep = sweep};
  pol_status status = read_model(&j, run, &model);
  if (status == POL_OK && model) status = simulate(&j, model, progress);
  pol_model_free(&model);
  if (status == POL_OK) status = pack(&j, bytes, size);
  free(j.collectors);
  free(j.columns);
  free(j.row);
  free(j.kept);
  return status;
}

pol_status pol_sweep_crashed(const pol_sweep *sweep, const char *reason, void **bytes, size_t *size)
{
  job j = {.sweep = sweep, .head.end = POL_SWEEP_CRASHED, .head.t = (double)NAN};
  snprintf(j.message, sizeof j.message, "%s", reason);
  *bytes = NULL;
  *size = 0;
  return pack(&j, bytes, size);
}
