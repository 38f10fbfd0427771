/* Options of the integrators: their words, defaults and rules. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "base/rule.h"
#include "dae/newton.h"
#include "integrators/family.h"

/* --- words ------------------------------------------------------------------------------------ */

static const char *word(int number, const char *const *words, size_t count)
{
  return number >= 0 && (size_t)number < count ? words[number] : NULL;
}

const char *pol_start_name(pol_start start)
{
  static const char *const names[] = {[POL_START_DEFAULT] = "default",
                                      [POL_START_CLASSICAL] = "classical",
                                      [POL_START_SHIFTED] = "shifted",
                                      [POL_START_PERTURBED] = "perturbed"};
  return word((int)start, names, sizeof names / sizeof *names);
}

const char *pol_sigma_update_name(pol_sigma_update update)
{
  static const char *const names[] = {[POL_SIGMA_EXACT] = "exact",
                                      [POL_SIGMA_INCREMENTAL] = "incremental",
                                      [POL_SIGMA_PRINTED] = "printed"};
  return word((int)update, names, sizeof names / sizeof *names);
}

const char *pol_published_newton_name(pol_published_newton newton)
{
  static const char *const names[] = {[POL_PUBLISHED_NEWTON_DEFAULT] = "default",
                                      [POL_PUBLISHED_NEWTON_PLAIN] = "plain",
                                      [POL_PUBLISHED_NEWTON_PLAIN_MODIFIED] = "plain-modified"};
  return word((int)newton, names, sizeof names / sizeof *names);
}

const char *pol_published_estimate_name(int estimate)
{
  static const char *const names[] = {"corrected", "printed"};
  return word(estimate, names, sizeof names / sizeof *names);
}

const char *pol_redundant_name(pol_redundant redundant)
{
  static const char *const names[] = {[POL_REDUNDANT_DROP] = "drop",
                                      [POL_REDUNDANT_REFUSE] = "refuse",
                                      [POL_REDUNDANT_MINIMUM_NORM] = "minimum-norm"};
  return word((int)redundant, names, sizeof names / sizeof *names);
}

const char *pol_guess_name(pol_guess guess)
{
  static const char *const names[] = {
      [POL_GUESS_ADVANCED] = "advanced", [POL_GUESS_SIMPLE] = "simple"};
  return word((int)guess, names, sizeof names / sizeof *names);
}

const char *pol_newton_kind_name(pol_newton_kind kind)
{
  static const char *const names[] = {[POL_NEWTON_FULL] = "full",
                                      [POL_NEWTON_SIMPLIFIED] = "simplified",
                                      [POL_NEWTON_MODIFIED] = "modified"};
  return word((int)kind, names, sizeof names / sizeof *names);
}

const char *pol_newton_stop_name(pol_newton_stop stop)
{
  static const char *const names[] = {[POL_STOP_BY_ERROR] = "error", [POL_STOP_TIGHT] = "tight"};
  return word((int)stop, names, sizeof names / sizeof *names);
}

const char *pol_solver_kind_name(pol_solver_kind kind)
{
  static const char *const names[] = {
      [POL_SOLVER_AUTO] = "auto", [POL_SOLVER_DENSE] = "dense", [POL_SOLVER_SPARSE] = "sparse"};
  return word((int)kind, names, sizeof names / sizeof *names);
}

const char *pol_controller_name(pol_controller controller)
{
  static const char *const names[] = {[POL_CONTROLLER_ELEMENTARY] = "elementary",
                                      [POL_CONTROLLER_PI] = "pi",
                                      [POL_CONTROLLER_REVERSIBLE] = "reversible"};
  return word((int)controller, names, sizeof names / sizeof *names);
}

/* --- parameters ------------------------------------------------------------------------------- */

void pol_options_set_rho_inf(pol_options *options, double rho_inf)
{
  options->alpha_m = (2.0 * rho_inf - 1.0) / (rho_inf + 1.0);
  options->alpha_f = rho_inf / (rho_inf + 1.0);
  options->gamma = 0.5 + options->alpha_f - options->alpha_m;
  options->beta = 0.25 * (options->gamma + 0.5) * (options->gamma + 0.5);
}

void pol_options_set_newmark(pol_options *options, double gamma, double beta)
{
  options->method = "newmark";
  options->alpha_m = options->alpha_f = 0.0;
  options->gamma = gamma;
  options->beta = beta;
}

void pol_options_set_hht(pol_options *options, double alpha)
{
  options->method = "hht";
  options->alpha_m = 0.0;
  options->alpha_f = -alpha;
  options->gamma = 0.5 - alpha;
  options->beta = 0.25 * (1.0 - alpha) * (1.0 - alpha);
}

pol_status pol_options_set_method(pol_options *options, const char *name)
{
  const pol_method *method = pol_method_find(name);
  if (!method) return POL_BAD_ARGUMENT;
  options->method = method->name;
  if (strcmp(name, "newmark") == 0) pol_options_set_newmark(options, 0.5, 0.25);
  if (strcmp(name, "hht") == 0) pol_options_set_hht(options, -0.3);
  return POL_OK;
}

