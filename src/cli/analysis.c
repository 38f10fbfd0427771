/* What static, modes and linearize share; see analysis.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analysis.h"
#include "cli/json_out.h"
#include "cli/summary.h"
#include "cli/terminal.h"

/* --- the state ----------------------------------------------------------------------------------
 */

static int out_of_memory(const cli_analysis *a)
{
  cli_complain(a->command, "%s", pol_status_text(POL_NO_MEMORY));
  return CLI_FAILED;
}

int cli_analysis_fail(const cli_analysis *a, const pol_diagnostics *failure)
{
  if (failure->status == POL_NO_MEMORY) return out_of_memory(a);
  if (failure->status == POL_BAD_ARGUMENT)
    return cli_refuse_one(a->args->operand, a->args->json, "", "", failure->message);
  const int result = cli_start_status(failure->status);
  cli_print_failure(a->args->operand, failure);
  if (!a->args->json) return result;
  cli_json_print(
      result == CLI_INVALID
          ? json_pack("{s:s, s:o}", "status", "invalid", "errors", cli_json_start_errors(failure))
          : json_pack("{s:s, s:o}", "status", "failed", "failure", cli_json_failure(failure)));
  return result;
}

/* The time of --at; *given is 0 without it. */
static int read_time(const cli_analysis *a, double *t, int *given)
{
  char *rest;
  const char *text = a->args->at;
  *t = 0.0;
  *given = text != NULL;
  if (text == NULL) return CLI_DONE;
  *t = strtod(text, &rest);
  if (rest != text && *rest == '\0' && isfinite(*t) && *t >= 0.0) return CLI_DONE;
  return cli_refuse_one(a->command, a->args->json, "--at", text, "must be a time, 0 or later");
}

/* Runs the model to a time and takes its state over. */
/* Takes over the modes of a body, if it has any; 0 without memory. */
static int copy_modes(const cli_analysis *a, const pol_simulation *simulation, int body)
{
  const int count = pol_simulation_modes(simulation, body, NULL, NULL);
  double *values = calloc(2 * (size_t)count + 1, sizeof *values);
  if (values == NULL) return 0;
  if (count > 0) {
    pol_simulation_modes(simulation, body, values, values + count);
    pol_analysis_set_modes(a->analysis, body, values, values + count);
  }
  free(values);
  return 1;
}

static int go_along_run(cli_analysis *a, double t)
{
  pol_settings settings = a->model->settings;
  pol_simulation *simulation = NULL;
  pol_diagnostics failure = {.equation = -1};
  settings.end = t;
  settings.output = (pol_output){0};
  if (settings.step > t) settings.step = t;
  pol_status status = pol_simulation_create(&simulation, a->model->mechanism, &settings, &failure);
  while (status == POL_OK && !pol_simulation_finished(simulation)) {
    status = pol_simulation_step(simulation);
    if (status != POL_OK) failure = *pol_simulation_diagnostics(simulation);
  }
  const int count = pol_mechanism_num_bodies(a->model->mechanism);
  const int num_states = pol_mechanism_num_states(a->model->mechanism);
  pol_body_state *bodies = calloc((size_t)count + 1, sizeof *bodies);
  double *states = calloc((size_t)num_states + 1, sizeof *states);
  int result = CLI_DONE;
  if (bodies == NULL || states == NULL) {
    result = out_of_memory(a);
  } else if (status != POL_OK) {
    result = cli_analysis_fail(a, &failure);
  } else {
    const pol_point at = pol_state_point(pol_simulation_state(simulation));
    for (int i = 0; i < count; i++) {
      pol_simulation_body(simulation, i, &bodies[i]);
      if (!copy_modes(a, simulation, i)) result = out_of_memory(a);
    }
    for (int i = 0; i < num_states; i++)
      states[i] = pol_formulation_state_variable(pol_simulation_formulation(simulation), &at, i);
    a->t = at.t;
    a->how = "state of the run";
    if (result == CLI_DONE &&
        pol_analysis_set_bodies(a->analysis, at.t, bodies, states, &failure) != POL_OK)
      result = cli_analysis_fail(a, &failure);
  }
  free(bodies);
  free(states);
  pol_simulation_free(&simulation);
  return result;
}

