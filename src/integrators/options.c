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
  if (newton->kind < POL_NEWTON_FULL || newton->kind > POL_NEWTON_MODIFIED)
    return pol_broken_rule("newton.kind must be full, simplified or modified", message, size);
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

/* Appends a sentence to those before. */
static void add_sentence(const char *sentence, char *message, size_t size)
{
  size_t used = strlen(message);
  snprintf(message + used, size - used, "%s%s", used ? "; " : "", sentence);
}

int pol_options_warning(const pol_options *options, char *message, size_t size)
{
  const pol_options *o = options;
  const double round_off = 1e-12;
  message[0] = '\0';
  if (fabs(o->gamma - (0.5 + o->alpha_f - o->alpha_m)) > round_off)
    add_sentence("gamma is not 1/2 + alpha_f - alpha_m: the method is of first order", message,
                 size);
  if (o->alpha_m > o->alpha_f + round_off || o->alpha_f > 0.5 + round_off ||
      o->beta < 0.25 + 0.5 * (o->alpha_f - o->alpha_m) - round_off)
    add_sentence("alpha_m <= alpha_f <= 1/2 and beta >= 1/4 + (alpha_f - alpha_m)/2 do not hold: "
                 "the method is not unconditionally stable",
                 message, size);
  return message[0] != '\0';
}
