/* What polhode sweep prints and draws, and polhode info of a study: from the file of the study. */
#include "cli/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <polhode/plot.h>

#include "cli/json_out.h"
#include "cli/terminal.h"

/* Failed runs that are listed: in a table, in JSON; curves of a plot. */
enum { MOST_LISTED = 5, MOST_IN_JSON = 100, MOST_CURVES = 28 };

/* --- reading ---------------------------------------------------------------------------------- */

static int read_table(const char *path, int json, pol_sweep_table **table)
{
  char message[256];
  const pol_status status = pol_sweep_table_read(table, path, message, sizeof message);
  if (status == POL_OK) return CLI_DONE;
  if (status != POL_NO_MEMORY) return cli_refuse_result(path, json, message);
  cli_complain("polhode sweep", "%s", message);
  return CLI_FAILED;
}

static const char *text_at(const pol_sweep_table *table, const char *name, long run)
{
  const pol_sweep_column *c = pol_sweep_find_column(table, name);
  return c != NULL && c->texts != NULL ? c->texts + (size_t)run * c->width : "";
}

/* Whether a run has ended, but not well. */
static int has_failed(const pol_sweep_table *table, long run)
{
  const char *status = text_at(table, "status", run);
  return strcmp(status, pol_sweep_end_name(POL_SWEEP_DONE)) != 0 &&
         strcmp(status, pol_sweep_end_name(POL_SWEEP_PENDING)) != 0;
}

/* The finite numbers of a column; 0 if there are none. */
static int find_range(const pol_sweep_table *table, const pol_sweep_column *c, double range[2])
{
  range[0] = (double)INFINITY, range[1] = -(double)INFINITY;
  for (long i = 0; c->numbers != NULL && i < table->runs; i++) {
    if (!isfinite(c->numbers[i])) continue;
    range[0] = fmin(range[0], c->numbers[i]);
    range[1] = fmax(range[1], c->numbers[i]);
  }
  return range[0] <= range[1];
}

/* --- tables and JSON -------------------------------------------------------------------------- */

static void print_columns(const pol_sweep_table *table, pol_sweep_role role, const char *label)
{
  for (int i = 0; i < table->num_columns; i++) {
    const pol_sweep_column *c = &table->columns[i];
    double range[2];
    if (c->role != role) continue;
    if (find_range(table, c, range))
      cli_print_row(label, "%s  %.6g .. %.6g %s", c->name, range[0], range[1], c->unit);
    else
      cli_print_row(label, "%s", c->name);
  }
}

static void print_table(const pol_sweep_table *table)
{
  cli_print_row("study", "%s", table->name);
  cli_print_row("runs", "%ld, %s", table->runs, table->sample);
  if (table->finished < table->runs) cli_print_row("finished", "%ld", table->finished);
  print_columns(table, POL_COLUMN_KEY, "vary");
  print_columns(table, POL_COLUMN_RESPONSE, "response");
  if (table->num_signals > 0)
    cli_print_row("signals", "%d, %ld rows", table->num_signals, table->rows);
  if (table->failed > 0) cli_print_row("failed", "%ld", table->failed);
  int listed = 0;
  for (long i = 0; i < table->runs && listed < MOST_LISTED; i++) {
    if (!has_failed(table, i)) continue;
    const char *where = text_at(table, "where", i);
    listed++;
    cli_print_row("", "run %ld %s: %s%s%s", i, text_at(table, "status", i),
                  text_at(table, "message", i), where[0] != '\0' ? ", at " : "", where);
  }
  if (table->failed > listed) cli_print_row("", "and %ld more", table->failed - listed);
}

static json_t *columns_json(const pol_sweep_table *table, pol_sweep_role role)
{
  json_t *list = json_array();
  for (int i = 0; i < table->num_columns; i++) {
    const pol_sweep_column *c = &table->columns[i];
    double range[2];
    if (c->role != role) continue;
    const int found = find_range(table, c, range);
    cli_json_append(&list, json_pack("{s:o, s:o, s:o, s:o}", "name", cli_json_text(c->name), "unit",
                                     cli_json_text(c->unit), "min",
                                     found ? json_real(range[0]) : json_null(), "max",
                                     found ? json_real(range[1]) : json_null()));
  }
  return list;
}

