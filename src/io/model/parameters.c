/* The parameters of a file: numbers, or expressions of other parameters in any order.
 *
 * Each is evaluated after those that it uses; a search in depth that comes back to a parameter
 * which it has not finished has found a circle. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expression/expression.h"
#include "io/model/expand.h"

typedef enum parameter_state { PENDING, ACTIVE, SETTLED } parameter_state;

typedef struct parameter {
  poli_place place; /* of its value, or of its object */
  json_t *value;
  poli_parameter_keys keys; /* of an object */
  parameter_state state;
  int used_by; /* the parameter that waits for it, or -1 */
} parameter;

typedef struct parameters {
  poli_reader *reader;
  poli_scope *scope;
  const poli_given_values *given; /* or NULL */
  parameter *items;
  int count;
} parameters;

int poli_name_usable(poli_reader *reader, const char *name)
{
  size_t length, first;
  int whole;
  double value;
  poli_unit any = {.kind = POLI_ANY_UNIT};
  poli_scope only = {0};
  if (poli_next_name(name, &length, &first, &whole) != name || !whole || name[length] ||
      strcmp(name, "pi") == 0 || strcmp(name, "t") == 0)
    return 0;
  if (!poli_scope_add(&only, name, 1.0, &any)) reader->status = POL_NO_MEMORY;
  const int usable = only.count == 1 && poli_scope_try(reader, &only, name, &value, NULL) &&
                     length <= POLI_EXPRESSION_NAME;
  free(only.items);
  return usable;
}

/* Reports the circle that ends with parameter i, which the one before it uses: "a -> b -> a". */
static void report_circle(parameters *p, int i, int user)
{
  char *chain = poli_format("%s", p->items[i].place.key);
  for (int k = user; chain; k = p->items[k].used_by) {
    char *longer = poli_format("%s -> %s", p->items[k].place.key, chain);
    free(chain);
    chain = longer;
    if (k == i) break;
  }
  if (chain)
    poli_report(p->reader, &p->items[i].place, "", "must not depend on itself: %s", chain);
  else
    p->reader->status = POL_NO_MEMORY;
  free(chain);
}

static int find(const parameters *p, const char *name, size_t length)
{
  for (int i = 0; i < p->count; i++)
    if (strlen(p->items[i].place.key) == length &&
        strncmp(p->items[i].place.key, name, length) == 0)
      return i;
  return -1;
}

/* A bound of a parameter, a number or an expression; `none` if it is not given. */
static double read_bound(parameters *p, const parameter *item, const char *key, double none)
{
  const poli_place at = poli_place_key(&item->place, key);
  double bound = none;
  if (json_is_string(at.value))
    poli_scope_value(p->reader, p->scope, &at, json_string_value(at.value), &bound, NULL);
  else if (json_is_number(at.value))
    bound = json_number_value(at.value);
  else if (at.value)
    poli_report(p->reader, &at, "", "must be a number or an expression of parameters (a string)");
  return bound;
}

/* Declared unit and range; given: the value is that of an include. */
static void check_declared(parameters *p, const parameter *item, double value, poli_unit *unit,
                           int given)
{
  const poli_place at = poli_place_key(&item->place, "unit");
  poli_unit declared;
  if (item->keys.unit && !poli_unit_parse(item->keys.unit, &declared)) {
    poli_report(p->reader, &at, "", "%s", POLI_UNIT_RULE);
  } else if (item->keys.unit) {
    char text[64];
    poli_unit_text(unit, text, sizeof text);
    if (poli_units_differ(unit, &declared) && given) {
      const poli_place outside = poli_place_key(&p->given->place, item->place.key);
      const char *file = p->reader->file;
      p->reader->file = p->given->file;
      poli_report(p->reader, &outside, "", "must be in %s, but its unit is %s", item->keys.unit,
                  text);
      p->reader->file = file;
    } else if (poli_units_differ(unit, &declared)) {
      poli_report(p->reader, &at, "", "must be the unit of its value, which is %s", text);
    }
    *unit = declared;
  }
  const double min = read_bound(p, item, "min", -HUGE_VAL);
  const double max = read_bound(p, item, "max", HUGE_VAL);
  if (!(value >= min))
    poli_report(p->reader, &item->place, "", "must not be below its min, %.10g, but is %.10g", min,
                value);
  if (!(value <= max))
    poli_report(p->reader, &item->place, "", "must not be above its max, %.10g, but is %.10g", max,
                value);
}

static void settle(parameters *p, int i, int user);

/* The parameters that an expression (may be NULL) of parameter i uses come before it. */
static void settle_names(parameters *p, int i, const char *text)
{
  const char *name;
  size_t length, first;
  int whole;
  for (const char *rest = text; rest && (name = poli_next_name(rest, &length, &first, &whole));
       rest = name + length) {
    const int other = whole ? find(p, name, length) : -1;
    if (other >= 0) settle(p, other, i);
  }
}

