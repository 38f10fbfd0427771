/* polhode plot: draws quantities of results.
 *
 * The words after the command are results, then quantities.  Each quantity stands for channels;
 * each channel of each result becomes a series.  Series with the same unit share a panel.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>
#include <polhode/plot.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* A result that is plotted. */
typedef struct source {
  const char *path;
  char *label;
  pol_result *result;
  long first, rows; /* those in the time window */
  double *x;
  unsigned char *chosen; /* for each channel of the result, whether it is plotted */
} source;

/* A channel that is plotted, in the results that have it. */
typedef struct channel {
  const char *name, *unit; /* of the first result that has it */
  int word;                /* the quantity that selects it */
  int panel;
  /* to find the panel: its place as chosen, what all channels of a panel share, and the first of
   * them */
  int number, leader;
  const char *group;
} channel;

/* A channel of a result. */
typedef struct curve {
  int source, channel;
  char *label; /* NULL: alone in its panel */
  double *y;
  /* points that the axes cannot show: not finite, too large, not positive on a logarithmic axis */
  long not_finite, too_large, not_positive;
} curve;

typedef enum grouping { BY_UNIT, BY_QUANTITY, ONE_PANEL } grouping;

typedef struct plot {
  const cli_args *args;
  int num_sources, num_words, num_channels, num_curves, num_panels;
  source *sources;
  pol_result **results; /* of the sources */
  const char **words;
  channel *channels; /* by panels, as the curves are */
  curve *curves;
  pol_series *series; /* of the curves */
  pol_panel *panels;
  char **panel_labels;
  char *x_label;
  const char *x_name;
  char *pair; /* "X\0Y" of --xy */
  grouping grouping;
  double low, high; /* frequencies of spectra, Hz */
  double from, to;
  pol_figure figure;
  char *out;
  int spooled;         /* out is a temporary file, which goes to standard output at the end */
  const char *damaged; /* the result that could not be read to its end, or NULL */
  pol_errors errors;
} plot;

/* --- the command line ------------------------------------------------------------------------- */

static int is_result(const char *word)
{
  return cli_ends_in(word, ".csv") || cli_ends_in(word, ".h5") || cli_ends_in(word, ".hdf5");
}

static pol_status complain(plot *p, const char *path, const char *value, const char *rule)
{
  return pol_errors_add(&p->errors, path, value, rule, "");
}

/* Reads a number; what is none is an error. */
static pol_status read_number(plot *p, const char *option, const char *text, double *value)
{
  char *rest;
  if (text == NULL) return POL_OK;
  *value = strtod(text, &rest);
  if (rest != text && *rest == '\0' && isfinite(*value)) return POL_OK;
  return complain(p, option, text, "must be a number");
}

/* "top_plot.svg" of "top.csv" */
static pol_status choose_out(plot *p)
{
  const char *out = p->args->out;
  if (out == NULL) {
    const char *path = p->sources[0].path;
    const int length = (int)(is_result(path) ? strrchr(path, '.') - path : (long)strlen(path));
    p->out = cli_format("%.*s_plot.svg", length, path);
  } else if (strcmp(out, "-") == 0 && p->args->json) {
    return complain(p, "--out", out, "cannot go to standard output beside --json");
  } else if (strcmp(out, "-") == 0) {
    p->spooled = 1;
    p->out = cli_spool_create("plot.svg");
    if (p->out == NULL) return complain(p, "--out", out, strerror(errno));
  } else {
    p->out = cli_format("%s", out);
  }
  if (p->out == NULL) return POL_NO_MEMORY;
  if (cli_ends_in(p->out, ".svg") || cli_ends_in(p->out, ".png") || cli_ends_in(p->out, ".pdf"))
    return POL_OK;
  return complain(p, "--out", p->out,
                  "must end in .svg, .png or .pdf, or be -: SVG on standard output");
}

/* The first word is a result, and so is every other that is named like one. */
static pol_status sort_words(plot *p)
{
  const cli_list *operands = &p->args->operands;
  const size_t count = (size_t)operands->count + 1;
  p->sources = calloc(count, sizeof *p->sources);
  p->results = calloc(count, sizeof *p->results);
  p->words = calloc(count, sizeof *p->words);
  if (p->sources == NULL || p->results == NULL || p->words == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < operands->count; i++) {
    const char *word = operands->items[i];
    if (i == 0 || is_result(word))
      p->sources[p->num_sources++].path = word;
    else
      p->words[p->num_words++] = word;
  }
  p->x_name = p->args->x != NULL ? p->args->x : "t";
  if (p->args->xy == NULL) return POL_OK;
  /* "X,Y": the x axis, and a quantity */
  p->pair = cli_format("%s", p->args->xy);
  if (p->pair == NULL) return POL_NO_MEMORY;
  char *comma = strchr(p->pair, ',');
  if (comma == NULL || comma == p->pair || comma[1] == '\0')
    return complain(p, "--xy", p->args->xy, "must be two quantities with a comma between them");
  if (p->args->x != NULL) return complain(p, "--xy", p->args->xy, "has no place beside --x");
  *comma = '\0';
  p->x_name = p->pair;
  p->words[p->num_words++] = comma + 1;
  return POL_OK;
}

