/* Expressions in a model file: functions of time, variables, states, events, and what stands for
 * the numbers of a force.
 *
 * While the file is read only their syntax is checked, since they may use names that come later.
 * When the mechanism is there, every name is looked up, and variables must not go in circles.  If
 * something else is wrong, objects are missing in it: then names of objects of the file are right.
 */
#include <stdio.h>
#include <string.h>

#include "expression/expression.h"
#include "formulation/network.h"
#include "io/model/parts.h"
#include "mechanism/signal.h"
#include "simulation/event_rules.h"

static const char effort_rule[] = "must be a number or an expression (a string)";

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

/* Compiles a text and reports what is wrong with it, or only names that are; the expression itself
 * is of no use yet. */
static void check_text(poli_reader *reader, const poli_place *place,
                       const poli_expression_names *names, int only_names)
{
  pol_expression *program;
  poli_expression_error error;
  const pol_status status =
      poli_expression_compile(&program, json_string_value(place->value), names, &error);
  poli_expression_free(&program);
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status && (!only_names || strstr(error.message, "is not a known name")))
    poli_report(reader, place, error.suggestion, "must be an expression: column %d: %s",
                error.column, error.message);
}

/* The mechanism compiles expressions of time. */
static void read_expression(poli_reader *reader, const poli_place *place, const poli_field *field,
                            void *target)
{
  static const poli_expression_names names = {accept_name, near_function, NULL};
  *(const char **)target = json_string_value(place->value);
  if (!json_is_string(place->value))
    poli_report_wrong(reader, place, field);
  else if (field->value != &poli_time_expression)
    check_text(reader, place, &names, 0);
}

/* One number or expression, or a list of three. */
static void read_efforts(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  static const poli_field text = {.value = &poli_expression, .rule = effort_rule};
  const int count = field->value == &poli_efforts ? 3 : 1;
  pol_force *force = target;
  if (count == 3 && (!json_is_array(place->value) || json_array_size(place->value) != 3)) {
    poli_report_wrong(reader, place, field);
    return;
  }
  for (int i = 0; i < count; i++) {
    const poli_place item = count == 3 ? poli_place_item(place, (size_t)i) : *place;
    double *number = count == 3 ? &force->vector[i] : &force->actuator;
    *number = json_number_value(item.value);
    if (!json_is_number(item.value)) read_expression(reader, &item, &text, &force->expressions[i]);
  }
}

static void read_changes(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  static const poli_field item = {.value = &poli_expression,
                                  .rule = "must be an expression, such as "
                                          "\"-0.8*ball.velocity.z\""};
  const char *key, *text;
  json_t *value;
  if (!json_is_object(place->value) || json_object_size(place->value) == 0) {
    poli_report_wrong(reader, place, field);
    return;
  }
  *(json_t **)target = place->value;
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = poli_place_key(place, key);
    read_expression(reader, &at, &item, &text);
  }
}

static void read_expression_map(poli_reader *reader, const poli_place *place,
                                const poli_field *field, void *target)
{
  static const poli_field item = {.value = &poli_expression,
                                  .rule = "must be an expression, such as \"2*hinge.rate\""};
  const char *key, *text;
  json_t *value;
  if (!json_is_object(place->value)) {
    poli_report_wrong(reader, place, field);
    return;
  }
  *(const json_t **)target = place->value;
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = {place, key, 0, value};
    read_expression(reader, &at, &item, &text);
  }
}

const poli_value poli_expression = POLI_VALUE(
    read_expression, sizeof(char *), POLI_NO_DETAIL, "must be an expression",
    "[expression](#expressions)", "{'type': 'string', 'minLength': 1}", .texts = POLI_EXPRESSIONS);
const poli_value poli_time_expression = POLI_VALUE(
    read_expression, sizeof(char *), POLI_NO_DETAIL,
    "must be an expression of t, such as \"0.1*sin(2*pi*t)\"", "[expression](#expressions)",
    "{'type': 'string', 'minLength': 1}", .texts = POLI_EXPRESSIONS);
const poli_value poli_effort = POLI_VALUE(read_efforts, sizeof(pol_force), POLI_NO_DETAIL,
                                          effort_rule, "number or [expression](#variables)",
                                          "{'type': ['number', 'string']}", .texts = POLI_EFFORTS);
const poli_value poli_efforts = POLI_VALUE(
    read_efforts, sizeof(pol_force), POLI_NO_DETAIL, "must be a list of 3 numbers or expressions",
    "3 numbers or [expressions](#variables)",
    "{'type': 'array', 'minItems': 3, 'maxItems': 3, 'items': {'type': ['number', 'string']}}",
    .texts = POLI_EFFORTS);
const poli_value poli_changes = POLI_VALUE(
    read_changes, sizeof(json_t *), POLI_NO_DETAIL,
    "must be an object of velocities or states and their expressions", "object",
    "{'type': 'object', 'minProperties': 1, 'additionalProperties': {'type': 'string'}}");
const poli_value poli_expression_map =
    POLI_VALUE(read_expression_map, sizeof(json_t *), POLI_NO_DETAIL,
               "must be an object of expressions", "object of [expressions](#variables)",
               "{'type': 'object', 'additionalProperties': {'type': 'string'}}");

