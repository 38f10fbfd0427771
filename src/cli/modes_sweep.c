/* polhode modes --sweep: modes over the values of a parameter, followed as curves: table, JSON, CSV
 * and a plot, which is Campbell's diagram if the parameter is a speed of rotation. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>
#include <polhode/plot.h>

#include "cli/analysis.h"
#include "cli/json_out.h"
#include "cli/modes_sweep.h"
#include "cli/terminal.h"

static const char command[] = "polhode modes";
static const char same_unknowns[] =
    "must not change the number of bodies, of state variables, or of modes of a flexible body";
enum { MAX_VALUES = 100000, USUAL_CURVES = 6, MAX_ORDERS = 100 };

typedef struct sweep {
  const cli_args *args;
  char *name;         /* of the key, as given */
  char *key;          /* of the override: "parameters.speed" */
  char *unit;         /* " (rad/s)", or "" */
  char *title, *how;  /* name of the model; what the modes are about */
  double from, to;    /* of the values, */
  int count;          /* their number, */
  double *values;     /* and all of them */
  int num_curves;     /* wanted at each value */
  int orders;         /* lines of 1x, 2x, ... the speed */
  char *rotor;        /* body whose speed that is; NULL: the axes of --frame */
  double *speeds;     /* of each value, rad/s */
  int *zeros;         /* number of zero eigenvalues of each value */
  double unsteady;    /* the largest */
  pol_curves *curves; /* all, of which those in `listed` are shown */
  int num_names, num_listed, *listed;
  char **names;               /* of all curves */
  int num_bodies, num_states; /* of the first model, and so of all */
  pol_body_state *bodies;     /* equilibrium of the value before */
  double *states;
} sweep;

static int refuse(const sweep *s, const char *option, const char *value, const char *rule)
{
  return cli_refuse_one(command, s->args->json, option, value, rule);
}

static int out_of_memory(void)
{
  cli_complain(command, "%s", pol_status_text(POL_NO_MEMORY));
  return CLI_FAILED;
}

/* --- options -------------------------------------------------------------------------------------
 */

/* KEY=FROM:TO:N; a key without dots and brackets is a parameter. */
static int read_range(sweep *s)
{
  static const char form[] = "must be KEY=FROM:TO:N, such as speed=0:100:21";
  const char *text = s->args->sweep, *equal = strchr(text, '=');
  if (equal == NULL || equal == text) return refuse(s, "--sweep", text, form);
  char *end;
  long count = 0;
  s->from = strtod(equal + 1, &end);
  int is_good = end != equal + 1 && *end == ':';
  if (is_good) {
    const char *to = end + 1;
    s->to = strtod(to, &end);
    is_good = end != to && *end == ':' && cli_read_count(end + 1, &count);
  }
  if (!is_good) return refuse(s, "--sweep", text, form);
  if (!isfinite(s->from) || !isfinite(s->to) || s->from == s->to)
    return refuse(s, "--sweep", text, "FROM and TO must be two different numbers");
  if (count < 2 || count > MAX_VALUES)
    return refuse(s, "--sweep", text, "N must be from 2 to 100000");
  s->count = (int)count;
  s->name = cli_format("%.*s", (int)(equal - text), text);
  s->key = s->name != NULL
               ? cli_format("%s%s", strpbrk(s->name, ".[") ? "" : "parameters.", s->name)
               : NULL;
  if (s->key == NULL) return out_of_memory();
  for (int i = 0; i < s->args->num_overrides; i++) {
    const size_t length = strlen(s->key);
    if (strncmp(s->args->overrides[i], s->key, length) == 0 && s->args->overrides[i][length] == '=')
      return refuse(s, "--sweep", text, "this key has a value by another option");
  }
  return CLI_DONE;
}

/* N or BODY:N */
static int read_orders(sweep *s)
{
  const char *text = s->args->orders;
  if (text == NULL) return CLI_DONE;
  const char *colon = strrchr(text, ':');
  long count;
  if (!cli_read_count(colon != NULL ? colon + 1 : text, &count) || count > MAX_ORDERS)
    return refuse(s, "--orders", text, "must be N or BODY:N, N from 1 to 100");
  if (colon == NULL && s->args->frame == NULL)
    return refuse(s, "--orders", text, "needs the rotating body, BODY:N, or --frame");
  s->orders = (int)count;
  if (colon != NULL) s->rotor = cli_format("%.*s", (int)(colon - text), text);
  return colon != NULL && s->rotor == NULL ? out_of_memory() : CLI_DONE;
}