static pol_status read_options(plot *p)
{
  const cli_args *args = p->args;
  pol_figure *figure = &p->figure;
  pol_status status = sort_words(p);
  *figure = pol_figure_default();
  figure->height = 0; /* the default depends on the number of panels */
  figure->title = args->title;
  figure->x.log = args->log_x;
  figure->equal = args->equal;
  figure->dark = args->dark;
  p->from = -HUGE_VAL, p->to = HUGE_VAL;
  if (args->x != NULL || args->xy != NULL) figure->x.margin = 0.05;
  if (status == POL_OK && args->fft && (args->x != NULL || args->xy != NULL))
    status = complain(p, "--fft", "", "has the frequency as its x axis");
  p->low = -HUGE_VAL, p->high = HUGE_VAL;
  if (status == POL_OK && args->frequencies != NULL) { /* "0,50" */
    char *comma = NULL, *rest = NULL;
    p->low = strtod(args->frequencies, &comma);
    if (comma != args->frequencies && *comma == ',') p->high = strtod(comma + 1, &rest);
    if (rest == NULL || rest == comma + 1 || *rest != '\0' || !(p->low < p->high))
      status = complain(p, "--frequencies", args->frequencies,
                        "must be two ascending numbers in Hz with a comma between them");
    else if (!args->fft)
      status = complain(p, "--frequencies", args->frequencies, "needs --fft");
  }
  if (status == POL_OK && args->size != NULL) { /* "720x450" */
    char *rest, *second;
    figure->width = strtod(args->size, &rest);
    second = rest != args->size && *rest == 'x' ? rest + 1 : NULL;
    if (second != NULL) figure->height = strtod(second, &rest);
    if (second == NULL || rest == second || *rest != '\0')
      status = complain(p, "--size", args->size, "must be WIDTHxHEIGHT in pixels, such as 720x450");
  }
  if (status == POL_OK) status = read_number(p, "--scale", args->scale, &figure->scale);
  if (status == POL_OK) status = read_number(p, "--from", args->from, &p->from);
  if (status == POL_OK) status = read_number(p, "--to", args->to, &p->to);
  if (status == POL_OK && p->from > p->to)
    status = complain(p, "--to", args->to, "must not be before --from");
  static const char *const groupings[] = {"unit", "quantity", "one"};
  int grouping_index = 0;
  while (args->panels != NULL && grouping_index < 3 &&
         strcmp(args->panels, groupings[grouping_index]) != 0)
    grouping_index++;
  p->grouping = (grouping)grouping_index;
  if (status == POL_OK && grouping_index == 3)
    status = complain(p, "--panels", args->panels, "must be one of: unit, quantity, one");
  if (status == POL_OK) status = choose_out(p);
  if (status == POL_OK && args->labels.count > 0 && args->labels.count != p->num_sources)
    status = complain(p, "--label", "", "must be given once for each result, or not at all");
  return status;
}

/* --- results ---------------------------------------------------------------------------------- */

/* Opens all results; each that cannot be read is an error.  Their labels are those given, or the
 * names of the files without folder and ending, or whole paths where these are not all different.
 * The picture must not overwrite a result. */
static pol_status open_sources(plot *p)
{
  const cli_list *labels = &p->args->labels;
  pol_status status = POL_OK;
  int distinct = 1;
  for (int i = 0; i < p->num_sources; i++) {
    source *s = &p->sources[i];
    const char *slash = strrchr(s->path, '/'), *name = slash != NULL ? slash + 1 : s->path;
    const int length = (int)(is_result(name) ? strrchr(name, '.') - name : (long)strlen(name));
    s->label =
        labels->count > 0 ? cli_format("%s", labels->items[i]) : cli_format("%.*s", length, name);
    if (s->label == NULL) return POL_NO_MEMORY;
    for (int k = 0; k < i; k++) distinct &= strcmp(p->sources[k].label, s->label) != 0;
  }
  for (int i = 0; !distinct && labels->count == 0 && i < p->num_sources; i++) {
    free(p->sources[i].label);
    if ((p->sources[i].label = cli_format("%s", p->sources[i].path)) == NULL) return POL_NO_MEMORY;
  }
  for (int i = 0; status == POL_OK && i < p->num_sources; i++) {
    char message[256];
    source *s = &p->sources[i];
    status = pol_result_open(&s->result, s->path, message, sizeof message);
    p->results[i] = s->result;
    if (status == POL_IO || status == POL_BAD_ARGUMENT) status = complain(p, s->path, "", message);
  }
  for (int i = 0; status == POL_OK && p->errors.count == 0 && i < p->num_sources; i++)
    if (pol_output_overwrites(p->out, p->sources[i].path))
      status = complain(p, "--out", p->out, "must not be an input file");
  return status;
}

/* Reads a channel of the rows in the window. */
static pol_status read_rows(plot *p, const source *s, int index, double **values)
{
  *values = malloc(((size_t)s->rows + 1) * sizeof **values);
  if (*values == NULL) return POL_NO_MEMORY;
  const pol_status status = pol_result_series_part(s->result, index, s->first, s->rows, *values);
  if (status == POL_IO) p->damaged = s->path;
  return status;
}