pol_options pol_options_default(void)
{
  pol_options options = {
      .method = "geom1",
      .index = POL_INDEX_3,
      .order = 2,
      .theta = (double)NAN,
      .vartheta = (double)NAN,
      .newton = {.kind = POL_NEWTON_MODIFIED,
                 .tolerance = 1e-10,
                 .max_iterations = 30,
                 .refresh = 0.5,
                 .line_search = 8,
                 .matrix_interval = 1},
      .control = {.rtol = 1e-6, .atol_translation = 1e-6, .atol_rotation = 1e-6}};
  pol_options_set_rho_inf(&options, 0.9);
  return options;
}

static int is_size(double x)
{
  return isfinite(x) && x >= 0.0;
}

/* Where a lower order costs about as much as the next one on the models of docs/methods.md. */
static const struct {
  double least;
  int order;
} orders[] = {{3e-8, 4}, {1e-9, 6}, {0.0, 8}};

int pol_options_order(const pol_options *options)
{
  const pol_control *control = &options->control;
  const double tolerance =
      fmax(control->rtol, fmin(control->atol_rotation, control->atol_translation));
  if (options->order != 0) return options->order;
  int i = 0;
  while (tolerance < orders[i].least) i++;
  return orders[i].order;
}

static pol_status validate_control(const pol_control *o, char *message, size_t size)
{
  if (!is_size(o->rtol)) return poli_broken_rule("rtol must not be negative", message, size);
  if (!is_size(o->atol_translation) || !is_size(o->atol_rotation))
    return poli_broken_rule("atol must not be negative", message, size);
  if (o->rtol == 0.0 && (o->atol_translation == 0.0 || o->atol_rotation == 0.0))
    return poli_broken_rule("rtol and atol must not both be 0", message, size);
  if (!is_size(o->first_step) || !is_size(o->min_step) || !is_size(o->max_step) ||
      !is_size(o->span))
    return poli_broken_rule("first_step, min_step, max_step and span must not be negative", message,
                            size);
  if (o->max_step > 0.0 && o->min_step > o->max_step)
    return poli_broken_rule("min_step must not be above max_step", message, size);
  if (!pol_controller_name(o->controller))
    return poli_broken_rule("controller must be elementary, pi or reversible", message, size);
  if (o->controller == POL_CONTROLLER_REVERSIBLE && !(o->first_step > 0.0))
    return poli_broken_rule("first_step must be positive: reversible steps start with it", message,
                            size);
  return POL_OK;
}

static pol_status validate_published(const pol_published *o, char *message, size_t size)
{
  if (!pol_published_newton_name(o->newton))
    return poli_broken_rule("published.newton must be default, plain or plain-modified", message,
                            size);
  if (o->exact_iterations < 0)
    return poli_broken_rule("published.exact_iterations must not be negative", message, size);
  if (!pol_sigma_update_name(o->sigma_update))
    return poli_broken_rule("published.sigma_update must be exact, incremental or printed", message,
                            size);
  if (!pol_published_estimate_name(o->estimate))
    return poli_broken_rule("published.estimate must be corrected or printed", message, size);
  return POL_OK;
}

pol_status pol_options_validate(const pol_options *options, char *message, size_t size)
{
  const pol_newton_options *newton = &options->newton;
  const poli_method_entry *entry = options->method ? poli_method_entry_find(options->method) : NULL;
  if (!entry) return poli_broken_rule("method must be the name of a method", message, size);
  if (newton->kind < POL_NEWTON_FULL || newton->kind > POL_NEWTON_MODIFIED)
    return poli_broken_rule("newton.kind must be full, simplified or modified", message, size);
  if (!(newton->tolerance > 0.0 && newton->tolerance < 1.0))
    return poli_broken_rule("newton.tolerance must be between 0 and 1", message, size);
  if (newton->max_iterations < 1)
    return poli_broken_rule("newton.max_iterations must be at least 1", message, size);
  if (!(newton->refresh > 0.0 && newton->refresh <= 1.0))
    return poli_broken_rule("newton.refresh must be above 0 and at most 1", message, size);
  if (newton->stop < POL_STOP_BY_ERROR || newton->stop > POL_STOP_TIGHT)
    return poli_broken_rule("newton.stop must be error or tight", message, size);
  if (newton->line_search < 0)
    return poli_broken_rule("newton.line_search must not be negative", message, size);
  if (newton->fixed_iterations < 0)
    return poli_broken_rule("newton.fixed_iterations must not be negative", message, size);
  if (newton->fixed_iterations > 0 && newton->matrix_interval < 1)
    return poli_broken_rule("newton.matrix_interval must be at least 1", message, size);
  if (newton->fixed_iterations > 0 && entry->family != &poli_generalized_alpha)
    return poli_broken_rule("newton.fixed_iterations must be 0: this method iterates until it has "
                            "converged; generalized-alpha methods can do without",
                            message, size);
  if (validate_published(&options->published, message, size)) return POL_BAD_ARGUMENT;
  if (newton->fixed_iterations > 0 && poli_is_published_newton(&options->published))
    return poli_broken_rule("newton.fixed_iterations must be 0 with an iteration of published",
                            message, size);
  if (validate_control(&options->control, message, size)) return POL_BAD_ARGUMENT;
  if (options->order < 0 || options->order > 8 || options->order % 2 != 0)
    return poli_broken_rule("order must be 2, 4, 6, 8 or auto", message, size);
  if (options->solver < POL_SOLVER_AUTO || options->solver > POL_SOLVER_SPARSE)
    return poli_broken_rule("solver must be auto, dense or sparse", message, size);
  if (options->threads < 0 || options->threads > POLI_MAX_THREADS)
    return poli_broken_rule("threads must be from 0 to 256", message, size);
  if (options->redundant < POL_REDUNDANT_DROP || options->redundant > POL_REDUNDANT_MINIMUM_NORM)
    return poli_broken_rule("redundant must be drop, refuse or minimum-norm", message, size);
  return entry->family->validate(options, entry->variant, message, size);
}