static int read_options(sweep *s)
{
  const cli_args *args = s->args;
  long count = USUAL_CURVES;
  int result = read_range(s);
  if (result == CLI_DONE) result = read_orders(s);
  if (result != CLI_DONE) return result;
  if (args->count != NULL && (!cli_read_count(args->count, &count) || count > 1000))
    return refuse(s, "--count", args->count, "must be a whole number from 1 to 1000");
  s->num_curves = (int)count;
  if (args->mode != NULL) return refuse(s, "--mode", args->mode, "has no meaning with --sweep");
  if (!cli_ends_in(args->operand, ".json"))
    return refuse(s, "--sweep", args->sweep, "needs a model file, which is read for each value");
  if (args->out != NULL && !cli_ends_in(args->out, ".csv"))
    return refuse(s, "--out", args->out, "must end in .csv with --sweep");
  if (args->plot != NULL && !cli_ends_in(args->plot, ".svg") && !cli_ends_in(args->plot, ".png") &&
      !cli_ends_in(args->plot, ".pdf"))
    return refuse(s, "--plot", args->plot, "must end in .svg, .png or .pdf");
  const size_t n = (size_t)s->count;
  s->values = calloc(n, sizeof *s->values);
  s->speeds = calloc(n, sizeof *s->speeds);
  s->zeros = calloc(n, sizeof *s->zeros);
  if (s->values == NULL || s->speeds == NULL || s->zeros == NULL ||
      pol_curves_create(&s->curves) != POL_OK)
    return out_of_memory();
  for (int i = 0; i < s->count; i++)
    s->values[i] = i + 1 == s->count ? s->to : s->from + (s->to - s->from) * i / (s->count - 1);
  return CLI_DONE;
}

/* Data of the first model: its name, its size, the unit of the parameter, and files not to be
 * overwritten. */
static int read_model_facts(sweep *s, const cli_analysis *a)
{
  const cli_args *args = s->args;
  const char *unit = "";
  int result = cli_check_model_output(command, args, "--out", args->out, a->model);
  if (result == CLI_DONE)
    result = cli_check_model_output(command, args, "--plot", args->plot, a->model);
  if (result != CLI_DONE) return result;
  s->num_bodies = pol_mechanism_num_bodies(a->model->mechanism);
  s->num_states = pol_mechanism_num_states(a->model->mechanism);
  for (int i = 0; i < a->model->num_parameters; i++)
    if (strcmp(a->model->parameters[i].name, s->name) == 0) unit = a->model->parameters[i].unit;
  s->title = cli_format("%s", a->model->name != NULL ? a->model->name : "");
  s->unit = unit[0] != '\0' ? cli_format(" (%s)", unit) : cli_format("%s", "");
  return s->title != NULL && s->unit != NULL ? CLI_DONE : out_of_memory();
}

/* --- the modes of one value ----------------------------------------------------------------------
 */

/* Keeps the equilibrium as the start of the next one. */
static pol_status keep_state(sweep *s, const cli_analysis *a)
{
  const pol_formulation *f = pol_analysis_formulation(a->analysis);
  const pol_state *state = pol_analysis_state(a->analysis);
  const pol_point at = pol_state_point(state);
  if (s->bodies == NULL) s->bodies = calloc((size_t)s->num_bodies + 1, sizeof *s->bodies);
  if (s->states == NULL) s->states = calloc((size_t)s->num_states + 1, sizeof *s->states);
  if (s->bodies == NULL || s->states == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < s->num_bodies; i++)
    pol_formulation_body_state(f, state->q, state->v, i, &s->bodies[i]);
  for (int i = 0; i < s->num_states; i++) s->states[i] = pol_formulation_state_variable(f, &at, i);
  return POL_OK;
}

/* The equilibrium near that of the value before or, without one, from the initial values. */
static int balance(sweep *s, cli_analysis *a, const cli_args *args)
{
  pol_diagnostics failure = {.equation = -1};
  pol_static_options options = pol_static_options_default();
  pol_status status = POL_NOT_CONVERGED;
  cli_analysis_rotate(a, &options);
  if (s->bodies != NULL &&
      pol_analysis_set_bodies(a->analysis, a->t, s->bodies, s->states, &failure) == POL_OK)
    status = pol_analysis_equilibrium(a->analysis, &options, &a->report, &failure);
  if (status != POL_OK && s->bodies != NULL) {
    cli_analysis_close(a);
    const int result = cli_analysis_open(a, command, args, 1);
    if (result != CLI_DONE) return result;
    cli_analysis_rotate(a, &options);
  }
  if (status != POL_OK)
    status = pol_analysis_equilibrium(a->analysis, &options, &a->report, &failure);
  if (status == POL_OK) status = keep_state(s, a);
  if (status == POL_NO_MEMORY) return out_of_memory();
  return status == POL_OK ? CLI_DONE : cli_analysis_fail(a, &failure);
}