/* Whether all results have the quantity of the x axis, which is one column. */
static pol_status find_x(plot *p)
{
  pol_status status = POL_OK;
  for (int i = 0; status == POL_OK && i < p->num_sources; i++) {
    source *s = &p->sources[i];
    if (pol_result_find_channel(s->result, p->x_name) >= 0) continue;
    if (p->args->x == NULL && p->args->xy == NULL)
      status = complain(p, s->path, "", "has no time t: --x must name the x axis");
    else if (cli_quantity_exists(s->result, p->x_name))
      status = complain(p, "--x", p->x_name, "must be the name of one column");
    else
      status = cli_quantity_refuse(&p->errors, "--x", p->x_name, p->x_name, &s->result, 1);
  }
  return status;
}

/* The rows whose time is in the window, the first and the last and all between; and x values. */
static pol_status read_sources(plot *p)
{
  pol_status status = POL_OK;
  for (int i = 0; status == POL_OK && i < p->num_sources; i++) {
    source *s = &p->sources[i];
    const int windowed = p->args->from != NULL || p->args->to != NULL;
    const int time = pol_result_find_channel(s->result, "t");
    double *t = NULL;
    s->first = 0;
    s->rows = pol_result_rows(s->result);
    if (s->rows == 0) {
      status = complain(p, s->path, "", "has no rows: there is nothing to draw");
      continue;
    }
    if (windowed && time < 0)
      status = complain(p, s->path, "", "has no time t, which --from and --to need");
    if (windowed && time >= 0) {
      status = read_rows(p, s, time, &t);
      long first = 0, end = s->rows;
      while (status == POL_OK && first < end && !(t[first] >= p->from)) first++;
      while (status == POL_OK && end > first && !(t[end - 1] <= p->to)) end--;
      s->first = first;
      s->rows = end - first;
      free(t);
      if (status == POL_OK && s->rows == 0)
        status = complain(p, s->path, "", "has no time between --from and --to");
    }
    if (status == POL_OK)
      status = read_rows(p, s, pol_result_find_channel(s->result, p->x_name), &s->x);
  }
  return status;
}

/* --- channels --------------------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b)
{
  const channel *x = a, *y = b;
  const int order = strcmp(x->group, y->group);
  return order != 0 ? order : x->number - y->number;
}

static int compare_leaders(const void *a, const void *b)
{
  const channel *x = a, *y = b;
  return x->leader != y->leader ? x->leader - y->leader : x->number - y->number;
}

static pol_status find_channels(plot *p)
{
  pol_status status = POL_OK;
  size_t most = 1;
  for (int i = 0; i < p->num_sources; i++) {
    const size_t columns = (size_t)pol_result_count(p->results[i]);
    p->sources[i].chosen = calloc(columns + 1, 1);
    if (p->sources[i].chosen == NULL) return POL_NO_MEMORY;
    most += columns;
  }
  p->channels = malloc(most * sizeof *p->channels);
  if (p->channels == NULL) return POL_NO_MEMORY;
  for (int w = 0; status == POL_OK && w < p->num_words; w++) {
    int exists = 0;
    for (int i = 0; i < p->num_sources; i++) {
      exists |= cli_quantity_exists(p->results[i], p->words[w]);
      /* Adds the channels that a quantity means in a result, those that are not there already. */
      const pol_result *result = p->results[i];
      for (int j = 0; j < pol_result_count(result); j++) {
        const pol_channel *c = pol_result_channel(result, j);
        if (p->sources[i].chosen[j] || !cli_quantity_matches(p->words[w], c->name)) continue;
        p->channels[p->num_channels++] = (channel){.name = c->name, .unit = c->unit, .word = w};
        for (int k = 0; k < p->num_sources; k++) {
          const int index = pol_result_find_channel(p->results[k], c->name);
          if (index >= 0) p->sources[k].chosen[index] = 1;
        }
      }
    }
    if (!exists)
      status =
          cli_quantity_refuse(&p->errors, p->words[w], "", p->words[w], p->results, p->num_sources);
  }
  if (status == POL_OK && p->num_words == 0)
    status = complain(p, "QUANTITY", "", "must be given: what to plot");
  /* sorted by panels, which are in the order of their first channels */
  channel *all = p->channels;
  const size_t count = (size_t)p->num_channels;
  for (int i = 0; i < p->num_channels; i++) {
    all[i].number = i;
    all[i].group = p->grouping == BY_UNIT       ? all[i].unit
                   : p->grouping == BY_QUANTITY ? p->words[all[i].word]
                                                : "";
  }
  qsort(all, count, sizeof *all, compare_groups);
  for (int i = 0; i < p->num_channels; i++)
    all[i].leader =
        i > 0 && strcmp(all[i - 1].group, all[i].group) == 0 ? all[i - 1].leader : all[i].number;
  qsort(all, count, sizeof *all, compare_leaders);
  for (int i = 0; i < p->num_channels; i++)
    all[i].panel = i > 0 && all[i - 1].leader == all[i].leader ? all[i - 1].panel : p->num_panels++;
  return status;
}

/* --- curves ----------------------------------------------------------------------------------- */

