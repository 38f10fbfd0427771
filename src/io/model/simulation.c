/* The settings of the simulation in a model file: the tables of "simulation" and of "newton" inside
 * it, the rules between their keys, and what follows for keys that are not given. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/model/parts.h"
#include "io/model/rules.h"

static const poli_range zero_to_one = {0.0, 1.0, 0};
static const poli_range alpha_range = {-1.0 / 3.0, 0.0, 0};
static const poli_range above_zero_to_one = {0.0, 1.0, 1};
static const poli_range from_zero = {0.0, INT32_MAX, 0};
static const poli_range from_one = {1.0, INT32_MAX, 0};

/* --- choices ---------------------------------------------------------------------------------- */

static const char *start_choice(int number)
{
  return pol_start_name((pol_start)number);
}

static const char *sigma_update_choice(int number)
{
  return pol_sigma_update_name((pol_sigma_update)number);
}

static const char *published_newton_choice(int number)
{
  return pol_published_newton_name((pol_published_newton)number);
}

static const char *redundant_choice(int number)
{
  return pol_redundant_name((pol_redundant)number);
}

static const char *guess_choice(int number)
{
  return pol_guess_name((pol_guess)number);
}

static const char *newton_choice(int number)
{
  return pol_newton_kind_name((pol_newton_kind)number);
}

static const char *solver_choice(int number)
{
  return pol_solver_kind_name((pol_solver_kind)number);
}

static const char *steps_choice(int number)
{
  static const char *const names[] = {"fixed", "variable"};
  return number < 2 ? names[number] : NULL;
}

static const char *method_choice(int number)
{
  return number < pol_method_count() ? pol_method_at(number)->name : NULL;
}

static const char *formulation_choice(int number)
{
  return number < pol_formulation_count() ? pol_formulation_name((pol_formulation_kind)number)
                                          : NULL;
}

static const poli_choices starts = {start_choice};
static const poli_choices sigma_updates = {sigma_update_choice};
static const poli_choices published_newtons = {published_newton_choice};
static const poli_choices estimates = {pol_published_estimate_name};
static const poli_choices redundants = {redundant_choice};
static const poli_choices guesses = {guess_choice};
static const poli_choices newton_kinds = {newton_choice};
static const poli_choices solvers = {solver_choice};
static const poli_choices methods = {method_choice};
static const poli_choices steps_kinds = {steps_choice};
static const poli_choices formulations = {formulation_choice};

/* --- values ----------------------------------------------------------------------------------- */

/* pol_index: 3, 2 or "stabilized-2" */
static void read_index(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  static const char stabilized[] = "stabilized-2";
  pol_index *index = target;
  const double number = json_number_value(place->value);
  const char *text = json_string_value(place->value);
  pol_near near = pol_near_start(text ? text : "");
  pol_near_try(&near, stabilized);
  if (number == 3.0)
    *index = POL_INDEX_3;
  else if (number == 2.0)
    *index = POL_INDEX_2;
  else if (text && strcmp(text, stabilized) == 0)
    *index = POL_INDEX_2_STABILIZED;
  else
    poli_report(reader, place, near.best, "%s", field->rule);
}

/* poli_model_sigma: a number or "optimal" */
static void read_sigma(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  static const char optimal[] = "optimal";
  poli_model_sigma *sigma = target;
  const char *text = json_string_value(place->value);
  pol_near near = pol_near_start(text ? text : "");
  pol_near_try(&near, optimal);
  sigma->number = json_number_value(place->value);
  sigma->optimal = text && strcmp(text, optimal) == 0;
  if (!json_is_number(place->value) && !sigma->optimal)
    poli_report(reader, place, near.best, "%s", field->rule);
}

/* --- the tables ------------------------------------------------------------------------------- */

/* Where the numbers of "simulation" and of "newton" inside it go. */
#define OPTION(member) offsetof(poli_model_simulation, settings.options.member)