/* The speed that the lines of orders are multiples of. */
static int find_speed(sweep *s, const cli_analysis *a, double *speed)
{
  const pol_mechanism *mechanism = a->model->mechanism;
  const pol_state *state = pol_analysis_state(a->analysis);
  pol_near near = pol_near_start(s->rotor != NULL ? s->rotor : "");
  const double *w = a->frame;
  pol_body_state now;
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism) && s->rotor != NULL; b++) {
    const char *name = pol_mechanism_body(mechanism, b)->name;
    pol_near_try(&near, name);
    if (strcmp(name, s->rotor) != 0) continue;
    pol_formulation_body_state(pol_analysis_formulation(a->analysis), state->q, state->v, b, &now);
    w = now.angular_velocity_global;
  }
  *speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  if (s->rotor == NULL || w != a->frame) return CLI_DONE;
  pol_errors errors = {0};
  if (pol_errors_add(&errors, "--orders", s->args->orders, "there is no such body", near.best) !=
      POL_OK)
    return out_of_memory();
  return cli_refuse(command, s->args->json, &errors);
}

/* Adds the modes of a state to the curves, and names them. */
static int add_modes(sweep *s, cli_analysis *a, int index)
{
  pol_modes_options options = pol_modes_options_default();
  pol_diagnostics failure = {.equation = -1};
  pol_modes *modes = NULL;
  options.count = 2 * s->num_curves + 4; /* those above may come down at the next values */
  memcpy(options.frame, a->frame, sizeof options.frame);
  if (pol_modes_create(&modes, a->analysis, &options, &failure) != POL_OK)
    return cli_analysis_fail(a, &failure);
  pol_status status = pol_curves_add(s->curves, modes);
  s->zeros[index] = pol_modes_zeros(modes);
  s->unsteady = fmax(s->unsteady, pol_modes_unsteady(modes));
  const int count = pol_curves_count(s->curves);
  char **names =
      status == POL_OK ? realloc(s->names, (size_t)(count + 1) * sizeof *names) : s->names;
  if (names == NULL && status == POL_OK) status = POL_NO_MEMORY;
  if (status == POL_OK) s->names = names;
  for (int c = 0; c < count && status == POL_OK; c++) {
    const int mode = pol_curves_get(s->curves, c, index).mode;
    /* equal frequencies may have mixed shapes, "bending y, bending z", which are not at others */
    if (mode < 0 || (c < s->num_names && strchr(s->names[c], ',') == NULL)) continue;
    char text[200] = "";
    pol_modes_name(modes, mode, text, sizeof text);
    if (c < s->num_names && strchr(text, ',') != NULL) continue;
    char *name = cli_format("%s", text);
    if (name == NULL) {
      status = POL_NO_MEMORY;
    } else if (c < s->num_names) {
      free(s->names[c]);
      s->names[c] = name;
    } else {
      s->names[s->num_names++] = name;
    }
  }
  pol_modes_free(&modes);
  if (status == POL_BAD_ARGUMENT) return refuse(s, "--sweep", s->args->sweep, same_unknowns);
  return status == POL_OK ? CLI_DONE : out_of_memory();
}