static long left_out(const curve *c)
{
  return c->not_finite + c->too_large + c->not_positive;
}

static long drawn(const plot *p, const curve *c)
{
  return p->sources[c->source].rows - left_out(c);
}

/* "3 not finite, 1 beyond 1e300" */
static void say_left_out(const curve *c, char *text, size_t size)
{
  const struct {
    long count;
    const char *what;
  } reasons[] = {{c->not_finite, "not finite"},
                 {c->too_large, "beyond 1e300"},
                 {c->not_positive, "not positive on a logarithmic axis"}};
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
    if (reasons[i].count > 0 && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%ld %s", used > 0 ? ", " : "",
                               reasons[i].count, reasons[i].what);
}

/* Counts what the axes cannot show. */
static void count_left_out(const plot *p, curve *c)
{
  const source *s = &p->sources[c->source];
  for (long j = 0; j < s->rows; j++) {
    const double x = s->x[j], y = c->y[j];
    if (pol_axis_shows(x, p->args->log_x) && pol_axis_shows(y, p->args->log_y)) continue;
    if (!isfinite(x) || !isfinite(y))
      c->not_finite++;
    else if (!pol_axis_shows(x, 0) || !pol_axis_shows(y, 0))
      c->too_large++;
    else
      c->not_positive++;
  }
}

/* All curves, panel by panel. */
static pol_status read_curves(plot *p)
{
  const size_t most = (size_t)p->num_channels * (size_t)p->num_sources;
  p->curves = calloc(most, sizeof *p->curves);
  p->series = calloc(most, sizeof *p->series);
  if (p->curves == NULL || p->series == NULL) return POL_NO_MEMORY;
  for (int k = 0; k < p->num_channels; k++)
    for (int i = 0; i < p->num_sources; i++) {
      curve *c = &p->curves[p->num_curves];
      if (pol_result_find_channel(p->results[i], p->channels[k].name) < 0) continue;
      *c = (curve){.source = i, .channel = k};
      p->num_curves++;
      const source *s = &p->sources[c->source];
      const int index = pol_result_find_channel(s->result, p->channels[c->channel].name);
      const pol_status status = read_rows(p, s, index, &c->y);
      if (status != POL_OK) return status;
    }
  return POL_OK;
}

/* The values at equal distances of t, by cubic polynomials through the four nearest points. */
static void resample(long rows, const double *t, const double *y, double *even)
{
  const double dt = (t[rows - 1] - t[0]) / (double)(rows - 1);
  for (long j = 0, k = 0; j < rows; j++) {
    const double at = t[0] + dt * (double)j;
    while (k + 2 < rows && t[k + 1] < at) k++;
    long first = k > 0 ? k - 1 : 0;
    if (first + 4 > rows) first = rows > 4 ? rows - 4 : 0;
    const long last = first + 4 < rows ? first + 4 : rows;
    even[j] = 0.0;
    for (long a = first; a < last; a++) {
      double factor = 1.0;
      for (long b = first; b < last; b++)
        if (b != a) factor *= (at - t[b]) / (t[a] - t[b]);
      even[j] += factor * y[a];
    }
  }
}

/* Keeps the frequencies of a spectrum, and its amplitudes, that --frequencies asks for. */
static pol_status cut_spectra(plot *p, int i)
{
  source *s = &p->sources[i];
  long first = 0, last = s->rows;
  while (first < last && s->x[first] < p->low) first++;
  while (last > first && s->x[last - 1] > p->high) last--;
  if (last - first < 2) {
    char *rule =
        cli_format("must have two frequencies of the spectrum between them, which go from 0 "
                   "to %.6g Hz in steps of %.6g Hz",
                   s->x[s->rows - 1], s->x[1]);
    const pol_status status =
        rule != NULL ? complain(p, "--frequencies", p->args->frequencies, rule) : POL_NO_MEMORY;
    free(rule);
    return status;
  }
  s->rows = last - first;
  const size_t size = (size_t)s->rows * sizeof *s->x;
  memmove(s->x, s->x + first, size);
  for (int k = 0; k < p->num_curves; k++)
    if (p->curves[k].source == i) memmove(p->curves[k].y, p->curves[k].y + first, size);
  return POL_OK;
}

/* Replaces the curves by their spectra. */
static pol_status make_spectra(plot *p)
{
  pol_status status = POL_OK;
  for (int i = 0; status == POL_OK && p->args->fft && i < p->num_sources; i++) {
    source *s = &p->sources[i];
    const long rows = s->rows;
    int ascends = rows >= 4;
    for (long j = 1; j < rows; j++) ascends &= s->x[j] > s->x[j - 1];
    if (!ascends) {
      status = complain(p, s->path, "", "must have at least four rows of ascending time for --fft");
      continue;
    }
    double *even = malloc(2 * (size_t)rows * sizeof *even), *amplitude = even + rows;
    double *frequency = malloc((size_t)rows * sizeof *frequency);
    if (even == NULL || frequency == NULL) status = POL_NO_MEMORY;
    for (int k = 0; status == POL_OK && k < p->num_curves; k++) {
      curve *c = &p->curves[k];
      if (c->source != i) continue;
      resample(rows, s->x, c->y, even);
      const double dt = (s->x[rows - 1] - s->x[0]) / (double)(rows - 1);
      status = pol_spectrum((size_t)rows, dt, even, frequency, amplitude);
      if (status == POL_BAD_ARGUMENT)
        status = complain(p, p->channels[c->channel].name, "",
                          "has values that are not finite: it has no spectrum");
      else if (status == POL_OK)
        memcpy(c->y, amplitude, ((size_t)rows / 2 + 1) * sizeof *c->y);
    }
    free(even);
    free(s->x);
    s->x = frequency;
    s->rows = rows / 2 + 1;
    if (status == POL_OK && p->errors.count == 0) status = cut_spectra(p, i);
  }
  for (int k = 0; status == POL_OK && p->errors.count == 0 && k < p->num_curves; k++)
    count_left_out(p, &p->curves[k]);
  return status;
}