static void settle(parameters *p, int i, int user)
{
  parameter *item = &p->items[i];
  if (item->state == SETTLED || p->reader->status != POL_OK) return;
  if (item->state == ACTIVE) {
    report_circle(p, i, user);
    return;
  }
  item->state = ACTIVE;
  item->used_by = user;
  /* a value from outside counts before the file's own */
  json_t *given = p->given ? json_object_get(p->given->place.value, item->place.key) : NULL;
  const json_t *value = given ? given : item->value;
  const char *text = json_string_value(value);
  const int is_object = json_is_object(item->place.value);
  const poli_place inner = poli_place_key(&item->place, "value");
  const poli_place *at = is_object ? &inner : &item->place;
  double number = json_number_value(value);
  poli_unit unit = {.kind = POLI_ANY_UNIT};
  const int before = p->reader->errors->count;
  settle_names(p, i, text);
  if (is_object) settle_names(p, i, json_string_value(json_object_get(item->place.value, "min")));
  if (is_object) settle_names(p, i, json_string_value(json_object_get(item->place.value, "max")));
  if (p->reader->errors->count == before && text)
    poli_scope_value(p->reader, p->scope, at, text, &number, &unit);
  else if (!text && !json_is_number(value))
    poli_report(p->reader, at, "", "must be a number or an expression of parameters (a string)");
  const int known =
      given && p->given->units ? poli_scope_find(p->given->units, item->place.key) : -1;
  if (known >= 0) unit = p->given->units->items[known].unit;
  if (p->reader->errors->count == before && is_object)
    check_declared(p, item, number, &unit, given != NULL);
  if (p->reader->errors->count != before) number = 1.0;
  if (!poli_scope_add(p->scope, item->place.key, number, &unit)) p->reader->status = POL_NO_MEMORY;
  item->state = SETTLED;
}

/* What is given must exist. */
static void check_given(const parameters *p)
{
  const char *name, *file = p->reader->file;
  json_t *value;
  p->reader->file = p->given->file;
  json_object_foreach(p->given->place.value, name, value)
  {
    pol_near near = pol_near_start(name);
    if (find(p, name, strlen(name)) >= 0) continue;
    for (int i = 0; i < p->count; i++) pol_near_try(&near, p->items[i].place.key);
    const poli_place at = poli_place_key(&p->given->place, name);
    poli_report(p->reader, &at, near.best, "must be a parameter of the included file");
  }
  p->reader->file = file;
}

void poli_parameters_read(poli_reader *reader, const poli_place *place,
                          const poli_given_values *given, poli_scope *scope)
{
  enum { MOST = 1000 };
  const char *name;
  json_t *value;
  parameters p = {.reader = reader, .scope = scope, .given = given};
  if (place->value && !json_is_object(place->value)) {
    poli_report(reader, place, "", "must be an object of names and their values");
    return;
  }
  if (json_object_size(place->value) > MOST) { /* they may use each other in a chain */
    poli_report(reader, place, "", "must not have more than %d parameters", MOST);
    return;
  }
  p.items = calloc(json_object_size(place->value) + 1, sizeof *p.items);
  if (!p.items) {
    reader->status = POL_NO_MEMORY;
    return;
  }
  json_object_foreach(place->value, name, value)
  {
    parameter *item = &p.items[p.count];
    const poli_place at = {place, name, 0, value};
    if (strcmp(name, "comment") == 0) continue;
    *item = (parameter){.place = at, .value = value, .used_by = -1};
    if (json_is_object(value)) {
      const int before = reader->errors->count;
      poli_read_kind(reader, &at, &poli_parameter_kind, &item->keys);
      item->value = json_object_get(value, "value");
      if (reader->errors->count != before) continue;
    }
    if (poli_name_usable(reader, name))
      p.count++;
    else
      poli_report(reader, &at, "", "must have a name of letters, digits and _ that is not t or pi");
  }
  if (given) check_given(&p);
  for (int i = 0; i < p.count; i++) settle(&p, i, -1);
  free(p.items);
}

/* The value of a bound that was read before. */
static double bound_of(poli_reader *reader, const json_t *bound, const poli_scope *scope,
                       double none)
{
  double value = bound ? json_number_value(bound) : none;
  const char *text = json_string_value(bound);
  if (text && !poli_scope_try(reader, scope, text, &value, NULL)) value = none;
  return value;
}

pol_status poli_parameters_keep(poli_reader *reader, const json_t *object, const poli_scope *scope,
                                pol_model *model)
{
  const char *name;
  json_t *value;
  model->parameters = calloc((size_t)scope->count + 1, sizeof *model->parameters);
  if (!model->parameters) return POL_NO_MEMORY;
  json_object_foreach((json_t *)(uintptr_t)object, name, value)
  {
    const int index = poli_scope_find(scope, name);
    if (index < 0) continue;
    pol_parameter *to = &model->parameters[model->num_parameters++];
    const char *unit = json_string_value(json_object_get(value, "unit"));
    const char *words = json_string_value(json_object_get(value, "description"));
    const json_t *min = json_object_get(value, "min"), *max = json_object_get(value, "max");
    to->value = scope->items[index].value;
    to->min = bound_of(reader, min, scope, -HUGE_VAL);
    to->max = bound_of(reader, max, scope, HUGE_VAL);
    to->name = poli_format("%s", name);
    to->unit = poli_format("%s", unit ? unit : "");
    to->description = poli_format("%s", words ? words : "");
    if (!to->name || !to->unit || !to->description) return POL_NO_MEMORY;
  }
  return POL_OK;
}