static int solve_value(sweep *s, int index)
{
  const int more = s->args->num_overrides;
  cli_args args = *s->args;
  char **overrides = calloc((size_t)more + 1, sizeof *overrides);
  char *own = cli_format("%s=%.17g", s->key, s->values[index]);
  cli_analysis a = {0};
  int result = overrides != NULL && own != NULL ? CLI_DONE : out_of_memory();
  if (result == CLI_DONE) {
    if (more > 0) memcpy(overrides, s->args->overrides, (size_t)more * sizeof *overrides);
    overrides[more] = own;
    args.overrides = overrides;
    args.num_overrides = more + 1;
    result = cli_analysis_open(&a, command, &args, args.is_static);
  }
  if (result == CLI_DONE && index == 0) result = read_model_facts(s, &a);
  if (result == CLI_DONE && (pol_mechanism_num_bodies(a.model->mechanism) != s->num_bodies ||
                             pol_mechanism_num_states(a.model->mechanism) != s->num_states))
    result = refuse(s, "--sweep", args.sweep, same_unknowns);
  if (result == CLI_DONE && args.is_static) result = balance(s, &a, &args);
  if (result == CLI_DONE) result = find_speed(s, &a, &s->speeds[index]);
  if (result == CLI_DONE) result = add_modes(s, &a, index);
  /* a speed of zero may be the first value: the others say more */
  if (result == CLI_DONE) {
    free(s->how);
    s->how = cli_format("%s, t = %.10g s", a.how, a.t);
    if (s->how == NULL) result = out_of_memory();
  }
  if (result != CLI_DONE) cli_note("%s: at %s = %.10g", command, s->name, s->values[index]);
  cli_analysis_close(&a);
  free(overrides);
  free(own);
  return result;
}

/* Curves that belong to the lowest modes at any value. */
static int list_curves(sweep *s)
{
  s->listed = calloc((size_t)s->num_names + 1, sizeof *s->listed);
  if (s->listed == NULL) return out_of_memory();
  for (int c = 0; c < s->num_names; c++)
    for (int i = 0; i < s->count; i++) {
      const int mode = pol_curves_get(s->curves, c, i).mode;
      if (mode < 0 || mode - s->zeros[i] >= s->num_curves) continue;
      s->listed[s->num_listed++] = c;
      break;
    }
  return CLI_DONE;
}

/* --- the report ----------------------------------------------------------------------------------
 */

/* One table of a quantity, eight curves wide. */
static void print_table(const sweep *s, const char *title, int is_damping)
{
  enum { WIDE = 8 };
  for (int first = 0; first < s->num_listed; first += WIDE) {
    const int end = first + WIDE < s->num_listed ? first + WIDE : s->num_listed;
    printf("\n  %s\n  ", title);
    printf("%12.12s", s->name);
    for (int k = first; k < end; k++) printf("  %9d", k + 1);
    putchar('\n');
    for (int i = 0; i < s->count; i++) {
      printf("  %12.6g", s->values[i]);
      for (int k = first; k < end; k++) {
        const pol_curve_point p = pol_curves_get(s->curves, s->listed[k], i);
        if (p.mode < 0)
          printf("  %9s", "-");
        else
          printf("  %9.*g", is_damping ? 4 : 7, is_damping ? p.damping : p.frequency);
      }
      putchar('\n');
    }
  }
}

/* Whether any mode has damping, or grows. */
static int is_damped(const sweep *s)
{
  for (int k = 0; k < s->num_listed; k++)
    for (int i = 0; i < s->count; i++) {
      const pol_curve_point p = pol_curves_get(s->curves, s->listed[k], i);
      if (p.mode >= 0 && fabs(p.damping) > 1e-9) return 1;
    }
  return 0;
}

static void print_sweep(const sweep *s)
{
  cli_print_model(s->title, s->args->operand);
  cli_print_row("about", "%s", s->how);
  cli_print_row("sweep", "%s%s from %.10g to %.10g, %d values", s->name, s->unit, s->from, s->to,
                s->count);
  if (s->num_listed == 0) cli_print_row("curves", "none: nothing can vibrate");
  for (int k = 0; k < s->num_listed; k++) {
    char label[40];
    double least = 1.0;
    for (int i = 0; i < s->count; i++) {
      const pol_curve_point p = pol_curves_get(s->curves, s->listed[k], i);
      if (p.mode >= 0) least = fmin(least, p.similarity);
    }
    snprintf(label, sizeof label, "curve %d", k + 1);
    /* curves of shapes that change much from one value to the next may be mixed up */
    cli_print_row(label, "%s%s", s->names[s->listed[k]],
                  least < 0.5 ? " (its shape changes much between two values)" : "");
  }
  print_table(s, "frequency, Hz", 0);
  if (is_damped(s)) print_table(s, "damping ratio", 1);
  if (s->args->out != NULL) cli_print_row("table", "%s", s->args->out);
  if (s->args->plot != NULL) cli_print_row("plot", "%s", s->args->plot);
}