/* A picture without a single point is refused; with the reason for each curve. */
static pol_status check_curves(plot *p)
{
  pol_status status = POL_OK;
  for (int i = 0; i < p->num_curves; i++)
    if (drawn(p, &p->curves[i]) > 0) return POL_OK;
  for (int i = 0; status == POL_OK && i < p->num_curves; i++) {
    const curve *c = &p->curves[i];
    char reason[120];
    say_left_out(c, reason, sizeof reason);
    char *rule = cli_format("%s has no point that can be drawn: of %ld, %s",
                            p->channels[c->channel].name, p->sources[c->source].rows, reason);
    if (rule == NULL) return POL_NO_MEMORY;
    status = complain(p, p->sources[c->source].path, "", rule);
    free(rule);
  }
  return status;
}

/* Whether two curves of one result look the same: they differ by less than can be seen. */
static int look_equal(const plot *p, const curve *a, const curve *b, double extent)
{
  const double visible = 0.002; /* share of the panel */
  for (long j = 0; j < p->sources[a->source].rows; j++) {
    const int both = isfinite(a->y[j]) && isfinite(b->y[j]);
    if (both ? fabs(a->y[j] - b->y[j]) > visible * extent : isfinite(a->y[j]) != isfinite(b->y[j]))
      return 0;
  }
  return 1;
}

/* Where curves of one result cover each other, changes their dashes: each one below shows in the
 * gaps of those above. */
static void tell_equal_curves_apart(plot *p, int first, int end)
{
  enum { MOST = 100 }; /* beyond, a picture shows no single curves */
  double lowest = HUGE_VAL, highest = -HUGE_VAL;
  if (end - first > MOST) return;
  for (int i = first; i < end; i++)
    for (long j = 0; j < p->sources[0].rows; j++)
      if (isfinite(p->curves[i].y[j])) {
        lowest = fmin(lowest, p->curves[i].y[j]);
        highest = fmax(highest, p->curves[i].y[j]);
      }
  for (int i = first; i < end; i++) {
    int below = 0; /* curves before that it covers */
    for (int k = first; k < i; k++)
      below += look_equal(p, &p->curves[k], &p->curves[i], highest - lowest);
    /* never solid: it would hide what is below */
    if (below > 0) p->series[i].line = (pol_plot_line)(1 + (below - 1) % 3);
  }
}

/* --- labels of axes --------------------------------------------------------------------------- */

/* "time (s)"; no unit where it is 1 or not known. */
static char *label_with_unit(const char *name, int length, const char *unit)
{
  const int has_unit = unit[0] != '\0' && strcmp(unit, "1") != 0;
  if (length == 0) return cli_format("%s", has_unit ? unit : "");
  return has_unit ? cli_format("%.*s (%s)", length, name, unit) : cli_format("%.*s", length, name);
}

/* The quantity that a name ends in, without its component: "force" of "pin.force.x". */
static const char *quantity_of(const char *name, int *length)
{
  const char *end = name + strlen(name), *dot = strrchr(name, '.');
  if (dot != NULL && end - dot == 2) end = dot;
  const char *start = end;
  while (start > name && start[-1] != '.') start--;
  *length = (int)(end - start);
  return start;
}

/* What the names of the channels in a panel have in common, their start or their quantity, after
 * `of` and with their unit if they share one.  first, last: its channels. */
static char *panel_label(const char *of, const channel *first, const channel *last)
{
  const char *unit = first->unit;
  int length = (int)strlen(first->name), quantity_length, same = 1;
  const char *quantity = quantity_of(first->name, &quantity_length);
  for (const channel *c = first + 1; c <= last; c++) {
    int other_length;
    const char *other = quantity_of(c->name, &other_length);
    /* the length of the start that both names have in common, up to a dot */
    int end = 0;
    for (int i = 0; i <= length; i++) {
      const char a = i < length ? first->name[i] : '\0', b = c->name[i];
      if ((i == length || a == '.') && (b == '\0' || b == '.')) end = i;
      if (i == length || a != b) break;
    }
    length = end;
    if (strcmp(unit, c->unit) != 0) unit = "";
    same = same && other_length == quantity_length &&
           strncmp(other, quantity, (size_t)quantity_length) == 0;
  }
  char *plain = length == 0 && same ? label_with_unit(quantity, quantity_length, unit)
                                    : label_with_unit(first->name, length, unit);
  char *label = plain != NULL ? cli_format("%s%s", of, plain) : NULL;
  free(plain);
  return label;
}

