/* The settings of a simulation: their defaults, and the rules that they must keep. */
#include <math.h>

#include <polhode/simulation.h>

#include "base/rule.h"

/* More steps than this cannot be counted exactly in a double. */
static const double max_steps = 9e15;

pol_settings pol_settings_default(void)
{
  pol_settings settings = {
      .formulation = POL_SO3XR3, .options = pol_options_default(), .step = 1e-3, .end = 1.0};
  return settings;
}

static pol_status validate_output(const pol_settings *settings, char *message, size_t size)
{
  const pol_output *output = &settings->output;
  if (!(isfinite(output->step) && output->step >= 0.0))
    return poli_broken_rule("output.step must not be negative", message, size);
  if (output->step > 0.0 && settings->end / output->step > max_steps)
    return poli_broken_rule("output.step must not be so small that the rows cannot be counted",
                            message, size);
  if (output->count < 0 || (output->count > 0 && output->step > 0.0))
    return poli_broken_rule("output must have a step or a list of times", message, size);
  double last = 0.0;
  for (int i = 0; i < output->count; i++) {
    if (!(output->times[i] > last && output->times[i] <= settings->end))
      return poli_broken_rule("output.times must ascend from above 0 to end at most", message,
                              size);
    last = output->times[i];
  }
  return POL_OK;
}

pol_status pol_settings_validate(const pol_settings *settings, char *message, size_t size)
{
  if ((int)settings->formulation < 0 || (int)settings->formulation >= pol_formulation_count())
    return poli_broken_rule("formulation must be one of the formulations", message, size);
  if (!settings->variable && !(isfinite(settings->step) && settings->step > 0.0))
    return poli_broken_rule("step must be a positive number", message, size);
  if (!(isfinite(settings->end) && settings->end > 0.0))
    return poli_broken_rule("end must be a positive number", message, size);
  if (!settings->variable && settings->step > (1.0 + 1e-9) * settings->end)
    return poli_broken_rule("step must not be longer than end", message, size);
  if (!settings->variable && settings->end / settings->step > max_steps)
    return poli_broken_rule("step must not be so small that the steps cannot be counted", message,
                            size);
  if (validate_output(settings, message, size) != POL_OK) return POL_BAD_ARGUMENT;
  pol_status status = pol_options_validate(&settings->options, message, size);
  if (status == POL_OK && settings->variable && !pol_method_adapts(settings->options.method))
    return poli_broken_rule("steps must be fixed: this method has no error estimate", message,
                            size);
  return status;
}