static json_t *sweep_json(const sweep *s)
{
  json_t *curves = json_array();
  for (int k = 0; k < s->num_listed; k++) {
    json_t *frequency = json_array(), *damping = json_array(), *eigenvalue = json_array(),
           *similarity = json_array();
    for (int i = 0; i < s->count; i++) {
      const pol_curve_point p = pol_curves_get(s->curves, s->listed[k], i);
      cli_json_append(&frequency, cli_json_number(p.frequency));
      cli_json_append(&damping, cli_json_number(p.damping));
      cli_json_append(&eigenvalue, cli_json_numbers((double[]){p.re, p.im}, 2));
      cli_json_append(&similarity, cli_json_number(p.mode >= 0 ? p.similarity : (double)NAN));
    }
    cli_json_append(&curves, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
                                       cli_json_text(s->names[s->listed[k]]), "frequency",
                                       frequency, "damping_ratio", damping, "eigenvalue",
                                       eigenvalue, "similarity", similarity));
  }
  json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o}", "status", "done", "name",
                             cli_json_text(s->title), "source", cli_json_text(s->args->operand),
                             "about", cli_json_text(s->how), "key", cli_json_text(s->name));
  cli_json_set(&object, "values", cli_json_numbers(s->values, s->count));
  cli_json_set(&object, "rotation_speeds", cli_json_numbers(s->speeds, s->count));
  cli_json_set(&object, "unsteady", cli_json_number(s->unsteady));
  cli_json_set(&object, "curves", curves);
  return object;
}

static int write_csv(const sweep *s)
{
  const char *path = s->args->out;
  errno = 0;
  FILE *file = fopen(path, "w");
  if (file == NULL) return cli_cannot_write(command, s->args->json, "--out", path, errno);
  fprintf(file, "%s,rotation_speed", s->name);
  for (int k = 1; k <= s->num_listed; k++)
    fprintf(file, ",curve_%d.frequency,curve_%d.damping,curve_%d.re,curve_%d.im", k, k, k, k);
  for (int i = 0; i < s->count; i++) {
    fprintf(file, "\n%.17g,%.17g", s->values[i], s->speeds[i]);
    for (int k = 0; k < s->num_listed; k++) {
      const pol_curve_point p = pol_curves_get(s->curves, s->listed[k], i);
      if (p.mode < 0)
        fputs(",,,,", file);
      else
        fprintf(file, ",%.17g,%.17g,%.17g,%.17g", p.frequency, p.damping, p.re, p.im);
    }
  }
  fputc('\n', file);
  const pol_status status = pol_output_close(file, path, POL_OK);
  return status == POL_OK ? CLI_DONE
                          : cli_cannot_write(command, s->args->json, "--out", path, errno);
}

/* The series of a plot: frequencies of the curves, lines of orders, damping of the curves. */
typedef struct diagram {
  size_t n, curves, orders;
  double *y; /* n numbers of each series */
  pol_series *series;
  pol_note *notes;    /* "1x" of each order */
  char (*labels)[96]; /* of the curves, then of the orders */
  double highest;     /* frequency */
} diagram;

static pol_status make_curves(const sweep *s, diagram *d)
{
  *d = (diagram){
      .n = (size_t)s->count, .curves = (size_t)s->num_listed, .orders = (size_t)s->orders};
  d->y = calloc((2 * d->curves + d->orders) * d->n + 1, sizeof *d->y);
  d->series = calloc(2 * d->curves + d->orders + 1, sizeof *d->series);
  d->notes = calloc(d->orders + 1, sizeof *d->notes);
  d->labels = calloc(d->curves + d->orders + 1, sizeof *d->labels);
  if (d->y == NULL || d->series == NULL || d->notes == NULL || d->labels == NULL)
    return POL_NO_MEMORY;
  for (size_t k = 0; k < d->curves; k++) {
    pol_series *frequency = &d->series[k], *damping = &d->series[d->curves + d->orders + k];
    double *f = d->y + k * d->n, *z = d->y + (d->curves + d->orders + k) * d->n;
    snprintf(d->labels[k], sizeof d->labels[k], "%d %s", (int)k + 1, s->names[s->listed[k]]);
    *frequency =
        (pol_series){.x = s->values, .y = f, .count = d->n, .label = d->labels[k], .color = 0};
    *damping = (pol_series){.x = s->values, .y = z, .count = d->n};
    pol_series_look(frequency, (int)k);
    pol_series_look(damping, (int)k);
    for (size_t i = 0; i < d->n; i++) {
      const pol_curve_point p = pol_curves_get(s->curves, s->listed[k], (int)i);
      f[i] = p.frequency;
      z[i] = p.damping;
      if (p.mode >= 0) d->highest = fmax(d->highest, p.frequency);
    }
  }
  return POL_OK;
}