static json_t *table_json(const pol_sweep_table *table, const char *status)
{
  json_t *failures = json_array();
  int listed = 0;
  for (long i = 0; i < table->runs && listed < MOST_IN_JSON; i++) {
    if (!has_failed(table, i)) continue;
    listed++;
    cli_json_append(&failures, json_pack("{s:I, s:s, s:o, s:o}", "run", (json_int_t)i, "status",
                                         text_at(table, "status", i), "where",
                                         cli_json_text(text_at(table, "where", i)), "message",
                                         cli_json_text(text_at(table, "message", i))));
  }
  return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "status", status, "study",
                   cli_json_text(table->name), "sample", cli_json_text(table->sample), "runs",
                   (json_int_t)table->runs, "finished", (json_int_t)table->finished, "failed",
                   (json_int_t)table->failed, "vary", columns_json(table, POL_COLUMN_KEY),
                   "responses", columns_json(table, POL_COLUMN_RESPONSE), "failures", failures);
}

int cli_sweep_info(const cli_args *args)
{
  pol_sweep_table *table;
  int result = read_table(args->operand, args->json, &table);
  if (result != CLI_DONE) return result;
  const char *status = table->finished < table->runs ? "interrupted"
                       : table->failed > 0           ? "failed"
                                                     : "done";
  if (args->json) {
    json_t *object = table_json(table, status);
    cli_json_set(&object, "version", cli_json_text(table->version));
    result = cli_json_print(object) == 0 ? CLI_DONE : CLI_FAILED;
  } else if (!args->quiet) {
    cli_print_row("file", "%s, a study, written by polhode %s", args->operand, table->version);
    print_table(table);
  }
  pol_sweep_table_free(&table);
  return result;
}

int cli_sweep_report(const cli_args *args, const cli_sweep_outcome *outcome)
{
  pol_sweep_table *table;
  const int stopped = outcome->stopped != 0 ? CLI_SIGNALLED + outcome->stopped : 0;
  if (outcome->stopped != 0)
    cli_note("polhode sweep: interrupted; the same command continues the study");
  if (access(outcome->out, F_OK) != 0) return stopped; /* no run was finished */
  int result = read_table(outcome->out, args->json, &table);
  if (result != CLI_DONE) return result;
  const long own = table->finished - outcome->before;
  if (args->json) {
    json_t *object = table_json(table, stopped             ? "interrupted"
                                       : table->failed > 0 ? "failed"
                                                           : "done");
    cli_json_set(&object, "out", cli_json_text(outcome->out));
    cli_json_set(&object, "finished_before", json_integer(outcome->before));
    cli_json_set(&object, "processes", json_integer(outcome->processes));
    cli_json_set(&object, "seconds", json_real(outcome->seconds));
    if (cli_json_print(object) != 0) result = CLI_FAILED;
  } else if (!args->quiet) {
    print_table(table);
    if (outcome->before > 0) cli_print_row("finished before", "%ld", outcome->before);
    if (own > 0)
      cli_print_row("time", "%.3g s for %ld run%s, %.4g per second, %d process%s", outcome->seconds,
                    own, cli_plural(own), (double)own / outcome->seconds, outcome->processes,
                    outcome->processes == 1 ? "" : "es");
    cli_print_row("file", "%s", outcome->out);
  }
  if (result == CLI_DONE && table->failed > 0) result = CLI_FAILED;
  pol_sweep_table_free(&table);
  return stopped ? stopped : result;
}

/* --- plots ------------------------------------------------------------------------------------ */