/* --- names ------------------------------------------------------------------------------------ */

/* The known name that is nearest to a wrong one. */
typedef struct name_search {
  const pol_mechanism *mechanism;
  json_t *objects;        /* names in the file, if the mechanism is not complete */
  const pol_model *model; /* with its parameters, where they are meant too */
  int settable;           /* by events */
  pol_near near;
  char best[256];
  char quoted[2 * 256 + 2];
} name_search;

/* Without a complete mechanism: whether a name begins with that of an object of the file. */
static int is_of_file(const name_search *s, const char *name)
{
  char owner[256];
  const char *list;
  json_t *names;
  if (strcmp(name, "t") == 0) return 1;
  if (strncmp(name, "marker.", 7) == 0) name += 7;
  snprintf(owner, sizeof owner, "%.*s", (int)strcspn(name, "."), name);
  json_object_foreach(s->objects, list, names)
  {
    if (json_object_get(names, owner)) return 1;
  }
  return 0;
}

static int find_name(const char *name, void *user)
{
  const name_search *s = user;
  poli_signal signal;
  if (s->objects) return is_of_file(s, name) ? 0 : -1;
  return poli_signal_find(s->mechanism, name, &signal) ? 0 : -1;
}

static int try_name(const char *name, const poli_signal *signal, void *user)
{
  name_search *s = user;
  (void)signal;
  if (s->settable && !poli_event_can_set(s->mechanism, name)) return 0;
  pol_near_try(&s->near, name);
  if (s->near.best != name) return 0;
  /* the name lives no longer than this call */
  strncpy(s->best, name, sizeof s->best - 1);
  s->near.best = s->best;
  return 0;
}

/* The nearest name as it stands in an expression: parts with other characters than letters, digits
 * and _ in quotes. */
static const char *near_name(const char *wrong, const char *const *functions, void *user)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  name_search *s = user;
  if (functions) return near_function(wrong, functions, NULL);
  s->near = pol_near_start(wrong);
  if (!s->objects) poli_signal_each(s->mechanism, try_name, s);
  const char *list, *object;
  json_t *names, *index;
  json_object_foreach(s->objects, list, names)
  {
    json_object_foreach(names, object, index) pol_near_try(&s->near, object);
  }
  for (int i = 0; i < s->model->num_parameters; i++)
    pol_near_try(&s->near, s->model->parameters[i].name);
  const char *name = s->near.best;
  char *out = s->quoted;
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
  return s->quoted;
}

/* Looks up the names in the text at a place, in those of a list, or in those of an object, whose
 * keys are names that an event can set. */
static void check_names(poli_reader *reader, const poli_place *place,
                        const pol_mechanism *mechanism, json_t *objects)
{
  name_search s = {.mechanism = mechanism, .objects = objects, .model = reader->model, .best = ""};
  const poli_expression_names names = {find_name, near_name, &s};
  const char *key;
  json_t *value;
  if (json_is_string(place->value)) check_text(reader, place, &names, objects != NULL);
  for (size_t i = 0; i < json_array_size(place->value); i++) {
    const poli_place item = poli_place_item(place, i);
    check_names(reader, &item, mechanism, objects);
  }
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = poli_place_key(place, key);
    check_names(reader, &at, mechanism, objects);
    if (objects ? is_of_file(&s, key) : poli_event_can_set(mechanism, key)) continue;
    name_search t = {
        .mechanism = mechanism, .settable = 1, .near = pol_near_start(key), .best = ""};
    if (!objects) poli_signal_each(mechanism, try_name, &t);
    poli_report(reader, &at, t.near.best,
                "must be a component of a body's velocity or angular_velocity, or a state");
  }
}

/* Looks up the names in the objects of all lists, by the tables of their kinds. */
void poli_check_expressions(poli_reader *reader, const poli_place *top,
                            const pol_mechanism *mechanism)
{
  const char *list_key, *key;
  json_t *all, *value, *objects = reader->errors->count > 0 ? reader->names : NULL;
  json_object_foreach(top->value, list_key, all)
  {
    const poli_place list = poli_place_key(top, list_key);
    const poli_field *lists = poli_find_field(poli_model_kind.fields, list_key);
    if (!lists || lists->value != &poli_objects) continue;
    for (size_t i = 0; i < json_array_size(all); i++) {
      const poli_place object = poli_place_item(&list, i);
      json_object_foreach(object.value, key, value)
      {
        const poli_place place = poli_place_key(&object, key);
        const poli_kind *kind = lists->detail;
        const poli_field *field = poli_find_field(kind->fields, key);
        const poli_value *type = field ? field->value : NULL;
        const char *item;
        json_t *text;
        if (type == &poli_expression_map) {
          json_object_foreach(value, item, text)
          {
            const poli_place at = {&place, item, 0, text};
            check_names(reader, &at, mechanism, objects);
          }
        }
        if (type == &poli_expression || type == &poli_effort || type == &poli_efforts ||
            type == &poli_changes)
          check_names(reader, &place, mechanism, objects);
      }
    }
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