/* Lines of orders, as far as there are curves. */
static void make_orders(const sweep *s, diagram *d)
{
  for (size_t k = 0; k < d->orders; k++) {
    double *y = d->y + (d->curves + k) * d->n;
    char *label = d->labels[d->curves + k];
    size_t last = 0;
    for (size_t i = 0; i < d->n; i++) {
      const double frequency = (double)(k + 1) * s->speeds[i] / (8.0 * atan(1.0));
      const int is_shown = frequency <= 1.05 * d->highest;
      y[i] = is_shown ? frequency : (double)NAN;
      if (is_shown) last = i;
    }
    d->series[d->curves + k] = (pol_series){.x = s->values,
                                            .y = y,
                                            .count = d->n,
                                            .line = POL_LINE_DOTTED,
                                            .color = POL_PLOT_COLORS - 1};
    snprintf(label, sizeof *d->labels, "%dx", (int)k + 1);
    d->notes[k] = (pol_note){.x = s->values[last], .y = y[last], .anchor = 1, .text = label};
  }
}

/* Frequencies with the lines of orders and, if there is any, damping below them. */
static int write_plot(const sweep *s)
{
  diagram d;
  char *x_label = cli_format("%s%s", s->name, s->unit);
  pol_panel panels[2] = {pol_panel_default(), pol_panel_default()};
  pol_figure figure = pol_figure_default();
  pol_status status = make_curves(s, &d);
  if (x_label == NULL) status = POL_NO_MEMORY;
  if (status == POL_OK) {
    make_orders(s, &d);
    panels[0].series = d.series;
    panels[0].num_series = (int)(d.curves + d.orders);
    panels[0].notes = d.notes;
    panels[0].num_notes = (int)d.orders;
    panels[0].y.label = "frequency (Hz)";
    panels[0].y.max = 1.05 * d.highest;
    panels[0].legend = POL_LEGEND_BESIDE;
    panels[1].series = d.series + d.curves + d.orders;
    panels[1].num_series = (int)d.curves;
    panels[1].y.label = "damping ratio";
    figure.title = s->title;
    figure.x.label = x_label;
    figure.panels = panels;
    figure.num_panels = is_damped(s) ? 2 : 1;
    figure.width = 860;
    if (figure.num_panels == 2) figure.height = 620;
    errno = 0;
    status = pol_figure_write(&figure, s->args->plot);
  }
  const int reason = errno;
  free(d.y);
  free(d.series);
  free(d.notes);
  free(d.labels);
  free(x_label);
  if (status == POL_OK) return CLI_DONE;
  return status == POL_NO_MEMORY
             ? out_of_memory()
             : cli_cannot_write(command, s->args->json, "--plot", s->args->plot, reason);
}

/* --- the sweep -----------------------------------------------------------------------------------
 */

static int solve(sweep *s)
{
  const cli_args *args = s->args;
  cli_progress progress;
  char text[480];
  int result = read_options(s);
  if (result != CLI_DONE) return result;
  cli_catch_signals();
  cli_progress_begin(&progress, !args->quiet && !args->json);
  for (int i = 0; i < s->count && result == CLI_DONE; i++) {
    cli_progress_update(&progress, (double)i / s->count);
    result = cli_stop_signal() ? CLI_SIGNALLED + cli_stop_signal() : solve_value(s, i);
  }
  cli_progress_end(&progress);
  if (result == CLI_DONE) result = list_curves(s);
  if (result != CLI_DONE) return result;
  if (cli_unsteady_text(s->unsteady, text, sizeof text)) cli_note("%s: warning: %s", command, text);
  if (args->out != NULL) result = write_csv(s);
  if (result == CLI_DONE && args->plot != NULL) result = write_plot(s);
  if (result == CLI_DONE && args->json)
    result = cli_json_print(sweep_json(s)) == 0 ? CLI_DONE : CLI_FAILED;
  else if (result == CLI_DONE && !args->quiet)
    print_sweep(s);
  return result;
}

int cli_modes_sweep(const cli_args *args)
{
  sweep s = {.args = args};
  const int result = solve(&s);
  for (int i = 0; i < s.num_names; i++) free(s.names[i]);
  char *const texts[] = {s.name, s.key, s.unit, s.title, s.how, s.rotor};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  free(s.names);
  free(s.values);
  free(s.speeds);
  free(s.zeros);
  free(s.listed);
  free(s.bodies);
  free(s.states);
  pol_curves_free(&s.curves);
  return result;
}