int cli_sweep_check_plot(const cli_args *args, const pol_sweep *sweep)
{
  pol_errors errors = {0};
  pol_status status = POL_OK;
  int found = args->response == NULL, numbers = 0;
  const char *const options[] = {"--response", "--x"}, *const values[] = {args->response, args->x};
  for (int i = 0; args->plot == NULL && i < 2; i++)
    if (values[i] != NULL)
      return cli_refuse_one("polhode sweep", args->json, options[i], values[i],
                            "has no meaning without --plot");
  if (args->plot == NULL) return CLI_DONE;
  if (!cli_ends_in(args->plot, ".svg") && !cli_ends_in(args->plot, ".png") &&
      !cli_ends_in(args->plot, ".pdf"))
    status = pol_errors_add(&errors, "--plot", args->plot, "must end in .svg, .png or .pdf", "");
  if (pol_sweep_num_responses(sweep) == 0 && status == POL_OK)
    status = pol_errors_add(&errors, "--plot", args->plot, "the study has no responses", "");
  pol_near near = pol_near_start(args->response != NULL ? args->response : "");
  for (int i = 0; i < pol_sweep_num_responses(sweep); i++) {
    const char *name = pol_sweep_get_response(sweep, i)->name;
    found |= args->response != NULL && strcmp(name, args->response) == 0;
    pol_near_try(&near, name);
  }
  if (!found && status == POL_OK)
    status = pol_errors_add(&errors, "--response", args->response, "the study has no such response",
                            near.best);
  near = pol_near_start(args->x != NULL ? args->x : "");
  for (int i = 0; i < pol_sweep_num_keys(sweep); i++) {
    const pol_sweep_key *key = pol_sweep_get_key(sweep, i);
    numbers |= key->is_number && (args->x == NULL || strcmp(key->name, args->x) == 0);
    pol_near_try(&near, key->name);
  }
  if (!numbers && status == POL_OK)
    status = pol_errors_add(&errors, "--x", args->x != NULL ? args->x : "",
                            "must be a value that varies, as a number", near.best);
  if (errors.count > 0) return cli_refuse("polhode sweep", args->json, &errors);
  if (status == POL_OK) return CLI_DONE;
  cli_complain("polhode sweep", "%s", pol_status_text(status));
  return CLI_FAILED;
}

/* A plot: a curve for each combination of the values that are not on the x axis; points alone for
 * samples, where no two runs share a value. */
typedef struct drawing {
  const pol_sweep_table *table;
  const pol_sweep_column *x, *y;
  int by_points;
  double *points; /* x and y of all curves */
  long *order;    /* runs by x */
  int num_curves;
  long of[MOST_CURVES]; /* a run of each curve */
  pol_series series[MOST_CURVES];
  char labels[MOST_CURVES][160];
  char axes[2][320];
} drawing;

static int same_curve(const drawing *d, long a, long b)
{
  for (int i = 0; i < d->table->num_columns && !d->by_points; i++) {
    const pol_sweep_column *c = &d->table->columns[i];
    if (c->role != POL_COLUMN_KEY || c == d->x) continue;
    if (c->numbers != NULL && c->numbers[a] != c->numbers[b]) return 0;
    if (c->texts != NULL &&
        strcmp(c->texts + (size_t)a * c->width, c->texts + (size_t)b * c->width) != 0)
      return 0;
  }
  return 1;
}

static void label_curve(drawing *d, int curve)
{
  char *label = d->labels[curve];
  const size_t size = sizeof d->labels[curve];
  for (int i = 0; i < d->table->num_columns && !d->by_points; i++) {
    const pol_sweep_column *c = &d->table->columns[i];
    const size_t used = strlen(label);
    if (c->role != POL_COLUMN_KEY || c == d->x) continue;
    snprintf(label + used, size - used, "%s%s = ", used > 0 ? ", " : "", c->name);
    const size_t with_name = strlen(label);
    if (c->numbers != NULL)
      snprintf(label + with_name, size - with_name, "%.4g%s%s", c->numbers[d->of[curve]],
               c->unit[0] != '\0' ? " " : "", c->unit);
    else
      snprintf(label + with_name, size - with_name, "%s",
               c->texts + (size_t)d->of[curve] * c->width);
  }
}

