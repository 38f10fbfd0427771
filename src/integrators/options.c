/* Options of the integrators: defaults and rules. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rule.h"
#include "integrators/family.h"

void pol_options_set_rho_inf(pol_options *options, double rho_inf)
{
  options->alpha_m = (2.0 * rho_inf - 1.0) / (rho_inf + 1.0);
  options->alpha_f = rho_inf / (rho_inf + 1.0);
  options->gamma = 0.5 + options->alpha_f - options->alpha_m;
  options->beta = 0.25 * (options->gamma + 0.5) * (options->gamma + 0.5);
}

pol_options pol_options_default(void)
{
  pol_options options = {.method = "geom1",
                         .index = POL_INDEX_3,
                         .theta = NAN,
                         .vartheta = NAN,
                         .newton = {.kind = POL_NEWTON_MODIFIED,
                                    .tolerance = 1e-10,
                                    .max_iterations = 30,
                                    .refresh = 0.5,
                                    .line_search = 8}};
  pol_options_set_rho_inf(&options, 0.9);
  return options;
}

pol_status pol_options_validate(const pol_options *options, char *message, size_t size)
{
  const pol_newton_options *newton = &options->newton;
  const pol_method_entry *entry = options->method ? pol_method_entry_find(options->method) : NULL;
  if (!entry) return pol_broken_rule("method must be the name of a method", message, size);
  if (newton->kind < POL_NEWTON_FULL || newton->kind > POL_NEWTON_PLAIN)
    return pol_broken_rule("newton.kind must be full, simplified, modified or plain", message,
                           size);
  if (!(newton->tolerance > 0.0 && newton->tolerance < 1.0))
    return pol_broken_rule("newton.tolerance must be between 0 and 1", message, size);
  if (newton->max_iterations < 1)
    return pol_broken_rule("newton.max_iterations must be at least 1", message, size);
  if (!(newton->refresh > 0.0 && newton->refresh <= 1.0))
    return pol_broken_rule("newton.refresh must be above 0 and at most 1", message, size);
  if (newton->line_search < 0)
    return pol_broken_rule("newton.line_search must not be negative", message, size);
  if (options->solver < POL_SOLVER_AUTO || options->solver > POL_SOLVER_SPARSE)
    return pol_broken_rule("solver must be auto, dense or sparse", message, size);
  if (options->redundant < POL_REDUNDANT_DROP || options->redundant > POL_REDUNDANT_MINIMUM_NORM)
    return pol_broken_rule("redundant must be drop, refuse or minimum-norm", message, size);
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
  const struct {
    const char *key;
    int given;
  } settings[] = {{"index", o->index != d.index},
                  {"start", o->start != d.start},
                  {"sigma", o->sigma != d.sigma || o->sigma_update != d.sigma_update},
                  {"rho_inf", o->alpha_m != d.alpha_m || o->alpha_f != d.alpha_f ||
                                  o->beta != d.beta || o->gamma != d.gamma},
                  {"theta", !isnan(o->theta)},
                  {"vartheta", !isnan(o->vartheta)},
                  {"guess", o->guess != d.guess}};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    size_t used = strlen(message);
    if (settings[i].given && !has_word(method->settings, settings[i].key))
      snprintf(message + used, size - used, "%s%s has no effect on %s", used ? "; " : "",
               settings[i].key, method->name);
  }
}

int pol_options_warning(const pol_options *options, char *message, size_t size)
{
  const pol_method_entry *entry = pol_method_entry_find(options->method);
  message[0] = '\0';
  entry->family->warn(options, entry->variant, message, size);
  add_unused(options, &entry->method, message, size);
  return message[0] != '\0';
}
