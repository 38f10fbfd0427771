/* Steps of variable size and output times in a model file: the tables of "control" and "output" and
 * the reader of "atol", keys of "simulation". */
#include <stdlib.h>
#include <string.h>

#include "io/model_parts.h"
#include "io/model_rules.h"

/* --- tolerances ------------------------------------------------------------------------------- */

static const pol_field atol_fields[] = {
    {"translation", pol_read_number, offsetof(pol_model_simulation, atol[0]), POL_REQUIRED,
     pol_not_negative_rule, &pol_not_negative},
    {"rotation", pol_read_number, offsetof(pol_model_simulation, atol[1]), POL_REQUIRED,
     pol_not_negative_rule, &pol_not_negative},
    {.key = NULL},
};

static const pol_kind atol_kind = {
    .rule = "must be a number, or an object with \"translation\" and \"rotation\"",
    .fields = atol_fields,
    .size = sizeof(pol_model_simulation),
};

void pol_read_atol(pol_reader *reader, const pol_place *place, const pol_field *field, void *target)
{
  static const pol_field by_kind = {.key = "atol", .detail = &atol_kind};
  pol_model_simulation *simulation = target;
  if (!json_is_number(place->value)) {
    pol_read_object(reader, place, &by_kind, simulation);
    return;
  }
  simulation->atol[0] = simulation->atol[1] = json_number_value(place->value);
  if (!(simulation->atol[0] >= 0.0)) pol_report(reader, place, "", "%s", field->rule);
}

/* --- control ---------------------------------------------------------------------------------- */

static const char *controller_choice(int number)
{
  static const char *const names[] = {"elementary", "pi"};
  return number < 2 ? names[number] : NULL;
}

static const char *algorithm_choice(int number)
{
  static const char *const names[] = {"corrected", "published"};
  return number < 2 ? names[number] : NULL;
}

static const pol_choices controllers = {controller_choice};
static const pol_choices algorithms = {algorithm_choice};

#define CONTROL(member) offsetof(pol_model_simulation, settings.options.control.member)

static const pol_field control_fields[] = {
    {"first_step", pol_read_number, CONTROL(first_step), POL_OPTIONAL, pol_positive_rule,
     &pol_positive},
    {"min_step", pol_read_number, CONTROL(min_step), POL_OPTIONAL, pol_positive_rule,
     &pol_positive},
    {"max_step", pol_read_number, CONTROL(max_step), POL_OPTIONAL, pol_positive_rule,
     &pol_positive},
    {"controller", pol_read_choice, CONTROL(pi), POL_OPTIONAL, "", &controllers},
    {"algorithm", pol_read_choice, CONTROL(published), POL_OPTIONAL, "", &algorithms},
    {.key = NULL},
};

#undef CONTROL

static void check_control(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  const pol_control *control = &((const pol_model_simulation *)object)->settings.options.control;
  const pol_place at = pol_place_key(place, "min_step");
  if (sound && control->max_step > 0.0 && control->min_step > control->max_step)
    pol_report(reader, &at, "", "must not be above max_step, which is %.10g", control->max_step);
}

const pol_kind pol_control_kind = {
    .rule = "must be an object of options for steps of variable size",
    .fields = control_fields,
    .size = sizeof(pol_model_simulation),
    .check = check_control,
};

/* --- output ----------------------------------------------------------------------------------- */

/* const json_t *: a list of numbers that ascend from above 0, borrowed */
static void read_times(pol_reader *reader, const pol_place *place, const pol_field *field,
                       void *target)
{
  double last = 0.0;
  if (!json_is_array(place->value) || json_array_size(place->value) == 0) {
    pol_report(reader, place, "", "%s", field->rule);
    return;
  }
  *(const json_t **)target = place->value;
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const pol_place item = pol_place_item(place, i);
    if (!json_is_number(item.value))
      pol_report(reader, &item, "", "%s", pol_number_rule);
    else if (!(json_number_value(item.value) > last))
      pol_report(reader, &item, "", "must be above %s", i ? "the time before" : "0");
    last = json_number_value(item.value);
  }
}

static const pol_field output_fields[] = {
    {"step", pol_read_number, offsetof(pol_model_simulation, settings.output.step), POL_OPTIONAL,
     pol_positive_rule, &pol_positive},
    {"times", read_times, offsetof(pol_model_simulation, output_times), POL_OPTIONAL,
     "must be a list of one or more ascending times", NULL},
    {.key = NULL},
};

static void check_output(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  const pol_place times = pol_place_key(place, "times");
  (void)object;
  (void)sound;
  if (times.value && pol_given(place, "step"))
    pol_report(reader, &times, "", "must not stand beside \"step\"");
  if (!times.value && !pol_given(place, "step"))
    pol_report_missing(reader, place, output_fields, "step", "a positive number, or \"times\"");
}

const pol_kind pol_output_kind = {
    .rule = "must be an object with \"step\" or \"times\"",
    .fields = output_fields,
    .size = sizeof(pol_model_simulation),
    .check = check_output,
};

/* --- all together ----------------------------------------------------------------------------- */

void pol_settle_control(pol_reader *reader, const pol_place *place,
                        pol_model_simulation *simulation, int sound)
{
  pol_settings *settings = &simulation->settings;
  pol_control *control = &settings->options.control;
  const int rtol = pol_given(place, "rtol"), atol = pol_given(place, "atol");
  settings->variable = rtol || atol;
  if (pol_given(place, "steps") && simulation->steps >= 0)
    settings->variable = simulation->steps == 1;
  if (atol) {
    control->atol_translation = simulation->atol[0];
    control->atol_rotation = simulation->atol[1];
    if (!rtol) control->rtol = 0.0;
  } else if (rtol) {
    control->atol_translation = control->atol_rotation = control->rtol;
  }

  const pol_place output = pol_place_key(place, "output");
  const pol_place times = pol_place_key(&output, "times");
  const size_t count = json_array_size(simulation->output_times);
  if (count == 0 || !sound) return;
  const pol_place last = pol_place_item(&times, count - 1);
  if (json_number_value(last.value) > settings->end)
    pol_report(reader, &last, "", "must not be above the end of the run, %.10g", settings->end);
}

pol_status pol_copy_output_times(const pol_model_simulation *simulation, pol_model *model)
{
  const size_t count = json_array_size(simulation->output_times);
  if (count == 0) return POL_OK;
  model->output_times = malloc(count * sizeof *model->output_times);
  if (!model->output_times) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    model->output_times[i] = json_number_value(json_array_get(simulation->output_times, i));
  model->settings.output.count = (int)count;
  model->settings.output.times = model->output_times;
  return POL_OK;
}
