/* The plan of an FMU as JSON, and the model with its inputs. */
#include "io/fmi/plan.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "base/number.h"
#include "mechanism/joint_axis.h"

/* --- names ------------------------------------------------------------------------------------ */

pol_status poli_fmu_names_add(poli_fmu_names *names, const char *name)
{
  char **longer = realloc(names->items, ((size_t)names->count + 1) * sizeof *longer);
  if (longer == NULL) return POL_NO_MEMORY;
  names->items = longer;
  char *copy = poli_format("%s", name);
  if (copy == NULL) return POL_NO_MEMORY;
  names->items[names->count++] = copy;
  return POL_OK;
}

int poli_fmu_names_find(const poli_fmu_names *names, const char *name)
{
  for (int i = 0; i < names->count; i++)
    if (strcmp(names->items[i], name) == 0) return i;
  return -1;
}

void poli_fmu_names_clear(poli_fmu_names *names)
{
  for (int i = 0; i < names->count; i++) free(names->items[i]);
  free(names->items);
  *names = (poli_fmu_names){0};
}

/* --- the plan as JSON ------------------------------------------------------------------------- */

void poli_fmu_plan_clear(poli_fmu_plan *plan)
{
  free(plan->token);
  poli_fmu_names_clear(&plan->overrides);
  poli_fmu_names_clear(&plan->inputs);
  poli_fmu_names_clear(&plan->parameters);
  poli_fmu_names_clear(&plan->outputs);
  plan->token = NULL;
}

