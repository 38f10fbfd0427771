/* What polhode converge reports: tables, JSON, and pictures of the errors against step size with
 * slopes and, with --work, against wall time and Newton iterations; a panel per kind of error, a
 * line per series. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/plot.h>

#include "cli/converge.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* Characters of the first column, and of a column with an error and an order. */
enum { FIRST = 10, COLUMN = 16 };

static const char *const error_kinds[POL_NUM_ERROR_KINDS] = {
    "position", "rotation", "velocity", "ang. velocity", "reaction", "other"};

/* The error of a case that the table and the pictures show: the largest, or that at the end. */
static double case_error(const cli_study *s, const pol_case *c, int kind)
{
  return s->args->at_end ? c->end_error[kind] : c->max_error[kind];
}

/* The step size, or the tolerance of variable steps. */
static double case_size(const pol_case *c)
{
  return c->settings.variable ? c->settings.options.control.rtol : c->settings.step;
}

/* Fits the order of a kind of error of a series; between has room for its cases, may be NULL. */
static pol_status series_order(const cli_study *s, const cli_case_series *series, int kind,
                               pol_order *order, double *between)
{
  const size_t count = (size_t)series->count;
  double *x = malloc((2 * count + 1) * sizeof *x);
  if (x == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < series->count; i++) {
    x[i] = case_size(&s->cases[series->first + i]);
    x[count + (size_t)i] = case_error(s, &s->cases[series->first + i], kind);
  }
  *order = pol_order_fit(series->count, x, x + count, between);
  free(x);
  return POL_OK;
}

static const char *const verdicts[] = {"fitted", "two points", "not asymptotic", "floor",
                                       "unknown"};

/* Orders of all kinds of errors of a series. */
typedef struct orders {
  pol_order fit[POL_NUM_ERROR_KINDS];
  double *between[POL_NUM_ERROR_KINDS]; /* one block of memory, at [0] */
} orders;

static pol_status fit_orders(const cli_study *s, const cli_case_series *series, orders *o)
{
  const size_t count = (size_t)series->count + 1;
  double *memory = malloc(POL_NUM_ERROR_KINDS * count * sizeof *memory);
  if (memory == NULL) return POL_NO_MEMORY;
  pol_status status = POL_OK;
  for (int k = 0; status == POL_OK && k < POL_NUM_ERROR_KINDS; k++) {
    o->between[k] = memory + (size_t)k * count;
    status = series_order(s, series, k, &o->fit[k], o->between[k]);
  }
  if (status != POL_OK) free(memory);
  return status;
}

/* --- the head --------------------------------------------------------------------------------- */

/* --- errors ----------------------------------------------------------------------------------- */

/* The next kind from `kind` on that was compared. */
static int next_kind(const cli_study *s, int kind)
{
  while (kind < POL_NUM_ERROR_KINDS && s->study.num_channels[kind] == 0) kind++;
  return kind;
}

static void print_errors(const cli_study *s, const cli_case_series *series, const orders *o,
                         int first, int end)
{
  for (int i = 0; i < series->count; i++) {
    const pol_case *c = &s->cases[series->first + i];
    printf("  %-*.5g", FIRST, case_size(c));
    if (!c->done || c->status != POL_OK) {
      /* A row without numbers. */
      if (!c->done)
        printf("  not run\n");
      else if (c->status == POL_BAD_ARGUMENT)
        printf("  not possible: %s\n", c->failure.message);
      else
        printf("  failed at t = %.6g s: %s\n", c->failure.t, c->failure.message);
      continue;
    }
    for (int k = next_kind(s, first); k < end; k = next_kind(s, k + 1)) {
      const double error = case_error(s, c, k);
      printf("%*.2e", COLUMN - 6, error);
      if (isfinite(o->between[k][i]))
        printf("%6.2f", o->between[k][i]);
      else if (next_kind(s, k + 1) < end)
        printf("%6s", "");
    }
    printf("\n");
  }
  printf("  %-*s", FIRST, "order");
  for (int k = next_kind(s, first); k < end; k = next_kind(s, k + 1)) {
    char order[24] = "-";
    if (isfinite(o->fit[k].order))
      snprintf(order, sizeof order, "%s%.2f",
               o->fit[k].verdict == POL_ORDER_NOT_ASYMPTOTIC ? "? " : "", o->fit[k].order);
    printf("%*s", COLUMN, order);
  }
  printf("\n");
}

