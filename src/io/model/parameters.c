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
  const int usable = only.count == 1 && poli_scope_try(reader, &only, name, &value) &&
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

/* Declared unit and range. */
static void check_declared(parameters *p, const parameter *item, double value, poli_unit *unit)
{
  const poli_place at = poli_place_key(&item->place, "unit");
  poli_unit declared;
  if (item->keys.unit && !poli_unit_parse(item->keys.unit, &declared)) {
    poli_report(p->reader, &at, "",
                "must be a unit of m, kg, s, rad, N, J, W, Pa and Hz, such as \"kg m^2\" or "
                "\"N s/m\"");
  } else if (item->keys.unit) {
    char text[64];
    poli_unit_text(unit, text, sizeof text);
    if (poli_units_differ(unit, &declared))
      poli_report(p->reader, &at, "", "must be the unit of its value, which is %s", text);
    *unit = declared;
  }
  if (!(value >= item->keys.min))
    poli_report(p->reader, &item->place, "", "must not be below its min, %.10g, but is %.10g",
                item->keys.min, value);
  if (!(value <= item->keys.max))
    poli_report(p->reader, &item->place, "", "must not be above its max, %.10g, but is %.10g",
                item->keys.max, value);
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
  const char *text = json_string_value(value), *name;
  const int is_object = json_is_object(item->place.value);
  const poli_place inner = poli_place_key(&item->place, "value");
  const poli_place *at = is_object ? &inner : &item->place;
  double number = json_number_value(value);
  poli_unit unit = {.kind = POLI_ANY_UNIT};
  const int before = p->reader->errors->count;
  size_t length, first;
  int whole;
  for (const char *rest = text; rest && (name = poli_next_name(rest, &length, &first, &whole));
       rest = name + length) {
    const int other = whole ? find(p, name, length) : -1;
    if (other >= 0) settle(p, other, i);
  }
  if (p->reader->errors->count == before && text)
    poli_scope_value(p->reader, p->scope, at, text, &number, &unit);
  else if (!text && !json_is_number(value))
    poli_report(p->reader, at, "", "must be a number or an expression of parameters (a string)");
  if (p->reader->errors->count == before && is_object) check_declared(p, item, number, &unit);
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
    item->keys = (poli_parameter_keys){.min = -HUGE_VAL, .max = HUGE_VAL};
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

pol_status poli_parameters_keep(const json_t *object, const poli_scope *scope, pol_model *model)
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
    to->min = min ? json_number_value(min) : -HUGE_VAL;
    to->max = max ? json_number_value(max) : HUGE_VAL;
    to->name = poli_format("%s", name);
    to->unit = poli_format("%s", unit ? unit : "");
    to->description = poli_format("%s", words ? words : "");
    if (!to->name || !to->unit || !to->description) return POL_NO_MEMORY;
  }
  return POL_OK;
}
