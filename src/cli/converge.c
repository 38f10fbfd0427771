/* polhode converge: errors of many runs of a model against a reference, and their orders.
 *
 * Methods, formulations and indices make series; each series has a case for every step size, or for
 * every tolerance of variable steps.  The library runs them (polhode/convergence.h).
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/converge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* The reference run's steps are this much smaller than the smallest; its tolerance for variable
 * steps; timed runs of a case. */
enum { FINER_STEPS = 8, FINER_TOLERANCE = 100, REPEATS = 3, MAX_JOBS = 256, MAX_RANGE = 1000 };

static pol_status complain(cli_study *s, const char *path, const char *value, const char *rule)
{
  return pol_errors_add(&s->errors, path, value, rule, "");
}

/* --- lists ------------------------------------------------------------------------------------ */

static pol_status add_item(cli_list *list, const char *text, size_t length)
{
  const char **longer = realloc(list->items, ((size_t)list->count + 1) * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  list->items = longer;
  char *item = cli_format("%.*s", (int)length, text);
  if (item == NULL) return POL_NO_MEMORY;
  list->items[list->count++] = item;
  return POL_OK;
}

/* Adds the words between commas; nothing if text is NULL. */
static pol_status split(cli_study *s, const char *option, const char *text, cli_list *list)
{
  for (const char *word = text; word != NULL;) {
    const size_t length = strcspn(word, ",");
    if (length == 0) return complain(s, option, text, "has an empty item between commas");
    const pol_status status = add_item(list, word, length);
    if (status != POL_OK) return status;
    word = word[length] == ',' ? word + length + 1 : NULL;
  }
  return POL_OK;
}

/* Refuses the items that are none of the names; name_at gives NULL after the last. */
static pol_status check_names(cli_study *s, const char *option, const cli_list *list,
                              const char *(*name_at)(int), const char *rule)
{
  pol_status status = POL_OK;
  for (int i = 0; status == POL_OK && i < list->count; i++) {
    int found = 0;
    pol_near near = pol_near_start(list->items[i]);
    for (int k = 0; name_at(k) != NULL; k++) {
      found |= strcmp(name_at(k), list->items[i]) == 0;
      pol_near_try(&near, name_at(k));
    }
    if (!found) status = pol_errors_add(&s->errors, option, list->items[i], rule, near.best);
  }
  return status;
}

static const char *method_name(int i)
{
  return i < pol_method_count() ? pol_method_at(i)->name : NULL;
}

static const char *formulation_name(int i)
{
  return i < pol_formulation_count() ? pol_formulation_name((pol_formulation_kind)i) : NULL;
}

static const char *index_name(int i)
{
  return i <= POL_INDEX_2_STABILIZED ? cli_index_name((pol_index)i) : NULL;
}

/* The names of an option, or the model's own choice. */
static pol_status read_names(cli_study *s, const char *option, const char *text, cli_list *list,
                             const char *(*name_at)(int), const char *rule, const char *of_model)
{
  if (text == NULL) return add_item(list, of_model, strlen(of_model));
  const pol_status status = split(s, option, text, list);
  return status == POL_OK ? check_names(s, option, list, name_at, rule) : status;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int read_positive(const char *text, const char *end, double *x)
{
  char *rest;
  *x = strtod(text, &rest);
  return rest != text && rest == end && isfinite(*x) && *x > 0.0;
}

static pol_status add_number(double **list, int *count, double x)
{
  for (int i = 0; i < *count; i++)
    if ((*list)[i] == x) return POL_OK;
  double *longer = realloc(*list, ((size_t)*count + 1) * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  *list = longer;
  longer[(*count)++] = x;
  return POL_OK;
}

/* FROM:TO:COUNT, numbers with equal ratios; whole: steps are rounded so that the end is a multiple.
 */
static pol_status add_range(cli_study *s, const char *option, const char *text, int whole,
                            double **list, int *count)
{
  const char *first = strchr(text, ':'), *second = first != NULL ? strchr(first + 1, ':') : NULL;
  double from = 0, to = 0;
  char *rest = NULL;
  long n = second != NULL ? strtol(second + 1, &rest, 10) : 0;
  if (n < 2 || n > MAX_RANGE || *rest != '\0' || !read_positive(text, first, &from) ||
      !read_positive(first + 1, second, &to))
    return complain(s, option, text,
                    "must be FROM:TO:COUNT with positive numbers and a count from 2 to 1000");
  for (long i = 0; i < n; i++) {
    double x = from * pow(to / from, (double)i / (double)(n - 1));
    const double end = s->model->settings.end;
    if (whole && x < end) x = end / round(end / x);
    const pol_status status = add_number(list, count, x);
    if (status != POL_OK) return status;
  }
  return POL_OK;
}

static int compare_falling(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* Numbers and ranges between commas, by falling size. */
static pol_status read_numbers(cli_study *s, const char *option, const char *text, int whole,
                               double **list, int *count)
{
  cli_list items = {0};
  pol_status status = split(s, option, text, &items);
  for (int i = 0; status == POL_OK && i < items.count; i++) {
    const char *item = items.items[i];
    double x;
    if (strchr(item, ':') != NULL)
      status = add_range(s, option, item, whole, list, count);
    else if (!read_positive(item, item + strlen(item), &x))
      status = complain(s, option, item, "must be a positive number");
    else
      status = add_number(list, count, x);
  }
  if (*count > 0) qsort(*list, (size_t)*count, sizeof **list, compare_falling);
  cli_inputs_free(&items);
  return status;
}

/* Step sizes and tolerances; without both, steps around the model's own. */
static pol_status read_sizes(cli_study *s)
{
  const cli_args *args = s->args;
  const pol_settings *own = &s->model->settings;
  char value[32];
  pol_status status = read_numbers(s, "--steps", args->steps, 1, &s->steps, &s->num_steps);
  if (status == POL_OK)
    status = read_numbers(s, "--rtols", args->rtols, 0, &s->rtols, &s->num_rtols);
  if (status != POL_OK) return status;
  if (s->num_steps > 0 && s->steps[0] > own->end) {
    snprintf(value, sizeof value, "%g", s->steps[0]);
    return complain(s, "--steps", value, "must not exceed the end time of the model");
  }
  if (s->num_rtols > 0 && s->rtols[0] >= 1.0) {
    snprintf(value, sizeof value, "%g", s->rtols[0]);
    return complain(s, "--rtols", value, "must be below 1");
  }
  if (args->steps != NULL || args->rtols != NULL) return POL_OK;
  if (own->variable)
    return complain(s, "--steps", "", "must be given: the model has steps of variable size");
  for (double factor = 4.0; status == POL_OK && factor >= 0.5; factor /= 2.0)
    if (factor * own->step <= own->end)
      status = add_number(&s->steps, &s->num_steps, factor * own->step);
  return status;
}

/* --- the other options ------------------------------------------------------------------------ */

/* Refuses a picture that cannot be written, before the runs and not after them, or that would
 * overwrite an input: the model, its meshes, the reference. */
static pol_status check_plot(cli_study *s)
{
  static const char *const suffixes[] = {"", "_time", "_newton"};
  const char *path = s->args->plot;
  if (path == NULL) return POL_OK;
  if (!cli_ends_in(path, ".svg") && !cli_ends_in(path, ".png"))
    return complain(s, "--plot", path, "must end in .svg or .png");
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  char *folder =
      slash != NULL ? cli_format("%.*s", (int)(slash - path) + 1, path) : cli_format("%s", ".");
  if (folder == NULL) return POL_NO_MEMORY;
  const int possible = access(access(path, F_OK) == 0 ? path : folder, W_OK) == 0;
  const int reason = errno;
  free(folder);
  if (!possible) return complain(s, "--plot", path, strerror(reason));
  if (s->errors.count > 0) return POL_OK;
  cli_list inputs = {0};
  pol_status status = cli_inputs_add_model(&inputs, s->args->operand, s->model);
  if (status == POL_OK && s->args->reference != NULL)
    status = cli_inputs_add(&inputs, s->args->reference);
  for (int i = 0; status == POL_OK && i < (s->args->work ? 3 : 1); i++) {
    char *name = cli_format("%.*s%s%s", (int)(dot - path), path, suffixes[i], dot);
    if (name == NULL) status = POL_NO_MEMORY;
    if (name != NULL && cli_find_input(&inputs, name) != NULL)
      status = complain(s, "--plot", name, "must not be an input file");
    struct stat info;
    if (i > 0 && name != NULL && lstat(name, &info) == 0 && S_ISLNK(info.st_mode))
      status = complain(s, "--plot", name, "must not be a symbolic link");
    free(name);
  }
  cli_inputs_free(&inputs);
  return status;
}

/* Reads the model of the study with more overrides. */
static pol_status read_with(const cli_study *s, int count, char *const *more, pol_model **model,
                            pol_errors *errors)
{
  const cli_args *args = s->args;
  const int first = args->num_overrides;
  const char **overrides = malloc((size_t)(first + count) * sizeof *overrides);
  int complete = overrides != NULL;
  for (int i = 0; i < count; i++) complete = complete && more[i] != NULL;
  pol_status status = POL_NO_MEMORY;
  if (complete) {
    for (int i = 0; i < first; i++) overrides[i] = args->overrides[i];
    for (int i = 0; i < count; i++) overrides[first + i] = more[i];
    status = pol_model_read_file(model, args->operand, first + count, overrides, errors);
  }
  free(overrides);
  return status;
}

/* The formulation of the model; where its method was chosen but --methods names others, that of
 * the first of these, as the one chosen may suit the chosen method only. */
static pol_status own_formulation(const cli_study *s, pol_formulation_kind *formulation)
{
  const pol_settings *own = &s->model->settings;
  *formulation = own->formulation;
  if (own->choice[0] == '\0' || s->args->methods == NULL) return POL_OK;
  char *method = cli_format("simulation.method=%s", s->methods.items[0]);
  pol_model *model = NULL;
  pol_errors errors = {0};
  const pol_status status = read_with(s, 1, &method, &model, &errors);
  if (status == POL_OK) *formulation = model->settings.formulation;
  free(method);
  pol_errors_clear(&errors);
  pol_model_free(&model);
  return status == POL_NO_MEMORY ? status : POL_OK;
}

static pol_status read_options(cli_study *s)
{
  const cli_args *args = s->args;
  const pol_settings *own = &s->model->settings;
  pol_formulation_kind formulation = own->formulation;
  s->study = pol_study_default();
  pol_status status =
      read_names(s, "--methods", args->methods, &s->methods, method_name,
                 "there is no such method; polhode methods lists them", own->options.method);
  if (status == POL_OK) status = own_formulation(s, &formulation);
  if (status == POL_OK)
    status = read_names(s, "--formulations", args->formulations, &s->formulations, formulation_name,
                        "there is no such formulation; polhode methods lists them",
                        pol_formulation_name(formulation));
  if (status == POL_OK)
    status = read_names(s, "--indices", args->indices, &s->indices, index_name,
                        "must be 3, 2 or stabilized-2", cli_index_name(own->options.index));
  if (status == POL_OK) status = read_sizes(s);
  /* as many threads as there are cores, unless --jobs is given */
  char *rest = "";
  long jobs = args->jobs != NULL ? strtol(args->jobs, &rest, 10) : sysconf(_SC_NPROCESSORS_ONLN);
  if (args->jobs == NULL) jobs = jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : jobs;
  if (status == POL_OK && (rest == args->jobs || *rest != '\0' || jobs < 1 || jobs > MAX_JOBS))
    status = complain(s, "--jobs", args->jobs, "must be a whole number from 1 to 256");
  s->study.jobs = (int)jobs;
  for (int i = 0; status == POL_OK && i < args->quantities.count; i++)
    status = split(s, "--quantities", args->quantities.items[i], &s->words);
  if (status == POL_OK) status = check_plot(s);
  if (status == POL_OK && args->reference != NULL && args->reference_step != NULL)
    status = complain(s, "--reference-step", args->reference_step,
                      "has no meaning beside --reference, which is a file");
  if (status == POL_OK && args->reference != NULL && args->reference_method != NULL)
    status = complain(s, "--reference-method", args->reference_method,
                      "has no meaning beside --reference, which is a file");
  return status;
}

/* --- series ----------------------------------------------------------------------------------- */

/* The settings of a combination, by reading the model with it: each method has keys and defaults of
 * its own.  Where the model does not allow it, *refusal has the reason. */
static pol_status read_settings(const cli_study *s, const char *method, const char *formulation,
                                const char *index, pol_settings *settings, char **refusal)
{
  enum { OWN = 3 };
  char *own[OWN] = {cli_format("simulation.method=%s", method),
                    cli_format("simulation.formulation=%s", formulation),
                    cli_format("simulation.index=%s", index)};
  pol_model *model = NULL;
  pol_errors errors = {0};
  pol_status status = read_with(s, OWN, own, &model, &errors);
  if (status == POL_OK) {
    /* the events are those of the model of the study, which lives on */
    *settings = model->settings;
    settings->events = s->model->settings.events;
    settings->num_events = s->model->settings.num_events;
    /* parameters that were chosen with the method */
    const pol_settings *chosen = &s->model->settings;
    if (chosen->choice[0] != '\0' && s->args->methods == NULL &&
        strcmp(method, chosen->options.method) == 0) {
      settings->options.order = pol_options_order(&chosen->options);
      settings->options.sigma = chosen->options.sigma;
    }
  }
  if (status == POL_BAD_ARGUMENT || status == POL_IO) {
    const pol_error *e = &errors.items[0];
    *refusal = cli_format("%s: %s", e->path, e->rule);
    status = *refusal != NULL ? POL_OK : POL_NO_MEMORY;
  }
  settings->output = (pol_output){0};
  for (int i = 0; i < OWN; i++) free(own[i]);
  pol_errors_clear(&errors);
  pol_model_free(&model);
  return status;
}

static int has_index(const char *method)
{
  const pol_method *m = pol_method_find(method);
  return m != NULL && strstr(m->settings, "index") != NULL;
}

/* Every combination; methods without an index once. */
static pol_status make_series(cli_study *s)
{
  const int kinds = (s->num_steps > 0) + (s->num_rtols > 0);
  const size_t most =
      (size_t)s->methods.count * (size_t)s->formulations.count * (size_t)s->indices.count;
  s->series = calloc(most * (size_t)kinds, sizeof *s->series);
  if (s->series == NULL) return POL_NO_MEMORY;
  for (int m = 0; m < s->methods.count; m++)
    for (int f = 0; f < s->formulations.count; f++)
      for (int i = 0; i < (has_index(s->methods.items[m]) ? s->indices.count : 1); i++)
        for (int variable = s->num_steps == 0; variable <= (s->num_rtols > 0); variable++) {
          const char *method = s->methods.items[m], *formulation = s->formulations.items[f],
                     *index = has_index(method) ? s->indices.items[i] : NULL;
          cli_case_series *series = &s->series[s->num_series++];
          series->variable = variable;
          series->label =
              cli_format("%s, %s%s%s%s", method, formulation, index != NULL ? ", index " : "",
                         index != NULL ? index : "", variable ? ", variable steps" : "");
          if (series->label == NULL) return POL_NO_MEMORY;
          const pol_status status = read_settings(s, method, formulation, s->indices.items[i],
                                                  &series->settings, &series->refusal);
          if (status != POL_OK) return status;
        }
  return POL_OK;
}

static void set_size(pol_settings *settings, int variable, double size)
{
  pol_control *control = &settings->options.control;
  settings->variable = variable;
  if (variable)
    control->rtol = control->atol_translation = control->atol_rotation = size;
  else
    settings->step = size;
}

static pol_status make_cases(cli_study *s)
{
  const size_t most = (size_t)s->num_series * ((size_t)s->num_steps + (size_t)s->num_rtols);
  s->cases = calloc(most + 1, sizeof *s->cases);
  if (s->cases == NULL) return POL_NO_MEMORY;
  s->study.cases = s->cases;
  for (int i = 0; i < s->num_series; i++) {
    cli_case_series *series = &s->series[i];
    const double *sizes = series->variable ? s->rtols : s->steps;
    series->first = s->study.num_cases;
    if (series->refusal != NULL) continue;
    series->count = series->variable ? s->num_rtols : s->num_steps;
    for (int k = 0; k < series->count; k++) {
      pol_case *c = &s->cases[s->study.num_cases++];
      c->settings = series->settings;
      set_size(&c->settings, series->variable, sizes[k]);
    }
  }
  if (s->study.num_cases > 0) return POL_OK;
  return complain(s, s->series[0].label, "", s->series[0].refusal);
}

/* --- the reference ---------------------------------------------------------------------------- */

/* A file, or a fine run: of the first method, formulation and index, unless an option sets
 * another. */
static pol_status find_reference(cli_study *s)
{
  const cli_args *args = s->args;
  if (args->reference != NULL) {
    char message[256];
    pol_status status = pol_result_open(&s->result, args->reference, message, sizeof message);
    if (status == POL_OK)
      status = pol_result_trajectory(s->result, &s->trajectory, message, sizeof message);
    s->study.reference = s->trajectory;
    if (status == POL_IO || status == POL_BAD_ARGUMENT)
      status = complain(s, "--reference", args->reference, message);
    return status;
  }
  const char *method = s->methods.items[0];
  char *refusal = NULL;
  double step = s->num_steps > 0 ? s->steps[s->num_steps - 1] / FINER_STEPS : 0.0;
  if (args->reference_method != NULL) {
    const char *item = args->reference_method;
    const cli_list one = {1, &item};
    const pol_status status = check_names(s, "--reference-method", &one, method_name,
                                          "there is no such method; polhode methods lists them");
    if (status != POL_OK || s->errors.count > 0) return status;
    method = args->reference_method;
  }
  if (args->reference_step != NULL &&
      !read_positive(args->reference_step, args->reference_step + strlen(args->reference_step),
                     &step))
    return complain(s, "--reference-step", args->reference_step, "must be a positive number");
  pol_status status = read_settings(s, method, s->formulations.items[0], s->indices.items[0],
                                    &s->reference_run, &refusal);
  if (refusal != NULL) status = complain(s, "--reference-method", method, refusal);
  free(refusal);
  s->has_index = has_index(method);
  if (step > 0.0)
    set_size(&s->reference_run, 0, step);
  else
    set_size(&s->reference_run, 1, s->rtols[s->num_rtols - 1] / FINER_TOLERANCE);
  s->study.reference_run = &s->reference_run;
  return status;
}

/* --- quantities ------------------------------------------------------------------------------- */

static int compares(const pol_channel *channel, void *user)
{
  const cli_study *s = user;
  for (int i = 0; i < s->words.count; i++)
    if (cli_quantity_matches(s->words.items[i], channel->name)) return 1;
  return s->words.count == 0 && pol_study_compares_by_default(channel, NULL);
}

/* Each quantity must be in the model and in a reference that is a file. */
static pol_status check_quantities(cli_study *s)
{
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  pol_status status = POL_OK;
  s->study.compares = compares;
  s->study.mechanism = s->model->mechanism;
  if (s->words.count == 0) return POL_OK;
  for (int i = 0; simulation == NULL && i < s->study.num_cases; i++)
    pol_simulation_create(&simulation, s->model->mechanism, &s->cases[i].settings, NULL);
  if (simulation != NULL) status = pol_record_create(&record, simulation);
  for (int i = 0; status == POL_OK && i < s->words.count; i++) {
    const char *word = s->words.items[i];
    pol_near near = pol_near_start(word);
    int found = record == NULL;
    for (int k = 1; !found && k < pol_record_count(record); k++) {
      const char *name = pol_record_channel(record, k)->name;
      found = cli_quantity_matches(word, name);
      if (!found) pol_near_try(&near, name);
    }
    if (!found)
      status = pol_errors_add(&s->errors, "--quantities", word, "the model has no such quantity",
                              near.best);
    if (status == POL_OK && s->errors.count == 0 && s->result != NULL &&
        !cli_quantity_exists(s->result, word))
      status = cli_quantity_refuse(&s->errors, s->args->reference, word, word, &s->result, 1);
  }
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return status;
}

/* --- refused series -------------------------------------------------------------------------- */

const char *cli_series_refusal(const cli_study *s, const cli_case_series *series)
{
  if (series->refusal != NULL) return series->refusal;
  for (int i = 0; i < series->count; i++)
    if (s->cases[series->first + i].status != POL_BAD_ARGUMENT) return NULL;
  return s->cases[series->first].failure.message;
}

/* --- running and reporting -------------------------------------------------------------------- */

static cli_progress bar;

static int show_progress(double share, void *user)
{
  (void)user;
  cli_progress_update(&bar, share);
  return cli_stop_signal();
}

static int report(const cli_study *s)
{
  /* What is allowed but doubtful about the settings, once for each series, on stderr. */
  char message[256];
  for (int i = 0; i < s->num_series; i++) {
    const cli_case_series *series = &s->series[i];
    if (cli_series_refusal(s, series) == NULL &&
        pol_options_warning(&series->settings.options, message, sizeof message))
      fprintf(stderr, "%swarning%s: %s: %s\n", cli_style_start(stderr, CLI_YELLOW),
              cli_style_start(stderr, CLI_PLAIN), series->label, message);
  }
  if (s->study.stopped) fprintf(stderr, "polhode converge: interrupted\n");
  if (s->args->json) {
    if (cli_json_print(cli_study_json(s)) != 0) return CLI_FAILED;
  } else if (!s->args->quiet && cli_study_print(s) != POL_OK) {
    cli_complain("polhode converge", "%s", pol_status_text(POL_NO_MEMORY));
    return CLI_FAILED;
  }
  /* 2 if no case could start, 1 if one failed. */
  int started = 0, failed = 0;
  for (int i = 0; i < s->study.num_cases; i++) {
    started |= s->cases[i].status != POL_BAD_ARGUMENT;
    failed |= s->cases[i].status != POL_OK && s->cases[i].status != POL_BAD_ARGUMENT;
  }
  if (s->study.stopped) return CLI_SIGNALLED + cli_stop_signal();
  return !started ? CLI_INVALID : failed ? CLI_FAILED : CLI_DONE;
}

/* --- the command ------------------------------------------------------------------------------ */

/* The stages before the runs; errors of the input are collected within a stage. */
static pol_status (*const stages[])(cli_study *) = {read_options, make_series, make_cases,
                                                    find_reference, check_quantities};

/* Runs, draws and reports. */
static int perform(cli_study *s)
{
  pol_diagnostics failure = {.equation = -1};
  s->study.user = s;
  s->study.repeats = s->args->work ? REPEATS : 0;
  s->study.progress = show_progress;
  cli_catch_signals();
  cli_progress_begin(&bar, !s->args->quiet);
  pol_status status = pol_study_run(&s->study, &failure);
  cli_progress_end(&bar);
  if (status == POL_BAD_ARGUMENT)
    status = s->args->reference != NULL
                 ? complain(s, "--reference", s->args->reference, failure.message)
                 : complain(s, "reference run", "", failure.message);
  if (status != POL_OK && failure.message[0] == '\0')
    snprintf(failure.message, sizeof failure.message, "%s", pol_status_text(status));
  errno = 0;
  if (status == POL_OK && s->errors.count == 0 && s->args->plot != NULL) {
    status = cli_study_plot(s);
    if (status == POL_IO) {
      /* what was found, and that the last plot could not be written */
      const int reason = errno;
      char *path = s->plots[--s->num_plots];
      report(s);
      fflush(stdout);
      const int result = cli_cannot_write("polhode converge", 0, "--plot", path, reason);
      free(path);
      return result;
    }
  }
  if (s->errors.count > 0) return cli_refuse("polhode converge", s->args->json, &s->errors);
  if (status == POL_OK) return report(s);
  if (s->args->json)
    cli_json_print(
        json_pack("{s:s, s:o}", "status", "failed", "failure", cli_json_failure(&failure)));
  cli_print_failure("polhode converge: reference run", &failure);
  return CLI_FAILED;
}

static int run(const cli_args *args)
{
  cli_study s = {.args = args};
  if (strcmp(args->operand, "-") == 0)
    return cli_refuse_one("polhode converge", args->json, "", "-",
                          "must be a file: the model is read several times");
  int result = cli_read_model(args, &s.model);
  if (result == CLI_DONE && s.model->num_controllers > 0)
    result = cli_refuse_one(args->operand, args->json, "controllers", "",
                            "must not be given for a convergence study, whose runs have no FMUs");
  for (size_t i = 0; result == CLI_DONE && i < sizeof stages / sizeof stages[0]; i++) {
    const pol_status status = stages[i](&s);
    if (status != POL_OK) {
      cli_complain("polhode converge", "%s", pol_status_text(status));
      result = CLI_FAILED;
    } else if (s.errors.count > 0) {
      result = cli_refuse("polhode converge", args->json, &s.errors);
    }
  }
  if (result == CLI_DONE) result = perform(&s);
  for (int i = 0; i < s.num_series; i++) {
    free(s.series[i].label);
    free(s.series[i].refusal);
  }
  for (int i = 0; i < s.num_plots; i++) free(s.plots[i]);
  free(s.series);
  free(s.cases);
  free(s.steps);
  free(s.rtols);
  cli_inputs_free(&s.methods);
  cli_inputs_free(&s.formulations);
  cli_inputs_free(&s.indices);
  cli_inputs_free(&s.words);
  pol_result_close(&s.result);
  pol_trajectory_free(&s.trajectory);
  pol_model_free(&s.model);
  pol_errors_clear(&s.errors);
  return result;
}

static const cli_option options[] = {
    {"--methods", "METHOD,...", "integrators; the model's by default", CLI_TEXT,
     offsetof(cli_args, methods), NULL},
    {"--formulations", "FORMULATION,...", "coordinates; the model's by default", CLI_TEXT,
     offsetof(cli_args, formulations), NULL},
    {"--indices", "INDEX,...", "3, 2, stabilized-2; the model's by default", CLI_TEXT,
     offsetof(cli_args, indices), NULL},
    {"--steps", "SECONDS,...", "step sizes, or FROM:TO:COUNT with equal ratios", CLI_TEXT,
     offsetof(cli_args, steps), NULL},
    {"--rtols", "NUMBER,...", "tolerances for variable step sizes, relative and absolute", CLI_TEXT,
     offsetof(cli_args, rtols), NULL},
    {"--reference", "RESULT", "compare with this result", CLI_TEXT, offsetof(cli_args, reference),
     NULL},
    {"--reference-step", "SECONDS",
     "step size of the reference run; default: an eighth of the smallest step", CLI_TEXT,
     offsetof(cli_args, reference_step), NULL},
    {"--reference-method", "METHOD", "method of the reference run; the first by default", CLI_TEXT,
     offsetof(cli_args, reference_method), NULL},
    {"--quantities", "QUANTITY,...", "what to compare; may be repeated", CLI_LIST,
     offsetof(cli_args, quantities), NULL},
    {"--at-end", NULL, "errors at the end instead of the largest over time", CLI_FLAG,
     offsetof(cli_args, at_end), NULL},
    {"--work", NULL, "also report the work and the wall time", CLI_FLAG, offsetof(cli_args, work),
     NULL},
    {"--plot", "FILE.svg|FILE.png", "plot the errors, with reference slopes", CLI_TEXT,
     offsetof(cli_args, plot), NULL},
    {"--jobs", "N", "number of parallel runs (default: number of cores)", CLI_TEXT,
     offsetof(cli_args, jobs), NULL},
    {"--param", "NAME=VALUE", "value of a parameter; may be repeated", CLI_OVERRIDE, 0,
     "parameters."},
    {"--set", "KEY=VALUE", "replace any value of the model file; may be repeated", CLI_OVERRIDE, 0,
     NULL},
    CLI_JSON_OPTION,
};

#define MODEL "models/examples/pendulum.json"

const cli_command cli_converge = {
    .name = "converge",
    .summary = "measure errors, orders and work for several step sizes",
    .operand = "MODEL.json",
    .text = "Runs the model with every method, formulation, index and step size, compares\n"
            "each run with a reference, and prints the largest errors of positions,\n"
            "rotations, velocities, angular velocities and reactions, and the observed\n"
            "orders, between successive step sizes and by a fit. The reference is a result of\n"
            "polhode run, or a run with the first method and an eighth of the smallest step.\n"
            "Without --steps, four step sizes around that of the model are used.\n\n"
            "--work also prints steps, Newton iterations, evaluations and the wall time; with\n"
            "--plot FILE.svg it draws FILE_time.svg and FILE_newton.svg beside FILE.svg.\n\n"
            "Exit status: 0 done, 1 a run failed (see its row), 2 invalid input.",
    .examples = "  polhode converge " MODEL "\n"
                "  polhode converge " MODEL " --plot orders.svg\n"
                "  polhode converge " MODEL " --formulations so3xr3,se3 --json\n"
                "  polhode converge " MODEL " --work --rtols 1e-4,1e-5\n"
                "  polhode converge " MODEL " --steps 2e-2:2e-3:4 --at-end\n"
                "  polhode converge models/bruels-cardona-2010/heavy_top.json --reference top.csv",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