/* One line for all kinds with the same note. */
static void print_notes(const cli_study *s, const cli_case_series *series, const orders *o)
{
  char texts[POL_NUM_ERROR_KINDS][200];
  for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) {
    texts[k][0] = '\0';
    if (s->study.num_channels[k] > 0) {
      /* What is to be said about an order, "" if nothing. */
      const pol_order *fit = &o->fit[k];
      char *text = texts[k];
      size_t size = sizeof texts[k];
      const pol_case *cases = s->cases + series->first;
      const char *name = series->variable ? "rtol" : "h";
      text[0] = '\0';
      if (fit->verdict == POL_ORDER_NOT_ASYMPTOTIC)
        snprintf(text, size, "not asymptotic, no three errors in one line");
      else if (fit->verdict == POL_ORDER_FLOOR)
        snprintf(text, size, "the error does not fall with %s", name);
      else if (fit->verdict == POL_ORDER_FITTED && fit->first > 0 &&
               isfinite(case_size(&cases[fit->first])))
        snprintf(text, size, "asymptotic from %s = %.5g on", name, case_size(&cases[fit->first]));
      const size_t used = strlen(text);
      if (fit->floor >= 0 && fit->verdict != POL_ORDER_FLOOR)
        snprintf(text + used, size - used,
                 "%sat %s = %.5g a floor: round-off, Newton's tolerance or the reference's error",
                 used > 0 ? "; " : "", name, case_size(&cases[fit->floor]));
    }
  }
  for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) {
    if (texts[k][0] == '\0') continue;
    printf("  %s", pol_error_kind_name((pol_error_kind)k));
    for (int i = k + 1; i < POL_NUM_ERROR_KINDS; i++)
      if (strcmp(texts[k], texts[i]) == 0) {
        printf(", %s", pol_error_kind_name((pol_error_kind)i));
        texts[i][0] = '\0';
      }
    printf(": %s\n", texts[k]);
  }
  for (int i = 0; i < series->count; i++)
    if (s->cases[series->first + i].interpolated) {
      printf("  the reference is interpolated between its times\n");
      break;
    }
}

/* --- work ------------------------------------------------------------------------------------- */

static pol_status print_series(const cli_study *s, const cli_case_series *series)
{
  const char *refusal = cli_series_refusal(s, series);
  orders o;
  printf("\n");
  cli_print_heading(stdout, series->label);
  if (refusal != NULL) {
    printf("  not possible: %s\n", refusal);
    return POL_OK;
  }
  const pol_status status = fit_orders(s, series, &o);
  if (status != POL_OK) return status;
  for (int k = next_kind(s, 0), end; k < POL_NUM_ERROR_KINDS; k = end) {
    /* The first kind that does not fit the line any more. */
    const int width = cli_width(stdout);
    int room = width > 0 ? (width - FIRST - 2) / COLUMN : POL_NUM_ERROR_KINDS;
    int kind = next_kind(s, k);
    for (; kind < POL_NUM_ERROR_KINDS && (room-- > 0 || kind == k); kind = next_kind(s, kind + 1))
      ;
    end = kind;
    printf("  %-*s", FIRST, series->variable ? "rtol" : "h");
    for (int j = next_kind(s, k); j < end; j = next_kind(s, j + 1))
      printf("%*s", COLUMN, error_kinds[j]);
    printf("\n  %-*s", FIRST, series->variable ? "" : "(s)");
    for (int j = next_kind(s, k); j < end; j = next_kind(s, j + 1)) {
      char unit[16];
      const char *text = pol_error_kind_unit((pol_error_kind)j);
      snprintf(unit, sizeof unit, "(%s)", strcmp(text, "1") == 0 ? "relative" : text);
      printf("%*s", COLUMN, unit);
    }
    printf("\n");
    print_errors(s, series, &o, k, end);
  }
  print_notes(s, series, &o);
  if (s->args->work) {
    printf("  %-*s%10s%10s%10s%10s%12s\n", FIRST, series->variable ? "rtol" : "h (s)", "steps",
           "rejected", "Newton", "equations", "time (s)");
    for (int i = 0; i < series->count; i++) {
      const pol_case *c = &s->cases[series->first + i];
      if (!c->done || c->status != POL_OK) continue;
      printf("  %-*.5g%10ld%10ld%10ld%10ld%12.3g\n", FIRST, case_size(c), c->counts.steps,
             c->counts.rejected, c->counts.newton_iterations, c->counts.residuals, c->wall_seconds);
    }
  }
  free(o.between[0]);
  return POL_OK;
}

