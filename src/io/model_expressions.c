/* Expressions in a model file: variables, states and what stands for the numbers of a force.
 *
 * While the file is read only their syntax is checked, since they may use names that come later.
 * When the mechanism is there, every name is looked up, and variables must not go in circles. */
#include <string.h>

#include "formulation/network.h"
#include "io/model_parts.h"
#include "io/model_rules.h"
#include "mechanism/expression.h"
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
static void check_text(pol_reader *reader, const pol_place *place,
                       const pol_expression_names *names)
{
  pol_expression *program;
  pol_expression_error error;
  const pol_status status =
      pol_expression_compile(&program, json_string_value(place->value), names, &error);
  pol_expression_free(&program);
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status)
    pol_report(reader, place, error.suggestion, "must be an expression: column %d: %s",
               error.column, error.message);
}

void pol_read_expression(pol_reader *reader, const pol_place *place, const pol_field *field,
                         void *target)
{
  static const pol_expression_names names = {accept_name, near_function, NULL};
  *(const char **)target = json_string_value(place->value);
  if (json_is_string(place->value))
    check_text(reader, place, &names);
  else
    pol_report(reader, place, "", "%s", field->rule);
}

void pol_read_effort(pol_reader *reader, const pol_place *place, const pol_field *field,
                     void *target)
{
  pol_model_effort *effort = target;
  effort->number = json_number_value(place->value);
  if (!json_is_number(place->value)) pol_read_expression(reader, place, field, &effort->expression);
}

void pol_read_efforts(pol_reader *reader, const pol_place *place, const pol_field *field,
                      void *target)
{
  const pol_field item = {.rule = "must be a number or an expression, which is a text"};
  pol_model_effort *efforts = target;
  if (!json_is_array(place->value) || json_array_size(place->value) != 3) {
    pol_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 3; i++) {
    const pol_place at = pol_place_item(place, i);
    pol_read_effort(reader, &at, &item, &efforts[i]);
  }
}

/* --- tables ----------------------------------------------------------------------------------- */

/* What expressions know already, and what results call a column of their own, is no name for a
 * quantity. */
static void check_quantity(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  const pol_place name = pol_place_key(place, "name");
  const char *text = json_string_value(name.value);
  (void)object;
  (void)sound;
  if (text && (strcmp(text, "t") == 0 || strcmp(text, "pi") == 0))
    pol_report(reader, &name, "", "must not be \"%s\", which expressions know already", text);
  if (text && strcmp(text, "t_reactions") == 0)
    pol_report(reader, &name, "", "must not be \"%s\", which is the name of a result column", text);
}

static const pol_field variable_fields[] = {
    {"name", pol_read_name, offsetof(pol_variable, name), POL_REQUIRED, pol_name_rule,
     not_variables_or_states},
    {"expression", pol_read_expression, offsetof(pol_variable, expression), POL_REQUIRED,
     "must be an expression, such as \"2*hinge.angle\"", NULL},
    {.key = NULL},
};

const pol_kind pol_variable_kind = {
    .rule = "must be an object that describes a variable",
    .fields = variable_fields,
    .size = sizeof(pol_variable),
    .check = check_quantity,
};

static const pol_field state_fields[] = {
    {"name", pol_read_name, offsetof(pol_state_variable, name), POL_REQUIRED, pol_name_rule,
     not_states_or_variables},
    {"initial", pol_read_number, offsetof(pol_state_variable, initial), POL_OPTIONAL,
     pol_number_rule, NULL},
    {"rate", pol_read_expression, offsetof(pol_state_variable, rate), POL_REQUIRED,
     "must be an expression, such as \"(hinge.rate - filtered)/0.01\"", NULL},
    {.key = NULL},
};

const pol_kind pol_state_kind = {
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
  char best[POL_EXPRESSION_NAME + 1];
  char quoted[2 * POL_EXPRESSION_NAME + 2];
} search;

static int find_name(const char *name, void *user)
{
  const search *s = user;
  pol_signal signal;
  return pol_signal_find(s->mechanism, name, &signal) ? 0 : -1;
}

static int try_name(const char *name, const pol_signal *signal, void *user)
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
  pol_signal_each(s->mechanism, try_name, s);
  quote(s->near.best, s->quoted);
  return s->quoted;
}

void pol_check_names(pol_reader *reader, const pol_place *place, const pol_mechanism *mechanism)
{
  search s = {.mechanism = mechanism, .best = ""};
  const pol_expression_names names = {find_name, near_name, &s};
  if (json_is_string(place->value)) check_text(reader, place, &names);
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const pol_place item = pol_place_item(place, i);
    if (json_is_string(item.value)) check_text(reader, &item, &names);
  }
}

void pol_check_expressions(pol_reader *reader, const pol_place *top, const pol_mechanism *mechanism)
{
  static const struct {
    const char *list, *key;
  } places[] = {{"variables", "expression"}, {"states", "rate"},     {"forces", "force"},
                {"forces", "torque"},        {"forces", "actuator"}, {"events", "expression"}};
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    const pol_place list = pol_place_key(top, places[k].list);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
      const pol_place object = pol_place_item(&list, i);
      const pol_place text = pol_place_key(&object, places[k].key);
      pol_check_names(reader, &text, mechanism);
    }
  }
  const pol_place events = pol_place_key(top, "events");
  for (size_t i = 0; i < json_array_size(events.value); i++) {
    const pol_place event = pol_place_item(&events, i);
    pol_check_event(reader, &event, mechanism);
  }
  if (reader->status != POL_OK || reader->errors->count > 0) return;

  /* all names are known: what is left are circles, and too many names */
  const pol_place variables = pol_place_key(top, "variables");
  pol_network network;
  char message[512] = "";
  const pol_status status = pol_network_create(&network, mechanism, message, sizeof message);
  pol_network_free(&network);
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status)
    pol_report(reader, variables.value ? &variables : top, "", "%s", message);
}
