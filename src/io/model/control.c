/* Steps of variable size and output times in a model file: the tables of "control" and "output" and
 * the reader of "atol", keys of "simulation". */
#include <stdlib.h>
#include <string.h>

#include "io/model/parts.h"
#include "io/model/rules.h"

/* --- tolerances ------------------------------------------------------------------------------- */

static const poli_field atol_fields[] = {
    {"translation", poli_read_number, offsetof(poli_model_simulation, atol[0]), POLI_REQUIRED,
     poli_not_negative_rule, &poli_not_negative},
    {"rotation", poli_read_number, offsetof(poli_model_simulation, atol[1]), POLI_REQUIRED,
     poli_not_negative_rule, &poli_not_negative},
    {.key = NULL},
};

static const poli_kind atol_kind = {
    .rule = "must be a number, or an object with \"translation\" and \"rotation\"",
    .fields = atol_fields,
    .size = sizeof(poli_model_simulation),
};

void poli_read_atol(poli_reader *reader, const poli_place *place, const poli_field *field,
                    void *target)
{
  static const poli_field by_kind = {.key = "atol", .detail = &atol_kind};
  poli_model_simulation *simulation = target;
  if (!json_is_number(place->value)) {
    poli_read_object(reader, place, &by_kind, simulation);
    return;
  }
  simulation->atol[0] = simulation->atol[1] = json_number_value(place->value);
  if (!(simulation->atol[0] >= 0.0)) poli_report(reader, place, "", "%s", field->rule);
}

/* --- control ---------------------------------------------------------------------------------- */

static const char *controller_choice(int number)
{
  static const char *const names[] = {"elementary", "pi"};
  return number < 2 ? names[number] : NULL;
}

static const poli_choices controllers = {controller_choice};

#define CONTROL(member) offsetof(poli_model_simulation, settings.options.control.member)

static const poli_field control_fields[] = {
    {"first_step", poli_read_number, CONTROL(first_step), POLI_OPTIONAL, poli_positive_rule,
     &poli_positive},
    {"min_step", poli_read_number, CONTROL(min_step), POLI_OPTIONAL, poli_positive_rule,
     &poli_positive},
    {"max_step", poli_read_number, CONTROL(max_step), POLI_OPTIONAL, poli_positive_rule,
     &poli_positive},
    {"controller", poli_read_choice, CONTROL(pi), POLI_OPTIONAL, "", &controllers},
    {.key = NULL},
};

#undef CONTROL

static void check_control(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const pol_control *control = &((const poli_model_simulation *)object)->settings.options.control;
  const poli_place at = poli_place_key(place, "min_step");
  if (sound && control->max_step > 0.0 && control->min_step > control->max_step)
    poli_report(reader, &at, "", "must not be above max_step, which is %.10g", control->max_step);
}

const poli_kind poli_control_kind = {
    .rule = "must be an object of options for steps of variable size",
    .fields = control_fields,
    .size = sizeof(poli_model_simulation),
    .check = check_control,
};

/* --- output ----------------------------------------------------------------------------------- */

/* const json_t *: a list of numbers that ascend from above 0, borrowed */
static void read_times(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  double last = 0.0;
  if (!json_is_array(place->value) || json_array_size(place->value) == 0) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  *(const json_t **)target = place->value;
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    if (!json_is_number(item.value))
      poli_report(reader, &item, "", "%s", poli_number_rule);
    else if (!(json_number_value(item.value) > last))
      poli_report(reader, &item, "", "must be above %s", i ? "the time before" : "0");
    last = json_number_value(item.value);
  }
}

static const poli_field output_fields[] = {
    {"step", poli_read_number, offsetof(poli_model_simulation, settings.output.step), POLI_OPTIONAL,
     poli_positive_rule, &poli_positive},
    {"times", read_times, offsetof(poli_model_simulation, output_times), POLI_OPTIONAL,
     "must be a list of one or more ascending times", NULL},
    {.key = NULL},
};

static void check_output(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_place times = poli_place_key(place, "times");
  (void)object;
  (void)sound;
  if (times.value && poli_given(place, "step"))
    poli_report(reader, &times, "", "must not stand beside \"step\"");
  if (!times.value && !poli_given(place, "step"))
    poli_report_missing(reader, place, output_fields, "step", "a positive number, or \"times\"");
}

const poli_kind poli_output_kind = {
    .rule = "must be an object with \"step\" or \"times\"",
    .fields = output_fields,
    .size = sizeof(poli_model_simulation),
    .check = check_output,
};

/* --- all together ----------------------------------------------------------------------------- */

void poli_settle_control(poli_reader *reader, const poli_place *place,
                         poli_model_simulation *simulation, int sound)
{
  pol_settings *settings = &simulation->settings;
  pol_control *control = &settings->options.control;
  const int rtol = poli_given(place, "rtol"), atol = poli_given(place, "atol");
  settings->variable = rtol || atol;
  if (poli_given(place, "steps") && simulation->steps >= 0)
    settings->variable = simulation->steps == 1;
  if (atol) {
    control->atol_translation = simulation->atol[0];
    control->atol_rotation = simulation->atol[1];
    if (!rtol) control->rtol = 0.0;
  } else if (rtol) {
    control->atol_translation = control->atol_rotation = control->rtol;
  }

  const poli_place output = poli_place_key(place, "output");
  const poli_place times = poli_place_key(&output, "times");
  const size_t count = json_array_size(simulation->output_times);
  if (count == 0 || !sound) return;
  const poli_place last = poli_place_item(&times, count - 1);
  if (json_number_value(last.value) > settings->end)
    poli_report(reader, &last, "", "must not be above the end of the run, %.10g", settings->end);
}

pol_status poli_copy_output_times(const poli_model_simulation *simulation, pol_model *model)
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
