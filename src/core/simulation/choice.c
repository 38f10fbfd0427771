/* The method for a mechanism, where the user leaves it open.
 *
 * rattle needs much less time than the methods of second order where the motion is smooth and no
 * spring or damper is much faster than the motion.  pilot.c finds the rates w and c of the fastest
 * ones at the start; for fixed steps soft stops count as if they were touched.  With the size h of
 * the steps, given or expected from the tolerances and from the speed u of the motion,
 *
 *     h = 3 tolerance^(1/5)/u  <= end/50
 *
 * the model is stiff if w h or c h exceed their limits.
 *
 * The order of rattle is 4, or what the tolerances ask for, except that order 2 is enough
 *  - where its steps are exact: free bodies under their weight, and mechanisms whose drives leave
 * no freedom;
 *  - where a step of order 2 within the tolerances is nearly as large as the largest one in which
 *    bodies do not rotate too far, which no order can exceed;
 * and not more than 4 where linear dampers are much faster than the steps.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dae/dae.h"
#include "dae/extension.h"
#include "simulation/parts.h"

/* Limits of w h and c h.  Variable steps become smaller where it is necessary, and rattle is so
 * much cheaper that this pays; less so if forces depend on velocities, which costs a larger matrix.
 * Linear springs and dampers are stable for every step. */
static const double most_fixed = 1.0, most_variable = 15.0, most_implicit = 5.0,
                    most_linear = 300.0;

/* Beyond this c h the backward base steps of orders 4 to 8 amplify what a linear damper damps, and
 * more of them do not help. */
static const double most_damped = 3.0;

/* Rates by which a force turns a motion by less in the whole run are round-off, of stops that are
 * not touched or springs that weights cancel, rad. */
static const double round_off_turn = 1e-4;

/* Steps of order 4 cost about three times as much as those of order 2. */
static const double large_enough = 0.5;

/* --- forces that are not smooth --------------------------------------------------------------- */

/* A function of expressions that is not smooth, or a comparison; NULL if there is none. */
static const char *find_break(const char *expression)
{
  static const char *const functions[] = {"if",  "abs", "sign", "floor", "ceil",
                                          "min", "max", "mod",  "clamp"};
  if (!expression) return NULL;
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    const size_t length = strlen(functions[i]);
    for (const char *p = expression; (p = strstr(p, functions[i])); p += length) {
      const int begins = p == expression || !(strchr("_.", p[-1]) || isalnum((unsigned char)p[-1]));
      if (begins && p[length + strspn(p + length, " ")] == '(') return functions[i];
    }
  }
  return strpbrk(expression, "<>=!") ? "a comparison" : NULL;
}

static const char *find_break_of(const pol_function *function)
{
  return function && function->type == POL_EXPRESSION ? find_break(function->expression) : NULL;
}

/* Whether a force, drive, variable or state is not smooth, or may not be; the reason. */
static int is_rough(const pol_mechanism *mechanism, char *reason, size_t size)
{
  const char *function = NULL, *name = "";
  for (int i = 0; i < pol_mechanism_num_forces(mechanism) && !function; i++) {
    const pol_force *force = pol_mechanism_force(mechanism, i);
    name = force->name;
    function = force->type == POL_CALLBACK_FORCE ? "a callback" : find_break_of(force->scale);
    for (int k = 0; k < pol_force_num_expressions(force->type) && !function; k++)
      function = find_break(force->expressions[k]);
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism) && !function; i++) {
    name = pol_mechanism_drive(mechanism, i)->name;
    function = find_break_of(&pol_mechanism_drive(mechanism, i)->function);
  }
  for (int i = 0; i < pol_mechanism_num_variables(mechanism) && !function; i++) {
    name = pol_mechanism_variable(mechanism, i)->name;
    function = find_break(pol_mechanism_variable(mechanism, i)->expression);
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism) && !function; i++) {
    name = pol_mechanism_state(mechanism, i)->name;
    function = find_break(pol_mechanism_state(mechanism, i)->rate);
  }
  if (function) snprintf(reason, size, "'%.60s' uses %s, which may not be smooth", name, function);
  return function != NULL;
}

/* --- the choice ------------------------------------------------------------------------------- */

/* The size of steps: given, or expected. */
static double find_step(const poli_pilot *found, const pol_settings *settings)
{
  const pol_control *control = &settings->options.control;
  const double tolerance =
      fmax(control->rtol, fmin(control->atol_rotation, control->atol_translation));
  const double expected = 3.0 * pow(tolerance, 0.2) / fmax(found->speed, 1e-3 / settings->end);
  return settings->variable ? fmin(expected, 0.02 * settings->end) : settings->step;
}

/* Whether there are forces that depend on the motion, such as springs, dampers and stops. */
static int has_laws(const pol_mechanism *mechanism)
{
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    const pol_force_type type = pol_mechanism_force(mechanism, i)->type;
    if (type != POL_APPLIED_FORCE && type != POL_APPLIED_TORQUE) return 1;
  }
  return 0;
}

/* Whether the rates allow rattle with these settings; the reason in both cases. */
static int is_slow(const pol_mechanism *mechanism, const poli_pilot *found,
                   const pol_settings *settings, int implicit, char *reason, size_t size)
{
  const double h = find_step(found, settings);
  const double most = !settings->variable ? most_fixed : implicit ? most_implicit : most_variable;
  const double fastest = fmax(found->damper, found->spring);
  const double other = fmax(found->other_damper, found->other_spring);
  if (fastest * settings->end < round_off_turn)
    snprintf(reason, size, "%s",
             has_laws(mechanism) ? "no spring or damper acts at the start"
                                 : "there are no springs and dampers");
  else if (found->stop)
    snprintf(reason, size,
             "'%.30s' has a rate of %.3g/s where it is touched, steps of %.2g s are given",
             found->stop, fastest, h);
  else
    snprintf(reason, size, "the fastest %s has a rate of %.3g/s, steps of %.2g s are %s",
             found->damper > found->spring ? "damper or state" : "force", fastest, h,
             settings->variable ? "expected" : "given");
  return other * h <= most && fastest * h <= (settings->variable ? most_linear : most_fixed);
}