static const poli_field newton_fields[] = {
    {"kind", poli_read_choice, offsetof(poli_model_simulation, newton_kind), POLI_OPTIONAL, "",
     &newton_kinds},
    {"tolerance", poli_read_number, OPTION(newton.tolerance), POLI_OPTIONAL, poli_positive_rule,
     &poli_positive},
    {"max_iterations", poli_read_integer, OPTION(newton.max_iterations), POLI_OPTIONAL,
     "must be a whole number from 1 to 2147483647", &from_one},
    {"refresh", poli_read_number, OPTION(newton.refresh), POLI_OPTIONAL,
     "must be a number above 0, at most 1", &above_zero_to_one},
    {"line_search", poli_read_integer, OPTION(newton.line_search), POLI_OPTIONAL,
     "must be a whole number from 0 to 2147483647", &from_zero},
    {.key = NULL},
};

static void check_newton(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  (void)reader;
  poli_model_simulation *simulation = object;
  if (sound && poli_given(place, "kind"))
    simulation->settings.options.newton.kind = (pol_newton_kind)simulation->newton_kind;
}

static const poli_kind newton_kind = {
    .rule = "must be an object of options for the Newton iteration",
    .fields = newton_fields,
    .size = sizeof(poli_model_simulation),
    .check = check_newton,
};

static const poli_field published_fields[] = {
    {"newton", poli_read_choice, offsetof(poli_model_simulation, published_newton), POLI_OPTIONAL,
     "", &published_newtons},
    {"exact_iterations", poli_read_integer, OPTION(published.exact_iterations), POLI_OPTIONAL,
     "must be a whole number from 1 to 2147483647", &from_one},
    {"sigma_update", poli_read_choice, offsetof(poli_model_simulation, sigma_update), POLI_OPTIONAL,
     "", &sigma_updates},
    {"estimate", poli_read_choice, OPTION(published.estimate), POLI_OPTIONAL, "", &estimates},
    {.key = NULL},
};

static void check_published(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  (void)reader;
  poli_model_simulation *simulation = object;
  pol_published *published = &simulation->settings.options.published;
  if (sound && poli_given(place, "newton"))
    published->newton = (pol_published_newton)simulation->published_newton;
  if (sound && poli_given(place, "sigma_update"))
    published->sigma_update = (pol_sigma_update)simulation->sigma_update;
}

static const poli_kind published_kind = {
    .rule = "must be an object of options to repeat published runs",
    .fields = published_fields,
    .size = sizeof(poli_model_simulation),
    .check = check_published,
};

static const poli_field simulation_fields[] = {
    {"method", poli_read_choice, offsetof(poli_model_simulation, method), POLI_OPTIONAL, "",
     &methods},
    {"index", read_index, OPTION(index), POLI_OPTIONAL, "must be 3, 2 or \"stabilized-2\"", NULL},
    {"formulation", poli_read_choice, offsetof(poli_model_simulation, formulation), POLI_OPTIONAL,
     "", &formulations},
    {"rho_inf", poli_read_number, offsetof(poli_model_simulation, rho_inf), POLI_OPTIONAL,
     "must be a number from 0 to 1", &zero_to_one},
    {"alpha", poli_read_number, offsetof(poli_model_simulation, alpha), POLI_OPTIONAL,
     "must be a number from -1/3 to 0", &alpha_range},
    {"alpha_m", poli_read_number, OPTION(alpha_m), POLI_OPTIONAL, poli_number_rule, NULL},
    {"alpha_f", poli_read_number, OPTION(alpha_f), POLI_OPTIONAL, poli_number_rule, NULL},
    {"beta", poli_read_number, OPTION(beta), POLI_OPTIONAL, poli_number_rule, NULL},
    {"gamma", poli_read_number, OPTION(gamma), POLI_OPTIONAL, poli_number_rule, NULL},
    {"sigma", read_sigma, offsetof(poli_model_simulation, sigma), POLI_OPTIONAL,
     "must be a number or \"optimal\"", NULL},
    {"theta", poli_read_number, OPTION(theta), POLI_OPTIONAL, "must be a number from 0 to 1",
     &zero_to_one},
    {"vartheta", poli_read_number, OPTION(vartheta), POLI_OPTIONAL,
     "must be a number that is at least 0 and below 1", &zero_to_one},
    {"guess", poli_read_choice, offsetof(poli_model_simulation, guess), POLI_OPTIONAL, "",
     &guesses},
    {"start", poli_read_choice, offsetof(poli_model_simulation, start), POLI_OPTIONAL, "", &starts},
    {"redundant", poli_read_choice, offsetof(poli_model_simulation, redundant), POLI_OPTIONAL, "",
     &redundants},
    {"step", poli_read_number, offsetof(poli_model_simulation, settings.step), POLI_OPTIONAL,
     poli_positive_rule, &poli_positive},
    {"rtol", poli_read_number, OPTION(control.rtol), POLI_OPTIONAL, poli_not_negative_rule,
     &poli_not_negative},
    {"atol", poli_read_atol, 0, POLI_OPTIONAL, poli_not_negative_rule, NULL},
    {"steps", poli_read_choice, offsetof(poli_model_simulation, steps), POLI_OPTIONAL, "",
     &steps_kinds},
    {"control", poli_read_object, 0, POLI_OPTIONAL, "", &poli_control_kind},
    {"output", poli_read_object, 0, POLI_OPTIONAL, "", &poli_output_kind},
    {"end", poli_read_number, offsetof(poli_model_simulation, settings.end), POLI_REQUIRED,
     poli_positive_rule, &poli_positive},
    {"newton", poli_read_object, 0, POLI_OPTIONAL, "", &newton_kind},
    {"published", poli_read_object, 0, POLI_OPTIONAL, "", &published_kind},
    {"solver", poli_read_choice, offsetof(poli_model_simulation, solver), POLI_OPTIONAL, "",
     &solvers},
    {.key = NULL},
};

