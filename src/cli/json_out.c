/* Parts of the JSON objects that several commands print (Jansson). */
#include "cli/json_out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"

void cli_json_append(json_t **list, json_t *item)
{
  if (json_array_append_new(*list, item) == 0) return;
  json_decref(*list);
  *list = NULL;
}

void cli_json_set(json_t **object, const char *key, json_t *value)
{
  if (json_object_set_new(*object, key, value) == 0) return;
  json_decref(*object);
  *object = NULL;
}

json_t *cli_json_number(double x)
{
  /* Adding zero makes -0 a plain 0. */
  return isfinite(x) ? json_real(x + 0.0) : json_null();
}

json_t *cli_json_text(const char *text)
{
  json_t *string = json_string(text);
  return string != NULL ? string : json_string("(not UTF-8)");
}

json_t *cli_json_numbers(const double *x, int count)
{
  json_t *list = json_array();
  for (int i = 0; i < count; i++) cli_json_append(&list, cli_json_number(x[i]));
  return list;
}

json_t *cli_json_index(pol_index index)
{
  if (index == POL_INDEX_3) return json_integer(3);
  if (index == POL_INDEX_2) return json_integer(2);
  return json_string(cli_index_name(index));
}

json_t *cli_json_moves(const pol_moves *moves)
{
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",                               //
                   "position_residual", cli_json_number(moves->position_residual), //
                   "velocity_residual", cli_json_number(moves->velocity_residual), //
                   "position", cli_json_number(moves->position),                   //
                   "rotation", cli_json_number(moves->rotation),                   //
                   "velocity", cli_json_number(moves->velocity),                   //
                   "angular_velocity", cli_json_number(moves->angular_velocity));
}

json_t *cli_json_step(const pol_settings *settings)
{
  return settings->variable ? json_null() : cli_json_number(settings->step);
}

json_t *cli_json_control(const pol_settings *settings)
{
  const pol_control *control = &settings->options.control;
  if (!settings->variable) return json_null();
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",                     //
                   "rtol", cli_json_number(control->rtol),                         //
                   "atol_translation", cli_json_number(control->atol_translation), //
                   "atol_rotation", cli_json_number(control->atol_rotation),       //
                   "first_step", cli_json_number(control->first_step),             //
                   "min_step", cli_json_number(control->min_step),                 //
                   "max_step", cli_json_number(control->max_step),                 //
                   "span", cli_json_number(control->span),                         //
                   "controller", pol_controller_name(control->controller));
}

json_t *cli_json_published(const pol_published *published)
{
  if (!cli_is_published(published)) return json_null();
  return json_pack("{s:s, s:i, s:s, s:s}",                                         //
                   "newton", pol_published_newton_name(published->newton),         //
                   "exact_iterations", published->exact_iterations,                //
                   "sigma_update", pol_sigma_update_name(published->sigma_update), //
                   "estimate", pol_published_estimate_name(published->estimate));
}

json_t *cli_json_warnings(const pol_settings *settings)
{
  char message[512];
  json_t *list = json_array();
  if (pol_options_warning(&settings->options, message, sizeof message))
    cli_json_append(&list, json_string(message));
  if (settings->variable && pol_options_adapt_warning(&settings->options, message, sizeof message))
    cli_json_append(&list, json_string(message));
  if (cli_unused_warning(settings, message, sizeof message))
    cli_json_append(&list, json_string(message));
  return list;
}

void cli_json_append_warnings(json_t **list, const pol_summary *summary)
{
  char finding[256];
  for (int k = 0; k < CLI_NUM_FINDINGS; k++)
    if (cli_finding_text(summary, k, finding, sizeof finding))
      cli_json_append(list, json_string(finding));
  for (int i = 0; i < summary->num_warnings; i++)
    cli_json_append(
        list, json_sprintf("t = %.6g s: %s", summary->warnings[i].t, summary->warnings[i].message));
}

json_t *cli_json_failure(const pol_diagnostics *d)
{
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:i, s:o, s:o, s:i}", //
                   "reason",
                   d->step > 0 && d->h == 0.0 && d->status > 0 ? "no equilibrium was found"
                                                               : pol_status_text(d->status), //
                   "message", cli_json_text(d->message),                                     //
                   "where", cli_json_text(d->where),                                         //
                   "advice", cli_json_text(d->advice),                                       //
                   "t", cli_json_number(d->t),                                               //
                   "h", cli_json_number(d->h),                                               //
                   "step", (json_int_t)d->step,                                              //
                   "iteration", d->iteration,                                                //
                   "residual", cli_json_number(d->residual),                                 //
                   "correction", cli_json_number(d->correction),                             //
                   "equation", d->equation);
}

json_t *cli_json_parameters(const pol_model *model)
{
  json_t *object = json_object();
  for (int i = 0; i < model->num_parameters; i++)
    cli_json_set(&object, model->parameters[i].name, cli_json_number(model->parameters[i].value));
  return object;
}

json_t *cli_json_errors(const char *status, const char *source, const pol_errors *errors)
{
  json_t *list = json_array();
  for (int i = 0; i < errors->count; i++) {
    const pol_error *own = &errors->items[i];
    const int has_line = own->line > 0 || strncmp(own->path, "line ", 5) == 0;
    const char *file = own->file[0] == '\0' && has_line ? source : own->file;
    cli_json_append(&list, json_pack("{s:o, s:o, s:i, s:o, s:o, s:o, s:o}",  //
                                     "file", cli_json_text(file),            //
                                     "element", cli_json_text(own->element), //
                                     "line", own->line,                      //
                                     "path", cli_json_text(own->path),       //
                                     "value", cli_json_text(own->value),     //
                                     "rule", cli_json_text(own->rule),       //
                                     "suggestion", cli_json_text(own->suggestion)));
  }
  return json_pack("{s:s, s:o}", "status", status, "errors", list);
}

json_t *cli_json_start_errors(const pol_diagnostics *failure)
{
  return json_pack("[{s:o, s:s, s:o, s:o}]",              //
                   "path", cli_json_text(failure->where), //
                   "value", "",                           //
                   "rule", cli_json_text(failure->message), "suggestion",
                   cli_json_text(failure->advice));
}

int cli_json_print(json_t *object)
{
  /* raised when a key is removed or changes its meaning, not when one is added */
  const int schema_version = 1;
  int status = -1;
  cli_json_set(&object, "schema_version", json_integer(schema_version));
  if (object == NULL)
    cli_complain("polhode", "the result cannot be written as JSON: out of memory");
  else if (json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0 &&
           putchar('\n') != EOF)
    status = 0;
  json_decref(object);
  return status;
}