/* Whether forces with kinks rather ask for geom1: such as a contact that is damped, which rattle
 * treats by a larger matrix and with many small steps, unless the tolerances ask for these anyway.
 */
static int is_contact(const pol_settings *settings, const poli_rigid_bodies *bodies)
{
  const pol_control *control = &settings->options.control;
  return bodies && bodies->forces_read_velocities &&
         fmax(control->rtol, fmin(control->atol_rotation, control->atol_translation)) > 1e-7;
}

/* Sets the order of rattle, which is to be chosen, where that of the tolerances is not the best. */
static void choose_order(const poli_pilot *found, const pol_settings *settings,
                         const poli_rigid_bodies *bodies, int constraints, pol_options *rattle,
                         char *reason, size_t size)
{
  if (found->freedoms <= 0)
    snprintf(reason, size, "drives determine the motion, so that order 2 is enough");
  else if (constraints == 0 && bodies->has_weight_only && bodies->num_compliant == 0)
    snprintf(reason, size, "bodies move freely, so that order 2 is enough");
  else if (found->second_order > large_enough * found->most)
    snprintf(reason, size,
             "bodies rotate so fast that steps are at most %.2g s, for which order 2 is enough",
             found->most);
  else {
    const int linear = found->damper > 1.01 * found->other_damper;
    if (linear && found->damper * find_step(found, settings) > most_damped) rattle->order = 4;
    return;
  }
  rattle->order = 2;
}

/* Whether rattle suits the mechanism, with its order and the reason. */
static pol_status try_rattle(const pol_mechanism *mechanism, const pol_settings *settings,
                             int keep_order, int rough, pol_options *rattle, int *suits,
                             char *reason, size_t size)
{
  pol_formulation *formulation = NULL;
  pol_status status = pol_formulation_create(&formulation, mechanism, POL_SO3XR3);
  const pol_dae *dae = status ? NULL : pol_formulation_dae(formulation);
  *suits = 0;
  if (status) {
    snprintf(reason, size, "so3xr3 does not support this mechanism");
  } else if (dae->feedback) {
    snprintf(reason, size, "forces depend on reactions, such as friction");
  } else if (rough && is_contact(settings, poli_dae_rigid_bodies(dae))) {
    *suits = 0; /* the reason is there already */
  } else if (!pol_integrator_supports(dae, rattle, reason, size)) {
    const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(dae);
    poli_pilot found;
    pol_options pilot = *rattle;
    if (settings->variable && !keep_order) pilot.order = 2;
    status = poli_pilot_run(formulation, &pilot, settings, &found);
    if (status)
      snprintf(reason, size, "the rates of the motion could not be determined");
    else if (found.first_step)
      snprintf(reason, size, "the first step of rattle fails");
    else
      *suits = is_slow(mechanism, &found, settings, bodies->forces_read_velocities, reason, size);
    if (*suits && !keep_order)
      choose_order(&found, settings, bodies, pol_dae_num_constraints(dae), rattle, reason, size);
  }
  pol_formulation_free(&formulation);
  return status == POL_NO_MEMORY ? status : POL_OK;
}

pol_status pol_settings_choose(const pol_mechanism *mechanism, int keep, pol_settings *settings)
{
  pol_options *options = &settings->options, rattle = pol_options_default();
  char reason[120] = "";
  const int reversible = options->control.controller == POL_CONTROLLER_REVERSIBLE;
  int suits = 0;
  if (strcmp(options->method, "auto") != 0) return POL_OK;
  rattle.method = "rattle";
  rattle.order = keep & POL_KEEP_ORDER ? options->order : settings->variable && !reversible ? 0 : 4;
  rattle.control = options->control;
  rattle.solver = options->solver;
  rattle.redundant = options->redundant;
  rattle.newton = options->newton;
  options->method = "geom1";
  /* variable steps become small at a kink, where a high order is of no use; others may jump over a
   * stiff contact */
  const int rough = is_rough(mechanism, reason, sizeof reason);
  if (rough && rattle.order == 0) rattle.order = 4;
  if (reversible) {
    snprintf(reason, sizeof reason, "reversible steps need it");
    suits = 1;
  } else if (keep & POL_KEEP_ALPHA) {
    snprintf(reason, sizeof reason, "rho_inf, sigma, start or other parameters of it are given");
  } else if ((keep & POL_KEEP_FORMULATION) && settings->formulation != POL_SO3XR3) {
    snprintf(reason, sizeof reason, "rattle of high order needs so3xr3");
  } else if (!rough || settings->variable) {
    const pol_status status = try_rattle(mechanism, settings, keep & POL_KEEP_ORDER, rough, &rattle,
                                         &suits, reason, sizeof reason);
    if (status) return status;
  }
  if (suits) {
    *options = rattle;
    settings->formulation = POL_SO3XR3;
  } else {
    if (!(keep & POL_KEEP_FORMULATION)) settings->formulation = POL_SO3XR3_SPATIAL;
    if (!(keep & (POL_KEEP_FORMULATION | POL_KEEP_SIGMA)))
      options->sigma = options->gamma / (3.0 * options->beta);
  }
  snprintf(settings->choice, sizeof settings->choice, "%s: %s", options->method, reason);
  return POL_OK;
}