static json_t *names_json(const poli_fmu_names *names)
{
  json_t *list = json_array();
  for (int i = 0; i < names->count; i++)
    if (json_array_append_new(list, json_string(names->items[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

char *poli_fmu_plan_text(const poli_fmu_plan *plan)
{
  json_t *tree =
      json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "polhode", pol_version(), "token",
                plan->token != NULL ? plan->token : "", "overrides", names_json(&plan->overrides),
                "inputs", names_json(&plan->inputs), "parameters", names_json(&plan->parameters),
                "outputs", names_json(&plan->outputs));
  char *dumped = tree != NULL ? json_dumps(tree, JSON_INDENT(2)) : NULL;
  /* memory of Jansson may come from elsewhere than that of free() */
  char *text = dumped != NULL ? poli_format("%s\n", dumped) : NULL;
  json_decref(tree);
  if (dumped != NULL) {
    json_malloc_t get;
    json_free_t give;
    json_get_alloc_funcs(&get, &give);
    give(dumped);
  }
  return text;
}

static pol_status parse_names(const json_t *tree, const char *key, poli_fmu_names *names)
{
  const json_t *list = json_object_get(tree, key);
  size_t i;
  json_t *item;
  if (!json_is_array(list)) return POL_BAD_ARGUMENT;
  json_array_foreach(list, i, item)
  {
    if (!json_is_string(item)) return POL_BAD_ARGUMENT;
    if (poli_fmu_names_add(names, json_string_value(item)) != POL_OK) return POL_NO_MEMORY;
  }
  return POL_OK;
}

pol_status poli_fmu_plan_parse(poli_fmu_plan *plan, const char *text)
{
  json_error_t error;
  json_t *tree = json_loads(text, 0, &error);
  const char *token = json_string_value(json_object_get(tree, "token"));
  if (tree == NULL && json_error_code(&error) == json_error_out_of_memory) return POL_NO_MEMORY;
  pol_status status = token != NULL ? POL_OK : POL_BAD_ARGUMENT;
  if (status == POL_OK && (plan->token = poli_format("%s", token)) == NULL) status = POL_NO_MEMORY;
  if (status == POL_OK) status = parse_names(tree, "overrides", &plan->overrides);
  if (status == POL_OK) status = parse_names(tree, "inputs", &plan->inputs);
  if (status == POL_OK) status = parse_names(tree, "parameters", &plan->parameters);
  if (status == POL_OK) status = parse_names(tree, "outputs", &plan->outputs);
  json_decref(tree);
  return status;
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* Where an input acts: a component of a force, or its actuator. */
typedef struct place {
  const pol_force *force;
  int component; /* 0 .. 2; -1: the actuator */
} place;

/* "push.x", or "motor" for an actuator; the caller frees it. */
static char *place_name(const place *at)
{
  if (at->component < 0) return poli_format("%s", at->force->name);
  return poli_format("%s.%c", at->force->name, "xyz"[at->component]);
}

/* Finds the force of an input; force is NULL if there is none, with the nearest name in *nearest,
 * which the caller frees. */
static pol_status find_place(const pol_mechanism *mechanism, const char *name, place *found,
                             char **nearest)
{
  pol_near near = pol_near_start(name);
  *found = (place){0};
  *nearest = NULL;
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++) {
    const pol_variable *variable = pol_mechanism_variable(mechanism, i);
    if (variable->input) pol_near_try(&near, variable->name);
  }
  for (int k = 0; k < pol_mechanism_num_forces(mechanism); k++) {
    const pol_force *force = pol_mechanism_force(mechanism, k);
    const int count = force->made_by_joint ? 0 : pol_force_num_expressions(force->type);
    for (int i = 0; i < count; i++) {
      const place at = {force, count == 1 ? -1 : i};
      char *full = place_name(&at);
      if (full == NULL) return POL_NO_MEMORY;
      const int is_it = strcmp(full, name) == 0;
      pol_near_try(&near, full);
      if (near.best == full) {
        char *old = *nearest;
        near.best = *nearest = full;
        full = old;
      }
      free(full);
      if (is_it) *found = at;
      if (is_it) return POL_OK;
    }
  }
  if (*nearest == NULL || near.best != *nearest) {
    free(*nearest);
    *nearest = poli_format("%s", near.best);
  }
  return *nearest != NULL ? POL_OK : POL_NO_MEMORY;
}

static const char *place_unit(const pol_mechanism *mechanism, const place *at)
{
  const pol_force *force = at->force;
  if (force->type == POL_APPLIED_TORQUE) return "N m";
  if (force->type != POL_JOINT_SPRING) return "N";
  const pol_joint *joint = pol_mechanism_joint(mechanism, force->joint);
  return pol_joint_coordinate(joint, force->coordinate)->angular ? "N m" : "N";
}

/* Adds a variable that is an input, 0 at first, and a force with this value at the place. */
static pol_status add_force(pol_mechanism *mechanism, const place *at, int *variable)
{
  pol_force force = *at->force;
  char *name = place_name(at);
  /* names of variables have no dots */
  char *plain =
      poli_format("%s %s", at->force->name,
                  at->component < 0 ? "input" : (const char *[]){"x", "y", "z"}[at->component]);
  char *quoted = plain != NULL ? poli_format("'%s'", plain) : NULL;
  char *own = poli_format("%s input", name != NULL ? name : "");
  pol_status status = name && quoted && own ? POL_OK : POL_NO_MEMORY;
  const pol_variable input = {
      .name = plain, .expression = "0", .input = 1, .unit = place_unit(mechanism, at)};
  force.name = own;
  force.scale = NULL;
  force.actuator = 0.0;
  for (int i = 0; i < 3; i++) {
    force.vector[i] = force.stiffness[i] = force.damping[i] = 0.0;
    force.expressions[i] = NULL;
  }
  force.expressions[at->component < 0 ? 0 : at->component] = quoted;
  if (status == POL_OK) status = pol_mechanism_add_variable(mechanism, &input, variable);
  if (status == POL_OK) status = pol_mechanism_add_force(mechanism, &force, NULL);
  free(name);
  free(plain);
  free(quoted);
  free(own);
  return status;
}

/* The variable of an input of the plan; forces get one.  Errors are reported. */
static pol_status find_input(pol_mechanism *mechanism, const char *name, int *variable,
                             pol_errors *errors)
{
  place at;
  char *nearest = NULL;
  *variable = pol_mechanism_find_variable(mechanism, name);
  if (*variable >= 0 && pol_mechanism_variable(mechanism, *variable)->input) return POL_OK;
  if (*variable >= 0)
    return pol_errors_add(errors, "inputs", name,
                          "is a variable, but no input: give it \"input\": true in the model", "");
  if (pol_mechanism_find_drive(mechanism, name) >= 0)
    return pol_errors_add(errors, "inputs", name,
                          "is a drive, whose motion must not jump: use a force, or an input in an "
                          "expression",
                          "");
  pol_status status = find_place(mechanism, name, &at, &nearest);
  if (status == POL_OK && at.force != NULL)
    status = add_force(mechanism, &at, variable);
  else if (status == POL_OK)
    status = pol_errors_add(errors, "inputs", name,
                            "must be a variable that is an input, a component of an applied force "
                            "or torque such as push.x, or a spring with an actuator",
                            nearest);
  free(nearest);
  return status;
}

const char *poli_fmu_input_unit(const pol_model *model, int variable)
{
  const char *unit = pol_mechanism_variable(model->mechanism, variable)->unit;
  return unit != NULL ? unit : "";
}

/* --- the model -------------------------------------------------------------------------------- */

/* The values of the plan and then those of the parameters, as overrides. */
static pol_status list_overrides(const poli_fmu_plan *plan, const double *parameters,
                                 poli_fmu_names *list)
{
  pol_status status = POL_OK;
  for (int i = 0; i < plan->overrides.count && status == POL_OK; i++)
    status = poli_fmu_names_add(list, plan->overrides.items[i]);
  for (int i = 0; parameters != NULL && i < plan->parameters.count && status == POL_OK; i++) {
    char number[32];
    if (isnan(parameters[i])) continue;
    poli_number_text(parameters[i], number);
    char *text = poli_format("parameters.%s=%s", plan->parameters.items[i], number);
    status = text != NULL ? poli_fmu_names_add(list, text) : POL_NO_MEMORY;
    free(text);
  }
  return status;
}

pol_status poli_fmu_read_model(const poli_fmu_plan *plan, const char *text,
                               const double *parameters, pol_model **model, int *variables,
                               pol_errors *errors)
{
  poli_fmu_names overrides = {0};
  *model = NULL;
  pol_status status = list_overrides(plan, parameters, &overrides);
  if (status == POL_OK)
    status = pol_model_read_text(model, text, overrides.count, (const char *const *)overrides.items,
                                 errors);
  poli_fmu_names_clear(&overrides);
  for (int i = 0; i < plan->inputs.count && status == POL_OK; i++)
    status = find_input((*model)->mechanism, plan->inputs.items[i], &variables[i], errors);
  if (status == POL_OK && errors->count > 0) status = POL_BAD_ARGUMENT;
  if (status != POL_OK) pol_model_free(model);
  if (status == POL_NO_MEMORY) pol_errors_clear(errors);
  return status;
}