/* --- the figure ------------------------------------------------------------------------------- */

static pol_status describe_panel(plot *p, int panel, int first, int end)
{
  const int first_channel = p->curves[first].channel, last_channel = p->curves[end - 1].channel;
  const int channels = last_channel - first_channel + 1;
  p->panel_labels[panel] = panel_label(p->args->fft ? "amplitude of " : "",
                                       &p->channels[first_channel], &p->channels[last_channel]);
  if (p->panel_labels[panel] == NULL) return POL_NO_MEMORY;
  p->panels[panel].y.label = p->panel_labels[panel];
  for (int i = first; i < end; i++) {
    curve *c = &p->curves[i];
    const source *s = &p->sources[c->source];
    p->series[i] = (pol_series){.x = s->x, .y = c->y, .count = (size_t)s->rows};
    /* Colours distinguish channels, dashes results, of which one can shine through the gaps of
     * another; where that is not enough, each series has its own look.  Alone, a channel needs no
     * colour of its own: results have colours too. */
    if (channels > POL_PLOT_COLORS || p->num_sources > 4) {
      pol_series_look(&p->series[i], i - first);
    } else {
      p->series[i].color = channels == 1 ? i - first : c->channel - first_channel;
      p->series[i].line = (pol_plot_line)c->source;
    }
    if (end - first == 1) continue;
    /* what distinguishes the curve from the others of its panel: its channel, its result, or both
     */
    const char *name = p->channels[c->channel].name,
               *empty = drawn(p, c) == 0 ? " (no points)" : "";
    c->label = p->num_sources == 1 ? cli_format("%s%s", name, empty)
               : channels == 1     ? cli_format("%s%s", s->label, empty)
                                   : cli_format("%s: %s%s", s->label, name, empty);
    if (c->label == NULL) return POL_NO_MEMORY;
    p->series[i].label = c->label;
  }
  if (p->num_sources == 1 && !p->args->log_y) tell_equal_curves_apart(p, first, end);
  return POL_OK;
}

/* What the channel t is: time, or what the rows of equilibria follow. */
static const char *time_name(const pol_result *result)
{
  const char *text = pol_result_about(result)->settings, *analysis = "", *name = "time";
  json_t *settings = text != NULL ? json_loads(text, 0, NULL) : NULL;
  if (settings != NULL) json_unpack(settings, "{s?s}", "analysis", &analysis);
  if (strcmp(analysis, "static") == 0) name = "load factor";
  if (strcmp(analysis, "path") == 0) name = "length of the path";
  json_decref(settings);
  return name;
}

static pol_status make_figure(plot *p)
{
  pol_figure *figure = &p->figure;
  pol_status status = POL_OK;
  p->panels = calloc((size_t)p->num_panels, sizeof *p->panels);
  p->panel_labels = calloc((size_t)p->num_panels, sizeof *p->panel_labels);
  const pol_result *result = p->results[0];
  const char *name = strcmp(p->x_name, "t") == 0 ? time_name(result) : p->x_name;
  const char *unit = pol_result_channel(result, pol_result_find_channel(result, p->x_name))->unit;
  if (p->args->fft) name = "frequency", unit = "Hz";
  p->x_label = label_with_unit(name, (int)strlen(name), unit);
  if (p->panels == NULL || p->panel_labels == NULL || p->x_label == NULL) return POL_NO_MEMORY;
  for (int panel = 0, first = 0, end; status == POL_OK && panel < p->num_panels; panel++) {
    /* The series of one panel, from curve `first` on; gives the curve after its last. */
    end = first;
    while (end < p->num_curves && p->channels[p->curves[end].channel].panel == panel) end++;
    p->panels[panel] = pol_panel_default();
    p->panels[panel].y.log = p->args->log_y;
    p->panels[panel].series = &p->series[first];
    p->panels[panel].num_series = end - first;
    status = describe_panel(p, panel, first, end);
    first = end;
  }
  figure->x.label = p->x_label;
  figure->panels = p->panels;
  figure->num_panels = p->num_panels;
  if (figure->height == 0) {
    /* 450 for one panel, 190 for each of several; more where a legend has many rows. */
    const double around = 110, row = 15.5, largest = 10000;
    double panel = p->num_panels == 1 ? 340 : 190;
    for (int i = 0; i < p->num_panels; i++)
      panel = fmax(panel, fmin(row * p->panels[i].num_series + 10, 1000));
    figure->height = fmin(around + panel * p->num_panels, largest);
  }
  return status;
}

/* Writes the picture; a broken rule is an error of the input. */
static pol_status write_figure(plot *p)
{
  char message[160];
  if (pol_figure_validate(&p->figure, message, sizeof message) != POL_OK) {
    /* the option that the rule is about, from what was asked for */
    const char *option = p->args->size != NULL ? "--size" : "figure";
    if (strstr(message, "linear axes") != NULL) option = "--equal";
    if (strstr(message, "scale") != NULL && p->args->scale != NULL) option = "--scale";
    return complain(p, option, "", message);
  }
  errno = 0;
  return pol_figure_write(&p->figure, p->out);
}