/* Whether a word stands in a list with a blank between the words. */
static int has_word(const char *list, const char *word)
{
  size_t length = strlen(word);
  for (const char *p = list; (p = strstr(p, word)); p += length)
    if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0')) return 1;
  return 0;
}

/* Settings of other methods: one model file serves all of them, but nobody should think that they
 * do something. */
static void add_unused(const pol_options *o, const pol_method *method, char *message, size_t size)
{
  const pol_options d = pol_options_default();
  /* newmark and hht have parameters of their own */
  const int named = has_word(method->settings, "gamma") || has_word(method->settings, "alpha");
  const struct {
    const char *key;
    int given;
  } settings[] = {{"index", o->index != d.index},
                  {"start", o->start != d.start},
                  {"sigma", o->sigma != d.sigma || o->published.sigma_update != POL_SIGMA_EXACT},
                  {"rho_inf", !named && (o->alpha_m != d.alpha_m || o->alpha_f != d.alpha_f ||
                                         o->beta != d.beta || o->gamma != d.gamma)},
                  {"theta", !isnan(o->theta)},
                  {"vartheta", !isnan(o->vartheta)},
                  {"guess", o->guess != d.guess},
                  {"order", o->order != d.order}};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    size_t used = strlen(message);
    if (settings[i].given && !has_word(method->settings, settings[i].key))
      snprintf(message + used, size - used, "%s%s has no effect on %s", used ? "; " : "",
               settings[i].key, method->name);
  }
}

int pol_options_warning(const pol_options *options, char *message, size_t size)
{
  const poli_method_entry *entry = poli_method_entry_find(options->method);
  message[0] = '\0';
  entry->family->warn(options, entry->variant, message, size);
  add_unused(options, &entry->method, message, size);
  return message[0] != '\0';
}

/* Largest |x| of x^2 - trace x + det = 0. */
static double spectral_radius(double trace, double det)
{
  double square = 0.25 * trace * trace - det;
  return square < 0.0 ? sqrt(det) : 0.5 * fabs(trace) + sqrt(square);
}

poli_amplification poli_constraint_amplification(const pol_options *o)
{
  return (poli_amplification){.of_vd = fabs(o->alpha_f / (1.0 - o->alpha_f)),
                              .of_a = o->index == POL_INDEX_3
                                          ? spectral_radius(2.0 - (o->gamma + 0.5) / o->beta,
                                                            1.0 - (o->gamma - 0.5) / o->beta)
                                          : fabs((1.0 - o->gamma) / o->gamma)};
}

/* Relative to the size of a coordinate, which is 1 for rotations: some thousand units in the last
 * place, above which the estimate of the error is more than round-off. */
static const double smallest_tolerance = 1e-12;

int pol_options_adapt_warning(const pol_options *options, char *message, size_t size)
{
  const double damped = 0.999;
  const pol_control *control = &options->control;
  const poli_amplification factor = poli_constraint_amplification(options);
  const int alpha = poli_method_entry_find(options->method)->family == &poli_generalized_alpha;
  const int undamped = alpha && fmax(factor.of_vd, factor.of_a) > damped;
  const int too_fine = control->controller != POL_CONTROLLER_REVERSIBLE &&
                       fmax(control->rtol, control->atol_rotation) < smallest_tolerance;
  snprintf(message, size, "%s%s%s",
           undamped ? "without numerical damping every change of the step size excites undamped "
                      "oscillations of accelerations and multipliers: variable steps need many "
                      "steps; use hht, or rho_inf below 1"
                    : "",
           undamped && too_fine ? "; " : "",
           too_fine ? "rtol and atol are below 1e-12, the smallest that can be met: the estimated "
                      "error is then round-off"
                    : "");
  return undamped || too_fine;
}