pol_status cli_study_print(const cli_study *s)
{
  pol_status status = POL_OK;
  cli_print_model(s->model->name, s->args->operand);
  cli_print_row("end", "%.10g s", s->model->settings.end);
  const pol_settings *run = &s->reference_run;
  char size[64];
  if (run->variable)
    snprintf(size, sizeof size, "rtol = %.6g", run->options.control.rtol);
  else
    snprintf(size, sizeof size, "h = %.6g s", run->step);
  if (s->args->reference != NULL)
    cli_print_row("reference", "%s, %ld time%s", s->args->reference, s->study.reference_rows,
                  cli_plural(s->study.reference_rows));
  else
    cli_print_row("reference", "a run with %s, %s%s%s, %s", run->options.method,
                  pol_formulation_name(run->formulation), s->has_index ? ", index " : "",
                  s->has_index ? cli_index_name(run->options.index) : "", size);
  cli_print_row("errors", "%s; reactions%s relative to the largest; beside them the order",
                s->args->at_end ? "at the end" : "the largest over time",
                s->study.num_channels[POL_ERROR_OTHER] > 0 ? " and others" : "");
  for (int i = 0; i < s->num_plots; i++) cli_print_row("plot", "%s", s->plots[i]);
  for (int i = 0; status == POL_OK && i < s->num_series; i++)
    status = print_series(s, &s->series[i]);
  return status;
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* {"position": ..., ...} of the kinds that were compared. */
static json_t *errors_json(const cli_study *s, const double errors[POL_NUM_ERROR_KINDS])
{
  json_t *object = json_object();
  for (int k = next_kind(s, 0); k < POL_NUM_ERROR_KINDS; k = next_kind(s, k + 1))
    cli_json_set(&object, pol_error_kind_name((pol_error_kind)k), cli_json_number(errors[k]));
  return object;
}

static json_t *counts_json(const pol_counts *counts)
{
  return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}",                           //
                   "steps", (json_int_t)counts->steps,                         //
                   "rejected", (json_int_t)counts->rejected,                   //
                   "newton_iterations", (json_int_t)counts->newton_iterations, //
                   "residuals", (json_int_t)counts->residuals,                 //
                   "jacobians", (json_int_t)counts->jacobians,                 //
                   "factorizations", (json_int_t)counts->factorizations);
}

static json_t *case_json(const cli_study *s, const pol_case *c)
{
  const char *size = c->settings.variable ? "rtol" : "step";
  if (!c->done) return json_pack("{s:s, s:f}", "status", "not run", size, case_size(c));
  if (c->status != POL_OK)
    return json_pack("{s:s, s:f, s:o}", "status",
                     c->status == POL_BAD_ARGUMENT ? "not possible" : "failed", size, case_size(c),
                     "failure", cli_json_failure(&c->failure));
  return json_pack("{s:s, s:f, s:I, s:b, s:o, s:o, s:o, s:o}", //
                   "status", "done",                           //
                   size, case_size(c),                         //
                   "times", (json_int_t)c->num_times,          //
                   "interpolated", c->interpolated,            //
                   "max", errors_json(s, c->max_error),        //
                   "end", errors_json(s, c->end_error),        //
                   "counts", counts_json(&c->counts),          //
                   "wall_seconds", cli_json_number(c->wall_seconds));
}

/* The size of a point of the series, null if there is none. */
static json_t *size_json(const cli_study *s, const cli_case_series *series, int point)
{
  return point < 0 ? json_null() : json_real(case_size(&s->cases[series->first + point]));
}

static json_t *orders_json(const cli_study *s, const cli_case_series *series)
{
  orders o;
  json_t *object = json_object();
  if (series->count == 0) return object;
  if (fit_orders(s, series, &o) != POL_OK) {
    json_decref(object);
    return NULL;
  }
  for (int k = next_kind(s, 0); k < POL_NUM_ERROR_KINDS; k = next_kind(s, k + 1)) {
    const pol_order *fit = &o.fit[k];
    json_t *one = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}",          //
                            "verdict", verdicts[fit->verdict],         //
                            "order", cli_json_number(fit->order),      //
                            "from", size_json(s, series, fit->first),  //
                            "to", size_json(s, series, fit->last),     //
                            "floor", size_json(s, series, fit->floor), //
                            "between", cli_json_numbers(o.between[k], series->count));
    cli_json_set(&object, pol_error_kind_name((pol_error_kind)k), one);
  }
  free(o.between[0]);
  return object;
}

