/* Expressions in a model file: variables, states and what stands for the numbers of a force.
 *
 * While the file is read only their syntax is checked, since they may use names that come later.
 * When the mechanism is there, every name is looked up, and variables must not go in circles. */
#include <string.h>

#include "expression/expression.h"
#include "formulation/network.h"
#include "io/model/parts.h"
#include "io/model/rules.h"
#include "mechanism/signal.h"

static const char *const not_variables_or_states[] = {"variables", "states", NULL};
static const char *const not_states_or_variables[] = {"states", "variables", NULL};

/* --- syntax ----------------------------------------------------------------------------------- */

/* Any name will do. */
static int accept_name(const char *name, void *user)
{
  (void)name;
  (void)user;
  return 0;
}

static const char *near_function(const char *wrong, const char *const *functions, void *user)
{
  (void)user;
  pol_near near = pol_near_start(wrong);
  for (; functions && *functions; functions++) pol_near_try(&near, *functions);
  return near.best;
}

/* Compiles a text and reports what is wrong with it; the expression itself is of no use yet. */
static void check_text(poli_reader *reader, const poli_place *place,
                       const poli_expression_names *names)
{
  pol_expression *program;
  poli_expression_error error;
  const pol_status status =
      poli_expression_compile(&program, json_string_value(place->value), names, &error);
  poli_expression_free(&program);
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status)
    poli_report(reader, place, error.suggestion, "must be an expression: column %d: %s",
                error.column, error.message);
}

void poli_read_expression(poli_reader *reader, const poli_place *place, const poli_field *field,
                          void *target)
{
  static const poli_expression_names names = {accept_name, near_function, NULL};
  *(const char **)target = json_string_value(place->value);
  if (json_is_string(place->value))
    check_text(reader, place, &names);
  else
    poli_report(reader, place, "", "%s", field->rule);
}

void poli_read_effort(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  poli_model_effort *effort = target;
  effort->number = json_number_value(place->value);
  if (!json_is_number(place->value))
    poli_read_expression(reader, place, field, &effort->expression);
}

void poli_read_efforts(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const poli_field item = {.rule = "must be a number or an expression, which is a text"};
  poli_model_effort *efforts = target;
  if (!json_is_array(place->value) || json_array_size(place->value) != 3) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 3; i++) {
    const poli_place at = poli_place_item(place, i);
    poli_read_effort(reader, &at, &item, &efforts[i]);
  }
}

/* --- tables ----------------------------------------------------------------------------------- */

/* What expressions know already, and what results call a column of their own, is no name for a
 * quantity. */
static void check_quantity(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_place name = poli_place_key(place, "name");
  const char *text = json_string_value(name.value);
  (void)object;
  (void)sound;
  if (text && (strcmp(text, "t") == 0 || strcmp(text, "pi") == 0))
    poli_report(reader, &name, "", "must not be \"%s\", which expressions know already", text);
  if (text && strcmp(text, "t_reactions") == 0)
    poli_report(reader, &name, "", "must not be \"%s\", which is the name of a result column",
                text);
}

static const poli_field variable_fields[] = {
    {"name", poli_read_name, offsetof(pol_variable, name), POLI_REQUIRED, poli_name_rule,
     not_variables_or_states},
    {"expression", poli_read_expression, offsetof(pol_variable, expression), POLI_REQUIRED,
     "must be an expression, such as \"2*hinge.angle\"", NULL},
    {.key = NULL},
};

const poli_kind poli_variable_kind = {
    .rule = "must be an object that describes a variable",
    .fields = variable_fields,
    .size = sizeof(pol_variable),
    .check = check_quantity,
};

static const poli_field state_fields[] = {
    {"name", poli_read_name, offsetof(pol_state_variable, name), POLI_REQUIRED, poli_name_rule,
     not_states_or_variables},
    {"initial", poli_read_number, offsetof(pol_state_variable, initial), POLI_OPTIONAL,
     poli_number_rule, NULL},
    {"rate", poli_read_expression, offsetof(pol_state_variable, rate), POLI_REQUIRED,
     "must be an expression, such as \"(hinge.rate - filtered)/0.01\"", NULL},
    {.key = NULL},
};

const poli_kind poli_state_kind = {
    .rule = "must be an object that describes a state",
    .fields = state_fields,
    .size = sizeof(pol_state_variable),
    .check = check_quantity,
};

/* --- names ------------------------------------------------------------------------------------ */

/* The known name that is nearest to a wrong one. */
typedef struct search {
  const pol_mechanism *mechanism;
  pol_near near;
  char best[POLI_EXPRESSION_NAME + 1];
  char quoted[2 * POLI_EXPRESSION_NAME + 2];
} search;

static int find_name(const char *name, void *user)
{
  const search *s = user;
  poli_signal signal;
  return poli_signal_find(s->mechanism, name, &signal) ? 0 : -1;
}

static int try_name(const char *name, const poli_signal *signal, void *user)
{
  search *s = user;
  (void)signal;
  pol_near_try(&s->near, name);
  if (s->near.best != name) return 0;
  /* the name lives no longer than this call */
  strncpy(s->best, name, sizeof s->best - 1);
  s->near.best = s->best;
  return 0;
}

/* The name as it stands in an expression: parts with other characters than letters, digits and _
 * in quotes. */
static void quote(const char *name, char *out)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  for (int first = 1; *name || first; first = 0) {
    if (!first) *out++ = *name++;
    const size_t length = strcspn(name, ".");
    const int quotes = strspn(name, plain) < length || (*name >= '0' && *name <= '9' && first);
    if (quotes) *out++ = '\'';
    memcpy(out, name, length);
    out += length;
    if (quotes) *out++ = '\'';
    name += length;
  }
  *out = '\0';
}

static const char *near_name(const char *wrong, const char *const *functions, void *user)
{
  search *s = user;
  if (functions) return near_function(wrong, functions, NULL);
  s->near = pol_near_start(wrong);
  poli_signal_each(s->mechanism, try_name, s);
  quote(s->near.best, s->quoted);
  return s->quoted;
}

void poli_check_names(poli_reader *reader, const poli_place *place, const pol_mechanism *mechanism)
{
  search s = {.mechanism = mechanism, .best = ""};
  const poli_expression_names names = {find_name, near_name, &s};
  if (json_is_string(place->value)) check_text(reader, place, &names);
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    if (json_is_string(item.value)) check_text(reader, &item, &names);
  }
}

void poli_check_expressions(poli_reader *reader, const poli_place *top,
                            const pol_mechanism *mechanism)
{
  static const struct {
    const char *list, *key;
  } places[] = {{"variables", "expression"}, {"states", "rate"},     {"forces", "force"},
                {"forces", "torque"},        {"forces", "actuator"}, {"events", "expression"}};
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    const poli_place list = poli_place_key(top, places[k].list);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
      const poli_place object = poli_place_item(&list, i);
      const poli_place text = poli_place_key(&object, places[k].key);
      poli_check_names(reader, &text, mechanism);
    }
  }
  const poli_place events = poli_place_key(top, "events");
  for (size_t i = 0; i < json_array_size(events.value); i++) {
    const poli_place event = poli_place_item(&events, i);
    poli_check_event(reader, &event, mechanism);
  }
  if (reader->status != POL_OK || reader->errors->count > 0) return;

  /* all names are known: what is left are circles, and too many names */
  const poli_place variables = poli_place_key(top, "variables");
  poli_network network;
  char message[512] = "";
  const pol_status status = poli_network_create(&network, mechanism, message, sizeof message);
  poli_network_free(&network);
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status)
    poli_report(reader, variables.value ? &variables : top, "", "%s", message);
}