/* Fills the series; 0 if there are too many. */
static int make_curves(drawing *d)
{
  double *next = d->points;
  const size_t runs = (size_t)d->table->runs;
  for (long run = 0; run < d->table->runs; run++) {
    int known = 0;
    for (int k = 0; k < d->num_curves && !known; k++) known = same_curve(d, d->of[k], run);
    if (known) continue;
    if (d->num_curves == MOST_CURVES) return 0;
    d->of[d->num_curves++] = run;
  }
  for (int k = 0; k < d->num_curves; k++) {
    pol_series *s = &d->series[k];
    double *x = next, *y = next + runs;
    size_t count = 0;
    for (size_t i = 0; i < runs; i++) {
      const long run = d->order[i];
      if (!same_curve(d, d->of[k], run) || !isfinite(d->y->numbers[run])) continue;
      x[count] = d->x->numbers[run];
      y[count++] = d->y->numbers[run];
    }
    next += count;
    label_curve(d, k);
    *s = (pol_series){.x = x, .y = y, .count = count};
    s->marker = POL_MARKER_CIRCLE;
    pol_series_look(s, k);
    if (d->labels[k][0] != '\0') s->label = d->labels[k];
    if (d->by_points) s->line = POL_LINE_NONE;
  }
  return 1;
}

static const double *sorted_by;
static int compare_runs(const void *a, const void *b)
{
  const double x = sorted_by[*(const long *)a], y = sorted_by[*(const long *)b];
  return (x > y) - (x < y);
}

static const char *axis_label(drawing *d, int which, const pol_sweep_column *c)
{
  const int has_unit = c->unit[0] != '\0' && strcmp(c->unit, "1") != 0;
  snprintf(d->axes[which], sizeof d->axes[which], has_unit ? "%s (%s)" : "%s", c->name, c->unit);
  return d->axes[which];
}

static pol_status write_plot(drawing *d, const char *path)
{
  pol_panel panel = pol_panel_default();
  pol_figure figure = pol_figure_default();
  panel.series = d->series;
  panel.num_series = d->num_curves;
  panel.y.label = axis_label(d, 1, d->y);
  figure.x.label = axis_label(d, 0, d->x);
  figure.x.log = d->x->is_log;
  figure.x.margin = 0.02;
  figure.title = d->table->name;
  figure.panels = &panel;
  figure.num_panels = 1;
  return pol_figure_write(&figure, path);
}

static const pol_sweep_column *first_column(const pol_sweep_table *table, pol_sweep_role role,
                                            const char *name)
{
  for (int i = 0; i < table->num_columns; i++) {
    const pol_sweep_column *c = &table->columns[i];
    if (c->role == role && c->numbers != NULL && (name == NULL || strcmp(c->name, name) == 0))
      return c;
  }
  return NULL;
}

int cli_sweep_plot(const cli_args *args, const char *path)
{
  pol_sweep_table *table;
  int result = read_table(path, args->json, &table);
  if (result != CLI_DONE) return result;
  drawing *d = calloc(1, sizeof *d);
  const size_t runs = (size_t)table->runs;
  pol_status status = d != NULL ? POL_OK : POL_NO_MEMORY;
  if (d != NULL) {
    d->table = table;
    d->x = first_column(table, POL_COLUMN_KEY, args->x);
    d->y = first_column(table, POL_COLUMN_RESPONSE, args->response);
    d->by_points = strcmp(table->sample, pol_sweep_sample_name(POL_SWEEP_GRID)) != 0;
    d->points = calloc(2 * runs + 1, sizeof *d->points);
    d->order = calloc(runs + 1, sizeof *d->order);
    if (d->points == NULL || d->order == NULL) status = POL_NO_MEMORY;
  }
  if (status == POL_OK && d->x != NULL && d->y != NULL) {
    for (long i = 0; i < table->runs; i++) d->order[i] = i;
    sorted_by = d->x->numbers;
    qsort(d->order, runs, sizeof *d->order, compare_runs);
    errno = 0;
    if (!make_curves(d))
      result = cli_refuse_one("polhode sweep", args->json, "--plot", args->plot,
                              "would have more than 28 curves; choose another value with --x");
    else
      status = write_plot(d, args->plot);
  }
  if (status == POL_IO) {
    result = cli_cannot_write("polhode sweep", 0, "--plot", args->plot, errno);
  } else if (status != POL_OK) {
    cli_complain("polhode sweep", "%s", pol_status_text(status));
    result = CLI_FAILED;
  }
  if (d != NULL) {
    free(d->points);
    free(d->order);
  }
  free(d);
  pol_sweep_table_free(&table);
  return result;
}
