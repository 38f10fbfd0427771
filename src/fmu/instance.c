/* The life of an instance: model and simulation, phases, steps, values.
 *
 * The simulation is created when it is needed, at the latest at the end of the initialization, with
 * the parameters and inputs that have been set; values that nobody has set are those of the model.
 */
#include "fmu/instance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/file/file.h"

poli_fmu_result poli_fmu_report(const poli_fmu_instance *instance, poli_fmu_result result,
                                const char *format, ...)
{
  char message[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  instance->logger(instance->user, result, message);
  return result;
}

static poli_fmu_result no_memory(const poli_fmu_instance *instance)
{
  return poli_fmu_report(instance, POLI_FMU_ERROR, "%s", pol_status_text(POL_NO_MEMORY));
}

/* --- model and simulation --------------------------------------------------------------------- */

static void free_simulation(poli_fmu_instance *instance)
{
  pol_record_free(&instance->record);
  pol_simulation_free(&instance->simulation);
}

/* Reads the model with the parameters that are set. */
static poli_fmu_result read_model(poli_fmu_instance *instance)
{
  pol_errors errors = {0};
  pol_model_free(&instance->model);
  const pol_status status =
      poli_fmu_read_model(&instance->plan, instance->text, instance->parameters, &instance->model,
                          instance->variables, &errors);
  for (int i = 0; i < errors.count; i++) {
    char line[800];
    pol_error_text(&errors.items[i], line, sizeof line);
    poli_fmu_report(instance, POLI_FMU_ERROR, "%s", line);
  }
  if (status != POL_OK && errors.count == 0)
    poli_fmu_report(instance, POLI_FMU_ERROR, "the model: %s", pol_status_text(status));
  pol_errors_clear(&errors);
  return status == POL_OK ? POLI_FMU_OK : POLI_FMU_ERROR;
}

/* The settings of the model, to the stop time if this is later, or without an end. */
static pol_settings span_settings(const poli_fmu_instance *instance)
{
  pol_settings settings = instance->model->settings;
  const double end = settings.end, many = 1e6;
  if (!isnan(instance->stop)) {
    settings.end = fmax(end, instance->stop);
  } else {
    settings.end = many * end;
    if (settings.options.control.span == 0.0) settings.options.control.span = end;
  }
  return settings;
}

/* Finds the channels of the outputs, and room for a row. */
static pol_status find_channels(poli_fmu_instance *instance)
{
  const int count = pol_record_count(instance->record);
  double *row = realloc(instance->row, (size_t)count * sizeof *row);
  if (row == NULL) return POL_NO_MEMORY;
  instance->row = row;
  for (int k = 0; k < instance->plan.outputs.count; k++) {
    int i = 0;
    while (i < count && strcmp(pol_record_channel(instance->record, i)->name,
                               instance->plan.outputs.items[k]) != 0)
      i++;
    if (i == count) return POL_BAD_ARGUMENT;
    instance->channels[k] = i;
  }
  return POL_OK;
}

static poli_fmu_result create_simulation(poli_fmu_instance *instance)
{
  pol_diagnostics why = {0};
  const pol_settings settings = span_settings(instance);
  pol_status status = POL_OK;
  for (int i = 0; i < instance->plan.inputs.count && status == POL_OK; i++)
    if (!isnan(instance->inputs[i]))
      status = pol_mechanism_set_input(instance->model->mechanism, instance->variables[i],
                                       instance->inputs[i]);
  if (status == POL_OK)
    status =
        pol_simulation_create(&instance->simulation, instance->model->mechanism, &settings, &why);
  if (status == POL_OK) status = pol_record_create(&instance->record, instance->simulation);
  if (status == POL_OK) status = find_channels(instance);
  instance->row_valid = 0;
  if (status == POL_OK) return POLI_FMU_OK;
  free_simulation(instance);
  return poli_fmu_report(instance, POLI_FMU_ERROR, "the simulation cannot start: %s%s%s",
                         pol_status_text(status), why.message[0] != '\0' ? ": " : "", why.message);
}

poli_fmu_result poli_fmu_prepare(poli_fmu_instance *instance)
{
  if (instance->stale == 0) return POLI_FMU_OK;
  free_simulation(instance);
  poli_fmu_result result = POLI_FMU_OK;
  if (instance->stale == 2 || instance->model == NULL) result = read_model(instance);
  if (result == POLI_FMU_OK) result = create_simulation(instance);
  instance->stale = result == POLI_FMU_OK ? 0 : 2;
  return result;
}

/* --- life ------------------------------------------------------------------------------------- */

static poli_fmu_result read_resource(const poli_fmu_instance *instance, const char *folder,
                                     const char *name, char **text)
{
  size_t size, length = strlen(folder);
  char *path =
      poli_format("%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
  if (path == NULL) return no_memory(instance);
  const pol_status status = poli_read_file(path, text, &size);
  poli_fmu_result result = POLI_FMU_OK;
  if (status != POL_OK)
    result = poli_fmu_report(instance, POLI_FMU_ERROR, "%s: %s", path, pol_status_text(status));
  free(path);
  return result;
}

/* Reads the plan and the text of the model, and makes room for the values. */
static poli_fmu_result read_files(poli_fmu_instance *instance, const char *folder,
                                  const char *token)
{
  char *plan = NULL;
  poli_fmu_result result = read_resource(instance, folder, "fmu.json", &plan);
  if (result == POLI_FMU_OK)
    result = read_resource(instance, folder, "model.json", &instance->text);
  const pol_status status =
      result == POLI_FMU_OK ? poli_fmu_plan_parse(&instance->plan, plan) : POL_OK;
  free(plan);
  if (result != POLI_FMU_OK) return result;
  if (status == POL_NO_MEMORY) return no_memory(instance);
  if (status != POL_OK)
    return poli_fmu_report(instance, POLI_FMU_ERROR, "fmu.json in the resources is not valid");
  if (token == NULL || strcmp(token, instance->plan.token) != 0)
    return poli_fmu_report(
        instance, POLI_FMU_ERROR,
        "the guid or instantiation token '%s' is not that of the resources, '%s'",
        token != NULL ? token : "", instance->plan.token);
  const size_t inputs = (size_t)instance->plan.inputs.count + 1,
               parameters = (size_t)instance->plan.parameters.count + 1;
  instance->parameters = malloc(parameters * sizeof(double));
  instance->inputs = malloc(inputs * sizeof(double));
  instance->variables = malloc(inputs * sizeof(int));
  instance->channels = malloc(((size_t)instance->plan.outputs.count + 1) * sizeof(int));
  if (instance->parameters == NULL || instance->inputs == NULL || instance->variables == NULL ||
      instance->channels == NULL)
    return no_memory(instance);
  return POLI_FMU_OK;
}

poli_fmu_result poli_fmu_reset(poli_fmu_instance *instance)
{
  for (int i = 0; i < instance->plan.parameters.count; i++) instance->parameters[i] = NAN;
  for (int i = 0; i < instance->plan.inputs.count; i++) instance->inputs[i] = NAN;
  instance->stop = NAN;
  instance->t = 0.0;
  instance->ended = 0;
  instance->phase = POLI_FMU_INSTANTIATED;
  instance->stale = 2;
  return poli_fmu_prepare(instance);
}

poli_fmu_instance *poli_fmu_create(const char *resources, const char *token,
                                   poli_fmu_logger *logger, void *user)
{
  poli_fmu_instance *instance = calloc(1, sizeof *instance);
  const poli_fmu_instance nobody = {.logger = logger, .user = user};
  if (instance == NULL) {
    no_memory(&nobody);
    return NULL;
  }
  instance->logger = logger;
  instance->user = user;
  if (read_files(instance, resources, token) == POLI_FMU_OK &&
      poli_fmu_reset(instance) == POLI_FMU_OK)
    return instance;
  poli_fmu_free(instance);
  return NULL;
}

void poli_fmu_free(poli_fmu_instance *instance)
{
  if (instance == NULL) return;
  free_simulation(instance);
  pol_model_free(&instance->model);
  poli_fmu_plan_clear(&instance->plan);
  free(instance->text);
  free(instance->parameters);
  free(instance->inputs);
  free(instance->variables);
  free(instance->channels);
  free(instance->row);
  free(instance);
}

/* --- phases ----------------------------------------------------------------------------------- */

static const char *const phase_names[] = {"instantiated", "in its initialization", "between steps",
                                          "terminated", "failed"};

/* Refuses a call in another phase than this. */
static poli_fmu_result expect_phase(const poli_fmu_instance *instance, poli_fmu_phase phase,
                                    const char *call)
{
  if (instance->phase == phase) return POLI_FMU_OK;
  return poli_fmu_report(instance, POLI_FMU_ERROR, "%s: the instance must be %s, but it is %s",
                         call, phase_names[phase], phase_names[instance->phase]);
}

poli_fmu_result poli_fmu_span(poli_fmu_instance *instance, double start, double stop)
{
  if (expect_phase(instance, POLI_FMU_INSTANTIATED, "the time span") != POLI_FMU_OK)
    return POLI_FMU_ERROR;
  if (start != 0.0)
    return poli_fmu_report(instance, POLI_FMU_ERROR,
                           "the start time must be 0, where the model starts, not %g", start);
  if (!isnan(stop) && !(isfinite(stop) && stop > 0.0))
    return poli_fmu_report(instance, POLI_FMU_ERROR,
                           "the stop time must be after the start, not %g", stop);
  instance->stop = stop;
  if (instance->stale == 0) instance->stale = 1;
  return POLI_FMU_OK;
}

poli_fmu_result poli_fmu_enter_initialization(poli_fmu_instance *instance)
{
  const poli_fmu_result result = expect_phase(instance, POLI_FMU_INSTANTIATED, "initialization");
  if (result == POLI_FMU_OK) instance->phase = POLI_FMU_INITIALIZING;
  return result;
}

poli_fmu_result poli_fmu_exit_initialization(poli_fmu_instance *instance)
{
  poli_fmu_result result =
      expect_phase(instance, POLI_FMU_INITIALIZING, "end of the initialization");
  if (result != POLI_FMU_OK) return result;
  result = poli_fmu_prepare(instance);
  instance->phase = result == POLI_FMU_OK ? POLI_FMU_STEPPING : POLI_FMU_FAILED;
  return result;
}

poli_fmu_result poli_fmu_terminate(poli_fmu_instance *instance)
{
  const poli_fmu_result result = expect_phase(instance, POLI_FMU_STEPPING, "terminate");
  if (result == POLI_FMU_OK) instance->phase = POLI_FMU_TERMINATED;
  return result;
}

poli_fmu_result poli_fmu_step(poli_fmu_instance *instance, double t, double h)
{
  const double near = 1e-9; /* of the time: importers add up their steps */
  pol_simulation *sim = instance->simulation;
  if (expect_phase(instance, POLI_FMU_STEPPING, "a step") != POLI_FMU_OK) return POLI_FMU_ERROR;
  if (!isfinite(h) || h <= 0.0)
    return poli_fmu_report(instance, POLI_FMU_ERROR, "the step size must be positive, not %g", h);
  if (!(fabs(t - instance->t) <= near * fmax(h, fabs(t))))
    return poli_fmu_report(instance, POLI_FMU_ERROR,
                           "the step must start at %.17g, where the last one ended, not at %.17g",
                           instance->t, t);
  if (pol_simulation_finished(sim)) {
    instance->ended = 1;
    return poli_fmu_report(instance, POLI_FMU_DISCARD, "the run has ended at %.17g", instance->t);
  }
  instance->row_valid = 0;
  const pol_status status = pol_simulation_step_to(sim, t + h);
  if (status != POL_OK) {
    const pol_diagnostics *why = pol_simulation_diagnostics(sim);
    if (status != POL_BAD_ARGUMENT) instance->phase = POLI_FMU_FAILED;
    return poli_fmu_report(instance, POLI_FMU_ERROR, "the step from %.17g to %.17g: %s: %s", t,
                           t + h, pol_status_text(status), why->message);
  }
  instance->t = t + h;
  const double reached = pol_simulation_state(sim)->t;
  if (!pol_simulation_finished(sim) || fabs(reached - (t + h)) <= 1e-6 * h) return POLI_FMU_OK;
  instance->t = reached;
  instance->ended = 1;
  return poli_fmu_report(instance, POLI_FMU_DISCARD, "an event has ended the run at %.17g",
                         reached);
}

/* --- values ----------------------------------------------------------------------------------- */

/* The list of names that a reference belongs to, and *index in it. */
typedef enum list { TIME, INPUT, PARAMETER, OUTPUT, NONE } list;

static list find_reference(const poli_fmu_instance *instance, unsigned int reference, int *index)
{
  const int counts[] = {1, instance->plan.inputs.count, instance->plan.parameters.count,
                        instance->plan.outputs.count};
  unsigned int first = 0;
  for (int i = 0; i < 4; i++) {
    *index = (int)(reference - first);
    if (reference - first < (unsigned int)counts[i]) return (list)i;
    first += (unsigned int)counts[i];
  }
  return NONE;
}

static double parameter_value(const poli_fmu_instance *instance, int k)
{
  const pol_model *model = instance->model;
  for (int i = 0; i < model->num_parameters; i++)
    if (strcmp(model->parameters[i].name, instance->plan.parameters.items[k]) == 0)
      return model->parameters[i].value;
  return NAN;
}

static double output_value(poli_fmu_instance *instance, int k)
{
  if (!instance->row_valid) pol_record_row(instance->record, instance->row);
  instance->row_valid = 1;
  return instance->row[instance->channels[k]];
}

poli_fmu_result poli_fmu_get(poli_fmu_instance *instance, const unsigned int *references,
                             size_t count, double *values)
{
  if (poli_fmu_prepare(instance) != POLI_FMU_OK) return POLI_FMU_ERROR;
  for (size_t i = 0; i < count; i++) {
    int k;
    switch (find_reference(instance, references[i], &k)) {
    case TIME:
      values[i] = instance->t;
      break;
    case INPUT:
      values[i] = pol_simulation_input(instance->simulation, instance->variables[k]);
      break;
    case PARAMETER:
      values[i] = parameter_value(instance, k);
      break;
    case OUTPUT:
      values[i] = output_value(instance, k);
      break;
    default:
      return poli_fmu_report(instance, POLI_FMU_ERROR, "there is no variable with the reference %u",
                             references[i]);
    }
  }
  return POLI_FMU_OK;
}

/* Sets a value that the run starts with; nothing changes if it has it already. */
static poli_fmu_result set_start(poli_fmu_instance *instance, unsigned int reference, list which,
                                 int k, double value)
{
  double now = NAN;
  if (poli_fmu_get(instance, &reference, 1, &now) != POLI_FMU_OK) return POLI_FMU_ERROR;
  if (now == value) return POLI_FMU_OK;
  if (which == INPUT) instance->inputs[k] = value;
  if (which == PARAMETER) instance->parameters[k] = value;
  const int stale = which == PARAMETER ? 2 : 1;
  if (stale > instance->stale) instance->stale = stale;
  return POLI_FMU_OK;
}

static poli_fmu_result set_input(poli_fmu_instance *instance, int k, double value)
{
  pol_simulation *sim = instance->simulation;
  const int variable = instance->variables[k];
  if (pol_simulation_input(sim, variable) == value) return POLI_FMU_OK;
  instance->row_valid = 0;
  const pol_status status = pol_simulation_set_input(sim, variable, value);
  if (status == POL_OK) return POLI_FMU_OK;
  return poli_fmu_report(instance, POLI_FMU_ERROR, "input '%s' cannot be %g: %s",
                         instance->plan.inputs.items[k], value, pol_status_text(status));
}

poli_fmu_result poli_fmu_set(poli_fmu_instance *instance, const unsigned int *references,
                             size_t count, const double *values)
{
  const int starting =
      instance->phase == POLI_FMU_INSTANTIATED || instance->phase == POLI_FMU_INITIALIZING;
  poli_fmu_result result = POLI_FMU_OK;
  for (size_t i = 0; i < count && result == POLI_FMU_OK; i++) {
    int k;
    const list which = find_reference(instance, references[i], &k);
    if (which != INPUT && which != PARAMETER)
      return poli_fmu_report(instance, POLI_FMU_ERROR,
                             "reference %u is neither an input nor a parameter", references[i]);
    if (!isfinite(values[i]))
      return poli_fmu_report(instance, POLI_FMU_ERROR,
                             "the value of reference %u must be finite, not %g", references[i],
                             values[i]);
    if (starting)
      result = set_start(instance, references[i], which, k, values[i]);
    else if (which == INPUT && instance->phase == POLI_FMU_STEPPING)
      result = set_input(instance, k, values[i]);
    else
      return poli_fmu_report(instance, POLI_FMU_ERROR,
                             "reference %u cannot be set: the instance is %s", references[i],
                             phase_names[instance->phase]);
  }
  return result;
}