static json_t *series_json(const cli_study *s, const cli_case_series *series)
{
  const char *refusal = cli_series_refusal(s, series);
  char warning[256] = "";
  json_t *cases = json_array();
  for (int i = 0; i < series->count; i++)
    cli_json_append(&cases, case_json(s, &s->cases[series->first + i]));
  if (refusal == NULL) pol_options_warning(&series->settings.options, warning, sizeof warning);
  return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}",                                     //
                   "label", series->label,                                               //
                   "variable", series->variable,                                         //
                   "refusal", refusal != NULL ? cli_json_text(refusal) : json_null(),    //
                   "warning", warning[0] != '\0' ? cli_json_text(warning) : json_null(), //
                   "cases", cases,                                                       //
                   "orders", orders_json(s, series));
}

static json_t *reference_json(const cli_study *s)
{
  const pol_settings *run = &s->reference_run;
  if (s->args->reference != NULL)
    return json_pack("{s:o, s:I}", "file", cli_json_text(s->args->reference), "times",
                     (json_int_t)s->study.reference_rows);
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:o}",                                    //
                   "method", run->options.method,                                            //
                   "formulation", pol_formulation_name(run->formulation),                    //
                   "index", s->has_index ? cli_json_index(run->options.index) : json_null(), //
                   "step", cli_json_step(run),                                               //
                   "control", cli_json_control(run),                                         //
                   "times", (json_int_t)s->study.reference_rows,                             //
                   "counts", counts_json(&s->study.reference_counts));
}

json_t *cli_study_json(const cli_study *s)
{
  json_t *series = json_array(), *plots = json_array(), *kinds = json_array();
  int bad = 0;
  for (int i = 0; i < s->num_series; i++) cli_json_append(&series, series_json(s, &s->series[i]));
  for (int k = next_kind(s, 0); k < POL_NUM_ERROR_KINDS; k = next_kind(s, k + 1))
    cli_json_append(&kinds,
                    json_pack("{s:s, s:s, s:i}", "name", pol_error_kind_name((pol_error_kind)k),
                              "unit", pol_error_kind_unit((pol_error_kind)k), "channels",
                              s->study.num_channels[k]));
  for (int i = 0; i < s->num_plots; i++) cli_json_append(&plots, cli_json_text(s->plots[i]));
  for (int i = 0; i < s->study.num_cases; i++)
    bad |= s->cases[i].status != POL_OK && s->cases[i].status != POL_BAD_ARGUMENT;
  return json_pack("{s:s, s:o, s:o, s:f, s:o, s:s, s:o, s:o, s:o}", //
                   "status",
                   s->study.stopped ? "interrupted"
                   : bad            ? "failed"
                                    : "done",                               //
                   "model", cli_json_text(s->model->name),       //
                   "file", cli_json_text(s->args->operand),      //
                   "end", s->model->settings.end,                //
                   "reference", reference_json(s),               //
                   "orders_of", s->args->at_end ? "end" : "max", //
                   "kinds", kinds,                               //
                   "series", series,                             //
                   "plots", plots);
}

/* What is on the x axis: step sizes with slopes, wall times, Newton iterations. */
typedef struct x_axis {
  const char *label;
  const char *suffix; /* of the file name */
} x_axis;

static const x_axis axes[] = {
    {"step size (s)", ""}, {"wall time (s)", "_time"}, {"Newton iterations", "_newton"}};

/* The parts of a figure. */
typedef struct study_figure {
  double *numbers; /* x and y of each kind and case */
  pol_series *series;
  pol_slope slopes[POL_NUM_ERROR_KINDS];
  pol_panel panels[POL_NUM_ERROR_KINDS];
  char labels[POL_NUM_ERROR_KINDS][64];
} study_figure;

/* One line of a panel; whether it has a point. */
static int fill_series(const cli_study *s, const cli_case_series *from, int kind,
                       const x_axis *axis, double *numbers, pol_series *series)
{
  int points = 0;
  double *x = numbers, *y = numbers + from->count;
  for (int i = 0; i < from->count; i++) {
    const pol_case *c = &s->cases[from->first + i];
    const int done = c->done && c->status == POL_OK;
    x[i] = y[i] = -1.0; /* leaves a gap */
    if (!done) continue;
    /* of variable steps the mean */
    const double step =
        c->settings.variable ? c->settings.end / (double)c->counts.steps : c->settings.step;
    x[i] = axis == &axes[0]   ? step
           : axis == &axes[1] ? c->wall_seconds
                              : (double)c->counts.newton_iterations;
    y[i] = case_error(s, c, kind);
    points += x[i] > 0.0 && y[i] > 0.0;
  }
  *series = (pol_series){.x = x, .y = y, .count = (size_t)from->count, .marker = POL_MARKER_CIRCLE};
  return points > 0;
}