/* One number of a row; *status is POL_BAD_ARGUMENT if the result has no such quantity. */
static double value_at(pol_result *result, long row, const char *owner, const char *quantity,
                       pol_status *status)
{
  double value = 0.0;
  char *name = cli_format("%s%s%s", owner, quantity[0] != '\0' ? "." : "", quantity);
  const int channel = name != NULL ? pol_result_find_channel(result, name) : -1;
  if (name == NULL) *status = POL_NO_MEMORY;
  if (name != NULL && channel < 0) *status = POL_BAD_ARGUMENT;
  if (channel >= 0 && *status == POL_OK)
    *status = pol_result_series_part(result, channel, row, 1, &value);
  free(name);
  return value;
}

/* The modes of a flexible body in a row of the result. */
static pol_status read_modes(const cli_analysis *a, long row, int index)
{
  const pol_body *body = pol_mechanism_body(a->model->mechanism, index);
  const int count = body->flexible->num_modes;
  pol_status status = POL_OK;
  double *values = calloc(2 * (size_t)count, sizeof *values);
  if (values == NULL) return POL_NO_MEMORY;
  for (int k = 0; k < 2 * count; k++) {
    char quantity[32];
    snprintf(quantity, sizeof quantity, "%s.%d", k < count ? "mode" : "mode_rate", k % count + 1);
    values[k] = value_at(a->result, row, body->name, quantity, &status);
  }
  if (status == POL_OK) status = pol_analysis_set_modes(a->analysis, index, values, values + count);
  free(values);
  return status;
}

/* The state of a row of the result. */
static pol_status read_row(const cli_analysis *a, long row, pol_body_state *bodies, double *states)
{
  static const char *const positions[] = {"position.x", "position.y", "position.z"};
  static const char *const quaternions[] = {"quaternion.w", "quaternion.x", "quaternion.y",
                                            "quaternion.z"};
  static const char *const velocities[] = {"velocity.x", "velocity.y", "velocity.z"};
  static const char *const rates[] = {"angular_velocity.x", "angular_velocity.y",
                                      "angular_velocity.z"};
  const pol_mechanism *mechanism = a->model->mechanism;
  pol_status status = POL_OK;
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    for (int i = 0; i < 3; i++) {
      bodies[b].position[i] = value_at(a->result, row, body->name, positions[i], &status);
      bodies[b].velocity[i] = value_at(a->result, row, body->name, velocities[i], &status);
      if (!body->point)
        bodies[b].angular_velocity[i] = value_at(a->result, row, body->name, rates[i], &status);
    }
    for (int i = 0; i < 4 && !body->point; i++)
      bodies[b].quaternion[i] = value_at(a->result, row, body->name, quaternions[i], &status);
    if (body->flexible != NULL && body->interface == 0 && status == POL_OK)
      status = read_modes(a, row, b);
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++)
    states[i] = value_at(a->result, row, pol_mechanism_state(mechanism, i)->name, "", &status);
  return status;
}

/* Takes over the row nearest to a time, or the last one. */
static int go_to_row(cli_analysis *a, double t, int given)
{
  const long rows = pol_result_rows(a->result);
  const int count = pol_mechanism_num_bodies(a->model->mechanism);
  const int num_states = pol_mechanism_num_states(a->model->mechanism);
  const int channel = pol_result_find_channel(a->result, "t");
  pol_diagnostics failure = {.equation = -1};
  if (rows == 0 || channel < 0)
    return cli_refuse_result(a->args->operand, a->args->json, "has no rows: there is no state");
  double *times = calloc((size_t)rows, sizeof *times);
  pol_body_state *bodies = calloc((size_t)count + 1, sizeof *bodies);
  double *states = calloc((size_t)num_states + 1, sizeof *states);
  pol_status status = times != NULL && bodies != NULL && states != NULL ? POL_OK : POL_NO_MEMORY;
  long row = rows - 1;
  if (status == POL_OK) status = pol_result_series(a->result, channel, times);
  for (long i = rows - 1; i >= 0 && given && status == POL_OK; i--)
    if (fabs(times[i] - t) < fabs(times[row] - t)) row = i;
  if (status == POL_OK) status = read_row(a, row, bodies, states);
  int result = CLI_DONE;
  if (status == POL_OK) {
    a->t = times[row];
    a->how = "row of the result";
    if (pol_analysis_set_bodies(a->analysis, a->t, bodies, states, &failure) != POL_OK)
      result = cli_analysis_fail(a, &failure);
  } else if (status == POL_NO_MEMORY) {
    result = out_of_memory(a);
  } else {
    result = cli_refuse_result(a->args->operand, a->args->json,
                               status == POL_IO ? POL_RESULT_DAMAGED
                                                : "does not have the quantities of its model");
  }
  free(times);
  free(bodies);
  free(states);
  return result;
}