#undef OPTION

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
  int count = 0;
  if (is_named(method)) return;
  for (int i = 0; i < 4; i++) count += poli_given(place, four[i]);
  if (count == 0) return;
  poli_forbid(reader, place, rho_inf, "must not stand beside alpha_m, alpha_f, beta, gamma");
  for (int i = 0; i < 4; i++)
    if (!poli_given(place, four[i]))
      poli_report_missing(reader, place, simulation_fields, four[i],
                          "alpha_m, alpha_f, beta, gamma come together");
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
  if (is_named(method) || !pol_method_adapts(method)) return;
  if (!poli_given(place, "index")) options->index = POL_INDEX_2_STABILIZED;
  if (!poli_given(place, "rho_inf") && !poli_given(place, "beta"))
    pol_options_set_rho_inf(options, 0.8);
}

/* sigma, after the four parameters: the one that removes the bracket term of the local error is
 * gamma / (3 beta) (Holzinger/Arnold/Gerstmayr). */
static double sigma_of(const poli_model_sigma *sigma, const pol_options *options)
{
  return sigma->optimal ? options->gamma / (3.0 * options->beta) : sigma->number;
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

static void check_simulation(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_simulation *simulation = object;
  pol_settings *settings = &simulation->settings;
  const int before = reader->errors->count;
  const char *method = settings->options.method;
  if (poli_given(place, "method") && simulation->method >= 0)
    method = method_choice(simulation->method);
  check_parameters(reader, place, method);
  poli_settle_control(reader, place, simulation, sound);
  if (!settings->variable && !poli_given(place, "step"))
    poli_report_missing(reader, place, simulation_fields, "step", poli_positive_rule);
  if (!sound || reader->errors->count != before) return;

  set_method(place, simulation, method, &settings->options);
  if (settings->variable) set_variable_defaults(place, method, &settings->options);
  list_unused(place, method, settings);
  if (poli_given(place, "formulation"))
    settings->formulation = (pol_formulation_kind)simulation->formulation;
  if (poli_given(place, "solver")) settings->options.solver = (pol_solver_kind)simulation->solver;
  if (poli_given(place, "start")) settings->options.start = (pol_start)simulation->start;
  if (poli_given(place, "guess")) settings->options.guess = (pol_guess)simulation->guess;
  if (poli_given(place, "redundant"))
    settings->options.redundant = (pol_redundant)simulation->redundant;
  if (poli_given(place, "sigma"))
    settings->options.sigma = sigma_of(&simulation->sigma, &settings->options);

  char message[256] = "";
  if (pol_settings_validate(settings, message, sizeof message) != POL_OK)
    report_setting(reader, place, message);
}

const poli_kind poli_simulation_kind = {
    .rule = "must be an object with the settings of the simulation",
    .fields = simulation_fields,
    .size = sizeof(poli_model_simulation),
    .check = check_simulation,
};