/* The order of the first series that has one: a whole number if it is near; 0 if none has. */
static pol_status choose_order(const cli_study *s, int kind, double *order)
{
  *order = 0.0;
  for (int i = 0; i < s->num_series && *order == 0.0; i++) {
    pol_order fit;
    if (s->series[i].variable) continue;
    const pol_status status = series_order(s, &s->series[i], kind, &fit, NULL);
    if (status != POL_OK) return status;
    if (!isfinite(fit.order) || fit.order < 0.5) continue;
    const double nearest = round(fit.order);
    *order = fabs(fit.order - nearest) < 0.3 ? nearest : fit.order;
  }
  return POL_OK;
}

/* Fills a panel from *numbers and *series on, and moves both. */
static pol_status fill_panel(const cli_study *s, int kind, const x_axis *axis, study_figure *d,
                             int number, double **numbers, pol_series **series)
{
  pol_panel *panel = &d->panels[number];
  const char *unit = pol_error_kind_unit((pol_error_kind)kind);
  *panel = pol_panel_default();
  panel->series = *series;
  for (int i = 0; i < s->num_series; i++) {
    pol_series *one = &(*series)[panel->num_series];
    if (!fill_series(s, &s->series[i], kind, axis, *numbers, one)) continue;
    pol_series_look(one, i);
    one->line =
        (pol_plot_line)(i % 4); /* what lies below a curve of equal errors shows in its gaps */
    if (number == 0) one->label = s->series[i].label;
    *numbers += 2 * s->series[i].count;
    panel->num_series++;
  }
  *series += panel->num_series;
  snprintf(d->labels[number], sizeof d->labels[number], "%s error (%s)", error_kinds[kind],
           strcmp(unit, "1") == 0 ? "relative" : unit);
  panel->y.label = d->labels[number];
  panel->y.log = 1;
  panel->y.margin = 0.12; /* for the slopes */
  if (axis != &axes[0]) return POL_OK;
  /* A triangle below all series. */
  pol_slope *slope = &d->slopes[number];
  double order;
  const pol_status status = choose_order(s, kind, &order);
  *slope = (pol_slope){0};
  for (int i = 0; order > 0.0 && i < panel->num_series; i++) {
    const pol_slope one = pol_slope_below(&panel->series[i], order);
    if (one.x[0] > 0.0 && (slope->x[0] == 0.0 || one.y0 < slope->y0)) *slope = one;
  }
  panel->slopes = &d->slopes[number];
  panel->num_slopes = d->slopes[number].x[0] > 0.0;
  return status;
}

/* The figure in the memory of d; it has no panels if there is nothing to draw_figure. */
static pol_status make_figure(const cli_study *s, const x_axis *axis, study_figure *d,
                              pol_figure *figure)
{
  const size_t kinds = POL_NUM_ERROR_KINDS, lines = (size_t)s->num_series;
  double *numbers = d->numbers =
      malloc((2 * kinds * (size_t)s->study.num_cases + 1) * sizeof *numbers);
  pol_series *series = d->series = malloc((kinds * lines + 1) * sizeof *series);
  pol_status status = numbers != NULL && series != NULL ? POL_OK : POL_NO_MEMORY;
  *figure = pol_figure_default();
  for (int k = 0; status == POL_OK && k < POL_NUM_ERROR_KINDS; k++) {
    if (s->study.num_channels[k] == 0) continue;
    status = fill_panel(s, k, axis, d, figure->num_panels, &numbers, &series);
    figure->num_panels += d->panels[figure->num_panels].num_series > 0;
  }
  figure->title = s->model->name;
  figure->x = (pol_axis){.label = axis->label, .log = 1, .margin = 0.05};
  figure->panels = d->panels;
  if (figure->num_panels > 1) figure->height = 110 + 190 * figure->num_panels;
  return status;
}

pol_status cli_study_plot(cli_study *s)
{
  const size_t count = s->args->work ? sizeof axes / sizeof axes[0] : 1;
  pol_status status = POL_OK;
  for (size_t i = 0; status == POL_OK && i < count; i++) {
    const x_axis *axis = &axes[i];
    study_figure d = {0};
    pol_figure figure;
    status = make_figure(s, axis, &d, &figure);
    if (status == POL_OK && figure.num_panels > 0) {
      /* "orders_time.svg" of "orders.svg" */
      const char *plot = s->args->plot, *dot = strrchr(plot, '.');
      char *path = cli_format("%.*s%s%s", (int)(dot - plot), plot, axis->suffix, dot);
      if (path != NULL) s->plots[s->num_plots++] = path;
      status = path != NULL ? pol_figure_write(&figure, path) : POL_NO_MEMORY;
    }
    free(d.numbers);
    free(d.series);
  }
  return status;
}