/* --- what is said ----------------------------------------------------------------------------- */

/* The object of --json. */
static json_t *plot_json(const plot *p)
{
  json_t *results = json_array(), *panels = json_array();
  for (int i = 0; i < p->num_sources; i++)
    cli_json_append(&results, json_pack("{s:o, s:o, s:I}",                           //
                                        "file", cli_json_text(p->sources[i].path),   //
                                        "label", cli_json_text(p->sources[i].label), //
                                        "rows", (json_int_t)p->sources[i].rows));
  for (int panel = 0, i = 0; panel < p->num_panels; panel++) {
    json_t *series = json_array();
    for (; i < p->num_curves && p->channels[p->curves[i].channel].panel == panel; i++) {
      const curve *c = &p->curves[i];
      cli_json_append(&series, json_pack("{s:o, s:o, s:o, s:I, s:I}",                            //
                                         "result", cli_json_text(p->sources[c->source].path),    //
                                         "channel", cli_json_text(p->channels[c->channel].name), //
                                         "unit", cli_json_text(p->channels[c->channel].unit),    //
                                         "points", (json_int_t)drawn(p, c),                      //
                                         "left_out", (json_int_t)left_out(c)));
    }
    cli_json_append(&panels, json_pack("{s:o, s:o}", "label", cli_json_text(p->panel_labels[panel]),
                                       "series", series));
  }
  return json_pack("{s:s, s:o, s:f, s:f, s:o, s:o, s:o}", //
                   "status", "done",                      //
                   "file", cli_json_text(p->out),         //
                   "width", p->figure.width,              //
                   "height", p->figure.height,            //
                   "x", cli_json_text(p->x_name),         //
                   "results", results,                    //
                   "panels", panels);
}

static int report(const plot *p)
{
  if (p->args->json) return cli_json_print(plot_json(p)) == 0 ? CLI_DONE : CLI_FAILED;
  /* What is not in the picture, on stderr. */
  for (int w = 0; w < p->num_words; w++)
    for (int i = 0; i < p->num_sources; i++)
      if (!cli_quantity_exists(p->results[i], p->words[w]))
        cli_note("note: %s has no %s", p->sources[i].path, p->words[w]);
  for (int i = 0; i < p->num_curves; i++) {
    const curve *c = &p->curves[i];
    char reason[120];
    if (left_out(c) == 0) continue;
    say_left_out(c, reason, sizeof reason);
    cli_note("note: %s, %s: %ld of %ld points left out: %s", p->sources[c->source].path,
             p->channels[c->channel].name, left_out(c), p->sources[c->source].rows, reason);
  }
  int empty = 0;
  for (int i = 0; i < p->num_curves; i++) empty += drawn(p, &p->curves[i]) == 0;
  if (p->args->quiet || p->spooled) return CLI_DONE;
  printf("%s: %d curve%s in %d panel%s", p->out, p->num_curves - empty,
         cli_plural(p->num_curves - empty), p->num_panels, cli_plural(p->num_panels));
  if (empty > 0) printf("; %d without points", empty);
  printf("\n");
  return CLI_DONE;
}

/* Refuses the input; if a quantity is wrong or missing, lists the available ones. */
static int refuse(plot *p, int with_list)
{
  if (!with_list) return cli_refuse("polhode plot", p->args->json, &p->errors);
  if (p->args->json) {
    json_t *object = cli_json_errors("invalid", "", &p->errors);
    if (object != NULL &&
        json_object_set_new(object, "available", cli_quantity_json_all(p->results[0])))
      json_decref(object), object = NULL;
    cli_json_print(object);
  } else {
    cli_print_errors("polhode plot", &p->errors);
    for (int i = 0; i < p->num_sources; i++)
      cli_quantity_print_all(p->sources[i].path, p->results[i]);
  }
  pol_errors_clear(&p->errors);
  return CLI_INVALID;
}

/* --- the command ------------------------------------------------------------------------------ */

/* The stages of the work; errors of the input are collected within a stage. */
typedef struct stage {
  pol_status (*work)(plot *);
  int lists; /* whether its errors come with the list of quantities */
} stage;

static const stage stages[] = {
    {read_options, 0}, {open_sources, 0}, {find_channels, 1}, {find_x, 1},      {read_sources, 0},
    {read_curves, 0},  {make_spectra, 0}, {check_curves, 0},  {make_figure, 0}, {write_figure, 0},
};