/* --- axes of observation -------------------------------------------------------------------------
 */

/* The line that a body rotates about now, as frame and centre. */
static int read_body_frame(cli_analysis *a, int index, const char *wanted)
{
  const pol_state *state = pol_analysis_state(a->analysis);
  pol_body_state now;
  if (pol_mechanism_body(a->model->mechanism, index)->point)
    return cli_refuse_one(a->command, a->args->json, "--frame", wanted,
                          "is a point mass, which does not rotate");
  pol_formulation_body_state(pol_analysis_formulation(a->analysis), state->q, state->v, index,
                             &now);
  const double *f = now.angular_velocity_global, *v = now.velocity;
  const double square = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
  const double along = v[0] * f[0] + v[1] * f[1] + v[2] * f[2];
  memcpy(a->frame, f, sizeof a->frame);
  for (int i = 0; i < 3 && square > 0.0; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    a->centre[i] = now.position[i] + (f[j] * v[k] - f[k] * v[j]) / square;
  }
  if (a->args->is_static && fabs(along) > 1e-9 * square)
    return cli_refuse_one(a->command, a->args->json, "--frame", wanted,
                          "moves along its axis of rotation: there is no equilibrium in its axes");
  return CLI_DONE;
}

/* The axes of --frame: a body, or three or six numbers. */
static int read_frame(cli_analysis *a)
{
  const char *wanted = a->args->frame;
  const pol_mechanism *mechanism = a->model->mechanism;
  if (wanted == NULL || strcmp(wanted, "ground") == 0) return CLI_DONE;
  double numbers[6] = {0};
  const char *number = wanted;
  for (int i = 0; i < 6; i++) {
    char *rest = NULL;
    numbers[i] = strtod(number, &rest);
    if (rest == number || !isfinite(numbers[i])) break;
    if ((i == 2 || i == 5) && *rest == '\0') {
      memcpy(a->frame, numbers, sizeof a->frame);
      memcpy(a->centre, numbers + 3, i == 5 ? sizeof a->centre : 0);
      return CLI_DONE;
    }
    if (*rest != ',') break;
    number = rest + 1;
  }
  pol_near near = pol_near_start(wanted);
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    const char *name = pol_mechanism_body(mechanism, b)->name;
    pol_near_try(&near, name);
    if (strcmp(name, wanted) == 0) return read_body_frame(a, b, wanted);
  }
  pol_errors errors = {0};
  if (pol_errors_add(&errors, "--frame", wanted,
                     "must be a body, or three or six numbers with commas: there is no such body",
                     near.best) != POL_OK)
    return out_of_memory(a);
  return cli_refuse(a->command, a->args->json, &errors);
}

/* The model of the operand, or of the result that it is. */
static int read_operand(cli_analysis *a)
{
  const cli_args *args = a->args;
  if (cli_ends_in(args->operand, ".json") || strcmp(args->operand, "-") == 0)
    return cli_read_model(args, &a->model);
  int result = cli_open_result(args->operand, args->json, &a->result);
  if (result != CLI_DONE) return result;
  const pol_result_info *info = pol_result_about(a->result);
  if (args->num_overrides > 0) {
    static const char prefix[] = "parameters.";
    const size_t length = sizeof prefix - 1;
    const int is_parameter = strncmp(args->overrides[0], prefix, length) == 0;
    return cli_refuse_one(a->command, args->json, is_parameter ? "--param" : "--set",
                          args->overrides[0] + (is_parameter ? length : 0),
                          "the model of a result cannot be changed; give the model file");
  }
  if (info->model == NULL)
    return cli_refuse_result(args->operand, args->json,
                             "has no model in it; give a model file, or an .h5 result");
  pol_errors errors = {0};
  const pol_status status = pol_model_read_text(&a->model, info->model, info->num_overrides,
                                                (const char *const *)info->overrides, &errors);
  if (status == POL_OK) return CLI_DONE;
  if (status == POL_NO_MEMORY) return out_of_memory(a);
  return cli_refuse(args->operand, args->json, &errors);
}

