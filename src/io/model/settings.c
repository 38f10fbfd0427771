/* What follows from the settings of the simulation in a model file: the method and its parameters,
 * steps of variable size, and the rules between the keys. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/model/parts.h"

/* --- steps of variable size ------------------------------------------------------------------- */

void poli_check_control(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const pol_control *control = &((const poli_model_simulation *)object)->settings.options.control;
  const poli_place at = poli_place_key(place, "min_step");
  if (sound && control->max_step > 0.0 && control->min_step > control->max_step)
    poli_report(reader, &at, "", "must not be above max_step, which is %.10g", control->max_step);
}

/* Whether the steps are variable, and their tolerances, from what is given; output times end with
 * the run. */
static void settle_control(poli_reader *reader, const poli_place *place,
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
  if (control->controller == POL_CONTROLLER_REVERSIBLE) {
    const poli_place object = poli_place_key(place, "control");
    const poli_place at = poli_place_key(&object, "controller");
    settings->variable = 1;
    control->first_step = settings->step;
    if (rtol || atol)
      poli_report(reader, &at, "", "must not be reversible together with rtol or atol");
  }

  const poli_place output = poli_place_key(place, "output");
  const poli_place times = poli_place_key(&output, "times");
  const size_t count = json_array_size(simulation->output_times);
  if (count == 0 || !sound) return;
  const poli_place last = poli_place_item(&times, count - 1);
  if (json_number_value(last.value) > settings->end)
    poli_report(reader, &last, "", "must not be above the end of the run, %.10g", settings->end);
}

/* --- what the parameters of a method are ------------------------------------------------------ */

/* Whether a method sets these parameters by its name: newmark has gamma and beta, hht alpha. */
static int is_named(const char *method)
{
  return strcmp(method, "newmark") == 0 || strcmp(method, "hht") == 0;
}

/* Parameters of one method have no effect on another, so that one file serves all of them; they are
 * listed for a warning.  What the variational methods do not use is seen in the options. */
static void list_unused(const poli_place *place, const char *method, pol_settings *settings)
{
  static const char *const four[] = {"rho_inf", "alpha_m", "alpha_f", "beta", "gamma"};
  const int newmark = strcmp(method, "newmark") == 0, hht = strcmp(method, "hht") == 0;
  char *list = settings->unused;
  for (int i = 0; i < 5; i++)
    if (poli_given(place, four[i]) && (hht || (newmark && i < 3)))
      snprintf(list + strlen(list), sizeof settings->unused - strlen(list), "%s%s",
               list[0] ? ", " : "", four[i]);
  if (poli_given(place, "alpha") && !hht)
    snprintf(list + strlen(list), sizeof settings->unused - strlen(list), "%salpha",
             list[0] ? ", " : "");
}

/* The four parameters come together and without rho_inf. */
static void check_parameters(poli_reader *reader, const poli_place *place, const char *method)
{
  static const char *const rho_inf[] = {"rho_inf", NULL};
  static const char *const four[] = {"alpha_m", "alpha_f", "beta", "gamma"};
  const poli_kind *kind = poli_find_field(poli_model_kind.fields, "simulation")->detail;
  int count = 0;
  if (is_named(method)) return;
  for (int i = 0; i < 4; i++) count += poli_given(place, four[i]);
  if (count == 0) return;
  poli_forbid(reader, place, rho_inf,
              "must not be given together with alpha_m, alpha_f, beta, gamma");
  for (int i = 0; i < 4; i++)
    if (!poli_given(place, four[i]))
      poli_report_missing(reader, place, kind->fields, four[i],
                          "alpha_m, alpha_f, beta, gamma must be given together");
}

/* The method and its parameters, which are sound. */
static void set_method(const poli_place *place, const poli_model_simulation *simulation,
                       const char *method, pol_options *options)
{
  options->method = method;
  if (strcmp(method, "newmark") == 0) {
    double gamma = poli_given(place, "gamma") ? options->gamma : 0.5;
    double beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
    pol_options_set_newmark(options, gamma, poli_given(place, "beta") ? options->beta : beta);
  } else if (strcmp(method, "hht") == 0) {
    pol_options_set_method(options, method);
    if (poli_given(place, "alpha")) pol_options_set_hht(options, simulation->alpha);
  }
  if (poli_given(place, "rho_inf") && !is_named(method))
    pol_options_set_rho_inf(options, simulation->rho_inf);
}

/* Steps of variable size: what the file leaves open is what serves them best, stabilized index 2
 * with rho_inf 0.8; newmark and hht stay those of the paper. */
static void set_variable_defaults(const poli_place *place, const char *method, pol_options *options)
{
  const pol_method *own = pol_method_find(method);
  if (is_named(method) || !strstr(own->settings, "index")) return;
  if (!poli_given(place, "index")) options->index = POL_INDEX_2_STABILIZED;
  if (!poli_given(place, "rho_inf") && !poli_given(place, "beta"))
    pol_options_set_rho_inf(options, 0.8);
}

/* --- all together ----------------------------------------------------------------------------- */

/* A rule that starts with a key ("step must ...") is reported there, others at "simulation". */
static void report_setting(poli_reader *reader, const poli_place *place, const char *message)
{
  const char *rest = strstr(message, " must ");
  char key[32] = "";
  if (rest) snprintf(key, sizeof key, "%.*s", (int)(rest - message), message);
  const poli_place at = poli_place_key(place, key);
  if (at.value)
    poli_report(reader, &at, "", "%s", rest + 1);
  else
    poli_report(reader, place, "", "%s", message);
}

void poli_check_simulation(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_kind *kind = poli_find_field(poli_model_kind.fields, "simulation")->detail;
  poli_model_simulation *simulation = object;
  pol_settings *settings = &simulation->settings;
  pol_options *options = &settings->options;
  const int before = reader->errors->count;
  simulation->automatic = simulation->method == pol_method_count();
  const char *method = simulation->method >= 0 && !simulation->automatic
                           ? pol_method_at(simulation->method)->name
                           : options->method;
  simulation->keeps_formulation = poli_given(place, "formulation");
  check_parameters(reader, place, method);
  settle_control(reader, place, simulation, sound);
  if ((!settings->variable || options->control.controller == POL_CONTROLLER_REVERSIBLE) &&
      !poli_given(place, "step"))
    poli_report_missing(reader, place, kind->fields, "step", poli_positive.rule);
  if (!sound || reader->errors->count != before) return;

  set_method(place, simulation, method, options);
  if (settings->variable) set_variable_defaults(place, method, options);
  list_unused(place, method, settings);
  /* the sigma that removes the bracket term of the local error (Holzinger/Arnold/Gerstmayr) */
  if (poli_given(place, "sigma"))
    options->sigma =
        isnan(simulation->sigma) ? options->gamma / (3.0 * options->beta) : simulation->sigma;

  char message[256] = "";
  if (pol_settings_validate(settings, message, sizeof message) != POL_OK)
    report_setting(reader, place, message);
}