static int run_plot(const cli_args *args)
{
  plot p = {.args = args};
  int result = CLI_DONE;
  for (size_t i = 0; result == CLI_DONE && i < sizeof stages / sizeof stages[0]; i++) {
    pol_status status = stages[i].work(&p);
    if (status == POL_OK && p.errors.count > 0) {
      result = refuse(&p, stages[i].lists);
    } else if (status == POL_IO && p.damaged != NULL) {
      result = cli_refuse_result(p.damaged, args->json, POL_RESULT_DAMAGED);
    } else if (status == POL_IO && stages[i].work == write_figure) {
      result =
          cli_cannot_write("polhode plot", args->json, "--out", p.spooled ? "-" : p.out, errno);
    } else if (status != POL_OK) {
      fprintf(stderr, "polhode plot: %s\n", pol_status_text(status));
      result = CLI_FAILED;
    }
  }
  if (result == CLI_DONE) result = report(&p);
  if (p.spooled && p.out != NULL) {
    if (cli_spool_end(p.out, result == CLI_DONE) != 0)
      result = cli_cannot_write("polhode plot", args->json, "--out", "-", errno);
    p.out = NULL;
  }
  for (int i = 0; i < p.num_sources; i++) {
    pol_result_close(&p.sources[i].result);
    free(p.sources[i].label);
    free(p.sources[i].x);
    free(p.sources[i].chosen);
  }
  for (int i = 0; i < p.num_curves; i++) {
    free(p.curves[i].label);
    free(p.curves[i].y);
  }
  for (int i = 0; p.panel_labels != NULL && i < p.num_panels; i++) free(p.panel_labels[i]);
  free(p.panel_labels);
  free(p.panels);
  free(p.series);
  free(p.curves);
  free(p.channels);
  free(p.words);
  free(p.results);
  free(p.sources);
  free(p.x_label);
  free(p.pair);
  free(p.out);
  pol_errors_clear(&p.errors);
  return result;
}

static const cli_option options[] = {
    {"--out", "FILE.svg|FILE.png|FILE.pdf",
     "name of the picture (default: RESULT_plot.svg); - for SVG on standard output", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--x", "QUANTITY", "quantity on the x axis (default: t), for phase plots", CLI_TEXT,
     offsetof(cli_args, x), NULL},
    {"--xy", "X,Y", "one quantity over another: the same as Y --x X", CLI_TEXT,
     offsetof(cli_args, xy), NULL},
    {"--fft", NULL, "amplitude spectra over the frequency instead of the time", CLI_FLAG,
     offsetof(cli_args, fft), NULL},
    {"--frequencies", "LOW,HIGH", "with --fft: only this range, in Hz", CLI_TEXT,
     offsetof(cli_args, frequencies), NULL},
    {"--from", "T", "from this time on, in seconds", CLI_TEXT, offsetof(cli_args, from), NULL},
    {"--to", "T", "up to this time", CLI_TEXT, offsetof(cli_args, to), NULL},
    {"--log-x", NULL, "logarithmic x axis", CLI_FLAG, offsetof(cli_args, log_x), NULL},
    {"--log-y", NULL, "logarithmic y axes", CLI_FLAG, offsetof(cli_args, log_y), NULL},
    {"--equal", NULL, "equal scales on both axes", CLI_FLAG, offsetof(cli_args, equal), NULL},
    {"--panels", "HOW", "unit: a panel for each unit (default); quantity; one", CLI_TEXT,
     offsetof(cli_args, panels), NULL},
    {"--label", "TEXT", "name of a result in the legend; one per result", CLI_LIST,
     offsetof(cli_args, labels), NULL},
    {"--title", "TEXT", "title above the picture", CLI_TEXT, offsetof(cli_args, title), NULL},
    {"--size", "WxH", "size in pixels (default: 720x450)", CLI_TEXT, offsetof(cli_args, size),
     NULL},
    {"--scale", "S", "pixels of a PNG per pixel of --size (default: 2)", CLI_TEXT,
     offsetof(cli_args, scale), NULL},
    {"--dark", NULL, "dark background", CLI_FLAG, offsetof(cli_args, dark), NULL},
    {"--json", NULL, "print what was plotted as one JSON object", CLI_FLAG,
     offsetof(cli_args, json), NULL},
    {"--quiet", NULL, "print only notes and errors", CLI_FLAG, offsetof(cli_args, quiet), NULL},
};

const cli_command cli_plot = {
    .name = "plot",
    .summary = "draw quantities of results as SVG, PNG or PDF",
    .operand = "RESULT... QUANTITY...",
    .text = "Draws quantities of one or more results over time, or over another quantity\n"
            "(--x). The first argument is a result, and so is every other one that ends in\n"
            ".csv, .h5 or .hdf5.\n\n"
            "A quantity is the name of a column (top.position.x), its part before a dot\n"
            "(top.position for all three components), or a pattern with * and ? (\"*.angle\",\n"
            "in quotes because of the shell). Quantities with different units are drawn\n"
            "in separate panels.\n\n"
            "The examples use top.csv and top.h5, written by polhode run --out.\n\n"
            "Exit status: 0 done, 1 the picture could not be written, 2 invalid input.",
    .examples = "  polhode plot top.csv top.position\n"
                "  polhode plot top.h5 energy.total \"residual.*\" --out top.png\n"
                "  polhode plot top.csv top.position.y --x top.position.x --equal\n"
                "  polhode plot top.csv --xy top.position.z,top.velocity.z --out phase.pdf\n"
                "  polhode plot top.h5 tip.force --fft --log-y --to 0.2\n"
                "  polhode plot top.h5 top.csv top.velocity.z --label \"h = 1e-3\" --label "
                "\"h = 1e-4\"",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run_plot,
};