int cli_analysis_open(cli_analysis *a, const char *command, const cli_args *args, int only_place)
{
  pol_diagnostics failure = {.equation = -1};
  double t;
  int given;
  *a = (cli_analysis){.command = command, .args = args, .how = "initial state"};
  int result = read_time(a, &t, &given);
  if (result == CLI_DONE) result = read_operand(a);
  if (result == CLI_DONE && a->model->num_controllers > 0)
    cli_print_notes(
        "controllers are not part of this analysis: what they set keeps its first value");
  if (result != CLI_DONE) return result;
  const int for_equilibrium = args->is_static || only_place;
  a->t = for_equilibrium && a->result == NULL ? t : 0.0;
  if (pol_analysis_create(&a->analysis, a->model->mechanism, a->t, &failure) != POL_OK)
    return cli_analysis_fail(a, &failure);
  if (a->result != NULL)
    result = go_to_row(a, t, given);
  else if (!for_equilibrium && t > 0.0)
    result = go_along_run(a, t);
  if (result == CLI_DONE) result = read_frame(a);
  if (result != CLI_DONE || !args->is_static || only_place) return result;
  pol_static_options options = pol_static_options_default();
  cli_analysis_rotate(a, &options);
  if (pol_analysis_equilibrium(a->analysis, &options, &a->report, &failure) != POL_OK)
    return cli_analysis_fail(a, &failure);
  return CLI_DONE;
}

void cli_analysis_rotate(cli_analysis *a, pol_static_options *options)
{
  const double *f = a->frame;
  a->how = f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0 ? "steady rotation" : "equilibrium";
  memcpy(options->rotation, a->frame, sizeof a->frame);
  memcpy(options->centre, a->centre, sizeof a->centre);
}

void cli_analysis_close(cli_analysis *a)
{
  pol_analysis_free(&a->analysis);
  pol_model_free(&a->model);
  pol_result_close(&a->result);
}

/* --- options ------------------------------------------------------------------------------------
 */

int cli_analysis_count(const cli_analysis *a, const char *option, const char *text, int *count)
{
  char *rest;
  if (text == NULL) return CLI_DONE;
  const long value = strtol(text, &rest, 10);
  *count = (int)value;
  if (rest != text && *rest == '\0' && value > 0 && value <= 1000000) return CLI_DONE;
  return cli_refuse_one(a->command, a->args->json, option, text, "must be a whole number above 0");
}

/* --- the report ----------------------------------------------------------------------------------
 */

void cli_stability_text(const pol_static_report *report, char *text, size_t size)
{
  const char *more = report->at_least ? "at least " : "";
  char softest[160] = "";
  if (report->softest[0] != '\0') snprintf(softest, sizeof softest, " (%s)", report->softest);
  if (report->freedoms == 0)
    snprintf(text, size, "nothing can move");
  else if (report->flutter > 0.0)
    snprintf(text, size, "unstable in %s%d of %d directions, flutter of %.6g Hz%s", more,
             report->unstable, report->freedoms, report->flutter, softest);
  else if (report->unstable > 0)
    snprintf(text, size, "unstable in %s%d of %d directions, least eigenvalue %.6g /s^2%s", more,
             report->unstable, report->freedoms, report->least, softest);
  else if (report->neutral > 0)
    snprintf(text, size, "nothing resists %s%d of %d directions%s", more, report->neutral,
             report->freedoms, softest);
  else
    snprintf(text, size, "stable, least eigenvalue %.6g /s^2%s", report->least, softest);
}

json_t *cli_stability_json(const pol_static_report *report)
{
  return json_pack("{s:b, s:i, s:i, s:i, s:b, s:o, s:o, s:o}", //
                   "stable", report->unstable == 0 && report->neutral == 0, "freedoms",
                   report->freedoms, "unstable", report->unstable, "neutral", report->neutral,
                   "at_least", report->at_least, "least_eigenvalue", cli_json_number(report->least),
                   "flutter", cli_json_number(report->flutter), "softest",
                   cli_json_text(report->softest));
}

void cli_analysis_print(const cli_analysis *a)
{
  char stability[320];
  cli_print_model(a->model->name, a->args->operand);
  cli_print_row("about", "%s, t = %.10g s", a->how, a->t);
  if (strcmp(a->how, "steady rotation") == 0)
    cli_print_row("rotation", "(%.10g, %.10g, %.10g) rad/s", a->frame[0], a->frame[1], a->frame[2]);
  if (!a->args->is_static) return;
  cli_stability_text(&a->report, stability, sizeof stability);
  cli_print_row("equilibrium", "%s", stability);
}

json_t *cli_analysis_json(const cli_analysis *a)
{
  json_t *object =
      json_pack("{s:s, s:o, s:o, s:s, s:o}", "status", "done", "name",
                cli_json_text(a->model->name != NULL ? a->model->name : ""), "source",
                cli_json_text(a->args->operand), "about", a->how, "t", cli_json_number(a->t));
  if (a->args->is_static) cli_json_set(&object, "stability", cli_stability_json(&a->report));
  return object;
}

int cli_unsteady_text(double unsteady, char *text, size_t size)
{
  if (!(unsteady > 1e-6)) return 0;
  snprintf(text, size,
           "the motion is not steady in these axes: the coefficients are those of this instant "
           "only; use --static for its equilibrium, with --frame for a steady rotation");
  return 1;
}

/* --- results -------------------------------------------------------------------------------------
 */

int cli_rows_check(const cli_analysis *a, const char *path)
{
  cli_list inputs = {0};
  if (!cli_ends_in(path, ".h5") && !cli_ends_in(path, ".csv"))
    return cli_refuse_one(a->command, a->args->json, "--out", path, "must end in .h5 or .csv");
  int result = CLI_FAILED;
  if (cli_inputs_add_model(&inputs, a->args->operand, a->model) == POL_OK)
    result = cli_check_output(a->command, a->args->json, "--out", path, &inputs);
  else
    result = out_of_memory(a);
  cli_inputs_free(&inputs);
  return result;
}

void cli_rows_open(cli_rows *rows, const cli_analysis *a, const char *path, const char *kind,
                   int number, double frequency)
{
  const pol_result_info *of_result = a->result != NULL ? pol_result_about(a->result) : NULL;
  pol_settings settings = pol_settings_default();
  *rows = (cli_rows){0};
  settings.end = settings.step;
  json_t *object = cli_settings_json(&settings);
  cli_json_set(&object, "analysis", cli_json_text(kind));
  if (number > 0) {
    cli_json_set(&object, "mode", json_integer(number));
    cli_json_set(&object, "frequency", json_real(frequency));
  }
  char *text = object != NULL ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  const pol_result_info about = {
      .name = a->model->name,
      .model = a->model->text,
      .num_overrides = of_result != NULL ? of_result->num_overrides : a->args->num_overrides,
      .overrides = of_result != NULL ? of_result->overrides : a->args->overrides,
      .settings = text};
  rows->status = text != NULL ? POL_OK : POL_NO_MEMORY;
  if (rows->status == POL_OK)
    rows->status = pol_simulation_create(&rows->simulation, a->model->mechanism, &settings, NULL);
  if (rows->status == POL_OK && strcmp(kind, "mode") != 0)
    rows->status = pol_simulation_hold_loads(rows->simulation, a->t, 1.0);
  if (rows->status == POL_OK) rows->status = pol_record_create(&rows->record, rows->simulation);
  errno = 0;
  if (rows->status == POL_OK)
    rows->status =
        pol_writer_create(&rows->writer, path, cli_ends_in(path, ".h5") ? POL_HDF5 : POL_CSV,
                          rows->record, &about, 0);
  rows->reason = errno;
  free(text);
}

void cli_rows_write(cli_rows *rows, const pol_state *state, double t)
{
  pol_state shown = *state;
  if (rows->status != POL_OK) return;
  shown.t = shown.lambda_t = t;
  rows->status = pol_simulation_pose(rows->simulation, &shown);
  errno = 0;
  if (rows->status == POL_OK) rows->status = pol_writer_write(rows->writer);
  rows->reason = errno;
  rows->count++;
}

int cli_rows_close(cli_rows *rows, const cli_analysis *a, const char *path, const char *status)
{
  if (rows->writer != NULL) {
    errno = 0;
    const pol_status closed = pol_writer_close(&rows->writer, status, NULL);
    if (rows->status == POL_OK && closed != POL_OK) {
      rows->status = closed;
      rows->reason = errno;
    }
  }
  pol_record_free(&rows->record);
  pol_simulation_free(&rows->simulation);
  if (rows->status == POL_OK) return CLI_DONE;
  if (rows->status == POL_IO)
    return cli_cannot_write(a->command, a->args->json, "--out", path, rows->reason);
  cli_complain(a->command, "%s cannot be written: %s", path, pol_status_text(rows->status));
  return CLI_FAILED;
}
